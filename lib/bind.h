/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which function an object's calls of the hooks reach.
 *
 * The C library has empty hooks. Where the program itself is not linked with this
 * library, they come first in the search order: objects that have hooks, and this
 * library with them, call the empty ones. Their pointers are changed to the library's.
 */
#ifndef PERF_BIND_H
#define PERF_BIND_H

#include "compiler.h"

/**
 * perf_bind_hooks - have the hooks of all loaded objects reach the library
 *
 * An object whose calls go elsewhere, to another profiler for example, is named in a
 * warning; where all go elsewhere this fails. Not in signal handlers: it takes the
 * loader's lock.
 */
PERF_INTERNAL int perf_bind_hooks(void);

#endif /* PERF_BIND_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The loaded objects of all namespaces: dl_iterate_phdr() has only the program's, and
 * dlmopen() makes others, in which an object has a C library of its own.
 */
#ifndef PERF_NAMESPACE_H
#define PERF_NAMESPACE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "compiler.h"

/* As for dl_iterate_phdr(). */
typedef int perf_object_visitor(struct dl_phdr_info *info, size_t size, void *argument);

/**
 * perf_namespace_each - call @visit for each object, until it returns not 0
 * @number:	of the namespace: 0 is the program's
 *
 * Returns false if there is no such namespace. Like dl_iterate_phdr() it takes the
 * loader's lock, and not for signal handlers.
 */
#ifdef PERF_SHARED
PERF_INTERNAL bool perf_namespace_each(unsigned int number, perf_object_visitor *visit,
				       void *argument);
#else
/* A program that contains the library notes the objects of its own namespace. */
PERF_INLINE bool perf_namespace_each(unsigned int number, perf_object_visitor *visit,
				     void *argument)
{
	if (!number)
		dl_iterate_phdr(visit, argument);
	return !number;
}
#endif

#endif /* PERF_NAMESPACE_H */

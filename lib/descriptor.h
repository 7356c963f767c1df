/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The descriptor of the session's open file. The program may close this descriptor, or open another
 * file with the same number, so each call checks the number first.
 */
#ifndef PERF_DESCRIPTOR_H
#define PERF_DESCRIPTOR_H

#include "device.h"

/**
 * perf_descriptor_up - move a descriptor to a number that programs do not use
 * @fd:		a descriptor, or -1
 *
 * Programs may expect low numbers to be free, or close them. Returns the new descriptor, or @fd if
 * @fd is -1 or no higher number is free.
 */
PERF_INTERNAL int perf_descriptor_up(int fd);

/* Return whether the number still refers to the mapped file. */
PERF_INTERNAL bool perf_descriptor_mapped(const struct perf_device *device, int fd);

/* In a child, which has no mapping: return whether the number still refers to the session. */
PERF_INTERNAL bool perf_descriptor_session(const struct perf_device *device, int fd);

#endif /* PERF_DESCRIPTOR_H */

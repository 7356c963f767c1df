/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The descriptor of the session's open file. The program may close it, or open a file
 * of its own on the number, so no call is made before the number has been checked.
 */
#ifndef PERF_DESCRIPTOR_H
#define PERF_DESCRIPTOR_H

#include "device.h"

/**
 * perf_descriptor_up - move a descriptor out of the way of programs
 * @fd:		a descriptor, or -1
 *
 * Programs count on low numbers, or close them. Returns the new descriptor, @fd itself
 * where there is no higher one, or -1.
 */
PERF_INTERNAL int perf_descriptor_up(int fd);

/* Whether the number is still of the file that is mapped. */
PERF_INTERNAL bool perf_descriptor_mapped(const struct perf_device *device, int fd);

/* The same in a child, which has no mapping. */
PERF_INTERNAL bool perf_descriptor_session(const struct perf_device *device, int fd);

#endif /* PERF_DESCRIPTOR_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The side-car file of a sink's trace, as the command writes or completes it. */
#ifndef SIFIVE_TRACE_SIDECAR_H
#define SIFIVE_TRACE_SIDECAR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "drain.h"
#include "objects.h"

/* Size of the path of a side-car file. */
#define SIDECAR_PATH	(PATH_MAX + 8)

/**
 * sidecar_write() - write a whole side-car file
 * @fd:		the trace device
 * @trace:	path of the sink's bytes
 * @sink:	the sink, with the bytes that the file has
 * @description: file that capture_describe() has written, NULL for none
 * @objects:	the objects in memory; NULL if the description has them
 * @drain:	what has copied the bytes while the capture ran, or NULL
 * @ran:	nanoseconds from the capture's start to its stop, 0: unknown
 *
 * Return: 0, or -1: the error has been printed.
 */
int sidecar_write(int fd, const char *trace, const struct sifive_trace_sink *sink,
		  const char *description, struct objects *objects,
		  const struct drain *drain, uint64_t ran);

/**
 * sidecar_complete() - write coverage and losses into the file of a program's library
 * @meta:	path of the side-car file
 * @finished:	set to whether the program had written its own at its end; unchanged if
 *		the file cannot be read
 *
 * The other parameters are those of sidecar_write(). Return: 0, or -1: the error has been
 * printed.
 */
int sidecar_complete(int fd, const char *meta, const struct sifive_trace_sink *sink,
		     const struct drain *drain, uint64_t ran, bool *finished);

#endif /* SIFIVE_TRACE_SIDECAR_H */

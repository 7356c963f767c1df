/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads several traces of a recording as one. */
#ifndef SIFIVE_TRACE_MERGED_H
#define SIFIVE_TRACE_MERGED_H

#include "meta.h"
#include "trace.h"

/**
 * merged_open() - merge traces into an unnamed file
 * @paths:	the @count traces
 * @name:	name of the merged trace in messages
 * @options:	whether to be quiet, and whether to show progress
 * @meta:	set from the side-car files of the traces; call meta_free() even after an error
 *
 * The file is in $TMPDIR or /tmp, and is deleted when it is closed.
 *
 * Return: its descriptor, positioned at the beginning, or -1 after printing an error.
 */
int merged_open(char **paths, unsigned int count, const char *name,
		const struct trace_options *options, struct meta *meta);

#endif /* SIFIVE_TRACE_MERGED_H */

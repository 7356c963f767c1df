/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Several traces of a recording, read as one. */
#ifndef SIFIVE_TRACE_MERGED_H
#define SIFIVE_TRACE_MERGED_H

#include "meta.h"
#include "trace.h"

/**
 * merged_open() - merge traces into an unnamed file
 * @paths:	the traces, @count of them
 * @name:	name of the merged trace in messages
 * @options:	whether it is quiet, and shows progress
 * @meta:	filled from their side-car files; for meta_free(), also after an error
 *
 * The file is in $TMPDIR or /tmp, and disappears when it is closed.
 *
 * Return: its descriptor, positioned at the beginning, or -1: the error has been printed.
 */
int merged_open(char **paths, unsigned int count, const char *name,
		const struct trace_options *options, struct meta *meta);

#endif /* SIFIVE_TRACE_MERGED_H */

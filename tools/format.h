/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Ways to write a decoded trace down. */
#ifndef SIFIVE_TRACE_FORMAT_H
#define SIFIVE_TRACE_FORMAT_H

#include "symbols.h"
#include "trace.h"

/* Which number stands for a counter in a record. */
enum values {
	VALUES_DELTA,		/* what it counted since the previous record */
	VALUES_ABSOLUTE,	/* the counter; Delta: since the header */
	VALUES_RAW,		/* as transmitted */
};

/**
 * struct format_options - what to write and where
 * @trace:	path of the trace, "-" for standard input
 * @elf:	path of the program, NULL for none
 * @symbols:	its symbols, NULL for none
 * @output:	-o: a file, or a folder for formats of several; NULL for the
 *		default
 * @values:	enum values
 * @channel:	channel that is decoded, or TRACE_ALL_CHANNELS
 */
struct format_options {
	const char		*trace;
	const char		*elf;
	struct symbols		*symbols;
	const char		*output;
	enum values		values;
	int			channel;
};

/**
 * struct format - a way to write records
 * @name:	for --format
 * @open:	begin; returns the context for @ops and @close. NULL: it cannot be
 *		written, the reason has been printed.
 * @ops:	what it writes
 * @close:	finish and free. Returns -1 when something could not be written:
 *		the reason has been printed, but for a reader that went away.
 */
struct format {
	const char	*name;
	void		*(*open)(const struct format_options *options);
	struct trace_ops ops;
	int		(*close)(void *context);
};

extern const struct format format_text;
extern const struct format format_perf;

#endif /* SIFIVE_TRACE_FORMAT_H */

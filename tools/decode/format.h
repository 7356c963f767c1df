/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declares the formats that sifive-trace decode writes. */
#ifndef SIFIVE_TRACE_FORMAT_H
#define SIFIVE_TRACE_FORMAT_H

#include "meta.h"
#include "symbols.h"
#include "threads.h"
#include "trace.h"

struct input;
struct output;

/* How to show a record's counters. */
enum values {
	VALUES_DELTA,		/* the count since the previous record */
	VALUES_ABSOLUTE,	/* the counter's value; with Delta, the count since the header */
	VALUES_RAW,		/* the transmitted number */
};

/**
 * struct format_options - what to write, and where
 * @trace:	path of the (first) trace, "-" for standard input
 * @elf:	path of the program, or NULL for none
 * @symbols:	names, or NULL for none
 * @input:	the trace, for data that is known only at its end
 * @meta:	side-car file of the trace
 * @hz:		ticks per second, or 0 if unknown
 * @output:	the file given with -o (the directory, for formats with several files), or NULL
 * @values:	enum values
 * @backwards:	number of counts that went backwards, for format_counter()
 * @channels:	show each record's channel, because several are decoded
 * @threads:	the trace's threads, for format_thread()
 */
struct format_options {
	const char		*trace;
	const char		*elf;
	struct symbols		*symbols;
	const struct input	*input;
	const struct meta	*meta;
	uint64_t		hz;
	const char		*output;
	enum values		values;
	uint64_t		*backwards;
	bool			channels;
	struct threads		*threads;
};

/**
 * format_thread() - find the thread of a record
 * @threads:	the trace's threads, from threads_new()
 *
 * Return: the thread's id; -1 if unknown, or if only one thread used the channel, in which case
 * neither the record nor a header names the thread.
 */
int64_t format_thread(struct threads *threads, const struct perfrec_record *record);

/** format_time() - write nanoseconds since the Epoch (with --clock utc), seconds or ticks */
void format_time(const struct format_options *options, struct output *out, uint64_t time);

/**
 * struct format - an output format
 * @name:	name for --format
 * @help:	description of the format
 * @open:	begin; returns the context for @ops and @close, or NULL after printing an
 *		error.
 * @ops:	callbacks while the trace is being read
 * @close:	finish and free. Returns -1 if a write failed, after printing the error unless it is
 *		EPIPE.
 * @flow:	the format shows instruction trace rather than records, and applies --time itself
 * @undated:	the format shows no times, or shows times only in ticks
 * @outside:	callbacks for items outside the range of --time; each may be NULL
 */
struct format {
	const char	*name;
	const char	*help;
	void		*(*open)(const struct format_options *options);
	struct trace_ops ops;
	int		(*close)(void *context);
	bool		flow;
	bool		undated;
	struct trace_ops outside;
};

extern const struct format format_text;
extern const struct format format_perf;
extern const struct format format_csv;
extern const struct format format_json;
extern const struct format format_instructions;
extern const struct format format_pc;

/**
 * format_counter() - get the number to show for a counter
 * @values:	enum values
 * @record:	record
 * @i:		index of the counter in the record
 * @value:	set to the number
 * @backwards:	incremented if the counter has gone backwards, so that its count is unknown
 *
 * Return: false if the number is unknown.
 */
bool format_counter(enum values values, const struct perfrec_record *record,
		    unsigned int i, uint64_t *value, uint64_t *backwards);

#endif /* SIFIVE_TRACE_FORMAT_H */

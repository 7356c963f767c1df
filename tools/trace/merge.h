/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Merges several traces into one. */
#ifndef SIFIVE_TRACE_MERGE_H
#define SIFIVE_TRACE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include <json.h>

#include "meta.h"
#include "nexus/nexus.h"
#include "output.h"

#define MERGE_CHUNK	(64u << 10)
#define NO_SOURCE	0xffu
#define NS_PER_SEC	1000000000u

/* A clock's @time in ticks at CLOCK_MONOTONIC @ns, with an error of up to @within nanoseconds. */
struct sample {
	uint64_t time;
	uint64_t ns;
	uint64_t within;
};

/**
 * struct input - a trace
 * @path:	path of the trace
 * @json:	side-car file of the trace
 * @start, @stop: readings of its clock at START and at STOP
 * @ticks:	number of ticks of its clock from START to STOP
 * @source:	new number of each source, or NO_SOURCE
 * @begun:	set for each source that has sent an absolute time
 * @doubtful:	set for each source that has sent no absolute time since its latest Error message
 * @origin:	time of each source, as extended by the decoder, when @start was read
 * @written:	latest time written for each source
 * @known:	set for each source that has an absolute time in the output
 * @bytes:	number of bytes read
 * @message:	the next message; valid if @more is set
 * @since:	number of ticks of its clock from @start to the latest message
 * @time:	time of the next message, on the common clock
 * @cut:	set if the trace ends within a message
 */
struct input {
	const char		*path;
	struct meta		meta;
	struct json_object	*json;
	struct sample		start;
	struct sample		stop;
	uint64_t		ticks;
	struct nexus		nexus;
	uint8_t			source[NEXUS_SOURCES];
	bool			begun[NEXUS_SOURCES];
	bool			doubtful[NEXUS_SOURCES];
	uint64_t		origin[NEXUS_SOURCES];
	uint64_t		written[NEXUS_SOURCES];
	bool			known[NEXUS_SOURCES];
	struct nexus_message	message;
	bool			more;
	uint64_t		since;
	uint64_t		bytes;
	uint64_t		time;
	int			fd;
	bool			ended;
	bool			cut;
	uint8_t			chunk[MERGE_CHUNK];
};

/**
 * struct merge - traces to merge
 * @output:	name of the merged trace, for messages; value of -o
 * @quiet:	set by -q
 * @hidden:	set to show no progress
 * @size:	size of all traces in bytes
 * @read:	number of these bytes that have been read
 * @base:	the trace to whose clock all times are converted
 * @to:		message layout of the output
 * @width:	width of a timestamp in bits
 * @sources:	number of sources
 * @within:	maximum error in nanoseconds when times of different traces are compared
 * @messages:	number of messages written
 * @bytes:	size of these messages in bytes
 */
struct merge {
	const char	*output;
	bool		quiet;
	bool		hidden;
	uint64_t	size;
	uint64_t	read;
	struct progress	*progress;
	struct input	**input;
	unsigned int	inputs;
	const struct input *base;
	struct nexus	to;
	unsigned int	width;
	unsigned int	sources;
	uint64_t	within;
	uint64_t	messages;
	uint64_t	bytes;
};

/** merge_width() - return the width of a trace's timestamps */
unsigned int merge_width(const struct input *in);

/** merge_source_bits() - return the width of the smallest SRC field that fits all sources */
unsigned int merge_source_bits(const struct merge *merge);

/**
 * merge_read_meta() - read the side-car file of a trace
 *
 * Return: 0, or -1 after printing an error if the trace cannot be merged with the earlier traces.
 */
int merge_read_meta(const struct merge *merge, struct input *in);

/**
 * merge_meta() - return the text of the merged trace's side-car file
 *
 * Return: the text, valid until merge_close(), or NULL after printing an error.
 */
const char *merge_meta(struct merge *merge);

/** merge_check_name() - return 0, or -1 after reporting that a name is too long */
int merge_check_name(const char *path);

/**
 * merge_open() - open traces, and determine how to merge them
 * @merge:	all zero except @output, @quiet and @hidden; call merge_close() even after an error
 *
 * Return: 0, or -1 after printing an error if they cannot be merged.
 */
int merge_open(struct merge *merge, char **paths, unsigned int count);

/**
 * merge_write() - write the merged trace
 *
 * Return: 0, or -1; the error has been printed, or output_close() will print it.
 */
int merge_write(struct merge *merge, struct output *out);

/**
 * merge_tell() - report the size of the merged trace, the precision of its times, and truncated
 * inputs
 * @next:	path of the trace to read next, or NULL if none
 */
void merge_tell(const struct merge *merge, const char *next);

/** merge_close() - close the traces and free all memory */
void merge_close(struct merge *merge);

#endif /* SIFIVE_TRACE_MERGE_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The side-car file of a trace, TRACE.meta: what its bytes do not say.
 * A JSON object; all keys are optional, unknown ones are ignored. Numbers may
 * be strings too ("0x3f00001000").
 *
 *	version		1
 *	srcbits		width of the SRC field
 *	ts_width	bits of a timestamp
 *	ts_hz		ticks of the timestamp in a second
 *	ts_scheme	"xor" or "delta"
 *	wrapped		boolean: a ring buffer whose oldest bytes are gone; it begins
 *			with a whole message
 *	count_type	of the records (enum perfrec_count_type), for what is left of
 *			a ring whose headers are gone
 *	header_interval	records from one header to the next, where they are repeated
 *	per_thread	boolean: counters go with the thread, not with the hart
 *	exe, args	the program, and its arguments as an array
 *	sources		[{ src, hart, cpu }]
 *	counters	[{ number, event, type, code, data, flags, info }]
 *	channel		channel of the program's first thread
 *	ts_channels	boolean: registers 16 to 31 are channels 0 to 15
 *	sampling	{ channel, interval_ns, period, event }
 *	threads		[{ channel, pid, tid, name, from, to }] in the order in which
 *			they came; times in ticks, as wide as a timestamp
 *	objects		[{ path, build_id, start, end, bias, from, to }] in the order in
 *			which they came, not there before "from" or after "to"
 *	lost		{ signals, threads, abandoned, refused, children, samples,
 *			encoders }, the last those whose registers were changed while
 *			they ran
 */
#ifndef SIFIVE_TRACE_META_H
#define SIFIVE_TRACE_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of what is taken from a side-car file; more is an error. */
#define META_BYTES_MAX		(4u << 20)
#define META_DEPTH_MAX		8
/* Each of which json-c takes up to 1 KiB, or 100 bytes, for: of all, 16 MiB. */
#define META_GROUPS_MAX		8500
#define META_VALUES_MAX		60000
#define META_STRING_MAX		4096
#define META_ARGS_MAX		4096
#define META_SOURCES_MAX	128
#define META_COUNTERS_MAX	32
#define META_THREADS_MAX	4096
#define META_OBJECTS_MAX	4096

/* Which hart a source is; -1 where unknown. */
struct meta_source {
	int	src;
	int	hart;
	int	cpu;
};

/* What counter @number counts; @event is the user's word for it, or NULL. */
struct meta_counter {
	int		number;
	const char	*event;
	uint32_t	type;
	uint32_t	code;
	uint64_t	data;
	uint32_t	flags;
	uint32_t	info;
};

/* Who wrote to @channel between the ticks @from and @to, both included. */
struct meta_thread {
	int		channel;
	int64_t		pid;		/* -1: unknown */
	int64_t		tid;		/* -1: unknown */
	const char	*name;		/* NULL: unknown */
	uint64_t	from;
	uint64_t	to;
};

/*
 * A program or shared object that was at @start to before @end, at some time between
 * the ticks @from and @to, both included. An address in its file plus @bias is the one
 * in memory.
 */
struct meta_object {
	const char	*path;
	const char	*build_id;	/* hexadecimal, NULL: unknown */
	uint64_t	start;
	uint64_t	end;
	uint64_t	bias;
	uint64_t	from;
	uint64_t	to;
};

/* How the kernel sampled; @channel is -1 when it did not. */
struct meta_sampling {
	int		channel;
	uint64_t	interval_ns;
	uint64_t	period;
	const char	*event;
};

/* What was not recorded, as the recorder counted it. */
struct meta_lost {
	uint64_t	signals;
	uint64_t	threads;
	uint64_t	abandoned;
	uint64_t	refused;
	uint64_t	children;
	uint64_t	samples;
	uint64_t	encoders;
};

/**
 * struct meta - what the side-car file says; -1, 0 or NULL where it does not
 *
 * All strings are in @strings.
 */
struct meta {
	int			src_bits;
	int			ts_width;
	int			ts_scheme;
	int			wrapped;
	int			count_type;
	int			channel;
	uint64_t		ts_hz;
	uint64_t		header_interval;
	bool			per_thread;
	bool			ts_channels;
	const char		*exe;
	const char		**arg;
	size_t			args;
	struct meta_source	*source;
	size_t			sources;
	struct meta_counter	*counter;
	size_t			counters;
	struct meta_thread	*thread;
	size_t			threads;
	struct meta_object	*object;
	size_t			objects;
	struct meta_sampling	sampling;
	struct meta_lost	lost;
	char			*strings;
};

/**
 * meta_init() - a side-car file that says nothing
 */
void meta_init(struct meta *meta);

/**
 * meta_parse() - take in the text of a side-car file
 * @name:	what to call it in messages
 * @text:	its bytes
 * @length:	number of them
 * @meta:	filled; for meta_free(), also after an error
 *
 * A value that cannot be is reported and ignored.
 *
 * Return: 0, or -1 when the text is no JSON object within the limits: the
 * reason has been printed.
 */
int meta_parse(const char *name, const char *text, size_t length,
	       struct meta *meta);

/**
 * meta_read() - read the side-car file of a trace
 * @path:	the file; NULL: TRACE.meta, which need not exist; "none": no file
 * @trace:	path of the trace; "-" has no TRACE.meta
 * @meta:	filled; for meta_free(), also after an error
 *
 * Return: 0, or -1 when it cannot be used: the reason has been printed.
 */
int meta_read(const char *path, const char *trace, struct meta *meta);

/** meta_free() - free what meta_parse() or meta_read() took */
void meta_free(struct meta *meta);

/** meta_source() - what is said of a source, NULL for nothing */
const struct meta_source *meta_source(const struct meta *meta, int src);

#endif /* SIFIVE_TRACE_META_H */

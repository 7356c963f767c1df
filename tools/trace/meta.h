/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The side-car file of a trace, TRACE.meta: data that the trace does not contain. It is a JSON
 * object. All keys are optional, and unknown keys are ignored. Numbers may also be strings
 * ("0x3f00001000").
 *
 *	version		1
 *	srcbits		width of the SRC field
 *	ts_width	width of a timestamp in bits
 *	ts_hz		timestamp ticks per second
 *	ts_scheme	"xor" or "delta"
 *	wrapped		boolean: the trace is a ring that has overwritten its oldest bytes;
 *			it begins with a whole message
 *	count_type	count type of the records (enum perfrec_count_type), for a ring that
 *			has overwritten its headers
 *	header_interval	number of records from one header to the next, if headers are
 *			repeated
 *	per_thread	boolean: counts are per thread, not per hart
 *	files		name of a directory next to this file, with copies of the objects' files
 *	generated	[path] of files, in that directory, about functions that processes generated:
 *			lists, /tmp/perf-PID.map, and dumps, DIR/jit-PID.dump
 *	exe, args	the program, and its arguments as an array
 *	host, board	the machine's name, and its model
 *	sources		[{ src, hart, cpu }]
 *	counters	[{ number, event, type, code, data, flags, info, turn }]; turn: the
 *			turn in which the event is counted; absent if it always is
 *	turn_us		length of a turn in microseconds
 *	channel		channel of the program's first thread
 *	ts_channels	boolean: registers 16 to 31 are channels 0 to 15
 *	early		boolean: the library wrote this file when the program started
 *	sampling	{ channel, interval_ns, period, header_interval, event }
 *	switches	{ channel, encoders }; encoders: the number of encoders in the capture
 *	instruction	{ calls }: whose instructions were requested: "user", "kernel" or "all"
 *	trigger		{ function, call, tid, took_ns, limit_ns, last, from, to }: the call that
 *			triggered this snapshot; from and to are in ticks and not exact; took_ns,
 *			limit_ns and to are present only if the call exceeded its time limit
 *	part		{ from, to, depth, functions, filter, left_out, threshold_ns }: the
 *			options --from, --to, --depth, -F, --filter and --time-threshold of
 *			record, and the number of functions that --auto-filter excluded
 *	shared		mask of the channels that threads have taken from each other
 *	piece		piece number of this piece, if the recording is split into pieces
 *	continued	boolean: another piece follows
 *	clocks		[{ src, time, inferred }] where the piece begins
 *	streams		[{ src, channel, header, lost, record, begun }] where the
 *			piece begins: struct meta_stream
 *	rest		[{ src, channel, offset }] struct meta_rest
 *	threads		[{ channel, pid, tid, name, from, to, named }] in order of
 *			appearance; times are in ticks, as wide as a timestamp; named: each
 *			header of the thread contains its id, and channel may be absent
 *	processes	[{ pid, ppid, exe, args, from, to }] if several processes were
 *			recorded: the programs that they executed, in order
 *	objects		[{ path, build_id, start, end, bias, from, to, in }] in order of
 *			appearance; an object was not mapped before "from" or after "to"; in:
 *			indexes of the processes that mapped it; if absent, all did
 *	coverage	{ full, bytes, buffer, run_ns, counters_lost, gaps, gap_bytes, limit,
 *			waits, waited_ns, fulls, full_ns, pauses, paused_ns, missing, running }:
 *			full: the buffer filled up before the end; bytes: number of bytes
 *			captured; buffer: size of the buffer; run_ns: duration of the capture;
 *			counters_lost: bit n: counter n did not count throughout; gaps,
 *			gap_bytes: number of times that bytes were lost, because they were
 *			overwritten before they were read or did not fit in the file, and a
 *			lower bound on the number of lost bytes; limit: the recording ended at
 *			the user's limit; waits, waited_ns: number of times that the program
 *			waited for the recorder, and the total wait of all threads; fulls,
 *			full_ns: number of times that a buffer had no room, and the total time
 *			without room; pauses, paused_ns: number of times that the user paused
 *			the recording, and the total length of the pauses; missing: gaps
 *			[{ begin, end, bytes, dropped }], struct meta_gap; running: the recording
 *			had not ended when this file was written
 *	clock_samples	[{ time, ns, within }] at START and STOP: the clock in ticks,
 *			read within "within" nanoseconds of CLOCK_MONOTONIC "ns"
 *	utc		{ time, ns, within }: the clock in ticks when the wall clock was at "ns"
 *			nanoseconds since the Epoch; within: the time that it took to read it
 *	utc_start	{ time, ns, within } in a merged trace, with utc, instead of clock_samples:
 *			the clock at START
 *	lost		{ signals, threads, abandoned, refused, children, samples,
 *			dropped, switches, processes, elsewhere, wakeups, encoders }; processes:
 *			number of processes whose switches are not recorded; elsewhere, wakeups:
 *			number of times that threads began to run on, or were woken by, CPUs
 *			whose switches are not recorded; encoders: number of encoders whose
 *			registers were changed while they ran
 */
#ifndef SIFIVE_TRACE_META_H
#define SIFIVE_TRACE_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meta_part.h"

/* Limits of a side-car file; a file that exceeds one of them is refused. */
#define META_BYTES_MAX		(4u << 20)
#define META_DEPTH_MAX		8
/*
 * json-c needs up to 1 KiB for each object and 100 bytes for each value, in total 18
 * MiB.
 */
#define META_GROUPS_MAX		10600
#define META_VALUES_MAX		75000
#define META_STRING_MAX		4096
#define META_HZ_MAX		100000000000ull
#define META_ARGS_MAX		4096
#define META_FUNCTIONS_MAX	64
#define META_SOURCES_MAX	128
#define META_COUNTERS_MAX	32
#define META_THREADS_MAX	4096
#define META_OBJECTS_MAX	4096
#define META_STREAMS_MAX	2048
#define META_PROCESSES_MAX	2048
#define META_GENERATED_MAX	(2 * META_PROCESSES_MAX)
#define META_GAPS_MAX		64

/* Advice for an invalid side-car file. */
#define META_ADVICE	"fix it, delete it, name another with --meta, or read without it: --meta none"

/*
 * Maximum size of a list of generated functions, and of all of a recording's lists and dumps
 * together.
 */
#define META_LIST_BYTES_MAX	(64u << 20)
#define META_LISTS_BYTES_MAX	(256u << 20)

/* Message for an unused list, with its path and the reason. */
#define META_LIST_UNUSED	"%s: not used: %s: its functions may be shown as addresses"

/* The "path" of code that the kernel maps into every process, and that is not in any file. */
#define META_VDSO		"[vdso]"

/* The "path" of the code of the kernel and its modules. */
#define META_KERNEL		"[kernel]"

/* The "path" of the instructions in programs that the kernel's probes have replaced. */
#define META_PROBES		"[uprobes]"

/* The requested instructions. Readers omit all others. */
enum meta_calls {
	META_CALLS_ALL,
	META_CALLS_USER,
	META_CALLS_KERNEL,
};

/* The hart of a source. Unknown members are -1. */
struct meta_source {
	int	src;
	int	hart;
	int	cpu;
};

/* An event of counter @number; @event is the name that the user gave it, or NULL. */
struct meta_counter {
	int		number;
	const char	*event;
	uint32_t	type;
	uint32_t	code;
	uint64_t	data;
	uint32_t	flags;
	uint32_t	info;
	uint32_t	turn;		/* 0 if always counted, otherwise its turn */
};

/* The thread that wrote to @channel from tick @from to tick @to, inclusive. */
struct meta_thread {
	int		channel;	/* -1 if none; then @named is set */
	int64_t		pid;		/* -1 if unknown */
	int64_t		tid;		/* -1 if unknown */
	const char	*name;		/* NULL if unknown */
	uint64_t	from;
	uint64_t	to;
	bool		named;		/* each header of its records contains its id */
};

/* A program that process @pid ran from tick @from to tick @to, inclusive. */
struct meta_process {
	int64_t		pid;		/* -1 if unknown */
	int64_t		parent;		/* -1 if unknown */
	const char	*exe;		/* NULL if unknown */
	uint64_t	from;
	uint64_t	to;
};

/*
 * A program or shared object, which was mapped from @start to @end, exclusive, at some time from
 * tick @from to tick @to, inclusive. @bias is an address in memory minus the address in the file.
 * The @ins elements of struct meta.in beginning at @in are the processes that mapped the object; if
 * @ins is 0, all did.
 */
struct meta_object {
	const char	*path;
	const char	*build_id;	/* hexadecimal, or NULL if unknown */
	uint64_t	start;
	uint64_t	end;
	uint64_t	bias;
	uint64_t	from;
	uint64_t	to;
	size_t		in;
	size_t		ins;
};

/* Settings of the kernel's sampling; @channel is -1 if there was none. */
struct meta_sampling {
	int		channel;
	uint64_t	interval_ns;
	uint64_t	period;
	uint64_t	header_interval;
	const char	*event;
};

/**
 * struct meta_trigger - the call that triggered a snapshot
 * @function:	name of the called function, or NULL if no call triggered the file
 * @call:	number of the call
 * @tid:	thread that made the call, or -1 if unknown
 * @took_ns, @limit_ns: duration of the call, and the limit that it exceeded, or 0 if the snapshot
 *		was taken at the call's start
 * @from, @to: start and end of the call, in ticks
 * @timed, @ended: set if @from is known, and if @to is known
 * @last:	set if the file was written at the program's end, and this was the latest such call
 */
struct meta_trigger {
	const char	*function;
	uint64_t	call;
	int64_t		tid;
	uint64_t	took_ns;
	uint64_t	limit_ns;
	uint64_t	from;
	uint64_t	to;
	bool		timed;
	bool		ended;
	bool		last;
};

/*
 * A time during which data was lost, from @begin to @end in ticks as wide as a timestamp; both are
 * 0 if unknown. The last element of a list also covers all later gaps.
 */
struct meta_gap {
	uint64_t	begin;
	uint64_t	end;
	uint64_t	bytes;		/* bytes overwritten before they were read */
	uint64_t	dropped;	/* records dropped for lack of room */
};

/* The part of the run that the trace can contain; @known is set if the recorder reports it. */
struct meta_coverage {
	bool		known;
	bool		full;
	bool		limit;
	bool		running;
	uint64_t	bytes;
	uint64_t	buffer;
	uint64_t	run_ns;		/* 0 if unknown */
	uint32_t	counters_lost;
	uint64_t	gaps;
	uint64_t	gap_bytes;
	uint64_t	pauses;
	uint64_t	paused_ns;
	struct meta_gap	*gap;
	size_t		listed;		/* number of entries of @gap */
};

/*
 * Records that were not written, as counted by the recorder; @unknown is set if the side-car file
 * has invalid values for this struct or for struct meta_coverage.
 */
struct meta_lost {
	bool		unknown;
	uint64_t	signals;
	uint64_t	threads;
	uint64_t	abandoned;
	uint64_t	refused;
	uint64_t	children;
	uint64_t	samples;
	uint64_t	dropped;
	uint64_t	switches;
	uint64_t	processes;
	uint64_t	elsewhere;
	uint64_t	wakeups;
	uint64_t	encoders;
	uint64_t	unrecorded;
};

/*
 * A trace time, which wraps like a timestamp, and the same time on another clock, in nanoseconds,
 * with an error of at most @within. The other clock of @utc counts from the Epoch. All are 0 if
 * unknown.
 */
struct meta_utc {
	uint64_t	time;
	uint64_t	ns;
	uint64_t	within;
};

/* A source's clock at the beginning of a piece. */
struct meta_clock {
	int		src;
	uint64_t	time;
	bool		inferred;
};

/**
 * struct meta_stream - a stream that continues from the previous piece; stores are given as text
 * @header:	stores of its header, or NULL if unknown
 * @lost:	set if stores have been lost since the header
 * @record:	stores of its latest record, encoded as if it were the first after the header, or
 *		NULL if unknown
 * @begun:	stores after that record or header, or NULL if none
 */
struct meta_stream {
	int		src;
	int		channel;
	const char	*header;
	const char	*record;
	const char	*begun;
	bool		lost;
};

/* A record belongs to the next piece if its last address is at @offset or later. */
struct meta_rest {
	int		src;
	int		channel;
	uint64_t	offset;
};

/**
 * struct meta - contents of a side-car file; -1, 0 or NULL for missing values
 * @hart_counts: set if counts are per hart according to the file
 * @turn_us:	length of a turn in microseconds, or 0 if unknown
 * @switches:	channel of the context-switch records
 * @encoders:	number of encoders of all sinks in the capture, if @switches is set; 0 if unknown
 * @flow:	set if the trace contains instruction trace
 * @calls:	enum meta_calls, if @flow is set
 * @files:	path of the directory of copies, or NULL if there is none
 * @generated:	names of @lists files in that directory
 * @piece:	piece number, or -1 if the recording is not split into pieces
 * @continued:	set if another piece follows
 * @in:		indexes of processes, for all objects
 * @utc, @utc_start: the wall clock at STOP and, in a merged trace, at START
 * @sample:	@samples times of the kernel's CLOCK_MONOTONIC, at START and at STOP of the capture
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
	bool			flow;
	int			calls;
	uint64_t		header_interval;
	bool			per_thread;
	bool			hart_counts;
	bool			ts_channels;
	bool			early;
	char			*files;
	const char		**generated;
	size_t			lists;
	const char		*exe;
	const char		*host;
	const char		*board;
	const char		**arg;
	size_t			args;
	struct meta_source	*source;
	size_t			sources;
	struct meta_counter	*counter;
	size_t			counters;
	uint32_t		turn_us;
	uint32_t		shared;
	struct meta_thread	*thread;
	size_t			threads;
	struct meta_process	*process;
	size_t			processes;
	struct meta_object	*object;
	size_t			objects;
	uint32_t		*in;
	size_t			ins;
	struct meta_sampling	sampling;
	struct meta_trigger	trigger;
	struct meta_part	part;
	int			switches;
	uint64_t		encoders;
	struct meta_coverage	coverage;
	struct meta_lost	lost;
	struct meta_utc		utc;
	struct meta_utc		utc_start;
	struct meta_utc		*sample;
	size_t			samples;
	int			piece;
	bool			continued;
	struct meta_clock	*clock;
	size_t			clocks;
	struct meta_stream	*stream;
	size_t			streams;
	struct meta_rest	*rest;
	size_t			rests;
	char			*strings;
};

/** meta_init() - mark all values as missing */
void meta_init(struct meta *meta);

/**
 * meta_parse() - parse the text of a side-car file
 * @name:	name of the file in messages
 * @text:	bytes of the file
 * @length:	number of bytes
 * @meta:	the result; call meta_free() even after an error
 *
 * Invalid values are reported and ignored.
 *
 * Return: 0, or -1 after printing an error if the text is not a JSON object within the limits.
 */
int meta_parse(const char *name, const char *text, size_t length,
	       struct meta *meta);

/**
 * meta_read() - read the side-car file of a trace
 * @path:	the file, or NULL for TRACE.meta, which need not exist; "none" for no file
 * @trace:	path of the trace; "-" has no TRACE.meta
 * @meta:	the result; call meta_free() even after an error
 *
 * Return: 0, or -1 after printing an error if the file cannot be used.
 */
int meta_read(const char *path, const char *trace, struct meta *meta);

/** meta_free() - free the contents */
void meta_free(struct meta *meta);

/** meta_goes_on() - return whether a stream continues from the previous piece */
static inline bool meta_goes_on(const struct meta *meta, int src, int channel)
{
	size_t i;

	for (i = 0; i < meta->streams; i++)
		if (meta->stream[i].src == src && meta->stream[i].channel == channel)
			return meta->stream[i].header;
	return false;
}

/** meta_other_harts() - return whether threads may have run on harts that are not in the trace */
static inline bool meta_other_harts(const struct meta *meta)
{
	return meta->encoders > meta->sources;
}

/** meta_source() - return the description of a source, or NULL */
static inline const struct meta_source *meta_source(const struct meta *meta, int src)
{
	size_t i;

	for (i = 0; i < meta->sources; i++)
		if (meta->source[i].src == src)
			return &meta->source[i];
	return NULL;
}

#endif /* SIFIVE_TRACE_META_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Read traces of SiFive processors one event at a time, as the command sifive-trace does: calls,
 * records, samples, context switches and losses.
 *
 *	struct sifive_reader *reader = sifive_reader_new();
 *	const struct sifive_event *event;
 *	int more;
 *
 *	if (!reader || sifive_reader_set(reader, "elf", "fib.elf") ||
 *	    sifive_reader_open(reader, "trace.rtd", SIFIVE_EVENT_CALL))
 *		errx(1, "%s", sifive_reader_error(reader));
 *	while ((more = sifive_reader_next(reader, &event)) > 0)
 *		printf("%s: %" PRIu64 " ticks\n",
 *		       sifive_reader_function(reader, event->function)->label,
 *		       event->length);
 *	if (more < 0)
 *		errx(1, "%s", sifive_reader_error(reader));
 *	if (!sifive_reader_complete(reader))
 *		warnx("%s", sifive_reader_messages(reader));
 *	sifive_reader_free(reader);
 *
 * Link with -lsifive-trace-read. The library prints nothing and never exits. Readers are
 * independent, but only one thread at a time may use a reader. A reader's memory use does not
 * grow with the length of its trace.
 *
 * A reader owns what its functions return: strings and structures are valid until
 * sifive_reader_free(), events and their counts until the next sifive_reader_next(). Later versions
 * of the library may add functions, enumeration values, and members at the end of structures; any
 * other change also changes the library's file name.
 */
#ifndef SIFIVE_TRACE_READ_H
#define SIFIVE_TRACE_READ_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sifive_reader;

/**
 * enum sifive_event_kind - kinds of events; bits of sifive_reader_open()'s @events
 * @SIFIVE_EVENT_RECORD: a record: function entry or exit, manual record or sample
 * @SIFIVE_EVENT_CALL: a call that has ended; it follows the calls within it
 * @SIFIVE_EVENT_SPAN: a period during which a thread was on or off the CPU (record --switches)
 * @SIFIVE_EVENT_LOST: records of a thread may be missing here
 * @SIFIVE_EVENT_IDLE: a pipe has no more data for now; never occurs with files
 * @SIFIVE_EVENT_POINT: a manual record, or an instrumented function's record, at its position among
 *		the calls; only if there is instruction trace. The calls, and SIFIVE_EVENT_RECORD
 *		for function entry and exit, then come from instruction trace, unless the option
 *		"calls" is "records".
 */
enum sifive_event_kind {
	SIFIVE_EVENT_RECORD	= 1 << 0,
	SIFIVE_EVENT_CALL	= 1 << 1,
	SIFIVE_EVENT_SPAN	= 1 << 2,
	SIFIVE_EVENT_LOST	= 1 << 3,
	SIFIVE_EVENT_IDLE	= 1 << 4,
	SIFIVE_EVENT_POINT	= 1 << 5,
};

/**
 * enum sifive_record_type - types of records
 * @SIFIVE_RECORD_ENTER: a function was entered
 * @SIFIVE_RECORD_EXIT: a function was left
 * @SIFIVE_RECORD_MANUAL: perfWriteCntrs() or sifive_trace_write() was called
 * @SIFIVE_RECORD_SAMPLE: the kernel or a timer sampled the thread
 */
enum sifive_record_type {
	SIFIVE_RECORD_ENTER,
	SIFIVE_RECORD_EXIT,
	SIFIVE_RECORD_MANUAL,
	SIFIVE_RECORD_SAMPLE,
};

/**
 * enum sifive_call_end - how a call ended
 * @SIFIVE_CALL_EXIT: the call's own exit was recorded
 * @SIFIVE_CALL_UNWOUND: an outer function continued: longjmp(), an exception, or a loss
 * @SIFIVE_CALL_CUT: the call had not ended at the end of the trace, or where data about the thread
 *		ends
 */
enum sifive_call_end {
	SIFIVE_CALL_EXIT,
	SIFIVE_CALL_UNWOUND,
	SIFIVE_CALL_CUT,
};

/**
 * enum sifive_span_state - state of a thread during a span
 * @SIFIVE_SPAN_UNKNOWN: the trace does not show the state
 * @SIFIVE_SPAN_RUNS: the thread ran
 * @SIFIVE_SPAN_PREEMPTED: the thread could run, but another thread ran
 * @SIFIVE_SPAN_SLEEPS: the thread waited, but a signal would have woken it
 * @SIFIVE_SPAN_UNINTERRUPTIBLE: the thread waited for the kernel or a device
 * @SIFIVE_SPAN_STOPPED: a signal or debugger had stopped the thread
 * @SIFIVE_SPAN_WAITS: the thread did not run; the record of the reason was lost
 * @SIFIVE_SPAN_WOKEN: the thread had been woken, and waited for a CPU
 * @SIFIVE_SPAN_SEVERAL: several of these states, merged because there were too many spans
 */
enum sifive_span_state {
	SIFIVE_SPAN_UNKNOWN,
	SIFIVE_SPAN_RUNS,
	SIFIVE_SPAN_PREEMPTED,
	SIFIVE_SPAN_SLEEPS,
	SIFIVE_SPAN_UNINTERRUPTIBLE,
	SIFIVE_SPAN_STOPPED,
	SIFIVE_SPAN_WAITS,
	SIFIVE_SPAN_WOKEN,
	SIFIVE_SPAN_SEVERAL,
};

/* sifive_event.flags */
enum {
	/* @time, and @length of a call or span, are known; otherwise they are 0. */
	SIFIVE_TIMED		= 1 << 0,
	/* The times are inferred, not exact: the encoder wrote no timestamp there. */
	SIFIVE_INFERRED		= 1 << 1,
	/* @self of a call is inferred, or includes ticks in unknown functions. */
	SIFIVE_SELF_INFERRED	= 1 << 2,
	/* No other call to the same function encloses this one. */
	SIFIVE_OUTERMOST	= 1 << 3,
	/* A point whose counts are unknown, because no earlier point of its thread is known. */
	SIFIVE_FIRST		= 1 << 4,
	/* A point: records may be missing since the thread's previous point. */
	SIFIVE_AFTER_LOSS	= 1 << 5,
	/* A point: its thread has been on another hart since its previous point. */
	SIFIVE_MOVED		= 1 << 6,
};

/* sifive_event.caller for a call without a known caller. */
#define SIFIVE_NO_FUNCTION	UINT32_MAX

/**
 * struct sifive_event - an event
 * @kind:	enum sifive_event_kind
 * @flags:	SIFIVE_TIMED ...
 * @time:	ticks: when a call or span began, or a record or point was written
 * @length:	ticks from a call's entry to its exit, excluding @waited; length of a span in ticks
 * @self:	ticks of a call's @length outside nested calls
 * @waited:	ticks for which a call's thread waited for room in the buffer; these ticks are not
 *		charged to any function
 * @address:	record, point: address of the function entered or left; otherwise the pc
 * @caller_address: record, point: the return address at entry or exit, or 0
 * @counted:	bit n set: @count[n] is known. All bits are set for a call, because unknown counts
 *		are not charged to calls
 * @count:	call: each counter's count from entry to exit. Record: count since the
 *		thread's previous record. Point: count since the thread's previous point, in all
 *		functions that ran in between
 * @count_self:	call: part of @count outside nested calls; for other events NULL
 * @counters:	length of @count and @count_self. Functions that return the counters' names:
 *		sifive_reader_counter(), and for a point sifive_reader_point_counter()
 * @thread:	number for sifive_reader_thread()
 * @function:	number for sifive_reader_function(): the function of the call, record or point
 * @caller:	the function enclosing a call or point, or SIFIVE_NO_FUNCTION
 * @depth:	number of calls enclosing a call or point
 * @type:	record, point: enum sifive_record_type; call: enum sifive_call_end; span: enum
 *		sifive_span_state
 * @source:	record, point: number of the source (encoder)
 * @channel:	record, point: number of the channel
 * @offset:	record, point: offset in the file, in bytes
 * @callers:	record: the functions that called the sampled one, innermost first, or NULL if the
 *		sample has no callers
 * @caller_count: length of @callers
 */
struct sifive_event {
	uint32_t	kind;
	uint32_t	flags;
	uint64_t	time;
	uint64_t	length;
	uint64_t	self;
	uint64_t	waited;
	uint64_t	address;
	uint64_t	caller_address;
	uint64_t	counted;
	const uint64_t	*count;
	const uint64_t	*count_self;
	uint32_t	counters;
	uint32_t	thread;
	uint32_t	function;
	uint32_t	caller;
	uint32_t	depth;
	uint32_t	type;
	uint32_t	source;
	uint32_t	channel;
	uint64_t	offset;
	const uint32_t	*callers;
	uint32_t	caller_count;
};

/**
 * struct sifive_function - a function
 * @label:	name of the function or, if unknown, its object and offset, or address; never NULL.
 *		"[tracer]" marks functions of libsifive-perf
 * @name:	name of the function, or NULL if unknown
 * @file:	source file, as given to the compiler, or NULL if unknown
 * @object:	name of the program or shared object, or NULL if unknown
 * @line:	line in @file, or 0 if unknown
 * @address:	first address of the function in the trace
 */
struct sifive_function {
	const char	*label;
	const char	*name;
	const char	*file;
	const char	*object;
	uint32_t	line;
	uint64_t	address;
};

/**
 * struct sifive_thread - a thread
 * @label:	name of the thread, never NULL
 * @pid:	process id, or -1 if unknown
 * @tid:	thread id, or -1 if unknown
 * @source:	source of the thread's records, -1 for any
 * @channel:	first channel of the thread
 */
struct sifive_thread {
	const char	*label;
	int64_t		pid;
	int64_t		tid;
	int32_t		source;
	uint32_t	channel;
};

/**
 * struct sifive_trace_info - a trace
 * @program:	path of the recorded program, or NULL if unknown
 * @hz:		ticks per second, or 0 if unknown
 * @bytes:	bytes read so far
 * @records:	records read so far
 * @first:	earliest known time of a record so far, in ticks
 * @last:	latest known time of a record so far, in ticks
 * @counters:	number of counters found so far
 * @functions:	number of functions found so far
 * @threads:	number of threads found so far
 */
struct sifive_trace_info {
	const char	*program;
	uint64_t	hz;
	uint64_t	bytes;
	uint64_t	records;
	uint64_t	first;
	uint64_t	last;
	uint32_t	counters;
	uint32_t	functions;
	uint32_t	threads;
};

/**
 * sifive_reader_new() - create a reader with default options
 *
 * Return: the reader, to be freed with sifive_reader_free(), or NULL if out of memory.
 */
struct sifive_reader *sifive_reader_new(void);

/**
 * sifive_reader_set() - set an option, before sifive_reader_open()
 * @option:	long name of an option of the command, without "--": channel, srcbits,
 *		ts-width, ts-scheme, ts-hz, ring, meta, elf (may be repeated), symfs,
 *		demangle, time, calls
 * @value:	value as on the command line; NULL for an option without a value
 *
 * sifive-trace(1) describes each option.
 *
 * Return: 0, or -1 for an unknown option, an invalid value or lack of memory:
 * sifive_reader_error() explains it.
 */
int sifive_reader_set(struct sifive_reader *reader, const char *option, const char *value);

/**
 * sifive_reader_open() - open a trace, its side-car file and its programs; call this once per
 * reader
 * @path:	the trace, "-" for standard input
 * @events:	kinds of events that sifive_reader_next() returns: bits of enum
 *		sifive_event_kind
 *
 * Return: 0, or -1 if the file cannot be read or is not a trace; sifive_reader_error() explains
 * the error.
 */
int sifive_reader_open(struct sifive_reader *reader, const char *path, unsigned int events);

/**
 * sifive_reader_next() - read the next event
 * @event:	result: the event
 *
 * Events are in the order of the trace. Records from a thread that moved between harts are in the
 * order in which the thread wrote them.
 *
 * Return: 1 if there is an event; 0 at the end of the trace; -1 for a read error or lack of
 * memory, after which later calls also return -1; sifive_reader_error() explains the error.
 */
int sifive_reader_next(struct sifive_reader *reader, const struct sifive_event **event);

/**
 * sifive_reader_complete() - check whether the trace contains everything that was recorded
 *
 * Return: 1 if it does; 0 if the trace has no records, or if anything was lost, is damaged or
 * unknown, or has no time: the command's --strict then exits with 1, and sifive_reader_messages()
 * returns the details; -1 if sifive_reader_next() has not returned 0 yet.
 */
int sifive_reader_complete(const struct sifive_reader *reader);

/**
 * sifive_reader_info() - describe the trace as far as it has been read; call this after
 * sifive_reader_open()
 */
const struct sifive_trace_info *sifive_reader_info(struct sifive_reader *reader);

/**
 * sifive_reader_counter() - get the name of a counter
 * @number:	index of sifive_event.count
 *
 * "NAME (hart)" counts everything that runs on a hart. "on-cpu", "off-cpu" and
 * "unknown-cpu" are times in ticks, in traces with context switches.
 *
 * Return: the name, or NULL if there is no such counter so far.
 */
const char *sifive_reader_counter(const struct sifive_reader *reader, unsigned int number);

/**
 * sifive_reader_point_counter() - get the name of a counter of SIFIVE_EVENT_POINT
 * @number:	index of the counter in sifive_event.count
 *
 * Return: the name, or NULL if there is no such counter so far.
 */
const char *sifive_reader_point_counter(const struct sifive_reader *reader, unsigned int number);

/**
 * sifive_reader_function() - describe a function
 * @number:	sifive_event.function or sifive_event.caller
 *
 * Return: the function, valid until the next sifive_reader_function(), or NULL if there is none so
 * far.
 */
const struct sifive_function *sifive_reader_function(struct sifive_reader *reader,
						     uint32_t number);

/**
 * sifive_reader_thread() - describe a thread
 * @number:	sifive_event.thread
 *
 * Return: the thread, valid until the next sifive_reader_thread(), or NULL if there is none so far.
 */
const struct sifive_thread *sifive_reader_thread(struct sifive_reader *reader,
						 uint32_t number);

/**
 * sifive_reader_error() - get the latest message
 *
 * Return: the message, or "" if there is none; "out of memory" if @reader is NULL.
 */
const char *sifive_reader_error(const struct sifive_reader *reader);

/**
 * sifive_reader_messages() - get all messages so far, one per line
 *
 * These are the messages that the command prints to standard error: the summary of the
 * trace, what is missing from it and why, and errors.
 */
const char *sifive_reader_messages(const struct sifive_reader *reader);

/** sifive_reader_free() - close the trace and free the reader; NULL is allowed */
void sifive_reader_free(struct sifive_reader *reader);

#ifdef __cplusplus
}
#endif

#endif /* SIFIVE_TRACE_READ_H */

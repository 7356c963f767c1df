/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reconstructs each thread's calls, with their times and counts, from the records of a trace.
 * Memory use grows, up to limits, with the number of functions and threads and with the call depth,
 * but not with the trace length.
 *
 * A call begins with its enter record. It ends at its exit record, at a record of an outer function
 * (after an exception, longjmp or lost records), at a header that begins another part of the
 * capture, at a loss of addresses, or at the end of the trace. The counts and the time between two
 * of a thread's records are charged to the function that ran in between. Unknown counts, such as
 * those after a loss or a migration to a hart with other counters, are charged to no function.
 */
#ifndef SIFIVE_TRACE_ANALYSIS_H
#define SIFIVE_TRACE_ANALYSIS_H

#include "costs.h"
#include "counters.h"
#include "faults.h"
#include "flow.h"
#include "functions.h"
#include "oncpu.h"
#include "options.h"
#include "symbols.h"
#include "threads.h"
#include "trace.h"
#include "turns.h"

/* Memory limit for the frames of all threads; calls that do not fit are only counted. */
#define ANALYSIS_FRAME_BYTES	(8u << 20)

/* Appended to the names of the tracer's own functions. */
#define ANALYSIS_TRACER		" [tracer]"

/* Flags: why a call's length or counts are uncertain. ANALYSIS_INNER_INFERRED: @inner is inferred. */
#define ANALYSIS_INNER_INFERRED	(1u << 0)
/* @inner includes ticks spent in unknown functions. */
#define ANALYSIS_UNKNOWN_RAN	(1u << 1)
/* During the call, the thread waited for room in the buffer, for an unknown time. */
#define ANALYSIS_WAIT_UNKNOWN	(1u << 2)
/* Records were lost during the call, so its exit record may belong to a later call. */
#define ANALYSIS_RECORDS_LOST	(1u << 3)
/* Some counts since the call began are unknown; its length is not affected. */
#define ANALYSIS_COUNTS_UNKNOWN	(1u << 4)
/* The call's self time and counts include those of nested calls that were left out. */
#define ANALYSIS_CALLS_OMITTED	(1u << 5)
/* Records were lost shortly before the call, so calls that are not shown may enclose it. */
#define ANALYSIS_PATH_INFERRED	(1u << 6)

/**
 * struct analysis_frame - an open call
 * @function:	number of the function
 * @call_site:	return address of the call
 * @enter:	start of the call in ticks, plus @waited; if @timed is clear, the latest known
 *		time before the start
 * @inner:	ticks spent in callees of @function, or in unknown functions
 * @waited:	ticks that the thread waited for room in the buffer during the call; not charged to
 *		any function
 * @timed:	@enter is valid
 * @inferred:	@enter is inferred
 * @doubts:	the flags above
 * @outermost:	set if no other call of the same function encloses this call
 * @user:	for use by the consumer
 */
struct analysis_frame {
	uint32_t	function;
	bool		timed;
	bool		inferred;
	uint8_t		doubts;
	bool		outermost;
	uint64_t	call_site;
	uint64_t	enter;
	uint64_t	inner;
	uint64_t	waited;
	uint64_t	user;
};

/* Position of a thread relative to the time range selected by analysis_limit(). */
enum analysis_place {
	ANALYSIS_BEFORE,
	ANALYSIS_INSIDE,
	ANALYSIS_AFTER,
};

/**
 * struct analysis_thread - a thread and its calls
 * @thread:	the thread
 * @frame:	open calls, outermost first
 * @depth:	number of frames
 * @now:	latest known time of the thread, in ticks
 * @timed:	@now is the time of the thread's latest record
 * @inferred:	@now is inferred
 * @src:	source of the thread's latest record
 * @ever:	columns of counters that the thread's records have contained
 */
struct analysis_thread {
	struct thread		*thread;
	struct analysis_frame	*frame;
	unsigned int		depth;
	bool			timed;
	bool			inferred;
	unsigned int		src;
	uint64_t		now;
	uint64_t		ever;
	/* Private to analysis.c and calls.c. */
	struct costs		costs;		/* outermost calls by function */
	uint64_t		too_deep;
	uint64_t		search;		/* search budget, in frames */
	bool			had_record;
	bool			returned;	/* a call without a caller has ended */
	uint8_t			doubts;		/* doubts about calls that begin now */
	uint64_t		offset;		/* file offset of the latest record */
	uint32_t		part;		/* part of the capture: see analysis.c */
	enum analysis_place	place;
	uint64_t		sum[COUNTERS_MAX];
	uint64_t		last[COUNTERS_MAX];
	bool			last_known[COUNTERS_MAX];
	uint32_t		chain[COUNTERS_MAX];
	uint32_t		chains;
	struct turns_last	*turns;		/* NULL initially, or if kept per stream */
	/*
	 * Private to points.c: the state of the thread's points, or NULL before the first point.
	 * The next two members are used only in that state.
	 */
	struct analysis_thread	*recorded;
	bool			elsewhere;	/* ran on another hart after the latest record */
	bool			broken;		/* the latest record had no address or no header */
};

/* Why a call ended. */
enum analysis_why {
	ANALYSIS_EXIT,		/* the exit record of the call */
	ANALYSIS_UNWOUND,	/* continuation of an outer function */
	ANALYSIS_CUT,		/* a header, lost addresses, or the trace's end */
};

/**
 * struct analysis_end - a call that has ended
 * @why:	enum analysis_why
 * @timed:	@total and @self are known; otherwise, they are 0
 * @inferred:	@total is inferred
 * @self_inferred: @self is inferred
 * @total:	ticks from enter to exit
 * @self:	ticks of @total that were not spent in callees
 * @count:	counts from enter to exit, by column; 0 instead of a negative count
 * @count_self:	like @count, excluding callees
 */
struct analysis_end {
	enum analysis_why	why;
	bool			timed;
	bool			inferred;
	bool			self_inferred;
	uint64_t		total;
	uint64_t		self;
	const uint64_t		*count;
	const uint64_t		*count_self;
};

/**
 * struct analysis_step - one record of a thread
 * @record:	the record
 * @function:	the function that is entered or left, or that contains the sample or manual record
 * @address:	pc of a sample or manual record
 * @counted:	bit n: @delta[n] is known
 * @charged:	columns of @counted to charge to the function of a sample or manual record: none
 *		within a call, because the call is charged; for a sample, none that calls or manual
 *		records also fill
 * @delta:	counts since the thread's latest record, by column
 * @caller:	the @callers functions that called @function, innermost first, for samples with
 *		callers
 */
struct analysis_step {
	const struct perfrec_record *record;
	uint32_t	function;
	uint64_t	address;
	uint64_t	counted;
	uint64_t	charged;
	const uint64_t	*delta;
	const uint32_t	*caller;
	unsigned int	callers;
};

/**
 * struct analysis_point - a record among calls that are generated from instruction trace
 * @record:	the record
 * @function:	number of the function at @address
 * @address:	start of the function that is entered or left, or the pc after a manual record
 * @first:	no previous point of the thread is known, so @counted is 0
 * @lost:	records may be missing after the thread's previous point
 * @moved:	the thread has run on another hart since its previous point
 * @counted:	bit n: @delta[n] is known
 * @delta:	counts since the previous point, by column of analysis_recorded()
 */
struct analysis_point {
	const struct perfrec_record *record;
	uint32_t	function;
	uint64_t	address;
	bool		first;
	bool		lost;
	bool		moved;
	uint64_t	counted;
	const uint64_t	*delta;
};

/**
 * struct analysis_ops - a consumer's callbacks; each may be NULL
 * @lost:	records may be missing before the thread's current record
 * @step:	each record, before it changes the calls
 * @enter:	a call has begun: thread->frame[thread->depth - 1]
 * @leave:	the thread's innermost call has ended; its frame still exists. Not called for a call
 *		shorter than --time-threshold: the costs of that call belong to its caller
 * @point:	a sample or manual record
 * @uncharge:	calls or manual records begin to fill these columns, which only samples have filled
 *		until then: discard the samples' counts
 * @recorded:	a record of an instrumented function or a manual record, at its place among the
 *		calls that are generated from instruction trace. Its counts are not charged to a
 *		call, because several functions may have run since the previous record.
 * @ran:	a thread has executed @instructions of a function or, if @instructions is 0, has
 *		called it once; this happened between two calls of @recorded
 * @missing:	some of the thread's instructions are missing here
 * @span:	a part of a thread's time on or off the CPU; called before the thread's next
 *		record
 * @message, @gap: see struct trace_ops; called before the analysis uses them
 * @pause:	no more data has arrived in a pipe: show the current results
 * @stop:	polled; true stops reading
 */
struct analysis_ops {
	void (*lost)(void *context, struct analysis_thread *thread);
	void (*step)(void *context, struct analysis_thread *thread,
		     const struct analysis_step *step);
	void (*enter)(void *context, struct analysis_thread *thread);
	void (*leave)(void *context, struct analysis_thread *thread,
		      const struct analysis_end *end);
	void (*point)(void *context, struct analysis_thread *thread,
		      const struct analysis_step *step);
	void (*uncharge)(void *context, uint64_t columns);
	void (*recorded)(void *context, struct analysis_thread *thread,
			 const struct analysis_point *point);
	void (*ran)(void *context, struct analysis_thread *thread, uint32_t function,
		    uint64_t instructions);
	void (*missing)(void *context, struct analysis_thread *thread);
	oncpu_span span;
	void (*message)(void *context, const struct nexus_message *message);
	void (*gap)(void *context, const struct nexus_message *gap);
	void (*pause)(void *context);
	bool (*stop)(void *context);
};

/**
 * struct analysis_stats - statistics, mostly of irregularities
 * @calls:	calls that have ended
 * @untimed:	calls that began or ended at an unknown time
 * @inferred:	calls that began or ended at an inferred time
 * @unplaced:	calls with ANALYSIS_PATH_INFERRED
 * @brief:	calls that are left out because they are shorter than --time-threshold
 * @unwound:	calls that ended without their own exit record
 * @cut:	calls that were still open at a header, at a loss or at the end
 * @strays:	exit records of calls without an enter record
 * @too_deep:	calls deeper than the limit
 * @left_out:	number of times that a thread whose calls are omitted started running
 * @broken:	number of times that all open calls of a thread ended, because the function in which
 *		it continued had no open call
 * @misplaced:	records whose position among the instructions is not exact
 * @points:	records in a trace whose calls are generated from instruction trace, if the consumer
 *		does not want them
 * @uncounted:	records whose counts could not be assigned to a function
 * @backwards:	negative differences of counts: a counter, or the order of the records, is wrong.
 *		They are charged only to the calls that enclose both records
 * @beyond:	counts that are left out because sums would exceed 63 bits
 * @unaddressed: records whose addresses are lost
 * @samples:	samples with addresses
 * @tracer:	samples in the tracer's own functions
 * @aside:	samples with counts, written by the kernel
 * @waited:	nanoseconds that threads have waited for room in the buffer; not charged to any call
 * @inside:	records in the time range that analysis_limit() selected
 */
struct analysis_stats {
	uint64_t	calls;
	uint64_t	untimed;
	uint64_t	inferred;
	uint64_t	unplaced;
	uint64_t	brief;
	uint64_t	unwound;
	uint64_t	cut;
	uint64_t	strays;
	uint64_t	too_deep;
	uint64_t	left_out;
	uint64_t	broken;
	uint64_t	misplaced;
	uint64_t	points;
	uint64_t	uncounted;
	uint64_t	backwards;
	uint64_t	beyond;
	uint64_t	unaddressed;
	uint64_t	samples;
	uint64_t	tracer;
	uint64_t	aside;
	uint64_t	waited;
	uint64_t	inside;
};

/** analysis_begin() - return the time at which a call began, in ticks, if known */
static inline uint64_t analysis_begin(const struct analysis_frame *frame)
{
	return frame->enter - frame->waited;
}

/**
 * analysis_unsure() - return whether a call's self time is inferred, or includes unknown functions
 */
static inline bool analysis_unsure(const struct analysis_frame *frame,
				   const struct analysis_end *end)
{
	return end->self_inferred || frame->doubts & ANALYSIS_UNKNOWN_RAN;
}

/**
 * analysis_partial() - return whether some counts of an open call are unknown, records during the
 * call are missing (their counts belong to no function), or calls within it were left out
 */
static inline bool analysis_partial(const struct analysis_frame *frame)
{
	return frame->doubts & (ANALYSIS_RECORDS_LOST | ANALYSIS_COUNTS_UNKNOWN |
				ANALYSIS_CALLS_OMITTED);
}

struct analysis;

/**
 * analysis_new() - create an analysis of one trace
 * @meta:	side-car file of the trace
 * @symbols:	symbols for the functions of samples and the callers of calls; may be NULL
 * @ops:	consumer
 * @context:	passed to each callback
 *
 * Return: the analysis, or NULL if out of memory.
 */
struct analysis *analysis_new(const struct meta *meta, struct symbols *symbols,
			      const struct analysis_ops *ops, void *context);

/**
 * analysis_limit() - apply the user's selection; call this before analysis_run()
 * @input:	the user's options: a time range, in which each thread is shown from its first
 *		record to its last; and, for a trace with instruction trace, whether to show the
 *		calls found in records rather than those found in instruction trace
 */
void analysis_limit(struct analysis *analysis, const struct input *input);

/**
 * analysis_show_turns() - add columns for events that take turns on the counters; call
 * this before analysis_run()
 *
 * Their counts do not cover the whole trace: see turns.h.
 */
void analysis_show_turns(struct analysis *analysis);

/** analysis_turns() - return the events that take turns, or NULL if none are shown */
const struct turns *analysis_turns(const struct analysis *analysis);

/** analysis_free() - free an analysis; NULL is allowed */
void analysis_free(struct analysis *analysis);

/**
 * analysis_run() - read a whole trace
 *
 * Return: 0, or -1 after printing an error.
 */
int analysis_run(struct analysis *analysis, struct trace *trace);

/** analysis_oncpu() - return the context switches, or NULL if none were recorded */
const struct oncpu *analysis_oncpu(const struct analysis *analysis);

/** analysis_faults() - return the page faults that were recorded */
const struct faults *analysis_faults(const struct analysis *analysis);

/**
 * analysis_doubts_oncpu() - return whether times on or off the CPU may be wrong rather than merely
 * unknown
 */
bool analysis_doubts_oncpu(const struct analysis *analysis);

/** analysis_stats() - return the statistics */
const struct analysis_stats *analysis_stats(const struct analysis *analysis);

/**
 * analysis_notes() - report the data missing from the shown calls
 * @input:	the trace after analysis_run(); --quiet prints nothing
 */
void analysis_notes(const struct analysis *analysis, const struct input *input);

/**
 * analysis_no_records() - report that a trace's records among the calls are not shown, and which
 * command shows them
 * @input:	the trace after trace_run(), for a command that reads only the instruction trace
 */
void analysis_no_records(const struct input *input);

/** analysis_flow() - return statistics of the instruction trace's flow */
const struct flow_stats *analysis_flow(const struct analysis *analysis);

/**
 * analysis_name() - write a function as text
 * @text:	set to the function's name or address; functions of the tracer are marked
 * @size:	bytes at @text
 */
void analysis_name(const struct analysis *analysis, uint32_t function,
		   char *text, unsigned int size);

/* Return the functions, counters and threads that have been found. */
struct functions *analysis_functions(struct analysis *analysis);
const struct counters *analysis_counters(const struct analysis *analysis);
struct threads *analysis_threads(struct analysis *analysis);

/** analysis_repeated() - return the columns that both samples and other records fill */
uint64_t analysis_repeated(const struct analysis *analysis);

/** analysis_recorded() - return the counters to whose columns a point's @delta refers */
const struct counters *analysis_recorded(const struct analysis *analysis);

#endif /* SIFIVE_TRACE_ANALYSIS_H */

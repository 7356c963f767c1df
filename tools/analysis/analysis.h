/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a trace's records say of the program: calls with their times and
 * counts, thread by thread. Memory grows with functions, threads and depth,
 * within limits, and not with the length of the trace.
 *
 * A call begins with its enter record. It ends with its exit record, or where
 * a record of an outer function shows that it has ended (exceptions, longjmp, lost
 * records), where a new header begins another part of the capture, where
 * addresses are lost, or with the trace. What a counter counted between two
 * records of a thread goes to the function that ran, and so does the time; what
 * is not known, after a loss or a move to a hart with other counters, goes to
 * none.
 */
#ifndef SIFIVE_TRACE_ANALYSIS_H
#define SIFIVE_TRACE_ANALYSIS_H

#include "counters.h"
#include "functions.h"
#include "options.h"
#include "symbols.h"
#include "threads.h"
#include "trace.h"

/* Bytes for all frames of all threads; deeper calls are only counted. */
#define ANALYSIS_FRAME_BYTES	(8u << 20)

/**
 * struct analysis_frame - a call that goes on
 * @function:	number of the function
 * @call_site:	address that it returns to
 * @enter:	when it began, ticks; the latest time before that without @timed
 * @inner:	ticks spent in functions that it called, or nobody knows where
 * @timed:	@enter is valid
 * @inferred:	and likely, not certain
 * @doubtful:	@inner is not certain
 * @outermost:	no other call of the same function is around it
 * @user:	for the consumer
 */
struct analysis_frame {
	uint32_t	function;
	bool		timed;
	bool		inferred;
	bool		doubtful;
	bool		outermost;
	uint64_t	call_site;
	uint64_t	enter;
	uint64_t	inner;
	uint64_t	user;
};

/**
 * struct analysis_thread - a thread and its calls
 * @thread:	who
 * @frame:	its calls, outermost first
 * @depth:	number of them
 * @now:	the latest time that is known of it, ticks
 * @timed:	that is the time of its latest record
 * @inferred:	and likely, not certain
 * @src:	source of its latest record
 */
struct analysis_thread {
	struct thread		*thread;
	struct analysis_frame	*frame;
	unsigned int		depth;
	bool			timed;
	bool			inferred;
	unsigned int		src;
	uint64_t		now;
	/* The rest is analysis.c's. */
	unsigned int		room;
	unsigned int		stride;		/* counters that fit */
	uint64_t		*count;		/* 2 * stride for each frame */
	uint32_t		*slot;		/* outermost calls by function */
	unsigned int		slot_bits;
	uint64_t		too_deep;
	uint64_t		search;		/* frames that may be looked at */
	bool			had_record;
	uint32_t		part;		/* of the capture: see analysis.c */
	uint64_t		sum[COUNTERS_MAX];
	uint64_t		last[COUNTERS_MAX];
	bool			last_known[COUNTERS_MAX];
};

/* Why a call ended. */
enum analysis_why {
	ANALYSIS_EXIT,		/* its exit record */
	ANALYSIS_UNWOUND,	/* an outer function went on */
	ANALYSIS_CUT,		/* a header, lost addresses, or the end */
};

/**
 * struct analysis_end - a call that has ended
 * @why:	enum analysis_why
 * @timed:	@total and @self are known, otherwise 0
 * @inferred:	@total is likely, not certain
 * @self_inferred: @self is
 * @total:	ticks from enter to exit
 * @self:	ticks of them in no other function
 * @count:	what each counter counted from enter to exit, by column
 * @count_self:	of that, in no other function
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
 * @function:	function it is about: that is entered or left, or that a
 *		sample or manual record is in
 * @address:	for samples and manual records the pc
 * @counted:	bit n: @delta[n] is known
 * @delta:	what each counter counted since the thread's latest record, by
 *		column
 */
struct analysis_step {
	const struct perfrec_record *record;
	uint32_t	function;
	uint64_t	address;
	uint64_t	counted;
	const uint64_t	*delta;
};

/**
 * struct analysis_ops - what a consumer wants to hear of; each may be NULL
 * @step:	every record, before what it does to the calls
 * @enter:	a call has begun: thread->frame[thread->depth - 1]
 * @leave:	that call has ended; it is still there
 * @point:	a sample or manual record
 * @pause:	a pipe has no more for now: show what there is
 * @stop:	asked now and then: true ends the reading early
 */
struct analysis_ops {
	void (*step)(void *context, struct analysis_thread *thread,
		     const struct analysis_step *step);
	void (*enter)(void *context, struct analysis_thread *thread);
	void (*leave)(void *context, struct analysis_thread *thread,
		      const struct analysis_end *end);
	void (*point)(void *context, struct analysis_thread *thread,
		      const struct analysis_step *step);
	void (*pause)(void *context);
	bool (*stop)(void *context);
};

/**
 * struct analysis_stats - what did not go by the book
 * @calls:	all that have ended
 * @untimed:	calls that began or ended at a time that is not known
 * @inferred:	calls that began or ended at a time that is likely, not certain
 * @unwound:	calls that ended without a record of their own
 * @cut:	calls that had not ended at a header, a loss or the end
 * @strays:	exit records of calls that nobody saw begin
 * @too_deep:	calls below the deepest that are kept
 * @uncounted:	records whose counters could not be assigned to a function
 * @unaddressed: records whose addresses are lost
 * @samples:	samples whose addresses are not
 * @tracer:	those among them in the tracer's own functions
 */
struct analysis_stats {
	uint64_t	calls;
	uint64_t	untimed;
	uint64_t	inferred;
	uint64_t	unwound;
	uint64_t	cut;
	uint64_t	strays;
	uint64_t	too_deep;
	uint64_t	uncounted;
	uint64_t	unaddressed;
	uint64_t	samples;
	uint64_t	tracer;
};

struct analysis;

/**
 * analysis_new() - an analysis of one trace
 * @meta:	its side-car file
 * @symbols:	for samples, whose function they name, and for calls, whose caller
 *		they name; may be NULL
 * @ops:	consumer
 * @context:	given to each of its functions
 *
 * Return: the analysis, NULL without memory.
 */
struct analysis *analysis_new(const struct meta *meta, struct symbols *symbols,
			      const struct analysis_ops *ops, void *context);

/** analysis_free() - NULL is fine */
void analysis_free(struct analysis *analysis);

/**
 * analysis_run() - read all of a trace
 *
 * Return: 0, or -1: the reason has been printed.
 */
int analysis_run(struct analysis *analysis, struct trace *trace);

/** analysis_stats() - what analysis_run() has counted */
const struct analysis_stats *analysis_stats(const struct analysis *analysis);

/**
 * analysis_notes() - say what the calls that are shown lack
 * @input:	the trace, read; nothing is said if it is to be quiet
 */
void analysis_notes(const struct analysis *analysis, const struct input *input);

/**
 * analysis_name() - a function as text
 * @text:	filled: its name, or its address; the tracer's own is marked
 * @size:	bytes at @text
 */
void analysis_name(const struct analysis *analysis, uint32_t function,
		   char *text, unsigned int size);

/* The functions, counters and threads that the trace has shown so far. */
struct functions *analysis_functions(struct analysis *analysis);
const struct counters *analysis_counters(const struct analysis *analysis);
struct threads *analysis_threads(struct analysis *analysis);

#endif /* SIFIVE_TRACE_ANALYSIS_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A simulated run of a multi-threaded program that is recorded: calls, returns, exceptions,
 * migrations between harts, and the true cost of each function.
 */
#ifndef SELFTESTS_UNIT_GEN_PROGRAM_H
#define SELFTESTS_UNIT_GEN_PROGRAM_H

#include "gen.h"

#define PROGRAM_THREADS		8
#define PROGRAM_SOURCES		4
#define PROGRAM_FUNCTIONS	400
#define PROGRAM_COUNTERS	3
#define PROGRAM_DEPTH		40

/* True cost of a function, in total and without its callees. */
struct program_cost {
	uint64_t	calls;
	uint64_t	total;
	uint64_t	self;
	uint64_t	count[PROGRAM_COUNTERS];
	uint64_t	count_self[PROGRAM_COUNTERS];
};

struct program_frame {
	unsigned int	function;
	bool		hidden;		/* the call is open, but no record since a loss shows it */
	bool		timed;
	uint64_t	site;
	uint64_t	enter;
	uint64_t	self;
	uint64_t	begin[PROGRAM_COUNTERS];
	uint64_t	count_inner[PROGRAM_COUNTERS];
};

struct program_thread {
	unsigned int	src;
	unsigned int	channel;
	bool		recorded;	/* the thread has a record, on last_src */
	unsigned int	last_src;
	uint64_t	now;		/* latest known time */
	bool		timed;		/* the latest record's time is known */
	bool		losing;		/* records are being lost */
	bool		lost;		/* records have been lost since the latest record */
	bool		unsynced;	/* no absolute time since the loss */
	bool		blind;		/* no header since the loss, which DeltaXOR needs */
	unsigned int	depth;
	struct program_frame frame[PROGRAM_DEPTH];
	/* The thread's own counters, and the part assigned to its functions. */
	uint64_t	value[PROGRAM_COUNTERS];
	uint64_t	last[PROGRAM_COUNTERS];
	uint64_t	sum[PROGRAM_COUNTERS];
	struct gen_stream stream[PROGRAM_SOURCES];
	bool		begun[PROGRAM_SOURCES];
	bool		holds;		/* holds its channel, which other threads can take */
	bool		named;		/* all its headers name the thread */
	unsigned int	home;		/* the thread's first channel, or 0 if none yet */
	bool		goes_on;	/* has written a header in this part of the capture */
	uint64_t	enters;
};

/**
 * struct program - the program and how it is recorded
 * @threads, @sources, @functions: number of threads, sources and functions
 * @count_type:	count type in all headers
 * @per_thread:	counters are per thread
 * @moves:	threads migrate once in this many records; 0 for never
 * @throws:	calls end without an exit record once in this many records
 * @headers:	once in this many steps of threads without open calls, a header is written
 * @restarts:	once in this many such steps, headers are written on all sources
 * @errors:	once in this many such steps, an Error message is written
 * @garbage:	once in this many such steps, bytes that are not a message are written
 * @losses:	records within calls are lost once in this many records. @errors, @garbage and
 *		@losses need one thread on each source
 * @channels:	number of channels, if fewer than threads; 0 for enough
 * @keep_truth:	gen.truth keeps all records
 * @alone:	number, from 1, of the only running thread; 0 if all threads run
 * @ended:	called with @context whenever a call ends, after the thread has left @frame; may be NULL
 * @keep_times:	fill @took
 * @took:	known times of each function's calls; @timed is their number
 * @cost:	true costs, by function
 * @thread_cost: true costs, by thread
 * @hart_cost:	true costs, by the source on which a call ended
 * @calls:	number of calls in the trace
 * @untimed:	number of calls whose start or end has no time
 * @cut:	number of calls whose end is missing
 * @strays:	number of ends of calls whose start is missing
 * @unaddressed: number of records without an address
 */
struct program {
	struct gen	gen;
	uint64_t	seed;
	unsigned int	threads;
	unsigned int	sources;
	unsigned int	functions;
	unsigned int	count_type;
	bool		per_thread;
	unsigned int	moves;
	unsigned int	throws;
	unsigned int	headers;
	unsigned int	restarts;
	unsigned int	errors;
	unsigned int	garbage;
	unsigned int	losses;
	unsigned int	channels;
	struct program_thread *holder[PROGRAM_THREADS];
	bool		shared[PROGRAM_THREADS];	/* channels that other threads have taken */
	bool		keep_truth;
	unsigned int	alone;
	uint64_t	records;
	uint64_t	hart[PROGRAM_SOURCES][PROGRAM_COUNTERS];
	struct program_thread thread[PROGRAM_THREADS];
	void		(*ended)(void *context, const struct program_thread *thread,
				 const struct program_frame *frame);
	void		*context;
	bool		keep_times;
	uint64_t	*took[PROGRAM_FUNCTIONS];
	size_t		timed[PROGRAM_FUNCTIONS];
	struct program_cost cost[PROGRAM_FUNCTIONS];
	struct program_cost thread_cost[PROGRAM_THREADS][PROGRAM_FUNCTIONS];
	struct program_cost hart_cost[PROGRAM_SOURCES][PROGRAM_FUNCTIONS];
	uint64_t	calls;
	uint64_t	untimed;
	uint64_t	cut;
	uint64_t	strays;
	uint64_t	unaddressed;
};

/* A function's address. */
#define PROGRAM_ADDRESS(function)	(0x10000 + 0x40 * (uint64_t)(function))

/** program_init() - initialise the program and gen; the caller then sets the other members */
void program_init(struct program *program, uint64_t seed);

/** program_step() - write the next record of one of the threads */
void program_step(struct program *program);

/** program_end() - return from all open calls of all threads */
void program_end(struct program *program);

/**
 * program_shuffle() - reorder messages from different sources in the file
 *
 * As in a funnel, each message moves by at most a few places.
 */
void program_shuffle(struct program *program);

void program_free(struct program *program);

#endif /* SELFTESTS_UNIT_GEN_PROGRAM_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Defines the state of an analysis, its open calls and its counts. Private to this directory. */
#ifndef SIFIVE_TRACE_CALLS_H
#define SIFIVE_TRACE_CALLS_H

#include "analysis.h"
#include "flows.h"
#include "losses.h"
#include "oncpu.h"
#include "order.h"

/* State of one source and channel. */
struct stream {
	const struct perfrec_header *header;
	uint32_t	serial;
	unsigned int	counters;
	uint8_t		column[PERFREC_COUNTERS];
	uint64_t	columns;	/* mask of the columns */
	/*
	 * For per-thread Delta counts: the thread's counts at the header, and the chain of sums
	 * that contains each count: see thread_delta().
	 */
	uint64_t	base[PERFREC_COUNTERS];
	uint32_t	chain[PERFREC_COUNTERS];
	bool		based;
	/* The stream begins with a sample, and the program is not known to write it. */
	bool		sampled;
	/* The column of cycles. */
	uint8_t		cycles;
	/*
	 * The hart's counts of events that take turns. NULL before the first such event, or if the
	 * counts are kept per thread.
	 */
	struct turns_last *turns;
	/* The stream's header is in an earlier piece, so counts since the header are unknown. */
	bool		resumed;
	/*
	 * The thread of the stream's latest record, and the part of the capture to which it
	 * belonged.
	 */
	const struct analysis_thread *thread;
	/*
	 * The state of the hart's samples, or NULL if they do not name threads. All samples form
	 * one sequence of counts and times; the state's thread is the latest sample's.
	 */
	struct analysis_thread *sampler;
	uint32_t	part;
	uint32_t	part_serial;
};

struct analysis {
	const struct meta		*meta;
	struct symbols			*symbols;
	const struct analysis_ops	*ops;
	void				*context;
	/* The consumer's callbacks. While nothing is shown, @ops contains no callbacks. */
	const struct analysis_ops	*wanted;
	/*
	 * For limit.c: the selected time range in ticks, and a copy of the statistics from before
	 * the records that are not shown.
	 */
	bool				limited;
	uint64_t			from;
	uint64_t			to;
	struct analysis_stats		counted;
	/* Calls of fewer ticks are left out. */
	uint64_t			shortest;
	struct functions		*functions;
	struct threads			*threads;
	struct counters			counters;
	struct analysis_stats		stats;
	/*
	 * One bit per function: set if a call of the function has enclosed another call of the same
	 * function.
	 */
	uint8_t				recursive[FUNCTIONS_MAX / 8];
	size_t				frame_bytes;
	bool				no_memory;
	struct stream			*stream[PERFREC_SOURCES][PERFREC_CHANNELS];
	struct order			*order;
	struct trace			*trace;
	struct flows			*flows;		/* NULL if there is no instruction trace */
	/* The user has chosen calls from records rather than from instruction trace. */
	bool				by_records;
	/*
	 * For points.c: whether calls are generated from instruction trace, and the columns filled
	 * by records that are not generated.
	 */
	bool				joins;
	struct counters			recorded;
	uint64_t			points;		/* points that the consumer does not want */
	struct nexus_message		first;		/* see points_start_flow() */
	bool				held;
	struct flow_stats		flow;
	struct trace_stats		made;		/* statistics of generated records */
	struct oncpu			*oncpu;	/* NULL if no switches were recorded */
	struct turns			*turns;	/* NULL if no events take turns, or none are shown */
	/* Losses by source; the last element contains the losses of all sources. */
	struct losses			losses[PERFREC_SOURCES + 1];
	/* By channel: records that a loss left unfinished. */
	struct losses			dropped[PERFREC_CHANNELS];
	/*
	 * Counts of the current record, by column; columns whose counts are negative or would make
	 * sums exceed 63 bits; columns whose counts would make sums exceed 63 bits; sums of all
	 * large counts; whether any count has been negative.
	 */
	uint64_t			delta[COUNTERS_MAX];
	uint64_t			backwards;
	uint64_t			beyond;
	uint64_t			large[COUNTERS_MAX];
	bool				went_back;
	/*
	 * Columns that calls and manual records fill, and columns that the kernel's samples fill.
	 */
	uint64_t			charged;
	uint64_t			sampled;
	struct faults			faults;
	/* Callers of the latest sample with callers. */
	uint32_t			caller[SIFIVE_TRACE_CALLERS_MAX];
};

/**
 * calls_enter() - handle an enter record, which begins a call
 * @thread:	the thread, already updated with the record's time and counts
 * @record:	enter record of the call
 * @function:	number of the function
 */
void calls_enter(struct analysis *analysis, struct analysis_thread *thread,
		 const struct perfrec_record *record, uint32_t function);

/** calls_exit() - handle an exit record, which ends the function's innermost call */
void calls_exit(struct analysis *analysis, struct analysis_thread *thread,
		const struct perfrec_record *record, uint32_t function);

/**
 * calls_wait() - record that the thread has waited for room in the buffer; the time is not charged
 * to any call
 * @ticks:	length of the wait, in ticks
 * @unknown:	it is unknown which function ran before or after the wait, so the time is not
 *		counted as self time of any function
 */
void calls_wait(struct analysis_thread *thread, uint64_t ticks, bool unknown);

/**
 * calls_wait_unknown() - record that the thread has waited for an unknown number of ticks, which
 * are charged to its open calls
 */
void calls_wait_unknown(struct analysis_thread *thread);

/** calls_doubt() - mark the open calls, because some of the thread's records are missing here */
void calls_doubt(struct analysis_thread *thread);

/** calls_uncounted() - mark the open calls, because some of their counts are unknown */
void calls_uncounted(struct analysis_thread *thread);

/** calls_restart() - restart all open calls of a thread, as if they began here */
void calls_restart(struct analysis *analysis, struct analysis_thread *thread);

/**
 * counting_follow() - mark the open calls if @counted lacks a column that the thread has counted
 */
static inline void counting_follow(struct analysis_thread *thread, const struct stream *stream,
				   uint64_t counted)
{
	if (__builtin_expect(thread->ever == counted, true) && counted)
		return;
	thread->ever |= stream->columns;
	if ((thread->ever & ~counted) != 0 && stream->columns)
		calls_uncounted(thread);
}

/* In counting.c. */

/** counting_new_stream() - like counting_stream(), but for the first record after a new header */
struct stream *counting_new_stream(struct analysis *analysis, struct counters *counters,
				   const struct perfrec_record *record);

/**
 * counting_stream() - return a record's stream
 * @counters:	the columns of its counters
 *
 * This and the functions below are inline, because they run for each record. Return: NULL if out
 * of memory, which the analysis records.
 */
static inline struct stream *counting_stream(struct analysis *analysis, struct counters *counters,
					     const struct perfrec_record *record)
{
	struct stream *stream = analysis->stream[record->src][record->channel];

	if (stream && stream->header == record->header && stream->counters == record->counters &&
	    stream->serial == (record->header ? record->header->serial : 0))
		return stream;
	return counting_new_stream(analysis, counters, record);
}

/**
 * counting_own() - record that the program itself writes a stream, because it contains a call or a
 * manual record
 *
 * The kernel writes samples to a separate stream; other streams may include the same counts. If the
 * program samples itself, its stream may begin with a sample.
 */
void counting_own(struct analysis *analysis, struct stream *stream);

/**
 * counting_point() - return the columns to charge to the function of a sample or manual record
 *
 * A column that calls or manual records also fill must not be charged twice.
 */
uint64_t counting_point(struct analysis *analysis, const struct analysis_thread *thread,
			struct stream *stream, const struct analysis_step *step);

/** counting_restart() - assign columns to each stream's counters again, from its next record on */
void counting_restart(struct analysis *analysis);

/**
 * counting_gap() - record that messages from source @src, or from any source if @src is -1, may be
 * missing
 */
void counting_gap(struct analysis *analysis, int src, uint64_t offset);

/** counting_lost_between() - like counting_lost(), but for a trace with losses */
bool counting_lost_between(const struct analysis *analysis, const struct stream *stream,
			   const struct analysis_thread *thread,
			   const struct perfrec_record *record);

/** counting_loses() - return whether messages have been lost since the thread's latest record */
static inline bool counting_loses(const struct analysis *analysis,
				  const struct analysis_thread *thread)
{
	return analysis->losses[PERFREC_SOURCES].latest > thread->offset;
}

/**
 * counting_lost() - return whether records of the thread may be missing before @record
 *
 * This considers losses in the record's stream and, after a new header, losses of its source. If
 * the thread has changed sources, it also considers losses of any source, and records that a later
 * loss left unfinished.
 */
static inline bool counting_lost(const struct analysis *analysis, const struct stream *stream,
				 const struct analysis_thread *thread,
				 const struct perfrec_record *record)
{
	if (record->flags & PERFREC_AFTER_LOSS)
		return true;
	return counting_loses(analysis, thread) &&
	       counting_lost_between(analysis, stream, thread, record);
}

/**
 * counting_backwards() - find, in the columns @known of analysis->delta, the counts that are
 * negative, and those that would make sums exceed 63 bits
 *
 * Called if any count is COUNTERS_BACKWARDS or more.
 */
void counting_backwards(struct analysis *analysis, const struct stream *stream,
			const struct perfrec_record *record, uint64_t known);

/**
 * counting_forwards() - exclude the counts that counting_backwards() has found, and add them to the
 * statistics
 * @thread:	the state before this record
 * @known:	columns whose counts are known
 *
 * Return: @known without the columns of these counts.
 */
uint64_t counting_forwards(struct analysis *analysis, struct analysis_thread *thread,
			   const struct perfrec_record *record, uint64_t known);

/**
 * counting_elsewhere() - for counting_loses(): return whether the thread may have written further
 * records on another source, all of which are missing
 *
 * This is possible after a loss of any source, unless context switches show where the thread was.
 * Most threads have not moved, so the time and the counts are charged to the function that appears
 * to have run, but the thread's calls are marked as doubtful.
 */
bool counting_elsewhere(struct analysis *analysis, const struct analysis_thread *thread,
			const struct perfrec_record *record);

/**
 * counting_turns() - like analysis_count(), but for events that take turns; @known: the
 * columns that analysis_count() returned
 */
uint64_t counting_turns(struct analysis *analysis, struct analysis_thread *thread,
			struct stream *stream, const struct perfrec_record *record,
			uint64_t known);

/* In analysis.c. */

/**
 * analysis_count() - set analysis->delta to the counts since the thread's latest record
 * @lost:	return value of counting_lost()
 *
 * Return: bit n: column n is known.
 */
uint64_t analysis_count(struct analysis *analysis, struct analysis_thread *thread,
			struct stream *stream, const struct perfrec_record *record, bool lost);

/** analysis_thread_of() - return the state of a record's thread, or NULL if out of memory */
struct analysis_thread *analysis_thread_of(struct analysis *analysis,
					   const struct perfrec_record *record);

/** counting_sampler() - like counting_thread(), but for a stream whose samples name threads */
struct analysis_thread *counting_sampler(struct analysis *analysis, struct stream *stream,
					 const struct perfrec_record *record);

/**
 * counting_thread() - return the state that a record's counts and times update, or NULL if out of
 * memory
 */
static inline struct analysis_thread *counting_thread(struct analysis *analysis,
						      struct stream *stream,
						      const struct perfrec_record *record)
{
	if (__builtin_expect(record->flags & PERFREC_NAMED || stream->sampler, false))
		return counting_sampler(analysis, stream, record);
	return analysis_thread_of(analysis, record);
}

/** analysis_function_at() - return the number of the function that begins at an address */
uint32_t analysis_function_at(struct analysis *analysis, uint64_t address);

/* In points.c. */

/**
 * points_wants() - handle a record that is a point in the flow; return false for a sample, because
 * samples are not points
 */
bool points_wants(struct analysis *analysis, const struct perfrec_record *record);

/**
 * points_start_flow() - return whether the flow of instructions begins at a message
 *
 * Unless the side-car file mentions instruction trace, the first instruction trace message is held
 * until a second one follows or the thread is named. A single such message among call records is
 * damage, and must not turn all later records into points.
 */
bool points_start_flow(struct analysis *analysis, const struct nexus_message *message);

/**
 * points_record() - handle a record at its position in the flow, or before the instruction trace
 * begins
 */
void points_record(void *context, const struct perfrec_record *record);

/**
 * points_ran() - record that a thread has executed instructions of a function, or has called it:
 * see struct flows_ops
 */
void points_ran(void *context, const struct perfrec_record *where, uint64_t function,
		uint64_t instructions);

/** points_missing() - record that a thread's instructions are missing: see struct flows_ops */
void points_missing(void *context, const struct perfrec_record *where);

/** calls_end() - end all open calls of a thread */
void calls_end(struct analysis *analysis, struct analysis_thread *thread);

/** calls_cut() - end all open calls of a thread at a loss; the calls may have lasted longer */
void calls_cut(struct analysis *analysis, struct analysis_thread *thread);

#endif /* SIFIVE_TRACE_CALLS_H */

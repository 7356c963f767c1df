/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Determines, from context-switch records, when each thread ran, and why it did not run at other
 * times.
 *
 * Each thread's time is divided into parts, in which the thread runs, does not run for a known
 * reason, or is in an unknown state because records may be missing. A thread's parts add up to the
 * time from its first switch record to its last, or to the end of the trace.
 */
#ifndef SIFIVE_TRACE_ONCPU_H
#define SIFIVE_TRACE_ONCPU_H

#include <stdbool.h>
#include <stdint.h>

#include "switches.h"
#include "syscalls.h"
#include "threads.h"

/* Memory limit for parts kept until their thread's next record; parts beyond it are merged. */
#define ONCPU_BYTES	(16u << 20)

enum oncpu_state {
	ONCPU_UNKNOWN,
	ONCPU_RUNS,
	ONCPU_PREEMPTED,
	ONCPU_SLEEPS,
	ONCPU_UNINTERRUPTIBLE,
	ONCPU_STOPPED,
	ONCPU_WAITS,		/* not running; the record that contains the reason was lost */
	ONCPU_WOKEN,		/* woken, waiting for a CPU */
	ONCPU_STATES,
	/* Several parts with different states, merged because there were too many. */
	ONCPU_MERGED = ONCPU_STATES,
};

/**
 * struct oncpu_times - a thread's time, in ticks
 * @time:	ticks in each state
 * @wall:	time from the first switch to the last, or to the end of the trace: sum of @time
 * @outs:	number of times that the thread stopped running
 * @wakeups:	number of times that the thread was woken
 * @longest:	longest time from a wake-up until the thread ran
 * @exited:	set if the thread has exited
 */
struct oncpu_times {
	uint64_t	time[ONCPU_STATES];
	uint64_t	wall;
	uint64_t	outs;
	uint64_t	wakeups;
	uint64_t	longest;
	bool		exited;
};

/**
 * struct oncpu_part - ticks of a period that a thread spent running, not running, and in an unknown
 * state
 */
struct oncpu_part {
	uint64_t	on;
	uint64_t	off;
	uint64_t	unknown;
};

/**
 * struct oncpu_stats - statistics of uncertainties
 * @switches:	records of context switches
 * @losses:	number of times that records may be missing on a hart
 * @contrary:	records that contradict earlier ones, because other records are missing
 * @inferred:	records with an inferred time
 * @untimed:	records without a time
 */
struct oncpu_stats {
	uint64_t	switches;
	uint64_t	losses;
	uint64_t	contrary;
	uint64_t	inferred;
	uint64_t	untimed;
};

/* Callback for a part of a thread's time. */
typedef void (*oncpu_span)(void *context, struct thread *thread, enum oncpu_state state,
			   uint64_t from, uint64_t to);

struct oncpu;

/**
 * oncpu_new() - create an empty state
 * @threads:	threads of the trace
 * @span:	called for each part, before the thread's next record; may be NULL
 *
 * Return: NULL if out of memory.
 */
struct oncpu *oncpu_new(struct threads *threads, oncpu_span span, void *context);

/** oncpu_free() - free the state; NULL is allowed */
void oncpu_free(struct oncpu *oncpu);

/** oncpu_push() - process the trace's next switch record */
void oncpu_push(struct oncpu *oncpu, const struct trace_switch *record);

/** oncpu_note() - process the trace's next record that is not a switch record */
void oncpu_note(struct oncpu *oncpu, unsigned int src, const struct perfrec_stamp *stamp);

/**
 * oncpu_lost() - record that messages are missing
 * @src:	source whose messages are missing, or -1 for all sources
 * @stamp:	the place. If it has a time, messages between the source's previous message and that
 *		time may be missing; otherwise, messages after the place are missing.
 */
void oncpu_lost(struct oncpu *oncpu, int src, const struct perfrec_stamp *stamp);

/**
 * oncpu_between() - get the time of a thread between two of its records
 * @from, @to:	times of these records, which must not decrease from call to call
 * @leaving:	at @to, the thread still runs, although its switch-out was recorded earlier
 * @waited:	ticks that the thread waited for room in the buffer between @from and @to
 * @part:	set to the ticks on and off the CPU, which add up to the time between the
 *		records, excluding the wait
 */
void oncpu_between(struct oncpu *oncpu, struct thread *thread, uint64_t from, uint64_t to,
		   bool leaving, uint64_t waited, struct oncpu_part *part);

/**
 * oncpu_covers() - return whether switch records show where a thread was between two of its
 * records, which means that no record between them is missing
 * @from, @to:	times of these records; call this before oncpu_between() for the same times
 */
bool oncpu_covers(struct oncpu *oncpu, struct thread *thread, uint64_t from, uint64_t to);

/**
 * oncpu_flush() - process the end of the trace; later calls of oncpu_between() are for the trace's
 * last records
 */
void oncpu_flush(struct oncpu *oncpu);

/** oncpu_end() - account for the rest of each thread's time, after oncpu_flush() */
void oncpu_end(struct oncpu *oncpu);

/** oncpu_failed() - return whether memory ran out */
bool oncpu_failed(const struct oncpu *oncpu);

/** oncpu_times() - return a thread's times after oncpu_end(), or NULL if it has no known switch */
const struct oncpu_times *oncpu_times(const struct thread *thread);

/** oncpu_stats() - return the statistics of uncertainties */
const struct oncpu_stats *oncpu_stats(const struct oncpu *oncpu);

/** oncpu_syscalls() - return the system calls that have returned */
const struct syscalls *oncpu_syscalls(const struct oncpu *oncpu);

/** oncpu_state_after() - return a thread's state after it stopped running, SIFIVE_TRACE_SWITCH_* */
enum oncpu_state oncpu_state_after(unsigned int kind);

/** oncpu_name() - return the name of a state */
const char *oncpu_name(enum oncpu_state state);

#endif /* SIFIVE_TRACE_ONCPU_H */

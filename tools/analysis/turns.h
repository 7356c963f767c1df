/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Counts events that take turns on the counters. The upper bits of a counter value identify its
 * turn: if two values of a thread have equal upper bits, their difference is the count of that
 * turn's event. Events between two records of different turns are not counted.
 *
 * Each event has a column with its count, and each turn has a column with the cycles in which its
 * events were counted. A function's count is scaled to all of the function's cycles: count * all
 * cycles / cycles of the turn.
 */
#ifndef SIFIVE_TRACE_TURNS_H
#define SIFIVE_TRACE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "counters.h"
#include "options.h"

struct turns;

/* Counter values of a thread's or stream's previous record, for comparison with the next record. */
struct turns_last {
	bool		known;
	bool		timed;
	uint64_t	time;
	uint64_t	value[PERFREC_COUNTERS];	/* values by counter number */
	/* The current turn; private to turns.c. */
	uint64_t	period;
	double		cycles;
	double		count[PERFREC_COUNTERS];	/* counts by event */
};

/**
 * struct turns_estimate - accuracy of an event's total
 * @share:	fraction of the cycles during which the event was counted
 * @error:	relative error of the total, not exceeded with a probability of 95 %; negative if
 *		unknown
 */
struct turns_estimate {
	double	share;
	double	error;
};

/**
 * turns_new() - create the columns of the events that take turns
 * @counters:	the columns are added here; its side-car file names the events
 *
 * Return: NULL if no events take turns, or if out of memory.
 */
struct turns *turns_new(struct counters *counters);

/** turns_free() - free the columns; NULL is allowed */
void turns_free(struct turns *turns);

/** turns_in() - return the number of a trace's events that take turns */
unsigned int turns_in(const struct meta *meta);

/**
 * turns_refuse() - refuse a trace with events that take turns if @option cannot show it
 *
 * Return: whether the trace was refused; if so, the error has been printed.
 */
bool turns_refuse(const struct input *input, const char *option);

/**
 * turns_count() - compute the counts since the previous record, @last
 * @last:	the thread's previous record, or the stream's if counts are per hart; updated
 * @whole:	apart from turns, differences from the previous record's counts are valid
 * @cycles:	cycles between the two records, valid if @whole is set
 * @shown:	whether the estimates include these counts
 * @delta:	set to the counts, by column
 *
 * Return: mask of the columns that were set.
 */
uint64_t turns_count(struct turns *turns, struct turns_last *last,
		     const struct perfrec_record *record, bool whole, uint64_t cycles, bool shown,
		     uint64_t *delta);

/** turns_end() - complete the current turn of @last, which has no more records */
void turns_end(struct turns *turns, struct turns_last *last);

/**
 * turns_change() - return whether a record's counter @i counted a different event at the stream's
 * previous record, which means that the difference is not a count
 */
bool turns_change(const struct perfrec_record *record, unsigned int i);

/** turns_set_cycles() - set the column of all cycles */
void turns_set_cycles(struct turns *turns, unsigned int column);
unsigned int turns_cycles(const struct turns *turns);

/** turns_column() - return the column with the cycles of a column's turn */
unsigned int turns_column(const struct turns *turns, unsigned int column);

/** turns_estimate() - estimate the accuracy of a column's total, after the trace has been read */
void turns_estimate(const struct turns *turns, unsigned int column,
		    struct turns_estimate *estimate);

#endif /* SIFIVE_TRACE_TURNS_H */

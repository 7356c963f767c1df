/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Defines the counters of a whole trace. Streams may record different counters, so each name
 * has a separate column.
 */
#ifndef SIFIVE_TRACE_COUNTERS_H
#define SIFIVE_TRACE_COUNTERS_H

#include <stdbool.h>

#include "meta.h"
#include "perfrec/perfrec.h"

/* Name suffix of a counter that counted everything on a hart. */
#define COUNTERS_HART	" (hart)"
#define COUNTERS_NAME_SIZE (PERFREC_NAME_SIZE + sizeof(COUNTERS_HART) - 1)

/* Maximum number of columns; at least the number of counters in one record. */
#define COUNTERS_MAX	64
#define COUNTERS_NONE	0xff

/**
 * struct counters - the columns of a trace
 * @times:	the first @times columns are times in ticks: enum counters_time
 * @apart:	counters_assign() skips counters whose events take turns: see turns.h
 * @turn:	the turn in which a column's event is counted, or 0 if always
 * @hidden:	the column contains not a counter, but the cycles in which the events of @turn were
 *		counted
 */
struct counters {
	const struct meta	*meta;
	unsigned int		times;
	unsigned int		count;
	char			name[COUNTERS_MAX][COUNTERS_NAME_SIZE];
	bool			apart;
	uint8_t			turn[COUNTERS_MAX];
	bool			hidden[COUNTERS_MAX];
};

/**
 * counters_names() - write unique names of a record's counters
 * @counters:	set of counters; its side-car file may contain the user's names
 * @header:	the record's header, or NULL if there is none
 * @count:	number of its counters, at most PERFREC_COUNTERS
 * @name:	set to @count names; the second counter with the same name is named "NAME#2", and a
 *		hart's counter is named "NAME (hart)"
 */
void counters_names(const struct counters *counters,
		    const struct perfrec_header *header, unsigned int count,
		    char name[][COUNTERS_NAME_SIZE]);

/**
 * counters_is() - return whether a user's name refers to a counter
 * @name:	name of the counter
 * @wanted:	the user's name, which may omit COUNTERS_HART
 * @length:	length of @wanted
 */
bool counters_is(const char *name, const char *wanted, size_t length);

/* Columns of a trace with context-switch records. */
enum counters_time {
	COUNTERS_ON_CPU,
	COUNTERS_OFF_CPU,
	COUNTERS_UNKNOWN_CPU,	/* it is unknown whether the thread ran */
	COUNTERS_TIMES
};

/** counters_add_times() - add the columns of enum counters_time; call this first */
void counters_add_times(struct counters *counters);

/** counters_of_hart() - return whether a column counts everything on a hart */
bool counters_of_hart(const struct counters *counters, unsigned int column);

/**
 * counters_mask() - return the bits that a count of a record's counter @i can set; the record must
 * have a header
 */
uint64_t counters_mask(const struct perfrec_record *record, unsigned int i);

/* Only differences of at least this value can be negative: see counters_backwards(). */
#define COUNTERS_BACKWARDS	(15ull << 28)

/**
 * counters_backwards() - return whether a counter has gone backwards
 * @delta:	difference between two counts of counter @i, modulo the range of counters_mask()
 *
 * Differences in the last sixteenth of the range are considered negative, except for counters
 * narrower than 32 bits, which may advance that far between two records.
 */
bool counters_backwards(const struct perfrec_record *record, unsigned int i, uint64_t delta);

/**
 * counters_assign() - find or create a column for each counter of a record
 * @header:	the record's header, or NULL if there is none
 * @count:	number of its counters
 * @column:	set to @count columns: COUNTERS_NONE for counters beyond the limit and, if @apart is
 *		set, for counters whose events take turns
 */
void counters_assign(struct counters *counters,
		     const struct perfrec_header *header, unsigned int count,
		     uint8_t *column);

#endif /* SIFIVE_TRACE_COUNTERS_H */

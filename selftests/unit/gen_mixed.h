/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Traces that contain all kinds of records, interleaved by time: several sources and channels, all
 * count types and timestamp schemes, marks, samples with threads, callers or stacks, and context
 * switches.
 */
#ifndef SELFTESTS_UNIT_GEN_MIXED_H
#define SELFTESTS_UNIT_GEN_MIXED_H

#include "gen.h"

#define MIXED_SOURCES	4
#define MIXED_CALLERS	6
#define MIXED_SWITCHES	9

/**
 * struct mixed_record - a record, with the words that precede it
 * @truth:	the record; its @offset is that of its first store
 * @begin:	offset of the first of these words or, without any, of the record
 * @thread:	id of a sample's thread, or 0
 * @callers:	number of elements of @caller
 * @stack:	the sample has a stack
 * @waited:	duration of the wait that a mark reports, in nanoseconds, or 0
 * @dropped:	number of dropped records that a mark reports, or 0
 */
struct mixed_record {
	struct gen_truth truth;
	uint64_t	begin;
	uint32_t	thread;
	unsigned int	callers;
	uint64_t	caller[MIXED_CALLERS];
	bool		stack;
	uint64_t	waited;
	uint64_t	dropped;
};

/* A record of a context switch; @offset and @time are those of its last store. */
struct mixed_switch {
	uint64_t	offset;
	uint64_t	time;
	uint32_t	thread;
	uint8_t		src;
	uint8_t		kind;
};

/* A message: its source, its time, and its offset in the source's bytes. */
struct mixed_message {
	uint64_t	time;
	size_t		offset;
	size_t		length;
	size_t		at;		/* offset in the trace */
	uint8_t		src;
};

/**
 * struct mixed - a trace
 * @gen:	the bytes
 * @sources:	number of sources
 * @count_type:	of all headers
 * @drops:	threads have dropped records, which --strict reports
 * @step:	time from one message of a record to the next
 * @message:	all messages, in order
 * @record:	all records, in the order of @truth.offset
 * @change:	all context switches, in order
 */
struct mixed {
	struct gen	gen;
	unsigned int	sources;
	unsigned int	count_type;
	bool		drops;
	uint64_t	step;
	struct mixed_message *message;
	size_t		messages;
	struct mixed_record *record;
	size_t		records;
	struct mixed_switch *change;
	size_t		changes;
};

/** mixed_make() - generate a trace of @steps records or context switches for each source */
void mixed_make(struct mixed *mixed, uint64_t *seed, unsigned int steps);

void mixed_free(struct mixed *mixed);

#endif /* SELFTESTS_UNIT_GEN_MIXED_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Counts how often each instruction of a trace was executed, and the targets of each branch. Memory
 * use grows with the code size, not with the trace size.
 */
#ifndef SIFIVE_TRACE_COUNTS_H
#define SIFIVE_TRACE_COUNTS_H

#include "flow.h"
#include "options.h"
#include "symbols.h"

/* Limits for a damaged trace: interrupted blocks, and targets of indirect branches. */
#define COUNTS_PARTS_MAX	(1u << 19)
#define COUNTS_LINKS_MAX	(1u << 20)

#define COUNTS_WHY_SIZE		192

/**
 * struct counts_run - instructions of a block
 * @block:	the block
 * @from, @to:	the range of the block's halfwords
 * @times:	number of times that they were executed in sequence
 */
struct counts_run {
	const struct block	*block;
	uint32_t		from;
	uint32_t		to;
	uint64_t		times;
};

/**
 * struct counts_link - the transitions from a block's last instruction to another block
 * @block:	the block
 * @to:		the other block's address, as from symbols_place()
 * @next:	the other block follows immediately
 * @times:	number of transitions
 */
struct counts_link {
	const struct block	*block;
	uint64_t		to;
	bool			next;
	uint64_t		times;
};

struct counts;

/**
 * counts_new() - count executed code
 * @symbols:	the code, which must outlive the counts, or NULL if there is none
 * @calls:	the requested instructions: enum meta_calls
 *
 * Return: NULL if out of memory.
 */
struct counts *counts_new(struct symbols *symbols, enum meta_calls calls);

/** counts_limit() - count only the code executed in a time range, in ticks */
void counts_limit(struct counts *counts, uint64_t from, uint64_t to);

/** counts_scope() - return the time range, and the time span of all code executed in the trace */
const struct range_scope *counts_scope(const struct counts *counts);

/** counts_free() - free the counts; NULL is allowed */
void counts_free(struct counts *counts);

/**
 * counts_message() - count the flow that a message describes: see flow_message()
 *
 * Return: 0, or -ENOMEM.
 */
int counts_message(struct counts *counts, const struct nexus_message *message);

/** counts_damaged() - like flow_damaged() */
void counts_damaged(struct counts *counts, const struct nexus_message *gap);

/**
 * counts_flush() - like flow_flush()
 *
 * Return: 0, or -ENOMEM.
 */
int counts_flush(struct counts *counts);

/** counts_stats() - return statistics of the flow */
const struct flow_stats *counts_stats(const struct counts *counts);

/**
 * counts_read() - count the code executed in a trace
 * @input:	the trace; flow losses are added to its statistics, and the flow is reported unless
 *		-q is given
 *
 * Return: the counts, or NULL after printing an error.
 */
struct counts *counts_read(const struct input *input);

/**
 * counts_end() - finish, after the last message
 * @input:	the trace; code beyond the limit is added to its statistics
 *
 * Return: 0, or -ENOMEM.
 */
int counts_end(struct counts *counts, const struct input *input);

/**
 * counts_lost() - record that parts of the trace are missing
 * @why:	the reason, for counts_exact()
 */
void counts_lost(struct counts *counts, const char *why);

/** counts_full() - return whether some code was not counted because of the limit */
bool counts_full(const struct counts *counts);

/** counts_runs() - call @each for all executed instructions; a block may occur twice */
void counts_runs(const struct counts *counts,
		 void (*each)(void *context, const struct counts_run *run), void *context);

/**
 * counts_links() - call @each for all transitions between blocks, with or without a branch
 *
 * Traps and returns from them are not transitions.
 */
void counts_links(const struct counts *counts,
		  void (*each)(void *context, const struct counts_link *link), void *context);

/** counts_code() - return the executed code */
struct code *counts_code(const struct counts *counts);

/**
 * counts_exact() - return whether all counts are exact
 * @why:	set to the reason if they are inexact
 *
 * Inexact counts are never too high.
 */
bool counts_exact(const struct counts *counts, char why[COUNTS_WHY_SIZE]);

#endif /* SIFIVE_TRACE_COUNTS_H */

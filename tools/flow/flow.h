/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Follows the control flow of a trace's sources through their code, using branch messages (BTM) or
 * branch histories (HTM), with or without implicit returns.
 *
 * A source's flow is known after its first Sync message. Later flow is held back until the next
 * Sync message confirms it, or until tracing stops: a message that contradicts the code shows that
 * bytes before it are damaged, but not which bytes. After a contradiction, the flow that was held
 * back becomes a gap, and the flow continues at the next Sync message. Thus every instruction shown
 * between two gaps was executed, and no executed instruction is missing between them. If a thread
 * continues on another source before a Sync message has confirmed its last instructions on this
 * source, those instructions are shown without confirmation.
 *
 *	messages ─▶ queue ─▶ checked ─▶ at a Sync: shown
 */
#ifndef SIFIVE_TRACE_FLOW_H
#define SIFIVE_TRACE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "nexus/nexus.h"

#include "code.h"

/*
 * Maximum number of waiting messages per source. If more arrive, the oldest are shown without
 * waiting for a Sync message.
 */
#define FLOW_QUEUE		1024
/* Maximum number of return addresses in an encoder's call stack; older addresses are discarded. */
#define FLOW_STACK		1023

/* Reasons why instructions are missing. */
enum flow_gap {
	FLOW_GAP_NONE,
	FLOW_GAP_OVERFLOW,	/* the encoder lost messages */
	FLOW_GAP_DAMAGE,	/* bytes of the trace are not a message */
	FLOW_GAP_CONTRADICTION,	/* messages do not fit the code */
	FLOW_GAP_NO_CODE,	/* no file contains the code */
	FLOW_GAP_KERNEL,	/* no file contains the kernel's code */
	FLOW_GAP_LEFT_OUT,	/* code that was not requested */
	FLOW_GAP_NO_RETURN,	/* an implicit return to an unknown caller */
	FLOW_GAP_NO_SYNC,	/* messages before a Sync message */
	FLOW_GAPS
};

/* How messages report the outcomes of conditional branches. */
enum flow_mode {
	FLOW_UNKNOWN_MODE,	/* no message has shown the mode */
	FLOW_BTM,		/* one message for each taken branch */
	FLOW_HTM,		/* branch histories */
};

enum flow_what {
	FLOW_STARTS,	/* @reason: SYNC */
	FLOW_STOPS,	/* @reason: EVCODE */
	FLOW_LOST,	/* @reason: enum flow_gap; @address: the first missing instruction */
	FLOW_EXCEPTION,	/* @reason: BTYPE; @address: where the exception occurred */
	FLOW_CONTEXT,	/* @address: PROCESS of the thread that runs here */
	FLOW_SWITCHES,	/* @address: PROCESS of the thread to which the kernel is switching */
};

/**
 * struct flow_event - an event between two runs
 * @what:	enum flow_what
 * @reason:	see enum flow_what
 * @known:	@address is valid
 * @address:	see enum flow_what
 */
struct flow_event {
	uint8_t		what;
	uint8_t		reason;
	bool		known;
	uint64_t	address;
};

/**
 * struct flow_run - instructions executed in a block
 * @block:	the block
 * @from, @to:	the range of the block's halfwords, excluding @to
 * @times:	number of consecutive executions
 */
struct flow_run {
	const struct block	*block;
	uint32_t		from;
	uint32_t		to;
	uint64_t		times;
};

/**
 * struct flow_place - the place of a run or an event in the trace
 * @src:	source
 * @offset:	offset of the message that shows it, in bytes
 * @before, @time: times of the source's previous message, and of the message at @offset
 * @known, @time_known: enum store_time of these times
 * @halfwords:	length of the instructions that the message shows, in halfwords
 * @done:	number of these halfwords before the run or event
 */
struct flow_place {
	uint8_t		src;
	uint8_t		known;
	uint8_t		time_known;
	uint64_t	offset;
	uint64_t	before;
	uint64_t	time;
	uint64_t	halfwords;
	uint64_t	done;
};

/**
 * flow_time() - return the time at a place
 * @time:	set unless the result is TIME_UNKNOWN
 *
 * Only messages have times. The times of instructions between them are inferred from the number of
 * halfwords.
 *
 * Return: enum store_time.
 */
unsigned int flow_time(const struct flow_place *place, uint64_t *time);

/**
 * struct flow_ops - the consumer's callbacks; each may be NULL
 * @run:	instructions, in execution order
 * @event:	event before the next run
 */
struct flow_ops {
	void (*run)(void *context, const struct flow_place *place,
		    const struct flow_run *run);
	void (*event)(void *context, const struct flow_place *place,
		      const struct flow_event *event);
};

/**
 * struct flow_stats - statistics of the flow
 * @messages:	messages of instruction trace
 * @missed:	messages in gaps
 * @syncs:	Sync messages
 * @confirmed:	Sync messages that confirmed the flow's address
 * @instructions: instructions that were executed
 * @full:	part of the code is missing because it exceeded a limit
 * @gaps:	number of gaps, by enum flow_gap
 */
struct flow_stats {
	uint64_t	messages;
	uint64_t	missed;
	uint64_t	syncs;
	uint64_t	confirmed;
	uint64_t	instructions;
	bool		full;
	uint64_t	gaps[FLOW_GAPS];
};

struct flow;

/**
 * flow_new() - create a flow reader
 * @code:	the code, which must outlive the reader
 * @ops:	the consumer's callbacks, which must outlive the reader
 * @context:	passed to each callback
 *
 * Return: the reader, to be freed with flow_free(), or NULL if out of memory.
 */
struct flow *flow_new(struct code *code, const struct flow_ops *ops, void *context);

/** flow_free() - free a flow reader; NULL is allowed */
void flow_free(struct flow *flow);

/**
 * flow_message() - follow one message
 * @message:	a message, in the order of the trace; only instruction trace, Error and Ownership
 *		messages matter
 *
 * Return: 0, or -ENOMEM, after which the source's messages are lost.
 */
int flow_message(struct flow *flow, const struct nexus_message *message);

/**
 * flow_damaged() - report bytes that are not a message
 * @gap:	gap from nexus_next()
 *
 * The bytes may belong to any source.
 */
void flow_damaged(struct flow *flow, const struct nexus_message *gap);

/**
 * flow_flush() - show waiting messages, at the end of the trace or when no more data has arrived in
 * a pipe
 */
void flow_flush(struct flow *flow);

/** flow_show() - show a source's waiting messages, although no Sync message has confirmed them */
void flow_show(struct flow *flow, unsigned int src);

/** flow_stats() - return the statistics */
const struct flow_stats *flow_stats(const struct flow *flow);

/** flow_losses() - return the number of gaps due to damage or limits, not to unknown code */
uint64_t flow_losses(const struct flow_stats *stats);

/**
 * flow_summary() - report statistics and gaps
 * @name:	the trace's name, for the messages
 */
void flow_summary(const struct flow_stats *stats, const char *name);

/** flow_gap_name() - return the name of an enum flow_gap value */
const char *flow_gap_name(unsigned int gap);

/** flow_sync_name() - return the name of a Sync message's reason */
const char *flow_sync_name(unsigned int sync);

#endif /* SIFIVE_TRACE_FLOW_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Follows a source's path through the code, message by message. Each path is walked twice: first to
 * check the messages, then to show the flow that they describe.
 */
#ifndef SIFIVE_TRACE_WALK_H
#define SIFIVE_TRACE_WALK_H

#include "flow.h"

/* State of a source's flow. */
enum walk_state {
	WALK_LOST,	/* nothing is known, until a Sync message */
	WALK_OFF,	/* tracing is off */
	WALK_AWAY,	/* in unknown code, until a message with an address */
	WALK_ON,	/* address known */
};

/**
 * struct walk_message - the fields of a message that the flow needs
 * @icnt, @hist, @address: fields of the message; the address is shifted to include bit 0
 * @repeat:	number of repetitions of the history or branch
 * @halfwords:	length of the instructions that the message describes; set by walk_check()
 */
struct walk_message {
	uint64_t	offset;
	uint64_t	time;
	uint64_t	icnt;
	uint64_t	address;
	uint64_t	hist;
	uint64_t	repeat;
	uint64_t	halfwords;
	uint8_t		tcode;
	uint8_t		time_known;
	uint8_t		reason;		/* SYNC, EVCODE or RCODE, depending on the TCODE */
	uint8_t		btype;
};

/**
 * struct walk - a source's path
 * @state:	enum walk_state
 * @mode:	enum flow_mode
 * @block:	current block, in state WALK_ON
 * @into:	number of halfwords of @block that were executed; if all were, the next block is not
 *		yet determined
 * @reference:	the latest address sent
 * @balance:	number of halfwords that messages have announced, minus those walked
 * @called:	return addresses for implicit returns, a ring
 * @calls:	number of entries in @called
 * @top:	index after the latest entry
 * @unpaired:	@called may lack calls
 * @away:	reason (enum flow_gap), in state WALK_AWAY
 * @firmware:	in state WALK_AWAY: set if the source is in the firmware, whose addresses may
 *		equal a program's
 * @unknown:	omitted code was entered from unknown code
 * @trapped:	@from is known
 * @from:	address at which a program trapped
 * @branch:	the latest branch message without Sync, for repeats
 * @place:	place of the walk in the trace
 * @show_run, @consumer: the consumer's callback for runs, which may be NULL, and its context
 * @show_event, @flow: flow.c's callback for events between runs, and its context
 * @instructions: number of instructions shown
 */
struct walk {
	struct code		*code;
	void			(*show_run)(void *consumer, const struct flow_place *place,
					    const struct flow_run *run);
	void			*consumer;
	void			(*show_event)(void *flow, const struct flow_place *place,
					      const struct flow_event *event);
	void			*flow;
	struct flow_place	place;
	uint8_t			state;
	uint8_t			mode;
	bool			unpaired;
	bool			firmware;
	bool			unknown;
	bool			trapped;
	uint8_t			away;
	struct block		*block;
	uint32_t		into;
	uint32_t		calls;
	uint32_t		top;
	int64_t			balance;
	uint64_t		reference;
	uint64_t		from;
	uint64_t		instructions;
	struct walk_message	branch;
	uint64_t		called[FLOW_STACK + 1];
};

/* Results of walk_check() and walk_show(). */
enum walk_result {
	WALK_FINE,
	WALK_CONFIRMED,		/* confirmed by a Sync message, perhaps the first one */
	WALK_CONTRADICTION,
};

/**
 * walk_check() - walk one message
 * @message:	the message; its @halfwords are set
 *
 * Return: enum walk_result. After a contradiction, the state is WALK_LOST.
 */
enum walk_result walk_check(struct walk *walk, struct walk_message *message);

/** walk_show() - walk a checked message a second time, with the consumer's callbacks */
enum walk_result walk_show(struct walk *walk, struct walk_message *message);

/** walk_lose() - mark the flow as unknown until the next Sync message */
void walk_lose(struct walk *walk);

#endif /* SIFIVE_TRACE_WALK_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The clocks of a trace's sources behind damage: gaps, Error messages, unknown
 * TCODEs, timestamps that contradict each other.
 *
 * Messages wait in a queue before their records are decoded, so that a contradiction
 * also corrects, or marks, the times before it that it makes doubtful.
 */
#ifndef SIFIVE_TRACE_CLOCKS_H
#define SIFIVE_TRACE_CLOCKS_H

#include "nexus/nexus.h"

/* Stores that wait at least, and at most; at most so many other items. */
#define CLOCKS_AHEAD	2048
#define CLOCKS_QUEUE	(4 * CLOCKS_AHEAD)
#define CLOCKS_EVENTS	64

/* A message that is no store, or a gap: it comes before store @at. */
struct clocks_event {
	size_t			at;
	enum nexus_item		item;
	struct nexus_message	message;
};

/**
 * struct clocks - the queue, and what is known of each source's clock
 * @mask:	greatest timestamp
 * @broken:	by source: offset from which on a lost timestamp may be missing
 */
struct clocks {
	struct store		store[CLOCKS_QUEUE];
	size_t			stores;
	struct clocks_event	event[CLOCKS_EVENTS];
	unsigned int		events;
	uint64_t		mask;
	uint64_t		broken[NEXUS_SOURCES];
};

/**
 * clocks_break() - a source may have lost a timestamp
 * @src:	the source, -1: any
 * @offset:	place in the file
 */
void clocks_break(struct clocks *clocks, int src, uint64_t offset);

/**
 * clocks_correct() - correct the queue's times by a contradiction
 * @message:	with NEXUS_CONTRARY; all before it are in the queue
 *
 * A bit of the source's time was wrong just before @message. Where the source may
 * have lost a timestamp it was wrong since then. Otherwise a timestamp itself is
 * damaged, in one of the messages since the bit last was the highest to change: all
 * times since then are inferred, and the bit is corrected from the message on that
 * needs the shortest steps.
 */
void clocks_correct(struct clocks *clocks, const struct nexus_message *message);

/**
 * clocks_recover() - find the timestamps in damaged bytes
 * @nexus:	decoder behind them, and the bytes behind them fed to it
 * @bytes:	the damaged bytes, which may be unknown or malformed
 * @length:	number of them
 * @words:	stores so far, by channel
 *
 * Candidates are the clocks as they run on, and as they would with any one bit of
 * @bytes changed that makes whole messages of them. The one with which the messages
 * that follow contradict each other least is taken. Messages of damaged bytes are
 * not given: they may be damaged elsewhere. Times are inferred from here on.
 *
 * Return: bytes behind @bytes that belong to a damaged message: skip them. -1: no
 * bit makes messages of @bytes that explain what follows better than none.
 */
int clocks_recover(struct nexus *nexus, const uint8_t *bytes, size_t length,
		   const uint64_t *words);
/* Bytes of damage, at most, in which timestamps are looked for. */
#define CLOCKS_DAMAGE_MAX	(2 * NEXUS_MESSAGE_MAX)

#endif /* SIFIVE_TRACE_CLOCKS_H */

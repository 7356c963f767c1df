/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The clocks of a trace's sources after damage: gaps, Error messages, unknown TCODEs,
 * contradictory timestamps.
 *
 * Messages wait in a queue before their records are decoded, so that a contradiction
 * also corrects, or marks, the times before it that it makes doubtful.
 */
#ifndef SIFIVE_TRACE_CLOCKS_H
#define SIFIVE_TRACE_CLOCKS_H

#include "nexus/nexus.h"

/* Limits for the queue: minimum and maximum number of stores, maximum number of other items. */
#define CLOCKS_AHEAD	2048
#define CLOCKS_QUEUE	(4 * CLOCKS_AHEAD)
#define CLOCKS_EVENTS	64

/* A message other than a store, or a gap; it precedes store @at. */
struct clocks_event {
	size_t			at;
	enum nexus_item		item;
	struct nexus_message	message;
};

/**
 * struct clocks_stretch - RING_SKEW bytes of the trace, or more
 * @end:	place at which it ends
 * @now:	by source: its clock there
 * @sent:	by source: it sent messages in the stretch, and its time was known
 * @late:	the source with the latest clock
 * @latest:	the latest source's time; 0 if there is none
 */
struct clocks_stretch {
	uint64_t	end;
	uint64_t	now[NEXUS_SOURCES];
	bool		sent[NEXUS_SOURCES];
	unsigned int	late;
	uint64_t	latest;
};

/**
 * struct clocks - the queue, and the state of each source's clock
 * @store:	room for CLOCKS_QUEUE, of which @stores wait, the oldest first
 * @mask:	greatest timestamp
 * @broken:	by source: offset after which a timestamp may be missing
 * @absolute:	by source: offset of its latest absolute timestamp
 * @stretch:	the latest ones, and room for the next
 * @next:	index of that room; the earliest stretch is the one after it
 */
struct clocks {
	struct store		*store;
	size_t			stores;
	struct clocks_event	event[CLOCKS_EVENTS];
	unsigned int		events;
	uint64_t		mask;
	uint64_t		broken[NEXUS_SOURCES];
	uint64_t		absolute[NEXUS_SOURCES];
	struct clocks_stretch	stretch[3];
	unsigned int		next;
};

/** clocks_shift() - remove the @count oldest stores, and @events with them */
void clocks_shift(struct clocks *clocks, size_t count, unsigned int events);

/**
 * clocks_break() - a source may have lost a timestamp
 * @src:	the source, or -1 for any
 * @offset:	place in the file
 */
void clocks_break(struct clocks *clocks, int src, uint64_t offset);

/**
 * clocks_correct() - correct the queue's times after a contradiction
 * @message:	with NEXUS_CONTRARY; all before it are in the queue
 *
 * A bit of the source's time was wrong just before @message. If the source may have
 * lost a timestamp, the bit was wrong since then. Otherwise a timestamp itself is
 * damaged, in one of the messages since the bit was last the highest to change: all
 * times since then are inferred, and the bit is corrected starting at the message
 * for which the steps are shortest.
 */
void clocks_correct(struct clocks *clocks, const struct nexus_message *message);

/**
 * clocks_compare() - compare the sources' clocks with each other
 * @nexus:	decoder of the queued messages
 *
 * A message at least RING_SKEW bytes after another one in the file was sent
 * later. If two sources contradict this, the one with which no other source agrees has a wrong
 * clock; otherwise both may be wrong. Queued and later times of a source whose clock may be
 * wrong are inferred.
 */
void clocks_compare(struct clocks *clocks, struct nexus *nexus);

/**
 * clocks_end() - mark the times at the trace's end that nothing confirms
 *
 * A wrong bit of a timestamp contradicts the next timestamp in which that bit
 * is the highest to change. At the end of a source, without a later absolute
 * time, nothing reveals a wrong bit, so times are inferred. This applies only
 * to the XOR scheme, to sources with enough stores to show the length of their
 * steps, and to the bits that steps of that length change.
 */
void clocks_end(struct clocks *clocks);

/**
 * clocks_recover() - recover the clocks after damaged bytes
 * @nexus:	decoder in its state after the damaged bytes, with the following bytes fed to
 *		it
 * @bytes:	the damaged bytes, which may be unknown or malformed
 * @length:	number of @bytes
 * @words:	stores so far, by channel
 *
 * Candidates are the clocks unchanged, and the clocks after decoding @bytes
 * with one bit flipped, if that gives whole messages. The candidate with which
 * the following messages contradict each other least is used. Messages in the
 * damaged bytes are not passed on, because they may be damaged elsewhere. Times
 * are inferred from here on.
 *
 * Return: bytes after @bytes that belong to a damaged message: skip them. -1 if no flipped bit
 * explains the following messages better than the unchanged clocks.
 */
int clocks_recover(struct nexus *nexus, const uint8_t *bytes, size_t length,
		   const uint64_t *words);
/* Maximum number of damaged bytes in which to search for timestamps. */
#define CLOCKS_DAMAGE_MAX	(2 * NEXUS_MESSAGE_MAX)

#endif /* SIFIVE_TRACE_CLOCKS_H */

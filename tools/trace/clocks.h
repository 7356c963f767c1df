/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Corrects the clocks of a trace's sources after damage: gaps, Error messages, unknown TCODEs, and
 * contradictory timestamps.
 *
 * Messages wait in a queue before their records are decoded. After a contradiction, the doubtful
 * times of queued messages can therefore be corrected or marked.
 */
#ifndef SIFIVE_TRACE_CLOCKS_H
#define SIFIVE_TRACE_CLOCKS_H

#include "nexus/nexus.h"

/* Limits for the queue: minimum and maximum number of stores, and maximum number of other items. */
#define CLOCKS_AHEAD	2048
#define CLOCKS_QUEUE	(4 * CLOCKS_AHEAD)
#define CLOCKS_EVENTS	64

/* A gap, or a message that is not a store; it precedes store @at. */
struct clocks_event {
	size_t			at;
	enum nexus_item		item;
	struct nexus_message	message;
};

/**
 * struct clocks_stretch - a stretch of at least RING_SKEW bytes of the trace
 * @end:	offset of its end
 * @now:	each source's clock at @end
 * @sent:	set for each source that sent messages in the stretch and has a known time
 * @late:	source with the latest time
 * @latest:	time of that source, or 0 if there is none
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
 * @store:	array of CLOCKS_QUEUE stores; the first @stores are queued, the oldest
 *		first
 * @mask:	maximum timestamp
 * @broken:	latest offset at which each source may have lost a timestamp
 * @absolute:	offset of each source's latest absolute timestamp
 * @least:	each source's time at the first possible loss of a timestamp since its latest
 *		absolute timestamp, or 0 if unknown
 * @stretch:	the two latest stretches, and a free element for the next stretch
 * @next:	index of the free element; the earliest stretch follows it
 * @latest:	latest time of the items that clocks_unwrap() has checked: @checked_stores in @store and
 *		@checked_events in @event, and all earlier items
 * @disorders:	number of times that exact times became doubtful because of the order between
 *		sources
 */
struct clocks {
	struct store		*store;
	size_t			stores;
	struct clocks_event	event[CLOCKS_EVENTS];
	unsigned int		events;
	uint64_t		mask;
	uint64_t		broken[NEXUS_SOURCES];
	uint64_t		absolute[NEXUS_SOURCES];
	uint64_t		least[NEXUS_SOURCES];
	struct clocks_stretch	stretch[3];
	unsigned int		next;
	uint64_t		latest;
	size_t			checked_stores;
	uint64_t		disorders;
	unsigned int		checked_events;
};

/** clocks_shift() - remove the @count oldest stores and the @events oldest events */
void clocks_shift(struct clocks *clocks, size_t count, unsigned int events);

/**
 * clocks_break() - record that a source may have lost a timestamp
 * @nexus:	decoder; if @src is -1, it must not have decoded anything after the lost bytes
 * @src:	source of an Error message, or -1 if bytes from any source may be lost
 * @offset:	offset in the file
 */
void clocks_break(struct clocks *clocks, const struct nexus *nexus, int src, uint64_t offset);

/**
 * clocks_correct() - correct the queue's times after a contradiction
 * @nexus:	decoder of the queued messages
 * @message:	a message with NEXUS_CONTRARY, which follows the queued messages
 *
 * A bit of the source's time was wrong just before @message. If the source may have lost a
 * timestamp, the bit has been wrong since that loss. If the corrected times precede the loss,
 * higher bits were wrong, too; they are corrected in the queue, @message and the decoder's clock.
 * Otherwise, a timestamp is damaged, in one of the messages since the bit was last the highest to
 * change. All times since then are marked as inferred, and the bit is corrected from the message
 * for which the resulting time steps are shortest.
 *
 * Messages from the source may be missing where its times become doubtful, so a gap is queued
 * before the first doubtful time if the queue has room.
 */
void clocks_correct(struct clocks *clocks, struct nexus *nexus, struct nexus_message *message);

/** clocks_doubt() - mark a source's queued times from offset @since on as inferred */
void clocks_doubt(struct clocks *clocks, unsigned int src, uint64_t since);

/**
 * clocks_slept() - return whether a message with NEXUS_CONTRARY is not a contradiction, because its
 * source was silent while timestamps wrapped; if so, restore the time that it sent
 */
bool clocks_slept(struct nexus *nexus, struct nexus_message *message);

/**
 * clocks_unwrap() - correct the times of sources that were silent while timestamps wrapped
 * @nexus:	decoder of the queued messages
 *
 * If a source sends nothing for a whole period of the timestamps, its messages do not show the
 * wraparound. If the source's times are more than half a period before the times of other sources,
 * periods are added to the source's times, which are marked as inferred.
 */
void clocks_unwrap(struct clocks *clocks, struct nexus *nexus);

/**
 * clocks_compare() - compare the sources' clocks
 * @nexus:	decoder of the queued messages
 *
 * A message at least RING_SKEW bytes after another message in the file was sent later. If the times
 * of two sources contradict this order, and other sources agree with only one of the two clocks,
 * the other clock is wrong. If no source agrees with either clock, both may be wrong. Queued and
 * later times of a source whose clock may be wrong are marked as inferred.
 */
void clocks_compare(struct clocks *clocks, struct nexus *nexus);

/**
 * clocks_end() - mark unconfirmed times at the end of the trace
 *
 * A wrong bit of a timestamp contradicts the next timestamp in which that bit is the highest to
 * change. At the end of a source, without a later absolute time, nothing reveals a wrong bit, so
 * times are marked as inferred. This applies only to the XOR scheme, to sources with enough stores
 * to determine the length of their steps, and to the bits that steps of that length change.
 */
void clocks_end(struct clocks *clocks);

/**
 * clocks_recover() - recover the clocks after damaged bytes
 * @nexus:	decoder, which has skipped the damaged bytes and has been fed the following bytes
 * @bytes:	the damaged bytes: unknown or malformed messages
 * @length:	number of @bytes
 * @words:	number of previous stores, by channel
 *
 * Candidates are the unchanged clocks, and the clocks after decoding @bytes with one bit flipped,
 * for each flip that yields whole messages. The candidate that makes the times of the following
 * messages most plausible is used. Messages in the damaged bytes are not passed on, because their
 * other fields may also be damaged. Later times are marked as inferred.
 *
 * Return: number of bytes after @bytes to skip as part of a damaged message, or -1 if no flipped
 * bit explains the following messages better than the unchanged clocks.
 */
int clocks_recover(struct nexus *nexus, const uint8_t *bytes, size_t length,
		   const uint64_t *words);
/* Maximum number of damaged bytes in which to search for timestamps. */
#define CLOCKS_DAMAGE_MAX	(2 * NEXUS_MESSAGE_MAX)

#endif /* SIFIVE_TRACE_CLOCKS_H */

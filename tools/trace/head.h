/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Checks absolute timestamps, in particular each source's first timestamp: if it is damaged, no
 * earlier timestamp contradicts it.
 */
#ifndef SIFIVE_TRACE_HEAD_H
#define SIFIVE_TRACE_HEAD_H

#include "nexus/nexus.h"

#include "meta.h"

/**
 * struct head - known limits and errors of a trace's times, before it is decoded
 * @mask:	maximum timestamp
 * @start:	time at which the capture started, as wide as a timestamp
 * @length:	length of the capture in ticks, or 0 if unknown, or if timestamps wrap in it
 * @slack:	maximum difference in ticks between the clocks of encoders
 * @whole:	length of the capture in ticks according to another clock, if timestamps wrap in it,
 *		otherwise 0
 * @short_of_wraps: timestamps have wrapped more often than the trace shows, while no source sent
 *		messages
 * @wrong:	by source: the bit that is wrong in its first absolute time, or 0
 */
struct head {
	uint64_t	mask;
	uint64_t	start;
	uint64_t	length;
	uint64_t	slack;
	uint64_t	whole;
	bool		short_of_wraps;
	uint64_t	wrong[NEXUS_SOURCES];
};

/** head_init() - set the limits from the side-car file; @mask is the maximum timestamp */
void head_init(struct head *head, const struct meta *meta, uint64_t mask);

/**
 * head_read() - read ahead in a file, to check the first absolute time of each source
 * @fd:		the trace, a seekable file
 *
 * In the XOR scheme, a wrong bit contradicts the first later timestamp in which it is the highest
 * bit to change. The affected records may have been passed on long before that timestamp. Reading
 * ends once each source's time has advanced by a multiple of its distance from the start of the
 * capture, or from other sources' first times, because no higher bit can be wrong.
 *
 * Return: 0, or -1 with errno for a read error or lack of memory.
 */
int head_read(struct head *head, int fd, const struct nexus_options *options);

/**
 * head_check() - check an absolute time
 * @nexus:	decoder, which has just decoded @message
 * @message:	a message with an absolute timestamp; its time is corrected if possible
 *
 * A time outside the capture is wrong. If a single wrong bit explains the time, the bit is
 * corrected; otherwise, the source's previous time remains. In both cases, times are marked as
 * inferred.
 *
 * Return: whether the time was wrong.
 */
bool head_check(struct head *head, struct nexus *nexus, struct nexus_message *message);

#endif /* SIFIVE_TRACE_HEAD_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Infers what a ring buffer has overwritten, as far as possible: the header of a stream's
 * first records, and the times of its first messages.
 */
#ifndef SIFIVE_TRACE_RING_H
#define SIFIVE_TRACE_RING_H

#include "nexus/nexus.h"
#include "perfrec/perfrec.h"

#include "meta.h"

/*
 * Distance in bytes over which messages of two sources can be reordered on their way: the
 * size of the buffers in encoder and funnel, with a wide margin.
 */
#define RING_SKEW	512

/**
 * ring_header() - the header of the records, from the side-car file
 * @header:	filled
 *
 * Return: false if the side-car file does not have it.
 */
bool ring_header(const struct meta *meta, struct perfrec_header *header);

/**
 * ring_begins() - whether the first time in a trace depends on an earlier one
 * @data:	beginning of the trace
 * @length:	bytes of it
 */
bool ring_begins(const void *data, size_t length,
		 const struct nexus_options *options);

/**
 * struct ring_times - where the clocks of a ring's sources stood before it
 * @time:	by source, ticks; valid with @known
 * @worked_out:	sources for which that was found
 * @contrary:	sources whose messages contradict each other
 */
struct ring_times {
	uint64_t	time[NEXUS_SOURCES];
	bool		known[NEXUS_SOURCES];
	unsigned int	worked_out;
	unsigned int	contrary;
};

/**
 * ring_times() - find them, in a few passes over the file
 * @fd:		the trace, which can be read at any place
 * @times:	filled
 *
 * Until its first absolute time a source's messages tell only what has changed:
 * T_i = X ^ c_i, with c_i known and X, its time before the first of them, not.
 * Times never go back, so the highest bit in which one differs from the one
 * before is 0 in the earlier: that tells this bit of X. What lies above the
 * highest bit that ever was such a one did not change, and comes from the absolute
 * time: the source's last message was before it, as late as that allows. Lower bits
 * that never were the highest to change do not matter for the order. A source that
 * then is later than others that come after it in the file is put earlier.
 *
 * Return: 0, or -1 for a read error or no memory: errno tells.
 */
int ring_times(int fd, const struct nexus_options *options,
	       struct ring_times *times);

#endif /* SIFIVE_TRACE_RING_H */

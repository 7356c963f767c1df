/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reconstructs, as far as possible, data that a ring buffer has overwritten: the header of a
 * stream's first records, and the times of a source's first messages.
 */
#ifndef SIFIVE_TRACE_RING_H
#define SIFIVE_TRACE_RING_H

#include "nexus/nexus.h"
#include "perfrec/perfrec.h"

#include "meta.h"

/*
 * Maximum distance in bytes between out-of-order messages from two sources: the size of the buffers
 * in encoders and funnels, with a wide margin.
 */
#define RING_SKEW	512

/**
 * ring_header() - construct the header of the records from the side-car file
 * @header:	the result
 *
 * Return: false if the side-car file lacks the necessary data.
 */
bool ring_header(const struct meta *meta, struct perfrec_header *header);

/**
 * ring_begins() - return whether the first time in a trace depends on an earlier time
 * @data:	beginning of the trace
 * @length:	number of bytes at @data
 */
bool ring_begins(const void *data, size_t length,
		 const struct nexus_options *options);

/**
 * struct ring_times - the clocks of a ring's sources before its first message
 * @time:	time of each source in ticks; valid if @known is set
 * @worked_out:	number of sources whose times were inferred
 * @contrary:	number of sources whose messages contradict each other
 */
struct ring_times {
	uint64_t	time[NEXUS_SOURCES];
	bool		known[NEXUS_SOURCES];
	unsigned int	worked_out;
	unsigned int	contrary;
};

/**
 * ring_times() - infer the times of a ring in a few passes over the file
 * @fd:		the trace, a seekable file
 * @times:	the result
 *
 * Before its first absolute time, a source's messages show only which bits have changed: T_i = X ^
 * c_i, where c_i is known, but X, the time before the first message, is not. Times never go back.
 * The highest bit in which a time differs from the previous time is therefore 0 in the previous
 * time, which determines this bit of X. Bits above the highest bit determined in this way did not
 * change. They are taken from the absolute time: the source's last message is assumed to precede it
 * as closely as possible. Lower bits that were never the highest to change do not affect the order.
 * If this makes a source's times later than other sources' times that follow in the file, the
 * source's times are moved earlier.
 *
 * Return: 0, or -1 with errno for a read error or lack of memory.
 */
int ring_times(int fd, const struct nexus_options *options,
	       struct ring_times *times);

#endif /* SIFIVE_TRACE_RING_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Defines a store to a stimulus register, which the message decoder produces and the record decoder
 * consumes.
 */
#ifndef SIFIVE_TRACE_STORE_H
#define SIFIVE_TRACE_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* Number of sources, and number of channels per source. */
#define STORE_SOURCES	128
#define STORE_CHANNELS	32

/* How certain a time is. */
enum store_time {
	TIME_UNKNOWN,
	TIME_INFERRED,	/* likely: an earlier message was lost or damaged */
	TIME_EXACT,
};

/**
 * struct store - a store
 * @offset:	offset of its message in the trace, in bytes
 * @time:	ticks; valid unless @time_known is TIME_UNKNOWN
 * @value:	the stored value
 * @src:	source, below STORE_SOURCES
 * @channel:	below STORE_CHANNELS
 * @bytes:	1, 2 or 4, or 0 for an invalid size
 * @time_known:	enum store_time
 */
struct store {
	uint64_t	offset;
	uint64_t	time;
	uint32_t	value;
	uint8_t		src;
	uint8_t		channel;
	uint8_t		bytes;
	uint8_t		time_known;
};

#endif /* SIFIVE_TRACE_STORE_H */

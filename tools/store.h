/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A store to a stimulus register (a channel of the instrumentation trace
 * component): what the message decoder finds and the record decoder is fed.
 */
#ifndef SIFIVE_TRACE_STORE_H
#define SIFIVE_TRACE_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* Sources, and channels of each. */
#define STORE_SOURCES	128
#define STORE_CHANNELS	32

/* How certain a time is. */
enum store_time {
	TIME_UNKNOWN,
	TIME_INFERRED,	/* likely: a message before it was lost or damaged */
	TIME_EXACT,
};

/**
 * struct store - a store
 * @offset:	bytes from the beginning of the trace to where it is
 * @time:	when it was made, ticks; valid unless @time_known is TIME_UNKNOWN
 * @value:	what was stored
 * @src:	source that made it, below STORE_SOURCES
 * @channel:	below STORE_CHANNELS
 * @bytes:	1, 2 or 4; 0 for one that fits no size
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

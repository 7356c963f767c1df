/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Performance records on one ITC stimulus register.
 *
 * Freestanding: no library, no allocation, no system call. A stream is the state of one
 * sequence of records: one writer, one stimulus register.
 *
 * Documentation/trace-format.rst describes the format.
 */
#ifndef PERF_RECORD_H
#define PERF_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/sifive_trace_format.h>

#include "compiler.h"
#include "counter.h"

/* Number of ITC stimulus registers per encoder. */
#define PERF_CHANNELS		32

enum perf_record_kind {
	PERF_RECORD_ENTER	= SIFIVE_TRACE_RECORD_ENTER,
	PERF_RECORD_EXIT	= SIFIVE_TRACE_RECORD_EXIT,
	PERF_RECORD_MANUAL	= SIFIVE_TRACE_RECORD_MANUAL,
	PERF_RECORD_ISR		= SIFIVE_TRACE_RECORD_ISR,
};

/* When to poll a stimulus register for room. */
enum perf_poll {
	PERF_POLL_NOT,		/* the encoder stalls the hart */
	PERF_POLL_RECORD,	/* before a record; the rest of the record may stall */
	PERF_POLL_STORE,	/* before each store: the encoder cannot stall */
};

/**
 * struct perf_counter - a counter and the event it counts
 * @number:	counter number, 0 to 31
 * @info:	SBI counter_info: CSR and width
 * @type:	SIFIVE_TRACE_EVENT_GENERAL, _CACHE, _RAW or _FIRMWARE
 * @code:	event code of a general, cache or firmware event
 * @flags:	modes in which the event is not counted, for the set-up
 * @data:	event selector of a raw event
 * @turn:	turn in which the event is counted, from 1, or 0 if it is always counted
 */
struct perf_counter {
	uint32_t number;
	uint32_t info;
	uint32_t type;
	uint32_t code;
	uint32_t flags;
	uint64_t data;
#ifndef PERF_DROPIN
	uint32_t turn;
#endif /* PERF_DROPIN */
};

/**
 * struct perf_layout - the layout of the records of one or more streams
 * @type:	SIFIVE_TRACE_RECORD_RAW, _DELTA or _XOR
 * @count:	number of counters
 * @mask:	bit n is set if counter n is recorded
 * @poll:	enum perf_poll; can become PERF_POLL_NOT while a record is being written
 * @narrow:	whether any counter has fewer than 32 bits
 * @number:	the counters' numbers in ascending order, as in the arrays below
 * @counter:	the counters
 * @width:	mask of each counter's bits
 */
struct perf_layout {
	uint32_t type;
	uint32_t count;
	uint32_t mask;
	volatile uint32_t poll;
	bool narrow;
	uint8_t number[PERF_COUNTER_MAX];
	struct perf_counter counter[PERF_COUNTER_MAX];
	uint64_t width[PERF_COUNTER_MAX];
};

/**
 * struct perf_stream - state of a sequence of records
 * @stimulus:	stimulus register of the stream
 * @ts:		tsLower of the same page, for the timestamp as a counter
 * @layout:	layout of the stream's records
 * @address:	last address written (XOR)
 * @last:	previous value of each counter (Delta and XOR), PERF_COUNTER_MAX of them
 */
struct perf_stream {
	volatile uint32_t *stimulus;
	const volatile uint32_t *ts;
	const struct perf_layout *layout;
	uint64_t address;
	uint64_t *last;
};

/* Kinds of records that may be written. */
#define PERF_OPEN_MANUAL	1u	/* explicit records */
#define PERF_OPEN_HOOKS		2u	/* also at function entry and exit */

/**
 * perf_layout_init - describe records
 * @layout:	layout to fill in
 * @type:	SIFIVE_TRACE_RECORD_RAW, _DELTA or _XOR
 * @counter:	the counters in any order; each number once
 * @count:	number of counters, 0 to 32
 *
 * Returns 0, or -1 if @type, @count or a counter's number is out of range, or two
 * counters have the same number.
 */
PERF_INTERNAL int perf_layout_init(struct perf_layout *layout, uint32_t type,
				   const struct perf_counter *counter,
				   uint32_t count);

/**
 * perf_stream_header - write the header, which resets the previous values of
 * Delta and XOR
 * @flags:	0, or SIFIVE_TRACE_RECORD_OWNED, optionally with _GOES_ON
 * @owner:	thread id, if @flags is not 0
 * @now:	the counters' values, in the layout's order
 */
PERF_INTERNAL void perf_stream_header(struct perf_stream *stream, uint32_t flags,
				      uint32_t owner, const uint64_t *now);

/*
 * Wait until the stimulus register has room for a store. When a child finishes its parent's record
 * in memory, the register contains the last stored word, so polling ends.
 */
PERF_INLINE void perf_wait_ready(const struct perf_stream *stream)
{
	while (PERF_UNLIKELY(!perf_mmio_read32(stream->stimulus)) &&
	       stream->layout->poll != PERF_POLL_NOT)
		;
}

/**
 * perf_stream_record - write a record
 * @kind:	enum perf_record_kind
 * @address2:	ignored by records with one address. Both addresses are even, like all code
 *		addresses.
 * @now:	the counters' values, in the layout's order
 */
PERF_INTERNAL void perf_stream_record(struct perf_stream *stream, uint32_t kind,
				      uintptr_t address, uintptr_t address2,
				      const uint64_t *now);

#endif /* PERF_RECORD_H */

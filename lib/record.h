/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Performance records on one ITC stimulus register.
 *
 * Freestanding: no library, no allocation, no system call. A stream is all the
 * state of one sequence of records: one thread, one stimulus register.
 *
 * Header:	magic (32), count type (8), counter mask (32), then per counter,
 *		lowest number first: event type (32); the code (32) of a general
 *		or cache event, or the lower and upper half (32, 32) of a raw
 *		event's selector; counter_info (32)
 * Record:	kind (8), one or two addresses, one count per counter, lowest
 *		number first
 * Address:	lower half (32); when the upper half is not zero, bit 0 of that is
 *		set and the upper half (32) follows
 * Count:	bits 31:0 (32); bits 47:32 (16) when they are not zero
 */
#ifndef PERF_RECORD_H
#define PERF_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "counter.h"

#define PERF_RECORD_MAGIC	0x70657266u

/* Number of ITC stimulus registers of an encoder. */
#define PERF_CHANNELS		32

enum perf_count_type {
	PERF_COUNT_RAW		= 0,
	PERF_COUNT_DELTA	= 1,
	PERF_COUNT_XOR		= 2,
};

enum perf_record_kind {
	PERF_RECORD_ENTER	= 0,
	PERF_RECORD_EXIT	= 1,
	PERF_RECORD_MANUAL	= 2,
	PERF_RECORD_ISR		= 3,
};

enum perf_event_type {
	PERF_EVENT_GENERAL	= 0,
	PERF_EVENT_CACHE	= 1,
	PERF_EVENT_RAW		= 2,
};

/**
 * struct perf_counter - a counter and the event it counts
 * @number:	counter number, 0 to 31
 * @info:	SBI counter_info: CSR and width
 * @type:	enum perf_event_type
 * @code:	event code of a general or cache event
 * @data:	event selector of a raw event
 */
struct perf_counter {
	uint32_t number;
	uint32_t info;
	uint32_t type;
	uint32_t code;
	uint64_t data;
};

struct perf_stream;

/*
 * Writes one record and then clears the stream's busy flag. @address2 is not used
 * by records of one address. Addresses are even, as all code addresses are.
 */
typedef void perf_record_writer(uintptr_t address, uintptr_t address2,
				struct perf_stream *stream, uint32_t kind);

/* Bits of perf_stream.open. */
#define PERF_OPEN_MANUAL	1u	/* records may be written */
#define PERF_OPEN_HOOKS		2u	/* also at function entry and exit */

/* perf_stream.gate: busy in the upper byte, open in the lower one. */
#define PERF_GATE(open, busy)	((unsigned int)(open) | (unsigned int)(busy) << 8)

/**
 * struct perf_stream - state of a sequence of records
 * @open:	PERF_OPEN_*: which records may be written
 * @busy:	a record is being written; tells a signal handler to keep out
 * @gate:	@open and @busy in one load
 * @count:	number of counters
 * @stimulus:	register written to
 * @ts:		tsLower, for the timestamp as a counter
 * @write_pair:	writer of records with two addresses
 * @write_single: writer of records with one address
 * @address:	last address written (XOR)
 * @last:	previous value of each counter (Delta and XOR)
 * @width:	mask of each counter's bits
 * @read:	reader of each counter
 * @counter:	the counters, lowest number first, as in the arrays above
 * @mask:	bit n set: counter n is recorded
 * @type:	enum perf_count_type
 * @dropped:	records that came while another was being written
 *
 * All zero is a stream that nothing can be written to.
 */
struct perf_stream {
	__extension__ union {
		__extension__ struct {
			volatile uint8_t open;
			volatile uint8_t busy;
		};
		volatile uint16_t gate;
	};
	uint32_t count;
	volatile uint32_t *stimulus;
	const volatile uint32_t *ts;
	perf_record_writer *write_pair;
	perf_record_writer *write_single;
	uint64_t address;
	uint64_t last[PERF_COUNTER_MAX];
	uint64_t width[PERF_COUNTER_MAX];
	perf_counter_reader *read[PERF_COUNTER_MAX];
	struct perf_counter counter[PERF_COUNTER_MAX];
	uint32_t mask;
	uint32_t type;
	uint32_t dropped;
};

/* From here on the stream is the caller's; a signal handler finds it busy. */
PERF_INLINE void perf_stream_claim(struct perf_stream *stream)
{
	stream->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

PERF_INLINE void perf_stream_release(struct perf_stream *stream)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	stream->busy = 0;
}

/* Count a record that cannot be written because another is being written. */
PERF_INLINE void perf_stream_drop(struct perf_stream *stream)
{
	__atomic_fetch_add(&stream->dropped, 1, __ATOMIC_RELAXED);
}

/**
 * perf_stream_init - describe a stream
 * @stream:	to be filled in; closed
 * @stimulus:	the stimulus register
 * @ts:		tsLower of the same page; used when @counter has the timestamp
 * @type:	enum perf_count_type
 * @counter:	the counters in any order; each number once
 * @count:	number of counters, 0 to 32
 *
 * Returns 0, or -1 when @type or @count is out of range, a counter's number is,
 * or two counters have the same number.
 */
PERF_INTERNAL int perf_stream_init(struct perf_stream *stream,
				   volatile uint32_t *stimulus,
				   const volatile uint32_t *ts, uint32_t type,
				   const struct perf_counter *counter,
				   uint32_t count);

/**
 * perf_stream_header - write the header; Delta and XOR start anew from here
 * @stream:	claimed by the caller
 */
PERF_INTERNAL void perf_stream_header(struct perf_stream *stream);

#endif /* PERF_RECORD_H */

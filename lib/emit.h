/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The stores of a record, as templates: what is a constant for the caller costs
 * nothing. Freestanding, as record.h.
 */
#ifndef PERF_EMIT_H
#define PERF_EMIT_H

#include "record.h"

/* Wait until the stimulus register takes a store. */
PERF_INLINE void perf_emit_ready(const volatile uint32_t *stimulus)
{
	while (PERF_UNLIKELY(!perf_mmio_read32(stimulus)))
		;
}

PERF_INLINE void perf_emit32(volatile uint32_t *stimulus, unsigned long value,
			     const bool poll)
{
	if (poll)
		perf_emit_ready(stimulus);
	perf_stimulus32(stimulus, value);
}

PERF_INLINE void perf_emit16(volatile uint32_t *stimulus, uint16_t value,
			     const bool poll)
{
	if (poll)
		perf_emit_ready(stimulus);
	perf_stimulus16(stimulus, value);
}

PERF_INLINE void perf_emit8(volatile uint32_t *stimulus, uint32_t value,
			    const bool poll)
{
	if (poll)
		perf_emit_ready(stimulus);
	perf_stimulus8(stimulus, value);
}

PERF_INLINE void perf_emit_address(struct perf_stream *s,
				   volatile uint32_t *stimulus,
				   uintptr_t address, const uint32_t type,
				   const bool poll)
{
	uint64_t value = address;

	if (type == PERF_COUNT_XOR) {
		value ^= s->address;
		s->address = address;
	}

	/* As on RISC-V Linux: programs at high addresses are the usual case. */
	if (PERF_LIKELY(value >> 32)) {
		perf_emit32(stimulus, (unsigned long)value | 1, poll);
		perf_emit32(stimulus, (unsigned long)(value >> 32), poll);
	} else {
		perf_emit32(stimulus, (unsigned long)value, poll);
	}
}

/* What a record begins with. */
PERF_INLINE void perf_emit_place(struct perf_stream *s,
				 volatile uint32_t *stimulus, uint32_t kind,
				 uintptr_t address, uintptr_t address2,
				 const bool pair, const uint32_t type,
				 const bool poll)
{
	perf_emit8(stimulus, kind, poll);
	perf_emit_address(s, stimulus, address, type, poll);
	if (pair)
		perf_emit_address(s, stimulus, address2, type, poll);
}

/**
 * perf_emit_values - what a record says of counters
 * @now:	what they read; becomes what the record says
 *
 * Returns all of it ORed: upper halves are looked for in all counts at once, as
 * usually none has one.
 */
PERF_INLINE uint64_t perf_emit_values(struct perf_stream *s, uint64_t *now,
				      uint32_t count, const uint32_t type)
{
	uint64_t all = 0;
	uint32_t i;

#pragma GCC unroll 8
	for (i = 0; i < count; i++) {
		if (type != PERF_COUNT_RAW) {
			uint64_t last = s->last[i];

			s->last[i] = now[i];
			now[i] = type == PERF_COUNT_DELTA ? now[i] - last :
							    now[i] ^ last;
		}
		all |= now[i];
		/* Two at a time, else all are in registers, which have to be saved. */
		if (i % 2)
			__asm__ volatile("" : : : "memory");
	}
	return all;
}

/* Counts that all fit in 32 bits. */
PERF_INLINE void perf_emit_short(volatile uint32_t *stimulus,
				 const uint64_t *value, uint32_t count,
				 const bool poll)
{
	uint32_t i;

#pragma GCC unroll 8
	for (i = 0; i < count; i++)
		perf_emit32(stimulus, (unsigned long)value[i], poll);
}

/* Counts that do not, or whose counters may have less than 32 bits. */
PERF_INLINE void perf_emit_long(const struct perf_stream *s,
				const uint64_t *value, uint32_t count,
				const bool poll)
{
	volatile uint32_t *stimulus = s->stimulus;
	uint32_t i;

	for (i = 0; i < count; i++) {
		/*
		 * A difference is taken modulo 2^64, as is the sum that a
		 * thread's own count is: of a counter that is narrower and has
		 * wrapped they show bits above its width.
		 */
		uint64_t masked = value[i] & s->layout->width[i];
		uint16_t upper;

		perf_emit32(stimulus, (unsigned long)masked, poll);
		upper = (uint16_t)(masked >> 32);
		if (upper)
			perf_emit16(stimulus, upper, poll);
	}
}

#endif /* PERF_EMIT_H */

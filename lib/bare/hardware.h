/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Encoders, the funnel and their sinks, programmed from machine mode. */
#ifndef PERF_BARE_HARDWARE_H
#define PERF_BARE_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>

#include "../compiler.h"

/**
 * struct bare_sink - a sink
 * @block:	component with the sink
 * @kind:	TR_SINK_SRAM or TR_SINK_SBA
 * @buffer:	buffer of an SBA sink
 * @size:	size of the sink in bytes
 */
struct bare_sink {
	volatile uint32_t *block;
	uint32_t kind;
	void *buffer;
	uint32_t size;
};

PERF_INLINE uint32_t bare_read(volatile uint32_t *block, unsigned int offset)
{
	return block[offset / 4];
}

PERF_INLINE void bare_write(volatile uint32_t *block, unsigned int offset,
			    uint32_t value)
{
	block[offset / 4] = value;
}

/* Return zeroed memory from the pool, aligned to 64 bytes, or NULL if the pool is exhausted. */
PERF_INTERNAL void *bare_alloc(uint32_t bytes);

/* Select a component's sink and prepare it. If @bytes is 0, select the SRAM. */
PERF_INTERNAL int bare_sink_init(struct bare_sink *sink, volatile uint32_t *block,
				 uint32_t bytes);

/* Return the number of bytes that a sink has captured. */
PERF_INTERNAL uint32_t bare_sink_bytes(const struct bare_sink *sink);

/* Reset a component and start its timestamp unit, if it has one. */
PERF_INTERNAL int bare_reset(volatile uint32_t *block);

/* Program an encoder to turn stores to one register into messages for a sink of @kind. */
PERF_INTERNAL void bare_encoder_init(volatile uint32_t *block, unsigned int channel,
				     uint32_t kind);

PERF_INTERNAL int bare_encoder_start(volatile uint32_t *block);
PERF_INTERNAL int bare_encoder_stop(volatile uint32_t *block);

PERF_INTERNAL int bare_funnel_start(volatile uint32_t *block);
PERF_INTERNAL int bare_funnel_stop(volatile uint32_t *block);

#endif /* PERF_BARE_HARDWARE_H */

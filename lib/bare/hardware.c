// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "hardware.h"
#include "regs.h"
#include "sifive_bare_perf.h"

/* The timeout for a component, in reads of its control register. */
#define PATIENCE	1000000

/* Buffers are aligned to the widest sink's word and to a cache line. */
#define ALIGNMENT	64u

static uint8_t pool[PERF_MEM_POOL_SIZE] __attribute__((aligned(ALIGNMENT)));
static uint32_t pool_used;

PERF_INTERNAL void *bare_alloc(uint32_t bytes)
{
	uint32_t at;

	if (bytes > sizeof(pool))
		return 0;
	bytes = (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	at = __atomic_fetch_add(&pool_used, bytes, __ATOMIC_RELAXED);
	if (at <= sizeof(pool) && bytes <= sizeof(pool) - at)
		return &pool[at];
	__atomic_fetch_sub(&pool_used, bytes, __ATOMIC_RELAXED);
	return 0;
}

/* Wait until bits of the control register are set. */
PERF_LOCAL int await(volatile uint32_t *block, uint32_t bits)
{
	uint32_t i;

	for (i = 0; i < PATIENCE; i++)
		if ((bare_read(block, TR_CONTROL) & bits) == bits)
			return 0;
	return -1;
}

/* Return the control register's value, modified to keep a sink error when it is written back. */
PERF_LOCAL uint32_t control_kept(volatile uint32_t *block)
{
	return (bare_read(block, TR_CONTROL) & ~TR_CONTROL_SINK_ERROR) |
	       TR_CONTROL_STALL_OR_OVERFLOW;
}

PERF_INTERNAL int bare_reset(volatile uint32_t *block)
{
	uint32_t ts;

	bare_write(block, TR_CONTROL, 0);
	bare_write(block, TR_CONTROL, TR_CONTROL_ACTIVE);
	if (await(block, TR_CONTROL_ACTIVE))
		return -1;

	ts = bare_read(block, TR_TS_CONTROL);
	if (!(ts & TR_TS_TYPE))
		return 0;
	bare_write(block, TR_TS_CONTROL, TR_TS_ACTIVE);
	bare_write(block, TR_TS_CONTROL, TR_TS_ACTIVE | TR_TS_COUNT | TR_TS_ENABLE |
		   TR_TS_INSTRUMENTATION | TR_TS_OWNERSHIP);
	return 0;
}

/* The implemented bits of the write pointer determine the size of the SRAM. */
PERF_LOCAL int init_sram(struct bare_sink *sink, uint32_t word)
{
	bare_write(sink->block, TR_SINK_WP, ~0u);
	sink->size = (bare_read(sink->block, TR_SINK_WP) & ~3u) + word;
	bare_write(sink->block, TR_SINK_BASE, 0);
	bare_write(sink->block, TR_SINK_LIMIT, sink->size - word);
	bare_write(sink->block, TR_SINK_WP, 0);
	sink->buffer = 0;
	return 0;
}

PERF_LOCAL int init_sba(struct bare_sink *sink, uint32_t word, uint32_t bytes)
{
	uint64_t base, limit;

	if (bytes > PERF_MEM_POOL_SIZE)
		return -1;
	bytes = (bytes + word - 1) & ~(word - 1);
	/* A sink of the same size keeps its buffer, because the pool cannot free memory. */
	if (!sink->buffer || sink->size != bytes)
		sink->buffer = bare_alloc(bytes);
	if (!sink->buffer)
		return -1;
	sink->size = bytes;

	/* One register contains the upper half of both base and limit. */
	base = (uintptr_t)sink->buffer;
	limit = base + sink->size - word;
	if (base >> 32 != limit >> 32)
		return -1;
	bare_write(sink->block, TR_SINK_BASE, (uint32_t)base);
	bare_write(sink->block, TR_SINK_BASE_HIGH, (uint32_t)(base >> 32));
	bare_write(sink->block, TR_SINK_LIMIT, (uint32_t)limit);
	bare_write(sink->block, TR_SINK_WP, (uint32_t)base);
	return bare_read(sink->block, TR_SINK_LIMIT) == (uint32_t)limit ? 0 : -1;
}

PERF_INTERNAL int bare_sink_init(struct bare_sink *sink, volatile uint32_t *block,
				 uint32_t bytes)
{
	uint32_t impl = bare_read(block, TR_IMPL);
	uint32_t word = 4u << FIELD_OF(TR_IMPL_SINK_BYTES, impl);

	sink->block = block;
	sink->kind = bytes ? TR_SINK_SBA : TR_SINK_SRAM;
	if (!(FIELD_OF(TR_IMPL_SINKS, impl) >> (sink->kind - TR_IMPL_SINKS_FIRST) & 1))
		return -1;
	/* This field selects the sink that the sink registers control. */
	bare_write(block, TR_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_STOP_ON_WRAP |
		   FIELD(TR_CONTROL_SINK, sink->kind));
	return bytes ? init_sba(sink, word, bytes) : init_sram(sink, word);
}

PERF_INTERNAL uint32_t bare_sink_bytes(const struct bare_sink *sink)
{
	uint32_t wp = bare_read(sink->block, TR_SINK_WP);

	if (wp & TR_SINK_WP_WRAPPED)
		return sink->size;
	return wp - (uint32_t)(uintptr_t)sink->buffer;
}

PERF_INTERNAL void bare_encoder_init(volatile uint32_t *block, unsigned int channel,
				     uint32_t kind)
{
	bare_write(block, TR_ITC_ENABLE, 1u << channel);
	bare_write(block, TR_CONTROL, TR_CONTROL_ACTIVE |
		   FIELD(TR_CONTROL_INSTRUMENTATION, TR_INSTRUMENTATION_ITC) |
		   TR_CONTROL_STALL_ENABLE | TR_CONTROL_STOP_ON_WRAP |
		   FIELD(TR_CONTROL_SYNC_MAX_BTM, TR_SYNC_MAX_OFF) |
		   FIELD(TR_CONTROL_SYNC_MAX_INST, TR_SYNC_MAX_OFF) |
		   FIELD(TR_CONTROL_SINK, kind));
}

PERF_INTERNAL int bare_encoder_start(volatile uint32_t *block)
{
	bare_write(block, TR_CONTROL, control_kept(block) | TR_CONTROL_ENABLE);
	bare_write(block, TR_CONTROL, control_kept(block) | TR_CONTROL_TRACING);
	return await(block, TR_CONTROL_ENABLE | TR_CONTROL_TRACING);
}

PERF_INTERNAL int bare_encoder_stop(volatile uint32_t *block)
{
	bare_write(block, TR_CONTROL, control_kept(block) & ~TR_CONTROL_TRACING);
	bare_write(block, TR_CONTROL, control_kept(block) & ~TR_CONTROL_ENABLE);
	return await(block, TR_CONTROL_EMPTY);
}

PERF_INTERNAL int bare_funnel_start(volatile uint32_t *block)
{
	bare_write(block, TR_CONTROL,
		   (bare_read(block, TR_CONTROL) & ~TR_CONTROL_SINK_ERROR) | TR_CONTROL_ENABLE);
	return await(block, TR_CONTROL_ENABLE);
}

PERF_INTERNAL int bare_funnel_stop(volatile uint32_t *block)
{
	bare_write(block, TR_CONTROL,
		   bare_read(block, TR_CONTROL) & ~(TR_CONTROL_SINK_ERROR | TR_CONTROL_ENABLE));
	return await(block, TR_CONTROL_EMPTY);
}

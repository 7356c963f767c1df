// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sinks: where trace is written. SBA is system memory, physically contiguous
 * and within one 4 GiB window, because base, limit and write pointer share
 * their upper half. SRAM is inside the component and is read through a window,
 * never while the component writes: STOP copies it.
 */

#include <linux/bitfield.h>
#include <linux/dma-mapping.h>
#include <linux/of_reserved_mem.h>
#include <linux/overflow.h>
#include <linux/property.h>
#include <linux/slab.h>

#include "regs.h"
#include "sifive_trace.h"

static u32 sink_word(const struct sft_component *c)
{
	return 4 << FIELD_GET(TR_IMPL_SINK_BYTES, c->impl);
}

/*
 * Bytes of the component's SRAM: the write pointer keeps the bits it has. The
 * component must be active and idle; its write pointer is lost.
 */
size_t sft_sink_sram_size(struct sft_component *c)
{
	sft_write(c, TR_SINK_WP, ~0u);
	return (size_t)(sft_read(c, TR_SINK_WP) & ~TR_SINK_WP_WRAPPED) + sink_word(c);
}

/* The memory that the device tree sets aside for this component's trace. */
static struct reserved_mem *reserved_region(struct sft_component *c)
{
	struct reserved_mem *region = NULL;
	struct device_node *np;

	np = of_parse_phandle(c->dev->of_node, "memory-region", 0);
	if (np)
		region = of_reserved_mem_lookup(np);
	of_node_put(np);
	return region;
}

static int map_reserved(struct sft_sink *s, struct reserved_mem *region)
{
	bool coherent = device_get_dma_attr(s->owner->dev) == DEV_DMA_COHERENT;

	if (s->size > region->size)
		return sft_fail(-ENOMEM, "%s: its memory-region has %pa bytes",
				sft_name(s->owner), &region->size);
	s->data = memremap(region->base, s->size,
			   coherent ? MEMREMAP_WB : MEMREMAP_WC);
	if (!s->data)
		return sft_fail(-ENOMEM, "%s: cannot map its memory-region",
				sft_name(s->owner));
	s->address = region->base;
	s->reserved = true;
	/* No trace may show what the memory held before. */
	memset(s->data, 0, s->size);
	return 0;
}

static int create_sba(struct sft_sink *s, size_t wanted)
{
	struct reserved_mem *region = reserved_region(s->owner);
	struct device *dev = s->owner->dev;
	int ret = 0;

	if (!wanted || wanted > SIZE_MAX - s->word)
		return sft_fail(-EINVAL, "buffer of %zu bytes", wanted);
	s->size = round_up(wanted, s->word);
	if (region) {
		ret = map_reserved(s, region);
	} else {
		s->data = dma_alloc_coherent(dev, s->size, &s->address,
					     GFP_KERNEL | __GFP_NOWARN);
		if (!s->data)
			ret = sft_fail(-ENOMEM,
				       "%s: no %zu contiguous bytes without a memory-region",
				       sft_name(s->owner), s->size);
	}
	if (ret)
		return ret;
	if (upper_32_bits(s->address) != upper_32_bits(s->address + s->size - 1) ||
	    !IS_ALIGNED(s->address, s->word)) {
		ret = sft_fail(-ENOMEM, "%s: buffer at %pad is not aligned or crosses 4 GiB",
			       sft_name(s->owner), &s->address);
		sft_sink_destroy(s);
	}
	return ret;
}

/*
 * Fill in size and memory of a sink whose owner, active and idle, and kind are
 * set. @wanted: bytes for SBA; for SRAM it is what the hardware has.
 */
int sft_sink_create(struct sft_sink *s, size_t wanted)
{
	s->word = sink_word(s->owner);
	if (s->kind == SIFIVE_TRACE_SINK_SBA)
		return create_sba(s, wanted);
	s->size = sft_sink_sram_size(s->owner);
	s->data = kvzalloc(s->size, GFP_KERNEL);
	return s->data ? 0 : -ENOMEM;
}

void sft_sink_destroy(struct sft_sink *s)
{
	if (s->kind == SIFIVE_TRACE_SINK_SRAM)
		kvfree(s->data);
	else if (s->reserved)
		memunmap(s->data);
	else if (s->data)
		dma_free_coherent(s->owner->dev, s->size, s->data, s->address);
	s->data = NULL;
}

static int program_register(struct sft_sink *s, u32 offset, u32 value,
			    const char *name)
{
	u32 got;

	sft_write(s->owner, offset, value);
	got = sft_read(s->owner, offset);
	if (got != value)
		return sft_fail(-EIO, "%s: sink %s holds %#x, not %#x",
				sft_name(s->owner), name, got, value);
	return 0;
}

/* Aim the sink registers of an active, idle owner at the buffer's beginning. */
int sft_sink_program(struct sft_sink *s)
{
	u32 base = lower_32_bits(s->address);
	int ret;

	if (s->kind == SIFIVE_TRACE_SINK_SBA) {
		ret = program_register(s, TR_SINK_BASE, base, "base");
		if (!ret)
			ret = program_register(s, TR_SINK_BASE_HIGH,
					       upper_32_bits(s->address),
					       "base high");
		if (ret)
			return ret;
	}
	ret = program_register(s, TR_SINK_LIMIT, base + s->size - s->word, "limit");
	if (!ret)
		ret = program_register(s, TR_SINK_WP, base, "write pointer");
	s->stopped_wp = 0;
	s->wrapped = false;
	return ret;
}

/* Offset of the next byte to be written, and whether the end was passed. */
static void position(const struct sft_sink *s, bool running, u32 *wp, bool *wrapped)
{
	u32 value;

	*wp = s->stopped_wp;
	*wrapped = s->wrapped;
	if (!running || s->kind == SIFIVE_TRACE_SINK_SRAM)
		return;
	value = sft_read(s->owner, TR_SINK_WP);
	*wrapped = value & TR_SINK_WP_WRAPPED;
	*wp = (value & ~TR_SINK_WP_WRAPPED) - lower_32_bits(s->address);
	/* A pointer outside the buffer is broken hardware: believe no byte. */
	if (*wp >= s->size) {
		*wp = 0;
		*wrapped = false;
	}
}

/* The owner has been stopped and is idle: keep where it stands. */
void sft_sink_stopped(struct sft_sink *s)
{
	u32 value = sft_read(s->owner, TR_SINK_WP);
	u32 wp = (value & ~TR_SINK_WP_WRAPPED) - lower_32_bits(s->address);
	u32 *to = s->data;
	size_t bytes;

	s->wrapped = value & TR_SINK_WP_WRAPPED;
	if (wp >= s->size) {
		wp = 0;
		s->wrapped = false;
	}
	s->stopped_wp = wp;
	if (s->kind != SIFIVE_TRACE_SINK_SRAM)
		return;
	sft_write(s->owner, TR_SINK_RP, 0);
	for (bytes = s->wrapped ? s->size : wp; bytes; bytes -= 4)
		*to++ = (__force u32)cpu_to_le32(sft_read(s->owner, TR_SINK_DATA));
}

size_t sft_sink_bytes(const struct sft_sink *s, bool running)
{
	bool wrapped;
	u32 wp;

	position(s, running, &wp, &wrapped);
	return wrapped ? s->size : wp;
}

bool sft_sink_wrapped(const struct sft_sink *s, bool running)
{
	bool wrapped;
	u32 wp;

	position(s, running, &wp, &wrapped);
	return wrapped;
}

/*
 * Copy up to @count captured bytes from @offset on, counted from the oldest.
 * Returns how many, 0 at the end.
 */
size_t sft_sink_copy(const struct sft_sink *s, bool running, void *to,
		     u64 offset, size_t count)
{
	size_t bytes, start, first;
	bool wrapped;
	u32 wp;

	position(s, running, &wp, &wrapped);
	bytes = wrapped ? s->size : wp;
	if (offset >= bytes)
		return 0;
	count = min_t(u64, count, bytes - offset);
	start = wrapped ? wp + offset : offset;
	if (start >= s->size)
		start -= s->size;
	first = min(count, s->size - start);
	memcpy(to, s->data + start, first);
	memcpy(to + first, s->data, count - first);
	return count;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * System memory for SBA sinks: physically contiguous, addressable by the component, and
 * within one 4 GiB window, because base, limit and write pointer share their upper
 * half. The memory is the component's memory-region, or comes from the DMA allocator.
 */

#include <linux/dma-mapping.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/of_reserved_mem.h>
#include <linux/property.h>
#include <linux/sizes.h>

#include <linux/sifive_trace_regs.h>

#include "compat.h"
#include "hardware.h"

/* Maximum number of unsuitable buffers to hold while looking for a suitable one. */
#define ALLOCATE_TRIES	4

/* A trace must not expose the memory's previous contents. */
void sft_memory_clear(void *data, size_t count)
{
	size_t step;

	for (; count; count -= step, data += step) {
		step = min_t(size_t, count, SZ_1M);
		memset(data, 0, step);
		cond_resched();
	}
}

/*
 * Return the highest address to which an SBA sink can write. It depends on the number of bits that
 * SinkBaseHigh implements. The component must be active and idle.
 */
static u64 find_reach(struct sft_component *c)
{
	u32 high;

	sft_write(c, TR_SINK_BASE_HIGH, ~0u);
	high = sft_read(c, TR_SINK_BASE_HIGH);
	sft_write(c, TR_SINK_BASE_HIGH, 0);
	if (high != ~0u)
		high = BIT(ffz(high)) - 1;
	return min_not_zero(c->dev->bus_dma_limit, (u64)high << 32 | U32_MAX);
}

static bool crosses(const struct sft_sink *s)
{
	return upper_32_bits(s->address) != upper_32_bits(s->address + s->size - 1);
}

/* Return whether Linux uses the region for other purposes until the DMA allocator needs it. */
static bool is_lent(const struct device_node *np)
{
	return IS_ENABLED(CONFIG_DMA_CMA) && of_property_read_bool(np, "reusable");
}

/*
 * Return whether Linux uses the region as ordinary memory. Linux boots even if it cannot reserve a
 * region, for example because its own image or initramfs is in it.
 */
static bool is_ram(const struct reserved_mem *region)
{
	return region_intersects(region->base, region->size, IORESOURCE_SYSTEM_RAM,
				 IORES_DESC_NONE) != REGION_DISJOINT;
}

/* Return whether part of the region is also reserved for another purpose, such as firmware. */
static bool is_shared(const struct device_node *np, const struct reserved_mem *region)
{
	struct device_node *parent = of_get_parent(np), *child;
	const struct reserved_mem *other;
	bool shared = false;

	for_each_child_of_node(parent, child) {
		other = child == np ? NULL : of_reserved_mem_lookup(child);
		if (other && other->base < region->base + region->size &&
		    region->base < other->base + other->size)
			shared = true;
	}
	of_node_put(parent);
	return shared;
}

static const char *find_fault(const struct sft_component *c, const struct device_node *np,
			      const struct reserved_mem *region)
{
	if (!region)
		return "is not reserved";
	if (is_shared(np, region))
		return "overlaps another";
	if (of_property_read_bool(np, "reusable"))
		return c->pool ? NULL : "is reusable, but not a CMA pool";
	if (is_ram(region))
		return of_property_read_bool(np, "no-map") ?
		       "is memory that Linux uses" : "needs no-map";
	if (!c->pool && (c->dev->dma_range_map || device_iommu_mapped(c->dev)))
		return "is translated";
	return NULL;
}

/**
 * sft_memory_region() - find the memory reserved in the device tree for a component's trace
 * @c:		the component
 * @fault:	why the memory is unusable, as text to follow "its memory-region" in a message;
 *		NULL if the memory is usable or if there is none
 *
 * Return: the region, or NULL if there is none.
 */
const struct reserved_mem *sft_memory_region(const struct sft_component *c,
					     const char **fault)
{
	const struct reserved_mem *region = NULL;
	struct device_node *np;

	*fault = NULL;
	if (!of_find_property(c->dev->of_node, "memory-region", NULL))
		return NULL;
	np = of_parse_phandle(c->dev->of_node, "memory-region", 0);
	if (np)
		region = of_reserved_mem_lookup(np);
	*fault = find_fault(c, np, region);
	of_node_put(np);
	return region;
}

/**
 * sft_memory_most() - compute the largest buffer that a sink can have
 * @region:	memory-region of the component, or NULL if it has none
 *
 * The result is limited by the sink's address range and by free memory.
 *
 * Return: the size in bytes, or 0 if it depends on how much CMA memory is in use.
 */
u64 sft_memory_most(const struct reserved_mem *region)
{
	u64 end, window;

	if (!region)
		return IS_ENABLED(CONFIG_DMA_CMA) ? 0 : (u64)PAGE_SIZE << SFT_PAGE_ORDER_MAX;
	end = (u64)region->base + region->size;
	window = round_up((u64)region->base + 1, SZ_4G);
	if (end <= window)
		return region->size;
	return max(window - region->base, min_t(u64, end - window, SZ_4G));
}

static void release_pool(void *dev)
{
	of_reserved_mem_device_release(dev);
}

/* A memory-region that is a pool is assigned to the device, for the DMA allocator. */
int sft_memory_claim(struct sft_component *c)
{
	struct device_node *np = of_parse_phandle(c->dev->of_node, "memory-region", 0);
	const struct reserved_mem *region = np ? of_reserved_mem_lookup(np) : NULL;
	bool usable = region && (is_lent(np) || !is_ram(region));

	of_node_put(np);
	c->pool = usable && !of_reserved_mem_device_init(c->dev);
	return c->pool ? devm_add_action_or_reset(c->dev, release_pool, c->dev) : 0;
}

static int out_of_reach(struct sft_sink *s, const struct reserved_mem *region,
			u64 reach, struct sft_why *why)
{
	return sft_fail(why, -ENOMEM,
			"%s: memory-region at %pa: the component can write only up to %#llx",
			sft_name(s->owner), &region->base, reach);
}

static int check_region(struct sft_sink *s, const struct reserved_mem *region,
			u64 reach, struct sft_why *why)
{
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++)
		if (sft_hw.capture.sink[i].reserved &&
		    sft_hw.capture.sink[i].region == region)
			return sft_fail(why, -EOPNOTSUPP, "%s: its memory-region is in use by %s",
					sft_name(s->owner),
					sft_name(sft_hw.capture.sink[i].owner));
	s->address = region->base;
	if (s->size > region->size)
		return sft_fail(why, -ENOMEM,
				"%s: %zu bytes requested, but its memory-region has at most %llu",
				sft_name(s->owner), s->size, sft_memory_most(region));
	/* Use the range above the boundary if the range below it is too small. */
	if (crosses(s))
		s->address = round_up(s->address, SZ_4G);
	if (s->address + s->size > region->base + region->size)
		return sft_fail(why, -ENOMEM,
				"%s: %zu bytes requested, but its memory-region has at most %llu within 4 GiB",
				sft_name(s->owner), s->size, sft_memory_most(region));
	if (s->address + s->size - 1 > reach)
		return out_of_reach(s, region, reach, why);
	return 0;
}

/* Map as much of the region as the sink needs. */
static int map_region(struct sft_sink *s, const struct reserved_mem *region,
		      bool coherent, u64 reach, struct sft_why *why)
{
	int ret = check_region(s, region, reach, why);

	if (ret)
		return ret;
	s->data = memremap(s->address, s->size, coherent ? MEMREMAP_WB : MEMREMAP_WC);
	if (!s->data)
		return sft_fail(why, -ENOMEM, "%s: cannot map its memory-region",
				sft_name(s->owner));
	s->region = region;
	s->reserved = true;
	return 0;
}

/*
 * Return whether the component can use the buffer. A pool ignores the DMA mask, so check the
 * address.
 */
static bool fits(const struct sft_sink *s, u64 reach)
{
	return !crosses(s) && s->address + s->size - 1 <= reach;
}

/* Allocate a buffer. Hold an unsuitable buffer while looking for another buffer. */
static int try_allocate(struct sft_sink *s, u64 reach, unsigned int tries)
{
	struct device *dev = s->owner->dev;
	dma_addr_t address;
	void *data;
	int ret;

	data = dma_alloc_coherent(dev, s->size, &address, GFP_KERNEL | __GFP_NOWARN);
	if (!data)
		return -ENOMEM;
	s->data = data;
	s->address = address;
	if (fits(s, reach))
		return 0;
	ret = tries ? try_allocate(s, reach, tries - 1) : -ENOMEM;
	dma_free_coherent(dev, s->size, data, address);
	return ret;
}

static int allocate(struct sft_sink *s, const struct reserved_mem *pool, u64 reach,
		    struct sft_why *why)
{
	const u64 most = sft_memory_most(pool);
	struct device *dev = s->owner->dev;
	int ret;

	ret = dma_set_mask_and_coherent(dev, reach);
	if (ret)
		return sft_fail(why, ret, "%s: no memory within its reach, up to address %#llx",
				sft_name(s->owner), reach);
	ret = try_allocate(s, reach, ALLOCATE_TRIES);
	if (!ret)
		return 0;
	s->data = NULL;
	if (pool)
		return sft_fail(why, ret,
				"%s: no %zu bytes up to %#llx in its pool, which has %llu at most",
				sft_name(s->owner), s->size, reach, most);
	if (!most)
		return sft_fail(why, ret,
				"%s: no %zu contiguous bytes up to %#llx without a memory-region",
				sft_name(s->owner), s->size, reach);
	return sft_fail(why, ret,
			"%s: no %zu contiguous bytes up to %#llx; %llu at most without a memory-region",
			sft_name(s->owner), s->size, reach, most);
}

/* Obtain at least @wanted bytes of memory for an SBA sink whose owner is active and idle. */
int sft_memory_take(struct sft_sink *s, size_t wanted, struct sft_why *why)
{
	bool coherent = device_get_dma_attr(s->owner->dev) == DEV_DMA_COHERENT;
	const struct reserved_mem *region;
	u64 reach = find_reach(s->owner);
	const char *fault;
	int ret;

	region = sft_memory_region(s->owner, &fault);
	if (fault)
		return sft_fail(why, -EOPNOTSUPP, "%s: its memory-region %s",
				sft_name(s->owner), fault);
	if (!wanted || wanted > SIZE_MAX - s->word)
		return sft_fail(why, -EINVAL, "invalid buffer size: %zu bytes", wanted);
	s->size = round_up(wanted, s->word);
	if (region && region->base > reach)
		ret = out_of_reach(s, region, reach, why);
	else if (region && !s->owner->pool)
		ret = map_region(s, region, coherent, reach, why);
	else
		ret = allocate(s, region, reach, why);
	if (ret)
		return ret;
	sft_memory_clear(s->data, s->size);
	if (IS_ALIGNED(s->address, s->word))
		return 0;
	ret = sft_fail(why, -ENOMEM, "%s: buffer at %pad is not aligned to its %u bytes",
		       sft_name(s->owner), &s->address, s->word);
	sft_sink_release(s);
	return ret;
}

void sft_memory_release(struct sft_sink *s)
{
	if (s->reserved)
		memunmap(s->data);
	else if (s->data)
		dma_free_coherent(s->owner->dev, s->size, s->data, s->address);
}

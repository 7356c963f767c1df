// SPDX-License-Identifier: GPL-2.0-only
/*
 * The components, and how trace flows between them. The lists are in order of address,
 * so that an encoder's index does not depend on the order of probing.
 */

#include <linux/device.h>

#include "hardware.h"

struct sft_hardware sft_hw = {
	.lock = __MUTEX_INITIALIZER(sft_hw.lock),
	.encoders = LIST_HEAD_INIT(sft_hw.encoders),
	.funnels = LIST_HEAD_INIT(sft_hw.funnels),
};

static const struct sft_hardware_ops *user;

/* Number of encoders that are bound or being bound. */
static unsigned int reserved;

void sft_lock(void)
{
	mutex_lock(&sft_hw.lock);
}

void sft_unlock(void)
{
	mutex_unlock(&sft_hw.lock);
}

/* Called before the first component is bound. */
void sft_topology_init(const struct sft_hardware_ops *ops)
{
	user = ops;
}

unsigned int sft_topology_count(struct list_head *list)
{
	struct list_head *at;
	unsigned int n = 0;

	list_for_each(at, list)
		n++;
	return n;
}

static void insert_sorted(struct sft_component *c, struct list_head *list)
{
	struct sft_component *at;

	list_for_each_entry(at, list, node)
		if (at->phys > c->phys)
			break;
	list_add_tail(&c->node, &at->node);
}

static void resolve(struct sft_component *c)
{
	struct sft_component *f;

	c->down = NULL;
	for_each_funnel(f)
		if (c->down_of && f->dev->of_node == c->down_of)
			c->down = f;
}

/* Reject a device tree that wires funnels in a cycle. */
static void break_circle(struct sft_component *c)
{
	unsigned int steps = sft_topology_count(&sft_hw.funnels);
	struct sft_component *f;

	for (f = c->down; f; f = f->down)
		if (!steps--) {
			dev_warn(c->dev, "funnels form a loop: output ignored\n");
			c->down = NULL;
			return;
		}
}

/* Renumber the encoders and look up each component's funnel. */
static void refresh(void)
{
	struct sft_component *f;
	struct sft_encoder *e;
	unsigned int index = 0;

	for_each_funnel(f)
		resolve(f);
	for_each_funnel(f)
		break_circle(f);
	for_each_encoder(e) {
		e->index = index++;
		resolve(&e->c);
	}
}

struct sft_encoder *sft_topology_encoder(unsigned int index)
{
	struct sft_encoder *e;

	for_each_encoder(e)
		if (e->index == index)
			return e;
	return NULL;
}

static bool has_memory(const struct sft_component *c)
{
	return sft_has_sink(c, SIFIVE_TRACE_SINK_SRAM) ||
	       sft_has_sink(c, SIFIVE_TRACE_SINK_SBA);
}

/* Return an upper bound on the number of sinks of a capture. */
unsigned int sft_topology_sinks(void)
{
	struct sft_component *f;
	struct sft_encoder *e;
	unsigned int n = 0;

	for_each_encoder(e)
		n += has_memory(&e->c);
	for_each_funnel(f)
		n += has_memory(f);
	return min_t(unsigned int, n, SIFIVE_TRACE_MAX_ENCODERS);
}

static void release_number(void *unused)
{
	sft_lock();
	reserved--;
	sft_unlock();
}

/*
 * Reserve a number for an encoder while its device is bound; -ENOSPC if all are taken.
 */
int sft_topology_reserve(struct device *dev)
{
	bool free;

	sft_lock();
	free = reserved < SIFIVE_TRACE_MAX_ENCODERS;
	reserved += free;
	sft_unlock();
	return free ? devm_add_action_or_reset(dev, release_number, NULL) : -ENOSPC;
}

/*
 * Add a component. Nothing may use the hardware in the meantime, because adding a component
 * renumbers the encoders, and removing a component may remove its sink.
 */
static void add(struct sft_component *c, struct list_head *list)
{
	user->change();
	insert_sorted(c, list);
	refresh();
	user->changed();
	sft_debug_add(c);
}

void sft_topology_add_encoder(struct sft_encoder *e)
{
	add(&e->c, &sft_hw.encoders);
}

void sft_topology_add_funnel(struct sft_component *f)
{
	add(f, &sft_hw.funnels);
}

void sft_topology_remove(struct sft_component *c)
{
	sft_debug_remove(c);
	user->change();
	list_del(&c->node);
	refresh();
	user->changed();
}

/* Called for each component that is bound. */
void sft_topology_shutdown(struct platform_device *pdev)
{
	user->shutdown();
}

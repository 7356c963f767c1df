// SPDX-License-Identifier: GPL-2.0-only
/*
 * The routes of a capture: its encoders, and the funnels and sinks downstream of them. Called with
 * the system locked.
 */

#include <linux/cpu.h>
#include <linux/slab.h>

#include "hardware.h"

/* Return a mask of the encoders selected by default: those of online CPUs. */
static u64 usable_encoders(void)
{
	struct sft_encoder *e;
	u64 mask = 0;

	for_each_encoder(e)
		if (e->cpu >= 0 && cpu_active(e->cpu))
			mask |= BIT_ULL(e->index);
	return mask;
}

/*
 * Find the component whose sink of this kind receives an encoder's trace: the last such component
 * on the encoder's route, so that as many encoders as possible share a sink. Returns NULL if there
 * is none.
 */
static struct sft_component *destination(struct sft_encoder *e, u32 kind)
{
	struct sft_component *c, *owner = NULL;

	for (c = &e->c; c; c = sft_has_sink(c, SIFIVE_TRACE_SINK_FUNNEL) ? c->down : NULL)
		if (sft_has_sink(c, kind))
			owner = c;
	return owner;
}

/* Mark the components on an encoder's route with the sink kind that each uses. */
static struct sft_component *route(struct sft_encoder *e, u32 kind)
{
	struct sft_component *c, *owner = destination(e, kind);

	for (c = &e->c; c != owner; c = c->down) {
		c->used = true;
		c->kind = SIFIVE_TRACE_SINK_FUNNEL;
	}
	owner->used = true;
	owner->kind = kind;
	return owner;
}

/* Return whether an encoder takes part in the capture. */
bool sft_route_has(const struct sft_encoder *e)
{
	return sft_hw.capture.encoders & BIT_ULL(e->index);
}

/* Find the CPUs with an active stream. */
void sft_route_cpus(struct cpumask *cpus)
{
	struct sft_encoder *e;

	for_each_encoder(e)
		if (sft_route_has(e) && !e->ended)
			cpumask_set_cpu(e->cpu, cpus);
}

/* Return the sink of an encoder in the capture. */
struct sft_sink *sft_route_end(const struct sft_encoder *e)
{
	struct sft_sink *s = sft_hw.capture.sink;

	while (!(s->encoders & BIT_ULL(e->index)))
		s++;
	return s;
}

/* Return a component's sink in the capture, or NULL. */
struct sft_sink *sft_route_sink(const struct sft_component *owner)
{
	struct sft_capture *cap = &sft_hw.capture;
	unsigned int i;

	for (i = 0; i < cap->sinks; i++)
		if (cap->sink[i].owner == owner)
			return &cap->sink[i];
	return NULL;
}

/* Only a timestamp unit with a clock can have a prescaler, and some such units have none. */
static int check_prescale(struct sft_encoder *e,
			  const struct sifive_trace_config *config, struct sft_why *why)
{
	struct sft_component *master = sft_timestamp_master(e);

	if (config->flags & SIFIVE_TRACE_CONFIG_NO_TIMESTAMP || !master ||
	    master->prescales & BIT(config->prescale))
		return 0;
	return sft_fail(why, -EOPNOTSUPP, "%s: has no timestamp prescale %u: use prescale 0",
			sft_name(master), config->prescale);
}

/*
 * Called before the current configuration is released: check that the hardware supports the new
 * one, whose form is valid. Fills in the encoders.
 */
int sft_route_check(struct sifive_trace_config *config, struct sft_why *why)
{
	u64 encoders = config->encoders ?: usable_encoders();
	struct sft_encoder *e;
	int ret;

	if (!encoders)
		return sft_fail(why, -EOPNOTSUPP, "no online CPU has a trace encoder");
	for_each_encoder(e) {
		if (!(encoders & BIT_ULL(e->index)))
			continue;
		if (e->cpu < 0 || !cpu_active(e->cpu))
			return sft_fail(why, -EOPNOTSUPP, "%s: its hart %llu is not online",
					sft_name(&e->c), e->hart);
		if (!destination(e, config->sink))
			return sft_fail(why, -EOPNOTSUPP, "%s: its route has no %s sink",
					sft_name(&e->c),
					config->sink == SIFIVE_TRACE_SINK_SBA ?
					"SBA" : "SRAM");
		ret = check_prescale(e, config, why) ?:
		      sft_instruction_check(e, config->instruction.mode, why);
		if (ret)
			return ret;
	}
	config->encoders = encoders;
	return 0;
}

/* Route each selected encoder and collect the sinks. */
int sft_route_all(void)
{
	struct sft_capture *cap = &sft_hw.capture;
	struct sft_component *owner;
	struct sft_encoder *e;
	struct sft_sink *s;

	cap->sink = kcalloc(sft_topology_count(&sft_hw.encoders),
			    sizeof(*cap->sink), GFP_KERNEL);
	if (!cap->sink)
		return -ENOMEM;
	for_each_encoder(e) {
		if (!sft_route_has(e))
			continue;
		owner = route(e, cap->kind);
		s = sft_route_sink(owner);
		if (!s) {
			s = &cap->sink[cap->sinks++];
			s->owner = owner;
			s->kind = cap->kind;
		}
		s->encoders |= BIT_ULL(e->index);
		s->src_bits = sft_encoder_src_bits(e);
	}
	return 0;
}

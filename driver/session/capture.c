// SPDX-License-Identifier: GPL-2.0-only
/*
 * A capture: its components and buffers, START and STOP. All functions here are called with
 * the system locked.
 */

#include <linux/device.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include <linux/sifive_trace_regs.h>

#include "session.h"

/* Reset the components of the capture. */
int sft_capture_reset(struct sft_why *why)
{
	struct sft_component *f;
	struct sft_encoder *e;
	int ret;

	for_each_encoder(e) {
		if (!sft_route_has(e) || !sft_component_reachable(&e->c))
			continue;
		ret = sft_component_reset(&e->c, why);
		if (ret)
			return ret;
	}
	for_each_funnel(f) {
		if (!f->used)
			continue;
		ret = sft_component_reset(f, why);
		if (ret)
			return ret;
	}
	return 0;
}

/* Start the master first, because a slave shows the master's time as soon as it starts. */
static int start_timestamp(struct sft_encoder *e, struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	struct sft_component *master;
	int ret;

	e->ts_readable = false;
	if (cap->flags & SIFIVE_TRACE_CONFIG_NO_TIMESTAMP)
		return 0;
	master = sft_timestamp_master(e);
	if (!master)
		return 0;
	ret = sft_timestamp_start(master, cap->prescale, why);
	if (!ret && master != &e->c)
		ret = sft_timestamp_start(&e->c, cap->prescale, why);
	if (ret)
		return ret;
	if (!master->ts_hz)
		sft_timestamp_measure(master, cap->prescale);
	e->ts_readable = sft_timestamp_ticks(&e->c);
	return 0;
}

/* Record that the clocks of these encoders, and so of their sinks, have restarted. */
static void restart_clocks(u64 encoders)
{
	struct sft_capture *cap = &sft_hw.capture;
	unsigned int i;

	for (i = 0; i < cap->sinks; i++)
		if (cap->sink[i].encoders & encoders && cap->sink[i].start.ns)
			cap->sink[i].restarted = true;
}

/* Program all components after their reset; @program sets up a sink. */
int sft_capture_program(int (*program)(struct sft_sink *s, struct sft_why *why),
			struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	struct sft_component *f;
	struct sft_encoder *e;
	unsigned int i;
	int ret;

	for (i = 0; i < cap->sinks; i++) {
		if (!sft_component_reachable(cap->sink[i].owner))
			continue;
		ret = program(&cap->sink[i], why);
		if (ret)
			return ret;
	}
	for_each_encoder(e) {
		if (!sft_route_has(e) || !sft_component_reachable(&e->c))
			continue;
		ret = start_timestamp(e, why);
		if (ret)
			return ret;
		sft_encoder_program(e, cap);
	}
	if (!(cap->flags & SIFIVE_TRACE_CONFIG_NO_TIMESTAMP))
		sft_timestamp_align();
	restart_clocks(~0ull);
	for_each_funnel(f)
		if (f->used)
			sft_funnel_program(f, cap);
	return 0;
}

static void deactivate(struct sft_component *c)
{
	c->stuck = !sft_component_deactivate(c);
	if (c->stuck)
		dev_err(c->dev, "cannot be disabled\n");
}

/*
 * Deactivate all components, so that none of them continues to write to memory. An unreachable
 * encoder was stopped when its hart went offline.
 */
void sft_capture_quiesce(void)
{
	struct sft_component *f;
	struct sft_encoder *e;

	for_each_encoder(e)
		if (e->c.used && sft_component_reachable(&e->c))
			deactivate(&e->c);
	for_each_funnel(f)
		if (f->used)
			deactivate(f);
}

/* Free the capture's buffers and release its components. */
void sft_capture_free(void)
{
	struct sft_capture *cap = &sft_hw.capture;
	struct sft_component *f;
	struct sft_encoder *e;
	unsigned int i;

	sft_capture_quiesce();
	sft_drain_clear();
	sft_snapshot_clear();
	for (i = 0; i < cap->sinks; i++) {
		/* Leak the buffer rather than free memory that is still a DMA target. */
		if (cap->sink[i].owner->stuck)
			dev_err(cap->sink[i].owner->dev, "buffer leaked: the hardware may still be writing to it\n");
		else
			sft_sink_release(&cap->sink[i]);
	}
	kfree(cap->sink);
	memset(cap, 0, sizeof(*cap));
	memset(&sft.state, 0, sizeof(sft.state));
	sft_mapping_clear();
	sft_health_clear();
	for_each_encoder(e) {
		e->c.used = false;
		e->can_stall = false;
		e->ended = false;
		e->ts_readable = false;
	}
	for_each_funnel(f)
		f->used = false;
}

/*
 * Return whether a component's own sink is full. Such a component is not started, because it would
 * overwrite the sink's oldest bytes.
 */
static bool is_at_end(const struct sft_component *c)
{
	const struct sft_sink *s = sft_route_sink(c);

	return s && sft_sink_full(s);
}

/* Start each funnel after those downstream of it, because a stopped funnel drops messages. */
int sft_capture_start_funnels(struct sft_why *why)
{
	unsigned int level, levels = sft_topology_count(&sft_hw.funnels);
	struct sft_component *f;
	int ret = 0;

	for (level = 0; level < levels; level++)
		for_each_funnel(f)
			if (!ret && f->used && sft_funnel_distance(f) == level &&
			    !is_at_end(f))
				ret = sft_funnel_start(f, why);
	return ret;
}

/* Stop each funnel after all components upstream of it. */
int sft_capture_stop_funnels(struct sft_why *why)
{
	unsigned int level = sft_topology_count(&sft_hw.funnels);
	struct sft_component *f;
	int ret = 0, err;

	while (level--)
		for_each_funnel(f) {
			if (!f->used || sft_funnel_distance(f) != level)
				continue;
			err = sft_funnel_stop(f, why);
			ret = ret ?: err;
		}
	return ret;
}

/* Restore an encoder that a program changed through its stimulus page. */
static int restore_encoder(struct sft_encoder *e, struct sft_why *why)
{
	struct sft_sink *s = sft_route_sink(&e->c);
	int ret;

	ret = sft_component_reset(&e->c, why);
	if (!ret && s)
		ret = sft_sink_restore(s, why);
	if (!ret)
		ret = start_timestamp(e, why);
	if (!ret)
		sft_encoder_program(e, &sft_hw.capture);
	restart_clocks(BIT_ULL(e->index));
	return ret;
}

/* Restore registers that programs changed through their stimulus pages. */
int sft_capture_restore(struct sft_why *why)
{
	struct sft_encoder *e;
	int ret = 0;

	for_each_encoder(e)
		if (!ret && sft_route_has(e) && !e->ended &&
		    sft_component_changed(&e->c, false))
			ret = restore_encoder(e, why);
	return ret;
}

/* A pause can end if any sink has room; a full sink remains stopped. */
static bool has_no_room(void)
{
	unsigned int i;

	if (!sft.state.paused)
		return sft_capture_full(SFT_ALL_SINKS);
	for (i = 0; i < sft_hw.capture.sinks; i++)
		if (!sft_sink_full(&sft_hw.capture.sink[i]))
			return false;
	return true;
}

/* Check that a stopped capture may start. */
int sft_capture_may_start(bool rewind, struct sft_why *why)
{
	if (sft.sleeping)
		return sft_fail(why, -EBUSY, "the system is suspending or shutting down");
	if (sft.state.broken)
		return sft_fail(why, -ESTALE, "components did not resume: CONFIG again");
	if (!rewind && has_no_room())
		return sft_fail(why, -ENOSPC, "the buffer is full: %llu bytes",
				sft_capture_bytes(SFT_ALL_SINKS));
	if (!rewind && sft.state.lost)
		return sft_fail(why, -ESTALE,
				"the capture was lost during system suspend: START with REWIND");
	return 0;
}

int sft_capture_start(bool rewind, struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	struct sft_encoder *e;
	unsigned int i;
	int ret;

	if (cap->running)
		return 0;
	ret = sft_capture_may_start(rewind, why);
	if (ret)
		return ret;
	ret = sft_capture_restore(why);
	/* Check errors before emptying the sinks, because a full sink can be the cause of one. */
	if (!ret)
		sft_health_start();
	for (i = 0; rewind && i < cap->sinks && !ret; i++)
		ret = sft_sink_program(&cap->sink[i], why);
	if (rewind) {
		sft_drain_rewind();
		sft.state.rewinds++;
		sft_sampling_rewind();
	}
	for (i = 0; i < cap->sinks; i++) {
		if (!rewind && cap->sink[i].start.ns)
			continue;
		sft_timestamp_sample(&cap->sink[i], &cap->sink[i].start);
		cap->sink[i].restarted = false;
	}
	sft.state.lost = false;
	sft_drain_start();
	cap->running = true;
	if (!ret)
		ret = sft_capture_start_funnels(why);
	for_each_encoder(e)
		if (!ret && sft_route_has(e) && !e->ended && !is_at_end(&e->c))
			ret = sft_encoder_start(e, why);
	if (ret) {
		sft_capture_stop(why);
		return ret;
	}
	sft_sampling_start();
	sft_switches_start();
	sft_instruction_start();
	sft_watch_start();
	return 0;
}

static void finish_stores_here(void *unused)
{
	mb();	/* order programs' earlier stores before the stop */
}

/* Wait for stores to reach the encoders. A store that arrives after the stop is lost. */
static void finish_stores(void)
{
	struct sft_encoder *e;

	for_each_encoder(e)
		if (sft_route_has(e) && !e->ended)
			smp_call_function_single(e->cpu, finish_stores_here, NULL, 1);
}

/* Stop all components, even after an error; return the first error. */
int sft_capture_stop(struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	const struct sft_component *failed;
	struct sft_encoder *e;
	unsigned int i;
	int ret = 0, err;

	sft.state.asleep = false;
	if (!cap->running)
		return 0;
	sft_sampling_stop();
	sft_switches_stop();
	sft_instruction_stop();
	finish_stores();
	sft_health_check();
	for_each_encoder(e) {
		if (!sft_route_has(e) || e->ended)
			continue;
		err = sft_encoder_stop(e, why);
		ret = ret ?: err;
	}
	err = sft_capture_stop_funnels(why);
	ret = ret ?: err;
	cap->running = false;
	for (i = 0; i < cap->sinks; i++) {
		sft_sink_stopped(&cap->sink[i], ret != -ETIMEDOUT);
		sft_timestamp_sample(&cap->sink[i], &cap->sink[i].stop);
	}
	sft_drain_stop();
	sft_health_check();
	failed = sft_health_failed();
	if (!ret && failed)
		ret = sft_fail(why, -EIO, "%s: sink error, bytes are missing", sft_name(failed));
	sft_wake_pollers();
	return ret;
}

/* Return whether the session has started its capture, which may be paused. */
bool sft_capture_on(void)
{
	return sft_hw.capture.running || sft.state.paused;
}

/* Called when the session ends: stop the hardware and keep the data. */
void sft_capture_release(void)
{
	sft_capture_stop(NULL);
	sft_capture_end_pause();
	sft_capture_quiesce();
}

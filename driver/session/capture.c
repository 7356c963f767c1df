// SPDX-License-Identifier: GPL-2.0-only
/*
 * A capture: CONFIG, START, STOP and reading its data. All functions here are called
 * with the system locked.
 */

#include <linux/cpu.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include <linux/sifive_trace_regs.h>

#include "session.h"

static int reset_all(struct sft_why *why)
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

/* Start the master first: a slave shows the master's time as soon as it starts. */
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

static int create_sinks(size_t wanted, u64 *smallest, struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	unsigned int i;
	int ret;

	*smallest = U64_MAX;
	for (i = 0; i < cap->sinks; i++) {
		ret = sft_sink_take(&cap->sink[i], wanted, why);
		if (ret)
			return ret;
		*smallest = min_t(u64, *smallest, cap->sink[i].size);
	}
	return 0;
}

/* Program all components after their reset; @program sets up a sink. */
static int program_all(int (*program)(struct sft_sink *s, struct sft_why *why),
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
 * Deactivate all components, so that none writes to memory any more. An unreachable
 * encoder was stopped when its hart went offline.
 */
static void quiesce(void)
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

	quiesce();
	sft_drain_clear();
	sft_snapshot_clear();
	for (i = 0; i < cap->sinks; i++) {
		/* Leak the buffer rather than free memory that is still a DMA target. */
		if (cap->sink[i].owner->stuck)
			dev_err(cap->sink[i].owner->dev, "buffer leaked: the hardware may still write to it\n");
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

/* Start the funnel with the sink first: a stopped funnel drops messages. */
static int start_funnels(struct sft_why *why)
{
	unsigned int level, levels = sft_topology_count(&sft_hw.funnels);
	struct sft_component *f;
	int ret = 0;

	for (level = 0; level < levels; level++)
		for_each_funnel(f)
			if (!ret && f->used && sft_funnel_distance(f) == level)
				ret = sft_funnel_start(f, why);
	return ret;
}

/* Stop the funnel with the sink last, after all that feed it. */
static int stop_funnels(struct sft_why *why)
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

/* Trace the self-test's stores on one encoder, and read its messages back. */
static int test_encoder(struct sft_encoder *e, struct sft_sink *s)
{
	int ret, err;

	ret = sft_sink_program(s, NULL);
	if (!ret)
		ret = start_funnels(NULL);
	if (!ret)
		ret = sft_encoder_start(e, NULL);
	if (!ret)
		sft_selftest_store(e);
	err = sft_encoder_stop(e, NULL);
	ret = ret ?: err;
	err = stop_funnels(NULL);
	ret = ret ?: err;
	sft_sink_stopped(s, !ret);
	if (!ret)
		sft_selftest_read(e, s->data, sft_sink_bytes(s));
	memset(s->data, 0, sft_sink_bytes(s));
	return ret;
}

/*
 * Check the format of the encoders' messages before a capture. Encoders drop messages
 * meanwhile, so that none stalls its hart. Errors are ignored: START and STOP report
 * them.
 */
static void test_encoders(void)
{
	struct sft_capture *cap = &sft_hw.capture, wanted = *cap;
	struct sft_encoder *e;
	unsigned int i;
	int ret;

	cap->flags = SIFIVE_TRACE_CONFIG_OVERFLOW;
	cap->channels = ~0u;
	ret = program_all(sft_sink_program, NULL);
	for (i = 0; i < cap->sinks; i++)
		for_each_encoder(e)
			if (!ret && cap->sink[i].encoders & BIT_ULL(e->index))
				ret = test_encoder(e, &cap->sink[i]);
	cap->flags = wanted.flags;
	cap->channels = wanted.channels;
}

/* Store messages until a sink, written from its beginning, has wrapped. */
static int fill(const struct sft_sink *s, struct sft_why *why)
{
	struct sft_encoder *e = sft_topology_encoder(__ffs64(s->encoders));
	unsigned int stimulus = __ffs(sft_hw.capture.channels);
	size_t stores;

	for (stores = 0; stores < s->size && !sft_sink_wrapped(s); stores++) {
		if (!sft_encoder_store(e, stimulus, ~0u))
			break;
		cond_resched();
	}
	if (sft_sink_wrapped(s))
		return 0;
	return sft_fail(why, -EIO, "%s: its SRAM cannot be overwritten", sft_name(s->owner));
}

/*
 * Overwrite old data: a program that maps the encoder's page can read its SRAM. Only
 * trace messages can write an SRAM.
 */
static int erase_sram(struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	u32 flags = cap->flags;
	unsigned int i;
	int ret, err;

	cap->flags = SIFIVE_TRACE_CONFIG_RING | SIFIVE_TRACE_CONFIG_NO_TIMESTAMP;
	ret = program_all(sft_sink_program, why);
	if (!ret)
		ret = sft_capture_start(false, why);
	for (i = 0; i < cap->sinks && !ret; i++)
		ret = fill(&cap->sink[i], why);
	err = sft_capture_stop(why);
	cap->flags = flags;
	return ret ?: err ?: reset_all(why);
}

/* The caller has checked @config. After an error nothing is configured. */
int sft_capture_config(struct sifive_trace_config *config, struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	u64 smallest;
	int ret;

	sft_capture_free();
	sft_switches_release();
	sft_sampling_clear();
	sft_switches_clear();
	sft.captures++;
	cap->flags = config->flags;
	if (cap->flags & SIFIVE_TRACE_CONFIG_DRAIN)
		cap->flags |= SIFIVE_TRACE_CONFIG_RING;
	cap->kind = config->sink;
	cap->prescale = config->prescale;
	cap->channels = config->channels;
	cap->encoders = config->encoders;
	sft.state.watermark = config->watermark;
	ret = sft_route_all();
	if (!ret)
		ret = reset_all(why);
	if (!ret)
		ret = create_sinks(config->buffer, &smallest, why);
	if (!ret) {
		test_encoders();
		ret = reset_all(why);
	}
	if (!ret && cap->kind == SIFIVE_TRACE_SINK_SRAM)
		ret = erase_sram(why);
	if (!ret)
		ret = program_all(sft_sink_program, why);
	if (!ret)
		ret = sft_drain_config(why);
	if (ret) {
		sft_capture_free();
		return ret;
	}
	/* Errors that CONFIG's own stores caused are not the session's. */
	sft_health_clear();
	config->sinks = cap->sinks;
	config->buffer = smallest;
	return 0;
}

/* Whether a sink has reached its end: a ring has wrapped, other buffers are full. */
static u32 sink_end(const struct sft_sink *s)
{
	if (!sft_sink_wrapped(s))
		return 0;
	return sft_hw.capture.flags & SIFIVE_TRACE_CONFIG_RING ?
	       SIFIVE_TRACE_STATUS_WRAPPED : SIFIVE_TRACE_STATUS_FULL;
}

/* Whether a reader of @sink, which may be SFT_ALL_SINKS, reads sink number @i. */
static bool reads(int sink, unsigned int i)
{
	return sink == SFT_ALL_SINKS || sink == (int)i;
}

bool sft_capture_full(int sink)
{
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++)
		if (reads(sink, i) && sft_sink_full(&sft_hw.capture.sink[i]))
			return true;
	return false;
}

/* Whether a component between an encoder and the sink has reported an error. */
static bool has_failed(const struct sft_sink *s)
{
	const struct sft_component *c;
	struct sft_encoder *e;

	for_each_encoder(e) {
		if (!(s->encoders & BIT_ULL(e->index)))
			continue;
		for (c = &e->c; c != s->owner && !c->sink_error; c = c->down)
			;
		if (c->sink_error)
			return true;
	}
	return false;
}

/* Number of bytes that read() can return from sink number @i now. */
static u64 sink_bytes(unsigned int i)
{
	return sft_drain_on() ? sft_drain_unread(i) : sft_sink_bytes(&sft_hw.capture.sink[i]);
}

/* Describe sink number @out->index, which exists. */
void sft_capture_describe(struct sifive_trace_sink *out)
{
	const struct sft_sink *s = &sft_hw.capture.sink[out->index];
	unsigned int i;

	out->kind = s->kind;
	out->word = s->word;
	out->bytes = sink_bytes(out->index);
	out->offset = 0;
	if (sft_drain_on()) {
		sft_drain_describe(out);
	} else {
		out->flags = sink_end(s);
		for (i = 0; i < out->index; i++)
			out->offset += sink_bytes(i);
	}
	if (has_failed(s))
		out->flags |= SIFIVE_TRACE_STATUS_SINK_ERROR;
	out->src_bits = s->src_bits;
	out->buffer = s->size;
	out->encoders = s->encoders;
	strscpy_pad(out->name, sft_name(s->owner), sizeof(out->name));
}

/* Program an encoder again that a program changed through its stimulus page. */
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
	return ret;
}

/* Program again what programs changed through their stimulus pages. */
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

/* Whether a stopped capture may start. */
int sft_capture_may_start(bool rewind, struct sft_why *why)
{
	if (sft.sleeping)
		return sft_fail(why, -EBUSY, "the system is suspending or shutting down");
	if (sft.state.broken)
		return sft_fail(why, -ESTALE, "components did not resume: CONFIG again");
	if (!rewind && sft_capture_full(SFT_ALL_SINKS))
		return sft_fail(why, -ENOSPC, "the buffer is full: %llu bytes",
				sft_capture_bytes(SFT_ALL_SINKS));
	if (!rewind && sft.state.lost)
		return sft_fail(why, -ESTALE,
				"system suspend has lost the capture: START with REWIND");
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
	/* Before the sinks are emptied: a full sink explains a reported error. */
	if (!ret)
		sft_health_start();
	for (i = 0; rewind && i < cap->sinks && !ret; i++)
		ret = sft_sink_program(&cap->sink[i], why);
	if (rewind) {
		sft_drain_rewind();
		sft.state.rewinds++;
		sft_sampling_rewind();
	}
	sft.state.lost = false;
	sft_drain_start();
	cap->running = true;
	if (!ret)
		ret = start_funnels(why);
	for_each_encoder(e)
		if (!ret && sft_route_has(e) && !e->ended)
			ret = sft_encoder_start(e, why);
	if (ret) {
		sft_capture_stop(why);
		return ret;
	}
	sft_sampling_start();
	sft_switches_start();
	return 0;
}

static void finish_stores_here(void *unused)
{
	mb();	/* stores that programs made here arrive before what follows */
}

/* A store takes time to reach the encoder, which loses it when stopped. */
static void finish_stores(void)
{
	struct sft_encoder *e;

	for_each_encoder(e)
		if (sft_route_has(e) && !e->ended)
			smp_call_function_single(e->cpu, finish_stores_here, NULL, 1);
}

/* Stop all components, also after an error; return the first error. */
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
	finish_stores();
	sft_health_check();
	for_each_encoder(e) {
		if (!sft_route_has(e) || e->ended)
			continue;
		err = sft_encoder_stop(e, why);
		ret = ret ?: err;
	}
	err = stop_funnels(why);
	ret = ret ?: err;
	cap->running = false;
	for (i = 0; i < cap->sinks; i++)
		sft_sink_stopped(&cap->sink[i], ret != -ETIMEDOUT);
	sft_drain_stop();
	sft_health_check();
	failed = sft_health_failed();
	if (!ret && failed)
		ret = sft_fail(why, -EIO, "%s: sink error, bytes are missing", sft_name(failed));
	sft_wake_pollers();
	return ret;
}

/* Whether the session has started its capture, which may be paused. */
bool sft_capture_on(void)
{
	return sft_hw.capture.running || sft.state.paused;
}

/*
 * Save the contents of an encoder's own sink: its registers may lose power with the
 * CPU.
 */
static void stop_stream(struct sft_encoder *e, struct sft_why *why)
{
	struct sft_sink *s = sft_route_sink(&e->c);
	int ret = sft_encoder_stop(e, why);

	e->c.stuck = ret;
	if (ret)
		dev_warn(e->c.dev, "its trace may be incomplete: %s\n", why->text);
	if (s)
		sft_sink_stopped(s, !ret);
}

/* A CPU goes offline: end its encoder's stream with a whole message. */
void sft_capture_cpu_offline(unsigned int cpu, struct sft_why *why)
{
	struct sft_encoder *e;

	sft_sampling_cpu_offline(cpu);
	sft_switches_cpu_offline(cpu);
	sft_health_check();
	for_each_encoder(e) {
		if (!sft_route_has(e) || e->cpu != (int)cpu || e->ended)
			continue;
		if (sft_hw.capture.running)
			stop_stream(e, why);
		e->ended = true;
	}
	sft_waiting_cpu_offline();
}

/* The encoder whose stream ended when this CPU went offline, or NULL. */
struct sft_encoder *sft_capture_ended(unsigned int cpu)
{
	struct sft_encoder *e;

	for_each_encoder(e)
		if (sft_route_has(e) && e->cpu == (int)cpu && e->ended)
			return e;
	return NULL;
}

static int restart_stream(struct sft_encoder *e, struct sft_why *why)
{
	struct sft_sink *s = sft_route_sink(&e->c);
	int ret;

	if (!(sft_read(&e->c, TR_CONTROL) & TR_CONTROL_ACTIVE))
		return sft_fail(why, -EIO, "%s has lost its registers", sft_name(&e->c));
	ret = s ? sft_sink_restore(s, why) : 0;
	if (ret)
		return ret;
	/* A full sink accepts no messages. */
	if (!sft_hw.capture.running || sft_sink_full(sft_route_end(e)))
		return 0;
	if (!sft_encoder_start(e, why))
		return 0;
	sft_encoder_stop(e, why);
	return sft_fail(why, -EIO, "%s does not start again", sft_name(&e->c));
}

/* The CPU is online again: continue the stream behind the captured data. */
void sft_capture_cpu_online(struct sft_encoder *e, struct sft_why *why)
{
	if (restart_stream(e, why)) {
		dev_warn(e->c.dev, "its trace does not continue: %s\n", why->text);
		return;
	}
	e->ended = false;
	sft_sampling_cpu_online(e);
	sft_switches_cpu_online(e);
	sft_threads_resume();
}

/* Before system suspend: stop the capture; its data is in memory when this returns. */
void sft_capture_suspend(struct sft_why *why)
{
	bool running = sft_hw.capture.running;

	sft_capture_stop(why);
	sft_sampling_suspend();
	quiesce();
	sft.state.asleep = running;
}

/*
 * Before hibernation: it may not restore memory that the kernel does not manage, so
 * compute a checksum of each sink's data.
 */
void sft_capture_freeze(void)
{
	struct sft_sink *s = sft_hw.capture.sink;
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++)
		s[i].sum = sft_sink_sum(&s[i]);
}

/* After hibernation: drop the data of sinks whose checksum differs. */
void sft_capture_thaw(void)
{
	struct sft_sink *s = sft_hw.capture.sink;
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++) {
		if (s[i].sum == sft_sink_sum(&s[i]))
			continue;
		dev_warn(s[i].owner->dev, "hibernation has lost the captured data\n");
		sft_sink_lose(&s[i]);
		sft_drain_lose(i);
		sft.state.lost = true;
	}
}

/*
 * After system resume: continue the capture behind the data in system memory. SRAM is
 * empty after suspend, so a capture in SRAM stays stopped.
 */
void sft_capture_resume(struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	int ret;

	ret = reset_all(why);
	if (!ret)
		ret = program_all(sft_sink_restore, why);
	if (cap->kind == SIFIVE_TRACE_SINK_SRAM)
		sft.state.lost = true;
	sft.state.broken = ret;
	if (!ret && sft.state.asleep && !sft.state.lost)
		ret = sft_capture_start(false, why);
	if (ret)
		pr_warn("sifive_trace: capture does not continue after resume: %s\n",
			why->text);
	else
		sft_threads_resume();
	sft.state.asleep = false;
	/* A drained capture that does not continue has ended. */
	sft_wake_pollers();
}

/* The session ends: stop the hardware and keep the data. */
void sft_capture_release(void)
{
	sft_capture_stop(NULL);
	sft_capture_end_pause();
	quiesce();
}

/* Bytes that can be read now. */
u64 sft_capture_bytes(int sink)
{
	u64 bytes = 0;
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++)
		if (reads(sink, i))
			bytes += sink_bytes(i);
	return bytes;
}

/* Number of bytes that the sinks can hold. */
u64 sft_capture_size(int sink)
{
	u64 size = 0;
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++)
		if (reads(sink, i))
			size += sft_hw.capture.sink[i].size;
	return size;
}

/* Whether a running capture can be read. */
int sft_capture_readable(struct sft_why *why)
{
	if (sft_hw.capture.running && sft_hw.capture.kind == SIFIVE_TRACE_SINK_SRAM)
		return sft_fail(why, -EBUSY, "SRAM cannot be read while it is written: STOP first");
	return 0;
}

/*
 * Copy captured bytes from @offset on, sink after sink. Returns the number of bytes, 0
 * at the end.
 */
ssize_t sft_capture_copy(int sink, void *to, u64 offset, size_t count,
			 struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	size_t bytes, done = 0;
	unsigned int i;
	int ret;

	ret = sft_capture_readable(why);
	if (ret)
		return ret;
	for (i = 0; i < cap->sinks && done < count; i++) {
		if (!reads(sink, i))
			continue;
		bytes = sft_sink_bytes(&cap->sink[i]);
		if (offset >= bytes) {
			offset -= bytes;
			continue;
		}
		done += sft_sink_copy(&cap->sink[i], to + done, offset,
				      count - done);
		offset = 0;
	}
	return done;
}

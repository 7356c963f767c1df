// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls that describe hardware, session and capture. All functions here are called
 * with the system locked.
 */

#include <linux/nospec.h>
#include <linux/pid.h>

#include "session.h"

int sft_call_info(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_info *info = arg;
	struct sft_component *f, *master;
	struct sft_encoder *e;

	if (info->reserved)
		return sft_fail(why, -EINVAL, "reserved field %#x", info->reserved);
	info->abi = SIFIVE_TRACE_ABI;
	info->encoders = sft_topology_count(&sft_hw.encoders);
	info->funnels = sft_topology_count(&sft_hw.funnels);
	info->sinks = sft_hw.capture.sinks;
	info->page_size = PAGE_SIZE;
	info->flags = sft_counters_available();
	/* Counters that are not pinned need Sscofpmf, which includes the overflow interrupt. */
	if (info->flags & SIFIVE_TRACE_INFO_COUNTERS)
		info->flags |= SIFIVE_TRACE_INFO_OVERFLOW;
	info->ts_width = 0;
	info->ts_hz = 0;
	for_each_encoder(e) {
		master = sft_timestamp_master(e);
		if (!master || sft_timestamp_width(master) <= info->ts_width)
			continue;
		if (e->tested.registers && !e->tested.ts_registers)
			continue;
		info->ts_width = sft_timestamp_width(master);
		info->ts_hz = sft_timestamp_hz(e, sft_hw.capture.prescale);
		info->flags &= ~SIFIVE_TRACE_INFO_TS_MEASURED;
		if (master->ts_measured)
			info->flags |= SIFIVE_TRACE_INFO_TS_MEASURED;
	}
	info->sinks_available = 0;
	info->instruction_modes = info->encoders ? ~0u : 0;
	info->instruction_some = 0;
	for_each_encoder(e) {
		info->sinks_available |= sft_sink_kinds(&e->c);
		info->instruction_modes &= e->instruction_modes;
		info->instruction_some |= e->instruction_modes;
	}
	for_each_funnel(f)
		info->sinks_available |= sft_sink_kinds(f);
	return 0;
}

/*
 * Report an encoder's errors and stalls. Called only for files that may read the encoder's trace.
 */
static u32 reported(struct sft_encoder *e)
{
	u32 flags = 0;

	sft_health_check();
	if (e->stalled)
		flags |= SIFIVE_TRACE_ENCODER_STALLED;
	if (e->c.sink_error)
		flags |= SIFIVE_TRACE_ENCODER_SINK_ERROR;
	if (e->c.changed)
		flags |= SIFIVE_TRACE_ENCODER_CHANGED;
	return flags;
}

int sft_call_encoder(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_encoder *out = arg;
	struct sft_encoder *e = sft_topology_encoder(out->index);
	unsigned int i;

	if (!e)
		return sft_fail(why, -EINVAL, "there is no encoder %u", out->index);
	if (out->reserved)
		return sft_fail(why, -EINVAL, "reserved field %#x", out->reserved);
	out->cpu = e->cpu;
	out->src = sft_encoder_src(e);
	out->src_bits = sft_encoder_src_bits(e);
	out->sink = ~0u;
	for (i = 0; i < sft_hw.capture.sinks; i++)
		if (sft_hw.capture.sink[i].encoders & BIT_ULL(e->index))
			out->sink = i;
	out->flags = 0;
	if (sft_has_sink(&e->c, SIFIVE_TRACE_SINK_SBA))
		out->flags |= SIFIVE_TRACE_ENCODER_RAWIO;
	if (e->tested.ts_channels)
		out->flags |= SIFIVE_TRACE_ENCODER_TS_CHANNELS;
	if (e->ts_readable)
		out->flags |= SIFIVE_TRACE_ENCODER_TS_READABLE;
	if (sft_route_has(e))
		out->flags |= SIFIVE_TRACE_ENCODER_SELECTED;
	if (e->ended)
		out->flags |= SIFIVE_TRACE_ENCODER_ENDED;
	if (sft_may_read(file))
		out->flags |= reported(e);
	if (e->can_stall)
		out->flags |= SIFIVE_TRACE_ENCODER_CAN_STALL;
	if (e->tested.registers)
		out->flags |= SIFIVE_TRACE_ENCODER_TESTED;
	if (e->tested.silent)
		out->flags |= SIFIVE_TRACE_ENCODER_SILENT;
	out->registers = e->tested.registers;
	out->ts_registers = e->tested.ts_registers;
	memcpy(out->channel, e->tested.channel, sizeof(out->channel));
	out->instruction_modes = e->instruction_modes;
	out->sinks = sft_sink_kinds(&e->c);
	out->hart = e->hart;
	out->mmap_offset = (u64)e->index << PAGE_SHIFT;
	out->ts_width = sft_timestamp_width(&e->c);
	out->ts_type = sft_timestamp_type(&e->c);
	strscpy_pad(out->name, sft_name(&e->c), sizeof(out->name));
	return 0;
}

/* Harts may have lost counters during system suspend, so do not check before resume. */
void sft_check_counters(struct sft_why *why)
{
	if (!sft.sleeping)
		sft_counters_check(why);
}

static void report_component(struct sifive_trace_status *status,
			     const struct sft_component *c)
{
	status->sink_errors += c->sink_error;
	if (c->changed)
		status->flags |= SIFIVE_TRACE_STATUS_CHANGED;
	if (c->sink_error)
		status->flags |= SIFIVE_TRACE_STATUS_SINK_ERROR;
}

/* Report the capture's contents. Called only for files that may read it. */
static void report_contents(struct sifive_trace_status *status)
{
	struct sft_component *f;
	struct sft_encoder *e;
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++) {
		struct sifive_trace_sink sink = { .index = i };

		sft_capture_describe(&sink);
		status->flags |= sink.flags;
		status->bytes += sink.bytes;
		status->gaps += sink.gaps;
		status->lost += sink.lost;
	}
	for_each_encoder(e) {
		status->stalls += e->stalled;
		status->stalled |= e->stalled ? BIT_ULL(e->index) : 0;
		status->changed |= e->c.changed ? BIT_ULL(e->index) : 0;
		report_component(status, &e->c);
	}
	for_each_funnel(f)
		report_component(status, f);
	status->counters_lost = sft_counters.lost;
	sft_sampling_status(status);
	sft_switches_status(status);
	sft_instruction_status(&status->instruction);
	sft_mapping_waits(status);
	sft_capture_pauses(status);
}

/*
 * Checking the counters interrupts the harts, so only the session's owner triggers a check; other
 * files receive the last result.
 */
int sft_call_status(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_status *status = arg;
	bool may_read = sft_may_read(file);
	struct sft_encoder *e;

	if (may_read)
		sft_health_check();
	if (sft.owner == file && sft_may_steer()) {
		sft_check_counters(why);
		sft_sampling_check(why);
		sft_health_report(why);
		if (why->text[0])
			sft_keep_message(file, why);
	}
	*status = (struct sifive_trace_status){ .size = status->size };
	if (sft.owner)
		status->flags |= SIFIVE_TRACE_STATUS_CONFIGURED;
	if (sft.owner == file)
		status->flags |= SIFIVE_TRACE_STATUS_OWNER;
	if (sft_capture_on())
		status->flags |= SIFIVE_TRACE_STATUS_RUNNING;
	status->holder = pid_vnr(sft.holder);
	status->sinks = sft_hw.capture.sinks;
	status->buffer = sft_capture_size(SFT_ALL_SINKS);
	for_each_encoder(e)
		status->ended |= e->ended ? BIT_ULL(e->index) : 0;
	status->capture = (u32)sft.captures;
	if (may_read)
		report_contents(status);
	strscpy_pad(status->message, file->message, sizeof(status->message));
	return 0;
}

/* Report the part of a sink's state that any file may read. */
static void describe_to_others(const struct sifive_trace_sink *all, struct sifive_trace_sink *out)
{
	out->kind = all->kind;
	out->word = all->word;
	out->src_bits = all->src_bits;
	out->buffer = all->buffer;
	out->encoders = all->encoders;
	strscpy_pad(out->name, all->name, sizeof(out->name));
}

int sft_call_sink(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_sink *sink = arg, all;

	if (sink->index >= sft_hw.capture.sinks)
		return sft_fail(why, -EINVAL, "there is no sink %u", sink->index);
	sink->index = array_index_nospec(sink->index, sft_hw.capture.sinks);
	all = (struct sifive_trace_sink){ .size = sink->size, .index = sink->index };
	*sink = all;
	if (sft_may_read(file))
		sft_health_check();
	sft_capture_describe(&all);
	if (sft_may_read(file)) {
		sft_capture_describe_clock(&all);
		*sink = all;
	} else {
		describe_to_others(&all, sink);
	}
	return 0;
}

int sft_call_losses(struct sft_file *file, void *arg, struct sft_why *why)
{
	if (!sft_may_read(file))
		return sft_refuse_reader(why);
	sft_mapping_losses(arg);
	return 0;
}

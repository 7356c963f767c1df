// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of include/uapi/linux/sifive_trace.h. They work on copies of their
 * arguments: user memory is read before the system is locked and written after.
 */

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/pid.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "session.h"

static int ioctl_info(struct sft_file *file, void *arg, struct sft_why *why)
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
	/* Sscofpmf is the overflow interrupt. */
	if (info->flags & SIFIVE_TRACE_INFO_COUNTERS)
		info->flags |= SIFIVE_TRACE_INFO_OVERFLOW;
	info->ts_width = 0;
	info->ts_hz = 0;
	for_each_encoder(e) {
		master = sft_timestamp_master(e);
		if (!master || sft_timestamp_width(master) <= info->ts_width)
			continue;
		if (e->tested.done && !e->tested.ts_registers)
			continue;
		info->ts_width = sft_timestamp_width(master);
		info->ts_hz = sft_timestamp_hz(e, sft_hw.capture.prescale);
		info->flags &= ~SIFIVE_TRACE_INFO_TS_MEASURED;
		if (master->ts_measured)
			info->flags |= SIFIVE_TRACE_INFO_TS_MEASURED;
	}
	info->sinks_available = 0;
	for_each_encoder(e)
		info->sinks_available |= sft_sink_kinds(&e->c);
	for_each_funnel(f)
		info->sinks_available |= sft_sink_kinds(f);
	return 0;
}

/* Errors and stalls of an encoder, for files that may read its trace. */
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

static int ioctl_encoder(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_encoder *out = arg;
	struct sft_encoder *e = sft_topology_encoder(out->index);
	unsigned int i;

	if (!e)
		return sft_fail(why, -EINVAL, "there is no encoder %u", out->index);
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
	if (e->ts_channels)
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
	if (e->tested.done)
		out->flags |= SIFIVE_TRACE_ENCODER_TESTED;
	out->registers = e->tested.registers;
	out->ts_registers = e->tested.ts_registers;
	memcpy(out->channel, e->tested.channel, sizeof(out->channel));
	out->sinks = sft_sink_kinds(&e->c);
	out->hart = e->hart;
	out->mmap_offset = (u64)e->index << PAGE_SHIFT;
	out->ts_width = sft_timestamp_width(&e->c);
	out->ts_type = sft_timestamp_type(&e->c);
	strscpy_pad(out->name, sft_name(&e->c), sizeof(out->name));
	return 0;
}

static int check_config(const struct sifive_trace_config *config,
			struct sft_why *why)
{
	const u32 flags = SIFIVE_TRACE_CONFIG_RING | SIFIVE_TRACE_CONFIG_OVERFLOW |
			  SIFIVE_TRACE_CONFIG_NO_TIMESTAMP | SIFIVE_TRACE_CONFIG_DRAIN |
			  SIFIVE_TRACE_CONFIG_WAIT;
	const u32 both = SIFIVE_TRACE_CONFIG_RING | SIFIVE_TRACE_CONFIG_DRAIN;
	unsigned int encoders = sft_topology_count(&sft_hw.encoders);

	if (config->flags & ~flags)
		return sft_fail(why, -EINVAL, "unknown flags %#x", config->flags & ~flags);
	if (config->sink != SIFIVE_TRACE_SINK_SBA &&
	    config->sink != SIFIVE_TRACE_SINK_SRAM)
		return sft_fail(why, -EINVAL, "sink %u is neither SBA nor SRAM", config->sink);
	if ((config->flags & both) == both)
		return sft_fail(why, -EINVAL, "RING and DRAIN exclude each other");
	if (config->flags & SIFIVE_TRACE_CONFIG_DRAIN && config->sink != SIFIVE_TRACE_SINK_SBA)
		return sft_fail(why, -EINVAL, "SRAM cannot be drained: use SBA");
	if (config->flags & SIFIVE_TRACE_CONFIG_DRAIN && config->buffer < SZ_4K)
		return sft_fail(why, -EINVAL, "draining needs a buffer of 4096 bytes or more");
	if (config->flags & SIFIVE_TRACE_CONFIG_WAIT) {
		if (!(config->flags & SIFIVE_TRACE_CONFIG_DRAIN))
			return sft_fail(why, -EINVAL, "WAIT needs DRAIN");
		if (config->flags & SIFIVE_TRACE_CONFIG_OVERFLOW)
			return sft_fail(why, -EINVAL, "WAIT and OVERFLOW exclude each other");
		if (config->buffer < SZ_64K)
			return sft_fail(why, -EINVAL,
					"waiting needs a buffer of 65536 bytes or more");
	}
	if (config->prescale > 3)
		return sft_fail(why, -EINVAL, "prescale is %u: it can be 0 to 3", config->prescale);
	if (!config->channels)
		return sft_fail(why, -EINVAL, "no channel selected: set bits in channels");
	if (config->sink == SIFIVE_TRACE_SINK_SBA ? !config->buffer : !!config->buffer)
		return sft_fail(why, -EINVAL, "an SBA buffer needs a size; with SRAM it must be 0");
	if (config->buffer > SIZE_MAX - SZ_4K)
		return sft_fail(why, -EINVAL, "buffer of %llu bytes", config->buffer);
	if (encoders < SIFIVE_TRACE_MAX_ENCODERS && config->encoders >> encoders)
		return sft_fail(why, -EINVAL, "there are %u encoders, mask %#llx selects others",
				encoders, config->encoders);
	return 0;
}

/* Check the caller, not the file: the descriptor may come from another process. */
static int need_perfmon(const char *what, struct sft_why *why)
{
	return perfmon_capable() ? 0 :
	       sft_fail(why, -EPERM, "%s needs CAP_PERFMON or CAP_SYS_ADMIN", what);
}

/* Whether this file may take or change the session. */
static int may_configure(struct sft_file *file, struct sft_why *why)
{
	int ret = need_perfmon("configuring", why);

	if (ret)
		return ret;
	if (sft.owner && sft.owner != file)
		return sft_fail(why, -EBUSY, "process %d has the trace hardware",
				pid_vnr(sft.holder));
	return 0;
}

static int ioctl_config(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_config *config = arg;
	int ret;

	ret = may_configure(file, why);
	if (!ret)
		ret = check_config(config, why);
	if (ret)
		return ret;
	if (sft.sleeping)
		return sft_fail(why, -EBUSY, "the system is suspending or shutting down");
	if (sft_capture_on())
		return sft_fail(why, -EBUSY, "the capture is running: STOP first");
	ret = sft_route_check(config, why);
	if (ret)
		return ret;
	sft_session_release();
	ret = sft_capture_config(config, why);
	if (ret)
		return ret;
	sft_session_take(file);
	file->capture = 0;
	return 0;
}

/* Check that the file owns the session. */
static int need_session(struct sft_file *file, struct sft_why *why)
{
	return sft.owner == file ? 0 :
	       sft_fail(why, -ENXIO, "no session on this descriptor: call CONFIG first");
}

/*
 * Check that the caller may start and stop the hardware; the descriptor does not
 * suffice.
 */
static int need_steering(struct sft_file *file, struct sft_why *why)
{
	int ret = need_session(file, why);

	if (ret || sft_may_steer())
		return ret;
	return sft_fail(why, -EPERM,
			"another process's session: CAP_PERFMON or CAP_SYS_ADMIN is needed");
}

static int ioctl_counters(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_counters *counters = arg;
	int ret = need_session(file, why) ?: need_perfmon("taking counters", why);

	if (ret)
		return ret;
	if (counters->flags & ~SIFIVE_TRACE_COUNTERS_PER_THREAD || counters->reserved)
		return sft_fail(why, -EINVAL, "unknown flags %#x", counters->flags);
	if (counters->count > SIFIVE_TRACE_MAX_COUNTERS)
		return sft_fail(why, -EINVAL, "%u events are %u too many: there are %u counters",
				counters->count,
				counters->count - SIFIVE_TRACE_MAX_COUNTERS,
				SIFIVE_TRACE_MAX_COUNTERS);
	if (sft.sleeping)
		return sft_fail(why, -EBUSY, "the system is suspending or shutting down");
	if (sft_capture_on())
		return sft_fail(why, -EBUSY, "the capture is running: STOP first");
	if (counters->count)
		ret = sft_access_prepare(counters->flags & SIFIVE_TRACE_COUNTERS_PER_THREAD, why);
	if (ret)
		return ret;
	ret = sft_counters_take(counters, why);
	sft_mapping_update();
	return ret;
}

/*
 * COUNTERS lets the calling thread read the counters. Join first, so that a failure
 * leaves the session's old counters in place.
 */
static int join_for_counters(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_counters *counters = arg;
	u32 slot;

	counters->mask = 0;
	counters->failed = ~0u;
	return counters->count ? sft_thread_join(file, &slot, why) : 0;
}

static int ioctl_thread(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_thread *thread = arg;
	int ret;

	thread->slot = ~0u;
	if (thread->flags & ~SIFIVE_TRACE_THREAD_LEAVE || thread->reserved)
		return sft_fail(why, -EINVAL, "unknown flags %#x", thread->flags);
	if (!(thread->flags & SIFIVE_TRACE_THREAD_LEAVE))
		return need_steering(file, why);
	ret = sft_thread_allowed(file, why);
	if (!ret)
		sft_access_leave();
	return ret;
}

static int join_thread(struct sft_file *file, void *arg, void __user *uarg,
		       struct sft_why *why)
{
	struct sifive_trace_thread *thread = arg;

	return thread->flags & SIFIVE_TRACE_THREAD_LEAVE ?
	       0 : sft_thread_join(file, &thread->slot, why);
}

static int ioctl_event(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_query *query = arg;
	int ret = need_perfmon("trying counters", why);

	if (ret)
		return ret;
	if (query->flags || query->reserved)
		return sft_fail(why, -EINVAL, "unknown flags %#x or reserved field %#x",
				query->flags, query->reserved);
	return sft_counters_query(query, why);
}

static int may_sample(struct sft_file *file, struct sft_why *why)
{
	int ret = need_session(file, why) ?: need_perfmon("sampling", why);

	if (ret)
		return ret;
	if (sft.sleeping)
		return sft_fail(why, -EBUSY, "the system is suspending or shutting down");
	if (sft_capture_on())
		return sft_fail(why, -EBUSY, "the capture is running: STOP first");
	return 0;
}

static int ioctl_sampling(struct sft_file *file, void *arg, struct sft_why *why)
{
	return may_sample(file, why) ?: sft_sampling_valid(arg, why);
}

/*
 * Called without the system's lock, which perf must not be called with. Only a setting
 * that perf accepts is stored.
 */
static int try_sampling(struct sft_file *file, void *arg, void __user *uarg,
			struct sft_why *why)
{
	int ret = sft_sampling_try(arg, why);

	if (ret)
		return ret;
	sft_lock();
	ret = sft_stale(file) ? -ENODEV : may_sample(file, why);
	if (!ret)
		ret = sft_sampling_set(arg, why);
	sft_unlock();
	return ret;
}

static int ioctl_switches(struct sft_file *file, void *arg, struct sft_why *why)
{
	const struct sifive_trace_switches *switches = arg;
	int ret = may_sample(file, why);

	if (ret)
		return ret;
	if (switches->flags & ~SIFIVE_TRACE_SWITCHES_ALL || switches->reserved)
		return sft_fail(why, -EINVAL, "unknown flags %#x or reserved field %#x",
				switches->flags, switches->reserved);
	return sft_switches_set(switches, why);
}

/* Called without the system's lock, which the probe must not be registered with. */
static int probe_switches(struct sft_file *file, void *arg, void __user *uarg,
			  struct sft_why *why)
{
	const struct sifive_trace_switches *switches = arg;

	int ret;

	if (switches->channel == SIFIVE_TRACE_SWITCHES_OFF)
		return 0;
	ret = sft_switches_probe(why);
	if (!ret)
		return 0;
	sft_lock();
	if (sft.owner == file)
		sft_switches_release();
	sft_unlock();
	return ret;
}

/* A rewind discards what was captured before a pause, too. */
static int start(bool rewind, struct sft_why *why)
{
	int ret;

	if (!rewind && sft.state.paused)
		return sft_capture_unpause(why);
	ret = sft_capture_start(rewind, why);
	if (!ret)
		sft_capture_end_pause();
	return ret;
}

static int ioctl_start(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_run *run = arg;
	int ret = need_steering(file, why);

	if (ret)
		return ret;
	if (run->flags & ~SIFIVE_TRACE_START_REWIND)
		return sft_fail(why, -EINVAL, "unknown flags %#x", run->flags);
	if (sft_sampling.set.flags & SIFIVE_TRACE_SAMPLING_ALL ||
	    sft_switches.set.flags & SIFIVE_TRACE_SWITCHES_ALL)
		ret = need_perfmon("recording whatever runs", why);
	if (!ret && !sft_capture_on())
		sft_switches_own();
	return ret ?: start(run->flags & SIFIVE_TRACE_START_REWIND, why);
}

static int follow(struct sft_file *file, void *arg, void __user *uarg,
		  struct sft_why *why)
{
	return sft_threads_follow(file, why);
}

/* During system suspend harts may have lost counters: check after resume. */
static void check_counters(struct sft_why *why)
{
	if (!sft.sleeping)
		sft_counters_check(why);
}

static int ioctl_stop(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_run *run = arg;
	int ret = need_steering(file, why);

	if (ret)
		return ret;
	if (run->flags)
		return sft_fail(why, -EINVAL, "unknown flags %#x", run->flags);
	ret = sft_capture_stop(why);
	sft_capture_end_pause();
	sft_sampling_check(why);
	sft_sampling_unfollow();
	check_counters(why);
	sft_health_report(why);
	return ret;
}

/* Any process that may steer the session: it has no descriptor of it. */
static int ioctl_pause(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_run *run = arg;

	if (run->flags & ~SIFIVE_TRACE_PAUSE_END)
		return sft_fail(why, -EINVAL, "unknown flags %#x", run->flags);
	if (!sft.owner)
		return sft_fail(why, -ENXIO, "no session has the trace hardware");
	if (!sft_may_steer())
		return sft_fail(why, -EPERM,
				"another process's session: CAP_PERFMON or CAP_SYS_ADMIN is needed");
	return run->flags ? sft_capture_unpause(why) : sft_capture_pause(why);
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

/* Report the capture's contents, for files that may read it. */
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
	sft_mapping_waits(status);
	sft_capture_pauses(status);
}

/*
 * Checking the counters interrupts the harts, so only the session's owner causes it;
 * others get the last result.
 */
static int ioctl_status(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_status *status = arg;
	bool may_read = sft_may_read(file);
	struct sft_encoder *e;

	if (may_read)
		sft_health_check();
	if (sft.owner == file && sft_may_steer()) {
		check_counters(why);
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

static int ioctl_sink(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_sink *sink = arg;

	if (sink->index >= sft_hw.capture.sinks)
		return sft_fail(why, -EINVAL, "there is no sink %u", sink->index);
	sink->index = array_index_nospec(sink->index, sft_hw.capture.sinks);
	if (sft_may_read(file))
		sft_health_check();
	sft_capture_describe(sink);
	if (!sft_may_read(file)) {
		sink->flags = 0;
		sink->bytes = 0;
		sink->offset = 0;
		sink->given = 0;
		sink->gaps = 0;
		sink->lost = 0;
		sink->gap_offset = 0;
		sink->gap_begin = 0;
		sink->gap_end = 0;
	}
	return 0;
}

static int ioctl_attach(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_attach *attach = arg;

	attach->fd = -1;
	if (attach->flags & ~SIFIVE_TRACE_ATTACH_COMPARE)
		return sft_fail(why, -EINVAL, "unknown flags %#x", attach->flags);
	if (attach->reserved)
		return sft_fail(why, -EINVAL, "reserved is %u, not 0", attach->reserved);
	if (attach->size < offsetofend(struct sifive_trace_attach, fd))
		return sft_fail(why, -EINVAL, "size %u has no room for the descriptor",
				attach->size);
	return 0;
}

static int attach_mapping(struct sft_file *file, void *arg, void __user *uarg,
			  struct sft_why *why)
{
	return sft_mapping_attach(file, arg, uarg);
}

static int ioctl_losses(struct sft_file *file, void *arg, struct sft_why *why)
{
	if (!sft_may_read(file))
		return sft_fail(why, -EPERM, "the capture is another user's");
	sft_mapping_losses(arg);
	return 0;
}

/**
 * struct call - one ioctl
 * @size:	of its argument as this kernel knows it
 * @write:	needs a file open for writing
 * @frees:	may free the sinks' buffers
 * @before:	runs first, with the system not locked, or NULL
 * @handler:	runs with the system locked, on a copy of the argument
 * @after:	runs when @handler succeeded, with the system not locked, or NULL; has
 *		the caller's own argument for what must not exist unless it arrives
 */
struct call {
	size_t size;
	bool write;
	bool frees;
	int (*before)(struct sft_file *file, void *arg, struct sft_why *why);
	int (*handler)(struct sft_file *file, void *arg, struct sft_why *why);
	int (*after)(struct sft_file *file, void *arg, void __user *uarg,
		     struct sft_why *why);
};

static const struct call calls[] = {
	[_IOC_NR(SIFIVE_TRACE_IOC_INFO)] = {
		.size = sizeof(struct sifive_trace_info),
		.handler = ioctl_info,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_ENCODER)] = {
		.size = sizeof(struct sifive_trace_encoder),
		.handler = ioctl_encoder,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_CONFIG)] = {
		.size = sizeof(struct sifive_trace_config), .write = true, .frees = true,
		.handler = ioctl_config,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_COUNTERS)] = {
		.size = sizeof(struct sifive_trace_counters), .write = true,
		.before = join_for_counters, .handler = ioctl_counters,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_START)] = {
		.size = sizeof(struct sifive_trace_run), .write = true,
		.handler = ioctl_start, .after = follow,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_STOP)] = {
		.size = sizeof(struct sifive_trace_run), .write = true,
		.handler = ioctl_stop,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_PAUSE)] = {
		.size = sizeof(struct sifive_trace_run), .write = true,
		.handler = ioctl_pause,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_STATUS)] = {
		.size = sizeof(struct sifive_trace_status),
		.handler = ioctl_status,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_SINK)] = {
		.size = sizeof(struct sifive_trace_sink),
		.handler = ioctl_sink,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_THREAD)] = {
		.size = sizeof(struct sifive_trace_thread), .write = true,
		.handler = ioctl_thread, .after = join_thread,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_SAMPLING)] = {
		.size = sizeof(struct sifive_trace_sampling), .write = true,
		.handler = ioctl_sampling, .after = try_sampling,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_SWITCHES)] = {
		.size = sizeof(struct sifive_trace_switches), .write = true,
		.handler = ioctl_switches, .after = probe_switches,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_EVENT)] = {
		.size = sizeof(struct sifive_trace_query), .write = true,
		.handler = ioctl_event,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_ATTACH)] = {
		.size = sizeof(struct sifive_trace_attach),
		.handler = ioctl_attach, .after = attach_mapping,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_LOSSES)] = {
		.size = sizeof(struct sifive_trace_losses),
		.handler = ioctl_losses,
	},
};

/* Keep a call's error message for the file. */
void sft_keep_message(struct sft_file *file, const struct sft_why *why)
{
	strscpy(file->message, why->text, sizeof(file->message));
}

/* Run a call's handler with the system locked. */
static int run_handler(const struct call *call, struct sft_file *file, void *arg,
		       struct sft_why *why)
{
	int ret = -ENODEV;

	if (call->frees)
		sft_lock_buffers();
	else
		sft_lock();
	if (!sft_stale(file)) {
		ret = call->handler(file, arg, why);
		if (ret)
			sft_keep_message(file, why);
	}
	if (call->frees)
		sft_unlock_buffers();
	else
		sft_unlock();
	return ret;
}

static int run_call(const struct call *call, struct sft_file *file, void *arg,
		    void __user *uarg)
{
	struct sft_why why = {};
	int ret = call->before ? call->before(file, arg, &why) : 0;

	if (!ret)
		ret = run_handler(call, file, arg, &why);
	if (!ret && call->after)
		ret = call->after(file, arg, uarg, &why);
	if (why.text[0]) {
		sft_lock();
		sft_keep_message(file, &why);
		sft_unlock();
	}
	return ret;
}

/*
 * A number has direction and size, and the size in the argument is the one that
 * counts. INFO also has its number of ABI 2, which had neither: so a program of that
 * ABI learns which one this is.
 */
static const struct call *find_call(unsigned int cmd)
{
	unsigned int nr = _IOC_NR(cmd);

	if (_IOC_TYPE(cmd) != SIFIVE_TRACE_IOC_TYPE || nr >= ARRAY_SIZE(calls))
		return NULL;
	if (_IOC_DIR(cmd) != (_IOC_READ | _IOC_WRITE) &&
	    cmd != _IO(SIFIVE_TRACE_IOC_TYPE, _IOC_NR(SIFIVE_TRACE_IOC_INFO)))
		return NULL;
	return &calls[array_index_nospec(nr, ARRAY_SIZE(calls))];
}

/* Every argument begins with its size; see the head of the uapi header. */
long sft_ioctl(struct file *filp, unsigned int cmd, unsigned long user)
{
	struct sft_file *file = filp->private_data;
	void __user *uarg = (void __user *)user;
	const struct call *call = find_call(cmd);
	u32 size;
	void *arg;
	int ret;

	/* A node for one sink has read() but no ioctls. */
	if (!call || file->sink != SFT_ALL_SINKS)
		return -ENOTTY;
	if (call->write && !(filp->f_mode & FMODE_WRITE))
		return -EACCES;
	if (get_user(size, (u32 __user *)uarg))
		return -EFAULT;
	if (size < offsetofend(struct sifive_trace_run, flags))
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;

	arg = kzalloc(call->size, GFP_KERNEL);
	if (!arg)
		return -ENOMEM;
	ret = copy_struct_from_user(arg, call->size, uarg, size);
	if (!ret) {
		ret = run_call(call, file, arg, uarg);
		/* Also after an error: the argument may name the refused event. */
		*(u32 *)arg = size;
		if (copy_to_user(uarg, arg, min_t(size_t, size, call->size)))
			ret = -EFAULT;
	}
	kfree(arg);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Checks of sampling requests. Called with the system locked. */

#include <linux/bits.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>

#include "record.h"
#include "counters.h"

/* Minimum interval in nanoseconds, the same as in the old library. */
#define INTERVAL_MIN	(100 * NSEC_PER_USEC)

/*
 * The minimum period of events that the kernel's interrupt path does not generate itself. With a
 * shorter period, a hart would do nothing but handle interrupts, because perf does not throttle
 * these events.
 */
#define PERIOD_MIN	10000
#define PERIOD_MIN_USER	1000

/* perf uses the upper bits of a raw event's data to encode other kinds of events. */
#define RAW_BITS	48

/* perf encodes an event in fewer bits: reject events that it would truncate to different events. */
static int check_event(const struct sifive_trace_event *ev, struct sft_why *why)
{
	if (ev->type == SIFIVE_TRACE_EVENT_CACHE &&
	    (ev->code >> 3 >= PERF_COUNT_HW_CACHE_MAX ||
	     (ev->code >> 1 & 3) >= PERF_COUNT_HW_CACHE_OP_MAX))
		return sft_fail(why, -EOPNOTSUPP, "perf has no cache event %#x to sample",
				ev->code);
	if (ev->type == SIFIVE_TRACE_EVENT_RAW && ev->data >> RAW_BITS)
		return sft_fail(why, -EOPNOTSUPP,
				"perf cannot sample raw events of more than %u bits: %#llx",
				RAW_BITS, ev->data);
	return 0;
}

/* Check that the sampling event is the one that COUNTERS left to sampling. */
static int check_sampled(const struct sifive_trace_sampling *arg, struct sft_why *why)
{
	const struct sifive_trace_event *by = &arg->event, *ev;

	if (sft_counters.turns && (arg->interval || arg->period))
		return sft_fail(why, -EBUSY,
				"events take turns on the counters: count fewer events to sample");
	if (!sft_counters.sampled || !(arg->interval || arg->period))
		return 0;
	ev = &sft_counters.event[__ffs(sft_counters.sampled)];
	if (arg->period && ev->type == by->type && ev->code == by->code &&
	    ev->data == by->data && ev->flags == (by->flags | SIFIVE_TRACE_EVENT_OF_SAMPLES))
		return 0;
	return sft_fail(why, -EINVAL,
			"COUNTERS left type %u, code %#x, data %#llx to sampling: sample that event",
			ev->type, ev->code, ev->data);
}

/* Reject invalid or impossible requests; raise values that are too small. */
int sft_sampling_valid(struct sifive_trace_sampling *arg, struct sft_why *why)
{
	const u32 flags = SIFIVE_TRACE_SAMPLING_ALL | SIFIVE_TRACE_SAMPLING_ONE_HEADER |
			  SIFIVE_TRACE_SAMPLING_EXEC | SIFIVE_TRACE_SAMPLING_HEADERS |
			  SIFIVE_TRACE_SAMPLING_CALLERS | SIFIVE_TRACE_SAMPLING_KERNEL |
			  SIFIVE_TRACE_SAMPLING_THREADS | SIFIVE_TRACE_SAMPLING_CHILDREN |
			  SIFIVE_TRACE_SAMPLING_STACK(U16_MAX);
	int ret = check_sampled(arg, why);

	if (ret)
		return ret;
	if (arg->flags & ~flags)
		return sft_fail(why, -EINVAL, "unknown flags %#x", arg->flags & ~flags);
	ret = sft_record_path_check(&arg->flags, why);
	if (ret)
		return ret;
	if (arg->channel >= 32 || !(sft_hw.capture.channels & BIT(arg->channel)))
		return sft_fail(why, -EINVAL, "channel %u is not one of the capture's (mask %#x)",
				arg->channel, sft_hw.capture.channels);
	if (arg->count_type > SIFIVE_TRACE_RECORD_TYPE_MAX)
		return sft_fail(why, -EINVAL, "count type is %u, not 0 (raw), 1 (delta) or 2 (XOR)",
				arg->count_type);
	if (arg->flags & SIFIVE_TRACE_SAMPLING_HEADERS &&
	    (arg->count_type != SIFIVE_TRACE_SAMPLING_XOR ||
	     arg->flags & SIFIVE_TRACE_SAMPLING_ONE_HEADER))
		return sft_fail(why, -EINVAL,
				"repeated headers need XOR counts, and exclude ONE_HEADER");
	if (arg->interval && arg->period)
		return sft_fail(why, -EINVAL, "interval and period are both set: leave one out");
	if (arg->interval > KTIME_MAX || arg->period > S64_MAX)
		return sft_fail(why, -EINVAL, "interval or period is over %lld", S64_MAX);
	if (arg->interval && arg->interval < INTERVAL_MIN)
		arg->interval = INTERVAL_MIN;
	if (!arg->period)
		return sft_choose_unused(&arg->event, 0, why);
	arg->period = max_t(u64, arg->period,
			    arg->event.flags & SIFIVE_TRACE_EVENT_NO_KERNEL ?
			    PERIOD_MIN_USER : PERIOD_MIN);
	if (!(sft_counters_available() & SIFIVE_TRACE_INFO_COUNTERS))
		return sft_fail(why, -EOPNOTSUPP,
				"without Sscofpmf, no counter interrupts: sample by time");
	if (sft_is_timestamp(&arg->event))
		return sft_fail(why, -EOPNOTSUPP,
				"the timestamp does not interrupt: sample by time");
	if (sft_is_firmware(&arg->event))
		return sft_fail(why, -EOPNOTSUPP,
				"firmware events do not interrupt: sample by time");
	return sft_choose_check(&arg->event, 0, why) ?: check_event(&arg->event,
								    why);
}

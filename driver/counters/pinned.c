// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters without Sscofpmf. Firmware would give the session's fixed counters to perf as well.
 * Therefore, perf itself holds them for the session, by means of a pinned kernel event on each CPU.
 * Firmware then counts cycles and instructions on their fixed counters only. An event therefore
 * never moves to another counter, but only one event can count cycles, and only one can count
 * instructions.
 *
 * Locking: all functions here are called with the system locked, even in the callback for a CPU
 * that goes offline, which runs with the CPU hotplug lock held. Creating an event takes the hotplug
 * lock if the event enables a static key. A CPU event without a task, cgroup or branch stack
 * enables no static key; task events must not be created with the system locked.
 */

#include <linux/cred.h>
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched/task.h>
#include <linux/smp.h>

#include "counters.h"

/* Indexed by counter: SFT_CYCLE and SFT_INSTRET. */
static DEFINE_PER_CPU(struct perf_event * [SFT_INSTRET + 1], pinned);

/**
 * struct look - a check of an event on the event's CPU
 * @c:		counter of the event
 * @counts:	the event is counting on that counter
 */
struct look {
	const struct sft_counter *c;
	bool counts;
};

/* Interrupts are disabled, so perf cannot move the event. */
static void look_here(void *arg)
{
	struct look *look = arg;
	struct perf_event *e = this_cpu_read(pinned[look->c->counter]);

	look->counts = e && sft_perf_counts_on(e, look->c->index);
}

/* Return whether a counter's perf event is counting on that counter. */
bool sft_pinned_counts(unsigned int cpu, const struct sft_counter *c)
{
	struct look look = { .c = c };

	smp_call_function_single(cpu, look_here, &look, 1);
	return look.counts;
}

void sft_pinned_release(unsigned int cpu, u32 counter)
{
	struct perf_event **at = &per_cpu(pinned[counter], cpu);

	if (*at)
		perf_event_release_kernel(*at);
	*at = NULL;
}

/* Create a CPU event with the kernel's credentials; the ioctl has checked the caller's. */
static struct perf_event *cpu_event(struct perf_event_attr *attr, unsigned int cpu)
{
	struct cred *kernel = prepare_kernel_cred(&init_task);
	const struct cred *caller;
	struct perf_event *e;

	if (!kernel)
		return ERR_PTR(-ENOMEM);
	caller = override_creds(kernel);
	e = perf_event_create_kernel_counter(attr, cpu, NULL, NULL, NULL);
	revert_creds(caller);
	put_cred(kernel);
	return e;
}

/* Return a disabled event of the kernel's counter driver. */
struct perf_event *sft_idle_event(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW,
		.size = sizeof(attr),
		.disabled = 1,
	};

	return cpu_event(&attr, cpu);
}

/*
 * Count on a fixed counter, starting at @value; 0 means perf's own start value. A pinned event can
 * be created while another event holds the counter, but the new event then does not count.
 */
int sft_pinned_take(unsigned int cpu, const struct sft_counter *c, u64 value)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = c->counter == SFT_CYCLE ? PERF_COUNT_HW_CPU_CYCLES :
						 PERF_COUNT_HW_INSTRUCTIONS,
		.pinned = 1,
		.disabled = 1,
	};
	struct perf_event *e;

	if (per_cpu(pinned[c->counter], cpu))
		return -EBUSY;
	e = cpu_event(&attr, cpu);
	if (IS_ERR(e))
		return PTR_ERR(e);
	per_cpu(pinned[c->counter], cpu) = e;
	if (value)
		sft_perf_start_at(e, value);
	perf_event_enable(e);
	if (sft_pinned_counts(cpu, c))
		return 0;
	sft_pinned_release(cpu, c->counter);
	return -EBUSY;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Context switches: a probe on the scheduler's tracepoint writes a record to the hart's
 * encoder when a thread of the session begins or ceases to run there, on a stimulus
 * register used for nothing else. Documentation/trace-format.rst describes the records.
 *
 * A hart's stream is accessed on that hart alone, with interrupts disabled. The probe is
 * registered and unregistered without the system's lock, as both wait for CPU hotplug.
 */

#include <linux/io.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>

#include <linux/sifive_trace_regs.h>

#include "counters.h"

/**
 * struct hart - the stream of one hart
 * @stimulus:	the register
 * @encoder:	its encoder
 * @owner:	the component with the sink of this stream
 * @on:		records are written
 * @gap:	a mark precedes the next record: others were lost, or the stream begins
 * @running:	id of the session's thread that runs here, 0 = none does
 * @written:	records since CONFIG
 * @lost:	records that could not be written
 */
struct hart {
	void __iomem *stimulus;
	const struct sft_encoder *encoder;
	const struct sft_component *owner;
	bool on;
	bool gap;
	pid_t running;
	u64 written;
	u64 lost;
};

struct sft_switches sft_switches = { .set.channel = SIFIVE_TRACE_SWITCHES_OFF };

static DEFINE_PER_CPU(struct hart, harts);

/* The process whose threads are recorded; changes only while nothing is. */
static pid_t process;

/* The namespace that its thread ids are of. */
static struct pid_namespace *ids;

/* The tracepoint that has the probe, or NULL; under probe_lock, which precedes all others. */
static struct tracepoint *probed;
static DEFINE_MUTEX(probe_lock);

/* The offset within the register selects the size of the store. */
static void put_kind(const struct hart *h, u8 kind)
{
	writeb(kind, h->stimulus + 3);
}

/* One record, behind the mark if it needs one. */
static void put(struct hart *h, u8 kind, pid_t thread)
{
	if (!sft_sampling_has_room(h->encoder, h->owner)) {
		h->gap = true;
		h->lost++;
		return;
	}
	if (h->gap)
		put_kind(h, SIFIVE_TRACE_SWITCH_BEGIN);
	h->gap = false;
	put_kind(h, kind);
	writel(thread, h->stimulus);
	h->written++;
}

/* The id of one of the session's threads, 0 for others. */
static pid_t id_of(struct task_struct *task)
{
	if (sft_switches.set.flags & SIFIVE_TRACE_SWITCHES_ALL ?
	    task->flags & PF_KTHREAD : task->tgid != process)
		return 0;
	return ids == &init_pid_ns ? task->pid : task_pid_nr_ns(task, ids);
}

static u8 why_out(bool preempt, unsigned int state)
{
	if (state & TASK_DEAD)
		return SIFIVE_TRACE_SWITCH_EXITED;
	if (preempt || !state)
		return SIFIVE_TRACE_SWITCH_PREEMPTED;
	if (state & (__TASK_STOPPED | __TASK_TRACED))
		return SIFIVE_TRACE_SWITCH_STOPPED;
	if (state & TASK_UNINTERRUPTIBLE)
		return SIFIVE_TRACE_SWITCH_UNINTERRUPTIBLE;
	return SIFIVE_TRACE_SWITCH_SLEEPS;
}

/* A thread that exits may have lost its id already: the one of its switch in is used. */
static void switched(void *unused, bool preempt, struct task_struct *prev,
		     struct task_struct *next, unsigned int state)
{
	struct hart *h = this_cpu_ptr(&harts);

	if (!h->on)
		return;
	if (h->running)
		put(h, why_out(preempt, state), h->running);
	h->running = id_of(next);
	if (h->running)
		put(h, SIFIVE_TRACE_SWITCH_IN, h->running);
}

static void match(struct tracepoint *tp, void *found)
{
	if (!strcmp(tp->name, "sched_switch"))
		*(struct tracepoint **)found = tp;
}

/* Called without the system's lock. */
int sft_switches_probe(struct sft_why *why)
{
	struct tracepoint *tp = NULL;
	int ret = 0;

	check_trace_callback_type_sched_switch(switched);
	mutex_lock(&probe_lock);
	if (!probed) {
		for_each_kernel_tracepoint(match, &tp);
		ret = tp ? tracepoint_probe_register(tp, switched, NULL) : -ENOENT;
		if (!ret)
			probed = tp;
	}
	mutex_unlock(&probe_lock);
	if (!ret)
		return 0;
	return sft_fail(why, -EOPNOTSUPP,
			"this kernel does not report context switches: tracepoint error %d", ret);
}

/* Remove the probe if no session wants it any more. */
static void unprobe(struct work_struct *work)
{
	bool wanted;

	mutex_lock(&probe_lock);
	sft_lock();
	wanted = sft_switches.set.channel != SIFIVE_TRACE_SWITCHES_OFF;
	sft_unlock();
	if (probed && !wanted) {
		tracepoint_probe_unregister(probed, switched, NULL);
		probed = NULL;
	}
	mutex_unlock(&probe_lock);
}

static DECLARE_WORK(unprobe_work, unprobe);

/* Set the records of the following captures. */
int sft_switches_set(const struct sifive_trace_switches *arg, struct sft_why *why)
{
	if (arg->channel != SIFIVE_TRACE_SWITCHES_OFF &&
	    (arg->channel >= 32 || !(sft_hw.capture.channels & BIT(arg->channel))))
		return sft_fail(why, -EINVAL, "channel %u is not one of the capture's (mask %#x)",
				arg->channel, sft_hw.capture.channels);
	sft_switches.set = *arg;
	schedule_work(&unprobe_work);
	return 0;
}

/* The caller's START begins to record its threads. */
void sft_switches_own(void)
{
	if (ids)
		put_pid_ns(ids);
	ids = get_pid_ns(task_active_pid_ns(current));
	process = task_tgid_nr(current);
}

static void begin_here(void *arg)
{
	struct hart *h = this_cpu_ptr(&harts);
	struct sft_encoder *e = arg;

	h->encoder = e;
	h->owner = sft_route_end(e)->owner;
	h->stimulus = e->c.regs + TR_ITC_STIMULUS + 4 * sft_switches.set.channel;
	h->gap = true;
	h->running = id_of(current);
	h->on = true;
	if (h->running)
		put(h, SIFIVE_TRACE_SWITCH_IN, h->running);
}

static void end_here(void *unused)
{
	struct hart *h = this_cpu_ptr(&harts);

	if (h->on && h->running)
		put(h, SIFIVE_TRACE_SWITCH_END, h->running);
	h->on = false;
}

/* The capture starts: each hart's stream begins with the thread that runs there. */
void sft_switches_start(void)
{
	struct sft_encoder *e;

	if (sft_switches.set.channel == SIFIVE_TRACE_SWITCHES_OFF || !ids)
		return;
	sft_switches.on = true;
	for_each_encoder(e)
		if (sft_route_has(e) && !e->ended)
			smp_call_function_single(e->cpu, begin_here, e, 1);
}

/* No CPU stores records when this returns. */
void sft_switches_stop(void)
{
	if (sft_switches.on)
		on_each_cpu(end_here, NULL, 1);
	sft_switches.on = false;
}

/* The same for one CPU that goes offline. */
void sft_switches_cpu_offline(unsigned int cpu)
{
	if (sft_switches.on)
		smp_call_function_single(cpu, end_here, NULL, 1);
}

void sft_switches_cpu_online(struct sft_encoder *e)
{
	if (sft_switches.on)
		smp_call_function_single(e->cpu, begin_here, e, 1);
}

/* Clear the setting: for another capture, or none. */
void sft_switches_release(void)
{
	sft_switches_stop();
	sft_switches.set = (struct sifive_trace_switches){ .channel = SIFIVE_TRACE_SWITCHES_OFF };
	if (ids)
		put_pid_ns(ids);
	ids = NULL;
	schedule_work(&unprobe_work);
}

/* Start the counts of another capture at 0. */
void sft_switches_clear(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu_ptr(&harts, cpu)->written = 0;
		per_cpu_ptr(&harts, cpu)->lost = 0;
	}
}

void sft_switches_status(struct sifive_trace_status *status)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		status->switches += READ_ONCE(per_cpu_ptr(&harts, cpu)->written);
		status->switches_lost += READ_ONCE(per_cpu_ptr(&harts, cpu)->lost);
	}
}

/* No session is left: the probe is not wanted. */
void sft_switches_exit(void)
{
	schedule_work(&unprobe_work);
	flush_work(&unprobe_work);
	tracepoint_synchronize_unregister();
}

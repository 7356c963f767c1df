// SPDX-License-Identifier: GPL-2.0-only
/*
 * Context switches: when a thread of the session starts or stops running on a hart, a probe on the
 * scheduler's tracepoint writes a record to a dedicated stimulus register of the hart's encoder.
 * Documentation/trace-format.rst describes the records.
 *
 * A hart's stream is accessed only on that hart, with interrupts disabled.
 */

#include <linux/bitfield.h>
#include <linux/io.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>
#include <trace/events/syscalls.h>

#include <linux/sifive_trace_regs.h>

#include "counters.h"

/**
 * struct hart - the stream of one hart
 * @stimulus:	the register
 * @encoder:	the hart's encoder
 * @owner:	the component whose sink receives this stream
 * @on:		records are written
 * @unseen:	other harts write records, but this one does not
 * @gap:	BEGIN must precede the next record, because records were lost or the stream begins
 * @running:	id of the session's thread that is running here, or 0 if none
 * @pid:	global id that this thread had when @running was recorded
 * @written:	number of records written since CONFIG
 * @lost:	number of records that could not be written
 * @elsewhere:	number of times that one of the session's threads began to run while @unseen was set
 * @wakeups:	number of times that this hart woke a thread of the session while @unseen was set
 */
struct hart {
	void __iomem *stimulus;
	const struct sft_encoder *encoder;
	const struct sft_component *owner;
	bool on;
	bool unseen;
	bool gap;
	pid_t running;
	pid_t pid;
	u64 written;
	u64 lost;
	u64 elsewhere;
	u64 wakeups;
};

struct sft_switches sft_switches = { .set.channel = SIFIVE_TRACE_SWITCHES_OFF };

static DEFINE_PER_CPU(struct hart, harts);

static struct sft_processes recorded;

/*
 * The offset within the register selects the size of the store. The stores are ordered with respect
 * to each other, but not with respect to accesses to memory.
 */
static __always_inline void put_kind(const struct hart *h, u8 kind)
{
	writeb_relaxed(kind, h->stimulus + 3);
}

static __always_inline void put(const struct hart *h, u8 kind, pid_t thread)
{
	put_kind(h, kind);
	writel_relaxed(thread, h->stimulus);
}

/*
 * Mark that records were lost, or that the stream begins. @running is the id of the running
 * thread, or 0 if no thread is running, or if the next record contains the id.
 */
static noinline void put_mark(struct hart *h, pid_t running)
{
	put_kind(h, SIFIVE_TRACE_SWITCH_BEGIN);
	h->gap = false;
	if (!running)
		return;
	put(h, SIFIVE_TRACE_SWITCH_IN, running);
	h->written++;
}

/* Return whether the sink has room for @count records. Writes BEGIN first if it is due. */
static __always_inline bool can_put(struct hart *h, unsigned int count, pid_t running)
{
	if (unlikely(!sft_sampling_has_room(h->encoder, h->owner))) {
		h->gap = true;
		h->lost += count;
		return false;
	}
	if (unlikely(h->gap))
		put_mark(h, running);
	h->written += count;
	return true;
}

static __always_inline bool is_recorded(struct task_struct *task)
{
	if (sft_switches.set.flags & SIFIVE_TRACE_SWITCHES_ALL)
		return !(task->flags & PF_KTHREAD);
	return sft_processes_have(&recorded, task_tgid(task));
}

/* Return a thread's id, or 0 if the session does not record the thread. */
static __always_inline pid_t id_of(struct task_struct *task)
{
	return is_recorded(task) ? sft_probes_id(task) : 0;
}

/*
 * A thread that has ended may be preempted once more, and its parent may release its id before the
 * thread finally leaves the CPU.
 */
static u8 why_out(const struct task_struct *task, bool preempt, unsigned int state)
{
	if (task->exit_state)
		return SIFIVE_TRACE_SWITCH_EXITED;
	if (preempt || !state)
		return SIFIVE_TRACE_SWITCH_PREEMPTED;
	if (state & (__TASK_STOPPED | __TASK_TRACED))
		return SIFIVE_TRACE_SWITCH_STOPPED;
	/*
	 * The kernel, too, reports frozen threads and threads waiting for a sleeping lock as
	 * uninterruptible.
	 */
	if (state & (TASK_UNINTERRUPTIBLE | TASK_RTLOCK_WAIT | TASK_FROZEN))
		return SIFIVE_TRACE_SWITCH_UNINTERRUPTIBLE;
	return SIFIVE_TRACE_SWITCH_SLEEPS;
}

/*
 * Called when the running thread is switched out, for the reason @kind, and @next is switched in.
 */
static __always_inline void change(struct hart *h, u8 kind, struct task_struct *next)
{
	const pid_t before = h->running, after = id_of(next);

	h->running = after;
	h->pid = next->pid;
	if ((!before && !after) || !can_put(h, !!before + !!after, 0))
		return;
	if (before)
		put(h, kind, before);
	if (after)
		put(h, SIFIVE_TRACE_SWITCH_IN, after);
}

/* Like change(), but not inlined, for slow paths. */
static noinline void change_slowly(struct hart *h, u8 kind, struct task_struct *next)
{
	change(h, kind, next);
}

/* A thread that calls execve() assumes the id of its process, so its old id is invalid. */
static void take_over(struct hart *h, struct task_struct *task)
{
	change_slowly(h, SIFIVE_TRACE_SWITCH_EXITED, task);
}

static noinline void count_unseen(struct hart *h, struct task_struct *next)
{
	if (id_of(next))
		h->elsewhere++;
}

static bool has_taken_over(const struct hart *h, const struct task_struct *task)
{
	return h->running && task->pid != h->pid;
}

/*
 * An exiting thread may have lost its id, or swapped ids with a thread that called execve(), so use
 * the id that was recorded when the exiting thread was switched in.
 */
static notrace void switched(void *unused, bool preempt, struct task_struct *prev,
			     struct task_struct *next, unsigned int state)
{
	struct hart *h = this_cpu_ptr(&harts);

	if (unlikely(!h->on)) {
		if (READ_ONCE(h->unseen))
			count_unseen(h, next);
		return;
	}
	if (unlikely(has_taken_over(h, prev)) && !prev->exit_state)
		take_over(h, prev);
	change(h, why_out(prev, preempt, state), next);
}

static void executed(void *unused, struct task_struct *task, pid_t old,
		     struct linux_binprm *program)
{
	unsigned long flags;
	struct hart *h;

	local_irq_save(flags);
	h = this_cpu_ptr(&harts);
	if (h->on && has_taken_over(h, task))
		take_over(h, task);
	local_irq_restore(flags);
}

/*
 * Called when @task becomes runnable, with interrupts disabled unless a thread
 * wakes itself. Such a thread continues without a switch, so it needs no record.
 */
static notrace void waking(void *unused, struct task_struct *task)
{
	struct hart *h = this_cpu_ptr(&harts);
	pid_t id;

	if (!(sft_switches.set.flags & SIFIVE_TRACE_SWITCHES_WAKEUPS) || task == current)
		return;
	if (unlikely(!h->on) && !READ_ONCE(h->unseen))
		return;
	id = id_of(task);
	if (!id)
		return;
	if (unlikely(!h->on))
		h->wakeups++;
	else if (can_put(h, 1, h->running))
		put(h, SIFIVE_TRACE_SWITCH_WOKEN, id);
}

static void forked(void *unused, struct task_struct *parent, struct task_struct *child)
{
	if (sft_switches.set.flags & SIFIVE_TRACE_SWITCHES_CHILDREN)
		sft_processes_forked(&recorded, parent, child);
}

static struct sft_probe probes[] = {
	{ .name = "sched_switch", .function = switched },
	{ .name = "sched_process_fork", .function = forked },
	{ .name = "sched_process_exec", .function = executed },
	{ .name = "sched_waking", .function = waking },
};

static_assert(ARRAY_SIZE(probes) <= SFT_PROBES);

static bool has_calls(void)
{
	return sft_switches.set.flags & SIFIVE_TRACE_SWITCHES_SYSCALLS;
}

/* Skip threads whose switch-in was not recorded, because readers could not attribute the call. */
static __always_inline void put_call(u8 kind, u32 value)
{
	unsigned long flags;
	struct hart *h;

	if (!has_calls())
		return;
	local_irq_save(flags);
	h = this_cpu_ptr(&harts);
	if (h->on && h->running && can_put(h, 1, h->running)) {
		put_kind(h, kind);
		writel_relaxed(value, h->stimulus);
	}
	local_irq_restore(flags);
}

static notrace void called(void *unused, struct pt_regs *regs, long number)
{
	put_call(SIFIVE_TRACE_SWITCH_CALL, number);
}

static notrace void returned(void *unused, struct pt_regs *regs, long result)
{
	put_call(SIFIVE_TRACE_SWITCH_RETURN, result);
}

/* These probes slow down all system calls while they are registered. */
static struct sft_probe call_probes[] = {
	{ .name = "sys_enter", .function = called },
	{ .name = "sys_exit", .function = returned },
};

static_assert(ARRAY_SIZE(call_probes) <= SFT_PROBES);

static bool has_faults(void)
{
	return sft_switches.set.flags & SIFIVE_TRACE_SWITCHES_FAULTS;
}

/* Record a fault only if the thread's switch-in has been recorded, as for system calls. */
static void faulted(struct perf_event *event, struct perf_sample_data *data,
		    struct pt_regs *regs)
{
	const u64 page = (data->sample_flags & PERF_SAMPLE_ADDR ? data->addr : 0) >> 12;
	const u64 pc = instruction_pointer(regs);
	u32 upper = FIELD_PREP(SIFIVE_TRACE_FAULT_PAGE, upper_32_bits(page)) |
		    FIELD_PREP(SIFIVE_TRACE_FAULT_PC, upper_32_bits(pc));
	unsigned long flags;
	struct hart *h;

	if (!has_faults())
		return;
	if (event->attr.config == PERF_COUNT_SW_PAGE_FAULTS_MAJ)
		upper |= SIFIVE_TRACE_FAULT_MAJOR;
	local_irq_save(flags);
	h = this_cpu_ptr(&harts);
	if (h->on && h->running && can_put(h, 1, h->running)) {
		put(h, SIFIVE_TRACE_SWITCH_FAULT, lower_32_bits(pc));
		writel_relaxed(lower_32_bits(page), h->stimulus);
		writel_relaxed(upper, h->stimulus);
	}
	local_irq_restore(flags);
}

bool sft_switches_is_set(void)
{
	return sft_switches.set.channel != SIFIVE_TRACE_SWITCHES_OFF;
}

static bool wants_calls(void)
{
	return sft_switches_is_set() && has_calls();
}

static bool wants_faults(void)
{
	return sft_switches_is_set() && has_faults();
}

/* Remove the probes that no session needs. */
static void unprobe(struct work_struct *work)
{
	sft_probes_remove(probes, ARRAY_SIZE(probes), sft_switches_is_set);
	sft_probes_remove(call_probes, ARRAY_SIZE(call_probes), wants_calls);
	sft_faults_remove(wants_faults);
}

static DECLARE_WORK(unprobe_work, unprobe);

/* Called without the system's lock. */
int sft_switches_probe(u32 flags, struct sft_why *why)
{
	int ret;

	check_trace_callback_type_sys_enter(called);
	check_trace_callback_type_sys_exit(returned);
	check_trace_callback_type_sched_switch(switched);
	check_trace_callback_type_sched_process_fork(forked);
	check_trace_callback_type_sched_process_exec(executed);
	check_trace_callback_type_sched_waking(waking);
	ret = sft_probes_add(probes, ARRAY_SIZE(probes), why);
	if (!ret && flags & SIFIVE_TRACE_SWITCHES_SYSCALLS)
		ret = sft_probes_add(call_probes, ARRAY_SIZE(call_probes), why);
	if (!ret && flags & SIFIVE_TRACE_SWITCHES_FAULTS)
		ret = sft_faults_add(faulted, why);
	/* The session may have ended while the system's lock was not held. */
	schedule_work(&unprobe_work);
	return ret;
}

/* The setting that the current setting replaced. */
static struct sifive_trace_switches earlier;

/*
 * Restore the previous setting, because the probes for @arg cannot be registered. Returns true if
 * another thread has already started a capture; no more switches are recorded in that capture.
 */
bool sft_switches_undo(const struct sifive_trace_switches *arg)
{
	if (sft_switches.on) {
		sft_switches_release();
		return true;
	}
	if (!memcmp(&sft_switches.set, arg, sizeof(*arg)))
		sft_switches.set = earlier;
	schedule_work(&unprobe_work);
	return false;
}

/* Set up context-switch records for the captures that follow. */
int sft_switches_set(const struct sifive_trace_switches *arg, struct sft_why *why)
{
	if (arg->channel != SIFIVE_TRACE_SWITCHES_OFF &&
	    (arg->channel >= 32 || !(sft_hw.capture.channels & BIT(arg->channel))))
		return sft_fail(why, -EINVAL, "channel %u is not one of the capture's (mask %#x)",
				arg->channel, sft_hw.capture.channels);
	earlier = sft_switches.set;
	sft_switches.set = *arg;
	schedule_work(&unprobe_work);
	return 0;
}

/* Prepare START to record the threads of @processes. The capture is not running. */
int sft_switches_own(const struct sft_pids *processes, struct sft_why *why)
{
	int ret;

	if (!sft_switches_is_set())
		return 0;
	ret = sft_probes_check(probes, ARRAY_SIZE(probes), "SWITCHES", why);
	if (!ret && has_calls())
		ret = sft_probes_check(call_probes, ARRAY_SIZE(call_probes), "SWITCHES", why);
	return ret ?: sft_processes_own(&recorded, processes, why);
}

static void begin_here(void *arg)
{
	struct hart *h = this_cpu_ptr(&harts);
	struct sft_encoder *e = arg;

	h->encoder = e;
	h->owner = sft_route_end(e)->owner;
	h->stimulus = e->c.regs + TR_ITC_STIMULUS + 4 * sft_switches.set.channel;
	h->gap = true;
	h->unseen = false;
	h->on = true;
	h->running = 0;
	/* Write BEGIN even if no thread is running, to inform readers of that. */
	can_put(h, 0, 0);
	change_slowly(h, SIFIVE_TRACE_SWITCH_END, current);
}

/* Write END even if no thread is running, to inform readers that no thread has run. */
static void end_here(void *unused)
{
	struct hart *h = this_cpu_ptr(&harts);

	if (h->on && can_put(h, 1, 0))
		put(h, SIFIVE_TRACE_SWITCH_END, h->running);
	h->on = false;
	h->unseen = false;
}

static bool begins(const struct sft_encoder *e)
{
	return sft_route_has(e) && !e->ended && (!has_faults() || sft_faults_seen(e->cpu));
}

static bool begins_on(unsigned int cpu)
{
	const struct sft_encoder *e;

	for_each_encoder(e)
		if (e->cpu == (int)cpu && begins(e))
			return true;
	return false;
}

/*
 * Set whether CPUs that do not record switches count them. Called before any stream begins. CPUs
 * whose streams are about to begin must not count, because a single unrecorded switch makes all
 * times uncertain.
 */
static void set_unseen(bool on)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(&harts, cpu)->unseen, on && !begins_on(cpu));
}

/* Watch for page faults on CPUs that have come online, and begin the streams of these CPUs. */
static void see_faults(struct work_struct *work)
{
	struct sft_why why = {};
	struct sft_encoder *e;

	sft_faults_add(faulted, &why);
	sft_lock();
	if (sft_switches.on)
		for_each_encoder(e)
			if (begins(e) && !READ_ONCE(per_cpu_ptr(&harts, e->cpu)->on))
				smp_call_function_single(e->cpu, begin_here, e, 1);
	sft_unlock();
	unprobe(work);
}

static DECLARE_WORK(see_work, see_faults);

/*
 * Return whether records contain addresses of other users' processes: page faults do, and
 * system-call results can. A child can belong to another user, because it can execute a set-user-ID
 * program.
 */
static bool exposes(u32 flags)
{
	return flags & (SIFIVE_TRACE_SWITCHES_FAULTS | SIFIVE_TRACE_SWITCHES_SYSCALLS) &&
	       (flags & (SIFIVE_TRACE_SWITCHES_ALL | SIFIVE_TRACE_SWITCHES_CHILDREN) ||
		sft_probes.processes->named);
}

/* Called when the capture starts: each hart's stream begins with the running thread. */
void sft_switches_start(void)
{
	struct sft_encoder *e;

	if (!sft_switches_is_set() || !recorded.entry)
		return;
	sft_hw.capture.exposed |= exposes(sft_switches.set.flags);
	sft_switches.on = true;
	set_unseen(true);
	for_each_encoder(e)
		if (begins(e))
			smp_call_function_single(e->cpu, begin_here, e, 1);
	/* CPUs may have come online since SWITCHES, or during system sleep. */
	if (has_faults())
		schedule_work(&see_work);
}

/* On return, no CPU stores records. */
void sft_switches_stop(void)
{
	if (!sft_switches.on)
		return;
	on_each_cpu(end_here, NULL, 1);
	set_unseen(false);
	sft_switches.on = false;
}

/*
 * Like sft_switches_stop(), but for a CPU that goes offline, because its stream may never resume.
 */
void sft_switches_cpu_offline(unsigned int cpu)
{
	if (!sft_switches.on)
		return;
	smp_call_function_single(cpu, end_here, NULL, 1);
	WRITE_ONCE(per_cpu_ptr(&harts, cpu)->unseen, true);
}

void sft_switches_cpu_online(struct sft_encoder *e)
{
	if (sft_switches.on && begins(e))
		smp_call_function_single(e->cpu, begin_here, e, 1);
	else if (sft_switches.on)
		schedule_work(&see_work);
}

/* Clear the setting, when another capture is configured or the session ends. */
void sft_switches_release(void)
{
	sft_switches_stop();
	sft_switches.set = (struct sifive_trace_switches){ .channel = SIFIVE_TRACE_SWITCHES_OFF };
	sft_processes_forget(&recorded);
	schedule_work(&unprobe_work);
}

/* Reset the counts for another capture. */
void sft_switches_clear(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu_ptr(&harts, cpu)->written = 0;
		per_cpu_ptr(&harts, cpu)->lost = 0;
		per_cpu_ptr(&harts, cpu)->elsewhere = 0;
		per_cpu_ptr(&harts, cpu)->wakeups = 0;
	}
	recorded.missing = 0;
}

void sft_switches_status(struct sifive_trace_status *status)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		status->switches += READ_ONCE(per_cpu_ptr(&harts, cpu)->written);
		status->switches_lost += READ_ONCE(per_cpu_ptr(&harts, cpu)->lost);
		status->switches_elsewhere += READ_ONCE(per_cpu_ptr(&harts, cpu)->elsewhere);
		status->wakeups_elsewhere += READ_ONCE(per_cpu_ptr(&harts, cpu)->wakeups);
	}
	status->switches_processes = READ_ONCE(recorded.missing);
}

/* Called when no session is left: remove the probes. */
void sft_switches_exit(void)
{
	schedule_work(&unprobe_work);
	flush_work(&see_work);
	flush_work(&unprobe_work);
	tracepoint_synchronize_unregister();
	sft_processes_flush();
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instruction trace of threads: probes on the scheduler's tracepoints turn tracing on when a traced
 * thread is switched in, and off when an untraced thread is. An inherited perf event would not
 * work, because perf switches between threads with the same events by swapping their contexts,
 * without calling the PMU.
 *
 * A hart's encoder is accessed only on that hart, with interrupts disabled.
 */

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>

#include "counters.h"

/**
 * struct hart - instruction trace of one hart
 * @encoder:	the hart's encoder while the capture is running, or NULL
 * @sink:	the encoder's sink
 * @on:		a thread is traced
 * @thread:	id that the running thread had when it was switched in, or 0 if it is not traced;
 *		saved because an exiting thread may lose its id before it is switched out
 * @parts:	number of times that tracing has begun since CONFIG
 */
struct hart {
	struct sft_encoder *encoder;
	struct sft_sink *sink;
	bool on;
	pid_t thread;
	u64 parts;
};

static DEFINE_PER_CPU(struct hart, harts);

/* The capture is running, and the probes are active. */
static bool running;

static struct sft_processes traced;

/* Process whose next execve() begins the trace, or NULL if START has begun it. */
static struct pid *until_exec;

static bool is_wanted(struct task_struct *task)
{
	return sft_hw.capture.instruction.flags & SIFIVE_TRACE_INSTRUCTION_ALL ||
	       (!READ_ONCE(until_exec) && sft_processes_have(&traced, task_tgid(task)));
}

/*
 * Called before this hart switches to @task. @now: id of the thread that runs until then, or 0 if
 * that thread is not traced.
 */
static void trace(struct hart *h, pid_t now, struct task_struct *task)
{
	bool wanted = is_wanted(task);

	h->thread = wanted ? sft_probes_id(task) : 0;
	if (!wanted && !h->on)
		return;
	h->on = sft_instruction_trace(h->encoder, h->sink,
				      wanted ? sft_hw.capture.instruction.mode : 0,
				      now, h->thread);
	h->parts += h->on;
}

static void trace_current(struct hart *h)
{
	trace(h, sft_probes_id(current), current);
}

static void switched(void *unused, bool preempt, struct task_struct *prev,
		     struct task_struct *next, unsigned int state)
{
	struct hart *h = this_cpu_ptr(&harts);

	if (h->encoder)
		trace(h, h->thread, next);
}

/* Called before the child runs. */
static void forked(void *unused, struct task_struct *parent, struct task_struct *child)
{
	if (sft_hw.capture.instruction.flags & SIFIVE_TRACE_INSTRUCTION_CHILDREN)
		sft_processes_forked(&traced, parent, child);
}

/* Called before the program runs. */
static void executed(void *unused, struct task_struct *task, pid_t old,
		     struct linux_binprm *program)
{
	unsigned long flags;
	struct hart *h;

	if (task_tgid(task) != READ_ONCE(until_exec))
		return;
	local_irq_save(flags);
	WRITE_ONCE(until_exec, NULL);
	h = this_cpu_ptr(&harts);
	if (h->encoder)
		trace_current(h);
	local_irq_restore(flags);
}

/* These probes run first, so a context-switch record follows the end of the part. */
static struct sft_probe probes[] = {
	{ .name = "sched_switch", .function = switched, .first = true },
	{ .name = "sched_process_fork", .function = forked },
	{ .name = "sched_process_exec", .function = executed },
};

static_assert(ARRAY_SIZE(probes) <= SFT_PROBES);

static bool is_configured(void)
{
	return sft_hw.capture.instruction.mode && sft_hw.capture.watched;
}

static void unprobe(struct work_struct *work)
{
	sft_probes_remove(probes, ARRAY_SIZE(probes), is_configured);
}

static DECLARE_WORK(unprobe_work, unprobe);

/* Called after a CONFIG with instruction trace, without the system's lock. */
int sft_instruction_prepare(struct sft_why *why)
{
	int ret;

	check_trace_callback_type_sched_switch(switched);
	check_trace_callback_type_sched_process_fork(forked);
	check_trace_callback_type_sched_process_exec(executed);
	ret = sft_probes_add(probes, ARRAY_SIZE(probes), why);
	/* The session may have ended while the system's lock was not held. */
	schedule_work(&unprobe_work);
	return ret;
}

static void begin_here(void *arg)
{
	struct hart *h = this_cpu_ptr(&harts);

	h->encoder = arg;
	h->sink = sft_route_end(h->encoder);
	trace_current(h);
}

static void end_here(void *unused)
{
	struct hart *h = this_cpu_ptr(&harts);

	if (h->encoder && h->on)
		sft_instruction_trace(h->encoder, h->sink, 0, 0, 0);
	h->encoder = NULL;
	h->on = false;
}

/* Prepare START to trace the threads of @processes. The capture is not running. */
int sft_instruction_own(const struct sft_pids *processes, bool on_exec, struct sft_why *why)
{
	int ret;

	if (!sft_hw.capture.instruction.mode)
		return 0;
	ret = sft_probes_check(probes, ARRAY_SIZE(probes), "CONFIG", why) ?:
	      sft_processes_own(&traced, processes, why);
	if (!ret)
		WRITE_ONCE(until_exec, on_exec ? processes->process[0] : NULL);
	return ret;
}

/* Called when the capture starts: begin to trace the running threads. */
void sft_instruction_start(void)
{
	struct sft_encoder *e;

	if (!sft_hw.capture.instruction.mode || !traced.entry)
		return;
	WRITE_ONCE(running, true);
	for_each_encoder(e)
		if (sft_route_has(e) && !e->ended)
			smp_call_function_single(e->cpu, begin_here, e, 1);
}

/* On return, no CPU writes to an encoder. */
void sft_instruction_stop(void)
{
	if (!running)
		return;
	WRITE_ONCE(running, false);
	on_each_cpu(end_here, NULL, 1);
}

/* Like sft_instruction_stop(), but for one CPU that goes offline. */
void sft_instruction_cpu_offline(unsigned int cpu)
{
	if (running)
		smp_call_function_single(cpu, end_here, NULL, 1);
}

void sft_instruction_cpu_online(struct sft_encoder *e)
{
	if (running)
		smp_call_function_single(e->cpu, begin_here, e, 1);
}

/* Called when the session ends. */
void sft_instruction_release(void)
{
	sft_instruction_stop();
	WRITE_ONCE(until_exec, NULL);
	sft_processes_forget(&traced);
	schedule_work(&unprobe_work);
}

/* Reset the counts for another capture. */
void sft_instruction_clear(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		per_cpu_ptr(&harts, cpu)->parts = 0;
	traced.missing = 0;
}

void sft_instruction_status(struct sifive_trace_instruction_status *status)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		status->parts += READ_ONCE(per_cpu_ptr(&harts, cpu)->parts);
	status->untraced = READ_ONCE(traced.missing);
}

/* Called when no session is left: remove the probes. */
void sft_instruction_exit(void)
{
	schedule_work(&unprobe_work);
	flush_work(&unprobe_work);
	tracepoint_synchronize_unregister();
	sft_processes_flush();
}

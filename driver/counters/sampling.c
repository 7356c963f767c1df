// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records written by the kernel: perf interrupts a thread on a timer or on a counter's overflow.
 * The handler stores the thread's address and counts to a dedicated stimulus register of the hart's
 * encoder.
 *
 * A hart's stream is accessed only on that hart, with interrupts disabled. Events are created after
 * START and released after STOP without the system's lock, because perf takes its own locks for
 * both.
 */

#include <linux/bitfield.h>
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include <linux/sifive_trace_regs.h>

#include "../hardware/compat.h"
#include "record.h"
#include "counters.h"

/**
 * struct hart - the stream of one hart
 * @stream:	state of the stream
 * @encoder:	the hart's encoder
 * @owner:	the component whose sink receives this stream
 * @on:		records are written
 * @begun:	the stream has a header in this capture
 * @flags:	SIFIVE_TRACE_SAMPLING_*
 * @samples:	number of records written since CONFIG
 * @lost:	number of records that could not be written
 * @sum:	sums of the per-thread counts and of the sampling event's counts, by counter
 */
struct hart {
	struct sft_stream stream;
	const struct sft_component *encoder;
	const struct sft_component *owner;
	bool on;
	bool begun;
	u32 flags;
	u64 samples;
	u64 lost;
	u64 sum[SIFIVE_TRACE_MAX_COUNTERS];
};

struct sft_sampling sft_sampling;

static DEFINE_PER_CPU(struct hart, harts);

/**
 * struct follower - an event that samples a thread or a CPU
 * @node:	entry in followers, or in leaving
 * @event:	the perf event
 * @reported:	number of events without a counter at the last check, including inherited ones
 */
struct follower {
	struct list_head node;
	struct perf_event *event;
	unsigned int reported;
};

/* Events of the running capture, and events to be released. */
static LIST_HEAD(followers);
static LIST_HEAD(leaving);

/* Events that report context switches, for per-thread counts. */
static LIST_HEAD(switches);

/* Serialises the creation of events; taken before the system's lock. */
static DEFINE_MUTEX(follow_lock);

/*
 * Generation of the current events, protected by the system's lock. Events of an earlier generation
 * do not write records, and await release. Never 0.
 */
static unsigned long generation = 1;

/* Events that have lost their counter since CONFIG. */
static u64 without_counter;

static u64 width_mask(unsigned int n)
{
	return GENMASK_ULL(FIELD_GET(SIFIVE_TRACE_COUNTER_WIDTH, sft_counters.event[n].info), 0);
}

/*
 * Read this CPU's counters, by number; returns false if a counter cannot be read. With per-thread
 * counts, a stream contains records for many threads, so each record adds its thread's counts since
 * that thread's last record.
 */
static bool read_counters(struct hart *h, u64 *now)
{
	u64 own[SIFIVE_TRACE_MAX_COUNTERS];
	unsigned long mask = h->stream.mask & ~sft_counters.sampled;
	unsigned int n;
	bool all = true;

	if (sft_counters.per_thread && !sft_own_take(own))
		return false;
	for_each_set_bit(n, &mask, SIFIVE_TRACE_MAX_COUNTERS) {
		if (n == SFT_TIMESTAMP) {
			now[n] = sft_timestamp_read(h->encoder);
		} else if (sft_counters.per_thread) {
			h->sum[n] += own[n];
			now[n] = h->sum[n] & width_mask(n);
		} else if (!sft_counters_read(n, &now[n])) {
			all = false;
		}
	}
	return all;
}

/* Read the counts on which the records after a header are based. */
static void read_base(const struct hart *h, u64 *now)
{
	unsigned long mask = h->stream.mask;
	unsigned int n;

	for_each_set_bit(n, &mask, SIFIVE_TRACE_MAX_COUNTERS) {
		if (n == SFT_TIMESTAMP)
			now[n] = sft_timestamp_read(h->encoder);
		else if (sft_counters.per_thread || sft_counters.sampled & BIT(n))
			now[n] = h->sum[n] & width_mask(n);
		else
			sft_counters_read(n, &now[n]);
	}
}

/* Add the increment of the interrupting event: one period, or more if the interrupt is late. */
static void add_sampled(struct hart *h, struct perf_event *event, u64 *now)
{
	unsigned int n;

	if (!sft_counters.sampled)
		return;
	n = __ffs(sft_counters.sampled);
	h->sum[n] += sft_perf_counted(event);
	now[n] = h->sum[n] & width_mask(n);
}

/*
 * Return whether a sample taken during execve(), when there are no user-mode registers, has kernel
 * addresses.
 */
static bool has_kernel_part(const struct hart *h, const struct pt_regs *at)
{
	return current->mm && current->in_execve && at &&
	       h->flags & SIFIVE_TRACE_SAMPLING_KERNEL;
}

static void sample(struct perf_event *event, struct perf_sample_data *data,
		   struct pt_regs *regs)
{
	struct hart *h = this_cpu_ptr(&harts);
	u64 now[SIFIVE_TRACE_MAX_COUNTERS], pc;
	const struct pt_regs *user = sft_record_registers(regs);

	if (!(user || has_kernel_part(h, regs)) || !READ_ONCE(sft_sampling.on) ||
	    (unsigned long)event->overflow_handler_context != READ_ONCE(generation))
		return;
	if (!h->on || !sft_sampling_has_room(to_encoder(h->encoder), h->owner) ||
	    !read_counters(h, now)) {
		h->lost++;
		return;
	}
	add_sampled(h, event, now);
	sft_record_repeat(&h->stream, now);
	pc = sft_record_path(&h->stream, h->flags, regs, user);
	sft_record_isr(&h->stream, pc, now);
	h->samples++;
}

/* Convert @ev into the attributes of a perf event. */
static void describe(struct perf_event_attr *attr,
		     const struct sifive_trace_event *ev)
{
	switch (ev->type) {
	case SIFIVE_TRACE_EVENT_GENERAL:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = ev->code - 1;
		break;
	case SIFIVE_TRACE_EVENT_CACHE:
		attr->type = PERF_TYPE_HW_CACHE;
		attr->config = ev->code >> 3 | (ev->code >> 1 & 3) << 8 |
			       (ev->code & 1) << 16;
		break;
	default:
		attr->type = PERF_TYPE_RAW;
		attr->config = ev->data;
	}
	attr->exclude_user = !!(ev->flags & SIFIVE_TRACE_EVENT_NO_USER);
	attr->exclude_kernel = !!(ev->flags & SIFIVE_TRACE_EVENT_NO_KERNEL);
}

/* An event of generation 0 does not write records. */
static struct perf_event *make_event(const struct sft_following *to,
				     struct task_struct *task, int cpu)
{
	const struct sifive_trace_sampling *s = &to->set;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = s->interval,
		.inherit = !!task,
		.inherit_thread = task && !(s->flags & SIFIVE_TRACE_SAMPLING_CHILDREN),
		.remove_on_exec = task && !(s->flags & SIFIVE_TRACE_SAMPLING_EXEC),
		.disabled = to->on_exec,
		.enable_on_exec = to->on_exec,
		.exclude_idle = 1,
	};

	if (s->period) {
		describe(&attr, &s->event);
		attr.sample_period = s->period;
		/* perf reports the lack of a counter only for pinned events. */
		attr.pinned = 1;
	}
	return perf_event_create_kernel_counter(&attr, cpu, task, sample, (void *)to->of);
}

static void release(struct list_head *list)
{
	struct follower *f, *next;

	list_for_each_entry_safe(f, next, list, node) {
		perf_event_release_kernel(f->event);
		kfree(f);
	}
}

static void release_left(struct work_struct *work)
{
	LIST_HEAD(list);

	sft_lock();
	list_splice_init(&leaving, &list);
	sft_unlock();
	release(&list);
}

static DECLARE_WORK(release_work, release_left);

/* Add @event to the list of events created so far, unless it is an error pointer. */
static int keep(struct sft_following *to, struct perf_event *event)
{
	struct follower *f;

	if (IS_ERR(event)) {
		int ret = PTR_ERR(event);

		/* The thread has exited or the CPU is offline: nothing to sample. */
		return ret == -ESRCH || ret == -ENODEV ? 0 : ret;
	}
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f) {
		perf_event_release_kernel(event);
		return -ENOMEM;
	}
	f->event = event;
	list_add(&f->node, &to->list);
	/* When events are re-created, sampling continues even if some of them find no counter. */
	return sft_perf_failed(f->event) && !to->flags ? -EBUSY : 0;
}

static int follow(struct sft_following *to, struct task_struct *task, int cpu)
{
	return keep(to, make_event(to, task, cpu));
}

/* Remove the CPUs that have an event in @list from @cpus. */
static void remove_followed(struct cpumask *cpus, const struct list_head *list)
{
	const struct follower *f;

	list_for_each_entry(f, list, node)
		if (!sft_perf_cpu_gone(f->event))
			cpumask_clear_cpu(f->event->cpu, cpus);
}

static int follow_cpus(struct sft_following *to)
{
	unsigned int cpu;
	int ret = 0;

	sft_lock();
	cpumask_clear(to->cpus);
	sft_route_cpus(to->cpus);
	remove_followed(to->cpus, &followers);
	sft_unlock();
	for_each_cpu(cpu, to->cpus)
		ret = ret ?: follow(to, NULL, cpu);
	return ret;
}

/* Return all threads of @process, with references, in an array to free with kvfree(). */
static struct task_struct **get_threads(struct task_struct *process, unsigned int *count)
{
	struct task_struct **task, *t;
	unsigned int room;

	for (;;) {
		room = 2 * get_nr_threads(process) + 16;
		task = kvcalloc(room, sizeof(*task), GFP_KERNEL);
		if (!task)
			return NULL;
		*count = 0;
		rcu_read_lock();
		for_each_thread(process, t) {
			if (*count < room)
				task[*count] = get_task_struct(t);
			++*count;
		}
		rcu_read_unlock();
		if (*count <= room)
			return task;
		/* The process has created many threads since they were counted. */
		while (room--)
			put_task_struct(task[room]);
		kvfree(task);
	}
}

/* Follow a process's threads. New threads and, with _CHILDREN, new processes inherit the event. */
static int follow_threads_of(struct sft_following *to, struct pid *pid)
{
	struct task_struct *process = get_pid_task(pid, PIDTYPE_TGID), **task;
	unsigned int count;
	int ret = 0;

	/* The process has ended: nothing to sample. */
	if (!process)
		return 0;
	task = get_threads(process, &count);
	put_task_struct(process);
	if (!task)
		return -ENOMEM;
	while (count--) {
		ret = ret ?: follow(to, task[count], -1);
		put_task_struct(task[count]);
	}
	kvfree(task);
	return ret;
}

static int follow_threads(struct sft_following *to)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < to->processes->count && !ret; i++)
		ret = follow_threads_of(to, to->processes->process[i]);
	return ret;
}

/* Stop per-thread counting. */
static void unfollow_switches(void)
{
	if (list_empty(&switches))
		return;
	sft_own_end();
	list_splice_init(&switches, &leaving);
	schedule_work(&release_work);
}

/*
 * Called before the first sample if there are per-thread counts: create an event on each online
 * CPU. Only counts on the capture's CPUs are assigned to threads, but threads can exit on any CPU.
 */
static int follow_switches(struct sft_following *to)
{
	const struct follower *f;
	unsigned int cpu;
	int ret = 0;

	sft_lock();
	cpumask_copy(to->cpus, cpu_online_mask);
	remove_followed(to->cpus, &switches);
	sft_unlock();
	for_each_cpu(cpu, to->cpus)
		ret = ret ?: keep(to, sft_own_event(cpu));
	if (ret)
		return ret;
	sft_lock();
	if (to->of == generation) {
		list_splice_init(&to->list, &switches);
		cpumask_clear(to->cpus);
		sft_route_cpus(to->cpus);
		/* A CPU may have been offline since its event was created. */
		list_for_each_entry(f, &switches, node)
			if (!sft_perf_cpu_gone(f->event) &&
			    cpumask_test_cpu(f->event->cpu, to->cpus))
				sft_own_begin(f->event->cpu);
	}
	sft_unlock();
	return 0;
}

static int no_capability(struct sft_why *why)
{
	return sft_fail(why, -EPERM,
			"sampling everything that runs needs CAP_PERFMON or CAP_SYS_ADMIN");
}

/* Store the reason why an event cannot be created here. */
static int explain(int err, struct sft_why *why)
{
	if (err == -EOPNOTSUPP || err == -EINVAL || err == -ENOENT)
		return sft_fail(why, -EOPNOTSUPP, "the event cannot interrupt this hart");
	if (err == -EACCES)
		return no_capability(why);
	if (err == -EBUSY)
		return sft_fail(why, err,
				"no counter that can count the event is free for sampling");
	return sft_fail(why, err, "the kernel cannot sample: perf_event_create error %d", err);
}

/*
 * Create the sampling events after START, or re-create them after system sleep or hotplug if the
 * setting has @flags. sft_sampling_prepare(), _make() and _finish() are called without the system's
 * lock, but sft_sampling_wanted() and _adopt() are called with the lock held.
 */
int sft_sampling_prepare(struct sft_following *to, u32 flags, bool on_exec)
{
	*to = (struct sft_following){ .flags = flags, .on_exec = on_exec };
	INIT_LIST_HEAD(&to->list);
	if (!zalloc_cpumask_var(&to->cpus, GFP_KERNEL))
		return -ENOMEM;
	mutex_lock(&follow_lock);
	if (sft_own_make_table()) {
		sft_sampling_finish(to);
		return -ENOMEM;
	}
	/* The previous events keep sampling until they have been released. */
	flush_work(&release_work);
	return 0;
}

bool sft_sampling_is_set(void)
{
	return sft_sampling.set.interval || sft_sampling.set.period;
}

static bool wanted(const struct sft_following *to)
{
	if ((to->set.flags & to->flags) != to->flags)
		return false;
	return list_empty(&followers) || to->set.flags & SIFIVE_TRACE_SAMPLING_ALL;
}

/* Return whether a running or paused capture needs sampling events. */
bool sft_sampling_wanted(struct sft_following *to)
{
	if (!sft_sampling_is_set())
		return false;
	to->set = sft_sampling.set;
	to->on_exec &= !(to->set.flags & SIFIVE_TRACE_SAMPLING_ALL);
	to->of = generation;
	to->processes = sft_pids_get(sft_probes.processes);
	to->own = sft_counters.per_thread;
	if (to->own && !to->flags && list_empty(&switches))
		sft_own_reset();
	return to->own || wanted(to);
}

int sft_sampling_make(struct sft_following *to)
{
	int ret = to->own ? follow_switches(to) : 0;

	if (ret || !wanted(to))
		return ret;
	return to->set.flags & SIFIVE_TRACE_SAMPLING_ALL ?
	       follow_cpus(to) : follow_threads(to);
}

/*
 * Called when the events have been created, or creation has failed with @err. If sampling has ended
 * since creation began, the events are not used: another START will create new ones.
 */
int sft_sampling_adopt(struct sft_following *to, int err, struct sft_why *why)
{
	if (to->of != generation)
		return 0;
	if (err) {
		unfollow_switches();
		return explain(err, why);
	}
	list_splice_init(&to->list, &followers);
	return 0;
}

/* Release the events that were not adopted. */
void sft_sampling_finish(struct sft_following *to)
{
	release(&to->list);
	sft_pids_put(to->processes);
	mutex_unlock(&follow_lock);
	free_cpumask_var(to->cpus);
}

/*
 * Called before system sleep, and when a CPU comes online: release the events that are bound to a
 * CPU, because such an event does not survive its CPU going offline. Events of threads are kept.
 */
void sft_sampling_suspend(void)
{
	unfollow_switches();
	if (sft_sampling.set.flags & SIFIVE_TRACE_SAMPLING_ALL)
		sft_sampling_unfollow();
}

/* Find events that have lost their counter, and report each once. */
void sft_sampling_check(struct sft_why *why)
{
	u64 before = without_counter;
	struct follower *f;

	list_for_each_entry(f, &followers, node) {
		unsigned int reported = f->reported;

		f->reported = sft_perf_count_failed(f->event);
		if (f->reported > reported)
			without_counter += f->reported - reported;
	}
	if (without_counter == before)
		return;
	sft_add(why, "sampling lost its counter to another event: samples are missing");
}

/* Called with the system locked when sampling has ended, by STOP or otherwise. */
void sft_sampling_unfollow(void)
{
	WRITE_ONCE(generation, generation + 1);
	unfollow_switches();
	if (list_empty(&followers))
		return;
	list_splice_init(&followers, &leaving);
	schedule_work(&release_work);
}

/* Called when streams have ended or are restarting: the next record needs a header. */
void sft_sampling_rewind(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		per_cpu_ptr(&harts, cpu)->begun = false;
}

/* Set up sampling for the captures that follow. */
int sft_sampling_set(struct sifive_trace_sampling *arg, struct sft_why *why)
{
	int ret = sft_sampling_valid(arg, why);

	if (ret)
		return ret;
	sft_sampling.set = *arg;
	sft_sampling_rewind();
	return 0;
}

/* Prepare START to sample the threads of @processes. The capture is not running. */
int sft_sampling_own(const struct sft_pids *processes, struct sft_why *why)
{
	/* Children are not known in advance, so the counts of all threads are kept. */
	const bool all = sft_sampling.set.flags &
			 (SIFIVE_TRACE_SAMPLING_ALL | SIFIVE_TRACE_SAMPLING_CHILDREN);

	return sft_sampling_is_set() && sft_counters.per_thread ?
	       sft_own_only(all ? NULL : processes, why) : 0;
}

/*
 * Called before the setting changes: check that perf can create the event and has a counter
 * for it on this CPU.
 */
int sft_sampling_try(const struct sifive_trace_sampling *set,
		     struct sft_why *why)
{
	const struct sft_following to = { .set = *set };
	struct perf_event *event;
	int ret;

	if (!set->period)
		return 0;
	event = make_event(&to, current, -1);
	ret = PTR_ERR_OR_ZERO(event);
	if (!ret) {
		ret = sft_perf_failed(event) ? -EBUSY : 0;
		perf_event_release_kernel(event);
	}
	if (!ret)
		return 0;
	return explain(ret, why);
}

static void begin_here(void *arg)
{
	const struct sifive_trace_sampling *set = &sft_sampling.set;
	struct hart *h = this_cpu_ptr(&harts);
	struct sft_encoder *e = arg;
	u64 now[SIFIVE_TRACE_MAX_COUNTERS] = {};

	h->encoder = &e->c;
	h->owner = sft_route_end(e)->owner;
	h->stream.stimulus = e->c.regs + TR_ITC_STIMULUS + 4 * set->channel;
	h->stream.event = sft_counters.event;
	h->stream.mask = sft_counters_recorded();
	h->stream.type = set->count_type;
	h->stream.interval = set->flags & SIFIVE_TRACE_SAMPLING_HEADERS ?
			     SIFIVE_TRACE_SAMPLING_HEADER_EVERY : 0;
	h->flags = set->flags;
	if (!h->begun || !(set->flags & SIFIVE_TRACE_SAMPLING_ONE_HEADER)) {
		read_base(h, now);
		/*
		 * If a repeated header is due, write two headers: readers would conclude from a
		 * single one that the records continue.
		 */
		if (h->begun && h->stream.interval && !h->stream.left)
			sft_record_header(&h->stream, now);
		sft_record_header(&h->stream, now);
		h->begun = true;
	}
	h->on = true;
}

static void end_here(void *unused)
{
	this_cpu_ptr(&harts)->on = false;
}

/*
 * Return whether samples contain data that the session's user may not read: kernel addresses, or
 * words of other users' stacks. A list of callers can also contain such words. A child can be
 * another user's process, because it can execute a set-user-ID program.
 */
static bool exposes(u32 flags)
{
	return flags & SIFIVE_TRACE_SAMPLING_KERNEL ||
	       (flags & (SIFIVE_TRACE_SAMPLING_STACK(U16_MAX) | SIFIVE_TRACE_SAMPLING_CALLERS) &&
		(flags & (SIFIVE_TRACE_SAMPLING_ALL | SIFIVE_TRACE_SAMPLING_CHILDREN) ||
		 sft_probes.processes->named));
}

/* Called when the capture starts: each hart's stream begins with a header. */
void sft_sampling_start(void)
{
	struct sft_encoder *e;

	if (!sft_sampling_is_set())
		return;
	sft_hw.capture.exposed |= exposes(sft_sampling.set.flags);
	for_each_encoder(e)
		if (sft_route_has(e) && !e->ended)
			smp_call_function_single(e->cpu, begin_here, e, 1);
	WRITE_ONCE(sft_sampling.on, true);
}

/* On return, no CPU stores records. */
void sft_sampling_stop(void)
{
	if (!sft_sampling.on)
		return;
	WRITE_ONCE(sft_sampling.on, false);
	on_each_cpu(end_here, NULL, 1);
}

/* Like sft_sampling_stop(), but for one CPU that goes offline, even during a pause. */
void sft_sampling_cpu_offline(unsigned int cpu)
{
	if (!sft_sampling_is_set())
		return;
	smp_call_function_single(cpu, end_here, NULL, 1);
	sft_own_cpu_offline(cpu);
}

/*
 * Called after a CPU has come online: its stream continues with a header. During a pause, the
 * stream continues when the pause ends.
 */
void sft_sampling_cpu_online(struct sft_encoder *e)
{
	if (sft_sampling.on)
		smp_call_function_single(e->cpu, begin_here, e, 1);
}

/* Clear the setting, for new counters or another session. */
void sft_sampling_release(void)
{
	sft_sampling_stop();
	sft_sampling_unfollow();
	sft_own_only(NULL, NULL);
	memset(&sft_sampling.set, 0, sizeof(sft_sampling.set));
}

/* Reset the counts for another capture. */
void sft_sampling_clear(void)
{
	unsigned int cpu;

	without_counter = 0;
	for_each_possible_cpu(cpu) {
		per_cpu_ptr(&harts, cpu)->samples = 0;
		per_cpu_ptr(&harts, cpu)->lost = 0;
	}
}

void sft_sampling_status(struct sifive_trace_status *status)
{
	unsigned int cpu;

	status->samples = 0;
	status->samples_lost = without_counter;
	for_each_possible_cpu(cpu) {
		status->samples += READ_ONCE(per_cpu_ptr(&harts, cpu)->samples);
		status->samples_lost += READ_ONCE(per_cpu_ptr(&harts, cpu)->lost);
	}
}

void sft_sampling_exit(void)
{
	flush_work(&release_work);
	sft_own_exit();
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the counts of each sampled thread, joined or not, since the thread's last sample. A perf
 * event on each CPU reports context switches. At each switch, the counters' increments since the
 * previous switch are added to the counts of the thread that stops running.
 *
 * perf's per-thread events cannot provide such counts, because perf leaves inherited events on the
 * CPU when the next thread has the same set of events.
 */

#include <linux/bitfield.h>
#include <linux/hash.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "counters.h"

#define HASH_BITS	10

/**
 * struct own - the counts of one thread
 * @node:	entry in a hash list or the free list of the table
 * @task:	the thread; only compared, never dereferenced
 * @started:	start time, which identifies the thread because @task may be reused
 * @count:	counts since the thread's last sample, by counter
 */
struct own {
	struct hlist_node node;
	const struct task_struct *task;
	u64 started;
	u64 count[SIFIVE_TRACE_MAX_COUNTERS];
};

/**
 * struct table - all sampled threads that have not exited
 * @lock:	protects the lists; a thread's counts belong to the CPU on which it is running
 * @list:	threads, by hash
 * @free:	unused entries
 * @own:	the entries
 */
struct table {
	raw_spinlock_t lock;
	struct hlist_head list[1 << HASH_BITS];
	struct hlist_head free;
	struct own own[SIFIVE_TRACE_THREADS];
};

/* Allocated by the first session that samples. */
static struct table *table;

/* The processes whose threads are sampled; all processes if empty. */
static struct sft_processes only;

/**
 * struct here - a CPU's counters; accessed only on that CPU, with interrupts disabled
 * @base:	counter values up to which counts have been assigned to threads
 * @mask:	counters to read at each context switch
 * @on:		the CPU's context switches are reported
 */
struct here {
	u64 base[SIFIVE_TRACE_MAX_COUNTERS];
	unsigned long mask;
	bool on;
};

static DEFINE_PER_CPU(struct here, here);

static struct hlist_head *list_of(const struct task_struct *task)
{
	return &table->list[hash_ptr((void *)task, HASH_BITS)];
}

static struct own *find(const struct task_struct *task)
{
	struct own *own;

	hlist_for_each_entry(own, list_of(task), node)
		if (own->task == task)
			return own;
	return NULL;
}

static struct own *take_free(const struct task_struct *task)
{
	struct own *own = hlist_entry_safe(table->free.first, struct own, node);

	if (!own)
		return NULL;
	hlist_del(&own->node);
	hlist_add_head(&own->node, list_of(task));
	own->task = task;
	own->started = ~task->start_time;
	return own;
}

/* Return the running thread's entry, or NULL if it is not sampled or the table is full. */
static struct own *current_own(void)
{
	struct own *own;

	if (!current->mm || (READ_ONCE(only.entry) &&
			     !sft_processes_have(&only, task_tgid(current))))
		return NULL;
	raw_spin_lock(&table->lock);
	own = find(current) ?: take_free(current);
	raw_spin_unlock(&table->lock);
	if (own && own->started != current->start_time) {
		own->started = current->start_time;
		memset(own->count, 0, sizeof(own->count));
	}
	return own;
}

/* Free the entry of an exiting thread. */
static void forget(const struct task_struct *task)
{
	struct own *own;

	raw_spin_lock(&table->lock);
	own = find(task);
	if (own) {
		hlist_del(&own->node);
		hlist_add_head(&own->node, &table->free);
	}
	raw_spin_unlock(&table->lock);
}

/* Add the counters' increments to @own, or discard them if @own is NULL. */
static void settle(struct here *h, struct own *own)
{
	unsigned int n;
	u64 now, width;

	for_each_set_bit(n, &h->mask, SIFIVE_TRACE_MAX_COUNTERS) {
		if (!sft_counters_read(n, &now))
			continue;
		width = FIELD_GET(SIFIVE_TRACE_COUNTER_WIDTH, sft_counters.event[n].info);
		if (own)
			own->count[n] += (now - h->base[n]) & GENMASK_ULL(width, 0);
		h->base[n] = now;
	}
}

/* Called when the running thread is scheduled out, with interrupts disabled. */
static void switched(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	const bool dead = READ_ONCE(current->__state) == TASK_DEAD;
	struct here *h = this_cpu_ptr(&here);

	if (dead)
		forget(current);
	if (h->on)
		settle(h, dead ? NULL : current_own());
}

/*
 * Copy the running thread's counts since its last sample to @count, by counter, and reset them.
 * Returns false if the counts are unknown. Called with interrupts disabled.
 */
bool sft_own_take(u64 *count)
{
	struct here *h = this_cpu_ptr(&here);
	struct own *own = h->on ? current_own() : NULL;

	if (!own)
		return false;
	settle(h, own);
	memcpy(count, own->count, sizeof(own->count));
	memset(own->count, 0, sizeof(own->count));
	return true;
}

/*
 * Create an event that reports a CPU's context switches. Called without the
 * system's lock.
 */
struct perf_event *sft_own_event(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_period = 1,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, switched, NULL);
}

static void begin_here(void *arg)
{
	struct here *h = this_cpu_ptr(&here);

	if (h->on)
		return;
	h->mask = (sft_counters.mask | sft_counters.firmware) & ~BIT(SFT_TIMESTAMP);
	settle(h, NULL);
	h->on = true;
}

static void end_here(void *unused)
{
	this_cpu_ptr(&here)->on = false;
}

/* Begin assigning a CPU's counts to threads. */
void sft_own_begin(unsigned int cpu)
{
	smp_call_function_single(cpu, begin_here, NULL, 1);
}

void sft_own_end(void)
{
	on_each_cpu(end_here, NULL, 1);
}

void sft_own_cpu_offline(unsigned int cpu)
{
	smp_call_function_single(cpu, end_here, NULL, 1);
}

/* Called without the system's lock. */
int sft_own_make_table(void)
{
	if (table)
		return 0;
	table = vzalloc(sizeof(*table));
	if (!table)
		return -ENOMEM;
	raw_spin_lock_init(&table->lock);
	return 0;
}

/* Set the processes whose threads are sampled; NULL means all processes. */
int sft_own_only(const struct sft_pids *processes, struct sft_why *why)
{
	if (processes)
		return sft_processes_own(&only, processes, why);
	sft_processes_forget(&only);
	return 0;
}

/* Reset all threads' counts. */
void sft_own_reset(void)
{
	unsigned int i;

	sft_own_end();
	memset(table->list, 0, sizeof(table->list));
	INIT_HLIST_HEAD(&table->free);
	for (i = 0; i < SIFIVE_TRACE_THREADS; i++)
		hlist_add_head(&table->own[i].node, &table->free);
}

/* Called when all events have been released. */
void sft_own_exit(void)
{
	vfree(table);
}

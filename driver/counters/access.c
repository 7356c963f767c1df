// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives user mode access to a session's counters: only threads that have joined can read them, and
 * only while they run on a hart where the session has counters.
 *
 * The scounteren CSR of a hart determines which counters user mode can read. The register must
 * change at each context switch, so the driver creates an event of its own PMU for each thread that
 * joins: perf adds the event when the thread is scheduled in, deletes it when the thread is
 * scheduled out, and removes it on exit and exec. perf creates and frees events under its own
 * locks, and also holds these locks when it calls the driver's PMU. The driver therefore creates
 * and frees events without the system's lock.
 *
 * With per-thread counts, a thread also has a slot in pages mapped to user mode. The slot holds the
 * offset to add to each of the hart's counters.
 */

#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include <asm/csr.h>

#include "counters.h"

/**
 * struct sft_thread - a thread that joined
 * @node:	entry in the threads list or in the leaving list
 * @pid:	id of the thread
 * @event:	perf event that follows the thread's context switches
 * @live:	the thread's session still exists
 * @slot:	counter offsets for user mode, or NULL
 * @at:		index of @slot
 * @count:	counter values when the thread was last switched out
 * @turn:	the thread's turns, if events take turns
 */
struct sft_thread {
	struct list_head node;
	struct pid *pid;
	struct perf_event *event;
	bool live;
	struct sifive_trace_slot *slot;
	unsigned int at;
	u64 count[SIFIVE_TRACE_MAX_COUNTERS];
	struct sft_turn turn;
};

/**
 * struct here - access granted on this CPU; used only with interrupts disabled
 * @thread:	the running thread if it has joined, or NULL
 * @opened:	scounteren bits set for @thread
 * @counting:	counters with an offset in the slot of @thread
 */
struct here {
	struct sft_thread *thread;
	u32 opened;
	u32 counting;
};

static DEFINE_PER_CPU(struct here, here);

/* CPUs on which a thread's access to fixed counters has been revoked. */
static struct cpumask closed;

/* Mask of the counters whose CSRs joined threads may read, or 0 if no session has counters. */
static u32 access_mask;

/* The session's threads, and threads whose events have not been released yet. */
static LIST_HEAD(threads);
static LIST_HEAD(leaving);

/*
 * Pages of slots, allocated on first use and never freed before module exit, because
 * user mode may have them mapped.
 */
#define SLOTS_OF_PAGE	(PAGE_SIZE / sizeof(struct sifive_trace_slot))
static struct sifive_trace_slot *slot_page[SFT_SLOTS_SIZE / PAGE_SIZE];
static DECLARE_BITMAP(slots_used, SIFIVE_TRACE_THREADS);

/*
 * Increment the slot's write count, so that the thread discards offsets that it has already read.
 */
static void count_write(struct sifive_trace_slot *slot)
{
	u64 *written = &slot->offset[SFT_TIMESTAMP];

	WRITE_ONCE(*written, *written + 1);
}

static void begin_here(struct here *h)
{
	struct sft_thread *t = h->thread;
	unsigned long mask;
	unsigned int n;
	bool own;
	u64 now;

	if (!t || !READ_ONCE(t->live) ||
	    !cpumask_test_cpu(smp_processor_id(), &sft_counters.cpus))
		return;
	mask = READ_ONCE(access_mask);
	own = sft_counters.per_thread && t->slot;
	if (mask & sft_counters.turning)
		sft_turns_begin(own ? &t->turn : NULL, own ? t->slot->offset : NULL);
	h->opened = mask & ~csr_read(CSR_SCOUNTEREN);
	csr_set(CSR_SCOUNTEREN, h->opened);
	if (!own)
		return;
	for_each_set_bit(n, &mask, SIFIVE_TRACE_MAX_COUNTERS) {
		if (!sft_csr_read(n, &now))
			continue;
		WRITE_ONCE(t->slot->offset[n], t->count[n] - now);
		h->counting |= BIT(n);
	}
	count_write(t->slot);
}

static void end_here(struct here *h)
{
	struct sft_thread *t = h->thread;
	unsigned long counting = h->counting;
	unsigned int n;
	u64 now;

	sft_turns_end();
	for_each_set_bit(n, &counting, SIFIVE_TRACE_MAX_COUNTERS)
		if (sft_csr_read(n, &now))
			t->count[n] = now + t->slot->offset[n];
	h->counting = 0;
	csr_clear(CSR_SCOUNTEREN, h->opened);
	if (h->opened & SFT_FIXED && !cpumask_test_cpu(smp_processor_id(), &closed))
		cpumask_set_cpu(smp_processor_id(), &closed);
	h->opened = 0;
}

static int thread_runs(struct perf_event *event, int flags)
{
	struct sft_thread *t = event->overflow_handler_context;
	struct here *h = this_cpu_ptr(&here);

	/* After a thread has left and rejoined, its previous event may still exist. */
	if (!READ_ONCE(t->live))
		return 0;
	end_here(h);
	h->thread = t;
	begin_here(h);
	return 0;
}

static void thread_rests(struct perf_event *event, int flags)
{
	struct here *h = this_cpu_ptr(&here);

	if (h->thread != event->overflow_handler_context)
		return;
	end_here(h);
	h->thread = NULL;
}

/* Never called; its address identifies an event that this file has created. */
static void no_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
}

static struct pmu access_pmu;

static int event_init(struct perf_event *event)
{
	if (event->attr.type != access_pmu.type)
		return -ENOENT;
	return event->overflow_handler == no_overflow ? 0 : -EPERM;
}

/* Nothing to do: the event counts nothing, and add() has started it. */
static void no_read(struct perf_event *event)
{
}

static void no_start(struct perf_event *event, int flags)
{
}

/* Events do not hold a module reference, so module exit waits for them. */
static struct pmu access_pmu = {
	.task_ctx_nr	= perf_sw_context,
	.capabilities	= PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
	.event_init	= event_init,
	.add		= thread_runs,
	.del		= thread_rests,
	.start		= no_start,
	.stop		= no_start,
	.read		= no_read,
};

static void release_left(struct work_struct *work)
{
	struct sft_thread *t, *next;
	LIST_HEAD(list);

	sft_lock();
	list_splice_init(&leaving, &list);
	sft_unlock();
	list_for_each_entry_safe(t, next, &list, node) {
		perf_event_release_kernel(t->event);
		put_pid(t->pid);
		kfree(t);
	}
}

static DECLARE_WORK(release_work, release_left);

/* Free the thread's slot. The thread's event is released later, without the system's lock. */
static void leave(struct sft_thread *t)
{
	WRITE_ONCE(t->live, false);
	if (t->slot)
		clear_bit(t->at, slots_used);
	list_move(&t->node, &leaving);
	schedule_work(&release_work);
}

static void end_on(void *arg)
{
	end_here(this_cpu_ptr(&here));
}

static void begin_on(void *arg)
{
	struct here *h = this_cpu_ptr(&here);

	end_here(h);
	begin_here(h);
}

/*
 * Grant joined threads access to the session's counters on its CPUs. Per-thread counts start at 0.
 */
void sft_access_start(u32 mask)
{
	struct sft_thread *t;

	list_for_each_entry(t, &threads, node) {
		memset(t->count, 0, sizeof(t->count));
		t->turn = (struct sft_turn){};
	}
	WRITE_ONCE(access_mask, mask & ~BIT(SFT_TIMESTAMP));
	on_each_cpu_mask(&sft_counters.cpus, begin_on, NULL, 1);
}

/* Revoke access. If a hart's counter has decreased, prevent the thread's count from decreasing. */
static void suspend_on(void *arg)
{
	struct here *h = this_cpu_ptr(&here);
	unsigned long counting = h->counting;
	struct sft_thread *t = h->thread;
	unsigned int n;
	u64 now;

	for_each_set_bit(n, &counting, SIFIVE_TRACE_MAX_COUNTERS)
		if (sft_csr_read(n, &now) &&
		    (s64)(now + t->slot->offset[n] - t->count[n]) < 0)
			t->slot->offset[n] = t->count[n] - now;
	if (counting)
		count_write(t->slot);
	end_here(h);
}

/* Called before counter values are changed: stop per-thread counting until sft_access_resume(). */
void sft_access_suspend(void)
{
	WRITE_ONCE(access_mask, 0);
	on_each_cpu(suspend_on, NULL, 1);
}

/*
 * Restore access after counter values were changed, or after system sleep, which may have cleared
 * scounteren.
 */
void sft_access_resume(void)
{
	WRITE_ONCE(access_mask, sft_counters.mask & ~BIT(SFT_TIMESTAMP));
	on_each_cpu_mask(&sft_counters.cpus, begin_on, NULL, 1);
}

void sft_access_stop(void)
{
	WRITE_ONCE(access_mask, 0);
	on_each_cpu(end_on, NULL, 1);
	if (!cpumask_empty(&closed))
		sft_rule_restore(&closed);
	cpumask_clear(&closed);
}

/* Called when a CPU goes offline: the session's threads move to other CPUs. */
void sft_access_cpu_offline(unsigned int cpu)
{
	smp_call_function_single(cpu, end_on, NULL, 1);
}

/* Called after a CPU has come online and its bit in sft_counters.cpus has been set. */
void sft_access_cpu_online(unsigned int cpu)
{
	smp_call_function_single(cpu, begin_on, NULL, 1);
}

/* Called when the session ends: all its threads leave. */
void sft_access_release(void)
{
	struct sft_thread *t, *next;
	unsigned int i;

	list_for_each_entry_safe(t, next, &threads, node)
		leave(t);
	sft_access_stop();
	for (i = 0; i < ARRAY_SIZE(slot_page); i++)
		if (slot_page[i])
			clear_page(slot_page[i]);
}

/*
 * Return the calling thread's entry, or NULL if it has not joined. Moves threads that have exited
 * to the leaving list.
 */
static struct sft_thread *find_current(void)
{
	struct sft_thread *t, *next, *found = NULL;

	list_for_each_entry_safe(t, next, &threads, node) {
		if (sft_perf_exited(t->event))
			leave(t);
		else if (t->pid == task_pid(current))
			found = t;
	}
	return found;
}

static struct sifive_trace_slot *slot_at(unsigned int at)
{
	struct sifive_trace_slot **page = &slot_page[at / SLOTS_OF_PAGE];

	if (!*page)
		/*
		 * Pairs with smp_load_acquire() in sft_access_page(), which reads the
		 * page without the lock.
		 */
		smp_store_release(page, (void *)get_zeroed_page(GFP_KERNEL));
	return *page ? *page + at % SLOTS_OF_PAGE : NULL;
}

static int give_slot(struct sft_thread *t, struct sft_why *why)
{
	struct sifive_trace_slot *slot;
	unsigned int at;

	if (t->slot)
		return 0;
	at = find_first_zero_bit(slots_used, SIFIVE_TRACE_THREADS);
	if (at == SIFIVE_TRACE_THREADS)
		return sft_fail(why, -ENOSPC, "%u threads already have per-thread counts",
				SIFIVE_TRACE_THREADS);
	slot = slot_at(at);
	if (!slot)
		return -ENOMEM;
	set_bit(at, slots_used);
	t->at = at;
	t->slot = slot;
	return 0;
}

/* Restore the caller's access. If the caller's event is active, it is active on this CPU. */
static void begin_again(struct sft_thread *t)
{
	struct here *h;

	local_irq_disable();
	h = this_cpu_ptr(&here);
	if (sft_perf_active(t->event)) {
		end_here(h);
		h->thread = t;
		begin_here(h);
	}
	local_irq_enable();
}

/*
 * Create an entry for the calling thread, with its event. Called without the system's lock.
 */
struct sft_thread *sft_access_new(void)
{
	struct perf_event_attr attr = {
		.type = access_pmu.type,
		.size = sizeof(attr),
		.remove_on_exec = 1,
	};
	struct perf_event *event;
	struct sft_thread *t;

	/* Throttle a thread that leaves and joins in a loop. */
	flush_work(&release_work);
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return ERR_PTR(-ENOMEM);
	event = perf_event_create_kernel_counter(&attr, -1, current, no_overflow, t);
	if (IS_ERR(event)) {
		kfree(t);
		return ERR_CAST(event);
	}
	t->event = event;
	t->pid = get_pid(task_pid(current));
	return t;
}

/*
 * Add the calling thread to the session, with @fresh as its entry if it has none. Returns -EAGAIN
 * if the thread has no entry and @fresh is NULL.
 */
int sft_access_join(struct sft_thread *fresh, u32 *slot, struct sft_why *why)
{
	struct sft_thread *t = find_current() ?: fresh;
	int ret;

	if (!t)
		return -EAGAIN;
	ret = sft_counters.per_thread ? give_slot(t, why) : 0;
	if (ret)
		return ret;
	if (t == fresh)
		list_add(&t->node, &threads);
	WRITE_ONCE(t->live, true);
	begin_again(t);
	*slot = sft_counters.per_thread ? t->at : ~0u;
	return 0;
}

/* Release @fresh after a failed attempt to join. */
void sft_access_discard(struct sft_thread *fresh)
{
	list_add(&fresh->node, &leaving);
	schedule_work(&release_work);
}

/* Prepare for new counters: allocate memory for the counts of the caller, which has joined. */
int sft_access_prepare(bool per_thread, struct sft_why *why)
{
	struct sft_thread *t = find_current();

	if (!t)
		return sft_fail(why, -EBUSY, "another thread has called CONFIG");
	return per_thread ? give_slot(t, why) : 0;
}

/* Remove the calling thread, if it has joined. */
void sft_access_leave(void)
{
	struct sft_thread *t = find_current();

	if (!t)
		return;
	leave(t);
	local_irq_disable();
	end_here(this_cpu_ptr(&here));
	local_irq_enable();
}

/*
 * Return the page of slots at @offset to map into user mode, or NULL if no thread has had a slot
 * in that page.
 */
struct page *sft_access_page(unsigned long offset)
{
	const struct sifive_trace_slot *page;

	if (offset >= SFT_SLOTS_SIZE)
		return NULL;
	/* Pairs with smp_store_release() in slot_at(). */
	page = smp_load_acquire(&slot_page[offset >> PAGE_SHIFT]);
	return page ? virt_to_page(page) : NULL;
}

int sft_access_init(void)
{
	sft_turns_init();
	return perf_pmu_register(&access_pmu, "sifive_trace", -1);
}

void sft_access_exit(void)
{
	unsigned int i;

	flush_work(&release_work);
	perf_pmu_unregister(&access_pmu);
	for (i = 0; i < ARRAY_SIZE(slot_page); i++)
		free_page((unsigned long)slot_page[i]);
}

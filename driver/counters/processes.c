// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes whose threads are recorded: the list that START creates, and a table that the
 * probes on the scheduler's tracepoints read without a lock. An entry of the table is replaced only
 * after its process has ended, and is reset to NULL only when the whole table is cleared.
 */

#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "counters.h"

/* Number of processes in each bucket of the table. */
#define BUCKET		16
#define BUCKET_BITS	9

/* Maximum number of unreleased references to ended processes. */
#define ENDED		64

/* Replaced entries, kept because the last put_pid() may sleep, which a probe must not do. */
static struct pid *ended[ENDED];
static unsigned int ended_count;
static DEFINE_RAW_SPINLOCK(lock);

/* Create an empty list for at most @most processes, or NULL if out of memory. */
struct sft_pids *sft_pids_new(unsigned int most)
{
	struct sft_pids *pids = kvzalloc(struct_size(pids, process, most), GFP_KERNEL);

	if (pids)
		kref_init(&pids->users);
	return pids;
}

struct sft_pids *sft_pids_get(struct sft_pids *pids)
{
	if (pids)
		kref_get(&pids->users);
	return pids;
}

static void release_pids(struct kref *users)
{
	struct sft_pids *pids = container_of(users, struct sft_pids, users);

	while (pids->count)
		put_pid(pids->process[--pids->count]);
	kvfree(pids);
}

void sft_pids_put(struct sft_pids *pids)
{
	if (pids)
		kref_put(&pids->users, release_pids);
}

static struct pid **bucket_of(struct pid **entry, const struct pid *process)
{
	return entry + hash_ptr(process, BUCKET_BITS) * BUCKET;
}

static bool has(struct pid **entries, const struct pid *process)
{
	struct pid **at = bucket_of(entries, process), *entry;
	unsigned int i;

	for (i = 0; i < BUCKET; i++) {
		entry = READ_ONCE(at[i]);
		if (!entry || entry == process)
			break;
	}
	return i < BUCKET && entry;
}

/* Called by sft_processes_have(). */
bool sft_processes_find(const struct sft_processes *set, const struct pid *process)
{
	struct pid **entries = READ_ONCE(set->entry);

	return entries && has(entries, process);
}

static struct pid *take_ended(void)
{
	struct pid *entry;
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	entry = ended_count ? ended[--ended_count] : NULL;
	raw_spin_unlock_irqrestore(&lock, flags);
	return entry;
}

static void put_ended(struct work_struct *work)
{
	struct pid *entry;

	while ((entry = take_ended()))
		put_pid(entry);
}

static DECLARE_WORK(put_work, put_ended);

static bool is_free(struct pid *entry)
{
	return !entry || (ended_count < ENDED && !pid_task(entry, PIDTYPE_TGID));
}

static void add(struct sft_processes *set, struct pid **entries, struct pid *process)
{
	struct pid **at = bucket_of(entries, process);
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&lock, flags);
	for (i = 0; i < BUCKET && !is_free(at[i]); i++)
		;
	if (i < BUCKET) {
		if (at[i])
			ended[ended_count++] = at[i];
		WRITE_ONCE(at[i], get_pid(process));
		set->added++;
	} else {
		set->missing++;
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	if (READ_ONCE(ended_count))
		schedule_work(&put_work);
}

/*
 * Called when @parent has created @child, which has not run yet: add @child if @parent is in the
 * set.
 */
void sft_processes_forked(struct sft_processes *set, struct task_struct *parent,
			  struct task_struct *child)
{
	struct pid **entries;

	rcu_read_lock();
	entries = READ_ONCE(set->entry);
	if (entries && task_tgid(parent) != task_tgid(child) && has(entries, task_tgid(parent)))
		add(set, entries, task_tgid(child));
	rcu_read_unlock();
}

static void free_entries(struct pid **entry)
{
	unsigned int i;

	for (i = 0; i < BUCKET << BUCKET_BITS; i++)
		put_pid(entry[i]);
	kvfree(entry);
}

/* Fill a new table; returns false if a bucket is full. */
static bool fill(struct pid **entry, const struct sft_pids *processes)
{
	unsigned int i, n;

	for (n = 0; n < processes->count; n++) {
		struct pid **at = bucket_of(entry, processes->process[n]);

		for (i = 0; i < BUCKET && at[i]; i++)
			;
		if (i == BUCKET)
			return false;
		at[i] = get_pid(processes->process[n]);
	}
	return true;
}

/* Return whether the set consists of exactly these processes. */
static bool is_same(const struct sft_processes *set, const struct sft_pids *processes)
{
	unsigned int n;

	if (!set->entry || set->added != processes->count)
		return false;
	for (n = 0; n < processes->count; n++)
		if (!has(set->entry, processes->process[n]))
			return false;
	return true;
}

/* Replace the set with these processes. */
int sft_processes_own(struct sft_processes *set, const struct sft_pids *processes,
		      struct sft_why *why)
{
	struct pid **entry;

	/*
	 * Keep the same set: programs may call START often, and a replacement takes a grace period.
	 */
	if (is_same(set, processes))
		return 0;
	entry = kvcalloc(BUCKET << BUCKET_BITS, sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return sft_fail(why, -ENOMEM, "no memory for the table of recorded processes");
	if (!fill(entry, processes)) {
		free_entries(entry);
		return sft_fail(why, -ENOMEM,
				"no room for %u processes in the table of recorded processes: name fewer",
				processes->count);
	}
	sft_processes_forget(set);
	set->added = processes->count;
	WRITE_ONCE(set->first, get_pid(processes->process[0]));
	/* Pairs with the address dependency in the reader. */
	smp_store_release(&set->entry, entry);
	return 0;
}

/* Empty the set, which a probe may still be reading. */
void sft_processes_forget(struct sft_processes *set)
{
	struct pid **entry = set->entry, *first = set->first;

	if (!entry)
		return;
	WRITE_ONCE(set->added, 0);
	WRITE_ONCE(set->first, NULL);
	WRITE_ONCE(set->entry, NULL);
	synchronize_rcu();
	put_pid(first);
	free_entries(entry);
}

/* Called when no probe that could replace an entry remains. */
void sft_processes_flush(void)
{
	flush_work(&put_work);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults. perf's software events report the faults that the kernel has handled; a major fault
 * is one that required a disk read. Each CPU has one event for minor faults and one for major
 * faults. perf takes its own locks and the CPU hotplug lock when it creates or releases events. The
 * driver therefore creates and releases them without the system's lock, and after a CPU has come
 * online rather than during its hotplug.
 */

#include <linux/cpu.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>

#include "counters.h"

#define KINDS	2

/**
 * struct faults - a CPU's events
 * @event:	perf events for minor faults and for major faults
 * @offline:	number of times that the CPU went offline, which ends its events
 * @made:	value of @offline when the events were created
 */
struct faults {
	struct perf_event *event[KINDS];
	unsigned int offline;
	unsigned int made;
};

static DEFINE_PER_CPU(struct faults, faults);

/* Held while events are created and released; taken before the system's lock. */
static DEFINE_MUTEX(faults_lock);

static void release(struct perf_event **event)
{
	unsigned int i;

	for (i = 0; i < KINDS; i++) {
		if (event[i])
			perf_event_release_kernel(event[i]);
		event[i] = NULL;
	}
}

static int make(struct perf_event **event, unsigned int cpu, perf_overflow_handler_t handler)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.sample_period = 1,
		.exclude_kernel = 1,
	};
	unsigned int i;
	int ret;

	for (i = 0; i < KINDS; i++) {
		attr.config = i ? PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS_MIN;
		event[i] = perf_event_create_kernel_counter(&attr, cpu, NULL, handler, NULL);
		if (!IS_ERR(event[i]))
			continue;
		ret = PTR_ERR(event[i]);
		event[i] = NULL;
		release(event);
		return ret;
	}
	return 0;
}

/* Return whether page faults on a CPU are reported. Called with the system locked. */
bool sft_faults_seen(unsigned int cpu)
{
	const struct faults *f = per_cpu_ptr(&faults, cpu);

	return f->event[0] && f->made == f->offline;
}

/* Record that a CPU's events have ended. Called with the system locked. */
void sft_faults_end(unsigned int cpu)
{
	per_cpu_ptr(&faults, cpu)->offline++;
}

/* Create a CPU's events, unless they exist or the CPU is offline. */
static int add(unsigned int cpu, perf_overflow_handler_t handler)
{
	struct faults *f = per_cpu_ptr(&faults, cpu);
	struct perf_event *event[KINDS] = {};
	unsigned int offline;
	bool seen;
	int ret;

	sft_lock();
	seen = sft_faults_seen(cpu);
	offline = f->offline;
	sft_unlock();
	ret = seen ? -ENODEV : make(event, cpu, handler);
	if (ret)
		return ret == -ENODEV ? 0 : ret;
	sft_lock();
	f->made = offline;
	swap(f->event[0], event[0]);
	swap(f->event[1], event[1]);
	sft_unlock();
	release(event);
	return 0;
}

/*
 * Report each fault in user mode to @handler, on all online CPUs. Called without the system's lock.
 */
int sft_faults_add(perf_overflow_handler_t handler, struct sft_why *why)
{
	unsigned int cpu;
	int ret = 0;

	mutex_lock(&faults_lock);
	for_each_online_cpu(cpu)
		ret = ret ?: add(cpu, handler);
	mutex_unlock(&faults_lock);
	if (!ret)
		return 0;
	return sft_fail(why, -EOPNOTSUPP, "perf cannot report page faults: error %d", ret);
}

/*
 * Release the events that no session needs. Called without the system's lock; calls @wanted with
 * the lock held.
 */
void sft_faults_remove(bool (*wanted)(void))
{
	struct perf_event *event[KINDS];
	unsigned int cpu, i;

	mutex_lock(&faults_lock);
	for_each_possible_cpu(cpu) {
		sft_lock();
		for (i = 0; i < KINDS; i++)
			event[i] = wanted() ? NULL :
				   xchg(&per_cpu_ptr(&faults, cpu)->event[i], NULL);
		sft_unlock();
		release(event);
	}
	mutex_unlock(&faults_lock);
}

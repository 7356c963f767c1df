// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code shared by the probes on the scheduler's tracepoints: registration, the processes that START
 * records, and thread ids in the pid namespace of START's caller. Probes are registered and
 * unregistered without the system's lock, because both wait for CPU hotplug.
 */

#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "counters.h"

/* Guards registration; taken before all other locks. */
static DEFINE_MUTEX(probe_lock);

struct sft_probes sft_probes;

/**
 * struct search - a search for a tracepoint
 * @name:	name of the tracepoint
 * @found:	the tracepoint, or NULL
 */
struct search {
	const char *name;
	struct tracepoint *found;
};

static void match(struct tracepoint *tp, void *arg)
{
	struct search *search = arg;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

static int add(struct sft_probe *probe)
{
	struct search search = { .name = probe->name };
	int ret;

	if (probe->at)
		return 0;
	for_each_kernel_tracepoint(match, &search);
	ret = search.found ?
	      tracepoint_probe_register_prio(search.found, probe->function, NULL,
					     TRACEPOINT_DEFAULT_PRIO + probe->first) : -ENOENT;
	if (!ret)
		WRITE_ONCE(probe->at, search.found);
	return ret;
}

/* Register probes that are not registered yet. Called without the system's lock. */
int sft_probes_add(struct sft_probe *probe, unsigned int count, struct sft_why *why)
{
	unsigned int i;
	int ret = 0;

	mutex_lock(&probe_lock);
	for (i = 0; i < count && !ret; i++)
		ret = add(&probe[i]);
	mutex_unlock(&probe_lock);
	if (!ret)
		return 0;
	return sft_fail(why, -EOPNOTSUPP,
			"the kernel has no usable tracepoint %s: error %d",
			probe[i - 1].name, ret);
}

/*
 * Called by START with the system locked: check that all probes are registered. An unregistered
 * probe means that another thread's @call has stored a setting, but not registered its probes yet.
 */
int sft_probes_check(const struct sft_probe *probe, unsigned int count, const char *call,
		     struct sft_why *why)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!READ_ONCE(probe[i].at))
			return sft_fail(why, -EBUSY,
					"another thread's %s has not returned: try again", call);
	return 0;
}

/*
 * Remove probes that no user needs. Called without the system's lock; calls @wanted with the
 * lock held.
 */
void sft_probes_remove(struct sft_probe *probe, unsigned int count, bool (*wanted)(void))
{
	struct tracepoint *at[SFT_PROBES] = {};
	unsigned int i;

	mutex_lock(&probe_lock);
	sft_lock();
	/* START must not rely on a probe that is about to be removed. */
	if (!wanted())
		for (i = 0; i < count; i++) {
			at[i] = probe[i].at;
			WRITE_ONCE(probe[i].at, NULL);
		}
	sft_unlock();
	for (i = 0; i < count; i++)
		if (at[i])
			tracepoint_probe_unregister(at[i], probe[i].function, NULL);
	mutex_unlock(&probe_lock);
}

void sft_probes_forget(void)
{
	if (sft_probes.ids)
		put_pid_ns(sft_probes.ids);
	sft_pids_put(sft_probes.processes);
	sft_probes = (struct sft_probes){};
}

/* Called when the caller's START begins to record the threads of @processes. */
void sft_probes_own(struct sft_pids *processes)
{
	sft_probes_forget();
	sft_probes.ids = get_pid_ns(task_active_pid_ns(current));
	sft_probes.processes = sft_pids_get(processes);
}

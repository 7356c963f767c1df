// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fixed counters that a session has are kept from perf. Firmware gives them to
 * each caller that asks for cycles or instructions when no programmable counter is
 * free, in use or not, and the kernel's driver would then count on ours, and stop it.
 * What keeps it from that is its own mask of counters that it may use: what
 * firmware offers beside it, it refuses.
 *
 * The mask is the machine's: also on harts that the session does not have, an
 * event that finds no programmable counter waits for one, or fails if it is pinned.
 */

#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include "counters.h"

/* One that never counts: the way to the driver, and a hold on it. */
static struct perf_event *holder;

/* What has been taken out of the mask. */
static unsigned long reserved;

/*
 * Keep perf from a counter; what runs on it now is not touched. Where the kernel's
 * driver is not the known one, perf may take it: INFO says so, and STATUS if it does.
 */
int sft_reserve_take(unsigned int cpu, const struct sft_counter *c)
{
	struct perf_event *event;

	if (!sft_perf_known())
		return 0;
	if (!holder) {
		event = sft_idle_event(cpu);
		if (IS_ERR(event))
			return PTR_ERR(event);
		holder = event;
	}
	if (sft_perf_withhold(holder, c->index))
		__set_bit(c->index, &reserved);
	return 0;
}

static void stop_here(void *unused)
{
	unsigned int index;

	for_each_set_bit(index, &reserved, BITS_PER_LONG)
		sft_sbi_release(index);
}

/*
 * The kernel's driver stops what its mask has on a CPU that comes online: what is
 * reserved is left.
 */
void sft_reserve_cpu_online(unsigned int cpu)
{
	smp_call_function_single(cpu, stop_here, NULL, 1);
}

/* Perf may use all of its counters again. */
void sft_reserve_release(void)
{
	unsigned int index;

	if (!holder)
		return;
	for_each_set_bit(index, &reserved, BITS_PER_LONG)
		sft_perf_allow(holder, index);
	reserved = 0;
	perf_event_release_kernel(holder);
	holder = NULL;
}

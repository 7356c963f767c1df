// SPDX-License-Identifier: GPL-2.0-only
/*
 * Withholds a session's fixed counters from perf. If no programmable counter is free, firmware
 * gives a fixed counter to every caller that requests cycles or instructions, even if that counter
 * is in use. The kernel's driver would then count on the session's counter, and stop it. To prevent
 * this, the session's counters are removed from that driver's mask of usable counters.
 *
 * The mask is global: even on harts outside the session, an event that finds no
 * programmable counter waits for one, or fails if it is pinned.
 */

#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include "counters.h"

/* Maximum number of bits in the mask. */
#define COUNTERS	64

/* A disabled event of the SBI PMU driver, used to find the driver's mask and to keep it valid. */
static struct perf_event *holder;

/* SBI indexes of the counters removed from the mask. */
static DECLARE_BITMAP(reserved, COUNTERS);

/*
 * Withhold a counter from perf, without disturbing an event that counts on it. If the
 * kernel's driver is unknown, perf may take the counter: INFO has a flag for that, and
 * STATUS reports it when it happens.
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
		__set_bit(c->index, reserved);
	return 0;
}

static void stop_here(void *unused)
{
	unsigned int index;

	for_each_set_bit(index, reserved, COUNTERS)
		sft_sbi_release(index);
}

/*
 * When a CPU comes online, the kernel's driver stops only the counters in its mask, so stop the
 * reserved counters here.
 */
void sft_reserve_cpu_online(unsigned int cpu)
{
	smp_call_function_single(cpu, stop_here, NULL, 1);
}

/* Return all reserved counters to perf. */
void sft_reserve_release(void)
{
	unsigned int index;

	if (!holder)
		return;
	for_each_set_bit(index, reserved, COUNTERS)
		sft_perf_allow(holder, index);
	bitmap_zero(reserved, COUNTERS);
	perf_event_release_kernel(holder);
	holder = NULL;
}

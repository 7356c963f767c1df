// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's own rule for what user mode may read, kernel.perf_user_access. Its
 * value is nowhere to be read, but each hardware event is marked with what it was
 * when the event was made: with the bit that has this number.
 */

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include <asm/csr.h>

#include "sifive_trace.h"

/* Cycle, time and instret are every program's. */
#define FOR_ALL	BIT(2)

static bool fixed_are_for_all(void)
{
	struct perf_event *event = sft_idle_event(raw_smp_processor_id());
	bool for_all;

	if (IS_ERR(event))
		return false;
	for_all = event->hw.flags & FOR_ALL;
	perf_event_release_kernel(event);
	return for_all;
}

static void open_here(void *unused)
{
	csr_set(CSR_SCOUNTEREN, SFT_FIXED);
}

static void close_here(void *unused)
{
	csr_clear(CSR_SCOUNTEREN, SFT_FIXED & ~BIT(SFT_TIMESTAMP));
}

/*
 * On these CPUs a thread's access to fixed counters has been taken back. If they
 * are everybody's by now they are to be so again; the rule may change meanwhile.
 */
void sft_rule_restore(const struct cpumask *cpus)
{
	if (!fixed_are_for_all())
		return;
	on_each_cpu_mask(cpus, open_here, NULL, 1);
	if (!fixed_are_for_all())
		on_each_cpu_mask(cpus, close_here, NULL, 1);
}

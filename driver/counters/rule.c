// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's own setting for user-mode access, kernel.perf_user_access. No exported function
 * returns it, but each hardware event contains the setting's value when the event was created.
 */

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include <asm/csr.h>

#include "counters.h"

static bool fixed_are_for_all(void)
{
	struct perf_event *event;
	bool for_all;

	if (!sft_perf_known())
		return false;
	event = sft_idle_event(raw_smp_processor_id());
	if (IS_ERR(event))
		return false;
	for_all = sft_perf_fixed_for_all(event);
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
 * Called for CPUs on which access to fixed counters has been revoked. Restore access if the setting
 * allows it for everyone, then check the setting again, because it may have changed.
 */
void sft_rule_restore(const struct cpumask *cpus)
{
	if (!fixed_are_for_all())
		return;
	on_each_cpu_mask(cpus, open_here, NULL, 1);
	if (!fixed_are_for_all())
		on_each_cpu_mask(cpus, close_here, NULL, 1);
}

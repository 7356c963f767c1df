// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes a counter from its owner, as a bug or another user of firmware's counters could, to test
 * that the driver detects this. The module takes the counter either once, on insertion, which then
 * fails, or each time the CPU comes online, before the callbacks of modules inserted later.
 */

#include <linux/cpuhotplug.h>
#include <linux/module.h>
#include <linux/smp.h>

#include <asm/sbi.h>

static unsigned int cpu;
module_param(cpu, uint, 0);
MODULE_PARM_DESC(cpu, "the CPU");

static unsigned long counter;
module_param(counter, ulong, 0);
MODULE_PARM_DESC(counter, "SBI index of the counter");

static bool restart;
module_param(restart, bool, 0);
MODULE_PARM_DESC(restart, "restart the counter as a cycle counter, from perf's initial value");

static bool online;
module_param(online, bool, 0);
MODULE_PARM_DESC(online, "act each time the CPU comes online, instead of now");

static enum cpuhp_state state;

static void steal_here(void *unused)
{
	sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_STOP, counter, 1,
		  SBI_PMU_STOP_FLAG_RESET, 0, 0, 0);
	if (!restart)
		return;
	sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_CFG_MATCH, counter, 1, 0,
		  SBI_PMU_HW_CPU_CYCLES, 0, 0);
	sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_START, counter, 1,
		  SBI_PMU_START_FLAG_SET_INIT_VALUE, 1ul << (BITS_PER_LONG - 1),
		  0, 0);
}

static int steal_online(unsigned int comes)
{
	if (comes == cpu)
		steal_here(NULL);
	return 0;
}

static int __init steal(void)
{
	int ret;

	if (!online)
		return smp_call_function_single(cpu, steal_here, NULL, 1) ?: -ECANCELED;
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "counter-thief:online",
					steal_online, NULL);
	if (ret < 0)
		return ret;
	state = ret;
	return 0;
}
module_init(steal);

static void __exit steal_no_more(void)
{
	cpuhp_remove_state_nocalls(state);
}
module_exit(steal_no_more);

MODULE_DESCRIPTION("Takes a counter away, for a test");
MODULE_LICENSE("GPL");

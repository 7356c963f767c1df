// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes a counter away from whoever has it, as firmware's next owner or a bug
 * would: for the test that the driver notices. Done when it is inserted; it
 * does not stay.
 */

#include <linux/module.h>
#include <linux/smp.h>

#include <asm/sbi.h>

static unsigned int cpu;
module_param(cpu, uint, 0);
MODULE_PARM_DESC(cpu, "the CPU");

static unsigned long counter;
module_param(counter, ulong, 0);
MODULE_PARM_DESC(counter, "its SBI index");

static bool anew;
module_param(anew, bool, 0);
MODULE_PARM_DESC(anew, "start it again for cycles, from where perf begins");

static void steal_here(void *unused)
{
	sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_STOP, counter, 1,
		  SBI_PMU_STOP_FLAG_RESET, 0, 0, 0);
	if (!anew)
		return;
	sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_CFG_MATCH, counter, 1, 0,
		  SBI_PMU_HW_CPU_CYCLES, 0, 0);
	sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_START, counter, 1,
		  SBI_PMU_START_FLAG_SET_INIT_VALUE, 1ul << (BITS_PER_LONG - 1),
		  0, 0);
}

static int __init steal(void)
{
	return smp_call_function_single(cpu, steal_here, NULL, 1) ?: -ECANCELED;
}
module_init(steal);

MODULE_DESCRIPTION("Takes a counter away, for a test");
MODULE_LICENSE("GPL");

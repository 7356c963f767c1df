// SPDX-License-Identifier: GPL-2.0-only
/*
 * User mode's access to the session's counters: scounteren, on the session's
 * CPUs. Nothing else knows that register.
 */

#include <linux/percpu.h>
#include <linux/smp.h>

#include <asm/csr.h>

#include "sifive_trace.h"

/* The bits that this session set on each CPU. */
static DEFINE_PER_CPU(u32, opened);

static void open_here(void *arg)
{
	u32 mask = *(u32 *)arg & ~csr_read(CSR_SCOUNTEREN);

	csr_set(CSR_SCOUNTEREN, mask);
	this_cpu_or(opened, mask);
}

static void close_here(void *arg)
{
	csr_clear(CSR_SCOUNTEREN, this_cpu_read(opened));
	this_cpu_write(opened, 0);
}

/* Let user mode read the counters in @mask on all CPUs of the session. */
void sft_access_open(u32 mask)
{
	unsigned int cpu;

	for_each_cpu(cpu, &sft.counters.cpus)
		smp_call_function_single(cpu, open_here, &mask, 1);
}

void sft_access_close_cpu(unsigned int cpu)
{
	smp_call_function_single(cpu, close_here, NULL, 1);
}

void sft_access_close(void)
{
	unsigned int cpu;

	for_each_cpu(cpu, &sft.counters.cpus)
		sft_access_close_cpu(cpu);
}

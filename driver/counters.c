// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters for a session, straight from firmware: with Sscofpmf, firmware never
 * gives out a counter that is in use, so perf and a session each keep their
 * own. A counter is taken at the same number on every hart of the session and
 * stays there; user mode may read it until the session ends.
 *
 * Specification: SBI, Performance Monitoring Unit Extension.
 */

#include <linux/bitfield.h>
#include <linux/cpu.h>
#include <linux/smp.h>

#include <asm/asm-extable.h>
#include <asm/csr.h>
#include <asm/hwcap.h>
#include <asm/sbi.h>

#include "sifive_trace.h"

#define INFO_CSR		GENMASK(11, 0)
#define INFO_WIDTH		GENMASK(17, 12)	/* width - 1 */

#define COUNTER_CYCLE		0
#define COUNTER_TIMESTAMP	1
#define COUNTER_INSTRET		2

/* The scounteren bits that this session set on each CPU. */
static DEFINE_PER_CPU(u32, opened);

/* One request to firmware, on the CPU it is for. */
struct request {
	unsigned long index;
	unsigned long event;
	u64 data;
	u32 counter;
	long error;
};

bool sft_counters_available(void)
{
	return riscv_isa_extension_available(NULL, SSCOFPMF) &&
	       !sbi_spec_is_0_1() && sbi_probe_extension(SBI_EXT_PMU) > 0;
}

/* Whether a CSR can be read: firmware may keep a counter to itself. */
static __always_inline bool csr_readable(const unsigned int csr)
{
	unsigned long value;
	long ok = 0;

	asm volatile("1:	csrr %1, %2\n"
		     "	li %0, 1\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : "+r" (ok), "=&r" (value)
		     : "i" (csr));
	return ok;
}

/* The CSR's number is part of the instruction. */
static bool counter_readable(u32 counter)
{
	switch (counter) {
	case 0: return csr_readable(CSR_CYCLE + 0);
	case 1: return csr_readable(CSR_CYCLE + 1);
	case 2: return csr_readable(CSR_CYCLE + 2);
	case 3: return csr_readable(CSR_CYCLE + 3);
	case 4: return csr_readable(CSR_CYCLE + 4);
	case 5: return csr_readable(CSR_CYCLE + 5);
	case 6: return csr_readable(CSR_CYCLE + 6);
	case 7: return csr_readable(CSR_CYCLE + 7);
	case 8: return csr_readable(CSR_CYCLE + 8);
	case 9: return csr_readable(CSR_CYCLE + 9);
	case 10: return csr_readable(CSR_CYCLE + 10);
	case 11: return csr_readable(CSR_CYCLE + 11);
	case 12: return csr_readable(CSR_CYCLE + 12);
	case 13: return csr_readable(CSR_CYCLE + 13);
	case 14: return csr_readable(CSR_CYCLE + 14);
	case 15: return csr_readable(CSR_CYCLE + 15);
	case 16: return csr_readable(CSR_CYCLE + 16);
	case 17: return csr_readable(CSR_CYCLE + 17);
	case 18: return csr_readable(CSR_CYCLE + 18);
	case 19: return csr_readable(CSR_CYCLE + 19);
	case 20: return csr_readable(CSR_CYCLE + 20);
	case 21: return csr_readable(CSR_CYCLE + 21);
	case 22: return csr_readable(CSR_CYCLE + 22);
	case 23: return csr_readable(CSR_CYCLE + 23);
	case 24: return csr_readable(CSR_CYCLE + 24);
	case 25: return csr_readable(CSR_CYCLE + 25);
	case 26: return csr_readable(CSR_CYCLE + 26);
	case 27: return csr_readable(CSR_CYCLE + 27);
	case 28: return csr_readable(CSR_CYCLE + 28);
	case 29: return csr_readable(CSR_CYCLE + 29);
	case 30: return csr_readable(CSR_CYCLE + 30);
	case 31: return csr_readable(CSR_CYCLE + 31);
	}
	return false;
}

/* Configure and start one counter from 0 on this CPU. */
static void take_here(void *arg)
{
	struct request *r = arg;
	struct sbiret ret;

	ret = sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_CFG_MATCH, r->index, 1,
			SBI_PMU_CFG_FLAG_CLEAR_VALUE, r->event, r->data,
			(u64)r->data >> 32);
	r->error = ret.error;
	if (ret.error)
		return;
	ret = sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_START, r->index, 1,
			SBI_PMU_START_FLAG_SET_INIT_VALUE, 0, 0, 0);
	if (ret.error && ret.error != SBI_ERR_ALREADY_STARTED) {
		r->error = ret.error;
		sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_STOP, r->index, 1,
			  SBI_PMU_STOP_FLAG_RESET, 0, 0, 0);
	}
}

static void give_back_here(void *arg)
{
	struct request *r = arg;

	sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_STOP, r->index, 1,
		  SBI_PMU_STOP_FLAG_RESET, 0, 0, 0);
}

static void open_here(void *arg)
{
	struct request *r = arg;
	u32 bit = BIT(r->counter);

	if (!counter_readable(r->counter)) {
		r->error = SBI_ERR_DENIED;
		return;
	}
	if (csr_read(CSR_SCOUNTEREN) & bit)
		return;
	csr_set(CSR_SCOUNTEREN, bit);
	this_cpu_or(opened, bit);
}

static void close_here(void *arg)
{
	csr_clear(CSR_SCOUNTEREN, this_cpu_read(opened));
	this_cpu_write(opened, 0);
}

/*
 * Have the counter with index @r->index count on all CPUs of the session, or on
 * none. Returns firmware's error.
 */
static long take(struct request *r)
{
	unsigned int cpu, undo;

	for_each_cpu(cpu, &sft.counters.cpus) {
		if (smp_call_function_single(cpu, take_here, r, 1))
			r->error = SBI_ERR_FAILURE;
		if (!r->error)
			continue;
		for_each_cpu(undo, &sft.counters.cpus) {
			if (undo == cpu)
				break;
			smp_call_function_single(undo, give_back_here, r, 1);
		}
		return r->error;
	}
	sft.counters.index |= BIT_ULL(r->index);
	return 0;
}

/* The counter_info of a hardware counter that has a CSR, 0 for all others. */
static unsigned long counter_info(unsigned long index)
{
	struct sbiret ret = sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_GET_INFO,
				      index, 0, 0, 0, 0, 0);

	/* The top bit marks a firmware counter. */
	if (ret.error || ret.value < 0)
		return 0;
	return ret.value;
}

static unsigned long counters_known(void)
{
	struct sbiret ret = sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_NUM_COUNTERS,
				      0, 0, 0, 0, 0, 0);

	return ret.error ? 0 : min(ret.value, 64L);
}

/* The number of the fixed counter for an event, or -1. */
static int fixed_counter(const struct sifive_trace_event *ev)
{
	if (ev->type != SBI_PMU_EVENT_TYPE_HW)
		return -1;
	if (ev->code == SBI_PMU_HW_CPU_CYCLES)
		return COUNTER_CYCLE;
	if (ev->code == SBI_PMU_HW_INSTRUCTIONS)
		return COUNTER_INSTRET;
	return -1;
}

static void counter_name(char *name, size_t size, u32 counter)
{
	if (counter == COUNTER_CYCLE)
		strscpy(name, "cycle", size);
	else if (counter == COUNTER_INSTRET)
		strscpy(name, "instret", size);
	else
		snprintf(name, size, "hpmcounter%u", counter);
}

/* Find and start a counter for an event that is counted by a CSR. */
static int take_event(struct sifive_trace_event *ev, u32 at)
{
	unsigned long index, info, known = counters_known();
	int fixed = fixed_counter(ev);
	struct request r = {
		.event = ev->type << 16 | ev->code,
		.data = ev->data,
	};
	bool candidate = false;
	unsigned int cpu;
	char name[24];
	u32 counter;

	for (index = 0; index < known; index++) {
		info = counter_info(index);
		counter = FIELD_GET(INFO_CSR, info) - CSR_CYCLE;
		if (!info || counter > 31 || sft.counters.mask & BIT(counter))
			continue;
		if (fixed >= 0 ? counter != fixed : counter <= COUNTER_INSTRET)
			continue;
		candidate = true;
		r.index = index;
		r.counter = counter;
		if (!take(&r))
			break;
	}
	if (!candidate)
		return sft_fail(-EBUSY, "event %u: all counters are taken", at);
	if (index == known)
		return sft_fail(-EOPNOTSUPP,
				"event %u: no free counter counts type %u, code %#x, data %#llx",
				at, ev->type, ev->code, ev->data);

	sft.counters.mask |= BIT(r.counter);
	ev->counter = r.counter;
	ev->info = info & (INFO_CSR | INFO_WIDTH);
	for_each_cpu(cpu, &sft.counters.cpus) {
		r.error = 0;
		smp_call_function_single(cpu, open_here, &r, 1);
		if (!r.error)
			continue;
		counter_name(name, sizeof(name), r.counter);
		return sft_fail(-EOPNOTSUPP,
				"event %u: firmware does not let %s be read on cpu %u",
				at, name, cpu);
	}
	return 0;
}

/* The trace timestamp is counter 1: no CSR, read from the stimulus page. */
static int take_timestamp(struct sifive_trace_event *ev, u32 at)
{
	struct sft_component *master = NULL;
	struct sft_encoder *e;

	for_each_encoder(e) {
		if (!sft_capture_has(e))
			continue;
		master = sft_timestamp_master(e);
		if (!master || !e->ts_readable)
			return sft_fail(-EOPNOTSUPP, "event %u: %s shows no running timestamp",
					at, sft_name(&e->c));
	}
	ev->counter = COUNTER_TIMESTAMP;
	ev->info = FIELD_PREP(INFO_WIDTH, sft_timestamp_width(master) - 1);
	sft.counters.mask |= BIT(COUNTER_TIMESTAMP);
	return 0;
}

static bool is_timestamp(const struct sifive_trace_event *ev)
{
	return ev->type == SBI_PMU_EVENT_TYPE_HW &&
	       ev->code == SIFIVE_TRACE_EVENT_TIMESTAMP;
}

/* Refuse what cannot be meant, before anything is touched. */
static int check_event(const struct sifive_trace_counters *arg, u32 at)
{
	const struct sifive_trace_event *ev = &arg->event[at], *other;

	if (ev->type > SBI_PMU_EVENT_TYPE_RAW)
		return sft_fail(-EINVAL, "event %u: type %u (0 general, 1 cache, 2 raw)",
				at, ev->type);
	if (ev->type == SBI_PMU_EVENT_TYPE_RAW ? ev->code : ev->data != 0)
		return sft_fail(-EINVAL, "event %u: a raw event has data only, others a code only",
				at);
	if (ev->code > U16_MAX || (ev->type != SBI_PMU_EVENT_TYPE_RAW &&
				   ev->type != SBI_PMU_EVENT_TYPE_CACHE && !ev->code))
		return sft_fail(-EINVAL, "event %u: code %#x", at, ev->code);
	for (other = arg->event; other < ev; other++)
		if (other->type == ev->type && other->code == ev->code &&
		    other->data == ev->data)
			return sft_fail(-EINVAL, "event %u is event %td again",
					at, other - arg->event);
	return 0;
}

/*
 * Replace the session's counters by those for @arg's events; @arg->failed tells
 * which event was refused. With an error the session has no counters.
 */
int sft_counters_take(struct sifive_trace_counters *arg)
{
	struct sft_encoder *e;
	int ret;
	u32 i;

	sft_counters_release();
	arg->mask = 0;
	for (i = 0; i < arg->count; i++) {
		arg->failed = i;
		ret = check_event(arg, i);
		if (ret)
			return ret;
	}
	for_each_encoder(e)
		if (sft_capture_has(e) && !e->ended)
			cpumask_set_cpu(e->cpu, &sft.counters.cpus);
	for (i = 0; i < arg->count; i++) {
		arg->failed = i;
		if (is_timestamp(&arg->event[i]))
			ret = take_timestamp(&arg->event[i], i);
		else if (!sft_counters_available())
			ret = sft_fail(-EOPNOTSUPP,
				       "event %u: counters need Sscofpmf and firmware with SBI PMU",
				       i);
		else
			ret = take_event(&arg->event[i], i);
		if (ret) {
			sft_counters_release();
			return ret;
		}
	}
	arg->failed = ~0u;
	arg->mask = sft.counters.mask;
	return 0;
}

static void leave_cpu(unsigned int cpu)
{
	struct request r = {};

	smp_call_function_single(cpu, close_here, NULL, 1);
	for (r.index = 0; r.index < 64; r.index++)
		if (sft.counters.index & BIT_ULL(r.index))
			smp_call_function_single(cpu, give_back_here, &r, 1);
}

/* A CPU goes offline; the session has no counters there from now on. */
void sft_counters_leave_cpu(unsigned int cpu)
{
	if (cpumask_test_and_clear_cpu(cpu, &sft.counters.cpus))
		leave_cpu(cpu);
}

/* Close user mode's access and give every counter back. */
void sft_counters_release(void)
{
	unsigned int cpu;

	for_each_cpu(cpu, &sft.counters.cpus)
		leave_cpu(cpu);
	memset(&sft.counters, 0, sizeof(sft.counters));
}

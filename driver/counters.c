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
#define COUNTER_INSTRET		2

/* What each CPU's counters stood at when system sleep began. */
static DEFINE_PER_CPU(u64 [SIFIVE_TRACE_MAX_COUNTERS], saved);

/**
 * struct request - something to be done with a counter on one CPU
 * @c:		the counter
 * @slot:	its place in sft_counters.taken
 * @start:	value to start at
 * @error:	firmware's answer
 */
struct request {
	struct sft_counter c;
	unsigned int slot;
	u64 start;
	long error;
};

bool sft_counters_available(void)
{
	return riscv_isa_extension_available(NULL, SSCOFPMF) &&
	       !sbi_spec_is_0_1() && sbi_probe_extension(SBI_EXT_PMU) > 0;
}

/* Read a CSR; false when firmware keeps that counter to itself. */
static __always_inline bool read_csr(const unsigned int csr, u64 *value)
{
	unsigned long got = 0;
	long ok = 0;

	asm volatile("1:	csrr %1, %2\n"
		     "	li %0, 1\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : "+r" (ok), "+r" (got)
		     : "i" (csr));
	*value = got;
	return ok;
}

/* The CSR's number is part of the instruction. */
bool sft_csr_read(u32 counter, u64 *value)
{
	switch (counter) {
	case 0: return read_csr(CSR_CYCLE + 0, value);
	case 1: return read_csr(CSR_CYCLE + 1, value);
	case 2: return read_csr(CSR_CYCLE + 2, value);
	case 3: return read_csr(CSR_CYCLE + 3, value);
	case 4: return read_csr(CSR_CYCLE + 4, value);
	case 5: return read_csr(CSR_CYCLE + 5, value);
	case 6: return read_csr(CSR_CYCLE + 6, value);
	case 7: return read_csr(CSR_CYCLE + 7, value);
	case 8: return read_csr(CSR_CYCLE + 8, value);
	case 9: return read_csr(CSR_CYCLE + 9, value);
	case 10: return read_csr(CSR_CYCLE + 10, value);
	case 11: return read_csr(CSR_CYCLE + 11, value);
	case 12: return read_csr(CSR_CYCLE + 12, value);
	case 13: return read_csr(CSR_CYCLE + 13, value);
	case 14: return read_csr(CSR_CYCLE + 14, value);
	case 15: return read_csr(CSR_CYCLE + 15, value);
	case 16: return read_csr(CSR_CYCLE + 16, value);
	case 17: return read_csr(CSR_CYCLE + 17, value);
	case 18: return read_csr(CSR_CYCLE + 18, value);
	case 19: return read_csr(CSR_CYCLE + 19, value);
	case 20: return read_csr(CSR_CYCLE + 20, value);
	case 21: return read_csr(CSR_CYCLE + 21, value);
	case 22: return read_csr(CSR_CYCLE + 22, value);
	case 23: return read_csr(CSR_CYCLE + 23, value);
	case 24: return read_csr(CSR_CYCLE + 24, value);
	case 25: return read_csr(CSR_CYCLE + 25, value);
	case 26: return read_csr(CSR_CYCLE + 26, value);
	case 27: return read_csr(CSR_CYCLE + 27, value);
	case 28: return read_csr(CSR_CYCLE + 28, value);
	case 29: return read_csr(CSR_CYCLE + 29, value);
	case 30: return read_csr(CSR_CYCLE + 30, value);
	case 31: return read_csr(CSR_CYCLE + 31, value);
	}
	return false;
}

/*
 * Configure and start one counter on this CPU. One that runs already is somebody
 * else's, although firmware may let it be configured.
 */
static void take_here(void *arg)
{
	struct request *r = arg;
	struct sbiret ret;

	ret = sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_CFG_MATCH, r->c.index,
			1, 0, r->c.event, r->c.data, (u64)r->c.data >> 32);
	if (!ret.error)
		ret = sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_START,
				r->c.index, 1, SBI_PMU_START_FLAG_SET_INIT_VALUE,
				r->start, (u64)r->start >> 32, 0);
	r->error = ret.error;
}

static void give_back_here(void *arg)
{
	struct request *r = arg;

	sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_STOP, r->c.index, 1,
		  SBI_PMU_STOP_FLAG_RESET, 0, 0, 0);
}

/* Whether firmware lets this CPU's counter be read. */
static void probe_here(void *arg)
{
	struct request *r = arg;
	u64 value;

	if (!sft_csr_read(r->c.counter, &value))
		r->error = SBI_ERR_DENIED;
}

static void save_here(void *arg)
{
	struct request *r = arg;

	sft_csr_read(r->c.counter, this_cpu_ptr(&saved[r->slot]));
}

/* Take it anew and let it go on where it was. */
static void resume_here(void *arg)
{
	struct request *r = arg;

	give_back_here(r);
	r->start = this_cpu_read(saved[r->slot]);
	take_here(r);
}

/*
 * Have a counter count on all CPUs of the session from 0, or on none. Returns
 * firmware's error.
 */
static long take(const struct sft_counter *c)
{
	struct request r = { .c = *c };
	unsigned int cpu, undo;

	for_each_cpu(cpu, &sft.counters.cpus) {
		if (smp_call_function_single(cpu, take_here, &r, 1))
			r.error = SBI_ERR_FAILURE;
		if (!r.error)
			continue;
		for_each_cpu(undo, &sft.counters.cpus) {
			if (undo == cpu)
				break;
			smp_call_function_single(undo, give_back_here, &r, 1);
		}
		return r.error;
	}
	sft.counters.taken[sft.counters.count++] = *c;
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

/* Let user mode read a counter that has been taken, on all CPUs. */
static int open_counter(const struct sft_counter *c, u32 at)
{
	struct request r = { .c = *c };
	unsigned int cpu;
	char name[24];

	for_each_cpu(cpu, &sft.counters.cpus) {
		smp_call_function_single(cpu, probe_here, &r, 1);
		if (!r.error)
			continue;
		counter_name(name, sizeof(name), c->counter);
		return sft_fail(-EOPNOTSUPP,
				"event %u: firmware does not let %s be read on cpu %u",
				at, name, cpu);
	}
	return 0;
}

/*
 * Find and start a counter for an event that is counted by a CSR. Cycles and
 * instructions have their own; all others share the programmable ones.
 */
static int take_event(struct sifive_trace_event *ev, u32 at)
{
	unsigned long index, info, known = counters_known();
	int fixed = fixed_counter(ev);
	struct sft_counter c = {
		.event = ev->type << 16 | ev->code,
		.data = ev->data,
	};
	bool candidate = false;

	for (index = 0; index < known; index++) {
		info = counter_info(index);
		c.index = index;
		c.counter = FIELD_GET(INFO_CSR, info) - CSR_CYCLE;
		if (!info || c.counter > 31 || sft.counters.mask & BIT(c.counter))
			continue;
		if (fixed >= 0 ? c.counter != fixed : c.counter <= COUNTER_INSTRET)
			continue;
		candidate = true;
		if (!take(&c))
			break;
	}
	if (!candidate)
		return sft_fail(-EBUSY, "event %u: all counters are taken", at);
	if (index == known && fixed >= 0)
		return sft_fail(-EBUSY, "event %u: its counter is in use", at);
	if (index == known)
		return sft_fail(-EOPNOTSUPP,
				"event %u: no free counter counts type %u, code %#x, data %#llx",
				at, ev->type, ev->code, ev->data);

	sft.counters.mask |= BIT(c.counter);
	ev->counter = c.counter;
	ev->info = info & (INFO_CSR | INFO_WIDTH);
	return open_counter(&c, at);
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
	ev->counter = SFT_COUNTER_TIMESTAMP;
	ev->info = FIELD_PREP(INFO_WIDTH, sft_timestamp_width(master) - 1);
	sft.counters.mask |= BIT(SFT_COUNTER_TIMESTAMP);
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
	sft.counters.per_thread = arg->flags & SIFIVE_TRACE_COUNTERS_PER_THREAD;
	sft_access_open(sft.counters.mask);
	arg->failed = ~0u;
	arg->mask = sft.counters.mask;
	return 0;
}

static void leave_cpu(unsigned int cpu)
{
	struct request r = {};
	unsigned int i;

	sft_access_close_cpu(cpu);
	for (i = 0; i < sft.counters.count; i++) {
		r.c = sft.counters.taken[i];
		smp_call_function_single(cpu, give_back_here, &r, 1);
	}
}

/* Do something with every counter on every CPU of the session. */
static long for_all(smp_call_func_t func)
{
	struct request r = {};
	unsigned int cpu;
	long error = 0;

	for_each_cpu(cpu, &sft.counters.cpus)
		for (r.slot = 0; r.slot < sft.counters.count; r.slot++) {
			r.c = sft.counters.taken[r.slot];
			r.error = 0;
			smp_call_function_single(cpu, func, &r, 1);
			error = error ?: r.error;
		}
	return error;
}

/* Before system sleep, which may lose the counters. */
void sft_counters_suspend(void)
{
	for_all(save_here);
}

/* After it: the counters go on from where they were. */
int sft_counters_resume(void)
{
	long error = for_all(resume_here);

	sft_access_resume();
	return error ? sft_fail(-EIO, "firmware's error %ld", error) : 0;
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

	sft_access_close();
	for_each_cpu(cpu, &sft.counters.cpus)
		leave_cpu(cpu);
	memset(&sft.counters, 0, sizeof(sft.counters));
}

// SPDX-License-Identifier: GPL-2.0-only
/* The bare-metal library on one hart, without Linux. bare.sh decodes its traces. */
#include "../../lib/counter.h"
#include "sifive_bare_perf.h"

#include "bare.h"

#define CHANNEL		6
#define BUFFER		(16 * 1024)
#define TURNS		1000u
#define CALLS		10
#define FULL		512

/* Of this board. */
#define MTIME_HZ	10000000u

/* The funnel's registers that read out an SRAM, as words. */
#define SINK_RP		(0x20 / 4)
#define SINK_DATA	(0x24 / 4)

/*
 * hpmcounter31, which this hart does not have: reading it, or its upper half, traps,
 * and gives what a counter would that goes on by a step with each read.
 */
#define NO_COUNTER	31

static uint64_t counter, counter_step;

static bool read_no_counter(unsigned long *registers, uint32_t instruction)
{
	uint32_t csr = instruction >> 20;

	if (csr != 0xc00 + NO_COUNTER && csr != 0xc80 + NO_COUNTER)
		return false;
	registers[instruction >> 7 & 31] = (unsigned long)
		(csr & 0x80 ? counter >> 32 : counter);
	counter += counter_step;
	return true;
}

void trapped(unsigned long *registers, unsigned long cause, unsigned long pc)
{
	uint32_t instruction;

	if (cause == 2) {
		memcpy(&instruction, (void *)pc, sizeof(instruction));
		if (read_no_counter(registers, instruction)) {
			__asm__ volatile("csrw mepc, %0" : : "r" (pc + 4));
			return;
		}
	}
	bail_out(cause, pc);
}

static void hand_out_own(const char *name)
{
	uint32_t bytes;
	const void *buffer = perfTraceBuffer(&bytes);

	hand_out(buffer, bytes, name);
}

static perfEvent events[] = {
	{ .type = perfEventHWRaw, .event_data = 0x10019 },
	{ .type = perfEventHWGeneral, .code = HW_INSTRUCTIONS },
	{ .type = perfEventHWGeneral, .code = HW_TIMESTAMP },
	{ .type = perfEventHWGeneral, .code = HW_CPU_CYCLES },
};

#define EVENTS	((int)(sizeof(events) / sizeof(events[0])))

static void spin(unsigned long turns)
{
	__asm__ volatile("1:	addi %0, %0, -1\n"
			 "	bnez %0, 1b\n"
			 : "+r" (turns));
}

/* The lower half carries into the upper one before, between and after the reads. */
static bool reads_are_whole(void)
{
	const uint8_t number = NO_COUNTER;
	uint64_t before, value;
	unsigned int distance;

	for (distance = 0; distance < 8; distance++)
		for (counter_step = 0; counter_step < 4; counter_step++) {
			counter = (5ull << 32) - distance;
			before = counter;
			perf_counters_read(&number, 1, NULL, &value);
			if (value < before || value > counter)
				return false;
		}
	return true;
}

static void test_refuses(void)
{
	perfEvent cache = { .type = perfEventHWCache };

	result(perfTraceOn() && perfWriteCntrs(), "nothing works before it is initialised");
	result(perfInit(0, 1) && perfInit(PERF_MAX_HARTS + 1, 1) && perfInit(2, 2),
	       "perfInit refuses what cannot be");
	result(!perfInit(2, 1), "perfInit");
	result(perfManualInit(&cache, 1, CHANNEL, perfCount_Raw, BUFFER) &&
	       perfManualInit(events, EVENTS, 32, perfCount_Raw, BUFFER) &&
	       perfManualInit(events, EVENTS, CHANNEL, perfCount_Raw,
			      PERF_MEM_POOL_SIZE + 1),
	       "initialisation refuses what cannot be");
}

static void test_manual(void)
{
	unsigned int i;
	bool ok;

	ok = !perfManualInit(events, EVENTS, CHANNEL, perfCount_Raw, BUFFER) &&
	     !perfTraceOn();
	for (i = 0; i < CALLS; i++) {
		spin(TURNS);
		ok = !perfWriteCntrs() && ok;
	}
	ok = !perfTraceOff() && ok;
	/* Off: none of these is in the trace. */
	perfWriteCntrs();
	result(ok, "manual records");
	hand_out_own("manual");
}

static void test_entry_exit(void)
{
	bool ok;

	ok = !perfFuncEntryExitInit(events, EVENTS, CHANNEL, perfCount_Delta,
				    2 * BUFFER) && !perfTraceOn();
	ok = fib(5) == 5 && ok;
	ok = !perfTraceOff() && ok;
	ok = fib(5) == 5 && ok;
	result(ok, "entry and exit records");
	hand_out_own("hooks");
}

/*
 * So many milliseconds with a record each @interval microseconds. What is handed out
 * is saved at the end: each trace has a buffer of its own, of a size of its own.
 */
static bool run_timer(uint32_t bytes, int interval, unsigned int ms)
{
	volatile uint32_t *mtime = (uint32_t *)(perfClintAddress + 0xbff8);
	uint32_t start;
	bool ok;

	ok = !perfTimerISRInit(events, EVENTS, CHANNEL, perfCount_DeltaXOR, bytes,
			       interval) && !perfTraceOn();
	start = *mtime;
	while (*mtime - start < MTIME_HZ / 1000 * ms)
		spin(TURNS);
	return !perfTraceOff() && ok;
}

static void test_timer(void)
{
	result(run_timer(3 * BUFFER, 1000, 50), "timer records");
	hand_out_own("timer");
	result(run_timer(BUFFER / 2, 1, 5), "no interval is shorter than 100 us");
	hand_out_own("shortest");
	/* Told that a second has half as many ticks, it takes half a second for one. */
	perfClintHz = MTIME_HZ / 2;
	result(run_timer(3 * BUFFER / 2, 1000, 50), "the clock's rate is the program's to tell");
	perfClintHz = MTIME_HZ;
	hand_out_own("half");
}

static uintptr_t trap_vector(void)
{
	uintptr_t vector;

	__asm__ volatile("csrr %0, mtvec" : "=r" (vector));
	return vector;
}

/* A trap that is none of the timer's: it is the program's, as is mtvec from then on. */
static void test_other_trap(uintptr_t own)
{
	const uint8_t number = NO_COUNTER;
	uint64_t value = 0;
	bool ok;

	counter = 7;
	counter_step = 0;
	ok = !perfTimerISRInit(events, EVENTS, CHANNEL, perfCount_Raw, BUFFER / 4,
			       1000) && !perfTraceOn();
	result(ok && trap_vector() != own, "the timer takes mtvec");
	perf_counters_read(&number, 1, NULL, &value);
	result(value == 7, "the program's own traps reach it");
	result(trap_vector() == own, "and give mtvec back");
	result(!perfTraceOff(), "which does not end the trace");
}

/* What does not fit is not written; what was, stays. */
static void test_full(void)
{
	uint32_t bytes;
	unsigned int i;
	bool ok;

	ok = !perfManualInit(events, EVENTS, CHANNEL, perfCount_Raw, FULL) &&
	     !perfTraceOn();
	for (i = 0; i < 10 * CALLS; i++)
		perfWriteCntrs();
	ok = !perfTraceOff() && ok;
	result(ok && perfTraceBuffer(&bytes) && bytes == FULL, "a buffer that is full");
	hand_out_own("full");
}

/* The program reads it out by itself. */
static void test_sram(void)
{
	static uint32_t copy[BUFFER / 4];
	volatile uint32_t *funnel = (volatile uint32_t *)fmm;
	uint32_t bytes, i;
	bool ok;

	ok = !perfManualInit(events, EVENTS, CHANNEL, perfCount_Raw, 0) && !perfTraceOn();
	for (i = 0; i < CALLS; i++) {
		spin(TURNS);
		ok = !perfWriteCntrs() && ok;
	}
	ok = !perfTraceOff() && ok;
	ok = !perfTraceBuffer(&bytes) && bytes && bytes <= sizeof(copy) && ok;
	result(ok, "manual records in SRAM");
	if (!ok)
		return;
	funnel[SINK_RP] = 0;
	for (i = 0; i < bytes / 4; i++)
		copy[i] = funnel[SINK_DATA];
	hand_out(copy, bytes, "sram");
}

int main(void)
{
	const uintptr_t own = trap_vector();

	result(reads_are_whole(), "a read of a counter never mixes two halves");
	test_refuses();
	test_manual();
	test_entry_exit();
	test_timer();
	test_other_trap(own);
	test_full();
	test_sram();
	results_end();
	return 0;
}

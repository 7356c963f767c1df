// SPDX-License-Identifier: GPL-2.0-only
/* The bare-metal library on one hart, without Linux. bare.sh decodes its traces. */
#include "../../lib/counter.h"
#include "sifive_bare_perf.h"

#include "bare.h"

#define CHANNEL		6
#define BUFFER		(16 * 1024)
#define TURNS		1000u
#define CALLS		10

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

/* 50 ms with a record each millisecond. */
static void test_timer(void)
{
	volatile uint32_t *mtime = (uint32_t *)(perfClintAddress + 0xbff8);
	uint32_t start;
	bool ok;

	ok = !perfTimerISRInit(events, EVENTS, CHANNEL, perfCount_DeltaXOR,
			       3 * BUFFER, 1000) && !perfTraceOn();
	start = *mtime;
	while (*mtime - start < perfClintHz / 20)
		spin(TURNS);
	ok = !perfTraceOff() && ok;
	result(ok, "timer records");
	hand_out_own("timer");
}

int main(void)
{
	result(reads_are_whole(), "a read of a counter never mixes two halves");
	test_refuses();
	test_manual();
	test_entry_exit();
	test_timer();
	results_end();
	return 0;
}

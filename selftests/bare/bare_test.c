// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bare-metal library on the board, without Linux: prints TAP to the serial
 * port, and where each trace is, in lines "trace ADDRESS BYTES NAME" that
 * "board bare" acts on. bare.sh decodes them.
 */
#include <stdbool.h>
#include <stddef.h>

#include "../../lib/counter.h"
#include "sifive_bare_perf.h"

#include "bare.h"

#define CHANNEL		6
#define BUFFER		(16 * 1024)
#define TURNS		1000u
#define CALLS		10

struct TraceRegMemMap volatile *tmm[] = {
	(struct TraceRegMemMap *)0x11000000, (struct TraceRegMemMap *)0x11001000,
};

struct TfTraceRegMemMap volatile *fmm = (struct TfTraceRegMemMap *)0x11018000;

/* The compiler's own calls. */
void *memset(void *to, int value, size_t size);
void *memcpy(void *to, const void *from, size_t size);

void *memset(void *to, int value, size_t size)
{
	volatile char *at = to;

	while (size--)
		*at++ = (char)value;
	return to;
}

void *memcpy(void *to, const void *from, size_t size)
{
	volatile char *at = to;
	const char *source = from;

	while (size--)
		*at++ = *source++;
	return to;
}

static void print(const char *text)
{
	volatile char *uart = (char *)0x10000000;

	while (*text)
		*uart = *text++;
}

static void print_hex(unsigned long value)
{
	char text[2 * sizeof(value) + 1];
	unsigned int i = sizeof(text) - 1;

	text[i] = '\0';
	do {
		text[--i] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	print("0x");
	print(&text[i]);
}

static unsigned int tests;

static void result(bool ok, const char *what)
{
	char number[] = { ' ', (char)('0' + ++tests), ' ', '\0' };

	print(ok ? "ok" : "not ok");
	print(number);
	print(what);
	print("\n");
}

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

void trapped(unsigned long *registers)
{
	unsigned long cause, pc;
	uint32_t instruction;

	__asm__ volatile("csrr %0, mcause\n"
			 "csrr %1, mepc" : "=r" (cause), "=r" (pc));
	if (cause == 2) {
		memcpy(&instruction, (void *)pc, sizeof(instruction));
		if (read_no_counter(registers, instruction)) {
			__asm__ volatile("csrw mepc, %0" : : "r" (pc + 4));
			return;
		}
	}
	print("Bail out! trap ");
	print_hex(cause);
	print(" at ");
	print_hex(pc);
	print("\ndone\n");
	for (;;)
		;
}

/* Have the runner save what was captured. */
static void hand_out(const char *name)
{
	uint32_t bytes;
	const void *buffer = perfTraceBuffer(&bytes);

	print("trace ");
	print_hex((uintptr_t)buffer);
	print(" ");
	print_hex(bytes);
	print(" ");
	print(name);
	print("\n");
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
	hand_out("manual");
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
	hand_out("hooks");
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
	hand_out("timer");
}

int main(void)
{
	result(reads_are_whole(), "a read of a counter never mixes two halves");
	test_refuses();
	test_manual();
	test_entry_exit();
	test_timer();
	print("1..8\n");
	print("done\n");
	return 0;
}

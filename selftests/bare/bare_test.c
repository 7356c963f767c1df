// SPDX-License-Identifier: GPL-2.0-only
/* Tests the bare-metal library on one hart, without Linux. bare.sh decodes the traces. */
#include "../../lib/bare/choose.h"
#include "../../lib/counter.h"
#include "sifive_bare_perf.h"

#include "bare.h"

#define CHANNEL		6
#define BUFFER		(16 * 1024)
#define TURNS		1000u
#define CALLS		10
#define FULL		512

/* The board's properties, including the number of programmable counters per hart. */
#define MTIME_HZ	10000000u
#define COUNTERS	16

/* The funnel's registers for reading SRAM, as words. */
#define SINK_RP		(0x20 / 4)
#define SINK_DATA	(0x24 / 4)

/*
 * The hart has no hpmcounter31, so a read of either half traps. The trap handler returns the value
 * of a counter that advances with each read.
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

/* Emulate counters and events that must read 0, but whose CSRs trap on this emulator. */
static bool read_zero(unsigned long *registers, uint32_t instruction)
{
	uint32_t csr = instruction >> 20;

	if ((csr & ~0x9fu) != 0xb00 && (csr & ~0x1fu) != 0x320)
		return false;
	registers[instruction >> 7 & 31] = 0;
	return true;
}

void trapped(unsigned long *registers, unsigned long cause, unsigned long pc)
{
	uint32_t instruction;

	if (cause == 2) {
		memcpy(&instruction, (void *)pc, sizeof(instruction));
		if (read_no_counter(registers, instruction) ||
		    read_zero(registers, instruction)) {
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

/*
 * Check that a counter's two halves are consistent, whether the carry into the upper half occurs
 * before, between or after the reads of the halves.
 */
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

	result(perfTraceOn() && perfWriteCntrs(), "calls fail before initialisation");
	result(perfInit(0, 1) && perfInit(PERF_MAX_HARTS + 1, 1) && perfInit(2, 2),
	       "perfInit refuses invalid arguments");
	result(!perfInit(2, 1), "perfInit succeeds");
	result(perfManualInit(&cache, 1, CHANNEL, perfCount_Raw, BUFFER) &&
	       perfManualInit(events, EVENTS, 32, perfCount_Raw, BUFFER) &&
	       perfManualInit(events, EVENTS, CHANNEL, perfCount_Raw,
			      PERF_MEM_POOL_SIZE + 1),
	       "initialisation refuses invalid arguments");
}

/* Bit n of an event's word is set if counter n can count the event. */
static bool is_possible(const void *arg, unsigned int event, unsigned int number)
{
	return ((const uint32_t *)arg)[event] >> number & 1;
}

/* Check that each event is assigned a suitable counter, whatever the order of the events. */
static bool all_chosen(const uint32_t *possible, unsigned int count)
{
	uint32_t list[6], taken;
	unsigned int turn, i;

	for (turn = 0; turn < 2 * count; turn++) {
		struct bare_choice choice = { .can = is_possible, .arg = list };

		for (i = 0; i < count; i++)
			list[i] = possible[(turn < count ? i + turn :
					    2 * count - 1 - i + turn) % count];
		bare_choose_begin(&choice);
		for (i = taken = 0; i < count; i++)
			if (!bare_choose(&choice, i))
				return false;
		for (i = 0; i < count; i++) {
			uint32_t bit = 1u << choice.number[i];

			if (!(list[i] & bit) || taken & bit)
				return false;
			taken |= bit;
		}
	}
	return true;
}

static void test_choose(void)
{
	static const uint32_t two[] = { 1 << 4, 1 << 3 };
	static const uint32_t chain[] = { 7 << 3, 3 << 3, 1 << 3 };
	static const uint32_t ring[] = { 3 << 3, 3 << 4, 3 << 5, 1 << 6 | 1 << 3 };
	static const uint32_t any[] = { ~0u, ~0u, ~0u, ~0u, ~0u, 1u << 31 };
	static const uint32_t none[] = { 3 << 3, 3 << 3, 3 << 3 };

	result(all_chosen(two, 2) && all_chosen(chain, 3) && all_chosen(ring, 4) &&
	       all_chosen(any, 6), "each event is assigned a counter, in any order");
	result(!all_chosen(none, 3), "no two events share a counter");
}

/* Check that the call fails and sets ctrIdx to PERF_NO_COUNTER only for the event at @at. */
static bool is_refused(perfEvent *list, int count, int at)
{
	int i;

	if (!perfManualInit(list, count, CHANNEL, perfCount_Raw, BUFFER))
		return false;
	for (i = 0; i < count; i++)
		if (list[i].ctrIdx == PERF_NO_COUNTER ? i != at : i == at)
			return false;
	return true;
}

static void test_refuses_events(void)
{
	static perfEvent many[30];
	perfEvent raw[] = {
		{ .type = perfEventHWRaw, .event_data = 0x10019 },
		{ .type = perfEventHWRaw, .event_data = 0x10021 },
		{ .type = perfEventHWRaw, .event_data = 0x10019 },
	};
	perfEvent general[] = {
		{ .type = perfEventHWGeneral, .code = HW_CPU_CYCLES },
		{ .type = perfEventHWGeneral, .code = HW_CPU_CYCLES },
	};
	int i;

	result(is_refused(raw, 3, 2) && is_refused(general, 2, 1),
	       "a duplicate event is reported");
	for (i = 0; i < 30; i++) {
		many[i].type = perfEventHWRaw;
		many[i].event_data = 0x100ul + (unsigned int)i;
	}
	result(is_refused(many, 30, COUNTERS) &&
	       !perfManualInit(many, COUNTERS, CHANNEL, perfCount_Raw, BUFFER),
	       "an event without a free counter is reported");
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
	/* Tracing is off, so this record is not written. */
	perfWriteCntrs();
	result(ok, "manual records are written");
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
	result(ok, "entry and exit records are written");
	hand_out_own("hooks");
}

/*
 * Record for @ms milliseconds, once every @interval microseconds. Traces are saved only at the end,
 * so give each trace a different size: the library then allocates a new buffer.
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
	result(run_timer(3 * BUFFER, 1000, 50), "the timer writes records");
	hand_out_own("timer");
	result(run_timer(BUFFER / 2, 1, 5), "no interval is shorter than 100 us");
	hand_out_own("shortest");
	/* If the program gives half the true clock rate, the interval lasts half as long. */
	perfClintHz = MTIME_HZ / 2;
	result(run_timer(3 * BUFFER / 2, 1000, 50), "the program can set the clock's rate");
	perfClintHz = MTIME_HZ;
	hand_out_own("half");
}

static void set_interrupts(bool on)
{
	if (on)
		__asm__ volatile("csrsi mstatus, 8" : : : "memory");
	else
		__asm__ volatile("csrci mstatus, 8" : : : "memory");
}

/* Number of clock ticks in which one or two records can be written. */
#define NEAR	10

/*
 * While the timer is due, alternate between writing and not writing records, until interrupts have
 * occurred several times both inside and outside a record. Each interrupt schedules another.
 */
static void test_interrupted(void)
{
	volatile uint32_t *mtime = (uint32_t *)(perfClintAddress + 0xbff8);
	volatile uint32_t *next = (uint32_t *)(perfClintAddress + 0x4000);
	uint32_t last, lost = 0, made = 0, ticks;
	bool ok;

	ok = !perfTimerISRInit(&events[1], 1, CHANNEL, perfCount_Delta, 4 * BUFFER, 100);
	set_interrupts(false);
	ok = !perfTraceOn() && ok;
	last = *next;
	set_interrupts(true);
	for (ticks = 0; ticks < 40 && (lost < 3 || ticks < lost + 3); ticks++) {
		while (*next == last && (ticks & 1 || last - *mtime > NEAR))
			spin(10);
		for (; *next == last; made++)
			ok = !perfWriteCntrs() && ok;
		last = *next;
		ok = !perfLostRecords(&lost) && ok;
	}
	set_interrupts(false);
	ticks += *next != last;
	ok = !perfTraceOff() && ok;
	set_interrupts(true);
	ok = !perfLostRecords(&lost) && ok;
	result(ok && lost >= 3 && ticks >= lost + 3,
	       "records that the timer omits are counted");
	hand_out_own("interrupted");
	tell("records", made);
	tell("ticks", ticks);
	tell("lost", lost);
}

static uintptr_t trap_vector(void)
{
	uintptr_t vector;

	__asm__ volatile("csrr %0, mtvec" : "=r" (vector));
	return vector;
}

/* A trap with any other cause is passed to the program's own handler, and mtvec is restored. */
static void test_other_trap(uintptr_t own)
{
	const uint8_t number = NO_COUNTER;
	uint64_t value = 0;
	bool ok;

	counter = 7;
	counter_step = 0;
	ok = !perfTimerISRInit(events, EVENTS, CHANNEL, perfCount_Raw, BUFFER / 4,
			       1000) && !perfTraceOn();
	result(ok && trap_vector() != own, "the timer sets mtvec");
	perf_counters_read(&number, 1, NULL, &value);
	result(value == 7, "the program handles other traps");
	result(trap_vector() == own, "the timer restores mtvec");
	result(!perfTraceOff(), "a trap that the program handles does not end the trace");
}

/* Records that do not fit are dropped; earlier records are kept. */
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
	result(ok && perfTraceBuffer(&bytes) && bytes == FULL, "records fill the buffer");
	hand_out_own("full");
}

/* The program reads the SRAM directly, not through the library. */
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
	result(ok, "manual records are written to SRAM");
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

	result(reads_are_whole(), "a counter read never combines halves of different values");
	test_refuses();
	test_choose();
	test_refuses_events();
	test_manual();
	test_entry_exit();
	test_timer();
	test_interrupted();
	test_other_trap(own);
	test_full();
	test_sram();
	results_end();
	return 0;
}

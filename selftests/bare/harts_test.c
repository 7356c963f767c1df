// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the bare-metal library, as installed in a single file, on two harts that record
 * concurrently, each with a separate encoder, stimulus register, list of events and count type. The
 * harts record through a funnel into one trace, or into separate traces. bare.sh decodes the
 * captures.
 */
#include "sifive_bare_perf.h"

#include "bare.h"

#define HARTS		2
#define BUFFER		(32 * 1024u)
#define ROUNDS		12
#define TICKS		20
#define STORM		300

/* A hart's settings, and the address of its trace. */
static struct hart {
	perfEvent events[4];
	int count;
	int channel;
	perfCountType_t type;
	int interval;
	unsigned int n;
	const void *buffer;
	uint32_t bytes, size;
	bool ok;
} harts[HARTS] = {
	{
		.events = {
			{ .type = perfEventHWRaw, .event_data = 0x10019 },
			{ .type = perfEventHWGeneral, .code = HW_INSTRUCTIONS },
			{ .type = perfEventHWGeneral, .code = HW_TIMESTAMP },
			{ .type = perfEventHWGeneral, .code = HW_CPU_CYCLES },
		},
		.count = 4, .channel = 6, .type = perfCount_Delta,
		.interval = 1000, .n = 4,
	},
	{
		.events = {
			{ .type = perfEventHWGeneral, .code = HW_TIMESTAMP },
			{ .type = perfEventHWGeneral, .code = HW_INSTRUCTIONS },
		},
		.count = 2, .channel = 9, .type = perfCount_DeltaXOR,
		.interval = 1500, .n = 5,
	},
};

static unsigned int arrived;

/* Wait until the other hart also calls this function. */
static void meet(void)
{
	unsigned int both = (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) + 1) / 2 * 2;

	while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < both)
		;
}

static unsigned long hart_id(void)
{
	unsigned long id;

	__asm__ volatile("csrr %0, mhartid" : "=r" (id));
	return id;
}

void trapped(unsigned long *registers, unsigned long cause, unsigned long pc)
{
	(void)registers;
	bail_out(cause, pc);
}

static bool init_hooks(struct hart *hart)
{
	return !perfFuncEntryExitInit(hart->events, hart->count, hart->channel,
				      hart->type, hart->size);
}

/* Turn tracing on, make all calls, write one manual record, and turn tracing off. */
static bool call(struct hart *hart)
{
	static const unsigned int fibonacci[] = { 0, 1, 1, 2, 3, 5 };

	return fib(hart->n) == fibonacci[hart->n] && !perfWriteCntrs();
}

/* Wait until the trap handler has run several times; each run schedules the next interrupt. */
static bool timers(struct hart *hart, unsigned long id)
{
	volatile uint32_t *next = (uint32_t *)(perfClintAddress + 0x4000 + 8 * id);
	unsigned int seen = 0;
	uint32_t last;
	bool ok;

	ok = !perfTimerISRInit(hart->events, hart->count, hart->channel, hart->type,
			       hart->size, hart->interval);
	meet();
	ok = !perfTraceOn() && ok;
	last = *next;
	while (ok && seen < TICKS)
		if (*next != last) {
			last = *next;
			seen++;
		}
	return !perfTraceOff() && ok;
}

/* Make calls in rounds, which both harts start at the same time. */
static bool together(struct hart *hart, unsigned long id)
{
	unsigned int i;
	bool ok;

	(void)id;
	ok = init_hooks(hart) && !perfTraceOn();
	for (i = 0; i < ROUNDS; i++) {
		meet();
		ok = call(hart) && ok;
	}
	return !perfTraceOff() && ok;
}

/* Turn tracing on and off, independently of the other hart. */
static bool switching(struct hart *hart, unsigned long id)
{
	unsigned int i;
	bool ok;

	(void)id;
	ok = init_hooks(hart);
	meet();
	for (i = 0; i < ROUNDS; i++)
		ok = !perfTraceOn() && call(hart) && !perfTraceOff() && ok;
	return ok;
}

/* Record on the first hart, then on the second hart; the first hart's capture is kept. */
static bool in_turn(struct hart *hart, unsigned long id)
{
	bool ok;

	if (id)
		meet();
	ok = init_hooks(hart) && !perfTraceOn() && call(hart) && !perfTraceOff();
	if (!id)
		meet();
	return ok;
}

/* Write only headers: turn tracing on and off until the buffer is nearly full. */
static bool storm(struct hart *hart, unsigned long id)
{
	unsigned int i;
	bool ok;

	(void)id;
	ok = !perfManualInit(NULL, 0, hart->channel, hart->type, hart->size);
	meet();
	for (i = 0; i < STORM; i++)
		ok = !perfTraceOn() && !perfTraceOff() && ok;
	return ok;
}

static const struct part {
	bool (*run)(struct hart *hart, unsigned long id);
	const char *what;
	const char *trace[HARTS];
} parts[] = {
	{ timers, "the timers of both harts write records", { "timers0", "timers1" } },
	{ together, "both harts record in each round", { "together0", "together1" } },
	{ switching, "each hart can turn tracing on and off at any time",
	  { "switching0", "switching1" } },
	{ in_turn, "the second hart records after the first is done", { "turns0", "turns1" } },
	{ storm, "tracing can be toggled until the buffer is nearly full",
	  { "storm0", "storm1" } },
};

#define PARTS	(sizeof(parts) / sizeof(parts[0]))

/* With a funnel, both harts share a trace, which is saved once for each hart. */
static void run_part(unsigned int i)
{
	const struct part *part = &parts[i];
	unsigned long id = hart_id();
	struct hart *hart = &harts[id];

	/*
	 * Each part requests a different size, so the library allocates a separate buffer and all
	 * captures are kept.
	 */
	hart->size = BUFFER + 1024 * i;
	hart->ok = part->run(hart, id);
	meet();
	hart->buffer = perfTraceBuffer(&hart->bytes);
	hart->ok = hart->ok && hart->buffer && hart->bytes < BUFFER;
	meet();
	if (id)
		return;
	result(harts[0].ok && harts[1].ok, part->what);
	hand_out(harts[0].buffer, harts[0].bytes, part->trace[0]);
	hand_out(harts[1].buffer, harts[1].bytes, part->trace[1]);
}

static void second(void)
{
	unsigned int i;

	for (i = 0; i < PARTS; i++)
		run_part(i);
}

int main(void)
{
	unsigned int i;

	result(!perfInit(HARTS, FUNNELS), "perfInit succeeds");
	start_second(second);
	for (i = 0; i < PARTS; i++)
		run_part(i);
	result(!perfInit(HARTS, FUNNELS), "perfInit succeeds when tracing is off on all harts");
	results_end();
	return 0;
}

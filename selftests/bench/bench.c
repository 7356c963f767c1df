// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of a record: instructions, loads from the encoder's registers, stores to these
 * registers, and bytes in the buffer.
 *
 *	bench all	every kind of record, one line for each:
 *			KIND LIST TYPE MODE THREAD ADDRESS then the four numbers; LIST
 *			is a number of counters, or their names;
 *			then "switch": the user-mode instructions and the ioctls that
 *			are needed to turn tracing on and off
 *	bench targets	only the records that have a target
 *	bench nocode	one kind of record, in a program that may not map executable
 *			memory
 *	bench room	one kind of record, for encoders that cannot stall; then, on
 *			CPU 1, whose encoder is slow, "messages": the
 *			numbers of messages sent and lost
 *
 * ADDRESS is 32 or 64, depending on the program's link addresses. Run this program on an otherwise
 * idle CPU.
 */
#include <err.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "meter.h"
#include "trace_monitor.h"
#include "sifive_trace.h"
#include "traced.h"

/* An empty hook: a single return instruction. */
__attribute__((noinline)) static void no_hook(void *function, void *site)
{
	asm volatile("" : : "r" (function), "r" (site));
}

static const char * const types[] = { "raw", "delta", "xor" };

/* Sets of counters: name, events, and number of events. */
struct list {
	char name[16];
	char events[128];
	int count;
};

enum how { FIRST_THREAD, SECOND_THREAD, OWN_COUNTS, NO_CODE };

static const char * const hows[] = { "first", "second", "own", "nocode" };

#ifndef PR_SET_MDWE
#define PR_SET_MDWE			65
#define PR_MDWE_REFUSE_EXEC_GAIN	1
#endif

/* Number of counters that all harts of the board have. */
#define MOST		18

struct cost {
	uint64_t instructions, loads, stores, bytes;
};

static struct sifive_trace *trace;
static uint64_t nothing, ioctls;

/* Overrides the C library's function for the trace library. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *arg;

	va_start(list, request);
	arg = va_arg(list, void *);
	va_end(list);
	ioctls++;
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

static int bits(void)
{
	return (uintptr_t)traced_hooks >> 32 ? 64 : 32;
}

static void check(int rc)
{
	if (rc)
		errx(1, "%s", sifive_trace_error());
}

/* Return the number of bytes in the buffer. */
static uint64_t captured(void)
{
	struct sifive_trace_report report = { .size = sizeof(report) };

	check(sifive_trace_status(trace, &report));
	if (report.flags & SIFIVE_TRACE_FULL)
		errx(1, "the buffer is full");
	if (report.lost_threads || report.lost_signals || report.lost_abandoned)
		errx(1, "records were lost");
	return report.bytes;
}

static void say(const char *kind, const char *list, int type, bool poll, enum how how,
		const struct cost *cost)
{
	printf("%s %s %s %s %s %d %lu %lu %lu %lu\n", kind, list, types[type],
	       poll ? "poll" : "stall", hows[how], bits(), cost->instructions,
	       cost->loads, cost->stores, cost->bytes);
	fflush(stdout);
}

/* The counters' values affect the number of bytes, but not the number of accesses. */
static bool same(const struct monitor_accesses *before,
		 const struct monitor_accesses *after, uint64_t bytes,
		 struct cost *cost)
{
	uint64_t loads = after->loads - before->loads;
	uint64_t stores = after->stores - before->stores;

	cost->bytes = (bytes + METER_CALLS / 2) / METER_CALLS;
	cost->loads = loads / METER_CALLS;
	cost->stores = stores / METER_CALLS;
	return !(loads % METER_CALLS) && !(stores % METER_CALLS);
}

/*
 * Measure the encoder accesses of @statement, executed METER_CALLS times. Repeat if an interrupt
 * made the library read the counters twice, or if a value exceeded its store size.
 */
#define ENCODER(cost, statement) do {					\
	struct monitor_accesses before_, after_;			\
	int tries_ = 8;							\
	uint64_t bytes_;						\
									\
	do {								\
		if (!tries_--)						\
			errx(1, "the number of accesses differs from record to record"); \
		bytes_ = captured();					\
		monitor_read("te0", &before_);				\
		for (int e_ = 0; e_ < METER_CALLS; e_++)		\
			statement;					\
		monitor_read("te0", &after_);				\
	} while (!same(&before_, &after_, captured() - bytes_, cost));	\
} while (0)

/* Measure the record writers that the calling thread currently uses. */
static void measure(const struct list *list, int type, bool poll, enum how how)
{
	void *function = traced_hooks, *site = measure;
	struct cost enter, exit, manual;
	struct meter meter;
	int instret = strstr(list->events, "instructions") ? -1 : meter_open();

	/*
	 * Wait until raw counts need stores of a size that will not change during the measurement.
	 */
	for (int i = 0; i < 400000; i++)
		asm volatile("");

	meter_traced(traced_hooks, &enter.instructions, &exit.instructions);
	METER(&meter, check(sifive_trace_write(trace)));
	manual.instructions = meter_cost(&meter) - nothing;
	if (instret >= 0)
		close(instret);

	ENCODER(&enter, __cyg_profile_func_enter(function, site));
	ENCODER(&exit, __cyg_profile_func_exit(function, site));
	ENCODER(&manual, sifive_trace_write(trace));

	say("entry", list->name, type, poll, how, &enter);
	say("exit", list->name, type, poll, how, &exit);
	say("manual", list->name, type, poll, how, &manual);
}

struct job {
	const struct list *list;
	int type;
	bool poll;
	enum how how;
};

static void *measure_thread(void *arg)
{
	const struct job *job = arg;

	/* With its first record, the thread joins the session and writes the header. */
	traced_hooks();
	measure(job->list, job->type, job->poll, job->how);
	return NULL;
}

/* Return a list of @count events: the fixed counters, then raw events that all harts can count. */
static struct list neighbours(int count)
{
	struct list list = { .count = count };
	int i;

	snprintf(list.name, sizeof(list.name), "%d", count);
	if (count)
		snprintf(list.events, sizeof(list.events), "%s",
			 count > 1 ? "cycles,instructions" : "instructions");
	for (i = 2; i < count; i++)
		sprintf(list.events + strlen(list.events), ",r%x", 0x100 + i - 2);
	return list;
}

static void run_list(const struct list *list, int type, bool poll, enum how how)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	struct job job = { list, type, poll, how };
	pthread_t thread;

	options.events = list->events;
	options.count_type = type;
	options.cpus = "0";
	options.buffer = 1 << 18;
	options.flags = (poll ? SIFIVE_TRACE_POLL : 0) |
			(how == OWN_COUNTS ? 0 : SIFIVE_TRACE_PER_CPU);
	check(sifive_trace_setup(trace, &options));
	check(sifive_trace_on(trace));
	if (how == SECOND_THREAD) {
		if (pthread_create(&thread, NULL, measure_thread, &job) ||
		    pthread_join(thread, NULL))
			errx(1, "no thread");
	} else {
		traced_hooks();
		measure(list, type, poll, how);
	}
	check(sifive_trace_off(trace));
}

static void run(int count, int type, bool poll, enum how how)
{
	struct list list = neighbours(count);

	run_list(&list, type, poll, how);
}

/* Lists for which no writer was generated in advance. */
static void run_others(void)
{
	static const struct list others[] = {
		{ "1:u", "cycles:u", 1 },
		{ "2:u", "cycles:u,r100:u", 2 },
		{ "8,gap", "cycles:u,r100,r101,r102,r103,r104,r105,r106", 8 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		run_list(&others[i], SIFIVE_TRACE_DELTA, false, FIRST_THREAD);
}

static void run_with_time(enum how how, bool poll)
{
	static const struct list list = {
		"7+time", "cycles,timestamp,instructions,r100,r101,r102,r103,r104", 8,
	};

	run_list(&list, SIFIVE_TRACE_DELTA, poll, how);
}

/*
 * Measure the hook while tracing is off: first alone, then with the call and the frame that the
 * compiler adds.
 */
static void run_off(void)
{
	void (*volatile called)(void *function, void *site) = no_hook;
	struct cost cost = { 0 };
	struct meter meter;
	uint64_t call, exit;
	int instret = meter_open();

	METER(&meter, called(traced_hooks, run_off));
	call = meter_cost(&meter) - 1;
	called = __cyg_profile_func_enter;
	METER(&meter, called(traced_hooks, run_off));
	cost.instructions = meter_cost(&meter) - call;
	say("off-hook", "7", SIFIVE_TRACE_DELTA, false, FIRST_THREAD, &cost);

	meter_traced(traced_hooks, &cost.instructions, &exit);
	say("off-entry", "7", SIFIVE_TRACE_DELTA, false, FIRST_THREAD, &cost);
	cost.instructions = exit;
	say("off-exit", "7", SIFIVE_TRACE_DELTA, false, FIRST_THREAD, &cost);
	close(instret);
}

static void user_instructions(struct meter *meter, int event, void (*statement)(void))
{
	uint64_t before, after;

	for (int i = 0; i < METER_CALLS; i++) {
		if (read(event, &before, sizeof(before)) != sizeof(before))
			err(1, "read of a perf event");
		statement();
		if (read(event, &after, sizeof(after)) != sizeof(after))
			err(1, "read of a perf event");
		meter->took[i] = after - before;
	}
}

static void no_statement(void)
{
	asm volatile("");
}

static void on_and_off(void)
{
	check(sifive_trace_on(trace));
	check(sifive_trace_off(trace));
}

static void run_switch(void)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	struct meter empty, meter;
	uint64_t before;
	const struct list list = neighbours(7);
	int event = meter_user();

	options.events = list.events;
	options.cpus = "0";
	options.buffer = 1 << 18;
	check(sifive_trace_setup(trace, &options));
	user_instructions(&empty, event, no_statement);
	before = ioctls;
	user_instructions(&meter, event, on_and_off);
	printf("switch %lu %lu\n", meter_cost(&meter) - meter_cost(&empty),
	       (ioctls - before) / METER_CALLS);
	captured();
	close(event);
}

static void run_targets(void)
{
	static const int counts[] = { 0, 1, 2, 7, 8, 9, MOST };
	unsigned int i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		run(counts[i], SIFIVE_TRACE_DELTA, false, FIRST_THREAD);
	run(7, SIFIVE_TRACE_DELTA, true, FIRST_THREAD);
	run(7, SIFIVE_TRACE_DELTA, false, SECOND_THREAD);
	run(7, SIFIVE_TRACE_DELTA, false, OWN_COUNTS);
	run(MOST, SIFIVE_TRACE_DELTA, false, OWN_COUNTS);
	run(7, SIFIVE_TRACE_XOR, false, FIRST_THREAD);
	run_with_time(FIRST_THREAD, false);
	run_others();
	run_off();
	run_switch();
	run(7, SIFIVE_TRACE_RAW, false, FIRST_THREAD);
	run(7, SIFIVE_TRACE_RAW, false, OWN_COUNTS);
	run(MOST, SIFIVE_TRACE_RAW, false, FIRST_THREAD);
	run(MOST, SIFIVE_TRACE_RAW, false, OWN_COUNTS);
}

static void run_without_code(void)
{
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		err(1, "PR_SET_MDWE");
	run(7, SIFIVE_TRACE_DELTA, false, NO_CODE);
}

static void run_room(void)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	const struct list list = neighbours(7);
	int i;

	/* Measure with and without waiting for the encoder. */
	run(7, SIFIVE_TRACE_DELTA, false, FIRST_THREAD);
	run(7, SIFIVE_TRACE_DELTA, true, FIRST_THREAD);

	meter_pin(1);
	options.events = list.events;
	options.count_type = SIFIVE_TRACE_DELTA;
	options.cpus = "1";
	options.buffer = 1 << 18;
	check(sifive_trace_setup(trace, &options));
	check(sifive_trace_on(trace));
	for (i = 0; i < 1000; i++)
		traced_hooks();
	check(sifive_trace_off(trace));
	captured();
	printf("messages %lu %lu\n", monitor_value("te1", "stat-messages"),
	       monitor_value("te1", "stat-dropped"));
}

static void run_all(void)
{
	static const int numbers[] = { 0, 3, 7 };
	unsigned int n;
	int type;

	for (type = 0; type < 3; type++) {
		for (n = 0; n < 3; n++) {
			run(numbers[n], type, false, FIRST_THREAD);
			run(numbers[n], type, true, FIRST_THREAD);
			run(numbers[n], type, false, SECOND_THREAD);
			run(numbers[n], type, false, OWN_COUNTS);
		}
	}
	for (n = 1; n <= MOST; n++) {
		if (n == 3 || n == 7)
			continue;
		run(n, SIFIVE_TRACE_DELTA, false, FIRST_THREAD);
		run(n, SIFIVE_TRACE_DELTA, false, OWN_COUNTS);
	}
	run_with_time(FIRST_THREAD, false);
	run_with_time(FIRST_THREAD, true);
	run_with_time(SECOND_THREAD, false);
	run_others();
	run_off();
	if (bits() == 64)
		run_switch();
	run(MOST, SIFIVE_TRACE_RAW, false, FIRST_THREAD);
	run(MOST, SIFIVE_TRACE_RAW, false, OWN_COUNTS);
	run(MOST, SIFIVE_TRACE_XOR, false, FIRST_THREAD);
}

int main(int argc, char **argv)
{
	const char *verb = argc == 2 ? argv[1] : "";
	int instret;

	if (strcmp(verb, "all") && strcmp(verb, "targets") && strcmp(verb, "nocode") &&
	    strcmp(verb, "room"))
		errx(2, "usage: bench all|targets|nocode|room");
	meter_pin(0);
	if (!monitor_open())
		errx(1, "no monitor: run the board with --monitor");
	instret = meter_open();
	nothing = meter_nothing();
	close(instret);

	trace = sifive_trace_open();
	check(!trace);
	if (!strcmp(verb, "all"))
		run_all();
	else if (!strcmp(verb, "room"))
		run_room();
	else if (!strcmp(verb, "nocode"))
		run_without_code();
	else
		run_targets();
	sifive_trace_close(trace);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that any number of concurrent threads is recorded, even if the threads outnumber the
 * channels, are interrupted by signals, and migrate between harts. No record is lost, and once
 * threads share a channel, the headers of their records name the threads. Also proves that in a
 * child process, ordinary memory replaces the mapping of the parent's counts.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sifive_trace.h>

#include "kselftest_harness.h"
#include "instrumented.h"
#include "trace_more.h"
#include "trace_records.h"

#define BUFFER	(4u << 20)

static struct sifive_trace *trace;
static pthread_barrier_t all_there;
static uint64_t made, named;
static unsigned int cpus, turns;

static void record(void)
{
	__atomic_fetch_add(&made, 3, __ATOMIC_RELAXED);
	sifive_trace_write(trace);
	calls_leaf();
}

static void on_signal(int number)
{
	record();
}

/*
 * Write one record, wait until every thread has written its first record, and then write more. If
 * there are more threads than channels, other threads have taken this thread's channel by then.
 */
static void *record_often(void *number)
{
	unsigned int n = (unsigned int)(uintptr_t)number, i;

	record();
	pthread_barrier_wait(&all_there);
	for (i = 0; i < turns; i++) {
		trace_pin((int)((n + i) % cpus));
		record();
		raise(SIGUSR1);
	}
	pthread_barrier_wait(&all_there);
	return NULL;
}

static void take(const struct trace_record *record, void *unused)
{
	named += !!record->owner;
}

FIXTURE(many) {
	int fd;
};

/*
 * In each turn, all threads contend for the process's signal lock, so use few turns with many
 * threads.
 */
FIXTURE_VARIANT(many) {
	unsigned int threads, type, turns;
};

FIXTURE_VARIANT_ADD(many, ten) { 10, SIFIVE_TRACE_RAW, 5 };
FIXTURE_VARIANT_ADD(many, forty) { 40, SIFIVE_TRACE_RAW, 5 };
FIXTURE_VARIANT_ADD(many, sixty_four) { 64, SIFIVE_TRACE_DELTA, 5 };
FIXTURE_VARIANT_ADD(many, three_hundred) { 300, SIFIVE_TRACE_XOR, 5 };
FIXTURE_VARIANT_ADD(many, thousand) { 1000, SIFIVE_TRACE_DELTA, 2 };

FIXTURE_SETUP(many)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;

	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	turns = variant->turns;
	cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	options.count_type = variant->type;
	options.buffer = BUFFER;
	trace = sifive_trace_open();
	ASSERT_NE(NULL, trace);
	if (sifive_trace_setup(trace, &options))
		SKIP(return, "%s", sifive_trace_error());
	ASSERT_EQ(0, sifive_trace_on(trace));
}

FIXTURE_TEARDOWN(many)
{
	sifive_trace_close(trace);
	close(self->fd);
}

static void start_and_join(struct __test_metadata *_metadata, unsigned int threads)
{
	pthread_t *thread = calloc(threads, sizeof(*thread));
	pthread_attr_t attr;
	unsigned int i;

	ASSERT_NE(NULL, thread);
	/*
	 * Populate the stacks here, because harts that take page faults at the same time spin on
	 * the page table's lock. If the host has fewer CPUs than the board has harts, the harts
	 * spin for a long time.
	 */
	ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	pthread_barrier_init(&all_there, NULL, threads);
	for (i = 0; i < threads; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], &attr, record_often, (void *)(uintptr_t)i));
	for (i = 0; i < threads; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	munlockall();
	free(thread);
}

TEST_F_TIMEOUT(many, threads_are_all_recorded, 600)
{
	struct sifive_trace_report report = { .size = sizeof(report) };
	struct trace_totals totals;

	if (variant->threads > (unsigned int)trace_repeat(1000) && !trace_finds_leaks())
		SKIP(return, "many threads take minutes: TRACE_PART is set");
	signal(SIGUSR1, on_signal);
	start_and_join(_metadata, variant->threads);
	ASSERT_EQ(0, sifive_trace_off(trace));
	ASSERT_EQ(0, sifive_trace_status(trace, &report));
	ASSERT_EQ(0, report.flags & SIFIVE_TRACE_FULL);
	ASSERT_EQ(0, trace_records(self->fd, &totals, take, NULL));
	EXPECT_EQ(0, totals.bad);
	EXPECT_EQ(0, totals.breaks);
	EXPECT_EQ(0, totals.unfinished);
	EXPECT_EQ(0, report.lost_threads);
	EXPECT_EQ(0, report.lost_signals);
	EXPECT_EQ(made, totals.records);
	/* If each thread has its own channel, no header names a thread. */
	if (variant->threads < 15)
		EXPECT_EQ(0, named);
	if (variant->threads > 31)
		EXPECT_LT((variant->threads - 31) * 3, named);
	TH_LOG("records: %llu written, %llu found, %llu with a thread id; %llu headers",
	       (unsigned long long)made, (unsigned long long)totals.records,
	       (unsigned long long)named, (unsigned long long)totals.headers);
}

/* Return the mapping of the driver's thread slots, or NULL if there is none. */
static const volatile uint64_t *find_slots(void)
{
	unsigned long begin, offset;
	FILE *maps = fopen("/proc/self/maps", "r");
	void *slots = NULL;
	char line[256];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (strstr(line, TRACE_DEVICE) &&
		    sscanf(line, "%lx-%*x %*s %lx", &begin, &offset) == 2 &&
		    offset == SIFIVE_TRACE_MMAP_THREADS)
			slots = (void *)begin;
	}
	if (maps)
		fclose(maps);
	return slots;
}

/* If a signal handler forks while its thread reads its counts, the child continues that read. */
TEST(child_can_read_address_of_parent_counts)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	const volatile uint64_t *slots;
	pid_t child;

	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	options.events = "cycles,instructions";
	trace = sifive_trace_open();
	ASSERT_NE(NULL, trace);
	if (sifive_trace_setup(trace, &options))
		SKIP(return, "%s", sifive_trace_error());
	slots = find_slots();
	if (!slots)
		SKIP(return, "this machine has no per-thread counts");
	child = fork();
	if (!child) {
		(void)*slots;
		_exit(0);
	}
	EXPECT_EQ(0, trace_wait(child));
	sifive_trace_close(trace);
}

TEST_HARNESS_MAIN

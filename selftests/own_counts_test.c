// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that the counts in a thread's records exclude other processes on the same hart, unless
 * hart counts are requested.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <sifive_trace.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_records.h"

/*
 * Yield the rest of each time slice to save time. This does not weaken the tests, because even a
 * single wrongly counted slice exceeds their limits.
 */
#define NEIGHBOUR_TURNS	400000ull

static void work_as_other_process(void)
{
	for (;;) {
		trace_spin(NEIGHBOUR_TURNS);
		sched_yield();
	}
}

FIXTURE(own_counts) {
	int fd;
	struct sifive_trace_info info;
	pid_t neighbour;
};

FIXTURE_SETUP(own_counts)
{
	struct sifive_trace_encoder encoder;

	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	if (!trace_counts_instructions())
		SKIP(return, "this emulator counts time, not instructions");
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &encoder));
	ASSERT_EQ(0, trace_pin(encoder.cpu));
	if (!(self->info.flags & SIFIVE_TRACE_INFO_COUNTERS))
		SKIP(return, "this machine's counters cannot be shared (no Sscofpmf)");
	self->neighbour = fork();
	if (!self->neighbour)
		work_as_other_process();
	ASSERT_LT(0, self->neighbour);
	kill(self->neighbour, SIGSTOP);
}

FIXTURE_TEARDOWN(own_counts)
{
	if (self->neighbour > 0) {
		kill(self->neighbour, SIGKILL);
		trace_wait(self->neighbour);
	}
	close(self->fd);
}

/* The thread's work, in rounds between which other threads can run. */
#define TURNS	10000000ull
#define ROUNDS	100
#define WORK	(TURNS * TRACE_SPIN)

struct counts {
	uint64_t first, last, records;
};

static void take(const struct trace_record *record, void *arg)
{
	struct counts *counts = arg;

	if (!counts->records++)
		counts->first = record->value[0];
	counts->last = record->value[0];
}

/* Return the work's instruction count: the last record's count minus the first record's. */
static uint64_t work(struct __test_metadata *_metadata,
		     struct _test_data_own_counts *self, unsigned int flags, bool often)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	struct sifive_trace *trace = sifive_trace_open();
	struct trace_totals totals;
	struct counts counts = { 0 };
	unsigned int round;

	options.buffer = self->info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SBA) ?
			 1 << 20 : 0;
	options.events = "instructions:u";
	options.flags = SIFIVE_TRACE_NO_HOOKS | flags;
	ASSERT_NE(NULL, trace);
	ASSERT_EQ(0, sifive_trace_setup(trace, &options)) {
		TH_LOG("%s", sifive_trace_error());
	}
	ASSERT_EQ(0, sifive_trace_on(trace));
	sifive_trace_write(trace);
	for (round = 0; round < ROUNDS; round++) {
		trace_spin(TURNS / ROUNDS);
		if (often)
			sifive_trace_write(trace);
		sched_yield();
		if (often)
			sifive_trace_write(trace);
	}
	sifive_trace_write(trace);
	ASSERT_EQ(0, sifive_trace_off(trace));
	ASSERT_EQ(0, trace_records(self->fd, &totals, take, &counts));
	sifive_trace_close(trace);
	EXPECT_TRUE(trace_is_whole(&totals));
	EXPECT_EQ(often ? 2 + 2 * ROUNDS : 2, counts.records);
	return counts.last - counts.first;
}

#define WORK_WITH(flags)	work(_metadata, self, flags, false)

TEST_F(own_counts, exclude_other_processes_on_hart)
{
	uint64_t alone = WORK_WITH(0), own, all;

	kill(self->neighbour, SIGCONT);
	own = WORK_WITH(SIFIVE_TRACE_PER_THREAD);
	all = WORK_WITH(SIFIVE_TRACE_PER_CPU);
	TH_LOG("%llu instructions: %llu counted alone, %llu per thread, %llu per hart",
	       WORK, (unsigned long long)alone, (unsigned long long)own,
	       (unsigned long long)all);
	EXPECT_LE(WORK, alone);
	EXPECT_GE(WORK + WORK / 100, alone);
	EXPECT_LE(WORK, own);
	EXPECT_GE(WORK + WORK / 100, own);
	/* Check that the other process has run. */
	EXPECT_LE(WORK + WORK / 2, all);
}

/* There are so many records that the other process runs between some of them. */
TEST_F(own_counts, continue_across_context_switches)
{
	uint64_t own;

	kill(self->neighbour, SIGCONT);
	own = work(_metadata, self, 0, true);
	EXPECT_LE(WORK, own);
	EXPECT_GE(WORK + WORK / 50, own);
}

TRACE_HARNESS_MAIN

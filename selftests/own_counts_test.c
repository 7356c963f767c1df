// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that with counts of its own a thread's records have in them what it ran,
 * and nothing of a neighbour on the same hart.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <sifive_trace.h>

#include "kselftest_harness.h"
#include "trace_more.h"
#include "trace_records.h"

FIXTURE(own_counts) {
	int fd;
	struct sifive_trace_info info;
	pid_t neighbour;
};

FIXTURE_SETUP(own_counts)
{
	struct sifive_trace_encoder encoder;

	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &encoder));
	ASSERT_EQ(0, trace_pin(encoder.cpu));
	if (!(self->info.flags & SIFIVE_TRACE_INFO_COUNTERS))
		SKIP(return, "this machine's counters cannot be shared (no Sscofpmf)");
	self->neighbour = fork();
	if (!self->neighbour)
		for (;;)
			;
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

static double own_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct cycles {
	uint64_t first, last, records;
};

static void take(const struct trace_record *record, void *arg)
{
	struct cycles *cycles = arg;

	if (!cycles->records++)
		cycles->first = record->value[0];
	cycles->last = record->value[0];
}

/* The cycles of a second of the thread's own time, as its records have them. */
static double rate(struct __test_metadata *_metadata,
		   struct _test_data_own_counts *self, unsigned int flags)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	struct sifive_trace *trace = sifive_trace_open();
	struct trace_totals totals;
	struct cycles cycles = { 0 };
	double begin, end;

	options.buffer = self->info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SBA) ?
			 1 << 20 : 0;
	options.events = "cycles";
	options.flags = SIFIVE_TRACE_NO_HOOKS | flags;
	ASSERT_NE(NULL, trace);
	ASSERT_EQ(0, sifive_trace_setup(trace, &options)) {
		TH_LOG("%s", sifive_trace_error());
	}
	ASSERT_EQ(0, sifive_trace_on(trace));
	sifive_trace_write(trace);
	begin = own_time();
	while (own_time() < begin + 0.2)
		;
	sifive_trace_write(trace);
	end = own_time();
	ASSERT_EQ(0, sifive_trace_off(trace));
	ASSERT_EQ(0, trace_records(self->fd, &totals, take, &cycles));
	sifive_trace_close(trace);
	EXPECT_TRUE(trace_is_whole(&totals));
	EXPECT_EQ(2, cycles.records);
	return (double)(cycles.last - cycles.first) / (end - begin);
}

#define RATE(flags)	rate(_metadata, self, flags)

TEST_F(own_counts, leave_a_neighbour_on_the_hart_out)
{
	double alone = RATE(SIFIVE_TRACE_PER_THREAD), own, all;

	kill(self->neighbour, SIGCONT);
	own = RATE(SIFIVE_TRACE_PER_THREAD);
	all = RATE(0);
	TH_LOG("cycles a second: %.0f alone, %.0f beside a neighbour, %.0f with it",
	       alone, own, all);
	EXPECT_LT(0.7 * alone, own);
	EXPECT_GT(1.3 * alone, own);
	/* It was there. */
	EXPECT_LT(1.5 * alone, all);
}

TRACE_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that a traced program loses no record when its CPU goes offline and online repeatedly, and
 * that the counters of that CPU resume.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sifive_trace.h>

#include "kselftest_harness.h"
#include "instrumented.h"
#include "trace_more.h"
#include "trace_records.h"

#define ROUNDS	5

/* Upper limit on the cycles or instructions in a round. */
#define TOO_FAR	BIT64(40)

/**
 * struct seen - summary of the records
 * @calls:	number of entries and exits on each source
 * @jumps:	number of counts that differ too much from the previous record's count
 */
struct seen {
	uint64_t calls[SIFIVE_TRACE_MAX_ENCODERS];
	uint64_t last[SIFIVE_TRACE_MAX_ENCODERS];
	uint64_t jumps;
};

FIXTURE(lib_hotplug) {
	int fd;
	struct sifive_trace_encoder leaver;
	char online[64];
	struct sifive_trace *trace;
	struct sifive_trace_options options;
	struct trace_totals totals;
	struct seen seen;
};

FIXTURE_SETUP(lib_hotplug)
{
	struct sifive_trace_info info;
	uint32_t i;

	if (getuid())
		SKIP(return, "needs root");
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &info));
	if (!(info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SBA)))
		SKIP(return, "this board has no SBA sink");
	for (i = 0; i < info.encoders && self->leaver.cpu <= 0; i++)
		ASSERT_EQ(0, trace_encoder(self->fd, i, &self->leaver));
	snprintf(self->online, sizeof(self->online),
		 "/sys/devices/system/cpu/cpu%d/online", self->leaver.cpu);
	if (self->leaver.cpu <= 0 || access(self->online, W_OK))
		SKIP(return, "no CPU with an encoder can go offline");
	self->options = (struct sifive_trace_options)SIFIVE_TRACE_OPTIONS;
	self->options.buffer = 1 << 20;
	self->options.count_type = SIFIVE_TRACE_RAW;
	if (info.flags & (SIFIVE_TRACE_INFO_COUNTERS | SIFIVE_TRACE_INFO_COUNTERS_PERF))
		self->options.events = "cycles,instructions";
	self->trace = sifive_trace_open();
	ASSERT_NE(NULL, self->trace);
}

FIXTURE_TEARDOWN(lib_hotplug)
{
	trace_file_write(self->online, "1");
	sifive_trace_close(self->trace);
	close(self->fd);
}

static void take(const struct trace_record *record, void *arg)
{
	uint64_t *last;
	struct seen *seen = arg;
	const unsigned int src = record->src % SIFIVE_TRACE_MAX_ENCODERS;

	last = &seen->last[src];
	seen->jumps += *last && record->counters && record->value[0] - *last > TOO_FAR;
	*last = record->value[0];
	seen->calls[src]++;
}

static void calls_continue(struct __test_metadata *_metadata,
			   struct _test_data_lib_hotplug *self)
{
	struct sifive_trace_report report = { .size = sizeof(report) };
	unsigned int round, source;

	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options)) {
		TH_LOG("%s", sifive_trace_error());
	}
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	for (round = 0; round < ROUNDS; round++) {
		ASSERT_EQ(0, trace_pin(self->leaver.cpu));
		calls_loop(99);
		ASSERT_EQ(0, trace_pin(0));
		ASSERT_EQ(0, trace_file_write(self->online, "0"));
		calls_loop(49);
		ASSERT_EQ(0, trace_file_write(self->online, "1"));
	}
	ASSERT_EQ(0, trace_pin(self->leaver.cpu));
	calls_loop(99);
	ASSERT_EQ(0, sifive_trace_off(self->trace));

	/*
	 * Without SRC, each encoder has a separate sink, whose index identifies the source and is
	 * known only after CONFIG.
	 */
	ASSERT_EQ(0, trace_encoder(self->fd, self->leaver.index, &self->leaver));
	source = self->leaver.src_bits ? self->leaver.src : self->leaver.sink;
	ASSERT_GT(SIFIVE_TRACE_MAX_ENCODERS, source);
	ASSERT_EQ(0, sifive_trace_status(self->trace, &report));
	EXPECT_EQ(0, report.lost_threads + report.lost_signals + report.lost_abandoned);
	ASSERT_EQ(0, trace_records(self->fd, &self->totals, take, &self->seen));
	EXPECT_TRUE(trace_is_whole(&self->totals));
	EXPECT_EQ(2 * (ROUNDS * 150 + 100), self->totals.records);
	EXPECT_EQ(2 * (ROUNDS + 1) * 100, self->seen.calls[source]);
	EXPECT_EQ(0, self->seen.jumps);
}

TEST_F(lib_hotplug, calls_with_hart_counts_continue)
{
	self->options.flags |= SIFIVE_TRACE_PER_CPU;
	calls_continue(_metadata, self);
}

TEST_F(lib_hotplug, calls_with_thread_counts_continue)
{
	if (!self->options.events)
		SKIP(return, "no counters on this hart");
	calls_continue(_metadata, self);
}

TRACE_HARNESS_MAIN

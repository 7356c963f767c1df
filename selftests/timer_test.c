// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that the library's timer records where the program was, as often as it was
 * asked to and without a signal, beside the records of function entry and exit, and
 * that what the trace's bytes do not say stands beside them in a file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sifive_linux_perf.h>
#include <sifive_trace.h>

#include "kselftest_harness.h"
#include "instrumented.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_records.h"

#define CHANNEL		6
#define BUFFER		0x100000
#define INTERVAL	1000

/* In memory of its own, so that a pc tells that it was there. */
static __attribute__((noinline, aligned(64))) void busy(uint64_t turns)
{
	asm volatile("1:	addi %0, %0, -1\n"
		     "	nop\n"
		     "	bnez %0, 1b" : "+r"(turns));
}

/**
 * struct seen - what the records say
 * @samples:	records of the timer
 * @busy:	those with a pc in busy()
 * @entered, @left: calls
 * @sampled, @called: channels of records of the one kind and the other
 * @first, @last: times of the first and last sample
 */
struct seen {
	uint64_t samples, busy, entered, left;
	uint32_t sampled, called;
	uint64_t first, last;
};

FIXTURE(timer) {
	int fd;
	struct sifive_trace_info info;
	struct sifive_trace_encoder encoder;
	struct sifive_trace *trace;
	struct sifive_trace_options options;
	struct trace_totals totals;
	struct seen seen;
};

FIXTURE_SETUP(timer)
{
	/* On a slow kernel perf would sample less often than it is asked to. */
	trace_file_write("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
	trace_file_write("/proc/sys/kernel/perf_event_max_sample_rate", "100000");
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &self->encoder));
	ASSERT_EQ(0, trace_pin(self->encoder.cpu));
	if (!(self->info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SBA)))
		SKIP(return, "this board has no SBA sink");
	self->options = (struct sifive_trace_options)SIFIVE_TRACE_OPTIONS;
	self->options.buffer = BUFFER;
	if (self->info.flags & SIFIVE_TRACE_INFO_COUNTERS)
		self->options.events = "cycles,instructions";
}

FIXTURE_TEARDOWN(timer)
{
	sifive_trace_close(self->trace);
	close(self->fd);
}

static void take(const struct trace_record *record, void *arg)
{
	const uint64_t in_busy = record->address[0] - (uintptr_t)busy;
	struct seen *seen = arg;

	if (record->kind != TRACE_ISR) {
		seen->entered += record->kind == TRACE_ENTER;
		seen->left += record->kind == TRACE_EXIT;
		seen->called |= 1u << record->channel;
		return;
	}
	if (!seen->samples++)
		seen->first = record->time;
	seen->last = record->time;
	seen->busy += in_busy < 64;
	seen->sampled |= 1u << record->channel;
}

static double own_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void be_busy(double seconds)
{
	const double end = own_time() + seconds;

	while (own_time() < end)
		busy(100000);
}

/*
 * Be busy until there are @least samples more, too: an emulator whose host has other
 * work gets time without being able to use it.
 */
static void be_sampled(int fd, double seconds, unsigned int least)
{
	const uint64_t until = trace_sampled(fd) + least;
	unsigned int i;

	be_busy(seconds);
	for (i = 0; i < 10000 && trace_sampled(fd) < until; i++)
		be_busy(0.001);
}

static void decode(struct __test_metadata *_metadata, struct _test_data_timer *self)
{
	ASSERT_EQ(0, trace_records(self->fd, &self->totals, take, &self->seen));
	EXPECT_TRUE(trace_is_whole(&self->totals));
}

#define DECODE()	decode(_metadata, self)

/* The manual's call, with the manual's channel. */
TEST_F(timer, records_come_at_its_interval_from_where_the_program_was)
{
	perfEvent events[] = {
		{ .type = perfEventHWGeneral, .code = HW_CPU_CYCLES },
		{ .type = perfEventHWGeneral, .code = HW_INSTRUCTIONS },
	};
	int count = self->info.flags & SIFIVE_TRACE_INFO_COUNTERS ? 2 : 0;
	struct timespec pause = { .tv_nsec = 20000000 };
	double interval;

	ASSERT_EQ(0, perfInit((int)self->info.encoders, (int)self->info.funnels));
	ASSERT_EQ(0, perfTimerISRInit(events, count, CHANNEL, perfCount_Delta,
				      BUFFER, INTERVAL)) {
		TH_LOG("%s", perfErrorString());
	}
	be_busy(0.02);
	ASSERT_EQ(0, perfTraceOn());
	be_sampled(self->fd, 0.3, 20);
	/* Nothing but a signal would end it early. */
	EXPECT_EQ(0, nanosleep(&pause, NULL));
	ASSERT_EQ(0, perfTraceOff());
	be_busy(0.02);
	DECODE();

	TH_LOG("%llu samples in 300 ms, %llu in the loop",
	       (unsigned long long)self->seen.samples,
	       (unsigned long long)self->seen.busy);
	EXPECT_LE(20, self->seen.samples);
	EXPECT_GE(400, self->seen.samples);
	EXPECT_LT(self->seen.samples / 2, self->seen.busy);
	EXPECT_EQ(1u << CHANNEL, self->seen.sampled);
	EXPECT_EQ(0, self->seen.entered + self->seen.left);

	/* The average, as a late one does not move the next. */
	interval = (double)(self->seen.last - self->seen.first) /
		   (double)(self->seen.samples - 1);
	if (self->info.ts_hz) {
		interval *= 1e6 / (double)self->info.ts_hz;
		TH_LOG("an interval of %.0f us", interval);
		EXPECT_LT(0.8 * INTERVAL, interval);
	}
}

static void set_up(struct __test_metadata *_metadata, struct _test_data_timer *self)
{
	self->trace = sifive_trace_open();
	ASSERT_NE(NULL, self->trace);
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options)) {
		TH_LOG("%s", sifive_trace_error());
	}
}

#define SET_UP()	set_up(_metadata, self)

TEST_F(timer, records_stand_beside_those_of_entry_and_exit)
{
	struct sifive_trace_report report = { .size = sizeof(report) };
	unsigned int i, calls = 0;

	self->options.interval = INTERVAL;
	SET_UP();
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	for (i = 0; i < 10; i++, calls += calls_of_fib(10)) {
		calls_fib(10);
		be_sampled(self->fd, 0.02, 1);
	}
	ASSERT_EQ(0, sifive_trace_off(self->trace));
	DECODE();
	EXPECT_EQ(calls, self->seen.entered);
	EXPECT_EQ(calls, self->seen.left);
	EXPECT_LE(5, self->seen.busy);
	/* Threads' calls have the channel; the kernel's records another one. */
	EXPECT_EQ(1u << CHANNEL, self->seen.called);
	EXPECT_EQ(0, self->seen.called & self->seen.sampled);
	ASSERT_EQ(0, sifive_trace_status(self->trace, &report));
	EXPECT_EQ(self->seen.samples, report.samples);
	EXPECT_EQ(0, report.lost_samples);
}

TEST_F(timer, records_follow_the_thread_to_every_cpu)
{
	struct sifive_trace_encoder encoder;
	cpu_set_t all;
	uint32_t i;

	memset(&all, 0xff, sizeof(all));
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(all), &all));
	self->options.interval = INTERVAL;
	SET_UP();
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	for (i = 0; i < self->info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->fd, i, &encoder));
		ASSERT_EQ(0, trace_pin(encoder.cpu));
		be_sampled(self->fd, 0.05, 2);
	}
	ASSERT_EQ(0, sifive_trace_off(self->trace));
	DECODE();
	EXPECT_LE(self->info.encoders, self->seen.busy);
	EXPECT_EQ(self->info.encoders, self->totals.sources);
}

TEST_F(timer, can_be_a_counter_that_overflows)
{
	if (!(self->info.flags & SIFIVE_TRACE_INFO_OVERFLOW))
		SKIP(return, "counters of this machine do not interrupt");
	self->options.period = 200000;
	self->options.period_event = "instructions:u";
	SET_UP();
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	be_sampled(self->fd, 0.5, 3);
	ASSERT_EQ(0, sifive_trace_off(self->trace));
	DECODE();
	TH_LOG("%llu samples, %llu in the loop",
	       (unsigned long long)self->seen.samples,
	       (unsigned long long)self->seen.busy);
	EXPECT_LT(2, self->seen.samples);
	EXPECT_LT(self->seen.samples / 2, self->seen.busy);
}

/* ---- the file beside the trace ------------------------------------------ */

static char beside[8192];

static void beside_says(struct __test_metadata *_metadata, const char *words)
{
	EXPECT_NE(NULL, strstr(beside, words)) {
		TH_LOG("not '%s'", words);
	}
}

#define BESIDE_SAYS(...) do {						\
	char words[512];						\
									\
	snprintf(words, sizeof(words), __VA_ARGS__);			\
	beside_says(_metadata, words);					\
} while (0)

TEST_F(timer, is_described_beside_the_trace_like_all_else)
{
	const struct sifive_trace_encoder *e = &self->encoder;
	char path[64], meta[80], exe[256];
	struct sifive_trace_sink sink;

	self->options.interval = INTERVAL;
	snprintf(path, sizeof(path), "%d", e->cpu);
	self->options.cpus = path;
	SET_UP();
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	calls_leaf();
	ASSERT_EQ(0, sifive_trace_off(self->trace));
	snprintf(path, sizeof(path), "/tmp/timer_test.%d.rtd", getpid());
	ASSERT_EQ(0, sifive_trace_dump(self->trace, path)) {
		TH_LOG("%s", sifive_trace_error());
	}
	snprintf(meta, sizeof(meta), "%s.meta", path);
	ASSERT_LT(0, trace_file_read(meta, beside, sizeof(beside)));
	unlink(path);
	unlink(meta);

	ASSERT_EQ(0, trace_sink(self->fd, 0, &sink));
	exe[readlink("/proc/self/exe", exe, sizeof(exe) - 1)] = '\0';
	BESIDE_SAYS("\"srcbits\":%u,", sink.src_bits);
	BESIDE_SAYS("\"ts_width\":%u,", self->info.ts_width);
	BESIDE_SAYS("\"wrapped\":false,");
	BESIDE_SAYS("\"count_type\":%u,", SIFIVE_TRACE_DELTA);
	BESIDE_SAYS("\"per_thread\":false,");
	BESIDE_SAYS("\"exe\":\"%s\",", exe);
	BESIDE_SAYS("\"sources\":[{\"src\":%u,\"hart\":%llu,\"cpu\":%d}],", e->src,
		    (unsigned long long)e->hart, e->cpu);
	if (self->options.events) {
		BESIDE_SAYS("{\"number\":0,\"event\":\"cycles\",");
		BESIDE_SAYS("{\"number\":2,\"event\":\"instructions\",");
	}
	BESIDE_SAYS("\"channel\":%u,", CHANNEL);
	BESIDE_SAYS("\"sampling\":{\"channel\":%u,\"interval_ns\":%u},",
		    CHANNEL + 1, INTERVAL * 1000);
	BESIDE_SAYS("{\"channel\":%u,\"pid\":%d,\"tid\":%d,\"name\":\"timer_test\"",
		    CHANNEL, getpid(), gettid());
	BESIDE_SAYS("{\"path\":\"%s\",\"build_id\":\"", exe);
	BESIDE_SAYS("\"lost\":{\"signals\":0,\"threads\":0,\"abandoned\":0,\"samples\":0}}");
}

TRACE_HARNESS_MAIN

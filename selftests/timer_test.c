// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that the library's timer records the program's position at the requested rate, without
 * signals, and alongside entry and exit records. The side-car file must contain the data that the
 * trace lacks.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
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

/* The function occupies 64 aligned bytes, so a pc identifies the function. */
static __attribute__((noinline, aligned(64))) void busy(uint64_t turns)
{
	asm volatile("1:	addi %0, %0, -1\n"
		     "	nop\n"
		     "	bnez %0, 1b" : "+r"(turns));
}

/**
 * struct seen - summary of the records
 * @samples:	number of timer records
 * @sources:	mask of the encoders of samples with a pc in busy()
 * @busy:	number of samples with a pc in busy()
 * @entered, @left: number of entries and exits
 * @sampled, @called: masks of the channels with samples, and of the channels with calls
 * @first, @last: times of the first and last sample
 * @begin, @counted: value of each counter at the first sample, and its increment since then
 */
struct seen {
	uint64_t samples, busy, entered, left;
	uint32_t sampled, called, sources;
	uint64_t first, last;
	uint64_t begin[TRACE_COUNTERS], counted[TRACE_COUNTERS];
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
	trace_sample_freely();
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
	unsigned int i;

	if (record->kind != TRACE_ISR) {
		seen->entered += record->kind == TRACE_ENTER;
		seen->left += record->kind == TRACE_EXIT;
		seen->called |= 1u << record->channel;
		return;
	}
	/* Values are relative to the first sample. */
	for (i = 0; i < record->counters; i++) {
		if (!seen->samples)
			seen->begin[i] = record->value[i];
		seen->counted[i] = record->value[i] - seen->begin[i];
	}
	if (!seen->samples++)
		seen->first = record->time;
	seen->last = record->time;
	if (in_busy < 64) {
		seen->busy++;
		seen->sources |= 1u << record->encoder;
	}
	seen->sampled |= 1u << record->channel;
}

static void decode(struct __test_metadata *_metadata, struct _test_data_timer *self)
{
	ASSERT_EQ(0, trace_records(self->fd, &self->totals, take, &self->seen));
	EXPECT_TRUE(trace_is_whole(&self->totals));
}

#define DECODE()	decode(_metadata, self)

static volatile unsigned int delivered;

static void count_signal(int number)
{
	delivered++;
}

/*
 * Return whether the test can handle this signal. The C library reserves some signals, and the
 * trace library uses SIGILL while tracing is on.
 */
static bool is_watched(int number)
{
	return number != SIGKILL && number != SIGSTOP && number != SIGILL &&
	       (number < 32 || number >= SIGRTMIN);
}

static void watch_signals(void)
{
	int i;

	for (i = 1; i <= SIGRTMAX; i++)
		if (is_watched(i))
			signal(i, count_signal);
}

static unsigned int unwatched_signals(void)
{
	unsigned int others = 0;
	struct sigaction now;
	int i;

	for (i = 1; i <= SIGRTMAX; i++)
		others += is_watched(i) && (sigaction(i, NULL, &now) ||
					    now.sa_handler != count_signal);
	return others;
}

/* Read the number of threads, and of signals queued by timers, from /proc/self/status. */
static void own_state(char *threads, char *queued, size_t size)
{
	char status[4096] = "";
	const char *line;

	trace_file_read("/proc/self/status", status, sizeof(status));
	line = strstr(status, "\nThreads:");
	snprintf(threads, size, "%.*s", line ? (int)strcspn(line + 1, "\n") : 0,
		 line ? line + 1 : "");
	line = strstr(status, "\nSigQ:");
	snprintf(queued, size, "%.*s", line ? (int)strcspn(line + 1, "\n") : 0,
		 line ? line + 1 : "");
}

/* The call in the manual's example, with the same channel. */
TEST_F(timer, records_have_interval_and_interrupted_address)
{
	perfEvent events[] = {
		{ .type = perfEventHWGeneral, .code = HW_CPU_CYCLES },
		{ .type = perfEventHWGeneral, .code = HW_INSTRUCTIONS },
	};
	int count = self->info.flags & SIFIVE_TRACE_INFO_COUNTERS ? 2 : 0;
	char threads[2][64], queued[2][64];
	uint64_t program[2] = { 0 }, worked[2] = { 0 }, own;
	bool exact = trace_counts_instructions();
	double interval;
	int i;

	ASSERT_EQ(0, perfInit((int)self->info.encoders, (int)self->info.funnels));
	ASSERT_EQ(0, perfTimerISRInit(events, count, CHANNEL, perfCount_Delta,
				      BUFFER, INTERVAL)) {
		TH_LOG("%s", perfErrorString());
	}
	trace_work(busy, 20);
	watch_signals();
	own_state(threads[0], queued[0], sizeof(threads[0]));
	for (i = 0; i < count; i++)
		program[i] = trace_counter(events[i].ctrIdx);
	own = trace_own_time();
	ASSERT_EQ(0, perfTraceOn());
	for (i = 0; i < count; i++)
		worked[i] = trace_counter(events[i].ctrIdx);
	trace_work_sampled(self->fd, busy, 300, 20);
	for (i = 0; i < count; i++)
		worked[i] = trace_counter(events[i].ctrIdx) - worked[i];
	own_state(threads[1], queued[1], sizeof(threads[1]));
	EXPECT_EQ(0, unwatched_signals());
	ASSERT_EQ(0, perfTraceOff());
	own = trace_own_time() - own;
	for (i = 0; i < count; i++)
		program[i] = trace_counter(events[i].ctrIdx) - program[i];
	/* The timer neither delivers nor queues signals, and needs no thread. */
	EXPECT_EQ(0, delivered);
	EXPECT_STRNE("", threads[0]);
	EXPECT_STREQ(threads[0], threads[1]);
	EXPECT_STRNE("", queued[0]);
	EXPECT_STREQ(queued[0], queued[1]);
	trace_work(busy, 20);
	DECODE();

	TH_LOG("%llu samples in %llu us, %llu in the loop",
	       (unsigned long long)self->seen.samples, (unsigned long long)own,
	       (unsigned long long)self->seen.busy);
	EXPECT_LE(20, self->seen.samples);
	EXPECT_GE(own / INTERVAL + own / INTERVAL / 4 + 10, self->seen.samples);
	EXPECT_LT(exact ? self->seen.samples / 2 : 0, self->seen.busy);
	EXPECT_EQ(1u << CHANNEL, self->seen.sampled);
	EXPECT_EQ(0, self->seen.entered + self->seen.left);
	/*
	 * The program's own count exceeds the records', which excludes an interval at each end.
	 */
	for (i = 0; i < count; i++) {
		EXPECT_LT(0, self->seen.counted[i]);
		EXPECT_GT(program[i], self->seen.counted[i]);
		if (exact)
			EXPECT_LT(worked[i] / 100 * 98, self->seen.counted[i]);
	}

	/* Check the average interval, because a late interrupt shortens the next interval. */
	interval = (double)(self->seen.last - self->seen.first) /
		   (double)(self->seen.samples - 1);
	if (self->info.ts_hz) {
		interval *= 1e6 / (double)self->info.ts_hz;
		TH_LOG("an interval of %.0f us", interval);
		EXPECT_LT(0.8 * INTERVAL, interval);
	}
}

/* Only the kernel writes records; instrumented functions do not. */
TEST_F(timer, firmware_events_are_only_in_timer_records)
{
	perfEvent event = { .type = perfEventFirmware, .code = FW_ILLEGAL_INSN };

	ASSERT_EQ(0, perfInit((int)self->info.encoders, (int)self->info.funnels));
	EXPECT_NE(0, perfManualInit(&event, 1, CHANNEL, perfCount_Delta, BUFFER));
	EXPECT_NE(NULL, strstr(perfErrorString(), "use perfTimerISRInit()"));
	EXPECT_NE(0, perfFuncEntryExitInit(&event, 1, CHANNEL, perfCount_Delta, BUFFER));
	EXPECT_NE(NULL, strstr(perfErrorString(), "use perfTimerISRInit()"));
	event.code = FW_HFENCE_VVMA_ASID_RECEIVED + 1;
	EXPECT_NE(0, perfTimerISRInit(&event, 1, CHANNEL, perfCount_Delta, BUFFER, INTERVAL));
	EXPECT_NE(NULL, strstr(perfErrorString(), "it must be 0 to 21"));
	event.code = FW_ILLEGAL_INSN;
	ASSERT_EQ(0, perfTimerISRInit(&event, 1, CHANNEL, perfCount_Delta, BUFFER, INTERVAL)) {
		TH_LOG("%s", perfErrorString());
	}
	EXPECT_EQ(0, event.ctrInfo & SIFIVE_TRACE_COUNTER_CSR);
	EXPECT_LE(3, event.ctrIdx);
	ASSERT_EQ(0, perfTraceOn());
	EXPECT_NE(0, perfWriteCntrs());
	EXPECT_NE(NULL, strstr(perfErrorString(), "only samples"));
	calls_fib(5);
	trace_work_sampled(self->fd, busy, 1, 5);
	ASSERT_EQ(0, perfTraceOff());
	DECODE();
	EXPECT_LE(5, self->seen.samples);
	EXPECT_EQ(1u << CHANNEL, self->seen.sampled);
	EXPECT_EQ(0, self->seen.called);
}

TEST_F(timer, firmware_events_need_samples_without_hooks)
{
	self->trace = sifive_trace_open();
	ASSERT_NE(NULL, self->trace);
	self->options.events = "fw:illegal-insn";
	EXPECT_NE(0, sifive_trace_setup(self->trace, &self->options));
	EXPECT_NE(NULL, strstr(sifive_trace_error(), "SIFIVE_TRACE_NO_HOOKS"));
	self->options.interval = INTERVAL;
	EXPECT_NE(0, sifive_trace_setup(self->trace, &self->options));
	self->options.flags = SIFIVE_TRACE_NO_HOOKS;
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options)) {
		TH_LOG("%s", sifive_trace_error());
	}
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	sifive_trace_write(self->trace);
	trace_work_sampled(self->fd, busy, 1, 5);
	ASSERT_EQ(0, sifive_trace_off(self->trace));
	DECODE();
	EXPECT_LE(5, self->seen.samples);
	EXPECT_EQ(0, self->seen.called);
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

TEST_F(timer, records_coexist_with_entry_and_exit_records)
{
	struct sifive_trace_report report = { .size = sizeof(report) };
	unsigned int i, calls = 0;

	self->options.interval = INTERVAL;
	SET_UP();
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	for (i = 0; i < 10; i++, calls += calls_of_fib(10)) {
		calls_fib(10);
		trace_work_sampled(self->fd, busy, 20, 1);
	}
	ASSERT_EQ(0, sifive_trace_off(self->trace));
	DECODE();
	EXPECT_EQ(calls, self->seen.entered);
	EXPECT_EQ(calls, self->seen.left);
	EXPECT_LE(trace_counts_instructions() ? 5 : 1, self->seen.busy);
	/* Call records use this channel; the kernel's samples use another channel. */
	EXPECT_EQ(1u << CHANNEL, self->seen.called);
	EXPECT_EQ(0, self->seen.called & self->seen.sampled);
	ASSERT_EQ(0, sifive_trace_status(self->trace, &report));
	EXPECT_EQ(self->seen.samples, report.samples);
	EXPECT_EQ(0, report.lost_samples);
}

/* Return the number of encoders whose traces contain a sample in busy(). */
static uint32_t encoders_in_busy(int fd)
{
	struct trace_totals totals;
	struct seen seen = { 0 };

	trace_records(fd, &totals, take, &seen);
	return (uint32_t)__builtin_popcount(seen.sources);
}

TEST_F(timer, records_follow_thread_to_every_cpu)
{
	struct sifive_trace_encoder encoder;
	struct sifive_trace_status status;
	unsigned int tries;
	cpu_set_t all;
	uint32_t i;

	memset(&all, 0xff, sizeof(all));
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(all), &all));
	self->options.interval = INTERVAL;
	SET_UP();
	/*
	 * On a slow kernel, most or all samples are between the loops. Read the trace while tracing
	 * is off, because in a file with two sinks, the sinks' parts move while a capture runs.
	 */
	for (tries = 0; tries < 200 && encoders_in_busy(self->fd) < self->info.encoders; tries++) {
		ASSERT_EQ(0, sifive_trace_on(self->trace));
		for (i = 0; i < self->info.encoders; i++) {
			ASSERT_EQ(0, trace_encoder(self->fd, i, &encoder));
			ASSERT_EQ(0, trace_pin(encoder.cpu));
			trace_work_sampled(self->fd, busy, 50, 10);
		}
		ASSERT_EQ(0, sifive_trace_off(self->trace));
	}
	ASSERT_EQ(0, trace_status(self->fd, &status));
	TH_LOG("%u tries, %llu samples, %llu lost", tries, (unsigned long long)status.samples,
	       (unsigned long long)status.samples_lost);
	DECODE();
	EXPECT_LE(self->info.encoders, self->seen.busy);
	/* Each encoder has samples of the program. */
	EXPECT_EQ(self->info.encoders, __builtin_popcount(self->seen.sources));
}

TEST_F(timer, counter_overflow_can_trigger_records)
{
	bool exact = trace_counts_instructions();
	uint64_t periods;

	if (!(self->info.flags & SIFIVE_TRACE_INFO_OVERFLOW))
		SKIP(return, "counters of this machine do not interrupt");
	self->options.period = 200000;
	self->options.period_event = "instructions:u";
	SET_UP();
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	trace_work_sampled(self->fd, busy, 500, 10);
	ASSERT_EQ(0, sifive_trace_off(self->trace));
	DECODE();
	TH_LOG("%llu samples, %llu in the loop",
	       (unsigned long long)self->seen.samples,
	       (unsigned long long)self->seen.busy);
	EXPECT_LT(2, self->seen.samples);
	EXPECT_LT(exact ? self->seen.samples / 2 : 0, self->seen.busy);
	/* The second counter includes the kernel's instructions. */
	periods = (self->seen.samples - 1) * self->options.period;
	EXPECT_LT(0, self->seen.counted[1]);
	if (exact) {
		EXPECT_LE(periods - periods / 100, self->seen.counted[1]);
		EXPECT_GE(periods + periods / 4, self->seen.counted[1]);
	}
}

/* ---- the side-car file -------------------------------------------------- */

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

TEST_F(timer, side_car_file_describes_session)
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
	BESIDE_SAYS("\"per_thread\":true,");
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
	BESIDE_SAYS("\"lost\":{\"signals\":0,\"threads\":0,\"abandoned\":0,\"refused\":0,"
		    "\"children\":0,\"samples\":0,\"dropped\":0,\"encoders\":0}}");
}

TRACE_HARNESS_MAIN

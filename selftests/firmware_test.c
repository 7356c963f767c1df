// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that samples count firmware events exactly, regardless of perf, and that an event is
 * refused if it cannot be counted. The event is an illegal instruction: firmware handles and counts
 * each one before the kernel does, and only this test executes illegal instructions.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_records.h"

#define CHANNEL		4
#define INTERVAL	1000000
#define ILLEGAL		4
#define EVENTS		22
/* Bit of a raw perf event's config that selects a firmware event. */
#define PERF_FIRMWARE	BIT64(63)
/*
 * Number of illegal instructions that the test executes before a check, and again after the check.
 */
#define BEFORE		70
#define AFTER		130

FIXTURE(firmware) {
	int fd;
	struct sifive_trace_encoder encoder;
	struct sifive_trace_counters counters;
	struct sifive_trace_sampling sampling;
};

#define COUNTERS()	trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &self->counters)
#define SAMPLING()	trace_ioctl(self->fd, SIFIVE_TRACE_IOC_SAMPLING, &self->sampling)

static void skip(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	at->uc_mcontext.__gregs[REG_PC] += 2;
}

static void execute_illegal(unsigned int times)
{
	while (times--)
		asm volatile(".2byte 0");
}

static int query(struct _test_data_firmware *self, uint32_t code, uint32_t *counters)
{
	struct sifive_trace_query query = TRACE_ARG(sifive_trace_query);
	int ret;

	query.event.type = SIFIVE_TRACE_EVENT_FIRMWARE;
	query.event.code = code;
	ret = trace_ioctl(self->fd, SIFIVE_TRACE_IOC_EVENT, &query);
	*counters = query.counters;
	return ret;
}

FIXTURE_SETUP(firmware)
{
	const struct sigaction on_illegal = { .sa_sigaction = skip, .sa_flags = SA_SIGINFO };
	struct sifive_trace_config config;
	uint32_t counters;

	trace_sample_freely();
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	if (query(self, ILLEGAL, &counters) == -EOPNOTSUPP)
		SKIP(return, "firmware does not count firmware events");
	config = trace_whole_config(self->fd);
	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &self->encoder));
	ASSERT_EQ(0, trace_pin(self->encoder.cpu));
	ASSERT_EQ(0, sigaction(SIGILL, &on_illegal, NULL));
	self->counters = TRACE_ARG(sifive_trace_counters);
	self->counters.count = 1;
	self->counters.event[0].type = SIFIVE_TRACE_EVENT_FIRMWARE;
	self->counters.event[0].code = ILLEGAL;
	self->sampling = TRACE_ARG(sifive_trace_sampling);
	self->sampling.channel = trace_register(&self->encoder, CHANNEL);
	self->sampling.interval = INTERVAL;
	self->sampling.count_type = SIFIVE_TRACE_SAMPLING_DELTA;
}

FIXTURE_TEARDOWN(firmware)
{
	close(self->fd);
}

/* The number of this hart's samples, and the latest count since the header. */
struct counts {
	unsigned int src;
	uint64_t samples, last;
};

static void take(const struct trace_record *record, void *arg)
{
	struct counts *counts = arg;

	if (record->kind != TRACE_ISR || record->src != counts->src)
		return;
	counts->samples++;
	counts->last = record->value[record->counters - 1];
}

/*
 * Work until the kernel has written two more samples. The first of these samples may have begun
 * before this call, but the second cannot have.
 */
static void be_sampled(int fd)
{
	uint64_t before = trace_sampled(fd);

	while (trace_sampled(fd) < before + 2)
		trace_spin(100000);
}

/* Drain a pipe, and return once another process has written to the pipe again. */
static void let_run(int pipe)
{
	char bytes[4096];

	while (read(pipe, bytes, sizeof(bytes)) > 0)
		;
	while (read(pipe, bytes, sizeof(bytes)) < 0)
		sched_yield();
}

/*
 * Check the counts of the samples. @other: pipe to which another process writes while it executes
 * illegal instructions, or -1 if there is no such process.
 */
static void count(struct __test_metadata *_metadata, struct _test_data_firmware *self, int other)
{
	struct counts counts = { .src = self->encoder.src };
	struct sifive_trace_status status;
	struct trace_totals totals;

	ASSERT_EQ(0, SAMPLING());
	ASSERT_EQ(0, trace_start(self->fd, 0));
	if (other >= 0)
		let_run(other);
	execute_illegal(BEFORE);
	/* STATUS makes the driver check its counters, which must keep counting. */
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(0, status.counters_lost) {
		TH_LOG("%s", status.message);
	}
	execute_illegal(AFTER);
	be_sampled(self->fd);
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_records(self->fd, &totals, take, &counts));
	EXPECT_TRUE(trace_is_whole(&totals));
	EXPECT_LE(2, counts.samples);
	EXPECT_EQ(BEFORE + AFTER, counts.last);
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(0, status.counters_lost);
}

TEST_F(firmware, event_is_counted_exactly)
{
	ASSERT_EQ(0, COUNTERS());
	EXPECT_EQ(0, self->counters.mask);
	EXPECT_LE(3, self->counters.event[0].counter);
	EXPECT_EQ(0, self->counters.event[0].info & SIFIVE_TRACE_COUNTER_CSR);
	count(_metadata, self, -1);
}

static void refused(struct __test_metadata *_metadata, struct _test_data_firmware *self,
		    int error, const char *words)
{
	struct sifive_trace_status status;

	EXPECT_EQ(error, COUNTERS());
	EXPECT_EQ(0, self->counters.failed);
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_NE(NULL, strstr(status.message, words)) {
		TH_LOG("%s", status.message);
	}
}

/* Firmware can count the event on only one counter, which perf holds. */
TEST_F(firmware, event_counted_by_perf_is_refused_as_busy)
{
	struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_RAW, PERF_FIRMWARE | ILLEGAL);
	uint64_t before;
	uint32_t counters;
	int perf = trace_perf_open(&attr, -1, self->encoder.cpu);

	if (perf < 0)
		SKIP(return, "this kernel's perf counts no firmware events");
	ASSERT_EQ(0, trace_perf_enable(perf));
	EXPECT_EQ(0, query(self, ILLEGAL, &counters));
	EXPECT_EQ(0, counters);
	refused(_metadata, self, -EBUSY, "another program counts firmware events");
	/*
	 * The driver has executed some illegal instructions, to determine which counters are
	 * readable.
	 */
	before = trace_perf_count(perf);
	execute_illegal(AFTER);
	EXPECT_EQ(before + AFTER, trace_perf_count(perf));
	close(perf);
	EXPECT_EQ(0, query(self, ILLEGAL, &counters));
	EXPECT_EQ(1u << 31, counters);
	ASSERT_EQ(0, COUNTERS());
	/* A perf event opened later does not affect the session's counter. */
	perf = trace_perf_open(&attr, -1, self->encoder.cpu);
	ASSERT_LE(0, perf);
	ASSERT_EQ(0, trace_perf_enable(perf));
	count(_metadata, self, -1);
	close(perf);
}

/* The other process executes the same number of illegal instructions on the same hart. */
TEST_F(firmware, event_is_counted_per_thread)
{
	int done[2];
	pid_t other;

	self->counters.flags = SIFIVE_TRACE_COUNTERS_PER_THREAD;
	ASSERT_EQ(0, COUNTERS());
	ASSERT_EQ(0, pipe(done));
	other = fork();
	if (!other) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(self->fd);
	}
	while (!other) {
		execute_illegal(BEFORE);
		if (write(done[1], "", 1) != 1)
			_exit(1);
		sched_yield();
	}
	ASSERT_LT(0, other);
	fcntl(done[0], F_SETFL, O_NONBLOCK);
	count(_metadata, self, done[0]);
	kill(other, SIGKILL);
	trace_wait(other);
}

TEST_F(firmware, event_coexists_with_readable_counter)
{
	struct sifive_trace_info info;

	ASSERT_EQ(0, trace_info(self->fd, &info));
	if (!(info.flags & (SIFIVE_TRACE_INFO_COUNTERS | SIFIVE_TRACE_INFO_COUNTERS_PERF)))
		SKIP(return, "this machine has no other counters");
	self->counters.event[1].code = 1;
	self->counters.count = 2;
	ASSERT_EQ(0, COUNTERS());
	EXPECT_EQ(1u << self->counters.event[1].counter, self->counters.mask);
	EXPECT_LT(self->counters.event[1].counter, self->counters.event[0].counter);
	count(_metadata, self, -1);
}

/*
 * Each event is assigned a counter while counters are free. An event for which no counter is
 * free is refused, and the refused call changes nothing.
 */
TEST_F(firmware, events_have_separate_counters)
{
	uint32_t i, counters, numbers = 0;
	int ret;

	self->counters.count = EVENTS;
	for (i = 0; i < EVENTS; i++) {
		self->counters.event[i].type = SIFIVE_TRACE_EVENT_FIRMWARE;
		self->counters.event[i].code = i;
		EXPECT_EQ(0, query(self, i, &counters));
		EXPECT_EQ(1u << 31, counters);
	}
	ret = COUNTERS();
	if (ret) {
		EXPECT_EQ(-EBUSY, ret);
		EXPECT_LT(1, self->counters.failed);
		self->counters.count = self->counters.failed;
		memset(&self->counters.event[self->counters.count], 0,
		       sizeof(self->counters.event[0]) * (EVENTS - self->counters.count));
		ASSERT_EQ(0, COUNTERS());
		EXPECT_EQ(0, query(self, ILLEGAL, &counters));
		EXPECT_EQ(0, counters);
	}
	for (i = 0; i < self->counters.count; i++)
		numbers |= 1u << self->counters.event[i].counter;
	EXPECT_EQ(self->counters.count, (uint32_t)__builtin_popcount(numbers));
	/* The counters are released. */
	self->counters.count = 0;
	memset(self->counters.event, 0, sizeof(self->counters.event));
	ASSERT_EQ(0, COUNTERS());
	EXPECT_EQ(0, query(self, ILLEGAL, &counters));
	EXPECT_NE(0, counters);
}

TEST_F(firmware, invalid_events_are_refused)
{
	struct sifive_trace_event *event = &self->counters.event[0];

	event->code = EVENTS;
	refused(_metadata, self, -EINVAL, "0 to 21");
	event->code = ILLEGAL;
	event->data = 1;
	refused(_metadata, self, -EINVAL, "only a code");
	event->data = 0;
	event->flags = SIFIVE_TRACE_EVENT_NO_KERNEL;
	refused(_metadata, self, -EINVAL, "in all modes");
	event->flags = SIFIVE_TRACE_EVENT_OF_SAMPLES;
	refused(_metadata, self, -EINVAL, "do not interrupt");
	event->flags = 0;
	EXPECT_EQ(0, COUNTERS());
}

TEST_F(firmware, event_cannot_trigger_samples)
{
	struct sifive_trace_status status;

	ASSERT_EQ(0, COUNTERS());
	self->sampling.interval = 0;
	self->sampling.period = 100000;
	self->sampling.event = self->counters.event[0];
	EXPECT_EQ(-EOPNOTSUPP, SAMPLING());
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_NE(0, strlen(status.message));
}

TEST_HARNESS_MAIN

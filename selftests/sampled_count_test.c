// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that the counter that triggers samples can also provide its event's counts in the records,
 * so that the session needs no other counter for that event. No count may be missing if the
 * emulator counts instructions. The count of any other event needs a counter of the session.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_records.h"

#define CHANNEL	4
#define PERIOD	20000ull

FIXTURE(sampled_count) {
	int fd;
	struct sifive_trace_counters counters;
	struct sifive_trace_sampling sampling;
};

#define COUNTERS()	trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &self->counters)
#define SAMPLING()	trace_ioctl(self->fd, SIFIVE_TRACE_IOC_SAMPLING, &self->sampling)

FIXTURE_SETUP(sampled_count)
{
	struct sifive_trace_config config;
	struct sifive_trace_encoder encoder;
	struct sifive_trace_info info;

	trace_sample_freely();
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &info));
	if (!(info.flags & SIFIVE_TRACE_INFO_OVERFLOW))
		SKIP(return, "no counter interrupts without Sscofpmf");
	config = trace_whole_config(self->fd);
	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &encoder));
	/* An emulator that counts instructions adds other harts' instructions to a hart's count. */
	ASSERT_EQ(0, trace_pin(encoder.cpu));
	self->counters = TRACE_ARG(sifive_trace_counters);
	self->counters.flags = SIFIVE_TRACE_COUNTERS_PER_THREAD;
	self->counters.count = 1;
	self->counters.event[0].code = 2;
	self->counters.event[0].flags = SIFIVE_TRACE_EVENT_NO_KERNEL |
					SIFIVE_TRACE_EVENT_OF_SAMPLES;
	self->sampling = TRACE_ARG(sifive_trace_sampling);
	self->sampling.channel = trace_register(&encoder, CHANNEL);
	self->sampling.period = PERIOD;
	self->sampling.event.code = 2;
	self->sampling.event.flags = SIFIVE_TRACE_EVENT_NO_KERNEL;
	if (!(info.flags & SIFIVE_TRACE_INFO_FIXED_SHARED))
		return;
	EXPECT_EQ(-EOPNOTSUPP, COUNTERS());
	EXPECT_EQ(0, self->counters.failed);
	SKIP(return, "the kernel's perf driver is unknown");
}

FIXTURE_TEARDOWN(sampled_count)
{
	close(self->fd);
}

/* Summary of all harts' samples; @place is the index of the event's count in a sample. */
struct samples {
	unsigned int place;
	uint64_t count, sum, last[SIFIVE_TRACE_MAX_ENCODERS];
};

static void take(const struct trace_record *record, void *arg)
{
	struct samples *s = arg;
	uint64_t *last = &s->last[record->encoder];

	if (record->kind != TRACE_ISR)
		return;
	s->count++;
	s->sum += record->value[s->place] - *last;
	*last = record->value[s->place];
}

#define THREADS	4
#define TURNS	3000000ull

static void *work(void *unused)
{
	trace_spin(TURNS);
	return NULL;
}

/* Sample threads that alternate on a hart. */
static void sample(struct __test_metadata *_metadata,
		   struct _test_data_sampled_count *self, unsigned int place)
{
	struct samples samples = { .place = place };
	uint64_t done = 0;
	struct trace_totals totals;
	pthread_t thread[THREADS];
	unsigned int i;

	ASSERT_EQ(0, SAMPLING());
	ASSERT_EQ(PERIOD, self->sampling.period);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	do {
		for (i = 0; i < THREADS; i++)
			ASSERT_EQ(0, pthread_create(&thread[i], NULL, work, NULL));
		for (i = 0; i < THREADS; i++)
			ASSERT_EQ(0, pthread_join(thread[i], NULL));
		done += THREADS * TURNS * TRACE_SPIN;
	} while (trace_sampled(self->fd) < 20);
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_records(self->fd, &totals, take, &samples));
	EXPECT_TRUE(trace_is_whole(&totals));
	EXPECT_LE(20, samples.count);
	EXPECT_LE(samples.count * PERIOD, samples.sum);
	TH_LOG("%llu samples, which count %llu of %llu instructions of the work",
	       (unsigned long long)samples.count, (unsigned long long)samples.sum,
	       (unsigned long long)done);
	if (!trace_counts_instructions())
		return;
	/* A thread's instructions after its last sample are not in any record. */
	EXPECT_LE(done - done / 50, samples.sum);
	EXPECT_GE(done + done / 10, samples.sum);
}

TEST_F(sampled_count, is_per_thread_and_uses_no_session_counter)
{
	ASSERT_EQ(0, COUNTERS());
	EXPECT_EQ(0, self->counters.mask);
	EXPECT_LE(3, self->counters.event[0].counter);
	EXPECT_EQ(0, self->counters.event[0].info & SIFIVE_TRACE_COUNTER_CSR);
	self->sampling.count_type = SIFIVE_TRACE_SAMPLING_DELTA;
	sample(_metadata, self, 0);
}

/*
 * The second event, cycles, uses a counter of the session. This counter has a lower number, so its
 * count comes first.
 */
TEST_F(sampled_count, coexists_with_other_counts)
{
	self->counters.count = 2;
	self->counters.event[1].code = 1;
	ASSERT_EQ(0, COUNTERS());
	EXPECT_EQ(1u << self->counters.event[1].counter, self->counters.mask);
	self->sampling.count_type = SIFIVE_TRACE_SAMPLING_DELTA;
	sample(_metadata, self, 1);
}

TEST_F(sampled_count, needs_its_event_as_sampling_event)
{
	ASSERT_EQ(0, COUNTERS());
	self->sampling.event.flags = 0;
	EXPECT_EQ(-EINVAL, SAMPLING());
	self->sampling.event.flags = SIFIVE_TRACE_EVENT_NO_KERNEL;
	self->sampling.event.code = 1;
	EXPECT_EQ(-EINVAL, SAMPLING());
	self->sampling.event.code = 2;
	self->sampling.period = 0;
	self->sampling.interval = 1000000;
	EXPECT_EQ(-EINVAL, SAMPLING());
	self->sampling.interval = 0;
	self->sampling.period = PERIOD;
	EXPECT_EQ(0, SAMPLING());
}

TEST_F(sampled_count, sampling_can_be_turned_off)
{
	ASSERT_EQ(0, COUNTERS());
	ASSERT_EQ(0, SAMPLING());
	self->sampling.period = 0;
	memset(&self->sampling.event, 0, sizeof(self->sampling.event));
	EXPECT_EQ(0, SAMPLING());
	ASSERT_EQ(0, trace_start(self->fd, 0));
	trace_spin(TURNS);
	ASSERT_EQ(0, trace_stop(self->fd));
	EXPECT_EQ(0, trace_sampled(self->fd));
}

static void *exit_elsewhere(void *cpu)
{
	/*
	 * Once the thread has been switched out on its first CPU, the driver keeps the thread's
	 * counts.
	 */
	trace_pin(*(int *)cpu);
	return NULL;
}

/* The counts of SIFIVE_TRACE_THREADS threads are kept, each until the thread exits. */
TEST_F(sampled_count, threads_can_exit_on_cpus_outside_the_capture)
{
	struct sifive_trace_config config = trace_whole_config(self->fd);
	struct sifive_trace_status before, after;
	struct sifive_trace_encoder encoder;
	pthread_t thread;
	unsigned int i;

	if (!trace_finds_leaks())
		SKIP(return, "too few threads to reveal a leak: TRACE_PART is set");
	if (trace_encoder(self->fd, 1, &encoder) || encoder.cpu < 0)
		SKIP(return, "this board has one hart");
	config.encoders = 1;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_EQ(0, COUNTERS());
	ASSERT_EQ(0, SAMPLING());
	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (i = 0; i < SIFIVE_TRACE_THREADS + THREADS; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, exit_elsewhere, &encoder.cpu));
		ASSERT_EQ(0, pthread_join(thread, NULL));
	}
	/* Samples of the threads on the other CPU are lost, so read the loss count only now. */
	ASSERT_EQ(0, trace_status(self->fd, &before));
	/* An emulator on a busy machine may deliver the interrupt after the thread exits. */
	do {
		ASSERT_EQ(0, pthread_create(&thread, NULL, work, NULL));
		ASSERT_EQ(0, pthread_join(thread, NULL));
		ASSERT_EQ(0, trace_status(self->fd, &after));
	} while (after.samples == before.samples && after.samples_lost == before.samples_lost);
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_status(self->fd, &after));
	EXPECT_LT(before.samples, after.samples);
	EXPECT_EQ(before.samples_lost, after.samples_lost);
}

TEST_HARNESS_MAIN

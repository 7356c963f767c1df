// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that a counter overflow interrupts its hart: sampling by event depends on such interrupts.
 * perf's sampling events must produce the number of samples that follows from the count and the
 * period, each with the pc of the running code, and no samples after the events are closed. Needs
 * no trace hardware.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"

/* Number of data pages in a ring of samples, excluding its header page; a power of two. */
#define RING_PAGES	64

#define TURNS		10000000ull
#define PERIOD		100000ull

/* A PERF_RECORD_SAMPLE with only PERF_SAMPLE_IP. */
struct sample {
	struct perf_event_header header;
	uint64_t pc;
};

FIXTURE(overflow) {
	int event;
	struct perf_event_mmap_page *ring;
	uint64_t samples;
	uint64_t in_loop;
};

FIXTURE_SETUP(overflow)
{
	self->event = -1;
	trace_sample_freely();
}

FIXTURE_TEARDOWN(overflow)
{
	close(self->event);
}

static size_t ring_bytes(void)
{
	return (size_t)getpagesize() * (RING_PAGES + 1);
}

/* Open a sampling event for this thread; the harness runs each test in a separate process. */
static int open_sampling(struct _test_data_overflow *self, struct perf_event_attr *attr)
{
	void *ring;

	attr->sample_type = PERF_SAMPLE_IP;
	self->event = trace_perf_open(attr, 0, -1);
	if (self->event < 0)
		return self->event;
	ring = mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED,
		    self->event, 0);
	if (ring == MAP_FAILED)
		return -errno;
	self->ring = ring;
	return 0;
}

/* The loop is in a separate function, so that samples can be attributed to it. */
static void spin(uint64_t turns)
{
	trace_spin(turns);
}

static void (*volatile const loop)(uint64_t turns) = spin;

#define LOOP_BYTES	64

static void collect(struct _test_data_overflow *self)
{
	const char *data = (char *)self->ring + self->ring->data_offset;
	uint64_t head = __atomic_load_n(&self->ring->data_head, __ATOMIC_ACQUIRE);
	const struct perf_event_header *header;
	uint64_t at;

	self->samples = 0;
	self->in_loop = 0;
	for (at = 0; at < head; at += header->size) {
		header = (const void *)(data + at % self->ring->data_size);
		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		self->samples++;
		if (((const struct sample *)header)->pc - (uintptr_t)loop < LOOP_BYTES)
			self->in_loop++;
	}
}

/* Sample the loop; return the count. */
static uint64_t sample_loop(struct _test_data_overflow *self, uint64_t turns)
{
	trace_perf_enable(self->event);
	loop(turns);
	trace_perf_disable(self->event);
	collect(self);
	return trace_perf_count(self->event);
}

/*
 * Because the emulator is slow on a loaded host, repeat until there are this many samples, at least
 * one of them in the loop.
 */
static void sample_until(struct _test_data_overflow *self, uint64_t turns, uint64_t least)
{
	unsigned int i;

	for (i = 0; i < 1000 && (self->samples < least || !self->in_loop); i++)
		sample_loop(self, turns);
}

/* Open a sampling event, or skip the test, giving the reason. */
#define OPEN_SAMPLING(attr)						\
	do {								\
		int ret = open_sampling(self, attr);			\
									\
		if (ret == -EOPNOTSUPP || ret == -EINVAL)		\
			SKIP(return, "counters cannot interrupt here (no Sscofpmf)"); \
		ASSERT_EQ(0, ret);					\
	} while (0)

/* If time is counted, one cycle of the period is 100 ns. */
TEST_F(overflow, generates_samples)
{
	struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_CPU_CYCLES);

	attr.sample_period = PERIOD / 10;
	OPEN_SAMPLING(&attr);
	sample_until(self, 4 * TURNS, 3);
	EXPECT_LE(3, self->samples);
	EXPECT_LT(0, self->in_loop);
}

#define ROUNDS		5

/* Return whether the number is within 5 % of the expected number, which is not zero. */
static bool near(uint64_t samples, uint64_t expected)
{
	return expected && samples >= expected * 95 / 100 &&
	       samples <= expected * 105 / 100 + 1;
}

static void rate(struct __test_metadata *_metadata,
		 struct _test_data_overflow *self, struct perf_event_attr attr,
		 uint64_t turns)
{
	const uint64_t period = attr.sample_period;
	uint64_t count = 0, samples = 0, in_loop = 0, expected = 0;
	unsigned int i;

	if (!trace_counts_instructions())
		SKIP(return, "this emulator counts time, not instructions");
	/* This event reuses a counter that was set to count without overflow. */
	OPEN_SAMPLING(&attr);
	/* The emulator also counts and samples other harts' instructions, in bursts. */
	for (i = 0; i < ROUNDS && !near(samples, expected); i++) {
		const uint64_t counted = trace_perf_count(self->event);
		const uint64_t had = self->samples, had_in_loop = self->in_loop;

		count = sample_loop(self, turns) - counted;
		samples = self->samples - had;
		in_loop = self->in_loop - had_in_loop;
		expected = count / period;
		TH_LOG("%llu counted, %llu samples, %llu in the loop",
		       (unsigned long long)count, (unsigned long long)samples,
		       (unsigned long long)in_loop);
	}
	/* The count includes the loop, the kernel and other harts. */
	EXPECT_LE(turns * TRACE_SPIN, count);
	EXPECT_GE(turns * TRACE_SPIN * 2, count);
	EXPECT_TRUE(near(samples, expected));
	EXPECT_LE(samples / 2, in_loop);
}

TEST_F(overflow, sample_count_matches_instructions)
{
	struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_INSTRUCTIONS);

	attr.sample_period = PERIOD;
	rate(_metadata, self, attr, TURNS);
}

TEST_F(overflow, sample_count_matches_cycles)
{
	struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_CPU_CYCLES);

	attr.sample_period = PERIOD;
	rate(_metadata, self, attr, TURNS);
}

/*
 * The period is shorter than the interrupt handler. If the kernel were also counted, the program
 * would never run again, because this kernel does not throttle the interrupts.
 */
TEST_F(overflow, sample_count_matches_user_cycles_at_short_period)
{
	struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_CPU_CYCLES);

	attr.sample_period = PERIOD / 100;
	attr.exclude_kernel = 1;
	rate(_metadata, self, attr, TURNS / 10);
}

TEST_F(overflow, no_samples_while_event_is_disabled)
{
	struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_CPU_CYCLES);
	uint64_t samples;

	attr.sample_period = PERIOD / 10;
	OPEN_SAMPLING(&attr);
	sample_until(self, TURNS, 1);
	samples = self->samples;
	EXPECT_LT(0, samples);
	loop(TURNS);
	collect(self);
	EXPECT_EQ(samples, self->samples);
}

TEST_HARNESS_MAIN

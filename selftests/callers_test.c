// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that samples include the callers of the sampled code, found with frame pointers: in leaf
 * functions, in functions that have called other functions, and in deep recursion. Samples include
 * callers only on request. A sample with bad frame pointers lacks only its callers. Compiled with
 * -fno-omit-frame-pointer.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_records.h"

#define CHANNEL		5
#define BUFFER		1048576

/* Maximum number of attempts to capture samples: on a loaded host, a capture has few or none. */
#define CAPTURES	50

#define TURNS		3000000
#define DEEP		200

static inline __attribute__((always_inline)) void spin(uint64_t turns)
{
	while (turns--)
		asm volatile("");
}

/* Each function occupies 256 aligned bytes, so an address identifies the function. */
static __attribute__((noinline, noclone, aligned(256))) void leaf(void)
{
	spin(TURNS);
}

static __attribute__((noinline, noclone, aligned(256))) void caller(void)
{
	leaf();
	asm volatile("");
}

static __attribute__((noinline, noclone, aligned(256))) void outer(void)
{
	caller();
	asm volatile("");
}

static __attribute__((noinline, noclone, aligned(256))) void nothing(void)
{
	asm volatile("");
}

/* The return-address register contains the address to which nothing() returned. */
static __attribute__((noinline, noclone, aligned(256))) void parent(void)
{
	nothing();
	spin(TURNS);
	asm volatile("");
}

static __attribute__((noinline, noclone, aligned(256))) void grandparent(void)
{
	parent();
	asm volatile("");
}

static __attribute__((noinline, noclone, aligned(256))) void deep(unsigned int levels)
{
	if (levels)
		deep(levels - 1);
	else
		leaf();
	asm volatile("");
}

/* Spin with @fp as the frame pointer. */
static __attribute__((noinline, noclone, aligned(256))) void astray(unsigned long fp)
{
	unsigned long turns = TURNS;

	asm volatile("mv	t0, s0\n"
		     "mv	s0, %1\n"
		     "1: addi	%0, %0, -1\n"
		     "bnez	%0, 1b\n"
		     "mv	s0, t0\n"
		     : "+r" (turns) : "r" (fp) : "t0", "memory");
}

static bool in(const void *function, uint64_t address)
{
	return address - (uintptr_t)function < 256;
}

/* The number of samples in a function, and the callers in the latest sample. */
struct seen {
	const void *in;
	unsigned int samples, callers, most, wrong;
	/* Expected callers, innermost first; NULL accepts any caller. */
	const void *want[3];
};

FIXTURE(callers) {
	struct trace_session s;
	struct sifive_trace_sampling sampling;
	struct seen seen;
};

FIXTURE_SETUP(callers)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);

	trace_sample_freely();
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	self->sampling = TRACE_ARG(sifive_trace_sampling);
	self->sampling.channel = trace_register(&self->s.encoder, CHANNEL);
	self->sampling.interval = 1000000;
	self->sampling.flags = SIFIVE_TRACE_SAMPLING_CALLERS;
}

FIXTURE_TEARDOWN(callers)
{
	trace_session_close(&self->s);
}

/*
 * The first caller is the content of the return-address register: skip it if it is in the sampled
 * function itself, or if the frame contains the same address.
 */
static void keep(const struct trace_record *record, void *arg)
{
	unsigned int from = 0, i;
	struct seen *seen = arg;

	if (record->kind != TRACE_ISR || !in(seen->in, record->address[0]))
		return;
	seen->samples++;
	seen->callers = record->callers;
	if (seen->most < record->callers)
		seen->most = record->callers;
	from = record->callers && (in(seen->in, record->caller[0]) ||
				   (record->callers > 1 && record->caller[0] == record->caller[1]));
	for (i = 0; i < 3; i++)
		seen->wrong += seen->want[i] && (from + i >= record->callers ||
						 !in(seen->want[i], record->caller[from + i]));
}

/* Repeat captures until there are samples in the function. */
static int capture(struct _test_data_callers *self, void (*run)(unsigned long), unsigned long arg)
{
	struct trace_totals totals;
	unsigned int i;
	int ret;

	ret = trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &self->sampling);
	for (i = 0; !ret && i < CAPTURES && !self->seen.samples; i++) {
		ret = trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND);
		if (ret)
			break;
		run(arg);
		ret = trace_stop(self->s.fd) ?:
		      trace_records(self->s.fd, &totals, keep, &self->seen);
		if (!ret && !trace_is_whole(&totals))
			ret = -EBADMSG;
	}
	printf("# %u captures, %u samples; callers: %u of the latest, maximum %u, %u wrong\n", i,
	       self->seen.samples, self->seen.callers, self->seen.most, self->seen.wrong);
	return ret;
}

static void run_outer(unsigned long unused)
{
	outer();
}

static void run_grandparent(unsigned long unused)
{
	grandparent();
}

static void run_deep(unsigned long levels)
{
	deep((unsigned int)levels);
}

TEST_F(callers, recorded_in_leaf_function)
{
	self->seen = (struct seen){ .in = leaf, .want = { caller, outer } };
	ASSERT_EQ(0, capture(self, run_outer, 0));
	EXPECT_LT(0, self->seen.samples);
	EXPECT_EQ(0, self->seen.wrong);
}

TEST_F(callers, recorded_in_non_leaf_function)
{
	self->seen = (struct seen){ .in = parent, .want = { grandparent } };
	ASSERT_EQ(0, capture(self, run_grandparent, 0));
	EXPECT_LT(0, self->seen.samples);
	EXPECT_EQ(0, self->seen.wrong);
}

TEST_F(callers, recorded_for_each_level_of_recursion)
{
	self->seen = (struct seen){ .in = leaf, .want = { deep, deep, deep } };
	ASSERT_EQ(0, capture(self, run_deep, 20));
	EXPECT_LT(0, self->seen.samples);
	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_LT(21, self->seen.most);
	EXPECT_GT(SIFIVE_TRACE_CALLERS_MAX, self->seen.most);
}

TEST_F(callers, number_is_limited)
{
	self->seen = (struct seen){ .in = leaf, .want = { deep, deep, deep } };
	ASSERT_EQ(0, capture(self, run_deep, DEEP));
	EXPECT_LT(0, self->seen.samples);
	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_EQ(SIFIVE_TRACE_CALLERS_MAX, self->seen.most);
}

TEST_F(callers, recorded_only_on_request)
{
	self->sampling.flags = 0;
	self->seen = (struct seen){ .in = leaf };
	ASSERT_EQ(0, capture(self, run_outer, 0));
	EXPECT_LT(0, self->seen.samples);
	EXPECT_EQ(0, self->seen.most);
}

TEST_F(callers, recorded_with_all_count_types)
{
	for (self->sampling.count_type = SIFIVE_TRACE_SAMPLING_RAW;
	     self->sampling.count_type <= SIFIVE_TRACE_SAMPLING_XOR; self->sampling.count_type++) {
		self->seen = (struct seen){ .in = leaf, .want = { caller, outer } };
		ASSERT_EQ(0, capture(self, run_outer, 0));
		EXPECT_LT(0, self->seen.samples);
		EXPECT_EQ(0, self->seen.wrong);
	}
}

TEST_F(callers, periodic_headers_precede_callers)
{
	unsigned int i;

	self->sampling.count_type = SIFIVE_TRACE_SAMPLING_XOR;
	self->sampling.flags |= SIFIVE_TRACE_SAMPLING_HEADERS;
	self->sampling.interval = 100000;
	for (i = 0; i < 5; i++) {
		self->seen = (struct seen){ .in = leaf, .want = { caller, outer } };
		ASSERT_EQ(0, capture(self, run_outer, 0));
		EXPECT_EQ(0, self->seen.wrong);
	}
}

TEST_F(callers, invalid_frame_pointer_ends_chain)
{
	static uint64_t frames[2 * SIFIVE_TRACE_CALLERS_MAX + 2] __attribute__((aligned(16)));
	const unsigned long here = (unsigned long)__builtin_frame_address(0);
	const unsigned long pointers[] = {
		0, 1, 8, here + 4, here - 16, here + 0xff0, here + 0xfffff0, -16ul, 1ul << 63,
		(unsigned long)&frames[2], (unsigned long)&frames[1], (unsigned long)frames,
	};
	unsigned int i;

	/*
	 * All of these frames point to the same frame, so no chain continues upwards, and the
	 * driver must stop.
	 */
	for (i = 2; i < sizeof(frames) / sizeof(frames[0]); i++)
		frames[i - 2] = (uintptr_t)&frames[2];
	for (i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
		self->seen = (struct seen){ .in = astray };
		ASSERT_EQ(0, capture(self, astray, pointers[i]));
		EXPECT_LT(0, self->seen.samples);
		EXPECT_LT(0, self->seen.most);
	}
}

/* The frame pointers form a chain of more frames than the maximum number of callers. */
TEST_F(callers, forged_frame_chain_is_limited)
{
	unsigned long frame[4 * SIFIVE_TRACE_CALLERS_MAX] __attribute__((aligned(16)));
	unsigned int i;

	for (i = 0; i < 4 * SIFIVE_TRACE_CALLERS_MAX - 2; i += 2) {
		frame[i] = (unsigned long)&frame[i + 4];
		frame[i + 1] = 0x10000;
	}
	self->seen = (struct seen){ .in = astray };
	ASSERT_EQ(0, capture(self, astray, (unsigned long)&frame[2]));
	EXPECT_LT(0, self->seen.samples);
	EXPECT_EQ(SIFIVE_TRACE_CALLERS_MAX, self->seen.most);
}

TRACE_HARNESS_MAIN

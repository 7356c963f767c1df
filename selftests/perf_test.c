// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that a session's counters and perf's live beside each other: whatever
 * perf events come, go and fill the counters, ours go on counting what they
 * should, and so do theirs; and that COUNTERS says when they hold all of them.
 *
 * The emulator counts an event on one counter only: both sides ask for different
 * ones, but for cycles and instructions, which have fixed counters of their own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"

#define USER_ACCESS	"/proc/sys/kernel/perf_user_access"

#define TURNS		200000ull
#define LOOP		(TURNS * TRACE_SPIN)
/* What a loop's count may be more than the loop: interrupts, and reading it. */
#define SLACK		(LOOP / 4)

#define PAGES		2048

/* More events than any hart has counters. */
#define MANY		40

static const struct sifive_trace_event cycles = { .code = 1 };
static const struct sifive_trace_event instructions = { .code = 2 };
static const struct sifive_trace_event dtlb = {
	.type = 1, .code = DTLB_READ_MISS,
};

FIXTURE(perf) {
	struct trace_session s;
	struct sifive_trace_counters counters;
	bool exact;
	char user_access[16];
};

FIXTURE_SETUP(perf)
{
	self->exact = trace_counts_instructions();
	trace_file_read(USER_ACCESS, self->user_access, sizeof(self->user_access));
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!(self->s.info.flags & SIFIVE_TRACE_INFO_COUNTERS))
		SKIP(return, "this machine's counters cannot be shared (no Sscofpmf)");
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	self->s.config = trace_simple_config(self->s.fd, self->s.encoder.index);
	ASSERT_EQ(0, trace_config(self->s.fd, &self->s.config));
}

FIXTURE_TEARDOWN(perf)
{
	trace_file_write(USER_ACCESS, self->user_access);
	trace_session_close(&self->s);
}

/* Take these events; the error. */
static int take(struct _test_data_perf *self,
		const struct sifive_trace_event *const *events, uint32_t count)
{
	uint32_t i;

	self->counters = TRACE_ARG(sifive_trace_counters);
	self->counters.count = count;
	for (i = 0; i < count; i++)
		self->counters.event[i] = *events[i];
	return trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &self->counters);
}

#define TAKE(...) ({							\
	const struct sifive_trace_event *events[] = { __VA_ARGS__ };	\
	take(self, events, ARRAY_SIZE(events)); })

/* Take all three, with the programmable one first. */
#define TAKE_ALL()	TAKE(&dtlb, &instructions, &cycles)

#define OUR_DTLB	(self->counters.event[0].counter)

/* Whether a count is the loop's; where time is counted, whether there is any. */
static bool is_loop(struct _test_data_perf *self, uint64_t count)
{
	return self->exact ? count >= LOOP && count <= LOOP + SLACK : count > 0;
}

/* What is counted of a loop; the best of a few, as the other harts add to it. */
static uint64_t count_loop(struct _test_data_perf *self,
			   uint64_t (*read)(unsigned int what), unsigned int what)
{
	uint64_t best = ~0ull, count;
	unsigned int i;

	for (i = 0; i < 20 && !is_loop(self, best); i++) {
		count = read(what);
		trace_spin(TURNS);
		count = read(what) - count;
		if (count < best)
			best = count;
	}
	return best;
}

#define EXPECT_LOOP(read, what)						\
	do {								\
		uint64_t count = count_loop(self, read, what);		\
									\
		EXPECT_TRUE(is_loop(self, count)) {			\
			TH_LOG("%lld", (long long)count);		\
		}							\
	} while (0)

/* Our counters go forwards and know what they count. */
static void check_ours(struct __test_metadata *_metadata,
		       struct _test_data_perf *self)
{
	uint64_t misses = trace_counter(OUR_DTLB);

	EXPECT_LOOP(trace_counter, COUNTER_INSTRET);
	EXPECT_LOOP(trace_counter, COUNTER_CYCLE);
	trace_touch_pages(PAGES);
	misses = trace_counter(OUR_DTLB) - misses;
	EXPECT_LE(PAGES, misses);
	if (self->exact)
		EXPECT_GE(4 * PAGES, misses);
}

static uint64_t their_count(unsigned int event)
{
	return trace_perf_count((int)event);
}

static int open_enabled(struct perf_event_attr attr, int pid, int cpu)
{
	int event = trace_perf_open(&attr, pid, cpu);

	if (event >= 0)
		trace_perf_enable(event);
	return event;
}

static int open_instructions(void)
{
	struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_INSTRUCTIONS);

	attr.exclude_kernel = 1;
	return open_enabled(attr, 0, -1);
}

TEST_F(perf, events_count_right_before_during_and_after_a_session)
{
	int event = open_instructions();

	ASSERT_LE(0, event);
	EXPECT_LOOP(their_count, event);
	ASSERT_EQ(0, TAKE_ALL());
	EXPECT_LOOP(their_count, event);
	check_ours(_metadata, self);
	close(event);
	event = open_instructions();
	ASSERT_LE(0, event);
	EXPECT_LOOP(their_count, event);
	check_ours(_metadata, self);
	trace_session_close(&self->s);
	EXPECT_LOOP(their_count, event);
	close(event);
}

/* ---- events that come and go ------------------------------------------------ */

#define KINDS	3

/* 0: pinned, of this CPU. 1: pinned, of this thread. 2: mapped, read by csrr. */
static int open_kind(struct _test_data_perf *self, unsigned int kind, void **page)
{
	static const uint64_t config[KINDS] = {
		PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_CPU_CYCLES,
		PERF_COUNT_HW_INSTRUCTIONS,
	};
	struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_HARDWARE,
						      config[kind]);
	int event;

	attr.pinned = kind < 2;
	event = open_enabled(attr, kind ? 0 : -1, kind ? -1 : self->s.encoder.cpu);
	if (event >= 0 && kind == 2)
		*page = mmap(NULL, (size_t)getpagesize(), PROT_READ, MAP_SHARED,
			     event, 0);
	return event;
}

static void close_kind(int event, void **page, unsigned int kind)
{
	if (kind == 2 && *page != MAP_FAILED)
		munmap(*page, (size_t)getpagesize());
	close(event);
}

/* Open three events in one order and close them in another; all orders of both. */
TEST_F(perf, ours_count_right_while_events_come_and_go_in_every_order)
{
	static const unsigned int order[6][KINDS] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
		{ 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	unsigned int opening, closing, i;
	void *page = MAP_FAILED;
	int event[KINDS];

	ASSERT_EQ(0, TAKE_ALL());
	for (opening = 0; opening < 6; opening++)
		for (closing = 0; closing < 6; closing++) {
			for (i = 0; i < KINDS; i++) {
				unsigned int kind = order[opening][i];

				event[kind] = open_kind(self, kind, &page);
				ASSERT_LE(0, event[kind]);
				check_ours(_metadata, self);
			}
			for (i = 0; i < KINDS; i++) {
				unsigned int kind = order[closing][i];

				close_kind(event[kind], &page, kind);
				check_ours(_metadata, self);
			}
		}
}

/* ---- events that fill the counters --------------------------------------------- */

/*
 * Open pinned events of this CPU until no counter is left. Returns how many count;
 * a pinned event without a counter reads as an end of file.
 */
static int fill_counters(struct _test_data_perf *self, int event[MANY])
{
	int i, counting = 0;

	for (i = 0; i < MANY; i++) {
		struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_RAW, 0x200 + i);

		attr.pinned = 1;
		event[i] = open_enabled(attr, -1, self->s.encoder.cpu);
		if (event[i] >= 0 && trace_perf_count(event[i]) != ~0ull)
			counting++;
	}
	return counting;
}

static void close_all(int event[MANY])
{
	int i;

	for (i = 0; i < MANY; i++)
		if (event[i] >= 0)
			close(event[i]);
}

TEST_F(perf, when_perf_holds_all_counters_the_event_is_refused_as_busy)
{
	struct sifive_trace_status status;
	int event[MANY];

	if (!fill_counters(self, event))
		SKIP(return, "this machine's firmware takes no raw events");
	EXPECT_EQ(-EBUSY, TAKE(&instructions, &dtlb));
	EXPECT_EQ(1, self->counters.failed);
	EXPECT_EQ(0, self->counters.mask);
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_NE(NULL, strstr(status.message, "event 1")) {
		TH_LOG("%s", status.message);
	}
	close_all(event);
	EXPECT_EQ(0, TAKE(&instructions, &dtlb));
}

TEST_F(perf, fixed_counters_can_be_had_when_perf_holds_all_others)
{
	int event[MANY];

	if (!fill_counters(self, event))
		SKIP(return, "this machine's firmware takes no raw events");
	EXPECT_EQ(0, TAKE(&instructions, &cycles));
	close_all(event);
}

TEST_F(perf, perf_gets_the_counters_that_a_session_leaves)
{
	int event[MANY], all, rest;

	all = fill_counters(self, event);
	close_all(event);
	if (!all)
		SKIP(return, "this machine's firmware takes no raw events");
	ASSERT_EQ(0, TAKE_ALL());
	rest = fill_counters(self, event);
	EXPECT_EQ(all - 1, rest);
	check_ours(_metadata, self);
	close_all(event);
	check_ours(_metadata, self);
}

/* ---- the kernel's switch for user access ----------------------------------------- */

/*
 * Each write sets the access of all CPUs anew. Joining again repairs what it took
 * away; the counters themselves have gone on.
 */
TEST_F(perf, a_change_of_perf_user_access_is_repaired_by_joining_again)
{
	static const char *const value[] = { "0", "2", "1", "2", "0", "1" };
	unsigned int i;

	ASSERT_EQ(0, TAKE_ALL());
	for (i = 0; i < ARRAY_SIZE(value); i++) {
		struct sifive_trace_thread thread = TRACE_ARG(sifive_trace_thread);
		int ret;

		ASSERT_LE(0, trace_file_write(USER_ACCESS, value[i]));
		TH_LOG("%s: reading cycle gives signal %d, hpmcounter%u signal %d",
		       value[i], trace_signal_of_counter(COUNTER_CYCLE), OUR_DTLB,
		       trace_signal_of_counter(OUR_DTLB));
		ret = trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_THREAD, &thread);
		if (ret == -ENOTTY)
			SKIP(return, "this driver lets no thread join");
		ASSERT_EQ(0, ret);
		ASSERT_EQ(0, trace_signal_of_counter(OUR_DTLB));
		check_ours(_metadata, self);
	}
}

TRACE_HARNESS_MAIN

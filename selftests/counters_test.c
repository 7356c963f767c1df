// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that COUNTERS assigns each event a counter, which counts correctly and which user mode can
 * read with a plain csrr. Access and counters must be released when the session ends, or when a
 * call fails.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_device.h"

#define INFO_CSR(info)		((info) & SIFIVE_TRACE_COUNTER_CSR)
#define INFO_WIDTH(info) \
	((((info) & SIFIVE_TRACE_COUNTER_WIDTH) >> SIFIVE_TRACE_COUNTER_WIDTH_SHIFT) + 1)

/* Data TLB load misses, data TLB store misses, and instruction TLB misses. */
#define DTLB_READ_MISS	(3 << 3 | 0 << 1 | 1)
#define DTLB_WRITE_MISS	(3 << 3 | 1 << 1 | 1)
#define ITLB_READ_MISS	(4 << 3 | 0 << 1 | 1)

/* NUMA node read misses: no supported processor has such an event. */
#define NODE_READ_MISS	(6 << 3 | 0 << 1 | 1)

static const struct sifive_trace_event cycles = { .code = 1 };
static const struct sifive_trace_event instructions = { .code = 2 };
static const struct sifive_trace_event timestamp = {
	.code = SIFIVE_TRACE_EVENT_TIMESTAMP,
};

static const struct sifive_trace_event dtlb = {
	.type = 1, .code = DTLB_READ_MISS,
};

FIXTURE(counters) {
	int fd;
	struct sifive_trace_info info;
	struct sifive_trace_encoder encoder;
	struct sifive_trace_counters counters;
};

FIXTURE_SETUP(counters)
{
	struct sifive_trace_config config;

	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	if (!(self->info.flags & SIFIVE_TRACE_INFO_COUNTERS))
		SKIP(return, "this machine's counters cannot be shared (no Sscofpmf)");
	config = trace_simple_config(self->fd, 0);
	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &self->encoder));
	ASSERT_EQ(0, trace_pin(self->encoder.cpu));
}

FIXTURE_TEARDOWN(counters)
{
	close(self->fd);
}

/* Take counters for these events; the result is in self->counters. */
static int take(struct _test_data_counters *self,
		const struct sifive_trace_event *const *events, uint32_t count)
{
	uint32_t i;

	self->counters = TRACE_ARG(sifive_trace_counters);
	self->counters.count = count;
	/* A value that no call returns, to detect a field that was not set. */
	self->counters.failed = 1000;
	for (i = 0; i < count; i++)
		self->counters.event[i] = *events[i];
	return trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &self->counters);
}

#define TAKE(...) ({							\
	const struct sifive_trace_event *events[] = { __VA_ARGS__ };	\
	take(self, events, ARRAY_SIZE(events)); })

/*
 * Firmware starts the fixed counters at boot, and the kernel's SBI PMU driver stops them. Without
 * that driver, they keep running and are treated as another owner's, so cycles and instructions use
 * programmable counters.
 */
#define NEEDS_FIXED_COUNTERS()	do {						\
	if (access("/sys/bus/platform/drivers/riscv-pmu-sbi", F_OK))		\
		SKIP(return, "no SBI PMU driver has stopped the fixed counters"); \
} while (0)

TEST_F(counters, fixed_counters_are_cycle_and_instret)
{
	NEEDS_FIXED_COUNTERS();
	ASSERT_EQ(0, TAKE(&instructions, &cycles));
	EXPECT_EQ(~0u, self->counters.failed);
	EXPECT_EQ(COUNTER_INSTRET, self->counters.event[0].counter);
	EXPECT_EQ(COUNTER_CYCLE, self->counters.event[1].counter);
	EXPECT_EQ(CSR_CYCLE + COUNTER_INSTRET,
		  INFO_CSR(self->counters.event[0].info));
	EXPECT_EQ(CSR_CYCLE, INFO_CSR(self->counters.event[1].info));
	EXPECT_EQ(1u << COUNTER_CYCLE | 1u << COUNTER_INSTRET, self->counters.mask);
	EXPECT_LE(32, INFO_WIDTH(self->counters.event[0].info));
	EXPECT_LE(32, INFO_WIDTH(self->counters.event[1].info));
	EXPECT_EQ(0, trace_signal_of_counter(COUNTER_CYCLE));
	EXPECT_EQ(0, trace_signal_of_counter(COUNTER_INSTRET));
}

TEST_F(counters, cycle_and_instret_increase_between_reads)
{
	uint64_t c[2], i[2];
	unsigned int round;

	ASSERT_EQ(0, TAKE(&cycles, &instructions));
	c[0] = trace_counter(COUNTER_CYCLE);
	i[0] = trace_counter(COUNTER_INSTRET);
	for (round = 0; round < 1000; round++) {
		trace_spin(100);
		c[1] = trace_counter(COUNTER_CYCLE);
		i[1] = trace_counter(COUNTER_INSTRET);
		ASSERT_LT(c[0], c[1]);
		ASSERT_LT(i[0], i[1]);
		c[0] = c[1];
		i[0] = i[1];
	}
}

TEST_F(counters, instret_counts_loop_instructions)
{
	const uint64_t turns = 20000;
	uint64_t count;

	if (!trace_counts_instructions())
		SKIP(return, "this emulator counts time, not instructions");
	ASSERT_EQ(0, TAKE(&instructions));
	count = trace_count_spin(COUNTER_INSTRET, turns);
	EXPECT_LE(TRACE_SPIN * turns, count);
	EXPECT_GE(TRACE_SPIN * turns + turns / 50, count);
}

TEST_F(counters, counts_scale_with_loop_length)
{
	bool exact = trace_counts_instructions();
	unsigned int i, counter;
	uint64_t one, ten;

	ASSERT_EQ(0, TAKE(&cycles, &instructions));
	for (i = 0; i < 2; i++) {
		counter = self->counters.event[i].counter;
		one = trace_count_spin(counter, 100000);
		ten = trace_count_spin(counter, 1000000);
		TH_LOG("counter %u: %llu in a loop, %llu in a loop ten times as long", counter,
		       (unsigned long long)one, (unsigned long long)ten);
		EXPECT_LT(one, ten);
		/*
		 * If the emulator counts time, the loop's count depends on the host, so check only
		 * that counts increase.
		 */
		if (!exact)
			continue;
		EXPECT_LT(9 * one, ten);
		EXPECT_GT(11 * one, ten);
	}
}

TEST_F(counters, timestamp_is_counter_1_and_read_from_page)
{
	double before, begun, ending, after, ticks;
	uint64_t first, second, upper;
	volatile uint32_t *ts;
	char *page;

	if (!(self->encoder.flags & SIFIVE_TRACE_ENCODER_TS_READABLE)) {
		EXPECT_EQ(-EOPNOTSUPP, TAKE(&cycles, &timestamp));
		EXPECT_EQ(1, self->counters.failed);
		EXPECT_EQ(0, self->counters.mask);
		return;
	}
	ASSERT_EQ(0, TAKE(&timestamp));
	EXPECT_EQ(COUNTER_TIME, self->counters.event[0].counter);
	EXPECT_EQ(1u << COUNTER_TIME, self->counters.mask);
	EXPECT_EQ(0, INFO_CSR(self->counters.event[0].info));
	EXPECT_EQ(self->info.ts_width, INFO_WIDTH(self->counters.event[0].info));

	page = trace_map(self->fd, &self->encoder);
	ASSERT_NE(NULL, page);
	ts = (uint32_t *)(page + TR_TS_LOWER);
	before = trace_clock();
	upper = ts[1];
	first = upper << 32 | ts[0];
	begun = trace_clock();
	usleep(20000);
	ending = trace_clock();
	upper = ts[1];
	second = upper << 32 | ts[0];
	after = trace_clock();
	EXPECT_LT(first, second);
	EXPECT_EQ(0, second >> (self->info.ts_width - 1) >> 1);
	if (!self->info.ts_hz)
		return;
	/* Both clocks agree to within a tick, regardless of the duration. */
	ticks = (double)(second - first);
	EXPECT_LT(0.99 * (ending - begun) * self->info.ts_hz - 2, ticks);
	EXPECT_GT(1.01 * (after - before) * self->info.ts_hz + 2, ticks);
}

TEST_F(counters, disabled_timestamp_cannot_be_counted)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);

	config.flags = SIFIVE_TRACE_CONFIG_NO_TIMESTAMP;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	EXPECT_EQ(-EOPNOTSUPP, TAKE(&cycles, &timestamp));
	EXPECT_EQ(1, self->counters.failed);
}

TEST_F(counters, programmable_event_is_counted)
{
	uint64_t before, few, many;
	unsigned int counter;

	ASSERT_EQ(0, TAKE(&dtlb));
	counter = self->counters.event[0].counter;
	ASSERT_LE(COUNTER_HPM, counter);
	ASSERT_GT(32, counter);
	EXPECT_EQ(1u << counter, self->counters.mask);
	EXPECT_EQ(CSR_CYCLE + counter, INFO_CSR(self->counters.event[0].info));
	ASSERT_EQ(0, trace_signal_of_counter(counter));
	before = trace_counter(counter);
	trace_touch_pages(16);
	few = trace_counter(counter) - before;
	before = trace_counter(counter);
	trace_touch_pages(4096);
	many = trace_counter(counter) - before;
	EXPECT_LE(4096, many);
	EXPECT_LT(few, many);
}

TEST_F(counters, programmable_counters_trap_outside_session)
{
	unsigned int counter, n;
	int second;

	for (n = COUNTER_HPM; n < 32; n++)
		EXPECT_EQ(SIGILL, trace_signal_of_counter(n)) {
			TH_LOG("hpmcounter%u", n);
		}
	ASSERT_EQ(0, TAKE(&dtlb));
	counter = self->counters.event[0].counter;
	EXPECT_EQ(0, trace_signal_of_counter(counter));
	/* Counters that no event uses raise a signal when read. */
	for (n = COUNTER_HPM; n < 32; n++)
		EXPECT_EQ(n == counter ? 0 : SIGILL, trace_signal_of_counter(n)) {
			TH_LOG("hpmcounter%u", n);
		}
	second = trace_open(O_RDWR);
	ASSERT_LE(0, second);
	close(self->fd);
	self->fd = second;
	EXPECT_EQ(SIGILL, trace_signal_of_counter(counter));
}

/* perf's restriction of CPU events, perf_event_paranoid, does not apply to COUNTERS. */
TEST_F(counters, need_capability_regardless_of_perf_event_paranoid)
{
	const char *const rule = "/proc/sys/kernel/perf_event_paranoid";
	char before[16];

	ASSERT_LE(0, trace_file_read(rule, before, sizeof(before)));
	ASSERT_LE(0, trace_file_write(rule, "2"));
	ASSERT_EQ(0, trace_keep_caps(BIT64(CAP_PERFMON)));
	EXPECT_EQ(0, TAKE(&cycles, &instructions));
	ASSERT_EQ(0, trace_keep_caps(0));
	EXPECT_EQ(-EPERM, TAKE(&dtlb));
	EXPECT_EQ(-EPERM, take(self, NULL, 0));
	EXPECT_EQ(0, trace_signal_of_counter(COUNTER_CYCLE));
	/* Restore the setting: only root may write the file, regardless of capabilities. */
	EXPECT_LE(0, trace_file_write(rule, before));
}

/* Request an event that no counter can count, together with events that have counters. */
TEST_F(counters, failed_call_keeps_current_counters)
{
	static const struct sifive_trace_event node = { .type = 1, .code = NODE_READ_MISS };
	struct sifive_trace_status status;
	uint64_t last, now;
	uint32_t mask;
	unsigned int i, counter;

	NEEDS_FIXED_COUNTERS();
	ASSERT_EQ(0, TAKE(&cycles, &dtlb));
	mask = self->counters.mask;
	counter = self->counters.event[1].counter;
	trace_touch_pages(100);
	last = trace_counter(counter);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(i & 1 ? -EOPNOTSUPP : -EINVAL,
			  i & 1 ? TAKE(&instructions, &node) :
				  TAKE(&instructions, &instructions));
		EXPECT_EQ(1, self->counters.failed);
		now = trace_counter(counter);
		EXPECT_LE(last, now);
		last = now;
		now = trace_counter(COUNTER_CYCLE);
		trace_spin(100);
		EXPECT_LT(now, trace_counter(COUNTER_CYCLE));
	}
	EXPECT_EQ(0, trace_signal_of_counter(COUNTER_CYCLE));
	EXPECT_EQ(SIGILL, trace_signal_of_counter(COUNTER_INSTRET));
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(0, status.counters_lost);
	/* The failed call does not prevent replacing or releasing the counters. */
	ASSERT_EQ(0, TAKE(&cycles, &dtlb));
	EXPECT_EQ(mask, self->counters.mask);
	EXPECT_EQ(0, take(self, NULL, 0));
	EXPECT_EQ(SIGILL, trace_signal_of_counter(COUNTER_CYCLE));
}

/* A failed call also keeps per-thread counts, which never decrease. */
TEST_F(counters, failed_call_keeps_thread_counts)
{
	struct sifive_trace_counters own = TRACE_ARG(sifive_trace_counters);
	const struct sifive_trace_slot *slot;
	uint64_t before;

	own.flags = SIFIVE_TRACE_COUNTERS_PER_THREAD;
	own.count = 1;
	own.event[0] = cycles;
	ASSERT_EQ(0, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &own));
	slot = trace_own_slot(self->fd);
	ASSERT_NE(NULL, slot);
	trace_spin(1000000);
	before = trace_own_count(slot, COUNTER_CYCLE);
	own.count = 2;
	own.event[1].type = SIFIVE_TRACE_EVENT_CACHE;
	own.event[1].code = NODE_READ_MISS;
	ASSERT_EQ(-EOPNOTSUPP, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &own));
	EXPECT_LT(before, trace_own_count(slot, COUNTER_CYCLE));
}

TEST_F(counters, empty_request_releases_all_counters)
{
	unsigned int counter;

	ASSERT_EQ(0, TAKE(&dtlb, &cycles));
	counter = self->counters.event[0].counter;
	EXPECT_EQ(0, trace_signal_of_counter(counter));
	EXPECT_EQ(0, take(self, NULL, 0));
	EXPECT_EQ(0, self->counters.mask);
	EXPECT_EQ(~0u, self->counters.failed);
	EXPECT_EQ(SIGILL, trace_signal_of_counter(counter));
}

TEST_F(counters, second_request_replaces_first)
{
	unsigned int counter;

	NEEDS_FIXED_COUNTERS();
	ASSERT_EQ(0, TAKE(&dtlb));
	counter = self->counters.event[0].counter;
	ASSERT_EQ(0, TAKE(&cycles));
	EXPECT_EQ(1u << COUNTER_CYCLE, self->counters.mask);
	EXPECT_EQ(SIGILL, trace_signal_of_counter(counter));
	EXPECT_EQ(0, trace_signal_of_counter(COUNTER_CYCLE));
}

TEST_F(counters, reconfiguration_releases_counters)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	unsigned int counter;

	ASSERT_EQ(0, TAKE(&dtlb));
	counter = self->counters.event[0].counter;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	EXPECT_EQ(SIGILL, trace_signal_of_counter(counter));
}

TEST_F(counters, events_do_not_share_counters)
{
	static const struct sifive_trace_event dtlb_write = {
		.type = 1, .code = DTLB_WRITE_MISS,
	};
	static const struct sifive_trace_event itlb = {
		.type = 1, .code = ITLB_READ_MISS,
	};
	uint32_t i, seen = 0;

	ASSERT_EQ(0, TAKE(&dtlb, &cycles, &dtlb_write, &instructions, &itlb));
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(0, seen & 1u << self->counters.event[i].counter);
		seen |= 1u << self->counters.event[i].counter;
		EXPECT_EQ(0, trace_signal_of_counter(self->counters.event[i].counter));
	}
	EXPECT_EQ(seen, self->counters.mask);
}

TEST_F(counters, unsupported_event_fails_whole_request)
{
	static const struct sifive_trace_event node = {
		.type = 1, .code = NODE_READ_MISS,
	};
	struct sifive_trace_status status;
	unsigned int n;

	EXPECT_EQ(-EOPNOTSUPP, TAKE(&cycles, &dtlb, &node, &instructions));
	EXPECT_EQ(2, self->counters.failed);
	EXPECT_EQ(0, self->counters.mask);
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_NE('\0', status.message[0]);
	for (n = COUNTER_HPM; n < 32; n++)
		EXPECT_EQ(SIGILL, trace_signal_of_counter(n));

	EXPECT_EQ(-EOPNOTSUPP, TAKE(&node));
	EXPECT_EQ(0, self->counters.failed);
	/* Counters that the call took before it failed are free again. */
	EXPECT_EQ(0, TAKE(&cycles, &dtlb, &instructions));
}

TEST_F(counters, event_without_free_counter_returns_ebusy)
{
	struct sifive_trace_event raw[32] = { 0 };
	const struct sifive_trace_event *events[32];
	uint32_t i, taken;
	int ret = 0;

	for (i = 0; i < 32; i++) {
		raw[i].type = 2;
		raw[i].data = 0x100 + i;
		events[i] = &raw[i];
	}
	if (take(self, events, 1))
		SKIP(return, "this machine's firmware does not accept raw events");
	for (taken = 2; taken <= 32; taken++) {
		ret = take(self, events, taken);
		if (ret)
			break;
		ASSERT_EQ(taken, __builtin_popcount(self->counters.mask));
	}
	/*
	 * A hart has at most 29 programmable counters, so at most 29 of these events can be
	 * counted.
	 */
	ASSERT_GE(30, taken);
	EXPECT_EQ(-EBUSY, ret);
	EXPECT_EQ(taken - 1, self->counters.failed);
	EXPECT_EQ(0, self->counters.mask);
	EXPECT_EQ(0, take(self, events, taken - 1));
}

#define PAGES	512

/* Functions that touch pages, and the kinds of access that miss the TLB in each page. */
static const struct touch {
	void (*pages)(unsigned int count);
	bool loads, stores, calls;
} touch[] = {
	{ trace_touch_pages, .loads = true },
	{ trace_store_pages, .stores = true },
	{ trace_call_pages, .stores = true, .calls = true },
};

/* The events in the old library's manual: those of all fixed counters, and six other events. */
TEST_F(counters, event_list_of_manual_is_counted)
{
	static const struct sifive_trace_event others[] = {
		{ .code = 3 }, { .code = 4 }, { .code = 6 },
		{ .type = 1, .code = DTLB_WRITE_MISS },
		{ .type = 1, .code = ITLB_READ_MISS },
	};
	/* Indices of the load, store and instruction fetch misses. */
	static const unsigned int miss_at[] = { 1, 5, 7 };
	const uint64_t loop = 20000 * TRACE_SPIN;
	bool exact = trace_counts_instructions();
	uint64_t before[8], count;
	unsigned int i, t;

	NEEDS_FIXED_COUNTERS();
	ASSERT_EQ(0, TAKE(&others[0], &dtlb, &others[1], &cycles, &others[2],
			  &others[3], &instructions, &others[4]));
	ASSERT_EQ(8, __builtin_popcount(self->counters.mask));
	EXPECT_EQ(COUNTER_CYCLE, self->counters.event[3].counter);
	EXPECT_EQ(COUNTER_INSTRET, self->counters.event[6].counter);
	for (t = 0; t < ARRAY_SIZE(touch); t++) {
		const unsigned int own[] = {
			touch[t].loads, touch[t].stores, touch[t].calls,
		};

		for (i = 0; i < 8; i++)
			before[i] = trace_counter(self->counters.event[i].counter);
		touch[t].pages(PAGES);
		for (i = 0; i < 8; i++)
			before[i] = trace_counter(self->counters.event[i].counter) -
				    before[i];
		for (i = 0; i < 3; i++) {
			count = before[miss_at[i]];
			EXPECT_LE(own[i] ? PAGES : 1, count);
			/*
			 * Accesses to kernel data, and to pages that the kernel clears, can also
			 * miss: up to one miss for each page of the program, depending on load. The
			 * program's own misses are counted exactly below.
			 */
			if (exact)
				EXPECT_GE((own[i] + (i == 1) + 2) * PAGES, count);
		}
		if (!trace_emulated())
			continue;
		EXPECT_EQ(0, before[0]);
		EXPECT_EQ(0, before[2]);
		EXPECT_EQ(0, before[4]);
	}
	if (!exact)
		return;
	count = trace_count_spin(COUNTER_CYCLE, loop / TRACE_SPIN);
	EXPECT_LE(loop, count);
	EXPECT_GE(loop + loop / 50, count);
	count = trace_count_spin(COUNTER_INSTRET, loop / TRACE_SPIN);
	EXPECT_LE(loop, count);
	EXPECT_GE(loop + loop / 50, count);
}

/*
 * When only user mode is counted, each page misses once for each kind of access. Take the
 * minimum of several runs, because other tasks flush the TLB.
 */
TEST_F(counters, user_mode_misses_match_touched_pages)
{
	struct sifive_trace_event miss[3] = {
		{ .type = 1, .code = DTLB_READ_MISS },
		{ .type = 1, .code = DTLB_WRITE_MISS },
		{ .type = 1, .code = ITLB_READ_MISS },
	};
	bool exact = trace_counts_instructions();
	unsigned int i, t, round;

	for (i = 0; i < 3; i++)
		miss[i].flags = SIFIVE_TRACE_EVENT_NO_KERNEL;
	ASSERT_EQ(0, TAKE(&miss[0], &miss[1], &miss[2]));
	for (t = 0; t < ARRAY_SIZE(touch); t++) {
		const bool misses[] = {
			touch[t].loads, touch[t].stores, touch[t].calls,
		};
		uint64_t least[3] = { ~0ull, ~0ull, ~0ull }, before[3], count;

		for (round = 0; round < 5; round++) {
			for (i = 0; i < 3; i++)
				before[i] = trace_counter(self->counters.event[i].counter);
			touch[t].pages(PAGES);
			for (i = 0; i < 3; i++) {
				count = trace_counter(self->counters.event[i].counter) -
					before[i];
				if (count < least[i])
					least[i] = count;
			}
		}
		for (i = 0; i < 3; i++) {
			EXPECT_LE(misses[i] ? PAGES : 0, least[i]) {
				TH_LOG("%u of %u", i, t);
			}
			if (exact)
				EXPECT_GE((misses[i] ? PAGES : 0) + 32, least[i]);
		}
	}
}

/* Query which counters can count an event on the encoder's CPU. */
static int query(struct _test_data_counters *self, struct sifive_trace_query *q,
		 const struct sifive_trace_event *event)
{
	*q = TRACE_ARG(sifive_trace_query);
	q->event = *event;
	return trace_ioctl(self->fd, SIFIVE_TRACE_IOC_EVENT, q);
}

TEST_F(counters, event_call_reports_usable_counters)
{
	static const struct sifive_trace_event node = {
		.type = 1, .code = NODE_READ_MISS,
	};
	struct sifive_trace_event one_mode = cycles;
	struct sifive_trace_query q;
	uint32_t free;

	NEEDS_FIXED_COUNTERS();
	ASSERT_EQ(0, query(self, &q, &cycles));
	EXPECT_EQ(1u << COUNTER_CYCLE, q.counters & 7);
	EXPECT_EQ(q.counters, q.counters & q.readable);
	EXPECT_EQ(q.readable, q.readable & q.known);
	EXPECT_EQ(5, q.known & 7);
	ASSERT_EQ(0, query(self, &q, &instructions));
	EXPECT_EQ(1u << COUNTER_INSTRET, q.counters & 7);
	one_mode.flags = SIFIVE_TRACE_EVENT_NO_USER;
	ASSERT_EQ(0, query(self, &q, &one_mode));
	EXPECT_EQ(0, q.counters & 7);
	ASSERT_EQ(0, query(self, &q, &node));
	EXPECT_EQ(0, q.counters);
	ASSERT_EQ(0, query(self, &q, &dtlb));
	free = q.counters;
	EXPECT_NE(0, free);
	EXPECT_EQ(0, free & 7);

	/* A counter in use is not free, and the query does not disturb it. */
	ASSERT_EQ(0, TAKE(&dtlb));
	ASSERT_EQ(0, query(self, &q, &dtlb));
	EXPECT_EQ(free & ~self->counters.mask, q.counters);
	EXPECT_NE(free, q.counters);
	ASSERT_EQ(0, trace_signal_of_counter(self->counters.event[0].counter));
}

TEST_F(counters, count_on_every_cpu_of_session)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	struct sifive_trace_encoder e;
	unsigned int counter;
	uint64_t before;
	uint32_t i;

	config.encoders = 0;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_EQ(0, TAKE(&dtlb, &cycles));
	counter = self->counters.event[0].counter;
	for (i = 0; i < self->info.encoders; i++) {
		if (!(config.encoders & BIT64(i)))
			continue;
		ASSERT_EQ(0, trace_encoder(self->fd, i, &e));
		ASSERT_EQ(0, trace_pin(e.cpu));
		ASSERT_EQ(0, trace_signal_of_counter(COUNTER_CYCLE)) {
			TH_LOG("cpu %d", e.cpu);
		}
		ASSERT_EQ(0, trace_signal_of_counter(counter)) {
			TH_LOG("cpu %d", e.cpu);
		}
		before = trace_counter(counter);
		trace_touch_pages(2048);
		EXPECT_LE(2048, trace_counter(counter) - before) {
			TH_LOG("cpu %d", e.cpu);
		}
	}
}

TEST_F(counters, other_cpus_are_unaffected)
{
	struct sifive_trace_encoder other;
	unsigned int counter;

	if (self->info.encoders < 2)
		SKIP(return, "this board has one encoder");
	ASSERT_EQ(0, TAKE(&dtlb));
	counter = self->counters.event[0].counter;
	ASSERT_EQ(0, trace_encoder(self->fd, 1, &other));
	ASSERT_EQ(0, trace_pin(other.cpu));
	EXPECT_EQ(SIGILL, trace_signal_of_counter(counter));
}

TRACE_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that COUNTERS gives each event a counter of its own that user mode can
 * read with a plain csrr, that it counts what it should, and that with the
 * session, or with a refusal, access and counters are gone again.
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
#include "trace_device.h"

#define CSR_CYCLE	0xc00
#define COUNTER_CYCLE	0
#define COUNTER_TIME	1
#define COUNTER_INSTRET	2
#define COUNTER_HPM	3

#define INFO_CSR(info)		((info) & 0xfff)
#define INFO_WIDTH(info)	(((info) >> 12 & 0x3f) + 1)

/* Data TLB misses at loads; those at stores; those of instructions. */
#define DTLB_READ_MISS	(3 << 3 | 0 << 1 | 1)
#define DTLB_WRITE_MISS	(3 << 3 | 1 << 1 | 1)
#define ITLB_READ_MISS	(4 << 3 | 0 << 1 | 1)

/* Misses of another memory node: no processor here has that. */
#define NODE_READ_MISS	(6 << 3 | 0 << 1 | 1)

static const struct sifive_trace_event cycles = { .code = 1 };
static const struct sifive_trace_event instructions = { .code = 2 };
static const struct sifive_trace_event timestamp = {
	.code = SIFIVE_TRACE_EVENT_TIMESTAMP,
};

static const struct sifive_trace_event dtlb = {
	.type = 1, .code = DTLB_READ_MISS,
};

/* The CSR's number is part of the instruction. */
#define READ(n) ({							\
	unsigned long value;						\
									\
	asm volatile("csrr %0, %1"					\
		     : "=r" (value) : "i" (CSR_CYCLE + (n)));		\
	value;								\
})

static uint64_t read_counter(unsigned int counter)
{
	switch (counter) {
	case 0:
		return READ(0);
	case 2:
		return READ(2);
	case 3:
		return READ(3);
	case 4:
		return READ(4);
	case 5:
		return READ(5);
	case 6:
		return READ(6);
	case 7:
		return READ(7);
	case 8:
		return READ(8);
	case 9:
		return READ(9);
	case 10:
		return READ(10);
	case 11:
		return READ(11);
	case 12:
		return READ(12);
	case 13:
		return READ(13);
	case 14:
		return READ(14);
	case 15:
		return READ(15);
	case 16:
		return READ(16);
	case 17:
		return READ(17);
	case 18:
		return READ(18);
	case 19:
		return READ(19);
	case 20:
		return READ(20);
	case 21:
		return READ(21);
	case 22:
		return READ(22);
	case 23:
		return READ(23);
	case 24:
		return READ(24);
	case 25:
		return READ(25);
	case 26:
		return READ(26);
	case 27:
		return READ(27);
	case 28:
		return READ(28);
	case 29:
		return READ(29);
	case 30:
		return READ(30);
	case 31:
		return READ(31);
	default:
		abort();
	}
}

static void read_counter_of(void *counter)
{
	read_counter(*(unsigned int *)counter);
}

/* The signal that reading a counter raises, or 0. */
static int signal_of_counter(unsigned int counter)
{
	return trace_signal_of(read_counter_of, &counter);
}

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

/* Ask for these events alone; the result is in self->counters. */
static int take(struct _test_data_counters *self,
		const struct sifive_trace_event *const *events, uint32_t count)
{
	uint32_t i;

	self->counters = TRACE_ARG(sifive_trace_counters);
	self->counters.count = count;
	/* A value that no call gives. */
	self->counters.failed = 1000;
	for (i = 0; i < count; i++)
		self->counters.event[i] = *events[i];
	return trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &self->counters);
}

#define TAKE(...) ({							\
	const struct sifive_trace_event *events[] = { __VA_ARGS__ };	\
	take(self, events, ARRAY_SIZE(events)); })

/* A loop of two instructions a turn. */
static void spin(uint64_t turns)
{
	asm volatile("1:	addi %0, %0, -1\n"
		     "	bnez %0, 1b\n"
		     : "+r" (turns));
}

/* Touch so many pages, each for the first time, that no TLB holds them all. */
static void touch_pages(unsigned int count)
{
	size_t page = (size_t)getpagesize();
	volatile char *memory = mmap(NULL, count * page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
				     -1, 0);
	unsigned int i;

	for (i = 0; i < count; i++)
		memory[i * page];
	munmap((void *)memory, count * page);
}

TEST_F(counters, fixed_counters_are_cycle_and_instret)
{
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
	EXPECT_EQ(0, signal_of_counter(COUNTER_CYCLE));
	EXPECT_EQ(0, signal_of_counter(COUNTER_INSTRET));
}

TEST_F(counters, cycle_and_instret_grow_from_one_read_to_the_next)
{
	uint64_t c[2], i[2];
	unsigned int round;

	ASSERT_EQ(0, TAKE(&cycles, &instructions));
	c[0] = read_counter(COUNTER_CYCLE);
	i[0] = read_counter(COUNTER_INSTRET);
	for (round = 0; round < 1000; round++) {
		spin(100);
		c[1] = read_counter(COUNTER_CYCLE);
		i[1] = read_counter(COUNTER_INSTRET);
		ASSERT_LT(c[0], c[1]);
		ASSERT_LT(i[0], i[1]);
		c[0] = c[1];
		i[0] = i[1];
	}
}

/* What a loop counts, the best of a few: an interrupt only adds to it. */
static uint64_t count_spin(unsigned int counter, uint64_t turns)
{
	uint64_t best = ~0ull, before, after;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		before = read_counter(counter);
		spin(turns);
		after = read_counter(counter);
		if (after - before < best)
			best = after - before;
	}
	return best;
}

/* The emulator counts time where it was not told to count instructions. */
static bool emulated(void)
{
	char compatible[64] = "";
	int fd = open("/proc/device-tree/compatible", O_RDONLY);

	if (fd >= 0) {
		if (read(fd, compatible, sizeof(compatible) - 1) < 0)
			compatible[0] = '\0';
		close(fd);
	}
	return !strcmp(compatible, "riscv-virtio");
}

TEST_F(counters, instret_counts_the_instructions_of_a_loop)
{
	const uint64_t turns = 20000;
	uint64_t count;

	ASSERT_EQ(0, TAKE(&instructions));
	count = count_spin(COUNTER_INSTRET, turns);
	if (emulated() && (count < 2 * turns || count > 2 * turns + turns / 50))
		SKIP(return, "this emulator counts time, not instructions");
	EXPECT_LE(2 * turns, count);
	EXPECT_GE(2 * turns + turns / 50, count);
}

TEST_F(counters, a_loop_ten_times_as_long_counts_about_ten_times_as_much)
{
	unsigned int i, counter;
	uint64_t one, ten;

	ASSERT_EQ(0, TAKE(&cycles, &instructions));
	for (i = 0; i < 2; i++) {
		counter = self->counters.event[i].counter;
		one = count_spin(counter, 1000000);
		ten = count_spin(counter, 10000000);
		EXPECT_LT(4 * one, ten) {
			TH_LOG("counter %u: %llu", counter, (unsigned long long)one);
		}
		EXPECT_GT(25 * one, ten) {
			TH_LOG("counter %u: %llu", counter, (unsigned long long)one);
		}
	}
}

TEST_F(counters, the_timestamp_is_counter_1_and_read_from_the_page)
{
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
	ts = (uint32_t *)(page + SIFIVE_TRACE_PAGE_TS_LOWER);
	upper = ts[1];
	first = upper << 32 | ts[0];
	usleep(20000);
	upper = ts[1];
	second = upper << 32 | ts[0];
	EXPECT_LT(first, second);
	EXPECT_EQ(0, second >> (self->info.ts_width - 1) >> 1);
	if (self->info.ts_hz) {
		/* 20 ms, or longer: this process may have to wait. */
		EXPECT_LE(self->info.ts_hz / 50 / 2, second - first);
		EXPECT_GE(self->info.ts_hz * 5, second - first);
	}
}

TEST_F(counters, a_timestamp_that_is_off_cannot_be_counted)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);

	config.flags = SIFIVE_TRACE_CONFIG_NO_TIMESTAMP;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	EXPECT_EQ(-EOPNOTSUPP, TAKE(&cycles, &timestamp));
	EXPECT_EQ(1, self->counters.failed);
}

TEST_F(counters, a_programmable_event_gets_a_counter_that_counts_it)
{
	uint64_t before, few, many;
	unsigned int counter;

	ASSERT_EQ(0, TAKE(&dtlb));
	counter = self->counters.event[0].counter;
	ASSERT_LE(COUNTER_HPM, counter);
	ASSERT_GT(32, counter);
	EXPECT_EQ(1u << counter, self->counters.mask);
	EXPECT_EQ(CSR_CYCLE + counter, INFO_CSR(self->counters.event[0].info));
	ASSERT_EQ(0, signal_of_counter(counter));
	before = read_counter(counter);
	touch_pages(16);
	few = read_counter(counter) - before;
	before = read_counter(counter);
	touch_pages(4096);
	many = read_counter(counter) - before;
	EXPECT_LE(4096, many);
	EXPECT_LT(few, many);
}

TEST_F(counters, programmable_counters_trap_before_and_after_the_session)
{
	unsigned int counter, n;
	int second;

	for (n = COUNTER_HPM; n < 32; n++)
		EXPECT_EQ(SIGILL, signal_of_counter(n)) {
			TH_LOG("hpmcounter%u", n);
		}
	ASSERT_EQ(0, TAKE(&dtlb));
	counter = self->counters.event[0].counter;
	EXPECT_EQ(0, signal_of_counter(counter));
	/* Nobody asked for the others. */
	for (n = COUNTER_HPM; n < 32; n++)
		EXPECT_EQ(n == counter ? 0 : SIGILL, signal_of_counter(n)) {
			TH_LOG("hpmcounter%u", n);
		}
	second = trace_open(O_RDWR);
	ASSERT_LE(0, second);
	close(self->fd);
	self->fd = second;
	EXPECT_EQ(SIGILL, signal_of_counter(counter));
}

TEST_F(counters, asking_for_none_gives_all_back)
{
	unsigned int counter;

	ASSERT_EQ(0, TAKE(&dtlb, &cycles));
	counter = self->counters.event[0].counter;
	EXPECT_EQ(0, signal_of_counter(counter));
	EXPECT_EQ(0, take(self, NULL, 0));
	EXPECT_EQ(0, self->counters.mask);
	EXPECT_EQ(~0u, self->counters.failed);
	EXPECT_EQ(SIGILL, signal_of_counter(counter));
}

TEST_F(counters, asking_again_replaces_what_was_taken)
{
	unsigned int counter;

	ASSERT_EQ(0, TAKE(&dtlb));
	counter = self->counters.event[0].counter;
	ASSERT_EQ(0, TAKE(&cycles));
	EXPECT_EQ(1u << COUNTER_CYCLE, self->counters.mask);
	EXPECT_EQ(SIGILL, signal_of_counter(counter));
	EXPECT_EQ(0, signal_of_counter(COUNTER_CYCLE));
}

TEST_F(counters, a_new_configuration_gives_them_back)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	unsigned int counter;

	ASSERT_EQ(0, TAKE(&dtlb));
	counter = self->counters.event[0].counter;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	EXPECT_EQ(SIGILL, signal_of_counter(counter));
}

TEST_F(counters, two_events_never_share_a_counter)
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
		EXPECT_EQ(0, signal_of_counter(self->counters.event[i].counter));
	}
	EXPECT_EQ(seen, self->counters.mask);
}

TEST_F(counters, an_event_that_nobody_knows_is_refused_and_nothing_is_kept)
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
		EXPECT_EQ(SIGILL, signal_of_counter(n));

	EXPECT_EQ(-EOPNOTSUPP, TAKE(&node));
	EXPECT_EQ(0, self->counters.failed);
	/* The counters that were taken on the way are free. */
	EXPECT_EQ(0, TAKE(&cycles, &dtlb, &instructions));
}

TEST_F(counters, when_all_are_taken_the_next_event_is_refused_as_busy)
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
		SKIP(return, "this machine's firmware takes no raw events");
	for (taken = 2; taken <= 32; taken++) {
		ret = take(self, events, taken);
		if (ret)
			break;
		ASSERT_EQ(taken, __builtin_popcount(self->counters.mask));
	}
	/* There are 29 programmable counters at the most. */
	ASSERT_GE(30, taken);
	EXPECT_EQ(-EBUSY, ret);
	EXPECT_EQ(taken - 1, self->counters.failed);
	EXPECT_EQ(0, self->counters.mask);
	EXPECT_EQ(0, take(self, events, taken - 1));
}

TEST_F(counters, they_count_on_every_cpu_of_the_session)
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
		ASSERT_EQ(0, signal_of_counter(COUNTER_CYCLE)) {
			TH_LOG("cpu %d", e.cpu);
		}
		ASSERT_EQ(0, signal_of_counter(counter)) {
			TH_LOG("cpu %d", e.cpu);
		}
		before = read_counter(counter);
		touch_pages(2048);
		EXPECT_LE(2048, read_counter(counter) - before) {
			TH_LOG("cpu %d", e.cpu);
		}
	}
}

TEST_F(counters, cpus_outside_the_session_are_left_alone)
{
	struct sifive_trace_encoder other;
	unsigned int counter;

	if (self->info.encoders < 2)
		SKIP(return, "this board has one encoder");
	ASSERT_EQ(0, TAKE(&dtlb));
	counter = self->counters.event[0].counter;
	ASSERT_EQ(0, trace_encoder(self->fd, 1, &other));
	ASSERT_EQ(0, trace_pin(other.cpu));
	EXPECT_EQ(SIGILL, signal_of_counter(counter));
}

TRACE_HARNESS_MAIN

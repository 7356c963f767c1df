// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that events take turns if there are more events than counters: each count identifies its
 * turn, and the counts in one turn cover only one event and only this thread.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/sifive_trace_join.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_device.h"
#include "trace_more.h"

#define EVENTS		SIFIVE_TRACE_MAX_COUNTERS
#define TAG_BITS	(SIFIVE_TRACE_TURN_BITS + SIFIVE_TRACE_ROUND_BITS)
#define CYCLES		0
#define INSTRUCTIONS	1
#define FIXED		2

/* The emulator's raw event for instructions, which can also be counted in one mode only. */
#define RAW_INSTRUCTIONS	2

FIXTURE(turns) {
	int fd;
	struct sifive_trace_info info;
	struct sifive_trace_encoder encoder;
	struct sifive_trace_counters counters;
	unsigned int turns;
};

FIXTURE_SETUP(turns)
{
	struct sifive_trace_config config;

	if (!trace_emulated())
		SKIP(return, "other processors have other raw events");
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

FIXTURE_TEARDOWN(turns)
{
	close(self->fd);
}

/* Request the maximum number of events, which exceeds the number of counters of any processor. */
static int take(struct _test_data_turns *self, uint32_t flags, uint32_t turn_us)
{
	struct sifive_trace_counters *c = &self->counters;
	uint32_t i;
	int ret;

	*c = TRACE_ARG(sifive_trace_counters);
	c->count = EVENTS;
	c->flags = flags;
	c->turn_us = turn_us;
	c->event[CYCLES].code = 1;
	c->event[INSTRUCTIONS].code = 2;
	for (i = FIXED; i < EVENTS; i++) {
		c->event[i].type = SIFIVE_TRACE_EVENT_RAW;
		/*
		 * The first and the last event count instructions; the first event counts them in
		 * all modes, like instret. All other events count nothing.
		 */
		c->event[i].data = i == FIXED || i == EVENTS - 1 ? RAW_INSTRUCTIONS : 0x100 + i;
	}
	c->event[EVENTS - 1].flags = SIFIVE_TRACE_EVENT_NO_KERNEL;
	ret = trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, c);
	self->turns = 0;
	for (i = 0; !ret && i < EVENTS; i++)
		if (c->event[i].turn > self->turns)
			self->turns = c->event[i].turn;
	return ret;
}

#define TAKE(flags)	take(self, SIFIVE_TRACE_COUNTERS_TURNS | (flags), 0)

/* Return the number of low bits of a count that are below the tag of its turn. */
static unsigned int shift_of(const struct sifive_trace_event *event)
{
	const unsigned int width = ((event->info & SIFIVE_TRACE_COUNTER_WIDTH) >>
				    SIFIVE_TRACE_COUNTER_WIDTH_SHIFT) + 1;

	return (width < SIFIVE_TRACE_RECORD_COUNT_BITS ? width :
							 SIFIVE_TRACE_RECORD_COUNT_BITS) - TAG_BITS;
}

static unsigned int turn_of(const struct sifive_trace_event *event, uint64_t count)
{
	return (count >> shift_of(event) & ((1 << SIFIVE_TRACE_TURN_BITS) - 1)) + 1;
}

static uint64_t tag_of(const struct sifive_trace_event *event, uint64_t count)
{
	return count >> shift_of(event) & ((1 << TAG_BITS) - 1);
}

static uint64_t in_turn(const struct sifive_trace_event *event, uint64_t count)
{
	return count & (BIT64(shift_of(event)) - 1);
}

TEST_F(turns, are_used_only_with_flag)
{
	ASSERT_EQ(-EBUSY, take(self, 0, 0));
	ASSERT_EQ(0, TAKE(0));
	EXPECT_LE(2, self->turns);
	EXPECT_EQ(~0u, self->counters.failed);
}

TEST_F(turns, are_not_used_with_enough_counters)
{
	struct sifive_trace_counters c = TRACE_ARG(sifive_trace_counters);

	c.count = FIXED;
	c.flags = SIFIVE_TRACE_COUNTERS_TURNS;
	c.event[CYCLES].code = 1;
	c.event[INSTRUCTIONS].code = 2;
	ASSERT_EQ(0, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &c));
	EXPECT_EQ(0, c.event[CYCLES].turn);
	EXPECT_EQ(0, c.event[INSTRUCTIONS].turn);
}

TEST_F(turns, each_event_has_a_counter_in_one_turn)
{
	uint32_t used[SIFIVE_TRACE_TURNS_MAX + 1] = { 0 }, mask = 0, i;

	ASSERT_EQ(0, TAKE(0));
	EXPECT_EQ(0, self->counters.event[CYCLES].turn);
	EXPECT_EQ(0, self->counters.event[INSTRUCTIONS].turn);
	for (i = 0; i < EVENTS; i++) {
		const struct sifive_trace_event *event = &self->counters.event[i];

		ASSERT_GE(SIFIVE_TRACE_TURNS_MAX, event->turn);
		EXPECT_EQ(i < FIXED, !event->turn);
		EXPECT_FALSE(used[event->turn] & 1u << event->counter);
		used[event->turn] |= 1u << event->counter;
		mask |= 1u << event->counter;
	}
	EXPECT_EQ(mask, self->counters.mask);
}

TEST_F(turns, length_must_be_within_limits)
{
	EXPECT_EQ(-EINVAL, take(self, 0, 4000));
	EXPECT_EQ(-EINVAL, take(self, SIFIVE_TRACE_COUNTERS_TURNS, 999));
	EXPECT_EQ(-EINVAL, take(self, SIFIVE_TRACE_COUNTERS_TURNS,
				SIFIVE_TRACE_TURN_LONGEST + 1));
	EXPECT_EQ(0, take(self, SIFIVE_TRACE_COUNTERS_TURNS, 1000));
	EXPECT_EQ(0, take(self, SIFIVE_TRACE_COUNTERS_TURNS, SIFIVE_TRACE_TURN_LONGEST));
}

TEST_F(turns, exclude_samples_and_other_processes)
{
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);
	struct sifive_trace_join join = TRACE_ARG(sifive_trace_join);
	int fd;

	ASSERT_EQ(0, TAKE(0));
	sampling.channel = trace_register(&self->encoder, 5);
	sampling.interval = 1000000;
	EXPECT_EQ(-EBUSY, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
	fd = trace_open(O_RDWR);
	ASSERT_LE(0, fd);
	join.session = self->fd;
	join.channel = 7;
	join.channels = ~0u;
	EXPECT_EQ(-EBUSY, trace_ioctl(fd, SIFIVE_TRACE_IOC_JOIN, &join));
	close(fd);
}

/* Read the instruction count that takes turns; read instret before and after it. */
struct reading {
	uint64_t before, count, after;
};

static struct reading read_counts(const struct _test_data_turns *self,
				  const struct sifive_trace_slot *slot,
				  const struct sifive_trace_event *event)
{
	struct reading r;

	if (!slot) {
		r.before = trace_counter(COUNTER_INSTRET);
		r.count = trace_counter(event->counter);
		r.after = trace_counter(COUNTER_INSTRET);
		return r;
	}
	r.before = trace_own_count(slot, COUNTER_INSTRET);
	r.count = trace_own_count(slot, event->counter);
	r.after = trace_own_count(slot, COUNTER_INSTRET);
	return r;
}

/**
 * struct check - results of a thread's checks
 * @self:	session of the test
 * @own:	the session has per-thread counts
 * @turns:	mask of the turns that have occurred
 * @rounds:	number of changes of turn
 * @counted:	number of instructions counted in turns
 * @covered:	number of instructions in the thread's loops during these turns
 * @all:	number of all instructions that the thread executed
 * @wrong:	number of pairs of readings whose difference is impossible
 */
struct check {
	struct _test_data_turns *self;
	bool own;
	uint32_t turns;
	unsigned int rounds;
	uint64_t counted, covered, all;
	unsigned int wrong;
};

#define SPIN	1000ull

/*
 * Execute instructions until each turn has occurred several times, and yield the hart to other
 * threads. In the turn that counts instructions, two readings differ by at least the number of
 * instructions in the loop, and by at most the difference between the surrounding readings of
 * instret, which also counts the firmware's instructions.
 */
static void *check(void *arg)
{
	struct check *c = arg;
	const struct sifive_trace_event *event = &c->self->counters.event[FIXED];
	const struct sifive_trace_slot *slot = c->own ? trace_own_slot(c->self->fd) : NULL;
	struct reading last = read_counts(c->self, slot, event), next;
	const uint64_t first = last.after;
	uint64_t counted;

	while (c->rounds < 3 * c->self->turns) {
		trace_spin(SPIN);
		next = read_counts(c->self, slot, event);
		c->turns |= 1u << turn_of(event, next.count);
		if (tag_of(event, next.count) != tag_of(event, last.count)) {
			c->rounds++;
			sched_yield();
		} else if (turn_of(event, next.count) == event->turn) {
			counted = in_turn(event, next.count) - in_turn(event, last.count);
			c->counted += counted;
			c->covered += TRACE_SPIN * SPIN;
			c->wrong += counted < TRACE_SPIN * SPIN ||
				    counted > next.after - last.before;
		}
		last = next;
	}
	c->all = last.before - first;
	return NULL;
}

static void expect_correct(struct __test_metadata *_metadata, const struct check *c)
{
	TH_LOG("%u turns, %u changes: %llu of %llu instructions were counted",
	       c->self->turns, c->rounds, (unsigned long long)c->counted,
	       (unsigned long long)c->all);
	EXPECT_EQ(BIT64(c->self->turns + 1) - 2, c->turns);
	EXPECT_EQ(0, c->wrong);
	EXPECT_LE(c->covered, c->counted);
	/*
	 * The event counts only part of the instructions, because it takes turns with other events.
	 */
	EXPECT_LT(0, c->counted);
	EXPECT_LT(c->counted, c->all);
}

TEST_F(turns, count_instructions_of_thread)
{
	struct check own[2] = { { self, true }, { self, true } };
	pthread_t other;

	if (!trace_counts_instructions())
		SKIP(return, "this emulator counts time, not instructions");
	ASSERT_EQ(0, TAKE(SIFIVE_TRACE_COUNTERS_PER_THREAD));
	ASSERT_EQ(0, pthread_create(&other, NULL, check, &own[1]));
	check(&own[0]);
	ASSERT_EQ(0, pthread_join(other, NULL));
	expect_correct(_metadata, &own[0]);
	expect_correct(_metadata, &own[1]);
}

TEST_F(turns, count_instructions_of_hart)
{
	struct check hart = { self, false };

	if (!trace_counts_instructions())
		SKIP(return, "this emulator counts time, not instructions");
	ASSERT_EQ(0, TAKE(0));
	check(&hart);
	expect_correct(_metadata, &hart);
}

/* Turns advance only while the thread runs, however short each run is. */
TEST_F(turns, continue_when_thread_runs_again)
{
	const struct sifive_trace_event *event = &self->counters.event[FIXED];
	const struct sifive_trace_slot *slot;
	uint32_t seen = 0;

	ASSERT_EQ(0, TAKE(SIFIVE_TRACE_COUNTERS_PER_THREAD));
	slot = trace_own_slot(self->fd);
	ASSERT_NE(NULL, slot);
	/* Make most of the thread's runs shorter than the shortest turn. */
	while (seen != BIT64(self->turns + 1) - 2) {
		trace_spin(10);
		seen |= 1u << turn_of(event, trace_own_count(slot, event->counter));
		usleep(1);
	}
}

TRACE_HARNESS_MAIN

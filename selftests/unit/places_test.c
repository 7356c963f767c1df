// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that time distinguishes objects that successively had the same addresses, even if
 * timestamps wrap, and that all other addresses are unchanged.
 */
#include <stdlib.h>
#include "kselftest_harness.h"

#include "places.h"

#define AT	0x3f80000000ull
#define MASK	0xffffull
#define ALWAYS	UINT64_MAX

FIXTURE(places) {
	struct meta_object object[META_OBJECTS_MAX];
	struct meta meta;
	struct places *places;
};

FIXTURE_SETUP(places)
{
	self->meta.object = self->object;
}

FIXTURE_TEARDOWN(places)
{
	places_free(self->places);
}

static void add(FIXTURE_DATA(places) *self, uint64_t start, uint64_t size, uint64_t from,
		uint64_t to)
{
	self->object[self->meta.objects++] = (struct meta_object){
		.path = "/lib/x.so", .start = start, .end = start + size,
		.bias = start, .from = from, .to = to,
	};
}

/* Return the object whose separate address represents @address at @time, or -1 if none. */
static int whose(FIXTURE_DATA(places) *self, uint64_t address, uint64_t time)
{
	uint64_t own = places_find(self->places, address, &time, NULL);
	size_t i;

	for (i = 0; own != address && i < self->meta.objects; i++)
		if (own == address + places_shift(self->places, i))
			return (int)i;
	return -1;
}

TEST_F(places, are_not_needed_if_no_addresses_were_reused)
{
	const uint64_t time = 5;

	add(self, AT, 0x2000, 0, ALWAYS);
	add(self, AT + 0x2000, 0x2000, 100, 200);
	ASSERT_EQ(0, places_new(&self->meta, &self->places));
	EXPECT_EQ(NULL, self->places);
	EXPECT_EQ(AT, places_find(self->places, AT, &time, NULL));
	EXPECT_EQ(0, places_shift(self->places, 1));
}

TEST_F(places, are_found_by_time)
{
	const uint64_t time = 150;

	add(self, AT, 0x3000, 0, 100);
	add(self, AT + 0x100000, 0x1000, 0, ALWAYS);
	add(self, AT + 0x1000, 0x4000, 100, 200);
	add(self, AT, 0x3000, 200, ALWAYS);
	ASSERT_EQ(0, places_new(&self->meta, &self->places));
	places_wrap(self->places, MASK);
	EXPECT_EQ(0, whose(self, AT, 0));
	EXPECT_EQ(0, whose(self, AT + 0x2fff, 99));
	EXPECT_EQ(2, whose(self, AT + 0x2fff, 150));
	EXPECT_EQ(2, whose(self, AT + 0x4fff, 150));
	EXPECT_EQ(3, whose(self, AT, 300));
	EXPECT_EQ(-1, whose(self, AT, 150));
	EXPECT_EQ(-1, whose(self, AT + 0x3000, 99));
	EXPECT_EQ(-1, whose(self, AT + 0x100000, 99));
	/* An address without a time is unchanged, as is an object's separate address. */
	EXPECT_EQ(AT, places_find(self->places, AT, NULL, NULL));
	EXPECT_EQ(AT + places_shift(self->places, 2),
		  places_find(self->places, AT + places_shift(self->places, 2), &time, NULL));
}

TEST_F(places, are_found_by_time_after_a_wraparound)
{
	add(self, AT, 0x1000, 0, 0x8000);
	add(self, AT, 0x1000, 0x8000, 0x100);
	add(self, AT, 0x1000, 0x100, 0x9000);
	add(self, AT, 0x1000, 0x9000, ALWAYS);
	ASSERT_EQ(0, places_new(&self->meta, &self->places));
	places_wrap(self->places, MASK);
	EXPECT_EQ(0, whose(self, AT, 0x100));
	EXPECT_EQ(1, whose(self, AT, 0xffff));
	EXPECT_EQ(1, whose(self, AT, 0x10050));
	EXPECT_EQ(2, whose(self, AT, 0x10200));
	EXPECT_EQ(3, whose(self, AT, 0x19001));
	EXPECT_EQ(3, whose(self, AT, 0x90000));
}

TEST_F(places, support_the_maximum_number_of_objects)
{
	uint64_t i;

	for (i = 0; i < META_OBJECTS_MAX; i++)
		add(self, AT, 0x1000 * (1 + i % 7), i * 10, i * 10 + 9);
	ASSERT_EQ(0, places_new(&self->meta, &self->places));
	for (i = 0; i < META_OBJECTS_MAX; i++)
		EXPECT_EQ((int)i, whose(self, AT, i * 10 + 5));
}

static void add_process(FIXTURE_DATA(places) *self, int64_t pid, uint64_t from, uint64_t to)
{
	static struct meta_process process[8];

	self->meta.process = process;
	process[self->meta.processes++] = (struct meta_process){
		.pid = pid, .parent = 1, .from = from, .to = to,
	};
}

static void add_thread(FIXTURE_DATA(places) *self, int channel, int64_t pid, bool named,
		       uint64_t from, uint64_t to)
{
	static struct meta_thread thread[8];

	self->meta.thread = thread;
	thread[self->meta.threads++] = (struct meta_thread){
		.channel = channel, .pid = pid, .tid = pid + 1000, .from = from, .to = to,
		.named = named,
	};
}

/* Add an object mapped only by process @process. */
static void add_in(FIXTURE_DATA(places) *self, uint64_t start, uint32_t process)
{
	static uint32_t in[8];

	self->meta.in = in;
	add(self, start, 0x1000, 0, ALWAYS);
	self->object[self->meta.objects - 1].in = self->meta.ins;
	self->object[self->meta.objects - 1].ins = 1;
	in[self->meta.ins++] = process;
}

/* Return the object at @address in the process of the thread that has @channel or the id @named. */
static int of_writer(FIXTURE_DATA(places) *self, uint64_t address, uint64_t time,
		     unsigned int channel, uint32_t named)
{
	const struct places_writer writer = { channel, named, named };
	uint64_t own = places_find(self->places, address, &time, &writer);
	size_t i;

	for (i = 0; own != address && i < self->meta.objects; i++)
		if (own == address + places_shift(self->places, i))
			return (int)i;
	return -1;
}

TEST_F(places, distinguish_processes_with_the_same_addresses)
{
	int round;

	add_process(self, 10, 0, ALWAYS);
	add_process(self, 11, 100, 199);
	/* Process 11 executes another file. */
	add_process(self, 11, 200, ALWAYS);
	add_thread(self, 3, 10, false, 0, ALWAYS);
	add_thread(self, 4, 11, false, 90, 150);
	add_thread(self, 5, 11, true, 150, ALWAYS);
	add_in(self, AT, 0);
	add_in(self, AT, 1);
	add_in(self, AT, 2);
	ASSERT_EQ(0, places_new(&self->meta, &self->places));
	/*
	 * Results are cached, so look up the objects twice, with a different time and a
	 * different writer for each.
	 */
	for (round = 0; round < 2; round++) {
		EXPECT_EQ(0, of_writer(self, AT, 120, 3, 0));
		EXPECT_EQ(1, of_writer(self, AT, 120, 4, 0));
		EXPECT_EQ(1, of_writer(self, AT, 95, 4, 0));
		EXPECT_EQ(1, of_writer(self, AT, 160, 5, 1011));
		EXPECT_EQ(2, of_writer(self, AT, 200, 5, 1011));
		EXPECT_EQ(0, of_writer(self, AT, 200, 5, 1010));
		/* Look up an unused channel, and a channel that has no owner at that time. */
		EXPECT_EQ(-1, of_writer(self, AT, 120, 6, 0));
		EXPECT_EQ(-1, of_writer(self, AT, 180, 4, 0));
		EXPECT_EQ(-1, of_writer(self, AT, 50, 4, 0));
	}
}

/* Objects are in load order within each process, so the order starts over at the next process. */
TEST_F(places, order_objects_per_process)
{
	add_process(self, 10, 0x1000, ALWAYS);
	add_process(self, 11, 0x2000, ALWAYS);
	add_thread(self, 3, 10, false, 0x1000, ALWAYS);
	add_thread(self, 4, 11, false, 0x2000, ALWAYS);
	add_in(self, AT, 0);
	self->object[0].from = 0x1005;
	add_in(self, AT, 1);
	add_in(self, AT + 0x800, 1);
	self->object[2].from = 0x2005;
	add_in(self, AT + 0x800, 0);
	self->object[3].from = 0x1105;
	ASSERT_EQ(0, places_new(&self->meta, &self->places));
	places_wrap(self->places, MASK);
	EXPECT_EQ(0, of_writer(self, AT, 0x3000, 3, 0));
	EXPECT_EQ(1, of_writer(self, AT, 0x3000, 4, 0));
	EXPECT_EQ(2, of_writer(self, AT + 0x1000, 0x3000, 4, 0));
	EXPECT_EQ(3, of_writer(self, AT + 0x1000, 0x3000, 3, 0));
}

TEST_F(places, keep_threads_and_processes_after_a_wraparound)
{
	add_process(self, 10, 0xf000, ALWAYS);
	add_process(self, 11, 0x100, ALWAYS);
	add_process(self, 11, 0x7100, ALWAYS);
	add_thread(self, 3, 10, false, 0xf000, 0x80);
	add_thread(self, 3, 11, false, 0x100, ALWAYS);
	add_in(self, AT, 0);
	add_in(self, AT, 1);
	add_in(self, AT, 2);
	ASSERT_EQ(0, places_new(&self->meta, &self->places));
	places_wrap(self->places, MASK);
	EXPECT_EQ(0, of_writer(self, AT, 0xf800, 3, 0));
	EXPECT_EQ(0, of_writer(self, AT, 0x10040, 3, 0));
	EXPECT_EQ(1, of_writer(self, AT, 0x10200, 3, 0));
	EXPECT_EQ(2, of_writer(self, AT, 0x17200, 3, 0));
	EXPECT_EQ(2, of_writer(self, AT, 0x28200, 3, 0));
}

TEST_F(places, of_an_unknown_process_are_found_if_unambiguous)
{
	add_process(self, 10, 0, ALWAYS);
	add_process(self, 11, 0, ALWAYS);
	add_in(self, AT, 0);
	add_in(self, AT + 0x800, 1);
	ASSERT_EQ(0, places_new(&self->meta, &self->places));
	EXPECT_EQ(0, of_writer(self, AT, 5, 6, 0));
	EXPECT_EQ(-1, of_writer(self, AT + 0x900, 5, 6, 0));
	EXPECT_EQ(1, of_writer(self, AT + 0x1100, 5, 6, 0));
}

TEST_F(places, ignore_invalid_objects)
{
	const uint64_t time = 1;

	add(self, 0, UINT64_MAX, 1, 2);
	add(self, 0x1000, UINT64_MAX - 0x1000, 2, 1);
	ASSERT_EQ(0, places_new(&self->meta, &self->places));
	places_wrap(self->places, UINT64_MAX);
	places_wrap(self->places, MASK);
	EXPECT_EQ(0x5000, places_find(self->places, 0x5000, &time, NULL));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Proves that objects which successively had the same addresses are distinguished by
 * time, also when timestamps wrap, and that all other addresses are unchanged.
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

/* The object whose own address stands for @address at @time; -1: none. */
static int whose(FIXTURE_DATA(places) *self, uint64_t address, uint64_t time)
{
	uint64_t own = places_find(self->places, address, &time);
	size_t i;

	for (i = 0; own != address && i < self->meta.objects; i++)
		if (own == address + places_shift(self->places, i))
			return (int)i;
	return -1;
}

TEST_F(places, none_are_needed_where_no_object_had_anothers_addresses)
{
	const uint64_t time = 5;

	add(self, AT, 0x2000, 0, ALWAYS);
	add(self, AT + 0x2000, 0x2000, 100, 200);
	ASSERT_EQ(0, places_new(&self->meta, &self->places));
	EXPECT_EQ(NULL, self->places);
	EXPECT_EQ(AT, places_find(self->places, AT, &time));
	EXPECT_EQ(0, places_shift(self->places, 1));
}

TEST_F(places, one_after_the_other_by_time)
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
	/* Without a time, and an address that is an object's own already. */
	EXPECT_EQ(AT, places_find(self->places, AT, NULL));
	EXPECT_EQ(AT + places_shift(self->places, 2),
		  places_find(self->places, AT + places_shift(self->places, 2), &time));
}

TEST_F(places, times_that_wrap_go_on)
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

TEST_F(places, as_many_as_a_side_car_file_can_have)
{
	uint64_t i;

	for (i = 0; i < META_OBJECTS_MAX; i++)
		add(self, AT, 0x1000 * (1 + i % 7), i * 10, i * 10 + 9);
	ASSERT_EQ(0, places_new(&self->meta, &self->places));
	for (i = 0; i < META_OBJECTS_MAX; i++)
		EXPECT_EQ((int)i, whose(self, AT, i * 10 + 5));
}

TEST_F(places, nonsense_is_no_object_of_several)
{
	const uint64_t time = 1;

	add(self, 0, UINT64_MAX, 1, 2);
	add(self, 0x1000, UINT64_MAX - 0x1000, 2, 1);
	ASSERT_EQ(0, places_new(&self->meta, &self->places));
	places_wrap(self->places, UINT64_MAX);
	places_wrap(self->places, MASK);
	EXPECT_EQ(0x5000, places_find(self->places, 0x5000, &time));
}

TEST_HARNESS_MAIN

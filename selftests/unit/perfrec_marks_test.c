// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests the record decoder with hand-made words: marks and callers before a record. */
#include "perfrec/callers.h"
#include "perfrec_fixture.h"

TEST_F(perfrec, marks_belong_to_the_next_record)
{
	header(self, PERFREC_DELTA, 1, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 7);
	word8(self, SIFIVE_TRACE_RECORD_WAITED);
	word32(self, 100);
	word8(self, SIFIVE_TRACE_RECORD_WAITED_LONG);
	word32(self, 2);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 7);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 7);
	flush(self);
	ASSERT_EQ(3, all.records);
	EXPECT_EQ(0, all.losses);
	EXPECT_FALSE(all.record[0].flags & PERFREC_MARKED);
	EXPECT_TRUE(all.record[1].flags & PERFREC_MARKED);
	EXPECT_FALSE(all.record[1].flags & (PERFREC_AFTER_LOSS | PERFREC_STALE));
	EXPECT_EQ((UINT64_C(2) << 32) + 100, all.record[1].waited);
	EXPECT_EQ(0, all.record[1].dropped);
	EXPECT_EQ(14, all.record[1].value[0]);
	EXPECT_FALSE(all.record[2].flags & PERFREC_MARKED);
}

TEST_F(perfrec, dropped_records_are_a_loss_even_after_a_header)
{
	header(self, PERFREC_DELTA_XOR, 1, 64);
	word8(self, SIFIVE_TRACE_RECORD_DROPPED);
	word32(self, 40);
	header(self, PERFREC_DELTA_XOR, 1, 64);
	word8(self, SIFIVE_TRACE_RECORD_DROPPED);
	word32(self, 2);
	header(self, PERFREC_DELTA_XOR, 1, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 7);
	flush(self);
	ASSERT_EQ(1, all.records);
	EXPECT_EQ(0, all.losses);
	EXPECT_EQ(42, all.record[0].dropped);
	EXPECT_EQ(PERFREC_ADDRESS_KNOWN | PERFREC_VALUE_KNOWN | PERFREC_AFTER_LOSS |
		  PERFREC_MARKED, all.record[0].flags);
}

TEST_F(perfrec, mark_without_a_value_is_ignored)
{
	header(self, PERFREC_RAW, 1, 64);
	word8(self, SIFIVE_TRACE_RECORD_DROPPED);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 7);
	flush(self);
	ASSERT_EQ(1, all.records);
	EXPECT_EQ(1, all.losses);
	EXPECT_EQ(1, all.lost_words);
	EXPECT_FALSE(all.record[0].flags & PERFREC_MARKED);
}

TEST_F(perfrec, thread_belongs_to_the_next_sample)
{
	header(self, PERFREC_DELTA_XOR, 1, 64);
	word8(self, SIFIVE_TRACE_RECORD_THREAD);
	word32(self, 123);
	word8(self, PERFREC_ISR);
	word32(self, 0x40000);
	word32(self, 7);
	word8(self, PERFREC_ISR);
	word32(self, 0);
	word32(self, 7);
	word8(self, SIFIVE_TRACE_RECORD_THREAD);
	word32(self, 0);
	word8(self, SIFIVE_TRACE_RECORD_CALLERS);
	word32(self, 0x10000);
	word8(self, PERFREC_ISR);
	word32(self, 0);
	word32(self, 7);
	flush(self);
	ASSERT_EQ(3, all.records);
	EXPECT_EQ(0, all.losses);
	EXPECT_TRUE(all.record[0].flags & PERFREC_NAMED);
	EXPECT_EQ(123, all.record[0].thread);
	EXPECT_EQ(5, all.record[0].words);
	EXPECT_EQ(0x40000, all.record[0].address[0]);
	EXPECT_EQ(PERFREC_ADDRESS_KNOWN | PERFREC_VALUE_KNOWN | PERFREC_DELTA_KNOWN,
		  all.record[1].flags);
	EXPECT_EQ(3, all.record[1].words);
	EXPECT_TRUE(all.record[2].flags & PERFREC_NAMED);
	EXPECT_EQ(0, all.record[2].thread);
	ASSERT_NE(NULL, perfrec_callers(&all.record[2]));
	EXPECT_EQ(7, all.record[2].words);
}

TEST_F(perfrec, thread_without_a_sample_is_lost)
{
	unsigned int i;

	header(self, PERFREC_RAW, 1, 64);
	/*
	 * Write invalid threads: one before a manual record, one without an id, one in the middle
	 * of callers, and one before another thread.
	 */
	for (i = 0; i < 4; i++) {
		if (i == 2) {
			word8(self, SIFIVE_TRACE_RECORD_CALLERS);
			word32(self, 0x10000);
		}
		word8(self, SIFIVE_TRACE_RECORD_THREAD);
		if (i != 1)
			word32(self, 100 + i);
		if (i == 2)
			word32(self, 200);
		if (i == 3) {
			word8(self, SIFIVE_TRACE_RECORD_THREAD);
			word32(self, 300);
		}
		word8(self, i ? PERFREC_ISR : PERFREC_MANUAL);
		word32(self, 0x40000);
		word32(self, 7);
	}
	word8(self, SIFIVE_TRACE_RECORD_THREAD);
	perfrec_lost(self->perfrec, -1);
	word8(self, PERFREC_ISR);
	word32(self, 0x40000);
	word32(self, 7);
	word8(self, SIFIVE_TRACE_RECORD_THREAD);
	word32(self, 400);
	flush(self);
	ASSERT_EQ(5, all.records);
	for (i = 0; i < 5; i++)
		EXPECT_EQ(i == 3, !!(all.record[i].flags & PERFREC_NAMED));
	EXPECT_EQ(300, all.record[3].thread);
	EXPECT_EQ(2 + 1 + 2 + 3 + 2 + 1 + 2, all.lost_words);
}

TEST_F(perfrec, header_after_a_thread_is_recognised)
{
	header(self, PERFREC_RAW, 1, 64);
	word8(self, SIFIVE_TRACE_RECORD_THREAD);
	header(self, PERFREC_RAW, 1, 64);
	word8(self, SIFIVE_TRACE_RECORD_THREAD);
	word32(self, 100);
	header(self, PERFREC_RAW, 1, 64);
	word8(self, PERFREC_ISR);
	word32(self, 0x40000);
	word32(self, 7);
	flush(self);
	EXPECT_EQ(3, all.headers);
	EXPECT_EQ(1 + 2, all.lost_words);
	ASSERT_EQ(1, all.records);
	EXPECT_FALSE(all.record[0].flags & PERFREC_NAMED);
}

TEST_F(perfrec, callers_belong_to_the_next_sample)
{
	header(self, PERFREC_DELTA_XOR, 1, 64);
	word8(self, SIFIVE_TRACE_RECORD_CALLERS);
	word32(self, 0x10000);
	word32(self, 0x2000 | 1);
	word32(self, 5);
	word32(self, 0);
	word8(self, PERFREC_ISR);
	word32(self, 0x40000);
	word32(self, 7);
	word8(self, PERFREC_ISR);
	word32(self, 0);
	word32(self, 7);
	flush(self);
	ASSERT_EQ(2, all.records);
	EXPECT_EQ(0, all.losses);
	ASSERT_NE(NULL, perfrec_callers(&all.record[0]));
	ASSERT_EQ(3, all.record[0].callers->count);
	EXPECT_EQ(0x10000, all.record[0].callers->address[0]);
	EXPECT_EQ(0x500012000, all.record[0].callers->address[1]);
	EXPECT_EQ(0x500012000, all.record[0].callers->address[2]);
	EXPECT_EQ(8, all.record[0].words);
	EXPECT_EQ(0x40000, all.record[0].address[0]);
	EXPECT_EQ(NULL, perfrec_callers(&all.record[1]));
	EXPECT_EQ(0x40000, all.record[1].address[0]);
	EXPECT_EQ(PERFREC_ADDRESS_KNOWN | PERFREC_VALUE_KNOWN | PERFREC_DELTA_KNOWN,
		  all.record[1].flags);
}

TEST_F(perfrec, callers_without_a_sample_are_lost)
{
	unsigned int i;

	header(self, PERFREC_RAW, 1, 64);
	/*
	 * Write invalid lists of callers: one before a manual record, one without an address, and
	 * one with half an address.
	 */
	for (i = 0; i < 3; i++) {
		word8(self, SIFIVE_TRACE_RECORD_CALLERS);
		if (i != 1)
			word32(self, i ? 0x10001 : 0x10000);
		word8(self, i ? PERFREC_ISR : PERFREC_MANUAL);
		word32(self, 0x40000);
		word32(self, 7);
	}
	word8(self, SIFIVE_TRACE_RECORD_CALLERS);
	for (i = 0; i <= SIFIVE_TRACE_CALLERS_MAX; i++)
		word32(self, 2);
	word8(self, SIFIVE_TRACE_RECORD_CALLERS);
	word32(self, 0x10000);
	flush(self);
	ASSERT_EQ(3, all.records);
	ASSERT_EQ(5, all.losses);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(NULL, perfrec_callers(&all.record[i]));
	EXPECT_EQ(2 + 1 + 2 + 130 + 2, all.lost_words);
	EXPECT_EQ(PERFREC_CUT_RECORD, all.loss[0].reason);
	EXPECT_EQ(PERFREC_TRUNCATED, all.loss[4].reason);
}

/* Write @count registers: 0x10000, 0x10001 and so on, each with an upper part. */
static void registers(FIXTURE_DATA(perfrec) *self, unsigned int count)
{
	unsigned int i;

	word8(self, SIFIVE_TRACE_RECORD_STACK);
	for (i = 0; i < count; i++) {
		word32(self, 0x10000 + i);
		word16(self, 5);
	}
}

static struct perfrec_stack latest;
static unsigned int stacks;

static const struct perfrec_callers *keep_stack(void *context, const struct perfrec_stack *stack)
{
	static struct perfrec_callers none;

	latest = *stack;
	stacks++;
	return &none;
}

TEST_F(perfrec, stack_belongs_to_the_next_sample)
{
	struct perfrec_ops ops = collect_ops;

	ops.stack = keep_stack;
	perfrec_free(self->perfrec);
	self->perfrec = perfrec_new(&ops, &all);
	header(self, PERFREC_DELTA_XOR, 1, 64);
	registers(self, 16);
	word32(self, 1);
	word32(self, 0xffffffff);
	word16(self, 0);
	word16(self, 0xfedc);
	word8(self, PERFREC_ISR);
	word32(self, 0x40000);
	word32(self, 7);
	word8(self, PERFREC_ISR);
	word32(self, 0);
	word32(self, 7);
	flush(self);
	ASSERT_EQ(2, all.records);
	EXPECT_EQ(0, all.losses);
	EXPECT_EQ(1, stacks);
	EXPECT_EQ(2, latest.words);
	EXPECT_EQ(0x500010000, latest.reg[0]);
	EXPECT_EQ(0x50001000f, latest.reg[15]);
	EXPECT_EQ(1, latest.word[0]);
	EXPECT_EQ(0xfedc0000ffffffff, latest.word[1]);
	EXPECT_NE(NULL, perfrec_callers(&all.record[0]));
	EXPECT_EQ(1 + 32 + 4 + 3, all.record[0].words);
	EXPECT_EQ(0x40000, all.record[0].address[0]);
	EXPECT_FALSE(all.record[1].flags & PERFREC_CALLERS);
}

TEST_F(perfrec, stack_without_a_sample_is_lost)
{
	unsigned int i;

	header(self, PERFREC_RAW, 1, 64);
	/*
	 * Write invalid stacks: one before a manual record, one with too few registers, one with an
	 * extra upper part, and one with too many words.
	 */
	registers(self, 16);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x40000);
	word32(self, 7);
	registers(self, 15);
	word8(self, PERFREC_ISR);
	word32(self, 0x40000);
	word32(self, 7);
	registers(self, 16);
	word16(self, 1);
	word16(self, 1);
	registers(self, 16);
	for (i = 0; i < SIFIVE_TRACE_STACK_MAX / 8; i++)
		word32(self, i);
	word32(self, i);
	/*
	 * Write a stack with an upper part, but without the rest of its value, and a stack that the
	 * trace's end cuts off.
	 */
	word8(self, SIFIVE_TRACE_RECORD_STACK);
	word16(self, 1);
	registers(self, 16);
	flush(self);
	EXPECT_EQ(2, all.records);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(NULL, perfrec_callers(&all.record[i]));
	EXPECT_EQ(33 + 31 + 35 + 33 + 1025 + 2 + 33, all.lost_words);
}

TEST_F(perfrec, header_within_a_stack_is_recognised)
{
	header(self, PERFREC_RAW, 1, 64);
	registers(self, 16);
	header(self, PERFREC_RAW, 1, 64);
	/* The magic occurs as a value. */
	registers(self, 16);
	word32(self, MAGIC);
	word8(self, PERFREC_ISR);
	word32(self, 0x40000);
	word32(self, 7);
	flush(self);
	EXPECT_EQ(2, all.headers);
	EXPECT_EQ(1, all.losses);
	EXPECT_EQ(33, all.lost_words);
	ASSERT_EQ(1, all.records);
}

TEST_F(perfrec, header_within_callers_is_recognised)
{
	header(self, PERFREC_RAW, 1, 64);
	word8(self, SIFIVE_TRACE_RECORD_CALLERS);
	word32(self, 0x10000);
	header(self, PERFREC_RAW, 1, 64);
	/* The magic occurs as an address. */
	word8(self, SIFIVE_TRACE_RECORD_CALLERS);
	word32(self, MAGIC);
	word8(self, PERFREC_ISR);
	word32(self, 0x40000);
	word32(self, 7);
	flush(self);
	EXPECT_EQ(2, all.headers);
	EXPECT_EQ(1, all.losses);
	EXPECT_EQ(2, all.lost_words);
	ASSERT_EQ(1, all.records);
	ASSERT_NE(NULL, perfrec_callers(&all.record[0]));
	EXPECT_EQ(MAGIC, all.record[0].callers->address[0]);
}

TEST_F(perfrec, lost_words_discard_pending_callers)
{
	header(self, PERFREC_RAW, 1, 64);
	word8(self, SIFIVE_TRACE_RECORD_CALLERS);
	word32(self, 0x10000);
	perfrec_lost(self->perfrec, -1);
	word8(self, PERFREC_ISR);
	word32(self, 0x40000);
	word32(self, 7);
	flush(self);
	ASSERT_EQ(1, all.records);
	EXPECT_EQ(NULL, perfrec_callers(&all.record[0]));
	EXPECT_EQ(2, all.lost_words);
}

TEST_F(perfrec, each_list_of_callers_is_stored_once)
{
	static struct callers callers;
	uint64_t address[SIFIVE_TRACE_CALLERS_MAX] = { 0 };
	const struct perfrec_callers *first, *list;
	unsigned int i, stored = 0;

	first = callers_get(&callers, address, 1);
	EXPECT_NE(first, callers_get(&callers, address, 2));
	/* The lists fill the available memory; stored lists remain valid. */
	for (i = 0; i < 40000; i++) {
		address[i % SIFIVE_TRACE_CALLERS_MAX] = i + 1;
		list = callers_get(&callers, address, SIFIVE_TRACE_CALLERS_MAX);
		stored += list != NULL;
		if (list)
			ASSERT_EQ(list, callers_get(&callers, address, SIFIVE_TRACE_CALLERS_MAX));
	}
	EXPECT_LT(30000, stored);
	EXPECT_GT(40000, stored);
	address[0] = 0;
	EXPECT_EQ(first, callers_get(&callers, address, 1));
	EXPECT_GE(CALLERS_BYTES, callers.bytes);
	callers_free(&callers);
}

/* A trace can be constructed so that all of its lists have the same key. */
TEST_F(perfrec, colliding_caller_lists_are_limited)
{
	static struct callers callers;
	unsigned int i, stored = 0;

	for (i = 0; i < 100000; i++) {
		const uint64_t a = 2 * i, b = ((2 ^ a) * 0x100000001b3ull) ^ 2, address[] = { a, b };

		stored += callers_get(&callers, address, 2) != NULL;
	}
	EXPECT_LT(0, stored);
	EXPECT_GT(100, stored);
	callers_free(&callers);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests the layouts, values and lost words of records, with hand-made words. */
#include "perfrec_fixture.h"

TEST_F(perfrec, header_with_all_event_types_is_decoded)
{
	const struct perfrec_header *h = &all.header[0];
	char name[PERFREC_NAME_SIZE];

	self->src = 3;
	word32(self, MAGIC);
	word8(self, PERFREC_DELTA_XOR);
	word32(self, 1u << 0 | 1u << 1 | 1u << 5 | 1u << 31);
	word32(self, PERFREC_EVENT_GENERAL);
	word32(self, 1);
	word32(self, INFO(0xc00, 64));
	word32(self, PERFREC_EVENT_GENERAL);
	word32(self, SIFIVE_TRACE_EVENT_TIMESTAMP);
	word32(self, INFO(0, 40));
	word32(self, PERFREC_EVENT_CACHE);
	word32(self, 3 << 3 | 1 << 1 | 1);
	word32(self, INFO(0xc05, 48));
	word32(self, PERFREC_EVENT_RAW);
	word32(self, 0x20001);
	word32(self, 0x7);
	EXPECT_EQ(0, all.headers);
	word32(self, INFO(0xc1f, 1));
	ASSERT_EQ(1, all.headers);

	EXPECT_EQ(3, h->src);
	EXPECT_EQ(6, h->channel);
	EXPECT_EQ(1, h->serial);
	EXPECT_EQ(PERFREC_DELTA_XOR, h->count_type);
	EXPECT_EQ(0x80000023, h->mask);
	ASSERT_EQ(4, h->counters);
	EXPECT_EQ(0, h->begin.offset);
	EXPECT_EQ(102, h->mask_word.time);
	EXPECT_EQ(105, h->counter[0].end.time);
	EXPECT_EQ(112 + 3, h->counter[3].end.time);
	EXPECT_EQ(0, h->counter[0].number);
	EXPECT_EQ(1, h->counter[1].number);
	EXPECT_EQ(5, h->counter[2].number);
	EXPECT_EQ(31, h->counter[3].number);
	EXPECT_EQ(64, h->counter[0].width);
	EXPECT_EQ(40, h->counter[1].width);
	EXPECT_EQ(1, h->counter[3].width);
	EXPECT_EQ(0xc00, h->counter[0].csr);
	EXPECT_EQ(0, h->counter[1].csr);
	EXPECT_EQ(0x700020001, h->counter[3].event_data);
	perfrec_counter_name(&h->counter[0], name, sizeof(name));
	EXPECT_STREQ("cycles", name);
	perfrec_counter_name(&h->counter[1], name, sizeof(name));
	EXPECT_STREQ("timestamp", name);
	perfrec_counter_name(&h->counter[2], name, sizeof(name));
	EXPECT_STREQ("dTLB-store-misses", name);
	perfrec_counter_name(&h->counter[3], name, sizeof(name));
	EXPECT_STREQ("r700020001", name);
}

TEST_F(perfrec, header_with_a_firmware_event_is_decoded)
{
	const struct perfrec_counter *counter = &all.header[0].counter[0];
	char name[PERFREC_NAME_SIZE];

	word32(self, MAGIC);
	word8(self, PERFREC_DELTA);
	word32(self, 1u << 31);
	word32(self, PERFREC_EVENT_FIRMWARE);
	word32(self, 6);
	word32(self, INFO(0, 64));
	ASSERT_EQ(1, all.headers);
	EXPECT_EQ(31, counter->number);
	EXPECT_EQ(15, counter->type);
	EXPECT_EQ(0, counter->csr);
	EXPECT_EQ(64, counter->width);
	perfrec_counter_name(counter, name, sizeof(name));
	EXPECT_STREQ("fw:ipi-sent", name);
}

/* Event types between these are undefined. */
TEST_F(perfrec, header_with_an_unknown_event_type_is_refused)
{
	word32(self, MAGIC);
	word8(self, PERFREC_DELTA);
	word32(self, 1u << 31);
	word32(self, 13);
	word32(self, 6);
	word32(self, INFO(0, 64));
	EXPECT_EQ(0, all.headers);
}

TEST_F(perfrec, every_event_has_a_name)
{
	struct perfrec_counter counter = { .type = PERFREC_EVENT_GENERAL };
	char name[PERFREC_NAME_SIZE];
	uint32_t code;

	counter.code = 6;
	perfrec_counter_name(&counter, name, sizeof(name));
	EXPECT_STREQ("branch-misses", name);
	for (code = 0; code < 300; code++) {
		counter.code = code;
		counter.type = code % 2;
		perfrec_counter_name(&counter, name, sizeof(name));
		EXPECT_GT(sizeof(name), strlen(name));
		EXPECT_LT(2, strlen(name));
	}
	counter.code = ~0u;
	perfrec_counter_name(&counter, name, sizeof(name));
	EXPECT_STREQ("cache-0xffffffff", name);
	counter.type = PERFREC_EVENT_GENERAL;
	perfrec_counter_name(&counter, name, sizeof(name));
	EXPECT_STREQ("general-0xffffffff", name);
	counter.type = PERFREC_EVENT_RAW;
	counter.event_data = ~0ull;
	perfrec_counter_name(&counter, name, sizeof(name));
	EXPECT_STREQ("rffffffffffffffff", name);
}

TEST_F(perfrec, enter_record_with_long_and_short_address_is_decoded)
{
	const struct perfrec_record *r = &all.record[0];

	header(self, PERFREC_RAW, 2, 64);
	self->time = 1000;
	word8(self, PERFREC_ENTER);
	word32(self, 0x80001235);
	word32(self, 0x3f);
	word32(self, 0x10450);
	word32(self, 7);
	word16(self, 0xffff);
	word32(self, 8);
	EXPECT_EQ(0, all.records);
	word8(self, PERFREC_MANUAL);
	ASSERT_EQ(1, all.records);
	EXPECT_EQ(PERFREC_ENTER, r->type);
	EXPECT_EQ(2, r->addresses);
	EXPECT_EQ(0x3f80001234, r->address[0]);
	EXPECT_EQ(0x10450, r->address[1]);
	EXPECT_EQ(2, r->counters);
	EXPECT_EQ(0xffff00000007, r->sent[0]);
	EXPECT_EQ(8, r->sent[1]);
	EXPECT_EQ(7, r->words);
	EXPECT_EQ(1000, r->begin.time);
	EXPECT_EQ(1003, r->address_end.time);
	EXPECT_TRUE(r->address_end.time_known);
	EXPECT_EQ(90, r->begin.offset);
	EXPECT_EQ(120, r->address_end.offset);
	EXPECT_EQ(PERFREC_ADDRESS_KNOWN | PERFREC_VALUE_KNOWN, r->flags);
	EXPECT_EQ(0, all.losses);
}

TEST_F(perfrec, complete_last_record_is_returned_by_flush)
{
	header(self, PERFREC_RAW, 2, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 1);
	word32(self, 2);
	EXPECT_EQ(0, all.records);
	flush(self);
	ASSERT_EQ(1, all.records);
	EXPECT_EQ(2, all.record[0].sent[1]);
	flush(self);
	EXPECT_EQ(1, all.records);
}

TEST_F(perfrec, truncated_record_is_dropped)
{
	header(self, PERFREC_RAW, 2, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 1);
	word16(self, 2);
	flush(self);
	EXPECT_EQ(0, all.records);
	ASSERT_EQ(1, all.losses);
	EXPECT_EQ(PERFREC_TRUNCATED, all.loss[0].reason);
	EXPECT_EQ(4, all.loss[0].words);
	EXPECT_EQ(90, all.loss[0].offset);
}

TEST_F(perfrec, truncated_header_is_dropped)
{
	word32(self, MAGIC);
	word8(self, PERFREC_RAW);
	word32(self, 1);
	flush(self);
	EXPECT_EQ(0, all.headers);
	ASSERT_EQ(1, all.losses);
	EXPECT_EQ(PERFREC_TRUNCATED, all.loss[0].reason);
	EXPECT_EQ(3, all.loss[0].words);
}

TEST_F(perfrec, records_without_counters_are_decoded)
{
	header(self, PERFREC_DELTA, 0, 64);
	word8(self, PERFREC_EXIT);
	word32(self, 0x10000);
	word32(self, 0x10100);
	ASSERT_EQ(1, all.records);
	EXPECT_EQ(0, all.record[0].counters);
	word8(self, PERFREC_ISR);
	word32(self, 0x10002);
	ASSERT_EQ(2, all.records);
	EXPECT_EQ(PERFREC_ISR, all.record[1].type);
	flush(self);
	EXPECT_EQ(0, all.losses);
}

TEST_F(perfrec, delta_is_added_modulo_the_counter_width)
{
	header(self, PERFREC_DELTA, 1, 40);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 0xffffffff);
	word16(self, 0xff);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 3);
	flush(self);
	ASSERT_EQ(2, all.records);
	EXPECT_EQ(0xffffffffff, all.record[0].value[0]);
	EXPECT_EQ(0xffffffffff, all.record[0].delta[0]);
	EXPECT_EQ(2, all.record[1].value[0]);
	EXPECT_EQ(3, all.record[1].delta[0]);
	EXPECT_EQ(3, all.record[1].sent[0]);
	EXPECT_TRUE(all.record[0].flags & PERFREC_DELTA_KNOWN);
}

/* A writer that mistakes an unchanged counter for a wrapped counter sends 2^width. */
TEST_F(perfrec, delta_of_a_full_wraparound_is_0)
{
	header(self, PERFREC_DELTA, 1, 32);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 0);
	word16(self, 1);
	flush(self);
	ASSERT_EQ(1, all.records);
	EXPECT_EQ(0x100000000, all.record[0].sent[0]);
	EXPECT_EQ(0, all.record[0].delta[0]);
	EXPECT_EQ(0, all.record[0].value[0]);
}

TEST_F(perfrec, delta_xor_is_rebuilt)
{
	header(self, PERFREC_DELTA_XOR, 1, 64);
	word8(self, PERFREC_ENTER);
	word32(self, 0x10000);
	word32(self, (0x10000 ^ 0x80000010) | 1);
	word32(self, 0x3f);
	word32(self, 100);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10 ^ 0x20);
	word32(self, 100 ^ 130);
	flush(self);
	ASSERT_EQ(2, all.records);
	EXPECT_EQ(0x10000, all.record[0].address[0]);
	EXPECT_EQ(0x3f80000010, all.record[0].address[1]);
	EXPECT_EQ(0x3f80010010, all.record[0].sent_address[1]);
	EXPECT_EQ(0x3f80000020, all.record[1].address[0]);
	EXPECT_EQ(100, all.record[0].value[0]);
	EXPECT_FALSE(all.record[0].flags & PERFREC_DELTA_KNOWN);
	EXPECT_EQ(130, all.record[1].value[0]);
	EXPECT_EQ(30, all.record[1].delta[0]);
	EXPECT_TRUE(all.record[1].flags & PERFREC_DELTA_KNOWN);
}

TEST_F(perfrec, new_header_restarts_the_stream)
{
	header(self, PERFREC_DELTA_XOR, 1, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 100);
	header(self, PERFREC_DELTA, 2, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x20000);
	word32(self, 5);
	word32(self, 6);
	header(self, PERFREC_RAW, 0, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x30000);
	flush(self);
	ASSERT_EQ(3, all.headers);
	ASSERT_EQ(3, all.records);
	EXPECT_EQ(2, all.header[1].serial);
	EXPECT_EQ(0x20000, all.record[1].address[0]);
	EXPECT_EQ(5, all.record[1].value[0]);
	EXPECT_EQ(2, all.record[1].counters);
	EXPECT_EQ(0, all.record[2].counters);
	EXPECT_EQ(0, all.losses);
}

static void xor_record(FIXTURE_DATA(perfrec) *self, uint32_t before, uint32_t now)
{
	word8(self, PERFREC_MANUAL);
	word32(self, 0);
	word32(self, before ^ now);
}

/* A header on schedule continues the stream; any other header starts a new stream. */
TEST_F(perfrec, periodic_headers_continue_the_stream)
{
	perfrec_repeat(self->perfrec, ~0u, 2);
	header(self, PERFREC_DELTA_XOR, 1, 64);
	xor_record(self, 0, 100);
	xor_record(self, 100, 130);
	header(self, PERFREC_DELTA_XOR, 1, 64);
	xor_record(self, 0, 145);
	header(self, PERFREC_DELTA_XOR, 1, 64);
	xor_record(self, 0, 1000);
	xor_record(self, 1000, 1001);
	/* There are two headers, the second of which starts a new stream. */
	header(self, PERFREC_DELTA_XOR, 1, 64);
	header(self, PERFREC_DELTA_XOR, 1, 64);
	xor_record(self, 0, 2000);
	flush(self);
	ASSERT_EQ(5, all.headers);
	ASSERT_EQ(6, all.records);
	EXPECT_FALSE(all.header[0].repeated);
	EXPECT_TRUE(all.header[1].repeated);
	EXPECT_FALSE(all.header[2].repeated);
	EXPECT_TRUE(all.header[3].repeated);
	EXPECT_FALSE(all.header[4].repeated);
	EXPECT_TRUE(all.record[2].flags & PERFREC_DELTA_KNOWN);
	EXPECT_EQ(145, all.record[2].value[0]);
	EXPECT_EQ(15, all.record[2].delta[0]);
	EXPECT_FALSE(all.record[3].flags & PERFREC_DELTA_KNOWN);
	EXPECT_EQ(1, all.record[4].delta[0]);
	EXPECT_FALSE(all.record[5].flags & PERFREC_DELTA_KNOWN);
}

TEST_F(perfrec, header_intervals_are_set_per_channel)
{
	perfrec_repeat(self->perfrec, ~(1u << PERFREC_CHANNEL_DEFAULT), 1);
	header(self, PERFREC_DELTA_XOR, 1, 64);
	xor_record(self, 0, 100);
	header(self, PERFREC_DELTA_XOR, 1, 64);
	perfrec_repeat(self->perfrec, 1u << PERFREC_CHANNEL_DEFAULT, 1);
	xor_record(self, 0, 130);
	header(self, PERFREC_DELTA_XOR, 1, 64);
	flush(self);
	ASSERT_EQ(3, all.headers);
	EXPECT_FALSE(all.header[1].repeated);
	EXPECT_TRUE(all.header[2].repeated);
}

/* After a loss, it is unknown whether the header was on schedule. */
TEST_F(perfrec, periodic_header_after_a_loss_restarts_the_stream)
{
	perfrec_repeat(self->perfrec, ~0u, 2);
	header(self, PERFREC_DELTA_XOR, 1, 64);
	xor_record(self, 0, 100);
	word8(self, 0xff);
	xor_record(self, 100, 130);
	xor_record(self, 130, 140);
	header(self, PERFREC_DELTA_XOR, 1, 64);
	xor_record(self, 0, 145);
	flush(self);
	ASSERT_EQ(2, all.headers);
	EXPECT_FALSE(all.header[1].repeated);
}

TEST_F(perfrec, counter_can_equal_the_header_magic)
{
	header(self, PERFREC_RAW, 2, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, MAGIC);
	word32(self, MAGIC);
	word8(self, PERFREC_EXIT);
	word32(self, MAGIC);
	word32(self, MAGIC);
	word32(self, MAGIC);
	word16(self, 1);
	word32(self, MAGIC);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 1);
	word32(self, 2);
	flush(self);
	EXPECT_EQ(1, all.headers);
	EXPECT_EQ(0, all.losses);
	ASSERT_EQ(3, all.records);
	EXPECT_EQ(MAGIC, all.record[0].sent[0]);
	EXPECT_EQ(MAGIC, all.record[0].sent[1]);
	EXPECT_EQ(MAGIC, all.record[1].address[0]);
	EXPECT_EQ(0x100000000 + MAGIC, all.record[1].sent[0]);
}

TEST_F(perfrec, header_after_a_truncated_record_is_recognised)
{
	header(self, PERFREC_RAW, 3, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	header(self, PERFREC_RAW, 1, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x20000);
	word32(self, 9);
	flush(self);
	EXPECT_EQ(2, all.headers);
	ASSERT_EQ(1, all.losses);
	EXPECT_EQ(2, all.loss[0].words);
	ASSERT_EQ(1, all.records);
	EXPECT_EQ(9, all.record[0].value[0]);
	EXPECT_EQ(1, all.record[0].counters);
}

TEST_F(perfrec, record_truncated_by_the_next_is_lost)
{
	header(self, PERFREC_DELTA, 2, 64);
	word8(self, PERFREC_ENTER);
	word32(self, 0x10000);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10002);
	word32(self, 4);
	word32(self, 5);
	flush(self);
	ASSERT_EQ(1, all.records);
	EXPECT_EQ(0x10002, all.record[0].address[0]);
	ASSERT_EQ(1, all.losses);
	EXPECT_EQ(PERFREC_CUT_RECORD, all.loss[0].reason);
	EXPECT_EQ(2, all.loss[0].words);
	/*
	 * Sums since the header are unknown, because the lost record's counts are missing; the
	 * record's own differences are known.
	 */
	EXPECT_EQ(PERFREC_ADDRESS_KNOWN | PERFREC_DELTA_KNOWN |
		  PERFREC_AFTER_LOSS | PERFREC_STALE, all.record[0].flags);
}

TEST_F(perfrec, delta_xor_is_unknown_after_a_loss)
{
	header(self, PERFREC_DELTA_XOR, 1, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word16(self, 1);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x12);
	word32(self, 5);
	header(self, PERFREC_DELTA_XOR, 1, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 5);
	flush(self);
	ASSERT_EQ(2, all.records);
	EXPECT_EQ(PERFREC_AFTER_LOSS | PERFREC_STALE, all.record[0].flags);
	EXPECT_EQ(PERFREC_ADDRESS_KNOWN | PERFREC_VALUE_KNOWN,
		  all.record[1].flags);
	EXPECT_EQ(1, all.losses);
	EXPECT_EQ(3, all.lost_words);
}

/* The sums of XORed addresses and counts must not be shown as addresses and counts. */
TEST_F(perfrec, delta_xor_is_unknown_after_a_lost_header)
{
	unsigned int cut, i;

	for (cut = 0; cut < 2; cut++) {
		header(self, PERFREC_DELTA_XOR, 2, 64);
		word8(self, PERFREC_MANUAL);
		word32(self, 0x10000);
		word32(self, 5);
		word32(self, 6);
		word32(self, SIFIVE_TRACE_RECORD_MAGIC);
		word8(self, PERFREC_DELTA_XOR);
		if (cut)
			perfrec_lost(self->perfrec, -1);
		else
			word16(self, 3);
		for (i = 0; i < 2; i++) {
			word8(self, PERFREC_MANUAL);
			word32(self, 0x12);
			word32(self, 3);
			word32(self, 4);
		}
	}
	flush(self);
	EXPECT_EQ(2, all.headers);
	ASSERT_EQ(6, all.records);
	for (i = 0; i < 6; i++) {
		ASSERT_NE(NULL, all.record[i].header);
		EXPECT_EQ(2, all.record[i].counters);
		EXPECT_EQ(!(i % 3), !!(all.record[i].flags & (PERFREC_ADDRESS_KNOWN |
							      PERFREC_VALUE_KNOWN)));
	}
}

TEST_F(perfrec, streams_without_a_header_are_delta_xor_like_others)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		header(self, i < 2 ? i : PERFREC_DELTA_XOR, 1, 64);
		self->src = (uint8_t)(i + 1);
		word8(self, PERFREC_MANUAL);
		word32(self, 0x12);
		word32(self, 3);
		word8(self, PERFREC_MANUAL);
		word32(self, 0x14);
		word32(self, 4);
		self->src = 0;
	}
	header(self, PERFREC_DELTA_XOR, 1, 64);
	flush(self);
	ASSERT_EQ(6, all.records);
	for (i = 0; i < 6; i++) {
		if (all.record[i].src < 3) {
			EXPECT_EQ(NULL, all.record[i].header);
			continue;
		}
		ASSERT_NE(NULL, all.record[i].header);
		EXPECT_EQ(0, all.record[i].header->serial);
		EXPECT_FALSE(all.record[i].flags & (PERFREC_ADDRESS_KNOWN | PERFREC_VALUE_KNOWN));
	}
}

TEST_F(perfrec, excess_words_are_lost)
{
	header(self, PERFREC_RAW, 1, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 1);
	word32(self, 2);
	word32(self, 3);
	word16(self, 3);
	word8(self, 9);
	push(self, 0, 3);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 4);
	word16(self, 1);
	word16(self, 1);
	flush(self);
	ASSERT_EQ(2, all.records);
	ASSERT_EQ(2, all.losses);
	EXPECT_EQ(PERFREC_NO_START, all.loss[0].reason);
	EXPECT_EQ(5, all.loss[0].words);
	EXPECT_EQ(1, all.loss[1].words);
	EXPECT_FALSE(all.record[1].flags & PERFREC_DELTA_KNOWN);
	EXPECT_TRUE(all.record[1].flags & PERFREC_VALUE_KNOWN);
}

TEST_F(perfrec, magic_after_lost_words_is_not_a_header)
{
	header(self, PERFREC_RAW, 1, 64);
	/* After lost words, the magic can be a counter's value. */
	word32(self, 5);
	word32(self, MAGIC);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 7);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 8);
	flush(self);
	EXPECT_EQ(1, all.headers);
	ASSERT_LE(1, all.records);
	EXPECT_EQ(8, all.record[all.records - 1].value[0]);
	EXPECT_NE(NULL, all.record[all.records - 1].header);
}

TEST_F(perfrec, broken_header_invalidates_the_previous_one)
{
	header(self, PERFREC_RAW, 1, 64);
	word32(self, MAGIC);
	word8(self, PERFREC_RAW);
	word32(self, 3);
	word32(self, PERFREC_EVENT_GENERAL);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 7);
	word32(self, 8);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 7);
	word32(self, 8);
	flush(self);
	EXPECT_EQ(1, all.headers);
	ASSERT_EQ(1, all.losses);
	EXPECT_EQ(PERFREC_CUT_HEADER, all.loss[0].reason);
	EXPECT_EQ(4, all.loss[0].words);
	ASSERT_EQ(2, all.records);
	EXPECT_EQ(NULL, all.record[0].header);
	EXPECT_EQ(2, all.record[1].counters);
}

/* A ring begins in a record, long after the header was overwritten. */
TEST_F(perfrec, records_without_header_are_decoded)
{
	unsigned int i;

	word32(self, 77);
	word32(self, 78);
	for (i = 0; i < 3; i++) {
		word8(self, PERFREC_ENTER);
		word32(self, 0x80000001);
		word32(self, 0x3f);
		word32(self, 0x10000);
		word32(self, i);
		word16(self, 1);
		word32(self, 10 + i);
	}
	flush(self);
	ASSERT_EQ(3, all.records);
	EXPECT_EQ(NULL, all.record[2].header);
	EXPECT_EQ(PERFREC_STALE, all.record[2].flags);
	EXPECT_EQ(2, all.record[2].counters);
	EXPECT_EQ(0x3f80000000, all.record[2].address[0]);
	EXPECT_EQ(0x100000002, all.record[2].sent[0]);
	EXPECT_EQ(12, all.record[2].value[1]);
	ASSERT_EQ(1, all.losses);
	EXPECT_EQ(2, all.loss[0].words);
	EXPECT_EQ(PERFREC_NO_START, all.loss[0].reason);
}

TEST_F(perfrec, last_record_without_header_must_be_as_long_as_the_others)
{
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 1);
	word32(self, 2);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 1);
	flush(self);
	EXPECT_EQ(1, all.records);
	ASSERT_EQ(1, all.losses);
	EXPECT_EQ(PERFREC_TRUNCATED, all.loss[0].reason);
}

TEST_F(perfrec, header_after_records_without_header_is_used)
{
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 1);
	header(self, PERFREC_RAW, 2, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10002);
	word32(self, 1);
	word32(self, 2);
	flush(self);
	EXPECT_EQ(1, all.headers);
	EXPECT_EQ(0, all.losses);
	ASSERT_EQ(2, all.records);
	EXPECT_EQ(1, all.record[0].counters);
	EXPECT_EQ(2, all.record[1].counters);
}

TEST_F(perfrec, record_with_too_many_counters_is_lost)
{
	unsigned int i;

	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	for (i = 0; i < 100; i++)
		word32(self, i);
	word8(self, PERFREC_MANUAL);
	flush(self);
	EXPECT_EQ(0, all.records);
	EXPECT_EQ(103, all.lost_words);
}

TEST_F(perfrec, lost_messages_of_one_source_affect_no_other)
{
	header(self, PERFREC_DELTA, 1, 64);
	self->src = 1;
	header(self, PERFREC_DELTA, 1, 64);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	self->src = 0;
	word8(self, PERFREC_MANUAL);
	word32(self, 0x20000);
	perfrec_lost(self->perfrec, 0);
	word32(self, 0x20000);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x20002);
	word32(self, 1);
	self->src = 1;
	word32(self, 3);
	flush(self);
	ASSERT_EQ(2, all.records);
	EXPECT_EQ(1, all.record[0].src);
	EXPECT_TRUE(all.record[0].flags & PERFREC_VALUE_KNOWN);
	EXPECT_EQ(0, all.record[1].src);
	EXPECT_EQ(0x20002, all.record[1].address[0]);
	EXPECT_FALSE(all.record[1].flags & PERFREC_VALUE_KNOWN);
	ASSERT_EQ(2, all.losses);
	EXPECT_EQ(PERFREC_INTERRUPTED, all.loss[0].reason);
	EXPECT_EQ(2, all.loss[0].words);
	EXPECT_EQ(1, all.loss[1].words);
}

TEST_F(perfrec, lost_messages_of_all_sources_interrupt_records)
{
	header(self, PERFREC_RAW, 1, 64);
	self->src = 1;
	word32(self, MAGIC);
	perfrec_lost(self->perfrec, -1);
	word8(self, PERFREC_MANUAL);
	word32(self, 0x10000);
	word32(self, 1);
	flush(self);
	EXPECT_EQ(PERFREC_INTERRUPTED, all.loss[0].reason);
	EXPECT_EQ(1, all.headers);
	EXPECT_EQ(0, all.records);
}

TEST_F(perfrec, source_or_channel_out_of_range_is_refused)
{
	struct store word = { .src = PERFREC_SOURCES };

	EXPECT_EQ(-EINVAL, perfrec_push(self->perfrec, &word));
	word.src = 0;
	word.channel = PERFREC_CHANNELS;
	EXPECT_EQ(-EINVAL, perfrec_push(self->perfrec, &word));
	word.channel = PERFREC_CHANNELS - 1;
	word.src = PERFREC_SOURCES - 1;
	EXPECT_EQ(0, perfrec_push(self->perfrec, &word));
	perfrec_free(NULL);
}

TEST_F(perfrec, every_constant_has_a_name)
{
	unsigned int i;

	for (i = 0; i < PERFREC_TYPES; i++)
		EXPECT_LT(2, strlen(perfrec_type_name(i)));
	for (i = 0; i <= PERFREC_DELTA_XOR; i++)
		EXPECT_LT(2, strlen(perfrec_count_type_name(i)));
	for (i = 0; i <= PERFREC_TRUNCATED; i++)
		EXPECT_LT(2, strlen(perfrec_reason_name(i)));
}

TEST_HARNESS_MAIN

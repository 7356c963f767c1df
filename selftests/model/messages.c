// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests that a store to a stimulus register becomes exactly the bytes that the wire format
 * specifies: tags, sizes, sources, timestamps (relative, absolute, none), trace on and off,
 * ownership. If any enable bit is clear, no message is sent.
 */
#include "kselftest_harness.h"
#include "board.h"

/* Nanoseconds per timestamp tick, at the default 10 MHz. */
#define TICK	100
#define OWN_SINK "-device sifive-trace-encoder,id=te0,addr=0x11000000," \
		 "sinks=sba,ts-type=bus,flush-ns=0"

FIXTURE(encoder)
{
	struct board b;
};

FIXTURE_SETUP(encoder)
{
}

FIXTURE_TEARDOWN(encoder)
{
	board_stop(&self->b);
}

static void start(struct board *b, const char *args, uint32_t ts, uint32_t control)
{
	board_start(b, args);
	setup_encoder(b, TE, ts ? ts | TS_COUNT | TS_RESET : 0);
	sink_window(b, TE, BUFFER, 4096, 4);
	wr(b, TE + CONTROL, control);
}

static const char *written(struct board *b)
{
	wr(b, TE + CONTROL, OFF | TRACING);
	return memory(b, BUFFER, rd(b, TE + SINK_WP) - BUFFER);
}

/* No source bits; trace on at t = 1000, and a store at t = 1010. */
TEST_F(encoder, no_source_bits_omit_source)
{
	start(&self->b, OWN_SINK, TS_ENABLE | TS_INSTR, ACTIVE);
	step(&self->b, 1000 * TICK);
	wr(&self->b, TE + CONTROL, ON);
	step(&self->b, 10 * TICK);
	wr(&self->b, TE + STIMULUS(6), 0x70657266);
	step(&self->b, 1 * TICK);
	EXPECT_STREQ("8c 00 09 a0 3f "
		     "1c 61 98 24 5c 64 c0 05 6b "
		     "8c 00 0d cc 3f ff", written(&self->b));
	EXPECT_EQ(1, rd(&self->b, TE + WORD_COUNT));
}

/* Two source bits; trace on at t = 1001, and a store at t = 1011. */
TEST_F(encoder, two_source_bits_are_sent)
{
	start(&self->b, OWN_SINK ",src=2,src-bits=2", TS_ENABLE | TS_INSTR, ACTIVE);
	step(&self->b, 1001 * TICK);
	wr(&self->b, TE + CONTROL, ON);
	step(&self->b, 10 * TICK);
	wr(&self->b, TE + STIMULUS(6), 0x70657266);
	/* 1001 ^ 1011 = 0x1a */
	EXPECT_STREQ("8c 08 21 a4 3f "
		     "1c 88 05 98 24 5c 64 c0 05 6b "
		     "8c 08 31 cc 3f", written(&self->b));
}

TEST_F(encoder, source_zero_is_sent)
{
	start(&self->b, OWN_SINK ",src=0,src-bits=2", TS_ENABLE | TS_INSTR, ACTIVE);
	step(&self->b, 1000 * TICK);
	wr(&self->b, TE + CONTROL, ON);
	step(&self->b, 10 * TICK);
	wr(&self->b, TE + STIMULUS(6), 0x70657266);
	EXPECT_STREQ("8c 00 21 a0 3f "
		     "1c 80 05 98 24 5c 64 c0 05 6b "
		     "8c 00 31 c8 3f", written(&self->b));
}

TEST_F(encoder, inhibited_source_is_omitted)
{
	start(&self->b, OWN_SINK ",src=2,src-bits=2", 0, ON | INHIBIT_SRC);
	wr(&self->b, TE + STIMULUS(1), 1);
	wr(&self->b, TE + CONTROL, OFF | TRACING | INHIBIT_SRC);
	EXPECT_STREQ("8c 00 0b 1c 11 07 8c 00 0f ff ff ff",
		     memory(&self->b, BUFFER, 12));
}

/* Fields need not start at slice boundaries: CKDATA0 begins in the third slice. */
TEST_F(encoder, four_source_bits_are_sent)
{
	start(&self->b, OWN_SINK ",src=13,src-bits=4", 0, ON);
	wr(&self->b, TE + STIMULUS(2), 0);
	EXPECT_STREQ("8c 34 83 1c 34 09 03 8c 34 c3 ff ff", written(&self->b));
}

/* The offset within a register is part of the tag. */
TEST_F(encoder, store_size_and_offset_are_sent)
{
	start(&self->b, OWN_SINK, 0, ON);
	wr(&self->b, TE + STIMULUS(6), 0x3f);
	wr16(&self->b, TE + STIMULUS(6) + 2, 0xffff);
	wr8(&self->b, TE + STIMULUS(6) + 3, 0x80);
	wr8(&self->b, TE + STIMULUS(6) + 1, 1);
	wr16(&self->b, TE + STIMULUS(6), 2);
	EXPECT_STREQ("8c 00 0b "
		     "1c 61 ff "
		     "1c 69 fc fc 3f "
		     "1c 6d 00 0b "
		     "1c 65 07 "
		     "1c 61 0b "
		     "8c 00 0f", written(&self->b));
	EXPECT_EQ(5, rd(&self->b, TE + WORD_COUNT));
}

/*
 * By default, each register has a separate tag, and tsInstrumentation selects timestamps for all
 * registers.
 */
TEST_F(encoder, each_register_has_a_tag_by_default)
{
	start(&self->b, OWN_SINK, TS_ENABLE, ACTIVE);
	step(&self->b, TICK);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + STIMULUS(22), 0);
	wr(&self->b, TE + STIMULUS(31), 0);
	EXPECT_STREQ("8c 00 09 07 "
		     "1c 60 05 03 "	/* 22 * 4 = 0x58 = 1 << 6 | 0x18 */
		     "1c f0 05 03 "
		     "8c 00 0d 07", written(&self->b));
}

/* P550: registers 16-31 share the tags of registers 0-15; tsInstrumentation adds timestamps. */
TEST_F(encoder, p550_registers_16_to_31_reuse_tags)
{
	start(&self->b, OWN_SINK ",channel-rule=p550", TS_ENABLE | TS_INSTR, ACTIVE);
	step(&self->b, TICK);
	wr(&self->b, TE + CONTROL, ON);
	step(&self->b, TICK);
	wr(&self->b, TE + STIMULUS(6), 1);
	wr(&self->b, TE + STIMULUS(22), 1);
	wr8(&self->b, TE + STIMULUS(31) + 3, 1);
	wr(&self->b, TE + STIMULUS(15), 1);
	wr(&self->b, TE + TS_CONTROL, TS_ACTIVE | TS_COUNT | TS_ENABLE);
	wr(&self->b, TE + STIMULUS(22), 1);
	EXPECT_STREQ("8c 00 09 07 "
		     "1c 61 07 "
		     "1c 61 05 0f "	/* 1 ^ 2 */
		     "1c fd 05 03 "
		     "1c f1 07 "
		     "1c 61 07 "
		     "8c 00 0d 0b ff ff ff", written(&self->b));
}

/*
 * A timestamp is XORed with the last timestamp sent, even if messages without a timestamp come in
 * between.
 */
TEST_F(encoder, timestamps_are_xored_with_previous)
{
	start(&self->b, OWN_SINK, TS_ENABLE | TS_INSTR, ACTIVE);
	step(&self->b, 0x40 * TICK);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + STIMULUS(0), 0);
	step(&self->b, 0x41 * TICK);
	wr(&self->b, TE + STIMULUS(0), 0);
	wr(&self->b, TE + TS_CONTROL, TS_ACTIVE | TS_COUNT | TS_ENABLE);
	step(&self->b, 1 * TICK);
	wr(&self->b, TE + STIMULUS(0), 0);
	wr(&self->b, TE + TS_CONTROL, TS_ACTIVE | TS_COUNT | TS_ENABLE | TS_INSTR);
	step(&self->b, 1 * TICK);
	wr(&self->b, TE + STIMULUS(0), 0);
	EXPECT_STREQ("8c 00 09 00 07 "	/* 0x40 */
		     "1c 01 01 03 "
		     "1c 01 01 04 0f "	/* 0x40 ^ 0x81 = 0xc1 */
		     "1c 01 03 "
		     "1c 01 01 0b "	/* 0x81 ^ 0x83 */
		     "8c 00 0d 0c 0b ff ff", written(&self->b));
}

/* Decoders interpret a timestamp of 0 as a missing timestamp, so the encoder sends 1 at tick 0. */
TEST_F(encoder, timestamp_is_never_zero)
{
	start(&self->b, OWN_SINK, TS_ENABLE, ON);
	EXPECT_EQ(0, rd(&self->b, TE + TS_LOWER));
	EXPECT_STREQ("8c 00 09 07 8c 00 0d 07", written(&self->b));
}

TEST_F(encoder, timestamps_are_truncated_to_width)
{
	start(&self->b, OWN_SINK ",ts-width=8", TS_ENABLE | TS_INSTR, ACTIVE);
	step(&self->b, 0x1fe * TICK);
	EXPECT_EQ(0xfe, rd(&self->b, TE + TS_LOWER));
	wr(&self->b, TE + CONTROL, ON);
	step(&self->b, 4 * TICK);
	wr(&self->b, TE + STIMULUS(0), 0);
	EXPECT_STREQ("8c 00 09 f8 0f "
		     "1c 01 01 f0 0f "	/* 0xfe ^ 0x02 = 0xfc */
		     "8c 00 0d 0b ff ff", written(&self->b));
}

TEST_F(encoder, forty_bit_timestamp_is_sent)
{
	start(&self->b, OWN_SINK ",ts-freq=1000000000", TS_ENABLE, ACTIVE);
	step(&self->b, 0x123456789aull);
	EXPECT_EQ(0x3456789a, rd(&self->b, TE + TS_LOWER));
	EXPECT_EQ(0x12, rd(&self->b, TE + TS_UPPER));
	wr(&self->b, TE + CONTROL, ON);
	/* 0x9a 0x78 0x56 0x34 0x12 in groups of six bits: 1a 22 27 15 34 08 01 */
	wr(&self->b, TE + CONTROL, OFF);
	EXPECT_STREQ("8c 00 09 68 88 9c 54 d0 20 07",
		     memory(&self->b, BUFFER, 10));
}

/* Registers 15 and 31 send ownership messages in modes 2 and 3. */
TEST_F(encoder, registers_15_and_31_send_ownership)
{
	uint32_t mode2 = ACTIVE | ENABLE | TRACING | 2 << 7;
	uint32_t mode3 = ACTIVE | ENABLE | TRACING | 3 << 7;

	start(&self->b, OWN_SINK, TS_ENABLE | TS_OWNER, ACTIVE);
	step(&self->b, 5 * TICK);
	wr(&self->b, TE + CONTROL, mode2);
	step(&self->b, 1 * TICK);
	wr(&self->b, TE + STIMULUS(15), 0x1234);
	wr(&self->b, TE + STIMULUS(14), 1);
	wr(&self->b, TE + STIMULUS(31), 0x3);
	wr(&self->b, TE + TS_CONTROL, TS_ACTIVE | TS_COUNT | TS_ENABLE | TS_INSTR);
	wr(&self->b, TE + CONTROL, mode3);
	wr(&self->b, TE + STIMULUS(31), 0x3);
	wr(&self->b, TE + STIMULUS(14), 1);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + STIMULUS(15), 1);
	EXPECT_STREQ("8c 00 09 17 "
		     "08 d0 20 05 0f "	/* 0x34 0x08 0x01; 5 ^ 6 */
		     "08 0d 03 "
		     "08 0f "
		     "1c e1 05 03 "
		     "1c f1 05 03 "
		     "8c 00 0d 1b ff ff", written(&self->b));
	EXPECT_EQ(5, rd(&self->b, TE + WORD_COUNT));
}

/* Without timestamps, the data is the last field, and its last slice ends the message. */
TEST_F(encoder, data_is_last_field_without_timestamps)
{
	start(&self->b, OWN_SINK, 0, ON);
	wr(&self->b, TE + STIMULUS(0), 0);
	EXPECT_STREQ("8c 00 0b 1c 01 03 8c 00 0f ff ff ff", written(&self->b));
}

/* teTracing starts and stops trace, like teEnable. */
TEST_F(encoder, tracing_bit_starts_and_stops_trace)
{
	start(&self->b, OWN_SINK, 0, ON & ~TRACING);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + CONTROL, ON & ~TRACING);
	wr(&self->b, TE + STIMULUS(0), 1);
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_STREQ("8c 00 0b 8c 00 0f 8c 00 0b 8c 00 0f", written(&self->b));
}

/* If any one enable bit is clear, a store does not become a message. */
TEST_F(encoder, store_needs_every_enable)
{
	start(&self->b, OWN_SINK, 0, ACTIVE);
	wr(&self->b, TE + STIMULUS(0), 1);
	wr(&self->b, TE + CONTROL, ON & ~ENABLE);
	wr(&self->b, TE + STIMULUS(0), 1);
	wr(&self->b, TE + CONTROL, ON & ~ITC);
	wr(&self->b, TE + STIMULUS(0), 1);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + ITC_TRACE, ~(1u << 7));
	wr(&self->b, TE + STIMULUS(7), 1);
	EXPECT_EQ(0, rd(&self->b, TE + WORD_COUNT));
	wr(&self->b, TE + STIMULUS(8), 1);
	EXPECT_EQ(1, rd(&self->b, TE + WORD_COUNT));
	wr(&self->b, TE + CONTROL, 0);
	wr(&self->b, TE + STIMULUS(8), 1);
	EXPECT_EQ(0, rd(&self->b, TE + WORD_COUNT));
	EXPECT_EQ(0, stat(&self->b, "te0", "stat-violations"));
	EXPECT_EQ(6, stat(&self->b, "te0", "stat-stores-stimulus"));
}

TEST_F(encoder, prescaler_divides_time)
{
	unsigned int n;

	start(&self->b, OWN_SINK, TS_ENABLE, ACTIVE);
	for (n = 0; n < 4; n++) {
		uint32_t ts = TS_ACTIVE | TS_COUNT | TS_PRESCALE(n);

		wr(&self->b, TE + TS_CONTROL, ts | TS_RESET);
		step(&self->b, 6400 * TICK);
		EXPECT_EQ(6400 >> (2 * n), rd(&self->b, TE + TS_LOWER));
	}
	/* A change of the prescaler does not reset the time. */
	wr(&self->b, TE + TS_CONTROL, TS_ACTIVE | TS_COUNT);
	step(&self->b, 1 * TICK);
	EXPECT_EQ(101, rd(&self->b, TE + TS_LOWER));
}

TEST_F(encoder, time_stops_and_continues)
{
	start(&self->b, OWN_SINK, TS_ENABLE, ACTIVE);
	step(&self->b, 10 * TICK);
	wr(&self->b, TE + TS_CONTROL, TS_ACTIVE);
	step(&self->b, 10 * TICK);
	EXPECT_EQ(10, rd(&self->b, TE + TS_LOWER));
	wr(&self->b, TE + TS_CONTROL, TS_ACTIVE | TS_COUNT);
	step(&self->b, 10 * TICK);
	EXPECT_EQ(20, rd(&self->b, TE + TS_LOWER));
	wr(&self->b, TE + TS_CONTROL, TS_ACTIVE | TS_COUNT | TS_RESET);
	EXPECT_EQ(0, rd(&self->b, TE + TS_LOWER));
	step(&self->b, 10 * TICK);
	EXPECT_EQ(10, rd(&self->b, TE + TS_LOWER));
	wr(&self->b, TE + TS_CONTROL, 0);
	EXPECT_EQ(0, rd(&self->b, TE + TS_LOWER));
	/* Resetting the unit or the component restarts the time at 0. */
	wr(&self->b, TE + TS_CONTROL, TS_ACTIVE);
	wr(&self->b, TE + TS_CONTROL, TS_ACTIVE | TS_COUNT);
	EXPECT_EQ(0, rd(&self->b, TE + TS_LOWER));
	step(&self->b, 10 * TICK);
	wr(&self->b, TE + TS_CONTROL, TS_ACTIVE);
	setup_encoder(&self->b, TE, TS_COUNT);
	EXPECT_EQ(0, rd(&self->b, TE + TS_LOWER));
}

TEST_HARNESS_MAIN

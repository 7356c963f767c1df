// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the encoder's FIFO: it drains message by message at the configured rate, and its registers
 * show its level and whether it accepts a store. A full FIFO either stalls the
 * hart, or drops messages and then sends an Error and an absolute timestamp.
 */
#include "kselftest_harness.h"
#include "board.h"

/* The smallest FIFO, which sends one byte per timestamp tick. */
#define TICK	100
#define DEPTH	76
#define ENCODER	"-device sifive-trace-encoder,id=te0,addr=0x11000000,sinks=sba," \
		"ts-type=bus,fifo-depth=76,drain-ns=100"

FIXTURE(fifo)
{
	struct board b;
};

/* Trace is turned on at t = 1, with timestamps in sync messages only. */
FIXTURE_SETUP(fifo)
{
	board_start(&self->b, ENCODER);
	setup_encoder(&self->b, TE, TS_ENABLE | TS_COUNT | TS_RESET);
	sink_window(&self->b, TE, BUFFER, 4096, 4);
	step(&self->b, TICK);
}

FIXTURE_TEARDOWN(fifo)
{
	board_stop(&self->b);
}

#define ON_BYTES	"8c 00 09 07 "

/* Send four bytes: "1c 01 xx 07". */
static void message(struct board *b, unsigned int x)
{
	wr(b, TE + STIMULUS(0), 0x40 | x);
}

/* Fill the FIFO: the trace-on message occupies four bytes, and 18 messages occupy the rest. */
static void fill(struct board *b, uint32_t control)
{
	unsigned int i;

	wr(b, TE + CONTROL, control);
	for (i = 0; i < 18; i++)
		message(b, i);
}

/* Return the expected bytes after fill(), followed by the bytes in @more. */
static const char *filled(const char *more)
{
	static char text[3 * 256];
	char *p = text;
	unsigned int i;

	p += sprintf(p, "%s", ON_BYTES);
	for (i = 0; i < 18; i++)
		p += sprintf(p, "1c 01 %02x 07 ", i << 2);
	sprintf(p, "%s", more);
	return text;
}

static const char *written(struct board *b)
{
	return memory(b, BUFFER, rd(b, TE + SINK_WP) - BUFFER);
}

TEST_F(fifo, level_falls_at_drain_rate)
{
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(4, rd(&self->b, TE + FIFO_LEVEL));
	message(&self->b, 1);
	EXPECT_EQ(8, rd(&self->b, TE + FIFO_LEVEL));
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & EMPTY);
	step(&self->b, 4 * TICK - 1);
	EXPECT_EQ(8, rd(&self->b, TE + FIFO_LEVEL));
	EXPECT_EQ(BUFFER, rd(&self->b, TE + SINK_WP));
	step(&self->b, 1);
	EXPECT_EQ(4, rd(&self->b, TE + FIFO_LEVEL));
	EXPECT_EQ(BUFFER + 4, rd(&self->b, TE + SINK_WP));
	step(&self->b, 4 * TICK);
	EXPECT_EQ(0, rd(&self->b, TE + FIFO_LEVEL));
	EXPECT_EQ(EMPTY, rd(&self->b, TE + CONTROL) & EMPTY);
	EXPECT_STREQ(ON_BYTES "1c 01 04 07", written(&self->b));
	EXPECT_EQ(2, stat(&self->b, "te0", "stat-messages"));
}

/* A stimulus register reads 0 while the FIFO has no room for the longest message. */
TEST_F(fifo, ready_while_longest_message_fits)
{
	unsigned int i;

	wr(&self->b, TE + CONTROL, ON);
	for (i = 0; i < 18; i++) {
		EXPECT_EQ(4 + 4 * i <= DEPTH - 38,
			  rd(&self->b, TE + STIMULUS(i)));
		message(&self->b, i);
	}
	step(&self->b, DEPTH * TICK);
	EXPECT_EQ(1, rd(&self->b, TE + STIMULUS(31)));
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & LOST);
}

TEST_F(fifo, overflow_drops_messages_and_sends_error)
{
	fill(&self->b, ON);
	EXPECT_EQ(DEPTH, rd(&self->b, TE + FIFO_LEVEL));
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & LOST);
	message(&self->b, 40);
	EXPECT_EQ(LOST, rd(&self->b, TE + CONTROL) & LOST);
	message(&self->b, 41);
	/* The FIFO has room for a message, but not for an Error before it. */
	step(&self->b, 40 * TICK);
	EXPECT_EQ(0, rd(&self->b, TE + STIMULUS(0)));
	message(&self->b, 42);
	EXPECT_EQ(18, rd(&self->b, TE + WORD_COUNT));
	step(&self->b, 36 * TICK);
	EXPECT_EQ(10, rd(&self->b, TE + FIFO_LEVEL));
	EXPECT_EQ(1, rd(&self->b, TE + STIMULUS(0)));
	message(&self->b, 43);
	step(&self->b, 14 * TICK);
	/*
	 * Error at t = 77: ETYPE 0, ECODE 0x20, 1 ^ 77; then 77 as an absolute
	 * timestamp.
	 */
	EXPECT_STREQ(filled("20 00 21 30 07 8c 00 09 34 07 1c 01"),
		     (step(&self->b, FLUSH_NS), written(&self->b)));
	EXPECT_EQ(1, stat(&self->b, "te0", "stat-overflows"));
	EXPECT_EQ(3, stat(&self->b, "te0", "stat-dropped"));
	EXPECT_EQ(0, stat(&self->b, "te0", "stat-stalls"));

	/* Writing 0 clears the stall-or-overflow bit; writing 1 does not change it. */
	wr(&self->b, TE + CONTROL, ON | LOST);
	EXPECT_EQ(LOST, rd(&self->b, TE + CONTROL) & LOST);
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & LOST);
	wr(&self->b, TE + CONTROL, ON | LOST);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & LOST);
}

/* A loss is reported even if the encoder is stopped while it is dropping messages. */
TEST_F(fifo, overflow_until_stop_is_reported)
{
	fill(&self->b, ON);
	message(&self->b, 40);
	wr(&self->b, TE + CONTROL, OFF);
	step(&self->b, DEPTH * TICK + 1000 - 1);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & EMPTY);
	step(&self->b, 1);
	EXPECT_EQ(EMPTY, rd(&self->b, TE + CONTROL) & EMPTY);
	/* t = 87 = 0x57 */
	EXPECT_STREQ(filled("20 00 21 58 07 8c 00 0d 5c 07 ff ff"),
		     written(&self->b));
	/* Once the encoder is disabled and flushed, the FIFO is empty. */
	step(&self->b, DEPTH * TICK);
	EXPECT_EQ(EMPTY, rd(&self->b, TE + CONTROL) & EMPTY);
}

TEST_F(fifo, stall_loses_no_messages)
{
	fill(&self->b, ON | STALL);
	message(&self->b, 18);
	EXPECT_EQ(LOST, rd(&self->b, TE + CONTROL) & LOST);
	EXPECT_EQ(DEPTH, rd(&self->b, TE + FIFO_LEVEL));
	EXPECT_EQ(BUFFER + 4, rd(&self->b, TE + SINK_WP));
	message(&self->b, 19);
	EXPECT_EQ(20, rd(&self->b, TE + WORD_COUNT));
	step(&self->b, DEPTH * TICK);
	EXPECT_STREQ(filled("1c 01 48 07 1c 01 4c 07"), written(&self->b));
	EXPECT_EQ(2, stat(&self->b, "te0", "stat-stalls"));
	EXPECT_EQ(0, stat(&self->b, "te0", "stat-overflows"));
	EXPECT_EQ(0, stat(&self->b, "te0", "stat-dropped"));
	wr(&self->b, TE + CONTROL, ON | STALL);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & LOST);
}

/* If an encoder cannot stall, the stall bit reads back as 0. */
TEST(stall_bit_reads_zero_without_support)
{
	struct board b;

	board_start(&b, ENCODER ",stall=off");
	setup_encoder(&b, TE, TS_ENABLE | TS_COUNT | TS_RESET);
	sink_window(&b, TE, BUFFER, 4096, 4);
	step(&b, TICK);
	fill(&b, ON | STALL);
	EXPECT_EQ(0, rd(&b, TE + CONTROL) & STALL);
	message(&b, 18);
	EXPECT_EQ(0, stat(&b, "te0", "stat-stalls"));
	EXPECT_EQ(1, stat(&b, "te0", "stat-overflows"));
	board_stop(&b);
}

/*
 * Once disabled, an encoder sends its FIFO's remaining content within level x drain-ns + flush-ns.
 */
TEST_F(fifo, disabled_encoder_flushes_fifo)
{
	wr(&self->b, TE + CONTROL, ON);
	message(&self->b, 0);
	wr(&self->b, TE + CONTROL, OFF);
	message(&self->b, 1);
	EXPECT_EQ(12, rd(&self->b, TE + FIFO_LEVEL));
	step(&self->b, 12 * TICK + 1000 - 1);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & EMPTY);
	step(&self->b, 1);
	EXPECT_EQ(EMPTY, rd(&self->b, TE + CONTROL) & EMPTY);
	EXPECT_EQ(0, rd(&self->b, TE + FIFO_LEVEL));
	EXPECT_STREQ(ON_BYTES "1c 01 00 07 8c 00 0d 07", written(&self->b));
}

TEST_F(fifo, reset_empties_fifo)
{
	fill(&self->b, ON);
	message(&self->b, 40);
	wr(&self->b, TE + CONTROL, 0);
	EXPECT_EQ(0, rd(&self->b, TE + FIFO_LEVEL));
	EXPECT_EQ(1, rd(&self->b, TE + STIMULUS(0)));
	step(&self->b, 100 * TICK);
	EXPECT_EQ(0, stat(&self->b, "te0", "stat-sink-bytes"));
}

/*
 * When the encoder's own sink is full and stops, messages in the FIFO are dropped and counted.
 */
TEST_F(fifo, stop_on_wrap_drops_queued_messages)
{
	sink_window(&self->b, TE, BUFFER, 8, 4);
	fill(&self->b, ON | STOP_ON_WRAP);
	step(&self->b, 8 * TICK);
	EXPECT_EQ(EMPTY, rd(&self->b, TE + CONTROL) & (EMPTY | ENABLE));
	EXPECT_EQ(0, rd(&self->b, TE + FIFO_LEVEL));
	EXPECT_EQ(17, stat(&self->b, "te0", "stat-dropped"));
	EXPECT_EQ(2, stat(&self->b, "te0", "stat-messages"));
}

TEST_HARNESS_MAIN

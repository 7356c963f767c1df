// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests instruction trace of a hart that is not running: the first and last bytes of a trace in
 * each mode. program.sh tests everything else, with a running hart.
 */
#include "kselftest_harness.h"
#include "board.h"

#define ENCODER	"-device sifive-trace-encoder,id=te0,addr=0x11000000,sinks=sba,ts-type=bus"

#define MODE(n)	FIELD(TR_CONTROL_INSTRUCTION, n)
#define BTM	MODE(3)
#define HTM	MODE(6)
#define TS_BRANCHES	(1u << 16)	/* tsBranch 1 */
#define TRACE	(ACTIVE | ENABLE | TRACING)

/* The hart is at 0x1000, where it starts after a reset. */
#define ICT_ON		"8c 00 0b "
#define SYNC		"24 15 00 83 "	/* SYNC 5, ICNT 0, FADDR 0x800 */
#define END_BTM		"84 10 03 "	/* EVCODE 4, CDF 0, ICNT 0 */
#define END_HTM		"84 50 01 07 "	/* CDF 1, HIST 1 */
#define ICT_OFF		"8c 00 0f"

FIXTURE(instructions)
{
	struct board b;
};

FIXTURE_SETUP(instructions)
{
}

FIXTURE_TEARDOWN(instructions)
{
	board_stop(&self->b);
}

static void start(struct board *b, const char *args, uint32_t ts)
{
	board_start(b, args);
	setup_encoder(b, TE, ts);
	sink_window(b, TE, BUFFER, 4096, 4);
}

static const char *written(struct board *b)
{
	wr(b, TE + CONTROL, ACTIVE);
	step(b, FLUSH_NS);
	return memory(b, BUFFER, rd(b, TE + SINK_WP) - BUFFER);
}

TEST_F(instructions, branch_trace_ends_with_correlation)
{
	start(&self->b, ENCODER, 0);
	wr(&self->b, TE + CONTROL, TRACE | BTM);
	EXPECT_STREQ(ICT_ON SYNC END_BTM ICT_OFF " ff ff ff", written(&self->b));
	EXPECT_EQ(2, rd(&self->b, TE + BTM_COUNT));
	EXPECT_EQ(0, rd(&self->b, TE + WORD_COUNT));
}

TEST_F(instructions, history_trace_ends_with_history)
{
	start(&self->b, ENCODER, 0);
	wr(&self->b, TE + CONTROL, TRACE | HTM);
	EXPECT_STREQ(ICT_ON SYNC END_HTM ICT_OFF " ff ff", written(&self->b));
}

/* Setting and clearing teTracing begins and ends a trace. A change of mode begins a new trace. */
TEST_F(instructions, each_trace_begins_with_sync)
{
	start(&self->b, ENCODER, 0);
	wr(&self->b, TE + CONTROL, (TRACE & ~TRACING) | BTM);
	wr(&self->b, TE + CONTROL, TRACE | BTM);
	wr(&self->b, TE + CONTROL, (TRACE & ~TRACING) | BTM);
	wr(&self->b, TE + CONTROL, TRACE | BTM);
	wr(&self->b, TE + CONTROL, TRACE | HTM);
	EXPECT_STREQ(ICT_ON SYNC END_BTM ICT_OFF " " ICT_ON SYNC END_BTM SYNC END_HTM ICT_OFF
		     " ff ff",
		     written(&self->b));
}

/* Event trace messages are not documented, so the model sends none. */
TEST_F(instructions, event_trace_sends_no_instruction_messages)
{
	start(&self->b, ENCODER, 0);
	wr(&self->b, TE + CONTROL, TRACE | MODE(1));
	EXPECT_STREQ(ICT_ON ICT_OFF " ff ff", written(&self->b));
}

/* Sync has an absolute timestamp; tsBranch determines whether Correlation also has a timestamp. */
TEST_F(instructions, sync_timestamp_is_absolute)
{
	start(&self->b, ENCODER, TS_ENABLE | TS_COUNT);
	step(&self->b, 500);
	wr(&self->b, TE + CONTROL, TRACE | BTM);
	EXPECT_STREQ("8c 00 09 17 24 15 00 81 17 84 10 03 8c 00 0d 17",
		     (wr(&self->b, TE + CONTROL, ACTIVE | BTM), written(&self->b)));
	wr(&self->b, TE + CONTROL, 0);
	setup_encoder(&self->b, TE, TS_ENABLE | TS_COUNT | TS_BRANCHES);
	sink_window(&self->b, TE, BUFFER, 4096, 4);
	step(&self->b, 700);
	wr(&self->b, TE + CONTROL, TRACE | BTM);
	step(&self->b, 200);
	EXPECT_STREQ("8c 00 09 1f 24 15 00 81 1f 84 10 01 3b 8c 00 0d 27 ff ff ff",
		     written(&self->b));
}

/* No hart has number 7, so the encoder works but has nothing to trace. */
TEST_F(instructions, encoder_without_hart_traces_nothing)
{
	start(&self->b, ENCODER ",hart=7", 0);
	wr(&self->b, TE + CONTROL, TRACE | BTM);
	EXPECT_STREQ(ICT_ON ICT_OFF " ff ff", written(&self->b));
}

/* If the message that ends the trace does not fit, an Error with ECODE program reports the loss. */
TEST_F(instructions, lost_end_is_reported)
{
	unsigned int i;

	start(&self->b, ENCODER ",fifo-depth=76,drain-ns=100", 0);
	wr(&self->b, TE + CONTROL, TRACE | ITC | BTM);
	/* The FIFO contains 7 bytes; 17 messages of 4 bytes leave one byte free. */
	for (i = 0; i < 17; i++)
		wr(&self->b, TE + STIMULUS(0), 0x40);
	wr(&self->b, TE + CONTROL, ACTIVE);
	step(&self->b, 100000);
	/* ECODE 4 (program) and 0x20 (trace off). */
	EXPECT_STREQ("20 00 27 8c 00 0f", memory(&self->b, BUFFER + 75, 6));
	EXPECT_EQ(2, stat(&self->b, "te0", "stat-dropped"));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests funnels: they merge complete messages, drop messages while not enabled (the sender then
 * sets sinkError), send to other funnels, supply the time to their inputs, and stop when their sink
 * is full.
 */
#include "kselftest_harness.h"
#include "board.h"

#define TICK	100
#define FUNNEL0	"-device sifive-trace-funnel,id=tf0,addr=0x11018000," \
		"sinks=sba,ts-type=bus"
#define INPUTS(more) \
	" -device sifive-trace-encoder,id=te0,addr=0x11000000,sinks=funnel," \
	"funnel=tf0,ts-type=slave,src=0,src-bits=1" more \
	" -device sifive-trace-encoder,id=te1,addr=0x11001000,sinks=funnel," \
	"funnel=tf0,ts-type=slave,src=1,src-bits=1" more

FIXTURE(funnel)
{
	struct board b;
};

FIXTURE_SETUP(funnel)
{
}

FIXTURE_TEARDOWN(funnel)
{
	board_stop(&self->b);
}

static void start(struct board *b, const char *args)
{
	board_start(b, args);
	setup_funnel(b, TF);
	sink_window(b, TF, BUFFER, 4096, 4);
}

/* Stop as a driver does: disable the encoders, then the funnel, and wait for each flush. */
static const char *stop(struct board *b)
{
	wr(b, TE + CONTROL, OFF);
	wr(b, TE1 + CONTROL, OFF);
	step(b, FLUSH_NS);
	wr(b, TF + CONTROL, ACTIVE);
	step(b, FLUSH_NS);
	return memory(b, BUFFER, (rd(b, TF + SINK_WP) & ~WRAPPED) - BUFFER);
}

/* Both sources use the funnel's time, but each has its own previous timestamp. */
TEST_F(funnel, merges_messages_of_two_encoders)
{
	start(&self->b, FUNNEL0 INPUTS(""));
	wr(&self->b, TF + CONTROL, ACTIVE | ENABLE);
	setup_encoder(&self->b, TE, TS_ENABLE | TS_INSTR);
	setup_encoder(&self->b, TE1, TS_ENABLE | TS_INSTR);
	step(&self->b, 3 * TICK);
	wr(&self->b, TE + CONTROL, ON);
	step(&self->b, 2 * TICK);
	wr(&self->b, TE1 + CONTROL, ON);
	wr(&self->b, TE + STIMULUS(0), 1);
	wr(&self->b, TE1 + STIMULUS(1), 2);
	EXPECT_STREQ("8c 00 11 0f "		/* source 0, t = 3 */
		     "8c 04 11 17 "		/* source 1, t = 5 */
		     "1c 01 05 1b "		/* 3 ^ 5 */
		     "1c 25 09 03 "
		     "8c 00 19 17 "
		     "8c 04 19 17", stop(&self->b));
	EXPECT_EQ(3, stat(&self->b, "te0", "stat-messages"));
	EXPECT_EQ(12, stat(&self->b, "te1", "stat-bytes"));
	EXPECT_EQ(6, stat(&self->b, "tf0", "stat-messages"));
	EXPECT_EQ(24, stat(&self->b, "tf0", "stat-bytes"));
	EXPECT_EQ(0, stat(&self->b, "tf0", "stat-dropped"));
	EXPECT_EQ(0, stat(&self->b, "tf0", "stat-violations"));
	EXPECT_EQ(0, stat(&self->b, "te0", "stat-violations"));
}

/* Seen on a P550: sinkError is set in encoders that are enabled before the funnel. */
TEST_F(funnel, disabled_funnel_sets_error_in_sender)
{
	start(&self->b, FUNNEL0 INPUTS(""));
	setup_encoder(&self->b, TE, 0);
	setup_encoder(&self->b, TE1, 0);
	wr(&self->b, TE + CONTROL, ON & ~TRACING);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & SINK_ERROR);
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(SINK_ERROR | ENABLE,
		  rd(&self->b, TE + CONTROL) & (SINK_ERROR | ENABLE));
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(SINK_ERROR, rd(&self->b, TE + CONTROL) & SINK_ERROR);
	wr(&self->b, TE + CONTROL, ON | SINK_ERROR);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & SINK_ERROR);
	wr(&self->b, TE + STIMULUS(0), 1);
	EXPECT_EQ(SINK_ERROR, rd(&self->b, TE + CONTROL) & SINK_ERROR);
	EXPECT_EQ(0, rd(&self->b, TE1 + CONTROL) & SINK_ERROR);
	EXPECT_EQ(0, rd(&self->b, TF + CONTROL) & SINK_ERROR);
	EXPECT_EQ(2, stat(&self->b, "tf0", "stat-dropped"));
	EXPECT_EQ(0, stat(&self->b, "te0", "stat-dropped"));
	wr(&self->b, TF + CONTROL, 0);
	wr(&self->b, TE + STIMULUS(0), 1);
	EXPECT_EQ(3, stat(&self->b, "tf0", "stat-dropped"));
	EXPECT_STREQ("00 00 00 00", memory(&self->b, BUFFER, 4));

	wr(&self->b, TF + CONTROL, ACTIVE);
	sink_window(&self->b, TF, BUFFER, 4096, 4);
	wr(&self->b, TF + CONTROL, ACTIVE | ENABLE);
	wr(&self->b, TE + CONTROL, ON | SINK_ERROR);
	wr(&self->b, TE + STIMULUS(0), 1);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & SINK_ERROR);
}

TEST_F(funnel, sender_error_is_optional)
{
	start(&self->b, FUNNEL0 INPUTS(",sink-error-when-disabled=off"));
	setup_encoder(&self->b, TE, 0);
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & SINK_ERROR);
	EXPECT_EQ(1, stat(&self->b, "tf0", "stat-dropped"));
}

/* Disabling the funnel before the encoder is empty loses the last messages. */
TEST_F(funnel, disabling_before_encoder_is_empty_loses_messages)
{
	start(&self->b, FUNNEL0 INPUTS(",drain-ns=10"));
	wr(&self->b, TF + CONTROL, ACTIVE | ENABLE);
	setup_encoder(&self->b, TE, 0);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + CONTROL, OFF);
	wr(&self->b, TF + CONTROL, ACTIVE);
	step(&self->b, 10 * FLUSH_NS);
	EXPECT_EQ(2, stat(&self->b, "tf0", "stat-dropped"));
	EXPECT_EQ(BUFFER, rd(&self->b, TF + SINK_WP));
}

/* Messages from two FIFOs that drain simultaneously remain complete. */
TEST_F(funnel, messages_are_not_interleaved)
{
	unsigned int i;

	start(&self->b, FUNNEL0 INPUTS(",drain-ns=10"));
	wr(&self->b, TF + CONTROL, ACTIVE | ENABLE);
	setup_encoder(&self->b, TE, 0);
	setup_encoder(&self->b, TE1, 0);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE1 + CONTROL, ON);
	for (i = 0; i < 2; i++) {
		wr(&self->b, TE + STIMULUS(0), 0xfff);
		wr(&self->b, TE1 + STIMULUS(0), 0xfff);
		step(&self->b, 35);
	}
	step(&self->b, 100);
	EXPECT_STREQ("8c 00 13 8c 04 13 "
		     "1c 01 fc ff 1c 05 fc ff "
		     "1c 01 fc ff 1c 05 fc ff "
		     "8c 00 1b 8c 04 1b", stop(&self->b));
}

TEST_F(funnel, full_sink_disables_only_funnel)
{
	unsigned int i;

	start(&self->b, FUNNEL0 INPUTS(""));
	sink_window(&self->b, TF, BUFFER, 8, 4);
	wr(&self->b, TF + CONTROL, ACTIVE | ENABLE | STOP_ON_WRAP);
	setup_encoder(&self->b, TE, 0);
	wr(&self->b, TE + CONTROL, ON);
	for (i = 0; i < 2; i++)
		wr(&self->b, TE + STIMULUS(0), 0);
	EXPECT_EQ(ACTIVE | EMPTY, rd(&self->b, TF + CONTROL) & 0xf);
	/* Sending to a full sink is an error, but filling it is not. */
	EXPECT_EQ(ENABLE, rd(&self->b, TE + CONTROL) & (ENABLE | SINK_ERROR));
	for (i = 0; i < 2; i++)
		wr(&self->b, TE + STIMULUS(0), 0);
	EXPECT_EQ(ENABLE | SINK_ERROR,
		  rd(&self->b, TE + CONTROL) & (ENABLE | SINK_ERROR));
	EXPECT_EQ(BUFFER | WRAPPED, rd(&self->b, TF + SINK_WP));
	EXPECT_STREQ("8c 00 13 1c 01 03 1c 01 00 00",
		     memory(&self->b, BUFFER, 10));
	EXPECT_EQ(3, stat(&self->b, "tf0", "stat-dropped"));
	EXPECT_EQ(2, stat(&self->b, "tf0", "stat-messages"));
}

#define CHAIN \
	"-device sifive-trace-funnel,id=tf0,addr=0x11018000,sinks=sba,ts-type=bus " \
	"-device sifive-trace-funnel,id=tf1,addr=0x11019000,sinks=funnel+sram," \
	"sram-size=256,funnel=tf0,ts-type=slave,ts-width=8 " \
	"-device sifive-trace-encoder,id=te0,addr=0x11000000,sinks=funnel+sba," \
	"funnel=tf1,ts-type=slave "

/* A funnel that sends to another funnel receives the time from that funnel, truncated to 8 bits. */
TEST_F(funnel, funnel_feeds_another_funnel)
{
	start(&self->b, CHAIN);
	EXPECT_EQ(0x00000110, rd(&self->b, TF1 + IMPL));
	wr(&self->b, TF + CONTROL, ACTIVE | ENABLE);
	wr(&self->b, TF1 + CONTROL, ACTIVE);
	wr(&self->b, TF1 + CONTROL, ACTIVE | ENABLE);
	setup_encoder(&self->b, TE, TS_ENABLE);
	step(&self->b, 0x104 * TICK);
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(0x104, rd(&self->b, TF + TS_LOWER));
	EXPECT_EQ(0x04, rd(&self->b, TE + TS_LOWER));
	EXPECT_STREQ("8c 00 09 13", memory(&self->b, BUFFER, 4));
	EXPECT_EQ(1, stat(&self->b, "tf1", "stat-messages"));
	EXPECT_EQ(1, stat(&self->b, "tf0", "stat-messages"));

	/* First the middle funnel uses its own SRAM, then the encoder uses its own sink. */
	wr(&self->b, TF1 + CONTROL, ACTIVE | ENABLE | SINK(SRAM));
	wr(&self->b, TE + STIMULUS(0), 0x40);
	EXPECT_EQ(4, rd(&self->b, TF1 + SINK_WP));
	EXPECT_EQ(1, stat(&self->b, "tf0", "stat-messages"));
	wr(&self->b, TE + CONTROL, OFF);
	step(&self->b, FLUSH_NS);
	sink_window(&self->b, TE, BUFFER + 64, 64, 4);
	wr(&self->b, TE + CONTROL, ON | SINK(SBA));
	EXPECT_STREQ("8c 00 09", memory(&self->b, BUFFER + 64, 3));
	EXPECT_EQ(3, stat(&self->b, "tf1", "stat-messages"));
}

/* Only the component that sends directly to the disabled funnel sets the error bit. */
TEST_F(funnel, disabled_funnel_sets_error_in_upstream_funnel)
{
	start(&self->b, CHAIN);
	wr(&self->b, TF1 + CONTROL, ACTIVE);
	wr(&self->b, TF1 + CONTROL, ACTIVE | ENABLE);
	setup_encoder(&self->b, TE, 0);
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & SINK_ERROR);
	EXPECT_EQ(SINK_ERROR, rd(&self->b, TF1 + CONTROL) & SINK_ERROR);
	wr(&self->b, TF1 + CONTROL, ACTIVE | ENABLE | SINK_ERROR);
	EXPECT_EQ(0, rd(&self->b, TF1 + CONTROL) & SINK_ERROR);
}

/* A component connected to a funnel uses the funnel as its default sink. */
TEST_F(funnel, default_sink_is_downstream_funnel)
{
	start(&self->b, CHAIN);
	setup_encoder(&self->b, TE, 0);
	sink_window(&self->b, TE, BUFFER, 64, 4);
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(1, stat(&self->b, "tf1", "stat-dropped"));
	EXPECT_EQ(BUFFER, rd(&self->b, TE + SINK_WP));
}

/*
 * The registers of a component with a slave timestamp unit show the time if the hardware supports
 * reading it.
 */
TEST_F(funnel, slave_registers_show_funnel_time)
{
	start(&self->b, FUNNEL0
	      " -device sifive-trace-encoder,id=te0,addr=0x11000000,"
	      "sinks=funnel,funnel=tf0,ts-type=slave"
	      " -device sifive-trace-encoder,id=te1,addr=0x11001000,sinks=sba,"
	      "funnel=tf0,ts-type=slave,ts-reads=off");
	step(&self->b, 7 * TICK);
	EXPECT_EQ(0, rd(&self->b, TE + TS_LOWER));
	setup_encoder(&self->b, TE, TS_ENABLE);
	setup_encoder(&self->b, TE1, TS_ENABLE);
	EXPECT_EQ(7, rd(&self->b, TE + TS_LOWER));
	EXPECT_EQ(0, rd(&self->b, TE1 + TS_LOWER));
	/* The second encoder's messages still have the funnel's time. */
	sink_window(&self->b, TE1, BUFFER, 64, 4);
	wr(&self->b, TE1 + CONTROL, ON);
	EXPECT_STREQ("8c 00 09 1f", memory(&self->b, BUFFER, 4));
	/*
	 * The slave's time stops when the master's stops, and returns to 0 when the master is
	 * reset.
	 */
	wr(&self->b, TF + TS_CONTROL, TS_ACTIVE);
	step(&self->b, 7 * TICK);
	EXPECT_EQ(7, rd(&self->b, TE + TS_LOWER));
	wr(&self->b, TF + CONTROL, 0);
	EXPECT_EQ(0, rd(&self->b, TE + TS_LOWER));
}

TEST_HARNESS_MAIN

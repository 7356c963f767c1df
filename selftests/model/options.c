// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the model's options for differences between version 0 cores: each option must have exactly
 * the effect that its name describes.
 */
#include "kselftest_harness.h"
#include "board.h"

#define TICK		100
#define ENCODER(more) \
	"-device sifive-trace-encoder,id=te0,addr=0x11000000,sinks=sba," \
	"ts-type=bus,flush-ns=0" more
#define FUNNEL_AND(funnel, encoder) \
	"-device sifive-trace-funnel,id=tf0,addr=0x11018000,sinks=sba," \
	"ts-type=bus" funnel \
	" -device sifive-trace-encoder,id=te0,addr=0x11000000,sinks=funnel," \
	"funnel=tf0,ts-type=slave,src=0,src-bits=1,fifo-depth=76" encoder \
	" -device sifive-trace-encoder,id=te1,addr=0x11001000,sinks=funnel," \
	"funnel=tf0,ts-type=slave,src=1,src-bits=1,fifo-depth=76" encoder

FIXTURE(option)
{
	struct board b;
};

FIXTURE_SETUP(option)
{
}

FIXTURE_TEARDOWN(option)
{
	board_stop(&self->b);
}

static void start(struct board *b, const char *args)
{
	board_start(b, args);
	setup_encoder(b, TE, TS_ENABLE | TS_INSTR | TS_COUNT | TS_RESET);
	sink_window(b, TE, BUFFER, 4096, 4);
}

/* With a single sink, the sink field always reads 0, but the sink works. */
TEST_F(option, single_sink_field_reads_zero)
{
	start(&self->b, ENCODER(",single-sink=zero"));
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) >> 28);
	wr(&self->b, TE + CONTROL, ON | SINK(SBA));
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) >> 28);
	wr(&self->b, TE + STIMULUS(0), 0);
	EXPECT_EQ(BUFFER + 8, rd(&self->b, TE + SINK_WP));
}

TEST_F(option, single_sink_field_reads_its_kind)
{
	start(&self->b, ENCODER(""));
	EXPECT_EQ(SBA, rd(&self->b, TE + CONTROL) >> 28);
	wr(&self->b, TE + CONTROL, 0);
	EXPECT_EQ(SBA, rd(&self->b, TE + CONTROL) >> 28);
	wr(&self->b, TE + CONTROL, ACTIVE);
	wr(&self->b, TE + CONTROL, ACTIVE | SINK(SRAM));
	EXPECT_EQ(SBA, rd(&self->b, TE + CONTROL) >> 28);
}

TEST_F(option, one_of_several_sinks_is_selected)
{
	start(&self->b, "-device sifive-trace-encoder,id=te0,addr=0x11000000,"
	      "sinks=sba+sram,sram-size=256,single-sink=zero");
	wr(&self->b, TE + CONTROL, ACTIVE | SINK(SRAM));
	EXPECT_EQ(SRAM, rd(&self->b, TE + CONTROL) >> 28);
	wr(&self->b, TE + CONTROL, ACTIVE);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) >> 28);
}

/*
 * The sink writes to the address read back from its registers, not to the address written to them.
 */
TEST_F(option, narrow_high_address_is_truncated)
{
	start(&self->b, ENCODER(",sink-high-bits=2"));
	wr(&self->b, TE + SINK_BASE_HIGH, 0xffffffff);
	EXPECT_EQ(3, rd(&self->b, TE + SINK_BASE_HIGH));
	sink_window(&self->b, TE, BUFFER | 4ull << 32, 4096, 4);
	EXPECT_EQ(0, rd(&self->b, TE + SINK_BASE_HIGH));
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + STIMULUS(0), 0);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & SINK_ERROR);
	EXPECT_EQ(0x8c, rd8(&self->b, BUFFER));
}

TEST_F(option, missing_high_address_reads_zero)
{
	start(&self->b, ENCODER(",sink-high-bits=0"));
	wr(&self->b, TE + SINK_BASE_HIGH, 0xffffffff);
	EXPECT_EQ(0, rd(&self->b, TE + SINK_BASE_HIGH));
	EXPECT_EQ(0, stat(&self->b, "te0", "stat-violations"));
}

/* fifo.c tests the bit without this option: writing 1 does not set it. */
TEST_F(option, stall_or_overflow_is_writable)
{
	start(&self->b, ENCODER(",stall-or-overflow-rw=on"));
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & LOST);
	wr(&self->b, TE + CONTROL, ACTIVE | LOST);
	EXPECT_EQ(LOST, rd(&self->b, TE + CONTROL) & LOST);
	wr(&self->b, TE + CONTROL, ON | LOST);
	wr(&self->b, TE + STIMULUS(0), 0);
	EXPECT_EQ(LOST, rd(&self->b, TE + CONTROL) & LOST);
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & LOST);
}

TEST_F(option, sync_max_has_reset_value)
{
	start(&self->b, ENCODER(",sync-max-reset=on"));
	EXPECT_EQ(0xa3, rd(&self->b, TE + CONTROL) >> 16 & 0xff);
	wr(&self->b, TE + CONTROL, ACTIVE);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) >> 16 & 0xff);
	wr(&self->b, TE + CONTROL, 0);
	EXPECT_EQ(0xa3, rd(&self->b, TE + CONTROL) >> 16 & 0xff);
}

/* Reserved values are kept, as observed on a P550 while tracing. */
TEST_F(option, sync_max_keeps_reserved_values)
{
	unsigned int i;

	start(&self->b, ENCODER(""));
	for (i = 0; i < 256; i++) {
		wr(&self->b, TE + CONTROL, ACTIVE | i << 16);
		EXPECT_EQ(i, rd(&self->b, TE + CONTROL) >> 16 & 0xff);
	}
}

TEST_F(option, crossing_type_is_reported)
{
	start(&self->b, ENCODER(",crossing-type=3"));
	EXPECT_EQ(0x000c0080, rd(&self->b, TE + IMPL));
}

TEST_F(option, missing_prescaler_reads_zero)
{
	start(&self->b, ENCODER(",ts-prescale=off"));
	wr(&self->b, TE + TS_CONTROL,
	   TS_ACTIVE | TS_COUNT | TS_RESET | TS_PRESCALE(3));
	EXPECT_EQ(0, rd(&self->b, TE + TS_CONTROL) & TS_PRESCALE(3));
	step(&self->b, 100 * TICK);
	EXPECT_EQ(100, rd(&self->b, TE + TS_LOWER));
}

/* Messages have timestamps, but the time cannot be read from the registers. */
TEST_F(option, unreadable_time_reads_zero)
{
	start(&self->b, ENCODER(",ts-reads=off"));
	step(&self->b, 5 * TICK);
	EXPECT_EQ(0, rd(&self->b, TE + TS_LOWER));
	EXPECT_EQ(0, rd(&self->b, TE + TS_UPPER));
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_STREQ("8c 00 09 17", memory(&self->b, BUFFER, 4));
}

/* No message has a timestamp, though all enable bits read back as set. */
TEST_F(option, messages_can_omit_timestamps)
{
	uint32_t ts = TS_ENABLE | TS_INSTR | TS_OWNER;

	start(&self->b, ENCODER(",ts-in-messages=off"));
	wr(&self->b, TE + TS_CONTROL, TS_ACTIVE | TS_COUNT | ts);
	EXPECT_EQ(ts, rd(&self->b, TE + TS_CONTROL) & ts);
	step(&self->b, 5 * TICK);
	wr(&self->b, TE + CONTROL, ON | 3 << 7);
	wr(&self->b, TE + STIMULUS(0), 0);
	wr(&self->b, TE + STIMULUS(15), 0);
	EXPECT_STREQ("8c 00 0b 1c 01 03 08 03", memory(&self->b, BUFFER, 8));
	EXPECT_EQ(5, rd(&self->b, TE + TS_LOWER));
}

/* ---- a funnel with limited bandwidth -------------------------------------- */

static void start_funnel(struct board *b, const char *args)
{
	board_start(b, args);
	setup_funnel(b, TF);
	sink_window(b, TF, BUFFER, 4096, 4);
	wr(b, TF + CONTROL, ACTIVE | ENABLE);
	setup_encoder(b, TE, 0);
	setup_encoder(b, TE1, 0);
}

static void stores(struct board *b, uint64_t block, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		wr(b, block + STIMULUS(0), 0);	/* three bytes */
}

/* The FIFO drains at the funnel's rate, although the encoder itself has no limit. */
TEST_F(option, slow_funnel_fills_fifo)
{
	start_funnel(&self->b, FUNNEL_AND(",byte-ns=100", ""));
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(0, rd(&self->b, TE + FIFO_LEVEL));
	stores(&self->b, TE, 4);
	EXPECT_EQ(12, rd(&self->b, TE + FIFO_LEVEL));
	EXPECT_EQ(1, stat(&self->b, "te0", "stat-messages"));
	step(&self->b, 299);
	EXPECT_EQ(12, rd(&self->b, TE + FIFO_LEVEL));
	step(&self->b, 1);
	EXPECT_EQ(9, rd(&self->b, TE + FIFO_LEVEL));
	step(&self->b, 900);
	EXPECT_EQ(0, rd(&self->b, TE + FIFO_LEVEL));
	EXPECT_EQ(EMPTY, rd(&self->b, TE + CONTROL) & EMPTY);
	EXPECT_EQ(15, stat(&self->b, "tf0", "stat-bytes"));
}

/* The funnel sends messages from all inputs in the order in which they are completed. */
TEST_F(option, slow_funnel_is_shared_by_encoders)
{
	start_funnel(&self->b, FUNNEL_AND(",byte-ns=100", ""));
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE1 + CONTROL, ON);
	stores(&self->b, TE, 3);
	stores(&self->b, TE1, 2);
	EXPECT_EQ(1, stat(&self->b, "tf0", "stat-messages"));
	step(&self->b, 6 * 300);
	EXPECT_EQ(7, stat(&self->b, "tf0", "stat-messages"));
	EXPECT_STREQ("8c 00 13 8c 04 13 1c 01 03 1c 05 03 1c 01 03 1c 05 03 1c 01",
		     memory(&self->b, BUFFER, 20));
}

TEST_F(option, slow_funnel_makes_encoder_overflow)
{
	start_funnel(&self->b, FUNNEL_AND(",byte-ns=100", ""));
	wr(&self->b, TE + CONTROL, ON);
	stores(&self->b, TE, 25);
	EXPECT_EQ(0, rd(&self->b, TE + STIMULUS(0)));
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & LOST);
	stores(&self->b, TE, 2);
	EXPECT_EQ(LOST, rd(&self->b, TE + CONTROL) & LOST);
	EXPECT_EQ(2, stat(&self->b, "te0", "stat-dropped"));
	EXPECT_EQ(1, stat(&self->b, "te0", "stat-overflows"));
	step(&self->b, 100000);
	/* trace on, 25 messages, then Error and an absolute timestamp */
	EXPECT_EQ(28, stat(&self->b, "te0", "stat-messages"));
	EXPECT_EQ(1, rd(&self->b, TE + STIMULUS(0)));
}

TEST_F(option, slow_funnel_stalls_harts)
{
	start_funnel(&self->b, FUNNEL_AND(",byte-ns=100", ""));
	wr(&self->b, TE + CONTROL, ON | STALL);
	stores(&self->b, TE, 27);
	EXPECT_EQ(LOST, rd(&self->b, TE + CONTROL) & LOST);
	EXPECT_EQ(2, stat(&self->b, "te0", "stat-stalls"));
	EXPECT_EQ(0, stat(&self->b, "te0", "stat-dropped"));
	step(&self->b, 100000);
	EXPECT_EQ(28, stat(&self->b, "te0", "stat-messages"));
}

/* The FIFO is empty once the slow funnel has accepted everything, and nothing is lost. */
TEST_F(option, slow_funnel_delays_flush)
{
	start_funnel(&self->b, FUNNEL_AND(",byte-ns=100", ",flush-ns=0"));
	wr(&self->b, TE + CONTROL, ON);
	stores(&self->b, TE, 4);
	wr(&self->b, TE + CONTROL, OFF);
	step(&self->b, 15 * 100 - 1);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & EMPTY);
	step(&self->b, 1);
	EXPECT_EQ(EMPTY, rd(&self->b, TE + CONTROL) & EMPTY);
	EXPECT_EQ(6, stat(&self->b, "tf0", "stat-messages"));
}

/*
 * The slowest funnel in a chain determines the rate. A disabled funnel drops messages without
 * slowing the chain.
 */
TEST_F(option, slowest_funnel_in_chain_sets_rate)
{
	board_start(&self->b,
		    "-device sifive-trace-funnel,id=tf0,addr=0x11018000,sinks=sba,byte-ns=100 "
		    "-device sifive-trace-funnel,id=tf1,addr=0x11019000,sinks=funnel,funnel=tf0 "
		    "-device sifive-trace-encoder,id=te0,addr=0x11000000,sinks=funnel,funnel=tf1");
	wr(&self->b, TF + CONTROL, ACTIVE);
	sink_window(&self->b, TF, BUFFER, 4096, 4);
	wr(&self->b, TF + CONTROL, ACTIVE | ENABLE);
	wr(&self->b, TF1 + CONTROL, ACTIVE);
	wr(&self->b, TF1 + CONTROL, ACTIVE | ENABLE);
	setup_encoder(&self->b, TE, 0);
	wr(&self->b, TE + CONTROL, ON);
	stores(&self->b, TE, 2);
	EXPECT_EQ(6, rd(&self->b, TE + FIFO_LEVEL));
	step(&self->b, 600);
	EXPECT_EQ(0, rd(&self->b, TE + FIFO_LEVEL));
	wr(&self->b, TF + CONTROL, ACTIVE);
	stores(&self->b, TE, 2);
	EXPECT_EQ(0, rd(&self->b, TE + FIFO_LEVEL));
	EXPECT_EQ(2, stat(&self->b, "tf0", "stat-dropped"));
}

/* ---- 64-bit accesses ------------------------------------------------------- */

/* A 64-bit store is sent and counted as two 32-bit stores, the lower address first. */
TEST_F(option, wide_stores_are_split)
{
	start(&self->b, ENCODER(""));
	wr64(&self->b, TE + XTI_CONTROL, 0x1122334455667788ull);
	EXPECT_EQ(0x55667788, rd(&self->b, TE + XTI_CONTROL));
	EXPECT_EQ(0x11223344, rd(&self->b, TE + XTI_CONTROL + 4));
	EXPECT_EQ(0x1122334455667788ull, rd64(&self->b, TE + XTI_CONTROL));
	EXPECT_EQ(1, stat(&self->b, "te0", "stat-wide-stores"));
	EXPECT_EQ(1, stat(&self->b, "te0", "stat-wide-loads"));
	EXPECT_EQ(2, stat(&self->b, "te0", "stat-stores-trigger"));
	EXPECT_EQ(4, stat(&self->b, "te0", "stat-loads-trigger"));
	EXPECT_EQ(0, stat(&self->b, "te0", "stat-violations"));
}

TEST_F(option, wide_stimulus_store_is_two_messages)
{
	board_start(&self->b, ENCODER(""));
	setup_encoder(&self->b, TE, 0);
	sink_window(&self->b, TE, BUFFER, 4096, 4);
	wr(&self->b, TE + CONTROL, ON);
	wr64(&self->b, TE + STIMULUS(2), 0x0000000200000001ull);
	wr(&self->b, TE + STIMULUS(0), 0);
	EXPECT_STREQ("8c 00 0b 1c 21 07 1c 31 0b 1c 01 03",
		     memory(&self->b, BUFFER, 12));
}

TEST_F(option, wide_load_reads_lower_address_first)
{
	board_start(&self->b, "-device sifive-trace-encoder,id=te0,addr=0x11000000,"
		    "sinks=sram,sram-size=256,flush-ns=0");
	setup_encoder(&self->b, TE, 0);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + CONTROL, OFF);
	/* One 64-bit load reads RP and Data. */
	EXPECT_EQ(0x8c0b008c00000000ull, rd64(&self->b, TE + SINK_RP));
	EXPECT_EQ(4, rd(&self->b, TE + SINK_RP));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests that faults take effect when set, at the start or on the running machine, and can be
 * cleared; that an SBA sink that writes to its own component's registers does no harm; that
 * accesses are counted by register block; and that the counts are written to a file at exit.
 */
#include "kselftest_harness.h"
#include "board.h"

#define ENCODER(more) \
	"-device sifive-trace-encoder,id=te0,addr=0x11000000,sinks=sba,flush-ns=0" more

FIXTURE(fault)
{
	struct board b;
};

FIXTURE_SETUP(fault)
{
}

FIXTURE_TEARDOWN(fault)
{
	if (self->b.pid)
		board_stop(&self->b);
}

static void start(struct board *b, const char *args)
{
	board_start(b, args);
	setup_encoder(b, TE, 0);
	sink_window(b, TE, BUFFER, 64, 4);
}

TEST_F(fault, stuck_empty_bit_stays_clear)
{
	start(&self->b, ENCODER(",fault-empty-stuck=on"));
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + CONTROL, OFF);
	step(&self->b, 1000000);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & EMPTY);
	EXPECT_EQ(BUFFER + 8, rd(&self->b, TE + SINK_WP));
	set(&self->b, "te0", "fault-empty-stuck", "false");
	EXPECT_EQ(EMPTY, rd(&self->b, TE + CONTROL) & EMPTY);
	set(&self->b, "te0", "fault-empty-stuck", "true");
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & EMPTY);
}

TEST_F(fault, stuck_active_bit_stays_clear)
{
	board_start(&self->b, ENCODER(",fault-active-stuck=on"));
	wr(&self->b, TE + CONTROL, ACTIVE);
	EXPECT_EQ(SINK(SBA) | SLICE_FORMAT | EMPTY, rd(&self->b, TE + CONTROL));
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + SINK_BASE, BUFFER);
	EXPECT_EQ(SINK(SBA) | SLICE_FORMAT | EMPTY, rd(&self->b, TE + CONTROL));
	EXPECT_EQ(0, rd(&self->b, TE + SINK_BASE));
	set(&self->b, "te0", "fault-active-stuck", "false");
	wr(&self->b, TE + CONTROL, ACTIVE);
	EXPECT_EQ(ACTIVE, rd(&self->b, TE + CONTROL) & ACTIVE);
}

/*
 * With the fault, an enabled component remains enabled, but cannot be re-enabled once it is
 * disabled.
 */
TEST_F(fault, stuck_enable_bit_prevents_reenabling)
{
	start(&self->b, ENCODER(""));
	wr(&self->b, TE + CONTROL, ON);
	set(&self->b, "te0", "fault-enable-stuck", "true");
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(ENABLE, rd(&self->b, TE + CONTROL) & ENABLE);
	wr(&self->b, TE + CONTROL, OFF);
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(ACTIVE | TRACING, rd(&self->b, TE + CONTROL) & 7);
	wr(&self->b, TE + STIMULUS(0), 0x40);
	EXPECT_EQ(0, rd(&self->b, TE + WORD_COUNT));
	set(&self->b, "te0", "fault-enable-stuck", "false");
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(ENABLE, rd(&self->b, TE + CONTROL) & ENABLE);
}

/* Each component reset restarts the byte count. */
TEST_F(fault, bus_error_occurs_after_given_bytes)
{
	unsigned int i, pass;

	start(&self->b, ENCODER(",fault-bus-error-after=10"));
	for (pass = 0; pass < 2; pass++) {
		setup_encoder(&self->b, TE, 0);
		sink_window(&self->b, TE, BUFFER, 64, 4);
		wr(&self->b, TE + CONTROL, ON);
		for (i = 0; i < 2; i++)
			wr(&self->b, TE + STIMULUS(0), 0x40);
		EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & SINK_ERROR);
		EXPECT_EQ(BUFFER + 8, rd(&self->b, TE + SINK_WP));
		wr(&self->b, TE + STIMULUS(0), 0x40);
		EXPECT_EQ(SINK_ERROR, rd(&self->b, TE + CONTROL) & SINK_ERROR);
		EXPECT_EQ(BUFFER + 8, rd(&self->b, TE + SINK_WP));
	}
	set(&self->b, "te0", "fault-bus-error-after", "0");
	wr(&self->b, TE + CONTROL, ON | SINK_ERROR);
	wr(&self->b, TE + STIMULUS(0), 0x40);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & SINK_ERROR);
	EXPECT_EQ(BUFFER + 12, rd(&self->b, TE + SINK_WP));
}

TEST_F(fault, stuck_limit_ignores_low_bits)
{
	start(&self->b, ENCODER(",fault-limit-stuck=on"));
	wr(&self->b, TE + SINK_LIMIT, BUFFER + 0x1ffc);
	EXPECT_EQ(BUFFER + 0x1000, rd(&self->b, TE + SINK_LIMIT));
	set(&self->b, "te0", "fault-limit-stuck", "false");
	wr(&self->b, TE + SINK_LIMIT, BUFFER + 0x1ffc);
	EXPECT_EQ(BUFFER + 0x1ffc, rd(&self->b, TE + SINK_LIMIT));
}

/*
 * QEMU rejects DMA into the component's registers while an access to these registers is in
 * progress.
 */
TEST_F(fault, dma_into_own_registers_is_rejected)
{
	start(&self->b, ENCODER(""));
	sink_window(&self->b, TE, TE + STIMULUS(0), 64, 4);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + STIMULUS(0), 0x40);
	EXPECT_EQ(SINK_ERROR, rd(&self->b, TE + CONTROL) & SINK_ERROR);
	EXPECT_EQ(1, rd(&self->b, TE + WORD_COUNT));
}

/*
 * A FIFO drains while no access is in progress, so each word that it writes to the stimulus
 * registers becomes another store.
 */
TEST_F(fault, sink_feedback_does_not_overfill_fifo)
{
	unsigned int i;

	start(&self->b, ENCODER(",drain-ns=10,fifo-depth=76"));
	sink_window(&self->b, TE, TE + STIMULUS(0), 128, 4);
	wr(&self->b, TE + CONTROL, ON | STALL);
	for (i = 0; i < 30; i++)
		wr(&self->b, TE + STIMULUS(0), 0xffffffff);
	step(&self->b, 100000);
	EXPECT_LE(rd(&self->b, TE + FIFO_LEVEL), 76);
	wr(&self->b, TE + CONTROL, 0);
	EXPECT_EQ(SINK(SBA) | SLICE_FORMAT | EMPTY, rd(&self->b, TE + CONTROL));
}

TEST_F(fault, accesses_are_counted_by_block)
{
	static const struct { const char *name; unsigned int offset; } blocks[] = {
		{ "control", CONTROL }, { "sink", SINK_BASE },
		{ "count", WORD_COUNT }, { "timestamp", TS_LOWER },
		{ "trigger", 0x050 }, { "itc", ITC_TRACE },
		{ "stimulus", STIMULUS(31) }, { "sampling", 0x100 },
		{ "offchip", ATB_CONTROL }, { "other", 0x200 },
	};
	unsigned int i, k;
	char name[64];

	board_start(&self->b, "-device sifive-trace-encoder,id=te0,addr=0x11000000,sinks=atb+sba");
	for (i = 0; i < ARRAY_SIZE(blocks); i++) {
		for (k = 0; k < i + 1; k++)
			rd(&self->b, TE + blocks[i].offset);
		for (k = 0; k < i + 2; k++)
			wr(&self->b, TE + blocks[i].offset, 0);
	}
	system_reset(&self->b);
	for (i = 0; i < ARRAY_SIZE(blocks); i++) {
		sprintf(name, "stat-loads-%s", blocks[i].name);
		EXPECT_EQ(i + 1, stat(&self->b, "te0", name));
		sprintf(name, "stat-stores-%s", blocks[i].name);
		EXPECT_EQ(i + 2, stat(&self->b, "te0", name));
	}
}

TEST_F(fault, counts_are_written_at_exit)
{
	char path[] = "/tmp/sifive-trace-stats-XXXXXX", args[256], text[4096];
	FILE *f;

	close(mkstemp(path));
	snprintf(args, sizeof(args), ENCODER(",stats=%s"), path);
	start(&self->b, args);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + STIMULUS(0), 0x40);
	board_stop(&self->b);
	self->b.pid = 0;
	f = fopen(path, "r");
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	unlink(path);
	EXPECT_NE(NULL, strstr(text, "\"id\": \"te0\""));
	EXPECT_NE(NULL, strstr(text, "\"type\": \"sifive-trace-encoder\""));
	EXPECT_NE(NULL, strstr(text, "\"stat-stores-stimulus\": 1"));
	EXPECT_NE(NULL, strstr(text, "\"stat-stores-control\": 3"));
	EXPECT_NE(NULL, strstr(text, "\"stat-bytes\": 7"));
	EXPECT_NE(NULL, strstr(text, "\"stat-violations\": 0"));
}

TEST_HARNESS_MAIN

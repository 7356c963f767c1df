// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests a component's own sink: words of every width in memory and SRAM, the write pointer
 * and its wrapped bit, ring and stop on wrap, padding, the 4 GiB window, and words or messages that
 * the sink cannot accept.
 */
#include "kselftest_harness.h"
#include "board.h"

#define ENCODER "-device sifive-trace-encoder,id=te0,addr=0x11000000"

/*
 * Make a store, which sends "1c 01 xx 07". Before the store, trace on sends "8c 00 0b"; after the
 * store, trace off sends "8c 00 0f".
 */
static void message(struct board *b, unsigned int x)
{
	wr(b, TE + STIMULUS(0), 0x40 | x);
}

/*
 * Return the bytes of trace on, n messages and trace off, padded to words, in the hex format of
 * memory().
 */
static const char *stream(unsigned int n, unsigned int word, bool off)
{
	static char text[3 * 256 + 16];
	unsigned int i, len = 3;
	char *p = text;

	p += sprintf(p, "8c 00 0b ");
	for (i = 0; i < n; i++, len += 4)
		p += sprintf(p, "1c 01 %02x 07 ", i << 2);
	if (off) {
		p += sprintf(p, "8c 00 0f ");
		for (len += 3; len % word; len++)
			p += sprintf(p, "ff ");
	}
	p[-1] = 0;
	return text;
}

/* Return the part of a hex text that shows @n bytes, starting at byte @from. */
static const char *part(const char *text, unsigned int from, unsigned int n)
{
	static char cut[3 * 256];

	snprintf(cut, 3 * n, "%s", text + 3 * from);
	return cut;
}

FIXTURE(word)
{
	struct board b;
};

FIXTURE_VARIANT(word)
{
	unsigned int bytes;
};

FIXTURE_VARIANT_ADD(word, bytes4) { .bytes = 4 };
FIXTURE_VARIANT_ADD(word, bytes8) { .bytes = 8 };
FIXTURE_VARIANT_ADD(word, bytes16) { .bytes = 16 };
FIXTURE_VARIANT_ADD(word, bytes32) { .bytes = 32 };

FIXTURE_SETUP(word)
{
	char args[256];

	sprintf(args, ENCODER ",sinks=sba+sram,sram-size=256,flush-ns=0,sink-bytes=%u",
		variant->bytes);
	board_start(&self->b, args);
	setup_encoder(&self->b, TE, 0);
	memory_fill(&self->b, BUFFER - 64, 512, 0xaa);
}

FIXTURE_TEARDOWN(word)
{
	board_stop(&self->b);
}

TEST_F(word, registers_are_word_aligned)
{
	wr(&self->b, TE + SINK_BASE, 0xffffffff);
	wr(&self->b, TE + SINK_LIMIT, 0xffffffff);
	wr(&self->b, TE + SINK_WP, 0xffffffff);
	EXPECT_EQ(-variant->bytes, rd(&self->b, TE + SINK_BASE));
	EXPECT_EQ(-variant->bytes, rd(&self->b, TE + SINK_LIMIT));
	EXPECT_EQ(-variant->bytes | WRAPPED, rd(&self->b, TE + SINK_WP));
}

/* Once a sink has received a byte, a driver must not program it. */
TEST_F(word, programming_sink_with_data_is_violation)
{
	sink_window(&self->b, TE, BUFFER, 128, variant->bytes);
	wr(&self->b, TE + CONTROL, ON | SINK(SBA));
	EXPECT_EQ(0, stat(&self->b, "te0", "stat-violations"));
	message(&self->b, 0);
	wr(&self->b, TE + SINK_WP, BUFFER);
	EXPECT_EQ(1, stat(&self->b, "te0", "stat-violations"));
}

/* Bytes wait until their word is complete; disabling pads the last word with idle bytes. */
TEST_F(word, memory_receives_whole_words)
{
	unsigned int w = variant->bytes, n = w / 4, i;

	sink_window(&self->b, TE, BUFFER, 256, w);
	wr(&self->b, TE + CONTROL, ON);
	for (i = 0; i < n; i++) {
		EXPECT_EQ(BUFFER, rd(&self->b, TE + SINK_WP));
		EXPECT_EQ(0xaa, rd8(&self->b, BUFFER));
		EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & EMPTY);
		message(&self->b, i);
	}
	EXPECT_EQ(BUFFER + w, rd(&self->b, TE + SINK_WP));
	EXPECT_STREQ(part(stream(n, w, false), 0, w),
		     memory(&self->b, BUFFER, w));
	EXPECT_EQ(0xaa, rd8(&self->b, BUFFER + w));
	EXPECT_EQ(0xaa, rd8(&self->b, BUFFER - 1));

	wr(&self->b, TE + CONTROL, OFF);
	EXPECT_EQ(EMPTY, rd(&self->b, TE + CONTROL) & EMPTY);
	i = (3 + w + 3 + w - 1) / w * w;
	EXPECT_EQ(BUFFER + i, rd(&self->b, TE + SINK_WP));
	EXPECT_STREQ(stream(n, w, true), memory(&self->b, BUFFER, i));
	EXPECT_EQ(0xaa, rd8(&self->b, BUFFER + i));
	EXPECT_EQ(i, stat(&self->b, "te0", "stat-sink-bytes"));
}

/* After the word at the limit, WP is the base with the wrapped bit set, and the ring continues. */
TEST_F(word, ring_continues_at_base_after_limit)
{
	unsigned int w = variant->bytes, n = 3 * w / 4, i;
	const char *all;

	sink_window(&self->b, TE, BUFFER, 2 * w, w);
	wr(&self->b, TE + CONTROL, ON);
	for (i = 0; i < n; i++) {
		message(&self->b, i);
		if (3 + 4 * (i + 1) < 2 * w)
			EXPECT_EQ(0, rd(&self->b, TE + SINK_WP) & WRAPPED);
	}
	EXPECT_EQ((BUFFER + w) | WRAPPED, rd(&self->b, TE + SINK_WP));
	all = stream(n, w, false);
	EXPECT_STREQ(part(all, 2 * w, w), memory(&self->b, BUFFER, w));
	EXPECT_STREQ(part(all, w, w), memory(&self->b, BUFFER + w, w));
	EXPECT_EQ(0xaa, rd8(&self->b, BUFFER + 2 * w));
	EXPECT_EQ(0xaa, rd8(&self->b, BUFFER - 1));
	EXPECT_EQ(ENABLE, rd(&self->b, TE + CONTROL) & ENABLE);
}

/* The first wrap ends the trace, even in the middle of a message. */
TEST_F(word, stop_on_wrap_ends_trace)
{
	unsigned int w = variant->bytes, n = 2 * w / 4, i;
	uint32_t control;

	sink_window(&self->b, TE, BUFFER, 2 * w, w);
	wr(&self->b, TE + CONTROL, ON | STOP_ON_WRAP);
	for (i = 0; i < n; i++) {
		EXPECT_EQ(ENABLE, rd(&self->b, TE + CONTROL) & ENABLE);
		message(&self->b, i);
	}
	control = rd(&self->b, TE + CONTROL);
	EXPECT_EQ(0, control & ENABLE);
	EXPECT_EQ(TRACING | EMPTY, control & (TRACING | EMPTY | SINK_ERROR));
	EXPECT_EQ(BUFFER | WRAPPED, rd(&self->b, TE + SINK_WP));
	EXPECT_STREQ(part(stream(n, w, false), 0, 2 * w),
		     memory(&self->b, BUFFER, 2 * w));
	EXPECT_EQ(1, stat(&self->b, "te0", "stat-dropped"));
	EXPECT_EQ(n, stat(&self->b, "te0", "stat-messages"));

	message(&self->b, 0);
	wr(&self->b, TE + CONTROL, OFF | STOP_ON_WRAP);
	EXPECT_EQ(BUFFER | WRAPPED, rd(&self->b, TE + SINK_WP));
	EXPECT_EQ(0xaa, rd8(&self->b, BUFFER + 2 * w));
	EXPECT_EQ(2 * w, stat(&self->b, "te0", "stat-sink-bytes"));

	/* After a restart, the sink fills and stops again. */
	sink_window(&self->b, TE, BUFFER, 2 * w, w);
	wr(&self->b, TE + CONTROL, ON | STOP_ON_WRAP);
	EXPECT_EQ(ENABLE, rd(&self->b, TE + CONTROL) & ENABLE);
	for (i = 0; i < n; i++)
		message(&self->b, i);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & ENABLE);
	EXPECT_EQ(4 * w, stat(&self->b, "te0", "stat-sink-bytes"));
}

/* Writing ones to WP shows the size of the SRAM; RP and Data read its contents. */
TEST_F(word, sram_is_read_through_rp_and_data)
{
	unsigned int w = variant->bytes, i;
	char got[3 * 256], *p = got;

	wr(&self->b, TE + CONTROL, ACTIVE | SINK(SRAM));
	wr(&self->b, TE + SINK_WP, 0xffffffff);
	EXPECT_EQ(256, (rd(&self->b, TE + SINK_WP) & ~WRAPPED) + w);
	EXPECT_EQ(WRAPPED, rd(&self->b, TE + SINK_WP) & WRAPPED);
	wr(&self->b, TE + SINK_BASE, 0xffffffff);
	wr(&self->b, TE + SINK_BASE_HIGH, 0xffffffff);
	wr(&self->b, TE + SINK_LIMIT, 0);
	EXPECT_EQ(0, rd(&self->b, TE + SINK_BASE));
	EXPECT_EQ(0, rd(&self->b, TE + SINK_BASE_HIGH));
	EXPECT_EQ(256 - w, rd(&self->b, TE + SINK_LIMIT));

	wr(&self->b, TE + SINK_WP, 0);
	wr(&self->b, TE + CONTROL, ON | SINK(SRAM));
	for (i = 0; i < 8; i++)
		message(&self->b, i);
	wr(&self->b, TE + CONTROL, OFF | SINK(SRAM));
	EXPECT_EQ((38 + w - 1) / w * w, rd(&self->b, TE + SINK_WP));
	wr(&self->b, TE + SINK_RP, 0);
	for (i = 0; i < 38; i += 4) {
		uint32_t data = rd(&self->b, TE + SINK_DATA);

		p += sprintf(p, "%02x %02x %02x %02x ", data & 0xff,
			     data >> 8 & 0xff, data >> 16 & 0xff, data >> 24);
		EXPECT_EQ(i + 4, rd(&self->b, TE + SINK_RP));
	}
	got[3 * 40 - 1] = 0;
	EXPECT_STREQ(part(stream(8, 8, true), 0, 40), got);
	EXPECT_EQ(0xaa, rd8(&self->b, BUFFER));
	EXPECT_EQ(0, stat(&self->b, "te0", "stat-violations"));
}

TEST_F(word, sram_wraps_and_stops)
{
	unsigned int i;

	wr(&self->b, TE + CONTROL, ON | SINK(SRAM));
	for (i = 0; i < 64; i++)
		message(&self->b, i);
	EXPECT_EQ(WRAPPED, rd(&self->b, TE + SINK_WP));
	wr(&self->b, TE + CONTROL, OFF | SINK(SRAM));
	wr(&self->b, TE + SINK_WP, 0);
	wr(&self->b, TE + CONTROL, ON | SINK(SRAM) | STOP_ON_WRAP);
	for (i = 0; i < 64; i++)
		message(&self->b, i);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & ENABLE);
	EXPECT_EQ(WRAPPED, rd(&self->b, TE + SINK_WP));
	/* RP wraps at the end of the SRAM. */
	wr(&self->b, TE + SINK_RP, 252);
	rd(&self->b, TE + SINK_DATA);
	EXPECT_EQ(0, rd(&self->b, TE + SINK_RP));
	EXPECT_EQ(0x1c0b008c, rd(&self->b, TE + SINK_DATA));
}

FIXTURE(sink)
{
	struct board b;
};

FIXTURE_SETUP(sink)
{
}

FIXTURE_TEARDOWN(sink)
{
	board_stop(&self->b);
}

static void start(struct board *b, const char *args)
{
	board_start(b, args);
	setup_encoder(b, TE, 0);
}

/* SRAM with a window: only addresses inside the window are written. */
TEST_F(sink, sram_window_limits_writes)
{
	unsigned int i;

	start(&self->b, ENCODER ",sinks=sram,sram-size=256,sram-fixed=off");
	wr(&self->b, TE + SINK_BASE, 0xffffffff);
	EXPECT_EQ(0xfc, rd(&self->b, TE + SINK_BASE));
	sink_window(&self->b, TE, 16, 8, 4);
	EXPECT_EQ(16, rd(&self->b, TE + SINK_BASE));
	EXPECT_EQ(20, rd(&self->b, TE + SINK_LIMIT));
	wr(&self->b, TE + CONTROL, ON | STOP_ON_WRAP);
	for (i = 0; i < 4; i++)
		message(&self->b, i);
	EXPECT_EQ(16 | WRAPPED, rd(&self->b, TE + SINK_WP));
	wr(&self->b, TE + SINK_RP, 12);
	EXPECT_EQ(0, rd(&self->b, TE + SINK_DATA));
	EXPECT_EQ(0x1c0b008c, rd(&self->b, TE + SINK_DATA));
	EXPECT_EQ(0x1c070001, rd(&self->b, TE + SINK_DATA));
	EXPECT_EQ(0, rd(&self->b, TE + SINK_DATA));
}

/* After software has set WP, the component writes at that address and keeps the wrapped bit. */
TEST_F(sink, write_pointer_is_used_as_written)
{
	start(&self->b, ENCODER ",sinks=sba");
	sink_window(&self->b, TE, BUFFER, 64, 4);
	wr(&self->b, TE + SINK_WP, (BUFFER + 32) | WRAPPED);
	wr(&self->b, TE + CONTROL, ON);
	message(&self->b, 1);
	EXPECT_EQ((BUFFER + 36) | WRAPPED, rd(&self->b, TE + SINK_WP));
	EXPECT_STREQ("8c 00 0b 1c", memory(&self->b, BUFFER + 32, 4));
	EXPECT_STREQ("00 00 00 00", memory(&self->b, BUFFER, 4));
}

/* The last word is written to memory, and empty is set, only after flush-ns. */
TEST_F(sink, flush_takes_time)
{
	start(&self->b, ENCODER ",sinks=sba,flush-ns=5000");
	sink_window(&self->b, TE, BUFFER, 64, 4);
	EXPECT_EQ(EMPTY, rd(&self->b, TE + CONTROL) & EMPTY);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + CONTROL, OFF);
	/* Trace on and off take six bytes: one word is written, two bytes are pending. */
	step(&self->b, 4999);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & EMPTY);
	EXPECT_EQ(BUFFER + 4, rd(&self->b, TE + SINK_WP));
	step(&self->b, 1);
	EXPECT_EQ(EMPTY, rd(&self->b, TE + CONTROL) & EMPTY);
	EXPECT_EQ(BUFFER + 8, rd(&self->b, TE + SINK_WP));
	EXPECT_STREQ("8c 00 0b 8c 00 0f ff ff", memory(&self->b, BUFFER, 8));
	EXPECT_EQ(0, stat(&self->b, "te0", "stat-violations"));
}

/* A reset discards unflushed bytes. */
TEST_F(sink, reset_discards_unflushed_bytes)
{
	start(&self->b, ENCODER ",sinks=sba");
	sink_window(&self->b, TE, BUFFER, 64, 4);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + CONTROL, OFF);
	wr(&self->b, TE + CONTROL, 0);
	step(&self->b, FLUSH_NS);
	EXPECT_EQ(SINK(SBA) | SLICE_FORMAT | EMPTY, rd(&self->b, TE + CONTROL));
	EXPECT_EQ(4, stat(&self->b, "te0", "stat-sink-bytes"));
}

/* If an encoder is re-enabled during a flush, the new trace contains the end of the old trace. */
TEST_F(sink, reenabling_during_flush_keeps_old_data)
{
	start(&self->b, ENCODER ",sinks=sba");
	sink_window(&self->b, TE, BUFFER, 64, 4);
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + CONTROL, OFF);
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(1, stat(&self->b, "te0", "stat-violations"));
	EXPECT_STREQ("8c 00 0b 8c 00 0f ff ff", memory(&self->b, BUFFER, 8));
}

/* Base, limit and WP share one high half, into which WP does not carry. */
TEST_F(sink, write_pointer_does_not_carry_into_high_half)
{
	unsigned int i;

	start(&self->b, ENCODER ",sinks=sba,flush-ns=0 -m 2049M");
	sink_window(&self->b, TE, 0x100000000ull, 8, 4);
	EXPECT_EQ(1, rd(&self->b, TE + SINK_BASE_HIGH));
	EXPECT_EQ(0, rd(&self->b, TE + SINK_BASE));
	wr(&self->b, TE + CONTROL, ON);
	wr(&self->b, TE + CONTROL, OFF);
	EXPECT_EQ(WRAPPED, rd(&self->b, TE + SINK_WP));
	EXPECT_STREQ("8c 00 0b 8c 00 0f ff ff",
		     memory(&self->b, 0x100000000ull, 8));

	memory_fill(&self->b, 0x100000000ull, 8, 0xaa);
	sink_window(&self->b, TE, 0xfffffff8, 0x100, 4);
	wr(&self->b, TE + CONTROL, ON);
	for (i = 0; i < 2; i++)
		message(&self->b, i);
	EXPECT_EQ(0, rd(&self->b, TE + SINK_WP));
	EXPECT_STREQ("8c 00 0b 1c 01 00 07 1c aa aa",
		     memory(&self->b, 0xfffffff8, 10));
	/* The next word would go to address 0, where there is no memory. */
	message(&self->b, 2);
	EXPECT_EQ(SINK_ERROR, rd(&self->b, TE + CONTROL) & SINK_ERROR);
	EXPECT_EQ(0xaa, rd8(&self->b, 0x100000000ull));
}

/*
 * After a bus error, sinkError is set, WP does not advance, and the encoder continues; writing 1
 * to sinkError clears it.
 */
TEST_F(sink, bus_error_sets_error_and_encoder_continues)
{
	start(&self->b, ENCODER ",sinks=sba,flush-ns=0");
	sink_window(&self->b, TE, 0x1000000000ull, 64, 4);
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & SINK_ERROR);
	message(&self->b, 0);
	EXPECT_EQ(SINK_ERROR | ENABLE,
		  rd(&self->b, TE + CONTROL) & (SINK_ERROR | ENABLE));
	EXPECT_EQ(0, rd(&self->b, TE + SINK_WP));
	EXPECT_EQ(1, stat(&self->b, "te0", "stat-dropped"));
	wr(&self->b, TE + CONTROL, ON);
	EXPECT_EQ(SINK_ERROR, rd(&self->b, TE + CONTROL) & SINK_ERROR);
	wr(&self->b, TE + CONTROL, ON | SINK_ERROR);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & SINK_ERROR);
}

TEST_F(sink, bus_error_can_disable_encoder)
{
	start(&self->b, ENCODER ",sinks=sba,bus-error-disables=on");
	sink_window(&self->b, TE, 0x1000000000ull, 64, 4);
	wr(&self->b, TE + CONTROL, ON);
	message(&self->b, 0);
	EXPECT_EQ(SINK_ERROR | EMPTY,
		  rd(&self->b, TE + CONTROL) & (SINK_ERROR | ENABLE | EMPTY));
}

/* Sending to a disabled off-chip sink is an error; an enabled sink accepts everything. */
TEST_F(sink, sending_to_disabled_off_chip_sink_is_error)
{
	static const struct { unsigned int kind, control; } sinks[] = {
		{ ATB, ATB_CONTROL }, { PIB, PIB_CONTROL },
	};
	unsigned int i;

	start(&self->b, ENCODER ",sinks=atb+pib,flush-ns=0");
	for (i = 0; i < 2; i++) {
		uint32_t on = ON | SINK(sinks[i].kind);

		setup_encoder(&self->b, TE, 0);
		wr(&self->b, TE + CONTROL, on);
		EXPECT_EQ(SINK_ERROR, rd(&self->b, TE + CONTROL) & SINK_ERROR);
		wr(&self->b, TE + CONTROL, on | SINK_ERROR);
		wr(&self->b, TE + sinks[i].control, 3);
		message(&self->b, 0);
		EXPECT_EQ(0, rd(&self->b, TE + CONTROL) & SINK_ERROR);
		EXPECT_EQ(i + 1, stat(&self->b, "te0", "stat-messages"));
		EXPECT_EQ(i + 1, stat(&self->b, "te0", "stat-dropped"));
	}
}

/* If both SBA and SRAM exist, SBA is the default. */
TEST_F(sink, default_sink_is_sba)
{
	start(&self->b, ENCODER ",sinks=sram+sba,sram-size=256");
	sink_window(&self->b, TE, BUFFER, 64, 4);
	wr(&self->b, TE + CONTROL, ON);
	message(&self->b, 1);
	EXPECT_EQ(0, rd(&self->b, TE + CONTROL) >> 28);
	EXPECT_STREQ("8c 00 0b 1c", memory(&self->b, BUFFER, 4));
}

TEST_HARNESS_MAIN

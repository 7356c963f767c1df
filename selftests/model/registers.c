// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests that the register blocks match the hardware description (reset value and writable bits of
 * every register, no other registers); that an inactive component ignores all bits except active;
 * that fields accept only legal values; and that invalid command-line options are refused.
 */
#include "kselftest_harness.h"
#include "board.h"

/* Components with all features; the encoder's selected sink is the funnel. */
#define ALL	",sinks=sram+sba+atb+pib+funnel,sram-size=4096,sink-bytes=8,funnel=tf0"
#define BOARD	"-device sifive-trace-funnel,id=tf0,addr=0x11018000,sinks=sba,ts-type=bus " \
		"-device sifive-trace-funnel,id=tf1,addr=0x11019000,ts-type=bus" ALL " " \
		"-device sifive-trace-encoder,id=te0,addr=0x11000000,hart=0x25,src=5," \
		"src-bits=3,ts-type=bus" ALL

struct reg {
	unsigned int offset;
	uint32_t reset;		/* inactive */
	uint32_t active;	/* after only active has been written */
	uint32_t ones;		/* after all ones have also been written */
};

/*
 * The list omits registers that change when the whole block is read. It also omits control and
 * tsControl, because writes to these registers have side effects.
 */
static const struct reg encoder[] = {
	{ IMPL,		  0x535101f0, 0x535101f0, 0x535101f0 },
	{ IMPL_EXTRA,	  0, 0, 0 },
	{ EVENT_CONTROL,  0, 0, 0xffffffff },
	{ SINK_BASE,	  0, 0, 0xfffffff8 },
	{ SINK_BASE_HIGH, 0, 0, 0xffffffff },
	{ SINK_LIMIT,	  0, 0, 0xfffffff8 },
	{ SINK_WP,	  0, 0, 0xfffffff9 },
	{ SINK_RP,	  0, 0, 0x00000ffc },
	{ FIFO_LEVEL,	  0, 0, 0 },
	{ BTM_COUNT,	  0, 0, 0 },
	{ WORD_COUNT,	  0, 0, 0 },
	{ TS_LOWER,	  0, 0, 0 },
	{ TS_UPPER,	  0, 0, 0 },
	{ 0x050,	  0, 0, 0xffffffff },
	{ 0x054,	  0, 0, 0xffffffff },
	{ 0x058,	  0, 0, 0xffffffff },
	{ ITC_TRACE,	  0, 0, 0xffffffff },
	{ ITC_TRIG,	  0, 0, 0xffffffff },
	{ ATB_CONTROL,	  0, 0, 0xffffffff },
	{ PIB_CONTROL,	  0, 0, 0xffffffff },
};

static const struct reg funnel[] = {
	{ IMPL,		  0x000101f0, 0x000101f0, 0x000101f0 },
	{ SINK_BASE,	  0, 0, 0xfffffff8 },
	{ SINK_BASE_HIGH, 0, 0, 0xffffffff },
	{ SINK_LIMIT,	  0, 0, 0xfffffff8 },
	{ SINK_WP,	  0, 0, 0xfffffff9 },
	{ SINK_RP,	  0, 0, 0x00000ffc },
	{ TS_LOWER,	  0, 0, 0 },
	{ TS_UPPER,	  0, 0, 0 },
	{ ATB_CONTROL,	  0, 0, 0xffffffff },
	{ PIB_CONTROL,	  0, 0, 0xffffffff },
};

FIXTURE(block)
{
	struct board b;
};

FIXTURE_VARIANT(block)
{
	uint64_t at;
	const char *id;
	const struct reg *regs;
	unsigned int count;
	uint32_t control;	/* reset value */
	uint32_t control_ones;	/* all but active, enable and sink */
	uint32_t ts_ones;	/* tsControl */
	uint32_t stimulus;
};

FIXTURE_VARIANT_ADD(block, encoder)
{
	.at = TE, .id = "te0", .regs = encoder, .count = ARRAY_SIZE(encoder),
	.control = 0x01000008, .control_ones = 0x01ffe1fc,
	.ts_ones = 0x280f832b, .stimulus = 1,
};

FIXTURE_VARIANT_ADD(block, funnel)
{
	.at = TF1, .id = "tf1", .regs = funnel, .count = ARRAY_SIZE(funnel),
	.control = 0x00000008, .control_ones = 0x00004008,
	.ts_ones = 0x28000323, .stimulus = 0,
};

FIXTURE_SETUP(block)
{
	board_start(&self->b, BOARD);
}

FIXTURE_TEARDOWN(block)
{
	board_stop(&self->b);
}

static const struct reg *lookup(const FIXTURE_VARIANT(block) *v, unsigned int at)
{
	unsigned int i;

	for (i = 0; i < v->count; i++)
		if (v->regs[i].offset == at)
			return &v->regs[i];
	return NULL;
}

/* Return the number of registers that differ from their reset value. */
static unsigned int not_reset(struct board *b, const FIXTURE_VARIANT(block) *v)
{
	unsigned int at, wrong = 0;

	for (at = 0; at < 0x1000; at += 4) {
		const struct reg *r = lookup(v, at);
		uint32_t want = r ? r->reset : 0;
		uint32_t got = rd(b, v->at + at);

		if (at == CONTROL)
			want = v->control;
		if (at == TS_CONTROL)
			want = 0x28000020;
		if (at >= STIMULUS(0) && at <= STIMULUS(31))
			want = v->stimulus;
		if (got != want) {
			printf("# 0x%03x: 0x%08x, not 0x%08x\n", at, got, want);
			wrong++;
		}
	}
	return wrong;
}

TEST_F(block, reset_values_are_correct)
{
	EXPECT_EQ(0, not_reset(&self->b, variant));
}

TEST_F(block, inactive_component_accepts_only_active)
{
	unsigned int at;

	for (at = 4; at < 0x1000; at += 4)
		wr(&self->b, variant->at + at, 0xffffffff);
	wr(&self->b, variant->at + CONTROL, 0xfffffffe);
	EXPECT_EQ(0, not_reset(&self->b, variant));
	EXPECT_NE(0, stat(&self->b, variant->id, "stat-violations"));

	wr(&self->b, variant->at + CONTROL, 0xffffffff);
	EXPECT_EQ(variant->control | ACTIVE, rd(&self->b, variant->at + CONTROL));
}

/* SiFive's library reads the register, and writes the value back with active set. */
TEST_F(block, fields_written_back_with_active_are_allowed)
{
	uint64_t control = variant->at + CONTROL;

	wr(&self->b, control, 0);
	wr(&self->b, control, rd(&self->b, control) | ACTIVE);
	EXPECT_EQ(variant->control | ACTIVE, rd(&self->b, control));
	EXPECT_EQ(0, stat(&self->b, variant->id, "stat-violations"));
	wr(&self->b, control, 0);
	wr(&self->b, control, ACTIVE | ENABLE);
	EXPECT_EQ(1, stat(&self->b, variant->id, "stat-violations"));
}

TEST_F(block, only_writable_bits_change)
{
	unsigned int i;

	wr(&self->b, variant->at + CONTROL, ACTIVE);
	for (i = 0; i < variant->count; i++) {
		const struct reg *r = &variant->regs[i];
		uint64_t at = variant->at + r->offset;

		EXPECT_EQ(r->active, rd(&self->b, at))
			TH_LOG("register 0x%03x", r->offset);
		wr(&self->b, at, 0xffffffff);
		EXPECT_EQ(r->ones, rd(&self->b, at))
			TH_LOG("register 0x%03x", r->offset);
		wr(&self->b, at, 0);
		EXPECT_EQ(r->offset == IMPL ? r->reset : 0, rd(&self->b, at))
			TH_LOG("register 0x%03x", r->offset);
		wr(&self->b, at, 0xffffffff);
	}
	EXPECT_EQ(0, stat(&self->b, variant->id, "stat-violations"));
}

TEST_F(block, deactivation_resets_all_registers)
{
	unsigned int i;

	wr(&self->b, variant->at + CONTROL, ACTIVE);
	for (i = 0; i < variant->count; i++)
		wr(&self->b, variant->at + variant->regs[i].offset, 0xffffffff);
	wr(&self->b, variant->at + TS_CONTROL, TS_ACTIVE);
	wr(&self->b, variant->at + TS_CONTROL, 0xffffffff);
	wr(&self->b, variant->at + CONTROL, 0x7fff4001);
	step(&self->b, 100000);
	EXPECT_NE(0, rd(&self->b, variant->at + TS_LOWER));
	wr(&self->b, variant->at + CONTROL, 0);
	EXPECT_EQ(0, not_reset(&self->b, variant));
}

TEST_F(block, machine_reset_resets_all_registers)
{
	wr(&self->b, variant->at + CONTROL, ACTIVE);
	wr(&self->b, variant->at + SINK_BASE, 0x80000000);
	system_reset(&self->b);
	EXPECT_EQ(0, not_reset(&self->b, variant));
}

TEST_F(block, control_fields_read_back)
{
	uint64_t control = variant->at + CONTROL;

	wr(&self->b, control, ACTIVE);
	EXPECT_EQ(variant->control | ACTIVE, rd(&self->b, control));
	/* 15 is not a sink, so the sink field does not change. All other writable bits are set. */
	wr(&self->b, control, 0xffffffff & ~ENABLE);
	EXPECT_EQ(variant->control_ones | ACTIVE, rd(&self->b, control));
	wr(&self->b, control, ACTIVE);
	EXPECT_EQ(variant->control | ACTIVE, rd(&self->b, control));
	EXPECT_EQ(0, stat(&self->b, variant->id, "stat-violations"));
}

TEST_F(block, sink_field_accepts_only_existing_sinks)
{
	uint64_t control = variant->at + CONTROL;
	unsigned int kind;

	wr(&self->b, control, ACTIVE);
	for (kind = 0; kind < 16; kind++) {
		bool legal = !kind || (kind >= SRAM && kind <= FUNNEL);

		wr(&self->b, control, ACTIVE | SINK(SBA));
		wr(&self->b, control, ACTIVE | SINK(kind));
		EXPECT_EQ(legal ? kind : SBA, rd(&self->b, control) >> 28);
	}
}

TEST_F(block, timestamp_control_resets_when_inactive)
{
	uint64_t ts = variant->at + TS_CONTROL;

	wr(&self->b, ts, TS_ACTIVE);
	EXPECT_EQ(0x28000020, rd(&self->b, ts));
	wr(&self->b, variant->at + CONTROL, ACTIVE);
	wr(&self->b, ts, 0xfffffffe);
	EXPECT_EQ(0x28000020, rd(&self->b, ts));
	wr(&self->b, ts, 0xffffffff);
	EXPECT_EQ(0x28000021, rd(&self->b, ts));
	wr(&self->b, ts, 0xffffffff);
	EXPECT_EQ(variant->ts_ones, rd(&self->b, ts));
	wr(&self->b, ts, TS_ACTIVE);
	EXPECT_EQ(0x28000021, rd(&self->b, ts));
	wr(&self->b, ts, 0);
	EXPECT_EQ(0x28000020, rd(&self->b, ts));
}

TEST_F(block, narrow_stores_are_ignored_as_violations)
{
	uint64_t base = variant->at + SINK_BASE;

	wr(&self->b, variant->at + CONTROL, ACTIVE);
	wr(&self->b, base, 0x81234568);
	wr8(&self->b, base, 0xff);
	wr16(&self->b, base + 2, 0xffff);
	EXPECT_EQ(0x81234568, rd(&self->b, base));
	EXPECT_EQ(2, stat(&self->b, variant->id, "stat-violations"));
	EXPECT_EQ(0x8123, rd16(&self->b, base + 2));
	EXPECT_EQ(0x45, rd8(&self->b, base + 1));
}

TEST_F(block, sink_access_is_violation_only_while_written)
{
	wr(&self->b, variant->at + CONTROL, ACTIVE);
	wr(&self->b, variant->at + CONTROL, ACTIVE | ENABLE | SINK(SRAM));
	wr(&self->b, variant->at + SINK_WP, 0);
	rd(&self->b, variant->at + SINK_DATA);
	EXPECT_EQ(0, stat(&self->b, variant->id, "stat-violations"));
	wr(&self->b, variant->at + CONTROL, ACTIVE | SINK(SRAM));
	rd(&self->b, variant->at + SINK_DATA);
	EXPECT_EQ(1, stat(&self->b, variant->id, "stat-violations"));
	step(&self->b, FLUSH_NS);
	rd(&self->b, variant->at + SINK_DATA);
	EXPECT_EQ(1, stat(&self->b, variant->id, "stat-violations"));
}

FIXTURE(plain)
{
	struct board b;
};

FIXTURE_SETUP(plain)
{
}

FIXTURE_TEARDOWN(plain)
{
	if (self->b.pid)
		board_stop(&self->b);
}

/* teInstruction accepts 0, 1, 6, 7 and, with BTM, 3; other values leave it unchanged. */
static void instruction_field(struct __test_metadata *_metadata, struct board *b,
			      const uint8_t *got)
{
	unsigned int i;

	wr(b, TE + CONTROL, ACTIVE);
	for (i = 0; i < 8; i++) {
		wr(b, TE + CONTROL, ACTIVE | 7 << 4);
		wr(b, TE + CONTROL, ACTIVE | i << 4);
		EXPECT_EQ(got[i], rd(b, TE + CONTROL) >> 4 & 7);
	}
}

TEST_F(plain, instruction_field_accepts_supported_modes)
{
	static const uint8_t got[8] = { 0, 1, 7, 3, 7, 7, 6, 7 };

	board_start(&self->b, BOARD);
	instruction_field(_metadata, &self->b, got);
}

TEST_F(plain, instruction_field_rejects_mode_3_without_btm)
{
	static const uint8_t got[8] = { 0, 1, 7, 7, 7, 7, 6, 7 };

	board_start(&self->b, BOARD ",btm=off");
	instruction_field(_metadata, &self->b, got);
}

/* A component without its own sinks has no sink registers, and can select only the funnel. */
TEST_F(plain, component_has_only_its_sinks)
{
	board_start(&self->b,
		    "-device sifive-trace-funnel,id=tf0,addr=0x11018000,sinks=sram,sram-size=1024,sink-bytes=32 "
		    "-device sifive-trace-encoder,id=te0,addr=0x11000000,sinks=funnel,funnel=tf0,hart=3");
	EXPECT_EQ(0x30000100, rd(&self->b, TE + IMPL));
	EXPECT_EQ(0x00030010, rd(&self->b, TF + IMPL));
	wr(&self->b, TE + CONTROL, ACTIVE);
	wr(&self->b, TE + SINK_BASE, 0xffffffff);
	wr(&self->b, TE + SINK_WP, 0xffffffff);
	wr(&self->b, TE + ATB_CONTROL, 0xffffffff);
	EXPECT_EQ(0, rd(&self->b, TE + SINK_BASE));
	EXPECT_EQ(0, rd(&self->b, TE + SINK_WP));
	EXPECT_EQ(0, rd(&self->b, TE + SINK_DATA));
	EXPECT_EQ(0, rd(&self->b, TE + ATB_CONTROL));
	EXPECT_EQ(3, stat(&self->b, "te0", "stat-violations"));
	wr(&self->b, TE + CONTROL, ACTIVE | SINK(SBA));
	EXPECT_EQ(FUNNEL, rd(&self->b, TE + CONTROL) >> 28);
	wr(&self->b, TE + CONTROL, ACTIVE);
	EXPECT_EQ(FUNNEL, rd(&self->b, TE + CONTROL) >> 28);
	EXPECT_EQ(SRAM, rd(&self->b, TF + CONTROL) >> 28);
	/* Without a timestamp unit, all writes are ignored. */
	wr(&self->b, TE + TS_CONTROL, TS_ACTIVE);
	EXPECT_EQ(0, rd(&self->b, TE + TS_CONTROL));
}

TEST_F(plain, timestamp_types_are_reported)
{
	board_start(&self->b,
		    "-device sifive-trace-funnel,id=tf0,addr=0x11018000,sinks=sba,ts-type=external,ts-width=64,ts-freq=1000000 "
		    "-device sifive-trace-encoder,id=te0,addr=0x11000000,sinks=funnel,funnel=tf0,ts-type=slave,ts-width=16 "
		    "-device sifive-trace-encoder,id=te1,addr=0x11001000,sinks=sba,ts-type=core");
	EXPECT_EQ(0x40000010, rd(&self->b, TF + TS_CONTROL));
	EXPECT_EQ(0x10000040, rd(&self->b, TE + TS_CONTROL));
	EXPECT_EQ(0x28000030, rd(&self->b, TE1 + TS_CONTROL));
	wr(&self->b, TF + CONTROL, ACTIVE);
	wr(&self->b, TF + TS_CONTROL, TS_ACTIVE);
	wr(&self->b, TF + TS_CONTROL, 0xffffffff);
	/* An external timestamp unit cannot be stopped, reset or prescaled. */
	EXPECT_EQ(0x40000011, rd(&self->b, TF + TS_CONTROL));
	step(&self->b, 5000000);
	EXPECT_EQ(5000, rd(&self->b, TF + TS_LOWER));
}

TEST_F(plain, invalid_options_are_refused)
{
#define TE_DEVICE "-device sifive-trace-encoder,addr=0x11000000"
#define REFUSES(text, args) \
	EXPECT_NE(NULL, strstr(board_refuses(args), text)) TH_LOG("%s", text)

	REFUSES("unknown sink 'foo'", TE_DEVICE ",sinks=sba+foo");
	REFUSES("name at least one", TE_DEVICE);
	REFUSES("sink-bytes: 12", TE_DEVICE ",sinks=sba,sink-bytes=12");
	REFUSES("sink-bytes: 64", TE_DEVICE ",sinks=sba,sink-bytes=64");
	REFUSES("sram-size: 1000", TE_DEVICE ",sinks=sram,sram-size=1000");
	REFUSES("sram-size: needs sram", TE_DEVICE ",sinks=sba,sram-size=1024");
	REFUSES("name the id", TE_DEVICE ",sinks=funnel");
	REFUSES("unknown type 'x'", TE_DEVICE ",sinks=sba,ts-type=x");
	REFUSES("a slave follows", TE_DEVICE ",sinks=sba,ts-type=slave");
	REFUSES("ts-width: 65", TE_DEVICE ",sinks=sba,ts-width=65");
	REFUSES("ts-freq", TE_DEVICE ",sinks=sba,ts-freq=0");
	REFUSES("unknown rule 'x'", TE_DEVICE ",sinks=sba,channel-rule=x");
	REFUSES("src: 4 does not fit", TE_DEVICE ",sinks=sba,src=4,src-bits=2");
	REFUSES("src-bits: 5", TE_DEVICE ",sinks=sba,src-bits=5");
	REFUSES("fifo-depth: 75", TE_DEVICE ",sinks=sba,fifo-depth=75");
	REFUSES("crossing-type: 4", TE_DEVICE ",sinks=sba,crossing-type=4");
	REFUSES("single-sink: unknown value 'x'", TE_DEVICE ",sinks=sba,single-sink=x");
	REFUSES("sink-high-bits: 33", TE_DEVICE ",sinks=sba,sink-high-bits=33");
	REFUSES("multiple of 0x1000", "-device sifive-trace-encoder,sinks=sba");
	REFUSES("is taken by",
		"-device sifive-trace-encoder,sinks=sba,addr=0x10000000");
	REFUSES("is taken by", TE_DEVICE ",sinks=sba " TE_DEVICE ",sinks=sba");
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that stores to the control registers in a stimulus page are detected: STATUS and STOP
 * report the encoder, and the next START overwrites the registers. A full sink must not be reported
 * as a changed register.
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

FIXTURE(registers) {
	struct trace_session s;
	struct sifive_trace_status status;
	struct trace_stream stream;
};

FIXTURE_SETUP(registers)
{
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	self->s.config = trace_simple_config(self->s.fd, self->s.encoder.index);
	ASSERT_EQ(0, trace_session_config(&self->s, self->s.config.sink,
					  self->s.config.buffer, 0));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
}

FIXTURE_TEARDOWN(registers)
{
	free(self->stream.message);
	trace_session_close(&self->s);
}

static volatile uint32_t *reg(struct trace_session *s, unsigned int offset)
{
	return (volatile uint32_t *)((char *)s->page + offset);
}

static void store(struct trace_session *s, uint32_t from, uint32_t count)
{
	for (; count; count--)
		trace_store(s->page, s->reg, from++, 4);
}

/* Expect STATUS to name the encoder and the register. */
static void expect_changed(struct __test_metadata *_metadata,
			   struct _test_data_registers *self, const char *name)
{
	struct sifive_trace_encoder e;

	ASSERT_EQ(0, trace_status(self->s.fd, &self->status));
	EXPECT_NE(0, self->status.flags & SIFIVE_TRACE_STATUS_CHANGED);
	EXPECT_EQ(BIT64(self->s.encoder.index), self->status.changed);
	EXPECT_NE(NULL, strstr(self->status.message, self->s.encoder.name)) {
		TH_LOG("%s", self->status.message);
	}
	EXPECT_NE(NULL, strstr(self->status.message, name));
	ASSERT_EQ(0, trace_encoder(self->s.fd, self->s.encoder.index, &e));
	EXPECT_NE(0, e.flags & SIFIVE_TRACE_ENCODER_CHANGED);
}

static void expect_unchanged(struct __test_metadata *_metadata,
			     struct _test_data_registers *self)
{
	ASSERT_EQ(0, trace_status(self->s.fd, &self->status));
	EXPECT_EQ(0, self->status.flags & SIFIVE_TRACE_STATUS_CHANGED) {
		TH_LOG("%s", self->status.message);
	}
	EXPECT_EQ(0, self->status.changed);
}

TEST_F(registers, untouched_encoder_is_unchanged)
{
	store(&self->s, 0, 10);
	expect_unchanged(_metadata, self);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	expect_unchanged(_metadata, self);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	expect_unchanged(_metadata, self);
}

TEST_F(registers, status_detects_cleared_active_bit)
{
	store(&self->s, 0, 10);
	*reg(&self->s, TR_CONTROL) = 0;
	store(&self->s, 10, 1000);
	expect_changed(_metadata, self, "control");
	EXPECT_EQ(0, trace_stop(self->s.fd));
}

TEST_F(registers, stop_detects_cleared_active_bit)
{
	*reg(&self->s, TR_CONTROL) = 0;
	EXPECT_EQ(0, trace_stop(self->s.fd));
	expect_changed(_metadata, self, "control");
}

TEST_F(registers, reset_encoder_records_after_next_start)
{
	store(&self->s, 0, 10);
	*reg(&self->s, TR_CONTROL) = 0;
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
	store(&self->s, 100, 10);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits,
				   &self->stream));
	ASSERT_EQ(12, self->stream.count);
	EXPECT_EQ(100, self->stream.message[1].value);
	/* Some encoders cannot add timestamps: the driver reports which registers have them. */
	ASSERT_EQ(0, trace_encoder(self->s.fd, self->s.encoder.index, &self->s.encoder));
	EXPECT_EQ(!!(self->s.encoder.ts_registers & BIT64(self->s.reg)),
		  self->stream.message[1].timed);
}

TEST_F(registers, reset_while_stopped_loses_nothing)
{
	ASSERT_EQ(0, trace_stop(self->s.fd));
	*reg(&self->s, TR_CONTROL) = 0;
	expect_unchanged(_metadata, self);
	ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
	store(&self->s, 100, 10);
	expect_unchanged(_metadata, self);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits,
				   &self->stream));
	EXPECT_EQ(12, self->stream.count);
}

TEST_F(registers, stop_disables_instruction_trace_enabled_by_program)
{
	uint32_t control = *reg(&self->s, TR_CONTROL);

	*reg(&self->s, TR_CONTROL) = control | TR_CONTROL_INSTRUCTION;
	/* The driver may already have turned instruction trace off. */
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_EQ(0, *reg(&self->s, TR_CONTROL) & TR_CONTROL_INSTRUCTION);
	expect_changed(_metadata, self, "teInstruction");
	/* Rewind, because instruction trace may have filled the buffer. */
	ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
	EXPECT_EQ(0, *reg(&self->s, TR_CONTROL) & TR_CONTROL_INSTRUCTION);
}

TEST_F(registers, changed_bits_are_detected_and_restored)
{
	static const struct {
		unsigned int offset;
		uint32_t clear;
		uint32_t set;
		const char *name;
	} changes[] = {
		{ TR_CONTROL, TR_CONTROL_TRACING, 0, "control" },
		{ TR_CONTROL, TR_CONTROL_ENABLE, 0, "control" },
		{ TR_TS_CONTROL, TR_TS_ENABLE, 0, "tsControl" },
		{ TR_ITC_ENABLE, 1u << 3, 0, "itcTraceEnable" },
		{ TR_EVENT_CONTROL, 0, 1, "teEventControl" },
		{ TR_XTI_CONTROL, 0, 1u << 31, "xtiControl" },
		{ TR_XTO_CONTROL, 0, 1u << 31, "xtoControl" },
		{ TR_WP_CONTROL, 0, 1, "wpControl" },
		{ TR_ITC_TRIGGER, 0, 1u << 3, "itcTrigEnable" },
	};
	const struct sifive_trace_config config = trace_same_config(&self->s.config);
	uint32_t before;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		ASSERT_EQ(0, trace_stop(self->s.fd));
		ASSERT_EQ(0, trace_session_config(&self->s, config.sink, config.buffer, 0));
		ASSERT_EQ(0, trace_start(self->s.fd, 0));
		expect_unchanged(_metadata, self);
		before = *reg(&self->s, changes[i].offset) & ~TR_CONTROL_STATUS;
		*reg(&self->s, changes[i].offset) =
			(before & ~changes[i].clear) | changes[i].set;
		expect_changed(_metadata, self, changes[i].name);
		ASSERT_EQ(0, trace_stop(self->s.fd));
		ASSERT_EQ(0, trace_start(self->s.fd, 0));
		EXPECT_EQ(before, *reg(&self->s, changes[i].offset) & ~TR_CONTROL_STATUS) {
			TH_LOG("%s", changes[i].name);
		}
	}
}

TEST_F(registers, redirected_sink_is_detected)
{
	static const unsigned int offset[] = { TR_SINK_BASE, TR_SINK_LIMIT };
	static const char * const name[] = { "sinkBase", "sinkLimit" };
	size_t i;

	if (!(self->s.encoder.sinks & BIT64(SIFIVE_TRACE_SINK_SBA)))
		SKIP(return, "this board's encoders have no SBA sink");
	for (i = 0; i < ARRAY_SIZE(offset); i++) {
		ASSERT_EQ(0, trace_stop(self->s.fd));
		ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA,
						  65536, 0));
		*reg(&self->s, offset[i]) += 4096;
		ASSERT_EQ(0, trace_start(self->s.fd, 0));
		expect_unchanged(_metadata, self);
		*reg(&self->s, offset[i]) += 4096;
		expect_changed(_metadata, self, name[i]);
	}
}

TEST_F(registers, full_sink_is_neither_error_nor_change)
{
	uint32_t i;

	for (i = 0; i < 100000 && !(trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_FULL);
	     i += 1000)
		store(&self->s, i, 1000);
	store(&self->s, i, 1000);
	expect_unchanged(_metadata, self);
	EXPECT_NE(0, self->status.flags & SIFIVE_TRACE_STATUS_FULL);
	EXPECT_EQ(0, self->status.flags & SIFIVE_TRACE_STATUS_SINK_ERROR);
	EXPECT_EQ(0, self->status.sink_errors);
	EXPECT_EQ(0, trace_stop(self->s.fd));
	expect_unchanged(_metadata, self);
	EXPECT_EQ(0, self->status.sink_errors);
	EXPECT_EQ(-ENOSPC, trace_start(self->s.fd, 0));

	/* The next capture does not report that the full sink stopped the encoder. */
	ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
	store(&self->s, 0, 1);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	expect_unchanged(_metadata, self);
	EXPECT_EQ(0, self->status.sink_errors);
	EXPECT_EQ(0, *reg(&self->s, TR_CONTROL) & TR_CONTROL_SINK_ERROR);
}

TEST_F(registers, driver_never_sets_stall_or_overflow)
{
	store(&self->s, 0, 10);
	EXPECT_EQ(0, *reg(&self->s, TR_CONTROL) & TR_CONTROL_STALL_OR_OVERFLOW);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_EQ(0, *reg(&self->s, TR_CONTROL) & TR_CONTROL_STALL_OR_OVERFLOW);
	ASSERT_EQ(0, trace_status(self->s.fd, &self->status));
	EXPECT_EQ(0, self->status.stalls);
}

TRACE_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that CONFIG detects the properties of each stimulus register's messages, that messages of
 * a program's own stores have these properties, and that the driver's self-test leaves no messages
 * in the capture.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

FIXTURE(selftest) {
	struct trace_session s;
	struct trace_stream stream;
};

FIXTURE_SETUP(selftest)
{
	struct sifive_trace_config config;

	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	config = trace_simple_config(self->s.fd, self->s.encoder.index);
	ASSERT_EQ(0, trace_session_config(&self->s, config.sink, config.buffer, 0));
	ASSERT_EQ(0, trace_encoder(self->s.fd, self->s.encoder.index, &self->s.encoder));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
}

FIXTURE_TEARDOWN(selftest)
{
	free(self->stream.message);
	trace_session_close(&self->s);
}

static volatile uint32_t *reg(struct trace_session *s, unsigned int offset)
{
	return (volatile uint32_t *)((char *)s->page + offset);
}

TEST_F(selftest, registers_behave_as_config_detected)
{
	const struct sifive_trace_encoder *e = &self->s.encoder;
	const struct trace_message *m;
	uint32_t n;

	EXPECT_NE(0, e->flags & SIFIVE_TRACE_ENCODER_TESTED);
	EXPECT_EQ(~0u, e->registers);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	for (n = 0; n < 32; n++)
		trace_store(self->s.page, n, n, 4);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, e->src_bits, &self->stream));
	ASSERT_EQ(34, self->stream.count);
	for (n = 0; n < 32; n++) {
		m = &self->stream.message[n + 1];
		EXPECT_EQ(n, m->value);
		EXPECT_EQ(trace_tag(e->channel[n], 4), m->tag);
		EXPECT_EQ(!!(e->ts_registers >> n & 1), m->timed);
	}
}

TEST_F(selftest, ts_channels_flag_matches_detected_channels)
{
	const struct sifive_trace_encoder *e = &self->s.encoder;

	EXPECT_EQ(e->channel[31] == 15, !!(e->flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS));
	/* registers_behave_as_config_detected covers encoders without timestamps. */
	if (e->ts_registers)
		EXPECT_EQ(e->channel[31] == 15 ? 0xffff0000 : ~0u, e->ts_registers);
}

TEST_F(selftest, time_is_readable_if_config_detected_it)
{
	const uint32_t first = *reg(&self->s, TR_TS_LOWER);

	usleep(10000);
	EXPECT_EQ(!!(self->s.encoder.flags & SIFIVE_TRACE_ENCODER_TS_READABLE),
		  first != *reg(&self->s, TR_TS_LOWER));
}

TEST_F(selftest, encoder_stalls_if_config_detected_it)
{
	EXPECT_EQ(!!(self->s.encoder.flags & SIFIVE_TRACE_ENCODER_CAN_STALL),
		  !!(*reg(&self->s, TR_CONTROL) & TR_CONTROL_STALL_ENABLE));
}

TEST_F(selftest, capture_begins_empty)
{
	uint8_t *bytes;

	EXPECT_EQ(0, trace_read_all(self->s.fd, &bytes));
	free(bytes);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &self->stream));
	EXPECT_EQ(2, self->stream.count);
}

TRACE_HARNESS_MAIN

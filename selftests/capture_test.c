// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that read() returns exactly the stores to a stimulus register between START and STOP:
 * every value with its tag, in order, from one encoder or all encoders together, into either kind
 * of sink. Also tests a full buffer, a ring, a rewind and a late reader.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_device.h"

#define CHANNEL	6

/* Upper bound on a message's length. */
#define MESSAGE_MAX	38

/* Number of stores that fills any buffer in this test. */
#define FLOOD	20000

/* The decoder must decode the examples in the wire format's specification. */
TEST(decoder_decodes_format_examples)
{
	static const uint8_t no_src[] = {
		0x8c, 0x00, 0x01, 0xa0, 0x3f, 0xff, 0xff,
		0x1c, 0x61, 0x98, 0x24, 0x5c, 0x64, 0xc0, 0x05, 0x6b,
	};
	static const uint8_t two_bits[] = {
		0x8c, 0x08, 0x01, 0xa4, 0x3f, 0xff,
		0x1c, 0x80, 0x05, 0x98, 0x24, 0x5c, 0x64, 0xc0, 0x05, 0x6b,
	};
	struct trace_stream s;

	ASSERT_EQ(0, trace_decode(no_src, sizeof(no_src), 0, &s));
	ASSERT_EQ(2, s.count);
	EXPECT_EQ(TRACE_TCODE_SYNC, s.message[0].tcode);
	EXPECT_EQ(1000, s.message[0].time);
	EXPECT_EQ(TRACE_TCODE_DATA, s.message[1].tcode);
	EXPECT_EQ(0x18, s.message[1].tag);
	EXPECT_EQ(0x70657266, s.message[1].value);
	EXPECT_EQ(1010, s.message[1].time);

	ASSERT_EQ(0, trace_decode(two_bits, sizeof(two_bits), 2, &s));
	ASSERT_EQ(2, s.count);
	EXPECT_EQ(2, s.message[0].src);
	EXPECT_EQ(1001, s.message[0].time);
	EXPECT_EQ(0, s.message[1].src);
	EXPECT_EQ(0x18, s.message[1].tag);
	EXPECT_EQ(0x70657266, s.message[1].value);

	/* Decode the first message alone, and then a truncated message. */
	ASSERT_EQ(0, trace_decode(no_src, sizeof(no_src) - 1, 0, &s));
	EXPECT_EQ(1, s.count);
	EXPECT_EQ(8, s.cut);
}

/* ---- one encoder --------------------------------------------------------------- */

FIXTURE(capture) {
	int fd;
	struct sifive_trace_info info;
	struct sifive_trace_encoder encoder;
	unsigned int reg;	/* register of CHANNEL whose messages have timestamps */
	void *page;
	uint8_t *bytes;
	size_t size;
	struct trace_stream stream;
};

FIXTURE_VARIANT(capture) {
	uint32_t sink;
	uint64_t buffer;
	const char *name;
};

FIXTURE_VARIANT_ADD(capture, sba) {
	.sink = SIFIVE_TRACE_SINK_SBA, .buffer = 96 * 1024, .name = "SBA",
};

FIXTURE_VARIANT_ADD(capture, sram) {
	.sink = SIFIVE_TRACE_SINK_SRAM, .buffer = 0, .name = "SRAM",
};

static void configure(struct __test_metadata *_metadata,
		      struct _test_data_capture *self,
		      const struct _fixture_variant_capture *variant, uint32_t flags)
{
	struct sifive_trace_config config = TRACE_ARG(sifive_trace_config);

	config.sink = variant->sink;
	config.buffer = variant->buffer;
	config.channels = ~0u;
	config.encoders = BIT64(self->encoder.index);
	config.flags = flags;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_EQ(0, trace_encoder(self->fd, self->encoder.index, &self->encoder));
	self->reg = trace_register(&self->encoder, CHANNEL);
	if (self->page)
		trace_unmap(self->page);
	self->page = trace_map(self->fd, &self->encoder);
	ASSERT_NE(NULL, self->page);
}

FIXTURE_SETUP(capture)
{
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	if (!(self->info.sinks_available & BIT64(variant->sink)))
		SKIP(return, "this board has no %s sink", variant->name);
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &self->encoder));
	ASSERT_EQ(0, trace_pin(self->encoder.cpu));
	configure(_metadata, self, variant, 0);
}

FIXTURE_TEARDOWN(capture)
{
	trace_unmap(self->page);
	close(self->fd);
}

/* Read and decode the whole capture. */
static void collect(struct __test_metadata *_metadata,
		    struct _test_data_capture *self)
{
	ssize_t got;

	free(self->bytes);
	free(self->stream.message);
	got = trace_read_all(self->fd, &self->bytes);
	ASSERT_LE(0, got);
	self->size = (size_t)got;
	ASSERT_EQ(0, trace_decode(self->bytes, self->size,
				  self->encoder.src_bits, &self->stream));
}

/* Expect message @i to synchronise to this value. */
static void is_sync(struct __test_metadata *_metadata,
		    struct _test_data_capture *self, size_t i, uint32_t value)
{
	const struct trace_message *m = &self->stream.message[i];

	ASSERT_LT(i, self->stream.count);
	EXPECT_EQ(TRACE_TCODE_SYNC, m->tcode) {
		TH_LOG("message %zu", i);
	}
	EXPECT_EQ(value, m->value);
	EXPECT_EQ(self->encoder.src_bits ? self->encoder.src : 0, m->src);
}

/* Expect message @i to be this store. */
static void is_data(struct __test_metadata *_metadata,
		    struct _test_data_capture *self, size_t i, uint32_t tag,
		    uint32_t value)
{
	const struct trace_message *m = &self->stream.message[i];

	ASSERT_LT(i, self->stream.count);
	ASSERT_EQ(TRACE_TCODE_DATA, m->tcode) {
		TH_LOG("message %zu", i);
	}
	EXPECT_EQ(tag, m->tag);
	EXPECT_EQ(value, m->value) {
		TH_LOG("message %zu", i);
	}
	EXPECT_EQ(self->encoder.src_bits ? self->encoder.src : 0, m->src);
}

#define COLLECT()		collect(_metadata, self)
#define IS_SYNC(i, value)	is_sync(_metadata, self, i, value)
#define IS_DATA(i, value) \
	is_data(_metadata, self, i, trace_tag(CHANNEL, 4), value)
#define STORE(value)		trace_store(self->page, self->reg, value, 4)

TEST_F(capture, stores_of_all_sizes_become_messages_in_order)
{
	static const struct {
		unsigned int bytes;
		uint32_t value;
	} stores[] = {
		{ 4, 0x70657266 }, { 1, 0 }, { 2, 0xbeef }, { 4, 0 },
		{ 4, ~0u }, { 2, 0 }, { 1, 0xff }, { 2, 0xffff }, { 1, 0x80 },
		{ 4, 1 }, { 4, 0x80000000 }, { 4, 0x3f }, { 4, 0x40 },
	};
	size_t i;

	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (i = 0; i < ARRAY_SIZE(stores); i++)
		trace_store(self->page, self->reg, stores[i].value,
			    stores[i].bytes);
	ASSERT_EQ(0, trace_stop(self->fd));
	COLLECT();
	ASSERT_EQ(ARRAY_SIZE(stores) + 2, self->stream.count);
	EXPECT_EQ(0, self->stream.cut);
	IS_SYNC(0, TRACE_VALUE_ON);
	for (i = 0; i < ARRAY_SIZE(stores); i++)
		is_data(_metadata, self, i + 1,
			trace_tag(CHANNEL, stores[i].bytes), stores[i].value);
	IS_SYNC(i + 1, TRACE_VALUE_OFF);
}

TEST_F(capture, each_channel_has_correct_tag)
{
	unsigned int channel, channels = 32;

	if (self->encoder.flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS)
		channels = 16;
	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (channel = 0; channel < channels; channel++)
		trace_store(self->page, trace_register(&self->encoder, channel),
			    0x1000 + channel, 4);
	ASSERT_EQ(0, trace_stop(self->fd));
	COLLECT();
	ASSERT_EQ(channels + 2, self->stream.count);
	for (channel = 0; channel < channels; channel++)
		is_data(_metadata, self, channel + 1, trace_tag(channel, 4),
			0x1000 + channel);
}

TEST_F(capture, only_selected_registers_generate_messages)
{
	struct sifive_trace_config config = TRACE_ARG(sifive_trace_config);
	unsigned int reg;

	config.sink = variant->sink;
	config.buffer = variant->buffer;
	config.channels = 1u << self->reg;
	config.encoders = BIT64(self->encoder.index);
	ASSERT_EQ(0, trace_config(self->fd, &config));
	trace_unmap(self->page);
	self->page = trace_map(self->fd, &self->encoder);
	ASSERT_NE(NULL, self->page);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (reg = 0; reg < 32; reg++)
		trace_store(self->page, reg, 0x2000 + reg, 4);
	ASSERT_EQ(0, trace_stop(self->fd));
	COLLECT();
	ASSERT_EQ(3, self->stream.count);
	IS_DATA(1, 0x2000 + self->reg);
}

TEST_F(capture, timestamps_start_above_zero_and_never_decrease)
{
	size_t i;

	if (!self->info.ts_width)
		SKIP(return, "this board has no timestamp unit");
	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (i = 0; i < 100; i++)
		STORE((uint32_t)i);
	ASSERT_EQ(0, trace_stop(self->fd));
	COLLECT();
	ASSERT_EQ(102, self->stream.count);
	EXPECT_LT(0, self->stream.message[0].time);
	for (i = 0; i < self->stream.count; i++)
		ASSERT_TRUE(self->stream.message[i].timed) {
			TH_LOG("message %zu has no timestamp", i);
		}
	for (i = 1; i < self->stream.count; i++)
		ASSERT_LE(self->stream.message[i - 1].time,
			  self->stream.message[i].time);
	EXPECT_LT(self->stream.message[0].time, self->stream.message[101].time);
}

TEST_F(capture, no_timestamp_flag_omits_timestamps)
{
	size_t i;

	configure(_metadata, self, variant, SIFIVE_TRACE_CONFIG_NO_TIMESTAMP);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	STORE(11);
	STORE(12);
	ASSERT_EQ(0, trace_stop(self->fd));
	COLLECT();
	ASSERT_EQ(4, self->stream.count);
	IS_SYNC(0, TRACE_VALUE_ON);
	IS_DATA(1, 11);
	IS_DATA(2, 12);
	IS_SYNC(3, TRACE_VALUE_OFF);
	for (i = 0; i < 4; i++)
		EXPECT_FALSE(self->stream.message[i].timed);
}

TEST_F(capture, restart_appends_to_capture)
{
	uint32_t round;

	for (round = 0; round < 5; round++) {
		ASSERT_EQ(0, trace_start(self->fd, 0));
		STORE(2 * round);
		STORE(2 * round + 1);
		ASSERT_EQ(0, trace_stop(self->fd));
		/* These stores are not traced. */
		STORE(0xdead0000 + round);
	}
	COLLECT();
	ASSERT_EQ(20, self->stream.count);
	for (round = 0; round < 5; round++) {
		IS_SYNC(4 * round, TRACE_VALUE_ON);
		IS_DATA(4 * round + 1, 2 * round);
		IS_DATA(4 * round + 2, 2 * round + 1);
		IS_SYNC(4 * round + 3, TRACE_VALUE_OFF);
	}
}

TEST_F(capture, rewind_discards_earlier_data)
{
	ASSERT_EQ(0, trace_start(self->fd, 0));
	STORE(1);
	STORE(2);
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
	STORE(3);
	ASSERT_EQ(0, trace_stop(self->fd));
	COLLECT();
	ASSERT_EQ(3, self->stream.count);
	IS_SYNC(0, TRACE_VALUE_ON);
	IS_DATA(1, 3);
	IS_SYNC(2, TRACE_VALUE_OFF);
}

TEST_F(capture, repeated_start_and_stop_have_no_effect)
{
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	STORE(1);
	EXPECT_EQ(0, trace_start(self->fd, 0));
	STORE(2);
	EXPECT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
	STORE(3);
	EXPECT_TRUE(trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING);
	ASSERT_EQ(0, trace_stop(self->fd));
	EXPECT_EQ(0, trace_stop(self->fd));
	EXPECT_EQ(0, trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING);
	COLLECT();
	ASSERT_EQ(5, self->stream.count);
	IS_SYNC(0, TRACE_VALUE_ON);
	IS_DATA(1, 1);
	IS_DATA(2, 2);
	IS_DATA(3, 3);
	IS_SYNC(4, TRACE_VALUE_OFF);
}

TEST_F(capture, stores_while_stopped_are_not_traced)
{
	STORE(1);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	ASSERT_EQ(0, trace_stop(self->fd));
	STORE(2);
	COLLECT();
	ASSERT_EQ(2, self->stream.count);
	IS_SYNC(0, TRACE_VALUE_ON);
	IS_SYNC(1, TRACE_VALUE_OFF);
}

TEST_F(capture, reconfiguration_discards_data)
{
	ASSERT_EQ(0, trace_start(self->fd, 0));
	STORE(1);
	ASSERT_EQ(0, trace_stop(self->fd));
	configure(_metadata, self, variant, 0);
	COLLECT();
	EXPECT_EQ(0, self->size);
}

TEST_F(capture, full_buffer_stops_capture)
{
	struct sifive_trace_status status;
	struct sifive_trace_sink sink;
	uint32_t i;

	ASSERT_EQ(0, trace_sink(self->fd, 0, &sink));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (i = 0; i < FLOOD; i++)
		STORE(0xa0000000 | i);
	EXPECT_TRUE(trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING);
	ASSERT_EQ(0, trace_stop(self->fd));

	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_TRUE(status.flags & SIFIVE_TRACE_STATUS_FULL);
	EXPECT_EQ(0, status.flags & SIFIVE_TRACE_STATUS_WRAPPED);
	EXPECT_EQ(sink.buffer, status.buffer);
	EXPECT_EQ(status.buffer, status.bytes);
	EXPECT_EQ(0, status.sink_errors);
	ASSERT_EQ(0, trace_sink(self->fd, 0, &sink));
	EXPECT_TRUE(sink.flags & SIFIVE_TRACE_STATUS_FULL);
	EXPECT_EQ(0, sink.flags & SIFIVE_TRACE_STATUS_WRAPPED);
	EXPECT_EQ(sink.buffer, sink.bytes);

	/* The oldest bytes are kept, without a gap. */
	COLLECT();
	ASSERT_EQ(status.buffer, self->size);
	ASSERT_LT(self->size / 16, self->stream.count);
	IS_SYNC(0, TRACE_VALUE_ON);
	for (i = 1; i < self->stream.count; i++)
		IS_DATA(i, 0xa0000000 | (i - 1));

	EXPECT_EQ(-ENOSPC, trace_start(self->fd, 0));
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_NE('\0', status.message[0]);
	EXPECT_EQ(0, status.flags & SIFIVE_TRACE_STATUS_RUNNING);

	ASSERT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
	EXPECT_EQ(0, trace_flags(self->fd) & SIFIVE_TRACE_STATUS_FULL);
	STORE(5);
	ASSERT_EQ(0, trace_stop(self->fd));
	COLLECT();
	ASSERT_EQ(3, self->stream.count);
	IS_SYNC(0, TRACE_VALUE_ON);
	IS_DATA(1, 5);
	IS_SYNC(2, TRACE_VALUE_OFF);
}

TEST_F(capture, ring_keeps_newest_messages)
{
	struct sifive_trace_status status;
	size_t last;
	uint32_t i;

	configure(_metadata, self, variant, SIFIVE_TRACE_CONFIG_RING);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (i = 0; i < FLOOD; i++)
		STORE(0xa0000000 | i);
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(0, status.flags & SIFIVE_TRACE_STATUS_FULL);
	EXPECT_TRUE(status.flags & SIFIVE_TRACE_STATUS_WRAPPED);

	/* Everything can be decoded except the partial message at the beginning. */
	EXPECT_GE(status.buffer, status.bytes);
	EXPECT_LT(status.buffer, status.bytes + MESSAGE_MAX);
	COLLECT();
	ASSERT_EQ(status.bytes, self->size);
	EXPECT_EQ(0, self->stream.cut);
	ASSERT_LT(self->size / 16, self->stream.count);
	last = self->stream.count - 1;
	IS_SYNC(last, TRACE_VALUE_OFF);
	for (i = 0; i < last; i++)
		IS_DATA(last - 1 - i, 0xa0000000 | (FLOOD - 1 - i));

	/* A ring is not full after it has wrapped, so START continues it. */
	ASSERT_EQ(0, trace_start(self->fd, 0));
	STORE(7);
	ASSERT_EQ(0, trace_stop(self->fd));
	COLLECT();
	last = self->stream.count - 1;
	IS_SYNC(last - 3, TRACE_VALUE_OFF);
	IS_SYNC(last - 2, TRACE_VALUE_ON);
	IS_DATA(last - 1, 7);
	IS_SYNC(last, TRACE_VALUE_OFF);
}

TEST_F(capture, ring_without_wraparound_begins_with_first_message)
{
	configure(_metadata, self, variant, SIFIVE_TRACE_CONFIG_RING);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	STORE(1);
	ASSERT_EQ(0, trace_stop(self->fd));
	EXPECT_EQ(0, trace_flags(self->fd) & SIFIVE_TRACE_STATUS_WRAPPED);
	COLLECT();
	ASSERT_EQ(3, self->stream.count);
	IS_SYNC(0, TRACE_VALUE_ON);
	IS_DATA(1, 1);
}

/* Capture @count stores whose messages have equal lengths and no timestamps. */
static void uniform(struct __test_metadata *_metadata,
		    struct _test_data_capture *self, uint64_t buffer, uint32_t flags,
		    uint32_t count)
{
	struct sifive_trace_config config = TRACE_ARG(sifive_trace_config);
	uint32_t i;

	config.sink = SIFIVE_TRACE_SINK_SBA;
	config.buffer = buffer;
	config.channels = ~0u;
	config.encoders = BIT64(self->encoder.index);
	config.flags = flags | SIFIVE_TRACE_CONFIG_NO_TIMESTAMP;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (i = 0; i < count; i++)
		STORE(0xa0000000 | i);
	ASSERT_EQ(0, trace_stop(self->fd));
	COLLECT();
}

/* This needs SBA, because the size of SRAM is fixed. */
TEST(ring_stopped_at_buffer_end_begins_with_message)
{
	struct _test_data_capture data = { 0 }, *self = &data;
	struct trace_stream half;
	struct sifive_trace_sink sink;
	uint32_t count;
	size_t size;

	capture_setup(_metadata, self, &_capture_sba_variant);
	if (_metadata->exit_code)
		return;
	/* With some of these counts, a message ends exactly at the buffer's end. */
	for (count = 40; count < 200; count++) {
		uniform(_metadata, self, 4096, 0, count);
		size = self->size;
		ASSERT_EQ(0, trace_sink(self->fd, 0, &sink));
		ASSERT_EQ(0, trace_decode(self->bytes, size / 2,
					  self->encoder.src_bits, &half));
		if (size % (2 * sink.word) == 0 && half.cut)
			break;
	}
	ASSERT_LT(count, 200);
	uniform(_metadata, self, size / 2, SIFIVE_TRACE_CONFIG_RING, count);
	EXPECT_TRUE(trace_flags(self->fd) & SIFIVE_TRACE_STATUS_WRAPPED);
	EXPECT_GT(size / 2, self->size);
	ASSERT_LT(10, self->stream.count);
	IS_SYNC(self->stream.count - 1, TRACE_VALUE_OFF);
	IS_DATA(self->stream.count - 2, 0xa0000000 | (count - 1));
	IS_DATA(0, 0xa0000000 | (count - (uint32_t)self->stream.count + 1));
}

/* ---- reading ------------------------------------------------------------------- */

/* Capture a few hundred bytes and read them in one call. */
static void capture_some(struct __test_metadata *_metadata,
			 struct _test_data_capture *self)
{
	uint32_t i;

	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (i = 0; i < 100; i++)
		STORE(i * 0x01010101);
	ASSERT_EQ(0, trace_stop(self->fd));
	COLLECT();
	ASSERT_LT(500, self->size);
}

TEST_F(capture, partial_reads_return_same_bytes)
{
	uint8_t piece[64];
	size_t at, length;
	ssize_t got;

	capture_some(_metadata, self);
	for (length = 1; length <= sizeof(piece); length += 9) {
		ASSERT_EQ(0, lseek(self->fd, 0, SEEK_SET));
		for (at = 0; (got = read(self->fd, piece, length)) > 0;
		     at += (size_t)got) {
			ASSERT_LE(at + (size_t)got, self->size);
			ASSERT_EQ(0, memcmp(piece, self->bytes + at, (size_t)got));
		}
		EXPECT_EQ(0, got);
		EXPECT_EQ(self->size, at);
		/* The next read also returns 0. */
		EXPECT_EQ(0, read(self->fd, piece, length));
	}
}

TEST_F(capture, seek_and_pread_work_as_for_files)
{
	uint8_t byte[2];

	capture_some(_metadata, self);
	EXPECT_EQ(self->size, lseek(self->fd, 0, SEEK_END));
	EXPECT_EQ(0, read(self->fd, byte, 1));
	EXPECT_EQ(self->size - 2, lseek(self->fd, -2, SEEK_END));
	EXPECT_EQ(2, read(self->fd, byte, 2));
	EXPECT_EQ(0, memcmp(byte, self->bytes + self->size - 2, 2));
	EXPECT_EQ(10, lseek(self->fd, 10, SEEK_SET));
	EXPECT_EQ(15, lseek(self->fd, 5, SEEK_CUR));
	EXPECT_EQ(1, read(self->fd, byte, 1));
	EXPECT_EQ(self->bytes[15], byte[0]);

	/* pread() does not move the position. */
	EXPECT_EQ(1, pread(self->fd, byte, 1, 100));
	EXPECT_EQ(self->bytes[100], byte[0]);
	EXPECT_EQ(16, lseek(self->fd, 0, SEEK_CUR));
	EXPECT_EQ(1, pread(self->fd, byte, 2, (off_t)self->size - 1));
	EXPECT_EQ(0, pread(self->fd, byte, 1, (off_t)self->size));
	EXPECT_EQ(0, pread(self->fd, byte, 1, INT64_MAX - 1));

	EXPECT_EQ(-1, lseek(self->fd, -1, SEEK_SET));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, pread(self->fd, byte, 1, -1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, pread(self->fd, byte, 0, 0));
	EXPECT_EQ(-1, pread(self->fd, (void *)-4096l, 2, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, write(self->fd, byte, 1));
}

TEST_F(capture, data_outlives_session)
{
	struct sifive_trace_status status;
	uint8_t *bytes;
	int reader;

	capture_some(_metadata, self);
	reader = trace_open(O_RDONLY);
	ASSERT_LE(0, reader);
	trace_unmap(self->page);
	close(self->fd);
	self->fd = reader;

	ASSERT_EQ(0, trace_status(reader, &status));
	EXPECT_EQ(0, status.flags & SIFIVE_TRACE_STATUS_CONFIGURED);
	EXPECT_EQ(self->size, status.bytes);
	ASSERT_EQ(self->size, trace_read_all(reader, &bytes));
	EXPECT_EQ(0, memcmp(bytes, self->bytes, self->size));
	close(reader);

	reader = trace_open(O_RDONLY);
	ASSERT_EQ(self->size, trace_read_all(reader, &bytes));
	EXPECT_EQ(0, memcmp(bytes, self->bytes, self->size));
	self->fd = reader;
}

TEST_F(capture, close_while_running_keeps_last_store)
{
	int reader = trace_open(O_RDONLY);

	ASSERT_LE(0, reader);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	STORE(77);
	trace_unmap(self->page);
	close(self->fd);
	self->fd = reader;
	COLLECT();
	ASSERT_EQ(3, self->stream.count);
	IS_SYNC(0, TRACE_VALUE_ON);
	IS_DATA(1, 77);
	IS_SYNC(2, TRACE_VALUE_OFF);
}

/* ---- all encoders ---------------------------------------------------------------- */

TEST_F(capture, each_encoder_captures_alone)
{
	uint32_t index, i;
	unsigned int tested = 0;

	for (index = 0; index < self->info.encoders; index++) {
		ASSERT_EQ(0, trace_encoder(self->fd, index, &self->encoder));
		if (self->encoder.cpu < 0)
			continue;
		ASSERT_EQ(0, trace_pin(self->encoder.cpu));
		configure(_metadata, self, variant, 0);
		ASSERT_EQ(0, trace_start(self->fd, 0));
		for (i = 0; i < 10; i++)
			STORE(index << 16 | i);
		ASSERT_EQ(0, trace_stop(self->fd));
		COLLECT();
		ASSERT_EQ(12, self->stream.count);
		IS_SYNC(0, TRACE_VALUE_ON);
		for (i = 0; i < 10; i++)
			IS_DATA(i + 1, index << 16 | i);
		IS_SYNC(11, TRACE_VALUE_OFF);
		tested++;
	}
	EXPECT_LT(0, tested);
}

#define STORES	150

struct writer {
	pthread_t thread;
	struct sifive_trace_encoder encoder;
	void *page;
	int error;
};

static void *write_values(void *arg)
{
	struct writer *w = arg;
	uint32_t i;

	w->error = trace_pin(w->encoder.cpu);
	for (i = 0; i < STORES; i++)
		trace_store(w->page, trace_register(&w->encoder, CHANNEL),
			    w->encoder.index << 16 | i, 4);
	return NULL;
}

/* Check that all messages of one encoder are in a sink's stream, in order. */
static void check_writer(struct __test_metadata *_metadata,
			 const struct trace_stream *stream,
			 const struct sifive_trace_encoder *e)
{
	uint32_t next = 0, begins = 0, ends = 0;
	const struct trace_message *m;
	uint64_t time = 0;
	size_t i;

	for (i = 0; i < stream->count; i++) {
		m = &stream->message[i];
		if (e->src_bits && m->src != e->src)
			continue;
		EXPECT_LE(time, m->time);
		time = m->time;
		if (m->tcode == TRACE_TCODE_SYNC) {
			if (m->value == TRACE_VALUE_ON) {
				EXPECT_EQ(0, next);
				begins++;
			} else {
				EXPECT_EQ(STORES, next);
				ends++;
			}
			continue;
		}
		ASSERT_EQ(TRACE_TCODE_DATA, m->tcode);
		EXPECT_EQ(1, begins);
		EXPECT_EQ(trace_tag(CHANNEL, 4), m->tag);
		ASSERT_EQ(e->index << 16 | next, m->value);
		next++;
	}
	EXPECT_EQ(STORES, next);
	EXPECT_EQ(1, begins);
	EXPECT_EQ(1, ends);
}

TEST_F(capture, all_encoders_capture_simultaneously)
{
	struct sifive_trace_config config = TRACE_ARG(sifive_trace_config);
	struct writer writers[SIFIVE_TRACE_MAX_ENCODERS] = { 0 };
	struct trace_stream stream;
	struct sifive_trace_sink sink;
	uint64_t offset = 0;
	uint32_t i, j;
	ssize_t size;

	config.sink = variant->sink;
	config.buffer = variant->buffer;
	config.channels = ~0u;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	for (i = 0; i < self->info.encoders; i++) {
		if (!(config.encoders & BIT64(i)))
			continue;
		ASSERT_EQ(0, trace_encoder(self->fd, i, &writers[i].encoder));
		writers[i].page = trace_map(self->fd, &writers[i].encoder);
		ASSERT_NE(NULL, writers[i].page);
	}

	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (i = 0; i < self->info.encoders; i++)
		if (writers[i].page)
			ASSERT_EQ(0, pthread_create(&writers[i].thread, NULL,
						    write_values, &writers[i]));
	for (i = 0; i < self->info.encoders; i++) {
		if (!writers[i].page)
			continue;
		ASSERT_EQ(0, pthread_join(writers[i].thread, NULL));
		EXPECT_EQ(0, writers[i].error);
	}
	ASSERT_EQ(0, trace_stop(self->fd));

	size = trace_read_all(self->fd, &self->bytes);
	ASSERT_LT(0, size);
	for (i = 0; i < config.sinks; i++) {
		ASSERT_EQ(0, trace_sink(self->fd, i, &sink));
		EXPECT_EQ(offset, sink.offset);
		EXPECT_EQ(0, sink.flags);
		offset += sink.bytes;
		ASSERT_LE(offset, (uint64_t)size);
		ASSERT_EQ(0, trace_decode(self->bytes + sink.offset, sink.bytes,
					  sink.src_bits, &stream));
		EXPECT_EQ(0, stream.cut);
		EXPECT_EQ((size_t)__builtin_popcountll(sink.encoders) *
			  (STORES + 2), stream.count);
		for (j = 0; j < self->info.encoders; j++)
			if (sink.encoders & BIT64(j))
				check_writer(_metadata, &stream,
					     &writers[j].encoder);
		free(stream.message);
	}
	EXPECT_EQ(size, offset);
}

TRACE_HARNESS_MAIN

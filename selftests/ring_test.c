// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that a ring keeps the newest bytes, beginning with a complete message, at every size and
 * stop position, and that a snapshot of a running ring is consistent. Odd and large buffers,
 * single-sink nodes, timestamps, poll() and seeking must work as documented.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

/* Size that is smaller than the message of any 32-bit store. */
#define SHORTEST	4
#define LONGEST		38

FIXTURE(ring) {
	struct trace_session s;
	struct trace_stream stream;
};

FIXTURE_VARIANT(ring) {
	uint32_t sink;
	uint64_t buffer;
	const char *name;
};

FIXTURE_VARIANT_ADD(ring, sba) {
	.sink = SIFIVE_TRACE_SINK_SBA, .buffer = 4096, .name = "SBA",
};

FIXTURE_VARIANT_ADD(ring, sram) {
	.sink = SIFIVE_TRACE_SINK_SRAM, .buffer = 0, .name = "SRAM",
};

FIXTURE_SETUP(ring)
{
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!trace_has_sink(&self->s, variant->sink))
		SKIP(return, "this board has no %s sink", variant->name);
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
}

FIXTURE_TEARDOWN(ring)
{
	trace_session_close(&self->s);
}

static void store_values(struct trace_session *s, uint32_t from, uint32_t to)
{
	for (; from != to; from++)
		trace_store(s->page, s->reg, from, 4);
}

/* Check that a stopped ring begins with a complete message and ends with the last store. */
static void check_newest(struct __test_metadata *_metadata,
			 struct trace_session *s, uint32_t stored, size_t least)
{
	struct sifive_trace_status status;
	struct trace_stream stream;
	uint32_t last = 0;
	long count;

	ASSERT_EQ(0, trace_status(s->fd, &status));
	EXPECT_EQ(0, status.flags & SIFIVE_TRACE_STATUS_FULL);
	EXPECT_NE(0, status.flags & SIFIVE_TRACE_STATUS_WRAPPED);
	EXPECT_LE(least, status.bytes);
	ASSERT_EQ(0, trace_collect(s->fd, s->encoder.src_bits, &stream)) {
		TH_LOG("ring of %llu bytes after %u stores does not decode",
		       status.buffer, stored);
	}
	EXPECT_EQ(0, stream.cut);
	count = trace_consecutive(&stream, NULL, &last);
	ASSERT_LE(0, count);
	if (count)
		EXPECT_EQ(stored - 1, last);
	if (least) {
		ASSERT_LT(0, count);
		EXPECT_EQ(TRACE_TCODE_SYNC,
			  stream.message[stream.count - 1].tcode);
		EXPECT_EQ(TRACE_VALUE_OFF,
			  stream.message[stream.count - 1].value);
	}
	free(stream.message);
}

TEST_F(ring, newest_bytes_are_kept)
{
	static const uint32_t laps[] = { 1, 3, 10 };
	struct sifive_trace_sink sink;
	uint32_t stores;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(laps); i++) {
		ASSERT_EQ(0, trace_session_config(&self->s, variant->sink,
						  variant->buffer,
						  SIFIVE_TRACE_CONFIG_RING));
		ASSERT_EQ(0, trace_sink(self->s.fd, 0, &sink));
		stores = laps[i] * (uint32_t)sink.buffer / SHORTEST;
		ASSERT_EQ(0, trace_start(self->s.fd, 0));
		store_values(&self->s, 0, stores);
		ASSERT_EQ(0, trace_stop(self->s.fd));
		check_newest(_metadata, &self->s, stores,
			     sink.buffer - LONGEST);
	}
}

/* Stop at every position where a message can end, including the ring's end. */
TEST_F(ring, begins_with_whole_message_at_any_stop_position)
{
	uint32_t more, stores;

	ASSERT_EQ(0, trace_session_config(&self->s, variant->sink,
					  variant->buffer ? 256 : 0,
					  SIFIVE_TRACE_CONFIG_RING));
	stores = 3 * (uint32_t)self->s.config.buffer / SHORTEST;
	for (more = 0; more < 80; more++) {
		ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
		store_values(&self->s, 0, stores + more);
		ASSERT_EQ(0, trace_stop(self->s.fd));
		check_newest(_metadata, &self->s, stores + more,
			     self->s.config.buffer - LONGEST);
	}
}

TEST_F(ring, continues_where_it_was_stopped)
{
	uint32_t stored = 0, round;

	ASSERT_EQ(0, trace_session_config(&self->s, variant->sink,
					  variant->buffer,
					  SIFIVE_TRACE_CONFIG_RING));
	for (round = 0; round < 20; round++) {
		ASSERT_EQ(0, trace_start(self->s.fd, 0));
		store_values(&self->s, stored, stored + 700);
		stored += 700;
		ASSERT_EQ(0, trace_stop(self->s.fd));
	}
	check_newest(_metadata, &self->s, stored,
		     self->s.config.buffer - LONGEST);
}

TEST_F(ring, buffer_that_stops_when_full_keeps_oldest_bytes)
{
	struct sifive_trace_status status;
	uint32_t first;

	ASSERT_EQ(0, trace_session_config(&self->s, variant->sink,
					  variant->buffer, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, (uint32_t)self->s.config.buffer / SHORTEST);
	EXPECT_NE(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_FULL);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(self->s.config.buffer, status.bytes);
	EXPECT_EQ(-ENOSPC, trace_start(self->s.fd, 0));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "full"));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits,
				   &self->stream));
	EXPECT_LT(0, trace_consecutive(&self->stream, &first, NULL));
	EXPECT_EQ(0, first);
	ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
	ASSERT_EQ(0, trace_stop(self->s.fd));
}

/* ---- buffers ------------------------------------------------------------- */

FIXTURE(sba) {
	struct trace_session s;
	struct trace_stream stream;
	struct trace_writer writer;
};

FIXTURE_SETUP(sba)
{
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
}

FIXTURE_TEARDOWN(sba)
{
	trace_session_close(&self->s);
}

/* Start with a size of one sink word. A ring that is smaller than a message may be empty. */
TEST_F(sba, every_size_is_rounded_up_to_word_and_works_as_ring)
{
	static const uint64_t sizes[] = { 1, 2, 5, 9, 17, 33, 64, 77, 100, 4095, 4097 };
	struct sifive_trace_sink sink;
	uint32_t stores, more;
	size_t i;

	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA,
						  sizes[i],
						  SIFIVE_TRACE_CONFIG_RING));
		ASSERT_EQ(0, trace_sink(self->s.fd, 0, &sink));
		EXPECT_LE(sizes[i], sink.buffer);
		EXPECT_GT(sizes[i] + sink.word, sink.buffer);
		EXPECT_EQ(0, sink.buffer % sink.word);
		EXPECT_EQ(sink.buffer, self->s.config.buffer);
		for (more = 0; more < 16; more++) {
			stores = 2 * (uint32_t)sink.buffer / SHORTEST + more + 8;
			ASSERT_EQ(0, trace_start(self->s.fd,
						 SIFIVE_TRACE_START_REWIND));
			store_values(&self->s, 0, stores);
			ASSERT_EQ(0, trace_stop(self->s.fd));
			check_newest(_metadata, &self->s, stores, 0);
		}
	}
}

TEST_F(sba, one_word_buffer_stops_when_full)
{
	struct sifive_trace_status status;
	struct sifive_trace_sink sink;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 1, 0));
	ASSERT_EQ(0, trace_sink(self->s.fd, 0, &sink));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, 100);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_NE(0, status.flags & SIFIVE_TRACE_STATUS_FULL);
	EXPECT_EQ(sink.word, status.bytes);
}

TEST_F(sba, excessive_size_is_refused_with_message)
{
	EXPECT_EQ(-ENOMEM, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA,
						BIT64(40), 0));
	EXPECT_LT(10, strlen(trace_message(self->s.fd)));
	EXPECT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA,
					  4096, 0));
}

#define LARGE	(64ull << 20)

#define PART	(256u << 10)

/* Decode PART bytes of the capture from @offset, starting at the first complete message in them. */
static void decode_part(struct __test_metadata *_metadata, struct _test_data_sba *self,
			uint64_t offset)
{
	static uint8_t part[PART];
	size_t skip;

	free(self->stream.message);
	for (skip = 0; skip < PART; skip += 65536)
		ASSERT_EQ(65536, pread(self->s.fd, part + skip, 65536,
				       (off_t)(offset + skip)));
	skip = 0;
	while (offset && (part[skip++] & 3) != 3)
		;
	ASSERT_EQ(0, trace_decode(part + skip, PART - skip,
				  self->s.encoder.src_bits, &self->stream));
}

/* Time in seconds within which fast stores fill a large ring. */
TEST_F(sba, large_ring_wraps)
{
	const uint64_t size = LARGE / 64 * (uint64_t)trace_repeat(64);
	double limit = (double)trace_setting("TRACE_FILL_SECONDS", 120);
	uint32_t stored = 0, first, middle, last;
	struct sifive_trace_status status;
	double begin, spent;
	uint64_t at;
	int ret;

	ret = trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, LARGE,
				   SIFIVE_TRACE_CONFIG_RING);
	if (ret == -ENOMEM)
		SKIP(return, "no 64 MiB: %s", trace_message(self->s.fd));
	ASSERT_EQ(0, ret);
	EXPECT_EQ(LARGE, self->s.config.buffer);
	/* Filling the buffer takes most of the time, so a partial run uses a smaller buffer. */
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, size,
					  SIFIVE_TRACE_CONFIG_RING));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	begin = trace_clock();
	do {
		store_values(&self->s, stored, stored + 10000);
		stored += 10000;
		spent = trace_clock() - begin;
		ASSERT_EQ(0, trace_status(self->s.fd, &status));
	} while (!(status.flags & SIFIVE_TRACE_STATUS_WRAPPED) && spent < limit);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	TH_LOG("%u stores, %llu bytes in %.1f s", stored, status.bytes, spent);
	if (!(status.flags & SIFIVE_TRACE_STATUS_WRAPPED))
		SKIP(return, "stores are too slow here to fill %llu MiB in %.0f s",
		     (unsigned long long)size >> 20, limit);
	EXPECT_GT(size, status.bytes);
	EXPECT_LT(size - LONGEST, status.bytes);

	/* Decode the ring's beginning, its end, and several parts in between. */
	decode_part(_metadata, self, 0);
	EXPECT_LT(0, trace_consecutive(&self->stream, &first, NULL));
	for (at = PART; at + PART < status.bytes; at += size / 8) {
		decode_part(_metadata, self, at);
		EXPECT_LT(0, trace_consecutive(&self->stream, &middle, NULL));
		EXPECT_LT(first, middle);
		first = middle;
	}
	decode_part(_metadata, self, status.bytes - PART);
	EXPECT_LT(0, trace_consecutive(&self->stream, NULL, &last));
	EXPECT_EQ(stored - 1, last);
}

/* ---- while it runs ------------------------------------------------------- */

#define RUNNING_RING	(512ull << 10)

static bool wait_flag(int fd, uint32_t flag)
{
	double end = trace_clock() + 600;

	while (!(trace_flags(fd) & flag) && trace_clock() < end)
		usleep(1000);
	return trace_flags(fd) & flag;
}

/* Collect the running ring. Retry, because on a loaded machine the ring can wrap during a copy. */
static int collect_running(struct trace_session *s, struct trace_stream *stream)
{
	double end = trace_clock() + 600;
	int ret;

	do {
		ret = trace_collect(s->fd, s->encoder.src_bits, stream);
	} while (ret == -EBUSY && trace_clock() < end);
	return ret;
}

TEST_F(sba, each_snapshot_of_running_ring_is_complete)
{
	uint32_t first, last, before = 0, stored;
	struct trace_stream stream;
	unsigned int round;
	long count;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA,
					  RUNNING_RING,
					  SIFIVE_TRACE_CONFIG_RING));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(0, trace_writer_start(&self->writer, &self->s, 0));
	for (round = 0; round < 12; round++) {
		/* In the first two rounds, the ring may not have wrapped yet. */
		if (round == 2)
			ASSERT_TRUE(wait_flag(self->s.fd,
					      SIFIVE_TRACE_STATUS_WRAPPED));
		ASSERT_EQ(0, collect_running(&self->s, &stream));
		count = trace_consecutive(&stream, &first, &last);
		ASSERT_LE(0, count);
		if (round >= 2)
			EXPECT_LT(RUNNING_RING / 4 / LONGEST, count);
		if (count) {
			EXPECT_LE(before, last);
			before = last;
		}
		free(stream.message);
	}
	stored = trace_writer_stop(&self->writer);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	check_newest(_metadata, &self->s, stored, RUNNING_RING - LONGEST);
}

TEST_F(sba, snapshot_is_unchanged_until_reading_restarts)
{
	uint8_t one[64], two[64], three[64];

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 4096,
					  SIFIVE_TRACE_CONFIG_RING));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, 3000);
	ASSERT_EQ(64, pread(self->s.fd, one, 64, 0));
	ASSERT_EQ(64, pread(self->s.fd, one, 64, 1000));
	store_values(&self->s, 3000, 9000);
	ASSERT_EQ(64, pread(self->s.fd, two, 64, 1000));
	EXPECT_EQ(0, memcmp(one, two, 64));
	ASSERT_EQ(64, pread(self->s.fd, two, 64, 0));
	ASSERT_EQ(64, pread(self->s.fd, three, 64, 1000));
	EXPECT_NE(0, memcmp(one, three, 64));
}

TEST_F(sba, running_capture_can_be_read_to_current_end)
{
	off_t end, later;
	uint8_t *one, *two;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 65536,
					  0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, 500);
	end = lseek(self->s.fd, 0, SEEK_END);
	EXPECT_LT(500 * SHORTEST, end);
	one = malloc((size_t)end);
	two = malloc((size_t)end);
	ASSERT_EQ(end, pread(self->s.fd, one, (size_t)end, 0));
	store_values(&self->s, 500, 1000);
	later = lseek(self->s.fd, 0, SEEK_END);
	EXPECT_LT(end, later);
	ASSERT_EQ(0, lseek(self->s.fd, 0, SEEK_SET));
	ASSERT_EQ(end, read(self->s.fd, two, (size_t)end));
	EXPECT_EQ(0, memcmp(one, two, (size_t)end));
	EXPECT_EQ(end, lseek(self->s.fd, 0, SEEK_CUR));
	EXPECT_EQ(0, pread(self->s.fd, one, 8, later));
	EXPECT_EQ(0, pread(self->s.fd, one, 8, INT64_MAX - 8));
	EXPECT_EQ(-1, pread(self->s.fd, one, 8, -1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, lseek(self->s.fd, -1, SEEK_SET));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, lseek(self->s.fd, 0, 77));
	EXPECT_EQ(EINVAL, errno);
	/* The failed calls must not have changed the descriptor's position. */
	EXPECT_EQ(end, lseek(self->s.fd, 0, SEEK_CUR));
	EXPECT_EQ(later - end, (off_t)read(self->s.fd, malloc(65536), 65536));
}

TEST_F(ring, sram_cannot_be_read_while_running)
{
	char byte;

	if (variant->sink != SIFIVE_TRACE_SINK_SRAM)
		SKIP(return, "of SRAM");
	ASSERT_EQ(0, trace_session_config(&self->s, variant->sink, 0,
					  SIFIVE_TRACE_CONFIG_RING));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, 100);
	EXPECT_EQ(-1, read(self->s.fd, &byte, 1));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "STOP"));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_EQ(1, read(self->s.fd, &byte, 1));
}

/* ---- poll() -------------------------------------------------------------- */

/* Timeout for an expected event, long enough for a loaded host. */
#define PATIENCE_MS	600000

static int poll_for(int fd, int timeout)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, timeout) < 0 ? -errno : p.revents;
}

static void *stop_later(void *arg)
{
	struct trace_session *s = arg;

	usleep(50000);
	trace_stop(s->fd);
	return NULL;
}

TEST_F(ring, poll_wakes_when_capture_stops)
{
	pthread_t thread;

	ASSERT_EQ(0, trace_session_config(&self->s, variant->sink,
					  variant->buffer, 0));
	EXPECT_EQ(POLLIN, poll_for(self->s.fd, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, 50);
	EXPECT_EQ(0, poll_for(self->s.fd, 0));
	EXPECT_EQ(0, poll_for(self->s.fd, 30));
	ASSERT_EQ(0, pthread_create(&thread, NULL, stop_later, &self->s));
	EXPECT_EQ(POLLIN, poll_for(self->s.fd, PATIENCE_MS));
	pthread_join(thread, NULL);
}

static void *fill_later(void *arg)
{
	struct trace_session *s = arg;

	trace_pin(s->encoder.cpu);
	usleep(50000);
	store_values(s, 0, (uint32_t)s->config.buffer / SHORTEST);
	return NULL;
}

TEST_F(ring, poll_wakes_when_buffer_is_full)
{
	pthread_t thread;

	ASSERT_EQ(0, trace_session_config(&self->s, variant->sink,
					  variant->buffer, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, fill_later, &self->s));
	EXPECT_EQ(POLLIN, poll_for(self->s.fd, PATIENCE_MS));
	pthread_join(thread, NULL);
	EXPECT_NE(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_FULL);
	EXPECT_NE(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_RUNNING);
}

TEST_F(sba, poll_wakes_at_watermark_of_unread_bytes)
{
	struct sifive_trace_config config;
	char bytes[4096];
	ssize_t got;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 65536,
					  0));
	config = self->s.config;
	config.watermark = 1000;
	ASSERT_EQ(0, trace_config(self->s.fd, &config));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, 20);
	EXPECT_EQ(0, poll_for(self->s.fd, 30));
	store_values(&self->s, 20, 1000 / SHORTEST + 20);
	EXPECT_EQ(POLLIN, poll_for(self->s.fd, PATIENCE_MS));
	do
		got = read(self->s.fd, bytes, sizeof(bytes));
	while (got > 0);
	ASSERT_EQ(0, got);
	EXPECT_EQ(0, poll_for(self->s.fd, 30));
	store_values(&self->s, 0, 1000 / SHORTEST);
	EXPECT_EQ(POLLIN, poll_for(self->s.fd, PATIENCE_MS));
}

/* ---- nodes of single sinks ----------------------------------------------- */

static int open_sink(unsigned int n, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), TRACE_DEVICE ".%u", n);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

TEST_F(ring, sink_nodes_return_slices_of_whole_capture)
{
	struct sifive_trace_config config = TRACE_ARG(sifive_trace_config);
	struct sifive_trace_encoder encoder;
	struct sifive_trace_sink sink;
	uint8_t *whole, *part;
	void *page[64] = { 0 };
	ssize_t size, got;
	uint32_t i, v;
	int fd;

	fd = open_sink(0, O_RDONLY);
	if (fd == -ENOENT)
		SKIP(return, "this board has one sink");
	ASSERT_LE(0, fd);
	close(fd);

	config.sink = variant->sink;
	config.buffer = variant->buffer;
	config.channels = ~0u;
	config.flags = SIFIVE_TRACE_CONFIG_RING;
	ASSERT_EQ(0, trace_config(self->s.fd, &config));
	ASSERT_LT(1, config.sinks);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	for (i = 0; i < self->s.info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->s.fd, i, &encoder));
		page[i] = trace_map(self->s.fd, &encoder);
		ASSERT_NE(NULL, page[i]);
		/* Some sinks wrap, other sinks do not. */
		for (v = 0; v < (i & 1 ? 30 : 3000); v++)
			trace_store(page[i], trace_register(&encoder, 6), v, 4);
	}
	ASSERT_EQ(0, trace_stop(self->s.fd));
	size = trace_read_all(self->s.fd, &whole);
	ASSERT_LT(0, size);
	for (i = 0; i < config.sinks; i++) {
		EXPECT_EQ(-EACCES, open_sink(i, O_RDWR));
		EXPECT_EQ(-EACCES, open_sink(i, O_WRONLY));
		fd = open_sink(i, O_RDONLY);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, trace_sink(self->s.fd, i, &sink));
		got = trace_read_all(fd, &part);
		ASSERT_EQ(sink.bytes, got);
		ASSERT_LE(sink.offset + sink.bytes, (uint64_t)size);
		EXPECT_EQ(0, memcmp(part, whole + sink.offset, sink.bytes));
		EXPECT_EQ(got, lseek(fd, 0, SEEK_END));
		EXPECT_EQ(-ENOTTY, trace_stop(fd));
		EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0));
		EXPECT_EQ(POLLIN, poll_for(fd, 0));
		close(fd);
	}
	/* A node may exist for a sink that is not part of this capture; it returns no data. */
	fd = open_sink(config.sinks, O_RDONLY);
	if (fd >= 0)
		EXPECT_EQ(0, read(fd, whole, 1));
}

/* ---- timestamps ---------------------------------------------------------- */

TEST_F(ring, prescale_scales_timestamp_rate)
{
	struct sifive_trace_config config = TRACE_ARG(sifive_trace_config);
	struct sifive_trace_info info;
	double before, begun, ending, after, traced, tick;
	uint32_t prescale, refused = 0;
	int ret;

	if (!self->s.info.ts_width)
		SKIP(return, "this board has no timestamp unit");
	for (prescale = 0; prescale < 4; prescale++) {
		ASSERT_EQ(0, trace_session_config(&self->s, variant->sink,
						  variant->buffer, 0));
		config = self->s.config;
		config.prescale = prescale;
		if (variant->sink == SIFIVE_TRACE_SINK_SRAM)
			config.buffer = 0;
		ret = trace_config(self->s.fd, &config);
		if (prescale && ret == -EOPNOTSUPP) {
			refused++;
			continue;
		}
		ASSERT_EQ(0, ret);
		ASSERT_EQ(0, trace_info(self->s.fd, &info));
		ASSERT_LT(0, info.ts_hz);
		EXPECT_EQ(self->s.info.ts_hz >> (2 * prescale),
			  info.ts_hz);
		ASSERT_EQ(0, trace_start(self->s.fd, 0));
		before = trace_clock();
		trace_store(self->s.page, self->s.reg, 1, 4);
		begun = trace_clock();
		usleep(40000);
		ending = trace_clock();
		trace_store(self->s.page, self->s.reg, 2, 4);
		after = trace_clock();
		ASSERT_EQ(0, trace_stop(self->s.fd));
		ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits,
					   &self->stream));
		ASSERT_EQ(4, self->stream.count);
		tick = 1 / (double)info.ts_hz;
		traced = (double)(self->stream.message[2].time -
				self->stream.message[1].time) * tick;
		/*
		 * The time between the two stores must agree with this clock to within 2 ticks and
		 * 1 %, however long a store takes.
		 */
		EXPECT_LT(0.99 * (ending - begun) - 2 * tick, traced);
		EXPECT_GT(1.01 * (after - before) + 2 * tick, traced);
		free(self->stream.message);
	}
	/* Not every board has a prescaler: a P550 refuses all values except 0. */
	EXPECT_TRUE(refused == 0 || refused == 3);
}

TRACE_HARNESS_MAIN

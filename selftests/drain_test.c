// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that read() drains a running capture. A reader that keeps up must receive each byte once,
 * in order, without a gap. Bytes that are overwritten before they are read must be counted exactly,
 * and marked. Also tests readers that wait, stop, are killed, or are replaced by other readers.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

#define BUFFER		65536

/* Maximum and minimum length of a store's message. */
#define LONGEST		38
#define SHORTEST	4

/* Maximum number of unread stores, which cannot fill the buffer. */
#define AHEAD		(BUFFER / LONGEST / 2)

/* Number of times that stores fill the buffer: ten, or fewer with TRACE_PART. */
#define TIMES		((unsigned int)(2 + trace_repeat(8)))
#define STORES		(TIMES * BUFFER / SHORTEST)

/**
 * struct collected - bytes of a stream that have been read
 * @bytes:	the bytes, in allocated memory
 * @size:	number of @bytes
 */
struct collected {
	uint8_t *bytes;
	size_t size;
};

FIXTURE(drain) {
	struct trace_session s;
	struct trace_writer writer;
	struct trace_stream stream;
	struct collected got;
	struct sifive_trace_sink sink;
};

FIXTURE_SETUP(drain)
{
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER,
					  SIFIVE_TRACE_CONFIG_DRAIN));
}

FIXTURE_TEARDOWN(drain)
{
	trace_session_close(&self->s);
	free(self->got.bytes);
	free(self->stream.message);
}

static void store_values(struct trace_session *s, uint32_t from, uint32_t to)
{
	for (; from != to; from++)
		trace_store(s->page, s->reg, from, 4);
}

/* Append the result of one read() of @count bytes; return its size, or a negative errno. */
static ssize_t collect(struct collected *c, int fd, size_t count)
{
	ssize_t got;

	c->bytes = realloc(c->bytes, c->size + count);
	got = read(fd, c->bytes + c->size, count);
	if (got > 0)
		c->size += (size_t)got;
	return got < 0 ? -errno : got;
}

/* Read until the stream ends. */
static ssize_t collect_all(struct collected *c, int fd, size_t count)
{
	ssize_t got;

	do
		got = collect(c, fd, count);
	while (got > 0);
	return got;
}

static int decode(struct _test_data_drain *self)
{
	free(self->stream.message);
	self->stream.message = NULL;
	return trace_decode(self->got.bytes, self->got.size, self->s.encoder.src_bits,
			    &self->stream);
}

/*
 * Check that all @stores stores were read without a gap, and that the driver does not report a
 * loss.
 */
static void check_whole(struct __test_metadata *_metadata, struct _test_data_drain *self,
			uint32_t stores)
{
	struct sifive_trace_status status;
	uint32_t first = ~0u, last = ~0u;

	ASSERT_EQ(0, decode(self));
	EXPECT_EQ(0, self->stream.cut);
	EXPECT_EQ(stores, trace_consecutive(&self->stream, &first, &last));
	EXPECT_EQ(0, first);
	EXPECT_EQ(stores - 1, last);
	ASSERT_EQ(0, trace_sink(self->s.fd, 0, &self->sink));
	EXPECT_EQ(self->got.size, self->sink.given);
	EXPECT_EQ(0, self->sink.bytes);
	EXPECT_EQ(0, self->sink.gaps);
	EXPECT_EQ(0, self->sink.lost);
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(0, status.gaps);
	EXPECT_EQ(0, status.flags & (SIFIVE_TRACE_STATUS_GAP |
				     SIFIVE_TRACE_STATUS_WRAPPED |
				     SIFIVE_TRACE_STATUS_FULL));
}

/*
 * Read a writer's stores, and raise the writer's limit only while the reader keeps up. Check this
 * whenever the bytes of AHEAD / 2 stores have been read.
 */
static void follow(struct __test_metadata *_metadata, struct _test_data_drain *self,
		   int fd, uint32_t stores, size_t count)
{
	uint32_t limit = stores < AHEAD ? stores : AHEAD;
	size_t seen = 0;

	ASSERT_EQ(0, trace_writer_start(&self->writer, &self->s, limit));
	while (limit < stores) {
		ASSERT_LT(0, collect(&self->got, fd, count));
		if (self->got.size - seen < AHEAD * SHORTEST / 2)
			continue;
		seen = self->got.size;
		ASSERT_EQ(0, trace_sink(self->s.fd, 0, &self->sink));
		if (self->sink.bytes > BUFFER / 4)
			continue;
		limit = __atomic_load_n(&self->writer.next, __ATOMIC_ACQUIRE) + AHEAD;
		limit = limit < stores ? limit : stores;
		__atomic_store_n(&self->writer.limit, limit, __ATOMIC_RELAXED);
	}
	while (__atomic_load_n(&self->writer.next, __ATOMIC_ACQUIRE) < stores)
		usleep(1000);
	EXPECT_EQ(stores, trace_writer_stop(&self->writer));
}

TEST_F(drain, timely_reader_receives_several_buffers_without_gap)
{
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	follow(_metadata, self, self->s.fd, STORES, 16384);
	EXPECT_LT(TIMES * BUFFER - BUFFER, self->got.size);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, collect_all(&self->got, self->s.fd, 16384));
	check_whole(_metadata, self, STORES);
}

TEST_F(drain, small_reads_lose_nothing)
{
	/* Issue about a thousand reads of each size. */
	static const size_t sizes[] = { 1, 3, 7, 63, 64, 65 };
	uint32_t stores;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		stores = 100 * sizes[i] < 3 * AHEAD ? 100 * sizes[i] : 3 * AHEAD;
		self->got.size = 0;
		ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
		follow(_metadata, self, self->s.fd, stores, sizes[i]);
		ASSERT_EQ(0, trace_stop(self->s.fd));
		ASSERT_EQ(0, collect_all(&self->got, self->s.fd, sizes[i]));
		check_whole(_metadata, self, stores);
	}
}

TEST_F(drain, cat_copies_running_capture_to_end)
{
	char command[128], path[] = "/tmp/drain_test.XXXXXX";
	int fd = mkstemp(path);
	uint32_t next;
	pid_t child;

	ASSERT_LE(0, fd);
	snprintf(command, sizeof(command), "exec cat " TRACE_DEVICE " >%s", path);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	/* Wait until the reader has read each batch of stores before making the next batch. */
	for (next = 0; next < 4 * BUFFER / SHORTEST; next += AHEAD) {
		store_values(&self->s, next, next + AHEAD);
		do {
			usleep(1000);
			ASSERT_EQ(0, trace_sink(self->s.fd, 0, &self->sink));
		} while (self->sink.bytes > LONGEST);
	}
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_EQ(0, trace_wait(child));
	ASSERT_EQ(0, collect_all(&self->got, fd, 65536));
	check_whole(_metadata, self, next);
	close(fd);
	unlink(path);
}

TEST_F(drain, restart_continues_stream)
{
	uint32_t round;

	for (round = 0; round < 20; round++) {
		ASSERT_EQ(0, trace_start(self->s.fd, 0));
		store_values(&self->s, round * AHEAD, (round + 1) * AHEAD);
		if (round & 1)
			ASSERT_LT(0, collect(&self->got, self->s.fd, 1000));
		ASSERT_EQ(0, trace_stop(self->s.fd));
		ASSERT_EQ(0, collect_all(&self->got, self->s.fd, 4096));
		EXPECT_EQ(0, collect(&self->got, self->s.fd, 4096));
	}
	check_whole(_metadata, self, 20 * AHEAD);
}

TEST_F(drain, rewind_discards_unread_data)
{
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 1000, 1000 + AHEAD);
	ASSERT_LT(0, collect(&self->got, self->s.fd, 1000));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	self->got.size = 0;
	ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
	store_values(&self->s, 0, AHEAD);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, collect_all(&self->got, self->s.fd, 4096));
	check_whole(_metadata, self, AHEAD);
}

/* ---- a reader that is overtaken -------------------------------------------- */

/* Added to stored values, so that all messages have the same length. */
#define SAME		0x80000000u

/* Return the size of the messages of @stores stores. STATUS is called after each @part stores. */
static uint64_t bytes_of(struct __test_metadata *_metadata, struct _test_data_drain *self,
			 uint32_t flags, uint64_t buffer, uint32_t stores, uint32_t part)
{
	struct sifive_trace_status status;
	uint32_t next;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, buffer,
					  flags | SIFIVE_TRACE_CONFIG_NO_TIMESTAMP));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	for (next = 0; next < stores; next += part) {
		store_values(&self->s, SAME + next, SAME + next + part);
		ASSERT_EQ(0, trace_status(self->s.fd, &status));
	}
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	return status.bytes;
}

/* Return the number of bytes in the messages that report missing data. */
static size_t error_bytes(const struct _test_data_drain *self)
{
	size_t i, errors = 0;

	for (i = 0; i < self->stream.count; i++)
		errors += self->stream.message[i].tcode == TRACE_TCODE_ERROR;
	return errors * ((16 + self->s.encoder.src_bits + 5) / 6);
}

/*
 * Check that stores are consecutive except after an Error message, and that no message is
 * truncated.
 */
static void check_values(struct __test_metadata *_metadata,
			 const struct trace_stream *stream, uint32_t stores)
{
	uint32_t next = SAME;
	bool missing = false;
	size_t i;

	for (i = 0; i < stream->count; i++) {
		const struct trace_message *m = &stream->message[i];

		if (m->tcode == TRACE_TCODE_ERROR)
			missing = true;
		if (m->tcode != TRACE_TCODE_DATA)
			continue;
		EXPECT_TRUE(missing ? next < m->value : next == m->value) {
			TH_LOG("%#x follows %#x", m->value, next - 1);
		}
		EXPECT_GT(SAME + stores, m->value);
		missing = false;
		next = m->value + 1;
	}
	/* The stream ends with the last store, unless that store was overwritten, too. */
	if (!missing)
		EXPECT_EQ(SAME + stores, next);
}

TEST_F(drain, bytes_lost_by_overtaken_reader_are_counted_exactly)
{
	const uint32_t part = 4096 / LONGEST, stores = 50 * part;
	struct sifive_trace_status status;
	struct timespec before, after;
	uint64_t made;

	made = bytes_of(_metadata, self, 0, 1 << 20, stores, part);
	clock_gettime(CLOCK_MONOTONIC, &before);
	bytes_of(_metadata, self, SIFIVE_TRACE_CONFIG_DRAIN, 4096, stores, part);
	clock_gettime(CLOCK_MONOTONIC, &after);
	ASSERT_EQ(0, collect_all(&self->got, self->s.fd, 4096));
	ASSERT_EQ(0, decode(self));
	ASSERT_EQ(0, trace_sink(self->s.fd, 0, &self->sink));
	EXPECT_NE(0, self->sink.flags & SIFIVE_TRACE_STATUS_GAP);
	EXPECT_EQ(0, self->sink.flags & SIFIVE_TRACE_STATUS_GAP_MORE);
	EXPECT_EQ(1, self->sink.gaps);
	EXPECT_LT(0, error_bytes(self));
	EXPECT_EQ(made, self->sink.lost + self->got.size - error_bytes(self));
	EXPECT_EQ(0, self->sink.gap_offset);
	EXPECT_EQ(TRACE_TCODE_ERROR, self->stream.message[0].tcode);
	EXPECT_LE(before.tv_sec * 1000000000ull + before.tv_nsec, self->sink.gap_begin);
	EXPECT_LT(self->sink.gap_begin, self->sink.gap_end);
	EXPECT_GE(after.tv_sec * 1000000000ull + after.tv_nsec, self->sink.gap_end);
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(1, status.gaps);
	EXPECT_EQ(self->sink.lost, status.lost);
	check_values(_metadata, &self->stream, stores);
}

/* A gap's times are precise even if the reader is slow. */
TEST_F(drain, gap_begins_after_read_data_was_written)
{
	struct timespec written = {};
	uint64_t unread = 0, done = 0;
	char bytes[128];
	unsigned int i;
	ssize_t got;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 4096,
					  SIFIVE_TRACE_CONFIG_DRAIN |
					  SIFIVE_TRACE_CONFIG_NO_TIMESTAMP));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	for (i = 0; i < 400; i++) {
		trace_store(self->s.page, self->s.reg, SAME + i, 4);
		if (i == 10 || i % 100 == 99)
			ASSERT_EQ(0, trace_sink(self->s.fd, 0, &self->sink));
		if (i == 99)
			clock_gettime(CLOCK_MONOTONIC, &written);
		if (i == 199)
			unread = self->sink.bytes;
	}
	ASSERT_LT(0, unread);
	while (done < unread) {
		got = read(self->s.fd, bytes, sizeof(bytes));
		ASSERT_LT(0, got);
		done += (uint64_t)got;
	}
	for (i = 0; i < 4096; i++)
		trace_store(self->s.page, self->s.reg, SAME + i, 4);
	ASSERT_EQ(0, trace_sink(self->s.fd, 0, &self->sink));
	ASSERT_NE(0, self->sink.flags & SIFIVE_TRACE_STATUS_GAP);
	EXPECT_LE(written.tv_sec * 1000000000ull + written.tv_nsec, self->sink.gap_begin);
	EXPECT_GE(self->sink.gap_end, self->sink.gap_begin);
	ASSERT_EQ(0, trace_stop(self->s.fd));
}

TEST_F(drain, each_gap_is_at_message_boundary_and_reported_offset)
{
	const uint32_t part = 4096 / LONGEST;
	uint32_t next = 0, round;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 4096,
					  SIFIVE_TRACE_CONFIG_DRAIN |
					  SIFIVE_TRACE_CONFIG_NO_TIMESTAMP));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	for (round = 1; round <= 30; round++) {
		/* The reader reads part of a message, or nothing, before it is overtaken. */
		store_values(&self->s, SAME + next, SAME + next + part);
		next += part;
		ASSERT_LT(0, collect(&self->got, self->s.fd, 1 + round % 12 * 17));
		do {
			store_values(&self->s, SAME + next, SAME + next + part);
			next += part;
			ASSERT_EQ(0, trace_sink(self->s.fd, 0, &self->sink));
		} while (self->sink.gaps < round);
		ASSERT_EQ(round, self->sink.gaps);
		while (self->got.size <= self->sink.gap_offset)
			ASSERT_LT(0, collect(&self->got, self->s.fd, 16));
		EXPECT_EQ(TRACE_TCODE_ERROR, (self->got.bytes[self->sink.gap_offset] >> 2) & 0x3f);
	}
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, collect_all(&self->got, self->s.fd, 4096));
	ASSERT_EQ(0, decode(self));
	EXPECT_EQ(0, self->stream.cut);
	check_values(_metadata, &self->stream, next);
}

TEST_F(drain, unobserved_wraparounds_are_reported_as_gap)
{
	const uint32_t stores = 100000;
	uint64_t made, counted;
	uint32_t round;

	made = bytes_of(_metadata, self, 0, 1 << 20, stores, stores);
	for (round = 0; round < 5; round++) {
		bytes_of(_metadata, self, SIFIVE_TRACE_CONFIG_DRAIN, 4096, stores, stores);
		self->got.size = 0;
		ASSERT_EQ(0, collect_all(&self->got, self->s.fd, 4096));
		ASSERT_EQ(0, decode(self));
		ASSERT_EQ(0, trace_sink(self->s.fd, 0, &self->sink));
		EXPECT_NE(0, self->sink.flags & SIFIVE_TRACE_STATUS_GAP);
		counted = self->sink.lost + self->got.size - error_bytes(self);
		if (!(self->sink.flags & SIFIVE_TRACE_STATUS_GAP_MORE))
			EXPECT_EQ(made, counted);
		EXPECT_GE(made, counted);
		check_values(_metadata, &self->stream, stores);
	}
}

/* ---- waiting --------------------------------------------------------------- */

static void *stop_later(void *arg)
{
	struct trace_session *s = arg;

	usleep(50000);
	trace_stop(s->fd);
	return NULL;
}

TEST_F(drain, reader_waits_for_data_and_for_end)
{
	pthread_t thread;

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(0, trace_writer_start(&self->writer, &self->s, 100));
	while (self->got.size < 100 * SHORTEST)
		ASSERT_LT(0, collect(&self->got, self->s.fd, 4096));
	EXPECT_EQ(100, trace_writer_stop(&self->writer));
	ASSERT_EQ(0, pthread_create(&thread, NULL, stop_later, &self->s));
	ASSERT_EQ(0, collect_all(&self->got, self->s.fd, 4096));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_RUNNING);
	check_whole(_metadata, self, 100);
}

TEST_F(drain, nonblocking_reader_never_waits)
{
	int fd = open(TRACE_DEVICE, O_RDONLY | O_NONBLOCK);
	ssize_t got;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	do
		got = collect(&self->got, fd, 4096);
	while (got > 0);
	EXPECT_EQ(-EAGAIN, got);
	store_values(&self->s, 0, AHEAD);
	ASSERT_LT(0, collect(&self->got, fd, BUFFER));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, collect_all(&self->got, fd, 4096));
	check_whole(_metadata, self, AHEAD);
	close(fd);
}

TEST_F(drain, read_into_bad_buffer_consumes_no_data)
{
	void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, nowhere);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, AHEAD);
	EXPECT_EQ(-1, read(self->s.fd, nowhere, 4096));
	EXPECT_EQ(EFAULT, errno);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_EQ(-1, read(self->s.fd, nowhere, 4096));
	EXPECT_EQ(EFAULT, errno);
	ASSERT_EQ(0, collect_all(&self->got, self->s.fd, 4096));
	check_whole(_metadata, self, AHEAD);
}

/* Every read() writes to untouched memory, which causes a page fault. */
TEST_F(drain, read_into_untouched_memory_is_complete)
{
	const size_t count = 3 * 4096;
	void *fresh;
	ssize_t got;

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, 3 * AHEAD / 2);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	do {
		fresh = mmap(NULL, count, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ASSERT_NE(MAP_FAILED, fresh);
		got = read(self->s.fd, fresh + 100, count - 100);
		ASSERT_LE(0, got);
		self->got.bytes = realloc(self->got.bytes, self->got.size + count);
		memcpy(self->got.bytes + self->got.size, fresh + 100, (size_t)got);
		self->got.size += (size_t)got;
		munmap(fresh, count);
	} while (got);
	check_whole(_metadata, self, 3 * AHEAD / 2);
}

static void nothing(int number)
{
}

static volatile bool interrupted;

/* Send signals repeatedly: on a slow machine, the first signals arrive before read() waits. */
static void *interrupt(void *arg)
{
	while (!interrupted) {
		usleep(50000);
		pthread_kill(*(pthread_t *)arg, SIGUSR1);
	}
	return NULL;
}

TEST_F(drain, signal_interrupts_waiting_reader)
{
	struct sigaction action = { .sa_handler = nothing };
	pthread_t thread, self_thread = pthread_self();
	char byte;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	fcntl(self->s.fd, F_SETFL, O_NONBLOCK);
	while (read(self->s.fd, &byte, 1) > 0)
		;
	fcntl(self->s.fd, F_SETFL, 0);
	ASSERT_EQ(0, pthread_create(&thread, NULL, interrupt, &self_thread));
	EXPECT_EQ(-1, read(self->s.fd, &byte, 1));
	EXPECT_EQ(EINTR, errno);
	interrupted = true;
	pthread_join(thread, NULL);
}

static int poll_for(int fd, int timeout)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, timeout) < 0 ? -errno : p.revents;
}

static void *store_later(void *arg)
{
	struct trace_session *s = arg;

	usleep(50000);
	store_values(s, 20, 1000);
	return NULL;
}

TEST_F(drain, poll_wakes_at_watermark_and_at_end)
{
	struct sifive_trace_config config = self->s.config;
	pthread_t thread;

	config.watermark = 1000;
	ASSERT_EQ(0, trace_config(self->s.fd, &config));
	EXPECT_EQ(POLLIN, poll_for(self->s.fd, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, 20);
	EXPECT_EQ(0, poll_for(self->s.fd, 30));
	ASSERT_EQ(0, pthread_create(&thread, NULL, store_later, &self->s));
	EXPECT_EQ(POLLIN, poll_for(self->s.fd, -1));
	pthread_join(thread, NULL);
	do {
		ASSERT_LT(0, collect(&self->got, self->s.fd, 4096));
		ASSERT_EQ(0, trace_sink(self->s.fd, 0, &self->sink));
	} while (self->sink.bytes > LONGEST);
	EXPECT_EQ(0, poll_for(self->s.fd, 30));
	ASSERT_EQ(0, pthread_create(&thread, NULL, stop_later, &self->s));
	EXPECT_EQ(POLLIN, poll_for(self->s.fd, -1));
	pthread_join(thread, NULL);
	ASSERT_EQ(0, collect_all(&self->got, self->s.fd, 4096));
	EXPECT_EQ(POLLIN, poll_for(self->s.fd, -1));
	check_whole(_metadata, self, 1000);
}

/* If poll() counted part of a message, a program would retry forever. */
TEST_F(drain, data_reported_by_poll_can_be_read)
{
	char bytes[4096];
	uint32_t i;

	ASSERT_EQ(0, fcntl(self->s.fd, F_SETFL, O_NONBLOCK));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	/* Messages of many lengths end at each offset in a word. */
	for (i = 0; i < 200; i++) {
		trace_store(self->s.page, self->s.reg, 1u << i % 32, 4);
		while (poll_for(self->s.fd, 0) == POLLIN) {
			ssize_t got = read(self->s.fd, bytes, sizeof(bytes));

			ASSERT_LT(0, got);
		}
	}
}

/* ---- readers --------------------------------------------------------------- */

TEST_F(drain, sink_has_one_reader_at_a_time)
{
	int fd = open(TRACE_DEVICE, O_RDONLY);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, AHEAD);
	ASSERT_LT(0, collect(&self->got, fd, 100));
	EXPECT_EQ(-EBUSY, collect(&self->got, self->s.fd, 100));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "another"));
	close(fd);
	ASSERT_LT(0, collect(&self->got, self->s.fd, 100));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, collect_all(&self->got, self->s.fd, 4096));
	check_whole(_metadata, self, AHEAD);
}

/* Read @count bytes in a child, which passes them to the parent and waits to be killed. */
static pid_t child_reads(struct collected *c, size_t count)
{
	uint8_t bytes[4096];
	int pipes[2], fd;
	ssize_t got;
	pid_t child;

	if (pipe(pipes))
		return -1;
	child = fork();
	if (!child) {
		fd = open(TRACE_DEVICE, O_RDONLY);
		got = read(fd, bytes, count);
		got = write(pipes[1], bytes, got < 0 ? 0 : (size_t)got);
		close(pipes[1]);
		for (;;)
			got = read(fd, bytes, 0) ?: (pause(), 0);
	}
	close(pipes[1]);
	got = collect(c, pipes[0], sizeof(bytes));
	close(pipes[0]);
	return got > 0 ? child : -1;
}

TEST_F(drain, next_reader_continues_after_killed_reader)
{
	uint32_t round;
	pid_t child;

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	for (round = 0; round < 50; round++) {
		store_values(&self->s, round * 20, round * 20 + 20);
		child = child_reads(&self->got, 1 + round * 3);
		ASSERT_LT(0, child);
		ASSERT_EQ(0, kill(child, SIGKILL));
		EXPECT_EQ(-1, trace_wait(child));
	}
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, collect_all(&self->got, self->s.fd, 4096));
	check_whole(_metadata, self, 50 * 20);
}

TEST_F(drain, unread_data_outlives_session)
{
	int fd = open(TRACE_DEVICE, O_RDONLY);
	struct trace_stream stream;
	uint32_t last;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, AHEAD);
	ASSERT_LT(0, collect(&self->got, fd, 100));
	trace_session_close(&self->s);
	ASSERT_EQ(0, collect_all(&self->got, fd, 4096));
	ASSERT_EQ(0, trace_decode(self->got.bytes, self->got.size,
				  self->s.encoder.src_bits, &stream));
	EXPECT_EQ(AHEAD, trace_consecutive(&stream, NULL, &last));
	EXPECT_EQ(AHEAD - 1, last);
	free(stream.message);
	close(fd);
}

TEST_F(drain, reconfiguration_ends_reading)
{
	int fd = open(TRACE_DEVICE, O_RDONLY);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, AHEAD);
	ASSERT_LT(0, collect(&self->got, fd, 100));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_config(self->s.fd, &self->s.config));
	EXPECT_EQ(-ESTALE, collect(&self->got, fd, 100));
	close(fd);
}

/* ---- several sinks --------------------------------------------------------- */

TEST_F(drain, each_sink_is_drained_through_its_node)
{
	struct sifive_trace_config config = TRACE_ARG(sifive_trace_config);
	struct sifive_trace_encoder encoder;
	uint32_t i, v, value, stored, made[64] = { 0 };
	struct collected got[64];
	void *page[64] = { 0 };
	char path[64];
	int fd[64];

	memset(got, 0, sizeof(got));
	config.sink = SIFIVE_TRACE_SINK_SBA;
	config.buffer = BUFFER;
	config.channels = ~0u;
	config.flags = SIFIVE_TRACE_CONFIG_DRAIN;
	ASSERT_EQ(0, trace_config(self->s.fd, &config));
	if (config.sinks == 1)
		SKIP(return, "this board has one sink");
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	EXPECT_EQ(-EOPNOTSUPP, collect(&self->got, self->s.fd, 100));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), ".N"));
	for (i = 0; i < config.sinks; i++) {
		snprintf(path, sizeof(path), TRACE_DEVICE ".%u", i);
		fd[i] = open(path, O_RDONLY);
		ASSERT_LE(0, fd[i]);
	}
	/* Alternate between encoders, so that streams wrap several times at different positions. */
	for (v = 0; v < STORES; v += AHEAD)
		for (i = 0; i < self->s.info.encoders; i++) {
			ASSERT_EQ(0, trace_encoder(self->s.fd, i, &encoder));
			if (!page[i])
				page[i] = trace_map(self->s.fd, &encoder);
			ASSERT_NE(NULL, page[i]);
			for (value = v; value < v + AHEAD - i; value++)
				trace_store(page[i], trace_register(&encoder, 6), value, 4);
			made[encoder.sink] += AHEAD - i;
			ASSERT_LT(0, collect(&got[encoder.sink], fd[encoder.sink], BUFFER));
		}
	ASSERT_EQ(0, trace_stop(self->s.fd));
	for (i = 0; i < config.sinks; i++) {
		ASSERT_EQ(0, collect_all(&got[i], fd[i], BUFFER));
		ASSERT_EQ(0, trace_sink(self->s.fd, i, &self->sink));
		EXPECT_EQ(0, self->sink.gaps);
		EXPECT_EQ(got[i].size, self->sink.given);
		ASSERT_EQ(0, trace_decode(got[i].bytes, got[i].size, self->sink.src_bits,
					  &self->stream));
		EXPECT_EQ(0, self->stream.cut);
		for (v = 0, stored = 0; v < self->stream.count; v++)
			stored += self->stream.message[v].tcode == TRACE_TCODE_DATA;
		EXPECT_EQ(made[i], stored);
		free(self->stream.message);
		self->stream.message = NULL;
		close(fd[i]);
		free(got[i].bytes);
	}
}

/* ---- refusals ------------------------------------------------------- */

TEST_F(drain, ring_small_buffer_and_sram_cannot_be_drained)
{
	struct sifive_trace_config config = self->s.config;

	config.flags |= SIFIVE_TRACE_CONFIG_RING;
	EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "RING"));
	config = self->s.config;
	config.buffer = 4095;
	EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "4096"));
	config.buffer = 0;
	config.sink = SIFIVE_TRACE_SINK_SRAM;
	EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "SRAM"));
	/* The previous configuration remains in effect. */
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_values(&self->s, 0, 100);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, collect_all(&self->got, self->s.fd, 4096));
	check_whole(_metadata, self, 100);
}

TRACE_HARNESS_MAIN

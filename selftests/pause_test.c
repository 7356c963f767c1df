// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that another process can interrupt a capture with PAUSE. Stores during the pause are
 * missing; in their place are an Error message and an absolute time. Unprivileged users cannot
 * pause a capture.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_records.h"

#define BUFFER	65536

/* Number of stores in a part, and the first value of each part. */
#define PART	100
#define BEFORE	1000
#define MEANWHILE 2000
#define AFTER	3000
#define LOST	0x77777777

FIXTURE(pause) {
	struct trace_session s;
	struct trace_stream stream;
	struct sifive_trace_status status;
};

FIXTURE_SETUP(pause)
{
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
}

FIXTURE_TEARDOWN(pause)
{
	trace_session_close(&self->s);
	free(self->stream.message);
}

static void store_part(struct trace_session *s, uint32_t from)
{
	uint32_t i;

	for (i = 0; i < PART; i++)
		trace_store(s->page, s->reg, from + i, 4);
}

/* Store one part, then a part during each of @times pauses, then a last part. */
static void record(struct __test_metadata *_metadata, struct _test_data_pause *self,
		   uint32_t flags, unsigned int times)
{
	int other = trace_open(O_RDWR);
	unsigned int i;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, flags));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_part(&self->s, BEFORE);
	for (i = 0; i < times; i++) {
		ASSERT_EQ(0, trace_pause(other));
		store_part(&self->s, MEANWHILE);
		ASSERT_EQ(0, trace_unpause(other));
	}
	store_part(&self->s, AFTER);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	close(other);
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &self->stream));
	EXPECT_EQ(0, self->stream.cut);
}

/* Return whether the stream contains the first part, @times Error messages, and the last part. */
static void check(struct __test_metadata *_metadata, const struct trace_stream *stream,
		  unsigned int times)
{
	unsigned int errors = 0, synced = 0;
	uint32_t next = BEFORE;
	size_t i;

	for (i = 0; i < stream->count; i++) {
		const struct trace_message *m = &stream->message[i];

		if (m->tcode == TRACE_TCODE_ERROR) {
			EXPECT_EQ(BEFORE + PART, next);
			errors++;
			synced = 0;
		} else if (m->tcode == TRACE_TCODE_SYNC) {
			synced++;
		} else if (m->tcode == TRACE_TCODE_DATA) {
			if (m->value == AFTER)
				next = AFTER;
			EXPECT_EQ(next, m->value);
			EXPECT_LT(0, synced);
			next++;
		}
	}
	EXPECT_EQ(times, errors);
	EXPECT_EQ(AFTER + PART, next);
}

TEST_F(pause, stores_during_pause_are_omitted_and_reported)
{
	static const uint32_t flags[] = {
		0, SIFIVE_TRACE_CONFIG_RING, SIFIVE_TRACE_CONFIG_DRAIN,
		SIFIVE_TRACE_CONFIG_DRAIN | SIFIVE_TRACE_CONFIG_WAIT,
	};
	unsigned int i, times;

	for (i = 0; i < ARRAY_SIZE(flags); i++)
		for (times = 0; times < 4; times++) {
			record(_metadata, self, flags[i], times);
			check(_metadata, &self->stream, times);
			free(self->stream.message);
			self->stream.message = NULL;
			ASSERT_EQ(0, trace_status(self->s.fd, &self->status));
			EXPECT_EQ(times, self->status.pauses);
			EXPECT_EQ(times != 0, self->status.paused != 0);
			EXPECT_EQ(0, self->status.gaps);
		}
}

TEST_F(pause, ring_can_be_paused_at_any_position)
{
	unsigned int round;
	uint32_t i;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 4096,
					  SIFIVE_TRACE_CONFIG_RING));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	/*
	 * Store more data than the ring can hold. The number of bytes from one pause to the next
	 * does not divide the ring's size.
	 */
	for (round = 0; round < 500; round++) {
		for (i = 0; i < 7; i++)
			trace_store(self->s.page, self->s.reg, round * 7 + i, 4);
		ASSERT_EQ(0, trace_pause(self->s.fd));
		ASSERT_EQ(0, trace_unpause(self->s.fd));
	}
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &self->stream));
	EXPECT_EQ(0, self->stream.cut);
	EXPECT_LT(7, trace_consecutive(&self->stream, NULL, &i));
	EXPECT_EQ(round * 7 - 1, i);
}

TEST_F(pause, drained_capture_does_not_end)
{
	char bytes[4096];
	ssize_t got;

	ASSERT_EQ(0, fcntl(self->s.fd, F_SETFL, O_NONBLOCK));
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER,
					  SIFIVE_TRACE_CONFIG_DRAIN));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_part(&self->s, BEFORE);
	ASSERT_EQ(0, trace_pause(self->s.fd));
	ASSERT_EQ(0, trace_status(self->s.fd, &self->status));
	EXPECT_NE(0, self->status.flags & SIFIVE_TRACE_STATUS_RUNNING);
	EXPECT_NE(0, self->status.flags & SIFIVE_TRACE_STATUS_PAUSED);
	do
		got = read(self->s.fd, bytes, sizeof(bytes));
	while (got > 0);
	EXPECT_EQ(-1, got);
	EXPECT_EQ(EAGAIN, errno);
	/* CONFIG from another process must not replace a session whose capture is paused. */
	EXPECT_EQ(-EBUSY, trace_config(self->s.fd, &self->s.config));
	/* After STOP, no pause is in effect. */
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_EQ(0, read(self->s.fd, bytes, sizeof(bytes)));
	EXPECT_EQ(0, trace_flags(self->s.fd) & (SIFIVE_TRACE_STATUS_RUNNING |
						SIFIVE_TRACE_STATUS_PAUSED));
	EXPECT_EQ(0, trace_unpause(self->s.fd));
	EXPECT_EQ(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_RUNNING);
}

static void nothing(int number)
{
}

static void *stop_later(void *arg)
{
	struct trace_session *s = arg;

	usleep(200000);
	trace_stop(s->fd);
	return NULL;
}

TEST_F(pause, stop_during_pause_wakes_reader)
{
	struct sigaction action = { .sa_handler = nothing };
	pthread_t thread;
	char bytes[4096];
	ssize_t got;

	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER,
					  SIFIVE_TRACE_CONFIG_DRAIN));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_part(&self->s, BEFORE);
	ASSERT_EQ(0, trace_pause(self->s.fd));
	ASSERT_EQ(0, pthread_create(&thread, NULL, stop_later, &self->s));
	/* Without a notification, read() would wait forever. */
	alarm(600);
	do
		got = read(self->s.fd, bytes, sizeof(bytes));
	while (got > 0);
	alarm(0);
	EXPECT_EQ(0, got);
	pthread_join(thread, NULL);
}

TEST_F(pause, poll_does_not_report_pause_as_end)
{
	struct pollfd p = { .events = POLLIN };

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	p.fd = self->s.fd;
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	EXPECT_EQ(0, poll(&p, 1, 0));
	ASSERT_EQ(0, trace_pause(self->s.fd));
	EXPECT_EQ(0, poll(&p, 1, 0));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_EQ(1, poll(&p, 1, 0));
}

TEST_F(pause, ring_reader_sees_one_snapshot)
{
	uint8_t bytes[2 * 4096];
	size_t size = 1000;
	uint32_t i, last;
	ssize_t got;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 4096,
					  SIFIVE_TRACE_CONFIG_RING));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	for (i = 0; i < 3000; i++)
		trace_store(self->s.page, self->s.reg, i, 4);
	ASSERT_EQ(0, trace_pause(self->s.fd));
	ASSERT_EQ(size, read(self->s.fd, bytes, size));
	ASSERT_EQ(0, trace_unpause(self->s.fd));
	for (; i < 3333; i++)
		trace_store(self->s.page, self->s.reg, i, 4);
	while ((got = read(self->s.fd, bytes + size, sizeof(bytes) - size)) > 0)
		size += (size_t)got;
	ASSERT_EQ(0, got);
	ASSERT_EQ(0, trace_decode(bytes, size, self->s.encoder.src_bits, &self->stream));
	EXPECT_LT(100, trace_consecutive(&self->stream, NULL, &last));
	EXPECT_EQ(2999, last);
}

/* Clear the encoder's control register, through the page that the program maps. */
static void reset_encoder(struct trace_session *s)
{
	*(volatile uint32_t *)((char *)s->page + TR_CONTROL) = 0;
	__sync_synchronize();
}

TEST_F(pause, encoder_reset_during_pause_continues)
{
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_part(&self->s, BEFORE);
	ASSERT_EQ(0, trace_pause(self->s.fd));
	reset_encoder(&self->s);
	EXPECT_EQ(0, trace_unpause(self->s.fd)) {
		TH_LOG("%s", trace_message(self->s.fd));
	}
	store_part(&self->s, AFTER);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &self->stream));
	check(_metadata, &self->stream, 1);
}

/* Fill the buffer of @full until it has no room for another word, but is not reported as full. */
static bool fill_but_a_word(struct _test_data_pause *self, void *page,
			    const struct sifive_trace_encoder *full, unsigned int longer)
{
	unsigned int reg = trace_register(full, TRACE_CHANNEL), i;
	struct sifive_trace_sink sink;

	for (i = 0; i < longer; i++)
		trace_store(page, reg, 0x1000000, 4);
	do {
		trace_store(page, reg, 1, 4);
		if (trace_pause(self->s.fd) || trace_sink(self->s.fd, full->sink, &sink))
			return false;
		if (sink.flags & SIFIVE_TRACE_STATUS_FULL)
			return false;
		if (sink.bytes + sink.word >= sink.buffer)
			return true;
	} while (!trace_unpause(self->s.fd));
	return false;
}

TEST_F(pause, unpause_without_room_appends_nothing)
{
	struct sifive_trace_encoder last;
	struct sifive_trace_sink before, after;
	unsigned int longer;
	bool found = false;
	void *page;

	self->s.also = ~0ull >> (64 - self->s.info.encoders);
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 4096,
					  SIFIVE_TRACE_CONFIG_NO_TIMESTAMP));
	ASSERT_EQ(0, trace_encoder(self->s.fd, self->s.info.encoders - 1, &last));
	if (last.sink == self->s.encoder.sink)
		SKIP(return, "this board has one sink");
	page = trace_map(self->s.fd, &last);
	ASSERT_NE(NULL, page);
	for (longer = 0; longer < 200 && !found; longer++) {
		ASSERT_EQ(0, trace_stop(self->s.fd));
		ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
		found = fill_but_a_word(self, page, &last, longer);
	}
	ASSERT_TRUE(found);
	ASSERT_EQ(0, trace_sink(self->s.fd, self->s.encoder.sink, &before));
	EXPECT_EQ(-ENOSPC, trace_unpause(self->s.fd));
	ASSERT_EQ(0, trace_sink(self->s.fd, self->s.encoder.sink, &after));
	EXPECT_EQ(before.bytes, after.bytes);
	trace_unmap(page);
}

/* Fill the sink of an encoder whose page is mapped. */
static bool fill(const struct trace_session *s, void *page,
		 const struct sifive_trace_encoder *full)
{
	struct sifive_trace_sink sink = { .buffer = 4096 };
	uint64_t i;

	for (i = 0; i < sink.buffer; i++) {
		trace_store(page, trace_register(full, TRACE_CHANNEL), 1, 4);
		if (trace_sink(s->fd, full->sink, &sink))
			return false;
		if (sink.flags & SIFIVE_TRACE_STATUS_FULL)
			return true;
	}
	return false;
}

TEST_F(pause, full_sink_does_not_block_other_sinks)
{
	struct sifive_trace_sink full[2], other[2];
	struct sifive_trace_encoder last;
	size_t i;
	void *page;

	self->s.also = ~0ull >> (64 - self->s.info.encoders);
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 4096, 0));
	ASSERT_EQ(0, trace_encoder(self->s.fd, self->s.info.encoders - 1, &last));
	if (last.sink == self->s.encoder.sink)
		SKIP(return, "this board has one sink");
	page = trace_map(self->s.fd, &last);
	ASSERT_NE(NULL, page);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_TRUE(fill(&self->s, page, &last));
	store_part(&self->s, BEFORE);
	ASSERT_EQ(0, trace_pause(self->s.fd));
	ASSERT_EQ(0, trace_sink(self->s.fd, last.sink, &full[0]));
	ASSERT_EQ(0, trace_sink(self->s.fd, self->s.encoder.sink, &other[0]));
	EXPECT_EQ(0, trace_unpause(self->s.fd)) {
		TH_LOG("%s", trace_message(self->s.fd));
	}
	store_part(&self->s, AFTER);
	for (i = 0; i < PART; i++)
		trace_store(page, trace_register(&last, TRACE_CHANNEL), LOST, 4);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &self->stream));
	for (i = 0; i < self->stream.count; i++)
		EXPECT_NE(LOST, self->stream.message[i].value);
	ASSERT_EQ(0, trace_sink(self->s.fd, last.sink, &full[1]));
	ASSERT_EQ(0, trace_sink(self->s.fd, self->s.encoder.sink, &other[1]));
	EXPECT_EQ(full[0].bytes, full[1].bytes);
	/* The other sink has received more than PART messages, of at least two bytes each. */
	EXPECT_LT(other[0].bytes + 2 * PART, other[1].bytes);

	/* If no sink has room, the pause cannot end. */
	ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
	ASSERT_TRUE(fill(&self->s, page, &last));
	ASSERT_TRUE(fill(&self->s, self->s.page, &self->s.encoder));
	ASSERT_EQ(0, trace_pause(self->s.fd));
	EXPECT_EQ(-ENOSPC, trace_unpause(self->s.fd));
	trace_unmap(page);
}

TEST_F(pause, start_ends_pause_and_rewind_discards_data)
{
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_part(&self->s, BEFORE);
	ASSERT_EQ(0, trace_pause(self->s.fd));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	EXPECT_EQ(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_PAUSED);
	store_part(&self->s, AFTER);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &self->stream));
	check(_metadata, &self->stream, 1);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(0, trace_pause(self->s.fd));
	ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
	store_part(&self->s, AFTER);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	free(self->stream.message);
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &self->stream));
	EXPECT_EQ(PART, trace_consecutive(&self->stream, NULL, NULL));
}

TEST_F(pause, invalid_requests_are_refused)
{
	struct sifive_trace_run unknown = { .size = sizeof(unknown), .flags = 2 };
	uint32_t i;

	EXPECT_EQ(-ENXIO, trace_pause(self->s.fd));
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 4096, 0));
	EXPECT_EQ(-ENXIO, trace_pause(self->s.fd));
	EXPECT_EQ(-EINVAL, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_PAUSE, &unknown));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	/* A full buffer has no room for the messages that must follow a pause. */
	for (i = 0; !(trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_FULL); i++)
		trace_store(self->s.page, self->s.reg, i, 4);
	EXPECT_EQ(0, trace_pause(self->s.fd));
	EXPECT_EQ(-ENOSPC, trace_unpause(self->s.fd));
	EXPECT_NE(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_PAUSED);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SRAM))
		return;
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SRAM, 0, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	EXPECT_EQ(-EOPNOTSUPP, trace_pause(self->s.fd));
}

TEST_F(pause, other_processes_need_capability)
{
	pid_t child;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	child = fork();
	if (!child)
		_exit(trace_keep_caps(0) ? 99 : -trace_pause(self->s.fd));
	EXPECT_EQ(EPERM, trace_wait(child));
	EXPECT_EQ(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_PAUSED);
	child = fork();
	if (!child)
		_exit(-trace_pause(self->s.fd));
	EXPECT_EQ(0, trace_wait(child));
	EXPECT_NE(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_PAUSED);
}

/* ---- samples ---------------------------------------------------------- */

static void sample(struct __test_metadata *_metadata, struct _test_data_pause *self,
		   uint32_t flags)
{
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);

	trace_sample_freely();
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 1 << 20, 0));
	sampling.channel = self->s.reg;
	sampling.interval = 1000000;
	sampling.flags = flags;
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
}

static void ignore(const struct trace_record *record, void *arg)
{
}

/* Records after a pause follow a loss: without a header, XORed counts would be unknown. */
TEST_F(pause, samples_resume_with_header)
{
	struct trace_totals totals;

	sample(_metadata, self, SIFIVE_TRACE_SAMPLING_ONE_HEADER);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(0, trace_pause(self->s.fd));
	ASSERT_EQ(0, trace_unpause(self->s.fd));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_records(self->s.fd, &totals, ignore, NULL));
	EXPECT_EQ(2, totals.headers);
}

static bool pausing;

static void *pause_repeatedly(void *arg)
{
	int fd = trace_open(O_RDWR);

	while (__atomic_load_n(&pausing, __ATOMIC_RELAXED))
		trace_pause(fd);
	close(fd);
	return NULL;
}

/* When START creates its events, other processes can already pause the capture. */
TEST_F(pause, pause_during_start_loses_no_later_samples)
{
	pthread_t thread;
	unsigned int i;

	sample(_metadata, self, 0);
	for (i = 0; i < 10; i++) {
		pausing = true;
		ASSERT_EQ(0, pthread_create(&thread, NULL, pause_repeatedly, NULL));
		EXPECT_EQ(0, trace_start(self->s.fd, 0));
		while (!(trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_PAUSED))
			sched_yield();
		__atomic_store_n(&pausing, false, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
		ASSERT_EQ(0, trace_unpause(self->s.fd));
		ASSERT_TRUE(trace_samples(self->s.fd));
		ASSERT_EQ(0, trace_stop(self->s.fd));
	}
}

TRACE_HARNESS_MAIN

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests copying a capture while it runs: the end of a capture after a limit, bytes that cannot be
 * read, and side-car files that cannot be joined. A pipe is the sink.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "kept_report.h"
#include "target/drain.h"
#include "target/rotate.h"
#include "target/sidecar.h"

#define CAPTURE	7

static struct sifive_trace_status status;

/* Numbers of times that losses and sinks were read. */
static unsigned int losses_read, sinks_read;

/* Number of STATUS calls until the buffer has room. */
static unsigned int full_looks;

/*
 * Simulates the driver's ioctl() calls; sources that make them are compiled with
 * -Dioctl=mock_ioctl.
 */
int mock_ioctl(int fd, unsigned long request, ...)
{
	struct sifive_trace_sink *sink;
	va_list arguments;
	void *argument;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (request == SIFIVE_TRACE_IOC_STATUS) {
		if (full_looks && !--full_looks)
			status.flags &= ~SIFIVE_TRACE_STATUS_WAITING;
		memcpy(argument, &status, sizeof(status));
	}
	losses_read += request == SIFIVE_TRACE_IOC_LOSSES;
	if (request != SIFIVE_TRACE_IOC_SINK)
		return 0;
	sinks_read++;
	sink = argument;
	sink->gaps = status.gaps;
	sink->lost = status.lost;
	return 0;
}

const char *machine_device(void)
{
	return "the device";
}

uint64_t perf_device_now(void)
{
	return 1;
}

void perf_device_file(char *name, const char *path, uint32_t index, uint32_t sinks)
{
	snprintf(name, PATH_MAX, sinks < 2 ? "%s" : "%s.%u", path, index);
}

int perf_error(const char *format, ...)
{
	return -1;
}

bool machine_side_car(void)
{
	return true;
}

bool machine_encoder(int fd, uint32_t index, struct sifive_trace_encoder *encoder)
{
	return false;
}

void machine_file(const char *path, char *text, size_t size)
{
	*text = '\0';
}

uint32_t machine_changed(const struct sifive_trace_status *state)
{
	return 0;
}

void trigger_describe(struct output *out, const struct trigger_hit *hit,
		      const struct trigger_clock *clock)
{
}

void objects_write(struct objects *objects, struct output *out, bool ring)
{
}

FIXTURE(drain)
{
	struct drain drain;
	int writer;
};

FIXTURE_SETUP(drain)
{
	static const struct meta_part all;
	struct epoll_event event = { .events = EPOLLIN };
	int ends[2];

	memset(&self->drain, 0, sizeof(self->drain));
	memset(&status, 0, sizeof(status));
	status.capture = CAPTURE;
	reported[0] = '\0';
	ASSERT_EQ(0, pipe2(ends, O_NONBLOCK | O_CLOEXEC));
	self->writer = ends[1];
	self->drain.sinks = 1;
	self->drain.path = "trace";
	self->drain.part = &all;
	self->drain.capture = CAPTURE;
	self->drain.control = -1;
	self->drain.live = true;
	self->drain.sink[0].device = ends[0];
	self->drain.sink[0].file = open("/dev/null", O_WRONLY | O_CLOEXEC);
	self->drain.events = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_EQ(0, epoll_ctl(self->drain.events, EPOLL_CTL_ADD, ends[0], &event));
}

FIXTURE_TEARDOWN(drain)
{
	drain_close(&self->drain);
	close(self->writer);
}

/* Return whether a wait for the next event returns immediately. */
static bool spins(const struct drain *drain)
{
	struct timespec longest;
	struct pollfd event;

	if (!drain_event(drain, &event, &longest))
		return false;
	return poll(&event, 1, 0) > 0 || (!longest.tv_sec && longest.tv_nsec < 10000000);
}

TEST_F(drain, end_of_capture_after_a_limit_is_not_an_event)
{
	self->drain.over = true;
	self->drain.wait = true;
	/* While writers wait for room, data must be read, but not copied. */
	ASSERT_EQ(3, write(self->writer, "abc", 3));
	EXPECT_TRUE(spins(&self->drain));
	drain_copy(&self->drain);
	EXPECT_FALSE(spins(&self->drain));
	EXPECT_TRUE(self->drain.live);
	EXPECT_EQ(0, self->drain.sink[0].bytes);
	/* At its end, a pipe remains readable, like a stopped capture. */
	close(self->writer);
	self->writer = -1;
	drain_copy(&self->drain);
	EXPECT_FALSE(self->drain.live);
	EXPECT_FALSE(spins(&self->drain));
}

TEST_F(drain, restarted_capture_after_a_limit_is_read)
{
	self->drain.over = true;
	self->drain.wait = true;
	self->drain.live = false;
	status.flags = SIFIVE_TRACE_STATUS_RUNNING;
	ASSERT_EQ(3, write(self->writer, "abc", 3));
	drain_copy(&self->drain);
	EXPECT_FALSE(spins(&self->drain));
	EXPECT_TRUE(self->drain.live);
}

/* Make read() of the sink fail. */
static void break_sink(struct drain *drain)
{
	close(drain->sink[0].device);
	drain->sink[0].device = open("/dev/null", O_WRONLY | O_CLOEXEC);
}

TEST_F(drain, failed_read_is_reported_once)
{
	break_sink(&self->drain);
	drain_copy(&self->drain);
	EXPECT_STREQ("the device: Bad file descriptor: bytes that cannot be read are lost", reported);
	EXPECT_FALSE(self->drain.live);
	drain_rest(&self->drain);
	EXPECT_STREQ("the device: Bad file descriptor: bytes that cannot be read are lost", reported);
}

/* The caller reports that another session has begun. */
TEST_F(drain, read_error_in_another_session_is_not_reported)
{
	break_sink(&self->drain);
	status.capture++;
	drain_copy(&self->drain);
	EXPECT_STREQ("", reported);
}

TEST_F(drain, unread_bytes_are_a_loss)
{
	struct sifive_trace_sink sink = { .given = 30, .lost = 5, .gaps = 1, .bytes = 12 };

	self->drain.sink[0].written = 30;
	EXPECT_STREQ("the command could not read them", drain_account(&self->drain, 0, &sink));
	EXPECT_EQ(30, sink.given);
	EXPECT_EQ(17, sink.lost);
	EXPECT_EQ(2, sink.gaps);
	EXPECT_EQ(0, sink.bytes);
}

TEST_F(drain, unwritten_bytes_are_a_loss)
{
	struct sifive_trace_sink sink = { .given = 30, .bytes = 12 };

	self->drain.sink[0].written = 20;
	self->drain.sink[0].failed = true;
	EXPECT_STREQ("the file could not be written", drain_account(&self->drain, 0, &sink));
	EXPECT_EQ(20, sink.given);
	EXPECT_EQ(22, sink.lost);
	EXPECT_EQ(1, sink.gaps);
}

TEST_F(drain, bytes_after_a_limit_are_not_a_loss)
{
	struct sifive_trace_sink sink = { .given = 70, .bytes = 12 };

	self->drain.sink[0].written = 30;
	self->drain.sink[0].last.given = 30;
	self->drain.over = true;
	EXPECT_EQ(NULL, drain_account(&self->drain, 0, &sink));
	EXPECT_EQ(30, sink.given);
	EXPECT_EQ(0, sink.lost);
	EXPECT_EQ(0, sink.gaps);
}

TEST_F(drain, complete_drain_reports_no_loss)
{
	struct sifive_trace_sink sink = { .given = 30 };

	self->drain.sink[0].written = 30;
	EXPECT_EQ(NULL, drain_account(&self->drain, 0, &sink));
	EXPECT_EQ(0, sink.lost);
	EXPECT_EQ(0, sink.gaps);
}

TEST_F(drain, limit_is_reported_unless_quiet)
{
	self->drain.most = 1;
	drain_copy(&self->drain);
	EXPECT_STREQ("the limit of --size is reached: nothing more is recorded", reported);
	reported[0] = '\0';
	self->drain.over = false;
	self->drain.quiet = true;
	drain_copy(&self->drain);
	EXPECT_TRUE(self->drain.over);
	EXPECT_STREQ("", reported);
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	if (!file)
		abort();
	fputs(text, file);
	fclose(file);
}

static bool has(const char *name, const char *text)
{
	char have[4096] = "";
	FILE *file = fopen(name, "r");

	if (!file)
		return false;
	have[fread(have, 1, sizeof(have) - 1, file)] = '\0';
	fclose(file);
	return strstr(have, text);
}

#define WHOLE(sink)	"{\"version\":1,\n\"objects\":[" sink "],\n\"coverage\":{},\n\"lost\":{}\n}\n"

/* The disk was full when the side-car file of sink 0 was written. */
TEST_F(drain, unjoined_side_car_file_is_kept)
{
	char dir[] = "/tmp/drain_test.XXXXXX", command[64];
	unsigned int i;

	ASSERT_NE(NULL, mkdtemp(dir));
	ASSERT_EQ(0, chdir(dir));
	self->drain.sinks = 2;
	self->drain.sink[1] = (struct drain_sink){ .device = -1, .file = -1 };
	for (i = 0; i < 2; i++) {
		self->drain.sink[i].cut = cut_new(1, 40);
		self->drain.sink[i].from = calloc(1, sizeof(*self->drain.sink[i].from));
		ASSERT_NE(NULL, self->drain.sink[i].cut);
		ASSERT_NE(NULL, self->drain.sink[i].from);
		self->drain.sink[i].piece = 1;
	}
	put("trace.0.meta", "{\"version\":1,\n\"objects\":[{},{");
	put("trace.0.0.meta", "{\"version\":1,\n\"old\":[],\n\"piece\":0,\n\"continued\":true}\n");
	put("trace.0.1.meta", "{\"version\":1,\n\"old\":[],\n\"piece\":1}\n");
	put("trace.1.meta", WHOLE("{}"));
	put("trace.1.0.meta", "{\"version\":1,\n\"old\":[],\n\"piece\":0,\n\"continued\":true}\n");
	put("trace.1.1.meta", "{\"version\":1,\n\"old\":[],\n\"piece\":1}\n");
	EXPECT_EQ(-1, rotate_end(&self->drain));
	EXPECT_EQ(0, access("trace.0.meta", F_OK));
	EXPECT_TRUE(has("trace.0.0.meta", "{\"version\":1,\n\"old\":[],\n\"piece\":0"));
	EXPECT_TRUE(has("trace.0.1.meta", "{\"version\":1,\n\"old\":[],\n\"piece\":1"));
	EXPECT_NE(0, access("trace.1.meta", F_OK));
	EXPECT_TRUE(has("trace.1.0.meta", "{\"version\":1,\n\"objects\":[{}],\n\"piece\":0"));
	EXPECT_TRUE(has("trace.1.1.meta", "{\"version\":1,\n\"objects\":[{}],\n\"piece\":1"));
	ASSERT_EQ(0, chdir("/"));
	snprintf(command, sizeof(command), "rm -r %s", dir);
	EXPECT_EQ(0, system(command));
}

/* Another session has begun before the last piece ended. */
TEST_F(drain, piece_contains_no_numbers_of_another_session)
{
	char dir[] = "/tmp/drain_test.XXXXXX", command[64];
	struct drain_sink *sink = &self->drain.sink[0];

	ASSERT_NE(NULL, mkdtemp(dir));
	ASSERT_EQ(0, chdir(dir));
	sink->cut = cut_new(1, 40);
	sink->from = calloc(1, sizeof(*sink->from));
	ASSERT_NE(NULL, sink->cut);
	ASSERT_NE(NULL, sink->from);
	sink->piece = 1;
	sink->from->sink.given = 20;
	sink->from->status.samples_lost = 3;
	sink->bytes = 30;
	sink->written = 30;
	status.capture++;
	status.samples_lost = 1;
	put("trace.meta", WHOLE("{}"));
	put("trace.0.meta", "{\"version\":1,\n\"piece\":0,\n\"continued\":true}\n");
	put("trace.1.meta", "{\"version\":1,\n\"piece\":1}\n");
	EXPECT_EQ(0, rotate_end(&self->drain));
	EXPECT_TRUE(has("trace.1.meta", "\"bytes\":10,"));
	EXPECT_TRUE(has("trace.1.meta", "\"gaps\":0,\"gap_bytes\":0,"));
	EXPECT_TRUE(has("trace.1.meta", "\"samples\":0,"));
	ASSERT_EQ(0, chdir("/"));
	snprintf(command, sizeof(command), "rm -r %s", dir);
	EXPECT_EQ(0, system(command));
}

/* ---- when data was lost -------------------------------------------------------- */

TEST_F(drain, drops_are_listed_with_begin_end_and_number)
{
	struct sifive_trace_status now = { .fulls = 1, .full_ns = 300 };
	struct gaps_room room = { .looked = 500 };
	struct gaps_entry gap;

	now.flags = SIFIVE_TRACE_STATUS_WAITING;
	EXPECT_FALSE(gaps_room(&room, &now, 2, 1000, false, &gap));
	now.flags = 0;
	now.full_ns = 800;
	EXPECT_TRUE(gaps_room(&room, &now, 5, 2000, false, &gap));
	EXPECT_EQ(700, gap.begin);
	EXPECT_EQ(1500, gap.end);
	EXPECT_EQ(5, gap.dropped);
	EXPECT_FALSE(gaps_room(&room, &now, 5, 2100, false, &gap));
	/* The buffer was full for a short time between two STATUS calls. */
	now.fulls = 2;
	now.full_ns = 900;
	EXPECT_TRUE(gaps_room(&room, &now, 9, 3000, false, &gap));
	EXPECT_EQ(2100, gap.begin);
	EXPECT_EQ(3000, gap.end);
	EXPECT_EQ(4, gap.dropped);
	/* If records wait for room, none are lost, so no gap is listed. */
	now.fulls = 3;
	now.full_ns = 1000;
	EXPECT_FALSE(gaps_room(&room, &now, 9, 4000, true, &gap));
}

TEST_F(drain, gap_spans_the_bytes_read_after_a_slow_write)
{
	const struct gaps_room *room = &self->drain.room;

	ASSERT_EQ(3, write(self->writer, "abc", 3));
	status.fulls = 1;
	status.flags = SIFIVE_TRACE_STATUS_WAITING;
	/*
	 * STATUS is called before the bytes are read, before their end is reached, and afterwards.
	 */
	full_looks = 3;
	drain_copy(&self->drain);
	EXPECT_EQ(0, full_looks);
	EXPECT_FALSE(room->open);
}

TEST_F(drain, losses_are_read_only_when_new_ones_are_possible)
{
	const struct gaps *gaps = &self->drain.sink[0].gaps;

	losses_read = 0;
	sinks_read = 0;
	drain_look(&self->drain, false);
	EXPECT_EQ(0, sinks_read);
	status.gaps = 1;
	status.lost = 100;
	drain_look(&self->drain, false);
	drain_look(&self->drain, false);
	EXPECT_EQ(1, sinks_read);
	/* The lost bytes are the rest of a truncated message. */
	status.lost = 110;
	drain_look(&self->drain, false);
	EXPECT_EQ(2, sinks_read);
	EXPECT_EQ(1, gaps->count);
	EXPECT_EQ(110, gaps->gap[0].bytes);
	EXPECT_EQ(0, losses_read);
	status.fulls = 1;
	drain_look(&self->drain, false);
	EXPECT_EQ(1, losses_read);
	/* The buffer has room again. */
	drain_look(&self->drain, false);
	EXPECT_EQ(1, losses_read);
	drain_look(&self->drain, true);
	EXPECT_EQ(2, losses_read);
}

TEST_F(drain, lost_bytes_are_listed_and_the_list_is_bounded)
{
	static struct gaps gaps;
	struct sifive_trace_sink sink = { .gap_begin = 10, .gap_end = 20 };
	unsigned int i;

	for (i = 0; i < GAPS_MAX + 6; i++) {
		sink.gaps++;
		sink.lost += 3;
		sink.gap_end++;
		gaps_sink(&gaps, &sink);
	}
	sink.lost += 2;
	gaps_sink(&gaps, &sink);
	EXPECT_EQ(GAPS_MAX, gaps.count);
	EXPECT_EQ(3, gaps.gap[0].bytes);
	EXPECT_EQ(10, gaps.gap[0].begin);
	EXPECT_EQ(21, gaps.gap[0].end);
	EXPECT_EQ(7 * 3 + 2, gaps.gap[GAPS_MAX - 1].bytes);
	EXPECT_EQ(sink.gap_end, gaps.gap[GAPS_MAX - 1].end);
}

TEST_HARNESS_MAIN

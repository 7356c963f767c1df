// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests record --snapshot: requests of recorded programs, with a simulated driver. */
/* Only requests.c calls the simulated poll(). */
#undef poll
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include "kselftest_harness.h"

#include <linux/sifive_trace_request.h>

#include "target/requests.h"

/* What the driver reports, and the number of times that it was asked. */
static struct sifive_trace_request latest;
static short ready;
static unsigned int looks;
static int failure;

int mock_ioctl(int fd, unsigned long request, ...)
{
	struct sifive_trace_request *argument;
	va_list arguments;

	va_start(arguments, request);
	argument = va_arg(arguments, struct sifive_trace_request *);
	va_end(arguments);
	if (request != SIFIVE_TRACE_IOC_REQUEST || argument->size != sizeof(*argument) ||
	    argument->flags != SIFIVE_TRACE_REQUEST_LOOK || argument->reserved)
		abort();
	looks++;
	*argument = latest;
	if (!failure)
		ready = 0;
	return failure;
}

int mock_poll(struct pollfd *event, nfds_t count, int timeout)
{
	if (count != 1 || event->events != POLLPRI || timeout)
		abort();
	event->revents = ready;
	return !!ready;
}

const char *machine_device(void)
{
	return "/dev/null";
}

static unsigned int reports;

void trigger_report(const struct trigger *trigger, bool quiet)
{
	reports++;
}

FIXTURE(requests)
{
	struct requests requests;
	struct trigger_hit hit;
};

FIXTURE_SETUP(requests)
{
	memset(&latest, 0, sizeof(latest));
	ready = 0;
	looks = 0;
	failure = 0;
	reports = 0;
	requests_open(&self->requests);
	ASSERT_LE(0, self->requests.fd);
}

FIXTURE_TEARDOWN(requests)
{
	requests_close(&self->requests);
	EXPECT_EQ(-1, self->requests.fd);
}

static void ask(uint64_t count, uint64_t time, pid_t thread)
{
	latest = (struct sifive_trace_request){ .count = count, .time = time, .thread = thread };
	ready = POLLPRI;
}

TEST_F(requests, request_is_a_hit_with_its_time_and_thread)
{
	EXPECT_FALSE(requests_next(&self->requests, &self->hit));
	EXPECT_EQ(0, looks);
	ask(1, 1000, 42);
	ASSERT_TRUE(requests_next(&self->requests, &self->hit));
	EXPECT_STREQ("sifive_trace_snapshot", self->hit.function);
	EXPECT_EQ(1, self->hit.call);
	EXPECT_EQ(42, self->hit.tid);
	EXPECT_EQ(1000, self->hit.from);
	EXPECT_EQ(1000, self->hit.to);
	EXPECT_FALSE(self->hit.slow);
	EXPECT_FALSE(self->hit.last);
	EXPECT_FALSE(requests_next(&self->requests, &self->hit));
}

TEST_F(requests, one_snapshot_serves_requests_made_in_the_meantime)
{
	ask(1, 1000, 42);
	ASSERT_TRUE(requests_next(&self->requests, &self->hit));
	ask(4, 4000, 43);
	ASSERT_TRUE(requests_next(&self->requests, &self->hit));
	EXPECT_EQ(4, self->hit.call);
	EXPECT_EQ(43, self->hit.tid);
	EXPECT_FALSE(requests_next(&self->requests, &self->hit));
	EXPECT_EQ(4, self->requests.trigger.calls);
	EXPECT_EQ(4, self->requests.trigger.hits);
	EXPECT_EQ(2, self->requests.trigger.early);
}

/* A program that traces itself can configure several captures. */
TEST_F(requests, requests_of_a_new_capture_are_counted_from_zero)
{
	ask(2, 1000, 42);
	ASSERT_TRUE(requests_next(&self->requests, &self->hit));
	ask(2, 4000, 42);
	ASSERT_TRUE(requests_next(&self->requests, &self->hit));
	EXPECT_EQ(4, self->hit.call);
	ask(1, 5000, 42);
	ASSERT_TRUE(requests_next(&self->requests, &self->hit));
	EXPECT_EQ(5, self->hit.call);
	EXPECT_EQ(2, self->requests.trigger.early);
}

TEST_F(requests, recorder_that_cannot_look_does_not_poll_continuously)
{
	struct timespec time = { .tv_nsec = 0 };
	struct pollfd event;

	ready = POLLPRI;
	failure = -1;
	latest.count = 1;
	EXPECT_FALSE(requests_next(&self->requests, &self->hit));
	EXPECT_EQ(0, self->requests.trigger.calls);
	EXPECT_EQ(&time, requests_event(&self->requests, &event, &time));
	EXPECT_EQ(-1, event.fd);
}

/* Otherwise poll() would return immediately, again and again. */
TEST_F(requests, recorder_waits_before_it_polls_again_after_an_error)
{
	struct timespec time = { .tv_nsec = 0 };
	struct pollfd event;

	EXPECT_EQ(NULL, requests_event(&self->requests, &event, &time));
	EXPECT_EQ(self->requests.fd, event.fd);
	EXPECT_EQ(POLLPRI, event.events);
	ready = POLLERR;
	EXPECT_FALSE(requests_next(&self->requests, &self->hit));
	EXPECT_EQ(&time, requests_event(&self->requests, &event, &time));
	EXPECT_LT(0, time.tv_nsec);
	EXPECT_EQ(-1, event.fd);
	ask(1, 1000, 42);
	EXPECT_TRUE(requests_next(&self->requests, &self->hit));
	EXPECT_EQ(NULL, requests_event(&self->requests, &event, &time));
	EXPECT_EQ(self->requests.fd, event.fd);
}

TEST_F(requests, programs_that_request_nothing_are_not_mentioned)
{
	requests_report(&self->requests, false);
	EXPECT_EQ(0, reports);
	ask(1, 1000, 42);
	EXPECT_TRUE(requests_next(&self->requests, &self->hit));
	requests_report(&self->requests, false);
	EXPECT_EQ(1, reports);
}

TEST_HARNESS_MAIN

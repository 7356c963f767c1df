// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See requests.h. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/sifive_trace_request.h>

#include "machine.h"
#include "requests.h"

/* Interval in nanoseconds between attempts to poll after a failure. */
#define DEAF_PERIOD	100000000

/* A snapshot's side-car file describes the request as a call to this function. */
static char function[] = "sifive_trace_snapshot";

void requests_open(struct requests *requests)
{
	*requests = (struct requests){
		.fd = open(machine_device(), O_RDONLY | O_CLOEXEC),
		.trigger = { .function = function, .limit = 1 },
	};
}

void requests_close(struct requests *requests)
{
	if (requests->fd >= 0)
		close(requests->fd);
	requests->fd = -1;
}

const struct timespec *requests_event(const struct requests *requests, struct pollfd *event,
				      struct timespec *longest)
{
	*event = (struct pollfd){ .fd = -1 };
	if (requests->fd < 0)
		return NULL;
	if (requests->deaf) {
		*longest = (struct timespec){ .tv_nsec = DEAF_PERIOD };
		return longest;
	}
	*event = (struct pollfd){ .fd = requests->fd, .events = POLLPRI };
	return NULL;
}

/* Return whether there may be requests that have not been seen. */
static bool is_asked(struct requests *requests)
{
	struct pollfd event = { .fd = requests->fd, .events = POLLPRI };

	if (requests->fd < 0 || poll(&event, 1, 0) < 0)
		return false;
	requests->deaf = event.revents & (POLLERR | POLLHUP | POLLNVAL);
	return event.revents & POLLPRI;
}

bool requests_next(struct requests *requests, struct trigger_hit *hit)
{
	struct sifive_trace_request latest = {
		.size = sizeof(latest), .flags = SIFIVE_TRACE_REQUEST_LOOK,
	};
	struct trigger *trigger = &requests->trigger;
	uint64_t more;

	if (!is_asked(requests))
		return false;
	requests->deaf = ioctl(requests->fd, SIFIVE_TRACE_IOC_REQUEST, &latest);
	if (requests->deaf || !latest.count)
		return false;
	/* CONFIG resets the driver's count. */
	if (latest.count <= requests->seen)
		requests->seen = 0;
	more = latest.count - requests->seen;
	requests->seen = latest.count;
	trigger->calls += more;
	trigger->hits += more;
	trigger->early += more - 1;
	*hit = (struct trigger_hit){
		.function = trigger->function, .call = trigger->calls, .tid = latest.thread,
		.limit = 1, .from = latest.time, .to = latest.time,
	};
	return true;
}

void requests_report(const struct requests *requests, bool quiet)
{
	if (requests->trigger.calls)
		trigger_report(&requests->trigger, quiet);
}

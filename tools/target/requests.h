/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* record --snapshot: recorded programs request snapshots with sifive_trace_snapshot(). */
#ifndef SIFIVE_TRACE_REQUESTS_H
#define SIFIVE_TRACE_REQUESTS_H

#include <poll.h>
#include <stdbool.h>
#include <time.h>

#include "trigger.h"

/**
 * struct requests - requests of the recorded programs
 * @fd:		descriptor of the trace device to wait for requests, or -1
 * @deaf:	set if poll() would return an error immediately, for example because another user's
 *		capture is still in memory
 * @seen:	number of requests of the current capture that were handled
 * @trigger:	statistics, which count each request as a function call that triggers a snapshot
 */
struct requests {
	int		fd;
	bool		deaf;
	uint64_t	seen;
	struct trigger	trigger;
};

/** requests_open() - begin to wait for requests; an older driver reports none */
void requests_open(struct requests *requests);

/** requests_close() - stop waiting */
void requests_close(struct requests *requests);

/**
 * requests_event() - get the event to poll for
 * @event:	set to the event, if there is one
 * @longest:	maximum time to wait, changed if there is no event
 *
 * Return: @longest, or NULL for no limit.
 */
const struct timespec *requests_event(const struct requests *requests, struct pollfd *event,
				      struct timespec *longest);

/**
 * requests_next() - look for new requests
 * @hit:	set to the latest one
 *
 * One snapshot serves all requests so far.
 *
 * Return: whether there is one; if so, the caller must take a snapshot.
 */
bool requests_next(struct requests *requests, struct trigger_hit *hit);

/** requests_report() - print statistics of the requests, if there were any */
void requests_report(const struct requests *requests, bool quiet);

#endif /* SIFIVE_TRACE_REQUESTS_H */

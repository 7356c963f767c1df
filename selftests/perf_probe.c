// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work for perf_stat.sh to measure: a loop and page accesses with known counts, with or without a
 * session's counters.
 *
 *	perf_probe loop		the work
 *	perf_probe session	the same in a session; fails if the session's counts are wrong
 *	perf_probe hold		creates a session, prints a line with its CPU, and keeps the
 *				session until the input ends; fails if a counter is lost
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kselftest.h"
#include "trace_count.h"
#include "trace_more.h"

#define TURNS	5000000ull
#define PAGES	2048

static int take_counters(struct trace_session *s)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);

	if (trace_session_open(s, 0) || trace_pin(s->encoder.cpu))
		return -1;
	s->config = trace_simple_config(s->fd, s->encoder.index);
	if (trace_config(s->fd, &s->config))
		return -1;
	counters.count = 3;
	counters.event[0] = (struct sifive_trace_event) { .code = 1 };
	counters.event[1] = (struct sifive_trace_event) { .code = 2 };
	counters.event[2] = (struct sifive_trace_event) {
		.type = 1, .code = DTLB_WRITE_MISS,
	};
	return trace_ioctl(s->fd, SIFIVE_TRACE_IOC_COUNTERS, &counters);
}

static bool any_lost(int fd)
{
	struct sifive_trace_status status;

	if (!trace_status(fd, &status) && !status.counters_lost)
		return false;
	fprintf(stderr, "%s\n", status.message);
	return true;
}

int main(int argc, char **argv)
{
	const char *verb = argc == 2 ? argv[1] : "";
	const uint64_t least = TURNS * TRACE_SPIN;
	struct trace_session s = { .fd = -1 };
	uint64_t count;

	if (!strcmp(verb, "loop")) {
		trace_spin(TURNS);
		trace_touch_pages(PAGES);
		return 0;
	}
	if (take_counters(&s)) {
		fprintf(stderr, "no session: %s\n", s.fd < 0 ? "?" : trace_message(s.fd));
		return 1;
	}
	if (!strcmp(verb, "hold")) {
		printf("held %d\n", s.encoder.cpu);
		fflush(stdout);
		return getchar() == EOF && !any_lost(s.fd) ? 0 : 1;
	}
	count = trace_counter(COUNTER_INSTRET);
	trace_spin(TURNS);
	count = trace_counter(COUNTER_INSTRET) - count;
	trace_touch_pages(PAGES);
	if (count < least || count > least + least / 4) {
		fprintf(stderr, "instret counted %llu instructions, expected %llu\n",
			(unsigned long long)count, (unsigned long long)least);
		return 1;
	}
	return 0;
}

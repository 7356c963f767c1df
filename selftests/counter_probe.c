// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes counters on a machine with unusual firmware or harts, and prints the result in one line for
 * a script that checks it:
 *
 *	counter_probe [perfN|displaced] [all] [late] EVENT... [-- COMMAND]
 *	counter_probe query EVENT
 *
 * EVENT is an SBI event index, with suffix "u" or "k" to count only user mode or only the kernel,
 * or rDATA for a raw event. perfN first pins N cycles events on CPU 0; "displaced" creates a cycles
 * event that precedes later events, and enables that event once the session has its counters. "all"
 * selects every encoder.
 *
 * Prints the errno of COUNTERS, the rejected event, the counters taken, and the count of each over
 * a loop of 200000 instructions and over 1000 system calls. Then runs the command, and prints the
 * counters that are lost according to STATUS before and after STOP, and STOP's errno. With "late",
 * there is no STATUS before STOP. Finally prints the driver's message. "query" takes no counters:
 * its exit status is 1 if a counter of CPU 0 could count the event, else 0.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "kselftest.h"
#include "trace_count.h"
#include "trace_more.h"

static struct sifive_trace_event parse(const char *text)
{
	struct sifive_trace_event ev = { 0 };
	unsigned long long value;
	char *end;

	if (*text == 'r') {
		ev.type = 2;
		ev.data = strtoull(text + 1, NULL, 16);
		return ev;
	}
	value = strtoull(text, &end, 0);
	ev.type = value >> 16;
	ev.code = value & 0xffff;
	if (strchr(end, 'u'))
		ev.flags |= SIFIVE_TRACE_EVENT_NO_KERNEL;
	if (strchr(end, 'k'))
		ev.flags |= SIFIVE_TRACE_EVENT_NO_USER;
	return ev;
}

static void loop(void)
{
	trace_spin(100000);
}

static void system_calls(void)
{
	int n;

	for (n = 0; n < 1000; n++)
		syscall(SYS_getppid);
}

/*
 * Return the count over @work: the minimum of several runs, because interrupts can only increase
 * it.
 */
static long long count(unsigned int counter, void (*work)(void))
{
	uint64_t best = ~0ull, before, after;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		before = trace_counter(counter);
		work();
		after = trace_counter(counter);
		if (after - before < best)
			best = after - before;
	}
	return (long long)best;
}

/* Open a pinned cycles event on CPU 0. It holds its counter for as long as this program runs. */
static int take_by_perf(bool later)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.pinned = 1,
		.disabled = later,
	};
	int event = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);

	if (event < 0)
		ksft_exit_fail_msg("perf_event_open: %s\n", strerror(errno));
	return event;
}

static void tell_status(int fd, const char *when)
{
	struct sifive_trace_status status;

	trace_status(fd, &status);
	printf("%s_lost=%#x ", when, status.counters_lost);
}

static int query(int fd, const char *event)
{
	struct sifive_trace_query query = TRACE_ARG(sifive_trace_query);

	query.event = parse(event);
	return trace_ioctl(fd, SIFIVE_TRACE_IOC_EVENT, &query) ? 255 :
	       query.counters != 0;
}

int main(int argc, char **argv)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config;
	struct sifive_trace_info info;
	bool late = false;
	int fd, ret, arg, displacer = -1;
	unsigned long pins;
	uint32_t i;

	fd = trace_open(O_RDWR);
	if (fd < 0)
		ksft_exit_fail_msg("open: %s\n", strerror(-fd));
	if (argc == 3 && !strcmp(argv[1], "query")) {
		trace_pin(0);
		return query(fd, argv[2]);
	}
	trace_info(fd, &info);
	config = trace_simple_config(fd, 0);
	arg = 1;
	if (arg < argc && !strncmp(argv[arg], "perf", 4))
		for (pins = strtoul(argv[arg++] + 4, NULL, 0); pins; pins--)
			take_by_perf(false);
	if (arg < argc && !strcmp(argv[arg], "displaced")) {
		displacer = take_by_perf(true);
		arg++;
	}
	if (arg < argc && !strcmp(argv[arg], "all")) {
		config.encoders = 0;
		arg++;
	}
	if (arg < argc && !strcmp(argv[arg], "late")) {
		late = true;
		arg++;
	}
	trace_config(fd, &config);
	trace_pin(0);
	for (; arg < argc && strcmp(argv[arg], "--"); arg++)
		counters.event[counters.count++] = parse(argv[arg]);
	ret = trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters);
	printf("info=%#x take=%d failed=%d mask=%#x ", info.flags, ret,
	       (int)counters.failed, counters.mask);
	for (i = 0; !ret && i < counters.count; i++) {
		printf("counter%u=%u ", i, counters.event[i].counter);
		printf("loop%u=%lld ", i, count(counters.event[i].counter, loop));
		printf("calls%u=%lld ", i,
		       count(counters.event[i].counter, system_calls));
	}
	trace_start(fd, 0);
	if (displacer >= 0)
		trace_perf_enable(displacer);
	if (arg + 1 < argc) {
		fflush(stdout);
		printf("command=%d ", system(argv[arg + 1]));
		if (!late)
			tell_status(fd, "status");
		printf("stop=%d ", trace_stop(fd));
		tell_status(fd, "stop");
	}
	printf("words=%s\n", trace_message(fd));
	return 0;
}

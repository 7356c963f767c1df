// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of recording a context switch between two threads of a session, and a
 * wake-up, in instructions including the kernel's, and in bytes.
 *
 *	switches	prints two lines: "context-switch" with the instructions and bytes for the
 *			two records of a switch, and "wake-up" with those for a wake-up record
 *
 * Both threads run on CPU 0 under SCHED_FIFO, so sched_yield() switches to the other thread. In the
 * second part, each thread wakes the other by sending a byte, and sleeps until it receives a byte.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "linux/sifive_trace.h"

#include "meter.h"

#define DEVICE		"/dev/sifive-trace"
#define BUFFER		0x100000

/*
 * Each cost is the lowest of this many measurements, because the scheduler does not take the same
 * path each time.
 */
#define REPEATS		3

static int session;
static volatile bool over;

/* Pipes to the other thread, and back. */
static int there[2], back[2];

static void call(const char *name, unsigned long request, void *argument)
{
	if (ioctl(session, request, argument))
		err(1, "%s", name);
}

static struct sifive_trace_encoder find_encoder(void)
{
	struct sifive_trace_encoder encoder = { .size = sizeof(encoder) };

	do
		call("ENCODER", SIFIVE_TRACE_IOC_ENCODER, &encoder);
	while (encoder.cpu && ++encoder.index);
	return encoder;
}

static void *yield(void *unused)
{
	while (!over)
		sched_yield();
	return unused;
}

static void *answer(void *unused)
{
	char c;

	while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
		;
	return unused;
}

static void exchange(void)
{
	char c = 0;

	if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
		err(1, "pipe");
}

/* Return the cost of a switch to the other thread and back. */
static uint64_t round_trip(void)
{
	struct meter meter;

	METER(&meter, sched_yield());
	return meter_cost(&meter);
}

static uint64_t exchanges(void)
{
	struct meter meter;

	METER(&meter, exchange());
	return meter_cost(&meter);
}

static struct sifive_trace_status measure_once(uint64_t (*round)(void), bool recorded,
					       uint32_t flags, uint64_t *cost)
{
	const struct sifive_trace_encoder encoder = find_encoder();
	struct sifive_trace_config config = {
		.size = sizeof(config), .sink = SIFIVE_TRACE_SINK_SBA, .buffer = BUFFER,
		.channels = ~0u, .encoders = 1ull << encoder.index,
	};
	struct sifive_trace_switches switches = {
		.size = sizeof(switches), .flags = flags, .channel = 31,
	};
	struct sifive_trace_status status = { .size = sizeof(status) };
	struct sifive_trace_run run = { .size = sizeof(run) };

	call("CONFIG", SIFIVE_TRACE_IOC_CONFIG, &config);
	if (recorded)
		call("SWITCHES", SIFIVE_TRACE_IOC_SWITCHES, &switches);
	call("START", SIFIVE_TRACE_IOC_START, &run);
	*cost = round();
	call("STOP", SIFIVE_TRACE_IOC_STOP, &run);
	call("STATUS", SIFIVE_TRACE_IOC_STATUS, &status);
	return status;
}

static struct sifive_trace_status measure(uint64_t (*round)(void), bool recorded, uint32_t flags,
					  uint64_t *cost)
{
	struct sifive_trace_status status;
	uint64_t again;
	int i;

	status = measure_once(round, recorded, flags, cost);
	for (i = 1; i < REPEATS; i++) {
		status = measure_once(round, recorded, flags, &again);
		*cost = again < *cost ? again : *cost;
	}
	return status;
}

static void measure_switches(void)
{
	struct sifive_trace_status status;
	uint64_t without, with;
	pthread_t thread;

	if (pthread_create(&thread, NULL, yield, NULL))
		errx(1, "no thread");
	measure(round_trip, false, 0, &without);
	status = measure(round_trip, true, 0, &with);
	over = true;
	pthread_join(thread, NULL);
	/* Each round has a switch in each direction, and each switch has two records. */
	if (status.switches < 4 * METER_CALLS || status.switches_lost)
		errx(1, "%llu records of switches", (unsigned long long)status.switches);
	printf("context-switch %lu %llu\n", (with - without) / 2,
	       2 * (unsigned long long)status.bytes / (unsigned long long)status.switches);
}

static void measure_wakeups(void)
{
	struct sifive_trace_status status, plain;
	uint64_t without, with;
	pthread_t thread;

	if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, answer, NULL))
		errx(1, "no thread");
	plain = measure(exchanges, true, 0, &without);
	status = measure(exchanges, true, SIFIVE_TRACE_SWITCHES_WAKEUPS, &with);
	close(there[1]);
	pthread_join(thread, NULL);
	/* Each round has a wake-up in each direction. */
	if (status.switches < plain.switches + 2 * METER_CALLS || status.switches_lost)
		errx(1, "%llu records with wake-ups, %llu without",
		     (unsigned long long)status.switches, (unsigned long long)plain.switches);
	printf("wake-up %lu %llu\n", (with - without) / 2,
	       (unsigned long long)(status.bytes / status.switches));
}

int main(void)
{
	const struct sched_param priority = { .sched_priority = 1 };

	session = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (session < 0)
		err(1, "%s", DEVICE);
	meter_pin(0);
	meter_open();
	/* The driver may not have removed the previous session's probe yet. */
	usleep(100000);
	if (sched_setscheduler(0, SCHED_FIFO, &priority))
		err(1, "sched_setscheduler");
	measure_switches();
	measure_wakeups();
	return 0;
}

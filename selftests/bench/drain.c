// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of reading a capture, and of a store to a removed page, in instructions
 * including the kernel's.
 *
 *	drain	prints three lines, each with a name, instructions and bytes:
 *		drain-stopped	read() of a stopped buffer
 *		drain-running	read() of a running, drained capture
 *		drain-fault	a store to a page that the driver removed when the buffer was
 *				full, after the reader has made room
 *
 * Measures on CPU 0; the thread that fills the buffer for drain-fault runs on CPU 1.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "linux/sifive_trace.h"
#include "linux/sifive_trace_regs.h"

#include "meter.h"

#define DEVICE		"/dev/sifive-trace"
#define CHANNEL		6
#define BUFFER		0x100000
#define SMALL_BUFFER	65536

/* Number of faults to measure. */
#define FAULTS		15

/* Size passed to read(), and a number of stores that produce more bytes than this size. */
#define CHUNK		65536
#define CHUNK_STORES	12000

/* Minimum number of bytes that a read() of CHUNK bytes returns: it returns only whole messages. */
#define CHUNK_LEAST	(CHUNK - 64)

/* Number of stores between two checks for a full buffer. */
#define FEW		64

static int session, reader = -1;
static volatile uint32_t *stimulus;
static unsigned int asked, made;
static uint64_t nothing;
static uint8_t chunk[CHUNK];

static void call(const char *name, unsigned long request, void *argument)
{
	if (ioctl(session, request, argument))
		err(1, "%s", name);
}

static struct sifive_trace_status status(void)
{
	struct sifive_trace_status status = { .size = sizeof(status) };

	call("STATUS", SIFIVE_TRACE_IOC_STATUS, &status);
	return status;
}

static struct sifive_trace_encoder find_encoder(unsigned int cpu)
{
	struct sifive_trace_encoder encoder = { .size = sizeof(encoder) };

	do
		call("ENCODER", SIFIVE_TRACE_IOC_ENCODER, &encoder);
	while (encoder.cpu != (int)cpu && ++encoder.index);
	return encoder;
}

static volatile uint32_t *map_stimulus(unsigned int cpu)
{
	struct sifive_trace_encoder encoder = find_encoder(cpu);
	uint32_t first = CHANNEL;
	char *page;

	if (encoder.flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS)
		first += 16;
	page = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED,
		    session, (off_t)encoder.mmap_offset);
	if (page == MAP_FAILED)
		err(1, "mmap");
	return (volatile uint32_t *)(page + TR_ITC_STIMULUS) + first;
}

/* Take the encoders of both CPUs, open the capture for reading, and start. */
static void begin(uint32_t flags, uint64_t buffer)
{
	struct sifive_trace_config config = {
		.size = sizeof(config), .sink = SIFIVE_TRACE_SINK_SBA, .buffer = buffer,
		.flags = flags, .channels = ~0u,
		.encoders = 1ull << find_encoder(0).index | 1ull << find_encoder(1).index,
	};
	struct sifive_trace_run run = { .size = sizeof(run) };

	call("CONFIG", SIFIVE_TRACE_IOC_CONFIG, &config);
	stimulus = map_stimulus(0);
	close(reader);
	reader = open(DEVICE, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (reader < 0)
		err(1, "%s", DEVICE);
	call("START", SIFIVE_TRACE_IOC_START, &run);
}

static void stop(void)
{
	struct sifive_trace_run run = { .size = sizeof(run) };

	call("STOP", SIFIVE_TRACE_IOC_STOP, &run);
}

static void store(volatile uint32_t *to, unsigned int count)
{
	static uint32_t value;

	/* All bits of these values vary, so that messages are as long as those with addresses. */
	while (count--)
		*to = value += 0x9e3779b1;
}

static void say(const char *what, uint64_t cost, uint64_t bytes)
{
	printf("%s %lu %lu\n", what, cost - nothing, bytes);
	fflush(stdout);
}

static void measure_stopped(void)
{
	struct meter meter;

	begin(0, BUFFER);
	store(stimulus, CHUNK_STORES);
	stop();
	if (pread(reader, chunk, CHUNK, 0) != CHUNK)
		errx(1, "the buffer contains fewer than %d bytes", CHUNK);
	METER(&meter, (void)!pread(reader, chunk, CHUNK, 0));
	say("drain-stopped", meter_cost(&meter), CHUNK);
}

/* Read all available bytes. */
static void empty(void)
{
	while (read(reader, chunk, CHUNK) > 0)
		;
	if (errno != EAGAIN)
		err(1, "read");
}

static void measure_running(void)
{
	struct meter meter;
	uint64_t begun, bytes = 0;
	ssize_t got;
	int i;

	begin(SIFIVE_TRACE_CONFIG_DRAIN, BUFFER);
	for (i = 0; i < METER_CALLS; i++) {
		store(stimulus, CHUNK_STORES);
		begun = meter_instret();
		got = read(reader, chunk, CHUNK);
		meter.took[i] = meter_instret() - begun;
		if (got < CHUNK_LEAST)
			errx(1, "read() returned %zd bytes", got);
		bytes += (uint64_t)got;
		empty();
	}
	if (status().gaps)
		errx(1, "bytes were lost");
	stop();
	say("drain-running", meter_cost(&meter), bytes / METER_CALLS);
}

static bool is_waiting(void)
{
	return status().flags & SIFIVE_TRACE_STATUS_WAITING;
}

/* Each time @asked increases, store until a store has had to wait for room. */
static void *crowd(void *unused)
{
	volatile uint32_t *to = map_stimulus(1);
	uint64_t begun;

	meter_pin(1);
	while (made < FAULTS) {
		while (made == __atomic_load_n(&asked, __ATOMIC_ACQUIRE))
			usleep(100);
		begun = status().waits;
		while (status().waits == begun)
			store(to, FEW);
		__atomic_store_n(&made, made + 1, __ATOMIC_RELEASE);
	}
	return unused;
}

/*
 * Return the cost of a store to a page that the driver has removed, after the reader has made room.
 */
static uint64_t fault(void)
{
	uint64_t begun;

	__atomic_store_n(&asked, asked + 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&made, __ATOMIC_ACQUIRE) != asked) {
		empty();
		usleep(100);
	}
	while (is_waiting())
		empty();
	begun = meter_instret();
	store(stimulus, 1);
	return meter_instret() - begun;
}

static void measure_fault(void)
{
	uint64_t took[FAULTS];
	pthread_t thread;
	int i;

	begin(SIFIVE_TRACE_CONFIG_DRAIN | SIFIVE_TRACE_CONFIG_WAIT, SMALL_BUFFER);
	if (pthread_create(&thread, NULL, crowd, NULL))
		errx(1, "no thread");
	for (i = 0; i < FAULTS; i++)
		took[i] = fault();
	pthread_join(thread, NULL);
	stop();
	say("drain-fault", meter_median(took, FAULTS), 0);
}

int main(void)
{
	session = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (session < 0)
		err(1, "%s", DEVICE);
	meter_pin(0);
	meter_open();
	nothing = meter_nothing();
	measure_stopped();
	measure_running();
	measure_fault();
	return 0;
}

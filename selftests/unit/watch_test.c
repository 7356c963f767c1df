// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that a signal ends a wait for events, even if it arrives before the wait. Only the needed
 * events are requested from perf, and the events of all CPUs are applied in the order of their
 * times.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "target/perf_ring.h"
#include "target/watch.h"

/* Attributes with which watch_open() has opened perf events. All CPUs are offline. */
static struct perf_event_attr asked;

long syscall(long number, ...)
{
	long (*next)(long number, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_list arguments;
	long value[6];
	size_t i;

	va_start(arguments, number);
	for (i = 0; i < 6; i++)
		value[i] = va_arg(arguments, long);
	va_end(arguments);
	if (number != SYS_perf_event_open)
		return next(number, value[0], value[1], value[2], value[3], value[4], value[5]);
	asked = *(struct perf_event_attr *)value[0];
	errno = ENODEV;
	return -1;
}

static volatile sig_atomic_t arrived;

static void note(int number)
{
	(void)number;
	arrived = 1;
}

/* Timeout in seconds, because a wait that misses the signal would never end. */
#define STUCK	60

static void handle(int number, sigset_t *before)
{
	struct sigaction action = { .sa_handler = note };
	sigset_t handled;

	alarm(STUCK);
	arrived = 0;
	sigaction(number, &action, NULL);
	sigemptyset(&handled);
	sigaddset(&handled, number);
	sigprocmask(SIG_BLOCK, &handled, before);
}

/* The child ended between the caller's last check and the wait. */
TEST(ended_child_ends_the_wait)
{
	struct watch watch = { 0 };
	siginfo_t info;
	sigset_t mask;
	pid_t pid;

	handle(SIGCHLD, &mask);
	pid = fork();
	if (!pid)
		_exit(0);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
	watch_wait(&watch, NULL, NULL, &mask);
	EXPECT_EQ(1, arrived);
	EXPECT_EQ(pid, waitpid(pid, NULL, WNOHANG));
}

/* Pending events must not delay the signal handler. */
TEST(signal_handler_runs_before_pending_events)
{
	struct pollfd event = { .events = POLLIN };
	struct watch watch = { 0 };
	sigset_t mask;
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(1, write(ends[1], "", 1));
	event.fd = ends[0];
	handle(SIGUSR1, &mask);
	raise(SIGUSR1);
	watch_wait(&watch, &event, NULL, &mask);
	EXPECT_EQ(1, arrived);
	/* Without a signal, the event ends the wait. */
	watch_wait(&watch, &event, NULL, &mask);
}

static bool asks(bool mappings, struct names *names, struct descendants *descendants)
{
	struct watch watch;
	const bool opened = !watch_open(&watch, true, mappings, names, descendants);

	watch_close(&watch);
	return opened && asked.task;
}

/* A program that replaces another one is counted, too. */
TEST(counting_processes_needs_no_mappings)
{
	struct descendants descendants = { .programs = false };

	ASSERT_TRUE(asks(false, NULL, &descendants));
	EXPECT_TRUE(asked.comm && !asked.mmap && !asked.mmap2);
}

TEST(programs_and_names_need_their_events)
{
	struct descendants descendants = { .programs = true };
	struct names names = { .count = 0 };

	ASSERT_TRUE(asks(true, NULL, &descendants));
	EXPECT_TRUE(asked.comm && asked.mmap && asked.mmap2);
	ASSERT_TRUE(asks(true, &names, NULL));
	EXPECT_TRUE(!!asked.comm);
}

/* ---- order ------------------------------------------------------------------- */

#define CPUS	2
#define PROCESS	2000000000

FIXTURE(order)
{
	struct perf_event_mmap_page *page[CPUS];
	struct watch watch;
	struct objects objects;
};

FIXTURE_SETUP(order)
{
	int i;

	self->watch.event = calloc(CPUS + 1, sizeof(*self->watch.event));
	self->watch.ring = calloc(CPUS, sizeof(*self->watch.ring));
	for (i = 0; i < CPUS; i++) {
		/* Return value of perf_ring_map() for an event. */
		self->page[i] = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) + PERF_RING_SIZE,
				     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ASSERT_NE(MAP_FAILED, self->page[i]);
		self->watch.event[i].fd = -1;
		self->watch.ring[self->watch.cpus++] = self->page[i];
	}
}

FIXTURE_TEARDOWN(order)
{
	watch_close(&self->watch);
	objects_free(&self->objects);
}

/* Append a record to a CPU's ring, across its end if necessary. */
static void append(struct perf_event_mmap_page *page, const void *record, size_t size)
{
	char *ring = (char *)page + sysconf(_SC_PAGESIZE);
	size_t i;

	for (i = 0; i < size; i++)
		ring[(page->data_head + i) % PERF_RING_SIZE] = ((const char *)record)[i];
	page->data_head += size;
}

/* The process maps a shared object on a CPU, always at the same addresses. */
static void maps(FIXTURE_DATA(order) *self, int cpu, uint64_t time, const char *path)
{
	struct {
		struct perf_mapping	mapping;
		char			path[32];
		uint64_t		time;
	} __attribute__((packed)) record = {
		.mapping = {
			.header = { .type = PERF_RECORD_MMAP2, .size = sizeof(record) },
			.pid = PROCESS, .tid = PROCESS, .address = 0x10000, .length = 4096,
		},
		.time = time,
	};

	strncpy(record.path, path, sizeof(record.path) - 1);
	append(self->page[cpu], &record, sizeof(record));
}

static struct objects *all(void *objects, pid_t pid)
{
	return pid == PROCESS ? objects : NULL;
}

static void read_all(FIXTURE_DATA(order) *self)
{
	watch_read(&self->watch, all, &self->objects, &self->objects);
}

static void expect_object(struct __test_metadata *_metadata, const FIXTURE_DATA(order) *self,
			  size_t index, const char *path, uint64_t from, uint64_t to)
{
	ASSERT_LT(index, self->objects.count);
	EXPECT_STREQ(path, self->objects.object[index].path);
	EXPECT_EQ(from, self->objects.object[index].from);
	EXPECT_EQ(to, self->objects.object[index].to);
}

/*
 * A process loads an object, another object, and the first object again, and moves between two
 * CPUs.
 */
TEST_F(order, is_that_of_the_times_of_all_rings)
{
	maps(self, 0, 10, "/one.so");
	maps(self, 0, 30, "/one.so");
	maps(self, 1, 20, "/two.so");
	read_all(self);
	EXPECT_EQ(3, self->objects.count);
	expect_object(_metadata, self, 0, "/one.so", 0, 20);
	expect_object(_metadata, self, 1, "/two.so", 20, 30);
	expect_object(_metadata, self, 2, "/one.so", 30, UINT64_MAX);
}

/* A ring that was read first can later deliver an earlier event. */
TEST_F(order, includes_events_that_arrive_while_rings_are_read)
{
	const uint64_t future = UINT64_MAX - 1;

	maps(self, 0, future, "/one.so");
	read_all(self);
	EXPECT_EQ(0, self->objects.count);
	maps(self, 1, 20, "/two.so");
	read_all(self);
	EXPECT_EQ(1, self->objects.count);
	expect_object(_metadata, self, 0, "/two.so", 0, UINT64_MAX);
	EXPECT_EQ(1, self->watch.records);
}

/* Lost records, and records of any kind and size, which may wrap at the end of the ring. */
TEST_F(order, does_not_depend_on_the_records)
{
	struct perf_loss loss = {
		.header = { .type = PERF_RECORD_LOST, .size = sizeof(loss) }, .lost = 7,
	};
	struct {
		struct perf_event_header	header;
		char				rest[4096];
	} record = { .header = { .type = 0 } };
	uint32_t size;
	int round;

	for (round = 0; round < 200; round++) {
		for (size = sizeof(record.header); size < sizeof(record) / 16; size += 8) {
			record.header.type = size / 8 % 20;
			if (record.header.type == PERF_RECORD_LOST)
				continue;
			record.header.size = (uint16_t)size;
			append(self->page[round % CPUS], &record, size);
		}
		append(self->page[round % CPUS], &loss, sizeof(loss));
		read_all(self);
		EXPECT_EQ(self->page[0]->data_head, self->page[0]->data_tail);
	}
	EXPECT_EQ(1400, self->objects.missed);
	EXPECT_LT(PERF_RING_SIZE, self->page[0]->data_head);
	EXPECT_EQ(0, self->watch.records);
}

TEST_HARNESS_MAIN

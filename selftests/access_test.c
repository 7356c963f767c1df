// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that only threads that have joined can read a session's counters, and only until the
 * session ends. Also proves that per-thread counts exclude other threads, and that access is
 * restored after it was revoked.
 *
 * TRACE_THREADS: number of threads to create (default 2148, more than there are slots).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"

#define BOTH		5u	/* cycle and instret */
#define USER_ACCESS	"/proc/sys/kernel/perf_user_access"

#define SLOTS_SIZE	(SIFIVE_TRACE_THREADS * sizeof(struct sifive_trace_slot))

static int signal_of_cycle(void)
{
	return trace_signal_of_counter(COUNTER_CYCLE);
}

FIXTURE(access) {
	int fd;
	struct sifive_trace_info info;
	struct sifive_trace_encoder encoder;
};

FIXTURE_SETUP(access)
{
	struct sifive_trace_config config;

	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	if (!(self->info.flags & SIFIVE_TRACE_INFO_COUNTERS))
		SKIP(return, "this hart has no Sscofpmf");
	config = trace_simple_config(self->fd, 0);
	config.encoders = 0;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &self->encoder));
	ASSERT_EQ(0, trace_pin(self->encoder.cpu));
}

FIXTURE_TEARDOWN(access)
{
	close(self->fd);
}

/* Take counters for cycles and instructions, with or without per-thread counts. */
static int take(int fd, uint32_t flags)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);

	counters.flags = flags;
	counters.count = 2;
	counters.event[0].code = 1;
	counters.event[1].code = 2;
	return trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters) ?:
	       counters.mask == BOTH ? 0 : -ENOENT;
}

/*
 * Count instructions per thread. If the hart can count modes separately, count only in user mode,
 * because only that count is exact. Return the counter's number or a negative errno.
 */
static int take_own(int fd, bool *exact)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	int ret;

	*exact = trace_counts_instructions();
	counters.flags = SIFIVE_TRACE_COUNTERS_PER_THREAD;
	counters.count = 1;
	counters.event[0].code = 2;
	counters.event[0].flags = SIFIVE_TRACE_EVENT_NO_KERNEL;
	ret = trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters);
	if (ret == -EOPNOTSUPP) {
		*exact = false;
		counters.event[0].flags = 0;
		ret = trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters);
	}
	return ret ?: (int)counters.event[0].counter;
}

/* Join the calling thread; return its slot, or a negative errno. */
static long join(int fd, uint32_t flags)
{
	struct sifive_trace_thread thread = TRACE_ARG(sifive_trace_thread);
	int ret;

	thread.flags = flags;
	ret = trace_ioctl(fd, SIFIVE_TRACE_IOC_THREAD, &thread);
	return ret ?: (long)thread.slot;
}

static const long no_slot = (uint32_t)~0u;

TEST_F(access, thread_that_takes_counters_can_read_them)
{
	EXPECT_EQ(SIGILL, signal_of_cycle());
	ASSERT_EQ(0, take(self->fd, 0));
	EXPECT_EQ(0, signal_of_cycle());
	ASSERT_EQ(0, close(self->fd));
	EXPECT_EQ(SIGILL, signal_of_cycle());
}

/*
 * Return the number of counters in the mask that can be read without raising @signal. If @signal is
 * 0, no read may raise a signal.
 */
static int not_signalled(uint32_t counters, int signal)
{
	int n, bad = 0;

	for (n = 0; n < SIFIVE_TRACE_MAX_COUNTERS; n++)
		bad += counters & BIT64(n) && trace_signal_of_counter(n) != signal;
	return bad;
}

/* Take counters for cycles, instructions, and an event that needs a programmable counter. */
static int take_three(int fd, uint32_t *mask)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	int ret;

	counters.count = 3;
	counters.event[0].code = 1;
	counters.event[1].code = 2;
	counters.event[2].type = 1;
	counters.event[2].code = DTLB_READ_MISS;
	ret = trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters);
	*mask = counters.mask;
	return ret;
}

/* The process runs on the same CPU as the session's thread, which may read counters there. */
TEST_F(access, unrelated_process_gets_sigill)
{
	int ready[2], i, bad = 0;
	uint32_t mask;
	pid_t child;

	ASSERT_EQ(0, pipe(ready));
	child = fork();
	if (!child) {
		close(self->fd);
		if (read(ready[0], &mask, sizeof(mask)) != sizeof(mask))
			_exit(255);
		for (i = 0; i < 50; i++) {
			bad += not_signalled(mask, SIGILL);
			sched_yield();
		}
		_exit(bad);
	}
	ASSERT_EQ(0, take_three(self->fd, &mask));
	ASSERT_EQ(3, __builtin_popcount(mask));
	ASSERT_NE(0, mask & ~BOTH);
	ASSERT_EQ(sizeof(mask), write(ready[1], &mask, sizeof(mask)));
	for (i = 0; i < 50; i++) {
		EXPECT_EQ(0, not_signalled(mask, 0));
		sched_yield();
	}
	EXPECT_EQ(0, trace_wait(child));
}

static void *thread_joins(void *arg)
{
	long *result = arg;
	int fd = result[0];

	result[1] = signal_of_cycle();
	result[2] = join(fd, 0);
	result[3] = signal_of_cycle();
	result[4] = join(fd, SIFIVE_TRACE_THREAD_LEAVE);
	result[5] = signal_of_cycle();
	return NULL;
}

TEST_F(access, thread_reads_only_between_join_and_leave)
{
	long result[6] = { self->fd };
	pthread_t thread;

	ASSERT_EQ(0, take(self->fd, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_joins, result));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(SIGILL, result[1]);
	EXPECT_EQ(no_slot, result[2]);
	EXPECT_EQ(0, result[3]);
	EXPECT_EQ(no_slot, result[4]);
	EXPECT_EQ(SIGILL, result[5]);
	EXPECT_EQ(0, signal_of_cycle());
}

TEST_F(access, child_does_not_inherit_access)
{
	pid_t child;

	ASSERT_EQ(0, take(self->fd, 0));
	child = fork();
	if (!child)
		_exit(signal_of_cycle());
	EXPECT_EQ(SIGILL, trace_wait(child));
}

TEST_F(access, join_needs_same_process_or_capability)
{
	pid_t child;

	ASSERT_EQ(0, take(self->fd, 0));
	child = fork();
	if (!child) {
		if (join(self->fd, 0) != no_slot || signal_of_cycle())
			_exit(1);
		if (trace_keep_caps(0) || join(self->fd, 0) != -EPERM)
			_exit(2);
		_exit(0);
	}
	EXPECT_EQ(0, trace_wait(child));
	ASSERT_EQ(0, trace_keep_caps(0));
	EXPECT_EQ(no_slot, join(self->fd, 0));
}

TEST_F(access, join_needs_session)
{
	int other = trace_open(O_RDWR);

	ASSERT_LE(0, other);
	EXPECT_EQ(-ENXIO, join(other, 0));
	EXPECT_EQ(0, close(other));
}

TEST_F(access, join_works_before_and_after_counters)
{
	struct sifive_trace_counters none = TRACE_ARG(sifive_trace_counters);

	ASSERT_EQ(no_slot, join(self->fd, 0));
	EXPECT_EQ(SIGILL, signal_of_cycle());
	ASSERT_EQ(0, take(self->fd, 0));
	EXPECT_EQ(0, signal_of_cycle());
	ASSERT_EQ(0, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &none));
	EXPECT_EQ(SIGILL, signal_of_cycle());
	ASSERT_EQ(0, take(self->fd, 0));
	EXPECT_EQ(0, signal_of_cycle());
}

TEST_F(access, exec_ends_access)
{
	pid_t child;

	ASSERT_EQ(0, take(self->fd, 0));
	child = fork();
	if (!child) {
		if (join(self->fd, 0) != no_slot)
			_exit(1);
		execl("/proc/self/exe", "access_test", "--signal-of-cycle", NULL);
		_exit(2);
	}
	EXPECT_EQ(SIGILL, trace_wait(child));
}

TEST_F(access, follows_thread_to_every_cpu)
{
	struct sifive_trace_encoder e;
	uint32_t i, round;

	ASSERT_EQ(0, take(self->fd, 0));
	for (round = 0; round < 50; round++)
		for (i = 0; i < self->info.encoders; i++) {
			ASSERT_EQ(0, trace_encoder(self->fd, i, &e));
			if (!(e.flags & SIFIVE_TRACE_ENCODER_SELECTED))
				continue;
			ASSERT_EQ(0, trace_pin(e.cpu));
			EXPECT_EQ(0, signal_of_cycle());
		}
}

static void *thread_joins_shortly(void *arg)
{
	long *result = arg;

	result[1] = join(result[0], 0);
	result[2] = signal_of_cycle();
	return NULL;
}

/*
 * More threads than there are slots can join one after another, because each thread frees its slot
 * at exit.
 */
TEST_F(access, exited_threads_free_their_slots)
{
	long result[3] = { self->fd };
	pthread_t thread;
	int i, end = (int)trace_setting("TRACE_THREADS", SIFIVE_TRACE_THREADS + 100);

	ASSERT_EQ(0, take(self->fd, SIFIVE_TRACE_COUNTERS_PER_THREAD));
	for (i = 0; i < end; i++) {
		result[1] = -1;
		ASSERT_EQ(0, pthread_create(&thread, NULL, thread_joins_shortly,
					    result));
		ASSERT_EQ(0, pthread_join(thread, NULL));
		ASSERT_LE(0, result[1]);
		ASSERT_GT(SIFIVE_TRACE_THREADS, result[1]);
		ASSERT_EQ(0, result[2]);
	}
}

/**
 * struct waiter - a thread that has tried to join
 * @thread:	thread created by the test
 * @all:	the group that the thread belongs to
 * @slot:	the thread's slot, or a negative errno
 */
struct waiter {
	pthread_t thread;
	struct waiters *all;
	long slot;
};

/**
 * struct waiters - threads that join, then wait until the test ends them
 * @one:	array of @count threads
 * @count:	number of threads
 * @fd:		descriptor of the session
 * @end:	pipe that the threads read; closing it ends them
 * @joined:	number of threads that have tried to join
 */
struct waiters {
	struct waiter one[SIFIVE_TRACE_THREADS];
	unsigned int count;
	int fd;
	int end[2];
	unsigned int joined;
};

static void *thread_waits(void *arg)
{
	struct waiter *w = arg;
	char byte;

	w->slot = join(w->all->fd, 0);
	__atomic_add_fetch(&w->all->joined, 1, __ATOMIC_RELEASE);
	if (read(w->all->end[0], &byte, 1) < 0)
		w->slot = -1;
	return NULL;
}

static void waiters_start(struct __test_metadata *_metadata, struct waiters *all, int fd,
			  unsigned int count)
{
	pthread_attr_t attr;
	unsigned int i;

	/*
	 * The kernel's default limit is derived from the memory size, but these threads need little
	 * memory.
	 */
	trace_file_write("/proc/sys/kernel/threads-max", "10000");
	*all = (struct waiters){ .fd = fd, .count = count };
	ASSERT_EQ(0, pipe(all->end));
	ASSERT_EQ(0, pthread_attr_init(&attr));
	ASSERT_EQ(0, pthread_attr_setstacksize(&attr, 65536));
	for (i = 0; i < count; i++) {
		all->one[i].all = all;
		ASSERT_EQ(0, pthread_create(&all->one[i].thread, &attr, thread_waits,
					    &all->one[i]));
	}
	while (__atomic_load_n(&all->joined, __ATOMIC_ACQUIRE) < count)
		usleep(1000);
}

/* Return the number of threads without a slot. */
static unsigned int waiters_end(struct waiters *all)
{
	unsigned int i, without = 0;

	close(all->end[1]);
	for (i = 0; i < all->count; i++) {
		pthread_join(all->one[i].thread, NULL);
		without += all->one[i].slot == -ENOSPC;
	}
	close(all->end[0]);
	return without;
}

struct taker {
	pthread_t thread;
	int fd;
	int ret;
	bool done;
};

static void *thread_takes(void *arg)
{
	struct taker *t = arg;

	t->ret = take(t->fd, SIFIVE_TRACE_COUNTERS_PER_THREAD);
	__atomic_store_n(&t->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * If no slot is free for a thread that takes counters, the driver releases that thread's counters,
 * but not the counters that another thread has taken in the meantime. When this thread loses its
 * access, the other thread's call has started.
 */
static void fail_to_take(struct __test_metadata *_metadata,
			 struct _test_data_access *self)
{
	unsigned int round;

	for (round = 0; round < 20; round++) {
		struct taker t = { .fd = self->fd };

		ASSERT_EQ(0, pthread_create(&t.thread, NULL, thread_takes, &t));
		while (!signal_of_cycle() && !__atomic_load_n(&t.done, __ATOMIC_ACQUIRE))
			;
		EXPECT_EQ(0, take(self->fd, SIFIVE_TRACE_COUNTERS_PER_THREAD));
		ASSERT_EQ(0, pthread_join(t.thread, NULL));
		EXPECT_EQ(-ENOSPC, t.ret);
		ASSERT_EQ(0, signal_of_cycle()) {
			TH_LOG("round %u", round);
		}
	}
}

/* This is one test rather than several, because starting so many threads takes most of the time. */
TEST_F(access, each_thread_has_separate_slot_until_all_are_used)
{
	static bool taken[SIFIVE_TRACE_THREADS];
	long own, late[3] = { self->fd };
	static struct waiters w;
	pthread_t thread;
	unsigned int i;
	void *slots;

	if (trace_setting("TRACE_THREADS", SIFIVE_TRACE_THREADS) < SIFIVE_TRACE_THREADS)
		SKIP(return, "needs a thread for each slot, but TRACE_THREADS is lower");
	ASSERT_EQ(0, take(self->fd, SIFIVE_TRACE_COUNTERS_PER_THREAD));
	slots = mmap(NULL, SLOTS_SIZE, PROT_READ, MAP_SHARED, self->fd,
		     SIFIVE_TRACE_MMAP_THREADS);
	ASSERT_NE(MAP_FAILED, slots);
	/*
	 * The driver allocates a page of slots on first use, and no other test uses the last page.
	 */
	EXPECT_EQ(SIGBUS, trace_signal_of_load(slots + SLOTS_SIZE - 8));
	/* The test itself holds one slot. */
	own = join(self->fd, 0);
	ASSERT_LE(0, own);
	taken[own] = true;
	waiters_start(_metadata, &w, self->fd, SIFIVE_TRACE_THREADS - 1);
	for (i = 0; i < SIFIVE_TRACE_THREADS - 1; i++) {
		ASSERT_LE(0, w.one[i].slot);
		ASSERT_GT(SIFIVE_TRACE_THREADS, w.one[i].slot);
		EXPECT_FALSE(taken[w.one[i].slot]);
		taken[w.one[i].slot] = true;
	}
	EXPECT_EQ(0, trace_signal_of_load(slots + SLOTS_SIZE - 8));
	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_joins_shortly, late));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(-ENOSPC, late[1]);
	fail_to_take(_metadata, self);
	EXPECT_EQ(0, waiters_end(&w));
}

/* Keep kernel workers off the CPU for a limited time, or until stopped. */
static void *thread_hogs(void *arg)
{
	double end = trace_clock() + 0.02;
	bool *quit = arg;

	while (!__atomic_load_n(quit, __ATOMIC_RELAXED) && trace_clock() < end)
		trace_spin(100);
	return NULL;
}

/*
 * When a thread leaves the session, a worker on its CPU cleans up. Here, the worker runs late,
 * after the thread has moved to another CPU and rejoined.
 */
TEST_F(access, late_cleanup_does_not_revoke_access)
{
	struct sched_param fifo = { .sched_priority = 1 };
	struct sifive_trace_encoder other;
	unsigned int round, closed = 0;
	pthread_t hog;
	double end;
	bool quit;

	if (self->info.encoders < 2)
		SKIP(return, "needs a second CPU with an encoder");
	ASSERT_EQ(0, trace_encoder(self->fd, 1, &other));
	ASSERT_EQ(0, take(self->fd, 0));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &fifo));
	for (round = 0; round < 3; round++) {
		quit = false;
		ASSERT_EQ(0, trace_pin(self->encoder.cpu));
		/*
		 * The thread that keeps workers off this CPU starts running once this thread has
		 * migrated.
		 */
		ASSERT_EQ(0, pthread_create(&hog, NULL, thread_hogs, &quit));
		EXPECT_EQ(no_slot, join(self->fd, SIFIVE_TRACE_THREAD_LEAVE));
		EXPECT_EQ(SIGILL, signal_of_cycle());
		ASSERT_EQ(0, trace_pin(other.cpu));
		EXPECT_EQ(no_slot, join(self->fd, 0));
		EXPECT_EQ(0, signal_of_cycle());
		__atomic_store_n(&quit, true, __ATOMIC_RELAXED);
		end = trace_clock() + 0.02;
		while (trace_clock() < end)
			closed += signal_of_cycle() != 0;
		ASSERT_EQ(0, pthread_join(hog, NULL));
	}
	EXPECT_EQ(0, closed);
}

struct neighbour {
	pthread_t thread;
	int cpu;
	bool quit;
};

/*
 * Yield the rest of each time slice, to save time: a single wrongly counted slice exceeds the
 * test's limit.
 */
static void *thread_works(void *arg)
{
	struct neighbour *n = arg;

	trace_pin(n->cpu);
	while (!__atomic_load_n(&n->quit, __ATOMIC_RELAXED)) {
		trace_spin(400000);
		sched_yield();
	}
	return NULL;
}

/*
 * Another thread on the same CPU does the same amount of work. The hart's counter counts both
 * threads; the per-thread count covers only the calling thread. If the emulator counts time, not
 * instructions, counts depend on the host's load.
 */
TEST_F(access, thread_counts_exclude_other_threads)
{
	const uint64_t turns = 10000000, rounds = 100;
	struct neighbour n = { .cpu = self->encoder.cpu };
	const struct sifive_trace_slot *slot;
	uint64_t hart, own, i;
	int counter;
	bool exact;

	counter = take_own(self->fd, &exact);
	ASSERT_LE(0, counter);
	if (!exact)
		SKIP(return, "this machine does not count a thread's instructions");
	slot = trace_own_slot(self->fd);
	ASSERT_NE(NULL, slot);
	ASSERT_EQ(0, pthread_create(&n.thread, NULL, thread_works, &n));

	hart = trace_counter(counter);
	own = trace_own_count(slot, counter);
	for (i = 0; i < rounds; i++) {
		trace_spin(turns / rounds);
		sched_yield();
	}
	own = trace_own_count(slot, counter) - own;
	hart = trace_counter(counter) - hart;
	__atomic_store_n(&n.quit, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(n.thread, NULL));

	TH_LOG("%llu instructions of work: %llu counted for the thread, %llu for the hart",
	       (unsigned long long)(turns * TRACE_SPIN), (unsigned long long)own,
	       (unsigned long long)hart);
	EXPECT_LE(own + own / 2, hart);
	EXPECT_LE(turns * TRACE_SPIN, own);
	EXPECT_GE(turns * TRACE_SPIN + turns * TRACE_SPIN / 100, own);
}

TEST_F(access, thread_counts_start_at_zero_and_continue_on_other_cpus)
{
	const struct sifive_trace_slot *slot;
	struct sifive_trace_encoder e;
	uint64_t before, after;
	uint32_t i, round;
	int counter;
	bool exact;

	counter = take_own(self->fd, &exact);
	ASSERT_LE(0, counter);
	slot = trace_own_slot(self->fd);
	ASSERT_NE(NULL, slot);
	before = trace_own_count(slot, counter);
	EXPECT_TRUE(!exact || before < 10000);
	for (round = 0; round < 20; round++)
		for (i = 0; i < self->info.encoders; i++) {
			ASSERT_EQ(0, trace_encoder(self->fd, i, &e));
			ASSERT_EQ(0, trace_pin(e.cpu));
			trace_spin(1000);
			after = trace_own_count(slot, counter);
			ASSERT_LT(before, after);
			if (exact) {
				ASSERT_LE(before + 1000 * TRACE_SPIN, after);
				ASSERT_GE(before + 1000 * TRACE_SPIN + 10000, after);
			}
			before = after;
		}
}

TEST_F(access, slots_are_read_only_and_need_per_thread_counts)
{
	void *slots;

	EXPECT_EQ(MAP_FAILED, mmap(NULL, SLOTS_SIZE, PROT_READ, MAP_SHARED,
				   self->fd, SIFIVE_TRACE_MMAP_THREADS));
	EXPECT_EQ(0, take(self->fd, SIFIVE_TRACE_COUNTERS_PER_THREAD));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, SLOTS_SIZE, PROT_READ | PROT_WRITE,
				   MAP_SHARED, self->fd, SIFIVE_TRACE_MMAP_THREADS));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, SLOTS_SIZE, PROT_READ, MAP_PRIVATE,
				   self->fd, SIFIVE_TRACE_MMAP_THREADS));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, SLOTS_SIZE + getpagesize(), PROT_READ,
				   MAP_SHARED, self->fd, SIFIVE_TRACE_MMAP_THREADS));
	slots = mmap(NULL, SLOTS_SIZE, PROT_READ, MAP_SHARED, self->fd,
		     SIFIVE_TRACE_MMAP_THREADS);
	ASSERT_NE(MAP_FAILED, slots);
	EXPECT_EQ(-1, mprotect(slots, SLOTS_SIZE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, trace_signal_of_load(slots));
}

/*
 * The sysctl rewrites scounteren on every CPU. The next context switch restores access, so not
 * every round shows the effect.
 */
TEST_F(access, rejoin_restores_access_revoked_by_sysctl)
{
	unsigned int i, taken = 0, fixed = 0;
	const unsigned int rounds = 100;
	uint32_t mask;
	char was[16];

	if (trace_file_read(USER_ACCESS, was, sizeof(was)) < 0)
		SKIP(return, "this kernel has no perf_user_access");
	ASSERT_EQ(0, take_three(self->fd, &mask));
	for (i = 0; i < rounds; i++) {
		/* With perf_user_access=2, fixed counters remain accessible. */
		ASSERT_LE(0, trace_file_write(USER_ACCESS, i % 2 ? "0" : "2"));
		taken += !not_signalled(mask & ~BOTH, SIGILL);
		fixed += i % 2 && !not_signalled(mask, SIGILL);
		EXPECT_EQ(no_slot, join(self->fd, 0));
		EXPECT_EQ(0, not_signalled(mask, 0));
	}
	TH_LOG("%u of %u writes revoked access, %u of them also to fixed counters", taken, rounds,
	       fixed);
	EXPECT_LT(0, taken);
	EXPECT_LT(0, fixed);
	ASSERT_LE(0, trace_file_write(USER_ACCESS, was));
}

/*
 * Access granted by the sysctl while a thread of the session runs cannot be distinguished from
 * the session's own access, so it takes effect only when the session ends.
 */
TEST_F(access, sysctl_applies_after_session)
{
	static const struct {
		const char *first, *last;
		int signal;
	} rule[] = {
		{ "1", "2", 0 }, { "2", "2", 0 }, { "0", "2", 0 },
		{ "2", "1", SIGILL }, { "2", "0", SIGILL },
	};
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	int i, cpu, cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	char was[16];

	if (trace_file_read(USER_ACCESS, was, sizeof(was)) < 0)
		SKIP(return, "this kernel has no perf_user_access");
	for (i = 0; i < ARRAY_SIZE(rule); i++) {
		ASSERT_LE(0, trace_file_write(USER_ACCESS, rule[i].first));
		config = trace_same_config(&config);
		ASSERT_EQ(0, trace_config(self->fd, &config));
		ASSERT_EQ(0, take(self->fd, 0));
		ASSERT_LE(0, trace_file_write(USER_ACCESS, rule[i].last));
		ASSERT_EQ(no_slot, join(self->fd, 0));
		EXPECT_EQ(0, signal_of_cycle());
		usleep(1000);
		ASSERT_EQ(0, close(self->fd));
		for (cpu = 0; cpu < cpus; cpu++) {
			ASSERT_EQ(0, trace_pin(cpu));
			EXPECT_EQ(rule[i].signal, signal_of_cycle()) {
				TH_LOG("%s, then %s: cpu %d", rule[i].first,
				       rule[i].last, cpu);
			}
			EXPECT_EQ(rule[i].signal,
				  trace_signal_of_counter(COUNTER_INSTRET));
		}
		ASSERT_EQ(0, trace_pin(self->encoder.cpu));
		self->fd = trace_open(O_RDWR);
		ASSERT_LE(0, self->fd);
	}
	ASSERT_LE(0, trace_file_write(USER_ACCESS, was));
}

/* The program that the test exec_ends_access executes: read a counter. */
int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--signal-of-cycle"))
		return signal_of_cycle();
	trace_require_device();
	return test_harness_run(argc, argv);
}

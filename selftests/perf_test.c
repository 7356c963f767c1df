// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that a session and perf can use counters at the same time. Both must count correctly while
 * perf events are opened and closed, and while they use all other counters. COUNTERS must report an
 * error if perf holds all counters.
 *
 * The emulator counts an event on a single counter, so the session and perf use different events,
 * except for cycles and instructions, which have fixed counters.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"

#define USER_ACCESS	"/proc/sys/kernel/perf_user_access"

#define TURNS		200000ull
#define LOOP		(TURNS * TRACE_SPIN)
/* Allowance for the system calls that read the count. */
#define SLACK		(LOOP / 20)

/*
 * Number of pages to touch; each causes a miss. If counts are exact, the test also checks an upper
 * limit, and touches more pages, so that the kernel's own misses do not exceed that limit.
 */
#define PAGES		64
#define PAGES_EXACT	512

/* Number of events, which exceeds the number of counters of any hart. */
#define MANY		40

static const struct sifive_trace_event cycles = { .code = 1 };
static const struct sifive_trace_event instructions = { .code = 2 };
static const struct sifive_trace_event dtlb = {
	.type = 1, .code = DTLB_READ_MISS,
};

FIXTURE(perf) {
	struct trace_session s;
	struct sifive_trace_counters counters;
	bool exact;
	unsigned int pages;
	char user_access[16];
};

FIXTURE_SETUP(perf)
{
	self->exact = trace_counts_instructions();
	self->pages = self->exact ? PAGES_EXACT : PAGES;
	trace_file_read(USER_ACCESS, self->user_access, sizeof(self->user_access));
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!(self->s.info.flags & SIFIVE_TRACE_INFO_COUNTERS))
		SKIP(return, "this machine's counters cannot be shared (no Sscofpmf)");
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	self->s.config = trace_simple_config(self->s.fd, self->s.encoder.index);
	ASSERT_EQ(0, trace_config(self->s.fd, &self->s.config));
}

FIXTURE_TEARDOWN(perf)
{
	trace_file_write(USER_ACCESS, self->user_access);
	trace_session_close(&self->s);
}

/* Take counters for these events; return the error. */
static int take(struct _test_data_perf *self,
		const struct sifive_trace_event *const *events, uint32_t count)
{
	uint32_t i;

	self->counters = TRACE_ARG(sifive_trace_counters);
	self->counters.count = count;
	for (i = 0; i < count; i++)
		self->counters.event[i] = *events[i];
	return trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &self->counters);
}

#define TAKE(...) ({							\
	const struct sifive_trace_event *events[] = { __VA_ARGS__ };	\
	take(self, events, ARRAY_SIZE(events)); })

/* Take counters for all three events, the programmable one first. */
#define TAKE_ALL()	TAKE(&dtlb, &instructions, &cycles)

#define OUR_DTLB	(self->counters.event[0].counter)

/* Return whether a count equals the loop's count or, if time is counted, is not 0. */
static bool is_loop(struct _test_data_perf *self, uint64_t count)
{
	return self->exact ? count >= LOOP && count <= LOOP + SLACK : (int64_t)count > 0;
}

/* Return the loop's count: the minimum of several runs, because other harts increase it. */
static uint64_t count_loop(struct _test_data_perf *self,
			   uint64_t (*read)(unsigned int what), unsigned int what)
{
	uint64_t best = ~0ull, count;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		count = read(what);
		trace_spin(TURNS);
		count = read(what) - count;
		if (count < best)
			best = count;
		/* For counts of time, one attempt suffices. */
		if (!self->exact || is_loop(self, best))
			break;
	}
	return best;
}

#define EXPECT_LOOP(read, what)						\
	do {								\
		uint64_t count = count_loop(self, read, what);		\
									\
		EXPECT_TRUE(is_loop(self, count)) {			\
			TH_LOG("%lld", (long long)count);		\
		}							\
	} while (0)

/* Check that the session's counters increase and count the correct events. */
static void check_ours(struct __test_metadata *_metadata,
		       struct _test_data_perf *self)
{
	uint64_t misses = trace_counter(OUR_DTLB);
	struct sifive_trace_status status;

	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(0, status.counters_lost) {
		TH_LOG("%s", status.message);
	}
	EXPECT_LOOP(trace_counter, COUNTER_INSTRET);
	EXPECT_LOOP(trace_counter, COUNTER_CYCLE);
	trace_touch_pages(self->pages);
	misses = trace_counter(OUR_DTLB) - misses;
	EXPECT_LE(self->pages, misses);
	if (self->exact)
		EXPECT_GE(4 * self->pages, misses);
}

static uint64_t their_count(unsigned int event)
{
	return trace_perf_count((int)event);
}

static int open_enabled(struct perf_event_attr attr, int pid, int cpu)
{
	int event = trace_perf_open(&attr, pid, cpu);

	if (event >= 0)
		trace_perf_enable(event);
	return event;
}

static int open_instructions(void)
{
	struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_INSTRUCTIONS);

	attr.exclude_kernel = 1;
	return open_enabled(attr, 0, -1);
}

TEST_F(perf, counts_correctly_before_during_and_after_session)
{
	int event = open_instructions();

	ASSERT_LE(0, event);
	EXPECT_LOOP(their_count, event);
	ASSERT_EQ(0, TAKE_ALL());
	EXPECT_LOOP(their_count, event);
	check_ours(_metadata, self);
	close(event);
	event = open_instructions();
	ASSERT_LE(0, event);
	EXPECT_LOOP(their_count, event);
	check_ours(_metadata, self);
	trace_session_close(&self->s);
	EXPECT_LOOP(their_count, event);
	close(event);
}

/*
 * Open pinned events on this CPU until no counter is free. Return the number of events that count;
 * a pinned event without a counter reads as end of file.
 */
static int fill_counters(struct _test_data_perf *self, int event[MANY])
{
	int i, counting = 0;

	for (i = 0; i < MANY; i++) {
		struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_RAW, 0x200 + i);

		attr.pinned = 1;
		event[i] = open_enabled(attr, -1, self->s.encoder.cpu);
		if (event[i] >= 0 && trace_perf_count(event[i]) != ~0ull)
			counting++;
	}
	return counting;
}

static void close_all(int event[MANY])
{
	int i;

	for (i = 0; i < MANY; i++)
		if (event[i] >= 0)
			close(event[i]);
}

/* ---- events that open and close ---------------------------------------------- */

/*
 * Kinds of perf events: pinned cycles on this CPU, pinned misses in this thread, and an event with
 * a mapped page.
 */
enum { OF_CPU, OF_THREAD, MAPPED, KINDS };

/* Descriptors of perf's events, by kind; -1 if closed. */
struct theirs {
	int event[KINDS];
	volatile struct perf_event_mmap_page *page;
};

static struct theirs theirs;

/* Whether the mapped event's counter is being read, and whether this has failed. */
static volatile sig_atomic_t reading, unreadable;

static void skip_read(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	if (!reading) {
		signal(number, SIG_DFL);
		return;
	}
	at->uc_mcontext.__gregs[REG_PC] += 4;
	unreadable = 1;
}

/*
 * Return the mapped event's count without a system call: the base in its page plus the counter, or
 * 0 if the page names no counter, or names a counter that cannot be read. perf may move the event
 * to another counter between these two reads, but then changes the page's lock.
 */
static uint64_t mapped_count(unsigned int unused)
{
	volatile struct perf_event_mmap_page *page = theirs.page;
	unsigned int above;
	uint32_t lock;
	uint64_t count;

	do {
		lock = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		if (!page->cap_user_rdpmc || !page->index)
			return 0;
		above = 64 - page->pmc_width;
		unreadable = 0;
		reading = 1;
		count = page->offset +
			((int64_t)(trace_counter(page->index - 1) << above) >> above);
		reading = 0;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (lock != page->lock);
	return unreadable ? 0 : count;
}

static void open_kind(struct __test_metadata *_metadata,
		      struct _test_data_perf *self, unsigned int kind)
{
	static const struct {
		uint32_t type;
		uint64_t config;
	} counts[KINDS] = {
		[OF_CPU] = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		[OF_THREAD] = { PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_DTLB |
				PERF_COUNT_HW_CACHE_OP_WRITE << 8 |
				PERF_COUNT_HW_CACHE_RESULT_MISS << 16 },
		[MAPPED] = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	};
	struct perf_event_attr attr = trace_perf_attr(counts[kind].type,
						      counts[kind].config);

	attr.pinned = kind != MAPPED;
	theirs.event[kind] = kind == OF_CPU ?
			     open_enabled(attr, -1, self->s.encoder.cpu) :
			     open_enabled(attr, 0, -1);
	ASSERT_LE(0, theirs.event[kind]);
	if (kind != MAPPED)
		return;
	theirs.page = mmap(NULL, (size_t)getpagesize(), PROT_READ, MAP_SHARED,
			   theirs.event[kind], 0);
	ASSERT_NE(MAP_FAILED, theirs.page);
}

static void close_kind(unsigned int kind)
{
	if (kind == MAPPED)
		munmap((void *)theirs.page, (size_t)getpagesize());
	close(theirs.event[kind]);
	theirs.event[kind] = -1;
}

/* Check that perf's events count correctly. */
static void check_theirs(struct __test_metadata *_metadata,
			 struct _test_data_perf *self)
{
	uint64_t misses;

	if (theirs.event[OF_CPU] >= 0)
		EXPECT_LOOP(their_count, theirs.event[OF_CPU]);
	if (theirs.event[MAPPED] >= 0) {
		EXPECT_LOOP(their_count, theirs.event[MAPPED]);
		EXPECT_LOOP(mapped_count, 0);
	}
	if (theirs.event[OF_THREAD] < 0)
		return;
	misses = trace_perf_count(theirs.event[OF_THREAD]);
	trace_store_pages(self->pages);
	misses = trace_perf_count(theirs.event[OF_THREAD]) - misses;
	EXPECT_LE(self->pages, misses);
	if (self->exact)
		EXPECT_GE(4 * self->pages, misses);
}

/* Open three events in one order and close them in another order, for all combinations. */
TEST_F(perf, counts_are_correct_in_every_open_and_close_order)
{
	const struct sigaction on_illegal = { .sa_sigaction = skip_read, .sa_flags = SA_SIGINFO };
	static const unsigned int order[6][KINDS] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
		{ 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	unsigned int opening, closing, i;
	int event[MANY], rest;

	trace_file_write(USER_ACCESS, "1");
	ASSERT_EQ(0, sigaction(SIGILL, &on_illegal, NULL));
	memset(theirs.event, -1, sizeof(theirs.event));
	ASSERT_EQ(0, TAKE_ALL());
	/* If there are fewer counters than events, perf cannot count all events. */
	rest = fill_counters(self, event);
	close_all(event);
	for (opening = 0; opening < 6; opening++)
		for (closing = 0; closing < 6; closing++) {
			for (i = 0; i < KINDS; i++) {
				open_kind(_metadata, self, order[opening][i]);
				check_ours(_metadata, self);
				if (rest >= KINDS)
					check_theirs(_metadata, self);
			}
			for (i = 0; i < KINDS; i++) {
				close_kind(order[closing][i]);
				check_ours(_metadata, self);
				if (rest >= KINDS)
					check_theirs(_metadata, self);
			}
		}
}

/* ---- events that fill the counters --------------------------------------------- */

TEST_F(perf, event_is_busy_when_perf_holds_all_counters)
{
	struct sifive_trace_status status;
	int event[MANY];

	if (!fill_counters(self, event))
		SKIP(return, "this machine's firmware does not accept raw events");
	EXPECT_EQ(-EBUSY, TAKE(&instructions, &dtlb));
	EXPECT_EQ(1, self->counters.failed);
	EXPECT_EQ(0, self->counters.mask);
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_NE(NULL, strstr(status.message, "event 1")) {
		TH_LOG("%s", status.message);
	}
	close_all(event);
	EXPECT_EQ(0, TAKE(&instructions, &dtlb));
}

TEST_F(perf, fixed_counters_are_available_when_perf_holds_others)
{
	int event[MANY];

	if (!fill_counters(self, event))
		SKIP(return, "this machine's firmware does not accept raw events");
	EXPECT_EQ(0, TAKE(&instructions, &cycles));
	close_all(event);
}

TEST_F(perf, perf_can_use_counters_not_used_by_session)
{
	int event[MANY], all, rest;

	all = fill_counters(self, event);
	close_all(event);
	if (!all)
		SKIP(return, "this machine's firmware does not accept raw events");
	ASSERT_EQ(0, TAKE_ALL());
	rest = fill_counters(self, event);
	EXPECT_EQ(all - 1, rest);
	check_ours(_metadata, self);
	close_all(event);
	check_ours(_metadata, self);
}

/* Fill only programmable counters, so that firmware has only the fixed counter left for cycles. */
TEST_F(perf, perf_cannot_use_fixed_counters_of_session)
{
	struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_INSTRUCTIONS);
	struct sifive_trace_status status;
	int event[MANY], theirs;

	if (!fill_counters(self, event))
		SKIP(return, "this machine's firmware does not accept raw events");
	ASSERT_EQ(0, TAKE(&instructions, &cycles));
	theirs = open_enabled(attr, 0, -1);
	ASSERT_LE(0, theirs);
	EXPECT_LOOP(trace_counter, COUNTER_INSTRET);
	EXPECT_EQ(0, trace_perf_count(theirs));
	EXPECT_LOOP(trace_counter, COUNTER_CYCLE);
	close_all(event);
	/* perf allocates a counter when it schedules a thread in. */
	trace_perf_disable(theirs);
	trace_perf_enable(theirs);
	EXPECT_LOOP(their_count, theirs);
	EXPECT_LOOP(trace_counter, COUNTER_INSTRET);
	close(theirs);
	EXPECT_LOOP(trace_counter, COUNTER_CYCLE);
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(0, status.counters_lost);

	/* perf can use all counters again. */
	trace_session_close(&self->s);
	ASSERT_LT(0, fill_counters(self, event));
	theirs = open_enabled(attr, 0, -1);
	EXPECT_LOOP(their_count, theirs);
	close(theirs);
	close_all(event);
}

static void system_calls(void)
{
	int i;

	for (i = 0; i < 1000; i++)
		getppid();
}

/* Return perf's count for the user-mode part of system calls: the lowest of several runs. */
static uint64_t count_calls(int event)
{
	uint64_t best = ~0ull, count;
	int i;

	for (i = 0; i < 5; i++) {
		count = trace_perf_count(event);
		system_calls();
		count = trace_perf_count(event) - count;
		if (count < best)
			best = count;
	}
	return best;
}

/* perf may have set a fixed counter to count only user mode. */
TEST_F(perf, event_query_does_not_change_perf_counter)
{
	struct sifive_trace_query query = TRACE_ARG(sifive_trace_query);
	uint64_t before, after;
	int event[MANY], theirs;

	if (!fill_counters(self, event))
		SKIP(return, "this machine's firmware does not accept raw events");
	theirs = open_instructions();
	ASSERT_LE(0, theirs);
	before = count_calls(theirs);
	query.event = instructions;
	EXPECT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_EVENT, &query));
	EXPECT_EQ(0, query.counters);
	EXPECT_EQ(-EBUSY, TAKE(&instructions));
	after = count_calls(theirs);
	if (self->exact) {
		EXPECT_GE(before + before / 10, after);
		EXPECT_LE(before, after + before / 10);
	}
	close(theirs);
	EXPECT_EQ(0, TAKE(&instructions));
	close_all(event);
}

/* ---- locks -------------------------------------------------------------------- */

struct toucher {
	pthread_t thread;
	struct trace_session *s;
	int event;
	bool quit;
};

/* perf writes an event's count to an untouched page of this process. */
static void *thread_touches(void *arg)
{
	struct toucher *t = arg;
	size_t page = getpagesize();
	void *at;

	while (!__atomic_load_n(&t->quit, __ATOMIC_RELAXED)) {
		at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, t->s->fd,
			  t->s->encoder.index * page);
		if (at == MAP_FAILED)
			return at;
		if (read(t->event, at + page / 2, 8) != 8 && errno != EFAULT)
			t->quit = true;
		munmap(at, page);
	}
	return NULL;
}

TEST_F(perf, perf_can_touch_page_first_while_counters_are_taken)
{
	struct toucher t = { .s = &self->s };
	struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_SOFTWARE,
						      PERF_COUNT_SW_CPU_CLOCK);
	const int times = trace_repeat(200);
	void *ret;
	int i;

	t.event = open_enabled(attr, -1, self->s.encoder.cpu);
	ASSERT_LE(0, t.event);
	ASSERT_EQ(0, pthread_create(&t.thread, NULL, thread_touches, &t));
	for (i = 0; i < times; i++) {
		EXPECT_EQ(0, TAKE(&instructions, &cycles));
		sched_yield();
	}
	__atomic_store_n(&t.quit, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(t.thread, &ret));
	EXPECT_EQ(NULL, ret);
	close(t.event);
}

/* ---- the kernel's setting for user access ----------------------------------------- */

/*
 * Each write to the sysctl resets access on all CPUs. Rejoining restores access; the counters
 * have kept counting.
 */
TEST_F(perf, rejoin_restores_access_after_perf_user_access_change)
{
	static const char *const value[] = { "0", "2", "1", "2", "0", "1" };
	unsigned int i;

	ASSERT_EQ(0, TAKE_ALL());
	for (i = 0; i < ARRAY_SIZE(value); i++) {
		struct sifive_trace_thread thread = TRACE_ARG(sifive_trace_thread);
		int ret;

		ASSERT_LE(0, trace_file_write(USER_ACCESS, value[i]));
		TH_LOG("perf_user_access=%s: cycle raises signal %d, hpmcounter%u signal %d",
		       value[i], trace_signal_of_counter(COUNTER_CYCLE), OUR_DTLB,
		       trace_signal_of_counter(OUR_DTLB));
		ret = trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_THREAD, &thread);
		if (ret == -ENOTTY)
			SKIP(return, "this driver does not let threads join");
		ASSERT_EQ(0, ret);
		ASSERT_EQ(0, trace_signal_of_counter(OUR_DTLB));
		check_ours(_metadata, self);
	}
}

TRACE_HARNESS_MAIN

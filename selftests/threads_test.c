// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that threads on all harts record at once and that nothing they do to each
 * other, or signals, moves, forks and jumps do to them, costs a record that is not
 * counted: the decoded trace has exactly the records that the program made, minus
 * the losses that the library reports, and no piece of anything else.
 *
 * TRACE_SECONDS in the environment makes the longest one longer.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sifive_trace.h>

#include "kselftest_harness.h"
#include "trace_device.h"

#define MAGIC		0x70657266
#define MANUAL		2
#define BREAK		0xff
#define THREADS		64
#define SOURCES		64
#define CHANNELS	32
#define BUFFER		(16u << 20)

/* Where a stream of one source and channel is. */
struct reader {
	enum { START, TYPE, MASK, COUNTER, RECORD, ADDRESS, HIGH, COUNT } state;
	unsigned int counters, words;
};

struct totals {
	uint64_t records, headers, breaks, bad;
	unsigned int sources;
};

static struct sifive_trace *trace;
static uint64_t made;

static void made_one(void)
{
	__atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
}

static void record(void)
{
	made_one();
	sifive_trace_write(trace);
}

/* One word of a stream; what does not fit is counted and waits for a header. */
static void read_word(struct reader *r, unsigned int bytes, uint32_t value,
		      struct totals *totals)
{
	if (r->state == COUNT && bytes == 2)
		return;
	if (r->state == COUNT && r->words == 0)
		r->state = RECORD;
	if (bytes == 1 && value == BREAK) {
		totals->breaks++;
		r->state = START;
		return;
	}
	switch (r->state) {
	case START:
	case RECORD:
		if (bytes == 4 && value == MAGIC) {
			r->state = TYPE;
		} else if (r->state == RECORD && bytes == 1 && value == MANUAL) {
			r->state = ADDRESS;
		} else {
			totals->bad++;
			r->state = START;
		}
		return;
	case TYPE:
		totals->bad += bytes != 1 || value != SIFIVE_TRACE_DELTA;
		r->state = MASK;
		return;
	case MASK:
		r->counters = (unsigned int)__builtin_popcount(value);
		r->words = 3 * r->counters;
		r->state = COUNTER;
		break;
	case COUNTER:
		r->words--;
		break;
	case ADDRESS:
	case HIGH:
		if (r->state == ADDRESS && value & 1) {
			r->state = HIGH;
			break;
		}
		r->words = r->counters;
		r->state = COUNT;
		totals->records += !r->words;
		break;
	case COUNT:
		totals->records += !--r->words;
		break;
	}
	totals->bad += bytes != 4;
	if (r->state == COUNTER && !r->words) {
		totals->headers++;
		r->state = RECORD;
	}
}

/* Decode one sink's bytes. */
static int read_sink(const uint8_t *bytes, const struct sifive_trace_sink *sink,
		     struct totals *totals)
{
	static struct reader reader[SOURCES][CHANNELS];
	static bool seen[SOURCES];
	struct trace_stream stream;
	size_t i;

	memset(reader, 0, sizeof(reader));
	memset(seen, 0, sizeof(seen));
	if (trace_decode(bytes + sink->offset, sink->bytes, sink->src_bits, &stream))
		return -1;
	for (i = 0; i < stream.count; i++) {
		const struct trace_message *m = &stream.message[i];

		if (m->tcode == TRACE_TCODE_ERROR)
			totals->bad++;
		if (m->tcode != TRACE_TCODE_DATA)
			continue;
		totals->sources += !seen[m->src % SOURCES];
		seen[m->src % SOURCES] = true;
		read_word(&reader[m->src % SOURCES][m->tag / 4 % CHANNELS],
			  4 - m->tag % 4, m->value, totals);
	}
	free(stream.message);
	return 0;
}

FIXTURE(threads) {
	int fd;
	struct sifive_trace_info info;
	struct totals totals;
	struct sifive_trace_report report;
};

FIXTURE_SETUP(threads)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;

	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	if (!(self->info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SBA)))
		SKIP(return, "this board has no SBA sink");
	if (self->info.flags & SIFIVE_TRACE_INFO_COUNTERS)
		options.events = "cycles,instructions";
	options.buffer = BUFFER;
	options.flags = SIFIVE_TRACE_NO_HOOKS;
	trace = sifive_trace_open();
	ASSERT_NE(NULL, trace);
	while (sifive_trace_setup(trace, &options)) {
		/* Several sinks may have to share what one could have. */
		options.buffer /= 2;
		ASSERT_LT(100000, options.buffer) {
			TH_LOG("%s", sifive_trace_error());
		}
	}
	made = 0;
	ASSERT_EQ(0, sifive_trace_on(trace)) {
		TH_LOG("%s", sifive_trace_error());
	}
}

FIXTURE_TEARDOWN(threads)
{
	sifive_trace_close(trace);
	close(self->fd);
}

/* All that was made is in the trace or was reported, and nothing else. */
static void whole(struct __test_metadata *_metadata, struct _test_data_threads *self)
{
	struct sifive_trace_sink sink;
	uint64_t lost;
	uint8_t *bytes;
	unsigned int i;

	ASSERT_EQ(0, sifive_trace_off(trace)) {
		TH_LOG("%s", sifive_trace_error());
	}
	self->report.size = sizeof(self->report);
	ASSERT_EQ(0, sifive_trace_status(trace, &self->report));
	ASSERT_EQ(0, self->report.flags & SIFIVE_TRACE_FULL);
	ASSERT_LT(0, trace_read_all(self->fd, &bytes));
	for (i = 0; i < self->report.sinks; i++) {
		ASSERT_EQ(0, trace_sink(self->fd, i, &sink));
		ASSERT_EQ(0, read_sink(bytes, &sink, &self->totals));
	}
	free(bytes);
	lost = self->report.lost_signals + self->report.lost_threads +
	       self->report.lost_abandoned;
	EXPECT_EQ(0, self->totals.bad);
	EXPECT_EQ(self->report.lost_abandoned, self->totals.breaks);
	EXPECT_EQ(made, self->totals.records + lost) {
		TH_LOG("lost: %llu signals, %llu threads, %llu abandoned",
		       (unsigned long long)self->report.lost_signals,
		       (unsigned long long)self->report.lost_threads,
		       (unsigned long long)self->report.lost_abandoned);
	}
}

#define WHOLE()	whole(_metadata, self)

static void move(unsigned int to)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(to % (unsigned int)sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void on_signal(int number)
{
	record();
	record();
}

static volatile bool stop;
static pthread_barrier_t all_there;

static void *storm(void *number)
{
	unsigned int n = (unsigned int)(uintptr_t)number, i;

	record();
	pthread_barrier_wait(&all_there);
	for (i = 0; !stop; i++) {
		record();
		if (i % 16 == n % 16)
			move(i + n);
		if (i % 8 == 0)
			usleep(4000);
	}
	return NULL;
}

/* The long one: all harts, 64 threads of which half have a channel, signals. */
TEST_F(threads, a_storm_is_decoded_to_the_exact_number_of_records)
{
	const struct itimerval timer = { { 0, 3000 }, { 0, 3000 } };
	const char *seconds = getenv("TRACE_SECONDS");
	pthread_t thread[THREADS];
	unsigned int i;
	time_t end;

	signal(SIGALRM, on_signal);
	pthread_barrier_init(&all_there, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, storm,
					    (void *)(uintptr_t)i));
	pthread_barrier_wait(&all_there);
	setitimer(ITIMER_REAL, &timer, NULL);
	end = time(NULL) + (seconds ? atoi(seconds) : 3);
	while (time(NULL) < end) {
		pthread_kill(thread[time(NULL) % THREADS], SIGALRM);
		record();
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	stop = true;
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	WHOLE();
	TH_LOG("%llu made, %llu in the trace of %u sources, %llu without a channel",
	       (unsigned long long)made,
	       (unsigned long long)self->totals.records, self->totals.sources,
	       (unsigned long long)self->report.lost_threads);
	EXPECT_EQ(self->info.encoders, self->totals.sources);
	EXPECT_LT(0, self->report.lost_threads);
	EXPECT_EQ(0, self->report.lost_abandoned);
}

static void *short_life(void *number)
{
	move((unsigned int)(uintptr_t)number);
	record();
	record();
	return NULL;
}

TEST_F(threads, two_hundred_come_and_go_and_none_is_lost)
{
	pthread_t thread[4];
	unsigned int i, j;

	for (i = 0; i < 50; i++) {
		for (j = 0; j < 4; j++)
			ASSERT_EQ(0, pthread_create(&thread[j], NULL, short_life,
						    (void *)(uintptr_t)(i + j)));
		for (j = 0; j < 4; j++)
			ASSERT_EQ(0, pthread_join(thread[j], NULL));
	}
	WHOLE();
	EXPECT_EQ(0, self->report.lost_threads);
	EXPECT_EQ(400, self->totals.records);
}

static void *endless(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		sifive_trace_write(trace);
	return unused;
}

/* Wherever it is hit: at most its last record is lost, and that is reported. */
TEST_F(threads, a_cancelled_one_leaves_its_channel_usable)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 30; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, endless, NULL));
		usleep(500 + 37 * i);
		ASSERT_EQ(0, pthread_cancel(thread));
		ASSERT_EQ(0, pthread_join(thread, NULL));
	}
	ASSERT_EQ(0, pthread_create(&thread, NULL, short_life, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	/* How many were made is not known; that they are whole is. */
	made = 0;
	ASSERT_EQ(0, sifive_trace_off(trace));
	self->report.size = sizeof(self->report);
	ASSERT_EQ(0, sifive_trace_status(trace, &self->report));
	EXPECT_LE(self->report.lost_abandoned, 30);
}

static sigjmp_buf jump;

static void jump_out(int number)
{
	siglongjmp(jump, 1);
}

/* The record that a handler jumped out of is the one that is lost. */
TEST_F(threads, jumps_out_of_handlers_lose_what_is_reported)
{
	const struct itimerval timer = { { 0, 700 }, { 0, 700 } };
	volatile int jumps = 0;

	signal(SIGALRM, jump_out);
	setitimer(ITIMER_REAL, &timer, NULL);
	if (sigsetjmp(jump, 1))
		jumps++;
	while (jumps < 300)
		sifive_trace_write(trace);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	signal(SIGALRM, SIG_IGN);
	sifive_trace_write(trace);
	ASSERT_EQ(0, sifive_trace_off(trace));
	self->report.size = sizeof(self->report);
	ASSERT_EQ(0, sifive_trace_status(trace, &self->report));
	EXPECT_LE(self->report.lost_abandoned, 301);
}

TEST_F(threads, children_do_not_disturb)
{
	char *const args[] = { "/bin/true", NULL };
	volatile int i;
	pid_t child;

	for (i = 0; i < 20; i++) {
		record();
		child = fork();
		if (!child) {
			sifive_trace_write(trace);
			_exit(0);
		}
		ASSERT_EQ(child, waitpid(child, NULL, 0));
		record();
		/* What it writes is its parent's, or is counted. */
		child = vfork();
		if (!child) {
			record();
			execv(args[0], args);
			_exit(0);
		}
		ASSERT_EQ(child, waitpid(child, NULL, 0));
		record();
	}
	WHOLE();
	EXPECT_LE(60, self->totals.records);
}

/* An illegal instruction of the program's own is the program's. */
static volatile int own_traps;

static void own_handler(int number, siginfo_t *info, void *context)
{
	own_traps++;
	((ucontext_t *)context)->uc_mcontext.__gregs[0] += 4;
}

TEST_F(threads, a_programs_own_sigill_is_passed_on)
{
	struct sigaction action = {
		.sa_sigaction = own_handler, .sa_flags = SA_SIGINFO,
	};

	ASSERT_EQ(0, sifive_trace_off(trace));
	ASSERT_EQ(0, sigaction(SIGILL, &action, NULL));
	ASSERT_EQ(0, sifive_trace_on(trace));
	record();
	asm volatile(".option push\n.option norvc\n.word 0xc0001073\n.option pop");
	record();
	EXPECT_EQ(1, own_traps);
	WHOLE();
	EXPECT_EQ(2, self->totals.records);
}

/* The kernel takes user access to counters away from everybody; it comes back. */
TEST_F(threads, a_lost_permission_is_repaired)
{
	static const char path[] = "/proc/sys/kernel/perf_user_access";
	int fd = open(path, O_WRONLY), i;

	if (fd < 0 || !(self->info.flags & SIFIVE_TRACE_INFO_COUNTERS))
		SKIP(return, "no kernel.perf_user_access, or no counters");
	for (i = 0; i < 20; i++) {
		record();
		ASSERT_EQ(1, write(fd, i % 2 ? "1" : "0", 1));
		record();
	}
	close(fd);
	WHOLE();
	EXPECT_EQ(40, self->totals.records);
}

TRACE_HARNESS_MAIN

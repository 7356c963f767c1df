// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the numbers, results and times of system calls in random programs are correct,
 * regardless of the harts on which the programs run. No false calls are reported if records are
 * missing.
 */
#include <stdlib.h>
#include <string.h>

#include <kselftest_harness.h>

#include "gen.h"
#include "meta.h"
#include "oncpu.h"

#define HARTS	4
#define THREADS	6
#define STEPS	5000
#define ROUNDS	50
#define TID	100
/* Upper limit of the system calls' numbers. */
#define NUMBERS	8
/* The system calls that end a thread. */
#define EXIT	93
#define EXECVE	221
/* Size of a record in bytes, and the maximum number of records that are sent out of order. */
#define RECORD	16
#define LATE	8

struct caller {
	int hart;			/* -1 if the thread is not running */
	bool begun, calls;
	unsigned int number;
	uint64_t since, off, left;
};

FIXTURE(calls) {
	struct meta meta;
	struct threads *threads;
	struct oncpu *oncpu;
	uint64_t seed, now, offset;
	struct caller caller[THREADS];
	int running[HARTS];
	bool gap[HARTS];		/* a record could not be written */
	bool mute[HARTS];		/* messages are lost */
	/*
	 * On average, one in @drop records cannot be written, and one in @mutes steps begins a loss
	 * of messages; 0 means never.
	 */
	unsigned int drop, mutes, lost;
	struct trace_switch late[LATE];
	unsigned int lates;
	struct syscall_times truth[SYSCALLS_MAX + 1];
};

static void begin(FIXTURE_DATA(calls) *self)
{
	unsigned int i;

	oncpu_free(self->oncpu);
	threads_free(self->threads);
	self->threads = threads_new(&self->meta);
	self->oncpu = self->threads ? oncpu_new(self->threads, NULL, NULL) : NULL;
	if (!self->oncpu)
		abort();
	self->now = 1000;
	self->offset = 0;
	self->lost = 0;
	memset(self->caller, 0, sizeof(self->caller));
	memset(self->gap, 0, sizeof(self->gap));
	memset(self->mute, 0, sizeof(self->mute));
	memset(self->truth, 0, sizeof(self->truth));
	for (i = 0; i < THREADS; i++)
		self->caller[i].hart = -1;
	for (i = 0; i < HARTS; i++)
		self->running[i] = -1;
}

FIXTURE_SETUP(calls)
{
	begin(self);
}

FIXTURE_TEARDOWN(calls)
{
	oncpu_free(self->oncpu);
	threads_free(self->threads);
}

static uint64_t below(FIXTURE_DATA(calls) *self, uint64_t limit)
{
	return gen_random(&self->seed) % limit;
}

static bool one_in(FIXTURE_DATA(calls) *self, unsigned int n)
{
	return n && !below(self, n);
}

static void send(FIXTURE_DATA(calls) *self, struct trace_switch record)
{
	record.stamp.offset = self->offset;
	self->offset += RECORD;
	oncpu_push(self->oncpu, &record);
}

/* Send a random pending record, but send each hart's records in order. */
static void send_late(FIXTURE_DATA(calls) *self)
{
	unsigned int at = (unsigned int)below(self, self->lates), i;

	for (i = 0; i < at; i++)
		if (self->late[i].src == self->late[at].src)
			at = i;
	send(self, self->late[at]);
	self->lates--;
	memmove(self->late + at, self->late + at + 1, (self->lates - at) * sizeof(*self->late));
}

static void put_mark(FIXTURE_DATA(calls) *self, unsigned int hart, uint8_t kind, uint32_t value)
{
	if (self->mute[hart])
		return;
	while (self->lates == LATE)
		send_late(self);
	self->late[self->lates++] = (struct trace_switch){
		.src = (uint8_t)hart, .kind = kind, .thread = value,
		.stamp = { .time = self->now, .time_known = TIME_EXACT },
	};
}

/* Add a record in the driver's format. */
static void put(FIXTURE_DATA(calls) *self, unsigned int hart, uint8_t kind, uint32_t value)
{
	if (one_in(self, self->drop)) {
		self->gap[hart] = true;
		self->lost++;
		return;
	}
	if (self->gap[hart])
		put_mark(self, hart, SIFIVE_TRACE_SWITCH_BEGIN, 0);
	self->gap[hart] = false;
	put_mark(self, hart, kind, value);
}

static void end(FIXTURE_DATA(calls) *self)
{
	while (self->lates)
		send_late(self);
	oncpu_flush(self->oncpu);
	oncpu_end(self->oncpu);
}

static void switch_in(FIXTURE_DATA(calls) *self, unsigned int hart, unsigned int thread)
{
	struct caller *c = &self->caller[thread];

	put(self, hart, SIFIVE_TRACE_SWITCH_IN, TID + thread);
	if (c->begun)
		c->off += self->now - c->left;
	c->begun = true;
	c->hart = (int)hart;
	self->running[hart] = (int)thread;
}

static void switch_out(FIXTURE_DATA(calls) *self, unsigned int hart, uint8_t kind)
{
	unsigned int thread = (unsigned int)self->running[hart];

	put(self, hart, kind, TID + thread);
	self->caller[thread].left = self->now;
	self->caller[thread].hart = -1;
	self->running[hart] = -1;
}

static void call(FIXTURE_DATA(calls) *self, unsigned int hart, unsigned int number)
{
	struct caller *c = &self->caller[self->running[hart]];

	put(self, hart, SIFIVE_TRACE_SWITCH_CALL, number);
	c->calls = true;
	c->number = number;
	c->since = self->now;
	c->left = 0;
	c->off = 0;
}

static void finish(FIXTURE_DATA(calls) *self, unsigned int hart)
{
	struct caller *c = &self->caller[self->running[hart]];
	bool error = one_in(self, 3);
	struct syscall_times *t = &self->truth[c->number];
	uint64_t time = self->now - c->since;

	put(self, hart, SIFIVE_TRACE_SWITCH_RETURN, error ? (uint32_t)-1 : 0);
	c->calls = false;
	t->calls++;
	t->errors += error;
	t->total += time;
	t->off += c->off;
	if (time > t->longest)
		t->longest = time;
}

/*
 * Begin to lose messages or, if they are being lost, stop losing them and report the loss with an
 * Error message that has no time.
 */
static void mute(FIXTURE_DATA(calls) *self, unsigned int hart)
{
	self->mute[hart] = !self->mute[hart];
	if (self->mute[hart])
		return;
	while (self->lates)
		send_late(self);
	oncpu_lost(self->oncpu, (int)hart, &(struct perfrec_stamp){ .offset = self->offset });
	self->lost++;
}

static void step(FIXTURE_DATA(calls) *self)
{
	unsigned int hart = (unsigned int)below(self, HARTS);
	unsigned int thread = (unsigned int)below(self, THREADS);

	self->now += 1 + below(self, 1000);
	/* Keep losses short, because the encoder's queue is short. */
	if (one_in(self, self->mute[hart] ? 10 : self->mutes)) {
		mute(self, hart);
	} else if (self->running[hart] < 0) {
		if (self->caller[thread].hart < 0)
			switch_in(self, hart, thread);
	} else if (one_in(self, 3)) {
		switch_out(self, hart, one_in(self, 2) ? SIFIVE_TRACE_SWITCH_SLEEPS :
							 SIFIVE_TRACE_SWITCH_PREEMPTED);
	} else if (self->caller[self->running[hart]].calls) {
		finish(self, hart);
	} else {
		call(self, hart, (unsigned int)below(self, NUMBERS));
	}
}

static void generate(FIXTURE_DATA(calls) *self, unsigned int seed)
{
	unsigned int hart, i;

	begin(self);
	self->seed = seed;
	for (hart = 0; hart < HARTS; hart++)
		put_mark(self, hart, SIFIVE_TRACE_SWITCH_BEGIN, 0);
	for (i = 0; i < STEPS; i++)
		step(self);
	for (hart = 0; hart < HARTS; hart++)
		if (self->mute[hart])
			mute(self, hart);
	end(self);
}

/* Return the times of system call @number, or 0 if there was no such call. */
static struct syscall_times times_of(FIXTURE_DATA(calls) *self, unsigned int number)
{
	const struct syscalls *syscalls = oncpu_syscalls(self->oncpu);

	return syscalls->time ? syscalls->time[number] : (struct syscall_times){ 0 };
}

TEST_F(calls, are_counted_with_their_times)
{
	unsigned int round, number;

	for (round = 0; round < ROUNDS; round++) {
		generate(self, round);
		EXPECT_EQ(0, oncpu_syscalls(self->oncpu)->doubtful);
		for (number = 0; number < NUMBERS; number++) {
			const struct syscall_times seen = times_of(self, number);

			EXPECT_EQ(self->truth[number].calls, seen.calls);
			EXPECT_EQ(self->truth[number].errors, seen.errors);
			EXPECT_EQ(self->truth[number].total, seen.total);
			EXPECT_EQ(self->truth[number].off, seen.off);
			EXPECT_EQ(self->truth[number].longest, seen.longest);
		}
	}
}

static void check_lossy(struct __test_metadata *_metadata, FIXTURE_DATA(calls) *self,
			unsigned int seed)
{
	uint64_t seen_calls = 0, calls = 0;
	unsigned int round, number;

	for (round = 0; round < ROUNDS; round++) {
		generate(self, seed + round);
		ASSERT_LT(0, self->lost);
		EXPECT_LT(0, oncpu_syscalls(self->oncpu)->doubtful);
		for (number = 0; number < NUMBERS; number++) {
			const struct syscall_times seen = times_of(self, number);

			EXPECT_GE(self->truth[number].calls, seen.calls);
			EXPECT_GE(self->truth[number].errors, seen.errors);
			EXPECT_GE(self->truth[number].total, seen.total);
			EXPECT_GE(self->truth[number].off, seen.off);
			EXPECT_GE(self->truth[number].longest, seen.longest);
			seen_calls += seen.calls;
			calls += self->truth[number].calls;
		}
	}
	EXPECT_LT(calls / 4, seen_calls);
}

TEST_F(calls, are_never_overcounted_if_records_are_missing)
{
	self->drop = 200;
	check_lossy(_metadata, self, 100);
}

TEST_F(calls, are_never_overcounted_if_messages_are_missing)
{
	self->mutes = 200;
	check_lossy(_metadata, self, 200);
}

static void put_at(FIXTURE_DATA(calls) *self, unsigned int hart, uint64_t now, uint8_t kind,
		   uint32_t value)
{
	self->now = now;
	put_mark(self, hart, kind, value);
	send_late(self);
}

#define IN(hart, now, thread)	put_at(self, hart, now, SIFIVE_TRACE_SWITCH_IN, thread)
#define EXITED(hart, now, thread) put_at(self, hart, now, SIFIVE_TRACE_SWITCH_EXITED, thread)
#define CALL(hart, now, number)	put_at(self, hart, now, SIFIVE_TRACE_SWITCH_CALL, number)
#define RETURN(hart, now)	put_at(self, hart, now, SIFIVE_TRACE_SWITCH_RETURN, 0)
#define MARK(hart, now)		put_at(self, hart, now, SIFIVE_TRACE_SWITCH_BEGIN, 0)

/* The child's first record is the return from the call that created it. */
TEST_F(calls, of_an_ended_thread_do_not_continue_if_its_id_is_reused)
{
	MARK(0, 1000);
	IN(0, 2000, TID);
	CALL(0, 3000, EXIT);
	EXITED(0, 4000, TID);
	IN(0, 5000, TID);
	RETURN(0, 6000);
	CALL(0, 7000, 1);
	RETURN(0, 7100);
	end(self);
	EXPECT_EQ(0, times_of(self, EXIT).calls);
	EXPECT_EQ(1, times_of(self, 1).calls);
}

/* The thread takes over the id of the process's first thread, which has called exit(). */
TEST_F(calls, exec_in_another_thread_returns_in_the_first_thread)
{
	MARK(0, 1000);
	IN(0, 2000, TID);
	CALL(0, 3000, EXIT);
	EXITED(0, 4000, TID);
	IN(0, 5000, TID + 1);
	CALL(0, 6000, EXECVE);
	put_at(self, 0, 6500, SIFIVE_TRACE_SWITCH_SLEEPS, TID + 1);
	IN(0, 7000, TID + 1);
	EXITED(0, 8000, TID + 1);
	IN(0, 8000, TID);
	RETURN(0, 9000);
	end(self);
	EXPECT_EQ(0, times_of(self, EXIT).calls);
	EXPECT_EQ(1, times_of(self, EXECVE).calls);
	EXPECT_EQ(3000, times_of(self, EXECVE).total);
	EXPECT_EQ(500, times_of(self, EXECVE).off);
}

/* Harts do not write such records, but damaged traces can contain them. */
TEST_F(calls, that_return_before_they_begin_are_omitted)
{
	MARK(0, 1000);
	MARK(1, 1000);
	IN(0, 2000, TID);
	CALL(0, 9000, 1);
	/* The records from the other hart arrive much later. */
	self->offset += 1 << 20;
	RETURN(0, 3000);
	self->offset += 1 << 20;
	end(self);
	EXPECT_EQ(0, times_of(self, 1).calls);
	EXPECT_EQ(1, oncpu_syscalls(self->oncpu)->doubtful);
}

/* The thread's state during the loss on the other hart becomes known only later. */
TEST_F(calls, with_a_loss_detected_later_are_omitted)
{
	MARK(0, 1000);
	MARK(1, 1000);
	IN(0, 2000, TID);
	oncpu_lost(self->oncpu, 1, &(struct perfrec_stamp){ self->offset, 0, TIME_UNKNOWN });
	CALL(0, 3000, 1);
	put_at(self, 0, 4000, SIFIVE_TRACE_SWITCH_SLEEPS, TID);
	IN(0, 5000, TID);
	RETURN(0, 6000);
	/* During this call, the thread did not leave the hart. */
	CALL(0, 7000, 2);
	RETURN(0, 8000);
	self->offset += 1 << 20;
	MARK(1, 9000);
	end(self);
	EXPECT_EQ(0, times_of(self, 1).calls);
	EXPECT_EQ(1, times_of(self, 2).calls);
	EXPECT_EQ(1, oncpu_syscalls(self->oncpu)->doubtful);
}

/* After a loss, the thread that makes a call is unknown until a thread begins to run. */
TEST_F(calls, of_an_unknown_thread_are_omitted_and_counted)
{
	MARK(0, 1000);
	IN(0, 2000, TID);
	MARK(0, 3000);
	CALL(0, 4000, 1);
	RETURN(0, 5000);
	CALL(0, 6000, 1);
	RETURN(0, 7000);
	put_at(self, 0, 8000, SIFIVE_TRACE_SWITCH_SLEEPS, TID);
	IN(0, 9000, TID);
	CALL(0, 9100, 1);
	RETURN(0, 9200);
	end(self);
	EXPECT_EQ(1, times_of(self, 1).calls);
	EXPECT_EQ(2, oncpu_syscalls(self->oncpu)->doubtful);
}

TEST_HARNESS_MAIN

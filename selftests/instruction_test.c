// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that CONFIG accepts the instruction modes that the encoders support, and that only threads
 * of the session are traced. Each part must begin with a Sync message and name its thread. The
 * program's own stores must be in the same trace. Unprivileged users must not be able to read
 * kernel addresses.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_code.h"
#include "trace_more.h"

#define BUFFER	8388608

/* Number of times that two threads or processes take turns. */
#define TURNS	50

/* Number of processes that run in succession, and upper limit on the number of traced threads. */
#define PROCESSES 10
#define OWNERS	64

/* Size of a ring that holds more than one part. */
#define RING	262144

/**
 * struct found - summary of a capture's instruction trace
 * @parts:	number of parts
 * @unsynced:	number of parts without a preceding trace-on message
 * @owner:	distinct thread ids
 * @times:	number of occurrences of each id in @owner
 * @owners:	number of entries in @owner
 * @errors:	number of Error messages
 * @data:	number of data messages
 * @outside:	number of instruction trace messages outside parts
 */
struct found {
	unsigned int parts, unsynced, owners, errors, data, outside;
	uint32_t owner[OWNERS];
	unsigned int times[OWNERS];
};

FIXTURE(instruction) {
	struct trace_session s;
	struct sifive_trace_status status;
	struct trace_stream stream;
	struct found found;
};

/* Return the lowest mode that has branch messages and that all encoders support, or 0 if none. */
static uint32_t a_mode(const struct trace_session *s)
{
	uint32_t mode;

	for (mode = SIFIVE_TRACE_INSTRUCTION_BTM; mode < 8; mode++)
		if (s->info.instruction_modes & 1u << mode)
			return mode;
	return 0;
}

FIXTURE_SETUP(instruction)
{
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	self->s.instruction.mode = a_mode(&self->s);
	ASSERT_NE(0, self->s.instruction.mode);
	self->s.instruction.sync_branches = 5;
	self->s.instruction.sync_bytes = SIFIVE_TRACE_INSTRUCTION_NO_SYNC;
	self->s.instruction.timestamps = 3;
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
}

FIXTURE_TEARDOWN(instruction)
{
	trace_session_close(&self->s);
	free(self->stream.message);
}

static int configure(struct _test_data_instruction *self, uint64_t buffer, uint32_t flags)
{
	return trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, buffer, flags);
}

static int begin(struct _test_data_instruction *self, uint32_t flags)
{
	self->s.instruction.flags = flags;
	return configure(self, BUFFER, 0) ?: trace_start(self->s.fd, 0);
}

static void count_owner(struct found *found, uint32_t owner)
{
	unsigned int i;

	for (i = 0; i < found->owners && found->owner[i] != owner; i++)
		;
	if (i == OWNERS)
		return;
	found->owner[i] = owner;
	found->times[i]++;
	found->owners += i == found->owners;
}

static unsigned int times_of(const struct found *found, uint32_t owner)
{
	unsigned int i;

	for (i = 0; i < found->owners; i++)
		if (found->owner[i] == SIFIVE_TRACE_INSTRUCTION_PROCESS(owner))
			return found->times[i];
	return 0;
}

/**
 * struct reading - state while messages are read
 * @begun:	whether the encoder's state is known, unlike at the beginning of a ring
 * @on:		whether the encoder is tracing
 * @named:	number of Ownership messages since tracing began or ended
 * @loose:	number of instruction trace messages since tracing began or ended
 */
struct reading {
	bool begun;
	bool on;
	unsigned int named;
	unsigned int loose;
};

/* Called when tracing begins or ends. Messages before an Ownership message have no thread. */
static void bracket(struct found *found, struct reading *r, bool on)
{
	if (r->begun && !r->named)
		found->outside += r->loose;
	*r = (struct reading){ .begun = true, .on = on };
}

static void look(struct found *found, const struct trace_stream *stream)
{
	struct reading r = {};
	size_t i;

	for (i = 0; i < stream->count; i++) {
		const struct trace_message *m = &stream->message[i];

		if (m->tcode == TRACE_TCODE_SYNC) {
			bracket(found, &r, m->value == TRACE_VALUE_ON);
		} else if (m->tcode == TRACE_TCODE_OWNERSHIP) {
			/* The first Ownership message names the thread being switched out. */
			found->unsynced += r.begun && (!r.on || r.named > 1);
			if (r.begun && !r.named++)
				continue;
			found->parts++;
			count_owner(found, m->value);
		} else if (m->tcode == TRACE_TCODE_DATA) {
			found->data++;
		} else if (m->tcode == TRACE_TCODE_ERROR) {
			found->errors++;
		} else {
			r.loose++;
			found->outside += r.begun && !r.on;
		}
	}
}

static int collect(struct _test_data_instruction *self)
{
	memset(&self->found, 0, sizeof(self->found));
	free(self->stream.message);
	self->stream.message = NULL;
	if (trace_stop(self->s.fd) || trace_status(self->s.fd, &self->status) ||
	    trace_collect(self->s.fd, self->s.encoder.src_bits, &self->stream))
		return -1;
	look(&self->found, &self->stream);
	return 0;
}

/* Check the properties that every capture has. */
static void check(struct __test_metadata *_metadata, struct _test_data_instruction *self)
{
	EXPECT_EQ(0, self->stream.cut);
	EXPECT_EQ(0, self->found.unsynced);
	EXPECT_EQ(0, self->found.outside);
	EXPECT_EQ(self->found.parts, self->status.instruction.parts);
	EXPECT_EQ(0, self->status.changed);
	EXPECT_LT(0, times_of(&self->found, gettid()));
}

/* The encoder also traces interrupts, of which more occur on a slower machine. */
#define CHECK() ({								\
	ASSERT_EQ(0, collect(self));						\
	if (self->status.flags & SIFIVE_TRACE_STATUS_FULL)			\
		SKIP(return, "the trace did not fit into the buffer");		\
	check(_metadata, self);							\
})

/* ---- modes and refusals ------------------------------------------------------ */

TEST_F(instruction, info_reports_modes_that_config_accepts)
{
	struct sifive_trace_config config = trace_simple_config(self->s.fd, 0);
	struct sifive_trace_encoder encoder;
	uint32_t i, all = ~0u, some = 0, mode;

	for (i = 0; i < self->s.info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->s.fd, i, &encoder));
		EXPECT_EQ(0, encoder.instruction_modes & ~0xfeu);
		all &= encoder.instruction_modes;
		some |= encoder.instruction_modes;
	}
	EXPECT_EQ(all, self->s.info.instruction_modes);
	EXPECT_EQ(some, self->s.info.instruction_some);
	config.encoders = BIT64(self->s.encoder.index);
	config.channels &= ~TRACE_OWNERS;
	for (mode = 1; mode < 8; mode++) {
		config.instruction.mode = mode;
		if (self->s.encoder.instruction_modes & 1u << mode) {
			EXPECT_EQ(0, trace_config(self->s.fd, &config));
			continue;
		}
		EXPECT_EQ(-EOPNOTSUPP, trace_config(self->s.fd, &config));
		EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "instruction mode"));
		EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "6, 7"));
	}
}

/*
 * Expect a configuration with one invalid assignment to be refused, and the previous configuration
 * to be kept.
 */
#define REFUSED(error, assignment)				\
do {								\
	struct sifive_trace_config __c = good;			\
								\
	__c.assignment;						\
	EXPECT_EQ(error, trace_config(self->s.fd, &__c));	\
	EXPECT_EQ(0, trace_start(self->s.fd, 0));		\
	EXPECT_EQ(0, trace_stop(self->s.fd));			\
} while (0)

TEST_F(instruction, invalid_settings_are_refused)
{
	struct sifive_trace_config good;

	ASSERT_EQ(0, configure(self, BUFFER, 0));
	good = self->s.config;
	REFUSED(-EINVAL, instruction.flags = 4);
	REFUSED(-EINVAL, instruction.reserved = 1);
	REFUSED(-EINVAL, instruction.sync_branches = 12);
	REFUSED(-EINVAL, instruction.sync_bytes = 6);
	REFUSED(-EINVAL, instruction.timestamps = 4);
	REFUSED(-EINVAL, flags |= SIFIVE_TRACE_CONFIG_NO_TIMESTAMP);
	REFUSED(-EINVAL, channels |= 1u << 15);
	REFUSED(-EINVAL, channels |= 1u << 31);
	REFUSED(-EOPNOTSUPP, instruction.mode = 8);
	REFUSED(-EINVAL, instruction.mode = 0);
	memset(&good.instruction, 0, sizeof(good.instruction));
	REFUSED(-EINVAL, instruction.flags = SIFIVE_TRACE_INSTRUCTION_ALL);
}

/* The driver leaves the last 1024 bytes of the sink unused. */
TEST_F(instruction, sink_without_room_for_one_part_is_refused)
{
	if (!(self->s.encoder.flags & SIFIVE_TRACE_ENCODER_RAWIO))
		SKIP(return, "this board's encoders share sinks");
	EXPECT_EQ(-EINVAL, configure(self, 1024, 0));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "a larger buffer"));
	EXPECT_EQ(0, configure(self, 1024, SIFIVE_TRACE_CONFIG_RING));
	EXPECT_EQ(0, configure(self, 2048, 0));
}

TEST_F(instruction, no_channels_are_needed)
{
	struct sifive_trace_config config;

	ASSERT_EQ(0, configure(self, BUFFER, 0));
	config = self->s.config;
	config.channels = 0;
	ASSERT_EQ(0, trace_config(self->s.fd, &config));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	CHECK();
	memset(&config.instruction, 0, sizeof(config.instruction));
	EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
}

/* ---- traced threads ------------------------------------------------------------ */

/* Run in a thread or child: answer each byte. */
static void answer(int from, int to)
{
	char c;

	while (read(from, &c, 1) == 1 && write(to, &c, 1) == 1)
		;
}

static int ask(int to, int from)
{
	unsigned int i;
	char c = 0;

	for (i = 0; i < TURNS; i++)
		if (write(to, &c, 1) != 1 || read(from, &c, 1) != 1)
			return -1;
	return 0;
}

/* Take turns with a child process on the same CPU. */
static int turn_with_child(pid_t *child)
{
	int to[2], from[2], ret;

	if (pipe(to) || pipe(from))
		return -1;
	*child = fork();
	if (!*child) {
		close(to[1]);
		answer(to[0], from[1]);
		_exit(0);
	}
	ret = ask(to[1], from[0]);
	close(to[1]);
	close(to[0]);
	close(from[0]);
	close(from[1]);
	return ret ?: trace_wait(*child);
}

TEST_F(instruction, each_part_begins_with_sync_and_owner)
{
	struct rusage before, after;
	unsigned int i;

	ASSERT_EQ(0, begin(self, 0));
	getrusage(RUSAGE_THREAD, &before);
	for (i = 0; i < TURNS; i++)
		usleep(1000);
	getrusage(RUSAGE_THREAD, &after);
	CHECK();
	EXPECT_LT(0, after.ru_nvcsw - before.ru_nvcsw);
	EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, self->found.parts);
	EXPECT_EQ(1, self->found.owners);
	EXPECT_EQ(0, self->status.instruction.untraced);
}

TEST_F(instruction, other_processes_are_not_traced)
{
	pid_t child;

	ASSERT_EQ(0, begin(self, 0));
	ASSERT_EQ(0, turn_with_child(&child));
	CHECK();
	EXPECT_LE(TURNS, self->found.parts);
	EXPECT_EQ(1, self->found.owners);
}

TEST_F(instruction, children_are_traced_on_request)
{
	pid_t child;

	ASSERT_EQ(0, begin(self, SIFIVE_TRACE_INSTRUCTION_CHILDREN));
	ASSERT_EQ(0, turn_with_child(&child));
	CHECK();
	EXPECT_EQ(2, self->found.owners);
	EXPECT_LE(TURNS, times_of(&self->found, child));
	EXPECT_EQ(0, self->status.instruction.untraced);
}

TEST_F(instruction, many_successive_processes_are_traced)
{
	unsigned int i;
	pid_t child;

	/* Use the mode that produces the fewest bytes, because the kernel is also traced. */
	self->s.instruction.mode = SIFIVE_TRACE_INSTRUCTION_HTM_OPTIMISED;
	ASSERT_EQ(0, begin(self, SIFIVE_TRACE_INSTRUCTION_CHILDREN));
	for (i = 0; i < PROCESSES; i++) {
		child = fork();
		if (!child)
			_exit(0);
		ASSERT_EQ(0, trace_wait(child));
	}
	CHECK();
	EXPECT_LT(0, times_of(&self->found, child));
	EXPECT_EQ(0, self->status.instruction.untraced);
}

TEST_F(instruction, all_threads_are_traced_on_request)
{
	useconds_t sleep = 10000;
	pid_t child;

	/*
	 * The idle thread, whose id is 0, is also traced. On a slow board, the capture may end
	 * before it has run.
	 */
	do {
		ASSERT_EQ(0, begin(self, SIFIVE_TRACE_INSTRUCTION_ALL));
		ASSERT_EQ(0, turn_with_child(&child));
		usleep(sleep);
		CHECK();
		EXPECT_LE(TURNS, times_of(&self->found, child));
		sleep *= 2;
	} while (!times_of(&self->found, 0) && sleep < 1000000);
	EXPECT_LT(0, times_of(&self->found, 0));
}

/* Loops in separate sections, so that the linker names their beginnings and ends. */
static volatile unsigned int turns;

__attribute__((noinline, section("own_code"))) static void run_own(void)
{
	for (turns = 0; turns < 10000; turns++)
		;
}

__attribute__((noinline, section("foreign_code"))) static void run_foreign(void)
{
	for (turns = 0; turns < 10000; turns++)
		;
}

/* The child has the same code at the same addresses, but executes a different part of that code. */
TEST_F(instruction, code_of_other_processes_is_not_traced)
{
	pid_t child;

	/* Request Sync messages as often as possible, because every Sync message has an address. */
	self->s.instruction.sync_branches = 0;
	self->s.instruction.sync_bytes = 0;
	ASSERT_EQ(0, begin(self, 0));
	child = fork();
	if (!child) {
		run_foreign();
		_exit(0);
	}
	ASSERT_EQ(0, trace_wait(child));
	run_own();
	CHECK();
	if (!trace_between(&self->stream, NULL, (char *)UINTPTR_MAX))
		SKIP(return, "these encoders send no instruction trace messages");
	EXPECT_LT(0, trace_between(&self->stream, __start_own_code, __stop_own_code));
	EXPECT_EQ(0, trace_between(&self->stream, __start_foreign_code, __stop_foreign_code));
	/* If the child is traced with its parent, the child's code appears in the trace. */
	ASSERT_EQ(0, begin(self, SIFIVE_TRACE_INSTRUCTION_CHILDREN));
	child = fork();
	if (!child) {
		run_foreign();
		_exit(0);
	}
	ASSERT_EQ(0, trace_wait(child));
	CHECK();
	EXPECT_LT(0, trace_between(&self->stream, __start_foreign_code, __stop_foreign_code));
}

struct answerer {
	pthread_t thread;
	int to[2], from[2];
	pid_t id;
};

static void *answer_all(void *arg)
{
	struct answerer *a = arg;

	a->id = gettid();
	answer(a->to[0], a->from[1]);
	return NULL;
}

TEST_F(instruction, each_thread_is_identified)
{
	struct answerer a;

	ASSERT_EQ(0, begin(self, 0));
	ASSERT_EQ(0, pipe(a.to));
	ASSERT_EQ(0, pipe(a.from));
	ASSERT_EQ(0, pthread_create(&a.thread, NULL, answer_all, &a));
	ASSERT_EQ(0, ask(a.to[1], a.from[0]));
	close(a.to[1]);
	pthread_join(a.thread, NULL);
	CHECK();
	EXPECT_EQ(2, self->found.owners);
	EXPECT_LE(TURNS, times_of(&self->found, a.id));
	EXPECT_LE(TURNS, times_of(&self->found, gettid()));
}

/* ---- combined with other functions --------------------------------------------- */

TEST_F(instruction, stores_are_in_the_same_buffer)
{
	uint32_t i, first, last;

	ASSERT_EQ(0, begin(self, 0));
	for (i = 0; i < 1000; i++) {
		trace_store(self->s.page, self->s.reg, i, 4);
		if (i % 100 == 0)
			usleep(100);
	}
	CHECK();
	EXPECT_EQ(1000, self->found.data);
	EXPECT_EQ(1000, trace_consecutive(&self->stream, &first, &last));
	EXPECT_EQ(0, first);
}

/* The caller's stores are kept although only the child is traced. */
TEST_F(instruction, stores_of_untraced_threads_are_kept)
{
	uint32_t i, first, last;
	pid_t child;

	ASSERT_EQ(0, configure(self, BUFFER, 0));
	child = fork();
	if (!child) {
		/* START traces the process that calls it. */
		if (trace_start(self->s.fd, 0))
			_exit(1);
		usleep(1000);
		_exit(0);
	}
	ASSERT_EQ(0, trace_wait(child));
	for (i = 0; i < 100; i++)
		trace_store(self->s.page, self->s.reg, i, 4);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(0, self->found.unsynced);
	EXPECT_EQ(0, times_of(&self->found, gettid()));
	EXPECT_LT(0, times_of(&self->found, child));
	EXPECT_EQ(100, trace_consecutive(&self->stream, &first, &last));
}

TEST_F(instruction, part_begins_after_each_pause)
{
	unsigned int i;

	ASSERT_EQ(0, begin(self, 0));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, trace_pause(self->s.fd));
		usleep(1000);
		ASSERT_EQ(0, trace_unpause(self->s.fd));
	}
	CHECK();
	EXPECT_EQ(3, self->found.errors);
	EXPECT_LE(4, self->found.parts);
}

TEST_F(instruction, start_continues_after_stop)
{
	unsigned int i;

	ASSERT_EQ(0, begin(self, 0));
	trace_store(self->s.page, self->s.reg, 1, 4);
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, trace_stop(self->s.fd));
		usleep(1000);
		ASSERT_EQ(0, trace_start(self->s.fd, 0));
	}
	CHECK();
	EXPECT_LE(6, self->found.parts);
	EXPECT_EQ(1, self->found.data);
	/* A rewound buffer does not contain what was captured before. */
	ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
	ASSERT_EQ(0, collect(self));
	EXPECT_LE(1, self->found.parts);
	EXPECT_EQ(0, self->found.data);
}

/* Configure an encoder whose CPU can go offline; return the file that controls it, or NULL. */
static const char *configure_leaver(struct _test_data_instruction *self)
{
	const char *path = trace_session_leaver(&self->s);

	if (!path)
		return NULL;
	self->s.instruction.mode = a_mode(&self->s);
	return configure(self, BUFFER, 0) || trace_pin(self->s.encoder.cpu) ? NULL : path;
}

TEST_F(instruction, cpu_continues_when_online_again)
{
	const char *path = configure_leaver(self);

	if (!path)
		SKIP(return, "no CPU with a second encoder can go offline");
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	usleep(1000);
	ASSERT_LE(0, trace_file_write(path, "0"));
	ASSERT_LE(0, trace_file_write(path, "1"));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	usleep(1000);
	CHECK();
	EXPECT_LE(2, self->found.parts);
}

/*
 * The driver's context switch probe must neither look up the processes of an ended capture, nor
 * turn on trace for a capture that does not request it.
 */
TEST_F(instruction, cpu_onlined_in_later_session_is_not_traced)
{
	const char *path = configure_leaver(self);

	if (!path)
		SKIP(return, "no CPU with a second encoder can go offline");
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	usleep(1000);
	ASSERT_LE(0, trace_file_write(path, "0"));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	trace_session_close(&self->s);
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	self->s.instruction.mode = a_mode(&self->s);
	ASSERT_EQ(0, configure(self, BUFFER, 0));
	ASSERT_LE(0, trace_file_write(path, "1"));
	usleep(10000);
	ASSERT_EQ(0, trace_status(self->s.fd, &self->status));
	EXPECT_EQ(0, self->status.instruction.parts);
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	usleep(1000);
	CHECK();
}

TEST_F(instruction, full_buffer_ends_tracing)
{
	unsigned int parts;
	pid_t child;

	ASSERT_EQ(0, configure(self, 4096, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	while (!(trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_FULL))
		usleep(100);
	ASSERT_EQ(0, turn_with_child(&child));
	ASSERT_EQ(0, trace_status(self->s.fd, &self->status));
	parts = self->status.instruction.parts;
	ASSERT_EQ(0, turn_with_child(&child));
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(parts, self->status.instruction.parts);
	EXPECT_EQ(0, self->found.unsynced);
	EXPECT_EQ(0, self->found.outside);
	EXPECT_EQ(0, times_of(&self->found, child));
	EXPECT_EQ(-ENOSPC, trace_start(self->s.fd, 0));
	EXPECT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
}

TEST_F(instruction, sram_fills_without_overwriting_beginning)
{
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SRAM))
		SKIP(return, "this board has no SRAM");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SRAM, 0, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	while (!(trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_FULL))
		usleep(100);
	usleep(1000);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(TRACE_TCODE_SYNC, self->stream.message[0].tcode);
	EXPECT_EQ(0, self->found.unsynced);
	EXPECT_EQ(0, self->found.outside);
	EXPECT_EQ(1, self->found.owners);
}

TEST_F(instruction, drained_capture_is_read_while_running)
{
	/*
	 * Reserve memory for many buffers, because a slow machine produces more trace than one
	 * buffer can hold.
	 */
	size_t size = 0, room = TURNS * (size_t)BUFFER;
	uint8_t *bytes = mmap(NULL, room, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned int i;
	ssize_t got;

	ASSERT_NE(MAP_FAILED, bytes);
	ASSERT_EQ(0, fcntl(self->s.fd, F_SETFL, O_NONBLOCK));
	ASSERT_EQ(0, configure(self, BUFFER, SIFIVE_TRACE_CONFIG_DRAIN));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	for (i = 0; i < TURNS; i++) {
		usleep(1000);
		got = read(self->s.fd, bytes + size, BUFFER);
		if (got > 0)
			size += (size_t)got;
	}
	ASSERT_EQ(0, trace_stop(self->s.fd));
	while ((got = read(self->s.fd, bytes + size, BUFFER)) > 0)
		size += (size_t)got;
	ASSERT_EQ(0, got);
	ASSERT_EQ(0, trace_status(self->s.fd, &self->status));
	ASSERT_EQ(0, trace_decode(bytes, size, self->s.encoder.src_bits, &self->stream));
	munmap(bytes, room);
	look(&self->found, &self->stream);
	EXPECT_EQ(0, self->stream.cut);
	EXPECT_EQ(0, self->found.unsynced);
	EXPECT_LT(1, self->found.parts);
	EXPECT_EQ(self->status.instruction.parts, self->found.parts);
}

TEST_F(instruction, ring_keeps_newest_parts)
{
	unsigned int i;

	ASSERT_EQ(0, configure(self, RING, SIFIVE_TRACE_CONFIG_RING));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	for (i = 0; !(trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_WRAPPED); i++)
		usleep(100);
	ASSERT_EQ(0, collect(self));
	EXPECT_LT(0, self->found.parts);
	EXPECT_GT(self->status.instruction.parts, self->found.parts);
	EXPECT_EQ(0, self->found.outside);
}

/* ---- rights --------------------------------------------------------------------- */

TEST_F(instruction, reading_needs_permission_to_trace_kernel)
{
	ASSERT_EQ(0, begin(self, 0));
	usleep(1000);
	EXPECT_EQ(EPERM, trace_read_unprivileged());
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_EQ(EPERM, trace_read_unprivileged());
	/* Without instruction trace, the same user can read the capture. */
	memset(&self->s.instruction, 0, sizeof(self->s.instruction));
	ASSERT_EQ(0, begin(self, 0));
	usleep(1000);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_EQ(0, trace_read_unprivileged());
}

TEST_F(instruction, tracing_all_threads_needs_permission_at_start)
{
	self->s.instruction.flags = SIFIVE_TRACE_INSTRUCTION_ALL;
	ASSERT_EQ(0, configure(self, BUFFER, 0));
	ASSERT_EQ(0, trace_keep_caps(0));
	EXPECT_EQ(-EPERM, trace_start(self->s.fd, 0));
}

static uint32_t *control_of(struct _test_data_instruction *self)
{
	return (uint32_t *)((char *)self->s.page + TR_CONTROL);
}

/* Turn instruction trace on through the page; return whether the driver turns it off in time. */
static bool turned_off(struct _test_data_instruction *self, uint32_t mode)
{
	volatile uint32_t *control = control_of(self);
	const double until = trace_clock() + 60;

	*control = (*control & ~TR_CONTROL_INSTRUCTION) | mode << 4;
	while (*control & TR_CONTROL_INSTRUCTION && trace_clock() < until)
		usleep(10000);
	return !(*control & TR_CONTROL_INSTRUCTION);
}

TEST_F(instruction, tracing_enabled_by_program_is_detected)
{
	uint32_t mode = self->s.instruction.mode;

	memset(&self->s.instruction, 0, sizeof(self->s.instruction));
	ASSERT_EQ(0, begin(self, 0));
	usleep(1000);
	EXPECT_EQ(0, trace_read_unprivileged());
	EXPECT_TRUE(turned_off(self, mode));
	ASSERT_EQ(0, trace_status(self->s.fd, &self->status));
	EXPECT_EQ(BIT64(self->s.encoder.index), self->status.changed);
	EXPECT_NE(NULL, strstr(self->status.message, "teInstruction"));
	EXPECT_EQ(EPERM, trace_read_unprivileged());
	/* A second change must also be undone, although the first has already been reported. */
	EXPECT_TRUE(turned_off(self, mode));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_EQ(EPERM, trace_read_unprivileged());
	/* The next capture is not affected. */
	ASSERT_EQ(0, begin(self, 0));
	EXPECT_EQ(0, trace_read_unprivileged());
}

TEST_F(instruction, tracing_disabled_by_program_is_detected)
{
	volatile uint32_t *control;

	ASSERT_EQ(0, begin(self, 0));
	control = control_of(self);
	EXPECT_EQ(self->s.instruction.mode, (*control & TR_CONTROL_INSTRUCTION) >> 4);
	*control &= ~TR_CONTROL_INSTRUCTION;
	usleep(1000);
	ASSERT_EQ(0, trace_status(self->s.fd, &self->status));
	EXPECT_EQ(BIT64(self->s.encoder.index), self->status.changed);
	EXPECT_EQ(self->s.instruction.mode, (*control & TR_CONTROL_INSTRUCTION) >> 4);
}

TRACE_HARNESS_MAIN

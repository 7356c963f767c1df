// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the events returned by libsifive-trace-read add up to the known costs of programs.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>
#include <sifive_trace_read.h>

#include "gen_program.h"

#define STEPS	4000
#define BOTH	(SIFIVE_EVENT_CALL | SIFIVE_EVENT_RECORD)

FIXTURE(read) {
	struct program program;
	char trace[64];
	char meta[80];
	struct sifive_reader *reader;
};

FIXTURE_SETUP(read)
{
	int fd;

	strcpy(self->trace, "/tmp/read_test.XXXXXX");
	fd = mkstemp(self->trace);
	ASSERT_LE(0, fd);
	close(fd);
	snprintf(self->meta, sizeof(self->meta), "%s.meta", self->trace);
	self->reader = sifive_reader_new();
	ASSERT_NE(NULL, self->reader);
}

FIXTURE_TEARDOWN(read)
{
	sifive_reader_free(self->reader);
	program_free(&self->program);
	unlink(self->trace);
	unlink(self->meta);
}

static void save(const char *path, const void *data, size_t length)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(data, 1, length, file) != length || fclose(file))
		abort();
}

/* Simulate threads that migrate and throw exceptions, and write their trace. */
static void make(FIXTURE_DATA(read) *self, uint64_t seed, unsigned int errors)
{
	struct program *program = &self->program;
	char text[400];
	unsigned int i;

	program_free(program);
	program_init(program, seed);
	program->gen.now = 1000;
	program->threads = errors ? 2 : 4;
	program->sources = errors ? 2 : 4;
	program->moves = errors ? 0 : 20;
	program->throws = 20;
	program->errors = errors;
	for (i = 0; i < program->sources; i++)
		gen_sync(&program->gen, i);
	for (i = 0; i < program->threads; i++)
		program->thread[i].src = i;
	for (i = 0; i < STEPS; i++)
		program_step(program);
	program_end(program);
	save(self->trace, program->gen.data, program->gen.length);
	i = (unsigned int)snprintf(text, sizeof(text),
				   "{\"srcbits\":2,\"exe\":\"/bin/x\",\"ts_hz\":1000000,\"threads\":[");
	for (unsigned int t = 0; t < program->threads; t++)
		i += (unsigned int)snprintf(text + i, sizeof(text) - i,
					    "%s{\"channel\":%u,\"pid\":100,\"tid\":%u}",
					    t ? "," : "", program->thread[t].channel, 100 + t);
	snprintf(text + i, sizeof(text) - i, "]}");
	save(self->meta, text, strlen(text));
}

static unsigned int function_of(struct sifive_reader *reader, uint32_t number)
{
	return (unsigned int)((sifive_reader_function(reader, number)->address -
			       PROGRAM_ADDRESS(0)) / 0x40);
}

static void add(struct program_cost *cost, const struct sifive_event *call)
{
	unsigned int i;

	cost->calls++;
	cost->self += call->self;
	for (i = 0; i < PROGRAM_COUNTERS; i++)
		cost->count_self[i] += call->count_self[i];
	if (!(call->flags & SIFIVE_OUTERMOST))
		return;
	cost->total += call->length;
	for (i = 0; i < PROGRAM_COUNTERS; i++)
		cost->count[i] += call->count[i];
}

static void compare(struct __test_metadata *_metadata, const struct program_cost *truth,
		    const struct program_cost *cost)
{
	EXPECT_EQ(truth->calls, cost->calls);
	EXPECT_EQ(truth->total, cost->total);
	EXPECT_EQ(truth->self, cost->self);
	EXPECT_EQ(0, memcmp(truth->count, cost->count, sizeof(cost->count)));
	EXPECT_EQ(0, memcmp(truth->count_self, cost->count_self, sizeof(cost->count_self)));
}

static void read_costs(struct __test_metadata *_metadata, FIXTURE_DATA(read) *self,
		       struct program_cost *cost)
{
	const struct sifive_event *event;
	int more;

	ASSERT_EQ(0, sifive_reader_open(self->reader, self->trace, SIFIVE_EVENT_CALL)) {
		TH_LOG("%s", sifive_reader_error(self->reader));
	}
	while ((more = sifive_reader_next(self->reader, &event)) > 0) {
		ASSERT_EQ(SIFIVE_EVENT_CALL, event->kind);
		ASSERT_EQ(PROGRAM_COUNTERS, event->counters);
		add(&cost[function_of(self->reader, event->function)], event);
	}
	EXPECT_EQ(0, more);
	EXPECT_EQ(0, sifive_reader_next(self->reader, &event));
}

TEST_F(read, calls_have_the_programs_costs)
{
	static struct program_cost cost[PROGRAM_FUNCTIONS];
	unsigned int i;

	make(self, 7, 0);
	EXPECT_EQ(-1, sifive_reader_complete(self->reader));
	read_costs(_metadata, self, cost);
	for (i = 0; i < PROGRAM_FUNCTIONS; i++)
		compare(_metadata, &self->program.cost[i], &cost[i]);
	EXPECT_EQ(1, sifive_reader_complete(self->reader));
}

TEST_F(read, records_of_a_thread_are_in_order)
{
	uint64_t last[PROGRAM_THREADS] = { 0 }, records = 0;
	const struct sifive_event *event;
	int depth[PROGRAM_THREADS] = { 0 };

	make(self, 3, 0);
	ASSERT_EQ(0, sifive_reader_open(self->reader, self->trace, SIFIVE_EVENT_RECORD));
	while (sifive_reader_next(self->reader, &event) > 0) {
		ASSERT_EQ(SIFIVE_EVENT_RECORD, event->kind);
		ASSERT_TRUE(event->flags & SIFIVE_TIMED);
		ASSERT_GT(PROGRAM_THREADS, event->thread);
		EXPECT_LE(last[event->thread], event->time);
		last[event->thread] = event->time;
		depth[event->thread] += event->type == SIFIVE_RECORD_ENTER;
		records++;
	}
	EXPECT_EQ(self->program.records, records);
	EXPECT_EQ(records, sifive_reader_info(self->reader)->records);
	EXPECT_EQ(self->program.gen.length, sifive_reader_info(self->reader)->bytes);
	EXPECT_LT(0, depth[0]);
}

TEST_F(read, returns_names_of_counters_threads_and_the_program)
{
	const struct sifive_trace_info *info;
	const struct sifive_thread *thread;
	const struct sifive_event *event;

	make(self, 5, 0);
	ASSERT_EQ(0, sifive_reader_open(self->reader, self->trace, BOTH));
	while (sifive_reader_next(self->reader, &event) > 0)
		;
	info = sifive_reader_info(self->reader);
	EXPECT_STREQ("/bin/x", info->program);
	EXPECT_EQ(1000000, info->hz);
	EXPECT_EQ(PROGRAM_COUNTERS, info->counters);
	EXPECT_EQ(self->program.threads, info->threads);
	ASSERT_NE(NULL, sifive_reader_counter(self->reader, PROGRAM_COUNTERS - 1));
	EXPECT_EQ(NULL, sifive_reader_counter(self->reader, PROGRAM_COUNTERS));
	thread = sifive_reader_thread(self->reader, 0);
	ASSERT_NE(NULL, thread);
	EXPECT_EQ(100, thread->pid);
	EXPECT_LE(100, thread->tid);
	EXPECT_EQ(NULL, sifive_reader_thread(self->reader, info->threads));
	EXPECT_STREQ("(others)", sifive_reader_function(self->reader, 0)->label);
	EXPECT_EQ(NULL, sifive_reader_function(self->reader, info->functions));
	EXPECT_EQ(NULL, sifive_reader_function(self->reader, SIFIVE_NO_FUNCTION));
}

TEST_F(read, losses_are_events_and_make_the_trace_incomplete)
{
	const struct sifive_event *event;
	unsigned int lost = 0;

	make(self, 2, 3);
	ASSERT_EQ(0, sifive_reader_open(self->reader, self->trace, SIFIVE_EVENT_LOST));
	while (sifive_reader_next(self->reader, &event) > 0)
		lost += event->kind == SIFIVE_EVENT_LOST;
	EXPECT_LT(0, lost);
	EXPECT_EQ(0, sifive_reader_complete(self->reader));
	EXPECT_NE(NULL, strstr(sifive_reader_messages(self->reader), "the encoder lost messages"));
}

TEST_F(read, reader_can_be_freed_at_any_event)
{
	const struct sifive_event *event;
	unsigned int events, i;

	make(self, 9, 0);
	for (events = 0; events < 2000; events = 2 * events + 1) {
		struct sifive_reader *reader = sifive_reader_new();

		ASSERT_NE(NULL, reader);
		ASSERT_EQ(0, sifive_reader_open(reader, self->trace, BOTH));
		for (i = 0; i < events; i++)
			ASSERT_EQ(1, sifive_reader_next(reader, &event));
		sifive_reader_free(reader);
	}
}

TEST_F(read, readers_are_independent)
{
	const struct sifive_event *one, *two;
	struct sifive_reader *other = sifive_reader_new();
	int more;

	make(self, 4, 0);
	ASSERT_EQ(0, sifive_reader_open(self->reader, self->trace, BOTH));
	ASSERT_EQ(0, sifive_reader_open(other, self->trace, BOTH));
	/* The call is refused and has no effect. */
	EXPECT_EQ(-1, sifive_reader_open(other, self->trace, SIFIVE_EVENT_LOST));
	do {
		more = sifive_reader_next(self->reader, &one);
		ASSERT_EQ(more, sifive_reader_next(other, &two));
		if (more > 0) {
			ASSERT_EQ(one->time, two->time);
			ASSERT_EQ(one->function, two->function);
		}
	} while (more > 0);
	sifive_reader_free(other);
}

TEST_F(read, errors_are_explained)
{
	const struct sifive_event *event;
	struct sifive_reader *reader = self->reader;

	EXPECT_STREQ("", sifive_reader_error(reader));
	EXPECT_EQ(-1, sifive_reader_next(reader, &event));
	EXPECT_EQ(-1, sifive_reader_set(reader, "jobs", "2"));
	EXPECT_STREQ("unknown option \"jobs\" for reading a trace", sifive_reader_error(reader));
	EXPECT_EQ(-1, sifive_reader_set(reader, "srcbits", "9"));
	EXPECT_NE(NULL, strstr(sifive_reader_error(reader), "not \"9\""));
	EXPECT_EQ(-1, sifive_reader_set(reader, "srcbits", NULL));
	EXPECT_STREQ("srcbits needs a value: N", sifive_reader_error(reader));
	EXPECT_EQ(-1, sifive_reader_set(reader, "ring", "yes"));
	EXPECT_STREQ("ring takes no value", sifive_reader_error(reader));
	EXPECT_EQ(0, sifive_reader_set(reader, "channel", "all"));
	EXPECT_EQ(-1, sifive_reader_open(reader, "/no/such/trace", BOTH));
	EXPECT_NE(NULL, strstr(sifive_reader_error(reader), "No such file"));
	EXPECT_EQ(-1, sifive_reader_next(reader, &event));
	EXPECT_EQ(-1, sifive_reader_open(reader, self->trace, BOTH));
	EXPECT_NE(NULL, strstr(sifive_reader_error(reader), "a reader reads a single trace"));
	EXPECT_EQ(-1, sifive_reader_set(reader, "channel", "all"));
	EXPECT_EQ(NULL, sifive_reader_function(reader, 0));
	EXPECT_EQ(NULL, sifive_reader_thread(reader, 0));
	EXPECT_EQ(NULL, sifive_reader_counter(reader, 0));
	EXPECT_EQ(0, sifive_reader_info(reader)->records);
	/* All messages, one per line. */
	EXPECT_EQ(sifive_reader_messages(reader),
		  strstr(sifive_reader_messages(reader), "unknown option \"jobs\""));
	EXPECT_NE(NULL, strstr(sifive_reader_messages(reader), "N\nring takes"));
}

TEST_F(read, file_without_records_is_incomplete)
{
	const struct sifive_event *event;
	struct gen gen;

	gen_init(&gen, 0, 40);
	gen_sync(&gen, 0);
	save(self->trace, gen.data, gen.length);
	free(gen.data);
	ASSERT_EQ(0, sifive_reader_open(self->reader, self->trace, BOTH));
	EXPECT_EQ(0, sifive_reader_next(self->reader, &event));
	EXPECT_EQ(0, sifive_reader_complete(self->reader));
	EXPECT_NE(NULL, strstr(sifive_reader_messages(self->reader), "no records"));
}

/* Write one sample with callers, and one sample without callers. */
TEST_F(read, samples_include_their_callers_and_thread)
{
	const uint64_t address[] = { 0x2000, 0x2000, 0x3000 }, pc = 0x1000;
	const struct sifive_event *event;
	struct gen_stream stream;
	char command[512];
	struct gen gen;

	gen_init(&gen, 0, 40);
	gen_sync(&gen, 0);
	gen_stream_init(&stream, &gen, 0, 6, 0, 0, 64);
	gen_header(&stream);
	gen_thread(&stream, 123);
	gen_callers(&stream, address, 3);
	gen_record(&stream, 3, &pc, NULL);
	gen_record(&stream, 3, &pc, NULL);
	save(self->trace, gen.data, gen.length);
	free(gen.data);
	ASSERT_EQ(0, sifive_reader_open(self->reader, self->trace, BOTH));
	ASSERT_EQ(1, sifive_reader_next(self->reader, &event));
	ASSERT_EQ(2, event->caller_count);
	EXPECT_EQ(123, sifive_reader_thread(self->reader, event->thread)->tid);
	EXPECT_EQ(0x2000, sifive_reader_function(self->reader, event->callers[0])->address);
	EXPECT_EQ(0x3000, sifive_reader_function(self->reader, event->callers[1])->address);
	ASSERT_EQ(1, sifive_reader_next(self->reader, &event));
	EXPECT_EQ(NULL, event->callers);
	EXPECT_EQ(0, event->caller_count);
	EXPECT_EQ(-1, sifive_reader_thread(self->reader, event->thread)->tid);
	snprintf(command, sizeof(command),
		 "PYTHONPATH=" PYTHON " LD_LIBRARY_PATH=" LIBRARY " python3 -c '\n"
		 "import sys, sifive_trace\n"
		 "one, two = sifive_trace.Trace(sys.argv[1], sifive_trace.RECORD)\n"
		 "assert [f.address for f in one.callers] == [0x2000, 0x3000], one.callers\n"
		 "assert (one.thread.tid, two.thread.tid) == (123, -1), one.thread\n"
		 "assert two.callers is None' %s", self->trace);
	EXPECT_EQ(0, system(command));
}

static volatile sig_atomic_t handled;
static pthread_t handler_thread;

static void on_signal(int signal)
{
	handled++;
	handler_thread = pthread_self();
}

/* A signal handler of the process must not run in a thread of the library. */
TEST_F(read, library_threads_block_signals)
{
	const struct sifive_event *event;

	make(self, 6, 0);
	signal(SIGUSR1, on_signal);
	ASSERT_EQ(0, sifive_reader_open(self->reader, self->trace, BOTH));
	while (sifive_reader_next(self->reader, &event) > 0)
		kill(getpid(), SIGUSR1);
	EXPECT_LT(0, handled);
	EXPECT_TRUE(pthread_equal(handler_thread, pthread_self()));
}

TEST_F(read, pausing_pipe_returns_available_records)
{
	const struct sifive_event *event;
	size_t half, records = 0;
	int pipes[2], more;
	char path[32];

	make(self, 8, 0);
	half = self->program.gen.length / 2;
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(1 << 20, fcntl(pipes[1], F_SETPIPE_SZ, 1 << 20));
	ASSERT_EQ(half, write(pipes[1], self->program.gen.data, half));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pipes[0]);
	ASSERT_EQ(0, sifive_reader_set(self->reader, "meta", self->meta));
	ASSERT_EQ(0, sifive_reader_open(self->reader, path,
					SIFIVE_EVENT_RECORD | SIFIVE_EVENT_IDLE));
	/* No more data arrives until the first half has been read. */
	while ((more = sifive_reader_next(self->reader, &event)) > 0 &&
	       event->kind != SIFIVE_EVENT_IDLE)
		records++;
	ASSERT_EQ(1, more);
	EXPECT_LT(0, records);
	ASSERT_EQ(self->program.gen.length - half,
		  write(pipes[1], self->program.gen.data + half,
			self->program.gen.length - half));
	close(pipes[1]);
	while ((more = sifive_reader_next(self->reader, &event)) > 0)
		records += event->kind == SIFIVE_EVENT_RECORD;
	EXPECT_EQ(0, more);
	EXPECT_EQ(self->program.records, records);
	close(pipes[0]);
}

/* Compare with the sums that a Python program computes from the same trace. */
TEST_F(read, python_returns_the_same_sums)
{
	static struct program_cost cost[PROGRAM_FUNCTIONS];
	char command[512], line[128], expected[128];
	unsigned int i, calls = 0;
	FILE *python;

	make(self, 11, 0);
	read_costs(_metadata, self, cost);
	snprintf(command, sizeof(command),
		 "PYTHONPATH=" PYTHON " LD_LIBRARY_PATH=" LIBRARY " python3 " SOURCES "/read_sums.py %s",
		 self->trace);
	python = popen(command, "r");
	ASSERT_NE(NULL, python);
	for (i = 0; i < PROGRAM_FUNCTIONS; i++) {
		if (!cost[i].calls)
			continue;
		snprintf(expected, sizeof(expected), "%#" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			 PROGRAM_ADDRESS(i), cost[i].calls, cost[i].self,
			 cost[i].count_self[0], cost[i].count_self[PROGRAM_COUNTERS - 1]);
		ASSERT_NE(NULL, fgets(line, sizeof(line), python));
		EXPECT_STREQ(expected, line);
		calls++;
	}
	ASSERT_NE(NULL, fgets(line, sizeof(line), python));
	snprintf(expected, sizeof(expected), "complete True, records %" PRIu64 "\n",
		 self->program.records);
	EXPECT_STREQ(expected, line);
	EXPECT_EQ(0, pclose(python));
	EXPECT_LT(0, calls);
}

TEST_HARNESS_MAIN

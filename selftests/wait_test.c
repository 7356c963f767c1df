// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that with SIFIVE_TRACE_CONFIG_WAIT, a slow reader does not cause a loss: harts that store
 * continuously have to wait while the sink has no room. A store must stop waiting when its
 * process ends, on STOP, unbind and system sleep, and when the reader has exited. Other operations
 * must continue while stores wait.
 *
 * TRACE_ROUNDS: number of times that the reader makes the stores wait (default 6, or 3 with
 * TRACE_PART).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

/*
 * Size of the buffer. It must hold the stores made until the driver reacts. The reaction can take a
 * long time, because the host may suspend the emulator.
 */
#define BUFFER		0x400000
#define BUFFER_LEAST	0x100000

#define WRITERS		64
#define CHUNK		65536

/* Maximum time for which stores wait for a reader, in seconds. */
#define ALONE		5

/**
 * struct reader - data read, checked on arrival
 * @fd:		descriptor open for reading
 * @next:	next expected value, by source
 * @wrong:	number of unexpected values
 * @bytes:	number of bytes read
 */
struct reader {
	int fd;
	uint32_t next[WRITERS];
	uint32_t wrong;
	uint64_t bytes;
};

FIXTURE(wait) {
	struct trace_session s;
	struct trace_session each[WRITERS];
	struct trace_writer writer[WRITERS];
	uint32_t writers;
	struct reader reader;
	int pipe[2];
};

static int configure(struct _test_data_wait *self, uint64_t buffer)
{
	return trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, buffer,
				    SIFIVE_TRACE_CONFIG_DRAIN | SIFIVE_TRACE_CONFIG_WAIT);
}

/* Use all encoders, or one if they have separate sinks. */
static void take(struct __test_metadata *_metadata, struct _test_data_wait *self)
{
	struct sifive_trace_encoder encoder;
	uint64_t buffer = BUFFER;
	uint32_t i;

	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	for (i = 0; i < self->s.info.encoders; i++)
		if (!trace_encoder(self->s.fd, i, &encoder) && encoder.cpu >= 0)
			self->s.also |= BIT64(i);
	if (configure(self, buffer) == -ENOMEM)
		buffer = BUFFER_LEAST;
	ASSERT_EQ(0, configure(self, buffer));
	if (self->s.config.sinks > 1) {
		self->s.also = 0;
		ASSERT_EQ(0, configure(self, buffer));
	}
	self->writers = 0;
	for (i = 0; i < self->s.info.encoders; i++) {
		struct trace_session *s = &self->each[self->writers];

		ASSERT_EQ(0, trace_encoder(self->s.fd, i, &encoder));
		if (!(self->s.config.encoders & BIT64(i)))
			continue;
		*s = self->s;
		s->encoder = encoder;
		s->reg = trace_register(&encoder, TRACE_CHANNEL);
		s->page = trace_map(self->s.fd, &encoder);
		ASSERT_NE(NULL, s->page);
		self->writers++;
	}
}

FIXTURE_SETUP(wait)
{
	struct trace_session s;

	ASSERT_EQ(0, trace_session_open(&s, 0));
	if (!trace_has_sink(&s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	trace_session_close(&s);
	take(_metadata, self);
	self->reader.fd = open(TRACE_DEVICE, O_RDONLY | O_NONBLOCK);
	ASSERT_LE(0, self->reader.fd);
	ASSERT_EQ(0, pipe(self->pipe));
}

FIXTURE_TEARDOWN(wait)
{
	uint32_t i;

	for (i = 0; i < self->writers; i++)
		trace_unmap(self->each[i].page);
	trace_session_close(&self->s);
	close(self->reader.fd);
	close(self->pipe[0]);
	close(self->pipe[1]);
}

/*
 * The emulator serves one device access at a time. Leave time for the timer and the interrupts that
 * the driver's thread needs, because hardware would not delay them for seconds.
 */
#define TURNS		2000

/* Use fewer turns for stores whose loss is intended. */
#define TURNS_FAST	100

static unsigned int turns;

static void *store_steadily(void *arg)
{
	struct trace_writer *w = arg;
	const struct trace_session *s = w->session;
	unsigned int i;

	trace_pin(s->encoder.cpu);
	while (!__atomic_load_n(&w->quit, __ATOMIC_RELAXED)) {
		trace_store(s->page, s->reg, w->next, 4);
		__atomic_store_n(&w->next, w->next + 1, __ATOMIC_RELEASE);
		for (i = __atomic_load_n(&turns, __ATOMIC_RELAXED); i; i--)
			__asm__ volatile("");
	}
	return NULL;
}

/*
 * Stores wait if more than a quarter of the buffer is unread. Fill nearly a quarter at full speed:
 * at the writers' speed, this would take most of the test's time.
 */
static void fill_most(struct __test_metadata *_metadata, const struct _test_data_wait *self,
		      struct trace_writer *w)
{
	struct sifive_trace_status status;
	uint32_t end;

	do {
		for (end = w->next + 500; w->next < end; w->next++)
			trace_store(w->session->page, w->session->reg, w->next, 4);
		ASSERT_EQ(0, trace_status(self->s.fd, &status));
	} while (status.bytes < self->s.config.buffer / 64 * 15);
}

static void start_writers(struct __test_metadata *_metadata, struct _test_data_wait *self)
{
	uint32_t i;

	turns = TURNS;
	for (i = 0; i < self->writers; i++) {
		self->writer[i] = (struct trace_writer){ .session = &self->each[i] };
		if (!i)
			fill_most(_metadata, self, &self->writer[0]);
		ASSERT_EQ(0, pthread_create(&self->writer[i].thread, NULL, store_steadily,
					    &self->writer[i]));
	}
}

static bool waits(int fd)
{
	return trace_flags(fd) & SIFIVE_TRACE_STATUS_WAITING;
}

/* Return whether a system call can read the page. */
static bool is_there(const struct _test_data_wait *self, const void *page)
{
	char bytes[4];

	return write(self->pipe[1], page, sizeof(bytes)) == sizeof(bytes) &&
	       read(self->pipe[0], bytes, sizeof(bytes)) == sizeof(bytes);
}

/* Return whether a thread has ended or is sleeping; a writer sleeps only in a store. */
static bool is_asleep(const char *tid)
{
	char path[64], text[512];
	const char *state;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", tid);
	if (trace_file_read(path, text, sizeof(text)) < 0)
		return true;
	state = strrchr(text, ')');
	return state && state[2] == 'S';
}

static bool writers_sleep(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	bool asleep = tasks;

	while (asleep && (task = readdir(tasks)))
		asleep = *task->d_name == '.' || atoi(task->d_name) == gettid() ||
			 is_asleep(task->d_name);
	if (tasks)
		closedir(tasks);
	return asleep;
}

/*
 * Wait until each writer is waiting in a store. Before that, the driver sets the flag, then removes
 * the pages.
 */
static void until_waiting(const struct _test_data_wait *self)
{
	uint32_t i;

	while (!waits(self->s.fd))
		usleep(1000);
	for (i = 0; i < self->writers; i++)
		while (waits(self->s.fd) && is_there(self, self->each[i].page))
			usleep(1000);
	while (waits(self->s.fd) && !writers_sleep())
		usleep(1000);
}

/* Check that each source's values are consecutive, and that there are only whole messages. */
static int check(struct reader *r, unsigned int src_bits, const uint8_t *bytes, size_t size)
{
	struct trace_stream stream;
	size_t i;

	if (trace_decode(bytes, size, src_bits, &stream))
		return -EBADMSG;
	for (i = 0; i < stream.count; i++) {
		const struct trace_message *m = &stream.message[i];

		if (m->tcode == TRACE_TCODE_ERROR)
			r->wrong++;
		if (m->tcode == TRACE_TCODE_DATA)
			r->wrong += m->value != r->next[m->src]++;
	}
	free(stream.message);
	return stream.cut ? -EBADMSG : 0;
}

/* Read available bytes; return 0 at the end, 1 if more may follow, or a negative errno. */
static int read_some(struct _test_data_wait *self)
{
	static uint8_t bytes[CHUNK];
	ssize_t got = read(self->reader.fd, bytes, sizeof(bytes));

	if (got < 0)
		return errno == EAGAIN ? 1 : -errno;
	self->reader.bytes += (uint64_t)got;
	return check(&self->reader, self->s.encoder.src_bits, bytes, (size_t)got) ?:
		got > 0;
}

static void *stop_all(void *arg)
{
	struct _test_data_wait *self = arg;
	uint32_t i;

	for (i = 0; i < self->writers; i++)
		__atomic_store_n(&self->writer[i].quit, true, __ATOMIC_RELAXED);
	for (i = 0; i < self->writers; i++)
		trace_writer_stop(&self->writer[i]);
	return (void *)(intptr_t)trace_stop(self->s.fd);
}

/* Stop the writers and read to the end: waiting stores need a reader. */
static void read_to_end(struct __test_metadata *_metadata, struct _test_data_wait *self)
{
	pthread_t thread;
	void *stopped;
	int ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, stop_all, self));
	do {
		ret = read_some(self);
		ASSERT_LE(0, ret);
	} while (ret);
	pthread_join(thread, &stopped);
	EXPECT_EQ(NULL, stopped);
}

static void check_all(struct __test_metadata *_metadata, struct _test_data_wait *self)
{
	struct sifive_trace_status status;
	uint32_t i;

	EXPECT_EQ(0, self->reader.wrong);
	for (i = 0; i < self->writers; i++)
		EXPECT_EQ(self->writer[i].next,
			  self->reader.next[self->each[i].encoder.src]);
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(0, status.gaps);
	EXPECT_EQ(0, status.lost);
	EXPECT_LT(0, status.waits);
	EXPECT_LT(0, status.waited);
	EXPECT_EQ(0, status.flags & SIFIVE_TRACE_STATUS_WAITING);
}

/* ---- a slow reader --------------------------------------------------------- */

TEST_F(wait, slow_reader_loses_nothing)
{
	uint64_t rounds = trace_setting("TRACE_ROUNDS", 2 + trace_repeat(4)), i;
	struct sifive_trace_status status;

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	/* After this point, the sink has a reader, even if it is slow. */
	ASSERT_EQ(1, read_some(self));
	start_writers(_metadata, self);
	for (i = 0; i < rounds; i++) {
		until_waiting(self);
		usleep(20000);
		ASSERT_EQ(0, trace_status(self->s.fd, &status));
		EXPECT_GT(self->s.config.buffer, status.bytes);
		while (waits(self->s.fd))
			ASSERT_EQ(1, read_some(self));
	}
	read_to_end(_metadata, self);
	EXPECT_LT(rounds * self->s.config.buffer / 8, self->reader.bytes);
	check_all(_metadata, self);
}

static uint32_t all_stored(const struct _test_data_wait *self)
{
	uint32_t i, stored = 0;

	for (i = 0; i < self->writers; i++)
		stored += __atomic_load_n(&self->writer[i].next, __ATOMIC_ACQUIRE);
	return stored;
}

TEST_F(wait, no_store_completes_while_stores_wait)
{
	uint32_t before, now = 0;

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(1, read_some(self));
	start_writers(_metadata, self);
	until_waiting(self);
	/* Wait until harts that still used the pages have seen the change. */
	do {
		before = now;
		usleep(100000);
		now = all_stored(self);
	} while (now != before);
	usleep(300000);
	/* One store by each writer may have been in flight, or not counted yet. */
	EXPECT_GE(now + self->writers, all_stored(self));
	EXPECT_TRUE(waits(self->s.fd));
	read_to_end(_metadata, self);
	check_all(_metadata, self);
}

TEST_F(wait, program_can_map_and_unmap_while_stores_wait)
{
	void *memory;

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(1, read_some(self));
	start_writers(_metadata, self);
	until_waiting(self);
	usleep(100000);
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, memory);
	*(volatile char *)memory = 1;
	EXPECT_EQ(0, munmap(memory, 4096));
	EXPECT_TRUE(waits(self->s.fd));
	read_to_end(_metadata, self);
	check_all(_metadata, self);
}

static volatile sig_atomic_t handled;

static void handle(int number)
{
	handled = number;
}

TEST_F(wait, signals_are_handled_while_stores_wait)
{
	struct sigaction action = { .sa_handler = handle };

	handled = 0;
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(1, read_some(self));
	start_writers(_metadata, self);
	until_waiting(self);
	usleep(100000);
	ASSERT_EQ(0, pthread_kill(self->writer[0].thread, SIGUSR1));
	while (!handled)
		usleep(1000);
	EXPECT_TRUE(waits(self->s.fd));
	read_to_end(_metadata, self);
	check_all(_metadata, self);
}

TEST_F(wait, system_calls_do_not_wait)
{
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(1, read_some(self));
	start_writers(_metadata, self);
	until_waiting(self);
	EXPECT_TRUE(waits(self->s.fd));
	EXPECT_EQ(-1, write(self->pipe[1], self->each[0].page, 4));
	EXPECT_EQ(EFAULT, errno);
	read_to_end(_metadata, self);
	check_all(_metadata, self);
}

TEST_F(wait, samples_do_not_wait_and_losses_are_counted)
{
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);
	struct sifive_trace_status before, after;

	trace_sample_freely();
	sampling.interval = 1000000;
	sampling.flags = SIFIVE_TRACE_SAMPLING_ALL;
	sampling.channel = trace_register(&self->each[0].encoder, TRACE_CHANNEL + 1);
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(1, read_some(self));
	start_writers(_metadata, self);
	until_waiting(self);
	ASSERT_EQ(0, trace_status(self->s.fd, &before));
	/* Samples on harts that are not idle must be lost. */
	do {
		ASSERT_EQ(0, trace_status(self->s.fd, &after));
	} while (after.samples_lost < before.samples_lost + 20);
	EXPECT_EQ(before.samples, after.samples);
	EXPECT_TRUE(waits(self->s.fd));
	read_to_end(_metadata, self);
}

/* ---- the end of waiting ---------------------------------------------------- */

TEST_F(wait, stop_ends_waiting)
{
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(1, read_some(self));
	start_writers(_metadata, self);
	until_waiting(self);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_FALSE(waits(self->s.fd));
	EXPECT_EQ(NULL, stop_all(self));
	/* START keeps the existing bytes, so stores wait again; a rewind discards the bytes. */
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	until_waiting(self);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
	usleep(100000);
	EXPECT_FALSE(waits(self->s.fd));
}

/* Store endlessly, in a session of this process. */
static void store_forever(int ready)
{
	struct trace_session s;

	if (trace_session_open(&s, 0) ||
	    trace_session_config(&s, SIFIVE_TRACE_SINK_SBA, BUFFER_LEAST,
				 SIFIVE_TRACE_CONFIG_DRAIN | SIFIVE_TRACE_CONFIG_WAIT) ||
	    trace_start(s.fd, 0) || write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		trace_store(s.page, s.reg, 0, 4);
}

TEST_F(wait, process_with_waiting_store_can_be_killed)
{
	int ends[2], status, round, rounds = 1 + trace_repeat(19);
	pid_t child;
	char byte;

	ASSERT_EQ(0, pipe(ends));
	while (self->writers)
		trace_unmap(self->each[--self->writers].page);
	trace_session_close(&self->s);
	for (round = 0; round < rounds; round++) {
		child = fork();
		ASSERT_LE(0, child);
		if (!child)
			store_forever(ends[1]);
		ASSERT_EQ(1, read(ends[0], &byte, 1));
		while (!waits(self->reader.fd))
			usleep(1000);
		/* SIGTERM's default action also ends the process. */
		ASSERT_EQ(0, kill(child, round & 1 ? SIGTERM : SIGKILL));
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status));
		EXPECT_EQ(0, trace_flags(self->reader.fd) & SIFIVE_TRACE_STATUS_CONFIGURED);
		/* The process's stores can be read. */
		ASSERT_EQ(0, lseek(self->reader.fd, 0, SEEK_SET));
		ASSERT_EQ(1, read(self->reader.fd, &byte, 1));
	}
	close(ends[0]);
	close(ends[1]);
}

/*
 * The periods without room before this one lasted @full_ns in total. Use the driver's measurement
 * of the wait, because on a loaded host, this test may detect the wait late.
 */
static void continue_without_reader(struct __test_metadata *_metadata, struct _test_data_wait *self,
				    uint64_t full_ns)
{
	struct sifive_trace_status status;

	until_waiting(self);
	while (waits(self->s.fd))
		usleep(50000);
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_LT((ALONE - 1) * 1000000000ull, status.full_ns - full_ns);
	/* Fill the rest of the buffer. */
	__atomic_store_n(&turns, TURNS_FAST, __ATOMIC_RELAXED);
	do {
		usleep(50000);
		ASSERT_EQ(0, trace_status(self->s.fd, &status));
	} while (!status.gaps);
	__atomic_store_n(&turns, TURNS, __ATOMIC_RELAXED);
}

TEST_F(wait, stores_continue_without_reader)
{
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	start_writers(_metadata, self);
	continue_without_reader(_metadata, self, 0);
	/* After the first read, stores wait for the reader again. */
	ASSERT_EQ(1, read_some(self));
	until_waiting(self);
	read_to_end(_metadata, self);
	EXPECT_LT(0, self->reader.wrong);
}

TEST_F(wait, stores_continue_after_reader_closes)
{
	struct sifive_trace_status status;

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	start_writers(_metadata, self);
	until_waiting(self);
	while (waits(self->s.fd))
		ASSERT_EQ(1, read_some(self));
	EXPECT_EQ(0, self->reader.wrong);
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	close(self->reader.fd);
	continue_without_reader(_metadata, self, status.full_ns);
	stop_all(self);
}

/* A new reader that starts in time misses nothing. */
TEST_F(wait, another_reader_can_take_over)
{
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	start_writers(_metadata, self);
	until_waiting(self);
	ASSERT_EQ(1, read_some(self));
	close(self->reader.fd);
	usleep(100000);
	self->reader.fd = open(TRACE_DEVICE, O_RDONLY | O_NONBLOCK);
	ASSERT_LE(0, self->reader.fd);
	while (waits(self->s.fd))
		ASSERT_EQ(1, read_some(self));
	read_to_end(_metadata, self);
	check_all(_metadata, self);
}

/* Where a thread jumps to when its store to a removed page raises SIGBUS. */
static __thread sigjmp_buf trap;

static void trapped(int sig)
{
	siglongjmp(trap, sig);
}

static void *store_until_sigbus(void *arg)
{
	struct trace_session *s = arg;

	if (sigsetjmp(trap, 1))
		return (void *)(intptr_t)SIGBUS;
	for (;;)
		trace_store(s->page, s->reg, 0, 4);
}

TEST_F(wait, unbind_ends_waiting_store_with_sigbus)
{
	static const char driver[] = "/sys/bus/platform/drivers/sifive-trace-encoder/";
	struct sigaction action = { .sa_handler = trapped };
	const char *address = strchr(self->each[0].encoder.name, '@');
	char path[128], device[64];
	pthread_t thread;
	void *ended;

	if (getuid())
		SKIP(return, "needs root");
	ASSERT_NE(NULL, address);
	snprintf(device, sizeof(device), "%s.trace", address + 1);
	sigaction(SIGBUS, &action, NULL);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(1, read_some(self));
	ASSERT_EQ(0, pthread_create(&thread, NULL, store_until_sigbus, &self->each[0]));
	until_waiting(self);
	snprintf(path, sizeof(path), "%sunbind", driver);
	ASSERT_LE(0, trace_file_write(path, device));
	pthread_join(thread, &ended);
	EXPECT_EQ((void *)(intptr_t)SIGBUS, ended);
	snprintf(path, sizeof(path), "%sbind", driver);
	ASSERT_LE(0, trace_file_write(path, device));
}

TEST_F(wait, cpu_can_go_offline_while_stores_wait)
{
	char path[64];
	int cpu = self->each[self->writers - 1].encoder.cpu;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	if (access(path, W_OK))
		SKIP(return, "this CPU cannot go offline");
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(1, read_some(self));
	start_writers(_metadata, self);
	until_waiting(self);
	ASSERT_LE(0, trace_file_write(path, "0"));
	EXPECT_TRUE(waits(self->s.fd));
	while (waits(self->s.fd))
		ASSERT_EQ(1, read_some(self));
	ASSERT_LE(0, trace_file_write(path, "1"));
	read_to_end(_metadata, self);
}

/* ---- dropping ---------------------------------------------------------------- */

/* The program stores without checking for room; its stores must not wait. */
TEST_F(wait, drop_flag_reports_full_sink_without_waiting)
{
	struct sifive_trace_status status;
	const struct trace_session *s = &self->each[0];
	const volatile uint8_t *full;
	uint32_t i, n;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 0x100000,
					  SIFIVE_TRACE_CONFIG_DRAIN | SIFIVE_TRACE_CONFIG_DROP));
	full = mmap(NULL, (size_t)getpagesize(), PROT_READ, MAP_SHARED, self->s.fd,
		    SIFIVE_TRACE_MMAP_LOSSES);
	ASSERT_NE(MAP_FAILED, full);
	full += SIFIVE_TRACE_FULL_BYTES + s->encoder.index;
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	EXPECT_EQ(0, *full);
	for (i = 0; !*full; i++)
		trace_store(s->page, s->reg, i, 4);
	/*
	 * The stores fill a quarter of the minimum buffer, because a message has at most 16 bytes.
	 */
	EXPECT_LT(0x100000 / 4 / 16, i);
	for (n = 0; n < 1000; n++)
		trace_store(s->page, s->reg, i + n, 4);
	EXPECT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(0, status.waits);
	EXPECT_EQ(1, status.fulls);
	EXPECT_NE(0, status.flags & SIFIVE_TRACE_STATUS_WAITING);
	while (*full)
		ASSERT_EQ(1, read_some(self));
	EXPECT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(0, self->reader.wrong);
	EXPECT_LT(0, status.full_ns);
	EXPECT_EQ(0, status.flags & SIFIVE_TRACE_STATUS_WAITING);
	EXPECT_EQ(0, trace_stop(self->s.fd));
}

/* ---- refusals ------------------------------------------------------- */

TEST_F(wait, needs_drained_buffer_of_minimum_size)
{
	struct sifive_trace_config config = self->s.config;

	config.flags = SIFIVE_TRACE_CONFIG_WAIT;
	EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "DRAIN"));
	config.flags |= SIFIVE_TRACE_CONFIG_DRAIN | SIFIVE_TRACE_CONFIG_OVERFLOW;
	EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "OVERFLOW"));
	config.flags &= ~SIFIVE_TRACE_CONFIG_OVERFLOW;
	config.buffer = 65535;
	EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "65536"));
	config.buffer = 65536;
	config.flags |= SIFIVE_TRACE_CONFIG_DROP;
	EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "cannot be combined"));
	config.flags = SIFIVE_TRACE_CONFIG_DROP;
	EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "DROP needs DRAIN"));
	config.flags |= SIFIVE_TRACE_CONFIG_DRAIN;
	config.buffer = 0xfffff;
	EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "DROP needs a buffer of 1048576"));
}

TRACE_HARNESS_MAIN

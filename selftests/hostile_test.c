// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that the interface's limits cannot be exceeded by racing threads, overflowing numbers,
 * mmap() offsets, passed descriptors or unprivileged users. Thousands of sessions must not leak
 * memory.
 *
 * TRACE_SECONDS: duration of the threads' race in seconds (default 5).
 *
 * TRACE_SEED: seed for the random number generator.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

#define NOBODY	65534

/* Return a kind of sink that the machine supports; set @buffer to a small size for it. */
static uint32_t some_sink(const struct trace_session *s, uint64_t *buffer)
{
	bool sba = trace_has_sink(s, SIFIVE_TRACE_SINK_SBA);

	*buffer = sba ? 4096 : 0;
	return sba ? SIFIVE_TRACE_SINK_SBA : SIFIVE_TRACE_SINK_SRAM;
}

/* Check that a new session captures its own stores. */
static void still_works(struct __test_metadata *_metadata)
{
	struct trace_session s;
	struct trace_stream stream;
	uint64_t buffer;
	uint32_t sink;

	ASSERT_EQ(0, trace_session_open(&s, 0));
	sink = some_sink(&s, &buffer);
	ASSERT_EQ(0, trace_session_config(&s, sink, buffer, 0)) {
		TH_LOG("%s", trace_message(s.fd));
	}
	ASSERT_EQ(0, trace_start(s.fd, 0));
	trace_store(s.page, s.reg, 0x5afe, 4);
	ASSERT_EQ(0, trace_stop(s.fd));
	ASSERT_EQ(0, trace_collect(s.fd, s.encoder.src_bits, &stream));
	ASSERT_EQ(3, stream.count);
	EXPECT_EQ(0x5afe, stream.message[1].value);
	free(stream.message);
	trace_session_close(&s);
}

/* ---- threads ------------------------------------------------------------- */

#define THREADS	8
#define SLOTS	4

/* Descriptors that all threads use, replace and close concurrently. */
static int slot[SLOTS];
static struct trace_session machine;
static double race_end;
static int strange;

static __thread sigjmp_buf trap;
static __thread volatile sig_atomic_t trapping;

static void trapped(int sig)
{
	if (!trapping)
		_exit(100 + sig);
	siglongjmp(trap, sig);
}

/* Return whether a call may fail with this error while other threads interfere. */
static bool is_usual(int error)
{
	static const int usual[] = {
		0, EACCES, EBADF, EBUSY, EINVAL, ENXIO, EOPNOTSUPP, ENOMEM, ENOSPC,
		ESTALE, ESTALE,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(usual); i++)
		if (error == usual[i])
			return true;
	return false;
}

static void random_config(int fd, uint64_t *seed)
{
	struct sifive_trace_config config = TRACE_ARG(sifive_trace_config);
	uint64_t r = trace_random(seed);

	config.sink = r & 1 ? SIFIVE_TRACE_SINK_SBA : SIFIVE_TRACE_SINK_SRAM;
	config.buffer = r & 1 ? 1 + (r >> 8) % 65536 : 0;
	config.flags = (r >> 1) & 7;
	config.prescale = (r >> 4) & 3;
	config.channels = ~0u;
	config.encoders = (r >> 32) & (BIT64(machine.info.encoders) - 1);
	config.watermark = (r >> 40) & 0xfff;
	trace_config(fd, &config);
}

static void random_counters(int fd, uint64_t *seed)
{
	static const uint32_t codes[] = { 1, 2, SIFIVE_TRACE_EVENT_TIMESTAMP };
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	uint32_t i;

	counters.count = trace_random(seed) % 4;
	for (i = 0; i < counters.count; i++)
		counters.event[i].code = codes[i];
	trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters);
}

/* Map an encoder's page, store and load, while another thread can unmap it. */
static void map_and_touch(int fd, uint64_t *seed)
{
	volatile uint32_t *word;
	char *page;
	int i;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    (off_t)(trace_random(seed) % machine.info.encoders * 4096));
	if (page == MAP_FAILED)
		return;
	word = (uint32_t *)(page + TR_ITC_STIMULUS);
	trapping = 1;
	if (!sigsetjmp(trap, 1))
		for (i = 0; i < 200; i++)
			word[i % 32] = word[(i + 7) % 32];
	trapping = 0;
	munmap(page, 4096);
	errno = 0;
}

static void reopen(uint64_t *seed)
{
	int *at = &slot[trace_random(seed) % SLOTS];
	int fd = trace_open(trace_random(seed) & 3 ? O_RDWR : O_RDONLY);
	int old;

	if (fd < 0) {
		errno = -fd;
		return;
	}
	old = __atomic_exchange_n(at, fd, __ATOMIC_ACQ_REL);
	if (old >= 0)
		close(old);
	errno = 0;
}

static void one_call(uint64_t *seed)
{
	int fd = __atomic_load_n(&slot[trace_random(seed) % SLOTS], __ATOMIC_ACQUIRE);
	uint64_t r = trace_random(seed);
	struct sifive_trace_status status;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	static __thread char bytes[100000];

	errno = 0;
	switch (r % 16) {
	case 0: case 1:
		random_config(fd, seed);
		break;
	case 2: case 3:
		trace_start(fd, (r >> 8) & 1);
		break;
	case 4:
		trace_stop(fd);
		break;
	case 5:
		random_counters(fd, seed);
		break;
	case 6: case 7:
		if (pread(fd, bytes, sizeof(bytes), (off_t)((r >> 8) & 0x1ffff)) >= 0)
			errno = 0;
		break;
	case 8:
		lseek(fd, (off_t)((r >> 8) & 0xffff), (r >> 32) % 3);
		break;
	case 9:
		if (read(fd, bytes, sizeof(bytes)) >= 0)
			errno = 0;
		break;
	case 10:
		poll(&p, 1, (r >> 8) & 3);
		break;
	case 11: case 12: case 13:
		map_and_touch(fd, seed);
		break;
	case 14:
		trace_status(fd, &status);
		break;
	case 15:
		reopen(seed);
		break;
	}
	if (!is_usual(errno))
		strange = errno;
}

static void *race(void *arg)
{
	uint64_t seed = (uintptr_t)arg;

	while (trace_clock() < race_end)
		one_call(&seed);
	return NULL;
}

FIXTURE(long_run) {
};

FIXTURE_SETUP(long_run)
{
}

FIXTURE_TEARDOWN(long_run)
{
	still_works(_metadata);
}

TEST_F_TIMEOUT(long_run, driver_survives_racing_calls, 3600)
{
	uint64_t seed = trace_setting("TRACE_SEED", (uint64_t)getpid() << 20 | 1);
	struct sigaction action = { .sa_handler = trapped };
	pthread_t thread[THREADS];
	int i;

	TH_LOG("TRACE_SEED=%llu", (unsigned long long)seed);
	ASSERT_EQ(0, trace_session_open(&machine, 0));
	sigaction(SIGBUS, &action, NULL);
	for (i = 0; i < SLOTS; i++)
		slot[i] = trace_open(O_RDWR);
	race_end = trace_clock() + (double)trace_setting("TRACE_SECONDS", 5);
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, race,
					    (void *)(uintptr_t)trace_random(&seed)));
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	EXPECT_EQ(0, strange) {
		TH_LOG("errno %d: %s", strange, strerror(strange));
	}
	for (i = 0; i < SLOTS; i++)
		close(slot[i]);
	close(machine.fd);
}

/* ---- numbers ------------------------------------------------------------- */

FIXTURE(hostile) {
	struct trace_session s;
	uint64_t buffer;
	uint32_t sink;
};

FIXTURE_SETUP(hostile)
{
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	self->sink = some_sink(&self->s, &self->buffer);
	ASSERT_EQ(0, trace_session_config(&self->s, self->sink, self->buffer, 0));
}

FIXTURE_TEARDOWN(hostile)
{
	trace_session_close(&self->s);
	still_works(_metadata);
}

TEST_F(hostile, no_buffer_size_overflows)
{
	static const uint64_t around[] = {
		BIT64(31), BIT64(32), BIT64(33), BIT64(40), BIT64(47), BIT64(62),
		BIT64(63), 0,
	};
	struct sifive_trace_config config;
	int64_t off;
	size_t i;
	int ret;

	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	for (i = 0; i < ARRAY_SIZE(around); i++) {
		for (off = -40; off <= 40; off++) {
			config = TRACE_ARG(sifive_trace_config);
			config.sink = SIFIVE_TRACE_SINK_SBA;
			config.channels = 1;
			config.buffer = around[i] + (uint64_t)off;
			/* These sizes are valid, because they are small. */
			if (!around[i] && off >= 0)
				continue;
			ret = trace_config(self->s.fd, &config);
			EXPECT_TRUE(ret == -ENOMEM || ret == -EINVAL) {
				TH_LOG("buffer %#llx: %d",
				       (unsigned long long)around[i] + off, ret);
			}
		}
	}
}

TEST_F(hostile, no_offset_overflows)
{
	static const int64_t huge[] = {
		INT32_MAX, 1ll << 32, 1ll << 40, INT64_MAX / 2, INT64_MAX - 65536,
		INT64_MAX - 1, INT64_MAX,
	};
	static char bytes[65536];
	ssize_t got;
	off_t at;
	size_t i;
	int wrapped, running;

	for (wrapped = 0; wrapped < 2; wrapped++) {
		ASSERT_EQ(0, trace_session_config(&self->s, self->sink, self->buffer,
						  wrapped ? SIFIVE_TRACE_CONFIG_RING : 0));
		ASSERT_EQ(0, trace_start(self->s.fd, 0));
		for (i = 0; i < (wrapped ? 5000u : 100u); i++)
			trace_store(self->s.page, self->s.reg, (uint32_t)i, 4);
		for (running = 1; running >= 0; running--) {
			if (running && self->sink == SIFIVE_TRACE_SINK_SRAM)
				continue;
			if (!running)
				ASSERT_EQ(0, trace_stop(self->s.fd));
			for (i = 0; i < ARRAY_SIZE(huge); i++) {
				got = pread(self->s.fd, bytes, sizeof(bytes), huge[i]);
				/* The kernel itself rejects offsets of more than 63 bits. */
				EXPECT_TRUE(!got || (got < 0 && errno == EOVERFLOW) ||
					    (got < 0 && errno == EINVAL));
				at = lseek(self->s.fd, huge[i], SEEK_SET);
				EXPECT_TRUE(at == huge[i] || at == -1);
				at = lseek(self->s.fd, huge[i], SEEK_END);
				EXPECT_TRUE(at == -1 || at > huge[i]);
				EXPECT_EQ(-1, lseek(self->s.fd, -huge[i] - 1, SEEK_END));
				lseek(self->s.fd, 0, SEEK_SET);
			}
		}
	}
}

TEST_F(hostile, only_existing_encoders_can_be_selected)
{
	struct sifive_trace_config config;
	unsigned int bit;

	for (bit = self->s.info.encoders; bit < 64; bit++) {
		config = TRACE_ARG(sifive_trace_config);
		config.sink = self->sink;
		config.buffer = self->buffer;
		config.channels = 1;
		config.encoders = BIT64(bit);
		EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
		config.encoders |= 1;
		EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
	}
	config.encoders = ~0ull;
	EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
}

/* ---- mmap() -------------------------------------------------------------- */

static void *map_at(int fd, uint64_t offset)
{
	return (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE,
			       MAP_SHARED, fd, offset);
}

TEST_F(hostile, only_selected_stimulus_page_can_be_mapped)
{
	uint64_t seed = trace_setting("TRACE_SEED", (uint64_t)getpid() << 20 | 1);
	const int step = 4096 / trace_repeat(4096);
	uint64_t offset;
	void *page;
	int i;

	/* Test all offsets near those of the pages, some other offsets, and random offsets. */
	for (i = 0; i < 4096 + trace_repeat(4000); i += i < 128 || i >= 4096 ? 1 : step) {
		offset = (uint64_t)i << 12;
		if (i >= 4096)
			offset = trace_random(&seed) >> (seed % 52) & ~0xfffull;
		/* This offset is valid, too: it maps the loss counts. */
		if (offset == SIFIVE_TRACE_MMAP_LOSSES)
			continue;
		page = map_at(self->s.fd, offset);
		EXPECT_EQ(offset == self->s.encoder.mmap_offset,
			  page != MAP_FAILED) {
			TH_LOG("offset %#llx", (unsigned long long)offset);
		}
		if (page != MAP_FAILED)
			munmap(page, 4096);
	}
	for (i = 1; i < 4096; i += i < 128 ? 1 : step)
		ASSERT_EQ(MAP_FAILED, map_at(self->s.fd, (uint64_t)i));
	for (i = 0; i < 52; i++)
		ASSERT_EQ(MAP_FAILED, map_at(self->s.fd, -4096ull << i));
}

TEST_F(hostile, kernel_refuses_indirect_access_to_page)
{
	struct iovec iov = { .iov_base = self->s.page, .iov_len = 64 };
	uint64_t word;
	int fd, pipes[2];

	fd = open("/proc/self/mem", O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, pread(fd, &word, 8, (off_t)(uintptr_t)self->s.page));
	close(fd);
	ASSERT_EQ(0, pipe(pipes));
	EXPECT_EQ(-1, vmsplice(pipes[1], &iov, 1, 0));
	EXPECT_EQ(MAP_FAILED, mremap(self->s.page, 4096, 8192, MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(self->s.page, 0, 4096, MREMAP_MAYMOVE));
	EXPECT_EQ(-1, mprotect(self->s.page, 4096, PROT_READ | PROT_EXEC));
	EXPECT_EQ(-1, madvise(self->s.page, 4096, MADV_DOFORK));
	/* A page moved by mremap() allows no indirect access. */
	self->s.page = mremap(self->s.page, 4096, 4096,
			      MREMAP_MAYMOVE | MREMAP_FIXED, (void *)0x10000000);
	ASSERT_EQ((void *)0x10000000, self->s.page);
	EXPECT_EQ(0, trace_signal_of_load((char *)self->s.page +
					  TR_ITC_STIMULUS));
	/*
	 * The kernel unmaps the old range before it calls the driver for the new mapping, so no
	 * page is mapped.
	 */
	EXPECT_EQ(-1, remap_file_pages(self->s.page, 4096, 0, 4095, 0));
	self->s.page = NULL;
}

/* ---- users without privileges -------------------------------------------- */

/* Run @fn as nobody in a child; return its value, or -1. */
static int as_nobody(int (*fn)(int fd), int fd)
{
	pid_t child = fork();

	if (!child) {
		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
			_exit(99);
		_exit(fn(fd));
	}
	return trace_wait(child);
}

#define CHECK(step, condition) do { if (!(condition)) return step; } while (0)

static int nobody_opens(int unused)
{
	return trace_open(O_RDONLY) == -EACCES && trace_open(O_RDWR) == -EACCES;
}

/* Try calls on a descriptor without a session, opened here or by root. */
static int nobody_without_session(int fd)
{
	struct sifive_trace_config config = TRACE_ARG(sifive_trace_config);
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_status status;
	struct sifive_trace_encoder e;

	if (fd < 0)
		fd = trace_open(O_RDWR);
	CHECK(1, fd >= 0);
	CHECK(2, !trace_encoder(fd, 0, &e));
	config.sink = SIFIVE_TRACE_SINK_SBA;
	config.buffer = 4096;
	config.channels = 1;
	CHECK(3, trace_config(fd, &config) == -EPERM);
	CHECK(4, trace_start(fd, 0) == -ENXIO);
	CHECK(5, trace_stop(fd) == -ENXIO);
	CHECK(6, trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters) == -ENXIO);
	CHECK(7, !trace_map(fd, &e) && errno == ENXIO);
	CHECK(8, !trace_status(fd, &status));
	CHECK(9, !(status.flags & SIFIVE_TRACE_STATUS_OWNER));
	return 0;
}

/* Try calls on a descriptor passed by root: it only allows reading and watching the session. */
static int nobody_with_session(int fd)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);
	struct sifive_trace_config config = TRACE_ARG(sifive_trace_config);
	struct sifive_trace_thread thread = TRACE_ARG(sifive_trace_thread);
	struct sifive_trace_status status;
	struct sifive_trace_encoder e;
	void *page;
	char byte;

	CHECK(1, !trace_encoder(fd, 0, &e));
	page = trace_map(fd, &e);
	CHECK(2, !page && errno == EPERM);
	config.sink = SIFIVE_TRACE_SINK_SBA;
	config.buffer = 4096;
	config.channels = 1;
	CHECK(3, trace_config(fd, &config) == -EPERM);
	CHECK(4, trace_start(fd, 0) == -EPERM);
	CHECK(5, trace_stop(fd) == -EPERM);
	CHECK(6, trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters) == -EPERM);
	counters.count = 1;
	counters.event[0].code = 1;
	CHECK(7, trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters) == -EPERM);
	sampling.channel = TRACE_CHANNEL;
	sampling.interval = 1000000;
	CHECK(8, trace_ioctl(fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling) == -EPERM);
	CHECK(9, trace_ioctl(fd, SIFIVE_TRACE_IOC_THREAD, &thread) == -EPERM);
	thread.flags = SIFIVE_TRACE_THREAD_LEAVE;
	CHECK(10, trace_ioctl(fd, SIFIVE_TRACE_IOC_THREAD, &thread) == -EPERM);
	CHECK(11, pread(fd, &byte, 1, 0) == 1);
	CHECK(12, !trace_status(fd, &status) && status.bytes);
	return 0;
}

TEST_F(hostile, unprivileged_user_can_do_only_what_mode_and_session_permit)
{
	int fd, reader = trace_open(O_RDONLY);
	struct sifive_trace_status before, after;
	struct stat st;

	if (getuid())
		SKIP(return, "needs root to become nobody");
	ASSERT_EQ(0, stat(TRACE_DEVICE, &st));
	if (!(st.st_mode & 066))
		EXPECT_EQ(1, as_nobody(nobody_opens, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	trace_store(self->s.page, self->s.reg, 1, 4);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_status(reader, &before));

	ASSERT_EQ(0, chmod(TRACE_DEVICE, 0666));
	EXPECT_EQ(0, as_nobody(nobody_without_session, -1));
	ASSERT_EQ(0, chmod(TRACE_DEVICE, st.st_mode & 0777));
	fd = trace_open(O_RDWR);
	EXPECT_EQ(0, as_nobody(nobody_without_session, fd));
	ASSERT_EQ(0, trace_status(reader, &after));
	EXPECT_EQ(before.bytes, after.bytes);
	EXPECT_EQ(0, as_nobody(nobody_with_session, self->s.fd));
	/* The session works, with its configuration unchanged. */
	EXPECT_EQ(0, trace_start(self->s.fd, 0));
	EXPECT_EQ(0, trace_stop(self->s.fd));

	/* After the session's end, calls by nobody have no effect. */
	trace_session_close(&self->s);
	EXPECT_EQ(0, as_nobody(nobody_without_session, fd));
	ASSERT_EQ(0, trace_status(reader, &after));
	EXPECT_LE(before.bytes, after.bytes);
}

/* ---- descriptors passed between processes --------------------------------------------- */

/*
 * Expect CONFIG on another descriptor to report that process @pid holds the hardware or, if @pid is
 * 0, to succeed.
 */
static void taken_by(struct __test_metadata *_metadata, uint32_t sink,
		     uint64_t buffer, pid_t pid)
{
	struct sifive_trace_config config = TRACE_ARG(sifive_trace_config);
	char words[32];
	int fd = trace_open(O_RDWR);

	config.sink = sink;
	config.buffer = buffer;
	config.channels = 1;
	EXPECT_EQ(pid ? -EBUSY : 0, trace_config(fd, &config));
	if (pid) {
		snprintf(words, sizeof(words), "process %d ", pid);
		EXPECT_NE(NULL, strstr(trace_message(fd), words));
	}
	close(fd);
}

static void send_fd(int sock, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { .iov_base = "", .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	sendmsg(sock, &msg, 0);
}

TEST_F(hostile, session_is_held_by_descriptor_in_socket)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		SKIP(return, "no sockets in this kernel");
	send_fd(pair[0], self->s.fd);
	trace_session_close(&self->s);
	taken_by(_metadata, self->sink, self->buffer, getpid());
	close(pair[0]);
	close(pair[1]);
	taken_by(_metadata, self->sink, self->buffer, 0);
}

TEST_F(hostile, session_survives_exec)
{
	char number[16];
	pid_t child;

	ASSERT_EQ(0, fcntl(self->s.fd, F_SETFD, 0));
	snprintf(number, sizeof(number), "%d", self->s.fd);
	child = fork();
	if (!child) {
		execl("/proc/self/exe", "hostile_test", "--inherited", number, NULL);
		_exit(99);
	}
	EXPECT_EQ(0, trace_wait(child));
	taken_by(_metadata, self->sink, self->buffer, getpid());
}

TEST_F(hostile, session_lasts_until_child_exits)
{
	int go[2];
	pid_t child;
	char c;

	ASSERT_EQ(0, pipe(go));
	child = fork();
	if (!child) {
		close(go[1]);
		read(go[0], &c, 1);
		_exit(trace_start(self->s.fd, 0) || trace_stop(self->s.fd));
	}
	trace_session_close(&self->s);
	taken_by(_metadata, self->sink, self->buffer, getpid());
	close(go[1]);
	EXPECT_EQ(0, trace_wait(child));
	taken_by(_metadata, self->sink, self->buffer, 0);
}

TEST_F(hostile, mapping_holds_session_until_process_is_killed)
{
	int ready[2];
	pid_t child;
	char c;

	trace_session_close(&self->s);
	ASSERT_EQ(0, pipe(ready));
	child = fork();
	if (!child) {
		struct trace_session s;

		if (trace_session_open(&s, 0) ||
		    trace_session_config(&s, self->sink, self->buffer,
					 SIFIVE_TRACE_CONFIG_RING) ||
		    trace_start(s.fd, 0))
			_exit(1);
		close(s.fd);
		write(ready[1], "", 1);
		for (;;)
			trace_store(s.page, s.reg, 1, 4);
	}
	ASSERT_EQ(1, read(ready[0], &c, 1));
	taken_by(_metadata, self->sink, self->buffer, child);
	kill(child, SIGKILL);
	EXPECT_EQ(-1, trace_wait(child));
	taken_by(_metadata, self->sink, self->buffer, 0);
}

/* ---- many sessions ------------------------------------------------------- */

/* Return the value of a line of /proc/meminfo in KiB, or 0 if the line is missing. */
static long memory_line(const char *name)
{
	char text[8192], *at;

	if (trace_file_read("/proc/meminfo", text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, name);
	return at ? atol(at + strlen(name)) : 0;
}

#define CYCLES	1000

TEST_F(long_run, many_sessions_leak_no_memory)
{
	long unreclaimable = 0, vmalloc = 0, free_memory = 0;
	struct trace_session s;
	uint64_t buffer;
	uint32_t sink;
	int i;

	if (!trace_finds_leaks())
		SKIP(return, "too few sessions to reveal a leak: TRACE_PART is set");
	for (i = 0; i < CYCLES + 200; i++) {
		/* Start measuring after the one-time allocations of the first sessions. */
		if (i == 200) {
			unreclaimable = memory_line("SUnreclaim:");
			vmalloc = memory_line("VmallocUsed:");
			free_memory = memory_line("MemFree:");
		}
		ASSERT_EQ(0, trace_session_open(&s, 0));
		sink = some_sink(&s, &buffer);
		if (i & 1 && trace_has_sink(&s, SIFIVE_TRACE_SINK_SRAM)) {
			sink = SIFIVE_TRACE_SINK_SRAM;
			buffer = 0;
		}
		ASSERT_EQ(0, trace_session_config(&s, sink, buffer,
						  i & 2 ? SIFIVE_TRACE_CONFIG_RING : 0));
		ASSERT_EQ(0, trace_start(s.fd, 0));
		trace_store(s.page, s.reg, (uint32_t)i, 4);
		if (i & 4)
			pread(s.fd, &buffer, 8, 0);
		if (i & 8)
			ASSERT_EQ(0, trace_stop(s.fd));
		trace_session_close(&s);
	}
	unreclaimable = memory_line("SUnreclaim:") - unreclaimable;
	vmalloc = memory_line("VmallocUsed:") - vmalloc;
	free_memory -= memory_line("MemFree:");
	TH_LOG("change in KiB: unreclaimable slabs %ld, vmalloc %ld, free memory %ld",
	       unreclaimable, vmalloc, -free_memory);
	/* A leak of 4 KiB per session would add 4000 KiB. Debug kernels free memory late. */
	EXPECT_GT(3000, unreclaimable);
	EXPECT_GT(400, vmalloc);
	EXPECT_GT(3000, free_memory);
}

int main(int argc, char **argv)
{
	int fd;

	trace_require_device();
	if (argc == 3 && !strcmp(argv[1], "--inherited")) {
		fd = atoi(argv[2]);
		return !(trace_flags(fd) & SIFIVE_TRACE_STATUS_OWNER) ||
		       trace_start(fd, 0) || trace_stop(fd);
	}
	return test_harness_run(argc, argv);
}

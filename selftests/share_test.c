// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that users can share a machine's trace hardware: all readers of a running ring share one
 * copy, and other calls do not wait until the copy is complete; a user's capture is private; STATUS
 * from other users does not interrupt harts; a session leaves no data in SRAM for the next one; and
 * a call that fails has no effect.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

#define ALICE	1000
#define BOB	1001

FIXTURE(share) {
	struct trace_session s;
	struct trace_stream stream;
	mode_t mode;
	bool sba;
};

FIXTURE_SETUP(share)
{
	struct stat st;

	if (getuid())
		SKIP(return, "needs root to become other users");
	ASSERT_EQ(0, stat(TRACE_DEVICE, &st));
	self->mode = st.st_mode & 0777;
	ASSERT_EQ(0, chmod(TRACE_DEVICE, 0666));
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	self->sba = trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA);
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
}

FIXTURE_TEARDOWN(share)
{
	trace_session_close(&self->s);
	chmod(TRACE_DEVICE, self->mode);
}

static int configure(struct trace_session *s, uint64_t buffer, uint32_t flags)
{
	bool sba = trace_has_sink(s, SIFIVE_TRACE_SINK_SBA);

	return trace_session_config(s, sba ? SIFIVE_TRACE_SINK_SBA : SIFIVE_TRACE_SINK_SRAM,
				    sba ? buffer : 0, flags);
}

/* Start a ring, and wait until it has wrapped. */
static void run_ring(struct __test_metadata *_metadata, struct trace_session *s,
		     uint64_t buffer)
{
	uint32_t i;

	ASSERT_EQ(0, trace_session_config(s, SIFIVE_TRACE_SINK_SBA, buffer,
					  SIFIVE_TRACE_CONFIG_RING)) {
		TH_LOG("%s", trace_message(s->fd));
	}
	ASSERT_EQ(0, trace_start(s->fd, 0));
	for (i = 0; i % 4096 || !(trace_flags(s->fd) & SIFIVE_TRACE_STATUS_WRAPPED); i++)
		trace_store(s->page, s->reg, i, 4);
}

/* Repeat the store, because the newest stores in a running capture are not in the sink yet. */
static void store_marks(struct trace_session *s, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < 50; i++)
		trace_store(s->page, s->reg, value, 4);
}

/* Become a user with only the capabilities in the mask. */
static int become(uid_t user, uint64_t caps)
{
	if (setgroups(0, NULL) || prctl(PR_SET_KEEPCAPS, 1) ||
	    setresgid(user, user, user) || setresuid(user, user, user))
		return -errno;
	return trace_keep_caps(caps);
}

/* Run @fn as that user in a child; return its value, or -1. */
static int as_user(uid_t user, uint64_t caps, int (*fn)(int fd), int fd)
{
	pid_t child = fork();

	if (!child)
		_exit(become(user, caps) ? 99 : fn(fd));
	return trace_wait(child);
}

#define CHECK(step, condition) do { if (!(condition)) return step; } while (0)

/* ---- readers ---------------------------------------------------------------- */

/* Size of the largest contiguous buffer that all boards can allocate. */
#define RING	(4ull << 20)
#define READERS	8

/* Return the value of a line of /proc/meminfo in bytes. */
static long long memory_line(const char *name)
{
	char text[8192], *at;

	if (trace_file_read("/proc/meminfo", text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, name);
	return at ? atoll(at + strlen(name)) << 10 : 0;
}

TEST_F(share, readers_of_running_ring_share_one_copy)
{
	long long before, after;
	int fd[READERS], i;
	char byte;

	if (!self->sba)
		SKIP(return, "this board has no SBA sink");
	run_ring(_metadata, &self->s, RING);
	before = memory_line("VmallocUsed:");
	for (i = 0; i < READERS; i++) {
		fd[i] = trace_open(O_RDONLY);
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(1, pread(fd[i], &byte, 1, 0));
	}
	after = memory_line("VmallocUsed:");
	/* The kernel may also free other memory, so allow for a difference. */
	EXPECT_LE((long long)RING / 2, after - before);
	EXPECT_GT(2 * (long long)RING, after - before);
	/* The last reader frees the copy. */
	for (i = 0; i < READERS; i++)
		close(fd[i]);
	EXPECT_GT((long long)RING / 2, memory_line("VmallocUsed:") - before);
}

TEST_F(share, simultaneous_readers_see_same_snapshot)
{
	uint8_t *bytes[2];
	struct trace_stream stream;
	int fd = trace_open(O_RDONLY);
	uint32_t first, last;
	ssize_t size;
	char byte;

	if (!self->sba)
		SKIP(return, "this board has no SBA sink");
	run_ring(_metadata, &self->s, 65536);
	/* Begin to read, to keep the copy for the second reader. */
	ASSERT_EQ(1, pread(self->s.fd, &byte, 1, 0));
	store_marks(&self->s, 0);
	size = trace_read_all(fd, &bytes[0]);
	ASSERT_LT(0, size);
	bytes[1] = malloc((size_t)size + 1);
	EXPECT_EQ(size, pread(self->s.fd, bytes[1], (size_t)size, 1) + 1);
	EXPECT_EQ(0, memcmp(bytes[0] + 1, bytes[1], (size_t)size - 1));
	ASSERT_EQ(0, trace_decode(bytes[0], (size_t)size, self->s.encoder.src_bits,
				  &stream));
	EXPECT_LT(0, trace_consecutive(&stream, &first, &last));
	free(stream.message);
	/* The next read starts a new copy, which includes the stores made since the first copy. */
	close(fd);
	EXPECT_EQ(0, pread(self->s.fd, bytes[1], 1, size));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &stream));
	EXPECT_EQ(0, stream.message[stream.count - 1].value);
	free(stream.message);
	free(bytes[0]);
	free(bytes[1]);
}

/*
 * A reader that stops reading does not block other readers, and receives an error if its copy has
 * been replaced.
 */
TEST_F(share, idle_reader_loses_copy_to_another_reader)
{
	int fd = trace_open(O_RDONLY);
	struct trace_stream stream;
	char byte;

	if (!self->sba)
		SKIP(return, "this board has no SBA sink");
	run_ring(_metadata, &self->s, 65536);
	ASSERT_EQ(1, pread(fd, &byte, 1, 0));
	store_marks(&self->s, 0x1a7e);
	sleep(2);
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &stream));
	EXPECT_EQ(0x1a7e, stream.message[stream.count - 1].value);
	free(stream.message);
	EXPECT_EQ(-1, pread(fd, &byte, 1, 1));
	EXPECT_EQ(ESTALE, errno);
	EXPECT_NE(NULL, strstr(trace_message(fd), "another reader"));
	EXPECT_EQ(1, pread(fd, &byte, 1, 0));
	close(fd);
}

#define COPIERS	4

/**
 * struct copiers - threads that read together, so that the first thread copies the ring for all
 * @barrier:	barrier at the end of each half of a round
 * @begun:	number of reads that have begun
 * @done:	number of reads that returned the first byte, so that the copy was complete
 * @failed:	number of reads that failed
 * @quit:	request to end
 * @over:	set when no further round begins
 */
struct copiers {
	pthread_t thread[COPIERS];
	pthread_barrier_t barrier;
	int cpu;
	unsigned int begun, done, failed;
	bool quit, over;
};

static unsigned int get(const unsigned int *count)
{
	return __atomic_load_n(count, __ATOMIC_SEQ_CST);
}

static void add(unsigned int *count)
{
	__atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
}

static void *copy_repeatedly(void *arg)
{
	int fd = trace_open(O_RDONLY);
	struct copiers *c = arg;
	char byte;

	trace_pin(c->cpu);
	do {
		add(&c->begun);
		if (pread(fd, &byte, 1, 0) != 1)
			add(&c->failed);
		add(&c->done);
		if (pthread_barrier_wait(&c->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			c->over = __atomic_load_n(&c->quit, __ATOMIC_SEQ_CST);
		/* Read to the end, to release the copy; the last reader frees the copy. */
		if (pread(fd, &byte, 1, RING))
			add(&c->failed);
		pthread_barrier_wait(&c->barrier);
	} while (!c->over);
	close(fd);
	return NULL;
}

/* Wait until a read in this round has begun, but no read has returned its first byte. */
static unsigned int wait_for_copy(struct copiers *c)
{
	unsigned int done;

	do
		done = get(&c->done);
	while (done % COPIERS || get(&c->begun) <= done);
	/* Give the copying thread time to take any lock that it needs. */
	usleep(100);
	return done;
}

static bool status_within(struct copiers *c, int fd)
{
	unsigned int done = wait_for_copy(c);
	struct sifive_trace_status status;

	return !trace_status(fd, &status) && get(&c->done) == done;
}

/* No copy is needed after STOP, so call START again afterwards. */
static bool stop_within(struct copiers *c, int fd)
{
	unsigned int done = wait_for_copy(c);
	bool within = !trace_stop(fd) && get(&c->done) == done;

	return !trace_start(fd, 0) && within;
}

/*
 * Check that in at least a quarter of all rounds, a call made during a copy returns before the copy
 * is complete.
 */
static void calls_return_during_copies(struct __test_metadata *_metadata, struct trace_session *s,
				       struct copiers *c, const char *name,
				       bool (*call)(struct copiers *c, int fd))
{
	unsigned int within = 0, round;

	for (round = 0; round < 200 && (round < 20 || within < round / 4); round++)
		within += call(c, s->fd);
	TH_LOG("%s: %u times in %u", name, within, round);
	EXPECT_LE(round / 4, within);
}

/*
 * If copying locked the driver, a call would return only after the copy. On a loaded host, this
 * sometimes happens even without a lock.
 */
TEST_F(share, owner_is_not_blocked_by_ring_copies)
{
	struct trace_session other;
	struct copiers c = { 0 };
	unsigned int i;

	if (!self->sba)
		SKIP(return, "this board has no SBA sink");
	if (trace_session_open(&other, 1))
		SKIP(return, "needs two CPUs");
	c.cpu = other.encoder.cpu;
	trace_session_close(&other);
	run_ring(_metadata, &self->s, RING);
	ASSERT_EQ(0, pthread_barrier_init(&c.barrier, NULL, COPIERS));
	for (i = 0; i < COPIERS; i++)
		ASSERT_EQ(0, pthread_create(&c.thread[i], NULL, copy_repeatedly, &c));
	calls_return_during_copies(_metadata, &self->s, &c, "STATUS", status_within);
	calls_return_during_copies(_metadata, &self->s, &c, "STOP", stop_within);
	__atomic_store_n(&c.quit, true, __ATOMIC_SEQ_CST);
	for (i = 0; i < COPIERS; i++)
		pthread_join(c.thread[i], NULL);
	EXPECT_LT(0, c.done);
	EXPECT_EQ(0, c.failed);
	EXPECT_EQ(0, trace_stop(self->s.fd));
}

/* The kernel's copy is charged to the reader's memory cgroup. */
TEST_F(share, copy_is_charged_to_reader)
{
	static const char dir[] = "/tmp/share_test_cgroup";
	int fd, ret = -1, copied = 0;
	char byte, text[256];
	pid_t child;

	if (!self->sba)
		SKIP(return, "this board has no SBA sink");
	mkdir(dir, 0700);
	if (mount("none", dir, "cgroup2", 0, NULL))
		SKIP(return, "no cgroup2: %s", strerror(errno));
	ret = trace_file_write("/tmp/share_test_cgroup/cgroup.subtree_control", "+memory");
	if (ret >= 0)
		mkdir("/tmp/share_test_cgroup/small", 0700);
	if (ret >= 0)
		ret = trace_file_write("/tmp/share_test_cgroup/small/memory.max", "2097152");
	if (ret < 0) {
		umount(dir);
		SKIP(return, "no memory controller: %s", strerror(-ret));
	}
	run_ring(_metadata, &self->s, RING);
	child = fork();
	if (!child) {
		snprintf(text, sizeof(text), "%d", getpid());
		if (trace_file_write("/tmp/share_test_cgroup/small/cgroup.procs", text) < 0)
			_exit(1);
		fd = trace_open(O_RDONLY);
		copied = pread(fd, &byte, 1, 0) != -1 || errno != ENOMEM;
		_exit(copied ? 2 : 0);
	}
	EXPECT_EQ(0, trace_wait(child));
	if (trace_file_read("/tmp/share_test_cgroup/small/memory.events", text,
			    sizeof(text)) > 0)
		EXPECT_NE(NULL, strstr(text, "oom_kill 0"));
	rmdir("/tmp/share_test_cgroup/small");
	umount(dir);
	rmdir(dir);
	/* The session's owner can read a copy. */
	EXPECT_EQ(1, pread(self->s.fd, &byte, 1, 0));
}

/* ---- ownership of the capture ------------------------------------------------------- */

/* Test each call that could expose a capture to users who may not read it. */
static int may_not_read(int unused)
{
	struct sifive_trace_encoder e;
	struct sifive_trace_status status;
	struct sifive_trace_sink sink;
	const uint32_t shown = SIFIVE_TRACE_STATUS_CONFIGURED | SIFIVE_TRACE_STATUS_RUNNING;
	int fd = trace_open(O_RDONLY);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char byte;

	CHECK(1, fd >= 0);
	CHECK(2, read(fd, &byte, 1) == -1 && errno == EPERM);
	CHECK(3, strstr(trace_message(fd), "CAP_PERFMON"));
	CHECK(4, pread(fd, &byte, 1, 1) == -1 && errno == EPERM);
	CHECK(5, lseek(fd, 0, SEEK_END) == -1 && errno == EPERM);
	CHECK(6, !trace_status(fd, &status) && !status.bytes && !status.samples &&
	      !status.stalls && !status.samples_lost && !status.counters_lost);
	CHECK(7, !(status.flags & ~shown));
	CHECK(8, !trace_sink(fd, 0, &sink) && !sink.bytes && !sink.flags && sink.buffer &&
	      !sink.time_ns && !sink.start_ns);
	CHECK(9, !trace_encoder(fd, 0, &e));
	CHECK(10, poll(&p, 1, 0) == 1 && p.revents == POLLERR);
	fd = open(TRACE_DEVICE ".0", O_RDONLY);
	CHECK(11, fd < 0 || (read(fd, &byte, 1) == -1 && errno == EPERM));
	return 0;
}

static int may_read(int unused)
{
	struct sifive_trace_status status;
	int fd = trace_open(O_RDONLY);
	char byte;

	CHECK(1, fd >= 0);
	CHECK(2, read(fd, &byte, 1) == 1);
	CHECK(3, lseek(fd, 0, SEEK_END) > 1);
	CHECK(4, !trace_status(fd, &status) && status.bytes > 1);
	return 0;
}

/* Like may_not_read(), but for root in a new user namespace. */
static int may_not_read_as_namespace_root(int unused)
{
	if (unshare(CLONE_NEWUSER))
		return 0;
	return may_not_read(unused);
}

/* Read from a descriptor that was passed to a user who may not open the device. */
static int reads_from(int fd)
{
	char byte;

	return pread(fd, &byte, 1, 0) != 1;
}

static int does_not_read_from(int fd)
{
	char byte;

	return pread(fd, &byte, 1, 0) != -1 || errno != EPERM;
}

TEST_F(share, only_owner_and_capable_users_can_read_capture)
{
	int fd, alice;

	ASSERT_EQ(0, configure(&self->s, 65536, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	trace_store(self->s.page, self->s.reg, 0x5ec4e7, 4);
	EXPECT_EQ(0, as_user(ALICE, 0, may_not_read, 0));
	EXPECT_EQ(0, as_user(ALICE, 0, may_not_read_as_namespace_root, 0));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_EQ(0, as_user(ALICE, 0, may_not_read, 0));
	EXPECT_EQ(0, as_user(ALICE, BIT64(CAP_PERFMON), may_read, 0));
	EXPECT_EQ(0, as_user(ALICE, BIT64(CAP_SYS_ADMIN), may_read, 0));
	/* Root may read the capture, even without capabilities and after the session has ended. */
	EXPECT_EQ(0, as_user(0, 0, may_read, 0));
	fd = trace_open(O_RDONLY);
	trace_session_close(&self->s);
	EXPECT_EQ(0, as_user(0, 0, may_read, 0));
	EXPECT_EQ(0, as_user(ALICE, 0, may_not_read, 0));
	EXPECT_EQ(0, as_user(ALICE, 0, may_not_read_as_namespace_root, 0));
	/*
	 * A descriptor has the rights of the process that opened it, whichever process reads from
	 * it.
	 */
	EXPECT_EQ(0, as_user(ALICE, 0, reads_from, fd));
	close(fd);
	ASSERT_EQ(0, setresuid(-1, ALICE, -1));
	alice = trace_open(O_RDONLY);
	ASSERT_EQ(0, setresuid(-1, 0, -1));
	ASSERT_LE(0, alice);
	EXPECT_EQ(0, does_not_read_from(alice));
	close(alice);
}

/* Capture as a user with the capability, and leave the data in the hardware. */
static int captures(int unused)
{
	struct trace_session s;

	CHECK(1, !trace_session_open(&s, 0));
	CHECK(2, !configure(&s, 65536, 0));
	CHECK(3, !trace_start(s.fd, 0));
	CHECK(4, !trace_stop(s.fd));
	trace_session_close(&s);
	return 0;
}

TEST_F(share, user_can_read_own_capture_after_session)
{
	trace_session_close(&self->s);
	ASSERT_EQ(0, as_user(ALICE, BIT64(CAP_PERFMON) | BIT64(CAP_SYS_RAWIO), captures, 0));
	EXPECT_EQ(0, as_user(ALICE, 0, may_read, 0));
	EXPECT_EQ(0, as_user(BOB, 0, may_not_read, 0));
	EXPECT_EQ(0, as_user(0, 0, may_not_read, 0));
	EXPECT_EQ(0, as_user(0, BIT64(CAP_PERFMON), may_read, 0));
}

/* A program that drops its privileges can continue to use its session. */
TEST_F(share, session_continues_after_dropping_privileges)
{
	struct sifive_trace_config config;
	char byte;
	pid_t child;

	trace_session_close(&self->s);
	child = fork();
	if (!child) {
		struct trace_session s;

		if (trace_session_open(&s, 0) || configure(&s, 65536, 0) ||
		    become(ALICE, 0))
			_exit(1);
		config = s.config;
		_exit(trace_start(s.fd, 0) ? 2 : trace_stop(s.fd) ? 3 :
		      pread(s.fd, &byte, 1, 0) != 1 ? 4 :
		      trace_config(s.fd, &config) != -EPERM ? 5 : 0);
	}
	EXPECT_EQ(0, trace_wait(child));
}

static int config_alone(void)
{
	int ret, fd = trace_open(O_RDWR);
	struct sifive_trace_config config;

	if (fd < 0)
		return fd;
	config = trace_simple_config(fd, 0);
	ret = trace_config(fd, &config);
	close(fd);
	return ret;
}

/* The process has all capabilities in its user namespace, but none in the initial namespace. */
TEST_F(share, user_namespace_root_is_unprivileged)
{
	pid_t child;

	trace_session_close(&self->s);
	child = fork();
	if (!child) {
		if (config_alone())
			_exit(1);
		if (unshare(CLONE_NEWUSER))
			_exit(KSFT_SKIP);
		if (trace_file_write("/proc/self/uid_map", "0 0 1") < 0 || getuid())
			_exit(2);
		_exit(config_alone() == -EPERM ? 0 : 3);
	}
	child = trace_wait(child);
	if (child == KSFT_SKIP)
		SKIP(return, "this kernel has no user namespaces");
	EXPECT_EQ(0, child);
}

/* ---- interrupts ----------------------------------------------------------------- */

/* Return the total number of function-call interrupts on all CPUs, from /proc/interrupts. */
static unsigned long long calls_on_cpus(void)
{
	unsigned long long sum = 0, value;
	FILE *f = fopen("/proc/interrupts", "r");
	char line[1024], *at, *end;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "unction call"))
			continue;
		at = strchr(line, ':') + 1;
		for (value = strtoull(at, &end, 10); end != at;
		     at = end, value = strtoull(at, &end, 10))
			sum += value;
	}
	if (f)
		fclose(f);
	return sum;
}

#define LOOKS	1000

static unsigned long long calls_for_looks(int fd)
{
	unsigned long long before = calls_on_cpus();
	struct sifive_trace_status status;
	int i;

	for (i = 0; i < LOOKS; i++)
		if (trace_status(fd, &status))
			return ~0ull;
	return calls_on_cpus() - before;
}

TEST_F(share, status_from_others_interrupts_no_hart)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config;
	unsigned long long others, own;
	int fd = trace_open(O_RDONLY);

	ASSERT_EQ(0, configure(&self->s, 65536, 0));
	config = trace_same_config(&self->s.config);
	config.encoders = 0;
	ASSERT_EQ(0, trace_config(self->s.fd, &config));
	counters.count = 1;
	counters.event[0].code = 1;
	if (trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters))
		SKIP(return, "no counters: %s", trace_message(self->s.fd));
	own = calls_for_looks(self->s.fd);
	if (own < LOOKS)
		SKIP(return, "needs a second CPU with an encoder");
	others = calls_for_looks(fd);
	TH_LOG("%llu calls for the owner's %d STATUS calls, %llu for another user's", own, LOOKS,
	       others);
	EXPECT_GT(LOOKS / 2, others);
	close(fd);
}

/* ---- SRAM ------------------------------------------------------------------------- */

TEST_F(share, sram_retains_nothing_of_earlier_session)
{
	volatile uint32_t *page;
	unsigned int same = 0;
	uint32_t *old, i;
	ssize_t size;

	if (!(self->s.encoder.sinks & BIT64(SIFIVE_TRACE_SINK_SRAM)))
		SKIP(return, "programs cannot map an SRAM on this board");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SRAM, 0, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	for (i = 0; !(trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_FULL); i++)
		trace_store(self->s.page, self->s.reg, 0x5ec4e700 + i, 4);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	size = trace_read_all(self->s.fd, (uint8_t **)&old);
	ASSERT_LT(0, size);
	trace_session_close(&self->s);

	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SRAM, 0, 0));
	page = self->s.page;
	page[TR_SINK_RP / 4] = 0;
	for (i = 0; i < size / 4; i++)
		same += page[TR_SINK_DATA / 4] == old[i];
	EXPECT_EQ(0, same);
	/* read() does not return old data, even from a sink that seems to be full. */
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	page[TR_SINK_WP / 4] |= TR_SINK_WP_WRAPPED;
	ASSERT_EQ(0, trace_stop(self->s.fd));
	for (i = 0, same = 0; i < size / 4; i++) {
		uint32_t word;

		if (pread(self->s.fd, &word, 4, i * 4) == 4)
			same += word == old[i];
	}
	EXPECT_EQ(0, same);
	free(old);
}

/* ---- calls that fail ------------------------------------------------------------------ */

TEST_F(share, failed_config_keeps_session_and_capture)
{
	struct sifive_trace_config config, good;
	struct sifive_trace_status before, after;
	char online[64];
	struct trace_session last;
	unsigned int n = 0;
	bool no_prescaler;

	while (!trace_session_open(&last, n))
		trace_session_close(&last), n++;
	snprintf(online, sizeof(online), "/sys/devices/system/cpu/cpu%d/online",
		 last.encoder.cpu);
	ASSERT_EQ(0, configure(&self->s, 4096, 0));
	config = trace_same_config(&self->s.config);
	config.prescale = 1;
	no_prescaler = trace_config(self->s.fd, &config) == -EOPNOTSUPP;
	ASSERT_EQ(0, configure(&self->s, 4096, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	trace_store(self->s.page, self->s.reg, 1, 4);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_status(self->s.fd, &before));
	good = trace_same_config(&self->s.config);

	config = good;
	config.buffer = ~0ull;
	config.sink = SIFIVE_TRACE_SINK_SBA;
	EXPECT_EQ(-EINVAL, trace_config(self->s.fd, &config));
	config = good;
	config.sink = SIFIVE_TRACE_SINK_SRAM;
	config.buffer = 0;
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SRAM))
		EXPECT_EQ(-EOPNOTSUPP, trace_config(self->s.fd, &config));
	config = good;
	config.prescale = 1;
	if (no_prescaler)
		EXPECT_EQ(-EOPNOTSUPP, trace_config(self->s.fd, &config));
	config = good;
	config.encoders = BIT64(last.encoder.index);
	if (n > 1 && !trace_file_write(online, "0")) {
		EXPECT_EQ(-EOPNOTSUPP, trace_config(self->s.fd, &config));
		EXPECT_EQ(0, trace_file_write(online, "1"));
	}
	ASSERT_EQ(0, trace_status(self->s.fd, &after));
	EXPECT_EQ(before.flags, after.flags);
	EXPECT_EQ(before.bytes, after.bytes);
	EXPECT_EQ(before.capture, after.capture);
	EXPECT_EQ(0, trace_start(self->s.fd, 0));
	trace_store(self->s.page, self->s.reg, 2, 4);
	EXPECT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &self->stream));
	EXPECT_EQ(2, trace_consecutive(&self->stream, NULL, NULL));
}

TRACE_HARNESS_MAIN

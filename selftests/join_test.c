// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that processes can share a session. Each process that the owner admits is assigned
 * separate channels, which are freed however the process ends. Accesses to a process's mappings
 * raise no signal even after the end of the session. No other process can join.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/sifive_trace_join.h>

#include "kselftest_harness.h"
#include "trace_more.h"

#define ALL	(~0u)

FIXTURE(join) {
	struct trace_session s;
	uint32_t kind;
	uint32_t channels;
};

/* Return a mask of the encoder's channels whose messages have timestamps. */
static uint32_t channels_of(const struct sifive_trace_encoder *encoder)
{
	return encoder->flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS ? 0xffff : ALL;
}

static int configure(struct trace_session *s, uint32_t kind)
{
	return trace_session_config(s, kind, kind == SIFIVE_TRACE_SINK_SBA ? 1 << 20 : 0, 0);
}

FIXTURE_SETUP(join)
{
	if (getuid())
		SKIP(return, "needs root for the capabilities");
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	self->kind = trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA) ?
		     SIFIVE_TRACE_SINK_SBA : SIFIVE_TRACE_SINK_SRAM;
	ASSERT_EQ(0, configure(&self->s, self->kind));
	self->channels = channels_of(&self->s.encoder);
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
}

FIXTURE_TEARDOWN(join)
{
	trace_session_close(&self->s);
}

static int join(int fd, int session, uint32_t channels, struct sifive_trace_join *arg)
{
	*arg = TRACE_ARG(sifive_trace_join);
	arg->session = session;
	arg->channels = channels;
	arg->channel = TRACE_CHANNEL;
	return trace_ioctl(fd, SIFIVE_TRACE_IOC_JOIN, arg);
}

/* Join as a new member; return its channel, -1 if no channel is free, or another negative error. */
static int join_new(uint32_t channels, int *fd, struct sifive_trace_join *arg)
{
	int ret;

	*fd = trace_open(O_RDWR);
	if (*fd < 0)
		return *fd;
	ret = join(*fd, -1, channels, arg);
	return ret ? ret : arg->channel;
}

/* A child process, and the pipe through which it reports. */
struct child {
	pid_t pid;
	int from;
};

/* Start a child that reports the result of @fn and, if @stays is set, waits to be killed. */
static struct child run(int (*fn)(const void *arg), const void *arg, bool stays)
{
	struct child child;
	int ends[2], value;

	if (pipe(ends))
		exit(1);
	child.pid = fork();
	child.from = ends[0];
	if (child.pid)
		close(ends[1]);
	if (child.pid)
		return child;
	value = fn(arg);
	if (write(ends[1], &value, sizeof(value)) < 0)
		_exit(1);
	while (stays)
		pause();
	_exit(0);
}

/* Return the result of the child's function, or -1000 if the function did not return. */
static int value_of(struct child child)
{
	int value;

	return read(child.from, &value, sizeof(value)) == sizeof(value) ? value : -1000;
}

static void reap(struct child child, int number)
{
	int status;

	if (number)
		kill(child.pid, number);
	waitpid(child.pid, &status, 0);
	close(child.from);
}

/* Join, map the page and store the channel's number 100 times; return the channel. */
static int store_own(const void *arg)
{
	const struct sifive_trace_encoder *encoder = arg;
	struct sifive_trace_join joined;
	int fd, channel = join_new(channels_of(encoder), &fd, &joined), i;
	void *page;

	if (channel < 0)
		return channel;
	page = trace_map(fd, encoder);
	if (!page)
		return -errno;
	for (i = 0; i < 100; i++)
		trace_store(page, trace_register(encoder, channel), channel, 4);
	return channel;
}

TEST_F(join, children_record_on_separate_channels)
{
	unsigned int counts[32] = {}, i;
	struct trace_stream stream;
	struct child child[3];
	int channel[3];

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	for (i = 0; i < 3; i++) {
		child[i] = run(store_own, &self->s.encoder, true);
		channel[i] = value_of(child[i]);
		ASSERT_LE(0, channel[i]) {
			TH_LOG("%s", trace_message(self->s.fd));
		}
	}
	EXPECT_NE(channel[0], channel[1]);
	EXPECT_NE(channel[0], channel[2]);
	EXPECT_NE(channel[1], channel[2]);
	for (i = 0; i < 3; i++)
		reap(child[i], SIGKILL);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &stream));
	for (i = 0; i < stream.count; i++)
		if (stream.message[i].tcode == TRACE_TCODE_DATA &&
		    stream.message[i].tag / 4 == stream.message[i].value)
			counts[stream.message[i].value % 32]++;
	for (i = 0; i < 3; i++)
		EXPECT_EQ(100, counts[channel[i]]);
	free(stream.message);
}

/*
 * Join one more time than there are channels; return the number of calls that were assigned a
 * channel.
 */
static int take_all(const void *arg)
{
	const uint32_t *channels = arg;
	struct sifive_trace_join joined;
	int fd = trace_open(O_RDWR), count = 0, i, ret;
	uint32_t seen = 0;

	for (i = 0; i < 33; i++) {
		ret = join(fd, -1, *channels, &joined);
		if (ret)
			return ret;
		if (joined.channel < 0)
			continue;
		if (seen >> joined.channel & 1)
			return -1001;
		seen |= 1u << joined.channel;
		count++;
	}
	return count;
}

TEST_F(join, killed_process_releases_channels)
{
	const int all = __builtin_popcount(self->channels);
	int round;

	for (round = 0; round < 3; round++) {
		struct child child = run(take_all, &self->channels, true), late;

		EXPECT_EQ(all, value_of(child));
		late = run(store_own, &self->s.encoder, false);
		EXPECT_EQ(-1, value_of(late));
		reap(late, 0);
		reap(child, SIGKILL);
	}
}

static int used_flag(const void *arg)
{
	struct sifive_trace_join joined;
	int fd, channel = join_new(*(const uint32_t *)arg, &fd, &joined);

	return channel < 0 ? channel : (int)(joined.used << 8 | joined.member);
}

TEST_F(join, channel_used_by_another_process_is_marked)
{
	const uint32_t one = 1u << TRACE_CHANNEL;
	unsigned int i;

	for (i = 1; i <= 3; i++) {
		struct child child = run(used_flag, &one, false);

		EXPECT_EQ((i > 1) << 8 | i, value_of(child));
		reap(child, 0);
	}
	ASSERT_EQ(0, configure(&self->s, self->kind));
	for (i = 1; i <= 2; i++) {
		struct child child = run(used_flag, &one, false);

		EXPECT_EQ((i > 1) << 8 | i, value_of(child));
		reap(child, 0);
	}
}

TEST_F(join, unused_channels_are_assigned_first_and_upwards)
{
	const uint32_t three = 7u << (TRACE_CHANNEL - 1);
	const int order[] = { TRACE_CHANNEL, TRACE_CHANNEL + 1, TRACE_CHANNEL - 1,
			      TRACE_CHANNEL };
	struct sifive_trace_join joined;
	unsigned int i;
	int fd;

	for (i = 0; i < 4; i++) {
		EXPECT_EQ(order[i], join_new(three, &fd, &joined));
		EXPECT_EQ(i == 3, joined.used);
		close(fd);
	}
}

/* A member's channels are freed with its mappings, even if a descriptor keeps its file open. */
TEST_F(join, channels_are_released_with_mappings)
{
	const uint32_t one = 1u << TRACE_CHANNEL;
	struct sifive_trace_join joined;
	int fd, other;
	void *page;

	ASSERT_EQ(TRACE_CHANNEL, join_new(one, &fd, &joined));
	page = trace_map(fd, &self->s.encoder);
	ASSERT_NE(NULL, page);
	EXPECT_EQ(-1, join_new(one, &other, &joined));
	close(other);
	trace_unmap(page);
	EXPECT_EQ(TRACE_CHANNEL, join_new(one, &other, &joined));
	close(other);
	close(fd);
}

TEST_F(join, sampling_and_switch_channels_are_not_assigned)
{
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);
	struct sifive_trace_switches switches = TRACE_ARG(sifive_trace_switches);
	const uint32_t three = 7u << TRACE_CHANNEL;
	struct sifive_trace_join joined;
	int fd;

	sampling.channel = trace_register(&self->s.encoder, TRACE_CHANNEL);
	sampling.interval = 1000000;
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
	switches.channel = trace_register(&self->s.encoder, TRACE_CHANNEL + 1);
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SWITCHES, &switches));
	EXPECT_EQ(TRACE_CHANNEL + 2, join_new(three, &fd, &joined));
	EXPECT_EQ(0, join(fd, -1, three, &joined));
	EXPECT_EQ(-1, joined.channel);
	close(fd);
}

TEST_F(join, kernel_records_cannot_use_member_channel)
{
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);
	struct sifive_trace_switches switches = TRACE_ARG(sifive_trace_switches);
	struct sifive_trace_join joined;
	int fd;

	ASSERT_EQ(TRACE_CHANNEL, join_new(1u << TRACE_CHANNEL, &fd, &joined));
	sampling.channel = trace_register(&self->s.encoder, TRACE_CHANNEL);
	sampling.interval = 1000000;
	EXPECT_EQ(-EBUSY, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "belongs to a process that has joined"));
	switches.channel = sampling.channel;
	EXPECT_EQ(-EBUSY, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SWITCHES, &switches));
	close(fd);
	EXPECT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
}

TEST_F(join, disabled_channels_are_not_assigned)
{
	struct sifive_trace_config config = trace_same_config(&self->s.config);
	struct sifive_trace_join joined;
	int fd;

	config.channels = 1u << trace_register(&self->s.encoder, TRACE_CHANNEL);
	ASSERT_EQ(0, trace_config(self->s.fd, &config));
	EXPECT_EQ(-1, join_new(~config.channels & ~(1u << TRACE_CHANNEL), &fd, &joined));
	EXPECT_EQ(0, join(fd, -1, ALL, &joined));
	EXPECT_EQ(TRACE_CHANNEL, joined.channel);
	EXPECT_EQ(0, join(fd, -1, ALL, &joined));
	EXPECT_EQ(-1, joined.channel);
	close(fd);
}

TEST_F(join, instruction_trace_channels_are_not_assigned)
{
	struct sifive_trace_config config = trace_same_config(&self->s.config);
	struct sifive_trace_join joined;
	int fd;

	if (!self->s.info.instruction_modes)
		SKIP(return, "these encoders trace no instructions");
	config.instruction.mode = __builtin_ctz(self->s.info.instruction_modes);
	config.channels = ~TRACE_OWNERS;
	ASSERT_EQ(0, trace_config(self->s.fd, &config));
	EXPECT_EQ(-1, join_new(TRACE_OWNERS, &fd, &joined));
	close(fd);
}

TEST_F(join, closing_stale_member_keeps_reassigned_channel)
{
	const uint32_t one = 1u << TRACE_CHANNEL, two = 3u << TRACE_CHANNEL;
	struct sifive_trace_join joined;
	int early, late, fd;

	ASSERT_EQ(TRACE_CHANNEL, join_new(one, &early, &joined));
	ASSERT_EQ(0, configure(&self->s, self->kind));
	ASSERT_EQ(TRACE_CHANNEL, join_new(one, &late, &joined));
	ASSERT_EQ(0, join(early, -1, two, &joined));
	EXPECT_EQ(TRACE_CHANNEL + 1, joined.channel);
	close(early);
	EXPECT_EQ(-1, join_new(one, &fd, &joined));
	close(fd);
	close(late);
}

/* ---- admission --------------------------------------------------------------- */

/* Join, with the descriptor in @arg, from a process that init has adopted. */
static int join_as_orphan(const void *arg)
{
	const int *session = arg;
	struct sifive_trace_join joined;
	int fd;

	if (fork())
		_exit(0);
	while (getppid() != 1)
		usleep(1000);
	fd = trace_open(O_RDWR);
	return join(fd, *session, ALL, &joined);
}

static int orphan_joins(int session)
{
	struct child child = run(join_as_orphan, &session, false);
	int value = value_of(child);

	reap(child, 0);
	return value;
}

TEST_F(join, non_descendant_needs_descriptor)
{
	EXPECT_EQ(-EPERM, orphan_joins(-1));
	EXPECT_EQ(0, orphan_joins(self->s.fd));
}

TEST_F(join, member_descriptor_admits_non_descendant)
{
	struct sifive_trace_join joined;
	int fd, other = trace_open(O_RDWR), zero = open("/dev/zero", O_RDWR);

	ASSERT_LE(0, join_new(ALL, &fd, &joined));
	EXPECT_EQ(0, orphan_joins(fd));
	EXPECT_EQ(-EPERM, orphan_joins(other));
	EXPECT_EQ(-EBADF, orphan_joins(zero));
	EXPECT_EQ(-EBADF, orphan_joins(1234));
	close(fd);
	close(other);
	close(zero);
}

/* Join after the parent has ended and the subreaper has adopted this process. */
static int join_as_grandchild(void)
{
	const pid_t parent = getpid();
	struct sifive_trace_join joined;
	int fd;

	if (fork())
		_exit(0);
	while (getppid() == parent)
		usleep(1000);
	fd = trace_open(O_RDWR);
	return join(fd, -1, ALL, &joined);
}

TEST_F(join, orphans_of_subreaper_are_its_descendants)
{
	pid_t child;
	int status;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = fork();
	if (!child)
		_exit(join_as_grandchild() ? 1 : 42);
	EXPECT_EQ(0, trace_wait(child));
	EXPECT_LT(0, waitpid(-1, &status, 0));
	EXPECT_EQ(42, WEXITSTATUS(status));
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static int join_without_capability(const void *unused)
{
	struct sifive_trace_join joined;
	int fd = trace_open(O_RDWR);

	return trace_keep_caps(0) ? -1002 : join(fd, -1, ALL, &joined);
}

/* Return a child's ids in a new pid namespace, as the driver reports them. */
static int join_in_namespace(uint32_t *ids)
{
	struct sifive_trace_thread thread = TRACE_ARG(sifive_trace_thread);
	struct sifive_trace_join joined;
	int fd = trace_open(O_RDWR), ret = join(fd, -1, ALL, &joined);

	if (ret)
		return ret;
	ids[0] = joined.process;
	ids[1] = joined.parent;
	ret = trace_ioctl(fd, SIFIVE_TRACE_IOC_THREAD, &thread);
	ids[2] = thread.id;
	return ret || getpid() != 1;
}

TEST_F(join, ids_are_those_in_namespace_of_session)
{
	uint32_t *ids = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	ASSERT_NE(MAP_FAILED, ids);
	if (access("/proc/self/ns/pid", F_OK))
		SKIP(return, "this kernel has no pid namespaces");
	ASSERT_EQ(0, unshare(CLONE_NEWPID)) {
		TH_LOG("a new pid namespace: %s", strerror(errno));
	}
	child = fork();
	if (!child)
		_exit(join_in_namespace(ids) != 0);
	EXPECT_EQ(0, trace_wait(child));
	EXPECT_EQ(child, ids[0]);
	EXPECT_EQ(getpid(), ids[1]);
	EXPECT_EQ(child, ids[2]);
}

TEST_F(join, process_without_capability_is_refused)
{
	struct child child = run(join_without_capability, NULL, false);

	EXPECT_EQ(-EPERM, value_of(child));
	reap(child, 0);
}

TEST_F(join, invalid_calls_are_refused)
{
	struct sifive_trace_join joined;
	int fd = trace_open(O_RDWR), reader = trace_open(O_RDONLY);

	EXPECT_EQ(-EINVAL, join(self->s.fd, -1, ALL, &joined));
	EXPECT_EQ(-EACCES, join(reader, -1, ALL, &joined));
	joined = TRACE_ARG(sifive_trace_join);
	joined.session = -1;
	joined.flags = 1;
	EXPECT_EQ(-EINVAL, trace_ioctl(fd, SIFIVE_TRACE_IOC_JOIN, &joined));
	joined.flags = 0;
	joined.channel = 32;
	EXPECT_EQ(-EINVAL, trace_ioctl(fd, SIFIVE_TRACE_IOC_JOIN, &joined));
	joined.channel = -1;
	EXPECT_EQ(-EINVAL, trace_ioctl(fd, SIFIVE_TRACE_IOC_JOIN, &joined));
	EXPECT_EQ(NULL, trace_map(fd, &self->s.encoder));
	EXPECT_EQ(ENXIO, errno);
	trace_session_close(&self->s);
	EXPECT_EQ(-ENXIO, join(fd, -1, ALL, &joined));
	close(fd);
	close(reader);
}

/* ---- rights of a member ------------------------------------------------------- */

TEST_F(join, member_cannot_start_or_configure)
{
	struct sifive_trace_config config = trace_same_config(&self->s.config);
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_join joined;
	int fd;

	ASSERT_LE(0, join_new(ALL, &fd, &joined));
	EXPECT_EQ(-ENXIO, trace_start(fd, 0));
	EXPECT_EQ(-ENXIO, trace_stop(fd));
	EXPECT_EQ(-EBUSY, trace_config(fd, &config));
	EXPECT_EQ(-ENXIO, trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	close(fd);
}

static unsigned long read_cycle(void)
{
	unsigned long value;

	asm volatile("rdcycle %0" : "=r"(value));
	return value;
}

static void try_cycle(void *unused)
{
	read_cycle();
}

/*
 * Return 256 times the signal that reading a counter raises before THREAD, plus the signal that it
 * raises after THREAD.
 */
static int read_counters(const void *unused)
{
	struct sifive_trace_thread thread = TRACE_ARG(sifive_trace_thread);
	struct sifive_trace_join joined;
	int fd, before, ret;

	if (join_new(ALL, &fd, &joined) < 0)
		return -1003;
	if (joined.count != 1 || joined.event[0].counter || joined.event[0].code != 1)
		return -1004;
	before = trace_signal_of(try_cycle, NULL);
	/* After joining, a process needs no privileges. */
	if (trace_keep_caps(0))
		return -1005;
	ret = trace_ioctl(fd, SIFIVE_TRACE_IOC_THREAD, &thread);
	return ret ? ret : before << 8 | trace_signal_of(try_cycle, NULL);
}

TEST_F(join, member_threads_read_session_counters)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct child child;

	counters.count = 1;
	counters.event[0].code = 1;
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters)) {
		TH_LOG("%s", trace_message(self->s.fd));
	}
	child = run(read_counters, NULL, false);
	EXPECT_EQ(SIGILL << 8, value_of(child));
	reap(child, 0);
}

static void store_mapped(void *page)
{
	trace_store(page, 0, 1, 4);
}

TEST_F(join, stores_after_session_end_are_discarded)
{
	struct sifive_trace_join joined;
	struct trace_stream stream;
	volatile uint32_t *losses;
	void *page;
	int fd;

	ASSERT_LE(0, join_new(ALL, &fd, &joined));
	page = trace_map(fd, &self->s.encoder);
	losses = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      SIFIVE_TRACE_MMAP_LOSSES);
	ASSERT_NE(NULL, page);
	ASSERT_NE(MAP_FAILED, losses);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	store_mapped(page);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &stream));
	free(stream.message);
	trace_session_close(&self->s);
	EXPECT_EQ(0, trace_signal_of(store_mapped, page));
	losses[2]++;
	/* A load from the page must indicate room for a store. */
	EXPECT_NE(0, *(volatile uint32_t *)((char *)page + TR_ITC_STIMULUS));
	/*
	 * The byte for the sink must indicate room, so that records neither wait nor are dropped.
	 */
	EXPECT_EQ(0, ((volatile uint8_t *)losses)[SIFIVE_TRACE_FULL_BYTES +
						  self->s.encoder.index]);
	EXPECT_EQ(-ENXIO, join(fd, -1, ALL, &joined));

	/* The records do not reach another session. */
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	ASSERT_EQ(0, configure(&self->s, self->kind));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	EXPECT_EQ(0, trace_signal_of(store_mapped, page));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &stream));
	EXPECT_EQ(0, trace_consecutive(&stream, NULL, NULL));
	free(stream.message);
	EXPECT_EQ(NULL, trace_map(fd, &self->s.encoder));
	trace_unmap(page);
	close(fd);
}

/* Make 100 stores to a mapped page; return how many are in the capture of @fd's session. */
static size_t store_and_count(struct trace_session *s, int fd, void *page)
{
	struct trace_stream stream;
	size_t count;
	int i;

	if (trace_start(fd, 0))
		return 0;
	for (i = 0; i < 100; i++)
		trace_store(page, s->reg, i, 4);
	if (trace_stop(fd) || trace_collect(fd, s->encoder.src_bits, &stream))
		return 0;
	count = trace_consecutive(&stream, NULL, NULL);
	free(stream.message);
	return count;
}

TEST_F(join, stale_page_records_in_next_session_of_its_file)
{
	struct sifive_trace_config config;
	struct sifive_trace_join joined;
	void *page;
	int fd;

	ASSERT_LE(0, join_new(ALL, &fd, &joined));
	page = trace_map(fd, &self->s.encoder);
	ASSERT_NE(NULL, page);
	ASSERT_EQ(0, configure(&self->s, self->kind));
	EXPECT_EQ(0, trace_signal_of(store_mapped, page));
	ASSERT_EQ(0, join(fd, -1, ALL, &joined));
	EXPECT_EQ(100, store_and_count(&self->s, self->s.fd, page));
	config = trace_same_config(&self->s.config);
	trace_session_close(&self->s);
	EXPECT_EQ(0, trace_signal_of(store_mapped, page));
	ASSERT_EQ(0, trace_config(fd, &config));
	EXPECT_EQ(100, store_and_count(&self->s, fd, page));
	trace_unmap(page);
	close(fd);
}

TEST_F(join, many_short_processes_leak_no_channel)
{
	const int count = trace_repeat(1000);
	int i, channel;

	for (i = 0; i < count; i++) {
		struct child child = run(store_own, &self->s.encoder, i % 2);

		channel = value_of(child);
		EXPECT_LE(0, channel);
		reap(child, i % 2 ? SIGKILL : 0);
		if (channel < 0)
			break;
	}
	EXPECT_EQ(count, i);
}

TRACE_HARNESS_MAIN

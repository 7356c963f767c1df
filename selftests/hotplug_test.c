// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that a CPU can go offline during a session: its stream ends with a complete message, the
 * end of the stream is reported, and the other streams continue. When the CPU is online again, its
 * stream and sampling resume, and its counters continue from their last values. These steps must
 * also work when they are repeated, and while threads race with them.
 *
 * TRACE_SECONDS: duration of the threads' race in seconds (default 2).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_monitor.h"
#include "trace_more.h"

#define BUFFER	0x100000
#define MAX_CPU	64
#define CSRS	32

FIXTURE(hotplug) {
	int fd;
	struct sifive_trace_info info;
	struct sifive_trace_config config;
	struct trace_session each[MAX_CPU];	/* sessions with the page of each encoder */
	struct trace_writer writer[MAX_CPU];
	uint32_t leaver;			/* encoder whose CPU goes offline */
	char online[64];
};

static int set_online(struct _test_data_hotplug *self, bool on)
{
	return trace_file_write(self->online, on ? "1" : "0");
}

static bool has_sink(const struct _test_data_hotplug *self, uint32_t sink)
{
	return self->info.sinks_available & BIT64(sink);
}

static void configure_sink(struct __test_metadata *_metadata,
			   struct _test_data_hotplug *self, uint32_t sink, uint32_t flags)
{
	uint32_t i;

	self->config = TRACE_ARG(sifive_trace_config);
	self->config.sink = sink;
	self->config.buffer = sink == SIFIVE_TRACE_SINK_SBA ? BUFFER : 0;
	self->config.flags = flags;
	self->config.channels = ~0u;
	ASSERT_EQ(0, trace_config(self->fd, &self->config));
	for (i = 0; i < self->info.encoders; i++) {
		struct trace_session *s = &self->each[i];

		if (s->page)
			trace_unmap(s->page);
		s->page = NULL;
		ASSERT_EQ(0, trace_encoder(self->fd, i, &s->encoder));
		s->reg = trace_register(&s->encoder, TRACE_CHANNEL);
		if (!(self->config.encoders & BIT64(i)))
			continue;
		s->page = trace_map(self->fd, &s->encoder);
		ASSERT_NE(NULL, s->page);
	}
}

static void configure(struct __test_metadata *_metadata, struct _test_data_hotplug *self,
		      uint32_t flags)
{
	configure_sink(_metadata, self, has_sink(self, SIFIVE_TRACE_SINK_SBA) ?
		       SIFIVE_TRACE_SINK_SBA : SIFIVE_TRACE_SINK_SRAM, flags);
}

/* End the session. The mappings must be removed, too, because they hold references to it. */
static void close_all(struct _test_data_hotplug *self)
{
	uint32_t i;

	close(self->fd);
	for (i = 0; i < self->info.encoders; i++)
		trace_unmap(self->each[i].page);
	memset(self->each, 0, sizeof(self->each));
}

FIXTURE_SETUP(hotplug)
{
	uint32_t i;

	if (getuid())
		SKIP(return, "needs root");
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	self->leaver = ~0u;
	for (i = 0; i < self->info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->fd, i, &self->each[i].encoder));
		if (self->each[i].encoder.cpu > 0)
			self->leaver = i;
	}
	if (self->leaver == ~0u)
		SKIP(return, "needs a second CPU with an encoder");
	snprintf(self->online, sizeof(self->online),
		 "/sys/devices/system/cpu/cpu%d/online",
		 self->each[self->leaver].encoder.cpu);
	if (access(self->online, W_OK))
		SKIP(return, "this kernel cannot take CPUs offline");
	ASSERT_EQ(0, trace_pin(0));
	configure(_metadata, self, 0);
}

FIXTURE_TEARDOWN(hotplug)
{
	set_online(self, true);
	close(self->fd);
}

/* Number of stores whose messages fit into the buffer. */
#define FEW	1000

static void start_writers(struct __test_metadata *_metadata,
			  struct _test_data_hotplug *self)
{
	uint32_t i;

	for (i = 0; i < self->info.encoders; i++)
		if (self->each[i].page)
			ASSERT_EQ(0, trace_writer_start(&self->writer[i],
							&self->each[i], FEW));
}

static void limit_writers(struct _test_data_hotplug *self, uint32_t limit)
{
	uint32_t i;

	for (i = 0; i < self->info.encoders; i++)
		__atomic_store_n(&self->writer[i].limit, limit, __ATOMIC_RELAXED);
}

/* Wait until each writer has stored the value @least, which is below the writer's limit. */
static void wait_writers(struct _test_data_hotplug *self, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < self->info.encoders; i++)
		while (self->each[i].page &&
		       __atomic_load_n(&self->writer[i].next, __ATOMIC_ACQUIRE) < count)
			usleep(1000);
}

/**
 * struct seen - summary of one encoder's messages
 * @data:	number of stores, whose values are consecutive from 0
 * @ons:	number of synchronisations at the beginning
 * @offs:	number of synchronisations at the end; no message follows the last one
 */
struct seen {
	uint32_t data;
	unsigned int ons;
	unsigned int offs;
};

/* Summarise an encoder's messages in its sink. All of these messages must be decodable. */
static void look(struct __test_metadata *_metadata, struct _test_data_hotplug *self,
		 uint32_t index, struct seen *seen)
{
	struct sifive_trace_encoder *e = &self->each[index].encoder;
	struct trace_stream stream;
	struct sifive_trace_sink sink;
	uint8_t *bytes;
	size_t i;

	*seen = (struct seen){ 0 };
	ASSERT_EQ(0, trace_encoder(self->fd, index, e));
	ASSERT_EQ(0, trace_sink(self->fd, e->sink, &sink));
	ASSERT_LE(0, trace_read_all(self->fd, &bytes));
	ASSERT_EQ(0, trace_decode(bytes + sink.offset, sink.bytes, sink.src_bits,
				  &stream));
	EXPECT_EQ(0, stream.cut);
	for (i = 0; i < stream.count; i++) {
		const struct trace_message *m = &stream.message[i];

		if (e->src_bits && m->src != e->src)
			continue;
		if (m->tcode == TRACE_TCODE_SYNC) {
			seen->ons += m->value == TRACE_VALUE_ON;
			seen->offs += m->value == TRACE_VALUE_OFF;
			continue;
		}
		ASSERT_EQ(TRACE_TCODE_DATA, m->tcode);
		ASSERT_EQ(seen->ons, seen->offs + 1);
		ASSERT_EQ(seen->data, m->value);
		seen->data++;
	}
	free(stream.message);
	free(bytes);
}

TEST_F(hotplug, stream_ends_complete_and_others_continue)
{
	struct sifive_trace_status status;
	struct seen seen;
	uint32_t i, stored, at_end;

	/* SRAM is too small for the stores. */
	if (!has_sink(self, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, trace_start(self->fd, 0));
	start_writers(_metadata, self);
	wait_writers(self, 100);
	ASSERT_EQ(0, set_online(self, false));
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(BIT64(self->leaver), status.ended);
	EXPECT_NE(0, status.flags & SIFIVE_TRACE_STATUS_RUNNING);
	at_end = __atomic_load_n(&self->writer[self->leaver].next, __ATOMIC_ACQUIRE);
	/* Raise the limit beyond the last store by any writer. */
	limit_writers(self, 2 * FEW);
	wait_writers(self, FEW + 100);
	for (i = 0; i < self->info.encoders; i++)
		if (self->each[i].page)
			trace_writer_stop(&self->writer[i]);
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_flags(self->fd) & SIFIVE_TRACE_STATUS_FULL);

	for (i = 0; i < self->info.encoders; i++) {
		if (!self->each[i].page)
			continue;
		look(_metadata, self, i, &seen);
		EXPECT_EQ(1, seen.ons);
		EXPECT_EQ(1, seen.offs);
		stored = self->writer[i].next;
		EXPECT_EQ(i == self->leaver, !!(self->each[i].encoder.flags &
						SIFIVE_TRACE_ENCODER_ENDED));
		if (i != self->leaver) {
			EXPECT_EQ(stored, seen.data);
			continue;
		}
		/*
		 * The writer of this encoder runs on another CPU, and its stores produce no
		 * messages.
		 */
		EXPECT_LE(100, seen.data);
		/* The writer may not have counted its last store yet. */
		EXPECT_GE(at_end + 1, seen.data);
		EXPECT_GT(stored, seen.data);
	}
}

TEST_F(hotplug, stream_continues_when_cpu_is_online_again)
{
	struct trace_session *leaver = &self->each[self->leaver];
	struct sifive_trace_status status;
	struct seen seen;

	ASSERT_EQ(0, trace_start(self->fd, 0));
	trace_store(leaver->page, leaver->reg, 0, 4);
	ASSERT_EQ(0, set_online(self, false));
	/* Store from another CPU, to a stream that has ended. */
	trace_store(leaver->page, leaver->reg, 1, 4);
	ASSERT_EQ(0, set_online(self, true));
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(0, status.ended);
	trace_store(leaver->page, leaver->reg, 1, 4);
	ASSERT_EQ(0, trace_stop(self->fd));
	look(_metadata, self, self->leaver, &seen);
	EXPECT_EQ(0, self->each[self->leaver].encoder.flags &
		     SIFIVE_TRACE_ENCODER_ENDED);
	EXPECT_EQ(2, seen.data);
	EXPECT_EQ(2, seen.ons);
	EXPECT_EQ(2, seen.offs);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	trace_store(leaver->page, leaver->reg, 2, 4);
	ASSERT_EQ(0, trace_stop(self->fd));
	look(_metadata, self, self->leaver, &seen);
	EXPECT_EQ(3, seen.data);
	EXPECT_EQ(3, seen.ons);
}

/* Captured data is preserved even if an encoder with its own sink loses its registers. */
static void lose_registers(struct __test_metadata *_metadata,
			   struct _test_data_hotplug *self, uint32_t sink, uint32_t flags)
{
	struct trace_session *leaver = &self->each[self->leaver];
	struct sifive_trace_status status;
	struct seen seen;
	int i;

	configure_sink(_metadata, self, sink, flags);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (i = 0; i < 3; i++)
		trace_store(leaver->page, leaver->reg, (uint32_t)i, 4);
	ASSERT_EQ(0, set_online(self, false));
	/*
	 * Clearing te_control, the first register, makes the encoder inactive and resets all other
	 * registers.
	 */
	*(volatile uint32_t *)leaver->page = 0;
	ASSERT_EQ(0, set_online(self, true));
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(BIT64(self->leaver), status.ended);
	EXPECT_NE(NULL, strstr(trace_message(self->fd), "lost its registers"));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, trace_stop(self->fd));
		look(_metadata, self, self->leaver, &seen);
		EXPECT_EQ(3, seen.data);
		EXPECT_EQ(1, seen.ons);
		EXPECT_EQ(1, seen.offs);
		ASSERT_EQ(0, trace_start(self->fd, 0));
	}
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
	ASSERT_EQ(0, trace_stop(self->fd));
	look(_metadata, self, self->leaver, &seen);
	EXPECT_EQ(0, seen.ons);
}

TEST_F(hotplug, register_loss_preserves_buffer)
{
	if (!has_sink(self, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	lose_registers(_metadata, self, SIFIVE_TRACE_SINK_SBA, 0);
	lose_registers(_metadata, self, SIFIVE_TRACE_SINK_SBA, SIFIVE_TRACE_CONFIG_RING);
}

TEST_F(hotplug, register_loss_preserves_sram)
{
	if (!has_sink(self, SIFIVE_TRACE_SINK_SRAM))
		SKIP(return, "this board has no SRAM sink");
	lose_registers(_metadata, self, SIFIVE_TRACE_SINK_SRAM, 0);
}

/* After a rewind, the sink holds only the data stored since. */
TEST_F(hotplug, capture_can_be_rewound_while_cpu_is_offline)
{
	struct trace_session *leaver = &self->each[self->leaver];
	struct seen seen;

	ASSERT_EQ(0, trace_start(self->fd, 0));
	trace_store(leaver->page, leaver->reg, 7, 4);
	ASSERT_EQ(0, set_online(self, false));
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
	ASSERT_EQ(0, set_online(self, true));
	trace_store(leaver->page, leaver->reg, 0, 4);
	ASSERT_EQ(0, trace_stop(self->fd));
	look(_metadata, self, self->leaver, &seen);
	EXPECT_EQ(1, seen.data);
	EXPECT_EQ(1, seen.ons);
	EXPECT_EQ(1, seen.offs);
}

/* Switch the encoder's power. The model's name for the encoder contains the encoder's address. */
static void set_power(struct _test_data_hotplug *self, bool on)
{
	const char *name = self->each[self->leaver].encoder.name;
	unsigned long address = strtoul(strchr(name, '@') + 1, NULL, 16);
	char id[16];

	snprintf(id, sizeof(id), "te%lu", address >> 12 & 0xf);
	monitor_set(id, "fault-no-power", !on);
}

/* Use a test sleep, which merely freezes all programs and then resumes without a wake-up event. */
static void sleep_briefly(void)
{
	if (trace_file_write("/sys/power/pm_test", "freezer"))
		return;
	trace_file_write("/sys/module/suspend/parameters/pm_test_delay", "0");
	trace_file_write("/sys/power/state", "freeze");
	trace_file_write("/sys/power/pm_test", "none");
}

/* An access to the registers of an unpowered encoder would cause a fault in the kernel. */
TEST_F(hotplug, unpowered_encoder_is_not_accessed)
{
	struct trace_session *leaver = &self->each[self->leaver];
	struct sifive_trace_status status;
	char path[128], text[16];
	struct seen seen;

	if (!monitor_open())
		SKIP(return, "needs the device model's monitor (board run --monitor)");
	ASSERT_EQ(0, trace_start(self->fd, 0));
	trace_store(leaver->page, leaver->reg, 0, 4);
	ASSERT_EQ(0, set_online(self, false));
	set_power(self, false);
	EXPECT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(BIT64(self->leaver), status.ended);
	sleep_briefly();
	EXPECT_EQ(0, trace_stop(self->fd));
	look(_metadata, self, self->leaver, &seen);
	EXPECT_EQ(1, seen.data);
	EXPECT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
	snprintf(path, sizeof(path), "/sys/kernel/debug/sifive-trace/%s",
		 leaver->encoder.name);
	if (!access(path, R_OK))
		EXPECT_EQ(-ENODEV, trace_file_read(path, text, sizeof(text)));
	close_all(self);
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	configure(_metadata, self, 0);
	EXPECT_EQ(0, self->config.encoders & BIT64(self->leaver));
	set_power(self, true);
	ASSERT_EQ(0, set_online(self, true));
	configure(_metadata, self, 0);
	EXPECT_NE(0, self->config.encoders & BIT64(self->leaver));
}

TEST_F(hotplug, offline_cpu_cannot_be_selected)
{
	struct sifive_trace_config config = trace_same_config(&self->config);

	ASSERT_EQ(0, set_online(self, false));
	config.encoders = BIT64(self->leaver);
	EXPECT_EQ(-EOPNOTSUPP, trace_config(self->fd, &config));
	EXPECT_NE(NULL, strstr(trace_message(self->fd),
			       self->each[self->leaver].encoder.name));
	configure(_metadata, self, 0);
	EXPECT_EQ(0, self->config.encoders & BIT64(self->leaver));
	EXPECT_NE(0, self->config.encoders);
	ASSERT_EQ(0, set_online(self, true));
	configure(_metadata, self, 0);
	EXPECT_NE(0, self->config.encoders & BIT64(self->leaver));
}

TEST_F(hotplug, encoder_remains_stopped_across_hotplug_cycles)
{
	struct sifive_trace_status status;
	struct seen seen;
	uint32_t round, i;

	for (round = 0; round < 5; round++) {
		ASSERT_EQ(0, set_online(self, false));
		ASSERT_EQ(0, trace_status(self->fd, &status));
		EXPECT_EQ(BIT64(self->leaver), status.ended);
		ASSERT_EQ(0, trace_start(self->fd, 0));
		for (i = 0; i < self->info.encoders; i++)
			trace_store(self->each[i].page, self->each[i].reg, 0, 4);
		ASSERT_EQ(0, trace_stop(self->fd));
		look(_metadata, self, self->leaver, &seen);
		EXPECT_EQ(0, seen.data);
		EXPECT_EQ(0, seen.ons);
		/*
		 * The encoder is stopped when its CPU goes offline, and remains stopped when the
		 * CPU is online again.
		 */
		ASSERT_EQ(0, set_online(self, true));
		ASSERT_EQ(0, trace_status(self->fd, &status));
		EXPECT_EQ(0, status.ended);
		trace_store(self->each[self->leaver].page,
			    self->each[self->leaver].reg, 0, 4);
		look(_metadata, self, self->leaver, &seen);
		EXPECT_EQ(0, seen.data);
		ASSERT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
		trace_store(self->each[self->leaver].page,
			    self->each[self->leaver].reg, 0, 4);
		ASSERT_EQ(0, trace_stop(self->fd));
		look(_metadata, self, self->leaver, &seen);
		EXPECT_EQ(1, seen.data);
		EXPECT_EQ(1, seen.ons);
		configure(_metadata, self, round % 2 ? 0 : SIFIVE_TRACE_CONFIG_RING);
	}
}

static int take_counters(struct _test_data_hotplug *self, uint32_t flags,
			 uint32_t *mask)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	int ret;

	counters.flags = flags;
	counters.count = 2;
	counters.event[0].code = 1;
	counters.event[1].code = 2;
	ret = trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &counters);
	*mask = counters.mask;
	return ret;
}

/* More than any counter counts in one second. */
#define A_SECOND	4000000000ull

/* Expect each counter in a mask to have advanced, by at most a minute's count. */
static void counters_continue(struct __test_metadata *_metadata, uint32_t mask, uint64_t *last)
{
	unsigned int n;
	uint64_t now;

	for (; mask; mask &= mask - 1) {
		n = (unsigned int)__builtin_ctz(mask);
		trace_spin(100000);
		now = trace_counter(n);
		EXPECT_LE(last[n] + 1000, now);
		/* perf chooses the start value. */
		EXPECT_TRUE(!last[n] || now <= last[n] + 60 * A_SECOND);
		last[n] = now;
	}
}

TEST_F(hotplug, counters_continue_from_last_value)
{
	const int leaver = self->each[self->leaver].encoder.cpu;
	struct sifive_trace_status status;
	uint64_t last[CSRS] = { 0 };
	uint32_t mask;
	int ret, round;

	ret = take_counters(self, 0, &mask);
	if (ret == -EOPNOTSUPP)
		SKIP(return, "%s", trace_message(self->fd));
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	ASSERT_EQ(0, trace_pin(leaver));
	counters_continue(_metadata, mask, last);
	for (round = 0; round < 5; round++) {
		ASSERT_EQ(0, trace_pin(0));
		ASSERT_EQ(0, set_online(self, false));
		ASSERT_EQ(0, trace_status(self->fd, &status));
		EXPECT_EQ(0, status.counters_lost);
		ASSERT_EQ(0, set_online(self, true));
		ASSERT_EQ(0, trace_pin(leaver));
		counters_continue(_metadata, mask, last);
		ASSERT_EQ(0, trace_status(self->fd, &status));
		EXPECT_EQ(0, status.counters_lost);
	}
	ASSERT_EQ(0, trace_stop(self->fd));
}

/* Return the signal that an unrelated process receives when it reads a counter. */
static int signal_of_another(void)
{
	pid_t child = fork();

	if (!child)
		_exit(trace_signal_of_counter(COUNTER_CYCLE));
	return trace_wait(child);
}

/*
 * No other process can read the counters of a CPU that came online during the session. The counters
 * are released when the session ends.
 */
TEST_F(hotplug, counters_of_onlined_cpu_belong_to_session)
{
	const int leaver = self->each[self->leaver].encoder.cpu;
	uint64_t last[CSRS] = { 0 };
	uint32_t mask;
	int ret;

	/* Take the counters while this CPU is offline. */
	ASSERT_EQ(0, set_online(self, false));
	ret = take_counters(self, 0, &mask);
	if (ret == -EOPNOTSUPP)
		SKIP(return, "%s", trace_message(self->fd));
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, set_online(self, true));
	ASSERT_EQ(0, trace_pin(leaver));
	EXPECT_EQ(SIGILL, signal_of_another());
	counters_continue(_metadata, mask, last);
	close_all(self);
	EXPECT_EQ(SIGILL, trace_signal_of_counter(COUNTER_CYCLE));
	self->fd = trace_open(O_RDWR);
	configure(_metadata, self, 0);
	ASSERT_EQ(0, take_counters(self, 0, &mask));
}

TEST_F(hotplug, thread_counts_follow_thread)
{
	const int leaver = self->each[self->leaver].encoder.cpu;
	const struct sifive_trace_slot *slot;
	uint64_t before, after;
	uint32_t mask;
	int ret;

	ret = take_counters(self, SIFIVE_TRACE_COUNTERS_PER_THREAD, &mask);
	if (ret == -EOPNOTSUPP)
		SKIP(return, "%s", trace_message(self->fd));
	ASSERT_EQ(0, ret);
	slot = trace_own_slot(self->fd);
	ASSERT_NE(NULL, slot);
	ASSERT_EQ(0, trace_pin(leaver));
	trace_spin(1000000);
	before = trace_own_count(slot, COUNTER_INSTRET);
	ASSERT_EQ(0, set_online(self, false));
	after = trace_own_count(slot, COUNTER_INSTRET);
	EXPECT_LT(before, after);
	ASSERT_EQ(0, set_online(self, true));
	ASSERT_EQ(0, trace_pin(leaver));
	before = trace_own_count(slot, COUNTER_INSTRET);
	EXPECT_LT(after, before);
	ASSERT_EQ(0, trace_pin(0));
	EXPECT_LT(before, trace_own_count(slot, COUNTER_INSTRET));
}

static void sampling_continues(struct __test_metadata *_metadata,
			       struct _test_data_hotplug *self, uint32_t flags)
{
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);
	const int leaver = self->each[self->leaver].encoder.cpu;
	struct sifive_trace_status status;
	int round;

	sampling.channel = self->each[self->leaver].reg;
	sampling.interval = 1000000;
	sampling.flags = flags;
	ASSERT_EQ(0, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
	ASSERT_EQ(0, trace_pin(leaver));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	EXPECT_TRUE(trace_samples(self->fd));
	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, set_online(self, false));
		EXPECT_TRUE(trace_samples(self->fd));
		ASSERT_EQ(0, set_online(self, true));
		ASSERT_EQ(0, trace_pin(leaver));
		EXPECT_TRUE(trace_samples(self->fd));
	}
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(0, status.samples_lost);
}

TEST_F(hotplug, sampling_of_threads_continues)
{
	sampling_continues(_metadata, self, 0);
}

TEST_F(hotplug, sampling_of_cpus_continues)
{
	sampling_continues(_metadata, self, SIFIVE_TRACE_SAMPLING_ALL);
}

/* perf loses a CPU's events when the CPU goes offline, even while the capture is paused. */
TEST_F(hotplug, sampling_continues_after_pause)
{
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);
	const int leaver = self->each[self->leaver].encoder.cpu;
	uint32_t mask;

	if (!has_sink(self, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	/* Per-thread counts also need events on each CPU. */
	take_counters(self, SIFIVE_TRACE_COUNTERS_PER_THREAD, &mask);
	sampling.channel = self->each[self->leaver].reg;
	sampling.interval = 1000000;
	sampling.flags = SIFIVE_TRACE_SAMPLING_ALL;
	ASSERT_EQ(0, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	ASSERT_EQ(0, trace_pin(leaver));
	EXPECT_TRUE(trace_samples(self->fd));
	ASSERT_EQ(0, trace_pin(0));
	ASSERT_EQ(0, trace_pause(self->fd));
	ASSERT_EQ(0, set_online(self, false));
	ASSERT_EQ(0, set_online(self, true));
	ASSERT_EQ(0, trace_unpause(self->fd));
	ASSERT_EQ(0, trace_pin(leaver));
	EXPECT_TRUE(trace_samples(self->fd));
}

/* ---- with racing threads ------------------------------------------------- */

static double race_end;

static void *race(void *arg)
{
	struct _test_data_hotplug *self = arg;
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config;
	struct sifive_trace_status status;
	char bytes[2000];
	void *page;
	int fd;

	counters.count = 1;
	counters.event[0].code = 1;
	while (trace_clock() < race_end) {
		fd = trace_open(O_RDWR);
		config = self->config;
		config.encoders = 0;
		if (!trace_config(fd, &config)) {
			trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters);
			page = trace_map(fd, &self->each[0].encoder);
			trace_start(fd, 0);
			if (page) {
				trace_store(page, self->each[0].reg, 1, 4);
				trace_unmap(page);
			}
		}
		trace_status(fd, &status);
		pread(fd, bytes, sizeof(bytes), 0);
		close(fd);
	}
	return NULL;
}

TEST_F_TIMEOUT(hotplug, survives_racing_threads, 3600)
{
	unsigned int rounds = 0;
	pthread_t thread[3];
	int i;

	close_all(self);
	race_end = trace_clock() + (double)trace_setting("TRACE_SECONDS", 2);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, race, self));
	while (trace_clock() < race_end || rounds < 2) {
		ASSERT_EQ(0, set_online(self, false));
		usleep(2000);
		ASSERT_EQ(0, set_online(self, true));
		usleep(5000);
		rounds++;
	}
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	TH_LOG("%u times", rounds);
	self->fd = trace_open(O_RDWR);
	configure(_metadata, self, 0);
	EXPECT_NE(0, self->config.encoders & BIT64(self->leaver));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	ASSERT_EQ(0, trace_stop(self->fd));
}

TRACE_HARNESS_MAIN

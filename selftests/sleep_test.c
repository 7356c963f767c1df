// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the effects of system sleep on a capture. A capture in system memory continues on resume,
 * and keeps all data from before and after sleep. A capture in SRAM remains stopped and keeps its
 * data, and START fails with ESTALE unless it rewinds. Counts never decrease, and sampling
 * continues.
 *
 * The kernel's pm_test wakes the machine immediately. TRACE_SLEEP is the depth, a value that
 * /sys/power/pm_test lists. Every machine survives the default, "freezer"; deeper levels need
 * drivers that support them, in particular for the disk. "processors" takes all CPUs but one
 * offline, and then online again.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"

#define PM_TEST		"/sys/power/pm_test"
#define STATE		"/sys/power/state"
#define DELAY		"/sys/module/suspend/parameters/pm_test_delay"

FIXTURE(sleep) {
	struct trace_session s;
	struct trace_session other;
	struct trace_stream stream;
	char delay[16];
};

FIXTURE_VARIANT(sleep) {
	uint32_t sink;
	uint64_t buffer;
	uint32_t flags;
};

FIXTURE_VARIANT_ADD(sleep, sba) {
	.sink = SIFIVE_TRACE_SINK_SBA, .buffer = 65536,
};

FIXTURE_VARIANT_ADD(sleep, sba_ring) {
	.sink = SIFIVE_TRACE_SINK_SBA, .buffer = 65536,
	.flags = SIFIVE_TRACE_CONFIG_RING,
};

FIXTURE_VARIANT_ADD(sleep, sram) {
	.sink = SIFIVE_TRACE_SINK_SRAM,
};

static const char *depth(void)
{
	const char *wanted = getenv("TRACE_SLEEP");

	return wanted ? wanted : "freezer";
}

static bool lists(const char *path, const char *word)
{
	char text[128];

	return trace_file_read(path, text, sizeof(text)) > 0 && strstr(text, word);
}

/*
 * Return whether sleep means s2idle, as is the case if firmware does not support suspend. s2idle
 * only idles the CPUs.
 */
static bool only_idles(void)
{
	return !lists("/sys/power/mem_sleep", "deep");
}

static const char *state(void)
{
	return only_idles() ? "freeze" : "mem";
}

FIXTURE_SETUP(sleep)
{
	if (getuid())
		SKIP(return, "needs root");
	if (!lists(STATE, state()))
		SKIP(return, "this kernel cannot sleep");
	if (!lists(PM_TEST, depth()))
		SKIP(return, "this kernel cannot test sleep (CONFIG_PM_DEBUG)");
	/* The kernel would ignore the test depth and never wake. */
	if (only_idles() && (!strcmp(depth(), "processors") ||
			     !strcmp(depth(), "core")))
		SKIP(return, "this machine's sleep leaves all CPUs online");
	if (!only_idles())
		ASSERT_EQ(0, trace_file_write("/sys/power/mem_sleep", "deep"));
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!trace_has_sink(&self->s, variant->sink))
		SKIP(return, "this board has no sink of that kind");
	ASSERT_LT(0, trace_file_read(DELAY, self->delay, sizeof(self->delay)));
	ASSERT_EQ(0, trace_file_write(DELAY, "0"));
	ASSERT_EQ(0, trace_session_config(&self->s, variant->sink, variant->buffer,
					  variant->flags));
}

FIXTURE_TEARDOWN(sleep)
{
	trace_file_write(PM_TEST, "none");
	trace_file_write(DELAY, self->delay);
	trace_session_close(&self->s);
}

/* Return 0, or the reason why the system did not sleep. */
static int go_to_sleep(const char *depth)
{
	int ret = trace_file_write(PM_TEST, depth);

	return ret ? ret : trace_file_write(STATE, state());
}

TEST_F(sleep, running_capture_continues_unless_in_sram)
{
	struct sifive_trace_status status;
	uint32_t first, last;
	int ret;

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	trace_store(self->s.page, self->s.reg, 0, 4);
	trace_store(self->s.page, self->s.reg, 1, 4);
	ret = go_to_sleep(depth());
	if (ret)
		SKIP(return, "%s to depth %s: %s", state(), depth(),
		     strerror(-ret));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(0, status.ended);
	trace_store(self->s.page, self->s.reg, 2, 4);
	trace_store(self->s.page, self->s.reg, 3, 4);
	if (variant->sink == SIFIVE_TRACE_SINK_SRAM) {
		EXPECT_EQ(0, status.flags & SIFIVE_TRACE_STATUS_RUNNING);
		EXPECT_EQ(-ESTALE, trace_start(self->s.fd, 0));
	} else {
		EXPECT_NE(0, status.flags & SIFIVE_TRACE_STATUS_RUNNING);
	}
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits,
				   &self->stream));
	EXPECT_EQ(variant->sink == SIFIVE_TRACE_SINK_SRAM ? 2 : 4,
		  trace_consecutive(&self->stream, &first, &last));
	EXPECT_EQ(0, first);

	ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
	trace_store(self->s.page, self->s.reg, 7, 4);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits,
				   &self->stream));
	EXPECT_EQ(1, trace_consecutive(&self->stream, &first, NULL));
	EXPECT_EQ(7, first);
}

/*
 * The module memory_thief aborts hibernation after all other PM notifiers have run. With
 * TRACE_LOST=1, memory_thief overwrites the buffer first, to simulate a power cut, which
 * destroys memory that the kernel does not save.
 */
TEST_F(sleep, hibernation_keeps_capture_or_reports_loss)
{
	bool lost = trace_setting("TRACE_LOST", 0) && variant->sink == SIFIVE_TRACE_SINK_SBA;
	bool sram = variant->sink == SIFIVE_TRACE_SINK_SRAM;
	struct sifive_trace_status status;

	if (access("/sys/module/memory_thief", F_OK) || !lists(STATE, "disk"))
		SKIP(return, "needs the module memory_thief, and hibernation");
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	trace_store(self->s.page, self->s.reg, 0, 4);
	trace_store(self->s.page, self->s.reg, 1, 4);
	ASSERT_GT(0, trace_file_write(STATE, "disk"));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(!lost && !sram, !!(status.flags & SIFIVE_TRACE_STATUS_RUNNING));
	if (lost) {
		EXPECT_EQ(0, status.bytes);
		EXPECT_EQ(0, status.flags & SIFIVE_TRACE_STATUS_WRAPPED);
	}
	if (lost || sram) {
		EXPECT_EQ(-ESTALE, trace_start(self->s.fd, 0));
		EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "suspend"));
	}
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits,
				   &self->stream));
	EXPECT_EQ(lost ? 0 : 2, trace_consecutive(&self->stream, NULL, NULL));
	ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
	trace_store(self->s.page, self->s.reg, 7, 4);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits,
				   &self->stream));
	EXPECT_EQ(1, trace_consecutive(&self->stream, NULL, NULL));
}

/* Stores that wait for a reader continue at suspend, and wait again after resume. */
TEST_F(sleep, waiting_store_waits_again_after_resume)
{
	struct trace_writer writer;
	char byte;
	int ret;

	if (variant->sink != SIFIVE_TRACE_SINK_SBA || variant->flags)
		SKIP(return, "only stores to a drained sink wait");
	ASSERT_EQ(0, trace_session_config(&self->s, variant->sink, 1 << 20,
					  SIFIVE_TRACE_CONFIG_DRAIN |
					  SIFIVE_TRACE_CONFIG_WAIT));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	/* After this point, the sink has a reader, for which stores wait without a time limit. */
	EXPECT_LE(0, fcntl(self->s.fd, F_SETFL, O_NONBLOCK));
	EXPECT_GE(1, read(self->s.fd, &byte, 1));
	ASSERT_EQ(0, trace_writer_start(&writer, &self->s, 0));
	while (!(trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_WAITING))
		usleep(1000);
	ret = go_to_sleep(depth());
	if (!ret) {
		EXPECT_NE(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_RUNNING);
		while (!(trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_WAITING))
			usleep(1000);
	}
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_LT(0, trace_writer_stop(&writer));
	if (ret)
		SKIP(return, "%s to depth %s: %s", state(), depth(), strerror(-ret));
}

/* Test an encoder whose CPU is offline during sleep. */
TEST_F(sleep, encoder_of_offlined_cpu_continues_unless_in_sram)
{
	struct sifive_trace_status status;
	unsigned int n = 0;
	int ret;

	while (!trace_session_open(&self->other, n))
		trace_session_close(&self->other), n++;
	trace_session_close(&self->s);
	ASSERT_EQ(0, trace_session_open(&self->s, n - 1));
	ASSERT_EQ(0, trace_session_config(&self->s, variant->sink, variant->buffer,
					  variant->flags));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	trace_store(self->s.page, self->s.reg, 0, 4);
	ret = go_to_sleep(depth());
	if (ret)
		SKIP(return, "%s to depth %s: %s", state(), depth(),
		     strerror(-ret));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(0, status.ended);
	trace_store(self->s.page, self->s.reg, 1, 4);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits,
				   &self->stream));
	EXPECT_EQ(variant->sink == SIFIVE_TRACE_SINK_SRAM ? 1 : 2,
		  trace_consecutive(&self->stream, NULL, NULL));
}

TEST_F(sleep, stopped_capture_is_kept)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	int ret, counted;

	counters.count = 1;
	counters.event[0].code = 1;
	counted = trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	trace_store(self->s.page, self->s.reg, 0, 4);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ret = go_to_sleep(depth());
	if (ret)
		SKIP(return, "%s to depth %s: %s", state(), depth(),
		     strerror(-ret));
	EXPECT_EQ(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_RUNNING);
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits,
				   &self->stream));
	EXPECT_EQ(1, trace_consecutive(&self->stream, NULL, NULL));
	if (!counted)
		EXPECT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS,
					 &counters));
}

/* Sample only the session's own threads first, then all threads; sampling resumes after sleep. */
TEST_F(sleep, sampling_continues)
{
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);
	unsigned int i;
	int ret;

	if (variant->sink == SIFIVE_TRACE_SINK_SRAM)
		SKIP(return, "a capture in SRAM remains stopped");
	sampling.channel = self->s.reg;
	sampling.interval = 1000000;
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	for (i = 0; i < 2; i++) {
		sampling.flags = i ? SIFIVE_TRACE_SAMPLING_ALL : 0;
		ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
		ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
		EXPECT_TRUE(trace_samples(self->s.fd));
		ret = go_to_sleep(depth());
		if (ret)
			SKIP(return, "%s to depth %s: %s", state(), depth(),
			     strerror(-ret));
		EXPECT_TRUE(trace_samples(self->s.fd));
		ASSERT_EQ(0, trace_stop(self->s.fd));
	}
}

TEST_F(sleep, sampling_continues_after_pause)
{
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);
	int ret;

	if (variant->sink == SIFIVE_TRACE_SINK_SRAM)
		SKIP(return, "a capture in SRAM cannot be paused");
	sampling.channel = self->s.reg;
	sampling.interval = 1000000;
	sampling.flags = SIFIVE_TRACE_SAMPLING_ALL;
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	EXPECT_TRUE(trace_samples(self->s.fd));
	ASSERT_EQ(0, trace_pause(self->s.fd));
	ret = go_to_sleep(depth());
	if (ret)
		SKIP(return, "%s to depth %s: %s", state(), depth(), strerror(-ret));
	ASSERT_EQ(0, trace_unpause(self->s.fd));
	EXPECT_TRUE(trace_samples(self->s.fd));
}

/**
 * struct watcher - a thread that reads its counters during sleep
 * @thread:	the thread
 * @fd:		descriptor of the session
 * @cpu:	CPU on which the thread runs
 * @reads:	number of reads
 * @back:	number of values that were less than the previous value
 * @quit:	request to end
 */
struct watcher {
	pthread_t thread;
	int fd;
	int cpu;
	uint64_t reads;
	unsigned int back;
	bool quit;
};

static void *thread_watches(void *arg)
{
	uint64_t hart, own, last_hart = 0, last_own = 0;
	const struct sifive_trace_slot *slot;
	struct watcher *w = arg;

	trace_pin(w->cpu);
	slot = trace_own_slot(w->fd);
	while (slot && !__atomic_load_n(&w->quit, __ATOMIC_RELAXED)) {
		hart = trace_counter(COUNTER_CYCLE);
		own = trace_own_count(slot, COUNTER_INSTRET);
		w->back += hart < last_hart || own < last_own;
		last_hart = hart;
		last_own = own;
		__atomic_add_fetch(&w->reads, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Configure all encoders, and counters with per-thread counts. */
static int count_everywhere(struct _test_data_sleep *self, uint64_t buffer)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config = self->s.config;
	int ret;

	config.encoders = 0;
	config.buffer = buffer;
	ret = trace_config(self->s.fd, &config);
	counters.flags = SIFIVE_TRACE_COUNTERS_PER_THREAD;
	counters.count = 2;
	counters.event[0].code = 1;
	counters.event[1].code = 2;
	return ret ?: trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters);
}

/*
 * Find an encoder whose CPU can go offline, and the sysfs file that takes it offline; return false
 * if there is none.
 */
static bool find_leaver(struct _test_data_sleep *self, struct sifive_trace_encoder *e,
			char *online, size_t size)
{
	uint32_t i;

	for (i = 0; i < self->s.info.encoders; i++) {
		if (trace_encoder(self->s.fd, i, e) || e->cpu <= 0)
			continue;
		snprintf(online, size, "/sys/devices/system/cpu/cpu%d/online", e->cpu);
		if (!access(online, W_OK))
			return true;
	}
	return false;
}

/* Only system sleep restores an encoder that has lost its registers. */
TEST_F(sleep, counters_are_kept_on_cpu_whose_stream_ended)
{
	struct sifive_trace_status status;
	struct sifive_trace_encoder e;
	char online[64];
	uint64_t before;
	void *page;
	int ret;

	if (!find_leaver(self, &e, online, sizeof(online)))
		SKIP(return, "needs a second CPU with an encoder that can go offline");
	ret = count_everywhere(self, variant->buffer);
	if (ret == -EOPNOTSUPP)
		SKIP(return, "%s", trace_message(self->s.fd));
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	page = trace_map(self->s.fd, &e);
	ASSERT_NE(NULL, page);
	ASSERT_EQ(0, trace_file_write(online, "0"));
	/* Make the encoder inactive: te_control is its first register. */
	*(volatile uint32_t *)page = 0;
	ASSERT_EQ(0, trace_file_write(online, "1"));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(BIT64(e.index), status.ended);
	EXPECT_EQ(0, status.counters_lost);
	ret = go_to_sleep(depth());
	if (ret)
		SKIP(return, "%s to depth %s: %s", state(), depth(), strerror(-ret));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(0, status.ended);
	EXPECT_EQ(0, status.counters_lost) {
		TH_LOG("%s", status.message);
	}
	ASSERT_EQ(0, trace_pin(e.cpu));
	ASSERT_NE(NULL, trace_own_slot(self->s.fd));
	before = trace_counter(COUNTER_INSTRET);
	trace_spin(1000);
	EXPECT_LT(before, trace_counter(COUNTER_INSTRET));
	trace_unmap(page);
}

TEST_F(sleep, counts_never_decrease)
{
	struct watcher watcher[SIFIVE_TRACE_MAX_ENCODERS] = {};
	const struct sifive_trace_slot *slot;
	struct sifive_trace_status status;
	struct sifive_trace_encoder e;
	uint64_t before;
	unsigned int i;
	int ret;

	ret = count_everywhere(self, variant->buffer);
	if (ret == -EOPNOTSUPP)
		SKIP(return, "%s", trace_message(self->s.fd));
	ASSERT_EQ(0, ret);
	for (i = 0; i < self->s.info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->s.fd, i, &e));
		watcher[i] = (struct watcher){ .fd = self->s.fd, .cpu = e.cpu };
		ASSERT_EQ(0, pthread_create(&watcher[i].thread, NULL, thread_watches,
					    &watcher[i]));
	}
	for (i = 0; i < self->s.info.encoders; i++)
		while (!__atomic_load_n(&watcher[i].reads, __ATOMIC_RELAXED))
			usleep(1000);
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	slot = trace_own_slot(self->s.fd);
	ASSERT_NE(NULL, slot);
	trace_spin(1000000);
	before = trace_own_count(slot, COUNTER_INSTRET);
	ret = go_to_sleep(depth());
	if (!ret)
		EXPECT_LT(before, trace_own_count(slot, COUNTER_INSTRET));
	for (i = 0; i < self->s.info.encoders; i++) {
		__atomic_store_n(&watcher[i].quit, true, __ATOMIC_RELAXED);
		ASSERT_EQ(0, pthread_join(watcher[i].thread, NULL));
		EXPECT_EQ(0, watcher[i].back);
	}
	if (ret)
		SKIP(return, "%s to depth %s: %s", state(), depth(), strerror(-ret));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_EQ(0, status.counters_lost);
}

TRACE_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that libsifive-perf works on the real device as its header documents. A program's records,
 * in each count type, must be in the file exactly as in the device. Every misuse must cause an
 * error message and leave the device free.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sifive_linux_perf.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_records.h"

#define CHANNEL	6
#define MANUAL	2	/* kind of the records that perfWriteCntrs() writes */
#define RECORDS	20

/* Each test runs in a separate process, so the library is in its initial state. */
FIXTURE(lib) {
	int fd;		/* a separate descriptor of the device, for checks */
	struct sifive_trace_info info;
	struct sifive_trace_encoder encoder;
	uint32_t buffer;
	char file[64];
};

FIXTURE_SETUP(lib)
{
	/* Messages are checked here, not printed. */
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	unsetenv("SIFIVE_TRACE_DEVICE");
	unsetenv("SIFIVE_TRACE_HEADER");
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &self->encoder));
	ASSERT_EQ(0, trace_pin(self->encoder.cpu));
	if (self->info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SBA))
		self->buffer = 32 * 1024;
	snprintf(self->file, sizeof(self->file), "/tmp/lib_test.%d.rtd", getpid());
}

FIXTURE_TEARDOWN(lib)
{
	unlink(self->file);
	close(self->fd);
}

/* Check that the last call failed with an error message, and that the device is free. */
static void failed(struct __test_metadata *_metadata, int fd, int rc,
		   const char *what)
{
	EXPECT_NE(0, rc) {
		TH_LOG("%s succeeded", what);
	}
	EXPECT_STRNE("", perfErrorString()) {
		TH_LOG("%s: no words", what);
	}
	EXPECT_EQ(0, trace_flags(fd)) {
		TH_LOG("%s: the device is in use", what);
	}
}

#define FAILED(rc)	failed(_metadata, self->fd, rc, #rc)

/* Check that the last call's error message contains this text. */
static void says(struct __test_metadata *_metadata, const char *words)
{
	EXPECT_NE(NULL, strstr(perfErrorString(), words)) {
		TH_LOG("not '%s' but: %s", words, perfErrorString());
	}
}

#define SAYS(words)	says(_metadata, words)

static int init(struct _test_data_lib *self)
{
	return perfInit((int)self->info.encoders, (int)self->info.funnels);
}

static perfEvent events[] = {
	{ .type = perfEventHWGeneral, .code = HW_CPU_CYCLES },
	{ .type = perfEventHWGeneral, .code = HW_INSTRUCTIONS },
};

#define EVENTS	((int)ARRAY_SIZE(events))

/* Return the number of events that this machine can count: EVENTS or 0. */
static int countable(const struct sifive_trace_info *info)
{
	return info->flags & SIFIVE_TRACE_INFO_COUNTERS ? EVENTS : 0;
}

/* ---- errors -------------------------------------------------------------------- */

TEST_F(lib, missing_device_is_not_reported_as_missing_module)
{
	setenv("SIFIVE_TRACE_DEVICE", "/nonexistent", 1);
	FAILED(init(self));
	SAYS("no trace device /nonexistent, though the module is loaded");
}

TEST_F(lib, non_trace_device_is_reported)
{
	setenv("SIFIVE_TRACE_DEVICE", "/dev/null", 1);
	FAILED(init(self));
	SAYS("not a trace device");
}

TEST_F(lib, unpinned_program_is_traced_on_all_cpus)
{
	struct sifive_trace_encoder encoder;
	cpu_set_t all;
	uint32_t i;

	CPU_ZERO(&all);
	for (i = 0; i < CPU_SETSIZE; i++)
		CPU_SET(i, &all);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(all), &all));
	ASSERT_EQ(0, init(self));
	ASSERT_EQ(0, perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, self->buffer));
	for (i = 0; i < self->info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->fd, i, &encoder));
		EXPECT_EQ(encoder.cpu >= 0,
			  !!(encoder.flags & SIFIVE_TRACE_ENCODER_SELECTED));
	}
}

TEST_F(lib, missing_capability_is_named)
{
	pid_t child = fork();

	if (!child) {
		int rc = trace_keep_caps(BIT64(CAP_DAC_OVERRIDE)) ? 0 : init(self);

		if (!rc)
			rc = perfManualInit(NULL, 0, CHANNEL, perfCount_Raw,
					    self->buffer);
		_exit(rc && strstr(perfErrorString(), "CAP_PERFMON") ? 0 : 1);
	}
	EXPECT_EQ(0, trace_wait(child));
}

TEST_F(lib, invalid_core_and_funnel_counts_are_refused)
{
	FAILED(perfInit(-1, 1));
	FAILED(perfInit(0, 1));
	FAILED(perfInit(1, -1));
	/* Numbers that differ from the driver's numbers cause only a notice. */
	EXPECT_EQ(0, perfInit(1000, 1000));
	EXPECT_STRNE("", perfErrorString());
	EXPECT_EQ(0, init(self));
	EXPECT_STREQ("", perfErrorString());
}

TEST_F(lib, out_of_range_arguments_are_refused)
{
	perfEvent bad_type = { .type = 3, .code = 1 };
	perfEvent no_code = { .type = perfEventHWGeneral, .code = HW_NO_EVENT };
	perfEvent negative = { .type = perfEventHWGeneral, .code = -1 };
	perfEvent cache = { .type = perfEventHWCache, .cache_id = -1 };
	perfEvent twice[] = { events[0], events[0] };
	static perfEvent many[33];
	const perfCountType_t raw = perfCount_Raw;

	ASSERT_EQ(0, init(self));
	FAILED(perfManualInit(NULL, 0, 32, raw, self->buffer));
	FAILED(perfManualInit(NULL, 0, -1, raw, self->buffer));
	FAILED(perfManualInit(NULL, 0, CHANNEL, (perfCountType_t)3, self->buffer));
	FAILED(perfManualInit(NULL, 0, CHANNEL, (perfCountType_t)-1, self->buffer));
	FAILED(perfManualInit(NULL, 1, CHANNEL, raw, self->buffer));
	FAILED(perfManualInit(events, -1, CHANNEL, raw, self->buffer));
	FAILED(perfManualInit(many, 33, CHANNEL, raw, self->buffer));
	FAILED(perfManualInit(&bad_type, 1, CHANNEL, raw, self->buffer));
	FAILED(perfManualInit(&no_code, 1, CHANNEL, raw, self->buffer));
	FAILED(perfManualInit(&negative, 1, CHANNEL, raw, self->buffer));
	FAILED(perfManualInit(&cache, 1, CHANNEL, raw, self->buffer));
	FAILED(perfManualInit(twice, 2, CHANNEL, raw, self->buffer));
	FAILED(perfFuncEntryExitInit(NULL, 0, 32, raw, self->buffer));
	/* Initialisation succeeds after all these errors. */
	EXPECT_EQ(0, perfManualInit(NULL, 0, CHANNEL, raw, self->buffer));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &self->encoder));
	if (self->encoder.flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS)
		FAILED(perfManualInit(NULL, 0, 16, raw, self->buffer));
}

TEST_F(lib, unavailable_buffers_are_refused)
{
	ASSERT_EQ(0, init(self));
	FAILED(perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, ~0u));
	FAILED(perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, 0xffff0000));
	if (!(self->info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SRAM))) {
		FAILED(perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, 0));
		SAYS("SBABufferSize");
	}
}

TEST_F(lib, uncountable_event_is_named)
{
	perfEvent list[] = {
		events[0],
		{ .type = perfEventHWCache, .cache_id = HW_CACHE_NODE,
		  .result_id = HW_CACHE_RESULT_MISS },
	};

	if (!countable(&self->info))
		SKIP(return, "this machine's counters cannot be shared (no Sscofpmf)");
	ASSERT_EQ(0, init(self));
	FAILED(perfManualInit(list, 2, CHANNEL, perfCount_Raw, self->buffer));
	SAYS("event 1");
}

TEST_F(lib, out_of_order_calls_are_refused)
{
	FAILED(perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, self->buffer));
	SAYS("perfInit()");
	FAILED(perfFuncEntryExitInit(NULL, 0, CHANNEL, perfCount_Raw, self->buffer));
	FAILED(perfTraceOn());
	FAILED(perfTraceOff());
	FAILED(perfWriteCntrs());
	FAILED(perfWriteTrace(self->file));
	EXPECT_EQ(-1, access(self->file, F_OK));

	ASSERT_EQ(0, init(self));
	FAILED(perfTraceOn());
	SAYS("perfManualInit()");
	FAILED(perfTraceOff());
	FAILED(perfWriteCntrs());
	FAILED(perfWriteTrace(self->file));
	EXPECT_EQ(-1, access(self->file, F_OK));
}

TEST_F(lib, setup_while_tracing_is_refused)
{
	ASSERT_EQ(0, init(self));
	ASSERT_EQ(0, perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, self->buffer));
	ASSERT_EQ(0, perfTraceOn());
	EXPECT_NE(0, init(self));
	SAYS("perfTraceOff()");
	EXPECT_NE(0, perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, self->buffer));
	SAYS("perfTraceOff()");
	EXPECT_EQ(0, perfWriteCntrs());
	EXPECT_EQ(0, perfTraceOff());
	EXPECT_EQ(0, init(self));
	EXPECT_EQ(0, trace_flags(self->fd));
}

TEST_F(lib, process_holding_hardware_is_named)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	int ready[2], go[2];
	char pid[16], byte;
	pid_t child;

	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(go));
	child = fork();
	if (!child) {
		int fd = trace_open(O_RDWR);

		close(go[1]);
		if (fd < 0 || trace_config(fd, &config) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		/* Wait until the parent closes its end. */
		_exit(read(go[0], &byte, 1) ? 1 : 0);
	}
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	ASSERT_EQ(0, init(self));
	EXPECT_NE(0, perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, self->buffer));
	snprintf(pid, sizeof(pid), " %d ", child);
	SAYS(pid);
	close(go[1]);
	EXPECT_EQ(0, trace_wait(child));
	EXPECT_EQ(0, perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, self->buffer));
}

/* ---- success ------------------------------------------------------------------- */

/* Read the whole file; return its size or -1. */
static ssize_t read_file(const char *path, uint8_t **bytes)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	ssize_t got = -1;

	if (fd >= 0 && !fstat(fd, &st)) {
		*bytes = malloc((size_t)st.st_size + 1);
		got = read(fd, *bytes, (size_t)st.st_size + 1);
	}
	if (fd >= 0)
		close(fd);
	return got;
}

/*
 * Expect perfWriteTrace() to write the bytes that read() returns; decode the messages into @stream.
 */
static void written(struct __test_metadata *_metadata, struct _test_data_lib *self,
		    struct trace_stream *stream)
{
	uint8_t *file, *device;
	ssize_t size;

	ASSERT_EQ(0, perfWriteTrace(self->file)) {
		TH_LOG("%s", perfErrorString());
	}
	size = read_file(self->file, &file);
	ASSERT_LT(0, size);
	ASSERT_EQ(size, trace_read_all(self->fd, &device));
	EXPECT_EQ(0, memcmp(file, device, (size_t)size));
	ASSERT_EQ(0, trace_decode(file, (size_t)size, self->encoder.src_bits,
				  stream));
}

/* Read the next data message, which must be a store of this size. */
static uint32_t next(struct __test_metadata *_metadata,
		     const struct trace_stream *stream, size_t *at,
		     unsigned int bytes)
{
	const struct trace_message *m;

	while (*at < stream->count && stream->message[*at].tcode == TRACE_TCODE_SYNC)
		(*at)++;
	ASSERT_LT(*at, stream->count);
	m = &stream->message[(*at)++];
	EXPECT_EQ(TRACE_TCODE_DATA, m->tcode);
	EXPECT_EQ(trace_tag(CHANNEL, bytes), m->tag) {
		TH_LOG("message %zu", *at - 1);
	}
	EXPECT_TRUE(m->timed);
	return m->value;
}

#define NEXT(bytes)	next(_metadata, stream, at, bytes)

static void header(struct __test_metadata *_metadata,
		   const struct trace_stream *stream, size_t *at,
		   perfCountType_t type, const perfEvent *list, int count)
{
	uint32_t mask = 0;
	int i;

	for (i = 0; i < count; i++)
		mask |= 1u << list[i].ctrIdx;
	EXPECT_EQ(SIFIVE_TRACE_RECORD_MAGIC, NEXT(4));
	EXPECT_EQ(type, NEXT(1));
	EXPECT_EQ(mask, NEXT(4));
	for (i = 0; i < count; i++) {
		EXPECT_EQ(list[i].type, NEXT(4));
		EXPECT_EQ(list[i].code, NEXT(4));
		EXPECT_EQ(list[i].ctrInfo, NEXT(4));
	}
}

/* Decode an address, which DeltaXOR combines with the previous address. */
static uint64_t address(struct __test_metadata *_metadata,
			const struct trace_stream *stream, size_t *at,
			perfCountType_t type, uint64_t *last)
{
	uint64_t value = NEXT(4);

	if (value & 1)
		value = (value & ~1ull) | (uint64_t)NEXT(4) << 32;
	if (type == perfCount_DeltaXOR)
		value ^= *last;
	*last = value;
	return value;
}

/* Return a counter's value as transmitted. */
static uint64_t value(struct __test_metadata *_metadata,
		      const struct trace_stream *stream, size_t *at)
{
	uint64_t low = NEXT(4);

	if (*at < stream->count &&
	    stream->message[*at].tcode == TRACE_TCODE_DATA &&
	    stream->message[*at].tag == trace_tag(CHANNEL, 2))
		low |= (uint64_t)NEXT(2) << 32;
	return low;
}

/* struct core - arguments and result of on_core(), which a program runs on each core */
struct core {
	pthread_t thread;
	pthread_barrier_t *all;
	uint32_t buffer;
	int cpu, rc;
};

static void *on_core(void *arg)
{
	struct core *core = arg;
	int i;

	core->rc = trace_pin(core->cpu) ||
		   perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, core->buffer);
	/* Wait until all cores are set up, tracing is on, and each core has written its records. */
	pthread_barrier_wait(core->all);
	pthread_barrier_wait(core->all);
	for (i = 0; i < RECORDS; i++)
		core->rc |= perfWriteCntrs();
	pthread_barrier_wait(core->all);
	return NULL;
}

static void by_encoder(const struct trace_record *record, void *records)
{
	((unsigned int *)records)[record->encoder % SIFIVE_TRACE_MAX_ENCODERS]++;
}

TEST_F(lib, program_initialised_on_each_core_is_traced_on_all)
{
	unsigned int records[SIFIVE_TRACE_MAX_ENCODERS] = { 0 };
	struct core core[SIFIVE_TRACE_MAX_ENCODERS];
	struct sifive_trace_encoder encoder;
	struct trace_totals totals;
	pthread_barrier_t all;
	uint32_t i;

	ASSERT_EQ(0, init(self));
	pthread_barrier_init(&all, NULL, self->info.encoders + 1);
	for (i = 0; i < self->info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->fd, i, &encoder));
		core[i] = (struct core) {
			.all = &all, .buffer = self->buffer, .cpu = encoder.cpu,
		};
		ASSERT_EQ(0, pthread_create(&core[i].thread, NULL, on_core, &core[i]));
	}
	pthread_barrier_wait(&all);
	ASSERT_EQ(0, perfTraceOn()) {
		TH_LOG("%s", perfErrorString());
	}
	pthread_barrier_wait(&all);
	pthread_barrier_wait(&all);
	ASSERT_EQ(0, perfTraceOff());
	for (i = 0; i < self->info.encoders; i++) {
		ASSERT_EQ(0, pthread_join(core[i].thread, NULL));
		EXPECT_EQ(0, core[i].rc);
	}
	ASSERT_EQ(0, trace_records(self->fd, &totals, by_encoder, records));
	EXPECT_TRUE(trace_is_whole(&totals));
	for (i = 0; i < self->info.encoders; i++)
		EXPECT_EQ(RECORDS, records[i]);
}

FIXTURE(records) {
	struct _test_data_lib lib;
};

FIXTURE_VARIANT(records) {
	perfCountType_t type;
};

FIXTURE_VARIANT_ADD(records, raw) {
	.type = perfCount_Raw,
};

FIXTURE_VARIANT_ADD(records, delta) {
	.type = perfCount_Delta,
};

FIXTURE_VARIANT_ADD(records, delta_xor) {
	.type = perfCount_DeltaXOR,
};

FIXTURE_SETUP(records)
{
	lib_setup(_metadata, &self->lib, NULL);
}

FIXTURE_TEARDOWN(records)
{
	lib_teardown(_metadata, &self->lib, NULL);
}

static void record_and_check(struct __test_metadata *_metadata,
			     struct _test_data_records *self, perfCountType_t type)
{
	int count = countable(&self->lib.info), i, record;
	uint64_t last[ARRAY_SIZE(events)] = { 0 }, now, from = 0, first = 0;
	struct trace_stream decoded, *stream = &decoded;
	size_t position = 0, *at = &position;
	uintptr_t begin;

	asm volatile("auipc %0, 0" : "=r" (begin));
	ASSERT_EQ(0, init(&self->lib));
	ASSERT_EQ(0, perfManualInit(events, count, CHANNEL, type,
				    self->lib.buffer)) {
		TH_LOG("%s", perfErrorString());
	}
	EXPECT_EQ(SIFIVE_TRACE_STATUS_CONFIGURED, trace_flags(self->lib.fd));
	/* Tracing is off, so calls succeed without writing records. */
	EXPECT_EQ(0, perfWriteCntrs());
	ASSERT_EQ(0, perfTraceOn());
	for (record = 0; record < RECORDS; record++)
		ASSERT_EQ(0, perfWriteCntrs());
	ASSERT_EQ(0, perfTraceOff());
	EXPECT_EQ(0, perfWriteCntrs());

	written(_metadata, &self->lib, stream);
	EXPECT_EQ(TRACE_VALUE_ON, stream->message[0].value);
	header(_metadata, stream, at, type, events, count);
	for (record = 0; record < RECORDS; record++) {
		EXPECT_EQ(MANUAL, NEXT(1));
		now = address(_metadata, stream, at, type, &from);
		if (!record)
			first = now;
		EXPECT_EQ(first, now);
		for (i = 0; i < count; i++) {
			now = value(_metadata, stream, at);
			if (type == perfCount_DeltaXOR)
				now ^= last[i];
			else if (type == perfCount_Delta)
				now += last[i];
			ASSERT_LT(last[i], now) {
				TH_LOG("record %d, counter %d", record, i);
			}
			last[i] = now;
		}
	}
	/* The loop above has written these records. */
	EXPECT_LE(begin, first);
	EXPECT_GT(begin + 4096, first);
	ASSERT_EQ(stream->count, *at + 1);
	EXPECT_EQ(TRACE_VALUE_OFF, stream->message[*at].value);
}

TEST_F(records, have_header_address_and_growing_counters)
{
	record_and_check(_metadata, self, variant->type);
}

#ifndef PR_SET_MDWE
#define PR_SET_MDWE			65
#define PR_MDWE_REFUSE_EXEC_GAIN	1
#endif

/* Simulate systemd's MemoryDenyWriteExecute=: records become slower, as the library reports. */
TEST_F(records, need_no_executable_memory)
{
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		SKIP(return, "this kernel has no PR_SET_MDWE");
	ASSERT_EQ(0, init(&self->lib));
	ASSERT_EQ(0, perfManualInit(NULL, 0, CHANNEL, variant->type, self->lib.buffer));
	EXPECT_NE(NULL, strstr(perfErrorString(), "executable memory"));
	record_and_check(_metadata, self, variant->type);
}

/* The program can read a counter once the initialisation has returned the counter's number. */
TEST_F(lib, counters_are_readable_before_and_after_tracing)
{
	const uint64_t turns = 100000;
	unsigned int number;
	uint64_t before;
	int i;

	if (!countable(&self->info))
		SKIP(return, "no counters on this hart");
	ASSERT_EQ(0, init(self));
	ASSERT_EQ(0, perfManualInit(events, EVENTS, CHANNEL, perfCount_Delta, self->buffer)) {
		TH_LOG("%s", perfErrorString());
	}
	number = events[1].ctrIdx;
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, trace_signal_of_counter(number));
		before = trace_counter(number);
		trace_spin(turns);
		EXPECT_LT(before, trace_counter(number));
		if (trace_counts_instructions())
			EXPECT_LE(before + turns * TRACE_SPIN, trace_counter(number));
		ASSERT_EQ(0, i ? perfTraceOff() : perfTraceOn());
	}
}

TEST_F(lib, each_trace_on_writes_header)
{
	struct trace_stream decoded, *stream = &decoded;
	size_t position = 0, *at = &position;
	uint64_t last = 0;
	int round;

	ASSERT_EQ(0, init(self));
	ASSERT_EQ(0, perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, self->buffer));
	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, perfTraceOn());
		EXPECT_EQ(0, perfTraceOn());
		ASSERT_EQ(0, perfWriteCntrs());
		ASSERT_EQ(0, perfTraceOff());
		EXPECT_EQ(0, perfTraceOff());
	}
	written(_metadata, self, stream);
	for (round = 0; round < 3; round++) {
		header(_metadata, stream, at, perfCount_Raw, NULL, 0);
		EXPECT_EQ(MANUAL, NEXT(1));
		address(_metadata, stream, at, perfCount_Raw, &last);
	}
	EXPECT_EQ(stream->count, *at + 1);
}

TEST_F(lib, zero_buffer_size_selects_sram)
{
	struct sifive_trace_sink sink;
	struct trace_stream stream;

	if (!(self->info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SRAM)))
		SKIP(return, "this board has no SRAM sink");
	ASSERT_EQ(0, init(self));
	ASSERT_EQ(0, perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, 0)) {
		TH_LOG("%s", perfErrorString());
	}
	ASSERT_EQ(0, trace_sink(self->fd, 0, &sink));
	EXPECT_EQ(SIFIVE_TRACE_SINK_SRAM, sink.kind);
	ASSERT_EQ(0, perfTraceOn());
	ASSERT_EQ(0, perfWriteCntrs());
	ASSERT_EQ(0, perfTraceOff());
	written(_metadata, self, &stream);
	EXPECT_LT(4, stream.count);
}

TEST_F(lib, full_buffer_is_written_and_blocks_restart)
{
	struct sifive_trace_status status;
	struct trace_stream stream;
	struct stat st;
	int i;

	if (!self->buffer)
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, init(self));
	ASSERT_EQ(0, perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, 512));
	ASSERT_EQ(0, perfTraceOn());
	for (i = 0; i < 500; i++)
		ASSERT_EQ(0, perfWriteCntrs());
	ASSERT_EQ(0, perfTraceOff());
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_TRUE(status.flags & SIFIVE_TRACE_STATUS_FULL);
	written(_metadata, self, &stream);
	SAYS("full");
	ASSERT_EQ(0, stat(self->file, &st));
	EXPECT_EQ(512, st.st_size);
	EXPECT_NE(0, perfTraceOn());
	SAYS("full");

	/* A new initialisation discards the capture. */
	ASSERT_EQ(0, perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, 4096));
	ASSERT_EQ(0, perfTraceOn());
	ASSERT_EQ(0, perfWriteCntrs());
	ASSERT_EQ(0, perfTraceOff());
	written(_metadata, self, &stream);
	EXPECT_STREQ("", perfErrorString());
}

TEST_F(lib, writing_trace_does_not_stop_tracing)
{
	struct trace_stream stream;
	size_t before;

	ASSERT_EQ(0, init(self));
	ASSERT_EQ(0, perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, self->buffer));
	ASSERT_EQ(0, perfTraceOn());
	ASSERT_EQ(0, perfWriteCntrs());
	ASSERT_EQ(0, perfWriteTrace(self->file));
	EXPECT_TRUE(trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING);
	ASSERT_EQ(0, perfWriteCntrs());
	ASSERT_EQ(0, perfTraceOff());
	written(_metadata, self, &stream);
	before = stream.count;
	/* The trace can be written to a file a second time. */
	written(_metadata, self, &stream);
	EXPECT_EQ(before, stream.count);
}

TEST_F(lib, file_error_is_reported_and_loses_nothing)
{
	struct trace_stream stream;

	ASSERT_EQ(0, init(self));
	ASSERT_EQ(0, perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, self->buffer));
	ASSERT_EQ(0, perfTraceOn());
	ASSERT_EQ(0, perfWriteCntrs());
	ASSERT_EQ(0, perfTraceOff());
	EXPECT_NE(0, perfWriteTrace("/nonexistent/trace.rtd"));
	SAYS("/nonexistent/trace.rtd");
	EXPECT_NE(0, perfWriteTrace("/dev/full"));
	EXPECT_STRNE("", perfErrorString());
	signal(SIGXFSZ, SIG_IGN);
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 10, RLIM_INFINITY }));
	EXPECT_NE(0, perfWriteTrace(self->file));
	SAYS("the file has 10 bytes of the trace");
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY }));
	written(_metadata, self, &stream);
}

/* ---- abnormal ends ------------------------------------------------------------- */

TEST_F(lib, killed_process_keeps_trace_and_frees_device)
{
	struct trace_stream stream;
	uint8_t *bytes;
	ssize_t size;
	pid_t child = fork();

	if (!child) {
		if (init(self) || perfManualInit(events, countable(&self->info),
						 CHANNEL, perfCount_Delta,
						 self->buffer) ||
		    perfTraceOn() || perfWriteCntrs())
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	EXPECT_EQ(-1, trace_wait(child));
	EXPECT_EQ(0, trace_flags(self->fd));
	size = trace_read_all(self->fd, &bytes);
	ASSERT_LT(0, size);
	ASSERT_EQ(0, trace_decode(bytes, (size_t)size, self->encoder.src_bits,
				  &stream));
	ASSERT_LT(4, stream.count);
	EXPECT_EQ(SIFIVE_TRACE_RECORD_MAGIC, stream.message[1].value);

	ASSERT_EQ(0, init(self));
	EXPECT_EQ(0, perfManualInit(NULL, 0, CHANNEL, perfCount_Raw, self->buffer));
}

TEST_F(lib, forked_child_does_not_write_to_parent_trace)
{
	struct trace_stream stream;
	size_t count[2];
	int forks;
	pid_t child;

	for (forks = 0; forks < 2; forks++) {
		ASSERT_EQ(0, init(self));
		ASSERT_EQ(0, perfManualInit(NULL, 0, CHANNEL, perfCount_Raw,
					    self->buffer));
		ASSERT_EQ(0, perfTraceOn());
		ASSERT_EQ(0, perfWriteCntrs());
		child = forks ? fork() : 0;
		if (forks && !child) {
			/* perfWriteTrace() fails in the child, but does not raise a signal. */
			perfWriteCntrs();
			_exit(perfWriteTrace("/tmp/lib_test.child") ? 0 : 1);
		}
		EXPECT_EQ(0, forks ? trace_wait(child) : 0);
		EXPECT_TRUE(trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING);
		ASSERT_EQ(0, perfTraceOff());
		written(_metadata, self, &stream);
		count[forks] = stream.count;
	}
	EXPECT_EQ(count[0], count[1]);
}

TEST_F(lib, many_runs_work_in_one_process)
{
	const int rounds = trace_repeat(100);
	struct trace_stream stream;
	int round;

	for (round = 0; round < rounds; round++) {
		ASSERT_EQ(0, init(self));
		ASSERT_EQ(0, perfManualInit(events, countable(&self->info), CHANNEL,
					    (perfCountType_t)(round % 3),
					    self->buffer));
		ASSERT_EQ(0, perfTraceOn());
		ASSERT_EQ(0, perfWriteCntrs());
		ASSERT_EQ(0, perfTraceOff());
		written(_metadata, self, &stream);
		EXPECT_EQ(SIFIVE_TRACE_RECORD_MAGIC, stream.message[1].value);
		free(stream.message);
	}
}

TRACE_HARNESS_MAIN

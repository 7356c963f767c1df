// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that options reach the driver, and that invalid options are rejected with a message and
 * leave nothing allocated. A process can have only one session, regardless of the interface that
 * set it up.
 */
#include "kselftest_harness.h"

#include "lib_mock.h"

FIXTURE(options)
{
	struct sifive_trace *trace;
	struct sifive_trace_options options;
};

FIXTURE_SETUP(options)
{
	unsetenv("SIFIVE_TRACE_DEVICE");
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	mock_device_reset();
	self->options = (struct sifive_trace_options)SIFIVE_TRACE_OPTIONS;
	self->trace = sifive_trace_open();
	ASSERT_NE(NULL, self->trace);
	EXPECT_NOTHING_HELD();
}

FIXTURE_TEARDOWN(options)
{
	sifive_trace_close(self->trace);
	EXPECT_NOTHING_HELD();
}

#define SETUP()		sifive_trace_setup(self->trace, &self->options)
#define REFUSED(part) do {						\
	EXPECT_ERROR(SETUP(), part);					\
	EXPECT_STREQ(perfErrorString(), sifive_trace_error());		\
	EXPECT_NOTHING_HELD();						\
} while (0)

TEST_F(options, have_defaults)
{
	ASSERT_EQ(0, SETUP());
	EXPECT_EQ(SIFIVE_TRACE_SINK_SBA, dev.config.sink);
	EXPECT_EQ(1 << 20, dev.config.buffer);
	EXPECT_EQ(0, dev.config.flags);
	EXPECT_EQ(1, dev.config.encoders);
	EXPECT_EQ(0, dev.counters.count);
	EXPECT_EQ(0, dev.sampling.size);
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	EXPECT_EQ(6, dev.last_channel);
	ASSERT_EQ(0, sifive_trace_off(self->trace));
}

TEST_F(options, accept_firmware_events_for_samples_only)
{
	self->options.events = "cycles,fw:ipi-sent";
	REFUSED("event 1: only samples count firmware events");
	self->options.period = 10000;
	self->options.period_event = "fw:ipi-sent";
	REFUSED("\"fw:ipi-sent\": firmware events do not interrupt");
	self->options.period = 0;
	self->options.interval = 200;
	REFUSED("an interval with SIFIVE_TRACE_NO_HOOKS");
	self->options.flags = SIFIVE_TRACE_NO_HOOKS;
	ASSERT_EQ(0, SETUP());
	EXPECT_EQ(15, dev.counters.event[1].type);
	EXPECT_EQ(6, dev.counters.event[1].code);
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	sifive_trace_write(self->trace);
	EXPECT_EQ(0, mock_stores);
	/* No records are written after a dump, either, because the dump pauses the writers. */
	ASSERT_EQ(0, sifive_trace_dump(self->trace, "/dev/null"));
	sifive_trace_write(self->trace);
	EXPECT_EQ(0, mock_stores);
	ASSERT_EQ(0, sifive_trace_off(self->trace));
}

TEST_F(options, select_sink_channel_and_cpus)
{
	self->options.buffer = 0;
	self->options.channel = 9;
	self->options.cpus = "0-1";
	self->options.flags = SIFIVE_TRACE_RING;
	ASSERT_EQ(0, SETUP());
	EXPECT_EQ(SIFIVE_TRACE_SINK_SRAM, dev.config.sink);
	EXPECT_EQ(SIFIVE_TRACE_CONFIG_RING, dev.config.flags);
	EXPECT_EQ(3, dev.config.encoders);
	EXPECT_EQ(9, perf_pool->first);
}

TEST_F(options, accept_events_by_name)
{
	static const struct sifive_trace_name names[] = {
		{ "OWN_LOAD", 0x102 }, { "OWN_STORE", 0x202 },
	};

	self->options.events = "cycles:u,OWN_STORE:k,timestamp";
	self->options.names = names;
	self->options.names_count = 2;
	ASSERT_EQ(0, SETUP());
	EXPECT_EQ(3, dev.counters.count);
	EXPECT_EQ(0, dev.counters.event[0].type);
	EXPECT_EQ(1, dev.counters.event[0].code);
	EXPECT_EQ(SIFIVE_TRACE_EVENT_NO_KERNEL, dev.counters.event[0].flags);
	EXPECT_EQ(2, dev.counters.event[1].type);
	EXPECT_EQ(0x202, dev.counters.event[1].data);
	EXPECT_EQ(SIFIVE_TRACE_EVENT_NO_USER, dev.counters.event[1].flags);
	EXPECT_EQ(HW_TIMESTAMP, dev.counters.event[2].code);
}

TEST_F(options, select_per_thread_counts_by_default)
{
	self->options.events = "cycles";
	ASSERT_EQ(0, SETUP());
	EXPECT_EQ(SIFIVE_TRACE_COUNTERS_PER_THREAD, dev.counters.flags);
	self->options.flags = SIFIVE_TRACE_PER_THREAD;
	ASSERT_EQ(0, SETUP());
	EXPECT_EQ(SIFIVE_TRACE_COUNTERS_PER_THREAD, dev.counters.flags);
	self->options.flags = SIFIVE_TRACE_PER_CPU;
	ASSERT_EQ(0, SETUP());
	EXPECT_EQ(0, dev.counters.flags);
	self->options.flags |= SIFIVE_TRACE_PER_THREAD;
	EXPECT_ERROR(SETUP(), "requests per-thread and per-CPU counts");
}

TEST_F(options, can_turn_hooks_off)
{
	self->options.flags = SIFIVE_TRACE_NO_HOOKS;
	ASSERT_EQ(0, SETUP());
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	mock_stores = 0;
	__cyg_profile_func_enter(self, self);
	__cyg_profile_func_exit(self, self);
	EXPECT_EQ(0, mock_stores);
	ASSERT_EQ(0, sifive_trace_write(self->trace));
	EXPECT_LT(0, mock_stores);
}

TEST_F(options, reserve_a_channel_for_context_switches)
{
	struct perf_device *device = &perf_session.device;

	ASSERT_EQ(0, SETUP());
	EXPECT_EQ(31, perf_switches_set(device, 1 << 6, 0));
	EXPECT_EQ(31, dev.switches.channel);
	EXPECT_EQ(SIFIVE_TRACE_SWITCHES_WAKEUPS, dev.switches.flags);
	EXPECT_EQ(30, perf_switches_set(device, 1u << 31, SIFIVE_TRACE_SWITCHES_ALL));
	EXPECT_EQ(30, dev.switches.channel);
	EXPECT_EQ(SIFIVE_TRACE_SWITCHES_ALL | SIFIVE_TRACE_SWITCHES_WAKEUPS,
		  dev.switches.flags);
	/* Registers 16 to 31 are channels 0 to 15. */
	device->encoder[0].flags |= SIFIVE_TRACE_ENCODER_TS_CHANNELS;
	EXPECT_EQ(14, perf_switches_set(device, 1u << 15, 0));
	EXPECT_EQ(30, dev.switches.channel);
	dev.fail_request = SIFIVE_TRACE_IOC_SWITCHES;
	EXPECT_EQ(-1, perf_switches_set(device, 0, 0));
	EXPECT_TRUE(strstr(sifive_trace_error(), "cannot record context switches"));
}

TEST_F(options, accept_a_sampling_interval)
{
	self->options.interval = 99;
	self->options.flags = SIFIVE_TRACE_SAMPLE_ALL | SIFIVE_TRACE_HEADER_ONCE;
	ASSERT_EQ(0, SETUP());
	EXPECT_EQ(100000, dev.sampling.interval);
	EXPECT_EQ(0, dev.sampling.period);
	EXPECT_EQ(7, dev.sampling.channel);
	EXPECT_EQ(SIFIVE_TRACE_SAMPLING_ALL | SIFIVE_TRACE_SAMPLING_ONE_HEADER,
		  dev.sampling.flags);
	/* The last channel is refused, because another channel must follow. */
	self->options.channel = 31;
	self->options.interval = 4000000000u;
	ASSERT_EQ(0, SETUP());
	EXPECT_EQ(0, dev.sampling.channel);
	EXPECT_EQ(4000000000000, dev.sampling.interval);
}

TEST_F(options, accept_a_sampling_event)
{
	self->options.period = 12345678901;
	self->options.period_event = "r102:u";
	ASSERT_EQ(0, SETUP());
	EXPECT_EQ(0, dev.sampling.interval);
	EXPECT_EQ(12345678901, dev.sampling.period);
	EXPECT_EQ(2, dev.sampling.event.type);
	EXPECT_EQ(0x102, dev.sampling.event.data);
	EXPECT_EQ(SIFIVE_TRACE_EVENT_NO_KERNEL, dev.sampling.event.flags);
}

TEST_F(options, refuse_invalid_numbers)
{
	self->options.flags = 1 << 7;
	REFUSED("unknown bits: 0x80");
	self->options.flags = 0;
	self->options.count_type = 3;
	REFUSED("count_type is 3");
	self->options.count_type = 0;
	self->options.channel = 32;
	REFUSED("channel is 32");
	self->options.channel = 6;
	self->options.size = 8;
	REFUSED("options.size is 8: initialise them with SIFIVE_TRACE_OPTIONS");
}

/* With a newer header, unset fields are ignored, and set fields are rejected as unknown. */
TEST_F(options, of_a_newer_size_are_accepted_if_unset)
{
	struct {
		struct sifive_trace_options known;
		unsigned char more[16];
	} newer = { .known = self->options };

	newer.known.size = sizeof(newer);
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &newer.known));
	newer.more[15] = 1;
	EXPECT_ERROR(sifive_trace_setup(self->trace, &newer.known), "options that this library does not support");
	newer.more[15] = 0;
	newer.known.size = 4097;
	EXPECT_ERROR(sifive_trace_setup(self->trace, &newer.known), "options.size is 4097");
}

/*
 * The program was built against the first sifive_trace.h, so the library does not read later
 * fields.
 */
TEST_F(options, of_the_first_size_are_accepted)
{
	self->options.header_interval = 5;
	REFUSED("headers at intervals of 5 records need a ring of XOR");
	self->options.size = offsetof(struct sifive_trace_options, header_interval);
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options));
	EXPECT_EQ(0, perf_pool->interval);
}

TEST_F(options, set_the_header_interval)
{
	self->options.flags = SIFIVE_TRACE_RING;
	self->options.count_type = SIFIVE_TRACE_XOR;
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options));
	EXPECT_EQ(100, perf_pool->interval);
	self->options.header_interval = 5;
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options));
	EXPECT_EQ(5, perf_pool->interval);
	self->options.flags |= SIFIVE_TRACE_HEADER_ONCE;
	REFUSED("without a single header");
	self->options.header_interval = 0;
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options));
	EXPECT_EQ(0, perf_pool->interval);
}

TEST_F(options, accept_valid_stack_sizes)
{
	self->options.stack = 512;
	REFUSED("stacks need samples");
	self->options.interval = 1000;
	self->options.stack = 500;
	REFUSED("options.stack is 500: it must be a multiple of 8 up to 8192");
	self->options.stack = 8200;
	REFUSED("options.stack is 8200");
	self->options.stack = 8192;
	self->options.flags = SIFIVE_TRACE_CALLERS;
	REFUSED("not both");
	self->options.flags = 0;
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options));
	EXPECT_EQ(SIFIVE_TRACE_SAMPLING_STACK(8192) | SIFIVE_TRACE_SAMPLING_KERNEL,
		  perf_session.setup.sampling.flags);
}

TEST_F(options, refuse_invalid_events)
{
	self->options.events = "cycles,nonsense";
	REFUSED("nonsense");
	self->options.events = "cycles,";
	REFUSED("event");
	self->options.events = "instructions,cycles:u,cycles,cycles:u";
	REFUSED("events \"cycles:u\" and \"cycles:u\" are the same");
	self->options.events = "r1,r2,r3,r4,r5,r6,r7,r8,r9,r10,r11,r12,r13,r14,r15,"
		"r16,r17,r18,r19,r1a,r1b,r1c,r1d,r1e,r1f,r20,r21,r22,r23,r24,r25,"
		"r26,r27,r28";
	REFUSED("more than 32 events: \"r27\" is one too many");
	self->options.events = NULL;
	self->options.names_count = 1;
	REFUSED("options.names is NULL");
}

TEST_F(options, refuse_contradictory_sampling)
{
	self->options.interval = 1000;
	self->options.period = 1000;
	self->options.period_event = "cycles";
	REFUSED("not both");
	self->options.interval = 0;
	self->options.period_event = "";
	REFUSED("no event is given for it");
	self->options.period_event = NULL;
	REFUSED("no event is given for it");
	self->options.period_event = "cycles,instructions";
	REFUSED("cycles,instructions");
}

TEST_F(options, refuse_invalid_cpu_lists)
{
	static const char *const lists[] = {
		"x", "-1", "1-", "0,", ",0", "2-1", "0 1", "1024", "0-1024",
		"99999999999999999999", "",
	};
	unsigned int i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		self->options.cpus = lists[i];
		REFUSED("is not a list of CPUs such as 0-2,5");
	}
	self->options.cpus = "7,3-5";
	REFUSED("CPU 3 has no trace encoder");
}

TEST_F(options, calls_refuse_invalid_handles)
{
	struct sifive_trace_report report = { .size = sizeof(report) };

	EXPECT_ERROR(sifive_trace_setup(NULL, &self->options), "NULL");
	EXPECT_ERROR(sifive_trace_setup(self->trace, NULL), "NULL");
	EXPECT_ERROR(sifive_trace_on(NULL), "NULL");
	EXPECT_ERROR(sifive_trace_off(self->trace), "call sifive_trace_setup() first");
	EXPECT_ERROR(sifive_trace_write(self->trace), "call sifive_trace_setup() first");
	EXPECT_ERROR(sifive_trace_dump(self->trace, NULL), "call sifive_trace_setup() first");
	EXPECT_ERROR(sifive_trace_status(self->trace, &report), "call sifive_trace_setup() first");
	ASSERT_EQ(0, SETUP());
	EXPECT_ERROR(sifive_trace_status(self->trace, NULL), "the report is NULL");
	report.size = 4;
	EXPECT_ERROR(sifive_trace_status(self->trace, &report), "report.size is 4");
	sifive_trace_close(NULL);
}

TEST_F(options, belong_to_one_session_per_process)
{
	struct sifive_trace *other;

	ASSERT_EQ(0, SETUP());
	ASSERT_EQ(0, SETUP());
	EXPECT_EQ(1, dev.fds);
	other = sifive_trace_open();
	ASSERT_NE(NULL, other);
	EXPECT_ERROR(sifive_trace_setup(other, &self->options), "a process can have only one");
	EXPECT_ERROR(sifive_trace_on(other), "call sifive_trace_setup() first");
	EXPECT_ERROR(perfInit(2, 1), "already traced, through sifive_trace_setup()");
	EXPECT_ERROR(perfTraceOn(), "already traced, through sifive_trace_setup()");
	sifive_trace_close(other);
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	EXPECT_ERROR(SETUP(), "tracing is on");

	/* Without errors, closing the handle releases everything. */
	sifive_trace_close(self->trace);
	self->trace = NULL;
	EXPECT_NOTHING_HELD();
	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, perfManualInit(NULL, 0, 6, perfCount_Raw, 4096));
	other = sifive_trace_open();
	EXPECT_ERROR(sifive_trace_setup(other, &self->options), "a process can have only one");
	sifive_trace_close(other);
	EXPECT_EQ(1, dev.fds);
	perf_session_end();
}

TEST_F(options, status_report_is_complete)
{
	struct sifive_trace_report report = { .size = sizeof(report) };

	ASSERT_EQ(0, SETUP());
	dev.status.bytes = 4711;
	dev.status.samples = 10;
	dev.status.samples_lost = 3;
	dev.status.flags = SIFIVE_TRACE_STATUS_FULL;
	*perf_pool->lost = (struct sifive_trace_losses) {
		.signals = 1, .threads = 2, .abandoned = 4,
	};
	ASSERT_EQ(0, sifive_trace_status(self->trace, &report));
	EXPECT_EQ(sizeof(report), report.size);
	EXPECT_EQ(SIFIVE_TRACE_FULL, report.flags);
	EXPECT_EQ(4711, report.bytes);
	EXPECT_EQ(1, report.lost_signals);
	EXPECT_EQ(2, report.lost_threads);
	EXPECT_EQ(4, report.lost_abandoned);
	EXPECT_EQ(10, report.samples);
	EXPECT_EQ(3, report.lost_samples);
	EXPECT_EQ(1, report.sinks);
	EXPECT_EQ(0, report.lost_counters);

	dev.status.flags = SIFIVE_TRACE_STATUS_WRAPPED;
	dev.status.sinks = 2;
	dev.status.counters_lost = 0x80000005;
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	ASSERT_EQ(0, sifive_trace_status(self->trace, &report));
	EXPECT_EQ(SIFIVE_TRACE_ON | SIFIVE_TRACE_WRAPPED, report.flags);
	EXPECT_EQ(2, report.sinks);
	EXPECT_EQ(0x80000005, report.lost_counters);
	ASSERT_EQ(0, sifive_trace_off(self->trace));
	ASSERT_EQ(0, sifive_trace_status(self->trace, &report));
	EXPECT_EQ(SIFIVE_TRACE_WRAPPED, report.flags);
}

/*
 * The program was built with a newer header. The library does not write fields that were added
 * after it was built.
 */
TEST_F(options, status_report_of_a_newer_size_is_accepted)
{
	struct {
		struct sifive_trace_report known;
		uint64_t more;
	} newer = { .known.size = sizeof(newer), .more = 4711 };

	ASSERT_EQ(0, SETUP());
	dev.status.bytes = 12;
	ASSERT_EQ(0, sifive_trace_status(self->trace, &newer.known));
	EXPECT_EQ(sizeof(newer), newer.known.size);
	EXPECT_EQ(12, newer.known.bytes);
	EXPECT_EQ(4711, newer.more);
}

TEST_HARNESS_MAIN

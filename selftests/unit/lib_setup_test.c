// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the initialisation calls configure the driver as the program specifies. Every invalid
 * argument and every system failure results in an error that states the remedy, and a failed call
 * leaves nothing allocated.
 */
#include "kselftest_harness.h"

#include <unistd.h>

static pid_t asked_getpid(void);
#define getpid()	asked_getpid()
#include "lib_mock.h"

/*
 * Set if another thread could have seen a pool that, like a forked child's pool, has no process id.
 */
static bool looks_wiped;

static pid_t asked_getpid(void)
{
	looks_wiped = looks_wiped || (perf_pool && !perf_pool->pid);
	return (pid_t)syscall(SYS_getpid);
}

FIXTURE(lib)
{
	perfEvent list[3];
};

FIXTURE_SETUP(lib)
{
	unsetenv("SIFIVE_TRACE_DEVICE");
	unsetenv("SIFIVE_TRACE_HEADER");
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	mock_device_reset();
	memset(self->list, 0, sizeof(self->list));
	self->list[0].code = HW_TIMESTAMP;
	self->list[1].type = perfEventHWRaw;
	self->list[1].event_data = 2 << 16;
	self->list[2].code = HW_CPU_CYCLES;
}

FIXTURE_TEARDOWN(lib)
{
	if (perf_session.state != PERF_SESSION_ON) {
		perf_session_end();
		EXPECT_NOTHING_HELD();
	}
}

#define INIT()	perfManualInit(self->list, 3, 6, perfCount_Delta, 32768)

TEST_F(lib, missing_device_is_reported)
{
	dev.open_errno = ENOENT;
	EXPECT_ERROR(perfInit(2, 1), "no trace device /dev/sifive-trace: load sifive_trace.ko, or see \"sifive-trace info\"");
	dev.open_errno = ENODEV;
	EXPECT_ERROR(perfInit(2, 1), "load sifive_trace.ko");
	dev.module = true;
	EXPECT_ERROR(perfInit(2, 1), "the module is loaded, but found no trace encoder");
	dev.open_errno = ENOENT;
	EXPECT_ERROR(perfInit(2, 1), "no trace device /dev/sifive-trace, though the module is loaded");
	EXPECT_ERROR(INIT(), "call perfInit() first");
	EXPECT_NOTHING_HELD();
}

TEST_F(lib, missing_permission_is_reported)
{
	dev.open_errno = EACCES;
	EXPECT_ERROR(perfInit(2, 1), "CAP_PERFMON");
	dev.open_errno = EPERM;
	EXPECT_ERROR(perfInit(2, 1), "CAP_PERFMON");
	dev.open_errno = EMFILE;
	EXPECT_ERROR(perfInit(2, 1), "cannot open /dev/sifive-trace: Too many open files");
}

TEST_F(lib, environment_selects_the_device)
{
	ASSERT_EQ(0, perfInit(2, 1));
	EXPECT_STREQ("/dev/sifive-trace", dev.path);
	setenv("SIFIVE_TRACE_DEVICE", "/dev/other", 1);
	ASSERT_EQ(0, perfInit(2, 1));
	EXPECT_STREQ("/dev/other", dev.path);
	dev.open_errno = ENOENT;
	EXPECT_ERROR(perfInit(2, 1), "no trace device /dev/other");
}

TEST_F(lib, foreign_device_is_refused)
{
	dev.fail_request = SIFIVE_TRACE_IOC_INFO;
	dev.fail_errno = ENOTTY;
	EXPECT_ERROR(perfInit(2, 1), "/dev/sifive-trace is not a trace device");
	EXPECT_NOTHING_HELD();
	dev.fail_errno = ENODEV;
	EXPECT_ERROR(perfInit(2, 1), "unbound");
	dev.fail_request = 0;
	dev.info.abi++;
	EXPECT_ERROR(perfInit(2, 1), "this library needs 4");
	EXPECT_NOTHING_HELD();
}

/* As documented, the old API counts per hart unless the environment changes that. */
TEST_F(lib, counts_are_per_hart_by_default)
{
	perfEvent cycles = { .type = perfEventHWGeneral, .code = 1 };

	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, perfManualInit(&cycles, 1, 6, perfCount_Delta, 4096));
	EXPECT_EQ(0, dev.counters.flags);
	setenv("SIFIVE_TRACE_PER_CPU", "no", 1);
	EXPECT_EQ(0, perfManualInit(&cycles, 1, 6, perfCount_Delta, 4096));
	EXPECT_EQ(SIFIVE_TRACE_COUNTERS_PER_THREAD, dev.counters.flags);
	setenv("SIFIVE_TRACE_PER_CPU", "never", 1);
	EXPECT_EQ(-1, perfManualInit(&cycles, 1, 6, perfCount_Delta, 4096));
	unsetenv("SIFIVE_TRACE_PER_CPU");
}

TEST_F(lib, init_refuses_invalid_arguments)
{
	EXPECT_ERROR(perfInit(0, 1), "num_cores is 0");
	EXPECT_ERROR(perfInit(-1, 1), "num_cores is -1");
	EXPECT_ERROR(perfInit(1, -1), "num_funnels is -1");
	EXPECT_NOTHING_HELD();
}

TEST_F(lib, init_reports_contradictory_numbers)
{
	ASSERT_EQ(0, perfInit(2, 1));
	EXPECT_STREQ("", perfErrorString());
	ASSERT_EQ(0, perfInit(5, 0));
	EXPECT_NE(NULL, strstr(perfErrorString(), "expects 5 encoders and 0 funnels, but there are 2 and 1"));
	EXPECT_EQ(0, INIT());
	EXPECT_STREQ("", perfErrorString());
}

TEST_F(lib, calls_out_of_order_are_refused)
{
	char name[] = "/nonexistent/trace";

	EXPECT_ERROR(INIT(), "call perfInit() first");
	EXPECT_ERROR(perfTraceOn(), "call perfInit() first");
	EXPECT_ERROR(perfTraceOff(), "call perfInit() first");
	EXPECT_ERROR(perfWriteCntrs(), "call perfInit() first");
	EXPECT_ERROR(perfWriteTrace(name), "call perfInit() first");
	ASSERT_EQ(0, perfInit(2, 1));
	EXPECT_ERROR(perfTraceOn(), "call perfManualInit(), perfFuncEntryExitInit() or perfTimerISRInit() first");
	EXPECT_ERROR(perfTraceOff(), "call perfManualInit()");
	EXPECT_ERROR(perfWriteCntrs(), "call perfManualInit()");
	EXPECT_ERROR(perfWriteTrace(name), "call perfManualInit()");
	__cyg_profile_func_enter(name, name);
	__cyg_profile_func_exit(name, name);
	EXPECT_EQ(0, mock_stores);
}

/*
 * A thread may be within a record of an earlier set-up that had more CPUs. The state of its channel
 * on such a CPU (its lane) must therefore remain usable.
 */
TEST_F(lib, unused_lanes_remain_writable)
{
	const struct perf_lane *lane;

	dev.cpus = 3;
	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, perfManualInit(self->list, 3, 6, perfCount_Delta, 4096));
	dev.cpus = 2;
	ASSERT_EQ(0, perfManualInit(self->list, 3, 6, perfCount_Delta, 4096));
	lane = &perf_pool->lane[6][1];
	EXPECT_NE(NULL, lane->stream.stimulus);
	EXPECT_NE(NULL, lane->stream.last);
	EXPECT_NE(NULL, lane->stream.layout);
}

/* The kernel uses the channel, and the program's own records use the next channel. */
TEST_F(lib, timer_samples_use_the_channel_and_interval)
{
	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, perfTimerISRInit(self->list, 3, 6, perfCount_Delta, 4096, 250));
	EXPECT_EQ(6, dev.sampling.channel);
	EXPECT_EQ(1, dev.sampling.count_type);
	EXPECT_EQ(250000, dev.sampling.interval);
	EXPECT_EQ(0, dev.sampling.period);
	EXPECT_EQ(0, dev.sampling.flags);
	ASSERT_EQ(0, perfTraceOn());
	EXPECT_EQ(7, dev.last_channel);
	ASSERT_EQ(0, perfTraceOff());

	ASSERT_EQ(0, perfTimerISRInit(NULL, 0, 31, perfCount_Raw, 0, 3));
	EXPECT_EQ(31, dev.sampling.channel);
	EXPECT_EQ(100000, dev.sampling.interval);
	ASSERT_EQ(0, perfTraceOn());
	EXPECT_EQ(0, dev.last_channel);
	ASSERT_EQ(0, perfTraceOff());

	dev.fail_request = SIFIVE_TRACE_IOC_SAMPLING;
	dev.fail_errno = ENOTTY;
	EXPECT_ERROR(perfTimerISRInit(NULL, 0, 6, perfCount_Raw, 0, 100), "its driver is older than this library");
	EXPECT_NOTHING_HELD();

	/* The error must report that the counters are busy, not that this process holds them. */
	dev.fail_errno = EBUSY;
	dev.status.holder = getpid();
	dev.status.flags = SIFIVE_TRACE_STATUS_OWNER;
	strcpy(dev.status.message, "no counter is free for sampling");
	EXPECT_ERROR(perfTimerISRInit(NULL, 0, 6, perfCount_Raw, 0, 100),
		     "(no counter is free for sampling)");
	EXPECT_EQ(NULL, strstr(perfErrorString(), "this process already holds it"));
}

/* Only the kernel can read firmware counters, so the program writes nothing. */
TEST_F(lib, firmware_events_need_timer_samples)
{
	static const char words[] = "event 1: only samples count firmware events: use perfTimerISRInit()";
	perfEvent list[] = {
		{ .code = HW_CPU_CYCLES }, { .type = perfEventFirmware, .code = FW_IPI_SENT },
	};

	ASSERT_EQ(0, perfInit(2, 1));
	EXPECT_ERROR(perfManualInit(list, 2, 6, perfCount_Delta, 4096), words);
	EXPECT_NOTHING_HELD();
	EXPECT_ERROR(perfFuncEntryExitInit(list, 2, 6, perfCount_Delta, 4096), words);
	EXPECT_NOTHING_HELD();
	list[1].code = -1;
	EXPECT_ERROR(perfTimerISRInit(list, 2, 6, perfCount_Delta, 4096, 250),
		     "event 1: firmware event -1: it must be 0 to 21");
	list[1].code = FW_HFENCE_VVMA_ASID_RECEIVED + 1;
	EXPECT_ERROR(perfTimerISRInit(list, 2, 6, perfCount_Delta, 4096, 250), "it must be 0 to 21");
	list[1].code = FW_HFENCE_VVMA_ASID_RECEIVED;
	ASSERT_EQ(0, perfTimerISRInit(list, 2, 6, perfCount_Delta, 4096, 250));
	EXPECT_EQ(15, dev.counters.event[1].type);
	EXPECT_EQ(21, dev.counters.event[1].code);
	EXPECT_EQ(0, dev.counters.event[1].flags);
	EXPECT_EQ(dev.counters.event[1].counter, list[1].ctrIdx);
	EXPECT_EQ(0, list[1].ctrInfo & SIFIVE_TRACE_COUNTER_CSR);
	ASSERT_EQ(0, perfTraceOn());
	EXPECT_ERROR(perfWriteCntrs(), "only samples count firmware events");
	__cyg_profile_func_enter(list, list);
	EXPECT_EQ(0, mock_stores);
	ASSERT_EQ(0, perfTraceOff());

	/* The failed set-up must not affect the next set-up. */
	ASSERT_EQ(0, perfManualInit(list, 1, 6, perfCount_Delta, 4096));
	ASSERT_EQ(0, perfTraceOn());
	EXPECT_EQ(0, perfWriteCntrs());
	EXPECT_LT(0, mock_stores);
	ASSERT_EQ(0, perfTraceOff());

	list[1].code = FW_IPI_SENT;
	dev.fail_event = 1;
	dev.fail_errno = EBUSY;
	EXPECT_ERROR(perfTimerISRInit(list, 2, 6, perfCount_Delta, 4096, 250),
		     "firmware has no counter left");
}

TEST_F(lib, invalid_arguments_are_refused)
{
	static perfEvent many[33];
	int i;

	for (i = 0; i < 33; i++) {
		many[i].type = perfEventHWRaw;
		many[i].event_data = 0x100 + i;
	}

	ASSERT_EQ(0, perfInit(2, 1));
	EXPECT_ERROR(perfManualInit(self->list, -1, 6, perfCount_Raw, 0), "numCntrs is -1");
	EXPECT_ERROR(perfManualInit(many, 33, 6, perfCount_Raw, 0), "numCntrs is 33: it must be 0 to 32");
	EXPECT_ERROR(perfManualInit(NULL, 1, 6, perfCount_Raw, 0), "perfCntrList is NULL");
	EXPECT_ERROR(perfManualInit(self->list, 3, -1, perfCount_Raw, 0), "itcChannel is -1");
	EXPECT_ERROR(perfManualInit(self->list, 3, 32, perfCount_Raw, 0), "itcChannel is 32");
	EXPECT_ERROR(perfManualInit(self->list, 3, 6, (perfCountType_t)3, 0), "cntType is 3");
	EXPECT_ERROR(perfManualInit(self->list, 3, 6, (perfCountType_t)-1, 0), "cntType is -1");
	EXPECT_ERROR(perfFuncEntryExitInit(NULL, 1, 6, perfCount_Raw, 0), "perfCntrList is NULL");
	EXPECT_NOTHING_HELD();
}

TEST_F(lib, invalid_events_are_refused)
{
	ASSERT_EQ(0, perfInit(2, 1));

	self->list[1].type = 3;
	EXPECT_ERROR(INIT(), "event 1 of the list: type 3");
	self->list[1].type = -1;
	EXPECT_ERROR(INIT(), "event 1 of the list: type -1");
	self->list[1].type = perfEventHWGeneral;
	self->list[1].code = -2;
	EXPECT_ERROR(INIT(), "event 1 of the list: code -2");

	self->list[1] = (perfEvent) { .type = perfEventHWCache, .cache_id = 0x2000 };
	EXPECT_ERROR(INIT(), "cache_id 8192");
	self->list[1] = (perfEvent) { .type = perfEventHWCache, .op_id = 4 };
	EXPECT_ERROR(INIT(), "op_id 4");
	self->list[1] = (perfEvent) { .type = perfEventHWCache, .result_id = 2 };
	EXPECT_ERROR(INIT(), "result_id 2");
	self->list[1] = (perfEvent) { .type = perfEventHWCache, .cache_id = -1 };
	EXPECT_ERROR(INIT(), "cache_id -1");

	self->list[1] = self->list[2];
	EXPECT_ERROR(INIT(), "events 1 and 2 of the list are the same");
	EXPECT_NOTHING_HELD();
}

TEST_F(lib, affinity_selects_encoders)
{
	ASSERT_EQ(0, perfInit(2, 1));
	dev.cpus = 3;
	mock_no_rseq = true;
	EXPECT_ERROR(INIT(), "records need restartable sequences (rseq)");
	mock_no_rseq = false;
	EXPECT_EQ(0, INIT());
	EXPECT_EQ(3, dev.config.encoders);
	EXPECT_EQ(3, dev.maps);
	dev.affinity_errno = EINVAL;
	EXPECT_ERROR(INIT(), "CPU affinity");
	dev.affinity_errno = 0;
	dev.cpus = 1 << 5;
	EXPECT_ERROR(INIT(), "CPU 5 has no trace encoder: run the program on a CPU that has one, for example with taskset -c 0");
	dev.info.encoders = 0;
	EXPECT_ERROR(INIT(), "CPU 5 has no trace encoder");
	EXPECT_NOTHING_HELD();
}

static void *init_on_cpu_0(void *buffer)
{
	dev.cpus = 1 << 0;
	return (void *)(intptr_t)perfManualInit(NULL, 0, 6, perfCount_Delta,
						*(uint32_t *)buffer);
}

static void init_in_thread(struct __test_metadata *_metadata, uint32_t buffer)
{
	pthread_t thread;
	void *rc;

	ASSERT_EQ(0, pthread_create(&thread, NULL, init_on_cpu_0, &buffer));
	ASSERT_EQ(0, pthread_join(thread, &rc));
	EXPECT_EQ(NULL, rc);
	dev.cpus = 1 << 1;
}

/* While the pool has no process id, a call by any thread would discard the session. */
TEST_F(lib, pool_is_never_visible_without_its_process_id)
{
	ASSERT_EQ(NULL, perf_pool);
	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, INIT());
	ASSERT_NE(NULL, perf_pool);
	EXPECT_FALSE(looks_wiped);
}

/* Encoder 0 belongs to CPU 1; threads on several CPUs that request the same set-up share it. */
TEST_F(lib, threads_add_their_cpus)
{
	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, perfManualInit(NULL, 0, 6, perfCount_Delta, 4096));
	EXPECT_EQ(1, dev.config.encoders);
	init_in_thread(_metadata, 4096);
	EXPECT_EQ(3, dev.config.encoders);
	/*
	 * A thread's request is a new set-up if its buffer size differs, if tracing was on, or if
	 * the thread repeats it.
	 */
	init_in_thread(_metadata, 8192);
	EXPECT_EQ(2, dev.config.encoders);
	ASSERT_EQ(0, perfManualInit(NULL, 0, 6, perfCount_Delta, 8192));
	EXPECT_EQ(3, dev.config.encoders);
	ASSERT_EQ(0, perfManualInit(NULL, 0, 6, perfCount_Delta, 8192));
	EXPECT_EQ(1, dev.config.encoders);
	ASSERT_EQ(0, perfTraceOn());
	ASSERT_EQ(0, perfTraceOff());
	init_in_thread(_metadata, 8192);
	EXPECT_EQ(2, dev.config.encoders);
}

TEST_F(lib, sba_sink_is_requested_with_its_size)
{
	ASSERT_EQ(0, perfInit(2, 1));
	EXPECT_NOTHING_HELD();
	dev.cpus = 1;
	ASSERT_EQ(0, INIT());
	EXPECT_EQ(sizeof(dev.config), dev.config.size);
	EXPECT_EQ(0, dev.config.flags);
	EXPECT_EQ(SIFIVE_TRACE_SINK_SBA, dev.config.sink);
	EXPECT_EQ(32768, dev.config.buffer);
	EXPECT_EQ(~0u, dev.config.channels);
	EXPECT_EQ(2, dev.config.encoders);
	EXPECT_EQ(0, dev.config.prescale);
	EXPECT_EQ(0x20000, dev.mmap_offset);
	EXPECT_EQ(1, dev.fds);
	EXPECT_EQ(2, dev.maps);
	EXPECT_EQ(0, dev.starts);
}

TEST_F(lib, sram_sink_is_requested_without_a_size)
{
	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, perfFuncEntryExitInit(NULL, 0, 31, perfCount_Raw, 0));
	EXPECT_EQ(SIFIVE_TRACE_SINK_SRAM, dev.config.sink);
	EXPECT_EQ(0, dev.config.buffer);
	EXPECT_EQ(~0u, dev.config.channels);
	EXPECT_EQ(1, dev.config.encoders);
	EXPECT_EQ(0, dev.counters.size);
}

TEST_F(lib, events_are_requested_from_the_driver)
{
	perfEvent list[] = {
		{ .type = perfEventHWCache, .cache_id = HW_CACHE_DTLB,
		  .op_id = HW_CACHE_OP_WRITE, .result_id = HW_CACHE_RESULT_MISS,
		  .event_data = 99 },
		{ .type = perfEventHWRaw, .code = 77,
		  .event_data = (unsigned long)0x8000000000020001 },
		{ .type = perfEventHWGeneral, .code = HW_INSTRUCTIONS,
		  .event_data = 99 },
		{ .type = perfEventHWGeneral, .code = HW_TIMESTAMP },
	};

	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, perfManualInit(list, 4, 6, perfCount_Raw, 4096));
	EXPECT_EQ(4, dev.counters.count);
	EXPECT_EQ(0, dev.counters.flags);
	EXPECT_EQ(1, dev.counters.event[0].type);
	EXPECT_EQ(0x1b, dev.counters.event[0].code);
	EXPECT_EQ(0, dev.counters.event[0].data);
	EXPECT_EQ(2, dev.counters.event[1].type);
	EXPECT_EQ(0, dev.counters.event[1].code);
	EXPECT_EQ(0x8000000000020001, dev.counters.event[1].data);
	EXPECT_EQ(2, dev.counters.event[2].code);
	EXPECT_EQ(0, dev.counters.event[2].data);

	EXPECT_EQ(3, list[0].ctrIdx);
	EXPECT_EQ(0x3fc03, list[0].ctrInfo);
	EXPECT_EQ(4, list[1].ctrIdx);
	EXPECT_EQ(2, list[2].ctrIdx);
	EXPECT_EQ(0x3fc02, list[2].ctrInfo);
	EXPECT_EQ(1, list[3].ctrIdx);
	EXPECT_EQ(0x27000, list[3].ctrInfo);
}

TEST_F(lib, timestamp_channels_limit_the_channel)
{
	dev.encoder[0].flags |= SIFIVE_TRACE_ENCODER_TS_CHANNELS;
	ASSERT_EQ(0, perfInit(2, 1));
	EXPECT_ERROR(perfManualInit(NULL, 0, 16, perfCount_Raw, 4096), "use a channel below 16");
	EXPECT_NOTHING_HELD();
	ASSERT_EQ(0, perfManualInit(NULL, 0, 6, perfCount_Raw, 4096));
	EXPECT_EQ(~0u, dev.config.channels);
	ASSERT_EQ(0, perfTraceOn());
	EXPECT_EQ(22, dev.last_channel);
	ASSERT_EQ(0, perfTraceOff());
}

TEST_F(lib, unreadable_timestamp_is_refused)
{
	dev.encoder[0].flags = 0;
	ASSERT_EQ(0, perfInit(2, 1));
	EXPECT_ERROR(INIT(), "event 0 of the list: programs cannot read the trace timestamp");
	EXPECT_EQ(NULL, strstr(perfErrorString(), "because"));
	EXPECT_NOTHING_HELD();
	dev.encoder[0].flags = SIFIVE_TRACE_ENCODER_TESTED;
	EXPECT_ERROR(INIT(), "omit it, because this hardware provides no times");
	dev.encoder[0].ts_registers = 1;
	EXPECT_ERROR(INIT(), "omit it, because every message has a timestamp");
	EXPECT_EQ(0, perfManualInit(self->list + 1, 2, 6, perfCount_Raw, 4096));
}

TEST_F(lib, config_errors_are_explained)
{
	ASSERT_EQ(0, perfInit(2, 1));
	dev.fail_request = SIFIVE_TRACE_IOC_CONFIG;

	dev.fail_errno = EBUSY;
	dev.status.holder = 4711;
	EXPECT_ERROR(INIT(), "process 4711 holds the trace hardware");
	dev.status.holder = getpid();
	EXPECT_ERROR(INIT(), "this process already holds it");
	dev.status.holder = 0;
	dev.fail_errno = EPERM;
	EXPECT_ERROR(INIT(), "CAP_PERFMON");
	dev.fail_errno = ENOMEM;
	EXPECT_ERROR(INIT(), "32768 bytes of memory: no buffer of that size");
	dev.fail_errno = EOPNOTSUPP;
	EXPECT_ERROR(INIT(), "use SRAM with SBABufferSize 0 or --sink sram");
	EXPECT_ERROR(perfManualInit(NULL, 0, 6, perfCount_Raw, 0), "use memory with an SBABufferSize above 0 or --sink sba");
	dev.fail_errno = EINVAL;
	EXPECT_ERROR(perfManualInit(NULL, 0, 6, perfCount_Raw, UINT32_MAX), "4294967295 bytes of memory: Invalid argument");

	dev.fail_errno = ETIMEDOUT;
	strcpy(dev.status.message, "te1: not empty");
	EXPECT_ERROR(INIT(), "(te1: not empty)");
	memset(dev.status.message, 'x', sizeof(dev.status.message));
	EXPECT_ERROR(INIT(), "xxx)");
	EXPECT_NOTHING_HELD();
}

TEST_F(lib, counter_errors_are_explained)
{
	ASSERT_EQ(0, perfInit(2, 1));
	dev.fail_event = 1;
	dev.fail_errno = EOPNOTSUPP;
	EXPECT_ERROR(INIT(), "cannot count event 1 of the list: this processor's firmware does not support it");
	dev.fail_errno = EBUSY;
	EXPECT_ERROR(INIT(), "no counter that can count it is free");
	dev.free_counters = 0x18;
	dev.readable = 0x1d;
	EXPECT_ERROR(INIT(), "the 1 event before it needs all counters that can count it: 2 of this processor's 4");
	dev.fail_event = 2;
	dev.fail_errno = EINVAL;
	EXPECT_ERROR(INIT(), "cannot count event 2 of the list: there is no such event");
	dev.fail_event = ~0u;
	dev.fail_request = SIFIVE_TRACE_IOC_COUNTERS;
	dev.fail_errno = EIO;
	EXPECT_ERROR(INIT(), "cannot take the counters: ");
	EXPECT_NOTHING_HELD();
}

TEST_F(lib, impossible_counters_are_refused)
{
	ASSERT_EQ(0, perfInit(2, 1));
	dev.event_set = 2;
	dev.event[1].counter = 32;
	dev.event[1].info = 0xc20;
	EXPECT_ERROR(INIT(), "counter 32 with CSR 0xc20");
	dev.event[1].counter = 3;
	dev.event[1].info = 0xb03;
	EXPECT_ERROR(INIT(), "counter 3 with CSR 0xb03");
	dev.event[1].counter = 1;
	dev.event[1].info = 0xc01;
	EXPECT_ERROR(INIT(), "counter 1 with CSR 0xc01");
	dev.event[1].counter = 0;
	dev.event[1].info = 0xc00;
	EXPECT_ERROR(INIT(), "the same counter to two events");
	EXPECT_NOTHING_HELD();
	EXPECT_EQ(0, self->list[0].ctrInfo);
}

TEST_F(lib, map_errors_are_explained)
{
	ASSERT_EQ(0, perfInit(2, 1));
	dev.mmap_errno = EPERM;
	EXPECT_ERROR(INIT(), "cannot map the stimulus registers: permission denied: run as root, or give the program CAP_PERFMON (");
	dev.encoder[0].flags |= SIFIVE_TRACE_ENCODER_RAWIO;
	EXPECT_ERROR(INIT(), "CAP_SYS_RAWIO");
	dev.mmap_errno = ENODEV;
	EXPECT_ERROR(INIT(), "unbound");
	dev.mmap_errno = 0;
	dev.info.page_size = 0x80;
	EXPECT_ERROR(INIT(), "too small");
	EXPECT_NOTHING_HELD();
}

TEST_F(lib, unbound_device_is_reported)
{
	static const unsigned long requests[] = {
		SIFIVE_TRACE_IOC_INFO, SIFIVE_TRACE_IOC_ENCODER,
		SIFIVE_TRACE_IOC_CONFIG, SIFIVE_TRACE_IOC_COUNTERS,
	};
	unsigned int i;

	ASSERT_EQ(0, perfInit(2, 1));
	dev.fail_errno = ENODEV;
	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		dev.fail_request = requests[i];
		EXPECT_ERROR(INIT(), "unbound");
		EXPECT_NOTHING_HELD();
	}
	dev.fail_request = 0;
	dev.open_errno = ENOENT;
	EXPECT_ERROR(INIT(), "load sifive_trace.ko");
	dev.open_errno = 0;
	EXPECT_EQ(0, INIT());
}

/* Make each allocation that the library performs once per process fail in turn. */
TEST_F(lib, memory_shortage_is_reported)
{
	ASSERT_EQ(0, perfInit(2, 1));
	dev.pages_errno = ENOMEM;
	EXPECT_ERROR(INIT(), "cannot allocate memory");
	dev.pages_errno = 0;
	dev.madvise_errno = EINVAL;
	EXPECT_ERROR(INIT(), "cannot allocate memory");
	dev.madvise_errno = 0;
	EXPECT_NOTHING_HELD();
	EXPECT_EQ(0, INIT());
}

/* A repeated initialisation replaces the session if tracing is off, and fails if it is on. */
TEST_F(lib, repeated_init_replaces_the_session)
{
	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, INIT());
	ASSERT_EQ(0, perfFuncEntryExitInit(self->list, 1, 7, perfCount_Raw, 0));
	EXPECT_EQ(7, perf_pool->first);
	EXPECT_EQ(1, dev.fds);
	EXPECT_EQ(2, dev.maps);
	EXPECT_ERROR(perfManualInit(NULL, 1, 6, perfCount_Raw, 0), "NULL");
	EXPECT_NOTHING_HELD();
	EXPECT_ERROR(perfTraceOn(), "call perfManualInit()");

	ASSERT_EQ(0, INIT());
	ASSERT_EQ(0, perfInit(2, 1));
	EXPECT_NOTHING_HELD();
	EXPECT_ERROR(perfTraceOn(), "call perfManualInit()");

	ASSERT_EQ(0, INIT());
	ASSERT_EQ(0, perfTraceOn());
	EXPECT_ERROR(perfInit(2, 1), "tracing is on: call perfTraceOff() first");
	EXPECT_ERROR(INIT(), "tracing is on");
	EXPECT_EQ(1, dev.fds);
	EXPECT_EQ(0, perfTraceOff());
}

/* Programs need not define the old library's address variables. */
struct TraceRegMemMap volatile *tmm[] = { (struct TraceRegMemMap *)0x10000000 };
struct TfTraceRegMemMap volatile *fmm;

TEST_F(lib, old_memory_maps_are_accepted)
{
	EXPECT_EQ(0, perfInit(sizeof(tmm) / sizeof(tmm[0]), fmm != NULL));
	EXPECT_NE(NULL, strstr(perfErrorString(), "expects 1 encoders and 0 funnels"));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests turning tracing on and off, recording, and writing the trace file. Calls occur in any
 * order; the buffer, the file system and the hardware can fail.
 */
#include "kselftest_harness.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "lib_mock.h"

/* The list of events that these tests count: only cycles. */
#define HEADER(type)	{ 32, 0x70657266 }, { 8, type }, { 32, 1 }, \
			{ 32, 0 }, { 32, 1 }, { 32, 0x3fc00 }

FIXTURE(trace)
{
	perfEvent list[1];
	char dir[32];
	char file[48];
};

FIXTURE_SETUP(trace)
{
	unsetenv("SIFIVE_TRACE_HEADER");
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	setenv("SIFIVE_TRACE_META", "0", 1);
	mock_device_reset();
	memset(self->list, 0, sizeof(self->list));
	self->list[0].code = HW_CPU_CYCLES;
	strcpy(self->dir, "/tmp/lib_trace_test.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	sprintf(self->file, "%s/out", self->dir);
	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, perfManualInit(self->list, 1, 6, perfCount_Delta, 4096));
}

FIXTURE_TEARDOWN(trace)
{
	perfTraceOff();
	perf_session_end();
	EXPECT_NOTHING_HELD();
	EXPECT_EQ(0, dev.lost_stores);
	unlink(self->file);
	rmdir(self->dir);
}

/* Return whether @path contains the captured bytes. */
static bool holds_capture(const char *path, size_t size)
{
	static unsigned char data[sizeof(dev.capture) + 1];
	FILE *file = fopen(path, "r");
	size_t got;

	if (!file)
		return false;
	got = fread(data, 1, sizeof(data), file);
	fclose(file);
	return got == size && !memcmp(data, dev.capture, size);
}

TEST_F(trace, on_and_off_start_and_stop_recording)
{
	mock_counter[0] = 100;
	EXPECT_EQ(0, perfWriteCntrs());
	EXPECT_EQ(0, perfTraceOff());
	EXPECT_EQ(0, mock_stores);

	EXPECT_EQ(0, perfTraceOn());
	EXPECT_EQ(1, dev.starts);
	EXPECT_EQ(6, dev.last_channel);
	EXPECT_STORES(HEADER(1));
	EXPECT_EQ(0, perfTraceOn());
	EXPECT_EQ(1, dev.starts);
	EXPECT_EQ(0, mock_stores);

	mock_counter[0] = 107;
	EXPECT_EQ(0, perfWriteCntrs());
	EXPECT_EQ(2, mock_log[0].value);
	EXPECT_EQ(32, mock_log[mock_stores - 1].bits);
	EXPECT_EQ(7, mock_log[mock_stores - 1].value);
	mock_stores = 0;

	EXPECT_EQ(0, perfTraceOff());
	EXPECT_EQ(0, perfTraceOff());
	EXPECT_EQ(1, dev.stops);
	EXPECT_EQ(0, perfWriteCntrs());
	EXPECT_EQ(0, mock_stores);

	EXPECT_EQ(0, perfTraceOn());
	EXPECT_STORES(HEADER(1));
}

/* In a handler, the library makes no calls that can wait for the interrupted code. */
TEST_F(trace, on_and_off_are_async_signal_safe)
{
	ASSERT_EQ(0, perfFuncEntryExitInit(self->list, 1, 6, perfCount_Delta, 4096));
	EXPECT_LT(0, mock_unsafe);
	mock_unsafe = 0;
	EXPECT_EQ(0, perfTraceOn());
	__cyg_profile_func_enter(perfTraceOn, perfTraceOn);
	EXPECT_EQ(0, perfWriteCntrs());
	EXPECT_EQ(0, perfTraceOff());
	dev.status.flags = SIFIVE_TRACE_STATUS_FULL;
	EXPECT_ERROR(perfTraceOn(), "trace buffer full");
	EXPECT_EQ(0, mock_unsafe);
}

TEST_F(trace, snapshot_request_follows_its_record)
{
	mock_stores = 0;
	EXPECT_EQ(0, sifive_trace_snapshot());
	EXPECT_EQ(0, mock_stores);
	EXPECT_EQ(1, dev.requests);
	EXPECT_EQ(0, perfTraceOn());
	mock_stores = 0;
	EXPECT_EQ(0, sifive_trace_snapshot());
	/* An explicit record. */
	EXPECT_EQ(2, mock_log[0].value);
	EXPECT_EQ(2, dev.requests);
}

TEST_F(trace, snapshot_request_is_async_signal_safe)
{
	EXPECT_EQ(0, perfTraceOn());
	mock_unsafe = 0;
	EXPECT_EQ(0, sifive_trace_snapshot());
	EXPECT_EQ(0, mock_unsafe);
}

/* Instruction trace and samples of a process do not need the library. */
TEST_F(trace, snapshot_is_requested_without_a_session_in_the_process)
{
	perf_session_end();
	ASSERT_EQ(0, dev.fds);
	EXPECT_EQ(0, sifive_trace_snapshot());
	EXPECT_EQ(1, dev.requests);
	EXPECT_EQ(0, dev.fds);
}

TEST_F(trace, failed_snapshot_request_has_a_reason)
{
	dev.fail_request = SIFIVE_TRACE_IOC_REQUEST;
	dev.fail_errno = ENXIO;
	EXPECT_ERROR(sifive_trace_snapshot(), "cannot request a snapshot");
	dev.fail_errno = ENOTTY;
	EXPECT_ERROR(sifive_trace_snapshot(), "driver is older than this library");
	perf_session_end();
	dev.open_errno = ENOENT;
	EXPECT_ERROR(sifive_trace_snapshot(), "no trace device");
	EXPECT_EQ(0, dev.requests);
}

/* A record's address is the return address of perfWriteCntrs(). */
TEST_F(trace, record_address_is_the_return_address)
{
	uintptr_t here = (uintptr_t)__builtin_extract_return_addr(&&start);
	uintptr_t address;

	EXPECT_EQ(0, perfTraceOn());
	mock_stores = 0;
start:
	perfWriteCntrs();
	address = (mock_log[1].value & ~1u) |
		  (mock_log[1].value & 1 ? (uint64_t)mock_log[2].value << 32 : 0);
	EXPECT_LT(address - (here & ~1ul), 100);
}

TEST_F(trace, header_is_written_once_on_request)
{
	setenv("SIFIVE_TRACE_HEADER", "once", 1);
	ASSERT_EQ(0, perfManualInit(self->list, 1, 6, perfCount_DeltaXOR, 4096));
	EXPECT_EQ(0, perfTraceOn());
	EXPECT_STORES(HEADER(2));
	EXPECT_EQ(0, perfTraceOff());
	EXPECT_EQ(0, perfTraceOn());
	EXPECT_EQ(2, dev.starts);
	EXPECT_EQ(0, mock_stores);
	EXPECT_EQ(0, perfTraceOff());

	ASSERT_EQ(0, perfManualInit(self->list, 1, 6, perfCount_Raw, 4096));
	EXPECT_EQ(0, perfTraceOn());
	EXPECT_STORES(HEADER(0));
}

TEST_F(trace, start_failure_is_reported)
{
	dev.fail_request = SIFIVE_TRACE_IOC_START;
	dev.fail_errno = EIO;
	strcpy(dev.status.message, "funnel: no answer");
	EXPECT_ERROR(perfTraceOn(), "cannot start the trace: Input/output error (funnel: no answer)");
	EXPECT_EQ(0, mock_stores);
	EXPECT_EQ(0, perfWriteCntrs());
	EXPECT_EQ(0, mock_stores);
	dev.fail_request = 0;
	EXPECT_EQ(0, perfTraceOn());
}

TEST_F(trace, start_with_full_buffer_fails)
{
	dev.status.flags = SIFIVE_TRACE_STATUS_FULL;
	dev.status.bytes = 4096;
	EXPECT_ERROR(perfTraceOn(), "trace buffer full: 4096 bytes captured");
	EXPECT_EQ(0, perfWriteTrace(self->file));
	EXPECT_TRUE(holds_capture(self->file, 4096));
}

TEST_F(trace, stop_failure_still_ends_recording)
{
	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;
	dev.fail_request = SIFIVE_TRACE_IOC_STOP;
	dev.fail_errno = ETIMEDOUT;
	EXPECT_ERROR(perfTraceOff(), "cannot stop the trace");
	EXPECT_EQ(0, perfWriteCntrs());
	EXPECT_EQ(0, mock_stores);
	EXPECT_EQ(0, perfTraceOff());
	dev.fail_request = 0;
	EXPECT_EQ(0, perfTraceOn());
}

TEST_F(trace, file_contains_the_capture)
{
	dev.status.bytes = sizeof(dev.capture);
	EXPECT_EQ(0, perfWriteTrace(self->file));
	EXPECT_STREQ("", perfErrorString());
	EXPECT_TRUE(holds_capture(self->file, sizeof(dev.capture)));
	EXPECT_EQ(0, dev.starts);
	EXPECT_EQ(0, dev.stops);

	/* A shorter trace replaces the file. */
	dev.status.bytes = 33;
	EXPECT_EQ(0, perfWriteTrace(self->file));
	EXPECT_TRUE(holds_capture(self->file, 33));
	dev.status.bytes = 0;
	EXPECT_EQ(0, perfWriteTrace(self->file));
	EXPECT_TRUE(holds_capture(self->file, 0));
}

TEST_F(trace, default_file_is_trace_rtd)
{
	ASSERT_EQ(0, chdir(self->dir));
	dev.status.bytes = 100;
	EXPECT_EQ(0, perfWriteTrace(NULL));
	EXPECT_TRUE(holds_capture("trace.rtd", 100));
	EXPECT_EQ(0, unlink("trace.rtd"));
}

/* Each sink has its own file, numbered before the extension. */
TEST_F(trace, each_sink_has_a_separate_file)
{
	struct stat status;
	char name[PATH_MAX];

	dev.status.bytes = 1000;
	dev.status.sinks = 2;
	dev.sink[0] = (struct sifive_trace_sink){ .offset = 0, .bytes = 300 };
	dev.sink[1] = (struct sifive_trace_sink){ .offset = 300, .bytes = 700 };
	ASSERT_EQ(0, chdir(self->dir));
	EXPECT_EQ(0, perfWriteTrace(NULL));
	EXPECT_TRUE(holds_capture("trace.0.rtd", 300));
	memmove(dev.capture, dev.capture + 300, 700);
	EXPECT_TRUE(holds_capture("trace.1.rtd", 700));
	EXPECT_NE(0, access("trace.rtd", F_OK));
	EXPECT_EQ(0, unlink("trace.0.rtd"));
	EXPECT_EQ(0, unlink("trace.1.rtd"));

	/* A file name without an extension, in a directory whose name contains a dot. */
	ASSERT_EQ(0, mkdir("a.b", 0700));
	EXPECT_EQ(0, perfWriteTrace("a.b/trace"));
	snprintf(name, sizeof(name), "%s/a.b/trace.1", self->dir);
	EXPECT_EQ(0, access(name, F_OK));
	EXPECT_EQ(0, unlink("a.b/trace.0"));
	EXPECT_EQ(0, unlink("a.b/trace.1"));
	EXPECT_EQ(0, rmdir("a.b"));

	/* If a file cannot be created, none is left open and tracing does not stop. */
	ASSERT_EQ(0, perfTraceOn());
	EXPECT_ERROR(perfWriteTrace("/proc/none/t.rtd"), "cannot create /proc/none/t.0.rtd");
	EXPECT_EQ(0, dev.stops);

	/* If the second file cannot be created, the first file is not overwritten. */
	ASSERT_EQ(0, mkdir("t.1.rtd", 0700));
	close(open("t.0.rtd", O_WRONLY | O_CREAT, 0600));
	ASSERT_EQ(0, truncate("t.0.rtd", 10));
	EXPECT_ERROR(perfWriteTrace("t.rtd"), "cannot create t.1.rtd");
	EXPECT_EQ(0, dev.stops);
	ASSERT_EQ(0, stat("t.0.rtd", &status));
	EXPECT_EQ(10, status.st_size);
	EXPECT_EQ(0, unlink("t.0.rtd"));
	EXPECT_EQ(0, rmdir("t.1.rtd"));
}

/* Only a file that the user named is written through a link. */
TEST_F(trace, only_the_named_file_is_written_through_a_link)
{
	struct stat status;

	dev.status.bytes = 100;
	ASSERT_EQ(0, chdir(self->dir));
	close(open("precious", O_WRONLY | O_CREAT, 0600));
	ASSERT_EQ(0, symlink("precious", "t.rtd"));
	EXPECT_EQ(0, perfWriteTrace("t.rtd"));
	EXPECT_TRUE(holds_capture("precious", 100));
	EXPECT_EQ(0, unlink("t.rtd"));

	dev.status.sinks = 2;
	dev.sink[0] = (struct sifive_trace_sink){ .offset = 0, .bytes = 30 };
	dev.sink[1] = (struct sifive_trace_sink){ .offset = 30, .bytes = 70 };
	ASSERT_EQ(0, symlink("precious", "t.1.rtd"));
	EXPECT_ERROR(perfWriteTrace("t.rtd"), "t.1.rtd: it is a symbolic link: remove it");
	ASSERT_EQ(0, stat("precious", &status));
	EXPECT_EQ(100, status.st_size);
	EXPECT_EQ(0, unlink("t.1.rtd"));
	EXPECT_EQ(0, unlink("t.0.rtd"));
	EXPECT_EQ(0, unlink("precious"));
}

/*
 * The file of kernel function names is from an earlier trace, and would be mistaken for this
 * trace's.
 */
TEST_F(trace, kernel_names_of_an_earlier_trace_are_removed)
{
	dev.status.bytes = 100;
	ASSERT_EQ(0, chdir(self->dir));
	close(open("out.kallsyms", O_WRONLY | O_CREAT, 0600));
	EXPECT_ERROR(perfWriteTrace("/proc/none/out"), "cannot create");
	EXPECT_EQ(0, access("out.kallsyms", F_OK));
	EXPECT_EQ(0, perfWriteTrace("out"));
	EXPECT_NE(0, access("out.kallsyms", F_OK));
}

/* A reader that reads a pipe to its end receives the whole trace, once. */
TEST_F(trace, named_pipe_receives_the_whole_trace)
{
	pid_t reader;
	int status;

	ASSERT_EQ(0, chdir(self->dir));
	ASSERT_EQ(0, mkfifo("pipe", 0600));
	reader = fork();
	if (!reader) {
		int fd = open("pipe", O_RDONLY), got, all = 0;
		char bytes[1000];

		while ((got = (int)read(fd, bytes, sizeof(bytes))) > 0)
			all += got;
		_exit(all == 5000 ? 0 : 1);
	}
	dev.status.bytes = 5000;
	alarm(600);
	EXPECT_EQ(0, perfWriteTrace("pipe"));
	alarm(0);
	EXPECT_EQ(reader, waitpid(reader, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, unlink("pipe"));
	unlink("pipe.meta");
}

/* If tracing is on, it pauses and continues without a header. */
TEST_F(trace, writing_the_file_pauses_tracing)
{
	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;
	dev.status.bytes = 5000;
	EXPECT_EQ(0, perfWriteTrace(self->file));
	EXPECT_TRUE(holds_capture(self->file, 5000));
	EXPECT_EQ(1, dev.stops);
	EXPECT_EQ(2, dev.starts);
	EXPECT_TRUE(dev.running);
	EXPECT_EQ(0, mock_stores);
	EXPECT_EQ(0, perfWriteCntrs());
	EXPECT_NE(0, mock_stores);
}

TEST_F(trace, full_buffer_is_reported)
{
	ASSERT_EQ(0, perfTraceOn());
	dev.status.flags = SIFIVE_TRACE_STATUS_FULL;
	dev.status.bytes = 4096;
	EXPECT_EQ(0, perfWriteTrace(self->file));
	EXPECT_STREQ("trace buffer full: 4096 bytes captured, later records were lost",
		     perfErrorString());
	EXPECT_TRUE(holds_capture(self->file, 4096));

	/* From the program's perspective, tracing remains on. */
	EXPECT_EQ(PERF_SESSION_ON, perf_session.state);
	EXPECT_EQ(0, perfTraceOff());
}

/* The error quotes the driver's message, which describes what happened to a counter. */
TEST_F(trace, lost_counters_are_reported)
{
	dev.status.counters_lost = 5;
	strcpy(dev.status.message, "cycles did not restart with its CPU on hart 1");
	EXPECT_EQ(0, perfWriteTrace(self->file));
	EXPECT_STREQ("counters 0x5 were stopped at times on some harts: do not trust their values; the driver's last message: cycles did not restart with its CPU on hart 1",
		     perfErrorString());
	dev.status.counters_lost = 0;
	EXPECT_EQ(0, perfWriteTrace(self->file));
	EXPECT_STREQ("", perfErrorString());
}

TEST_F(trace, changed_registers_are_reported)
{
	dev.status.flags |= SIFIVE_TRACE_STATUS_CHANGED;
	dev.status.changed = 2;
	strcpy(dev.status.message, "trace@100000: control was changed");
	EXPECT_EQ(0, perfWriteTrace(self->file));
	EXPECT_STREQ("records may be missing: the registers of 1 trace component were changed while they ran: do not let programs store to an encoder's control registers; the driver's last message: trace@100000: control was changed",
		     perfErrorString());
}

TEST_F(trace, file_is_written_with_one_read)
{
	dev.status.bytes = sizeof(dev.capture);
	dev.read_max = ~(size_t)0;
	EXPECT_EQ(0, perfWriteTrace(self->file));
	EXPECT_TRUE(holds_capture(self->file, sizeof(dev.capture)));
	EXPECT_EQ(1, dev.reads);
}

TEST_F(trace, short_writes_are_continued)
{
	dev.status.bytes = 5000;
	dev.write_max = 7;
	EXPECT_EQ(0, perfWriteTrace(self->file));
	EXPECT_TRUE(holds_capture(self->file, 5000));
}

TEST_F(trace, interrupted_read_is_repeated)
{
	dev.status.bytes = 5000;
	dev.pread_errno = EINTR;
	EXPECT_EQ(0, perfWriteTrace(self->file));
	EXPECT_TRUE(holds_capture(self->file, 5000));
}

/* The part that fits remains, and the capture can be written to another file. */
TEST_F(trace, full_disk_keeps_the_capture)
{
	ASSERT_EQ(0, perfTraceOn());
	dev.status.bytes = 5000;
	dev.write_space = 2500;
	EXPECT_ERROR(perfWriteTrace(self->file), "No space left on device");
	EXPECT_TRUE(holds_capture(self->file, 2500));
	EXPECT_TRUE(dev.running);
	dev.write_space = 10000;
	EXPECT_EQ(0, perfWriteTrace(self->file));
	EXPECT_TRUE(holds_capture(self->file, 5000));
}

/* A file that cannot be created does not cause a pause. */
TEST_F(trace, uncreatable_file_causes_no_pause)
{
	char name[] = "/proc/none/trace.rtd";

	ASSERT_EQ(0, perfTraceOn());
	EXPECT_ERROR(perfWriteTrace(name), "cannot create /proc/none/trace.rtd: No such file");
	EXPECT_EQ(0, dev.stops);
	EXPECT_TRUE(dev.running);
}

TEST_F(trace, read_failure_does_not_stop_tracing)
{
	ASSERT_EQ(0, perfTraceOn());
	dev.status.bytes = 5000;
	dev.pread_errno = EIO;
	EXPECT_ERROR(perfWriteTrace(self->file), "cannot read the trace");
	EXPECT_TRUE(dev.running);
}

TEST_F(trace, pause_failure_does_not_stop_tracing)
{
	ASSERT_EQ(0, perfTraceOn());
	dev.fail_request = SIFIVE_TRACE_IOC_STOP;
	dev.fail_errno = ETIMEDOUT;
	EXPECT_ERROR(perfWriteTrace(self->file), "cannot stop the trace");
	EXPECT_EQ(PERF_SESSION_ON, perf_session.state);
	dev.fail_request = SIFIVE_TRACE_IOC_STATUS;
	EXPECT_ERROR(perfWriteTrace(self->file), "cannot query the state of the trace");
	EXPECT_TRUE(dev.running);
}

TEST_F(trace, restart_failure_ends_recording)
{
	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;
	dev.fail_request = SIFIVE_TRACE_IOC_START;
	dev.fail_errno = EIO;
	EXPECT_ERROR(perfWriteTrace(self->file), "cannot start the trace");
	EXPECT_EQ(0, perfWriteCntrs());
	EXPECT_EQ(0, mock_stores);
	dev.fail_request = 0;
	EXPECT_EQ(0, perfTraceOn());
	EXPECT_STORES(HEADER(1));
}

/* The device can disappear at any time. Calls then fail, but nothing leaks. */
TEST_F(trace, unbound_device_is_reported)
{
	ASSERT_EQ(0, perfTraceOn());
	dev.fail_errno = ENODEV;
	dev.fail_request = SIFIVE_TRACE_IOC_STOP;
	EXPECT_ERROR(perfTraceOff(), "unbound");
	dev.fail_request = SIFIVE_TRACE_IOC_START;
	EXPECT_ERROR(perfTraceOn(), "unbound");
}

/* The environment determines whether messages are printed. */
TEST_F(trace, verbosity_is_set_by_the_environment)
{
	int pipes[2], saved = dup(STDERR_FILENO);
	char line[256] = "";
	ssize_t length;

	ASSERT_EQ(0, pipe2(pipes, O_NONBLOCK));
	ASSERT_NE(-1, dup2(pipes[1], STDERR_FILENO));

	perfManualInit(NULL, 0, 77, perfCount_Raw, 0);
	EXPECT_EQ(-1, read(pipes[0], line, sizeof(line)));

	unsetenv("SIFIVE_TRACE_VERBOSE");
	perfManualInit(NULL, 0, 77, perfCount_Raw, 0);
	length = read(pipes[0], line, sizeof(line) - 1);
	line[length < 0 ? 0 : length] = '\0';
	EXPECT_EQ(0, strncmp(line, "sifive-perf: perfManualInit(): itcChannel", 41));
	EXPECT_EQ('\n', line[strlen(line) - 1]);

	EXPECT_EQ(0, perfInit(7, 7));
	EXPECT_EQ(-1, read(pipes[0], line, sizeof(line)));
	setenv("SIFIVE_TRACE_VERBOSE", "1", 1);
	EXPECT_EQ(0, perfInit(7, 7));
	EXPECT_LT(0, read(pipes[0], line, sizeof(line)));

	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	dup2(saved, STDERR_FILENO);
}

TEST_HARNESS_MAIN

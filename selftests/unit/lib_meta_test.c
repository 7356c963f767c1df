// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the side-car file is valid JSON, even with unusual names, and correctly describes
 * encoders, counters, threads, samples, objects and losses.
 */
#include "kselftest_harness.h"

#include <json-c/json.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "lib_mock.h"
#include "../../tools/trace/meta.h"

FIXTURE(meta)
{
	struct sifive_trace *trace;
	struct sifive_trace_options options;
	char dir[40];
	struct json_object *json;
	struct meta meta;
};

FIXTURE_SETUP(meta)
{
	unsetenv("SIFIVE_TRACE_META");
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	mock_device_reset();
	dev.cpus = 3;
	dev.info.ts_hz = 12345678;
	dev.encoder[0].hart = 0x100000005;
	dev.status.bytes = 3000;
	dev.sink[0].src_bits = 2;
	dev.sink[0].encoders = 3;
	strcpy(self->dir, "/tmp/lib_meta_test.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	ASSERT_EQ(0, chdir(self->dir));
	self->options = (struct sifive_trace_options)SIFIVE_TRACE_OPTIONS;
	self->trace = sifive_trace_open();
	ASSERT_NE(NULL, self->trace);
}

FIXTURE_TEARDOWN(meta)
{
	sifive_trace_close(self->trace);
	json_object_put(self->json);
	meta_free(&self->meta);
	EXPECT_EQ(0, chdir("/"));
	EXPECT_EQ(0, rmdir(self->dir));
}

static struct json_object *parse(const char *name)
{
	struct json_object *json;
	struct json_tokener *tokener = json_tokener_new();
	FILE *file = fopen(name, "r");
	static char text[100000];
	size_t size;

	if (!file)
		return NULL;
	size = fread(text, 1, sizeof(text), file);
	fclose(file);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	json = json_tokener_parse_ex(tokener, text, (int)size);
	json_tokener_free(tokener);
	return json;
}

/* Set up, record, and parse the side-car file. */
static void record(struct __test_metadata *_metadata, FIXTURE_DATA(meta) *self)
{
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options)) {
		TH_LOG("%s", sifive_trace_error());
	}
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	ASSERT_EQ(0, sifive_trace_write(self->trace));
	ASSERT_EQ(0, sifive_trace_off(self->trace));
	*perf_pool->lost = (struct sifive_trace_losses) {
		.signals = 1, .threads = 2, .abandoned = 4,
	};
	ASSERT_EQ(0, sifive_trace_dump(self->trace, "out.rtd")) {
		TH_LOG("%s", sifive_trace_error());
	}
	self->json = parse("out.rtd.meta");
	EXPECT_EQ(0, meta_read(NULL, "out.rtd", &self->meta));
	unlink("out.rtd");
	unlink("out.rtd.meta");
	ASSERT_NE(NULL, self->json);
}

#define RECORD()	record(_metadata, self)

/* Return the value at "key", "key.key" or "key.number.key". */
static struct json_object *at(struct json_object *json, const char *path)
{
	char copy[64], *key, *rest = copy;

	snprintf(copy, sizeof(copy), "%s", path);
	while (json && (key = strsep(&rest, "."))) {
		if (json_object_is_type(json, json_type_array))
			json = json_object_array_get_idx(json, (size_t)atoi(key));
		else if (!json_object_object_get_ex(json, key, &json))
			json = NULL;
	}
	return json;
}

#define NUMBER(value, path)						\
do {									\
	struct json_object *__at = at(self->json, path);		\
									\
	EXPECT_TRUE(json_object_is_type(__at, json_type_int)) { TH_LOG(path); } \
	EXPECT_EQ(value, json_object_get_int64(__at)) { TH_LOG(path); }	\
} while (0)

#define STRING(value, path)						\
do {									\
	const char *__string = json_object_get_string(at(self->json, path)); \
									\
	ASSERT_NE(NULL, __string) { TH_LOG(path); }			\
	EXPECT_STREQ(value, __string);					\
} while (0)

#define BOOLEAN(value, path)						\
do {									\
	struct json_object *__at = at(self->json, path);		\
									\
	EXPECT_TRUE(json_object_is_type(__at, json_type_boolean)) { TH_LOG(path); } \
	EXPECT_EQ(value, json_object_get_boolean(__at)) { TH_LOG(path); } \
} while (0)

/* The values that the command reads from the file must be those that the library has written. */
TEST_F(meta, can_be_read_by_the_command)
{
	self->options.events = "cycles,instructions";
	RECORD();
	EXPECT_EQ(2, self->meta.src_bits);
	EXPECT_EQ(40, self->meta.ts_width);
	EXPECT_EQ(12345678, self->meta.ts_hz);
	EXPECT_EQ(2, self->meta.counters);
	EXPECT_EQ(2, self->meta.sources);
	EXPECT_EQ(1, self->meta.threads);
	EXPECT_LT(0, self->meta.objects);
}

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time))
		abort();
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The date must be the machine's time when the sink's clock was read. */
TEST_F(meta, contains_the_date)
{
	const uint64_t hour = 3600000000000;
	uint64_t before, after;

	dev.sink[0].time = 1234;
	dev.sink[0].time_ns = now(CLOCK_MONOTONIC);
	before = now(CLOCK_REALTIME);
	RECORD();
	after = now(CLOCK_REALTIME);
	EXPECT_EQ(1234, self->meta.utc.time);
	/* A tolerance of an hour makes the check independent of the machine's speed. */
	EXPECT_LT(before - hour, self->meta.utc.ns);
	EXPECT_GT(after + hour, self->meta.utc.ns);
}

/* Each sink's file states whether its buffer was full. */
TEST_F(meta, states_whether_the_buffer_was_full)
{
	dev.sink[0].bytes = 3000;
	dev.sink[0].buffer = 3000;
	dev.sink[0].flags = SIFIVE_TRACE_STATUS_FULL;
	RECORD();
	EXPECT_TRUE(self->meta.coverage.full);
	NUMBER(3000, "coverage.buffer");
}

/* A symbolic link in place of the side-car file must not be followed. */
TEST_F(meta, is_not_written_through_a_symbolic_link)
{
	char text[9] = "";
	FILE *file = fopen("precious", "w");

	ASSERT_NE(NULL, file);
	fputs("precious", file);
	fclose(file);
	ASSERT_EQ(0, symlink("precious", "out.rtd.meta"));
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options));
	EXPECT_EQ(-1, sifive_trace_dump(self->trace, "out.rtd"));
	EXPECT_NE(NULL, strstr(sifive_trace_error(), "a symbolic link: remove it"));
	file = fopen("precious", "r");
	ASSERT_NE(NULL, file);
	EXPECT_EQ(8, fread(text, 1, 8, file));
	fclose(file);
	EXPECT_STREQ("precious", text);
	unlink("precious");
	unlink("out.rtd");
	unlink("out.rtd.meta");
}

/*
 * If a trace contains kernel addresses or stacks, its file becomes private even if it was readable
 * by others.
 */
TEST_F(meta, with_callers_is_private)
{
	struct stat status;
	int fd = open("out.rtd", O_WRONLY | O_CREAT, 0644);

	ASSERT_NE(-1, fd);
	ASSERT_EQ(0, fchmod(fd, 0644));
	close(fd);
	dev.status.bytes = 0;
	self->options.flags |= SIFIVE_TRACE_CALLERS;
	self->options.interval = 1000;
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options));
	EXPECT_EQ(0, sifive_trace_dump(self->trace, "out.rtd"));
	ASSERT_EQ(0, stat("out.rtd", &status));
	EXPECT_EQ(0600, status.st_mode & 0777);
	unlink("out.rtd");
	unlink("out.rtd.meta");
}

/* A regular file has a side-car file, whatever its directory; a pipe has none. */
TEST_F(meta, exists_for_regular_files_only)
{
	char shm[] = "/dev/shm/lib_meta_test.rtd";
	int pipe;

	dev.status.bytes = 0;
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options));
	EXPECT_EQ(0, sifive_trace_dump(self->trace, shm));
	EXPECT_EQ(0, unlink("/dev/shm/lib_meta_test.rtd.meta"));
	EXPECT_EQ(0, unlink(shm));

	ASSERT_EQ(0, mkfifo("pipe", 0600));
	pipe = open("pipe", O_RDWR);
	EXPECT_EQ(0, sifive_trace_dump(self->trace, "pipe"));
	EXPECT_EQ(-1, access("pipe.meta", F_OK));
	close(pipe);
	unlink("pipe");
}

TEST_F(meta, describes_the_session_and_the_program)
{
	char exe[PATH_MAX] = "", name[16];
	struct utsname machine;
	size_t i, count;

	self->options.events = "cycles,instructions:u,timestamp,r8000000000000001";
	prctl(PR_SET_NAME, "a \"name\"\\\n\1\x7f");
	RECORD();
	NUMBER(1, "version");
	NUMBER(2, "srcbits");
	NUMBER(40, "ts_width");
	NUMBER(12345678, "ts_hz");
	STRING("xor", "ts_scheme");
	NUMBER(SIFIVE_TRACE_RECORD_DELTA, "count_type");
	BOOLEAN(false, "wrapped");
	BOOLEAN(true, "per_thread");
	BOOLEAN(false, "ts_channels");
	NUMBER(6, "channel");
	BOOLEAN(false, "coverage.full");
	NUMBER(3000, "coverage.bytes");
	NUMBER(0, "coverage.counters_lost");
	EXPECT_TRUE(self->meta.coverage.known);
	EXPECT_LT(0, self->meta.coverage.run_ns);

	ASSERT_LT(0, readlink("/proc/self/exe", exe, sizeof(exe) - 1));
	STRING(exe, "exe");
	ASSERT_EQ(0, uname(&machine));
	STRING(machine.nodename, "host");
	EXPECT_LE(1, json_object_array_length(at(self->json, "args")));

	EXPECT_EQ(2, json_object_array_length(at(self->json, "sources")));
	NUMBER(0, "sources.0.src");
	NUMBER(0x100000005, "sources.0.hart");
	NUMBER(1, "sources.0.cpu");
	NUMBER(1, "sources.1.src");
	NUMBER(0, "sources.1.cpu");

	EXPECT_EQ(4, json_object_array_length(at(self->json, "counters")));
	NUMBER(0, "counters.0.number");
	STRING("cycles", "counters.0.event");
	NUMBER(mock_info(0, 64), "counters.0.info");
	STRING("instructions:u", "counters.1.event");
	NUMBER(SIFIVE_TRACE_EVENT_NO_KERNEL, "counters.1.flags");
	NUMBER(1, "counters.2.number");
	NUMBER(2, "counters.3.type");
	EXPECT_EQ(0x8000000000000001,
		  json_object_get_uint64(at(self->json, "counters.3.data")));

	EXPECT_EQ(1, json_object_array_length(at(self->json, "threads")));
	NUMBER(6, "threads.0.channel");
	NUMBER(getpid(), "threads.0.pid");
	NUMBER(syscall(SYS_gettid), "threads.0.tid");
	prctl(PR_GET_NAME, name);
	/*
	 * The library reads a thread's name from a file in /proc, where it ends in a newline.
	 */
	EXPECT_NE(NULL, strstr(json_object_get_string(at(self->json, "threads.0.name")),
			       "a \"name\"\\"));

	count = json_object_array_length(at(self->json, "objects"));
	for (i = 0; i < count; i++) {
		struct json_object *object =
			json_object_array_get_idx(at(self->json, "objects"), i);

		if (strcmp(json_object_get_string(at(object, "path")), exe))
			continue;
		EXPECT_LE(json_object_get_int64(at(object, "start")),
			  (intptr_t)parse);
		EXPECT_LT((intptr_t)parse,
			  json_object_get_int64(at(object, "end")));
		break;
	}
	EXPECT_LT(i, count);

	NUMBER(1, "lost.signals");
	NUMBER(2, "lost.threads");
	NUMBER(4, "lost.abandoned");
	NUMBER(0, "lost.samples");
	NUMBER(0, "lost.encoders");
	EXPECT_EQ(NULL, at(self->json, "sampling"));
	/* The clock's rate is unknown. */
	EXPECT_EQ(NULL, at(self->json, "utc"));
}

TEST_F(meta, describes_samples_and_a_ring)
{
	self->options.flags = SIFIVE_TRACE_RING | SIFIVE_TRACE_PER_CPU;
	self->options.period = 1234567;
	self->options.period_event = "branch-misses:u";
	self->options.count_type = SIFIVE_TRACE_RAW;
	self->options.channel = 3;
	dev.sink[0].flags = SIFIVE_TRACE_STATUS_WRAPPED;
	dev.status.samples_lost = 5;
	dev.status.changed = 6;
	RECORD();
	NUMBER(2, "lost.encoders");
	BOOLEAN(true, "wrapped");
	BOOLEAN(false, "per_thread");
	NUMBER(SIFIVE_TRACE_RECORD_RAW, "count_type");
	NUMBER(3, "channel");
	NUMBER(4, "sampling.channel");
	NUMBER(1234567, "sampling.period");
	STRING("branch-misses:u", "sampling.event");
	NUMBER(5, "lost.samples");
}

TEST_F(meta, describes_the_sampling_interval)
{
	self->options.interval = 250;
	RECORD();
	NUMBER(250000, "sampling.interval_ns");
	EXPECT_EQ(NULL, at(self->json, "sampling.period"));
}

/* For a thread that has ended, the file contains the time of its end, and its name at that time. */
static void *short_life(void *argument)
{
	sifive_trace_write(argument);
	prctl(PR_SET_NAME, "was here");
	return NULL;
}

TEST_F(meta, lists_ended_threads)
{
	pthread_t thread;

	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options));
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	ASSERT_EQ(0, pthread_create(&thread, NULL, short_life, self->trace));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, sifive_trace_off(self->trace));
	ASSERT_EQ(0, sifive_trace_dump(self->trace, "out.rtd"));
	self->json = parse("out.rtd.meta");
	unlink("out.rtd");
	unlink("out.rtd.meta");
	ASSERT_NE(NULL, self->json);
	EXPECT_EQ(2, json_object_array_length(at(self->json, "threads")));
	EXPECT_EQ(NULL, at(self->json, "threads.0.to"));
	STRING("was here", "threads.1.name");
	NUMBER(7, "threads.1.channel");
	EXPECT_TRUE(json_object_is_type(at(self->json, "threads.1.to"), json_type_int));
}

/* Each sink's file lists the encoders routed to it. */
TEST_F(meta, is_written_for_each_sink)
{
	struct json_object *other;

	dev.status.sinks = 2;
	dev.sink[0].encoders = 1;
	dev.sink[1].encoders = 2;
	dev.sink[1].src_bits = 5;
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options));
	ASSERT_EQ(0, sifive_trace_dump(self->trace, "out.rtd"));
	self->json = parse("out.0.rtd.meta");
	other = parse("out.1.rtd.meta");
	unlink("out.0.rtd");
	unlink("out.0.rtd.meta");
	unlink("out.1.rtd");
	unlink("out.1.rtd.meta");
	ASSERT_NE(NULL, self->json);
	ASSERT_NE(NULL, other);
	EXPECT_EQ(1, json_object_array_length(at(self->json, "sources")));
	NUMBER(1, "sources.0.cpu");
	NUMBER(2, "srcbits");
	EXPECT_EQ(0, json_object_get_int(at(other, "sources.0.cpu")));
	EXPECT_EQ(5, json_object_get_int(at(other, "srcbits")));
	json_object_put(other);
}

TEST_F(meta, is_optional_and_its_failure_is_an_error)
{
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options));
	setenv("SIFIVE_TRACE_META", "0", 1);
	ASSERT_EQ(0, sifive_trace_dump(self->trace, "out.rtd"));
	EXPECT_EQ(-1, access("out.rtd.meta", F_OK));
	unsetenv("SIFIVE_TRACE_META");
	/* A device has no side-car file. */
	ASSERT_EQ(0, sifive_trace_dump(self->trace, "/dev/null"));
	EXPECT_EQ(-1, access("/dev/null.meta", F_OK));
	/* Failure to create the side-car file is an error, but the trace is written. */
	ASSERT_EQ(0, mkdir("out.rtd.meta", 0700));
	EXPECT_ERROR(sifive_trace_dump(self->trace, "out.rtd"), "cannot create out.rtd.meta");
	EXPECT_EQ(0, access("out.rtd", F_OK));
	rmdir("out.rtd.meta");
	unlink("out.rtd");
}

TEST_HARNESS_MAIN

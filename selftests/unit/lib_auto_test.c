// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that a program is recorded as its environment specifies, to the file named there; that
 * failures are reported and do not disturb the program; and that a program's own session takes
 * precedence.
 */
#include "kselftest_harness.h"

#include <sys/stat.h>

#include "lib_mock.h"

FIXTURE(record)
{
	char dir[40];
	int error;	/* file with the output to standard error */
	int saved;
};

static const char *const variables[] = {
	"EVENTS", "COUNT", "BUFFER", "SINK", "RING", "CHANNEL", "CPUS",
	"PER_CPU", "INTERVAL", "PERIOD", "PERIOD_EVENT", "STACK", "FILTER", "HEADER",
	"OUTPUT", "RECORD", "VERBOSE", "DEVICE", "META", "DRAIN",
};

static void set(const char *name, const char *value)
{
	char full[64];

	snprintf(full, sizeof(full), "SIFIVE_TRACE_%s", name);
	if (value)
		setenv(full, value, 1);
	else
		unsetenv(full);
}

FIXTURE_SETUP(record)
{
	unsigned int i;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		set(variables[i], NULL);
	set("RECORD", "1");
	mock_device_reset();
	dev.status.bytes = 2000;
	strcpy(self->dir, "/tmp/lib_auto_test.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	ASSERT_EQ(0, chdir(self->dir));
	self->saved = dup(STDERR_FILENO);
	self->error = open("error", O_RDWR | O_CREAT | O_APPEND, 0600);
	unlink("error");
}

FIXTURE_TEARDOWN(record)
{
	EXPECT_EQ(0, chdir("/"));
	EXPECT_EQ(0, rmdir(self->dir));
}

/* Run the constructor; return what it printed to standard error. */
static const char *start(FIXTURE_DATA(record) *self)
{
	static char text[1000];
	ssize_t size;

	dup2(self->error, STDERR_FILENO);
	perf_auto_start();
	dup2(self->saved, STDERR_FILENO);
	size = pread(self->error, text, sizeof(text) - 1, 0);
	text[size < 0 ? 0 : size] = '\0';
	return text;
}

#define START()	EXPECT_STREQ("", start(self))

/* EXPECT that nothing is recorded, and that standard error states the reason. */
#define REFUSED(words)							\
do {									\
	const char *__said;						\
									\
	EXPECT_EQ(0, ftruncate(self->error, 0));			\
	__said = start(self);						\
	EXPECT_NE(NULL, strstr(__said, "nothing is recorded: ")) {	\
		TH_LOG("%s", __said);					\
	}								\
	EXPECT_NE(NULL, strstr(__said, words)) { TH_LOG("%s", __said); } \
	EXPECT_NOTHING_HELD();						\
	EXPECT_STREQ("", perfErrorString());				\
	set("RECORD", "1");						\
} while (0)

TEST_F(record, starts_only_if_requested)
{
	set("RECORD", NULL);
	START();
	set("RECORD", "0");
	START();
	set("RECORD", "off");
	START();
	set("RECORD", "No");
	START();
	set("RECORD", "");
	START();
	EXPECT_EQ(NULL, dev.path);
}

/* EXPECT that start() prints a message that contains @words, and that the program runs untraced. */
#define SAYS(words)							\
do {									\
	const char *__said;						\
									\
	EXPECT_EQ(0, ftruncate(self->error, 0));			\
	__said = start(self);						\
	EXPECT_NE(NULL, strstr(__said, words)) { TH_LOG("%s", __said); } \
	EXPECT_EQ(NULL, dev.path);					\
} while (0)

TEST_F(record, invalid_record_value_is_reported)
{
	set("RECORD", "maybe");
	SAYS("SIFIVE_TRACE_RECORD=maybe: not one of join, yes, no, 1, 0, on, off");
	set("RECORD", "2");
	SAYS("SIFIVE_TRACE_RECORD=2: not one of");
}

TEST_F(record, unknown_variable_is_reported_with_the_nearest_one)
{
	static const struct {
		const char *name, *nearest;
	} unknown[] = {
		{ "RECROD", "RECORD" }, { "EVENT", "EVENTS" }, { "BUFER", "BUFFER" },
		{ "PERIODEVENT", "PERIOD_EVENT" }, { "CPU", "CPUS" },
		{ "A_NAME_THAT_IS_TOO_LONG_TO_BE_COMPARED", "RECORD" }, { "", "SINK" },
	};
	char words[100];
	unsigned int i;

	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		set("RECORD", NULL);
		set(unknown[i].name, "1");
		snprintf(words, sizeof(words), "SIFIVE_TRACE_%.20s", unknown[i].name);
		SAYS(words);
		snprintf(words, sizeof(words), "did you mean SIFIVE_TRACE_%s?\n",
			 unknown[i].nearest);
		SAYS(words);
		set("RECORD", "yes");
		REFUSED("no such variable");
		EXPECT_EQ(-1, perfInit(2, 1));
		EXPECT_NE(NULL, strstr(perfErrorString(), "no such variable"));
		set(unknown[i].name, NULL);
	}
}

TEST_F(record, flags_accept_all_forms_of_yes_and_no)
{
	static const char *const yes[] = { "yes", "1", "on", "ON", "Yes" };
	static const char *const no[] = { "no", "0", "off", "OFF", "" };
	unsigned int i;

	set("OUTPUT", "/dev/null");
	for (i = 0; i < 5; i++) {
		set("RECORD", "on");
		set("RING", yes[i]);
		START();
		EXPECT_EQ(SIFIVE_TRACE_CONFIG_RING, dev.config.flags);
		auto_stop();
		set("RECORD", "1");
		set("RING", no[i]);
		START();
		EXPECT_EQ(0, dev.config.flags);
		auto_stop();
	}
}

TEST_F(record, uses_defaults)
{
	struct stat st;

	START();
	EXPECT_EQ(SIFIVE_TRACE_SINK_SBA, dev.config.sink);
	EXPECT_EQ(1 << 20, dev.config.buffer);
	EXPECT_TRUE(dev.running);
	EXPECT_EQ(6, dev.last_channel);
	mock_stores = 0;
	__cyg_profile_func_enter(self, self);
	EXPECT_LT(0, mock_stores);
	/* Programs that the recorded program starts are not recorded into its session. */
	EXPECT_EQ(NULL, getenv("SIFIVE_TRACE_RECORD"));

	/* The file must be in the initial working directory. */
	ASSERT_EQ(0, chdir("/"));
	auto_stop();
	EXPECT_FALSE(dev.running);
	EXPECT_NOTHING_HELD();
	ASSERT_EQ(0, chdir(self->dir));
	ASSERT_EQ(0, stat("trace.rtd", &st));
	EXPECT_EQ(2000, st.st_size);
	EXPECT_EQ(0, unlink("trace.rtd"));
	EXPECT_EQ(0, unlink("trace.rtd.meta"));
	/* auto_stop() can be called any number of times. */
	auto_stop();
}

static long size_of_file(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

static bool file_has(const char *path, const char *words)
{
	static char text[65536];
	int fd = open(path, O_RDONLY);
	ssize_t size = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[size < 0 ? 0 : size] = '\0';
	return strstr(text, words);
}

TEST_F(record, early_side_car_file_is_written_at_start)
{
	set("META", "early");
	set("RING", "1");
	START();
	EXPECT_EQ(-1, size_of_file("trace.rtd"));
	EXPECT_TRUE(file_has("trace.rtd.meta", "\"wrapped\":true"));
	EXPECT_TRUE(file_has("trace.rtd.meta", "\"channel\":6"));
	EXPECT_TRUE(file_has("trace.rtd.meta", "\"objects\""));
	EXPECT_FALSE(file_has("trace.rtd.meta", "\"lost\""));
	EXPECT_TRUE(file_has("trace.rtd.meta", ",\n\"early\":true}\n"));
	auto_stop();
	EXPECT_TRUE(file_has("trace.rtd.meta", "\"lost\""));
	EXPECT_FALSE(file_has("trace.rtd.meta", "\"early\""));
	EXPECT_TRUE(file_has("trace.rtd.meta", "\"wrapped\":false"));
	EXPECT_EQ(0, unlink("trace.rtd"));
	EXPECT_EQ(0, unlink("trace.rtd.meta"));

	/* Set up tracing as a program with its own session does. */
	set("RECORD", "1");
	START();
	EXPECT_LT(0, size_of_file("trace.rtd.meta"));
	set("VERBOSE", "0");
	perf_auto_yield(PERF_FRAME);
	EXPECT_EQ(-1, size_of_file("trace.rtd.meta"));
}

TEST_F(record, drained_capture_is_not_written_by_the_library)
{
	set("DRAIN", "1");
	set("META", "early");
	set("BUFFER", "1M");
	START();
	EXPECT_EQ(SIFIVE_TRACE_CONFIG_DRAIN, dev.config.flags);
	EXPECT_EQ(65536, dev.config.watermark);
	EXPECT_FALSE(file_has("trace.rtd.meta", "\"lost\""));
	auto_stop();
	EXPECT_EQ(-1, size_of_file("trace.rtd"));
	EXPECT_TRUE(file_has("trace.rtd.meta", "\"wrapped\":false"));
	EXPECT_TRUE(file_has("trace.rtd.meta", ",\n\"coverage\":{"));
	EXPECT_TRUE(file_has("trace.rtd.meta", "\"lost\""));
	EXPECT_EQ(0, unlink("trace.rtd.meta"));
}

/* Set the byte with which the driver indicates to programs that CPU 0's sink is full. */
static void set_full(bool full)
{
	uint8_t *bytes = (uint8_t *)perf_pool->lost + SIFIVE_TRACE_FULL_BYTES;

	bytes[perf_session.device.encoder[0].index] = full;
}

static unsigned int stores_of(uint32_t kind)
{
	unsigned int i, found = 0;

	for (i = 0; i < mock_stores; i++)
		found += mock_log[i].bits == 8 && mock_log[i].value == kind;
	return found;
}

TEST_F(record, records_without_room_are_dropped_whole_and_counted)
{
	static char function[4], site[4];

	set("DRAIN", "drop");
	START();
	EXPECT_EQ(SIFIVE_TRACE_CONFIG_DRAIN | SIFIVE_TRACE_CONFIG_DROP, dev.config.flags);
	perf_hook_enter(function, site);
	set_full(true);
	mock_stores = 0;
	perf_hook_enter(function, site);
	perf_hook_exit(function, site);
	EXPECT_EQ(0, mock_stores);
	EXPECT_EQ(2, perf_pool->lost->dropped);
	set_full(false);
	perf_hook_enter(function, site);
	EXPECT_EQ(1, stores_of(SIFIVE_TRACE_RECORD_DROPPED));
	EXPECT_EQ(SIFIVE_TRACE_RECORD_DROPPED, mock_log[0].value);
	EXPECT_EQ(2, mock_log[1].value);
	EXPECT_EQ(SIFIVE_TRACE_RECORD_MAGIC, mock_log[2].value);
	EXPECT_EQ(SIFIVE_TRACE_RECORD_DELTA | SIFIVE_TRACE_RECORD_OWNED |
		  SIFIVE_TRACE_RECORD_GOES_ON,
		  mock_log[3].value);
	perf_hook_exit(function, site);
	EXPECT_EQ(1, stores_of(SIFIVE_TRACE_RECORD_DROPPED));
	auto_stop();
	EXPECT_TRUE(file_has("trace.rtd.meta", "\"dropped\":2,"));
	EXPECT_EQ(0, unlink("trace.rtd.meta"));
}

/* A thread that waits for room, and a lower bound on the length of its wait. */
struct waiter {
	pid_t id;
	uint64_t least;
};

static bool sleeps(pid_t thread)
{
	char path[64], text[256] = "", *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		abort();
	close(fd);
	state = strrchr(text, ')');
	return state && state[2] == 'S';
}

static void *make_room(void *arg)
{
	struct waiter *waiter = arg;
	uint64_t begin;

	while (!sleeps(waiter->id))
		sched_yield();
	begin = perf_device_now();
	usleep(20000);
	waiter->least = perf_device_now() - begin;
	set_full(false);
	return NULL;
}

TEST_F(record, record_waits_for_room_and_reports_the_time)
{
	static char function[4], site[4];
	struct waiter waiter = { .id = gettid() };
	uint64_t begin;
	pthread_t reader;
	uint32_t waited;

	set("DRAIN", "wait");
	START();
	EXPECT_EQ(SIFIVE_TRACE_CONFIG_DRAIN | SIFIVE_TRACE_CONFIG_WAIT, dev.config.flags);
	perf_hook_enter(function, site);
	set_full(true);
	mock_stores = 0;
	begin = perf_device_now();
	ASSERT_EQ(0, pthread_create(&reader, NULL, make_room, &waiter));
	perf_hook_exit(function, site);
	ASSERT_EQ(0, pthread_join(reader, NULL));
	EXPECT_EQ(SIFIVE_TRACE_RECORD_WAITED, mock_log[0].value);
	waited = (uint32_t)mock_log[1].value;
	EXPECT_LE(waiter.least, waited);
	EXPECT_GE(perf_device_now() - begin, waited);
	EXPECT_EQ(PERF_RECORD_EXIT, mock_log[2].value);
	EXPECT_EQ(1, perf_pool->lost->waits);
	EXPECT_EQ(waited, perf_pool->lost->waited);
	EXPECT_EQ(0, perf_pool->lost->dropped);
	mock_stores = 0;
	perf_hook_enter(function, site);
	EXPECT_EQ(0, stores_of(SIFIVE_TRACE_RECORD_WAITED));
	auto_stop();
	EXPECT_EQ(0, unlink("trace.rtd.meta"));
}

TEST_F(record, drained_capture_has_periodic_headers_on_request)
{
	set("DRAIN", "1");
	set("COUNT", "xor");
	START();
	EXPECT_EQ(0, perf_pool->interval);
	auto_stop();
	EXPECT_EQ(0, unlink("trace.rtd.meta"));
	set("RECORD", "1");
	set("HEADER", "20");
	START();
	EXPECT_EQ(20, perf_pool->interval);
	auto_stop();
	EXPECT_EQ(0, unlink("trace.rtd.meta"));
}

TEST_F(record, variables_set_their_options)
{
	set("EVENTS", "cycles,r102:u");
	set("COUNT", "xor");
	set("BUFFER", "3M");
	set("RING", "1");
	set("CHANNEL", "11");
	set("CPUS", "0");
	set("PER_CPU", "1");
	set("INTERVAL", "2500");
	set("HEADER", "once");
	set("OUTPUT", "/dev/null");
	START();
	EXPECT_EQ(2, dev.counters.count);
	EXPECT_EQ(0x102, dev.counters.event[1].data);
	EXPECT_EQ(0, dev.counters.flags);
	EXPECT_EQ(SIFIVE_TRACE_RECORD_XOR, perf_session.setup.type);
	EXPECT_EQ(3 << 20, dev.config.buffer);
	EXPECT_EQ(SIFIVE_TRACE_CONFIG_RING, dev.config.flags);
	EXPECT_EQ(11, perf_pool->first);
	EXPECT_EQ(2, dev.config.encoders);
	EXPECT_EQ(2500000, dev.sampling.interval);
	EXPECT_TRUE(perf_session.setup.header_once);
	EXPECT_STREQ("/dev/null", output);
	auto_stop();
}

TEST_F(record, variables_accept_other_values)
{
	set("COUNT", "raw");
	set("BUFFER", "64k");
	set("RING", "0");
	set("PERIOD", "100000");
	set("PERIOD_EVENT", "instructions:u");
	set("STACK", "1k");
	set("OUTPUT", "sub.rtd");
	START();
	EXPECT_EQ(SIFIVE_TRACE_RECORD_RAW, perf_session.setup.type);
	EXPECT_EQ(64 << 10, dev.config.buffer);
	EXPECT_EQ(0, dev.config.flags);
	EXPECT_EQ(100000, dev.sampling.period);
	EXPECT_EQ(2, dev.sampling.event.code);
	EXPECT_EQ(SIFIVE_TRACE_SAMPLING_STACK(1024) | SIFIVE_TRACE_SAMPLING_KERNEL,
		  dev.sampling.flags);
	auto_stop();
	EXPECT_EQ(0, unlink("sub.rtd"));
	EXPECT_EQ(0, unlink("sub.rtd.meta"));
}

TEST_F(record, header_variable_sets_the_interval)
{
	set("COUNT", "xor");
	set("RING", "1");
	set("HEADER", "50");
	set("OUTPUT", "/dev/null");
	START();
	EXPECT_FALSE(perf_session.setup.header_once);
	EXPECT_EQ(50, perf_pool->interval);
	auto_stop();
}

TEST_F(record, sink_variable_selects_sram)
{
	set("BUFFER", "64k");
	set("SINK", "sram");
	set("OUTPUT", "/dev/null");
	START();
	EXPECT_EQ(SIFIVE_TRACE_SINK_SRAM, dev.config.sink);
	EXPECT_EQ(0, dev.config.buffer);
	auto_stop();
}

TEST_F(record, refuses_invalid_values)
{
	static const struct {
		const char *name, *value, *words;
	} bad[] = {
		{ "EVENTS", "nonsense", "nonsense" },
		{ "COUNT", "deltaxor", "SIFIVE_TRACE_COUNT=deltaxor: not one of raw, delta, xor" },
		{ "SINK", "disk", "not one of sba, sram" },
		{ "BUFFER", "1G", "SIFIVE_TRACE_BUFFER=1G: not a number" },
		{ "BUFFER", "-1", "not a number" },
		{ "BUFFER", "M", "not a number" },
		{ "BUFFER", "99999999999999999999", "not a number" },
		{ "BUFFER", "18446744073709551615k", "not a number" },
		{ "CHANNEL", "32", "not a number from 0 to 31" },
		{ "INTERVAL", "1ms", "not a number" },
		{ "STACK", "8193", "not a number from 0 to 8192" },
		{ "STACK", "8", "stacks need samples" },
		{ "RING", "2", "SIFIVE_TRACE_RING=2: not one of yes, no, 1, 0, on, off" },
		{ "PER_CPU", "true", "not one of yes" },
		{ "HEADER", "onec", "not one of each, once" },
		{ "META", "late", "not one of early, yes" },
		{ "VERBOSE", "very", "not one of yes" },
		{ "PERIOD", "10", "no event is given for it" },
		{ "CPUS", "all", "not a list of CPUs" },
		{ "FILTER", "/proc/none", "cannot open the filter" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		set(bad[i].name, bad[i].value);
		REFUSED(bad[i].words);
		set(bad[i].name, NULL);
	}
	dev.open_errno = ENOENT;
	REFUSED("load sifive_trace.ko");
}

/*
 * The program's own session takes precedence, and standard error reports that the other session
 * ends.
 */
TEST_F(record, ends_if_the_program_traces_itself)
{
	START();
	dup2(self->error, STDERR_FILENO);
	EXPECT_EQ(0, perfInit(2, 1));
	dup2(self->saved, STDERR_FILENO);
	EXPECT_NOTHING_HELD();
	EXPECT_EQ(0, perfManualInit(NULL, 0, 6, perfCount_Raw, 4096));
	auto_stop();
	EXPECT_EQ(1, dev.fds);
	EXPECT_EQ(-1, access("trace.rtd", F_OK));
	perf_session_end();
}

TEST_HARNESS_MAIN

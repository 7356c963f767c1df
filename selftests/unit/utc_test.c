// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests --clock utc, which shows traces of several recordings on one time line. */
#include <stdlib.h>
#include <string.h>

#include "command_fixture.h"

#define NS_PER_SEC	1000000000ull
/* The wall clock at START. */
#define DATE		1790000000000000000ull
/* The trace's clock at START. */
#define STARTED		1000ull
/* What the trace's clock gains in two seconds. */
#define GAIN		200000ull
#define STEPS		4

/* A side-car file of a recording of two seconds; members in @more replace the usual ones. */
struct side {
	const char		*path;
	const char		*host;
	unsigned int		width;
	unsigned long long	hz;
	unsigned long long	ticks;
	unsigned long long	date;
	const char		*more;
};

static void write_side(const struct side *side)
{
	const uint64_t mask = ~0ull >> (64 - side->width);
	const unsigned long long stop = (STARTED + side->ticks) & mask;
	char text[1024];

	snprintf(text, sizeof(text),
		 "{\"srcbits\":0,\"ts_width\":%u,\"ts_hz\":%llu,\"exe\":\"/bin/p\",\"host\":\"%s\",\"threads\":[{\"channel\":6,\"pid\":5,\"tid\":5,\"name\":\"p\"}],"
		 "\"utc\":{\"time\":%llu,\"ns\":%llu,\"within\":40},\"coverage\":{\"run_ns\":2000000000},"
		 "\"clock_samples\":[{\"time\":%llu,\"ns\":5000000000,\"within\":300},{\"time\":%llu,\"ns\":7000000000,\"within\":200}]%s}",
		 side->width, side->hz, side->host, stop, side->date + 2 * NS_PER_SEC,
		 STARTED & mask, stop, side->more);
	write_file(side->path, text, strlen(text));
}

/* Write a trace of nested calls. Its records are @gap ticks apart; set @time to their times. */
static void make_trace(FIXTURE_DATA(command) *self, const char *path, unsigned int width,
		       uint64_t gap, uint64_t time[STEPS])
{
	static const uint64_t address[STEPS][2] = {
		{ MAIN, FIB }, { FIB, MAIN + 0x12 }, { FIB, MAIN + 0x12 }, { MAIN, FIB },
	};
	struct gen_stream stream;
	uint64_t value = 0;
	unsigned int i;

	gen_free(&self->gen);
	gen_init(&self->gen, 0, width);
	self->gen.now = STARTED;
	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	for (i = 0; i < STEPS; i++) {
		self->gen.now = STARTED + (i + 1) * gap;
		value++;
		gen_record(&stream, i > 1, address[i], &value);
		time[i] = self->gen.truth[i].address_time;
	}
	save(self, path);
}

static unsigned long long expected(uint64_t time)
{
	return DATE + (time - STARTED) * (2 * NS_PER_SEC) / (2 * NS_PER_SEC + GAIN);
}

static struct side usual(void)
{
	return (struct side){
		.path = "trace.rtd.meta", .host = "one", .width = 40, .hz = NS_PER_SEC,
		.ticks = 2 * NS_PER_SEC + GAIN, .date = DATE, .more = "",
	};
}

/* The drift between the two clocks is corrected, and the accuracy is reported. */
TEST_F(command, times_are_between_the_readings_of_the_clocks)
{
	struct side side = usual();
	uint64_t time[STEPS];
	char text[64];
	unsigned int i;

	make_trace(self, "trace.rtd", 40, NS_PER_SEC / 3, time);
	write_side(&side);
	run(self, "decode --clock utc trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "within 340.000 ns of the machine's clock at the start and 240.000 ns at the end; a drift of +100.000 ppm (within 0.251 ppm) against it is corrected")) {
		TH_LOG("%s", self->err);
	}
	for (i = 0; i < STEPS; i++) {
		snprintf(text, sizeof(text), " %llu.%09llu ", expected(time[i]) / NS_PER_SEC,
			 expected(time[i]) % NS_PER_SEC);
		EXPECT_NE(NULL, strstr(self->out, text)) { TH_LOG("%s: %s", text, self->out); }
	}
	run(self, "decode -q --csv --clock utc trace.rtd");
	EXPECT_EQ(0, strncmp(self->out, "unix_ns,source,", 15));
	EXPECT_STREQ("", self->err);
	for (i = 0; i < STEPS; i++) {
		snprintf(text, sizeof(text), "\n%llu,0,6,", expected(time[i]));
		EXPECT_NE(NULL, strstr(self->out, text)) { TH_LOG("%s: %s", text, self->out); }
	}
	run(self, "decode -q --json --clock utc trace.rtd");
	for (i = 0; i < STEPS; i++) {
		snprintf(text, sizeof(text), ",\"unix_ns\":%llu,", expected(time[i]));
		EXPECT_NE(NULL, strstr(self->out, text)) { TH_LOG("%s: %s", text, self->out); }
	}
	/* Without the option, times are those of the trace's clock. */
	run(self, "decode -q --csv trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\n0.333")) { TH_LOG("%s", self->out); }
}

/* All formats show the same times. Call durations are as measured by the trace's clock. */
TEST_F(command, formats_agree)
{
	unsigned long long begin, end;
	struct side side = usual();
	uint64_t time[STEPS];
	char text[64];

	make_trace(self, "trace.rtd", 40, NS_PER_SEC / 3, time);
	write_side(&side);
	run(self, "export -q --format csv trace.rtd | awk -F, '$5 == \"call\" && $16 { print $17 }'");
	EXPECT_EQ(2, sscanf(self->out, "%llu %llu", &end, &begin)) { TH_LOG("%s", self->out); }
	EXPECT_LT(begin, end);
	run(self, "replay -q --clock utc trace.rtd");
	snprintf(text, sizeof(text), "\n %llu.%09llu ", begin / NS_PER_SEC, begin % NS_PER_SEC);
	EXPECT_NE(NULL, strstr(self->out, text)) { TH_LOG("%s", self->out); }
	EXPECT_NE(NULL, strstr(self->out, " 333.333 ms "));
	run(self, "export -q --format chrome --clock utc trace.rtd");
	snprintf(text, sizeof(text), "\"ts\":%llu.%03llu,", begin / 1000, begin % 1000);
	EXPECT_NE(NULL, strstr(self->out, text)) { TH_LOG("%s: %s", text, self->out); }
	EXPECT_NE(NULL, strstr(self->out, "\n\"clock\":\"utc, within 340.000 ns of "));
	run(self, "export -q --format perfetto --clock utc -o t.pftrace trace.rtd");
	if (!strstr(self->err, "libprotobuf-c")) {
		run(self, "--version >p; " SOURCES "/perfetto.py t.pftrace calls");
		snprintf(text, sizeof(text), " %llu ", begin);
		EXPECT_NE(NULL, strstr(self->out, text)) { TH_LOG("%s%s", self->out, self->err); }
		run(self, "--version >p; " SOURCES "/perfetto.py t.pftrace");
		EXPECT_NE(NULL, strstr(self->out, "process one: p\n")) {
			TH_LOG("%s", self->out);
		}
		EXPECT_NE(NULL, strstr(self->out, " within 340.000 ns of "));
	}
	run(self, "export -q --format ctf --clock utc -o ctf trace.rtd && grep -q 'absolute = true' ctf/metadata");
	EXPECT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	if (system("command -v babeltrace2 >/dev/null"))
		SKIP(return, "no babeltrace2: install babeltrace2");
	run(self, "--version >p; babeltrace2 --clock-seconds ctf");
	snprintf(text, sizeof(text), "[%llu.%09llu]", begin / NS_PER_SEC, begin % NS_PER_SEC);
	EXPECT_NE(NULL, strstr(self->out, text)) { TH_LOG("%s: %s%s", text, self->out, self->err); }
}

/* Timestamps that wrap once are converted; if they may have wrapped twice, they are refused. */
TEST_F(command, wrapped_timestamps_are_clear_or_refused)
{
	struct side side = usual();
	uint64_t time[STEPS];
	char text[64];

	side.width = 11;
	side.hz = 900;
	side.ticks = 1800;
	make_trace(self, "trace.rtd", 11, 400, time);
	write_side(&side);
	run(self, "decode -q --csv --clock utc trace.rtd | tail -1");
	snprintf(text, sizeof(text), "%llu,0,6,",
		 DATE + (time[3] - STARTED) * NS_PER_SEC / 900);
	EXPECT_LT(2048, time[3]);
	EXPECT_EQ(0, strncmp(self->out, text, strlen(text))) { TH_LOG("%s: %s", text, self->out); }
	side.hz = 1100;
	side.ticks = 2200;
	write_side(&side);
	run(self, "decode -q --csv --clock utc trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "timestamps may have wrapped")) { TH_LOG("%s", self->err); }
}

TEST_F(command, what_cannot_be_converted_is_refused)
{
	static const struct {
		const char *arguments, *message;
		int status;
	} refused[] = {
		{ "replay --clock utc --meta none trace.rtd", "does not contain the machine's clock", 3 },
		{ "replay --clock utc --meta none.meta trace.rtd", "does not contain the machine's clock", 3 },
		{ "replay --clock utc --ts-hz 3000000000 trace.rtd", "clock_samples contradict", 3 },
		{ "replay --clock utc --ts-hz 1010000000 trace.rtd", "clock_samples contradict", 3 },
		{ "export --clock utc --format html -o p trace.rtd", "not to html", 2 },
		{ "export --clock utc --format csv trace.rtd", "rows of csv always contain", 2 },
		{ "decode --clock utc --format perf -o p trace.rtd", "no wall-clock times", 2 },
		{ "decode --clock utc --format pc trace.rtd", "no wall-clock times", 2 },
		{ "replay --clock boot trace.rtd", "trace", 2 },
	};
	struct side side = usual();
	uint64_t time[STEPS];
	unsigned int i;

	make_trace(self, "trace.rtd", 40, NS_PER_SEC / 3, time);
	write_side(&side);
	write_file("none.meta", "{\"ts_hz\":1000000000}", 20);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		run(self, "%s", refused[i].arguments);
		EXPECT_EQ(refused[i].status, self->status) { TH_LOG("%u", i); }
		EXPECT_NE(NULL, strstr(self->err, refused[i].message)) {
			TH_LOG("%s: %s", refused[i].arguments, self->err);
		}
	}
	/* Without readings at START and STOP, drift is not corrected. */
	side.more = ",\"clock_samples\":[]";
	write_side(&side);
	run(self, "decode --csv --clock utc trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "of unknown accuracy; drift is not corrected")) {
		TH_LOG("%s", self->err);
	}
}

#define UTC(time, ns)	",\"utc\":{\"time\":" #time ",\"ns\":" #ns ",\"within\":40}"
#define SAMPLES(start, first, stop, last)						\
	",\"clock_samples\":[{\"time\":" #start ",\"ns\":" #first ",\"within\":300},"	\
	"{\"time\":" #stop ",\"ns\":" #last ",\"within\":200}]"
#define RUN(ns)		",\"coverage\":{\"run_ns\":" #ns "}"

/* Side-car files that do not determine the wall-clock time of every record are refused. */
TEST_F(command, incomplete_and_contradictory_readings_are_refused)
{
	static const struct {
		const char *more, *message;
	} refused[] = {
		/* The recorder was killed, so this is the file that it wrote at the beginning. */
		{ UTC(2001000, 1790000000001000000) SAMPLES(1000, 5000000000, 2001000, 5002000000)
		  RUN(0), "the length of the recording is unknown" },
		{ SAMPLES(1000, 7000000000, 2000201000, 7000000000), "contradict each other" },
		{ SAMPLES(1000, 7000000000, 2000201000, 5000000000), "contradict each other" },
		{ SAMPLES(1000, 5000000000, 2000201001, 7000000000), "contradict each other" },
		{ UTC(2000201000, 2000000000), "began before 1970" },
		{ UTC(2000201000, 9223372036854775808), "after the year 2262" },
		/* The trace's last record is one second after its first record. */
		{ ",\"clock_samples\":[]" RUN(900000000), "more than the length of the recording" },
	};
	struct side side = usual();
	uint64_t time[STEPS];
	unsigned int i;

	make_trace(self, "trace.rtd", 40, NS_PER_SEC / 3, time);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		side.more = refused[i].more;
		write_side(&side);
		run(self, "decode --csv --clock utc trace.rtd");
		EXPECT_EQ(3, self->status) { TH_LOG("%u: %s", i, self->out); }
		EXPECT_NE(NULL, strstr(self->err, refused[i].message)) {
			TH_LOG("%u: %s", i, self->err);
		}
	}
	/* Times just after 1970 began, from a machine whose clock was never set, are valid. */
	side.more = ",\"clock_samples\":[]" UTC(2000201000, 2000000001);
	write_side(&side);
	run(self, "decode -q --csv --clock utc trace.rtd | sed -n 2p");
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(0, strncmp(self->out, "333133", 6)) { TH_LOG("%s", self->out); }
}

/* Times of 64 bits can also be converted. */
TEST_F(command, wide_timestamps_are_converted)
{
	struct side side = usual();
	uint64_t time[STEPS];
	char text[64];

	side.width = 64;
	make_trace(self, "trace.rtd", 64, NS_PER_SEC / 3, time);
	side.more = ",\"clock_samples\":[]";
	for (unsigned int i = 0; i < 2; i++, side.more = "") {
		write_side(&side);
		run(self, "decode -q --csv --clock utc trace.rtd");
		EXPECT_EQ(0, self->status) { TH_LOG("%s", self->err); }
		snprintf(text, sizeof(text), "\n%llu,0,6,",
			 i ? expected(time[3]) : DATE + time[3] - STARTED - GAIN);
		EXPECT_NE(NULL, strstr(self->out, text)) { TH_LOG("%s: %s", text, self->out); }
	}
}

/* A difference that the errors of the readings can explain does not count as drift. */
TEST_F(command, small_drift_is_not_corrected)
{
	static const struct {
		unsigned long long gain;
		const char *message;
	} gains[] = {
		{ 502, "and 742.000 ns at the end; drift is too small to measure, and not corrected" },
		{ 0, "and 240.000 ns at the end; drift is too small to measure, and not corrected" },
		{ 600, "and 240.000 ns at the end; a drift of +0.300 ppm (within 0.251 ppm) against it is corrected" },
	};
	struct side side = usual();
	uint64_t time[STEPS];
	unsigned int i;

	make_trace(self, "trace.rtd", 40, NS_PER_SEC / 3, time);
	for (i = 0; i < sizeof(gains) / sizeof(gains[0]); i++) {
		side.ticks = 2 * NS_PER_SEC + gains[i].gain;
		write_side(&side);
		run(self, "decode --csv --clock utc trace.rtd");
		EXPECT_NE(NULL, strstr(self->err, gains[i].message)) {
			TH_LOG("%u: %s", i, self->err);
		}
	}
}

/* The accuracy is known only if the errors of all readings are known. */
TEST_F(command, accuracy_needs_all_errors)
{
	static const struct {
		const char *more, *message;
	} files[] = {
		{ ",\"utc\":{\"time\":2000201000,\"ns\":1790000002000000000}",
		  "of unknown accuracy; a drift of +100.000 ppm (within 0.251 ppm)" },
		{ ",\"clock_samples\":[{\"time\":1000,\"ns\":5000000000},"
		  "{\"time\":2000201000,\"ns\":7000000000,\"within\":200}]",
		  "of unknown accuracy; drift is not corrected" },
		/* Errors are added without overflow. */
		{ ",\"utc\":{\"time\":2000201000,\"ns\":1790000002000000000,\"within\":18446744073709551600}",
		  "within 18446744073.710 s of the machine's clock at the start and 18446744073.710 s" },
	};
	struct side side = usual();
	uint64_t time[STEPS];
	unsigned int i;

	make_trace(self, "trace.rtd", 40, NS_PER_SEC / 3, time);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		side.more = files[i].more;
		write_side(&side);
		run(self, "decode --csv --clock utc trace.rtd");
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->err, files[i].message)) {
			TH_LOG("%u: %s", i, self->err);
		}
	}
}

/* Readers of CTF reserve the word "clock", and accept few escape sequences. */
TEST_F(command, ctf_metadata_is_readable)
{
	struct side side = usual();
	uint64_t time[STEPS];

	side.host = "a\\u0001b<\\\"\\\\";
	make_trace(self, "trace.rtd", 40, NS_PER_SEC / 3, time);
	write_side(&side);
	run(self, "export -q --format ctf --clock utc -o ctf trace.rtd && cat ctf/metadata");
	EXPECT_NE(NULL, strstr(self->out, "\n\tclock_accuracy = \"utc, within ")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, "\n\thostname = \"a?b<\\\"\\\\\";\n")) {
		TH_LOG("%s", self->out);
	}
	if (system("command -v babeltrace2 >/dev/null"))
		SKIP(return, "no babeltrace2: install babeltrace2");
	run(self, "--version >p; babeltrace2 ctf");
	EXPECT_EQ(0, self->status) { TH_LOG("%s", self->err); }
}

/* Write two recordings with the same ids; the second one began three seconds later. */
static void make_two(FIXTURE_DATA(command) *self)
{
	struct side side = usual();
	uint64_t time[STEPS];

	make_trace(self, "b.rtd", 40, NS_PER_SEC / 2, time);
	make_trace(self, "a.rtd", 40, NS_PER_SEC / 4, time);
	side.path = "a.rtd.meta";
	write_side(&side);
	side.path = "b.rtd.meta";
	side.host = "two";
	side.date = DATE + 3 * NS_PER_SEC;
	write_side(&side);
}

TEST_F(command, concatenated_perfetto_files_show_both_recordings)
{
	unsigned long long time[4], machine[4];
	const char *at;
	unsigned int i;
	int used;

	make_two(self);
	run(self, "export -q --format perfetto --clock utc -o a.pf a.rtd");
	if (strstr(self->err, "libprotobuf-c"))
		SKIP(return, "no libprotobuf-c: install libprotobuf-c-dev");
	run(self, "export -q --format perfetto --clock utc -o b.pf b.rtd && cat a.pf b.pf >both.pf");
	EXPECT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	run(self, "--version >p; " SOURCES "/perfetto.py both.pf calls");
	EXPECT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	for (i = 0, at = self->out; i < 4; i++, at += used) {
		used = 0;
		EXPECT_EQ(2, sscanf(at, "%llu %llu %*[^\n] %n", &machine[i], &time[i], &used)) {
			TH_LOG("%s", self->out);
		}
	}
	EXPECT_EQ('\0', *at);
	EXPECT_EQ(machine[0], machine[1]);
	EXPECT_EQ(machine[2], machine[3]);
	EXPECT_NE(machine[0], machine[2]);
	/* The second START is 3 s later, and its first record comes another 0.25 s later. */
	EXPECT_LT(3 * NS_PER_SEC + NS_PER_SEC / 4 - 100000, time[2] - time[0]);
	EXPECT_GT(3 * NS_PER_SEC + NS_PER_SEC / 4 + 100000, time[2] - time[0]);
	run(self, "--version >p; " SOURCES "/perfetto.py both.pf");
	EXPECT_NE(NULL, strstr(self->out, "process one: p\n")) { TH_LOG("%s", self->out); }
	EXPECT_NE(NULL, strstr(self->out, "process two: p\n"));
	/* Without --clock utc, a trace is not a separate machine, and its times are not dates. */
	run(self, "export -q --format perfetto -o c.pf a.rtd; " SOURCES "/perfetto.py c.pf calls");
	EXPECT_EQ(0, strncmp(self->out, "0 250", 5)) { TH_LOG("%s", self->out); }
}

TEST_F(command, babeltrace_merges_two_recordings_by_time)
{
	const char *first, *second;

	if (system("command -v babeltrace2 >/dev/null"))
		SKIP(return, "no babeltrace2: install babeltrace2");
	make_two(self);
	run(self, "export -q --format ctf --clock utc -o a a.rtd");
	run(self, "export -q --format ctf --clock utc -o b b.rtd && babeltrace2 --clock-seconds b a");
	first = strstr(self->out, "[1790000000.249");
	second = strstr(self->out, "[1790000003.499");
	EXPECT_NE(NULL, first) { TH_LOG("%s%s", self->out, self->err); }
	EXPECT_NE(NULL, second);
	EXPECT_LT(first, second);
	EXPECT_NE(NULL, strstr(self->out, ") one lttng_ust")) { TH_LOG("%s", self->out); }
	EXPECT_NE(NULL, strstr(self->out, ") two lttng_ust"));
}

TEST_HARNESS_MAIN

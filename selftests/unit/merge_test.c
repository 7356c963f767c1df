// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that merge combines the traces of several sinks into the trace that one sink would have
 * recorded.
 */
#include <sys/stat.h>

#include "command_fixture.h"
#include "nexus_collect.h"
#include "sinks.h"

TEST_F(command, merged_trace_equals_trace_of_a_single_sink)
{
	static char bytes[SIZE];
	struct sinks sinks;
	FILE *file;

	make_sinks(&sinks, false);
	write_metas();
	run(self, "merge -o m.rtd a.rtd b.rtd");
	ASSERT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	EXPECT_NE(NULL, strstr(self->err, "2 traces, 4 encoders; their clocks agree within 402 ns"))
		TH_LOG("%s", self->err);
	file = fopen("m.rtd", "rb");
	ASSERT_NE(NULL, file);
	ASSERT_LT(sinks.one.length, sizeof(bytes));
	EXPECT_EQ(sinks.one.length, fread(bytes, 1, sizeof(bytes), file));
	EXPECT_EQ(0, memcmp(bytes, sinks.one.data, sinks.one.length));
	fclose(file);
	/* The merged trace has a side-car file that describes it, and nothing is missing. */
	run(self, "report --strict m.rtd");
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	read_file("m.rtd.meta", self->out);
	EXPECT_NE(NULL, strstr(self->out, "\"srcbits\":2"));
	EXPECT_NE(NULL, strstr(self->out, "\"buffer\":200"));
	EXPECT_EQ(NULL, strstr(self->out, "clock_samples"));
	free_sinks(&sinks);
}

/*
 * A user who may not read one of the traces must not be able to read its contents in the merged
 * trace.
 */
TEST_F(command, merged_trace_is_as_private_as_its_inputs)
{
	const mode_t mask = umask(022);
	struct sinks sinks;
	struct stat status;

	make_sinks(&sinks, false);
	write_metas();
	ASSERT_EQ(0, chmod("a.rtd", 0644));
	ASSERT_EQ(0, chmod("b.rtd", 0644));
	run(self, "merge -o m.rtd a.rtd b.rtd");
	ASSERT_EQ(0, stat("m.rtd", &status));
	EXPECT_EQ(0644, status.st_mode & 0777);
	ASSERT_EQ(0, chmod("b.rtd", 0600));
	run(self, "merge -o m.rtd a.rtd b.rtd");
	ASSERT_EQ(0, stat("m.rtd", &status));
	EXPECT_EQ(0600, status.st_mode & 0777);
	umask(mask);
	free_sinks(&sinks);
}

TEST_F(command, merged_trace_states_which_functions_were_recorded)
{
	static const char * const arguments[] = { "a.rtd b.rtd", "m.rtd" };
	struct sidecar a = first_sink(), b = second_sink();
	struct sinks sinks;
	unsigned int i;

	make_sinks(&sinks, false);
	a.more = ",\"part\":{\"functions\":[\"fib\",\"re*\"]}";
	b.more = a.more;
	write_meta(&a);
	write_meta(&b);
	run(self, "merge -o m.rtd a.rtd b.rtd");
	ASSERT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	for (i = 0; i < 2; i++) {
		run(self, "report -q %s", arguments[i]);
		EXPECT_NE(NULL, strstr(self->out, "contains only calls to functions that match fib, re*;")) {
			TH_LOG("%s", self->out);
		}
	}
	/* Traces with different selections of calls are from different recordings. */
	b.more = ",\"part\":{\"functions\":[\"fib\"]}";
	write_meta(&b);
	run(self, "merge -o m.rtd a.rtd b.rtd");
	EXPECT_EQ(3, self->status);
	free_sinks(&sinks);
}

/* A recorder that was killed may have completed only one of the traces. */
TEST_F(command, merged_trace_of_a_running_recording_lacks_the_end)
{
	static const char * const arguments[] = { "a.rtd b.rtd", "m.rtd" };
	struct sinks sinks;
	unsigned int i, k;

	make_sinks(&sinks, false);
	for (k = 0; k < 2; k++) {
		struct sidecar sink[] = { first_sink(), second_sink() };

		sink[k].coverage = "{\"running\":true}";
		write_meta(&sink[0]);
		write_meta(&sink[1]);
		run(self, "merge -o m.rtd a.rtd b.rtd");
		ASSERT_EQ(0, self->status) { TH_LOG("%s", self->err); }
		for (i = 0; i < 2; i++) {
			run(self, "report -q %s", arguments[i]);
			EXPECT_NE(NULL, strstr(self->out, "lacks the end")) { TH_LOG("%s", self->out); }
		}
	}
	free_sinks(&sinks);
}

/* All times and the date in the merged trace refer to one of the two clocks. */
TEST_F(command, dates_refer_to_one_clock)
{
	struct sidecar a = first_sink(), b = second_sink();
	static char first[SIZE];
	struct sinks sinks;

	make_sinks(&sinks, false);
	/* The wall clock at STOP, with the time of the trace's own clock. */
	a.more = ",\"host\":\"h\",\"utc\":{\"time\":100001277,\"ns\":2000000008000000000}";
	b.more = ",\"host\":\"h\",\"utc\":{\"time\":100000700,\"ns\":2000000008000020000}";
	a.coverage = "{\"bytes\":1,\"run_ns\":10000000000}";
	b.coverage = a.coverage;
	write_meta(&a);
	write_meta(&b);
	run(self, "export -q --format csv a.rtd b.rtd | grep ,call, | cut -d, -f2,17 | sort");
	ASSERT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	strcpy(first, self->out);
	EXPECT_LT(1000, strlen(first));
	for (const char *path = "a.rtd"; path; path = *path == 'a' ? "b.rtd" : NULL) {
		run(self, "export -q --format csv %s | grep ,call, | cut -d, -f2,17 | head -1", path);
		EXPECT_EQ(0, strncmp(self->out, "h,199999999", 11)) { TH_LOG("%s", self->out); }
		EXPECT_NE(NULL, strstr(first, self->out)) { TH_LOG("%s", self->out); }
	}
	free_sinks(&sinks);
}

/* A merged trace lacks clock_samples, but the drift of its clock is corrected as in the first trace. */
TEST_F(command, drift_is_corrected_after_merging)
{
	struct sidecar a = first_sink(), b = second_sink();
	static char first[SIZE];
	struct sinks sinks;

	make_sinks(&sinks, false);
	a.stop += 10000;
	b.stop += 10000;
	a.more = ",\"host\":\"h\",\"utc\":{\"time\":100011277,\"ns\":2000000000000000000,\"within\":7}";
	b.more = ",\"host\":\"h\",\"utc_start\":{\"time\":1,\"ns\":1,\"within\":1}";
	a.coverage = "{\"bytes\":1,\"run_ns\":10000000000}";
	b.coverage = a.coverage;
	write_meta(&a);
	write_meta(&b);
	run(self, "decode --csv --clock utc a.rtd | grep -E '^[0-9]+,0,' | cut -d, -f1");
	strcpy(first, self->out);
	EXPECT_EQ(0, strncmp(first, "19999999", 8)) { TH_LOG("%s", first); }
	EXPECT_NE(NULL, strstr(self->err, "within 107.000 ns of the machine's clock at the start and 57.000 ns at the end; a drift of +100.000 ppm"));
	run(self, "decode --csv --clock utc a.rtd b.rtd | grep -E '^[0-9]+,0,' | cut -d, -f1");
	EXPECT_STREQ(first, self->out);
	/* The clocks of the two traces agree within 402 ns. */
	EXPECT_NE(NULL, strstr(self->err, "within 509.000 ns of the machine's clock at the start and 459.000 ns at the end; a drift of +100.000 ppm")) {
		TH_LOG("%s", self->err);
	}
	/* A wall-clock time that contradicts the readings is omitted. */
	a.more = ",\"host\":\"h\",\"utc\":{\"time\":100011276,\"ns\":2000000000000000000,\"within\":7}";
	write_meta(&a);
	run(self, "merge -o m.rtd a.rtd b.rtd && cat m.rtd.meta");
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(NULL, strstr(self->out, "\"utc")) { TH_LOG("%s", self->out); }
	free_sinks(&sinks);
}

TEST_F(command, order_of_the_traces_does_not_affect_times)
{
	static char first[SIZE];
	struct sinks sinks;

	make_sinks(&sinks, false);
	write_metas();
	run(self, "merge -o m.rtd a.rtd b.rtd");
	run(self, "replay -q m.rtd");
	EXPECT_EQ(0, self->status);
	strcpy(first, self->out);
	run(self, "merge -o m.rtd b.rtd a.rtd");
	run(self, "replay -q m.rtd");
	EXPECT_STREQ(first, self->out);
	EXPECT_LT(1000, strlen(first));
	free_sinks(&sinks);
}

TEST_F(command, relative_timestamps_are_merged)
{
	struct sinks sinks;
	char *at;

	make_sinks(&sinks, true);
	write_metas();
	for (const char *path = "a.rtd.meta"; path; path = *path == 'a' ? "b.rtd.meta" : NULL) {
		read_file(path, self->out);
		at = strstr(self->out, "\"xor\"");
		ASSERT_NE(NULL, at);
		memmove(at + 7, at + 5, strlen(at + 5) + 1);
		memcpy(at, "\"delta\"", 7);
		write_file(path, self->out, strlen(self->out));
	}
	run(self, "merge -o m.rtd a.rtd b.rtd");
	ASSERT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	read_file("m.rtd", self->out);
	EXPECT_EQ(0, memcmp(self->out, sinks.one.data, sinks.one.length));
	free_sinks(&sinks);
}

/* 24 bits wrap every 1.7 s; the second sink's clock wraps long before the first sink's clock. */
TEST_F(command, wrapping_clocks_are_merged)
{
	struct sidecar a = first_sink(), b = second_sink();
	struct sinks sinks;

	make_sinks_at(&sinks, false, 24, (1 << 24) - 1000);
	a.width = 24;
	b.width = 24;
	a.start = (1 << 24) - 2000 + AHEAD;
	b.start = (1 << 24) - 2000 + 200;
	a.stop = a.start + 10 * HZ;
	b.stop = b.start + 10 * HZ;
	write_meta(&a);
	write_meta(&b);
	run(self, "merge -o m.rtd a.rtd b.rtd");
	ASSERT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	read_file("m.rtd", self->out);
	EXPECT_EQ(0, memcmp(self->out, sinks.one.data, sinks.one.length));
	free_sinks(&sinks);
}

/*
 * The conversion between the clocks moves a wraparound into a pause that lasts three quarters of
 * the clock's range.
 */
TEST_F(command, ambiguous_pause_is_refused)
{
	struct sidecar a = first_sink(), b = second_sink();
	const uint64_t address[2] = { MAIN, FIB };
	const uint64_t range = 1 << 24, shift = range / 4;
	struct gen_stream stream;
	uint64_t value = 1;
	struct gen gen[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		gen_init(&gen[i], 1, 24);
		begin_stream(&stream, &gen[i], 0, range / 5);
		if (i)
			gen[i].now += range / 8 * 5;
		gen_record(&stream, 0, address, &value);
		write_file(i ? "b.rtd" : "a.rtd", gen[i].data, gen[i].length);
		gen_free(&gen[i]);
	}
	a.width = 24;
	b.width = 24;
	a.start = range / 5 - 100 + shift;
	b.start = range / 5 - 100;
	a.start_ns = b.start_ns;
	a.stop_ns = b.stop_ns;
	a.stop = a.start + 10 * HZ;
	b.stop = b.start + 10 * HZ;
	write_meta(&a);
	write_meta(&b);
	run(self, "merge -o m.rtd a.rtd b.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "half the range")) TH_LOG("%s", self->err);
}

/* The second clock is slower by 100 ppm, which is 10000 ticks in 10 s. */
TEST_F(command, clock_drift_is_corrected)
{
	struct sidecar a = first_sink(), b = second_sink();
	unsigned long long second[4] = { 0 }, time[4] = { 0 };
	const uint64_t address[2] = { MAIN, FIB };
	uint64_t value = 1;
	struct gen_stream stream;
	struct gen gen[2];
	unsigned int i;
	char *line;

	/* Both traces contain a record at START and at STOP. */
	for (i = 0; i < 2; i++) {
		gen_init(&gen[i], 1, 40);
		begin_stream(&stream, &gen[i], 0, STARTED + (i ? 0 : AHEAD));
		gen_record(&stream, 0, address, &value);
		gen[i].now = STARTED + (i ? 0 : AHEAD) + 10 * HZ - (i ? 10000 : 0);
		gen_record(&stream, 1, address, &value);
		write_file(i ? "b.rtd" : "a.rtd", gen[i].data, gen[i].length);
		gen_free(&gen[i]);
	}
	b.stop -= 10000;
	write_meta(&a);
	write_meta(&b);
	run(self, "merge -o m.rtd a.rtd b.rtd");
	ASSERT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	run(self, "replay -q --ts-hz 10000000 m.rtd");
	/*
	 * The calls in the two traces begin within 20 us of each other, and also end within 20 us.
	 */
	for (i = 0, line = strchr(self->out, '\n'); i < 4 && line; i++, line = strchr(line + 1, '\n'))
		ASSERT_EQ(2, sscanf(line, " %llu.%llu", &second[i], &time[i]))
			TH_LOG("%s", self->out);
	ASSERT_EQ(4, i);
	for (i = 0; i < 4; i += 2) {
		time[i] += second[i] * SECOND;
		time[i + 1] += second[i + 1] * SECOND;
		EXPECT_GE(1000 + 20000, time[i + 1] - time[i]) TH_LOG("%s", self->out);
	}
	EXPECT_LT(9 * SECOND, time[2] - time[0]);
	b.stop -= 1000000;
	write_meta(&b);
	run(self, "merge -o m.rtd a.rtd b.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "did not run at 10000000 Hz")) TH_LOG("%s", self->err);
}

/* A full buffer ends within a message. */
TEST_F(command, truncated_last_message_is_accepted)
{
	write_cut_sinks();
	run(self, "merge -o m.rtd a.rtd b.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "b.rtd: its last message is cut off")) TH_LOG("%s", self->err);
	run(self, "report m.rtd");
	EXPECT_EQ(0, self->status);
}

/*
 * A thread can end while the first trace is being written, so the side-car file written last
 * describes that thread best.
 */
TEST_F(command, threads_are_read_from_the_last_side_car_file)
{
	struct sidecar a = first_sink(), b = second_sink();
	struct sinks sinks;

	make_sinks(&sinks, false);
	a.more = ",\"threads\":[{\"channel\":6,\"tid\":5,\"from\":1}]";
	b.more = ",\"threads\":[{\"channel\":6,\"tid\":5,\"from\":1,\"to\":1234567}]";
	write_meta(&a);
	write_meta(&b);
	run(self, "merge -o m.rtd a.rtd b.rtd");
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	read_file("m.rtd.meta", self->out);
	EXPECT_NE(NULL, strstr(self->out, "1234567"));
	free_sinks(&sinks);
}

static void expect_refused(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
			   const char *arguments, int status, const char *why)
{
	run(self, "merge -o m.rtd %s", arguments);
	EXPECT_EQ(status, self->status) TH_LOG("%s", why);
	EXPECT_NE(NULL, strstr(self->err, why)) TH_LOG("%s: %s", why, self->err);
	EXPECT_NE(0, access("m.rtd", F_OK)) TH_LOG("%s", why);
	EXPECT_NE(0, access("m.rtd.meta", F_OK)) TH_LOG("%s", why);
}

TEST_F(command, incompatible_traces_are_refused)
{
	const struct sidecar good = second_sink();
	struct sidecar b = good;
	struct sinks sinks;
	unsigned int i;
	struct {
		struct sidecar with;
		const char *why;
	} bad[] = {
		{ good, "oldest bytes were overwritten" }, { good, "its clock is unknown" },
		{ good, "a piece of a recording" }, { good, "not from the same recording" },
		{ good, "not from the same recording" }, { good, "same hart as an earlier trace" },
		{ good, "not from the same recording" }, { good, "did not run at" },
		{ good, "drifted too far" }, { good, "not from the same recording" },
		{ good, "bytes are missing" }, { good, "not from the same recording" },
	};

	bad[0].with.wrapped = "true";
	bad[1].with.stop_ns = 0;
	bad[2].with.more = ",\"piece\":1";
	bad[3].with.more = ",\"channel\":3";
	/* Recorded an hour later. */
	bad[4].with.start_ns += 3600 * SECOND;
	bad[4].with.stop_ns += 3600 * SECOND;
	bad[5].with.hart = 0;
	bad[6].with.width = 48;
	bad[7].with.stop += HZ;
	/* The clocks differ by 9 ms after 10 s. */
	bad[8].with.stop -= 90000;
	/* The capture begins half a second after the other capture has ended. */
	bad[9].with.start_ns += 11 * SECOND;
	bad[9].with.stop_ns += 11 * SECOND;
	bad[10].with.coverage = "{\"full\":false,\"bytes\":100000,\"buffer\":100000}";
	bad[11].with.more = ",\"trigger\":{\"call\":2}";
	make_sinks(&sinks, false);
	write_metas();
	expect_refused(_metadata, self, "a.rtd", 2, "needs the traces of all sinks");
	expect_refused(_metadata, self, "a.rtd none.rtd", 3, "none.rtd");
	expect_refused(_metadata, self, "a.rtd a.rtd", 3, "given twice");
	unlink("b.rtd.meta");
	expect_refused(_metadata, self, "a.rtd b.rtd", 3, "needs the side-car files");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_meta(&bad[i].with);
		expect_refused(_metadata, self, "a.rtd b.rtd", 3, bad[i].why);
	}
	/* A value of the wrong type is treated as missing. */
	b.coverage = "[1]";
	write_meta(&b);
	run(self, "merge -o m.rtd a.rtd b.rtd");
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	unlink("m.rtd");
	unlink("m.rtd.meta");
	write_metas();
	sinks.own[1].data[sinks.own[1].length / 2] ^= 2;
	write_file("b.rtd", sinks.own[1].data, sinks.own[1].length);
	expect_refused(_metadata, self, "a.rtd b.rtd", 3, "a merged trace would hide it");
	free_sinks(&sinks);
}

/* Errors leave existing files unchanged. */
TEST_F(command, failed_merge_leaves_existing_files_unchanged)
{
	struct sinks sinks;

	make_sinks(&sinks, false);
	write_metas();
	run(self, "merge -o b.rtd a.rtd b.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "it is also an input"));
	run(self, "merge -o b.rtd.meta a.rtd b.rtd");
	EXPECT_EQ(3, self->status);
	run(self, "merge -o /dev/null a.rtd b.rtd");
	EXPECT_EQ(3, self->status);
	run(self, "merge -o - a.rtd b.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(0, access("-", F_OK));
	/* An input can have any name. */
	ASSERT_EQ(0, system("cp b.rtd m.rtd.new && cp b.rtd.meta m.rtd.new.meta"));
	run(self, "merge -o m.rtd a.rtd m.rtd.new");
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	EXPECT_EQ(0, system("cmp b.rtd m.rtd.new && rm m.rtd*"));
	/* The side-car file must not be written through a link. */
	write_file("other", "x", 1);
	ASSERT_EQ(0, symlink("other", "m.rtd.meta"));
	run(self, "merge -o m.rtd a.rtd b.rtd");
	EXPECT_EQ(0, self->status);
	read_file("other", self->out);
	EXPECT_STREQ("x", self->out);
	write_file("m.rtd", "old", 3);
	sinks.own[1].data[sinks.own[1].length / 2] ^= 2;
	write_file("b.rtd", sinks.own[1].data, sinks.own[1].length);
	run(self, "merge -o m.rtd a.rtd b.rtd");
	EXPECT_EQ(3, self->status);
	read_file("m.rtd", self->out);
	EXPECT_STREQ("old", self->out);
	EXPECT_EQ(0, access("m.rtd.meta", F_OK));
	/* No other file remains. */
	EXPECT_NE(0, system("ls | grep -q 'm.rtd[.][^m]'"));
	free_sinks(&sinks);
}

/* The kernel's function names must be from this recording, not from an earlier recording. */
TEST_F(command, kernel_names_are_copied_next_to_the_merged_trace)
{
	struct sinks sinks;
	struct stat status;

	make_sinks(&sinks, false);
	write_metas();
	write_file("m.rtd.kallsyms", "earlier", 7);
	run(self, "merge -o m.rtd a.rtd b.rtd");
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	EXPECT_NE(0, access("m.rtd.kallsyms", F_OK));
	/* The names are found next to any of the traces. */
	write_file("m.rtd.kallsyms", "earlier", 7);
	write_file("b.rtd.kallsyms", "b", 1);
	run(self, "merge -o m.rtd a.rtd b.rtd");
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	read_file("m.rtd.kallsyms", self->out);
	EXPECT_STREQ("b", self->out);
	ASSERT_EQ(0, stat("m.rtd.kallsyms", &status));
	EXPECT_EQ(0600, status.st_mode & 0777);
	/* The names are also found next to the whole trace, which the merged trace replaces. */
	ASSERT_EQ(0, system("rm b.rtd.kallsyms m.rtd; for i in a.rtd b.rtd; do "
			    "n=$(echo $i | tr ab 01); mv $i m.$n; mv $i.meta m.$n.meta; done"));
	write_file("m.rtd.kallsyms", "whole", 5);
	run(self, "merge -o m.rtd m.0.rtd m.1.rtd");
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	read_file("m.rtd.kallsyms", self->out);
	EXPECT_STREQ("whole", self->out);
	run(self, "merge -o other.rtd m.0.rtd m.1.rtd");
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	read_file("other.rtd.kallsyms", self->out);
	EXPECT_STREQ("whole", self->out);
	/* No input is removed. */
	ASSERT_EQ(0, system("mv m.1.rtd x.rtd.kallsyms && mv m.1.rtd.meta x.rtd.kallsyms.meta"));
	run(self, "merge -o x.rtd m.0.rtd x.rtd.kallsyms");
	EXPECT_EQ(3, self->status);
	EXPECT_EQ(0, access("x.rtd.kallsyms", F_OK));
	free_sinks(&sinks);
}

TEST_F(command, single_trace_command_suggests_merge)
{
	run(self, "top a.rtd b.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "sifive-trace merge")) TH_LOG("%s", self->err);
}

/* All layouts: widths of the fixed fields, and the maximum number of variable fields. */
static const struct {
	uint8_t tcode;
	uint8_t bits[3];
	unsigned int fields;
} layouts[] = {
	{ 2, { 0 }, 1 }, { 3, { 0 }, 1 }, { 4, { 2 }, 2 }, { 7, { 0 }, 2 }, { 8, { 4 }, 1 },
	{ 9, { 4 }, 2 }, { 11, { 4 }, 2 }, { 12, { 4, 2 }, 2 }, { 28, { 2 }, 3 },
	{ 29, { 4, 2 }, 3 }, { 30, { 0 }, 1 },
};

TEST(messages_are_encoded_as_by_an_encoder)
{
	struct collected all;
	struct nexus nexus;
	uint64_t seed = 7;
	unsigned int i, n, src_bits;

	for (i = 0; i < 3000; i++) {
		const unsigned int kind = gen_random(&seed) % (sizeof(layouts) / sizeof(layouts[0]));
		uint8_t fixed[2], bytes[NEXUS_ENCODED_MAX];
		uint64_t field[3], raw = 0, before;
		struct nexus_options options = { 0 };
		struct gen gen;
		size_t length;

		src_bits = gen_random(&seed) % (NEXUS_SRC_BITS_MAX + 1);
		options.src_bits = src_bits;
		gen_init(&gen, src_bits, gen_random(&seed) & 1 ? 40 : 0);
		gen.now = gen_random(&seed) >> 30;
		for (n = 0; n < 2; n++)
			fixed[n] = gen_random(&seed) & ((1u << layouts[kind].bits[n]) - 1);
		for (n = 0; n < 3; n++)
			field[n] = gen_random(&seed) >> gen_random(&seed) % 64;
		/* Do not exceed the longest message. */
		field[1] >>= 20;
		field[2] >>= 30;
		n = gen_random(&seed) & ((1u << src_bits) - 1);
		gen_message(&gen, layouts[kind].tcode, n, fixed, layouts[kind].bits, field,
			    layouts[kind].fields);
		collect(&options, gen.data, gen.length, gen.length, &all);
		ASSERT_EQ(1, all.items);
		ASSERT_EQ(NEXUS_MESSAGE, all.item[0]);
		before = 0;
		raw = all.message[0].time ^ before;
		ASSERT_EQ(0, nexus_init(&nexus, &options));
		length = nexus_encode(&nexus, &all.message[0], raw, bytes);
		ASSERT_EQ(gen.length, length);
		ASSERT_EQ(0, memcmp(bytes, gen.data, length)) {
			TH_LOG("TCODE %u, srcbits %u", layouts[kind].tcode, src_bits);
		}
		gen_free(&gen);
	}
}

TEST_HARNESS_MAIN

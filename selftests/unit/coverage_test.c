// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests that every command that reads a trace reports how much of the run the trace covers. */
#include <inttypes.h>

#include "command_fixture.h"

#define FULL	"{\"srcbits\":0,\"ts_hz\":10,\"coverage\":{\"full\":true,\"bytes\":70," \
		"\"buffer\":500,\"run_ns\":195000000000},\"lost\":{\"signals\":3,\"refused\":1}}"
#define RING	"{\"srcbits\":0,\"ts_hz\":10,\"wrapped\":true,\"coverage\":{\"run_ns\":195000000000}}"
#define WHOLE	"{\"srcbits\":0,\"ts_hz\":10,\"coverage\":{\"full\":false,\"run_ns\":3000000000}}"
#define SAID	"covers the first 2.500 s of 195.000 s, then the buffer was full; 4 records could not be recorded"

/* Write one call that takes 2.5 seconds, at ten ticks per second. */
static void make(FIXTURE_DATA(command) *self, const char *meta)
{
	const uint64_t address[2] = { MAIN, 0x100 };
	struct gen_stream stream;
	uint64_t value = 0;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	self->gen.step = 0;
	gen_record(&stream, 0, address, &value);
	self->gen.now += 25;
	value += 5;
	gen_record(&stream, 1, address, &value);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", meta, strlen(meta));
}

TEST_F(command, every_command_reports_what_a_full_buffer_covers)
{
	static const char * const arguments[] = {
		"report", "report --format csv", "report --json", "annotate", "annotate --json",
		"graph", "graph --json", "replay", "decode",
		"decode --format csv", "decode --format json",
		"decode --format perf -o .", "export --format folded",
		"export --format chrome", "export --format svg",
		"export --format html", "export --format ctf -o ctf",
		"export --format dqr -o dqr", "export --format speedscope",
		"export --format pprof", "export --format perfetto", "export --format firefox",
		"export --format csv",
	};
	unsigned int i;

	make(self, FULL);
	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		run(self, "%s trace.rtd", arguments[i]);
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->err, "trace.rtd: " SAID "\n")) {
			TH_LOG("%s: %s", arguments[i], self->err);
		}
	}
}

TEST_F(command, every_output_states_what_a_full_buffer_covers)
{
	static const char * const arguments[] = {
		"report", "annotate", "graph", "replay", "decode", "export --format svg",
		"export --format html", "export --format ctf -o ctf",
		"export --format speedscope", "export --format csv",
	};
	static const char * const json[] = {
		"decode --format json", "export --format chrome", "export --format html",
		"report --json", "annotate --json", "graph --json", "export --format firefox",
		"export --format speedscope",
	};
	unsigned int i;

	make(self, FULL);
	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		run(self, "%s -q trace.rtd; cat ctf/metadata", arguments[i]);
		EXPECT_NE(NULL, strstr(self->out, SAID)) {
			TH_LOG("%s: %s", arguments[i], self->out);
		}
	}
	for (i = 0; i < sizeof(json) / sizeof(json[0]); i++) {
		run(self, "%s -q trace.rtd", json[i]);
		EXPECT_NE(NULL, strstr(self->out, "\"part\":\"first\",\"trace_seconds\":2.500000000,\"run_seconds\":195.000000000,\"buffer\":500")) {
			TH_LOG("%s: %s", json[i], self->out);
		}
		EXPECT_NE(NULL, strstr(self->out, "\"lost\":{\"signals\":3,\"threads\":0,\"abandoned\":0,\"refused\":1,"));
	}
}

/*
 * A call begins with the first message of its entry record, so the trace must also begin there.
 * Sending the entry record takes longer than sending the exit record.
 */
TEST_F(command, no_call_is_longer_than_its_trace)
{
	const uint64_t address[2] = { MAIN, 0x100 };
	struct gen_stream stream;
	uint64_t value = 0;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	self->gen.step = 10;
	gen_record(&stream, 0, address, &value);
	self->gen.now += 100;
	value += 5;
	self->gen.step = 1;
	gen_record(&stream, 1, address, &value);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", WHOLE, strlen(WHOLE));
	run(self, "report --json trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\"trace_seconds\":14.200000000,")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, "\"calls\":1,\"total\":14.000000000,\"self\":14.000000000,"));
}

TEST_F(command, ring_covers_the_end_of_the_run)
{
	make(self, RING);
	run(self, "report trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "Trace covers the last 2.500 s of 195.000 s; the ring has overwritten earlier data.\n"));
	run(self, "decode --strict -q trace.rtd");
	EXPECT_EQ(0, self->status);
}

/* Tables do not mention coverage if nothing is missing. */
TEST_F(command, complete_trace_covers_the_whole_run)
{
	make(self, WHOLE);
	run(self, "report trace.rtd");
	EXPECT_EQ(NULL, strstr(self->out, "covers"));
	EXPECT_NE(NULL, strstr(self->err, "trace.rtd: covers all of 3.000 s\n"));
	run(self, "decode --strict -q trace.rtd");
	EXPECT_EQ(0, self->status);
}

/* Write the side-car file of a snapshot. */
#define BEGUN	"{\"srcbits\":0,\"ts_hz\":10,\"trigger\":{\"function\":\"f\",\"call\":7,\"tid\":9}}"

/* A name is printed on one line, regardless of the characters in it. */
#define PART	"{\"srcbits\":0,\"ts_hz\":10,\"part\":{%s}}"
#define PARTS	8

TEST_F(command, every_output_states_which_calls_were_recorded)
{
	static const char * const arguments[] = {
		"report", "annotate", "graph", "replay", "decode", "export --format svg",
		"export --format html", "export --format speedscope", "export --format csv",
	};
	static const char * const part[PARTS] = {
		"\"from\":\"f\\ng\"", "\"from\":\"f\\ng\",\"to\":\"h\"", "\"depth\":3",
		"\"from\":\"f\\ng\",\"to\":\"h\",\"depth\":1",
		"\"functions\":[\"f\\u000ag\",\"re*\"]", "\"filter\":\"/a\\u001bb.filter\"",
		"\"left_out\":1", "\"depth\":3,\"left_out\":12",
	};
	static const char * const said[PARTS] = {
		"contains calls of each thread only from a call to f?g until it returns",
		"contains calls of each thread only from a call to f?g until the next call to h",
		"contains calls of each thread only up to depth 3; self times include deeper calls",
		"until the next call to h, up to depth 1; self times include deeper calls",
		"contains only calls to functions that match f?g, re*; self times include other functions that they call",
		"contains only calls to functions selected by /a?b.filter; self times include other functions",
		"lacks calls of 1 function that --auto-filter left out; self times of their callers include them",
		"include deeper calls; lacks calls of 12 functions that --auto-filter left out",
	};
	char meta[256];
	unsigned int i;

	make(self, BEGUN);
	for (i = 0; i < PARTS * sizeof(arguments) / sizeof(arguments[0]); i++) {
		snprintf(meta, sizeof(meta), PART, part[i % PARTS]);
		write_file("trace.rtd.meta", meta, strlen(meta));
		run(self, "%s trace.rtd", arguments[i / PARTS]);
		EXPECT_NE(NULL, strstr(self->err, said[i % PARTS])) {
			TH_LOG("%s: %s", arguments[i / PARTS], self->err);
		}
		EXPECT_NE(NULL, strstr(self->out, said[i % PARTS])) {
			TH_LOG("%s: %s", arguments[i / PARTS], self->out);
		}
	}
	for (i = 3; i < PARTS; i++) {
		snprintf(meta, sizeof(meta), PART, part[i]);
		write_file("trace.rtd.meta", meta, strlen(meta));
		run(self, "report -q --json trace.rtd");
		EXPECT_NE(NULL, strstr(self->out, strstr(part[i], i == 3 ? "\"to\"" : "\""))) {
			TH_LOG("%s: %s", part[i], self->out);
		}
	}
}

/* Each of these parts has the maximum length; all of them together must fit. */
TEST_F(command, long_descriptions_of_parts_are_cut)
{
	static const char cover[] = "{\"srcbits\":0,\"ts_hz\":10,\"wrapped\":true,"
		"\"coverage\":{\"run_ns\":18446744073709551614,\"gaps\":18446744073709551614,"
		"\"gap_bytes\":18446744073709551614,\"pauses\":18446744073709551614,"
		"\"paused_ns\":18446744073709551614},\"lost\":{\"signals\":18446744073709551614},"
		"\"trigger\":{\"function\":\"%s\",\"call\":18446744073709551614,"
		"\"tid\":9223372036854775807,\"took_ns\":18446744073709551614,"
		"\"limit_ns\":18446744073709551613,\"last\":true},\"part\":{\"from\":\"%s\","
		"\"to\":\"%s\",\"depth\":18446744073709551614,\"functions\":[\"%s\",\"%s\"]}}";
	char name[2001], meta[12000], shown[160];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(meta, sizeof(meta), cover, name, name, name, name, name);
	make(self, meta);
	run(self, "report -q trace.rtd");
	EXPECT_EQ(0, self->status);
	snprintf(shown, sizeof(shown), "that match %.97s...; self times include other", name);
	EXPECT_NE(NULL, strstr(self->out, shown)) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, "the latest trigger: call 18446744073709551614 of xxx")) {
		TH_LOG("%s", self->out);
	}
}

TEST_F(command, malformed_part_is_ignored)
{
	static const char * const part[] = {
		"\"functions\":7", "\"functions\":[7]", "\"functions\":[{\"f\":1}]",
		"\"functions\":[\"f\\u0000g\"]", "\"filter\":[1]", "\"left_out\":\"many\"",
	};
	char meta[5000], name[4098];
	unsigned int i;

	make(self, BEGUN);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (i = 0; i <= sizeof(part) / sizeof(part[0]); i++) {
		if (i < sizeof(part) / sizeof(part[0]))
			snprintf(meta, sizeof(meta), PART, part[i]);
		else
			snprintf(meta, sizeof(meta),
				 "{\"srcbits\":0,\"part\":{\"functions\":[\"%s\"]}}", name);
		write_file("trace.rtd.meta", meta, strlen(meta));
		run(self, "report trace.rtd");
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->err, ": ignored")) {
			TH_LOG("%u: %s", i, self->err);
		}
		EXPECT_EQ(NULL, strstr(self->out, "contains"));
		EXPECT_EQ(NULL, strstr(self->out, "lacks"));
	}
}

#define CALL	"{\"srcbits\":0,\"ts_hz\":10,\"trigger\":{\"function\":\"f\",\"call\":7,\"tid\":9," \
		"\"took_ns\":2000000000,\"limit_ns\":1500000000,\"from\":%" PRIu64 ",\"to\":%" PRIu64 "}}"

/* Times in the side-car file wrap like those in the trace. */
TEST_F(command, every_output_names_the_call_that_triggered_a_snapshot)
{
	static const char * const arguments[] = {
		"report", "annotate", "graph", "replay", "decode", "export --format svg",
		"export --format html", "export --format speedscope", "export --format csv",
	};
	char meta[512], said[256];
	uint64_t begin, end;
	unsigned int i;

	make(self, BEGUN);
	run(self, "report -q trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "Trace was taken because call 7 of f began, in thread 9.\n"));
	end = self->gen.now;
	begin = end - 20;
	snprintf(meta, sizeof(meta), CALL, (uint64_t)(begin + (1ull << 40)), end);
	write_file("trace.rtd.meta", meta, strlen(meta));
	snprintf(said, sizeof(said),
		 "was taken because call 7 of f took 2.000 s, longer than 1.500 s, in thread 9, from ~%.9fs to ~%.9fs",
		 (double)begin / 10, (double)end / 10);
	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		run(self, "%s trace.rtd", arguments[i]);
		EXPECT_NE(NULL, strstr(self->err, said)) {
			TH_LOG("%s: %s", arguments[i], self->err);
		}
		EXPECT_NE(NULL, strstr(self->out, said)) {
			TH_LOG("%s: %s", arguments[i], self->out);
		}
	}
	run(self, "export -q --format html trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\"trigger\":[5,25],"));
}

#define TOOK	"{\"srcbits\":0,\"ts_hz\":10,\"trigger\":{\"function\":\"f\",\"call\":7," \
		"\"took_ns\":%s,\"limit_ns\":1500000000}%s}"
#define LAST	"{\"srcbits\":0,\"ts_hz\":10,\"trigger\":{\"function\":\"f\",\"call\":7," \
		"\"took_ns\":1600000000,\"limit_ns\":1500000000,\"last\":true}}"
#define BEFORE	"before the beginning of this trace; use a larger -b"

TEST_F(command, snapshot_that_begins_after_its_call_is_reported)
{
	char meta[512];

	make(self, BEGUN);
	snprintf(meta, sizeof(meta), CALL, self->gen.now - 1000, self->gen.now);
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "report -q trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "s, " BEFORE ".\n"));
	snprintf(meta, sizeof(meta), CALL, self->gen.now - 20, self->gen.now);
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "report -q trace.rtd");
	EXPECT_EQ(NULL, strstr(self->out, BEFORE));
	/* A trigger without the times of the call. */
	snprintf(meta, sizeof(meta), TOOK, "9000000000", "");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "report -q trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "longer than 1.500 s, " BEFORE ".\n"));
	/* The trace covers the whole run. */
	snprintf(meta, sizeof(meta), TOOK, "9000000000",
		 ",\"coverage\":{\"full\":false,\"run_ns\":9000000000}");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "report -q trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "covers all of"));
	EXPECT_EQ(NULL, strstr(self->out, BEFORE));
	snprintf(meta, sizeof(meta), TOOK, "1600000000", "");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "report -q trace.rtd");
	EXPECT_EQ(NULL, strstr(self->out, BEFORE));
}

TEST_F(command, last_file_names_the_latest_trigger)
{
	make(self, LAST);
	run(self, "report -q trace.rtd");
	EXPECT_NE(NULL, strstr(self->out,
			       "Trace was written at the program's end, the latest trigger: call 7 of f took"));
	EXPECT_EQ(NULL, strstr(self->out, "was taken because"));
}

TEST_F(command, replay_marks_begin_and_end_of_a_snapshots_call)
{
	const char *call, *begins, *ends;
	char meta[512];

	make(self, WHOLE);
	snprintf(meta, sizeof(meta), CALL, self->gen.now - 25, self->gen.now);
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "replay -q trace.rtd");
	begins = strstr(self->out, "* the snapshot's call begins\n");
	call = strstr(self->out, "()\n");
	ASSERT_NE(NULL, begins);
	ASSERT_NE(NULL, call);
	EXPECT_LT(begins, call);
	ends = strstr(self->out, "* the snapshot's call has ended: the trigger\n");
	EXPECT_LT(call, ends);
}

TEST_F(command, malformed_trigger_is_ignored)
{
	make(self, "{\"srcbits\":0,\"trigger\":7}");
	run(self, "report trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "\"trigger\" is not an object: ignored"));
	EXPECT_EQ(NULL, strstr(self->out, "snapshot"));
}

TEST_F(command, strict_fails_for_full_buffers_and_lost_counters)
{
	static const char lost[] = "{\"coverage\":{\"counters_lost\":5}}";
	static const char full[] = "{\"coverage\":{\"full\":true}}";

	make(self, full);
	run(self, "decode --strict trace.rtd");
	EXPECT_EQ(1, self->status);
	EXPECT_NE(NULL, strstr(self->err, "covers the first 25 ticks, then the buffer was full"));
	write_file("trace.rtd.meta", lost, strlen(lost));
	run(self, "decode --strict trace.rtd");
	EXPECT_EQ(1, self->status);
	EXPECT_NE(NULL, strstr(self->err, "counters 0x5 were stopped at times on some harts"));
}

TEST_F(command, every_command_reports_gaps)
{
	static const char gaps[] = "{\"srcbits\":0,\"ts_hz\":10,\"coverage\":{\"full\":false,\"bytes\":1,"
		"\"run_ns\":3000000000,\"gaps\":2,\"gap_bytes\":700}}";
	static const char * const arguments[] = {
		"report", "annotate", "graph", "replay", "decode", "export --format svg",
		"export --format html", "export --format ctf -o ctf",
	};
	unsigned int i;

	make(self, gaps);
	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		run(self, "%s -q trace.rtd; cat ctf/metadata", arguments[i]);
		EXPECT_NE(NULL, strstr(self->out, "covers all of 3.000 s; 700 bytes are missing in 2 places")) {
			TH_LOG("%s: %s", arguments[i], self->out);
		}
	}
	run(self, "decode -q --format json trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\"gaps\":2,\"gap_bytes\":700,"));
	run(self, "decode -q --strict trace.rtd");
	EXPECT_EQ(1, self->status);
}

/* Times of gaps wrap like those in the trace. */
TEST_F(command, gaps_are_listed_with_their_times)
{
	char meta[1024], said[128];
	uint64_t begin, end;
	int used, i;

	make(self, BEGUN);
	end = self->gen.now;
	begin = end - 15;
	used = snprintf(meta, sizeof(meta),
			"{\"srcbits\":0,\"ts_hz\":10,\"lost\":{\"dropped\":7},\"coverage\":{\"gaps\":4,"
			"\"missing\":[{\"begin\":%" PRIu64 ",\"end\":%" PRIu64 ",\"bytes\":0,\"dropped\":7},"
			"{\"bytes\":100,\"dropped\":0}", begin + (UINT64_C(1) << 40), end);
	for (i = 0; i < 3; i++)
		used += snprintf(meta + used, sizeof(meta) - (size_t)used, ",{\"bytes\":1}");
	snprintf(meta + used, sizeof(meta) - (size_t)used, "]}}");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "report trace.rtd");
	snprintf(said, sizeof(said), "trace.rtd: from %.6f s to %.6f s: 7 records dropped\n",
		 (double)begin / 10, (double)end / 10);
	EXPECT_NE(NULL, strstr(self->err, said)) {
		TH_LOG("%s", self->err);
	}
	EXPECT_NE(NULL, strstr(self->err, "at an unknown time: 100 bytes overwritten\n"));
	EXPECT_NE(NULL, strstr(self->err, "1 more gaps: report --json lists them\n"));
	run(self, "report -q --json trace.rtd");
	snprintf(said, sizeof(said),
		 "\"missing\":[{\"bytes\":0,\"dropped\":7,\"begin\":%.9f,\"end\":%.9f},{\"bytes\":100,\"dropped\":0},",
		 (double)begin / 10, (double)end / 10);
	EXPECT_NE(NULL, strstr(self->out, said)) {
		TH_LOG("%s", self->out);
	}
}

/* The user requested the limit, so a record that is cut off there is not a loss. */
TEST_F(command, recording_limit_is_not_a_loss)
{
	static const char limit[] = "{\"srcbits\":0,\"ts_hz\":10,\"coverage\":{\"limit\":%s,\"run_ns\":3000000000}}";
	const uint64_t address[2] = { MAIN, 0x100 };
	struct gen_stream stream;
	uint64_t value = 0;
	char meta[200];

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	gen_record(&stream, 0, address, &value);
	gen_store(&self->gen, 0, 6, 1, 0);
	save(self, "trace.rtd");
	snprintf(meta, sizeof(meta), limit, "true");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "decode --strict trace.rtd");
	EXPECT_EQ(0, self->status) {
		TH_LOG("%s", self->err);
	}
	EXPECT_NE(NULL, strstr(self->err, "of 3.000 s, then the recording's limit was reached"));
	snprintf(meta, sizeof(meta), limit, "false");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "decode --strict trace.rtd");
	EXPECT_EQ(1, self->status);
}

/* A file is incomplete if, for example, its recorder was killed. */
TEST_F(command, bytes_missing_from_the_file_are_a_gap)
{
	static const char more[] = "{\"srcbits\":0,\"ts_hz\":10,\"coverage\":{\"bytes\":100000}}";

	make(self, more);
	run(self, "decode --strict trace.rtd");
	EXPECT_EQ(1, self->status);
	EXPECT_NE(NULL, strstr(self->err, " bytes are missing in 1 place"));
}

/* A ring can lack part of a message, but a full buffer is complete. */
TEST_F(command, bytes_missing_from_a_full_or_wrapped_buffer_are_a_gap)
{
	static const struct {
		const char *meta;
		unsigned int missing;
		bool gap;
	} traces[] = {
		{ "\"wrapped\":true,\"coverage\":{\"bytes\":%zu}", 38, false },
		{ "\"wrapped\":true,\"coverage\":{\"bytes\":%zu}", 39, true },
		{ "\"coverage\":{\"full\":true,\"bytes\":%zu}", 1, true },
	};
	char meta[160];
	unsigned int i;

	for (i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		make(self, "{}");
		strcpy(meta, "{\"srcbits\":0,\"ts_hz\":10,");
		snprintf(meta + strlen(meta), sizeof(meta) - strlen(meta), traces[i].meta,
			 self->gen.length + traces[i].missing);
		strcat(meta, "}");
		write_file("trace.rtd.meta", meta, strlen(meta));
		run(self, "decode --strict trace.rtd");
		EXPECT_EQ(traces[i].gap, strstr(self->err, " missing in 1 place") != NULL) {
			TH_LOG("%s", self->err);
		}
		EXPECT_TRUE(self->status == 1 || !traces[i].gap);
	}
}

TEST_F(command, diff_reports_that_the_traces_cover_different_parts)
{
	make(self, FULL);
	save(self, "other.rtd");
	write_file("other.rtd.meta", WHOLE, strlen(WHOLE));
	run(self, "report -q --diff other.rtd trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "Trace before " SAID ".\nTrace after covers all of 3.000 s.\nThe traces do not both cover their whole run: totals cannot be compared.\n"));
	run(self, "report -q --format csv --diff other.rtd trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "does not cover its whole run"));
	write_file("trace.rtd.meta", WHOLE, strlen(WHOLE));
	run(self, "report -q --diff other.rtd trace.rtd");
	EXPECT_EQ(NULL, strstr(self->out, "cover"));
	EXPECT_EQ(NULL, strstr(self->err, "cover"));
}

/*
 * The message is not "no absolute timestamp", because the trace has one. There are no time
 * columns.
 */
TEST_F(command, trace_without_timestamps_shows_no_times)
{
	gen_free(&self->gen);
	gen_init(&self->gen, 0, 0);
	make(self, "{}");
	run(self, "report --strict trace.rtd");
	EXPECT_EQ(1, self->status);
	EXPECT_NE(NULL, strstr(self->err, "no times: messages have no timestamps\n"));
	EXPECT_EQ(NULL, strstr(self->out, "time"));
	EXPECT_EQ(NULL, strstr(self->out, "self%"));
	run(self, "decode -q --format csv trace.rtd | tail -1");
	EXPECT_EQ(',', self->out[0]);
	EXPECT_NE(NULL, strstr(self->out, ",unknown,,\n"));
}

#define PER_HART	"{\"srcbits\":0,\"per_thread\":false}"
#define PER_THREAD	"{\"srcbits\":0,\"per_thread\":true}"

TEST_F(command, every_output_marks_hart_counts)
{
	static const char * const arguments[] = {
		"report", "report --format csv", "report --json", "report --diff trace.rtd",
		"graph --counter cycles", "graph --json", "decode", "decode --format csv",
		"decode --format json", "export --format folded --weight cycles", "export --format chrome",
		"export --format svg --weight cycles", "export --format html",
		"export --format speedscope --weight cycles", "export --format csv",
	};
	unsigned int i;

	make(self, PER_HART);
	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		run(self, "%s -q trace.rtd", arguments[i]);
		EXPECT_NE(NULL, strstr(self->out, "cycles (hart)")) {
			TH_LOG("%s: %s", arguments[i], self->out);
		}
	}
	run(self, "export -q --format ctf -o ctf trace.rtd; cat ctf/metadata");
	EXPECT_NE(NULL, strstr(self->out, " _cycles__hart_;"));
	run(self, "export -q --format folded --weight cycles trace.rtd");
	EXPECT_STREQ("cycles (hart);source 0;0x20000 5\n", self->out);
	run(self, "export -q --format folded --weight calls trace.rtd");
	EXPECT_STREQ("source 0;0x20000 1\n", self->out);
	write_file("trace.rtd.meta", PER_THREAD, strlen(PER_THREAD));
	run(self, "export -q --format folded --weight cycles trace.rtd");
	EXPECT_STREQ("source 0;0x20000 5\n", self->out);
}

/* Only the side-car file shows whether counts are per hart or per thread. */
TEST_F(command, every_command_reports_per_hart_counts)
{
	static const char * const arguments[] = {
		"report", "graph", "replay", "decode", "decode --format perf -o .",
		"export --format folded", "export --format dqr -o dqr",
	};
	static const char * const said[][2] = {
		{ PER_HART, ": counts are per hart and include everything that ran there; for per-thread counts record without --per-cpu, or, if the program configured the trace itself, with SIFIVE_TRACE_PER_CPU=no\n" },
		{ "{}", ": counts may be per hart and " },
		{ PER_THREAD, NULL },
	};
	unsigned int i, k;

	make(self, "{}");
	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		write_file("trace.rtd.meta", said[i][0], strlen(said[i][0]));
		for (k = 0; k < sizeof(arguments) / sizeof(arguments[0]); k++) {
			run(self, "%s trace.rtd; rm -rf dqr", arguments[k]);
			EXPECT_NE(NULL, strstr(self->err, said[i][1] ? said[i][1] : ""));
			EXPECT_EQ(said[i][1] != NULL,
				  strstr(self->err, "per hart") != NULL) {
				TH_LOG("%s: %s", arguments[k], self->err);
			}
		}
	}
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests --time, which selects a part of a trace, and --time-threshold, which omits short calls. */
#include "command_fixture.h"

#define SITE	(MAIN + 0x12)

struct step {
	unsigned int type;
	uint64_t address[2];
};

/* main { fib { lengthy } fib } lengthy */
static const struct step steps[] = {
	{ 0, { MAIN, 0x3f00000000 } },
	{ 0, { FIB, SITE } },
	{ 0, { LENGTHY, FIB + 8 } },
	{ 1, { LENGTHY, FIB + 8 } },
	{ 1, { FIB, SITE } },
	{ 0, { FIB, SITE } },
	{ 1, { FIB, SITE } },
	{ 1, { MAIN, 0x3f00000000 } },
	{ 0, { LENGTHY, 0x3f00000000 } },
	{ 1, { LENGTHY, 0x3f00000000 } },
};

#define STEPS	(sizeof(steps) / sizeof(steps[0]))

/* Write records that count 10, 20, 30 and so on. Fill @time with their times. */
static void make_trace(FIXTURE_DATA(command) *self, uint64_t time[STEPS])
{
	struct gen_stream stream;
	unsigned long long begin, length;
	uint64_t value = 0;
	int fields;
	char *at;
	size_t i;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	for (i = 0; i < STEPS; i++) {
		value += 10 * (i + 1);
		gen_record(&stream, steps[i].type, steps[i].address, &value);
	}
	save(self, "trace.rtd");
	run(self, "replay -q --meta none trace.rtd");
	for (i = 0, at = self->out; i < STEPS && (at = strchr(at, '\n')); i++) {
		at++;
		fields = sscanf(at, "%llu %llu", &begin, &length);
		time[i] = begin;
		/* A call without callees is one line. */
		if (!steps[i].type && fields == 2)
			time[++i] = begin + length;
	}
}

/* Return a function's row of CSV output, without quotes, or NULL if there is none. */
static const char *row(FIXTURE_DATA(command) *self, uint64_t address)
{
	static char line[256];
	char name[32], *at;

	snprintf(name, sizeof(name), "\n\"0x%llx\",", (unsigned long long)address);
	at = strstr(self->out, name);
	if (!at)
		return NULL;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
	return line;
}

/* function,calls,total,self,NAME,NAME:self,times */
static void expect_row(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
		       uint64_t address, unsigned int calls, uint64_t total, uint64_t own,
		       unsigned int count, unsigned int count_self)
{
	double found[5] = { 0 };
	const char *line = row(self, address);

	ASSERT_NE(NULL, line) { TH_LOG("%s", self->out); }
	ASSERT_EQ(5, sscanf(line, "%*[^,],%lf,%lf,%lf,%lf,%lf", &found[0], &found[1],
			    &found[2], &found[3], &found[4])) { TH_LOG("%s", line); }
	EXPECT_EQ(calls, found[0]) { TH_LOG("%s", line); }
	EXPECT_EQ(total, found[1]) { TH_LOG("%s", line); }
	EXPECT_EQ(own, found[2]) { TH_LOG("%s", line); }
	EXPECT_EQ(count, found[3]) { TH_LOG("%s", line); }
	EXPECT_EQ(count_self, found[4]) { TH_LOG("%s", line); }
}

#define ROW(...) expect_row(_metadata, self, __VA_ARGS__)

TEST_F(command, open_calls_are_clipped_to_the_time_range)
{
	uint64_t t[STEPS];

	make_trace(self, t);
	/* The part extends from lengthy's enter record to the second enter record of fib. */
	run(self, "report --csv -q --meta none --time %llu..%llu trace.rtd",
	    (unsigned long long)t[2], (unsigned long long)t[5]);
	ASSERT_EQ(0, self->status);
	ROW(MAIN, 1, t[5] - t[2], t[5] - t[4], 150, 60);
	ROW(FIB, 2, t[4] - t[2], t[4] - t[3], 90, 50);
	ROW(LENGTHY, 1, t[3] - t[2], t[3] - t[2], 40, 40);
	/* The part begins and ends between records. */
	run(self, "report --csv -q --meta none --time %llu..%llu trace.rtd",
	    (unsigned long long)t[2] + 1, (unsigned long long)t[6] - 1);
	ASSERT_EQ(0, self->status);
	ROW(MAIN, 1, t[5] - t[3], t[5] - t[4], 110, 60);
	ROW(FIB, 2, t[4] - t[3], t[4] - t[3], 50, 50);
	ROW(LENGTHY, 1, 0, 0, 0, 0);
}

/* The time and the counts of calls that are left out belong to their callers. */
TEST_F(command, short_calls_are_left_out)
{
	static const char * const arguments[] = {
		"report", "graph", "replay", "export --format folded", "export --format csv",
	};
	unsigned long long least;
	uint64_t t[STEPS];
	char meta[128];
	unsigned int i;

	make_trace(self, t);
	/* The threshold is one tick more than the longest call without callees. */
	least = t[3] - t[2];
	least = t[6] - t[5] > least ? t[6] - t[5] : least;
	least = (t[9] - t[8] > least ? t[9] - t[8] : least) + 1;
	ASSERT_LE(least, t[4] - t[1]);
	run(self, "report --csv -q --meta none --ts-hz 1 --time-threshold %llus trace.rtd", least);
	ASSERT_EQ(0, self->status);
	ROW(MAIN, 1, t[7] - t[0], t[7] - t[0] - (t[4] - t[1]), 350, 230);
	ROW(FIB, 1, t[4] - t[1], t[4] - t[1], 120, 120);
	EXPECT_EQ(NULL, row(self, LENGTHY));
	run(self, "report --csv -q --meta none --ts-hz 1 --time-threshold 1s trace.rtd");
	ROW(LENGTHY, 2, t[3] - t[2] + t[9] - t[8], t[3] - t[2] + t[9] - t[8], 140, 140);
	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		run(self, "%s --meta none --ts-hz 1 --time-threshold %llus trace.rtd",
		    arguments[i], least);
		EXPECT_EQ(0, self->status);
		EXPECT_EQ(NULL, strstr(self->out, "0x22000")) {
			TH_LOG("%s: %s", arguments[i], self->out);
		}
		EXPECT_NE(NULL, strstr(self->err, "3 calls shorter than")) {
			TH_LOG("%s: %s", arguments[i], self->err);
		}
	}
	run(self, "export --format chrome --meta none --ts-hz 1 --time-threshold 1s trace.rtd");
	EXPECT_EQ(2, self->status);
	run(self, "graph --meta none --time-threshold 5us trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "give --ts-hz"));
	/* The recording sets the default threshold; --time-threshold overrides it. */
	snprintf(meta, sizeof(meta), "{\"ts_hz\":1,\"part\":{\"threshold_ns\":%llu000000000}}",
		 least);
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "graph -q trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "is shown without calls shorter than"));
	EXPECT_EQ(NULL, strstr(self->out, "0x22000"));
	run(self, "graph -q --time-threshold none trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "0x22000"));
}

static unsigned int times_in(const char *text, const char *word)
{
	unsigned int times = 0;

	while ((text = strstr(text, word))) {
		times++;
		text += strlen(word);
	}
	return times;
}

/* Commands and formats that cannot leave calls out ignore the recording's threshold. */
TEST_F(command, recorded_threshold_applies_only_where_calls_can_be_left_out)
{
	static const char meta[] = "{\"ts_hz\":1,\"part\":{\"threshold_ns\":999000000000000}}";
	static const char * const arguments[] = {
		"decode trace.rtd", "coverage trace.rtd", "export --format chrome trace.rtd",
		"export --format ctf -o ctf trace.rtd", "export --format dqr -o dqr trace.rtd",
		"export --format bolt trace.rtd", "export --format profgen trace.rtd",
		"report --by interval trace.rtd",
	};
	uint64_t t[STEPS];
	unsigned int i;

	make_trace(self, t);
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "graph -q trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "is shown without calls shorter than"));
	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		run(self, "%s", arguments[i]);
		EXPECT_EQ(NULL, strstr(self->out, "without calls")) {
			TH_LOG("%s: %s", arguments[i], self->out);
		}
		EXPECT_EQ(NULL, strstr(self->err, "without calls")) {
			TH_LOG("%s: %s", arguments[i], self->err);
		}
	}
	run(self, "export -q --format chrome trace.rtd");
	EXPECT_EQ(STEPS / 2, times_in(self->out, "\"ph\":\"B\""));
	EXPECT_EQ(STEPS / 2, times_in(self->out, "\"ph\":\"E\""));
	run(self, "report --by interval --time-threshold 1s trace.rtd");
	EXPECT_EQ(2, self->status);
	/* An option that does not apply leaves the existing output unchanged. */
	write_file("t.json", "before", 6);
	run(self, "export --format chrome -o t.json --time-threshold 1s trace.rtd");
	EXPECT_EQ(2, self->status);
	run(self, "export --format ctf -o t.ctf --time-threshold 1s trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_EQ(-1, access("t.ctf", F_OK));
	run(self, "export --format dqr -o t.dqr --time 1.. trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_EQ(-1, access("t.dqr", F_OK));
	read_file("t.json", self->out);
	EXPECT_STREQ("before", self->out);
}

TEST_F(command, time_ranges_add_up_to_the_whole)
{
	static char whole[SIZE];
	uint64_t t[STEPS];

	make_trace(self, t);
	run(self, "report --csv -q --meta none trace.rtd");
	strcpy(whole, self->out);
	run(self, "report --csv -q --meta none --time 0.. trace.rtd");
	EXPECT_STREQ(whole, self->out);
	run(self, "report --csv -q --meta none --time ..%llu trace.rtd",
	    (unsigned long long)t[STEPS - 1]);
	EXPECT_STREQ(whole, self->out);
	run(self, "report --csv -q --meta none --time %llu.. trace.rtd", (unsigned long long)t[8]);
	EXPECT_EQ(NULL, row(self, MAIN));
	ROW(LENGTHY, 1, t[9] - t[8], t[9] - t[8], 100, 100);
	run(self, "report --csv -q --meta none --time ..%llu trace.rtd",
	    (unsigned long long)t[8] - 1);
	ROW(MAIN, 1, t[7] - t[0], t[1] - t[0] + t[5] - t[4] + t[7] - t[6], 350, 160);
}

TEST_F(command, every_command_that_shows_calls_accepts_a_time_range)
{
	uint64_t t[STEPS];
	char part[64];

	make_trace(self, t);
	snprintf(part, sizeof(part), "-q --meta none --time %llu..%llu trace.rtd",
		 (unsigned long long)t[5], (unsigned long long)t[7]);
	run(self, "replay %s", part);
	EXPECT_NE(NULL, strstr(self->out, "0x20000"));
	EXPECT_NE(NULL, strstr(self->out, "0x21000"));
	EXPECT_EQ(NULL, strstr(self->out, "0x22000"));
	EXPECT_EQ(NULL, strstr(self->out, "had not ended"));
	run(self, "graph %s", part);
	EXPECT_EQ(NULL, strstr(self->out, "0x22000"));
	run(self, "export --format folded %s", part);
	EXPECT_NE(NULL, strstr(self->out, "0x20000;0x21000 "));
	EXPECT_EQ(NULL, strstr(self->out, "0x22000"));
	run(self, "export --format dqr -o dqr %s", part);
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--time cannot be combined"));
}

TEST_F(command, time_units_are_accepted_if_the_rate_is_known)
{
	uint64_t t[STEPS];

	make_trace(self, t);
	/* A tick is a microsecond. */
	run(self, "report --csv -q --meta none --ts-hz 1000000 --time %lluus..%llu000ns trace.rtd",
	    (unsigned long long)t[8], (unsigned long long)t[9]);
	ASSERT_EQ(0, self->status);
	EXPECT_EQ(NULL, row(self, MAIN));
	EXPECT_NE(NULL, row(self, LENGTHY));
	run(self, "report --csv -q --meta none --ts-hz 1000000 --time 0.%06llu..1 trace.rtd",
	    (unsigned long long)t[8]);
	ASSERT_EQ(0, self->status);
	EXPECT_EQ(NULL, row(self, MAIN));
	EXPECT_NE(NULL, row(self, LENGTHY));
	run(self, "report --csv -q --meta none --time 1us..2us trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "give --ts-hz"));
}

TEST_F(command, malformed_time_range_is_refused)
{
	static const char * const wrong[] = {
		"..", "", "5", "5.6", "a..b", "5..6m", "5..-6", "5 ..6", "99999999999999999999..", "..5.x",
	};
	uint64_t t[STEPS];
	size_t i;

	make_trace(self, t);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		run(self, "report -q --meta none --time '%s' trace.rtd", wrong[i]);
		EXPECT_EQ(2, self->status) { TH_LOG("%s", wrong[i]); }
		EXPECT_NE(NULL, strstr(self->err, "--time takes FROM..TO")) { TH_LOG("%s", self->err); }
	}
	run(self, "report -q --meta none --time 9..8 trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--time ends before it begins"));
	run(self, "report --meta none --time %llu.. trace.rtd", (unsigned long long)t[9] + 1);
	EXPECT_NE(NULL, strstr(self->err, "--time shows nothing: the records are from"));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that event names have the same meaning as in perf list, that each event has a name, and
 * that errors quote unknown names.
 */
#include "kselftest_harness.h"

#include "../../lib/event.c"
#include "../../tools/perfrec/perfrec.h"

static char error[200];

static int parse(const char *word, struct perf_event_id *event)
{
	static const struct perf_event_alias table[] = {
		{ "INTEGER_LOAD", 0x102 }, { "colon:u", 0x103 },
	};

	error[0] = '\0';
	return perf_event_parse(word, strlen(word), table, 2, event, error,
				sizeof(error));
}

#define MEANS(word, t, c, d, f)						\
do {									\
	struct perf_event_id __e;					\
									\
	ASSERT_EQ(0, parse(word, &__e)) { TH_LOG("%s: %s", word, error); } \
	EXPECT_EQ(t, __e.type);						\
	EXPECT_EQ(c, __e.code);						\
	EXPECT_EQ(d, __e.data);						\
	EXPECT_EQ(f, __e.flags);					\
} while (0)

#define REFUSED(word, part)						\
do {									\
	struct perf_event_id __e;					\
									\
	EXPECT_EQ(-1, parse(word, &__e)) { TH_LOG("%s", word); }	\
	EXPECT_NE(NULL, strstr(error, part)) { TH_LOG("%s", error); }	\
} while (0)

TEST(generic_and_cache_event_names_are_parsed)
{
	MEANS("cycles", 0, 1, 0, 0);
	MEANS("cpu-cycles", 0, 1, 0, 0);
	MEANS("Instructions", 0, 2, 0, 0);
	MEANS("cache-misses", 0, 4, 0, 0);
	MEANS("branch-misses", 0, 6, 0, 0);
	MEANS("ref-cycles", 0, 10, 0, 0);
	MEANS("timestamp", 0, 0x80, 0, 0);
	MEANS("L1-dcache-loads", 1, 0, 0, 0);
	MEANS("L1-dcache-load-misses", 1, 1, 0, 0);
	MEANS("l1-icache-stores", 1, 0xa, 0, 0);
	MEANS("dTLB-store-misses", 1, 0x1b, 0, 0);
	MEANS("node-prefetch-misses", 1, 0x35, 0, 0);
}

TEST(raw_events_are_parsed)
{
	MEANS("r1", 2, 0, 1, 0);
	MEANS("rffffffffffffffff", 2, 0, ~UINT64_C(0), 0);
	MEANS("cpu/event=0x20001/", 2, 0, 0x20001, 0);
	MEANS("cpu/config=12/u", 2, 0, 12, PERF_EVENT_NO_KERNEL);
	MEANS("INTEGER_LOAD", 2, 0, 0x102, 0);
	MEANS("integer_load:k", 2, 0, 0x102, PERF_EVENT_NO_USER);
	MEANS("colon:u", 2, 0, 0x103, 0);
}

TEST(firmware_events_are_parsed)
{
	MEANS("fw:misaligned-load", 15, 0, 0, 0);
	MEANS("fw:illegal-insn", 15, 4, 0, 0);
	MEANS("fw:set-timer", 15, 5, 0, 0);
	MEANS("FW:IPI-sent", 15, 6, 0, 0);
	MEANS("fw:ipi-received", 15, 7, 0, 0);
	MEANS("fw:sfence-vma-received", 15, 11, 0, 0);
	MEANS("fw:hfence-vvma-asid-received", 15, 21, 0, 0);
	REFUSED("fw:ipi-sent:u", "in all modes: omit \":u\"");
	REFUSED("fw:ipi-sent:k", "in all modes: omit \":k\"");
	REFUSED("fw:", "\"fw:\"");
	REFUSED("fw:ipi", "there is no event \"fw:ipi\"");
	REFUSED("fw:ipi-sent-x", "there is no event");
}

/* libsifive-trace-read has a separate list of these names. */
TEST(reader_uses_the_same_firmware_event_names)
{
	struct perf_event_id event = { .type = 15 }, again;
	struct perfrec_counter counter = { .type = PERFREC_EVENT_FIRMWARE };
	char name[64], read[PERFREC_NAME_SIZE];

	for (event.code = 0; event.code < 30; event.code++) {
		counter.code = event.code;
		perf_event_name(&event, name, sizeof(name));
		perfrec_counter_name(&counter, read, sizeof(read));
		EXPECT_STREQ(name, read);
		if (event.code > 21) {
			EXPECT_EQ(-1, parse(name, &again));
			continue;
		}
		ASSERT_EQ(0, parse(name, &again));
		EXPECT_EQ(0, memcmp(&event, &again, sizeof(event)));
	}
	EXPECT_STREQ("fw:0x1d", name);
}

TEST(modifiers_are_parsed)
{
	MEANS("cycles:u", 0, 1, 0, PERF_EVENT_NO_KERNEL);
	MEANS("cycles:k", 0, 1, 0, PERF_EVENT_NO_USER);
	MEANS("cycles:uk", 0, 1, 0, 0);
	MEANS("r10:k", 2, 0, 0x10, PERF_EVENT_NO_USER);
}

TEST(malformed_events_are_refused)
{
	REFUSED("cyles", "\"cyles\"");
	REFUSED("cycles:", "\"cycles:\"");
	REFUSED("cycles:h", "\"cycles:h\"");
	REFUSED("", "no name");
	REFUSED("r", "\"r\"");
	REFUSED("rxyz", "\"rxyz\"");
	REFUSED("r-1", "\"r-1\"");
	REFUSED("r10000000000000000", "r10000000000000000");
	REFUSED("cpu/event=/", "cpu/event=/");
	REFUSED("cpu/umask=1/", "cpu/umask=1/");
	REFUSED(":u", ":u");
	REFUSED("L1-dcache-", "L1-dcache-");
}

TEST(event_names_parse_to_the_same_event)
{
	struct perf_event_id event, again;
	char name[64];
	uint32_t i;

	for (i = 0; i < 3 * 64; i++) {
		event = (struct perf_event_id) {
			.type = 1, .code = i % 64,
			.flags = i / 64 == 1 ? PERF_EVENT_NO_USER :
				 i / 64 == 2 ? PERF_EVENT_NO_KERNEL : 0,
		};
		if (event.code >> 3 > 6 || (event.code & 7) > 5)
			continue;
		perf_event_name(&event, name, sizeof(name));
		ASSERT_EQ(0, parse(name, &again));
		EXPECT_EQ(0, memcmp(&event, &again, sizeof(event)));
	}
	event = (struct perf_event_id) { .type = 0, .code = 9 };
	perf_event_name(&event, name, sizeof(name));
	EXPECT_STREQ("stalled-cycles-backend", name);
}

TEST(lists_are_split_at_commas_between_events)
{
	EXPECT_EQ(6, perf_event_next("cycles,r1"));
	EXPECT_EQ(9, perf_event_next("cpu/a,b/u,r1"));
	EXPECT_EQ(0, perf_event_next(",r1"));
	EXPECT_EQ(2, perf_event_next("r1"));
}

TEST_HARNESS_MAIN

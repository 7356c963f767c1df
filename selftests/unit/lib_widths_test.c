// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests, for each writer and count type, that records show the true values of counters, even after
 * a wrap, and contain no unnecessary upper half. The counters are 64, 48, 40, 32 or 1 bits wide.
 */
#include "kselftest_harness.h"

#include "sifive_trace.h"

#include "lib_mock.h"

/* Number of bits in a recorded count. */
#define COUNT_BITS	48

static char function[4] __attribute__((aligned(4)));
static char site[4] __attribute__((aligned(4)));

static const unsigned int widths[] = { 64, 48, 40, 32 };

/* A list of events, and the numbers of their counters. */
struct set {
	char events[256];
	unsigned int count;
	unsigned int number[PERF_COUNTER_MAX];
};

static struct sifive_trace *trace;
static struct set set;
static unsigned int type;
static uint64_t mask;

/* The counters according to the records, and the position of the next record in the log. */
static uint64_t said[PERF_COUNTER_MAX];
static size_t at;

/* Difference between the thread's own counter and the hart's counter. */
static uint64_t offset;

FIXTURE(widths)
{
};

static void setup_library(struct __test_metadata *_metadata)
{
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	mock_device_reset();
	trace = sifive_trace_open();
	ASSERT_NE(NULL, trace);
}

FIXTURE_SETUP(widths)
{
	setup_library(_metadata);
}

FIXTURE_TEARDOWN(widths)
{
	sifive_trace_close(trace);
	EXPECT_NOTHING_HELD();
}

/* Start a trace of @set with counters of @width bits, and skip its header. */
static int begin_set(unsigned int width, bool own)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	struct sifive_trace_slot *slots;
	unsigned int i;

	mask = ~UINT64_C(0) >> (64 - width);
	for (i = 0; i < set.count; i++)
		dev.event[i] = (struct sifive_trace_event) {
			.counter = set.number[i],
			.info = mock_info(set.number[i], width),
		};
	dev.event_set = (uint32_t)((UINT64_C(1) << set.count) - 1);
	options.events = set.events;
	options.count_type = type;
	options.flags = own ? 0 : SIFIVE_TRACE_PER_CPU;
	if (sifive_trace_setup(trace, &options))
		return -1;
	if (own) {
		slots = (struct sifive_trace_slot *)perf_pool->slots;
		for (i = 0; i < set.count; i++)
			slots[3].offset[set.number[i]] = offset;
		slots[3].offset[PERF_OFFSETS_WRITTEN]++;
	}
	memset(mock_counter, 0, sizeof(mock_counter));
	memset(said, 0, sizeof(said));
	if (type == SIFIVE_TRACE_DELTA)
		for (i = 0; i < set.count; i++)
			said[i] = offset;
	if (sifive_trace_on(trace))
		return -1;
	at = mock_stores = 0;
	return 0;
}

/* Advance each counter by a different number. */
static void count(uint64_t more)
{
	unsigned int i;

	for (i = 0; i < set.count; i++) {
		uint64_t *counter = &mock_counter[set.number[i]];

		*counter = (*counter + more + i) & mask;
	}
}

static unsigned int skip_address(void)
{
	return mock_log[at].value & 1 ? 2 : 1;
}

/* Read the record at @at; return its number of upper halves. */
static unsigned int read_record(uint32_t kind)
{
	unsigned int i, halves = 0;

	if (mock_log[at].bits != 8 || mock_log[at].value != kind)
		return ~0u;
	at++;
	at += skip_address();
	if (kind != PERF_RECORD_MANUAL)
		at += skip_address();
	for (i = 0; i < set.count; i++) {
		uint64_t value = mock_log[at++].value;

		if (at < mock_stores && mock_log[at].bits == 16) {
			value |= (uint64_t)mock_log[at++].value << 32;
			halves++;
		}
		if (type == SIFIVE_TRACE_DELTA)
			value += said[i];
		else if (type == SIFIVE_TRACE_XOR)
			value ^= said[i];
		said[i] = value;
	}
	return halves;
}

/* Return whether the records show the counters' values. */
static bool is_said(void)
{
	const uint64_t bits = mask & ((UINT64_C(1) << COUNT_BITS) - 1);
	unsigned int i;

	for (i = 0; i < set.count; i++)
		if ((said[i] ^ (mock_counter[set.number[i]] + offset)) & bits ||
		    (type != SIFIVE_TRACE_DELTA && said[i] & ~bits))
			return false;
	return at == mock_stores;
}

static void entry(void)
{
	__cyg_profile_func_enter(function, site);
}

static void explicit(void)
{
	sifive_trace_write(trace);
}

/* Make steps of up to 32 bits, of 34 and 40 bits, and of half and all of a counter's range. */
static void steps(struct __test_metadata *_metadata, void (*record)(void),
		  uint32_t kind, unsigned int width)
{
	const uint64_t step[] = {
		1000, 0, 0x7fffffff, 0xffffffff, UINT64_C(1) << 33, 5,
		UINT64_C(1) << 39, (UINT64_C(1) << 39) - 100, mask - 7, mask / 2 + 1,
		mask / 2 + 1, 3, mask,
	};
	unsigned int i;

	for (i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		count(step[i] & mask);
		record();
		EXPECT_NE(~0u, read_record(kind));
		EXPECT_TRUE(is_said()) {
			TH_LOG("%u bits, type %u, %s: step %u", width, type,
			       set.events, i);
		}
	}
	if (type != SIFIVE_TRACE_DELTA)
		return;
	/* A counter that wraps has advanced only a little, so its count has no upper half. */
	for (i = 0; i < set.count; i++)
		mock_counter[set.number[i]] = mask - 20;
	record();
	read_record(kind);
	count(40);
	record();
	EXPECT_EQ(0, read_record(kind));
	EXPECT_TRUE(is_said());
}

#define STEPS(record, kind, width)	steps(_metadata, record, kind, width)

static void add_counter(const char *event, unsigned int number)
{
	snprintf(set.events + strlen(set.events), sizeof(set.events) - strlen(set.events),
		 "%s%s", set.count ? "," : "", event);
	set.number[set.count++] = number;
}

/*
 * Use the first @count of these: cycles, the timestamp if requested, instructions, other counters.
 */
static void use_run(unsigned int count, bool timestamp)
{
	unsigned int number;
	char name[16];

	set = (struct set) { .count = 0 };
	for (number = 0; set.count < count && number < PERF_COUNTER_MAX; number++) {
		snprintf(name, sizeof(name), "r%u", number);
		if (number != 1 || timestamp)
			add_counter(number == 0 ? "cycles" : number == 1 ? "timestamp" :
				    number == 2 ? "instructions" : name, number);
	}
}

/* Use @count counters that are not adjacent. */
static void use_others(unsigned int count)
{
	char name[16];
	unsigned int i;

	set = (struct set) { .count = 0 };
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "r%u", i + 1);
		add_counter(name, 31 - 3 * (count - 1 - i));
	}
}

/* Test the hook's records and explicit records with the counters in @set, in all widths. */
static void all_widths(struct __test_metadata *_metadata, bool own)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, begin_set(widths[i], own)) {
			TH_LOG("%s: %s", set.events, sifive_trace_error());
		}
		EXPECT_TRUE(hook == machine_pair);
		EXPECT_TRUE(manual == machine_single);
		STEPS(entry, PERF_RECORD_ENTER, widths[i]);
		STEPS(explicit, PERF_RECORD_MANUAL, widths[i]);
		ASSERT_EQ(0, sifive_trace_off(trace));
	}
}

FIXTURE(each_type)
{
};

FIXTURE_VARIANT(each_type)
{
	unsigned int type;
};

FIXTURE_VARIANT_ADD(each_type, raw) { .type = SIFIVE_TRACE_RAW };
FIXTURE_VARIANT_ADD(each_type, delta) { .type = SIFIVE_TRACE_DELTA };
FIXTURE_VARIANT_ADD(each_type, xor) { .type = SIFIVE_TRACE_XOR };

FIXTURE_SETUP(each_type)
{
	setup_library(_metadata);
	type = variant->type;
}

FIXTURE_TEARDOWN(each_type)
{
	sifive_trace_close(trace);
	EXPECT_NOTHING_HELD();
}

TEST_F(each_type, counts_consecutive_counters)
{
	unsigned int count;

	for (count = 1; count < PERF_COUNTER_MAX; count++) {
		use_run(count, false);
		all_widths(_metadata, false);
	}
}

TEST_F(each_type, counts_with_timestamp)
{
	unsigned int count;

	for (count = 2; count <= PERF_COUNTER_MAX; count++) {
		use_run(count, true);
		all_widths(_metadata, false);
	}
}

TEST_F(each_type, counts_non_consecutive_counters)
{
	unsigned int count;

	for (count = 1; count < 10; count++) {
		use_others(count);
		all_widths(_metadata, false);
	}
}

/* The thread-local variables of a library loaded at run time are at an arbitrary offset. */
TEST_F(each_type, works_far_from_the_thread_pointer)
{
	static const long distances[] = { 0x7f8, 0x800, 0x12345678, -0x800, -0x7654320 };
	unsigned int i;

	for (i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		machine_distance = distances[i];
		use_run(9, false);
		all_widths(_metadata, i % 2);
	}
	machine_distance = 0;
}

/* A thread's own counts are sums, which can wrap at any value. */
TEST_F(each_type, counts_per_thread)
{
	unsigned int count;

	offset = (uint64_t)-123456;
	for (count = 1; count < PERF_COUNTER_MAX; count++) {
		use_run(count, false);
		all_widths(_metadata, true);
	}
	use_others(5);
	all_widths(_metadata, true);
	offset = 0;
}

/* A signal handler in the thread interrupts a record. */
static void interrupting(void)
{
	count(100);
	explicit();
}

/* Switch the thread out: its hart's counter advances, but its own does not. */
static void switch_out(uint64_t harts)
{
	struct sifive_trace_slot *slots = (struct sifive_trace_slot *)perf_pool->slots;
	unsigned int i;

	for (i = 0; i < set.count; i++)
		mock_counter[set.number[i]] += harts;
	for (i = 0; i < set.count; i++)
		slots[3].offset[set.number[i]] -= harts;
	slots[3].offset[PERF_OFFSETS_WRITTEN]++;
	offset -= harts;
}

/* Records around a context switch, some written by a handler, show the thread's counts. */
TEST_F(each_type, counts_per_thread_across_context_switches)
{
	unsigned int n, i;

	for (n = 1; n < PERF_COUNTER_MAX; n += 5) {
		offset = 4711;
		use_run(n, false);
		ASSERT_EQ(0, begin_set(64, true));
		for (i = 0; i < 12; i++) {
			if (i % 3 == 1)
				switch_out(UINT64_C(12345) << i * 3);
			count(1000);
			if (i % 4 == 3) {
				mock_interrupt = interrupting;
				mock_interrupt_once = true;
			}
			i % 2 ? entry() : explicit();
			read_record(i % 2 ? PERF_RECORD_ENTER : PERF_RECORD_MANUAL);
			if (i % 4 == 3)
				read_record(PERF_RECORD_MANUAL);
			EXPECT_TRUE(is_said()) {
				TH_LOG("%u counters, record %u", n, i);
			}
			if (i == 2)
				EXPECT_TRUE(machine_ended);
		}
		ASSERT_EQ(0, sifive_trace_off(trace));
	}
	offset = 0;
}

/* 31-bit counters, and 1-bit counters, which wrap each time, need the generic writer. */
TEST_F(widths, narrow_counters_use_the_generic_writer)
{
	static const unsigned int narrow[] = { 1, 31 };
	unsigned int i;

	use_run(2, false);
	for (type = 0; type < 3; type++)
		for (i = 0; i < 2; i++) {
			ASSERT_EQ(0, begin_set(narrow[i], false));
			EXPECT_TRUE(hook == write_slow);
			EXPECT_TRUE(manual == write_slow);
			STEPS(entry, PERF_RECORD_ENTER, narrow[i]);
			STEPS(explicit, PERF_RECORD_MANUAL, narrow[i]);
			ASSERT_EQ(0, sifive_trace_off(trace));
		}
}

/* Read all remaining records in order; return their number. */
static unsigned int read_all(void)
{
	unsigned int records = 0;

	while (at < mock_stores && mock_log[at].bits == 8) {
		read_record(mock_log[at].value);
		records++;
	}
	return records;
}

/* Write a handler's record before each instruction of a writer. */
TEST_F(each_type, can_be_interrupted_at_any_instruction)
{
	static const unsigned int numbers[] = { 1, 2, 8, 11 };
	unsigned int n, own, i;

	for (n = 0; n < 4; n++)
		for (own = 0; own < 2; own++) {
			use_run(numbers[n], false);
			ASSERT_EQ(0, begin_set(64, own));
			for (i = 0; i < 400; i++) {
				at = mock_stores = 0;
				entry();
				EXPECT_EQ(1, read_all());
				count(1000);
				machine_signal_at = i;
				machine_signal = interrupting;
				entry();
				if (machine_signal)
					break;
				EXPECT_EQ(2, read_all());
				EXPECT_TRUE(is_said()) {
					TH_LOG("%u counters, own %u, instruction %u",
					       numbers[n], own, i);
				}
			}
			EXPECT_LT(30, i);
			machine_signal = NULL;
			at = mock_stores;
			ASSERT_EQ(0, sifive_trace_off(trace));
		}
}

/* An explicit record keeps the order of its counters even if a handler interrupts it. */
TEST_F(widths, interrupted_explicit_record_keeps_counter_order)
{
	use_run(8, false);
	type = SIFIVE_TRACE_DELTA;
	ASSERT_EQ(0, begin_set(40, false));
	count(mask - 50);
	mock_interrupt = interrupting;
	mock_interrupt_once = true;
	explicit();
	read_record(PERF_RECORD_MANUAL);
	EXPECT_LT(at, mock_stores);
	read_record(PERF_RECORD_MANUAL);
	EXPECT_TRUE(is_said());
}

/* Per-thread counts, some of which need the generic writer. */
TEST_F(widths, interrupted_record_keeps_per_thread_counts)
{
	use_run(8, false);
	offset = (uint64_t)-123456;
	for (type = 0; type < 3; type++) {
		ASSERT_EQ(0, begin_set(40, true));
		count(1000);
		explicit();
		read_record(PERF_RECORD_MANUAL);
		EXPECT_TRUE(is_said());
		mock_interrupt = interrupting;
		mock_interrupt_once = true;
		count(1000);
		explicit();
		read_record(PERF_RECORD_MANUAL);
		read_record(PERF_RECORD_MANUAL);
		EXPECT_TRUE(is_said());
		explicit();
		read_record(PERF_RECORD_MANUAL);
		EXPECT_TRUE(is_said());
		ASSERT_EQ(0, sifive_trace_off(trace));
	}
	offset = 0;
}

static void *one_record(void *unused)
{
	mock_rseq.cpu_id = 1;
	sifive_trace_write(trace);
	return unused;
}

/* Continue the thread on @cpu. */
static void move_to(unsigned int cpu)
{
	struct sifive_trace_slot *slots = (struct sifive_trace_slot *)perf_pool->slots;

	mock_rseq.cpu_id = cpu;
	perf_self->cpu = PERF_CPU_NOBODY;
	slots[3].offset[PERF_OFFSETS_WRITTEN]++;
}

/* Skip the header at @at. */
static void skip_header(struct __test_metadata *_metadata)
{
	unsigned int i;

	ASSERT_EQ(SIFIVE_TRACE_RECORD_MAGIC, mock_log[at].value);
	at += 3;
	for (i = 0; i < set.count; i++)
		at += mock_log[at].value == SIFIVE_TRACE_EVENT_RAW ? 4 : 3;
}

/* Record an entry; its counts, added to @said, must equal the counters. */
static void next_entry(struct __test_metadata *_metadata, bool header)
{
	entry();
	if (header)
		skip_header(_metadata);
	EXPECT_NE(~0u, read_record(PERF_RECORD_ENTER));
	EXPECT_TRUE(is_said());
}

/*
 * After a migration, the first difference of a thread's own counts must be relative to the thread's
 * latest record on any CPU.
 */
TEST_F(widths, per_thread_counts_are_complete_after_migration)
{
	uint64_t before[PERF_COUNTER_MAX];
	unsigned int i;

	dev.cpus = 3;
	type = SIFIVE_TRACE_DELTA;
	offset = (uint64_t)-123456;
	use_run(9, false);
	ASSERT_EQ(0, begin_set(64, true));
	count(1000);
	next_entry(_metadata, false);
	memcpy(before, said, sizeof(said));

	count(20000);
	move_to(0);
	count(300000);
	next_entry(_metadata, true);

	/* Back on the first CPU, differences are relative to the latest record on that CPU. */
	memcpy(said, before, sizeof(said));
	move_to(1);
	count(4000000);
	next_entry(_metadata, false);

	/* Events that occur while tracing is off are not recorded on either CPU. */
	ASSERT_EQ(0, sifive_trace_off(trace));
	count(50000000);
	ASSERT_EQ(0, sifive_trace_on(trace));
	skip_header(_metadata);
	EXPECT_EQ(at, mock_stores);
	for (i = 0; i < set.count; i++)
		said[i] = mock_counter[set.number[i]] + offset;
	move_to(0);
	count(7);
	next_entry(_metadata, true);
	offset = 0;
}

/*
 * Two threads use one channel, one after the other. Only Delta counts, which are relative to a
 * thread's previous record, need a second header.
 */
TEST_F(widths, single_header_supports_per_thread_counts)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	pthread_t thread;
	size_t headers;
	int i;

	options.events = "cycles,instructions";
	options.flags = SIFIVE_TRACE_HEADER_ONCE;
	for (type = SIFIVE_TRACE_RAW; type <= SIFIVE_TRACE_XOR; type++) {
		options.count_type = type;
		ASSERT_EQ(0, sifive_trace_setup(trace, &options)) {
			TH_LOG("%s", sifive_trace_error());
		}
		ASSERT_EQ(0, sifive_trace_on(trace));
		mock_stores = 0;
		for (i = 0; i < 2; i++) {
			ASSERT_EQ(0, pthread_create(&thread, NULL, one_record, NULL));
			ASSERT_EQ(0, pthread_join(thread, NULL));
			EXPECT_EQ(7, dev.last_channel);
		}
		for (i = headers = 0; i < (int)mock_stores; i++)
			headers += mock_log[i].value == SIFIVE_TRACE_RECORD_MAGIC;
		EXPECT_EQ(type == SIFIVE_TRACE_DELTA ? 2 : 1, headers) {
			TH_LOG("type %u", type);
		}
		ASSERT_EQ(0, sifive_trace_off(trace));
	}
}

TEST_HARNESS_MAIN

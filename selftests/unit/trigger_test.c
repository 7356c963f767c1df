// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests record --trigger and --slower-than: which calls cause a snapshot, and what is reported
 * about these calls. Simulated events replace the kernel's.
 */
#include <string.h>
#include "kselftest_harness.h"

#include "kept_report.h"
#include "target/trigger.h"
#include "units.h"

#define PROCESS	100

static struct probe_event events[16];
static unsigned int count, next;
static uint64_t lost;

/* Path of the only file that contains the function. */
static const char *has;
static unsigned int searched;
static int finding, opening;
static const char *probed;

int find_function(const struct program *program, const char *name, bool exits,
		  const char *option, struct found *found)
{
	return 1;
}

int find_later(const struct program *program, const char *path, const char *name, bool exits,
	       const char *option, struct found *found)
{
	searched++;
	found->path = path;
	return strcmp(path, has) ? 1 : finding;
}

int probes_open(struct probes *probes, const struct found *found, const char *option)
{
	probed = found->path;
	return opening;
}

void probes_close(struct probes *probes)
{
}

void probes_read(struct probes *probes)
{
}

uint64_t probes_lost(const struct probes *probes)
{
	return lost;
}

const struct probe_event *probes_next(struct probes *probes, uint64_t until)
{
	return next < count && events[next].time <= until ? &events[next++] : NULL;
}

static uint64_t now;

uint64_t perf_device_now(void)
{
	return now;
}

FIXTURE(trigger)
{
	struct trigger trigger;
	struct trigger_hit hit;
};

FIXTURE_SETUP(trigger)
{
	static const struct cli_option option = { .name = "slower-than" };

	count = 0;
	next = 0;
	lost = 0;
	has = "/b";
	searched = 0;
	finding = 0;
	opening = 0;
	probed = NULL;
	now = 0;
	*reported = '\0';
	ASSERT_EQ(0, trigger_set_slower(&self->trigger, &option, "f:1us"));
}

FIXTURE_TEARDOWN(trigger)
{
	trigger_close(&self->trigger);
}

static void event(uint64_t time, pid_t tid, uint64_t sp, bool returns)
{
	events[count++] = (struct probe_event){
		.time = time, .sp = sp, .pid = PROCESS, .tid = tid, .returns = returns,
	};
}

static void loss(uint64_t from, uint64_t until)
{
	events[count++] = (struct probe_event){ .time = from, .until = until };
}

static bool hits(FIXTURE_DATA(trigger) *self, uint64_t covered)
{
	return trigger_next(&self->trigger, PROCESS, UINT64_MAX, covered, &self->hit);
}

static int set_reached(FIXTURE_DATA(trigger) *self, const char *value)
{
	static const struct cli_option option = { .name = "trigger" };

	return trigger_set_reached(&self->trigger, &option, value);
}

TEST_F(trigger, watchpoint_is_refused_with_the_reason)
{
	static const char *const watchpoints[] = {
		"mem:counter", "mem:counter/8", "mem:0x1000:w", "mem:counter+8/4:rw:5",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(watchpoints); i++) {
		*reported = '\0';
		EXPECT_EQ(2, set_reached(self, watchpoints[i]));
		EXPECT_NE(NULL, strstr(reported, "Linux has no hardware breakpoints on RISC-V"));
		EXPECT_NE(NULL, strstr(reported, watchpoints[i]));
	}
}

TEST_F(trigger, functions_with_names_like_watchpoints_are_accepted)
{
	ASSERT_EQ(0, set_reached(self, "mem:5"));
	EXPECT_STREQ("mem", self->trigger.function);
	EXPECT_EQ(5, self->trigger.limit);
	ASSERT_EQ(0, set_reached(self, "mem::find:7"));
	EXPECT_STREQ("mem::find", self->trigger.function);
	ASSERT_EQ(0, set_reached(self, "memcpy"));
	EXPECT_STREQ("memcpy", self->trigger.function);
	EXPECT_STREQ("", reported);
}

TEST_F(trigger, slow_call_triggers_a_snapshot)
{
	event(1000, 1, 64, false);
	event(1500, 1, 64, true);
	event(2000, 1, 64, false);
	event(3500, 1, 64, true);
	ASSERT_TRUE(hits(self, 0));
	EXPECT_EQ(2, self->hit.call);
	EXPECT_EQ(2000, self->hit.from);
	EXPECT_EQ(3500, self->hit.to);
	EXPECT_FALSE(hits(self, 0));
	trigger_report(&self->trigger, false);
	EXPECT_NE(NULL, strstr(reported, "f: 2 calls, the longest took 1.500 us; 1 took longer"));
}

/* The lost events are the end of the first call and the start of the second call. */
TEST_F(trigger, call_does_not_end_at_another_calls_end_after_a_loss)
{
	event(1000, 1, 64, false);
	loss(1000, 5000);
	event(6000, 1, 64, true);
	event(7000, 1, 64, false);
	event(7400, 1, 64, true);
	lost = 2;
	EXPECT_FALSE(hits(self, 0));
	trigger_report(&self->trigger, false);
	EXPECT_NE(NULL, strstr(reported,
			       "f: 1 call, the longest that was measured took 400.000 ns; 0 took longer"));
	EXPECT_NE(NULL, strstr(reported, "f: 1 call not measured: events were lost"));
	EXPECT_NE(NULL, strstr(reported, "2 probe events were lost"));
}

/*
 * The start may be in another CPU's ring, and a lost end event may precede the end event in this
 * ring.
 */
TEST_F(trigger, call_that_begins_during_a_loss_is_not_measured)
{
	loss(1000, 5000);
	event(2000, 1, 64, false);
	event(6000, 1, 64, true);
	EXPECT_FALSE(hits(self, 0));
	EXPECT_EQ(0, self->trigger.ended);
}

TEST_F(trigger, call_before_the_previous_snapshot_triggers_no_snapshot)
{
	event(1000, 1, 64, false);
	event(3000, 1, 64, true);
	event(4000, 1, 64, false);
	event(6000, 1, 64, true);
	ASSERT_TRUE(hits(self, 2000));
	EXPECT_EQ(4000, self->hit.from);
	self->trigger.snapshots++;
	trigger_report(&self->trigger, false);
	EXPECT_NE(NULL, strstr(reported, "2 took longer than 1.000 us: 1 snapshot"));
	EXPECT_NE(NULL, strstr(reported,
			       "f: 1 trigger occurred before the previous snapshot was written"));
}

TEST_F(trigger, unwritten_snapshots_are_counted)
{
	event(1000, 1, 64, false);
	event(3000, 1, 64, true);
	ASSERT_TRUE(hits(self, 0));
	self->trigger.failed++;
	trigger_report(&self->trigger, true);
	EXPECT_NE(NULL, strstr(reported,
			       "f: 1 trigger without a snapshot, which could not be written"));
}

TEST_F(trigger, recursive_calls_end_innermost_first)
{
	event(1000, 1, 64, false);
	event(1100, 1, 32, false);
	event(1200, 1, 32, true);
	event(3000, 1, 64, true);
	ASSERT_TRUE(hits(self, 0));
	EXPECT_EQ(1000, self->hit.from);
	EXPECT_EQ(2, self->trigger.ended);
}

static struct object loaded[] = { { .path = "/a" }, { .path = "/b" }, { .path = "/c" } };

/* Simulate that the program has loaded the first @n objects. */
static void see(FIXTURE_DATA(trigger) *self, size_t n)
{
	const struct objects objects = { .object = loaded, .count = n };

	trigger_see(&self->trigger, NULL, &objects);
}

TEST_F(trigger, function_is_probed_when_its_object_is_loaded)
{
	ASSERT_EQ(0, trigger_open(&self->trigger, NULL));
	EXPECT_TRUE(trigger_unset(&self->trigger));
	see(self, 1);
	see(self, 1);
	EXPECT_EQ(1, searched);
	EXPECT_EQ(NULL, probed);
	see(self, 3);
	EXPECT_STREQ("/b", probed);
	EXPECT_FALSE(trigger_unset(&self->trigger));
	EXPECT_NE(NULL, strstr(reported, "--slower-than f: found in /b, which was loaded later"));
	see(self, 3);
	EXPECT_EQ(2, searched);
}

/* Events of the first call's end and of the next call's start may be missing. */
TEST_F(trigger, call_begun_before_all_probes_were_set_is_not_measured)
{
	ASSERT_EQ(0, trigger_open(&self->trigger, NULL));
	now = 2000;
	see(self, 2);
	event(1000, 1, 64, false);
	event(6000, 1, 64, true);
	event(7000, 1, 64, false);
	event(7400, 1, 64, true);
	EXPECT_FALSE(hits(self, 0));
	EXPECT_EQ(1, self->trigger.ended);
}

TEST_F(trigger, function_in_no_object_is_reported)
{
	ASSERT_EQ(0, trigger_open(&self->trigger, NULL));
	see(self, 1);
	trigger_report(&self->trigger, true);
	EXPECT_TRUE(trigger_unset(&self->trigger));
	EXPECT_NE(NULL, strstr(reported,
			       "--slower-than: no object that the program loaded has a function f: "));
	EXPECT_EQ(NULL, strstr(reported, "calls"));
}

TEST_F(trigger, function_that_cannot_be_probed_is_tried_once)
{
	ASSERT_EQ(0, trigger_open(&self->trigger, NULL));
	opening = -1;
	see(self, 2);
	opening = 0;
	has = "/c";
	see(self, 3);
	EXPECT_STREQ("/b", probed);
	EXPECT_TRUE(trigger_unset(&self->trigger));
	EXPECT_STREQ("", reported);
}

TEST_F(trigger, object_with_two_functions_of_one_name_is_refused)
{
	ASSERT_EQ(0, trigger_open(&self->trigger, NULL));
	finding = -1;
	see(self, 3);
	EXPECT_EQ(NULL, probed);
	EXPECT_EQ(2, searched);
	EXPECT_TRUE(trigger_unset(&self->trigger));
}

TEST_HARNESS_MAIN

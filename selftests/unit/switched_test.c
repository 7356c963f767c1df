// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests that calls are attributed to the thread that made them when the kernel switches threads. */
#include <linux/sifive_trace_format.h>

#include "flow_messages.h"

#define SWITCH_TO	(CODE + 0xf40)
#define SCHEDULE	(CODE + 0xf80)

/* caller() calls probed(), in which the kernel switches to another thread and back. */
static void run_switches(struct gen *gen, uint64_t base)
{
	begin(gen, base + CALLER);
	context(gen, 71);
	stop(gen, 4);
	begin(gen, base + PROBED + 4);
	indirect(gen, 0, 4, base + CALLER + 4);
	context(gen, 72);
	stop(gen, 2);
	begin(gen, base + PROBED + 4);
	indirect(gen, 0, 4, base + CALLER + 4);
	context(gen, 71);
	stop(gen, 2);
}

/*
 * The kernel names a thread only after it has executed some instructions on behalf of that thread.
 */
TEST_F(command, thread_is_named_from_the_start_of_its_trace)
{
	run_switches(&self->gen, KERNEL);
	print_kernel(self, SIDE_CAR("\"kernel\""));
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("thread 71;caller 1\nthread 71;caller;probed 1\n"
		     "thread 72;probed 1\nthread 72;caller 1\n", self->out);
}

/* probed() returns to a new thread, whose id an earlier thread had. */
TEST_F(command, new_thread_of_the_kernel_has_no_callers)
{
	run_switches(&self->gen, KERNEL);
	begin(&self->gen, KERNEL + CALLER);
	context(&self->gen, 71);
	indirect(&self->gen, 0, 8, KERNEL + FORK);
	indirect(&self->gen, 0, 4, KERNEL + FORK + 4);
	stop(&self->gen, 0);
	print_kernel(self, SIDE_CAR("\"kernel\""));
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("thread 71;caller 1\nthread 71;caller;probed 2\n"
		     "thread 72;probed 1\nthread 72;caller 1\n"
		     "thread 71;ret_from_fork 1\nthread 71;ret_from_fork;leaf 1\n", self->out);
}

/* The driver turns the trace on in probed(), and names the thread and the next thread. */
static void turn_on(struct gen *gen, uint64_t now, uint64_t next)
{
	begin(gen, KERNEL + PROBED + 4);
	context(gen, now);
	context(gen, next);
}

/* schedule() calls probed(), where the trace of thread 71 stops. */
static void run_first(struct gen *gen)
{
	begin(gen, KERNEL + SCHEDULE);
	context(gen, 71);
	context(gen, 71);
	stop(gen, 4);
}

/* Thread 72, which is new, switches back to thread 71. */
static void run_second(struct gen *gen)
{
	indirect(gen, 0, 4, KERNEL + FORK + 4);
	indirect(gen, 0, 2, KERNEL + SCHEDULE);
	stop(gen, 4);
	turn_on(gen, 72, 71);
	indirect(gen, 0, 4, KERNEL + SCHEDULE + 4);
	indirect(gen, 0, 6, KERNEL + SCHEDULE + 8);
	stop(gen, 0);
}

TEST_F(command, thread_runs_until_the_kernel_has_switched)
{
	run_first(&self->gen);
	turn_on(&self->gen, 71, 72);
	indirect(&self->gen, 0, 4, KERNEL + SCHEDULE + 4);
	indirect(&self->gen, 0, 6, KERNEL + FORK);
	run_second(&self->gen);
	print_kernel(self, SIDE_CAR("\"kernel\""));
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("thread 71;schedule 1\nthread 71;schedule;probed 1\n"
		     "thread 71;schedule;__switch_to 1\n"
		     "thread 72;ret_from_fork 1\nthread 72;ret_from_fork;leaf 1\n"
		     "thread 72;schedule 1\nthread 72;schedule;probed 1\n"
		     "thread 72;schedule;__switch_to 1\n", self->out);
}

/* No message names the thread that switches to a traced thread. */
TEST_F(command, calls_of_an_untraced_thread_are_separate)
{
	run_first(&self->gen);
	turn_on(&self->gen, 0, 72);
	indirect(&self->gen, 0, 4, KERNEL + SCHEDULE + 4);
	indirect(&self->gen, 0, 6, KERNEL + FORK);
	stop(&self->gen, 2);
	turn_on(&self->gen, 0, 71);
	indirect(&self->gen, 0, 4, KERNEL + SCHEDULE + 4);
	indirect(&self->gen, 0, 6, KERNEL + SCHEDULE + 8);
	stop(&self->gen, 0);
	print_kernel(self, SIDE_CAR("\"kernel\""));
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("thread 71;schedule 1\nthread 71;schedule;probed 1\n"
		     "source 0;probed 2\nsource 0;schedule 2\nsource 0;schedule;__switch_to 2\n"
		     "thread 72;ret_from_fork 1\n", self->out);
}

/* An interrupt or a call to the firmware does not end the switch. */
TEST_F(command, firmware_does_not_end_a_switch)
{
	run_first(&self->gen);
	turn_on(&self->gen, 71, 72);
	indirect(&self->gen, 0, 4, KERNEL + SCHEDULE + 4);
	indirect(&self->gen, 1, 2, FIRMWARE);
	indirect(&self->gen, 0, 8, KERNEL + SWITCH_TO);
	indirect(&self->gen, 0, 4, KERNEL + FORK);
	run_second(&self->gen);
	print_kernel(self, SIDE_CAR("\"kernel\""));
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "thread 71;schedule;__switch_to 1\n"))
		TH_LOG("%s", self->out);
}

/* The firmware interrupts the driver between the names of the thread and of the next thread. */
TEST_F(command, firmware_does_not_begin_the_next_thread)
{
	run_first(&self->gen);
	begin(&self->gen, KERNEL + PROBED + 4);
	context(&self->gen, 71);
	indirect(&self->gen, 1, 0, FIRMWARE);
	indirect(&self->gen, 0, 8, KERNEL + PROBED + 4);
	context(&self->gen, 72);
	indirect(&self->gen, 0, 4, KERNEL + SCHEDULE + 4);
	indirect(&self->gen, 0, 6, KERNEL + FORK);
	run_second(&self->gen);
	print_kernel(self, SIDE_CAR("\"kernel\""));
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "thread 71;schedule;__switch_to 1\n"))
		TH_LOG("%s", self->out);
}

/* No Sync message has confirmed thread 71's last instructions on source 0. */
TEST_F(command, thread_leaves_a_source_before_it_continues_on_another)
{
	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	run_first(&self->gen);
	turn_on(&self->gen, 71, 72);
	indirect(&self->gen, 0, 4, KERNEL + SCHEDULE + 4);
	indirect(&self->gen, 0, 6, KERNEL + FORK);
	source = 1;
	turn_on(&self->gen, 73, 71);
	indirect(&self->gen, 0, 4, KERNEL + SCHEDULE + 4);
	indirect(&self->gen, 0, 6, KERNEL + SCHEDULE + 8);
	stop(&self->gen, 2);
	source = 0;
	stop(&self->gen, 2);
	save(self, "t");
	write_file("t.meta", SIDE_CAR("\"kernel\""), strlen(SIDE_CAR("\"kernel\"")));
	run(self, "export -q --strict -s 1 --format folded --weight calls -e " CALLS
	    "@0xffffffff80000000 t");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("thread 71;schedule 1\nthread 71;schedule;probed 1\n"
		     "thread 71;schedule;__switch_to 1\nthread 73;probed 1\n"
		     "thread 73;schedule 1\nthread 73;schedule;__switch_to 1\n"
		     "thread 72;ret_from_fork 1\n", self->out);
}

/* If messages are lost before the switch ends, the next thread's calls are marked. */
TEST_F(command, calls_after_a_switch_that_is_not_shown_are_marked)
{
	run_first(&self->gen);
	turn_on(&self->gen, 71, 72);
	indirect(&self->gen, 0, 4, KERNEL + SCHEDULE + 4);
	gen_error(&self->gen, 0);
	gen_sync(&self->gen, 0);
	begin(&self->gen, KERNEL + FORK);
	indirect(&self->gen, 0, 4, KERNEL + FORK + 4);
	stop(&self->gen, 0);
	print_kernel(self, SIDE_CAR("\"kernel\""));
	EXPECT_NE(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "thread 72;ret_from_fork;leaf 1\n"))
		TH_LOG("%s", self->out);
}

/* If the kernel is omitted, only the program's thread is shown. */
TEST_F(command, program_continues_after_a_switch_that_is_omitted)
{
	turn_on(&self->gen, 0, 72);
	indirect(&self->gen, 0, 4, KERNEL + SCHEDULE + 4);
	indirect(&self->gen, 0, 6, PLAIN);
	indirect(&self->gen, 0, 4, PLAIN + 4);
	stop(&self->gen, 0);
	print_kernel(self, SIDE_CAR("\"user\""));
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("thread 72;plain 1\nthread 72;plain;leaf 1\n", self->out);
}

/* The channel for context switches, and the times of the two switches, in us. */
#define CHANNEL		30
#define AWAY		1200
#define BACK		1400
#define WITH_SWITCHES	"{\"version\":1,\"switches\":{\"channel\":30},\"instruction\":{\"calls\":\"kernel\"}}"

static void put_switch(struct gen *gen, uint8_t kind, uint32_t thread)
{
	gen_store(gen, 0, CHANNEL, 1, kind);
	gen_store(gen, 0, CHANNEL, 4, thread);
}

/*
 * Thread 71 switches to thread 72, which switches back. The records of a switch precede the
 * thread's last calls.
 */
static void run_recorded(struct gen *gen)
{
	gen->step = 0;
	gen->now = 1000;
	gen_sync(gen, 0);
	gen_store(gen, 0, CHANNEL, 1, SIFIVE_TRACE_SWITCH_BEGIN);
	put_switch(gen, SIFIVE_TRACE_SWITCH_IN, 71);
	begin(gen, KERNEL + SCHEDULE);
	context(gen, 71);
	context(gen, 71);
	gen->now = AWAY;
	stop(gen, 4);
	turn_on(gen, 71, 72);
	put_switch(gen, SIFIVE_TRACE_SWITCH_SLEEPS, 71);
	put_switch(gen, SIFIVE_TRACE_SWITCH_IN, 72);
	gen->now = AWAY + 10;
	indirect(gen, 0, 4, KERNEL + SCHEDULE + 4);
	gen->now = AWAY + 20;
	indirect(gen, 0, 6, KERNEL + FORK);
	gen->now = BACK - 100;
	indirect(gen, 0, 4, KERNEL + FORK + 4);
	indirect(gen, 0, 2, KERNEL + SCHEDULE);
	gen->now = BACK;
	stop(gen, 4);
	turn_on(gen, 72, 71);
	put_switch(gen, SIFIVE_TRACE_SWITCH_SLEEPS, 72);
	put_switch(gen, SIFIVE_TRACE_SWITCH_IN, 71);
	gen->now = BACK + 10;
	indirect(gen, 0, 4, KERNEL + SCHEDULE + 4);
	gen->now = BACK + 20;
	indirect(gen, 0, 6, KERNEL + SCHEDULE + 8);
	gen->now = BACK + 100;
	stop(gen, 2);
	put_switch(gen, SIFIVE_TRACE_SWITCH_END, 71);
	gen_sync(gen, 0);
}

/* The thread is off the CPU after its last call, not after its record of the switch. */
TEST_F(command, no_switch_record_is_missing_before_the_end_of_a_switch)
{
	run_recorded(&self->gen);
	save(self, "t");
	write_file("t.meta", WITH_SWITCHES, strlen(WITH_SWITCHES));
	run(self, "report --strict -s 0 --ts-hz 1000000 --by thread --format csv -e " CALLS
	    "@0xffffffff80000000 t");
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(NULL, strstr(self->err, "may be missing"));
	/*
	 * Total and self times, followed by the total and self times on the CPU, off the CPU, and
	 * unknown.
	 */
	EXPECT_NE(NULL, strstr(self->out, "\"__switch_to\",\"thread 71\",1,0.000207000,0.000207000,"
			       "0.000020000,0.000020000,0.000187000,0.000187000,0.000000000,0.000000000"))
		TH_LOG("%s", self->out);
}

TEST_HARNESS_MAIN

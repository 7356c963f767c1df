// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests system calls and page faults in the commands' output. */
#include "switches_fixture.h"

/*
 * Write a page fault. @words: low bits of the pc, low bits of the page number, and the upper bits
 * of both.
 */
static void put_fault(FIXTURE_DATA(command) *self, uint64_t now, const uint32_t words[3])
{
	put_switch_of(self, 0, now, SIFIVE_TRACE_SWITCH_FAULT, words[0]);
	gen_store(&self->gen, 0, CHANNEL, 4, words[1]);
	gen_store(&self->gen, 0, CHANNEL, 4, words[2]);
}

TEST_F(command, page_faults_show_their_page_and_function)
{
	static const uint32_t low[] = { MAIN + 4, 0x3f, 0 };
	static const uint32_t high[] = { MAIN + 4, 0xfedcba98, SIFIVE_TRACE_FAULT_MAJOR | 5 << 12 | 7 };

	begin(self, 0);
	sync_at(self, 0, 1000);
	put_switch(self, 0, 1000, SIFIVE_TRACE_SWITCH_BEGIN);
	IN(0, 2000);
	put_fault(self, 3000, low);
	put_fault(self, 3100, high);
	put_fault(self, 3200, low);
	EXITED(0, 17000);
	save_with(self, 0, "");
	run(self, "report " HZ "trace.rtd");
	EXPECT_HAS(self->out, "       all     major  page faults\n"
		   "         2         0  0x20004\n"
		   "         1         1  0x500020004\n");
	EXPECT_HAS(self->out, "   15.000 ms   15.000 ms    0.000 ns");
	run(self, "report -q --top 1 " HZ "trace.rtd");
	EXPECT_HAS(self->out, "(1 more functions)");
	run(self, "report -q --json " HZ "trace.rtd");
	EXPECT_HAS(self->out, "{\"function\":\"0x20004\",\"faults\":2,\"major\":0,\"exact\":true}");
	run(self, "decode -q " HZ "trace.rtd");
	EXPECT_HAS(self->out, "faults  page 0x3f000  0x20004\n");
	EXPECT_HAS(self->out, "faults  page 0x7fedcba98000, major  0x500020004\n");
	run(self, "decode -q --format json " HZ "trace.rtd");
	EXPECT_HAS(self->out, "\"page\":\"0x7fedcba98000\",\"major\":true,\"address\":\"0x500020004\"");
	/* Some faults may have occurred where they are not recorded. */
	save_with(self, 0, ",\"lost\":{\"elsewhere\":1}");
	run(self, "report -q " HZ "trace.rtd");
	EXPECT_HAS(self->out, "        ~1        ~1  0x500020004\n");
}

/* Only records after the incomplete page fault are used. */
TEST_F(command, incomplete_page_fault_is_a_loss)
{
	static const uint32_t words[] = { MAIN, 0x3f, 0 };

	begin(self, 0);
	sync_at(self, 0, 1000);
	put_switch(self, 0, 1000, SIFIVE_TRACE_SWITCH_BEGIN);
	IN(0, 2000);
	put_switch_of(self, 0, 3000, SIFIVE_TRACE_SWITCH_FAULT, words[0]);
	gen_store(&self->gen, 0, CHANNEL, 4, words[1]);
	put_fault(self, 4000, words);
	EXITED(0, 5000);
	save_with(self, 0, "");
	run(self, "report " HZ "trace.rtd");
	EXPECT_HAS(self->out, "        ~1        ~0  0x20000\n");
	EXPECT_HAS(self->err, "may be missing in 1 places");
}

#define CALL(now, number)	put_switch_of(self, 0, now, SIFIVE_TRACE_SWITCH_CALL, number)
#define RETURN(now, result)	put_switch_of(self, 0, now, SIFIVE_TRACE_SWITCH_RETURN, result)

/* read (63) sleeps; write (64) fails; exit (93) does not return; the first call began earlier. */
static void make_calls(FIXTURE_DATA(command) *self)
{
	struct gen_stream stream;

	begin(self, 0);
	sync_at(self, 0, 1000);
	put_begin(self, &stream, 0);
	IN(0, 2000);
	put_record(self, &stream, 2500, 0, MAIN);
	RETURN(2600, 0);
	CALL(3000, 63);
	SLEEPS(0, 4000);
	IN(0, 14000);
	RETURN(15000, 1);
	CALL(15100, 63);
	RETURN(15301, 0);
	CALL(15400, 64);
	RETURN(15500, (uint32_t)-9);
	CALL(15600, 5000);
	RETURN(15700, (uint32_t)-4096);
	CALL(15800, 1023);
	RETURN(15900, 0);
	put_record(self, &stream, 16000, 1, MAIN);
	CALL(16500, 93);
	EXITED(0, 17000);
}

TEST_F(command, system_calls_show_their_number_and_times)
{
	make_calls(self);
	save_with(self, 0, "");
	run(self, "report " HZ "trace.rtd");
	EXPECT_HAS(self->out, "     calls    errors       total     off-cpu     average     longest  system call\n"
		   "         2         0   12.201 ms   10.000 ms    6.101 ms   12.000 ms  read\n"
		   "         1         1  100.000 us    0.000 ns  100.000 us  100.000 us  write\n"
		   "         1         0  100.000 us    0.000 ns  100.000 us  100.000 us  1023\n"
		   "         1         0  100.000 us    0.000 ns  100.000 us  100.000 us  (1024 and above)\n");
	EXPECT_LACKS(self->out, "  exit\n");
	run(self, "report -q --top 1 " HZ "trace.rtd");
	EXPECT_HAS(self->out, "(3 more system calls)");
	run(self, "report -q --json " HZ "trace.rtd");
	EXPECT_HAS(self->out, "{\"syscall\":\"read\",\"number\":63,\"calls\":2,\"errors\":0,"
		   "\"total\":0.012201000,\"off-cpu\":0.010000000,\"longest\":0.012000000,\"exact\":true}");
	/* The average of 12000 and 201 ticks is not rounded to a tick. */
	run(self, "report -q --ts-hz 10000 trace.rtd");
	EXPECT_HAS(self->out, "  610.050 ms     1.200 s  read\n");
	/* While the thread was not recorded, this call may have ended and another have begun. */
	save_with(self, 0, ",\"lost\":{\"elsewhere\":1}");
	run(self, "report " HZ "trace.rtd");
	EXPECT_HAS(self->out, "        ~2        ~0  ~12.201 ms  ~10.000 ms   ~6.101 ms  ~12.000 ms  read\n");
	EXPECT_HAS(self->err, "all system calls, and all times on and off the CPU, are marked ~");
	run(self, "report -q --json " HZ "trace.rtd");
	EXPECT_HAS(self->out, "\"longest\":0.012000000,\"exact\":false}");
	run(self, "decode -q " HZ "trace.rtd");
	EXPECT_HAS(self->out, "read\n");
	EXPECT_HAS(self->out, "system call 5000\n");
	EXPECT_HAS(self->out, "  -9\n");
	run(self, "decode -q --format json " HZ "trace.rtd");
	EXPECT_HAS(self->out, "\"number\":64,");
	EXPECT_HAS(self->out, "\"result\":-9,");
}

/* A program can end before the first sample. */
TEST_F(command, threads_and_system_calls_need_no_other_records)
{
	begin(self, 0);
	sync_at(self, 0, 1000);
	put_switch(self, 0, 1000, SIFIVE_TRACE_SWITCH_BEGIN);
	IN(0, 2000);
	CALL(3000, 63);
	SLEEPS(0, 4000);
	IN(0, 14000);
	RETURN(15000, 1);
	EXITED(0, 17000);
	save_with(self, 0, "");
	run(self, "report " HZ "trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_HAS(self->out, "   12.000 ms  read\n");
	EXPECT_HAS(self->out, "(exited)\n");
	EXPECT_LACKS(self->err, "no records");
	run(self, "graph " HZ "trace.rtd");
	EXPECT_EQ(3, self->status);
}

/* If messages are missing during a call, the return may belong to another call. */
TEST_F(command, system_calls_with_possible_losses_are_omitted)
{
	struct gen_stream stream;

	begin(self, 0);
	sync_at(self, 0, 1000);
	put_begin(self, &stream, 0);
	IN(0, 2000);
	CALL(3000, 63);
	self->gen.now = 4000;
	gen_error(&self->gen, 0);
	IN(0, 5000);
	RETURN(6000, 0);
	CALL(6100, 64);
	RETURN(6200, 0);
	put_record(self, &stream, 6300, 0, MAIN);
	EXITED(0, 7000);
	save_with(self, 0, "");
	run(self, "report " HZ "trace.rtd");
	EXPECT_HAS(self->err, "1 system call is left out: records may be missing during a call");
	EXPECT_HAS(self->out, "  write\n");
	EXPECT_LACKS(self->out, "  read\n");
}

TEST_HARNESS_MAIN

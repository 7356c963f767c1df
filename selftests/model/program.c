// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program for instruction trace. For each mode, it turns on the trace of its own hart, executes
 * each kind of control transfer, and turns the trace off. program.sh compares the traces with the
 * instructions that the emulator executed.
 */
#include "guest.h"

/*
 * Enough iterations to overflow every counter, and enough nested calls to exceed the depth that a
 * decoder tracks.
 */
#ifndef LONG
#define LONG		23000
#endif

/*
 * Address of the first trace. Each trace has separate memory, so all are kept until the program
 * ends.
 */
#define TRACES		0x84000000u
#define TRACE_SIZE	0x100000u

#define MODE(n)		((n) << 4)
#define SYNC_BTM(n)	((uint32_t)(n) << 16)
#define SYNC_INST(n)	((uint32_t)(n) << 20)
#define NO_SYNC		(SYNC_BTM(15) | SYNC_INST(15))
#define TS_BRANCH(n)	(TR_TS_ACTIVE | TR_TS_COUNT | TR_TS_ENABLE | (uint32_t)(n) << 16)

#define BTM		MODE(3)
#define HTM		MODE(6)
#define OPTIMISED	MODE(7)
#define STALL		TR_CONTROL_STALL_ENABLE

static uint32_t trace = TRACES;
static volatile unsigned int sink;

/* The trap handler. After an exception, it returns to the next instruction. */
__asm__("	.balign 4\n"
	"trap:	addi	sp, sp, -256\n"
	"	sd	ra, 0(sp)\n"
	"	sd	t0, 8(sp)\n"
	"	sd	t1, 16(sp)\n"
	"	csrr	t0, mcause\n"
	"	bltz	t0, 1f\n"
	"	csrr	t0, mepc\n"
	"	lhu	t1, 0(t0)\n"
	"	andi	t1, t1, 3\n"
	"	addi	t0, t0, 2\n"
	"	addi	t1, t1, -3\n"
	"	bnez	t1, 2f\n"
	"	addi	t0, t0, 2\n"
	"2:	csrw	mepc, t0\n"
	"	j	3f\n"
	"1:	call	interrupt\n"
	"3:	ld	ra, 0(sp)\n"
	"	ld	t0, 8(sp)\n"
	"	ld	t1, 16(sp)\n"
	"	addi	sp, sp, 256\n"
	"	mret\n"
	"interrupt:\n"
	"	li	t0, 0x02004000\n"
	"	li	t1, -1\n"
	"	sd	t1, 0(t0)\n"
	"	ret\n"
	/* Runs in user mode until an ecall, which returns to machine mode. */
	"user:	la	t0, 4f\n"
	"	csrw	mepc, t0\n"
	"	li	t0, 0x1800\n"
	"	csrc	mstatus, t0\n"
	"	la	t0, 5f\n"
	"	csrw	mtvec, t0\n"
	"	mret\n"
	"4:	li	t0, 5\n"
	"6:	addi	t0, t0, -1\n"
	"	bnez	t0, 6b\n"
	"	ecall\n"
	"	.balign 4\n"
	"5:	la	t0, trap\n"
	"	csrw	mtvec, t0\n"
	"	ret\n"
	/* Calls through both link registers, and coroutines that swap them. */
	"links:	mv	a7, ra\n"
	"	jal	t0, 7f\n"
	"	la	t1, 8f\n"
	"	jalr	ra, 0(t1)\n"
	"	jalr	t0, 0(ra)\n"
	"	mv	ra, a7\n"
	"	ret\n"
	"7:	jr	t0\n"
	"8:	mv	t0, ra\n"
	"	jalr	ra, 0(t0)\n"
	"	jr	t0\n");

void trap(void);
void user(void);
void links(void);

__attribute__((noinline)) static unsigned int fib(unsigned int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static unsigned int deep(unsigned int n)
{
	unsigned int below = n ? deep(n - 1) : 0;

	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

static void one(void) { sink += 1; }
static void two(void) { sink += 2; }
static void three(void) { sink += fib(3); }
static void (*const pointers[])(void) = { one, two, three };

__attribute__((noinline)) static void indirect(void)
{
	unsigned int i;

	for (i = 0; i < 9; i++)
		pointers[i % 3]();
}

__attribute__((noinline)) static void branches(void)
{
	unsigned int i;

	for (i = 0; i < 200; i++) {
		if (i & 1)
			sink++;
		if (i % 3 == 0)
			sink += i;
		else if (i % 7 == 0)
			sink -= i;
	}
}

/* Loops with one branch, which is taken in all iterations but the last, or only in the last. */
__attribute__((noinline)) static void loops(unsigned int n)
{
	unsigned int i = n;

	__asm__ volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r"(i));
	i = n;
	__asm__ volatile("1: beqz %0, 2f\n\taddi %0, %0, -1\n\tj 1b\n2:" : "+r"(i));
}

__attribute__((noinline)) static void traps(void)
{
	__asm__ volatile("ecall\n\tebreak\n\tc.ebreak\n\t.word 0\n\tld t2, 0(zero)" : : : "t2");
	*(volatile uint64_t *)MTIMECMP = now() + 2;
	__asm__ volatile("csrs mie, %0\n\tcsrsi mstatus, 8" : : "r"(1 << 7));
	branches();
	*(volatile uint64_t *)MTIMECMP = now() + 20;
	__asm__ volatile("wfi");
	branches();
	__asm__ volatile("csrci mstatus, 8");
}

static void work(unsigned int iterations)
{
	sink += fib(8);
	indirect();
	branches();
	loops(iterations);
	links();
	traps();
	user();
	sink += deep(iterations);
}

static void depth(unsigned int n)
{
	sink += deep(n);
}

static void hexadecimal(uint32_t value)
{
	char text[] = "0x00000000 ";
	int i;

	for (i = 9; i > 1; i--, value >>= 4)
		text[i] = "0123456789abcdef"[value & 15];
	print(text);
}

/* Print a trace's address and size; the board then saves the trace as @name. */
static void save(uint32_t address, uint32_t size, const char *name)
{
	print("trace ");
	hexadecimal(address);
	hexadecimal(size);
	print(name);
	print("\n");
}

static void piece(const char *name, uint32_t control, uint32_t ts, void (*f)(unsigned int),
		  unsigned int n)
{
	control |= TR_CONTROL_ACTIVE;
	wr(TR_CONTROL, 0);
	wr(TR_CONTROL, TR_CONTROL_ACTIVE);
	wr(TR_TS_CONTROL, TR_TS_ACTIVE);
	wr(TR_TS_CONTROL, ts);
	wr(TR_SINK_BASE, trace);
	wr(TR_SINK_BASE_HIGH, 0);
	wr(TR_SINK_LIMIT, trace + TRACE_SIZE - 4);
	wr(TR_SINK_WP, trace);
	wr(TR_CONTROL, control | TR_CONTROL_ENABLE | TR_CONTROL_TRACING);
	f(n);
	wr(TR_CONTROL, control | TR_CONTROL_ENABLE);
	wr(TR_CONTROL, control);
	while (!(rd(TR_CONTROL) & TR_CONTROL_EMPTY))
		;
	save(trace, rd(TR_SINK_WP) - trace, name);
	trace += TRACE_SIZE;
}

void guest(void)
{
	__asm__ volatile("csrw mtvec, %0" : : "r"(trap));
	__asm__ volatile("csrw pmpaddr0, %0\n\tcsrw pmpcfg0, %1" : : "r"(-1L), "r"(0x1f));
	piece("btm", BTM | NO_SYNC, 0, work, 40);
	piece("htm", HTM | NO_SYNC, 0, work, 40);
	piece("optimised", OPTIMISED | NO_SYNC, 0, work, 40);
	piece("btm-periods", BTM | STALL | SYNC_BTM(0) | SYNC_INST(1), TS_BRANCH(3), work, 70);
	piece("htm-periods", HTM | STALL | SYNC_BTM(0) | SYNC_INST(4), TS_BRANCH(1), work, 70);
	piece("optimised-periods", OPTIMISED | STALL | SYNC_BTM(1) | SYNC_INST(5), TS_BRANCH(2),
	      work, 70);
	piece("btm-long", BTM | NO_SYNC, 0, loops, LONG);
	piece("htm-long", HTM | NO_SYNC, 0, loops, LONG);
	piece("optimised-long", OPTIMISED | NO_SYNC, 0, loops, LONG);
	piece("optimised-deep", OPTIMISED | NO_SYNC, 0, depth, LONG / 16);
	end();
}

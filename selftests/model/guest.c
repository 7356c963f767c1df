// SPDX-License-Identifier: GPL-2.0-only
/*
 * An encoder's effects on its hart, in bare machine mode: stalls that take time. TAP
 * goes to the serial port. guest.sh sets the encoder up so that a byte leaves its
 * 76-byte FIFO in 100 us.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../include/uapi/linux/sifive_trace_regs.h"

#define UART		0x10000000ul
#define MTIMECMP	0x02004000ul
#define MTIME		0x0200bff8ul
#define TE		0x11000000ul

#define OFF	(TR_CONTROL_ACTIVE | TR_CONTROL_STALL_ENABLE | \
		 (TR_CONTROL_INSTRUMENTATION & -TR_CONTROL_INSTRUMENTATION))	/* ITC */
#define ON	(OFF | TR_CONTROL_ENABLE | TR_CONTROL_TRACING)

#define TICKS_A_BYTE	1000	/* mtime runs at 10 MHz */
#define DEPTH		76

static uint8_t buffer[4096] __attribute__((aligned(64)));
static unsigned int tests;
static volatile uint32_t made;	/* messages at the time of the interrupt */

__asm__(".section .text.start, \"ax\"\n"
	".globl _start\n"
	"_start:\n"
	"	csrr	t0, mhartid\n"
	"	bnez	t0, 1f\n"
	"	la	sp, stack + 8192\n"
	"	call	guest\n"
	"1:	wfi\n"
	"	j	1b\n"
	"	.bss\n"
	"	.balign 16\n"
	"stack:	.space 8192\n"
	"	.text\n");

static uint32_t rd(unsigned int offset)
{
	return *(volatile uint32_t *)(TE + offset);
}

static void wr(unsigned int offset, uint32_t value)
{
	*(volatile uint32_t *)(TE + offset) = value;
}

static uint64_t now(void)
{
	return *(volatile uint64_t *)MTIME;
}

static void print(const char *text)
{
	while (*text)
		*(volatile char *)UART = *text++;
}

static void result(bool ok, const char *what)
{
	char number[] = { (char)('0' + ++tests), ' ', '\0' };

	print(ok ? "ok " : "not ok ");
	print(number);
	print(what);
	print("\n");
}

/* A message of four bytes. */
static void store(void)
{
	wr(TR_ITC_STIMULUS, 0x40);
}

static void start(void)
{
	wr(TR_CONTROL, 0);
	wr(TR_CONTROL, TR_CONTROL_ACTIVE);
	wr(TR_ITC_ENABLE, 0xffffffff);
	wr(TR_SINK_BASE, (uint32_t)(uintptr_t)buffer);
	wr(TR_SINK_BASE_HIGH, 0);
	wr(TR_SINK_LIMIT, (uint32_t)(uintptr_t)buffer + sizeof(buffer) - 4);
	wr(TR_SINK_WP, (uint32_t)(uintptr_t)buffer);
	wr(TR_CONTROL, ON);
}

static unsigned int stop(void)
{
	wr(TR_CONTROL, OFF);
	while (!(rd(TR_CONTROL) & TR_CONTROL_EMPTY))
		;
	return rd(TR_SINK_WP) - (uint32_t)(uintptr_t)buffer;
}

/* Until a store of any size would stall. */
static unsigned int fill(void)
{
	unsigned int n;

	for (n = 0; rd(TR_ITC_STIMULUS); n++)
		store();
	return n;
}

static void stores_take_as_long_as_the_bytes(void)
{
	unsigned int n = 200, bytes;
	uint64_t before, took;

	start();
	before = now();
	while (n--)
		store();
	took = now() - before;
	result(rd(TR_CONTROL) & TR_CONTROL_STALL_OR_OVERFLOW, "a stall sets teStallOrOverflow");
	bytes = stop();
	result(took >= (uint64_t)(bytes - DEPTH) * TICKS_A_BYTE,
	       "stores take as long as what leaves the FIFO");
	result(bytes == 3 + 200 * 4 + 3 + 2 && rd(TR_WORD_COUNT) == 200,
	       "each store is one message");
}

__attribute__((interrupt, aligned(4))) static void interrupt(void)
{
	made = rd(TR_WORD_COUNT);
	*(volatile uint64_t *)MTIMECMP = UINT64_MAX;
}

static void an_interrupt_ends_the_wait(void)
{
	unsigned int n;

	start();
	n = fill();
	__asm__ volatile("csrw mtvec, %0" : : "r"(interrupt));
	*(volatile uint64_t *)MTIMECMP = now() + TICKS_A_BYTE / 4;
	__asm__ volatile("csrs mie, %0\n\tcsrsi mstatus, 8" : : "r"(1 << 7));
	store();
	__asm__ volatile("csrci mstatus, 8");
	result(made == n, "an interrupt is taken while a store waits");
	stop();
	result(rd(TR_WORD_COUNT) == n + 1, "and the store is made once");
}

/* The first half waits; the second does not, as it could not be repeated alone. */
static void a_store_of_64_bits_is_made_once(void)
{
	unsigned int n;

	start();
	n = fill();
	*(volatile uint64_t *)(TE + TR_ITC_STIMULUS + 4 * 2) = 0x0000000200000001ull;
	stop();
	result(rd(TR_WORD_COUNT) == n + 2, "a store of 64 bits that waits is two messages");
}

void guest(void);
void guest(void)
{
	char plan[] = "1..0\ndone\n";

	stores_take_as_long_as_the_bytes();
	an_interrupt_ends_the_wait();
	a_store_of_64_bits_is_made_once();
	plan[3] = (char)('0' + tests);
	print(plan);
}

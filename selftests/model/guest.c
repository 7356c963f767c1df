// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests how an encoder stalls its hart. guest.sh sets the encoder up so that one byte leaves its
 * 76-byte FIFO every 100 us.
 */
#include "guest.h"

#define TICKS_A_BYTE	1000	/* mtime runs at 10 MHz */
#define DEPTH		76

static volatile uint32_t made;	/* number of messages before the interrupt */

/* Store until the FIFO is too full for the longest message. */
static unsigned int fill(void)
{
	unsigned int n;

	for (n = 0; rd(TR_ITC_STIMULUS); n++)
		store();
	return n;
}

static void stores_take_as_long_as_sending(void)
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
	       "stores take as long as the FIFO takes to drain their bytes");
	result(bytes == 3 + 200 * 4 + 3 + 2 && rd(TR_WORD_COUNT) == 200,
	       "each store is one message");
}

__attribute__((interrupt, aligned(4))) static void interrupt(void)
{
	made = rd(TR_WORD_COUNT);
	*(volatile uint64_t *)MTIMECMP = UINT64_MAX;
}

static void interrupt_ends_wait(void)
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
	result(rd(TR_WORD_COUNT) == n + 1, "an interrupted store takes effect once");
}

/*
 * The first half of a 64-bit store waits for room. The second half does not wait, because it cannot
 * be repeated alone.
 */
static void wide_store_is_made_once(void)
{
	unsigned int n;

	start();
	n = fill();
	*(volatile uint64_t *)(TE + TR_ITC_STIMULUS + 4 * 2) = 0x0000000200000001ull;
	stop();
	result(rd(TR_WORD_COUNT) == n + 2, "a 64-bit store that waits produces two messages");
}

void guest(void)
{
	stores_take_as_long_as_sending();
	interrupt_ends_wait();
	wide_store_is_made_once();
	end();
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the programs of guest.sh, which start in bare machine mode on one hart, with
 * the encoder of board nofunnel, and print TAP to the serial port. If a program defines SECOND,
 * its function second() runs on hart 1.
 */
#ifndef GUEST_H
#define GUEST_H

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

static uint8_t buffer[4096] __attribute__((aligned(64)));
static unsigned int tests;

__asm__(".section .text.start, \"ax\"\n"
	".globl _start\n"
	"_start:\n"
	"	csrr	t0, mhartid\n"
	"	bnez	t0, 1f\n"
	"	la	sp, stack + 65536\n"
	"	call	guest\n"
	"1:\n"
#ifdef SECOND
	"	addi	t0, t0, -1\n"
	"	bnez	t0, 2f\n"
	"	la	sp, stack + 32768\n"
	"	call	second\n"
#endif
	"2:	wfi\n"
	"	j	2b\n"
	"	.bss\n"
	"	.balign 16\n"
	"stack:	.space 65536\n"
	"	.text\n");

static inline uint32_t rd(unsigned int offset)
{
	return *(volatile uint32_t *)(TE + offset);
}

static inline void wr(unsigned int offset, uint32_t value)
{
	*(volatile uint32_t *)(TE + offset) = value;
}

static inline uint64_t now(void)
{
	return *(volatile uint64_t *)MTIME;
}

static inline void print(const char *text)
{
	while (*text)
		*(volatile char *)UART = *text++;
}

static inline void result(bool ok, const char *what)
{
	char number[] = { (char)('0' + ++tests), ' ', '\0' };

	print(ok ? "ok " : "not ok ");
	print(number);
	print(what);
	print("\n");
}

/* Store a message of four bytes. */
static inline void store(void)
{
	wr(TR_ITC_STIMULUS, 0x40);
}

static inline void start(void)
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

static inline unsigned int stop(void)
{
	wr(TR_CONTROL, OFF);
	while (!(rd(TR_CONTROL) & TR_CONTROL_EMPTY))
		;
	return rd(TR_SINK_WP) - (uint32_t)(uintptr_t)buffer;
}

/* Print the plan and report the program's end to the board. */
static inline void end(void)
{
	char plan[] = "1..0\ndone\n";

	plan[3] = (char)('0' + tests);
	print(plan);
}

void guest(void);

#endif /* GUEST_H */

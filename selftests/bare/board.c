// SPDX-License-Identifier: GPL-2.0-only
/*
 * The board without Linux: its trace components, TAP on the serial port, and lines
 * "trace ADDRESS BYTES NAME" that "board bare" executes.
 */
#include "sifive_bare_perf.h"

#include "bare.h"

struct TraceRegMemMap volatile *tmm[] = {
	(struct TraceRegMemMap *)0x11000000, (struct TraceRegMemMap *)0x11001000,
};

struct TfTraceRegMemMap volatile *fmm = (struct TfTraceRegMemMap *)0x11018000;

void (*volatile second_hart)(void);

void start_second(void (*function)(void))
{
	volatile uint32_t *software = (uint32_t *)perfClintAddress;

	second_hart = function;
	__asm__ volatile("fence rw, ow" : : : "memory");
	software[1] = 1;
}

void *memset(void *to, int value, size_t size)
{
	volatile char *at = to;

	while (size--)
		*at++ = (char)value;
	return to;
}

void *memcpy(void *to, const void *from, size_t size)
{
	volatile char *at = to;
	const char *source = from;

	while (size--)
		*at++ = *source++;
	return to;
}

static void print(const char *text)
{
	volatile char *uart = (char *)0x10000000;

	while (*text)
		*uart = *text++;
}

static void print_hex(unsigned long value)
{
	char text[2 * sizeof(value) + 1];
	unsigned int i = sizeof(text) - 1;

	text[i] = '\0';
	do {
		text[--i] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	print("0x");
	print(&text[i]);
}

/* Print a number below 100. */
static void print_decimal(unsigned int value)
{
	char text[] = { (char)('0' + value / 10), (char)('0' + value % 10), '\0' };

	print(value < 10 ? &text[1] : text);
}

void tell(const char *what, unsigned int value)
{
	print("# ");
	print(what);
	print(" ");
	print_hex(value);
	print("\n");
}

static unsigned int tests;

void result(bool ok, const char *what)
{
	print(ok ? "ok " : "not ok ");
	print_decimal(++tests);
	print(" ");
	print(what);
	print("\n");
}

void results_end(void)
{
	print("1..");
	print_decimal(tests);
	print("\ndone\n");
}

void bail_out(unsigned long cause, unsigned long pc)
{
	print("Bail out! trap ");
	print_hex(cause);
	print(" at ");
	print_hex(pc);
	print("\ndone\n");
	for (;;)
		;
}

void hand_out(const void *buffer, uint32_t bytes, const char *name)
{
	print("trace ");
	print_hex((uintptr_t)buffer);
	print(" ");
	print_hex(bytes);
	print(" ");
	print(name);
	print("\n");
}

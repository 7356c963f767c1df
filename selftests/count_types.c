// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes manual records, separated by loops of increasing length, and prints the values of cycle
 * and instret just before each record. Records of each count type must decode to these values.
 *
 *	count_types raw|delta|xor FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sifive_linux_perf.h"

#define MARKS 12

static perfEvent events[] = {
	{ .type = perfEventHWGeneral, .code = HW_CPU_CYCLES },
	{ .type = perfEventHWGeneral, .code = HW_TIMESTAMP },
	{ .type = perfEventHWGeneral, .code = HW_INSTRUCTIONS },
	{ .type = perfEventHWRaw, .event_data = 2 },
};

static unsigned long cycles[MARKS], instructions[MARKS];

static void spin(unsigned long n)
{
	while (n--)
		asm volatile("" : : : "memory");
}

int main(int argc, char **argv)
{
	static const char * const names[] = { "raw", "delta", "xor" };
	int type, i;

	if (argc != 3)
		return 2;
	for (type = 0; type < 3 && strcmp(argv[1], names[type]); type++)
		;
	if (perfInit(1, 1) ||
	    perfManualInit(events, sizeof(events) / sizeof(events[0]), 6,
			   (perfCountType_t)type, 64 * 1024) ||
	    perfTraceOn()) {
		fprintf(stderr, "%s\n", perfErrorString());
		return 1;
	}
	for (i = 0; i < MARKS; i++) {
		spin(1000ul << i);
		asm volatile("csrr %0, cycle" : "=r" (cycles[i]));
		asm volatile("csrr %0, instret" : "=r" (instructions[i]));
		if (perfWriteCntrs()) {
			fprintf(stderr, "%s\n", perfErrorString());
			return 1;
		}
	}
	if (perfTraceOff() || perfWriteTrace(argv[2])) {
		fprintf(stderr, "%s\n", perfErrorString());
		return 1;
	}
	for (i = 0; i < MARKS; i++)
		printf("%lu %lu\n", cycles[i], instructions[i]);
	return 0;
}

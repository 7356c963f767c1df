/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Generates instruction trace messages for flow_sample.S, one at a time. */
#ifndef SELFTESTS_UNIT_FLOW_MESSAGES_H
#define SELFTESTS_UNIT_FLOW_MESSAGES_H

#include "command_fixture.h"

/* The functions of flow_sample.S, whose instructions have two halfwords. */
#define CODE		0x30000ull
#define PLAIN		(CODE + 0x100)
#define HANDLER		(CODE + 0x600)
#define HOP		(CODE + 0x800)
#define PROBED		(CODE + 0x900)
#define CALLER		(CODE + 0xa00)
#define TURN		(CODE + 0xb00)
#define FORK		(CODE + 0xf00)

#define KERNEL		0xffffffff80000000ull
#define FIRMWARE	0x80000000ull
#define SIDE_CAR(calls)	"{\"version\":1,\"instruction\":{\"calls\":" calls "}}"

/* The source of the messages, and each source's latest address. */
static uint8_t source;
static uint64_t latest[2];

static inline void indirect(struct gen *gen, uint8_t btype, uint64_t halfwords, uint64_t to)
{
	const uint8_t bits[] = { 2, 0 };
	const uint64_t field[] = { halfwords, (to ^ latest[source]) >> 1 };

	gen_message(gen, 4, source, &btype, bits, field, 2);
	latest[source] = to;
}

static inline void begin(struct gen *gen, uint64_t address)
{
	const uint8_t fixed[] = { 5 }, bits[] = { 4, 0 };
	const uint64_t field[] = { 0, address >> 1 };

	gen_message(gen, 9, source, fixed, bits, field, 2);
	latest[source] = address;
}

static inline void context(struct gen *gen, uint64_t tid)
{
	const uint64_t process = tid << 5 | 2;

	gen_message(gen, 2, source, NULL, NULL, &process, 1);
}

/* Append the message sent when tracing stops, @halfwords halfwords after the last branch. */
static inline void stop(struct gen *gen, uint64_t halfwords)
{
	const uint8_t fixed[] = { 4, 0 }, bits[] = { 4, 2, 0 };

	gen_message(gen, 33, source, fixed, bits, &halfwords, 1);
}

/* Print the number of calls on each path of a kernel trace. @calls is the side-car file. */
static inline void print_kernel(FIXTURE_DATA(command) *self, const char *calls)
{
	save(self, "t");
	write_file("t.meta", calls, strlen(calls));
	run(self, "export -q --strict -s 0 --format folded --weight calls -e " CALLS
	    " -e " CALLS "@0xffffffff80000000 t");
}

#endif /* SELFTESTS_UNIT_FLOW_MESSAGES_H */

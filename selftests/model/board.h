/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A QEMU process with trace components and no guest, driven over the qtest
 * protocol (registers, memory, the virtual clock) and QMP (properties).
 *
 * The register offsets here are written down from the hardware description a
 * second time: they do not come from the model.
 */
#ifndef MODEL_BOARD_H
#define MODEL_BOARD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define TE		0x11000000ul
#define TE1		0x11001000ul
#define TF		0x11018000ul
#define TF1		0x11019000ul
#define RAM		0x80000000ul
#define BUFFER		0x80100000ul

#define CONTROL		0x000
#define IMPL		0x004
#define IMPL_EXTRA	0x008
#define EVENT_CONTROL	0x00c
#define SINK_BASE	0x010
#define SINK_BASE_HIGH	0x014
#define SINK_LIMIT	0x018
#define SINK_WP		0x01c
#define SINK_RP		0x020
#define SINK_DATA	0x024
#define FIFO_LEVEL	0x030
#define BTM_COUNT	0x034
#define WORD_COUNT	0x038
#define TS_CONTROL	0x040
#define TS_LOWER	0x044
#define TS_UPPER	0x048
#define XTI_CONTROL	0x050
#define ITC_TRACE	0x060
#define ITC_TRIG	0x064
#define STIMULUS(n)	(0x080 + 4 * (n))
#define ATB_CONTROL	0xe00
#define PIB_CONTROL	0xf00

#define ACTIVE		(1u << 0)
#define ENABLE		(1u << 1)
#define TRACING		(1u << 2)
#define EMPTY		(1u << 3)
#define ITC		(1u << 7)	/* teInstrumentation = 1 */
#define LOST		(1u << 12)	/* teStallOrOverflow */
#define STALL		(1u << 13)
#define STOP_ON_WRAP	(1u << 14)
#define INHIBIT_SRC	(1u << 15)
#define SINK_ERROR	(1u << 27)
#define SINK(kind)	((uint32_t)(kind) << 28)
#define SLICE_FORMAT	(1u << 24)
#define WRAPPED		1u

#define ON		(ACTIVE | ENABLE | TRACING | ITC)
#define OFF		(ACTIVE | ITC)

#define TS_ACTIVE	(1u << 0)
#define TS_COUNT	(1u << 1)
#define TS_RESET	(1u << 2)
#define TS_PRESCALE(n)	((uint32_t)(n) << 8)
#define TS_ENABLE	(1u << 15)
#define TS_INSTR	(1u << 18)
#define TS_OWNER	(1u << 19)

enum { SRAM = 4, ATB = 5, PIB = 6, SBA = 7, FUNNEL = 8 };

/* Longer than the default flush-ns. */
#define FLUSH_NS	2000

struct board {
	pid_t pid;
	FILE *to, *from;	/* qtest */
	FILE *qmp;
};

/* Both end the test program when QEMU does not answer as expected. */
void board_start(struct board *b, const char *args);
void board_stop(struct board *b);

/* What QEMU says when it refuses args; fails the test if it starts. */
const char *board_refuses(const char *args);

uint32_t rd(struct board *b, uint64_t addr);
uint32_t rd8(struct board *b, uint64_t addr);
uint32_t rd16(struct board *b, uint64_t addr);
void wr(struct board *b, uint64_t addr, uint32_t value);
void wr8(struct board *b, uint64_t addr, uint8_t value);
void wr16(struct board *b, uint64_t addr, uint16_t value);
uint64_t rd64(struct board *b, uint64_t addr);
void wr64(struct board *b, uint64_t addr, uint64_t value);
void step(struct board *b, uint64_t ns);

/* len bytes at addr as "01 02 ..."; the string lives until the next call. */
const char *memory(struct board *b, uint64_t addr, unsigned int len);
void memory_fill(struct board *b, uint64_t addr, unsigned int len, uint8_t byte);

/* A number, of any object of QEMU. */
uint64_t property(struct board *b, const char *path, const char *name);

/* Properties of the component with that id. */
uint64_t stat(struct board *b, const char *id, const char *name);
void set(struct board *b, const char *id, const char *name, const char *json);

void system_reset(struct board *b);

/* Program the own sink of a component at block: an active, disabled one. */
void sink_window(struct board *b, uint64_t block, uint64_t base, uint32_t size,
		 uint32_t word);

/* Reset an encoder, timestamps by ts (TS_...), all stimulus registers on. */
void setup_encoder(struct board *b, uint64_t block, uint32_t ts);

/* Reset a funnel; its timestamps run from 0 at this moment. */
void setup_funnel(struct board *b, uint64_t block);

#endif

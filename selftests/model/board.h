/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A QEMU process with trace components and no guest, driven over the qtest protocol
 * (registers, memory, the virtual clock) and QMP (properties).
 *
 * The register offsets are transcribed from the hardware description independently of
 * the model.
 */
#ifndef MODEL_BOARD_H
#define MODEL_BOARD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "../../include/uapi/linux/sifive_trace_regs.h"

#define TE		0x11000000ul
#define TE1		0x11001000ul
#define TF		0x11018000ul
#define TF1		0x11019000ul
#define RAM		0x80000000ul
#define BUFFER		0x80100000ul

/* Shorter names. */
#define CONTROL		TR_CONTROL
#define IMPL		TR_IMPL
#define IMPL_EXTRA	TR_IMPL_EXTRA
#define EVENT_CONTROL	TR_EVENT_CONTROL
#define SINK_BASE	TR_SINK_BASE
#define SINK_BASE_HIGH	TR_SINK_BASE_HIGH
#define SINK_LIMIT	TR_SINK_LIMIT
#define SINK_WP		TR_SINK_WP
#define SINK_RP		TR_SINK_RP
#define SINK_DATA	TR_SINK_DATA
#define FIFO_LEVEL	TR_FIFO_LEVEL
#define BTM_COUNT	TR_BTM_COUNT
#define WORD_COUNT	TR_WORD_COUNT
#define TS_CONTROL	TR_TS_CONTROL
#define TS_LOWER	TR_TS_LOWER
#define TS_UPPER	TR_TS_UPPER
#define XTI_CONTROL	TR_XTI_CONTROL
#define ITC_TRACE	TR_ITC_ENABLE
#define ITC_TRIG	TR_ITC_TRIGGER
#define STIMULUS(n)	(TR_ITC_STIMULUS + 4 * (n))
#define ATB_CONTROL	TR_ATB_CONTROL
#define PIB_CONTROL	TR_PIB_CONTROL

/* Shift a value to the position of its field. */
#define FIELD(mask, value)	((uint32_t)(value) * ((mask) & -(mask)))

#define ACTIVE		TR_CONTROL_ACTIVE
#define ENABLE		TR_CONTROL_ENABLE
#define TRACING		TR_CONTROL_TRACING
#define EMPTY		TR_CONTROL_EMPTY
#define ITC		FIELD(TR_CONTROL_INSTRUMENTATION, TR_INSTRUMENTATION_ITC)
#define LOST		TR_CONTROL_STALL_OR_OVERFLOW
#define STALL		TR_CONTROL_STALL_ENABLE
#define STOP_ON_WRAP	TR_CONTROL_STOP_ON_WRAP
#define INHIBIT_SRC	TR_CONTROL_INHIBIT_SRC
#define SINK_ERROR	TR_CONTROL_SINK_ERROR
#define SINK(kind)	FIELD(TR_CONTROL_SINK, kind)
#define SLICE_FORMAT	FIELD(TR_CONTROL_SLICE_FORMAT, 1)
#define WRAPPED		TR_SINK_WP_WRAPPED

#define ON		(ACTIVE | ENABLE | TRACING | ITC)
#define OFF		(ACTIVE | ITC)

#define TS_ACTIVE	TR_TS_ACTIVE
#define TS_COUNT	TR_TS_COUNT
#define TS_RESET	TR_TS_RESET
#define TS_PRESCALE(n)	FIELD(TR_TS_PRESCALE, n)
#define TS_ENABLE	TR_TS_ENABLE
#define TS_INSTR	TR_TS_INSTRUMENTATION
#define TS_OWNER	TR_TS_OWNERSHIP

enum { SRAM = TR_SINK_SRAM, ATB, PIB, SBA = TR_SINK_SBA, FUNNEL = TR_SINK_FUNNEL };

/* A time in ns, longer than the default flush-ns. */
#define FLUSH_NS	2000

struct board {
	pid_t pid;
	FILE *to, *from;	/* qtest */
	FILE *qmp;
};

/* board_start() and board_stop() end the test program if QEMU's reply is unexpected. */
void board_start(struct board *b, const char *args);
void board_stop(struct board *b);

/* Return QEMU's error message for args; fail the test if QEMU starts. */
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

/* Return len bytes at addr as "01 02 ..."; the string is valid until the next call. */
const char *memory(struct board *b, uint64_t addr, unsigned int len);
void memory_fill(struct board *b, uint64_t addr, unsigned int len, uint8_t byte);

/* Return a numeric property of any QEMU object. */
uint64_t property(struct board *b, const char *path, const char *name);

/* Read and set properties of the component with this id. */
uint64_t stat(struct board *b, const char *id, const char *name);
void set(struct board *b, const char *id, const char *name, const char *json);

void system_reset(struct board *b);

/* Program the component's own sink, while the component is active and disabled. */
void sink_window(struct board *b, uint64_t block, uint64_t base, uint32_t size,
		 uint32_t word);

/* Reset an encoder, set its timestamp control to ts (TS_...), and enable all stimulus registers. */
void setup_encoder(struct board *b, uint64_t block, uint32_t ts);

/* Reset a funnel and start its timestamps from 0. */
void setup_funnel(struct board *b, uint64_t block);

#endif

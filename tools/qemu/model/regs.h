/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SiFive pre-ratified ("version 0") trace components: registers and fields.
 *
 * This is the device model's own description of the hardware. It shares nothing with the
 * driver's, so a mistake in either fails a test.
 */
#ifndef SIFIVE_TRACE_REGS_H
#define SIFIVE_TRACE_REGS_H

#include "hw/registerfields.h"

#define TRACE_BLOCK_SIZE        0x1000

/* teControl and tfControl; a funnel has only the fields marked "both". */
REG32(CONTROL, 0x000)
    FIELD(CONTROL, ACTIVE, 0, 1)                /* both */
    FIELD(CONTROL, ENABLE, 1, 1)                /* both */
    FIELD(CONTROL, TRACING, 2, 1)
    FIELD(CONTROL, EMPTY, 3, 1)                 /* both */
    FIELD(CONTROL, INSTRUCTION, 4, 3)
    FIELD(CONTROL, INSTRUMENTATION, 7, 2)
    FIELD(CONTROL, STALL_OR_OVERFLOW, 12, 1)
    FIELD(CONTROL, STALL_ENABLE, 13, 1)
    FIELD(CONTROL, STOP_ON_WRAP, 14, 1)         /* both */
    FIELD(CONTROL, INHIBIT_SRC, 15, 1)
    FIELD(CONTROL, SYNC_MAX_BTM, 16, 4)
    FIELD(CONTROL, SYNC_MAX_INST, 20, 4)
    FIELD(CONTROL, SLICE_FORMAT, 24, 3)
    FIELD(CONTROL, SINK_ERROR, 27, 1)           /* both */
    FIELD(CONTROL, SINK, 28, 4)                 /* both */

#define SLICE_FORMAT_6MDO_2MSEO 1

/* Values of the instruction field; 2, 4 and 5 are reserved on all cores. */
enum {
    INSTRUCTION_OFF = 0,
    INSTRUCTION_EVENT = 1,
    INSTRUCTION_BTM = 3,
    INSTRUCTION_HTM = 6,
    INSTRUCTION_HTM_OPTIMISED = 7,
};

/* Reset values of the two fields, according to the manual. */
#define SYNC_MAX_BTM_RESET      3
#define SYNC_MAX_INST_RESET     0xa

/*
 * The lowest reserved values of the two fields. Reserved values stop periodic Syncs.
 */
#define SYNC_MAX_BTM_RESERVED   0xc
#define SYNC_MAX_INST_RESERVED  0x6

enum {
    INSTRUMENTATION_OFF,
    INSTRUMENTATION_ITC,
    INSTRUMENTATION_OWNERSHIP,
    INSTRUMENTATION_OWNERSHIP_AND_ITC,
};

/* Values of the sink field. */
enum {
    SINK_DEFAULT = 0,
    SINK_SRAM = 4,
    SINK_ATB = 5,
    SINK_PIB = 6,
    SINK_SBA = 7,
    SINK_FUNNEL = 8,
};

/* teImpl and tfImpl. Bit n of 8:4: the sink of value n exists. */
REG32(IMPL, 0x004)
    FIELD(IMPL, VERSION, 0, 4)
    FIELD(IMPL, SINKS, 4, 5)
    FIELD(IMPL, SINK_BYTES, 16, 2)
    FIELD(IMPL, CROSSING_TYPE, 18, 2)
    FIELD(IMPL, SRC_ID, 20, 4)
    FIELD(IMPL, SRC_BITS, 24, 3)
    FIELD(IMPL, HART_ID, 28, 4)

/* SiFive's header names these registers without describing them. */
REG32(IMPL_EXTRA, 0x008)
REG32(EVENT_CONTROL, 0x00c)

REG32(SINK_BASE, 0x010)
REG32(SINK_BASE_HIGH, 0x014)
REG32(SINK_LIMIT, 0x018)
REG32(SINK_WP, 0x01c)
    FIELD(SINK_WP, WRAPPED, 0, 1)
REG32(SINK_RP, 0x020)
REG32(SINK_DATA, 0x024)

REG32(FIFO, 0x030)
REG32(BTM_COUNT, 0x034)
REG32(WORD_COUNT, 0x038)

REG32(TS_CONTROL, 0x040)
    FIELD(TS_CONTROL, ACTIVE, 0, 1)
    FIELD(TS_CONTROL, COUNT, 1, 1)
    FIELD(TS_CONTROL, RESET, 2, 1)
    FIELD(TS_CONTROL, RUN_IN_DEBUG, 3, 1)
    FIELD(TS_CONTROL, TYPE, 4, 3)
    FIELD(TS_CONTROL, PRESCALE, 8, 2)
    FIELD(TS_CONTROL, ENABLE, 15, 1)
    FIELD(TS_CONTROL, BRANCH, 16, 2)
    FIELD(TS_CONTROL, INSTRUMENTATION, 18, 1)
    FIELD(TS_CONTROL, OWNERSHIP, 19, 1)
    FIELD(TS_CONTROL, WIDTH, 24, 8)

/* Values of the branch field: program trace messages with a timestamp. */
enum {
    TS_BRANCH_OFF,
    TS_BRANCH_INDIRECT,     /* indirect branches, exceptions, interrupts */
    TS_BRANCH_TRAP,         /* exceptions, interrupts */
    TS_BRANCH_ALL,
};

REG32(TS_LOWER, 0x044)
REG32(TS_UPPER, 0x048)

REG32(XTI_CONTROL, 0x050)
REG32(XTO_CONTROL, 0x054)
REG32(WP_CONTROL, 0x058)

REG32(ITC_TRACE_ENABLE, 0x060)
REG32(ITC_TRIG_ENABLE, 0x064)
REG32(ITC_STIMULUS, 0x080)
#define STIMULUS_COUNT          32

REG32(PC_SAMPLING, 0x100)
#define PC_SAMPLING_COUNT       32

/* atbControl and pibControl: only the field that enables the output is known. */
REG32(ATB_CONTROL, 0xe00)
REG32(PIB_CONTROL, 0xf00)
#define OFF_CHIP_ENABLE         (1u << 1)

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIFIVE_TRACE_ENCODER_H
#define SIFIVE_TRACE_ENCODER_H

#include "component.h"
#include "instruction.h"

typedef struct TraceHart TraceHart;

struct TraceEncoder {
    TraceComponent parent_obj;

    uint32_t hart;
    uint32_t src;
    uint32_t src_bits;
    uint32_t crossing_type;
    bool btm;
    bool sync_max_reset;
    bool stall_or_overflow_rw;
    bool ts_in_messages;
    char *channel_rule;
    bool p550;
    uint32_t fifo_depth;
    uint32_t drain_ns;
    bool stall;
    bool stall_time;

    uint64_t last_ts;       /* timestamp of the last message */

    TraceHart *followed;    /* the hart whose instructions it traces; NULL if none */
    TraceInstruction instruction;

    /* Complete messages and their bytes; always empty if drain_ns is 0. */
    GQueue fifo;
    uint32_t level;
    bool lost;              /* messages are being dropped, Error not yet sent */
    uint32_t lost_kinds;    /* ECODE of that Error */
    GSList *stalled;        /* CPUState of harts that wait for room */
    QEMUTimer drain_timer;
};

DECLARE_INSTANCE_CHECKER(TraceEncoder, SIFIVE_TRACE_ENCODER,
                         TYPE_SIFIVE_TRACE_ENCODER)

/* encoder.c */
void encoder_begin(TraceEncoder *e, NexusMessage *m, unsigned tcode);
void encoder_finish(TraceEncoder *e, NexusMessage *m, bool timestamp, bool sync);
void encoder_error(TraceEncoder *e, NexusMessage *m);
void encoder_sync(TraceEncoder *e, NexusMessage *m);

/* hart.c */
void hart_find(TraceEncoder *e);
void hart_follow(TraceEncoder *e);
void hart_leave(TraceEncoder *e);
void hart_forget(TraceEncoder *e);
bool hart_is_pending(TraceEncoder *e);
bool hart_halt(TraceEncoder *e);
void hart_resume(CPUState *cpu);
void hart_free(TraceEncoder *e);

/* fifo.c */
void fifo_init(TraceEncoder *e);
void fifo_clear(TraceEncoder *e);
void fifo_drop(TraceEncoder *e);
void fifo_drain(TraceEncoder *e);
bool fifo_is_ready(TraceEncoder *e);
void fifo_hold_hart(TraceEncoder *e);
bool fifo_send(TraceEncoder *e, const NexusMessage *m);
uint64_t fifo_drain_ns(TraceEncoder *e);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instruction trace: turns a hart's control transfers into program trace messages. BTM
 * sends a message for each taken branch. HTM collects the outcomes of branches in a
 * history, and sends it with the next indirect jump; its optimised mode counts branches
 * with the same outcome once they fill the history, and omits returns to calls that the
 * decoder has seen.
 */
#include "qemu/osdep.h"
#include "encoder.h"

/* Number of retired half-words at which ResourceFull is sent. */
#define HALFWORDS_MAX   (1u << 16)

#define HISTORY_EMPTY   1u
#define HISTORY_FULL    (1u << 31)
#define HISTORY_BITS    31

#define RUN_MAX         (1u << 14)

/* Number of calls that a decoder of implicit returns must remember. */
#define CALLS_MAX       1023

bool instruction_is_wanted(uint32_t control)
{
    unsigned mode = FIELD_EX32(control, CONTROL, INSTRUCTION);

    return FIELD_EX32(control, CONTROL, ENABLE) &&
           FIELD_EX32(control, CONTROL, TRACING) &&
           mode != INSTRUCTION_OFF && mode != INSTRUCTION_EVENT;
}

static bool has_history(TraceInstruction *i)
{
    return i->mode != INSTRUCTION_BTM;
}

/* Whether a message that is neither a Sync nor the last one has a timestamp. */
static bool has_timestamp(TraceEncoder *e, bool indirect, bool trap)
{
    switch (FIELD_EX32(e->parent_obj.regs[R_TS_CONTROL], TS_CONTROL, BRANCH)) {
    case TS_BRANCH_INDIRECT:
        return indirect || trap;
    case TS_BRANCH_TRAP:
        return trap;
    case TS_BRANCH_ALL:
        return true;
    default:
        return false;
    }
}

/* A lost message breaks the flow, so the next one must be a Sync. */
static void send_message(TraceEncoder *e, NexusMessage *m, bool timestamp, bool sync)
{
    TraceInstruction *i = &e->instruction;

    encoder_finish(e, m, timestamp, sync);
    i->messages++;
    if (sync) {
        i->messages = 0;
        i->calls = 0;
    }
    i->lost = !fifo_send(e, m);
    e->parent_obj.regs[R_BTM_COUNT] += !i->lost;
}

static void put_halfwords(TraceInstruction *i, NexusMessage *m)
{
    nexus_variable(m, i->halfwords);
    i->halfwords = 0;
}

static void put_history(TraceInstruction *i, NexusMessage *m)
{
    nexus_variable(m, i->history);
    i->history = HISTORY_EMPTY;
}

static void put_address(TraceInstruction *i, NexusMessage *m, bool full)
{
    nexus_variable(m, (full ? i->pc : i->pc ^ i->address) >> 1);
    i->address = i->pc;
}

static void send_full(TraceEncoder *e, unsigned rcode, uint32_t rdata)
{
    NexusMessage m;

    encoder_begin(e, &m, NEXUS_RESOURCE_FULL);
    nexus_fixed(&m, rcode, 4);
    nexus_variable(&m, rdata);
    send_message(e, &m, has_timestamp(e, false, false), false);
}

static void send_run(TraceEncoder *e)
{
    TraceInstruction *i = &e->instruction;

    if (i->run) {
        send_full(e, i->run_taken ? NEXUS_RCODE_TAKEN : NEXUS_RCODE_NOT_TAKEN, i->run);
        i->run = 0;
    }
}

static void send_history(TraceEncoder *e)
{
    TraceInstruction *i = &e->instruction;

    send_run(e);
    if (i->history != HISTORY_EMPTY) {
        send_full(e, NEXUS_RCODE_HISTORY, i->history);
        i->history = HISTORY_EMPTY;
    }
}

static void program_sync(TraceEncoder *e, unsigned reason)
{
    TraceInstruction *i = &e->instruction;
    NexusMessage m;

    encoder_begin(e, &m, NEXUS_PROGRAM_SYNC);
    nexus_fixed(&m, reason, 4);
    put_halfwords(i, &m);
    put_address(i, &m, true);
    send_message(e, &m, true, true);
}

static void indirect_branch(TraceEncoder *e, unsigned btype, int reason)
{
    TraceInstruction *i = &e->instruction;
    bool sync = reason >= 0;
    NexusMessage m;

    send_run(e);
    if (has_history(i)) {
        encoder_begin(e, &m, sync ? NEXUS_INDIRECT_BRANCH_HISTORY_SYNC :
                                    NEXUS_INDIRECT_BRANCH_HISTORY);
    } else {
        encoder_begin(e, &m, sync ? NEXUS_INDIRECT_BRANCH_SYNC : NEXUS_INDIRECT_BRANCH);
    }
    if (sync) {
        nexus_fixed(&m, reason, 4);
    }
    nexus_fixed(&m, btype, 2);
    put_halfwords(i, &m);
    put_address(i, &m, sync);
    if (has_history(i)) {
        put_history(i, &m);
    }
    send_message(e, &m, has_timestamp(e, true, btype != NEXUS_BTYPE_INDIRECT), sync);
}

static void direct_branch(TraceEncoder *e, int reason)
{
    TraceInstruction *i = &e->instruction;
    bool sync = reason >= 0;
    NexusMessage m;

    encoder_begin(e, &m, sync ? NEXUS_DIRECT_BRANCH_SYNC : NEXUS_DIRECT_BRANCH);
    if (sync) {
        nexus_fixed(&m, reason, 4);
    }
    put_halfwords(i, &m);
    if (sync) {
        put_address(i, &m, true);
    }
    send_message(e, &m, has_timestamp(e, false, false), sync);
}

static void add_outcome(TraceEncoder *e, bool taken)
{
    TraceInstruction *i = &e->instruction;

    if (i->run && taken == i->run_taken) {
        if (++i->run == RUN_MAX) {
            send_run(e);
        }
        return;
    }
    send_run(e);
    i->history = i->history << 1 | taken;
    if (!(i->history & HISTORY_FULL)) {
        return;
    }
    if (i->mode == INSTRUCTION_HTM_OPTIMISED &&
        (i->history == HISTORY_FULL || i->history == UINT32_MAX)) {
        i->run = HISTORY_BITS;
        i->run_taken = taken;
        i->history = HISTORY_EMPTY;
    } else {
        send_history(e);
    }
}

/* With a reserved value, no periodic Sync is sent. */
static int periodic_sync(TraceEncoder *e)
{
    unsigned n = FIELD_EX32(e->parent_obj.regs[R_CONTROL], CONTROL, SYNC_MAX_BTM);

    return n < SYNC_MAX_BTM_RESERVED && e->instruction.messages + 1 >= 1u << (n + 5) ?
           NEXUS_SYNC_PERIODIC : -1;
}

/*
 * The count of half-words has a fixed limit, and another limit that software sets in bytes. A
 * Sync between branches would lose the history, unless the Sync belongs to an indirect branch.
 */
static void limit_halfwords(TraceEncoder *e)
{
    TraceInstruction *i = &e->instruction;
    unsigned n = FIELD_EX32(e->parent_obj.regs[R_CONTROL], CONTROL, SYNC_MAX_INST);

    if (n < SYNC_MAX_INST_RESERVED && i->halfwords >= 1u << (n + 4)) {
        if (has_history(i)) {
            indirect_branch(e, NEXUS_BTYPE_INDIRECT, NEXUS_SYNC_PERIODIC);
        } else {
            program_sync(e, NEXUS_SYNC_INSTRUCTION_COUNT);
        }
    } else if (i->halfwords >= HALFWORDS_MAX) {
        send_history(e);
        send_full(e, NEXUS_RCODE_INSTRUCTION_COUNT, i->halfwords);
        i->halfwords = 0;
    }
}

/* Calls are only counted; the target of a return is not compared with its call. */
static bool return_is_implicit(TraceInstruction *i)
{
    return i->mode == INSTRUCTION_HTM_OPTIMISED && i->calls;
}

static void add_call(TraceInstruction *i)
{
    i->calls = MIN(i->calls + 1, CALLS_MAX);
}

static void encode(TraceEncoder *e, TraceTransfer kind)
{
    TraceInstruction *i = &e->instruction;
    unsigned btype = NEXUS_BTYPE_INDIRECT;

    switch (kind) {
    case TRANSFER_NOT_TAKEN:
    case TRANSFER_TAKEN:
        if (has_history(i)) {
            add_outcome(e, kind == TRANSFER_TAKEN);
        } else if (kind == TRANSFER_TAKEN) {
            direct_branch(e, periodic_sync(e));
        }
        return;
    case TRANSFER_DIRECT_CALL:
        add_call(i);
        return;
    case TRANSFER_DIRECT_JUMP:
        return;
    case TRANSFER_SWAP:
        if (return_is_implicit(i)) {
            return;
        }
        add_call(i);
        break;
    case TRANSFER_RETURN:
        if (return_is_implicit(i)) {
            i->calls--;
            return;
        }
        break;
    case TRANSFER_INDIRECT_CALL:
        add_call(i);
        break;
    case TRANSFER_EXCEPTION:
        btype = NEXUS_BTYPE_EXCEPTION;
        break;
    case TRANSFER_INTERRUPT:
        btype = NEXUS_BTYPE_INTERRUPT;
        break;
    case TRANSFER_INDIRECT_JUMP:
    case TRANSFER_TRAP_RETURN:
        break;
    }
    indirect_branch(e, btype, periodic_sync(e));
}

/* Drops state that has not been sent. */
static void restart(TraceEncoder *e, uint64_t pc, unsigned reason)
{
    TraceInstruction *i = &e->instruction;

    i->pc = pc;
    i->halfwords = 0;
    i->history = HISTORY_EMPTY;
    i->run = 0;
    program_sync(e, reason);
}

void instruction_begin(TraceEncoder *e, uint64_t pc)
{
    e->instruction.mode = FIELD_EX32(e->parent_obj.regs[R_CONTROL], CONTROL, INSTRUCTION);
    restart(e, pc, NEXUS_SYNC_TRACE_ON);
}

/* The instruction at src, of len bytes, has retired; at a trap, where len is 0, it has not. */
void instruction_transfer(TraceEncoder *e, uint64_t src, unsigned len,
                          uint64_t dst, TraceTransfer kind)
{
    TraceInstruction *i = &e->instruction;

    if (i->mode == INSTRUCTION_OFF) {
        return;
    }
    if (e->lost) {
        return;
    }
    if (i->lost) {
        restart(e, dst, NEXUS_SYNC_OVERRUN);
        return;
    }
    i->halfwords += (src + len - i->pc) / 2;
    i->pc = dst;
    encode(e, kind);
    limit_halfwords(e);
}

void instruction_end(TraceEncoder *e, uint64_t pc)
{
    TraceInstruction *i = &e->instruction;
    bool history = has_history(i);
    NexusMessage m;

    if (i->mode == INSTRUCTION_OFF) {
        return;
    }
    if (!i->lost) {
        send_run(e);
        i->halfwords += (pc - i->pc) / 2;
        encoder_begin(e, &m, NEXUS_CORRELATION);
        nexus_fixed(&m, NEXUS_EVCODE_TRACE_OFF, 4);
        nexus_fixed(&m, history, 2);
        put_halfwords(i, &m);
        if (history) {
            put_history(i, &m);
        }
        send_message(e, &m, has_timestamp(e, true, true), false);
    }
    i->mode = INSTRUCTION_OFF;
}

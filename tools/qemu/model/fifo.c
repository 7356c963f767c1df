/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The FIFO between the encoder and its destination. Messages leave one by one, each after
 * drain-ns for each of its bytes, and not before the funnels on its path accept it. If the next
 * one does not fit, either the core stalls, or messages are lost until there is room for an
 * Error message and a new absolute timestamp. With drain-ns = 0 and funnels without a limit,
 * messages pass through and the FIFO is never full.
 */
#include "qemu/osdep.h"
#include "exec/cpu-common.h"
#include "hw/core/cpu.h"
#include "encoder.h"
#include "trace.h"

static TraceComponent *component(TraceEncoder *e)
{
    return &e->parent_obj;
}

static void timer_start(TraceEncoder *e)
{
    const NexusMessage *m = g_queue_peek_head(&e->fifo);

    if (m) {
        timer_mod(&e->drain_timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) +
                  (uint64_t)m->len * e->drain_ns);
    }
}

static void queue(TraceEncoder *e, const NexusMessage *m)
{
    g_queue_push_tail(&e->fifo, g_memdup2(m, sizeof(*m)));
    e->level += m->len;
    if (!timer_pending(&e->drain_timer)) {
        timer_start(e);
    }
}

static void deliver_oldest(TraceEncoder *e)
{
    g_autofree NexusMessage *m = g_queue_pop_head(&e->fifo);

    e->level -= m->len;
    trace_emit(component(e), m->bytes, m->len);
}

static bool has_room(TraceEncoder *e, unsigned len)
{
    return e->level + len <= e->fifo_depth;
}

/* Called when there is room after a loss: reports the loss and the absolute time. */
static void resync(TraceEncoder *e)
{
    NexusMessage error, sync;

    e->lost = false;
    e->instruction.lost = true;
    trace_sifive_trace_resync(component(e)->id);
    encoder_error(e, &error);
    e->lost_kinds = 0;
    encoder_sync(e, &sync);
    queue(e, &error);
    queue(e, &sync);
}

static bool path_is_ready(TraceEncoder *e)
{
    return trace_path_ready_at(component(e)) <=
           qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static void release_harts(TraceEncoder *e)
{
    GSList *cpus = g_steal_pointer(&e->stalled), *i;

    for (i = cpus; i; i = i->next) {
        hart_resume(i->data);
    }
    g_slist_free(cpus);
}

static void drain_expired(void *opaque)
{
    TraceEncoder *e = opaque;

    /*
     * Timers for the same time run in the order in which they were set, so the encoder that
     * has just sent a message comes last.
     */
    if (!path_is_ready(e)) {
        timer_mod(&e->drain_timer, trace_path_ready_at(component(e)));
        return;
    }
    deliver_oldest(e);
    if (has_room(e, NEXUS_MESSAGE_MAX)) {
        release_harts(e);
    }
    if (e->lost && has_room(e, 2 * NEXUS_MESSAGE_MAX)) {
        resync(e);
    }
    timer_start(e);
}

void fifo_init(TraceEncoder *e)
{
    g_queue_init(&e->fifo);
    timer_init_ns(&e->drain_timer, QEMU_CLOCK_VIRTUAL, drain_expired, e);
}

void fifo_clear(TraceEncoder *e)
{
    timer_del(&e->drain_timer);
    g_queue_clear_full(&e->fifo, g_free);
    e->level = 0;
    e->lost = false;
    e->lost_kinds = 0;
    release_harts(e);
}

/* Drops the queued messages, because the destination is closed. */
void fifo_drop(TraceEncoder *e)
{
    component(e)->stats.dropped += g_queue_get_length(&e->fifo);
    fifo_clear(e);
}

void fifo_drain(TraceEncoder *e)
{
    do {
        while (!g_queue_is_empty(&e->fifo)) {
            deliver_oldest(e);
        }
        if (e->lost) {
            resync(e);
        }
    } while (!g_queue_is_empty(&e->fifo));
    /* Reporting the loss sets the bit, too. */
    timer_del(&e->drain_timer);
    release_harts(e);
}

bool fifo_is_ready(TraceEncoder *e)
{
    return !e->lost && has_room(e, NEXUS_MESSAGE_MAX);
}

/* Returns the duration of a flush, ignoring other inputs of the funnels. */
uint64_t fifo_drain_ns(TraceEncoder *e)
{
    return (uint64_t)e->level *
           MAX(e->drain_ns, trace_path_byte_ns(component(e)));
}

/*
 * Stalls the hart at its store: the hart halts, and executes the store again when there is
 * room for the longest message. An interrupt also ends the halt, and is taken before the store.
 * Does not return if the hart has to wait. A sink's store and the second half of a 64-bit
 * store cannot be repeated.
 */
void fifo_hold_hart(TraceEncoder *e)
{
    CPUState *cpu = current_cpu;
    TraceComponent *c = component(e);

    if (!e->stall_time || !cpu || trace_sink_is_storing || c->half == 2 ||
        e->lost || has_room(e, NEXUS_MESSAGE_MAX) ||
        !FIELD_EX32(c->regs[R_CONTROL], CONTROL, STALL_ENABLE)) {
        return;
    }
    c->regs[R_CONTROL] |= R_CONTROL_STALL_OR_OVERFLOW_MASK;
    c->stats.stores[TRACE_BLOCK_STIMULUS]--;
    c->stats.wide_stores -= c->half;
    c->half = 0;
    if (!g_slist_find(e->stalled, cpu)) {
        c->stats.stalls++;
        trace_sifive_trace_stall(c->id, e->level);
        e->stalled = g_slist_prepend(e->stalled, cpu);
    }
    cpu->halted = 1;
    cpu->exception_index = EXCP_HLT;
    /* Clear this here, because the dispatcher of the access does not return. */
    DEVICE(c)->mem_reentrancy_guard.engaged_in_io = false;
    cpu_loop_exit_restore(cpu, cpu->mem_io_pc);
}

/* Returns the bit of ECODE for a lost message. */
static uint32_t lost_kind(unsigned tcode)
{
    switch (tcode) {
    case NEXUS_DATA_ACQUISITION:
    case NEXUS_ICT_WITH_SYNC:
        return NEXUS_ECODE_DATA_ACQUISITION;
    case NEXUS_OWNERSHIP:
        return NEXUS_ECODE_OWNERSHIP;
    default:
        return NEXUS_ECODE_PROGRAM;
    }
}

/*
 * A message of instruction trace belongs to an instruction that has retired:
 * the hart halts after it, and the message waits in the FIFO, which is overfull
 * until the hart continues. An overfull FIFO has no room for the message of an interrupt that
 * ends the halt.
 */
static bool stall_behind(TraceEncoder *e, uint32_t kind)
{
    if (!e->stall_time || kind != NEXUS_ECODE_PROGRAM || e->level > e->fifo_depth ||
        !hart_halt(e)) {
        return false;
    }
    if (!g_slist_find(e->stalled, current_cpu)) {
        e->stalled = g_slist_prepend(e->stalled, current_cpu);
    }
    return true;
}

static void stall(TraceEncoder *e, unsigned len, uint32_t kind)
{
    component(e)->stats.stalls++;
    trace_sifive_trace_stall(component(e)->id, e->level);
    if (stall_behind(e, kind)) {
        return;
    }
    while (!has_room(e, len)) {
        deliver_oldest(e);
    }
    timer_del(&e->drain_timer);
    timer_start(e);
}

/* Returns whether the message was accepted; it may still be lost downstream. */
bool fifo_send(TraceEncoder *e, const NexusMessage *m)
{
    TraceComponent *c = component(e);
    uint32_t *control = &c->regs[R_CONTROL];

    trace_sifive_trace_message(c->id, nexus_tcode(m), m->len);
    if (!e->drain_ns && g_queue_is_empty(&e->fifo) && path_is_ready(e)) {
        trace_emit(c, m->bytes, m->len);
        return true;
    }
    if (!e->lost && !has_room(e, m->len)) {
        *control |= R_CONTROL_STALL_OR_OVERFLOW_MASK;
        if (FIELD_EX32(*control, CONTROL, STALL_ENABLE)) {
            stall(e, m->len, lost_kind(nexus_tcode(m)));
        } else {
            e->lost = true;
            c->stats.overflows++;
            trace_sifive_trace_overflow(c->id, e->level);
        }
    }
    if (e->lost) {
        c->stats.dropped++;
        e->lost_kinds |= lost_kind(nexus_tcode(m));
        trace_sifive_trace_drop(c->id, m->len, "FIFO full");
        return false;
    }
    queue(e, m);
    return true;
}

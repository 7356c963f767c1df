/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the encoder and its destination. Messages leave one by one, each
 * after drain-ns for every byte of it. When the next does not fit, either the
 * core stalls or messages are lost until there is room to say so: an Error
 * message and a new absolute timestamp. With drain-ns = 0 messages pass
 * through and the FIFO is never full.
 */
#include "qemu/osdep.h"
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

/* There is room again: say what happened, and what the time is. */
static void resync(TraceEncoder *e)
{
    NexusMessage error, sync;

    e->lost = false;
    trace_sifive_trace_resync(component(e)->id);
    encoder_error(e, &error);
    encoder_sync(e, &sync);
    queue(e, &error);
    queue(e, &sync);
}

static void drain_expired(void *opaque)
{
    TraceEncoder *e = opaque;

    deliver_oldest(e);
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
}

/* The destination is closed: what waits is lost. */
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
    /* Telling what was lost has set it. */
    timer_del(&e->drain_timer);
}

bool fifo_is_ready(TraceEncoder *e)
{
    return !e->lost && has_room(e, NEXUS_MESSAGE_MAX);
}

uint64_t fifo_drain_ns(TraceEncoder *e)
{
    return (uint64_t)e->level * e->drain_ns;
}

static void stall(TraceEncoder *e, unsigned len)
{
    component(e)->stats.stalls++;
    trace_sifive_trace_stall(component(e)->id, e->level);
    while (!has_room(e, len)) {
        deliver_oldest(e);
    }
    timer_del(&e->drain_timer);
    timer_start(e);
}

/* Returns whether the message was taken; it may still be lost further on. */
bool fifo_send(TraceEncoder *e, const NexusMessage *m)
{
    TraceComponent *c = component(e);
    uint32_t *control = &c->regs[R_CONTROL];

    trace_sifive_trace_message(c->id, nexus_tcode(m), m->len);
    if (!e->drain_ns) {
        trace_emit(c, m->bytes, m->len);
        return true;
    }
    if (!e->lost && !has_room(e, m->len)) {
        *control |= R_CONTROL_STALL_OR_OVERFLOW_MASK;
        if (FIELD_EX32(*control, CONTROL, STALL_ENABLE)) {
            stall(e, m->len);
        } else {
            e->lost = true;
            c->stats.overflows++;
            trace_sifive_trace_overflow(c->id, e->level);
        }
    }
    if (e->lost) {
        c->stats.dropped++;
        trace_sifive_trace_drop(c->id, m->len, "FIFO full");
        return false;
    }
    queue(e, m);
    return true;
}

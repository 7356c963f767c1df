/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Destinations of trace. The component's sinks, SBA (memory) and SRAM, share one set of
 * registers and accept words of sink-bytes: bytes wait until a word is complete. Funnel,
 * ATB and PIB accept messages immediately.
 *
 * A word that the bus refuses is lost: sinkError sets, the write pointer does not advance, and the
 * next word goes to the same address, so everything below the write pointer is valid.
 */
#include "qemu/osdep.h"
#include "exec/address-spaces.h"
#include "system/dma.h"
#include "component.h"
#include "trace.h"

/* While this is set, accesses come from a sink, which cannot be stalled. */
bool trace_sink_is_storing;

/* Bits that SinkLimit loses with fault-limit-stuck. */
#define LIMIT_STUCK_MASK        0xfffu

/* The default is the first of funnel, SBA, SRAM, ATB and PIB that exists. */
uint32_t trace_sink_in_effect(TraceComponent *c)
{
    static const uint8_t order[] = {
        SINK_FUNNEL, SINK_SBA, SINK_SRAM, SINK_ATB, SINK_PIB,
    };
    uint32_t sink = FIELD_EX32(c->regs[R_CONTROL], CONTROL, SINK);
    unsigned i;

    for (i = 0; sink == SINK_DEFAULT && i < ARRAY_SIZE(order); i++) {
        if (c->sinks & BIT(order[i])) {
            sink = order[i];
        }
    }
    return sink;
}

/* Whether the registers control SRAM: it is selected, or there is no SBA. */
static bool registers_are_sram(TraceComponent *c)
{
    return trace_sink_in_effect(c) == SINK_SRAM || !(c->sinks & BIT(SINK_SBA));
}

static uint32_t sram_writable(TraceComponent *c, unsigned offset)
{
    uint32_t word = (c->sram_size - 1) & ~(c->sink_bytes - 1);

    switch (offset) {
    case A_SINK_BASE:
    case A_SINK_LIMIT:
        return c->sram_fixed ? 0 : word;
    case A_SINK_WP:
        return word | R_SINK_WP_WRAPPED_MASK;
    default:
        return 0;
    }
}

static uint32_t sba_writable(TraceComponent *c, unsigned offset)
{
    uint32_t word = ~(c->sink_bytes - 1);

    switch (offset) {
    case A_SINK_BASE:
        return word;
    case A_SINK_LIMIT:
        return c->fault_limit_stuck ? word & ~LIMIT_STUCK_MASK : word;
    case A_SINK_WP:
        return word | R_SINK_WP_WRAPPED_MASK;
    default:
        return (1ull << c->sink_high_bits) - 1;
    }
}

static uint32_t sink_writable(TraceComponent *c, unsigned offset)
{
    if (offset == A_SINK_RP) {
        return (c->sram_size - 1) & ~3u;
    }
    return registers_are_sram(c) ? sram_writable(c, offset) :
                                   sba_writable(c, offset);
}

/*
 * SiFive's library enables a funnel before it programs the sink, which is harmless until
 * the first byte arrives.
 */
static bool is_writing(TraceComponent *c)
{
    return c->flushing ||
           (trace_is_enabled(c) && (c->written || !trace_is_empty(c)));
}

uint32_t trace_sink_read(TraceComponent *c, unsigned offset)
{
    if (offset == A_SINK_LIMIT && registers_are_sram(c) && c->sram_fixed) {
        return c->sram_size - c->sink_bytes;
    }
    return c->regs[offset / 4] & sink_writable(c, offset);
}

void trace_sink_write(TraceComponent *c, unsigned offset, uint32_t value,
                      unsigned size)
{
    if (is_writing(c)) {
        trace_violation(c, "sink programmed while it is being written", offset);
    }
    if (offset == A_SINK_LIMIT && c->fault_limit_stuck) {
        trace_sifive_trace_fault(c->id, "limit loses its low bits");
    }
    c->regs[offset / 4] = value & sink_writable(c, offset);
}

uint32_t trace_sink_data_read(TraceComponent *c, unsigned offset)
{
    uint32_t rp = trace_sink_read(c, A_SINK_RP);

    if (is_writing(c)) {
        trace_violation(c, "SRAM read while it is being written", offset);
    }
    c->regs[R_SINK_RP] = rp + 4;
    return ldl_le_p(c->sram + rp);
}

static void sink_error(TraceComponent *c)
{
    c->regs[R_CONTROL] |= R_CONTROL_SINK_ERROR_MASK;
}

static bool store_memory(TraceComponent *c, uint32_t low, const uint8_t *word)
{
    dma_addr_t address = ((uint64_t)c->regs[R_SINK_BASE_HIGH] << 32) | low;
    bool ok = false;

    if (c->fault_bus_error_after &&
        c->bus_bytes + c->sink_bytes > c->fault_bus_error_after) {
        trace_sifive_trace_fault(c->id, "bus error");
    } else {
        bool nested = trace_sink_is_storing;

        trace_sink_is_storing = true;
        ok = !dma_memory_write(&address_space_memory, address, word,
                               c->sink_bytes, MEMTXATTRS_UNSPECIFIED);
        trace_sink_is_storing = nested;
    }
    trace_sifive_trace_sink_word(c->id, "SBA", address, c->sink_bytes, ok);
    if (ok) {
        c->bus_bytes += c->sink_bytes;
    }
    return ok;
}

static bool store_sram(TraceComponent *c, uint32_t low, const uint8_t *word)
{
    memcpy(c->sram + low, word, c->sink_bytes);
    trace_sifive_trace_sink_word(c->id, "SRAM", low, c->sink_bytes, true);
    return true;
}

/*
 * The write pointer has 32 bits and never carries into the high half, so a buffer cannot
 * cross a 4 GiB boundary.
 */
static void advance(TraceComponent *c, uint32_t low)
{
    uint32_t *wp = &c->regs[R_SINK_WP];
    bool stop = FIELD_EX32(c->regs[R_CONTROL], CONTROL, STOP_ON_WRAP);

    if (low != trace_sink_read(c, A_SINK_LIMIT)) {
        *wp = (low + c->sink_bytes) | (*wp & R_SINK_WP_WRAPPED_MASK);
        return;
    }
    *wp = trace_sink_read(c, A_SINK_BASE) | R_SINK_WP_WRAPPED_MASK;
    trace_sifive_trace_sink_wrap(c->id, stop);
    if (stop) {
        trace_component_stop(c);
    }
}

/* Returns whether the word was stored. */
static bool put_word(TraceComponent *c)
{
    bool sram = trace_sink_in_effect(c) == SINK_SRAM;
    uint32_t low = trace_sink_read(c, A_SINK_WP) & ~R_SINK_WP_WRAPPED_MASK;
    uint8_t word[SINK_BYTES_MAX];

    /* The store may hit this component's registers. */
    memcpy(word, c->word, c->sink_bytes);
    c->fill = 0;
    if (!(sram ? store_sram : store_memory)(c, low, word)) {
        sink_error(c);
        if (c->bus_error_disables) {
            trace_component_stop(c);
        }
        return false;
    }
    c->stats.sink_bytes += c->sink_bytes;
    advance(c, low);
    return true;
}

static bool put_bytes(TraceComponent *c, const uint8_t *bytes, unsigned len)
{
    bool whole = true;
    unsigned i;

    for (i = 0; i < len; i++) {
        if (c->stopped) {
            return false;
        }
        c->written = true;
        c->word[c->fill++] = bytes[i];
        if (c->fill == c->sink_bytes) {
            whole &= put_word(c);
        }
    }
    return whole;
}

static bool put_off_chip(TraceComponent *c, uint32_t control)
{
    if (!(control & OFF_CHIP_ENABLE)) {
        sink_error(c);
        return false;
    }
    return true;
}

static bool put_funnel(TraceComponent *c, const uint8_t *bytes, unsigned len)
{
    if (c->sink_error_when_disabled && !trace_is_enabled(c->funnel)) {
        sink_error(c);
    }
    trace_funnel_accept(c->funnel, bytes, len);
    return true;
}

/* Returns whether the complete message was accepted. */
static bool deliver(TraceComponent *c, const uint8_t *bytes, unsigned len)
{
    switch (trace_sink_in_effect(c)) {
    case SINK_FUNNEL:
        return put_funnel(c, bytes, len);
    case SINK_ATB:
        return put_off_chip(c, c->regs[R_ATB_CONTROL]);
    case SINK_PIB:
        return put_off_chip(c, c->regs[R_PIB_CONTROL]);
    default:
        return put_bytes(c, bytes, len);
    }
}

bool trace_emit(TraceComponent *c, const uint8_t *bytes, unsigned len)
{
    if (!deliver(c, bytes, len)) {
        c->stats.dropped++;
        trace_sifive_trace_drop(c->id, len, "not taken by the destination");
        return false;
    }
    c->stats.messages++;
    c->stats.bytes += len;
    return true;
}

/* Returns the funnel that c sends to, NULL if its sink is of another kind. */
static TraceComponent *next_funnel(TraceComponent *c)
{
    return trace_sink_in_effect(c) == SINK_FUNNEL ? c->funnel : NULL;
}

/*
 * Returns the time at which all funnels on the way accept the next message; a past time means now.
 */
int64_t trace_path_ready_at(TraceComponent *c)
{
    int64_t at = 0;

    while ((c = next_funnel(c))) {
        at = MAX(at, trace_funnel_ready_at(c));
    }
    return at;
}

/* Returns the time per byte of the slowest funnel on the way, in ns. */
uint32_t trace_path_byte_ns(TraceComponent *c)
{
    uint32_t ns = 0;

    while ((c = next_funnel(c))) {
        ns = MAX(ns, trace_funnel_byte_ns(c));
    }
    return ns;
}

/* A partly filled word is padded with idle bytes. */
void trace_sink_flush(TraceComponent *c)
{
    if (c->stopped) {
        c->fill = 0;
    }
    if (c->fill) {
        memset(c->word + c->fill, NEXUS_IDLE, c->sink_bytes - c->fill);
        put_word(c);
    }
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timestamp unit. An internal unit (bus, core) counts while tsCount is set, at ts-freq
 * divided by the prescaler. An external unit follows a clock that never stops. A slave shows the
 * time of the funnel that it feeds, truncated to its own width. An inactive unit reads 0.
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "component.h"

static bool is_internal(TraceComponent *c)
{
    return c->ts_type == TIMESTAMP_BUS || c->ts_type == TIMESTAMP_CORE;
}

/* Returns the ticks in ns nanoseconds at the rate set by control, a tsControl value. */
static uint64_t ticks_in(TraceComponent *c, int64_t ns, uint32_t control)
{
    return muldiv64(ns, c->ts_freq, NANOSECONDS_PER_SECOND) >>
           (2 * FIELD_EX32(control, TS_CONTROL, PRESCALE));
}

static uint64_t internal_ticks(TraceComponent *c)
{
    uint32_t control = c->regs[R_TS_CONTROL];
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    return FIELD_EX32(control, TS_CONTROL, COUNT) ?
           c->ts_ticks + ticks_in(c, now - c->ts_since, control) : c->ts_ticks;
}

uint64_t trace_ts_now(TraceComponent *c)
{
    uint64_t ticks = 0;

    if (c->ts_type == TIMESTAMP_SLAVE) {
        ticks = trace_ts_now(c->funnel);
    } else if (FIELD_EX32(c->regs[R_TS_CONTROL], TS_CONTROL, ACTIVE)) {
        ticks = is_internal(c) ? internal_ticks(c) :
                ticks_in(c, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL), 0);
    }
    return ticks & MAKE_64BIT_MASK(0, c->ts_width);
}

void trace_ts_reset(TraceComponent *c)
{
    c->ts_ticks = 0;
    c->ts_since = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

uint32_t trace_ts_control_read(TraceComponent *c, unsigned offset)
{
    uint32_t value = c->regs[R_TS_CONTROL];

    if (c->ts_type == TIMESTAMP_NONE) {
        return 0;
    }
    value = FIELD_DP32(value, TS_CONTROL, TYPE, c->ts_type);
    return FIELD_DP32(value, TS_CONTROL, WIDTH, c->ts_width);
}

/* Fields without meaning for the type of unit read 0. */
static uint32_t ts_writable(TraceComponent *c, uint32_t writable)
{
    if (!is_internal(c)) {
        writable &= ~(R_TS_CONTROL_COUNT_MASK | R_TS_CONTROL_PRESCALE_MASK |
                      R_TS_CONTROL_RESET_MASK |
                      R_TS_CONTROL_RUN_IN_DEBUG_MASK);
    }
    if (!c->ts_prescale) {
        writable &= ~R_TS_CONTROL_PRESCALE_MASK;
    }
    return writable;
}

void trace_ts_control_write(TraceComponent *c, unsigned offset, uint32_t value,
                            unsigned size)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_GET_CLASS(c);
    uint32_t *reg = &c->regs[R_TS_CONTROL];
    uint32_t writable = ts_writable(c, cc->map[R_TS_CONTROL]->writable);
    uint64_t ticks = internal_ticks(c);

    if (c->ts_type == TIMESTAMP_NONE) {
        trace_violation(c, "no timestamp unit", offset);
        return;
    }
    if (!FIELD_EX32(value, TS_CONTROL, ACTIVE)) {
        *reg = 0;
        trace_ts_reset(c);
        return;
    }
    if (!FIELD_EX32(*reg, TS_CONTROL, ACTIVE)) {
        if (value & writable & ~R_TS_CONTROL_ACTIVE_MASK) {
            trace_violation(c, "fields written together with active", offset);
        }
        *reg = R_TS_CONTROL_ACTIVE_MASK;
        return;
    }
    *reg = value & writable & ~R_TS_CONTROL_RESET_MASK;
    c->ts_since = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    c->ts_ticks = value & writable & R_TS_CONTROL_RESET_MASK ? 0 : ticks;
}

uint32_t trace_ts_read(TraceComponent *c, unsigned offset)
{
    uint64_t now;

    if (!FIELD_EX32(c->regs[R_TS_CONTROL], TS_CONTROL, ACTIVE) || !c->ts_reads) {
        return 0;
    }
    now = trace_ts_now(c);
    return offset == A_TS_UPPER ? now >> 32 : now;
}

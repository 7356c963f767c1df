/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The register block of a trace component: dispatch by table, access counts, ordering rules
 * (while inactive only active can be written), and the control register with its states
 * enabled, flushing and empty.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "component.h"
#include "trace.h"

bool trace_is_enabled(TraceComponent *c)
{
    return FIELD_EX32(c->regs[R_CONTROL], CONTROL, ENABLE);
}

static bool is_active(TraceComponent *c)
{
    return FIELD_EX32(c->regs[R_CONTROL], CONTROL, ACTIVE);
}

static bool is_pending(TraceComponent *c)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_GET_CLASS(c);

    return cc->is_pending && cc->is_pending(c);
}

bool trace_is_empty(TraceComponent *c)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_GET_CLASS(c);

    return !c->flushing && !c->fill && !is_pending(c) &&
           !(cc->queued && cc->queued(c));
}

/* Violations are counted, so that a test can check that software never breaks a rule. */
void trace_violation(TraceComponent *c, const char *what, unsigned offset)
{
    c->stats.violations++;
    trace_sifive_trace_violation(c->id, what, offset);
    qemu_log_mask(LOG_GUEST_ERROR, "%s: %s, offset 0x%03x\n", c->id, what,
                  offset);
}

void trace_component_reset(TraceComponent *c)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_GET_CLASS(c);
    unsigned i;

    trace_sifive_trace_reset(c->id);
    timer_del(&c->flush_timer);
    c->flushing = false;
    c->fill = 0;
    c->stopped = false;
    c->bus_bytes = 0;
    for (i = 0; i < ARRAY_SIZE(c->regs); i++) {
        c->regs[i] = cc->map[i] ? cc->map[i]->reset : 0;
    }
    c->regs[R_CONTROL] = FIELD_DP32(c->regs[R_CONTROL], CONTROL, SINK,
                                    c->sink_field);
    trace_ts_reset(c);
    if (cc->reset) {
        cc->reset(c);
    }
}

/* Called when the flush is complete: pending data, including padding, has been written. */
static void flush_finish(TraceComponent *c)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_GET_CLASS(c);

    timer_del(&c->flush_timer);
    if (cc->drain) {
        cc->drain(c);
    }
    trace_sink_flush(c);
    c->flushing = false;
    trace_sifive_trace_empty(c->id);
}

/*
 * Nothing reaches memory before flush-ns has passed, so software that does not wait for the
 * empty bit misses the last messages.
 */
static void flush_start(TraceComponent *c)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_GET_CLASS(c);
    uint64_t ns = c->flush_ns + (cc->queue_ns ? cc->queue_ns(c) : 0);

    if (!ns && !is_pending(c)) {
        flush_finish(c);
        return;
    }
    timer_mod(&c->flush_timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + ns);
}

/* Called when the component's sink has ended the trace: enable clears and nothing is pending. */
void trace_component_stop(TraceComponent *c)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_GET_CLASS(c);

    c->regs[R_CONTROL] &= ~R_CONTROL_ENABLE_MASK;
    c->stopped = true;
    if (cc->stop) {
        cc->stop(c);
    }
}

/* On a busy host the timer may be late; software that polls for empty must still see it in time. */
static void flush_if_over(TraceComponent *c)
{
    if (!is_pending(c) && timer_pending(&c->flush_timer) &&
        timer_expired(&c->flush_timer,
                      qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL))) {
        flush_finish(c);
    }
}

uint32_t trace_control_read(TraceComponent *c, unsigned offset)
{
    bool empty;

    flush_if_over(c);
    empty = trace_is_empty(c);
    if (c->fault_empty_stuck && is_active(c)) {
        trace_sifive_trace_fault(c->id, "empty does not set");
        empty = false;
    }
    return FIELD_DP32(c->regs[R_CONTROL], CONTROL, EMPTY, empty);
}

/*
 * WARL: writing a sink that does not exist leaves the field unchanged, as does any write if
 * there is only one sink.
 */
static bool sink_is_legal(TraceComponent *c, uint32_t value)
{
    return !is_power_of_2(c->sinks) &&
           (value == SINK_DEFAULT || (c->sinks & BIT(value)));
}

static uint32_t control_merge(TraceComponent *c, uint32_t old, uint32_t value,
                              uint32_t writable)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_GET_CLASS(c);
    uint32_t new = (old & ~writable) | (value & writable);

    if (!sink_is_legal(c, FIELD_EX32(value, CONTROL, SINK))) {
        new = FIELD_DP32(new, CONTROL, SINK, FIELD_EX32(old, CONTROL, SINK));
    }
    if (c->fault_enable_stuck && FIELD_EX32(~old & new, CONTROL, ENABLE)) {
        trace_sifive_trace_fault(c->id, "enable does not set");
        new &= ~R_CONTROL_ENABLE_MASK;
    }
    new = FIELD_DP32(new, CONTROL, SINK_ERROR,
                     FIELD_EX32(old & ~value, CONTROL, SINK_ERROR));
    return cc->merge ? cc->merge(c, old, value, new) : new;
}

/* Writing back the reset value has no effect. */
static void control_activate(TraceComponent *c, uint32_t value,
                             uint32_t writable)
{
    if (value & ~c->regs[R_CONTROL] & writable & ~R_CONTROL_ACTIVE_MASK) {
        trace_violation(c, "fields written together with active", A_CONTROL);
    }
    if (c->fault_active_stuck) {
        trace_sifive_trace_fault(c->id, "active does not set");
        return;
    }
    c->regs[R_CONTROL] |= R_CONTROL_ACTIVE_MASK;
}

void trace_control_write(TraceComponent *c, unsigned offset, uint32_t value,
                         unsigned size)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_GET_CLASS(c);
    uint32_t writable = cc->map[R_CONTROL]->writable;
    uint32_t old = c->regs[R_CONTROL], new;

    if (!FIELD_EX32(value, CONTROL, ACTIVE)) {
        trace_component_reset(c);
        return;
    }
    if (!FIELD_EX32(old, CONTROL, ACTIVE)) {
        control_activate(c, value, writable);
        return;
    }
    new = control_merge(c, old, value, writable);
    if (FIELD_EX32(~old & new, CONTROL, ENABLE)) {
        if (c->flushing) {
            trace_violation(c, "enabled before the flush was over", offset);
            flush_finish(c);
        }
        c->stopped = false;
        c->written = false;
    }
    c->regs[R_CONTROL] = new;
    c->flushing |= FIELD_EX32(old & ~new, CONTROL, ENABLE);
    if (cc->changed) {
        cc->changed(c, old);
    }
    if (FIELD_EX32(old & ~new, CONTROL, ENABLE)) {
        flush_start(c);
    }
}

uint32_t trace_impl_read(TraceComponent *c, unsigned offset)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_GET_CLASS(c);
    uint32_t value = cc->impl ? cc->impl(c) : 0;

    value = FIELD_DP32(value, IMPL, SINKS, c->sinks >> SINK_SRAM);
    return FIELD_DP32(value, IMPL, SINK_BYTES, ctz32(c->sink_bytes / 4));
}

void trace_write_ignored(TraceComponent *c, unsigned offset, uint32_t value,
                         unsigned size)
{
}

static const TraceRegister *find(TraceComponent *c, hwaddr addr)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_GET_CLASS(c);
    const TraceRegister *r = cc->map[addr / 4];

    return r && (!r->needs || (r->needs & c->sinks)) ? r : NULL;
}

static uint32_t register_read(TraceComponent *c, hwaddr addr, unsigned size)
{
    const TraceRegister *r = find(c, addr);
    uint32_t value = 0;

    c->stats.loads[r ? r->block : TRACE_BLOCK_OTHER]++;
    if (r) {
        value = r->read ? r->read(c, addr & ~3) : c->regs[addr / 4];
    }
    value = extract32(value, (addr & 3) * 8, size * 8);
    trace_sifive_trace_read(c->id, r ? r->name : "nothing", addr, value, size);
    return value;
}

static void register_write(TraceComponent *c, hwaddr addr, uint32_t value,
                           unsigned size)
{
    const TraceRegister *r = find(c, addr);
    uint32_t *reg = &c->regs[addr / 4];

    c->stats.stores[r ? r->block : TRACE_BLOCK_OTHER]++;
    trace_sifive_trace_write(c->id, r ? r->name : "nothing", addr, value, size);
    if (!r) {
        trace_violation(c, "store to a register that is not there", addr);
    } else if (size < 4 && !r->narrow) {
        trace_violation(c, "store narrower than the register", addr);
    } else if (!is_active(c) && r->offset != A_CONTROL && !r->narrow) {
        trace_violation(c, "store while inactive", addr);
    } else if (r->write) {
        r->write(c, addr, value, size);
    } else {
        *reg = (*reg & ~r->writable) | (value & r->writable);
    }
}

/* The bus splits a 64-bit access for a 32-bit node: lower address first. */
static MemTxResult component_read(void *opaque, hwaddr addr, uint64_t *value,
                                  unsigned size, MemTxAttrs attrs)
{
    TraceComponent *c = opaque;

    if (c->fault_no_power) {
        return MEMTX_ERROR;
    }
    if (size < 8) {
        *value = register_read(c, addr, size);
        return MEMTX_OK;
    }
    c->stats.wide_loads++;
    *value = register_read(c, addr, 4);
    *value |= (uint64_t)register_read(c, addr + 4, 4) << 32;
    return MEMTX_OK;
}

static MemTxResult component_write(void *opaque, hwaddr addr, uint64_t value,
                                   unsigned size, MemTxAttrs attrs)
{
    TraceComponent *c = opaque;

    if (c->fault_no_power) {
        return MEMTX_ERROR;
    }
    if (size < 8) {
        register_write(c, addr, value, size);
        return MEMTX_OK;
    }
    c->stats.wide_stores++;
    c->half = 1;
    register_write(c, addr, value, 4);
    c->half = 2;
    register_write(c, addr + 4, value >> 32, 4);
    c->half = 0;
    return MEMTX_OK;
}

const MemoryRegionOps trace_component_ops = {
    .read_with_attrs = component_read,
    .write_with_attrs = component_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

void trace_class_registers(TraceComponentClass *cc, const TraceRegister *table,
                           size_t rows)
{
    const TraceRegister *r;
    unsigned i;

    for (r = table; r < table + rows; r++) {
        for (i = 0; i < MAX(r->count, 1); i++) {
            cc->map[r->offset / 4 + i] = r;
        }
    }
}

/* How long the flush waits for pending data, in ns. */
#define PENDING_NS      1000

static void flush_expired(void *opaque)
{
    TraceComponent *c = opaque;

    if (is_pending(c)) {
        timer_mod(&c->flush_timer,
                  qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + PENDING_NS);
        return;
    }
    flush_finish(c);
}

static void component_hold(Object *obj, ResetType type)
{
    trace_component_reset(SIFIVE_TRACE_COMPONENT(obj));
}

static void component_init(Object *obj)
{
    TraceComponent *c = SIFIVE_TRACE_COMPONENT(obj);

    timer_init_ns(&c->flush_timer, QEMU_CLOCK_VIRTUAL, flush_expired, c);
    trace_stats_init(c);
}

static void component_finalize(Object *obj)
{
    TraceComponent *c = SIFIVE_TRACE_COMPONENT(obj);

    timer_del(&c->flush_timer);
    g_free(c->sram);
}

static void component_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    ResettableClass *rc = RESETTABLE_CLASS(oc);

    rc->phases.hold = component_hold;
    trace_properties_class_init(dc);
}

static const TypeInfo component_info = {
    .name = TYPE_SIFIVE_TRACE_COMPONENT,
    .parent = TYPE_DEVICE,
    .abstract = true,
    .instance_size = sizeof(TraceComponent),
    .instance_init = component_init,
    .instance_finalize = component_finalize,
    .class_size = sizeof(TraceComponentClass),
    .class_init = component_class_init,
};

static void component_register(void)
{
    type_register_static(&component_info);
}
type_init(component_register)

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace funnel: merges complete messages of its inputs into its destination, and has the
 * cluster's timestamp unit.
 */
#include "qemu/osdep.h"
#include "hw/qdev-properties.h"
#include "component.h"
#include "trace.h"

typedef struct TraceFunnel {
    TraceComponent parent_obj;

    uint32_t byte_ns;
    int64_t busy_until;     /* the funnel accepts no message before that time */
} TraceFunnel;

DECLARE_INSTANCE_CHECKER(TraceFunnel, SIFIVE_TRACE_FUNNEL,
                         TYPE_SIFIVE_TRACE_FUNNEL)

static const TraceRegister funnel_registers[] = {
    { A_CONTROL, "tfControl", TRACE_BLOCK_CONTROL,
      .reset = R_CONTROL_EMPTY_MASK,
      .writable = R_CONTROL_ACTIVE_MASK | R_CONTROL_ENABLE_MASK |
                  R_CONTROL_STOP_ON_WRAP_MASK | R_CONTROL_SINK_MASK,
      .read = trace_control_read, .write = trace_control_write },
    { A_IMPL, "tfImpl", TRACE_BLOCK_CONTROL,
      .read = trace_impl_read, .write = trace_write_ignored },
    TRACE_SINK_ROWS("tf"),
    TRACE_TIMESTAMP_ROWS(R_TS_CONTROL_ACTIVE_MASK | R_TS_CONTROL_COUNT_MASK |
                         R_TS_CONTROL_RESET_MASK | R_TS_CONTROL_PRESCALE_MASK),
};

/*
 * A disabled funnel accepts messages and drops them. The loss is counted here, once; the
 * sender sees it only as sinkError.
 */
void trace_funnel_accept(TraceComponent *c, const uint8_t *bytes, unsigned len)
{
    TraceFunnel *f = SIFIVE_TRACE_FUNNEL(c);

    if (!trace_is_enabled(c)) {
        c->stats.dropped++;
        trace_sifive_trace_drop(c->id, len, "funnel not enabled");
        return;
    }
    f->busy_until = MAX(f->busy_until, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL)) +
                    (uint64_t)len * f->byte_ns;
    trace_emit(c, bytes, len);
}

/* A disabled funnel drops messages at any rate. */
int64_t trace_funnel_ready_at(TraceComponent *c)
{
    return trace_is_enabled(c) ? SIFIVE_TRACE_FUNNEL(c)->busy_until : 0;
}

uint32_t trace_funnel_byte_ns(TraceComponent *c)
{
    return SIFIVE_TRACE_FUNNEL(c)->byte_ns;
}

static void funnel_reset(TraceComponent *c)
{
    SIFIVE_TRACE_FUNNEL(c)->busy_until = 0;
}

static const Property funnel_properties[] = {
    DEFINE_PROP_UINT32("byte-ns", TraceFunnel, byte_ns, 0),
};

static void funnel_class_init(ObjectClass *oc, void *data)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_CLASS(oc);

    DEVICE_CLASS(oc)->desc = "SiFive trace funnel (pre-ratified)";
    cc->reset = funnel_reset;
    device_class_set_props(DEVICE_CLASS(oc), funnel_properties);
    trace_class_registers(cc, funnel_registers, ARRAY_SIZE(funnel_registers));
}

static const TypeInfo funnel_info = {
    .name = TYPE_SIFIVE_TRACE_FUNNEL,
    .parent = TYPE_SIFIVE_TRACE_COMPONENT,
    .instance_size = sizeof(TraceFunnel),
    .class_init = funnel_class_init,
};

static void funnel_register(void)
{
    type_register_static(&funnel_info);
}
type_init(funnel_register)

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace funnel: merges the messages of its inputs into its own destination,
 * whole message by whole message, and holds the cluster's timestamp unit.
 */
#include "qemu/osdep.h"
#include "component.h"
#include "trace.h"

static const TraceRegister funnel_registers[] = {
    { A_CONTROL, "tfControl", TRACE_BLOCK_CONTROL,
      .reset = R_CONTROL_EMPTY_MASK,
      .writable = R_CONTROL_ACTIVE_MASK | R_CONTROL_ENABLE_MASK |
                  R_CONTROL_STOP_ON_WRAP_MASK | R_CONTROL_SINK_MASK,
      .read = trace_control_read, .write = trace_control_write },
    { A_IMPL, "tfImpl", TRACE_BLOCK_CONTROL,
      .read = trace_impl_read, .write = trace_write_ignored },
    TRACE_SINK_ROWS("tf"),
    TRACE_TIMESTAMP_ROWS,
};

/*
 * A funnel that is not enabled accepts messages and drops them. The loss is
 * counted here, once; the sender only learns of it by its sinkError.
 */
void trace_funnel_accept(TraceComponent *c, const uint8_t *bytes, unsigned len)
{
    if (!trace_is_enabled(c)) {
        c->stats.dropped++;
        trace_sifive_trace_drop(c->id, len, "funnel not enabled");
        return;
    }
    trace_emit(c, bytes, len);
}

static void funnel_class_init(ObjectClass *oc, void *data)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_CLASS(oc);

    DEVICE_CLASS(oc)->desc = "SiFive trace funnel (pre-ratified)";
    trace_class_registers(cc, funnel_registers, ARRAY_SIZE(funnel_registers));
}

static const TypeInfo funnel_info = {
    .name = TYPE_SIFIVE_TRACE_FUNNEL,
    .parent = TYPE_SIFIVE_TRACE_COMPONENT,
    .class_init = funnel_class_init,
};

static void funnel_register(void)
{
    type_register_static(&funnel_info);
}
type_init(funnel_register)

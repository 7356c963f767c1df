/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The common properties of a trace component: their checks, and the register block, which is
 * mapped once the properties are known.
 */
#include "qemu/osdep.h"
#include "exec/address-spaces.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "system/reset.h"
#include "component.h"

static const struct {
    const char *name;
    unsigned sink;
} sink_names[] = {
    { "sram", SINK_SRAM },
    { "sba", SINK_SBA },
    { "atb", SINK_ATB },
    { "pib", SINK_PIB },
    { "funnel", SINK_FUNNEL },
};

/* These are in the order of the tsType values. */
static const char *const ts_type_names[] = {
    "none", "external", "bus", "core", "slave",
};

static bool parse_sinks(TraceComponent *c, Error **errp)
{
    g_auto(GStrv) words = g_strsplit(c->sinks_option ?: "", "+", 0);
    char **word;
    unsigned i;

    for (word = words; *word; word++) {
        for (i = 0; i < ARRAY_SIZE(sink_names); i++) {
            if (!strcmp(*word, sink_names[i].name)) {
                c->sinks |= BIT(sink_names[i].sink);
                break;
            }
        }
        if (i == ARRAY_SIZE(sink_names)) {
            error_setg(errp, "sinks: unknown sink '%s' "
                       "(sram, sba, atb, pib, funnel)", *word);
            return false;
        }
    }
    if (!c->sinks) {
        error_setg(errp, "sinks: name at least one "
                   "(sram, sba, atb, pib, funnel; joined by +)");
        return false;
    }
    return true;
}

static bool check_sinks(TraceComponent *c, Error **errp)
{
    bool sram = c->sinks & BIT(SINK_SRAM);
    bool funnel = c->sinks & BIT(SINK_FUNNEL);

    if (!is_power_of_2(c->sink_bytes) || c->sink_bytes < 4 ||
        c->sink_bytes > SINK_BYTES_MAX) {
        error_setg(errp, "sink-bytes: %u is not one of 4, 8, 16, 32",
                   c->sink_bytes);
        return false;
    }
    if (sram && (!is_power_of_2(c->sram_size) ||
                 c->sram_size < c->sink_bytes)) {
        error_setg(errp, "sram-size: %u is not a power of two of at least "
                   "sink-bytes (%u)", c->sram_size, c->sink_bytes);
        return false;
    }
    if (!sram && c->sram_size) {
        error_setg(errp, "sram-size: needs sram among the sinks");
        return false;
    }
    if (funnel && !c->funnel) {
        error_setg(errp, "funnel: name the id of a %s (defined earlier "
                   "on the command line)", TYPE_SIFIVE_TRACE_FUNNEL);
        return false;
    }
    return true;
}

/* With one kind of sink, the control field is read-only. */
static bool check_sink_registers(TraceComponent *c, Error **errp)
{
    const char *single = c->single_sink_option ?: "kind";

    if (strcmp(single, "kind") && strcmp(single, "zero")) {
        error_setg(errp, "single-sink: unknown value '%s' (kind, zero)",
                   single);
        return false;
    }
    if (is_power_of_2(c->sinks) && !strcmp(single, "kind")) {
        c->sink_field = ctz32(c->sinks);
    }
    if (c->sink_high_bits > 32) {
        error_setg(errp, "sink-high-bits: %u is more than the register's 32 bits",
                   c->sink_high_bits);
        return false;
    }
    return true;
}

static bool check_timestamp(TraceComponent *c, Error **errp)
{
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(ts_type_names); i++) {
        if (!strcmp(c->ts_type_option ?: "none", ts_type_names[i])) {
            c->ts_type = i;
            break;
        }
    }
    if (i == ARRAY_SIZE(ts_type_names)) {
        error_setg(errp, "ts-type: unknown type '%s' "
                   "(none, external, bus, core, slave)", c->ts_type_option);
        return false;
    }
    if (c->ts_type == TIMESTAMP_SLAVE && !c->funnel) {
        error_setg(errp, "ts-type: a slave follows its funnel's unit; "
                   "give it a funnel or another type");
        return false;
    }
    if (!c->ts_width || c->ts_width > 64) {
        error_setg(errp, "ts-width: %u is not within 1 to 64", c->ts_width);
        return false;
    }
    if (!c->ts_freq) {
        error_setg(errp, "ts-freq: must not be 0");
        return false;
    }
    return true;
}

static bool map_registers(TraceComponent *c, Error **errp)
{
    MemoryRegionSection taken;

    if (c->addr & (TRACE_BLOCK_SIZE - 1)) {
        error_setg(errp, "addr: give the address of the register block, a "
                   "multiple of 0x%x", TRACE_BLOCK_SIZE);
        return false;
    }
    taken = memory_region_find(get_system_memory(), c->addr, TRACE_BLOCK_SIZE);
    if (taken.mr) {
        error_setg(errp, "addr: 0x%" PRIx64 " is taken by '%s'; "
                   "choose another address", c->addr,
                   memory_region_name(taken.mr));
        memory_region_unref(taken.mr);
        return false;
    }
    memory_region_init_io(&c->mmio, OBJECT(c), &trace_component_ops, c, c->id,
                          TRACE_BLOCK_SIZE);
    memory_region_add_subregion(get_system_memory(), c->addr, &c->mmio);
    return true;
}

static void component_realize(DeviceState *dev, Error **errp)
{
    TraceComponent *c = SIFIVE_TRACE_COMPONENT(dev);
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_GET_CLASS(c);

    c->id = dev->id ?: object_get_typename(OBJECT(dev));
    if (!parse_sinks(c, errp) || !check_sinks(c, errp) ||
        !check_sink_registers(c, errp) || !check_timestamp(c, errp) || (cc->check && !cc->check(c, errp)) ||
        !map_registers(c, errp)) {
        return;
    }
    if (c->sram_size) {
        c->sram = g_malloc0(c->sram_size);
    }
    trace_stats_realize(c);
    qemu_register_resettable(OBJECT(c));
}

/* Like the types they derive from, but also settable on a running machine. */
static PropertyInfo fault_bool;
static PropertyInfo fault_uint64;

static const Property component_properties[] = {
    DEFINE_PROP_UINT64("addr", TraceComponent, addr, UINT64_MAX),
    DEFINE_PROP_STRING("sinks", TraceComponent, sinks_option),
    DEFINE_PROP_UINT32("sram-size", TraceComponent, sram_size, 0),
    DEFINE_PROP_BOOL("sram-fixed", TraceComponent, sram_fixed, true),
    DEFINE_PROP_STRING("single-sink", TraceComponent, single_sink_option),
    DEFINE_PROP_UINT32("sink-bytes", TraceComponent, sink_bytes, 4),
    DEFINE_PROP_UINT32("sink-high-bits", TraceComponent, sink_high_bits, 32),
    DEFINE_PROP_LINK("funnel", TraceComponent, funnel, TYPE_SIFIVE_TRACE_FUNNEL,
                     TraceComponent *),
    DEFINE_PROP_STRING("ts-type", TraceComponent, ts_type_option),
    DEFINE_PROP_UINT32("ts-width", TraceComponent, ts_width, 40),
    DEFINE_PROP_UINT32("ts-freq", TraceComponent, ts_freq, 10000000),
    DEFINE_PROP_BOOL("ts-prescale", TraceComponent, ts_prescale, true),
    DEFINE_PROP_BOOL("ts-reads", TraceComponent, ts_reads, true),
    DEFINE_PROP_UINT64("flush-ns", TraceComponent, flush_ns, 1000),
    DEFINE_PROP_BOOL("bus-error-disables", TraceComponent, bus_error_disables,
                     false),
    DEFINE_PROP_BOOL("sink-error-when-disabled", TraceComponent,
                     sink_error_when_disabled, true),
    DEFINE_PROP_STRING("stats", TraceComponent, stats_path),
    DEFINE_PROP_UNSIGNED("fault-empty-stuck", TraceComponent, fault_empty_stuck,
                         false, fault_bool, bool),
    DEFINE_PROP_UNSIGNED("fault-active-stuck", TraceComponent,
                         fault_active_stuck, false, fault_bool, bool),
    DEFINE_PROP_UNSIGNED("fault-enable-stuck", TraceComponent,
                         fault_enable_stuck, false, fault_bool, bool),
    DEFINE_PROP_UNSIGNED("fault-bus-error-after", TraceComponent,
                         fault_bus_error_after, 0, fault_uint64, uint64_t),
    DEFINE_PROP_UNSIGNED("fault-limit-stuck", TraceComponent, fault_limit_stuck,
                         false, fault_bool, bool),
    DEFINE_PROP_UNSIGNED("fault-no-power", TraceComponent, fault_no_power,
                         false, fault_bool, bool),
};

static const VMStateDescription component_vmstate = {
    .name = TYPE_SIFIVE_TRACE_COMPONENT,
    .unmigratable = 1,
};

void trace_properties_class_init(DeviceClass *dc)
{
    fault_bool = qdev_prop_bool;
    fault_bool.realized_set_allowed = true;
    fault_uint64 = qdev_prop_uint64;
    fault_uint64.realized_set_allowed = true;
    dc->realize = component_realize;
    dc->vmsd = &component_vmstate;
    dc->hotpluggable = false;
    device_class_set_props(dc, component_properties);
}

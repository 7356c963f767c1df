/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A component's counters, as read-only properties "stat-..." and, at exit, as a JSON object
 * in the file named by the property "stats". The counters start with the machine; no reset clears
 * them.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qobject/qdict.h"
#include "qobject/qjson.h"
#include "qobject/qnum.h"
#include "system/system.h"
#include "component.h"

static const struct {
    const char *name;
    size_t offset;
} counters[] = {
#define ACCESSES(block, name)                                               \
    { "stat-loads-" name, offsetof(TraceStats, loads[TRACE_BLOCK_##block]) }, \
    { "stat-stores-" name, offsetof(TraceStats, stores[TRACE_BLOCK_##block]) }
    ACCESSES(CONTROL, "control"),
    ACCESSES(SINK, "sink"),
    ACCESSES(COUNT, "count"),
    ACCESSES(TIMESTAMP, "timestamp"),
    ACCESSES(TRIGGER, "trigger"),
    ACCESSES(ITC, "itc"),
    ACCESSES(STIMULUS, "stimulus"),
    ACCESSES(SAMPLING, "sampling"),
    ACCESSES(OFFCHIP, "offchip"),
    ACCESSES(OTHER, "other"),
#undef ACCESSES
    { "stat-messages", offsetof(TraceStats, messages) },
    { "stat-bytes", offsetof(TraceStats, bytes) },
    { "stat-dropped", offsetof(TraceStats, dropped) },
    { "stat-stalls", offsetof(TraceStats, stalls) },
    { "stat-overflows", offsetof(TraceStats, overflows) },
    { "stat-sink-bytes", offsetof(TraceStats, sink_bytes) },
    { "stat-wide-loads", offsetof(TraceStats, wide_loads) },
    { "stat-wide-stores", offsetof(TraceStats, wide_stores) },
    { "stat-violations", offsetof(TraceStats, violations) },
};

static uint64_t *counter(TraceComponent *c, unsigned i)
{
    return (uint64_t *)((char *)&c->stats + counters[i].offset);
}

static void stats_write(Notifier *n, void *data)
{
    TraceComponent *c = container_of(n, TraceComponent, exit);
    g_autoptr(QDict) dict = qdict_new();
    g_autoptr(GString) json = NULL;
    g_autoptr(GError) err = NULL;
    unsigned i;

    qdict_put_str(dict, "id", c->id);
    qdict_put_str(dict, "type", object_get_typename(OBJECT(c)));
    for (i = 0; i < ARRAY_SIZE(counters); i++) {
        qdict_put(dict, counters[i].name, qnum_from_uint(*counter(c, i)));
    }
    json = qobject_to_json_pretty(QOBJECT(dict), true);
    g_string_append_c(json, '\n');
    if (!g_file_set_contents(c->stats_path, json->str, json->len, &err)) {
        error_report("%s: stats: %s", c->id, err->message);
    }
}

void trace_stats_init(TraceComponent *c)
{
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(counters); i++) {
        object_property_add_uint64_ptr(OBJECT(c), counters[i].name,
                                       counter(c, i), OBJ_PROP_FLAG_READ);
    }
}

void trace_stats_realize(TraceComponent *c)
{
    if (c->stats_path) {
        c->exit.notify = stats_write;
        qemu_add_exit_notifier(&c->exit);
    }
}

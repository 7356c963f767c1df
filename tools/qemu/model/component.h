/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by encoder and funnel: a register block, a sink, a timestamp unit, access counts,
 * and fault injection.
 *
 * Everything here runs with the BQL held: register accesses, timers, and calls from an
 * encoder into its funnel.
 */
#ifndef SIFIVE_TRACE_COMPONENT_H
#define SIFIVE_TRACE_COMPONENT_H

#include "exec/memory.h"
#include "hw/qdev-core.h"
#include "qemu/notify.h"
#include "qemu/timer.h"
#include "nexus.h"
#include "regs.h"

#define TYPE_SIFIVE_TRACE_COMPONENT "sifive-trace-component"
OBJECT_DECLARE_TYPE(TraceComponent, TraceComponentClass, SIFIVE_TRACE_COMPONENT)

#define TYPE_SIFIVE_TRACE_FUNNEL "sifive-trace-funnel"
#define TYPE_SIFIVE_TRACE_ENCODER "sifive-trace-encoder"

/* Groups of registers whose loads and stores are counted. */
typedef enum TraceBlock {
    TRACE_BLOCK_CONTROL,
    TRACE_BLOCK_SINK,
    TRACE_BLOCK_COUNT,
    TRACE_BLOCK_TIMESTAMP,
    TRACE_BLOCK_TRIGGER,
    TRACE_BLOCK_ITC,
    TRACE_BLOCK_STIMULUS,
    TRACE_BLOCK_SAMPLING,
    TRACE_BLOCK_OFFCHIP,
    TRACE_BLOCK_OTHER,
    TRACE_BLOCKS
} TraceBlock;

typedef uint32_t TraceRead(TraceComponent *c, unsigned offset);
typedef void TraceWrite(TraceComponent *c, unsigned offset, uint32_t value,
                        unsigned size);

/*
 * One row of a register table. Reset is the value after reset, in which fields that depend on
 * the configuration are 0; writable has the bits that software can change. Without read and
 * write functions a register is plain storage.
 */
typedef struct TraceRegister {
    unsigned offset;
    const char *name;
    TraceBlock block;
    uint32_t reset;
    uint32_t writable;
    unsigned count;         /* number of registers in an array; 0 means 1 */
    unsigned needs;         /* exists only with one of these sinks; 0 means always */
    bool narrow;            /* accepts 8- and 16-bit stores */
    TraceRead *read;
    TraceWrite *write;
} TraceRegister;

typedef struct TraceStats {
    uint64_t loads[TRACE_BLOCKS];
    uint64_t stores[TRACE_BLOCKS];
    uint64_t messages;      /* messages that reached the destination completely */
    uint64_t bytes;         /* their bytes */
    uint64_t dropped;       /* messages lost completely or in part */
    uint64_t stalls;        /* stores that stalled the core */
    uint64_t overflows;     /* sequences of lost messages */
    uint64_t sink_bytes;    /* written by the component's sink, including padding */
    uint64_t wide_loads;    /* 64-bit accesses; each also counts as two */
    uint64_t wide_stores;
    uint64_t violations;    /* accesses that violate the programming rules */
} TraceStats;

typedef enum TimestampType {
    TIMESTAMP_NONE,
    TIMESTAMP_EXTERNAL,
    TIMESTAMP_BUS,
    TIMESTAMP_CORE,
    TIMESTAMP_SLAVE,
} TimestampType;

#define SINK_BYTES_MAX 32

struct TraceComponent {
    DeviceState parent_obj;

    /* Configuration, fixed at realize. */
    uint64_t addr;
    char *sinks_option;
    uint32_t sram_size;
    bool sram_fixed;
    char *single_sink_option;
    uint32_t sink_bytes;
    uint32_t sink_high_bits;
    TraceComponent *funnel;
    char *ts_type_option;
    uint32_t ts_width;
    uint32_t ts_freq;
    bool ts_prescale;
    bool ts_reads;
    uint64_t flush_ns;
    bool bus_error_disables;
    bool sink_error_when_disabled;
    char *stats_path;
    const char *id;
    unsigned sinks;         /* BIT(SINK_...) of existing sinks */
    uint32_t sink_field;    /* value of the control register after reset */
    TimestampType ts_type;

    /* Faults, which may change at any time. */
    bool fault_empty_stuck;
    bool fault_active_stuck;
    bool fault_enable_stuck;
    uint64_t fault_bus_error_after;
    bool fault_limit_stuck;
    bool fault_no_power;

    MemoryRegion mmio;
    uint32_t regs[TRACE_BLOCK_SIZE / 4];
    TraceStats stats;
    Notifier exit;

    unsigned half;          /* half of a 64-bit store, 1 or 2; 0 if not a 64-bit store */

    /* Sink: bytes of an incomplete word. */
    uint8_t word[SINK_BYTES_MAX];
    unsigned fill;
    bool written;           /* has received a byte since it was enabled */
    bool stopped;           /* full with stopOnWrap, or stopped by an error */
    uint64_t bus_bytes;     /* written to memory since the last reset */
    uint8_t *sram;

    /* Timestamp unit: ticks counted until ts_since (ns), to which a running unit adds. */
    uint64_t ts_ticks;
    int64_t ts_since;

    /* Disabled, with earlier data still on its way. */
    bool flushing;
    QEMUTimer flush_timer;
};

struct TraceComponentClass {
    DeviceClass parent_class;

    const TraceRegister *map[TRACE_BLOCK_SIZE / 4];

    /* Checks the subclass's properties; may be NULL. */
    bool (*check)(TraceComponent *c, Error **errp);
    /* Fields of teImpl specific to the subclass. */
    uint32_t (*impl)(TraceComponent *c);
    /* Resets the subclass's state; may be NULL. */
    void (*reset)(TraceComponent *c);
    /*
     * Handles the subclass's fields when value is written to control, whose current value is
     * old: sets them in new, whose common fields are already set; may be NULL.
     */
    uint32_t (*merge)(TraceComponent *c, uint32_t old, uint32_t value,
                      uint32_t new);
    /* Called after control has changed from old to its current value. */
    void (*changed)(TraceComponent *c, uint32_t old);
    /*
     * Number of bytes queued before the sink, and the time in ns that they need; may be
     * NULL.
     */
    uint32_t (*queued)(TraceComponent *c);
    uint64_t (*queue_ns)(TraceComponent *c);
    /* Whether more data will be queued, so that a flush cannot end; may be NULL. */
    bool (*is_pending)(TraceComponent *c);
    /* Passes all queued data to the destination; may be NULL. */
    void (*drain)(TraceComponent *c);
    /* Drops queued data, because the component's sink has cleared enable; may be NULL. */
    void (*stop)(TraceComponent *c);
};

/* component.c */
TraceRead trace_control_read;
TraceWrite trace_control_write;
TraceRead trace_impl_read;
TraceWrite trace_write_ignored;
void trace_class_registers(TraceComponentClass *cc, const TraceRegister *table,
                           size_t rows);
void trace_component_reset(TraceComponent *c);
void trace_component_stop(TraceComponent *c);
void trace_violation(TraceComponent *c, const char *what, unsigned offset);
bool trace_is_enabled(TraceComponent *c);
bool trace_is_empty(TraceComponent *c);
extern const MemoryRegionOps trace_component_ops;

/* properties.c */
void trace_properties_class_init(DeviceClass *dc);

/* stats.c */
void trace_stats_init(TraceComponent *c);
void trace_stats_realize(TraceComponent *c);

/* sink.c */
TraceRead trace_sink_read;
TraceWrite trace_sink_write;
TraceRead trace_sink_data_read;
uint32_t trace_sink_in_effect(TraceComponent *c);
bool trace_emit(TraceComponent *c, const uint8_t *bytes, unsigned len);
void trace_sink_flush(TraceComponent *c);
int64_t trace_path_ready_at(TraceComponent *c);
uint32_t trace_path_byte_ns(TraceComponent *c);
extern bool trace_sink_is_storing;

/* funnel.c */
void trace_funnel_accept(TraceComponent *c, const uint8_t *bytes, unsigned len);
int64_t trace_funnel_ready_at(TraceComponent *c);
uint32_t trace_funnel_byte_ns(TraceComponent *c);

/* timestamp.c */
TraceRead trace_ts_control_read;
TraceWrite trace_ts_control_write;
TraceRead trace_ts_read;
uint64_t trace_ts_now(TraceComponent *c);
void trace_ts_reset(TraceComponent *c);

/* Rows that both tables share; p is the prefix of the register names. */
#define TRACE_SINK_ROWS(p)                                                   \
    { A_SINK_BASE, p "SinkBase", TRACE_BLOCK_SINK, .writable = 0xfffffffc,   \
      .needs = BIT(SINK_SRAM) | BIT(SINK_SBA),                               \
      .read = trace_sink_read, .write = trace_sink_write },                  \
    { A_SINK_BASE_HIGH, p "SinkBaseHigh", TRACE_BLOCK_SINK,                  \
      .writable = 0xffffffff, .needs = BIT(SINK_SRAM) | BIT(SINK_SBA),       \
      .read = trace_sink_read, .write = trace_sink_write },                  \
    { A_SINK_LIMIT, p "SinkLimit", TRACE_BLOCK_SINK, .writable = 0xfffffffc, \
      .needs = BIT(SINK_SRAM) | BIT(SINK_SBA),                               \
      .read = trace_sink_read, .write = trace_sink_write },                  \
    { A_SINK_WP, p "SinkWP", TRACE_BLOCK_SINK, .writable = 0xfffffffd,       \
      .needs = BIT(SINK_SRAM) | BIT(SINK_SBA),                               \
      .read = trace_sink_read, .write = trace_sink_write },                  \
    { A_SINK_RP, p "SinkRP", TRACE_BLOCK_SINK, .writable = 0xfffffffc,       \
      .needs = BIT(SINK_SRAM),                                               \
      .read = trace_sink_read, .write = trace_sink_write },                  \
    { A_SINK_DATA, p "SinkData", TRACE_BLOCK_SINK, .needs = BIT(SINK_SRAM),  \
      .read = trace_sink_data_read, .write = trace_write_ignored },          \
    { A_ATB_CONTROL, "atbControl", TRACE_BLOCK_OFFCHIP,                      \
      .writable = 0xffffffff, .needs = BIT(SINK_ATB) },                      \
    { A_PIB_CONTROL, "pibControl", TRACE_BLOCK_OFFCHIP,                      \
      .writable = 0xffffffff, .needs = BIT(SINK_PIB) }

#define TRACE_TIMESTAMP_ROWS(control)                                        \
    { A_TS_CONTROL, "tsControl", TRACE_BLOCK_TIMESTAMP,                      \
      .writable = (control),                                                 \
      .read = trace_ts_control_read, .write = trace_ts_control_write },      \
    { A_TS_LOWER, "tsLower", TRACE_BLOCK_TIMESTAMP,                          \
      .read = trace_ts_read, .write = trace_write_ignored },                 \
    { A_TS_UPPER, "tsUpper", TRACE_BLOCK_TIMESTAMP,                          \
      .read = trace_ts_read, .write = trace_write_ignored }

#endif

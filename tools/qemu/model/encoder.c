/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace encoder: turns stores to its stimulus registers into Nexus messages. instruction.c does
 * the same for its hart's instructions.
 */
#include "qemu/osdep.h"
#include "hw/qdev-properties.h"
#include "qapi/error.h"
#include "encoder.h"

static bool is_tracing(uint32_t control)
{
    return FIELD_EX32(control, CONTROL, ENABLE) &&
           FIELD_EX32(control, CONTROL, TRACING);
}

void encoder_begin(TraceEncoder *e, NexusMessage *m, unsigned tcode)
{
    uint32_t control = e->parent_obj.regs[R_CONTROL];
    bool inhibit = FIELD_EX32(control, CONTROL, INHIBIT_SRC);

    nexus_begin(m, tcode, e->src, inhibit ? 0 : e->src_bits);
}

/* Decoders take time 0 to mean that there is no time, so no message has it. */
static uint64_t message_time(TraceEncoder *e)
{
    return MAX(trace_ts_now(&e->parent_obj), 1);
}

static bool timestamps_enabled(TraceEncoder *e)
{
    return e->ts_in_messages && FIELD_EX32(e->parent_obj.regs[R_TS_CONTROL], TS_CONTROL, ENABLE);
}

/* Ends a message; sync messages have the absolute time, others the change. */
void encoder_finish(TraceEncoder *e, NexusMessage *m, bool timestamp, bool sync)
{
    if (timestamp && timestamps_enabled(e)) {
        uint64_t now = message_time(e);

        nexus_variable(m, sync ? now : now ^ e->last_ts);
        e->last_ts = now;
    }
    nexus_end(m);
}

void encoder_error(TraceEncoder *e, NexusMessage *m)
{
    encoder_begin(e, m, NEXUS_ERROR);
    nexus_fixed(m, NEXUS_ETYPE_OVERRUN, 4);
    nexus_variable(m, e->lost_kinds);
    encoder_finish(e, m, true, false);
}

/* Sends In-Circuit Trace with sync, control 0,0: whether trace is on, and the time. */
void encoder_sync(TraceEncoder *e, NexusMessage *m)
{
    bool on = is_tracing(e->parent_obj.regs[R_CONTROL]);

    encoder_begin(e, m, NEXUS_ICT_WITH_SYNC);
    nexus_fixed(m, 0, 4);
    nexus_fixed(m, 0, 2);
    nexus_variable(m, on ? NEXUS_CKDATA_TRACE_ON : NEXUS_CKDATA_TRACE_OFF);
    encoder_finish(e, m, true, true);
}

static void send_ownership(TraceEncoder *e, uint32_t process)
{
    uint32_t ts = e->parent_obj.regs[R_TS_CONTROL];
    NexusMessage m;

    encoder_begin(e, &m, NEXUS_OWNERSHIP);
    nexus_variable(&m, process);
    encoder_finish(e, &m, FIELD_EX32(ts, TS_CONTROL, OWNERSHIP), false);
    e->parent_obj.regs[R_WORD_COUNT] += fifo_send(e, &m);
}

/*
 * tsInstrumentation enables the timestamp. P550: registers 0-15 and 16-31 are the same
 * channels, and messages of the lower ones never have a timestamp.
 */
static void send_data(TraceEncoder *e, unsigned offset, uint32_t value)
{
    uint32_t ts = e->parent_obj.regs[R_TS_CONTROL];
    bool timestamp = FIELD_EX32(ts, TS_CONTROL, INSTRUMENTATION);
    unsigned tag = offset - A_ITC_STIMULUS;
    NexusMessage m;

    if (e->p550) {
        timestamp &= tag >= STIMULUS_COUNT / 2 * 4;
        tag %= STIMULUS_COUNT / 2 * 4;
    }
    encoder_begin(e, &m, NEXUS_DATA_ACQUISITION);
    nexus_variable(&m, tag);
    nexus_variable(&m, value);
    encoder_finish(e, &m, timestamp, false);
    e->parent_obj.regs[R_WORD_COUNT] += fifo_send(e, &m);
}

/* The size of a store follows from its offset: 4 at 0, 2 at 2, 1 at 3. */
static void stimulus_write(TraceComponent *c, unsigned offset, uint32_t value,
                           unsigned size)
{
    TraceEncoder *e = SIFIVE_TRACE_ENCODER(c);
    uint32_t control = c->regs[R_CONTROL];
    unsigned channel = (offset - A_ITC_STIMULUS) / 4;
    unsigned mode = FIELD_EX32(control, CONTROL, INSTRUMENTATION);
    bool owner = channel == 15 || channel == 31;

    if (!is_tracing(control) ||
        !(c->regs[R_ITC_TRACE_ENABLE] & BIT(channel))) {
        return;
    }
    owner &= mode >= INSTRUMENTATION_OWNERSHIP;
    if (!owner && mode != INSTRUMENTATION_ITC &&
        mode != INSTRUMENTATION_OWNERSHIP_AND_ITC) {
        return;
    }
    fifo_hold_hart(e);
    if (owner) {
        send_ownership(e, value);
    } else {
        send_data(e, offset, value);
    }
}

static uint32_t stimulus_read(TraceComponent *c, unsigned offset)
{
    return fifo_is_ready(SIFIVE_TRACE_ENCODER(c));
}

static uint32_t fifo_level_read(TraceComponent *c, unsigned offset)
{
    return SIFIVE_TRACE_ENCODER(c)->level;
}

static const TraceRegister encoder_registers[] = {
    { A_CONTROL, "teControl", TRACE_BLOCK_CONTROL,
      .reset = R_CONTROL_EMPTY_MASK |
               SLICE_FORMAT_6MDO_2MSEO << R_CONTROL_SLICE_FORMAT_SHIFT,
      .writable = R_CONTROL_ACTIVE_MASK | R_CONTROL_ENABLE_MASK |
                  R_CONTROL_TRACING_MASK | R_CONTROL_INSTRUCTION_MASK |
                  R_CONTROL_INSTRUMENTATION_MASK |
                  R_CONTROL_STALL_OR_OVERFLOW_MASK |
                  R_CONTROL_STALL_ENABLE_MASK |
                  R_CONTROL_STOP_ON_WRAP_MASK | R_CONTROL_INHIBIT_SRC_MASK |
                  R_CONTROL_SYNC_MAX_BTM_MASK | R_CONTROL_SYNC_MAX_INST_MASK |
                  R_CONTROL_SINK_MASK,
      .read = trace_control_read, .write = trace_control_write },
    { A_IMPL, "teImpl", TRACE_BLOCK_CONTROL,
      .read = trace_impl_read, .write = trace_write_ignored },
    { A_IMPL_EXTRA, "teImplExtra", TRACE_BLOCK_CONTROL },
    { A_EVENT_CONTROL, "teEventControl", TRACE_BLOCK_CONTROL,
      .writable = 0xffffffff },
    TRACE_SINK_ROWS("te"),
    { A_FIFO, "teFifo", TRACE_BLOCK_COUNT,
      .read = fifo_level_read, .write = trace_write_ignored },
    { A_BTM_COUNT, "teBtmCount", TRACE_BLOCK_COUNT },
    { A_WORD_COUNT, "teWordCount", TRACE_BLOCK_COUNT },
    TRACE_TIMESTAMP_ROWS(R_TS_CONTROL_ACTIVE_MASK | R_TS_CONTROL_COUNT_MASK |
                         R_TS_CONTROL_RESET_MASK |
                         R_TS_CONTROL_RUN_IN_DEBUG_MASK |
                         R_TS_CONTROL_PRESCALE_MASK |
                         R_TS_CONTROL_ENABLE_MASK | R_TS_CONTROL_BRANCH_MASK |
                         R_TS_CONTROL_INSTRUMENTATION_MASK |
                         R_TS_CONTROL_OWNERSHIP_MASK),
    { A_XTI_CONTROL, "xtiControl", TRACE_BLOCK_TRIGGER,
      .writable = 0xffffffff },
    { A_XTO_CONTROL, "xtoControl", TRACE_BLOCK_TRIGGER,
      .writable = 0xffffffff },
    { A_WP_CONTROL, "wpControl", TRACE_BLOCK_TRIGGER, .writable = 0xffffffff },
    { A_ITC_TRACE_ENABLE, "itcTraceEnable", TRACE_BLOCK_ITC,
      .writable = 0xffffffff },
    { A_ITC_TRIG_ENABLE, "itcTrigEnable", TRACE_BLOCK_ITC,
      .writable = 0xffffffff },
    { A_ITC_STIMULUS, "itcStimulus", TRACE_BLOCK_STIMULUS, .reset = 1,
      .count = STIMULUS_COUNT, .narrow = true,
      .read = stimulus_read, .write = stimulus_write },
    { A_PC_SAMPLING, "pcSampling", TRACE_BLOCK_SAMPLING,
      .count = PC_SAMPLING_COUNT },
};

static uint32_t encoder_impl(TraceComponent *c)
{
    TraceEncoder *e = SIFIVE_TRACE_ENCODER(c);
    uint32_t value = 0;

    value = FIELD_DP32(value, IMPL, CROSSING_TYPE, e->crossing_type);
    value = FIELD_DP32(value, IMPL, SRC_ID, e->src);
    value = FIELD_DP32(value, IMPL, SRC_BITS, e->src_bits);
    return FIELD_DP32(value, IMPL, HART_ID, e->hart & 0xf);
}

static bool instruction_is_legal(TraceEncoder *e, uint32_t value)
{
    switch (value) {
    case INSTRUCTION_OFF:
    case INSTRUCTION_EVENT:
    case INSTRUCTION_HTM:
    case INSTRUCTION_HTM_OPTIMISED:
        return true;
    case INSTRUCTION_BTM:
        return e->btm;
    default:
        return false;
    }
}

static uint32_t encoder_merge(TraceComponent *c, uint32_t old, uint32_t value,
                              uint32_t new)
{
    TraceEncoder *e = SIFIVE_TRACE_ENCODER(c);

    if (!instruction_is_legal(e, FIELD_EX32(value, CONTROL, INSTRUCTION))) {
        new = FIELD_DP32(new, CONTROL, INSTRUCTION,
                         FIELD_EX32(old, CONTROL, INSTRUCTION));
    }
    if (!e->stall_or_overflow_rw) {
        /* Only hardware sets this bit; software can clear it. */
        new &= old | ~R_CONTROL_STALL_OR_OVERFLOW_MASK;
    }
    if (!e->stall) {
        new &= ~R_CONTROL_STALL_ENABLE_MASK;
    }
    return new;
}

/* A change of the instruction mode begins a new trace. */
static void encoder_changed(TraceComponent *c, uint32_t old)
{
    TraceEncoder *e = SIFIVE_TRACE_ENCODER(c);
    uint32_t control = c->regs[R_CONTROL];
    bool other = FIELD_EX32(old ^ control, CONTROL, INSTRUCTION);
    bool was = instruction_is_wanted(old);
    bool is = instruction_is_wanted(control);
    NexusMessage m;

    if (was && (!is || other)) {
        hart_leave(e);
    }
    if (is_tracing(old) != is_tracing(control)) {
        encoder_sync(e, &m);
        fifo_send(e, &m);
    }
    if (is && (!was || other)) {
        hart_follow(e);
    }
    if (c->flushing) {
        timer_del(&e->drain_timer);
    }
}

static void encoder_reset(TraceComponent *c)
{
    TraceEncoder *e = SIFIVE_TRACE_ENCODER(c);
    uint32_t *control = &c->regs[R_CONTROL];

    if (e->sync_max_reset) {
        *control = FIELD_DP32(*control, CONTROL, SYNC_MAX_BTM,
                              SYNC_MAX_BTM_RESET);
        *control = FIELD_DP32(*control, CONTROL, SYNC_MAX_INST,
                              SYNC_MAX_INST_RESET);
    }
    hart_forget(e);
    fifo_clear(e);
    e->last_ts = 0;
}

static uint32_t encoder_queued(TraceComponent *c)
{
    return SIFIVE_TRACE_ENCODER(c)->level;
}

static uint64_t encoder_queue_ns(TraceComponent *c)
{
    return fifo_drain_ns(SIFIVE_TRACE_ENCODER(c));
}

static void encoder_drain(TraceComponent *c)
{
    fifo_drain(SIFIVE_TRACE_ENCODER(c));
}

/* Called when the encoder's own sink is full, so no message can show where the program is. */
static void encoder_stop(TraceComponent *c)
{
    hart_forget(SIFIVE_TRACE_ENCODER(c));
    fifo_drop(SIFIVE_TRACE_ENCODER(c));
}

static bool encoder_is_pending(TraceComponent *c)
{
    return hart_is_pending(SIFIVE_TRACE_ENCODER(c));
}

static bool encoder_check(TraceComponent *c, Error **errp)
{
    TraceEncoder *e = SIFIVE_TRACE_ENCODER(c);
    const char *rule = e->channel_rule ?: "plain";

    if (strcmp(rule, "plain") && strcmp(rule, "p550")) {
        error_setg(errp, "channel-rule: unknown rule '%s' (plain, p550)", rule);
        return false;
    }
    e->p550 = !strcmp(rule, "p550");
    if (e->crossing_type > 3) {
        error_setg(errp, "crossing-type: %u does not fit in its 2 bits",
                   e->crossing_type);
        return false;
    }
    if (e->src_bits > 4) {
        error_setg(errp, "src-bits: %u is more than the 4 bits of a source",
                   e->src_bits);
        return false;
    }
    if (e->src_bits && e->src >> e->src_bits) {
        error_setg(errp, "src: %u does not fit in src-bits (%u)", e->src,
                   e->src_bits);
        return false;
    }
    if (e->fifo_depth < 2 * NEXUS_MESSAGE_MAX) {
        error_setg(errp, "fifo-depth: %u is less than two messages (%u bytes)",
                   e->fifo_depth, 2 * NEXUS_MESSAGE_MAX);
        return false;
    }
    hart_find(e);
    return true;
}

static const Property encoder_properties[] = {
    DEFINE_PROP_UINT32("hart", TraceEncoder, hart, 0),
    DEFINE_PROP_UINT32("src", TraceEncoder, src, 0),
    DEFINE_PROP_UINT32("src-bits", TraceEncoder, src_bits, 0),
    DEFINE_PROP_UINT32("crossing-type", TraceEncoder, crossing_type, 0),
    DEFINE_PROP_BOOL("btm", TraceEncoder, btm, true),
    DEFINE_PROP_BOOL("sync-max-reset", TraceEncoder, sync_max_reset, false),
    DEFINE_PROP_BOOL("stall-or-overflow-rw", TraceEncoder,
                     stall_or_overflow_rw, false),
    DEFINE_PROP_BOOL("ts-in-messages", TraceEncoder, ts_in_messages, true),
    DEFINE_PROP_STRING("channel-rule", TraceEncoder, channel_rule),
    DEFINE_PROP_UINT32("fifo-depth", TraceEncoder, fifo_depth, 256),
    DEFINE_PROP_UINT32("drain-ns", TraceEncoder, drain_ns, 0),
    DEFINE_PROP_BOOL("stall", TraceEncoder, stall, true),
    DEFINE_PROP_BOOL("stall-time", TraceEncoder, stall_time, false),
};

static void encoder_init(Object *obj)
{
    fifo_init(SIFIVE_TRACE_ENCODER(obj));
}

static void encoder_finalize(Object *obj)
{
    hart_free(SIFIVE_TRACE_ENCODER(obj));
    fifo_clear(SIFIVE_TRACE_ENCODER(obj));
}

static void encoder_class_init(ObjectClass *oc, void *data)
{
    TraceComponentClass *cc = SIFIVE_TRACE_COMPONENT_CLASS(oc);
    DeviceClass *dc = DEVICE_CLASS(oc);

    dc->desc = "SiFive trace encoder (pre-ratified)";
    cc->check = encoder_check;
    cc->impl = encoder_impl;
    cc->reset = encoder_reset;
    cc->merge = encoder_merge;
    cc->changed = encoder_changed;
    cc->queued = encoder_queued;
    cc->queue_ns = encoder_queue_ns;
    cc->is_pending = encoder_is_pending;
    cc->drain = encoder_drain;
    cc->stop = encoder_stop;
    device_class_set_props(dc, encoder_properties);
    trace_class_registers(cc, encoder_registers, ARRAY_SIZE(encoder_registers));
}

static const TypeInfo encoder_info = {
    .name = TYPE_SIFIVE_TRACE_ENCODER,
    .parent = TYPE_SIFIVE_TRACE_COMPONENT,
    .instance_size = sizeof(TraceEncoder),
    .instance_init = encoder_init,
    .instance_finalize = encoder_finalize,
    .class_init = encoder_class_init,
};

static void encoder_register(void)
{
    type_register_static(&encoder_info);
}
type_init(encoder_register)

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instruction trace of an encoder: finds the encoder's modes, and turns the trace on and off for
 * the thread that is running on the hart.
 */

#include <linux/bitfield.h>
#include <linux/smp.h>

#include <linux/sifive_trace_regs.h>

#include "hardware.h"

/* Maximum values of teSyncMaxBTM and teSyncMaxInst, apart from TR_SYNC_MAX_OFF. */
#define SYNC_BRANCHES_MAX	11
#define SYNC_BYTES_MAX		5

/*
 * Maximum number of bytes that an encoder writes to its own sink between the check
 * for room and the last write to its control register.
 */
#define MARGIN	1024

static_assert(SIFIVE_TRACE_INSTRUCTION_NO_SYNC == TR_SYNC_MAX_OFF);

/* Find the modes that an active, idle encoder accepts: bit n is set for mode n. */
void sft_instruction_probe(struct sft_encoder *e)
{
	u32 mode;

	for (mode = 1; mode <= FIELD_MAX(TR_CONTROL_INSTRUCTION); mode++) {
		sft_component_control(&e->c, TR_CONTROL_ACTIVE |
				      FIELD_PREP(TR_CONTROL_INSTRUCTION, mode));
		if (FIELD_GET(TR_CONTROL_INSTRUCTION, sft_read(&e->c, TR_CONTROL)) == mode)
			e->instruction_modes |= BIT(mode);
	}
}

static bool is_sync(u32 value, u32 most)
{
	return value <= most || value == SIFIVE_TRACE_INSTRUCTION_NO_SYNC;
}

/* Check the form of a request. */
int sft_instruction_valid(const struct sifive_trace_config *config, struct sft_why *why)
{
	const struct sifive_trace_instruction *i = &config->instruction;
	const u32 flags = SIFIVE_TRACE_INSTRUCTION_ALL | SIFIVE_TRACE_INSTRUCTION_CHILDREN;

	if (i->flags & ~flags || i->reserved)
		return sft_fail(why, -EINVAL,
				"instruction trace: unknown flags %#x, or reserved field is %#x, not 0",
				i->flags & ~flags, i->reserved);
	if (!i->mode && (i->flags || i->sync_branches || i->sync_bytes || i->timestamps))
		return sft_fail(why, -EINVAL,
				"instruction trace: mode is 0, but other fields are not");
	if (!i->mode)
		return 0;
	if (!is_sync(i->sync_branches, SYNC_BRANCHES_MAX) ||
	    !is_sync(i->sync_bytes, SYNC_BYTES_MAX))
		return sft_fail(why, -EINVAL,
				"instruction trace: sync_branches is %u, not 0 to %u; sync_bytes is %u, not 0 to %u (%u: none)",
				i->sync_branches, SYNC_BRANCHES_MAX, i->sync_bytes,
				SYNC_BYTES_MAX, SIFIVE_TRACE_INSTRUCTION_NO_SYNC);
	if (i->timestamps > FIELD_MAX(TR_TS_BRANCH))
		return sft_fail(why, -EINVAL,
				"instruction trace: timestamps is %u, not 0 to 3",
				i->timestamps);
	if (i->timestamps && config->flags & SIFIVE_TRACE_CONFIG_NO_TIMESTAMP)
		return sft_fail(why, -EINVAL,
				"instruction trace: timestamps cannot be combined with NO_TIMESTAMP");
	if (config->channels & SFT_OWNERS)
		return sft_fail(why, -EINVAL,
				"channels %#x: instruction trace uses stimulus registers 15 and 31",
				config->channels);
	return 0;
}

/* Return the modes of an encoder as text. */
static const char *modes_text(const struct sft_encoder *e, char *text, size_t size)
{
	unsigned long modes = e->instruction_modes;
	size_t used = 0;
	unsigned int n;

	scnprintf(text, size, "none");
	for_each_set_bit(n, &modes, BITS_PER_LONG)
		used += scnprintf(text + used, size - used, used ? ", %u" : "%u", n);
	return text;
}

/* Check that an encoder accepts the mode. */
int sft_instruction_check(const struct sft_encoder *e, u32 mode, struct sft_why *why)
{
	char text[32];

	if (!mode || (mode < 32 && e->instruction_modes & BIT(mode)))
		return 0;
	return sft_fail(why, -EOPNOTSUPP, "%s: has no instruction mode %u: it has %s",
			sft_name(&e->c), mode, modes_text(e, text, sizeof(text)));
}

/*
 * Return an encoder's enabled stimulus registers: those of the channels, and the register for
 * Ownership messages.
 */
u32 sft_instruction_stimulus(const struct sft_capture *cap)
{
	return cap->channels |
	       (cap->instruction.mode ? BIT(SIFIVE_TRACE_INSTRUCTION_OWNER) : 0);
}

/* Return the control register's fields for instruction trace, except the mode. */
u32 sft_instruction_control(const struct sft_capture *cap)
{
	const struct sifive_trace_instruction *i = &cap->instruction;

	if (!i->mode)
		return FIELD_PREP(TR_CONTROL_INSTRUMENTATION, TR_INSTRUMENTATION_ITC) |
		       FIELD_PREP(TR_CONTROL_SYNC_MAX_BTM, TR_SYNC_MAX_OFF) |
		       FIELD_PREP(TR_CONTROL_SYNC_MAX_INST, TR_SYNC_MAX_OFF);
	return FIELD_PREP(TR_CONTROL_INSTRUMENTATION, TR_INSTRUMENTATION_BOTH) |
	       FIELD_PREP(TR_CONTROL_SYNC_MAX_BTM, i->sync_branches) |
	       FIELD_PREP(TR_CONTROL_SYNC_MAX_INST, i->sync_bytes);
}

/* Return whether the encoder has its own sink, which stops when full. */
static bool can_fill(const struct sft_encoder *e, const struct sft_sink *s)
{
	return s->owner == &e->c && !(sft_hw.capture.flags & SIFIVE_TRACE_CONFIG_RING);
}

/*
 * An encoder's own sink clears the enable bit when it is full. A later write of the control
 * register, to trace another thread, would set the bit again. The sink's last bytes are therefore
 * not used.
 */
static bool is_nearly_full(const struct sft_encoder *e, const struct sft_sink *s)
{
	return can_fill(e, s) && sft_sink_room(s) <= MARGIN;
}

static bool is_full(const struct sft_encoder *e, const struct sft_sink *s)
{
	return can_fill(e, s) && (!sft_component_enabled(&e->c) || is_nearly_full(e, s));
}

/* Check that a sink is larger than its unused last bytes. */
int sft_instruction_check_sink(const struct sft_sink *s, struct sft_why *why)
{
	const struct sft_capture *cap = &sft_hw.capture;

	if (!cap->instruction.mode || !s->owner->is_encoder || s->size > MARGIN ||
	    cap->flags & SIFIVE_TRACE_CONFIG_RING)
		return 0;
	return sft_fail(why, -EINVAL,
			"%s: %zu bytes are too few for instruction trace: use RING, or %s",
			sft_name(s->owner), s->size,
			s->kind == SIFIVE_TRACE_SINK_SRAM ? "SBA" : "a larger buffer");
}

static void end_stream(struct sft_encoder *e, struct sft_sink *s)
{
	sft_component_control(&e->c, e->c.control & ~(u32)(TR_CONTROL_INSTRUCTION |
				     TR_CONTROL_TRACING | TR_CONTROL_ENABLE));
	s->closed = true;
}

static void put_owner(const struct sft_encoder *e, u32 thread)
{
	sft_write(&e->c, TR_ITC_STIMULUS + 4 * SIFIVE_TRACE_INSTRUCTION_OWNER,
		  SIFIVE_TRACE_INSTRUCTION_PROCESS(thread));
}

/*
 * Set the instruction mode to @mode, where 0 means no trace. Called while the hart runs thread
 * @now, before it switches to @next. @s is the encoder's sink. The capture is running; interrupts
 * are disabled; the caller runs on the encoder's hart. Clearing teTracing ends the previous trace;
 * setting it sends a Sync message. Returns whether instructions are traced.
 */
bool sft_instruction_trace(struct sft_encoder *e, struct sft_sink *s, u32 mode, u32 now, u32 next)
{
	u32 control = e->c.control & ~(u32)TR_CONTROL_INSTRUCTION;

	sft_encoder_look(e);
	if (is_full(e, s)) {
		if (mode || control != e->c.control)
			end_stream(e, s);
		return false;
	}
	if (!sft_component_enabled(s->owner))
		mode = 0;
	sft_component_control(&e->c, e->c.control & ~(u32)TR_CONTROL_TRACING);
	sft_component_control(&e->c, control | FIELD_PREP(TR_CONTROL_INSTRUCTION, mode));
	if (mode) {
		put_owner(e, now);
		put_owner(e, next);
	}
	return mode;
}

/* Return whether a program has changed the instruction mode through the stimulus page. */
bool sft_instruction_changed(const struct sft_component *c)
{
	return (sft_read(c, TR_CONTROL) ^ c->control) & TR_CONTROL_INSTRUCTION;
}

/*
 * Undo a program's change to the instruction mode; returns whether there was one. Called on the
 * encoder's hart with interrupts disabled: otherwise the sink could fill before the write, and the
 * write would enable the encoder again.
 */
bool sft_instruction_restore(struct sft_encoder *e)
{
	struct sft_sink *s = sft_route_end(e);
	u32 value = sft_read(&e->c, TR_CONTROL);

	if (!((value ^ e->c.control) & TR_CONTROL_INSTRUCTION))
		return false;
	if (value & TR_CONTROL_STALL_OR_OVERFLOW)
		e->stalled = true;
	if (value & TR_CONTROL_ENABLE && is_nearly_full(e, s)) {
		end_stream(e, s);
		return true;
	}
	value &= ~(u32)(TR_CONTROL_INSTRUCTION | TR_CONTROL_SINK_ERROR);
	sft_write(&e->c, TR_CONTROL, value | (e->c.control & TR_CONTROL_INSTRUCTION));
	return true;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timestamp units. In each cluster, the funnel's unit (the encoder's, if there is no funnel)
 * is the master and has its own clock. Slaves show the master's time.
 */

#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/timex.h>

#include <linux/sifive_trace_regs.h>

#include "hardware.h"

/* A timestamp that does not change during these waits is not running. */
#define TICK_TRIES	20
#define TICK_WAIT_US	50

#define MEASURE_US	5000

/* Number of times to read a clock; the fastest read is used. */
#define SAMPLE_TRIES	4

/* Maximum number of attempts at one read, in case tsUpper is broken and never becomes stable. */
#define READ_TRIES	4

u32 sft_timestamp_type(const struct sft_component *c)
{
	return FIELD_GET(TR_TS_TYPE, c->ts_unit);
}

u32 sft_timestamp_width(const struct sft_component *c)
{
	return FIELD_GET(TR_TS_WIDTH, c->ts_unit);
}

static bool has_clock(const struct sft_component *c)
{
	u32 type = sft_timestamp_type(c);

	return type >= TR_TS_TYPE_EXTERNAL && type <= TR_TS_TYPE_CORE;
}

/* Return a mask of the prescales that an active component's unit implements, bit n for value n. */
u32 sft_timestamp_prescales(struct sft_component *c)
{
	u32 value, held = BIT(0);

	if (!has_clock(c))
		return held;
	sft_write(c, TR_TS_CONTROL, TR_TS_ACTIVE);
	for (value = 1; value <= FIELD_MAX(TR_TS_PRESCALE); value++) {
		sft_write(c, TR_TS_CONTROL,
			  TR_TS_ACTIVE | FIELD_PREP(TR_TS_PRESCALE, value));
		if (FIELD_GET(TR_TS_PRESCALE, sft_read(c, TR_TS_CONTROL)) == value)
			held |= BIT(value);
	}
	return held;
}

/* Return the unit that timestamps an encoder's messages, or NULL if there is none. */
struct sft_component *sft_timestamp_master(struct sft_encoder *e)
{
	struct sft_component *c;

	if (sft_timestamp_type(&e->c) == TR_TS_TYPE_NONE)
		return NULL;
	for (c = &e->c; c; c = c->down)
		if (has_clock(c))
			return c;
	return NULL;
}

/* Start a unit, master or slave, and enable timestamps in its component's messages. */
int sft_timestamp_start(struct sft_component *c, u32 prescale, struct sft_why *why)
{
	u32 control = TR_TS_ACTIVE;

	sft_write(c, TR_TS_CONTROL, control);
	if (!(sft_read(c, TR_TS_CONTROL) & TR_TS_ACTIVE))
		return sft_fail(why, -EIO, "%s: timestamp unit does not become active",
				sft_name(c));
	control |= FIELD_PREP(TR_TS_PRESCALE, prescale) | TR_TS_COUNT |
		   TR_TS_ENABLE | TR_TS_INSTRUMENTATION | TR_TS_OWNERSHIP;
	if (c->is_encoder)
		control |= FIELD_PREP(TR_TS_BRANCH, sft_hw.capture.instruction.timestamps);
	sft_write(c, TR_TS_CONTROL, control);
	if (has_clock(c) &&
	    FIELD_GET(TR_TS_PRESCALE, sft_read(c, TR_TS_CONTROL)) != prescale)
		return sft_fail(why, -EIO, "%s: timestamp prescale is not %u",
				sft_name(c), prescale);
	return 0;
}

/* Return whether the time in this component's registers advances. */
bool sft_timestamp_ticks(const struct sft_component *c)
{
	u32 first = sft_read(c, TR_TS_LOWER);
	unsigned int i;

	for (i = 0; i < TICK_TRIES; i++) {
		usleep_range(TICK_WAIT_US, 2 * TICK_WAIT_US);
		if (sft_read(c, TR_TS_LOWER) != first)
			return true;
	}
	return false;
}

/*
 * Read a component's time. Called with interrupts disabled, so that the time is still current when
 * the caller uses it.
 */
u64 sft_timestamp_read(const struct sft_component *c)
{
	u32 high, low, again, tries = READ_TRIES;

	again = sft_read(c, TR_TS_UPPER);
	do {
		high = again;
		low = sft_read(c, TR_TS_LOWER);
		again = sft_read(c, TR_TS_UPPER);
	} while (again != high && --tries);
	return (u64)high << 32 | low;
}

/*
 * Read a unit's time, then the kernel's time. Returns the maximum number of nanoseconds
 * between the two reads.
 */
static u64 read_time(const struct sft_component *c, u64 *time, ktime_t *now)
{
	unsigned long flags;
	ktime_t before;

	local_irq_save(flags);
	before = ktime_get();
	*time = sft_timestamp_read(c);
	*now = ktime_get();
	local_irq_restore(flags);
	return ktime_to_ns(ktime_sub(*now, before));
}

/* Return the clock of an encoder in the capture, or NULL if the encoder has none. */
static struct sft_component *captured_clock(struct sft_encoder *e)
{
	return sft_route_has(e) && sft_component_reachable(&e->c) ? sft_timestamp_master(e) : NULL;
}

/* Return the clock of a sink's messages, or NULL if there is no clock, or more than one. */
static struct sft_component *sink_clock(const struct sft_sink *s)
{
	struct sft_component *clock, *found = NULL;
	struct sft_encoder *e;

	for_each_encoder(e) {
		if (!(s->encoders & BIT_ULL(e->index)))
			continue;
		clock = captured_clock(e);
		if (!clock || !sft_timestamp_width(clock) || (found && clock != found))
			return NULL;
		found = clock;
	}
	return found;
}

/* Read a sink's clock. Sets @to to 0 if the sink has no clock that can be read. */
void sft_timestamp_sample(const struct sft_sink *s, struct sft_sample *to)
{
	struct sft_component *clock = sink_clock(s);
	unsigned int tries = SAMPLE_TRIES;
	u64 time, within;
	ktime_t now;

	memset(to, 0, sizeof(*to));
	if (!clock || sft_hw.capture.flags & SIFIVE_TRACE_CONFIG_NO_TIMESTAMP)
		return;
	while (tries--) {
		within = read_time(clock, &time, &now);
		if (to->ns && within >= to->within)
			continue;
		to->time = time & GENMASK_ULL(min(sft_timestamp_width(clock), 64u) - 1, 0);
		to->ns = ktime_to_ns(now);
		to->within = within;
	}
	/* The kernel's clock advances in steps of a timebase tick. */
	to->within += DIV_ROUND_UP(NSEC_PER_SEC, riscv_timebase);
}

static bool has_several_clocks(void)
{
	const struct sft_component *clock, *first = NULL;
	struct sft_encoder *e;

	for_each_encoder(e) {
		clock = captured_clock(e);
		if (clock && first && clock != first)
			return true;
		first = first ?: clock;
	}
	return false;
}

/*
 * Start the clocks of several clusters together, so that times from all encoders are comparable.
 * The time of a clock that cannot be reset does not change.
 */
void sft_timestamp_align(void)
{
	const struct sft_component *clock;
	struct sft_encoder *e;
	unsigned long flags;

	if (!has_several_clocks())
		return;
	local_irq_save(flags);
	for_each_encoder(e) {
		clock = captured_clock(e);
		if (clock)
			sft_write(clock, TR_TS_CONTROL,
				  sft_read(clock, TR_TS_CONTROL) | TR_TS_RESET);
	}
	local_irq_restore(flags);
}

/* Measure the rate of a running master if no clock provides it. */
void sft_timestamp_measure(struct sft_component *c, u32 prescale)
{
	u32 width = sft_timestamp_width(c);
	ktime_t start, end;
	u64 first, last;

	if (!width)
		return;
	read_time(c, &first, &start);
	usleep_range(MEASURE_US, 2 * MEASURE_US);
	read_time(c, &last, &end);
	last = (last - first) & GENMASK_ULL(min(width, 64u) - 1, 0);
	c->ts_hz = div64_u64(last * NSEC_PER_SEC,
			     ktime_to_ns(ktime_sub(end, start))) << (2 * prescale);
	c->ts_measured = true;
}

/* Return the timestamp rate of an encoder's messages in ticks per second, or 0 if unknown. */
u64 sft_timestamp_hz(struct sft_encoder *e, u32 prescale)
{
	struct sft_component *master = sft_timestamp_master(e);

	return master ? master->ts_hz >> (2 * prescale) : 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Assigns counters to events. Firmware does not report which events a counter can count, so each
 * event is tried on every free counter of every CPU. The results show whether each event can have
 * its own counter. If so, such an assignment is found regardless of the order of the events.
 */

#include <linux/bitfield.h>
#include <linux/smp.h>

#include <asm/csr.h>
#include <asm/sbi.h>

#include "counters.h"

/* Counters with a readable CSR, on each CPU. */
static DEFINE_PER_CPU(u32, readable);

/* Return the name of a counter, for messages. */
const char *sft_counter_name(u32 counter)
{
	static const char * const names[] = {
		"cycle", "time", "instret", "hpmcounter3", "hpmcounter4",
		"hpmcounter5", "hpmcounter6", "hpmcounter7", "hpmcounter8",
		"hpmcounter9", "hpmcounter10", "hpmcounter11", "hpmcounter12",
		"hpmcounter13", "hpmcounter14", "hpmcounter15", "hpmcounter16",
		"hpmcounter17", "hpmcounter18", "hpmcounter19", "hpmcounter20",
		"hpmcounter21", "hpmcounter22", "hpmcounter23", "hpmcounter24",
		"hpmcounter25", "hpmcounter26", "hpmcounter27", "hpmcounter28",
		"hpmcounter29", "hpmcounter30", "hpmcounter31",
	};

	return names[counter];
}

/* Return the hart id of one of the session's CPUs, which all have encoders. */
u64 sft_hart_of(unsigned int cpu)
{
	struct sft_encoder *e;

	for_each_encoder(e)
		if (e->cpu == (int)cpu)
			return e->hart;
	return cpu;
}

bool sft_is_timestamp(const struct sifive_trace_event *ev)
{
	return ev->type == SBI_PMU_EVENT_TYPE_HW &&
	       ev->code == SIFIVE_TRACE_EVENT_TIMESTAMP;
}

/* Return whether firmware itself counts the event. */
bool sft_is_firmware(const struct sifive_trace_event *ev)
{
	return ev->type == SIFIVE_TRACE_EVENT_FIRMWARE;
}

#define MODES	(SIFIVE_TRACE_EVENT_NO_USER | SIFIVE_TRACE_EVENT_NO_KERNEL)

/* Check an array entry, used or not, for unknown flags. */
int sft_choose_unused(const struct sifive_trace_event *ev, u32 at,
		      struct sft_why *why)
{
	if (ev->flags & ~MODES || ev->turn)
		return sft_fail(why, -EINVAL, "event %u: unknown flags %#x or turn %u",
				at, ev->flags & ~MODES, ev->turn);
	return 0;
}

/* Reject invalid requests before accessing the hardware. */
int sft_choose_check(const struct sifive_trace_event *ev, u32 at,
		     struct sft_why *why)
{
	int ret = sft_choose_unused(ev, at, why);

	if (ret)
		return ret;
	if (ev->flags == MODES)
		return sft_fail(why, -EINVAL,
				"event %u: flags exclude both user mode and the kernel",
				at);
	if (ev->flags && sft_is_timestamp(ev))
		return sft_fail(why, -EINVAL,
					"event %u: the timestamp counts in all modes: clear its flags",
					at);
	if (ev->flags && sft_is_firmware(ev))
		return sft_fail(why, -EINVAL,
				"event %u: firmware events are counted in all modes: clear the flags",
				at);
	if (ev->type > SBI_PMU_EVENT_TYPE_RAW && !sft_is_firmware(ev))
		return sft_fail(why, -EINVAL,
				"event %u: type is %u, not 0 (general), 1 (cache), 2 (raw) or 15 (firmware)",
				at, ev->type);
	if (ev->type == SBI_PMU_EVENT_TYPE_RAW ? ev->code : ev->data != 0)
		return sft_fail(why, -EINVAL,
				"event %u: a raw event must have only data, other events only a code",
				at);
	if (sft_is_firmware(ev) && ev->code >= SBI_PMU_FW_MAX)
		return sft_fail(why, -EINVAL,
				"event %u: invalid firmware event %u: it must be 0 to %u",
				at, ev->code, SBI_PMU_FW_MAX - 1);
	if (ev->code > U16_MAX || (ev->type == SBI_PMU_EVENT_TYPE_HW && !ev->code))
		return sft_fail(why, -EINVAL, "event %u: invalid code %#x", at, ev->code);
	return 0;
}

static void probe_here(void *arg)
{
	u32 mask = 0, n;
	u64 value;

	for (n = 0; n < SIFIVE_TRACE_MAX_COUNTERS; n++)
		if (n != SFT_TIMESTAMP && sft_csr_read(n, &value))
			mask |= BIT(n);
	this_cpu_write(readable, mask);
}

/*
 * Determine which counters exist and which are readable. Counters that firmware does not delegate
 * are not used.
 */
void sft_choose_begin(struct sft_choice *ch, const struct cpumask *cpus)
{
	unsigned long index, info;
	unsigned int cpu;
	u32 n;

	ch->cpus = cpus;
	for (index = 0; index < sft_sbi_counters(); index++) {
		info = sft_sbi_info(index);
		n = FIELD_GET(SIFIVE_TRACE_COUNTER_CSR, info) - CSR_CYCLE;
		if (!info || n == SFT_TIMESTAMP || n >= SIFIVE_TRACE_MAX_COUNTERS)
			continue;
		ch->known |= BIT(n);
		ch->index[n] = index;
		ch->info[n] = info & (SIFIVE_TRACE_COUNTER_CSR | SIFIVE_TRACE_COUNTER_WIDTH);
	}
	ch->readable = ch->known;
	for_each_cpu(cpu, cpus) {
		smp_call_function_single(cpu, probe_here, NULL, 1);
		ch->readable &= per_cpu(readable, cpu);
	}
}

/**
 * struct trial - an attempt to count an event on the counters of one CPU
 * @ch:		the counters
 * @want:	the event
 * @mask:	in: counters to try; out: counters that can count the event
 */
struct trial {
	const struct sft_choice *ch;
	struct sft_counter want;
	u32 mask;
};

static void try_here(void *arg)
{
	struct trial *t = arg;
	u32 n;

	for (n = 0; n < SIFIVE_TRACE_MAX_COUNTERS; n++) {
		if (!(t->mask & BIT(n)))
			continue;
		t->want.index = t->ch->index[n];
		if (sft_sbi_take(&t->want, 0))
			t->mask &= ~BIT(n);
		else
			sft_sbi_release(t->want.index);
	}
}

/* Return a mask of the counters in @mask that can count the event on all CPUs now. */
static u32 try_counters(const struct sft_choice *ch, const struct sft_counter *want,
			u32 mask)
{
	struct trial t = { .ch = ch, .want = *want, .mask = mask };
	unsigned int cpu;

	for_each_cpu(cpu, ch->cpus)
		smp_call_function_single(cpu, try_here, &t, 1);
	return t.mask;
}

/*
 * Return a mask of the counters to try: the event's own fixed counter, which cannot distinguish
 * modes, and all programmable counters.
 */
static u32 candidates(const struct sft_choice *ch, const struct sft_counter *want)
{
	u32 mask = ~(u32)SFT_FIXED;

	if (!want->flags && want->event == SBI_PMU_HW_CPU_CYCLES)
		mask |= BIT(SFT_CYCLE);
	if (!want->flags && want->event == SBI_PMU_HW_INSTRUCTIONS)
		mask |= BIT(SFT_INSTRET);
	return sft_counters_pinned() ? ch->known & mask & SFT_FIXED : ch->known & mask;
}

static int withheld(const struct sft_choice *ch, u32 mask, u32 at,
		    struct sft_why *why)
{
	unsigned int cpu;

	for_each_cpu(cpu, ch->cpus)
		if (mask & ~per_cpu(readable, cpu))
			return sft_fail(why, -EOPNOTSUPP,
					"event %u: firmware does not let user mode read %s on hart %llu",
					at,
					sft_counter_name(__ffs(mask & ~per_cpu(readable, cpu))),
					sft_hart_of(cpu));
	return 0;
}

static void see_running_here(void *arg)
{
	struct trial *t = arg;
	u32 n;

	for (n = 0; n < SIFIVE_TRACE_MAX_COUNTERS; n++)
		if (t->mask & BIT(n) && !sft_sbi_runs(t->ch->index[n]))
			t->mask &= ~BIT(n);
}

/*
 * Firmware's error does not distinguish a busy counter from an unsuitable one, so a running counter
 * is considered busy.
 */
static bool some_in_use(const struct sft_choice *ch, u32 mask)
{
	unsigned int cpu;

	for_each_cpu(cpu, ch->cpus) {
		struct trial t = { .ch = ch, .mask = mask };

		smp_call_function_single(cpu, see_running_here, &t, 1);
		if (t.mask)
			return true;
	}
	return false;
}

static int choose_pinned(struct sft_choice *ch, const struct sifive_trace_event *ev,
			 u32 at, u32 mask, struct sft_why *why)
{
	if (ev->flags)
		return sft_fail(why, -EOPNOTSUPP,
				"event %u: without Sscofpmf, no counter can distinguish user mode from the kernel",
				at);
	if (!mask)
		return sft_fail(why, -EOPNOTSUPP,
				"event %u: without Sscofpmf, only cycles and instructions can be counted alongside perf",
				at);
	/* perf would crash if it read a counter that is not delegated. */
	if (ch->known & ~ch->readable)
		return withheld(ch, ch->known, at, why);
	ch->possible[at] = mask;
	return 0;
}

/* Find the counters that can count event @at. */
int sft_choose_event(struct sft_choice *ch, const struct sifive_trace_event *ev,
		     u32 at, struct sft_why *why)
{
	struct sft_counter *want = &ch->want[at];
	u32 mask;

	*want = (struct sft_counter){
		.event = ev->type << 16 | ev->code,
		.data = ev->data,
		.flags = ev->flags,
	};
	ch->count = at + 1;
	mask = candidates(ch, want);
	if (sft_counters_pinned())
		return choose_pinned(ch, ev, at, mask, why);
	ch->possible[at] = try_counters(ch, want, mask & ch->readable);
	if (ch->possible[at])
		return 0;
	if (mask && !(mask & ch->readable))
		return withheld(ch, mask, at, why);
	if (some_in_use(ch, mask & ch->readable))
		return sft_fail(why, -EBUSY, "event %u: no counter that can count it is free",
				at);
	return sft_fail(why, -EOPNOTSUPP,
			"event %u: no counter counts type %u, code %#x, data %#llx%s",
			at, ev->type, ev->code, ev->data,
			ev->flags ? " in one mode alone" : "");
}

static void set_counter(struct sft_choice *ch, u32 at, u32 n)
{
	ch->want[at].counter = n;
	ch->want[at].index = ch->index[n];
	ch->want[at].width = FIELD_GET(SIFIVE_TRACE_COUNTER_WIDTH, ch->info[n]) + 1;
}

/*
 * Assign a counter to event @at. If another event has that counter, move the other event to a
 * different counter. @tried: mask of the counters that have been tried.
 */
static bool assign(struct sft_choice *ch, s8 *holder, u32 at, u32 *tried)
{
	u32 mask, n;
	int pass;

	/* Prefer free counters. */
	for (pass = 0; pass < 2; pass++)
		for (mask = ch->possible[at] & ~*tried; mask; mask &= mask - 1) {
			n = __ffs(mask);
			if (pass ? *tried & BIT(n) : holder[n] >= 0)
				continue;
			*tried |= BIT(n);
			if (holder[n] >= 0 && !assign(ch, holder, holder[n], tried))
				continue;
			holder[n] = at;
			set_counter(ch, at, n);
			return true;
		}
	return false;
}

/* Choose a counter for each event. On failure, @failed is the event without a counter. */
int sft_choose_counters(struct sft_choice *ch, u32 *failed, struct sft_why *why)
{
	s8 holder[SIFIVE_TRACE_MAX_COUNTERS];
	u32 tried, kept, at;

	memset(holder, -1, sizeof(holder));
	for (at = 0; at < ch->count; at++) {
		tried = 0;
		if (!ch->possible[at] || assign(ch, holder, at, &tried))
			continue;
		*failed = at;
		kept = candidates(ch, &ch->want[at]) & ~ch->readable;
		return kept ? withheld(ch, kept, at, why) :
		       sft_fail(why, -EBUSY, "event %u: all counters that can count it are taken",
				at);
	}
	return 0;
}

/* Return whether counter @n is wide enough for its upper bits to contain the turn. */
static bool can_turn(const struct sft_choice *ch, u32 n)
{
	return FIELD_GET(SIFIVE_TRACE_COUNTER_WIDTH, ch->info[n]) + 1 >= SIFIVE_TRACE_TURNS_WIDTH;
}

/*
 * Events with a fixed counter are always counted. Let the other events take turns, on counters that
 * are wide enough. Returns a mask of these other events.
 */
static u32 begin_turns(struct sft_choice *ch)
{
	u32 at, n, turn = 0;

	for (at = 0; at < ch->count; at++) {
		if (!ch->possible[at])
			continue;
		ch->want[at].turn = SFT_ALWAYS;
		n = __ffs(ch->possible[at]);
		if (BIT(n) & SFT_FIXED) {
			set_counter(ch, at, n);
			continue;
		}
		turn |= BIT(at);
		for (; n < SIFIVE_TRACE_MAX_COUNTERS; n++)
			if (!can_turn(ch, n))
				ch->possible[at] &= ~BIT(n);
	}
	return turn;
}

/*
 * Choose counters for events that take turns because there are too few counters. Each turn is
 * assigned as many events as possible, in order.
 */
int sft_choose_turns(struct sft_choice *ch, u32 *failed, struct sft_why *why)
{
	u32 left = begin_turns(ch), before, mask, tried, at;
	s8 holder[SIFIVE_TRACE_MAX_COUNTERS];

	for (ch->turns = 0; left; ch->turns++) {
		before = left;
		*failed = __ffs(left);
		if (ch->turns == SIFIVE_TRACE_TURNS_MAX)
			return sft_fail(why, -EBUSY, "event %u: more than %u turns would be needed",
					*failed, SIFIVE_TRACE_TURNS_MAX);
		memset(holder, -1, sizeof(holder));
		for (mask = left; mask; mask &= mask - 1) {
			at = __ffs(mask);
			tried = 0;
			if (!ch->possible[at] || !assign(ch, holder, at, &tried))
				continue;
			ch->want[at].turn = ch->turns;
			left &= ~BIT(at);
		}
		if (left == before)
			return sft_fail(why, -EBUSY,
					"event %u: no counter of %u bits that can count it is free",
					*failed, SIFIVE_TRACE_TURNS_WIDTH);
	}
	return 0;
}

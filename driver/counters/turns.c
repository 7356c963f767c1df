// SPDX-License-Identifier: GPL-2.0-only
/*
 * More events than counters: events take turns on the programmable counters. A turn is a
 * period of a joined thread's running time or, for hart counts, of the running time of all
 * joined threads on a hart.
 *
 * The upper bits of each count contain its turn (SIFIVE_TRACE_TURN_BITS), because the turn is part
 * of the counter's start value. A record therefore needs no extra instruction, and is correct even
 * if the turn changes while the counters are being read. The reader needs no information about the
 * order of changes and records. A timer interrupt changes the turn. The interrupt does not restart
 * a thread's restartable sequence, so its handler must not change the thread's offsets. Instead,
 * the handler sets the counters to match the offsets.
 */

#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include "../hardware/compat.h"
#include "counters.h"

#define NO_TURN	(~0u)

/* A turn with less remaining time than this ends when its thread stops running. */
#define LEAST_NS	20000

/**
 * struct here - the turn on a CPU; accessed only on that CPU, with interrupts disabled
 * @timer:	timer that ends the turn
 * @now:	turns of the running thread or hart, or NULL if no thread of the session is running
 * @offset:	offsets that the running thread adds to the counters, by counter, or NULL if none
 * @counting:	the turn whose events the counters count, or NO_TURN
 * @hart:	the turns of the hart's own counts
 */
struct here {
	struct hrtimer timer;
	struct sft_turn *now;
	const u64 *offset;
	u32 counting;
	struct sft_turn hart;
};

static DEFINE_PER_CPU(struct here, here);

/* Return a period's turn: the lower bits of the period's number. */
static u32 turn_of(u64 period)
{
	return period & (BIT(SIFIVE_TRACE_TURN_BITS) - 1);
}

static u64 next_period(u64 period)
{
	if (turn_of(period) + 1 < sft_counters.turns)
		return period + 1;
	return (period | (BIT(SIFIVE_TRACE_TURN_BITS) - 1)) + 1;
}

/* Return the bit position in a count at which the period begins. */
static u32 shift_of(const struct sft_counter *c)
{
	return min_t(u32, c->width, SIFIVE_TRACE_RECORD_COUNT_BITS) -
	       SIFIVE_TRACE_TURN_BITS - SIFIVE_TRACE_ROUND_BITS;
}

/*
 * Return the event that @counter counts in a turn. If @counter is unused in that turn, return an
 * event that it counts in another turn; the resulting count is not used.
 */
static const struct sft_counter *find(u32 counter, u32 turn)
{
	const struct sft_counter *c, *other = NULL;

	for (c = sft_counters.turned; c < sft_counters.turned + sft_counters.turned_count; c++) {
		if (c->counter != counter)
			continue;
		if (c->turn == turn)
			return c;
		other = c;
	}
	return other;
}

/*
 * Switch the counters to the events of the period's turn. If @begins is set, the counters start at
 * the period's initial value, otherwise at their current values. If firmware refuses to start a
 * counter, the counter is stopped, and the next check reports that.
 */
static void count(struct here *h, u64 period, bool begins)
{
	unsigned long mask = sft_counters.turning;
	const struct sft_counter *c;
	unsigned int n;
	u64 value;

	h->counting = turn_of(period);
	for_each_set_bit(n, &mask, SIFIVE_TRACE_MAX_COUNTERS) {
		c = find(n, h->counting);
		if (begins)
			value = (period << shift_of(c)) - (h->offset ? h->offset[n] : 0);
		else if (!sft_csr_read(n, &value))
			continue;
		sft_sbi_release(c->index);
		sft_sbi_take(c, value);
		sft_counters_note(n, value);
	}
}

/*
 * Return whether a hart's count has nearly overflowed, because no thread of the session has run for
 * a long time.
 */
static bool is_too_long(const struct here *h)
{
	unsigned long mask = sft_counters.turning;
	const struct sft_counter *c;
	unsigned int n;
	u64 value;

	for_each_set_bit(n, &mask, SIFIVE_TRACE_MAX_COUNTERS) {
		c = find(n, 0);
		if (!sft_csr_read(n, &value))
			return true;
		value = (value - (h->hart.period << shift_of(c))) & GENMASK_ULL(c->width - 1, 0);
		if (value >> (shift_of(c) - 1))
			return true;
	}
	return false;
}

static void next(struct here *h)
{
	h->now->period = next_period(h->now->period);
	count(h, h->now->period, true);
}

static enum hrtimer_restart over(struct hrtimer *timer)
{
	struct here *h = container_of(timer, struct here, timer);

	if (!h->now)
		return HRTIMER_NORESTART;
	next(h);
	hrtimer_forward_now(timer, ns_to_ktime(sft_counters.turn_ns));
	return HRTIMER_RESTART;
}

/*
 * Called when a thread that has joined begins to run here. @own: the thread's turns, or NULL to use
 * the hart's turns. The thread adds @offset to the counters until sft_turns_end(); the caller sets
 * @offset after this call, to continue the thread's counts. Called with interrupts disabled.
 */
void sft_turns_begin(struct sft_turn *own, const u64 *offset)
{
	struct here *h = this_cpu_ptr(&here);
	s64 left;

	h->now = own ?: &h->hart;
	h->offset = own ? offset : NULL;
	if (!own && (h->counting == NO_TURN || is_too_long(h)))
		next(h);
	else if (h->counting != turn_of(h->now->period))
		count(h, h->now->period, false);
	left = h->now->left ?: sft_counters.turn_ns;
	hrtimer_start(&h->timer, ns_to_ktime(left), HRTIMER_MODE_REL_PINNED_HARD);
}

/*
 * Called when the thread for which sft_turns_begin() was called stops running here, with interrupts
 * disabled.
 */
void sft_turns_end(void)
{
	struct here *h = this_cpu_ptr(&here);
	s64 left;

	if (!h->now)
		return;
	left = ktime_to_ns(hrtimer_get_remaining(&h->timer));
	/* hrtimer_cancel() cannot deadlock, because the timer's function runs only on this CPU. */
	hrtimer_cancel(&h->timer);
	/* Without this, the timer might never expire for a thread whose runs are all very short. */
	if (left < LEAST_NS) {
		next(h);
		left = 0;
	}
	h->now->left = left;
	h->now = NULL;
}

/* Called when a counter was taken on this CPU: the counters' current turn is then unknown. */
void sft_turns_forget(void)
{
	this_cpu_write(here.counting, NO_TURN);
}

void sft_turns_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		sft_hrtimer_setup(&per_cpu_ptr(&here, cpu)->timer, over,
				  HRTIMER_MODE_REL_PINNED_HARD);
		per_cpu_ptr(&here, cpu)->counting = NO_TURN;
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session's counters. With Sscofpmf, the driver requests them from firmware. Firmware grants a
 * programmable counter to a single owner, but a fixed counter to every caller, so the driver
 * withholds the session's fixed counters from perf. Without Sscofpmf, perf provides the counters
 * through pinned events. In both cases, a counter has the same number on every hart of the session,
 * and user mode can read it until the session ends. A counter that stops counting is reported.
 */

#include <linux/bitfield.h>
#include <linux/cpu.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/time64.h>

#include <asm/hwcap.h>
#include <asm/sbi.h>

#include "counters.h"

/* Length of a turn in microseconds: the default and the minimum. */
#define TURN_US		4000
#define TURN_LEAST	1000

struct sft_counters sft_counters;

/* Value of each counter when it was last read, on each CPU. */
static DEFINE_PER_CPU(u64 [SIFIVE_TRACE_MAX_COUNTERS], seen);

/* Last values of the previous set of counters, while it is being replaced. */
static DEFINE_PER_CPU(u64 [SIFIVE_TRACE_MAX_COUNTERS], seen_before);

/**
 * struct request - an operation on a counter of one CPU
 * @c:		the counter
 * @value:	start value
 * @error:	error from firmware
 * @why:	reason why the counter has stopped counting, or NULL
 * @ours:	no other user has stopped or restarted the counter
 */
struct request {
	const struct sft_counter *c;
	u64 value;
	long error;
	const char *why;
	bool ours;
};

/* Return whether counters are obtained as pinned perf events; the result is constant after boot. */
bool sft_counters_pinned(void)
{
	return !riscv_isa_extension_available(NULL, SSCOFPMF);
}

/*
 * Return the sources of counters: SIFIVE_TRACE_INFO_COUNTERS* and
 * _FIXED_SHARED, or 0 if there are none.
 */
u32 sft_counters_available(void)
{
	if (!sft_sbi_available())
		return 0;
	if (sft_counters_pinned())
		return sft_perf_known() ? SIFIVE_TRACE_INFO_COUNTERS_PERF : 0;
	return SIFIVE_TRACE_INFO_COUNTERS |
	       (sft_perf_unknown() ? SIFIVE_TRACE_INFO_FIXED_SHARED : 0);
}

static int not_available(u32 at, struct sft_why *why)
{
	return sft_fail(why, -EOPNOTSUPP, "event %u: counters need %s", at,
			sft_sbi_available() ? "Sscofpmf, or perf's SBI driver" :
					      "firmware with SBI PMU");
}

/* ---- one counter on one CPU ------------------------------------------------ */

/*
 * Return whether this is one of firmware's own counters. Firmware's counters have a single owner,
 * even without Sscofpmf.
 */
static bool counts_firmware(const struct sft_counter *c)
{
	return c->event >> 16 == SBI_PMU_EVENT_TYPE_FW;
}

static bool is_pinned(const struct sft_counter *c)
{
	return sft_counters_pinned() && !counts_firmware(c);
}

static bool read_here(const struct sft_counter *c, u64 *value)
{
	return counts_firmware(c) ? sft_sbi_read(c->index, value) :
				    sft_csr_read(c->counter, value);
}

/* Read one of the session's counters by number, on this CPU. */
bool sft_counters_read(u32 counter, u64 *value)
{
	return sft_counters.firmware & BIT(counter) ?
	       sft_sbi_read(sft_counters.index[counter], value) :
	       sft_csr_read(counter, value);
}

/* Record that a counter on this CPU continues from @value. Called with interrupts disabled. */
void sft_counters_note(u32 counter, u64 value)
{
	this_cpu_write(seen[counter], value);
}

static void take_here(void *arg)
{
	struct request *r = arg;

	r->error = sft_sbi_take(r->c, r->value);
	sft_turns_forget();
	sft_counters_note(r->c->counter, r->value);
}

/* Save the current value, so that a later decrease can be detected. */
static void note_here(void *arg)
{
	struct request *r = arg;

	read_here(r->c, this_cpu_ptr(&seen[r->c->counter]));
}

/*
 * Check that a counter is still running, and that no other user has restarted it. A restarted
 * counter is below its last value, or above that value by about half the counter's range, because
 * perf starts counters at half their range. Firmware counters are only read: sft_sbi_runs() does
 * not work for them, because OpenSBI accepts a request to start one that is already running.
 */
static void check_here(void *arg)
{
	struct request *r = arg;
	u64 value, last = this_cpu_read(seen[r->c->counter]);

	r->ours = false;
	if (!counts_firmware(r->c) && !sft_sbi_runs(r->c->index)) {
		r->why = "was stopped";
	} else if (!read_here(r->c, &value)) {
		r->why = "can no longer be read";
		r->ours = true;
	} else if (r->c->width == 64 && (s64)(value - last) < 0) {
		r->why = "was set to another value";
	} else {
		this_cpu_write(seen[r->c->counter], value);
		r->ours = true;
	}
}

/* Do not stop a counter that another user has restarted. */
static void release_here(void *arg)
{
	struct request *r = arg;

	check_here(r);
	if (r->ours)
		sft_sbi_release(r->c->index);
}

static int take_on(unsigned int cpu, const struct sft_counter *c, u64 value)
{
	struct request r = { .c = c, .value = value };
	int ret;

	if (is_pinned(c)) {
		ret = sft_pinned_take(cpu, c, value);
		if (!ret)
			ret = smp_call_function_single(cpu, note_here, &r, 1);
		return ret;
	}
	ret = smp_call_function_single(cpu, take_here, &r, 1);
	return ret ?: r.error ? -EBUSY : 0;
}

static void release_on(unsigned int cpu, const struct sft_counter *c)
{
	struct request r = { .c = c };

	if (is_pinned(c))
		sft_pinned_release(cpu, c->counter);
	else
		smp_call_function_single(cpu, release_here, &r, 1);
}

/* Return the reason why a counter has stopped counting, or NULL if it is counting. */
static const char *check_on(unsigned int cpu, const struct sft_counter *c)
{
	struct request r = { .c = c };

	if (is_pinned(c) && !sft_pinned_counts(cpu, c))
		return "was taken by another perf event";
	if (smp_call_function_single(cpu, check_here, &r, 1))
		return "went offline with its CPU";
	return r.why;
}

/* ---- all counters of the session -------------------------------------------- */

static void release_all(void)
{
	unsigned int cpu, i;

	for_each_cpu(cpu, &sft_counters.cpus)
		for (i = 0; i < sft_counters.count; i++)
			release_on(cpu, &sft_counters.taken[i]);
	sft_counters.count = 0;
	sft_counters.turning = 0;
	sft_counters.turned_count = 0;
	sft_reserve_release();
}

/* Withhold a session's fixed counter from perf, because firmware grants it to every caller. */
static int reserve(const struct sft_counter *c)
{
	if (!(BIT(c->counter) & SFT_FIXED) || sft_counters_pinned())
		return 0;
	return sft_reserve_take(cpumask_first(&sft_counters.cpus), c);
}

/* Start a counter from 0 on all CPUs of the session, or on none. */
static int take(const struct sft_counter *c)
{
	unsigned int cpu, undo;
	int ret = reserve(c);

	if (ret)
		return ret;
	for_each_cpu(cpu, &sft_counters.cpus) {
		ret = take_on(cpu, c, 0);
		if (!ret)
			continue;
		for_each_cpu(undo, &sft_counters.cpus) {
			if (undo == cpu)
				break;
			release_on(undo, c);
		}
		return ret;
	}
	sft_counters.taken[sft_counters.count++] = *c;
	return 0;
}

/* Add an event that takes turns. Returns whether an event added earlier uses the same counter. */
static bool add_turned(const struct sft_counter *c)
{
	const bool taken = sft_counters.turning & BIT(c->counter);

	if (c->turn == SFT_ALWAYS)
		return false;
	sft_counters.turned[sft_counters.turned_count++] = *c;
	sft_counters.turning |= BIT(c->counter);
	return taken;
}

/*
 * Take the chosen counters. If another user has taken a chosen counter in the meantime, exclude
 * that counter and choose again.
 */
static int take_chosen(struct sft_choice *ch, bool turns, u32 *failed, struct sft_why *why)
{
	u32 at;
	int ret;

again:
	ch->turns = 0;
	ret = sft_choose_counters(ch, failed, turns ? NULL : why);
	if (ret && turns)
		ret = sft_choose_turns(ch, failed, why);
	if (ret)
		return ret;
	for (at = 0; at < ch->count; at++) {
		if (!ch->possible[at] || (ch->turns && add_turned(&ch->want[at])))
			continue;
		*failed = at;
		ret = take(&ch->want[at]);
		if (!ret)
			continue;
		if (ret != -EBUSY)
			return sft_fail(why, ret, "event %u: cannot start its counter: error %d",
					at, -ret);
		release_all();
		ch->possible[at] &= ~BIT(ch->want[at].counter);
		if (ch->possible[at])
			goto again;
		return sft_fail(why, -EBUSY, "event %u: %s is in use", at,
				sft_counter_name(ch->want[at].counter));
	}
	return 0;
}

/*
 * The trace timestamp is counter 1. The timestamp has no CSR; programs read it from the stimulus
 * page.
 */
static int take_timestamp(struct sifive_trace_event *ev, u32 at,
			  struct sft_why *why)
{
	struct sft_component *master = NULL;
	struct sft_encoder *e;

	for_each_encoder(e) {
		if (!sft_route_has(e))
			continue;
		master = sft_timestamp_master(e);
		if (!master || !e->ts_readable)
			return sft_fail(why, -EOPNOTSUPP, "event %u: %s has no running timestamp",
					at, sft_name(&e->c));
	}
	ev->counter = SFT_TIMESTAMP;
	ev->info = FIELD_PREP(SIFIVE_TRACE_COUNTER_WIDTH, sft_timestamp_width(master) - 1);
	sft_counters.mask |= BIT(SFT_TIMESTAMP);
	return 0;
}

static int check_event(const struct sifive_trace_counters *arg, u32 at,
		       struct sft_why *why)
{
	const struct sifive_trace_event *ev = &arg->event[at], *other;
	struct sifive_trace_event plain = *ev;

	for (other = arg->event; other < ev; other++)
		if (other->type == ev->type && other->code == ev->code &&
		    other->data == ev->data && other->flags == ev->flags)
			return sft_fail(why, -EINVAL, "event %u repeats event %td: leave one out",
					at, other - arg->event);
	if (ev->flags & SIFIVE_TRACE_EVENT_OF_SAMPLES && !sft_perf_known())
		return sft_fail(why, -EOPNOTSUPP,
				"event %u: the count of samples cannot be read from this kernel's perf driver: use a counter of the session",
				at);
	if (ev->flags & SIFIVE_TRACE_EVENT_OF_SAMPLES && sft_is_firmware(ev))
		return sft_fail(why, -EINVAL,
				"event %u: firmware events do not interrupt, so they cannot be sampled",
				at);
	plain.flags &= ~SIFIVE_TRACE_EVENT_OF_SAMPLES;
	return sft_choose_check(&plain, at, why);
}

/* Reject invalid requests before accessing the hardware. */
static int check_events(struct sifive_trace_counters *arg, struct sft_why *why)
{
	int ret;
	u32 i;

	if (arg->turn_us && (!(arg->flags & SIFIVE_TRACE_COUNTERS_TURNS) ||
			     arg->turn_us < TURN_LEAST ||
			     arg->turn_us > SIFIVE_TRACE_TURN_LONGEST))
		return sft_fail(why, -EINVAL,
				"turns of %u us: set the flag for turns, and use %u to %u us",
				arg->turn_us, TURN_LEAST, SIFIVE_TRACE_TURN_LONGEST);
	for (i = 0; i < SIFIVE_TRACE_MAX_COUNTERS; i++) {
		arg->failed = i < arg->count ? i : ~0u;
		ret = i < arg->count ? check_event(arg, i, why) :
				       sft_choose_unused(&arg->event[i], i, why);
		if (ret)
			return ret;
	}
	return 0;
}

/* An event whose counter has no CSR is given the number of a free programmable counter. */
static int give_number(struct sifive_trace_event *ev, u32 at, u32 width, struct sft_why *why)
{
	u32 unused = ~(sft_counters_recorded() | SFT_FIXED);

	if (!unused)
		return sft_fail(why, -EBUSY, "event %u: no counter number is free", at);
	ev->counter = __fls(unused);
	ev->info = FIELD_PREP(SIFIVE_TRACE_COUNTER_WIDTH, width - 1);
	return 0;
}

static int number_sampled(struct sifive_trace_event *ev, u32 at, struct sft_why *why)
{
	int ret;

	if (sft_counters.sampled)
		return sft_fail(why, -EINVAL, "event %u: only one event can be left to sampling",
				at);
	ret = give_number(ev, at, 64, why);
	if (!ret)
		sft_counters.sampled = BIT(ev->counter);
	return ret;
}

static int no_firmware(u32 at, struct sft_why *why)
{
	return sft_fail(why, -EOPNOTSUPP, "event %u: firmware does not count its events", at);
}

/*
 * Take a firmware counter; each firmware counter can count any firmware event. OpenSBI counts an
 * event only on the first counter that is configured for it, so the session takes the first
 * counters: perf then cannot configure an earlier one for the same event.
 */
static int take_firmware(struct sifive_trace_event *ev, u32 at, struct sft_why *why)
{
	unsigned int n = hweight32(sft_counters.firmware);
	struct sft_counter c = {
		.event = ev->type << 16 | ev->code, .width = BITS_PER_LONG,
	};
	int ret;

	if (!sft_sbi_available())
		return no_firmware(at, why);
	c.index = sft_sbi_firmware(n);
	if (c.index == sft_sbi_counters())
		return n ? sft_fail(why, -EBUSY, "event %u: firmware counts only %u of its events",
				    at, n) : no_firmware(at, why);
	ret = give_number(ev, at, c.width, why);
	if (ret)
		return ret;
	c.counter = ev->counter;
	if (take(&c))
		return sft_fail(why, -EBUSY,
				"event %u: firmware has no counter for it, or another program counts firmware events: end that program first",
				at);
	sft_counters.firmware |= BIT(c.counter);
	sft_counters.index[c.counter] = c.index;
	return 0;
}

/* Events without a CSR are numbered after all other events have been assigned counters. */
static bool has_csr(const struct sifive_trace_event *ev)
{
	return !(ev->flags & SIFIVE_TRACE_EVENT_OF_SAMPLES) && !sft_is_firmware(ev);
}

static int take_events(struct sifive_trace_counters *arg, struct sft_choice *ch,
		       struct sft_why *why)
{
	struct sifive_trace_event *ev = arg->event;
	u32 i, mask = 0;
	int ret;

	if (sft_counters_available())
		sft_choose_begin(ch, &sft_counters.cpus);
	for (i = 0; i < arg->count; i++) {
		arg->failed = i;
		if (!has_csr(&ev[i]))
			continue;
		if (sft_is_timestamp(&ev[i]))
			ret = take_timestamp(&ev[i], i, why);
		else if (!sft_counters_available())
			ret = not_available(i, why);
		else
			ret = sft_choose_event(ch, &ev[i], i, why);
		if (ret)
			return ret;
	}
	ret = take_chosen(ch, arg->flags & SIFIVE_TRACE_COUNTERS_TURNS, &arg->failed, why);
	if (ret)
		return ret;
	sft_counters.turns = ch->turns;
	sft_counters.turn_ns = (arg->turn_us ?: TURN_US) * NSEC_PER_USEC;
	for (i = 0; i < ch->count; i++) {
		if (!ch->possible[i])
			continue;
		ev[i].counter = ch->want[i].counter;
		ev[i].info = ch->info[ev[i].counter];
		if (ch->turns && ch->want[i].turn != SFT_ALWAYS)
			ev[i].turn = ch->want[i].turn + 1;
		mask |= BIT(ev[i].counter);
	}
	sft_counters.mask |= mask;
	sft_counters.per_thread = arg->flags & SIFIVE_TRACE_COUNTERS_PER_THREAD;
	for (i = 0; !ret && i < arg->count; i++) {
		arg->failed = i;
		if (ev[i].flags & SIFIVE_TRACE_EVENT_OF_SAMPLES)
			ret = number_sampled(&ev[i], i, why);
		else if (sft_is_firmware(&ev[i]))
			ret = take_firmware(&ev[i], i, why);
	}
	if (ret)
		return ret;
	for (i = 0; i < arg->count; i++)
		sft_counters.event[ev[i].counter] = ev[i];
	return 0;
}

static void try_firmware_here(void *arg)
{
	struct request *r = arg;

	r->error = sft_sbi_take(r->c, 0);
	if (!r->error)
		sft_sbi_release(r->c->index);
}

/* Determine whether the session can take another firmware counter on @cpu now. */
static int query_firmware(struct sifive_trace_query *query, unsigned int cpu,
			  struct sft_why *why)
{
	bool taken = cpumask_test_cpu(cpu, &sft_counters.cpus);
	struct sft_counter c = { .event = query->event.type << 16 | query->event.code };
	struct request r = { .c = &c };

	if (!sft_sbi_available() || sft_sbi_firmware(0) == sft_sbi_counters())
		return no_firmware(0, why);
	query->known = 0;
	query->readable = 0;
	query->counters = 0;
	c.index = sft_sbi_firmware(taken ? hweight32(sft_counters.firmware) : 0);
	if (c.index < sft_sbi_counters() &&
	    !smp_call_function_single(cpu, try_firmware_here, &r, 1) && !r.error)
		query->counters = BIT(SIFIVE_TRACE_MAX_COUNTERS - 1);
	return 0;
}

/* Determine which counters can count an event on this CPU now. */
int sft_counters_query(struct sifive_trace_query *query, struct sft_why *why)
{
	unsigned int cpu = raw_smp_processor_id();
	struct sft_choice *ch;
	int ret;

	ret = sft_choose_check(&query->event, 0, why);
	if (ret)
		return ret;
	if (sft_is_firmware(&query->event))
		return query_firmware(query, cpu, why);
	if (!sft_counters_available())
		return not_available(0, why);
	ch = kzalloc(sizeof(*ch), GFP_KERNEL);
	if (!ch)
		return -ENOMEM;
	sft_choose_begin(ch, cpumask_of(cpu));
	query->known = ch->known;
	query->readable = ch->readable;
	query->counters = 0;
	if (!sft_is_timestamp(&query->event) &&
	    !sft_choose_event(ch, &query->event, 0, NULL))
		query->counters = ch->possible[0];
	/* The only way to detect that perf has released a counter is to try to take it. */
	if (query->counters && sft_counters_pinned()) {
		if (sft_choose_counters(ch, &ch->count, NULL) ||
		    sft_pinned_take(cpu, &ch->want[0], 0))
			query->counters = 0;
		else
			sft_pinned_release(cpu, ch->want[0].counter);
	}
	kfree(ch);
	return 0;
}

/* ---- losses and hotplug ---------------------------------------------------- */

/*
 * Record that a counter has stopped counting on a CPU. Only the reason for the first loss is kept
 * for the report. After one firmware counter is lost, other firmware counters may miss events.
 */
static void lose(const struct sft_counter *c, unsigned int cpu, const char *why)
{
	struct sft_counters *all = &sft_counters;

	if (all->lost & BIT(c->counter))
		return;
	all->lost |= counts_firmware(c) ? all->firmware : BIT(c->counter);
	if (all->unreported)
		return;
	all->unreported = why;
	all->unreported_counter = c->counter;
	all->unreported_hart = sft_hart_of(cpu);
}

/*
 * Report lost counters as text: why the first counter was lost, and which other counters were lost.
 * Returns whether there was a new loss.
 */
bool sft_counters_report(struct sft_why *why)
{
	struct sft_counters *all = &sft_counters;
	unsigned long others = all->lost & ~BIT(all->unreported_counter);
	const char *name = sft_counter_name(all->unreported_counter);
	const char *what = all->unreported, *whose = "its values";

	if (!what)
		return false;
	all->unreported = NULL;
	if (all->firmware & BIT(all->unreported_counter)) {
		name = "a counter of firmware";
		whose = "the counts of firmware events";
		others &= ~(unsigned long)all->firmware;
	}
	if (others)
		sft_add(why,
			"%s %s on hart %llu: do not trust %s, nor those of counter%s %*pbl",
			name, what, all->unreported_hart, whose,
			hweight_long(others) > 1 ? "s" : "",
			SIFIVE_TRACE_MAX_COUNTERS, &others);
	else
		sft_add(why, "%s %s on hart %llu: do not trust %s", name, what,
			all->unreported_hart, whose);
	return true;
}

static void check_cpu(unsigned int cpu)
{
	const char *why;
	unsigned int i;

	for (i = 0; i < sft_counters.count; i++) {
		why = check_on(cpu, &sft_counters.taken[i]);
		if (why)
			lose(&sft_counters.taken[i], cpu, why);
	}
}

/*
 * Detect counters that were stopped, moved or reassigned. Save the current values of all other
 * counters, in case these are lost later.
 */
void sft_counters_check(struct sft_why *why)
{
	unsigned int cpu;

	for_each_cpu(cpu, &sft_counters.cpus)
		check_cpu(cpu);
	sft_counters_report(why);
}

/*
 * After system sleep, continue each counter from its current value, or from its last known value if
 * the hart lost the counter. User space is already running and may have read the current values.
 */
void sft_counters_resume(void)
{
	bool suspended = false;
	unsigned int cpu, i;

	for_each_cpu(cpu, &sft_counters.cpus)
		for (i = 0; i < sft_counters.count; i++) {
			const struct sft_counter *c = &sft_counters.taken[i];

			if (!check_on(cpu, c))
				continue;
			if (!suspended)
				sft_access_suspend();
			suspended = true;
			release_on(cpu, c);
			if (take_on(cpu, c, per_cpu(seen[c->counter], cpu)))
				lose(c, cpu, "did not resume");
		}
	sft_access_resume();
}

/* Called when a CPU goes offline: until it is online again, the session has no counters on it. */
void sft_counters_cpu_offline(unsigned int cpu, struct sft_why *why)
{
	unsigned int i;

	if (!cpumask_test_cpu(cpu, &sft_counters.cpus))
		return;
	sft_access_cpu_offline(cpu);
	check_cpu(cpu);
	for (i = 0; i < sft_counters.count; i++)
		release_on(cpu, &sft_counters.taken[i]);
	cpumask_clear_cpu(cpu, &sft_counters.cpus);
	sft_counters_report(why);
}

/*
 * Called after a CPU has come online. Its counters continue from their last values, so that
 * differences from earlier reads remain correct. Does nothing if the CPU already has its counters,
 * for example if only its stream failed to restart.
 */
void sft_counters_cpu_online(unsigned int cpu)
{
	unsigned int i;

	if (cpumask_test_cpu(cpu, &sft_counters.cpus))
		return;
	for (i = 0; i < sft_counters.count; i++) {
		const struct sft_counter *c = &sft_counters.taken[i];

		if (take_on(cpu, c, per_cpu(seen[c->counter], cpu)))
			lose(c, cpu, "did not restart with its CPU");
	}
	cpumask_set_cpu(cpu, &sft_counters.cpus);
	sft_access_cpu_online(cpu);
}

/* ---- replacing counters ----------------------------------------------------- */

/* Stop the session's counters and save their configuration and values. */
static void suspend(struct sft_counters *earlier)
{
	unsigned int cpu;

	/* If the call fails, its error message also reports a loss that is detected here. */
	for_each_cpu(cpu, &sft_counters.cpus)
		check_cpu(cpu);
	sft_access_suspend();
	*earlier = sft_counters;
	release_all();
	/*
	 * Include offline CPUs: their counters continue from these values when they come online.
	 */
	for_each_possible_cpu(cpu) {
		memcpy(per_cpu(seen_before, cpu), per_cpu(seen, cpu), sizeof(seen));
		memset(per_cpu(seen, cpu), 0, sizeof(seen));
	}
}

/*
 * Continue the previous counters from their last values, except counters that another user has
 * taken.
 */
static void resume(const struct sft_counters *earlier, struct sft_why *why)
{
	const struct sft_counter *c;
	unsigned int cpu;
	bool lost;

	release_all();
	sft_counters = *earlier;
	for_each_possible_cpu(cpu)
		memcpy(per_cpu(seen, cpu), per_cpu(seen_before, cpu), sizeof(seen));
	for (c = earlier->taken; c < earlier->taken + earlier->count; c++) {
		lost = reserve(c);
		for_each_cpu(cpu, &sft_counters.cpus)
			if (lost || take_on(cpu, c, per_cpu(seen[c->counter], cpu)))
				lose(c, cpu, "was no longer free");
	}
	sft_access_resume();
	sft_counters_report(why);
}

/* Take counters for @arg's events, or resume the previous set, @earlier. */
static int replace(struct sifive_trace_counters *arg, struct sft_choice *ch,
		   const struct sft_counters *earlier, struct sft_why *why)
{
	int ret;

	memset(&sft_counters, 0, sizeof(sft_counters));
	sft_route_cpus(&sft_counters.cpus);
	if (arg->count && cpumask_empty(&sft_counters.cpus))
		ret = sft_fail(why, -ENXIO, "no CPU of the session's encoders is online");
	else
		ret = take_events(arg, ch, why);
	if (ret) {
		resume(earlier, why);
		return ret;
	}
	sft_sampling_release();
	sft_access_stop();
	sft_access_start(sft_counters.mask);
	return 0;
}

/*
 * Replace the session's counters with those for @arg's events. On failure, the session keeps its
 * previous counters, and @arg->failed is the event that was refused.
 */
int sft_counters_take(struct sifive_trace_counters *arg, struct sft_why *why)
{
	struct sft_counters *earlier;
	struct sft_choice *ch;
	int ret;

	ret = check_events(arg, why);
	if (ret)
		return ret;
	ch = kzalloc(sizeof(*ch), GFP_KERNEL);
	earlier = kmalloc(sizeof(*earlier), GFP_KERNEL);
	if (ch && earlier) {
		suspend(earlier);
		ret = replace(arg, ch, earlier, why);
	} else {
		ret = -ENOMEM;
	}
	kfree(earlier);
	kfree(ch);
	if (ret)
		return ret;
	arg->failed = ~0u;
	arg->mask = sft_counters.mask;
	return 0;
}

/* Revoke user-mode access and release all counters. Sampling has already stopped. */
void sft_counters_release(void)
{
	sft_sampling_release();
	sft_access_stop();
	release_all();
	memset(&sft_counters, 0, sizeof(sft_counters));
}

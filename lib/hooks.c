// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A hook jumps to the writer of the moment: one that returns at once, one of the
 * straight ones, which are made for the sets of counters that a driver hands out
 * to a program that has the counters to itself, a short one, which finds out what
 * to write when it is at it, or the long way, which can do everything. Whatever is
 * unusual for a straight or a short writer goes the long way, too.
 */
#include <stddef.h>

#include <linux/sifive_trace.h>

#include "auto.h"
#include "emit.h"
#include "fault.h"
#include "filter.h"
#include "hooks.h"
#include "section.h"

/* Records that handlers make before what they interrupt counts as given up. */
#define PATIENCE	1024

/* Only a header, where that is due. */
#define NO_RECORD	PERF_RECORD_BREAK

typedef void hook_writer(uintptr_t function, uintptr_t site, uint32_t kind);

PERF_LOCAL void write_nothing(uintptr_t function, uintptr_t site, uint32_t kind)
{
	(void)function;
	(void)site;
	(void)kind;
}

/* At function entry and exit: this, or that where a filter lets it through. */
static hook_writer *volatile hook = write_nothing;
static hook_writer *volatile filtered = write_nothing;

/* For explicit records. */
static hook_writer *volatile manual = write_nothing;

/* A program that has hooks has the constructor, also from a static library. */
__attribute__((used)) static void (*const with_hooks)(void) = perf_auto_start;

/* ---- the long way ------------------------------------------------------- */

/* The lane of a thread on a CPU, NULL when that has no encoder here. */
PERF_LOCAL struct perf_lane *lane_of(const struct perf_thread *thread, int32_t cpu)
{
	unsigned int index = 0;

	if (cpu >= 0 && cpu < PERF_CPU_NUMBERS)
		index = perf_pool->index[cpu];
	return index ? &perf_pool->lane[thread->channel][index - 1] : NULL;
}

PERF_LOCAL bool read_counters(struct perf_thread *thread,
			      const struct perf_lane *lane,
			      const volatile int32_t *mine, uint64_t *now)
{
	const struct perf_layout *layout = &perf_pool->layout;
	uint32_t i;

	if (!perf_section_any(thread->rseq, mine, lane->stream.ts, now,
			      layout->number, layout->count, thread->offset))
		return false;
	/* A thread's own counts can be sums. */
	for (i = 0; i < layout->count; i++)
		now[i] &= layout->width[i];
	return true;
}

PERF_LOCAL bool is_refused(struct perf_thread *thread)
{
	if (PERF_LIKELY(thread->refused == PERF_REFUSED_NOT))
		return false;
	if (thread->refused == PERF_REFUSED_ONCE)
		thread->refused = PERF_REFUSED_NOT;
	return true;
}

/* Tell that the record that was written last stays incomplete. */
PERF_LOCAL void write_break(struct perf_stream *stream)
{
	perf_emit8(stream->stimulus, PERF_RECORD_BREAK,
		   stream->layout->poll != PERF_POLL_NOT);
}

/* Begin a lane's records anew where that is due: from counters of @now. */
PERF_LOCAL bool write_header(struct perf_thread *thread, struct perf_lane *lane,
			     const uint64_t *now)
{
	const uint64_t bit = UINT64_C(1) << (lane - perf_pool->lane[thread->channel]);
	uint32_t generation = perf_pool->generation;

	if (lane->generation == generation && !lane->torn &&
	    !(thread->fresh & bit))
		return false;
	if (lane->torn)
		write_break(&lane->stream);
	/* First, as the header may be what is left half-way. */
	lane->torn = false;
	lane->generation = generation;
	thread->fresh &= ~bit;
	perf_stream_header(&lane->stream, now);
	return true;
}

/* Whether records may go out, and those of what the thread has joined. */
PERF_LOCAL bool may_write(const struct perf_thread *thread)
{
	/* In this order: what is opened has had its number before. */
	return __atomic_load_n(&perf_pool->open, __ATOMIC_ACQUIRE) &
	       PERF_OPEN_MANUAL && thread->epoch == perf_pool->epoch;
}

/* Write what signal handlers have left. The gate is closed. */
PERF_LOCAL void drain(struct perf_thread *thread)
{
	while (thread->head != thread->tail) {
		struct perf_pending *p = &thread->queue[thread->head % PERF_QUEUE];
		struct perf_lane *lane = lane_of(thread, p->cpu);

		if (p->complete && lane && may_write(thread)) {
			/* Where it is torn if it is never finished. */
			thread->cpu = PERF_CPU_NOBODY;
			thread->lane = lane;
			write_header(thread, lane, p->now);
			perf_stream_record(&lane->stream, p->kind, p->address,
					   p->address2, p->now);
		} else {
			perf_lost_count(&perf_losses()->signals);
		}
		p->complete = false;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		thread->head = thread->head + 1;
	}
}

PERF_INLINE void close_gate(struct perf_thread *thread, uintptr_t frame)
{
	thread->gate = PERF_GATE(frame);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

PERF_INLINE void open_gate(struct perf_thread *thread)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->gate = (intptr_t)thread;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Records that signal handlers have left while this one was being written. */
PERF_LOCAL __attribute__((noinline, cold)) void settle(struct perf_thread *thread)
{
	thread->stuck = false;
	thread->waiting = 0;
	while (thread->head != thread->tail) {
		close_gate(thread, (uintptr_t)__builtin_frame_address(0));
		drain(thread);
		open_gate(thread);
	}
}

/* Of a writer whose record was given up while it was at it. */
PERF_LOCAL __attribute__((noinline, cold))
void given_up(struct perf_thread *thread, struct perf_lane *lane)
{
	lane->torn = true;
	thread->cpu = PERF_CPU_NOBODY;
}

/*
 * Find the lane of the CPU that the thread is on, with its header written, and
 * read the counters there. Returns NULL when no record can be written: @loss counts it.
 */
PERF_LOCAL struct perf_lane *prepare(struct perf_thread *thread, uint64_t *now,
				     __u64 **loss)
{
	const intptr_t gate = thread->gate;

	while (thread->gate == gate) {
		int32_t cpu = (int32_t)thread->rseq->cpu_id;
		struct perf_lane *lane = lane_of(thread, cpu);

		drain(thread);
		*loss = lane ? &perf_losses()->refused : &perf_losses()->threads;
		if (!lane || is_refused(thread))
			return NULL;

		/* From here on, whoever wants to be heard takes the CPU away. */
		thread->lane = lane;
		thread->cpu = cpu;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (!may_write(thread))
			return NULL;
		if (thread->head != thread->tail)
			continue;

		/* A header's cost is no part of the first record's counts. */
		if (read_counters(thread, lane, &thread->cpu, now) &&
		    !write_header(thread, lane, now))
			return lane;
	}
	return NULL;
}

/* Whether a record that cannot be written is a loss: also in a pause. */
PERF_LOCAL bool is_wanted(const struct perf_thread *thread)
{
	return perf_pool->open && thread->epoch == perf_pool->epoch;
}

/* Write a record, when there is one; the gate is closed, and opened. */
PERF_LOCAL void write_claimed(struct perf_thread *thread, uint32_t kind,
			      uintptr_t address, uintptr_t address2)
{
	const intptr_t gate = thread->gate;
	uint64_t now[PERF_COUNTER_MAX];
	__u64 *loss = &perf_losses()->threads;
	struct perf_lane *lane = prepare(thread, now, &loss);

	if (!lane)
		thread->cpu = PERF_CPU_NOBODY;
	else if (kind != NO_RECORD)
		perf_stream_record(&lane->stream, kind, address, address2, now);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (thread->gate != gate) {
		if (lane)
			given_up(thread, lane);
		return;
	}
	/* Before that is open, as who pauses or ends the trace waits for it. */
	if (!lane && kind != NO_RECORD && is_wanted(thread))
		perf_lost_count(loss);
	open_gate(thread);
	settle(thread);
}

/* In a signal handler: leave the record to the one that is being written. */
PERF_LOCAL void queue_record(struct perf_thread *thread, uint32_t kind,
			     uintptr_t address, uintptr_t address2)
{
	uint64_t now[PERF_COUNTER_MAX];
	struct perf_pending *pending;
	struct perf_lane *lane;
	uint32_t tail, i;
	int32_t cpu;

	/* Counters in the queue's order, also when handlers interrupt handlers. */
	for (;;) {
		tail = thread->tail;
		cpu = (int32_t)thread->rseq->cpu_id;
		lane = lane_of(thread, cpu);
		if (tail - thread->head >= PERF_QUEUE || !lane ||
		    is_refused(thread)) {
			perf_lost_count(&perf_losses()->signals);
			return;
		}
		thread->reading = cpu;
		if (read_counters(thread, lane, &thread->reading, now) &&
		    __atomic_compare_exchange_n(&thread->tail, &tail, tail + 1,
						false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			break;
	}

	pending = &thread->queue[tail % PERF_QUEUE];
	pending->kind = kind;
	pending->cpu = cpu;
	pending->address = address;
	pending->address2 = address2;
	for (i = 0; i < perf_pool->layout.count; i++)
		pending->now[i] = now[i];
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pending->complete = true;
}

PERF_LOCAL __attribute__((noinline, cold))
void write_long(uintptr_t address, uintptr_t address2, uint32_t kind)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	struct perf_thread *thread = perf_self;

	/* Closed, or the empty pool of a child. */
	if (!perf_pool || !perf_pool->open)
		return;
	if (perf_pool->open & PERF_OPEN_PAUSED) {
		perf_lost_count(&perf_losses()->threads);
		return;
	}

	if (thread->epoch != perf_pool->epoch) {
		thread = perf_thread_join();
		if (!thread) {
			perf_thread_lose();
			return;
		}
	}
	if (PERF_UNLIKELY(thread->lent) && perf_thread_is_child(thread)) {
		perf_lost_count(&perf_losses()->children);
		return;
	}

	if (thread->gate < 0) {
		if (!perf_frame_left(PERF_GATE_FRAME(thread->gate), frame) &&
		    thread->waiting++ < PATIENCE) {
			queue_record(thread, kind, address, address2);
			/* So that it is found, before records with later counters. */
			thread->cpu = PERF_CPU_NOBODY;
			return;
		}
		perf_thread_give_up(thread, false);
	}

	close_gate(thread, frame);
	thread->waiting = 0;
	write_claimed(thread, kind, address, address2);
	/* Set up anew in the meantime, by another thread. */
	if (PERF_UNLIKELY(thread->epoch != perf_pool->epoch))
		write_long(address, address2, kind);
}

/* Of a straight writer that has closed the gate, and finds something unusual. */
PERF_LOCAL __attribute__((noinline, cold))
void write_instead(uintptr_t address, uintptr_t address2, uint32_t kind)
{
	struct perf_thread *thread = perf_self;

	/* In a child that was made in the meantime, it has none. */
	if (!thread->tid)
		return;
	if (thread->epoch == perf_pool->epoch && !thread->lent) {
		write_claimed(thread, kind, address, address2);
		return;
	}
	open_gate(thread);
	write_long(address, address2, kind);
}

/* ---- the straight writers ----------------------------------------------- */

/* Close the gate: that, and for whom, is one store, as a signal may come any time. */
PERF_INLINE void close_straight(struct perf_thread *thread)
{
#if defined(__riscv) && __riscv_xlen == 64
	intptr_t gate;

	__asm__ volatile("neg %0, sp" : "=r"(gate));
	thread->gate = gate;
#else
	thread->gate = PERF_GATE((uintptr_t)__builtin_frame_address(0));
#endif
}

/* The record is written: open the gate, unless somebody else has done so. */
PERF_INLINE void finish(struct perf_thread *thread, struct perf_lane *lane)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (PERF_UNLIKELY(thread->gate > 0)) {
		given_up(thread, lane);
		return;
	}
	open_gate(thread);
	if (PERF_UNLIKELY(thread->cpu < 0))
		settle(thread);
}

/* Not in the writers: it would need registers that they would have to save. */
PERF_LOCAL __attribute__((noinline, cold))
void finish_long(struct perf_thread *thread, struct perf_lane *lane)
{
	const struct perf_layout *layout = lane->stream.layout;

	perf_emit_long(&lane->stream, thread->value, layout->count, false);
	finish(thread, lane);
}

/* The counters of perf_section_usual(). */
PERF_INLINE void write_straight(uintptr_t function, uintptr_t site, uint32_t kind,
				const uint32_t type, const bool poll,
				const bool ts, const uint32_t hpm)
{
	register struct perf_thread *thread PERF_REGISTER("t3") = perf_self;
	register struct perf_lane *lane PERF_REGISTER("a5");
	register uintptr_t a0 PERF_REGISTER("a0") = function;
	register uintptr_t a1 PERF_REGISTER("a1") = site;
	register uint32_t a2 PERF_REGISTER("a2") = kind;
	const uint32_t count = hpm == PERF_SECTION_NONE ? 0 : (ts ? 3 : 2) + hpm;
	uint64_t now[3 + PERF_SECTION_HPM];
	volatile uint32_t *stimulus;
	uint32_t i;

	if (PERF_UNLIKELY(thread->gate <= 0)) {
		write_long(a0, a1, a2);
		return;
	}

	/* Behind the gate: a signal handler may have moved the thread. */
	close_straight(thread);
	lane = thread->lane;
	if (PERF_UNLIKELY(!perf_section_usual(thread->rseq, &thread->cpu,
					      &lane->stream.ts, now, ts, hpm))) {
		write_instead(a0, a1, a2);
		return;
	}

	/* Not worked on before the counters, which take almost all registers. */
	__asm__ volatile("" : "+r"(a0), "+r"(a1));

	stimulus = lane->stream.stimulus;
	if (poll)
		perf_emit_ready(stimulus);
	perf_emit_place(&lane->stream, stimulus, a2, a0, a1, true,
			type, false);
	if (PERF_UNLIKELY(perf_emit_values(&lane->stream, now, count, type) >> 32)) {
#pragma GCC unroll 8
		for (i = 0; i < count; i++)
			thread->value[i] = now[i];
		finish_long(thread, lane);
		return;
	}
	perf_emit_short(stimulus, now, count, false);
	finish(thread, lane);
}

#define STRAIGHT(type, poll, ts, hpm)					\
PERF_LOCAL void write_straight_##type##_##poll##_##ts##_##hpm(uintptr_t function, \
							      uintptr_t site, \
							      uint32_t kind) \
{									\
	write_straight(function, site, kind, type, poll, ts, hpm);	\
}

#define STRAIGHT_NAME(type, poll, ts, hpm)				\
	write_straight_##type##_##poll##_##ts##_##hpm,

#define STRAIGHT_EACH_HPM(X, type, poll, ts) \
	X(type, poll, ts, 0) X(type, poll, ts, 1) X(type, poll, ts, 2) \
	X(type, poll, ts, 3) X(type, poll, ts, 4) X(type, poll, ts, 5)

#define STRAIGHT_EACH(X, type) \
	STRAIGHT_EACH_HPM(X, type, 0, 0) STRAIGHT_EACH_HPM(X, type, 0, 1) \
	STRAIGHT_EACH_HPM(X, type, 1, 0) STRAIGHT_EACH_HPM(X, type, 1, 1) \
	X(type, 0, 0, 6) X(type, 1, 0, 6)

STRAIGHT_EACH(STRAIGHT, 0)
STRAIGHT_EACH(STRAIGHT, 1)
STRAIGHT_EACH(STRAIGHT, 2)

/*
 * By count type, whether to wait for room, whether the timestamp is among the
 * counters, and hpmcounters or PERF_SECTION_NONE.
 */
static hook_writer *const straight_writers[3][2][2][PERF_SECTION_NONE + 1] = {
#define STRAIGHT_ROW(type, poll) \
	{ { STRAIGHT_EACH_HPM(STRAIGHT_NAME, type, poll, 0) \
	    STRAIGHT_NAME(type, poll, 0, 6) }, \
	  { STRAIGHT_EACH_HPM(STRAIGHT_NAME, type, poll, 1) } }
	{ STRAIGHT_ROW(0, 0), STRAIGHT_ROW(0, 1) },
	{ STRAIGHT_ROW(1, 0), STRAIGHT_ROW(1, 1) },
	{ STRAIGHT_ROW(2, 0), STRAIGHT_ROW(2, 1) },
};

/* ---- the short writers -------------------------------------------------- */

/* Of counters, for the writers that know nothing else of them in advance. */
enum which {
	NO_COUNTER,
	A_RUN,		/* those of perf_section_run() */
	A_RUN_OWN,	/* the same, each thread's own */
	ANY,
};

#define TIMESTAMP	(1u << PERF_COUNTER_TIMESTAMP)

/* Read them, each way by itself: false where the thread is on another CPU. */
PERF_INLINE bool read_which(struct perf_thread *thread,
			    const struct perf_lane *lane,
			    const struct perf_layout *layout, uint64_t *now,
			    const enum which which)
{
	const volatile uint32_t *ts = layout->mask & TIMESTAMP ?
				      lane->stream.ts : NULL;

	if (which == NO_COUNTER)
		return (int32_t)thread->rseq->cpu_id == thread->cpu;
	if (which == ANY)
		return perf_section_any(thread->rseq, &thread->cpu,
					lane->stream.ts, now, layout->number,
					layout->count, thread->offset);
	return perf_section_run(thread->rseq, &thread->cpu, ts, now,
				layout->number, layout->count, thread->offset,
				which == A_RUN_OWN);
}

/*
 * What a record says of counters that have 32 bits or more, one after the other:
 * longer, but without a place for all of it.
 */
PERF_INLINE void emit_each(struct perf_stream *s, volatile uint32_t *stimulus,
			   const uint64_t *now, uint32_t count, const uint32_t type)
{
	const uint64_t *at = now, *const end = now + count;
	uint64_t *last = s->last;

	for (; at < end; at++, last++) {
		uint64_t value = *at;
		uint16_t upper;

		if (type != PERF_COUNT_RAW) {
			uint64_t before = *last;

			*last = value;
			value = type == PERF_COUNT_DELTA ? value - before :
							   value ^ before;
		}
		perf_emit32(stimulus, (unsigned long)value, false);
		if (PERF_LIKELY(!(value >> 32)))
			continue;
		/* Sums and differences are modulo 2^64. */
		upper = (uint16_t)((value & s->layout->width[at - now]) >> 32);
		if (upper)
			perf_emit16(stimulus, upper, false);
	}
}

/* The count type known, which is asked for in each count. */
PERF_INLINE void emit_short(struct perf_lane *lane, uint32_t kind, uintptr_t address,
			    uintptr_t address2, const uint64_t *now,
			    uint32_t count, const uint32_t type)
{
	volatile uint32_t *stimulus = lane->stream.stimulus;

	perf_emit_place(&lane->stream, stimulus, kind, address, address2,
			kind <= PERF_RECORD_EXIT, type, false);
	emit_each(&lane->stream, stimulus, now, count, type);
}

PERF_INLINE void write_short(uintptr_t address, uintptr_t address2, uint32_t kind,
			     const enum which which)
{
	struct perf_thread *thread = perf_self;
	uint64_t now[PERF_COUNTER_MAX];
	const struct perf_layout *layout;
	struct perf_lane *lane;
	uint32_t count;

	if (PERF_UNLIKELY(thread->gate <= 0)) {
		write_long(address, address2, kind);
		return;
	}

	/* As in a straight writer. */
	close_straight(thread);
	lane = thread->lane;
	/* Not the lane's: set up anew, with fewer CPUs, it may have none. */
	layout = &perf_pool->layout;
	if (PERF_UNLIKELY(!read_which(thread, lane, layout, now, which))) {
		write_instead(address, address2, kind);
		return;
	}

	count = which == NO_COUNTER ? 0 : layout->count;
	if (PERF_UNLIKELY(layout->poll))
		perf_emit_ready(lane->stream.stimulus);
	if (layout->type == PERF_COUNT_RAW)
		emit_short(lane, kind, address, address2, now, count, PERF_COUNT_RAW);
	else if (layout->type == PERF_COUNT_DELTA)
		emit_short(lane, kind, address, address2, now, count, PERF_COUNT_DELTA);
	else
		emit_short(lane, kind, address, address2, now, count, PERF_COUNT_XOR);
	finish(thread, lane);
}

#define SHORT(which)							\
PERF_LOCAL void write_short_##which(uintptr_t address, uintptr_t address2, \
				    uint32_t kind)			\
{									\
	write_short(address, address2, kind, which);			\
}

SHORT(NO_COUNTER)
SHORT(A_RUN)
SHORT(A_RUN_OWN)
SHORT(ANY)

/* ---- who writes what ---------------------------------------------------- */

/* How many hpmcounters a run has; -1 when the counters are none. */
PERF_LOCAL int run_length(const struct perf_layout *layout)
{
	const uint32_t mask = layout->mask | TIMESTAMP;

	return mask & (mask + 1) ? -1 : __builtin_popcount(mask) - 3;
}

PERF_LOCAL bool needs_long_way(const struct perf_layout *layout)
{
	return layout->narrow || layout->poll == PERF_POLL_STORE;
}

PERF_LOCAL hook_writer *short_writer(const struct perf_pool *pool)
{
	const struct perf_layout *layout = &pool->layout;

	if (needs_long_way(layout))
		return write_long;
	if (!layout->mask)
		return write_short_NO_COUNTER;
	if (run_length(layout) < 0)
		return write_short_ANY;
	return pool->slots ? write_short_A_RUN_OWN : write_short_A_RUN;
}

/* For function entry and exit, of which there are most. */
PERF_LOCAL hook_writer *straight_writer(const struct perf_pool *pool)
{
	const struct perf_layout *layout = &pool->layout;
	int hpm = layout->mask ? run_length(layout) : PERF_SECTION_NONE;

	if (needs_long_way(layout) || pool->slots || hpm < 0 ||
	    (layout->mask && hpm > PERF_SECTION_HPM))
		return short_writer(pool);
	return straight_writers[layout->type][layout->poll]
			       [!!(layout->mask & TIMESTAMP)][hpm];
}

/* ---- opening and closing ------------------------------------------------ */

PERF_LOCAL void write_filtered(uintptr_t function, uintptr_t site, uint32_t kind)
{
	if (perf_filter_has(function))
		filtered(function, site, kind);
}

/* The calling thread's header, so that it stands before what comes after. */
PERF_LOCAL void begin_thread(void)
{
	struct perf_thread *thread = perf_self;

	if (thread->epoch != perf_pool->epoch)
		thread = perf_thread_join();
	if (!thread || thread->gate < 0)
		return;
	close_gate(thread, (uintptr_t)__builtin_frame_address(0));
	write_claimed(thread, NO_RECORD, 0, 0);
}

PERF_INTERNAL void perf_hooks_open(unsigned int open)
{
	perf_fault_catch();
	__atomic_store_n(&perf_pool->open, open, __ATOMIC_SEQ_CST);
	begin_thread();
	if (open & PERF_OPEN_MANUAL)
		manual = short_writer(perf_pool);
	if (!(open & PERF_OPEN_HOOKS))
		return;
	filtered = straight_writer(perf_pool);
	hook = perf_filter_on() ? write_filtered : filtered;
}

PERF_INTERNAL void perf_hooks_close(bool pause)
{
	struct perf_thread *thread = perf_self;

	if (pause && hook != write_nothing) {
		/* What a filter leaves out is no loss. */
		filtered = write_long;
		hook = perf_filter_on() ? write_filtered : write_long;
	} else {
		hook = write_nothing;
	}
	manual = pause ? write_long : write_nothing;
	__atomic_store_n(&perf_pool->open, pause ? PERF_OPEN_PAUSED : 0,
			 __ATOMIC_SEQ_CST);
	perf_threads_alert();
	perf_threads_settle();
	/* What the caller has interrupted goes on where nothing is captured. */
	if (thread->epoch == perf_pool->epoch && thread->gate < 0)
		perf_thread_give_up(thread, true);
	perf_fault_release();
}

PERF_INTERNAL void perf_hooks_forget(void)
{
	hook = write_nothing;
	manual = write_nothing;
	perf_thread_forget();
}

PERF_INTERNAL bool perf_hooks_busy(uintptr_t frame)
{
	struct perf_thread *thread = perf_self;

	if (!perf_pool || thread->epoch != perf_pool->epoch || thread->gate >= 0)
		return false;
	if (!perf_frame_left(PERF_GATE_FRAME(thread->gate), frame))
		return true;
	perf_thread_give_up(thread, false);
	thread->cpu = PERF_CPU_NOBODY;
	open_gate(thread);
	return false;
}

PERF_INTERNAL void perf_hooks_manual(uintptr_t address)
{
	manual(address, 0, PERF_RECORD_MANUAL);
}

PERF_INTERNAL void perf_hook_enter(void *function, void *site)
{
	hook((uintptr_t)function, (uintptr_t)site, PERF_RECORD_ENTER);
}

PERF_INTERNAL void perf_hook_exit(void *function, void *site)
{
	hook((uintptr_t)function, (uintptr_t)site, PERF_RECORD_EXIT);
}

PERF_API void __cyg_profile_func_enter(void *function, void *site)
	__attribute__((alias("perf_hook_enter")));
PERF_API void __cyg_profile_func_exit(void *function, void *site)
	__attribute__((alias("perf_hook_exit")));

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A hook jumps to the current writer: one that returns immediately, one that was generated for the
 * session's counters (writer.h), or the slow path, which handles every case, including those that a
 * generated writer cannot handle.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <linux/sifive_trace.h>

#include "auto.h"
#include "error.h"
#include "fault.h"
#include "hooks.h"
#include "join.h"
#include "part.h"
#include "room.h"
#include "section.h"
#include "writer.h"

/* Number of signal handler records after which the interrupted record counts as abandoned. */
#define PATIENCE	1024

#define NO_RECORD	SIFIVE_TRACE_RECORD_BREAK

PERF_LOCAL void write_nothing(uintptr_t function, uintptr_t site, uint32_t kind)
{
	(void)function;
	(void)site;
	(void)kind;
}

/* Writer of function entries and exits; it applies the filter, if there is one. */
static perf_writer *volatile hook = write_nothing;

static perf_writer *volatile manual = write_nothing;

/* Writers that were generated for the current set-up. */
static struct perf_writers writers;

#ifndef PERF_DROPIN
/* These functions are absent from static programs that cannot set a filter. */
#pragma weak perf_part_hook
#pragma weak perf_part_forget

/* Links the constructor into programs with hooks, even if they use the static library. */
__attribute__((used)) static void (*const with_hooks)(void) = perf_auto_start;
#endif /* PERF_DROPIN */

/* ---- the slow path ------------------------------------------------------ */

/* Return the lane of a channel on a CPU, or NULL if the CPU has no encoder in the session. */
PERF_LOCAL struct perf_lane *lane_of(unsigned int channel, int32_t cpu)
{
	unsigned int index = 0;

	if (cpu >= 0 && cpu < PERF_CPU_NUMBERS)
		index = perf_pool->index[cpu];
	return index ? &perf_pool->lane[channel][index - 1] : NULL;
}

PERF_LOCAL bool read_counters(struct perf_thread *thread,
			      const struct perf_lane *lane,
			      const volatile int32_t *mine, uint64_t *now)
{
	const struct perf_layout *layout = &perf_pool->layout;

	return perf_section_any(thread->rseq, mine, lane->stream.ts, now, layout->number,
				layout->count, thread->offset);
}

PERF_LOCAL bool is_refused(struct perf_thread *thread)
{
	if (PERF_LIKELY(thread->refused == PERF_REFUSED_NOT))
		return false;
	if (thread->refused == PERF_REFUSED_ONCE)
		thread->refused = PERF_REFUSED_NOT;
	return true;
}

PERF_LOCAL void write_break(const struct perf_stream *stream)
{
	if (stream->layout->poll != PERF_POLL_NOT)
		perf_wait_ready(stream);
	perf_stimulus8(stream->stimulus, SIFIVE_TRACE_RECORD_BREAK);
}

#ifndef PERF_DROPIN
/* Return whether writers use only differences between CSR values: see struct perf_lane. */
PERF_LOCAL bool is_relative(void)
{
	return perf_pool->slots && perf_pool->layout.type == SIFIVE_TRACE_RECORD_DELTA;
}

/* Convert a lane's last CSR values to the thread's own counts. */
PERF_LOCAL void make_whole(struct perf_lane *lane)
{
	uint32_t i;

	if (!is_relative())
		return;
	for (i = 0; i < perf_pool->layout.count; i++) {
		lane->stream.last[i] += lane->offset[i];
		lane->offset[i] = 0;
	}
}

/* Convert a thread's own counts to CSR values, which are valid until the thread is switched out. */
PERF_LOCAL void make_relative(const struct perf_thread *thread, struct perf_lane *lane)
{
	const struct perf_layout *layout = &perf_pool->layout;
	uint64_t written;
	uint32_t i;

	if (!is_relative())
		return;
	do {
		written = thread->offset[PERF_OFFSETS_WRITTEN];
		for (i = 0; i < layout->count; i++)
			lane->offset[i] = layout->number[i] == PERF_COUNTER_TIMESTAMP ?
					  0 : thread->offset[layout->number[i]];
	} while (written != thread->offset[PERF_OFFSETS_WRITTEN]);
	for (i = 0; i < layout->count; i++)
		lane->stream.last[i] -= lane->offset[i];
	/* Older drivers do not count their writes of the offsets. */
	lane->written = written ? written : ~UINT64_C(0);
}

/*
 * Find the counts from which records after a header continue: @now, or, if the thread has moved,
 * its own counts at its latest record on the other CPU or channel. In this way, no counts are lost.
 */
PERF_LOCAL const uint64_t *header_base(const struct perf_thread *thread,
				       const struct perf_lane *lane,
				       const uint64_t *now, uint64_t *base)
{
	const struct perf_lane *latest = thread->latest;
	uint32_t i;

	if (is_relative() && !latest && thread->saved == perf_pool->generation)
		return thread->last;
	if (!is_relative() || !latest || latest == lane || latest->torn ||
	    latest->generation != perf_pool->generation)
		return now;
	for (i = 0; i < perf_pool->layout.count; i++)
		base[i] = latest->stream.last[i] + latest->offset[i];
	return base;
}
#endif /* PERF_DROPIN */

/* If threads share the channel, the header identifies the thread. */
PERF_LOCAL uint32_t header_flags(const struct perf_thread *thread)
{
	if (!perf_channel_shared(thread->channel))
		return 0;
	return thread->begun == perf_pool->generation ?
	       SIFIVE_TRACE_RECORD_OWNED | SIFIVE_TRACE_RECORD_GOES_ON :
	       SIFIVE_TRACE_RECORD_OWNED;
}

/* Write a lane's header if it is due; records continue from the counters in @now. */
PERF_LOCAL bool write_header(struct perf_thread *thread, struct perf_lane *lane,
			     const uint64_t *now)
{
	const uint64_t bit = UINT64_C(1) << (lane - perf_pool->lane[thread->channel]);
	uint32_t generation = perf_pool->generation;
	const bool begins = lane->generation != generation || thread->fresh & bit;
#ifndef PERF_DROPIN
	const bool repeated = perf_pool->interval && lane->generation && !lane->left;
	uint64_t base[PERF_COUNTER_MAX];
#else
	const bool repeated = false;
#endif /* PERF_DROPIN */
	uint32_t flags;

	if (!begins && !repeated && !lane->torn)
		return false;
	flags = header_flags(thread);
	if (lane->torn)
		write_break(&lane->stream);
#ifndef PERF_DROPIN
	if (thread->dropped)
		perf_room_mark_drop(thread, &lane->stream);
#endif /* PERF_DROPIN */
	/* Clear this first: if the header itself is abandoned, the lane is marked as torn again. */
	lane->torn = false;
	lane->generation = generation;
	thread->fresh &= ~bit;
#ifndef PERF_DROPIN
	lane->left = perf_pool->interval;
	make_whole(lane);
	now = header_base(thread, lane, now, base);
#endif /* PERF_DROPIN */
	perf_stream_header(&lane->stream, flags, (uint32_t)thread->id, now);
#ifndef PERF_DROPIN
	/*
	 * A repeated header means that records continue; any other header means that they restart.
	 */
	if (begins && repeated)
		perf_stream_header(&lane->stream, flags, (uint32_t)thread->id, now);
	make_relative(thread, lane);
	thread->latest = lane;
#endif /* PERF_DROPIN */
	return true;
}

PERF_INLINE void write_record(struct perf_thread *thread, struct perf_lane *lane,
			     uint32_t kind, uintptr_t address, uintptr_t address2,
			     const uint64_t *now)
{
#ifndef PERF_DROPIN
	/* Report the time that the lane's thread has waited for room. */
	if (PERF_UNLIKELY(thread->waited))
		perf_room_mark_wait(thread, &lane->stream);
	if (lane->left)
		lane->left--;
	make_whole(lane);
#endif /* PERF_DROPIN */
	perf_stream_record(&lane->stream, kind, address, address2, now);
#ifndef PERF_DROPIN
	make_relative(thread, lane);
	thread->latest = lane;
#endif /* PERF_DROPIN */
	thread->begun = perf_pool->generation;
}

/* Return whether the pool is open, and the thread is in the current epoch. */
PERF_LOCAL bool may_write(const struct perf_thread *thread)
{
	/* Check in this order, because the epoch changes before the pool opens. */
	return __atomic_load_n(&perf_pool->open, __ATOMIC_ACQUIRE) &
	       PERF_OPEN_MANUAL && thread->epoch == perf_pool->epoch;
}

/* Stop counting a record as queued. A queued record is lost if its thread ends. */
PERF_LOCAL void leave_queue(bool lost)
{
	if (lost)
		perf_lost_count(&perf_losses()->signals);
	__atomic_fetch_sub(&perf_losses()->queued, 1, __ATOMIC_RELAXED);
}

/* Write signal handlers' records until another context holds the gate. */
PERF_LOCAL void drain(struct perf_thread *thread)
{
	const uintptr_t gate = thread->gate;
	uint32_t head;
	bool written;

	for (head = thread->head; head != thread->tail && thread->gate == gate;
	     head = thread->head) {
		struct perf_pending *p = &thread->queue[head % PERF_QUEUE];
		struct perf_lane *lane = perf_channel_have(thread) ?
					 lane_of((unsigned int)thread->channel, p->cpu) : NULL;

		/* If this record is abandoned, thread->lane is marked as torn. */
		thread->cpu = PERF_CPU_NOBODY;
		thread->lane = lane ? lane : thread->lane;
		written = p->complete && lane && may_write(thread);
		if (written) {
			write_header(thread, lane, p->now);
			write_record(thread, lane, p->kind, p->address, p->address2,
				     p->now);
		}
		p->complete = false;
		/* A context that interrupted this one may already have counted the record. */
		if (__atomic_compare_exchange_n(&thread->head, &head, head + 1, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			leave_queue(!written);
	}
}

PERF_INLINE void close_gate(struct perf_thread *thread, uintptr_t frame)
{
	thread->gate = frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

PERF_INLINE void open_gate(struct perf_thread *thread)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->gate = (uintptr_t)thread;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/*
 * Called by a writer whose record was given up while the writer was running. The writer may have
 * written within another user-level thread's record, in which case neither record can be read.
 */
PERF_LOCAL __attribute__((noinline, cold))
void given_up(struct perf_thread *thread, struct perf_lane *lane)
{
	lane->torn = true;
	thread->cpu = PERF_CPU_NOBODY;
	if (perf_gate_closed(thread))
		perf_lost_count(&perf_losses()->abandoned);
}

/* Write records that signal handlers have queued during the current record. */
PERF_LOCAL __attribute__((noinline, cold)) void settle(struct perf_thread *thread)
{
	const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	thread->stuck = false;
	thread->waiting = 0;
	while (thread->head != thread->tail && !perf_gate_closed(thread)) {
		close_gate(thread, frame);
		drain(thread);
		if (thread->gate != frame) {
			given_up(thread, thread->lane);
			return;
		}
		open_gate(thread);
	}
}

/* Offset of a count in the losses page. The page is looked up only when a loss is counted. */
#define LOSS(what)	offsetof(struct sifive_trace_losses, what)

/*
 * Find the lane of the thread's CPU, write the lane's header if due, and read that CPU's
 * counters. Returns NULL if no record can be written; @loss is then the count to increment.
 */
PERF_LOCAL struct perf_lane *prepare(struct perf_thread *thread, uint64_t *now,
				     size_t *loss)
{
	const uintptr_t gate = thread->gate;

	while (thread->gate == gate) {
		int32_t cpu = (int32_t)thread->rseq->cpu_id;
		struct perf_lane *lane = perf_channel_have(thread) ?
					 lane_of((unsigned int)thread->channel, cpu) : NULL;

		drain(thread);
		*loss = lane ? LOSS(refused) : LOSS(threads);
		if (!lane || is_refused(thread))
			return NULL;
		*loss = LOSS(threads);

		/*
		 * From here on, a context that interrupts this one, or a thread that takes the
		 * channel, sets thread->cpu to PERF_CPU_NOBODY.
		 */
		thread->lane = lane;
		thread->cpu = cpu;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (!may_write(thread))
			return NULL;
		if (thread->head != thread->tail || thread->claimed)
			continue;
#ifndef PERF_DROPIN
		if (PERF_UNLIKELY(perf_room_lacks(lane))) {
			*loss = LOSS(dropped);
			if (perf_room_give_way(thread, lane, gate))
				return NULL;
			continue;
		}
#endif /* PERF_DROPIN */

		/* Exclude the cost of the header from the first record's counts. */
		if (read_counters(thread, lane, &thread->cpu, now) &&
		    !write_header(thread, lane, now))
			return lane;
	}
	return NULL;
}

/*
 * Called after a header was written without a record. If the thread recorded before tracing was
 * last turned on, its next record ends the calls that were open at that time. The next record must
 * therefore take the slow path, which updates thread->begun.
 */
PERF_LOCAL void begin_part(struct perf_thread *thread)
{
	if (thread->begun)
		thread->cpu = PERF_CPU_NOBODY;
	else
		thread->begun = perf_pool->generation;
}

/* Write a record unless @kind is NO_RECORD, and open the gate, which the caller has closed. */
PERF_LOCAL void write_claimed(struct perf_thread *thread, uint32_t kind,
			      uintptr_t address, uintptr_t address2)
{
	const uintptr_t gate = thread->gate;
	uint64_t now[PERF_COUNTER_MAX];
	size_t loss = LOSS(threads);
	struct perf_lane *lane = prepare(thread, now, &loss);

	if (!lane) {
		thread->cpu = PERF_CPU_NOBODY;
	} else if (kind != NO_RECORD) {
		write_record(thread, lane, kind, address, address2, now);
	} else {
		begin_part(thread);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (thread->gate != gate) {
		if (lane)
			given_up(thread, lane);
		return;
	}
	/* Count the loss before opening the gate, because closing the hooks waits for the gate. */
	if (!lane && kind != NO_RECORD && perf_pool->open && thread->epoch == perf_pool->epoch) {
		perf_lost_count((__u64 *)((char *)perf_losses() + loss));
#ifndef PERF_DROPIN
		if (loss == LOSS(dropped))
			perf_room_note(thread);
#endif /* PERF_DROPIN */
	}
	open_gate(thread);
	settle(thread);
}

/* Called in a signal handler: queue the record, to be written after the interrupted record. */
PERF_LOCAL void queue_record(struct perf_thread *thread, uint32_t kind,
			     uintptr_t address, uintptr_t address2)
{
	uint64_t now[PERF_COUNTER_MAX];
	struct perf_pending *pending;
	struct perf_lane *lane;
	uint32_t tail, i;
	int32_t cpu;

	perf_lost_count(&perf_losses()->queued);
	/* Read the counters in the queue's order, even if handlers interrupt handlers. */
	for (;;) {
		tail = thread->tail;
		cpu = (int32_t)thread->rseq->cpu_id;
		lane = lane_of(perf_pool->first, cpu);
		if (tail - thread->head >= PERF_QUEUE || !lane || is_refused(thread)) {
			leave_queue(true);
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
void write_slow(uintptr_t address, uintptr_t address2, uint32_t kind)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	struct perf_thread *thread = perf_self;

	/* The pool is closed, or the process is a child with an empty pool. */
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

	if (perf_gate_closed(thread)) {
		if (!perf_frame_left(thread->gate, frame) && thread->waiting++ < PATIENCE) {
			queue_record(thread, kind, address, address2);
			/* Make the slow path write this record before any later record. */
			thread->cpu = PERF_CPU_NOBODY;
			return;
		}
		perf_thread_give_up(thread, false);
	}

	close_gate(thread, frame);
	thread->waiting = 0;
	write_claimed(thread, kind, address, address2);
	/* If another thread has set up the session again, write the record in the new session. */
	if (PERF_UNLIKELY(thread->epoch != perf_pool->epoch))
		write_slow(address, address2, kind);
}

/* Called by a generated writer that has closed the gate, but cannot write the record itself. */
PERF_LOCAL __attribute__((noinline, cold))
void write_instead(uintptr_t address, uintptr_t address2, uint32_t kind)
{
	struct perf_thread *thread = perf_self;

	/* A child created since the gate was closed has no slot. */
	if (!thread->tid)
		return;
	if (thread->epoch == perf_pool->epoch && !thread->lent) {
		write_claimed(thread, kind, address, address2);
		return;
	}
	open_gate(thread);
	write_slow(address, address2, kind);
}

/* ---- opening and closing ------------------------------------------------ */

/* Send function entries and exits to @writer, unless a filter excludes the function. */
PERF_LOCAL void set_hook(perf_writer *writer)
{
#ifndef PERF_DROPIN
	if (perf_part_hook)
		writer = perf_part_hook(writer);
#endif /* PERF_DROPIN */
	hook = writer;
}

/* Write the calling thread's header if it is due, without a record. */
PERF_LOCAL void begin_thread(void)
{
	struct perf_thread *thread = perf_self;

	if (thread->epoch != perf_pool->epoch)
		thread = perf_thread_join();
	if (!thread || perf_gate_closed(thread))
		return;
	close_gate(thread, (uintptr_t)__builtin_frame_address(0));
	write_claimed(thread, NO_RECORD, 0, 0);
}

PERF_INTERNAL void perf_hooks_prepare(void)
{
	static const struct perf_exits exits = {
		write_slow, write_instead, given_up, settle,
	};
	const struct perf_layout *layout = &perf_pool->layout;

	writers.pair = write_slow;
	writers.single = write_slow;
	if (layout->narrow || layout->poll == PERF_POLL_STORE ||
	    perf_writers_make(perf_pool, &exits, &writers))
		return;
	perf_warning("this program cannot map executable memory (%s): recording takes several times as long",
		     strerror(errno));
}

PERF_INTERNAL void perf_hooks_open(unsigned int open)
{
	perf_fault_catch();
	__atomic_store_n(&perf_pool->open, open, __ATOMIC_SEQ_CST);
#ifndef PERF_DROPIN
	/* A member process does not take a channel before its first record. */
	if (!PERF_MEMBER || perf_pool->channels)
#endif /* PERF_DROPIN */
		begin_thread();
	if (open & PERF_OPEN_MANUAL)
		manual = writers.single;
	if (open & PERF_OPEN_HOOKS)
		set_hook(writers.pair);
}

PERF_INTERNAL void perf_hooks_close(bool pause)
{
	struct perf_thread *thread = perf_self;

	/* The filter remains in effect, because calls to excluded functions are not losses. */
	if (pause && hook != write_nothing)
		set_hook(write_slow);
	else
		hook = write_nothing;
	manual = pause ? write_slow : write_nothing;
	__atomic_store_n(&perf_pool->open, pause ? PERF_OPEN_PAUSED : 0, __ATOMIC_SEQ_CST);
	perf_threads_alert();
	perf_threads_settle();
	/* If this handler has interrupted a record, the rest of the record will not be captured. */
	if (thread->epoch == perf_pool->epoch && perf_gate_closed(thread))
		perf_thread_give_up(thread, true);
	perf_fault_release();
}

PERF_INTERNAL void perf_hooks_forget(void)
{
	hook = write_nothing;
	manual = write_nothing;
#ifndef PERF_DROPIN
	if (perf_part_forget)
		perf_part_forget();
#endif /* PERF_DROPIN */
	perf_thread_forget();
}

PERF_INTERNAL bool perf_hooks_busy(uintptr_t frame)
{
	struct perf_thread *thread = perf_self;

	if (!perf_pool || thread->epoch != perf_pool->epoch || !perf_gate_closed(thread))
		return false;
	if (!perf_frame_left(thread->gate, frame))
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

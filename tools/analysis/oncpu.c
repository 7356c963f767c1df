// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Determines when threads run: see oncpu.h.
 *
 * Records are held in a window until earlier records from other harts have arrived, and are then
 * processed in chronological order. A thread's parts are kept until the thread's next record is
 * complete, which requires that another record follows.
 */
#include <stdlib.h>
#include <string.h>

#include "oncpu_harts.h"

struct oncpu *oncpu_new(struct threads *threads, oncpu_span span, void *context)
{
	struct oncpu *oncpu = calloc(1, sizeof(*oncpu));

	if (!oncpu)
		return NULL;
	oncpu->threads = threads;
	oncpu->span = span;
	oncpu->context = context;
	return oncpu;
}

void oncpu_free(struct oncpu *oncpu)
{
	struct oncpu_thread *t;
	unsigned int i;

	if (!oncpu)
		return;
	for (i = 0; i < threads_count(oncpu->threads); i++)
		threads_get(oncpu->threads, i)->oncpu = NULL;
	while ((t = oncpu->all)) {
		oncpu->all = t->next;
		free(t->part);
		free(t);
	}
	syscalls_free(&oncpu->syscalls);
	free(oncpu);
}

/* ---- the parts of a thread ---------------------------------------------- */

/*
 * Merge pairs in the middle, because the thread's next record is near the first or the last part.
 */
static void merge_parts(struct oncpu_thread *t)
{
	size_t first = t->count / 4, last = t->count / 4 * 3, from = first, to = first;

	for (; from + 1 < last; from += 2, to++) {
		struct part *a = &t->part[from], *b = a + 1;

		t->part[to] = (struct part){
			.from = a->from, .to = b->to, .on = a->on + b->on,
			/* The thread did not exist between @a and @b. */
			.unknown = a->unknown + b->unknown +
				   (b->from > a->to ? b->from - a->to : 0),
			.state = ONCPU_MERGED,
		};
	}
	memmove(&t->part[to], &t->part[from], (t->count - from) * sizeof(*t->part));
	t->count -= from - to;
}

static void take(struct oncpu *oncpu, struct oncpu_thread *t, uint64_t until,
		 struct oncpu_part *sum);

static bool make_room(struct oncpu *oncpu, struct oncpu_thread *t)
{
	size_t room = t->room ? 2 * t->room : PARTS_FIRST;
	size_t bytes = (room - t->room) * sizeof(*t->part);
	struct part *grown;

	if (room <= PARTS_FIRST || (room <= PARTS && oncpu->bytes + bytes <= ONCPU_BYTES)) {
		grown = realloc(t->part, room * sizeof(*grown));
		if (grown) {
			t->part = grown;
			t->room = room;
			oncpu->bytes += bytes;
		}
	}
	/*
	 * The parts are kept for oncpu_between(), which is not called for a thread without records.
	 */
	if (t->count == t->room && t->room && !t->asked && t->thread->pid < 0)
		take(oncpu, t, t->part[t->count / 2].from, &(struct oncpu_part){ 0 });
	else if (t->count == t->room && t->room)
		merge_parts(t);
	return t->count < t->room;
}

static bool is_off(enum oncpu_state state)
{
	return state != ONCPU_UNKNOWN && state != ONCPU_RUNS && state != ONCPU_MERGED;
}

/* A part off the CPU is passed on as unknown if any of its time is unknown. */
static void give_part(struct oncpu *oncpu, const struct oncpu_thread *t, const struct part *part)
{
	enum oncpu_state state = part->unknown && is_off(part->state) ? ONCPU_UNKNOWN :
									part->state;

	if (oncpu->span && part->to > part->from)
		oncpu->span(oncpu->context, t->asking ? t->asking : t->thread, state,
			    part->from, part->to);
}

/* End the part in which the thread was in its current state. */
static void end_part(struct oncpu *oncpu, struct oncpu_thread *t, uint64_t now)
{
	struct part part = { .from = t->since, .to = now, .state = t->state };
	uint64_t span, doubt;

	if (now < t->since)
		part.to = t->since;
	span = part.to - part.from;
	doubt = doubts_in(&oncpu->doubts, part.from, part.to) + oncpu->doubts.gone - t->gone;
	if (t->state == ONCPU_RUNS)
		part.on = span;
	else if (t->state == ONCPU_UNKNOWN)
		part.unknown = span;
	else
		part.unknown = doubt < span ? doubt : span;
	t->times.time[t->state] += span - (is_off(t->state) ? part.unknown : 0);
	t->times.time[ONCPU_UNKNOWN] += is_off(t->state) ? part.unknown : 0;
	t->times.wall += span;
	if (t->state == ONCPU_WOKEN && span > t->times.longest)
		t->times.longest = span;
	t->since = part.to;
	t->gone = oncpu->doubts.gone;
	if (!span)
		return;
	if (is_off(t->state) && part.unknown < span)
		oncpu->recent[oncpu->recents++ % RECENT] = (struct wait){
			t, t->state, part.from, part.to,
		};
	if (t->count == t->room && !make_room(oncpu, t))
		oncpu->no_memory = true;
	else
		t->part[t->count++] = part;
}

/* Add the time of a part, from @t->done to @until, to @sum. */
static void take_part(const struct oncpu_thread *t, struct part *part, uint64_t until,
		      struct oncpu_part *sum)
{
	uint64_t from = part->from > t->done ? part->from : t->done;
	uint64_t to = part->to < until ? part->to : until;
	uint64_t span = to > from ? to - from : 0, unknown = part->unknown;

	if (!span)
		return;
	/*
	 * A thread writes records only while it runs, so a part off the CPU that contains a record
	 * is doubtful, unless the record is from before the thread left the CPU.
	 */
	if (part->state != ONCPU_RUNS &&
	    ((from != part->from && from != t->left) || to != part->to))
		unknown = span;
	sum->unknown += unknown;
	if (unknown == span)
		return;
	sum->on += part->state == ONCPU_RUNS ? span : part->on;
	sum->off += part->state == ONCPU_RUNS ? 0 : span - part->on - unknown;
}

/* Add the thread's parts before @until to @sum, and remove them. */
static void take(struct oncpu *oncpu, struct oncpu_thread *t, uint64_t until,
		 struct oncpu_part *sum)
{
	size_t i, gone = 0;

	for (i = 0; i < t->count && t->part[i].from < until; i++) {
		take_part(t, &t->part[i], until, sum);
		if (t->part[i].to > until)
			break;
		give_part(oncpu, t, &t->part[i]);
		gone++;
	}
	if (!gone)
		return;
	t->count -= gone;
	memmove(t->part, t->part + gone, t->count * sizeof(*t->part));
}

/* ---- the threads of harts ----------------------------------------------- */

static void enter_state(struct oncpu *oncpu, struct oncpu_thread *t, enum oncpu_state state,
			uint64_t now)
{
	if (!t->known || t->over) {
		/* Parts never overlap, so none can begin before the previous part has ended. */
		oncpu->stats.contrary += now < t->since;
		if (now > t->since)
			t->since = now;
		t->gone = oncpu->doubts.gone;
	} else {
		end_part(oncpu, t, now);
	}
	t->known = true;
	t->over = false;
	t->state = state;
}

/* Called if the thread ran on the hart until @from and stopped at an unknown later time. */
static void lose_running(struct oncpu *oncpu, struct hart *hart, uint64_t from)
{
	if (!hart->known)
		return;
	hart->known = false;
	hart->was = hart->running;
	hart->running = NULL;
	if (hart->was)
		enter_state(oncpu, hart->was, ONCPU_UNKNOWN, from);
}

/* Mark an interval in which the thread may have run; part of it may already be unknown. */
static void doubt_wait(const struct doubts *doubts, const struct wait *wait, uint64_t from,
		       uint64_t to)
{
	struct oncpu_thread *t = wait->thread;
	size_t i = t->count;
	uint64_t span;

	if (from < wait->from)
		from = wait->from;
	if (to > wait->to)
		to = wait->to;
	if (to <= from)
		return;
	span = to - from - doubts_in(doubts, from, to);
	if (span > t->times.time[wait->state])
		span = t->times.time[wait->state];
	t->times.time[wait->state] -= span;
	t->times.time[ONCPU_UNKNOWN] += span;
	while (i && t->part[i - 1].from > wait->from)
		i--;
	if (!i || t->part[i - 1].from != wait->from || t->part[i - 1].state != wait->state)
		return;
	t->part[i - 1].unknown += span;
	if (t->part[i - 1].unknown > t->part[i - 1].to - t->part[i - 1].from)
		t->part[i - 1].unknown = t->part[i - 1].to - t->part[i - 1].from;
}

static void on_loss(struct oncpu *oncpu, const struct event *event)
{
	struct hart *hart = &oncpu->hart[event->record.src];
	uint64_t from = event->from, to = event->record.stamp.time;
	unsigned int i;

	lose_running(oncpu, hart, from);
	hart->sure = to;
	hart->execute.made = false;
	syscalls_lose(&oncpu->syscalls, from, to);
	for (i = 0; i < RECENT && i < oncpu->recents; i++)
		doubt_wait(&oncpu->doubts, &oncpu->recent[i], from, to);
	doubts_add(&oncpu->doubts, from, to);
}

/* Called after a loss, once the current thread is known: the previous thread has stopped. */
static void settle(struct oncpu *oncpu, struct hart *hart, const struct oncpu_thread *t)
{
	struct oncpu_thread *was = hart->was;

	hart->was = NULL;
	if (!hart->known && was && was != t && was->hart == hart &&
	    was->state == ONCPU_UNKNOWN && !was->over && was->since <= hart->sure)
		enter_state(oncpu, was, ONCPU_WAITS, hart->sure);
}

/* Called if a record contradicts the known state of the hart, because other records are missing. */
static void contradict(struct oncpu *oncpu, struct hart *hart, uint64_t now)
{
	oncpu->stats.contrary++;
	if (hart->running)
		enter_state(oncpu, hart->running, ONCPU_UNKNOWN, hart->running->since);
	hart->running = NULL;
	hart->known = false;
	hart->was = NULL;
	hart->sure = now;
}

/*
 * Called when the thread starts running. If it was running elsewhere, the record of its stop is
 * missing.
 */
static void leave_hart(struct oncpu *oncpu, struct oncpu_thread *t, const struct hart *hart)
{
	if (!t->known || t->over || t->state != ONCPU_RUNS)
		return;
	oncpu->stats.contrary++;
	t->state = ONCPU_UNKNOWN;
	if (t->hart == hart || t->hart->running != t)
		return;
	t->hart->running = NULL;
	t->hart->known = false;
	t->hart->was = NULL;
}

/* Return how long the thread has been off the CPU, and how long its state has been unknown. */
static struct syscall_sums sums_of(const struct oncpu_thread *t)
{
	const uint64_t unknown = t->times.time[ONCPU_UNKNOWN];

	return (struct syscall_sums){
		t->times.wall - t->times.time[ONCPU_RUNS] - unknown, unknown,
	};
}

static void on_in(struct oncpu *oncpu, struct hart *hart, struct oncpu_thread *t, uint64_t now)
{
	const struct syscall_now execute = hart->execute;

	if (hart->known && hart->running)
		contradict(oncpu, hart, now);
	settle(oncpu, hart, NULL);
	hart->known = true;
	hart->running = t;
	hart->execute.made = false;
	if (!t)
		return;
	leave_hart(oncpu, t, hart);
	enter_state(oncpu, t, ONCPU_RUNS, now);
	t->hart = hart;
	t->times.exited = false;
	syscalls_take_over(&t->call, sums_of(t), &execute);
}

/*
 * Called if the thread is running on this hart, although no record shows when it started running.
 */
static void find_running(struct oncpu *oncpu, struct hart *hart, struct oncpu_thread *t,
			 uint64_t now)
{
	uint64_t since = hart->sure && hart->sure < now ? hart->sure : now;

	if (hart->known)
		contradict(oncpu, hart, now);
	settle(oncpu, hart, t);
	if (!t)
		return;
	leave_hart(oncpu, t, hart);
	if (t->known && t->since > since)
		since = t->since;
	enter_state(oncpu, t, ONCPU_RUNS, since);
	t->hart = hart;
}

static void on_out(struct oncpu *oncpu, struct hart *hart, struct oncpu_thread *t,
		   unsigned int kind, uint64_t now)
{
	if (!hart->known || hart->running != t)
		find_running(oncpu, hart, t, now);
	hart->running = NULL;
	/* Called when recording on this hart ends or is interrupted. */
	hart->known = kind != SIFIVE_TRACE_SWITCH_END;
	hart->sure = now;
	if (!t)
		return;
	enter_state(oncpu, t, oncpu_state_after(kind), now);
	t->times.outs += kind != SIFIVE_TRACE_SWITCH_END;
	t->times.exited = kind == SIFIVE_TRACE_SWITCH_EXITED;
	t->over = t->times.exited || kind == SIFIVE_TRACE_SWITCH_END;
	if (t->over)
		syscalls_leave(&t->call, sums_of(t), t->times.exited ? &hart->execute : NULL);
}

/* Only a thread that is known to be waiting can be woken; any hart may wake it. */
static void on_woken(struct oncpu *oncpu, struct oncpu_thread *t, uint64_t now)
{
	if (!t || !t->known || t->over || now < t->since ||
	    (t->state != ONCPU_SLEEPS && t->state != ONCPU_UNINTERRUPTIBLE &&
	     t->state != ONCPU_STOPPED))
		return;
	enter_state(oncpu, t, ONCPU_WOKEN, now);
	t->times.wakeups++;
}

/*
 * Return a thread's state, or NULL if it has none. After execve(), a thread continues with the
 * state of the previous thread with its id.
 */
static struct oncpu_thread *state_of(const struct oncpu *oncpu, struct thread *thread)
{
	struct thread *before;

	if (thread->oncpu)
		return thread->oncpu;
	before = threads_before(oncpu->threads, thread);
	if (!before || !before->oncpu || before->pid != thread->pid ||
	    before->oncpu->times.exited)
		return NULL;
	thread->oncpu = before->oncpu;
	thread->oncpu->thread = thread;
	return thread->oncpu;
}

/* Return NULL if there are too many threads, or if out of memory. */
static struct oncpu_thread *find_thread(struct oncpu *oncpu, const struct trace_switch *record)
{
	struct thread *thread = threads_named(oncpu->threads, record->thread,
					      &record->stamp);

	if (!thread || state_of(oncpu, thread))
		return thread ? thread->oncpu : NULL;
	thread->oncpu = calloc(1, sizeof(*thread->oncpu));
	if (!thread->oncpu) {
		oncpu->no_memory = true;
		return NULL;
	}
	thread->oncpu->thread = thread;
	thread->oncpu->next = oncpu->all;
	oncpu->all = thread->oncpu;
	return thread->oncpu;
}

/* Called when the hart's running thread makes a system call, or when the call returns. */
static void on_call(struct oncpu *oncpu, struct hart *hart, const struct trace_switch *record)
{
	struct oncpu_thread *t = hart->running;

	if (!t)
		oncpu->syscalls.doubtful += record->kind == SIFIVE_TRACE_SWITCH_CALL;
	else if (!syscalls_push(&oncpu->syscalls, &t->call, record, sums_of(t)))
		oncpu->no_memory = true;
}

static void handle(struct oncpu *oncpu, const struct event *event)
{
	const struct trace_switch *record = &event->record;
	struct hart *hart = &oncpu->hart[record->src];
	struct oncpu_thread *t;

	if (record->kind == SIFIVE_TRACE_SWITCH_BEGIN) {
		on_loss(oncpu, event);
		return;
	}
	if (record->kind == SIFIVE_TRACE_SWITCH_FAULT)
		return;
	if (switches_is_call(record->kind)) {
		on_call(oncpu, hart, record);
		return;
	}
	t = record->thread ? find_thread(oncpu, record) : NULL;
	if (record->kind == SIFIVE_TRACE_SWITCH_WOKEN)
		on_woken(oncpu, t, record->stamp.time);
	else if (record->kind == SIFIVE_TRACE_SWITCH_IN)
		on_in(oncpu, hart, t, record->stamp.time);
	else
		on_out(oncpu, hart, t, record->kind, record->stamp.time);
}

/* ---- the window --------------------------------------------------------- */

static void release_first(struct oncpu *oncpu)
{
	const struct event event = oncpu->held[0];

	memmove(oncpu->held, oncpu->held + 1, --oncpu->helds * sizeof(event));
	handle(oncpu, &event);
}

/* Process the records in the window up to a time. */
static void release_until(struct oncpu *oncpu, uint64_t to)
{
	while (oncpu->helds && oncpu->held[0].record.stamp.time <= to)
		release_first(oncpu);
}

static void hold(struct oncpu *oncpu, const struct event *event)
{
	unsigned int at;

	if (oncpu->helds == HELD)
		release_first(oncpu);
	for (at = oncpu->helds++; at; at--) {
		if (oncpu->held[at - 1].record.stamp.time <= event->record.stamp.time)
			break;
		oncpu->held[at] = oncpu->held[at - 1];
	}
	oncpu->held[at] = *event;
}

static void hold_loss(struct oncpu *oncpu, unsigned int src, uint64_t from, uint64_t offset,
		      uint64_t until)
{
	struct hart *hart = &oncpu->hart[src];
	const struct event event = {
		.from = from < until ? from : until,
		.record = {
			.src = (uint8_t)src, .kind = SIFIVE_TRACE_SWITCH_BEGIN,
			.stamp = { .offset = offset, .time = until, .time_known = TIME_EXACT },
		},
	};

	hart->whole = until;
	hold(oncpu, &event);
}

/*
 * Return the earliest possible time of the messages that are lost here. A hart that sent no
 * messages for a long time was idle, so its lost messages are newer than messages that other harts
 * sent well before this place.
 */
static uint64_t loss_begin(const struct oncpu *oncpu, const struct hart *hart)
{
	return hart->offset + IDLE_BYTES < oncpu->offset && hart->time < oncpu->earlier ?
	       oncpu->earlier : hart->time;
}

/* Process a message from the hart. */
static void see(struct oncpu *oncpu, unsigned int src, const struct perfrec_stamp *stamp)
{
	struct hart *hart = &oncpu->hart[src];

	if (stamp->offset > oncpu->offset)
		oncpu->offset = stamp->offset;
	if (oncpu->offset > oncpu->mark + IDLE_BYTES / 2) {
		oncpu->earlier = oncpu->marked;
		oncpu->marked = oncpu->now;
		oncpu->mark = oncpu->offset;
	}
	while (oncpu->helds &&
	       oncpu->held[0].record.stamp.offset + RING_SKEW < oncpu->offset)
		release_first(oncpu);
	if (!stamp->time_known || stamp->time < hart->time)
		return;
	if (hart->lost)
		hold_loss(oncpu, src, hart->from, stamp->offset, stamp->time);
	else if (!hart->time)
		hart->sure = hart->whole = stamp->time;
	hart->lost = false;
	hart->time = stamp->time;
	hart->offset = stamp->offset;
	if (stamp->time > oncpu->now)
		oncpu->now = stamp->time;
}

void oncpu_note(struct oncpu *oncpu, unsigned int src, const struct perfrec_stamp *stamp)
{
	see(oncpu, src, stamp);
}

/* Record that messages from the hart are missing between here and its next message. */
static void lose(struct hart *hart, uint64_t from)
{
	if (!hart->lost)
		hart->from = from;
	hart->lost = true;
}

void oncpu_push(struct oncpu *oncpu, const struct trace_switch *record)
{
	struct hart *hart = &oncpu->hart[record->src];
	const struct event event = { .record = *record };
	bool begins = record->kind == SIFIVE_TRACE_SWITCH_BEGIN;

	oncpu->stats.inferred += record->stamp.time_known == TIME_INFERRED;
	oncpu->stats.switches += !begins;
	oncpu->stats.untimed += !begins && !record->stamp.time_known;
	/* The first BEGIN record begins the recording; a BEGIN after an END resumes it. */
	oncpu->stats.losses += hart->ended ? !begins : begins && hart->time;
	hart->ended = record->kind == SIFIVE_TRACE_SWITCH_END;
	/* Around a record without a time, for example after a loss, any thread may have run. */
	if (!record->stamp.time_known || (begins && hart->time))
		lose(hart, hart->whole);
	see(oncpu, record->src, &record->stamp);
	if (!record->stamp.time_known || begins)
		return;
	hart->whole = record->stamp.time;
	hold(oncpu, &event);
}

void oncpu_lost(struct oncpu *oncpu, int src, const struct perfrec_stamp *stamp)
{
	bool own = src >= 0 && stamp->time_known;
	unsigned int i;

	if (stamp->offset > oncpu->offset)
		oncpu->offset = stamp->offset;
	/*
	 * The Error message that precedes the BEGIN record after a pause does not indicate lost
	 * records.
	 */
	oncpu->stats.losses += src < 0 || own || !oncpu->hart[src].ended;
	for (i = 0; i < PERFREC_SOURCES; i++)
		if ((src < 0 && oncpu->hart[i].time) || src == (int)i)
			lose(&oncpu->hart[i], own ? oncpu->hart[i].time :
						    loss_begin(oncpu, &oncpu->hart[i]));
	if (own)
		see(oncpu, (unsigned int)src, stamp);
}

/* ---- queries ------------------------------------------------------------ */

/*
 * The thread wrote a record at @to, so it was running, even if no switch record shows since when.
 */
static void settle_last(struct oncpu *oncpu, struct oncpu_thread *t, uint64_t to)
{
	if (!t->known || t->over || t->since >= to || t->state == ONCPU_RUNS)
		return;
	oncpu->stats.contrary += t->state != ONCPU_UNKNOWN;
	t->state = ONCPU_UNKNOWN;
	end_part(oncpu, t, to);
}

/* Count the thread as on the CPU until @to, although its switch-out was recorded earlier. */
static void leave_late(struct oncpu_thread *t, uint64_t to, struct oncpu_part *sum)
{
	const uint64_t since = t->since > t->done ? t->since : t->done;

	if (!t->known || since >= to || !(t->over || is_off(t->state)))
		return;
	t->left = to;
	sum->on += to - since;
}

/* Like take(), but if the thread is running, also add the current part's time before @until. */
static void take_until(struct oncpu *oncpu, struct oncpu_thread *t, uint64_t until,
		       struct oncpu_part *sum)
{
	const uint64_t since = t->since > t->done ? t->since : t->done;

	take(oncpu, t, until, sum);
	if (t->known && !t->over && t->state == ONCPU_RUNS && since < until)
		sum->on += until - since;
	t->done = until;
}

void oncpu_between(struct oncpu *oncpu, struct thread *thread, uint64_t from, uint64_t to,
		   bool leaving, uint64_t waited, struct oncpu_part *sum)
{
	const uint64_t span = to > from ? to - from - waited : 0;
	struct oncpu_part wait = { 0 };
	struct oncpu_thread *t;

	release_until(oncpu, to);
	memset(sum, 0, sizeof(*sum));
	t = state_of(oncpu, thread);
	if (t && to > from) {
		t->asking = thread;
		t->done = from;
		if (leaving)
			leave_late(t, to, sum);
		else
			settle_last(oncpu, t, to);
		take_until(oncpu, t, to - waited, sum);
		take_until(oncpu, t, to, &wait);
		t->asked = true;
	}
	/*
	 * The parts must add up to the time from @from to @to, even if records contradict each
	 * other.
	 */
	if (sum->on > span)
		sum->on = span;
	if (sum->off > span - sum->on)
		sum->off = span - sum->on;
	/* No switch record covers the remaining time. */
	sum->unknown = span - sum->on - sum->off;
}

bool oncpu_covers(struct oncpu *oncpu, struct thread *thread, uint64_t from, uint64_t to)
{
	const struct oncpu_thread *t;
	uint64_t since;
	size_t i;

	/* If a hart's messages end before @to, the thread may have run on that hart afterwards. */
	for (i = 0; i < PERFREC_SOURCES; i++)
		if (oncpu->hart[i].lost && oncpu->hart[i].from < to)
			return false;
	release_until(oncpu, to);
	t = state_of(oncpu, thread);
	if (!t || !t->known || (t->since < to && (t->over || t->state != ONCPU_RUNS)))
		return false;
	since = t->since;
	for (i = t->count; i && since > from; i--) {
		const struct part *part = &t->part[i - 1];

		/* The thread ran when it wrote its record at @to. */
		if (part->from < to &&
		    (part->unknown || part->to != since ||
		     (part->to > to && part->state != ONCPU_RUNS)))
			return false;
		since = part->from;
	}
	return since <= from;
}

void oncpu_flush(struct oncpu *oncpu)
{
	unsigned int src;

	for (src = 0; src < PERFREC_SOURCES; src++)
		if (oncpu->hart[src].lost && oncpu->hart[src].known)
			hold_loss(oncpu, src, oncpu->hart[src].from, oncpu->offset, oncpu->now);
	while (oncpu->helds)
		release_first(oncpu);
}

void oncpu_end(struct oncpu *oncpu)
{
	struct oncpu_part sum = { 0 };
	unsigned int i;

	for (i = 0; i < threads_count(oncpu->threads); i++) {
		struct thread *thread = threads_get(oncpu->threads, i);
		struct oncpu_thread *t = thread->oncpu;

		if (!t || t->thread != thread)
			continue;
		if (!t->over)
			end_part(oncpu, t, oncpu->now);
		t->over = true;
		take(oncpu, t, UINT64_MAX, &sum);
	}
	oncpu->no_memory |= !syscalls_end(&oncpu->syscalls);
}

bool oncpu_failed(const struct oncpu *oncpu)
{
	return oncpu->no_memory;
}

const struct oncpu_times *oncpu_times(const struct thread *thread)
{
	return thread->oncpu && thread->oncpu->thread == thread && thread->oncpu->known ?
	       &thread->oncpu->times : NULL;
}

const struct syscalls *oncpu_syscalls(const struct oncpu *oncpu)
{
	return &oncpu->syscalls;
}

const struct oncpu_stats *oncpu_stats(const struct oncpu *oncpu)
{
	return &oncpu->stats;
}

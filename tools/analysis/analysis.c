// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reconstructs calls, times and counts: see analysis.h. */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "command.h"
#include "limit.h"
#include "order.h"

static const struct trace_ops trace_ops;
static void on_ordered(void *context, const struct perfrec_record *record);

/* Pass a span on to the consumer, clipped to the selected time range. */
static void on_span(void *context, struct thread *thread, enum oncpu_state state, uint64_t from,
		    uint64_t to)
{
	const struct analysis *analysis = context;

	if (analysis->limited && from < analysis->from)
		from = analysis->from;
	if (analysis->limited && to > analysis->to)
		to = analysis->to;
	if (from < to)
		analysis->wanted->span(analysis->context, thread, state, from, to);
}

/* Return false if out of memory. */
static bool follow_switches(struct analysis *analysis)
{
	analysis->oncpu = oncpu_new(analysis->threads, analysis->ops->span ? on_span : NULL,
				    analysis);
	counters_add_times(&analysis->counters);
	order_hold(analysis->order);
	return analysis->oncpu;
}

struct analysis *analysis_new(const struct meta *meta, struct symbols *symbols,
			      const struct analysis_ops *ops, void *context)
{
	struct analysis *analysis = calloc(1, sizeof(*analysis));

	if (!analysis)
		return NULL;
	analysis->meta = meta;
	analysis->symbols = symbols;
	analysis->ops = ops;
	analysis->wanted = ops;
	analysis->context = context;
	analysis->counters.meta = meta;
	analysis->counters.apart = true;
	analysis->recorded.meta = meta;
	analysis->recorded.apart = true;
	analysis->functions = functions_new();
	analysis->threads = threads_new(meta);
	if (analysis->threads)
		analysis->order = order_new(analysis->threads, on_ordered, analysis);
	if (!analysis->functions || !analysis->order ||
	    (meta->switches >= 0 && !follow_switches(analysis))) {
		analysis_free(analysis);
		return NULL;
	}
	return analysis;
}

void analysis_show_turns(struct analysis *analysis)
{
	analysis->turns = turns_new(&analysis->counters);
	analysis->no_memory |= !analysis->turns && turns_in(analysis->meta);
}

const struct turns *analysis_turns(const struct analysis *analysis)
{
	return analysis->turns;
}

static void end_turns(struct analysis *analysis, struct turns_last *last)
{
	if (last)
		turns_end(analysis->turns, last);
	free(last);
}

static void free_thread(struct analysis *analysis, struct analysis_thread *thread)
{
	if (!thread)
		return;
	end_turns(analysis, thread->turns);
	free_thread(analysis, thread->recorded);
	free(thread->frame);
	costs_free(&thread->costs);
	free(thread);
}

/* Free the memory that is needed only while reading, because another trace may be read next. */
static void release(struct analysis *analysis)
{
	unsigned int i, k;

	for (i = 0; i < threads_count(analysis->threads); i++) {
		free_thread(analysis, threads_get(analysis->threads, i)->state);
		threads_get(analysis->threads, i)->state = NULL;
	}
	for (i = 0; i < PERFREC_SOURCES; i++) {
		for (k = 0; k < PERFREC_CHANNELS; k++) {
			if (!analysis->stream[i][k])
				continue;
			end_turns(analysis, analysis->stream[i][k]->turns);
			free_thread(analysis, analysis->stream[i][k]->sampler);
			free(analysis->stream[i][k]);
			analysis->stream[i][k] = NULL;
		}
	}
	order_free(analysis->order);
	analysis->order = NULL;
	flows_free(analysis->flows);
	analysis->flows = NULL;
}

void analysis_free(struct analysis *analysis)
{
	if (!analysis)
		return;
	if (analysis->threads)
		release(analysis);
	oncpu_free(analysis->oncpu);
	turns_free(analysis->turns);
	faults_free(&analysis->faults);
	threads_free(analysis->threads);
	functions_free(analysis->functions);
	free(analysis);
}

struct analysis_thread *analysis_thread_of(struct analysis *analysis,
					   const struct perfrec_record *record)
{
	struct thread *thread = threads_find(analysis->threads, record);
	struct analysis_thread *state;

	if (thread && thread->state)
		return thread->state;
	state = thread ? calloc(1, sizeof(*state)) : NULL;
	if (!state) {
		analysis->no_memory = true;
		return NULL;
	}
	state->thread = thread;
	thread->state = state;
	return state;
}

/* ---- counters ---------------------------------------------------------- */

/*
 * Set @delta to the increase in per-thread counter @i since the thread's latest record on any hart.
 * Return whether the increase is known.
 */
static bool thread_delta(struct analysis_thread *thread, struct stream *stream,
			 const struct perfrec_record *record, unsigned int i,
			 bool lost, uint64_t *delta)
{
	unsigned int column = stream->column[i];
	uint64_t value = record->value[i];
	bool known = thread->last_known[column], late = false;

	if (!(record->flags & PERFREC_VALUE_KNOWN)) {
		thread->last_known[column] = false;
		*delta = record->delta[i];
		return record->flags & PERFREC_DELTA_KNOWN &&
		       thread->had_record && thread->src == record->src;
	}
	if (record->header->count_type == PERFREC_DELTA) {
		/*
		 * Delta counts are relative to the header. The counts at the header equal those in
		 * the thread's latest record on any hart. If those counts are unknown, a new chain
		 * of sums begins, which cannot be compared with earlier chains. @late: the thread
		 * wrote records on another hart between this header and the first record after it.
		 */
		if (!stream->based) {
			late = thread->had_record &&
			       thread->offset > record->header->begin.offset;
			known = known && !lost && !stream->resumed && !late;
			if (!known)
				thread->chain[column] = ++thread->chains;
			stream->base[i] = known ? thread->last[column] : 0;
			stream->chain[i] = thread->chain[column];
		}
		value += stream->base[i];
		known = (known || !stream->based) && stream->chain[i] == thread->chain[column];
		thread->chain[column] = stream->chain[i];
	}
	*delta = (value - thread->last[column]) & counters_mask(record, i);
	if (record->header->count_type == PERFREC_DELTA &&
	    !thread->last_known[column])
		*delta = record->delta[i];
	thread->last[column] = value;
	thread->last_known[column] = true;
	return known && !late;
}

/*
 * Fill analysis->delta; return which of its columns are known. Inline, because it runs
 * for each record.
 */
static inline __attribute__((always_inline))
uint64_t count(struct analysis *analysis, struct analysis_thread *thread,
	       struct stream *stream, const struct perfrec_record *record, bool lost)
{
	bool here = !thread->had_record || thread->src == record->src;
	bool resumed = stream->resumed && !stream->based;
	uint64_t known = 0, largest = 0;
	unsigned int i;

	if (!record->header)
		return 0;
	if (!analysis->meta->per_thread) {
		if (__builtin_expect(record->header->goes_on, false)) {
			here &= stream->based;
			stream->based = true;
		}
		/*
		 * While the thread ran on another hart, this hart's counters counted other
		 * threads.
		 */
		if (!here || lost || !(record->flags & PERFREC_DELTA_KNOWN))
			return 0;
		for (i = 0; i < record->counters; i++) {
			if (stream->column[i] == COUNTERS_NONE)
				continue;
			analysis->delta[stream->column[i]] = record->delta[i];
			largest |= record->delta[i];
			known |= 1ull << stream->column[i];
		}
		if (__builtin_expect(largest >= COUNTERS_BACKWARDS, false))
			counting_backwards(analysis, stream, record, known);
		return known;
	}
	for (i = 0; i < record->counters; i++) {
		uint64_t delta;

		if (stream->column[i] == COUNTERS_NONE ||
		    !thread_delta(thread, stream, record, i, lost, &delta))
			continue;
		analysis->delta[stream->column[i]] = delta;
		largest |= delta;
		known |= 1ull << stream->column[i];
	}
	if (__builtin_expect(largest >= COUNTERS_BACKWARDS, false))
		counting_backwards(analysis, stream, record, known);
	stream->based = record->flags & PERFREC_VALUE_KNOWN;
	/* It is unknown which function ran, because call records may be lost. */
	return lost || resumed ? 0 : known;
}

uint64_t analysis_count(struct analysis *analysis, struct analysis_thread *thread,
			struct stream *stream, const struct perfrec_record *record, bool lost)
{
	const uint64_t known = count(analysis, thread, stream, record, lost);

	return analysis->backwards ? counting_forwards(analysis, thread, record, known) : known;
}

static void add_counts(struct analysis *analysis, struct analysis_thread *thread,
		       uint64_t known)
{
	unsigned int c;

	for (; known; known &= known - 1) {
		c = (unsigned int)__builtin_ctzll(known);
		thread->sum[c] += analysis->delta[c];
	}
}

/* ---- records ----------------------------------------------------------- */

/*
 * A header begins a new part of the capture for its thread if the stream already had a header of
 * that thread in the current part. Otherwise, the thread may be new to the stream, or other threads
 * may have used the channel since the previous header. A header that names its thread distinguishes
 * these cases. Without open calls, the distinction does not matter.
 */
static void follow_parts(struct analysis *analysis, struct analysis_thread *thread,
			 struct stream *stream, const struct perfrec_header *header)
{
	bool here = stream->thread == thread && stream->part == thread->part;

	if (__builtin_expect(header->owned, false))
		here = !header->goes_on;
	if (stream->part_serial != header->serial && !header->repeated &&
	    (here || !thread->depth)) {
		/* No later record can end the calls left open in the earlier part. */
		calls_end(analysis, thread);
		thread->part++;
	}
	stream->thread = thread;
	stream->part = thread->part;
	stream->part_serial = header->serial;
}

/* Divide the time since @before into time on and off the CPU. Return the columns to charge. */
static uint64_t divide_time(struct analysis *analysis, struct analysis_thread *thread,
			    uint64_t before, bool whole, bool leaving, uint64_t waited)
{
	struct oncpu_part part;
	unsigned int c;

	oncpu_between(analysis->oncpu, thread->thread, before, thread->now, leaving, waited,
		      &part);
	analysis->delta[COUNTERS_ON_CPU] = part.on;
	analysis->delta[COUNTERS_OFF_CPU] = part.off;
	analysis->delta[COUNTERS_UNKNOWN_CPU] = part.unknown;
	for (c = 0; c < COUNTERS_TIMES; c++) {
		thread->sum[c] += analysis->delta[c];
		/* As in follow_time(), charge the time to the innermost call's callees. */
		if (!whole && thread->depth)
			costs_of(&thread->costs, thread->depth - 1)[thread->costs.stride + c] +=
				analysis->delta[c];
	}
	return whole ? (1u << COUNTERS_TIMES) - 1 : 0;
}

/*
 * Account for the time up to this record, unless the record has no time or its hart's clock lags
 * behind another hart's. After an unknown time or lost records, it is unknown which function ran,
 * so the time is not counted as self time of any open call.
 */
static uint64_t follow_time(struct analysis *analysis, struct analysis_thread *thread,
			    const struct perfrec_record *record, bool lost, uint64_t waited)
{
	bool whole = thread->timed && !lost;
	uint64_t before = thread->now;

	thread->timed = record->begin.time_known && record->begin.time >= before;
	if (!thread->timed)
		return 0;
	thread->now = record->begin.time;
	thread->inferred = record->begin.time_known == TIME_INFERRED;
	if (!whole && thread->depth) {
		thread->frame[thread->depth - 1].inner += thread->now - before;
		thread->frame[thread->depth - 1].doubts |= ANALYSIS_UNKNOWN_RAN;
	}
	/* A sample that the kernel writes belongs to a hart, not to a thread. */
	if (!analysis->oncpu || record->flags & PERFREC_NAMED ||
	    (record->type == PERFREC_ISR && thread->thread->tid < 0))
		return 0;
	return divide_time(analysis, thread, before, whole, record->flags & PERFREC_LEAVING,
			   waited);
}

/* Convert @ns nanoseconds to ticks, at most @most. */
static uint64_t ticks_of(const struct analysis *analysis, uint64_t ns, uint64_t most)
{
	const double ticks = (double)ns * (double)analysis->meta->ts_hz / 1e9;

	return ticks < (double)most ? (uint64_t)ticks : most;
}

/*
 * Account for the thread's waits before a record, and return their ticks. Call this before using
 * the record's time. @lost: it is unknown which code ran since the thread's previous record.
 */
static __attribute__((noinline, cold))
uint64_t follow_marks(struct analysis *analysis, struct analysis_thread *thread,
		  const struct perfrec_record *record, bool lost)
{
	const bool later = record->begin.time_known && record->begin.time >= thread->now;
	uint64_t ticks;

	analysis->stats.waited += record->waited;
	if (!record->waited)
		return 0;
	if (later && analysis->meta->ts_hz) {
		ticks = ticks_of(analysis, record->waited, record->begin.time - thread->now);
		calls_wait(thread, ticks, lost || !thread->timed);
		return ticks;
	}
	/* The function waited for an unknown share of the time since the previous record. */
	calls_wait_unknown(thread);
	thread->timed = false;
	return 0;
}

uint32_t analysis_function_at(struct analysis *analysis, uint64_t address)
{
	uint32_t function;

	address = symbols_place(analysis->symbols, address);
	function = functions_find(analysis->functions, address);
	if (function != FUNCTIONS_OTHER)
		return function;
	symbols_expect(analysis->symbols, address);
	return functions_add(analysis->functions, address,
			     symbols_same(analysis->symbols, address));
}

/* Find the callers of a sample's function. */
static void find_callers(struct analysis *analysis, struct analysis_step *step)
{
	uint64_t address[SIFIVE_TRACE_CALLERS_MAX];
	struct symbol symbol;
	unsigned int i;

	step->callers = symbols_callers(analysis->symbols, step->record, address);
	for (i = 0; i < step->callers; i++)
		analysis->caller[i] = analysis_function_at(analysis,
			symbols_find_return(analysis->symbols, address[i], &symbol) ?
			symbol.start : address[i] & ~1ull);
	step->caller = analysis->caller;
}

/* Return the address that identifies a record's function: the function's start if it is known. */
static uint64_t function_address(struct analysis *analysis,
				 const struct perfrec_record *record)
{
	struct symbol symbol;
	bool known;

	if (record->type <= PERFREC_EXIT)
		return record->address[0];
	known = symbols_find(analysis->symbols, record->address[0], &symbol);
	if (record->type == PERFREC_ISR) {
		analysis->stats.samples++;
		analysis->stats.tracer += symbol.tracer;
	}
	return known ? symbol.start : record->address[0];
}

static __attribute__((noinline, cold))
void note_loss(struct analysis *analysis, struct analysis_thread *thread)
{
	calls_doubt(thread);
	if (analysis->ops->lost)
		analysis->ops->lost(analysis->context, thread);
}

/* Receive a thread's records in the order in which they were written. */
static void on_ordered(void *context, const struct perfrec_record *record)
{
	struct analysis *analysis = context;
	struct stream *stream = counting_stream(analysis, &analysis->counters, record);
	struct analysis_thread *thread = stream ? counting_thread(analysis, stream, record) : NULL;
	struct analysis_step step;
	bool lost, after_loss, elsewhere = false;
	uint64_t waited = 0;

	if (!thread)
		return;
	if (__builtin_expect(analysis->limited, false) && !limit_before(analysis, thread, record))
		return;
	after_loss = counting_lost(analysis, stream, thread, record);
	if (__builtin_expect(counting_loses(analysis, thread), false))
		elsewhere = !after_loss && counting_elsewhere(analysis, thread, record);
	if (record->header)
		follow_parts(analysis, thread, stream, record->header);
	lost = record->header && !(record->flags & PERFREC_ADDRESS_KNOWN);
	if (lost) {
		/* A record without addresses may have ended any of the open calls. */
		analysis->stats.unaddressed++;
		calls_cut(analysis, thread);
	}
	step.counted = count(analysis, thread, stream, record, after_loss);
	if (__builtin_expect(analysis->turns != NULL, false))
		step.counted |= counting_turns(analysis, thread, stream, record,
					       step.counted & ~analysis->backwards);
	add_counts(analysis, thread, step.counted);
	if (thread->had_record && record->counters && !step.counted)
		analysis->stats.uncounted++;
	if (__builtin_expect(analysis->backwards != 0, false))
		step.counted = counting_forwards(analysis, thread, record, step.counted);
	counting_follow(thread, stream, step.counted);
	thread->had_record = true;
	thread->src = record->src;
	thread->offset = record->begin.offset;
	if (__builtin_expect(record->flags & PERFREC_MARKED, false))
		waited = follow_marks(analysis, thread, record, after_loss);
	step.counted |= follow_time(analysis, thread, record, after_loss, waited);
	/* The counts since the previous record are from before the selected time range. */
	if (__builtin_expect(analysis->limited, false) && limit_timed(analysis, thread))
		step.counted = 0;
	if (lost || after_loss)
		note_loss(analysis, thread);
	else if (__builtin_expect(elsewhere, false))
		calls_doubt(thread);
	if (lost)
		return;

	symbols_where(analysis->symbols, record);
	step.record = record;
	step.address = record->address[0];
	step.function = analysis_function_at(analysis, function_address(analysis, record));
	step.delta = analysis->delta;
	step.callers = 0;
	if (__builtin_expect(record->flags & PERFREC_CALLERS, false))
		find_callers(analysis, &step);
	if (analysis->ops->step)
		analysis->ops->step(analysis->context, thread, &step);
	if (record->type == PERFREC_ENTER)
		calls_enter(analysis, thread, record, step.function);
	else if (record->type == PERFREC_EXIT)
		calls_exit(analysis, thread, record, step.function);
	else if (analysis->ops->point) {
		step.charged = counting_point(analysis, thread, stream, &step);
		analysis->ops->point(analysis->context, thread, &step);
	}
}

static void on_record(void *context, const struct perfrec_record *record)
{
	struct analysis *analysis = context;

	if (analysis->oncpu)
		oncpu_note(analysis->oncpu, record->src, &record->begin);
	if (__builtin_expect(analysis->joins, false) && points_wants(analysis, record))
		return;
	order_push(analysis->order, analysis->trace, record);
}

static void on_header(void *context, const struct perfrec_header *header)
{
	struct analysis *analysis = context;

	order_header(analysis->order, analysis->trace, header);
	analysis->no_memory |= order_failed(analysis->order);
}

/* Count in @made, because a reader thread may be updating the trace's statistics. */
static void count_made(struct trace_stats *made, const struct perfrec_record *record)
{
	made->records[record->type]++;
	trace_count_time(made, &record->begin);
}

/* Called for each record generated from instruction trace, in the thread's order. */
static void on_flow(void *context, const struct perfrec_record *record)
{
	struct analysis *analysis = context;

	count_made(&analysis->made, record);
	on_ordered(analysis, record);
}

static const struct flows_ops flows_ops = {
	.call = on_flow,
	.record = points_record,
	.ran = points_ran,
	.missing = points_missing,
};

/* Called once the trace is known to contain instruction trace. */
static void begin_flows(struct analysis *analysis)
{
	struct analysis_thread *thread;
	unsigned int i;

	analysis->flows = flows_new(analysis->symbols, (enum meta_calls)analysis->meta->calls,
				    &flows_ops, analysis->wanted->ran, analysis);
	analysis->no_memory |= !analysis->flows;
	threads_share(analysis->threads, THREADS_FLOW_CHANNEL);
	if (analysis->joins)
		return;
	/*
	 * Without a side-car file, records may have begun calls before instruction trace was found.
	 */
	analysis->joins = true;
	analysis->charged = 0;
	order_flush(analysis->order);
	counting_restart(analysis);
	for (i = 0; i < threads_count(analysis->threads); i++) {
		thread = threads_get(analysis->threads, i)->state;
		if (!thread)
			continue;
		calls_end(analysis, thread);
		/* Calls from the flow have no counts. */
		thread->ever = 0;
	}
	if (analysis->held && analysis->flows && flows_message(analysis->flows, &analysis->first))
		analysis->no_memory = true;
}

static void on_message(void *context, const struct nexus_message *message)
{
	struct analysis *analysis = context;

	if (analysis->wanted->message)
		analysis->wanted->message(analysis->context, message);
	if (analysis->by_records)
		return;
	if (!analysis->flows && points_start_flow(analysis, message))
		begin_flows(analysis);
	if (analysis->flows && flows_message(analysis->flows, message))
		analysis->no_memory = true;
}

/* The thread that began a record may have moved to another source long before this loss. */
static void on_lost(void *context, const struct perfrec_loss *loss)
{
	struct analysis *analysis = context;

	if (loss->reason == PERFREC_INTERRUPTED)
		losses_note(&analysis->dropped[loss->channel], loss->offset);
}

static void on_error(void *context, const struct nexus_message *error)
{
	struct analysis *analysis = context;

	losses_note(&analysis->losses[error->src], error->offset);
	losses_note(&analysis->losses[PERFREC_SOURCES], error->offset);
	if (analysis->oncpu)
		oncpu_lost(analysis->oncpu, error->src, &(struct perfrec_stamp){
			error->offset, error->time,
			/*
			 * The Error messages by which the driver marks pauses and lost bytes have
			 * no time.
			 */
			error->flags & NEXUS_TIMESTAMP && error->flags & NEXUS_TIME_KNOWN ?
			TIME_INFERRED : TIME_UNKNOWN,
		});
}

/* Charge the fault to the function of the faulting instruction. */
static void on_fault(struct analysis *analysis, const struct trace_switch *record)
{
	struct symbol symbol;
	uint64_t address = record->pc;

	symbols_when(analysis->symbols, &record->stamp);
	if (symbols_find(analysis->symbols, address, &symbol))
		address = symbol.start;
	analysis->no_memory |= !faults_add(&analysis->faults,
					   analysis_function_at(analysis, address),
					   record->major);
}

static void on_switched(void *context, const struct trace_switch *record)
{
	struct analysis *analysis = context;

	if (record->kind == SIFIVE_TRACE_SWITCH_FAULT && !analysis->limited)
		on_fault(analysis, record);
	else if (analysis->oncpu)
		oncpu_push(analysis->oncpu, record);
}

/* Unless a source's timestamps reveal the loss, the lost bytes may be messages from any source. */
static void on_gap(void *context, const struct nexus_message *gap)
{
	const int src = gap->gap == NEXUS_GAP_TIMES ? gap->src : -1;
	struct analysis *analysis = context;

	if (analysis->wanted->gap)
		analysis->wanted->gap(analysis->context, gap);
	counting_gap(analysis, src, gap->offset);
	flows_damaged(analysis->flows, gap);
	if (analysis->oncpu)
		oncpu_lost(analysis->oncpu, src, &(struct perfrec_stamp){ gap->offset, 0, 0 });
}

static void on_pause(void *context)
{
	struct analysis *analysis = context;

	if (analysis->wanted->pause)
		analysis->wanted->pause(analysis->context);
}

static bool on_stop(void *context)
{
	struct analysis *analysis = context;

	analysis->no_memory |= order_failed(analysis->order);
	return analysis->no_memory ||
	       (analysis->wanted->stop && analysis->wanted->stop(analysis->context));
}

static const struct trace_ops trace_ops = {
	.header = on_header,
	.record = on_record,
	.lost = on_lost,
	.gap = on_gap,
	.message = on_message,
	.error = on_error,
	.switched = on_switched,
	.pause = on_pause,
	.stop = on_stop,
};

int analysis_run(struct analysis *analysis, struct trace *trace)
{
	unsigned int i;

	analysis->trace = trace;
	threads_wrap(analysis->threads, trace_time_mask(trace));
	if (trace_run(trace, &trace_ops, analysis))
		return -1;
	if (analysis->oncpu)
		oncpu_flush(analysis->oncpu);
	order_flush(analysis->order);
	analysis->no_memory |= flows_flush(analysis->flows) != 0;
	if (analysis->flows) {
		analysis->flow = *flows_stats(analysis->flows);
		analysis->stats.too_deep += flows_left_out(analysis->flows)->calls;
		analysis->stats.left_out = flows_left_out(analysis->flows)->parts;
		analysis->stats.broken = flows_left_out(analysis->flows)->stacks;
		analysis->stats.misplaced = flows_left_out(analysis->flows)->places;
		analysis->made.flow_losses = flow_losses(&analysis->flow) + analysis->stats.broken;
	}
	analysis->stats.points = analysis->points;
	analysis->made.backwards = analysis->stats.backwards + analysis->stats.beyond;
	analysis->made.left_out = analysis->stats.too_deep + analysis->stats.left_out +
				  threads_left_out(analysis->threads);
	trace_add(trace, &analysis->made);
	if (analysis->oncpu)
		oncpu_end(analysis->oncpu);
	for (i = 0; i < threads_count(analysis->threads); i++)
		if (threads_get(analysis->threads, i)->state)
			limit_end(analysis, threads_get(analysis->threads, i)->state);
	release(analysis);
	trace_release(trace);
	if (analysis->no_memory || (analysis->oncpu && oncpu_failed(analysis->oncpu))) {
		report("out of memory: the rest of the trace was not read");
		return -1;
	}
	return 0;
}

const struct flow_stats *analysis_flow(const struct analysis *analysis)
{
	return &analysis->flow;
}

const struct faults *analysis_faults(const struct analysis *analysis)
{
	return &analysis->faults;
}

const struct oncpu *analysis_oncpu(const struct analysis *analysis)
{
	return analysis->oncpu;
}

bool analysis_doubts_oncpu(const struct analysis *analysis)
{
	const struct meta *meta = analysis->meta;

	/* Threads may have run on another sink's harts, or on harts that are not recorded. */
	return meta_other_harts(meta) || meta->lost.switches || meta->lost.elsewhere ||
	       (analysis->oncpu && oncpu_stats(analysis->oncpu)->inferred);
}

const struct analysis_stats *analysis_stats(const struct analysis *analysis)
{
	return &analysis->stats;
}

struct functions *analysis_functions(struct analysis *analysis)
{
	return analysis->functions;
}

const struct counters *analysis_counters(const struct analysis *analysis)
{
	return &analysis->counters;
}

uint64_t analysis_repeated(const struct analysis *analysis)
{
	return analysis->charged & analysis->sampled;
}

const struct counters *analysis_recorded(const struct analysis *analysis)
{
	return &analysis->recorded;
}

struct threads *analysis_threads(struct analysis *analysis)
{
	return analysis->threads;
}

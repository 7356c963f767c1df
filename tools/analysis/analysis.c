// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Calls, times and counts: see analysis.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "command.h"
#include "losses.h"
#include "order.h"

/* Appended to names of functions that belong to the tracer. */
#define TRACER_MARK	" [tracer]"

/* How many frames to search for the one that an exit's call site names. */
#define SITE_SEARCH_MAX	64
/* Search budget per call for its caller's frame; the unused part carries over. */
#define SEARCH_EACH	64

/* State of each (source, channel). */
struct stream {
	const struct perfrec_header *header;
	uint32_t	serial;
	unsigned int	counters;
	uint8_t		column[PERFREC_COUNTERS];
	/* Delta counts of a thread: its count at the header, and the chain of that. */
	uint64_t	base[PERFREC_COUNTERS];
	uint32_t	chain[PERFREC_COUNTERS];
	bool		based;
	/* Its header is from before the piece: what the thread has counted since is unknown. */
	bool		resumed;
	/* The last thread that recorded here, and in which part of its capture. */
	const struct analysis_thread *thread;
	uint32_t	part;
	uint32_t	part_serial;
};

struct analysis {
	const struct meta		*meta;
	struct symbols			*symbols;
	const struct analysis_ops	*ops;
	void				*context;
	struct functions		*functions;
	struct threads			*threads;
	struct counters			counters;
	struct analysis_stats		stats;
	size_t				frame_bytes;
	bool				no_memory;
	struct stream			*stream[PERFREC_SOURCES][PERFREC_CHANNELS];
	struct order			*order;
	const struct trace		*trace;
	struct losses			losses[PERFREC_SOURCES + 1];	/* of all behind those of each */
	/* Of the current record, by column. */
	uint64_t			delta[COUNTERS_MAX];
};

static const struct trace_ops trace_ops;
static void on_ordered(void *context, const struct perfrec_record *record);

struct analysis *analysis_new(const struct meta *meta, struct symbols *symbols,
			      const struct analysis_ops *ops, void *context)
{
	struct analysis *analysis = calloc(1, sizeof(*analysis));

	if (!analysis)
		return NULL;
	analysis->meta = meta;
	analysis->symbols = symbols;
	analysis->ops = ops;
	analysis->context = context;
	analysis->counters.meta = meta;
	analysis->functions = functions_new();
	analysis->threads = threads_new(meta);
	if (analysis->threads)
		analysis->order = order_new(analysis->threads, on_ordered, analysis);
	if (!analysis->functions || !analysis->order) {
		analysis_free(analysis);
		return NULL;
	}
	return analysis;
}

static void free_thread(struct analysis_thread *thread)
{
	if (!thread)
		return;
	free(thread->frame);
	costs_free(&thread->costs);
	free(thread);
}

/* Frees what only reading needs, since another trace may be read next. */
static void release(struct analysis *analysis)
{
	unsigned int i, k;

	for (i = 0; i < threads_count(analysis->threads); i++) {
		free_thread(threads_get(analysis->threads, i)->state);
		threads_get(analysis->threads, i)->state = NULL;
	}
	for (i = 0; i < PERFREC_SOURCES; i++) {
		for (k = 0; k < PERFREC_CHANNELS; k++) {
			free(analysis->stream[i][k]);
			analysis->stream[i][k] = NULL;
		}
	}
	order_free(analysis->order);
	analysis->order = NULL;
}

void analysis_free(struct analysis *analysis)
{
	if (!analysis)
		return;
	if (analysis->threads)
		release(analysis);
	threads_free(analysis->threads);
	functions_free(analysis->functions);
	free(analysis);
}

static struct analysis_thread *find_thread(struct analysis *analysis,
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

static struct stream *find_stream(struct analysis *analysis,
				  const struct perfrec_record *record)
{
	struct stream **slot = &analysis->stream[record->src][record->channel];
	struct stream *stream = *slot;
	uint32_t serial = record->header ? record->header->serial : 0;

	if (stream && stream->header == record->header &&
	    stream->serial == serial && stream->counters == record->counters)
		return stream;
	if (!stream)
		*slot = calloc(1, sizeof(**slot));
	stream = *slot;
	if (!stream) {
		analysis->no_memory = true;
		return NULL;
	}
	stream->header = record->header;
	stream->serial = serial;
	stream->counters = record->counters;
	stream->based = false;
	stream->resumed = serial == 1 && meta_goes_on(analysis->meta, record->src,
						      record->channel);
	counters_assign(&analysis->counters, record->header, record->counters,
			stream->column);
	return stream;
}

/*
 * Counter @i of a thread with counts of its own: the difference from the thread's
 * latest record on any hart. Returns whether the result is known.
 */
static bool thread_delta(struct analysis_thread *thread, struct stream *stream,
			 const struct perfrec_record *record, unsigned int i,
			 bool lost, uint64_t *delta)
{
	unsigned int column = stream->column[i];
	uint64_t value = record->value[i];
	bool known = thread->last_known[column];

	if (!(record->flags & PERFREC_VALUE_KNOWN)) {
		thread->last_known[column] = false;
		*delta = record->delta[i];
		return record->flags & PERFREC_DELTA_KNOWN &&
		       thread->had_record && thread->src == record->src;
	}
	if (record->header->count_type == PERFREC_DELTA) {
		/*
		 * The header has the counts of the thread's latest record,
		 * wherever that was made. If these are unknown, a chain begins whose
		 * sums cannot be compared with those of streams in an earlier one.
		 */
		if (!stream->based) {
			known = known && !lost && !stream->resumed;
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
	return known;
}

/* Fills analysis->delta; returns which of its columns are known. */
static uint64_t count(struct analysis *analysis, struct analysis_thread *thread,
		      struct stream *stream, const struct perfrec_record *record,
		      bool lost)
{
	bool here = !thread->had_record || thread->src == record->src;
	bool resumed = stream->resumed && !stream->based;
	uint64_t known = 0;
	unsigned int i;

	if (!record->header)
		return 0;
	if (!analysis->meta->per_thread) {
		if (__builtin_expect(record->header->goes_on, false)) {
			here &= stream->based;
			stream->based = true;
		}
		/*
		 * Do the counts include what the hart did while the thread was elsewhere?
		 */
		if (!here || lost || !(record->flags & PERFREC_DELTA_KNOWN))
			return 0;
		for (i = 0; i < record->counters; i++) {
			if (stream->column[i] == COUNTERS_NONE)
				continue;
			analysis->delta[stream->column[i]] = record->delta[i];
			known |= 1ull << stream->column[i];
		}
		return known;
	}
	for (i = 0; i < record->counters; i++) {
		uint64_t delta;

		if (stream->column[i] == COUNTERS_NONE ||
		    !thread_delta(thread, stream, record, i, lost, &delta))
			continue;
		analysis->delta[stream->column[i]] = delta;
		known |= 1ull << stream->column[i];
	}
	stream->based = record->flags & PERFREC_VALUE_KNOWN;
	/* The lost records may include the function that ran before. */
	return lost || resumed ? 0 : known;
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

/* ---- calls ------------------------------------------------------------- */

/*
 * Counters of frame @i: their values at its start, and counts of the functions it
 * called.
 */
static uint64_t *at_begin(const struct analysis_thread *thread, unsigned int i)
{
	return costs_of(&thread->costs, i);
}

static uint64_t *of_inner(const struct analysis_thread *thread, unsigned int i)
{
	return at_begin(thread, i) + thread->costs.stride;
}

static uint64_t function_of(const void *frames, uint32_t number)
{
	return ((const struct analysis_frame *)frames)[number - 1].function;
}

/*
 * The slot of the function's outermost call, which holds its frame's index plus 1, or a
 * free slot for it. Calls end in reverse order of their start, so entries that probed past
 * a slot are gone before it is freed.
 */
static uint32_t *find_call(const struct analysis_thread *thread, uint32_t function)
{
	return hash_find(&thread->costs.hash, function, function_of, thread->frame);
}

/* Makes room for @room frames with @stride counters. */
static bool resize(struct analysis *analysis, struct analysis_thread *thread,
		   unsigned int room, unsigned int stride)
{
	size_t old = costs_bytes(sizeof(*thread->frame), thread->costs.room,
				 thread->costs.stride);
	size_t new = costs_bytes(sizeof(*thread->frame), room, stride);
	struct analysis_frame *frame;
	unsigned int i;

	if (analysis->frame_bytes - old + new > ANALYSIS_FRAME_BYTES)
		return false;
	frame = costs_resize(&thread->costs, thread->frame, sizeof(*frame), thread->depth,
			     room, stride);
	if (!frame)
		return false;
	thread->frame = frame;
	for (i = 0; i < thread->depth; i++)
		if (frame[i].outermost)
			*find_call(thread, frame[i].function) = i + 1;
	analysis->frame_bytes += new - old;
	return true;
}

static bool make_room(struct analysis *analysis, struct analysis_thread *thread)
{
	unsigned int stride = thread->costs.stride, room = thread->costs.room;

	if (stride < analysis->counters.count)
		stride = (analysis->counters.count + 3) & ~3u;
	if (thread->depth == room)
		room = room ? 2 * room : 16;
	if (stride == thread->costs.stride && room == thread->costs.room)
		return true;
	return resize(analysis, thread, room, stride);
}

/* Ends the innermost call. */
static void leave(struct analysis *analysis, struct analysis_thread *thread,
		  enum analysis_why why)
{
	unsigned int depth = thread->depth - 1, c;
	struct analysis_frame *frame = &thread->frame[depth];
	uint64_t total[COUNTERS_MAX], self[COUNTERS_MAX];
	uint64_t *begin = at_begin(thread, depth);
	uint64_t *inner = of_inner(thread, depth);
	uint64_t elapsed = thread->now - frame->enter;
	struct analysis_end end = {
		.why = why,
		.timed = frame->timed && thread->timed,
		.count = total,
		.count_self = self,
	};

	if (end.timed) {
		end.total = elapsed;
		end.self = elapsed - frame->inner;
		end.inferred = frame->inferred || thread->inferred;
		end.self_inferred = end.inferred || frame->doubtful;
	}
	for (c = 0; c < thread->costs.stride; c++) {
		total[c] = thread->sum[c] - begin[c];
		self[c] = total[c] - inner[c];
	}
	for (; c < analysis->counters.count; c++) {
		total[c] = 0;
		self[c] = 0;
	}
	if (depth) {
		thread->frame[depth - 1].inner += elapsed;
		thread->frame[depth - 1].doubtful |= end.self_inferred || !end.timed;
		inner = of_inner(thread, depth - 1);
		for (c = 0; c < thread->costs.stride; c++)
			inner[c] += total[c];
	}
	if (frame->outermost)
		*find_call(thread, frame->function) = 0;
	analysis->stats.calls++;
	analysis->stats.untimed += !end.timed;
	analysis->stats.inferred += end.inferred;
	if (why == ANALYSIS_UNWOUND)
		analysis->stats.unwound++;
	else if (why == ANALYSIS_CUT)
		analysis->stats.cut++;
	if (analysis->ops->leave)
		analysis->ops->leave(analysis->context, thread, &end);
	thread->depth--;
}

/* The first frame from @keep on that was called from somewhere else. */
static unsigned int skip_site(struct analysis_thread *thread, unsigned int keep,
			      uint64_t call_site)
{
	while (keep < thread->depth && thread->search &&
	       thread->frame[keep].call_site == call_site) {
		thread->search--;
		keep++;
	}
	return keep;
}

/*
 * A call comes from a function around the innermost one: calls within that function
 * have ended without a record, as by longjmp. An inlined function has the call site
 * of the function around it: such functions continue, and if the new function is
 * inlined too, so does the one that may contain it.
 */
static void leave_abandoned(struct analysis *analysis,
			    struct analysis_thread *thread, uint32_t function,
			    uint64_t call_site)
{
	const struct analysis_frame *frame = thread->frame;
	unsigned int keep = thread->depth;
	uint64_t address;
	uint32_t caller;

	thread->search += SEARCH_EACH;
	if (!keep || frame[keep - 1].call_site == call_site)
		return;
	address = symbols_caller(analysis->symbols, call_site);
	caller = address ? functions_find(analysis->functions, address) :
			   FUNCTIONS_OTHER;
	if (caller == FUNCTIONS_OTHER || !*find_call(thread, caller))
		return;
	for (; frame[keep - 1].function != caller; keep--)
		if (!thread->search--) {
			thread->search = 0;
			return;
		}
	keep = skip_site(thread, keep, frame[keep - 1].call_site);
	if (keep < thread->depth && frame[keep].function != function)
		keep = skip_site(thread, keep, call_site);
	while (thread->depth > keep)
		leave(analysis, thread, ANALYSIS_UNWOUND);
}

static void enter(struct analysis *analysis, struct analysis_thread *thread,
		  const struct perfrec_record *record, uint32_t function)
{
	struct analysis_frame *frame;
	uint32_t *outermost;

	if (!thread->too_deep)
		leave_abandoned(analysis, thread, function, record->address[1]);
	if (thread->too_deep || !make_room(analysis, thread)) {
		thread->too_deep++;
		analysis->stats.too_deep++;
		return;
	}
	memcpy(at_begin(thread, thread->depth), thread->sum,
	       thread->costs.stride * sizeof(uint64_t));
	memset(of_inner(thread, thread->depth), 0,
	       thread->costs.stride * sizeof(uint64_t));
	outermost = find_call(thread, function);
	frame = &thread->frame[thread->depth++];
	frame->outermost = !*outermost;
	if (frame->outermost)
		*outermost = thread->depth;
	frame->function = function;
	frame->call_site = record->address[1];
	frame->timed = thread->timed;
	frame->inferred = thread->inferred;
	frame->doubtful = false;
	frame->enter = thread->now;
	frame->inner = 0;
	frame->user = 0;
	if (analysis->ops->enter)
		analysis->ops->enter(analysis->context, thread);
}

static void leave_all(struct analysis *analysis, struct analysis_thread *thread)
{
	while (thread->depth)
		leave(analysis, thread, ANALYSIS_CUT);
	thread->too_deep = 0;
}

/*
 * How many calls an exit record ends: up to the innermost one of this function and
 * call site, or else of this function. 0: none.
 */
static unsigned int ends(const struct analysis_thread *thread,
			 const struct perfrec_record *record, uint32_t function)
{
	unsigned int i, found = 0;

	if (!thread->depth || !*find_call(thread, function))
		return 0;
	for (i = 1; i <= thread->depth; i++) {
		const struct analysis_frame *frame =
			&thread->frame[thread->depth - i];

		if (found && i - found > SITE_SEARCH_MAX)
			break;
		if (frame->function != function)
			continue;
		if (frame->call_site == record->address[1])
			return i;
		if (!found)
			found = i;
	}
	return found;
}

static void on_exit_record(struct analysis *analysis, struct analysis_thread *thread,
			   const struct perfrec_record *record,
			   uint32_t function)
{
	unsigned int count;

	if (thread->too_deep) {
		thread->too_deep--;
		return;
	}
	count = ends(thread, record, function);
	if (!count) {
		analysis->stats.strays++;
		return;
	}
	while (--count)
		leave(analysis, thread, ANALYSIS_UNWOUND);
	leave(analysis, thread, ANALYSIS_EXIT);
}

/* ---- records ----------------------------------------------------------- */

/*
 * A header begins a new part of the thread's capture if the thread has already been in this
 * part. Otherwise it may only mean that the thread is new there, or that other threads had
 * the channel before; a header that names its thread says which. Without open calls it
 * makes no difference.
 */
static void follow_parts(struct analysis *analysis, struct analysis_thread *thread,
			 struct stream *stream, const struct perfrec_header *header)
{
	bool here = stream->thread == thread && stream->part == thread->part;

	if (__builtin_expect(header->owned, false))
		here = !header->goes_on;
	if (stream->part_serial != header->serial && !header->repeated &&
	    (here || !thread->depth)) {
		/* Open calls would never end. */
		leave_all(analysis, thread);
		thread->part++;
	}
	stream->thread = thread;
	stream->part = thread->part;
	stream->part_serial = header->serial;
}

/*
 * Account for the time up to this record, unless it has no time, or one from a clock that
 * is behind another hart's. After unknown times or lost records the function that ran is
 * unknown too: the time belongs neither to the innermost call nor to those around it.
 */
static void follow_time(struct analysis_thread *thread,
			const struct perfrec_record *record, bool lost)
{
	bool whole = thread->timed && !lost;
	uint64_t before = thread->now;

	thread->timed = record->begin.time_known && record->begin.time >= before;
	if (!thread->timed)
		return;
	thread->now = record->begin.time;
	thread->inferred = record->begin.time_known == TIME_INFERRED;
	if (!whole && thread->depth)
		thread->frame[thread->depth - 1].inner += thread->now - before;
}

/* The address that represents the function: with symbols its start. */
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

static uint32_t find_function(struct analysis *analysis, uint64_t address)
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

/*
 * Whether records of the thread may be missing between its latest one and this one: in this
 * stream; of this source, if there is a new header; or of any, if the thread has moved.
 */
static bool is_after_loss(const struct analysis *analysis, const struct stream *stream,
			  const struct analysis_thread *thread,
			  const struct perfrec_record *record)
{
	const struct losses *losses = &analysis->losses[PERFREC_SOURCES];

	if (record->flags & PERFREC_AFTER_LOSS)
		return true;
	if (losses->latest <= thread->offset || !thread->had_record || !record->header)
		return false;
	if (thread->src == record->src) {
		if (stream->thread == thread && stream->part_serial == record->header->serial)
			return false;
		losses = &analysis->losses[record->src];
	}
	return losses_between(losses, thread->offset, record->begin.offset);
}

/* Receives a thread's records in its order. */
static void on_ordered(void *context, const struct perfrec_record *record)
{
	struct analysis *analysis = context;
	struct analysis_thread *thread = find_thread(analysis, record);
	struct stream *stream = find_stream(analysis, record);
	struct analysis_step step;
	bool lost, after_loss;

	if (!thread || !stream)
		return;
	after_loss = is_after_loss(analysis, stream, thread, record);
	if (record->header)
		follow_parts(analysis, thread, stream, record->header);
	lost = record->header && !(record->flags & PERFREC_ADDRESS_KNOWN);
	if (lost) {
		/* Any record may end open calls. */
		analysis->stats.unaddressed++;
		leave_all(analysis, thread);
	}
	step.counted = count(analysis, thread, stream, record, after_loss);
	add_counts(analysis, thread, step.counted);
	if (thread->had_record && record->counters && !step.counted)
		analysis->stats.uncounted++;
	thread->had_record = true;
	thread->src = record->src;
	thread->offset = record->begin.offset;
	follow_time(thread, record, after_loss);
	if ((lost || after_loss) && analysis->ops->lost)
		analysis->ops->lost(analysis->context, thread);
	if (lost)
		return;

	symbols_when(analysis->symbols, record->begin.time_known, record->begin.time);
	step.record = record;
	step.address = record->address[0];
	step.function = find_function(analysis, function_address(analysis, record));
	step.delta = analysis->delta;
	if (analysis->ops->step)
		analysis->ops->step(analysis->context, thread, &step);
	if (record->type == PERFREC_ENTER)
		enter(analysis, thread, record, step.function);
	else if (record->type == PERFREC_EXIT)
		on_exit_record(analysis, thread, record, step.function);
	else if (analysis->ops->point)
		analysis->ops->point(analysis->context, thread, &step);
}

static void on_record(void *context, const struct perfrec_record *record)
{
	struct analysis *analysis = context;

	order_push(analysis->order, analysis->trace, record);
}

static void on_header(void *context, const struct perfrec_header *header)
{
	struct analysis *analysis = context;

	order_header(analysis->order, analysis->trace, header);
	analysis->no_memory |= order_failed(analysis->order);
}

static void on_error(void *context, const struct nexus_message *error)
{
	struct analysis *analysis = context;

	losses_note(&analysis->losses[error->src], error->offset);
	losses_note(&analysis->losses[PERFREC_SOURCES], error->offset);
}

/* Any source may have sent the lost bytes. */
static void on_gap(void *context, const struct nexus_message *gap)
{
	struct analysis *analysis = context;
	unsigned int i;

	for (i = 0; i <= PERFREC_SOURCES; i++)
		losses_note(&analysis->losses[i], gap->offset);
}

static void on_pause(void *context)
{
	struct analysis *analysis = context;

	if (analysis->ops->pause)
		analysis->ops->pause(analysis->context);
}

static bool on_stop(void *context)
{
	struct analysis *analysis = context;

	analysis->no_memory |= order_failed(analysis->order);
	return analysis->no_memory ||
	       (analysis->ops->stop && analysis->ops->stop(analysis->context));
}

static const struct trace_ops trace_ops = {
	.header = on_header,
	.record = on_record,
	.gap = on_gap,
	.error = on_error,
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
	order_flush(analysis->order);
	for (i = 0; i < threads_count(analysis->threads); i++)
		if (threads_get(analysis->threads, i)->state)
			leave_all(analysis, threads_get(analysis->threads, i)->state);
	release(analysis);
	trace_release(trace);
	if (analysis->no_memory) {
		report("out of memory: the rest of the trace was not read");
		return -1;
	}
	return 0;
}

const struct analysis_stats *analysis_stats(const struct analysis *analysis)
{
	return &analysis->stats;
}

/* Deeper than the limit. */
static void append(char *text, unsigned int size, const char *mark)
{
	size_t length = strlen(text), marked = strlen(mark);

	if (length + marked + 1 > size)
		length = size - marked - 1;
	strcpy(text + length, mark);
}

void analysis_name(const struct analysis *analysis, uint32_t function,
		   char *text, unsigned int size)
{
	uint64_t address = functions_address(analysis->functions, function);
	struct symbol symbol;

	if (function == FUNCTIONS_OTHER) {
		snprintf(text, size, "(others)");
		return;
	}
	symbols_find(analysis->symbols, address, &symbol);
	symbol_name(&symbol, address, text, size);
	if (symbol.tracer)
		append(text, size, TRACER_MARK);
}

struct functions *analysis_functions(struct analysis *analysis)
{
	return analysis->functions;
}

const struct counters *analysis_counters(const struct analysis *analysis)
{
	return &analysis->counters;
}

struct threads *analysis_threads(struct analysis *analysis)
{
	return analysis->threads;
}

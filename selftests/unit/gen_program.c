// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <stdlib.h>
#include <string.h>

#include "gen_program.h"

#define SRC_BITS	2
/* Number of passes in which adjacent messages are swapped. */
#define SHUFFLES	4
#define FIRST_CHANNEL	6
/* A thread without a channel takes one, and runs, once in TAKES times that it is chosen. */
#define TAKES		20
/* A function that is called only while records are being lost. */
#define LOST_FUNCTION	(PROGRAM_FUNCTIONS - 1)

void program_init(struct program *program, uint64_t seed)
{
	unsigned int i;

	memset(program, 0, sizeof(*program));
	gen_init(&program->gen, SRC_BITS, 40);
	program->seed = seed;
	program->threads = 1;
	program->sources = 1;
	program->functions = 20;
	program->count_type = 1;
	for (i = 0; i < PROGRAM_THREADS; i++)
		program->thread[i].channel = FIRST_CHANNEL + i;
}

void program_free(struct program *program)
{
	unsigned int i;

	for (i = 0; i < PROGRAM_FUNCTIONS; i++)
		free(program->took[i]);
	gen_free(&program->gen);
}

static uint64_t below(struct program *program, uint64_t limit)
{
	return gen_random(&program->seed) % limit;
}

static bool once_in(struct program *program, unsigned int times)
{
	return times && !below(program, times);
}

/* Advance the time, the counters of all harts, and the counters of the running thread. */
static void pass(struct program *program, const struct program_thread *running)
{
	unsigned int i, c;

	program->gen.step = 1 + below(program, 3);
	for (i = 0; i < program->sources; i++)
		for (c = 0; c < PROGRAM_COUNTERS; c++)
			program->hart[i][c] += below(program, 100 << 4 * c);
	for (i = 0; i < program->threads; i++)
		for (c = 0; c < PROGRAM_COUNTERS; c++)
			if (&program->thread[i] == running)
				program->thread[i].value[c] +=
					1 + below(program, 100 << 4 * c);
}

static const uint64_t *counters_of(const struct program *program,
				   const struct program_thread *thread)
{
	return program->per_thread ? thread->value : program->hart[thread->src];
}

static void begin_stream(struct program *program, struct program_thread *thread)
{
	struct gen_stream *stream = &thread->stream[thread->src];
	const uint64_t *value = counters_of(program, thread);
	unsigned int c;

	gen_stream_init(stream, &program->gen, (uint8_t)thread->src,
			(uint8_t)thread->channel, (uint8_t)program->count_type,
			PROGRAM_COUNTERS, 48);
	for (c = 0; c < PROGRAM_COUNTERS; c++)
		stream->counter[c].previous = value[c];
	if (program->shared[thread->channel - FIRST_CHANNEL])
		stream->owner = 100 + (uint32_t)(thread - program->thread);
	stream->goes_on = thread->goes_on;
	thread->goes_on = true;
	gen_header(stream);
	thread->begun[thread->src] = true;
}

/* Assign the known counts since the thread's last record to its functions. */
static void account(struct program *program, struct program_thread *thread,
		    bool fresh)
{
	const uint64_t *value = counters_of(program, thread);
	unsigned int c;
	/* The first record after a header has a difference only if counters are per thread. */
	bool known = thread->recorded && !thread->lost &&
		     (program->per_thread || thread->last_src == thread->src) &&
		     (!fresh || program->per_thread);

	for (c = 0; c < PROGRAM_COUNTERS; c++) {
		if (known)
			thread->sum[c] += value[c] - thread->last[c];
		thread->last[c] = value[c];
	}
}

static bool is_outermost(const struct program_thread *thread,
			 unsigned int function)
{
	unsigned int i;

	for (i = 0; i < thread->depth; i++)
		if (thread->frame[i].function == function &&
		    !thread->frame[i].hidden)
			return false;
	return true;
}

static void keep_time(struct program *program, unsigned int function, uint64_t took)
{
	size_t count = program->timed[function]++;

	/* Double the array's size whenever it is full. */
	if (!(count & (count - 1)))
		program->took[function] = realloc(program->took[function],
						  (count ? 2 * count : 1) * sizeof(took));
	if (!program->took[function])
		abort();
	program->took[function][count] = took;
}

/* End the innermost call. */
static void end_call(struct program *program, struct program_thread *thread)
{
	struct program_frame *frame = &thread->frame[--thread->depth];
	struct program_cost *cost[] = {
		&program->cost[frame->function],
		&program->thread_cost[thread - program->thread][frame->function],
		&program->hart_cost[thread->src][frame->function],
	};
	bool timed = frame->timed && thread->timed;
	bool outermost = is_outermost(thread, frame->function);
	unsigned int i, c;

	if (frame->hidden)
		return;
	if (program->ended)
		program->ended(program->context, thread, frame);
	program->calls++;
	program->untimed += !timed;
	if (timed && program->keep_times)
		keep_time(program, frame->function, thread->now - frame->enter);
	for (i = 0; i < sizeof(cost) / sizeof(cost[0]); i++) {
		cost[i]->calls++;
		if (timed)
			cost[i]->self += frame->self;
		if (timed && outermost)
			cost[i]->total += thread->now - frame->enter;
		for (c = 0; c < PROGRAM_COUNTERS; c++) {
			uint64_t count = thread->sum[c] - frame->begin[c];

			cost[i]->count_self[c] += count - frame->count_inner[c];
			if (outermost)
				cost[i]->count[c] += count;
		}
	}
	if (!thread->depth)
		return;
	for (c = 0; c < PROGRAM_COUNTERS; c++)
		frame[-1].count_inner[c] += thread->sum[c] - frame->begin[c];
}

/* End the open calls, which have no further records. */
static void cut_calls(struct program *program, struct program_thread *thread)
{
	unsigned int depth = thread->depth;

	while (thread->depth) {
		program->cut += !thread->frame[thread->depth - 1].hidden;
		end_call(program, thread);
	}
	while (thread->depth < depth)
		thread->frame[thread->depth++].hidden = true;
	thread->recorded = false;
}

/* Assign the time to the running function, if no record since the previous record is missing. */
static void tell_time(struct program *program, struct program_thread *thread)
{
	struct program_frame *frame = thread->frame + thread->depth;
	bool whole = thread->timed && !thread->lost && thread->depth;

	thread->timed = true;
	if (whole && !frame[-1].hidden)
		frame[-1].self += program->gen.now - thread->now;
	thread->now = program->gen.now;
}

static void record(struct program *program, struct program_thread *thread,
		   unsigned int type, uint64_t function, uint64_t site)
{
	uint64_t address[2] = { PROGRAM_ADDRESS(function), site };
	bool fresh = !thread->begun[thread->src];
	size_t length = program->gen.length;
	const uint64_t *value;

	if (fresh) {
		begin_stream(program, thread);
		thread->blind = false;
		thread->lost = false;
	}
	pass(program, thread);
	value = counters_of(program, thread);
	program->records++;
	if (thread->losing) {
		uint64_t last = program->gen.last[thread->src];

		gen_record(&thread->stream[thread->src], type, address, value);
		program->gen.length = length;
		program->gen.truths--;
		/* The next timestamp is relative to the last message that arrived. */
		program->gen.last[thread->src] = last;
		return;
	}
	if (thread->lost && program->count_type == 2) {
		cut_calls(program, thread);
		thread->blind = true;
	}
	/* Delta counts from the thread's latest record or, if there is none, from the header. */
	if (fresh && program->per_thread && program->count_type == 1 && !thread->recorded)
		memcpy(thread->value, thread->last, sizeof(thread->value));
	account(program, thread, fresh);
	tell_time(program, thread);
	gen_record(&thread->stream[thread->src], type, address, value);
	if (!program->keep_truth)
		program->gen.truths = 0;
	thread->recorded = true;
	thread->last_src = thread->src;
	thread->lost = false;
	program->unaddressed += thread->blind;
	if (type == 1 && !thread->blind)
		program->strays += thread->frame[thread->depth - 1].hidden;
}

static void call_one(struct program *program, struct program_thread *thread,
		     unsigned int function)
{
	struct program_frame *frame = &thread->frame[thread->depth];
	unsigned int caller = thread->depth ? frame[-1].function : 0;

	frame->function = function;
	frame->site = PROGRAM_ADDRESS(caller) + 2 + 2 * below(program, 8);
	record(program, thread, 0, frame->function, frame->site);
	frame->hidden = thread->losing || thread->blind;
	frame->timed = thread->timed;
	frame->enter = thread->now;
	frame->self = 0;
	memcpy(frame->begin, thread->sum, sizeof(frame->begin));
	memset(frame->count_inner, 0, sizeof(frame->count_inner));
	thread->depth++;
	thread->enters++;
}

/* Call mostly the same few functions from each function. */
static void call(struct program *program, struct program_thread *thread)
{
	unsigned int caller = thread->depth ?
		thread->frame[thread->depth - 1].function : 0;

	call_one(program, thread,
		 (unsigned int)((caller * 3 + below(program, 4) + 1) %
				program->functions));
}

/* Return from a call. The @lost calls within it end, too, but have no exit records. */
static void give_back(struct program *program, struct program_thread *thread,
		      unsigned int lost)
{
	const struct program_frame *frame =
		&thread->frame[thread->depth - 1 - lost];

	record(program, thread, 1, frame->function, frame->site);
	while (lost--)
		end_call(program, thread);
	end_call(program, thread);
}

/*
 * Return whether no call within the call at @index has the same function and call site, so that it
 * is clear which call returns.
 */
static bool alone(const struct program_thread *thread, unsigned int index)
{
	unsigned int i;

	if (thread->frame[index].hidden)
		return false;
	for (i = index + 1; i < thread->depth; i++)
		if (thread->frame[i].function == thread->frame[index].function &&
		    thread->frame[i].site == thread->frame[index].site)
			return false;
	return true;
}

/*
 * Write an Error message or garbage, with a header before and after it. The first header completes
 * the latest record, which can be incomplete until another word follows.
 */
static void damage(struct program *program, struct program_thread *thread,
		   bool garbage)
{
	begin_stream(program, thread);
	if (garbage)
		gen_bytes(&program->gen, "\x02\x03", 2);
	else
		gen_error(&program->gen, thread->src);
	gen_sync(&program->gen, thread->src);
	thread->begun[thread->src] = false;
}

/*
 * Like damage(), but within calls: instead of a header, a single word completes the latest record.
 */
static void lose(struct program *program, struct program_thread *thread)
{
	struct gen *gen = &program->gen;
	unsigned int depth = thread->depth, way = below(program, 3), calls;

	if (!thread->begun[thread->src] || !thread->recorded)
		return;
	gen_store(gen, thread->src, thread->channel, 1, 0xff);
	thread->losing = true;
	/* Lose the word stored above and, in addition, several calls, one call, or nothing. */
	for (calls = way == 0 ? 5 : 0; calls; calls--) {
		call(program, thread);
		if (below(program, 2))
			give_back(program, thread, 0);
	}
	while (thread->depth > depth)
		give_back(program, thread, 0);
	if (way == 1)
		call_one(program, thread, LOST_FUNCTION);
	thread->losing = false;
	thread->lost = true;
	thread->unsynced = true;
	gen_error(gen, thread->src);
	if (way == 1)
		give_back(program, thread, 0);
	else if (depth > 2 && alone(thread, depth - 3))
		give_back(program, thread, 2);
}

/*
 * Some time after a loss, write an absolute time and a header, which restore the lost state.
 */
static void recover(struct program *program, struct program_thread *thread)
{
	if (thread->unsynced && !below(program, 4)) {
		gen_sync(&program->gen, thread->src);
		thread->unsynced = false;
	}
	if (thread->blind && !below(program, 4))
		thread->begun[thread->src] = false;
}

/* Take a channel, from another thread if no channel is free. */
static void take_channel(struct program *program, struct program_thread *thread)
{
	unsigned int channel = (unsigned int)below(program, program->channels), i;

	for (i = 0; i < program->channels; i++)
		if (!program->holder[i])
			channel = i;
	if (program->holder[channel])
		program->holder[channel]->holds = false;
	program->shared[channel] = program->holder[channel];
	program->holder[channel] = thread;
	thread->channel = FIRST_CHANNEL + channel;
	if (!thread->home) {
		thread->home = thread->channel;
		thread->named = program->shared[channel];
	}
	thread->holds = true;
	memset(thread->begun, 0, sizeof(thread->begun));
}

/* Choose the thread to run next. */
static struct program_thread *choose(struct program *program)
{
	struct program_thread *thread;

	if (program->alone)
		return &program->thread[program->alone - 1];
	do
		thread = &program->thread[below(program, program->threads)];
	while (program->channels && !thread->holds && !once_in(program, TAKES));
	return thread;
}

void program_step(struct program *program)
{
	struct program_thread *thread = choose(program);

	if (program->channels && !thread->holds)
		take_channel(program, thread);
	if (once_in(program, program->moves))
		thread->src = (unsigned int)below(program, program->sources);
	if (!thread->depth && once_in(program, program->headers))
		thread->begun[thread->src] = false;
	if (!thread->depth && once_in(program, program->restarts)) {
		memset(thread->begun, 0, sizeof(thread->begun));
		thread->goes_on = false;
	}
	if (!thread->depth && once_in(program, program->errors))
		damage(program, thread, false);
	if (!thread->depth && once_in(program, program->garbage))
		damage(program, thread, true);
	recover(program, thread);
	if (thread->depth && thread->depth < PROGRAM_DEPTH - 10 &&
	    once_in(program, program->losses)) {
		lose(program, thread);
		return;
	}
	if (thread->depth > 2 && once_in(program, program->throws) &&
	    alone(thread, thread->depth - 3))
		give_back(program, thread, 2);
	else if (!thread->depth || (thread->depth < PROGRAM_DEPTH &&
				    below(program, 100) < 50))
		call(program, thread);
	else
		give_back(program, thread, 0);
}

void program_end(struct program *program)
{
	unsigned int i;

	for (i = 0; i < program->threads; i++) {
		struct program_thread *thread = &program->thread[i];

		if (program->channels && thread->depth && !thread->holds)
			take_channel(program, thread);
		while (thread->depth)
			give_back(program, thread, 0);
	}
}

static size_t message_end(const struct gen *gen, size_t at)
{
	while ((gen->data[at] & 3) != 3)
		at++;
	return at + 1;
}

/* SRC is in the low bits of the second slice. */
static unsigned int message_src(const struct gen *gen, size_t at)
{
	return gen->data[at + 1] >> 2 & 3;
}

void program_shuffle(struct program *program)
{
	struct gen *gen = &program->gen;
	unsigned int round;

	for (round = 0; round < SHUFFLES; round++) {
		uint8_t held[64];
		size_t at = 0;

		while (at < gen->length) {
			size_t next = message_end(gen, at), end;

			if (next == gen->length)
				break;
			end = message_end(gen, next);
			if (message_src(gen, at) == message_src(gen, next) ||
			    below(program, 2)) {
				at = next;
				continue;
			}
			memcpy(held, gen->data + at, next - at);
			memmove(gen->data + at, gen->data + next, end - next);
			memcpy(gen->data + at + (end - next), held, next - at);
			at = end;
		}
	}
}

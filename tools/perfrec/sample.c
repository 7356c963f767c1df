// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Decodes the items that precede a sample (thread, callers, and stack): see stream.h. */
#include <stdlib.h>
#include <string.h>

#include "stream.h"

/* Maximum number of streams whose stacks are kept. The kernel uses one stream for each source. */
#define STACKS_MAX	PERFREC_SOURCES
/* Maximum number of values in a stack, including the registers. */
#define VALUES_MAX	(SIFIVE_TRACE_STACK_REGISTERS + SIFIVE_TRACE_STACK_MAX / 8)

/* Begin a stack, after @callers callers in the kernel. */
static void keep_stack(struct perfrec *perfrec, struct stream *stream, const struct store *word,
		       unsigned int callers)
{
	stream->state = STACK;
	stream->values = 0;
	if (!stream->stack && perfrec->ops->stack && perfrec->stacks < STACKS_MAX) {
		stream->stack = malloc(sizeof(*stream->stack));
		perfrec->stacks += !!stream->stack;
	}
	if (!stream->stack)
		return;
	stream->stack->src = word->src;
	stream->stack->channel = word->channel;
	stream->stack->begin = stamp(word);
	stream->stack->callers = stream->caller ? callers : 0;
	if (stream->stack->callers)
		memcpy(stream->stack->caller, stream->caller, callers * sizeof(*stream->caller));
}

static void keep_callers(struct perfrec *perfrec, struct stream *stream, const struct store *word)
{
	if (word->value == SIFIVE_TRACE_RECORD_STACK) {
		keep_stack(perfrec, stream, word, 0);
		return;
	}
	stream->state = CALLERS;
	stream->callers = 0;
	if (!stream->caller)
		stream->caller = calloc(SIFIVE_TRACE_CALLERS_MAX, sizeof(*stream->caller));
}

void sample_begin(struct perfrec *perfrec, struct stream *stream, const struct store *word)
{
	report_loss(perfrec, stream);
	stream->mark_offset = word->offset;
	stream->around = stream->state;
	stream->caller_words = 1;
	if (word->value == SIFIVE_TRACE_RECORD_THREAD)
		stream->state = THREAD;
	else
		keep_callers(perfrec, stream, word);
}

void sample_lose(struct stream *stream, enum perfrec_reason reason)
{
	lose(stream, reason, stream->mark_offset, stream->caller_words);
	stream->caller_words = 0;
}

static void add_caller(struct stream *stream, uint64_t address)
{
	const unsigned int i = stream->callers++;

	stream->caller[i] = address ^ (i ? stream->caller[i - 1] : 0);
	stream->state = CALLERS;
}

/* Attach the callers to the sample that follows them. */
static void end_callers(struct perfrec *perfrec, struct stream *stream)
{
	stream->record.callers = callers_get(&perfrec->callers, stream->caller, stream->callers);
	stream->lost |= PERFREC_CALLERS;
	stream->state = stream->around;
}

/* Return a pointer to value @i of a stack: the registers come first, then the words. */
static uint64_t *stack_value(struct perfrec_stack *stack, unsigned int i)
{
	return i < SIFIVE_TRACE_STACK_REGISTERS ? &stack->reg[i] :
	       &stack->word[i - SIFIVE_TRACE_STACK_REGISTERS];
}

/* End a complete stack before its sample. */
static void end_stack(struct perfrec *perfrec, struct stream *stream)
{
	stream->state = stream->around;
	stream->lost |= PERFREC_CALLERS;
	stream->record.callers = NULL;
	if (!stream->stack)
		return;
	stream->stack->words = stream->values - SIFIVE_TRACE_STACK_REGISTERS;
	stream->record.callers = perfrec->ops->stack(perfrec->context, stream->stack);
}

/*
 * Decode a value or a part of one. Return false if @word is neither and therefore ends the stack.
 */
static bool stack_word(struct perfrec *perfrec, struct stream *stream, const struct store *word)
{
	if (word->bytes == 4 && stream->values < VALUES_MAX) {
		stream->parts = 1;
		if (stream->stack)
			*stack_value(stream->stack, stream->values) = word->value;
		stream->values++;
	} else if (word->bytes == 2 && stream->values && stream->parts < 3) {
		if (stream->stack)
			*stack_value(stream->stack, stream->values - 1) |=
				(uint64_t)word->value << (16 + 16 * stream->parts);
		stream->parts++;
	} else {
		if (word->bytes == 1 && word->value == PERFREC_ISR &&
		    stream->values >= SIFIVE_TRACE_STACK_REGISTERS)
			end_stack(perfrec, stream);
		else
			sample_lose(stream, PERFREC_CUT_RECORD);
		return false;
	}
	stream->caller_words++;
	return true;
}

/* Decode a thread's id, or the next item's first word. Return false if @word is neither. */
static bool thread_word(struct perfrec *perfrec, struct stream *stream, const struct store *word)
{
	stream->caller_words++;
	if (stream->state == THREAD && word->bytes == 4) {
		stream->record.thread = word->value;
		stream->lost |= PERFREC_NAMED;
		stream->state = NAMED;
		return true;
	}
	if (stream->state == NAMED && perfrec_is_callers(word) &&
	    word->value != SIFIVE_TRACE_RECORD_THREAD) {
		keep_callers(perfrec, stream, word);
		return true;
	}
	stream->caller_words--;
	if (stream->state == NAMED && word->bytes == 1 && word->value == PERFREC_ISR)
		stream->state = stream->around;
	else
		sample_lose(stream, PERFREC_CUT_RECORD);
	return false;
}

bool sample_word(struct perfrec *perfrec, struct stream *stream, const struct store *word)
{
	const bool room = stream->caller && stream->callers < SIFIVE_TRACE_CALLERS_MAX;

	if (stream->state <= NAMED)
		return thread_word(perfrec, stream, word);
	if (stream->state == STACK)
		return stack_word(perfrec, stream, word);
	if (word->bytes == 4 && room) {
		stream->caller_words++;
		if (stream->state == CALLERS_HIGH) {
			add_caller(stream, (uint64_t)word->value << 32 | stream->caller_low);
		} else if (word->value & 1) {
			stream->caller_low = word->value & ~1u;
			stream->state = CALLERS_HIGH;
		} else {
			add_caller(stream, word->value);
		}
		return true;
	}
	if (stream->state != CALLERS || !stream->callers || word->bytes != 1) {
		sample_lose(stream, PERFREC_CUT_RECORD);
	} else if (word->value == SIFIVE_TRACE_RECORD_STACK) {
		stream->caller_words++;
		keep_stack(perfrec, stream, word, stream->callers);
		return true;
	} else if (word->value == PERFREC_ISR) {
		end_callers(perfrec, stream);
	} else {
		sample_lose(stream, PERFREC_CUT_RECORD);
	}
	return false;
}

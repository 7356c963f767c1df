// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "trace_calls.h"

#define DEPTH	256

struct trace_call {
	uint64_t time, function, site;
	uint32_t order;
	uint8_t channel, kind;
};

void trace_calls_take(struct trace_calls *calls, const struct trace_record *record)
{
	if (record->kind > TRACE_EXIT)
		return;
	if (calls->count == calls->size) {
		calls->size = calls->size ? 2 * calls->size : 4096;
		calls->call = realloc(calls->call,
				      calls->size * sizeof(calls->call[0]));
		if (!calls->call)
			err(1, "no memory for %zu calls", calls->size);
	}
	calls->call[calls->count] = (struct trace_call) {
		.time = record->time, .function = record->address[0],
		.site = record->address[1], .order = calls->count,
		.channel = record->channel, .kind = record->kind,
	};
	calls->count++;
}

static int compare(const void *a, const void *b)
{
	const struct trace_call *x = a, *y = b;

	if (x->channel != y->channel)
		return x->channel < y->channel ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static bool is_call(const struct trace_call *a, const struct trace_call *b)
{
	return a->function == b->function && a->site == b->site;
}

/* Leave the call that @call belongs to; returns the depth after it. */
static unsigned int leave(struct trace_nesting *nesting,
			  const struct trace_call **stack, unsigned int depth,
			  const struct trace_call *call)
{
	unsigned int at = depth;

	if (!depth) {
		nesting->late++;
		return 0;
	}
	while (at && !is_call(stack[at - 1], call))
		at--;
	/* An exit without an entry, or entries without an exit. */
	nesting->disorder += at ? depth - at : 1;
	return at ? at - 1 : depth;
}

struct trace_nesting trace_calls_nest(struct trace_calls *calls)
{
	struct trace_nesting nesting = { 0 };
	const struct trace_call *stack[DEPTH];
	unsigned int depth = 0;
	size_t i;

	qsort(calls->call, calls->count, sizeof(calls->call[0]), compare);
	for (i = 0; i < calls->count; i++) {
		const struct trace_call *call = &calls->call[i];

		if (i && call->channel != call[-1].channel) {
			nesting.open += depth;
			depth = 0;
		}
		if (call->kind == TRACE_EXIT) {
			depth = leave(&nesting, stack, depth, call);
			continue;
		}
		if (depth == DEPTH)
			errx(1, "more than %d calls in each other", DEPTH);
		stack[depth++] = call;
		if (nesting.deepest < depth)
			nesting.deepest = depth;
	}
	nesting.open += depth;
	free(calls->call);
	*calls = (struct trace_calls) { NULL };
	return nesting;
}

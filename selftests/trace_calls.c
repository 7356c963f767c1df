// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_calls.h"

#define DEPTH	256

struct trace_call {
	uint64_t time, function, site;
	uint32_t order, thread;
	uint8_t kind;
};

void trace_calls_take(struct trace_calls *calls, const struct trace_record *record)
{
	const uint32_t thread = record->owner ? record->owner :
				calls->first[record->channel] ? calls->first[record->channel] :
				record->channel;

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
		.thread = thread, .kind = record->kind,
	};
	calls->count++;
}

/* Return the side-car file of a trace or, if each sink has a separate trace, of the first one. */
static FILE *open_side_car(const char *base)
{
	char name[64];
	FILE *file;

	snprintf(name, sizeof(name), "%s.rtd.meta", base);
	file = fopen(name, "r");
	if (file)
		return file;
	snprintf(name, sizeof(name), "%s.0.rtd.meta", base);
	return fopen(name, "r");
}

int trace_calls_threads(struct trace_calls *calls, const char *base)
{
	unsigned int channel, tid;
	FILE *file = open_side_car(base);
	char line[256];

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "{\"channel\":%u,\"pid\":%*u,\"tid\":%u", &channel, &tid) == 2 &&
		    channel < TRACE_CHANNELS && !strstr(line, "\"named\":true"))
			calls->first[channel] = tid;
	fclose(file);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct trace_call *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static bool is_call(const struct trace_call *a, const struct trace_call *b)
{
	return a->function == b->function && a->site == b->site;
}

/* Pop the call that ends with the exit @call; return the remaining depth. */
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
	/* Count an exit without an entry, or entries without an exit. */
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

		if (i && call->thread != call[-1].thread) {
			nesting.open += depth;
			depth = 0;
		}
		if (call->kind == TRACE_EXIT) {
			depth = leave(&nesting, stack, depth, call);
			continue;
		}
		if (depth == DEPTH)
			errx(1, "more than %d nested calls", DEPTH);
		stack[depth++] = call;
		if (nesting.deepest < depth)
			nesting.deepest = depth;
	}
	nesting.open += depth;
	free(calls->call);
	*calls = (struct trace_calls) { .call = NULL };
	return nesting;
}

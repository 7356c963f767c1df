// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See spans.h. A full array is a heap: no span is shorter than its parent. */
#include <stdlib.h>

#include "spans.h"

/* Return a hash that distributes omissions among spans of equal length evenly across the trace. */
static uint64_t scatter(const struct span *span)
{
	return (span->from ^ (uint64_t)span->thread << 48) * 0x9e3779b97f4a7c15u;
}

static bool is_less(const struct span *a, const struct span *b)
{
	if (a->length != b->length)
		return a->length < b->length;
	return scatter(a) < scatter(b);
}

static void sift(struct spans *spans, uint32_t at)
{
	struct span *span = spans->span;
	const struct span moved = span[at];
	uint32_t next;

	for (; 2 * at + 1 < spans->count; at = next) {
		next = 2 * at + 1;
		if (next + 1 < spans->count && is_less(&span[next + 1], &span[next]))
			next++;
		if (!is_less(&span[next], &moved))
			break;
		span[at] = span[next];
	}
	span[at] = moved;
}

bool spans_add(struct spans *spans, const struct span *span)
{
	uint32_t i;

	if (!spans->span)
		spans->span = malloc(SPANS_MAX * sizeof(*spans->span));
	if (!spans->span)
		return false;
	if (spans->count < SPANS_MAX) {
		spans->span[spans->count++] = *span;
		return true;
	}
	if (!spans->left_out++)
		for (i = SPANS_MAX / 2; i--;)
			sift(spans, i);
	if (is_less(spans->span, span)) {
		*spans->span = *span;
		sift(spans, 0);
	}
	return true;
}

static int by_end(const void *a, const void *b)
{
	const struct span *one = a, *two = b;
	const uint64_t ends = one->from + one->length, other = two->from + two->length;

	if (ends != other)
		return ends < other ? -1 : 1;
	return (one->thread > two->thread) - (one->thread < two->thread);
}

void spans_sort(struct spans *spans)
{
	if (spans->count)
		qsort(spans->span, spans->count, sizeof(*spans->span), by_end);
}

void spans_free(struct spans *spans)
{
	free(spans->span);
}

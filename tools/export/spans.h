/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Keeps the longest periods that threads spent on and off the CPU. */
#ifndef SIFIVE_TRACE_SPANS_H
#define SIFIVE_TRACE_SPANS_H

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of spans to keep. */
#define SPANS_MAX	(1u << 16)

/* A period that a thread spent on or off the CPU. */
struct span {
	uint64_t	from;
	uint64_t	length;
	uint32_t	thread;
	uint32_t	state;
};

/**
 * struct spans - the longest spans; empty if zeroed
 * @left_out:	number of spans omitted
 */
struct spans {
	struct span	*span;
	uint32_t	count;
	uint64_t	left_out;
};

/** spans_add() - add a span; return false if out of memory */
bool spans_add(struct spans *spans, const struct span *span);

/** spans_sort() - sort the spans by their ends; call this after the last span has been added */
void spans_sort(struct spans *spans);

/** spans_free() - free the spans */
void spans_free(struct spans *spans);

#endif /* SIFIVE_TRACE_SPANS_H */

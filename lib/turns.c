// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "error.h"
#include "turns.h"

PERF_INTERNAL int perf_turns_check(struct perf_setup *setup)
{
	bool turns = false, cycles = false;
	uint32_t i;

	for (i = 0; i < setup->count; i++) {
		const struct perf_counter *c = &setup->counter[i];

		turns |= c->turn;
		cycles |= !c->turn && c->type == SIFIVE_TRACE_EVENT_GENERAL &&
			  c->code == SIFIVE_TRACE_EVENT_CYCLES;
	}
	if (!turns)
		return 0;
	/* A counter's value shows which event's turn it is, but Delta records only differences. */
	if (setup->type == SIFIVE_TRACE_RECORD_DELTA)
		setup->type = SIFIVE_TRACE_RECORD_XOR;
	/* Readers need cycles to scale the counts. */
	if (cycles)
		return 0;
	return perf_error("there are more events than counters, and they can take turns only if cycles are always counted: add cycles to the list, or omit events");
}

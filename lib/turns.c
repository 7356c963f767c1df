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
	/* Only the counter itself shows its turn; differences since a header do not. */
	if (setup->type == SIFIVE_TRACE_RECORD_DELTA)
		setup->type = SIFIVE_TRACE_RECORD_XOR;
	/* Readers scale the counts by cycles. */
	if (cycles)
		return 0;
	return perf_error("there are more events than counters: they can take turns if cycles are counted all the time: add cycles to the list, or omit events");
}

PERF_INTERNAL int perf_turns_layout(struct perf_layout *layout, const struct perf_setup *setup)
{
	struct perf_counter counter[PERF_COUNTER_MAX];
	uint32_t count = 0, turning = 0, i;

	for (i = 0; i < setup->count; i++) {
		const struct perf_counter *c = &setup->counter[i];

		if (c->turn && turning & 1u << c->number)
			continue;
		counter[count] = *c;
		if (c->turn) {
			turning |= 1u << c->number;
			counter[count].type = SIFIVE_TRACE_EVENT_TURNS;
			counter[count].code = 0;
		}
		count++;
	}
	return perf_layout_init(layout, setup->type, counter, count);
}

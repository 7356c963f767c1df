// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See switches.h. */
#include <stdio.h>
#include <string.h>

#include "switches.h"

/* Names of the kinds of records. */
static const char * const names[] = {
	[SIFIVE_TRACE_SWITCH_BEGIN] = "unknown",
	[SIFIVE_TRACE_SWITCH_IN] = "runs",
	[SIFIVE_TRACE_SWITCH_WOKEN] = "woken",
	[SIFIVE_TRACE_SWITCH_CALL] = "calls",
	[SIFIVE_TRACE_SWITCH_RETURN] = "returns",
	[SIFIVE_TRACE_SWITCH_FAULT] = "faults",
	[SIFIVE_TRACE_SWITCH_END] = "end",
	[SIFIVE_TRACE_SWITCH_PREEMPTED] = "preempted",
	[SIFIVE_TRACE_SWITCH_SLEEPS] = "sleeps",
	[SIFIVE_TRACE_SWITCH_UNINTERRUPTIBLE] = "uninterruptible",
	[SIFIVE_TRACE_SWITCH_STOPPED] = "stopped",
	[SIFIVE_TRACE_SWITCH_EXITED] = "exited",
};

#define NAMES	(sizeof(names) / sizeof(names[0]))

const char *switches_name(unsigned int kind)
{
	return kind < NAMES && names[kind] ? names[kind] : names[SIFIVE_TRACE_SWITCH_BEGIN];
}

static bool begins(unsigned int bytes, uint32_t value)
{
	return bytes == 1 && value < NAMES && names[value];
}

/*
 * Decode a store that continues the unfinished record or may begin a new record. Return whether the
 * store ends the record.
 */
static bool follow(struct switches_begun *begun, unsigned int bytes, uint32_t value)
{
	const bool ends = begun->kind && bytes == 4;

	if (ends && begun->kind == SIFIVE_TRACE_SWITCH_FAULT && begun->words < SWITCHES_WORDS) {
		begun->word[begun->words++] = value;
		return false;
	}
	if (!ends)
		*begun = (struct switches_begun){ begins(bytes, value) ? (uint8_t)value : 0, 0, { 0 } };
	return ends;
}

/* Return the record that the previous piece's last stores begin, if any. */
static struct switches_begun begun_before(const char *stores)
{
	struct switches_begun begun = { 0 };
	unsigned int bytes, value;

	while (stores && (stores = strchr(stores, ' '))) {
		if (sscanf(stores++, " %1u:%8x", &bytes, &value) == 2 &&
		    follow(&begun, bytes, value))
			begun = (struct switches_begun){ 0 };
	}
	return begun;
}

void switches_init(struct switches *switches, const struct meta *meta)
{
	size_t i;

	memset(switches, 0, sizeof(*switches));
	switches->channel = meta->switches;
	for (i = 0; i < meta->streams; i++)
		if (meta->stream[i].channel == switches->channel)
			switches->begun[meta->stream[i].src] =
				begun_before(meta->stream[i].begun);
}

static void give(struct switches *switches, const struct store *store,
		 const struct switches_begun *begun, unsigned int kind, uint32_t value)
{
	struct trace_switch record = {
		.src = store->src, .kind = (uint8_t)kind, .thread = value,
		.stamp = { store->offset, store->time, store->time_known },
	};

	if (kind == SIFIVE_TRACE_SWITCH_FAULT) {
		record.thread = 0;
		record.major = value & SIFIVE_TRACE_FAULT_MAJOR;
		record.pc = (uint64_t)(value & SIFIVE_TRACE_FAULT_PC) <<
			    (32 - SIFIVE_TRACE_FAULT_PC_SHIFT) | begun->word[0];
		record.page = ((uint64_t)(value & SIFIVE_TRACE_FAULT_PAGE) << 32 |
			       begun->word[1]) << 12;
	}
	if (switches->give)
		switches->give(switches->context, &record);
}

int switches_push(struct switches *switches, const struct store *store)
{
	struct switches_begun *begun = &switches->begun[store->src];
	const struct switches_begun before = *begun;

	if (store->channel != switches->channel)
		return 0;
	if (follow(begun, store->bytes, store->value)) {
		switches->records++;
		give(switches, store, begun, begun->kind, store->value);
		*begun = (struct switches_begun){ 0 };
		return 0;
	}
	if (begun->words)
		return 0;
	/*
	 * If a store does not continue the unfinished record, discard the record; the store may
	 * begin a new record.
	 */
	if (before.kind || !begins(store->bytes, store->value))
		switches->losses++;
	if (before.kind || !begins(store->bytes, store->value) || !store->value)
		give(switches, store, begun, SIFIVE_TRACE_SWITCH_BEGIN, 0);
	return 0;
}

void switches_lost(struct switches *switches, int src)
{
	if (src < 0)
		memset(switches->begun, 0, sizeof(switches->begun));
	else
		switches->begun[src] = (struct switches_begun){ 0 };
}

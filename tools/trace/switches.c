// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See switches.h. */
#include <stdio.h>
#include <string.h>

#include "switches.h"

/* Reasons why a thread stops running. */
static const char * const names[] = {
	[SIFIVE_TRACE_SWITCH_BEGIN] = "unknown",
	[SIFIVE_TRACE_SWITCH_IN] = "runs",
	[SIFIVE_TRACE_SWITCH_WOKEN] = "woken",
	[SIFIVE_TRACE_SWITCH_CALL] = "calls",
	[SIFIVE_TRACE_SWITCH_RETURN] = "returns",
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

/* The last store of the previous piece may have begun a record. */
static uint8_t begun_before(const char *stores)
{
	const char *last = stores ? strrchr(stores, ' ') : NULL;
	unsigned int bytes, kind;

	if (!last || sscanf(last, " %1u:%2x", &bytes, &kind) != 2 || bytes != 1 || kind >= NAMES)
		return 0;
	return names[kind] ? (uint8_t)kind : 0;
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

static void give(struct switches *switches, const struct store *store, unsigned int kind,
		 uint32_t thread)
{
	const struct trace_switch record = {
		.src = store->src, .kind = (uint8_t)kind, .thread = thread,
		.stamp = { store->offset, store->time, store->time_known },
	};

	if (switches->give)
		switches->give(switches->context, &record);
}

int switches_push(struct switches *switches, const struct store *store)
{
	bool begins = store->bytes == 1 && store->value < NAMES && names[store->value];
	uint8_t *begun = &switches->begun[store->src];
	unsigned int kind = *begun;

	if (store->channel != switches->channel)
		return 0;
	*begun = begins ? (uint8_t)store->value : 0;
	if (kind && store->bytes == 4) {
		switches->records++;
		give(switches, store, kind, store->value);
		return 0;
	}
	/*
	 * A store that does not fit discards an unfinished record, and may
	 * begin a record itself.
	 */
	if (kind || !begins)
		switches->losses++;
	else if (!store->value)
		switches->begins++;
	if (kind || !begins || !store->value)
		give(switches, store, SIFIVE_TRACE_SWITCH_BEGIN, 0);
	return 0;
}

void switches_lost(struct switches *switches, int src)
{
	if (src < 0)
		memset(switches->begun, 0, sizeof(switches->begun));
	else
		switches->begun[src] = 0;
}

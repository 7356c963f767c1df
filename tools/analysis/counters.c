// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Assigns columns to counters: see counters.h. */
#include <stdio.h>
#include <string.h>

#include "counters.h"

/* Size of "#32" with its NUL. */
#define NUMBERED	4

/* Return the name that the user gave the counter's event, or NULL if there is none. */
static const char *user_name(const struct meta *meta,
			     const struct perfrec_counter *counter)
{
	size_t i;

	for (i = 0; meta && i < meta->counters; i++) {
		const struct meta_counter *known = &meta->counter[i];

		if (known->event && *known->event &&
		    known->number == (int)counter->number &&
		    known->type == counter->type &&
		    known->code == counter->code &&
		    known->data == counter->event_data)
			return known->event;
	}
	return NULL;
}

/* Write the counter's name, which need not be unique. */
static void plain_name(const struct meta *meta,
		       const struct perfrec_header *header, unsigned int i,
		       char *name)
{
	const char *user;

	if (!header) {
		snprintf(name, PERFREC_NAME_SIZE, "counter%u?", i);
		return;
	}
	user = user_name(meta, &header->counter[i]);
	if (user)
		snprintf(name, PERFREC_NAME_SIZE, "%s", user);
	else
		perfrec_counter_name(&header->counter[i], name,
				     PERFREC_NAME_SIZE);
}

/* Return whether a counter counts everything on a hart. The trace timestamp does not. */
static bool is_harts(const struct counters *counters, const char *name)
{
	return counters->meta && counters->meta->hart_counts &&
	       strcmp(name, "timestamp");
}

bool counters_of_hart(const struct counters *counters, unsigned int column)
{
	return column >= counters->times && is_harts(counters, counters->name[column]);
}

void counters_names(const struct counters *counters,
		    const struct perfrec_header *header, unsigned int count,
		    char name[][COUNTERS_NAME_SIZE])
{
	unsigned int i, before, same;
	size_t length;

	for (i = 0; i < count; i++)
		plain_name(counters->meta, header, i, name[i]);
	/*
	 * Begin with the last name: each name is compared with those before it, which must not
	 * have suffixes yet.
	 */
	for (i = count; i-- > 1;) {
		for (before = 0, same = 1; before < i; before++)
			same += !strcmp(name[before], name[i]);
		if (same == 1)
			continue;
		length = strlen(name[i]);
		if (length > PERFREC_NAME_SIZE - NUMBERED)
			length = PERFREC_NAME_SIZE - NUMBERED;
		snprintf(name[i] + length, NUMBERED, "#%u", same);
	}
	for (i = 0; header && i < count; i++)
		if (is_harts(counters, name[i]))
			strcat(name[i], COUNTERS_HART);
}

bool counters_is(const char *name, const char *wanted, size_t length)
{
	return !strncmp(name, wanted, length) &&
	       (!name[length] || !strcmp(name + length, COUNTERS_HART));
}

void counters_add_times(struct counters *counters)
{
	strcpy(counters->name[COUNTERS_ON_CPU], "on-cpu");
	strcpy(counters->name[COUNTERS_OFF_CPU], "off-cpu");
	strcpy(counters->name[COUNTERS_UNKNOWN_CPU], "unknown-cpu");
	counters->count = COUNTERS_TIMES;
	counters->times = COUNTERS_TIMES;
}

void counters_assign(struct counters *counters,
		     const struct perfrec_header *header, unsigned int count,
		     uint8_t *column)
{
	bool used[COUNTERS_MAX] = { false };
	char name[PERFREC_COUNTERS][COUNTERS_NAME_SIZE];
	unsigned int i, c;

	counters_names(counters, header, count, name);
	for (i = 0; i < count; i++) {
		if (counters->apart && header && header->counter[i].type == PERFREC_EVENT_TURNS) {
			column[i] = COUNTERS_NONE;
			continue;
		}
		for (c = counters->times; c < counters->count; c++)
			if (!used[c] && !counters->turn[c] && !strcmp(name[i], counters->name[c]))
				break;
		if (c == COUNTERS_MAX) {
			column[i] = COUNTERS_NONE;
			continue;
		}
		if (c == counters->count) {
			memcpy(counters->name[c], name[i], sizeof(name[i]));
			counters->count++;
		}
		used[c] = true;
		column[i] = (uint8_t)c;
	}
}

uint64_t counters_mask(const struct perfrec_record *record, unsigned int i)
{
	unsigned int width = record->header->counter[i].width;

	if (width > PERFREC_VALUE_BITS)
		width = PERFREC_VALUE_BITS;
	return ~0ull >> (64 - width);
}

bool counters_backwards(const struct perfrec_record *record, unsigned int i, uint64_t delta)
{
	const uint64_t mask = counters_mask(record, i);

	return mask >= UINT32_MAX && delta >= mask - (mask >> 4);
}

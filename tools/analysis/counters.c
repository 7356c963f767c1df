// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Columns for counters: see counters.h. */
#include <stdio.h>
#include <string.h>

#include "counters.h"

/* What the user asked for, if this is what came of it. */
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

void counters_name(const struct counters *counters,
		   const struct perfrec_header *header, unsigned int i,
		   char *name)
{
	const char *user;

	if (!header) {
		snprintf(name, PERFREC_NAME_SIZE, "counter%u?", i);
		return;
	}
	user = user_name(counters->meta, &header->counter[i]);
	if (user)
		snprintf(name, PERFREC_NAME_SIZE, "%s", user);
	else
		perfrec_counter_name(&header->counter[i], name,
				     PERFREC_NAME_SIZE);
}

void counters_assign(struct counters *counters,
		     const struct perfrec_header *header, unsigned int count,
		     uint8_t *column)
{
	bool used[COUNTERS_MAX] = { false };
	char name[PERFREC_NAME_SIZE];
	unsigned int i, c;

	for (i = 0; i < count; i++) {
		counters_name(counters, header, i, name);
		for (c = 0; c < counters->count; c++)
			if (!used[c] && !strcmp(name, counters->name[c]))
				break;
		if (c == COUNTERS_MAX) {
			column[i] = COUNTERS_NONE;
			continue;
		}
		if (c == counters->count) {
			memcpy(counters->name[c], name, sizeof(name));
			counters->count++;
		}
		used[c] = true;
		column[i] = (uint8_t)c;
	}
}

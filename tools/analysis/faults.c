// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See faults.h. */
#include <stdlib.h>
#include <string.h>

#include "faults.h"

/* Initial size of the table, in functions. */
#define ROOM	256

static bool make_room(struct faults *faults, uint32_t function)
{
	uint32_t room = faults->count ? faults->count : ROOM;
	struct fault_counts *of;

	while (room <= function)
		room *= 2;
	of = realloc(faults->of, room * sizeof(*of));
	if (!of)
		return false;
	memset(of + faults->count, 0, (room - faults->count) * sizeof(*of));
	faults->of = of;
	faults->count = room;
	return true;
}

bool faults_add(struct faults *faults, uint32_t function, bool major)
{
	if (function >= faults->count && !make_room(faults, function))
		return false;
	faults->of[function].faults++;
	faults->of[function].major += major;
	return true;
}

void faults_free(struct faults *faults)
{
	free(faults->of);
	memset(faults, 0, sizeof(*faults));
}

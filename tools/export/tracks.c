// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See tracks.h. */
#include <stdlib.h>

#include "tracks.h"

void *tracks_get(struct tracks *tracks, unsigned int id)
{
	void **grown;

	if (id >= tracks->count) {
		grown = realloc(tracks->track, (2 * id + 16) * sizeof(*grown));
		if (!grown)
			return NULL;
		tracks->track = grown;
		while (tracks->count < 2 * id + 16)
			tracks->track[tracks->count++] = NULL;
	}
	if (!tracks->track[id])
		tracks->track[id] = calloc(1, tracks->size);
	return tracks->track[id];
}

void tracks_free(struct tracks *tracks)
{
	unsigned int i;

	for (i = 0; i < tracks->count; i++)
		free(tracks->track[i]);
	free(tracks->track);
}

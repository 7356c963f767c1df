// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See tracks.h. */
#include <stdlib.h>

#include "text.h"
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

int64_t tracks_pid(const struct thread *thread)
{
	return thread->pid >= 0 ? thread->pid : TRACKS_UNKNOWN;
}

int64_t tracks_tid(const struct thread *thread)
{
	return thread->tid >= 0 ? thread->tid : TRACKS_UNKNOWN + (int64_t)thread->id;
}

const char *tracks_process(const struct meta *meta, const struct thread *thread)
{
	const char *exe = meta->processes ? NULL : meta->exe;
	size_t i;

	for (i = 0; thread->pid >= 0 && i < meta->processes; i++) {
		if (meta->process[i].pid != thread->pid)
			continue;
		if (meta->process[i].exe)
			exe = meta->process[i].exe;
		else if (!i)
			exe = meta->exe;
	}
	/* record -a samples all processes, of which the recorded program is only one. */
	if (!meta->processes && threads_process(meta, thread->pid))
		return threads_process(meta, thread->pid);
	if (exe)
		return text_base(exe);
	return meta->processes ? "unknown" : "program";
}

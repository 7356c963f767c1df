// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds the thread that runs on a source: see track.h. */
#include <stdlib.h>

#include "track.h"

static uint64_t id_of(const void *owners, uint32_t number)
{
	return ((const struct owner *)owners)[number - 1].id;
}

static struct owner *find_owner(struct flows *flows, uint64_t id)
{
	uint32_t *slot = hash_find(&flows->hash, id, id_of, flows->owner);

	if (*slot)
		return &flows->owner[*slot - 1];
	if (flows->owners == THREADS_MAX)
		return &flows->unknown;
	flows->owner[flows->owners].id = id;
	*slot = ++flows->owners;
	return &flows->owner[flows->owners - 1];
}

struct track *owners_new_track(struct flows *flows, unsigned int src)
{
	struct track *track = calloc(1, sizeof(*track));

	if (!track) {
		flows->no_memory = true;
		return NULL;
	}
	track->owner = find_owner(flows, 1ull << 32 | src);
	track->resume = true;
	track->header.src = (uint8_t)src;
	track->header.channel = THREADS_FLOW_CHANNEL;
	track->header.serial = 1;
	/* A thread's open calls continue on the source where the thread continues. */
	track->header.goes_on = true;
	flows->track[src] = track;
	return track;
}

/* Return the key of the thread or, if the thread is unnamed, of the source. */
static uint64_t key_of(const struct track *track, uint64_t tid)
{
	return tid ? (uint32_t)tid : 1ull << 32 | track->header.src;
}

static void begin(struct flows *flows, struct track *track, uint64_t tid)
{
	struct owner *owner = find_owner(flows, key_of(track, tid));

	track->switches = false;
	flows->left_out.parts += owner == &flows->unknown;
	if (owner == track->owner)
		return;
	track->owner = owner;
	track->resume = true;
	track->header.owned = tid;
	track->header.owner = (uint32_t)tid;
	track->header.serial++;
}

void owners_context(struct flows *flows, struct track *track, const struct flow_place *place,
		    uint64_t tid)
{
	const struct owner *before = track->owner;

	begin(flows, track, tid);
	/*
	 * A traced thread was switched out for an untraced thread, which may not be the unnamed
	 * thread that ran on this source earlier.
	 */
	if (!tid && track->owner != before)
		flows_leave(flows, track, place, 0);
}

void owners_next(struct flows *flows, struct track *track, uint64_t tid)
{
	if (track->away || code_calls(flows->code) == META_CALLS_USER) {
		begin(flows, track, tid);
		return;
	}
	track->switches = track->owner->id != key_of(track, tid);
	track->next = tid;
}

void owners_switched(struct flows *flows, struct track *track, const struct flow_place *place)
{
	if (!track->switches)
		return;
	ran_until(flows, track, place);
	begin(flows, track, track->next);
	track->owner->last = NULL;
	track->owner->interrupted = 0;
	track->owner->unseen = false;
}

void owners_skipped(struct flows *flows, struct track *track)
{
	if (!track->switches)
		return;
	begin(flows, track, track->next);
	track->lost = true;
}

/*
 * Return whether the missing instructions are those of the firmware or a program. With
 * --calls=user, they may also be the kernel's, but then no switch is shown.
 */
static bool outside_kernel(const struct flow_event *event)
{
	return event->reason == FLOW_GAP_LEFT_OUT ||
	       (event->reason == FLOW_GAP_NO_CODE && event->known &&
		!code_is_kernel(event->address));
}

void owners_lost(struct flows *flows, struct track *track, const struct flow_event *event)
{
	/* After the firmware or an omitted part, the kernel continues the switch. */
	if (!outside_kernel(event))
		track->away = true;
	if (event->reason != FLOW_GAP_NO_CODE && event->reason != FLOW_GAP_LEFT_OUT)
		owners_skipped(flows, track);
}

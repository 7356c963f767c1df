// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Counts the instructions that threads execute, by function: see track.h. */
#include "track.h"

/* Return a record with the thread and the place, for callbacks. */
static struct perfrec_record where(const struct track *track, const struct flow_place *place)
{
	struct perfrec_record record = {
		.src = track->header.src, .channel = THREADS_FLOW_CHANNEL,
		.header = &track->header,
	};
	uint64_t time = 0;

	record.begin.offset = place->offset;
	record.begin.time_known = (uint8_t)flow_time(place, &time);
	record.begin.time = time;
	return record;
}

void ran_until(struct flows *flows, struct track *track, const struct flow_place *place)
{
	struct perfrec_record record;

	if (!track->ran)
		return;
	record = where(track, place);
	flows->ops->ran(flows->context, &record, track->within, track->ran);
	track->ran = 0;
}

void ran_missing(struct flows *flows, struct track *track, const struct flow_place *place)
{
	const struct perfrec_record record = where(track, place);

	if (!flows->counts)
		return;
	ran_until(flows, track, place);
	flows->ops->missing(flows->context, &record);
}

void ran_run(struct flows *flows, struct track *track, const struct flow_place *place,
	     const struct flow_run *run, uint64_t function)
{
	if (track->within != function)
		ran_until(flows, track, place);
	track->within = function;
	track->ran += run->times * (code_instructions(run->block, run->to) -
				    code_instructions(run->block, run->from));
}

void ran_call(struct flows *flows, struct track *track, const struct flow_place *place,
	      uint64_t function)
{
	const struct perfrec_record record = where(track, place);

	if (flows->counts)
		flows->ops->ran(flows->context, &record, function, 0);
}

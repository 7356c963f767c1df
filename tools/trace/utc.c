// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * See utc.h. The recorder has read the trace's clock and CLOCK_MONOTONIC together at START and at
 * STOP, and the wall clock at STOP. Both of the kernel's clocks run at the same rate, so the line
 * through these two points is the wall-clock time of each tick, even if the trace's clock drifts.
 */
#include <inttypes.h>
#include <stdio.h>

#include "units.h"
#include "utc.h"

#define NO_CLOCK							\
	"its side-car file does not contain the machine's clock (\"utc\"): it was recorded without timestamps or with several clocks, the system was suspended, or a static program wrote the file"
#define NO_RATE								\
	"the rate of its timestamps is unknown: give --ts-hz"
#define CONTRARY							\
	"its clock_samples contradict the rate of its timestamps: correct --ts-hz, or ts_hz in its side-car file"
#define WRAPPED								\
	"its timestamps may have wrapped: the recording is too long for their width, or its length is unknown; record for a shorter time"

/*
 * Set the line through two readings of the clocks, at START and at STOP. Return why that is not
 * possible, or NULL.
 */
static const char *measure(struct utc *utc, const struct meta_utc *start,
			   const struct meta_utc *stop, uint64_t hz)
{
	const uint64_t length = stop->ns - start->ns, ran = stop->time - start->time;
	const unsigned __int128 product = (unsigned __int128)length * hz / UTC_NS_PER_SEC;
	const uint64_t nominal = (uint64_t)product;
	const uint64_t more = (ran - nominal) & utc->mask, less = (nominal - ran) & utc->mask;

	utc->margin = hz >> 10 < utc->mask >> 3 ? hz >> 10 : utc->mask >> 3;
	if (product >= utc->mask - 2 * utc->margin || product >= UINT64_MAX / 4)
		return WRAPPED;
	if ((more < less ? more : less) > nominal / 16 + utc->margin)
		return CONTRARY;
	utc->time = start->time;
	utc->ns -= length;
	/* In a very short recording, the trace's clock may not have advanced. */
	if (more < less || less < nominal) {
		utc->ticks = more < less ? nominal + more : nominal - less;
		utc->length = length;
		utc->measured = true;
		utc->drift = ((double)utc->ticks * UTC_NS_PER_SEC /
			      ((double)length * (double)hz) - 1) * 1e6;
	}
	return NULL;
}

void utc_init(struct utc *utc, const struct meta *meta, uint64_t hz, uint64_t mask)
{
	const bool own = meta->samples == 2;
	const struct meta_utc *start = own ? &meta->sample[0] : &meta->utc_start;
	const struct meta_utc *stop = own ? &meta->sample[1] : &meta->utc;
	const uint64_t run = meta->coverage.run_ns;

	*utc = (struct utc){
		.time = meta->utc.time, .ns = meta->utc.ns, .mask = mask, .margin = mask / 2,
		.ticks = hz, .length = UTC_NS_PER_SEC,
	};
	if (!utc->ns) {
		utc->lack = NO_CLOCK;
	} else if (!hz) {
		utc->lack = NO_RATE;
	} else if (start->ns && stop->ns > start->ns && stop->time == utc->time &&
		   utc->ns > stop->ns - start->ns) {
		utc->lack = measure(utc, start, stop, hz);
		utc->within[0] = start->within ? start->within + (own ? meta->utc.within : 0) : 0;
		utc->within[1] = stop->within ? stop->within + (own ? meta->utc.within : 0) : 0;
	} else if (!run || (unsigned __int128)run * hz >=
			   (unsigned __int128)(mask / 2) * UTC_NS_PER_SEC) {
		utc->lack = WRAPPED;
	}
}

bool utc_time(const struct utc *utc, uint64_t ticks, uint64_t *ns)
{
	const uint64_t since = (ticks - utc->time + utc->margin) & utc->mask;
	unsigned __int128 length;

	if (utc->lack)
		return false;
	if (since >= utc->margin) {
		length = (unsigned __int128)(since - utc->margin) * utc->length / utc->ticks;
		if (length > UINT64_MAX - utc->ns)
			return false;
		*ns = utc->ns + (uint64_t)length;
		return true;
	}
	/* Round towards the past, as above, so that times keep their order. */
	length = ((unsigned __int128)(utc->margin - since) * utc->length + utc->ticks - 1) /
		 utc->ticks;
	if (length >= utc->ns)
		return false;
	*ns = utc->ns - (uint64_t)length;
	return true;
}

void utc_text(const struct utc *utc, char text[UTC_TEXT])
{
	char start[UNITS_SIZE], stop[UNITS_SIZE];
	int used;

	if (utc->within[0] && utc->within[1])
		used = snprintf(text, UTC_TEXT, "within %s of the machine's clock at the start and %s at the end",
				units_time(start, utc->within[0], UTC_NS_PER_SEC),
				units_time(stop, utc->within[1], UTC_NS_PER_SEC));
	else
		used = snprintf(text, UTC_TEXT, "of unknown accuracy");
	if (utc->measured)
		snprintf(text + used, UTC_TEXT - (size_t)used,
			 "; a drift of %+.3f ppm against it is corrected", utc->drift);
	else
		snprintf(text + used, UTC_TEXT - (size_t)used, "; drift is not corrected");
}

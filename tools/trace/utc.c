// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See utc.h. */
#include "utc.h"

#define NS_PER_SEC	1000000000

/* Times are unambiguous only if the whole run is shorter than half the range of a timestamp. */
static bool is_clear(const struct input *input, uint64_t mask)
{
	const uint64_t run = input->meta.coverage.run_ns;

	return run && (unsigned __int128)run * input->hz <
		      (unsigned __int128)(mask / 2) * NS_PER_SEC;
}

bool utc_time(const struct input *input, uint64_t ticks, uint64_t *ns)
{
	const struct meta_utc *utc = &input->meta.utc;
	const uint64_t mask = trace_time_mask(input->trace);
	const uint64_t ahead = (ticks - utc->time) & mask, back = (utc->time - ticks) & mask;
	unsigned __int128 distance;

	if (!utc->ns || !input->hz || !is_clear(input, mask))
		return false;
	distance = (unsigned __int128)(back < ahead ? back : ahead) * NS_PER_SEC / input->hz;
	if (distance >= (back < ahead ? utc->ns : UINT64_MAX - utc->ns))
		return false;
	*ns = back < ahead ? utc->ns - (uint64_t)distance : utc->ns + (uint64_t)distance;
	return true;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Describes the accuracy of wall-clock times: see utc.h. */
#include <stdio.h>

#include "units.h"
#include "utc.h"

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
			 "; a drift of %+.3f ppm (within %.3f ppm) against it is corrected",
			 utc->drift, utc->doubt);
	else if (utc->small)
		snprintf(text + used, UTC_TEXT - (size_t)used,
			 "; drift is too small to measure, and not corrected");
	else
		snprintf(text + used, UTC_TEXT - (size_t)used, "; drift is not corrected");
}

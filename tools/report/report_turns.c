// SPDX-License-Identifier: Apache-2.0 OR MIT
/* report: shows the accuracy of the totals of events that take turns on the counters. */
#include <stdio.h>

#include "report.h"
#include "text.h"
#include "units.h"

#define SHARE_WIDTH	8
#define ERROR_WIDTH	9

void report_turns(struct output *out, const struct analysis *analysis)
{
	const struct counters *counters = analysis_counters(analysis);
	struct turns_estimate estimate;
	char text[UNITS_SIZE];
	unsigned int c;

	if (!analysis_turns(analysis))
		return;
	put_string(out, "\nScaled, because the events took turns on the counters: the share of cycles in which each was\n"
		   "counted, and the error of its total, with a probability of 95 %:\n");
	for (c = 0; c < counters->count; c++) {
		if (!counters->turn[c] || counters->hidden[c])
			continue;
		turns_estimate(analysis_turns(analysis), c, &estimate);
		snprintf(text, sizeof(text), "%.1f%%", 100 * estimate.share);
		put_right(out, text, SHARE_WIDTH);
		if (estimate.error < 0)
			snprintf(text, sizeof(text), "-");
		else
			snprintf(text, sizeof(text), "%.1f%%", 100 * estimate.error);
		put_right(out, text, ERROR_WIDTH);
		put_string(out, "  ");
		put_text(out, counters->name[c]);
		put_char(out, '\n');
	}
}

void report_json_turns(struct output *out, const struct analysis *analysis)
{
	const struct counters *counters = analysis_counters(analysis);
	struct turns_estimate estimate;
	bool any = false;
	unsigned int c;

	if (!analysis_turns(analysis))
		return;
	put_string(out, ",\n\"scaled\":[");
	for (c = 0; c < counters->count; c++) {
		if (!counters->turn[c] || counters->hidden[c])
			continue;
		turns_estimate(analysis_turns(analysis), c, &estimate);
		put_string(out, any ? ",\n{\"counter\":" : "\n{\"counter\":");
		put_json(out, counters->name[c]);
		put_format(out, ",\"share\":%.6f,\"error\":", estimate.share);
		if (estimate.error < 0)
			put_string(out, "null}");
		else
			put_format(out, "%.6f}", estimate.error);
		any = true;
	}
	put_char(out, ']');
}

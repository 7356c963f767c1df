// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Notes on data that calls lack, and on samples in the tracer's own functions. */
#include <inttypes.h>

#include "analysis.h"
#include "command.h"

void analysis_notes(const struct analysis *analysis, const struct input *input)
{
	const struct analysis_stats *stats = analysis_stats(analysis);
	const char *name = input->options->path;

	if (input->options->trace.quiet)
		return;
	if (stats->unaddressed)
		report("%s: %" PRIu64 " record%s without a known address, after a loss up to the next header: left out, and calls cut short",
		       name, stats->unaddressed,
		       stats->unaddressed == 1 ? "" : "s");
	if (stats->untimed && trace_stats(input->trace)->timed)
		report("%s: %" PRIu64 " of %" PRIu64 " calls have no time: before its first absolute timestamp, or by a clock that is behind another, a source has none",
		       name, stats->untimed, stats->calls);
	if (stats->inferred)
		report("%s: %" PRIu64 " of %" PRIu64 " calls have a time that is inferred, marked ~: messages before it were lost or damaged, or none behind it confirms it",
		       name, stats->inferred, stats->calls);
	if (stats->tracer)
		report("%s: %" PRIu64 " of %" PRIu64 " samples are in the tracer's own functions, marked [tracer]",
		       name, stats->tracer, stats->samples);
	if (stats->too_deep)
		report("%s: %" PRIu64 " calls too deep: left out", name,
		       stats->too_deep);
}

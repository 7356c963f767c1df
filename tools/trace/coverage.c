// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Determines how much of a run a trace covers: see coverage.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coverage.h"
#include "cause.h"
#include "follow.h"
#include "text.h"
#include "units.h"

/* Return whether the command follows the trace, and it may still grow. */
static bool is_growing(const struct input *input)
{
	const struct follow *follow = input->options->trace.follow;

	return follow && follow->state == FOLLOW_RUNS;
}

enum coverage coverage_of(const struct input *input)
{
	if (input->meta.coverage.full || input->meta.coverage.limit ||
	    input->meta.coverage.running)
		return COVERAGE_FIRST;
	if (trace_wrapped(input->trace))
		return COVERAGE_LAST;
	return input->meta.coverage.known ? COVERAGE_ALL : COVERAGE_UNKNOWN;
}

const char *coverage_word(enum coverage coverage)
{
	static const char * const word[] = {
		[COVERAGE_UNKNOWN] = "unknown", [COVERAGE_ALL] = "all",
		[COVERAGE_FIRST] = "first", [COVERAGE_LAST] = "last",
	};

	return word[coverage];
}

/* Return the ticks from the first record to the last, or 0 if unknown. */
static uint64_t ticks(const struct input *input)
{
	const struct trace_stats *stats = trace_stats(input->trace);

	return stats->timed ? stats->last - stats->first : 0;
}

/* Write text such as "15.4 s of 195 s"; omit times that are unknown. */
static void put_part(const struct input *input, char *text, size_t size)
{
	uint64_t run = input->meta.coverage.run_ns;
	char part[UNITS_SIZE + 8] = "part", whole[UNITS_SIZE];

	if (ticks(input))
		units_time(part, ticks(input), input->hz);
	if (ticks(input) && !input->hz)
		strcat(part, " ticks");
	if (run)
		snprintf(text, size, "%s of %s", part,
			 units_time(whole, run, 1000000000));
	else
		snprintf(text, size, "%s", part);
}

/* Maximum length of a function's name, a list of patterns or a path; longer text is truncated. */
#define SHOWN	100

/* Describe the limits that the user set with record --from, --to and --depth. */
static size_t put_limits(const struct meta_part *part, char *text, size_t size, bool first)
{
	char from[SHOWN + 1], to[SHOWN + 1];
	size_t used;

	if (!(part->from || part->depth) || !size)
		return 0;
	used = (size_t)snprintf(text, size, "%scontains calls of each thread only ",
				first ? "" : "; ");
	if (part->from) {
		snprintf(from, sizeof(from), "%s", part->from);
		text_clean(from);
		snprintf(to, sizeof(to), "%s", part->to ? part->to : "it returns");
		text_clean(to);
		used += (size_t)snprintf(text + used, size - used, "from a call to %s until %s%s",
					 from, part->to ? "the next call to " : "", to);
	}
	if (part->depth)
		used += (size_t)snprintf(text + used, size - used, "%sup to depth %" PRIu64
					 "; self times include deeper calls",
					 part->from ? ", " : "", part->depth);
	return used;
}

/* Write the patterns of -F, or the name of the filter file; "" if there are none. */
static const char *put_selection(const struct meta_part *part, char shown[SHOWN + 1])
{
	size_t used = 0, i;

	snprintf(shown, SHOWN + 1, "%s", part->filter && !part->functions ? part->filter : "");
	for (i = 0; i < part->functions && used <= SHOWN; i++)
		used += (size_t)snprintf(shown + used, SHOWN + 1 - used, "%s%s", i ? ", " : "",
					 part->function[i]);
	if (used > SHOWN)
		strcpy(shown + SHOWN - 3, "...");
	text_clean(shown);
	return shown;
}

/* Describe the calls that record -F, --filter and --auto-filter left out. */
static size_t put_functions(const struct meta_part *part, char *text, size_t size, bool first)
{
	const char *between = first ? "" : "; ";
	char shown[SHOWN + 1];
	int used = 0;

	if (part->functions || part->filter)
		used = snprintf(text, size,
				"%scontains only calls to functions %s %s; self times include other functions that they call",
				between, part->functions ? "that match" : "selected by",
				put_selection(part, shown));
	else if (part->left_out)
		used = snprintf(text, size,
				"%slacks calls of %" PRIu64 " function%s that --auto-filter left out; self times of their callers include them",
				between, part->left_out, part->left_out == 1 ? "" : "s");
	return (size_t)used;
}

/* Describe the threshold of record --time-threshold. */
static size_t put_threshold(const struct meta_part *part, char *text, size_t size, bool first)
{
	char time[UNITS_SIZE];

	if (!part->threshold)
		return 0;
	return (size_t)snprintf(text, size,
				"%sis shown without calls shorter than %s; their time belongs to their callers",
				first ? "" : "; ", units_time(time, part->threshold, 1000000000));
}

bool coverage_limited(const struct input *input)
{
	return meta_part_is_set(&input->meta.part);
}

const char *coverage_text(const struct input *input, char text[COVERAGE_SIZE])
{
	uint64_t run = input->meta.coverage.run_ns, lost = coverage_lost(input);
	uint64_t gaps = coverage_gaps(input), pauses = input->meta.coverage.pauses;
	uint64_t missing = coverage_missing(input);
	enum coverage coverage = coverage_of(input);
	size_t used;
	char part[2 * UNITS_SIZE + 16], whole[UNITS_SIZE] = "the run", cause[CAUSE_SIZE];

	put_part(input, part, sizeof(part));
	if (run)
		units_time(whole, run, 1000000000);
	*text = '\0';
	if (coverage == COVERAGE_FIRST)
		snprintf(text, COVERAGE_SIZE,
			 "covers the first %s%s", part,
			 input->meta.coverage.full ? ", then the buffer was full" :
			 input->meta.coverage.limit ? ", then the recording's limit was reached" :
			 is_growing(input) ? " so far" : ", and lacks the end: the recording was still running, or was killed, when its side-car file was written");
	else if (coverage == COVERAGE_LAST)
		snprintf(text, COVERAGE_SIZE,
			 "covers the last %s; the ring has overwritten earlier data",
			 part);
	else if (coverage == COVERAGE_ALL)
		snprintf(text, COVERAGE_SIZE, "covers all of %s", whole);
	used = strlen(text);
	if (gaps && missing)
		used += (size_t)snprintf(text + used, COVERAGE_SIZE - used,
					 "%s%" PRIu64 " bytes are missing in %" PRIu64 " place%s",
					 used ? "; " : "", missing, gaps, gaps == 1 ? "" : "s");
	else if (gaps)
		used += (size_t)snprintf(text + used, COVERAGE_SIZE - used,
					 "%sdata is missing in %" PRIu64 " place%s",
					 used ? "; " : "", gaps, gaps == 1 ? "" : "s");
	if (pauses)
		used += (size_t)snprintf(text + used, COVERAGE_SIZE - used,
					 "%spaused %" PRIu64 " time%s, %s", used ? "; " : "",
					 pauses, pauses == 1 ? "" : "s",
					 units_time(whole, input->meta.coverage.paused_ns,
						    1000000000));
	used += put_limits(&input->meta.part, text + used, COVERAGE_SIZE - used, !used);
	used += put_functions(&input->meta.part, text + used, COVERAGE_SIZE - used, !used);
	used += put_threshold(&input->meta.part, text + used, COVERAGE_SIZE - used, !used);
	if (lost)
		used += (size_t)snprintf(text + used, COVERAGE_SIZE - used,
					 "%s%" PRIu64 " record%s could not be recorded",
					 used ? "; " : "", lost, lost == 1 ? "" : "s");
	if (*cause_text(input, cause))
		snprintf(text + used, COVERAGE_SIZE - used, "%s%s %s",
			 used ? "; " : "", input->meta.trigger.last ?
			 "was written at the program's end, the latest trigger:" :
			 "was taken because", cause);
	return text;
}

bool coverage_cut(const struct input *input)
{
	enum coverage coverage = coverage_of(input);

	return coverage == COVERAGE_FIRST || coverage == COVERAGE_LAST ||
	       coverage_lost(input) || coverage_gaps(input) ||
	       input->meta.coverage.pauses || input->meta.trigger.function ||
	       meta_part_is_cut(&input->meta.part);
}

bool coverage_partial(const struct input *input)
{
	return coverage_cut(input) || coverage_limited(input);
}

/*
 * Return the number of captured bytes that are missing from the file, for example because they were
 * never read. A copy of a running ring lacks the rest of a message that the ring has partly
 * overwritten.
 */
static uint64_t not_there(const struct input *input)
{
	const uint64_t captured = input->meta.coverage.bytes;
	const uint64_t there = trace_stats(input->trace)->bytes +
			       (trace_wrapped(input->trace) ? NEXUS_MESSAGE_MAX : 0);

	return captured > there ? captured - there : 0;
}

uint64_t coverage_gaps(const struct input *input)
{
	return input->meta.coverage.gaps + (not_there(input) ? 1 : 0);
}

uint64_t coverage_missing(const struct input *input)
{
	return input->meta.coverage.gap_bytes + not_there(input);
}

static void put_seconds(struct output *out, const char *key, uint64_t count,
			uint64_t hz)
{
	if (count && hz)
		put_format(out, ",\"%s\":%.9f", key, (double)count / (double)hz);
}

/* Write the times at which data was lost. */
static void put_missing(const struct input *input, struct output *out)
{
	const struct meta_coverage *coverage = &input->meta.coverage;
	uint64_t begin, end;
	size_t i;

	for (i = 0; i < coverage->listed; i++) {
		const struct meta_gap *gap = &coverage->gap[i];

		put_format(out, "%s{\"bytes\":%" PRIu64 ",\"dropped\":%" PRIu64,
			   i ? "," : ",\"missing\":[", gap->bytes, gap->dropped);
		if (input->hz && cause_gap(input, i, &begin, &end))
			put_format(out, ",\"begin\":%.9f,\"end\":%.9f",
				   (double)begin / (double)input->hz,
				   (double)end / (double)input->hz);
		put_char(out, '}');
	}
	if (i)
		put_char(out, ']');
}

void coverage_json(const struct input *input, struct output *out)
{
	const struct meta_coverage *coverage = &input->meta.coverage;
	const struct meta_lost *lost = &input->meta.lost;

	put_format(out, "\"part\":\"%s\"", coverage_word(coverage_of(input)));
	put_seconds(out, "trace_seconds", ticks(input), input->hz);
	put_seconds(out, "run_seconds", coverage->run_ns, 1000000000);
	if (coverage->known)
		put_format(out, ",\"buffer\":%" PRIu64 ",\"counters_lost\":%" PRIu32
			   ",\"gaps\":%" PRIu64 ",\"gap_bytes\":%" PRIu64
			   ",\"pauses\":%" PRIu64 ",\"paused_seconds\":%.9f",
			   coverage->buffer, coverage->counters_lost,
			   coverage_gaps(input), coverage_missing(input),
			   coverage->pauses, (double)coverage->paused_ns / 1e9);
	put_missing(input, out);
	put_format(out, ",\"lost\":{\"signals\":%" PRIu64 ",\"threads\":%" PRIu64
		   ",\"abandoned\":%" PRIu64 ",\"refused\":%" PRIu64
		   ",\"children\":%" PRIu64 ",\"samples\":%" PRIu64
		   ",\"dropped\":%" PRIu64 ",\"encoders\":%" PRIu64, lost->signals,
		   lost->threads, lost->abandoned, lost->refused, lost->children,
		   lost->samples, coverage_dropped(input), lost->encoders);
	if (input->meta.switches >= 0)
		put_format(out, ",\"switches\":%" PRIu64 ",\"processes\":%" PRIu64
			   ",\"elsewhere\":%" PRIu64 ",\"wakeups\":%" PRIu64, lost->switches,
			   lost->processes, lost->elsewhere, lost->wakeups);
	if (lost->unrecorded)
		put_format(out, ",\"unrecorded\":%" PRIu64, lost->unrecorded);
	put_char(out, '}');
	meta_part_json(&input->meta.part, ",", out);
}

void coverage_damage_json(const struct input *input, struct output *out)
{
	const struct trace_stats *stats = trace_stats(input->trace);

	put_format(out, "\"damage\":{\"encoder_losses\":%" PRIu64 ",\"lost_words\":%" PRIu64
		   ",\"lost_places\":%" PRIu64 ",\"skipped_bytes\":%" PRIu64
		   ",\"skipped_places\":%" PRIu64 ",\"cut_bytes\":%" PRIu64
		   ",\"unknown_messages\":%" PRIu64 ",\"corrected_times\":%" PRIu64
		   ",\"disordered_times\":%" PRIu64 "}",
		   stats->errors, stats->lost_words, stats->losses, stats->gap_bytes, stats->gaps,
		   stats->cut_bytes, stats->unknown, stats->corrected, stats->disorders);
}

uint64_t coverage_dropped(const struct input *input)
{
	const uint64_t marked = trace_stats(input->trace)->dropped;

	return marked > input->meta.lost.dropped ? marked : input->meta.lost.dropped;
}

uint64_t coverage_lost(const struct input *input)
{
	const struct meta_lost *lost = &input->meta.lost;

	return lost->signals + lost->threads + lost->abandoned + lost->refused +
	       lost->children + lost->samples + coverage_dropped(input) + lost->switches;
}

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Determines which part of a run is in a trace: the beginning, the end, or all of the run. */
#ifndef SIFIVE_TRACE_COVERAGE_H
#define SIFIVE_TRACE_COVERAGE_H

#include "../output.h"
#include "options.h"

#define COVERAGE_SIZE	1680

enum coverage {
	COVERAGE_UNKNOWN,
	COVERAGE_ALL,
	COVERAGE_FIRST,		/* the buffer was full */
	COVERAGE_LAST,		/* a ring has wrapped */
};

/**
 * coverage_of() - determine the coverage from the side-car file and the trace; call only after the
 * trace has been read
 */
enum coverage coverage_of(const struct input *input);

/** coverage_word() - return "all", "first", "last", or "unknown" */
const char *coverage_word(enum coverage coverage);

/**
 * coverage_text() - return the coverage as text
 * @text:	set to "covers the first 15.4 s of 195 s: ..." or ""
 *
 * Return: @text.
 */
const char *coverage_text(const struct input *input, char text[COVERAGE_SIZE]);

/** coverage_cut() - return whether totals are too low because records or calls are missing */
bool coverage_cut(const struct input *input);

/**
 * coverage_partial() - return whether tables must report the coverage, because records are missing
 * or were left out, or because the trace was written for a single call
 */
bool coverage_partial(const struct input *input);

/** coverage_limited() - return whether calls were left out on request, as by record --from or -F */
bool coverage_limited(const struct input *input);

/** coverage_json() - write the coverage as members of a JSON object, with losses by cause */
void coverage_json(const struct input *input, struct output *out);

/** coverage_damage_json() - write a member "damage" of a JSON object: missing and damaged data */
void coverage_damage_json(const struct input *input, struct output *out);

/**
 * coverage_lost() - return the number of records lost for any reason
 *
 * This excludes records after the buffer was full.
 */
uint64_t coverage_lost(const struct input *input);

/**
 * coverage_dropped() - return the number of records that programs dropped: the count in the
 * side-car file, which may be missing or out of date, or the sum of the trace's marks if that is
 * higher
 */
uint64_t coverage_dropped(const struct input *input);

/**
 * coverage_gaps() - return the number of gaps that the recorder reports, plus one if captured bytes
 * are missing from the file
 */
uint64_t coverage_gaps(const struct input *input);

/**
 * coverage_missing() - return a lower bound on the number of bytes missing in gaps, excluding bytes
 * after the buffer was full
 */
uint64_t coverage_missing(const struct input *input);

#endif /* SIFIVE_TRACE_COVERAGE_H */

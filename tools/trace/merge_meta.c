// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Merges the side-car files of merged traces. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "merge.h"
#include "utc.h"

/* All sinks of a capture start within this many nanoseconds, even on a busy machine. */
#define START_NS	NS_PER_SEC

/* Members that have the same value in all side-car files of a recording. */
static const char * const shared_keys[] = {
	"version", "ts_width", "ts_hz", "ts_scheme", "count_type", "header_interval",
	"per_thread", "exe", "args", "host", "board", "counters", "turn_us", "channel", "sampling",
	"switches", "instruction", "trigger", "part", NULL
};

/*
 * Return whether two traces are from the same recording. Their lists of threads may differ, because
 * threads may end before the second file is written.
 */
static bool is_same_recording(const struct input *first, const struct input *other)
{
	struct json_object *own, *value;
	size_t i;

	for (i = 0; shared_keys[i]; i++) {
		own = NULL;
		value = NULL;
		json_object_object_get_ex(first->json, shared_keys[i], &own);
		json_object_object_get_ex(other->json, shared_keys[i], &value);
		if (!json_object_equal(own, value))
			return false;
	}
	/* The captures of different recordings do not overlap in time. */
	return other->start.ns - first->start.ns + START_NS <= 2 * (uint64_t)START_NS &&
	       other->start.ns < first->stop.ns && first->start.ns < other->stop.ns;
}

/* Return the number with this key, which may be in a string, or 0 if there is none. */
static uint64_t number(struct json_object *from, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(from, key, &value))
		return 0;
	if (json_object_is_type(value, json_type_string))
		return strtoull(json_object_get_string(value), NULL, 0);
	return json_object_is_type(value, json_type_int) && json_object_get_int64(value) >= 0 ?
	       json_object_get_uint64(value) : 0;
}

static void read_clock(struct input *in)
{
	struct sample * const to[] = { &in->start, &in->stop };
	struct json_object *samples, *from;
	size_t i;

	if (!json_object_object_get_ex(in->json, "clock_samples", &samples) ||
	    !json_object_is_type(samples, json_type_array))
		return;
	for (i = 0; i < 2; i++) {
		from = json_object_array_get_idx(samples, i);
		if (!json_object_is_type(from, json_type_object))
			continue;
		to[i]->time = number(from, "time");
		to[i]->ns = number(from, "ns");
		to[i]->within = number(from, "within");
	}
}

/* Read a trace's side-car file as JSON. meta_read() has checked the limits of the file. */
static int read_json(struct input *in)
{
	char name[PATH_MAX + 8];

	snprintf(name, sizeof(name), "%s.meta", in->path);
	in->json = json_object_from_file(name);
	if (json_object_is_type(in->json, json_type_object))
		return 0;
	report("%s: %s: merging traces needs the side-car files written by record", name,
	       access(name, R_OK) ? strerror(errno) : "not a JSON object");
	return -1;
}

unsigned int merge_width(const struct input *in)
{
	return in->meta.ts_width > 0 ? (unsigned int)in->meta.ts_width : NEXUS_TS_WIDTH_DEFAULT;
}

static bool lists_a_source_twice(const struct input *in)
{
	size_t n, m;

	for (n = 0; n < in->meta.sources; n++)
		for (m = 0; m < n; m++)
			if (in->meta.source[m].src == in->meta.source[n].src)
				return true;
	return false;
}

/* Return whether an earlier trace contains one of this trace's harts. */
static bool has_known_hart(const struct merge *merge, const struct input *in)
{
	const struct input *other;
	unsigned int i;
	size_t n, m;

	for (i = 0; (other = merge->input[i]) != in; i++)
		for (n = 0; n < in->meta.sources; n++)
			for (m = 0; m < other->meta.sources; m++)
				if (in->meta.source[n].hart >= 0 &&
				    other->meta.source[m].hart == in->meta.source[n].hart)
					return true;
	return false;
}

/* Return the reason that a trace cannot be merged, or NULL if it can. */
static const char *check_input(const struct merge *merge, const struct input *in)
{
	const struct input *first = merge->input[0];

	if (in->meta.wrapped > 0)
		return "its oldest bytes were overwritten, so its first times are unknown; record without --on-full wrap";
	if (in->meta.piece >= 0)
		return "it is a piece of a recording; record without --rotate";
	if (!in->meta.sources || in->meta.src_bits < 0 || lists_a_source_twice(in))
		return "its side-car file does not list each encoder exactly once";
	if (!in->start.ns || in->stop.ns <= in->start.ns)
		return "its clock is unknown (no clock_samples in its side-car file): it was written by merge, it has no timestamps, its encoders have several clocks, one of them was offline at the end, or the system was suspended during the recording";
	if (!in->meta.ts_hz || in->meta.ts_hz > UINT32_MAX)
		return "the rate of its timestamps is unknown";
	if (in != first && !is_same_recording(first, in))
		return "it is not from the same recording as the first trace";
	if (has_known_hart(merge, in))
		return "it contains the same hart as an earlier trace: is it a copy?";
	return NULL;
}

int merge_read_meta(const struct merge *merge, struct input *in)
{
	const char *why;

	if (meta_read(NULL, in->path, &in->meta) || read_json(in))
		return -1;
	read_clock(in);
	why = check_input(merge, in);
	if (why)
		report("%s: %s", in->path, why);
	return why ? -1 : 0;
}

static void add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

unsigned int merge_source_bits(const struct merge *merge)
{
	unsigned int bits = 0;

	while (1u << bits < merge->sources)
		bits++;
	return bits;
}

/* Return the encoders of all traces, with their new numbers. */
static struct json_object *merged_sources(const struct merge *merge)
{
	struct json_object *all = json_object_new_array(), *one;
	const struct meta_source *source;
	unsigned int i;
	size_t n;

	for (i = 0; i < merge->inputs; i++)
		for (n = 0; n < merge->input[i]->meta.sources; n++) {
			source = &merge->input[i]->meta.source[n];
			one = json_object_new_object();
			add(one, "src",
			    json_object_new_int(merge->input[i]->source[source->src]));
			add(one, "hart", json_object_new_int(source->hart));
			add(one, "cpu", json_object_new_int(source->cpu));
			json_object_array_add(all, one);
		}
	return all;
}

/* Return the object "coverage" of a trace, or NULL if there is none. */
static struct json_object *coverage(const struct input *in)
{
	struct json_object *value;

	return json_object_object_get_ex(in->json, "coverage", &value) &&
	       json_object_is_type(value, json_type_object) ? value : NULL;
}

static uint64_t total(const struct merge *merge, const char *key)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < merge->inputs; i++)
		sum += number(coverage(merge->input[i]), key);
	return sum;
}

static bool any(const struct merge *merge, const char *key)
{
	struct json_object *value;
	unsigned int i;

	for (i = 0; i < merge->inputs; i++)
		if (json_object_object_get_ex(coverage(merge->input[i]), key, &value) &&
		    json_object_get_boolean(value))
			return true;
	return false;
}

/* Return whether a file was truncated, which a merged trace would hide. */
static bool lacks_bytes(const struct input *in)
{
	const uint64_t captured = number(coverage(in), "bytes");

	if (in->bytes >= captured)
		return false;
	report("%s: %" PRIu64 " of its %" PRIu64 " bytes are missing: a merged trace would hide that; read this trace separately",
	       in->path, captured - in->bytes, captured);
	return true;
}

/* Add up the counts that are per sink; the other counts apply to the session. */
static void merge_coverage(const struct merge *merge, struct json_object *to)
{
	static const char * const sums[] = { "buffer", "gaps", "gap_bytes", NULL };
	static const char * const flags[] = { "full", "limit", NULL };
	size_t i;

	for (i = 0; sums[i]; i++)
		add(to, sums[i], json_object_new_uint64(total(merge, sums[i])));
	for (i = 0; flags[i]; i++)
		add(to, flags[i], json_object_new_boolean(any(merge, flags[i])));
	if (any(merge, "running"))
		add(to, "running", json_object_new_boolean(true));
	add(to, "bytes", json_object_new_uint64(merge->bytes));
	/* A gap's times are on the clock of the trace that contains it. */
	json_object_object_del(to, "missing");
}

/* Add a reading of the clocks with this error, or 0 if the error is unknown. */
static void add_reading(struct json_object *to, const char *key, uint64_t time, uint64_t ns,
			uint64_t within)
{
	struct json_object *reading = json_object_new_object();

	add(reading, "time", json_object_new_uint64(time));
	add(reading, "ns", json_object_new_uint64(ns));
	if (within)
		add(reading, "within", json_object_new_uint64(within));
	add(to, key, reading);
}

/* Return the maximum error of the times of all traces at one of the base's readings. */
static uint64_t error_of(const struct merge *merge, const struct sample *reading)
{
	const uint64_t own = utc_add(reading->within, merge->base->meta.utc.within);

	return merge->inputs > 1 ? utc_add(own, merge->within) : own;
}

/*
 * Write "utc" of the base, to whose clock all times are converted, and the wall clock at START,
 * with which drift can be corrected. Omit clock_samples, because other sinks have times outside
 * their range. The errors include those of converting the other traces' times.
 */
static void merge_utc(const struct merge *merge, struct json_object *to)
{
	const struct input *base = merge->base;
	const struct meta_utc *date = &base->meta.utc;
	const uint64_t length = base->stop.ns - base->start.ns;
	const bool known = date->within && base->start.within && base->stop.within;

	json_object_object_del(to, "utc");
	json_object_object_del(to, "utc_start");
	/* Without run_ns, the second reading may have been at START. */
	if (!base->meta.coverage.run_ns || date->time != base->stop.time || date->ns <= length)
		return;
	add_reading(to, "utc", date->time, date->ns, known ? error_of(merge, &base->stop) : 0);
	add_reading(to, "utc_start", base->start.time, date->ns - length,
		    known ? error_of(merge, &base->start) : 0);
}

/*
 * Convert the last trace's side-car file into the merged trace's. The last trace's file was written
 * last, so its data on threads and losses is the most complete.
 */
const char *merge_meta(struct merge *merge)
{
	struct input *last = merge->input[merge->inputs - 1];
	const char *text;
	unsigned int i;

	for (i = 0; i < merge->inputs; i++)
		if (lacks_bytes(merge->input[i]))
			return NULL;

	if (coverage(last))
		merge_coverage(merge, coverage(last));
	add(last->json, "srcbits", json_object_new_int((int)merge_source_bits(merge)));
	add(last->json, "sources", merged_sources(merge));
	merge_utc(merge, last->json);
	json_object_object_del(last->json, "clock_samples");
	text = json_object_to_json_string_ext(last->json, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text && strlen(text) < META_BYTES_MAX)
		return text;
	report("%s: its side-car file would be too long; merge fewer traces", merge->output);
	return NULL;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sifive-trace merge: one trace of the traces of a recording's sinks. Sources get new
 * numbers; times of each trace are moved to a common clock, by the times that the driver has
 * read of all clocks at the same moment. Messages come in the order of their times.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "command.h"
#include "meta.h"
#include "nexus/nexus.h"
#include "output.h"

#define CHUNK		(64u << 10)
#define NO_SOURCE	0xffu
#define NS_PER_SEC	1000000000u

/* A clock's @time, in ticks, at CLOCK_MONOTONIC @ns, or up to @within nanoseconds earlier. */
struct sample {
	uint64_t time;
	uint64_t ns;
	uint64_t within;
};

/**
 * struct input - a trace
 * @path:	its file
 * @json:	its side-car file
 * @clock:	its clock at one moment
 * @shift:	ticks to add to its times
 * @source:	by source: its new number, or NO_SOURCE
 * @written:	by source: the latest time, as written
 * @message:	the next message; valid with @more
 * @time:	when it comes: the latest time so far, shifted
 */
struct input {
	const char		*path;
	struct meta		meta;
	struct json_object	*json;
	struct sample		clock;
	uint64_t		shift;
	struct nexus		nexus;
	uint8_t			source[NEXUS_SOURCES];
	uint64_t		written[NEXUS_SOURCES];
	struct nexus_message	message;
	bool			more;
	uint64_t		time;
	int			fd;
	bool			ended;
	uint8_t			chunk[CHUNK];
};

/**
 * struct merge - the command
 * @output:	-o
 * @quiet:	-q
 * @to:		layout of what is written
 * @sources:	number of sources
 * @within:	nanoseconds by which the common clock may be wrong
 * @messages:	number of messages that were written
 * @bytes:	of these
 */
struct merge {
	const char	*output;
	bool		quiet;
	struct input	**input;
	unsigned int	inputs;
	struct nexus	to;
	unsigned int	sources;
	uint64_t	within;
	uint64_t	messages;
	uint64_t	bytes;
};

/* What the side-car files of one recording may differ in. */
static const char * const own_keys[] = {
	"srcbits", "sources", "coverage", "clock_sample", NULL
};

/* ---- side-car files ------------------------------------------------------- */

static bool is_own(const char *key)
{
	size_t i;

	for (i = 0; own_keys[i] && strcmp(own_keys[i], key); i++)
		;
	return own_keys[i];
}

/* Whether all other keys of @first are the same in @other. */
static bool is_same_recording(struct json_object *first, struct json_object *other)
{
	struct json_object *value;

	json_object_object_foreach(first, key, own) {
		if (is_own(key))
			continue;
		if (!json_object_object_get_ex(other, key, &value) ||
		    !json_object_equal(own, value))
			return false;
	}
	return json_object_object_length(first) == json_object_object_length(other);
}

static uint64_t number(struct json_object *from, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(from, key, &value) ? json_object_get_uint64(value) : 0;
}

static void read_clock(struct input *in)
{
	struct json_object *sample;

	if (!json_object_object_get_ex(in->json, "clock_sample", &sample) ||
	    !json_object_is_type(sample, json_type_object))
		return;
	in->clock.time = number(sample, "time");
	in->clock.ns = number(sample, "ns");
	in->clock.within = number(sample, "within");
}

/* meta_read() has checked the file's limits. */
static int read_json(struct input *in)
{
	char name[PATH_MAX + 8];

	snprintf(name, sizeof(name), "%s.meta", in->path);
	in->json = json_object_from_file(name);
	if (json_object_is_type(in->json, json_type_object))
		return 0;
	report("%s: %s: merge needs the side-car files that record has written", in->path,
	       access(name, R_OK) ? strerror(errno) : "its side-car file is damaged");
	return -1;
}

/* Why a trace cannot be merged, NULL if it can. */
static const char *check_input(const struct merge *merge, const struct input *in)
{
	const struct input *first = merge->input[0];

	if (in->meta.wrapped > 0)
		return "its oldest bytes were overwritten, so its first times are unknown: record without --on-full wrap";
	if (in->meta.piece >= 0)
		return "it is a piece of a recording: record without --rotate";
	if (!in->meta.sources || in->meta.src_bits < 0)
		return "its side-car file does not list its encoders";
	if (!in->clock.ns)
		return "its side-car file has no \"clock_sample\": it was recorded without timestamps, or by a driver that does not report them";
	if (!in->meta.ts_hz)
		return "the rate of its timestamps is unknown";
	if (in != first && !is_same_recording(first->json, in->json))
		return "it is not of the same recording as the first trace";
	return NULL;
}

static int open_input(struct merge *merge, struct input *in)
{
	struct nexus_options options = { 0 };
	const char *why;

	if (meta_read(NULL, in->path, &in->meta) || read_json(in))
		return -1;
	read_clock(in);
	why = check_input(merge, in);
	if (why) {
		report("%s: %s", in->path, why);
		return -1;
	}
	options.src_bits = (unsigned int)in->meta.src_bits;
	options.ts_width = (unsigned int)in->meta.ts_width;
	options.ts_scheme = in->meta.ts_scheme;
	in->fd = open(in->path, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0 || nexus_init(&in->nexus, &options)) {
		report("%s: cannot read: %s", in->path, strerror(errno));
		return -1;
	}
	return 0;
}

/* ---- sources and clocks --------------------------------------------------- */

static int number_sources(struct merge *merge)
{
	struct input *in;
	unsigned int i;
	size_t n;

	for (i = 0; i < merge->inputs; i++) {
		in = merge->input[i];
		memset(in->source, NO_SOURCE, sizeof(in->source));
		for (n = 0; n < in->meta.sources; n++)
			in->source[in->meta.source[n].src] = (uint8_t)merge->sources++;
		if (merge->sources > NEXUS_SOURCES) {
			report("%s: more than %u encoders in total", in->path, NEXUS_SOURCES);
			return -1;
		}
	}
	return 0;
}

/* The width of the smallest SRC field that has room. */
static unsigned int source_bits(const struct merge *merge)
{
	unsigned int bits = 0;

	while (1u << bits < merge->sources)
		bits++;
	return bits;
}

/* Ticks by which the clock of @in is ahead of the first one. */
static int64_t ahead(const struct input *first, const struct input *in)
{
	const unsigned int width = (unsigned int)first->meta.ts_width;
	int64_t ns = (int64_t)(in->clock.ns - first->clock.ns);
	int64_t since = (int64_t)((__int128)ns * (int64_t)first->meta.ts_hz / NS_PER_SEC);
	uint64_t ticks = in->clock.time - first->clock.time - (uint64_t)since;

	return (int64_t)(ticks << (64 - width)) >> (64 - width);
}

/* Move all times to the clock that is the furthest ahead, so that none becomes negative. */
static void set_clocks(struct merge *merge)
{
	const struct input *first = merge->input[0];
	uint64_t within, tick = NS_PER_SEC / first->meta.ts_hz + 1;
	int64_t most = 0, own;
	unsigned int i;

	for (i = 1; i < merge->inputs; i++) {
		own = ahead(first, merge->input[i]);
		most = own > most ? own : most;
		within = first->clock.within + merge->input[i]->clock.within + tick;
		merge->within = within > merge->within ? within : merge->within;
	}
	for (i = 0; i < merge->inputs; i++)
		merge->input[i]->shift = (uint64_t)(most - ahead(first, merge->input[i]));
}

/* ---- messages ------------------------------------------------------------- */

static int damaged(const struct input *in, const char *what)
{
	report("%s: offset 0x%" PRIx64 ": %s: a merged trace would hide it; read this trace by itself",
	       in->path, in->message.offset, what);
	return -1;
}

static int fill(struct input *in)
{
	ssize_t got;

	if (in->ended)
		return 0;
	got = read(in->fd, in->chunk, sizeof(in->chunk));
	if (got < 0) {
		report("%s: cannot read: %s", in->path, strerror(errno));
		return -1;
	}
	if (got)
		nexus_feed(&in->nexus, in->chunk, (size_t)got);
	else
		nexus_end(&in->nexus);
	in->ended = !got;
	return 1;
}

/* Reads the next message; @more is false at the end. */
static int next(struct input *in)
{
	struct nexus_message *message = &in->message;
	enum nexus_item item;
	int more;

	while ((item = nexus_next(&in->nexus, message)) == NEXUS_MORE) {
		more = fill(in);
		in->more = more > 0;
		if (more <= 0)
			return more;
	}
	if (item == NEXUS_GAP)
		return damaged(in, nexus_gap_name(message->gap));
	if (message->flags & NEXUS_UNKNOWN_TCODE)
		return damaged(in, "a message of unknown type");
	if (message->flags & NEXUS_CONTRARY)
		return damaged(in, "a time that contradicts earlier ones");
	if (in->source[message->src] == NO_SOURCE)
		return damaged(in, "a message of an encoder that the side-car file does not list");
	if (message->flags & NEXUS_TIME_KNOWN && message->time + in->shift > in->time)
		in->time = message->time + in->shift;
	return 0;
}

/* The timestamp of a message, as it is written. */
static uint64_t stamp(struct merge *merge, struct input *in)
{
	const struct nexus_message *message = &in->message;
	uint64_t *written = &in->written[message->src];
	uint64_t time = message->time + in->shift, before = *written;

	*written = time;
	if (message->flags & NEXUS_SYNC)
		return time;
	return merge->to.ts_scheme == NEXUS_TS_DELTA ? time - before : time ^ before;
}

static int write_message(struct merge *merge, struct input *in, struct output *out)
{
	uint8_t bytes[NEXUS_ENCODED_MAX];
	struct nexus_message message = in->message;
	uint64_t timestamp = 0;
	size_t length;

	if (message.flags & NEXUS_TIMESTAMP)
		timestamp = stamp(merge, in);
	message.src = in->source[message.src];
	length = nexus_encode(&merge->to, &message, timestamp, bytes);
	put_bytes(out, bytes, length);
	merge->messages++;
	merge->bytes += length;
	return output_failed(out) ? -1 : 0;
}

/* The trace whose next message is the earliest, NULL at the end. */
static struct input *earliest(const struct merge *merge)
{
	struct input *found = NULL;
	unsigned int i;

	for (i = 0; i < merge->inputs; i++)
		if (merge->input[i]->more && (!found || merge->input[i]->time < found->time))
			found = merge->input[i];
	return found;
}

static int write_messages(struct merge *merge, struct output *out)
{
	struct input *in;
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < merge->inputs; i++) {
		merge->input[i]->more = true;
		rc = next(merge->input[i]);
	}
	while (!rc && (in = earliest(merge))) {
		rc = write_message(merge, in, out);
		if (!rc)
			rc = next(in);
	}
	return rc;
}

/* ---- the merged side-car file --------------------------------------------- */

static void add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

/* The encoders of all traces, with their new numbers. */
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

/* What @key is of all traces: how many in total, or whether one of them has it. */
static struct json_object *total(const struct merge *merge, const char *key)
{
	struct json_object *coverage, *value;
	uint64_t sum = 0;
	bool any = false;
	unsigned int i;

	for (i = 0; i < merge->inputs; i++) {
		if (!json_object_object_get_ex(merge->input[i]->json, "coverage", &coverage) ||
		    !json_object_object_get_ex(coverage, key, &value))
			continue;
		if (json_object_is_type(value, json_type_boolean))
			any |= json_object_get_boolean(value);
		else
			sum += json_object_get_uint64(value);
	}
	return any ? json_object_new_boolean(true) : json_object_new_uint64(sum);
}

/* Each sink has its own bytes and gaps; the rest is the session's. */
static struct json_object *merged_coverage(const struct merge *merge,
					   struct json_object *first)
{
	static const char * const summed[] = { "buffer", "gaps", "gap_bytes", NULL };
	static const char * const any[] = { "full", "limit", NULL };
	struct json_object *to = NULL, *one;
	size_t i;

	json_object_deep_copy(first, &to, NULL);
	add(to, "bytes", json_object_new_uint64(merge->bytes));
	for (i = 0; summed[i]; i++)
		if (json_object_object_get_ex(first, summed[i], &one))
			add(to, summed[i], total(merge, summed[i]));
	for (i = 0; any[i]; i++) {
		one = total(merge, any[i]);
		add(to, any[i], json_object_new_boolean(json_object_get_boolean(one)));
		json_object_put(one);
	}
	return to;
}

static int write_meta(const struct merge *merge)
{
	struct json_object *to = merge->input[0]->json, *coverage;
	char name[PATH_MAX + 8];
	struct output *out;

	if (json_object_object_get_ex(to, "coverage", &coverage))
		add(to, "coverage", merged_coverage(merge, coverage));
	add(to, "srcbits", json_object_new_int((int)source_bits(merge)));
	add(to, "sources", merged_sources(merge));
	json_object_object_del(to, "clock_sample");
	snprintf(name, sizeof(name), "%s.meta", merge->output);
	out = output_open(name);
	if (!out)
		return -1;
	put_string(out, json_object_to_json_string_ext(to, JSON_C_TO_STRING_PRETTY |
							   JSON_C_TO_STRING_NOSLASHESCAPE));
	put_string(out, "\n");
	return output_close(out);
}

/* ---- the command ---------------------------------------------------------- */

static void forget_output(const struct merge *merge)
{
	char name[PATH_MAX + 8];

	snprintf(name, sizeof(name), "%s.meta", merge->output);
	unlink(merge->output);
	unlink(name);
}

static int merge_all(struct merge *merge)
{
	struct nexus_options options = { 0 };
	struct output *out;
	int rc;

	if (number_sources(merge))
		return -1;
	set_clocks(merge);
	options.src_bits = source_bits(merge);
	options.ts_width = (unsigned int)merge->input[0]->meta.ts_width;
	options.ts_scheme = merge->input[0]->meta.ts_scheme;
	if (nexus_init(&merge->to, &options))
		return -1;
	out = output_open(merge->output);
	if (!out)
		return -1;
	rc = write_messages(merge, out);
	if (output_close(out))
		rc = -1;
	if (!rc)
		rc = write_meta(merge);
	if (rc)
		forget_output(merge);
	return rc;
}

static void tell(const struct merge *merge)
{
	report("%s: %" PRIu64 " messages of %u traces, %u encoders; their clocks agree within %" PRIu64
	       " ns: sifive-trace report %s", merge->output, merge->messages, merge->inputs,
	       merge->sources, merge->within, merge->output);
}

static void close_input(struct input *in)
{
	if (!in)
		return;
	if (in->fd >= 0)
		close(in->fd);
	json_object_put(in->json);
	meta_free(&in->meta);
	free(in);
}

/* Whether this trace is among those that are open. */
static bool is_open(const struct merge *merge, const char *path)
{
	struct stat own, other;
	unsigned int i;

	for (i = 0; i < merge->inputs; i++)
		if (!stat(path, &own) && !fstat(merge->input[i]->fd, &other) &&
		    own.st_dev == other.st_dev && own.st_ino == other.st_ino)
			return true;
	return false;
}

static int open_inputs(struct merge *merge, char **paths)
{
	struct input *in;
	int i;

	for (i = 0; paths[i]; i++) {
		if (!output_spares(merge->output, paths[i]))
			return -1;
		if (is_open(merge, paths[i])) {
			report("%s: given twice", paths[i]);
			return -1;
		}
		in = calloc(1, sizeof(*in));
		if (!in) {
			report("out of memory");
			return -1;
		}
		in->path = paths[i];
		in->fd = -1;
		meta_init(&in->meta);
		merge->input[merge->inputs++] = in;
		if (open_input(merge, in))
			return -1;
	}
	return 0;
}

static const struct cli_option merge_options[] = {
	{ .letter = 'o', .name = "output", .value = "FILE",
	  .help = "the merged trace (default: trace.rtd); FILE.meta is its side-car file",
	  .set = cli_text, .offset = offsetof(struct merge, output) },
	{ .letter = 'q', .name = "quiet", .help = "print only errors",
	  .set = cli_flag, .offset = offsetof(struct merge, quiet) },
	{ .name = NULL }
};

static const struct cli_group merge_groups[] = {
	{ NULL, merge_options, 0 }, { .options = NULL }
};

static int command_merge(int argc, char **argv)
{
	struct merge merge = { .output = "trace.rtd" };
	int rc = cli_parse(&merge_command, &merge, argc, argv);

	if (rc)
		return rc;
	if (argc - optind < 2)
		return usage_error("merge takes the traces of all sinks of a recording: trace.0.rtd trace.1.rtd ...");
	merge.input = calloc((size_t)(argc - optind), sizeof(struct input *));
	if (!merge.input)
		return usage_error("out of memory");
	rc = open_inputs(&merge, argv + optind);
	if (!rc)
		rc = merge_all(&merge);
	if (!rc && !merge.quiet)
		tell(&merge);
	while (merge.inputs)
		close_input(merge.input[--merge.inputs]);
	free(merge.input);
	return rc ? EXIT_UNREADABLE : EXIT_OK;
}

const struct cli_command merge_command = {
	.name = "merge",
	.run = command_merge,
	.summary = "one trace of those of several sinks",
	.arguments = "TRACE TRACE...",
	.help = "Where harts do not share a sink, record writes a trace for each sink. Merge makes one trace of them, with all threads' calls across all harts: times are moved to one clock, by what the driver has read of all clocks at the end of the recording.",
	.groups = merge_groups,
	.status = "Exit status: 0 done, 2 wrong usage, 3 input or output error, or traces that cannot be merged.",
};

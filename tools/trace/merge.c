// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sifive-trace merge: one trace of the traces of a recording's sinks. Sources get new
 * numbers; times of each trace are moved to the clock of the first hart's, by what the driver
 * has read of all clocks at START and STOP. Messages come in the order of their times.
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

#include "command.h"
#include "merge.h"
#include "output.h"

/* A greater difference of two clocks' rates, one part in so many, is no drift. */
#define DRIFT		1000

/* The same of two clocks of one recording: more is no drift, but a step. */
#define STEP		5000

/* Fractions of a nanosecond that are kept. */
#define FINE		1024

/* Limits that keep products within 128 bits: nanoseconds, and ticks since START. */
#define RUN_MAX		(1ull << 55)
#define TICKS_MAX	(1ull << 60)

static int open_input(struct merge *merge, struct input *in)
{
	struct nexus_options options = { 0 };

	if (merge_read_meta(merge, in))
		return -1;
	options.src_bits = (unsigned int)in->meta.src_bits;
	options.ts_width = merge_width(in);
	options.ts_scheme = in->meta.ts_scheme == NEXUS_TS_DELTA ? NEXUS_TS_DELTA : NEXUS_TS_XOR;
	if (nexus_init(&in->nexus, &options)) {
		report("%s: its side-car file has no valid srcbits and ts_width", in->path);
		return -1;
	}
	in->fd = open(in->path, O_RDONLY | O_CLOEXEC);
	if (in->fd >= 0)
		return 0;
	report("%s: cannot read: %s", in->path, strerror(errno));
	return -1;
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

/* The trace with the lowest hart: the library reads its clock for times in side-car files. */
static const struct input *find_base(const struct merge *merge)
{
	const struct input *found = merge->input[0];
	int lowest = INT_MAX;
	unsigned int i;
	size_t n;

	for (i = 0; i < merge->inputs; i++)
		for (n = 0; n < merge->input[i]->meta.sources; n++)
			if (merge->input[i]->meta.source[n].hart < lowest) {
				lowest = merge->input[i]->meta.source[n].hart;
				found = merge->input[i];
			}
	return found;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * Ticks from START to STOP: the rate says how often a narrow timestamp has wrapped. Returns
 * -1 if the clock has not run at that rate.
 */
static int measure(const struct merge *merge, struct input *in)
{
	const uint64_t mask = ~0ull >> (64 - merge->width);
	const uint64_t ns = in->stop.ns - in->start.ns;
	const unsigned __int128 product = (unsigned __int128)ns * in->meta.ts_hz;
	const uint64_t expected = (uint64_t)(product / NS_PER_SEC);
	const uint64_t slack = (uint64_t)((unsigned __int128)(in->start.within + in->stop.within) *
					  in->meta.ts_hz / NS_PER_SEC) + 2;
	uint64_t low = (in->stop.time - in->start.time - expected) & mask;
	/* By how much the clock is fast, between - half and half of the range. */
	int64_t fast = (int64_t)(low << (64 - merge->width)) >> (64 - merge->width);

	in->ticks = expected + (uint64_t)fast;
	if (ns <= RUN_MAX && product / NS_PER_SEC < TICKS_MAX && in->ticks &&
	    difference(in->ticks, expected) <= slack + expected / DRIFT)
		return 0;
	report("%s: its clock has not run at %" PRIu64 " Hz: its times cannot be compared with others",
	       in->path, in->meta.ts_hz);
	return -1;
}

/* Whether a clock has run as fast as the common one, but for drift and errors of reading. */
static bool runs_evenly(const struct merge *merge, const struct input *in)
{
	const struct input *base = merge->base;
	const uint64_t errors = in->start.within + in->stop.within + base->start.within +
				base->stop.within;
	const unsigned __int128 product = (unsigned __int128)base->ticks *
					  (in->stop.ns - in->start.ns);
	const uint64_t expected = (uint64_t)(product / (base->stop.ns - base->start.ns));
	const uint64_t slack = (uint64_t)((unsigned __int128)errors * in->meta.ts_hz /
					  NS_PER_SEC) + 4;

	return difference(in->ticks, expected) <= slack + expected / STEP;
}

/* Ticks of the common clock at which @since ticks of the trace's own have passed. */
static uint64_t common_time(const struct merge *merge, const struct input *in, uint64_t since)
{
	const struct input *base = merge->base;
	__int128 ns, product;

	if (in == base)
		return base->start.time + since;
	product = (__int128)(int64_t)since * (int64_t)(in->stop.ns - in->start.ns);
	/* Keep fractions of a nanosecond. */
	ns = product * FINE / (int64_t)in->ticks +
	     (__int128)(int64_t)(in->start.ns - base->start.ns) * FINE;
	product = ns * (int64_t)base->ticks / (int64_t)(base->stop.ns - base->start.ns);
	return base->start.time + (uint64_t)(int64_t)(product / FINE);
}

static int set_clocks(struct merge *merge)
{
	const uint64_t tick = NS_PER_SEC / merge->input[0]->meta.ts_hz + 1;
	uint64_t within;
	unsigned int i;

	merge->base = find_base(merge);
	for (i = 0; i < merge->inputs; i++)
		if (measure(merge, merge->input[i]))
			return -1;
	for (i = 0; i < merge->inputs; i++) {
		const struct input *in = merge->input[i];

		if (!runs_evenly(merge, in)) {
			report("%s: its clock has not run evenly with that of %s: it has stopped or restarted meanwhile",
			       in->path, merge->base->path);
			return -1;
		}
		within = in->start.within > in->stop.within ? in->start.within : in->stop.within;
		if (within > merge->within)
			merge->within = within;
	}
	/* Of two traces, each may be wrong by that, and by a tick. */
	merge->within = 2 * (merge->within + tick);
	return 0;
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

	got = read(in->fd, in->chunk, sizeof(in->chunk));
	if (got < 0) {
		report("%s: cannot read: %s", in->path, strerror(errno));
		return -1;
	}
	if (got)
		nexus_feed(&in->nexus, in->chunk, (size_t)got);
	else
		nexus_end(&in->nexus);
	in->bytes += (uint64_t)got;
	in->ended = !got;
	return 1;
}

/*
 * The time of a message on the trace's own clock, in ticks since START. A source's first
 * absolute time is near the latest time of the trace.
 */
static uint64_t since_start(const struct merge *merge, struct input *in)
{
	const struct nexus_message *message = &in->message;
	const unsigned int src = message->src;
	uint64_t low;

	if (!in->begun[src]) {
		low = message->time - in->start.time - in->since;
		low <<= 64 - merge->width;
		in->origin[src] = message->time - in->since -
				  (uint64_t)((int64_t)low >> (64 - merge->width));
		in->begun[src] = true;
	}
	return message->time - in->origin[src];
}

/* Why a message cannot be merged, NULL if it can. */
static const char *check_message(struct input *in)
{
	const struct nexus_message *message = &in->message;
	bool *doubtful = &in->doubtful[message->src];

	if (message->flags & NEXUS_UNKNOWN_TCODE)
		return "a message of unknown type";
	if (in->source[message->src] == NO_SOURCE)
		return "a message of an encoder that the side-car file does not list";
	*doubtful |= message->tcode == NEXUS_ERROR;
	/* After an Error message a timestamp may be missing. */
	if (message->flags & NEXUS_CONTRARY && !*doubtful)
		return "a time that contradicts earlier ones";
	if (message->flags & NEXUS_SYNC && message->flags & NEXUS_TIMESTAMP)
		*doubtful = false;
	return NULL;
}

/* Reads the next message; @more is false at the end. */
static int next(const struct merge *merge, struct input *in)
{
	struct nexus_message *message = &in->message;
	enum nexus_item item;
	const char *why;
	uint64_t since;
	int more;

	while ((item = nexus_next(&in->nexus, message)) == NEXUS_MORE) {
		more = in->ended ? 0 : fill(in);
		in->more = more > 0;
		if (more <= 0)
			return more;
	}
	/* A buffer that is full ends so. */
	if (item == NEXUS_GAP && message->gap == NEXUS_GAP_TRUNCATED) {
		in->cut = true;
		in->more = false;
		return 0;
	}
	if (item == NEXUS_GAP)
		return damaged(in, nexus_gap_name(message->gap));
	why = check_message(in);
	if (why)
		return damaged(in, why);
	if (!(message->flags & NEXUS_TIME_KNOWN))
		return 0;
	since = since_start(merge, in);
	if ((int64_t)since > (int64_t)(in->ticks + in->meta.ts_hz) ||
	    (int64_t)since < -(int64_t)in->meta.ts_hz)
		return damaged(in, "a time outside of the recording");
	if ((int64_t)(since - in->since) > 0)
		in->since = since;
	message->time = common_time(merge, in, since);
	if ((int64_t)(message->time - in->time) > 0)
		in->time = message->time;
	return 0;
}

/* What a reader takes for the time after @before, of which it sees the low bits alone. */
static uint64_t read_back(const struct merge *merge, uint64_t before, uint64_t time)
{
	const uint64_t mask = merge->to.ts_mask, half = mask ^ mask >> 1;
	uint64_t next = (before & ~mask) | (time & mask);

	if (merge->to.ts_scheme == NEXUS_TS_DELTA)
		return before + ((time - before) & mask);
	return next < before && (next ^ before) & half ? next + mask + 1 : next;
}

/*
 * The timestamp of a message, as it is written. Returns -1 if the time would be read as
 * another one: the shift has moved a wrap into a long pause.
 */
static int stamp(const struct merge *merge, struct input *in, uint64_t *timestamp)
{
	const unsigned int src = in->message.src;
	const uint64_t time = in->message.time, before = in->written[src];

	in->written[src] = time;
	*timestamp = time;
	if (in->known[src] && read_back(merge, before, time) != time)
		return damaged(in, "a pause of half the range of a timestamp, or more");
	in->known[src] |= in->message.flags & NEXUS_SYNC;
	if (!(in->message.flags & NEXUS_SYNC))
		*timestamp = merge->to.ts_scheme == NEXUS_TS_DELTA ? time - before :
								     time ^ before;
	return 0;
}

static int write_message(struct merge *merge, struct input *in, struct output *out)
{
	uint8_t bytes[NEXUS_ENCODED_MAX];
	struct nexus_message message = in->message;
	uint64_t timestamp = 0;
	size_t length;

	if (message.flags & NEXUS_TIMESTAMP && stamp(merge, in, &timestamp))
		return -1;
	message.src = in->source[message.src];
	length = nexus_encode(&merge->to, &message, timestamp, bytes);
	if (!length || length > NEXUS_MESSAGE_MAX)
		return damaged(in, "a message longer than an encoder's");
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
		rc = next(merge, merge->input[i]);
	}
	while (!rc && (in = earliest(merge))) {
		rc = write_message(merge, in, out);
		if (!rc)
			rc = next(merge, in);
	}
	return rc;
}

/* ---- the command ---------------------------------------------------------- */

static int write_trace(struct merge *merge, const char *path)
{
	struct nexus_options options = {
		.src_bits = merge_source_bits(merge), .ts_width = merge->width,
		.ts_scheme = merge->input[0]->nexus.ts_scheme,
	};
	struct output *out;
	int rc;

	if (nexus_init(&merge->to, &options))
		return -1;
	out = output_open(path);
	if (!out)
		return -1;
	rc = write_messages(merge, out);
	return output_close(out) || rc ? -1 : 0;
}

/* Puts a file that is complete in its place. */
static int put_in_place(const char *from, const char *to)
{
	if (!rename(from, to))
		return 0;
	report("%s: cannot write: %s", to, strerror(errno));
	return -1;
}

/* A new file beside @path, whose name it sets; 0, or -1: the error has been printed. */
static int make_file(char *name, size_t size, const char *path)
{
	const mode_t mask = umask(0);
	int fd;

	umask(mask);
	snprintf(name, size, "%s.XXXXXX", path);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		report("%s: cannot write: %s", path, strerror(errno));
		*name = '\0';
		return -1;
	}
	fchmod(fd, 0666 & ~mask);
	close(fd);
	return 0;
}

/* Both files are written beside their places: an error leaves what was there. */
static int write_both(struct merge *merge, const char *trace, const char *meta)
{
	char final[PATH_MAX + 8];

	snprintf(final, sizeof(final), "%s.meta", merge->output);
	if (write_trace(merge, trace) || merge_write_meta(merge, meta))
		return -1;
	/* A trace without side-car file is better than with another's. */
	unlink(final);
	return put_in_place(trace, merge->output) || put_in_place(meta, final) ? -1 : 0;
}

static int merge_all(struct merge *merge)
{
	char trace[PATH_MAX + 8] = "", meta[PATH_MAX + 8] = "";
	int rc;

	merge->width = merge_width(merge->input[0]);
	if (number_sources(merge) || set_clocks(merge))
		return -1;
	rc = make_file(trace, sizeof(trace), merge->output) ||
	     make_file(meta, sizeof(meta), merge->output) || write_both(merge, trace, meta);
	if (!rc)
		return 0;
	if (*trace)
		unlink(trace);
	if (*meta)
		unlink(meta);
	return -1;
}

/* The output is a regular file that is not an input, nor a side-car file of one. */
static int check_output(const struct merge *merge, char **paths)
{
	char meta[PATH_MAX + 8], own[PATH_MAX + 8];
	struct stat status;

	if (strlen(merge->output) >= PATH_MAX || !strcmp(merge->output, "-") ||
	    (!stat(merge->output, &status) && !S_ISREG(status.st_mode))) {
		report("%s: merge writes a regular file, and a side-car file beside it: name one with -o",
		       merge->output);
		return -1;
	}
	snprintf(own, sizeof(own), "%s.meta", merge->output);
	for (; *paths; paths++) {
		if (strlen(*paths) >= PATH_MAX) {
			report("%s: the name is too long", *paths);
			return -1;
		}
		snprintf(meta, sizeof(meta), "%s.meta", *paths);
		if (!output_spares(merge->output, *paths) || !output_spares(merge->output, meta) ||
		    !output_spares(own, *paths) || !output_spares(own, meta))
			return -1;
	}
	return 0;
}

static void tell(const struct merge *merge)
{
	unsigned int i;

	for (i = 0; i < merge->inputs; i++)
		if (merge->input[i]->cut)
			report("%s: its last message is cut off", merge->input[i]->path);
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
	rc = check_output(&merge, argv + optind);
	if (!rc)
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
	.help = "Where harts do not share a sink, record writes a trace for each sink. Merge makes one trace of them, with all threads' calls across all harts: times are moved to one clock, by what the driver has read of all clocks at its start and end.",
	.groups = merge_groups,
	.status = "Exit status: 0 done, 2 wrong usage, 3 input or output error, or traces that cannot be merged.",
};

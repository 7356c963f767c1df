// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Merges the traces of a recording's sinks. Sources are renumbered, and times are converted to the
 * clock of the trace with the lowest hart, using the driver's readings of all clocks at START and
 * STOP. Messages are written in chronological order.
 */
#include <errno.h>
#include <fcntl.h>
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
#include "progress.h"
#include "utc.h"

/* Largest plausible drift: the rate of a clock is wrong by at most one part in DRIFT. */
#define DRIFT		1000

/* Like DRIFT, but between two clocks of a recording; a larger difference is a step, not a drift. */
#define STEP		5000

/* Units per nanosecond in intermediate results. */
#define FINE		1024

/* Limits on nanoseconds, and on ticks since START, so that products fit in 128 bits. */
#define RUN_MAX		(1ull << 55)
#define TICKS_MAX	(1ull << 60)

static int open_input(struct merge *merge, struct input *in)
{
	struct nexus_options options = { 0 };
	struct stat status;

	if (stat(in->path, &status)) {
		report("%s: cannot read: %s", in->path, strerror(errno));
		return -1;
	}
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
	if (in->fd < 0) {
		report("%s: cannot read: %s", in->path, strerror(errno));
		return -1;
	}
	merge->size += (uint64_t)status.st_size;
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

/* Return the trace with the lowest hart, because the times in side-car files are on its clock. */
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
 * Set the number of ticks from START to STOP. The nominal rate determines how many times a narrow
 * timestamp has wrapped. Return 0, or -1 after reporting that the clock did not run at that rate.
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
	/* Ticks by which the clock is ahead, from minus half its range to half its range. */
	int64_t fast = (int64_t)(low << (64 - merge->width)) >> (64 - merge->width);

	in->ticks = expected + (uint64_t)fast;
	if (ns <= RUN_MAX && product / NS_PER_SEC < TICKS_MAX && in->ticks &&
	    difference(in->ticks, expected) <= slack + expected / DRIFT)
		return 0;
	report("%s: its clock did not run at %" PRIu64 " Hz: its times cannot be compared with others",
	       in->path, in->meta.ts_hz);
	return -1;
}

/* Return whether a clock ran at the common clock's rate, allowing for drift and read errors. */
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

/*
 * Return the ticks of the common clock that correspond to @since ticks of the trace's own clock.
 */
static uint64_t common_time(const struct merge *merge, const struct input *in, uint64_t since)
{
	const struct input *base = merge->base;
	__int128 ns, product;

	if (in == base)
		return base->start.time + since;
	product = (__int128)(int64_t)since * (int64_t)(in->stop.ns - in->start.ns);
	/* Keep the fraction of a nanosecond. */
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
			report("%s: its clock drifted too far from that of %s: it stopped or restarted during the capture",
			       in->path, merge->base->path);
			return -1;
		}
		within = in->start.within > in->stop.within ? in->start.within : in->stop.within;
		if (within > merge->within)
			merge->within = within;
	}
	/* Each of two clocks may be wrong by this much, plus one tick. */
	merge->within = utc_add(merge->within, tick);
	merge->within = utc_add(merge->within, merge->within);
	return 0;
}

/* ---- messages ------------------------------------------------------------- */

/* End the progress line, so that an error message begins on a new line. */
static void end_progress(struct merge *merge)
{
	progress_end(merge->progress);
	merge->progress = NULL;
}

static int damaged(struct merge *merge, const struct input *in, const char *what)
{
	end_progress(merge);
	report("%s: offset 0x%" PRIx64 ": %s: a merged trace would hide it; read this trace separately",
	       in->path, in->message.offset, what);
	return -1;
}

static int fill(struct merge *merge, struct input *in)
{
	ssize_t got;

	got = read(in->fd, in->chunk, sizeof(in->chunk));
	if (got < 0) {
		end_progress(merge);
		report("%s: cannot read: %s", in->path, strerror(errno));
		return -1;
	}
	if (got)
		nexus_feed(&in->nexus, in->chunk, (size_t)got);
	else
		nexus_end(&in->nexus);
	in->bytes += (uint64_t)got;
	merge->read += (uint64_t)got;
	progress_show(merge->progress, merge->read);
	in->ended = !got;
	return 1;
}

/*
 * Return the time of a message on the trace's own clock, in ticks since START. A source's first
 * absolute time, which may have wrapped, is assumed to be near the trace's latest time.
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

/* Return the reason that a message cannot be merged, or NULL if it can. */
static const char *check_message(struct input *in)
{
	const struct nexus_message *message = &in->message;
	bool *doubtful = &in->doubtful[message->src];

	if (message->flags & NEXUS_UNKNOWN_TCODE)
		return "a message of unknown type";
	if (in->source[message->src] == NO_SOURCE)
		return "a message of an encoder that the side-car file does not list";
	*doubtful |= message->tcode == NEXUS_ERROR;
	/*
	 * A contradiction after an Error message is not damage, because a timestamp may be missing.
	 */
	if (message->flags & NEXUS_CONTRARY && !*doubtful)
		return "a time that contradicts earlier ones";
	if (nexus_is_absolute(message))
		*doubtful = false;
	return NULL;
}

/* Read the next message, or clear @more at the end. */
static int next(struct merge *merge, struct input *in)
{
	struct nexus_message *message = &in->message;
	enum nexus_item item;
	const char *why;
	uint64_t since;
	int more;

	while ((item = nexus_next(&in->nexus, message)) == NEXUS_MORE) {
		more = in->ended ? 0 : fill(merge, in);
		in->more = more > 0;
		if (more <= 0)
			return more;
	}
	/* A full buffer can end within a message. */
	if (item == NEXUS_GAP && message->gap == NEXUS_GAP_TRUNCATED) {
		in->cut = true;
		in->more = false;
		return 0;
	}
	if (item == NEXUS_GAP)
		return damaged(merge, in, nexus_gap_name(message->gap));
	why = check_message(in);
	if (why)
		return damaged(merge, in, why);
	if (!(message->flags & NEXUS_TIME_KNOWN))
		return 0;
	since = since_start(merge, in);
	if ((int64_t)since > (int64_t)(in->ticks + in->meta.ts_hz) ||
	    (int64_t)since < -(int64_t)in->meta.ts_hz)
		return damaged(merge, in, "a time outside the recording");
	if ((int64_t)(since - in->since) > 0)
		in->since = since;
	message->time = common_time(merge, in, since);
	if ((int64_t)(message->time - in->time) > 0)
		in->time = message->time;
	return 0;
}

/*
 * Return the time that a reader infers from the low bits of @time, if the previous time was
 * @before.
 */
static uint64_t read_back(const struct merge *merge, uint64_t before, uint64_t time)
{
	const uint64_t mask = merge->to.ts_mask, half = mask ^ mask >> 1;
	uint64_t next = (before & ~mask) | (time & mask);

	if (merge->to.ts_scheme == NEXUS_TS_DELTA)
		return before + ((time - before) & mask);
	return next < before && (next ^ before) & half ? next + mask + 1 : next;
}

/*
 * Compute the timestamp to write. Return -1 if a reader would infer another time, because the
 * conversion to another clock has moved a wraparound into a long pause.
 */
static int stamp(struct merge *merge, struct input *in, uint64_t *timestamp)
{
	const unsigned int src = in->message.src;
	const uint64_t time = in->message.time, before = in->written[src];

	in->written[src] = time;
	*timestamp = time;
	if (in->known[src] && read_back(merge, before, time) != time)
		return damaged(merge, in, "a pause of half the range of a timestamp, or more");
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
		return damaged(merge, in, "a message longer than an encoder can send");
	put_bytes(out, bytes, length);
	merge->messages++;
	merge->bytes += length;
	return output_failed(out) ? -1 : 0;
}

/* Return the trace whose next message is the earliest, or NULL if all traces have ended. */
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

int merge_write(struct merge *merge, struct output *out)
{
	struct nexus_options options = {
		.src_bits = merge_source_bits(merge), .ts_width = merge->width,
		.ts_scheme = merge->input[0]->nexus.ts_scheme,
	};
	int rc;

	if (nexus_init(&merge->to, &options))
		return -1;
	if (!merge->quiet && !merge->hidden)
		merge->progress = progress_of(merge->size);
	rc = write_messages(merge, out);
	end_progress(merge);
	return rc;
}

/* ---- the whole merge ------------------------------------------------------------ */

/* Return whether this trace is already open. */
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

int merge_check_name(const char *path)
{
	if (strlen(path) < PATH_MAX)
		return 0;
	report("%s: the name is too long", path);
	return -1;
}

static int open_inputs(struct merge *merge, char **paths, unsigned int count)
{
	struct input *in;
	unsigned int i;

	merge->input = calloc(count, sizeof(struct input *));
	for (i = 0; i < count; i++) {
		if (merge_check_name(paths[i]))
			return -1;
		if (is_open(merge, paths[i])) {
			report("%s: given twice", paths[i]);
			return -1;
		}
		in = merge->input ? calloc(1, sizeof(*in)) : NULL;
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

int merge_open(struct merge *merge, char **paths, unsigned int count)
{
	if (open_inputs(merge, paths, count))
		return -1;
	merge->width = merge_width(merge->input[0]);
	return number_sources(merge) || set_clocks(merge) ? -1 : 0;
}

void merge_tell(const struct merge *merge, const char *next)
{
	unsigned int i;

	for (i = 0; i < merge->inputs; i++)
		if (merge->input[i]->cut)
			report("%s: its last message is cut off", merge->input[i]->path);
	report("%s: %" PRIu64 " messages of %u traces, %u encoders; their clocks agree within %" PRIu64
	       " ns%s%s", merge->output, merge->messages, merge->inputs, merge->sources,
	       merge->within, next ? ": sifive-trace report " : "", next ? next : "");
}

static void close_input(struct input *in)
{
	if (in->fd >= 0)
		close(in->fd);
	json_object_put(in->json);
	meta_free(&in->meta);
	free(in);
}

void merge_close(struct merge *merge)
{
	while (merge->inputs)
		close_input(merge->input[--merge->inputs]);
	free(merge->input);
}

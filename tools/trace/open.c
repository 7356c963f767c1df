// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Opens a trace, and infers how to decode it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "resume.h"
#include "state.h"

/* Number of skipped bytes to keep, because they may contain a header and its first record. */
#define TAIL	(8u << 10)

/* Number of chunks to search after the first if there are messages but no records. */
#define CHUNKS_AHEAD	16
/*
 * Maximum size in bytes of a trace whose stores all fit in the queue, where times can be corrected.
 */
#define SMALL	(24u << 10)

void trace_start_clocks(struct trace *trace)
{
	unsigned int src;

	for (src = 0; src < NEXUS_SOURCES; src++)
		if (trace->times.known[src])
			nexus_set_time(&trace->nexus, src,
				       trace->times.time[src], TIME_INFERRED);
}

int trace_fill(struct trace *trace)
{
	int error = source_fill(&trace->in);

	trace->stats.bytes = trace->in.bytes;
	return error;
}

static int fill_up(struct trace *trace)
{
	int error = source_fill_up(&trace->in);

	trace->stats.bytes = trace->in.bytes;
	return error;
}

/* The user's settings override the side-car file, which overrides the defaults. */
static int choose(int said, int meta, int otherwise)
{
	if (said >= 0)
		return said;
	return meta >= 0 ? meta : otherwise;
}

static uint32_t choose_channels(const struct trace_options *options,
				const struct meta *meta)
{
	/* The channel of context switches contains no records of calls. */
	uint32_t all = meta->switches < 0 ? ~0u : ~(1u << meta->switches), channels = 0;
	size_t i;

	if (options->channel == TRACE_ALL_CHANNELS)
		return all;
	if (options->channel >= 0)
		return 1u << options->channel;
	if (meta->early)
		return all;
	for (i = 0; i < meta->threads; i++)
		if (meta->thread[i].channel >= 0)
			channels |= 1u << meta->thread[i].channel;
	if (meta->channel >= 0)
		channels |= 1u << meta->channel;
	if (meta->sampling.channel >= 0)
		channels |= 1u << meta->sampling.channel;
	return channels ? channels : 1u << PERFREC_CHANNEL_DEFAULT;
}

/* Return whether all bytes are the same, like idle bytes or memory that was never written. */
static bool is_blank(const struct trace *trace)
{
	return trace->in.filled && !memcmp(trace->in.buffer, trace->in.buffer + 1,
					trace->in.filled - 1);
}

static int cannot_read(const struct trace *trace)
{
	report("%s: cannot read: %s", trace->in.path, strerror(errno));
	return -1;
}

/*
 * Return whether the whole trace is in the buffer, and its times can be corrected without reading
 * ahead: the queue has room for all stores of a small trace, unless other messages fill it.
 */
static bool is_small(const struct trace *trace)
{
	unsigned int others = 0;
	bool begins = true;
	size_t i;

	if (trace->in.filled > SMALL || trace->head.whole)
		return false;
	for (i = 0; i < trace->in.filled; i++) {
		others += begins && trace->in.buffer[i] >> 2 != NEXUS_DATA_ACQUISITION;
		begins = (trace->in.buffer[i] & 3) == 3;
	}
	return others < CLOCKS_EVENTS;
}

/*
 * Reconstruct the state that a ring has overwritten. Any trace whose first time depends on an
 * earlier time is treated as a ring.
 */
static int set_up_ring(struct trace *trace, const struct nexus_options *nexus,
		       const struct meta *meta)
{
	struct perfrec_header header;

	trace->wrapped = nexus->ring || meta->wrapped > 0;
	perfrec_repeat(trace->perfrec, ~0u, meta->header_interval);
	if (meta->sampling.channel >= 0)
		perfrec_repeat(trace->perfrec, 1u << meta->sampling.channel,
			       meta->sampling.header_interval);
	/*
	 * Without an assumed header, the layout of records without a header is guessed, and their
	 * addresses are unknown.
	 */
	if (ring_header(meta, &header) &&
	    (trace->wrapped || header.count_type == PERFREC_DELTA_XOR) &&
	    perfrec_assume(trace->perfrec, &header, trace->wrapped)) {
		report("%s: out of memory", trace->in.path);
		return -1;
	}
	if (resume_clocks(&trace->nexus, meta)) {
		trace->stats.absolute = true;
		return 0;
	}
	/* Reconstructing the times requires that the trace can be read more than once. */
	if (trace->in.fd == STDIN_FILENO || lseek(trace->in.fd, 0, SEEK_CUR) < 0)
		return 0;
	if (!trace->wrapped && !ring_begins(trace->in.buffer, trace->in.filled, nexus))
		return !is_small(trace) && head_read(&trace->head, trace->in.fd, nexus) ?
		       cannot_read(trace) : 0;
	if (ring_times(trace->in.fd, nexus, &trace->times))
		return cannot_read(trace);
	trace->stats.worked_out = trace->times.worked_out;
	trace->stats.contrary = trace->times.contrary;
	if (!nexus->ring)
		trace_start_clocks(trace);
	return 0;
}

/*
 * State of the search for the SRC width. The first bytes may be damaged or blank, so later bytes
 * are searched, too. @src_bits is -1 until a width is found; @records is set once the width yields
 * records.
 */
struct look {
	int	src_bits;
	bool	records;
	bool	idle;		/* all bytes were idle */
};

static void look(struct trace *trace, const struct nexus_options *nexus,
		 struct look *look)
{
	bool records;
	int found;

	look->idle &= is_blank(trace) && trace->in.buffer[0] == 0xff;
	if (is_blank(trace))
		return;
	found = infer_src_bits(trace->in.buffer, trace->in.filled, nexus, &records);
	if (found < 0 || (look->src_bits >= 0 && !records))
		return;
	look->src_bits = found;
	look->records = records;
}

/*
 * Search later chunks of a file, then go back to its beginning. Return 0, or -1 after printing an
 * error.
 */
static int look_ahead(struct trace *trace, const struct nexus_options *nexus,
		      off_t start, struct look *found)
{
	unsigned int chunks = 0;

	while (trace->in.filled && !found->records &&
	       (found->src_bits < 0 || chunks++ < CHUNKS_AHEAD)) {
		if (trace_fill(trace))
			return -1;
		if (trace->in.filled)
			look(trace, nexus, found);
	}
	return source_rewind(&trace->in, start) ? -1 : trace_fill(trace);
}

/*
 * Continue the search in an input that can be read only once, and skip all but the last of the
 * searched bytes. Return 0, or -1 after printing an error.
 */
static int look_on(struct trace *trace, const struct nexus_options *nexus,
		   struct look *found)
{
	size_t gone, i;

	while (found->src_bits < 0 &&
	       (trace->in.filled == SOURCE_CHUNK || trace->in.paused)) {
		gone = trace->in.filled == SOURCE_CHUNK ? SOURCE_CHUNK - TAIL : 0;
		for (i = 0; i < gone; i++)
			trace->skipped += trace->in.buffer[i] != 0xff;
		trace->in.filled -= gone;
		memmove(trace->in.buffer, trace->in.buffer + gone, trace->in.filled);
		if (fill_up(trace))
			return -1;
		look(trace, nexus, found);
	}
	return 0;
}

static int find_src_bits(struct trace *trace, const struct nexus_options *nexus,
			 off_t start, int *src_bits, bool *idle)
{
	struct look found = { .src_bits = -1, .idle = true };
	bool file = start >= 0 && trace->in.file;

	look(trace, nexus, &found);
	if (trace->in.filled == SOURCE_CHUNK && !found.records &&
	    (file ? look_ahead(trace, nexus, start, &found) :
		    look_on(trace, nexus, &found)))
		return -1;
	*src_bits = found.src_bits;
	*idle = found.idle;
	return 0;
}

/*
 * Read a pipe until its bytes suffice to infer how to decode it, the buffer is full, or the pipe
 * ends. Return 0, or -1 after printing an error.
 */
static int fill_first(struct trace *trace, const struct nexus_options *nexus,
		      bool src_known, bool scheme_known)
{
	int error = trace_fill(trace);

	while (!error && trace->in.paused &&
	       !infer_is_clear(trace->in.buffer, trace->in.filled, nexus, src_known,
			       scheme_known))
		error = fill_up(trace);
	return error;
}

static int set_up(struct trace *trace, const struct trace_options *options,
		  const struct meta *meta)
{
	struct nexus_options nexus = { 0 };
	struct trace_stats *stats = &trace->stats;
	bool idle = false;
	int src_bits, scheme;
	off_t start;

	start = lseek(trace->in.fd, 0, SEEK_CUR);
	nexus.ts_width = (unsigned int)choose(options->ts_width, meta->ts_width, 0);
	/* Ignore the side-car file's "wrapped": the driver's rings begin with a whole message. */
	nexus.ring = options->ring;
	src_bits = choose(options->src_bits, meta->src_bits, -1);
	nexus.src_bits = src_bits < 0 ? 0 : (unsigned int)src_bits;
	scheme = choose(options->ts_scheme, meta->ts_scheme, -1);
	if (fill_first(trace, &nexus, src_bits >= 0, scheme >= 0))
		return -1;
	if (!trace->in.filled) {
		report("%s: empty: nothing was recorded", trace->in.path);
		return -1;
	}

	trace->channels = choose_channels(options, meta);

	stats->src_from = options->src_bits >= 0 ? "as given" : "from the side-car file";
	if (src_bits < 0) {
		stats->src_from = "inferred";
		if (find_src_bits(trace, &nexus, start, &src_bits, &idle))
			return -1;
	}
	if (src_bits < 0 && idle) {
		report("%s: only idle bytes: nothing was recorded",
		       trace->in.path);
		return -1;
	}
	if (src_bits < 0) {
		report("%s: not a trace, or damaged: no value of srcbits makes most of its messages valid; use -s N to read it regardless",
		       trace->in.path);
		return -1;
	}
	nexus.src_bits = (unsigned int)src_bits;
	if (scheme < 0) {
		scheme = (int)infer_ts_scheme(trace->in.buffer, trace->in.filled, &nexus);
		stats->scheme_inferred = scheme == NEXUS_TS_DELTA;
	}
	nexus.ts_scheme = (enum nexus_ts_scheme)scheme;
	trace->clocks.mask = ~0ull >> (64 - (nexus.ts_width ? nexus.ts_width :
						 NEXUS_TS_WIDTH_DEFAULT));
	head_init(&trace->head, meta, trace->clocks.mask);
	nexus.offset = trace->stats.bytes - trace->in.filled;
	stats->src_bits = nexus.src_bits;
	if (nexus_init(&trace->nexus, &nexus)) {
		report("%s: srcbits must be 0 to %d, and ts_width 1 to 64",
		       trace->in.path, NEXUS_SRC_BITS_MAX);
		return -1;
	}
	return set_up_ring(trace, &nexus, meta);
}

struct trace *trace_take(int fd, const char *path, const struct trace_options *options,
			 const struct meta *meta)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	size_t i;

	if (!trace) {
		report("%s: out of memory", path);
		close(fd);
		return NULL;
	}
	source_take(&trace->in, fd, path, options->follow);
	trace->meta = meta;
	trace->clocks.store = trace->queue;
	trace->jobs = options->jobs > 1 ? (unsigned int)options->jobs : 1;
	switches_init(&trace->stats.switches, meta);
	memset(trace->rest, 0xff, sizeof(trace->rest));
	for (i = 0; i < meta->rests; i++)
		trace->rest[meta->rest[i].channel][meta->rest[i].src] = meta->rest[i].offset;
	trace->perfrec = perfrec_new(&trace->perfrec_ops, trace);
	if (!trace->perfrec)
		report("%s: out of memory", path);
	if (!trace->perfrec || set_up(trace, options, meta)) {
		trace_close(trace);
		return NULL;
	}
	if (!options->quiet && !options->watched)
		trace->progress = progress_new(trace->in.fd);
	return trace;
}

struct trace *trace_open(const char *path, const struct trace_options *options,
			 const struct meta *meta)
{
	const int fd = source_open(path);

	return fd < 0 ? NULL : trace_take(fd, path, options, meta);
}

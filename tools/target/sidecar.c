// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See sidecar.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../command.h"
#include "../trace/meta.h"
#include "files.h"
#include "machine.h"
#include "sidecar.h"

/* Number of times to read the wall clock. */
#define UTC_TRIES	8

/* Begins the part of the text that differs between the pieces of a recording. */
#define PIECE		",\n\"piece\":"

/* Begins the coverage and losses, in this command's side-car files and in the library's. */
#define COVERAGE	",\n\"coverage\":{"

/* Copy the contents of a file to @out. */
static int put_file(struct output *out, const char *path)
{
	FILE *file = fopen(path, "re");
	char text[4096];
	size_t got;

	if (!file) {
		report("%s: %s", path, strerror(errno));
		return -1;
	}
	while ((got = fread(text, 1, sizeof(text), file)))
		put_bytes(out, text, got);
	fclose(file);
	return 0;
}

static void put_sources(int fd, const struct sifive_trace_sink *sink,
			struct output *out)
{
	struct sifive_trace_encoder encoder;
	bool layout = false;
	const char *between = "";
	uint32_t i;

	put_string(out, "\"sources\":[");
	for (i = 0; machine_encoder(fd, i, &encoder); i++) {
		if (!(sink->encoders >> i & 1))
			continue;
		layout |= encoder.flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS;
		put_format(out, "%s{\"src\":%u,\"hart\":%" PRIu64 ",\"cpu\":%d}",
			   between, encoder.src, (uint64_t)encoder.hart,
			   encoder.cpu);
		between = ",";
	}
	put_format(out, "],\n\"ts_channels\":%s,\n", layout ? "true" : "false");
}

/* Write the machine's name, and its model as firmware reports it to the kernel. */
static void put_machine(struct output *out)
{
	struct utsname name;
	char board[128];

	machine_file("/proc/device-tree/model", board, sizeof(board));
	if (!*board)
		machine_file("/sys/class/dmi/id/product_name", board, sizeof(board));
	/* The kernel reports this if the machine's name is not set. */
	if (!uname(&name) && strcmp(name.nodename, "(none)")) {
		put_string(out, "\"host\":");
		put_json(out, name.nodename);
		put_string(out, ",\n");
	}
	if (*board) {
		put_string(out, "\"board\":");
		put_json(out, board);
		put_string(out, ",\n");
	}
}

/* Number of processes that were not recorded. */
static uint64_t unrecorded;

void sidecar_unrecorded(uint64_t processes)
{
	unrecorded = processes;
}

static void put_losses(const struct sifive_trace_losses *losses,
		       const struct sifive_trace_status *status, uint32_t changed,
		       struct output *out)
{
	put_format(out, "\"lost\":{\"signals\":%" PRIu64 ",\"threads\":%" PRIu64
		   ",\"abandoned\":%" PRIu64 ",\"refused\":%" PRIu64
		   ",\"children\":%" PRIu64 ",\"samples\":%" PRIu64
		   ",\"dropped\":%" PRIu64 ",\"switches\":%" PRIu64
		   ",\"processes\":%" PRIu64 ",\"elsewhere\":%" PRIu64
		   ",\"wakeups\":%" PRIu64 ",\"encoders\":%u",
		   (uint64_t)(losses->signals + losses->queued), (uint64_t)losses->threads,
		   (uint64_t)losses->abandoned, (uint64_t)losses->refused,
		   (uint64_t)losses->children, (uint64_t)status->samples_lost,
		   (uint64_t)losses->dropped, (uint64_t)status->switches_lost,
		   (uint64_t)status->switches_processes, (uint64_t)status->switches_elsewhere,
		   (uint64_t)status->wakeups_elsewhere, changed);
	if (unrecorded)
		put_format(out, ",\"unrecorded\":%" PRIu64, unrecorded);
	put_string(out, "}");
	if (losses->shared)
		put_format(out, ",\n\"shared\":%" PRIu64, (uint64_t)losses->shared);
	put_string(out, "}\n");
}

/*
 * Write the losses that the session's program counted. The driver has these counts even if the
 * program could not write them.
 */
static void put_lost(int fd, const struct sifive_trace_status *status,
		     struct output *out)
{
	struct sifive_trace_losses losses = { .size = sizeof(losses) };

	if (ioctl(fd, SIFIVE_TRACE_IOC_LOSSES, &losses))
		report("%s: %s", machine_device(), strerror(errno));
	put_losses(&losses, status, machine_changed(status), out);
}

/* Write an error of 0, which coarse clocks report, as 1, because 0 stands for an unknown error. */
static void put_sample(uint64_t time, uint64_t ns, uint64_t within, struct output *out)
{
	put_format(out, "{\"time\":%" PRIu64 ",\"ns\":%" PRIu64 ",\"within\":%" PRIu64 "}",
		   time, ns, within + !within);
}

static int64_t clock_now(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * Write the wall-clock time at which the capture or piece ended, if the machine's clock is set. Read
 * the clocks several times, because another thread may run between two readings.
 */
static void put_utc(const struct sifive_trace_sink *sink, struct output *out)
{
	int64_t before, date, within, least = INT64_MAX, ns = 0;
	unsigned int i;

	if (!sink->time_ns)
		return;
	for (i = 0; i < UTC_TRIES; i++) {
		before = clock_now(CLOCK_MONOTONIC);
		date = clock_now(CLOCK_REALTIME);
		within = clock_now(CLOCK_MONOTONIC) - before;
		if (within >= least)
			continue;
		least = within;
		ns = date - before;
	}
	if (ns > 0)
		put_format(out, "\"utc\":{\"time\":%" PRIu64 ",\"ns\":%" PRIu64 ",\"within\":%" PRId64 "},\n",
			   (uint64_t)sink->time, (uint64_t)sink->time_ns + (uint64_t)ns,
			   least + !least);
}

/* Write the times at which data was lost. */
static void put_gaps(const struct sifive_trace_sink *sink, const struct drain *drain,
		     struct output *out)
{
	struct sifive_trace_info info = { .size = sizeof(info) };

	if (!ioctl(drain->control, SIFIVE_TRACE_IOC_INFO, &info))
		gaps_write(&drain->sink[sink->index].gaps, sink, info.ts_hz, info.ts_width, out);
}

/*
 * Write how much of a run of @ran nanoseconds the trace in a sink covers or, if @drain is not NULL,
 * the trace in the sink's file. @running: the recording continues.
 */
static void put_coverage(const struct sifive_trace_sink *sink, uint64_t ran,
			 const struct sifive_trace_status *status,
			 const struct drain *drain, bool running, struct output *out)
{
	put_format(out, "\"coverage\":{\"full\":%s,\"bytes\":%" PRIu64
		   ",\"buffer\":%" PRIu64 ",\"run_ns\":%" PRIu64
		   ",\"counters_lost\":%u,\"gaps\":%" PRIu64 ",\"gap_bytes\":%" PRIu64
		   ",\"limit\":%s,\"waits\":%" PRIu64 ",\"waited_ns\":%" PRIu64
		   ",\"fulls\":%" PRIu64 ",\"full_ns\":%" PRIu64
		   ",\"pauses\":%" PRIu64 ",\"paused_ns\":%" PRIu64,
		   sink->flags & SIFIVE_TRACE_STATUS_FULL ? "true" : "false",
		   (uint64_t)(sink->given + sink->bytes), (uint64_t)sink->buffer, ran,
		   status->counters_lost, (uint64_t)sink->gaps, (uint64_t)sink->lost,
		   drain && drain->over ? "true" : "false", (uint64_t)status->waits,
		   (uint64_t)status->waited, (uint64_t)status->fulls,
		   (uint64_t)status->full_ns, (uint64_t)status->pauses,
		   (uint64_t)status->paused);
	if (status->stalls)
		put_format(out, ",\"stalls\":%u", status->stalls);
	if (running)
		put_string(out, ",\"running\":true");
	if (drain)
		put_gaps(sink, drain, out);
	put_string(out, "},\n\"clock_samples\":[");
	put_sample(sink->start_time, sink->start_ns, sink->start_within, out);
	put_string(out, ",");
	put_sample(sink->time, sink->time_ns, sink->time_within, out);
	put_string(out, "],\n");
	put_utc(sink, out);
}

/* Close @out and rename its file, @whole, to @meta, which is unchanged on failure. */
static int replace(struct output *out, const char *whole, const char *meta)
{
	if (!output_close(out) && !rename(whole, meta))
		return 0;
	unlink(whole);
	return -1;
}

int sidecar_write(int fd, const char *trace, const struct sifive_trace_sink *sink,
		  const char *description, struct objects *objects,
		  const struct drain *drain, uint64_t ran, bool running)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	struct sifive_trace_info info = { .size = sizeof(info) };
	char path[SIDECAR_PATH], whole[SIDECAR_PATH + 4];
	struct output *out;
	int error;

	snprintf(path, sizeof(path), "%s.meta", trace);
	snprintf(whole, sizeof(whole), "%s.new", path);
	if (!machine_side_car()) {
		unlink(path);
		return 0;
	}
	out = files_open(whole);
	if (!out)
		return -1;
	error = ioctl(fd, SIFIVE_TRACE_IOC_INFO, &info) ||
		ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status);
	if (error)
		report("%s: %s", machine_device(), strerror(errno));
	put_format(out, "{\"version\":1,\n\"srcbits\":%u,\n\"ts_width\":%u,\n\"ts_hz\":%"
		   PRIu64 ",\n\"ts_scheme\":\"xor\",\n\"wrapped\":%s,\n",
		   sink->src_bits, info.ts_width, (uint64_t)info.ts_hz,
		   sink->flags & SIFIVE_TRACE_STATUS_WRAPPED ? "true" : "false");
	put_machine(out);
	put_sources(fd, sink, out);
	if (description && put_file(out, description))
		error = -1;
	if (objects)
		objects_write(objects, out, false);
	put_coverage(sink, ran, &status, drain, running, out);
	put_lost(fd, &status, out);
	error = replace(out, whole, path) || error;
	/*
	 * A drained trace keeps its preliminary file, but no trace keeps the file of an earlier
	 * trace.
	 */
	if (error && !drain)
		unlink(path);
	return error ? -1 : 0;
}

/*
 * Open a side-car file to read it. In a directory that others can write to, another user can
 * replace the file with a link to a file that only the user running this command may read. The text
 * of such a file must not appear in the new side-car file.
 */
static FILE *open_meta(const char *meta)
{
	int fd = open(meta, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0 && errno != ELOOP) {
		report("%s: %s", meta, strerror(errno));
		return NULL;
	}
	if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_nlink == 1)
		return fdopen(fd, "r");
	report("%s: not read, because it is a link, or not a regular file: record in a directory that only you can write to",
	       meta);
	if (fd >= 0)
		close(fd);
	return NULL;
}

/*
 * Return the text of a side-car file, which the caller frees. The buffer is only as large as the
 * file: on a network file system, the kernel pins all pages of the buffer, whatever it reads.
 */
static char *read_meta(const char *meta)
{
	FILE *file = open_meta(meta);
	struct stat status;
	size_t room = 0, got;
	char *text;

	if (!file)
		return NULL;
	if (!fstat(fileno(file), &status))
		room = status.st_size < META_BYTES_MAX ? (size_t)status.st_size : META_BYTES_MAX;
	text = malloc(room + 1);
	got = text ? fread(text, 1, room, file) : 0;
	fclose(file);
	if (got) {
		text[got] = '\0';
		return text;
	}
	report("%s: %s", meta, text ? "it is empty" : "out of memory");
	free(text);
	return NULL;
}

/*
 * Return the position of coverage and losses in @text. If the side-car file was written at the
 * program's start and has none, return the position at which to insert them. Return NULL if the end
 * of the file is missing, for example because the disk was full. Also read the duration of the run,
 * if present. The search relies on newlines, which strings do not contain.
 */
static char *coverage_of(char *text, uint64_t *ran)
{
	char *found = strstr(text, COVERAGE), *end = strrchr(text, '}'), *time;

	if (!found)
		return end && !strcmp(end, "}\n") ? end : NULL;
	time = strstr(found, "\"run_ns\":");
	if (time)
		*ran = strtoull(time + strlen("\"run_ns\":"), NULL, 10);
	return found;
}

int sidecar_complete(int fd, const char *meta, const struct sifive_trace_sink *sink,
		     const struct drain *drain, uint64_t ran, bool *finished)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	char *text = read_meta(meta), *end, whole[SIDECAR_PATH + 4];
	struct output *out = NULL;

	if (text && ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status))
		report("%s: %s", machine_device(), strerror(errno));
	end = text ? coverage_of(text, &ran) : NULL;
	snprintf(whole, sizeof(whole), "%s.new", meta);
	if (end) {
		*finished = *end == ',';
		out = files_open(whole);
	}
	if (out) {
		put_bytes(out, text, (size_t)(end - text));
		put_string(out, ",\n");
		put_coverage(sink, ran, &status, drain, false, out);
		put_lost(fd, &status, out);
	}
	free(text);
	if (!out)
		return -1;
	return replace(out, whole, meta);
}

int sidecar_copy(const char *from, const char *meta, const struct trigger_hit *hit)
{
	/* Times are omitted, because only the program can read the encoder's time. */
	static const struct trigger_clock unknown;
	char *text = read_meta(from), whole[SIDECAR_PATH + 4];
	struct output *out;

	snprintf(whole, sizeof(whole), "%s.new", meta);
	out = text ? files_open(whole) : NULL;
	if (out) {
		put_string(out, "{");
		if (hit->function)
			trigger_describe(out, hit, &unknown);
		put_string(out, text + 1);
	}
	free(text);
	return out ? replace(out, whole, meta) : -1;
}

/* Write the beginning of a side-car file, which describes the calls that were recorded. */
static void put_part(const struct meta_part *part, struct output *out)
{
	put_string(out, "{\"part\":{");
	meta_part_json(part, "", out);
	put_string(out, "},\n");
}

int sidecar_part(const char *meta, const struct meta_part *part)
{
	char *text = read_meta(meta), whole[SIDECAR_PATH + 4];
	struct output *out;

	snprintf(whole, sizeof(whole), "%s.new", meta);
	out = text ? files_open(whole) : NULL;
	if (out) {
		put_part(part, out);
		put_string(out, text + 1);
	}
	free(text);
	return out ? replace(out, whole, meta) : -1;
}

/* Write the text that all pieces share: @part, and @text up to @end if that is not NULL. */
static void put_head(struct output *out, const struct meta_part *part, const char *text,
		     const char *end)
{
	if (meta_part_is_set(part))
		put_part(part, out);
	else
		put_char(out, '{');
	if (end)
		put_bytes(out, text + 1, (size_t)(end - text - 1));
	else
		put_string(out, "\"version\":1");
}

int sidecar_begin(const char *whole, const char *piece, const struct meta_part *part,
		  unsigned int number, const struct cut *cut)
{
	char *text = read_meta(whole);
	struct output *out = files_open(piece);
	uint64_t ran;

	if (!out) {
		free(text);
		return -1;
	}
	put_head(out, part, text, text ? coverage_of(text, &ran) : NULL);
	put_format(out, PIECE "%u", number);
	if (cut) {
		put_string(out, ",\n");
		cut_write(cut, out);
	}
	put_string(out, "}\n");
	free(text);
	return output_close(out);
}

/* Return the difference between @to and @from. */
static struct sidecar_state since(const struct sidecar_state *from,
				  const struct sidecar_state *to)
{
	struct sidecar_state piece = *to;

	piece.sink.bytes = 0;
	piece.sink.given -= from->sink.given;
	piece.sink.gaps -= from->sink.gaps;
	piece.sink.lost -= from->sink.lost;
	piece.status.waits -= from->status.waits;
	piece.status.waited -= from->status.waited;
	piece.status.fulls -= from->status.fulls;
	piece.status.full_ns -= from->status.full_ns;
	piece.status.pauses -= from->status.pauses;
	piece.status.paused -= from->status.paused;
	piece.status.samples_lost -= from->status.samples_lost;
	piece.status.switches_lost -= from->status.switches_lost;
	piece.status.switches_processes -= from->status.switches_processes;
	piece.status.switches_elsewhere -= from->status.switches_elsewhere;
	piece.status.wakeups_elsewhere -= from->status.wakeups_elsewhere;
	piece.losses.signals -= from->losses.signals;
	piece.losses.threads -= from->losses.threads;
	piece.losses.abandoned -= from->losses.abandoned;
	piece.losses.refused -= from->losses.refused;
	piece.losses.children -= from->losses.children;
	piece.losses.dropped -= from->losses.dropped;
	piece.time -= from->time;
	return piece;
}

int sidecar_end(const char *piece, const struct sidecar_state *from,
		const struct sidecar_state *to, const struct drain *drain,
		const struct cut *cut)
{
	const struct sidecar_state own = since(from, to);
	char *text = read_meta(piece), *end = text ? strrchr(text, '}') : NULL;
	char whole[SIDECAR_PATH + 4];
	struct output *out = NULL;

	snprintf(whole, sizeof(whole), "%s.new", piece);
	if (end)
		out = files_open(whole);
	if (out) {
		put_bytes(out, text, (size_t)(end - text));
		put_format(out, ",\n\"continued\":%s,\n", cut ? "true" : "false");
		if (cut) {
			cut_rest(cut, out);
			put_string(out, ",\n");
		}
		put_coverage(&own.sink, own.time, &own.status, drain, false, out);
		put_losses(&own.losses, &own.status,
			   machine_changed(&to->status) - machine_changed(&from->status), out);
	}
	free(text);
	return out ? replace(out, whole, piece) : -1;
}

int sidecar_join(const char *whole, const char *piece, const struct meta_part *part)
{
	char *text = read_meta(whole), *own = read_meta(piece), name[SIDECAR_PATH + 4];
	const char *begin = own ? strstr(own, PIECE) : NULL, *end;
	struct output *out = NULL;
	uint64_t ran;

	end = text ? coverage_of(text, &ran) : NULL;
	snprintf(name, sizeof(name), "%s.new", piece);
	if (end && begin)
		out = files_open(name);
	if (out) {
		put_head(out, part, text, end);
		put_string(out, begin);
	}
	free(text);
	free(own);
	return out ? replace(out, name, piece) : -1;
}

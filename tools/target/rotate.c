// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See rotate.h. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../command.h"
#include "files.h"
#include "machine.h"
#include "rotate.h"
#include "sidecar.h"

/* Room for the rest of a message at the end of a piece. */
#define REST	64

static uint32_t index_of(const struct drain *d, const struct drain_sink *s)
{
	return (uint32_t)(s - d->sink);
}

void rotate_name(char *name, size_t size, const struct drain *d, const struct drain_sink *s,
		 unsigned int number)
{
	char whole[PATH_MAX];

	perf_device_file(whole, d->path, index_of(d, s), d->sinks);
	snprintf(name, size, "%s.%u", whole, number);
}

static void meta_names(char whole[SIDECAR_PATH + 16], char piece[SIDECAR_PATH + 16],
		       const struct drain *d, const struct drain_sink *s, unsigned int number)
{
	char name[PATH_MAX + 16];

	perf_device_file(name, d->path, index_of(d, s), d->sinks);
	snprintf(whole, SIDECAR_PATH + 16, "%s.meta", name);
	rotate_name(name, sizeof(name), d, s, number);
	snprintf(piece, SIDECAR_PATH + 16, "%s.meta", name);
}

static int get_sink(const struct drain *d, const struct drain_sink *s,
		    struct sifive_trace_sink *sink)
{
	*sink = (struct sifive_trace_sink){ .size = sizeof(*sink), .index = index_of(d, s) };
	return ioctl(d->control, SIFIVE_TRACE_IOC_SINK, sink);
}

/*
 * Query how much was captured and lost up to now or, if @over is set, in total. For totals, all
 * bytes must have been read.
 */
static void look(const struct drain *d, const struct drain_sink *s, struct sidecar_state *state,
		 bool over)
{
	memset(state, 0, sizeof(*state));
	state->status.size = sizeof(state->status);
	state->losses.size = sizeof(state->losses);
	if (get_sink(d, s, &state->sink) ||
	    ioctl(d->control, SIFIVE_TRACE_IOC_STATUS, &state->status) ||
	    ioctl(d->control, SIFIVE_TRACE_IOC_LOSSES, &state->losses))
		report("%s: %s", machine_device(), strerror(errno));
	/* If another session has begun, its numbers do not show the losses from this capture. */
	if (state->status.capture != d->capture) {
		*state = *s->from;
		state->sink.given = s->bytes;
	}
	if (over) {
		drain_account(d, index_of(d, s), &state->sink);
	} else {
		state->sink.lost += s->bytes - s->written;
		state->sink.given = s->written;
		/* A later piece may contain the records that are queued. */
		state->losses.queued = 0;
	}
	state->time = perf_device_now();
}

int rotate_open(const struct drain *d, struct drain_sink *s)
{
	struct sifive_trace_info info = { .size = sizeof(info) };
	struct sifive_trace_sink sink;

	if (get_sink(d, s, &sink) || ioctl(d->control, SIFIVE_TRACE_IOC_INFO, &info)) {
		report("%s: %s", machine_device(), strerror(errno));
		return -1;
	}
	s->cut = cut_new(sink.src_bits, info.ts_width);
	s->from = calloc(1, sizeof(*s->from));
	if (!s->cut || !s->from) {
		report("out of memory");
		return -1;
	}
	s->from->time = perf_device_now();
	return 0;
}

static uint64_t piece_bytes(const struct drain_sink *s)
{
	return s->written - s->from->sink.given;
}

uint64_t rotate_room(const struct drain *d, const struct drain_sink *s)
{
	uint64_t have = piece_bytes(s);

	if (!d->piece_size)
		return UINT64_MAX;
	/* If this piece is full, the bytes that are read next will begin a new one. */
	return have + 2 * REST < d->piece_size ? d->piece_size - have - REST :
						 d->piece_size - REST;
}

static bool is_due(const struct drain *d, const struct drain_sink *s, size_t length)
{
	if (s->failed || !piece_bytes(s))
		return false;
	if (d->piece_size && piece_bytes(s) + length + REST > d->piece_size)
		return true;
	return d->piece_time && perf_device_now() - s->from->time >= d->piece_time;
}

size_t rotate_take(const struct drain *d, struct drain_sink *s, const char *bytes, size_t length)
{
	ssize_t rest;

	if (!s->cut || !is_due(d, s, length))
		return length;
	rest = cut_place(s->cut, (const uint8_t *)bytes, length);
	return rest < 0 ? length : (size_t)rest;
}

static void remove_piece(const struct drain *d, const struct drain_sink *s, unsigned int number)
{
	char name[PATH_MAX + 16], whole[SIDECAR_PATH + 16], piece[SIDECAR_PATH + 16];

	rotate_name(name, sizeof(name), d, s, number);
	meta_names(whole, piece, d, s, number);
	unlink(name);
	unlink(piece);
}

/* Write the side-car file of the current piece, which ends here. */
static int end_piece(const struct drain *d, const struct drain_sink *s,
		     const struct sidecar_state *now, bool continued)
{
	char whole[SIDECAR_PATH + 16], piece[SIDECAR_PATH + 16];

	meta_names(whole, piece, d, s, s->piece);
	/*
	 * Begin the first piece's side-car file here, because the library's side-car file did not
	 * exist when the piece began.
	 */
	if (!s->piece && sidecar_begin(whole, piece, d->part, 0, NULL))
		return -1;
	return sidecar_end(piece, s->from, now, d, continued ? s->cut : NULL);
}

int rotate_next(const struct drain *d, struct drain_sink *s)
{
	char name[PATH_MAX + 16], whole[SIDECAR_PATH + 16], piece[SIDECAR_PATH + 16];
	struct sidecar_state now;

	look(d, s, &now, false);
	end_piece(d, s, &now, true);
	s->gaps.count = 0;
	*s->from = now;
	cut_begin(s->cut);
	s->piece++;
	if (d->keep && s->piece >= d->keep)
		remove_piece(d, s, s->piece - d->keep);
	rotate_name(name, sizeof(name), d, s, s->piece);
	meta_names(whole, piece, d, s, s->piece);
	sidecar_begin(whole, piece, d->part, s->piece, s->cut);
	close(s->file);
	s->file = files_create(name);
	return s->file < 0 ? -1 : 0;
}

/* Return the number of a sink's first piece that has not been removed. */
static unsigned int first_piece(const struct drain *d, const struct drain_sink *s)
{
	return d->keep && s->piece >= d->keep ? s->piece + 1 - d->keep : 0;
}

int rotate_end(const struct drain *d)
{
	char whole[SIDECAR_PATH + 16], piece[SIDECAR_PATH + 16];
	struct sidecar_state now;
	unsigned int i, n;
	int error = 0, unjoined;

	for (i = 0; i < d->sinks; i++) {
		const struct drain_sink *s = &d->sink[i];

		if (!s->cut)
			continue;
		look(d, s, &now, true);
		error |= end_piece(d, s, &now, false);
		unjoined = 0;
		for (n = first_piece(d, s); n <= s->piece; n++) {
			meta_names(whole, piece, d, s, n);
			unjoined |= sidecar_join(whole, piece, d->part);
		}
		meta_names(whole, piece, d, s, 0);
		if (!unjoined)
			unlink(whole);
		error |= unjoined;
	}
	return error ? -1 : 0;
}

void rotate_show(const struct drain *d)
{
	char name[PATH_MAX + 16];
	unsigned int i;

	for (i = 0; i < d->sinks; i++) {
		const struct drain_sink *s = &d->sink[i];
		unsigned int pieces = s->piece + 1 - first_piece(d, s);

		rotate_name(name, sizeof(name), d, s, s->piece);
		report("%s: the last of %u piece%s, %" PRIu64 " bytes were recorded: sifive-trace report %s",
		       name, pieces, pieces == 1 ? "" : "s", s->written, name);
	}
}

/* Return whether @name is @base followed by a dot, a number, and optionally .meta. */
static bool is_piece(const char *name, const char *base)
{
	size_t length = strlen(base), digits;

	if (strncmp(name, base, length) || name[length] != '.')
		return false;
	name += length + 1;
	digits = strspn(name, "0123456789");
	return digits && (!name[digits] || !strcmp(name + digits, ".meta"));
}

static void remove_pieces(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	struct dirent *entry;
	char beside[PATH_MAX];
	DIR *dir;

	snprintf(beside, sizeof(beside), "%.*s", (int)(slash ? slash + 1 - path : 1),
		 slash ? path : ".");
	dir = opendir(beside);
	while (dir && (entry = readdir(dir)))
		if (is_piece(entry->d_name, base))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

void rotate_remove(const char *path)
{
	char name[PATH_MAX];
	uint32_t i;

	remove_pieces(path);
	for (i = 0; i < PERF_MAX_SINKS; i++) {
		perf_device_file(name, path, i, 2);
		remove_pieces(name);
	}
}

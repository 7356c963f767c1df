// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See drain.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/error.h"

#include "../command.h"
#include "drain.h"
#include "files.h"
#include "machine.h"
#include "cut.h"
#include "rotate.h"

/* Size of a read() in bytes: the maximum that the driver returns. */
#define CHUNK		65536

/* Number of reads from one sink before other sinks and signals are handled. */
#define READS		32

#define MS		1000000

/*
 * Intervals at which to check whether the capture is running: SOON for the first SOON_LOOKS checks,
 * then LATER.
 */
#define SOON		(1 * MS)
#define SOON_LOOKS	1000
#define LATER		(20 * MS)

/* A read of at least this many bytes returns whole messages. */
#define LEAST		64

#define SECOND		UINT64_C(1000000000)

/* Store the path of the device node of sink @i of @sinks in @name. */
static void node_name(char name[PATH_MAX], uint32_t i, uint32_t sinks)
{
	if (sinks > 1)
		snprintf(name, PATH_MAX, "%s.%u", machine_device(), i);
	else
		snprintf(name, PATH_MAX, "%s", machine_device());
}

/* Open the device node of sink @i of @sinks, and store its path in @name. */
static int open_node(char name[PATH_MAX], uint32_t i, uint32_t sinks)
{
	node_name(name, i, sinks);
	return open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

int drain_check(uint32_t sinks)
{
	char name[PATH_MAX];
	uint32_t i;
	int fd;

	for (i = 0; i < sinks; i++) {
		fd = open_node(name, i, sinks);
		if (fd < 0)
			return perf_error("%s: %s", name, strerror(errno));
		close(fd);
	}
	return 0;
}

static bool in_pieces(const struct drain *d)
{
	return d->piece_size || d->piece_time;
}

/* Write the name of the file to which the sink is currently copied. */
static void file_name(char *name, size_t size, const struct drain *d,
		      const struct drain_sink *s)
{
	if (in_pieces(d))
		rotate_name(name, size, d, s, s->piece);
	else
		perf_device_file(name, d->path, (uint32_t)(s - d->sink), d->sinks);
}

static int open_sink(struct drain *d, uint32_t i)
{
	struct drain_sink *s = &d->sink[i];
	struct epoll_event event = { .events = EPOLLIN };
	char name[PATH_MAX + 16];

	if (in_pieces(d) && rotate_open(d, s))
		return -1;
	s->device = open_node(name, i, d->sinks);
	if (s->device >= 0) {
		file_name(name, sizeof(name), d, s);
		s->file = files_create(name);
	}
	if (s->file >= 0 && !epoll_ctl(d->events, EPOLL_CTL_ADD, s->device, &event))
		return 0;
	report("%s: %s", name, strerror(errno));
	return -1;
}

int drain_open(struct drain *d, const char *path, uint32_t capture, uint32_t sinks)
{
	uint32_t i;

	d->path = path;
	d->capture = capture;
	d->events = epoll_create1(EPOLL_CLOEXEC);
	/* The nodes of sinks can only be read, so query the state through the machine's device. */
	d->control = open(machine_device(), O_RDONLY | O_CLOEXEC);
	for (i = 0; i < sinks; i++)
		d->sink[i] = (struct drain_sink){ .device = -1, .file = -1 };
	d->sinks = sinks;
	for (i = 0; i < sinks; i++)
		if (open_sink(d, i))
			return -1;
	return 0;
}

void drain_limit(struct drain *d, uint64_t most, uint64_t time, bool wait, bool quiet)
{
	d->most = most;
	d->wait = wait;
	d->quiet = quiet;
	d->shown = perf_device_now();
	d->room.looked = d->shown;
	d->until = time ? d->shown + time : 0;
	d->progress = !quiet && isatty(STDERR_FILENO);
}

/* Shorten a wait so that it does not exceed the time limit. */
static void shorten(const struct drain *d, struct timespec *longest)
{
	uint64_t now = perf_device_now(), left = d->until > now ? d->until - now : 0;
	uint64_t most = (uint64_t)longest->tv_sec * SECOND + (uint64_t)longest->tv_nsec;

	if (d->until && !d->over && left < most)
		*longest = (struct timespec){
			.tv_sec = (time_t)(left / SECOND),
			.tv_nsec = (long)(left % SECOND),
		};
}

const struct timespec *drain_event(const struct drain *d, struct pollfd *event,
				   struct timespec *longest)
{
	*event = (struct pollfd){ .fd = -1, .events = POLLIN };
	if (!d->sinks)
		return NULL;
	*longest = (struct timespec){ .tv_sec = 1 };
	/* Nothing more is copied, but the lock file is still touched. */
	if (d->over && !d->wait)
		return longest;
	if (d->live)
		event->fd = d->events;
	else
		*longest = (struct timespec){
			.tv_nsec = d->looks < SOON_LOOKS && !d->over ? SOON : LATER,
		};
	shorten(d, longest);
	return longest;
}

/* Return whether this is the capture to copy and, if @runs is set, whether it is also running. */
static bool is_ours(const struct drain *d, bool runs)
{
	struct sifive_trace_status status = { .size = sizeof(status) };

	if (ioctl(d->control, SIFIVE_TRACE_IOC_STATUS, &status) ||
	    status.capture != d->capture)
		return false;
	return !runs || (status.flags & SIFIVE_TRACE_STATUS_RUNNING &&
			 (!d->pid || status.holder == d->pid));
}

static void fail(const struct drain *d, struct drain_sink *s)
{
	char name[PATH_MAX + 16];

	s->failed = true;
	file_name(name, sizeof(name), d, s);
	report("%s: %s: all further data is lost", name, strerror(errno));
}

/*
 * Write bytes to the file of a sink. After a failed write, for example to a full disk, only count
 * them, so that copying continues and the loss is known.
 */
static void write_file(const struct drain *d, struct drain_sink *s, const char *from,
		       size_t size)
{
	ssize_t done;

	s->bytes += size;
	while (size && !s->failed) {
		done = write(s->file, from, size);
		if (done > 0) {
			s->written += (uint64_t)done;
			from += done;
			size -= (size_t)done;
		} else if (errno != EINTR) {
			fail(d, s);
		}
	}
}

/* Write the bytes that were read, and begin the next piece if it is due. */
static void take_bytes(const struct drain *d, struct drain_sink *s, const char *from,
		       size_t size)
{
	size_t old = rotate_take(d, s, from, size);

	write_file(d, s, from, old);
	if (!s->cut)
		return;
	if (cut_feed(s->cut, from, old))
		report("out of memory");
	if (old == size)
		return;
	if (rotate_next(d, s))
		fail(d, s);
	write_file(d, s, from + old, size - old);
	if (cut_feed(s->cut, from + old, size - old))
		report("out of memory");
}

static uint64_t all_bytes(const struct drain *d)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < d->sinks; i++)
		bytes += d->sink[i].bytes;
	return bytes;
}

/* Return the number of bytes that remain until the limit; fewer than LEAST are not used. */
static uint64_t room(const struct drain *d)
{
	return d->most ? d->most - all_bytes(d) : UINT64_MAX;
}

/*
 * Report a failed read() once for each sink. If another session has begun, report nothing, because
 * its bytes are not missing from this recording.
 */
static void fail_read(const struct drain *d, struct drain_sink *s, int error)
{
	char name[PATH_MAX];

	if (s->unread || error == ESTALE || !is_ours(d, false))
		return;
	s->unread = true;
	node_name(name, (uint32_t)(s - d->sink), d->sinks);
	report("%s: %s: bytes that cannot be read are lost", name,
	       error == EBUSY ? "another program is reading it" : strerror(error));
}

/* Return whether the capture is running, after read() has returned @got bytes. */
static bool is_running(ssize_t got)
{
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Copy the bytes of one read(); return whether there may be more. */
static bool copy_chunk(struct drain *d, struct drain_sink *s)
{
	static char chunk[CHUNK];
	uint64_t most = room(d);
	ssize_t got;

	if (most < LEAST)
		return false;
	if (s->cut && most > rotate_room(d, s))
		most = rotate_room(d, s);
	got = read(s->device, chunk, most < CHUNK ? (size_t)most : CHUNK);
	/*
	 * Another session may have begun since the last check. Only the first read() can return its
	 * bytes; later ones fail with ESTALE.
	 */
	if (got > 0 && !s->bytes && !is_ours(d, false))
		got = 0;
	if (got > 0) {
		take_bytes(d, s, chunk, (size_t)got);
		return true;
	}
	if (is_running(got))
		return errno == EINTR;
	d->live = false;
	if (got < 0)
		fail_read(d, s, errno);
	return false;
}

static void copy_sinks(struct drain *d, unsigned int reads)
{
	unsigned int i, n;

	drain_look(d, false);
	for (i = 0; i < d->sinks; i++)
		for (n = 0; (!reads || n < reads) && copy_chunk(d, &d->sink[i]); n++)
			/* The buffer may have filled while these bytes were written. */
			drain_look(d, false);
	/* A fast program can fill the buffer again before the next call. */
	if (d->room.open)
		drain_look(d, false);
}

/* Show what happened while the buffer had no room: records were dropped, or threads waited. */
static void show_room(const struct drain *d, const struct sifive_trace_status *status)
{
	struct sifive_trace_losses losses = { .size = sizeof(losses) };

	if (!ioctl(d->control, SIFIVE_TRACE_IOC_LOSSES, &losses) && losses.dropped)
		fprintf(stderr, ", %" PRIu64 " records dropped", (uint64_t)losses.dropped);
	if (status->waits)
		fprintf(stderr, ", waited %.1f s", (double)status->waited / 1e9);
	fprintf(stderr, ", no room for %.1f s", (double)status->full_ns / 1e9);
}

/* Show a progress line, which the program's output overwrites. */
static void show(struct drain *d)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	uint64_t now = perf_device_now(), bytes = all_bytes(d);

	if (!d->progress || now - d->shown < SECOND ||
	    ioctl(d->control, SIFIVE_TRACE_IOC_STATUS, &status))
		return;
	fprintf(stderr, "\r%.1f MB, %.1f MB/s, %" PRIu64 " bytes lost",
		(double)bytes / 1e6,
		(double)(bytes - d->shown_bytes) * 1e3 / (double)(now - d->shown),
		d->live ? (uint64_t)status.lost : 0);
	if (d->live && d->wait)
		show_room(d, &status);
	fputs("\033[K\r", stderr);
	d->shown = now;
	d->shown_bytes = bytes;
}

static void hide(const struct drain *d)
{
	if (d->progress && d->sinks)
		fputs("\r\033[K", stderr);
}

/* Return whether sinks have lost bytes since the last check. */
static bool has_lost(const struct drain *d, const struct sifive_trace_status *status)
{
	uint64_t gaps = 0, lost = 0;
	uint32_t i;

	for (i = 0; i < d->sinks; i++) {
		gaps += d->sink[i].gaps.seen;
		lost += d->sink[i].gaps.lost;
	}
	return status->gaps != gaps || status->lost != lost;
}

void drain_look(struct drain *d, bool last)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	struct sifive_trace_losses losses = { .size = sizeof(losses) };
	struct gaps_entry gap;
	bool dropped, lost;
	uint32_t i;

	if (ioctl(d->control, SIFIVE_TRACE_IOC_STATUS, &status) || status.capture != d->capture)
		return;
	/* Programs drop records only while there is no room, and may count them later. */
	if (status.fulls && (d->room.open || last || status.fulls != d->room.fulls) &&
	    ioctl(d->control, SIFIVE_TRACE_IOC_LOSSES, &losses))
		return;
	lost = has_lost(d, &status);
	dropped = gaps_room(&d->room, &status, losses.dropped, perf_device_now(), last, &gap);
	for (i = 0; i < d->sinks; i++) {
		struct sifive_trace_sink sink = { .size = sizeof(sink), .index = i };

		if (dropped)
			gaps_add(&d->sink[i].gaps, &gap);
		if (lost && !ioctl(d->control, SIFIVE_TRACE_IOC_SINK, &sink))
			gaps_sink(&d->sink[i].gaps, &sink);
	}
}

/* End copying at a limit; bytes missing after it are not a loss. */
static void end(struct drain *d)
{
	uint32_t i;

	hide(d);
	drain_look(d, true);
	for (i = 0; i < d->sinks; i++) {
		struct sifive_trace_sink *last = &d->sink[i].last;

		*last = (struct sifive_trace_sink){ .size = sizeof(*last), .index = i };
		if (ioctl(d->control, SIFIVE_TRACE_IOC_SINK, last))
			report("%s: %s", machine_device(), strerror(errno));
	}
	d->over = true;
	if (!d->quiet)
		report("the limit of %s is reached: nothing more is recorded",
		       room(d) < LEAST ? "--size" : "--time");
}

/* Discard data after the limit, so that stores do not wait for the command. */
static void drop(struct drain *d)
{
	static char chunk[CHUNK];
	unsigned int n;
	ssize_t got = 1;
	uint32_t i;

	for (i = 0; i < d->sinks; i++) {
		for (n = 0; n < READS; n++) {
			got = read(d->sink[i].device, chunk, sizeof(chunk));
			if (got <= 0)
				break;
		}
		if (!is_running(got))
			d->live = false;
	}
}

void drain_copy(struct drain *d)
{
	if (!d->sinks || (d->over && !d->wait))
		return;
	if (!d->live) {
		d->looks++;
		d->live = is_ours(d, true);
	}
	if (d->over) {
		if (d->live)
			drop(d);
		return;
	}
	if (d->live)
		copy_sinks(d, READS);
	show(d);
	if (room(d) < LEAST || (d->until && perf_device_now() >= d->until))
		end(d);
}

void drain_rest(struct drain *d)
{
	hide(d);
	if (!d->sinks || d->over || !is_ours(d, false))
		return;
	copy_sinks(d, 0);
	if (room(d) < LEAST)
		end(d);
	else
		drain_look(d, true);
}

const char *drain_account(const struct drain *d, uint32_t index, struct sifive_trace_sink *sink)
{
	const struct drain_sink *s = &d->sink[index];
	const uint64_t unread = d->over ? 0 : sink->bytes;

	if (d->over)
		*sink = s->last;
	sink->bytes = 0;
	sink->lost += sink->given - s->written + unread;
	sink->given = s->written;
	if (!s->failed && !unread)
		return NULL;
	sink->gaps++;
	return s->failed ? "the file could not be written" : "the command could not read them";
}

void drain_close(struct drain *d)
{
	uint32_t i;

	for (i = 0; i < d->sinks; i++) {
		if (d->sink[i].device >= 0)
			close(d->sink[i].device);
		if (d->sink[i].file >= 0)
			close(d->sink[i].file);
		cut_free(d->sink[i].cut);
		free(d->sink[i].from);
	}
	if (d->sinks && d->events >= 0)
		close(d->events);
	if (d->sinks && d->control >= 0)
		close(d->control);
	d->sinks = 0;
}

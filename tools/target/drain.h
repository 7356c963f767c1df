/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies a capture to files while the capture runs, so that it can be larger than its buffers.
 * Reading does not need the session, which another process may hold.
 */
#ifndef SIFIVE_TRACE_DRAIN_H
#define SIFIVE_TRACE_DRAIN_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "lib/device.h"

#include "gaps.h"

struct cut;
struct sidecar_state;

/**
 * struct drain_sink - one sink and its file
 * @device:	descriptor of the sink's device node
 * @file:	descriptor of the file
 * @bytes:	number of bytes read
 * @written:	number of bytes written
 * @failed:	set if a write failed
 * @unread:	set if a read failed
 * @last:	the sink's state when a limit was reached
 * @cut:	state needed to begin the next piece, or NULL if the recording is not split into
 *		pieces
 * @from:	state of the capture at the beginning of the current piece
 * @piece:	number of the current piece
 * @gaps:	losses since the current piece began
 */
struct drain_sink {
	int		device;
	int		file;
	uint64_t	bytes;
	uint64_t	written;
	bool		failed;
	bool		unread;
	struct sifive_trace_sink last;
	struct cut	*cut;
	struct sidecar_state *from;
	unsigned int	piece;
	struct gaps	gaps;
};

/**
 * struct drain - state of copying a capture while it runs
 * @sink:	the @sinks sinks of the capture; @sinks is 0 if nothing is drained
 * @path:	path of the files, see capture_save()
 * @control:	descriptor of the whole machine's device
 * @events:	descriptor that becomes readable when a sink has bytes
 * @capture:	number of the capture, from sifive_trace_status.capture
 * @pid:	process that must hold the session, or 0 for any
 * @live:	set while the capture is running
 * @looks:	number of times that the capture was checked before it ran
 * @most:	maximum total size, or 0 if no limit
 * @piece_size:	maximum size of a piece, or 0 if no limit
 * @piece_time:	maximum duration of a piece in nanoseconds, or 0 if no limit
 * @keep:	number of pieces to keep for each file, or 0 for all
 * @part:	selection of the recorded calls, if the recording is split into pieces
 * @until:	time at which to end, in nanoseconds of CLOCK_MONOTONIC, or 0 if no limit
 * @over:	set when a limit has been reached, after which nothing more is copied
 * @wait:	set if threads wait for room or drop records, in which case data beyond a limit must
 *		still be read
 * @quiet:	whether to print only errors and losses
 * @progress:	set to show a progress line on the terminal
 * @shown:	time at which the progress line was last shown
 * @shown_bytes: number of bytes read at @shown
 * @room:	times during which the buffer had no room
 */
struct drain {
	struct drain_sink	sink[PERF_MAX_SINKS];
	uint32_t		sinks;
	const char		*path;
	int			control;
	int			events;
	uint32_t		capture;
	pid_t			pid;
	bool			live;
	unsigned int		looks;
	uint64_t		most;
	uint64_t		piece_size;
	uint64_t		piece_time;
	unsigned int		keep;
	const struct meta_part *part;
	uint64_t		until;
	bool			over;
	bool			wait;
	bool			quiet;
	bool			progress;
	uint64_t		shown;
	uint64_t		shown_bytes;
	struct gaps_room	room;
};

/** drain_check() - return 0, or -1 with sifive_trace_error() if one of @sinks cannot be read */
int drain_check(uint32_t sinks);

/**
 * drain_open() - open the sinks, and create the files
 * @drain:	all zero except @piece_size, @piece_time, @keep and @part; needs drain_close(),
 *		even after an error
 * @path:	path of the files, see capture_save()
 * @capture:	the number that the capture has or will have
 * @sinks:	number of sinks of the capture
 *
 * Return: 0, or -1 after printing an error.
 */
int drain_open(struct drain *drain, const char *path, uint32_t capture, uint32_t sinks);

/**
 * drain_limit() - set when to end, and whether to show progress
 * @most:	maximum total size, or 0 if no limit
 * @time:	nanoseconds from now, or 0 if no limit
 * @wait:	see struct drain
 * @quiet:	set to show no progress, even on a terminal
 */
void drain_limit(struct drain *drain, uint64_t most, uint64_t time, bool wait, bool quiet);

/**
 * drain_event() - set up the event to wait for before the next drain_copy()
 * @event:	set up for poll()
 * @longest:	set to the longest time to wait
 *
 * Return: @longest, or NULL if there is nothing to drain.
 */
const struct timespec *drain_event(const struct drain *drain, struct pollfd *event,
				   struct timespec *longest);

/** drain_copy() - copy some or all available bytes; set @over when a limit is reached */
void drain_copy(struct drain *drain);

/**
 * drain_look() - add to the lists of gaps the losses since the last call; @last is set in the final
 * call
 */
void drain_look(struct drain *drain, bool last);

/** drain_rest() - copy all remaining bytes, after the capture has stopped */
void drain_rest(struct drain *drain);

/**
 * drain_account() - correct the state of a sink for bytes that could not be read or written
 * @index:	index of the sink
 * @sink:	state returned by the driver, after drain_rest()
 *
 * Return: NULL, or the reason why the file lacks bytes from the driver's buffer.
 */
const char *drain_account(const struct drain *drain, uint32_t index,
			  struct sifive_trace_sink *sink);

void drain_close(struct drain *drain);

#endif /* SIFIVE_TRACE_DRAIN_H */

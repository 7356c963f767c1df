/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes or completes the side-car file of a sink's trace. */
#ifndef SIFIVE_TRACE_SIDECAR_H
#define SIFIVE_TRACE_SIDECAR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "../trace/meta_part.h"
#include "cut.h"
#include "drain.h"
#include "objects.h"
#include "trigger.h"

/* Size of the path of a side-car file. */
#define SIDECAR_PATH	(PATH_MAX + 8)

/**
 * sidecar_write() - write a whole side-car file
 * @fd:		the trace device
 * @trace:	path of the sink's bytes
 * @sink:	state of the sink, in which @bytes is the size of the file
 * @description: file written by capture_describe(), or NULL for none
 * @objects:	the objects in memory, or NULL if the description has them
 * @drain:	state of the copying, if the bytes were drained, or NULL
 * @ran:	nanoseconds from the capture's start to its stop, or 0 if unknown
 * @running:	set if the recording continues
 *
 * Return: 0, or -1 after printing an error.
 */
int sidecar_write(int fd, const char *trace, const struct sifive_trace_sink *sink,
		  const char *description, struct objects *objects,
		  const struct drain *drain, uint64_t ran, bool running);

/**
 * sidecar_complete() - add coverage and losses to the side-car file that a program's library wrote
 * @meta:	path of the side-car file
 * @finished:	set to whether the program had completed the file when it ended; unchanged if the
 *		file cannot be read
 *
 * The other parameters are those of sidecar_write(). Return: 0, or -1 after printing an error.
 */
int sidecar_complete(int fd, const char *meta, const struct sifive_trace_sink *sink,
		     const struct drain *drain, uint64_t ran, bool *finished);

/**
 * sidecar_copy() - write the side-car file of a snapshot, without coverage
 * @from:	path of the file that the program wrote when it started
 * @meta:	path of the snapshot's side-car file
 * @hit:	the call that triggered the snapshot; its @function is NULL if there is none
 *
 * Return: 0, or -1 after printing an error.
 */
int sidecar_copy(const char *from, const char *meta, const struct trigger_hit *hit);

/**
 * sidecar_unrecorded() - set the number of unrecorded processes, which side-car files list among
 * the losses
 */
void sidecar_unrecorded(uint64_t processes);

/**
 * sidecar_part() - add a description of the recorded calls
 * @meta:	path of the side-car file
 *
 * Return: 0, or -1 after printing an error.
 */
int sidecar_part(const char *meta, const struct meta_part *part);

/**
 * struct sidecar_state - how much a sink has captured and lost up to a certain time
 * @sink:	state of the sink, in which @given is the number of bytes written to files
 * @status:	state of the capture
 * @losses:	losses that the program counted
 * @time:	the time, in nanoseconds of CLOCK_MONOTONIC
 */
struct sidecar_state {
	struct sifive_trace_sink	sink;
	struct sifive_trace_status	status;
	struct sifive_trace_losses	losses;
	uint64_t			time;
};

/**
 * sidecar_begin() - write the side-car file of a piece at the beginning of the piece
 * @whole:	path of the recording's side-car file
 * @piece:	path of the piece's side-car file
 * @part:	selection of the recorded calls
 * @number:	number of the piece
 * @cut:	the state of the trace up to here
 *
 * Return: 0, or -1 after printing an error.
 */
int sidecar_begin(const char *whole, const char *piece, const struct meta_part *part,
		  unsigned int number, const struct cut *cut);

/**
 * sidecar_end() - add coverage and losses of a piece
 * @piece:	path of the piece's side-car file
 * @from, @to: states where the piece begins and ends
 * @drain:	state of the copying
 * @cut:	the state of the trace up to here if another piece follows, or NULL
 *
 * Return: 0, or -1 after printing an error.
 */
int sidecar_end(const char *piece, const struct sidecar_state *from,
		const struct sidecar_state *to, const struct drain *drain,
		const struct cut *cut);

/**
 * sidecar_join() - complete the side-car file of a piece from the recording's side-car file
 * @part:	selection of the recorded calls
 *
 * Return: 0, or -1 after printing an error.
 */
int sidecar_join(const char *whole, const char *piece, const struct meta_part *part);

#endif /* SIFIVE_TRACE_SIDECAR_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Splits a recording into pieces, for record --rotate: TRACE.0, TRACE.1 and so on. */
#ifndef SIFIVE_TRACE_ROTATE_H
#define SIFIVE_TRACE_ROTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "drain.h"

/** rotate_open() - begin to follow a sink's trace; return 0, or -1 after printing an error */
int rotate_open(const struct drain *drain, struct drain_sink *sink);

/** rotate_name() - write the path of a sink's piece @number */
void rotate_name(char *name, size_t size, const struct drain *drain,
		 const struct drain_sink *sink, unsigned int number);

/**
 * rotate_take() - account for bytes to be written to a sink's file
 * @length:	number of bytes at @bytes
 *
 * Return: how many of these bytes belong to the current piece: all of them if no new piece is due.
 */
size_t rotate_take(const struct drain *drain, struct drain_sink *sink, const char *bytes,
		   size_t length);

/**
 * rotate_next() - begin a sink's next piece; return 0, or -1 with errno if the piece's file cannot
 * be created
 */
int rotate_next(const struct drain *drain, struct drain_sink *sink);

/**
 * rotate_room() - return the maximum number of bytes to read in one call, so that a piece does not
 * exceed its size
 */
uint64_t rotate_room(const struct drain *drain, const struct drain_sink *sink);

/**
 * rotate_end() - complete the side-car files of all pieces, after the end of the recording
 *
 * Return: 0, or -1 after printing an error.
 */
int rotate_end(const struct drain *drain);

/** rotate_show() - print the number of pieces and their total size */
void rotate_show(const struct drain *drain);

/** rotate_remove() - remove all pieces of recordings with the given name */
void rotate_remove(const char *path);

#endif /* SIFIVE_TRACE_ROTATE_H */

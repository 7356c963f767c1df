/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads a trace's bytes: from a file in large chunks, from a pipe as they arrive. */
#ifndef SIFIVE_TRACE_SOURCE_H
#define SIFIVE_TRACE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "clocks.h"
#include "follow.h"

/* Size of a chunk in bytes. The first chunk is also used to infer the SRC width. */
#define SOURCE_CHUNK	(256u << 10)

/* Number of bytes to keep before the current bytes, because a damaged message may begin in them. */
#define SOURCE_HISTORY	CLOCKS_DAMAGE_MAX

/**
 * struct source - a source of bytes, and the bytes currently available
 * @path:	name of the source in messages
 * @fd:		descriptor
 * @file:	set for a regular file
 * @live:	set for a pipe, a socket or a followed file, whose data must not be held back until more
 *		arrives
 * @follow:	waits for a file to grow, or NULL
 * @paused:	set if the source had no more data when it was last read, but has not ended
 * @bytes:	number of bytes read
 * @filled:	number of bytes at @buffer
 * @buffer:	the current bytes, in @memory after the history
 */
struct source {
	const char	*path;
	int		fd;
	bool		file;
	bool		live;
	bool		paused;
	struct follow	*follow;
	uint64_t	bytes;
	size_t		filled;
	uint8_t		*buffer;
	uint8_t		memory[SOURCE_HISTORY + SOURCE_CHUNK];
};

/**
 * source_open() - open a trace, for source_take()
 * @path:	file, "-" for standard input
 *
 * Return: a file descriptor, or -1 after printing an error.
 */
int source_open(const char *path);

/**
 * source_take() - read an open file; source_close() closes it
 * @source:	all zero
 * @fd:		the file, at its beginning
 * @path:	name of the file in messages
 * @follow:	how to wait for the file to grow, or NULL
 */
void source_take(struct source *source, int fd, const char *path, struct follow *follow);

/**
 * source_fill() - replace the current bytes with the next bytes
 *
 * Return: 0, or -1 after printing an error. At the end of the trace, @filled is then 0.
 */
int source_fill(struct source *source);

/** source_fill_up() - like source_fill(), but append as many bytes as fit */
int source_fill_up(struct source *source);

/** source_rewind() - continue reading at @start; return 0, or -1 after printing an error */
int source_rewind(struct source *source, off_t start);

/** source_close() - close the file, unless it is standard input */
void source_close(struct source *source);

#endif /* SIFIVE_TRACE_SOURCE_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Follows a trace while it is recorded in pieces, to save the state from earlier pieces that is
 * needed to read a piece. resume.h is the counterpart in the reader.
 */
#ifndef SIFIVE_TRACE_CUT_H
#define SIFIVE_TRACE_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "output.h"

struct cut;

/**
 * cut_new() - begin to follow a trace
 * @src_bits, @ts_width: see struct nexus_options
 *
 * Return: the state, to be freed with cut_free(), or NULL if out of memory.
 */
struct cut *cut_new(unsigned int src_bits, unsigned int ts_width);

/** cut_feed() - process the next bytes of the trace; return 0, or -1 if out of memory */
int cut_feed(struct cut *cut, const void *bytes, size_t length);

/**
 * cut_place() - find where a piece can end
 * @bytes:	the bytes that follow those fed to cut_feed()
 *
 * Return: the number of @bytes that complete the current message, 0 if it is complete, or -1 if
 * @bytes do not complete it.
 */
ssize_t cut_place(const struct cut *cut, const uint8_t *bytes, size_t length);

/** cut_write() - write "clocks" and "streams" of the side-car file of a piece that begins here */
void cut_write(const struct cut *cut, struct output *out);

/** cut_begin() - begin a piece here */
void cut_begin(struct cut *cut);

/** cut_rest() - write "rest" of the side-car file of the piece that ends here */
void cut_rest(const struct cut *cut, struct output *out);

void cut_free(struct cut *cut);

#endif /* SIFIVE_TRACE_CUT_H */

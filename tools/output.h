/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A file being written: like stdio, but numbers cost little, and the first
 * error is kept until output_close() tells it.
 */
#ifndef SIFIVE_TRACE_OUTPUT_H
#define SIFIVE_TRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output;

/**
 * output_spares() - whether a file that is to be written is not one that is read
 * @path:	the output, NULL for standard output
 * @input:	a file to read, "-" for standard input; it need not exist
 *
 * Return: false when they are one and the same: that has been reported.
 */
bool output_spares(const char *path, const char *input);

/**
 * output_open() - begin to write
 * @path:	file, or NULL for standard output
 *
 * Return: the output; NULL when it cannot be: the reason has been printed.
 */
struct output *output_open(const char *path);

/**
 * output_close() - finish; NULL is fine
 *
 * Return: -1 when something could not be written: the reason has been printed,
 * but for a reader that went away.
 */
int output_close(struct output *output);

/** output_to_file() - whether @path, or for NULL standard output, is a file */
bool output_to_file(const char *path);

/** output_flush() - write now what has been put */
void output_flush(struct output *output);

/** output_failed() - whether a write has failed: more is in vain */
bool output_failed(const struct output *output);

void put_bytes(struct output *output, const void *bytes, size_t length);
void put_char(struct output *output, char character);
void put_string(struct output *output, const char *text);
void put_spaces(struct output *output, size_t count);
/* What others have named: without what commands a terminal. */
void put_text(struct output *output, const char *text);
/*
 * To the right of a field of @width, which may be too small; 0 for none. Texts are
 * like those of put_text().
 */
void put_number(struct output *output, uint64_t number, size_t width);
void put_right(struct output *output, const char *text, size_t width);
void put_left(struct output *output, const char *text, size_t width);
/* Ticks, or seconds with nine decimals when @hz is not 0. */
void put_time(struct output *output, uint64_t ticks, uint64_t hz, size_t width);
/* The same, marked with "~": the time is not certain. */
void put_inferred(struct output *output, uint64_t ticks, uint64_t hz, size_t width);
/* With 0x. */
void put_hex(struct output *output, uint64_t number);
void put_format(struct output *output, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Between quotes, with what JSON must not hold escaped; UTF-8 stays as it is. */
void put_json(struct output *output, const char *text);
/* A field of CSV: between quotes, doubled in it; or only where it must be. */
void put_quoted(struct output *output, const char *text);
void put_field(struct output *output, const char *text);
/* With <, >, & and quotes escaped; UTF-8 stays as it is. */
void put_xml(struct output *output, const char *text);

#endif /* SIFIVE_TRACE_OUTPUT_H */

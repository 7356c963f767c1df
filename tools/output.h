/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Buffers output, like stdio but faster for numbers. output_close() reports the first error. */
#ifndef SIFIVE_TRACE_OUTPUT_H
#define SIFIVE_TRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct output;

/**
 * output_spares() - check that the output file is not the input file
 * @path:	the output, or NULL for standard output
 * @input:	an input file, which need not exist; "-" for standard input
 *
 * Return: false after printing an error if they are the same file.
 */
bool output_spares(const char *path, const char *input);

/**
 * output_write_behind() - have a thread write all outputs opened after this call
 *
 * Use this for long outputs, if the user allows several threads.
 */
void output_write_behind(void);

/**
 * output_open() - open an output
 * @path:	path of the file, or NULL for standard output
 *
 * Return: the output, or NULL after printing an error.
 */
struct output *output_open(const char *path);

/**
 * output_to() - write to an open file
 * @fd:		the file, which the caller closes
 * @name:	name of the file in messages
 *
 * Return: see output_open().
 */
struct output *output_to(int fd, const char *name);

/**
 * output_close() - flush and close; NULL is allowed
 *
 * Return: -1 if a write failed; the error has been printed, unless it is EPIPE.
 */
int output_close(struct output *output);

/** output_made() - remember a file or directory that this command has created: see output_remove() */
void output_made(const char *path);

/** output_mkdir() - create a directory like mkdir(2), and remember it: see output_remove() */
int output_mkdir(const char *path);

/**
 * output_remove() - remove the files and directories that this command has created
 *
 * Call this if the command has failed, so that nobody takes incomplete files for a result. Devices
 * and files named by a symbolic link remain.
 */
void output_remove(void);

/** output_to_file() - return whether @path, or standard output if NULL, is a regular file */
bool output_to_file(const char *path);

/** output_flush() - write buffered data now */
void output_flush(struct output *output);

/** output_failed() - return whether a write has failed; if so, further output is useless */
bool output_failed(const struct output *output);

/*
 * When to show bold and coloured text, in the order of the --color keywords. OUTPUT_STYLES_AUTO: on
 * a terminal, unless $NO_COLOR is not empty, or $TERM is unset or "dumb".
 */
enum output_styles {
	OUTPUT_STYLES_AUTO,
	OUTPUT_STYLES_ALWAYS,
	OUTPUT_STYLES_NEVER,
};

/** output_set_styles() - choose the styles of all outputs opened after this call */
void output_set_styles(enum output_styles styles);

/** output_bold() - begin or end bold text, if the output has styles */
void output_bold(struct output *output, bool bold);

void put_bytes(struct output *output, const void *bytes, size_t length);
void put_char(struct output *output, char character);
static inline void put_string(struct output *output, const char *text)
{
	put_bytes(output, text, strlen(text));
}

void put_spaces(struct output *output, size_t count);
/* Write untrusted text with unprintable bytes replaced. */
void put_text(struct output *output, const char *text);
/* Write to a field of @width columns, or more if needed. Text is cleaned as by put_text(). */
void put_number(struct output *output, uint64_t number, size_t width);
void put_right(struct output *output, const char *text, size_t width);
void put_left(struct output *output, const char *text, size_t width);
/* Like put_right(), but if the output has styles, show an inexact number ("~") in yellow. */
void put_cell(struct output *output, const char *text, size_t width);
/* Like put_cell(), but show a share of at least 5 % in red, and of at least 0.5 % in green. */
void put_percent(struct output *output, const char *text, size_t width, double percent);
/* Write ticks, or seconds with nine decimals if @hz is not 0. */
void put_time(struct output *output, uint64_t ticks, uint64_t hz, size_t width);
/* Like put_time(), but with a "~" that marks the time as inferred. */
void put_inferred(struct output *output, uint64_t ticks, uint64_t hz, size_t width);
/* Write a hexadecimal number with the prefix 0x. */
void put_hex(struct output *output, uint64_t number);
void put_format(struct output *output, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Write text in quotes, escaped for JSON; UTF-8 is not changed. */
void put_json(struct output *output, const char *text);
/* Write a CSV field: put_quoted() always in quotes, put_field() only if it needs them. */
void put_quoted(struct output *output, const char *text);
void put_field(struct output *output, const char *text);
/* Write text with <, >, & and quotes escaped for XML; UTF-8 is not changed. */
void put_xml(struct output *output, const char *text);

#endif /* SIFIVE_TRACE_OUTPUT_H */

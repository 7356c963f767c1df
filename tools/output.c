// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Buffers output: see output.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "behind.h"
#include "command.h"
#include "output.h"
#include "text.h"

#define BUFFER		(64u << 10)
/*
 * The buffer has this much spare room, so that text of up to this length can be appended without
 * first checking whether the buffer is full.
 */
#define SHORT		64

struct output {
	const char		*name;
	struct behind_file	file;
	bool			behind;	/* written by the writing thread */
	bool			styled;	/* shows bold text and colours */
	size_t			used;
	char			*buffer;
};

/* Escape sequences for styles. */
#define BOLD		"\033[1m"
#define RED		"\033[31m"
#define GREEN		"\033[32m"
#define YELLOW		"\033[33m"
#define PLAIN		"\033[m"
/* Minimum shares that are shown in red and in green, as in perf report. */
#define RED_PERCENT	5.0
#define GREEN_PERCENT	0.5

static enum output_styles styles;

/* Paths of the regular files and directories that the command has created, in this order. */
static char **made;
static size_t mades;

/* Set if the writing thread writes all outputs opened from now on. */
static bool all_behind;

void output_write_behind(void)
{
	all_behind = true;
}

bool output_spares(const char *path, const char *input)
{
	struct stat written, read;

	if (!path || stat(path, &written) || !S_ISREG(written.st_mode))
		return true;
	if (strcmp(input, "-") ? stat(input, &read) : fstat(STDIN_FILENO, &read))
		return true;
	if (written.st_dev != read.st_dev || written.st_ino != read.st_ino)
		return true;
	report("%s: cannot write: it is also an input; name another file with -o",
	       path);
	return false;
}

bool output_to_file(const char *path)
{
	struct stat status;

	if (path ? stat(path, &status) : fstat(STDOUT_FILENO, &status))
		return path;
	return S_ISREG(status.st_mode);
}

void output_set_styles(enum output_styles when)
{
	styles = when;
}

static bool is_styled(int fd)
{
	const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (styles != OUTPUT_STYLES_AUTO)
		return styles == OUTPUT_STYLES_ALWAYS;
	return isatty(fd) && (!no || !*no) && terminal && strcmp(terminal, "dumb");
}

/* Create an output that owns @fd. If @fd is -1, report errno and return NULL. */
static struct output *begin(int fd, const char *name)
{
	struct output *output;

	if (fd < 0) {
		report("%s: cannot write: %s", name, strerror(errno));
		return NULL;
	}
	output = calloc(1, sizeof(*output));
	if (output)
		output->buffer = malloc(BUFFER + SHORT);
	if (!output || !output->buffer) {
		report("out of memory");
		free(output);
		if (fd != STDOUT_FILENO)
			close(fd);
		return NULL;
	}
	output->name = name;
	output->file.fd = fd;
	output->styled = is_styled(fd);
	output->behind = all_behind && behind_begin();
	return output;
}

void output_made(const char *path)
{
	struct stat status;
	char **more;

	if (lstat(path, &status) || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
		return;
	more = realloc(made, (mades + 1) * sizeof(*made));
	if (!more)
		return;
	made = more;
	made[mades] = strdup(path);
	mades += made[mades] != NULL;
}

int output_mkdir(const char *path)
{
	int ret = mkdir(path, 0777);

	if (!ret)
		output_made(path);
	return ret;
}

void output_remove(void)
{
	while (mades) {
		remove(made[--mades]);
		free(made[mades]);
	}
	free(made);
	made = NULL;
}

struct output *output_open(const char *path)
{
	int fd;

	if (!path)
		return begin(STDOUT_FILENO, "standard output");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0)
		output_made(path);
	return begin(fd, path);
}

struct output *output_to(int fd, const char *name)
{
	/* If standard output is closed, do not reuse its descriptor number. */
	return begin(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), name);
}

void output_bold(struct output *output, bool bold)
{
	if (output->styled)
		put_string(output, bold ? BOLD : PLAIN);
}

/* Write a full buffer, or pass the buffer to the writing thread. */
static __attribute__((noinline)) void pass_on(struct output *output)
{
	char *other = output->behind ? behind_put(&output->file, output->buffer, output->used,
						  BUFFER + SHORT) : NULL;

	if (other)
		output->buffer = other;
	else
		output_flush(output);
	output->used = 0;
}

void output_flush(struct output *output)
{
	if (output->behind)
		behind_wait(&output->file);
	behind_write(&output->file, output->buffer, output->used);
	output->used = 0;
}

int output_close(struct output *output)
{
	int error;

	if (!output)
		return 0;
	output_flush(output);
	error = output->file.error;
	if (output->file.fd != STDOUT_FILENO && close(output->file.fd) && !error)
		error = errno;
	if (error && error != EPIPE)
		report("%s: cannot write: %s", output->name, strerror(error));
	if (output->behind)
		behind_end();
	free(output->buffer);
	free(output);
	return error ? -1 : 0;
}

bool output_failed(const struct output *output)
{
	return output->file.error;
}

/* Account for @length more bytes in the buffer, at most SHORT. */
static inline void put_short(struct output *output, size_t length)
{
	output->used += length;
	if (__builtin_expect(output->used >= BUFFER, false))
		pass_on(output);
}

void put_bytes(struct output *output, const void *bytes, size_t length)
{
	const char *from = bytes;

	while (__builtin_expect(length >= BUFFER - output->used, false)) {
		size_t room = BUFFER - output->used;

		memcpy(output->buffer + output->used, from, room);
		output->used += room;
		from += room;
		length -= room;
		pass_on(output);
	}
	memcpy(output->buffer + output->used, from, length);
	output->used += length;
}

void put_char(struct output *output, char character)
{
	output->buffer[output->used] = character;
	put_short(output, 1);
}

void put_spaces(struct output *output, size_t count)
{
	for (; count > SHORT; count -= SHORT) {
		memset(output->buffer + output->used, ' ', SHORT);
		put_short(output, SHORT);
	}
	memset(output->buffer + output->used, ' ', SHORT);
	put_short(output, count);
}

/* Write the digits that text_eight() returned, except the first @without digits. */
static inline void put_eight(struct output *output, uint64_t digits, unsigned int without)
{
	text_put_eight(output->buffer + output->used,
		       (digits + TEXT_EIGHT_ZEROS) >> 8 * without);
	put_short(output, 8 - without);
}

void put_number(struct output *output, uint64_t number, size_t width)
{
	uint64_t digits = text_eight((uint32_t)(number % TEXT_EIGHT_DIGITS));
	unsigned int zeros = text_zeros(digits);

	if (number >= TEXT_EIGHT_DIGITS) {
		put_number(output, number / TEXT_EIGHT_DIGITS, width > 8 ? width - 8 : 0);
		zeros = 0;
	} else if (8 - zeros < width) {
		put_spaces(output, width - (8 - zeros));
	}
	put_eight(output, digits, zeros);
}

void put_time(struct output *output, uint64_t ticks, uint64_t hz, size_t width)
{
	uint64_t nanoseconds;

	if (!hz) {
		put_number(output, ticks, width);
		return;
	}
	nanoseconds = (uint64_t)((unsigned __int128)(ticks % hz) * 1000000000u / hz);
	put_number(output, ticks / hz, width > 10 ? width - 10 : 0);
	put_char(output, '.');
	put_char(output, (char)('0' + nanoseconds / TEXT_EIGHT_DIGITS));
	put_eight(output, text_eight((uint32_t)(nanoseconds % TEXT_EIGHT_DIGITS)), 0);
}

void put_inferred(struct output *output, uint64_t ticks, uint64_t hz, size_t width)
{
	char digits[20 + TEXT_SPARE];
	size_t used = 1 + (size_t)(text_number(digits, hz ? ticks / hz : ticks) - digits);

	used += hz ? 10 : 0;
	put_spaces(output, width > used ? width - used : 0);
	put_char(output, '~');
	put_time(output, ticks, hz, 0);
}

void put_hex(struct output *output, uint64_t number)
{
	char *to = output->buffer + output->used;

	to[0] = '0';
	to[1] = 'x';
	put_short(output, (size_t)(text_hex(to + 2, number, 1) - to));
}

void put_text(struct output *output, const char *text)
{
	size_t plain, length;

	while (*text) {
		for (plain = text_ascii(text); (length = text_printable(text + plain));)
			plain += length;
		put_bytes(output, text, plain);
		text += plain;
		if (*text) {
			put_char(output, '?');
			text++;
		}
	}
}

void put_right(struct output *output, const char *text, size_t width)
{
	size_t columns = text_columns(text);

	if (columns < width)
		put_spaces(output, width - columns);
	put_text(output, text);
}

/* Write text in a colour, unless @colour is NULL or the output has no styles. */
static void put_coloured(struct output *output, const char *text, size_t width, const char *colour)
{
	if (!output->styled || !colour) {
		put_right(output, text, width);
		return;
	}
	put_string(output, colour);
	put_right(output, text, width);
	put_string(output, PLAIN);
}

void put_cell(struct output *output, const char *text, size_t width)
{
	put_coloured(output, text, width, *text == '~' ? YELLOW : NULL);
}

void put_percent(struct output *output, const char *text, size_t width, double percent)
{
	put_coloured(output, text, width, *text == '~' ? YELLOW : percent >= RED_PERCENT ? RED :
					  percent >= GREEN_PERCENT ? GREEN : NULL);
}

void put_left(struct output *output, const char *text, size_t width)
{
	size_t columns = text_columns(text);

	put_text(output, text);
	if (columns < width)
		put_spaces(output, width - columns);
}

void put_format(struct output *output, const char *format, ...)
{
	va_list arguments;
	char text[1024];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	put_string(output, text);
}

/*
 * Return the length of the text before the first character that JSON requires to be escaped. '<' is
 * escaped for HTML.
 */
static size_t plain_ascii(const char *text)
{
	size_t length = 0;

	while (text[length] >= ' ' && text[length] < 0x7f && text[length] != '"' &&
	       text[length] != '\\' && text[length] != '<')
		length++;
	return length;
}

/* U+0080 to U+009F are not printable. In UTF-8, the second byte of each equals its code point. */
void put_json(struct output *output, const char *text)
{
	size_t length;

	put_char(output, '"');
	for (; *text; text += length) {
		unsigned char c = (unsigned char)*text;

		length = plain_ascii(text);
		if (!length && c != '"' && c != '\\' && c != '<')
			length = text_printable(text);
		if (length) {
			put_bytes(output, text, length);
			continue;
		}
		length = text_character(text) == 2 ? 2 : 1;
		if (c == '"' || c == '\\') {
			put_char(output, '\\');
			put_char(output, *text);
		} else {
			put_format(output, "\\u%04x",
				   (unsigned char)text[length - 1]);
		}
	}
	put_char(output, '"');
}

void put_quoted(struct output *output, const char *text)
{
	size_t length;

	put_char(output, '"');
	for (; *text; text += length) {
		length = text_printable(text);
		if (*text == '"')
			put_char(output, '"');
		put_bytes(output, length ? text : "?", length ? length : 1);
		length += !length;
	}
	put_char(output, '"');
}

void put_field(struct output *output, const char *text)
{
	if (strpbrk(text, ",\""))
		put_quoted(output, text);
	else
		put_text(output, text);
}

void put_xml(struct output *output, const char *text)
{
	size_t length;

	for (; *text; text += length) {
		unsigned char c = (unsigned char)*text;

		length = text_printable(text);
		/* XML does not allow U+FFFE and U+FFFF. */
		if (length > 1 && strncmp(text, "\xef\xbf\xbe", 3) &&
		    strncmp(text, "\xef\xbf\xbf", 3)) {
			put_bytes(output, text, length);
			continue;
		}
		length = text_character(text) == 2 ? 2 : 1;
		if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'' ||
		    c >= 0x7f)
			put_format(output, "&#%u;",
				   (unsigned char)text[length - 1]);
		else
			put_char(output, c < 0x20 ? ' ' : *text);
	}
}

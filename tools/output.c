// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Buffered writing: see output.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "output.h"
#include "text.h"

#define BUFFER		(64u << 10)
/* Digits of a 64-bit number, and more. */
#define DIGITS		24

struct output {
	const char	*name;
	int		fd;
	int		error;		/* errno of the first failed write */
	bool		styled;		/* a terminal that shows bold text */
	size_t		used;
	char		buffer[BUFFER];
};

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

static bool is_styled(int fd)
{
	const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return isatty(fd) && (!no || !*no) && terminal && strcmp(terminal, "dumb");
}

/* Takes ownership of @fd, which may be the result of a failed call. */
static struct output *begin(int fd, const char *name)
{
	struct output *output;

	if (fd < 0) {
		report("%s: cannot write: %s", name, strerror(errno));
		return NULL;
	}
	output = malloc(sizeof(*output));
	if (!output) {
		report("out of memory");
		if (fd != STDOUT_FILENO)
			close(fd);
		return NULL;
	}
	output->name = name;
	output->error = 0;
	output->used = 0;
	output->fd = fd;
	output->styled = is_styled(fd);
	return output;
}

struct output *output_open(const char *path)
{
	if (!path)
		return begin(STDOUT_FILENO, "standard output");
	return begin(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), path);
}

struct output *output_to(int fd, const char *name)
{
	/* Avoid the number of standard output, in case that is closed. */
	return begin(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), name);
}

void output_bold(struct output *output, bool bold)
{
	if (output->styled)
		put_string(output, bold ? "\033[1m" : "\033[m");
}

void output_flush(struct output *output)
{
	size_t done = 0;
	ssize_t count;

	while (done < output->used && !output->error) {
		count = write(output->fd, output->buffer + done,
			      output->used - done);
		if (count >= 0)
			done += (size_t)count;
		else if (errno != EINTR)
			output->error = errno;
	}
	output->used = 0;
}

int output_close(struct output *output)
{
	int error;

	if (!output)
		return 0;
	output_flush(output);
	if (output->fd != STDOUT_FILENO && close(output->fd) && !output->error)
		output->error = errno;
	error = output->error;
	if (error && error != EPIPE)
		report("%s: cannot write: %s", output->name, strerror(error));
	free(output);
	return error ? -1 : 0;
}

bool output_failed(const struct output *output)
{
	return output->error;
}

void put_bytes(struct output *output, const void *bytes, size_t length)
{
	const char *from = bytes;

	while (length) {
		size_t room = BUFFER - output->used;
		size_t part = length < room ? length : room;

		memcpy(output->buffer + output->used, from, part);
		output->used += part;
		from += part;
		length -= part;
		if (output->used == BUFFER)
			output_flush(output);
	}
}

void put_char(struct output *output, char character)
{
	output->buffer[output->used++] = character;
	if (output->used == BUFFER)
		output_flush(output);
}

void put_string(struct output *output, const char *text)
{
	put_bytes(output, text, strlen(text));
}

void put_spaces(struct output *output, size_t count)
{
	while (count--)
		put_char(output, ' ');
}

void put_number(struct output *output, uint64_t number, size_t width)
{
	char digits[DIGITS], *at = digits + DIGITS;
	size_t length;

	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	length = (size_t)(digits + DIGITS - at);
	if (length < width)
		put_spaces(output, width - length);
	put_bytes(output, at, length);
}

void put_time(struct output *output, uint64_t ticks, uint64_t hz, size_t width)
{
	unsigned __int128 nanoseconds;
	char digits[DIGITS];
	uint64_t part;
	int i;

	if (!hz) {
		put_number(output, ticks, width);
		return;
	}
	nanoseconds = (unsigned __int128)(ticks % hz) * 1000000000u / hz;
	part = (uint64_t)nanoseconds;
	put_number(output, ticks / hz, width > 10 ? width - 10 : 0);
	digits[0] = '.';
	for (i = 9; i; i--) {
		digits[i] = (char)('0' + part % 10);
		part /= 10;
	}
	put_bytes(output, digits, 10);
}

void put_inferred(struct output *output, uint64_t ticks, uint64_t hz, size_t width)
{
	uint64_t whole = hz ? ticks / hz : ticks;
	size_t used = 1 + (hz ? 10 : 0);

	do {
		used++;
		whole /= 10;
	} while (whole);
	put_spaces(output, width > used ? width - used : 0);
	put_char(output, '~');
	put_time(output, ticks, hz, 0);
}

void put_hex(struct output *output, uint64_t number)
{
	char digits[DIGITS], *at = digits + DIGITS;

	do {
		*--at = "0123456789abcdef"[number & 15];
		number >>= 4;
	} while (number);
	*--at = 'x';
	*--at = '0';
	put_bytes(output, at, (size_t)(digits + DIGITS - at));
}

void put_text(struct output *output, const char *text)
{
	size_t plain, length;

	while (*text) {
		for (plain = 0; (length = text_printable(text + plain));)
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

/* Length of text that JSON leaves unescaped; HTML also needs '<' escaped. */
static size_t plain_ascii(const char *text)
{
	size_t length = 0;

	while (text[length] >= ' ' && text[length] < 0x7f && text[length] != '"' &&
	       text[length] != '\\' && text[length] != '<')
		length++;
	return length;
}

/* U+0080 to U+009F are not printable: the second byte is the code point. */
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

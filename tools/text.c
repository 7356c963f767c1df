// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Handles UTF-8 and printable characters: see text.h. */
#include <stdint.h>
#include <string.h>

#include "text.h"

size_t text_character(const char *text)
{
	/*
	 * For each length: mask and value of the marker bits in the first byte, and the lowest code
	 * point.
	 */
	static const struct {
		unsigned char	mask, first;
		uint32_t	least;
	} form[] = {
		{ 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 },
		{ 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 },
	};
	unsigned char first = (unsigned char)*text;
	size_t more = 0, i;
	uint32_t code;

	while (more < 4 && (first & form[more].mask) != form[more].first)
		more++;
	if (more == 4)
		return 0;
	code = first & (unsigned char)~form[more].mask;
	for (i = 1; i <= more; i++) {
		unsigned char next = (unsigned char)text[i];

		if ((next & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (next & 0x3f);
	}
	/* Surrogates are not characters. */
	if (code < form[more].least || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	return more + 1;
}

size_t text_printable(const char *text)
{
	unsigned char first = (unsigned char)*text;
	size_t length;

	if (first < 0x80)
		return first >= 0x20 && first != 0x7f;
	length = text_character(text);
	/* Terminals also interpret U+0080 to U+009F as commands. */
	if (first == 0xc2 && (unsigned char)text[1] < 0xa0)
		return 0;
	return length;
}

size_t text_columns(const char *text)
{
	size_t columns = text_ascii(text), length;

	for (text += columns; *text; columns++) {
		length = text_printable(text);
		text += length ? length : 1;
	}
	return columns;
}

size_t text_bytes(const char *text, size_t columns)
{
	size_t bytes = 0, length;

	for (; columns && text[bytes]; columns--) {
		length = text_printable(text + bytes);
		bytes += length ? length : 1;
	}
	return bytes;
}

void text_clean(char *text)
{
	size_t length;

	for (; *text; text += length) {
		length = text_printable(text);
		if (length)
			continue;
		*text = '?';
		length = 1;
	}
}

bool text_matches(const char *pattern, const char *text)
{
	const char *again = NULL, *from = NULL;
	size_t length;

	while (*text) {
		length = *pattern == '?' ? text_character(text) : 1;
		if (*pattern == '*') {
			again = ++pattern;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text += length ? length : 1;
		} else if (again) {
			pattern = again;
			text = ++from;
		} else {
			return false;
		}
	}
	return !pattern[strspn(pattern, "*")];
}

const char *text_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The length of a number is unpredictable, so avoid branches that depend on the length. */
char *text_number(char *to, uint64_t number)
{
	uint64_t digits;
	unsigned int zeros;

	if (number >= TEXT_EIGHT_DIGITS) {
		to = text_number(to, number / TEXT_EIGHT_DIGITS);
		digits = text_eight((uint32_t)(number % TEXT_EIGHT_DIGITS));
		return text_put_eight(to, digits + TEXT_EIGHT_ZEROS);
	}
	digits = text_eight((uint32_t)number);
	zeros = text_zeros(digits);
	return text_put_eight(to, (digits + TEXT_EIGHT_ZEROS) >> 8 * zeros) - zeros;
}

/* Return eight hexadecimal digits, the first one in the lowest byte. */
static uint64_t eight_hex(uint32_t number)
{
	uint64_t digits = number;

	digits = (digits << 16 | digits) & 0x0000ffff0000ffffull;
	digits = (digits << 8 | digits) & 0x00ff00ff00ff00ffull;
	digits = (digits << 4 | digits) & 0x0f0f0f0f0f0f0f0full;
	return __builtin_bswap64(digits);
}

char *text_hex(char *to, uint64_t number, unsigned int width)
{
	const uint64_t digits = eight_hex((uint32_t)number);
	const uint64_t letters = (digits + 0x0606060606060606ull) >> 4 & 0x0101010101010101ull;
	unsigned int zeros = 0;

	if (number >> 32)
		to = text_hex(to, number >> 32, 1);
	else
		zeros = text_zeros(digits);
	if (zeros > 8 - width)
		zeros = 8 - width;
	return text_put_eight(to, (digits + TEXT_EIGHT_ZEROS + letters * ('a' - '9' - 1)) >>
				  8 * zeros) - zeros;
}

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Handles untrusted text, which may be invalid UTF-8, and formats numbers as text. */
#ifndef SIFIVE_TRACE_TEXT_H
#define SIFIVE_TRACE_TEXT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** text_character() - return the length of the UTF-8 character at @text, or 0 if it is invalid */
size_t text_character(const char *text);

/**
 * text_printable() - like text_character(), but also return 0 for a control character and at the
 * end of the text
 */
size_t text_printable(const char *text);

/** text_ascii() - return the number of printable ASCII characters at the beginning of @text */
static inline size_t text_ascii(const char *text)
{
	size_t length = 0;

	while ((unsigned char)(text[length] - ' ') < 0x7f - ' ')
		length++;
	return length;
}

/**
 * text_columns() - return the width of @text in columns; an unprintable byte occupies one column
 */
size_t text_columns(const char *text);

/** text_bytes() - return the number of bytes of @text that fit in @columns columns */
size_t text_bytes(const char *text, size_t columns);

/**
 * text_matches() - return whether @text matches @pattern, in which * matches any number of
 * characters and ? matches one
 *
 * No other character is special, because C++ names contain brackets.
 */
bool text_matches(const char *pattern, const char *text);

/** text_base() - return the last component of a path */
const char *text_base(const char *path);

/** text_clean() - replace each unprintable byte with '?' */
void text_clean(char *text);

/* Numbers below this have at most eight digits. */
#define TEXT_EIGHT_DIGITS	100000000u
/* Adding this to the digits of text_eight() converts them to characters. */
#define TEXT_EIGHT_ZEROS	0x3030303030303030ull
/* Number of bytes that text_number() and text_hex() may overwrite after the written number. */
#define TEXT_SPARE		8

/** text_eight() - return eight digits of a number below 10^8, the first one in the lowest byte */
static inline uint64_t text_eight(uint32_t number)
{
	uint64_t parts, tens;

	/* In this range, * 10486 >> 20 divides by 100, and * 103 >> 10 divides by 10. */
	parts = number / 10000 | (uint64_t)(number % 10000) << 32;
	tens = parts * 10486 >> 20 & 0x7f0000007full;
	parts = tens | (parts - 100 * tens) << 16;
	tens = parts * 103 >> 10 & 0x000f000f000f000full;
	return tens | (parts - 10 * tens) << 8;
}

/**
 * text_zeros() - return the number of leading zeros in the digits of text_eight(), at most seven
 */
static inline unsigned int text_zeros(uint64_t digits)
{
	return (unsigned int)__builtin_ctzll(digits | 1ull << 56) / 8;
}

/** text_put_eight() - write eight bytes, the lowest one first; return their end */
static inline char *text_put_eight(char *to, uint64_t bytes)
{
	bytes = htole64(bytes);
	memcpy(to, &bytes, sizeof(bytes));
	return to + sizeof(bytes);
}

/**
 * text_number() - write a number in decimal, without a terminator
 * @to:		room for 20 digits and TEXT_SPARE
 *
 * Return: the end of the number in @to.
 */
char *text_number(char *to, uint64_t number);

/** text_hex() - write a number in hexadecimal, with at least @width digits, 1 to 8 */
char *text_hex(char *to, uint64_t number, unsigned int width);

#endif /* SIFIVE_TRACE_TEXT_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Untrusted text, valid UTF-8 or not, and its printable parts. */
#ifndef SIFIVE_TRACE_TEXT_H
#define SIFIVE_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/** text_character() - length of the UTF-8 character at @text, 0 if it is invalid */
size_t text_character(const char *text);

/** text_printable() - as text_character(), but also 0 for control characters and at the end */
size_t text_printable(const char *text);

/** text_columns() - width in columns; an unprintable byte takes one */
size_t text_columns(const char *text);

/** text_bytes() - how many bytes fit into that many columns */
size_t text_bytes(const char *text, size_t columns);

/**
 * text_matches() - whether @text is @pattern, in which * and ? stand for any characters and for one
 *
 * Nothing else is special: C++ names have brackets.
 */
bool text_matches(const char *pattern, const char *text);

/** text_base() - the last component of a path */
const char *text_base(const char *path);

/** text_clean() - replace each unprintable byte by '?' */
void text_clean(char *text);

#endif /* SIFIVE_TRACE_TEXT_H */

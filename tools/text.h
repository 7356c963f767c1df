/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Text of others, in UTF-8 or in no encoding at all, and what may be printed. */
#ifndef SIFIVE_TRACE_TEXT_H
#define SIFIVE_TRACE_TEXT_H

#include <stddef.h>

/** text_character() - bytes of the UTF-8 character at @text; 0: it is none */
size_t text_character(const char *text);

/**
 * text_printable() - the same, but 0 too for what commands a terminal, and for
 * the end
 */
size_t text_printable(const char *text);

/** text_columns() - how wide it is when each byte that is not printable is one */
size_t text_columns(const char *text);

/** text_bytes() - how many bytes fill so many columns */
size_t text_bytes(const char *text, size_t columns);

/** text_base() - the file's name at the end of a path */
const char *text_base(const char *path);

/** text_clean() - put '?' for each byte that is not printable */
void text_clean(char *text);

#endif /* SIFIVE_TRACE_TEXT_H */

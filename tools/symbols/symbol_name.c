// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes a symbol as text: see symbols.h. */
#include <string.h>

#include "symbols.h"
#include "text.h"

/* Copy as much of the text as fits before @end, and add a NUL. Return the end of the copy. */
static char *put_part(char *to, const char *end, const char *text, size_t length)
{
	const size_t room = (size_t)(end - to) - 1;

	length = length < room ? length : room;
	memcpy(to, text, length);
	to[length] = '\0';
	return to + length;
}

void symbol_name(const struct symbol *symbol, uint64_t address, char *text,
		 unsigned int size)
{
	const char *name = symbol->function ? symbol->function : symbol->object, *end = text + size;
	char offset[3 + 16 + TEXT_SPARE] = "+0x";

	if (name)
		text = put_part(text, end, name, strlen(name));
	if (symbol->function && address == symbol->start)
		return;
	if (symbol->function)
		address -= symbol->start;
	else if (name)
		address = symbol->offset;
	*text_hex(offset + 3, address, 1) = '\0';
	put_part(text, end, name ? offset : offset + 1, strlen(name ? offset : offset + 1));
}

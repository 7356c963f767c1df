/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the known word nearest to an unknown word. */
#ifndef SIFIVE_TRACE_NEAREST_H
#define SIFIVE_TRACE_NEAREST_H

/**
 * struct nearest - a search
 * @wanted:	the word that does not exist
 * @found:	the nearest word, or NULL if none is near
 * @distance:	number of edits (a letter omitted, added or replaced, or two swapped) that turn
 *		@wanted into @found
 */
struct nearest {
	const char	*wanted;
	const char	*found;
	unsigned int	distance;
};

/** nearest_try() - compare a word, which must outlive the search */
void nearest_try(struct nearest *nearest, const char *word);

/** nearest_text() - write "did you mean BEFOREword? " or "" to @text, a buffer of @size bytes */
const char *nearest_text(const struct nearest *nearest, const char *before, char *text,
			 unsigned long size);

#endif /* SIFIVE_TRACE_NEAREST_H */

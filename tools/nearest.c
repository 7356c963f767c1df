// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds the nearest word: see nearest.h. */
#include <stdio.h>
#include <string.h>

#include "nearest.h"

/* Maximum length of a word; longer words are not compared. */
#define LENGTH_MAX	32

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Return the edit distance between two words, which counts two swapped letters as one mistake. */
static unsigned int distance(const char *a, size_t length, const char *b, size_t width)
{
	unsigned int row[LENGTH_MAX + 1][LENGTH_MAX + 1];
	size_t i, j;

	for (j = 0; j <= width; j++)
		row[0][j] = (unsigned int)j;
	for (i = 1; i <= length; i++) {
		row[i][0] = (unsigned int)i;
		for (j = 1; j <= width; j++) {
			row[i][j] = least(row[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
					  1 + least(row[i - 1][j], row[i][j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[i][j] = least(row[i][j], 1 + row[i - 2][j - 2]);
		}
	}
	return row[length][width];
}

void nearest_try(struct nearest *nearest, const char *word)
{
	size_t length = strlen(nearest->wanted), width = strlen(word);
	unsigned int d;

	if (!length || length > LENGTH_MAX || width > LENGTH_MAX)
		return;
	d = distance(nearest->wanted, length, word, width);
	/*
	 * A word is near if there is at most one mistake for every three letters, or if it begins
	 * with @wanted.
	 */
	if (d > (length + 1) / 3 && (length < 3 || strncmp(nearest->wanted, word, length)))
		return;
	if (nearest->found && d >= nearest->distance)
		return;
	nearest->found = word;
	nearest->distance = d;
}

const char *nearest_text(const struct nearest *nearest, const char *before, char *text,
			 unsigned long size)
{
	*text = '\0';
	if (nearest->found)
		snprintf(text, size, "did you mean %s%s? ", before, nearest->found);
	return text;
}

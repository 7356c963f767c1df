// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Splits the argument of -e: see symbols.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols.h"

bool symbols_split(char *text, uint64_t *bias)
{
	char *at = strrchr(text, '@'), *end;

	*bias = 0;
	if (!at || !access(text, F_OK))
		return false;
	errno = 0;
	*bias = strtoull(at + 1, &end, 0);
	if (end == at + 1 || *end || errno)
		return false;
	*at = '\0';
	return true;
}

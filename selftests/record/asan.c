// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Replaces the address sanitizer's library. Like that library, ends a program if another library
 * precedes it, unless an option permits this.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int asan_stand_in;

__attribute__((constructor)) static void check(void)
{
	const char *options = getenv("ASAN_OPTIONS"), *order;

	order = options ? strstr(options, "verify_asan_link_order=0") : NULL;
	if (order)
		return;
	fputs("ASan runtime does not come first in initial library list\n", stderr);
	exit(1);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program without hooks and without the library, linked to an object with both. Prints the number
 * of calls in that object: "calls one 21".
 */
#include <stdio.h>

unsigned int one_calls(unsigned int n);

int main(void)
{
	printf("calls one %u\n", one_calls(20));
	return 0;
}

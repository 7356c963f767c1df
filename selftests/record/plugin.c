// SPDX-License-Identifier: GPL-2.0-only
/* The object that plugins.c loads. */
static volatile unsigned int calls;

void plugin(void)
{
	calls++;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* What parts of the command want to print, for tests that print nothing of it. */
#include "command.h"

void report(const char *format, ...)
{
	(void)format;
}

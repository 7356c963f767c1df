// SPDX-License-Identifier: GPL-2.0-only
/* A function that is compiled in several ways; TRACED is its name. */
#include "meter.h"
#include "traced.h"

__attribute__((noinline)) void TRACED(void)
{
	meter_middle = meter_instret();
}

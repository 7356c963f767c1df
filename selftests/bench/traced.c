// SPDX-License-Identifier: GPL-2.0-only
/* The Makefile compiles this function in several ways; TRACED is a different name each time. */
#include "meter.h"
#include "traced.h"

__attribute__((noinline)) void TRACED(void)
{
	meter_middle = meter_instret();
}

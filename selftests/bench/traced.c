// SPDX-License-Identifier: GPL-2.0-only
/* A function that the Makefile compiles in several ways, each under a different name, TRACED. */
#include "meter.h"
#include "traced.h"

__attribute__((noinline)) void TRACED(void)
{
	meter_middle = meter_instret();
}

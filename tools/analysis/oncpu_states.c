// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Names the thread states of oncpu.h. */
#include "oncpu.h"

const char *oncpu_name(enum oncpu_state state)
{
	static const char * const names[] = {
		[ONCPU_UNKNOWN] = "unknown", [ONCPU_RUNS] = "runs",
		[ONCPU_PREEMPTED] = "preempted", [ONCPU_SLEEPS] = "sleeps",
		[ONCPU_UNINTERRUPTIBLE] = "uninterruptible", [ONCPU_STOPPED] = "stopped",
		[ONCPU_WAITS] = "waits", [ONCPU_WOKEN] = "woken", [ONCPU_MERGED] = "several",
	};

	return names[state];
}

enum oncpu_state oncpu_state_after(unsigned int kind)
{
	switch (kind) {
	case SIFIVE_TRACE_SWITCH_PREEMPTED:
		return ONCPU_PREEMPTED;
	case SIFIVE_TRACE_SWITCH_SLEEPS:
		return ONCPU_SLEEPS;
	case SIFIVE_TRACE_SWITCH_UNINTERRUPTIBLE:
		return ONCPU_UNINTERRUPTIBLE;
	case SIFIVE_TRACE_SWITCH_STOPPED:
		return ONCPU_STOPPED;
	default:
		return ONCPU_UNKNOWN;
	}
}

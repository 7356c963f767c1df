/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records of context switches, which the kernel writes. */
#ifndef PERF_SWITCHES_H
#define PERF_SWITCHES_H

#include <stdint.h>

#include "compiler.h"
#include "device.h"

#ifndef PERF_DROPIN
/* To keep static programs small, only in the shared library, which the recorder preloads. */
#ifdef PERF_SHARED
#define PERF_SWITCHES	1
#else
#define PERF_SWITCHES	0
#endif

/**
 * perf_switches_set - make the kernel record context switches in the following captures
 * @device:	device of a session that holds encoders
 * @used:	channels that carry other records, bit n for channel n
 * @flags:	SIFIVE_TRACE_SWITCHES_*
 *
 * Returns the channel of the records, or -1.
 */
PERF_INTERNAL int perf_switches_set(struct perf_device *device, uint32_t used, uint32_t flags);
#endif /* PERF_DROPIN */

#endif /* PERF_SWITCHES_H */

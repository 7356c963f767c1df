// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that the kernel's interface has one layout: compiled for RV32 and RV64,
 * with padding an error.
 */
#include <linux/sifive_trace.h>

#define SIZE(type, bytes) \
	_Static_assert(sizeof(struct type) == (bytes), #type)

SIZE(sifive_trace_info, 48);
SIZE(sifive_trace_encoder, 88);
SIZE(sifive_trace_config, 48);
SIZE(sifive_trace_event, 24);
SIZE(sifive_trace_counters, 792);
SIZE(sifive_trace_status, 216);
SIZE(sifive_trace_sink, 88);
SIZE(sifive_trace_run, 8);

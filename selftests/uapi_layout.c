// SPDX-License-Identifier: GPL-2.0-only
/* Proves that the uapi structures have the same layout, without padding, on RV32 and RV64. */
#include <linux/sifive_trace.h>
#include <linux/sifive_trace_join.h>
#include <linux/sifive_trace_regs.h>
#include <linux/sifive_trace_request.h>

#define SIZE(type, bytes) \
	_Static_assert(sizeof(struct type) == (bytes), #type)

SIZE(sifive_trace_info, 56);
SIZE(sifive_trace_encoder, 136);
SIZE(sifive_trace_config, 72);
SIZE(sifive_trace_event, 32);
SIZE(sifive_trace_counters, 1048);
SIZE(sifive_trace_slot, 256);
SIZE(sifive_trace_thread, 20);
SIZE(sifive_trace_sampling, 64);
SIZE(sifive_trace_switches, 16);
SIZE(sifive_trace_query, 56);
SIZE(sifive_trace_status, 368);
SIZE(sifive_trace_instruction, 24);
SIZE(sifive_trace_instruction_status, 16);
SIZE(sifive_trace_sink, 184);
SIZE(sifive_trace_start, 24);
SIZE(sifive_trace_run, 8);
SIZE(sifive_trace_attach, 24);
SIZE(sifive_trace_losses, 96);
SIZE(sifive_trace_join, 1064);
SIZE(sifive_trace_request, 32);

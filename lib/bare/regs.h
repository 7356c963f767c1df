/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Registers of trace encoders and funnels, version 0, and of the CLINT, for
 * programs without an operating system. Offsets are in bytes; encoder and funnel
 * have the same ones.
 */
#ifndef PERF_BARE_REGS_H
#define PERF_BARE_REGS_H

#define TR_CONTROL		0x000
#define TR_ACTIVE		(1u << 0)
#define TR_ENABLE		(1u << 1)
#define TR_TRACING		(1u << 2)	/* encoder */
#define TR_EMPTY		(1u << 3)
#define TR_ITC			(1u << 7)	/* encoder */
#define TR_STALLED		(1u << 12)	/* encoder; writing 0 clears it */
#define TR_STALL		(1u << 13)	/* encoder */
#define TR_STOP_ON_WRAP		(1u << 14)
#define TR_NO_SYNC		(0xffu << 16)	/* encoder */
#define TR_SINK_ERROR		(1u << 27)	/* writing 1 clears it */
#define TR_SINK(kind)		((uint32_t)(kind) << 28)

/* Kinds of sinks; bit n of TR_IMPL tells whether there is kind n. */
#define TR_SINK_SRAM		4
#define TR_SINK_SBA		7
#define TR_SINK_FUNNEL		8

#define TR_IMPL			0x004
#define TR_IMPL_HAS(impl, kind)	((impl) >> (kind) & 1)
#define TR_IMPL_WORD(impl)	(4u << ((impl) >> 16 & 3))

#define TR_SINK_BASE		0x010
#define TR_SINK_BASE_HIGH	0x014
#define TR_SINK_LIMIT		0x018	/* address of the last word */
#define TR_SINK_WP		0x01c
#define TR_SINK_WP_WRAPPED	(1u << 0)

#define TR_TS_CONTROL		0x040
#define TR_TS_ACTIVE		(1u << 0)
#define TR_TS_COUNT		(1u << 1)
#define TR_TS_TYPE(control)	((control) >> 4 & 7)
#define TR_TS_TYPE_SLAVE	4
#define TR_TS_ENABLE		(1u << 15)
#define TR_TS_IN_MESSAGES	(3u << 18)
#define TR_TS_WIDTH(control)	((control) >> 24)
#define TR_TS_LOWER		0x044

#define TR_ITC_ENABLE		0x060	/* encoder: bit n = stimulus n */
#define TR_ITC_STIMULUS		0x080	/* encoder */

#define CLINT_MTIMECMP(hart)	(0x4000 + 8 * (hart))
#define CLINT_MTIME		0xbff8

#endif /* PERF_BARE_REGS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers of SiFive trace components, version 0. Encoder (TE) and funnel (TF)
 * share offsets and field positions; what only one of them has says so.
 */
#ifndef SIFIVE_TRACE_REGS_H
#define SIFIVE_TRACE_REGS_H

#include <linux/bits.h>
#include <linux/sizes.h>

/* Every component is one block. */
#define TR_BLOCK_SIZE			SZ_4K

#define TR_CONTROL			0x000
#define TR_CONTROL_ACTIVE		BIT(0)
#define TR_CONTROL_ENABLE		BIT(1)
#define TR_CONTROL_TRACING		BIT(2)		/* TE */
#define TR_CONTROL_EMPTY		BIT(3)
#define TR_CONTROL_INSTRUCTION		GENMASK(6, 4)	/* TE */
#define TR_CONTROL_INSTRUMENTATION	GENMASK(8, 7)	/* TE */
#define TR_INSTRUMENTATION_OFF		0
#define TR_INSTRUMENTATION_ITC		1
#define TR_CONTROL_STALL_OR_OVERFLOW	BIT(12)		/* TE */
#define TR_CONTROL_STALL_ENABLE		BIT(13)		/* TE */
#define TR_CONTROL_STOP_ON_WRAP		BIT(14)
#define TR_CONTROL_INHIBIT_SRC		BIT(15)		/* TE */
#define TR_CONTROL_SYNC_MAX_BTM		GENMASK(19, 16)	/* TE */
#define TR_CONTROL_SYNC_MAX_INST	GENMASK(23, 20)	/* TE */
#define TR_SYNC_MAX_OFF			0xf
#define TR_CONTROL_SLICE_FORMAT		GENMASK(26, 24)	/* TE */
#define TR_CONTROL_SINK_ERROR		BIT(27)		/* write 1 to clear */
#define TR_CONTROL_SINK			GENMASK(31, 28)
/* What hardware alone sets. */
#define TR_CONTROL_STATUS		(TR_CONTROL_EMPTY | TR_CONTROL_STALL_OR_OVERFLOW | \
					 TR_CONTROL_SLICE_FORMAT | TR_CONTROL_SINK_ERROR)

#define TR_IMPL				0x004
#define TR_IMPL_VERSION			GENMASK(3, 0)
#define TR_IMPL_SINKS			GENMASK(8, 4)	/* from kind SRAM up */
#define TR_IMPL_SINKS_FIRST		4		/* kind of its lowest bit */
#define TR_IMPL_SINK_BYTES		GENMASK(17, 16)	/* 4 << value bytes */
#define TR_IMPL_SRC			GENMASK(23, 20)	/* TE */
#define TR_IMPL_SRC_BITS		GENMASK(26, 24)	/* TE */
#define TR_IMPL_HART			GENMASK(31, 28)	/* TE */

#define TR_SINK_BASE			0x010
#define TR_SINK_BASE_HIGH		0x014
#define TR_SINK_LIMIT			0x018	/* address of the last sink word */
#define TR_SINK_WP			0x01c
#define TR_SINK_WP_WRAPPED		BIT(0)
#define TR_SINK_RP			0x020	/* SRAM */
#define TR_SINK_DATA			0x024	/* SRAM: word at RP, RP += 4 */

#define TR_TS_CONTROL			0x040
#define TR_TS_ACTIVE			BIT(0)
#define TR_TS_COUNT			BIT(1)
#define TR_TS_RESET			BIT(2)
#define TR_TS_TYPE			GENMASK(6, 4)
#define TR_TS_TYPE_NONE			0
#define TR_TS_TYPE_EXTERNAL		1
#define TR_TS_TYPE_BUS			2
#define TR_TS_TYPE_CORE			3
#define TR_TS_TYPE_SLAVE		4
#define TR_TS_PRESCALE			GENMASK(9, 8)
#define TR_TS_ENABLE			BIT(15)
#define TR_TS_INSTRUMENTATION		BIT(18)
#define TR_TS_OWNERSHIP			BIT(19)
#define TR_TS_WIDTH			GENMASK(31, 24)
#define TR_TS_LOWER			0x044
#define TR_TS_UPPER			0x048

#define TR_ITC_ENABLE			0x060	/* TE: bit n = stimulus n */
#define TR_ITC_STIMULUS			0x080	/* TE */

/* All that is known here of messages: how long one is, and its last byte. */
#define TR_MESSAGE_MAX			38
#define TR_MESSAGE_END			GENMASK(1, 0)

#endif /* SIFIVE_TRACE_REGS_H */

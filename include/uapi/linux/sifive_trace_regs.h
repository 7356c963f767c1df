/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR Apache-2.0 OR MIT */
/*
 * Registers of SiFive trace components, version 0. Encoder (TE) and funnel (TF) share offsets and
 * fields; comments mark registers and fields that only one component has. A program can access an
 * encoder's registers in its stimulus page, but should use only TR_ITC_STIMULUS, TR_TS_LOWER and
 * TR_TS_UPPER.
 */
#ifndef _UAPI_LINUX_SIFIVE_TRACE_REGS_H
#define _UAPI_LINUX_SIFIVE_TRACE_REGS_H

/* The registers of a component occupy one block. */
#define TR_BLOCK_SIZE			0x1000

#define TR_CONTROL			0x000
#define TR_CONTROL_ACTIVE		0x00000001u
#define TR_CONTROL_ENABLE		0x00000002u
#define TR_CONTROL_TRACING		0x00000004u	/* TE */
#define TR_CONTROL_EMPTY		0x00000008u
#define TR_CONTROL_INSTRUCTION		0x00000070u	/* TE */
#define TR_CONTROL_INSTRUMENTATION	0x00000180u	/* TE */
#define TR_INSTRUMENTATION_OFF		0
#define TR_INSTRUMENTATION_ITC		1
#define TR_INSTRUMENTATION_BOTH		3	/* registers 15, 31: Ownership */
#define TR_CONTROL_STALL_OR_OVERFLOW	0x00001000u	/* TE */
#define TR_CONTROL_STALL_ENABLE		0x00002000u	/* TE */
#define TR_CONTROL_STOP_ON_WRAP		0x00004000u
#define TR_CONTROL_INHIBIT_SRC		0x00008000u	/* TE */
#define TR_CONTROL_SYNC_MAX_BTM		0x000f0000u	/* TE */
#define TR_CONTROL_SYNC_MAX_INST	0x00f00000u	/* TE */
#define TR_SYNC_MAX_OFF			0xf
#define TR_CONTROL_SLICE_FORMAT		0x07000000u	/* TE */
#define TR_CONTROL_SINK_ERROR		0x08000000u	/* write 1 to clear */
#define TR_CONTROL_SINK			0xf0000000u
/* Bits that only hardware sets. */
#define TR_CONTROL_STATUS		(TR_CONTROL_EMPTY | TR_CONTROL_STALL_OR_OVERFLOW | \
					 TR_CONTROL_SLICE_FORMAT | TR_CONTROL_SINK_ERROR)

#define TR_IMPL				0x004
#define TR_IMPL_VERSION			0x0000000fu
#define TR_IMPL_SINKS			0x000001f0u	/* kinds SRAM and higher */
#define TR_IMPL_SINKS_FIRST		4		/* kind for the lowest bit */
#define TR_IMPL_SINK_BYTES		0x00030000u	/* sink word: 4 << value bytes */
#define TR_IMPL_SRC			0x00f00000u	/* TE */
#define TR_IMPL_SRC_BITS		0x07000000u	/* TE */
#define TR_IMPL_HART			0xf0000000u	/* TE */

/* Kinds of sinks, as in TR_CONTROL_SINK. */
#define TR_SINK_SRAM			4
#define TR_SINK_SBA			7
#define TR_SINK_FUNNEL			8

#define TR_IMPL_EXTRA			0x008
#define TR_EVENT_CONTROL		0x00c	/* TE */

#define TR_SINK_BASE			0x010
#define TR_SINK_BASE_HIGH		0x014
#define TR_SINK_LIMIT			0x018	/* address of the last sink word */
#define TR_SINK_WP			0x01c
#define TR_SINK_WP_WRAPPED		0x00000001u
#define TR_SINK_RP			0x020	/* SRAM */
#define TR_SINK_DATA			0x024	/* SRAM: word at RP, RP += 4 */

#define TR_FIFO_LEVEL			0x030	/* TE */
#define TR_BTM_COUNT			0x034	/* TE */
#define TR_WORD_COUNT			0x038	/* TE */

#define TR_TS_CONTROL			0x040
#define TR_TS_ACTIVE			0x00000001u
#define TR_TS_COUNT			0x00000002u
#define TR_TS_RESET			0x00000004u
#define TR_TS_TYPE			0x00000070u
#define TR_TS_TYPE_NONE			0
#define TR_TS_TYPE_EXTERNAL		1
#define TR_TS_TYPE_BUS			2
#define TR_TS_TYPE_CORE			3
#define TR_TS_TYPE_SLAVE		4
#define TR_TS_PRESCALE			0x00000300u
#define TR_TS_ENABLE			0x00008000u
#define TR_TS_BRANCH			0x00030000u	/* TE */
#define TR_TS_INSTRUMENTATION		0x00040000u
#define TR_TS_OWNERSHIP			0x00080000u
#define TR_TS_WIDTH			0xff000000u
#define TR_TS_LOWER			0x044
#define TR_TS_UPPER			0x048

#define TR_XTI_CONTROL			0x050	/* TE */
#define TR_XTO_CONTROL			0x054	/* TE */
#define TR_WP_CONTROL			0x058	/* TE */
#define TR_ITC_ENABLE			0x060	/* TE: bit n = stimulus n */
#define TR_ITC_TRIGGER			0x064	/* TE */
#define TR_ITC_STIMULUS			0x080	/* TE: 32 registers of 4 bytes */

#define TR_ATB_CONTROL			0xe00
#define TR_PIB_CONTROL			0xf00

#endif /* _UAPI_LINUX_SIFIVE_TRACE_REGS_H */

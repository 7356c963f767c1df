/* SPDX-License-Identifier: GPL-2.0-only */
/* Performance records written by the kernel. */
#ifndef SIFIVE_TRACE_RECORD_H
#define SIFIVE_TRACE_RECORD_H

#include <linux/sifive_trace.h>

struct pt_regs;
struct sft_why;

/**
 * struct sft_stream - a sequence of records on one stimulus register
 * @stimulus:	the register
 * @event:	event of each counter in the mask
 * @mask:	mask of the counters in each record
 * @type:	SIFIVE_TRACE_SAMPLING_RAW, _DELTA or _XOR
 * @interval:	number of records from one header to the next, or 0 for no further headers
 * @left:	number of records before the next header
 * @address:	last address written
 * @last:	previous values, by counter
 */
struct sft_stream {
	void __iomem *stimulus;
	const struct sifive_trace_event *event;
	u32 mask;
	u32 type;
	u32 interval;
	u32 left;
	u64 address;
	u64 last[SIFIVE_TRACE_MAX_COUNTERS];
};

void sft_record_header(struct sft_stream *s, const u64 *now);
void sft_record_repeat(struct sft_stream *s, const u64 *now);
void sft_record_mark(const struct sft_stream *s, u8 kind);
void sft_record_thread(const struct sft_stream *s, u32 id);
void sft_record_address(const struct sft_stream *s, u64 address, u64 *last);
void sft_record_word(const struct sft_stream *s, u64 value);
void sft_record_isr(struct sft_stream *s, u64 pc, const u64 *now);

/* callers.c */
struct pt_regs *sft_record_registers(struct pt_regs *regs);
u64 sft_record_path(const struct sft_stream *s, u32 flags, const struct pt_regs *at,
		    const struct pt_regs *regs);
int sft_record_path_check(u32 *flags, struct sft_why *why);

#endif /* SIFIVE_TRACE_RECORD_H */

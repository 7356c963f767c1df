// SPDX-License-Identifier: GPL-2.0-only
/*
 * The callers of sampled code, by frame pointers, or what a reader needs to find them by unwind
 * tables: registers and a copy of the stack. A frame pointer is the stack pointer of the
 * function's caller; below it the function has saved the return address, and below that the
 * caller's frame pointer. A leaf function saves the frame pointer alone. Only the reader, which
 * knows the functions, can tell whether the return-address register is valid.
 *
 * Called with interrupts disabled; the program can change this memory at any time.
 */

#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/compat.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "record.h"

/*
 * The largest plausible frame; if a frame were larger, the value read was not a frame
 * pointer.
 */
#define FRAME_MAX	SZ_1M

/* Bytes of the stack that are copied at once. */
#define CHUNK		128

/* The two words below a frame pointer. */
struct frame {
	unsigned long fp;
	unsigned long ra;
};

/* The calling convention aligns the stack pointer. */
static bool is_frame(unsigned long fp, unsigned long below)
{
	return fp > below && fp - below <= FRAME_MAX && IS_ALIGNED(fp, 16);
}

/* Read the frame at *@fp, and move on to its caller's, or 0. Returns the return address, or 0. */
static unsigned long unwind(unsigned long *fp)
{
	struct frame frame;
	unsigned long at = *fp;

	*fp = 0;
	if (copy_from_user_nofault(&frame, (void __user *)(at - sizeof(frame)), sizeof(frame)))
		return 0;
	*fp = is_frame(frame.fp, at) ? frame.fp : 0;
	return frame.ra;
}

/* Skip the frame of a leaf function. */
static unsigned long skip_leaf(unsigned long fp)
{
	unsigned long callers;

	if (!copy_from_user_nofault(&callers, (void __user *)(fp - sizeof(callers)),
				    sizeof(callers)) && is_frame(callers, fp))
		return callers;
	return fp;
}

/* Write the callers of the code at user-mode registers @regs, before its sample. */
void sft_record_callers(const struct sft_stream *s, const struct pt_regs *regs)
{
	unsigned long fp = regs->s0, ra;
	unsigned int n;
	u64 last = 0;

	sft_record_mark(s, SIFIVE_TRACE_RECORD_CALLERS);
	sft_record_address(s, regs->ra, &last);
	if (is_compat_task() || !is_frame(fp, regs->sp))
		return;
	fp = skip_leaf(fp);
	for (n = 1; n < SIFIVE_TRACE_CALLERS_MAX && fp; n++) {
		ra = unwind(&fp);
		if (!ra)
			break;
		sft_record_address(s, ra, &last);
	}
}

static void record_registers(const struct sft_stream *s, const struct pt_regs *regs)
{
	const unsigned long registers[] = {
		regs->epc, regs->ra, regs->sp, regs->t0, regs->s0, regs->s1,
		regs->s2, regs->s3, regs->s4, regs->s5, regs->s6, regs->s7, regs->s8, regs->s9,
		regs->s10, regs->s11,
	};
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(registers) != SIFIVE_TRACE_STACK_REGISTERS);
	for (i = 0; i < ARRAY_SIZE(registers); i++)
		sft_record_word(s, registers[i]);
}

/*
 * Write registers and @bytes of the stack of the code at user-mode registers @regs, before its
 * sample. The copy ends before what cannot be read.
 */
void sft_record_stack(const struct sft_stream *s, const struct pt_regs *regs, u32 bytes)
{
	unsigned long at = ALIGN_DOWN(regs->sp, sizeof(u64));
	u64 chunk[CHUNK / sizeof(u64)];
	unsigned int i;
	u32 length;

	sft_record_mark(s, SIFIVE_TRACE_RECORD_STACK);
	record_registers(s, regs);
	for (; bytes; bytes -= length, at += length) {
		/* What can be read ends with a page. */
		length = min3(bytes, (u32)CHUNK, (u32)(PAGE_SIZE - offset_in_page(at)));
		if (copy_from_user_nofault(chunk, (void __user *)at, length))
			break;
		for (i = 0; i < length / sizeof(u64); i++)
			sft_record_word(s, chunk[i]);
	}
}

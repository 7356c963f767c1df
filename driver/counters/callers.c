// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records the callers of sampled code. The driver finds them with frame pointers, or records
 * registers and a copy of the stack, so that a reader can find the callers with unwind tables. A
 * function's frame pointer is the value of the stack pointer at the call. The function saves the
 * return address just below that position, and the caller's frame pointer below the return address.
 * A leaf function saves only the frame pointer. Only the reader, which has the programs, can tell
 * whether the return-address register is valid.
 *
 * Called with interrupts disabled. The program can change its stack at any time.
 */

#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/compat.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/security.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "../hardware/hardware.h"
#include "counters.h"
#include "record.h"

/*
 * Maximum plausible size of a frame in bytes: a value that implies a larger frame is not a frame
 * pointer.
 */
#define FRAME_MAX	SZ_1M

/* Maximum number of kernel addresses in a list. */
#define KERNEL_MAX	64

/* Number of stack bytes copied at a time. */
#define CHUNK		128

/* SIFIVE_TRACE_SAMPLING_STACK() */
#define STACK_SHIFT	16
#define PATHS		(SIFIVE_TRACE_SAMPLING_KERNEL | SIFIVE_TRACE_SAMPLING_CALLERS)

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

/*
 * Read the frame at *@fp, and set *@fp to the caller's frame pointer, or 0 if there is no caller.
 * Returns the return address, or 0 if the frame cannot be read.
 */
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

/**
 * struct callers - a list of callers being written
 * @stream:	stream that contains the list
 * @last:	the latest address
 * @count:	number of addresses
 */
struct callers {
	const struct sft_stream *stream;
	u64 last;
	unsigned int count;
};

static void add(struct callers *list, u64 address)
{
	if (list->count == SIFIVE_TRACE_CALLERS_MAX)
		return;
	sft_record_address(list->stream, address, &list->last);
	list->count++;
}

/* Add the callers of the code at user-mode registers @regs. */
static void add_callers(struct callers *list, const struct pt_regs *regs)
{
	unsigned long fp = regs->s0, ra;

	add(list, regs->ra);
	if (is_compat_task() || !is_frame(fp, regs->sp))
		return;
	fp = skip_leaf(fp);
	while (fp && list->count < SIFIVE_TRACE_CALLERS_MAX) {
		ra = unwind(&fp);
		if (!ra)
			break;
		add(list, ra);
	}
}

/*
 * Return whether @fp can be a frame pointer between @below and the end of the thread's kernel
 * stack.
 */
static bool is_kernel_frame(unsigned long fp, unsigned long below)
{
	const unsigned long end = (unsigned long)task_stack_page(current) + THREAD_SIZE;

	return IS_ALIGNED(fp, sizeof(fp)) && fp <= end && fp > below &&
	       fp - below >= sizeof(struct frame);
}

/*
 * Sign-extend a 32-bit kernel's address, because readers expect kernel addresses in the upper half.
 * Returns false for an address that is not in the kernel.
 */
static bool add_kernel(struct callers *list, unsigned long address)
{
	if ((long)address >= 0)
		return false;
	add(list, (long)address);
	return true;
}

/*
 * Return the registers of kernel code that a trap has interrupted, or NULL. The trap's entry code
 * saves them on the thread's stack, and calls the handler with the interrupted stack pointer as the
 * frame pointer. The handler's frame therefore ends at @registers, and its caller's frame would end
 * at @fp.
 */
static const struct pt_regs *interrupted(unsigned long registers, unsigned long fp)
{
	const struct pt_regs *regs = (const struct pt_regs *)registers;

	if (fp != registers + ALIGN(sizeof(*regs), 16) || !is_kernel_frame(fp, registers))
		return NULL;
	return READ_ONCE_NOCHECK(regs->sp) == fp &&
	       READ_ONCE_NOCHECK(regs->status) & SR_PP ? regs : NULL;
}

/*
 * Add the callers of the code at kernel-mode registers @regs, up to the end of the thread's stack.
 * Does not follow frames on a separate interrupt stack.
 */
static void add_kernel_callers(struct callers *list, const struct pt_regs *regs)
{
	const struct pt_regs *innermost = regs, *trap;
	unsigned long fp = regs->s0, below = regs->sp, ra;
	const struct frame *frame;

	if (!add_kernel(list, regs->ra))
		add(list, 0);
	if (!IS_ENABLED(CONFIG_FRAME_POINTER) || below < (unsigned long)task_stack_page(current))
		return;
	while (list->count < KERNEL_MAX && is_kernel_frame(fp, below)) {
		frame = (const struct frame *)fp - 1;
		below = fp;
		ra = READ_ONCE_NOCHECK(frame->ra);
		/* Skip the frame of a leaf function, as skip_leaf() does. */
		if (innermost && is_kernel_frame(ra, fp)) {
			fp = ra;
			/* The sample's return-address register is already in the list. */
			if (innermost != regs &&
			    !add_kernel(list, READ_ONCE_NOCHECK(innermost->ra)))
				break;
			innermost = NULL;
			continue;
		}
		innermost = NULL;
		if (!add_kernel(list, ra))
			break;
		fp = READ_ONCE_NOCHECK(frame->fp);
		trap = interrupted(below, fp);
		if (!trap || list->count == KERNEL_MAX)
			continue;
		/*
		 * Readers look up the instruction before each address. For this address, that must
		 * be the interrupted instruction, which has at least 2 bytes.
		 */
		add_kernel(list, READ_ONCE_NOCHECK(trap->epc) + 2);
		below = fp;
		fp = READ_ONCE_NOCHECK(trap->s0);
		innermost = trap;
	}
}

/*
 * Return the thread's current or saved user-mode registers, or NULL if there are none. Returns NULL
 * during execve(), because the saved registers are then the previous program's.
 */
struct pt_regs *sft_record_registers(struct pt_regs *regs)
{
	if (regs && user_mode(regs))
		return regs;
	if (!current->mm || current->in_execve)
		return NULL;
	regs = task_pt_regs(current);
	/* A kernel thread that uses a program's memory has no user registers. */
	return instruction_pointer(regs) ? regs : NULL;
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

/* Write registers and up to @bytes bytes of the stack. The copy ends where reading fails. */
static void record_stack(const struct sft_stream *s, const struct pt_regs *regs, u32 bytes)
{
	unsigned long at = ALIGN_DOWN(regs->sp, sizeof(u64));
	u64 chunk[CHUNK / sizeof(u64)];
	unsigned int i;
	u32 length;

	sft_record_mark(s, SIFIVE_TRACE_RECORD_STACK);
	record_registers(s, regs);
	for (; bytes; bytes -= length, at += length) {
		/* Do not cross a page boundary: the next page may not be readable. */
		length = min3(bytes, (u32)CHUNK, (u32)(PAGE_SIZE - offset_in_page(at)));
		if (copy_from_user_nofault(chunk, (void __user *)at, length))
			break;
		for (i = 0; i < length / sizeof(u64); i++)
			sft_record_word(s, chunk[i]);
	}
}

/*
 * Write the data about the sampled thread that the setting's @flags request. Called before a sample
 * is written. @at: registers at the interruption; @regs: the thread's user-mode registers, or NULL
 * if it has none. Returns the address of the sample.
 */
u64 sft_record_path(const struct sft_stream *s, u32 flags, const struct pt_regs *at,
		    const struct pt_regs *regs)
{
	const bool kernel = flags & SIFIVE_TRACE_SAMPLING_KERNEL && at && !user_mode(at);
	const bool callers = flags & SIFIVE_TRACE_SAMPLING_CALLERS;
	struct callers list = { .stream = s };

	if (flags & SIFIVE_TRACE_SAMPLING_THREADS)
		sft_record_thread(s, sft_probes_id(current));
	if (kernel || callers)
		sft_record_mark(s, SIFIVE_TRACE_RECORD_CALLERS);
	if (kernel)
		add_kernel_callers(&list, at);
	if (!regs)
		return (u64)(long)at->epc;
	if (kernel && callers)
		add(&list, regs->epc);
	if (callers)
		add_callers(&list, regs);
	if (flags >> STACK_SHIFT)
		record_stack(s, regs, flags >> STACK_SHIFT);
	return kernel ? (u64)(long)at->epc : regs->epc;
}

/* Check flags for use in sft_record_path(). Under kernel lockdown, omit the kernel's addresses. */
int sft_record_path_check(u32 *flags, struct sft_why *why)
{
	const u32 stack = *flags >> STACK_SHIFT;

	if (stack > SIFIVE_TRACE_STACK_MAX || stack % sizeof(u64))
		return sft_fail(why, -EINVAL, "%u bytes of stack: use a multiple of 8 up to %u",
				stack, SIFIVE_TRACE_STACK_MAX);
	if (stack && *flags & SIFIVE_TRACE_SAMPLING_CALLERS)
		return sft_fail(why, -EINVAL, "samples can have callers or a stack, not both");
	if (!stack && (*flags & PATHS) == SIFIVE_TRACE_SAMPLING_KERNEL)
		return sft_fail(why, -EINVAL,
				"kernel callers are recorded only with user callers or a stack: request one of these");
	if (*flags & SIFIVE_TRACE_SAMPLING_KERNEL && security_locked_down(LOCKDOWN_PERF))
		*flags &= ~SIFIVE_TRACE_SAMPLING_KERNEL;
	return 0;
}

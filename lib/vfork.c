// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Replaces the C library's vfork(), because the child runs in its parent's memory with the
 * parent's slot, and the kernel keeps no rseq area for it. From this call on, the thread's
 * records take the slow path, which checks whether the parent or the child writes them.
 */
#include <errno.h>
#include <sys/types.h>

#include "thread.h"

#ifdef __riscv

PERF_API pid_t vfork(void);

PERF_INTERNAL __attribute__((used)) pid_t perf_vfork_failed(long error)
{
	errno = (int)-error;
	return -1;
}

#if __riscv_xlen == 64
#define PERF_SAVE	"sd"
#define PERF_LOAD	"ld"
#else
#define PERF_SAVE	"sw"
#define PERF_LOAD	"lw"
#endif

/*
 * Nothing may be on the stack across the system call, because the child's calls overwrite it.
 * So clone(CLONE_VM | CLONE_VFORK | SIGCHLD) is the last action of this function.
 */
__asm__(
	"	.pushsection .text.vfork, \"ax\", @progbits\n"
	"	.balign	4\n"
	"	.globl	vfork\n"
	"	.type	vfork, @function\n"
	"vfork:\n"
	"	.cfi_startproc\n"
	"	addi	sp, sp, -16\n"
	"	.cfi_def_cfa_offset 16\n"
	"	" PERF_SAVE "	ra, 8(sp)\n"
	"	.cfi_offset ra, -8\n"
	"	call	perf_thread_lend\n"
	"	" PERF_LOAD "	ra, 8(sp)\n"
	"	.cfi_restore ra\n"
	"	addi	sp, sp, 16\n"
	"	.cfi_def_cfa_offset 0\n"
	"	li	a0, 0x4111\n"
	"	li	a1, 0\n"
	"	li	a7, 220\n"
	"	ecall\n"
	"	bltz	a0, 1f\n"
	"	ret\n"
	"1:	tail	perf_vfork_failed\n"
	"	.cfi_endproc\n"
	"	.size	vfork, . - vfork\n"
	"	.popsection\n");

#endif

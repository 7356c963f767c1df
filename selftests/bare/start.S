/* SPDX-License-Identifier: GPL-2.0-only */
/* Machine mode from reset: hart 0 runs main(), the others sleep. */
	.section .text.start, "ax"
	.globl	_start
_start:
	csrr	t0, mhartid
	bnez	t0, sleep
	.option push
	.option norelax
	la	gp, __global_pointer$
	.option pop
	la	sp, stack_top
	la	t0, trap
	csrw	mtvec, t0
	call	main
sleep:	wfi
	j	sleep

#if __riscv_xlen == 64
#define SAVE	sd
#define RESTORE	ld
#define BYTES	8
#else
#define SAVE	sw
#define RESTORE	lw
#define BYTES	4
#endif

	.macro each_register op
	.irp	n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, \
		19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	x\n, \n * BYTES(sp)
	.endr
	.endm

/* trapped() may change what the registers will be. */
	.balign	64
trap:
	addi	sp, sp, -32 * BYTES
	each_register SAVE
	mv	a0, sp
	call	trapped
	each_register RESTORE
	addi	sp, sp, 32 * BYTES
	mret

	.bss
	.balign	16
	.space	16384
stack_top:

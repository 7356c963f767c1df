/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Starts in machine mode after reset. Hart 0 runs main(); each other hart sleeps until a software
 * interrupt is pending and a function is set.
 */
#if __riscv_xlen == 64
#define SAVE	sd
#define RESTORE	ld
#define BYTES	8
#else
#define SAVE	sw
#define RESTORE	lw
#define BYTES	4
#endif

#define STACK	16384
#define HARTS	2
#define MIE_SOFT	8

	.section .text.start, "ax"
	.globl	_start
_start:
	.option push
	.option norelax
	la	gp, __global_pointer$
	.option pop
	la	t0, trap
	csrw	mtvec, t0
	csrr	t0, mhartid
	li	t1, HARTS
	bgeu	t0, t1, sleep
	li	t1, STACK
	mul	t1, t1, t0
	la	sp, stack_top
	sub	sp, sp, t1
	bnez	t0, second
	call	main
sleep:	wfi
	j	sleep

second:	csrwi	mie, MIE_SOFT
1:	wfi
	la	t0, second_hart
	RESTORE	t0, 0(t0)
	beqz	t0, 1b
	csrwi	mie, 0
	fence
	jalr	t0
	j	sleep

	.macro each_register op
	.irp	n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, \
		19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	x\n, \n * BYTES(sp)
	.endr
	.endm

/* trapped() may change the saved registers. */
	.balign	64
trap:
	addi	sp, sp, -32 * BYTES
	each_register SAVE
	mv	a0, sp
	csrr	a1, mcause
	csrr	a2, mepc
	call	trapped
	each_register RESTORE
	addi	sp, sp, 32 * BYTES
	mret

	.bss
	.balign	16
	.space	HARTS * STACK
stack_top:

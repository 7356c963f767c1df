/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions with each kind of unwind table, starting at 0x70000 and spaced 64 bytes apart. Each
 * instruction is four bytes long.
 */
	.option	norvc
	.option	norelax

.macro	function name
	.balign	64
	.globl	\name
	.type	\name, @function
\name:
.endm

	.text
function start
	.cfi_startproc
	.cfi_undefined ra
	jal	main
	nop
	.cfi_endproc
	.size	start, . - start

/* A frame of 16 bytes. */
function main
	.cfi_startproc
	addi	sp, sp, -16
	.cfi_def_cfa_offset 16
	sd	ra, 8(sp)
	.cfi_offset ra, -8
	jal	down
	nop
	.cfi_endproc
	.size	main, . - main

/* A frame of 32 bytes; the function calls itself. */
function down
	.cfi_startproc
	addi	sp, sp, -32
	.cfi_def_cfa_offset 32
	sd	ra, 24(sp)
	.cfi_offset ra, -8
	jal	down
	jal	leaf
	nop
	.cfi_endproc
	.size	down, . - down

function leaf
	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.size	leaf, . - leaf

/* A frame of unknown size, with a frame pointer. */
function framed
	.cfi_startproc
	addi	sp, sp, -32
	.cfi_def_cfa_offset 32
	sd	ra, 24(sp)
	.cfi_offset ra, -8
	sd	s0, 16(sp)
	.cfi_offset s0, -16
	addi	s0, sp, 32
	.cfi_def_cfa s0, 0
	sub	sp, sp, a0
	jal	leaf
	nop
	.cfi_endproc
	.size	framed, . - framed

/*
 * According to expressions, the caller's stack pointer is at 8(sp) and the return address is in s1.
 */
function computed
	.cfi_startproc
	.cfi_escape 0x0f, 3, 0x72, 8, 0x06
	.cfi_escape 0x16, 1, 2, 0x79, 0
	jal	leaf
	nop
	.cfi_endproc
	.size	computed, . - computed

/* The frame's size is in a register that traces do not contain. */
function lost
	.cfi_startproc
	.cfi_def_cfa a0, 0
	.cfi_offset ra, -8
	jal	leaf
	nop
	.cfi_endproc
	.size	lost, . - lost

/* Expressions that do not end, that lack operands, or that have unknown operations. */
function odd
	.cfi_startproc
	.cfi_escape 0x0f, 3, 0x2f, 0xfd, 0xff
	nop
	nop
	.cfi_escape 0x0f, 1, 0x06
	nop
	.cfi_escape 0x0f, 2, 0x30, 0x22
	nop
	.cfi_escape 0x0f, 18, 0x30, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12
	nop
	.cfi_escape 0x0f, 4, 0x72, 0, 0x9f, 0x06
	nop
	.cfi_endproc
	.size	odd, . - odd

/* No table. */
function bare
	jal	leaf
	nop
	.size	bare, . - bare

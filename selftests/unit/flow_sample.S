/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Functions that call, jump to, leave and interrupt each other: see instructions_test.c. */
	.option norvc
	.option norelax
	.text
	.macro function name, offset
	.org \offset
	.globl \name
	.type \name, @function
\name:
	.endm

	function main, 0
	jal ra, plain
	jal ra, tail
	jal ra, jumper
	nop
	nop
	ret

	function plain, 0x100
	jal ra, leaf
	ret

	function tail, 0x200
	j leaf

	function jumper, 0x300
	jal ra, longjump
	ret

	function longjump, 0x400
	jr t1

	function leaf, 0x500
	ret

	function handler, 0x600
	mret

	function trampoline, 0x700
	li a7, 139
	ecall

	function hop, 0x800
	j probed

	function probed, 0x900
	nop
	nop
	ret

	function caller, 0xa00
	jal ra, probed
	nop
	nop

	function turn, 0xb00
	nop
	jr a5

	/* The function's last instruction is a call. */
	function ender, 0xbfc
	jal ra, leaf

	function after, 0xc00
	ret

	/* Jump over a halfword that looks like the first half of a four-byte instruction. */
	function island, 0xd00
	.half 0xa011	/* c.j 4 */
	.half 0x0003
	.half 0x0001	/* c.nop */
	.half 0x8082	/* ret */

	/* Not in RV64GC: sh1add a0, a1, a2; vadd.vv v1, v2, v3 */
	function extended, 0xe00
	.word 0x20c5a533
	.word 0x022180d7
	ret

	/* A new thread of the kernel begins here. */
	function ret_from_fork, 0xf00
	jal ra, leaf
	ret

	function __switch_to, 0xf40
	nop
	ret

	function schedule, 0xf80
	jal ra, probed
	jal ra, __switch_to
	ret

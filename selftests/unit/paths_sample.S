/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Functions with known hot paths. Each instruction is four bytes long; code begins at 0x60000. */
	.option	norvc
	.option	norelax

	.text
/* Two nested loops, each of which begins with a jump to its condition. */
	.globl	nested
	.type	nested, @function
nested:
	nop
	j	.Louter
.Louter_body:
	nop
	j	.Linner
.Linner_body:
	nop
	nop
.Linner:
	nop
	bnez	a1, .Linner_body
	nop
.Louter:
	bnez	a0, .Louter_body
	ret
	.size	nested, . - nested

/* A loop whose hottest block is on one of its two branches. */
	.balign	256
	.globl	ways
	.type	ways, @function
ways:
	nop
.Lagain:
	beqz	a0, .Lother
	.rept	6
	nop
	.endr
	j	.Lboth
.Lother:
	nop
.Lboth:
	bnez	a1, .Lagain
	ret
	.size	ways, . - ways

/* Calls itself. */
	.balign	256
	.globl	itself
	.type	itself, @function
itself:
	beqz	a0, .Lend
	nop
	jal	ra, itself
	nop
.Lend:
	nop
	ret
	.size	itself, . - itself

/* Two returns, one after the other. */
	.balign	256
	.globl	exits
	.type	exits, @function
exits:
	nop
	ret
	nop
	nop
	ret
	.size	exits, . - exits

/* Ends with a jump to another function. */
	.balign	256
	.globl	tail
	.type	tail, @function
tail:
	nop
	j	exits
	.size	tail, . - tail

/* A loop that is longer than the longest block. */
	.balign	256
	.globl	straight
	.type	straight, @function
straight:
	nop
.Lstraight:
	.rept	600
	nop
	.endr
	bnez	a0, .Lstraight
	ret
	.size	straight, . - straight

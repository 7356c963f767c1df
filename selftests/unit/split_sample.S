/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A function with an unlikely statement that GCC has placed elsewhere, so the function's debug
 * information has ranges, but no entry. Each instruction is four bytes long; code begins at
 * 0x50000.
 */
	.option	norvc
	.option	norelax
	.file	1 "/sample/split.c"

	.text
	.globl	split
	.type	split, @function
split:
	.loc	1 5 1
	nop
	.loc	1 7 2
	bnez	a0, split.cold
1:	.loc	1 9 2
	nop
	.loc	1 10 1
	ret
.Lsplit_end:
	.size	split, . - split

	.type	between, @function
between:
	nop
	ret
	.size	between, . - between

	.type	split.cold, @function
split.cold:
	.loc	1 8 3
	nop
	j	1b
.Lcold_end:
	.size	split.cold, . - split.cold

	.section .debug_line, "", @progbits
.Lline:

	.section .debug_ranges, "", @progbits
.Lranges:
	.quad	split, .Lsplit_end, split.cold, .Lcold_end, 0, 0

	.section .debug_abbrev, "", @progbits
.Labbrev:
	/* Unit: producer, low_pc, stmt_list. */
	.byte	1, 0x11
	.byte	1
	.byte	0x25, 0x08, 0x11, 0x01, 0x10, 0x17, 0, 0
	/* Function: name, decl_file, decl_line, ranges. */
	.byte	2, 0x2e
	.byte	0
	.byte	0x03, 0x08, 0x3a, 0x0b, 0x3b, 0x0b, 0x55, 0x17, 0, 0
	.byte	0

	.section .debug_info, "", @progbits
	.4byte	.Linfo_end - .Linfo
.Linfo:
	.2byte	4
	.4byte	.Labbrev
	.byte	8
	.byte	1
	.asciz	"GNU C"
	.quad	0
	.4byte	.Lline
	.byte	2
	.asciz	"split"
	.byte	1, 5
	.4byte	.Lranges
	.byte	0
.Linfo_end:

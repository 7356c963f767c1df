// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A program whose coverage is known: each instruction is four bytes long and has a line. The
 * program begins at 0x40000 with never(). Like a C++ inline function, shared() is in two
 * compilation units, and the linker keeps only the first copy.
 */
void shared(void) __attribute__((naked, weak,
	section(".text.shared,\"axG\",@progbits,shared,comdat#")));
#line 40 "/sample/shared.h"
void shared(void)
{
	asm(".option norvc; .option norelax; nop");
	asm("ret");
}

#ifndef SECOND
void never(void) __attribute__((naked, noinline));
void work(void) __attribute__((naked, noinline));

#line 10 "/sample/covered.c"
void never(void)
{
	asm(".option norvc; .option norelax; nop");
	asm("beqz a0, 1f; nop");
	asm("1: nop; ret");
}
#line 20 "/sample/covered.c"
void work(void)
{
	asm("nop");
	asm("1: addi a0, a0, -1");
	asm("beqz a0, 2f");
	asm("nop");
	asm("2: bnez a0, 1b");
	asm("call never");
	asm("ret");
}
#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The program whose execution the tests' traces show: main is at 0x20000, fib at 0x21000, and a C++
 * function with a long name at 0x22000 (see the Makefile). Each function is on one line, so all of
 * its addresses map to the same line.
 */
int fib(int n) __attribute__((section("sample_fib")));
int lengthy(void)
	__asm__("_ZN9warehouse10department5shelfI10perishableE9inventory10supervisor"
		"11recalculateILi12345EEEii")
	__attribute__((section("sample_lengthy")));
int main(void) __attribute__((section("sample_main")));

#line 12 "sample/fib.c"
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
#line 20 "sample/fib.c"
int main(void) { return fib(3) + fib(2) - fib(1); }
#line 30 "sample/fib.c"
int lengthy(void) { return 1; }

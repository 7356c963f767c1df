// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A program for traces that contain both instruction trace and records: its functions run much
 * longer than it takes to write a record. It includes recursion, a tail call, and a function with
 * two callers. With the library loaded, main() also writes a record before and after each round. If
 * permitted, the program runs under SCHED_FIFO, which keeps other programs off its CPU.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>

#define ROUNDS	3

/* The library's perfWriteCntrs(), or NULL without the library. */
static int (*write_record)(void);

static volatile unsigned int sum;

/* Always inlined, so that the loop's instructions are part of the calling function. */
__attribute__((no_instrument_function, always_inline))
static inline void work(unsigned int n)
{
	while (n--)
		sum += n;
}

__attribute__((noinline)) static void leaf(void)
{
	work(6000);
}

__attribute__((noinline)) static void descend(unsigned int n)
{
	work(4000);
	if (n)
		descend(n - 1);
	work(4000);
}

/* Ends with a jump to leaf(). */
__attribute__((noinline, no_instrument_function)) static void pass_on(void)
{
	sum++;
	leaf();
}

__attribute__((noinline)) static void one(void)
{
	work(9000);
	leaf();
	work(3000);
}

__attribute__((noinline)) static void two(void)
{
	work(5000);
	leaf();
	pass_on();
	leaf();
	work(8000);
}

__attribute__((noinline, no_instrument_function)) static void mark(void)
{
	if (write_record)
		write_record();
}

__attribute__((constructor, no_instrument_function)) static void set_up(void)
{
	write_record = (int (*)(void))dlsym(RTLD_DEFAULT, "perfWriteCntrs");
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 90 });
}

/* The counter counts the ecall of a system call, but the flow does not include the ecall. */
__attribute__((destructor, no_instrument_function)) static void print(void)
{
	printf("%u\n", sum);
}

int main(void)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		work(10000);
		mark();
		one();
		descend(5);
		two();
		mark();
	}
	return 0;
}

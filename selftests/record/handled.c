// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Spends most of its time in a signal handler. The first instruction of a function at the end of a
 * known call path causes the signal. With an argument, the handler runs on an alternate stack.
 * Built with frame pointers and unwind tables.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define KEPT	__attribute__((noinline, noclone, noipa))

static volatile unsigned long sum;
static char other[1 << 16] __attribute__((aligned(16)));

/* A function whose first instruction, four bytes long, causes the signal. */
static KEPT __attribute__((naked)) void trap(void)
{
	asm(".option push\n.option norvc\nebreak\n.option pop\nret");
}

static KEPT void bottom(unsigned long n)
{
	while (n--)
		sum += n;
}

static KEPT void handle(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)number;
	(void)info;
	bottom(5000 + sum % 4096);
	interrupted->uc_mcontext.__gregs[REG_PC] += 4;
}

static KEPT unsigned long down(unsigned long levels)
{
	volatile unsigned long room[4] = { levels };

	if (levels > 1)
		return down(levels - 1) + room[0];
	trap();
	return room[0];
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
	unsigned int rounds;

	(void)argv;
	if (argc > 1) {
		sigaltstack(&(stack_t){ .ss_sp = other, .ss_size = sizeof(other) }, NULL);
		action.sa_flags |= SA_ONSTACK;
	}
	sigaction(SIGTRAP, &action, NULL);
	for (rounds = 0; rounds < 2000; rounds++)
		sum += down(5);
	printf("%lu\n", sum);
	return 3;
}

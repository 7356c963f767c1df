// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "fault.h"
#include "section.h"
#include "thread.h"

static struct sigaction before;

PERF_LOCAL uintptr_t *context_pc(void *context)
{
#ifdef __riscv
	return (uintptr_t *)&((ucontext_t *)context)->uc_mcontext.__gregs[0];
#else
	(void)context;
	return NULL;
#endif
}

/* Whether an instruction was the cause, and not somebody who sent the signal. */
PERF_LOCAL bool is_fault(const siginfo_t *info)
{
	return info->si_code > 0;
}

/* As the kernel would have done it. */
PERF_LOCAL void pass_on(int number, siginfo_t *info, void *context)
{
	struct sigaction action = before;
	sigset_t mask;

	if (!(action.sa_flags & SA_SIGINFO) &&
	    (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) {
		/* Of an instruction: it is repeated, and ends the program. */
		if (!is_fault(info) && action.sa_handler == SIG_IGN)
			return;
		action.sa_handler = SIG_DFL;
		sigaction(number, &action, NULL);
		if (!is_fault(info))
			raise(number);
		return;
	}

	if (action.sa_flags & SA_RESETHAND) {
		before.sa_handler = SIG_DFL;
		before.sa_flags = 0;
	}
	if (!(action.sa_flags & SA_NODEFER))
		sigaddset(&action.sa_mask, number);
	sigprocmask(SIG_BLOCK, &action.sa_mask, &mask);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

PERF_LOCAL void handler(int number, siginfo_t *info, void *context)
{
	uintptr_t *pc = context_pc(context);
	uintptr_t restart = pc && is_fault(info) ? perf_section_restart(*pc) : 0;
	int error = errno;

	if (!restart) {
		pass_on(number, info, context);
		return;
	}
	perf_thread_repair();
	*pc = restart;
	errno = error;
}

/* The program may have put a handler of its own there. */
PERF_LOCAL bool is_caught(void)
{
	struct sigaction now;

	return !sigaction(SIGILL, NULL, &now) && now.sa_flags & SA_SIGINFO &&
	       now.sa_sigaction == handler;
}

PERF_INTERNAL void perf_fault_catch(void)
{
	struct sigaction action = {
		.sa_sigaction	= handler,
		.sa_flags	= SA_SIGINFO | SA_NODEFER | SA_ONSTACK,
	};

	if (!perf_pool->layout.count || is_caught())
		return;
	sigemptyset(&action.sa_mask);
	sigaction(SIGILL, &action, &before);
}

PERF_INTERNAL void perf_fault_release(void)
{
	if (is_caught())
		sigaction(SIGILL, &before, NULL);
}

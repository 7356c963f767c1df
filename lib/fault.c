// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "fault.h"
#include "thread.h"
#include "writer.h"

/*
 * The handlers that the library's handler replaced when it was last and first installed. They
 * differ if the program installed a handler in between, and that handler may call the library's.
 */
static struct sigaction before, first;
static volatile bool installed;

/* The signal that the calling thread is forwarding to a replaced handler. */
static __thread struct {
	const void *context;
	uintptr_t frame;
} passed PERF_THREAD_MODEL;

PERF_LOCAL uintptr_t *context_pc(void *context)
{
#ifdef __riscv
	return (uintptr_t *)&((ucontext_t *)context)->uc_mcontext.__gregs[0];
#else
	(void)context;
	return NULL;
#endif
}

/* Return whether the signal was caused by an instruction, not sent by a process. */
PERF_LOCAL bool is_fault(const siginfo_t *info)
{
	return info->si_code > 0;
}

/* Perform a replaced action: the kernel's default, or the program's handler. */
PERF_LOCAL void pass_on(struct sigaction *to, int number, siginfo_t *info,
			void *context)
{
	struct sigaction action = *to;
	sigset_t mask;

	if (!(action.sa_flags & SA_SIGINFO) &&
	    (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) {
		/* A faulting instruction is then executed again, and ends the program. */
		if (!is_fault(info) && action.sa_handler == SIG_IGN)
			return;
		action.sa_handler = SIG_DFL;
		sigaction(number, &action, NULL);
		if (!is_fault(info))
			raise(number);
		return;
	}

	if (action.sa_flags & SA_RESETHAND) {
		to->sa_handler = SIG_DFL;
		to->sa_flags = 0;
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

/* Forward a signal that the library did not cause. */
PERF_LOCAL void pass(int number, siginfo_t *info, void *context, uintptr_t frame)
{
	/*
	 * The caller may be a handler that replaced this one, or that this one called. If a handler
	 * has called siglongjmp(), passed.frame is stale, but the next signal's frame is not below
	 * the stale frame.
	 */
	if (!installed || (passed.context == context && frame < passed.frame)) {
		pass_on(&first, number, info, context);
		return;
	}
	passed.context = context;
	passed.frame = frame;
	pass_on(&before, number, info, context);
	passed.context = NULL;
}

PERF_LOCAL void handler(int number, siginfo_t *info, void *context)
{
	uintptr_t *pc = context_pc(context);
	uintptr_t restart = pc && is_fault(info) ? perf_writers_restart(*pc) : 0;
	int error = errno;

	if (!restart) {
		pass(number, info, context,
		     (uintptr_t)__builtin_frame_address(0));
		return;
	}
	perf_thread_repair();
	*pc = restart;
	errno = error;
}

/* Return whether the library's handler is installed; the program may have replaced it. */
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
	static bool known;

	if (!perf_pool->layout.count || is_caught())
		return;
	/* Set these first, because the handler may run as soon as it is installed. */
	sigaction(SIGILL, NULL, &before);
	if (!known)
		first = before;
	known = true;
	installed = true;
	sigemptyset(&action.sa_mask);
	sigaction(SIGILL, &action, NULL);
}

PERF_INTERNAL void perf_fault_release(void)
{
	if (!is_caught())
		return;
	sigaction(SIGILL, &before, NULL);
	installed = false;
}

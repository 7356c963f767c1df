// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rseq.h"

#ifdef PERF_SECTIONS
/* Defined by glibc 2.35 and newer; the size is 0 if glibc has registered no area. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static __thread struct perf_rseq own_area __attribute__((tls_model("initial-exec")));
static __thread bool own_registered __attribute__((tls_model("initial-exec")));
#endif

PERF_INTERNAL struct perf_rseq *perf_rseq_find(void)
{
#ifdef PERF_SECTIONS
	if (&__rseq_size && &__rseq_offset && __rseq_size)
		return (struct perf_rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);

	if (!own_registered) {
		if (syscall(SYS_rseq, &own_area, sizeof(own_area), 0, PERF_SECTION_SIGNATURE))
			return NULL;
		own_registered = true;
	}
	return &own_area;
#else
	/* Without restartable sequences, the CPU number is useless. */
	return NULL;
#endif
}

PERF_INTERNAL void perf_rseq_barrier(void)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	/* Registering again changes nothing. */
	if (!syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) &&
	    !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		return;
	/*
	 * Without membarrier(2), wait until each thread has taken an interrupt. Unlike
	 * nanosleep(), this is not a cancellation point.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	syscall(SYS_clock_nanosleep, CLOCK_REALTIME, 0, &pause, NULL);
}

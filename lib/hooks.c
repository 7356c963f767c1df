// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <stddef.h>

#include "hooks.h"

#define GATE_HOOKS	PERF_GATE(PERF_OPEN_MANUAL | PERF_OPEN_HOOKS, 0)

/* Read at each entry and exit: without a call, also in a shared library. */
#if defined(__PIC__) && !defined(__PIE__)
#define THREAD_MODEL	__attribute__((tls_model("initial-exec")))
#else
#define THREAD_MODEL	__attribute__((tls_model("local-exec")))
#endif

static __thread struct perf_stream *thread_stream THREAD_MODEL;

/* Set while hooks are open: where other threads count what they do not write. */
static uint32_t *others_missed;

PERF_API void __cyg_profile_func_enter(void *function, void *site);
PERF_API void __cyg_profile_func_exit(void *function, void *site);

PERF_INTERNAL struct perf_stream *perf_hooks_stream(void)
{
	return thread_stream;
}

PERF_INTERNAL void perf_hooks_attach(struct perf_stream *stream)
{
	thread_stream = stream;
}

PERF_INTERNAL void perf_hooks_open(struct perf_stream *stream, unsigned int open,
				   uint32_t *missed)
{
	if (open & PERF_OPEN_HOOKS)
		__atomic_store_n(&others_missed, missed, __ATOMIC_RELEASE);
	stream->open = (uint8_t)open;
}

PERF_INTERNAL void perf_hooks_close(struct perf_stream *stream)
{
	stream->open = 0;
	__atomic_store_n(&others_missed, NULL, __ATOMIC_RELEASE);
}

PERF_INTERNAL int perf_hooks_manual(struct perf_stream *stream, uintptr_t address)
{
	if (!(stream->open & PERF_OPEN_MANUAL))
		return 0;

	if (stream->busy) {
		perf_stream_drop(stream);
		return -1;
	}

	perf_stream_claim(stream);
	stream->write_single(address, 0, stream, PERF_RECORD_MANUAL);
	return 0;
}

/* What a hook does when it cannot write: closed, busy, or another thread's. */
PERF_LOCAL __attribute__((noinline, cold)) void miss(struct perf_stream *stream)
{
	uint32_t *missed;

	if (stream) {
		if (stream->open & PERF_OPEN_HOOKS)
			perf_stream_drop(stream);
		return;
	}

	missed = __atomic_load_n(&others_missed, __ATOMIC_ACQUIRE);
	if (missed)
		__atomic_fetch_add(missed, 1, __ATOMIC_RELAXED);
}

PERF_INLINE void hook(void *function, void *site, uint32_t kind)
{
	struct perf_stream *stream = thread_stream;

	if (PERF_UNLIKELY(!stream || stream->gate != GATE_HOOKS)) {
		miss(stream);
		return;
	}

	perf_stream_claim(stream);
	stream->write_pair((uintptr_t)function, (uintptr_t)site, stream, kind);
}

PERF_API void __cyg_profile_func_enter(void *function, void *site)
{
	hook(function, site, PERF_RECORD_ENTER);
}

PERF_API void __cyg_profile_func_exit(void *function, void *site)
{
	hook(function, site, PERF_RECORD_EXIT);
}

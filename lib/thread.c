// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/sifive_trace.h>

#include "device.h"
#include "error.h"
#include "join.h"
#include "rseq.h"
#include "thread.h"

/* Maximum wait for other threads' records, in ms; a record takes microseconds. */
#define SETTLE_MAX	200

/* A jump out of a function rarely unwinds the stack further than this. */
#define NEAR		(256u << 10)

/* After this many repairs, a thread is refused access to the counters. */
#define REPAIRS_MAX	1000

#ifndef PERF_AMALGAMATION
/* A placeholder for threads without a slot; never written. */
static struct perf_thread nobody;

__thread struct perf_thread *perf_self PERF_THREAD_MODEL = &nobody;
struct perf_pool *perf_pool;
#endif

/* The value of perf_pool.retry when the calling thread was last refused. */
static __thread volatile uint32_t refused PERF_THREAD_MODEL;

static __thread volatile bool joining PERF_THREAD_MODEL;

/* The loss count to which a refused thread's records are added. */
static __thread __u64 *volatile loss PERF_THREAD_MODEL;

static const uint64_t no_offset[PERF_COUNTER_MAX];

static pthread_key_t exit_key;
static bool exit_key_made;

/*
 * Block all signals, including the ones that the C library's functions never block: one of those
 * signals can cancel the thread. The kernel's signal set has eight bytes.
 */
PERF_INTERNAL void perf_signals_block(uint64_t *old)
{
	const uint64_t all = ~UINT64_C(0);

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, old, sizeof(all));
}

PERF_INTERNAL void perf_signals_restore(const uint64_t *old)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, sizeof(*old));
}

PERF_INTERNAL void perf_sleep(long ns)
{
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &(struct timespec) { .tv_nsec = ns }, NULL);
}

PERF_INTERNAL struct sifive_trace_losses *perf_losses(void)
{
	static struct sifive_trace_losses nowhere;

	return perf_pool->lost ? perf_pool->lost : &nowhere;
}

PERF_INTERNAL bool perf_frame_left(uintptr_t then, uintptr_t now)
{
	uintptr_t begin;
	bool was_there;
	stack_t stack;

	/* The program may define its own sigaltstack(), which may be instrumented. */
	if (syscall(SYS_sigaltstack, NULL, &stack))
		return false;
	/* There is no alternate stack, or a handler runs on a stack with SS_AUTODISARM. */
	if (stack.ss_flags & SS_DISABLE)
		return now - then < NEAR;

	begin = (uintptr_t)stack.ss_sp;
	was_there = then - begin <= stack.ss_size;
	if (stack.ss_flags & SS_ONSTACK)
		return was_there && now >= then;
	return was_there || now >= then;
}

PERF_INTERNAL void perf_thread_give_up(struct perf_thread *thread, bool goes_on)
{
	if (thread->channel >= 0)
		thread->lane->torn = true;
	thread->kept |= !goes_on;
	if (!thread->stuck)
		perf_lost_count(&perf_losses()->abandoned);
	thread->stuck = goes_on;
}

/* Release the slot and channel of a thread, which may have ended. */
PERF_LOCAL void release(struct perf_thread *thread)
{
	if (thread->epoch == perf_pool->epoch) {
		if (perf_gate_closed(thread))
			perf_thread_give_up(thread, false);
		perf_joined_end(thread);
	}
	perf_channel_give(thread);
	thread->gate = 0;
	__atomic_fetch_add(&perf_pool->retry, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&thread->tid, 0, __ATOMIC_RELEASE);
}

/* Called when a thread ends. Hooks in later destructors make the thread rejoin. */
PERF_LOCAL void thread_exit(void *unused)
{
	uint64_t signals;

	(void)unused;
	perf_signals_block(&signals);
	if (perf_self != &nobody && perf_self->tid) {
		struct perf_thread *thread = perf_self;

		perf_self = &nobody;
		release(thread);
	}
	perf_signals_restore(&signals);
}

/*
 * Called before all other constructors to obtain a key with a low number. Setting a key with a high
 * number allocates memory, which a hook must not do.
 */
PERF_LOCAL void make_exit_key(void)
{
	exit_key_made = !pthread_key_create(&exit_key, thread_exit);
}

PERF_RUN(".init_array", PERF_FIRST) static void (*key_maker)(void) = make_exit_key;

PERF_INTERNAL int perf_pool_make(void)
{
	uint32_t epoch = 0, generation = 0;
	struct perf_pool *pool = perf_pool;
	struct perf_lane *lane;

	if (!pool) {
		pool = perf_memory(sizeof(*pool));
		if (!pool)
			return -1;
		if (madvise(pool, offsetof(struct perf_pool, lane), MADV_WIPEONFORK)) {
			perf_error("cannot allocate memory for the trace's state: %s",
				   strerror(errno));
			munmap(pool, sizeof(*pool));
			return -1;
		}
		/* From here on, threads can use the pool. A pool without a pid is a child's. */
		pool->pid = perf_process_id();
		__atomic_store_n(&perf_pool, pool, __ATOMIC_RELEASE);
	}

	/*
	 * Threads keep their slots; a new epoch invalidates everything else in the slots. The
	 * epoch is never 0, because 0 marks a child's pool.
	 */
	epoch = pool->epoch + 1;
	generation = pool->generation + 1;
	for (lane = pool->lane[0]; lane < pool->lane[0] + PERF_CHANNELS * PERF_CPUS; lane++)
		/* Do not touch unused pages, or the stream, which a stuck writer may be using. */
		if (lane->stream.layout) {
			lane->generation = 0;
			lane->torn = false;
		}
	memset(pool->index, 0, sizeof(pool->index));
	pool->joins = 0;
	pool->open = 0;
	epoch = epoch ? epoch : 1;
	perf_channels_reset();
#ifndef PERF_DROPIN
	pool->slots = NULL;
#endif /* PERF_DROPIN */
	pool->pid = perf_process_id();
	pool->process = pool->pid;
	pool->epoch = epoch;
	pool->generation = generation ? generation : 1;
	pool->retry++;
	return 0;
}

PERF_INTERNAL bool perf_thread_ended(int32_t pid, int32_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) && errno == ESRCH;
}

PERF_LOCAL bool take_slot(struct perf_thread *thread, int32_t tid)
{
	int32_t free = 0;

	return __atomic_compare_exchange_n(&thread->tid, &free, tid, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/*
 * Release the slots of thread @tid, and of threads that ended without destructors, because clone()
 * created them or no pthread key was available. The caller that replaces a tid releases the slot.
 */
PERF_INTERNAL void perf_threads_bury(int32_t tid)
{
	unsigned int i;

	for (i = 0; i < perf_pool->used; i++) {
		struct perf_thread *thread = &perf_pool->thread[i];
		int32_t owner = thread->tid;

		if (owner > 0 && (owner == tid ||
				  perf_thread_ended(perf_pool->pid, owner)) &&
		    __atomic_compare_exchange_n(&thread->tid, &owner, -1, false,
						__ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			release(thread);
	}
}

PERF_LOCAL struct perf_thread *find_slot(int32_t tid)
{
	unsigned int i, used;

	for (i = 0; i < PERF_SLOTS; i++) {
		if (!take_slot(&perf_pool->thread[i], tid))
			continue;
		used = perf_pool->used;
		while (used <= i &&
		       !__atomic_compare_exchange_n(&perf_pool->used, &used, i + 1, false,
						    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			;
		return &perf_pool->thread[i];
	}
	return NULL;
}

/* Request access to the counters from the driver, and find the thread's id and offsets. */
PERF_LOCAL int join_driver(struct perf_thread *thread)
{
	struct sifive_trace_thread arg = { .size = sizeof(arg), .slot = ~0u };

	thread->offset = no_offset;
	thread->id = thread->tid;
	if (!perf_pool->join && perf_pool->process == perf_pool->pid)
		return 0;
	if (ioctl(perf_device_fd(perf_pool->device), SIFIVE_TRACE_IOC_THREAD, &arg)) {
		perf_pool->refusal = errno;
		return -1;
	}
	if (arg.id)
		thread->id = (int32_t)arg.id;
#ifndef PERF_DROPIN
	if (perf_pool->slots && arg.slot < SIFIVE_TRACE_THREADS)
		thread->offset = (const volatile uint64_t *)
				 perf_pool->slots[arg.slot].offset;
#endif /* PERF_DROPIN */
	return 0;
}

/* Join the session. Called with signals blocked. */
PERF_LOCAL struct perf_thread *join_blocked(void)
{
	/* Read the epoch first, so that any later set-up makes the thread rejoin. */
	const uint32_t epoch = __atomic_load_n(&perf_pool->epoch, __ATOMIC_ACQUIRE);
	struct perf_thread *thread = perf_self;
	int32_t tid = perf_thread_id();

	if (thread == &nobody || thread->tid != tid) {
		thread = find_slot(tid);
		if (!thread) {
			perf_threads_bury(tid);
			thread = find_slot(tid);
		}
		if (!thread)
			return NULL;
	}

	thread->rseq = perf_rseq_find();
	if (!thread->rseq || join_driver(thread)) {
		loss = &perf_losses()->refused;
		thread->gate = 0;
		perf_self = &nobody;
		__atomic_store_n(&thread->tid, 0, __ATOMIC_RELEASE);
		return NULL;
	}

	thread->channel = -1;
	thread->claimed = false;
	thread->kept = false;
	thread->starved = perf_pool->retry - 1;
	thread->begun = 0;
	thread->joined = PERF_UNNOTED;
	thread->refused = PERF_REFUSED_NOT;
	thread->repairs = 0;
	thread->head = 0;
	thread->tail = 0;
	thread->waiting = 0;
	thread->stuck = false;
	thread->lent = false;
	thread->lane = &perf_pool->lane[perf_pool->first][0];
	thread->cpu = PERF_CPU_NOBODY;
	thread->gate = (uintptr_t)thread;
	thread->epoch = epoch;
#ifndef PERF_DROPIN
	thread->latest = NULL;
	thread->saved = 0;
	thread->dropped = 0;
	thread->waited = 0;
	thread->open.generation = 0;
	if (!PERF_MEMBER || perf_pool->channels)
#endif /* PERF_DROPIN */
		perf_channel_take(thread, false);
	perf_self = thread;
	if (exit_key_made)
		pthread_setspecific(exit_key, thread);
	return thread;
}

PERF_INTERNAL struct perf_thread *perf_thread_join(void)
{
	struct perf_thread *thread;
	uint32_t retry = perf_pool->retry;
	int error = errno;
	uint64_t signals;

	/* Prevent recursion, because functions called from here may be instrumented. */
	if (refused == retry || joining)
		return NULL;
	/* A child of vfork() shares all of its parent's memory. */
	if (perf_process_id() != perf_pool->pid) {
		loss = &perf_losses()->children;
		return NULL;
	}
	loss = &perf_losses()->threads;
	refused = retry;

	perf_signals_block(&signals);
	joining = true;
	thread = perf_self;
	/* A signal handler may have joined in the meantime. */
	if (thread->epoch != perf_pool->epoch || !thread->tid)
		thread = join_blocked();
	if (thread)
		refused = retry - 1;
	joining = false;
	perf_signals_restore(&signals);
	errno = error;
	return thread;
}

PERF_INTERNAL void perf_thread_lose(void)
{
	perf_lost_count(loss);
}

PERF_INTERNAL __attribute__((used)) void perf_thread_lend(void)
{
	struct perf_thread *thread = perf_self;

	if (thread == &nobody || !thread->tid)
		return;
	thread->lent = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->cpu = PERF_CPU_NOBODY;
}

PERF_INTERNAL bool perf_thread_is_child(struct perf_thread *thread)
{
	if (thread->tid != perf_thread_id())
		return true;
	thread->lent = false;
	return false;
}

PERF_INTERNAL void perf_thread_forget(void)
{
	struct perf_thread *thread = perf_self;

	perf_self = &nobody;
	refused = 0;
	joining = false;
	if (thread == &nobody)
		return;
	/* The writer that fork() interrupted uses these until it detects that the gate changed. */
	thread->rseq = perf_rseq_find();
	thread->lane = &perf_pool->lane[0][0];
	thread->cpu = PERF_CPU_NOBODY;
#ifndef PERF_DROPIN
	thread->offset = no_offset;
#endif /* PERF_DROPIN */
}

PERF_INTERNAL void perf_thread_repair(void)
{
	struct perf_thread *thread = perf_self;
	bool borrowed = thread->tid != perf_thread_id();

	if (!borrowed && thread->repairs++ < REPAIRS_MAX && !join_driver(thread))
		return;

	thread->refused = borrowed ? PERF_REFUSED_ONCE : PERF_REFUSED;
	thread->cpu = PERF_CPU_NOBODY;
	thread->reading = PERF_CPU_NOBODY;
}

PERF_INTERNAL void perf_threads_alert(void)
{
	unsigned int i;

	for (i = 0; i < perf_pool->used; i++)
		if (perf_pool->thread[i].tid)
			perf_pool->thread[i].cpu = PERF_CPU_NOBODY;
	perf_rseq_barrier();
}

PERF_LOCAL bool writing(const struct perf_thread *thread)
{
	return thread->tid > 0 && thread->epoch == perf_pool->epoch &&
	       perf_gate_closed(thread) && thread != perf_self && !thread->stuck;
}

PERF_INTERNAL void perf_threads_settle(void)
{
	unsigned int i, waited = 0;

	for (i = 0; i < perf_pool->used; i++) {
		struct perf_thread *thread = &perf_pool->thread[i];

		while (writing(thread) && waited < SETTLE_MAX) {
			perf_sleep(1000000);
			waited++;
		}
		if (writing(thread))
			perf_thread_give_up(thread, true);
	}
}

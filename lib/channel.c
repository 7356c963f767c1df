// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Assigns channels to threads. If no channel is free, a thread takes the channel of another thread
 * whose gate is open: design.md describes the protocol.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/futex.h>
#include <linux/sifive_trace.h>

#include "join.h"
#include "rseq.h"
#include "thread.h"

/* Maximum wait for a channel, and maximum pause between two checks, in ms. */
#define WAIT_MAX	60000
#define PAUSE_MAX	999

/*
 * Called with signals blocked, so that no handler delays the holder. Waiting threads
 * sleep in the kernel: a thousand polling threads would use all CPUs.
 */
PERF_LOCAL void lock_channels(void)
{
	while (__atomic_exchange_n(&perf_pool->lock, 1, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &perf_pool->lock, FUTEX_WAIT_PRIVATE, 1, NULL);
}

PERF_LOCAL void unlock_channels(void)
{
	__atomic_store_n(&perf_pool->lock, 0, __ATOMIC_RELEASE);
	syscall(SYS_futex, &perf_pool->lock, FUTEX_WAKE_PRIVATE, 1);
}

/* Return a free channel, preferably the configured channel, or -1 if there is none. */
PERF_LOCAL int find_free(void)
{
	unsigned int i;

	/* Search upwards from the configured channel, then below it. */
	for (i = 0; i < PERF_CHANNELS; i++) {
		unsigned int channel = (perf_pool->first + i) % PERF_CHANNELS;

		if (perf_pool->channels >> channel & 1 && !perf_pool->owner[channel])
			return (int)channel;
	}
	return -1;
}

/* Return whether a thread is between records and has no abandoned record. */
PERF_LOCAL bool is_idle(const struct perf_thread *thread)
{
	return thread->gate == (uintptr_t)thread && !thread->kept;
}

#ifndef PERF_DROPIN
/* Save a thread's latest counts, because the channel's next owner overwrites those in the lane. */
PERF_LOCAL void save_counts(struct perf_thread *thread)
{
	const struct perf_lane *lane = thread->latest;
	uint32_t i;

	if (!lane)
		return;
	for (i = 0; i < perf_pool->layout.count; i++)
		thread->last[i] = lane->stream.last[i] + lane->offset[i];
	thread->saved = lane->torn ? 0 : lane->generation;
	thread->latest = NULL;
}
#endif /* PERF_DROPIN */

/* Take a channel away from a thread, unless the thread is writing a record. */
PERF_LOCAL bool rob(struct perf_thread *victim)
{
	bool idle;

	__atomic_store_n(&victim->claimed, true, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	victim->cpu = PERF_CPU_NOBODY;
	/* From here on, the thread's gate is closed, or its next record takes the slow path. */
	perf_rseq_barrier();
	idle = is_idle(victim);
	if (idle) {
		/* Also make the stores of its last record visible. */
		perf_rseq_barrier();
#ifndef PERF_DROPIN
		save_counts(victim);
#endif /* PERF_DROPIN */
		victim->channel = -1;
	}
	__atomic_store_n(&victim->claimed, false, __ATOMIC_RELEASE);
	return idle;
}

/* Take an idle thread's channel. The search is round-robin, so threads rarely lose channels. */
PERF_LOCAL int find_victim(void)
{
	unsigned int i;

	for (i = 0; i < PERF_CHANNELS; i++) {
		unsigned int channel = perf_pool->hand++ % PERF_CHANNELS;
		struct perf_thread *victim = perf_pool->owner[channel];

		if (victim && is_idle(victim) && rob(victim))
			return (int)channel;
	}
	return -1;
}

PERF_LOCAL void give_to(struct perf_thread *thread, int channel, bool robbed)
{
	/* The side-car file lists only a thread's first channel. */
	if (robbed || thread->joined != PERF_UNNOTED)
		perf_channel_share(1u << channel);
	perf_pool->owner[channel] = thread;
	perf_pool->turn++;
	thread->channel = channel;
	thread->lane = &perf_pool->lane[channel][0];
	thread->fresh = perf_pool->once && !perf_channel_shared(channel) ? 0 : ~UINT64_C(0);
	if (thread->joined == PERF_UNNOTED)
		thread->joined = perf_joined_add(thread);
	perf_mmio_acquire();
}

#ifndef PERF_DROPIN
/* Request another channel of a shared session from the driver. Returns -1 if none is left. */
PERF_LOCAL int ask_driver(void)
{
	bool used;
	int channel = perf_join_channel(&used);

	if (channel < 0)
		return -1;
	perf_pool->channels |= 1u << channel;
	if (used)
		perf_channel_share(1u << channel);
	return channel;
}
#endif /* PERF_DROPIN */

/* Try once to obtain a channel. If another thread may be taking @thread's channel, wait. */
PERF_LOCAL bool try_channel(struct perf_thread *thread)
{
	bool robbed = false;
	int channel;

	lock_channels();
	if (thread->channel < 0 && thread->epoch == perf_pool->epoch) {
		channel = find_free();
#ifndef PERF_DROPIN
		if (PERF_MEMBER && channel < 0)
			channel = ask_driver();
#endif /* PERF_DROPIN */
		if (channel < 0) {
			channel = find_victim();
			robbed = true;
		}
		if (channel >= 0)
			give_to(thread, channel, robbed);
	}
	unlock_channels();
	return thread->channel >= 0;
}

/* Wait for a channel. Returns false if no thread obtains a channel within WAIT_MAX. */
PERF_LOCAL bool wait_for_channel(struct perf_thread *thread)
{
	const uint32_t retry = perf_pool->retry;
	unsigned int waited = 0;
	bool done = false;
	uint64_t signals;

	__atomic_fetch_add(&perf_pool->waiting, 1, __ATOMIC_SEQ_CST);
	/* After a timeout, a thread does not wait again until a channel has been freed. */
	while (!done && perf_pool->open & PERF_OPEN_MANUAL && thread->starved != retry &&
	       thread->epoch == perf_pool->epoch) {
		const uint32_t turn = perf_pool->turn, waiting = perf_pool->waiting;
		const unsigned int ms = waiting - 1 < PAUSE_MAX ? waiting : PAUSE_MAX;

		perf_sleep(1000000L * ms);
		waited = perf_pool->turn == turn ? waited + ms : 0;
		perf_signals_block(&signals);
		/* Channel owners may have ended in the middle of a record. */
		if (waited == ms)
			perf_threads_bury(-1);
		done = try_channel(thread);
		perf_signals_restore(&signals);
		if (waited >= WAIT_MAX)
			thread->starved = retry;
	}
	__atomic_fetch_sub(&perf_pool->waiting, 1, __ATOMIC_SEQ_CST);
	return done;
}

PERF_INTERNAL bool perf_channel_take(struct perf_thread *thread, bool wait)
{
	const int error = errno;
	uint64_t signals;
	bool done;

	perf_signals_block(&signals);
	done = try_channel(thread);
	perf_signals_restore(&signals);
#ifndef PERF_DROPIN
	/* A process without channels does not wait: only other processes can free a channel. */
	wait &= !PERF_MEMBER || perf_pool->channels;
#endif /* PERF_DROPIN */
	if (!done && wait)
		done = wait_for_channel(thread);
	errno = error;
	return done;
}

PERF_INTERNAL void perf_channel_give(struct perf_thread *thread)
{
	lock_channels();
	if (thread->channel >= 0 && thread->epoch == perf_pool->epoch) {
		/* Order the thread's stores before the next owner's. */
		perf_mmio_release();
		perf_pool->owner[thread->channel] = NULL;
	}
	thread->channel = -1;
	unlock_channels();
}

PERF_INTERNAL void perf_channels_reset(void)
{
	unsigned int i;

	lock_channels();
	for (i = 0; i < PERF_CHANNELS; i++)
		perf_pool->owner[i] = NULL;
	perf_pool->hand = perf_pool->first;
	unlock_channels();
}

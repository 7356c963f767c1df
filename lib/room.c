// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>

#include <linux/sifive_trace.h>

#include "device.h"
#include "room.h"

/* Nanoseconds between two checks of a sink that has no room. */
#define PAUSE	500000

/* Wait until the sink has room, and count the wait. */
PERF_LOCAL void wait_for_room(struct perf_thread *thread, const struct perf_lane *lane,
			      uintptr_t gate)
{
	const uint64_t begin = perf_device_now();
	const int error = errno;
	uint64_t waited;

	while (perf_room_lacks(lane) && thread->gate == gate &&
	       perf_pool->open & PERF_OPEN_MANUAL)
		perf_sleep(PAUSE);
	waited = perf_device_now() - begin;
	thread->waited += waited;
	perf_lost_count(&perf_losses()->waits);
	__atomic_fetch_add(&perf_losses()->waited, waited, __ATOMIC_RELAXED);
	errno = error;
}

PERF_INTERNAL bool perf_room_give_way(struct perf_thread *thread, const struct perf_lane *lane,
				      uintptr_t gate)
{
	if (perf_pool->room & SIFIVE_TRACE_CONFIG_DROP)
		return true;
	wait_for_room(thread, lane, gate);
	return false;
}

PERF_INTERNAL void perf_room_note(struct perf_thread *thread)
{
	thread->dropped += thread->dropped != UINT32_MAX;
	/* Counts and addresses restart; the thread's open calls continue. */
	perf_room_renew(thread);
}

PERF_INTERNAL void perf_room_renew(struct perf_thread *thread)
{
	/* Read the channel only once, because another thread may take it away. */
	const int channel = thread->channel;

	thread->fresh = ~UINT64_C(0);
	if (channel >= 0)
		perf_channel_share(1u << channel);
}

PERF_LOCAL void write_mark(const struct perf_stream *stream, uint32_t kind, uint32_t value)
{
	const bool poll = stream->layout->poll != PERF_POLL_NOT;

	if (poll)
		perf_wait_ready(stream);
	perf_stimulus8(stream->stimulus, kind);
	if (poll)
		perf_wait_ready(stream);
	perf_stimulus32(stream->stimulus, value);
}

PERF_INTERNAL void perf_room_mark_drop(struct perf_thread *thread,
				       const struct perf_stream *stream)
{
	write_mark(stream, SIFIVE_TRACE_RECORD_DROPPED, thread->dropped);
	thread->dropped = 0;
}

PERF_INTERNAL void perf_room_mark_wait(struct perf_thread *thread,
				       const struct perf_stream *stream)
{
	const uint64_t waited = thread->waited;

	thread->waited = 0;
	write_mark(stream, SIFIVE_TRACE_RECORD_WAITED, (uint32_t)waited);
	if (waited >> 32)
		write_mark(stream, SIFIVE_TRACE_RECORD_WAITED_LONG, (uint32_t)(waited >> 32));
}

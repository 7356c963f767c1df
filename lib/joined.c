// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <sys/prctl.h>

#include "device.h"
#include "joined.h"

#ifndef PERF_AMALGAMATION
struct perf_joined perf_joined[PERF_JOINED];
#endif

PERF_INTERNAL bool perf_joined_time(uint64_t *now)
{
	const struct perf_lane *lane = &perf_pool->lane[perf_pool->first][0];

	if (!(perf_pool->device->encoder[0].flags & SIFIVE_TRACE_ENCODER_TS_READABLE) ||
	    !lane->stream.ts)
		return false;
	*now = perf_counter_timestamp(lane->stream.ts);
	return true;
}

PERF_INTERNAL int perf_joined_add(const struct perf_thread *thread)
{
	struct perf_joined *joined = &perf_joined[perf_pool->joins];

	if (perf_pool->joins == PERF_JOINED) {
		perf_lost_count(&perf_losses()->names);
		return -1;
	}
	*joined = (struct perf_joined) {
		.channel = (uint32_t)thread->channel,
		.named = perf_channel_shared(thread->channel),
	};
	joined->timed = perf_joined_time(&joined->from);
	prctl(PR_GET_NAME, joined->name);
	__atomic_store_n(&joined->tid, thread->id, __ATOMIC_RELEASE);
	return (int)perf_pool->joins++;
}

PERF_INTERNAL void perf_joined_end(const struct perf_thread *thread)
{
	struct perf_joined *joined;

	if (thread->joined < 0)
		return;
	joined = &perf_joined[thread->joined];
	if (thread->tid == perf_thread_id())
		prctl(PR_GET_NAME, joined->name);
	joined->timed &= perf_joined_time(&joined->to);
	joined->ended = true;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "auto.h"
#include "bind.h"
#include "environment.h"
#include "error.h"
#include "filter.h"
#include "hooks.h"
#include "join.h"
#include "joined.h"
#include "member.h"
#include "objects.h"
#include "rseq.h"
#include "session.h"
#include "switches.h"
#include "turns.h"

#ifndef PERF_DROPIN
/* These functions are absent from static programs that cannot set a filter. */
#pragma weak perf_filter_load

/* A child inherits the results, because the loader's locks may be held forever in a child. */
#define inherits(setup)	(PERF_MEMBER && (setup)->inherits)

/* Number of records from one header to the next in an XOR ring. */
#define INTERVAL_USUAL	SIFIVE_TRACE_SAMPLING_HEADER_EVERY
#endif /* PERF_DROPIN */

#ifndef PERF_AMALGAMATION
struct perf_session perf_session;
#endif

/* The thread that is in a call to this library, its frame, and its previous cancellation state. */
static volatile int32_t caller;
static volatile uintptr_t caller_frame;
static int cancelable;

#ifndef PERF_DROPIN
static __thread bool in_record PERF_THREAD_MODEL;

/* The thread was the only one when it called fork(). glibc has reported this since version 2.32. */
static __thread bool alone PERF_THREAD_MODEL;
extern char __libc_single_threaded __attribute__((weak));

PERF_LOCAL void note_fork(void)
{
	in_record = perf_gate_closed(perf_self);
	alone = PERF_MEMBER && &__libc_single_threaded && __libc_single_threaded;
}
#else
#define note_fork	NULL
#endif /* PERF_DROPIN */

/* Called in a child: by fork() if @fork is set, otherwise after the child has run for a while. */
PERF_LOCAL void forget(bool fork)
{
	perf_hooks_forget();
	if (perf_session.state >= PERF_SESSION_READY)
		perf_device_forget(&perf_session.device, fork);
	memset(&perf_session, 0, sizeof(perf_session));
#ifndef PERF_DROPIN
	perf_objects_forget();
#endif /* PERF_DROPIN */
	caller = 0;
	if (perf_pool)
		perf_pool->pid = perf_process_id();
#ifndef PERF_DROPIN
	if (PERF_MEMBER)
		perf_auto_child(fork, !in_record, alone);
#endif /* PERF_DROPIN */
}

PERF_LOCAL void forget_at_fork(void)
{
	forget(true);
}

/* Register the handlers for fork() once per process. */
PERF_LOCAL int register_process(void)
{
	static bool registered;

	if (registered)
		return 0;
	if (pthread_atfork(note_fork, NULL, forget_at_fork))
		return perf_error("out of memory");
	registered = true;
	return 0;
}

/* Return whether a call will never finish: its thread has ended, or has jumped out of the call. */
PERF_LOCAL bool is_over(int32_t other, int32_t self, uintptr_t frame)
{
	return other == self ? perf_frame_left(caller_frame, frame) :
			       perf_thread_ended(perf_process_id(), other);
}

/*
 * Begin a call, unless another call is in progress. Block signals, because a handler could find
 * this call's @caller with an earlier call's @caller_frame.
 */
PERF_LOCAL bool take_call(int32_t self, uintptr_t frame)
{
	uint64_t signals;
	int32_t other;
	bool taken;

	perf_signals_block(&signals);
	other = caller;
	taken = (!other || is_over(other, self, frame)) &&
		__atomic_compare_exchange_n(&caller, &other, self, false,
					    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
	if (taken)
		caller_frame = frame;
	perf_signals_restore(&signals);
	return taken;
}

PERF_INTERNAL int perf_session_enter(bool record, uintptr_t frame)
{
	int32_t self = perf_thread_id();
	int state;

	/* The process is a child whose creation did not run fork()'s handlers. */
	if (perf_pool && !perf_pool->pid)
		forget(false);
	if (perf_hooks_busy(frame) && record)
		return perf_error("a record is being written: call this outside signal handlers");

	/* Allow cancellation only between attempts: a cancelled call would block any other call. */
	while (pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state), !take_call(self, frame)) {
		pthread_setcancelstate(state, NULL);
		if (caller == self)
			return perf_error("another call to this library is interrupted: call this outside signal handlers");
		perf_sleep(1000000);
	}
	cancelable = state;
	return 0;
}

PERF_INTERNAL void perf_session_leave(void)
{
	int state = cancelable;

	__atomic_store_n(&caller, 0, __ATOMIC_RELEASE);
	pthread_setcancelstate(state, NULL);
}

PERF_INTERNAL int perf_session_check_ready(void)
{
	if (perf_session.state == PERF_SESSION_NONE)
		return perf_error("call perfInit() first");
	if (perf_session.state == PERF_SESSION_IDLE)
		return perf_error("call perfManualInit(), perfFuncEntryExitInit() or perfTimerISRInit() first");
	return 0;
}

PERF_INTERNAL int perf_session_end(void)
{
	if (perf_session.state == PERF_SESSION_ON)
		return perf_error("tracing is on: call perfTraceOff() first");
	if (perf_session.state < PERF_SESSION_READY)
		return 0;

	perf_pool->epoch++;
	perf_device_close(&perf_session.device);
	perf_session.state = PERF_SESSION_IDLE;
	perf_session.user = NULL;
	return 0;
}

PERF_INTERNAL int perf_session_begin(struct sifive_trace_info *info)
{
	struct perf_device device;

	if (perf_session_end())
		return -1;

	perf_session.state = PERF_SESSION_NONE;
	if (perf_environment_check() || perf_device_open(&device))
		return -1;
	*info = device.info;
	perf_device_close(&device);
	perf_session.state = PERF_SESSION_IDLE;
	return 0;
}

PERF_LOCAL int find_cpus(struct perf_setup *setup)
{
	if (!perf_rseq_find())
		return perf_error("records need restartable sequences (rseq): %s: the kernel lacks them, a seccomp filter denies them, or another library has registered its own",
				  strerror(errno));
	if (CPU_COUNT(&setup->cpus) || !sched_getaffinity(0, sizeof(setup->cpus), &setup->cpus))
		return 0;
	return perf_error("cannot read the program's CPU affinity: %s", strerror(errno));
}

/* Distribute the channels among the kernel and threads. */
PERF_LOCAL int share_channels(const struct perf_device *device,
			      struct perf_setup *setup,
			      uint32_t *threads, unsigned int *first)
{
	uint32_t all = perf_device_channels(device);

	if (perf_device_check_channel(device, setup->channel))
		return -1;

	*threads = all;
	*first = setup->channel;
	if (setup->sampling.interval || setup->sampling.period) {
		uint32_t others = all & ~(1u << setup->channel);
		unsigned int next;

		/* Use the next higher channel, or else the lowest. */
		next = (unsigned int)__builtin_ctz(others >> setup->channel ?
				others & -(1u << setup->channel) : others);
		setup->sampling.channel = setup->hooks ? next : setup->channel;
		*first = setup->hooks ? setup->channel : next;
		*threads &= ~(1u << setup->sampling.channel);
	}
	return 0;
}

PERF_LOCAL void make_lanes(const struct perf_device *device, uint32_t channels)
{
#ifndef PERF_DROPIN
	const uint8_t *full = (const uint8_t *)perf_pool->lost + SIFIVE_TRACE_FULL_BYTES;
#endif /* PERF_DROPIN */
	unsigned int channel;
	uint32_t i;

	for (channel = 0; channel < PERF_CHANNELS; channel++) {
		if (!(channels & 1u << channel))
			continue;
		for (i = 0; i < device->count; i++) {
			struct perf_lane *lane = &perf_pool->lane[channel][i];

			perf_device_stream(device, i, channel, &lane->stream);
			lane->stream.layout = &perf_pool->layout;
			lane->stream.last = lane->count[0];
#ifndef PERF_DROPIN
			lane->full = full + device->encoder[i].index;
#endif /* PERF_DROPIN */
		}
	}
	for (i = 0; i < device->count; i++)
		perf_pool->index[device->encoder[i].cpu] = (uint8_t)(i + 1);
}

#ifndef PERF_DROPIN
/* Return whether headers repeat: rings overwrite the first header; drained captures have gaps. */
PERF_LOCAL bool repeats_headers(const struct perf_setup *setup)
{
	return (setup->take.flags & SIFIVE_TRACE_CONFIG_RING ||
		(setup->take.flags & SIFIVE_TRACE_CONFIG_DRAIN && setup->header_interval)) &&
	       setup->type == SIFIVE_TRACE_RECORD_XOR && !setup->header_once;
}

/* Events that take turns share a counter, which each record contains once. */
PERF_LOCAL int turns_layout(struct perf_layout *layout, const struct perf_setup *setup)
{
	struct perf_counter counter[PERF_COUNTER_MAX];
	uint32_t count = 0, turning = 0, i;

	for (i = 0; i < setup->count; i++) {
		const struct perf_counter *c = &setup->counter[i];

		if (c->turn && turning & 1u << c->number)
			continue;
		counter[count] = *c;
		if (c->turn) {
			turning |= 1u << c->number;
			counter[count].type = SIFIVE_TRACE_EVENT_TURNS;
			counter[count].code = 0;
		}
		count++;
	}
	return perf_layout_init(layout, setup->type, counter, count);
}
#endif /* PERF_DROPIN */

PERF_LOCAL int fill_pool(const struct perf_device *device,
			 const struct perf_setup *setup, uint32_t channels, unsigned int first)
{
	if (perf_pool_make())
		return -1;
	if (
#ifndef PERF_DROPIN
	    PERF_TURNS ? turns_layout(&perf_pool->layout, setup) :
#endif /* PERF_DROPIN */
	    perf_layout_init(&perf_pool->layout, setup->type, setup->counter, setup->count))
		return perf_error("the driver assigned the same counter to two events");

	perf_pool->layout.poll = !perf_device_stalls(device) ? PERF_POLL_STORE :
				 setup->poll ? PERF_POLL_RECORD : PERF_POLL_NOT;
	perf_pool->channels = channels;
	perf_pool->first = first;
	perf_pool->device = &perf_session.device;
	perf_pool->lost = perf_device_page(device, PERF_LOSSES_PAGE);
	perf_pool->once = setup->header_once;
	perf_pool->join = setup->count;
#ifndef PERF_DROPIN
	perf_pool->room = setup->take.flags &
			  (SIFIVE_TRACE_CONFIG_WAIT | SIFIVE_TRACE_CONFIG_DROP);
	perf_pool->interval = !repeats_headers(setup) ? 0 :
			      setup->header_interval ? setup->header_interval :
						       INTERVAL_USUAL;
	perf_pool->slots = device->slots;
	/* In Delta, a thread's own counts cannot continue from another thread's. */
	perf_pool->once &= !(device->slots && setup->type == SIFIVE_TRACE_RECORD_DELTA);
#endif /* PERF_DROPIN */
#ifndef PERF_DROPIN
	/* A member requests more channels later. */
	if (PERF_MEMBER && setup->join) {
		channels = perf_device_channels(device);
		perf_pool->process = device->process;
	}
	if (PERF_MEMBER)
		perf_channel_share(setup->shared);
#endif /* PERF_DROPIN */
	make_lanes(device, channels);
	perf_hooks_prepare();

	if (!perf_thread_join())
		return perf_error("the driver does not let this thread read the counters: %s",
				  strerror(perf_pool->refusal));
	return 0;
}

/* Take hardware and counters, or join a session that holds them. */
PERF_LOCAL int take(struct perf_device *device, struct perf_setup *setup,
		    uint32_t *channels, unsigned int *first)
{
	uint32_t turn_us = 0;

#ifndef PERF_DROPIN
	if (PERF_MEMBER && setup->join) {
		*first = setup->channel;
		return perf_member_take(device, setup, channels);
	}
	/* Events cannot take turns if the kernel samples. */
	if (PERF_TURNS && !setup->sampling.interval && !setup->sampling.period)
		turn_us = setup->turn_us;
#endif /* PERF_DROPIN */
	if (perf_device_choose(device, &setup->cpus) ||
	    perf_device_take(device, &setup->take) ||
	    share_channels(device, setup, channels, first) ||
	    (setup->count &&
	     perf_device_counters(device, setup->counter, setup->name, setup->count,
				  setup->per_thread, turn_us)))
		return -1;
#ifndef PERF_DROPIN
	if (PERF_TURNS && perf_turns_check(setup))
		return -1;
	if (repeats_headers(setup))
		setup->sampling.flags |= SIFIVE_TRACE_SAMPLING_HEADERS;
	if (PERF_SWITCHES && setup->switches) {
		setup->switch_channel = perf_switches_set(device, 1u << *first |
			1u << setup->channel | 1u << setup->sampling.channel,
			(setup->sampling.flags & SIFIVE_TRACE_SAMPLING_ALL ?
			 SIFIVE_TRACE_SWITCHES_ALL : 0) |
			(setup->syscalls ? SIFIVE_TRACE_SWITCHES_SYSCALLS : 0) |
			(setup->faults ? SIFIVE_TRACE_SWITCHES_FAULTS : 0));
		if (setup->switch_channel < 0)
			return -1;
		*channels &= ~(1u << setup->switch_channel);
	}
#endif /* PERF_DROPIN */
	perf_session.sampled = setup->sampling.interval || setup->sampling.period;
	return perf_session.sampled &&
	       perf_device_sample(device, &setup->sampling, setup->type, setup->header_once);
}

/* If firmware counts an event, only the kernel can write its count, so write no records. */
PERF_LOCAL int check_firmware(const struct perf_setup *setup)
{
	uint32_t i;

	perf_session.firmware = false;
	for (i = 0; i < setup->count; i++) {
		if (setup->counter[i].type != SIFIVE_TRACE_EVENT_FIRMWARE)
			continue;
		if (setup->hooks || !(setup->sampling.interval || setup->sampling.period))
			return perf_error("event %u: only samples count firmware events: use perfTimerISRInit(), or an interval with SIFIVE_TRACE_NO_HOOKS",
					  i);
		perf_session.firmware = true;
	}
	return 0;
}

PERF_INTERNAL int perf_session_setup(struct perf_setup *setup, const void *user)
{
	struct perf_device *device = &perf_session.device;
	unsigned int first;
	uint32_t channels;

#ifndef PERF_DROPIN
	if (setup->header_interval && !repeats_headers(setup))
		return perf_error("headers at intervals of %u records need a ring of XOR records, without a single header",
				  setup->header_interval);
#endif /* PERF_DROPIN */
	if (check_firmware(setup) || register_process() || find_cpus(setup) ||
	    perf_device_open(device))
		return -1;

	if (take(device, setup, &channels, &first) ||
	    perf_device_map(device) ||
#ifndef PERF_DROPIN
	    (setup->per_thread && setup->count && perf_device_map_slots(device)) ||
	    (perf_filter_load && !inherits(setup) && perf_filter_load(setup->filter)) ||
	    (!inherits(setup) && perf_bind(setup->hooks)) ||
#endif /* PERF_DROPIN */
	    fill_pool(device, setup, channels, first))
		goto fail;

	perf_session.setup = *setup;
	perf_session.user = user;
	perf_session.started = false;
	perf_session.starter = perf_thread_id();
	perf_session.state = PERF_SESSION_READY;
#ifndef PERF_DROPIN
	perf_session.joined_timed = PERF_MEMBER && perf_joined_time(&perf_session.joined_at);
	if (!inherits(setup))
		perf_objects_begin();
#endif /* PERF_DROPIN */
	return 0;

fail:
	perf_device_close(device);
	return -1;
}

/*
 * Signal handlers can turn tracing on. Therefore, do not allocate memory here, or take a lock that
 * the program may hold, such as the loader's lock on its list of objects.
 */
PERF_INTERNAL void perf_session_begin_records(void)
{
	if (!perf_session.firmware)
		perf_hooks_open(PERF_OPEN_MANUAL |
				(perf_session.setup.hooks ? PERF_OPEN_HOOKS : 0));
}

PERF_INTERNAL void perf_session_end_records(bool pause)
{
	if (!perf_session.firmware)
		perf_hooks_close(pause);
}

PERF_INTERNAL int perf_session_on(void)
{
	struct perf_device *device = &perf_session.device;
	struct sifive_trace_status capture;
	int full;

	if (perf_session_check_ready())
		return -1;
	if (perf_session.state == PERF_SESSION_ON)
		return 0;

	full = perf_device_start(device, 0);
	if (full < 0 || (full && perf_device_capture(device, &capture)))
		return -1;
	if (full)
		return perf_error("trace buffer full: %llu bytes captured: write them with perfWriteTrace(), then initialise again, with a larger SBABufferSize",
				  capture.bytes);

	if (!perf_session.setup.header_once)
		perf_pool->generation++;
	perf_pool->retry++;
	perf_session.started = true;
	perf_session.state = PERF_SESSION_ON;
	perf_session_begin_records();
	return 0;
}

PERF_INTERNAL int perf_session_off(void)
{
	if (perf_session_check_ready())
		return -1;
	if (perf_session.state == PERF_SESSION_READY)
		return 0;

	perf_session_end_records(false);
	perf_session.state = PERF_SESSION_READY;
	return perf_device_stop(&perf_session.device);
}

PERF_INTERNAL int perf_session_record(uintptr_t address)
{
	if (PERF_UNLIKELY(perf_session.state < PERF_SESSION_READY))
		return perf_session_check_ready();
	if (PERF_UNLIKELY(perf_session.firmware))
		return perf_error("only samples count firmware events");
	perf_hooks_manual(address);
	return 0;
}


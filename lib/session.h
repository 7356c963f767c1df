/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The process's session: device, encoders, counters and the threads' records, from
 * set-up to writing the trace file.
 *
 * All functions return 0, or -1 with text for perfErrorString(). All but
 * perf_session_record() are called between perf_session_enter() and
 * perf_session_leave().
 */
#ifndef PERF_SESSION_H
#define PERF_SESSION_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "device.h"
#include "record.h"
#include "thread.h"

/* Length of a turn in microseconds, unless the user specifies another value. */
#define PERF_TURN_US	4000

/**
 * enum perf_session_state - state of a session
 * @PERF_SESSION_NONE:	initial, all zero
 * @PERF_SESSION_IDLE:	the hardware was queried; nothing is held
 * @PERF_SESSION_READY:	device and counters are held; tracing is off
 * @PERF_SESSION_ON:	tracing is on
 */
enum perf_session_state {
	PERF_SESSION_NONE,
	PERF_SESSION_IDLE,
	PERF_SESSION_READY,
	PERF_SESSION_ON,
};

/**
 * struct perf_setup - the set-up of a session
 * @counter:	events to count; number and info are filled in
 * @name:	user's names for the events, or "" if none
 * @count:	number of events, 0 to 32
 * @type:	SIFIVE_TRACE_RECORD_RAW, _DELTA or _XOR
 * @channel:	ITC channel, 0 to 31, of the first thread or, if no thread writes
 *		records, of the samples
 * @take:	buffer and other hardware resources, as for perf_device_take()
 * @cpus:	CPUs to trace; if empty, all that the calling thread may run on
 * @hooks:	whether to write records at function entry and exit
 * @per_thread:	whether each thread has its own counts
 * @poll:	whether to poll for room before each record
 * @header_once: whether to write only one header
 * @header_interval: number of records from one header to the next in an XOR ring, 0 for the default
 * @filter:	name of the filter file, or NULL if none
 * @sampling:	the kernel samples if @interval or @period is not 0: see perf_device_sample()
 * @sampling_name: user's name for the event of @sampling
 * @turn_us:	length of a turn in microseconds if there are more events than counters, or 0 if
 *		that is an error
 * @join:	whether to record in an ancestor's session, whose counters are filled in
 * @inherits:	whether filter, bindings and objects are the parent's; valid if @join is set
 * @shared:	channels that other processes have used; valid if @join is set
 */
struct perf_setup {
	struct perf_counter counter[PERF_COUNTER_MAX];
	char name[PERF_COUNTER_MAX][PERF_EVENT_NAME];
	uint32_t count;
	uint32_t type;
	unsigned int channel;
	struct sifive_trace_config take;
	cpu_set_t cpus;
	bool hooks;
	bool per_thread;
	bool poll;
	bool header_once;
	struct sifive_trace_sampling sampling;
	char sampling_name[PERF_EVENT_NAME];
#ifndef PERF_DROPIN
	uint32_t turn_us;
	uint32_t header_interval;
	const char *filter;
	bool join;
	bool inherits;
	uint32_t shared;
	/* The kernel records these events on @switch_channel, which is filled in. */
	bool switches;	/* context switches */
	bool syscalls;	/* also system calls */
	bool faults;	/* also page faults */
	int switch_channel;
	uint32_t encoders;	/* set by the command: number of encoders in the capture */
#endif /* PERF_DROPIN */
};

/**
 * struct perf_session - the process's session
 * @state:	state of the session
 * @user:	owner: a handle of the modern API, or NULL for the old API
 * @device:	the trace device, open in the states READY and ON
 * @setup:	the set-up, valid in the states READY and ON
 * @started:	whether tracing has been on
 * @sampled:	whether the kernel writes samples
 * @firmware:	whether firmware counts an event, in which case the program writes no records
 * @starter:	thread that set up the session
 * @joined_at:	trace timestamp of joining; valid if setup.join and @joined_timed are set
 */
struct perf_session {
	enum perf_session_state state;
	const void *user;
	struct perf_device device;
	struct perf_setup setup;
	bool started;
	bool sampled;
	bool firmware;
	int32_t starter;
#ifndef PERF_DROPIN
	uint64_t joined_at;
	bool joined_timed;
#endif /* PERF_DROPIN */
};

PERF_INTERNAL_DATA struct perf_session perf_session;

/*
 * Serialise calls in the whole process. Fails in a signal handler that has interrupted a call or,
 * if @record is set, a record. @frame, the frame of the program's call, shows whether an earlier
 * call was left with longjmp().
 */
PERF_INTERNAL int perf_session_enter(bool record, uintptr_t frame);
PERF_INTERNAL void perf_session_leave(void);

/**
 * perf_session_begin - query the hardware
 * @info:	hardware's description to fill in
 *
 * Ends an earlier set-up.
 */
PERF_INTERNAL int perf_session_begin(struct sifive_trace_info *info);

/* Take the hardware, without tracing yet. Fills in the counters of @setup. */
PERF_INTERNAL int perf_session_setup(struct perf_setup *setup, const void *user);

/**
 * perf_session_end - release everything except what perf_session_begin() found
 *
 * Fails while tracing is on.
 */
PERF_INTERNAL int perf_session_end(void);

PERF_INTERNAL int perf_session_on(void);

/* Enable the program's own records, unless firmware counts one of the events. */
PERF_INTERNAL void perf_session_begin_records(void);

/*
 * Stop writing the program's own records. If @pause is set, writing will resume, and records missed
 * until then count as lost.
 */
PERF_INTERNAL void perf_session_end_records(bool pause);

PERF_INTERNAL int perf_session_off(void);

/* Write a record of the counters with @address. */
PERF_INTERNAL int perf_session_record(uintptr_t address);

/* Fails unless a session is set up. */
PERF_INTERNAL int perf_session_check_ready(void);

#endif /* PERF_SESSION_H */

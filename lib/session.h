/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The process's session: device, encoders, counters and the threads' records,
 * from setting up to writing the trace file.
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

/* Longest name of an event in the side-car file. */
#define PERF_EVENT_NAME	64

/**
 * enum perf_session_state - how far a session has come
 * @PERF_SESSION_NONE:	nothing was called; all zero
 * @PERF_SESSION_IDLE:	the hardware was looked at; nothing is held
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
 * struct perf_setup - what to record, and where to
 * @counter:	events to count; number and info are filled in
 * @name:	what the user calls them; "" for the usual name
 * @count:	how many, 0 to 32
 * @type:	enum perf_count_type
 * @channel:	ITC channel, 0 to 31, of the first thread; of the kernel's
 *		records, when neither hooks nor threads write
 * @take:	buffer and what else is wanted of the hardware
 * @cpus:	CPUs to trace, none: all that the calling thread may run on
 * @hooks:	write records at function entry and exit
 * @per_thread:	each thread has counts of its own
 * @poll:	wait before each record until the encoder can take it
 * @header_once: write only one header
 * @header_interval: records from one header to the next, in a ring of XOR; 0: the usual
 * @filter:	filter file, NULL for none
 * @sampling:	when @interval or @period is not 0: records of the kernel
 * @sampling_name: what the user calls its event
 */
struct perf_setup {
	struct perf_counter counter[PERF_COUNTER_MAX];
	char name[PERF_COUNTER_MAX][PERF_EVENT_NAME];
	uint32_t count;
	uint32_t type;
	unsigned int channel;
	struct perf_take take;
	cpu_set_t cpus;
	bool hooks;
	bool per_thread;
	bool poll;
	bool header_once;
	uint32_t header_interval;
	const char *filter;
	struct perf_sampling sampling;
	char sampling_name[PERF_EVENT_NAME];
};

/**
 * struct perf_session - the session
 * @state:	how far it has come
 * @user:	who has set it up: a handle of the modern API, NULL the old API
 * @device:	the trace device, open from READY on
 * @setup:	what was asked for, as far as it is valid
 * @started:	tracing has been on
 * @sampled:	the kernel writes records
 * @starter:	the thread that has set it up
 */
struct perf_session {
	enum perf_session_state state;
	const void *user;
	struct perf_device device;
	struct perf_setup setup;
	bool started;
	bool sampled;
	int32_t starter;
};

PERF_INTERNAL_DATA struct perf_session perf_session;

/*
 * One call at a time, in the whole process. Fails in a signal handler that has
 * interrupted a call; @record: also in one that has interrupted a record. @frame is
 * the program's call: one that was left with longjmp() interrupts nothing.
 */
PERF_INTERNAL int perf_session_enter(bool record, uintptr_t frame);
PERF_INTERNAL void perf_session_leave(void);

/**
 * perf_session_begin - look at the hardware
 * @info:	to be filled in
 *
 * Ends what was set up before.
 */
PERF_INTERNAL int perf_session_begin(struct sifive_trace_info *info);

/* Take the hardware. Nothing is traced yet. @setup: counters are filled in. */
PERF_INTERNAL int perf_session_setup(struct perf_setup *setup, const void *user);

/**
 * perf_session_end - give everything back but what perf_session_begin() found
 *
 * Fails while tracing is on.
 */
PERF_INTERNAL int perf_session_end(void);

PERF_INTERNAL int perf_session_on(void);
PERF_INTERNAL int perf_session_off(void);

/* Write a record of the counters with @address. */
PERF_INTERNAL int perf_session_record(uintptr_t address);

/* Fails unless something is set up. */
PERF_INTERNAL int perf_session_check_ready(void);

#endif /* PERF_SESSION_H */

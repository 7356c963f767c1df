/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A session: device, encoder, counters and stream of one traced thread, from
 * setting up to writing the trace file.
 *
 * All functions return 0, or -1 with text for perfErrorString(). All but
 * perf_session_forget() are for the thread that set the session up.
 */
#ifndef PERF_SESSION_H
#define PERF_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "device.h"
#include "record.h"

/**
 * enum perf_session_state - how far a session has come
 * @PERF_SESSION_NONE:	nothing was called; all zero
 * @PERF_SESSION_IDLE:	the hardware was looked at; nothing is held
 * @PERF_SESSION_READY:	device, counters and stream are held; tracing is off
 * @PERF_SESSION_ON:	tracing is on
 */
enum perf_session_state {
	PERF_SESSION_NONE,
	PERF_SESSION_IDLE,
	PERF_SESSION_READY,
	PERF_SESSION_ON,
};

/**
 * struct perf_session - a session
 * @state:	how far it has come
 * @device:	the trace device, open from READY on
 * @stream:	where records go, a page of its own, from READY on
 * @open:	PERF_OPEN_*: what records are written while tracing is on
 * @header_once: write only one header
 * @header_written: a header has been written
 * @missed:	records that other threads would have written
 */
struct perf_session {
	enum perf_session_state state;
	struct perf_device device;
	struct perf_stream *stream;
	unsigned int open;
	bool header_once;
	bool header_written;
	uint32_t missed;
};

/**
 * struct perf_setup - what to record, and where to
 * @counter:	events to count; number and info are filled in
 * @count:	how many, 0 to 32
 * @channel:	ITC channel, 0 to 31
 * @type:	enum perf_count_type
 * @buffer:	bytes of system memory for the trace, 0 for SRAM
 * @hooks:	write records at function entry and exit
 */
struct perf_setup {
	struct perf_counter *counter;
	uint32_t count;
	unsigned int channel;
	uint32_t type;
	uint32_t buffer;
	bool hooks;
};

/**
 * perf_session_begin - look at the hardware
 * @cores:	number of encoders the program expects
 * @funnels:	number of funnels the program expects
 *
 * Other numbers are a notice, no failure. Ends what was set up before.
 */
PERF_INTERNAL int perf_session_begin(struct perf_session *session,
				     unsigned int cores, unsigned int funnels);

/* Take the hardware of the CPU this thread is pinned to. Nothing is traced yet. */
PERF_INTERNAL int perf_session_setup(struct perf_session *session,
				     const struct perf_setup *setup);

/**
 * perf_session_end - give everything back but what perf_session_begin() found
 *
 * Fails while tracing is on, and in other threads.
 */
PERF_INTERNAL int perf_session_end(struct perf_session *session);

PERF_INTERNAL int perf_session_on(struct perf_session *session);
PERF_INTERNAL int perf_session_off(struct perf_session *session);

/* Write a record of the counters with @address. */
PERF_INTERNAL int perf_session_record(struct perf_session *session,
				      uintptr_t address);

/* Write what was captured to the file @path. */
PERF_INTERNAL int perf_session_dump(struct perf_session *session,
				    const char *path);

/* In a child made by fork(): leave the session to the parent. */
PERF_INTERNAL void perf_session_forget(struct perf_session *session);

#endif /* PERF_SESSION_H */

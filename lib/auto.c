// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sifive_trace.h"

#include "auto.h"
#include "bind.h"
#include "dump.h"
#include "environment.h"
#include "error.h"
#include "join.h"
#include "member.h"
#include "objects.h"
#include "options.h"
#include "quiet.h"
#include "session.h"
#include "switches.h"
#include "turns.h"

/* In a session that this file has set up, perf_session.user is the address of this variable. */
static const char auto_user;

/* Paths, set when the program starts, because the environment may change later. */
static char output[PATH_MAX], filter[PATH_MAX];

PERF_LOCAL int read_flags(struct sifive_trace_options *options)
{
	bool ring = false, per_cpu = false, once = false, callers = false, switches = false,
	     syscalls = false, faults = false;

	if (perf_environment_flag("SIFIVE_TRACE_RING", &ring) ||
	    perf_environment_flag("SIFIVE_TRACE_PER_CPU", &per_cpu) ||
	    perf_environment_flag("SIFIVE_TRACE_CALLERS", &callers) ||
	    (PERF_SWITCHES && perf_environment_flag("SIFIVE_TRACE_SWITCHES", &switches)) ||
	    (PERF_SWITCHES && perf_environment_flag("SIFIVE_TRACE_SYSCALLS", &syscalls)) ||
	    (PERF_SWITCHES && perf_environment_flag("SIFIVE_TRACE_PAGE_FAULTS", &faults)) ||
	    perf_environment_header(&once, &options->header_interval))
		return -1;
	options->flags |= (ring ? SIFIVE_TRACE_RING : 0) |
			  (per_cpu ? SIFIVE_TRACE_PER_CPU : 0) |
			  (callers ? SIFIVE_TRACE_CALLERS : 0) |
			  (PERF_SWITCHES && switches ? SIFIVE_TRACE_SWITCHES : 0) |
			  (PERF_SWITCHES && syscalls ? SIFIVE_TRACE_SYSCALLS : 0) |
			  (PERF_SWITCHES && faults ? SIFIVE_TRACE_PAGE_FAULTS : 0) |
			  (once ? SIFIVE_TRACE_HEADER_ONCE : 0);
	return 0;
}

PERF_LOCAL int read_environment(struct sifive_trace_options *options)
{
	uint64_t channel = options->channel, interval = 0, stack = 0;
	unsigned int sink = 0;
	const char *path;

	if (perf_environment_choice("SIFIVE_TRACE_COUNT", "raw, delta, xor",
				    &options->count_type) ||
	    perf_environment_choice("SIFIVE_TRACE_SINK", "sba, sram", &sink) ||
	    perf_environment_number("SIFIVE_TRACE_BUFFER", UINT64_MAX,
				    &options->buffer) ||
	    perf_environment_number("SIFIVE_TRACE_CHANNEL", PERF_CHANNELS - 1,
				    &channel) ||
	    perf_environment_number("SIFIVE_TRACE_INTERVAL", UINT_MAX,
				    &interval) ||
	    perf_environment_number("SIFIVE_TRACE_STACK", SIFIVE_TRACE_STACK_MAX, &stack) ||
	    perf_environment_number("SIFIVE_TRACE_PERIOD", UINT64_MAX,
				    &options->period) ||
	    read_flags(options))
		return -1;

	if (sink)
		options->buffer = 0;
	options->channel = (unsigned int)channel;
	options->interval = (unsigned int)interval;
	options->stack = (unsigned int)stack;
	options->events = perf_environment("SIFIVE_TRACE_EVENTS");
	options->cpus = perf_environment("SIFIVE_TRACE_CPUS");
	options->period_event = perf_environment("SIFIVE_TRACE_PERIOD_EVENT");
	path = perf_environment("SIFIVE_TRACE_FILTER");
	if (path && snprintf(filter, sizeof(filter), "%s", path) >= (int)sizeof(filter))
		return perf_error("the filter's name is too long");
	options->filter = path ? filter : NULL;
	return 0;
}

/* Resolve relative paths against the working directory in which the program starts. */
PERF_LOCAL int find_output(void)
{
	const char *name = perf_environment("SIFIVE_TRACE_OUTPUT");
	char dir[PATH_MAX];
	int length;

	if (!name)
		name = "trace.rtd";
	if (*name == '/')
		dir[0] = '\0';
	else if (!getcwd(dir, sizeof(dir)))
		return perf_error("cannot read the current directory's name: %s",
				  strerror(errno));
	length = snprintf(output, sizeof(output), "%s%s%s", dir,
			  *dir ? "/" : "", name);
	if (length < 0 || (size_t)length >= sizeof(output))
		return perf_error("the trace's name is too long");
	return 0;
}

/* Write the data that only this process has; the recorder writes the trace. */
PERF_LOCAL void end_member(void)
{
	perf_objects_note();
	perf_member_off();
	/* ENOENT: the recorder has ended the recording and removed the directory. */
	if (perf_member_write(output, true) && errno != ENOENT)
		perf_error_print("SIFIVE_TRACE_RECORD: ");
	perf_session_end();
}

PERF_LOCAL void stop(void)
{
	perf_error_clear();
	if (perf_session.user != &auto_user)
		return;
	/* Do not fail if exit() has interrupted a record, which will never be completed. */
	if (perf_session_enter(false, PERF_FRAME)) {
		perf_error_print("SIFIVE_TRACE_RECORD: ");
		return;
	}
	/* Ignore the exit of a child. */
	if (perf_session.user != &auto_user) {
		perf_session_leave();
		return;
	}
	if (PERF_MEMBER && perf_session.setup.join) {
		end_member();
		perf_session_leave();
		return;
	}
	if (perf_session_off())
		perf_error_print("SIFIVE_TRACE_RECORD: ");
	if (perf_session.setup.take.flags & SIFIVE_TRACE_CONFIG_DRAIN ? perf_dump_drained(output) : perf_dump(output))
		perf_error_print("SIFIVE_TRACE_RECORD: ");
	else
		perf_bind_report_unused();
	perf_session_end();
	perf_session_leave();
}

PERF_LOCAL void auto_stop(void)
{
	struct perf_quiet quiet;

	perf_quiet_begin(&quiet);
	stop();
	perf_quiet_end(&quiet);
}

#ifdef PERF_SHARED
/* Defined in the C library, for C++ destructors. */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *object);

PERF_LOCAL void stop_object(void *unused)
{
	(void)unused;
	auto_stop();
}

/*
 * Register stop_object() before all other functions, so that exit() calls it last, after all
 * destructors. Register it for no object, so that it does not run with this object's destructors.
 */
PERF_LOCAL int stop_last(void)
{
	return __cxa_atexit(stop_object, NULL, NULL);
}
#else
/* Run after the program's destructors, and therefore after its atexit() functions. */
PERF_RUN(".fini_array", PERF_FIRST) static void (*auto_ends)(void) = auto_stop;

PERF_LOCAL int stop_last(void)
{
	return 0;
}
#endif

/* Return whether side-car files are also written when the program starts. */
PERF_LOCAL bool is_early(void)
{
	return !perf_environment_word("SIFIVE_TRACE_META", PERF_ENVIRONMENT_META);
}

/* Indexes of SIFIVE_TRACE_DRAIN's words: wait, drop, then words for true and false, alternating. */
enum { DRAIN_WAIT, DRAIN_DROP, DRAIN_YES, DRAIN_NONE };

PERF_LOCAL uint32_t drain_flags(unsigned int value)
{
	if (value >= DRAIN_YES && value % 2)
		return 0;
	return SIFIVE_TRACE_CONFIG_DRAIN |
	       (value == DRAIN_WAIT ? SIFIVE_TRACE_CONFIG_WAIT :
		value == DRAIN_DROP ? SIFIVE_TRACE_CONFIG_DROP : 0);
}

/* The set-up that the environment variables described when the program started. */
static struct perf_setup setup;

/* Join the recording when the program starts, and in each child. @note: look for new objects. */
PERF_LOCAL int begin_member(bool note)
{
	if (perf_session_setup(&setup, &auto_user))
		return -1;
	if (note)
		perf_objects_note();
	setup.inherits = true;
	/* A failure here must not end the recording. */
	if (perf_member_write(output, false))
		perf_error_print("SIFIVE_TRACE_RECORD: ");
	perf_member_on();
	return 0;
}

PERF_INTERNAL void perf_auto_child(bool fork, bool idle, bool alone)
{
	if (!PERF_MEMBER || !setup.join || perf_session_enter(true, PERF_FRAME))
		return;
	perf_member_forget();
	if (!fork || !idle)
		perf_warning("SIFIVE_TRACE_RECORD: process %d is not recorded: it was created %s",
			     (int)getpid(), fork ? "in the middle of a record" :
			     "without fork()");
	else if (begin_member(alone) && errno != ENXIO)
		perf_error_print("SIFIVE_TRACE_RECORD: a child is not recorded: ");
	perf_session_leave();
	perf_error_clear();
}

/* Start the recording that the environment requests, in an ancestor's session if @join is set. */
PERF_LOCAL int auto_begin(bool join)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;

	static const char drains[] = "wait, drop, " PERF_ENVIRONMENT_FLAG;
	unsigned int drain = DRAIN_NONE;
	uint64_t turn = PERF_TURN_US;

	if (!PERF_MEMBER && join)
		return perf_error("a static library cannot join a recording");
	if (perf_environment_check() || find_output() ||
	    read_environment(&options) ||
	    perf_environment_choice("SIFIVE_TRACE_DRAIN", drains, &drain) ||
	    (PERF_TURNS &&
	     perf_environment_number("SIFIVE_TRACE_TURN", SIFIVE_TRACE_TURN_LONGEST, &turn)) ||
	    perf_options_parse(&options, &setup))
		return -1;
	setup.take.flags |= drain_flags(drain);
	setup.turn_us = (uint32_t)turn;
	setup.join = join;
	if (PERF_MEMBER && join)
		return stop_last() ? perf_error("out of memory") : begin_member(true);
	if (perf_session_setup(&setup, &auto_user))
		return -1;
	if (stop_last()) {
		perf_session_end();
		return perf_error("out of memory");
	}
	/* A failure is harmless, because the program writes everything at exit. */
	if (is_early() && perf_dump_early(output))
		perf_error_print("SIFIVE_TRACE_RECORD: ");
	perf_error_clear();
	if (!perf_session_on())
		return 0;
	perf_session_end();
	return -1;
}

/* Read what the environment requests, and report invalid values. */
PERF_LOCAL enum perf_record wanted_here(void)
{
	enum perf_record record;

	if (perf_environment_record(&record) ||
	    (record == PERF_RECORD_NOT && perf_environment_check()))
		perf_error_print("");
	perf_error_clear();
	return record;
}

PERF_INTERNAL void perf_auto_start(void)
{
	enum perf_record record = wanted_here();

	if (record == PERF_RECORD_NOT)
		return;
	/* Children cannot set up sessions, because the parent's session holds the hardware. */
	if (record == PERF_RECORD_OWN)
		unsetenv("SIFIVE_TRACE_RECORD");

	if (perf_session_enter(true, PERF_FRAME))
		return;
	/* sifive-trace record recognises the library in a program by the message below. */
	if (auto_begin(record == PERF_RECORD_JOIN)) {
		/* A recording may end before its processes do, so ENXIO is not an error. */
		if (record == PERF_RECORD_JOIN && errno == ENXIO)
			setup.join = false;
		else
			perf_error_print("SIFIVE_TRACE_RECORD: nothing is recorded: ");
	}
	perf_session_leave();
	perf_error_clear();
}

PERF_RUN(".init_array", PERF_SECOND) static void (*auto_begins)(void) = perf_auto_start;

PERF_LOCAL void yield(void)
{
	if (PERF_MEMBER && perf_session.setup.join) {
		end_member();
		/* The program's own set-up replaces the filter. */
		setup.inherits = false;
		return;
	}
	perf_session_off();
	if (is_early())
		perf_dump_forget(output);
	perf_session_end();
	perf_error_clear();
	perf_warning("SIFIVE_TRACE_RECORD: the program traces itself: its own file contains the whole trace");
}

PERF_INTERNAL void perf_auto_yield(uintptr_t frame)
{
	if (perf_session.user != &auto_user || perf_session_enter(true, frame))
		return;
	if (perf_session.user == &auto_user)
		yield();
	perf_session_leave();
	perf_error_clear();
}

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
#include "options.h"
#include "session.h"

/* Owner of the session while this file holds it. */
static const char auto_user;

/* The settings at the start: the environment may have changed by exit. */
static char output[PATH_MAX];

PERF_LOCAL int read_flags(struct sifive_trace_options *options)
{
	bool ring = false, per_cpu = false, once = false;

	if (perf_environment_flag("SIFIVE_TRACE_RING", &ring) ||
	    perf_environment_flag("SIFIVE_TRACE_PER_CPU", &per_cpu) ||
	    perf_environment_header(&once, &options->header_interval))
		return -1;
	options->flags |= (ring ? SIFIVE_TRACE_RING : 0) |
			  (per_cpu ? SIFIVE_TRACE_PER_CPU : 0) |
			  (once ? SIFIVE_TRACE_HEADER_ONCE : 0);
	return 0;
}

PERF_LOCAL int read_environment(struct sifive_trace_options *options)
{
	uint64_t channel = options->channel, interval = 0;
	unsigned int sink = 0;

	if (perf_environment_choice("SIFIVE_TRACE_COUNT", "raw, delta, xor",
				    &options->count_type) ||
	    perf_environment_choice("SIFIVE_TRACE_SINK", "sba, sram", &sink) ||
	    perf_environment_number("SIFIVE_TRACE_BUFFER", UINT64_MAX,
				    &options->buffer) ||
	    perf_environment_number("SIFIVE_TRACE_CHANNEL", PERF_CHANNELS - 1,
				    &channel) ||
	    perf_environment_number("SIFIVE_TRACE_INTERVAL", UINT_MAX,
				    &interval) ||
	    perf_environment_number("SIFIVE_TRACE_PERIOD", UINT64_MAX,
				    &options->period) ||
	    read_flags(options))
		return -1;

	if (sink)
		options->buffer = 0;
	options->channel = (unsigned int)channel;
	options->interval = (unsigned int)interval;
	options->events = perf_environment("SIFIVE_TRACE_EVENTS");
	options->cpus = perf_environment("SIFIVE_TRACE_CPUS");
	options->period_event = perf_environment("SIFIVE_TRACE_PERIOD_EVENT");
	options->filter = perf_environment("SIFIVE_TRACE_FILTER");
	return 0;
}

/* A relative name is relative to the folder in which the program started. */
PERF_LOCAL int find_output(void)
{
	const char *name = perf_environment("SIFIVE_TRACE_OUTPUT");
	char folder[PATH_MAX];
	int length;

	if (!name)
		name = "trace.rtd";
	if (*name == '/')
		folder[0] = '\0';
	else if (!getcwd(folder, sizeof(folder)))
		return perf_error("cannot read the current folder's name: %s",
				  strerror(errno));
	length = snprintf(output, sizeof(output), "%s%s%s", folder,
			  *folder ? "/" : "", name);
	if (length < 0 || (size_t)length >= sizeof(output))
		return perf_error("the trace's file name is too long");
	return 0;
}

PERF_LOCAL void auto_stop(void)
{
	perf_error_clear();
	if (perf_session.user != &auto_user)
		return;
	/* A record that exit() interrupted is never finished. */
	if (perf_session_enter(false, PERF_FRAME)) {
		perf_error_print("SIFIVE_TRACE_RECORD: ");
		return;
	}
	/* Only the program's own exit counts, not a child's. */
	if (perf_session.user != &auto_user) {
		perf_session_leave();
		return;
	}
	if (perf_session_off())
		perf_error_print("SIFIVE_TRACE_RECORD: ");
	if (perf_session.setup.take.drain ? perf_dump_drained(output) : perf_dump(output))
		perf_error_print("SIFIVE_TRACE_RECORD: ");
	else
		perf_bind_report_unused();
	perf_session_end();
	perf_session_leave();
}

#ifdef PERF_SHARED
/* From the C library, for C++ destructors. */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *object);

PERF_LOCAL void stop_object(void *unused)
{
	(void)unused;
	auto_stop();
}

/*
 * After the destructors of all objects: this is the process's first request, and it
 * belongs to no object, so it does not run with this object's destructors.
 */
PERF_LOCAL int stop_last(void)
{
	return __cxa_atexit(stop_object, NULL, NULL);
}
#else
/* After the program's destructors, which run after its atexit() functions. */
PERF_RUN(".fini_array", PERF_FIRST) static void (*auto_ends)(void) = auto_stop;

PERF_LOCAL int stop_last(void)
{
	return 0;
}
#endif

PERF_LOCAL bool is_early(void)
{
	return perf_environment_side_car() == PERF_SIDE_CAR_EARLY;
}

/* Values of SIFIVE_TRACE_DRAIN: this one, then those of a flag, yes and no by turns. */
enum { DRAIN_WAIT, DRAIN_YES, DRAIN_NONE };

PERF_LOCAL int auto_begin(void)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	static struct perf_setup setup;

	static const char drains[] = "wait, " PERF_ENVIRONMENT_FLAG;
	unsigned int drain = DRAIN_NONE;

	if (perf_environment_check() || find_output() ||
	    read_environment(&options) ||
	    perf_environment_choice("SIFIVE_TRACE_DRAIN", drains, &drain) ||
	    perf_options_parse(&options, &setup))
		return -1;
	setup.take.wait = drain == DRAIN_WAIT;
	setup.take.drain = setup.take.wait || drain % 2;
	if (perf_session_setup(&setup, &auto_user))
		return -1;
	if (stop_last()) {
		perf_session_end();
		return perf_error("out of memory");
	}
	/* Without it the program can still write everything at its end. */
	if (is_early() && perf_dump_early(output))
		perf_error_print("SIFIVE_TRACE_RECORD: ");
	perf_error_clear();
	if (!perf_session_on())
		return 0;
	perf_session_end();
	return -1;
}

/* Whether the environment asks for recording; reports wrong values. */
PERF_LOCAL bool is_wanted_here(void)
{
	bool record = false;

	if (perf_environment_flag("SIFIVE_TRACE_RECORD", &record) ||
	    (!record && perf_environment_check()))
		perf_error_print("");
	perf_error_clear();
	return record;
}

PERF_INTERNAL void perf_auto_start(void)
{
	if (!is_wanted_here())
		return;
	/* Children are not recorded: the hardware is in use. */
	unsetenv("SIFIVE_TRACE_RECORD");

	if (perf_session_enter(true, PERF_FRAME))
		return;
	/* sifive-trace record finds the library in a program by this message. */
	if (auto_begin())
		perf_error_print("SIFIVE_TRACE_RECORD: nothing is recorded: ");
	perf_session_leave();
	perf_error_clear();
}

PERF_RUN(".init_array", PERF_SECOND) static void (*auto_begins)(void) = perf_auto_start;

PERF_INTERNAL void perf_auto_yield(void)
{
	if (perf_session.user != &auto_user)
		return;
	perf_session_off();
	if (is_early())
		perf_dump_forget(output);
	perf_session_end();
	perf_error_clear();
	perf_warning("SIFIVE_TRACE_RECORD: the program traces itself: its own file has the whole trace");
	perf_error_clear();
}

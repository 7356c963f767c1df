// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Records a program that uses the library, in the program's own session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording.h"

#include "../command.h"
#include "files.h"
#include "machine.h"
#include "rotate.h"
#include "snapshot.h"

#include "lib/filter.h"

/* Put @first into a list in an environment variable, before the user's entries. */
static int put_first(const char *variable, const char *first)
{
	const char *before = getenv(variable);
	char *value;

	if (asprintf(&value, "%s%s%s", first, before && *before ? ":" : "",
		     before ? before : "") < 0)
		return -1;
	return setenv(variable, value, 1);
}

/* Allow a program to load the address sanitizer although the library is loaded first. */
static int preload(const struct recording *r)
{
	if (!*r->library)
		return 0;
	if (r->program.sanitized && put_first("ASAN_OPTIONS", "verify_asan_link_order=0"))
		return -1;
	return put_first("LD_PRELOAD", r->library);
}

int recording_give_library(void *argument)
{
	const struct recording *r = argument;

	if (recording_stay(r))
		return -1;
	machine_pass_on();
	if (!setup_environment(&r->setup, r->join ? r->tree.dir : r->output, r->join) &&
	    !preload(r))
		return 0;
	report("out of memory");
	return -1;
}

static void report_nothing(int number)
{
	if (number)
		report("nothing was recorded: signal %d ended the program before it could write",
		       number);
	if (number)
		recording_report_signal(number);
	else
		report("nothing was recorded, for the reason above, or because the program ended without exit(), called exec(), or closed the trace device");
}

/* Save the trace of a program that ended without writing it. */
static int rescue(const struct recording *r, int status)
{
	int number = r->launched.signal;
	int error;

	error = capture_rescue(r->output, &r->mark, r->quiet);
	if (!error) {
		recording_report_end(number);
		files_show(r->output, r->quiet);
		return status;
	}
	if (error < 0)
		report_nothing(number);
	return status ? status : EXIT_RECORD;
}

/* Complete a trace that was drained while the program ran. */
static int finish(struct recording *r, int status)
{
	bool finished;
	int error = capture_drained(&r->drain, &r->mark, &finished);

	if (error < 0) {
		drain_close(&r->drain);
		recording_remove_files(r);
		report_nothing(r->launched.signal);
		return status ? status : EXIT_RECORD;
	}
	if (!finished)
		recording_report_end(r->launched.signal);
	if (rotate_end(&r->drain))
		error = 1;
	recording_show_files(r);
	drain_close(&r->drain);
	return error && !status ? EXIT_RECORD : status;
}

/* Called while the program runs, if the program's process will hold the session. */
static void meanwhile_program(void *argument, const sigset_t *mask)
{
	struct recording *r = argument;

	r->drain.pid = r->launched.pid;
	r->mark.pid = r->launched.pid;
	recording_meanwhile(argument, mask);
}

static int try_program(struct recording *r)
{
	if (capture_try(&r->setup.parsed, false, &r->mark))
		return -1;
	return recording_drains(r) ? drain_check(r->mark.sinks) : 0;
}

int recording_check_filter(const struct recording *r)
{
	if (!perf_filter_load(r->setup.options.filter))
		return 0;
	report("%s: the program was not run", sifive_trace_error());
	return -1;
}

static int start(void *argument)
{
	struct recording *r = argument;

	umask(r->mask);
	snapshot_return_signal();
	return recording_give_library(r);
}

/* Run the program and handle the probes that trigger snapshots. */
static int run(struct recording *r, const struct launch *launch)
{
	int status;

	if (r->reached.waits || r->slower.waits || !r->alone)
		recording_watch(r, false);
	r->mark.began = perf_device_now();
	status = launch_run(launch, &r->launched);
	if (r->launched.ran)
		recording_triggers(r, true);
	recording_see_objects(r);
	recording_report_alone(r);
	descendants_close(&r->descendants);
	watch_close(&r->watch);
	objects_free(&r->objects);
	return status;
}

static int record_program(struct recording *r);

/* Record the program with the library, in the program's own session. */
int record_with_library(struct recording *r)
{
	int status = EXIT_RECORD;
	char first[PATH_MAX];

	if (trigger_open(&r->reached, &r->program) || trigger_open(&r->slower, &r->program))
		report("the program was not run");
	else
		status = record_program(r);
	if (r->hit.function)
		capture_name_call(r->output, r->mark.sinks, &r->hit);
	perf_device_file(first, r->output, 0, r->mark.sinks);
	if (r->launched.ran)
		status = recording_end_snapshots(r, !access(first, F_OK), status);
	trigger_close(&r->reached);
	trigger_close(&r->slower);
	return status;
}

static int record_program(struct recording *r)
{
	const struct launch launch = {
		.path = r->program.path, .argv = r->argv, .before = start,
		.argument = r, .meanwhile = meanwhile_program,
	};
	int status;

	if (recording_check_filter(r))
		return EXIT_RECORD;
	if (recording_take(r, try_program))
		return recording_refuse();
	r->setup.parsed.sampling.period = r->mark.period;
	recording_remove_files(r);
	if (recording_drain(r, r->mark.capture + 1, r->mark.sinks))
		return EXIT_RECORD;
	recording_announce(r, true);
	status = run(r, &launch);
	if (!r->launched.ran) {
		recording_forget_files(r);
		return status;
	}
	r->mark.pid = r->launched.pid;
	if (r->drain.sinks)
		return finish(r, status);
	if (!files_show(r->output, r->quiet))
		return rescue(r, status);
	if (capture_compare(r->output, &r->mark, r->quiet))
		return status ? status : EXIT_RECORD;
	return status;
}

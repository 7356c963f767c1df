// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See recording.h. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "recording.h"

#include "../command.h"
#include "files.h"
#include "machine.h"
#include "rotate.h"
#include "sidecar.h"
#include "snapshot.h"

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Print what will be recorded. */
void recording_announce(const struct recording *r, bool library)
{
	const struct sifive_trace_options *o = &r->setup.options;
	const uint64_t period = r->setup.parsed.sampling.period;
	char samples[128] = "", several[32];
	const char *recorded = r->argv[0];

	if (r->attach.count > 1) {
		snprintf(several, sizeof(several), "%zu processes", r->attach.count);
		recorded = several;
	}
	if (period != o->period)
		report("-c %" PRIu64 " is too short: the period is %" PRIu64 " %s, the minimum",
		       o->period, period, o->period_event);
	if (period)
		snprintf(samples, sizeof(samples), "a sample every %" PRIu64
			 " %s", period, o->period_event);
	else if (o->interval)
		snprintf(samples, sizeof(samples), "a sample every %u microsecond%s",
			 o->interval, plural(o->interval));
	if (r->quiet)
		return;
	/* If draining is not possible, recording_announce_stop() has reported the reason. */
	if (*r->no_join && recording_drains(r))
		report("processes that the program creates are not recorded: %s", r->no_join);
	if (r->calls != CALLS_NONE)
		report("%s%s: instruction trace%s%s", recorded,
		       r->all ? ", and everything else that runs" :
		       recording_attaches(r) ? ", already running" : "",
		       *samples ? ", and " : "", samples);
	else if (r->all)
		report("%s, and everything else that runs: %s", r->argv[0],
		       samples);
	else if (r->attach.count == 1)
		report("process %d, %s: %s", (int)r->attach.process->is.pid, recorded, samples);
	else if (recording_attaches(r))
		report("%s: %s", recorded, samples);
	else if (r->firmware)
		report("%s: samples only, with counts of firmware events: %s", r->argv[0],
		       samples);
	else if (!library)
		report("%s is static, without libsifive-perf: %s",
		       r->argv[0], samples);
	else if (r->program.hooks)
		report("%s: functions' entries and exits%s%s", r->argv[0],
		       *samples ? ", and " : "", samples);
	else
		report("%s has nothing compiled with -finstrument-functions: %s",
		       r->argv[0], samples);
}

/* Without --on-full, report that the buffer cannot be drained. */
void recording_announce_stop(const struct recording *r, const char *why)
{
	if (!r->quiet)
		report("this recording cannot be drained; it stops when the buffer is full: %s",
		       why);
}

void recording_name_running(struct recording *r)
{
	snprintf(r->program.path, sizeof(r->program.path), "%s", r->attach.process->is.exe);
	r->argv = r->attach.process->is.argv;
}

/* Keep the program on the CPUs of -C, because nothing is recorded on other CPUs. */
int recording_stay(const struct recording *r)
{
	const cpu_set_t *cpus = &r->setup.parsed.cpus;

	if (!r->setup.options.cpus || !sched_setaffinity(0, sizeof(*cpus), cpus))
		return 0;
	report("the program cannot run on CPU %s: %s", r->setup.options.cpus,
	       strerror(errno));
	return -1;
}

/* Report an error before the program has run. */
int recording_refuse(void)
{
	report("%s", sifive_trace_error());
	report("the program was not run (sifive-trace info shows what is missing)");
	return EXIT_RECORD;
}

bool recording_drains(const struct recording *r)
{
	return r->setup.parsed.take.flags & SIFIVE_TRACE_CONFIG_DRAIN;
}

bool recording_in_pieces(const struct recording *r)
{
	return r->pieces.size || r->pieces.time;
}

/* Remove an earlier recording with this name, or the incomplete files of this recording. */
void recording_remove_files(const struct recording *r)
{
	files_remove(r->output);
	if (recording_in_pieces(r))
		rotate_remove(r->output);
}

void recording_show_files(const struct recording *r)
{
	if (!recording_in_pieces(r))
		files_show(r->output, r->quiet);
	else if (!r->quiet)
		rotate_show(&r->drain);
}

bool recording_has_kernel(const struct recording *r)
{
	return r->calls > CALLS_USER ||
	       r->setup.parsed.sampling.flags & SIFIVE_TRACE_SAMPLING_KERNEL;
}

/*
 * Return whether page faults or results of system calls show addresses of other users' processes.
 */
static bool has_addresses_of_others(const struct recording *r)
{
	return (r->all || recording_attaches(r)) &&
	       (r->setup.parsed.faults || r->setup.parsed.syscalls);
}

mode_t recording_restrict(const struct recording *r)
{
	mode_t mask;

	if (r->calls != CALLS_NONE || recording_has_kernel(r) || has_addresses_of_others(r))
		return files_restrict();
	mask = umask(077);
	umask(mask);
	return mask;
}

/* If the capture is drained, create the files. */
int recording_drain(struct recording *r, uint32_t capture, uint32_t sinks)
{
	int error;

	if (!recording_drains(r))
		return 0;
	r->drain.piece_size = r->pieces.size;
	r->drain.piece_time = r->pieces.time;
	r->drain.keep = (unsigned int)r->keep;
	r->drain.part = &r->part;
	/* Pieces cannot be followed. */
	if (!recording_in_pieces(r))
		locks_create(&r->locks, r->output, sinks);
	error = drain_open(&r->drain, r->output, capture, sinks);
	if (!error) {
		drain_limit(&r->drain, r->size, r->time,
			    r->setup.parsed.take.flags & (SIFIVE_TRACE_CONFIG_WAIT |
							  SIFIVE_TRACE_CONFIG_DROP), r->quiet);
		return 0;
	}
	report("the program was not run");
	recording_forget_files(r);
	return -1;
}

/* Remove the files, because the program was not run. */
void recording_forget_files(struct recording *r)
{
	if (!r->drain.sinks)
		return;
	drain_close(&r->drain);
	locks_remove(&r->locks);
	recording_remove_files(r);
}

/* Return whether a trigger waits for an object that has its function. */
static bool waits(const struct recording *r)
{
	return r->reached.waits || r->slower.waits;
}

static struct objects *objects_of(void *argument, pid_t pid)
{
	struct recording *r = argument;

	if (recording_attaches(r))
		return attach_objects_of(&r->attach, pid);
	/* If processes join the session, @descendants collects their objects. */
	if (r->join && r->descendants.image)
		return NULL;
	/* The library records the objects of its process. */
	if (r->loads && !waits(r))
		return NULL;
	return r->all || pid == r->launched.pid ? &r->objects : NULL;
}

void recording_watch(struct recording *r, bool threads)
{
	const bool descendants = !r->all && !recording_attaches(r) && !r->alone;
	/* If the library records only the program, it also lists the objects. */
	const bool mappings = !r->loads || r->join || waits(r);
	int error;

	/* If processes do not join, they are only counted. */
	r->descendants.programs = r->join;
	error = watch_open(&r->watch, true, mappings,
			   threads && !names_open(&r->names) ? &r->names : NULL,
			   descendants && !descendants_open(&r->descendants) ? &r->descendants :
									       NULL);
	r->watch.dumps = &r->maps.dumps;
	if (!error)
		return;
	descendants_close(&r->descendants);
	/* If the library records the program, it also records the objects. */
	if (!r->loads || waits(r))
		watch_report(error);
	else if (descendants && !r->quiet)
		report("cannot detect processes that are not recorded: %s (see sifive-trace info)",
		       strerror(error));
}

void recording_report_missed(const struct recording *r)
{
	if (r->descendants.missed)
		report("up to %" PRIu64 " process events were lost: some processes may not have been recorded",
		       r->descendants.missed);
}

void recording_report_signal(int number)
{
	if (number == SIGSYS)
		report("the program's seccomp filter forbids a system call, and ended the program: if the program does not end without record, allow ioctl(2) for %s, and the other system calls with which the library writes at the end, or end the trace before the filter is installed",
		       machine_device());
}

void recording_report_end(int number)
{
	char why[128] = "the program ended without exit(), called exec(), or continued in the background,";

	if (number)
		snprintf(why, sizeof(why), "signal %d ended the program", number);
	report("%s before it could write: the trace has everything up to then, but lacks names of threads, and of functions in objects loaded later",
	       why);
	recording_report_signal(number);
}

void recording_report_alone(const struct recording *r)
{
	const size_t children = r->descendants.image ?
				descendants_children(&r->descendants, r->launched.pid) : 0;
	/* Only samples and instruction trace continue in the program that replaces it. */
	const bool replaced = r->loads && r->descendants.image &&
			      descendants_replaced(&r->descendants, r->launched.pid);

	recording_report_missed(r);
	sidecar_unrecorded(children + replaced);
	if (replaced)
		report("the program executed another program, which was not recorded");
	if (!children)
		return;
	report("not recorded: %zu process%s that the program created (see --children)",
	       children, children == 1 ? "" : "es");
}

void recording_see_objects(struct recording *r)
{
	watch_read(&r->watch, objects_of, r, &r->objects);
	trigger_see(&r->reached, &r->program, &r->objects);
	trigger_see(&r->slower, &r->program, &r->objects);
}

void recording_stop(struct recording *r)
{
	if (!perf_device_stop(&r->device))
		return;
	report("%s", sifive_trace_error());
	r->broken = true;
}

/* Copy the trace and read mapping events before their buffers are full. */
void recording_meanwhile(void *argument, const sigset_t *mask)
{
	struct recording *r = argument;
	const struct timespec *longest;
	sigset_t allowed = *mask;
	struct timespec time;
	struct pollfd trace;

	longest = drain_event(&r->drain, &trace, &time);
	if (r->snapshot) {
		snapshot_allow(&allowed);
		longest = requests_event(&r->requests, &trace, &time);
	}
	if (r->reached.function || r->slower.function) {
		time = (struct timespec){ .tv_nsec = TRIGGER_PERIOD };
		longest = &time;
	}
	watch_wait(&r->watch, &trace, longest, &allowed);
	drain_copy(&r->drain);
	locks_beat(&r->locks);
	/* Stop the command's own session; a program's session continues. */
	if (r->drain.over && r->device.fd > 0 && !r->device.ran)
		recording_stop(r);
	if (r->drain.over && recording_attaches(r) && !*r->command)
		kill(r->launched.pid, SIGTERM);
	recording_see_objects(r);
	if (r->snapshot && snapshot_requested())
		record_snapshot(r);
	recording_triggers(r, false);
}

/* Write a snapshot for a triggering call, and return as record_snapshot() does. */
static int take_snapshot(struct recording *r, struct trigger *trigger,
			 const struct trigger_hit *hit)
{
	int error;

	r->hit = *hit;
	error = record_snapshot(r);
	r->hit.function = NULL;
	trigger->snapshots += !error;
	trigger->failed += error < 0;
	return error;
}

/* Write a snapshot for a triggering call, unless the program has ended. */
static void handle_hit(struct recording *r, struct trigger *trigger, const struct trigger_hit *hit,
		       bool ended)
{
	if (!ended && take_snapshot(r, trigger, hit) <= 0)
		return;
	/*
	 * No snapshot was taken for this call. The final trace is for the latest such call, unless
	 * the program records again.
	 */
	if (r->latest && r->last.to > hit->to)
		return;
	r->last = *hit;
	r->latest = trigger;
}

static void read_trigger(struct recording *r, struct trigger *trigger, bool ended)
{
	const uint64_t until = ended ? UINT64_MAX : perf_device_now() - TRIGGER_PERIOD;
	struct trigger_hit hit;

	if (!trigger->function)
		return;
	trigger_read(trigger);
	while (trigger_next(trigger, r->all ? 0 : r->launched.pid, until, r->covered, &hit))
		handle_hit(r, trigger, &hit, ended);
}

void recording_triggers(struct recording *r, bool ended)
{
	struct trigger_hit hit;

	if (r->latest && !ended && capture_records(&r->mark))
		r->latest = NULL;
	read_trigger(r, &r->reached, ended);
	read_trigger(r, &r->slower, ended);
	if (r->snapshot && requests_next(&r->requests, &hit))
		handle_hit(r, &r->requests.trigger, &hit, ended);
	if (!ended || !r->latest)
		return;
	r->hit = r->last;
	r->hit.last = true;
}

int recording_end_snapshots(const struct recording *r, bool written, int status)
{
	const bool unset = trigger_unset(&r->reached) || trigger_unset(&r->slower);
	const int keep = r->keep;

	if (r->latest && written)
		r->latest->snapshots++;
	else if (r->latest)
		r->latest->failed++;
	trigger_report(&r->reached, r->quiet);
	trigger_report(&r->slower, r->quiet);
	requests_report(&r->requests, r->quiet);
	if (r->snapshot && r->snapshots > (unsigned int)keep && !r->quiet)
		report("%u snapshots, the newest %d of which are kept: --keep %u keeps all",
		       r->snapshots, keep, r->snapshots);
	if (r->unwritten)
		report("no snapshots were taken after one that could not be written");
	return (r->unwritten || unset) && !status ? EXIT_RECORD : status;
}

/*
 * Take the hardware for a drained capture; without --on-full, fall back to one that is not drained
 * if the driver, a sink or the buffer does not allow draining.
 */
int recording_take(struct recording *r, int (*attempt)(struct recording *r))
{
	struct sifive_trace_config *wanted = &r->setup.parsed.take;
	char why[512];

	if (!attempt(r))
		return 0;
	if (!recording_drains(r) || !r->usual || r->size || r->time || recording_in_pieces(r))
		return -1;
	snprintf(why, sizeof(why), "%s", sifive_trace_error());
	wanted->flags &= ~SIFIVE_TRACE_CONFIG_DRAIN;
	if (attempt(r))
		return -1;
	recording_announce_stop(r, why);
	return 0;
}

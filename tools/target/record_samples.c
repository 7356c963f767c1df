// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Records in a session that the command holds: the kernel samples the program or, with -a,
 * everything; encoders trace instructions; processes that use the library join the session.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording.h"

#include "../command.h"
#include "../trace/meta.h"
#include "copy.h"
#include "files.h"
#include "kallsyms.h"
#include "machine.h"
#include "proc.h"
#include "rotate.h"
#include "sidecar.h"
#include "snapshot.h"

/*
 * Numbers of processes that have joined, and of everything that this command has found, after which
 * preliminary side-car files are no longer rewritten: writing large files must not delay draining.
 */
#define JOINED_MAX	256
#define FOUND_MAX	5000

/*
 * Preliminary side-car files are written at most every DESCRIBE_NS nanoseconds, and checked at most
 * every LOOK_NS. Both together take at most one of DESCRIBE_SHARE parts of the time.
 */
#define DESCRIBE_NS	UINT64_C(1000000000)
#define DESCRIBE_SHARE	20
#define LOOK_NS		UINT64_C(20000000)

static int start(void *argument)
{
	struct recording *r = argument;

	/* Also prevent a statically linked library from recording. */
	if (!r->join)
		unsetenv("SIFIVE_TRACE_RECORD");
	umask(r->mask);
	snapshot_return_signal();
	if (recording_attaches(r))
		return attach_wait(&r->attach, r->command);
	if (r->join ? recording_give_library(r) : recording_stay(r))
		return -1;
	if (r->all || !perf_device_start(&r->device, SIFIVE_TRACE_START_ON_EXEC))
		return 0;
	report("%s", sifive_trace_error());
	return -1;
}

/* Store the clock to which the times of processes and objects are converted. */
static void use_clock(struct recording *r, const struct trigger_clock *clock)
{
	size_t i;

	r->objects.clock = *clock;
	for (i = 0; i < r->attach.count; i++)
		r->attach.process[i].objects.clock = *clock;
}

/* Read the clock once the capture has stopped, or of a ring. */
static void set_clock(struct recording *r)
{
	struct trigger_clock clock;

	trigger_clock(&r->device, &clock);
	use_clock(r, &clock);
}

/*
 * Have the driver read the clock. With --on-full wait, the command itself would wait for room in
 * the buffer if it read the encoder's page.
 */
static void set_running_clock(struct recording *r)
{
	struct trigger_clock clock = { .hz = 0 };
	struct sifive_trace_sink sink;

	if (!capture_sink(r->device.fd, 0, &sink) && sink.time_ns)
		clock = (struct trigger_clock){
			.ns = sink.time_ns, .ticks = sink.time, .hz = r->device.info.ts_hz,
		};
	use_clock(r, &clock);
}

static int find_dumps(void *dumps, pid_t pid)
{
	jit_dumps_scan(dumps, pid);
	return 0;
}

static int copy_map(void *maps, pid_t pid)
{
	perf_maps_copy(maps, pid);
	return 0;
}

/* Copy the files about functions that the recorded processes have generated. */
static void copy_maps(struct recording *r)
{
	size_t i;

	if (!r->maps.dir)
		snprintf(r->files, sizeof(r->files), "%s.maps", r->output);
	perf_maps_begin(&r->maps, r->files);
	if (r->launched.pid > 0 && !recording_attaches(r))
		perf_maps_copy(&r->maps, r->launched.pid);
	for (i = 0; i < r->attach.count; i++)
		perf_maps_copy(&r->maps, r->attach.process[i].is.pid);
	if (*r->tree.dir)
		proc_each(r->tree.dir, copy_map, &r->maps);
	if (r->all)
		names_each(&r->names, copy_map, &r->maps);
}

/* Write the part of a side-car file that describes settings and programs to @path. */
static int describe(struct recording *r, const char *path, const struct trigger_clock *clock)
{
	const struct launch program = { .path = r->program.path, .argv = r->argv };
	const struct capture_details details = {
		.launch = r->attach.count > 1 ? NULL : &program, .calls = r->calls,
		.objects = &r->objects, .tree = *r->tree.dir ? &r->tree : NULL,
		.names = r->names.thread ? &r->names : NULL, .kernel = &r->shared, .maps = &r->maps,
		.hit = &r->hit, .clock = clock,
	};

	if (recording_attaches(r))
		attach_describe(&r->attach, &r->tree,
				r->setup.parsed.take.flags & SIFIVE_TRACE_CONFIG_RING);
	return capture_describe(path, &r->setup.parsed, &details);
}

/* Write the bytes and side-car files of the capture to @path, after set_clock(). */
static int write_capture(struct recording *r, const char *path)
{
	char description[] = "/tmp/sifive-trace.XXXXXX";
	int fd = mkstemp(description), error;

	if (fd < 0) {
		report("%s: %s", description, strerror(errno));
		return -1;
	}
	close(fd);
	copy_maps(r);
	error = describe(r, description, &r->objects.clock) ||
		capture_save(r->device.fd, path, description, NULL,
			     r->drain.sinks ? &r->drain : NULL, r->device.ran,
			     r->quiet);
	unlink(description);
	return error ? -1 : 0;
}

/* Copy the files of all objects to the archive. */
static int archive(const struct recording *r)
{
	int error = calls_archive(r->files, &r->objects);
	size_t i;

	for (i = 0; i < r->attach.count; i++)
		error |= calls_archive(r->files, &r->attach.process[i].objects);
	return error;
}

/* Describe the processes without the library. */
static void describe_rest(struct recording *r, struct descendants_rest *rest)
{
	const struct tree_process program = {
		.pid = r->launched.pid, .parent = getpid(), .exe = r->program.path,
		.argv = r->argv, .outside = true,
	};

	tree_forget(&r->tree);
	if (r->descendants.image)
		descendants_rest(&r->descendants, r->launched.pid, r->argv, &r->tree,
				 &r->objects.clock, rest);
	/* Without process events, only the program, which is static, is known. */
	else if (!r->loads)
		tree_add(&r->tree, &program, &r->objects, false);
}

/* Report the processes that have not joined, and describe those without the library. */
static void report_rest(struct recording *r)
{
	struct descendants_rest rest;
	bool one;

	describe_rest(r, &rest);
	if (!r->descendants.image) {
		recording_report_alone(r);
		return;
	}
	sidecar_unrecorded(rest.lost);
	if (rest.lost)
		report("up to %zu process%s did not join the recording: perhaps created by clone() alone, within a record, with another environment, or without access to %s",
		       rest.lost, rest.lost == 1 ? "" : "es", r->tree.dir);
	one = rest.others == 1;
	if (rest.others && !r->quiet && setup_sampled(&r->setup))
		report("%zu process%s without the library %s only sampled, or not if privileged: %s (static, privileged, or started without LD_PRELOAD)",
		       rest.others, one ? "" : "es", one ? "was" : "were", rest.names);
	else if (rest.others && !r->quiet)
		report("%zu process%s without the library %s not recorded: %s (static, privileged, or started without LD_PRELOAD); -i 1ms samples those that are not privileged",
		       rest.others, one ? "" : "es", one ? "was" : "were", rest.names);
	recording_report_missed(r);
	if (rest.left_out)
		report("up to %" PRIu64 " programs that were executed are not in the side-car file: record fewer processes",
		       rest.left_out);
}

/* Complete and write the capture, and report what is missing from it. */
static int save(struct recording *r)
{
	int error;

	drain_rest(&r->drain);
	set_clock(r);
	if (r->join && r->loads && r->launched.signal)
		recording_report_end(r->launched.signal);
	if (r->join)
		report_rest(r);
	else
		recording_report_alone(r);
	error = write_capture(r, r->output);
	attach_sum(&r->attach, &r->objects);
	objects_report(&r->objects);
	names_report(&r->names);
	tree_report(&r->tree);
	if (!error && r->archive && archive(r))
		report("%s is incomplete: keep the files that were not copied, for -e or --symfs",
		       r->files);
	/* Complete the pieces even after an error, because their data can be read. */
	if (rotate_end(&r->drain))
		error = -1;
	if (!error)
		recording_show_files(r);
	return error ? -1 : 0;
}

/* Called when a snapshot has been written. Removes the oldest one if there are too many. */
static void end_snapshot(struct recording *r)
{
	const unsigned int keep = (unsigned int)r->keep;
	char path[PATH_MAX + 16];

	if (++r->snapshots > keep) {
		snprintf(path, sizeof(path), "%s.%u", r->output, r->snapshots - keep);
		files_remove(path);
	}
	r->latest = NULL;
	r->covered = perf_device_now();
}

/*
 * Recording continues, because the driver copies a running ring for its readers. The readers share
 * the copy while any of them has it open, so create it here, before reading and writing files.
 */
int record_snapshot(struct recording *r)
{
	char path[PATH_MAX + 16], byte;
	int held, fd, error;

	if (r->unwritten) {
		if (!r->hit.function)
			report("no snapshot: an earlier one could not be written");
		return -1;
	}
	held = open(machine_device(), O_RDONLY | O_CLOEXEC);
	/* Errors are reported when the copy is read. */
	if (held >= 0 && pread(held, &byte, 1, 0) < 0)
		byte = 0;
	if (recording_attaches(r))
		attach_objects(&r->attach, r->objects.files);
	else if (r->launched.pid > 0 && !r->loads)
		objects_add(&r->objects, r->launched.pid);
	snprintf(path, sizeof(path), "%s.%u", r->output, r->snapshots + 1);
	if (r->loads) {
		/* A file that begins to read again gives the copy up. */
		fd = open(machine_device(), O_RDONLY | O_CLOEXEC);
		error = capture_peek(fd, path, r->output, &r->mark, &r->hit);
		if (fd >= 0)
			close(fd);
	} else {
		set_clock(r);
		error = write_capture(r, path);
	}
	if (held >= 0)
		close(held);
	if (error > 0)
		return 1;
	if (!error && meta_part_is_set(&r->part))
		error = capture_name_part(path, r->mark.sinks, &r->part);
	if (error) {
		files_remove(path);
		report("%s: incomplete, removed: no more snapshots are taken", path);
		r->unwritten = true;
		return -1;
	}
	files_show(path, r->quiet);
	end_snapshot(r);
	return 0;
}

/* Write preliminary side-car files, which save() replaces. */
static int begin_files(struct recording *r)
{
	char description[] = "/tmp/sifive-trace.XXXXXX";
	int fd, error;

	fd = mkstemp(description);
	if (fd < 0) {
		report("%s: %s", description, strerror(errno));
		return -1;
	}
	close(fd);
	error = describe(r, description, NULL) ||
		capture_heads(r->device.fd, &r->drain, description);
	unlink(description);
	return error ? -1 : 0;
}

/* Return the number of programs, objects and threads that this command has found. */
static uint64_t found(const struct recording *r)
{
	uint64_t sum = r->objects.count + r->descendants.changes + r->names.count;
	size_t i;

	for (i = 0; i < r->attach.count; i++)
		sum += r->attach.process[i].objects.count;
	return sum;
}

/*
 * Rewrite the preliminary side-car files if they are outdated. Return how long not to do so again,
 * in nanoseconds, or UINT64_MAX for the rest of the recording.
 */
static uint64_t update_files(struct recording *r)
{
	const size_t joined = r->join ? tree_joined(&r->tree) : 0;
	const uint64_t count = found(r) + joined;
	struct descendants_rest rest;

	if (r->described && (joined > JOINED_MAX || count > FOUND_MAX))
		return UINT64_MAX;
	/* The first program has to appear: one that loads the library describes itself. */
	if (r->join && !joined && (r->loads || (r->descendants.image && !r->descendants.mapped)))
		return LOOK_NS;
	if (count == r->described)
		return LOOK_NS;
	r->described = count;
	set_running_clock(r);
	if (r->join)
		describe_rest(r, &rest);
	return begin_files(r) ? UINT64_MAX : DESCRIBE_NS;
}

/*
 * For launch.meanwhile. Write a side-car file when a program or object is found, so that the trace
 * can be read now, or if the command is killed.
 */
static void meanwhile_session(void *argument, const sigset_t *mask)
{
	struct recording *r = argument;
	uint64_t began, rest, now;

	recording_meanwhile(argument, mask);
	began = perf_device_now();
	if (!r->drain.live || recording_in_pieces(r) || !machine_side_car() || began < r->describe)
		return;
	rest = update_files(r);
	now = perf_device_now();
	if (rest < DESCRIBE_SHARE * (now - began))
		rest = DESCRIBE_SHARE * (now - began);
	r->describe = rest < UINT64_MAX - now ? now + rest : UINT64_MAX;
}

static int begin_samples(struct recording *r)
{
	struct sifive_trace_status capture;

	/* An earlier attempt may have failed midway. */
	if (*r->device.path)
		perf_device_close(&r->device);
	if (capture_begin(&r->device, &r->setup.parsed, r->join) ||
	    perf_device_capture(&r->device, &capture))
		return -1;
	r->mark.sinks = capture.sinks;
	return recording_drains(r) ? drain_check(capture.sinks) : 0;
}

int record_check_join(struct recording *r)
{
	struct capture_mark mark;

	if (!capture_try(&r->setup.parsed, true, &mark) && !drain_check(mark.sinks))
		return tree_open(&r->tree);
	snprintf(r->no_join, sizeof(r->no_join), "%s", sifive_trace_error());
	return -1;
}

/* Report that the recording continues, because processes in the background are running. */
static void left(void *argument)
{
	struct recording *r = argument;
	size_t count;

	if (r->quiet)
		return;
	recording_see_objects(r);
	count = descendants_running(&r->descendants, r->launched.pid);
	if (count)
		report("%s has ended, but %zu child process%s still running: ^C ends the recording",
		       r->argv[0], count, count == 1 ? " is" : "es are");
	else
		report("%s has ended, but its child processes are still running: ^C ends the recording",
		       r->argv[0]);
}

/* Copy the kernel's code. The driver has changed it, by adding probes, when it took the hardware. */
static void copy_kernel(struct recording *r)
{
	struct objects *objects = *r->tree.dir ? &r->shared : &r->objects;
	size_t i;

	r->kernel.memory = "/proc/kcore";
	r->kernel.names = KALLSYMS;
	snprintf(r->kernel.copy, sizeof(r->kernel.copy), "%s/" META_KERNEL, r->files);
	kcore_copy(&r->kernel);
	for (i = 0; i < r->kernel.parts; i++)
		objects_add_kernel(objects, r->kernel.part[i].start, r->kernel.part[i].end);
}

/*
 * Create a directory next to the trace, for code that is not in any file and for archived files.
 * Without --archive, the directory has another name, to distinguish it from the archive of an
 * earlier trace.
 */
static void begin_copies(struct recording *r)
{
	snprintf(r->files, sizeof(r->files), "%s.%s", r->output, r->archive ? "files" : "vdso");
	if (copy_dir(r->files)) {
		r->archive = false;
		return;
	}
	r->objects.files = r->maps.dir = r->files;
	r->maps.made = true;
	calls_vdso(r->files);
	if (r->calls > CALLS_USER)
		copy_kernel(r);
}

/* Update the list of running processes: START has removed those that have ended. */
static void see_attached(struct recording *r)
{
	cpu_set_t cpus;
	uint32_t i;

	CPU_ZERO(&cpus);
	for (i = 0; i < r->device.count; i++)
		CPU_SET((size_t)r->device.encoder[i].cpu, &cpus);
	attach_started(&r->attach, &cpus);
	recording_name_running(r);
}

/* Add the names of the running threads. */
static void add_names(struct recording *r)
{
	size_t i;

	if (!r->names.thread)
		return;
	if (r->all)
		names_add_all(&r->names);
	else if (r->names.children)
		names_add(&r->names, getpid());
	for (i = 0; i < r->attach.count; i++)
		names_add(&r->names, r->attach.process[i].is.pid);
}

/*
 * Return whether samples of several processes are recorded, each of which then contains its
 * thread's id.
 */
static bool names_samples(const struct recording *r)
{
	return setup_sampled(&r->setup) && (r->all || r->join || recording_attaches(r));
}

/*
 * Start collecting the objects and threads of programs that do not use the library. The recorded
 * program is a child of this process. In processes that join the session, the library writes the
 * names of threads.
 */
static void begin_objects(struct recording *r)
{
	const bool threads = r->setup.parsed.switches || r->calls != CALLS_NONE ||
			     names_samples(r);
	size_t i;

	r->names.all = r->all;
	r->names.children = !recording_attaches(r);
	recording_watch(r, threads);
	add_names(r);
	attach_objects(&r->attach, r->objects.files);
	for (i = 0; i < r->attach.count; i++)
		jit_dumps_scan(&r->maps.dumps, r->attach.process[i].is.pid);
	if (r->all)
		proc_each(proc_dir(), find_dumps, &r->maps.dumps);
	if (r->all) {
		/* The program is a copy of this process until its exec(). */
		objects_add(&r->objects, getpid());
		objects_add_all(&r->objects);
	}
}

/*
 * Return whether expected samples are missing. If several processes are recorded, samples are
 * expected only if the user requested them: any of the processes may have written records.
 */
static bool lacks_samples(const struct recording *r)
{
	const bool several = r->join && (r->children || tree_count(&r->tree) > 1 ||
					 descendants_children(&r->descendants, r->launched.pid));

	return r->launched.ran && (several ? r->sampled : setup_sampled(&r->setup)) &&
	       capture_samples(r->device.fd);
}

int record_session(struct recording *r)
{
	struct perf_device *device = &r->device;
	struct launch launch = {
		.path = r->program.path, .before = start, .argument = r,
		.meanwhile = meanwhile_session, .children = r->join, .left = left,
	};
	int status = EXIT_RECORD, held = -1;
	bool written;

	if (r->all)
		r->setup.parsed.sampling.flags |= SIFIVE_TRACE_SAMPLING_ALL;
	if (names_samples(r))
		r->setup.parsed.sampling.flags |= SIFIVE_TRACE_SAMPLING_THREADS |
			(r->join ? SIFIVE_TRACE_SAMPLING_CHILDREN : 0);
	if (r->join && recording_check_filter(r)) {
		tree_close(&r->tree);
		return EXIT_RECORD;
	}
	if ((r->join || recording_attaches(r)) && !*r->tree.dir && tree_open(&r->tree))
		return EXIT_RECORD;
	if (recording_take(r, begin_samples)) {
		recording_refuse();
		goto out;
	}
	/*
	 * Do not wait for an object with the function: another program could load an object with a
	 * function of the same name.
	 */
	if (r->all)
		r->program.opens = false;
	if (trigger_open(&r->reached, &r->program) || trigger_open(&r->slower, &r->program)) {
		report("the program was not run");
		goto out;
	}
	recording_remove_files(r);
	if (recording_drain(r, device->capture, r->mark.sinks))
		goto out;
	if (recording_in_pieces(r) && begin_files(r)) {
		recording_forget_files(r);
		goto out;
	}
	device->processes = r->attach.id;
	device->process_count = (uint32_t)r->attach.count;
	if (r->calls > CALLS_USER)
		held = kcore_hold();
	/* With -a, the copying would be traced if it were done later. */
	if (r->calls != CALLS_NONE)
		begin_copies(r);
	if ((r->all || recording_attaches(r)) && perf_device_start(device, 0)) {
		recording_refuse();
		recording_forget_files(r);
		goto out;
	}
	if (recording_attaches(r))
		see_attached(r);
	recording_announce(r, r->loads);
	begin_objects(r);
	/* The program's process will start the capture, so its exact start is unknown here. */
	if (!r->all && !recording_attaches(r))
		device->began = perf_device_now();
	launch.argv = r->argv;
	status = launch_run(&launch, &r->launched);
	/* ^C ends the recording, but not the processes. */
	if (recording_attaches(r) && r->launched.ran && !*r->command)
		status = 0;
	recording_triggers(r, true);
	recording_see_objects(r);
	/*
	 * Find the objects of running programs again, so that they count as the most recent ones.
	 */
	if (r->all)
		objects_add_all(&r->objects);
	add_names(r);
	recording_stop(r);
	/* The session has stopped, but its probes remain in the kernel. */
	if (r->kernel.parts)
		kcore_check(&r->kernel);
	if (r->watch.cpus)
		r->objects.late = watch_late(&r->watch);
	watch_close(&r->watch);
	if (!r->launched.ran) {
		recording_forget_files(r);
		goto out;
	}
	written = !save(r);
	if (r->broken || !written || lacks_samples(r))
		status = status ? status : EXIT_RECORD;
	status = recording_end_snapshots(r, written, status);
out:
	if (held >= 0)
		close(held);
	trigger_close(&r->reached);
	trigger_close(&r->slower);
	drain_close(&r->drain);
	objects_free(&r->objects);
	objects_free(&r->shared);
	names_close(&r->names);
	jit_dumps_close(&r->maps.dumps);
	descendants_close(&r->descendants);
	tree_close(&r->tree);
	perf_device_close(device);
	return status;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sifive-trace record: run a program with the preloaded library, which records it.
 * If a program cannot load the library, the kernel samples it.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "setup.h"

#include "lib/filter.h"

#include "../command.h"
#include "capture.h"
#include "drain.h"
#include "files.h"
#include "launch.h"
#include "machine.h"
#include "program.h"
#include "rotate.h"
#include "select.h"
#include "watch.h"

/* Values of --on-full, in the order of its words. */
enum on_full {
	ON_FULL_USUAL = -1,
	ON_FULL_STOP,
	ON_FULL_WRAP,
	ON_FULL_DRAIN,
	ON_FULL_WAIT,
};

/**
 * struct recording - state of one run of the command
 * @setup:	what to record
 * @program:	the running program
 * @argv:	its arguments
 * @library:	the library to preload, empty for none
 * @output:	path of the trace
 * @patterns:	-F
 * @file:	-o
 * @load:	--library, NULL for the installed one
 * @all:	-a: sample everything that runs
 * @device:	the session, if the command itself holds it
 * @watch:	then: the events that show loaded objects
 * @objects:	programs and shared objects in memory
 * @launched:	the program
 * @drain:	the copying of the capture while it runs, if it is drained
 * @mark:	the capture of a program that traces itself
 * @on_full:	enum on_full
 * @usual:	--on-full was not given: what cannot be drained stops when it is full
 * @size:	--size, 0: no limit
 * @time:	--time in nanoseconds, 0: no limit
 * @pieces:	--rotate
 * @keep:	--keep, 0: all
 * @quiet:	print only errors and losses
 */
struct recording {
	struct setup	setup;
	struct program	program;
	char		**argv;
	char		library[PATH_MAX];
	char		output[PATH_MAX];
	struct cli_list	patterns;
	const char	*file;
	const char	*load;
	struct perf_device device;
	struct watch	watch;
	struct objects	objects;
	struct launched	launched;
	struct drain	drain;
	struct capture_mark mark;
	int		on_full;
	bool		usual;
	uint64_t	size;
	uint64_t	time;
	struct setup_pieces pieces;
	int		keep;
	bool		all;
	bool		quiet;
};

static int set_filter(void *at, const struct cli_option *option, const char *value)
{
	static char path[PATH_MAX];
	const char *filter = path;

	if (!realpath(value, path))
		return usage_error("--%s %s: %s", option->name, value, strerror(errno));
	memcpy(at, &filter, sizeof(filter));
	return EXIT_OK;
}

#define SETUP(member)	offsetof(struct recording, setup.options.member)

static const struct cli_option output_option[] = {
	{ .letter = 'o', .name = "output", .value = "PATH",
	  .help = "file to write to, or folder for trace.rtd (default: trace.rtd); PATH.meta describes it",
	  .set = cli_text, .offset = offsetof(struct recording, file) },
	{ .name = NULL }
};

static const struct cli_option how_options[] = {
	{ .letter = 'F', .name = "function", .value = "PATTERN",
	  .help = "record only functions of this name; * and ? match any characters and one character; C++ as nm -C shows it, or without parameters: \"add(int, char)\"; may be repeated",
	  .set = cli_append, .offset = offsetof(struct recording, patterns) },
	{ .name = "filter", .value = "FILE",
	  .help = "record only the functions in FILE: sifive-trace filter selects them by name or source file",
	  .set = set_filter, .offset = SETUP(filter) },
	{ .letter = 'a', .name = "all",
	  .help = "sample everything that runs on the CPUs while the program does, and load nothing into it",
	  .set = cli_flag, .offset = offsetof(struct recording, all) },
	{ .name = "on-full", .value = "stop|wrap|drain|wait",
	  .help = "drain (default): copy the buffer to the file while the program runs, and report what was lost; stop: end the recording when the buffer is full, the default where draining is not possible; wrap: overwrite the oldest bytes, as --ring does; wait: drain, and let the program wait for the command",
	  .set = cli_word, .offset = offsetof(struct recording, on_full) },
	{ .name = "size", .value = "SIZE",
	  .help = "with --on-full drain, the default, or wait: record until the files have SIZE bytes (100M, 2G); the program continues",
	  .set = setup_size, .offset = offsetof(struct recording, size) },
	{ .name = "time", .value = "TIME",
	  .help = "with --on-full drain, the default, or wait: record for TIME (500ms, 10s, 5m, 1h); the program continues",
	  .set = setup_duration, .offset = offsetof(struct recording, time) },
	{ .name = "rotate", .value = "SIZE|TIME",
	  .help = "with --on-full drain, the default, or wait: go on in a new file, PATH.0, PATH.1 and so on, each SIZE (100M, 2G) or TIME (10s, 5m, 1h); each is read by itself",
	  .set = setup_rotate, .offset = offsetof(struct recording, pieces) },
	{ .name = "keep", .value = "N",
	  .help = "with --rotate: keep only the newest N files",
	  .set = cli_number, .offset = offsetof(struct recording, keep), .least = 1,
	  .most = 1000000 },
	{ .name = "header-once",
	  .help = "one header for each CPU and channel, which SiFive's decoder needs, also if threads come and go; with --count delta it implies --per-cpu",
	  .set = cli_bits, .offset = SETUP(flags), .most = SIFIVE_TRACE_HEADER_ONCE },
	{ .name = "header-interval", .value = "N",
	  .help = "with --ring and --count xor: a header each N records, from which a ring that has wrapped is read (default: 100); with --on-full drain for what follows a loss (default: none)",
	  .set = setup_header_interval, .offset = SETUP(header_interval) },
	{ .name = "library", .value = "FILE",
	  .help = "the library to load (default: libsifive-perf.so beside the command, in ../lib, or where it was installed)",
	  .set = cli_text, .offset = offsetof(struct recording, load) },
	{ .letter = 'q', .name = "quiet", .help = "print only errors and losses",
	  .set = cli_flag, .offset = offsetof(struct recording, quiet) },
	{ .name = NULL }
};

static const struct cli_group record_groups[] = {
	SETUP_GROUPS(struct recording, setup),
	{ NULL, output_option, 0 },
	{ "How", how_options, 0 },
	{ .options = NULL }
};

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Prints what will be recorded. */
static void announce(const struct recording *r, bool library)
{
	const struct sifive_trace_options *o = &r->setup.options;
	const uint64_t period = r->setup.parsed.sampling.period;
	char samples[128] = "";

	if (period != o->period)
		report("-c %" PRIu64 " is too short: a sample every %" PRIu64 " %s is the most",
		       o->period, period, o->period_event);
	if (period)
		snprintf(samples, sizeof(samples), "a sample every %" PRIu64
			 " %s", period, o->period_event);
	else if (o->interval)
		snprintf(samples, sizeof(samples), "a sample every %u microsecond%s",
			 o->interval, plural(o->interval));
	if (r->quiet)
		return;
	if (r->all)
		report("%s, and everything else that runs: %s", r->argv[0],
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

/* Without --on-full, a buffer that cannot be drained. */
static void announce_stop(const struct recording *r, const char *why)
{
	if (!r->quiet)
		report("this recording cannot be drained, it stops when the buffer is full: %s",
		       why);
}

/* Puts the library first in LD_PRELOAD, before the user's own entries. */
static int preload(const char *library)
{
	const char *before = getenv("LD_PRELOAD");
	char *value;

	if (!*library)
		return 0;
	if (asprintf(&value, "%s%s%s", library, before && *before ? ":" : "",
		     before ? before : "") < 0)
		return -1;
	return setenv("LD_PRELOAD", value, 1);
}

/* Recording happens only on the CPUs of -C: keep the program there. */
static int stay(const struct recording *r)
{
	const cpu_set_t *cpus = &r->setup.parsed.cpus;

	if (!CPU_COUNT(cpus) || !sched_setaffinity(0, sizeof(*cpus), cpus))
		return 0;
	report("the program cannot run on CPU %s: %s", r->setup.options.cpus,
	       strerror(errno));
	return -1;
}

static int give_library(void *argument)
{
	const struct recording *r = argument;

	if (stay(r))
		return -1;
	machine_pass_on();
	if (!setup_environment(&r->setup, r->output) && !preload(r->library))
		return 0;
	report("out of memory");
	return -1;
}

/* An error before the program has run. */
static int refuse(void)
{
	report("%s", sifive_trace_error());
	report("the program was not run (sifive-trace info shows what is missing)");
	return EXIT_RECORD;
}

/* Reports what is missing because the program did not write its trace. */
static void report_end(int number)
{
	char why[128] = "the program ended without exit(), called exec(), or went on in the background,";

	if (number)
		snprintf(why, sizeof(why), "signal %d ended the program", number);
	report("%s before it could write: this is what it had recorded by then, without the names of threads, and of functions in objects loaded later",
	       why);
}

static void report_nothing(int number)
{
	if (number)
		report("nothing was recorded: signal %d ended the program before it could write",
		       number);
	else
		report("nothing was recorded: the program ended without exit(), called exec(), closed the trace device, or for the reason above");
}

/* The program ended without writing its trace. */
static int rescue(const struct recording *r, int status)
{
	int number = r->launched.signal;
	int error = capture_rescue(r->output, &r->mark, r->quiet);

	if (!error) {
		report_end(number);
		files_show(r->output, r->quiet);
		return status;
	}
	if (error < 0)
		report_nothing(number);
	return status ? status : EXIT_RECORD;
}

static bool in_pieces(const struct recording *r)
{
	return r->pieces.size || r->pieces.time;
}

/* Removes a recording of this name: a previous one, or what there is of this one. */
static void remove_files(const struct recording *r)
{
	files_remove(r->output);
	if (in_pieces(r))
		rotate_remove(r->output);
}

static void show_files(const struct recording *r)
{
	if (!in_pieces(r))
		files_show(r->output, r->quiet);
	else if (!r->quiet)
		rotate_show(&r->drain);
}

/* The program's trace was written while it ran: write the rest. */
static int finish(struct recording *r, int status)
{
	bool finished;
	int error = capture_drained(&r->drain, &r->mark, &finished);

	if (error < 0) {
		drain_close(&r->drain);
		remove_files(r);
		report_nothing(r->launched.signal);
		return status ? status : EXIT_RECORD;
	}
	if (!finished)
		report_end(r->launched.signal);
	if (rotate_end(&r->drain))
		error = 1;
	show_files(r);
	drain_close(&r->drain);
	return error && !status ? EXIT_RECORD : status;
}

/* Create the files now if the capture is drained. */
static int drain(struct recording *r, uint32_t capture, uint32_t sinks)
{
	if (!r->setup.parsed.take.drain)
		return 0;
	r->drain.piece_size = r->pieces.size;
	r->drain.piece_time = r->pieces.time;
	r->drain.keep = (unsigned int)r->keep;
	if (!drain_open(&r->drain, r->output, capture, sinks)) {
		drain_limit(&r->drain, r->size, r->time, r->setup.parsed.take.wait,
			    r->quiet);
		return 0;
	}
	report("the program was not run");
	drain_close(&r->drain);
	remove_files(r);
	return -1;
}

/* The program was not run. */
static void forget_files(struct recording *r)
{
	if (!r->drain.sinks)
		return;
	drain_close(&r->drain);
	remove_files(r);
}

static void see_objects(struct recording *r)
{
	watch_read(&r->watch, r->all ? 0 : r->launched.pid, &r->objects);
}

/* Copy the trace and read mapping events before their buffers are full. */
static void meanwhile(void *argument, const sigset_t *mask)
{
	struct recording *r = argument;
	const struct timespec *longest;
	struct timespec time;
	struct pollfd trace;

	longest = drain_event(&r->drain, &trace, &time);
	watch_wait(&r->watch, &trace, longest, mask);
	drain_copy(&r->drain);
	/* Stop a session of the command's own; a program's continues. */
	if (r->drain.over && r->device.fd > 0 && !r->device.ran &&
	    perf_device_stop(&r->device))
		report("%s", sifive_trace_error());
	see_objects(r);
}

/* The program's own process will hold the session. */
static void meanwhile_program(void *argument, const sigset_t *mask)
{
	struct recording *r = argument;

	r->drain.pid = r->launched.pid;
	meanwhile(argument, mask);
}

/*
 * Take the hardware for a capture that is drained, or without --on-full for one that is
 * not: a driver, a sink or a buffer may not allow it.
 */
static int take(struct recording *r, int (*attempt)(struct recording *r))
{
	struct perf_take *wanted = &r->setup.parsed.take;
	char why[512];

	if (!attempt(r))
		return 0;
	if (!wanted->drain || !r->usual || r->size || r->time || in_pieces(r))
		return -1;
	snprintf(why, sizeof(why), "%s", sifive_trace_error());
	wanted->drain = false;
	if (attempt(r))
		return -1;
	announce_stop(r, why);
	return 0;
}

static int try_program(struct recording *r)
{
	if (capture_try(&r->setup.parsed, &r->mark))
		return -1;
	return r->setup.parsed.take.drain ? drain_check(r->mark.sinks) : 0;
}

/* Record with the library, within the program. */
static int record_with_library(struct recording *r)
{
	const struct launch launch = {
		r->program.path, r->argv, give_library, r, meanwhile_program,
	};
	int status;

	/* The program would run without being recorded. */
	if (perf_filter_load(r->setup.options.filter)) {
		report("%s: the program was not run", sifive_trace_error());
		return EXIT_RECORD;
	}
	if (take(r, try_program))
		return refuse();
	r->setup.parsed.sampling.period = r->mark.period;
	remove_files(r);
	if (drain(r, r->mark.capture + 1, r->mark.sinks))
		return EXIT_RECORD;
	announce(r, true);
	r->mark.began = perf_device_now();
	status = launch_run(&launch, &r->launched);
	if (!r->launched.ran) {
		forget_files(r);
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

static int start(void *argument)
{
	struct recording *r = argument;

	/* A statically linked library must not record in this mode. */
	unsetenv("SIFIVE_TRACE_RECORD");
	if (stay(r))
		return -1;
	if (r->all || !perf_device_start(&r->device))
		return 0;
	report("%s", sifive_trace_error());
	return -1;
}

/* Writes the capture, if there is one. */
static int save(struct recording *r, const struct launch *launch)
{
	char description[] = "/tmp/sifive-trace.XXXXXX";
	int fd = mkstemp(description), error;

	if (fd < 0) {
		report("%s: %s", description, strerror(errno));
		return -1;
	}
	close(fd);
	drain_rest(&r->drain);
	error = capture_describe(description, &r->setup.parsed, launch,
				 &r->objects) ||
		capture_save(r->device.fd, r->output, description, NULL,
			     r->drain.sinks ? &r->drain : NULL, r->device.ran,
			     r->quiet);
	unlink(description);
	objects_report(&r->objects);
	if (!error)
		error = rotate_end(&r->drain);
	if (!error)
		show_files(r);
	return error ? -1 : 0;
}

/* What the side-car files of pieces have until save(). */
static int begin_files(struct recording *r, const struct launch *launch)
{
	char description[] = "/tmp/sifive-trace.XXXXXX";
	int fd, error;

	if (!in_pieces(r))
		return 0;
	fd = mkstemp(description);
	if (fd < 0) {
		report("%s: %s", description, strerror(errno));
		return -1;
	}
	close(fd);
	error = capture_describe(description, &r->setup.parsed, launch, &r->objects) ||
		capture_heads(r->device.fd, &r->drain, description);
	unlink(description);
	return error ? -1 : 0;
}

static int begin_samples(struct recording *r)
{
	struct perf_capture capture;

	/* An attempt before this one may have failed half-way. */
	if (r->device.path)
		perf_device_close(&r->device);
	if (capture_begin(&r->device, &r->setup.parsed) ||
	    perf_device_capture(&r->device, &capture))
		return -1;
	r->mark.sinks = capture.sinks;
	return r->setup.parsed.take.drain ? drain_check(capture.sinks) : 0;
}

/* Record without the library: the kernel samples the program, or everything with -a. */
static int record_samples(struct recording *r)
{
	struct perf_device *device = &r->device;
	const struct launch launch = {
		r->program.path, r->argv, start, r, meanwhile,
	};
	int status = EXIT_RECORD;

	r->setup.parsed.sampling.all = r->all;
	if (take(r, begin_samples)) {
		refuse();
		goto out;
	}
	remove_files(r);
	if (drain(r, device->capture, r->mark.sinks))
		goto out;
	if (begin_files(r, &launch)) {
		forget_files(r);
		goto out;
	}
	if (r->all && perf_device_start(device)) {
		refuse();
		forget_files(r);
		goto out;
	}
	announce(r, false);
	watch_open(&r->watch, true);
	/* Until its exec(), the program is a copy of this process. */
	objects_add(&r->objects, getpid());
	if (r->all)
		objects_add_all(&r->objects);
	/* The program's process starts the capture, so this one does not know when. */
	if (!r->all)
		device->began = perf_device_now();
	status = launch_run(&launch, &r->launched);
	see_objects(r);
	watch_close(&r->watch);
	/* Objects of running programs count as the latest. */
	if (r->all)
		objects_add_all(&r->objects);
	if (perf_device_stop(device)) {
		report("%s", sifive_trace_error());
		status = status ? status : EXIT_RECORD;
	} else if (save(r, &launch) || (r->launched.ran && capture_samples(device->fd))) {
		status = status ? status : EXIT_RECORD;
	}
out:
	drain_close(&r->drain);
	objects_free(&r->objects);
	perf_device_close(device);
	return status;
}

/* Reports options that exclude each other. */
static int check(const struct recording *r, bool library)
{
	const struct sifive_trace_options *options = &r->setup.options;
	const char *why = r->all ? "with -a nothing is loaded into programs" :
			  "it is static, without libsifive-perf.a";

	if (!r->all && r->program.privilege) {
		report("%s: %s: LD_PRELOAD is ignored there, and the kernel does not sample it: record a copy of the file without that, or all that runs with -a%s",
		       r->program.path, r->program.privilege,
		       geteuid() ? "; for root, set-user-ID root and file capabilities change nothing" : "");
		return EXIT_RECORD;
	}
	if (library)
		return 0;
	if (options->filter || r->patterns.count) {
		report("%s: %s: there are samples, and no functions to filter",
		       r->argv[0], why);
		return EXIT_RECORD;
	}
	return 0;
}

static bool is_drained(const struct recording *r)
{
	return r->on_full == ON_FULL_DRAIN || r->on_full == ON_FULL_WAIT;
}

/* What --on-full is if it was not given. */
static void choose_full(struct recording *r)
{
	r->usual = r->on_full == ON_FULL_USUAL;
	if (!r->usual)
		return;
	if (r->setup.options.flags & SIFIVE_TRACE_RING) {
		r->on_full = ON_FULL_WRAP;
	} else if (r->setup.sram) {
		r->on_full = ON_FULL_STOP;
		announce_stop(r, "SRAM cannot be read while it is written");
	} else {
		r->on_full = ON_FULL_DRAIN;
	}
}

/* --on-full: wrap is --ring. */
static int check_full(struct recording *r)
{
	unsigned int *flags = &r->setup.options.flags;

	choose_full(r);
	if (*flags & SIFIVE_TRACE_RING && r->on_full != ON_FULL_WRAP)
		return usage_error("--ring is --on-full wrap: give one of them");
	if (is_drained(r) && r->setup.sram)
		return usage_error("--on-full drain and wait: SRAM cannot be read while it is written: leave out --sink sram");
	if ((r->size || r->time) && !is_drained(r))
		return usage_error("--size and --time need --on-full drain or wait");
	if (in_pieces(r) && !is_drained(r))
		return usage_error("--rotate needs --on-full drain or wait: only then the trace is written while the program runs");
	if (in_pieces(r) && r->setup.options.header_interval)
		return usage_error("--rotate and --header-interval exclude each other: a piece begins with a header of its own");
	if (in_pieces(r) && !machine_side_car())
		return usage_error("--rotate needs side-car files: leave out SIFIVE_TRACE_META=0");
	if (r->keep && !in_pieces(r))
		return usage_error("--keep needs --rotate");
	if (r->on_full == ON_FULL_WRAP)
		*flags |= SIFIVE_TRACE_RING;
	return 0;
}

static int record_filtered(struct recording *r)
{
	char filter[] = "/tmp/sifive-trace.XXXXXX";
	int status = EXIT_RECORD;

	if (!r->patterns.count)
		return record_with_library(r);
	if (!select_functions(&r->program, r->patterns.text, r->patterns.count, filter)) {
		r->setup.options.filter = filter;
		status = record_with_library(r);
		unlink(filter);
	}
	return status;
}

/* Chooses how to record the program. */
static int record(struct recording *r)
{
	bool load = !r->all && (r->program.dynamic || r->program.library);
	char folder[PROGRAM_FOLDER] = "";
	int error = check(r, load);

	if (error)
		return error;
	if (check_full(r))
		return EXIT_USAGE;
	if (r->setup.options.header_interval &&
	    (!(r->setup.options.flags & SIFIVE_TRACE_RING || is_drained(r)) ||
	     r->setup.options.flags & SIFIVE_TRACE_HEADER_ONCE ||
	     r->setup.options.count_type != SIFIVE_TRACE_XOR))
		return usage_error("--header-interval needs --count xor and --ring or --on-full drain, and excludes --header-once");
	/* Otherwise there would be no records. */
	if ((!load || !r->program.hooks) && !setup_sampled(&r->setup))
		r->setup.options.interval = SETUP_INTERVAL;
	/* Per-thread differences would need a header for each thread. */
	if (r->setup.options.flags & SIFIVE_TRACE_HEADER_ONCE &&
	    r->setup.options.count_type == SIFIVE_TRACE_DELTA)
		r->setup.per_cpu = true;
	if (setup_finish(&r->setup))
		return EXIT_USAGE;
	r->setup.parsed.take.drain = is_drained(r);
	r->setup.parsed.take.wait = r->on_full == ON_FULL_WAIT;
	if (!r->quiet)
		setup_ignored("record");
	if (files_check(r->output))
		return EXIT_RECORD;
	if (load && !r->program.library &&
	    (program_library(&r->program, r->load, r->library) ||
	     program_link(r->library, folder)))
		return EXIT_RECORD;
	error = load ? record_filtered(r) : record_samples(r);
	program_unlink(folder);
	return error;
}

static int command_record(int argc, char **argv)
{
	static struct recording r = { .file = "trace.rtd", .on_full = ON_FULL_USUAL };
	int error;

	setup_init(&r.setup);
	error = cli_parse(&record_command, &r, argc, argv);
	if (error)
		return error;
	if (optind == argc)
		return usage_error("record: no program: sifive-trace record PROGRAM [ARGUMENT]...");
	if (r.patterns.count && r.setup.options.filter)
		return usage_error("-F and --filter exclude each other: give one of them");
	r.argv = argv + optind;
	if (files_path(r.file, r.output, sizeof(r.output)))
		return EXIT_USAGE;
	error = program_find(&r.program, r.argv[0]);
	return error ? error : record(&r);
}

const struct cli_command record_command = {
	.name = "record",
	.run = command_record,
	.summary = "run a program and record what it does",
	.arguments = "[--] PROGRAM [ARGUMENT]...",
	.help = "Run a program and record what it does: each function entry and exit of a program or shared object that was compiled with -finstrument-functions, samples of others. The program is not changed: a shared library is loaded into it. For a static program there are samples alone, unless it is linked with libsifive-perf.a.",
	.groups = record_groups,
	.status = "Exit status: the program's; 128 plus the number of the signal that ended it; 125 nothing was recorded, 126 the program cannot be run, 127 it was not found, 2 wrong usage.",
	.program = true,
};

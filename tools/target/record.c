// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sifive-trace record: runs a program with the preloaded library, which records
 * it. If a program cannot load the library, the kernel samples it.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../command.h"
#include "../units.h"
#include "auto_filter.h"
#include "events.h"
#include "files.h"
#include "kallsyms.h"
#include "machine.h"
#include "recording.h"
#include "running.h"
#include "select.h"
#include "snapshot.h"

/* Values of --on-full, in the order in which the option lists its keywords. */
enum on_full {
	ON_FULL_USUAL = -1,
	ON_FULL_STOP,
	ON_FULL_WRAP,
	ON_FULL_DRAIN,
	ON_FULL_WAIT,
	ON_FULL_DROP,
};

/* Number of snapshots to keep if --keep is not given. */
#define SNAPSHOTS_KEPT	100

/* A template for mkstemp(). */
#define TEMPORARY	"/tmp/sifive-trace.XXXXXX"

static int set_depth(void *at, const struct cli_option *option, const char *value)
{
	int depth, status = cli_number(&depth, option, value);

	if (status == EXIT_OK)
		*(uint64_t *)at = (uint64_t)depth;
	return status;
}

static int set_filter(void *at, const struct cli_option *option, const char *value)
{
	static char path[PATH_MAX];
	const char *filter = path;

	if (!realpath(value, path))
		return usage_error("--%s %s: %s", option->name, value, strerror(errno));
	memcpy(at, &filter, sizeof(filter));
	return EXIT_OK;
}

static int set_pids(void *at, const struct cli_option *option, const char *value)
{
	struct running running;
	int error = running_named(&running, value);

	free(running.pid);
	return error ? cli_refuse(option, "process ids, separated by commas, such as 123,124", value) :
		       cli_text(at, option, value);
}

#define SETUP(member)	offsetof(struct recording, setup.options.member)

static const struct cli_option output_option[] = {
	{ .letter = 'o', .name = "output", .value = "PATH",
	  .help = "file to write to, or directory for trace.rtd (default: trace.rtd); PATH.meta describes it",
	  .set = cli_text, .offset = offsetof(struct recording, file) },
	{ .name = NULL }
};

static const struct cli_option how_options[] = {
	{ .letter = 'F', .name = "function", .value = "PATTERN",
	  .help = "record only functions with this name; * matches any characters, ? one; C++ as nm -C shows it, or without parameters: \"add(int, char)\"; may be repeated",
	  .set = cli_append, .offset = offsetof(struct recording, patterns) },
	{ .name = "filter", .value = "FILE",
	  .help = "record only the functions in FILE: sifive-trace filter selects them by name or source file",
	  .set = set_filter, .offset = SETUP(filter) },
	{ .name = "auto-filter", .value = "PERCENT",
	  .help = "run the program twice: first a dry run, then the recording, without functions that produced many records but took little time, together at most PERCENT of all time; list these functions",
	  .set = cli_percent, .offset = offsetof(struct recording, percent) },
	{ .name = "from", .value = "FUNCTION",
	  .help = "record each thread only from a call to FUNCTION until it returns; FUNCTION as for -F",
	  .set = cli_text, .offset = offsetof(struct recording, part.from) },
	{ .name = "to", .value = "FUNCTION",
	  .help = "with --from: record up to the thread's next call to this FUNCTION instead of the return",
	  .set = cli_text, .offset = offsetof(struct recording, part.to) },
	{ .name = "depth", .value = "N",
	  .help = "record only the outermost N levels, 1 to 64, of a thread's nested calls; the self times at the deepest level then include deeper calls",
	  .set = set_depth, .offset = offsetof(struct recording, part.depth), .least = 1,
	  .most = PERF_DEPTH_MAX },
	{ .letter = 'a', .name = "all",
	  .help = "sample everything that runs on the CPUs while the program runs, and load nothing into it",
	  .set = cli_flag, .offset = offsetof(struct recording, all) },
	{ .letter = 'p', .name = "pid", .value = "PID[,PID...]",
	  .help = "sample running processes: all their threads, including new ones, until they end, until ^C, or while PROGRAM runs; not processes that they create",
	  .set = set_pids, .offset = offsetof(struct recording, attach.pids) },
	{ .letter = 'u', .name = "user", .value = "USER",
	  .help = "like -p, for all processes whose effective user is USER, a name or a number, when the recording starts; not those that start or change their user later",
	  .set = cli_text, .offset = offsetof(struct recording, attach.user) },
	{ .letter = 'G', .name = "cgroup", .value = "CGROUP",
	  .help = "like -p, for all processes in the control group CGROUP, and those below it, when the recording starts, but not those that join later; CGROUP is a path, absolute or relative to the cgroup2 mount",
	  .set = cli_text, .offset = offsetof(struct recording, attach.cgroup) },
	{ .name = "calls", .value = "user|kernel|all", .optional = true,
	  .help = "trace the instructions of an unmodified program, or with -a of everything that runs, to reconstruct all calls: in user mode (default), in the kernel, or both; -i and -c add samples. Only you can read the files, because they contain kernel addresses",
	  .set = cli_word, .offset = offsetof(struct recording, calls) },
	{ .name = "instruction-mode", .value = "btm|htm|optimised",
	  .help = "with --calls: a message for each taken branch; branch histories (default if the encoders support them); or histories with repeat counts and implicit returns",
	  .set = cli_word, .offset = offsetof(struct recording, mode) },
	{ .name = "snapshot",
	  .help = "keep the newest bytes of the buffer (-b), and write them to PATH.1, PATH.2 ... each time the command receives SIGUSR2 or the program calls sifive_trace_snapshot(); the last bytes go to PATH when the program ends or crashes",
	  .set = cli_flag, .offset = offsetof(struct recording, snapshot) },
	{ .name = "trigger", .value = "FUNCTION[:N]",
	  .help = "with --snapshot: also write a snapshot each time a thread calls FUNCTION, or at every Nth call",
	  .set = trigger_set_reached, .offset = offsetof(struct recording, reached) },
	{ .name = "slower-than", .value = "FUNCTION:TIME",
	  .help = "with --snapshot: also write a snapshot after each call to FUNCTION that took longer than TIME (500us, 2ms, 1s)",
	  .set = trigger_set_slower, .offset = offsetof(struct recording, slower) },
	{ .name = "time-threshold", .value = "TIME",
	  .help = "have report, graph, replay and export leave out calls shorter than TIME (500ns, 5us, 10ms); their time then belongs to their callers; all calls are recorded",
	  .set = units_set_threshold, .offset = offsetof(struct recording, part.threshold) },
	{ .name = "archive",
	  .help = "with --calls: copy the program and its shared objects to PATH.files, where commands that read the trace find them",
	  .set = cli_flag, .offset = offsetof(struct recording, archive) },
	{ .name = "children",
	  .help = "also record the processes that the program creates, until all of them have ended (default where possible; if the option is given, an error elsewhere); requires --on-full drain (default), wait or drop",
	  .set = cli_flag, .offset = offsetof(struct recording, children) },
	{ .name = "no-children",
	  .help = "record only the program, until it ends, and do not report how many processes it creates",
	  .set = cli_flag, .offset = offsetof(struct recording, alone) },
	{ .name = "on-full", .value = "stop|wrap|drain|wait|drop",
	  .help = "drain (default): copy the buffer to the file while the program runs, and report what was lost; stop: end the recording when the buffer is full (default where draining is not possible); wrap: overwrite the oldest bytes, as --ring does; wait: drain, and make the program wait for the command; drop: drain, and make the program drop and count records while the buffer has no room",
	  .set = cli_word, .offset = offsetof(struct recording, on_full) },
	{ .name = "size", .value = "SIZE",
	  .help = "record until the files have SIZE bytes (100M, 2G); the program continues; requires --on-full drain (default), wait or drop",
	  .set = setup_size, .offset = offsetof(struct recording, size) },
	{ .name = "time", .value = "TIME",
	  .help = "record for TIME (500ms, 10s, 5m, 1h); the program continues; requires --on-full drain (default), wait or drop",
	  .set = setup_duration, .offset = offsetof(struct recording, time) },
	{ .name = "rotate", .value = "SIZE|TIME",
	  .help = "write PATH.0, PATH.1 and so on, each of SIZE (100M, 2G) or TIME (10s, 5m, 1h); each can be read separately; requires --on-full drain (default), wait or drop",
	  .set = setup_rotate, .offset = offsetof(struct recording, pieces) },
	{ .name = "keep", .value = "N",
	  .help = "with --rotate or --snapshot: keep only the newest N files (default: all; with --snapshot 100)",
	  .set = cli_number, .offset = offsetof(struct recording, keep), .least = 1,
	  .most = 1000000 },
	{ .name = "header-once",
	  .help = "write one header for each CPU and channel, as SiFive's decoder requires, even if threads start and end; with --count delta it implies --per-cpu",
	  .set = cli_bits, .offset = SETUP(flags), .most = SIFIVE_TRACE_HEADER_ONCE },
	{ .name = "header-interval", .value = "N",
	  .help = "with --ring and --count xor: write a header every N records, needed to read a wrapped ring (default: 100), or with --on-full drain to continue reading after a loss (default: none)",
	  .set = setup_header_interval, .offset = SETUP(header_interval) },
	{ .name = "turn", .value = "TIME",
	  .help = "if -e has more events than there are counters, count them in turns, each for TIME of a thread's running time: 1ms to 50ms (default: 4ms); report scales such counts",
	  .set = setup_turn, .offset = offsetof(struct recording, setup.turn_us) },
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

/* Return whether any option selects functions. */
static bool selects_functions(const struct recording *r)
{
	return r->setup.options.filter || r->patterns.count || r->percent > 0 ||
	       recording_limited(r);
}

static bool is_drained(const struct recording *r)
{
	return r->on_full >= ON_FULL_DRAIN;
}

/* Report why the program cannot be recorded with these options. */
static int check(const struct recording *r, bool library)
{
	const char *why = r->all ? "with -a nothing is loaded into programs" :
			  r->firmware ? "with -e fw:NAME nothing is loaded into programs" :
			  "it is static, without libsifive-perf.a";

	if (!r->all && r->program.privilege) {
		report("%s: %s: LD_PRELOAD is ignored there, and the kernel does not sample it: record a copy of the file without these, or everything that runs with -a%s",
		       r->program.path, r->program.privilege,
		       geteuid() ? "; for root, set-user-ID root and file capabilities change nothing" : "");
		return EXIT_RECORD;
	}
	if (r->join && (r->program.library || r->program.traces)) {
		report("%s: --children: the program contains libsifive-perf or controls tracing itself, so it needs exclusive use of the hardware: record it without --children",
		       r->program.path);
		return EXIT_RECORD;
	}
	if ((r->setup.switches || r->setup.syscalls || r->setup.faults) && library &&
	    r->program.library) {
		report("%s: the static library in the program cannot record context switches, system calls or page faults: link it with the shared library",
		       r->program.path);
		return EXIT_RECORD;
	}
	if (library && (r->percent > 0 || recording_limited(r)) && !r->program.hooks) {
		report("%s: --%s: nothing in it was compiled with -finstrument-functions",
		       r->argv[0], r->part.from ? "from" : r->part.depth ? "depth" : "auto-filter");
		return EXIT_RECORD;
	}
	if (library)
		return 0;
	/* The program contains a function that controls tracing, but may never call it. */
	if (r->program.traces && !r->quiet)
		report("%s: it can trace itself, which fails while record holds the hardware: for its own trace, start it without record",
		       r->program.path);
	if (selects_functions(r)) {
		report("%s: %s: samples only: there are no functions to filter",
		       r->argv[0], why);
		return EXIT_RECORD;
	}
	return 0;
}

/*
 * Check -e fw:NAME. Programs cannot read firmware's counters, so the kernel must write all records.
 */
static int check_firmware(const struct recording *r)
{
	if (!r->firmware)
		return 0;
	if (r->children)
		return usage_error("-e fw:NAME cannot be combined with --children, which loads a library into programs: give -a");
	if (r->load)
		return usage_error("-e fw:NAME: nothing is loaded into the program: leave out --library");
	if (r->calls != CALLS_NONE || r->all || recording_attaches(r) || !r->program.hooks)
		return 0;
	report("%s: -e fw:NAME: the program's instrumented functions record themselves, and programs cannot read the counters of firmware events: omit these events, or only sample everything that runs: -a -i 1ms",
	       r->program.path);
	return EXIT_RECORD;
}

/* --snapshot implies a ring; options that trigger snapshots need --snapshot. */
static int check_snapshot(struct recording *r)
{
	if (!r->snapshot)
		return r->reached.function || r->slower.function ?
		       usage_error("--trigger and --slower-than need --snapshot") : 0;
	if (r->on_full != ON_FULL_USUAL && r->on_full != ON_FULL_WRAP)
		return usage_error("--snapshot implies --on-full wrap: give only one of them");
	if (r->setup.sram)
		return usage_error("--snapshot: SRAM cannot be read while it is being written: leave out --sink sram");
	r->on_full = ON_FULL_WRAP;
	if (!r->keep)
		r->keep = SNAPSHOTS_KEPT;
	return 0;
}

/*
 * Check --calls: report options that need a program's own records, and options that need --calls.
 */
static int check_calls(struct recording *r)
{
	const struct sifive_trace_options *options = &r->setup.options;

	if ((r->reached.function || r->slower.function) && r->mode == CALLS_OPTIMISED)
		return usage_error("--trigger and --slower-than cannot be combined with --instruction-mode optimised: the kernel executes the probed instructions, including calls and returns, which that mode does not show");
	if (check_snapshot(r))
		return EXIT_USAGE;
	if (r->calls == CALLS_NONE)
		return r->archive || r->mode != CALLS_MODE_USUAL ?
		       usage_error("--archive and --instruction-mode need --calls") : 0;
	if (!r->children && (selects_functions(r) || r->load))
		return usage_error("--calls alone loads nothing into the program: leave out -F, --filter, --auto-filter, --from, --depth and --library, or give --children, which also records the instrumented functions");
	if (r->pieces.size || r->pieces.time)
		return usage_error("--calls and --rotate cannot be combined: a piece cannot begin within the flow of instructions");
	if (r->children && r->archive)
		return usage_error("--archive and --children cannot be combined: keep the programs and their shared objects, for -e or --symfs");
	if (r->on_full >= ON_FULL_WAIT)
		return usage_error("--calls cannot be combined with --on-full wait or drop: only stores can wait or be dropped");
	if (options->channel % 16 == 15)
		return usage_error("--channel %u: instruction trace needs it", options->channel);
	/*
	 * Count no events if there are neither samples nor records of functions to contain the
	 * counts.
	 */
	if (!r->children && !setup_sampled(&r->setup) && !r->setup.events)
		r->setup.events = "";
	return 0;
}

/* Check -p, -u and -G: report options that need a program run by the command. */
static int check_attach(const struct recording *r)
{
	const struct attach *attach = &r->attach;

	if (!recording_attaches(r))
		return 0;
	if (!!attach->pids + !!attach->user + !!attach->cgroup + r->all > 1)
		return usage_error("-p, -u, -G and -a cannot be combined: give one of them");
	if (r->children)
		return usage_error("-p, -u and -G cannot be combined with --children: they record processes that are already running");
	if (r->load || selects_functions(r))
		return usage_error("-p, -u and -G load nothing into processes: leave out -F, --filter, --auto-filter, --from, --depth and --library");
	if (r->reached.function || r->slower.function)
		return usage_error("-p, -u and -G cannot be combined with --trigger or --slower-than: give --snapshot alone, and send SIGUSR2");
	return 0;
}

/* Choose the default of --on-full. */
static void choose_full(struct recording *r)
{
	r->usual = r->on_full == ON_FULL_USUAL;
	if (!r->usual)
		return;
	if (r->setup.options.flags & SIFIVE_TRACE_RING) {
		r->on_full = ON_FULL_WRAP;
	} else if (r->setup.sram) {
		r->on_full = ON_FULL_STOP;
		recording_announce_stop(r, "SRAM cannot be read while it is being written");
	} else {
		r->on_full = ON_FULL_DRAIN;
	}
}

/* Check --on-full, and options that depend on it. --on-full wrap is the same as --ring. */
static int check_full(struct recording *r)
{
	unsigned int *flags = &r->setup.options.flags;

	choose_full(r);
	if (*flags & SIFIVE_TRACE_RING && r->on_full != ON_FULL_WRAP)
		return usage_error("--ring is the same as --on-full wrap: give only one of them");
	if (is_drained(r) && r->setup.sram)
		return usage_error("--on-full drain, wait and drop: SRAM cannot be read while it is being written: leave out --sink sram");
	if ((r->size || r->time) && !is_drained(r))
		return usage_error("--size and --time need --on-full drain, wait or drop");
	if (recording_in_pieces(r) && !is_drained(r))
		return usage_error("--rotate needs --on-full drain, wait or drop: only then is the trace written while the program runs");
	if (recording_in_pieces(r) && r->setup.options.header_interval)
		return usage_error("--rotate and --header-interval cannot be combined: a piece begins with its own header");
	if (recording_in_pieces(r) && r->setup.options.stack)
		return usage_error("--rotate and -g dwarf cannot be combined: a piece cannot begin within a stack; give -g fp");
	if (recording_in_pieces(r) && !machine_side_car())
		return usage_error("--rotate needs side-car files: leave out SIFIVE_TRACE_META=0");
	if (r->keep && !r->snapshot && !recording_in_pieces(r))
		return usage_error("--keep needs --rotate or --snapshot");
	if (r->children && (r->all || !is_drained(r)))
		return usage_error("--children needs --on-full drain, wait or drop, and cannot be combined with -a, which samples everything");
	if (r->on_full == ON_FULL_DROP && *flags & SIFIVE_TRACE_HEADER_ONCE)
		return usage_error("--on-full drop and --header-once cannot be combined: a header follows dropped records");
	if (r->on_full == ON_FULL_WRAP)
		*flags |= SIFIVE_TRACE_RING;
	return 0;
}

/*
 * Check --from, --to and --depth. With --from, a header is written when the recorded part of a
 * thread begins, but not when a piece does.
 */
static int check_part(const struct recording *r)
{
	const struct meta_part *part = &r->part;

	if (part->to && !part->from)
		return usage_error("--to needs --from");
	if (part->threshold && !machine_side_car())
		return usage_error("--time-threshold needs side-car files: leave out SIFIVE_TRACE_META=0");
	if (!recording_limited(r))
		return 0;
	if (part->to && !strcmp(part->from, part->to))
		return usage_error("--from and --to name the same function: leave out --to");
	if (part->to && setup_sampled(&r->setup))
		return usage_error("--to cannot be combined with -i and -c: samples between the parts would be charged to the calls that --to ends");
	if (part->from && r->setup.options.flags & SIFIVE_TRACE_HEADER_ONCE)
		return usage_error("--from and --header-once cannot be combined: headers show where calls were left out");
	if (recording_in_pieces(r))
		return usage_error("--from and --depth cannot be combined with --rotate: give --size or --time");
	if (!machine_side_car())
		return usage_error("--from and --depth need side-car files: leave out SIFIVE_TRACE_META=0");
	return 0;
}

static int check_auto_filter(void)
{
	if (!machine_side_car())
		return usage_error("--auto-filter needs side-car files: leave out SIFIVE_TRACE_META=0");
	return auto_filter_check();
}

/*
 * Record in the command's session or, for a single process that uses the library, in the program's
 * session.
 */
static int record_here(struct recording *r)
{
	if (r->join && !r->children && record_check_join(r))
		r->join = false;
	/* Events take turns only if the library in the program sets up the session. */
	if (r->loads && !r->join)
		r->setup.parsed.turn_us = r->setup.turn_us;
	return r->join || !r->loads ? record_session(r) : record_with_library(r);
}

/*
 * Check the user's filter and the names in --from and --to. Called before a dry run, and before the
 * user's filter is copied, so that errors name the user's file.
 */
static int check_names(const struct recording *r)
{
	char path[] = TEMPORARY;

	if (r->setup.options.filter && recording_check_filter(r))
		return -1;
	if (!(r->percent > 0))
		return 0;
	if (select_copy(NULL, path) || select_part(&r->program, &r->part, path))
		return -1;
	unlink(path);
	return 0;
}

/*
 * Make the filter and store its name in @filter, or store "" if there is no filter or only the
 * user's. Return 0 or the exit status.
 */
static int make_filter(struct recording *r, char *filter)
{
	size_t left_out = 0;
	int status = 0;

	if (recording_limited(r) && check_names(r))
		return EXIT_RECORD;
	if (r->percent > 0)
		status = auto_filter(r, record_here, filter, &left_out);
	else if (r->patterns.count)
		status = select_functions(&r->program, r->patterns.text, r->patterns.count,
					  filter) ? EXIT_RECORD : 0;
	else
		*filter = '\0';
	/* Instruction trace contains the calls to all functions. */
	if (r->calls == CALLS_NONE) {
		r->part.function = r->patterns.text;
		r->part.functions = r->patterns.count;
		r->part.filter = r->setup.options.filter;
		r->part.left_out = left_out;
	}
	if (status || !recording_limited(r))
		return status;
	if (!*filter) {
		strcpy(filter, TEMPORARY);
		if (select_copy(r->setup.options.filter, filter))
			return EXIT_RECORD;
	}
	return select_part(&r->program, &r->part, filter) ? EXIT_RECORD : 0;
}

static int record_filtered(struct recording *r)
{
	char filter[] = TEMPORARY;
	int status = make_filter(r, filter);

	if (status)
		return status;
	if (*filter)
		r->setup.options.filter = filter;
	status = record_here(r);
	if (r->launched.ran && !r->quiet && machine_untimed())
		report("the encoders' messages have no timestamps: the trace contains no times");
	if (r->launched.ran && recording_has_kernel(r))
		kallsyms_copy(r->output);
	if (*filter)
		unlink(filter);
	if (meta_part_is_set(&r->part) && !recording_in_pieces(r) && r->launched.ran &&
	    capture_name_part(r->output, r->mark.sinks, &r->part) && !status)
		status = EXIT_RECORD;
	return status;
}

/*
 * Return whether processes join the recording without --children, which an option or the program
 * can prevent. --header-once prevents it, because processes that share a channel each write a
 * header.
 */
static bool joins_unasked(const struct recording *r)
{
	return !r->alone && !r->all && !recording_attaches(r) && r->calls == CALLS_NONE &&
	       !r->firmware && is_drained(r) && !r->program.library && !r->program.traces &&
	       !(r->setup.options.flags & SIFIVE_TRACE_HEADER_ONCE);
}

/* Check the options, choose how to record the program, and record it. */
static int record(struct recording *r)
{
	int error;

	if (check_calls(r))
		return EXIT_USAGE;
	r->firmware = events_firmware(r->setup.events);
	error = check_firmware(r);
	if (error)
		return error;
	r->loads = !r->all && !recording_attaches(r) && (r->calls == CALLS_NONE || r->children) &&
		   !r->firmware && (r->program.dynamic || r->program.library);
	r->join = r->children;
	error = check(r, r->loads);
	if (error)
		return error;
	if (check_full(r) || check_part(r) || (r->percent > 0 && check_auto_filter()))
		return EXIT_USAGE;
	if (r->setup.options.header_interval &&
	    (!(r->setup.options.flags & SIFIVE_TRACE_RING || is_drained(r)) ||
	     r->setup.options.flags & SIFIVE_TRACE_HEADER_ONCE ||
	     r->setup.options.count_type != SIFIVE_TRACE_XOR))
		return usage_error("--header-interval needs --count xor and --ring or --on-full drain, and cannot be combined with --header-once");
	r->join = r->children || joins_unasked(r);
	/* Sample if there would be no records otherwise. */
	r->sampled = setup_sampled(&r->setup);
	if ((!r->loads || !r->program.hooks) && r->calls == CALLS_NONE && !r->sampled)
		r->setup.options.interval = SETUP_INTERVAL;
	if (r->firmware && !setup_sampled(&r->setup))
		return usage_error("-e fw:NAME: only samples have counts of firmware events, and nothing is sampled: give -i");
	if ((r->setup.options.flags & SIFIVE_TRACE_CALLERS || r->setup.options.stack) &&
	    !setup_sampled(&r->setup))
		return usage_error("-g: only samples have callers, and nothing is sampled: give -i or -c");
	/* Per-thread differences would need a header for each thread. */
	if (r->setup.options.flags & SIFIVE_TRACE_HEADER_ONCE &&
	    r->setup.options.count_type == SIFIVE_TRACE_DELTA)
		r->setup.per_cpu = true;
	if (setup_finish(&r->setup))
		return EXIT_USAGE;
	if (is_drained(r))
		r->setup.parsed.take.flags |= SIFIVE_TRACE_CONFIG_DRAIN;
	if (r->on_full == ON_FULL_WAIT)
		r->setup.parsed.take.flags |= SIFIVE_TRACE_CONFIG_WAIT;
	if (r->on_full == ON_FULL_DROP)
		r->setup.parsed.take.flags |= SIFIVE_TRACE_CONFIG_DROP;
	if (!r->quiet)
		setup_ignored("record");
	if (files_check(r->output))
		return EXIT_RECORD;
	if (r->calls != CALLS_NONE &&
	    calls_choose(&r->setup.parsed.take, r->mode, r->all, r->children))
		return recording_refuse();
	if (((r->loads && !r->program.library) || r->join) &&
	    program_library(&r->program, r->load, r->library)) {
		if (r->loads || r->children)
			return EXIT_RECORD;
		r->join = false;
	}
	r->maps.began = time(NULL);
	launch_begin();
	r->mask = recording_restrict(r);
	if (r->snapshot)
		requests_open(&r->requests);
	error = record_filtered(r);
	if (r->snapshot)
		requests_close(&r->requests);
	locks_remove(&r->locks);
	umask(r->mask);
	launch_end();
	return error;
}

static int find_running(struct recording *r)
{
	if (check_attach(r))
		return EXIT_USAGE;
	if (attach_find(&r->attach))
		return EXIT_RECORD;
	recording_name_running(r);
	return 0;
}

static int command_record(int argc, char **argv)
{
	static struct recording r = {
		.on_full = ON_FULL_USUAL, .calls = CALLS_NONE,
		.mode = CALLS_MODE_USUAL,
	};
	int error;

	setup_init(&r.setup);
	error = cli_parse(&record_command, &r, argc, argv);
	if (error)
		return error;
	if (optind == argc && !recording_attaches(&r))
		return usage_error("record: no program: sifive-trace record PROGRAM [ARGUMENT]...");
	if (r.children && r.alone)
		return usage_error("--children and --no-children cannot be combined: give one of them");
	if ((r.patterns.count > 0) + !!r.setup.options.filter + (r.percent > 0) > 1)
		return usage_error("-F, --filter and --auto-filter cannot be combined: give one of them");
	if (r.snapshot)
		snapshot_take_signal();
	r.argv = r.command = argv + optind;
	if (files_path(r.file, r.output, sizeof(r.output)))
		return EXIT_USAGE;
	if (recording_attaches(&r))
		error = find_running(&r);
	else
		error = program_find(&r.program, r.argv[0]);
	if (!error)
		error = record(&r);
	attach_free(&r.attach);
	return error;
}

const struct cli_command record_command = {
	.name = "record",
	.run = command_record,
	.summary = "run a program and record what it does",
	.arguments = "[--] PROGRAM [ARGUMENT]...",
	.help = "Run a program and record what it and the processes that it creates do: each function entry and exit of a program or shared object that was compiled with -finstrument-functions, and samples of other programs. The program is unchanged: a shared library is loaded into it. A static program is only sampled, unless it is linked with libsifive-perf.a.",
	.groups = record_groups,
	.status = "Exit status: the program's; 128 plus the number of the signal that ended it; 125 nothing was recorded, 126 the program cannot be run, 127 it was not found, 2 usage error.",
	.program = true,
};

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sifive-trace record: run a program, with the library to record it. A program
 * that cannot load the library is sampled with all else that runs.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "setup.h"

#include "lib/error.h"

#include "../command.h"
#include "capture.h"
#include "program.h"

/* As shells have it. */
#define EXIT_RECORD	125
#define EXIT_CANNOT_RUN	126
#define EXIT_SIGNAL	128

enum own_option {
	OPTION_LIBRARY = OPTION_COMMAND,
	OPTION_FILTER,
};

/**
 * struct recording - one run of the command
 * @setup:	what to record
 * @program:	the program
 * @argv:	with its arguments
 * @library:	what to load into it, empty for nothing
 * @output:	the trace's file
 * @quiet:	say nothing but what goes wrong
 */
struct recording {
	struct setup	setup;
	struct program	program;
	char		**argv;
	char		library[PATH_MAX];
	char		output[PATH_MAX];
	bool		quiet;
};

static const struct option long_options[] = {
	SETUP_LONG,
	{ "library",	required_argument, NULL, OPTION_LIBRARY },
	{ "filter",	required_argument, NULL, OPTION_FILTER },
	{ "output",	required_argument, NULL, 'o' },
	{ "quiet",	no_argument,	   NULL, 'q' },
	{ "help",	no_argument,	   NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static void help(void)
{
	puts("usage: sifive-trace record [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	     "\n"
	     "Run a program and record what it does. Of a program or shared object that was\n"
	     "compiled with -finstrument-functions each function entry and exit is recorded,\n"
	     "of others samples of where they are. The program is not changed: a shared\n"
	     "library is loaded into it; a static program is linked with libsifive-perf.a\n"
	     "for its functions, and can be sampled without.\n");
	fputs(setup_help, stdout);
	puts("  -o, --output PATH     file, or a folder for trace.rtd (default trace.rtd); what\n"
	     "                        its bytes do not tell is in PATH.meta\n"
	     "\n"
	     "How:\n"
	     "      --filter FILE     record those functions alone: lines of OBJECT START END,\n"
	     "                        the object's file name and hexadecimal addresses in it,\n"
	     "                        as sifive-trace filter writes them\n"
	     "      --library FILE    the library to load (default: libsifive-perf.so beside\n"
	     "                        the command, in ../lib, or where it was installed)\n"
	     "  -q, --quiet           say only what goes wrong\n"
	     "  -h, --help            this text\n"
	     "\n"
	     "Exit status: the program's; 128 and the signal's number when a signal ended it;\n"
	     "125 nothing was recorded, 126 it cannot be run, 127 it was not found, 2 wrong\n"
	     "usage.");
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* What will happen, in words. */
static void announce(const struct recording *r, bool whole)
{
	const struct sifive_trace_options *o = &r->setup.options;
	char samples[128] = "";

	if (o->period)
		snprintf(samples, sizeof(samples), "a sample every %" PRIu64
			 " %s", o->period, o->period_event);
	else if (o->interval)
		snprintf(samples, sizeof(samples), "a sample every %u microsecond%s",
			 o->interval, plural(o->interval));
	if (r->quiet)
		return;
	if (whole)
		report("%s is static, without libsifive-perf: %s of all that runs meanwhile",
		       r->argv[0], samples);
	else if (r->program.hooks)
		report("%s: functions' entries and exits%s%s", r->argv[0],
		       *samples ? ", and " : "", samples);
	else
		report("%s has nothing compiled with -finstrument-functions: %s",
		       r->argv[0], samples);
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

/* The terminal's keys are for the program. */
static void ignore_keys(void (*handler)(int))
{
	signal(SIGINT, handler);
	signal(SIGQUIT, handler);
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return exit_status(status);
}

static void run(const struct recording *r)
{
	execv(r->program.path, r->argv);
	report("%s: %s", r->program.path, strerror(errno));
	_exit(EXIT_CANNOT_RUN);
}

/* LD_PRELOAD with the library before what the user has there. */
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

static uint64_t show_files(const struct recording *r)
{
	char name[PATH_MAX];
	struct stat status;
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i <= SIFIVE_TRACE_MAX_ENCODERS; i++) {
		capture_name(name, sizeof(name), r->output, i ? i - 1 : 0,
			     i ? 2 : 1);
		if (stat(name, &status))
			continue;
		bytes += (uint64_t)status.st_size;
		if (!r->quiet)
			report("%s: %" PRIu64 " bytes: sifive-trace report %s",
			       name, (uint64_t)status.st_size, name);
	}
	return bytes;
}

/* With the library, which does everything in the program itself. */
static int record_with_library(const struct recording *r)
{
	int status;
	pid_t pid;

	ignore_keys(SIG_IGN);
	pid = fork();
	if (!pid) {
		ignore_keys(SIG_DFL);
		if (setup_environment(&r->setup, r->output) ||
		    preload(r->library)) {
			report("out of memory");
			_exit(EXIT_RECORD);
		}
		run(r);
	}
	if (pid < 0) {
		report("cannot make a process: %s", strerror(errno));
		return EXIT_RECORD;
	}
	status = wait_for(pid);
	if (show_files(r))
		return status;
	report(status > EXIT_SIGNAL ?
	       "nothing was recorded: signal %d ended the program before it could write" :
	       "nothing was recorded: the program ended without exit(), closed the trace device, or the reason is above (sifive-trace info tells what is missing)",
	       status - EXIT_SIGNAL);
	return status ? status : EXIT_RECORD;
}

/* Up to its first instruction; then it can be seen where it is in memory. */
static pid_t launch(const struct recording *r)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		ignore_keys(SIG_DFL);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		run(r);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	return pid;
}

/* Without: sample all that runs while it does. */
static int record_whole(struct recording *r)
{
	struct perf_setup *setup = &r->setup.parsed;
	struct objects objects = { NULL, 0 };
	char description[] = "/tmp/sifive-trace.XXXXXX";
	int fd = mkstemp(description), status = EXIT_RECORD, error;
	struct perf_device device;
	pid_t pid;

	if (fd >= 0)
		close(fd);
	error = capture_begin(&device, setup);
	if (error || capture_describe(description, setup, NULL)) {
		report("%s", perf_error_text());
		goto out;
	}
	ignore_keys(SIG_IGN);
	pid = launch(r);
	objects_add(&objects, pid);
	if (perf_device_start(&device)) {
		report("%s", perf_error_text());
		kill(pid, SIGKILL);
	} else {
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
	}
	status = wait_for(pid);
	if (perf_device_stop(&device))
		report("%s", perf_error_text());
	else if (capture_save(device.fd, r->output, description, &objects))
		status = status ? status : EXIT_RECORD;
	objects_free(&objects);
out:
	perf_device_abandon(&device);
	unlink(description);
	return status;
}

/* How the program can be recorded, and whether. */
static int record(struct recording *r, const char *library)
{
	struct sifive_trace_options *options = &r->setup.options;
	bool whole = !r->program.dynamic && !r->program.library;

	if (r->program.privileged && geteuid()) {
		report("%s gets other privileges when it is run, and then loads no library: run this as root",
		       r->program.path);
		return EXIT_RECORD;
	}
	if (whole && options->flags & SIFIVE_TRACE_PER_THREAD) {
		report("%s is static: its threads can have counts of their own only with libsifive-perf.a linked in",
		       r->program.path);
		return EXIT_RECORD;
	}
	if (whole && options->filter) {
		report("%s is static, without libsifive-perf: there are no functions to filter",
		       r->program.path);
		return EXIT_RECORD;
	}
	/* Nothing would be recorded otherwise. */
	if ((whole || !r->program.hooks) && !setup_sampled(&r->setup))
		options->interval = SETUP_INTERVAL;
	if (setup_finish(&r->setup))
		return EXIT_USAGE;
	if (!whole && !r->program.library &&
	    program_library(library, r->library))
		return EXIT_RECORD;
	announce(r, whole);
	capture_remove(r->output);
	return whole ? record_whole(r) : record_with_library(r);
}

int command_record(int argc, char **argv)
{
	const char *output = "trace.rtd", *library = NULL;
	static struct recording r;
	int option, error;
	char filter[PATH_MAX];

	setup_init(&r.setup);
	/* Options behind the program are its own. */
	while ((option = getopt_long(argc, argv, "+" SETUP_SHORT "o:qh",
				     long_options, NULL)) >= 0) {
		switch (option) {
		case 'o':
			output = optarg;
			break;
		case 'q':
			r.quiet = true;
			break;
		case OPTION_LIBRARY:
			library = optarg;
			break;
		case OPTION_FILTER:
			if (!realpath(optarg, filter))
				return usage_error("--filter %s: %s", optarg,
						   strerror(errno));
			r.setup.options.filter = filter;
			break;
		case 'h':
			help();
			return EXIT_OK;
		default:
			error = setup_option(&r.setup, "record", option);
			if (error)
				return error;
		}
	}
	if (optind == argc)
		return usage_error("record: which program? sifive-trace record PROGRAM [ARGUMENT]...");
	r.argv = argv + optind;
	if (capture_path(output, r.output, sizeof(r.output)))
		return EXIT_USAGE;
	error = program_find(&r.program, r.argv[0]);
	return error ? error : record(&r, library);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The commands sifive-trace start, stop, pause, resume, status and dump, which control a recording.
 * A background process holds the session from start to stop, and keeps the description of the
 * capture in /run for dump.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "setup.h"

#include "../command.h"
#include "calls.h"
#include "capture.h"
#include "files.h"
#include "kallsyms.h"
#include "machine.h"
#include "watch.h"

#define RUN		"/run"
#define DIRECTORY		RUN "/sifive-trace"
#define DESCRIPTION	DIRECTORY "/setup"
/*
 * A file with one line: "PID LEFT_OUT MISSED LATE AMBIGUOUS NAMES_LEFT_OUT NAMES_MISSED BEGAN RAN
 * PRIVATE BYTES SAMPLES". BYTES and SAMPLES are missing until the session has ended.
 */
#define STATE		DIRECTORY "/state"

/* Maximum time that the stop command waits, in units of 10 ms. */
#define STOP_STEPS	1000

/**
 * struct state - contents of STATE
 * @pid:	the process that holds, or held, the session
 * @left_out, @missed, @late, @ambiguous: members of struct objects
 * @names_left_out, @names_missed: members of struct names
 * @began, @ran: members of struct perf_device
 * @private:	1 if only the user may read the capture, because it contains kernel addresses and
 *		perhaps stacks; otherwise 0
 * @bytes, @samples: bytes and samples of the capture when it ended; they show whether the driver
 *		still holds that capture
 * @ended:	set if the session has ended
 */
struct state {
	int		pid;
	uint64_t	left_out;
	uint64_t	missed;
	uint64_t	late;
	uint64_t	ambiguous;
	uint64_t	names_left_out;
	uint64_t	names_missed;
	uint64_t	began;
	uint64_t	ran;
	unsigned int	private;
	uint64_t	bytes;
	uint64_t	samples;
	bool		ended;
};

static bool read_state(struct state *state)
{
	char line[256];
	int fields;

	machine_file(STATE, line, sizeof(line));
	memset(state, 0, sizeof(*state));
	fields = sscanf(line, "%d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			" %" SCNu64 " %" SCNu64 " %" SCNu64 " %u %" SCNu64 " %" SCNu64,
			&state->pid, &state->left_out, &state->missed, &state->late,
			&state->ambiguous, &state->names_left_out, &state->names_missed,
			&state->began, &state->ran, &state->private, &state->bytes,
			&state->samples);
	state->ended = fields == 12;
	return fields == 10 || fields == 12;
}

static int write_state(const struct state *state)
{
	struct output *out = files_open(STATE ".new");

	if (!out)
		return -1;
	put_format(out, "%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		   " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u", state->pid, state->left_out,
		   state->missed, state->late, state->ambiguous, state->names_left_out,
		   state->names_missed, state->began, state->ran, state->private);
	if (state->ended)
		put_format(out, " %" PRIu64 " %" PRIu64, state->bytes,
			   state->samples);
	put_char(out, '\n');
	return output_close(out) || rename(STATE ".new", STATE) ? -1 : 0;
}

/* Open the device read-only, which does not require the right to trace. */
static int open_status(struct sifive_trace_status *status)
{
	int fd = open(machine_device(), O_RDONLY | O_CLOEXEC);

	memset(status, 0, sizeof(*status));
	status->size = sizeof(*status);
	if (fd >= 0 && !ioctl(fd, SIFIVE_TRACE_IOC_STATUS, status))
		return fd;
	report("%s: %s (see sifive-trace info)", machine_device(),
	       strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Return whether sifive-trace start began the current session. */
static bool is_ours(const struct sifive_trace_status *status,
		    const struct state *state)
{
	return status->flags & SIFIVE_TRACE_STATUS_CONFIGURED && !state->ended &&
	       status->holder == state->pid;
}

struct start {
	struct setup	setup;
	int		wrap;	/* 1 for --on-full wrap */
	bool		all;
};

/*
 * Ignore signals so that the command can finish writing even if a message goes to a closed pipe, or
 * a file reaches its size limit.
 */
static void ignore_failed_writes(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/* ---- start ------------------------------------------------------------- */

static const struct cli_option start_options[] = {
	{ .letter = 'a', .name = "all",
	  .help = "sample the whole machine, which is also the default",
	  .set = cli_flag, .offset = offsetof(struct start, all) },
	{ .name = "on-full", .value = "stop|wrap",
	  .help = "when the buffer is full: stop recording (default); wrap: overwrite the oldest bytes, as with --ring. start writes no file, so the buffer is not drained; to drain it, use sifive-trace record -a sleep 1h",
	  .set = cli_word, .offset = offsetof(struct start, wrap) },
	{ .name = NULL }
};

static const struct cli_group start_groups[] = {
	SETUP_GROUPS(struct start, setup),
	{ "How", start_options, 0 },
	{ .options = NULL }
};

static volatile sig_atomic_t told_to_stop;

static void tell_to_stop(int number)
{
	(void)number;
	told_to_stop = 1;
}

/*
 * Replace the files atomically, because dump may read them at any time. Other users must not learn
 * where programs are in memory.
 */
static int describe(const struct perf_setup *setup, struct objects *objects,
		    struct names *names, struct state *state)
{
	const struct capture_details details = {
		.calls = CALLS_NONE, .objects = objects, .names = names->thread ? names : NULL,
	};
	const mode_t mask = umask(077);
	int error;

	unlink(DESCRIPTION ".new");
	error = capture_describe(DESCRIPTION ".new", setup, &details) ||
		rename(DESCRIPTION ".new", DESCRIPTION);
	umask(mask);
	state->left_out = objects->left_out;
	state->missed = objects->missed;
	state->late = objects->late;
	state->ambiguous = objects->ambiguous;
	state->names_left_out = names->left_out;
	state->names_missed = names->missed;
	return write_state(state) || error ? -1 : 0;
}

static struct objects *all_objects(void *objects, pid_t pid)
{
	(void)pid;
	return objects;
}

/*
 * Hold the session from start to stop. Once recording has begun or failed, write an empty string or
 * an error message to the pipe @ready.
 */
static int hold(struct perf_setup *setup, int ready)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	struct state state = {
		.pid = getpid(),
		.private = !!(setup->sampling.flags & SIFIVE_TRACE_SAMPLING_KERNEL),
	};
	struct sigaction action = { .sa_handler = tell_to_stop };
	struct objects objects = { .count = 0 };
	struct names names = { .all = true };
	struct sifive_trace_status capture;
	struct perf_device device;
	struct watch watch;
	sigset_t all, none;
	size_t known, waited = 0;
	int error;

	setup->sampling.flags |= SIFIVE_TRACE_SAMPLING_ALL | SIFIVE_TRACE_SAMPLING_THREADS;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &none);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (capture_begin(&device, setup, false) || perf_device_start(&device, 0)) {
		dprintf(ready, "%s", sifive_trace_error());
		return EXIT_UNREADABLE;
	}
	state.began = device.began;
	error = watch_open(&watch, false, true, names_open(&names) ? NULL : &names, NULL);
	if (error)
		watch_report(error);
	if (names.thread)
		names_add_all(&names);
	objects_add_all(&objects);
	known = objects.count;
	if (describe(setup, &objects, &names, &state)) {
		dprintf(ready, "cannot write to %s", DIRECTORY);
		return EXIT_UNREADABLE;
	}
	if (write(ready, "", 1) != 1)
		return EXIT_UNREADABLE;
	close(ready);
	while (!told_to_stop) {
		watch_wait(&watch, NULL, NULL, &none);
		watch_read(&watch, all_objects, &objects, &objects);
		/*
		 * Write the description less often as the number of objects grows, because each
		 * write then costs more.
		 */
		if (objects.count != known && waited++ >= objects.count / 256) {
			describe(setup, &objects, &names, &state);
			known = objects.count;
			waited = 0;
		}
		/* Sleep, so that a burst of events is handled in one pass. */
		ppoll(NULL, 0, &pause, &none);
	}

	perf_device_stop(&device);
	state.ran = device.ran;
	watch_read(&watch, all_objects, &objects, &objects);
	objects.late = watch_late(&watch);
	watch_close(&watch);
	/* Find running programs' objects again, so that these objects count as the most recent. */
	objects_add_all(&objects);
	if (!perf_device_capture(&device, &capture)) {
		state.bytes = capture.bytes;
		state.samples = capture.samples;
		state.ended = true;
	}
	describe(setup, &objects, &names, &state);
	names_close(&names);
	perf_device_close(&device);
	return EXIT_OK;
}

/* Create the directory. Use an existing directory only if no other user can create links in it. */
static int make_dir(void)
{
	struct stat status;

	if ((mkdir(RUN, 0755) && errno != EEXIST) ||
	    (mkdir(DIRECTORY, 0755) && errno != EEXIST) ||
	    lstat(DIRECTORY, &status)) {
		report("%s: %s", DIRECTORY, strerror(errno));
		return -1;
	}
	if (S_ISDIR(status.st_mode) && status.st_uid == geteuid())
		return 0;
	report(DIRECTORY " belongs to another user: remove it");
	return -1;
}

static int start(struct setup *setup)
{
	char reason[1024] = "";
	int ends[2], null;
	ssize_t length;
	pid_t pid;

	if (make_dir())
		return EXIT_UNREADABLE;
	if (pipe2(ends, O_CLOEXEC) || (pid = fork()) < 0) {
		report("cannot create a process: %s", strerror(errno));
		return EXIT_UNREADABLE;
	}
	if (!pid) {
		close(ends[0]);
		setsid();
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		_exit(hold(&setup->parsed, ends[1]));
	}
	close(ends[1]);
	length = read(ends[0], reason, sizeof(reason) - 1);
	close(ends[0]);
	if (length <= 0 || *reason) {
		report("%s", *reason ? reason :
		       "the background process has ended");
		return EXIT_UNREADABLE;
	}
	report("recording (background process %d): end it with sifive-trace stop, and write it to a file with sifive-trace dump",
	       (int)pid);
	return EXIT_OK;
}

static int command_start(int argc, char **argv)
{
	static struct start options;
	struct setup *setup = &options.setup;
	int error;

	setup_init(setup);
	error = cli_parse(&start_command, &options, argc, argv);
	if (error)
		return error;
	if (optind < argc)
		return usage_error("start accepts no program: use sifive-trace record %s",
				   argv[optind]);
	if (!setup_sampled(setup))
		setup->options.interval = SETUP_INTERVAL;
	if (options.wrap)
		setup->options.flags |= SIFIVE_TRACE_RING;
	if (setup_finish(setup))
		return EXIT_USAGE;
	setup_ignored("start");
	ignore_failed_writes();
	return start(setup);
}

const struct cli_command start_command = {
	.name = "start",
	.run = command_start,
	.summary = "record everything that runs, until stop",
	.help = "Record samples of everything that runs on the CPUs, until sifive-trace stop.",
	.groups = start_groups,
	.status = "Exit status: 0 recording, 2 usage error, 3 input or output error.",
};

/* ---- stop -------------------------------------------------------------- */

static const struct cli_group no_groups[] = { { .options = NULL } };

static int parse_plain(const struct cli_command *command, int argc, char **argv)
{
	int rc = cli_parse(command, NULL, argc, argv);

	return rc ? rc : cli_arguments(command, 0, argc, argv);
}

static int command_stop(int argc, char **argv)
{
	const struct timespec step = { .tv_nsec = 10000000 };
	struct sifive_trace_status status;
	struct state state;
	int fd, rc, steps;
	char who[64];

	rc = parse_plain(&stop_command, argc, argv);
	if (rc)
		return rc;
	fd = open_status(&status);
	if (fd < 0)
		return EXIT_UNREADABLE;
	if (!read_state(&state) || !is_ours(&status, &state)) {
		machine_process(status.holder, who, sizeof(who));
		if (status.holder)
			report("no recording that sifive-trace start began is running; process %s holds the trace hardware",
			       who);
		else
			report("no recording that sifive-trace start began is running");
		close(fd);
		return EXIT_UNREADABLE;
	}
	close(fd);
	rc = kill(state.pid, SIGTERM);
	for (steps = 0; !rc && steps < STOP_STEPS && !kill(state.pid, 0); steps++)
		nanosleep(&step, NULL);
	if (rc || steps == STOP_STEPS) {
		report("process %d did not end: %s", state.pid,
		       rc ? strerror(errno) : "see the kernel's log");
		return EXIT_UNREADABLE;
	}
	if (!read_state(&state) || !state.ended) {
		report("the recording has ended, but its state could not be written to %s: free space there before the next start; sifive-trace dump will write this recording without the names of its counters and programs",
		       DIRECTORY);
		return EXIT_UNREADABLE;
	}
	report("ended: %" PRIu64 " samples, %" PRIu64 " bytes: write them to a file with sifive-trace dump",
	       state.samples, state.bytes);
	return EXIT_OK;
}

const struct cli_command stop_command = {
	.name = "stop",
	.run = command_stop,
	.summary = "end the recording that start began",
	.help = "End the recording that sifive-trace start began. The recorded data is kept until the next recording; write it to a file with sifive-trace dump.",
	.groups = no_groups,
	.status = "Exit status: 0 done, 2 usage error, 3 no recording, or it did not end.",
};

/* ---- pause, resume ----------------------------------------------------- */

/*
 * Pause the recording or, with SIFIVE_TRACE_PAUSE_END, resume it. Only processes with the right to
 * trace can open the device for writing.
 */
static int steer(uint32_t flags, struct sifive_trace_status *status)
{
	struct sifive_trace_run run = { .size = sizeof(run), .flags = flags };
	int fd = open(machine_device(), O_RDWR | O_CLOEXEC), error;

	*status = (struct sifive_trace_status){ .size = sizeof(*status) };
	error = fd < 0 || ioctl(fd, SIFIVE_TRACE_IOC_PAUSE, &run) ? errno : 0;
	if (fd >= 0 && ioctl(fd, SIFIVE_TRACE_IOC_STATUS, status) && !error)
		error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return error ? -1 : 0;
}

/* Return a hint about how to fix the error in errno. */
static const char *steer_hint(void)
{
	switch (errno) {
	case ENXIO:
		return "begin a recording with sifive-trace record or start";
	case EPERM:
	case EACCES:
		return "it is another process's recording: run this as root";
	case ENOTTY:
		return "the kernel module is too old: load the one from this version";
	case EOPNOTSUPP:
		return "record with --sink sba";
	case ENOSPC:
		return "the recording has ended: record with a larger -b, or --on-full drain";
	default:
		return "see sifive-trace info";
	}
}

static int command_steer(const struct cli_command *command, uint32_t flags, int argc,
			 char **argv)
{
	struct sifive_trace_status status;
	char who[64];
	int rc = parse_plain(command, argc, argv);

	if (rc)
		return rc;
	rc = steer(flags, &status);
	if (rc) {
		report("cannot %s the recording: %s; %s", command->name,
		       *status.message ? (const char *)status.message : strerror(errno),
		       steer_hint());
		return EXIT_UNREADABLE;
	}
	machine_process(status.holder, who, sizeof(who));
	if (flags)
		report("recording of process %s continues after %" PRIu64 " pause%s of %.3f s in total",
		       who, (uint64_t)status.pauses, status.pauses == 1 ? "" : "s",
		       (double)status.paused / 1e9);
	else
		report("recording of process %s is paused: continue it with sifive-trace resume", who);
	return EXIT_OK;
}

static int command_pause(int argc, char **argv)
{
	return command_steer(&pause_command, 0, argc, argv);
}

const struct cli_command pause_command = {
	.name = "pause",
	.run = command_pause,
	.summary = "pause a recording until resume",
	.help = "Pause the recording in progress, whether record, start or a program that uses the library began it. The program continues, but is not recorded until sifive-trace resume.",
	.groups = no_groups,
	.status = "Exit status: 0 paused, 2 usage error, 3 nothing to pause, or failure.",
};

static int command_resume(int argc, char **argv)
{
	return command_steer(&resume_command, SIFIVE_TRACE_PAUSE_END, argc, argv);
}

const struct cli_command resume_command = {
	.name = "resume",
	.run = command_resume,
	.summary = "continue a paused recording",
	.help = "Continue the recording that sifive-trace pause has interrupted.",
	.groups = no_groups,
	.status = "Exit status: 0 recording, 2 usage error, 3 nothing to continue, or failure.",
};

/* ---- status ------------------------------------------------------------ */

static void show_sinks(int fd, const struct sifive_trace_status *status)
{
	struct sifive_trace_sink sink;
	char kind[32];
	uint32_t i;

	for (i = 0; i < status->sinks; i++) {
		sink = (struct sifive_trace_sink) {
			.size = sizeof(sink), .index = i,
		};
		if (ioctl(fd, SIFIVE_TRACE_IOC_SINK, &sink))
			continue;
		machine_sinks(1u << sink.kind, kind, sizeof(kind));
		printf("sink %-7s %s, %" PRIu64 " of %" PRIu64 " bytes%s%s\n",
		       sink.name, kind, (uint64_t)sink.bytes,
		       (uint64_t)sink.buffer,
		       sink.flags & SIFIVE_TRACE_STATUS_FULL ? ", full" :
		       sink.flags & SIFIVE_TRACE_STATUS_WRAPPED ? ", wrapped" : "",
		       sink.flags & SIFIVE_TRACE_STATUS_SINK_ERROR ?
		       ", error: bytes are missing" : "");
	}
}

static int command_status(int argc, char **argv)
{
	struct sifive_trace_status status;
	struct state state;
	char text[256];
	int fd, rc;

	rc = parse_plain(&status_command, argc, argv);
	if (rc)
		return rc;
	fd = open_status(&status);
	if (fd < 0)
		return EXIT_UNREADABLE;
	rc = status.flags & SIFIVE_TRACE_STATUS_CONFIGURED ? EXIT_OK :
							     EXIT_LOSSES;
	machine_process(status.holder, text, sizeof(text));
	if (rc)
		puts("session      none");
	else
		printf("session      process %s, %s%s\n", text,
		       status.flags & SIFIVE_TRACE_STATUS_PAUSED ?
		       "paused until sifive-trace resume" :
		       status.flags & SIFIVE_TRACE_STATUS_RUNNING ?
		       "running" : "stopped",
		       read_state(&state) && is_ours(&status, &state) ?
		       ": end it with sifive-trace stop" : "");
	show_sinks(fd, &status);
	printf("samples      %" PRIu64 ", and %" PRIu64 " that could not be written\n",
	       (uint64_t)status.samples, (uint64_t)status.samples_lost);
	if (status.switches || status.switches_lost)
		printf("switches     %" PRIu64 ", and %" PRIu64 " that could not be written\n",
		       (uint64_t)status.switches, (uint64_t)status.switches_lost);
	if (status.switches_processes)
		printf("processes    %" PRIu64 ", and their children, without switches: too many ran at once\n",
		       (uint64_t)status.switches_processes);
	if (status.switches_elsewhere)
		printf("elsewhere    threads started running %" PRIu64 " times on CPUs that are not recorded\n",
		       (uint64_t)status.switches_elsewhere);
	if (status.wakeups_elsewhere)
		printf("wake-ups     %" PRIu64 " by CPUs that are not recorded\n",
		       (uint64_t)status.wakeups_elsewhere);
	if (status.pauses)
		printf("pauses       %" PRIu64 ", %.3f s in all\n",
		       (uint64_t)status.pauses, (double)status.paused / 1e9);
	if (status.stalls)
		printf("stalls       %u encoders stalled their hart, or lost messages\n",
		       status.stalls);
	if (status.flags & SIFIVE_TRACE_STATUS_CHANGED)
		printf("registers    of %u components were changed while they ran: messages may be missing\n",
		       machine_changed(&status));
	if (status.counters_lost) {
		machine_counters(status.counters_lost, text, sizeof(text));
		printf("counters     cannot be trusted: %s\n", text);
	}
	close(fd);
	return rc;
}

const struct cli_command status_command = {
	.name = "status",
	.run = command_status,
	.summary = "show the current session and its captured data",
	.help = "Show the session that holds the trace hardware, and what it has recorded.",
	.groups = no_groups,
	.status = "Exit status: 0 a session holds the hardware, 1 there is no session, 2 usage error, 3 input or output error.",
};

/* ---- dump -------------------------------------------------------------- */

static const struct cli_option dump_options[] = {
	{ .letter = 'o', .name = "output", .value = "PATH",
	  .help = "file to write to, or directory for trace.rtd (default: trace.rtd)",
	  .set = cli_text },
	{ .name = NULL }
};

static const struct cli_group dump_groups[] = {
	{ NULL, dump_options, 0 }, { .options = NULL }
};

/* Return whether bytes are left to write: each byte of a drained capture can be read only once. */
static bool has_bytes(int fd, const struct sifive_trace_status *status)
{
	uint64_t left = 0, given = 0;
	struct sifive_trace_sink sink;
	uint32_t i;

	for (i = 0; i < status->sinks && !capture_sink(fd, i, &sink); i++) {
		left += sink.bytes;
		given += sink.given;
	}
	if (left || !given)
		return true;
	report("nothing is left to write: the capture is drained, and all its %" PRIu64 " bytes have been read: use the file that their reader wrote, or record with --on-full stop",
	       given);
	return false;
}

static int dump(const char *path)
{
	struct objects objects = { .count = 0 };
	struct names names = { .count = 0 };
	struct sifive_trace_status status;
	const char *description = NULL;
	struct state state;
	uint64_t ran = 0;
	int fd, rc;

	fd = open_status(&status);
	if (fd < 0)
		return EXIT_UNREADABLE;
	if (!has_bytes(fd, &status)) {
		close(fd);
		return EXIT_UNREADABLE;
	}
	/* The state saved by start may describe a capture older than the driver's. */
	if (read_state(&state) &&
	    (is_ours(&status, &state) ||
	     (state.ended && state.bytes == status.bytes &&
	      state.samples == status.samples)))
		description = DESCRIPTION;
	else
		report("sifive-trace start did not begin this capture: the side-car file lacks counters, programs and the selection of functions");
	if (description && eaccess(description, R_OK)) {
		report("%s: %s: run dump as the user who ran sifive-trace start", description,
		       strerror(errno));
		close(fd);
		return EXIT_UNREADABLE;
	}
	/* Another program's capture may contain kernel addresses. */
	if (!description || state.private)
		files_restrict();
	if (description)
		ran = state.ended ? state.ran : perf_device_now() - state.began;
	rc = capture_save(fd, path, description, description ? NULL : &objects,
			  NULL, ran, false);
	close(fd);
	if (rc)
		return EXIT_UNREADABLE;
	if (description && state.private)
		kallsyms_copy(path);
	else
		files_remove_names(path);
	if (description) {
		objects.left_out = state.left_out;
		objects.missed = state.missed;
		objects.late = state.late;
		objects.ambiguous = state.ambiguous;
		objects_report(&objects);
		names.left_out = state.names_left_out;
		names.missed = state.names_missed;
		names_report(&names);
	}
	files_show(path, false);
	return EXIT_OK;
}

static int command_dump(int argc, char **argv)
{
	const char *output = NULL;
	char path[PATH_MAX];
	int rc = cli_parse(&dump_command, &output, argc, argv);

	if (rc)
		return rc;
	if (optind < argc)
		return usage_error("dump takes no argument: \"%s\" is unexpected: name the file with -o",
				   argv[optind]);
	if (files_path(output, path, sizeof(path)))
		return EXIT_USAGE;
	ignore_failed_writes();
	return dump(path);
}

const struct cli_command dump_command = {
	.name = "dump",
	.run = command_dump,
	.summary = "write the recorded data to a file",
	.help = "Write the last recording to a file, even while it runs, and its side-car file to PATH.meta.",
	.groups = dump_groups,
	.status = "Exit status: 0 done, 2 usage error, 3 input or output error.",
};

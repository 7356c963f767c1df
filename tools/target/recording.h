/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Defines the state of one run of sifive-trace record. All recording methods share this state. */
#ifndef SIFIVE_TRACE_RECORDING_H
#define SIFIVE_TRACE_RECORDING_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "setup.h"

#include "attach.h"
#include "calls.h"
#include "capture.h"
#include "descendants.h"
#include "drain.h"
#include "kcore.h"
#include "launch.h"
#include "lock.h"
#include "perf_maps.h"
#include "program.h"
#include "requests.h"
#include "select.h"
#include "tree.h"
#include "trigger.h"
#include "watch.h"

/**
 * struct recording - state of one run of the command
 * @setup:	settings of the recording
 * @program:	the program to record
 * @argv:	arguments of the program
 * @library:	the library to preload, empty if none
 * @output:	path of the trace
 * @patterns:	patterns of -F
 * @part:	selection of the recorded calls of each thread: --from, --to and --depth; and, after
 *		the filter has been made, -F, --filter and --auto-filter
 * @percent:	percentage of --auto-filter, or 0 if not given
 * @file:	value of -o
 * @load:	value of --library, or NULL for the installed library
 * @all:	set by -a, to sample everything that runs
 * @attach:	running processes from -p, -u or -G, which are recorded instead of a program
 * @command:	program to run, and its arguments, while running processes are recorded; empty to
 *		record until these processes end
 * @children:	set by --children, which makes it an error if child processes cannot be recorded
 * @alone:	set by --no-children, to record only the program, and to suppress reports of
 *		processes that are not recorded
 * @loads:	set if the library, preloaded or linked, records the program
 * @firmware:	set if firmware counts any event, so that the kernel writes all records
 * @sampled:	set if the user requested samples
 * @join:	set if the command holds the session, and processes that use the library join it
 * @no_join:	why processes cannot join; "" if they can, or if this was not checked
 * @described:	number of programs, objects and threads that the preliminary side-car file
 *		describes
 * @describe:	time at which that file may be written again, in nanoseconds of CLOCK_MONOTONIC
 * @tree:	recorded processes, if @join or @attach is set
 * @device:	the session, if the command itself holds it
 * @broken:	set if STOP of @device has returned an error
 * @watch:	events for loaded objects, if @device is set or a trigger waits for its function to
 *		be loaded
 * @objects:	programs and shared objects in memory
 * @names:	threads that do not use the library, if the trace distinguishes threads
 * @descendants: processes that the program creates; unused with -a, -p, -u, -G and --no-children
 * @launched:	result of running the program
 * @drain:	state of copying the capture while it runs, if it is drained
 * @locks:	lock files of the traces, if they are drained
 * @mark:	the capture of a program that traces itself
 * @on_full:	enum on_full
 * @usual:	set if --on-full was not given; a capture that cannot be drained then stops when the
 *		buffer is full
 * @size:	limit of --size in bytes, or 0 if no limit
 * @time:	limit of --time in nanoseconds, or 0 if no limit
 * @pieces:	length of a piece, from --rotate
 * @keep:	number of files to keep, from --keep, or 0 for all; never 0 if @snapshot is set
 * @quiet:	whether to print only errors and losses
 * @calls:	enum calls_of, from --calls
 * @mode:	enum calls_mode, from --instruction-mode
 * @snapshot:	set by --snapshot, to write the ring upon each SIGUSR2
 * @snapshots:	number of snapshots written
 * @covered:	time at which the latest snapshot was complete; writing it may have slowed down
 *		calls before that time
 * @unwritten:	set if a snapshot could not be written, after which no more are taken
 * @reached, @slower: triggers of --trigger and --slower-than
 * @requests:	requests of recorded programs for snapshots, if @snapshot is set
 * @hit:	call that triggered the next file to be written
 * @last:	latest triggering call without a snapshot; named in the final file if the program
 *		ends
 * @latest:	trigger of @last, or NULL if there is no such call
 * @files:	path of the directory for copies
 * @kernel:	the copy of the kernel's code, if its calls were requested
 * @shared:	the kernel's objects, if @tree describes the processes' objects
 * @maps:	copies of the lists and dumps of generated functions
 * @archive:	set by --archive, to copy the objects' files
 * @mask:	file mode creation mask of the program
 */
struct recording {
	struct setup	setup;
	struct program	program;
	char		**argv;
	char		library[PATH_MAX];
	char		output[PATH_MAX];
	struct cli_list	patterns;
	double		percent;
	struct meta_part part;
	const char	*file;
	const char	*load;
	struct perf_device device;
	bool		broken;
	struct watch	watch;
	struct objects	objects;
	struct names	names;
	struct descendants	descendants;
	struct launched	launched;
	struct drain	drain;
	struct locks	locks;
	struct capture_mark mark;
	int		on_full;
	bool		usual;
	uint64_t	size;
	uint64_t	time;
	struct setup_pieces pieces;
	int		keep;
	bool		all;
	struct attach	attach;
	char		**command;
	bool		children;
	bool		alone;
	bool		loads;
	bool		firmware;
	bool		sampled;
	bool		join;
	char		no_join[512];
	bool		quiet;
	int		calls;
	int		mode;
	bool		snapshot;
	unsigned int	snapshots;
	uint64_t	covered;
	bool		unwritten;
	struct trigger	reached;
	struct trigger	slower;
	struct requests	requests;
	struct trigger_hit hit;
	struct trigger_hit last;
	struct trigger	*latest;
	char		files[PATH_MAX + 8];
	struct kcore	kernel;
	struct objects	shared;
	struct perf_maps maps;
	bool		archive;
	mode_t		mask;
	struct tree	tree;
	uint64_t	described;
	uint64_t	describe;
};

/**
 * record_with_library() - record a single program with the library, in the program's session
 *
 * Return: the exit status.
 */
int record_with_library(struct recording *r);

/**
 * record_session() - run the program in a session of the command
 *
 * The kernel samples the program or, with -a, everything. If @join is set, processes that
 * use the library join the session. Return: the exit status.
 */
int record_session(struct recording *r);

/**
 * record_check_join() - check that processes can join the recording; return 0, or -1 with the
 * reason in no_join
 */
int record_check_join(struct recording *r);

/** recording_give_library() - for launch.before: load the library into the program */
int recording_give_library(void *argument);

/** recording_limited() - return whether --from or --depth was given */
static inline bool recording_limited(const struct recording *r)
{
	return r->part.from || r->part.depth;
}

/**
 * recording_check_filter() - return 0, or -1 after printing an error if nothing in the program
 * would be recorded
 */
int recording_check_filter(const struct recording *r);

/**
 * record_snapshot() - write the content of the ring to the next numbered file
 *
 * Return: 0; 1 if the program is not recording; or -1 after printing an error, in which case no
 * more snapshots are taken.
 */
int record_snapshot(struct recording *r);

/**
 * recording_triggers() - write snapshots for the calls that --trigger and --slower-than select, and
 * for requests
 * @ended:	set if the program has ended: take no more snapshots, and name the last selected
 *		call in the final file
 */
void recording_triggers(struct recording *r, bool ended);

/**
 * recording_end_snapshots() - print statistics of the snapshots
 * @written:	set if the final file exists
 * @status:	the exit status
 *
 * Return: the exit status.
 */
int recording_end_snapshots(const struct recording *r, bool written, int status);

/**
 * recording_announce() - print what will be recorded; @library: set if the library records the
 * program
 */
void recording_announce(const struct recording *r, bool library);

/**
 * recording_announce_stop() - report that the default, draining the buffer, is not possible, and
 * @why
 */
void recording_announce_stop(const struct recording *r, const char *why);

/** recording_attaches() - return whether already running processes are recorded */
static inline bool recording_attaches(const struct recording *r)
{
	return attach_wanted(&r->attach);
}

/** recording_name_running() - treat the first running process as the program */
void recording_name_running(struct recording *r);

/**
 * recording_watch() - start watching perf's events, including those of threads if @threads is set
 */
void recording_watch(struct recording *r, bool threads);

/** recording_report_signal() - report the likely reason why signal @number ended the program */
void recording_report_signal(int number);

/**
 * recording_report_end() - report what is missing because the program did not end by exit()
 * @number:	number of the signal that ended the program, or 0
 */
void recording_report_end(int number);

/** recording_report_missed() - report lost events of the processes that the program creates */
void recording_report_missed(const struct recording *r);

/** recording_report_alone() - report processes missing from a recording of one process */
void recording_report_alone(const struct recording *r);

/**
 * recording_stay() - restrict the program's process, the caller, to the CPUs from -C; return 0 or
 * -1
 */
int recording_stay(const struct recording *r);

/**
 * recording_refuse() - report sifive_trace_error() before the program has run; return EXIT_RECORD
 */
int recording_refuse(void);

/** recording_drains() - return whether the capture is read while it runs */
bool recording_drains(const struct recording *r);

/** recording_in_pieces() - return whether --rotate was given */
bool recording_in_pieces(const struct recording *r);

/**
 * recording_remove_files() - remove an earlier recording with the same name, or the incomplete
 * files of this recording
 */
void recording_remove_files(const struct recording *r);

/** recording_show_files() - print which files were written */
void recording_show_files(const struct recording *r);

/**
 * recording_take() - take the hardware
 * @attempt:	takes the hardware, and returns 0, or -1 with sifive_trace_error()
 *
 * Without --on-full, the capture is drained only if the driver, the sinks and the buffer allow it.
 * Return: 0, or -1 with sifive_trace_error().
 */
int recording_take(struct recording *r, int (*attempt)(struct recording *r));

/**
 * recording_restrict() - make new files that contain kernel addresses or stacks readable only by
 * the user
 *
 * Return: the previous file mode creation mask.
 */
mode_t recording_restrict(const struct recording *r);

/**
 * recording_has_kernel() - return whether the trace contains kernel addresses, and perhaps stacks,
 * which only the user may read
 */
bool recording_has_kernel(const struct recording *r);

/**
 * recording_drain() - create the files if the capture is drained
 * @capture:	number of the capture
 * @sinks:	number of sinks of the capture
 *
 * Return: 0, or -1 after printing an error.
 */
int recording_drain(struct recording *r, uint32_t capture, uint32_t sinks);

/** recording_forget_files() - remove the files, because the program was not run */
void recording_forget_files(struct recording *r);

/**
 * recording_see_objects() - read pending mapping events, and probe functions in newly loaded
 * objects
 */
void recording_see_objects(struct recording *r);

/** recording_stop() - stop the command's session; even after an error, the data can be read */
void recording_stop(struct recording *r);

/**
 * recording_meanwhile() - for launch.meanwhile: copy the trace and read mapping events before the
 * buffers for them are full
 * @argument:	the recording
 */
void recording_meanwhile(void *argument, const sigset_t *mask);

#endif /* SIFIVE_TRACE_RECORDING_H */

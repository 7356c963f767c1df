/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Defines the state of one run of sifive-trace record, which all recording methods share. */
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
#include "launch.h"
#include "program.h"
#include "select.h"
#include "tree.h"
#include "trigger.h"
#include "watch.h"

/**
 * struct recording - state of one run of the command
 * @setup:	settings of the recording
 * @program:	the running program
 * @argv:	arguments of the program
 * @library:	the library to preload, empty if none
 * @output:	path of the trace
 * @patterns:	-F
 * @part:	selection of the recorded calls of each thread: --from, --to and --depth; and, after
 *		the filter has been made, -F, --filter and --auto-filter
 * @percent:	--auto-filter, or 0 if not given
 * @file:	-o
 * @load:	--library, or NULL for the installed one
 * @all:	-a: sample everything that runs
 * @attach:	-p, -u, -G: the running processes to record, instead of the program that the
 *		command runs
 * @command:	if @attach: program to run during the recording, and its arguments; empty to
 *		record until the processes end
 * @children:	--children: also record the processes that the program creates
 * @alone:	--no-children: do not report the processes that are not recorded
 * @loads:	set if the library, preloaded or linked, records the program
 * @firmware:	firmware counts one of the events, so the kernel writes all records
 * @sampled:	the user requested samples
 * @join:	if @children: set if the command holds the session, which processes that use the
 *		library join
 * @tree:	recorded processes, if @join or @attach is set
 * @device:	the session, if the command itself holds it
 * @broken:	if @device is set: STOP has returned an error
 * @watch:	events that show loaded objects, if @device is set or a trigger waits for
 *		its function
 * @objects:	programs and shared objects in memory
 * @names:	threads that do not use the library, if the trace distinguishes threads
 * @descendants: the processes that the program creates, unless the user excludes or names them
 * @launched:	the program
 * @drain:	state of copying the capture while it runs, if it is drained
 * @mark:	the capture of a program that traces itself
 * @on_full:	enum on_full
 * @usual:	--on-full was not given: a capture that cannot be drained stops when the buffer
 *		is full
 * @size:	--size, or 0 for no limit
 * @time:	--time in nanoseconds, or 0 if no limit
 * @pieces:	--rotate
 * @keep:	--keep, or 0 for all; never 0 if @snapshot is set
 * @quiet:	whether to print only errors and losses
 * @calls:	--calls: enum calls_of
 * @mode:	--instruction-mode: enum calls_mode
 * @snapshot:	--snapshot: write the ring at each SIGUSR2
 * @snapshots:	number of snapshots written
 * @covered:	time at which the latest snapshot was complete; writing it may have slowed down
 *		earlier calls
 * @unwritten:	a snapshot could not be written, so no more are taken
 * @reached, @slower: --trigger and --slower-than
 * @hit:	the call that triggered the next file
 * @last:	the latest call without a file, for the last file if the program ends
 * @latest:	trigger of that call, or NULL if there is no such call
 * @files:	the folder of copies
 * @archive:	--archive: copy the objects' files
 * @mask:	file mode mask of the program
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
	bool		quiet;
	int		calls;
	int		mode;
	bool		snapshot;
	unsigned int	snapshots;
	uint64_t	covered;
	bool		unwritten;
	struct trigger	reached;
	struct trigger	slower;
	struct trigger_hit hit;
	struct trigger_hit last;
	struct trigger	*latest;
	char		files[PATH_MAX + 8];
	bool		archive;
	mode_t		mask;
	struct tree	tree;
};

/**
 * record_with_library() - have the library record one program, in the program's own session
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

/** recording_give_library() - for launch.before: load the library into the program */
int recording_give_library(void *argument);

/** recording_limited() - whether --from or --depth was given */
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
 * Return: 0; 1 if the program is not recording; -1 after printing an error: no more snapshots
 * are taken.
 */
int record_snapshot(struct recording *r);

/**
 * recording_triggers() - write snapshots for the calls that --trigger and --slower-than select
 * @ended:	the program has ended: take no more snapshots, and name the last such call in the
 *		final file
 */
void recording_triggers(struct recording *r, bool ended);

/**
 * recording_end_snapshots() - print statistics
 * @written:	the last file exists
 * @status:	the exit status
 *
 * Return: the exit status.
 */
int recording_end_snapshots(const struct recording *r, bool written, int status);

/**
 * recording_announce() - print what will be recorded; if @library is set, that the
 * library records it
 */
void recording_announce(const struct recording *r, bool library);

/**
 * recording_announce_stop() - without --on-full, report that a buffer cannot be drained, and
 * @why
 */
void recording_announce_stop(const struct recording *r, const char *why);

/** recording_attaches() - whether the processes are already running */
static inline bool recording_attaches(const struct recording *r)
{
	return attach_wanted(&r->attach);
}

/** recording_name_running() - treat the first of the running processes as the program */
void recording_name_running(struct recording *r);

/** recording_watch() - start watching; events of threads are received if @threads is set */
void recording_watch(struct recording *r, bool threads);

/**
 * recording_report_end() - report what is missing because the program did not end by exit()
 * @number:	the signal that ended it, or 0
 */
void recording_report_end(int number);

/** recording_report_missed() - report lost events of the processes that the program creates */
void recording_report_missed(const struct recording *r);

/** recording_report_alone() - report the processes that a recording of one process lacks */
void recording_report_alone(const struct recording *r);

/** recording_stay() - restrict the program's process to the CPUs of -C, in that process; 0 or -1 */
int recording_stay(const struct recording *r);

/** recording_refuse() - report an error before the program has run: EXIT_RECORD */
int recording_refuse(void);

/** recording_drains() - whether the capture is read while it runs */
bool recording_drains(const struct recording *r);

/** recording_in_pieces() - whether --rotate was given */
bool recording_in_pieces(const struct recording *r);

/**
 * recording_remove_files() - remove an earlier recording with this name, or the
 * incomplete files of this one
 */
void recording_remove_files(const struct recording *r);

/** recording_show_files() - print what was written */
void recording_show_files(const struct recording *r);

/**
 * recording_take() - take the hardware
 * @attempt:	takes the hardware, and returns 0, or -1 with sifive_trace_error()
 *
 * The capture is drained; without --on-full, it is not if the driver, a sink or the buffer
 * does not allow draining. Return: 0, or -1 with sifive_trace_error().
 */
int recording_take(struct recording *r, int (*attempt)(struct recording *r));

/**
 * recording_restrict() - make new files with kernel addresses or stacks readable only by the user
 *
 * Return: the file mode mask as it was.
 */
mode_t recording_restrict(const struct recording *r);

/**
 * recording_has_kernel() - whether the trace contains kernel addresses, and perhaps stacks, which
 * only the user may read
 */
bool recording_has_kernel(const struct recording *r);

/**
 * recording_drain() - create the files now if the capture is drained
 * @capture:	number of the capture
 * @sinks:	number of sinks of the capture
 *
 * Return: 0, or -1 after printing an error.
 */
int recording_drain(struct recording *r, uint32_t capture, uint32_t sinks);

/** recording_forget_files() - remove the files, because the program was not run */
void recording_forget_files(struct recording *r);

/**
 * recording_see_objects() - read the mapping events so far, and probe functions of objects
 * that were loaded later
 */
void recording_see_objects(struct recording *r);

/** recording_stop() - stop the command's session; even after an error, the data can be read */
void recording_stop(struct recording *r);

/**
 * recording_meanwhile() - for launch.meanwhile: copy the trace and read mapping events before
 * their buffers are full
 * @argument:	the recording
 */
void recording_meanwhile(void *argument, const sigset_t *mask);

#endif /* SIFIVE_TRACE_RECORDING_H */

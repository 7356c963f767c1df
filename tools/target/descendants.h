/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tracks the processes that descend from the command, and the programs that they execute, using
 * perf's events. The result shows which processes have not joined the recording: processes without
 * the library in memory, and processes with the library that have not written a file, either after
 * fork() or after executing a program.
 */
#ifndef SIFIVE_TRACE_DESCENDANTS_H
#define SIFIVE_TRACE_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../hash.h"
#include "ticks.h"
#include "tree.h"

struct perf_event_header;

/**
 * struct descendants - the descendants of the command
 * @image:	the @count programs in memory, in order of appearance: one for each process, and
 *		one more for each program that it executes
 * @index:	index of each process's latest entry in @image
 * @programs:	also keep the programs that processes execute; set it before the first event
 * @left_out:	number of programs that were not kept
 * @missed:	number of lost events
 * @changes:	number of programs and mappings that were added
 * @mapped:	set if there is a mapping of a program without the library
 */
struct descendants {
	struct descendants_image	*image;
	size_t			count;
	struct hash		index;
	bool			programs;
	uint64_t		left_out;
	uint64_t		missed;
	uint64_t		changes;
	bool			mapped;
};

/**
 * descendants_open() - start with the calling process; return 0, or -1 after reporting that memory
 * ran out
 */
int descendants_open(struct descendants *d);

/** descendants_close() - free the processes; a zeroed struct is allowed */
void descendants_close(struct descendants *d);

/**
 * descendants_event() - apply an event if it is about a process
 * @record:	the event, followed by a NUL; events must be in the order of their times
 */
void descendants_event(struct descendants *d, const struct perf_event_header *record);

/**
 * struct descendants_rest - the processes that have not joined
 * @lost:	number of programs with the library, and of copies of such processes, that have not
 *		joined
 * @others:	number of processes whose last program lacks the library
 * @names:	names of some of the processes counted in @others
 * @left_out:	number of programs that exceeded a limit
 */
struct descendants_rest {
	size_t		lost;
	size_t		others;
	char		names[128];
	uint64_t	left_out;
};

/**
 * descendants_rest() - find the processes that have not joined, and describe those without the
 * library
 * @program:	process id of the program that the command runs; that program is not counted, but a
 *		program that the process executes later is
 * @argv:	the program's command line
 * @clock:	converts times to the trace's clock
 */
void descendants_rest(struct descendants *d, pid_t program, char **argv,
		      struct tree *tree, const struct trigger_clock *clock,
		      struct descendants_rest *rest);

/**
 * descendants_running() - return the number of the command's running descendants, not counting
 * @program; 0 if unknown
 */
size_t descendants_running(const struct descendants *d, pid_t program);

/**
 * descendants_replaced() - return whether the process of @program has executed another program;
 * false if unknown. Only without @programs.
 */
bool descendants_replaced(const struct descendants *d, pid_t program);

/** descendants_children() - return the number of processes that descend from @program */
size_t descendants_children(const struct descendants *d, pid_t program);

#endif /* SIFIVE_TRACE_DESCENDANTS_H */

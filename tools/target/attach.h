/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records running processes, for record -p, -u and -G. */
#ifndef SIFIVE_TRACE_ATTACH_H
#define SIFIVE_TRACE_ATTACH_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "objects.h"
#include "tree.h"

/**
 * struct attached - a running process
 * @is:		the process, whose strings are allocated, except that argv[0] may be @is.exe
 * @began:	start time of the process, in the kernel's ticks, which distinguishes it from other
 *		processes with the same id
 * @arguments:	memory for the arguments in @is.argv
 * @objects:	objects in the process's memory
 */
struct attached {
	struct tree_process	is;
	uint64_t		began;
	char			*arguments;
	struct objects		objects;
};

/**
 * struct attach - the running processes to record
 * @pids:	value of -p, or NULL
 * @user:	value of -u, or NULL
 * @cgroup:	value of -G, or NULL
 * @process:	the @count processes, in the order of their ids
 * @id:		ids of the processes, for START
 */
struct attach {
	const char	*pids;
	const char	*user;
	const char	*cgroup;
	struct attached	*process;
	int32_t		*id;
	size_t		count;
};

/** attach_wanted() - return whether the user has selected any running processes to record */
static inline bool attach_wanted(const struct attach *attach)
{
	return attach->pids || attach->user || attach->cgroup;
}

/**
 * attach_find() - find the processes to record, and read their programs and arguments
 *
 * Return: 0, or -1 after printing an error if there is no such process, or if a process that the
 * user named cannot be recorded.
 */
int attach_find(struct attach *attach);

/**
 * attach_started() - call after START: omit processes that have ended, and reread the remaining
 * processes
 * @cpus:	the recorded CPUs; processes that may run on CPUs outside this set are reported
 */
void attach_started(struct attach *attach, const cpu_set_t *cpus);

/**
 * attach_objects() - add the objects in the processes' memory; @files is as in struct
 * objects
 */
void attach_objects(struct attach *attach, const char *files);

/** attach_objects_of() - return the objects of process @pid, or NULL if it is not recorded */
struct objects *attach_objects_of(struct attach *attach, pid_t pid);

/**
 * attach_describe() - add the recorded processes to @tree
 * @newest:	see objects_write()
 */
void attach_describe(struct attach *attach, struct tree *tree, bool newest);

/** attach_sum() - add to @sum the numbers of objects that are missing from the side-car file */
void attach_sum(const struct attach *attach, struct objects *sum);

/**
 * attach_wait() - wait for the end of the recording, in a child of the command
 * @command:	a program and its arguments, empty if none
 *
 * Executes @command or, if @command is empty, exits when all processes have ended. Return: -1 after
 * printing an error; otherwise this does not return.
 */
int attach_wait(const struct attach *attach, char **command);

void attach_free(struct attach *attach);

#endif /* SIFIVE_TRACE_ATTACH_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the running processes in a list of ids, those of a user, or those in a control group. */
#ifndef SIFIVE_TRACE_RUNNING_H
#define SIFIVE_TRACE_RUNNING_H

#include <stddef.h>
#include <sys/types.h>

/**
 * struct running - processes, in the order of their ids, each once
 * @pid:	process ids, to be freed
 * @count:	number of processes
 */
struct running {
	pid_t	*pid;
	size_t	count;
};

/**
 * running_named() - collect the processes in a list
 * @running:	set to the processes
 * @list:	"PID[,PID...]"
 *
 * Return: 0, or -1 if the text is not a list of ids.
 */
int running_named(struct running *running, const char *list);

/**
 * running_of_user() - collect the processes with the effective user @user, a name or a number
 *
 * Return: 0, or -1 after printing an error.
 */
int running_of_user(struct running *running, const char *user);

/**
 * running_in_cgroup() - collect the processes in a control group and in the groups below it
 * @cgroup:	name of the group below the cgroup2 mount, or its path
 *
 * Return: 0, or -1 after printing an error.
 */
int running_in_cgroup(struct running *running, const char *cgroup);

#endif /* SIFIVE_TRACE_RUNNING_H */

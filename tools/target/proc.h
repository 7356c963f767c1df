/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads about processes and threads in /proc. */
#ifndef SIFIVE_TRACE_PROC_H
#define SIFIVE_TRACE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * proc_dir() - return the directory with the entries of processes
 *
 * This is /proc. If /proc shows another PID namespace, in which the same ids belong to other
 * processes, it is a directory that does not exist, after a message.
 *
 * The result is always the same.
 */
const char *proc_dir(void);

/**
 * proc_each() - pass on the id of each process or thread with an entry in a directory
 * @path:	proc_dir(), a directory of a process's threads, or another one whose entries begin
 *		with ids
 * @use:	called with @argument for each id, until it returns non-zero
 *
 * Return: the last value of @use, or -1 with errno if the directory cannot be read.
 */
int proc_each(const char *path, int (*use)(void *argument, pid_t id), void *argument);

/**
 * proc_stat() - read a process's parent and start time from /proc/PID/stat
 * @began:	set to the time since boot in ticks of sysconf(_SC_CLK_TCK)
 *
 * Return: false, and change nothing, if the process has ended.
 */
bool proc_stat(pid_t pid, pid_t *parent, uint64_t *began);

/**
 * proc_status() - read a field of /proc/PID/status
 * @id:		a process or a thread
 * @name:	the field's name
 * @text:	set to the field's value, cut to @size with its NUL
 *
 * Return: false if the process has ended, or lacks the field.
 */
bool proc_status(pid_t id, const char *name, char *text, size_t size);

#endif /* SIFIVE_TRACE_PROC_H */

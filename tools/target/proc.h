/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads the states of processes and threads from /proc. */
#ifndef SIFIVE_TRACE_PROC_H
#define SIFIVE_TRACE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * proc_dir() - return the directory with the entries of processes
 *
 * If /proc shows another PID namespace, in which the same ids denote other processes, this function
 * prints a message and returns a directory that does not exist. All calls return the same result.
 *
 * Return: /proc, or a directory that does not exist.
 */
const char *proc_dir(void);

/**
 * proc_each() - pass the id of each process or thread with an entry in a directory to @use
 * @path:	proc_dir(), a directory of a process's threads, or another directory whose entries
 *		begin with ids
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
 * @text:	set to the field's value, truncated to @size bytes including the NUL
 *
 * Return: false if the process has ended, or the file lacks the field.
 */
bool proc_status(pid_t id, const char *name, char *text, size_t size);

#endif /* SIFIVE_TRACE_PROC_H */

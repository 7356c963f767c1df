/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Collects the names of threads that do not use the library, from /proc and from perf's events for
 * threads that start, exit, or change their names.
 */
#ifndef SIFIVE_TRACE_NAMES_H
#define SIFIVE_TRACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../hash.h"
#include "../output.h"

struct perf_event_header;

/**
 * struct names - threads with their names
 * @all:	set to keep all threads, clear to keep only those in processes added by names_add()
 * @children:	if @all is clear, set to also keep the threads of these processes' children
 * @thread:	the @count threads, in order of appearance
 * @index:	index of @thread by id
 * @left_out:	number of thread events that exceed the side-car file's limit
 * @missed:	number of lost events
 */
struct names {
	bool			all;
	bool			children;
	struct names_thread	*thread;
	size_t			count;
	struct hash		index;
	uint64_t		left_out;
	uint64_t		missed;
};

/** names_open() - start with an empty list; return 0, or -1 after reporting that memory ran out */
int names_open(struct names *names);

/** names_close() - free @names; a zeroed struct is allowed */
void names_close(struct names *names);

/** names_add() - add the threads of a process, unless the process has ended */
void names_add(struct names *names, pid_t process);

/** names_add_all() - add the threads of all processes */
void names_add_all(struct names *names);

/**
 * names_event() - apply an event if it is about a thread
 * @record:	the event, followed by a NUL; events must be in the order of their times
 */
void names_event(struct names *names, const struct perf_event_header *record);

/** names_each() - pass the id of each process to @use, whose return value is ignored */
void names_each(const struct names *names, int (*use)(void *argument, pid_t pid), void *argument);

/** names_omit() - omit a thread that the library has described */
void names_omit(struct names *names, pid_t tid);

/**
 * names_rows() - write at most @most threads as elements of an array
 * @between:	text before the first element
 */
void names_rows(const struct names *names, const char *between, size_t most, struct output *out);

/** names_write() - write "threads":[...] of a side-car file */
void names_write(const struct names *names, struct output *out);

/** names_report() - report which names are missing from the file */
void names_report(const struct names *names);

#endif /* SIFIVE_TRACE_NAMES_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Counts the calls of each system call, and computes their times. */
#ifndef SIFIVE_TRACE_SYSCALLS_H
#define SIFIVE_TRACE_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "switches.h"

/* Calls with larger numbers count as this number. */
#define SYSCALLS_MAX	1024

/*
 * Number of returned calls with time off the CPU to keep: a loss during such a call may be found
 * later.
 */
#define SYSCALLS_RECENT	256

/**
 * struct syscall_times - sums over all returned calls of one system call; times in ticks
 * @calls:	number of calls
 * @errors:	calls that returned an error
 * @total:	total time from call to return
 * @off:	ticks of @total in which the thread did not run
 * @longest:	time of the longest call
 */
struct syscall_times {
	uint64_t	calls;
	uint64_t	errors;
	uint64_t	total;
	uint64_t	off;
	uint64_t	longest;
};

/**
 * struct syscall_sums - sums over a thread's time, in ticks
 * @off:	time in which the thread did not run
 * @unknown:	time in which the thread may have run
 */
struct syscall_sums {
	uint64_t	off;
	uint64_t	unknown;
};

/**
 * struct syscall_now - a thread's current call; none if zeroed
 * @since:	time at which the call began
 * @before:	the thread's sums when the call began
 */
struct syscall_now {
	bool			made;
	uint32_t		number;
	uint64_t		since;
	struct syscall_sums	before;
};

/* A call that has returned. */
struct syscall_done {
	bool		made;
	bool		error;
	uint32_t	number;
	uint64_t	since;
	uint64_t	until;
	uint64_t	off;
};

/**
 * struct syscalls - the calls of all threads; empty if zeroed
 * @time:	times by call number, complete after syscalls_end(), or NULL if there were no calls
 * @doubtful:	number of calls during which records may be missing, or whose thread is unknown; not
 *		included in @time
 */
struct syscalls {
	struct syscall_times	*time;
	uint64_t		doubtful;
	/* Private: a ring of calls not yet included in @time. */
	struct syscall_done	recent[SYSCALLS_RECENT];
	unsigned int		recents;
};

/**
 * syscalls_push() - process the start of a thread's system call, or its return
 * @now:	the thread's current call, updated
 * @record:	the record, which has a time
 * @sums:	the thread's sums
 *
 * Return: false if out of memory.
 */
bool syscalls_push(struct syscalls *syscalls, struct syscall_now *now,
		   const struct trace_switch *record, struct syscall_sums sums);

/**
 * syscalls_lose() - mark the calls in a time range in which records are missing
 *
 * Calls in which the thread ran throughout are not affected.
 */
void syscalls_lose(struct syscalls *syscalls, uint64_t from, uint64_t to);

/**
 * syscalls_leave() - process the end of a thread; its current call never returns
 * @now:	the thread's current call, updated
 * @sums:	the thread's sums
 * @next:	for execve(): set to the call, which continues in the thread that takes over the
 *		id; may be NULL
 */
void syscalls_leave(struct syscall_now *now, struct syscall_sums sums, struct syscall_now *next);

/** syscalls_take_over() - begin a thread within the system call @from, unless that is empty */
void syscalls_take_over(struct syscall_now *now, struct syscall_sums sums,
			const struct syscall_now *from);

/** syscalls_end() - complete the times at the end of the trace; return false if out of memory */
bool syscalls_end(struct syscalls *syscalls);

void syscalls_free(struct syscalls *syscalls);

#endif /* SIFIVE_TRACE_SYSCALLS_H */

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See syscalls.h. */
#include <stdlib.h>
#include <string.h>

#include "syscalls.h"

/* The kernel's MAX_ERRNO: results from -4095 to -1 are errors. */
#define ERRORS	4095

/* Numbers of system calls on riscv64. */
#define EXECVE		221
#define EXECVEAT	281

static bool count(struct syscalls *syscalls, struct syscall_done *call)
{
	const uint64_t time = call->until - call->since;
	struct syscall_times *times;

	if (!call->made)
		return true;
	call->made = false;
	if (!syscalls->time)
		syscalls->time = calloc(SYSCALLS_MAX + 1, sizeof(*syscalls->time));
	if (!syscalls->time)
		return false;
	times = &syscalls->time[call->number < SYSCALLS_MAX ? call->number : SYSCALLS_MAX];
	times->calls++;
	times->errors += call->error;
	times->total += time;
	times->off += call->off;
	if (time > times->longest)
		times->longest = time;
	return true;
}

/* Keep a returned call for as long as a loss during the call may be found. */
static bool add(struct syscalls *syscalls, struct syscall_done *call)
{
	struct syscall_done *recent = &syscalls->recent[syscalls->recents % SYSCALLS_RECENT];

	if (!call->off)
		return count(syscalls, call);
	if (!count(syscalls, recent))
		return false;
	*recent = *call;
	syscalls->recents++;
	return true;
}

bool syscalls_push(struct syscalls *syscalls, struct syscall_now *now,
		   const struct trace_switch *record, struct syscall_sums sums)
{
	const struct syscall_now call = *now;
	struct syscall_done done = {
		true, record->thread >= -(uint32_t)ERRORS, call.number, call.since,
		record->stamp.time, sums.off - call.before.off,
	};

	*now = (struct syscall_now){
		record->kind == SIFIVE_TRACE_SWITCH_CALL, record->thread, record->stamp.time, sums,
	};
	if (now->made || !call.made)
		return true;
	if (sums.unknown == call.before.unknown && done.until >= done.since &&
	    done.off <= done.until - done.since)
		return add(syscalls, &done);
	syscalls->doubtful++;
	return true;
}

void syscalls_lose(struct syscalls *syscalls, uint64_t from, uint64_t to)
{
	unsigned int i;

	for (i = 0; i < SYSCALLS_RECENT && i < syscalls->recents; i++) {
		struct syscall_done *call = &syscalls->recent[i];

		if (!call->made || call->since >= to || call->until <= from)
			continue;
		call->made = false;
		syscalls->doubtful++;
	}
}

void syscalls_leave(struct syscall_now *now, struct syscall_sums sums, struct syscall_now *next)
{
	if (next && now->made && (now->number == EXECVE || now->number == EXECVEAT)) {
		*next = *now;
		next->before.off -= sums.off;
		next->before.unknown -= sums.unknown;
	}
	now->made = false;
}

void syscalls_take_over(struct syscall_now *now, struct syscall_sums sums,
			const struct syscall_now *from)
{
	if (!from->made)
		return;
	*now = *from;
	now->before.off += sums.off;
	now->before.unknown += sums.unknown;
}

bool syscalls_end(struct syscalls *syscalls)
{
	bool enough = true;
	unsigned int i;

	for (i = 0; i < SYSCALLS_RECENT && i < syscalls->recents; i++)
		enough &= count(syscalls, &syscalls->recent[i]);
	return enough;
}

void syscalls_free(struct syscalls *syscalls)
{
	free(syscalls->time);
	memset(syscalls, 0, sizeof(*syscalls));
}

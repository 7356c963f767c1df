/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* Records of context switches. linux/sifive_trace.h includes this file. */
#ifndef _UAPI_LINUX_SIFIVE_TRACE_SWITCHES_H
#define _UAPI_LINUX_SIFIVE_TRACE_SWITCHES_H

#include <linux/types.h>

/**
 * struct sifive_trace_switches - records of context switches
 * @size:	in: sizeof(struct sifive_trace_switches)
 * @flags:	in: SIFIVE_TRACE_SWITCHES_*
 * @channel:	in: stimulus register that only these records may use, one of CONFIG's @channels; or
 *		SIFIVE_TRACE_SWITCHES_OFF: record nothing
 * @reserved:	in: 0
 *
 * SIFIVE_TRACE_IOC_SWITCHES. Needs a CONFIG by the same session, and CAP_PERFMON or CAP_SYS_ADMIN.
 * Replaces the previous setting, which is kept after an error; CONFIG clears it. From START to STOP
 * the kernel writes a record to the encoder of a hart when a thread of the process that called
 * START, or of those that START names, starts or stops running there: SIFIVE_TRACE_SWITCH_*, and
 * the thread's id in the pid namespace of START's caller. At START, at the end of a pause and when
 * a CPU comes online, it writes SIFIVE_TRACE_SWITCH_BEGIN and the running thread; at STOP, at the
 * beginning of a pause and when a CPU goes offline, SIFIVE_TRACE_SWITCH_END, with id 0 if none of
 * the threads is running. For a thread that takes over its process's id at execve(), the kernel
 * writes SIFIVE_TRACE_SWITCH_EXITED and _IN. Records for which the encoder has no room are lost,
 * and STATUS counts them; SIFIVE_TRACE_SWITCH_BEGIN precedes the next record, as does _IN if that
 * record is a wake-up, call or fault. STATUS also counts how often the threads started to run on
 * CPUs that write no records.
 *
 * EINVAL: channel not in CONFIG. EPERM: capability missing. EOPNOTSUPP: the kernel has no
 * tracepoint sched_switch. EBUSY: the capture is running, or a process that has joined holds the
 * channel. ENXIO: no CONFIG on this descriptor.
 */
struct sifive_trace_switches {
	__u32	size;
	__u32	flags;
	__u32	channel;
	__u32	reserved;
};

#define SIFIVE_TRACE_SWITCHES_OFF	(~0u)

/*
 * Record the threads of all processes that have an id in the pid namespace of the process
 * that calls START. START then needs CAP_PERFMON or CAP_SYS_ADMIN too (EPERM).
 */
#define SIFIVE_TRACE_SWITCHES_ALL	(1u << 0)
/* Also record descendants of recorded processes; STATUS counts those beyond the limit. */
#define SIFIVE_TRACE_SWITCHES_CHILDREN	(1u << 1)
/*
 * Also record when threads are woken: on the hart that wakes a thread, the kernel writes
 * SIFIVE_TRACE_SWITCH_WOKEN and the thread's id. STATUS counts wake-ups by CPUs that do not write
 * records.
 */
#define SIFIVE_TRACE_SWITCHES_WAKEUPS	(1u << 2)
/*
 * Also record the threads' system calls: SIFIVE_TRACE_SWITCH_CALL and the number, and
 * SIFIVE_TRACE_SWITCH_RETURN and the low 32 bits of the result. While the session exists, all
 * processes' system calls take the kernel's slower path for tracepoints.
 */
#define SIFIVE_TRACE_SWITCHES_SYSCALLS	(1u << 3)
/*
 * Also record the threads' page faults in user mode that the kernel has handled:
 * SIFIVE_TRACE_SWITCH_FAULT, the pc and the page. While the session exists, the kernel reports all
 * processes' page faults to the driver.
 */
#define SIFIVE_TRACE_SWITCHES_FAULTS	(1u << 4)

#endif /* _UAPI_LINUX_SIFIVE_TRACE_SWITCHES_H */

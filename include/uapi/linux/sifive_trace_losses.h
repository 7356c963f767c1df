/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The page that a session's program and the kernel share: it contains loss counts, and shows which
 * sinks have no room. linux/sifive_trace.h includes this file.
 */
#ifndef _UAPI_LINUX_SIFIVE_TRACE_LOSSES_H
#define _UAPI_LINUX_SIFIVE_TRACE_LOSSES_H

#include <linux/types.h>

/**
 * struct sifive_trace_losses - what the session's program reports for later readers: records that
 * it could not write, and channels that its threads share
 * @size:	in: sizeof(struct sifive_trace_losses)
 * @capture:	out: number of the capture, as in struct sifive_trace_status
 * @signals:	records from signal handlers that interrupted a record
 * @threads:	records lost because the thread had no channel, its CPU had no encoder, or the
 *		capture was paused
 * @abandoned:	records that were left unfinished
 * @refused:	records from threads that cannot read the counters
 * @children:	records from children created by vfork()
 * @names:	threads whose names the program could not store
 * @shared:	bit n set: several threads have used channel n
 * @dropped:	records that the program dropped because a sink had no room
 * @waits:	records that the program delayed until there was room; these are not lost
 * @waited:	total delay in nanoseconds
 * @queued:	queued records from signal handlers that interrupted a record; each counts as lost
 *		until it is written
 *
 * The beginning of a page that is mapped, for reading and writing, with mmap() at
 * SIFIVE_TRACE_MMAP_LOSSES. The session's program stores its counts in this page; the kernel zeroes
 * the page at CONFIG and keeps it with the capture, even after the program has ended.
 * SIFIVE_TRACE_IOC_LOSSES reads it. EPERM: the descriptor may not read the capture.
 *
 * With SIFIVE_TRACE_CONFIG_WAIT or _DROP the kernel writes to that page, too: the byte at
 * SIFIVE_TRACE_FULL_BYTES + n is 1 while the sink of encoder n has no room.
 */
struct sifive_trace_losses {
	__u32	size;
	__u32	capture;
	__u64	signals;
	__u64	threads;
	__u64	abandoned;
	__u64	refused;
	__u64	children;
	__u64	names;
	__u64	shared;
	__u64	dropped;
	__u64	waits;
	__u64	waited;
	__u64	queued;
};

#define SIFIVE_TRACE_MMAP_LOSSES	0x1100000
#define SIFIVE_TRACE_FULL_BYTES		0x800

#endif /* _UAPI_LINUX_SIFIVE_TRACE_LOSSES_H */

/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * sifive-trace: a recorded program requests a snapshot of the running ring.
 *
 * The write pointer shows the driver where the hardware writes, but not which stores it has
 * written. So the program calls REQUEST after the stores that the snapshot must contain. Another
 * process, the recorder, waits in poll() for POLLPRI, calls REQUEST with SIFIVE_TRACE_REQUEST_LOOK,
 * and then reads the ring.
 */
#ifndef _UAPI_LINUX_SIFIVE_TRACE_REQUEST_H
#define _UAPI_LINUX_SIFIVE_TRACE_REQUEST_H

#include <linux/sifive_trace.h>

/**
 * struct sifive_trace_request - request a snapshot, or look for requests
 * @size:	in: sizeof(struct sifive_trace_request), or less if the caller does not need the
 *		members that it leaves out
 * @flags:	in: 0 or SIFIVE_TRACE_REQUEST_LOOK
 * @count:	out: number of requests since CONFIG
 * @time:	out: time of the latest request in nanoseconds of CLOCK_MONOTONIC; 0 if @count is 0
 * @thread:	out: id of the thread that made the latest request, in the pid namespace of the
 *		process that called CONFIG; 0 if it has no id there, or @count is 0
 * @reserved:	in: 0
 *
 * SIFIVE_TRACE_IOC_REQUEST, on any descriptor of /dev/sifive-trace. A request needs a running or
 * paused capture. The caller must descend from the process that called CONFIG, or be that process,
 * or use a descriptor that holds or has joined the session, or have CAP_PERFMON or
 * CAP_SYS_ADMIN.
 * poll() of a descriptor that may read the capture reports POLLPRI from a request until the same
 * open file calls REQUEST with SIFIVE_TRACE_REQUEST_LOOK.
 *
 * ENXIO: no capture is running. EPERM: the caller does not belong to the session, and capability
 * missing; with SIFIVE_TRACE_REQUEST_LOOK the descriptor may not read the capture.
 */
struct sifive_trace_request {
	__u32	size;
	__u32	flags;
	__u64	count;
	__u64	time;
	__s32	thread;
	__u32	reserved;
};

/* Do not make a request; only return the latest one. */
#define SIFIVE_TRACE_REQUEST_LOOK	(1u << 0)

#define SIFIVE_TRACE_IOC_REQUEST \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x10, struct sifive_trace_request)

#endif /* _UAPI_LINUX_SIFIVE_TRACE_REQUEST_H */

/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * sifive-trace: a session that several processes share.
 *
 * One file holds the session, as <linux/sifive_trace.h> describes. Another process opens the device
 * and calls JOIN, and the driver assigns its file an enabled channel that neither the kernel's
 * records nor another joined file uses. The process then maps the stimulus pages, the thread slots
 * and the losses page of this file, and its threads call THREAD on it. START, STOP and all other
 * calls are made on the session's file. That file reserves no channel: if the session's own program
 * also stores, joining processes must exclude that program's channels from their @channels.
 *
 * However a process ends, its channels become free, and the other processes continue. If the
 * session ends first, stores of the joined processes are discarded without SIGBUS.
 */
#ifndef _UAPI_LINUX_SIFIVE_TRACE_JOIN_H
#define _UAPI_LINUX_SIFIVE_TRACE_JOIN_H

#include <linux/sifive_trace.h>

/**
 * struct sifive_trace_join - join another process's session, or obtain one more channel in it
 * @size:	in: sizeof(struct sifive_trace_join)
 * @flags:	in: 0
 * @session:	in: a descriptor of the session's file, or of a file that has joined, passed on
 *		by its owner; or -1 if the caller descends from the process that called CONFIG
 * @channel:	in: the preferred channel, 0-31. out: a channel that no other joined
 *		file has, or -1 if none is free: repeat the call later
 * @channels:	in: bit n set: the caller can use channel n
 * @used:	out: 1 if another file had the channel earlier in this capture, so that headers
 *		must name their threads; 0 if no other file has had it
 * @member:	out: number of this file in the order in which files joined the session, from 1
 * @count:	out: number of events
 * @event:	out: the session's events with their counters
 * @process:	out: id of the calling process in the pid namespace of the process that called
 *		CONFIG, or 0 if it has none there
 * @parent:	out: id of its parent in that namespace, or 0
 *
 * SIFIVE_TRACE_IOC_JOIN. Needs a descriptor of the caller's own file, open for writing, and
 * CAP_PERFMON or CAP_SYS_ADMIN. Channels for the kernel's records (SAMPLING, SWITCHES, instruction
 * trace), and those that CONFIG did not enable, are not available. A file's channels become free
 * when its last mapping or last reference is gone, or the session ends. A file's first JOIN in a
 * session joins it; each further JOIN adds a channel. THREAD on a file that has joined needs no
 * capability in the process that joined.
 *
 * ENXIO: there is no session. EPERM: capability missing, or @session does not entitle the
 * caller to join. EINVAL: this is the session's own file. EXDEV: the session's file was
 * opened through another device node. EBADF: @session does not refer to this device.
 */
struct sifive_trace_join {
	__u32	size;
	__u32	flags;
	__s32	session;
	__s32	channel;
	__u32	channels;
	__u32	used;
	__u32	member;
	__u32	count;
	struct sifive_trace_event event[SIFIVE_TRACE_MAX_COUNTERS];
	__u32	process;
	__u32	parent;
};

#define SIFIVE_TRACE_IOC_JOIN \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x0f, struct sifive_trace_join)

#endif /* _UAPI_LINUX_SIFIVE_TRACE_JOIN_H */

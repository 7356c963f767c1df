/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/**
 * DOC: instruction trace of sifive-trace, requested by CONFIG and reported by STATUS.
 * linux/sifive_trace.h includes this file.
 *
 * The encoders trace the harts' branches in the same buffer, and with the same clock, as the stores
 * of programs. Version 0 of the hardware traces all privilege modes of a hart or none. Therefore,
 * the driver turns instruction trace on while a traced thread runs, and off when an untraced thread
 * is switched in. The trace includes what the thread runs in the kernel, with kernel addresses.
 * Such a capture can be read only through files that were opened with CAP_PERFMON or CAP_SYS_ADMIN.
 * If only user mode was requested, the reader omits the kernel's instructions.
 */
#ifndef _UAPI_LINUX_SIFIVE_TRACE_INSTRUCTION_H
#define _UAPI_LINUX_SIFIVE_TRACE_INSTRUCTION_H

#include <linux/types.h>

/* Values of the field teInstruction; INFO and ENCODER report which values exist. */
#define SIFIVE_TRACE_INSTRUCTION_EVENT		1	/* only events */
#define SIFIVE_TRACE_INSTRUCTION_BTM		3	/* a message for each taken branch */
#define SIFIVE_TRACE_INSTRUCTION_HTM		6	/* histories of branches */
#define SIFIVE_TRACE_INSTRUCTION_HTM_OPTIMISED	7	/* repeats, implicit returns */

/**
 * struct sifive_trace_instruction - instruction trace of a capture
 * @mode:	in: value of teInstruction; 0 = none: the other fields must then be 0
 * @flags:	in: SIFIVE_TRACE_INSTRUCTION_*: _ALL traces everything that runs on the capture's
 *		harts; START then needs CAP_PERFMON or CAP_SYS_ADMIN too (EPERM), and each context
 *		switch produces a Sync message and two Ownership messages. _CHILDREN also traces
 *		processes that traced processes create
 * @sync_branches: in: teSyncMaxBTM: a Sync message after 2^(n + 5) branches, n from 0 to
 *		11, or SIFIVE_TRACE_INSTRUCTION_NO_SYNC. In a ring, and after lost bytes, a
 *		reader begins at a Sync message
 * @sync_bytes:	in: teSyncMaxInst: a Sync message after 2^(n + 5) bytes of instructions, n
 *		from 0 to 5, or SIFIVE_TRACE_INSTRUCTION_NO_SYNC
 * @timestamps:	in: tsBranch: which branch trace messages have a timestamp: 0 only Sync messages, 1
 *		also those for indirect branches, exceptions and interrupts, 3 all, 2 as described
 *		in the encoder's manual; must be 0 with SIFIVE_TRACE_CONFIG_NO_TIMESTAMP
 * @reserved:	in: 0
 *
 * A member of struct sifive_trace_config. Threads of the process that calls START are traced,
 * including new ones. When such a thread is switched in on a hart of the capture, the driver turns
 * teTracing off and on, so that the encoder sends a Sync message and does not omit returns of
 * earlier calls. Then it stores two ids, each encoded by SIFIVE_TRACE_INSTRUCTION_PROCESS(), to
 * register SIFIVE_TRACE_INSTRUCTION_OWNER, which produces two Ownership messages (TCODE 2): the id
 * of the thread that is being switched out, or 0 if that thread is not traced, and the id of the
 * thread that is being switched in. The first thread executes the part's instructions up to the end
 * of the kernel's function __switch_to(), the second thread all later instructions. If a part
 * begins without a context switch, the ids are equal. An id is the thread's id in the pid namespace
 * of START's caller, or 0 if the thread has no id there. When an untraced thread is switched in,
 * the driver turns teTracing off and on again without tracing instructions; this ends the part.
 *
 * Stimulus registers 15 and 31 produce Ownership messages instead of data messages
 * (teInstrumentation 3), so they cannot be among the channels of CONFIG. @channels may be 0.
 *
 * EINVAL: a field is out of range or reserved, 15 or 31 is among the channels, or an encoder's own
 * sink is not a ring and has at most 1024 bytes: the last 1024 bytes of such a sink are not used.
 * EPERM: kernel lockdown for confidentiality. EOPNOTSUPP: an encoder does not accept @mode (STATUS
 * names the modes that it accepts), or this kernel has no tracepoints for context switches and
 * forks.
 */
struct sifive_trace_instruction {
	__u32	mode;
	__u32	flags;
	__u32	sync_branches;
	__u32	sync_bytes;
	__u32	timestamps;
	__u32	reserved;
};

#define SIFIVE_TRACE_INSTRUCTION_ALL		(1u << 0)
#define SIFIVE_TRACE_INSTRUCTION_CHILDREN	(1u << 1)
#define SIFIVE_TRACE_INSTRUCTION_NO_SYNC	15
#define SIFIVE_TRACE_INSTRUCTION_OWNER		31
/* PROCESS field of an Ownership message in N-Trace 1.0: FORMAT 2, user mode, and a thread id. */
#define SIFIVE_TRACE_INSTRUCTION_PROCESS(id)	((__u32)(id) << 5 | 2)

/**
 * struct sifive_trace_instruction_status - instruction trace since CONFIG
 * @parts:	out: number of times that the driver has begun to trace a thread on a hart
 * @untraced:	out: number of processes that SIFIVE_TRACE_INSTRUCTION_CHILDREN could not add
 *
 * A member of struct sifive_trace_status.
 */
struct sifive_trace_instruction_status {
	__u64	parts;
	__u64	untraced;
};

#endif /* _UAPI_LINUX_SIFIVE_TRACE_INSTRUCTION_H */

/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR Apache-2.0 OR MIT */
/*
 * Numbers of the records in a trace. Documentation/trace-format.rst describes the format.
 */
#ifndef _UAPI_LINUX_SIFIVE_TRACE_FORMAT_H
#define _UAPI_LINUX_SIFIVE_TRACE_FORMAT_H

/* A header's first store; count type and mask follow. */
#define SIFIVE_TRACE_RECORD_MAGIC	0x70657266

/* Count types. */
#define SIFIVE_TRACE_RECORD_RAW		0
#define SIFIVE_TRACE_RECORD_DELTA	1
#define SIFIVE_TRACE_RECORD_XOR		2
#define SIFIVE_TRACE_RECORD_TYPE_MAX	SIFIVE_TRACE_RECORD_XOR

/*
 * Bits in a header's count type, in addition to the type itself. _OWNED: after the count type, the
 * header contains the id of the thread whose records follow. _GOES_ON: that thread has recorded
 * before, and its open calls continue.
 */
#define SIFIVE_TRACE_RECORD_TYPE	0x3
#define SIFIVE_TRACE_RECORD_OWNED	0x4
#define SIFIVE_TRACE_RECORD_GOES_ON	0x8

/*
 * Records of context switches: a kind (8 bits), then a thread id (32 bits); BEGIN has no
 * thread id.
 */
#define SIFIVE_TRACE_SWITCH_BEGIN		0x00	/* the previous thread is unknown */
#define SIFIVE_TRACE_SWITCH_IN			0x01
#define SIFIVE_TRACE_SWITCH_WOKEN		0x02	/* another thread was woken */
#define SIFIVE_TRACE_SWITCH_CALL		0x03	/* the running thread makes a system call */
#define SIFIVE_TRACE_SWITCH_RETURN		0x04	/* its system call returns */
#define SIFIVE_TRACE_SWITCH_FAULT		0x05	/* the running thread took a page fault */
#define SIFIVE_TRACE_SWITCH_END			0x10	/* recording ends; id 0: no thread runs */
#define SIFIVE_TRACE_SWITCH_PREEMPTED		0x11	/* the thread could have continued to run */
#define SIFIVE_TRACE_SWITCH_SLEEPS		0x12
#define SIFIVE_TRACE_SWITCH_UNINTERRUPTIBLE	0x13
#define SIFIVE_TRACE_SWITCH_STOPPED		0x14	/* by a signal or a debugger */
#define SIFIVE_TRACE_SWITCH_EXITED		0x15

/*
 * SIFIVE_TRACE_SWITCH_FAULT is followed not by the thread's id, but by the low 32 bits of the pc,
 * the low 32 bits of the faulting page's number (4 KiB pages), and a word with the upper bits of
 * both, in which MAJOR marks a major fault.
 */
#define SIFIVE_TRACE_FAULT_PAGE		0x00000fff
#define SIFIVE_TRACE_FAULT_PC		0x7ffff000
#define SIFIVE_TRACE_FAULT_PC_SHIFT	12
#define SIFIVE_TRACE_FAULT_MAJOR	0x80000000

/* Event types, as in SBI PMU. */
#define SIFIVE_TRACE_EVENT_GENERAL	0
#define SIFIVE_TRACE_EVENT_CACHE	1
#define SIFIVE_TRACE_EVENT_RAW		2
#define SIFIVE_TRACE_EVENT_TURNS	14	/* not SBI's: several events that take turns */
#define SIFIVE_TRACE_EVENT_FIRMWARE	15

/* Codes of general events: cycles (the SBI code), and the trace timestamp as a counter. */
#define SIFIVE_TRACE_EVENT_CYCLES	1
#define SIFIVE_TRACE_EVENT_TIMESTAMP	0x80

/* Bits in a counter's info: the CSR number (0 if there is no CSR), and the width - 1. */
#define SIFIVE_TRACE_COUNTER_CSR	0x00000fff
#define SIFIVE_TRACE_COUNTER_WIDTH	0x0003f000
#define SIFIVE_TRACE_COUNTER_WIDTH_SHIFT 12

/* A record's first store: kinds. */
#define SIFIVE_TRACE_RECORD_ENTER	0
#define SIFIVE_TRACE_RECORD_EXIT	1
#define SIFIVE_TRACE_RECORD_MANUAL	2
#define SIFIVE_TRACE_RECORD_ISR		3

/* In place of a kind: the previous record is incomplete, and a header follows. */
#define SIFIVE_TRACE_RECORD_BREAK	0xff

/*
 * In place of a kind, followed by a 32-bit number: the number of records that the thread dropped (a
 * header follows); or the time that the thread waited before its next record, in nanoseconds or, in
 * a second mark, in units of 2^32 nanoseconds.
 */
#define SIFIVE_TRACE_RECORD_DROPPED	0xfe
#define SIFIVE_TRACE_RECORD_WAITED	0xfd
#define SIFIVE_TRACE_RECORD_WAITED_LONG	0xfc

/*
 * In place of a kind, followed by addresses: the callers of the following sample, each XORed with
 * the previous address.
 */
#define SIFIVE_TRACE_RECORD_CALLERS	0xfb
/* The maximum number of callers. */
#define SIFIVE_TRACE_CALLERS_MAX	128

/*
 * In place of a kind: registers of the following sample's thread, pc, ra, sp, t0 and s0 to s11,
 * then its stack, from sp rounded down to 8 bytes. Each register, and each 8 bytes of the stack, is
 * a store of bits 31:0, then 16-bit stores of bits 47:32 and 63:48, up to the last that is not 0.
 */
#define SIFIVE_TRACE_RECORD_STACK	0xfa
#define SIFIVE_TRACE_STACK_REGISTERS	16
/* The maximum number of bytes of the stack. */
#define SIFIVE_TRACE_STACK_MAX		8192

/*
 * In place of a kind, followed by a 32-bit id: the thread of the following sample, or 0 if the
 * thread has no id. This mark precedes the sample's callers or stack.
 */
#define SIFIVE_TRACE_RECORD_THREAD	0xf9

/* Number of bits per counter that a record contains. */
#define SIFIVE_TRACE_RECORD_COUNT_BITS	48

/*
 * Counters whose events take turns (COUNTERS with SIFIVE_TRACE_COUNTERS_TURNS). The upper
 * recorded bits of their counts contain the round, modulo 2^8, then the turn, from 0. The other
 * bits contain the count since the turn began. Events with a fixed counter do not take turns. A
 * turn lasts for sifive_trace_counters.turn_us microseconds, at least 1000, of a joined thread's
 * running time or, without SIFIVE_TRACE_COUNTERS_PER_THREAD, of the running time of all joined
 * threads on the hart. With turns, JOIN and SAMPLING fail with EBUSY, and so does COUNTERS if it
 * needs more turns than this.
 */
#define SIFIVE_TRACE_TURNS_MAX		16
#define SIFIVE_TRACE_TURN_BITS		4
#define SIFIVE_TRACE_ROUND_BITS		8
/* Minimum width of a counter with turns. Longest turn, in microseconds, that this width allows. */
#define SIFIVE_TRACE_TURNS_WIDTH	40
#define SIFIVE_TRACE_TURN_LONGEST	50000

#endif /* _UAPI_LINUX_SIFIVE_TRACE_FORMAT_H */

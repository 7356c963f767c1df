/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * sifive-trace: the kernel's interface to SiFive trace encoders and funnels.
 *
 * /dev/sifive-trace is the whole machine's trace hardware. Opening it for
 * reading gives the bytes of the last capture. Opening it for reading and
 * writing, with CAP_PERFMON or CAP_SYS_ADMIN, allows one session at a time:
 *
 *	INFO, ENCODER, SINK	what there is
 *	CONFIG			take the hardware, a buffer and the encoders
 *	COUNTERS		take counters and let the calling thread read them
 *	THREAD			let another thread of the process read them
 *	SAMPLING		have the kernel write records on a timer or an event
 *	EVENT			which counters can count an event
 *	mmap()			the stimulus page of an encoder, the thread slots, the
 *				page of losses
 *	ATTACH			a descriptor for who has the mapping alone
 *	LOSSES			what the session's program says that it lost
 *	START, STOP		let stores become messages, and no longer
 *	STATUS			how much was captured, and what went wrong
 *	read(), lseek()		the captured bytes, oldest first
 *	poll()			readable: stopped, full, or the watermark is reached
 *
 * While a capture runs, read() gives what has reached the sink so far; of a ring
 * a copy of one moment, made when reading begins at offset 0. All readers share one
 * copy: a reader that begins gets the one that others are reading, if it is not
 * older than 10 seconds. Otherwise it gets a new one, and those that read the old
 * one get ESTALE. ENOMEM: the copy needs memory, which counts as the reader's. The
 * bytes of several sinks follow each other; /dev/sifive-trace.N gives those of sink N
 * alone, for reading only.
 *
 * With SIFIVE_TRACE_CONFIG_DRAIN read() gives each byte once, while the capture runs: it
 * waits when there is none (EAGAIN with O_NONBLOCK), and gives 0 when the capture has
 * stopped and all was read. One open file drains a sink at a time (EBUSY for others),
 * whatever its offset. Of several sinks each is drained at its /dev/sifive-trace.N:
 * read() of the other node gives EOPNOTSUPP then. A running capture is given in whole
 * messages. Bytes that were overwritten before they were read are
 * counted (SINK, STATUS), and in their place there is an Error message of each source.
 *
 * The session ends when the last reference to its open file is gone, be it a
 * descriptor or a mapping. What it captured stays readable until the next CONFIG, by
 * descriptors that were opened by the effective user who called CONFIG, or with
 * CAP_PERFMON or CAP_SYS_ADMIN; the session's own always reads. For others read() and
 * lseek(SEEK_END) give EPERM, poll() POLLERR, and STATUS, SINK and ENCODER do not
 * show what depends on what was captured.
 *
 * A call that steers hardware or counters needs the caller's capability, not that of
 * the program that opened the descriptor: CONFIG, COUNTERS, SAMPLING, EVENT and mmap() need
 * CAP_PERFMON or CAP_SYS_ADMIN. START, STOP and THREAD need one of them in any
 * process but the one that called CONFIG, which may have given up its rights since.
 *
 * Every structure begins with its size as the caller knows it. A shorter one
 * than the kernel's is filled up with zeros, a longer one is accepted when
 * what the kernel does not know is zero (E2BIG otherwise). The kernel writes
 * back no more than that size. Unknown flags and non-zero reserved fields give
 * EINVAL, also in events that a call does not use. Fields that are only written
 * ("out") may hold anything. The layout is the same for 32- and 64-bit programs.
 *
 * A call's number has the direction and the size of its structure. The kernel
 * ignores that size, as a later structure may be longer: the size field counts.
 * Up to ABI 2 numbers had neither: of those the kernel answers INFO alone, so that
 * a program of that ABI learns the kernel's, and the others give ENOTTY.
 *
 * Errors common to all calls: EFAULT (argument not readable or writable),
 * EINVAL, E2BIG, ENOTTY (no such call), ENODEV (the hardware has been unbound).
 */
#ifndef _UAPI_LINUX_SIFIVE_TRACE_H
#define _UAPI_LINUX_SIFIVE_TRACE_H

#include <linux/ioctl.h>
#include <linux/sifive_trace_format.h>
#include <linux/types.h>

/* Changes when a call's meaning does; additions announce themselves by size. */
#define SIFIVE_TRACE_ABI		4

#define SIFIVE_TRACE_MAX_ENCODERS	64
#define SIFIVE_TRACE_MAX_COUNTERS	32
#define SIFIVE_TRACE_MESSAGE_LEN	160
#define SIFIVE_TRACE_NAME_LEN		32

#define SIFIVE_TRACE_IOC_TYPE		0xd5

/* Where trace ends up: values of the teSink and tfSink fields. */
enum sifive_trace_sink_kind {
	SIFIVE_TRACE_SINK_DEFAULT	= 0,
	SIFIVE_TRACE_SINK_SRAM		= 4,
	SIFIVE_TRACE_SINK_ATB		= 5,
	SIFIVE_TRACE_SINK_PIB		= 6,
	SIFIVE_TRACE_SINK_SBA		= 7,
	SIFIVE_TRACE_SINK_FUNNEL	= 8,
};

/**
 * struct sifive_trace_info - what trace hardware this machine has
 * @size:	in: sizeof(struct sifive_trace_info)
 * @abi:	out: SIFIVE_TRACE_ABI of the kernel
 * @encoders:	out: number of trace encoders; their indexes run from 0
 * @funnels:	out: number of trace funnels
 * @sinks:	out: sinks of the capture that is configured or was last; 0 before
 * @page_size:	out: bytes of one stimulus page, the length to mmap()
 * @ts_width:	out: bits of the timestamps in messages; 0 = no timestamp unit, or a
 *		CONFIG has found that messages have none
 * @flags:	out: SIFIVE_TRACE_INFO_*
 * @ts_hz:	out: timestamp ticks a second after prescale; 0 = not known
 * @sinks_available: out: bit n set: some component has sink kind n
 * @reserved:	in: 0
 *
 * SIFIVE_TRACE_IOC_INFO, needs nothing. Registers: teImpl, tfImpl, tsControl.
 */
struct sifive_trace_info {
	__u32	size;
	__u32	abi;
	__u32	encoders;
	__u32	funnels;
	__u32	sinks;
	__u32	page_size;
	__u32	ts_width;
	__u32	flags;
	__u64	ts_hz;
	__u32	sinks_available;
	__u32	reserved;
};

/* Counters can be taken from firmware without disturbing perf (Sscofpmf). */
#define SIFIVE_TRACE_INFO_COUNTERS	(1u << 0)
/* ts_hz was measured by CONFIG; no clock in the device tree tells it. */
#define SIFIVE_TRACE_INFO_TS_MEASURED	(1u << 1)
/* Counters can be taken as pinned perf events (no Sscofpmf). */
#define SIFIVE_TRACE_INFO_COUNTERS_PERF	(1u << 2)
/* Counter overflow interrupts the hart: SAMPLING by event works. */
#define SIFIVE_TRACE_INFO_OVERFLOW	(1u << 3)
/*
 * perf may take cycle and instret from a session, as its driver in this kernel is not
 * one that can be kept from them. STATUS reports a counter that was taken.
 */
#define SIFIVE_TRACE_INFO_FIXED_SHARED	(1u << 4)

/**
 * struct sifive_trace_encoder - one trace encoder
 * @size:	in: sizeof(struct sifive_trace_encoder)
 * @index:	in: which encoder, below sifive_trace_info.encoders
 * @cpu:	out: Linux CPU number, -1 when that hart is not one of Linux's
 * @src:	out: source number in its messages (teImpl.srcID)
 * @src_bits:	out: width of the SRC field, 0 = none (teImpl.nSrcBits)
 * @sink:	out: index of the sink its trace goes to in the configured
 *		capture, ~0 when it has no part in one
 * @flags:	out: SIFIVE_TRACE_ENCODER_*
 * @sinks:	out: bit n set: it can send to sink kind n
 * @hart:	out: hart id
 * @mmap_offset: out: offset for mmap() of its stimulus page
 * @ts_width:	out: bits of its timestamps
 * @ts_type:	out: tsType of its timestamp unit
 * @name:	out: its name in the device tree, terminated
 * @registers:	out: bit n set: stimulus register n makes messages. This and what
 *		follows is what the last CONFIG of this encoder has found out by
 *		storing to each register; 0 before, and where its sink had no room
 * @ts_registers: out: bit n set: the messages of register n have timestamps
 * @channel:	out: channel in the messages of each register
 *
 * SIFIVE_TRACE_IOC_ENCODER, needs nothing. EINVAL: no such index.
 */
struct sifive_trace_encoder {
	__u32	size;
	__u32	index;
	__s32	cpu;
	__u32	src;
	__u32	src_bits;
	__u32	sink;
	__u32	flags;
	__u32	sinks;
	__u64	hart;
	__u64	mmap_offset;
	__u32	ts_width;
	__u32	ts_type;
	char	name[SIFIVE_TRACE_NAME_LEN];
	__u32	registers;
	__u32	ts_registers;
	__u8	channel[32];
};

/* Has an SBA sink of its own: mapping its page also needs CAP_SYS_RAWIO. */
#define SIFIVE_TRACE_ENCODER_RAWIO	(1u << 0)
/*
 * Stimulus registers 16-31 are 0-15 with a timestamp: to write channel n,
 * store to register n + 16. Found by CONFIG: not set before the first one.
 */
#define SIFIVE_TRACE_ENCODER_TS_CHANNELS (1u << 1)
/*
 * tsLower/tsUpper in the stimulus page tick with the messages' timestamps. Found
 * out by CONFIG: not set before, nor for an encoder outside the capture.
 */
#define SIFIVE_TRACE_ENCODER_TS_READABLE (1u << 2)
/* Part of the configured or last capture. */
#define SIFIVE_TRACE_ENCODER_SELECTED	(1u << 3)
/* It has stalled its hart or lost a message since CONFIG. */
#define SIFIVE_TRACE_ENCODER_STALLED	(1u << 4)
/* Its CPU is offline: its stream has ended, and goes on when the CPU comes online. */
#define SIFIVE_TRACE_ENCODER_ENDED	(1u << 5)
/* It has reported a sink error since CONFIG. */
#define SIFIVE_TRACE_ENCODER_SINK_ERROR	(1u << 6)
/*
 * It can stall its hart when it is full. Found out by CONFIG: not set before, nor for
 * an encoder outside the capture. Without this it loses messages that do not fit,
 * also without SIFIVE_TRACE_CONFIG_OVERFLOW: stimulus registers read 0 while they
 * cannot take a store.
 */
#define SIFIVE_TRACE_ENCODER_CAN_STALL	(1u << 7)
/* Its registers were changed from outside while it ran: messages may be missing. */
#define SIFIVE_TRACE_ENCODER_CHANGED	(1u << 8)
/* CONFIG has seen its messages: registers, ts_registers and channel are known. */
#define SIFIVE_TRACE_ENCODER_TESTED	(1u << 9)

/**
 * struct sifive_trace_config - take the hardware for a capture
 * @size:	in: sizeof(struct sifive_trace_config)
 * @flags:	in: SIFIVE_TRACE_CONFIG_*
 * @sink:	in: SIFIVE_TRACE_SINK_SBA or SIFIVE_TRACE_SINK_SRAM
 * @prescale:	in: timestamp prescale as tsPrescale has it: 0-3 for 1, 4, 16, 64;
 *		EOPNOTSUPP where the timestamp unit does not have that one
 * @channels:	in: bit n set: stimulus register n makes messages; not 0. On an
 *		encoder with SIFIVE_TRACE_ENCODER_TS_CHANNELS, bits 16-31 are
 *		channels 0-15 with a timestamp: c | c << 16 is right for any encoder
 *		and channels c below 16
 * @sinks:	out: number of sinks the capture has
 * @buffer:	in: bytes wanted for each SBA sink, rounded up to the sink word;
 *		0 for SRAM. out: bytes that the smallest sink got
 * @encoders:	in: bit n set: encoder n takes part; 0 = all that are usable.
 *		out: those that do
 * @watermark:	in: unread bytes at which poll() finds a running capture
 *		readable; 0 = only when it has stopped or is full, or with
 *		SIFIVE_TRACE_CONFIG_DRAIN at the first byte
 *
 * SIFIVE_TRACE_IOC_CONFIG. Needs a descriptor open for writing and CAP_PERFMON
 * or CAP_SYS_ADMIN. Ends the session's earlier capture, throws its data away,
 * overwrites SRAM, and leaves the hardware ready for START. With ENOMEM, ETIMEDOUT and
 * EIO, and with EOPNOTSUPP for a memory-region, there is no session; with any other
 * error nothing has changed.
 *
 * EACCES: descriptor not open for writing. EPERM: capability missing. EBUSY:
 * another session has the hardware (STATUS names it), its own is running, or
 * the system suspends or shuts down.
 * EOPNOTSUPP: an encoder cannot reach a sink of that kind, or is not usable.
 * ENOMEM: no buffer of that size. ETIMEDOUT, EIO: a component did not answer
 * (STATUS says which).
 */
struct sifive_trace_config {
	__u32	size;
	__u32	flags;
	__u32	sink;
	__u32	prescale;
	__u32	channels;
	__u32	sinks;
	__u64	buffer;
	__u64	encoders;
	__u64	watermark;
};

/* Keep the newest bytes (default: stop when the buffer is full). */
#define SIFIVE_TRACE_CONFIG_RING	(1u << 0)
/* Drop messages that do not fit the encoder (default: stall the hart). */
#define SIFIVE_TRACE_CONFIG_OVERFLOW	(1u << 1)
/* No timestamps in messages. */
#define SIFIVE_TRACE_CONFIG_NO_TIMESTAMP (1u << 2)
/*
 * read() follows the running capture and gives each byte once. Of SBA, from 4096 bytes
 * on, and not together with SIFIVE_TRACE_CONFIG_RING (EINVAL).
 */
#define SIFIVE_TRACE_CONFIG_DRAIN	(1u << 3)

/**
 * struct sifive_trace_event - one event to count
 * @type:	in: SIFIVE_TRACE_EVENT_GENERAL, _CACHE or _RAW: 0, 1 or 2
 * @code:	in: type 0: the SBI code, or SIFIVE_TRACE_EVENT_TIMESTAMP;
 *		type 1: cache_id << 3 | op_id << 1 | result_id; type 2: 0
 * @data:	in: type 2: the event selector's value; otherwise 0
 * @flags:	in: SIFIVE_TRACE_EVENT_NO_*
 * @counter:	out: counter number, 0-31: 0 cycle, 1 timestamp, 2 instret,
 *		n hpmcounter n
 * @info:	out: SBI counter_info: SIFIVE_TRACE_COUNTER_CSR (0: the timestamp)
 *		and SIFIVE_TRACE_COUNTER_WIDTH (width - 1)
 * @reserved:	in: 0
 */
struct sifive_trace_event {
	__u32	type;
	__u32	code;
	__u64	data;
	__u32	flags;
	__u32	counter;
	__u32	info;
	__u32	reserved;
};

/* Do not count in user mode, in kernel mode; not both (needs Sscofpmf). */
#define SIFIVE_TRACE_EVENT_NO_USER	(1u << 0)
#define SIFIVE_TRACE_EVENT_NO_KERNEL	(1u << 1)

/**
 * struct sifive_trace_counters - take counters on every selected encoder's hart
 * @size:	in: sizeof(struct sifive_trace_counters)
 * @count:	in: number of events, 0-32; 0 gives all counters back
 * @flags:	in: SIFIVE_TRACE_COUNTERS_*
 * @mask:	out: bit n set: counter n is counting for this session
 * @failed:	out: index of the event that was refused, ~0 when none was
 * @reserved:	in: 0
 * @event:	in and out: the events; two events never share a counter
 *
 * SIFIVE_TRACE_IOC_COUNTERS, after CONFIG and by the same session; needs CAP_PERFMON
 * or CAP_SYS_ADMIN. Replaces the counters taken before; with an error the session
 * keeps those, but any that something else has got meanwhile, which STATUS reports
 * as lost. From success to
 * the session's end the calling thread, and each that called THREAD, may read
 * the counters' CSRs while it runs on these harts; elsewhere, and for everyone
 * else, that is an illegal instruction.
 *
 * EINVAL: malformed or repeated event (@failed). EOPNOTSUPP: firmware does not
 * know the event, cannot filter it, or lets nobody but itself read its counter.
 * EBUSY: no counter that can count it is free on all harts. ENXIO: no session
 * configured, or all CPUs of its encoders are offline. EBUSY also while the
 * capture runs, and while the system suspends. EPERM: capability missing.
 * ENOSPC, ENOMEM: the calling thread cannot join, as for THREAD.
 */
struct sifive_trace_counters {
	__u32	size;
	__u32	count;
	__u32	flags;
	__u32	mask;
	__u32	failed;
	__u32	reserved;
	struct sifive_trace_event event[SIFIVE_TRACE_MAX_COUNTERS];
};

/* Keep a count of its own for each thread; see struct sifive_trace_slot. */
#define SIFIVE_TRACE_COUNTERS_PER_THREAD (1u << 0)

/**
 * struct sifive_trace_slot - what makes a thread's own counts of a hart's
 * @offset:	to be added to the value of CSR n, modulo the counter's width; of
 *		counter 1, which has no CSR, how often the kernel has written the
 *		others
 *
 * An array of SIFIVE_TRACE_THREADS of these is mapped, read-only, with mmap() at
 * SIFIVE_TRACE_MMAP_THREADS; a page of it that has had no thread's slot gives SIGBUS.
 * The kernel writes a thread's offsets whenever that
 * begins to run: offset and CSR belong together only if the thread was neither
 * preempted nor moved between reading the one and the other. A restartable
 * sequence, rseq(2), sees to that.
 */
struct sifive_trace_slot {
	__u64	offset[SIFIVE_TRACE_MAX_COUNTERS];
};

#define SIFIVE_TRACE_THREADS		2048
#define SIFIVE_TRACE_MMAP_THREADS	0x1000000

/**
 * struct sifive_trace_thread - the calling thread joins the session
 * @size:	in: sizeof(struct sifive_trace_thread)
 * @flags:	in: SIFIVE_TRACE_THREAD_*
 * @slot:	out: index of its struct sifive_trace_slot, ~0 without
 *		SIFIVE_TRACE_COUNTERS_PER_THREAD
 * @reserved:	in: 0
 *
 * SIFIVE_TRACE_IOC_THREAD, for threads of the process that called CONFIG, and
 * for others with CAP_PERFMON or CAP_SYS_ADMIN. A thread that has joined may read
 * the session's counters, also those that a later COUNTERS takes, until it leaves or
 * exits or the session ends. Joining again repairs an access that something
 * else, such as a change of kernel.perf_user_access, has taken away. Threads and
 * processes that it makes have not joined.
 *
 * ENXIO: no session configured by this descriptor. EPERM: neither of that
 * process nor capable. ENOSPC: all slots are taken. ENOMEM.
 */
struct sifive_trace_thread {
	__u32	size;
	__u32	flags;
	__u32	slot;
	__u32	reserved;
};

/* Leave the session instead. */
#define SIFIVE_TRACE_THREAD_LEAVE	(1u << 0)

/**
 * struct sifive_trace_sampling - records that the kernel writes
 * @size:	in: sizeof(struct sifive_trace_sampling)
 * @flags:	in: SIFIVE_TRACE_SAMPLING_*
 * @channel:	in: stimulus register for them; one of CONFIG's, used by nobody
 *		else
 * @count_type:	in: SIFIVE_TRACE_SAMPLING_RAW, _DELTA or _XOR
 * @interval:	in: nanoseconds of running between two records, raised to 100000
 *		when less; 0 = by event, not at all when @period is 0 too. out: as
 *		it is used
 * @period:	in: events between two records, raised to 10000 when less, in user
 *		mode alone to 1000; 0 = by time. out: as it is used
 * @event:	in: the event for @period
 *
 * SIFIVE_TRACE_IOC_SAMPLING, after CONFIG and COUNTERS and by the same session;
 * needs CAP_PERFMON or CAP_SYS_ADMIN. Replaces what was set before, which stays with
 * an error; a later COUNTERS that succeeds ends it. From START to STOP
 * the kernel interrupts the threads of the process that called START, and those
 * that they make, wherever they run, and writes an ISR record with the user mode
 * pc and the session's counters to the encoder of that hart. It ends for a
 * process with execve(), but with SIFIVE_TRACE_SAMPLING_EXEC. START writes the
 * header, on each encoder. With SIFIVE_TRACE_COUNTERS_PER_THREAD each record adds to
 * the stream's counts what its thread has counted since its last record, or since START,
 * whether it has joined or not; more than SIFIVE_TRACE_THREADS threads at a time lose
 * records, which STATUS counts. The kernel's part of @event counts whatever
 * kernel.perf_event_paranoid says, as it does for COUNTERS: the capability is the
 * permission.
 *
 * A thread that another one makes while START looks for threads may be left out.
 * perf drops interrupts that come faster than kernel.perf_event_max_sample_rate, or
 * that cost more than kernel.perf_cpu_time_max_percent: those are no records, and
 * not among the lost ones.
 *
 * EINVAL: channel not of CONFIG, malformed event. EPERM: capability missing.
 * EOPNOTSUPP: @period without
 * SIFIVE_TRACE_INFO_OVERFLOW, or an event that cannot interrupt or that perf does
 * not know: a raw one of more than 48 bits, a cache of which it has none. EBUSY: the
 * capture runs, or no counter for @event is free beside the session's own and
 * perf's. ENXIO: no session configured by this descriptor. ENOMEM.
 */
struct sifive_trace_sampling {
	__u32	size;
	__u32	flags;
	__u32	channel;
	__u32	count_type;
	__u64	interval;
	__u64	period;
	struct sifive_trace_event event;
};

/* How records give counts: as they are, as differences, XORed with the last. */
#define SIFIVE_TRACE_SAMPLING_RAW		SIFIVE_TRACE_RECORD_RAW
#define SIFIVE_TRACE_SAMPLING_DELTA	SIFIVE_TRACE_RECORD_DELTA
#define SIFIVE_TRACE_SAMPLING_XOR		SIFIVE_TRACE_RECORD_XOR

/*
 * Whatever runs on the capture's harts, not the calling process. START needs
 * CAP_PERFMON or CAP_SYS_ADMIN for that, too (EPERM).
 */
#define SIFIVE_TRACE_SAMPLING_ALL	(1u << 0)
/* One header for the whole capture, not one at each START: only one that rewinds. */
#define SIFIVE_TRACE_SAMPLING_ONE_HEADER (1u << 1)
/* Also what the process that called START turns into by execve(). */
#define SIFIVE_TRACE_SAMPLING_EXEC	(1u << 2)

/**
 * struct sifive_trace_query - which counters can count an event
 * @size:	in: sizeof(struct sifive_trace_query)
 * @flags:	in: 0
 * @event:	in: the event; out: nothing
 * @counters:	out: bit n set: counter n can count it on the calling CPU and is
 *		free there
 * @readable:	out: bit n set: firmware lets counter n be read there
 * @known:	out: bit n set: counter n exists there
 * @reserved:	in: 0
 *
 * SIFIVE_TRACE_IOC_EVENT. Needs a descriptor open for writing and CAP_PERFMON or
 * CAP_SYS_ADMIN, but no session. EINVAL: malformed event. EOPNOTSUPP: counters
 * cannot be had here at all, or the event is one of firmware's own (type 15), which
 * have none.
 */
struct sifive_trace_query {
	__u32	size;
	__u32	flags;
	struct sifive_trace_event event;
	__u32	counters;
	__u32	readable;
	__u32	known;
	__u32	reserved;
};

/**
 * struct sifive_trace_status - the session and its capture
 * @size:	in: sizeof(struct sifive_trace_status)
 * @flags:	out: SIFIVE_TRACE_STATUS_*
 * @holder:	out: process id that configured the hardware, 0 = nobody
 * @sinks:	out: number of sinks of the capture
 * @bytes:	out: bytes that read() can give now, over all sinks
 * @buffer:	out: bytes of all sinks together
 * @stalls:	out: encoders that have stalled their hart or lost a message
 * @sink_errors: out: components that reported a sink error which no other component's
 *		state explains
 * @stalled:	out: bit n set: encoder n is one of @stalls
 * @ended:	out: bit n set: the stream of encoder n has ended as its CPU is offline;
 *		it goes on when the CPU comes online, unless that has lost the encoder's
 *		registers: then the next CONFIG brings it back
 * @samples:	out: records that SAMPLING has written since CONFIG
 * @samples_lost: out: records that it could not write since CONFIG, also because
 *		the sink was full; a thread or CPU whose event has lost its counter
 *		to another, or has found none, is one, however many records that has
 *		cost; of threads made after START those that are there at STATUS or
 *		STOP
 * @counters_lost: out: bit n set: counter n of the session has been stopped, moved
 *		or lost on some hart since COUNTERS: do not trust its values
 * @capture:	out: which capture it is that is configured, or was last: counts
 *		CONFIGs, from 0 = none since the module was inserted
 * @message:	out: what went wrong last for this descriptor, with the name of
 *		the component, terminated; empty when nothing did
 * @changed:	out: bit n set: registers of encoder n were changed from outside while
 *		the capture ran, for example by a store to teControl in its stimulus
 *		page: messages may be missing. Found by STATUS and STOP, kept until the
 *		next CONFIG; START programs the encoder again
 * @gaps:	out: with SIFIVE_TRACE_CONFIG_DRAIN how often bytes were overwritten before
 *		they were read, over all sinks
 * @lost:	out: how many bytes; more with SIFIVE_TRACE_STATUS_GAP_MORE
 *
 * SIFIVE_TRACE_IOC_STATUS, needs nothing. Registers: teControl, tfControl, tsControl,
 * itcTraceEnable and the sink registers, which are compared with what was programmed.
 * By the session's own descriptor it looks at
 * the counters, which interrupts harts; others see what that saw last. Those that may
 * not read the capture see @holder, @sinks, @buffer, @ended and @capture, and of @flags
 * whether the hardware is configured and runs.
 */
struct sifive_trace_status {
	__u32	size;
	__u32	flags;
	__s32	holder;
	__u32	sinks;
	__u64	bytes;
	__u64	buffer;
	__u32	stalls;
	__u32	sink_errors;
	__u64	stalled;
	__u64	ended;
	__u64	samples;
	__u64	samples_lost;
	__u32	counters_lost;
	__u32	capture;
	char	message[SIFIVE_TRACE_MESSAGE_LEN];
	__u64	changed;
	__u64	gaps;
	__u64	lost;
};

/* A session has the hardware. */
#define SIFIVE_TRACE_STATUS_CONFIGURED	(1u << 0)
/* START was called last, not STOP. */
#define SIFIVE_TRACE_STATUS_RUNNING	(1u << 1)
/* A sink is full and stopped the capture. */
#define SIFIVE_TRACE_STATUS_FULL	(1u << 2)
/* A ring has overwritten its oldest bytes. */
#define SIFIVE_TRACE_STATUS_WRAPPED	(1u << 3)
/* This descriptor holds the session. */
#define SIFIVE_TRACE_STATUS_OWNER	(1u << 4)
/*
 * A component has reported a sink error: bytes are missing. That a sink is full is
 * none, though components that send to it report it like one.
 */
#define SIFIVE_TRACE_STATUS_SINK_ERROR	(1u << 5)
/* Registers of a component were changed from outside while it ran. */
#define SIFIVE_TRACE_STATUS_CHANGED	(1u << 6)
/* Bytes of a drained sink were overwritten before they were read. */
#define SIFIVE_TRACE_STATUS_GAP		(1u << 7)
/* They are more than those counted: the ring was written more than once in between. */
#define SIFIVE_TRACE_STATUS_GAP_MORE	(1u << 8)

/**
 * struct sifive_trace_sink - one sink of the capture
 * @size:	in: sizeof(struct sifive_trace_sink)
 * @index:	in: which, below sifive_trace_status.sinks
 * @kind:	out: enum sifive_trace_sink_kind
 * @word:	out: bytes of the sink's word
 * @flags:	out: SIFIVE_TRACE_STATUS_FULL, SIFIVE_TRACE_STATUS_WRAPPED,
 *		SIFIVE_TRACE_STATUS_SINK_ERROR, SIFIVE_TRACE_STATUS_GAP,
 *		SIFIVE_TRACE_STATUS_GAP_MORE
 * @src_bits:	out: width of the SRC field in its messages
 * @bytes:	out: bytes captured in it that read() gives
 * @buffer:	out: its size in bytes
 * @offset:	out: where its bytes begin in what read() gives; 0 of a drained sink
 * @encoders:	out: bit n set: encoder n sends to it
 * @name:	out: component that owns it, terminated
 * @given:	out: bytes that read() has given. This and what follows is 0 without
 *		SIFIVE_TRACE_CONFIG_DRAIN
 * @gaps:	out: how often bytes were overwritten before they were read
 * @lost:	out: how many bytes; more with SIFIVE_TRACE_STATUS_GAP_MORE
 * @gap_offset:	out: how many bytes read() had given before the last gap: Error messages follow
 * @gap_begin:	out: its bytes were written after this time, in nanoseconds of
 *		CLOCK_MONOTONIC
 * @gap_end:	out: and before this one
 *
 * SIFIVE_TRACE_IOC_SINK, needs nothing; who may not read the capture gets 0 for
 * @flags, @bytes, @offset and what follows @name. EINVAL: no such index.
 */
struct sifive_trace_sink {
	__u32	size;
	__u32	index;
	__u32	kind;
	__u32	word;
	__u32	flags;
	__u32	src_bits;
	__u64	bytes;
	__u64	buffer;
	__u64	offset;
	__u64	encoders;
	char	name[SIFIVE_TRACE_NAME_LEN];
	__u64	given;
	__u64	gaps;
	__u64	lost;
	__u64	gap_offset;
	__u64	gap_begin;
	__u64	gap_end;
};

/**
 * struct sifive_trace_run - argument of START and STOP
 * @size:	in: sizeof(struct sifive_trace_run)
 * @flags:	in: START: SIFIVE_TRACE_START_*; STOP: 0
 *
 * START lets the configured encoders make messages; each sends its absolute
 * timestamp first. Data is added behind what was captured before, unless
 * SIFIVE_TRACE_START_REWIND throws that away. STOP ends that and returns when
 * all messages have reached the sinks. Repeating either changes nothing.
 *
 * ENXIO: no session configured by this descriptor. EPERM: another process's session,
 * and capability missing. ENOSPC: START of a capture that is full. EBUSY: START while
 * the system suspends, or no counter is free for what SAMPLING has set. EPERM,
 * EOPNOTSUPP, ENOMEM: START that cannot sample, as for SAMPLING; the capture is
 * stopped then. A START that fails may have rewound. ESTALE: START after sleep has
 * taken what was captured: rewind, or CONFIG. ETIMEDOUT: a component did not answer;
 * EIO: one refused a register's value, or reported a sink error (STATUS says which). A
 * STOP that fails has stopped all the same, and what reached the sinks is readable.
 */
struct sifive_trace_run {
	__u32	size;
	__u32	flags;
};

#define SIFIVE_TRACE_START_REWIND	(1u << 0)

/**
 * struct sifive_trace_attach - a descriptor of the open file behind a mapping
 * @size:	in: sizeof(struct sifive_trace_attach)
 * @flags:	in: 0 or SIFIVE_TRACE_ATTACH_COMPARE
 * @address:	in: where the calling process has mapped a page of this device
 * @fd:		out: a new descriptor, with O_CLOEXEC, of the file that was mapped
 *		there; -1 with SIFIVE_TRACE_ATTACH_COMPARE
 * @reserved:	in: 0
 *
 * SIFIVE_TRACE_IOC_ATTACH, by any descriptor of the device. A mapping holds the open
 * file, and with it the session, when a program has closed the descriptor.
 *
 * ENOENT: nothing of this device is mapped at @address. EXDEV: with
 * SIFIVE_TRACE_ATTACH_COMPARE, the calling descriptor is of another open file. EMFILE:
 * no number is free.
 */
struct sifive_trace_attach {
	__u32	size;
	__u32	flags;
	__u64	address;
	__s32	fd;
	__u32	reserved;
};

/* Only compare the calling descriptor's open file with the mapped one. */
#define SIFIVE_TRACE_ATTACH_COMPARE	(1u << 0)

/**
 * struct sifive_trace_losses - records that the session's program did not write
 * @size:	in: sizeof(struct sifive_trace_losses)
 * @capture:	out: as in struct sifive_trace_status
 * @signals:	of signal handlers that interrupted a record
 * @threads:	of threads without a channel, of CPUs without an encoder
 * @abandoned:	left half-way
 * @refused:	of threads that the kernel did not let read the counters
 * @children:	of children made by vfork()
 * @names:	threads that the program could not note
 *
 * It is at the beginning of a page of memory that is mapped, for reading and writing,
 * with mmap() at SIFIVE_TRACE_MMAP_LOSSES. The session's program counts in it; the
 * kernel zeroes it at CONFIG and keeps it with the capture, also when the program has
 * ended. SIFIVE_TRACE_IOC_LOSSES reads it. EPERM: the descriptor may not read the
 * capture.
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
};

#define SIFIVE_TRACE_MMAP_LOSSES	0x1100000

#define SIFIVE_TRACE_IOC_INFO \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x00, struct sifive_trace_info)
#define SIFIVE_TRACE_IOC_ENCODER \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x01, struct sifive_trace_encoder)
#define SIFIVE_TRACE_IOC_CONFIG \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x02, struct sifive_trace_config)
#define SIFIVE_TRACE_IOC_COUNTERS \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x03, struct sifive_trace_counters)
#define SIFIVE_TRACE_IOC_START \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x04, struct sifive_trace_run)
#define SIFIVE_TRACE_IOC_STOP \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x05, struct sifive_trace_run)
#define SIFIVE_TRACE_IOC_STATUS \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x06, struct sifive_trace_status)
#define SIFIVE_TRACE_IOC_SINK \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x07, struct sifive_trace_sink)
#define SIFIVE_TRACE_IOC_THREAD \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x08, struct sifive_trace_thread)
#define SIFIVE_TRACE_IOC_SAMPLING \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x09, struct sifive_trace_sampling)
#define SIFIVE_TRACE_IOC_EVENT \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x0a, struct sifive_trace_query)
#define SIFIVE_TRACE_IOC_ATTACH \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x0b, struct sifive_trace_attach)
#define SIFIVE_TRACE_IOC_LOSSES \
	_IOWR(SIFIVE_TRACE_IOC_TYPE, 0x0c, struct sifive_trace_losses)

#endif /* _UAPI_LINUX_SIFIVE_TRACE_H */

/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * sifive-trace: the kernel interface to SiFive trace encoders and funnels.
 *
 * /dev/sifive-trace represents all trace hardware of the machine. A file opened for reading
 * returns the bytes of the last capture. A file opened for reading and writing, with CAP_PERFMON
 * or CAP_SYS_ADMIN, can hold the session; there is one session at a time:
 *
 *	INFO, ENCODER, SINK	describe the hardware
 *	CONFIG			acquire the hardware and allocate a buffer
 *	COUNTERS		allocate counters; the calling thread may read them
 *	THREAD			allow another thread of the process to read them
 *	SAMPLING		make the kernel write records, by time or by event
 *	SWITCHES		make the kernel record context switches
 *	EVENT			query which counters can count an event
 *	mmap()			map an encoder's stimulus page, the thread slots or the losses page
 *	ATTACH			obtain a descriptor for a file from its mapping
 *	LOSSES			read the losses that the session's program counted
 *	JOIN			share the session: <linux/sifive_trace_join.h>
 *	REQUEST			request a snapshot: <linux/sifive_trace_request.h>
 *	START, STOP		start and stop turning stores into messages
 *	STATUS			bytes captured, and what went wrong
 *	read(), lseek()		the captured bytes, oldest first
 *	poll()			readable: stopped, full, or the watermark is reached
 *
 * While a capture runs, read() returns what has reached the sink. For a ring it returns a copy,
 * made when reading begins at offset 0 and shared by all readers. A new reader shares the copy that
 * others are reading, unless it is older than 10 seconds: then a new copy is made, and read() of
 * the old copy fails with ESTALE. A copy's memory is charged to the reader (ENOMEM). The bytes of
 * several sinks follow one another; the read-only /dev/sifive-trace.N returns those of sink N.
 *
 * With SIFIVE_TRACE_CONFIG_DRAIN, read() returns each byte once while the capture runs. It blocks
 * while there is nothing to read (EAGAIN with O_NONBLOCK) and returns 0 after the capture has
 * stopped and all bytes have been read. Only one open file at a time can drain a sink; its offset
 * does not select the bytes, and on other files read() fails with EBUSY. If there are several
 * sinks, each is drained through its /dev/sifive-trace.N, and read() of /dev/sifive-trace fails
 * with EOPNOTSUPP. While the capture runs, read() returns only whole messages. Bytes that are
 * overwritten before they are read are counted (SINK, STATUS), and replaced by an Error message
 * from each source.
 *
 * The session ends when its open file has no reference left, neither a descriptor nor a mapping.
 * The capture remains readable until the next CONFIG, through the session's own file, and through
 * files that were opened with the effective user id of CONFIG's caller, or with CAP_PERFMON or
 * CAP_SYS_ADMIN. On other files, read() and lseek(SEEK_END) fail with EPERM, poll() returns
 * POLLERR, and STATUS, SINK and ENCODER hide everything that depends on the captured data.
 *
 * A call that controls hardware or counters checks the caller, not the program that opened the
 * descriptor: CONFIG, COUNTERS, SAMPLING, SWITCHES, EVENT and mmap() need CAP_PERFMON or
 * CAP_SYS_ADMIN. START, STOP and THREAD also need one of these, except in the process that called
 * CONFIG, which may have dropped its privileges since.
 *
 * Every structure begins with its size in the caller's version. A shorter structure is extended
 * with zeros. A longer one is accepted if all bytes beyond the kernel's structure are zero;
 * otherwise the call fails with E2BIG. The kernel writes back at most the caller's size. Unknown
 * flags and non-zero reserved fields are rejected with EINVAL, even in events that a call does not
 * use. The kernel ignores the input value of "out" fields. The layout is the same for 32-bit and
 * 64-bit programs.
 *
 * An ioctl number encodes the direction and size of its structure. The kernel ignores the size in
 * the number and uses the size field, because later structures may be longer. Numbers of ABI 2 and
 * earlier encode neither: of these the kernel supports only INFO, so that an old program can read
 * the ABI number. All other calls fail with ENOTTY.
 *
 * Errors of all calls: EFAULT (argument not readable or writable), EINVAL, E2BIG, ENOTTY
 * (unknown call), ENODEV (the hardware was unbound).
 */
#ifndef _UAPI_LINUX_SIFIVE_TRACE_H
#define _UAPI_LINUX_SIFIVE_TRACE_H

#include <linux/ioctl.h>
#include <linux/sifive_trace_format.h>
#include <linux/sifive_trace_instruction.h>
#include <linux/sifive_trace_losses.h>
#include <linux/sifive_trace_switches.h>
#include <linux/types.h>

/* Incremented when the meaning of a call changes; new members only change the size. */
#define SIFIVE_TRACE_ABI		4

#define SIFIVE_TRACE_MAX_ENCODERS	64
#define SIFIVE_TRACE_MAX_COUNTERS	32
#define SIFIVE_TRACE_MAX_PROCESSES	1024
#define SIFIVE_TRACE_MESSAGE_LEN	160
#define SIFIVE_TRACE_NAME_LEN		32

#define SIFIVE_TRACE_IOC_TYPE		0xd5

/* Destination of a trace: values of the fields teSink and tfSink. */
enum sifive_trace_sink_kind {
	SIFIVE_TRACE_SINK_DEFAULT	= 0,
	SIFIVE_TRACE_SINK_SRAM		= 4,
	SIFIVE_TRACE_SINK_ATB		= 5,
	SIFIVE_TRACE_SINK_PIB		= 6,
	SIFIVE_TRACE_SINK_SBA		= 7,
	SIFIVE_TRACE_SINK_FUNNEL	= 8,
};

/**
 * struct sifive_trace_info - the trace hardware of this machine
 * @size:	in: sizeof(struct sifive_trace_info)
 * @abi:	out: SIFIVE_TRACE_ABI of the kernel
 * @encoders:	out: number of trace encoders; indexes start at 0
 * @funnels:	out: number of trace funnels
 * @sinks:	out: number of sinks of the current or last capture; 0 before the first CONFIG
 * @page_size:	out: size of a stimulus page in bytes, the length for mmap()
 * @ts_width:	out: width of message timestamps in bits; 0 = none exist, or CONFIG found none
 * @flags:	out: SIFIVE_TRACE_INFO_*
 * @ts_hz:	out: timestamp ticks per second after the prescaler; 0 = unknown
 * @sinks_available: out: bit n set: some component has sink kind n
 * @reserved:	in: 0
 * @instruction_modes: out: bit n set: all encoders accept instruction mode n, n > 0
 * @instruction_some: out: bit n set: at least one encoder accepts instruction mode n
 *
 * SIFIVE_TRACE_IOC_INFO. Needs no privilege. Registers: teImpl, tfImpl, tsControl.
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
	__u32	instruction_modes;
	__u32	instruction_some;
};

/* Counters can be taken from firmware without disturbing perf (Sscofpmf). */
#define SIFIVE_TRACE_INFO_COUNTERS	(1u << 0)
/* CONFIG measured ts_hz; the device tree has no clock for it. */
#define SIFIVE_TRACE_INFO_TS_MEASURED	(1u << 1)
/* Counters can be taken as pinned perf events (no Sscofpmf). */
#define SIFIVE_TRACE_INFO_COUNTERS_PERF	(1u << 2)
/* Counter overflow interrupts the hart, so SAMPLING by event works. */
#define SIFIVE_TRACE_INFO_OVERFLOW	(1u << 3)
/*
 * perf may take cycle and instret from a session: the driver cannot withhold them from this
 * kernel's counter driver. STATUS reports a counter that was taken.
 */
#define SIFIVE_TRACE_INFO_FIXED_SHARED	(1u << 4)

/**
 * struct sifive_trace_encoder - a trace encoder
 * @size:	in: sizeof(struct sifive_trace_encoder)
 * @index:	in: index of the encoder, below sifive_trace_info.encoders
 * @cpu:	out: Linux CPU number, or -1 if Linux does not use that hart
 * @src:	out: source number in the encoder's messages (teImpl.srcID)
 * @src_bits:	out: width of the SRC field, 0 = none (teImpl.nSrcBits)
 * @sink:	out: index of the encoder's sink in the current capture, or ~0 if it has none
 * @flags:	out: SIFIVE_TRACE_ENCODER_*
 * @sinks:	out: bit n set: the encoder can send to sink kind n
 * @hart:	out: hart id
 * @mmap_offset: out: offset of the stimulus page for mmap()
 * @ts_width:	out: width of the encoder's timestamps in bits
 * @ts_type:	out: tsType of the encoder's timestamp unit
 * @name:	out: name in the device tree, NUL-terminated
 * @registers:	out: bit n set: stimulus register n produces messages. CONFIG finds this,
 *		@ts_registers and @channel by storing to each register
 * @ts_registers: out: bit n set: messages from register n have timestamps
 * @channel:	out: channel in the messages from each register
 * @instruction_modes: out: bit n set: the encoder accepts instruction mode n, n > 0 (teInstruction)
 * @reserved:	in: 0
 *
 * SIFIVE_TRACE_IOC_ENCODER. Needs no privilege. EINVAL: no such index.
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
	__u32	instruction_modes;
	__u32	reserved;
};

/* The encoder has its own SBA sink, so mapping its page also needs CAP_SYS_RAWIO. */
#define SIFIVE_TRACE_ENCODER_RAWIO	(1u << 0)
/*
 * Stimulus registers 16-31 are 0-15 with a timestamp: to write to channel n, store to register n +
 * 16. Found by CONFIG: not set before the first CONFIG.
 */
#define SIFIVE_TRACE_ENCODER_TS_CHANNELS (1u << 1)
/*
 * tsLower and tsUpper in the stimulus page advance with the timestamps of messages. Found by
 * CONFIG: not set before it, nor for an encoder outside the capture.
 */
#define SIFIVE_TRACE_ENCODER_TS_READABLE (1u << 2)
/* The encoder is part of the current or last capture. */
#define SIFIVE_TRACE_ENCODER_SELECTED	(1u << 3)
/* The encoder has stalled its hart or lost a message since CONFIG. */
#define SIFIVE_TRACE_ENCODER_STALLED	(1u << 4)
/* The stream has ended because the CPU is offline; it continues when the CPU comes online. */
#define SIFIVE_TRACE_ENCODER_ENDED	(1u << 5)
/* The encoder has reported a sink error since CONFIG. */
#define SIFIVE_TRACE_ENCODER_SINK_ERROR	(1u << 6)
/*
 * The encoder can stall its hart when it is full. Found by CONFIG: not set before it, nor for an
 * encoder outside the capture. An encoder that cannot stall drops messages that do not fit, even
 * without SIFIVE_TRACE_CONFIG_OVERFLOW: its stimulus registers read as 0 while they are full.
 */
#define SIFIVE_TRACE_ENCODER_CAN_STALL	(1u << 7)
/* The encoder's registers were changed from outside while it ran, so messages may be missing. */
#define SIFIVE_TRACE_ENCODER_CHANGED	(1u << 8)
/* CONFIG has examined the encoder's messages: registers, ts_registers and channel are valid. */
#define SIFIVE_TRACE_ENCODER_TESTED	(1u << 9)
/* CONFIG has tested the encoder, and no message arrived although the sink had room. */
#define SIFIVE_TRACE_ENCODER_SILENT	(1u << 10)

/**
 * struct sifive_trace_config - acquire the hardware for a capture
 * @size:	in: sizeof(struct sifive_trace_config)
 * @flags:	in: SIFIVE_TRACE_CONFIG_*
 * @sink:	in: SIFIVE_TRACE_SINK_SBA or SIFIVE_TRACE_SINK_SRAM
 * @prescale:	in: timestamp prescale as in tsPrescale: 0-3 for 1, 4, 16, 64; EOPNOTSUPP if
 *		the timestamp unit does not support it
 * @channels:	in: bit n set: stimulus register n produces messages; 0 only if an
 *		instruction mode is set. On an encoder with
 *		SIFIVE_TRACE_ENCODER_TS_CHANNELS, bits 16-31 are channels 0-15 with a
 *		timestamp: for a mask c of channels below 16, c | c << 16 suits any encoder
 * @sinks:	out: number of sinks of the capture
 * @buffer:	in: bytes for each SBA sink, rounded up to the sink word; 0 for SRAM.
 *		out: size of the smallest sink
 * @encoders:	in: bit n set: encoder n is part of the capture; 0 = all usable encoders. out:
 *		the encoders that are part of the capture
 * @watermark:	in: number of unread bytes at which poll() reports a running capture as
 *		readable; 0 = only when it has stopped or is full, or, with
 *		SIFIVE_TRACE_CONFIG_DRAIN, at the first byte
 * @instruction: in: instruction trace
 *
 * SIFIVE_TRACE_IOC_CONFIG. Needs a descriptor open for writing, and CAP_PERFMON or
 * CAP_SYS_ADMIN. Ends the session's previous capture, discards its data, overwrites SRAM,
 * and leaves the hardware ready for START. After ENOMEM, ETIMEDOUT, EIO, and EOPNOTSUPP
 * for a memory-region, there is no session; after any other error nothing has changed.
 *
 * EACCES: descriptor not open for writing. EPERM: capability missing. EBUSY: another session holds
 * the hardware (STATUS names it), the capture is running, or the system is suspending or shutting
 * down. EOPNOTSUPP: an encoder is unusable or has no route to a sink of that kind. ENOMEM: no
 * buffer of that size. ETIMEDOUT, EIO: a component did not respond (STATUS names it).
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
	struct sifive_trace_instruction instruction;
};

/* Keep the newest bytes (default: stop when the buffer is full). */
#define SIFIVE_TRACE_CONFIG_RING	(1u << 0)
/* Drop messages that do not fit into the encoder (default: stall the hart). */
#define SIFIVE_TRACE_CONFIG_OVERFLOW	(1u << 1)
/* No timestamps in messages. */
#define SIFIVE_TRACE_CONFIG_NO_TIMESTAMP (1u << 2)
/*
 * read() follows the running capture and returns each byte once. For SBA buffers of 4096
 * bytes or more; EINVAL together with SIFIVE_TRACE_CONFIG_RING.
 */
#define SIFIVE_TRACE_CONFIG_DRAIN	(1u << 3)
/*
 * Make stores wait for a slow reader: while a sink has no room, a program's store to a stimulus
 * page sleeps in its page fault until there is room, the capture stops or the session ends. Signals
 * are handled during the wait. Records that the kernel writes do not wait, but count as lost. If no
 * file reads the sink, stores wait for only 5 seconds; then they continue, and the bytes that they
 * overwrite count as lost. A system call that accesses a stimulus page while stores to it wait
 * fails with EFAULT. Bytes are lost if more than three quarters of the buffer are written before
 * the driver detects that there is no room. EINVAL: without SIFIVE_TRACE_CONFIG_DRAIN, with
 * SIFIVE_TRACE_CONFIG_OVERFLOW, or with a buffer of less than 65536 bytes.
 */
#define SIFIVE_TRACE_CONFIG_WAIT	(1u << 4)
/*
 * Have programs drop records while a sink has no room: the kernel sets the sink's
 * SIFIVE_TRACE_FULL_BYTES, which a program reads before each record. The kernel's records count
 * as lost while there is no room. A program that does not check the byte overwrites unread bytes.
 * EINVAL: without _DRAIN, with _WAIT or _OVERFLOW, or with a buffer of less than 1048576 bytes:
 * programs may fill three quarters of it before the driver detects that there is no room.
 */
#define SIFIVE_TRACE_CONFIG_DROP	(1u << 5)

/**
 * struct sifive_trace_event - an event to count
 * @type:	in: SIFIVE_TRACE_EVENT_GENERAL, _CACHE, _RAW or _FIRMWARE: 0, 1, 2 or 15
 * @code:	in: type 0: the SBI code, or SIFIVE_TRACE_EVENT_TIMESTAMP; type 15: the SBI
 *		code; type 1: cache_id << 3 | op_id << 1 | result_id; type 2: 0
 * @data:	in: type 2: value of the event selector; otherwise 0
 * @flags:	in: SIFIVE_TRACE_EVENT_NO_*, and SIFIVE_TRACE_EVENT_OF_SAMPLES
 * @counter:	out: counter number, 0-31: 0 cycle, 1 timestamp, 2 instret,
 *		n hpmcounter n
 * @info:	out: SBI counter_info: SIFIVE_TRACE_COUNTER_CSR (0 if there is none) and
 *		SIFIVE_TRACE_COUNTER_WIDTH (width - 1)
 * @turn:	in: 0. out: 0 if always counted, otherwise the number, from 1, of its turn
 *
 * Firmware's events (type 15) have no CSR and no @flags, and @counter is a number that no other
 * counter has. Only the kernel can read them, so only records from SAMPLING contain their counts.
 */
struct sifive_trace_event {
	__u32	type;
	__u32	code;
	__u64	data;
	__u32	flags;
	__u32	counter;
	__u32	info;
	__u32	turn;
};

/* Exclude user mode, or exclude the kernel, but not both. Needs Sscofpmf. */
#define SIFIVE_TRACE_EVENT_NO_USER	(1u << 0)
#define SIFIVE_TRACE_EVENT_NO_KERNEL	(1u << 1)
/*
 * For COUNTERS: a later SAMPLING will sample on this event, with the same flags except this one.
 * The event uses none of the session's counters; the kernel's records contain the count of the
 * interrupting counter. Programs cannot read that count: @counter is not one of the session's
 * counters, and @info has no CSR. SAMPLING by another event, or by time, then fails with EINVAL.
 */
#define SIFIVE_TRACE_EVENT_OF_SAMPLES	(1u << 2)

/**
 * struct sifive_trace_counters - allocate counters on the hart of every selected encoder
 * @size:	in: sizeof(struct sifive_trace_counters)
 * @count:	in: number of events, 0-32; 0 releases all counters
 * @flags:	in: SIFIVE_TRACE_COUNTERS_*
 * @mask:	out: bit n set: counter n counts for this session, and programs can read it
 * @failed:	out: index of the refused event, or ~0 if there is none
 * @turn_us:	in: length of a turn in microseconds, 0 = 4000; must be 0 without _TURNS
 * @event:	in and out: the events; each gets its own counter, or a turn on a shared one
 *
 * SIFIVE_TRACE_IOC_COUNTERS. Needs a CONFIG by the same session, and CAP_PERFMON or CAP_SYS_ADMIN.
 * Replaces the session's counters. After an error the session keeps its previous counters, except
 * those that another user has taken since then; STATUS reports these as lost. Until the session
 * ends, the calling thread and each thread that called THREAD may read the counters' CSRs while
 * they run on these harts. On other harts, and in other threads, the access raises an
 * illegal-instruction exception (SIGILL).
 *
 * EINVAL: malformed or repeated event (@failed). EOPNOTSUPP: firmware does not support the event,
 * cannot filter it, or does not delegate its counter; or SIFIVE_TRACE_EVENT_OF_SAMPLES is set and
 * perf's driver is unknown. EBUSY: no counter that can count the event is free on all harts, the
 * capture is running, or the system is suspending. ENXIO: no CONFIG on this descriptor, or all
 * CPUs of its encoders are offline. EPERM: capability missing. ENOSPC, ENOMEM: see THREAD.
 */
struct sifive_trace_counters {
	__u32	size;
	__u32	count;
	__u32	flags;
	__u32	mask;
	__u32	failed;
	__u32	turn_us;
	struct sifive_trace_event event[SIFIVE_TRACE_MAX_COUNTERS];
};

/* Count for each thread separately; see struct sifive_trace_slot. */
#define SIFIVE_TRACE_COUNTERS_PER_THREAD (1u << 0)
/* If there are more events than counters, some take turns: see SIFIVE_TRACE_TURNS_MAX. */
#define SIFIVE_TRACE_COUNTERS_TURNS	(1u << 1)

/**
 * struct sifive_trace_slot - offsets that convert a hart's counts to a thread's
 * @offset:	value to add to CSR n, modulo the counter's width. Counter 1 has no CSR: its entry
 *		is the number of times that the kernel wrote the other entries
 *
 * An array of SIFIVE_TRACE_THREADS slots, mapped read-only with mmap() at
 * SIFIVE_TRACE_MMAP_THREADS. Accessing a page raises SIGBUS until a thread has had a slot in
 * it. The kernel writes a thread's offsets whenever it switches the thread in, so offset
 * and CSR match only if the thread was neither preempted nor moved between the two reads. A
 * restartable sequence, rseq(2), ensures that.
 */
struct sifive_trace_slot {
	__u64	offset[SIFIVE_TRACE_MAX_COUNTERS];
};

#define SIFIVE_TRACE_THREADS		2048
#define SIFIVE_TRACE_MMAP_THREADS	0x1000000

/**
 * struct sifive_trace_thread - join the calling thread to the session
 * @size:	in: sizeof(struct sifive_trace_thread)
 * @flags:	in: SIFIVE_TRACE_THREAD_*
 * @slot:	out: index of the thread's slot, or ~0 without SIFIVE_TRACE_COUNTERS_PER_THREAD
 * @reserved:	in: 0
 * @id:		out: the thread's id in the pid namespace of CONFIG's caller, or 0
 *
 * SIFIVE_TRACE_IOC_THREAD. For threads of CONFIG's caller, and any thread with CAP_PERFMON or
 * CAP_SYS_ADMIN. A joined thread may read the session's counters, including counters from a later
 * COUNTERS, until it leaves or exits, or the session ends. Joining again restores revoked access,
 * for example after a change of kernel.perf_user_access. New threads and children join separately.
 *
 * ENXIO: no CONFIG on this descriptor. EPERM: another process, without a capability.
 * ENOSPC: all slots are taken. ENOMEM.
 */
struct sifive_trace_thread {
	__u32	size;
	__u32	flags;
	__u32	slot;
	__u32	reserved;
	__u32	id;
};

#define SIFIVE_TRACE_THREAD_LEAVE	(1u << 0) /* leave the session */

/**
 * struct sifive_trace_sampling - records written by the kernel
 * @size:	in: sizeof(struct sifive_trace_sampling)
 * @flags:	in: SIFIVE_TRACE_SAMPLING_*
 * @channel:	in: stimulus register that only these records may use, one of CONFIG's @channels
 * @count_type:	in: SIFIVE_TRACE_SAMPLING_RAW, _DELTA or _XOR
 * @interval:	in: nanoseconds of running time between records; smaller values are raised to
 *		100000; 0 = sample on @period, or not at all if @period is also 0. out: the interval
 *		in effect
 * @period:	in: events between records; smaller values are raised to 10000, or to 1000 if the
 *		event counts in user mode only; 0 = sample on @interval. out: the period in effect
 * @event:	in: the event for @period
 *
 * SIFIVE_TRACE_IOC_SAMPLING. Needs a CONFIG and COUNTERS by the same session, and CAP_PERFMON or
 * CAP_SYS_ADMIN. Replaces the previous setting, which is kept after an error; a later successful
 * COUNTERS clears it. From START to STOP the kernel interrupts all threads, including new ones, of
 * the processes that START names, or of its caller if it names none; with _CHILDREN, also the
 * threads of their new children. It writes an ISR record with the user-mode pc and the session's
 * counters to the interrupted hart's encoder. Unless SIFIVE_TRACE_SAMPLING_EXEC is set, execve()
 * ends the sampling of its caller, even of a child; a thread inside execve() has no user-mode pc,
 * and is sampled only with _KERNEL. START writes a header to each encoder. With
 * SIFIVE_TRACE_COUNTERS_PER_THREAD each record adds to the stream's counts what the thread has
 * counted since its last record, or since START, whether or not the thread has joined. With more
 * than SIFIVE_TRACE_THREADS threads at a time (with _ALL or _CHILDREN all threads of the machine
 * count), records are lost; STATUS counts them. @event counts in the kernel regardless of
 * kernel.perf_event_paranoid, as with COUNTERS. perf drops interrupts that exceed the rate
 * kernel.perf_event_max_sample_rate or the share of CPU time kernel.perf_cpu_time_max_percent;
 * dropped interrupts write no record and do not count as lost.
 *
 * EINVAL: channel not in CONFIG, malformed event, or COUNTERS has reserved another event for
 * sampling. EPERM: capability missing. EOPNOTSUPP: @period without SIFIVE_TRACE_INFO_OVERFLOW, or
 * an event that cannot interrupt (firmware event, timestamp) or that perf cannot encode (raw
 * event wider than 48 bits, unknown cache or cache operation). EBUSY: the capture is running, no
 * counter for @event is free in addition to the session's and perf's, or a process that has joined
 * holds the channel. ENXIO: no CONFIG on this descriptor. ENOMEM.
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

/* How records encode counts: as values, as differences, or XORed with the previous value. */
#define SIFIVE_TRACE_SAMPLING_RAW		SIFIVE_TRACE_RECORD_RAW
#define SIFIVE_TRACE_SAMPLING_DELTA	SIFIVE_TRACE_RECORD_DELTA
#define SIFIVE_TRACE_SAMPLING_XOR		SIFIVE_TRACE_RECORD_XOR

/* Sample everything that runs on the capture's harts. START then needs a capability (EPERM). */
#define SIFIVE_TRACE_SAMPLING_ALL	(1u << 0)
/* One header for the whole capture: only a START that rewinds writes one. */
#define SIFIVE_TRACE_SAMPLING_ONE_HEADER (1u << 1)
/* Continue to sample a process after it calls execve(). */
#define SIFIVE_TRACE_SAMPLING_EXEC	(1u << 2)
/* Repeat the header, for readers of wrapped rings. EINVAL: not _XOR, or _ONE_HEADER is set. */
#define SIFIVE_TRACE_SAMPLING_HEADERS	(1u << 3)
/*
 * _CALLERS: before each sample, write its callers: the return-address register, then return
 * addresses found through frame pointers, at most SIFIVE_TRACE_CALLERS_MAX in all; for a 32-bit
 * process on a 64-bit kernel, only the register. _STACK: write registers and this many bytes of the
 * stack, a multiple of 8 up to SIFIVE_TRACE_STACK_MAX, as far as they are in memory. EINVAL: both.
 */
#define SIFIVE_TRACE_SAMPLING_CALLERS	(1u << 4)
/* With _CALLERS or _STACK: kernel samples begin with kernel functions. Cleared under lockdown. */
#define SIFIVE_TRACE_SAMPLING_KERNEL	(1u << 5)
#define SIFIVE_TRACE_SAMPLING_THREADS	(1u << 6) /* before each sample, write its thread */
/* Also sample the processes that sampled processes create from now on, and their descendants. */
#define SIFIVE_TRACE_SAMPLING_CHILDREN	(1u << 7)
#define SIFIVE_TRACE_SAMPLING_STACK(bytes) ((__u32)(bytes) << 16)
/* Number of records from one header to the next. */
#define SIFIVE_TRACE_SAMPLING_HEADER_EVERY	100

/**
 * struct sifive_trace_query - find the counters that can count an event
 * @size:	in: sizeof(struct sifive_trace_query)
 * @flags:	in: 0
 * @event:	in: the event; not changed
 * @counters:	out: bit n set: on the calling CPU, counter n can count the event and is
 *		free. For a firmware event only bit 31 can be set: firmware has a free counter
 * @readable:	out: bit n set: firmware delegates counter n on that CPU; 0 for a firmware event
 * @known:	out: bit n set: counter n exists on that CPU; 0 for a firmware event
 * @reserved:	in: 0
 *
 * SIFIVE_TRACE_IOC_EVENT. Needs a descriptor open for writing, and CAP_PERFMON or
 * CAP_SYS_ADMIN, but no session. EINVAL: malformed event. EOPNOTSUPP: no usable counters.
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
 * @holder:	out: id of the process that configured the hardware, 0 = none
 * @sinks:	out: number of sinks of the capture
 * @bytes:	out: bytes that read() can return now, in all sinks
 * @buffer:	out: size of all sinks together
 * @stalls:	out: number of encoders that have stalled their hart or lost a message
 * @sink_errors: out: number of components with a sink error that no other component's
 *		state explains
 * @stalled:	out: bit n set: encoder n is counted in @stalls
 * @ended:	out: bit n set: the stream of encoder n has ended because its CPU is
 *		offline. It continues when the CPU comes online or, if the encoder has
 *		lost its registers, only after the next CONFIG
 * @samples:	out: number of records that SAMPLING has written since CONFIG
 * @samples_lost: out: number of records that SAMPLING could not write since CONFIG, for example
 *		because the sink was full. A thread or CPU without a counter for its event counts as
 *		one lost record; a thread created after START must still exist at STATUS or STOP
 * @counters_lost: out: bit n set: counter n of the session was stopped, moved or lost on
 *		some hart since COUNTERS: do not trust its values
 * @capture:	out: number of the current or last capture: counts CONFIGs; 0 = none since
 *		the module was loaded
 * @message:	out: the last error or report on this descriptor, empty if there is none
 * @changed:	out: bit n set: registers of encoder n were changed from outside while the
 *		capture ran, for example by a store to teControl in its stimulus page, so
 *		messages may be missing. Detected by STATUS and STOP, kept until the next
 *		CONFIG; START restores the encoder's registers
 * @gaps:	out: with _DRAIN: number of times that unread bytes were overwritten, in all sinks
 * @lost:	out: number of overwritten bytes; a lower bound with SIFIVE_TRACE_STATUS_GAP_MORE
 * @waits:	out: with SIFIVE_TRACE_CONFIG_WAIT: number of times since CONFIG that
 *		stores have waited or the program itself has delayed a record
 * @waited:	out: total length of these waits in nanoseconds, excluding those still in progress
 * @pauses:	out: number of times that PAUSE has paused the capture since CONFIG
 * @paused:	out: total length of the pauses in nanoseconds, including the current one
 * @switches:	out: number of records that SWITCHES has written since CONFIG
 * @switches_lost: out: number of records that SWITCHES could not write since CONFIG
 * @instruction: out: instruction trace since CONFIG
 * @fulls:	out: with _WAIT or _DROP: number of times since CONFIG that a sink has had no room
 * @full_ns:	out: total time without room in a sink, in ns, including the current period
 * @switches_elsewhere: out: number of times since CONFIG that a thread recorded by SWITCHES began
 *		to run on a CPU that writes no records
 * @switches_processes: out: number of processes omitted, with their children, for lack of room
 * @wakeups_elsewhere: out: number of times since CONFIG that a CPU that writes no records woke a
 *		thread recorded by SWITCHES, with SIFIVE_TRACE_SWITCHES_WAKEUPS
 *
 * SIFIVE_TRACE_IOC_STATUS. Needs no privilege. Registers: teControl, tfControl, tsControl, the sink
 * registers, itcTraceEnable and the triggers (teEventControl, xtiControl, xtoControl, wpControl,
 * itcTrigEnable), which are compared with what was programmed. On the session's own descriptor the
 * call interrupts harts to check the counters; on other descriptors it returns the result of the
 * last check. Files that may not read the capture get only @holder, @sinks, @buffer, @ended and
 * @capture, and in @flags whether the hardware is configured and running.
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
	__u64	waits;
	__u64	waited;
	__u64	pauses;
	__u64	paused;
	__u64	switches;
	__u64	switches_lost;
	struct sifive_trace_instruction_status instruction;
	__u64	fulls;
	__u64	full_ns;
	__u64	switches_elsewhere;
	__u64	switches_processes;
	__u64	wakeups_elsewhere;
};

/* A session holds the hardware. */
#define SIFIVE_TRACE_STATUS_CONFIGURED	(1u << 0)
/* The capture has been started and not stopped since; it may be paused. */
#define SIFIVE_TRACE_STATUS_RUNNING	(1u << 1)
/* A sink is full and stopped the capture. */
#define SIFIVE_TRACE_STATUS_FULL	(1u << 2)
/* A ring has overwritten its oldest bytes. */
#define SIFIVE_TRACE_STATUS_WRAPPED	(1u << 3)
/* This descriptor holds the session. */
#define SIFIVE_TRACE_STATUS_OWNER	(1u << 4)
/*
 * A component has reported a sink error, so bytes are missing. A full sink is not an
 * error, although components that send to it raise the same bit.
 */
#define SIFIVE_TRACE_STATUS_SINK_ERROR	(1u << 5)
/* Registers of a component were changed from outside while it ran. */
#define SIFIVE_TRACE_STATUS_CHANGED	(1u << 6)
/* Bytes of a drained sink were overwritten before they were read. */
#define SIFIVE_TRACE_STATUS_GAP		(1u << 7)
/* More bytes were lost than were counted, because the ring was overwritten more than once. */
#define SIFIVE_TRACE_STATUS_GAP_MORE	(1u << 8)
/* A sink has no room: stores wait for its reader, or records are dropped. */
#define SIFIVE_TRACE_STATUS_WAITING	(1u << 9)
/* PAUSE has paused the capture. */
#define SIFIVE_TRACE_STATUS_PAUSED	(1u << 10)

/**
 * struct sifive_trace_sink - a sink of the capture
 * @size:	in: sizeof(struct sifive_trace_sink)
 * @index:	in: index of the sink, below sifive_trace_status.sinks
 * @kind:	out: enum sifive_trace_sink_kind
 * @word:	out: size of a sink word in bytes
 * @flags:	out: SIFIVE_TRACE_STATUS_FULL, SIFIVE_TRACE_STATUS_WRAPPED,
 *		SIFIVE_TRACE_STATUS_SINK_ERROR, SIFIVE_TRACE_STATUS_GAP,
 *		SIFIVE_TRACE_STATUS_GAP_MORE
 * @src_bits:	out: width of the SRC field in the sink's messages
 * @bytes:	out: captured bytes in the sink that read() can return
 * @buffer:	out: size of the sink in bytes
 * @offset:	out: offset of the sink's bytes in the file; 0 for a drained sink
 * @encoders:	out: bit n set: encoder n sends to this sink
 * @name:	out: name of the component with the sink, NUL-terminated
 * @given:	out: number of bytes that read() has returned. This and the fields up to
 *		@gap_end are 0 without SIFIVE_TRACE_CONFIG_DRAIN
 * @gaps:	out: number of times that bytes were overwritten before they were read
 * @lost:	out: number of overwritten bytes; a lower bound with SIFIVE_TRACE_STATUS_GAP_MORE
 * @gap_offset:	out: number of bytes that read() had returned before the last gap; the gap's Error
 *		messages follow these bytes
 * @gap_begin:	out: lower bound on the time at which the last gap's bytes were written, in
 *		nanoseconds of CLOCK_MONOTONIC
 * @gap_end:	out: upper bound on that time
 * @start_time:	out: clock of the sink's messages just before START, in ticks, modulo 2^ts_width
 * @start_ns:	out: CLOCK_MONOTONIC at that time, in nanoseconds
 * @start_within: out: maximum number of nanoseconds between the readings of the two clocks
 * @time:	out: clock as in @start_time, but now or when the capture stopped
 * @time_ns:	out: as @start_ns, for @time
 * @time_within: out: as @start_within, for @time
 *
 * The last six members are 0 if there are no timestamps, the sink's encoders have several clocks,
 * an encoder is offline, or system suspend or a START that restored registers has restarted the
 * clock. CONFIG starts the clocks of several sinks together if the hardware can reset them.
 *
 * SIFIVE_TRACE_IOC_SINK. Needs no privilege; files that may not read the capture get 0 for
 * @flags, @bytes, @offset and everything after @name. EINVAL: no such index.
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
	__u64	start_time;
	__u64	start_ns;
	__u64	start_within;
	__u64	time;
	__u64	time_ns;
	__u64	time_within;
};

/**
 * struct sifive_trace_start - argument of START
 * @size:	in: sizeof(struct sifive_trace_start), or less if all omitted members are 0
 * @flags:	in: SIFIVE_TRACE_START_*
 * @processes:	in: address of @count ids, each an __s32, of the processes that SAMPLING, SWITCHES
 *		and instruction trace record; 0 = the caller. While a capture runs or is paused,
 *		the ids are only checked. out: ids without a process become 0
 * @count:	in: number of ids, at most SIFIVE_TRACE_MAX_PROCESSES, or 0 if @processes is 0
 * @reserved:	in: 0
 *
 * Threads created while START enumerates threads may be missed. Errors: those of struct
 * sifive_trace_run. With @processes also ESRCH: none of them exists. EINVAL: too many; ON_EXEC is
 * set; an id is negative, repeated or a kernel thread's. EPERM: capability missing. EFAULT.
 */
struct sifive_trace_start {
	__u32	size;
	__u32	flags;
	__u64	processes;
	__u32	count;
	__u32	reserved;
};

/**
 * struct sifive_trace_run - argument of STOP and PAUSE; START has the same first members
 * @size:	in: sizeof(struct sifive_trace_run)
 * @flags:	in: STOP: 0; PAUSE: 0 or SIFIVE_TRACE_PAUSE_END
 *
 * START makes the configured encoders produce messages; each encoder first sends its absolute
 * timestamp. New data is appended. STOP returns when all messages have reached the sinks.
 * Repeating either call has no effect.
 *
 * ENXIO: no CONFIG on this descriptor. EPERM: another process's session, and capability missing.
 * ENOSPC: START of a full capture. EBUSY: START while the system is suspending, or no counter is
 * free for SAMPLING. EPERM, EOPNOTSUPP, ENOMEM: START cannot sample, see SAMPLING; the capture is
 * then stopped. ESTALE: captured data was lost during system sleep; call START with REWIND, or
 * call CONFIG. ETIMEDOUT: a component did not respond. EIO: a register did not accept a value, or a
 * component reported a sink error (STATUS names it). A failed START may have rewound the capture.
 * After a STOP that fails, the capture has stopped, and the data in the sinks is readable.
 *
 * PAUSE, on any descriptor open for writing, stops a running capture without involving its program:
 * stores are dropped until PAUSE with SIFIVE_TRACE_PAUSE_END. Because records were cut off or
 * dropped, the capture then continues with an Error message from each encoder (TCODE 8, ETYPE 0,
 * ECODE 0x20), followed by the absolute timestamps of a START. Repeating either call has no effect.
 * START also ends the pause; so do STOP and the end of the session. For a file that drains the
 * capture, a pause is not the end of the capture. PAUSE needs CAP_PERFMON or CAP_SYS_ADMIN, except
 * in the process that called CONFIG.
 *
 * ENXIO: no capture is running. EPERM: another process's session, and capability missing.
 * EOPNOTSUPP: the sink is SRAM. ENOSPC: at the end of a pause, there is no room for the Error
 * messages. EBUSY and other errors: as for STOP and START; the capture is then paused, whether
 * starting or ending the pause failed.
 */
struct sifive_trace_run {
	__u32	size;
	__u32	flags;
};

#define SIFIVE_TRACE_START_REWIND	(1u << 0) /* discard the captured data */
/*
 * Begin to sample the caller, and to trace its instructions, at its next execve(): before the
 * first instruction of the new program. Has no effect if all processes are recorded.
 */
#define SIFIVE_TRACE_START_ON_EXEC	(1u << 1)
#define SIFIVE_TRACE_PAUSE_END		(1u << 0)

/**
 * struct sifive_trace_attach - a descriptor for the open file behind a mapping
 * @size:	in: sizeof(struct sifive_trace_attach)
 * @flags:	in: 0 or SIFIVE_TRACE_ATTACH_COMPARE
 * @address:	in: address where the caller has mapped a page of this device
 * @fd:		out: a new descriptor, with O_CLOEXEC, of the file mapped there; -1 with
 *		SIFIVE_TRACE_ATTACH_COMPARE
 * @reserved:	in: 0
 *
 * SIFIVE_TRACE_IOC_ATTACH, on any descriptor of the device. A mapping keeps the open file and the
 * session from being released when the program closes the descriptor.
 *
 * ENOENT: no page of this device is mapped at @address. EXDEV: with SIFIVE_TRACE_ATTACH_COMPARE,
 * the descriptor refers to another open file. EMFILE: no descriptor is free.
 */
struct sifive_trace_attach {
	__u32	size;
	__u32	flags;
	__u64	address;
	__s32	fd;
	__u32	reserved;
};

/* Only compare the open file of this descriptor with the mapped file. */
#define SIFIVE_TRACE_ATTACH_COMPARE	(1u << 0)

#define SIFIVE_TRACE_IOC_INFO _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x00, struct sifive_trace_info)
#define SIFIVE_TRACE_IOC_ENCODER _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x01, struct sifive_trace_encoder)
#define SIFIVE_TRACE_IOC_CONFIG _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x02, struct sifive_trace_config)
#define SIFIVE_TRACE_IOC_COUNTERS _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x03, struct sifive_trace_counters)
#define SIFIVE_TRACE_IOC_START _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x04, struct sifive_trace_start)
#define SIFIVE_TRACE_IOC_STOP _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x05, struct sifive_trace_run)
#define SIFIVE_TRACE_IOC_STATUS _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x06, struct sifive_trace_status)
#define SIFIVE_TRACE_IOC_SINK _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x07, struct sifive_trace_sink)
#define SIFIVE_TRACE_IOC_THREAD _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x08, struct sifive_trace_thread)
#define SIFIVE_TRACE_IOC_SAMPLING _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x09, struct sifive_trace_sampling)
#define SIFIVE_TRACE_IOC_EVENT _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x0a, struct sifive_trace_query)
#define SIFIVE_TRACE_IOC_ATTACH _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x0b, struct sifive_trace_attach)
#define SIFIVE_TRACE_IOC_LOSSES _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x0c, struct sifive_trace_losses)
#define SIFIVE_TRACE_IOC_PAUSE _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x0d, struct sifive_trace_run)
#define SIFIVE_TRACE_IOC_SWITCHES _IOWR(SIFIVE_TRACE_IOC_TYPE, 0x0e, struct sifive_trace_switches)

#endif /* _UAPI_LINUX_SIFIVE_TRACE_H */

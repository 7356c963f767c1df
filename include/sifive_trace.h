/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Record performance counters in a SiFive processor's trace.
 *
 *	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
 *	struct sifive_trace *trace = sifive_trace_open();
 *
 *	options.events = "cycles,instructions,L1-dcache-load-misses:u";
 *	options.buffer = 1 << 20;
 *	if (!trace || sifive_trace_setup(trace, &options) ||
 *	    sifive_trace_on(trace))
 *		errx(1, "%s", sifive_trace_error());
 *	...
 *	sifive_trace_off(trace);
 *	sifive_trace_dump(trace, "trace.rtd");
 *	sifive_trace_close(trace);
 *
 * While tracing is on, functions compiled with -finstrument-functions write a record at entry and
 * exit, sifive_trace_write() writes a record where it is called, and the kernel writes a record for
 * each sample. All threads record, on all traced CPUs. A record needs no system call.
 *
 * Functions that return int return 0 on success and -1 on error; sifive_trace_error() explains the
 * error. The environment variables SIFIVE_TRACE_DEVICE, SIFIVE_TRACE_VERBOSE and SIFIVE_TRACE_META
 * have the effects that sifive_linux_perf.h describes. Both APIs use the same session.
 *
 * A process has one session at a time, because hooks carry no handle, and because the hardware, its
 * counters and a thread's channel can have only one owner. Another handle cannot set up a session
 * until the first handle is closed. Handles ensure that a library in the program cannot turn off,
 * or write into, a trace that other code has set up.
 *
 * Programs for the SiFive Trace Performance Library include this header for the names of
 * sifive_linux_trace.h.
 */
#ifndef SIFIVE_TRACE_H
#define SIFIVE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "sifive_linux_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sifive_trace;

/* How records encode counters: see perfCountType_t in sifive_linux_perf.h. */
enum sifive_trace_count {
	SIFIVE_TRACE_RAW		= 0,
	SIFIVE_TRACE_DELTA	= 1,
	SIFIVE_TRACE_XOR		= 2,
};

/* sifive_trace_options.flags */
enum {
	/* Keep the newest bytes. Default: the trace ends when a buffer is full. */
	SIFIVE_TRACE_RING		= 1 << 0,
	/* Count for each thread separately: records count from the thread's first record,
	 * samples from sifive_trace_on(). This is the default, so the flag changes nothing; it
	 * cannot be combined with SIFIVE_TRACE_PER_CPU.
	 */
	SIFIVE_TRACE_PER_THREAD		= 1 << 1,
	/* Before each record, poll until the encoder has room, so that interrupts can be
	 * taken during the wait. The rest of the record can still stall the processor. If an
	 * encoder cannot stall, each store polls, regardless of this flag.
	 */
	SIFIVE_TRACE_POLL		= 1 << 2,
	/* Do not write records at function entry and exit. */
	SIFIVE_TRACE_NO_HOOKS		= 1 << 3,
	/*
	 * Only the first sifive_trace_on() writes headers. With SIFIVE_TRACE_DELTA a thread that
	 * reuses an ended thread's channel also writes a header, because its per-thread differences
	 * start there. For decoders that reject a second header, use SIFIVE_TRACE_PER_CPU,
	 * SIFIVE_TRACE_RAW or SIFIVE_TRACE_XOR.
	 */
	SIFIVE_TRACE_HEADER_ONCE	= 1 << 4,
	/* Sample everything that runs on the traced CPUs, not only the calling process. */
	SIFIVE_TRACE_SAMPLE_ALL		= 1 << 5,
	/*
	 * Record the harts' counts, which include the counts of other programs. All outputs of the
	 * trace mark such counts.
	 */
	SIFIVE_TRACE_PER_CPU		= 1 << 6,
	/*
	 * Make the kernel record, on a separate channel, when each thread of the process starts and
	 * stops running; with SIFIVE_TRACE_SAMPLE_ALL, record this for all threads. Only the shared
	 * library supports this.
	 */
	SIFIVE_TRACE_SWITCHES		= 1 << 7,
	/* Like SIFIVE_TRACE_SWITCHES, and also record each system call of these threads. */
	SIFIVE_TRACE_SYSCALLS		= 1 << 8,
	/* Like SIFIVE_TRACE_SWITCHES, and also record each page fault of these threads. */
	SIFIVE_TRACE_PAGE_FAULTS	= 1 << 10,
	/* Samples include their callers, found with frame pointers: compile with
	 * -fno-omit-frame-pointer. Samples in the kernel include kernel functions, so only the user
	 * running the program can read the files.
	 */
	SIFIVE_TRACE_CALLERS		= 1 << 9,
};

/* A name for a raw event, in addition to those that sifive_trace_setup() accepts. */
struct sifive_trace_name {
	const char *name;
	uint64_t data;
};

/**
 * struct sifive_trace_options - options of a trace; initialise with SIFIVE_TRACE_OPTIONS
 * @size:	sizeof(struct sifive_trace_options)
 * @flags:	SIFIVE_TRACE_*
 * @count_type:	enum sifive_trace_count
 * @events:	up to 32 names, separated by commas; NULL or "" for none. Names are cycles,
 *		instructions, L1-dcache-load-misses and other names that perf list shows; timestamp;
 *		rHEX or cpu/event=NUMBER/ for raw events. ":u" or ":k" after a name counts only in
 *		user or kernel mode. Only samples contain fw:ipi-sent and other events that firmware
 *		counts: these events need @interval or @period, and SIFIVE_TRACE_NO_HOOKS;
 *		sifive_trace_write() then does nothing
 * @buffer:	bytes of memory for each sink; 0 uses the SRAM of the trace hardware
 * @cpus:	CPUs to trace, such as "0-2,5"; NULL for all that have an encoder and that
 *		the calling thread may run on
 * @channel:	ITC channel of the first thread, or of the kernel's records if only the kernel
 *		writes records; other threads take free channels. Decoders expect 6
 * @interval:	microseconds between samples, at least 100; 0 for none
 * @period:	events between samples, 0 for none
 * @period_event: event that @period counts
 * @filter:	file that lists the functions to record, or NULL for all. A line is OBJECT START
 *		END: the object's file name, and hexadecimal addresses relative to its load
 *		address. If a line begins with "> ", a thread's recording begins when the thread
 *		calls one of the line's functions, and ends when that call returns or when the
 *		thread calls a function in a line that begins with "< ". "^ N" records nested calls
 *		only up to depth N
 * @names:	additional names of events
 * @names_count: number of elements of @names
 * @header_interval: number of records from one header to the next, for each thread on each CPU; 0
 *		for 100. Only with SIFIVE_TRACE_RING and SIFIVE_TRACE_XOR, and without
 *		SIFIVE_TRACE_HEADER_ONCE. In a wrapped ring, records before the first header are
 *		lost
 * @stack:	samples include registers and this many bytes of the stack, in which readers find
 *		the callers with unwind tables: a multiple of 8 up to 8192, 0 for neither. Cannot be
 *		combined with SIFIVE_TRACE_CALLERS; samples in the kernel are the same as with that
 *		flag
 */
struct sifive_trace_options {
	size_t size;
	unsigned int flags;
	unsigned int count_type;
	const char *events;
	uint64_t buffer;
	const char *cpus;
	unsigned int channel;
	unsigned int interval;
	uint64_t period;
	const char *period_event;
	const char *filter;
	const struct sifive_trace_name *names;
	size_t names_count;
	unsigned int header_interval;
	unsigned int stack;
};

#define SIFIVE_TRACE_OPTIONS \
	{ sizeof(struct sifive_trace_options), 0, SIFIVE_TRACE_DELTA, \
	  NULL, 1 << 20, NULL, 6, 0, 0, NULL, NULL, NULL, 0, 0, 0 }

/* sifive_trace_report.flags */
enum {
	SIFIVE_TRACE_ON		= 1 << 0,	/* tracing is on */
	SIFIVE_TRACE_FULL	= 1 << 1,	/* a buffer is full */
	SIFIVE_TRACE_WRAPPED	= 1 << 2,	/* a ring has lost its oldest bytes */
	SIFIVE_TRACE_CHANGED	= 1 << 3,	/* an encoder's registers were changed while
						 * it ran: records may be missing
						 */
};

/**
 * struct sifive_trace_report - state of the trace
 * @size:	sizeof(struct sifive_trace_report), set by the caller
 * @flags:	SIFIVE_TRACE_ON ...
 * @sinks:	number of files that sifive_trace_dump() writes
 * @bytes:	captured bytes
 * @lost_signals: records from signal handlers: the handler interrupted a record and found the queue
 *		full, or its record was still queued when the thread ended or tracing was turned off
 *		or paused
 * @lost_threads: records lost because the thread had no channel or no access to the counters, the
 *		CPU had no encoder, or the trace was being written to files
 * @lost_abandoned: unfinished records: a handler left them with siglongjmp() or turned tracing off,
 *		or they were unfinished 200 ms after tracing was turned off or paused. Records in
 *		the last group may be completed later
 * @samples:	records written by the kernel
 * @lost_samples: records that the kernel could not write
 * @lost_counters: mask of the counters whose values must not be trusted: on some hart, the counter
 *		was stopped, taken by another user, or lost in suspend or while the CPU was offline
 */
struct sifive_trace_report {
	size_t size;
	unsigned int flags;
	unsigned int sinks;
	uint64_t bytes;
	uint64_t lost_signals;
	uint64_t lost_threads;
	uint64_t lost_abandoned;
	uint64_t samples;
	uint64_t lost_samples;
	uint32_t lost_counters;
	uint32_t reserved;
};

/**
 * sifive_trace_open - create a handle
 *
 * Checks that there is a trace device and that this library supports its ABI; acquires no
 * hardware. Returns NULL on error; sifive_trace_error() explains it.
 */
struct sifive_trace *sifive_trace_open(void);

/**
 * sifive_trace_setup - acquire encoders, a buffer and counters
 *
 * A second call while tracing is off replaces the set-up and discards the captured data.
 * Fails if the session belongs to another handle, or if perfManualInit() or a similar call has set
 * it up.
 */
int sifive_trace_setup(struct sifive_trace *trace,
		       const struct sifive_trace_options *options);

/*
 * Start writing records. Does nothing if tracing is on.
 *
 * Signal handlers may call only this function, sifive_trace_off(), sifive_trace_write(),
 * sifive_trace_snapshot(), sifive_trace_status() and sifive_trace_error(); sifive_linux_perf.h
 * describes the rules.
 */
int sifive_trace_on(struct sifive_trace *trace);

/* Stop writing records. Returns when all records are in the buffer or have been abandoned. */
int sifive_trace_off(struct sifive_trace *trace);

/*
 * Write a record of the counters, with the call's return address. Does nothing while
 * tracing is off.
 */
int sifive_trace_write(struct sifive_trace *trace);

/**
 * sifive_trace_snapshot - have the recorder write a snapshot
 *
 * Writes a record, as sifive_trace_write() does, and requests a snapshot from "sifive-trace record
 * --snapshot", which writes the newest bytes of the trace to the next numbered file. Needs no
 * handle: call it in any process of a recording, at the moment of interest. The function does not
 * wait for the recorder. Fails, at the cost of a few system calls, if the process is not being
 * recorded. If the program must also run without this library, declare the function weak, because
 * the C library has no empty function of this name.
 */
int sifive_trace_snapshot(void);

/* Fill in @report. */
int sifive_trace_status(struct sifive_trace *trace,
			struct sifive_trace_report *report);

/**
 * sifive_trace_dump - write the captured data to a file, with its side-car file
 * @path:	file path, NULL for trace.rtd; with several sinks, trace.0.rtd, trace.1.rtd ...
 *
 * FILE.meta next to each file contains the data that the trace lacks. If tracing
 * is on, it pauses during the call.
 */
int sifive_trace_dump(struct sifive_trace *trace, const char *path);

/*
 * End tracing and release everything. Does nothing for NULL. In a signal handler that interrupted a
 * record or another call, the function only prints an error: the handle remains valid and tracing
 * continues.
 */
void sifive_trace_close(struct sifive_trace *trace);

/*
 * Return the error or notice from the calling thread's last call: one line without a newline, or an
 * empty string. Valid until the thread's next call.
 */
const char *sifive_trace_error(void);

#ifdef __cplusplus
}
#endif

#endif /* SIFIVE_TRACE_H */

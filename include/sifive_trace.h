/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Performance counters in a SiFive processor's trace.
 *
 *	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
 *	struct sifive_trace *trace = sifive_trace_open();
 *
 *	options.events = "cycles,instructions,L1-dcache-load-misses:u";
 *	options.buffer = 1 << 20;
 *	if (!trace || sifive_trace_setup(trace, &options) ||
 *	    sifive_trace_on(trace))
 *		errx(1, "%s", sifive_trace_error());
 *	…
 *	sifive_trace_off(trace);
 *	sifive_trace_dump(trace, "trace.rtd");
 *	sifive_trace_close(trace);
 *
 * While tracing is on, functions compiled with -finstrument-functions write a
 * record at entry and exit, sifive_trace_write() writes one where it is called,
 * and the kernel writes one at each sample. All threads record, on all CPUs that
 * are traced. No system call is made for a record.
 *
 * Functions that return int return 0, or -1 with words for sifive_trace_error().
 * The environment's SIFIVE_TRACE_DEVICE, SIFIVE_TRACE_VERBOSE and
 * SIFIVE_TRACE_META are those of the library sifive_linux_perf.h describes, which
 * uses the same session.
 *
 * A process has one session at a time, and each handle but the one that has set it
 * up waits for that to be closed: the compiler's hooks name no handle, so what they
 * record can only go to one trace, and the trace hardware, its counters and a
 * thread's channel have one owner. The handle is there so that a library in the
 * program cannot turn off, or write into, a trace that somebody else has set up.
 *
 * Programs that were written for the SiFive Trace Performance Library include
 * this for the names of sifive_linux_trace.h.
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

/* How records give counters: see perfCountType_t in sifive_linux_perf.h. */
enum sifive_trace_count {
	SIFIVE_TRACE_RAW		= 0,
	SIFIVE_TRACE_DELTA	= 1,
	SIFIVE_TRACE_XOR		= 2,
};

/* sifive_trace_options.flags */
enum {
	/* Keep the newest bytes; otherwise the trace ends when a buffer is full. */
	SIFIVE_TRACE_RING		= 1 << 0,
	/* Each thread has counts of its own, of what it ran alone: those of its records
	 * from its first one on, those of samples from sifive_trace_on() on. This is so
	 * without the flag, too; not with SIFIVE_TRACE_PER_CPU.
	 */
	SIFIVE_TRACE_PER_THREAD		= 1 << 1,
	/* Wait in the program for room in the encoder, before each record, where
	 * interrupts get through: all that can stall the processor then is the
	 * rest of one record. An encoder that cannot stall it is waited for before
	 * each store, with or without this.
	 */
	SIFIVE_TRACE_POLL		= 1 << 2,
	/* No records at function entry and exit. */
	SIFIVE_TRACE_NO_HOOKS		= 1 << 3,
	/* Only the first sifive_trace_on() writes headers. With SIFIVE_TRACE_DELTA a
	 * thread that gets the channel of one that has ended writes one all the same,
	 * from which its own differences count: decoders that cannot take that want
	 * SIFIVE_TRACE_PER_CPU, SIFIVE_TRACE_RAW or SIFIVE_TRACE_XOR.
	 */
	SIFIVE_TRACE_HEADER_ONCE	= 1 << 4,
	/* Sample whatever runs on the CPUs, not this process alone. */
	SIFIVE_TRACE_SAMPLE_ALL		= 1 << 5,
	/* Counts are the harts', of all that runs there, and every output of the trace
	 * says so.
	 */
	SIFIVE_TRACE_PER_CPU		= 1 << 6,
};

/* A name for a raw event, beside those that sifive_trace_setup() knows. */
struct sifive_trace_name {
	const char *name;
	uint64_t data;
};

/**
 * struct sifive_trace_options - what to trace; begin with SIFIVE_TRACE_OPTIONS
 * @size:	sizeof(struct sifive_trace_options)
 * @flags:	SIFIVE_TRACE_*
 * @events:	names with commas between, at most 32; NULL or "" for none.
 *		cycles, instructions, L1-dcache-load-misses and the other names of
 *		perf list; timestamp; rHEX or cpu/event=NUMBER/ for raw events;
 *		each with :u or :k for user or kernel mode alone
 * @count_type:	enum sifive_trace_count
 * @channel:	ITC channel of the first thread; others take free ones. Decoders
 *		expect 6. When the kernel alone writes records, it has this one
 * @buffer:	bytes of memory for each sink; 0 takes the trace hardware's SRAM
 * @cpus:	CPUs to trace, such as "0-2,5"; NULL for all that the calling
 *		thread may run on and that have an encoder
 * @interval:	microseconds between two samples, at least 100; 0 for none
 * @period:	events between two samples, 0 for none
 * @period_event: the event for @period
 * @filter:	file of the functions to record, lines of OBJECT START END: the
 *		object's file name and hexadecimal addresses relative to where it
 *		is loaded; NULL for all
 * @names:	more names of events, @names_count of them
 * @header_interval: with SIFIVE_TRACE_RING and SIFIVE_TRACE_XOR: records from one
 *		header to the next, of each thread on each CPU; 0 for 100. What a
 *		ring holds before the first header that it has kept is lost. Not with
 *		SIFIVE_TRACE_HEADER_ONCE
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
};

#define SIFIVE_TRACE_OPTIONS \
	{ sizeof(struct sifive_trace_options), 0, SIFIVE_TRACE_DELTA, \
	  NULL, 1 << 20, NULL, 6, 0, 0, NULL, NULL, NULL, 0, 0 }

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
 * struct sifive_trace_report - how far the trace has come
 * @size:	sizeof(struct sifive_trace_report), set by the caller
 * @flags:	SIFIVE_TRACE_ON …
 * @sinks:	number of files that sifive_trace_dump() makes
 * @bytes:	captured
 * @lost_signals: records of signal handlers that found a record being written,
 *		and too many waiting, or that waited when their thread ended or
 *		when tracing was turned off or paused
 * @lost_threads: records of threads that have no channel, or may not read the
 *		counters, or of CPUs that have no encoder, or while the trace was
 *		being written to files
 * @lost_abandoned: records left half-way, by siglongjmp() out of a handler for
 *		example, or by a handler that turned tracing off, or not finished
 *		in 200 ms when tracing was turned off or paused. One may turn out
 *		whole
 * @samples:	records that the kernel has written
 * @lost_samples: records that the kernel could not write
 * @lost_counters: bit n set: counter n was stopped or taken away by something else
 *		on some hart, or did not come back from sleep or with its CPU: do not
 *		trust its values
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
 * sifive_trace_open - make a handle
 *
 * Checks that there is a trace device that this library understands. Holds
 * nothing of it yet. Returns NULL with words for sifive_trace_error().
 */
struct sifive_trace *sifive_trace_open(void);

/**
 * sifive_trace_setup - take encoders, a buffer and counters
 *
 * Calling it again while tracing is off replaces what was set up and throws away
 * what was captured. Fails when another handle, or the program through
 * perfManualInit() and its like, has the session.
 */
int sifive_trace_setup(struct sifive_trace *trace,
		       const struct sifive_trace_options *options);

/*
 * Write records from now on. While tracing is on it does nothing.
 *
 * Signal handlers may call this, sifive_trace_off(), sifive_trace_write(),
 * sifive_trace_status() and sifive_trace_error(), and nothing else: see
 * sifive_linux_perf.h.
 */
int sifive_trace_on(struct sifive_trace *trace);

/* Write none any more; returns when all are in the buffer, or were given up. */
int sifive_trace_off(struct sifive_trace *trace);

/*
 * Write a record of the counters, with the address that this returns to. While
 * tracing is off it does nothing.
 */
int sifive_trace_write(struct sifive_trace *trace);

/* Fill in @report. */
int sifive_trace_status(struct sifive_trace *trace,
			struct sifive_trace_report *report);

/**
 * sifive_trace_dump - write what was captured to a file, and its side-car
 * @path:	NULL for trace.rtd; several sinks give trace.0.rtd, trace.1.rtd …
 *
 * FILE.meta beside each says what its bytes do not. While tracing is on, it
 * pauses.
 */
int sifive_trace_dump(struct sifive_trace *trace, const char *path);

/*
 * Give everything back; ends tracing. NULL does nothing. In a signal handler that
 * interrupts a record, or another call, it does nothing but to say so: the handle
 * stays, and tracing goes on.
 */
void sifive_trace_close(struct sifive_trace *trace);

/*
 * What went wrong in the calling thread's last call, or a notice, in one line
 * without newline; empty when there is nothing to say. Valid until its next call.
 */
const char *sifive_trace_error(void);

#ifdef __cplusplus
}
#endif

#endif /* SIFIVE_TRACE_H */

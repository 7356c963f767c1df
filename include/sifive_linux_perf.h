/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Performance counters in a SiFive processor's trace, under Linux.
 *
 * A program calls, in this order,
 *
 *	perfInit()
 *	perfManualInit(), perfFuncEntryExitInit() or perfTimerISRInit()
 *	perfTraceOn(), perfTraceOff()		as often as it likes
 *	perfWriteTrace()			at any time after the init calls
 *
 * Between perfTraceOn() and perfTraceOff() records of addresses and counters
 * go to the trace encoder of the hart that the calling thread is on, each a burst of
 * stores to an ITC stimulus register: no system call is made. All threads record,
 * on all CPUs that the initialising thread may run on; pinning them is not needed.
 * The kernel module sifive_trace.ko owns the hardware; it gives everything back
 * when the program ends, however it ends.
 *
 * Each thread has an ITC channel of its own while it lives: the first one the
 * channel of the initialisation, others any that is free. Records of threads that
 * find none are counted, as are those of a signal handler that interrupts a record
 * and finds too many waiting, and records that a handler jumped out of. A child
 * made by fork() does not trace and does not disturb its parent's trace.
 *
 * Signal handlers may call perfWriteCntrs(), perfTraceOn(), perfTraceOff() and
 * perfErrorString(): these wait for no lock of the program's or the C library's, and
 * ask for no memory. When another thread is in one of the other calls, perfTraceOn()
 * and perfTraceOff() wait for that, which does take memory: do not let a handler turn
 * tracing on or off while the trace is set up or written. What interrupts another
 * call, or a record where that does not go, is refused.
 *
 * All functions return 0 for success and -1 for an error, which
 * perfErrorString() explains. Nothing stays allocated, open or mapped after an
 * initialisation call that failed.
 *
 * Environment:
 *	SIFIVE_TRACE_DEVICE	device to open instead of /dev/sifive-trace;
 *				ignored in programs that run with raised
 *				privileges (secure execution)
 *	SIFIVE_TRACE_HEADER	"once": only the first perfTraceOn() after an
 *				initialisation writes a header, as SiFive's decoder
 *				needs it
 *	SIFIVE_TRACE_META	"0": perfWriteTrace() makes no side-car file
 *	SIFIVE_TRACE_VERBOSE	what goes to standard error: "0" nothing; not set
 *				errors and lost records; anything else, as "1",
 *				notices too
 *
 * SIFIVE_TRACE_RECORD and its like, which trace a program that calls none of this,
 * are in sifive_trace(3); a program that calls perfInit() has its own session
 * instead, as has each that is compiled with sifive_linux_perf.c, which does not
 * know these variables.
 */
#ifndef SIFIVE_LINUX_PERF_H
#define SIFIVE_LINUX_PERF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* perfEvent.type: event types of the SBI PMU extension. */
enum {
	perfEventHWGeneral	= 0,
	perfEventHWCache	= 1,
	perfEventHWRaw		= 2,
};

/* perfEvent.code of perfEventHWGeneral: SBI hardware general events. */
enum {
	HW_NO_EVENT			= 0,
	HW_CPU_CYCLES			= 1,
	HW_INSTRUCTIONS			= 2,
	HW_CACHE_REFERENCES		= 3,
	HW_CACHE_MISSES			= 4,
	HW_BRANCH_INSTRUCTIONS		= 5,
	HW_BRANCH_MISSES		= 6,
	HW_BUS_CYCLES			= 7,
	HW_STALLED_CYCLES_FRONTEND	= 8,
	HW_STALLED_CYCLES_BACKEND	= 9,
	HW_REF_CPU_CYCLES		= 10,
	/* Not of SBI: the trace timestamp (tsLower, tsUpper) as counter 1. */
	HW_TIMESTAMP			= 0x80,
};

/* perfEvent.cache_id of perfEventHWCache: SBI hardware cache events. */
enum {
	HW_CACHE_L1D	= 0,
	HW_CACHE_L1I	= 1,
	HW_CACHE_LL	= 2,
	HW_CACHE_DTLB	= 3,
	HW_CACHE_ITLB	= 4,
	HW_CACHE_BPU	= 5,
	HW_CACHE_NODE	= 6,
};

/* perfEvent.op_id of perfEventHWCache. */
enum {
	HW_CACHE_OP_READ	= 0,
	HW_CACHE_OP_WRITE	= 1,
	HW_CACHE_OP_PREFETCH	= 2,
};

/* perfEvent.result_id of perfEventHWCache. */
enum {
	HW_CACHE_RESULT_ACCESS	= 0,
	HW_CACHE_RESULT_MISS	= 1,
};

/*
 * How records give counters and addresses.
 *
 * Whatever the type, bits 47:0 of a count are transmitted.
 *
 * perfCount_Raw	The counter as it was read. Bits 63:48 are cut off: a
 *			reader sees the value modulo 2^48. Addresses in full.
 * perfCount_Delta	What the counter counted since the previous record, the
 *			first one since the header, modulo the counter's width:
 *			right if it wrapped at most once. Addresses in full.
 * perfCount_DeltaXOR	Value XOR value of the previous record, and address XOR
 *			previous address. Both chains start from 0 at the
 *			header, so that a reader rebuilds values (modulo 2^48)
 *			and addresses.
 */
typedef enum {
	perfCount_Raw = 0,
	perfCount_Delta = 1,
	perfCount_DeltaXOR = 2,
} perfCountType_t;

/*
 * One event to count. Set by the caller:
 *
 * type		perfEventHWGeneral, perfEventHWCache or perfEventHWRaw
 * code		perfEventHWGeneral: HW_CPU_CYCLES ... HW_TIMESTAMP
 * cache_id, op_id, result_id
 *		perfEventHWCache: HW_CACHE_*, HW_CACHE_OP_*, HW_CACHE_RESULT_*
 * event_data	perfEventHWRaw: value for the event selector (mhpmevent n), from
 *		the processor's manual; not used otherwise
 *
 * Set by an initialisation function that succeeded:
 *
 * ctrIdx	number of the counter that counts it: 0 cycle, 1 trace
 *		timestamp, 2 instret, n hpmcounter n
 * ctrInfo	SBI counter_info: CSR number in bits 11:0 (0 for the timestamp),
 *		width in bits minus 1 in bits 17:12
 */
typedef struct {
	unsigned int ctrIdx;
	int type;
	__extension__ union {
		int code;
		__extension__ struct {
			int cache_id;
			int op_id;
			int result_id;
		};
	};
	unsigned long event_data;
	unsigned long ctrInfo;
} perfEvent;

/**
 * perfInit - begin; call before everything else
 * @num_cores:	cores of the processor, at least 1
 * @num_funnels: trace funnels of the processor, 0 or more
 *
 * Checks that there is a trace device that this library understands. When it
 * has not @num_cores encoders and @num_funnels funnels this is no error, but
 * perfErrorString() says so: the driver's numbers count.
 *
 * Calling it again while tracing is off ends what was set up before and begins
 * again; the device keeps what was captured until the next initialisation.
 *
 * Errors: an argument out of range; no trace device, no permission to use it, or
 * a driver of another ABI; tracing is on; sifive_trace_setup() has the session.
 */
int perfInit(int num_cores, int num_funnels);

/**
 * perfManualInit - set up for records written by perfWriteCntrs()
 * @perfCntrList: events to count, in any order and none twice. NULL only with
 *		@numCntrs 0. Members ctrIdx and ctrInfo are filled in. From then on
 *		the calling thread may read the CSRs of these counters, other threads
 *		from their first record on.
 * @numCntrs:	number of elements of @perfCntrList, 0 to 32
 * @itcChannel:	ITC channel to write to, 0 to 31; decoders expect 6. On encoders
 *		whose stimulus registers 16-31 are registers 0-15 with a
 *		timestamp: 0 to 15.
 * @cntType:	how counts and addresses are recorded
 * @SBABufferSize: bytes of system memory for the trace; 0 takes the SRAM of the
 *		trace hardware
 *
 * Takes the encoders of all CPUs that the calling thread may run on, makes a
 * buffer that stops when it is full, and starts the counters. No instruction
 * trace (teInstruction 0), ITC messages with timestamps.
 *
 * Calling it, or another initialisation function, again while tracing is off
 * replaces what was set up and throws away what was captured. Only before the first
 * perfTraceOn(), from another thread and with the same arguments, it adds the CPUs
 * of that thread: programs of several cores may call it once on each.
 *
 * Errors: perfInit() was not called; an argument out of range; none of the CPUs has
 * an encoder; several CPUs under a kernel without restartable sequences (rseq);
 * missing capability; another process has the hardware; no such sink or not that
 * much memory; an event that this processor cannot count, or no counter free for
 * it; a timestamp that cannot be read from user mode; tracing is on;
 * sifive_trace_setup() has the session.
 */
int perfManualInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
		   perfCountType_t cntType, uint32_t SBABufferSize);

/**
 * perfFuncEntryExitInit - set up for a record at every function entry and exit
 *
 * Arguments, result and errors are those of perfManualInit(). Records are
 * written by functions compiled with -finstrument-functions: the function's
 * address, then its call site. perfWriteCntrs() may be used as well.
 */
int perfFuncEntryExitInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
			  perfCountType_t cntType, uint32_t SBABufferSize);

/**
 * perfTimerISRInit - set up for records at a fixed interval
 * @interval:	microseconds of running between records; less than 100 becomes 100
 *
 * The other arguments are those of perfManualInit(). The kernel writes the records,
 * each with the address where the program was; the program gets no signal. They go
 * to @itcChannel, those of perfWriteCntrs() to the next channels.
 *
 * Errors: those of perfManualInit(); a driver or kernel that cannot sample.
 */
int perfTimerISRInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
		     perfCountType_t cntType, uint32_t SBABufferSize,
		     int interval);

/**
 * perfWriteCntrs - write a record of the counters here
 *
 * The record's address is the one that perfWriteCntrs() returns to. While
 * tracing is off this does nothing and returns 0.
 *
 * Errors: no initialisation function has succeeded. A record that cannot be
 * written is none, but is counted.
 */
int perfWriteCntrs(void);

/**
 * perfTraceOn - write records from now on
 *
 * Lets the encoder make messages and writes a header: count type, counter mask
 * and the definition of each counter. While tracing is on it does nothing.
 *
 * Errors: no initialisation function has succeeded; the buffer is full; the
 * hardware did not start; called by a signal handler that interrupted a record or
 * another call.
 */
int perfTraceOn(void);

/**
 * perfTraceOff - write no more records until the next perfTraceOn()
 *
 * Returns when all messages have reached the buffer, also those of records that
 * other threads were writing: but for a thread that does not finish its record within
 * 200 ms, which is given up, and counted as left half-way. While tracing is off it
 * does nothing. A signal handler that interrupted a record may call it: that record
 * stays incomplete, and is counted, too.
 *
 * Errors: no initialisation function has succeeded; the hardware did not stop
 * (tracing is off all the same); called by a signal handler that interrupted
 * another call.
 */
int perfTraceOff(void);

/**
 * perfWriteTrace - write what was captured since initialisation to a file
 * @file:	its path; NULL for trace.rtd in the current directory
 *
 * The file is made or overwritten, and holds exactly the bytes the encoders
 * made, oldest first. A capture with several sinks gives one file for each, with
 * its number before the extension: trace.0.rtd, trace.1.rtd and so on. Beside each,
 * FILE.meta says what its bytes do not. Whether tracing is on or off does not
 * change; while it is on, it pauses. Says on standard error when the buffer was
 * full, and when records were lost.
 *
 * Errors: no initialisation function has succeeded; the file cannot be made or
 * written in full (what was written stays, the capture can be written again
 * elsewhere); the hardware did not stop or start again; called by a signal handler
 * that interrupted a record or another call.
 */
int perfWriteTrace(char *file);

/**
 * perfErrorString - what went wrong in the calling thread's last call
 *
 * Returns one line without newline that says what failed and what to do about
 * it, or a notice when the call succeeded with one; empty when there is nothing
 * to say. A perfWriteCntrs() that succeeds counts as no call. Valid until the
 * thread's next call into this library.
 */
const char *perfErrorString(void);

#ifdef __cplusplus
}
#endif

#endif /* SIFIVE_LINUX_PERF_H */

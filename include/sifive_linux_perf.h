/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Record performance counters in a SiFive processor's trace, under Linux.
 *
 * A program calls, in this order:
 *
 *	perfInit()
 *	perfManualInit(), perfFuncEntryExitInit() or perfTimerISRInit()
 *	perfTraceOn(), perfTraceOff()		as often as needed
 *	perfWriteTrace()			at any time after initialisation
 *
 * Between perfTraceOn() and perfTraceOff(), records of addresses and counters go to the
 * trace encoder of the hart on which the thread runs. A record is a burst of stores to an
 * ITC stimulus register, without a system call. All threads record, on all CPUs that the
 * initialising thread may run on; threads need not be pinned. The kernel module sifive_trace.ko
 * owns the hardware and releases it when the program ends, even if a signal kills the program.
 *
 * Each thread uses its own ITC channel: the first thread uses the channel passed to the
 * initialisation, other threads use any free channel. If there are more threads than channels, a
 * thread takes over the channel of a thread that is between two records. Records that cannot be
 * written are counted: those from a signal handler that interrupts a record and finds the queue
 * full, and those that remain incomplete because the interrupting handler does not return. A child
 * created by fork() does not trace, and does not disturb its parent's trace.
 *
 * Signal handlers may call perfWriteCntrs(), perfTraceOn(), perfTraceOff() and perfErrorString():
 * these calls take no locks of the program or the C library, and allocate no memory. All other
 * calls may allocate memory. While another thread is in such a call, perfTraceOn() and
 * perfTraceOff() wait. So do not turn tracing on or off in a handler while another thread sets up
 * the trace or writes it to a file. In a handler that has interrupted another call to this library,
 * calls that cannot proceed return an error.
 *
 * All functions return 0 on success and -1 on error; perfErrorString() explains the
 * error. A failed initialisation leaves nothing allocated, open or mapped.
 *
 * Environment:
 *	SIFIVE_TRACE_DEVICE	device to open instead of /dev/sifive-trace;
 *				ignored in programs that run with raised
 *				privileges (secure execution)
 *	SIFIVE_TRACE_HEADER	"once": only the first perfTraceOn() after an
 *				initialisation writes a header, as SiFive's decoder
 *				requires
 *	SIFIVE_TRACE_META	"0": perfWriteTrace() writes no side-car file; neither
 *				does a program compiled with sifive_linux_perf.c but
 *				without sifive_linux_perf_meta.h next to it
 *	SIFIVE_TRACE_VERBOSE	what to print on standard error: "0": nothing; "1":
 *				errors, lost records and notices; not set: errors
 *				and lost records
 *
 * sifive_trace(3) describes SIFIVE_TRACE_RECORD and other variables, which trace a program
 * that does not call the library. A program that calls perfInit() uses its own session instead. A
 * program compiled with sifive_linux_perf.c ignores these variables.
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
	/* Counted by firmware: only for perfTimerISRInit(). */
	perfEventFirmware	= 15,
};

/* perfEvent.code for perfEventHWGeneral: SBI hardware general events. */
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
	/* Not an SBI event: the trace timestamp (tsLower, tsUpper) as counter 1. */
	HW_TIMESTAMP			= 0x80,
};

/* perfEvent.code for perfEventFirmware: SBI firmware events. */
enum {
	FW_MISALIGNED_LOAD		= 0,
	FW_MISALIGNED_STORE		= 1,
	FW_ACCESS_LOAD			= 2,
	FW_ACCESS_STORE			= 3,
	FW_ILLEGAL_INSN			= 4,
	FW_SET_TIMER			= 5,
	FW_IPI_SENT			= 6,
	FW_IPI_RECEIVED			= 7,
	FW_FENCE_I_SENT			= 8,
	FW_FENCE_I_RECEIVED		= 9,
	FW_SFENCE_VMA_SENT		= 10,
	FW_SFENCE_VMA_RECEIVED		= 11,
	FW_SFENCE_VMA_ASID_SENT		= 12,
	FW_SFENCE_VMA_ASID_RECEIVED	= 13,
	FW_HFENCE_GVMA_SENT		= 14,
	FW_HFENCE_GVMA_RECEIVED		= 15,
	FW_HFENCE_GVMA_VMID_SENT	= 16,
	FW_HFENCE_GVMA_VMID_RECEIVED	= 17,
	FW_HFENCE_VVMA_SENT		= 18,
	FW_HFENCE_VVMA_RECEIVED		= 19,
	FW_HFENCE_VVMA_ASID_SENT	= 20,
	FW_HFENCE_VVMA_ASID_RECEIVED	= 21,
};

/* perfEvent.cache_id for perfEventHWCache: SBI hardware cache events. */
enum {
	HW_CACHE_L1D	= 0,
	HW_CACHE_L1I	= 1,
	HW_CACHE_LL	= 2,
	HW_CACHE_DTLB	= 3,
	HW_CACHE_ITLB	= 4,
	HW_CACHE_BPU	= 5,
	HW_CACHE_NODE	= 6,
};

/* perfEvent.op_id for perfEventHWCache. */
enum {
	HW_CACHE_OP_READ	= 0,
	HW_CACHE_OP_WRITE	= 1,
	HW_CACHE_OP_PREFETCH	= 2,
};

/* perfEvent.result_id for perfEventHWCache. */
enum {
	HW_CACHE_RESULT_ACCESS	= 0,
	HW_CACHE_RESULT_MISS	= 1,
};

/*
 * How records encode counters and addresses. All types record bits 47:0 of a count.
 *
 * perfCount_Raw	The counter's value modulo 2^48. Full addresses.
 * perfCount_Delta	The difference from the previous record, or, in the first record, from
 *			the header, modulo the counter's width: correct if the counter wrapped
 *			at most once. Full addresses.
 * perfCount_DeltaXOR	The value XORed with the previous value, and the address XORed with
 *			the previous address. Both start from 0 at the header, so a reader
 *			can reconstruct values (modulo 2^48) and addresses.
 */
typedef enum {
	perfCount_Raw = 0,
	perfCount_Delta = 1,
	perfCount_DeltaXOR = 2,
} perfCountType_t;

/*
 * An event to count. Set by the caller:
 *
 * type		perfEventHWGeneral, perfEventHWCache, perfEventHWRaw or perfEventFirmware
 * code		perfEventHWGeneral: HW_CPU_CYCLES ... HW_TIMESTAMP; perfEventFirmware:
 *		FW_MISALIGNED_LOAD ... FW_HFENCE_VVMA_ASID_RECEIVED
 * cache_id, op_id, result_id
 *		perfEventHWCache: HW_CACHE_*, HW_CACHE_OP_*, HW_CACHE_RESULT_*
 * event_data	perfEventHWRaw: value of the event selector (mhpmevent n), from the
 *		processor's manual; unused otherwise
 *
 * Set by a successful initialisation:
 *
 * ctrIdx	number of the counter: 0 cycle, 1 trace timestamp, 2 instret,
 *		n hpmcounter n; a unique number for a firmware event
 * ctrInfo	SBI counter_info: CSR number in bits 11:0 (0 for the timestamp and firmware
 *		events), width in bits minus 1 in bits 17:12
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
 * perfInit - check for a trace device; call this first
 * @num_cores:	cores of the processor, at least 1
 * @num_funnels: trace funnels of the processor, 0 or more
 *
 * Checks that there is a trace device and that this library supports its ABI. If the
 * hardware does not have @num_cores encoders and @num_funnels funnels, the call succeeds
 * and perfErrorString() returns a notice: the driver's numbers apply.
 *
 * A second call while tracing is off discards the set-up. The device keeps the captured
 * data until the next initialisation.
 *
 * Errors: argument out of range; no trace device, no permission to use it, or a driver with another
 * ABI; tracing is on; sifive_trace_setup() has set up a session.
 */
int perfInit(int num_cores, int num_funnels);

/**
 * perfManualInit - set up recording with perfWriteCntrs()
 * @perfCntrList: events to count, in any order, each once; may be NULL if @numCntrs is 0. The call
 *		fills in ctrIdx and ctrInfo. Afterwards the calling thread may read the CSRs of
 *		these counters; other threads may read them after their first record
 * @numCntrs:	number of elements of @perfCntrList, 0 to 32
 * @itcChannel:	ITC channel to write to, 0 to 31, but at most 15 on encoders whose stimulus
 *		registers 16-31 are registers 0-15 with a timestamp; decoders expect 6
 * @cntType:	encoding of counts and addresses in records
 * @SBABufferSize: size of the system memory for the trace in bytes; 0 uses the SRAM of the trace
 *		hardware
 *
 * Acquires the encoders of all CPUs that the calling thread may run on, allocates a buffer (the
 * trace stops when it is full), and starts the counters. Instruction trace is off (teInstruction
 * 0); ITC messages have timestamps.
 *
 * Calling this or another initialisation function again, while tracing is off, replaces the set-up
 * and discards the captured data. Exception: before the first perfTraceOn(), a call with the same
 * arguments from another thread adds that thread's CPUs, so a program can make the call once on
 * each core that it traces.
 *
 * Errors: perfInit() was not called; argument out of range; no CPU has an encoder; several CPUs on
 * a kernel without restartable sequences (rseq); missing capability; another process holds the
 * hardware; no such sink or not enough memory; an event that this processor cannot count, or no
 * free counter for it; a timestamp that user mode cannot read; tracing is on; sifive_trace_setup()
 * has set up a session.
 */
int perfManualInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
		   perfCountType_t cntType, uint32_t SBABufferSize);

/**
 * perfFuncEntryExitInit - set up recording at function entry and exit
 *
 * Arguments, return value and errors are the same as for perfManualInit(). Functions compiled
 * with -finstrument-functions write the records: the function's address, then its call
 * site. perfWriteCntrs() works as well.
 */
int perfFuncEntryExitInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
			  perfCountType_t cntType, uint32_t SBABufferSize);

/**
 * perfTimerISRInit - set up recording at a fixed interval
 * @interval:	microseconds of running time between records; less than 100 means 100
 *
 * The other arguments are the same as for perfManualInit(). The kernel writes the records, each
 * with the program's current address, to @itcChannel; the program receives no signal. Records
 * from perfWriteCntrs() go to the channels after @itcChannel.
 *
 * Only this call accepts firmware events (perfEventFirmware), because programs cannot read their
 * counters. With such events perfWriteCntrs() fails, and perfErrorString() returns the reason.
 *
 * Errors: those of perfManualInit(); a driver or kernel that cannot sample.
 */
int perfTimerISRInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
		     perfCountType_t cntType, uint32_t SBABufferSize,
		     int interval);

/**
 * perfWriteCntrs - write a record of the counters here
 *
 * The record's address is the return address of perfWriteCntrs(). Returns 0 and does
 * nothing while tracing is off.
 *
 * Errors: no successful initialisation; a firmware event in the list of perfTimerISRInit(). A
 * record that cannot be written is not an error, but is counted.
 */
int perfWriteCntrs(void);

/**
 * perfTraceOn - start writing records
 *
 * Starts the encoders and writes a header: count type, counter mask and the definition of
 * each counter. Does nothing if tracing is on.
 *
 * Errors: no successful initialisation; the buffer is full; the hardware did not start;
 * called in a signal handler that interrupted a record or another call.
 */
int perfTraceOn(void);

/**
 * perfTraceOff - stop writing records
 *
 * Returns when all messages have reached the buffer, including messages from records that other
 * threads were writing. A record that its thread does not finish within 200 ms is considered
 * abandoned. Does nothing if tracing is off. A signal handler that interrupted a record may call
 * perfTraceOff(); that record remains incomplete and is counted.
 *
 * Errors: no successful initialisation; the hardware did not stop (tracing is off
 * nevertheless); called in a signal handler that interrupted another call.
 */
int perfTraceOff(void);

/**
 * perfWriteTrace - write the captured data to a file
 * @file:	path of the file; NULL for trace.rtd in the current directory
 *
 * Creates or overwrites the file. The file contains exactly the encoders' bytes, oldest
 * first. A capture with several sinks is written to one file per sink, with the sink's number
 * before the extension: trace.0.rtd, trace.1.rtd and so on. FILE.meta next to each file is the
 * side-car file, with the data that the trace does not contain. If tracing is on, it pauses
 * during the call. Reports a full buffer and lost records on standard error.
 *
 * Errors: no successful initialisation; the file cannot be created or written in full (the part
 * written so far is kept, and the capture can be written again to another file); the hardware did
 * not stop or restart; called in a signal handler that interrupted a record or another call.
 */
int perfWriteTrace(char *file);

/**
 * perfErrorString - get the error or notice of the calling thread's last call
 *
 * Returns one line without a newline: what failed and what to do, or a notice if a successful call
 * has one; empty if there is nothing to report. A successful perfWriteCntrs() does not change the
 * message. Valid until the thread's next call to this library.
 */
const char *perfErrorString(void);

#ifdef __cplusplus
}
#endif

#endif /* SIFIVE_LINUX_PERF_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Record performance counters in a SiFive processor's trace, without an operating system:
 * for programs that run in machine mode and own the hardware.
 *
 * A program defines these variables, which hold the addresses of its machine's components:
 *
 *	struct TraceRegMemMap volatile *tmm[]	trace encoders, by hart id
 *	struct TfTraceRegMemMap volatile *fmm	the trace funnel, or NULL
 *
 * It calls these functions, in this order:
 *
 *	perfInit()				once, on one hart
 *	perfManualInit(), perfTimerISRInit() or perfFuncEntryExitInit()
 *						on each hart to trace
 *	perfTraceOn(), perfTraceOff()		on each of these harts, as often as needed
 *
 * A debugger reads the trace from the buffer that perfTraceBuffer() returns, or from the SRAM of
 * the encoder or funnel; there is no perfWriteTrace(). The library does not call the C library, but
 * the compiler may emit calls to memset() and memcpy(). The library needs the A extension. Compile
 * its only source file, sifive_bare_perf.c, with the program; the compiler option -D can change the
 * sizes below.
 *
 * Initialisation needs 2 KB of the hart's stack; any other call or hook needs 1 KB. The timer trap
 * handler runs on the stack of the interrupted code and needs another 1 KB.
 *
 * All functions return 0 on success and -1 on error.
 */
#ifndef SIFIVE_BARE_PERF_H
#define SIFIVE_BARE_PERF_H

#include <stdint.h>

#include "sifive_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Size in bytes of the static memory for SBA buffers and for the state of each hart. */
#ifndef PERF_MEM_POOL_SIZE
#define PERF_MEM_POOL_SIZE	(256 * 1024)
#endif

/* Number of harts that can be traced; their ids must be lower than this number. */
#ifndef PERF_MAX_HARTS
#define PERF_MAX_HARTS		8
#endif

/* perfEvent.type. Cache events need firmware: use raw events instead. */
enum {
	perfEventHWGeneral	= 0,
	perfEventHWCache	= 1,
	perfEventHWRaw		= 2,
};

/* perfEvent.code for perfEventHWGeneral; other codes need firmware, too. */
enum {
	HW_CPU_CYCLES		= 1,
	HW_INSTRUCTIONS		= 2,
	/* The trace timestamp as counter 1. */
	HW_TIMESTAMP		= 0x80,
};

/* How counters are recorded. */
typedef enum {
	perfCount_Raw = 0,
	perfCount_Delta = 1,
	perfCount_DeltaXOR = 2,
} perfCountType_t;

/*
 * An event to count; ctrIdx and ctrInfo are results. A list contains each event once, in any order.
 * If initialisation fails because of an event, that event's ctrIdx is PERF_NO_COUNTER: the event
 * cannot be counted, no counter is left for it, or it is repeated in the list.
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
	unsigned long event_data;	/* for a raw event: mhpmevent's value */
	unsigned long ctrInfo;
} perfEvent;

#define PERF_NO_COUNTER		(~0u)

/* Defined by the program. */
extern struct TraceRegMemMap volatile *tmm[];
extern struct TfTraceRegMemMap volatile *fmm;

/*
 * For the timer: the CLINT's address, and the frequency of mtime in Hz. Defaults: 0x2000000 and
 * 10000000. A program may change both before perfTimerISRInit().
 */
extern uintptr_t perfClintAddress;
extern uint32_t perfClintHz;

/* Call this first. @num_cores: number of elements of tmm; @num_funnels: 0 or 1. */
int perfInit(int num_cores, int num_funnels);

/*
 * Set up recording with perfWriteCntrs(). @SBABufferSize 0 selects the SRAM of the funnel or
 * encoder.
 *
 * With a funnel, all harts share one buffer. The first hart to be initialised sets the buffer's
 * size; initialising the other harts keeps the buffer and its data. Initialising a hart again
 * begins a new trace, unless another hart's trace is on.
 */
int perfManualInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
		   perfCountType_t cntType, uint32_t SBABufferSize);

/*
 * Set up recording at function entry and exit, in programs compiled with
 * -finstrument-functions.
 */
int perfFuncEntryExitInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
			  perfCountType_t cntType, uint32_t SBABufferSize);

/*
 * Set up recording of the interrupted pc every @interval microseconds (at least 100). Uses mtvec
 * and the machine timer interrupt; the hart's next initialisation restores them. The first trap
 * with a different cause also restores the program's mtvec, and ends timer recording.
 */
int perfTimerISRInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
		     perfCountType_t cntType, uint32_t SBABufferSize, int interval);

/* Write a record of the counters, with the call site of perfWriteCntrs(). */
int perfWriteCntrs(void);

/* Turn the calling hart's trace on or off. Turning it on writes a header. */
int perfTraceOn(void);
int perfTraceOff(void);

/*
 * Return the number of records that the calling hart has lost since its initialisation: a trap
 * handler, such as the timer's, cannot write a record while it interrupts another record.
 */
int perfLostRecords(uint32_t *records);

/*
 * Return the address of the calling hart's trace buffer, or NULL if the sink is SRAM. Set *@bytes
 * to the number of captured bytes.
 */
const void *perfTraceBuffer(uint32_t *bytes);

#ifdef __cplusplus
}
#endif

#endif /* SIFIVE_BARE_PERF_H */

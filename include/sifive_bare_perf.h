/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Performance counters in a SiFive processor's trace, without an operating
 * system: for programs that run in machine mode and own the hardware.
 *
 * A program defines, with the addresses of its machine,
 *
 *	struct TraceRegMemMap volatile *tmm[]	trace encoders, by hart id
 *	struct TfTraceRegMemMap volatile *fmm	the trace funnel, or NULL
 *
 * and calls, in this order,
 *
 *	perfInit()				one hart, first
 *	perfManualInit(), perfTimerISRInit() or perfFuncEntryExitInit()
 *						each hart that is traced
 *	perfTraceOn(), perfTraceOff()		each, as often as it likes
 *
 * A debugger reads the trace from the buffer that perfTraceBuffer() tells, or from
 * the SRAM of the encoder or funnel; there is no perfWriteTrace(). The C library
 * is not used; the compiler wants memset() and memcpy(), and the A extension. The
 * library is one source file, sifive_bare_perf.c, which is compiled with the
 * program, and with -D for each size below that is to be another.
 *
 * Each call has to find 2 KB left of the hart's stack when it initialises, 1 KB when
 * it is another one, a hook for example. The timer's trap is on the stack of what it
 * interrupts, and takes 1 KB more.
 *
 * All functions return 0 for success and -1 for an error.
 */
#ifndef SIFIVE_BARE_PERF_H
#define SIFIVE_BARE_PERF_H

#include <stdint.h>

#include "sifive_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that the library takes: SBA buffers and a little for each hart. */
#ifndef PERF_MEM_POOL_SIZE
#define PERF_MEM_POOL_SIZE	(256 * 1024)
#endif

/* Harts with ids from 0 that can be traced. */
#ifndef PERF_MAX_HARTS
#define PERF_MAX_HARTS		8
#endif

/* perfEvent.type. Cache events need firmware: use raw ones. */
enum {
	perfEventHWGeneral	= 0,
	perfEventHWCache	= 1,
	perfEventHWRaw		= 2,
};

/* perfEvent.code of perfEventHWGeneral; others need firmware, too. */
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
 * An event to count; ctrIdx and ctrInfo are results. Each event is in a list once, in
 * any order. When an initialisation fails for an event, its ctrIdx is PERF_NO_COUNTER:
 * it cannot be counted, no counter is left for it, or it is in the list before.
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
	unsigned long event_data;	/* of a raw event: mhpmevent's value */
	unsigned long ctrInfo;
} perfEvent;

#define PERF_NO_COUNTER		(~0u)

/* Of the program. */
extern struct TraceRegMemMap volatile *tmm[];
extern struct TfTraceRegMemMap volatile *fmm;

/*
 * The CLINT's address and how often its mtime ticks in a second, for the timer: a
 * program may change both before perfTimerISRInit(). 0x2000000 and 10000000.
 */
extern uintptr_t perfClintAddress;
extern uint32_t perfClintHz;

/* @num_cores elements of tmm; @num_funnels is 0 or 1. */
int perfInit(int num_cores, int num_funnels);

/*
 * For perfWriteCntrs(). @SBABufferSize 0: the SRAM of funnel or encoder.
 *
 * Through a funnel all harts have one buffer, the size of which is that of the first
 * hart that is initialised; those that follow join it and what it has captured stays.
 * A hart's second initialisation begins a new trace, unless another hart is on.
 */
int perfManualInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
		   perfCountType_t cntType, uint32_t SBABufferSize);

/* For programs that are compiled with -finstrument-functions. */
int perfFuncEntryExitInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
			  perfCountType_t cntType, uint32_t SBABufferSize);

/*
 * A record each @interval microseconds, 100 at the least, with the pc of what was
 * interrupted. Takes mtvec and the machine timer interrupt; the hart's next
 * initialisation gives them back. The first trap that is none of the timer's gets
 * the program's own mtvec back, too, and ends the records.
 */
int perfTimerISRInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
		     perfCountType_t cntType, uint32_t SBABufferSize, int interval);

/* A record of the place of the call and the counters. */
int perfWriteCntrs(void);

/* Turn the calling hart's trace on, with a header; and off. */
int perfTraceOn(void);
int perfTraceOff(void);

/*
 * How many records of the calling hart were left out since it was initialised: a trap,
 * the timer's for example, has no record in the middle of another one.
 */
int perfLostRecords(uint32_t *records);

/*
 * Where the calling hart's trace is: its buffer's address, NULL of an SRAM, and in
 * @bytes how much has been captured.
 */
const void *perfTraceBuffer(uint32_t *bytes);

#ifdef __cplusplus
}
#endif

#endif /* SIFIVE_BARE_PERF_H */

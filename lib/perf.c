// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The API of the SiFive Trace Performance Library on one session per process. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sifive_linux_perf.h"

#include "error.h"
#include "session.h"

/* Cache event codes: cache_id << 3 | op_id << 1 | result_id, in 16 bits. */
#define CACHE_ID_MAX	0x1fff
#define CACHE_OP_MAX	3
#define CACHE_RESULT_MAX 1

static struct perf_session process_session;

/* Calls end here with their name, as "call(): ", and result: failures are printed. */
PERF_LOCAL int finish(const char *call, int rc)
{
	if (rc)
		perf_error_print(call);
	return rc;
}

PERF_LOCAL void after_fork(void)
{
	perf_session_forget(&process_session);
}

/* What the library registers with the process, once. */
PERF_LOCAL int register_process(void)
{
	static bool registered;

	if (registered)
		return 0;
	if (pthread_atfork(NULL, NULL, after_fork))
		return perf_error("out of memory");
	registered = true;
	return 0;
}

PERF_LOCAL int convert_event(struct perf_counter *counter,
			     const perfEvent *event, int index)
{
	*counter = (struct perf_counter) { .type = (uint32_t)event->type };

	switch (event->type) {
	case perfEventHWGeneral:
		if (event->code < 0)
			return perf_error("event %d of the list: code %d is negative",
					  index, event->code);
		counter->code = (uint32_t)event->code;
		return 0;

	case perfEventHWCache:
		if (event->cache_id < 0 || event->cache_id > CACHE_ID_MAX ||
		    event->op_id < 0 || event->op_id > CACHE_OP_MAX ||
		    event->result_id < 0 || event->result_id > CACHE_RESULT_MAX)
			return perf_error("event %d of the list: no such cache event (cache_id %d, op_id %d, result_id %d)",
					  index, event->cache_id, event->op_id,
					  event->result_id);
		counter->code = (uint32_t)event->cache_id << 3 |
				(uint32_t)event->op_id << 1 |
				(uint32_t)event->result_id;
		return 0;

	case perfEventHWRaw:
		counter->data = event->event_data;
		return 0;

	default:
		return perf_error("event %d of the list: type %d is none of perfEventHWGeneral, perfEventHWCache, perfEventHWRaw",
				  index, event->type);
	}
}

PERF_LOCAL int convert_events(struct perf_counter *counter,
			      const perfEvent *event, int count)
{
	int i, j;

	for (i = 0; i < count; i++) {
		if (convert_event(&counter[i], &event[i], i))
			return -1;

		for (j = 0; j < i; j++)
			if (counter[i].type == counter[j].type &&
			    counter[i].code == counter[j].code &&
			    counter[i].data == counter[j].data)
				return perf_error("events %d and %d of the list are the same",
						  j, i);
	}
	return 0;
}

PERF_LOCAL int initialise(perfEvent *list, int count, int channel,
			  perfCountType_t type, uint32_t buffer, bool hooks)
{
	struct perf_counter counter[PERF_COUNTER_MAX];
	struct perf_setup setup;
	int i;

	if (process_session.state == PERF_SESSION_NONE)
		return perf_error("call perfInit() first");
	if (perf_session_end(&process_session))
		return -1;

	if (count < 0 || count > PERF_COUNTER_MAX)
		return perf_error("numCntrs is %d: it can be 0 to %d", count,
				  PERF_COUNTER_MAX);
	if (!list && count)
		return perf_error("perfCntrList is NULL, but numCntrs is %d",
				  count);
	if (channel < 0 || channel >= PERF_CHANNELS)
		return perf_error("itcChannel is %d: it can be 0 to %d", channel,
				  PERF_CHANNELS - 1);
	if ((unsigned int)type > perfCount_DeltaXOR)
		return perf_error("cntType is %d: it can be perfCount_Raw, perfCount_Delta or perfCount_DeltaXOR",
				  (int)type);
	if (convert_events(counter, list, count))
		return -1;

	setup = (struct perf_setup) {
		.counter	= counter,
		.count		= (uint32_t)count,
		.channel	= (unsigned int)channel,
		.type		= (uint32_t)type,
		.buffer		= buffer,
		.hooks		= hooks,
	};
	if (perf_session_setup(&process_session, &setup))
		return -1;

	for (i = 0; i < count; i++) {
		list[i].ctrIdx = counter[i].number;
		list[i].ctrInfo = counter[i].info;
	}
	return 0;
}

PERF_API int perfInit(int num_cores, int num_funnels)
{
	int rc;

	perf_error_clear();
	if (num_cores < 1)
		rc = perf_error("num_cores is %d: it must be at least 1",
				num_cores);
	else if (num_funnels < 0)
		rc = perf_error("num_funnels is %d: it cannot be negative",
				num_funnels);
	else
		rc = register_process();

	if (!rc)
		rc = perf_session_begin(&process_session,
					(unsigned int)num_cores,
					(unsigned int)num_funnels);
	return finish("perfInit(): ", rc);
}

PERF_API int perfManualInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
			    perfCountType_t cntType, uint32_t SBABufferSize)
{
	perf_error_clear();
	return finish("perfManualInit(): ",
		      initialise(perfCntrList, numCntrs, itcChannel, cntType,
				 SBABufferSize, false));
}

PERF_API int perfFuncEntryExitInit(perfEvent *perfCntrList, int numCntrs,
				   int itcChannel, perfCountType_t cntType,
				   uint32_t SBABufferSize)
{
	perf_error_clear();
	return finish("perfFuncEntryExitInit(): ",
		      initialise(perfCntrList, numCntrs, itcChannel, cntType,
				 SBABufferSize, true));
}

PERF_API int perfTimerISRInit(perfEvent *perfCntrList, int numCntrs,
			      int itcChannel, perfCountType_t cntType,
			      uint32_t SBABufferSize, int interval)
{
	(void)perfCntrList;
	(void)numCntrs;
	(void)itcChannel;
	(void)cntType;
	(void)SBABufferSize;
	(void)interval;

	return finish("perfTimerISRInit(): ",
		      perf_error("the timer is not supported by this driver: use perfManualInit() or perfFuncEntryExitInit()"));
}

/* Called too often for anything to be printed. */
PERF_API int perfWriteCntrs(void)
{
	return perf_session_record(&process_session,
				   (uintptr_t)__builtin_return_address(0));
}

PERF_API int perfTraceOn(void)
{
	perf_error_clear();
	return finish("perfTraceOn(): ", perf_session_on(&process_session));
}

PERF_API int perfTraceOff(void)
{
	perf_error_clear();
	return finish("perfTraceOff(): ", perf_session_off(&process_session));
}

PERF_API int perfWriteTrace(char *file)
{
	perf_error_clear();
	return finish("perfWriteTrace(): ",
		      perf_session_dump(&process_session,
					file ? file : "trace.rtd"));
}

PERF_API const char *perfErrorString(void)
{
	return perf_error_text();
}

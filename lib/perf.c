// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The API of the SiFive Trace Performance Library, for the process's session. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sifive_linux_perf.h"

#include "auto.h"
#include "bind.h"
#include "dump.h"
#include "environment.h"
#include "error.h"
#include "session.h"

/* Cache event codes: cache_id << 3 | op_id << 1 | result_id, in 16 bits. */
#define CACHE_ID_MAX	0x1fff
#define CACHE_OP_MAX	3
#define CACHE_RESULT_MAX 1

/* Minimum interval between timer records, in microseconds. */
#define INTERVAL_MIN	100

#ifdef PERF_ALONE
/*
 * A static program that uses only this API traces itself, so it does not need auto.c. Because this
 * file is first in the archive, the linker uses the functions below.
 */
PERF_INTERNAL __attribute__((weak)) void perf_auto_start(void)
{
}

PERF_INTERNAL __attribute__((weak)) void perf_auto_yield(uintptr_t frame)
{
	(void)frame;
}
#endif

/* End an API call, and print the error if the call has failed. */
PERF_LOCAL int leave(const char *call, int rc)
{
	perf_session_leave();
	if (rc)
		perf_error_print(call);
	return rc;
}

/* Begin an API call. Fails if another API has set up the session. */
PERF_LOCAL int enter(const char *call, bool record, uintptr_t frame)
{
	perf_error_clear();
	if (perf_session_enter(record, frame)) {
		perf_error_print(call);
		return -1;
	}
#ifndef PERF_DROPIN
	if (perf_session.user)
		return leave(call, perf_error("the program is already traced, through sifive_trace_setup() or SIFIVE_TRACE_RECORD"));
#endif /* PERF_DROPIN */
	return 0;
}

/* An API call; perf_session_enter() describes @record. */
#define PERF_CALL(name, record, action) \
	(enter(#name "(): ", record, PERF_FRAME) ? -1 : leave(#name "(): ", action))

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

	case perfEventFirmware:
		if (event->code < 0 || event->code > FW_HFENCE_VVMA_ASID_RECEIVED)
			return perf_error("event %d: firmware event %d: it must be 0 to %d",
					  index, event->code, FW_HFENCE_VVMA_ASID_RECEIVED);
		counter->code = (uint32_t)event->code;
		return 0;

	default:
		return perf_error("event %d of the list: type %d is not one of perfEventHWGeneral, perfEventHWCache, perfEventHWRaw, perfEventFirmware",
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

/*
 * A program for several cores calls an initialisation function on each core, with the same
 * arguments, before it traces. Each call adds its thread's CPUs to the set-up.
 */
PERF_LOCAL void add_cpus(struct perf_setup *setup)
{
	const struct perf_setup *before = &perf_session.setup;

	if (perf_session.state != PERF_SESSION_READY || perf_session.started ||
	    perf_session.starter == perf_thread_id() ||
	    before->type != setup->type || before->channel != setup->channel ||
	    before->count != setup->count || before->hooks != setup->hooks ||
	    before->take.buffer != setup->take.buffer)
		return;
	if (sched_getaffinity(0, sizeof(setup->cpus), &setup->cpus))
		CPU_ZERO(&setup->cpus);
	else
		CPU_OR(&setup->cpus, &setup->cpus, &before->cpus);
}

PERF_LOCAL int fill_setup(struct perf_setup *setup, const perfEvent *list, int count,
			  int channel, perfCountType_t type)
{
#ifndef PERF_DROPIN
	bool per_cpu = true;
#endif /* PERF_DROPIN */

	memset(setup, 0, sizeof(*setup));
	if (count < 0 || count > PERF_COUNTER_MAX)
		return perf_error("numCntrs is %d: it must be 0 to %d", count, PERF_COUNTER_MAX);
	if (!list && count)
		return perf_error("perfCntrList is NULL, but numCntrs is %d", count);
	if (channel < 0 || channel >= PERF_CHANNELS)
		return perf_error("itcChannel is %d: it must be 0 to %d", channel,
				  PERF_CHANNELS - 1);
	if ((unsigned int)type > perfCount_DeltaXOR)
		return perf_error("cntType is %d: it can be perfCount_Raw, perfCount_Delta or perfCount_DeltaXOR",
				  (int)type);
	setup->count = (uint32_t)count;
	setup->type = (uint32_t)type;
	setup->channel = (unsigned int)channel;
	if (convert_events(setup->counter, list, count) ||
	    perf_environment_once(PERF_ENVIRONMENT_HEADER, &setup->header_once))
		return -1;
#ifndef PERF_DROPIN
	if (perf_environment_flag("SIFIVE_TRACE_PER_CPU", &per_cpu))
		return -1;
	setup->per_thread = !per_cpu;
#endif /* PERF_DROPIN */
	return 0;
}

PERF_LOCAL int initialise(perfEvent *list, int count, int channel,
			  perfCountType_t type, uint32_t buffer, bool hooks,
			  uint64_t interval)
{
	static struct perf_setup setup;
	int i, rc;

	if (perf_session.state == PERF_SESSION_NONE)
		return perf_error("call perfInit() first");

	rc = fill_setup(&setup, list, count, channel, type);
	setup.take.buffer = buffer;
	setup.hooks = hooks;
	setup.sampling.interval = interval;
	if (!rc)
		add_cpus(&setup);
	/* On failure, nothing remains set up. */
	if (perf_session_end() || rc || perf_session_setup(&setup, NULL))
		return -1;

	for (i = 0; i < count; i++) {
		list[i].ctrIdx = setup.counter[i].number;
		list[i].ctrInfo = setup.counter[i].info;
	}
	return 0;
}

PERF_LOCAL int begin(int cores, int funnels)
{
	struct sifive_trace_info info;

	if (cores < 1)
		return perf_error("num_cores is %d: it must be at least 1", cores);
	if (funnels < 0)
		return perf_error("num_funnels is %d: it cannot be negative", funnels);
	if (perf_session_begin(&info))
		return -1;

	if (info.encoders != (unsigned int)cores || info.funnels != (unsigned int)funnels)
		perf_notice("the program expects %d encoders and %d funnels, but there are %u and %u: using these",
			    cores, funnels, info.encoders, info.funnels);
	return 0;
}

PERF_API int perfInit(int num_cores, int num_funnels)
{
#ifndef PERF_DROPIN
	perf_auto_yield(PERF_FRAME);
#endif /* PERF_DROPIN */
	return PERF_CALL(perfInit, true, begin(num_cores, num_funnels));
}

PERF_API int perfManualInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
			    perfCountType_t cntType, uint32_t SBABufferSize)
{
	return PERF_CALL(perfManualInit, true,
		    initialise(perfCntrList, numCntrs, itcChannel, cntType,
			       SBABufferSize, false, 0));
}

PERF_API int perfFuncEntryExitInit(perfEvent *perfCntrList, int numCntrs,
				   int itcChannel, perfCountType_t cntType,
				   uint32_t SBABufferSize)
{
	return PERF_CALL(perfFuncEntryExitInit, true,
		    initialise(perfCntrList, numCntrs, itcChannel, cntType,
			       SBABufferSize, true, 0));
}

PERF_API int perfTimerISRInit(perfEvent *perfCntrList, int numCntrs,
			      int itcChannel, perfCountType_t cntType,
			      uint32_t SBABufferSize, int interval)
{
	if (interval < INTERVAL_MIN)
		interval = INTERVAL_MIN;
	return PERF_CALL(perfTimerISRInit, true,
		    initialise(perfCntrList, numCntrs, itcChannel, cntType,
			       SBABufferSize, false, (uint64_t)interval * 1000));
}

/* Programs call this function so often that it must not print errors. */
PERF_API int perfWriteCntrs(void)
{
	return perf_session_record((uintptr_t)__builtin_return_address(0));
}

PERF_API int perfTraceOn(void)
{
	return PERF_CALL(perfTraceOn, true, perf_session_on());
}

PERF_API int perfTraceOff(void)
{
	return PERF_CALL(perfTraceOff, false, perf_session_off());
}

PERF_LOCAL int write_trace(const char *file)
{
	int rc = perf_dump(file ? file : "trace.rtd");

#ifndef PERF_DROPIN
	if (!rc)
		perf_bind_report_unused();
#endif /* PERF_DROPIN */
	return rc;
}

PERF_API int perfWriteTrace(char *file)
{
	return PERF_CALL(perfWriteTrace, perf_session.state == PERF_SESSION_ON, write_trace(file));
}

PERF_API const char *perfErrorString(void)
{
	return perf_error_text();
}

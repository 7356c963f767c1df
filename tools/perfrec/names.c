// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Provides names for the contents of records. Event names are perf's. */
#include <inttypes.h>
#include <stdio.h>

#include "perfrec.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Code of a cache event: cache << 3 | operation << 1 | result. */
#define CACHE_ID(code)		((code) >> 3)
#define CACHE_OPERATION(code)	((code) >> 1 & 3)
#define CACHE_RESULT(code)	((code) & 1)

static const char * const general[] = {
	[1] = "cycles",
	[2] = "instructions",
	[3] = "cache-references",
	[4] = "cache-misses",
	[5] = "branches",
	[6] = "branch-misses",
	[7] = "bus-cycles",
	[8] = "stalled-cycles-frontend",
	[9] = "stalled-cycles-backend",
	[10] = "ref-cycles",
};

static const char * const cache[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};

/* Suffix for the operation and its result, as in perf: "loads", "load-misses". */
static const char * const operation[][2] = {
	{ "loads", "load-misses" },
	{ "stores", "store-misses" },
	{ "prefetches", "prefetch-misses" },
};

/* Events counted by firmware, by SBI event code. */
static const char * const firmware[] = {
	"misaligned-load", "misaligned-store", "access-load", "access-store",
	"illegal-insn", "set-timer", "ipi-sent", "ipi-received", "fence-i-sent",
	"fence-i-received", "sfence-vma-sent", "sfence-vma-received",
	"sfence-vma-asid-sent", "sfence-vma-asid-received", "hfence-gvma-sent",
	"hfence-gvma-received", "hfence-gvma-vmid-sent", "hfence-gvma-vmid-received",
	"hfence-vvma-sent", "hfence-vvma-received", "hfence-vvma-asid-sent",
	"hfence-vvma-asid-received",
};

void perfrec_counter_name(const struct perfrec_counter *counter, char *name,
			  size_t size)
{
	uint32_t code = counter->code;

	switch (counter->type) {
	case PERFREC_EVENT_GENERAL:
		if (code == SIFIVE_TRACE_EVENT_TIMESTAMP)
			snprintf(name, size, "timestamp");
		else if (code < ARRAY_SIZE(general) && general[code])
			snprintf(name, size, "%s", general[code]);
		else
			snprintf(name, size, "general-0x%" PRIx32, code);
		break;
	case PERFREC_EVENT_CACHE:
		if (CACHE_ID(code) < ARRAY_SIZE(cache) &&
		    CACHE_OPERATION(code) < ARRAY_SIZE(operation))
			snprintf(name, size, "%s-%s", cache[CACHE_ID(code)],
				 operation[CACHE_OPERATION(code)][CACHE_RESULT(code)]);
		else
			snprintf(name, size, "cache-0x%" PRIx32, code);
		break;
	case PERFREC_EVENT_TURNS:
		snprintf(name, size, "turns%u", counter->number);
		break;
	case PERFREC_EVENT_FIRMWARE:
		if (code < ARRAY_SIZE(firmware))
			snprintf(name, size, "fw:%s", firmware[code]);
		else
			snprintf(name, size, "fw:0x%" PRIx32, code);
		break;
	default:
		snprintf(name, size, "r%" PRIx64, counter->event_data);
		break;
	}
}

const char *perfrec_type_name(unsigned int type)
{
	static const char * const names[] = {
		[PERFREC_ENTER] = "enter",
		[PERFREC_EXIT] = "exit",
		[PERFREC_MANUAL] = "manual",
		[PERFREC_ISR] = "sample",
	};

	return names[type];
}

const char *perfrec_count_type_name(unsigned int count_type)
{
	static const char * const names[] = {
		[PERFREC_RAW] = "Raw",
		[PERFREC_DELTA] = "Delta",
		[PERFREC_DELTA_XOR] = "DeltaXOR",
	};

	return names[count_type];
}

const char *perfrec_reason_name(unsigned int reason)
{
	static const char * const names[] = {
		[PERFREC_NO_START] = "no record begins here",
		[PERFREC_CUT_RECORD] = "record cut short",
		[PERFREC_CUT_HEADER] = "incomplete header or no header",
		[PERFREC_INTERRUPTED] = "messages were lost within it",
		[PERFREC_TRUNCATED] = "the trace ends within it",
	};

	return names[reason];
}

const char *perfrec_time_name(unsigned int time)
{
	static const char * const names[] = {
		[TIME_UNKNOWN] = "unknown", [TIME_INFERRED] = "inferred",
		[TIME_EXACT] = "exact",
	};

	return names[time];
}

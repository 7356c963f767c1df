/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for the record tests: a decoder for captured records, which also reports data that does
 * not belong to a record.
 */
#ifndef TRACE_RECORDS_H
#define TRACE_RECORDS_H

#include "trace_device.h"

/* Word that ends an abandoned record; a header follows. */
#define TRACE_BREAK	0xff
#define TRACE_COUNTERS	32

enum trace_kind {
	TRACE_ENTER	= 0,
	TRACE_EXIT	= 1,
	TRACE_MANUAL	= 2,
	TRACE_ISR	= 3,
};

/* Number of values kept from a sample's stack, registers included. */
#define TRACE_STACK_VALUES	(SIFIVE_TRACE_STACK_REGISTERS + 64)

/**
 * struct trace_record - one record
 * @encoder:	number of the record's encoder, in order of appearance, because sinks can use the
 *		same source numbers
 * @src:	source number
 * @channel:	channel number
 * @kind:	enum trace_kind
 * @owner:	thread id in the header, or 0 if there is none
 * @type:	count type in the header
 * @counters:	number of counters
 * @time:	time of the record's last message
 * @address:	the pc, or function and call site
 * @named:	set if the sample names its thread
 * @thread:	id of that thread
 * @callers:	number of callers
 * @caller:	the return-address register, then return addresses from the stack's frames
 * @values:	number of registers and 8-byte words of the stack
 * @stack:	first TRACE_STACK_VALUES of these registers and words
 * @value:	counts in order, as absolute values or, for Delta, as sums since the header
 */
struct trace_record {
	unsigned int encoder, src, channel, kind, owner, type, counters;
	uint64_t time;
	uint64_t address[2];
	bool named;
	uint32_t thread;
	unsigned int callers;
	uint64_t caller[SIFIVE_TRACE_CALLERS_MAX];
	unsigned int values;
	uint64_t stack[TRACE_STACK_VALUES];
	uint64_t value[TRACE_COUNTERS];
};

/**
 * struct trace_totals - totals of a trace
 * @records:	number of complete records
 * @headers:	number of complete headers
 * @breaks:	number of abandoned records with a mark
 * @bad:	number of unexpected messages and of Error messages
 * @unfinished:	number of records and headers cut off by the trace's end or by another record
 * @backwards:	number of counts that are less than in the previous record
 * @sources:	number of encoders with messages
 */
struct trace_totals {
	uint64_t records, headers, breaks, bad, unfinished, backwards;
	unsigned int sources;
};

/*
 * Decode all sinks and call @each for each record, in order within a source and channel. @each may
 * be NULL. The capture must not be running if it has several sinks, because the sinks' parts of the
 * file move during a capture. Return 0, or -1 if a sink does not contain a valid trace.
 */
int trace_records(int fd, struct trace_totals *totals,
		  void (*each)(const struct trace_record *record, void *arg),
		  void *arg);

/* Return whether the trace consists only of complete records and headers. */
static inline bool trace_is_whole(const struct trace_totals *totals)
{
	return !totals->bad && !totals->unfinished && !totals->backwards;
}

#endif /* TRACE_RECORDS_H */

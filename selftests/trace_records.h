/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of records share: a captured trace taken apart into them, which
 * tells what is none.
 */
#ifndef TRACE_RECORDS_H
#define TRACE_RECORDS_H

#include "trace_device.h"

/* Where a record was never finished; a header follows. */
#define TRACE_BREAK	0xff
#define TRACE_COUNTERS	32

enum trace_kind {
	TRACE_ENTER	= 0,
	TRACE_EXIT	= 1,
	TRACE_MANUAL	= 2,
	TRACE_ISR	= 3,
};

/**
 * struct trace_record - one record
 * @encoder:	which one, numbered as they are found, as sinks have sources alike
 * @src:	its source
 * @channel:	and channel
 * @kind:	enum trace_kind
 * @type:	count type of its header
 * @counters:	how many
 * @time:	of its last message
 * @address:	the place, or function and call site
 * @value:	counters in their order; differences are summed up since the header
 */
struct trace_record {
	unsigned int encoder, src, channel, kind, type, counters;
	uint64_t time;
	uint64_t address[2];
	uint64_t value[TRACE_COUNTERS];
};

/**
 * struct trace_totals - what there was
 * @records:	whole records
 * @headers:	whole headers
 * @breaks:	records that were given up, and said so
 * @bad:	messages that fit nowhere, and messages of losses
 * @unfinished:	records and headers that the trace, or another, has cut off
 * @backwards:	counters that were less than in the record before
 * @sources:	how many encoders wrote something
 */
struct trace_totals {
	uint64_t records, headers, breaks, bad, unfinished, backwards;
	unsigned int sources;
};

/*
 * Take all sinks' bytes apart, and call @each for each record: in order within a
 * source and channel. @each may be NULL. Returns 0, or -1 when it is no trace.
 */
int trace_records(int fd, struct trace_totals *totals,
		  void (*each)(const struct trace_record *record, void *arg),
		  void *arg);

/* Whether nothing was found that is neither a whole record nor a whole header. */
static inline bool trace_is_whole(const struct trace_totals *totals)
{
	return !totals->bad && !totals->unfinished && !totals->backwards;
}

#endif /* TRACE_RECORDS_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Lists the times at which data of a drained capture was lost, for the side-car file. */
#ifndef SIFIVE_TRACE_GAPS_H
#define SIFIVE_TRACE_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/sifive_trace.h>

#include "../output.h"

/* Maximum number of gaps; the last gap in a full list also covers all later gaps. */
#define GAPS_MAX	64

/**
 * struct gaps_entry - a time during which data was lost
 * @begin, @end: its beginning and end, in nanoseconds of CLOCK_MONOTONIC
 * @bytes:	number of overwritten bytes
 * @dropped:	number of records that programs dropped because the buffer had no room
 */
struct gaps_entry {
	uint64_t	begin;
	uint64_t	end;
	uint64_t	bytes;
	uint64_t	dropped;
};

/**
 * struct gaps - the gaps of one sink
 * @gap:	the @count gaps
 * @seen:	number of losses of bytes
 * @lost:	total number of lost bytes
 */
struct gaps {
	struct gaps_entry	gap[GAPS_MAX];
	unsigned int		count;
	uint64_t		seen;
	uint64_t		lost;
};

/**
 * struct gaps_room - times when the buffer had no room and records were dropped; these times
 * are the same for all sinks
 * @open:	set if the buffer had no room at the last check
 * @begin:	beginning of the current gap
 * @looked:	time of the last check
 * @full_ns:	total time without room in the buffer, as of the last check
 * @fulls:	number of times that the buffer had run out of room, as of the last check
 * @dropped:	number of records dropped before the current gap
 */
struct gaps_room {
	bool			open;
	uint64_t		begin;
	uint64_t		looked;
	uint64_t		full_ns;
	uint64_t		fulls;
	uint64_t		dropped;
};

/** gaps_add() - add a gap to a sink's list */
void gaps_add(struct gaps *gaps, const struct gaps_entry *gap);

/** gaps_sink() - add a sink's losses since the last call */
void gaps_sink(struct gaps *gaps, const struct sifive_trace_sink *sink);

/**
 * gaps_room() - update the times when the buffer had no room
 * @status:	the driver's state at time @now
 * @dropped:	total number of dropped records
 * @last:	set in the final call, which ends any open gap
 * @gap:	set to the gap that has ended
 *
 * Return: whether a gap with dropped records has ended.
 */
bool gaps_room(struct gaps_room *room, const struct sifive_trace_status *status,
	       uint64_t dropped, uint64_t now, bool last, struct gaps_entry *gap);

/**
 * gaps_write() - write a sink's list as the member "missing" of an object, preceded by a comma;
 * write nothing if the list is empty
 * @sink:	state of the sink, which relates its clock in ticks to CLOCK_MONOTONIC
 * @hz:		ticks per second
 * @width:	width of a timestamp in bits
 */
void gaps_write(const struct gaps *gaps, const struct sifive_trace_sink *sink, uint64_t hz,
		unsigned int width, struct output *out);

#endif /* SIFIVE_TRACE_GAPS_H */

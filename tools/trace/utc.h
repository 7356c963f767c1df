/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Converts times of a trace to the wall-clock time of the machine that recorded it. */
#ifndef SIFIVE_TRACE_UTC_H
#define SIFIVE_TRACE_UTC_H

#include <stdbool.h>
#include <stdint.h>

#include "meta.h"

#define UTC_NS_PER_SEC	1000000000u
/* Size of a string from utc_text(). */
#define UTC_TEXT	240
/* The largest number that a side-car file may contain. */
#define UTC_MOST	(UINT64_MAX - 1)

/**
 * struct utc - the wall clock of a trace
 * @lack:	why times cannot be converted, and what to do about it, or NULL if they can be
 * @time, @ns:	a time in the trace, and the same time in nanoseconds since the Epoch
 * @mask:	maximum timestamp, with fewer bits if wall-clock times would not fit in 64 bits
 * @margin:	number of ticks before @time that the trace may contain
 * @ticks, @length: @ticks ticks take @length nanoseconds
 * @measured:	@ticks and @length were measured from START to STOP, which corrects drift
 * @small:	drift is not corrected, because the errors of the readings can explain it
 * @within:	maximum error in nanoseconds at START and at STOP, or 0 if unknown
 * @drift:	how much faster the trace's clock is than the wall clock, in parts per million
 * @doubt:	maximum error of @drift
 * @most:	maximum number of ticks between two times in the trace; if there are more, the trace
 *		may have wrapped
 */
struct utc {
	const char	*lack;
	uint64_t	time;
	uint64_t	ns;
	uint64_t	mask;
	uint64_t	margin;
	uint64_t	ticks;
	uint64_t	length;
	bool		measured;
	bool		small;
	uint64_t	within[2];
	double		drift;
	double		doubt;
	uint64_t	most;
};

/**
 * utc_init() - find the wall clock of a trace
 * @meta:	side-car file
 * @hz:		ticks per second, or 0 if unknown
 * @mask:	maximum timestamp
 */
void utc_init(struct utc *utc, const struct meta *meta, uint64_t hz, uint64_t mask);

/**
 * utc_time() - convert a time to nanoseconds since the Epoch
 * @ticks:	a time in the trace
 * @ns:		set to the result
 *
 * Return: false if times cannot be converted, see @lack.
 */
bool utc_time(const struct utc *utc, uint64_t ticks, uint64_t *ns);

/** utc_add() - add two errors; return at most UTC_MOST */
uint64_t utc_add(uint64_t a, uint64_t b);

/** utc_text() - describe the accuracy of the wall-clock times of a trace; @lack must be NULL */
void utc_text(const struct utc *utc, char text[UTC_TEXT]);

#endif /* SIFIVE_TRACE_UTC_H */

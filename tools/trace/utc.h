/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Converts times of a trace to the wall-clock time of the machine that recorded it. */
#ifndef SIFIVE_TRACE_UTC_H
#define SIFIVE_TRACE_UTC_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

/**
 * utc_time() - convert a time to nanoseconds since the Epoch
 * @ticks:	a time of the trace
 * @ns:		set to the result
 *
 * Return: false if the time is unknown: the side-car file lacks the machine's clock, the rate of
 * timestamps is unknown, or timestamps may have wrapped during the run.
 */
bool utc_time(const struct input *input, uint64_t ticks, uint64_t *ns);

#endif /* SIFIVE_TRACE_UTC_H */

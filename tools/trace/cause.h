/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Describes the call that triggered a snapshot: see record --trigger and --slower-than. */
#ifndef SIFIVE_TRACE_CAUSE_H
#define SIFIVE_TRACE_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

#define CAUSE_SIZE	512

/**
 * cause_time() - convert a time in the side-car file, which may have wrapped, to a time in the
 * trace
 * @ticks:	the time from the side-car file
 * @near:	a time in the trace that is less than half the range of a timestamp away
 */
uint64_t cause_time(const struct input *input, uint64_t ticks, uint64_t near);

/**
 * cause_gap() - determine the start and end of a gap in the side-car file
 * @number:	number of the gap, from 0
 * @begin, @end: set to the gap's times in ticks: the latest possible times before the next gap or,
 *		for the last gap, the times nearest to the end of the trace
 *
 * Return: false if the times are unknown.
 */
bool cause_gap(const struct input *input, size_t number, uint64_t *begin, uint64_t *end);

/**
 * cause_span() - determine the start and end of the call that triggered the snapshot
 * @from, @to: start and end of the call in ticks; equal for a snapshot at the call's start
 *
 * Return: false if there is no such call, or its time is unknown.
 */
bool cause_span(const struct input *input, uint64_t *from, uint64_t *to);

/**
 * cause_why() - write "call 7 of f took 2.000 ms, longer than 1.000 ms", or "", to @text; return
 * @text
 */
const char *cause_why(const struct input *input, char text[CAUSE_SIZE]);

/** cause_text() - like cause_why(), but also write the call's thread and times */
const char *cause_text(const struct input *input, char text[CAUSE_SIZE]);

#endif /* SIFIVE_TRACE_CAUSE_H */

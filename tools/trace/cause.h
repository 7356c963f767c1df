/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The call that a snapshot is of: see record --trigger and --slower-than. */
#ifndef SIFIVE_TRACE_CAUSE_H
#define SIFIVE_TRACE_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

#define CAUSE_SIZE	512

/**
 * cause_time() - a time of the side-car file as one of the trace
 * @ticks:	it wraps as a timestamp does
 * @near:	a time of the trace: less than half of that away
 */
uint64_t cause_time(const struct input *input, uint64_t ticks, uint64_t near);

/**
 * cause_span() - when the call began and ended
 * @from, @to:	in ticks; the same for a snapshot of its begin
 *
 * Return: false if there is no such call, or its time is unknown.
 */
bool cause_span(const struct input *input, uint64_t *from, uint64_t *to);

/** cause_why() - "call 7 of f took 2.000 ms, longer than 1.000 ms", or ""; returns @text */
const char *cause_why(const struct input *input, char text[CAUSE_SIZE]);

/** cause_text() - the same with its thread and its times */
const char *cause_text(const struct input *input, char text[CAUSE_SIZE]);

#endif /* SIFIVE_TRACE_CAUSE_H */

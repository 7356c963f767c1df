/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Numbers for people. */
#ifndef SIFIVE_TRACE_UNITS_H
#define SIFIVE_TRACE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#define UNITS_SIZE	24

/**
 * units_time() - "12.345 us", or ticks when the rate is not known
 * @text:	filled with UNITS_SIZE bytes at most
 * @ticks:	a duration
 * @hz:		ticks in a second, 0: unknown
 *
 * Return: @text.
 */
const char *units_time(char *text, uint64_t ticks, uint64_t hz);

/** units_count() - "123456789", or from ten digits on "12.346G" */
const char *units_count(char *text, uint64_t count);

/**
 * units_mark() - mark a number that is not certain
 * @text:	of units_count() or units_time(): gets "~" in front
 *
 * Return: @text.
 */
const char *units_mark(char *text, bool uncertain);

#endif /* SIFIVE_TRACE_UNITS_H */

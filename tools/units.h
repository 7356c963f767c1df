/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Formats and parses human-readable numbers. */
#ifndef SIFIVE_TRACE_UNITS_H
#define SIFIVE_TRACE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"

#define UNITS_SIZE	24

/* Value that units_set_threshold() stores for "none". */
#define UNITS_NO_TIME	UINT64_MAX

/**
 * units_time() - write a duration as "12.345 us", or in ticks if the rate is unknown
 * @text:	buffer of UNITS_SIZE bytes
 * @ticks:	a duration
 * @hz:		ticks per second, or 0 if unknown
 *
 * Return: @text.
 */
const char *units_time(char *text, uint64_t ticks, uint64_t hz);

/** units_unit() - return nanoseconds per unit "s", "ms", "us" or "ns", 0 for any other text */
uint64_t units_unit(const char *text);

/** units_parse() - parse "5us" as nanoseconds; return false unless it is a time greater than 0 */
bool units_parse(const char *text, uint64_t *ns);

/**
 * units_set_threshold() - @set function of an option whose value is "none" or a time such as "5us",
 * stored as a uint64_t in nanoseconds
 */
int units_set_threshold(void *at, const struct cli_option *option, const char *value);

/** units_count() - write "123456789", or "12.346G" if there are ten digits or more */
const char *units_count(char *text, uint64_t count);

/**
 * units_mark() - mark a number as uncertain, if @uncertain is set
 * @text:	a number from units_count() or units_time(), to which "~" is prepended
 *
 * Return: @text.
 */
const char *units_mark(char *text, bool uncertain);

#endif /* SIFIVE_TRACE_UNITS_H */

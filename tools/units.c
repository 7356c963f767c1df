// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Formats and parses human-readable numbers: see units.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "units.h"

const char *units_count(char *text, uint64_t count)
{
	static const char letters[] = "GTPE";
	double value = (double)count / 1e9;
	unsigned int i = 0;

	if (count < 1000000000) {
		snprintf(text, UNITS_SIZE, "%" PRIu64, count);
		return text;
	}
	while (value >= 999.9995 && i < 3) {
		value /= 1000;
		i++;
	}
	snprintf(text, UNITS_SIZE, "%.3f%c", value, letters[i]);
	return text;
}

/* Each unit is a thousand times the previous one. */
static const char * const units[] = { "ns", "us", "ms", "s" };

uint64_t units_unit(const char *text)
{
	uint64_t ns = 1;
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++, ns *= 1000)
		if (!strcmp(text, units[i]))
			return ns;
	return 0;
}

bool units_parse(const char *text, uint64_t *ns)
{
	uint64_t number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !errno && number && units_unit(end) &&
	       !__builtin_mul_overflow(number, units_unit(end), ns);
}

int units_set_threshold(void *at, const struct cli_option *option, const char *value)
{
	uint64_t *ns = at;

	if (option->words && !strcmp(value, option->words)) {
		*ns = UNITS_NO_TIME;
		return EXIT_OK;
	}
	if (units_parse(value, ns) && *ns < UNITS_NO_TIME)
		return EXIT_OK;
	return cli_refuse(option, "a time such as 500ns, 5us or 10ms", value);
}

const char *units_time(char *text, uint64_t ticks, uint64_t hz)
{
	double value;
	unsigned int i = 0;

	if (!hz)
		return units_count(text, ticks);
	value = (double)ticks / (double)hz * 1e9;
	while (value >= 999.9995 && i < 3) {
		value /= 1000;
		i++;
	}
	snprintf(text, UNITS_SIZE, "%.3f %s", value, units[i]);
	return text;
}

const char *units_mark(char *text, bool uncertain)
{
	if (uncertain) {
		memmove(text + 1, text, strnlen(text, UNITS_SIZE - 2) + 1);
		*text = '~';
		text[UNITS_SIZE - 1] = '\0';
	}
	return text;
}

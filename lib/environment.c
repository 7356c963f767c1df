// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifndef PERF_DROPIN
#include <sys/auxv.h>
#endif /* PERF_DROPIN */
#include <unistd.h>

#include "environment.h"
#include "error.h"

PERF_INTERNAL const char *perf_environment(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

/* Return the index of @value in @words, a list separated by ", ", or -1 if it is not listed. */
PERF_INTERNAL int perf_environment_find(const char *words, const char *value)
{
	size_t length = strlen(value);
	int index = 0;

	for (;; index++) {
		size_t end = strcspn(words, ",");

		if (end == length && !strncasecmp(words, value, end))
			return index;
		if (!words[end])
			return -1;
		words += end + 2;
	}
}

PERF_INTERNAL int perf_environment_word(const char *name, const char *words)
{
	const char *value = perf_environment(name);

	return value ? perf_environment_find(words, value) : -1;
}

PERF_INTERNAL int perf_environment_choice(const char *name, const char *words,
					  unsigned int *chosen)
{
	const char *value = perf_environment(name);
	int index;

	if (!value)
		return 0;
	index = perf_environment_find(words, value);
	if (index < 0)
		return perf_error("%s=%s: not one of %s", name, value, words);
	*chosen = (unsigned int)index;
	return 0;
}

PERF_INTERNAL int perf_environment_once(const char *words, bool *once)
{
	unsigned int word = 0;

	if (perf_environment_choice("SIFIVE_TRACE_HEADER", words, &word))
		return -1;
	*once = word;
	return 0;
}

#ifndef PERF_DROPIN
PERF_INTERNAL int perf_environment_flag(const char *name, bool *flag)
{
	unsigned int word = *flag ? 0 : 1;

	if (perf_environment_choice(name, PERF_ENVIRONMENT_FLAG, &word))
		return -1;
	*flag = !(word % 2);
	return 0;
}

PERF_INTERNAL int perf_environment_number(const char *name, uint64_t most,
					  uint64_t *number)
{
	const char *value = perf_environment(name);
	unsigned long long n;
	char *end;

	if (!value)
		return 0;
	errno = 0;
	n = strtoull(value, &end, 10);
	if (*value >= '0' && *value <= '9' && !errno) {
		unsigned int shift = *end == 'k' || *end == 'K' ? 10 :
				     *end == 'M' ? 20 : 0;

		if (shift)
			end++;
		if (!*end && n <= most >> shift) {
			*number = (uint64_t)n << shift;
			return 0;
		}
	}
	return perf_error("%s=%s: not a number from 0 to %llu", name, value,
			  (unsigned long long)most);
}

PERF_INTERNAL int perf_environment_header(bool *once, unsigned int *interval)
{
	const char *value = perf_environment("SIFIVE_TRACE_HEADER");
	uint64_t number = 0;

	*once = false;
	if (value && *value >= '0' && *value <= '9' ?
	    perf_environment_number("SIFIVE_TRACE_HEADER", UINT32_MAX, &number) :
	    perf_environment_once(PERF_ENVIRONMENT_HEADER ", or a number of records", once))
		return -1;
	*interval = (unsigned int)number;
	return 0;
}

PERF_INTERNAL int perf_environment_record(enum perf_record *record)
{
	static const char words[] = "join, " PERF_ENVIRONMENT_FLAG;
	unsigned int word = 2;

	*record = PERF_RECORD_NOT;
	if (perf_environment_choice("SIFIVE_TRACE_RECORD", words, &word))
		return -1;
	*record = !word ? PERF_RECORD_JOIN : word % 2 ? PERF_RECORD_OWN : PERF_RECORD_NOT;
	return 0;
}

/* ---- names that do not exist ---------------------------------------------- */

#define PREFIX		"SIFIVE_TRACE_"
#define PREFIX_LENGTH	(sizeof(PREFIX) - 1)

/* Maximum length, without the prefix, of a name for which the nearest match is looked up. */
#define NAME_MAX_LENGTH	24

/*
 * All variables of the library, the command and the virtual board's set-up. The static library
 * rejects those for context switches, system calls and page faults.
 */
static const char *const names[] = {
	"SIFIVE_TRACE_RECORD", "SIFIVE_TRACE_EVENTS", "SIFIVE_TRACE_COUNT",
	"SIFIVE_TRACE_BUFFER", "SIFIVE_TRACE_SINK", "SIFIVE_TRACE_RING",
	"SIFIVE_TRACE_DRAIN", "SIFIVE_TRACE_CHANNEL", "SIFIVE_TRACE_CPUS", "SIFIVE_TRACE_PER_CPU",
	"SIFIVE_TRACE_INTERVAL", "SIFIVE_TRACE_PERIOD", "SIFIVE_TRACE_CALLERS",
	"SIFIVE_TRACE_STACK", "SIFIVE_TRACE_TURN",
	"SIFIVE_TRACE_PERIOD_EVENT", "SIFIVE_TRACE_FILTER",
	"SIFIVE_TRACE_OUTPUT", "SIFIVE_TRACE_HEADER", "SIFIVE_TRACE_META",
	"SIFIVE_TRACE_DEVICE", "SIFIVE_TRACE_VERBOSE", "SIFIVE_TRACE_CACHE",
	"SIFIVE_TRACE_MIRROR", "SIFIVE_TRACE_UNVERIFIED",
#if defined(PERF_SHARED) || defined(PERF_COMMAND)
	"SIFIVE_TRACE_SWITCHES", "SIFIVE_TRACE_SYSCALLS", "SIFIVE_TRACE_PAGE_FAULTS",
#endif
};

#define NAMES		(sizeof(names) / sizeof(names[0]))
PERF_LOCAL unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Return the edit distance of @a and @b, both short. */
PERF_LOCAL unsigned int distance(const char *a, size_t length, const char *b)
{
	unsigned int row[NAME_MAX_LENGTH + 1], above, before;
	size_t i, j, width = strlen(b);

	for (j = 0; j <= width; j++)
		row[j] = (unsigned int)j;
	for (i = 1; i <= length; i++) {
		above = row[0];
		row[0] = (unsigned int)i;
		for (j = 1; j <= width; j++) {
			before = above;
			above = row[j];
			row[j] = least(before + (a[i - 1] != b[j - 1]),
				       1 + least(row[j], row[j - 1]));
		}
	}
	return row[width];
}

PERF_LOCAL const char *nearest(const char *name, size_t length)
{
	const char *found = names[0];
	unsigned int fewest = ~0u;
	size_t i;

	if (length > NAME_MAX_LENGTH)
		return found;
	for (i = 0; i < NAMES; i++) {
		unsigned int n = distance(name, length, names[i] + PREFIX_LENGTH);

		if (n >= fewest)
			continue;
		fewest = n;
		found = names[i];
	}
	return found;
}

PERF_LOCAL bool is_name(const char *variable, size_t length)
{
	size_t i;

	for (i = 0; i < NAMES; i++)
		if (strlen(names[i]) == length &&
		    !strncmp(variable, names[i], length))
			return true;
	return false;
}

PERF_LOCAL int check_names(void)
{
	char **variable;

	if (!environ || getauxval(AT_SECURE))
		return 0;
	for (variable = environ; *variable; variable++) {
		size_t length = strcspn(*variable, "=");

		if (strncmp(*variable, PREFIX, PREFIX_LENGTH) ||
		    is_name(*variable, length))
			continue;
		return perf_error("%.*s: no such variable: did you mean %s?",
				  (int)least((unsigned int)length, 64), *variable,
				  nearest(*variable + PREFIX_LENGTH,
					  length - PREFIX_LENGTH));
	}
	return 0;
}
#endif /* PERF_DROPIN */

PERF_INTERNAL int perf_environment_check(void)
{
	unsigned int word;
	bool once;

#ifndef PERF_DROPIN
	enum perf_record record;
	unsigned int interval;

	if (check_names() || perf_environment_record(&record) ||
	    perf_environment_header(&once, &interval))
		return -1;
#else
	if (perf_environment_once(PERF_ENVIRONMENT_HEADER, &once))
		return -1;
#endif /* PERF_DROPIN */
	if (perf_environment_choice("SIFIVE_TRACE_META", PERF_ENVIRONMENT_META, &word))
		return -1;
	return perf_environment_choice("SIFIVE_TRACE_VERBOSE", PERF_ENVIRONMENT_FLAG, &word);
}

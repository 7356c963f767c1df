/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The library's environment variables, SIFIVE_TRACE_*: sifive_trace(3) lists them.
 *
 * An empty variable counts as absent. In a program with more privilege than its user
 * all are ignored. Functions that return int return 0, or -1 with text for
 * perfErrorString().
 */
#ifndef PERF_ENVIRONMENT_H
#define PERF_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

/* Words for yes and no, in turn. */
#define PERF_ENVIRONMENT_FLAG	"yes, no, 1, 0, on, off"

/* The value of variable @name; NULL: none. */
PERF_INTERNAL const char *perf_environment(const char *name);

/* The same as text: which of @words, with ", " between, it is; -1: none of them. */
PERF_INTERNAL int perf_environment_word(const char *name, const char *words);

/* The yes or no of a variable: yes, 1, on; no, 0, off. @flag stays when unset. */
PERF_INTERNAL int perf_environment_flag(const char *name, bool *flag);

/* A number up to @most; k and M at its end multiply. @number stays when unset. */
PERF_INTERNAL int perf_environment_number(const char *name, uint64_t most,
					  uint64_t *number);

/**
 * perf_environment_choice - which of some words a variable is
 * @words:	with ", " between
 * @chosen:	index of the word; stays when unset
 */
PERF_INTERNAL int perf_environment_choice(const char *name, const char *words,
					  unsigned int *chosen);

/* What SIFIVE_TRACE_HEADER asks for: one header alone, or one at @interval records. */
PERF_INTERNAL int perf_environment_header(bool *once, unsigned int *interval);

/* What SIFIVE_TRACE_META asks for. */
enum perf_side_car {
	PERF_SIDE_CAR,		/* at the end */
	PERF_SIDE_CAR_NONE,
	PERF_SIDE_CAR_EARLY,	/* also when the program begins */
};

/* A value that is none of these counts as PERF_SIDE_CAR: the check finds it. */
PERF_INTERNAL enum perf_side_car perf_environment_side_car(void);

/*
 * Fails for a variable SIFIVE_TRACE_* that does not exist, with the nearest name, and
 * for one of a wrong value among those that every set-up looks at.
 */
PERF_INTERNAL int perf_environment_check(void);

#endif /* PERF_ENVIRONMENT_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The library's environment variables, SIFIVE_TRACE_*: sifive_trace(3) lists them. An empty
 * variable counts as unset. All are ignored in a program that runs with raised privileges
 * (secure execution). Functions of type int return 0, or -1 with text for perfErrorString().
 */
#ifndef PERF_ENVIRONMENT_H
#define PERF_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

/* Values for true and false, alternating. */
#define PERF_ENVIRONMENT_FLAG	"yes, no, 1, 0, on, off"

/* Return the value of variable @name, or NULL if unset. */
PERF_INTERNAL const char *perf_environment(const char *name);

/* Return the index of @value in @words, a list separated by ", ", or -1 if it is not listed. */
PERF_INTERNAL int perf_environment_find(const char *words, const char *value);

/* Return the index of variable @name's value in @words; -1 if it is unset or not listed. */
PERF_INTERNAL int perf_environment_word(const char *name, const char *words);

/**
 * perf_environment_choice - read a variable whose value is one of several words
 * @words:	list of the words, separated by ", "
 * @chosen:	index of the word; unchanged if the variable is unset
 */
PERF_INTERNAL int perf_environment_choice(const char *name, const char *words,
					  unsigned int *chosen);

/* Read SIFIVE_TRACE_HEADER, one of @words. @once: only the first start writes headers. */
#define PERF_ENVIRONMENT_HEADER	"each, once"
PERF_INTERNAL int perf_environment_once(const char *words, bool *once);

/* Words of SIFIVE_TRACE_META, and whether the word with a given index forbids side-car files. */
#define PERF_ENVIRONMENT_META	"early, " PERF_ENVIRONMENT_FLAG
#define PERF_ENVIRONMENT_NO_META(word)	((word) > 0 && (word) % 2 == 0)

#ifndef PERF_DROPIN
/* Read a boolean variable: yes, 1, on; no, 0, off. @flag is unchanged if the variable is unset. */
PERF_INTERNAL int perf_environment_flag(const char *name, bool *flag);

/* Read a number up to @most, with suffix k or M. @number is unchanged if the variable is unset. */
PERF_INTERNAL int perf_environment_number(const char *name, uint64_t most,
					  uint64_t *number);

/* Read SIFIVE_TRACE_HEADER; its value can also be the number of records between headers. */
PERF_INTERNAL int perf_environment_header(bool *once, unsigned int *interval);

/* SIFIVE_TRACE_RECORD: do not record, or record in the program's own or an ancestor's session. */
enum perf_record {
	PERF_RECORD_NOT,
	PERF_RECORD_OWN,
	PERF_RECORD_JOIN,
};

PERF_INTERNAL int perf_environment_record(enum perf_record *record);
#endif /* PERF_DROPIN */

/*
 * Check the environment. Fails if a variable SIFIVE_TRACE_* is unknown (the error text contains the
 * nearest name), or if a variable that every set-up reads has an invalid value.
 */
PERF_INTERNAL int perf_environment_check(void);

#endif /* PERF_ENVIRONMENT_H */

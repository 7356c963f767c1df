/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Translates the user's options, given as text, to a session's set-up. */
#ifndef PERF_OPTIONS_H
#define PERF_OPTIONS_H

#include "compiler.h"
#include "session.h"

struct sifive_trace_options;

/**
 * perf_options_parse - check options
 * @setup:	set-up to fill in
 *
 * Returns 0, or -1 with an error text that names the invalid word.
 */
PERF_INTERNAL int perf_options_parse(const struct sifive_trace_options *options,
				     struct perf_setup *setup);

#endif /* PERF_OPTIONS_H */

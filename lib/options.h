/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* From options as users give them, as text, to what a session is set up with. */
#ifndef PERF_OPTIONS_H
#define PERF_OPTIONS_H

#include "compiler.h"
#include "session.h"

struct sifive_trace_options;

/**
 * perf_options_parse - check options
 * @setup:	to be filled in
 *
 * Returns 0, or -1 with text that names the word that is wrong.
 */
PERF_INTERNAL int perf_options_parse(const struct sifive_trace_options *options,
				     struct perf_setup *setup);

#endif /* PERF_OPTIONS_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shows only a part of the trace's time. Calls are followed from the beginning
 * of the trace, but nothing before the part is counted or shown: calls open at a thread's first
 * record in the part begin there, and calls open at its last record end there.
 */
#ifndef SIFIVE_TRACE_LIMIT_H
#define SIFIVE_TRACE_LIMIT_H

#include "calls.h"

/**
 * limit_before() - called before a record of a thread is handled
 *
 * Return: false if the record is after the part: ignore it.
 */
bool limit_before(struct analysis *analysis, struct analysis_thread *thread,
		  const struct perfrec_record *record);

/**
 * limit_timed() - called once a record's time is known; returns whether it is the first
 * in the part
 */
bool limit_timed(struct analysis *analysis, struct analysis_thread *thread);

/** limit_end() - end a thread's calls at the end of the trace */
void limit_end(struct analysis *analysis, struct analysis_thread *thread);

#endif /* SIFIVE_TRACE_LIMIT_H */

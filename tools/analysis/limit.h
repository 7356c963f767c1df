/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shows only a selected time range of the trace. Calls are followed from the beginning of the
 * trace, but nothing before the range is counted or shown. Calls open at a thread's first record in
 * the range begin at that record; calls open at its last record in the range end at that record.
 */
#ifndef SIFIVE_TRACE_LIMIT_H
#define SIFIVE_TRACE_LIMIT_H

#include "calls.h"

/**
 * limit_before() - before a thread's record is processed, compare it with the time range
 *
 * Return: false if the record is after the time range and must be ignored.
 */
bool limit_before(struct analysis *analysis, struct analysis_thread *thread,
		  const struct perfrec_record *record);

/**
 * limit_timed() - process a record whose time has been determined; return whether it is the
 * thread's first record in the time range
 */
bool limit_timed(struct analysis *analysis, struct analysis_thread *thread);

/** limit_end() - end a thread's calls at the end of the trace */
void limit_end(struct analysis *analysis, struct analysis_thread *thread);

#endif /* SIFIVE_TRACE_LIMIT_H */

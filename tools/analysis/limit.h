/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shows a part of the trace's time only. Calls are followed from the trace's begin on, but
 * nothing of what precedes the part is counted or shown: calls that are open at a thread's
 * first record in it begin there. They end at its last one.
 */
#ifndef SIFIVE_TRACE_LIMIT_H
#define SIFIVE_TRACE_LIMIT_H

#include "calls.h"

/**
 * limit_before() - before a record of a thread is looked at
 *
 * Return: false if it is behind the part: it is to be ignored.
 */
bool limit_before(struct analysis *analysis, struct analysis_thread *thread,
		  const struct perfrec_record *record);

/** limit_timed() - once its time is the thread's; returns whether it is the first in the part */
bool limit_timed(struct analysis *analysis, struct analysis_thread *thread);

/** limit_end() - end a thread's calls at the end of the trace */
void limit_end(struct analysis *analysis, struct analysis_thread *thread);

#endif /* SIFIVE_TRACE_LIMIT_H */

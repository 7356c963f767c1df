/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reports data missing from a capture. */
#ifndef SIFIVE_TRACE_LOSSES_H
#define SIFIVE_TRACE_LOSSES_H

#include <stdbool.h>

#include "drain.h"

/**
 * losses_gaps() - report the losses of a drained sink
 * @name:	path of the sink's file
 * @why:	reason that drain_account() returned, or NULL
 */
void losses_gaps(const char *name, const struct sifive_trace_sink *sink, const char *why);

/** losses_sink() - report a full buffer, or a wrapped ring, which is not a loss */
void losses_sink(const char *name, const struct sifive_trace_sink *sink, bool quiet);

/**
 * losses_times() - unless @quiet, report pauses, stalls and waits. These are not losses, but
 * nothing was recorded during pauses, and stalls and waits slowed programs down
 * @drain:	NULL if the capture was not drained, in which case nothing can have waited
 */
void losses_times(const struct sifive_trace_status *status, const struct drain *drain, bool quiet);

/**
 * losses_report() - report records that the program and the kernel could not
 * write
 * @fd:		the device
 * @library:	set if the program's library has already reported all losses except dropped records
 */
void losses_report(int fd, const struct sifive_trace_status *status, bool library);

/** losses_samples() - return 0, or -1 after reporting that there are no samples */
int losses_samples(const struct sifive_trace_status *status);

#endif /* SIFIVE_TRACE_LOSSES_H */

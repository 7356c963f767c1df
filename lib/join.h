/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Channels of a session that another process holds, assigned by the driver. */
#ifndef PERF_JOIN_H
#define PERF_JOIN_H

#include <stdbool.h>

#include <linux/sifive_trace_join.h>

#include "compiler.h"
#include "device.h"

#ifndef PERF_DROPIN
/* To keep static programs small, only in the shared library, which the recorder preloads. */
#ifdef PERF_SHARED
#define PERF_MEMBER	1
#else
#define PERF_MEMBER	0
#endif

/**
 * perf_join - join the session of an ancestor
 * @device:	open device; its encoders are set to the session's
 * @join:	request: the members channel and channels are inputs; the other members are filled
 *		in
 * @wanted:	whether the process needs a channel now
 */
PERF_INTERNAL int perf_join(struct perf_device *device, struct sifive_trace_join *join,
			    bool wanted);

/**
 * perf_join_channel - request another channel
 * @used:	result: whether another process has already used the channel
 *
 * Called with the channels locked. Returns -1 if no channel is left, or if the
 * session is the process's own.
 */
#ifdef PERF_SHARED
PERF_INTERNAL int perf_join_channel(bool *used);
#else
static inline int perf_join_channel(bool *used)
{
	*used = false;
	return -1;
}
#endif
#endif /* PERF_DROPIN */

#endif /* PERF_JOIN_H */

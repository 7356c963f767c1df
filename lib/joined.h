/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The threads that have recorded in the session, for its side-car file. */
#ifndef PERF_JOINED_H
#define PERF_JOINED_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "thread.h"

/* A thread that has recorded. Times are in ticks. @named: whether all its headers name it. */
struct perf_joined {
	volatile int32_t tid;
	uint32_t channel;
	bool timed, ended, named;
	uint64_t from, to;
	char name[16];
};

/* The first perf_pool.joins elements are in use. */
PERF_INTERNAL_DATA struct perf_joined perf_joined[PERF_JOINED];

/* Read the current trace timestamp from one of the encoders; returns false if that fails. */
PERF_INTERNAL bool perf_joined_time(uint64_t *now);

#endif /* PERF_JOINED_H */

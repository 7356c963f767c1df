/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A session held by another process, sifive-trace record: the calling process joins the session,
 * and the driver assigns channels when its threads record.
 */
#ifndef PERF_MEMBER_H
#define PERF_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "device.h"
#include "session.h"

#ifndef PERF_DROPIN
#ifdef PERF_SHARED
/**
 * perf_member_take - join the session of an ancestor
 * @device:	open device; its encoders are set to the session's
 * @setup:	set-up; its counters and shared channels are filled in
 * @channels:	result: one channel, if one is free and an object calls the
 *		hooks; otherwise none
 */
PERF_INTERNAL int perf_member_take(struct perf_device *device, struct perf_setup *setup,
				   uint32_t *channels);

/**
 * perf_member_write - write the process's part of the side-car file
 * @dir: directory that all processes share
 * @ends:	whether the process is ending
 *
 * The first call creates a file; later calls replace its contents.
 */
PERF_INTERNAL int perf_member_write(const char *dir, bool ends);

/* Start and stop recording. */
PERF_INTERNAL void perf_member_on(void);
PERF_INTERNAL void perf_member_off(void);

/* Called in a child, which writes its part to a separate file. */
PERF_INTERNAL void perf_member_forget(void);
#else
/* A program with the static library is never a member, and never calls these. */
static inline int perf_member_take(struct perf_device *device, struct perf_setup *setup,
				   uint32_t *channels)
{
	(void)device, (void)setup, (void)channels;
	return -1;
}

static inline int perf_member_write(const char *dir, bool ends)
{
	(void)dir, (void)ends;
	return -1;
}

static inline void perf_member_on(void) { }
static inline void perf_member_off(void) { }
static inline void perf_member_forget(void) { }
#endif
#endif /* PERF_DROPIN */

#endif /* PERF_MEMBER_H */

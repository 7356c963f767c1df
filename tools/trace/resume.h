/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Starts decoding a piece of a recording with the state at the end of the previous piece. */
#ifndef SIFIVE_TRACE_RESUME_H
#define SIFIVE_TRACE_RESUME_H

#include <stdbool.h>
#include <stdint.h>

#include "nexus/nexus.h"
#include "perfrec/perfrec.h"

#include "meta.h"

/* Offset that identifies records from the previous piece. */
#define RESUME_BEFORE	UINT64_MAX

/** resume_clocks() - set the clocks; return whether the side-car file contains clocks */
bool resume_clocks(struct nexus *nexus, const struct meta *meta);

/**
 * resume_streams() - set the state of the streams in the record decoder
 * @perfrec:	a new decoder; records and losses that begin at RESUME_BEFORE are not passed to
 *		its consumer
 * @meta:	the piece's side-car file
 * @channels:	bit n: resume the streams of channel n
 *
 * Return: 0, or -ENOMEM.
 */
int resume_streams(struct perfrec *perfrec, const struct meta *meta, uint32_t channels);

#endif /* SIFIVE_TRACE_RESUME_H */

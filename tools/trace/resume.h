/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Begins to decode a piece of a recording where the piece before it ends. */
#ifndef SIFIVE_TRACE_RESUME_H
#define SIFIVE_TRACE_RESUME_H

#include <stdbool.h>
#include <stdint.h>

#include "nexus/nexus.h"
#include "perfrec/perfrec.h"

#include "meta.h"

/* Where records begin that the piece before has. */
#define RESUME_BEFORE	UINT64_MAX

/** resume_clocks() - set the clocks; returns whether there is one */
bool resume_clocks(struct nexus *nexus, const struct meta *meta);

/**
 * resume_streams() - give the record decoder what the streams go on from
 * @perfrec:	new decoder; records and losses that begin at RESUME_BEFORE are not for its
 *		consumer
 * @meta:	the piece's side-car file
 * @channels:	bit n: streams of channel n
 *
 * Return: 0, or -ENOMEM.
 */
int resume_streams(struct perfrec *perfrec, const struct meta *meta, uint32_t channels);

#endif /* SIFIVE_TRACE_RESUME_H */

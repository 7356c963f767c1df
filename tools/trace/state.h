/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Defines the state of a trace that is being read. Private to the stages that read it. */
#ifndef SIFIVE_TRACE_STATE_H
#define SIFIVE_TRACE_STATE_H

#include "clocks.h"
#include "head.h"
#include "perfrec/callers.h"
#include "progress.h"
#include "ring.h"
#include "source.h"
#include "trace.h"

struct trace {
	struct source		in;
	uint32_t		channels;	/* bit n: channel n is decoded */
	struct progress		*progress;
	struct nexus		nexus;
	struct perfrec		*perfrec;
	struct perfrec_ops	perfrec_ops;
	const struct trace_ops	*ops;
	void			*context;
	struct trace_stats	stats;
	/* By channel: the sources that have sent words. */
	uint8_t			source[PERFREC_CHANNELS][PERFREC_SOURCES];
	uint8_t			sources[PERFREC_CHANNELS];
	/* By channel and source: whether a record or header has been completed. */
	bool			begun[PERFREC_CHANNELS][PERFREC_SOURCES];
	/*
	 * By source: number of instruction trace messages, and the offset up to which records are
	 * complete.
	 */
	uint64_t		branches[NEXUS_SOURCES];
	uint64_t		settled[NEXUS_SOURCES];
	/* By source: offset of the latest message that shows executed code. */
	uint64_t		shown[NEXUS_SOURCES];
	/*
	 * By source: the running thread, and whether instruction trace stopped before a record was
	 * complete.
	 */
	uint64_t		thread[NEXUS_SOURCES];
	bool			unfinished[NEXUS_SOURCES];
	/*
	 * Set if a store has contradicted its stream. By source: set if timestamps may have been
	 * lost since the latest absolute timestamp.
	 */
	bool			damaged;
	const struct records_batch *batch;	/* being decoded, or NULL */
	bool			doubted[NEXUS_SOURCES];
	/* Number of bytes outside messages that were skipped before the SRC width was known. */
	uint64_t		skipped;
	/*
	 * For trace_unwind(): its arguments, the lists of callers, and for each stream the list of
	 * its latest stack.
	 */
	unsigned int		(*unwind)(void *context, const struct perfrec_stack *stack,
					  uint64_t address[SIFIVE_TRACE_CALLERS_MAX]);
	void			*unwinder;
	struct callers		callers;
	const struct perfrec_callers *unwound[PERFREC_CHANNELS][PERFREC_SOURCES];
	uint64_t		no_room;	/* number of lists that did not fit in @callers */
	/* Set if the trace is a ring that has overwritten its oldest bytes. */
	bool			wrapped;
	/*
	 * Side-car file; by channel and source, the offset at which the next piece's records begin.
	 */
	const struct meta	*meta;
	uint64_t		rest[PERFREC_CHANNELS][PERFREC_SOURCES];
	struct ring_times	times;
	struct clocks		clocks;
	struct head		head;
	struct store		queue[CLOCKS_QUEUE];
	unsigned int		recoveries;
	struct range_span	*span;		/* for trace_span(), or NULL */
	/* Number of threads to use, and their shared state, NULL with a single thread. */
	unsigned int		jobs;
	struct stages		*stages;
};

/** trace_start_clocks() - set the times of a ring's sources before the next message */
void trace_start_clocks(struct trace *trace);

/** trace_fill() - like source_fill(), and count the bytes */
int trace_fill(struct trace *trace);

#endif /* SIFIVE_TRACE_STATE_H */

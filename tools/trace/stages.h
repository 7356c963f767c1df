/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads a trace with several threads. The work has three stages: messages, records, and the trace's
 * consumer. Each stage processes the trace in order, so the consumer's callbacks are exactly the
 * same as with one thread.
 *
 * Batches wait in a queue before the second and the third stage. The thread of trace_run() runs the
 * first stage. Idle threads run the last stage that has work; if the next queue is full, the thread
 * of trace_run() does so, too.
 *
 * At a header that names a thread, the consumer can complete records of other streams. Beginning
 * with the first such header, the second stage therefore calls the consumer directly. It does so
 * from the start if the consumer has callbacks for parts of records, or if the trace is a later
 * piece of a recording.
 */
#ifndef SIFIVE_TRACE_STAGES_H
#define SIFIVE_TRACE_STAGES_H

#include "records.h"
#include "trace.h"

struct stages;

/* Items that the second stage passes on. */
enum stages_item {
	STAGES_STREAM,
	STAGES_KEEP,		/* a header that records refer to, passed on without a callback */
	STAGES_HEADER,
	STAGES_STACK,
	STAGES_RECORD,
	STAGES_LOST,
	STAGES_MARKS,
	STAGES_GAP,
	STAGES_ERROR,
	STAGES_OWNERSHIP,
	STAGES_MESSAGE,
	STAGES_SWITCH,
	STAGES_POLL,
};

/**
 * stages_new() - start reading with several threads
 * @trace:	the trace, before anything has been decoded
 * @threads:	number of threads, including the calling thread
 *
 * Return: NULL if out of memory, in which case one thread reads the trace.
 */
struct stages *stages_new(struct trace *trace, unsigned int threads);

/**
 * stages_push() - first stage: pass on the @count oldest queued stores
 * @clocks:	the queue, which receives a new buffer for stores
 *
 * Return: 0, or -ENOMEM.
 */
int stages_push(struct stages *stages, struct clocks *clocks, size_t count);

/** stages_catch_up() - first stage: wait until the second stage has processed all batches */
void stages_catch_up(struct stages *stages);

/**
 * stages_poll() - first stage: return whether the consumer has stopped, and request the next poll
 */
bool stages_poll(struct stages *stages);

/** stages_end() - end the trace; return 0 once all batches are processed, or -1 if out of memory */
int stages_end(struct stages *stages);

/* Second stage: the consumer's callbacks. */
void stages_stream(struct stages *stages, unsigned int channel);
void stages_header(struct stages *stages, const struct perfrec_header *header);
void stages_record(struct stages *stages, const struct perfrec_record *record);
/* Return whether the third stage processes the stack. */
bool stages_stack(struct stages *stages, const struct perfrec_stack *stack);
void stages_lost(struct stages *stages, const struct perfrec_loss *loss);
void stages_marks(struct stages *stages, const struct perfrec_record *record);
void stages_message(struct stages *stages, enum stages_item item,
		    void (*give)(void *context, const struct nexus_message *message),
		    const struct nexus_message *message);
void stages_switch(struct stages *stages, const struct trace_switch *record);

/** stages_sources() - like trace_sources(), but for the consumer */
unsigned int stages_sources(const struct stages *stages, unsigned int channel);

/** stages_stop() - end the threads, but keep the headers; NULL is allowed */
void stages_stop(struct stages *stages);

/** stages_free() - free the remaining memory after stages_stop(); NULL is allowed */
void stages_free(struct stages *stages);

#endif /* SIFIVE_TRACE_STAGES_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Places a trace's records in its instruction flow. The encoder sends records and messages in
 * order: the instructions in a source's message were executed after the records that precede the
 * message, and before the records that follow it. A message's instructions cannot be divided, so a
 * record that was written among them is placed before all of them.
 *
 *	messages ─▶ wait ─▶ flow ─┬▶ run, event
 *	records ──▶ wait ─────────┴▶ record
 *
 * Messages wait until earlier records are complete. Records wait until the flow has reached them.
 */
#ifndef SIFIVE_TRACE_JOINED_H
#define SIFIVE_TRACE_JOINED_H

#include "flow.h"
#include "perfrec/perfrec.h"

/**
 * struct joined_ops - the consumer's callbacks
 * @flow:	callbacks for the flow, see flow.h
 * @record:	a record, valid during the call. Its position in its source's flow is exact unless
 *		@misplaced is set, which means that too many records were waiting, or that the flow
 *		was shown before the record was complete
 */
struct joined_ops {
	struct flow_ops	flow;
	void		(*record)(void *context, const struct perfrec_record *record,
				  bool misplaced);
};

struct joined;

/**
 * joined_new() - create a flow with records
 * @code:	the code, which must outlive the result
 * @ops:	the consumer's callbacks, which must outlive the result
 * @context:	passed to each callback
 *
 * Return: the flow, to be freed with joined_free(), or NULL if out of memory.
 */
struct joined *joined_new(struct code *code, const struct joined_ops *ops, void *context);

/** joined_free() - free the flow; NULL is allowed */
void joined_free(struct joined *joined);

/**
 * joined_message() - process the trace's next message other than a store, as flow_message() does
 *
 * Return: 0, or -ENOMEM.
 */
int joined_message(struct joined *joined, const struct nexus_message *message);

/**
 * joined_record() - process the trace's next record
 *
 * Return: 0, or -ENOMEM.
 */
int joined_record(struct joined *joined, const struct perfrec_record *record);

/** joined_damaged() - like flow_damaged() */
void joined_damaged(struct joined *joined, const struct nexus_message *gap);

/**
 * joined_flush() - like flow_flush(), and pass on all records
 *
 * Return: 0, or -ENOMEM.
 */
int joined_flush(struct joined *joined);

/** joined_stats() - return the flow's statistics */
const struct flow_stats *joined_stats(const struct joined *joined);

#endif /* SIFIVE_TRACE_JOINED_H */

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See part.h. */
#include "part.h"

/* Return the callbacks for an item. @stamp: the item's time, or NULL if such items have no time. */
static const struct trace_ops *choose(struct part *part, const struct perfrec_stamp *stamp)
{
	const bool known = stamp && stamp->time_known != TIME_UNKNOWN;

	return range_has(&part->scope, known, known ? stamp->time : 0) ? &part->format->ops :
									 &part->format->outside;
}

static const struct trace_ops *choose_for(struct part *part, const struct nexus_message *message)
{
	const struct perfrec_stamp stamp = {
		.time = message->time,
		.time_known = message->flags & NEXUS_TIME_KNOWN ? TIME_EXACT : TIME_UNKNOWN,
	};

	return choose(part, &stamp);
}

static void on_header(void *context, const struct perfrec_header *header)
{
	struct part *part = context;
	const struct trace_ops *ops = choose(part, &header->begin);

	if (ops->header)
		ops->header(part->context, header);
}

static void on_record(void *context, const struct perfrec_record *record)
{
	struct part *part = context;
	const struct trace_ops *ops = choose(part, &record->address_end);

	if (ops->record)
		ops->record(part->context, record);
}

static void on_lost(void *context, const struct perfrec_loss *loss)
{
	struct part *part = context;
	const struct trace_ops *ops = choose(part, NULL);

	if (ops->lost)
		ops->lost(part->context, loss);
}

static void on_marks(void *context, const struct perfrec_record *record)
{
	struct part *part = context;
	const struct trace_ops *ops = choose(part, NULL);

	if (ops->marks)
		ops->marks(part->context, record);
}

/* The definitions of counters apply to the whole trace. */
static void on_part(void *context, const struct perfrec_header *header, int number)
{
	const struct part *part = context;

	part->format->ops.part(part->context, header, number);
}

static void on_address(void *context, const struct perfrec_record *record)
{
	struct part *part = context;
	const struct trace_ops *ops = choose(part, &record->address_end);

	if (ops->address)
		ops->address(part->context, record);
}

/* A counter is in the range if its record is, even if sent after the end of the range. */
static void on_counter(void *context, const struct perfrec_record *record, unsigned int i,
		       const struct perfrec_stamp *end)
{
	struct part *part = context;
	const struct trace_ops *ops = choose(part, &record->address_end);

	if (ops->counter)
		ops->counter(part->context, record, i, end);
}

static void on_gap(void *context, const struct nexus_message *gap)
{
	struct part *part = context;
	const struct trace_ops *ops = choose(part, NULL);

	if (ops->gap)
		ops->gap(part->context, gap);
}

static void on_error(void *context, const struct nexus_message *error)
{
	struct part *part = context;
	const struct trace_ops *ops = choose_for(part, error);

	if (ops->error)
		ops->error(part->context, error);
}

static void on_ownership(void *context, const struct nexus_message *ownership)
{
	struct part *part = context;
	const struct trace_ops *ops = choose_for(part, ownership);

	if (ops->ownership)
		ops->ownership(part->context, ownership);
}

/* Pass all messages to a format that reads messages, because the format must track the clocks. */
static void on_message(void *context, const struct nexus_message *message)
{
	const struct part *part = context;

	part->format->ops.message(part->context, message);
}

static void on_switched(void *context, const struct trace_switch *record)
{
	struct part *part = context;
	const struct trace_ops *ops = choose(part, &record->stamp);

	if (ops->switched)
		ops->switched(part->context, record);
}

static void on_pause(void *context)
{
	const struct part *part = context;

	if (part->paused)
		part->paused(part->pausing);
	part->format->ops.pause(part->context);
}

static bool on_stop(void *context)
{
	const struct part *part = context;

	return part->format->ops.stop(part->context);
}

void part_begin(struct part *part, const struct format *format, void *context,
		struct range_scope scope)
{
	const struct trace_ops *ops = &format->ops;

	*part = (struct part){ .format = format, .context = context, .scope = scope };
	/* Leave out unneeded callbacks, which would only cost time. */
	part->ops = (struct trace_ops){
		.header = ops->header ? on_header : NULL,
		.record = ops->record ? on_record : NULL,
		.lost = ops->lost ? on_lost : NULL,
		.marks = ops->marks ? on_marks : NULL,
		.part = ops->part ? on_part : NULL,
		.address = ops->address ? on_address : NULL,
		.counter = ops->counter ? on_counter : NULL,
		.gap = ops->gap ? on_gap : NULL,
		.error = ops->error ? on_error : NULL,
		.ownership = ops->ownership ? on_ownership : NULL,
		.message = ops->message ? on_message : NULL,
		.switched = ops->switched ? on_switched : NULL,
		.pause = ops->pause ? on_pause : NULL,
		.stop = ops->stop ? on_stop : NULL,
	};
}

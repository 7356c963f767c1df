// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Counts of a whole trace: see counts.h. */
#include "command.h"
#include "counts.h"

struct reader {
	struct counts	*counts;
	bool		no_memory;
};

static void on_message(void *context, const struct nexus_message *message)
{
	struct reader *reader = context;

	reader->no_memory |= counts_message(reader->counts, message) != 0;
}

static void on_gap(void *context, const struct nexus_message *gap)
{
	const struct reader *reader = context;

	counts_damaged(reader->counts, gap);
}

static bool on_stop(void *context)
{
	const struct reader *reader = context;

	return reader->no_memory;
}

static const struct trace_ops trace_ops = {
	.message = on_message, .gap = on_gap, .stop = on_stop,
};

struct counts *counts_read(const struct input *input)
{
	struct reader reader = {
		.counts = counts_new(input->symbols, (enum meta_calls)input->meta.calls),
	};
	struct trace_stats made = { .bytes = 0 };
	struct counts *counts = reader.counts;
	int error;

	if (!counts) {
		report("out of memory");
		return NULL;
	}
	error = trace_run(input->trace, &trace_ops, &reader);
	if (counts_flush(counts) || reader.no_memory) {
		report("out of memory: the rest of the trace was not read");
		error = -1;
	}
	if (error) {
		counts_free(counts);
		return NULL;
	}
	made.flow_losses = flow_losses(counts_stats(counts));
	trace_add(input->trace, &made);
	if (!input->options->trace.quiet)
		flow_summary(counts_stats(counts), input->options->path);
	return counts;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Counts the code executed in a whole trace: see counts.h. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis.h"
#include "command.h"
#include "counts.h"
#include "coverage.h"

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

/* Find the first reason why instructions may be missing although the flow has no gap. */
static void find_losses(struct counts *counts, const struct input *input)
{
	const struct trace_stats *stats = trace_stats(input->trace);
	const struct {
		uint64_t	times;
		const char	*one, *several;
	} losses[] = {
		{ stats->errors, "the encoder lost messages once",
		  "the encoder lost messages %" PRIu64 " times" },
		{ input->meta.lost.encoders, "a trace component lost messages",
		  "%" PRIu64 " trace components lost messages" },
		{ coverage_gaps(input), "the recording has a gap",
		  "the recording has %" PRIu64 " gaps" },
		{ stats->gaps, "bytes were skipped in one place",
		  "bytes were skipped in %" PRIu64 " places" },
		{ stats->cut_bytes > 0, "the last message is cut off", NULL },
		{ stats->unknown, "a message has an unknown type",
		  "%" PRIu64 " messages have an unknown type" },
		{ stats->corrected, "a timestamp is damaged",
		  "%" PRIu64 " timestamps are damaged" },
	};
	char why[COUNTS_WHY_SIZE];
	size_t i = 0;

	while (i < sizeof(losses) / sizeof(losses[0]) && !losses[i].times)
		i++;
	if (i == sizeof(losses) / sizeof(losses[0]))
		return;
	snprintf(why, sizeof(why), losses[i].times == 1 ? losses[i].one : losses[i].several,
		 losses[i].times);
	counts_lost(counts, why);
}

int counts_end(struct counts *counts, const struct input *input)
{
	const int error = counts_flush(counts);

	if (counts_full(counts) && !counts_stats(counts)->full)
		trace_add(input->trace, &(struct trace_stats){ .flow_losses = 1 });
	find_losses(counts, input);
	return error;
}

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
	counts_limit(counts, input->from, input->to);
	error = trace_run(input->trace, &trace_ops, &reader);
	if (counts_end(counts, input) || reader.no_memory) {
		report("out of memory: the rest of the trace was not read");
		error = -1;
	}
	if (error) {
		counts_free(counts);
		return NULL;
	}
	made.flow_losses = flow_losses(counts_stats(counts));
	trace_add(input->trace, &made);
	if (!input->options->trace.quiet) {
		flow_summary(counts_stats(counts), input->options->path);
		if (!counts_scope(counts)->any && trace_stats(input->trace)->branches)
			input_nothing(input, "instructions", &counts_scope(counts)->span);
	}
	analysis_no_records(input);
	return counts;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Prints the summary of a trace to standard error. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "cause.h"
#include "coverage.h"
#include "options.h"
#include "units.h"

/* Maximum number of gaps that the summary lists. */
#define GAPS_SHOWN	4

/* Write the channels with stores to @text, such as "7, 9", except those in @except. */
static void list_channels(const struct trace_stats *stats, uint32_t except,
			  char *text, size_t size)
{
	size_t used = 0;
	int i;

	*text = '\0';
	for (i = 0; i < PERFREC_CHANNELS; i++)
		if (stats->words[i] && !(except >> i & 1))
			used += (size_t)snprintf(text + used, size - used,
						 "%s%d", used ? ", " : "", i);
}

/* Return the channels with records: of programs, the kernel's samples, or context switches. */
static uint32_t decoded_channels(const struct input *input)
{
	const struct switches *switches = &trace_stats(input->trace)->switches;

	return trace_channels(input->trace) |
	       (switches->channel < 0 ? 0 : 1u << switches->channel);
}

/* Arguments for a format such as "%" PRIu64 " thing%s": a number and the ending of a plural. */
#define COUNT(n)	(n), (n) == 1 ? "" : "s"

static uint64_t untimed(const struct trace_stats *stats)
{
	return trace_records(stats) - stats->timed;
}

static void no_times(const char *name, const struct trace_stats *stats)
{
	if (stats->timed)
		report("%s: %" PRIu64 " record%s without a time: before their source's first absolute timestamp, or after a loss",
		       name, COUNT(untimed(stats)));
	else if (!stats->stamped)
		report("%s: no times: messages have no timestamps", name);
	else if (!stats->absolute)
		report("%s: no times: no timestamp is absolute", name);
	else
		report("%s: %" PRIu64 " records without a time: all precede their source's first absolute timestamp",
		       name, untimed(stats));
}

/*
 * Report that counts are, or may be, per hart. Only a side-car file, which may be old or missing,
 * can rule that out.
 */
static void whose_counts(const struct input *input, const struct trace_stats *stats)
{
	const struct meta *meta = &input->meta;
	const char *name = input->options->path;

	if (meta->per_thread || !(stats->counted || meta->counters))
		return;
	if (meta->hart_counts)
		report("%s: counts are per hart and include everything that ran there; for per-thread counts record without --per-cpu, or, if the program configured the trace itself, with SIFIVE_TRACE_PER_CPU=no",
		       name);
	else
		report("%s: counts may be per hart and include everything that ran there: %s",
		       name, meta->strings ? "not specified in the side-car file" :
					     "unknown without a side-car file");
}

/*
 * Return whether the trace lacks the data that the command reads. no_records() reports the reason.
 */
static bool is_empty(const struct trace_stats *stats, enum input_reads reads)
{
	return reads != INPUT_FLOW && !trace_records(stats) &&
	       !(reads == INPUT_TIMES && stats->switches.records);
}

static void summarise(const struct input *input, const struct trace_stats *stats,
		      enum input_reads reads)
{
	const char *name = input->options->path;
	char channels[4 * PERFREC_CHANNELS], time[UNITS_SIZE];
	char coverage[COVERAGE_SIZE];

	report("%s: %" PRIu64 " record%s: %" PRIu64 " enter, %" PRIu64 " exit, %"
	       PRIu64 " manual, %" PRIu64 " sample%s; %" PRIu64 " header%s, %" PRIu64
	       " message%s, %" PRIu64 " bytes; srcbits %u %s", name,
	       COUNT(trace_records(stats)), stats->records[PERFREC_ENTER],
	       stats->records[PERFREC_EXIT], stats->records[PERFREC_MANUAL],
	       COUNT(stats->records[PERFREC_ISR]), COUNT(stats->headers),
	       COUNT(stats->messages), stats->bytes, stats->src_bits,
	       stats->src_from);
	if (stats->timed && input->hz)
		report("%s: time %" PRIu64 " to %" PRIu64 ", %" PRIu64
		       " ticks, %s", name, stats->first, stats->last,
		       stats->last - stats->first,
		       units_time(time, stats->last - stats->first, input->hz));
	else if (stats->timed)
		report("%s: time %" PRIu64 " to %" PRIu64 ", %" PRIu64 " ticks",
		       name, stats->first, stats->last,
		       stats->last - stats->first);
	if (coverage_of(input) != COVERAGE_UNKNOWN || input->meta.trigger.function ||
	    coverage_limited(input))
		report("%s: %s", name, coverage_text(input, coverage));
	if (stats->switches.records)
		report("%s: %" PRIu64 " records of context switches", name,
		       stats->switches.records);
	list_channels(stats, decoded_channels(input), channels, sizeof(channels));
	if (*channels && !is_empty(stats, reads))
		report("%s: not decoded: channels %s (use -c N or -c all)", name,
		       channels);
	whose_counts(input, stats);
	if (stats->align_bytes)
		report("%s: %" PRIu64 " byte%s skipped before the first message of the ring",
		       name, COUNT(stats->align_bytes));
	if (stats->worked_out)
		report("%s: times before the first absolute one were inferred for %u source%s: they may be too late after a long silence",
		       name, COUNT(stats->worked_out));
	if (stats->contrary)
		report("%s: times before the first absolute one contradict each other on %u source%s: unknown",
		       name, COUNT(stats->contrary));
	if (stats->assumed)
		report("%s: %" PRIu64 " record%s whose header the ring has overwritten: read as the side-car file describes",
		       name, COUNT(stats->assumed));
	if (stats->rootless)
		report("%s: %" PRIu64 " record%s at the ring's beginning left out: they depend on overwritten ones",
		       name, COUNT(stats->rootless));
	if (stats->ring_words)
		report("%s: %" PRIu64 " word%s of records that the beginning of the ring cuts off",
		       name, COUNT(stats->ring_words));
	if (stats->gaps)
		report("%s: damaged: %" PRIu64 " byte%s skipped in %" PRIu64 " place%s",
		       name, COUNT(stats->gap_bytes), COUNT(stats->gaps));
	if (stats->cut_bytes)
		report("%s: the last message is cut off: %" PRIu64 " byte%s", name,
		       COUNT(stats->cut_bytes));
	if (stats->errors)
		report("%s: the encoder lost messages %" PRIu64 " time%s", name,
		       COUNT(stats->errors));
	if (stats->branches)
		report("%s: %" PRIu64 " message%s of instruction trace%s", name,
		       COUNT(stats->branches), reads == INPUT_STORES || reads == INPUT_PERF ?
		       ", left out (decode --format instructions and replay show them)" : "");
	if (stats->ownership)
		report("%s: the context changed %" PRIu64 " time%s", name,
		       COUNT(stats->ownership));
	if (stats->unknown)
		report("%s: %" PRIu64 " message%s of unknown type", name,
		       COUNT(stats->unknown));
	if (stats->losses)
		report("%s: %" PRIu64 " word%s outside complete records, in %" PRIu64
		       " place%s", name, COUNT(stats->lost_words),
		       COUNT(stats->losses));
	if (stats->switches.losses)
		report("%s: %" PRIu64 " store%s outside complete context switch records", name,
		       COUNT(stats->switches.losses));
	if (stats->no_header)
		report("%s: %" PRIu64 " record%s before any header: layout guessed",
		       name, COUNT(stats->no_header));
	if (stats->scheme_inferred)
		report("%s: timestamps are differences, as in N-Trace 1.0: inferred (--ts-scheme)",
		       name);
	if (stats->corrected)
		report("%s: damaged timestamps: sources' clocks were corrected %" PRIu64 " time%s",
		       name, COUNT(stats->corrected));
	if (stats->disorders)
		report("%s: damaged timestamps: sources' times contradict the order of messages %" PRIu64 " time%s",
		       name, COUNT(stats->disorders));
	if (stats->inferred)
		report("%s: %" PRIu64 " record%s with an inferred time, marked ~", name,
		       COUNT(stats->inferred));
	if (untimed(stats))
		no_times(name, stats);
}

void input_nothing(const struct input *input, const char *what, const struct range_span *span)
{
	const char *name = input->options->path;

	if (!span->timed)
		report("%s: --time shows nothing: the %s have no times", name, what);
	else if (input->hz)
		report("%s: --time shows nothing: the %s are from %.9fs to %.9fs", name, what,
		       (double)span->first / (double)input->hz,
		       (double)span->last / (double)input->hz);
	else
		report("%s: --time shows nothing: the %s are from %" PRIu64 " to %" PRIu64 " ticks",
		       name, what, span->first, span->last);
}

static uint64_t all_words(const struct trace_stats *stats)
{
	uint64_t words = 0;
	unsigned int i;

	for (i = 0; i < PERFREC_CHANNELS; i++)
		words += stats->words[i];
	return words;
}

/* Return whether channels that are not decoded contain words. */
static bool undecoded(const struct trace_stats *stats, uint32_t decoded)
{
	size_t i;

	for (i = 0; i < PERFREC_CHANNELS; i++)
		if (stats->words[i] && !(decoded >> i & 1))
			return true;
	return false;
}

static int no_records(const struct input *input,
		      const struct trace_stats *stats)
{
	const char *name = input->options->path;
	uint32_t decoded = decoded_channels(input);
	char channels[4 * PERFREC_CHANNELS];

	list_channels(stats, 0, channels, sizeof(channels));
	if (stats->branches && !*channels)
		report("%s: no records: instruction trace only (decode --format instructions shows it)",
		       name);
	else if (!*channels)
		report("%s: no records: %" PRIu64 " messages, none of them a store to a channel",
		       name, stats->messages);
	else if (stats->rootless)
		report("%s: no usable records: all of them depend on overwritten ones (record with a larger buffer, or --count raw or delta)",
		       name);
	else if (!undecoded(stats, decoded))
		report("%s: no records: %" PRIu64 " words on channel%s %s, but no complete record",
		       name, all_words(stats), strchr(channels, ',') ? "s" : "",
		       channels);
	else if (!~decoded)
		report("%s: no records on any channel (channels seen: %s)", name,
		       channels);
	else if (decoded & (decoded - 1))
		report("%s: no records on the side-car file's channels (channels seen: %s); use -c",
		       name, channels);
	else
		report("%s: no records on channel %d (channels seen: %s); use -c",
		       name, __builtin_ctz(decoded), channels);
	return EXIT_UNREADABLE;
}

static int no_flow(const struct input *input, const struct trace_stats *stats)
{
	report("%s: no instruction trace: none of its %" PRIu64 " messages describes branches (record with --calls)",
	       input->options->path, stats->messages);
	return EXIT_UNREADABLE;
}

/* Write the beginning and end of a gap, in the format of replay's times. */
static void put_times(const struct input *input, size_t number, char *text, size_t size)
{
	uint64_t begin, end;

	if (!input->hz || !cause_gap(input, number, &begin, &end)) {
		snprintf(text, size, "at an unknown time");
		return;
	}
	snprintf(text, size, "from %.6f s to %.6f s", (double)begin / (double)input->hz,
		 (double)end / (double)input->hz);
}

/* Report the times at which data was lost. */
static void list_gaps(const struct input *input)
{
	const struct meta_coverage *coverage = &input->meta.coverage;
	const char *name = input->options->path;
	char times[80];
	size_t i;

	for (i = 0; i < coverage->listed && i < GAPS_SHOWN; i++) {
		const struct meta_gap *gap = &coverage->gap[i];

		put_times(input, i, times, sizeof(times));
		if (gap->dropped)
			report("%s: %s: %" PRIu64 " record%s dropped", name, times,
			       COUNT(gap->dropped));
		if (gap->bytes)
			report("%s: %s: %" PRIu64 " byte%s overwritten", name, times,
			       COUNT(gap->bytes));
	}
	if (i < coverage->listed)
		report("%s: %zu more gaps: report --json lists them", name, coverage->listed - i);
}

/* Report losses that the recorder, or marks in the trace, have counted. */
static void recorder_losses(const struct input *input)
{
	const struct meta_lost *lost = &input->meta.lost;
	const char *name = input->options->path;

	if (lost->signals)
		report("%s: not recorded: %" PRIu64 " record%s of signal handlers within a record",
		       name, COUNT(lost->signals));
	if (lost->threads)
		report("%s: not recorded: %" PRIu64 " record%s of threads without a channel, on a CPU without an encoder, or while the trace was being written",
		       name, COUNT(lost->threads));
	if (lost->abandoned)
		report("%s: not recorded: %" PRIu64 " record%s abandoned before completion",
		       name, COUNT(lost->abandoned));
	if (lost->refused)
		report("%s: not recorded: %" PRIu64 " record%s of threads that cannot read the counters",
		       name, COUNT(lost->refused));
	if (lost->children)
		report("%s: not recorded: %" PRIu64 " record%s of children created by vfork()",
		       name, COUNT(lost->children));
	if (lost->unrecorded)
		report("%s: not recorded: up to %" PRIu64 " process%s that the program created, or that executed a program",
		       name, lost->unrecorded, lost->unrecorded == 1 ? "" : "es");
	if (coverage_dropped(input))
		report("%s: not recorded: %" PRIu64 " record%s dropped because the buffer had no room",
		       name, COUNT(coverage_dropped(input)));
	list_gaps(input);
	if (lost->samples)
		report("%s: not recorded: %" PRIu64 " sample%s", name,
		       COUNT(lost->samples));
	if (lost->switches)
		report("%s: not recorded: %" PRIu64 " context switch%s", name, lost->switches,
		       lost->switches == 1 ? "" : "es");
	if (lost->processes)
		report("%s: not recorded: context switches of %" PRIu64 " process%s, and of their children: too many ran at once",
		       name, lost->processes, lost->processes == 1 ? "" : "es");
	if (input->meta.coverage.counters_lost)
		report("%s: counters 0x%" PRIx32 " were stopped at times on some harts: do not trust their values",
		       name, input->meta.coverage.counters_lost);
	if (lost->encoders)
		report("%s: not recorded: %" PRIu64 " trace component%s lost messages: registers were changed while recording",
		       name, COUNT(lost->encoders));
}

/* Without a side-car file, the program's threads may have used channels that are left out. */
static bool leaves_channels_out(const struct input *input)
{
	return !input->meta.strings &&
	       input->options->trace.channel == TRACE_USUAL_CHANNELS &&
	       undecoded(trace_stats(input->trace), decoded_channels(input));
}

/*
 * Return whether there are losses that --strict reports. These losses do not include bytes that a
 * ring has overwritten, records that the recording's limit cuts off, or data after the limit.
 */
static bool is_lossy(const struct input *input)
{
	const struct trace_stats *stats = trace_stats(input->trace);
	uint64_t cut = input->meta.coverage.limit ? stats->truncated : 0;

	return stats->gaps || stats->errors || stats->losses > cut || stats->switches.losses ||
	       stats->cut_bytes || stats->unknown || stats->corrected || stats->disorders ||
	       stats->flow_losses || stats->no_header || untimed(stats) || stats->unaddressed ||
	       stats->no_callers || stats->backwards || stats->left_out ||
	       leaves_channels_out(input) ||
	       input->meta.coverage.full || input->meta.coverage.running || coverage_lost(input) ||
	       coverage_gaps(input) ||
	       input->meta.coverage.counters_lost || input->meta.lost.encoders ||
	       input->meta.lost.processes || input->meta.lost.unrecorded ||
	       input->meta.lost.unknown;
}

static void report_clock(const struct input *input)
{
	char text[UTC_TEXT];

	utc_text(&input->utc, text);
	report("%s: wall-clock times are %s; the clocks of several machines also differ by what NTP or PTP leaves",
	       input->options->path, text);
}

int input_summary(const struct input *input, enum input_reads reads)
{
	const struct trace_stats *stats = trace_stats(input->trace);

	if (!input->options->trace.quiet) {
		summarise(input, stats, reads);
		recorder_losses(input);
		if (input_is_utc(input))
			report_clock(input);
		if (stats->no_callers)
			report("%s: %" PRIu64 " sample%s without callers: the trace has too many different ones",
			       input->options->path, COUNT(stats->no_callers));
		if (reads == INPUT_PERF && stats->unaddressed)
			report("%s: %" PRIu64 " record%s left out: no header, or addresses lost",
			       input->options->path, COUNT(stats->unaddressed));
	}
	if (input_is_utc(input) && stats->timed && stats->last - stats->first > input->utc.most) {
		report("%s: its times span more than the length of the recording (run_ns in its side-car file): wall-clock times are wrong",
		       input->options->path);
		return EXIT_UNREADABLE;
	}
	if (reads == INPUT_FLOW && !stats->branches)
		return no_flow(input, stats);
	if (is_empty(stats, reads))
		return no_records(input, stats);
	return input->options->strict && is_lossy(input) ? EXIT_LOSSES : EXIT_OK;
}

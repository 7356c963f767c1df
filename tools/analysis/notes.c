// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reports data missing from the calls, and samples in the tracer's own functions. */
#include <inttypes.h>

#include "analysis.h"
#include "command.h"
#include "units.h"

/* Print the times that --time can select. */
static void nothing_inside(const struct input *input)
{
	const struct trace_stats *stats = trace_stats(input->trace);

	input_nothing(input, "records", &(struct range_span){
		.timed = stats->timed, .first = stats->first, .last = stats->last,
	});
}

static void thread_notes(const struct analysis *analysis, const char *name)
{
	const unsigned int left = threads_left_out(analysis_threads(
					(struct analysis *)analysis));

	if (left)
		report("%s: %u thread%s beyond the first %u that only the trace names: their times are omitted, and their records are assigned to an unknown thread; record fewer threads",
		       name, left, left == 1 ? "" : "s", THREADS_STRANGERS);
}

/* Report why it may be unknown whether threads ran. */
static void switch_notes(const struct oncpu *oncpu, const struct input *input)
{
	const struct oncpu_stats *stats = oncpu_stats(oncpu);
	const char *name = input->options->path;

	if (stats->losses || stats->contrary)
		report("%s: records of context switches may be missing in %" PRIu64 " places: it is unknown which threads ran there, so times on and off the CPU are marked ~",
		       name, stats->losses + stats->contrary);
	if (stats->untimed)
		report("%s: %" PRIu64 " context switches have no time: it is unknown which threads ran around them",
		       name, stats->untimed);
	if (stats->inferred)
		report("%s: %" PRIu64 " context switches have an inferred time: times on and off the CPU are marked ~",
		       name, stats->inferred);
	if (input->meta.lost.switches)
		report("%s: context switches were lost: all times on and off the CPU are marked ~",
		       name);
	if (input->meta.lost.elsewhere)
		report("%s: threads started running %" PRIu64 " times on CPUs that are not recorded: time off the CPU includes the time there; all system calls, and all times on and off the CPU, are marked ~",
		       name, input->meta.lost.elsewhere);
	if (oncpu_syscalls(oncpu)->doubtful)
		report("%s: %" PRIu64 " system call%s left out: records may be missing during a call, or the calling thread is unknown",
		       name, oncpu_syscalls(oncpu)->doubtful,
		       oncpu_syscalls(oncpu)->doubtful == 1 ? " is" : "s are");
	if (input->meta.lost.wakeups)
		report("%s: CPUs that are not recorded woke threads %" PRIu64 " times: the time until the threads ran counts as blocked, not as woken",
		       name, input->meta.lost.wakeups);
	if (meta_other_harts(&input->meta))
		report("%s: harts of other sinks have separate traces: time off the CPU includes time on those harts",
		       name);
}

static void left_out(const struct input *input, uint64_t records)
{
	if (records && !input->options->trace.quiet)
		report("%s: %" PRIu64 " record%s among calls from the instruction trace %s left out: see sifive-trace report --by interval for the counts between records, and sifive-trace replay for each record",
		       input->options->path, records, records == 1 ? "" : "s",
		       records == 1 ? "is" : "are");
}

void analysis_no_records(const struct input *input)
{
	const struct trace_stats *stats = trace_stats(input->trace);

	if (stats->branches)
		left_out(input, trace_records(stats) - stats->records[PERFREC_ISR]);
}

void analysis_notes(const struct analysis *analysis, const struct input *input)
{
	const struct analysis_stats *stats = analysis_stats(analysis);
	const char *name = input->options->path;
	char time[UNITS_SIZE];

	if (input->options->trace.quiet)
		return;
	if (analysis_flow(analysis)->messages)
		flow_summary(analysis_flow(analysis), name);
	if (input->limited && !stats->inside)
		nothing_inside(input);
	if (stats->unaddressed)
		report("%s: %" PRIu64 " record%s without a known address, between a loss and the next header: left out, and the calls open there are cut short",
		       name, stats->unaddressed,
		       stats->unaddressed == 1 ? "" : "s");
	if (stats->untimed && trace_stats(input->trace)->timed)
		report("%s: %" PRIu64 " of %" PRIu64 " calls have no time: they are before their source's first absolute timestamp, or its clock lags behind another's or went back when it was corrected",
		       name, stats->untimed, stats->calls);
	if (stats->inferred)
		report("%s: %" PRIu64 " of %" PRIu64 " calls have a time that is inferred, marked ~: %s",
		       name, stats->inferred, stats->calls,
		       analysis_flow(analysis)->messages ?
		       "they begin or end between two timestamps of the instruction trace" :
		       "earlier messages were lost or damaged, or no later message confirms the time");
	if (stats->unplaced)
		report("%s: %" PRIu64 " of %" PRIu64 " calls follow lost records: their callers may differ from those shown",
		       name, stats->unplaced, stats->calls);
	if (stats->brief)
		report("%s: %" PRIu64 " calls shorter than %s are left out, and their time belongs to their callers; --time-threshold none shows them",
		       name, stats->brief, units_time(time, input->shortest, input->hz));
	if (stats->tracer)
		report("%s: %" PRIu64 " of %" PRIu64 " samples are in the tracer's own functions, marked [tracer]",
		       name, stats->tracer, stats->samples);
	if (stats->backwards)
		report("%s: %" PRIu64 " count%s went backwards: records are in the wrong order, or the kernel's counts were wrong (Linux before 6.12); charged only to the calls that enclose both records",
		       name, stats->backwards, stats->backwards == 1 ? "" : "s");
	if (stats->beyond)
		report("%s: %" PRIu64 " count%s left out, because sums would exceed 63 bits: the calls' counts are at least those shown",
		       name, stats->beyond, stats->beyond == 1 ? "" : "s");
	if (analysis_repeated(analysis))
		report("%s: the counts of %" PRIu64 " sample%s are not charged to functions, because the counts of calls and manual records include them (unless the program wrote no records)",
		       name, stats->aside, stats->aside == 1 ? "" : "s");
	if (stats->waited)
		report("%s: threads waited %s for room in the buffer: %s", name,
		       units_time(time, stats->waited, 1000000000), input->hz ?
		       "not counted in any call" :
		       "calls include this time, marked ~, because its length in ticks is unknown; specify --ts-hz");
	if (stats->too_deep)
		report("%s: %" PRIu64 " calls nested too deeply: left out", name,
		       stats->too_deep);
	if (stats->left_out)
		report("%s: threads whose calls are left out ran %" PRIu64 " times: too many threads; record fewer",
		       name, stats->left_out);
	if (stats->broken)
		report("%s: all calls of a thread ended too early %" PRIu64 " time%s, because the thread continued in a function that it had not called, for example when longjmp or an exception led into a function without symbols",
		       name, stats->broken, stats->broken == 1 ? "" : "s");
	if (stats->misplaced)
		report("%s: %" PRIu64 " record%s no exact place among the instructions, and the intervals around %s are marked ~: there were too many records between two messages of instruction trace, or a thread completed a record late",
		       name, stats->misplaced, stats->misplaced == 1 ? " has" : "s have",
		       stats->misplaced == 1 ? "it" : "them");
	if (turns_in(&input->meta) && !analysis_turns(analysis))
		report("%s: %u events that take turns on the counters are left out: sifive-trace report shows them",
		       name, turns_in(&input->meta));
	left_out(input, stats->points);
	thread_notes(analysis, name);
	if (analysis_oncpu(analysis))
		switch_notes(analysis_oncpu(analysis), input);
}

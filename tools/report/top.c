// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace top: shows the report of a trace that is still being written. */
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "follow.h"
#include "progress.h"
#include "report.h"

/* Lines of a terminal that the headings and the shell's prompt occupy. */
#define LINES_OTHER	6
#define LINES_DEFAULT	20

/* Escape sequence that clears a terminal. */
#define CLEAR		"\033[H\033[J"

/* Minimum time in ms between two tables: for a pipe, and for a file that is being written. */
#define LEAST_PIPE	250
#define LEAST_FILE	1000

/*
 * Once the side-car file has changed, the trace is read again from the beginning, after this
 * multiple of the time that this takes.
 */
#define AGAIN		4

/**
 * struct top - state of the command
 * @follow:	the trace, if it is a file that is being written
 * @begun:	time at which reading began, in ms
 * @caught:	time at which the first table was shown, or 0
 * @seen:	size in bytes of the trace when it was read the last time
 * @again:	set to read the trace again
 */
struct top {
	struct report_options	options;
	struct follow		follow;
	bool			terminal;
	int			result;
	int64_t			begun;
	int64_t			caught;
	uint64_t		seen;
	bool			again;
};

/* Return whether to read the trace again, because there are new names. */
static bool reads_again(struct top *top, uint64_t bytes)
{
	const int64_t now = progress_clock();
	int64_t wait;

	if (!top->caught)
		top->caught = now;
	wait = AGAIN * (top->caught - top->begun);
	if (wait < LEAST_FILE)
		wait = LEAST_FILE;
	top->seen = bytes;
	top->again = top->follow.state == FOLLOW_RUNS && now >= top->caught + wait &&
		     follow_outdated(&top->follow);
	return top->again;
}

/* Return whether the recorder has completed the side-car file at the end of the trace. */
static bool is_completed(void *context)
{
	struct top *top = context;

	top->again = (top->follow.state == FOLLOW_ENDED || top->follow.state == FOLLOW_KILLED) &&
		     follow_outdated(&top->follow);
	return top->again;
}

/* Show the functions that fit. */
static void choose_lines(const struct top *top, struct report_options *options)
{
	struct winsize size;

	if (options->top)
		return;
	options->top = LINES_DEFAULT;
	if (top->terminal && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) &&
	    size.ws_row > LINES_OTHER)
		options->top = size.ws_row - LINES_OTHER;
}

static void put_table(struct top *top, const struct profile *profile)
{
	struct report_options options = top->options;
	struct output *out = output_open(NULL);

	if (!out) {
		top->result = EXIT_UNREADABLE;
		return;
	}
	if (top->terminal)
		put_string(out, CLEAR);
	/* The terminal's size may have changed since the last table. */
	report_choose_width(&options);
	choose_lines(top, &options);
	top->result = report_put(&options, out, profile);
	if (output_close(out))
		top->result = EXIT_UNREADABLE;
}

static bool show(void *context, const struct profile *profile)
{
	const uint64_t bytes = trace_stats(profile->input.trace)->bytes;
	struct top *top = context;

	/* The previous table has all of this, or the final table follows soon. */
	if (bytes < top->seen || (*top->follow.lock && top->follow.state != FOLLOW_RUNS))
		return false;
	if (reads_again(top, bytes))
		return true;
	put_table(top, profile);
	return top->result;
}

/*
 * Read the trace once and show it while reading; if this is the last time, also its end. Return an
 * exit code.
 */
static int read_trace(struct top *top, const struct profile_live *live)
{
	struct report_options *options = &top->options;
	struct profile profile;
	int result;

	top->again = false;
	top->begun = progress_clock();
	top->caught = 0;
	follow_open(&top->follow);
	if (top->follow.state == FOLLOW_REPLACED)
		return follow_end(&top->follow, &(struct meta_coverage){ .known = false });
	options->live = true;
	result = profile_read(&profile, &options->common, (enum profile_by)options->by,
			      report_wants_spread(&options->columns), live);
	options->live = false;
	if (result <= EXIT_LOSSES && !top->result && !top->again)
		put_table(top, &profile);
	if (result <= EXIT_LOSSES && !top->again) {
		report_notes(profile.analysis, &profile.input);
		if (follow_end(&top->follow, &profile.input.meta.coverage))
			result = EXIT_UNREADABLE;
	}
	profile_free(&profile);
	return result;
}

static int command_top(int argc, char **argv)
{
	struct top top = { .result = EXIT_OK };
	struct report_options *options = &top.options;
	struct profile_live live = { show, is_completed, &top, LEAST_PIPE };
	int result;

	options_init(&options->common);
	result = options_parse(&top_command, options, &options->common, OPTIONS_ONE, argc, argv);
	if (result)
		return result;
	options->common.trace.watched = true;
	/* Use one thread, because statistics are shown while the trace is being read. */
	options->common.trace.jobs = 1;
	top.terminal = isatty(STDOUT_FILENO);
	result = follow_begin(&top.follow, options->common.path, options->common.meta);
	if (result)
		return result;
	options->common.trace.follow = &top.follow;
	if (top.follow.state == FOLLOW_RUNS)
		live.least = LEAST_FILE;
	do
		result = read_trace(&top, &live);
	while (top.again && !top.result);
	return top.result > result ? top.result : result;
}

static const struct cli_option by_options[] = {
	/* The keywords are in the order of enum profile_by. */
	{ .name = "by", .value = "function|object|line|thread|process|hart",
	  .help = "show one table of all functions (default), objects or source lines, or a table of functions for each thread, process or hart",
	  .set = cli_word, .offset = offsetof(struct report_options, by) },
	{ .name = NULL }
};

static const struct cli_group top_groups[] = {
	{ NULL, by_options, 0 },
	{ NULL, report_table_options, 0 },
	OPTIONS_CALLS_GROUPS(struct report_options, common),
	{ .options = NULL }
};

const struct cli_command top_command = {
	.name = "top",
	.run = command_top,
	.summary = "show a live report of a trace that is still being written",
	.arguments = "TRACE|-",
	.help = "Print the output of sifive-trace report about once a second while sifive-trace record writes the trace, or while the trace arrives through a pipe, as in \"ssh board cat /dev/sifive-trace | sifive-trace top --meta FILE -\". It does not show calls that have not ended yet.",
	.groups = top_groups,
	.status = OPTIONS_STATUS,
};

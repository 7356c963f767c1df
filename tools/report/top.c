// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace top: shows the report of a trace that is still being written. */
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "report.h"

/* Lines of a terminal that the headings and the shell's prompt occupy. */
#define LINES_OTHER	6
#define LINES_DEFAULT	20

/* Escape sequence that clears a terminal. */
#define CLEAR		"\033[H\033[J"

struct top {
	struct report_options	options;
	bool			terminal;
	int			result;
};

static bool show(void *context, const struct profile *profile)
{
	struct top *top = context;
	struct output *out = output_open(NULL);

	if (!out) {
		top->result = EXIT_UNREADABLE;
		return true;
	}
	if (top->terminal)
		put_string(out, CLEAR);
	top->result = report_put(&top->options, out, profile);
	if (output_close(out))
		top->result = EXIT_UNREADABLE;
	return top->result;
}

/* Show the functions that fit. */
static void choose_lines(struct top *top)
{
	struct winsize size;

	top->terminal = isatty(STDOUT_FILENO);
	if (top->options.top)
		return;
	top->options.top = LINES_DEFAULT;
	if (top->terminal && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) &&
	    size.ws_row > LINES_OTHER)
		top->options.top = size.ws_row - LINES_OTHER;
}

static int command_top(int argc, char **argv)
{
	struct top top = { .result = EXIT_OK };
	struct report_options *options = &top.options;
	struct profile_live live = { show, &top };
	struct profile profile;
	int result;

	options_init(&options->common);
	result = options_parse(&top_command, options, &options->common, OPTIONS_ONE, argc, argv);
	if (result)
		return result;
	options->common.trace.watched = true;
	/* Use one thread, because statistics are shown while the trace is being read. */
	options->common.trace.jobs = 1;
	report_choose_width(options);
	choose_lines(&top);
	options->live = true;
	result = profile_read(&profile, &options->common, (enum profile_by)options->by,
			      report_wants_spread(&options->columns), &live);
	options->live = false;
	if (result <= EXIT_LOSSES && !top.result)
		show(&top, &profile);
	if (result <= EXIT_LOSSES)
		report_notes(profile.analysis, &profile.input);
	profile_free(&profile);
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
	.help = "Print the output of sifive-trace report repeatedly while the trace arrives through a pipe, as in \"ssh board cat /dev/sifive-trace | sifive-trace top --meta FILE -\". It does not show calls that have not ended yet.",
	.groups = top_groups,
	.status = OPTIONS_STATUS,
};

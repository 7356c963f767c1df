// SPDX-License-Identifier: Apache-2.0 OR MIT
/* report --diff: reads the traces to compare. With --runs, each of them is a separate run. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "pager.h"
#include "report.h"

struct traces {
	struct options		*options;	/* options for reading, by trace */
	struct report_runs	runs;
};

int report_other(struct options *options, const struct options *first, const char *path)
{
	*options = *first;
	/* --meta names the side-car file of the first trace only. */
	if (options->meta && strcmp(options->meta, "none"))
		options->meta = NULL;
	options->path = path;
	options->parts = 0;
	return options_output(options);
}

/* Set the traces' paths and check the output; return an exit code. */
static int choose(struct traces *traces, const struct report_options *options)
{
	unsigned int i;
	int result = EXIT_OK;

	for (i = 0; i < traces->runs.count && !result; i++) {
		struct options *one = &traces->options[i];

		if (i >= traces->runs.before) {
			result = report_other(one, &options->common,
					      options->diff.text[i - traces->runs.before]);
			continue;
		}
		*one = options->common;
		if (options->runs && one->parts) {
			one->path = one->part[i];
			one->parts = 0;
		}
		result = options_output(one);
	}
	return result;
}

static int show(const struct report_runs *runs, const struct report_options *options)
{
	struct output *out = pager_open(options->common.output);
	int result = out ? report_diff(options, out, runs) : EXIT_UNREADABLE;

	return out && output_close(out) ? EXIT_UNREADABLE : result;
}

int report_compare(const struct report_options *options)
{
	struct traces traces = { .options = NULL };
	struct report_runs *runs = &traces.runs;
	int result, ended = EXIT_OK;
	unsigned int i, read = 0;

	runs->before = options->runs && options->common.parts ? options->common.parts : 1;
	runs->count = runs->before + options->diff.count;
	if (runs->count > REPORT_RUNS_MAX)
		return usage_error("--diff compares at most %d traces: name fewer traces",
				   REPORT_RUNS_MAX);
	traces.options = calloc(runs->count, sizeof(*traces.options));
	runs->profile = calloc(runs->count, sizeof(*runs->profile));
	if (traces.options && runs->profile) {
		result = choose(&traces, options);
	} else {
		report("out of memory");
		result = EXIT_UNREADABLE;
	}
	while (result <= EXIT_LOSSES && read < runs->count) {
		struct profile *profile = &runs->profile[read];

		ended = profile_read(profile, &traces.options[read++],
				     (enum profile_by)options->by, false, NULL);
		if (ended <= EXIT_LOSSES)
			report_notes(profile->analysis, &profile->input);
		result = ended > result ? ended : result;
	}
	if (result <= EXIT_LOSSES) {
		ended = show(runs, options);
		result = ended > result ? ended : result;
	}
	for (i = 0; i < read; i++)
		profile_free(&runs->profile[i]);
	free(runs->profile);
	free(traces.options);
	return result;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sifive-trace filter: writes the addresses of selected functions, for record
 * --filter and SIFIVE_TRACE_FILTER. Functions are selected by name, by source file, or by their
 * cost in a trace.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "command.h"
#include "filter.h"
#include "filter_file.h"
#include "frequent.h"
#include "image.h"
#include "options.h"
#include "output.h"
#include "text.h"
#include "units.h"

/**
 * struct filter - the selection of functions
 * @functions:	name patterns of the functions to select
 * @sources:	path patterns of source files: their functions are selected
 * @others:	select all functions except those that match
 * @common:	options for reading a trace, whose @path is NULL without --from-trace
 * @percent:	value of --share
 * @frequent:	functions that --from-trace excludes
 * @output:	file to write to, or NULL for standard output
 * @lines:	number of functions written
 */
struct filter {
	struct cli_list	functions;
	struct cli_list	sources;
	bool		others;
	struct options	common;
	double		percent;
	struct frequent	frequent;
	const char	*output;
	struct output	*out;
	size_t		lines;
};

static const struct cli_option filter_options[] = {
	{ .letter = 'F', .name = "function", .value = "PATTERN",
	  .help = "select functions with this name: a C++ name without parameters, or a name as nm(1) shows it; * matches any characters, ? matches one",
	  .set = cli_append, .offset = offsetof(struct filter, functions) },
	{ .letter = 'S', .name = "source", .value = "PATTERN",
	  .help = "select the functions of this source file, given by name or by the path passed to the compiler",
	  .set = cli_append, .offset = offsetof(struct filter, sources) },
	{ .letter = 'v', .name = "invert", .help = "select the functions that do not match",
	  .set = cli_flag, .offset = offsetof(struct filter, others) },
	{ .name = "from-trace", .value = "TRACE",
	  .help = "select all functions except those that write many records to this trace but take little time, and list the excluded ones",
	  .set = cli_text, .offset = offsetof(struct filter, common.path) },
	{ .name = "share", .value = "PERCENT",
	  .help = "with --from-trace: maximum share of all time that the excluded functions take together (default: 1)",
	  .set = cli_percent, .offset = offsetof(struct filter, percent) },
	CLI_OUTPUT(struct filter, output),
	{ .name = NULL }
};

static const struct cli_group filter_groups[] = {
	{ NULL, filter_options, 0 }, { .options = NULL }
};

static bool fits(const struct cli_list *patterns, const char *name)
{
	return filter_fits(patterns->text, patterns->count, name);
}

static bool has_name(const struct filter *filter,
		     const struct image_function *function, const char *plain)
{
	return fits(&filter->functions, function->name) ||
	       (plain && fits(&filter->functions, plain));
}

static bool has_source(const struct filter *filter, struct image *image,
		       const struct image_function *function)
{
	const char *file = NULL;
	int line;

	if (filter->sources.count)
		file = image_line(image, function->start, &line);
	if (!file)
		return false;
	return fits(&filter->sources, file) ||
	       fits(&filter->sources, text_base(file));
}

/*
 * Write the name with put_text(), because C++ names can have any length. File names with spaces are
 * quoted.
 */
static void put_function(struct output *out, const char *object,
			 const struct image_function *function, const char *name)
{
	const char *quote = filter_quote(object);

	put_string(out, "# ");
	put_text(out, name);
	put_format(out, "\n%s", quote);
	put_string(out, object);
	put_format(out, "%s %" PRIx64 " %" PRIx64 "\n", quote,
		   function->start, function->end);
}

static bool is_selected(const struct filter *filter, struct image *image, const char *object,
			const struct image_function *function, const char *plain)
{
	if (filter->common.path || filter->common.parts)
		return !frequent_has(&filter->frequent, object, function->start, function->end);
	return (has_name(filter, function, plain) ||
		has_source(filter, image, function)) != filter->others;
}

static void filter_image(struct filter *filter, struct image *image,
			 const char *object)
{
	const struct image_function *function;
	size_t index = 0;
	char *plain;

	while ((function = image_each(image, &index))) {
		plain = cplus_demangle_v3(function->name, DMGL_ANSI);
		if (is_selected(filter, image, object, function, plain)) {
			put_function(filter->out, object, function,
				     plain ? plain : function->name);
			filter->lines++;
		}
		free(plain);
	}
}

static int filter_file(struct filter *filter, const char *path)
{
	const char *error;
	struct image *image = image_open(path, NULL, &error);

	if (!image) {
		report("%s: not an ELF program: %s", path, error);
		return -1;
	}
	filter_image(filter, image, text_base(path));
	image_close(image);
	return 0;
}

static int filter_files(struct filter *filter, char **files)
{
	int error = 0;
	size_t i;

	for (i = 0; files[i]; i++)
		if (!output_spares(filter->output, files[i]))
			return EXIT_USAGE;
	filter->out = output_open(filter->output);
	if (!filter->out)
		return EXIT_UNREADABLE;
	for (; *files && !error; files++)
		error = filter_file(filter, *files);
	if (output_close(filter->out) || error)
		return EXIT_UNREADABLE;
	if (filter->lines)
		return EXIT_OK;
	report("no function matches: check that the file has symbols and, for -S, "
	       "debug information");
	return EXIT_UNREADABLE;
}

/* Functions can be selected by pattern or from a trace, but not both. */
static int check(const struct filter *filter)
{
	const bool named = filter->functions.count || filter->sources.count;

	if (filter->common.path && (named || filter->others))
		return usage_error("--from-trace cannot be combined with -F, -S and -v");
	if (!filter->common.path && filter->percent > 0)
		return usage_error("--share needs --from-trace");
	if (!filter->common.path && !named)
		return usage_error("filter: no functions selected: give names with -F, source files with -S, or --from-trace");
	return EXIT_OK;
}

/*
 * Write the filter for --from-trace. The given files also provide the function names for the trace.
 */
static int filter_trace(struct filter *filter, char **files)
{
	struct symbols_options *symbols = &filter->common.symbols;
	int result;
	size_t i;

	for (i = 0; files[i] && symbols->files < SYMBOLS_FILES_MAX; i++)
		symbols->file[symbols->files++] = files[i];
	if (!output_spares(filter->output, filter->common.path))
		return EXIT_USAGE;
	result = frequent_read(&filter->frequent, &filter->common,
			       filter->percent > 0 ? filter->percent : 1);
	if (!result)
		result = filter_files(filter, files);
	if (!result)
		frequent_report(&filter->frequent, filter->common.path);
	frequent_free(&filter->frequent);
	return result;
}

static bool has_path(char *const *path, size_t paths, const char *wanted)
{
	size_t i;

	for (i = 0; i < paths; i++)
		if (!strcmp(path[i], wanted))
			return true;
	return false;
}

/*
 * List the given files, and all other files with calls in the trace, because a program can load
 * objects while it runs.
 */
static char **list_files(const struct frequent *frequent, char *const *files, size_t count)
{
	const struct meta *meta = &frequent->profile.input.meta;
	char **list = calloc(count + meta->objects + 1, sizeof(*list));
	size_t i;

	if (!list) {
		report("out of memory");
		return NULL;
	}
	memcpy(list, files, count * sizeof(*list));
	for (i = 0; i < meta->objects; i++) {
		const char *path = meta->object[i].path;

		if (*path == '/' && !has_path(list, count, path) &&
		    frequent_calls(frequent, text_base(path)))
			list[count++] = (char *)path;
	}
	return list;
}

int filter_from_trace(const struct options *options, double percent, const char *what,
		      char *const *files, size_t count, const char *output, size_t *left_out)
{
	struct filter filter = { .common = *options, .output = output };
	char **list;
	int result = frequent_read(&filter.frequent, options, percent);

	*left_out = filter.frequent.rows;
	if (!result && *left_out) {
		list = list_files(&filter.frequent, files, count);
		result = list ? filter_files(&filter, list) : EXIT_UNREADABLE;
		free(list);
	}
	if (!result && what)
		frequent_report(&filter.frequent, what);
	frequent_free(&filter.frequent);
	return result;
}

static int command_filter(int argc, char **argv)
{
	static struct filter filter;
	int result;

	options_init(&filter.common);
	filter.common.threshold = UNITS_NO_TIME;
	result = cli_parse(&filter_command, &filter, argc, argv);
	if (!result)
		result = check(&filter);
	if (result)
		return result;
	if (optind == argc)
		return usage_error("filter: no program given: name a program and its shared objects");
	return filter.common.path ? filter_trace(&filter, argv + optind) :
				    filter_files(&filter, argv + optind);
}

const struct cli_command filter_command = {
	.name = "filter",
	.run = command_filter,
	.summary = "select the functions to record",
	.arguments = "PROGRAM|OBJECT...",
	.help = "Write a filter file, for sifive-trace record --filter: the addresses of the selected functions in a program and its shared objects. This needs the files' symbols and, to select by source file, their debug information; the files on the traced machine may be stripped.\n\n"
		"-F and -S may be repeated: a function is selected if it matches one of them.\n\n"
		"With --from-trace, functions are excluded in order of their average time, the shortest first, as long as their total time does not exceed --share. A function is kept if its share of the calls is not greater than its share of the time, if it has less than a thousandth of the calls, or if the time of any call to it is unknown.",
	.groups = filter_groups,
	.status = "Exit status: 0 done, 2 usage error, 3 no function matches, no call has a time, or input or output error.",
	.whole = true,
};

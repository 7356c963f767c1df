// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sifive-trace filter: from names of functions and source files to the addresses
 * that record --filter and SIFIVE_TRACE_FILTER take.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "command.h"
#include "filter_file.h"
#include "image.h"
#include "output.h"
#include "text.h"

/* Patterns of each kind. */
#define PATTERNS	64

struct patterns {
	const char	*pattern[PATTERNS];
	size_t		count;
};

/**
 * struct filter - which functions are wanted
 * @functions:	patterns of their names
 * @sources:	patterns of the source files that they are in
 * @others:	all but those
 * @lines:	functions written
 */
struct filter {
	struct patterns	functions;
	struct patterns	sources;
	bool		others;
	struct output	*out;
	size_t		lines;
};

static const struct option long_options[] = {
	{ "function",	required_argument, NULL, 'F' },
	{ "source",	required_argument, NULL, 'S' },
	{ "invert",	no_argument,	   NULL, 'v' },
	{ "output",	required_argument, NULL, 'o' },
	{ "help",	no_argument,	   NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static void help(void)
{
	puts("usage: sifive-trace filter [OPTION]... PROGRAM|OBJECT...\n"
	     "\n"
	     "Write a filter file, for sifive-trace record --filter: where in a program and its\n"
	     "shared objects the functions are that are to be recorded. It needs their symbols,\n"
	     "and for source files their debug information; on the traced machine they may be\n"
	     "stripped.\n"
	     "\n"
	     "  -F, --function PATTERN\n"
	     "                        functions of this name, C++ names without parameters or\n"
	     "                        as nm(1) shows them; * and ? stand for others\n"
	     "  -S, --source PATTERN  functions of this source file: its name, or as the\n"
	     "                        compiler was given it\n"
	     "  -v, --invert          all functions but those\n"
	     "  -o, --output FILE     file to write to (default: standard output)\n"
	     "  -h, --help            this text\n"
	     "\n"
	     "-F and -S may be repeated: a function is written that fits one of them.\n"
	     "\n"
	     "Exit status: 0 done, 2 wrong usage, 3 no function fits, or a file cannot be read\n"
	     "or written.");
}

static bool fits(const struct patterns *patterns, const char *name)
{
	return filter_fits(patterns->pattern, patterns->count, name);
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

/* Names of C++ are of any length; a file's name with spaces in it is quoted. */
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

static void filter_image(struct filter *filter, struct image *image,
			 const char *object)
{
	const struct image_function *function;
	size_t index = 0;
	char *plain;

	while ((function = image_each(image, &index))) {
		plain = cplus_demangle_v3(function->name, DMGL_ANSI);
		if ((has_name(filter, function, plain) ||
		     has_source(filter, image, function)) != filter->others) {
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
		report("%s: no ELF program: %s", path, error);
		return -1;
	}
	filter_image(filter, image, text_base(path));
	image_close(image);
	return 0;
}

static int filter_files(struct filter *filter, const char *path, char **files)
{
	int error = 0;
	size_t i;

	for (i = 0; files[i]; i++)
		if (!output_spares(path, files[i]))
			return EXIT_USAGE;
	filter->out = output_open(path);
	if (!filter->out)
		return EXIT_UNREADABLE;
	for (; *files && !error; files++)
		error = filter_file(filter, *files);
	if (output_close(filter->out) || error)
		return EXIT_UNREADABLE;
	if (filter->lines)
		return EXIT_OK;
	report("no function fits: are there symbols, and for -S debug information?");
	return EXIT_UNREADABLE;
}

static bool add_pattern(struct patterns *patterns)
{
	if (patterns->count == PATTERNS)
		return false;
	patterns->pattern[patterns->count++] = optarg;
	return true;
}

int command_filter(int argc, char **argv)
{
	struct filter filter = { .others = false };
	const char *output = NULL;
	bool room = true;
	int option;

	while ((option = getopt_long(argc, argv, "F:S:vo:h", long_options,
				     NULL)) >= 0) {
		switch (option) {
		case 'F':
			room = add_pattern(&filter.functions);
			break;
		case 'S':
			room = add_pattern(&filter.sources);
			break;
		case 'v':
			filter.others = true;
			break;
		case 'o':
			output = optarg;
			break;
		case 'h':
			help();
			return EXIT_OK;
		default:
			return usage_error("try sifive-trace filter --help");
		}
		if (!room)
			return usage_error("-%c can be given %d times", option,
					   PATTERNS);
	}
	if (!filter.functions.count && !filter.sources.count)
		return usage_error("filter: which functions? -F for their names, -S for their source files");
	if (optind == argc)
		return usage_error("filter: of which program? Give it and its shared objects");
	return filter_files(&filter, output, argv + optind);
}

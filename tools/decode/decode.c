// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace decode: the records of a trace, one by one. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "format.h"
#include "options.h"
#include "output.h"

static const struct format * const formats[] = {
	&format_text, &format_csv, &format_json, &format_perf,
};

#define FORMATS	(sizeof(formats) / sizeof(formats[0]))

struct decode {
	struct options		common;
	struct format_options	output;
	const struct format	*format;
	char			program[PATH_MAX];
};

enum own_option {
	OPTION_FORMAT = OPTION_OWN,
	OPTION_VALUES,
};

static const struct option long_options[] = {
	COMMON_LONG,
	{ "output",	required_argument, NULL, 'o' },
	{ "format",	required_argument, NULL, OPTION_FORMAT },
	{ "values",	required_argument, NULL, OPTION_VALUES },
	{ NULL, 0, NULL, 0 }
};

static void help(void)
{
	puts("usage: sifive-trace decode [OPTION]... TRACE|-\n"
	     "\n"
	     "Print the performance records of a trace, one a line.\n"
	     "\n"
	     "  -o, --output PATH     file to write to, folder for --format perf\n"
	     "      --format text|csv|json|perf\n"
	     "                        text (default); comma separated values; a JSON object\n"
	     "                        a line; or the files of SiFive's decoder for Freedom\n"
	     "                        Studio and Trace Compass, beside the trace\n"
	     "      --values delta|absolute|raw\n"
	     "                        what is shown for a counter: its count since the\n"
	     "                        previous record of the same source and channel\n"
	     "                        (default); its value, or its count since the header\n"
	     "                        where the trace holds Delta counts; or the number as\n"
	     "                        it is in the trace. '-' is a number that is not known.\n"
	     "\n"
	     "A summary goes to standard error.");
	puts(options_help);
}

static int parse_option(struct decode *decode, int option)
{
	static const char * const values[] = {
		[VALUES_DELTA] = "delta", [VALUES_ABSOLUTE] = "absolute",
		[VALUES_RAW] = "raw",
	};
	size_t i;
	int word;

	switch (option) {
	case 'o':
		decode->output.output = optarg;
		return EXIT_OK;
	case OPTION_VALUES:
		word = parse_word(optarg, values, 3);
		if (word < 0)
			return usage_error("--values is delta, absolute or raw, not \"%s\"",
					   optarg);
		decode->output.values = (enum values)word;
		return EXIT_OK;
	case OPTION_FORMAT:
		for (i = 0; i < FORMATS; i++) {
			if (strcmp(optarg, formats[i]->name))
				continue;
			decode->format = formats[i];
			return EXIT_OK;
		}
		return usage_error("--format is text, csv, json or perf, not \"%s\"",
				   optarg);
	default:
		return options_parse(&decode->common, "decode", option);
	}
}

static int decode_trace(struct decode *decode, struct input *input)
{
	uint32_t channels = trace_channels(input->trace);
	struct format_options *output = &decode->output;
	void *context;
	int error;

	output->trace = decode->common.path;
	if (decode->common.symbols.files) {
		snprintf(decode->program, sizeof(decode->program), "%s",
			 decode->common.symbols.file[0]);
		symbols_split(decode->program, &(uint64_t){ 0 });
		output->elf = decode->program;
	} else {
		output->elf = input->meta.exe;
	}
	output->symbols = input->symbols;
	output->meta = &input->meta;
	output->hz = input->hz;
	output->channels = channels & (channels - 1);
	context = decode->format->open(output);
	if (!context)
		return EXIT_UNREADABLE;
	error = trace_run(input->trace, &decode->format->ops, context);
	if (decode->format->close(context) || error)
		return EXIT_UNREADABLE;
	return input_summary(input, decode->format == &format_perf);
}

int command_decode(int argc, char **argv)
{
	struct decode decode = { .format = &format_text };
	int option, result = EXIT_OK;
	bool demangle = false;
	struct input input;

	options_init(&decode.common);
	while (!result && (option = getopt_long(argc, argv, COMMON_SHORT "o:",
						long_options, NULL)) != -1) {
		demangle |= option == OPTION_DEMANGLE;
		result = parse_option(&decode, option);
	}
	if (!result)
		result = options_trace(&decode.common, argc, argv);
	if (!result)
		result = options_output(&decode.common, decode.output.output);
	if (result)
		return result;
	if (decode.common.help) {
		help();
		return EXIT_OK;
	}
	if (decode.format == &format_perf && demangle)
		return usage_error("decode: --demangle is not for --format perf, which has names as in the symbol table");
	if (decode.format == &format_perf)
		decode.common.symbols.demangle = DEMANGLE_NO;
	decode.common.trace.watched = decode.format != &format_perf &&
				      !output_to_file(decode.output.output);
	result = input_open(&input, &decode.common);
	if (!result)
		result = decode_trace(&decode, &input);
	input_close(&input);
	return result;
}

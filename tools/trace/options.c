// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Options of all commands that read a trace: see options.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "options.h"
#include "output.h"

const char options_help[] =
	"\n"
	"The trace and how to read it:\n"
	"  -c, --channel N|all   channel of the records (default: those that the\n"
	"                        side-car file tells of, or else 6)\n"
	"  -s, --srcbits N       width of the source field in messages, 0 to 7\n"
	"                        (default: from the side-car file, or else inferred)\n"
	"      --ts-width N      bits of a timestamp (default 40)\n"
	"      --ts-scheme xor|delta\n"
	"                        xor for version 0 encoders, delta for those of ratified\n"
	"                        N-Trace 1.0 (default: from the side-car file, or else\n"
	"                        inferred)\n"
	"      --ts-hz N         ticks in a second: times become seconds (default: from\n"
	"                        the side-car file, or else times stay ticks)\n"
	"      --ring            the trace is a ring buffer and begins within a message\n"
	"      --meta FILE|none  side-car file (default: TRACE.meta, where it exists)\n"
	"      --strict          exit with 1 when anything was lost, damaged, unknown or\n"
	"                        has no time, but for what a ring has overwritten\n"
	"  -q, --quiet           no summary, no progress\n"
	"  -h, --help            this text\n"
	"\n"
	"Names of functions and lines:\n"
	"  -e, --elf FILE        the program that was traced, or a shared object of it;\n"
	"                        may be repeated. FILE@ADDRESS: it was loaded there,\n"
	"                        where no side-car file tells\n"
	"      --symfs FOLDER    look for programs, and for debug files by build-id,\n"
	"                        under this folder too\n"
	"      --demangle simple|full|no\n"
	"                        C++ names without parameters (default), with, or as\n"
	"                        they are in the file\n"
	"\n"
	"Exit status: 0 done, 1 losses with --strict, 2 wrong usage, 3 nothing could be\n"
	"read, or not be written.";

void options_init(struct options *options)
{
	memset(options, 0, sizeof(*options));
	options->trace.channel = TRACE_USUAL_CHANNELS;
	options->trace.src_bits = -1;
	options->trace.ts_width = -1;
	options->trace.ts_scheme = -1;
}

bool parse_number(const char *text, int least, int most, int *number)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (end == text || *end || errno || n < least || n > most)
		return false;
	*number = (int)n;
	return true;
}

int parse_word(const char *text, const char * const *words, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (!strcmp(text, words[i]))
			return i;
	return -1;
}

static int parse_rate(struct options *options)
{
	char *end;

	errno = 0;
	options->ts_hz = strtoull(optarg, &end, 10);
	if (*optarg < '0' || *optarg > '9' || *end || errno || !options->ts_hz)
		return usage_error("--ts-hz takes a number of ticks in a second, not \"%s\"",
				   optarg);
	return EXIT_OK;
}

static int parse_names(struct options *options, int option)
{
	static const char * const ways[] = {
		[DEMANGLE_SIMPLE] = "simple", [DEMANGLE_FULL] = "full",
		[DEMANGLE_NO] = "no",
	};
	int word;

	switch (option) {
	case 'e':
		if (options->symbols.files == SYMBOLS_FILES_MAX)
			return usage_error("-e can be given %d times",
					   SYMBOLS_FILES_MAX);
		options->symbols.file[options->symbols.files++] = optarg;
		return EXIT_OK;
	case OPTION_SYMFS:
		options->symbols.symfs = optarg;
		return EXIT_OK;
	default:
		word = parse_word(optarg, ways, 3);
		if (word < 0)
			return usage_error("--demangle is simple, full or no, not \"%s\"",
					   optarg);
		options->symbols.demangle = (enum demangle)word;
		return EXIT_OK;
	}
}

int options_parse(struct options *options, const char *command, int option)
{
	static const char * const schemes[] = {
		[NEXUS_TS_XOR] = "xor", [NEXUS_TS_DELTA] = "delta",
	};
	int word;

	switch (option) {
	case 'e':
	case OPTION_SYMFS:
	case OPTION_DEMANGLE:
		return parse_names(options, option);
	case 'c':
		if (!strcmp(optarg, "all"))
			options->trace.channel = TRACE_ALL_CHANNELS;
		else if (!parse_number(optarg, 0, PERFREC_CHANNELS - 1,
				       &options->trace.channel))
			return usage_error("-c takes a channel from 0 to %d, or all, not \"%s\"",
					   PERFREC_CHANNELS - 1, optarg);
		return EXIT_OK;
	case 's':
		if (!parse_number(optarg, 0, NEXUS_SRC_BITS_MAX,
				  &options->trace.src_bits))
			return usage_error("-s takes a number of bits from 0 to %d, not \"%s\"",
					   NEXUS_SRC_BITS_MAX, optarg);
		return EXIT_OK;
	case OPTION_TS_WIDTH:
		if (!parse_number(optarg, 1, 64, &options->trace.ts_width))
			return usage_error("--ts-width takes a number of bits from 1 to 64, not \"%s\"",
					   optarg);
		return EXIT_OK;
	case OPTION_TS_SCHEME:
		word = parse_word(optarg, schemes, 2);
		if (word < 0)
			return usage_error("--ts-scheme is xor or delta, not \"%s\"",
					   optarg);
		options->trace.ts_scheme = word;
		return EXIT_OK;
	case OPTION_TS_HZ:
		return parse_rate(options);
	case OPTION_RING:
		options->trace.ring = true;
		return EXIT_OK;
	case OPTION_META:
		options->meta = optarg;
		return EXIT_OK;
	case OPTION_STRICT:
		options->strict = true;
		return EXIT_OK;
	case 'q':
		options->trace.quiet = true;
		return EXIT_OK;
	case 'h':
		options->help = true;
		return EXIT_OK;
	default:
		/* getopt has said what is wrong. */
		return usage_error("try sifive-trace %s --help", command);
	}
}

int options_trace(struct options *options, int argc, char **argv)
{
	if (options->help)
		return EXIT_OK;
	if (optind == argc)
		return usage_error("%s: which trace? Give trace.rtd, or - for standard input",
				   argv[0]);
	if (optind + 1 < argc)
		return usage_error("%s: one trace at a time, not also \"%s\"",
				   argv[0], argv[optind + 1]);
	options->path = argv[optind];
	return EXIT_OK;
}

int options_output(const struct options *options, const char *output)
{
	char beside[PATH_MAX];
	bool spares;
	unsigned int i;

	if (options->help || !output)
		return EXIT_OK;
	snprintf(beside, sizeof(beside), "%s.meta", options->path);
	spares = output_spares(output, options->path) &&
		 output_spares(output, options->meta ? options->meta : beside);
	for (i = 0; i < options->symbols.files && spares; i++) {
		snprintf(beside, sizeof(beside), "%s", options->symbols.file[i]);
		symbols_split(beside, &(uint64_t){ 0 });
		spares = output_spares(output, beside);
	}
	return spares ? EXIT_OK : EXIT_USAGE;
}

int input_open(struct input *input, const struct options *options)
{
	memset(input, 0, sizeof(*input));
	input->options = options;
	if (meta_read(options->meta, options->path, &input->meta))
		return EXIT_UNREADABLE;
	input->hz = options->ts_hz ? options->ts_hz : input->meta.ts_hz;
	input->symbols = symbols_open(&options->symbols, &input->meta);
	if (!input->symbols)
		return EXIT_UNREADABLE;
	input->trace = trace_open(options->path, &options->trace, &input->meta);
	if (!input->trace)
		return EXIT_UNREADABLE;
	symbols_wrap(input->symbols, trace_time_mask(input->trace));
	return EXIT_OK;
}

void input_close(struct input *input)
{
	trace_close(input->trace);
	symbols_close(input->symbols);
	meta_free(&input->meta);
}

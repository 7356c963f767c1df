// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace decode: the records of a trace, as text. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "format.h"

static const struct format * const formats[] = { &format_text, &format_perf };

#define FORMATS	(sizeof(formats) / sizeof(formats[0]))

struct decode {
	struct trace_options	trace;
	struct format_options	output;
	const struct format	*format;
	bool			strict;
	bool			help;
};

enum long_option {
	OPTION_TS_WIDTH = 256,
	OPTION_TS_SCHEME,
	OPTION_RING,
	OPTION_FORMAT,
	OPTION_VALUES,
	OPTION_STRICT,
};

static const struct option long_options[] = {
	{ "elf",	required_argument, NULL, 'e' },
	{ "channel",	required_argument, NULL, 'c' },
	{ "srcbits",	required_argument, NULL, 's' },
	{ "output",	required_argument, NULL, 'o' },
	{ "help",	no_argument,	   NULL, 'h' },
	{ "ts-width",	required_argument, NULL, OPTION_TS_WIDTH },
	{ "ts-scheme",	required_argument, NULL, OPTION_TS_SCHEME },
	{ "ring",	no_argument,	   NULL, OPTION_RING },
	{ "format",	required_argument, NULL, OPTION_FORMAT },
	{ "values",	required_argument, NULL, OPTION_VALUES },
	{ "strict",	no_argument,	   NULL, OPTION_STRICT },
	{ NULL, 0, NULL, 0 }
};

static void help(void)
{
	puts("usage: sifive-trace decode [OPTION]... TRACE|-\n"
	     "\n"
	     "Print the performance records of a trace, one a line.\n"
	     "\n"
	     "  -e, --elf PROGRAM     the program that was traced: names functions and lines\n"
	     "  -c, --channel N|all   channel of the records (default 6)\n"
	     "  -o, --output PATH     file to write to, folder for --format perf\n"
	     "      --format text|perf\n"
	     "                        text (default), or the files of SiFive's decoder for\n"
	     "                        Freedom Studio and Trace Compass, beside the trace\n"
	     "      --values delta|absolute|raw\n"
	     "                        what text shows for a counter: its count since the\n"
	     "                        previous record of the same source and channel\n"
	     "                        (default); its value, or its count since the header\n"
	     "                        where the trace holds Delta counts; or the number as\n"
	     "                        it is in the trace. '-' is a number that is not known.\n"
	     "  -s, --srcbits N       width of the source field in messages, 0 to 7\n"
	     "                        (default: from TRACE.meta, or else found out)\n"
	     "      --ts-width N      bits of a timestamp (default 40)\n"
	     "      --ts-scheme xor|delta\n"
	     "                        xor (default) for version 0 encoders, delta for those\n"
	     "                        of ratified N-Trace 1.0\n"
	     "      --ring            the trace is a ring buffer and begins within a message\n"
	     "      --strict          exit with 1 when anything was lost or damaged\n"
	     "  -h, --help            this text\n"
	     "\n"
	     "A summary goes to standard error.");
}

/* A decimal number from @least to @most. Return false for anything else. */
static bool parse_number(const char *text, int least, int most, int *number)
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

/* Which of @words @text is, or -1. */
static int parse_word(const char *text, const char * const *words, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (!strcmp(text, words[i]))
			return i;
	return -1;
}

static int parse_format(struct decode *decode, const char *name)
{
	size_t i;

	for (i = 0; i < FORMATS; i++) {
		if (strcmp(name, formats[i]->name))
			continue;
		decode->format = formats[i];
		return EXIT_OK;
	}
	return usage_error("--format is text or perf, not \"%s\"", name);
}

static int parse_option(struct decode *decode, int option)
{
	static const char * const schemes[] = {
		[NEXUS_TS_XOR] = "xor", [NEXUS_TS_DELTA] = "delta",
	};
	static const char * const values[] = {
		[VALUES_DELTA] = "delta", [VALUES_ABSOLUTE] = "absolute",
		[VALUES_RAW] = "raw",
	};
	int word;

	switch (option) {
	case 'e':
		decode->output.elf = optarg;
		return EXIT_OK;
	case 'o':
		decode->output.output = optarg;
		return EXIT_OK;
	case 'c':
		if (!strcmp(optarg, "all"))
			decode->trace.channel = TRACE_ALL_CHANNELS;
		else if (!parse_number(optarg, 0, PERFREC_CHANNELS - 1,
				       &decode->trace.channel))
			return usage_error("-c takes a channel from 0 to %d, or all, not \"%s\"",
					   PERFREC_CHANNELS - 1, optarg);
		return EXIT_OK;
	case 's':
		if (!parse_number(optarg, 0, NEXUS_SRC_BITS_MAX,
				  &decode->trace.src_bits))
			return usage_error("-s takes a number of bits from 0 to %d, not \"%s\"",
					   NEXUS_SRC_BITS_MAX, optarg);
		return EXIT_OK;
	case OPTION_TS_WIDTH:
		if (!parse_number(optarg, 1, 64, &decode->trace.ts_width))
			return usage_error("--ts-width takes a number of bits from 1 to 64, not \"%s\"",
					   optarg);
		return EXIT_OK;
	case OPTION_TS_SCHEME:
		word = parse_word(optarg, schemes, 2);
		if (word < 0)
			return usage_error("--ts-scheme is xor or delta, not \"%s\"",
					   optarg);
		decode->trace.ts_scheme = word;
		return EXIT_OK;
	case OPTION_VALUES:
		word = parse_word(optarg, values, 3);
		if (word < 0)
			return usage_error("--values is delta, absolute or raw, not \"%s\"",
					   optarg);
		decode->output.values = (enum values)word;
		return EXIT_OK;
	case OPTION_FORMAT:
		return parse_format(decode, optarg);
	case OPTION_RING:
		decode->trace.ring = true;
		return EXIT_OK;
	case OPTION_STRICT:
		decode->strict = true;
		return EXIT_OK;
	case 'h':
		decode->help = true;
		return EXIT_OK;
	default:
		/* getopt has said what is wrong. */
		return usage_error("try sifive-trace decode --help");
	}
}

static int parse_arguments(struct decode *decode, int argc, char **argv)
{
	int option, error;

	decode->trace.channel = PERFREC_CHANNEL_DEFAULT;
	decode->trace.src_bits = -1;
	decode->trace.ts_width = -1;
	decode->trace.ts_scheme = -1;
	decode->format = &format_text;

	while ((option = getopt_long(argc, argv, "e:c:s:o:h", long_options,
				     NULL)) != -1) {
		error = parse_option(decode, option);
		if (error)
			return error;
	}
	if (decode->help)
		return EXIT_OK;
	if (optind == argc)
		return usage_error("decode: which trace? Give trace.rtd, or - for standard input");
	if (optind + 1 < argc)
		return usage_error("decode: one trace at a time, not also \"%s\"",
				   argv[optind + 1]);
	decode->output.trace = argv[optind];
	decode->output.channel = decode->trace.channel;
	return EXIT_OK;
}

static uint64_t all_records(const struct trace_stats *stats)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < PERFREC_TYPES; i++)
		sum += stats->records[i];
	return sum;
}

/* "7, 9" in @text: the channels with stores, without @except. */
static void list_channels(const struct trace_stats *stats, int except,
			  char *text, size_t size)
{
	size_t used = 0;
	int i;

	*text = '\0';
	for (i = 0; i < PERFREC_CHANNELS; i++)
		if (stats->words[i] && i != except)
			used += (size_t)snprintf(text + used, size - used,
						 "%s%d", used ? ", " : "", i);
}

/* Arguments for "%" PRIu64 " thing%s". */
#define COUNT(n)	(n), (n) == 1 ? "" : "s"

static void summarise(const struct decode *decode,
		      const struct trace_stats *stats)
{
	const char *name = decode->output.trace;
	char channels[4 * PERFREC_CHANNELS];

	report("%s: %" PRIu64 " record%s: %" PRIu64 " enter, %" PRIu64 " exit, %"
	       PRIu64 " manual, %" PRIu64 " isr; %" PRIu64 " header%s, %" PRIu64
	       " message%s, %" PRIu64 " bytes; srcbits %u %s", name,
	       COUNT(all_records(stats)), stats->records[PERFREC_ENTER],
	       stats->records[PERFREC_EXIT], stats->records[PERFREC_MANUAL],
	       stats->records[PERFREC_ISR], COUNT(stats->headers),
	       COUNT(stats->messages), stats->bytes, stats->src_bits,
	       stats->src_from);
	if (stats->timed)
		report("%s: time %" PRIu64 " to %" PRIu64 ", %" PRIu64 " ticks",
		       name, stats->first, stats->last,
		       stats->last - stats->first);
	list_channels(stats, decode->trace.channel, channels, sizeof(channels));
	if (*channels && all_records(stats) &&
	    decode->trace.channel != TRACE_ALL_CHANNELS)
		report("%s: not decoded: channels %s (use -c N or -c all)", name,
		       channels);
	if (stats->align_bytes)
		report("%s: %" PRIu64 " byte%s skipped before the first message of the ring",
		       name, COUNT(stats->align_bytes));
	if (stats->gaps)
		report("%s: damaged: %" PRIu64 " byte%s skipped in %" PRIu64 " place%s",
		       name, COUNT(stats->gap_bytes), COUNT(stats->gaps));
	if (stats->cut_bytes)
		report("%s: the last message is cut off: %" PRIu64 " byte%s", name,
		       COUNT(stats->cut_bytes));
	if (stats->errors)
		report("%s: the encoder lost messages %" PRIu64 " time%s", name,
		       COUNT(stats->errors));
	if (stats->unknown)
		report("%s: %" PRIu64 " message%s of unknown kind", name,
		       COUNT(stats->unknown));
	if (stats->losses)
		report("%s: %" PRIu64 " word%s of no whole record, in %" PRIu64
		       " place%s", name, COUNT(stats->lost_words),
		       COUNT(stats->losses));
	if (stats->no_header)
		report("%s: %" PRIu64 " record%s before any header: layout guessed",
		       name, COUNT(stats->no_header));
	if (stats->unaddressed && decode->format == &format_perf)
		report("%s: %" PRIu64 " record%s left out: no header, or addresses lost",
		       name, COUNT(stats->unaddressed));
	if (all_records(stats) && !stats->timed)
		report("%s: no times: no absolute timestamp before the records",
		       name);
}

static int no_records(const struct decode *decode,
		      const struct trace_stats *stats)
{
	const char *name = decode->output.trace;
	char channels[4 * PERFREC_CHANNELS];

	list_channels(stats, -1, channels, sizeof(channels));
	if (!*channels)
		report("%s: no record: %" PRIu64 " messages, none of them a store to a channel",
		       name, stats->messages);
	else if (decode->trace.channel == TRACE_ALL_CHANNELS)
		report("%s: no record on any channel (channels seen: %s)", name,
		       channels);
	else
		report("%s: no record on channel %d (channels seen: %s): use -c",
		       name, decode->trace.channel, channels);
	return EXIT_UNREADABLE;
}

static int decode_trace(struct decode *decode, struct trace *trace)
{
	const struct trace_stats *stats = trace_stats(trace);
	void *context;
	int error;

	context = decode->format->open(&decode->output);
	if (!context)
		return EXIT_UNREADABLE;
	error = trace_run(trace, &decode->format->ops, context);
	if (decode->format->close(context) || error)
		return EXIT_UNREADABLE;

	summarise(decode, stats);
	if (!all_records(stats))
		return no_records(decode, stats);
	if (decode->strict && (stats->gaps || stats->errors || stats->losses))
		return EXIT_LOSSES;
	return EXIT_OK;
}

int command_decode(int argc, char **argv)
{
	struct decode decode = { 0 };
	struct trace *trace;
	int result;

	result = parse_arguments(&decode, argc, argv);
	if (result)
		return result;
	if (decode.help) {
		help();
		return EXIT_OK;
	}
	if (decode.output.elf) {
		decode.output.symbols = symbols_open(decode.output.elf);
		if (!decode.output.symbols)
			return EXIT_UNREADABLE;
	}
	trace = trace_open(decode.output.trace, &decode.trace);
	result = trace ? decode_trace(&decode, trace) : EXIT_UNREADABLE;
	trace_close(trace);
	symbols_close(decode.output.symbols);
	return result;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Handles the options of all commands that read a trace: see options.h. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "follow.h"
#include "image.h"
#include "merged.h"
#include "options.h"
#include "output.h"
#include "pager.h"
#include "source.h"
#include "text.h"
#include "units.h"

#define TRACE_ENDING	".rtd"

static int set_channel(void *at, const struct cli_option *option, const char *value)
{
	if (strcmp(value, "all"))
		return cli_number(at, option, value);
	*(int *)at = TRACE_ALL_CHANNELS;
	return EXIT_OK;
}

static int set_rate(void *at, const struct cli_option *option, const char *value)
{
	uint64_t *hz = at;
	char *end;

	errno = 0;
	*hz = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || !*hz)
		return cli_refuse(option, "a number of ticks per second", value);
	return EXIT_OK;
}

static int add_file(void *at, const struct cli_option *option, const char *value)
{
	struct symbols_options *symbols = at;

	if (symbols->files == SYMBOLS_FILES_MAX)
		return usage_error("--%s can be given at most %d times", option->name,
				   SYMBOLS_FILES_MAX);
	symbols->file[symbols->files++] = value;
	return EXIT_OK;
}

static int set_range(void *at, const struct cli_option *option, const char *value)
{
	return range_parse(at, value) ? EXIT_OK :
	       cli_refuse(option, "FROM..TO, such as 1.2s..1.3s, 200ms.., ..17 or 10%..20%", value);
}

static int set_color(void *at, const struct cli_option *option, const char *value)
{
	int styles;
	int result = cli_word(&styles, option, value);

	(void)at;
	if (!result)
		output_set_styles((enum output_styles)styles);
	return result;
}

static int set_no_pager(void *at, const struct cli_option *option, const char *value)
{
	(void)at;
	(void)option;
	(void)value;
	pager_disable();
	return EXIT_OK;
}

const struct cli_option options_time[] = {
	{ .name = "time", .value = "FROM..TO",
	  .help = "show only this part of the trace. Times are as replay and decode show them, and end with s, ms, us or ns; without a unit they are in seconds, or in ticks if the tick rate is unknown. With %, they are percentages of the trace's length. FROM or TO may be omitted",
	  .set = set_range, .offset = offsetof(struct options, range) },
	{ .name = NULL }
};

const struct cli_option options_clock[] = {
	/* The words are in the order of enum options_clock. */
	{ .name = "clock", .value = "trace|utc",
	  .help = "times by the trace's clock (default), or by the wall clock of the machine that recorded it, since 1970, for traces of several recordings or machines; --time still takes times of the trace",
	  .set = cli_word, .offset = offsetof(struct options, clock) },
	{ .name = NULL }
};

const struct cli_option options_calls[] = {
	/* The words are in the order of enum options_calls. */
	{ .name = "calls", .value = "instructions|records",
	  .help = "if a trace has both, show the calls from instruction trace (default), or those that instrumented functions recorded, with their counts",
	  .set = cli_word, .offset = offsetof(struct options, calls) },
	{ .name = "time-threshold", .value = "TIME", .words = "none",
	  .help = "leave out calls shorter than TIME (500ns, 5us, 10ms; default: as recorded, see record); their time belongs to their callers; none: show all calls",
	  .set = units_set_threshold, .offset = offsetof(struct options, threshold) },
	{ .name = NULL }
};

const struct cli_option options_reading[] = {
	{ .letter = 'c', .name = "channel", .value = "N|all",
	  .help = "channel of the records (default: the channels in the side-car file, or 6)",
	  .set = set_channel, .offset = offsetof(struct options, trace.channel),
	  .most = PERFREC_CHANNELS - 1 },
	{ .letter = 's', .name = "srcbits", .value = "N",
	  .help = "width of the source field in messages, 0 to 7 (default: from the side-car file, or else inferred)",
	  .set = cli_number, .offset = offsetof(struct options, trace.src_bits),
	  .most = NEXUS_SRC_BITS_MAX },
	{ .name = "ts-width", .value = "N", .help = "width of a timestamp in bits (default 40)",
	  .set = cli_number, .offset = offsetof(struct options, trace.ts_width),
	  .least = 1, .most = 64 },
	/* The words are in the order of enum nexus_ts_scheme. */
	{ .name = "ts-scheme", .value = "xor|delta",
	  .help = "timestamps as xor, of version 0 encoders, or as delta, of ratified N-Trace 1.0 (default: from the side-car file, or else inferred)",
	  .set = cli_word, .offset = offsetof(struct options, trace.ts_scheme) },
	{ .name = "ts-hz", .value = "N",
	  .help = "ticks per second, to show times in seconds (default: from the side-car file, or else times are in ticks)",
	  .set = set_rate, .offset = offsetof(struct options, ts_hz) },
	{ .name = "ring", .help = "the trace is a ring buffer and begins within a message",
	  .set = cli_flag, .offset = offsetof(struct options, trace.ring) },
	{ .name = "meta", .value = "FILE|none",
	  .help = "side-car file (default: TRACE.meta, if it exists)",
	  .set = cli_text, .offset = offsetof(struct options, meta) },
	{ .name = "strict",
	  .help = "exit with 1 if anything was lost, damaged, unknown or has no time; data that a ring has overwritten is not a loss",
	  .set = cli_flag, .offset = offsetof(struct options, strict) },
	{ .letter = 'j', .name = "jobs", .value = "N",
	  .help = "number of threads that read the trace (default: one per processor; more than 3 have no effect)",
	  .set = cli_number, .offset = offsetof(struct options, trace.jobs),
	  .least = 1, .most = 1024 },
	/* The keywords are in the order of enum output_styles. */
	{ .name = "color", .value = "auto|always|never",
	  .help = "use bold text and colours: on a terminal (auto, the default), always or never",
	  .set = set_color },
	{ .name = "no-pager", .help = "write text directly to the terminal",
	  .set = set_no_pager },
	{ .letter = 'q', .name = "quiet", .help = "print no summary and no progress",
	  .set = cli_flag, .offset = offsetof(struct options, trace.quiet) },
	{ .name = NULL }
};

const struct cli_option options_names[] = {
	{ .letter = 'e', .name = "elf", .value = "FILE",
	  .help = "the traced program, or one of its shared objects; may be repeated. FILE@ADDRESS also gives its load address, for a trace without a side-car file",
	  .set = add_file, .offset = offsetof(struct options, symbols) },
	{ .name = "symfs", .value = "DIRECTORY",
	  .help = "also look under this directory for programs, and for debug files by build-id",
	  .set = cli_text, .offset = offsetof(struct options, symbols.symfs) },
	/* The words are in the order of enum demangle. */
	{ .name = "demangle", .value = "simple|full|no",
	  .help = "C++ names without parameters (default), with parameters, or mangled, as in the file",
	  .set = cli_word, .offset = offsetof(struct options, symbols.demangle) },
	{ .name = NULL }
};

/* Return the number of CPUs on which the calling process may run. */
static int processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

void options_init(struct options *options)
{
	memset(options, 0, sizeof(*options));
	options->trace.channel = TRACE_USUAL_CHANNELS;
	options->trace.src_bits = -1;
	options->trace.ts_width = -1;
	options->trace.ts_scheme = -1;
	options->trace.jobs = processors();
	options->tid = -1;
}

bool options_matches(const struct cli_list *filter, const char *name)
{
	unsigned int i;

	for (i = 0; i < filter->count; i++)
		if (text_matches(filter->text[i], name))
			return true;
	return !filter->count;
}

void options_nothing(const struct options *options, const struct cli_list *filter)
{
	const bool tid = options->tid >= 0;

	if (filter->count || tid)
		report("%s: nothing matches %s%s%s", options->path, filter->count ? "--filter" : "",
		       filter->count && tid ? " and " : "", tid ? "--tid" : "");
}

/*
 * Return whether a name has the form that record uses for traces: trace.0.rtd, trace.0.rtd.3 for a
 * piece, or trace.rtd.0.3 for one sink of a snapshot.
 */
static bool is_named_as_trace(const char *name)
{
	const char *at = text_base(name), *end = NULL;

	while ((at = strstr(at, TRACE_ENDING)))
		end = at += strlen(TRACE_ENDING);
	while (end && *end == '.' && strspn(end + 1, "0123456789"))
		end += 1 + strspn(end + 1, "0123456789");
	return end && !*end;
}

/* Check and set the traces to merge, including the first trace. */
static int add_parts(const struct cli_command *command, struct options *options, char **part,
		     unsigned int parts)
{
	const struct trace_options *trace = &options->trace;
	unsigned int i;

	for (i = 0; i < parts; i++) {
		if (!strcmp(part[i], "-"))
			return usage_error("%s: standard input cannot be merged with other traces; name files",
					   command->name);
		if (image_is_program(part[i]))
			return usage_error("%s: %s is a program, not a trace; name it with -e",
					   command->name, part[i]);
	}
	if (options->meta || trace->src_bits >= 0 || trace->ts_width >= 0 ||
	    trace->ts_scheme >= 0 || trace->ring)
		return usage_error("%s: several traces are read with their side-car files: --meta, --srcbits, --ts-width, --ts-scheme and --ring are for a single trace; sifive-trace --no-config ignores the configuration file",
				   command->name);
	options->part = part;
	options->parts = parts;
	snprintf(options->name, sizeof(options->name), "%s + %u more", *part, parts - 1);
	options->path = options->name;
	return EXIT_OK;
}

int options_parse(const struct cli_command *command, void *target, struct options *options,
		  enum options_takes takes, int argc, char **argv)
{
	int result = cli_parse(command, target, argc, argv), first = optind;

	if (result)
		return result;
	if (optind == argc)
		return usage_error("%s: no trace; name a file, or - for standard input",
				   command->name);
	options->path = argv[optind++];
	if (takes == OPTIONS_ONE && optind < argc)
		return usage_error("%s reads only one trace at a time: \"%s\" is one too many; combine the traces of several sinks with sifive-trace merge",
				   command->name, argv[optind]);
	while (optind < argc && (takes == OPTIONS_TRACES || is_named_as_trace(argv[optind])))
		optind++;
	if (optind - first > 1)
		result = add_parts(command, options, argv + first, (unsigned int)(optind - first));
	return result ? result : options_output(options);
}

const char *options_first(const struct options *options)
{
	return options->parts ? options->part[0] : options->path;
}

/*
 * Return whether @path is neither a trace nor its side-car file, which is @meta unless that is
 * NULL.
 */
static bool spares_trace(const char *path, const char *trace, const char *meta)
{
	char beside[PATH_MAX];

	snprintf(beside, sizeof(beside), "%s.meta", trace);
	return output_spares(path, trace) && output_spares(path, meta ? meta : beside);
}

bool options_spares(const struct options *options, const char *path)
{
	unsigned int i;

	for (i = 0; i < options->parts; i++)
		if (!spares_trace(path, options->part[i], NULL))
			return false;
	return options->parts || spares_trace(path, options->path, options->meta);
}

int options_output(const struct options *options)
{
	bool spares = options_spares(options, options->output);
	char file[PATH_MAX];
	unsigned int i;

	for (i = 0; i < options->symbols.files && spares; i++) {
		snprintf(file, sizeof(file), "%s", options->symbols.file[i]);
		symbols_split(file, &(uint64_t){ 0 });
		spares = output_spares(options->output, file);
	}
	return spares ? EXIT_OK : EXIT_USAGE;
}

bool options_all_calls(struct options *options)
{
	const bool given = options->threshold && options->threshold != UNITS_NO_TIME;

	options->threshold = UNITS_NO_TIME;
	return !given;
}

/*
 * Set the length of the shortest calls to show; return 0, or -1 after reporting that the tick rate
 * is unknown.
 */
static int set_shortest(struct input *input, const struct options *options)
{
	const uint64_t ns = options->threshold ? options->threshold : input->meta.part.threshold;
	const unsigned __int128 product = (unsigned __int128)ns * input->hz;

	/* An option replaces the recording's threshold. */
	input->meta.part.threshold = 0;
	if (ns == UNITS_NO_TIME)
		return 0;
	if (options->threshold && !input->hz) {
		report("--time-threshold: %s does not contain the tick rate; give --ts-hz",
		       options->path);
		return -1;
	}
	input->shortest = (uint64_t)((product + 999999999) / 1000000000);
	input->meta.part.threshold = input->shortest && !options->threshold ? ns : 0;
	return 0;
}

/* Return whether the trace can be read only once. */
static bool is_pipe(const char *path)
{
	struct stat stat_buf;

	return !strcmp(path, "-") ||
	       (!stat(path, &stat_buf) && !S_ISREG(stat_buf.st_mode) &&
		!S_ISDIR(stat_buf.st_mode));
}

/* Find the times of the trace; @fd is a merged trace's descriptor, or -1. Return an exit code. */
static int find_span(const struct input *input, int fd, struct range_span *span)
{
	const struct options *options = input->options;
	struct trace *trace;
	int error, copy;

	if (fd < 0 && is_pipe(options->path))
		return usage_error("--time in percent needs the trace's length, but a pipe can be read only once; name a file, or give times");
	if (options->trace.follow && options->trace.follow->state == FOLLOW_RUNS)
		return usage_error("--time in percent needs the trace's length, but the recording is still running; give times");
	copy = fd < 0 ? source_open(options->path) : dup(fd);
	if (copy < 0) {
		if (fd >= 0)
			report("%s: cannot read: %s", options->path, strerror(errno));
		return EXIT_UNREADABLE;
	}
	trace = trace_take(copy, options->path, &options->trace, &input->meta);
	error = trace ? trace_span(trace, span) : -1;
	trace_close(trace);
	/* The duplicate descriptor shares its file position with the original. */
	if (!error && fd >= 0 && lseek(fd, 0, SEEK_SET)) {
		report("%s: cannot read: %s", options->path, strerror(errno));
		error = -1;
	}
	return error ? EXIT_UNREADABLE : EXIT_OK;
}

static int set_times(struct input *input, const struct options *options, int fd)
{
	struct range_span span = { .timed = false };
	const char *wrong;
	int result = EXIT_OK;

	if (range_needs_span(&options->range))
		result = find_span(input, fd, &span);
	if (result)
		return result;
	wrong = range_ticks(&options->range, input->hz, &span, &input->from, &input->to);
	input->limited = input->from || input->to != UINT64_MAX;
	return wrong ? usage_error("%s", wrong) : EXIT_OK;
}

/* Check the time range and find the programs, before the trace is opened. */
static int open_symbols(struct input *input, const struct options *options, int fd)
{
	int result;

	if (options->ts_hz)
		input->meta.ts_hz = options->ts_hz;
	input->hz = input->meta.ts_hz;
	result = set_times(input, options, fd);
	if (result)
		return result;
	if (set_shortest(input, options))
		return EXIT_UNREADABLE;
	input->symbols = symbols_open(&options->symbols, &input->meta);
	return input->symbols ? EXIT_OK : EXIT_UNREADABLE;
}

uint64_t input_time(const struct input *input, uint64_t *time)
{
	if (!input_is_utc(input))
		return input->hz;
	/* input_open() has refused a trace whose times cannot be converted. */
	if (!utc_time(&input->utc, *time, time))
		*time = 0;
	return UTC_NS_PER_SEC;
}

int input_open(struct input *input, const struct options *options)
{
	int fd = -1, result;

	memset(input, 0, sizeof(*input));
	input->options = options;
	if (options->parts)
		fd = merged_open(options->part, options->parts, options->path,
				 &options->trace, &input->meta);
	if (options->parts ? fd < 0 : meta_read(options->meta, options->path, &input->meta))
		return EXIT_UNREADABLE;
	result = open_symbols(input, options, fd);
	if (result) {
		if (fd >= 0)
			close(fd);
		return result;
	}
	input->trace = fd >= 0 ?
		trace_take(fd, options->path, &options->trace, &input->meta) :
		trace_open(options->path, &options->trace, &input->meta);
	if (!input->trace)
		return EXIT_UNREADABLE;
	utc_init(&input->utc, &input->meta, input->hz, trace_time_mask(input->trace));
	if (input_is_utc(input) && input->utc.lack) {
		report("%s: --clock utc: %s", options->path, input->utc.lack);
		return EXIT_UNREADABLE;
	}
	symbols_clock(input->symbols, input->hz, trace_time_mask(input->trace));
	symbols_kernel(input->symbols, options_first(options));
	trace_unwind(input->trace, symbols_unwind, input->symbols);
	return EXIT_OK;
}

void input_close(struct input *input)
{
	trace_close(input->trace);
	symbols_close(input->symbols);
	meta_free(&input->meta);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace decode: prints the records of a trace. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "follow.h"
#include "format.h"
#include "options.h"
#include "output.h"
#include "pager.h"
#include "part.h"
#include "units.h"

/* Indexes of these formats in formats[]. */
#define FORMAT_CSV	1
#define FORMAT_JSON	2

static const struct format * const formats[] = {
	&format_text, [FORMAT_CSV] = &format_csv, [FORMAT_JSON] = &format_json, &format_perf, &format_instructions,
	&format_pc,
};

#define FORMATS	(sizeof(formats) / sizeof(formats[0]))

/* --demangle was not given, so the format determines the default. */
#define DEMANGLE_UNSET	((enum demangle)-1)

struct decode {
	struct options		common;
	struct format_options	output;
	int			format;	/* index in formats[] */
	bool			follow;
	struct follow		growing;	/* the trace, if @follow is set */
	/* The last two side-car files that replaced the first one, and the index of the newer one. */
	struct meta		newer[2];
	unsigned int		newest;
	char			program[PATH_MAX];
};

static void list_formats(cli_add *add, void *context)
{
	size_t i;

	for (i = 0; i < FORMATS; i++)
		add(context, formats[i]->name, formats[i]->help);
}

static const struct cli_option decode_options[] = {
	CLI_FORMAT(struct decode, format, list_formats),
	CLI_AS(csv, struct decode, format, FORMAT_CSV),
	CLI_AS(json, struct decode, format, FORMAT_JSON),
	/* The keywords are in the order of enum values. */
	{ .name = "values", .value = "delta|absolute|raw",
	  .help = "how to show a counter: as its count since the previous record of the same source and channel (default); as its value or, in a trace of Delta counts, its count since the header; or as the number in the trace. '-' means that the number is unknown.",
	  .set = cli_word, .offset = offsetof(struct decode, output.values) },
	{ .letter = 'f', .name = "follow",
	  .help = "if the trace is being recorded, print further records as they are written, until the recording ends or ^C",
	  .set = cli_flag, .offset = offsetof(struct decode, follow) },
	{ .letter = 'o', .name = "output", .value = "PATH",
	  .help = "file to write to (default: standard output); directory for perf",
	  .set = cli_text, .offset = offsetof(struct decode, common.output) },
	{ .name = NULL }
};

static const struct cli_group decode_groups[] = {
	{ NULL, decode_options, 0 },
	{ NULL, options_time, offsetof(struct decode, common) },
	{ NULL, options_clock, offsetof(struct decode, common) },
	OPTIONS_GROUPS(struct decode, common),
	{ .options = NULL }
};

int64_t format_thread(struct threads *threads, const struct perfrec_record *record)
{
	const struct thread *thread;

	if (record->header && record->header->owned)
		threads_share(threads, record->channel);
	if (!(record->flags & PERFREC_NAMED) && !threads_shared(threads, record->channel))
		return -1;
	thread = threads_find(threads, record);
	return thread ? thread->tid : -1;
}

void format_time(const struct format_options *options, struct output *out, uint64_t time)
{
	if (input_is_utc(options->input)) {
		input_time(options->input, &time);
		put_number(out, time, 0);
	} else {
		put_time(out, time, options->hz, 0);
	}
}

/* Find names that the recorder has added to the side-car file. */
static void renew_names(void *context)
{
	struct decode *decode = context;
	const struct format_options *output = &decode->output;
	/* The symbols use the other one until they are renewed. */
	struct meta *next = &decode->newer[!decode->newest];

	if (decode->growing.state != FOLLOW_RUNS || !follow_outdated(&decode->growing))
		return;
	follow_open(&decode->growing);
	if (meta_read(decode->common.meta, decode->common.path, next) ||
	    !symbols_renew(output->symbols, next)) {
		meta_free(next);
		return;
	}
	symbols_clock(output->symbols, output->hz, trace_time_mask(output->input->trace));
	meta_free(&decode->newer[decode->newest]);
	decode->newest = !decode->newest;
}

/* Read the losses that the recorder has added to the side-car file, for the summary. */
static void renew_losses(const struct decode *decode, struct meta *meta)
{
	struct meta last;

	meta_init(&last);
	/*
	 * renew_names() may have read the same file, but only its names. The side-car file beside a
	 * replaced trace belongs to the other trace.
	 */
	if (decode->growing.state != FOLLOW_REPLACED &&
	    !meta_read(decode->common.meta, decode->common.path, &last)) {
		const struct meta_coverage coverage = meta->coverage;

		meta->coverage = last.coverage;
		meta->lost = last.lost;
		last.coverage = coverage;
	}
	meta_free(&last);
}

static int write_part(struct decode *decode, const struct format *format, void *context,
		      struct input *input)
{
	struct part part;
	int error;

	part_begin(&part, format, context, range_scope(input->from, input->to));
	if (decode->follow) {
		part.paused = renew_names;
		part.pausing = decode;
	}
	error = trace_run(input->trace, &part.ops, &part);
	if (!error && !part.scope.any && !input->options->trace.quiet)
		input_nothing(input, "records", &part.scope.span);
	return error;
}

static int write_records(struct decode *decode, struct input *input)
{
	const struct format *format = formats[decode->format];
	void *context;
	int error;

	if (decode->common.trace.jobs > 1)
		output_write_behind();
	context = format->open(&decode->output);
	if (!context)
		return EXIT_UNREADABLE;
	error = (input->limited || decode->follow) && !format->flow ?
		write_part(decode, format, context, input) :
		trace_run(input->trace, &format->ops, context);
	if (decode->follow)
		renew_losses(decode, &input->meta);
	return format->close(context) || error ? EXIT_UNREADABLE : EXIT_OK;
}

static int decode_trace(struct decode *decode, struct input *input)
{
	uint32_t channels = trace_channels(input->trace);
	const struct format *format = formats[decode->format];
	struct format_options *output = &decode->output;
	struct trace_stats also = { .backwards = 0 };
	int error;

	output->trace = options_first(&decode->common);
	output->output = decode->common.output;
	if (decode->common.symbols.files) {
		snprintf(decode->program, sizeof(decode->program), "%s",
			 decode->common.symbols.file[0]);
		symbols_split(decode->program, &(uint64_t){ 0 });
		output->elf = decode->program;
	} else {
		output->elf = input->meta.exe;
	}
	output->symbols = input->symbols;
	output->input = input;
	output->meta = &input->meta;
	output->hz = input->hz;
	output->backwards = &also.backwards;
	output->channels = channels & (channels - 1);
	output->threads = threads_new(&input->meta);
	if (!output->threads) {
		report("out of memory");
		return EXIT_UNREADABLE;
	}
	threads_wrap(output->threads, trace_time_mask(input->trace));
	error = write_records(decode, input);
	threads_free(output->threads);
	trace_add(input->trace, &also);
	if (also.backwards && !decode->common.trace.quiet)
		report("%s: %" PRIu64 " count%s went backwards, shown as unknown: records are in the wrong order, or the kernel's counts were wrong (Linux before 6.12)",
		       output->trace, also.backwards, also.backwards == 1 ? "" : "s");
	return error ? error :
	       input_summary(input, format == &format_perf ? INPUT_PERF :
				    format->flow ? INPUT_FLOW : INPUT_STORES);
}

/* Check -f, and begin to follow the trace. Return an exit code. */
static int begin_follow(struct decode *decode)
{
	struct options *common = &decode->common;
	const struct format *format = formats[decode->format];
	int result;

	if (format->flow || format == &format_perf)
		return usage_error("decode: -f does not apply to --format %s: it needs the whole trace",
				   format->name);
	if (common->parts)
		return usage_error("decode: -f follows one trace at a time: name one of them");
	common->trace.jobs = 1;
	common->trace.follow = &decode->growing;
	pager_disable();
	result = follow_begin(&decode->growing, common->path, common->meta);
	if (!result)
		follow_open(&decode->growing);
	return result;
}

static int command_decode(int argc, char **argv)
{
	struct decode decode = { .format = 0 };
	struct options *common = &decode.common;
	struct input input;
	int result, end;
	bool perf;

	options_init(common);
	common->threshold = UNITS_NO_TIME;
	common->symbols.demangle = DEMANGLE_UNSET;
	result = options_parse(&decode_command, &decode, common, OPTIONS_TRACES, argc, argv);
	if (result)
		return result;
	perf = formats[decode.format] == &format_perf;
	if (perf && common->symbols.demangle != DEMANGLE_UNSET)
		return usage_error("decode: --demangle does not apply to --format perf, which shows names as in the symbol table");
	if (common->clock == OPTIONS_CLOCK_UTC && formats[decode.format]->undated)
		return usage_error("decode: --format %s contains no wall-clock times: --clock cannot be combined with it",
				   formats[decode.format]->name);
	if (common->symbols.demangle == DEMANGLE_UNSET)
		common->symbols.demangle = perf ? DEMANGLE_NO : DEMANGLE_SIMPLE;
	common->trace.watched = !perf && !output_to_file(common->output);
	if (decode.follow)
		result = begin_follow(&decode);
	if (result)
		return result;
	result = input_open(&input, common);
	if (!result)
		result = decode_trace(&decode, &input);
	if (decode.follow) {
		end = follow_end(&decode.growing, &input.meta.coverage);
		result = result ? result : end;
	}
	input_close(&input);
	meta_free(&decode.newer[0]);
	meta_free(&decode.newer[1]);
	return result;
}

const struct cli_command decode_command = {
	.name = "decode",
	.run = command_decode,
	.summary = "print the records or instructions of a trace, one by one",
	.arguments = "TRACE...|-",
	.help = "Print the records of a trace one by one, and a summary to standard error." OPTIONS_SEVERAL,
	.groups = decode_groups,
	.status = OPTIONS_STATUS,
	.whole = true,
};

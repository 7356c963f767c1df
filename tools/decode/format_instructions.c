// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes the instructions of a trace, one per line, with the trace's records between them, or only
 * the instructions' addresses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "command.h"
#include "counters.h"
#include "disassembler.h"
#include "format.h"
#include "joined.h"
#include "options.h"
#include "output.h"
#include "pager.h"
#include "text.h"

/* Size limit of the cached lines. Beyond this limit, a block's lines are formatted each time. */
#define KEPT_BYTES_MAX	(64u << 20)
#define LINE_MAX_BYTES	1024
#define TIME_WIDTH	16
#define TEXT_WIDTH	32

/* The lines for a block's instructions, without times. Each line ends with a newline. */
struct lines {
	char		*text;
	uint32_t	*at;		/* offset of each halfword's line */
};

struct listing {
	struct output		*out;
	struct symbols		*symbols;
	struct code		*code;
	struct joined		*joined;
	struct disassembler	*disassembler;
	bool			plain;
	bool			no_memory;
	enum values		values;
	uint64_t		*backwards;
	struct counters		counters;	/* names of counters */
	const struct input	*input;
	struct range_scope	scope;		/* of --time */
	struct lines		*lines;		/* cached lines by block */
	uint32_t		room;
	size_t			kept;
	struct lines		passing;	/* lines of a block that is not cached */
	char			time[64];	/* time and source of a line */
	size_t			time_length;
	uint64_t		shown_time;
	unsigned int		shown_known;
	uint8_t			shown_src;
};

/* ---- lines ------------------------------------------------------------- */

static size_t make_line(struct listing *listing, const struct block *block, unsigned int at,
			char *line)
{
	const uint64_t address = block->start + 2 * at, place = block->place + 2 * at;
	char text[256], name[512];
	struct symbol symbol;
	int used;

	if (listing->plain)
		return (size_t)snprintf(line, LINE_MAX_BYTES, "%" PRIx64 "\n", address);
	disassembler_text(listing->disassembler, block->rv32, block->code + 2 * at,
			  block_length(block, at), address, text, sizeof(text));
	symbols_find(listing->symbols, place, &symbol);
	symbol_name(&symbol, place, name, sizeof(name));
	used = snprintf(line, LINE_MAX_BYTES, "  %#" PRIx64 "  %-*s  %s", address, TEXT_WIDTH,
			text, name);
	if (symbol.file && used < LINE_MAX_BYTES)
		used += snprintf(line + used, LINE_MAX_BYTES - (size_t)used, "  %s:%d",
				 symbol.file, symbol.line);
	if (used > LINE_MAX_BYTES - 2)
		used = LINE_MAX_BYTES - 2;
	line[used] = '\n';
	line[used + 1] = '\0';
	return (size_t)used + 1;
}

/* Return false if out of memory. */
static bool make_lines(struct listing *listing, const struct block *block, struct lines *to)
{
	size_t used = 0, room = 0;
	unsigned int at, length;
	char *grown;

	to->at = calloc(block->halfwords + 1u, sizeof(*to->at));
	for (at = 0; to->at && at < block->halfwords; at += length) {
		length = block_length(block, at);
		if (room - used < LINE_MAX_BYTES) {
			room = used + 4 * LINE_MAX_BYTES;
			grown = realloc(to->text, room);
			if (!grown)
				return false;
			to->text = grown;
		}
		to->at[at] = (uint32_t)used;
		used += make_line(listing, block, at, to->text + used);
	}
	if (!to->at)
		return false;
	to->at[block->halfwords] = (uint32_t)used;
	grown = realloc(to->text, used);
	to->text = grown ? grown : to->text;
	listing->kept += used + block->halfwords * sizeof(*to->at);
	return true;
}

static void forget(struct lines *lines)
{
	free(lines->text);
	free(lines->at);
	memset(lines, 0, sizeof(*lines));
}

/* Return the lines of a block, or NULL if out of memory. */
static const struct lines *find_lines(struct listing *listing, const struct block *block)
{
	struct lines *grown;

	if (block->id >= listing->room) {
		grown = realloc(listing->lines, 2 * (block->id + 1) * sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + listing->room, 0,
		       (2 * (block->id + 1) - listing->room) * sizeof(*grown));
		listing->lines = grown;
		listing->room = 2 * (block->id + 1);
	}
	if (listing->lines[block->id].text)
		return &listing->lines[block->id];
	if (listing->kept < KEPT_BYTES_MAX)
		return make_lines(listing, block, &listing->lines[block->id]) ?
		       &listing->lines[block->id] : NULL;
	forget(&listing->passing);
	return make_lines(listing, block, &listing->passing) ? &listing->passing : NULL;
}

/* ---- runs and events --------------------------------------------------- */

/* Set the prefix of all lines with this source and time. @time is valid unless @known is 0. */
static void set_stamp(struct listing *listing, unsigned int src, unsigned int known,
		      uint64_t time)
{
	uint64_t ns, hz;
	char text[20 + 10 + TEXT_SPARE], *to = text;
	char *line = listing->time;
	size_t length, width;

	if (known == listing->shown_known && time == listing->shown_time &&
	    src == listing->shown_src && listing->time_length)
		return;
	listing->shown_known = known;
	listing->shown_time = time;
	listing->shown_src = (uint8_t)src;
	hz = input_time(listing->input, &time);
	if (known == TIME_INFERRED)
		*to++ = '~';
	if (!known) {
		*to++ = '-';
	} else if (hz) {
		ns = (uint64_t)((unsigned __int128)time * 1000000000u / hz);
		to = text_number(to, ns / 1000000000u);
		*to++ = '.';
		*to++ = (char)('0' + ns % 1000000000u / TEXT_EIGHT_DIGITS);
		to = text_put_eight(to, text_eight((uint32_t)(ns % TEXT_EIGHT_DIGITS)) +
					TEXT_EIGHT_ZEROS);
	} else {
		to = text_number(to, time);
	}
	length = (size_t)(to - text);
	for (width = input_is_utc(listing->input) ? INPUT_UTC_WIDTH : TIME_WIDTH; width > length;
	     width--)
		*line++ = ' ';
	memcpy(line, text, length);
	line += length;
	memcpy(line, " [", 2);
	line = text_number(line + 2, src);
	*line++ = ']';
	listing->time_length = (size_t)(line - listing->time);
}

static void set_time(struct listing *listing, const struct flow_place *place)
{
	uint64_t time = 0;
	unsigned int known = flow_time(place, &time);

	set_stamp(listing, place->src, known, time);
}

/* If the trace has several sources, each address is preceded by its source. */
static void put_prefix(struct listing *listing)
{
	if (!listing->plain)
		put_bytes(listing->out, listing->time, listing->time_length);
	else if (trace_stats(listing->input->trace)->src_bits)
		put_format(listing->out, "%u ", listing->shown_src);
}

/* Return whether a position is in the range of --time. */
static bool is_inside(struct listing *listing, const struct flow_place *place)
{
	uint64_t time = 0;
	unsigned int known;

	if (!listing->input->limited)
		return true;
	known = flow_time(place, &time);
	return range_has(&listing->scope, known != TIME_UNKNOWN, time);
}

static void on_run(void *context, const struct flow_place *place, const struct flow_run *run)
{
	struct listing *listing = context;
	const struct lines *lines;
	uint64_t times = run->times;
	unsigned int at, next;

	if (!is_inside(listing, place))
		return;
	lines = find_lines(listing, run->block);
	if (!lines) {
		listing->no_memory = true;
		return;
	}
	if (listing->plain)
		listing->shown_src = place->src;
	else
		set_time(listing, place);
	if (listing->plain && !trace_stats(listing->input->trace)->src_bits) {
		for (; times && !output_failed(listing->out); times--)
			put_bytes(listing->out, lines->text + lines->at[run->from],
				  lines->at[run->to] - lines->at[run->from]);
		return;
	}
	for (; times && !output_failed(listing->out); times--) {
		for (at = run->from; at < run->to; at = next) {
			next = at + block_length(run->block, at);
			put_prefix(listing);
			put_bytes(listing->out, lines->text + lines->at[at],
				  lines->at[next] - lines->at[at]);
		}
	}
}

static void put_event(struct listing *listing, const struct flow_event *event)
{
	struct output *out = listing->out;

	switch (event->what) {
	case FLOW_STARTS:
		put_format(out, "  trace starts: %s\n", flow_sync_name(event->reason));
		break;
	case FLOW_STOPS:
		put_format(out, "  trace stops (EVCODE %u)\n", event->reason);
		break;
	case FLOW_LOST:
		put_format(out, "  %s%s", event->reason == FLOW_GAP_LEFT_OUT ? "" :
			   "instructions are missing: ", flow_gap_name(event->reason));
		if (event->known)
			put_format(out, ", from %#" PRIx64 " on", event->address);
		put_char(out, '\n');
		break;
	case FLOW_EXCEPTION:
		put_format(out, "  trap (BTYPE %u) at %#" PRIx64 "\n", event->reason,
			   event->address);
		break;
	case FLOW_CONTEXT:
	case FLOW_SWITCHES:
		put_format(out, "  %scontext %#" PRIx64 ", privilege %u%s\n",
			   event->what == FLOW_SWITCHES ? "switch to " : "",
			   NEXUS_PROCESS_CONTEXT(event->address),
			   NEXUS_PROCESS_PRV(event->address),
			   NEXUS_PROCESS_V(event->address) ? " of a guest" : "");
		break;
	}
}

static void on_event(void *context, const struct flow_place *place,
		     const struct flow_event *event)
{
	struct listing *listing = context;

	if (!is_inside(listing, place) || (listing->plain && event->what != FLOW_LOST))
		return;
	listing->shown_src = place->src;
	if (!listing->plain)
		set_time(listing, place);
	else
		put_char(listing->out, '#');
	put_prefix(listing);
	put_event(listing, event);
}

/* ---- records ----------------------------------------------------------- */

static void put_place(struct listing *listing, uint64_t address, const struct symbol *symbol)
{
	char name[512];

	symbol_name(symbol, address, name, sizeof(name));
	put_text(listing->out, name);
	if (symbol->file)
		put_format(listing->out, " (%s:%d)", text_base(symbol->file), symbol->line);
}

static void put_function(struct listing *listing, const struct perfrec_record *record)
{
	struct symbol symbol;

	put_format(listing->out, "  record: %s ", perfrec_type_name(record->type));
	if (!(record->flags & PERFREC_ADDRESS_KNOWN)) {
		put_char(listing->out, '-');
		return;
	}
	symbols_find(listing->symbols, record->address[0], &symbol);
	put_place(listing, record->address[0], &symbol);
	if (record->type > PERFREC_EXIT)
		return;
	put_string(listing->out, record->type == PERFREC_ENTER ? " <- " : " -> ");
	symbols_find_caller(listing->symbols, record->address[1], &symbol);
	put_place(listing, record->address[1], &symbol);
}

static void on_joined(void *context, const struct perfrec_record *record, bool misplaced)
{
	struct listing *listing = context;
	char name[PERFREC_COUNTERS][COUNTERS_NAME_SIZE];
	uint64_t value;
	unsigned int i;

	if (listing->plain ||
	    !range_has(&listing->scope, record->begin.time_known != TIME_UNKNOWN,
		       record->begin.time))
		return;
	set_stamp(listing, record->src, record->begin.time_known, record->begin.time);
	put_prefix(listing);
	symbols_where(listing->symbols, record);
	put_function(listing, record);
	counters_names(&listing->counters, record->header, record->counters, name);
	for (i = 0; i < record->counters; i++) {
		put_format(listing->out, "%s %s ", i ? "," : ":", name[i]);
		if (format_counter(listing->values, record, i, &value, listing->backwards))
			put_number(listing->out, value, 0);
		else
			put_char(listing->out, '-');
	}
	if (record->flags & PERFREC_AFTER_LOSS)
		put_string(listing->out, "  (records may be missing before it)");
	if (misplaced)
		put_string(listing->out, "  (place not exact)");
	put_char(listing->out, '\n');
}

static void on_record(void *context, const struct perfrec_record *record)
{
	struct listing *listing = context;

	listing->no_memory |= joined_record(listing->joined, record) != 0;
}

static void on_message(void *context, const struct nexus_message *message)
{
	struct listing *listing = context;

	listing->no_memory |= joined_message(listing->joined, message) != 0;
}

static void on_gap(void *context, const struct nexus_message *gap)
{
	struct listing *listing = context;

	joined_damaged(listing->joined, gap);
}

static void on_pause(void *context)
{
	struct listing *listing = context;

	listing->no_memory |= joined_flush(listing->joined) != 0;
	output_flush(listing->out);
}

static bool on_stop(void *context)
{
	struct listing *listing = context;

	return listing->no_memory || output_failed(listing->out);
}

/* ---- start and end ----------------------------------------------------- */

static const struct joined_ops joined_ops = {
	.flow = { .run = on_run, .event = on_event },
	.record = on_joined,
};

static void release(struct listing *listing)
{
	uint32_t i;

	for (i = 0; i < listing->room; i++)
		forget(&listing->lines[i]);
	free(listing->lines);
	forget(&listing->passing);
	joined_free(listing->joined);
	code_free(listing->code);
	disassembler_free(listing->disassembler);
	free(listing);
}

static void *open_listing(const struct format_options *options, bool plain)
{
	struct listing *listing = calloc(1, sizeof(*listing));

	if (!listing) {
		report("out of memory");
		return NULL;
	}
	listing->plain = plain;
	listing->symbols = options->symbols;
	listing->values = options->values;
	listing->backwards = options->backwards;
	listing->counters.meta = options->meta;
	listing->input = options->input;
	listing->scope = range_scope(options->input->from, options->input->to);
	listing->code = code_new(options->symbols,
				 (enum meta_calls)options->meta->calls);
	if (listing->code)
		listing->joined = joined_new(listing->code, &joined_ops, listing);
	if (!listing->joined) {
		report("out of memory");
		release(listing);
		return NULL;
	}
	listing->out = pager_open(options->output);
	if (!listing->out) {
		release(listing);
		return NULL;
	}
	if (plain)
		return listing;
	listing->disassembler = disassembler_new();
	if (!listing->disassembler)
		report(DISASSEMBLER_MISSING);
	return listing;
}

static void *instructions_open(const struct format_options *options)
{
	return open_listing(options, false);
}

static void *pc_open(const struct format_options *options)
{
	return open_listing(options, true);
}

static int listing_close(void *context)
{
	struct listing *listing = context;
	struct trace_stats made = { .bytes = 0 };
	int error;

	listing->no_memory |= joined_flush(listing->joined) != 0;
	made.flow_losses = flow_losses(joined_stats(listing->joined));
	trace_add(listing->input->trace, &made);
	error = output_close(listing->out);
	if (listing->no_memory) {
		report("out of memory: the rest of the trace was not read");
		error = -1;
	}
	if (!listing->input->options->trace.quiet) {
		flow_summary(joined_stats(listing->joined), listing->input->options->path);
		if (!listing->scope.any && trace_stats(listing->input->trace)->branches)
			input_nothing(listing->input, "instructions", &listing->scope.span);
	}
	if (listing->plain)
		analysis_no_records(listing->input);
	release(listing);
	return error;
}

const struct format format_instructions = {
	.name = "instructions",
	.help = "instruction trace: each instruction with its time, function and line, and the records between them",
	.open = instructions_open,
	.ops = { .record = on_record, .message = on_message, .gap = on_gap, .pause = on_pause,
		 .stop = on_stop },
	.close = listing_close,
	.flow = true,
};

const struct format format_pc = {
	.name = "pc",
	.help = "instruction trace: the address of each instruction",
	.open = pc_open,
	.ops = { .message = on_message, .gap = on_gap, .pause = on_pause, .stop = on_stop },
	.close = listing_close,
	.flow = true,
	.undated = true,
};

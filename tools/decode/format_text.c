// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes one record per line, for people and for grep: time, source, type, one column per counter,
 * and the function, indented by call depth. Other lines begin with '#'. Streams can record
 * different counters, so each counter name has a column, which is empty for records without that
 * counter.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "counters.h"
#include "coverage.h"
#include "format.h"
#include "options.h"
#include "output.h"
#include "pager.h"
#include "syscall_names.h"
#include "text.h"
#include "turns.h"
#include "units.h"

#define COUNTER_WIDTH	10
/* Maximum indentation, to keep lines readable. */
#define INDENT_MAX	32

/* State of a stream between records. */
struct stream {
	unsigned int	depth;
	unsigned int	counters;
	/* Columns of the stream's counters, valid for one generation. */
	unsigned int	generation;
	uint8_t		column[PERFREC_COUNTERS];
};

struct text {
	struct output	*out;
	const struct input *input;
	struct symbols	*symbols;
	struct threads	*threads;
	enum values	values;
	uint64_t	*backwards;
	bool		channels;	/* show the channel */
	size_t		time_width;
	/* A header begins a new generation of columns, because it may omit earlier counters. */
	unsigned int	generation;
	struct counters	counters;
	size_t		width[COUNTERS_MAX];
	/* Number of columns in the latest heading. */
	struct counters	heading;
	bool		renewed;	/* columns have been added since the latest line */
	struct stream	*stream[PERFREC_SOURCES][PERFREC_CHANNELS];
};

static void *text_open(const struct format_options *options)
{
	struct text *text = calloc(1, sizeof(*text));

	if (!text) {
		report("out of memory");
		return NULL;
	}
	text->generation = 1;
	text->heading.count = UINT_MAX;
	text->counters.meta = options->meta;
	text->input = options->input;
	text->symbols = options->symbols;
	text->threads = options->threads;
	text->time_width = input_is_utc(options->input) ? INPUT_UTC_WIDTH : 14;
	text->values = options->values;
	text->backwards = options->backwards;
	text->channels = options->channels;
	text->out = pager_open(options->output);
	if (!text->out) {
		free(text);
		return NULL;
	}
	return text;
}

static int text_close(void *context)
{
	struct text *text = context;
	char coverage[COVERAGE_SIZE];
	size_t src, channel;
	int error;

	if (*coverage_text(text->input, coverage))
		put_format(text->out, "# %s\n", coverage);
	error = output_close(text->out);
	for (src = 0; src < PERFREC_SOURCES; src++)
		for (channel = 0; channel < PERFREC_CHANNELS; channel++)
			free(text->stream[src][channel]);
	free(text);
	return error;
}

static void text_pause(void *context)
{
	struct text *text = context;

	output_flush(text->out);
}

static bool text_stop(void *context)
{
	struct text *text = context;

	return output_failed(text->out);
}

/* Return NULL if out of memory; the caller then omits the header or record. */
static struct stream *get_stream(struct text *text, unsigned int src,
				 unsigned int channel)
{
	struct stream **slot = &text->stream[src][channel];

	if (!*slot)
		*slot = calloc(1, sizeof(**slot));
	return *slot;
}

static void new_generation(struct text *text)
{
	text->generation++;
	text->counters.count = 0;
}

static void begin_stream(struct text *text, struct stream *stream)
{
	stream->depth = 0;
	new_generation(text);
}

/* Find or create a column for each of the record's counters. */
static void assign_columns(struct text *text, struct stream *stream,
			   const struct perfrec_record *record)
{
	unsigned int i;

	if (text->counters.count + record->counters > COUNTERS_MAX)
		new_generation(text);
	counters_assign(&text->counters, record->header, record->counters,
			stream->column);
	for (i = 0; i < record->counters; i++) {
		unsigned int c = stream->column[i];
		size_t width = strlen(text->counters.name[c]);

		text->width[c] = width < COUNTER_WIDTH ? COUNTER_WIDTH : width;
	}
	stream->counters = record->counters;
	stream->generation = text->generation;
	text->renewed = true;
}

static void put_heading(struct text *text)
{
	unsigned int i;

	put_char(text->out, '#');
	put_right(text->out, "time", text->time_width - 1);
	put_string(text->out, text->channels ? " src ch type  " : " src type  ");
	for (i = 0; i < text->counters.count; i++) {
		put_char(text->out, ' ');
		put_right(text->out, text->counters.name[i], text->width[i]);
	}
	put_string(text->out, "  function\n");
	text->heading = text->counters;
}

static bool same_heading(const struct text *text)
{
	unsigned int i;

	if (text->heading.count != text->counters.count)
		return false;
	for (i = 0; i < text->counters.count; i++)
		if (strcmp(text->heading.name[i], text->counters.name[i]))
			return false;
	return true;
}

static void text_header(void *context, const struct perfrec_header *header)
{
	struct text *text = context;
	struct stream *stream = get_stream(text, header->src, header->channel);
	char name[PERFREC_COUNTERS][COUNTERS_NAME_SIZE];
	unsigned int i;

	if (!stream)
		return;
	put_format(text->out, "# header %" PRIu32 " of source %u channel %u at 0x%" PRIx64
		   ": counts %s, %u counter%s", header->serial, header->src,
		   header->channel, header->begin.offset,
		   perfrec_count_type_name(header->count_type), header->counters,
		   header->counters == 1 ? "" : "s");
	if (header->owned)
		put_format(text->out, ", thread %" PRIu32 "%s", header->owner,
			   header->goes_on ? ", which continues" : "");
	put_char(text->out, '\n');
	counters_names(&text->counters, header, header->counters, name);
	for (i = 0; i < header->counters; i++) {
		const struct perfrec_counter *counter = &header->counter[i];

		text_clean(name[i]);
		put_format(text->out, "#   counter %-2" PRIu32 " %-22s %2" PRIu32 " bits",
			   counter->number, name[i], counter->width);
		if (counter->csr)
			put_format(text->out, "  csr 0x%03" PRIx32, counter->csr);
		put_char(text->out, '\n');
	}
	begin_stream(text, stream);
}

static void text_outside_header(void *context, const struct perfrec_header *header)
{
	struct text *text = context;
	struct stream *stream = get_stream(text, header->src, header->channel);

	if (stream)
		begin_stream(text, stream);
}

/* Write "main+0x12", or the address if there is no symbol. */
static void put_place(struct text *text, uint64_t address,
		      const struct symbol *symbol)
{
	if (symbol->function) {
		put_text(text->out, symbol->function);
		if (address == symbol->start)
			return;
		put_char(text->out, '+');
		address -= symbol->start;
	} else if (symbol->object) {
		put_text(text->out, symbol->object);
		put_char(text->out, '+');
		address = symbol->offset;
	}
	put_hex(text->out, address);
}

static void put_line(struct text *text, const struct symbol *symbol)
{
	if (!symbol->file)
		return;
	put_string(text->out, " (");
	put_text(text->out, text_base(symbol->file));
	put_char(text->out, ':');
	put_number(text->out, (uint64_t)symbol->line, 0);
	put_char(text->out, ')');
}

static void put_caller(struct text *text, uint64_t address)
{
	struct symbol symbol;

	symbols_find_caller(text->symbols, address, &symbol);
	put_place(text, address, &symbol);
	put_line(text, &symbol);
}

static void put_callers(struct text *text, const struct perfrec_record *record)
{
	uint64_t address[SIFIVE_TRACE_CALLERS_MAX];
	unsigned int count = symbols_callers(text->symbols, record, address), i;
	struct symbol symbol;

	for (i = 0; i < count; i++) {
		symbols_find_return(text->symbols, address[i], &symbol);
		put_string(text->out, " <- ");
		put_place(text, address[i] & ~1ull, &symbol);
		put_line(text, &symbol);
	}
}

/* Return the thread that a sample names, or NULL. */
static const struct thread *named_thread(struct text *text, const struct perfrec_record *record)
{
	return record->flags & PERFREC_NAMED && record->thread ?
	       threads_find(text->threads, record) : NULL;
}

/* Write the thread that a sample names. */
static void put_thread(struct text *text, const struct perfrec_record *record)
{
	const struct thread *thread = named_thread(text, record);

	if (!thread)
		return;
	put_string(text->out, ", ");
	put_text(text->out, thread->label);
}

static void put_function(struct text *text,
			 const struct perfrec_record *record)
{
	struct symbol symbol;

	if (!(record->flags & PERFREC_ADDRESS_KNOWN) && record->header) {
		put_string(text->out, "address lost");
		return;
	}
	symbols_where(text->symbols, record);
	symbols_find(text->symbols, record->address[0], &symbol);
	put_place(text, record->address[0], &symbol);
	if (record->type == PERFREC_ENTER) {
		put_string(text->out, " <- ");
		put_caller(text, record->address[1]);
	} else if (record->type == PERFREC_EXIT) {
		put_string(text->out, " -> ");
		put_caller(text, record->address[1]);
	} else {
		put_line(text, &symbol);
		put_callers(text, record);
		put_thread(text, record);
	}
	if (!record->header)
		put_string(text->out, " ?");
}

bool format_counter(enum values values, const struct perfrec_record *record,
		    unsigned int i, uint64_t *value, uint64_t *backwards)
{
	if (values == VALUES_RAW || !record->header) {
		*value = record->sent[i];
		return true;
	}
	if (values == VALUES_DELTA) {
		*value = record->delta[i];
		if (!(record->flags & PERFREC_DELTA_KNOWN) || turns_change(record, i))
			return false;
		if (!counters_backwards(record, i, *value))
			return true;
		++*backwards;
		return false;
	}
	*value = record->value[i];
	return record->flags & PERFREC_VALUE_KNOWN;
}

static void put_counters(struct text *text, const struct stream *stream,
			 const struct perfrec_record *record)
{
	int counter[COUNTERS_MAX];
	uint64_t value;
	unsigned int i;

	memset(counter, -1, text->counters.count * sizeof(counter[0]));
	for (i = 0; i < record->counters; i++)
		counter[stream->column[i]] = (int)i;
	for (i = 0; i < text->counters.count; i++) {
		put_char(text->out, ' ');
		if (counter[i] < 0)
			put_spaces(text->out, text->width[i]);
		else if (format_counter(text->values, record,
					(unsigned int)counter[i], &value,
					text->backwards))
			put_number(text->out, value, text->width[i]);
		else
			put_right(text->out, "-", text->width[i]);
	}
}

static void text_marks(void *context, const struct perfrec_record *record)
{
	struct text *text = context;
	char time[UNITS_SIZE];

	if (record->dropped)
		put_format(text->out, "# source %u channel %u: its thread dropped %" PRIu64
			   " record%s here: the buffer had no room\n", record->src,
			   record->channel, record->dropped, record->dropped == 1 ? "" : "s");
	if (record->waited)
		put_format(text->out, "# source %u channel %u: its thread waited %s here: the buffer had no room\n",
			   record->src, record->channel,
			   units_time(time, record->waited, 1000000000));
}

/* Write the part of a line before the counters. */
static void begin_line(struct text *text, const struct perfrec_stamp *stamp, unsigned int src,
		       unsigned int channel, const char *type)
{
	uint64_t time = stamp->time;
	const uint64_t hz = input_time(text->input, &time);

	if (stamp->time_known == TIME_INFERRED)
		put_inferred(text->out, time, hz, text->time_width);
	else if (stamp->time_known)
		put_time(text->out, time, hz, text->time_width);
	else
		put_right(text->out, "-", text->time_width);
	put_number(text->out, src, 4);
	if (text->channels)
		put_number(text->out, channel, 3);
	put_char(text->out, ' ');
	put_left(text->out, type, 6);
}

/* Update the columns and the depth. Return the record's stream, or NULL if out of memory. */
static struct stream *follow(struct text *text, const struct perfrec_record *record)
{
	struct stream *stream = get_stream(text, record->src, record->channel);

	if (!stream)
		return NULL;
	if (stream->generation != text->generation || stream->counters != record->counters)
		assign_columns(text, stream, record);
	if (record->type == PERFREC_ENTER)
		stream->depth++;
	else if (record->type == PERFREC_EXIT && stream->depth)
		stream->depth--;
	return stream;
}

/* Later records depend on their stream's state, and on the thread that this record names. */
static void text_outside(void *context, const struct perfrec_record *record)
{
	struct text *text = context;

	if (follow(text, record))
		named_thread(text, record);
}

static void text_record(void *context, const struct perfrec_record *record)
{
	struct text *text = context;
	unsigned int depth;
	struct stream *stream = follow(text, record);

	if (!stream)
		return;
	if (text->renewed) {
		text->renewed = false;
		if (!same_heading(text))
			put_heading(text);
	}
	if (record->flags & PERFREC_MARKED)
		text_marks(text, record);

	begin_line(text, &record->address_end, record->src, record->channel,
		   perfrec_type_name(record->type));
	put_counters(text, stream, record);

	depth = stream->depth - (record->type == PERFREC_ENTER);
	put_spaces(text->out, 2 + 2 * (depth < INDENT_MAX ? depth : INDENT_MAX));
	put_function(text, record);
	put_char(text->out, '\n');
}

static void text_lost(void *context, const struct perfrec_loss *loss)
{
	struct text *text = context;

	put_format(text->out, "# 0x%" PRIx64 ": source %u channel %u: %" PRIu64
		   " word%s dropped: %s\n", loss->offset, loss->src,
		   loss->channel, loss->words, loss->words == 1 ? "" : "s",
		   perfrec_reason_name(loss->reason));
}

static void text_gap(void *context, const struct nexus_message *gap)
{
	struct text *text = context;

	put_format(text->out, "# 0x%" PRIx64 ": %" PRIu64 " byte%s skipped: %s\n",
		   gap->offset, gap->length, gap->length == 1 ? "" : "s",
		   nexus_gap_name(gap->gap));
}

static void text_error(void *context, const struct nexus_message *error)
{
	struct text *text = context;

	put_format(text->out, "# 0x%" PRIx64 ": source %u: the encoder lost messages"
		   " (error type %u, code 0x%" PRIx64 ")\n", error->offset,
		   error->src, error->fixed[0], error->field[0]);
}

static void text_ownership(void *context, const struct nexus_message *message)
{
	uint64_t process = message->field[0];
	struct text *text = context;

	put_format(text->out, "# 0x%" PRIx64 ": source %u: context 0x%" PRIx64
		   " of privilege %u%s (format %u)\n", message->offset,
		   message->src, NEXUS_PROCESS_CONTEXT(process),
		   NEXUS_PROCESS_PRV(process),
		   NEXUS_PROCESS_V(process) ? ", virtual" : "",
		   NEXUS_PROCESS_FORMAT(process));
}

static void put_fault(struct text *text, const struct trace_switch *record)
{
	struct symbol symbol;

	put_format(text->out, "  page 0x%" PRIx64 "%s  ", record->page,
		   record->major ? ", major" : "");
	symbols_when(text->symbols, &record->stamp);
	symbols_find(text->symbols, record->pc, &symbol);
	put_place(text, record->pc, &symbol);
	put_line(text, &symbol);
	put_char(text->out, '\n');
}

static void text_switched(void *context, const struct trace_switch *record)
{
	struct text *text = context;

	begin_line(text, &record->stamp, record->src,
		   (unsigned int)trace_stats(text->input->trace)->switches.channel,
		   switches_name(record->kind));
	if (record->kind == SIFIVE_TRACE_SWITCH_BEGIN)
		put_string(text->out, "  which thread runs\n");
	else if (record->kind == SIFIVE_TRACE_SWITCH_CALL && syscall_name(record->thread))
		put_format(text->out, "  %s\n", syscall_name(record->thread));
	else if (record->kind == SIFIVE_TRACE_SWITCH_CALL)
		put_format(text->out, "  system call %" PRIu32 "\n", record->thread);
	else if (record->kind == SIFIVE_TRACE_SWITCH_RETURN)
		put_format(text->out, "  %" PRId32 "\n", (int32_t)record->thread);
	else if (record->kind == SIFIVE_TRACE_SWITCH_FAULT)
		put_fault(text, record);
	else if (!record->thread)
		put_string(text->out, "  no thread\n");
	else
		put_format(text->out, "  thread %" PRIu32 "\n", record->thread);
}

const struct format format_text = {
	.name = "text",
	.help = "readable text (default)",
	.open = text_open,
	.ops = {
		.header = text_header,
		.record = text_record,
		.lost = text_lost,
		.marks = text_marks,
		.gap = text_gap,
		.error = text_error,
		.ownership = text_ownership,
		.switched = text_switched,
		.pause = text_pause,
		.stop = text_stop,
	},
	.close = text_close,
	.outside = { .header = text_outside_header, .record = text_outside },
};

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * One record a line, for people and for grep: time, source, type, one column
 * per counter, and the function, indented by how deep its calls are nested.
 * Everything else is a line that begins with '#'.
 *
 * Streams may record different counters: a column is a counter's name, and a
 * record leaves those empty that it does not have.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "format.h"

#define TIME_WIDTH	14
#define COUNTER_WIDTH	10
/* Deeper calls are no longer indented further: lines stay readable. */
#define INDENT_MAX	32
/* At least as many as one record has. */
#define COLUMNS_MAX	64

struct column {
	char	name[PERFREC_NAME_SIZE];
	int	width;
};

/* What is remembered of a stream from record to record. */
struct stream {
	unsigned int	depth;
	unsigned int	counters;
	/* Where its counters go, valid for one generation of columns. */
	unsigned int	generation;
	uint8_t		column[PERFREC_COUNTERS];
};

struct text {
	FILE		*out;
	const char	*name;
	struct symbols	*symbols;
	enum values	values;
	bool		channels;	/* show which channel */
	int		error;		/* errno of the first failed write */
	/* A header begins a new generation: older counters may be gone. */
	unsigned int	generation;
	unsigned int	columns;
	struct column	column[COLUMNS_MAX];
	/* Columns that the latest heading names. */
	unsigned int	headings;
	struct column	heading[COLUMNS_MAX];
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
	text->headings = UINT_MAX;
	text->symbols = options->symbols;
	text->values = options->values;
	text->channels = options->channel == TRACE_ALL_CHANNELS;
	text->out = stdout;
	text->name = "standard output";
	if (options->output) {
		text->name = options->output;
		text->out = fopen(options->output, "w");
	}
	if (!text->out) {
		report("%s: cannot write: %s", options->output, strerror(errno));
		free(text);
		return NULL;
	}
	return text;
}

/* Right after a write, while errno still tells why it failed. */
static void note_error(struct text *text)
{
	if (ferror(text->out) && !text->error)
		text->error = errno ? errno : EIO;
}

static int text_close(void *context)
{
	struct text *text = context;
	size_t src, channel;
	int error;

	if (fflush(text->out))
		note_error(text);
	if (text->out != stdout && fclose(text->out) && !text->error)
		text->error = errno;
	error = text->error;
	if (error && error != EPIPE)
		report("%s: cannot write: %s", text->name, strerror(error));
	for (src = 0; src < PERFREC_SOURCES; src++)
		for (channel = 0; channel < PERFREC_CHANNELS; channel++)
			free(text->stream[src][channel]);
	free(text);
	return error ? -1 : 0;
}

static bool text_stop(void *context)
{
	struct text *text = context;

	return text->error;
}

/* Return NULL without memory: what it is for is then left out. */
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
	text->columns = 0;
}

static void name_counter(const struct perfrec_header *header, unsigned int i,
			 char *name)
{
	if (header)
		perfrec_counter_name(&header->counter[i], name,
				     PERFREC_NAME_SIZE);
	else
		snprintf(name, PERFREC_NAME_SIZE, "counter%u?", i);
}

/* Find or make a column for each of the record's counters. */
static void assign_columns(struct text *text, struct stream *stream,
			   const struct perfrec_record *record)
{
	bool used[COLUMNS_MAX] = { false };
	char name[PERFREC_NAME_SIZE];
	unsigned int i, c;

	if (text->columns + record->counters > COLUMNS_MAX)
		new_generation(text);
	for (i = 0; i < record->counters; i++) {
		struct column *column;

		name_counter(record->header, i, name);
		for (c = 0; c < text->columns; c++)
			if (!used[c] && !strcmp(name, text->column[c].name))
				break;
		column = &text->column[c];
		if (c == text->columns) {
			text->columns++;
			memcpy(column->name, name, sizeof(name));
			column->width = (int)strlen(name);
			if (column->width < COUNTER_WIDTH)
				column->width = COUNTER_WIDTH;
		}
		used[c] = true;
		stream->column[i] = (uint8_t)c;
	}
	stream->counters = record->counters;
	stream->generation = text->generation;
}

static void put_heading(struct text *text)
{
	unsigned int i;

	fprintf(text->out, "#%*s %3s%s %-6s", TIME_WIDTH - 1, "time", "src",
		text->channels ? " ch" : "", "type");
	for (i = 0; i < text->columns; i++) {
		fprintf(text->out, " %*s", text->column[i].width,
			text->column[i].name);
		text->heading[i] = text->column[i];
	}
	fputs("  function\n", text->out);
	text->headings = text->columns;
}

static bool same_heading(const struct text *text)
{
	unsigned int i;

	if (text->headings != text->columns)
		return false;
	for (i = 0; i < text->columns; i++)
		if (strcmp(text->heading[i].name, text->column[i].name))
			return false;
	return true;
}

static void text_header(void *context, const struct perfrec_header *header)
{
	struct text *text = context;
	struct stream *stream = get_stream(text, header->src, header->channel);
	char name[PERFREC_NAME_SIZE];
	unsigned int i;

	if (!stream)
		return;
	fprintf(text->out, "# header %" PRIu32 " of source %u channel %u at 0x%" PRIx64
		": counts %s, %u counter%s\n", header->serial, header->src,
		header->channel, header->begin.offset,
		perfrec_count_type_name(header->count_type), header->counters,
		header->counters == 1 ? "" : "s");
	for (i = 0; i < header->counters; i++) {
		const struct perfrec_counter *counter = &header->counter[i];

		perfrec_counter_name(counter, name, sizeof(name));
		fprintf(text->out, "#   counter %-2" PRIu32 " %-22s %2" PRIu32 " bits",
			counter->number, name, counter->width);
		if (counter->csr)
			fprintf(text->out, "  csr 0x%03" PRIx32, counter->csr);
		fputc('\n', text->out);
	}
	stream->depth = 0;
	new_generation(text);
}

/* "main+0x12", or the address where there is no symbol. */
static void put_place(struct text *text, uint64_t address,
		      const struct symbol *symbol)
{
	if (!symbol->function)
		fprintf(text->out, "0x%" PRIx64, address);
	else if (address == symbol->start)
		fputs(symbol->function, text->out);
	else
		fprintf(text->out, "%s+0x%" PRIx64, symbol->function,
			address - symbol->start);
}

static void put_line(struct text *text, const struct symbol *symbol)
{
	const char *base;

	if (!symbol->file)
		return;
	base = strrchr(symbol->file, '/');
	fprintf(text->out, " (%s:%d)", base ? base + 1 : symbol->file,
		symbol->line);
}

/*
 * A call site is where the call returns to: the call itself, and maybe its
 * function's end, is before that. A function's first address is taken as it
 * is: some writers give only that for the caller.
 */
static void put_caller(struct text *text, uint64_t address)
{
	struct symbol symbol;

	symbols_find(text->symbols, address, &symbol);
	if (!symbol.function || symbol.start != address)
		symbols_find(text->symbols, address - 1, &symbol);
	put_place(text, address, &symbol);
	put_line(text, &symbol);
}

static void put_function(struct text *text,
			 const struct perfrec_record *record)
{
	struct symbol symbol;

	if (!(record->flags & PERFREC_ADDRESS_KNOWN) && record->header) {
		fprintf(text->out, "address lost");
		return;
	}
	symbols_find(text->symbols, record->address[0], &symbol);
	put_place(text, record->address[0], &symbol);
	if (record->type == PERFREC_ENTER) {
		fputs(" <- ", text->out);
		put_caller(text, record->address[1]);
	} else if (record->type == PERFREC_EXIT) {
		fputs(" -> ", text->out);
		put_caller(text, record->address[1]);
	} else {
		put_line(text, &symbol);
	}
	if (!record->header)
		fputs(" ?", text->out);
}

static bool counter_value(const struct text *text,
			  const struct perfrec_record *record, unsigned int i,
			  uint64_t *value)
{
	if (text->values == VALUES_RAW || !record->header) {
		*value = record->sent[i];
		return true;
	}
	if (text->values == VALUES_DELTA) {
		*value = record->delta[i];
		return record->flags & PERFREC_DELTA_KNOWN;
	}
	*value = record->value[i];
	return record->flags & PERFREC_VALUE_KNOWN;
}

static void put_counters(struct text *text, const struct stream *stream,
			 const struct perfrec_record *record)
{
	int counter[COLUMNS_MAX];
	uint64_t value;
	unsigned int i;

	memset(counter, -1, sizeof(counter));
	for (i = 0; i < record->counters; i++)
		counter[stream->column[i]] = (int)i;
	for (i = 0; i < text->columns; i++) {
		int width = text->column[i].width;

		if (counter[i] < 0)
			fprintf(text->out, " %*s", width, "");
		else if (counter_value(text, record, (unsigned int)counter[i],
				       &value))
			fprintf(text->out, " %*" PRIu64, width, value);
		else
			fprintf(text->out, " %*s", width, "-");
	}
}

static void text_record(void *context, const struct perfrec_record *record)
{
	struct text *text = context;
	struct stream *stream = get_stream(text, record->src, record->channel);

	if (!stream)
		return;
	if (stream->generation != text->generation ||
	    stream->counters != record->counters) {
		assign_columns(text, stream, record);
		if (!same_heading(text))
			put_heading(text);
	}

	if (record->address_end.time_known)
		fprintf(text->out, "%*" PRIu64, TIME_WIDTH,
			record->address_end.time);
	else
		fprintf(text->out, "%*s", TIME_WIDTH, "-");
	fprintf(text->out, " %3u", record->src);
	if (text->channels)
		fprintf(text->out, " %2u", record->channel);
	fprintf(text->out, " %-6s", perfrec_type_name(record->type));
	put_counters(text, stream, record);

	if (record->type == PERFREC_EXIT && stream->depth)
		stream->depth--;
	fprintf(text->out, "  %*s", 2 * (int)(stream->depth < INDENT_MAX ?
					      stream->depth : INDENT_MAX), "");
	if (record->type == PERFREC_ENTER)
		stream->depth++;
	put_function(text, record);
	fputc('\n', text->out);
	note_error(text);
}

static void text_lost(void *context, const struct perfrec_loss *loss)
{
	struct text *text = context;

	fprintf(text->out, "# 0x%" PRIx64 ": source %u channel %u: %" PRIu64
		" word%s dropped: %s\n", loss->offset, loss->src, loss->channel,
		loss->words, loss->words == 1 ? "" : "s", perfrec_reason_name(loss->reason));
}

static void text_gap(void *context, const struct nexus_message *gap)
{
	struct text *text = context;

	fprintf(text->out, "# 0x%" PRIx64 ": %" PRIu64 " byte%s skipped: %s\n",
		gap->offset, gap->length, gap->length == 1 ? "" : "s",
		nexus_gap_name(gap->gap));
}

static void text_error(void *context, const struct nexus_message *error)
{
	struct text *text = context;

	fprintf(text->out, "# 0x%" PRIx64 ": source %u: the encoder lost messages"
		" (error type %u, code 0x%" PRIx64 ")\n", error->offset,
		error->src, error->fixed[0], error->field[0]);
}

const struct format format_text = {
	.name = "text",
	.open = text_open,
	.ops = {
		.header = text_header,
		.record = text_record,
		.lost = text_lost,
		.gap = text_gap,
		.error = text_error,
		.stop = text_stop,
	},
	.close = text_close,
};

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes comma-separated values, one record per line. The first line names the columns, which
 * include the counters that the headers before the first record define.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "counters.h"
#include "format.h"
#include "options.h"
#include "output.h"

struct csv {
	struct output	*out;
	struct format_options with;
	struct counters	counters;
	unsigned int	columns;	/* number of counters named in the first line */
	bool		begun;
	bool		warned;
};

static void *csv_open(const struct format_options *options)
{
	struct csv *csv = calloc(1, sizeof(*csv));

	if (!csv) {
		report("out of memory");
		return NULL;
	}
	csv->with = *options;
	csv->counters.meta = options->meta;
	csv->out = output_open(options->output);
	if (!csv->out) {
		free(csv);
		return NULL;
	}
	return csv;
}

static int csv_close(void *context)
{
	struct csv *csv = context;
	int error = output_close(csv->out);

	free(csv);
	return error;
}

static void csv_pause(void *context)
{
	struct csv *csv = context;

	output_flush(csv->out);
}

static bool csv_stop(void *context)
{
	struct csv *csv = context;

	return output_failed(csv->out);
}

static void csv_header(void *context, const struct perfrec_header *header)
{
	uint8_t column[PERFREC_COUNTERS];
	struct csv *csv = context;

	if (!csv->begun)
		counters_assign(&csv->counters, header, header->counters, column);
}

static void begin(struct csv *csv)
{
	unsigned int i;

	put_string(csv->out, input_is_utc(csv->with.input) ? "unix_ns" :
			     csv->with.hz ? "seconds" : "ticks");
	put_string(csv->out, ",source,channel,type,address,function,file,line,caller_address,caller");
	for (i = 0; i < csv->counters.count; i++) {
		put_char(csv->out, ',');
		put_field(csv->out, csv->counters.name[i]);
	}
	put_string(csv->out, ",time,thread,note\n");
	csv->columns = csv->counters.count;
	csv->begun = true;
}

static void put_function(struct csv *csv, const struct symbol *symbol)
{
	if (symbol->function)
		put_field(csv->out, symbol->function);
}

static void put_addresses(struct csv *csv, const struct perfrec_record *record)
{
	struct symbol symbol;

	symbols_where(csv->with.symbols, record);
	if (!(record->flags & PERFREC_ADDRESS_KNOWN) && record->header) {
		put_string(csv->out, ",,,,,");
		return;
	}
	put_hex(csv->out, record->address[0]);
	put_char(csv->out, ',');
	symbols_find(csv->with.symbols, record->address[0], &symbol);
	put_function(csv, &symbol);
	put_char(csv->out, ',');
	if (symbol.file)
		put_field(csv->out, symbol.file);
	put_char(csv->out, ',');
	if (symbol.file)
		put_number(csv->out, (uint64_t)symbol.line, 0);
	put_char(csv->out, ',');
	if (record->addresses == 2) {
		put_hex(csv->out, record->address[1]);
		put_char(csv->out, ',');
		symbols_find_caller(csv->with.symbols, record->address[1], &symbol);
		put_function(csv, &symbol);
	} else {
		put_char(csv->out, ',');
	}
}

static void put_counters(struct csv *csv, const struct perfrec_record *record)
{
	uint8_t column[PERFREC_COUNTERS];
	int counter[COUNTERS_MAX];
	uint64_t value;
	unsigned int i;

	memset(counter, -1, sizeof(counter));
	counters_assign(&csv->counters, record->header, record->counters, column);
	for (i = 0; i < record->counters; i++)
		if (column[i] != COUNTERS_NONE)
			counter[column[i]] = (int)i;
	for (i = 0; i < csv->columns; i++) {
		put_char(csv->out, ',');
		if (counter[i] >= 0 &&
		    format_counter(csv->with.values, record, (unsigned int)counter[i],
				   &value, csv->with.backwards))
			put_number(csv->out, value, 0);
	}
	if (csv->counters.count > csv->columns && !csv->warned) {
		csv->warned = true;
		report("a later header defines more counters, such as %s: they have no column (use --format json to see all counters)",
		       csv->counters.name[csv->columns]);
	}
}

static void put_thread(struct csv *csv, const struct perfrec_record *record)
{
	int64_t tid = format_thread(csv->with.threads, record);

	put_char(csv->out, ',');
	if (tid >= 0)
		put_number(csv->out, (uint64_t)tid, 0);
}

/* The threads of later records can depend on the thread that this record names. */
static void csv_outside(void *context, const struct perfrec_record *record)
{
	const struct csv *csv = context;

	format_thread(csv->with.threads, record);
}

/* Write the note: what precedes the record, and whether its layout is guessed. */
static void put_note(struct csv *csv, const struct perfrec_record *record)
{
	const bool dropped = record->flags & PERFREC_MARKED && record->dropped;

	put_char(csv->out, ',');
	if (!record->header)
		put_string(csv->out, "layout guessed");
	if (!record->header && (dropped || record->flags & PERFREC_AFTER_LOSS))
		put_string(csv->out, "; ");
	if (dropped)
		put_format(csv->out, "%" PRIu64 " record%s dropped before it", record->dropped,
			   record->dropped == 1 ? "" : "s");
	else if (record->flags & PERFREC_AFTER_LOSS)
		put_string(csv->out, "records may be missing before it");
}

static void csv_record(void *context, const struct perfrec_record *record)
{
	struct csv *csv = context;

	if (!csv->begun)
		begin(csv);
	if (record->address_end.time_known)
		format_time(&csv->with, csv->out, record->address_end.time);
	put_char(csv->out, ',');
	put_number(csv->out, record->src, 0);
	put_char(csv->out, ',');
	put_number(csv->out, record->channel, 0);
	put_char(csv->out, ',');
	put_string(csv->out, perfrec_type_name(record->type));
	put_char(csv->out, ',');
	put_addresses(csv, record);
	put_counters(csv, record);
	put_char(csv->out, ',');
	put_string(csv->out, perfrec_time_name(record->address_end.time_known));
	put_thread(csv, record);
	put_note(csv, record);
	put_char(csv->out, '\n');
}

const struct format format_csv = {
	.name = "csv",
	.help = "comma-separated values",
	.open = csv_open,
	.ops = {
		.header = csv_header,
		.record = csv_record,
		.pause = csv_pause,
		.stop = csv_stop,
	},
	.close = csv_close,
	.outside = { .header = csv_header, .record = csv_outside },
};

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes one JSON object per line. "kind" is enter, exit, manual or sample for a record; header,
 * lost, marks, gap, error, ownership or switch for any other item; and coverage in the last line.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "command.h"
#include "counters.h"
#include "coverage.h"
#include "format.h"
#include "options.h"
#include "output.h"

struct json {
	struct output	*out;
	struct format_options with;
	struct counters	counters;
};

static void *json_open(const struct format_options *options)
{
	struct json *json = calloc(1, sizeof(*json));

	if (!json) {
		report("out of memory");
		return NULL;
	}
	json->with = *options;
	json->counters.meta = options->meta;
	json->out = output_open(options->output);
	if (!json->out) {
		free(json);
		return NULL;
	}
	return json;
}

static int json_close(void *context)
{
	struct json *json = context;
	char text[COVERAGE_SIZE];
	int error;

	if (*coverage_text(json->with.input, text)) {
		put_string(json->out, "{\"kind\":\"coverage\",");
		coverage_json(json->with.input, json->out);
		put_string(json->out, "}\n");
	}
	error = output_close(json->out);
	free(json);
	return error;
}

static void json_pause(void *context)
{
	struct json *json = context;

	output_flush(json->out);
}

static bool json_stop(void *context)
{
	struct json *json = context;

	return output_failed(json->out);
}

/* {"kind":"enter","source":0,"channel":6 */
static void begin(struct json *json, const char *kind, unsigned int src,
		  unsigned int channel)
{
	put_string(json->out, "{\"kind\":\"");
	put_string(json->out, kind);
	put_string(json->out, "\",\"source\":");
	put_number(json->out, src, 0);
	put_string(json->out, ",\"channel\":");
	put_number(json->out, channel, 0);
}

static void json_header(void *context, const struct perfrec_header *header)
{
	struct json *json = context;
	char name[PERFREC_COUNTERS][COUNTERS_NAME_SIZE];
	unsigned int i;

	begin(json, "header", header->src, header->channel);
	put_format(json->out, ",\"offset\":%" PRIu64 ",\"count_type\":\"%s\",\"counters\":[",
		   header->begin.offset,
		   perfrec_count_type_name(header->count_type));
	counters_names(&json->counters, header, header->counters, name);
	for (i = 0; i < header->counters; i++) {
		const struct perfrec_counter *counter = &header->counter[i];

		put_string(json->out, i ? ",{\"name\":" : "{\"name\":");
		put_json(json->out, name[i]);
		put_format(json->out, ",\"number\":%" PRIu32 ",\"type\":%" PRIu32
			   ",\"code\":%" PRIu32 ",\"event_data\":\"0x%" PRIx64
			   "\",\"csr\":%" PRIu32 ",\"bits\":%" PRIu32 "}",
			   counter->number, counter->type, counter->code,
			   counter->event_data, counter->csr, counter->width);
	}
	put_char(json->out, ']');
	if (header->owned)
		put_format(json->out, ",\"thread\":%" PRIu32, header->owner);
	put_string(json->out, "}\n");
}

static void put_symbol(struct json *json, const struct symbol *symbol,
		       const char *prefix)
{
	if (symbol->function) {
		put_format(json->out, ",\"%sfunction\":", prefix);
		put_json(json->out, symbol->function);
	}
	if (symbol->object) {
		put_format(json->out, ",\"%sobject\":", prefix);
		put_json(json->out, symbol->object);
	}
	if (symbol->file) {
		put_format(json->out, ",\"%sfile\":", prefix);
		put_json(json->out, symbol->file);
		put_format(json->out, ",\"%sline\":%d", prefix, symbol->line);
	}
}

/* Write a sample's callers, innermost first. */
static void put_callers(struct json *json, const struct perfrec_record *record)
{
	uint64_t address[SIFIVE_TRACE_CALLERS_MAX];
	unsigned int count = symbols_callers(json->with.symbols, record, address), i;
	struct symbol symbol;

	if (!perfrec_callers(record))
		return;
	put_string(json->out, ",\"callers\":[");
	for (i = 0; i < count; i++) {
		put_format(json->out, "%s{\"address\":\"0x%" PRIx64 "\"", i ? "," : "",
			   address[i] & ~(uint64_t)1);
		symbols_find_return(json->with.symbols, address[i], &symbol);
		put_symbol(json, &symbol, "");
		put_char(json->out, '}');
	}
	put_char(json->out, ']');
}

static void put_addresses(struct json *json, const struct perfrec_record *record)
{
	struct symbol symbol;

	symbols_where(json->with.symbols, record);
	if (!(record->flags & PERFREC_ADDRESS_KNOWN) && record->header)
		return;
	put_format(json->out, ",\"address\":\"0x%" PRIx64 "\"", record->address[0]);
	symbols_find(json->with.symbols, record->address[0], &symbol);
	put_symbol(json, &symbol, "");
	put_callers(json, record);
	if (record->addresses < 2)
		return;
	put_format(json->out, ",\"caller_address\":\"0x%" PRIx64 "\"",
		   record->address[1]);
	symbols_find_caller(json->with.symbols, record->address[1], &symbol);
	put_symbol(json, &symbol, "caller_");
}

static void put_marks(struct json *json, const struct perfrec_record *record)
{
	if (record->dropped)
		put_format(json->out, ",\"dropped\":%" PRIu64, record->dropped);
	if (record->waited)
		put_format(json->out, ",\"waited_ns\":%" PRIu64, record->waited);
}

/* Write marks that are not followed by a record. */
static void json_marks(void *context, const struct perfrec_record *record)
{
	struct json *json = context;

	begin(json, "marks", record->src, record->channel);
	put_marks(json, record);
	put_string(json->out, "}\n");
}

static void put_stamp(struct json *json, const struct perfrec_stamp *stamp)
{
	if (stamp->time_known) {
		put_string(json->out, input_is_utc(json->with.input) ? ",\"unix_ns\":" :
				      json->with.hz ? ",\"seconds\":" : ",\"ticks\":");
		format_time(&json->with, json->out, stamp->time);
	}
	if (stamp->time_known != TIME_EXACT)
		put_format(json->out, ",\"time\":\"%s\"",
			   perfrec_time_name(stamp->time_known));
}

/* The threads of later records can depend on the thread that this record names. */
static void json_outside(void *context, const struct perfrec_record *record)
{
	const struct json *json = context;

	format_thread(json->with.threads, record);
}

static void json_record(void *context, const struct perfrec_record *record)
{
	struct json *json = context;
	char name[PERFREC_COUNTERS][COUNTERS_NAME_SIZE];
	bool any = false;
	uint64_t value;
	int64_t tid;
	unsigned int i;

	begin(json, perfrec_type_name(record->type), record->src, record->channel);
	tid = format_thread(json->with.threads, record);
	if (tid >= 0)
		put_format(json->out, ",\"thread\":%" PRId64, tid);
	put_stamp(json, &record->address_end);
	if (record->flags & PERFREC_MARKED)
		put_marks(json, record);
	if (!record->header)
		put_string(json->out, ",\"layout\":\"guessed\"");
	put_addresses(json, record);
	put_string(json->out, ",\"counters\":{");
	counters_names(&json->counters, record->header, record->counters, name);
	for (i = 0; i < record->counters; i++) {
		if (!format_counter(json->with.values, record, i, &value, json->with.backwards))
			continue;
		if (any)
			put_char(json->out, ',');
		any = true;
		put_json(json->out, name[i]);
		put_char(json->out, ':');
		put_number(json->out, value, 0);
	}
	put_string(json->out, "}}\n");
}

static void json_lost(void *context, const struct perfrec_loss *loss)
{
	struct json *json = context;

	begin(json, "lost", loss->src, loss->channel);
	put_format(json->out, ",\"offset\":%" PRIu64 ",\"words\":%" PRIu64
		   ",\"reason\":\"%s\"}\n", loss->offset, loss->words,
		   perfrec_reason_name(loss->reason));
}

static void json_gap(void *context, const struct nexus_message *gap)
{
	struct json *json = context;

	put_format(json->out, "{\"kind\":\"gap\",\"offset\":%" PRIu64
		   ",\"bytes\":%" PRIu64 ",\"reason\":\"%s\"}\n", gap->offset,
		   gap->length, nexus_gap_name(gap->gap));
}

static void json_error(void *context, const struct nexus_message *error)
{
	struct json *json = context;

	put_format(json->out, "{\"kind\":\"error\",\"source\":%u,\"offset\":%" PRIu64
		   ",\"type\":%u,\"code\":%" PRIu64 "}\n", error->src,
		   error->offset, error->fixed[0], error->field[0]);
}

static void json_ownership(void *context, const struct nexus_message *message)
{
	uint64_t process = message->field[0];
	struct json *json = context;

	put_format(json->out, "{\"kind\":\"ownership\",\"source\":%u,\"offset\":%"
		   PRIu64 ",\"format\":%u,\"privilege\":%u,\"virtual\":%s,\"context\":%"
		   PRIu64 "}\n", message->src, message->offset,
		   NEXUS_PROCESS_FORMAT(process), NEXUS_PROCESS_PRV(process),
		   NEXUS_PROCESS_V(process) ? "true" : "false",
		   NEXUS_PROCESS_CONTEXT(process));
}

static void put_fault(struct json *json, const struct trace_switch *record)
{
	struct symbol symbol;

	put_format(json->out, ",\"page\":\"0x%" PRIx64 "\",\"major\":%s,\"address\":\"0x%" PRIx64 "\"",
		   record->page, record->major ? "true" : "false", record->pc);
	symbols_when(json->with.symbols, &record->stamp);
	symbols_find(json->with.symbols, record->pc, &symbol);
	put_symbol(json, &symbol, "");
}

static void json_switched(void *context, const struct trace_switch *record)
{
	struct json *json = context;

	begin(json, "switch", record->src,
	      (unsigned int)trace_stats(json->with.input->trace)->switches.channel);
	if (record->kind == SIFIVE_TRACE_SWITCH_CALL)
		put_format(json->out, ",\"number\":%" PRIu32, record->thread);
	else if (record->kind == SIFIVE_TRACE_SWITCH_RETURN)
		put_format(json->out, ",\"result\":%" PRId32, (int32_t)record->thread);
	else if (record->kind == SIFIVE_TRACE_SWITCH_FAULT)
		put_fault(json, record);
	else if (record->kind != SIFIVE_TRACE_SWITCH_BEGIN)
		put_format(json->out, ",\"thread\":%" PRIu32, record->thread);
	put_stamp(json, &record->stamp);
	put_format(json->out, ",\"state\":\"%s\"}\n", switches_name(record->kind));
}

const struct format format_json = {
	.name = "json",
	.help = "one JSON object per line",
	.open = json_open,
	.ops = {
		.header = json_header,
		.record = json_record,
		.lost = json_lost,
		.marks = json_marks,
		.gap = json_gap,
		.error = json_error,
		.ownership = json_ownership,
		.switched = json_switched,
		.pause = json_pause,
		.stop = json_stop,
	},
	.close = json_close,
	.outside = { .record = json_outside },
};

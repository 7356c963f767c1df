// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes input for SiFive's decoder: a directory for each channel. Each directory contains a trace
 * with one header per source, settings for each program or shared object in the trace, and copies
 * of these objects, relocated to their load addresses.
 *
 * Records are re-encoded. The times of words are chosen so that the decoder prints the same times
 * as for the original trace.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "export.h"
#include "move.h"

/* Number of sources that the decoder supports. */
#define SOURCES_MAX	16
/* Maximum number of traces per channel; a new trace begins when a source's counters change. */
#define PARTS_MAX	1000
#define OBJECTS_MAX	256
/* Number of payload bits in each byte of a message. */
#define SLICE		6

struct message {
	unsigned int	bits;
	uint8_t		byte[NEXUS_MESSAGE_MAX];
};

/**
 * struct source - state of a source in the current output trace
 * @header:	latest header of the source, valid if @begun is set
 * @timed:	set if an absolute time has been written; @time is the latest message's
 * @address, @value: address and value of the latest record, for DeltaXOR
 * @end:	time at which the counters of the current record were completed
 */
struct source {
	bool			begun;
	bool			timed;
	uint64_t		time;
	struct perfrec_header	header;
	uint64_t		address;
	uint64_t		value[PERFREC_COUNTERS];
	struct perfrec_stamp	end[PERFREC_COUNTERS];
};

struct channel {
	unsigned int	number;
	unsigned int	part;
	char		name[32];
	char		path[PATH_MAX];
	struct output	*out;
	struct source	source[SOURCES_MAX];
};

/**
 * struct object - a program or shared object
 * @name:	name of the object's copy
 * @channels:	bit n is set if the current trace of channel n contains it
 * @stripped:	set if the object has no symbol table, so the decoder cannot read it
 * @records:	number of records with addresses in the object
 */
struct object {
	struct symbols_object	in;
	char			name[NAME_MAX];
	uint32_t		channels;
	bool			stripped;
	uint64_t		records;
};

struct dqr {
	struct export	*export;
	struct channel	*channel[PERFREC_CHANNELS];
	struct object	object[OBJECTS_MAX];
	unsigned int	objects;
	uint64_t	strangers;	/* records of sources that the decoder does not support */
	uint64_t	unknown;	/* records without a header or addresses */
	uint64_t	parts;		/* records that follow too many changes of counters */
	uint64_t	inferred;
	bool		crowded;	/* set if objects are left out because there are too many */
	uint32_t	shared;		/* channels that several threads share */
	bool		failed;
};

static void add_bits(struct message *message, uint64_t value, unsigned int bits)
{
	for (; bits; bits--, value >>= 1, message->bits++)
		message->byte[message->bits / SLICE] |=
			(uint8_t)((value & 1) << (2 + message->bits % SLICE));
}

static void end_field(struct message *message, unsigned int mseo)
{
	message->bits = (message->bits + SLICE - 1) / SLICE * SLICE;
	message->byte[message->bits / SLICE - 1] |= (uint8_t)mseo;
}

static void add_field(struct message *message, uint64_t value)
{
	unsigned int bits = value ? 64 - (unsigned int)__builtin_clzll(value) : 1;

	add_bits(message, value, bits);
	end_field(message, 1);
}

static void put_message(struct channel *channel, struct message *message)
{
	end_field(message, 3);
	put_bytes(channel->out, message->byte, message->bits / SLICE);
}

static void begin_message(const struct dqr *dqr, struct message *message,
			  unsigned int tcode, unsigned int src)
{
	memset(message, 0, sizeof(*message));
	add_bits(message, tcode, 6);
	add_bits(message, src, trace_stats(dqr->export->input.trace)->src_bits);
}

/*
 * Write an In-Circuit Trace message that contains the absolute time, and indicates that tracing is
 * on.
 */
static void put_absolute(const struct dqr *dqr, struct channel *channel,
			 unsigned int src, uint64_t time)
{
	struct message message;

	begin_message(dqr, &message, NEXUS_ICT_SYNC, src);
	add_bits(&message, 0, 4 + 2);
	add_field(&message, 2);
	add_field(&message, time);
	put_message(channel, &message);
	channel->source[src].timed = true;
	channel->source[src].time = time;
}

/*
 * Write a store of @bytes bytes as a Data Acquisition message; a narrow store is at the end of the
 * register.
 */
static void put_word(const struct dqr *dqr, struct channel *channel,
		     unsigned int src, unsigned int bytes, uint64_t value,
		     const struct perfrec_stamp *stamp)
{
	uint64_t time = stamp->time & trace_time_mask(dqr->export->input.trace);
	struct source *source = &channel->source[src];
	struct message message;

	if (stamp->time_known && !source->timed)
		put_absolute(dqr, channel, src, time);
	begin_message(dqr, &message, NEXUS_DATA_ACQUISITION, src);
	add_field(&message, 4 * channel->number + 4 - bytes);
	add_field(&message, value);
	if (stamp->time_known)
		add_field(&message, time ^ source->time);
	put_message(channel, &message);
	if (stamp->time_known)
		source->time = time;
}

static bool same_counters(const struct perfrec_header *a, const struct perfrec_header *b)
{
	unsigned int i;

	if (a->count_type != b->count_type || a->mask != b->mask)
		return false;
	for (i = 0; i < a->counters; i++) {
		const struct perfrec_counter *one = &a->counter[i];
		const struct perfrec_counter *two = &b->counter[i];

		if (one->type != two->type || one->code != two->code ||
		    one->event_data != two->event_data || one->csr != two->csr ||
		    one->width != two->width)
			return false;
	}
	return true;
}

/* Write a header. A header that was overwritten in a ring has no time, so use the record's time. */
static void put_header(const struct dqr *dqr, struct channel *channel,
		       const struct perfrec_record *record)
{
	const struct perfrec_header *header = record->header;
	struct source *source = &channel->source[record->src];
	const struct perfrec_stamp *now = header->serial ? NULL : &record->begin;
	const struct perfrec_stamp *at = now ? now : &header->begin;
	unsigned int i;

	put_word(dqr, channel, record->src, 4, SIFIVE_TRACE_RECORD_MAGIC, at);
	put_word(dqr, channel, record->src, 1, header->count_type, at);
	at = now ? now : &header->mask_word;
	put_word(dqr, channel, record->src, 4, header->mask, at);
	for (i = 0; i < header->counters; i++) {
		const struct perfrec_counter *counter = &header->counter[i];
		bool raw = counter->type == PERFREC_EVENT_RAW;

		at = now ? now : &counter->end;
		put_word(dqr, channel, record->src, 4, counter->type, at);
		put_word(dqr, channel, record->src, 4,
			 raw ? (uint32_t)counter->event_data : counter->code, at);
		if (raw)
			put_word(dqr, channel, record->src, 4,
				 counter->event_data >> 32, at);
		put_word(dqr, channel, record->src, 4,
			 counter->csr | (counter->width - 1u) << 12, at);
	}
	source->header = *header;
	source->begun = true;
	source->address = 0;
	memset(source->value, 0, sizeof(source->value));
}

static void put_addresses(const struct dqr *dqr, struct channel *channel,
			  const struct perfrec_record *record)
{
	struct source *source = &channel->source[record->src];
	const struct perfrec_stamp *at = &record->address_end;
	unsigned int i;

	for (i = 0; i < record->addresses; i++) {
		uint64_t address = record->address[i];

		if (record->header->count_type == PERFREC_DELTA_XOR) {
			address ^= source->address;
			source->address = record->address[i];
		}
		put_word(dqr, channel, record->src, 4,
			 (uint32_t)address | (address >> 32 ? 1 : 0), at);
		if (address >> 32)
			put_word(dqr, channel, record->src, 4, address >> 32, at);
	}
}

/*
 * Give the lower word of a counter the time at which the previous counter was complete, and the
 * upper word the time at which the counter itself was complete.
 */
static void put_counters(const struct dqr *dqr, struct channel *channel,
			 const struct perfrec_record *record)
{
	struct source *source = &channel->source[record->src];
	const struct perfrec_stamp *at = &record->address_end;
	unsigned int i;

	for (i = 0; i < record->counters; i++) {
		uint64_t value = record->sent[i];

		if (record->header->count_type == PERFREC_DELTA_XOR) {
			value = record->value[i] ^ source->value[i];
			source->value[i] = record->value[i];
		}
		put_word(dqr, channel, record->src, 4, (uint32_t)value, at);
		at = &source->end[i];
		if (value >> 32)
			put_word(dqr, channel, record->src, 2, value >> 32, at);
	}
}

static void fail(struct dqr *dqr, const char *path)
{
	if (!dqr->failed)
		report("%s: cannot write: %s", path, strerror(errno));
	dqr->failed = true;
}

/* Create a directory of the export; return false on failure. */
static bool make_dir(struct dqr *dqr, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", dqr->export->common.output, name) >=
	    (int)sizeof(path))
		errno = ENAMETOOLONG;
	else if (!output_mkdir(path))
		return true;
	fail(dqr, path);
	return false;
}

/* Return false if a write fails. */
static bool open_part(struct dqr *dqr, struct channel *channel)
{
	if (channel->part++)
		snprintf(channel->name, sizeof(channel->name), "channel%u.%u",
			 channel->number, channel->part);
	else
		snprintf(channel->name, sizeof(channel->name), "channel%u",
			 channel->number);
	if (!make_dir(dqr, channel->name))
		return false;
	snprintf(channel->path, sizeof(channel->path), "%s/%s/trace.rtd",
		 dqr->export->common.output, channel->name);
	channel->out = output_open(channel->path);
	dqr->failed |= !channel->out;
	return channel->out;
}

/* Write settings for @object or, if it is NULL, settings in which the user must name an object. */
static void put_settings(struct dqr *dqr, const struct channel *channel,
			 const struct object *object)
{
	const struct trace *trace = dqr->export->input.trace;
	uint64_t mask = trace_time_mask(trace);
	char path[PATH_MAX];
	struct output *out;

	snprintf(path, sizeof(path), "%s/%s/%s.properties", dqr->export->common.output,
		 channel->name, object ? object->name : "trace");
	out = output_open(path);
	if (!out) {
		dqr->failed = true;
		return;
	}
	if (object)
		put_format(out, "elf=../objects/%s\n", object->name);
	put_format(out, "rtd=trace.rtd\nsrcbits=%u\nbits=64\ntssize=%d\n"
		   "trace.config.int.itc.perf=true\n"
		   "trace.config.int.itc.perf.channel=%u\n"
		   "objdump=riscv64-linux-gnu-objdump\n",
		   trace_stats(trace)->src_bits, __builtin_popcountll(mask),
		   channel->number);
	dqr->failed |= output_close(out);
}

static void close_part(struct dqr *dqr, struct channel *channel)
{
	const uint32_t bit = 1u << channel->number;
	unsigned int settings = 0, i;

	if (!channel->out)
		return;
	dqr->failed |= output_close(channel->out);
	channel->out = NULL;
	for (i = 0; i < SOURCES_MAX; i++) {
		channel->source[i].begun = false;
		channel->source[i].timed = false;
		channel->source[i].time = 0;
	}
	for (i = 0; i < dqr->objects && !dqr->failed; i++) {
		if (!(dqr->object[i].channels & bit))
			continue;
		dqr->object[i].channels &= ~bit;
		if (dqr->object[i].stripped)
			continue;
		put_settings(dqr, channel, &dqr->object[i]);
		settings++;
	}
	if (!settings && !dqr->failed)
		put_settings(dqr, channel, NULL);
}

/* The decoder derives file names from the part before the last dot, so compare these parts. */
static bool same_stem(const char *a, const char *b)
{
	const char *end = strrchr(a, '.'), *other = strrchr(b, '.');
	size_t length = end ? (size_t)(end - a) : strlen(a);
	size_t size = other ? (size_t)(other - b) : strlen(b);

	return length == size && !memcmp(a, b, length);
}

/* Name the object's copy: the name must be unique, and valid in settings. */
static void name_object(const struct dqr *dqr, struct object *object)
{
	size_t size = sizeof(object->name) - sizeof(".properties");
	unsigned int i;
	char *at;

	snprintf(object->name, size, "%s", object->in.name);
	for (i = 0; i < dqr->objects; i++)
		if (same_stem(dqr->object[i].name, object->name)) {
			snprintf(object->name, size, "%u-%s", dqr->objects + 1,
				 object->in.name);
			break;
		}
	for (at = object->name; *at; at++)
		if (*at <= ' ' || *at == 0x7f || (*at == '.' && at == object->name))
			*at = '_';
}

/* Return the object that contains an address, or NULL if its file does not exist. */
static struct object *find_object(struct dqr *dqr, uint64_t address)
{
	struct symbols_object in;
	struct object *object;
	unsigned int i;

	if (!symbols_object(dqr->export->input.symbols, address, &in))
		return NULL;
	for (i = 0; i < dqr->objects; i++) {
		object = &dqr->object[i];
		if (object->in.bias == in.bias && !strcmp(object->in.path, in.path))
			return object;
	}
	dqr->crowded |= dqr->objects == OBJECTS_MAX;
	if (dqr->objects == OBJECTS_MAX)
		return NULL;
	object = &dqr->object[dqr->objects];
	object->in = in;
	object->stripped = !move_has_symbols(in.path);
	name_object(dqr, object);
	dqr->objects++;
	return object;
}

static struct channel *get_channel(struct dqr *dqr, unsigned int number)
{
	struct channel **channel = &dqr->channel[number];

	if (!*channel) {
		*channel = calloc(1, sizeof(**channel));
		if (!*channel && !dqr->failed)
			report("out of memory");
		dqr->failed |= !*channel;
		if (*channel)
			(*channel)->number = number;
	}
	return *channel;
}

static void dqr_counter(void *context, const struct perfrec_record *record,
			unsigned int i, const struct perfrec_stamp *end)
{
	struct dqr *dqr = context;
	struct channel *channel = get_channel(dqr, record->channel);

	if (channel && record->src < SOURCES_MAX)
		channel->source[record->src].end[i] = *end;
}

static void put_record(struct dqr *dqr, struct channel *channel,
		       const struct perfrec_record *record)
{
	struct source *source = &channel->source[record->src];
	struct object *object;

	if (source->begun && !same_counters(&source->header, record->header))
		close_part(dqr, channel);
	if (!channel->out && channel->part == PARTS_MAX) {
		dqr->parts++;
		return;
	}
	if (!channel->out && !open_part(dqr, channel))
		return;
	if (!source->begun)
		put_header(dqr, channel, record);
	put_word(dqr, channel, record->src, 1, record->type, &record->begin);
	put_addresses(dqr, channel, record);
	put_counters(dqr, channel, record);
	dqr->inferred += record->address_end.time_known == TIME_INFERRED;
	if (record->header->owned || record->flags & PERFREC_NAMED)
		dqr->shared |= 1u << channel->number;
	object = find_object(dqr, record->address[record->type == PERFREC_EXIT]);
	if (object) {
		object->channels |= 1u << channel->number;
		object->records++;
	}
}

static void dqr_record(void *context, const struct perfrec_record *record)
{
	struct dqr *dqr = context;
	struct channel *channel = get_channel(dqr, record->channel);

	if (!channel || dqr->failed)
		return;
	if (record->src >= SOURCES_MAX)
		dqr->strangers++;
	else if (!record->header || !(record->flags & PERFREC_ADDRESS_KNOWN))
		dqr->unknown++;
	else
		put_record(dqr, channel, record);
}

static bool dqr_stop(void *context)
{
	const struct dqr *dqr = context;

	return dqr->failed;
}

static void copy_objects(struct dqr *dqr)
{
	char path[PATH_MAX];
	unsigned int i;

	if (!dqr->objects || dqr->failed || !make_dir(dqr, "objects"))
		return;
	for (i = 0; i < dqr->objects && !dqr->failed; i++) {
		const struct object *object = &dqr->object[i];

		if (object->stripped)
			continue;
		snprintf(path, sizeof(path), "%s/objects/%s", dqr->export->common.output,
			 object->name);
		dqr->failed |= move_file(object->in.path, path, object->in.bias);
		output_made(path);
	}
}

static void report_what_is_missing(const struct dqr *dqr)
{
	const char *name = dqr->export->common.path;
	unsigned int i;

	for (i = 0; i < dqr->objects; i++)
		if (dqr->object[i].stripped)
			report("%s: no symbol table (stripped?): SiFive's decoder cannot read it: %" PRIu64 " records in it",
			       dqr->object[i].in.path, dqr->object[i].records);
	if (dqr->strangers)
		report("%s: %" PRIu64 " records of sources from %d on are left out: SiFive's decoder does not support them",
		       name, dqr->strangers, SOURCES_MAX);
	if (dqr->unknown)
		report("%s: %" PRIu64 " records with unknown counters or addresses are left out",
		       name, dqr->unknown);
	if (dqr->parts)
		report("%s: %" PRIu64 " records after %d changes of a channel's counters are left out",
		       name, dqr->parts, PARTS_MAX);
	if (dqr->inferred)
		report("%s: %" PRIu64 " records have an inferred time, which SiFive's decoder cannot mark",
		       name, dqr->inferred);
	if (dqr->shared)
		report("%s: %d channels have records of several threads, which SiFive's decoder does not distinguish (sifive-trace report does)",
		       name, __builtin_popcount(dqr->shared));
	if (dqr->crowded)
		report("%s: more than %d programs and shared objects: the others are left out",
		       name, OBJECTS_MAX);
	if (!dqr->objects)
		report("%s: no program: SiFive's decoder needs one (give -e or --symfs, or add elf= to the settings)",
		       name);
}

static int dqr_run(struct export *export)
{
	static const struct trace_ops ops = {
		.counter = dqr_counter,
		.record = dqr_record,
		.stop = dqr_stop,
	};
	struct dqr *dqr = calloc(1, sizeof(*dqr));
	unsigned int i;
	int error;

	if (!dqr) {
		report("out of memory");
		return -1;
	}
	dqr->export = export;
	if (turns_refuse(&export->input, "--format dqr")) {
		free(dqr);
		return -1;
	}
	error = trace_run(export->input.trace, &ops, dqr);
	for (i = 0; i < PERFREC_CHANNELS; i++) {
		if (dqr->channel[i])
			close_part(dqr, dqr->channel[i]);
		free(dqr->channel[i]);
	}
	copy_objects(dqr);
	if (!error && !dqr->failed)
		report_what_is_missing(dqr);
	error |= dqr->failed;
	free(dqr);
	return error ? -1 : 0;
}

const struct exporter export_dqr = {
	.name = "dqr",
	.help = "a directory that SiFive's decoder reads: traces, settings, programs",
	.to_dir = true,
	.all_calls = true,
	.run = dqr_run,
};

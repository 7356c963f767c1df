// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes the Common Trace Format 1.8: a directory with "metadata", which describes the events, and
 * a stream of packets per thread.
 *
 * Calls have the names and fields of LTTng's function tracing, which Trace Compass shows as call
 * stacks. Each set of counters has separate event classes.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"
#include "behind.h"
#include "coverage.h"
#include "export.h"
#include "text.h"
#include "tracks.h"

#define MAGIC		0xc1fc1fc1u
#define PACKET		2048
/* Size of a packet's header and context: see metadata. */
#define PACKET_BEGIN	40
/* Maximum length of a string. */
#define STRING_MAX	512
/* Maximum number of sets of counters; events of any further sets have no counters. */
#define SETS_MAX	256
#define IDENTIFIER_SIZE	(COUNTERS_NAME_SIZE + sizeof("__ticks") - 1)

struct stream {
	bool		begun;		/* set if the file has been created */
	uint64_t	first;		/* range of times of the packet's events */
	uint64_t	last;
	size_t		used;
	uint8_t		packet[PACKET];
};

struct ctf {
	struct stream	**stream;	/* two per thread: for calls, and for records among them */
	unsigned int	streams;
	bool		failed;
	unsigned int	sets;
	uint64_t	set[SETS_MAX];	/* sets of columns: bit n stands for column n */
	uint64_t	untimed;
	uint64_t	uncounted;	/* events whose counts are left out */
};

/*
 * Kinds of events: types of records, and, starting at BETWEEN, records among calls from the
 * instruction trace. An event's class is kind + KINDS * set.
 */
#define BETWEEN	PERFREC_TYPES
#define LOST	(BETWEEN + PERFREC_MANUAL + 1)
#define KINDS	(LOST + 1)
static const char * const kind_name[KINDS] = {
	[PERFREC_ENTER] = "lttng_ust_cyg_profile:func_entry",
	[PERFREC_EXIT] = "lttng_ust_cyg_profile:func_exit",
	[PERFREC_MANUAL] = "sifive_trace:manual",
	[PERFREC_ISR] = "sifive_trace:sample",
	[BETWEEN + PERFREC_ENTER] = "sifive_trace:record_enter",
	[BETWEEN + PERFREC_EXIT] = "sifive_trace:record_exit",
	[BETWEEN + PERFREC_MANUAL] = "sifive_trace:record_manual",
	[LOST] = "sifive_trace:records_lost",
};

static void file_name(const struct export *export, const char *name, char *path)
{
	snprintf(path, PATH_MAX, "%s/%s", export->common.output, name);
}

static int ctf_begin(struct export *export)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));

	export->private = ctf;
	if (!ctf) {
		report("out of memory");
		return -1;
	}
	ctf->sets = 1;
	return 0;
}

static void put_le(uint8_t *at, uint64_t value, unsigned int bytes)
{
	while (bytes--) {
		*at++ = (uint8_t)value;
		value >>= 8;
	}
}

static void write_packet(struct export *export, unsigned int id)
{
	struct ctf *ctf = export->private;
	struct stream *stream = ctf->stream[id];
	struct behind_file file = { .error = 0 };
	char name[32], path[PATH_MAX];

	put_le(stream->packet, MAGIC, 4);
	put_le(stream->packet + 4, 0, 4);
	put_le(stream->packet + 8, stream->first, 8);
	put_le(stream->packet + 16, stream->last, 8);
	put_le(stream->packet + 24, 8 * stream->used, 8);
	put_le(stream->packet + 32, 8 * stream->used, 8);
	snprintf(name, sizeof(name), id % 2 ? "records_%u" : "thread_%u", id / 2);
	file_name(export, name, path);
	/* Open the file for each packet: with many threads, the files cannot all be kept open. */
	file.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC |
		       (stream->begun ? 0 : O_EXCL), 0666);
	if (file.fd >= 0 && !stream->begun)
		output_made(path);
	if (file.fd >= 0)
		behind_write(&file, (const char *)stream->packet, stream->used);
	if ((file.fd < 0 || close(file.fd)) && !file.error)
		file.error = errno;
	if (file.error && !ctf->failed)
		report("%s: cannot write: %s", path, strerror(file.error));
	ctf->failed |= file.error != 0;
	stream->begun = true;
	stream->used = 0;
}

static struct stream *get_stream(struct ctf *ctf, unsigned int id)
{
	struct stream **grown;

	if (id >= ctf->streams) {
		grown = realloc(ctf->stream, (2 * id + 16) * sizeof(*grown));
		if (!grown)
			return NULL;
		ctf->stream = grown;
		while (ctf->streams < 2 * id + 16)
			ctf->stream[ctf->streams++] = NULL;
	}
	if (!ctf->stream[id])
		ctf->stream[id] = calloc(1, sizeof(**ctf->stream));
	return ctf->stream[id];
}

static unsigned int find_set(struct ctf *ctf, uint64_t columns)
{
	unsigned int i;

	for (i = 0; i < ctf->sets; i++)
		if (ctf->set[i] == columns)
			return i;
	if (i == SETS_MAX) {
		ctf->uncounted++;
		return 0;
	}
	ctf->set[ctf->sets++] = columns;
	return i;
}

static uint8_t *copy_text(uint8_t *at, const char *text)
{
	size_t length = strnlen(text, STRING_MAX - 1);

	memcpy(at, text, length);
	at[length] = '\0';
	return at + length + 1;
}

static uint8_t *put_u64(uint8_t *at, uint64_t value)
{
	put_le(at, value, 8);
	return at + 8;
}

/*
 * An event that describes a record. If @record is NULL, the event reports that records may be
 * missing.
 */
struct event {
	const struct thread		*thread;
	unsigned int			src;
	const struct perfrec_record	*record;
	bool				between;
	uint64_t			time;
	bool				inferred;
	uint32_t			function;
	uint64_t			counted;
	const uint64_t			*delta;
};

/* See put_class() for the fields. */
static size_t make_event(struct export *export, struct ctf *ctf, uint8_t *bytes,
			 const struct event *event, uint64_t time)
{
	const struct perfrec_record *record = event->record;
	const struct thread *thread = event->thread;
	unsigned int set = find_set(ctf, event->counted);
	unsigned int kind = record ? record->type + (event->between ? BETWEEN : 0) : LOST;
	uint64_t columns = ctf->set[set];
	char name[EXPORT_NAME_SIZE];
	uint8_t *at = bytes;

	put_le(at, kind + KINDS * set, 2);
	at = put_u64(at + 2, time);
	put_le(at, (uint64_t)thread->pid, 4);
	put_le(at + 4, (uint64_t)tracks_tid(thread), 4);
	at = copy_text(at + 8, thread->label);
	*at++ = (uint8_t)event->src;
	*at++ = event->inferred;
	if (!record)
		return (size_t)(at - bytes);
	at = put_u64(at, record->address[0]);
	if (record->addresses == 2)
		at = put_u64(at, record->address[1]);
	analysis_name(export->analysis, event->function, name, sizeof(name));
	at = copy_text(at, name);
	for (; columns; columns &= columns - 1)
		at = put_u64(at, event->delta[__builtin_ctzll(columns)]);
	return (size_t)(at - bytes);
}

/* Omit events without a time, and those before the stream's latest time. */
static void put_event(struct export *export, bool timed, const struct event *event)
{
	const bool utc = input_is_utc(&export->input);
	const uint64_t time = utc ? export_time(export, event->time) : event->time;
	uint8_t bytes[64 + 2 * STRING_MAX + 8 * COUNTERS_MAX];
	struct ctf *ctf = export->private;
	const unsigned int id = 2 * event->thread->id + event->between;
	struct stream *stream = get_stream(ctf, id);
	size_t size;

	if (!stream || !timed || time < stream->last) {
		ctf->untimed += event->record != NULL;
		return;
	}
	size = make_event(export, ctf, bytes, event, time);
	if (stream->used + size > PACKET)
		write_packet(export, id);
	if (!stream->used) {
		stream->used = PACKET_BEGIN;
		stream->first = time;
	}
	memcpy(stream->packet + stream->used, bytes, size);
	stream->used += size;
	stream->last = time;
}

static void ctf_lost(void *context, struct analysis_thread *thread)
{
	put_event(context, thread->timed, &(struct event){
		.thread = thread->thread, .src = thread->src, .time = thread->now,
		.inferred = thread->inferred,
	});
}

static void ctf_step(void *context, struct analysis_thread *thread,
		     const struct analysis_step *step)
{
	put_event(context, thread->timed, &(struct event){
		.thread = thread->thread, .src = step->record->src, .record = step->record,
		.time = thread->now, .inferred = thread->inferred, .function = step->function,
		.counted = step->counted, .delta = step->delta,
	});
}

/*
 * Use a separate stream, because the times of records and of calls need not be in a common order.
 */
static void ctf_recorded(void *context, struct analysis_thread *thread,
			 const struct analysis_point *point)
{
	const struct perfrec_stamp *stamp = &point->record->begin;

	put_event(context, stamp->time_known, &(struct event){
		.thread = thread->thread, .src = point->record->src, .record = point->record,
		.between = true, .time = stamp->time, .inferred = stamp->time_known == TIME_INFERRED,
		.function = point->function, .counted = point->counted, .delta = point->delta,
	});
}

static bool ctf_stop(void *context)
{
	const struct export *export = context;

	return ((struct ctf *)export->private)->failed;
}

/* Convert a counter's name to an identifier; different names may have the same identifier. */
static void make_identifier(const struct counters *counters, unsigned int column, char *identifier)
{
	const char *name = counters->name[column];

	*identifier++ = '_';
	for (; *name; name++) {
		bool fine = (*name >= 'a' && *name <= 'z') ||
			    (*name >= 'A' && *name <= 'Z') ||
			    (*name >= '0' && *name <= '9');

		*identifier++ = fine ? *name : '_';
	}
	strcpy(identifier, column < counters->times ? "_ticks" : "");
}

/* Append the column's number if another counter of the set has the same identifier. */
static void put_identifier(struct output *out, const struct counters *counters,
			   uint64_t columns, unsigned int column)
{
	char own[IDENTIFIER_SIZE], other[IDENTIFIER_SIZE];
	bool same = false;

	make_identifier(counters, column, own);
	for (columns &= ~(1ull << column); columns; columns &= columns - 1) {
		make_identifier(counters, (unsigned int)__builtin_ctzll(columns), other);
		same |= !strcmp(own, other);
	}
	put_string(out, own);
	if (same)
		put_format(out, "__%u", column);
}

static void put_class(struct export *export, struct output *out,
		      unsigned int kind, unsigned int set)
{
	const struct counters *counters = kind < BETWEEN ? analysis_counters(export->analysis) :
							   analysis_recorded(export->analysis);
	const bool is_call = kind % BETWEEN <= PERFREC_EXIT;
	const struct ctf *ctf = export->private;
	uint64_t columns;

	if (kind == LOST) {
		if (!set)
			put_format(out, "event {\n\tname = \"%s\";\n\tid = %u;\n"
				   "\tstream_id = 0;\n};\n\n", kind_name[kind], kind);
		return;
	}
	/* Omit sets with columns that this kind of event does not have. */
	if (counters->count < COUNTERS_MAX && ctf->set[set] >> counters->count)
		return;
	put_format(out, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n"
		   "\tfields := struct {\n\t\thex64 %s;\n", kind_name[kind],
		   kind + KINDS * set, is_call ? "addr" : "ip");
	if (is_call)
		put_string(out, "\t\thex64 call_site;\n");
	put_string(out, "\t\tstring name;\n");
	for (columns = ctf->set[set]; columns; columns &= columns - 1) {
		put_string(out, "\t\tuint64 ");
		put_identifier(out, counters, ctf->set[set],
			       (unsigned int)__builtin_ctzll(columns));
		put_string(out, ";\n");
	}
	put_string(out, "\t};\n};\n\n");
}

/* Write the machine's name with only the escape sequences \" and \\, which all readers accept. */
static void put_host(struct output *out, const char *host)
{
	char text[STRING_MAX], *c;

	snprintf(text, sizeof(text), "%s", host);
	text_clean(text);
	put_string(out, "\thostname = \"");
	for (c = text; *c; c++) {
		if (*c == '"' || *c == '\\')
			put_char(out, '\\');
		put_char(out, *c);
	}
	put_string(out, "\";\n");
}

static void put_metadata(struct export *export, struct output *out)
{
	const struct ctf *ctf = export->private;
	const bool utc = input_is_utc(&export->input);
	unsigned int kind, set;
	char coverage[COVERAGE_SIZE], accuracy[UTC_TEXT];

	if (utc)
		utc_text(&export->input.utc, accuracy);
	put_string(out, "/* CTF 1.8 */\n"
		   "typealias integer { size = 8; align = 8; signed = false; } := uint8;\n"
		   "typealias integer { size = 16; align = 8; signed = false; } := uint16;\n"
		   "typealias integer { size = 32; align = 8; signed = false; } := uint32;\n"
		   "typealias integer { size = 32; align = 8; signed = true; } := int32;\n"
		   "typealias integer { size = 64; align = 8; signed = false; } := uint64;\n"
		   "typealias integer { size = 64; align = 8; signed = false; base = 16; } := hex64;\n\n"
		   "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n"
		   "\tpacket.header := struct {\n\t\tuint32 magic;\n\t\tuint32 stream_id;\n\t};\n};\n\n"
		   "env {\n\tdomain = \"ust\";\n\ttracer_name = \"sifive-trace\";\n");
	if (*coverage_text(&export->input, coverage))
		put_format(out, "\tcoverage = \"%s\";\n", coverage);
	if (utc)
		put_format(out, "\tclock_accuracy = \"utc, %s\";\n", accuracy);
	if (utc && export->input.meta.host)
		put_host(out, export->input.meta.host);
	put_string(out, "};\n\n");
	/* Viewers show traces on one timeline if their clocks have the same origin. */
	put_format(out, "clock {\n\tname = ticks;\n\tfreq = %" PRIu64 ";\n%s};\n\n",
		   export->input.hz && !utc ? export->input.hz : UTC_NS_PER_SEC,
		   utc ? "\tabsolute = true;\n" : "");
	put_string(out, "typealias integer { size = 64; align = 8; signed = false; map = clock.ticks.value; } := time64;\n\n"
		   "stream {\n\tid = 0;\n"
		   "\tpacket.context := struct {\n\t\ttime64 timestamp_begin;\n\t\ttime64 timestamp_end;\n"
		   "\t\tuint64 content_size;\n\t\tuint64 packet_size;\n\t};\n"
		   "\tevent.header := struct {\n\t\tuint16 id;\n\t\ttime64 timestamp;\n\t};\n"
		   "\tevent.context := struct {\n\t\tint32 _vpid;\n\t\tint32 _vtid;\n\t\tstring _procname;\n"
		   "\t\tuint8 _source;\n\t\tuint8 _time_inferred;\n\t};\n};\n\n");
	for (set = 0; set < ctf->sets; set++)
		for (kind = 0; kind < KINDS; kind++)
			put_class(export, out, kind, set);
}

static int ctf_end(struct export *export)
{
	struct ctf *ctf = export->private;
	char path[PATH_MAX];
	struct output *out;
	unsigned int i;

	for (i = 0; i < ctf->streams; i++)
		if (ctf->stream[i] && ctf->stream[i]->used)
			write_packet(export, i);
	if (ctf->untimed)
		report("%s: %" PRIu64 " records without a time, or with one before their thread's previous record, are left out",
		       export->common.path, ctf->untimed);
	if (ctf->uncounted)
		report("%s: too many different sets of counters: %" PRIu64 " record%s of sets beyond the first %d %s no counts; export --format csv writes them",
		       export->common.path, ctf->uncounted, ctf->uncounted == 1 ? "" : "s",
		       SETS_MAX - 1, ctf->uncounted == 1 ? "has" : "have");
	file_name(export, "metadata", path);
	out = output_open(path);
	if (!out)
		return -1;
	put_metadata(export, out);
	return output_close(out) || ctf->failed ? -1 : 0;
}

static void ctf_free(struct export *export)
{
	struct ctf *ctf = export->private;
	unsigned int i;

	if (!ctf)
		return;
	for (i = 0; i < ctf->streams; i++)
		free(ctf->stream[i]);
	free(ctf->stream);
	free(ctf);
}

static const struct analysis_ops ctf_ops = {
	.lost = ctf_lost,
	.step = ctf_step,
	.recorded = ctf_recorded,
	.stop = ctf_stop,
};

const struct exporter export_ctf = {
	.name = "ctf",
	.help = "a directory in the Common Trace Format, for Trace Compass and babeltrace2",
	.to_dir = true,
	.all_calls = true,
	.dated = true,
	.begin = ctf_begin,
	.ops = &ctf_ops,
	.end = ctf_end,
	.free = ctf_free,
};

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Parses the side-car file: see meta.h. json-c parses the JSON. */
#include <errno.h>
#include <inttypes.h>
#include <json.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "meta.h"
#include "nexus/nexus.h"
#include "perfrec/perfrec.h"

/* Maximum number of invalid values to report, so that a bad file does not flood the terminal. */
#define COMPLAINTS_MAX	10

struct reader {
	const char	*name;
	unsigned int	complaints;
	char		*strings;	/* place for the next string */
};

/* A key, and the offset of the corresponding number in a struct. */
struct number {
	const char	*key;
	size_t		offset;
};

static void complain(struct reader *reader, const char *key, const char *wanted)
{
	if (reader->complaints++ < COMPLAINTS_MAX)
		report("%s: \"%s\" is not %s: ignored", reader->name, key, wanted);
}

static struct json_object *get(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value))
		return NULL;
	return value;
}

static struct json_object *get_object(struct reader *reader, struct json_object *object,
				      const char *key)
{
	struct json_object *value = get(object, key);

	if (!value || json_object_is_type(value, json_type_object))
		return value;
	complain(reader, key, "an object");
	return NULL;
}

/* Read a number, which may be a string in C notation. With @any, accept all 64-bit values. */
static bool parse(struct json_object *value, bool any, uint64_t *number)
{
	const char *text;
	char *end;

	if (json_object_is_type(value, json_type_int)) {
		const bool negative = json_object_get_int64(value) < 0;

		*number = negative ? (uint64_t)json_object_get_int64(value) :
				     json_object_get_uint64(value);
		/* The parser replaces larger numbers with UINT64_MAX. */
		return any || (!negative && *number < UINT64_MAX);
	}
	if (!json_object_is_type(value, json_type_string))
		return false;
	text = json_object_get_string(value);
	errno = 0;
	*number = strtoull(text, &end, 0);
	return *text && !*end && !errno && (any || !strchr(text, '-'));
}

static bool get_u64(struct reader *reader, struct json_object *object,
		    const char *key, uint64_t *number)
{
	/* Addresses and event selectors may be written as negative numbers. */
	const bool any = !strcmp(key, "bias") || !strcmp(key, "data");
	struct json_object *value = get(object, key);

	if (!value)
		return false;
	if (parse(value, any, number))
		return true;
	complain(reader, key, "a number, or is negative or too large");
	return false;
}

static void set_u64(struct reader *reader, struct json_object *object,
		    const char *key, uint64_t *number)
{
	uint64_t value;

	if (get_u64(reader, object, key, &value))
		*number = value;
}

static void set_u32(struct reader *reader, struct json_object *object,
		    const char *key, uint32_t *number)
{
	uint64_t value;

	if (!get_u64(reader, object, key, &value))
		return;
	if (value > UINT32_MAX)
		complain(reader, key, "a 32-bit number");
	else
		*number = (uint32_t)value;
}

/* Read a number from 0 to @most; otherwise, leave @number unchanged. */
static void set_number(struct reader *reader, struct json_object *object,
		       const char *key, int most, int *number)
{
	struct json_object *value = get(object, key);
	char wanted[48];
	uint64_t n;

	if (!value)
		return;
	if (parse(value, false, &n) && n <= (uint64_t)most) {
		*number = (int)n;
		return;
	}
	snprintf(wanted, sizeof(wanted), "a number from 0 to %d", most);
	complain(reader, key, wanted);
}

static void set_id(struct reader *reader, struct json_object *object, const char *key, int64_t *id)
{
	struct json_object *value = get(object, key);
	uint64_t number;

	if (!value)
		return;
	if (parse(value, false, &number) && number <= INT64_MAX)
		*id = (int64_t)number;
	else
		complain(reader, key, "an id");
}

static void set_bool(struct reader *reader, struct json_object *object, const char *key, bool *flag)
{
	struct json_object *value = get(object, key);

	if (!value)
		return;
	if (json_object_is_type(value, json_type_boolean))
		*flag = json_object_get_boolean(value);
	else
		complain(reader, key, "true or false");
}

static const char *string_of(struct json_object *value)
{
	int length;

	if (!json_object_is_type(value, json_type_string))
		return NULL;
	length = json_object_get_string_len(value);
	/* A NUL in the string would hide the characters after it. */
	if (length > META_STRING_MAX ||
	    strlen(json_object_get_string(value)) != (size_t)length)
		return NULL;
	return json_object_get_string(value);
}

/* Copy a string, so that json-c's tree, which is much larger, can be freed early. */
static const char *keep(struct reader *reader, const char *text)
{
	char *kept = reader->strings;

	reader->strings = stpcpy(kept, text) + 1;
	return kept;
}

static void set_string(struct reader *reader, struct json_object *object,
		       const char *key, const char **text)
{
	struct json_object *value = get(object, key);

	if (!value)
		return;
	if (string_of(value))
		*text = keep(reader, string_of(value));
	else
		complain(reader, key, "a string within the limit");
}

/* Find an array of at most @most elements; return memory for *@count elements of @size. */
static void *new_array(struct reader *reader, struct json_object *object, const char *key,
		       size_t most, size_t size, size_t *count, struct json_object **array)
{
	void *memory;

	*count = 0;
	*array = get(object, key);
	if (!*array)
		return NULL;
	if (!json_object_is_type(*array, json_type_array) ||
	    json_object_array_length(*array) > most) {
		complain(reader, key, "an array within the limit");
		return NULL;
	}
	memory = calloc(json_object_array_length(*array) + 1, size);
	if (memory)
		*count = json_object_array_length(*array);
	else
		report("%s: out of memory", reader->name);
	return memory;
}

/* Return element @i, or NULL if it is not an object. */
static struct json_object *element(struct reader *reader, const char *key,
				   struct json_object *array, size_t i)
{
	struct json_object *value = json_object_array_get_idx(array, i);

	if (json_object_is_type(value, json_type_object))
		return value;
	complain(reader, key, "an array of objects");
	return NULL;
}

/* Read an array of at most @most strings. */
static const char **read_strings(struct reader *reader, struct json_object *object,
				 const char *key, size_t most, size_t *strings)
{
	struct json_object *array;
	const char **string;
	size_t count, i;

	string = new_array(reader, object, key, most, sizeof(*string), &count, &array);
	for (i = 0; i < count; i++) {
		const char *text = string_of(json_object_array_get_idx(array, i));

		if (text)
			string[(*strings)++] = keep(reader, text);
		else
			complain(reader, key, "an array of strings");
	}
	return string;
}

static void read_sources(struct reader *reader, struct json_object *object, struct meta *meta)
{
	struct json_object *array, *from;
	size_t count, i;

	meta->source = new_array(reader, object, "sources", META_SOURCES_MAX,
				 sizeof(*meta->source), &count, &array);
	for (i = 0; i < count; i++) {
		struct meta_source *to = &meta->source[meta->sources];

		from = element(reader, "sources", array, i);
		if (!from)
			continue;
		*to = (struct meta_source){ -1, -1, -1 };
		set_number(reader, from, "src", PERFREC_SOURCES - 1, &to->src);
		set_number(reader, from, "hart", INT_MAX, &to->hart);
		set_number(reader, from, "cpu", INT_MAX, &to->cpu);
		meta->sources += to->src >= 0;
	}
}

static void read_counters(struct reader *reader, struct json_object *object, struct meta *meta)
{
	struct json_object *array, *from;
	size_t count, i;

	meta->counter = new_array(reader, object, "counters", META_COUNTERS_MAX,
				  sizeof(*meta->counter), &count, &array);
	for (i = 0; i < count; i++) {
		struct meta_counter *to = &meta->counter[meta->counters];

		from = element(reader, "counters", array, i);
		if (!from)
			continue;
		memset(to, 0, sizeof(*to));
		to->number = -1;
		set_number(reader, from, "number", PERFREC_COUNTERS - 1,
			   &to->number);
		set_string(reader, from, "event", &to->event);
		set_u32(reader, from, "type", &to->type);
		set_u32(reader, from, "code", &to->code);
		set_u64(reader, from, "data", &to->data);
		set_u32(reader, from, "flags", &to->flags);
		set_u32(reader, from, "info", &to->info);
		set_u32(reader, from, "turn", &to->turn);
		if (to->turn > SIFIVE_TRACE_TURNS_MAX)
			to->number = -1;
		meta->counters += to->number >= 0;
	}
}

static void read_threads(struct reader *reader, struct json_object *object, struct meta *meta)
{
	struct json_object *array, *from;
	size_t count, i;

	meta->thread = new_array(reader, object, "threads", META_THREADS_MAX,
				 sizeof(*meta->thread), &count, &array);
	for (i = 0; i < count; i++) {
		struct meta_thread *to = &meta->thread[meta->threads];

		from = element(reader, "threads", array, i);
		if (!from)
			continue;
		*to = (struct meta_thread){
			.channel = -1, .pid = -1, .tid = -1, .to = UINT64_MAX,
		};
		set_number(reader, from, "channel", PERFREC_CHANNELS - 1,
			   &to->channel);
		set_id(reader, from, "pid", &to->pid);
		set_id(reader, from, "tid", &to->tid);
		set_string(reader, from, "name", &to->name);
		set_u64(reader, from, "from", &to->from);
		set_u64(reader, from, "to", &to->to);
		set_bool(reader, from, "named", &to->named);
		/*
		 * Ignore a thread without a channel or named headers: it does not use the library.
		 */
		meta->threads += to->channel >= 0 || to->named;
	}
}

static void read_processes(struct reader *reader, struct json_object *object,
			   struct meta *meta)
{
	struct json_object *array, *from;
	size_t count, i;

	meta->process = new_array(reader, object, "processes", META_PROCESSES_MAX,
				  sizeof(*meta->process), &count, &array);
	for (i = 0; i < count; i++) {
		/* Keep all processes, because objects refer to them by index. */
		struct meta_process *to = &meta->process[meta->processes++];

		*to = (struct meta_process){ .pid = -1, .parent = -1, .to = UINT64_MAX };
		from = element(reader, "processes", array, i);
		if (!from)
			continue;
		set_id(reader, from, "pid", &to->pid);
		set_id(reader, from, "ppid", &to->parent);
		set_string(reader, from, "exe", &to->exe);
		set_u64(reader, from, "from", &to->from);
		set_u64(reader, from, "to", &to->to);
	}
}

/* Read the list of processes that mapped an object. */
static void read_in(struct reader *reader, struct json_object *object, struct meta *meta,
		    struct meta_object *to)
{
	struct json_object *array = get(object, "in"), *value;
	size_t count = array && json_object_is_type(array, json_type_array) ?
		       json_object_array_length(array) : 0, i;
	uint32_t *more = count ? reallocarray(meta->in, meta->ins + count, sizeof(*more)) : NULL;
	int64_t process;

	if (array && !count)
		complain(reader, "in", "an array of processes");
	if (!more)
		return;
	meta->in = more;
	to->in = meta->ins;
	for (i = 0; i < count; i++) {
		value = json_object_array_get_idx(array, i);
		process = json_object_get_int64(value);
		if (json_object_is_type(value, json_type_int) && process >= 0 &&
		    (uint64_t)process < meta->processes)
			more[meta->ins++] = (uint32_t)process;
		else
			complain(reader, "in", "an array of processes");
	}
	to->ins = meta->ins - to->in;
}

static void read_objects(struct reader *reader, struct json_object *object, struct meta *meta)
{
	struct json_object *array, *from;
	size_t count, i;

	meta->object = new_array(reader, object, "objects", META_OBJECTS_MAX,
				 sizeof(*meta->object), &count, &array);
	for (i = 0; i < count; i++) {
		struct meta_object *to = &meta->object[meta->objects];

		from = element(reader, "objects", array, i);
		if (!from)
			continue;
		*to = (struct meta_object){ .to = UINT64_MAX };
		set_string(reader, from, "path", &to->path);
		set_string(reader, from, "build_id", &to->build_id);
		set_u64(reader, from, "start", &to->start);
		set_u64(reader, from, "end", &to->end);
		set_u64(reader, from, "bias", &to->bias);
		set_u64(reader, from, "from", &to->from);
		set_u64(reader, from, "to", &to->to);
		read_in(reader, from, meta, to);
		if (to->path && to->start < to->end)
			meta->objects++;
		else
			complain(reader, "objects", "an array of objects with path, start and end");
	}
}

static void read_clocks(struct reader *reader, struct json_object *object, struct meta *meta)
{
	struct json_object *array, *from;
	size_t count, i;

	meta->clock = new_array(reader, object, "clocks", META_SOURCES_MAX,
				sizeof(*meta->clock), &count, &array);
	for (i = 0; i < count; i++) {
		struct meta_clock *to = &meta->clock[meta->clocks];

		from = element(reader, "clocks", array, i);
		if (!from)
			continue;
		*to = (struct meta_clock){ .src = -1 };
		set_number(reader, from, "src", PERFREC_SOURCES - 1, &to->src);
		set_u64(reader, from, "time", &to->time);
		set_bool(reader, from, "inferred", &to->inferred);
		meta->clocks += to->src >= 0;
	}
}

static void read_streams(struct reader *reader, struct json_object *object, struct meta *meta)
{
	struct json_object *array, *from;
	size_t count, i;

	meta->stream = new_array(reader, object, "streams", META_STREAMS_MAX,
				 sizeof(*meta->stream), &count, &array);
	for (i = 0; i < count; i++) {
		struct meta_stream *to = &meta->stream[meta->streams];

		from = element(reader, "streams", array, i);
		if (!from)
			continue;
		*to = (struct meta_stream){ .src = -1, .channel = -1 };
		set_number(reader, from, "src", PERFREC_SOURCES - 1, &to->src);
		set_number(reader, from, "channel", PERFREC_CHANNELS - 1, &to->channel);
		set_string(reader, from, "header", &to->header);
		set_bool(reader, from, "lost", &to->lost);
		set_string(reader, from, "record", &to->record);
		set_string(reader, from, "begun", &to->begun);
		meta->streams += to->src >= 0 && to->channel >= 0;
	}
}

static void read_rest(struct reader *reader, struct json_object *object, struct meta *meta)
{
	struct json_object *array, *from;
	size_t count, i;

	meta->rest = new_array(reader, object, "rest", META_STREAMS_MAX, sizeof(*meta->rest),
			       &count, &array);
	for (i = 0; i < count; i++) {
		struct meta_rest *to = &meta->rest[meta->rests];

		from = element(reader, "rest", array, i);
		if (!from)
			continue;
		*to = (struct meta_rest){ .src = -1, .channel = -1 };
		set_number(reader, from, "src", PERFREC_SOURCES - 1, &to->src);
		set_number(reader, from, "channel", PERFREC_CHANNELS - 1, &to->channel);
		set_u64(reader, from, "offset", &to->offset);
		meta->rests += to->src >= 0 && to->channel >= 0;
	}
}

#define NUMBER(type, name)	{ #name, offsetof(struct type, name) }

/* Read the numbers whose keys are in @number, up to a NULL, into a struct, unless @from is NULL. */
static void set_numbers(struct reader *reader, struct json_object *from,
			const struct number *number, void *to)
{
	for (; from && number->key; number++)
		set_u64(reader, from, number->key, (uint64_t *)((char *)to + number->offset));
}

/* Read an array of at most @most groups of numbers, each into a struct of @size bytes. */
static void *read_numbers(struct reader *reader, struct json_object *object, const char *key,
			  size_t most, size_t size, const struct number *number, size_t *read)
{
	struct json_object *array, *from;
	size_t count, i;
	char *to = new_array(reader, object, key, most, size, &count, &array);

	for (i = 0; i < count; i++) {
		from = element(reader, key, array, i);
		if (from)
			set_numbers(reader, from, number, to + (*read)++ * size);
	}
	return to;
}

static void read_coverage(struct reader *reader, struct json_object *object,
			  struct meta_coverage *coverage)
{
	static const struct number number[] = {
		NUMBER(meta_coverage, bytes), NUMBER(meta_coverage, buffer),
		NUMBER(meta_coverage, run_ns), NUMBER(meta_coverage, gaps),
		NUMBER(meta_coverage, gap_bytes), NUMBER(meta_coverage, pauses),
		NUMBER(meta_coverage, paused_ns), { 0 },
	};
	static const struct number gap[] = {
		NUMBER(meta_gap, begin), NUMBER(meta_gap, end), NUMBER(meta_gap, bytes),
		NUMBER(meta_gap, dropped), { 0 },
	};
	struct json_object *from = get_object(reader, object, "coverage");

	if (from) {
		coverage->known = true;
		set_bool(reader, from, "full", &coverage->full);
		set_bool(reader, from, "limit", &coverage->limit);
		set_bool(reader, from, "running", &coverage->running);
		set_u32(reader, from, "counters_lost", &coverage->counters_lost);
		set_numbers(reader, from, number, coverage);
		coverage->gap = read_numbers(reader, from, "missing", META_GAPS_MAX,
					     sizeof(*coverage->gap), gap, &coverage->listed);
	}
}

static void read_trigger(struct reader *reader, struct json_object *from,
			 struct meta_trigger *trigger)
{
	trigger->tid = -1;
	set_string(reader, from, "function", &trigger->function);
	set_u64(reader, from, "call", &trigger->call);
	set_id(reader, from, "tid", &trigger->tid);
	set_u64(reader, from, "took_ns", &trigger->took_ns);
	set_u64(reader, from, "limit_ns", &trigger->limit_ns);
	set_bool(reader, from, "last", &trigger->last);
	trigger->timed = get_u64(reader, from, "from", &trigger->from);
	trigger->ended = get_u64(reader, from, "to", &trigger->to);
}

/* Read the losses, which are incomplete after an invalid value. */
static void read_losses(struct reader *reader, struct json_object *object, struct meta *meta)
{
	static const struct number number[] = {
		NUMBER(meta_lost, signals), NUMBER(meta_lost, threads), NUMBER(meta_lost, abandoned),
		NUMBER(meta_lost, refused), NUMBER(meta_lost, children), NUMBER(meta_lost, samples),
		NUMBER(meta_lost, dropped), NUMBER(meta_lost, switches), NUMBER(meta_lost, processes),
		NUMBER(meta_lost, elsewhere), NUMBER(meta_lost, wakeups), NUMBER(meta_lost, encoders),
		NUMBER(meta_lost, unrecorded), { 0 },
	};
	const unsigned int complaints = reader->complaints;

	read_coverage(reader, object, &meta->coverage);
	set_numbers(reader, get_object(reader, object, "lost"), number, &meta->lost);
	meta->lost.unknown = reader->complaints > complaints;
}

static void read_groups(struct reader *reader, struct json_object *object, struct meta *meta)
{
	static const struct number instant[] = {
		NUMBER(meta_utc, time), NUMBER(meta_utc, ns), NUMBER(meta_utc, within), { 0 },
	};
	struct meta_sampling *sampling = &meta->sampling;
	struct json_object *from = get_object(reader, object, "sampling");

	if (from) {
		set_number(reader, from, "channel", PERFREC_CHANNELS - 1,
			   &sampling->channel);
		set_u64(reader, from, "interval_ns", &sampling->interval_ns);
		set_u64(reader, from, "period", &sampling->period);
		set_u64(reader, from, "header_interval", &sampling->header_interval);
		set_string(reader, from, "event", &sampling->event);
	}

	from = get_object(reader, object, "switches");
	if (from) {
		set_number(reader, from, "channel", PERFREC_CHANNELS - 1, &meta->switches);
		set_u64(reader, from, "encoders", &meta->encoders);
	}

	from = get_object(reader, object, "trigger");
	if (from)
		read_trigger(reader, from, &meta->trigger);

	from = get_object(reader, object, "part");
	if (from) {
		set_string(reader, from, "from", &meta->part.from);
		set_string(reader, from, "to", &meta->part.to);
		set_u64(reader, from, "depth", &meta->part.depth);
		meta->part.function = read_strings(reader, from, "functions", META_FUNCTIONS_MAX,
						   &meta->part.functions);
		set_string(reader, from, "filter", &meta->part.filter);
		set_u64(reader, from, "left_out", &meta->part.left_out);
		set_u64(reader, from, "threshold_ns", &meta->part.threshold);
	}

	set_numbers(reader, get_object(reader, object, "utc"), instant, &meta->utc);
	set_numbers(reader, get_object(reader, object, "utc_start"), instant, &meta->utc_start);
	meta->sample = read_numbers(reader, object, "clock_samples", 2, sizeof(*meta->sample),
				    instant, &meta->samples);
}

/* Read the name of the copies' directory, which must be in the side-car file's directory. */
static void read_files(struct reader *reader, struct json_object *object, struct meta *meta)
{
	const char *dir = strrchr(reader->name, '/'), *name = NULL;
	const int length = dir ? (int)(dir + 1 - reader->name) : 0;

	set_string(reader, object, "files", &name);
	if (name && (!*name || !strcmp(name, ".") || !strcmp(name, "..") || strchr(name, '/')))
		complain(reader, "files", "the name of a directory");
	else if (name && asprintf(&meta->files, "%.*s%s", length, reader->name, name) < 0)
		meta->files = NULL;
	meta->generated = read_strings(reader, object, "generated", META_GENERATED_MAX,
				       &meta->lists);
}

/* If the value is unknown, omit the kernel's instructions. */
static void read_instruction(struct reader *reader, struct json_object *object, struct meta *meta)
{
	struct json_object *from = get(object, "instruction");
	const char *calls = "";

	if (!from)
		return;
	meta->flow = true;
	meta->calls = META_CALLS_USER;
	if (json_object_is_type(from, json_type_object))
		set_string(reader, from, "calls", &calls);
	if (!strcmp(calls, "kernel"))
		meta->calls = META_CALLS_KERNEL;
	else if (!strcmp(calls, "all"))
		meta->calls = META_CALLS_ALL;
	else if (strcmp(calls, "user"))
		complain(reader, "instruction", "of \"user\", \"kernel\" or \"all\" calls");
}

static void read_scheme(struct reader *reader, struct json_object *object, struct meta *meta)
{
	const char *name = NULL;

	set_string(reader, object, "ts_scheme", &name);
	if (!name)
		return;
	if (!strcmp(name, "xor"))
		meta->ts_scheme = NEXUS_TS_XOR;
	else if (!strcmp(name, "delta"))
		meta->ts_scheme = NEXUS_TS_DELTA;
	else
		complain(reader, "ts_scheme", "\"xor\" or \"delta\"");
}

static void read_all(struct reader *reader, struct json_object *object, struct meta *meta)
{
	bool wrapped = false;
	int version = 1;

	set_number(reader, object, "version", INT_MAX, &version);
	if (version != 1)
		report("%s: version %d, but this command supports version 1: newer fields are ignored",
		       reader->name, version);
	set_number(reader, object, "srcbits", NEXUS_SRC_BITS_MAX, &meta->src_bits);
	set_number(reader, object, "ts_width", 64, &meta->ts_width);
	set_u64(reader, object, "ts_hz", &meta->ts_hz);
	if (meta->ts_hz > META_HZ_MAX) {
		complain(reader, "ts_hz", "a number from 0 to 100000000000");
		meta->ts_hz = 0;
	}
	read_scheme(reader, object, meta);
	set_bool(reader, object, "wrapped", &wrapped);
	meta->wrapped = wrapped;
	set_number(reader, object, "count_type", SIFIVE_TRACE_RECORD_TYPE_MAX, &meta->count_type);
	set_number(reader, object, "channel", PERFREC_CHANNELS - 1, &meta->channel);
	set_u64(reader, object, "header_interval", &meta->header_interval);
	set_bool(reader, object, "per_thread", &meta->per_thread);
	meta->hart_counts = get(object, "per_thread") && !meta->per_thread;
	set_bool(reader, object, "ts_channels", &meta->ts_channels);
	set_bool(reader, object, "early", &meta->early);
	read_files(reader, object, meta);
	set_string(reader, object, "exe", &meta->exe);
	set_string(reader, object, "host", &meta->host);
	set_string(reader, object, "board", &meta->board);
	meta->arg = read_strings(reader, object, "args", META_ARGS_MAX, &meta->args);
	read_sources(reader, object, meta);
	read_counters(reader, object, meta);
	set_u32(reader, object, "turn_us", &meta->turn_us);
	set_u32(reader, object, "shared", &meta->shared);
	set_number(reader, object, "piece", INT_MAX, &meta->piece);
	set_bool(reader, object, "continued", &meta->continued);
	read_clocks(reader, object, meta);
	read_streams(reader, object, meta);
	read_rest(reader, object, meta);
	read_threads(reader, object, meta);
	read_processes(reader, object, meta);
	read_objects(reader, object, meta);
	read_instruction(reader, object, meta);
	read_losses(reader, object, meta);
	read_groups(reader, object, meta);
	if (reader->complaints > COMPLAINTS_MAX)
		report("%s: %u more values ignored", reader->name,
		       reader->complaints - COMPLAINTS_MAX);
}

void meta_init(struct meta *meta)
{
	*meta = (struct meta){
		.src_bits = -1, .ts_width = -1, .ts_scheme = -1, .wrapped = -1,
		.count_type = -1, .channel = -1, .sampling.channel = -1, .switches = -1,
		.piece = -1,
	};
}

/* Return whether the text is within the limits; no recorder writes that many commas in strings. */
static bool is_fair(const char *text, size_t length)
{
	size_t groups = 0, values = 1, i;

	for (i = 0; i < length; i++) {
		groups += text[i] == '{';
		values += text[i] == '{' || text[i] == '[' || text[i] == ',';
	}
	return groups <= META_GROUPS_MAX && values <= META_VALUES_MAX;
}

int meta_parse(const char *name, const char *text, size_t length, struct meta *meta)
{
	struct json_tokener *tokener;
	struct reader reader = { .name = name };
	struct json_object *object;
	enum json_tokener_error error;

	meta_init(meta);
	if (length > META_BYTES_MAX) {
		report("%s: over %u bytes: not a side-car file (" META_ADVICE ")", name,
		       META_BYTES_MAX);
		return -1;
	}
	if (!is_fair(text, length)) {
		report("%s: over %u groups or %u values: not a side-car file (" META_ADVICE ")",
		       name, META_GROUPS_MAX, META_VALUES_MAX);
		return -1;
	}
	tokener = json_tokener_new_ex(META_DEPTH_MAX);
	if (!tokener) {
		report("%s: out of memory", name);
		return -1;
	}
	object = json_tokener_parse_ex(tokener, text, (int)length);
	error = json_tokener_get_error(tokener);
	if (!json_object_is_type(object, json_type_object)) {
		report("%s: not a JSON object (%s, at byte %zu): " META_ADVICE, name,
		       error == json_tokener_continue ? "unexpected end" :
		       error == json_tokener_success ? "another type of value" :
		       json_tokener_error_desc(error),
		       json_tokener_get_parse_end(tokener));
		json_object_put(object);
		json_tokener_free(tokener);
		return -1;
	}
	json_tokener_free(tokener);
	/* Enough for all strings: each has two quotation marks in the text, but one NUL here. */
	meta->strings = malloc(length);
	reader.strings = meta->strings;
	if (meta->strings)
		read_all(&reader, object, meta);
	else
		report("%s: out of memory", name);
	json_object_put(object);
	return meta->strings ? 0 : -1;
}

void meta_free(struct meta *meta)
{
	free(meta->files);
	free(meta->generated);
	free(meta->arg);
	free(meta->part.function);
	free(meta->source);
	free(meta->counter);
	free(meta->thread);
	free(meta->process);
	free(meta->object);
	free(meta->in);
	free(meta->clock);
	free(meta->sample);
	free(meta->coverage.gap);
	free(meta->stream);
	free(meta->rest);
	free(meta->strings);
	meta_init(meta);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Looks up objects in memory and their files, with a cache: see symbols.h. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "compare.h"
#include "generated.h"
#include "hash.h"
#include "image.h"
#include "kernel.h"
#include "perfrec/perfrec.h"
#include "places.h"
#include "plain_names.h"
#include "symbols.h"
#include "text.h"

/*
 * Number of slots in the address cache. Most traces repeat a few addresses, but a damaged
 * trace may contain any number of others, so a new result replaces the one in its slot.
 */
#define CACHE_BITS	14
/* Number of slots in the call-site cache. */
#define CALLERS_BITS	12
/* Prefixes of internal names: the library's shared object, and compiler hooks. */
#define LIBRARY_NAME	"libsifive-perf.so"
#define HOOK_NAME	"__cyg_profile_func_"
/* Name in side-car files for the code that the library generates, which no file contains. */
#define WRITERS		LIBRARY_NAME ":writers"

struct answer {
	bool		valid;
	uint64_t	address;
	struct symbol	symbol;
};

/* A mapped file, which is opened on first use. */
struct object {
	const char	*name;
	const char	*path;
	const char	*build_id;
	uint64_t	start;
	uint64_t	last;		/* last address */
	uint64_t	bias;
	const char	*given;		/* file named with -e, or NULL */
	bool		tried;
	bool		expected;	/* the trace contains addresses of its functions */
	struct image	*image;
	/* The object for the same part of the same file in the first process that mapped it. */
	struct object	*first;
};

/* A cached call site, and the start of the function that contains it, or 0 for none. */
struct caller {
	uint64_t	call_site;
	uint64_t	function;
};

struct symbols {
	const struct symbols_options *options;
	const char	*copies;	/* directory beside the trace, or NULL */
	struct object	*object;	/* objects by start */
	size_t		objects;
	struct places	*places;
	struct generated *generated;
	bool		any;		/* there are objects or generated functions */
	uint64_t	time;
	bool		time_known;
	struct places_writer writer;
	bool			writer_known;
	bool			processes;	/* the writer's process matters */
	const char	*trace;		/* trace with the kernel's names, or NULL */
	struct kernel	*kernel;
	char		*given[SYMBOLS_FILES_MAX];
	bool		used[SYMBOLS_FILES_MAX];
	char		*debug;
	struct plain_names names;
	struct answer	cache[1 << CACHE_BITS];
	struct caller	caller[1 << CALLERS_BITS];
};

static int by_start(const void *a, const void *b)
{
	const struct object *one = a, *two = b;

	return compare_numbers(one->start, two->start);
}

/* Compare the files' identities: build-id, or else path. */
static int compare_files(const struct object *one, const struct object *two)
{
	if (!one->build_id != !two->build_id)
		return one->build_id ? 1 : -1;
	return one->build_id ? strcmp(one->build_id, two->build_id) :
			       strcmp(one->path, two->path);
}

/* Compare the identities of parts of files. */
static int compare_parts(const struct object *one, const struct object *two)
{
	int result = compare_files(one, two);

	if (!result)
		result = compare_numbers(one->start - one->bias, two->start - two->bias);
	return result ? result : compare_numbers(one->last - one->bias,
						 two->last - two->bias);
}

static int by_part(const void *a, const void *b)
{
	struct object * const *one = a, * const *two = b;
	int result = compare_parts(*one, *two);

	return result ? result : compare_numbers((*one)->start, (*two)->start);
}

/*
 * Merge objects that several processes share. Return false if out of memory.
 */
static bool find_same(struct symbols *symbols)
{
	struct object **list = calloc(symbols->objects + 1, sizeof(*list));
	size_t i;

	if (!list)
		return false;
	for (i = 0; i < symbols->objects; i++)
		list[i] = &symbols->object[i];
	qsort(list, symbols->objects, sizeof(*list), by_part);
	for (i = 0; i < symbols->objects; i++)
		list[i]->first = i && !compare_parts(list[i], list[i - 1]) ?
				 list[i - 1]->first : list[i];
	free(list);
	return true;
}

/* Return the file given with -e for this object: by build-id, or else by name. */
static const char *given_file(struct symbols *symbols,
			      const struct object *object)
{
	char id[IMAGE_BUILD_ID_SIZE];
	unsigned int i;

	for (i = 0; i < symbols->options->files; i++) {
		image_build_id(symbols->given[i], id);
		if (object->build_id && *id ? strcmp(id, object->build_id) :
		    strcmp(text_base(symbols->given[i]), object->name))
			continue;
		symbols->used[i] = true;
		return symbols->given[i];
	}
	return NULL;
}

static bool add_meta_objects(struct symbols *symbols, const struct meta *meta)
{
	size_t i;

	symbols->object = calloc(meta->objects + SYMBOLS_FILES_MAX,
				 sizeof(*symbols->object));
	if (!symbols->object || places_new(meta, &symbols->places) ||
	    generated_new(meta, &symbols->generated))
		return false;
	for (i = 0; i < meta->objects; i++) {
		const struct meta_object *from = &meta->object[i];
		const uint64_t shift = places_shift(symbols->places, i);
		struct object *to = &symbols->object[i];

		to->name = text_base(from->path);
		to->path = from->path;
		to->build_id = from->build_id;
		to->start = from->start + shift;
		to->last = from->end - 1 + shift;
		to->bias = from->bias + shift;
		to->given = given_file(symbols, to);
	}
	symbols->objects = meta->objects;
	symbols->processes = meta->processes || meta->lists;
	return true;
}

/* Add a file for addresses that are not in any object of the side-car file. */
static int add_given(struct symbols *symbols, unsigned int index,
		     uint64_t bias)
{
	struct object *object = &symbols->object[symbols->objects];
	const char *path = symbols->given[index], *error;
	uint64_t first, last;

	if (access(path, R_OK)) {
		report("%s: cannot open: %s", path, strerror(errno));
		return -1;
	}
	object->image = image_open(path, symbols->debug, &error);
	if (!object->image) {
		report("%s: not an ELF program: %s: name the traced program with -e",
		       path, error);
		return -1;
	}
	if (image_is_foreign(path))
		report("%s: not a RISC-V file: name the traced program with -e",
		       path);
	object->name = text_base(path);
	object->path = path;
	object->tried = true;
	object->bias = bias;
	if (!image_range(object->image, &object->start, &object->last)) {
		report("%s: no symbols (stripped?): functions are shown as addresses",
		       path);
		object->start = UINT64_MAX;
		object->last = 0;
	}
	if (image_code(object->image, &first, &last)) {
		object->start = object->start < first ? object->start : first;
		object->last = object->last > last ? object->last : last;
	}
	if (object->start <= object->last) {
		object->start += bias;
		object->last += bias;
	} else {
		object->start = 0;
		object->last = 0;
	}
	symbols->objects++;
	return 0;
}

static int add_given_files(struct symbols *symbols, const struct meta *meta)
{
	unsigned int i;

	for (i = 0; i < symbols->options->files; i++) {
		char id[IMAGE_BUILD_ID_SIZE];
		uint64_t bias;

		if (symbols->used[i])
			continue;
		if (symbols_split(symbols->given[i], &bias) || !meta->objects) {
			if (add_given(symbols, i, bias))
				return -1;
			continue;
		}
		if (!image_build_id(symbols->given[i], id)) {
			report("%s: not an ELF program", symbols->given[i]);
			return -1;
		}
		report("%s: not in this trace: no object in the side-car file has its %s",
		       symbols->given[i], *id ? "build-id" : "name");
	}
	return 0;
}

/* Return the search path for separate debug information, in libdwfl's format. */
static char *debug_dirs(const char *symfs)
{
	char *path;

	if (!symfs)
		return NULL;
	if (asprintf(&path, ":.debug:%s/usr/lib/debug:%s:/usr/lib/debug", symfs,
		     symfs) < 0)
		return NULL;
	return path;
}

struct symbols *symbols_open(const struct symbols_options *options,
			     const struct meta *meta)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	unsigned int i;
	bool fine;

	if (!symbols) {
		report("out of memory");
		return NULL;
	}
	if (options->symfs && access(options->symfs, X_OK)) {
		report("--symfs %s: cannot be read: %s", options->symfs,
		       strerror(errno));
		free(symbols);
		return NULL;
	}
	symbols->options = options;
	symbols->copies = meta->files;
	symbols->debug = debug_dirs(options->symfs);
	symbols->names.demangle = options->demangle;
	fine = !options->symfs || symbols->debug;
	for (i = 0; i < options->files; i++) {
		symbols->given[i] = strdup(options->file[i]);
		fine = fine && symbols->given[i];
	}
	if (!fine || !add_meta_objects(symbols, meta)) {
		report("out of memory");
		symbols_close(symbols);
		return NULL;
	}
	if (add_given_files(symbols, meta)) {
		symbols_close(symbols);
		return NULL;
	}
	symbols->any = symbols->objects || symbols->generated;
	qsort(symbols->object, symbols->objects, sizeof(*symbols->object),
	      by_start);
	if (!find_same(symbols)) {
		report("out of memory");
		symbols_close(symbols);
		return NULL;
	}
	return symbols;
}

/* Free everything but the structure itself. */
static void empty(struct symbols *symbols)
{
	size_t i;

	for (i = 0; i < symbols->objects; i++)
		image_close(symbols->object[i].image);
	plain_names_free(&symbols->names);
	for (i = 0; i < symbols->options->files; i++)
		free(symbols->given[i]);
	kernel_close(symbols->kernel);
	generated_free(symbols->generated);
	places_free(symbols->places);
	free(symbols->object);
	free(symbols->debug);
}

void symbols_close(struct symbols *symbols)
{
	if (symbols)
		empty(symbols);
	free(symbols);
}

bool symbols_renew(struct symbols *symbols, const struct meta *meta)
{
	struct symbols *next = symbols_open(symbols->options, meta);

	if (!next)
		return false;
	next->trace = symbols->trace;
	next->kernel = symbols->kernel;
	symbols->kernel = NULL;
	empty(symbols);
	*symbols = *next;
	free(next);
	return true;
}

void symbols_kernel(struct symbols *symbols, const char *trace)
{
	symbols->trace = trace;
}

void symbols_clock(struct symbols *symbols, uint64_t hz, uint64_t ts_mask)
{
	places_wrap(symbols->places, ts_mask);
	generated_clock(symbols->generated, hz, ts_mask);
}

void symbols_when(struct symbols *symbols, const struct perfrec_stamp *stamp)
{
	if (!symbols)
		return;
	symbols->time_known = stamp->time_known;
	symbols->time = stamp->time;
	symbols->writer_known = false;
}

void symbols_where(struct symbols *symbols, const struct perfrec_record *record)
{
	symbols_when(symbols, &record->begin);
	if (!symbols || !symbols->processes)
		return;
	symbols->writer_known = true;
	symbols->writer = (struct places_writer){ .channel = record->channel };
	symbols->writer.thread = perfrec_thread(record);
	symbols->writer.named = symbols->writer.thread != 0;
}

/* Return whether a file matches the object in memory, judging by their build-ids. */
static bool right_file(const struct object *object, const char *path)
{
	char id[IMAGE_BUILD_ID_SIZE];

	if (!image_build_id(path, id))
		return false;
	if (!object->build_id || !strcmp(id, object->build_id))
		return true;
	report("%s: build-id %s, but the trace was recorded with %s: not used (name the right file with -e or --symfs)",
	       path, *id ? id : "missing", object->build_id);
	return false;
}

static bool try_file(struct symbols *symbols, struct object *object,
		     const char *path)
{
	const char *error;

	if (access(path, R_OK) || !right_file(object, path))
		return false;
	object->image = image_open(path, symbols->debug, &error);
	if (!object->image)
		report("%s: not used: %s", path, error);
	return object->image;
}

/* Try the file with the object's build-id in a debug directory. */
static bool try_build_id(struct symbols *symbols, struct object *object,
			 const char *root)
{
	char path[PATH_MAX];

	if (!object->build_id || strlen(object->build_id) < 3 ||
	    strspn(object->build_id, "0123456789abcdef") !=
	    strlen(object->build_id))
		return false;
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", root,
		 object->build_id, object->build_id + 2);
	return try_file(symbols, object, path);
}

static void open_object(struct symbols *symbols, struct object *object)
{
	const char *symfs = symbols->options->symfs;
	char path[PATH_MAX];

	object->tried = true;
	if (!strcmp(object->path, WRITERS) || !strcmp(object->path, META_PROBES))
		return;
	if (object->given && try_file(symbols, object, object->given))
		return;
	if (symfs) {
		snprintf(path, sizeof(path), "%s/%s", symfs, object->path);
		if (try_file(symbols, object, path))
			return;
		snprintf(path, sizeof(path), "%s/%s", symfs, object->name);
		if (try_file(symbols, object, path))
			return;
		snprintf(path, sizeof(path), "%s/usr/lib/debug", symfs);
		if (try_build_id(symbols, object, path) ||
		    try_build_id(symbols, object, symfs))
			return;
	}
	if (symbols->copies) {
		snprintf(path, sizeof(path), "%s/%s", symbols->copies, object->path);
		if (try_file(symbols, object, path))
			return;
	}
	if (try_file(symbols, object, object->path) ||
	    try_build_id(symbols, object, "/usr/lib/debug"))
		return;
	report("%s: not found: its functions are shown as addresses (name a copy with -e, or its root directory with --symfs)",
	       object->path);
}

static struct object *find_object(const struct symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->objects;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->object[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address > symbols->object[low - 1].last)
		return NULL;
	return &symbols->object[low - 1];
}

/* An object in memory without a file can contain generated functions. */
static bool has_file(const struct object *object)
{
	return object && strncmp(object->path, "/memfd:", 7);
}

static __attribute__((noinline)) uint64_t
find_code_place(const struct symbols *symbols, uint64_t place, uint64_t address,
		const uint64_t *time)
{
	uint64_t own;

	if (has_file(find_object(symbols, place)))
		return place;
	own = generated_place_any(symbols->generated, symbols->places, address, time);
	return own == address ? place : own;
}

uint64_t symbols_place_at(const struct symbols *symbols, uint64_t address,
			  const uint64_t *time)
{
	uint64_t place;

	if (!symbols || !symbols->places)
		return address;
	place = places_find(symbols->places, address, time, NULL);
	return generated_has_code(symbols->generated) ?
	       find_code_place(symbols, place, address, time) : place;
}

/* Not inlined, because most traces have no places. */
static __attribute__((noinline)) uint64_t
find_place(const struct symbols *symbols, uint64_t address)
{
	const struct places_writer *writer = symbols->writer_known ? &symbols->writer : NULL;
	const uint64_t *time = symbols->time_known ? &symbols->time : NULL;
	uint64_t place, own;

	place = places_find(symbols->places, address, time, writer);
	if (!symbols->generated || has_file(find_object(symbols, place)))
		return place;
	own = generated_place(symbols->generated, symbols->places, address, time, writer);
	return own == address ? place : own;
}

uint64_t symbols_place(const struct symbols *symbols, uint64_t address)
{
	return symbols && symbols->places ? find_place(symbols, address) : address;
}

/* Return the object's file, which all its processes share, or NULL. */
static struct image *image_of(struct symbols *symbols, struct object *object)
{
	if (!object->first->tried)
		open_object(symbols, object->first);
	return object->first->image;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Return whether a function belongs to the tracing library in a statically linked program. */
static bool is_tracer(const struct image *image, const char *function)
{
	static const char * const names[] = {
		"perf_", "perfTrace", "perfWrite", "sifive_trace_", "write_claimed",
		"write_instead",
	};
	size_t i;

	if (begins(function, HOOK_NAME))
		return true;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (begins(function, names[i]))
			return image_has_tracer(image);
	return false;
}

/* Find a mark that replaces a caller; @address is the mark or the address before it. */
static bool find_mark(uint64_t address, struct symbol *symbol)
{
	memset(symbol, 0, sizeof(*symbol));
	if (address == PERFREC_CUT || address == PERFREC_CUT - 1)
		*symbol = (struct symbol){ .function = "[cut]", .start = PERFREC_CUT };
	else if (address == PERFREC_UNKNOWN || address == PERFREC_UNKNOWN - 1)
		*symbol = (struct symbol){ .function = "[unknown]", .start = PERFREC_UNKNOWN };
	symbol->known = symbol->function;
	return symbol->known;
}

static void find_kernel(struct symbols *symbols, uint64_t address, struct symbol *symbol)
{
	const struct kernel_function *function;

	if (!perfrec_is_kernel(address))
		return;
	if (symbols->trace)
		symbols->kernel = kernel_open(symbols->trace);
	symbols->trace = NULL;
	function = kernel_find(symbols->kernel, address);
	if (!function)
		return;
	*symbol = (struct symbol){
		.known = true, .function = function->name, .start = function->start,
		.object = function->module, .offset = address,
	};
}

static void look_up(struct symbols *symbols, uint64_t address,
		    struct symbol *symbol)
{
	const struct image_function *function;
	struct object *object = find_object(symbols, address);
	struct image *image;

	if (find_mark(address, symbol) || generated_find(symbols->generated, address, symbol))
		return;
	if (!object || !strcmp(object->path, META_KERNEL)) {
		find_kernel(symbols, address, symbol);
		return;
	}
	image = image_of(symbols, object);
	address -= object->bias;
	symbol->offset = address;
	symbol->object = object->name;
	symbol->tracer = begins(object->name, LIBRARY_NAME);
	if (!strcmp(object->path, WRITERS)) {
		symbol->known = true;
		symbol->function = "record writer";
		symbol->generated = true;
		symbol->start = object->start;
		return;
	}
	function = image ? image_function(image, address) : NULL;
	if (!function)
		return;
	symbol->known = true;
	if (function->name) {
		symbol->function = plain_names_find(&symbols->names, function->name,
						    function->rank == IMAGE_STUB);
		symbol->tracer |= is_tracer(image, function->name);
	}
	symbol->start = function->start + object->bias;
	symbol->file = image_line(image, address, &symbol->line);
}

bool symbols_find(struct symbols *symbols, uint64_t address,
		  struct symbol *symbol)
{
	const uint64_t place = symbols_place(symbols, address);
	struct answer *answer;

	if (!symbols || (!symbols->any && !perfrec_is_kernel(address)))
		return find_mark(address, symbol);
	answer = &symbols->cache[hash_place(place, CACHE_BITS)];
	if (!answer->valid || answer->address != place) {
		look_up(symbols, place, &answer->symbol);
		answer->address = place;
		answer->valid = true;
	}
	*symbol = answer->symbol;
	symbol->start -= place - address;
	return symbol->known;
}

uint64_t symbols_same(struct symbols *symbols, uint64_t address)
{
	struct object *object = symbols && symbols->objects ?
				find_object(symbols, address) : NULL;

	return object ? address - object->bias + object->first->bias : address;
}

bool symbols_find_caller(struct symbols *symbols, uint64_t address,
			 struct symbol *symbol)
{
	struct symbol before;

	if (symbols_find(symbols, address, symbol) && symbol->start == address)
		return true;
	if (!symbols_find(symbols, address - 1, &before))
		return false;
	*symbol = before;
	symbol->offset++;
	return true;
}

bool symbols_object(struct symbols *symbols, uint64_t address,
		    struct symbols_object *found)
{
	struct object *object = symbols && symbols->objects ?
				find_object(symbols, address) : NULL;

	if (object && !object->tried)
		open_object(symbols, object);
	if (!object || !object->image)
		return false;
	found->name = object->name;
	found->path = image_path(object->image);
	found->bias = object->bias;
	return true;
}

struct image *symbols_image(struct symbols *symbols, uint64_t address, uint64_t *bias)
{
	struct object *object = symbols && symbols->objects ?
				find_object(symbols, address) : NULL;

	if (!object)
		return NULL;
	*bias = object->first->bias;
	return image_of(symbols, object);
}

bool symbols_named(struct symbols *symbols, const char *name, uint64_t *start,
		   struct symbols_object *found)
{
	const struct object *object = NULL;
	size_t i;

	for (i = 0; symbols && i < symbols->objects; i++) {
		if (strcmp(symbols->object[i].name, name))
			continue;
		if (object)
			return false;
		object = &symbols->object[i];
	}
	if (!object)
		return false;
	*start = object->start;
	return symbols_object(symbols, *start, found);
}

const uint8_t *symbols_code(struct symbols *symbols, uint64_t place, uint64_t *size)
{
	return symbols ? generated_code(symbols->generated, place, size) : NULL;
}

bool symbols_generated(const struct symbols *symbols, uint64_t place)
{
	struct symbol symbol;

	return generated_find(symbols->generated, place, &symbol);
}

const char *symbols_path(struct symbols *symbols, uint64_t address)
{
	const struct object *object = symbols ? find_object(symbols, address) : NULL;

	return object ? object->path : NULL;
}

bool symbols_probed(struct symbols *symbols, uint64_t address)
{
	const char *path = symbols_path(symbols, address);

	return path && !strcmp(path, META_PROBES);
}

void symbols_expect(struct symbols *symbols, uint64_t address)
{
	struct object *object = symbols && symbols->objects ?
				find_object(symbols, address) : NULL;

	if (object)
		object->first->expected = true;
}

uint64_t symbols_caller(struct symbols *symbols, uint64_t call_site)
{
	const struct image_function *function;
	struct object *object;
	struct caller *caller;
	struct image *image;

	if (!symbols || !symbols->objects || !call_site)
		return 0;
	call_site = symbols_place(symbols, call_site - 1) + 1;
	caller = &symbols->caller[hash_place(call_site, CALLERS_BITS)];
	if (caller->call_site == call_site)
		return caller->function;
	object = find_object(symbols, call_site - 1);
	if (!object || !object->first->expected)
		return 0;
	image = image_of(symbols, object);
	function = image ? image_function(image, call_site - 1 - object->bias) : NULL;
	caller->call_site = call_site;
	caller->function = function ? function->start + object->bias : 0;
	return caller->function;
}

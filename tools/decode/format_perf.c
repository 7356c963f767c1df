// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes the text files of SiFive's decoder, which Freedom Studio and Trace Compass read: BASE.perf
 * with all lines and, in a directory perf/, BASE.address, BASE.callret and one BASE.perfchannelN
 * per counter.
 *
 * The files have one line for each word that completes an address or a counter, in the order of the
 * words. A counter is complete when its upper part or the next word arrives.
 *
 * Differences from SiFive's decoder:
 * - SiFive's decoder prints neither the last counter of each source, nor records at addresses
 *   outside the program's code, nor anything after a second header.
 * - Here, values that are unknown after a loss are omitted.
 * - For a static function without line numbers, SiFive's decoder prints the file name from the
 *   symbol table.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code.h"
#include "command.h"
#include "format.h"
#include "options.h"
#include "output.h"
#include "text.h"
#include "turns.h"

/* The output files, except the counters' files. */
enum {
	FILE_ALL = PERFREC_COUNTERS,
	FILE_ADDRESS,
	FILE_CALLRET,
	FILES
};

/* Number of entries in the cache of instruction starts. */
#define RECENT	1024

/**
 * struct recent - an address, and whether an instruction begins there
 * @place:	address from symbols_place()
 * @inside:	the address is within an instruction
 */
struct recent {
	bool		valid;
	bool		inside;
	uint64_t	place;
};

struct perf {
	const char	*elf;
	struct symbols	*symbols;
	struct code	*code;
	struct recent	recent[RECENT];
	char		dir[PATH_MAX];
	char		base[NAME_MAX];
	struct output	*file[FILES];
	char		*name[FILES];	/* their paths */
	char		*line;		/* the latest line */
	size_t		room;		/* size of @line in bytes */
	/*
	 * Sources that have sent no absolute time since the latest Error message of any source.
	 * Their times are 0, as in SiFive's decoder.
	 */
	bool		astray[NEXUS_SOURCES];
	bool		failed;
};

/* Values in a line that the record itself does not contain. */
struct place {
	unsigned int	core;
	int32_t		time;
	uint64_t	address;
	struct symbol	symbol;
};

static int make_dir(const char *path)
{
	if (!output_mkdir(path) || errno == EEXIST)
		return 0;
	report("%s: cannot create this directory: %s", path, strerror(errno));
	return -1;
}

static void file_path(const struct perf *perf, unsigned int which, char *path,
		      size_t size)
{
	static const char * const names[] = {
		[FILE_ALL] = "perf",
		[FILE_ADDRESS] = "address",
		[FILE_CALLRET] = "callret",
	};

	if (which < PERFREC_COUNTERS)
		snprintf(path, size, "%s/perf/%s.perfchannel%u", perf->dir,
			 perf->base, which);
	else
		snprintf(path, size, "%s/%s%s.%s", perf->dir,
			 which == FILE_ALL ? "" : "perf/", perf->base,
			 names[which]);
}

/* Remove files left by an earlier run, because they could be mistaken for this trace's files. */
static int remove_old(const struct perf *perf, const struct options *options)
{
	char path[PATH_MAX + 2 * NAME_MAX];
	unsigned int i;

	for (i = 0; i < FILES; i++) {
		file_path(perf, i, path, sizeof(path));
		if (!options_spares(options, path) || !output_spares(path, perf->elf))
			return -1;
		unlink(path);
	}
	return 0;
}

/* Set the output directory: the directory given with -o or, without -o, the trace's directory. */
static int set_dir(struct perf *perf, const struct format_options *options)
{
	const char *slash = strrchr(options->trace, '/');
	int length;

	if (options->output)
		length = snprintf(perf->dir, sizeof(perf->dir), "%s",
				  options->output);
	else if (slash)
		length = snprintf(perf->dir, sizeof(perf->dir), "%.*s",
				  (int)(slash - options->trace) + 1,
				  options->trace);
	else
		length = snprintf(perf->dir, sizeof(perf->dir), ".");
	if (length >= (int)sizeof(perf->dir)) {
		report("%s: path too long", options->trace);
		return -1;
	}
	return options->output ? make_dir(perf->dir) : 0;
}

static void *perf_open(const struct format_options *options)
{
	const char *name = text_base(options->elf ? options->elf :
						    options->trace);
	struct perf *perf = calloc(1, sizeof(*perf));
	char *dot;

	if (!perf) {
		report("out of memory");
		return NULL;
	}
	if (turns_refuse(options->input, "--format perf")) {
		free(perf);
		return NULL;
	}
	perf->elf = options->elf ? options->elf : "";
	perf->symbols = options->symbols;
	perf->code = code_new(perf->symbols, META_CALLS_ALL);
	if (!perf->code) {
		report("out of memory");
		free(perf);
		return NULL;
	}
	if (!strcmp(name, "-"))
		name = "trace";
	snprintf(perf->base, sizeof(perf->base), "%s", name);
	dot = strrchr(perf->base, '.');
	if (dot && dot != perf->base)
		*dot = '\0';
	if (set_dir(perf, options) || remove_old(perf, options->input->options)) {
		code_free(perf->code);
		free(perf);
		return NULL;
	}
	return perf;
}

static int perf_close(void *context)
{
	struct perf *perf = context;
	bool failed = perf->failed;
	size_t i;

	for (i = 0; i < FILES; i++) {
		failed |= output_close(perf->file[i]) != 0;
		free(perf->name[i]);
	}
	free(perf->line);
	code_free(perf->code);
	free(perf);
	return failed ? -1 : 0;
}

static bool perf_stop(void *context)
{
	struct perf *perf = context;
	size_t i;

	for (i = 0; i < FILES; i++)
		perf->failed |= perf->file[i] && output_failed(perf->file[i]);
	return perf->failed;
}

static const char *count_type(const struct perfrec_header *header)
{
	return header->count_type == PERFREC_RAW ? "RAW" :
	       perfrec_count_type_name(header->count_type);
}

/* Create and return a file, just before its first line is written; return NULL on failure. */
static struct output *create_file(struct perf *perf, unsigned int which,
				  const struct perfrec_header *header)
{
	char path[PATH_MAX + 2 * NAME_MAX];
	struct output *file;

	if (perf->failed)
		return NULL;
	/* Reset below, once the file is open. */
	perf->failed = true;
	if (which != FILE_ALL) {
		snprintf(path, sizeof(path), "%s/perf", perf->dir);
		if (make_dir(path))
			return NULL;
	}
	file_path(perf, which, path, sizeof(path));
	perf->name[which] = strdup(path);
	if (!perf->name[which]) {
		report("out of memory");
		return NULL;
	}
	file = output_open(perf->name[which]);
	if (!file)
		return NULL;
	perf->failed = false;
	perf->file[which] = file;
	put_string(file, "# ELFPATH=");
	put_string(file, perf->elf);
	put_char(file, '\n');
	if (which != FILE_ALL)
		put_format(file, "# COUNT_TYPE: %s\n", count_type(header));
	return file;
}

static inline struct output *get_file(struct perf *perf, unsigned int which,
				      const struct perfrec_header *header)
{
	return perf->file[which] ? perf->file[which] : create_file(perf, which, header);
}

static int32_t short_time(const struct perf *perf, unsigned int src,
			  const struct perfrec_stamp *stamp)
{
	if (stamp->time_known == TIME_UNKNOWN || perf->astray[src])
		return 0;
	return (int32_t)(uint32_t)stamp->time;
}

static void perf_part(void *context, const struct perfrec_header *header, int part)
{
	struct perf *perf = context;
	const struct perfrec_counter *counter = &header->counter[part < 0 ? 0 : part];
	struct output *file[] = { get_file(perf, FILE_ALL, header), NULL };
	size_t i;

	if (!file[0])
		return;
	if (part == PERFREC_PART_COUNT_TYPE) {
		put_format(file[0], "# COUNT_TYPE: %s\n", count_type(header));
		return;
	}
	if (part == PERFREC_PART_MASK) {
		put_format(file[0], "[%u] %" PRId32 " [Perf Cntr Mask] [Mask=0x%08" PRIx32
			   "]\n", header->src,
			   short_time(perf, header->src, &header->mask_word),
			   header->mask);
		return;
	}
	file[1] = get_file(perf, counter->number, header);
	for (i = 0; i < 2 && file[i]; i++)
		put_format(file[i],
			   "[%u] %" PRId32 " [Perf Cntr Def] [Counter=%u] [Type=%" PRIu32
			   "] [Code=%" PRId32 "] [EventData=0x%08" PRIx64
			   "] [CntrCSR=0x%03x] [CntrBits=%u]\n", header->src,
			   short_time(perf, header->src, &counter->end),
			   counter->number, counter->type, (int32_t)counter->code,
			   counter->event_data, counter->csr, counter->width);
}

static bool is_inside(struct perf *perf, const struct place *place)
{
	const uint64_t key = symbols_place(perf->symbols, place->address);
	struct recent *recent = &perf->recent[key / 2 % RECENT];
	struct block *block;

	if (recent->valid && recent->place == key)
		return recent->inside;
	block = code_block(perf->code, place->symbol.start);
	while (block && block_end(block) <= place->address)
		block = code_next(perf->code, block);
	*recent = (struct recent){
		.valid = true, .place = key,
		.inside = block && !code_is_boundary(block, (unsigned int)
						     (place->address - block->start) / 2),
	};
	return recent->inside;
}

static void find_place(struct perf *perf, const struct perfrec_record *record,
		       const struct perfrec_stamp *stamp, struct place *place)
{
	place->core = record->src;
	place->time = short_time(perf, record->src, stamp);
	place->address = record->address[record->type == PERFREC_EXIT];
	symbols_where(perf->symbols, record);
	symbols_find(perf->symbols, place->address, &place->symbol);
	/* SiFive's decoder prints source lines only for addresses where an instruction begins. */
	if (place->symbol.known && is_inside(perf, place)) {
		place->symbol.file = NULL;
		place->symbol.line = 0;
	}
	if (!place->symbol.function)
		place->symbol.function = "";
	if (!place->symbol.file)
		place->symbol.file = "";
}

/* Maximum length of a line, excluding its names. */
#define LINE_BYTES	256

/* Inline, so that the length of a literal is a compile-time constant. */
static inline char *put(char *to, const char *text)
{
	const size_t length = strlen(text);

	memcpy(to, text, length);
	return to + length;
}

static char *put_signed(char *to, int64_t number)
{
	if (number >= 0)
		return text_number(to, (uint64_t)number);
	*to = '-';
	return text_number(to + 1, -(uint64_t)number);
}

static char *put_address(char *to, uint64_t address)
{
	return text_hex(put(to, "0x"), address, 8);
}

/*
 * Write "[core] time". Return its end, with room for the rest of the line, or NULL if out of
 * memory.
 */
static char *begin_line(struct perf *perf, const struct place *place)
{
	const size_t room = LINE_BYTES + strlen(place->symbol.file) +
			    strlen(place->symbol.function);
	char *grown, *to;

	if (room > perf->room) {
		grown = realloc(perf->line, room);
		if (!grown) {
			report("out of memory");
			perf->failed = true;
			return NULL;
		}
		perf->line = grown;
		perf->room = room;
	}
	to = text_number(put(perf->line, "["), place->core);
	return put_signed(put(to, "] "), place->time);
}

/* End the line at @to, and write it to the main file and to file @which. */
static void end_line(struct perf *perf, unsigned int which, const struct perfrec_header *header,
		     const struct place *place, char *to)
{
	struct output *file[] = { get_file(perf, FILE_ALL, header),
				  get_file(perf, which, header) };
	size_t i;

	to = put(put(to, "ffl:"), place->symbol.file);
	to = put(put(to, ":"), place->symbol.function);
	to = put(put_signed(put(to, ":"), place->symbol.line), "\n");
	for (i = 0; i < 2 && file[i]; i++)
		put_bytes(file[i], perf->line, (size_t)(to - perf->line));
}

/*
 * Without these values, the line would be wrong, so omit it. struct trace_stats counts such
 * records.
 */
static bool is_known(const struct perfrec_record *record)
{
	return record->header && record->flags & PERFREC_ADDRESS_KNOWN;
}

static void perf_address(void *context, const struct perfrec_record *record)
{
	struct perf *perf = context;
	const struct perfrec_header *header = record->header;
	unsigned int which = FILE_CALLRET;
	struct place place;
	char *to;

	if (!is_known(record))
		return;
	find_place(perf, record, &record->address_end, &place);
	to = begin_line(perf, &place);
	if (!to)
		return;
	switch (record->type) {
	case PERFREC_ENTER:
		to = put_address(put(to, " [Func Enter at "), record->address[0]);
		to = put_address(put(to, "] [Called From "), record->address[1]);
		to = put(to, "] ");
		break;
	case PERFREC_EXIT:
		to = put_address(put(to, " [Func Exit] [Func at "), record->address[0]);
		to = put_address(put(to, "] [Returning to "), record->address[1]);
		to = put(to, "] ");
		break;
	default:
		to = put_address(put(to, " PC="), place.address);
		to = put(to, " [Address] ");
		which = FILE_ADDRESS;
		break;
	}
	end_line(perf, which, header, &place, to);
}

static void perf_counter(void *context, const struct perfrec_record *record,
			 unsigned int i, const struct perfrec_stamp *end)
{
	struct perf *perf = context;
	const struct perfrec_header *header = record->header;
	struct place place;
	char *to;

	if (!is_known(record))
		return;
	find_place(perf, record, end, &place);
	to = begin_line(perf, &place);
	if (!to)
		return;
	to = put_address(put(to, " PC="), place.address);
	to = text_number(put(to, " [Perf Cntr] [Index="), header->counter[i].number);
	to = put_signed(put(to, "] [Value="),
			header->count_type == PERFREC_DELTA_XOR ? (int64_t)record->value[i] :
								  (int64_t)record->sent[i]);
	end_line(perf, header->counter[i].number, header, &place, put(to, "]  "));
}

static void perf_error(void *context, const struct nexus_message *error)
{
	struct perf *perf = context;

	(void)error;
	memset(perf->astray, true, sizeof(perf->astray));
}

static void perf_message(void *context, const struct nexus_message *message)
{
	struct perf *perf = context;

	if (message->flags & NEXUS_SYNC && message->flags & NEXUS_TIMESTAMP)
		perf->astray[message->src] = false;
}

const struct format format_perf = {
	.name = "perf",
	.help = "the files of SiFive's decoder for Freedom Studio and Trace Compass, next to the trace",
	.open = perf_open,
	.ops = {
		.part = perf_part,
		.address = perf_address,
		.counter = perf_counter,
		.error = perf_error,
		.message = perf_message,
		.stop = perf_stop,
	},
	.close = perf_close,
	.undated = true,
	.outside = { .error = perf_error },
};

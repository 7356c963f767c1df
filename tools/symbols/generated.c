// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See generated.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "compare.h"
#include "generated.h"
#include "jitted.h"
#include "perf_map.h"
#include "text.h"
#include "utc.h"

/* These separate addresses are above those in places.h and below the kernel's. */
#define LIST_ADDRESSES	(6ull << 60)
#define CODE_ADDRESSES	(7ull << 60)
#define ADDRESSES_END	(8ull << 60)
/* Binary logarithm of the number of addresses reserved for each list, and each process's code. */
#define LIST_BITS	48
#define CODE_BITS	44

_Static_assert(META_GENERATED_MAX <= 1ull << (60 - LIST_BITS), "lists overlap code");
_Static_assert(JITTED_PLACES == 1ull << CODE_BITS, "addresses overlap those of other processes");
_Static_assert(META_GENERATED_MAX <= 1ull << (60 - CODE_BITS), "addresses overlap the kernel's");
_Static_assert(JITDUMP_END <= 1ull << LIST_BITS, "code overlaps separate addresses");

struct file {
	const char	*path;
	int64_t		pid;
	bool		dump;
};

/*
 * struct owner - the files of a process
 * @file:	the process's @dumps dumps, then its @lists lists
 * @tried:	the files have been read, if possible
 * @reported:	functions that are not known have been reported
 */
struct owner {
	int64_t			pid;
	const struct file	*file;
	size_t			dumps;
	size_t			lists;
	bool			tried;
	bool			reported;
	struct jitdump		**dump;
	size_t			read;		/* number of elements of @dump */
	struct jitted		*jitted;
	struct perf_map		*map;
};

/*
 * struct generated - the files of all processes
 * @file:	the @files files, sorted by process
 * @owner:	their @owners processes, sorted
 * @clock:	converts times of the trace to CLOCK_MONOTONIC
 * @error:	maximum error of these times in nanoseconds
 * @ticks, @ns:	the latest converted time
 */
struct generated {
	const struct meta	*meta;
	bool			alone;		/* the trace shows only one process */
	bool			has_code;
	uint64_t		bytes;		/* total size of the files that have been read */
	struct file		*file;
	size_t			files;
	struct owner		*owner;
	size_t			owners;
	struct utc		clock;
	uint64_t		error;
	uint64_t		ticks;
	uint64_t		ns;
};

/* ---- files ------------------------------------------------------------- */

static int by_process(const void *a, const void *b)
{
	const struct file *one = a, *two = b;
	const int result = compare_numbers((uint64_t)one->pid, (uint64_t)two->pid);

	if (result || one->dump != two->dump)
		return result ? result : two->dump - one->dump;
	return strcmp(one->path, two->path);
}

static int by_pid(const void *a, const void *b)
{
	return compare_numbers((uint64_t)((const struct owner *)a)->pid,
			       (uint64_t)((const struct owner *)b)->pid);
}

static bool is_alone(const struct meta *meta, const struct generated *generated)
{
	size_t i;

	for (i = 0; i < meta->threads; i++)
		if (meta->thread[i].pid != generated->owner[0].pid)
			return false;
	return generated->owners == 1 && !meta->processes;
}

static void add_file(struct generated *generated, const char *path)
{
	struct file file = { .path = path, .pid = perf_map_pid(path) };

	if (file.pid < 0 && *path == '/' && !strstr(path, "/../")) {
		file.pid = jitdump_pid(path);
		file.dump = true;
	}
	if (file.pid >= 0)
		generated->file[generated->files++] = file;
	generated->has_code |= file.pid >= 0 && file.dump;
}

static void add_owners(struct generated *generated)
{
	struct owner *owner = NULL;
	size_t i;

	for (i = 0; i < generated->files; i++) {
		const struct file *file = &generated->file[i];

		if (!owner || owner->pid != file->pid) {
			owner = &generated->owner[generated->owners++];
			*owner = (struct owner){ .pid = file->pid, .file = file };
		}
		owner->dumps += file->dump;
		owner->lists += !file->dump;
	}
}

int generated_new(const struct meta *meta, struct generated **generated)
{
	struct generated *made;
	size_t i;

	*generated = NULL;
	if (!meta->lists || !meta->files)
		return 0;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -1;
	made->meta = meta;
	made->file = calloc(meta->lists, sizeof(*made->file));
	made->owner = calloc(meta->lists, sizeof(*made->owner));
	if (!made->file || !made->owner) {
		generated_free(made);
		return -1;
	}
	for (i = 0; i < meta->lists; i++)
		add_file(made, meta->generated[i]);
	qsort(made->file, made->files, sizeof(*made->file), by_process);
	add_owners(made);
	made->alone = made->owners && is_alone(meta, made);
	made->clock.lack = "";
	*generated = made;
	return 0;
}

void generated_free(struct generated *generated)
{
	size_t i, k;

	if (!generated)
		return;
	for (i = 0; i < generated->owners; i++) {
		struct owner *owner = &generated->owner[i];

		jitted_free(owner->jitted);
		for (k = 0; k < owner->read; k++)
			jitdump_close(owner->dump[k]);
		free(owner->dump);
		perf_map_close(owner->map);
	}
	free(generated->owner);
	free(generated->file);
	free(generated);
}

bool generated_has_code(const struct generated *generated)
{
	return generated && generated->has_code;
}

/* Set @path to a file's path among the copies. Return false if there is no room to read it. */
static bool find_file(struct generated *generated, const struct file *file, char path[PATH_MAX])
{
	struct stat status;

	snprintf(path, PATH_MAX, "%s%s", generated->meta->files, file->path);
	if (stat(path, &status))
		return true;
	if ((uint64_t)status.st_size > META_LISTS_BYTES_MAX - generated->bytes) {
		report(META_LIST_UNUSED, path, "the lists and dumps exceed 256 MiB in total");
		return false;
	}
	generated->bytes += (uint64_t)status.st_size;
	return true;
}

static void read_dumps(struct generated *generated, struct owner *owner)
{
	char path[PATH_MAX];
	size_t i;

	owner->dump = calloc(owner->dumps + 1, sizeof(*owner->dump));
	for (i = 0; owner->dump && i < owner->dumps; i++) {
		if (!find_file(generated, &owner->file[i], path))
			continue;
		owner->dump[owner->read] = jitdump_open(path, owner->pid);
		owner->read += owner->dump[owner->read] != NULL;
	}
	if (!owner->read)
		return;
	owner->jitted = jitted_new(owner->dump, owner->read);
	if (!owner->jitted)
		report(META_LIST_UNUSED, owner->file[0].path, errno == EOVERFLOW ?
		       "too many functions overlap" : strerror(errno));
}

static void read_files(struct generated *generated, struct owner *owner)
{
	char path[PATH_MAX];

	if (owner->tried)
		return;
	owner->tried = true;
	read_dumps(generated, owner);
	if (owner->lists && find_file(generated, &owner->file[owner->dumps], path))
		owner->map = perf_map_open(path);
}

/* ---- times ------------------------------------------------------------- */

void generated_clock(struct generated *generated, uint64_t hz, uint64_t ts_mask)
{
	struct meta meta;
	uint64_t start, stop, ticks;

	if (!generated_has_code(generated) || generated->meta->samples != 2)
		return;
	/* Take CLOCK_MONOTONIC for the wall clock, of which the readings then have no error. */
	meta = *generated->meta;
	meta.utc = meta.sample[1];
	meta.utc.within = 1;
	utc_init(&generated->clock, &meta, hz, ts_mask);
	start = generated->clock.within[0];
	stop = generated->clock.within[1];
	/* A time is rounded to a tick, and so is each of the readings. */
	ticks = hz ? 2 * UTC_NS_PER_SEC / hz + 2 : 0;
	generated->error = utc_add(start > stop ? start : stop, ticks);
	/* The accuracy is unknown. */
	if (!start || !stop)
		generated->clock.lack = "";
}

static bool to_ns(struct generated *generated, uint64_t ticks, uint64_t *ns)
{
	if (generated->clock.lack)
		return false;
	if (ticks != generated->ticks || !generated->ns) {
		generated->ticks = ticks;
		utc_time(&generated->clock, ticks, &generated->ns);
	}
	*ns = generated->ns;
	return true;
}

/* Report once for each process why some of its functions are not known. */
static void report_unsure(struct owner *owner, const char *why)
{
	if (!owner->reported)
		report("%s: some functions are shown as addresses: others were at the same addresses, and %s",
		       owner->file[0].path, why);
	owner->reported = true;
}

/* Find a process's code at an address. */
static enum jitted_answer find_code(struct generated *generated, struct owner *owner,
				    const struct places *places, uint64_t address,
				    const uint64_t *ticks, const struct jitted_piece **piece)
{
	struct jitted_time time = { .known = false };
	enum jitted_answer answer;
	uint64_t since = 0, ns;

	read_files(generated, owner);
	if (!owner->jitted)
		return JITTED_NEVER;
	if (ticks)
		places_program(places, owner->pid, *ticks, &since);
	if (ticks && jitted_timed(owner->jitted) && to_ns(generated, *ticks, &ns)) {
		time = (struct jitted_time){
			.known = true, .from = ns > generated->error ? ns - generated->error : 0,
			.to = utc_add(ns, generated->error),
		};
		if (since && to_ns(generated, since, &ns))
			time.since = ns > generated->error ? ns - generated->error : 0;
	}
	/* Without comparable times, any program of the process may have written the code. */
	if (ticks && !time.known)
		places_program(places, owner->pid, UINT64_MAX, &since);
	answer = jitted_find(owner->jitted, address, &time, piece);
	if (answer == JITTED_FOUND && since && !time.known)
		answer = JITTED_UNSURE;
	if (answer == JITTED_UNSURE && ticks)
		report_unsure(owner, time.known ?
			      "the times are not accurate enough to distinguish them" :
			      "the trace's times cannot be compared with the file's");
	return answer;
}

/* ---- places ------------------------------------------------------------ */

static struct owner *owner_of(struct generated *generated, int64_t pid)
{
	const struct owner key = { .pid = pid };

	return bsearch(&key, generated->owner, generated->owners, sizeof(key), by_pid);
}

static uint64_t code_place(const struct generated *generated, const struct owner *owner,
			   const struct jitted_piece *piece, uint64_t address)
{
	return CODE_ADDRESSES + ((uint64_t)(owner - generated->owner) << CODE_BITS) +
	       piece->place + address - piece->code->start;
}

uint64_t generated_place(struct generated *generated, struct places *places, uint64_t address,
			 const uint64_t *time, const struct places_writer *writer)
{
	const struct jitted_piece *piece;
	enum jitted_answer answer;
	struct owner *owner;
	bool replaced;
	int64_t pid;

	if (!generated || !generated->owners || address >= JITDUMP_END)
		return address;
	pid = places_process(places, time, writer, &replaced);
	owner = pid < 0 && generated->alone && !(writer && writer->named) ?
		generated->owner : owner_of(generated, pid);
	if (!owner)
		return address;
	answer = find_code(generated, owner, places, address, time, &piece);
	if (answer == JITTED_FOUND)
		return code_place(generated, owner, piece, address);
	/* The list has no times, and is that of the process's last program. */
	if (answer != JITTED_NEVER || replaced || !perf_map_find(owner->map, address))
		return address;
	return LIST_ADDRESSES + ((uint64_t)(owner - generated->owner) << LIST_BITS) + address;
}

uint64_t generated_place_any(struct generated *generated, const struct places *places,
			     uint64_t address, const uint64_t *time)
{
	const struct jitted_piece *piece, *found = NULL;
	struct owner *owner, *of = NULL;
	bool runs, ran = false;
	uint64_t since;

	if (address >= JITDUMP_END)
		return address;
	for (owner = generated->owner; owner < generated->owner + generated->owners; owner++) {
		switch (owner->dumps ?
			find_code(generated, owner, places, address, time, &piece) : JITTED_NEVER) {
		case JITTED_NEVER:
		case JITTED_ABSENT:
			continue;
		case JITTED_UNSURE:
			return address;
		case JITTED_FOUND:
			break;
		}
		runs = !time || places_program(places, owner->pid, *time, &since);
		/* A process that has ended cannot have executed the code. */
		if (found && runs == ran && !jitdump_same(piece->code, found->code)) {
			report_unsure(owner, "instruction trace does not show in which process");
			return address;
		}
		if (!found || (runs && !ran)) {
			found = piece;
			of = owner;
			ran = runs;
		}
	}
	return found ? code_place(generated, of, found, address) : address;
}

/* ---- separate addresses ------------------------------------------------ */

/* Return the code at a separate address, or NULL, and set @owner to its process. */
static const struct jitted_piece *piece_at(const struct generated *generated, uint64_t place,
					   const struct owner **owner)
{
	const uint64_t i = (place - CODE_ADDRESSES) >> CODE_BITS;

	if (!generated || place < CODE_ADDRESSES || place >= ADDRESSES_END ||
	    i >= generated->owners || !generated->owner[i].jitted)
		return NULL;
	*owner = &generated->owner[i];
	return jitted_at((*owner)->jitted, place & ((1ull << CODE_BITS) - 1));
}

static bool find_listed(const struct generated *generated, uint64_t place, struct symbol *symbol)
{
	const uint64_t address = place & ((1ull << LIST_BITS) - 1);
	const uint64_t i = (place - LIST_ADDRESSES) >> LIST_BITS;
	const struct perf_map_function *function;

	if (!generated || place < LIST_ADDRESSES || place >= CODE_ADDRESSES ||
	    i >= generated->owners)
		return false;
	function = perf_map_find(generated->owner[i].map, address);
	if (!function)
		return false;
	*symbol = (struct symbol){
		.known = true, .function = function->name, .offset = address,
		.start = place - address + function->start,
		.object = text_base(generated->owner[i].file[generated->owner[i].dumps].path),
	};
	return true;
}

bool generated_find(const struct generated *generated, uint64_t place, struct symbol *symbol)
{
	const struct owner *owner;
	const struct jitted_piece *piece = piece_at(generated, place, &owner);
	uint64_t into;

	if (!piece)
		return find_listed(generated, place, symbol);
	into = (place & ((1ull << CODE_BITS) - 1)) - piece->place;
	*symbol = (struct symbol){
		.known = true, .function = piece->code->name, .offset = piece->code->start + into,
		.start = place - into, .object = text_base(owner->file[0].path),
	};
	return true;
}

const uint8_t *generated_code(const struct generated *generated, uint64_t place, uint64_t *size)
{
	const struct owner *owner;
	const struct jitted_piece *piece = piece_at(generated, place, &owner);
	uint64_t into, until;

	if (!piece)
		return NULL;
	into = (place & ((1ull << CODE_BITS) - 1)) - piece->place;
	until = jitted_until(owner->jitted, piece->code->start + into);
	*size = until - (piece->code->start + into);
	/* An instruction that runs is whole: none of its halves has been replaced on its own. */
	if (*size == 2 && piece->code->size - into >= 4 && (piece->code->bytes[into] & 3) == 3)
		*size = 4;
	return piece->code->bytes + into;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See jitted.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "hash.h"
#include "jitted.h"

/* Alignment of separate addresses, which keep the lower bits of addresses in memory. */
#define ALIGNMENT	(1ull << 16)

/* Maximum number of parts into which starts and ends divide all functions; they need 256 MiB. */
#define PARTS_MAX	(UINT64_C(64) << 20)

/* At most this many writes that may have been the latest at a time are compared. */
#define SAME_TIME_MAX	64

/* Code that was written at @time; @order is its position in the dumps. */
struct write {
	const struct jitdump_code	*code;
	uint64_t			time;
	uint32_t			order;
	uint32_t			piece;
};

/*
 * struct jitted - the code of a process
 * @write:	all @writes writes, in order of time
 * @piece:	the @pieces different pieces, sorted by place
 * @edge:	the @edges starts and ends of pieces, sorted, each once
 * @first:	for each edge, the index in @in of the first write between this edge and the next
 * @in:		numbers of writes, in order of time
 * @timed:	the times of all writes are comparable
 */
struct jitted {
	struct write		*write;
	uint32_t		writes;
	struct jitted_piece	*piece;
	uint32_t		pieces;
	uint64_t		*edge;
	uint32_t		edges;
	uint64_t		*first;
	uint32_t		*in;
	bool			timed;
};

static int by_time(const void *a, const void *b)
{
	const struct write *one = a, *two = b;
	const int result = compare_numbers(one->time, two->time);

	return result ? result : compare_numbers(one->order, two->order);
}

static int by_value(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* ---- pieces ------------------------------------------------------------ */

/* Return a key that is the same for the same code at the same address. */
static uint64_t key_of(const struct jitdump_code *code)
{
	return code->hash ^ (code->start * 0x9e3779b97f4a7c15ull + code->size);
}

static uint64_t key_at(const void *keys, uint32_t number)
{
	return ((const uint64_t *)keys)[number - 1];
}

/* Find the different pieces. Return an error number, or 0. */
static int find_pieces(struct jitted *jitted)
{
	struct hash hash = { .bits = hash_bits(jitted->writes + 1ull) };
	uint64_t *key = malloc((jitted->writes + 1ull) * sizeof(*key)), next = 0;
	uint32_t *slot, i;

	hash.slot = calloc(1ull << hash.bits, sizeof(*hash.slot));
	jitted->piece = malloc((jitted->writes + 1ull) * sizeof(*jitted->piece));
	for (i = 0; key && hash.slot && jitted->piece && i < jitted->writes; i++) {
		struct write *write = &jitted->write[i];
		const struct jitdump_code *code = write->code;

		key[jitted->pieces] = key_of(code);
		slot = hash_find(&hash, key[jitted->pieces], key_at, key);
		if (*slot && jitdump_same(jitted->piece[*slot - 1].code, code)) {
			write->piece = *slot - 1;
			continue;
		}
		next += code->start % ALIGNMENT;
		jitted->piece[jitted->pieces] = (struct jitted_piece){ .code = code, .place = next };
		next = (next + code->size + ALIGNMENT) & -ALIGNMENT;
		write->piece = jitted->pieces;
		*slot = ++jitted->pieces;
	}
	free(key);
	free(hash.slot);
	if (!key || !hash.slot || !jitted->piece)
		return ENOMEM;
	return next > JITTED_PLACES ? EOVERFLOW : 0;
}

const struct jitted_piece *jitted_at(const struct jitted *jitted, uint64_t place)
{
	uint32_t low = 0, high = jitted->pieces;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (jitted->piece[middle].place <= place)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || place - jitted->piece[low - 1].place >= jitted->piece[low - 1].code->size)
		return NULL;
	return &jitted->piece[low - 1];
}

/* ---- edges ------------------------------------------------------------- */

/* Return the number of edges up to and including @address. */
static uint32_t edges_to(const struct jitted *jitted, uint64_t address)
{
	uint32_t low = 0, high = jitted->edges;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (jitted->edge[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool find_edges(struct jitted *jitted)
{
	const uint64_t ends = 2ull * jitted->writes;
	uint64_t i;

	jitted->edge = malloc((ends + 1) * sizeof(*jitted->edge));
	jitted->first = calloc(ends + 2, sizeof(*jitted->first));
	if (!jitted->edge || !jitted->first)
		return false;
	for (i = 0; i < jitted->writes; i++) {
		const struct jitdump_code *code = jitted->write[i].code;

		jitted->edge[2 * i] = code->start;
		jitted->edge[2 * i + 1] = code->start + code->size;
	}
	qsort(jitted->edge, ends, sizeof(*jitted->edge), by_value);
	for (i = 0; i < ends; i++)
		if (!jitted->edges || jitted->edge[i] != jitted->edge[jitted->edges - 1])
			jitted->edge[jitted->edges++] = jitted->edge[i];
	return true;
}

/* List the writes between each edge and the next. Return an error number, or 0. */
static int list_writes(struct jitted *jitted)
{
	uint64_t parts = 0, count;
	uint32_t i, k, end;

	for (i = 0; i < jitted->writes; i++) {
		const struct jitdump_code *code = jitted->write[i].code;

		k = edges_to(jitted, code->start) - 1;
		end = edges_to(jitted, code->start + code->size) - 1;
		parts += end - k;
		if (parts > PARTS_MAX)
			return EOVERFLOW;
		/* Count each part at the next index, whose first write follows it. */
		for (; k < end; k++)
			jitted->first[k + 1]++;
	}
	for (k = 0; k < jitted->edges; k++)
		jitted->first[k + 1] += jitted->first[k];
	jitted->in = malloc((parts + 1) * sizeof(*jitted->in));
	if (!jitted->in)
		return ENOMEM;
	/* Fill each list from its end, and thereby move its index to its start. */
	for (i = jitted->writes; i--;) {
		const struct jitdump_code *code = jitted->write[i].code;

		k = edges_to(jitted, code->start) - 1;
		end = edges_to(jitted, code->start + code->size) - 1;
		for (; k < end; k++) {
			count = --jitted->first[k + 1];
			jitted->in[count] = i;
		}
	}
	/* The list of part k now begins at first[k + 1]. */
	memmove(jitted->first, jitted->first + 1, jitted->edges * sizeof(*jitted->first));
	jitted->first[jitted->edges] = parts;
	return 0;
}

uint64_t jitted_until(const struct jitted *jitted, uint64_t address)
{
	const uint32_t edges = edges_to(jitted, address);

	return edges < jitted->edges ? jitted->edge[edges] : UINT64_MAX;
}

/* ---- start and end ----------------------------------------------------- */

struct jitted *jitted_new(struct jitdump *const *dump, size_t count)
{
	struct jitted *jitted = calloc(1, sizeof(*jitted));
	uint64_t writes = 0;
	size_t i, k;
	int error;

	for (i = 0; i < count; i++)
		writes += dump[i]->codes;
	if (jitted && writes < UINT32_MAX / 2)
		jitted->write = malloc((writes + 1) * sizeof(*jitted->write));
	if (!jitted || !jitted->write) {
		free(jitted);
		errno = ENOMEM;
		return NULL;
	}
	jitted->timed = true;
	for (i = 0; i < count; i++) {
		jitted->timed &= !dump[i]->arch_time;
		for (k = 0; k < dump[i]->codes; k++, jitted->writes++)
			jitted->write[jitted->writes] = (struct write){
				.code = &dump[i]->code[k], .time = dump[i]->code[k].time,
				.order = jitted->writes,
			};
	}
	qsort(jitted->write, jitted->writes, sizeof(*jitted->write), by_time);
	error = find_pieces(jitted);
	if (!error && !find_edges(jitted))
		error = ENOMEM;
	if (!error)
		error = list_writes(jitted);
	if (!error)
		return jitted;
	jitted_free(jitted);
	errno = error;
	return NULL;
}

bool jitted_timed(const struct jitted *jitted)
{
	return jitted->timed;
}

void jitted_free(struct jitted *jitted)
{
	if (!jitted)
		return;
	free(jitted->write);
	free(jitted->piece);
	free(jitted->edge);
	free(jitted->first);
	free(jitted->in);
	free(jitted);
}

/* ---- lookup ------------------------------------------------------------ */

/* Return the number of the first @count writes of a list that were written until @time. */
static uint64_t written(const struct jitted *jitted, const uint32_t *list, uint64_t count,
			uint64_t time)
{
	uint64_t low = 0, high = count;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (jitted->write[list[middle]].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return whether the writes from @first to @last, inclusive, have written the same piece. */
static bool are_same(const struct jitted *jitted, const uint32_t *list, uint64_t first,
		     uint64_t last)
{
	uint64_t i;

	if (last - first > SAME_TIME_MAX)
		return false;
	for (i = first; i < last; i++)
		if (jitted->write[list[i]].piece != jitted->write[list[last]].piece)
			return false;
	return true;
}

enum jitted_answer jitted_find(const struct jitted *jitted, uint64_t address,
			       const struct jitted_time *time, const struct jitted_piece **piece)
{
	const uint32_t edges = edges_to(jitted, address);
	uint64_t count, first = 0, last;
	const uint32_t *list;

	if (!edges)
		return JITTED_NEVER;
	list = jitted->in + jitted->first[edges - 1];
	count = jitted->first[edges] - jitted->first[edges - 1];
	if (!count)
		return JITTED_NEVER;
	last = count;
	if (time->known) {
		first = written(jitted, list, count, time->from);
		last = written(jitted, list, count, time->to);
		if (!last || jitted->write[list[last - 1]].time < time->since)
			return JITTED_ABSENT;
		first -= first > 0;
	}
	if (!are_same(jitted, list, first, last - 1))
		return JITTED_UNSURE;
	*piece = &jitted->piece[jitted->write[list[last - 1]].piece];
	return JITTED_FOUND;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See generated.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "command.h"
#include "compare.h"
#include "generated.h"
#include "perf_map.h"
#include "text.h"

/* These separate addresses are above those in places.h and below the kernel's. */
#define OWN_ADDRESSES	(3ull << 61)
/* Binary logarithm of the number of addresses reserved for each list. */
#define ADDRESSES_BITS	48

_Static_assert(META_PROCESSES_MAX <= 1ull << (61 - ADDRESSES_BITS),
	       "addresses overlap the kernel's");

struct list {
	const char	*path;
	int64_t		pid;
	bool		tried;
	struct perf_map	*map;
};

struct generated {
	const char	*copies;
	bool		alone;		/* the trace shows only one process */
	uint64_t	bytes;		/* total size of the lists that have been read */
	size_t		count;
	struct list	list[];
};

static int by_pid(const void *a, const void *b)
{
	return compare_numbers((uint64_t)((const struct list *)a)->pid,
			       (uint64_t)((const struct list *)b)->pid);
}

static bool is_alone(const struct meta *meta, const struct generated *generated)
{
	size_t i;

	for (i = 0; i < meta->threads; i++)
		if (meta->thread[i].pid != generated->list[0].pid)
			return false;
	return generated->count == 1 && !meta->processes;
}

int generated_new(const struct meta *meta, struct generated **generated)
{
	struct generated *made;
	size_t i;

	*generated = NULL;
	if (!meta->lists || !meta->files)
		return 0;
	made = calloc(1, sizeof(*made) + meta->lists * sizeof(*made->list));
	if (!made)
		return -1;
	made->copies = meta->files;
	for (i = 0; i < meta->lists; i++) {
		const int64_t pid = perf_map_pid(meta->generated[i]);

		if (pid >= 0)
			made->list[made->count++] = (struct list){
				.path = meta->generated[i], .pid = pid,
			};
	}
	qsort(made->list, made->count, sizeof(*made->list), by_pid);
	made->alone = is_alone(meta, made);
	*generated = made;
	return 0;
}

void generated_free(struct generated *generated)
{
	size_t i;

	for (i = 0; generated && i < generated->count; i++)
		perf_map_close(generated->list[i].map);
	free(generated);
}

static struct list *list_of(struct generated *generated, int64_t pid)
{
	const struct list key = { .pid = pid };

	return bsearch(&key, generated->list, generated->count, sizeof(key), by_pid);
}

static const struct perf_map_function *find(struct generated *generated, struct list *list,
					    uint64_t address)
{
	char path[PATH_MAX];
	struct stat status;

	if (!list->tried) {
		list->tried = true;
		snprintf(path, sizeof(path), "%s%s", generated->copies, list->path);
		if (!stat(path, &status))
			generated->bytes += (uint64_t)status.st_size;
		if (generated->bytes > META_LISTS_BYTES_MAX)
			report(META_LIST_UNUSED, path, "the lists exceed 256 MiB in total");
		else
			list->map = perf_map_open(path);
	}
	return perf_map_find(list->map, address);
}

uint64_t generated_place(struct generated *generated, struct places *places, uint64_t address,
			 const uint64_t *time, const struct places_writer *writer)
{
	struct list *list;
	int64_t pid;

	if (!generated || !generated->count || address >> ADDRESSES_BITS)
		return address;
	pid = places_process(places, time, writer);
	list = pid < 0 && generated->alone && !(writer && writer->named) ? generated->list :
									list_of(generated, pid);
	if (!list || !find(generated, list, address))
		return address;
	return OWN_ADDRESSES + ((uint64_t)(list - generated->list) << ADDRESSES_BITS) + address;
}

/* Return whether generated_place() has returned a separate address. */
static bool is_own(uint64_t place)
{
	return place >= OWN_ADDRESSES && place < 1ull << 63;
}

bool generated_find(const struct generated *generated, uint64_t place, struct symbol *symbol)
{
	const uint64_t address = place & ((1ull << ADDRESSES_BITS) - 1);
	const size_t i = (place - OWN_ADDRESSES) >> ADDRESSES_BITS;
	const struct perf_map_function *function;

	if (!generated || !is_own(place) || i >= generated->count)
		return false;
	function = perf_map_find(generated->list[i].map, address);
	if (!function)
		return false;
	*symbol = (struct symbol){
		.known = true, .function = function->name, .offset = address,
		.start = place - address + function->start,
		.object = text_base(generated->list[i].path),
	};
	return true;
}

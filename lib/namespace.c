// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <dlfcn.h>
#include <string.h>

#include "namespace.h"

#ifdef PERF_SHARED

/* struct r_debug_extended of glibc 2.35 and newer, in which r_version is at least LISTS. */
struct namespace_list {
	struct r_debug base;
	const struct namespace_list *next;
};

#define LISTS	2

struct walk {
	unsigned int number;
	perf_object_visitor *visit;
	void *argument;
	bool found;
};

#ifdef DLFO_STRUCT_HAS_EH_DBASE
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

/* Find an object's program headers from its ELF header. */
PERF_LOCAL bool describe(const struct link_map *map, struct dl_phdr_info *info)
{
	const ElfW(Ehdr) *header;
	struct dl_find_object at;

	/* dladdr() would take a lock that dlopen() takes before the lock held here. */
	if (!_dl_find_object || _dl_find_object(map->l_ld, &at))
		return false;
	header = at.dlfo_map_start;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG))
		return false;
	*info = (struct dl_phdr_info) {
		.dlpi_addr = map->l_addr, .dlpi_name = map->l_name,
		.dlpi_phdr = (const ElfW(Phdr) *)((const char *)header + header->e_phoff),
		.dlpi_phnum = header->e_phnum,
	};
	return true;
}
#else
PERF_LOCAL bool describe(const struct link_map *map, struct dl_phdr_info *info)
{
	(void)map;
	(void)info;
	return false;
}
#endif

/* Called once, with the loader's lock held. */
PERF_LOCAL int walk_list(struct dl_phdr_info *unused, size_t size, void *argument)
{
	const struct namespace_list *list = (const struct namespace_list *)&_r_debug;
	struct walk *walk = argument;
	const struct link_map *map;
	struct dl_phdr_info info;
	unsigned int i;

	(void)unused;
	(void)size;
	for (i = 0; list && i < walk->number; i++)
		list = list->next;
	if (!list)
		return 1;
	walk->found = true;
	for (map = list->base.r_map; map; map = map->l_next)
		if (describe(map, &info) &&
		    walk->visit(&info, sizeof(info), walk->argument))
			break;
	return 1;
}

PERF_INTERNAL bool perf_namespace_each(unsigned int number, perf_object_visitor *visit,
				       void *argument)
{
	struct walk walk = { .number = number, .visit = visit, .argument = argument };

	if (!number) {
		dl_iterate_phdr(visit, argument);
		return true;
	}
	if (_r_debug.r_version >= LISTS)
		dl_iterate_phdr(walk_list, &walk);
	return walk.found;
}

#endif

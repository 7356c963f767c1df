/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A loaded object: the program, or a shared object. */
#ifndef PERF_OBJECT_H
#define PERF_OBJECT_H

#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

/* More than enough for SHA-1 build-ids, the longest in use. */
#define PERF_BUILD_ID	32

/**
 * struct perf_object - a loaded object
 * @next:	object that was recorded after this one
 * @start:	first address
 * @end:	end address, exclusive
 * @bias:	load bias: address in memory minus address in the file
 * @begins:	whether the object was loaded after @from, a trace timestamp
 * @ended:	whether the object was unloaded before @to
 * @id_length:	length of @id in bytes, or 0 if none
 * @id:		build id of the object
 * @path:	path of the object's file
 * @name:	loader's name for the object
 */
struct perf_object {
	struct perf_object *next;
	uintptr_t start, end, bias;
	bool begins, ended, seen;
	uint64_t from, to;
	size_t id_length;
	unsigned char id[PERF_BUILD_ID];
	const char *name;
	const char *path;
};

typedef void perf_object_use(const struct perf_object *object, void *argument);

/* Find the range and build-id of an object; returns false if the object has no file. */
PERF_INTERNAL bool perf_object_read(const struct dl_phdr_info *info,
				    struct perf_object *found);

/* Find the file of the object that the loader calls @name, with links resolved. */
PERF_INTERNAL bool perf_object_path(const char *name, char path[PATH_MAX]);

#endif /* PERF_OBJECT_H */

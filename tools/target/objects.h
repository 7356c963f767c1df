/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Programs and shared objects, and where processes have them in memory. */
#ifndef SIFIVE_TRACE_OBJECTS_H
#define SIFIVE_TRACE_OBJECTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../output.h"
#include "elf.h"

/**
 * struct object - a file and where it is
 * @path:	its name
 * @build_id:	in hexadecimal, empty when it has none
 * @start, @end: its addresses in memory
 * @bias:	what to subtract of them for those in the file
 */
struct object {
	char		*path;
	char		build_id[ELF_BUILD_ID_SIZE];
	uint64_t	start;
	uint64_t	end;
	uint64_t	bias;
};

/**
 * struct objects - a set of them; all zero is the empty one
 *
 * Addresses are those of all processes together: an object that overlaps with
 * another one of some other process is left out in objects_write().
 */
struct objects {
	struct object	*object;
	size_t		count;
};

/**
 * objects_add_code() - a part of a file that is in memory for running
 * @path:	the file; what is none is left out
 * @address, @length: where it is, with @offset in the file
 */
void objects_add_code(struct objects *objects, const char *path,
		      uint64_t address, uint64_t length, uint64_t offset);

/** objects_add() - those of a process; one that is gone has none */
void objects_add(struct objects *objects, pid_t pid);

/** objects_add_all() - those of every process that can be looked at */
void objects_add_all(struct objects *objects);

/** objects_write() - "objects":[…] of a side-car file */
void objects_write(const struct objects *objects, struct output *output);

void objects_free(struct objects *objects);

#endif /* SIFIVE_TRACE_OBJECTS_H */

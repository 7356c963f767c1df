/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Programs and shared objects, and where processes have them in memory. */
#ifndef SIFIVE_TRACE_OBJECTS_H
#define SIFIVE_TRACE_OBJECTS_H

#include <stdbool.h>
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
 * @seen:	when it was found last: more is later
 */
struct object {
	char		*path;
	char		build_id[ELF_BUILD_ID_SIZE];
	uint64_t	start;
	uint64_t	end;
	uint64_t	bias;
	uint64_t	seen;
};

/**
 * struct objects - a set of them; all zero is the empty one
 * @object:	@count of them, in the order in which they were found
 * @found:	how often one was found
 * @missed:	how many more were loaded, of which nothing is known
 * @left_out:	how many had no room in the file
 *
 * Addresses are those of all processes together: an object that overlaps with
 * another one of some other process is left out in objects_write().
 */
struct objects {
	struct object	*object;
	size_t		count;
	uint64_t	found;
	uint64_t	missed;
	uint64_t	left_out;
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

/**
 * objects_write() - "objects":[…] of a side-car file
 * @objects:	the set; its @left_out is set
 * @output:	the file
 * @newest:	where there are more than a reader takes: those that were found last,
 *		as a ring keeps the newest samples; otherwise those found first
 */
void objects_write(struct objects *objects, struct output *output, bool newest);

/** objects_report() - say what is not in there */
void objects_report(const struct objects *objects);

void objects_free(struct objects *objects);

#endif /* SIFIVE_TRACE_OBJECTS_H */

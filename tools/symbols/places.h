/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Distinguishes objects that had the same addresses, at different times or in several processes.
 * Each of them is assigned separate addresses, which no program can use, so that an address
 * identifies one object.
 */
#ifndef SIFIVE_TRACE_PLACES_H
#define SIFIVE_TRACE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "meta.h"

struct places;

/**
 * places_new() - find objects that shared addresses
 * @meta:	the side-car file, which must outlive the places
 * @places:	set to the objects, or to NULL if there are no lists of generated functions and, as
 *		is usual, no two objects had the same addresses
 *
 * Return: 0, or -1 if out of memory.
 */
int places_new(const struct meta *meta, struct places **places);

/** places_free() - free; NULL is allowed */
void places_free(struct places *places);

/**
 * places_wrap() - set how the trace's timestamps wrap, before any search
 * @places:	may be NULL
 * @ts_mask:	maximum timestamp
 */
void places_wrap(struct places *places, uint64_t ts_mask);

/**
 * places_shift() - return an object's separate address minus its address in memory
 * @places:	may be NULL
 * @object:	index of the object in the side-car file
 */
uint64_t places_shift(const struct places *places, size_t object);

/* struct places_writer - the writer of a record; the record's addresses are those of its process */
struct places_writer {
	unsigned int	channel;	/* channel of the record's stream */
	bool		named;		/* the record's header names the thread */
	uint32_t	thread;		/* thread id, valid if @named is set */
};

/**
 * places_process() - return the id of a writer's process, or -1 if it is unknown
 * @replaced:	set to whether the process later executed another program
 */
int64_t places_process(struct places *places, const uint64_t *time,
		       const struct places_writer *writer, bool *replaced);

/**
 * places_program() - find the program that a process was executing at a time
 * @pid:	the process
 * @since:	set to when the process began to execute this program, or 0 if that was its first
 *		program
 *
 * Return: false if the process had ended. A process that is not described has one program.
 */
bool places_program(const struct places *places, int64_t pid, uint64_t time, uint64_t *since);

/**
 * places_find() - translate an address to a separate address in the object that contained it
 * @places:	may be NULL
 * @address:	address in memory
 * @time:	the time in ticks, or NULL if unknown
 * @writer:	the writer of the record with the address, or NULL if unknown
 *
 * Return: the separate address; or @address itself if it is unambiguous, or if several objects may
 * have contained it.
 */
uint64_t places_find(struct places *places, uint64_t address, const uint64_t *time,
		     const struct places_writer *writer);

#endif /* SIFIVE_TRACE_PLACES_H */

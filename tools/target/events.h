/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds raw events of SiFive's cores by name, from tools/events. */
#ifndef SIFIVE_TRACE_EVENTS_H
#define SIFIVE_TRACE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/event.h"

/**
 * struct family - cores that have the same raw events
 * @name:	name of the family in the kernel's perf
 * @cores:	human-readable names of the cores
 * @cpu:	regular expressions for "mvendorid-marchid-mimpid"
 * @event:	events of the family, in groups
 * @group:	the group of each event
 */
struct family {
	const char		*name;
	const char		*cores;
	const char		*cpu[8];
	size_t			cpus;
	struct perf_event_alias	*event;
	const char		**group;
	size_t			events;
};

/** family_next() - return the next family (the first if @family is NULL), or NULL at the end */
const struct family *family_next(const struct family *family);

/** family_named() - return a family by name, or NULL */
const struct family *family_named(const char *name);

/** family_of() - return the family of a processor "mvendorid-marchid-mimpid", or NULL */
const struct family *family_of(const char *cpu);

/**
 * events_translate() - translate a list of events into names that the library supports
 * @list:	the user's list, comma-separated
 * @family:	family whose event names are also accepted, or NULL
 *
 * Return: an allocated string, in which rHEX replaces names of @family, or NULL after reporting an
 * unknown word.
 */
char *events_translate(const char *list, const struct family *family);

/** events_firmware() - return whether firmware counts any event of @list, which may be NULL */
bool events_firmware(const char *list);

/** events_usual() - find general, cache or firmware event @index; return false after the last */
bool events_usual(size_t index, struct perf_event_id *event);

#endif /* SIFIVE_TRACE_EVENTS_H */

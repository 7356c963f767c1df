/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Raw events of SiFive's cores by name, from the files in tools/events. */
#ifndef SIFIVE_TRACE_EVENTS_H
#define SIFIVE_TRACE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/event.h"

/**
 * struct family - cores that have the same raw events
 * @name:	its name in the kernel's perf
 * @cores:	their names, as text
 * @cpu:	patterns of "mvendorid-marchid-mimpid", as regcomp() takes them
 * @event:	its events, in groups
 * @group:	of each event the group's name
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

/** family_next() - the families one after the other, NULL behind the last */
const struct family *family_next(const struct family *family);

/** family_named() - the one of that name, or NULL */
const struct family *family_named(const char *name);

/** family_of() - the one of a processor, or NULL: mvendorid-marchid-mimpid */
const struct family *family_of(const char *cpu);

/**
 * events_translate() - a list of events in the names that the library knows
 * @list:	the user's, with commas between
 * @family:	whose names are taken too, or NULL
 *
 * Return: a string to be freed, in which names of @family are rHEX; NULL when a
 * word means nothing: the reason has been printed.
 */
char *events_translate(const char *list, const struct family *family);

/** events_usual() - event @index of those that have names everywhere; false: none */
bool events_usual(size_t index, struct perf_event_id *event);

#endif /* SIFIVE_TRACE_EVENTS_H */

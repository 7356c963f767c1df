/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Event names, as in perf list. Used by the library and the command; independent of the
 * driver and the session.
 *
 *	cycles, instructions, branch-misses, L1-dcache-load-misses, dTLB-loads ...
 *	timestamp		the trace timestamp
 *	rHEX			raw event selector
 *	cpu/event=NUMBER/	the same
 *	fw:ipi-sent, fw:set-timer ...
 *				counted by firmware, in all modes
 *	NAME			from the caller's table
 *
 * ":u" or ":k" after a name counts in user or kernel mode only. Names are not
 * case-sensitive.
 */
#ifndef PERF_EVENT_H
#define PERF_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <linux/sifive_trace_format.h>

#include "compiler.h"

/* Code of a general event: the trace timestamp. */
#define PERF_CODE_TIMESTAMP	SIFIVE_TRACE_EVENT_TIMESTAMP

/* Modes in which an event is not counted: SIFIVE_TRACE_EVENT_NO_*. */
#define PERF_EVENT_NO_USER	(1u << 0)
#define PERF_EVENT_NO_KERNEL	(1u << 1)

/**
 * struct perf_event_id - an event
 * @type:	0 general, 1 cache, 2 raw, 15 firmware, as in SBI
 * @code:	code of a general, cache or firmware event
 * @flags:	PERF_EVENT_NO_*
 * @data:	event selector of a raw event
 */
struct perf_event_id {
	uint32_t type;
	uint32_t code;
	uint32_t flags;
	uint64_t data;
};

#ifndef PERF_DROPIN
/* A raw event named by the caller. */
struct perf_event_alias {
	const char *name;
	uint64_t data;
};

/**
 * perf_event_next - find the length of the first event in a list
 * @list:	comma-separated events; a comma between slashes is part of an event
 */
PERF_INTERNAL size_t perf_event_next(const char *list);

/**
 * perf_event_parse - parse an event's name
 * @word:	name, not NUL-terminated
 * @length:	length of @word
 * @alias:	array of @aliases additional names
 * @event:	event to fill in
 * @error:	buffer of @size bytes for an error message
 *
 * Returns 0 or -1.
 */
PERF_INTERNAL int perf_event_parse(const char *word, size_t length,
				   const struct perf_event_alias *alias,
				   size_t aliases, struct perf_event_id *event,
				   char *error, size_t size);
#endif /* PERF_DROPIN */

/* Write the usual name of an event, with its modifier. */
PERF_INTERNAL void perf_event_name(const struct perf_event_id *event, char *name,
				   size_t size);

#endif /* PERF_EVENT_H */

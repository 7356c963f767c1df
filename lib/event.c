// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* SBI's event types. */
enum {
	TYPE_GENERAL,
	TYPE_CACHE,
	TYPE_RAW,
	TYPE_FIRMWARE = SIFIVE_TRACE_EVENT_FIRMWARE,
};

/* General events; the first name for a code is its usual name. */
static const struct {
	const char *name;
	uint32_t code;
} general_events[] = {
	{ "cycles", 1 },
	{ "cpu-cycles", 1 },
	{ "instructions", 2 },
	{ "cache-references", 3 },
	{ "cache-misses", 4 },
	{ "branches", 5 },
	{ "branch-instructions", 5 },
	{ "branch-misses", 6 },
	{ "bus-cycles", 7 },
	{ "stalled-cycles-frontend", 8 },
	{ "idle-cycles-frontend", 8 },
	{ "stalled-cycles-backend", 9 },
	{ "idle-cycles-backend", 9 },
	{ "ref-cycles", 10 },
	{ "timestamp", PERF_CODE_TIMESTAMP },
};

/* A cache event's code is cache << 3 | operation << 1 | result. */
static const char *const cache_names[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};

static const char *const cache_results[] = {
	"loads", "load-misses", "stores", "store-misses", "prefetches",
	"prefetch-misses",
};

#define FIRMWARE_PREFIX	"fw:"

#ifndef PERF_DROPIN
/* Firmware events, by code; in one string, because pointers would double the size. */
static const char firmware_events[] =
	"misaligned-load\0misaligned-store\0access-load\0access-store\0illegal-insn\0"
	"set-timer\0ipi-sent\0ipi-received\0fence-i-sent\0fence-i-received\0sfence-vma-sent\0"
	"sfence-vma-received\0sfence-vma-asid-sent\0sfence-vma-asid-received\0"
	"hfence-gvma-sent\0hfence-gvma-received\0hfence-gvma-vmid-sent\0"
	"hfence-gvma-vmid-received\0hfence-vvma-sent\0hfence-vvma-received\0"
	"hfence-vvma-asid-sent\0hfence-vvma-asid-received\0";

/* Return the name of firmware event @code, or NULL. */
PERF_LOCAL const char *firmware_event(uint32_t code)
{
	const char *name = firmware_events;

	while (*name && code--)
		name += strlen(name) + 1;
	return *name ? name : NULL;
}

PERF_INTERNAL size_t perf_event_next(const char *list)
{
	bool between = false;
	size_t i;

	for (i = 0; list[i]; i++) {
		if (list[i] == '/')
			between = !between;
		else if (list[i] == ',' && !between)
			break;
	}
	return i;
}

PERF_LOCAL bool is_word(const char *word, size_t length, const char *name)
{
	return strlen(name) == length && !strncasecmp(word, name, length);
}

PERF_LOCAL bool parse_general(const char *word, size_t length,
			      struct perf_event_id *event)
{
	size_t i;

	for (i = 0; i < COUNT(general_events); i++) {
		if (!is_word(word, length, general_events[i].name))
			continue;
		event->type = TYPE_GENERAL;
		event->code = general_events[i].code;
		return true;
	}
	return false;
}

PERF_LOCAL bool parse_cache(const char *word, size_t length,
			    struct perf_event_id *event)
{
	char name[32];
	size_t i, j;

	for (i = 0; i < COUNT(cache_names); i++)
		for (j = 0; j < COUNT(cache_results); j++) {
			snprintf(name, sizeof(name), "%s-%s", cache_names[i],
				 cache_results[j]);
			if (!is_word(word, length, name))
				continue;
			event->type = TYPE_CACHE;
			event->code = (uint32_t)(i << 3 | j);
			return true;
		}
	return false;
}

PERF_LOCAL bool is_firmware(const char *word, size_t length)
{
	const size_t prefix = strlen(FIRMWARE_PREFIX);

	return length >= prefix && is_word(word, prefix, FIRMWARE_PREFIX);
}

PERF_LOCAL bool parse_firmware(const char *word, size_t length,
			       struct perf_event_id *event)
{
	const size_t prefix = strlen(FIRMWARE_PREFIX);
	const char *name;
	uint32_t code;

	if (!is_firmware(word, length))
		return false;
	for (code = 0; (name = firmware_event(code)); code++) {
		if (!is_word(word + prefix, length - prefix, name))
			continue;
		event->type = TYPE_FIRMWARE;
		event->code = code;
		return true;
	}
	return false;
}

/* Parse all of [@word, @word + @length) as a number. */
PERF_LOCAL bool parse_number(const char *word, size_t length, int base,
			     uint64_t *number)
{
	char digits[32], *end;

	/* strtoull() would accept signs and spaces. */
	if (!length || length >= sizeof(digits) ||
	    !strchr("0123456789abcdefABCDEF", word[0]))
		return false;
	memcpy(digits, word, length);
	digits[length] = '\0';
	errno = 0;
	*number = strtoull(digits, &end, base);
	return !*end && !errno;
}

PERF_LOCAL bool parse_raw(const char *word, size_t length,
			  struct perf_event_id *event)
{
	static const char *const forms[] = { "cpu/event=", "cpu/config=" };
	size_t i, skip;

	event->type = TYPE_RAW;
	if (length > 1 && (word[0] == 'r' || word[0] == 'R') &&
	    parse_number(word + 1, length - 1, 16, &event->data))
		return true;

	for (i = 0; i < COUNT(forms); i++) {
		skip = strlen(forms[i]);
		if (length > skip && !strncasecmp(word, forms[i], skip) &&
		    word[length - 1] == '/' &&
		    parse_number(word + skip, length - skip - 1, 0,
				 &event->data))
			return true;
	}
	return false;
}

PERF_LOCAL bool parse_alias(const char *word, size_t length,
			    const struct perf_event_alias *alias, size_t aliases,
			    struct perf_event_id *event)
{
	size_t i;

	for (i = 0; i < aliases; i++) {
		if (!is_word(word, length, alias[i].name))
			continue;
		event->type = TYPE_RAW;
		event->data = alias[i].data;
		return true;
	}
	return false;
}

/*
 * Remove the modifier: the part after the last colon or, in a name with slashes, after the last
 * slash. Returns the length without the modifier, or 0 if the modifier is invalid.
 */
PERF_LOCAL size_t parse_modifier(const char *word, size_t length, uint32_t *flags)
{
	bool user = false, kernel = false;
	size_t end = length, i;

	*flags = 0;
	while (end && word[end - 1] != ':' && word[end - 1] != '/')
		end--;
	if (!end || end == length)
		return end && word[end - 1] == ':' ? 0 : length;

	for (i = end; i < length; i++) {
		if (word[i] == 'u')
			user = true;
		else if (word[i] == 'k')
			kernel = true;
		else
			return 0;
	}
	if (user && !kernel)
		*flags = PERF_EVENT_NO_KERNEL;
	else if (kernel && !user)
		*flags = PERF_EVENT_NO_USER;
	return word[end - 1] == ':' ? end - 1 : end;
}

PERF_INTERNAL int perf_event_parse(const char *word, size_t length,
				   const struct perf_event_alias *alias,
				   size_t aliases, struct perf_event_id *event,
				   char *error, size_t size)
{
	const struct perf_event_id none = { 0 };
	size_t rest;

	/* Names from tables may contain colons. */
	*event = none;
	if (parse_alias(word, length, alias, aliases, event) ||
	    parse_firmware(word, length, event))
		return 0;

	rest = parse_modifier(word, length, &event->flags);
	if (!rest && is_firmware(word, length))
		rest = length;
	if (!rest) {
		if (length)
			snprintf(error, size, "\"%.*s\": invalid modifier: use :u for user mode, :k for kernel mode, or none",
				 (int)length, word);
		else
			snprintf(error, size, "an event in the list has no name");
		return -1;
	}
	if (rest < length && parse_firmware(word, rest, event)) {
		snprintf(error, size, "\"%.*s\": firmware counts its events in all modes: omit \"%.*s\"",
			 (int)length, word, (int)(length - rest), word + rest);
		return -1;
	}
	if (parse_general(word, rest, event) || parse_cache(word, rest, event) ||
	    parse_alias(word, rest, alias, aliases, event) ||
	    parse_raw(word, rest, event))
		return 0;

	snprintf(error, size, "there is no event \"%.*s\": use a name from perf list, rHEX for a raw event, fw:NAME for a firmware event, or timestamp",
		 (int)rest, word);
	return -1;
}
#endif /* PERF_DROPIN */

PERF_INTERNAL void perf_event_name(const struct perf_event_id *event, char *name,
				   size_t size)
{
	const char *modifier = event->flags == PERF_EVENT_NO_KERNEL ? ":u" :
			       event->flags == PERF_EVENT_NO_USER ? ":k" : "";
	size_t i;

	if (event->type == TYPE_GENERAL) {
		for (i = 0; i < COUNT(general_events); i++)
			if (general_events[i].code == event->code) {
				snprintf(name, size, "%s%s",
					 general_events[i].name, modifier);
				return;
			}
		snprintf(name, size, "general-0x%" PRIx32 "%s", event->code,
			 modifier);
	} else if (event->type == TYPE_CACHE) {
		if (event->code >> 3 < COUNT(cache_names) &&
		    (event->code & 7) < COUNT(cache_results))
			snprintf(name, size, "%s-%s%s",
				 cache_names[event->code >> 3],
				 cache_results[event->code & 7], modifier);
		else
			snprintf(name, size, "cache-0x%" PRIx32 "%s",
				 event->code, modifier);
	} else if (event->type == TYPE_FIRMWARE) {
#ifdef PERF_DROPIN
		snprintf(name, size, FIRMWARE_PREFIX "0x%" PRIx32, event->code);
#else
		const char *word = firmware_event(event->code);

		if (word)
			snprintf(name, size, FIRMWARE_PREFIX "%s", word);
		else
			snprintf(name, size, FIRMWARE_PREFIX "0x%" PRIx32, event->code);
#endif /* PERF_DROPIN */
	} else {
		snprintf(name, size, "r%" PRIx64 "%s", event->data, modifier);
	}
}

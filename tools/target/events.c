// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See events.h. The event files are built into the command. */
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "events.h"

extern const char events_bullet_events[];
extern const char events_bullet_07_events[];
extern const char events_bullet_0d_events[];
extern const char events_p550_events[];
extern const char events_p650_events[];

static const char * const files[] = {
	events_bullet_events, events_bullet_07_events, events_bullet_0d_events,
	events_p550_events, events_p650_events,
};

#define FILES	(sizeof(files) / sizeof(files[0]))

static struct family families[FILES];

/* SBI event codes: general events start at 1, followed by 7 caches with 6 codes each. */
#define GENERAL_EVENTS	10
#define CACHES		7
#define CACHE_CODES	6
#define FIRMWARE_EVENTS	22

static void *must(void *memory)
{
	if (!memory) {
		report("out of memory");
		exit(EXIT_UNREADABLE);
	}
	return memory;
}

static void add_event(struct family *family, const char *group,
		      const char *name, const char *selector)
{
	size_t n = family->events;

	family->event = must(realloc(family->event,
				     (n + 1) * sizeof(*family->event)));
	family->group = must(realloc(family->group,
				     (n + 1) * sizeof(*family->group)));
	family->event[n].name = name;
	family->event[n].data = strtoull(selector, NULL, 16);
	family->group[n] = group;
	family->events++;
}

static void read_family(struct family *family, const char *file)
{
	char *text = must(strdup(file)), *line, *lines, *word, *rest;
	const char *group = "";

	for (line = strtok_r(text, "\n", &lines); line;
	     line = strtok_r(NULL, "\n", &lines)) {
		word = strtok_r(line, " ", &rest);
		if (!strcmp(word, "family")) {
			family->name = strtok_r(NULL, " ", &rest);
			family->cores = rest;
		} else if (!strcmp(word, "cpu")) {
			family->cpu[family->cpus++] = rest;
		} else if (!strcmp(word, "group")) {
			group = rest;
		} else if (*word != '#') {
			add_event(family, group, word, rest);
		}
	}
}

static const struct family *all_families(void)
{
	size_t i;

	for (i = 0; i < FILES && !families[i].name; i++)
		read_family(&families[i], files[i]);
	return families;
}

const struct family *family_next(const struct family *family)
{
	if (!family)
		return all_families();
	return family + 1 < families + FILES ? family + 1 : NULL;
}

const struct family *family_named(const char *name)
{
	const struct family *family = NULL;

	while ((family = family_next(family)))
		if (!strcmp(family->name, name))
			return family;
	return NULL;
}

static bool is_of(const struct family *family, const char *cpu)
{
	regmatch_t match;
	regex_t regex;
	bool found;
	size_t i;

	for (i = 0; i < family->cpus; i++) {
		if (regcomp(&regex, family->cpu[i], REG_EXTENDED))
			continue;
		found = !regexec(&regex, cpu, 1, &match, 0) && !match.rm_so &&
			!cpu[match.rm_eo];
		regfree(&regex);
		if (found)
			return true;
	}
	return false;
}

const struct family *family_of(const char *cpu)
{
	const struct family *family = NULL;

	while ((family = family_next(family)))
		if (is_of(family, cpu))
			return family;
	return NULL;
}

/* Write one word: unchanged if the library supports it, otherwise as rHEX. */
static int translate(FILE *out, const char *word, size_t length,
		     const struct family *family)
{
	struct perf_event_id event;
	char text[200];

	if (!perf_event_parse(word, length, NULL, 0, &event, text, sizeof(text))) {
		fprintf(out, "%.*s", (int)length, word);
		return 0;
	}
	if (family && !perf_event_parse(word, length, family->event,
					family->events, &event, text,
					sizeof(text))) {
		perf_event_name(&event, text, sizeof(text));
		fputs(text, out);
		return 0;
	}
	report("%s (sifive-trace list shows names)", text);
	return -1;
}

char *events_translate(const char *list, const struct family *family)
{
	char *text = NULL;
	size_t size, length;
	FILE *out = must(open_memstream(&text, &size));
	int error;

	for (;; list += length + 1) {
		length = perf_event_next(list);
		error = translate(out, list, length, family);
		if (error || !list[length])
			break;
		putc(',', out);
	}
	fclose(out);
	if (!error)
		return text;
	free(text);
	return NULL;
}

bool events_usual(size_t index, struct perf_event_id *event)
{
	memset(event, 0, sizeof(*event));
	if (index < GENERAL_EVENTS) {
		event->code = (uint32_t)index + 1;
		return true;
	}
	index -= GENERAL_EVENTS;
	if (!index) {
		event->code = PERF_CODE_TIMESTAMP;
		return true;
	}
	index--;
	if (index < CACHES * CACHE_CODES) {
		event->type = SIFIVE_TRACE_EVENT_CACHE;
		event->code = (uint32_t)(index / CACHE_CODES << 3 | index % CACHE_CODES);
		return true;
	}
	index -= CACHES * CACHE_CODES;
	event->type = SIFIVE_TRACE_EVENT_FIRMWARE;
	event->code = (uint32_t)index;
	return index < FIRMWARE_EVENTS;
}

bool events_firmware(const char *list)
{
	struct perf_event_id event;
	char text[200];
	size_t length;

	for (; list; list = list[length] ? list + length + 1 : NULL) {
		length = perf_event_next(list);
		if (!perf_event_parse(list, length, NULL, 0, &event, text, sizeof(text)) &&
		    event.type == SIFIVE_TRACE_EVENT_FIRMWARE)
			return true;
	}
	return false;
}

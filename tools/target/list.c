// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace list: shows the events that this machine can count, and on which counters. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"
#include "events.h"
#include "list.h"
#include "machine.h"

/* Counter number of the timestamp. */
#define TIMESTAMP	1

/* Size of a list of all counters as text. */
#define COUNTERS_SIZE	512

/**
 * struct listing - a listing of events
 * @pattern:	pattern for names, or NULL
 * @all:	set to list events that cannot be counted, too
 * @family:	family whose raw events are listed instead, or NULL
 * @add:	receives the names, or NULL to print them
 * @context:	argument for @add
 * @fd:		the trace device, or -1 if events cannot be queried
 * @events:	number of events shown
 * @hidden:	number of events that cannot be counted
 */
struct listing {
	char		*pattern;
	bool		all;
	const struct family *family;
	cli_add		*add;
	void		*context;
	int		fd;
	size_t		events;
	size_t		hidden;
};

/*
 * Return a pattern for fnmatch(). A word without special characters matches any name that contains
 * it.
 */
static char *make_pattern(const char *word)
{
	char *pattern;

	if (asprintf(&pattern, strpbrk(word, "*?[") ? "%s" : "*%s*", word) < 0)
		return NULL;
	return pattern;
}

static bool is_wanted(const struct listing *listing, const char *name)
{
	return !listing->pattern ||
	       !fnmatch(listing->pattern, name, FNM_CASEFOLD);
}

/* The timestamp is always available, because it does not need a counter. */
static bool is_timestamp(const struct perf_event_id *id)
{
	return id->type == SIFIVE_TRACE_EVENT_GENERAL &&
	       id->code == SIFIVE_TRACE_EVENT_TIMESTAMP;
}

static void show(struct listing *listing, const struct perf_event_id *id,
		 const char *name)
{
	struct sifive_trace_event event = {
		.type = id->type, .code = id->code, .data = id->data,
	};
	struct sifive_trace_query query = { 0 };
	char counters[COUNTERS_SIZE] = "";
	char raw[32] = "";

	if (!is_wanted(listing, name))
		return;
	if (listing->fd >= 0) {
		if (is_timestamp(id))
			query.counters = 1u << TIMESTAMP;
		else if (machine_query(listing->fd, &event, &query))
			query.counters = 0;
		machine_counting(&event, query.counters, counters, sizeof(counters));
		if (!query.counters && !listing->all) {
			listing->hidden++;
			return;
		}
	}
	if (id->type == SIFIVE_TRACE_EVENT_RAW)
		snprintf(raw, sizeof(raw), "r%llx", (unsigned long long)id->data);
	listing->events++;
	if (listing->add)
		listing->add(listing->context, name, NULL);
	else if (*counters)
		printf("  %-31s %-9s %s\n", name, raw, counters);
	else if (*raw)
		printf("  %-31s %s\n", name, raw);
	else
		printf("  %s\n", name);
}

static void list_usual(struct listing *listing)
{
	struct perf_event_id event;
	char name[64];
	size_t i;

	if (!listing->add)
		puts("Events named as in perf list, and firmware events:");
	for (i = 0; events_usual(i, &event); i++) {
		perf_event_name(&event, name, sizeof(name));
		show(listing, &event, name);
	}
}

static void list_raw(struct listing *listing, const struct family *family)
{
	struct perf_event_id event = { .type = SIFIVE_TRACE_EVENT_RAW };
	size_t i;

	if (!listing->add)
		printf("\nRaw events of %s (%s):\n", family->name, family->cores);
	for (i = 0; i < family->events; i++) {
		event.data = family->event[i].data;
		show(listing, &event, family->event[i].name);
	}
}

/* Open the device, or report why events cannot be queried. */
static int open_device(void)
{
	struct sifive_trace_event cycles = { .code = 1 };
	struct sifive_trace_event firmware = { .type = SIFIVE_TRACE_EVENT_FIRMWARE };
	struct sifive_trace_query query = { 0 };
	int fd = open(machine_device(), O_RDWR | O_CLOEXEC);
	int error = fd < 0 ? errno : machine_query(fd, &cycles, &query);

	/* Firmware counts its own events even if the machine's counters cannot be shared. */
	if (error == EOPNOTSUPP)
		error = machine_query(fd, &firmware, &query);
	if (!error)
		return fd;
	if (fd >= 0)
		close(fd);
	report("cannot query which of these events this machine can count: %s: %s (see sifive-trace info)",
	       machine_device(), strerror(error));
	return -1;
}

static int list(struct listing *listing)
{
	const struct family *family = listing->family;
	char cpu[MACHINE_CPU_SIZE];
	bool here = machine_cpu(cpu);

	/* Events of another family cannot be queried here. */
	if (family) {
		list_raw(listing, family);
	} else {
		listing->fd = open_device();
		list_usual(listing);
		family = here ? family_of(cpu) : NULL;
		if (family)
			list_raw(listing, family);
		else if (here)
			printf("\nNo names of raw events are known for processor %s: use rHEX.\n",
			       cpu);
	}
	if (listing->hidden)
		printf("\n%zu more events cannot be counted here, or their counters are in use: --all shows them.\n",
		       listing->hidden);
	if (listing->fd >= 0)
		close(listing->fd);
	if (listing->events)
		return EXIT_OK;
	report("no event matches, or none can be counted here");
	return EXIT_UNREADABLE;
}

void list_names(cli_add *add, void *context)
{
	struct listing listing = { .add = add, .context = context };
	const struct family *family = NULL;
	char cpu[MACHINE_CPU_SIZE];

	listing.fd = open(machine_device(), O_RDWR | O_CLOEXEC);
	list_usual(&listing);
	if (machine_cpu(cpu))
		family = family_of(cpu);
	if (family)
		list_raw(&listing, family);
	if (listing.fd >= 0)
		close(listing.fd);
}

static void list_families(cli_add *add, void *context)
{
	const struct family *family = NULL;

	while ((family = family_next(family)))
		add(context, family->name, family->cores);
}

static int set_family(void *at, const struct cli_option *option, const char *value)
{
	const struct family *family = family_named(value);

	(void)option;
	if (!family)
		return usage_error("list: no family \"%s\": see sifive-trace list --help",
				   value);
	memcpy(at, &family, sizeof(family));
	return EXIT_OK;
}

static const struct cli_option list_options[] = {
	{ .letter = 'a', .name = "all",
	  .help = "also list events that cannot be counted on this machine",
	  .set = cli_flag, .offset = offsetof(struct listing, all) },
	{ .letter = 'c', .name = "core", .value = "FAMILY",
	  .help = "list the raw events of a family of cores, on any machine:",
	  .list = list_families, .listed = true,
	  .set = set_family, .offset = offsetof(struct listing, family) },
	{ .name = NULL }
};

static const struct cli_group list_groups[] = {
	{ NULL, list_options, 0 }, { .options = NULL }
};

static int command_list(int argc, char **argv)
{
	struct listing listing = { .fd = -1 };
	int rc = cli_parse(&list_command, &listing, argc, argv);

	if (!rc)
		rc = cli_arguments(&list_command, 1, argc, argv);
	if (rc)
		return rc;
	if (optind < argc) {
		listing.pattern = make_pattern(argv[optind]);
		if (!listing.pattern)
			return usage_error("out of memory");
	}
	rc = list(&listing);
	free(listing.pattern);
	return rc;
}

const struct cli_command list_command = {
	.name = "list",
	.run = command_list,
	.summary = "list the events that this machine can count",
	.arguments = "[PATTERN]",
	.help = "List the events that this machine can count and, for each event, the counters that can count it and are free now, on all CPUs with an encoder. An event is named as in this list, or as rHEX or cpu/event=NUMBER/. With :u or :k appended, it is counted only in user or kernel mode. Firmware counts the events fw:NAME, in all modes; only samples contain these counts.\n\n"
		"PATTERN is a part of the name, or a shell pattern.",
	.groups = list_groups,
	.status = "Exit status: 0 done, 2 usage error, 3 no event is listed.",
};

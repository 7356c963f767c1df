// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace list: what this machine can count, and on which counters. */
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
#include "machine.h"

/* The timestamp among the counters. */
#define TIMESTAMP	1

/* A list of all counters, with gaps, as text. */
#define COUNTERS_SIZE	512

/**
 * struct listing - what is listed
 * @pattern:	of names, or NULL
 * @all:	also what cannot be counted here
 * @fd:		the trace device, -1: what can be counted is not known
 * @events:	events shown
 * @hidden:	events that cannot be counted here
 */
struct listing {
	char		*pattern;
	bool		all;
	int		fd;
	size_t		events;
	size_t		hidden;
};

static const char short_options[] = "ac:h";

static const struct option long_options[] = {
	{ "all",	no_argument,	   NULL, 'a' },
	{ "core",	required_argument, NULL, 'c' },
	{ "help",	no_argument,	   NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static void help(void)
{
	const struct family *family = NULL;

	puts("usage: sifive-trace list [OPTION]... [PATTERN]\n"
	     "\n"
	     "List the events that this machine can count, and the counters that can count\n"
	     "each and are free now, on all CPUs that have an encoder. A name of either list,\n"
	     "rHEX, or cpu/event=NUMBER/ names an event; :u or :k behind it counts in user or\n"
	     "kernel mode alone.\n"
	     "\n"
	     "PATTERN: a part of the name, or a pattern as for files.\n"
	     "\n"
	     "  -a, --all          also events that cannot be counted here\n"
	     "  -c, --core FAMILY  raw events of that family, not of this processor:");
	while ((family = family_next(family)))
		printf("                       %-10s %s\n", family->name,
		       family->cores);
	puts("  -h, --help         this text\n"
	     "\n"
	     "Exit status: 0 done, 2 wrong usage, 3 no event is listed.");
}

/* The pattern as fnmatch() takes it. */
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

/* It counts nothing and needs no counter of its own: it is always there. */
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
		machine_counters(query.counters, counters, sizeof(counters));
		if (!query.counters && !listing->all) {
			listing->hidden++;
			return;
		}
	}
	if (id->type == SIFIVE_TRACE_EVENT_RAW)
		snprintf(raw, sizeof(raw), "r%llx", (unsigned long long)id->data);
	listing->events++;
	if (*counters)
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

	puts("Events with names as in perf list:");
	for (i = 0; events_usual(i, &event); i++) {
		perf_event_name(&event, name, sizeof(name));
		show(listing, &event, name);
	}
}

static void list_raw(struct listing *listing, const struct family *family)
{
	struct perf_event_id event = { .type = SIFIVE_TRACE_EVENT_RAW };
	size_t i;

	printf("\nRaw events of %s (%s):\n", family->name, family->cores);
	for (i = 0; i < family->events; i++) {
		event.data = family->event[i].data;
		show(listing, &event, family->event[i].name);
	}
}

/* Why the events of the machine are unknown. */
static int open_device(void)
{
	struct sifive_trace_event cycles = { .code = 1 };
	struct sifive_trace_query query = { 0 };
	int fd = open(machine_device(), O_RDWR | O_CLOEXEC);
	int error = fd < 0 ? errno : machine_query(fd, &cycles, &query);

	if (!error)
		return fd;
	if (fd >= 0)
		close(fd);
	report("cannot ask which of them this machine counts: %s: %s (sifive-trace info tells more)",
	       machine_device(), strerror(error));
	return -1;
}

static int list(struct listing *listing, const struct family *family)
{
	char cpu[MACHINE_CPU_SIZE];
	bool here = machine_cpu(cpu);

	/* Another family's events are not asked for here. */
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
		printf("\n%zu more that cannot be counted here, or whose counters are in use: --all shows them.\n",
		       listing->hidden);
	if (listing->fd >= 0)
		close(listing->fd);
	if (listing->events)
		return EXIT_OK;
	report("no event is called like that, or none can be counted here");
	return EXIT_UNREADABLE;
}

int command_list(int argc, char **argv)
{
	struct listing listing = { .fd = -1 };
	const struct family *family = NULL;
	int option, rc;

	while ((option = getopt_long(argc, argv, short_options, long_options,
				     NULL)) >= 0) {
		switch (option) {
		case 'a':
			listing.all = true;
			break;
		case 'c':
			family = family_named(optarg);
			if (!family)
				return usage_error("list: no family \"%s\": see sifive-trace list --help",
						   optarg);
			break;
		case 'h':
			help();
			return EXIT_OK;
		default:
			return usage_error("try sifive-trace list --help");
		}
	}
	if (optind + 1 < argc)
		return usage_error("list: one pattern, not also \"%s\"",
				   argv[optind + 1]);
	if (optind < argc) {
		listing.pattern = make_pattern(argv[optind]);
		if (!listing.pattern)
			return usage_error("out of memory");
	}
	rc = list(&listing, family);
	free(listing.pattern);
	return rc;
}

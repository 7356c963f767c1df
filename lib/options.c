// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sifive_trace.h"

#include "error.h"
#include "event.h"
#include "filter.h"
#include "options.h"
#include "part.h"
#include "switches.h"

#define FLAGS	(SIFIVE_TRACE_RING | SIFIVE_TRACE_PER_THREAD | SIFIVE_TRACE_POLL | \
		 SIFIVE_TRACE_NO_HOOKS | SIFIVE_TRACE_HEADER_ONCE | \
		 SIFIVE_TRACE_SAMPLE_ALL | SIFIVE_TRACE_PER_CPU | SIFIVE_TRACE_CALLERS | \
		 (PERF_SWITCHES ? SIFIVE_TRACE_SWITCHES | SIFIVE_TRACE_SYSCALLS | \
				  SIFIVE_TRACE_PAGE_FAULTS : 0))

/* Minimum interval between two samples, in microseconds. */
#define INTERVAL_MIN	100

/* Links filters into programs that parse options, even if they use the static library. */
__attribute__((used)) static int (*const with_filters)(const char *) = perf_filter_load;
#ifndef PERF_COMMAND
__attribute__((used)) static perf_writer *(*const with_parts)(perf_writer *) = perf_part_hook;
#endif /* PERF_COMMAND */

_Static_assert(PERF_EVENT_NO_USER == SIFIVE_TRACE_EVENT_NO_USER &&
	       PERF_EVENT_NO_KERNEL == SIFIVE_TRACE_EVENT_NO_KERNEL &&
	       PERF_CODE_TIMESTAMP == SIFIVE_TRACE_EVENT_TIMESTAMP,
	       "event.h and the driver use the same values");

PERF_LOCAL int parse_event(const struct sifive_trace_options *options,
			   const char *word, size_t length,
			   struct perf_counter *counter, char *name)
{
	struct perf_event_alias alias;
	struct perf_event_id event;
	char error[160];
	int rc = -1;
	size_t i;

	/* Copy members one by one, because the structures are similar but not identical. */
	for (i = 0; rc && i < options->names_count; i++) {
		alias.name = options->names[i].name;
		alias.data = options->names[i].data;
		rc = perf_event_parse(word, length, &alias, 1, &event, error,
				      sizeof(error));
	}
	if (rc)
		rc = perf_event_parse(word, length, NULL, 0, &event, error,
				      sizeof(error));
	if (rc)
		return perf_error("%s", error);

	*counter = (struct perf_counter) {
		.type = event.type, .code = event.code, .flags = event.flags,
		.data = event.data,
	};
	snprintf(name, PERF_EVENT_NAME, "%.*s", (int)length, word);
	return 0;
}

PERF_LOCAL int parse_events(const struct sifive_trace_options *options,
			    struct perf_setup *setup)
{
	const char *word = options->events;
	uint32_t i;

	if (!word || !*word)
		return 0;

	for (;; word++) {
		size_t length = perf_event_next(word);
		struct perf_counter *counter = &setup->counter[setup->count];

		if (setup->count == PERF_COUNTER_MAX)
			return perf_error("more than %d events: \"%.*s\" is one too many",
					  PERF_COUNTER_MAX, (int)length, word);
		if (parse_event(options, word, length, counter,
				setup->name[setup->count]))
			return -1;
		for (i = 0; i < setup->count; i++)
			if (setup->counter[i].type == counter->type &&
			    setup->counter[i].code == counter->code &&
			    setup->counter[i].flags == counter->flags &&
			    setup->counter[i].data == counter->data)
				return perf_error("events \"%s\" and \"%s\" are the same",
						  setup->name[i],
						  setup->name[setup->count]);
		setup->count++;
		word += length;
		if (!*word)
			return 0;
	}
}

/* Parse a list such as "0-2,5". */
PERF_LOCAL int parse_cpus(const char *list, cpu_set_t *cpus)
{
	const char *at = list;

	while (*at) {
		unsigned long first, last;
		char *end;

		if (*at < '0' || *at > '9')
			goto bad;
		first = strtoul(at, &end, 10);
		last = first;
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				goto bad;
			last = strtoul(end + 1, &end, 10);
		}
		if (last < first || last >= PERF_CPU_NUMBERS ||
		    (*end && (*end != ',' || !end[1])))
			goto bad;
		for (; first <= last; first++)
			CPU_SET(first, cpus);
		at = *end ? end + 1 : end;
	}
	if (CPU_COUNT(cpus))
		return 0;
bad:
	return perf_error("\"%s\" is not a list of CPUs such as 0-2,5", list);
}

PERF_LOCAL int parse_sampling(const struct sifive_trace_options *options,
			      struct perf_setup *setup)
{
	struct sifive_trace_sampling *sampling = &setup->sampling;
	struct perf_counter counter;

	if (options->interval && options->period)
		return perf_error("samples are taken by interval or by period, not both");
	if (options->period && (!options->period_event || !*options->period_event))
		return perf_error("the period is %llu, but no event is given for it",
				  (unsigned long long)options->period);

	if (options->flags & SIFIVE_TRACE_CALLERS && !options->interval && !options->period)
		return perf_error("callers need samples: set an interval or a period");

	if (options->stack > SIFIVE_TRACE_STACK_MAX || options->stack % 8)
		return perf_error("options.stack is %u: it must be a multiple of 8 up to %d",
				  options->stack, SIFIVE_TRACE_STACK_MAX);
	if (options->stack && options->flags & SIFIVE_TRACE_CALLERS)
		return perf_error("samples include callers or a stack, not both");
	if (options->stack && !options->interval && !options->period)
		return perf_error("stacks need samples: set an interval or a period");

	if (options->flags & SIFIVE_TRACE_SAMPLE_ALL)
		sampling->flags |= SIFIVE_TRACE_SAMPLING_ALL;
	if (options->flags & SIFIVE_TRACE_CALLERS)
		sampling->flags |= SIFIVE_TRACE_SAMPLING_CALLERS;
	sampling->flags |= SIFIVE_TRACE_SAMPLING_STACK(options->stack);
	if (sampling->flags & SIFIVE_TRACE_SAMPLING_CALLERS || options->stack)
		sampling->flags |= SIFIVE_TRACE_SAMPLING_KERNEL;
	sampling->period = options->period;
	if (options->interval)
		sampling->interval = (options->interval < INTERVAL_MIN ?
				      INTERVAL_MIN : options->interval) *
				     UINT64_C(1000);
	if (!options->period)
		return 0;
	if (parse_event(options, options->period_event, strlen(options->period_event),
			&counter, setup->sampling_name))
		return -1;
	sampling->event = perf_device_event(&counter);
	if (sampling->event.type != SIFIVE_TRACE_EVENT_FIRMWARE)
		return 0;
	return perf_error("\"%s\": firmware events do not interrupt: sample by interval, or by another event",
			  options->period_event);
}

PERF_INTERNAL int perf_options_parse(const struct sifive_trace_options *options,
				     struct perf_setup *setup)
{
	memset(setup, 0, sizeof(*setup));
	if (options->flags & ~(unsigned int)FLAGS)
		return perf_error("options.flags has unknown bits: 0x%x",
				  options->flags & ~(unsigned int)FLAGS);
	if (options->flags & SIFIVE_TRACE_PER_THREAD &&
	    options->flags & SIFIVE_TRACE_PER_CPU)
		return perf_error("options.flags requests per-thread and per-CPU counts: omit one");
	if (options->count_type > SIFIVE_TRACE_RECORD_TYPE_MAX)
		return perf_error("options.count_type is %u: it must be 0 to %d",
				  options->count_type, SIFIVE_TRACE_RECORD_TYPE_MAX);
	if (options->channel >= PERF_CHANNELS)
		return perf_error("options.channel is %u: it must be 0 to %d",
				  options->channel, PERF_CHANNELS - 1);

	if (options->names_count && !options->names)
		return perf_error("options.names is NULL, but names_count is %zu",
				  options->names_count);

	setup->type = options->count_type;
	setup->channel = options->channel;
	setup->take.buffer = options->buffer;
	setup->take.flags = options->flags & SIFIVE_TRACE_RING ? SIFIVE_TRACE_CONFIG_RING : 0;
	setup->poll = options->flags & SIFIVE_TRACE_POLL;
	setup->hooks = !(options->flags & SIFIVE_TRACE_NO_HOOKS);
	setup->per_thread = !(options->flags & SIFIVE_TRACE_PER_CPU);
	setup->header_once = options->flags & SIFIVE_TRACE_HEADER_ONCE;
	setup->header_interval = options->header_interval;
	setup->filter = options->filter;
	setup->syscalls = PERF_SWITCHES && options->flags & SIFIVE_TRACE_SYSCALLS;
	setup->faults = PERF_SWITCHES && options->flags & SIFIVE_TRACE_PAGE_FAULTS;
	setup->switches = setup->syscalls || setup->faults ||
			  (PERF_SWITCHES && options->flags & SIFIVE_TRACE_SWITCHES);

	if (options->cpus && parse_cpus(options->cpus, &setup->cpus))
		return -1;
	if (parse_events(options, setup))
		return -1;
	return parse_sampling(options, setup);
}

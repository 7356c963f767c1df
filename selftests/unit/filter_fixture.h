/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Helpers that write filters which select functions of the test program. */
#ifndef SELFTESTS_UNIT_FILTER_FIXTURE_H
#define SELFTESTS_UNIT_FILTER_FIXTURE_H

#include "lib_mock.h"

struct filtered {
	char path[48];
	struct sifive_trace *trace;
};

static uintptr_t bias;

static int find_bias(struct dl_phdr_info *info, size_t size, void *unused)
{
	bias = info->dlpi_addr;
	return 1;
}

static inline bool filtered_open(struct filtered *f)
{
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	mock_device_reset();
	sprintf(f->path, "/tmp/lib_filter_test.%d", getpid());
	/* The first object that dl_iterate_phdr() reports is the program. */
	dl_iterate_phdr(find_bias, NULL);
	f->trace = sifive_trace_open();
	return f->trace;
}

static inline void filtered_close(struct filtered *f)
{
	mock_interrupt = NULL;
	sifive_trace_close(f->trace);
	unlink(f->path);
}

/* Each of @lines is a function's letter, preceded by > or < if recording begins or ends there. */
static inline void filtered_lines(FILE *file, const char *lines, uintptr_t (*address_of)(char),
				  unsigned int size)
{
	uintptr_t at;

	for (; *lines; lines++) {
		if (strchr("><", *lines)) {
			fprintf(file, "%c ", *lines);
			continue;
		}
		at = address_of(*lines) - bias;
		fprintf(file, "%s %lx %lx\n", program_invocation_short_name, at, at + size);
	}
}

/* Set up tracing with the filter and turn it on. Return 0 or -1. */
static inline int filtered_start(struct filtered *f, const char *filter)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;

	options.filter = filter;
	options.events = "";
	options.count_type = SIFIVE_TRACE_RAW;
	if (sifive_trace_setup(f->trace, &options) || sifive_trace_on(f->trace))
		return -1;
	mock_stores = 0;
	return 0;
}

#endif /* SELFTESTS_UNIT_FILTER_FIXTURE_H */

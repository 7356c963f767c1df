// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sifive_trace.h"

#include "auto.h"
#include "dump.h"
#include "error.h"
#include "options.h"
#include "session.h"

/* The session's user while it is this file's. */
static const char auto_user;

/* At exit the environment may be another. */
static char output[PATH_MAX];

/* A variable that is neither absent nor empty. */
PERF_LOCAL const char *variable(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

PERF_LOCAL bool is_set(const char *name)
{
	const char *value = variable(name);

	return value && strcmp(value, "0");
}

PERF_LOCAL int size_of(const char *name, uint64_t most, uint64_t *result)
{
	const char *value = variable(name);
	unsigned long long n;
	char *end;

	if (!value)
		return 0;
	errno = 0;
	n = strtoull(value, &end, 10);
	if (*value >= '0' && *value <= '9' && !errno) {
		unsigned int shift = *end == 'k' || *end == 'K' ? 10 :
				     *end == 'M' ? 20 : 0;

		if (shift)
			end++;
		if (!*end && n <= most >> shift) {
			*result = (uint64_t)n << shift;
			return 0;
		}
	}
	return perf_error("%s=%s: not a number from 0 to %llu", name, value,
			  (unsigned long long)most);
}

/* Which of the @count words of @word a variable is; @result stays when unset. */
PERF_LOCAL int choice(const char *name, const char *const *word,
		      unsigned int count, unsigned int *result)
{
	const char *value = variable(name);
	unsigned int i;

	if (!value)
		return 0;
	for (i = 0; i < count; i++)
		if (!strcmp(value, word[i])) {
			*result = i;
			return 0;
		}
	return perf_error("%s=%s: not one of %s, %s%s%s", name, value, word[0],
			  word[1], count > 2 ? ", " : "", count > 2 ? word[2] : "");
}

PERF_LOCAL int read_environment(struct sifive_trace_options *options)
{
	static const char *const counts[] = { "raw", "delta", "xor" };
	static const char *const sinks[] = { "sba", "sram" };
	const char *header = variable("SIFIVE_TRACE_HEADER");
	uint64_t channel = options->channel, interval = 0;
	unsigned int sink = 0;

	if (choice("SIFIVE_TRACE_COUNT", counts, 3, &options->count_type) ||
	    choice("SIFIVE_TRACE_SINK", sinks, 2, &sink) ||
	    size_of("SIFIVE_TRACE_BUFFER", UINT64_MAX, &options->buffer) ||
	    size_of("SIFIVE_TRACE_CHANNEL", PERF_CHANNELS - 1, &channel) ||
	    size_of("SIFIVE_TRACE_INTERVAL", UINT_MAX, &interval) ||
	    size_of("SIFIVE_TRACE_PERIOD", UINT64_MAX, &options->period))
		return -1;

	if (sink)
		options->buffer = 0;
	options->channel = (unsigned int)channel;
	options->interval = (unsigned int)interval;
	options->events = variable("SIFIVE_TRACE_EVENTS");
	options->cpus = variable("SIFIVE_TRACE_CPUS");
	options->period_event = variable("SIFIVE_TRACE_PERIOD_EVENT");
	options->filter = variable("SIFIVE_TRACE_FILTER");
	if (is_set("SIFIVE_TRACE_RING"))
		options->flags |= SIFIVE_TRACE_RING;
	if (is_set("SIFIVE_TRACE_PER_THREAD"))
		options->flags |= SIFIVE_TRACE_PER_THREAD;
	if (header && !strcmp(header, "once"))
		options->flags |= SIFIVE_TRACE_HEADER_ONCE;
	return 0;
}

/* A relative name is of the folder that the program began in. */
PERF_LOCAL int find_output(void)
{
	const char *name = variable("SIFIVE_TRACE_OUTPUT");
	char folder[PATH_MAX];
	int length;

	if (!name)
		name = "trace.rtd";
	if (*name == '/')
		folder[0] = '\0';
	else if (!getcwd(folder, sizeof(folder)))
		return perf_error("cannot tell the current folder: %s",
				  strerror(errno));
	length = snprintf(output, sizeof(output), "%s%s%s", folder,
			  *folder ? "/" : "", name);
	if (length < 0 || (size_t)length >= sizeof(output))
		return perf_error("the name of the trace's file is too long");
	return 0;
}

PERF_LOCAL void auto_stop(void)
{
	perf_error_clear();
	if (perf_session.user != &auto_user)
		return;
	/* A record that exit() was called in the middle of is not finished. */
	if (perf_session_enter(false, PERF_FRAME)) {
		perf_error_print("SIFIVE_TRACE_RECORD: ");
		return;
	}
	/* A child's exit is not the program's. */
	if (perf_session.user != &auto_user) {
		perf_session_leave();
		return;
	}
	if (perf_session_off())
		perf_error_print("SIFIVE_TRACE_RECORD: ");
	if (perf_dump(output))
		perf_error_print("SIFIVE_TRACE_RECORD: ");
	perf_session_end();
	perf_session_leave();
}

/* Whether the side-car is wanted for a program that may not get to its end. */
PERF_LOCAL bool is_early(void)
{
	const char *wish = variable("SIFIVE_TRACE_META");

	return wish && !strcmp(wish, "early");
}

PERF_LOCAL int auto_begin(void)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	static struct perf_setup setup;

	if (find_output() || read_environment(&options) ||
	    perf_options_parse(&options, &setup) ||
	    perf_session_setup(&setup, &auto_user))
		return -1;
	if (atexit(auto_stop)) {
		perf_session_end();
		return perf_error("out of memory");
	}
	/* Without it the program can still write all at its end. */
	if (is_early() && perf_dump_early(output))
		perf_error_print("SIFIVE_TRACE_RECORD: ");
	perf_error_clear();
	if (!perf_session_on())
		return 0;
	perf_session_end();
	return -1;
}

__attribute__((constructor(PERF_EARLY_AUTO)))
PERF_INTERNAL void perf_auto_start(void)
{
	const char *record = variable("SIFIVE_TRACE_RECORD");

	if (!record || strcmp(record, "1"))
		return;
	/* What this program starts is not recorded: the hardware is taken. */
	unsetenv("SIFIVE_TRACE_RECORD");

	if (perf_session_enter(true, PERF_FRAME))
		return;
	if (auto_begin())
		perf_error_print("SIFIVE_TRACE_RECORD: nothing is recorded: ");
	perf_session_leave();
	perf_error_clear();
}

PERF_INTERNAL void perf_auto_yield(void)
{
	if (perf_session.user != &auto_user)
		return;
	perf_session_off();
	if (is_early())
		perf_dump_forget(output);
	perf_session_end();
	perf_error_clear();
	perf_warning("SIFIVE_TRACE_RECORD: the program traces itself: what it writes to its own file is all");
	perf_error_clear();
}

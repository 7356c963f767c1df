// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See setup.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "setup.h"

#include "lib/environment.h"
#include "lib/options.h"

#include "../command.h"
#include "events.h"
#include "list.h"
#include "machine.h"

/* The shortest turn that the driver accepts, in microseconds. */
#define TURN_LEAST	1000

/* Default number of bytes of the stack in each sample, with -g dwarf. */
#define STACK_USUAL	2048

void setup_init(struct setup *setup)
{
	const struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;

	memset(setup, 0, sizeof(*setup));
	setup->options = options;
	setup->turn_us = PERF_TURN_US;
}

/* Parse a number followed by one of @units; @factor contains the factor of each unit. */
static bool parse_amount(const char *text, const char * const *units,
			 const uint64_t *factor, size_t count, uint64_t *result)
{
	unsigned long long number;
	char *end;
	size_t i;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	for (i = 0; i < count; i++)
		if (!strcasecmp(end, units[i]))
			break;
	if (errno || i == count)
		return false;
	return !__builtin_mul_overflow(number, factor[i], result);
}

static bool parse_size(const char *text, uint64_t *size)
{
	static const char * const units[] = { "", "k", "M", "G" };
	static const uint64_t factor[] = { 1, 1 << 10, 1 << 20, 1 << 30 };

	return parse_amount(text, units, factor, 4, size) && *size;
}

static bool parse_period(const char *text, uint64_t *period)
{
	static const char * const units[] = { "", "k", "M", "G" };
	static const uint64_t factor[] = { 1, 1000, 1000000, 1000000000 };

	return parse_amount(text, units, factor, 4, period) && *period;
}

/* Parse a time in microseconds. */
static bool parse_time(const char *text, unsigned int *time)
{
	static const char * const units[] = { "us", "", "ms", "s" };
	static const uint64_t factor[] = { 1, 1, 1000, 1000000 };
	uint64_t us;

	if (!parse_amount(text, units, factor, 4, &us) || us < 100 ||
	    us > UINT32_MAX)
		return false;
	*time = (unsigned int)us;
	return true;
}

static int set_buffer(void *at, const struct cli_option *option, const char *value)
{
	return parse_size(value, at) ? EXIT_OK :
	       cli_refuse(option, "a size such as 65536, 64k or 4M", value);
}

static int set_interval(void *at, const struct cli_option *option, const char *value)
{
	return parse_time(value, at) ? EXIT_OK :
	       cli_refuse(option, "a time of at least 100us, such as 100us or 1ms",
			  value);
}

static int set_period(void *at, const struct cli_option *option, const char *value)
{
	return parse_period(value, at) ? EXIT_OK :
	       cli_refuse(option, "a number of events such as 10000 or 10k", value);
}

int setup_header_interval(void *at, const struct cli_option *option, const char *value)
{
	uint64_t records;

	if (!parse_period(value, &records) || records > UINT32_MAX)
		return cli_refuse(option, "a number of records, at least 1", value);
	*(unsigned int *)at = (unsigned int)records;
	return EXIT_OK;
}

int setup_turn(void *at, const struct cli_option *option, const char *value)
{
	unsigned int *turn = at;

	if (parse_time(value, turn) && *turn >= TURN_LEAST && *turn <= SIFIVE_TRACE_TURN_LONGEST)
		return EXIT_OK;
	return cli_refuse(option, "a time from 1ms to 50ms", value);
}

int setup_size(void *at, const struct cli_option *option, const char *value)
{
	return set_buffer(at, option, value);
}

static bool parse_duration(const char *text, uint64_t *time)
{
	static const char * const units[] = { "ms", "s", "", "m", "h" };
	static const uint64_t factor[] = {
		UINT64_C(1000000), UINT64_C(1000000000), UINT64_C(1000000000),
		UINT64_C(60000000000), UINT64_C(3600000000000),
	};

	return parse_amount(text, units, factor, 5, time) && *time;
}

int setup_duration(void *at, const struct cli_option *option, const char *value)
{
	return parse_duration(value, at) ? EXIT_OK :
	       cli_refuse(option, "a time such as 500ms, 10s, 5m or 1h", value);
}

int setup_rotate(void *at, const struct cli_option *option, const char *value)
{
	struct setup_pieces *pieces = at;
	const char *unit = value + strspn(value, "0123456789");

	*pieces = (struct setup_pieces){ 0 };
	/* 5M is a size, and 5m is a time; a number without a unit may be a size or a time. */
	if (*unit && strcmp(unit, "m") && parse_size(value, &pieces->size) &&
	    pieces->size >= SETUP_PIECE_LEAST)
		return EXIT_OK;
	pieces->size = 0;
	if (*unit && *unit != 'M' && parse_duration(value, &pieces->time))
		return EXIT_OK;
	return cli_refuse(option, "a size of at least 4k, such as 64k, 100M or 1G, or a time such as 10s, 5m or 1h, each with its unit",
			  value);
}

static int set_callers(void *at, const struct cli_option *option, const char *value)
{
	struct sifive_trace_options *options = at;
	const char *bytes = value + strlen("dwarf");
	uint64_t stack = STACK_USUAL;

	options->flags &= ~(unsigned int)SIFIVE_TRACE_CALLERS;
	options->stack = 0;
	if (!strcmp(value, "fp")) {
		options->flags |= SIFIVE_TRACE_CALLERS;
		return EXIT_OK;
	}
	if (strncmp(value, "dwarf", strlen("dwarf")) || (*bytes && *bytes != ',') ||
	    (*bytes && (!parse_size(bytes + 1, &stack) || !stack ||
			stack > SIFIVE_TRACE_STACK_MAX || stack % 8)))
		return cli_refuse(option, "fp, dwarf, or dwarf,BYTES with a multiple of 8 up to 8192",
				  value);
	options->stack = (unsigned int)stack;
	return EXIT_OK;
}

#define OPTION(member)	offsetof(struct setup, options.member)

const struct cli_option setup_what[] = {
	{ .letter = 'e', .name = "event", .value = "LIST",
	  .help = "events to count, comma-separated: see sifive-trace list (default: cycles,instructions; '' for none)",
	  .list = list_names, .set = cli_text, .offset = offsetof(struct setup, events) },
	/* The words are in the order of the count types. */
	{ .name = "count", .value = "raw|delta|xor",
	  .help = "count type of the records (default: delta)",
	  .set = cli_word, .offset = OPTION(count_type) },
	{ .name = "per-cpu",
	  .help = "count everything that runs on a hart (default: count each thread separately)",
	  .set = cli_flag, .offset = offsetof(struct setup, per_cpu) },
	{ .letter = 'i', .name = "interval", .value = "TIME",
	  .help = "sample: one record for each TIME that a thread runs: 100us, 1ms; at least 100us",
	  .set = set_interval, .offset = OPTION(interval) },
	{ .letter = 'c', .name = "period", .value = "N",
	  .help = "sample: one record for every N occurrences of the first event",
	  .set = set_period, .offset = OPTION(period) },
	{ .letter = 'g', .name = "call-graph", .value = "fp|dwarf[,BYTES]",
	  .help = "with -i or -c: samples include their callers, found by the frame pointers of code compiled with -fno-omit-frame-pointer; or they include BYTES of the stack (default: 2048), in which the commands that read the trace find the callers by unwind tables",
	  .set = set_callers, .offset = offsetof(struct setup, options) },
	{ .name = "switches",
	  .help = "also record when and why threads start and stop running: report then shows time on and off the CPU",
	  .set = cli_flag, .offset = offsetof(struct setup, switches) },
	{ .name = "syscalls",
	  .help = "like --switches, and also record each system call of these threads: report then shows how long they took",
	  .set = cli_flag, .offset = offsetof(struct setup, syscalls) },
	{ .name = "page-faults",
	  .help = "like --switches, and also record each page fault of these threads in user mode: report then counts them by function",
	  .set = cli_flag, .offset = offsetof(struct setup, faults) },
	{ .letter = 'C', .name = "cpus", .value = "LIST",
	  .help = "CPUs to record on, such as 0-2,5 (default: all with an encoder); record keeps the program on them",
	  .set = cli_text, .offset = OPTION(cpus) },
	{ .name = NULL }
};

const struct cli_option setup_where[] = {
	{ .letter = 'b', .name = "buffer", .value = "SIZE",
	  .help = "memory for each sink: 64k, 4M (default: 1M)",
	  .set = set_buffer, .offset = OPTION(buffer) },
	{ .name = "ring",
	  .help = "keep the newest SIZE bytes (default: the oldest, recording ends when the buffer is full); nothing is read before the end, so a larger -b keeps more",
	  .set = cli_bits, .offset = OPTION(flags), .most = SIFIVE_TRACE_RING },
	{ .name = "sink", .value = "sba|sram",
	  .help = "memory (default), or the SRAM of the trace hardware",
	  .set = cli_word, .offset = offsetof(struct setup, sram) },
	{ .name = "channel", .value = "N",
	  .help = "ITC channel of the first thread (default: 6)",
	  .set = cli_number, .offset = OPTION(channel), .most = PERF_CHANNELS - 1 },
	{ .name = NULL }
};

bool setup_sampled(const struct setup *setup)
{
	return setup->options.interval || setup->options.period;
}

/* Return the default value of -e: cycles and instructions, if this machine can count them. */
static const char *usual_events(void)
{
	struct sifive_trace_info info = { .size = sizeof(info) };
	const uint32_t counters = SIFIVE_TRACE_INFO_COUNTERS |
				  SIFIVE_TRACE_INFO_COUNTERS_PERF;
	int fd = open(machine_device(), O_RDONLY | O_CLOEXEC);
	int error;

	if (fd < 0)
		return "cycles,instructions";
	error = ioctl(fd, SIFIVE_TRACE_IOC_INFO, &info);
	close(fd);
	return error || info.flags & counters ? "cycles,instructions" : "";
}

int setup_finish(struct setup *setup)
{
	struct sifive_trace_options *options = &setup->options;
	const char *events = setup->events ? setup->events : usual_events();
	char cpu[MACHINE_CPU_SIZE];
	char *known;

	if (perf_environment_check()) {
		report("%s", sifive_trace_error());
		return -1;
	}
	if (setup->sram)
		options->buffer = 0;
	if (setup->per_cpu)
		options->flags |= SIFIVE_TRACE_PER_CPU;
	if (*events) {
		known = events_translate(events, machine_cpu(cpu) ?
					 family_of(cpu) : NULL);
		if (!known)
			return -1;
		options->events = known;
	}
	if (options->period && options->events)
		options->period_event = strndup(options->events,
						perf_event_next(options->events));
	if (perf_options_parse(options, &setup->parsed)) {
		report("%s", sifive_trace_error());
		return -1;
	}
	setup->parsed.syscalls = setup->syscalls;
	setup->parsed.faults = setup->faults;
	setup->parsed.switches = setup->switches || setup->syscalls || setup->faults;
	return 0;
}

static int put(const char *name, const char *value)
{
	return value ? setenv(name, value, 1) : unsetenv(name);
}

static int put_number(const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return setenv(name, text, 1);
}

void setup_ignored(const char *command)
{
	/*
	 * An environment variable, the corresponding option, and whether only record has that
	 * option.
	 */
	static const struct {
		const char	*name;
		const char	*option;
		bool		record;
	} words[] = {
		{ "SIFIVE_TRACE_EVENTS", "-e", false },
		{ "SIFIVE_TRACE_COUNT", "--count", false },
		{ "SIFIVE_TRACE_BUFFER", "-b", false },
		{ "SIFIVE_TRACE_SINK", "--sink", false },
		{ "SIFIVE_TRACE_RING", "--ring", false },
		{ "SIFIVE_TRACE_CHANNEL", "--channel", false },
		{ "SIFIVE_TRACE_CPUS", "-C", false },
		{ "SIFIVE_TRACE_PER_CPU", "--per-cpu", false },
		{ "SIFIVE_TRACE_SWITCHES", "--switches", false },
		{ "SIFIVE_TRACE_SYSCALLS", "--syscalls", false },
		{ "SIFIVE_TRACE_PAGE_FAULTS", "--page-faults", false },
		{ "SIFIVE_TRACE_INTERVAL", "-i", false },
		{ "SIFIVE_TRACE_PERIOD", "-c", false },
		{ "SIFIVE_TRACE_PERIOD_EVENT", "-e and -c", false },
		{ "SIFIVE_TRACE_CALLERS", "-g", false },
		{ "SIFIVE_TRACE_STACK", "-g", false },
		{ "SIFIVE_TRACE_FILTER", "--filter", true },
		{ "SIFIVE_TRACE_OUTPUT", "-o", true },
		{ "SIFIVE_TRACE_TURN", "--turn", true },
		{ "SIFIVE_TRACE_HEADER", "--header-once or --header-interval", true },
	};
	bool record = !strcmp(command, "record");
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *value = getenv(words[i].name);
		bool takes = record || !words[i].record;

		if (value && *value)
			report("%s in the environment is ignored%s%s%s%s",
			       words[i].name, takes ? ": " : "",
			       takes ? command : "", takes ? " takes " : "",
			       takes ? words[i].option : "");
	}
}

int setup_environment(const struct setup *setup, const char *output, bool join)
{
	static const char * const counts[] = { "raw", "delta", "xor" };
	const struct sifive_trace_options *o = &setup->options;
	const uint32_t flags = setup->parsed.take.flags;
	int error = 0;

	error |= put("SIFIVE_TRACE_RECORD", join ? "join" : "1");
	error |= put("SIFIVE_TRACE_OUTPUT", output);
	error |= put("SIFIVE_TRACE_EVENTS", o->events);
	error |= put("SIFIVE_TRACE_COUNT", counts[o->count_type]);
	error |= put("SIFIVE_TRACE_SINK", setup->sram ? "sram" : "sba");
	error |= put_number("SIFIVE_TRACE_BUFFER", o->buffer);
	error |= put_number("SIFIVE_TRACE_CHANNEL", o->channel);
	error |= put("SIFIVE_TRACE_CPUS", o->cpus);
	error |= put("SIFIVE_TRACE_RING",
		     o->flags & SIFIVE_TRACE_RING ? "1" : NULL);
	error |= put("SIFIVE_TRACE_DRAIN", flags & SIFIVE_TRACE_CONFIG_WAIT ? "wait" :
		     flags & SIFIVE_TRACE_CONFIG_DROP ? "drop" :
		     flags & SIFIVE_TRACE_CONFIG_DRAIN ? "1" : NULL);
	error |= put("SIFIVE_TRACE_PER_CPU",
		     o->flags & SIFIVE_TRACE_PER_CPU ? "1" : NULL);
	error |= put("SIFIVE_TRACE_SWITCHES",
		     setup->parsed.switches && !join ? "1" : NULL);
	error |= put("SIFIVE_TRACE_SYSCALLS",
		     setup->parsed.syscalls && !join ? "1" : NULL);
	error |= put("SIFIVE_TRACE_PAGE_FAULTS",
		     setup->parsed.faults && !join ? "1" : NULL);
	error |= put_number("SIFIVE_TRACE_INTERVAL", o->interval);
	error |= put_number("SIFIVE_TRACE_PERIOD", o->period);
	error |= put("SIFIVE_TRACE_PERIOD_EVENT", o->period_event);
	error |= put("SIFIVE_TRACE_CALLERS",
		     o->flags & SIFIVE_TRACE_CALLERS ? "1" : NULL);
	/* Set these variables only if needed, because an older library may not support them. */
	if (o->stack)
		error |= put_number("SIFIVE_TRACE_STACK", o->stack);
	else
		error |= put("SIFIVE_TRACE_STACK", NULL);
	if (setup->turn_us != PERF_TURN_US)
		error |= put_number("SIFIVE_TRACE_TURN", setup->turn_us);
	else
		error |= put("SIFIVE_TRACE_TURN", NULL);
	error |= put("SIFIVE_TRACE_FILTER", o->filter);
	if (o->header_interval)
		error |= put_number("SIFIVE_TRACE_HEADER", o->header_interval);
	else
		error |= put("SIFIVE_TRACE_HEADER",
			     o->flags & SIFIVE_TRACE_HEADER_ONCE ? "once" : NULL);
	/*
	 * Have the library write side-car files early, for programs that end without running exit
	 * handlers.
	 */
	if (machine_side_car() && !join)
		error |= put("SIFIVE_TRACE_META", "early");
	return error;
}

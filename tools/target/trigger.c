// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See trigger.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <linux/sifive_trace_regs.h>

#include "lib/counter.h"
#include "lib/device.h"

#include "../command.h"
#include "../units.h"
#include "find.h"
#include "trigger.h"

/* Maximum number of nested calls to the function to time. */
#define DEPTH_MAX	65536

/* A call that has not ended. */
struct open_call {
	uint64_t	time;
	uint64_t	sp;
};

struct trigger_thread {
	pid_t			tid;
	unsigned int		depth;
	unsigned int		room;
	struct open_call	*open;
};

/* ---- options --------------------------------------------------------------- */

/* Return the colon before the number or time; a double colon in a C++ name does not count. */
static const char *last_colon(const char *value)
{
	const char *colon = strrchr(value, ':');

	return colon && colon > value && colon[-1] != ':' ? colon : NULL;
}

static int set_function(struct trigger *trigger, const char *value, const char *end)
{
	free(trigger->function);
	trigger->function = strndup(value, (size_t)(end - value));
	return trigger->function ? EXIT_OK : usage_error("out of memory");
}

/* Return whether @value is perf's notation for a watchpoint, not the function mem with a number. */
static bool is_watchpoint(const char *value)
{
	const char *address = value + strlen("mem:");

	return !strncmp(value, "mem:", strlen("mem:")) && *address != ':' &&
	       address[strspn(address, "0123456789")];
}

int trigger_set_reached(void *at, const struct cli_option *option, const char *value)
{
	const char *colon = last_colon(value), *name = colon ? colon : value + strlen(value);
	struct trigger *trigger = at;
	char *end;

	if (is_watchpoint(value))
		return usage_error("--trigger %s: Linux has no hardware breakpoints on RISC-V (CONFIG_HAVE_HW_BREAKPOINT), so data cannot be watched: give a function that accesses the data",
				   value);
	trigger->limit = 1;
	errno = 0;
	if (colon)
		trigger->limit = strtoull(colon + 1, &end, 10);
	if (name == value || (colon && (colon[1] < '0' || colon[1] > '9' || *end || errno ||
					!trigger->limit)))
		return cli_refuse(option, "a function, or FUNCTION:N with N at least 1",
				  value);
	return set_function(trigger, value, name);
}

int trigger_set_slower(void *at, const struct cli_option *option, const char *value)
{
	const char *colon = last_colon(value);
	struct trigger *trigger = at;

	if (!colon || !units_parse(colon + 1, &trigger->limit))
		return cli_refuse(option, "FUNCTION:TIME, with a time such as 500us, 2ms or 1s",
				  value);
	trigger->slow = true;
	return set_function(trigger, value, colon);
}

static const char *option_name(const struct trigger *trigger)
{
	return trigger->slow ? "slower-than" : "trigger";
}

/* ---- calls ----------------------------------------------------------------- */

int trigger_open(struct trigger *trigger, const struct program *program)
{
	struct found found;
	int error;

	if (!trigger->function)
		return 0;
	error = find_function(program, trigger->function, trigger->slow, option_name(trigger),
			      &found);
	trigger->waits = error > 0;
	if (error)
		return error < 0 ? -1 : 0;
	return probes_open(&trigger->probes, &found, option_name(trigger));
}

void trigger_see(struct trigger *trigger, const struct program *program,
		 const struct objects *objects)
{
	const char *option = option_name(trigger), *path;
	struct found found;
	int error;

	while (trigger->waits && trigger->looked < objects->count) {
		path = objects->object[trigger->looked++].path;
		error = find_later(program, path, trigger->function, trigger->slow, option,
				   &found);
		if (error > 0)
			continue;
		trigger->waits = false;
		trigger->refused = error || probes_open(&trigger->probes, &found, option);
		/*
		 * The probes were set one after another, so until this time, the ends of calls may
		 * have been missed.
		 */
		trigger->unsure = perf_device_now();
		if (!trigger->refused)
			report("--%s %s: found in %s, which was loaded later: calls before this moment do not count",
			       option, trigger->function, path);
	}
}

void trigger_close(struct trigger *trigger)
{
	size_t i;

	probes_close(&trigger->probes);
	for (i = 0; i < trigger->threads; i++)
		free(trigger->thread[i].open);
	free(trigger->thread);
	free(trigger->index.slot);
	free(trigger->function);
	memset(trigger, 0, sizeof(*trigger));
}

void trigger_read(struct trigger *trigger)
{
	if (trigger->function)
		probes_read(&trigger->probes);
}

static uint64_t tid_of(const void *threads, uint32_t number)
{
	return (uint64_t)((const struct trigger_thread *)threads)[number - 1].tid;
}

static bool make_room(struct trigger *trigger)
{
	const size_t room = trigger->room ? 2 * trigger->room : 16;
	struct hash index = { .bits = hash_bits(room) };
	struct trigger_thread *more;

	if (trigger->threads < trigger->room)
		return true;
	more = realloc(trigger->thread, room * sizeof(*more));
	if (!more)
		return false;
	trigger->thread = more;
	index.slot = malloc(sizeof(*index.slot) << index.bits);
	if (!index.slot)
		return false;
	hash_fill(&index, 1, (uint32_t)trigger->threads + 1, tid_of, more);
	free(trigger->index.slot);
	trigger->index = index;
	trigger->room = room;
	return true;
}

static struct trigger_thread *find_thread(struct trigger *trigger, pid_t tid)
{
	uint32_t *slot;

	if (!make_room(trigger))
		return NULL;
	slot = hash_find(&trigger->index, (uint64_t)tid, tid_of, trigger->thread);
	if (!*slot) {
		trigger->thread[trigger->threads] = (struct trigger_thread){ .tid = tid };
		*slot = (uint32_t)++trigger->threads;
	}
	return &trigger->thread[*slot - 1];
}

/*
 * Forget the calls that are deeper in the stack, which grows down: longjmp() or an exception has
 * ended them.
 */
static void forget_left(struct trigger_thread *thread, uint64_t sp)
{
	while (thread->depth && thread->open[thread->depth - 1].sp <= sp)
		thread->depth--;
}

static void begin(struct trigger *trigger, const struct probe_event *event)
{
	struct trigger_thread *thread = find_thread(trigger, event->tid);
	struct open_call *more;

	if (!thread) {
		trigger->probes.lost++;
		return;
	}
	/* Do not time this call, because its end may have been lost. */
	if (event->time < trigger->unsure)
		return;
	forget_left(thread, event->sp);
	if (thread->depth == thread->room && thread->room < DEPTH_MAX) {
		more = realloc(thread->open, (thread->room ? 2 * thread->room : 4) *
					     sizeof(*more));
		if (!more) {
			trigger->probes.lost++;
			return;
		}
		thread->open = more;
		thread->room = thread->room ? 2 * thread->room : 4;
	}
	if (thread->depth < thread->room)
		thread->open[thread->depth++] = (struct open_call){ event->time, event->sp };
}

/* End the innermost call with the event's stack pointer; its nested calls have no end events. */
static bool end(struct trigger *trigger, const struct probe_event *event, uint64_t *from)
{
	struct trigger_thread *thread = find_thread(trigger, event->tid);
	unsigned int depth = thread ? thread->depth : 0;

	while (depth && thread->open[depth - 1].sp != event->sp)
		depth--;
	/* No call has ended: the event was a jump to an unknown target within the function. */
	if (!depth)
		return false;
	thread->depth = depth - 1;
	*from = thread->open[depth - 1].time;
	trigger->ended++;
	if (event->time - *from > trigger->longest)
		trigger->longest = event->time - *from;
	return event->time - *from > trigger->limit;
}

/*
 * Forget all calls that have not ended. An end after a loss must not be matched with a start before
 * the loss, because ends between the two may be missing.
 */
static void forget_all(struct trigger *trigger, uint64_t until)
{
	size_t i;

	for (i = 0; i < trigger->threads; i++)
		trigger->thread[i].depth = 0;
	if (until > trigger->unsure)
		trigger->unsure = until;
}

/* Return whether the event makes a call trigger a snapshot; set @from to the start of the call. */
static bool is_hit(struct trigger *trigger, const struct probe_event *event, uint64_t *from)
{
	*from = event->time;
	if (event->until) {
		forget_all(trigger, event->until);
		return false;
	}
	if (event->returns)
		return end(trigger, event, from);
	trigger->calls++;
	if (trigger->slow)
		begin(trigger, event);
	return !trigger->slow && trigger->calls % trigger->limit == 0;
}

bool trigger_next(struct trigger *trigger, pid_t pid, uint64_t until, uint64_t covered,
		  struct trigger_hit *hit)
{
	const struct probe_event *event;
	uint64_t from;

	while ((event = probes_next(&trigger->probes, until))) {
		if ((pid && !event->until && event->pid != pid) || !is_hit(trigger, event, &from))
			continue;
		trigger->hits++;
		/* Writing the previous snapshot may have slowed the call down. */
		if (from < covered) {
			trigger->early++;
			continue;
		}
		*hit = (struct trigger_hit){
			.function = trigger->function, .slow = trigger->slow,
			.call = trigger->slow ? trigger->ended : trigger->calls,
			.tid = event->tid, .limit = trigger->limit, .from = from,
			.to = event->time,
		};
		return true;
	}
	return false;
}

/* ---- reports ------------------------------------------------------ */

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void report_slow(const struct trigger *t, bool lost)
{
	char limit[UNITS_SIZE], longest[UNITS_SIZE];

	report("%s: %" PRIu64 " call%s, the longest%s took %s; %" PRIu64 " took longer than %s: %" PRIu64 " snapshot%s",
	       t->function, t->ended, plural(t->ended), lost ? " that was measured" : "",
	       units_time(longest, t->longest, 1000000000), t->hits,
	       units_time(limit, t->limit, 1000000000), t->snapshots, plural(t->snapshots));
	if (t->calls > t->ended)
		report("%s: %" PRIu64 " call%s %s",
		       t->function, t->calls - t->ended, plural(t->calls - t->ended), lost ?
		       "not measured: events were lost, or the calls did not return" :
		       "did not return: left by an exception, longjmp or the program's end");
}

void trigger_report(const struct trigger *t, bool quiet)
{
	const uint64_t lost = probes_lost(&t->probes);
	const uint64_t none = t->hits - t->snapshots - t->early - t->failed;

	if (t->waits)
		report("--%s: no object that the program loaded has a function %s: it triggered no snapshot; nm -C OBJECT shows the names of an object's functions",
		       option_name(t), t->function);
	if (!t->function || trigger_unset(t))
		return;
	if (!quiet && t->slow)
		report_slow(t, lost || t->unsure);
	else if (!quiet)
		report("%s: %" PRIu64 " call%s, %" PRIu64 " trigger%s: %" PRIu64 " snapshot%s",
		       t->function, t->calls, plural(t->calls), t->hits, plural(t->hits),
		       t->snapshots, plural(t->snapshots));
	if (!quiet && t->early)
		report("%s: %" PRIu64 " trigger%s occurred before the previous snapshot was written: no separate snapshot",
		       t->function, t->early, plural(t->early));
	if (!quiet && none)
		report("%s: %" PRIu64 " trigger%s without a snapshot: the program was not recording, or the last file is for a later trigger",
		       t->function, none, plural(none));
	if (t->failed)
		report("%s: %" PRIu64 " trigger%s without a snapshot, which could not be written",
		       t->function, t->failed, plural(t->failed));
	if (lost)
		report("%s: %" PRIu64 " probe events were lost: calls are missing from these numbers, and snapshots may be missing",
		       t->function, lost);
}

/* ---- in the side-car file -------------------------------------------------- */

void trigger_clock(const struct perf_device *device, struct trigger_clock *clock)
{
	const struct sifive_trace_encoder *encoder = &device->encoder[0];
	const size_t size = device->info.page_size;
	uint64_t before;
	char *page;

	*clock = (struct trigger_clock){ .hz = 0 };
	if (!device->count || !(encoder->flags & SIFIVE_TRACE_ENCODER_TS_READABLE))
		return;
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, device->fd,
		    (off_t)encoder->mmap_offset);
	if (page == MAP_FAILED)
		return;
	before = perf_device_now();
	clock->ticks = perf_counter_timestamp((const volatile uint32_t *)(page + TR_TS_LOWER));
	clock->ns = before + (perf_device_now() - before) / 2;
	clock->hz = device->info.ts_hz;
	munmap(page, size);
}

void trigger_describe(struct output *out, const struct trigger_hit *hit,
		      const struct trigger_clock *clock)
{
	put_string(out, "\"trigger\":{\"function\":");
	put_json(out, hit->function);
	put_format(out, ",\"call\":%" PRIu64 ",\"tid\":%d", hit->call, (int)hit->tid);
	if (hit->slow)
		put_format(out, ",\"took_ns\":%" PRIu64 ",\"limit_ns\":%" PRIu64,
			   hit->to - hit->from, hit->limit);
	if (hit->last)
		put_string(out, ",\"last\":true");
	if (clock->hz)
		put_format(out, ",\"from\":%" PRIu64, trigger_ticks(clock, hit->from));
	if (clock->hz && hit->slow)
		put_format(out, ",\"to\":%" PRIu64, trigger_ticks(clock, hit->to));
	put_string(out, "},\n");
}

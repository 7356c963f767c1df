// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Keeps a profile's rows in a growing hash table: see profile.h. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "profile.h"
#include "progress.h"

/* Time between two updates of a live profile while data arrives, in ms. */
#define SHOW_MOST	1000

/* Group number for threads whose process is unknown. */
#define NO_PROCESS	UINT32_MAX

static uint64_t key(uint32_t function, uint32_t group)
{
	return (uint64_t)group << 32 | function;
}

static uint64_t key_of(const void *rows, uint32_t number)
{
	const struct profile_row *row = (const struct profile_row *)rows + number - 1;

	return key(row->function, row->group);
}

static uint32_t *find_slot(struct profile *profile, uint32_t function, uint32_t group)
{
	return hash_find(&profile->costs.hash, key(function, group), key_of, profile->row);
}

static bool resize(struct profile *profile, uint32_t room, unsigned int stride)
{
	struct profile_row *rows;

	if (costs_bytes(sizeof(*rows), room, stride) > PROFILE_BYTES)
		return false;
	rows = costs_resize(&profile->costs, profile->row, sizeof(*rows),
			    (uint32_t)profile->rows, room, stride);
	if (!rows)
		return false;
	profile->row = rows;
	hash_fill(&profile->costs.hash, 1, (uint32_t)profile->rows + 1, key_of, rows);
	return true;
}

static uint32_t group_of(const struct profile *profile,
			 const struct analysis_thread *thread)
{
	if (profile->by < PROFILE_BY_THREAD)
		return 0;
	if (profile->by == PROFILE_BY_THREAD)
		return thread->thread->id;
	if (profile->by == PROFILE_BY_PROCESS)
		return thread->thread->pid < 0 ? NO_PROCESS : (uint32_t)thread->thread->pid;
	return thread->src;
}

/* Return the row's index. */
static size_t get_row(struct profile *profile,
		      const struct analysis_thread *thread, uint32_t function)
{
	unsigned int wanted = analysis_counters(profile->analysis)->count;
	uint32_t group = group_of(profile, thread);
	struct profile_row *row;
	uint32_t *slot;

	if (wanted > profile->costs.stride &&
	    !resize(profile, profile->costs.room, (wanted + 3) & ~3u))
		profile->no_memory = true;
	profile->counters = wanted < profile->costs.stride ? wanted : profile->costs.stride;
	slot = find_slot(profile, function, group);
	if (*slot)
		return *slot - 1;
	/* The last row collects everything that does not fit. */
	if (profile->rows + 1 >= profile->costs.room &&
	    !resize(profile, 2 * profile->costs.room, profile->costs.stride)) {
		function = FUNCTIONS_OTHER;
		group = 0;
		slot = find_slot(profile, function, group);
		if (*slot)
			return *slot - 1;
	} else {
		slot = find_slot(profile, function, group);
	}
	row = &profile->row[profile->rows];
	memset(row, 0, sizeof(*row));
	row->function = function;
	row->group = group;
	*slot = (uint32_t)++profile->rows;
	return profile->rows - 1;
}

/* Return the number of a function's object or line. */
static uint32_t origin_of(const struct profile *profile, uint32_t function)
{
	return function == FUNCTIONS_OTHER ? ORIGINS_OTHER :
	       origins_at(profile->origins,
			  functions_address(analysis_functions(profile->analysis), function));
}

/* A call belongs to the object of its function, or to the line of its call site, if known. */
static void on_enter(void *context, struct analysis_thread *thread)
{
	const struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct profile *profile = context;

	if (!profile->origins)
		return;
	origins_enter(profile->origins, thread,
		      profile->by == PROFILE_BY_LINE && frame->call_site ?
		      origins_at(profile->origins, frame->call_site - 1) :
		      origin_of(profile, frame->function));
}

static inline __attribute__((always_inline))
void add_call(struct profile *profile, const struct analysis_thread *thread,
			    const struct analysis_end *end, size_t index, const bool *outermost)
{
	const struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	uint64_t *total = costs_of(&profile->costs, (uint32_t)index);
	uint64_t *self = total + profile->costs.stride;
	struct profile_row *row = &profile->row[index];
	unsigned int c;

	row->calls++;
	row->untimed += !end->timed;
	row->inferred += end->inferred;
	row->self_inferred += end->self_inferred;
	row->partial += analysis_partial(frame);
	row->self += end->self;
	if (*outermost)
		row->total += end->total;
	if (profile->spread && end->timed)
		spread_add(&profile->spreads, index, end->total);
	for (c = 0; c < profile->counters; c++) {
		self[c] += end->count_self[c];
		if (*outermost)
			total[c] += end->count[c];
	}
}

static void on_leave(void *context, struct analysis_thread *thread,
		     const struct analysis_end *end)
{
	const struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct profile *profile = context;

	add_call(profile, thread, end, get_row(profile, thread, frame->function),
		 &frame->outermost);
}

/* Like on_leave(), but with --tid, or for objects or lines. */
static void on_leave_selected(void *context, struct analysis_thread *thread,
			      const struct analysis_end *end)
{
	struct profile *profile = context;
	uint32_t origin;
	bool outermost;

	if (!options_thread(profile->input.options, thread->thread->tid))
		return;
	if (!profile->origins) {
		on_leave(profile, thread, end);
		return;
	}
	origin = origins_leave(thread, &outermost);
	add_call(profile, thread, end, get_row(profile, thread, origin), &outermost);
}

/* If a function occurs several times among a sample and its callers, count the sample once. */
static void add_within(struct profile *profile, size_t index, const struct analysis_step *step)
{
	struct profile_row *row = &profile->row[index];

	if (row->seen == profile->points)
		return;
	row->seen = profile->points;
	row->samples_total += step->record->type == PERFREC_ISR;
	costs_add(&profile->costs, (uint32_t)index, false, step->charged, step->delta);
}

/* Add a sample to the objects or lines of its callers. */
static void add_origins(struct profile *profile, const struct analysis_thread *thread,
			const struct analysis_step *step)
{
	uint64_t address[SIFIVE_TRACE_CALLERS_MAX];
	unsigned int count, i;

	if (!step->callers)
		return;
	count = symbols_callers(profile->input.symbols, step->record, address);
	for (i = 0; i < count; i++)
		add_within(profile, get_row(profile, thread,
					    origins_at(profile->origins, address[i] - 1)), step);
}

static void on_point(void *context, struct analysis_thread *thread,
		     const struct analysis_step *step)
{
	struct profile *profile = context;
	unsigned int i;
	size_t index;

	if (!options_thread(profile->input.options, thread->thread->tid))
		return;
	index = get_row(profile, thread, profile->origins ?
			origins_at(profile->origins, step->address) : step->function);
	if (step->record->type == PERFREC_ISR)
		profile->row[index].samples++;
	else
		profile->row[index].points++;
	/* The costs of samples and records within a call are included in the call's costs. */
	if (thread->depth) {
		profile->row[index].samples_total += step->record->type == PERFREC_ISR;
		return;
	}
	profile->points++;
	add_within(profile, index, step);
	costs_add(&profile->costs, (uint32_t)index, true, step->charged, step->delta);
	if (profile->origins) {
		add_origins(profile, thread, step);
		return;
	}
	for (i = 0; i < step->callers; i++)
		add_within(profile, get_row(profile, thread, step->caller[i]), step);
}

static void on_uncharge(void *context, uint64_t columns)
{
	struct profile *profile = context;

	costs_clear(&profile->costs, (uint32_t)profile->rows, columns);
}

static void show(struct profile *profile)
{
	profile->stopped |= profile->live->show(profile->live->context, profile);
	profile->shown = progress_clock();
}

/* Show the current profile, because more data may take a long time to arrive. */
static void on_pause(void *context)
{
	struct profile *profile = context;
	int64_t rest;

	if (!profile->live || profile->stopped)
		return;
	rest = profile->shown + profile->live->least - progress_clock();
	if (rest > 0)
		poll(NULL, 0, (int)rest);
	show(profile);
}

static bool on_stop(void *context)
{
	struct profile *profile = context;

	if (profile->live && !profile->stopped &&
	    progress_clock() >= profile->shown + SHOW_MOST)
		show(profile);
	return profile->stopped;
}

static const struct analysis_ops profile_ops = {
	.leave = on_leave,
	.point = on_point,
	.uncharge = on_uncharge,
	.pause = on_pause,
	.stop = on_stop,
};

/* With --tid, or for objects or lines. */
static const struct analysis_ops selected_ops = {
	.enter = on_enter,
	.leave = on_leave_selected,
	.point = on_point,
	.uncharge = on_uncharge,
	.pause = on_pause,
	.stop = on_stop,
};

int profile_read(struct profile *profile, const struct options *options,
		 enum profile_by by, bool spread, const struct profile_live *live)
{
	const bool origins = by == PROFILE_BY_OBJECT || by == PROFILE_BY_LINE;
	int result;

	memset(profile, 0, sizeof(*profile));
	profile->by = by;
	profile->spread = spread;
	profile->live = live;
	result = input_open(&profile->input, options);
	if (result)
		return result;
	profile->analysis = analysis_new(&profile->input.meta,
					 profile->input.symbols,
					 origins || options->tid >= 0 ? &selected_ops : &profile_ops,
					 profile);
	if (origins)
		profile->origins = origins_new(profile->input.symbols, by == PROFILE_BY_LINE);
	if (!profile->analysis || !resize(profile, 16, 4) ||
	    (origins && !profile->origins)) {
		report("out of memory");
		return EXIT_UNREADABLE;
	}
	analysis_show_turns(profile->analysis);
	analysis_limit(profile->analysis, &profile->input);
	if (analysis_run(profile->analysis, profile->input.trace))
		return EXIT_UNREADABLE;
	if (live && (profile->stopped || live->again(live->context)))
		return EXIT_OK;
	if (profile->no_memory)
		report("%s: too many counters: the last ones are left out",
		       options->path);
	if (profile->spreads.full)
		report("%s: too many functions and times: some calls are missing in avg, min, max and percentiles",
		       options->path);
	return input_summary(&profile->input, INPUT_TIMES);
}

void profile_free(struct profile *profile)
{
	analysis_free(profile->analysis);
	origins_free(profile->origins);
	input_close(&profile->input);
	free(profile->row);
	spreads_free(&profile->spreads);
	costs_free(&profile->costs);
}

uint64_t profile_total(const struct profile *profile, size_t row,
		       unsigned int column)
{
	if (column >= profile->costs.stride)
		return 0;
	return costs_of(&profile->costs, (uint32_t)row)[column];
}

uint64_t profile_self(const struct profile *profile, size_t row,
		      unsigned int column)
{
	if (column >= profile->costs.stride)
		return 0;
	return costs_of(&profile->costs, (uint32_t)row)[profile->costs.stride + column];
}

void profile_name(const struct profile *profile, size_t row, char *text,
		  unsigned int size)
{
	if (profile->origins)
		origins_name(profile->origins, profile->row[row].function, text, size);
	else
		analysis_name(profile->analysis, profile->row[row].function, text, size);
}

const char *profile_what(const struct profile *profile)
{
	return profile->by == PROFILE_BY_OBJECT ? "object" :
	       profile->by == PROFILE_BY_LINE ? "line" : "function";
}

/* Objects and lines have no place; the object's path distinguishes them. */
static void origin_symbol(const struct profile *profile, uint32_t number, struct symbol *symbol)
{
	const struct origin *origin;

	*symbol = (struct symbol){ 0 };
	if (number == ORIGINS_OTHER)
		return;
	origin = origins_get(profile->origins, number);
	symbol->object = origin->object;
	symbol->file = origin->path;
}

void profile_symbol(const struct profile *profile, size_t row, struct symbol *symbol)
{
	uint32_t function = profile->row[row].function;

	if (profile->origins) {
		origin_symbol(profile, function, symbol);
		return;
	}
	symbols_find(profile->input.symbols,
		     functions_address(analysis_functions(profile->analysis), function),
		     symbol);
}

void profile_group(const struct profile *profile, uint32_t group, char *text,
		   unsigned int size)
{
	const struct meta_source *source;
	const struct thread *thread;
	const char *name;

	*text = '\0';
	if (profile->by == PROFILE_BY_THREAD) {
		thread = threads_get(analysis_threads(profile->analysis), group);
		if (thread->pid >= 0 && thread->pid != thread->tid)
			snprintf(text, size, "%s (process %lld)", thread->label,
				 (long long)thread->pid);
		else
			snprintf(text, size, "%s", thread->label);
	} else if (profile->by == PROFILE_BY_PROCESS && group == NO_PROCESS) {
		snprintf(text, size, "unknown process");
	} else if (profile->by == PROFILE_BY_PROCESS) {
		name = threads_process(&profile->input.meta, group);
		if (name)
			snprintf(text, size, "%.64s/%" PRIu32, name, group);
		else
			snprintf(text, size, "process %" PRIu32, group);
	} else if (profile->by == PROFILE_BY_HART) {
		source = meta_source(&profile->input.meta, (int)group);
		if (source && source->hart >= 0)
			snprintf(text, size, "hart %d (CPU %d, source %u)",
				 source->hart, source->cpu, group);
		else
			snprintf(text, size, "source %u", group);
	}
}

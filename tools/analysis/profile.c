// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Rows in a growing hash table: see profile.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "hash.h"
#include "profile.h"

static size_t row_bytes(unsigned int stride)
{
	return sizeof(struct profile_row) + 2 * stride * sizeof(uint64_t) +
	       2 * sizeof(uint32_t);
}

static uint32_t *find_slot(struct profile *profile, uint32_t function,
			   uint32_t group)
{
	uint64_t key = (uint64_t)group << 32 | function;
	uint32_t mask = (1u << profile->slot_bits) - 1;
	uint32_t at = hash_place(key, profile->slot_bits);

	for (;; at = (at + 1) & mask) {
		uint32_t index = profile->slot[at];

		if (!index || (profile->row[index - 1].function == function &&
			       profile->row[index - 1].group == group))
			return &profile->slot[at];
	}
}

/* Makes room for @room rows with @stride counters each, and fills the slots again. */
static bool resize(struct profile *profile, size_t room, unsigned int stride)
{
	unsigned int bits = 1;
	uint64_t *counts;
	struct profile_row *rows;
	uint32_t *slots;
	size_t i;

	if (room * row_bytes(stride) > PROFILE_BYTES)
		return false;
	while (1u << bits < 2 * room)
		bits++;
	counts = calloc(room * 2 * stride + 1, sizeof(*counts));
	slots = calloc(1u << bits, sizeof(*slots));
	rows = counts && slots ? realloc(profile->row, room * sizeof(*rows)) : NULL;
	if (!rows) {
		free(counts);
		free(slots);
		return false;
	}
	for (i = 0; i < profile->rows; i++) {
		size_t from = i * 2 * profile->stride, to = i * 2 * stride;

		memcpy(counts + to, profile->count + from,
		       profile->stride * sizeof(*counts));
		memcpy(counts + to + stride, profile->count + from + profile->stride,
		       profile->stride * sizeof(*counts));
	}
	free(profile->count);
	free(profile->slot);
	profile->row = rows;
	profile->count = counts;
	profile->slot = slots;
	profile->slot_bits = bits;
	profile->room = room;
	profile->stride = stride;
	for (i = 0; i < profile->rows; i++)
		*find_slot(profile, rows[i].function, rows[i].group) =
			(uint32_t)i + 1;
	return true;
}

static uint32_t group_of(const struct profile *profile,
			 const struct analysis_thread *thread)
{
	if (profile->by == PROFILE_BY_THREAD)
		return thread->thread->id;
	return profile->by == PROFILE_BY_HART ? thread->src : 0;
}

/* Returns the row's index. */
static size_t get_row(struct profile *profile,
		      const struct analysis_thread *thread, uint32_t function)
{
	unsigned int wanted = analysis_counters(profile->analysis)->count;
	uint32_t group = group_of(profile, thread);
	struct profile_row *row;
	uint32_t *slot;

	if (wanted > profile->stride &&
	    !resize(profile, profile->room, (wanted + 3) & ~3u))
		profile->no_memory = true;
	slot = find_slot(profile, function, group);
	if (*slot)
		return *slot - 1;
	/* The last row is for everything that no longer fits. */
	if (profile->rows + 1 >= profile->room &&
	    !resize(profile, 2 * profile->room, profile->stride)) {
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

static void on_leave(void *context, struct analysis_thread *thread,
		     const struct analysis_end *end)
{
	const struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct profile *profile = context;
	size_t index = get_row(profile, thread, frame->function);
	uint64_t *total = profile->count + index * 2 * profile->stride;
	uint64_t *self = total + profile->stride;
	struct profile_row *row = &profile->row[index];
	unsigned int counters = analysis_counters(profile->analysis)->count;
	unsigned int c;

	row->calls++;
	row->untimed += !end->timed;
	row->inferred += end->inferred;
	row->self_inferred += end->self_inferred;
	row->self += end->self;
	if (frame->outermost)
		row->total += end->total;
	if (counters > profile->stride)
		counters = profile->stride;
	for (c = 0; c < counters; c++) {
		self[c] += end->count_self[c];
		if (frame->outermost)
			total[c] += end->count[c];
	}
}

static void on_point(void *context, struct analysis_thread *thread,
		     const struct analysis_step *step)
{
	struct profile *profile = context;
	size_t index = get_row(profile, thread, step->function);
	uint64_t *total = profile->count + index * 2 * profile->stride;
	uint64_t *self = total + profile->stride;
	uint64_t known = step->counted;

	if (step->record->type == PERFREC_ISR)
		profile->row[index].samples++;
	else
		profile->row[index].points++;
	/* Within another call of the function, that one counts it. */
	if (thread->depth)
		return;
	for (; known; known &= known - 1) {
		unsigned int c = (unsigned int)__builtin_ctzll(known);

		if (c >= profile->stride)
			break;
		total[c] += step->delta[c];
		self[c] += step->delta[c];
	}
}

static const struct analysis_ops profile_ops = {
	.leave = on_leave,
	.point = on_point,
};

int profile_read(struct profile *profile, const struct options *options,
		 enum profile_by by)
{
	int result;

	memset(profile, 0, sizeof(*profile));
	profile->by = by;
	result = input_open(&profile->input, options);
	if (result)
		return result;
	profile->analysis = analysis_new(&profile->input.meta,
					 profile->input.symbols, &profile_ops,
					 profile);
	if (!profile->analysis || !resize(profile, 16, 4)) {
		report("out of memory");
		return EXIT_UNREADABLE;
	}
	if (analysis_run(profile->analysis, profile->input.trace))
		return EXIT_UNREADABLE;
	if (profile->no_memory)
		report("%s: too many counters: the last ones are left out",
		       options->path);
	return input_summary(&profile->input, false);
}

void profile_free(struct profile *profile)
{
	analysis_free(profile->analysis);
	input_close(&profile->input);
	free(profile->row);
	free(profile->count);
	free(profile->slot);
}

uint64_t profile_total(const struct profile *profile, size_t row,
		       unsigned int column)
{
	if (column >= profile->stride)
		return 0;
	return profile->count[row * 2 * profile->stride + column];
}

uint64_t profile_self(const struct profile *profile, size_t row,
		      unsigned int column)
{
	if (column >= profile->stride)
		return 0;
	return profile->count[(row * 2 + 1) * profile->stride + column];
}

void profile_name(const struct profile *profile, size_t row, char *text,
		  unsigned int size)
{
	analysis_name(profile->analysis, profile->row[row].function, text, size);
}

void profile_group(const struct profile *profile, uint32_t group, char *text,
		   unsigned int size)
{
	const struct meta_source *source;
	const struct thread *thread;

	*text = '\0';
	if (profile->by == PROFILE_BY_THREAD) {
		thread = threads_get(analysis_threads(profile->analysis), group);
		if (thread->pid >= 0 && thread->pid != thread->tid)
			snprintf(text, size, "%s (process %lld)", thread->label,
				 (long long)thread->pid);
		else
			snprintf(text, size, "%s", thread->label);
	} else if (profile->by == PROFILE_BY_HART) {
		source = meta_source(&profile->input.meta, (int)group);
		if (source && source->hart >= 0)
			snprintf(text, size, "hart %d (CPU %d, source %u)",
				 source->hart, source->cpu, group);
		else
			snprintf(text, size, "source %u", group);
	}
}

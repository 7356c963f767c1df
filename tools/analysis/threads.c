// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Threads by channel and time: see threads.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "threads.h"

struct entry {
	const struct meta_thread *meta;
	struct thread		*thread;	/* made when it is needed */
};

struct threads {
	const struct meta	*meta;
	struct entry		*entry;		/* by channel and time */
	/* Entries of each channel: first, and first of the next. */
	size_t			first[PERFREC_CHANNELS + 1];
	struct thread		*recent[PERFREC_CHANNELS];
	struct thread		*plain[PERFREC_SOURCES][PERFREC_CHANNELS];
	struct thread		**thread;	/* by id */
	unsigned int		count;
	unsigned int		room;
};

static int by_channel_and_time(const void *a, const void *b)
{
	const struct meta_thread *one = ((const struct entry *)a)->meta;
	const struct meta_thread *two = ((const struct entry *)b)->meta;

	if (one->channel != two->channel)
		return one->channel < two->channel ? -1 : 1;
	return (one->from > two->from) - (one->from < two->from);
}

struct threads *threads_new(const struct meta *meta)
{
	struct threads *threads = calloc(1, sizeof(*threads));
	size_t i, c;

	if (!threads)
		return NULL;
	threads->meta = meta;
	threads->entry = calloc(meta->threads + 1, sizeof(*threads->entry));
	if (!threads->entry) {
		free(threads);
		return NULL;
	}
	for (i = 0; i < meta->threads; i++)
		threads->entry[i].meta = &meta->thread[i];
	qsort(threads->entry, meta->threads, sizeof(*threads->entry),
	      by_channel_and_time);
	for (c = 0, i = 0; c <= PERFREC_CHANNELS; c++) {
		while (i < meta->threads &&
		       threads->entry[i].meta->channel < (int)c)
			i++;
		threads->first[c] = i;
	}
	return threads;
}

void threads_free(struct threads *threads)
{
	unsigned int i;

	if (!threads)
		return;
	for (i = 0; i < threads->count; i++)
		free(threads->thread[i]);
	free(threads->thread);
	free(threads->entry);
	free(threads);
}

bool threads_move(const struct threads *threads, unsigned int channel)
{
	return threads->first[channel] < threads->first[channel + 1];
}

static struct thread *make(struct threads *threads)
{
	struct thread *thread, **grown;

	if (threads->count == threads->room) {
		grown = realloc(threads->thread, (2 * threads->room + 16) *
				sizeof(*grown));
		if (!grown)
			return NULL;
		threads->thread = grown;
		threads->room = 2 * threads->room + 16;
	}
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->id = threads->count;
	threads->thread[threads->count++] = thread;
	return thread;
}

static struct thread *plain_thread(struct threads *threads, unsigned int src,
				   unsigned int channel)
{
	struct thread **slot = &threads->plain[src][channel];
	const struct meta_source *source = meta_source(threads->meta, (int)src);
	const char *what = "";
	char where[24];

	if (*slot)
		return *slot;
	*slot = make(threads);
	if (!*slot)
		return NULL;
	(*slot)->src = (int)src;
	(*slot)->channel = channel;
	(*slot)->pid = -1;
	(*slot)->tid = -1;
	(*slot)->to = UINT64_MAX;
	if (threads->meta->sampling.channel == (int)channel)
		what = "samples of ";
	if (source && source->cpu >= 0)
		snprintf(where, sizeof(where), "CPU %d", source->cpu);
	else
		snprintf(where, sizeof(where), "source %u", src);
	if (*what || channel == PERFREC_CHANNEL_DEFAULT)
		snprintf((*slot)->label, sizeof((*slot)->label), "%s%s", what,
			 where);
	else
		snprintf((*slot)->label, sizeof((*slot)->label),
			 "%s channel %u", where, channel);
	return *slot;
}

static void name_thread(struct thread *thread, const char *name)
{
	size_t size = sizeof(thread->label);

	if (name && *name && thread->tid >= 0)
		snprintf(thread->label, size, "%.24s/%" PRId64, name, thread->tid);
	else if (name && *name)
		snprintf(thread->label, size, "%.24s", name);
	else if (thread->tid >= 0)
		snprintf(thread->label, size, "thread %" PRId64, thread->tid);
	else
		snprintf(thread->label, size, "channel %u", thread->channel);
}

static struct thread *entry_thread(struct threads *threads, struct entry *entry)
{
	if (entry->thread)
		return entry->thread;
	entry->thread = make(threads);
	if (!entry->thread)
		return NULL;
	entry->thread->src = -1;
	entry->thread->channel = (unsigned int)entry->meta->channel;
	entry->thread->pid = entry->meta->pid;
	entry->thread->tid = entry->meta->tid;
	entry->thread->from = entry->meta->from;
	entry->thread->to = entry->meta->to;
	name_thread(entry->thread, entry->meta->name);
	return entry->thread;
}

struct thread *threads_find(struct threads *threads,
			    const struct perfrec_record *record)
{
	unsigned int channel = record->channel;
	size_t low = threads->first[channel];
	size_t high = threads->first[channel + 1];
	struct thread *recent = threads->recent[channel];
	uint64_t time = record->begin.time;

	if (low == high)
		return plain_thread(threads, record->src, channel);
	/* Without a time: as before, or the channel's first. */
	if (recent && (!record->begin.time_known ||
		       (time >= recent->from && time <= recent->to)))
		return recent;
	if (record->begin.time_known) {
		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (threads->entry[middle].meta->from <= time)
				low = middle + 1;
			else
				high = middle;
		}
		if (low == threads->first[channel] ||
		    threads->entry[low - 1].meta->to < time)
			return plain_thread(threads, record->src, channel);
		low--;
	}
	recent = entry_thread(threads, &threads->entry[low]);
	threads->recent[channel] = recent;
	return recent;
}

unsigned int threads_count(const struct threads *threads)
{
	return threads->count;
}

struct thread *threads_get(const struct threads *threads, unsigned int id)
{
	return threads->thread[id];
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds threads by channel and time: see threads.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "laps.h"
#include "text.h"
#include "threads.h"

struct entry {
	const struct meta_thread *meta;
	int			channel;	/* no channel if headers name the thread */
	uint64_t		from;		/* unwrapped */
	uint64_t		to;
	struct thread		*thread;	/* created when needed */
};

/* Upper limit of Linux's thread ids. */
#define TIDS		(1u << 22)

struct threads {
	const struct meta	*meta;
	struct entry		*entry;		/* entries by channel and time */
	struct entry		**by_tid;	/* entries by thread id and time */
	struct thread		*stranger[2 * THREADS_STRANGERS];
	unsigned int		strangers;
	uint8_t			*beyond;	/* a bit for each id of a thread beyond the limit */
	unsigned int		left_out;
	uint32_t		shared;		/* channels */
	struct thread		*lost[PERFREC_SOURCES][PERFREC_CHANNELS];
	/* Index of each channel's first entry, which follows the previous channel's last entry. */
	size_t			first[PERFREC_CHANNELS + 1];
	struct thread		*recent[PERFREC_CHANNELS];
	struct thread		*owner[PERFREC_CHANNELS];	/* latest thread named */
	/*
	 * Ticks after which the timestamp wraps, or 0 if unknown; and ticks to add to times, by
	 * channel: see find_by_time().
	 */
	uint64_t		lap;
	uint64_t		shift[PERFREC_CHANNELS];
	struct thread		*plain[PERFREC_SOURCES][PERFREC_CHANNELS];
	struct thread		**thread;	/* threads by id */
	unsigned int		count;
	unsigned int		room;
};

static int by_channel_and_time(const void *a, const void *b)
{
	const struct entry *one = a, *two = b;

	if (one->channel != two->channel)
		return one->channel < two->channel ? -1 : 1;
	if (one->from != two->from)
		return one->from < two->from ? -1 : 1;
	/* Threads in order of appearance. */
	return (one->meta > two->meta) - (one->meta < two->meta);
}

static int by_tid_and_time(const void *a, const void *b)
{
	const struct entry *one = *(struct entry * const *)a;
	const struct entry *two = *(struct entry * const *)b;

	if (one->meta->tid != two->meta->tid)
		return one->meta->tid < two->meta->tid ? -1 : 1;
	return (one->from > two->from) - (one->from < two->from);
}

static void fill(struct threads *threads)
{
	struct laps laps = { .lap = threads->lap, .slack = threads->lap / 2 };
	size_t i;

	for (i = 0; i < threads->meta->threads; i++) {
		const struct meta_thread *thread = &threads->meta->thread[i];
		struct entry *entry = &threads->entry[i];

		*entry = (struct entry){
			.meta = thread, .from = thread->from, .to = thread->to,
			.channel = thread->named ? PERFREC_CHANNELS : thread->channel,
		};
		laps_unwrap(&laps, &entry->from, &entry->to);
	}
	qsort(threads->entry, threads->meta->threads, sizeof(*threads->entry),
	      by_channel_and_time);
	for (i = 0; i < threads->meta->threads; i++)
		threads->by_tid[i] = &threads->entry[i];
	qsort(threads->by_tid, threads->meta->threads, sizeof(*threads->by_tid),
	      by_tid_and_time);
}

struct threads *threads_new(const struct meta *meta)
{
	struct threads *threads = calloc(1, sizeof(*threads));
	size_t i, c;

	if (!threads)
		return NULL;
	threads->meta = meta;
	threads->shared = meta->shared;
	threads->entry = calloc(meta->threads + 1, sizeof(*threads->entry));
	threads->by_tid = calloc(meta->threads + 1, sizeof(*threads->by_tid));
	if (!threads->entry || !threads->by_tid) {
		threads_free(threads);
		return NULL;
	}
	fill(threads);
	for (c = 0, i = 0; c <= PERFREC_CHANNELS; c++) {
		while (i < meta->threads &&
		       threads->entry[i].channel < (int)c)
			i++;
		threads->first[c] = i;
	}
	return threads;
}

void threads_wrap(struct threads *threads, uint64_t ts_mask)
{
	threads->lap = ts_mask + 1;
	fill(threads);
}

void threads_free(struct threads *threads)
{
	unsigned int i;

	if (!threads)
		return;
	for (i = 0; i < threads->count; i++)
		free(threads->thread[i]);
	free(threads->thread);
	free(threads->by_tid);
	free(threads->entry);
	free(threads->beyond);
	free(threads);
}

void threads_share(struct threads *threads, unsigned int channel)
{
	threads->shared |= 1u << channel;
}

bool threads_shared(const struct threads *threads, unsigned int channel)
{
	return threads->shared >> channel & 1;
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

static struct thread *make_plain(struct threads *threads, unsigned int src,
				 unsigned int channel)
{
	struct thread *thread = make(threads);

	if (!thread)
		return NULL;
	thread->src = (int)src;
	thread->channel = channel;
	thread->pid = -1;
	thread->tid = -1;
	thread->to = UINT64_MAX;
	return thread;
}

/* Return the thread for records without a header on a channel that several threads share. */
static struct thread *lost_thread(struct threads *threads, unsigned int src,
				  unsigned int channel)
{
	struct thread **slot = &threads->lost[src][channel];

	if (!*slot)
		*slot = make_plain(threads, src, channel);
	if (*slot)
		snprintf((*slot)->label, sizeof((*slot)->label),
			 "unknown thread, source %u channel %u", src, channel);
	return *slot;
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
	*slot = make_plain(threads, src, channel);
	if (!*slot)
		return NULL;
	if (threads->meta->sampling.channel == (int)channel)
		what = "samples of ";
	if (source && source->cpu >= 0)
		snprintf(where, sizeof(where), "CPU %d", source->cpu);
	else
		snprintf(where, sizeof(where), "source %u", src);
	if (*what || channel == PERFREC_CHANNEL_DEFAULT || channel == THREADS_FLOW_CHANNEL)
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
	if (entry->meta->channel >= 0)
		entry->thread->channel = (unsigned int)entry->meta->channel;
	entry->thread->pid = entry->meta->pid;
	entry->thread->tid = entry->meta->tid;
	entry->thread->from = entry->from;
	entry->thread->to = entry->to;
	name_thread(entry->thread, entry->meta->name);
	return entry->thread;
}

/* Return a channel's latest entry that begins by @time, or NULL if it ends before @time. */
static struct entry *entry_at(const struct threads *threads,
			      unsigned int channel, uint64_t time)
{
	size_t low = threads->first[channel];
	size_t high = threads->first[channel + 1];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (threads->entry[middle].from <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == threads->first[channel] || threads->entry[low - 1].to < time)
		return NULL;
	return &threads->entry[low - 1];
}

/* Return the thread that owned the channel at a time. */
static __attribute__((noinline))
struct thread *find_by_time(struct threads *threads, const struct perfrec_record *record)
{
	unsigned int channel = record->channel;
	struct entry *entry = &threads->entry[threads->first[channel]];
	struct thread *recent;
	uint64_t time;

	if (!threads_move(threads, channel))
		return plain_thread(threads, record->src, channel);
	/* If the record has no time, return the channel's first thread. */
	if (record->begin.time_known) {
		time = record->begin.time;
		entry = entry_at(threads, channel, time);
		threads->shift[channel] = 0;
		/* The side-car file's times may begin one wraparound before the trace's times. */
		if (!entry && threads->lap) {
			entry = entry_at(threads, channel, time + threads->lap);
			threads->shift[channel] = entry ? threads->lap : 0;
		}
		if (!entry)
			return plain_thread(threads, record->src, channel);
	}
	recent = entry_thread(threads, entry);
	threads->recent[channel] = recent;
	return recent;
}

/*
 * Like find_by_time(), but try the thread of the previous record first, because most records belong
 * to it. A record without a time is assumed to belong to that thread, too.
 */
static inline struct thread *find_again(struct threads *threads,
					const struct perfrec_record *record)
{
	const unsigned int channel = record->channel;
	struct thread *recent = threads->recent[channel];

	if (recent) {
		const uint64_t time = record->begin.time + threads->shift[channel];

		if (!record->begin.time_known || (time >= recent->from && time <= recent->to))
			return recent;
	} else if (!threads_move(threads, channel) && threads->plain[record->src][channel]) {
		return threads->plain[record->src][channel];
	}
	return find_by_time(threads, record);
}

static void leave_out(struct threads *threads, uint32_t tid)
{
	const unsigned int at = tid % TIDS, bit = 1u << at % 8;

	if (!threads->beyond)
		threads->beyond = calloc(TIDS / 8, 1);
	if (!threads->beyond || threads->beyond[at / 8] & bit)
		return;
	threads->beyond[at / 8] |= (uint8_t)bit;
	threads->left_out++;
}

unsigned int threads_left_out(const struct threads *threads)
{
	return threads->left_out;
}

/* Return a thread that is not in the side-car file, or NULL if there are too many such threads. */
static struct thread *stranger(struct threads *threads, unsigned int channel,
			       uint32_t tid)
{
	unsigned int at = tid * 0x9e3779b1u % (2 * THREADS_STRANGERS);
	struct thread *thread;

	while ((thread = threads->stranger[at])) {
		if (thread->tid == tid)
			return thread;
		at = (at + 1) % (2 * THREADS_STRANGERS);
	}
	if (threads->strangers == THREADS_STRANGERS) {
		leave_out(threads, tid);
		return NULL;
	}
	thread = make_plain(threads, 0, channel);
	if (!thread)
		return NULL;
	thread->src = -1;
	thread->tid = tid;
	name_thread(thread, NULL);
	threads->stranger[at] = thread;
	threads->strangers++;
	return thread;
}

/* Return the latest of the threads with this id that began at or before @time. */
static struct entry *entry_of(const struct threads *threads, uint32_t tid,
			      bool timed, uint64_t time)
{
	size_t low = 0, high = threads->meta->threads;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct entry *entry = threads->by_tid[middle];

		if (entry->meta->tid < tid ||
		    (entry->meta->tid == tid && timed && entry->from <= time))
			low = middle + 1;
		else
			high = middle;
	}
	if (low && threads->by_tid[low - 1]->meta->tid == tid)
		return threads->by_tid[low - 1];
	/* The thread's first record precedes its recorded start, or no times are known. */
	if (low < threads->meta->threads && threads->by_tid[low]->meta->tid == tid)
		return threads->by_tid[low];
	return NULL;
}

/* Return the thread that the record or its header names. */
static struct thread *owner(struct threads *threads, const struct perfrec_record *record,
			    uint32_t tid)
{
	struct thread **recent = &threads->owner[record->channel];
	const bool timed = record->begin.time_known;
	uint64_t time = record->begin.time;
	struct entry *entry;

	if (*recent && (*recent)->tid == tid &&
	    (!timed || (time >= (*recent)->from && time <= (*recent)->to)))
		return *recent;
	entry = entry_of(threads, tid, timed, time);
	*recent = entry ? entry_thread(threads, entry) :
			  stranger(threads, record->channel, tid);
	return *recent ? *recent :
			 lost_thread(threads, record->src, record->channel);
}

struct thread *threads_named(struct threads *threads, uint32_t tid,
			     const struct perfrec_stamp *stamp)
{
	struct entry *entry = entry_of(threads, tid, stamp->time_known, stamp->time);

	return entry ? entry_thread(threads, entry) : stranger(threads, 0, tid);
}

struct thread *threads_before(const struct threads *threads, const struct thread *thread)
{
	size_t low = 0, high = threads->meta->threads;
	const struct entry *before;

	/* Find the index after the entries of this thread and of earlier threads. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct entry *entry = threads->by_tid[middle];

		if (entry->meta->tid < thread->tid ||
		    (entry->meta->tid == thread->tid && entry->from <= thread->from))
			low = middle + 1;
		else
			high = middle;
	}
	if (low < 2 || threads->by_tid[low - 1]->thread != thread)
		return NULL;
	before = threads->by_tid[low - 2];
	return before->meta->tid == thread->tid ? before->thread : NULL;
}

/* Called for a record on a channel that several threads share. */
static __attribute__((noinline))
struct thread *find_shared(struct threads *threads, const struct perfrec_record *record)
{
	if (record->flags & PERFREC_STALE)
		return lost_thread(threads, record->src, record->channel);
	if (record->header->owned)
		return owner(threads, record, record->header->owner);
	return find_again(threads, record);
}

/* Called for a sample that may name its thread. */
static __attribute__((noinline))
struct thread *find_named(struct threads *threads, const struct perfrec_record *record)
{
	return record->thread ? owner(threads, record, record->thread) :
	       plain_thread(threads, record->src, record->channel);
}

struct thread *threads_find(struct threads *threads,
			    const struct perfrec_record *record)
{
	if (__builtin_expect(record->flags & PERFREC_NAMED, false))
		return find_named(threads, record);
	if (__builtin_expect(threads_shared(threads, record->channel), false))
		return find_shared(threads, record);
	return find_again(threads, record);
}

const char *threads_process(const struct meta *meta, int64_t pid)
{
	const char *name = NULL;
	size_t i;

	for (i = 0; pid >= 0 && i < meta->processes; i++)
		if (meta->process[i].pid == pid && meta->process[i].exe)
			name = text_base(meta->process[i].exe);
	for (i = 0; pid >= 0 && !name && i < meta->threads; i++)
		if (meta->thread[i].named && meta->thread[i].tid == pid)
			name = meta->thread[i].name;
	return name;
}

unsigned int threads_count(const struct threads *threads)
{
	return threads->count;
}

struct thread *threads_get(const struct threads *threads, unsigned int id)
{
	return threads->thread[id];
}

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Whose records are whose. With a table of threads in the side-car file a
 * thread is who had the channel at that time, on whatever source; otherwise,
 * and for samples, each (source, channel) is taken for a thread.
 */
#ifndef SIFIVE_TRACE_THREADS_H
#define SIFIVE_TRACE_THREADS_H

#include "meta.h"
#include "perfrec/perfrec.h"

/**
 * struct thread - one line of execution
 * @id:		number, from 0, in the order in which they appear
 * @src:	its source, or -1 for any
 * @channel:	its channel
 * @pid, @tid:	-1 when unknown
 * @from, @to:	when it had the channel, ticks
 * @label:	what to call it
 * @state:	for the consumer of the records
 */
struct thread {
	unsigned int	id;
	int		src;
	unsigned int	channel;
	int64_t		pid;
	int64_t		tid;
	uint64_t	from;
	uint64_t	to;
	char		label[48];
	void		*state;
};

struct threads;

/** threads_new() - no threads yet; NULL without memory */
struct threads *threads_new(const struct meta *meta);

/**
 * threads_wrap() - how the trace's timestamps wrap, before threads are looked for
 * @ts_mask:	the greatest one
 *
 * Its times go on over a wrap; those of the side-car file do not.
 */
void threads_wrap(struct threads *threads, uint64_t ts_mask);

/** threads_free() - free threads, not their state; NULL is fine */
void threads_free(struct threads *threads);

/** threads_move() - whether a channel's threads move between sources */
bool threads_move(const struct threads *threads, unsigned int channel);

/**
 * threads_find() - whose record this is
 * @record:	record, with any source, channel and time
 *
 * Return: the thread, NULL without memory.
 */
struct thread *threads_find(struct threads *threads,
			    const struct perfrec_record *record);

/** threads_count() - number of threads found */
unsigned int threads_count(const struct threads *threads);

/** threads_get() - thread of that id */
struct thread *threads_get(const struct threads *threads, unsigned int id);

#endif /* SIFIVE_TRACE_THREADS_H */

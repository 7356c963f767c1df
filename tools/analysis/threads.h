/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds a record's thread. A sample or a header may name the thread. Otherwise, if the side-car
 * file has a table of threads, the record belongs to the thread that owned the channel at the
 * record's time, regardless of the source. Without a table, and for samples that do not name a
 * thread, each pair of source and channel counts as a thread. If a missing header may have named
 * another thread, the thread is unknown.
 */
#ifndef SIFIVE_TRACE_THREADS_H
#define SIFIVE_TRACE_THREADS_H

#include <linux/sifive_trace_instruction.h>

#include "meta.h"
#include "perfrec/perfrec.h"

/*
 * Channel number of records generated from instruction trace. No store has this number, because
 * stores to this stimulus register are not traced.
 */
#define THREADS_FLOW_CHANNEL	SIFIVE_TRACE_INSTRUCTION_OWNER

/* Maximum number of threads named only by the trace; any others are unknown, but counted. */
#define THREADS_STRANGERS	4096

/**
 * struct thread - a thread
 * @id:		number, from 0, in order of appearance
 * @src:	source, or -1 for any
 * @channel:	the thread's channel, or the first of several
 * @pid, @tid: process and thread id, or -1 if unknown
 * @from, @to: time range in which the thread owned the channel, in ticks
 * @label:	name in output
 * @state:	for use by the consumer of the records
 * @oncpu:	state of oncpu.c
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
	struct oncpu_thread *oncpu;
};

struct threads;

/** threads_new() - create an empty set; return NULL if out of memory */
struct threads *threads_new(const struct meta *meta);

/**
 * threads_wrap() - set where the trace's timestamps wrap around; call this before any search
 * @ts_mask:	maximum timestamp
 *
 * The trace's times are unwrapped; the side-car file's times are not.
 */
void threads_wrap(struct threads *threads, uint64_t ts_mask);

/** threads_free() - free the set, but not the threads' @state; NULL is allowed */
void threads_free(struct threads *threads);

/**
 * threads_share() - record that several threads may share @channel, because one of its headers
 * names a thread
 */
void threads_share(struct threads *threads, unsigned int channel);

/** threads_shared() - return whether a channel's records may belong to several threads */
bool threads_shared(const struct threads *threads, unsigned int channel);

/** threads_move() - return whether threads keep their channel when they change sources */
bool threads_move(const struct threads *threads, unsigned int channel);

/**
 * threads_find() - find the thread of a record
 * @record:	the record; records can be looked up in any order
 *
 * Return: the thread, or NULL if out of memory.
 */
struct thread *threads_find(struct threads *threads,
			    const struct perfrec_record *record);

/**
 * threads_named() - find the thread that had an id at a given time; return NULL if out of memory,
 * or if there are too many threads
 */
struct thread *threads_named(struct threads *threads, uint32_t tid,
			     const struct perfrec_stamp *stamp);

/** threads_left_out() - return the number of threads in excess of THREADS_STRANGERS */
unsigned int threads_left_out(const struct threads *threads);

/** threads_before() - return the previous thread with the same id, or NULL if there is none */
struct thread *threads_before(const struct threads *threads, const struct thread *thread);

/**
 * threads_process() - return the name of a process's latest program. If the program is unknown,
 * return the name of the first thread instead, or NULL if neither samples, switches nor instruction
 * trace name that thread
 */
const char *threads_process(const struct meta *meta, int64_t pid);

/** threads_count() - return the number of threads found */
unsigned int threads_count(const struct threads *threads);

/** threads_get() - return thread number @id, in order of appearance */
struct thread *threads_get(const struct threads *threads, unsigned int id);

#endif /* SIFIVE_TRACE_THREADS_H */

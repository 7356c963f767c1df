/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Defines a reader's state. Private to tools/read. */
#ifndef SIFIVE_TRACE_READER_H
#define SIFIVE_TRACE_READER_H

#include <pthread.h>
#include <stdbool.h>

/* The library exports only the functions that this header declares. */
#pragma GCC visibility push(default)
#include <sifive_trace_read.h>
#pragma GCC visibility pop

#include "analysis.h"
#include "options.h"

/* Maximum number of events that the reading thread passes to the caller at a time. */
#define READER_EVENTS	128
/* Maximum total size of the stored messages, in bytes; lines that do not fit are dropped. */
#define READER_MESSAGES	(64u << 10)
#define READER_LABEL	512

/* An event, with room for its counts and callers. */
struct reader_slot {
	struct sifive_event	event;
	uint64_t		count[COUNTERS_MAX];
	uint64_t		count_self[COUNTERS_MAX];
	uint32_t		callers[SIFIVE_TRACE_CALLERS_MAX];
};

/**
 * struct sifive_reader - a reader
 * @options:	options for the trace, with their strings in @text
 * @wanted:	kinds of events to return to the caller
 * @ops:	callbacks that create these events; their context is the reader
 * @opened, @started, @ended, @failed: progress of the reader
 * @complete:	return value of sifive_reader_complete()
 * @slot:	events; the caller has yet to take those from @at to @filled - 1
 * @thread:	thread that reads the trace while the caller waits for events, and otherwise waits
 *		for the caller, so the two never use shared data at the same time. It exists from
 *		@started until the end of sifive_reader_free().
 * @lock:	protects @callers, @ended and @cancelled
 * @turn:	signals changes of the members that @lock protects
 * @callers:	set during the caller's turn
 * @cancelled:	set to end the thread
 * @messages:	all lines; the latest begins at @latest
 */
struct sifive_reader {
	struct options			options;
	char				**text;
	size_t				texts;
	struct input			input;
	struct analysis			*analysis;
	unsigned int			wanted;
	struct analysis_ops		ops;
	bool				opened;
	bool				started;
	bool				ended;
	bool				failed;
	int				complete;
	struct reader_slot		*slot;
	unsigned int			at;
	unsigned int			filled;
	pthread_t			thread;
	pthread_mutex_t			lock;
	pthread_cond_t			turn;
	bool				callers;
	bool				cancelled;
	char				*messages;
	size_t				latest;
	size_t				used;
	struct sifive_trace_info	info;
	struct sifive_function		function;
	struct sifive_thread		named;
	char				label[READER_LABEL];
};

/** reader_hand_over() - pass the events to the caller, and wait until it has taken them */
void reader_hand_over(struct sifive_reader *reader);

/** reader_set_ops() - set the callbacks that create the wanted events */
void reader_set_ops(struct sifive_reader *reader);

#endif /* SIFIVE_TRACE_READER_H */

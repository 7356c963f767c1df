/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Defines the state of each thread and hart. Private to oncpu.c. */
#ifndef SIFIVE_TRACE_ONCPU_HARTS_H
#define SIFIVE_TRACE_ONCPU_HARTS_H

#include "doubts.h"
#include "oncpu.h"
#include "ring.h"

/* Length of the window, in records: enough for 2 * RING_SKEW bytes. */
#define HELD		256

/* Number of intervals off the CPU to keep: a loss that is found later may make them uncertain. */
#define RECENT		256

/* Maximum number of a thread's parts; beyond it, some are merged. */
#define PARTS		4096
#define PARTS_FIRST	16

/* A source without messages in this many bytes was idle rather than overloaded. */
#define IDLE_BYTES	(8 * RING_SKEW)

/**
 * struct part - a part of a thread's time, from @from to @to
 * @on:	ticks in which the thread ran; in all other ticks except @unknown, it was off the CPU
 */
struct part {
	uint64_t		from;
	uint64_t		to;
	uint64_t		on;
	uint64_t		unknown;
	enum oncpu_state	state;
};

/**
 * struct oncpu_thread - state of a thread
 * @thread:	the latest struct thread with this id: execve() creates a new one
 * @asking:	the thread for which oncpu_between() was last called, or NULL
 * @hart:	hart on which the thread last ran
 * @known:	set if one of the thread's switch records has been found
 * @state:	state since @since, unless @over is set
 * @over:	the thread has exited or its recording has ended, so @state is not valid
 * @gone:	oncpu.doubts.gone at @since
 * @done:	time up to which oncpu_between() has been called
 * @left:	time up to which the thread ran after its switch-out had been recorded
 * @asked:	oncpu_between() has been called for this thread
 * @call:	current system call
 * @part:	the @count earlier parts
 */
struct oncpu_thread {
	struct thread		*thread;
	struct thread		*asking;
	struct oncpu_thread	*next;
	struct oncpu_times	times;
	struct hart		*hart;
	bool			known;
	bool			over;
	bool			asked;
	enum oncpu_state	state;
	uint64_t		since;
	uint64_t		gone;
	uint64_t		done;
	uint64_t		left;
	struct syscall_now	call;
	struct part		*part;
	size_t			count;
	size_t			room;
};

/**
 * struct hart - the running thread of a hart
 * @known:	@running is the running thread, or NULL if no recorded thread is running
 * @sure:	time after which no record has been lost, valid if @known is clear
 * @was:	last thread that is known to have run, valid if @known is clear
 * @time:	time of its latest message, or 0 if no message has a time
 * @offset:	offset of that message
 * @ended:	set if its latest switch record marks the end of the recording, or the start of a
 *		pause
 * @lost:	messages have been lost since @from; the time of the next message ends the loss
 * @whole:	time of its latest switch record: any missing record is later
 * @execute:	system call of a thread that has just ended on this hart; execve() continues in a
 *		thread with another id
 */
struct hart {
	bool			known;
	bool			ended;
	bool			lost;
	struct oncpu_thread	*running;
	struct oncpu_thread	*was;
	uint64_t		sure;
	uint64_t		time;
	uint64_t		offset;
	uint64_t		from;
	uint64_t		whole;
	struct syscall_now	execute;
};

/* An interval in which a thread was off the CPU. */
struct wait {
	struct oncpu_thread	*thread;
	enum oncpu_state	state;
	uint64_t		from;
	uint64_t		to;
};

/* A switch record, or a loss between @from and the record's time. */
struct event {
	struct trace_switch	record;
	uint64_t		from;
};

struct oncpu {
	struct threads		*threads;
	oncpu_span		span;
	void			*context;
	struct oncpu_stats	stats;
	struct syscalls		syscalls;
	struct oncpu_thread	*all;
	struct hart		hart[PERFREC_SOURCES];
	struct event		held[HELD];	/* events by time */
	unsigned int		helds;
	uint64_t		offset;		/* offset of the latest message */
	uint64_t		now;		/* the latest time */
	/*
	 * @mark: a file offset; @marked: the latest time at @mark; @earlier: the latest time well
	 * before @mark.
	 */
	uint64_t		mark;
	uint64_t		marked;
	uint64_t		earlier;
	struct wait		recent[RECENT];
	unsigned int		recents;
	struct doubts		doubts;
	size_t			bytes;
	bool			no_memory;
};

#endif /* SIFIVE_TRACE_ONCPU_HARTS_H */

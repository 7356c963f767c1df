/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Defines the threads and sources of flows.h. Private to flows.c, owners.c and ran.c. */
#ifndef SIFIVE_TRACE_TRACK_H
#define SIFIVE_TRACE_TRACK_H

#include "flows.h"
#include "hash.h"

/* Limits for a damaged trace: threads, and the calls of all threads. */
#define THREADS_MAX	4096
#define FRAMES_MAX	(1u << 18)
/* Maximum number of a thread's open calls that are searched for a return's target. */
#define SEARCHED_MAX	(1u << 14)

/* An open call: its function's first instruction and its return address. */
struct frame {
	uint64_t	function;
	uint64_t	back;
	uint64_t	site;		/* call site, in the same form as in records */
	const struct block *before;	/* for a signal handler: the owner's @last before it */
	bool		handler;
	bool		jumped;		/* entered by a tail call, replacing another call */
	bool		unseen;		/* the caller's code is in no file */
	bool		earlier;	/* the call began before its first traced instruction */
};

/**
 * struct owner - a thread, or the unnamed thread that runs on a source
 * @id:		thread id, or (1 << 32) + the source if the thread has no name
 * @interrupted: address at which the owner's latest trap occurred, or 0 if unknown
 * @last:	the block at whose end the owner last stopped, or NULL if it stopped within a block
 * @before:	like @last, for the code interrupted by the latest signal handler
 * @from:	like @interrupted, for that code
 * @handled:	a signal handler has returned to the trampoline
 * @unseen:	set if the owner is running code that is not in any file
 * @writes:	set if that code is the generated code that writes a record
 */
struct owner {
	uint64_t	id;
	struct frame	*frame;
	uint32_t	depth;
	uint32_t	room;
	uint64_t	interrupted;
	const struct block *last;
	const struct block *before;
	uint64_t	from;
	bool		handled;
	bool		unseen;
	bool		writes;
};

/* The function that contains a block. */
struct function {
	uint64_t	start;
	bool		tried;
	bool		known;
	bool		tracer;
	bool		cold;		/* a part of another function, split off by the compiler */
	bool		thread;		/* the kernel's threads begin here */
	bool		switches;	/* returns on another thread's stack */
};

/**
 * struct track - the code that is running on a source
 * @last:	the latest block that was executed to its end
 * @resume:	the next instruction need not follow from the latest instruction
 * @lost:	instructions before the next instruction are missing
 * @trapped:	set if this code is a trap handler
 * @away:	the code since the latest event is missing, and may be the kernel's
 * @switches:	the kernel has named the thread to which it will switch, @next
 * @gap:	instructions are missing up to the next instruction
 * @ran:	number of instructions to pass on, in the function at @within
 */
struct track {
	struct owner		*owner;
	struct perfrec_header	header;
	const struct block	*last;
	bool			resume;
	bool			lost;
	bool			trapped;
	bool			away;
	bool			switches;
	bool			gap;
	uint64_t		next;
	uint64_t		within;
	uint64_t		ran;
};

struct flows {
	struct code	*code;
	struct joined	*joined;
	struct symbols	*symbols;
	const struct flows_ops *ops;
	bool		counts;
	void		*context;
	bool		no_memory;
	struct function	*function;	/* functions by block */
	uint32_t	room;
	uint32_t	frames;
	struct track	*track[NEXUS_SOURCES];
	struct owner	owner[THREADS_MAX];
	struct owner	unknown;	/* represents all threads beyond the limit; has no calls */
	struct flows_left_out left_out;
	uint32_t	owners;
	uint32_t	slot[2 * THREADS_MAX];
	struct hash	hash;
};

/**
 * owners_new_track() - create a source's track, or return NULL if out of memory, which @flows
 * records
 */
struct track *owners_new_track(struct flows *flows, unsigned int src);

/** owners_track() - return a source's track, or NULL if out of memory, which @flows records */
static inline struct track *owners_track(struct flows *flows, unsigned int src)
{
	return flows->track[src] ? flows->track[src] : owners_new_track(flows, src);
}

/**
 * owners_context() - record that thread @tid runs on a source
 *
 * Thread 0 in an Ownership message means that the thread is not named.
 */
void owners_context(struct flows *flows, struct track *track, const struct flow_place *place,
		    uint64_t tid);

/**
 * owners_next() - record that the kernel is switching to thread @tid
 *
 * The current thread runs until __switch_to() returns. If the kernel's code is not followed, the
 * switch takes effect immediately.
 */
void owners_next(struct flows *flows, struct track *track, uint64_t tid);

/** owners_switched() - record that __switch_to() has returned */
void owners_switched(struct flows *flows, struct track *track, const struct flow_place *place);

/**
 * owners_skipped() - record that the return of __switch_to() may be missing
 *
 * If a switch is due, it takes effect immediately, and the thread's next call is marked.
 */
void owners_skipped(struct flows *flows, struct track *track);

/** owners_lost() - record that instructions are missing from here on, for the reason in @event */
void owners_lost(struct flows *flows, struct track *track, const struct flow_event *event);

/** flows_leave() - end the running thread's calls until only @depth of them are open */
void flows_leave(struct flows *flows, struct track *track, const struct flow_place *place,
		 uint32_t depth);

/** ran_run() - record that a thread has executed instructions of the function at @function */
void ran_run(struct flows *flows, struct track *track, const struct flow_place *place,
	     const struct flow_run *run, uint64_t function);

/** ran_call() - record that a thread has called the function at @function, or jumped to it */
void ran_call(struct flows *flows, struct track *track, const struct flow_place *place,
	      uint64_t function);

/** ran_until() - pass on the number of instructions that have been executed up to this place */
void ran_until(struct flows *flows, struct track *track, const struct flow_place *place);

/** ran_missing() - record that some of a thread's instructions are missing here */
void ran_missing(struct flows *flows, struct track *track, const struct flow_place *place);

#endif /* SIFIVE_TRACE_TRACK_H */

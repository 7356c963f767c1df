/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Recording threads, their channels and lanes.
 *
 * A channel belongs to one thread, on all encoders, until the thread ends or, if there are more
 * threads than channels, until another thread takes the channel. A lane is the sequence of records
 * of one channel on one CPU. A thread has a slot, with the lane of its latest CPU and with its
 * gate. A closed gate means that a record is being written: signal handlers queue their records,
 * and other threads do not take the channel.
 *
 * A pool contains the channels, lanes and slots. In a child of fork(), everything but the lanes is
 * zero from the first instruction on. The pool is therefore closed: the child has no stimulus pages
 * to write to, and uses the lanes only to finish a record that fork() interrupted, in memory that
 * nothing reads.
 */
#ifndef PERF_THREAD_H
#define PERF_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/sifive_trace.h>

#include "compiler.h"
#include "record.h"
#include "section.h"

/* Maximum numbers of recording threads and of encoders: the driver's limits. */
#define PERF_SLOTS	2048
#define PERF_CPUS	64

/* Number of entries in perf_pool.index, one for each CPU number. */
#define PERF_CPU_NUMBERS 1024

/* Neither a CPU number nor one of rseq's values for an unknown CPU. */
#define PERF_CPU_NOBODY	(-3)

/* Maximum number of records that signal handlers can queue for the interrupted thread. */
#define PERF_QUEUE	64

/**
 * struct perf_lane - the records of a channel on a CPU
 * @count:	two arrays for the counters' values, between which a writer of
 *		many counters alternates; first and aligned, so that their
 *		addresses differ in one bit
 * @stream:	stream of the records
 * @offset:	for a thread's own counts in Delta: the difference between the complete counts and
 *		@stream.last
 * @written:	number of the driver's writes to the thread's offsets when @offset was read
 * @generation:	perf_pool.generation when the lane's header was written
 * @left:	number of records until the header is due again, if perf_pool.interval is set
 * @torn:	whether the last record was never finished
 */
struct perf_lane {
	uint64_t count[2][PERF_COUNTER_MAX] __attribute__((aligned(512)));
	struct perf_stream stream;
	uint32_t generation;
	volatile bool torn;
#ifndef PERF_DROPIN
	uint64_t offset[PERF_COUNTER_MAX];
	uint64_t written;
	uint32_t left;
	/* A byte that the driver sets to 1 while the sink has no room. */
	const volatile uint8_t *full;
#endif /* PERF_DROPIN */
};

/* A signal handler's record, queued until the interrupted record is complete. */
struct perf_pending {
	volatile bool complete;
	uint32_t kind;
	int32_t cpu;
	uintptr_t address, address2;
	uint64_t now[PERF_COUNTER_MAX];
};

enum perf_refusal {
	PERF_REFUSED_NOT,
	PERF_REFUSED_ONCE,	/* this record is from a vfork() child, which borrows the slot */
	PERF_REFUSED,
};

#ifndef PERF_DROPIN
/* Maximum depth limit of a filter. */
#define PERF_DEPTH_MAX	64

/* An entry or exit: the hook's frame, the function, its call site, the hook's return address. */
struct perf_call {
	uintptr_t frame, function, site, pc;
};

/**
 * struct perf_open - a thread's open calls, for a filter with a depth limit: see depth.c
 * @generation:	perf_pool.generation when the first of @call began
 * @count:	number of elements of @call
 * @inlined:	number of deeper calls that share frame, function and call site with one of @call
 * @deeper:	number of other deeper calls
 */
struct perf_open {
	uint32_t generation;
	volatile uint32_t count;
	uint32_t inlined;
	uint32_t deeper;
	struct perf_call call[PERF_DEPTH_MAX];
};
#endif /* PERF_DROPIN */

/**
 * struct perf_thread - a thread that is being recorded
 * @cpu:	CPU of @lane, or PERF_CPU_NOBODY if the next record must take the slow path;
 *		the first member, because writers have its address in a register
 * @tid:	thread id, or 0 if the slot is free
 * @id:		thread id in the recorder's pid namespace, for the trace
 * @gate:	the slot's address if open, the writer's frame if closed, or 0 if not set up
 * @rseq:	area in which the kernel stores the number of the thread's CPU
 * @lane:	lane of the records
 * @fresh:	bit n is set if lane n has no header of this thread
 * @waiting:	number of records that signal handlers queued while the gate was closed
 * @stuck:	whether a record was abandoned, but is still being written
 * @lent:	whether the thread has called vfork(), so that the running code may be the child's
 * @epoch:	perf_pool.epoch when the thread joined
 * @claimed:	whether another thread may take @channel, so that perf_channel_have() is needed
 * @kept:	whether the thread keeps @channel because an abandoned record may still continue
 * @channel:	channel of the thread, or -1 if none
 * @starved:	perf_pool.retry when the thread last timed out waiting for a channel
 * @begun:	perf_pool.generation at the thread's last record
 * @latest:	lane of the latest record or header since the thread got @channel, or NULL if
 *		there is none
 * @saved:	perf_pool.generation when @last was set
 * @joined:	return value of perf_joined_add(), or PERF_UNNOTED
 * @refused:	enum perf_refusal: whether the thread was refused access to the counters
 * @repairs:	number of repairs, see perf_thread_repair()
 * @reading:	CPU on which to read counters for @queue; PERF_CPU_NOBODY prevents that
 * @offset:	offsets from a hart's counts to the thread's own counts
 * @last:	own counts at the latest record before @channel was taken away
 * @head, @tail: ends of @queue, modulo its size
 * @queue:	records of signal handlers
 */
struct perf_thread {
	volatile int32_t cpu;
	volatile int32_t tid;
	volatile uintptr_t gate;
	struct perf_rseq *rseq;
	struct perf_lane *volatile lane;
	volatile uint32_t epoch;
	uint64_t fresh;
	uint32_t waiting;
	volatile bool stuck;
	volatile bool lent;
	bool claimed;
	volatile bool kept;
	volatile int channel;
	int32_t id;
	uint32_t starved;
	uint32_t begun;
	int joined;
	volatile int refused;
	uint32_t repairs;
	volatile int32_t reading;
	const volatile uint64_t *offset;
	volatile uint32_t head, tail;
#ifndef PERF_DROPIN
	struct perf_lane *latest;
	uint32_t saved;
	uint64_t last[PERF_COUNTER_MAX];
	/* Number of records dropped, and nanoseconds waited for room, that no mark reports yet. */
	uint32_t dropped;
	uint64_t waited;
#endif /* PERF_DROPIN */
	struct perf_pending queue[PERF_QUEUE];
#ifndef PERF_DROPIN
	struct perf_open open;
#endif /* PERF_DROPIN */
};

/* Value of perf_thread.joined if perf_joined_add() has not been called yet. */
#define PERF_UNNOTED	(-2)

/* Index in perf_thread.offset of the number of times that the offsets were written. */
#define PERF_OFFSETS_WRITTEN	PERF_COUNTER_TIMESTAMP

struct perf_device;

/**
 * struct perf_pool - state that threads share
 * @open:	PERF_OPEN_*: which records may be written now
 * @generation:	number that changes when headers have to be rewritten
 * @epoch:	number that changes with each set-up
 * @retry:	number that changes when a refused thread may try again
 * @pid:	id of the process
 * @process:	id of the process in the recorder's pid namespace
 * @channels:	bit n is set if channel n is available
 * @lock:	futex that guards @owner
 * @owner:	owner of each channel, or NULL if free
 * @hand:	next channel to take away
 * @waiting:	number of threads that are waiting for a channel
 * @turn:	number that changes when a thread obtains a channel
 * @device:	the device whose session threads join
 * @lost:	losses page: counts of records that were not written, and the shared channels; the
 *		kernel keeps it with the capture
 * @once:	whether to write only one header for each channel and CPU
 * @interval:	number of records from one header to the next, or 0 if headers are not repeated
 * @join:	whether threads must join the driver's session to read counters
 * @slots:	the driver's thread slots, or NULL if there are none
 * @joins:	number of threads in the list of joined.h
 * @used:	number of elements of @thread that were ever in use
 * @layout:	layout of all records
 * @index:	for each CPU number: 1 + the CPU's index in @lane, or 0 if the CPU has no encoder
 * @lane:	lanes, by channel and index; on separate pages, because a child inherits them
 * @refusal:	errno of the driver's latest refusal
 */
struct perf_pool {
	volatile uint32_t open;
	volatile uint32_t generation;
	volatile uint32_t epoch;
	volatile uint32_t retry;
	int32_t pid;
	int32_t process;
	uint32_t channels;
	int32_t lock;
	unsigned int hand;
	volatile uint32_t waiting;
	volatile uint32_t turn;
	struct perf_thread *owner[PERF_CHANNELS];
	unsigned int first;
	struct perf_device *device;
	int refusal;
	bool once;
	bool join;
#ifndef PERF_DROPIN
	/* SIFIVE_TRACE_CONFIG_WAIT or _DROP: what records do while a sink has no room. */
	uint32_t room;
	uint32_t interval;
	const struct sifive_trace_slot *slots;
#endif /* PERF_DROPIN */
	volatile unsigned int used;
	struct perf_layout layout;
	struct sifive_trace_losses *lost;
	uint32_t joins;
	uint8_t index[PERF_CPU_NUMBERS];
	struct perf_thread thread[PERF_SLOTS];
	struct perf_lane lane[PERF_CHANNELS][PERF_CPUS] __attribute__((aligned(4096)));
};

/* A bit of perf_pool.open, in addition to PERF_OPEN_MANUAL and PERF_OPEN_HOOKS. */
#define PERF_OPEN_PAUSED	4u	/* records are not written, and count as lost */

/* The calling thread's slot; before the thread joins, a slot whose gate is not open. */
#ifdef PERF_AMALGAMATION
/* C23 allows only one declaration of a static thread-local variable, its definition. */
static struct perf_thread nobody;
static __thread struct perf_thread *perf_self PERF_THREAD_MODEL = &nobody;
#else
PERF_INTERNAL_DATA __thread struct perf_thread *perf_self PERF_THREAD_MODEL;
#endif

/* The pool, NULL before the first set-up. */
PERF_INTERNAL_DATA struct perf_pool *perf_pool;

/* Return whether a record is being written. */
PERF_INLINE bool perf_gate_closed(const struct perf_thread *thread)
{
	const uintptr_t gate = thread->gate;

	return gate && gate != (uintptr_t)thread;
}

#ifndef PERF_DROPIN
/* Side-car files are written. The one-file library defines this if its optional file exists. */
#define PERF_META
#endif /* PERF_DROPIN */

/* Maximum number of threads that the side-car file can list, including ended threads. */
#define PERF_JOINED	4096

#ifdef PERF_META
/**
 * perf_joined_add - list a thread that has obtained its first channel
 *
 * Called with the channels locked. Returns its place in the list, or -1 if the list is full.
 */
PERF_INTERNAL int perf_joined_add(const struct perf_thread *thread);

/* Called when a thread ends or has ended. A thread that calls this itself records its name. */
PERF_INTERNAL void perf_joined_end(const struct perf_thread *thread);
#else
#define perf_joined_add(thread)	(-1)
#define perf_joined_end(thread)	((void)(thread))
#endif

/* Create the pool, once per process, and empty it. */
PERF_INTERNAL int perf_pool_make(void);

/**
 * perf_thread_join - give the calling thread a slot, and a channel if one is available
 *
 * May be called anywhere, including signal handlers. Returns NULL if no slot is free, the
 * driver refuses, or the caller is a vfork() child in its parent's memory.
 */
PERF_INTERNAL struct perf_thread *perf_thread_join(void);

/**
 * perf_channel_take - obtain a channel for the calling thread: see perf_channel_have()
 * @wait:	whether to wait while the owners of all channels are writing records
 */
PERF_INTERNAL bool perf_channel_take(struct perf_thread *thread, bool wait);

/* Return a thread's channel. */
PERF_INTERNAL void perf_channel_give(struct perf_thread *thread);

/* Free all channels of a pool that no thread has joined. */
PERF_INTERNAL void perf_channels_reset(void);

/* Release the slots and channels of thread @tid, and of threads that ended without destructors. */
PERF_INTERNAL void perf_threads_bury(int32_t tid);

/**
 * perf_channel_have - ensure that the calling thread has a channel
 *
 * The thread's gate must be closed: until the gate opens, no other thread takes the channel away.
 * If the thread has no channel, it takes a channel, if necessary from another thread.
 */
PERF_INLINE bool perf_channel_have(struct perf_thread *thread)
{
	return PERF_LIKELY(!__atomic_load_n(&thread->claimed, __ATOMIC_ACQUIRE) &&
			   thread->channel >= 0) || perf_channel_take(thread, true);
}

/* Count a record that is lost because the calling thread could not join. */
PERF_INTERNAL void perf_thread_lose(void);

/* Called before vfork(): the child will run with the calling thread's slot. */
PERF_INTERNAL void perf_thread_lend(void);

/* Return whether the caller is a vfork() child that has neither executed a program nor exited. */
PERF_INTERNAL bool perf_thread_is_child(struct perf_thread *thread);

/* Called in a child created by fork(), which has no slot. */
PERF_INTERNAL void perf_thread_forget(void);

/* Block all signals for the calling thread; @old receives the previous mask. */
PERF_INTERNAL void perf_signals_block(uint64_t *old);
PERF_INTERNAL void perf_signals_restore(const uint64_t *old);

/* Sleep without a cancellation point, unlike nanosleep(). */
PERF_INTERNAL void perf_sleep(long ns);

/* Return whether a thread has ended. */
PERF_INTERNAL bool perf_thread_ended(int32_t pid, int32_t tid);

/**
 * perf_frame_left - check whether a function has been left
 * @then:	frame of the function
 * @now:	frame of the caller
 *
 * A signal handler that has interrupted the function is deeper in the stack, or on another stack.
 * In all other cases, the function was left, with longjmp() for example. If in doubt, returns
 * false.
 */
PERF_INTERNAL bool perf_frame_left(uintptr_t then, uintptr_t now);

/**
 * perf_thread_repair - restore the calling thread's access to the counters
 *
 * Called by a signal handler, after access was revoked. If access cannot be restored, the
 * record being written is lost.
 */
PERF_INTERNAL void perf_thread_repair(void);

/**
 * perf_thread_give_up - count as lost the record that holds a thread's gate
 * @goes_on:	set if the record's writer is running: do not wait for it or count the record again
 *
 * The next data in the record's lane marks the record as incomplete.
 */
PERF_INTERNAL void perf_thread_give_up(struct perf_thread *thread, bool goes_on);

/* Make the next record of each thread take the slow path. */
PERF_INTERNAL void perf_threads_alert(void);

/**
 * perf_threads_settle - wait until no other thread is writing a record
 *
 * Called after perf_threads_alert(), with the pool closed. Gives up a record that does not end in
 * time, because its thread has abandoned it or is not scheduled.
 */
PERF_INTERNAL void perf_threads_settle(void);

/* Return the counts of lost records. A child's counts are discarded. */
PERF_INTERNAL struct sifive_trace_losses *perf_losses(void);

/* The program may define its own getpid(), which may be instrumented. */
#define perf_process_id()	((int32_t)syscall(SYS_getpid))

PERF_INLINE int32_t perf_thread_id(void)
{
	return (int32_t)syscall(SYS_gettid);
}

/* Return whether several threads have used a channel. If so, its headers name them. */
PERF_INLINE bool perf_channel_shared(int channel)
{
	return perf_losses()->shared >> channel & 1;
}

/* Other processes may share the page. */
PERF_INLINE void perf_channel_share(uint32_t channels)
{
	__atomic_fetch_or(&perf_losses()->shared, channels, __ATOMIC_RELAXED);
}

/* Count a lost record. A macro, because __u64 and uint64_t are different types to a compiler. */
#define perf_lost_count(which)	__atomic_fetch_add(which, 1, __ATOMIC_RELAXED)

#endif /* PERF_THREAD_H */

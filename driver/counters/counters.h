/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session's counters: their sources, their assignment to events, access to them, and the records
 * that the kernel writes.
 */
#ifndef SFT_COUNTERS_H
#define SFT_COUNTERS_H

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <linux/sifive_trace.h>

#include "../hardware/hardware.h"

/* Numbers of the fixed counters; programmable counters follow. */
#define SFT_CYCLE	0
#define SFT_TIMESTAMP	1
#define SFT_INSTRET	2
#define SFT_FIXED	(BIT(SFT_CYCLE) | BIT(SFT_TIMESTAMP) | BIT(SFT_INSTRET))

struct tracepoint;

/**
 * struct sft_counter - a counter of the session
 * @index:	SBI counter index, the same on all CPUs of the session
 * @event:	SBI event index
 * @data:	a raw event's data
 * @flags:	SIFIVE_TRACE_EVENT_*
 * @counter:	counter number in user mode
 * @width:	width in bits
 * @turn:	the turn in which the counter counts the event, or SFT_ALWAYS
 */
struct sft_counter {
	unsigned long index;
	unsigned long event;
	u64 data;
	u32 flags;
	u32 counter;
	u32 width;
	u32 turn;
};

#define SFT_ALWAYS	(~0u)

/**
 * struct sft_counters - a session's counters
 * @cpus:	CPUs on which the session has counters
 * @per_thread:	joined threads have per-thread counts
 * @mask:	user-visible counters: bit n is counter n, bit 1 the timestamp
 * @sampled:	mask with one bit, for the event that perf's sampling event counts, or 0 if none
 * @firmware:	mask of the firmware counters, which have no CSR
 * @index:	SBI index of each firmware counter, by counter
 * @lost:	mask of the counters that have stopped counting on some CPU
 * @unreported:	reason for the first loss since the last report, or NULL
 * @unreported_counter: the counter that was lost first
 * @unreported_hart: id of the hart on which that counter was lost
 * @event:	event of each counter, by counter
 * @taken:	counters that were taken from firmware or perf
 * @count:	number of entries in @taken
 * @turns:	number of turns in a round, or 0 if each event has its own counter
 * @turn_ns:	running time of a turn in nanoseconds
 * @turning:	mask of the counters whose events take turns
 * @turned:	events that take turns, with their counters
 * @turned_count: number of entries in @turned
 */
struct sft_counters {
	struct cpumask cpus;
	bool per_thread;
	u32 mask;
	u32 sampled;
	u32 firmware;
	unsigned long index[SIFIVE_TRACE_MAX_COUNTERS];
	u32 lost;
	const char *unreported;
	u32 unreported_counter;
	u64 unreported_hart;
	struct sifive_trace_event event[SIFIVE_TRACE_MAX_COUNTERS];
	struct sft_counter taken[SIFIVE_TRACE_MAX_COUNTERS];
	unsigned int count;
	u32 turns;
	u32 turn_ns;
	u32 turning;
	struct sft_counter turned[SIFIVE_TRACE_MAX_COUNTERS];
	unsigned int turned_count;
};

/**
 * struct sft_choice - an assignment of counters to events
 * @cpus:	CPUs to count on
 * @known:	mask of the counters that have a CSR and that firmware provides
 * @readable:	mask of the counters that firmware delegates on all of @cpus
 * @index:	SBI index of each counter, by counter
 * @info:	SBI counter_info of each counter, by counter
 * @want:	requirements of each event, and the counter chosen for it
 * @possible:	mask of the counters that can count each event, or 0 if the event needs none
 * @count:	1 + the index of the last event that needs a counter
 * @turns:	number of turns in a round, or 0 if each event has its own counter
 */
struct sft_choice {
	const struct cpumask *cpus;
	u32 known;
	u32 readable;
	unsigned long index[SIFIVE_TRACE_MAX_COUNTERS];
	u32 info[SIFIVE_TRACE_MAX_COUNTERS];
	struct sft_counter want[SIFIVE_TRACE_MAX_COUNTERS];
	u32 possible[SIFIVE_TRACE_MAX_COUNTERS];
	unsigned int count;
	u32 turns;
};

/**
 * struct sft_sampling - records that the kernel writes
 * @set:	the SAMPLING request; sampling is off if interval and period are 0
 * @on:		the capture is running and the harts' streams have started
 * @full:	mask of the encoders whose sinks have no room for records, as their readers are too
 *		slow
 */
struct sft_sampling {
	struct sifive_trace_sampling set;
	bool on;
	u64 full;
};

/**
 * struct sft_switches - records of context switches
 * @set:	the SWITCHES request
 * @on:		the capture is running and records are being written
 */
struct sft_switches {
	struct sifive_trace_switches set;
	bool on;
};

/**
 * struct sft_pids - the processes that START records: its caller, or those that the caller named
 * @users:	number of references to the list
 * @named:	START's caller has named the processes, so they may belong to other users
 * @count:	number of processes
 * @process:	the processes, with references; constant after START has found them
 */
struct sft_pids {
	struct kref users;
	bool named;
	unsigned int count;
	struct pid *process[];
};

/**
 * struct sft_processes - processes whose threads are recorded
 * @entry:	the table, or NULL if the set is empty
 * @first:	one of the processes, with a reference, or NULL if the set is empty
 * @added:	number of processes that have been added to the table
 * @missing:	number of processes that did not fit into the table
 */
struct sft_processes {
	struct pid **entry;
	struct pid *first;
	u64 added;
	u64 missing;
};

/**
 * struct sft_following - sampling events that are being created
 * @set:	the SAMPLING request
 * @flags:	flags that @set must have for the events to be used
 * @processes:	the processes whose threads are followed
 * @own:	per-thread counts are enabled
 * @on_exec:	sampling begins at a followed thread's execve()
 * @of:		generation of the events, or 0 if not known yet
 * @list:	events created so far
 * @cpus:	CPUs for which events are being created
 */
struct sft_following {
	struct sifive_trace_sampling set;
	u32 flags;
	struct sft_pids *processes;
	bool own;
	bool on_exec;
	unsigned long of;
	struct list_head list;
	cpumask_var_t cpus;
};

/* Maximum number of probes in one call that adds or removes probes. */
#define SFT_PROBES	4

/**
 * struct sft_probe - a probe on a tracepoint
 * @name:	name of the tracepoint
 * @function:	function that the tracepoint calls
 * @first:	the probe runs before probes without this flag
 * @at:		the tracepoint while the probe is registered, or NULL
 */
struct sft_probe {
	const char *name;
	void *function;
	bool first;
	struct tracepoint *at;
};

/**
 * struct sft_probes - processes that START records; changes only while nothing is recorded
 * @processes:	the processes that START records, or NULL
 * @ids:	pid namespace of START's caller, which determines recorded thread ids, or NULL
 */
struct sft_probes {
	struct sft_pids *processes;
	struct pid_namespace *ids;
};

extern struct sft_counters sft_counters;
extern struct sft_probes sft_probes;
extern struct sft_sampling sft_sampling;
extern struct sft_switches sft_switches;

/* Return the mask of the counters in the kernel's records. */
static inline u32 sft_counters_recorded(void)
{
	return sft_counters.mask | sft_counters.sampled | sft_counters.firmware;
}

/* firmware.c */
bool sft_sbi_available(void);
unsigned int sft_sbi_counters(void);
bool sft_sbi_exists(unsigned long index);
unsigned long sft_sbi_info(unsigned long index);
unsigned long sft_sbi_firmware(unsigned int n);
bool sft_sbi_read(unsigned long index, u64 *value);
long sft_sbi_take(const struct sft_counter *c, u64 value);
bool sft_sbi_runs(unsigned long index);
void sft_sbi_release(unsigned long index);
bool sft_csr_read(u32 counter, u64 *value);

/* reserve.c */
int sft_reserve_take(unsigned int cpu, const struct sft_counter *c);
void sft_reserve_cpu_online(unsigned int cpu);
void sft_reserve_release(void);

/* pinned.c */
struct perf_event;
struct perf_event *sft_idle_event(unsigned int cpu);
int sft_pinned_take(unsigned int cpu, const struct sft_counter *c, u64 value);
bool sft_pinned_counts(unsigned int cpu, const struct sft_counter *c);
void sft_pinned_release(unsigned int cpu, u32 counter);

/* perf_private.c */
bool sft_perf_known(void);
bool sft_perf_unknown(void);
bool sft_perf_withhold(struct perf_event *event, unsigned long index);
void sft_perf_allow(struct perf_event *event, unsigned long index);
bool sft_perf_counts_on(const struct perf_event *event, unsigned long index);
void sft_perf_start_at(struct perf_event *event, u64 value);
bool sft_perf_fixed_for_all(const struct perf_event *event);
bool sft_perf_active(const struct perf_event *event);
bool sft_perf_exited(const struct perf_event *event);
bool sft_perf_failed(const struct perf_event *event);
bool sft_perf_cpu_gone(const struct perf_event *event);
u64 sft_perf_counted(struct perf_event *event);
unsigned int sft_perf_count_failed(struct perf_event *event);

/* choose.c */
const char *sft_counter_name(u32 counter);
u64 sft_hart_of(unsigned int cpu);
bool sft_is_timestamp(const struct sifive_trace_event *ev);
bool sft_is_firmware(const struct sifive_trace_event *ev);
int sft_choose_unused(const struct sifive_trace_event *ev, u32 at,
		      struct sft_why *why);
int sft_choose_check(const struct sifive_trace_event *ev, u32 at,
		     struct sft_why *why);
void sft_choose_begin(struct sft_choice *ch, const struct cpumask *cpus);
int sft_choose_event(struct sft_choice *ch, const struct sifive_trace_event *ev,
		     u32 at, struct sft_why *why);
int sft_choose_counters(struct sft_choice *ch, u32 *failed, struct sft_why *why);
int sft_choose_turns(struct sft_choice *ch, u32 *failed, struct sft_why *why);

/* turns.c */
/**
 * struct sft_turn - the turns of a thread, or of a hart
 * @period:	number of the current round (upper bits) and turn (lower bits)
 * @left:	nanoseconds left in the turn, or 0 if the turn has not begun
 */
struct sft_turn {
	u64 period;
	s64 left;
};

void sft_turns_begin(struct sft_turn *own, const u64 *offset);
void sft_turns_end(void);
void sft_turns_forget(void);
void sft_turns_init(void);

/* counters.c */
bool sft_counters_pinned(void);
bool sft_counters_read(u32 counter, u64 *value);
void sft_counters_note(u32 counter, u64 value);
u32 sft_counters_available(void);
int sft_counters_take(struct sifive_trace_counters *arg, struct sft_why *why);
int sft_counters_query(struct sifive_trace_query *query, struct sft_why *why);
bool sft_counters_report(struct sft_why *why);
void sft_counters_check(struct sft_why *why);
void sft_counters_cpu_offline(unsigned int cpu, struct sft_why *why);
void sft_counters_cpu_online(unsigned int cpu);
void sft_counters_resume(void);
void sft_counters_release(void);

/* access.c */
#define SFT_SLOTS_SIZE		PAGE_ALIGN(SIFIVE_TRACE_THREADS * \
					   sizeof(struct sifive_trace_slot))
void sft_access_start(u32 mask);
void sft_access_suspend(void);
void sft_access_resume(void);
void sft_access_stop(void);
void sft_access_cpu_offline(unsigned int cpu);
void sft_access_cpu_online(unsigned int cpu);
void sft_access_release(void);
struct sft_thread;
struct sft_thread *sft_access_new(void);
int sft_access_join(struct sft_thread *fresh, u32 *slot, struct sft_why *why);
void sft_access_discard(struct sft_thread *fresh);
int sft_access_prepare(bool per_thread, struct sft_why *why);
void sft_access_leave(void);
struct page *sft_access_page(unsigned long offset);
int sft_access_init(void);
void sft_access_exit(void);

/* own.c */
bool sft_own_take(u64 *count);
struct perf_event *sft_own_event(unsigned int cpu);
int sft_own_make_table(void);
int sft_own_only(const struct sft_pids *processes, struct sft_why *why);
void sft_own_reset(void);
void sft_own_begin(unsigned int cpu);
void sft_own_end(void);
void sft_own_cpu_offline(unsigned int cpu);
void sft_own_exit(void);

/* rule.c */
void sft_rule_restore(const struct cpumask *cpus);

/* sampling.c */
bool sft_sampling_is_set(void);
int sft_sampling_valid(struct sifive_trace_sampling *arg, struct sft_why *why);
int sft_sampling_set(struct sifive_trace_sampling *arg, struct sft_why *why);
int sft_sampling_own(const struct sft_pids *processes, struct sft_why *why);
int sft_sampling_try(const struct sifive_trace_sampling *set, struct sft_why *why);
void sft_sampling_rewind(void);
void sft_sampling_start(void);
int sft_sampling_prepare(struct sft_following *to, u32 flags, bool on_exec);
bool sft_sampling_wanted(struct sft_following *to);
int sft_sampling_make(struct sft_following *to);
int sft_sampling_adopt(struct sft_following *to, int err, struct sft_why *why);
void sft_sampling_finish(struct sft_following *to);
void sft_sampling_stop(void);
void sft_sampling_cpu_offline(unsigned int cpu);
void sft_sampling_cpu_online(struct sft_encoder *e);
void sft_sampling_suspend(void);
void sft_sampling_check(struct sft_why *why);
void sft_sampling_unfollow(void);
void sft_sampling_release(void);
void sft_sampling_clear(void);
void sft_sampling_status(struct sifive_trace_status *status);
void sft_sampling_exit(void);

/*
 * Return whether the kernel may store to an encoder whose stream ends in @owner's sink. It must
 * not if the sink is full or has failed, or if stores to the sink must wait.
 */
static inline bool sft_sampling_has_room(const struct sft_encoder *e,
					 const struct sft_component *owner)
{
	return !(READ_ONCE(sft_sampling.full) & BIT_ULL(e->index)) &&
	       sft_component_enabled(owner);
}

/* probes.c */
int sft_probes_add(struct sft_probe *probe, unsigned int count, struct sft_why *why);
int sft_probes_check(const struct sft_probe *probe, unsigned int count, const char *call,
		     struct sft_why *why);
void sft_probes_remove(struct sft_probe *probe, unsigned int count, bool (*wanted)(void));
void sft_probes_forget(void);
void sft_probes_own(struct sft_pids *processes);

/* Return a thread's id in the pid namespace of START's caller, or 0 if it has no id there. */
static inline pid_t sft_probes_id(struct task_struct *task)
{
	struct pid_namespace *ids = READ_ONCE(sft_probes.ids);

	if (likely(ids == &init_pid_ns))
		return task->pid;
	/* No namespace is set before the first START, or while START replaces it. */
	return ids ? task_pid_nr_ns(task, ids) : 0;
}

/* processes.c */
struct sft_pids *sft_pids_new(unsigned int most);
struct sft_pids *sft_pids_get(struct sft_pids *pids);
void sft_pids_put(struct sft_pids *pids);
bool sft_processes_find(const struct sft_processes *set, const struct pid *process);

/*
 * Return whether a process is in the set. The set usually consists of one process, which needs no
 * lookup in the table. Called in a probe or within an RCU read-side critical section; @process may
 * be NULL only if the set is not empty.
 */
static __always_inline bool sft_processes_have(const struct sft_processes *set,
					       const struct pid *process)
{
	return process == READ_ONCE(set->first) ||
	       (READ_ONCE(set->added) > 1 && sft_processes_find(set, process));
}

void sft_processes_forked(struct sft_processes *set, struct task_struct *parent,
			  struct task_struct *child);
int sft_processes_own(struct sft_processes *set, const struct sft_pids *processes,
		      struct sft_why *why);
void sft_processes_forget(struct sft_processes *set);
void sft_processes_flush(void);

/* faults.c */
int sft_faults_add(perf_overflow_handler_t handler, struct sft_why *why);
bool sft_faults_seen(unsigned int cpu);
void sft_faults_end(unsigned int cpu);
void sft_faults_remove(bool (*wanted)(void));

/* instruction.c */
int sft_instruction_prepare(struct sft_why *why);
int sft_instruction_own(const struct sft_pids *processes, bool on_exec, struct sft_why *why);
void sft_instruction_start(void);
void sft_instruction_stop(void);
void sft_instruction_cpu_offline(unsigned int cpu);
void sft_instruction_cpu_online(struct sft_encoder *e);
void sft_instruction_release(void);
void sft_instruction_clear(void);
void sft_instruction_status(struct sifive_trace_instruction_status *status);
void sft_instruction_exit(void);

/* switches.c */
bool sft_switches_is_set(void);
int sft_switches_probe(u32 flags, struct sft_why *why);
int sft_switches_own(const struct sft_pids *processes, struct sft_why *why);
int sft_switches_set(const struct sifive_trace_switches *arg, struct sft_why *why);
void sft_switches_start(void);
void sft_switches_stop(void);
void sft_switches_cpu_offline(unsigned int cpu);
void sft_switches_cpu_online(struct sft_encoder *e);
bool sft_switches_undo(const struct sifive_trace_switches *arg);
void sft_switches_release(void);
void sft_switches_clear(void);
void sft_switches_status(struct sifive_trace_status *status);
void sft_switches_exit(void);

#endif /* SFT_COUNTERS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The session: ownership and use of the hardware and the counters, and the interface to programs.
 *
 * A machine has one trace system: encoders and funnels are platform devices that can be bound and
 * unbound, and /dev/sifive-trace represents all of them. The system's lock, in struct sft_hardware,
 * guards all state of the driver. User memory is never faulted in while the lock is held, because
 * another program may delay the fault. A CPU that goes offline takes the lock, so while the lock
 * is held, CPUs with counters of the session remain online.
 *
 * Other locks, in the order in which they are taken: probes.c's probe_lock; a file's read_lock;
 * snapshot.c's copy_lock, under which buffers are freed; sampling.c's follow_lock and chardev.c's
 * sink_nodes_lock; the system's lock; mapping.c's map_lock, the only lock that a page fault takes,
 * and waiting.c's lock, which guards the data that the thread in waiting.c reads. That thread takes
 * only these two locks, because a reader that is not running may hold other locks. The innermost
 * locks are members.c's channels_lock and processes.c's lock, a raw spinlock that a probe takes.
 */
#ifndef SFT_SESSION_H
#define SFT_SESSION_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include <linux/sifive_trace.h>

#include "../counters/counters.h"
#include "../hardware/hardware.h"

struct file;
struct sifive_trace_join;

/* Value of sft_file.sink for the node that reads all sinks. */
#define SFT_ALL_SINKS	(-1)

/**
 * struct sft_file - an open node
 * @generation:	generation of the hardware when the file was opened
 * @user:	effective user that opened the file
 * @perfmon:	the opener had CAP_PERFMON or CAP_SYS_ADMIN
 * @sink:	number of the sink that the file reads, or SFT_ALL_SINKS
 * @capture:	number of the capture that the file has begun to read, as counted by
 *		sft_session.captures; 0 = none
 * @message:	text of the file's last error
 * @mapping:	address space of the file's mappings of stimulus pages
 * @read_lock:	lock that allows one read at a time; taken before the system's lock
 * @snapshot:	number of the ring's copy that the file reads, if the ring was running when
 *		reading began; 0 = none
 * @joined:	number of the capture that the file has joined as a member, 0 = none; written under
 *		the system's lock and mapping.c's lock
 * @member:	number of the file among the members of that capture
 * @process:	the process that joined, or NULL
 * @channels: the file's channels, under members.c's lock
 * @channels_of: the capture that @channels belong to
 * @pages:	number of the file's mappings
 * @nowhere:	memory that is mapped in place of the pages of an ended session, or NULL
 * @requests_of: the capture that @requests_seen belongs to
 * @requests_seen: number of requests when the file was opened or last looked for requests
 */
struct sft_file {
	u64 generation;
	kuid_t user;
	bool perfmon;
	int sink;
	u64 capture;
	char message[SIFIVE_TRACE_MESSAGE_LEN];
	struct address_space *mapping;
	struct mutex read_lock;	/* snapshot */
	u64 snapshot;
	u64 joined;
	u32 member;
	struct pid *process;
	u32 channels;
	u64 channels_of;
	atomic_t pages;
	void *nowhere;
	u64 requests_of;
	u64 requests_seen;
};

/**
 * struct sft_state - state of the capture
 * @watermark:	number of unread bytes that make a running capture readable, 0 = none
 * @rewinds:	number of times that START has dropped the captured data
 * @asleep:	the capture is stopped for system suspend, to be restarted after system resume
 * @lost:	a sink lost its data during system suspend, so START needs REWIND
 * @broken:	components did not resume, so START fails
 * @paused:	PAUSE stopped the capture, to be restarted when the pause ends
 * @paused_at:	time of the last pause, in nanoseconds of CLOCK_MONOTONIC
 * @pauses:	number of pauses
 * @paused_ns:	total length of the pauses, excluding the current one
 */
struct sft_state {
	u64 watermark;
	u64 rewinds;
	bool asleep;
	bool lost;
	bool broken;
	bool paused;
	u64 paused_at;
	u64 pauses;
	u64 paused_ns;
};

/**
 * struct sft_session - the session that holds the hardware; under the system's lock
 * @state:	state of the session's capture
 * @owner:	the file that holds the session, NULL = free
 * @holder:	process that configured the session
 * @user:	owner of the capture: effective user of the process that configured it
 * @generation:	number that changes when a component is added or removed; files opened before such a
 *		change fail with ENODEV
 * @captures:	number of CONFIGs; a change shows a reader that there is a new capture
 * @sleeping:	suspend or shutdown has begun, so START fails
 */
struct sft_session {
	struct sft_state state;
	struct sft_file *owner;
	struct pid *holder;
	kuid_t user;
	u64 generation;
	u64 captures;
	bool sleeping;
};

extern struct sft_session sft;

/* capture.c */
int sft_capture_reset(struct sft_why *why);
int sft_capture_program(int (*program)(struct sft_sink *s, struct sft_why *why),
			struct sft_why *why);
int sft_capture_start_funnels(struct sft_why *why);
int sft_capture_stop_funnels(struct sft_why *why);
void sft_capture_quiesce(void);
int sft_capture_may_start(bool rewind, struct sft_why *why);
int sft_capture_restore(struct sft_why *why);
int sft_capture_start(bool rewind, struct sft_why *why);
int sft_capture_stop(struct sft_why *why);
bool sft_capture_on(void);
void sft_capture_release(void);
void sft_capture_free(void);

/* config.c */
int sft_capture_config(struct sifive_trace_config *config, struct sft_why *why);

/* interrupt.c */
void sft_capture_cpu_offline(unsigned int cpu, struct sft_why *why);
void sft_capture_end_absent(void);
struct sft_encoder *sft_capture_ended(unsigned int cpu);
void sft_capture_cpu_online(struct sft_encoder *e, struct sft_why *why);
void sft_capture_suspend(struct sft_why *why);
void sft_capture_resume(struct sft_why *why);
void sft_capture_freeze(void);
void sft_capture_thaw(void);

/* contents.c */
bool sft_capture_full(int sink);
void sft_capture_describe(struct sifive_trace_sink *out);
void sft_capture_describe_clock(struct sifive_trace_sink *out);
u64 sft_capture_size(int sink);
u64 sft_capture_bytes(int sink);
ssize_t sft_capture_copy(int sink, void *to, u64 offset, size_t count,
			 struct sft_why *why);
int sft_capture_readable(struct sft_why *why);

/* pause.c */
int sft_capture_pause(struct sft_why *why);
int sft_capture_unpause(struct sft_why *why);
void sft_capture_end_pause(void);
void sft_capture_pauses(struct sifive_trace_status *status);

/* request.c */
int sft_call_request(struct sft_file *file, void *arg, struct sft_why *why);
void sft_request_open(struct sft_file *file);
bool sft_request_pending(const struct sft_file *file);

/* session.c */
bool sft_stale(const struct sft_file *file);
bool sft_may_read(const struct sft_file *file);
int sft_refuse_reader(struct sft_why *why);
bool sft_may_steer(void);
void sft_session_take(struct sft_file *file);
void sft_session_release(void);
int sft_session_init(void);
void sft_session_exit(void);

/* threads.c */
int sft_thread_allowed(const struct sft_file *file, struct sft_why *why);
int sft_thread_join(struct sft_file *file, u32 *slot, struct sft_why *why);
int sft_threads_follow(struct sft_file *file, bool on_exec, struct sft_why *why);
void sft_threads_resume(void);
void sft_threads_exit(void);

/* describe.c */
int sft_call_info(struct sft_file *file, void *arg, struct sft_why *why);
int sft_call_encoder(struct sft_file *file, void *arg, struct sft_why *why);
int sft_call_status(struct sft_file *file, void *arg, struct sft_why *why);
int sft_call_sink(struct sft_file *file, void *arg, struct sft_why *why);
int sft_call_losses(struct sft_file *file, void *arg, struct sft_why *why);
void sft_check_counters(struct sft_why *why);

/* ioctl.c */
void sft_keep_message(struct sft_file *file, const struct sft_why *why);
long sft_ioctl(struct file *filp, unsigned int cmd, unsigned long user);

/* mapping.c */
void sft_mapping_update(void);
void sft_mapping_release(void);
void sft_mapping_join(struct sft_file *file);
void sft_mapping_renew(struct sft_file *file);
int sft_mapping_attach(struct sft_file *file, struct sifive_trace_attach *attach,
		       struct sifive_trace_attach __user *uarg);
void sft_mapping_clear(void);
void sft_mapping_losses(struct sifive_trace_losses *losses);
void sft_mapping_gate(bool on);
void sft_mapping_hold(u64 full, u64 held);
void sft_mapping_set_idle(void);
void sft_mapping_set_busy(void);
bool sft_mapping_idle(void);
u64 sft_mapping_held(void);
u64 sft_mapping_full(void);
void sft_mapping_waits(struct sifive_trace_status *status);
int sft_mapping_init(void);
void sft_mapping_exit(void);
int sft_mmap(struct file *filp, struct vm_area_struct *vma);

/* members.c */
void sft_members_reset(void);
int sft_members_check(u32 stimulus, struct sft_why *why);
bool sft_is_member(const struct sft_file *file);
bool sft_is_descendant(void);
void sft_member_return(struct sft_file *file);
void sft_member_free(struct sft_file *file);
int sft_member_join(struct sft_file *file, struct sifive_trace_join *join,
		    struct sft_why *why);

/* drain.c */
bool sft_drain_on(void);
int sft_drain_config(struct sft_why *why);
void sft_drain_start(void);
void sft_drain_stop(void);
void sft_drain_rewind(void);
void sft_drain_lose(unsigned int i);
void sft_drain_clear(void);
void sft_drain_exit(void);
u64 sft_drain_crowded(unsigned long *us, u64 *held);
void sft_drain_look(void);
void sft_drain_resume(void);

/* drain_read.c */
ssize_t sft_drain_read(struct sft_file *file, char __user *to, size_t count,
		       struct sft_why *why);
void sft_drain_leave(const struct sft_file *file);
u64 sft_drain_unread(unsigned int i);
bool sft_drain_ready(int sink);
void sft_drain_describe(struct sifive_trace_sink *out);

/* waiting.c */
void sft_waiting_watch(bool on);
void sft_waiting_wake(void);
void sft_waiting_cpu_offline(void);
int sft_waiting_init(void);
void sft_waiting_exit(void);

/* watch.c */
void sft_watch_start(void);
void sft_watch_exit(void);

/* snapshot.c */
void sft_lock_buffers(void);
void sft_unlock_buffers(void);
int sft_snapshot_take(struct sft_file *file, struct sft_why *why);
ssize_t sft_snapshot_read(struct sft_file *file, void *to, u64 offset, size_t count,
			  struct sft_why *why);
void sft_snapshot_leave(struct sft_file *file);
void sft_snapshot_clear(void);

/* chardev.c */
bool sft_is_device(const struct file *filp);
void sft_wake_pollers(void);
void sft_chardev_update(void);
int sft_chardev_init(void);
void sft_chardev_exit(void);

#endif /* SFT_SESSION_H */

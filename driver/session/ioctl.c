// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of include/uapi/linux/sifive_trace.h. They work on copies of their arguments:
 * user memory is read before the system is locked and written after it is unlocked.
 */

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/pid.h>
#include <linux/security.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <linux/sifive_trace_join.h>
#include <linux/sifive_trace_request.h>

#include "session.h"

/*
 * Minimum size of a sink with WAIT, and with DROP. After a sink has become full, some time passes
 * before programs are informed that they must drop records. Until then, their stores do not wait.
 */
#define LEAST_WAIT	SZ_64K
#define LEAST_DROP	SZ_1M

/* Check the flags that determine what happens when a drained sink has no room. */
static int check_room(const struct sifive_trace_config *config, struct sft_why *why)
{
	const u32 both = SIFIVE_TRACE_CONFIG_WAIT | SIFIVE_TRACE_CONFIG_DROP;
	const bool wait = config->flags & SIFIVE_TRACE_CONFIG_WAIT;
	const u32 least = wait ? LEAST_WAIT : LEAST_DROP;
	const char *what = wait ? "WAIT" : "DROP";

	if (!(config->flags & both))
		return 0;
	if ((config->flags & both) == both)
		return sft_fail(why, -EINVAL, "WAIT and DROP cannot be combined");
	if (!(config->flags & SIFIVE_TRACE_CONFIG_DRAIN))
		return sft_fail(why, -EINVAL, "%s needs DRAIN", what);
	if (config->flags & SIFIVE_TRACE_CONFIG_OVERFLOW)
		return sft_fail(why, -EINVAL, "%s and OVERFLOW cannot be combined", what);
	if (config->buffer < least)
		return sft_fail(why, -EINVAL, "%s needs a buffer of %u bytes or more", what,
				least);
	return 0;
}

static int check_config(const struct sifive_trace_config *config,
			struct sft_why *why)
{
	const u32 flags = SIFIVE_TRACE_CONFIG_RING | SIFIVE_TRACE_CONFIG_OVERFLOW |
			  SIFIVE_TRACE_CONFIG_NO_TIMESTAMP | SIFIVE_TRACE_CONFIG_DRAIN |
			  SIFIVE_TRACE_CONFIG_WAIT | SIFIVE_TRACE_CONFIG_DROP;
	const u32 both = SIFIVE_TRACE_CONFIG_RING | SIFIVE_TRACE_CONFIG_DRAIN;
	unsigned int encoders = sft_topology_count(&sft_hw.encoders);
	int ret;

	if (config->flags & ~flags)
		return sft_fail(why, -EINVAL, "unknown flags %#x", config->flags & ~flags);
	if (config->sink != SIFIVE_TRACE_SINK_SBA &&
	    config->sink != SIFIVE_TRACE_SINK_SRAM)
		return sft_fail(why, -EINVAL, "sink %u is neither SBA nor SRAM", config->sink);
	if ((config->flags & both) == both)
		return sft_fail(why, -EINVAL, "RING and DRAIN cannot be combined");
	if (config->flags & SIFIVE_TRACE_CONFIG_DRAIN && config->sink != SIFIVE_TRACE_SINK_SBA)
		return sft_fail(why, -EINVAL, "SRAM cannot be drained: use SBA");
	if (config->flags & SIFIVE_TRACE_CONFIG_DRAIN && config->buffer < SZ_4K)
		return sft_fail(why, -EINVAL, "draining needs a buffer of 4096 bytes or more");
	ret = check_room(config, why);
	if (ret)
		return ret;
	if (config->prescale > 3)
		return sft_fail(why, -EINVAL, "prescale is %u, not 0 to 3", config->prescale);
	if (!config->channels && !config->instruction.mode)
		return sft_fail(why, -EINVAL, "no channel selected: set bits in channels");
	if (config->sink == SIFIVE_TRACE_SINK_SBA ? !config->buffer : !!config->buffer)
		return sft_fail(why, -EINVAL, "an SBA buffer needs a size; with SRAM it must be 0");
	if (config->buffer > SIZE_MAX - SZ_4K)
		return sft_fail(why, -EINVAL, "invalid buffer size: %llu bytes", config->buffer);
	if (encoders < SIFIVE_TRACE_MAX_ENCODERS && config->encoders >> encoders)
		return sft_fail(why, -EINVAL,
				"there are only %u encoders, but mask %#llx selects others",
				encoders, config->encoders);
	return sft_instruction_valid(config, why);
}

/* Check the caller, not the file, because the caller may have received the descriptor. */
static int need_perfmon(const char *what, struct sft_why *why)
{
	return perfmon_capable() ? 0 :
	       sft_fail(why, -EPERM, "%s needs CAP_PERFMON or CAP_SYS_ADMIN", what);
}

/* Check that this file may take or change the session. */
static int may_configure(struct sft_file *file, struct sft_why *why)
{
	int ret = need_perfmon("configuring", why);

	if (ret)
		return ret;
	if (sft.owner && sft.owner != file)
		return sft_fail(why, -EBUSY, "process %d holds the trace hardware",
				pid_vnr(sft.holder));
	return 0;
}

static int ioctl_config(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_config *config = arg;
	int ret;

	ret = may_configure(file, why);
	if (!ret)
		ret = check_config(config, why);
	if (ret)
		return ret;
	if (config->instruction.mode && security_locked_down(LOCKDOWN_PERF))
		return sft_fail(why, -EPERM, "kernel lockdown forbids instruction trace");
	if (sft.sleeping)
		return sft_fail(why, -EBUSY, "the system is suspending or shutting down");
	if (sft_capture_on())
		return sft_fail(why, -EBUSY, "the capture is running: STOP first");
	ret = sft_route_check(config, why);
	if (ret)
		return ret;
	sft_session_release();
	ret = sft_capture_config(config, why);
	if (ret)
		return ret;
	sft_session_take(file);
	file->capture = 0;
	return 0;
}

/*
 * Register the probes for instruction trace. Called without the system's lock, because registering
 * takes other locks.
 */
static int prepare_instruction(struct sft_file *file, void *arg, void __user *uarg,
			       struct sft_why *why)
{
	const struct sifive_trace_config *config = arg;
	int ret;

	ret = config->instruction.mode ? sft_instruction_prepare(why) : 0;
	if (!ret)
		return 0;
	sft_lock_buffers();
	if (sft.owner == file) {
		sft_session_release();
		sft_capture_free();
	}
	sft_unlock_buffers();
	return ret;
}

/* Check that the file owns the session. */
static int need_session(struct sft_file *file, struct sft_why *why)
{
	return sft.owner == file ? 0 :
	       sft_fail(why, -ENXIO, "no session on this descriptor: call CONFIG first");
}

/*
 * Check that the caller may start and stop the hardware; the descriptor does not
 * suffice.
 */
static int need_steering(struct sft_file *file, struct sft_why *why)
{
	int ret = need_session(file, why);

	if (ret || sft_may_steer())
		return ret;
	return sft_fail(why, -EPERM,
			"another process's session: CAP_PERFMON or CAP_SYS_ADMIN is needed");
}

#define COUNTERS_FLAGS	(SIFIVE_TRACE_COUNTERS_PER_THREAD | SIFIVE_TRACE_COUNTERS_TURNS)

static int ioctl_counters(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_counters *counters = arg;
	int ret = need_session(file, why) ?: need_perfmon("taking counters", why);

	if (ret)
		return ret;
	if (counters->flags & ~COUNTERS_FLAGS)
		return sft_fail(why, -EINVAL, "unknown flags %#x",
				counters->flags & ~COUNTERS_FLAGS);
	if (counters->count > SIFIVE_TRACE_MAX_COUNTERS)
		return sft_fail(why, -EINVAL, "%u events are %u too many: %u is the limit",
				counters->count,
				counters->count - SIFIVE_TRACE_MAX_COUNTERS,
				SIFIVE_TRACE_MAX_COUNTERS);
	if (sft.sleeping)
		return sft_fail(why, -EBUSY, "the system is suspending or shutting down");
	if (sft_capture_on())
		return sft_fail(why, -EBUSY, "the capture is running: STOP first");
	if (counters->count)
		ret = sft_access_prepare(counters->flags & SIFIVE_TRACE_COUNTERS_PER_THREAD, why);
	if (ret)
		return ret;
	ret = sft_counters_take(counters, why);
	sft_mapping_update();
	return ret;
}

/*
 * COUNTERS lets the calling thread read the counters. Join first, so that a failure leaves the
 * session's current counters in place.
 */
static int join_for_counters(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_counters *counters = arg;
	u32 slot;

	counters->mask = 0;
	counters->failed = ~0u;
	return counters->count ? sft_thread_join(file, &slot, why) : 0;
}

static int ioctl_thread(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_thread *thread = arg;
	int ret;

	thread->slot = ~0u;
	if (thread->flags & ~SIFIVE_TRACE_THREAD_LEAVE || thread->reserved)
		return sft_fail(why, -EINVAL, "unknown flags %#x", thread->flags);
	ret = sft_thread_allowed(file, why);
	if (ret)
		return ret;
	thread->id = task_pid_nr_ns(current, ns_of_pid(sft.holder));
	if (thread->flags & SIFIVE_TRACE_THREAD_LEAVE)
		sft_access_leave();
	return 0;
}

static int join_thread(struct sft_file *file, void *arg, void __user *uarg,
		       struct sft_why *why)
{
	struct sifive_trace_thread *thread = arg;

	return thread->flags & SIFIVE_TRACE_THREAD_LEAVE ?
	       0 : sft_thread_join(file, &thread->slot, why);
}

static int ioctl_join(struct sft_file *file, void *arg, struct sft_why *why)
{
	return sft_member_join(file, arg, why);
}

static int ioctl_event(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_query *query = arg;
	int ret = need_perfmon("trying counters", why);

	if (ret)
		return ret;
	if (query->flags || query->reserved)
		return sft_fail(why, -EINVAL,
				"unknown flags %#x, or reserved field is %#x, not 0",
				query->flags, query->reserved);
	return sft_counters_query(query, why);
}

static int may_sample(struct sft_file *file, struct sft_why *why)
{
	int ret = need_session(file, why) ?: need_perfmon("sampling", why);

	if (ret)
		return ret;
	if (sft.sleeping)
		return sft_fail(why, -EBUSY, "the system is suspending or shutting down");
	if (sft_capture_on())
		return sft_fail(why, -EBUSY, "the capture is running: STOP first");
	return 0;
}

static int ioctl_sampling(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_sampling *sampling = arg;
	int ret = may_sample(file, why) ?: sft_sampling_valid(sampling, why);

	if (ret || !(sampling->interval || sampling->period))
		return ret;
	return sft_members_check(sampling->channel, why);
}

/*
 * Called without the system's lock, because perf takes its own locks. Only a
 * setting that perf accepts is stored.
 */
static int try_sampling(struct sft_file *file, void *arg, void __user *uarg,
			struct sft_why *why)
{
	int ret = sft_sampling_try(arg, why);

	if (ret)
		return ret;
	sft_lock();
	ret = sft_stale(file) ? -ENODEV : ioctl_sampling(file, arg, why);
	if (!ret)
		ret = sft_sampling_set(arg, why);
	sft_unlock();
	return ret;
}

#define SWITCHES_FLAGS	(SIFIVE_TRACE_SWITCHES_ALL | SIFIVE_TRACE_SWITCHES_CHILDREN | \
			 SIFIVE_TRACE_SWITCHES_WAKEUPS | SIFIVE_TRACE_SWITCHES_SYSCALLS | \
			 SIFIVE_TRACE_SWITCHES_FAULTS)

static int ioctl_switches(struct sft_file *file, void *arg, struct sft_why *why)
{
	const struct sifive_trace_switches *switches = arg;
	int ret = may_sample(file, why);

	if (ret)
		return ret;
	if (switches->flags & ~SWITCHES_FLAGS || switches->reserved)
		return sft_fail(why, -EINVAL,
				"unknown flags %#x, or reserved field is %#x, not 0",
				switches->flags, switches->reserved);
	if (switches->channel < 32)
		ret = sft_members_check(switches->channel, why);
	return ret ?: sft_switches_set(switches, why);
}

/* Called without the system's lock, because registering a probe takes other locks. */
static int probe_switches(struct sft_file *file, void *arg, void __user *uarg,
			  struct sft_why *why)
{
	const struct sifive_trace_switches *switches = arg;
	struct sifive_trace_switches before;
	struct sft_why ignored = {};
	int ret;

	if (switches->channel == SIFIVE_TRACE_SWITCHES_OFF)
		return 0;
	ret = sft_switches_probe(switches->flags, why);
	if (!ret)
		return 0;
	sft_lock();
	if (sft.owner == file && sft_switches_undo(switches))
		sft_keep_message(file, why);
	before = sft_switches.set;
	sft_unlock();
	/* Register the previous setting's probes again, because they may have been removed. */
	if (before.channel != SIFIVE_TRACE_SWITCHES_OFF)
		sft_switches_probe(before.flags, &ignored);
	return ret;
}

/* A rewind also discards the data captured before a pause. */
static int start(bool rewind, struct sft_why *why)
{
	int ret;

	if (!rewind && sft.state.paused)
		return sft_capture_unpause(why);
	ret = sft_capture_start(rewind, why);
	if (!ret)
		sft_capture_end_pause();
	return ret;
}

/**
 * struct start - START's argument
 * @arg:	the argument as the caller passed it
 * @processes:	the processes to record
 */
struct start {
	struct sifive_trace_start arg;
	struct sft_pids *processes;
};

#define START_FLAGS	(SIFIVE_TRACE_START_REWIND | SIFIVE_TRACE_START_ON_EXEC)

static int check_start(const struct sifive_trace_start *start, struct sft_why *why)
{
	if (start->flags & ~START_FLAGS)
		return sft_fail(why, -EINVAL, "unknown flags %#x", start->flags);
	if (start->reserved || (start->processes && !start->count))
		return sft_fail(why, -EINVAL, "reserved is %#x, or processes has no count",
				start->reserved);
	if (start->count > SIFIVE_TRACE_MAX_PROCESSES)
		return sft_fail(why, -EINVAL, "%u processes are %u too many: %u is the limit",
				start->count, start->count - SIFIVE_TRACE_MAX_PROCESSES,
				SIFIVE_TRACE_MAX_PROCESSES);
	if (start->count && start->flags & SIFIVE_TRACE_START_ON_EXEC)
		return sft_fail(why, -EINVAL, "ON_EXEC is for the caller: do not name processes");
	return 0;
}

static int check_process(s32 id, const struct task_struct *task, bool named, struct sft_why *why)
{
	if (id < 0)
		return sft_fail(why, -EINVAL, "%d is not a process id", id);
	if (task && task->flags & PF_KTHREAD)
		return sft_fail(why, -EINVAL,
				"%d is a kernel thread: record everything that runs instead", id);
	if (task && named)
		return sft_fail(why, -EINVAL, "process %d is named twice", id);
	return task ? 0 : -ESRCH;
}

/* Add a process to the list. Returns -ESRCH if the process has ended. */
static int add_process(struct sft_pids *to, s32 id, struct sft_why *why)
{
	struct pid *process = find_get_pid(id);
	struct task_struct *task = get_pid_task(process, PIDTYPE_TGID);
	unsigned int i;
	int ret;

	for (i = 0; i < to->count && to->process[i] != process; i++)
		;
	ret = check_process(id, task, i < to->count, why);
	if (task)
		put_task_struct(task);
	if (ret)
		put_pid(process);
	else
		to->process[to->count++] = process;
	return ret;
}

/* Find the processes that START names; the id of a process that has ended is set to 0. */
static int add_named(struct sft_pids *to, const struct sifive_trace_start *start,
		     struct sft_why *why)
{
	s32 __user *from = u64_to_user_ptr(start->processes);
	unsigned int i;
	s32 id = 0;
	int ret;

	for (i = 0; i < start->count; i++) {
		if (get_user(id, &from[i]))
			return sft_fail(why, -EFAULT, "the list of %u processes cannot be read",
					start->count);
		ret = add_process(to, id, why);
		if (ret == -ESRCH && put_user(0, &from[i]))
			return sft_fail(why, -EFAULT,
					"process %d has ended: put the list in writable memory",
					id);
		if (ret && ret != -ESRCH)
			return ret;
	}
	if (to->count)
		return 0;
	return start->count == 1 ? sft_fail(why, -ESRCH, "there is no process %d", id) :
	       sft_fail(why, -ESRCH, "all %u processes have ended", start->count);
}

/* Called without the system's lock, because the list is in user memory. */
static int find_processes(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct start *start = arg;
	int ret = check_start(&start->arg, why);

	if (!ret && start->arg.count)
		ret = need_perfmon("recording another process", why);
	if (ret)
		return ret;
	start->processes = sft_pids_new(start->arg.count ?: 1);
	if (!start->processes)
		return -ENOMEM;
	start->processes->named = start->arg.count;
	if (start->arg.count)
		return add_named(start->processes, &start->arg, why);
	start->processes->process[start->processes->count++] = get_pid(task_tgid(current));
	return 0;
}

static void put_processes(void *arg)
{
	struct start *start = arg;

	sft_pids_put(start->processes);
}

/*
 * Store the processes that START records. Check first that the capture may start, because a refused
 * START must not change the processes that are recorded after system sleep.
 */
static int own(u32 flags, struct sft_pids *processes, struct sft_why *why)
{
	int ret = sft_capture_may_start(flags & SIFIVE_TRACE_START_REWIND, why) ?:
		  sft_instruction_own(processes, flags & SIFIVE_TRACE_START_ON_EXEC, why) ?:
		  sft_switches_own(processes, why) ?: sft_sampling_own(processes, why);

	if (!ret)
		sft_probes_own(processes);
	return ret;
}

static int ioctl_start(struct sft_file *file, void *arg, struct sft_why *why)
{
	const struct start *call = arg;
	const struct sifive_trace_start *run = &call->arg;
	int ret = need_steering(file, why);

	if (ret)
		return ret;
	if (sft_sampling.set.flags & SIFIVE_TRACE_SAMPLING_ALL ||
	    sft_switches.set.flags & SIFIVE_TRACE_SWITCHES_ALL ||
	    sft_hw.capture.instruction.flags & SIFIVE_TRACE_INSTRUCTION_ALL)
		ret = need_perfmon("recording whatever runs", why);
	if (!ret && !sft_capture_on())
		ret = own(run->flags, call->processes, why);
	return ret ?: start(run->flags & SIFIVE_TRACE_START_REWIND, why);
}

static int follow(struct sft_file *file, void *arg, void __user *uarg,
		  struct sft_why *why)
{
	const struct sifive_trace_start *run = arg;

	return sft_threads_follow(file, run->flags & SIFIVE_TRACE_START_ON_EXEC, why);
}

static int ioctl_stop(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_run *run = arg;
	int ret = need_steering(file, why);

	if (ret)
		return ret;
	if (run->flags)
		return sft_fail(why, -EINVAL, "unknown flags %#x", run->flags);
	ret = sft_capture_stop(why);
	sft_capture_end_pause();
	sft_sampling_check(why);
	sft_sampling_unfollow();
	sft_check_counters(why);
	sft_health_report(why);
	return ret;
}

/* Any process that may control the session can call this, even without the session's descriptor. */
static int ioctl_pause(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_run *run = arg;

	if (run->flags & ~SIFIVE_TRACE_PAUSE_END)
		return sft_fail(why, -EINVAL, "unknown flags %#x", run->flags);
	if (!sft.owner)
		return sft_fail(why, -ENXIO, "no session holds the trace hardware");
	if (!sft_may_steer())
		return sft_fail(why, -EPERM,
				"another process's session: CAP_PERFMON or CAP_SYS_ADMIN is needed");
	return run->flags ? sft_capture_unpause(why) : sft_capture_pause(why);
}

static int ioctl_attach(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_attach *attach = arg;

	attach->fd = -1;
	if (attach->flags & ~SIFIVE_TRACE_ATTACH_COMPARE)
		return sft_fail(why, -EINVAL, "unknown flags %#x", attach->flags);
	if (attach->reserved)
		return sft_fail(why, -EINVAL, "reserved is %u, not 0", attach->reserved);
	if (attach->size < offsetofend(struct sifive_trace_attach, fd))
		return sft_fail(why, -EINVAL, "size %u is too small for the descriptor",
				attach->size);
	return 0;
}

static int attach_mapping(struct sft_file *file, void *arg, void __user *uarg,
			  struct sft_why *why)
{
	return sft_mapping_attach(file, arg, uarg);
}

/**
 * struct call - one ioctl
 * @size:	size of the argument in this kernel's version
 * @room:	size of the argument plus the data that the functions below keep with it, or 0 if
 *		they keep none
 * @write:	the call needs a file open for writing
 * @frees:	the call may free the sinks' buffers
 * @before:	function that runs first, with the system not locked, or NULL
 * @handler:	function that runs with the system locked, on a copy of the argument
 * @after:	function that runs if @handler succeeded, with the system not locked, or NULL;
 *		it also receives the argument's address in user memory, so that it creates a result
 *		only if the result can be written there
 * @free:	function that frees the data kept with the argument, even after an error; or NULL
 */
struct call {
	size_t size;
	size_t room;
	bool write;
	bool frees;
	int (*before)(struct sft_file *file, void *arg, struct sft_why *why);
	int (*handler)(struct sft_file *file, void *arg, struct sft_why *why);
	int (*after)(struct sft_file *file, void *arg, void __user *uarg,
		     struct sft_why *why);
	void (*free)(void *arg);
};

static const struct call calls[] = {
	[_IOC_NR(SIFIVE_TRACE_IOC_INFO)] = {
		.size = sizeof(struct sifive_trace_info),
		.handler = sft_call_info,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_ENCODER)] = {
		.size = sizeof(struct sifive_trace_encoder),
		.handler = sft_call_encoder,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_CONFIG)] = {
		.size = sizeof(struct sifive_trace_config), .write = true, .frees = true,
		.handler = ioctl_config, .after = prepare_instruction,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_COUNTERS)] = {
		.size = sizeof(struct sifive_trace_counters), .write = true,
		.before = join_for_counters, .handler = ioctl_counters,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_START)] = {
		.size = sizeof(struct sifive_trace_start), .room = sizeof(struct start),
		.write = true, .before = find_processes, .handler = ioctl_start,
		.after = follow, .free = put_processes,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_STOP)] = {
		.size = sizeof(struct sifive_trace_run), .write = true,
		.handler = ioctl_stop,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_PAUSE)] = {
		.size = sizeof(struct sifive_trace_run), .write = true,
		.handler = ioctl_pause,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_STATUS)] = {
		.size = sizeof(struct sifive_trace_status),
		.handler = sft_call_status,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_SINK)] = {
		.size = sizeof(struct sifive_trace_sink),
		.handler = sft_call_sink,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_THREAD)] = {
		.size = sizeof(struct sifive_trace_thread), .write = true,
		.handler = ioctl_thread, .after = join_thread,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_JOIN)] = {
		.size = sizeof(struct sifive_trace_join), .write = true,
		.handler = ioctl_join,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_SAMPLING)] = {
		.size = sizeof(struct sifive_trace_sampling), .write = true,
		.handler = ioctl_sampling, .after = try_sampling,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_SWITCHES)] = {
		.size = sizeof(struct sifive_trace_switches), .write = true,
		.handler = ioctl_switches, .after = probe_switches,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_EVENT)] = {
		.size = sizeof(struct sifive_trace_query), .write = true,
		.handler = ioctl_event,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_ATTACH)] = {
		.size = sizeof(struct sifive_trace_attach),
		.handler = ioctl_attach, .after = attach_mapping,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_LOSSES)] = {
		.size = sizeof(struct sifive_trace_losses),
		.handler = sft_call_losses,
	},
	[_IOC_NR(SIFIVE_TRACE_IOC_REQUEST)] = {
		.size = sizeof(struct sifive_trace_request),
		.handler = sft_call_request,
	},
};

/* Keep a call's error message for the file. */
void sft_keep_message(struct sft_file *file, const struct sft_why *why)
{
	strscpy(file->message, why->text, sizeof(file->message));
}

/* Run a call's handler with the system locked. */
static int run_handler(const struct call *call, struct sft_file *file, void *arg,
		       struct sft_why *why)
{
	int ret = -ENODEV;

	if (call->frees)
		sft_lock_buffers();
	else
		sft_lock();
	if (!sft_stale(file)) {
		ret = call->handler(file, arg, why);
		if (ret)
			sft_keep_message(file, why);
	}
	if (call->frees)
		sft_unlock_buffers();
	else
		sft_unlock();
	return ret;
}

static int run_call(const struct call *call, struct sft_file *file, void *arg,
		    void __user *uarg)
{
	struct sft_why why = {};
	int ret = call->before ? call->before(file, arg, &why) : 0;

	if (!ret)
		ret = run_handler(call, file, arg, &why);
	if (!ret && call->after)
		ret = call->after(file, arg, uarg, &why);
	if (why.text[0]) {
		sft_lock();
		sft_keep_message(file, &why);
		sft_unlock();
	}
	return ret;
}

/*
 * An ioctl number encodes direction and size, but only the size in the argument
 * matters. Numbers of ABI 2 encoded neither; INFO also accepts its old number,
 * so that a program for that ABI can find out which ABI the kernel has.
 */
static const struct call *find_call(unsigned int cmd)
{
	unsigned int nr = _IOC_NR(cmd);

	if (_IOC_TYPE(cmd) != SIFIVE_TRACE_IOC_TYPE || nr >= ARRAY_SIZE(calls))
		return NULL;
	if (_IOC_DIR(cmd) != (_IOC_READ | _IOC_WRITE) &&
	    cmd != _IO(SIFIVE_TRACE_IOC_TYPE, _IOC_NR(SIFIVE_TRACE_IOC_INFO)))
		return NULL;
	return &calls[array_index_nospec(nr, ARRAY_SIZE(calls))];
}

/* Every argument begins with its size: see the comment at the top of the uapi header. */
long sft_ioctl(struct file *filp, unsigned int cmd, unsigned long user)
{
	struct sft_file *file = filp->private_data;
	void __user *uarg = (void __user *)user;
	const struct call *call = find_call(cmd);
	u32 size;
	void *arg;
	int ret;

	/* A node for one sink has read() but no ioctls. */
	if (!call || file->sink != SFT_ALL_SINKS)
		return -ENOTTY;
	if (call->write && !(filp->f_mode & FMODE_WRITE))
		return -EACCES;
	if (get_user(size, (u32 __user *)uarg))
		return -EFAULT;
	if (size < offsetofend(struct sifive_trace_run, flags))
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;

	arg = kzalloc(call->room ?: call->size, GFP_KERNEL);
	if (!arg)
		return -ENOMEM;
	ret = copy_struct_from_user(arg, call->size, uarg, size);
	if (!ret) {
		ret = run_call(call, file, arg, uarg);
		/*
		 * Copy the argument back even after an error, because it may name the refused
		 * event.
		 */
		*(u32 *)arg = size;
		if (copy_to_user(uarg, arg, min_t(size_t, size, call->size)))
			ret = -EFAULT;
		if (call->free)
			call->free(arg);
	}
	kfree(arg);
	return ret;
}

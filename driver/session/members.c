// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members: files of other processes that have joined the session. Each file has its own channels,
 * which become free when the file or its last mapping is gone, however the process ended.
 */

#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include <linux/sifive_trace_join.h>

#include "session.h"

/*
 * The current capture's number, a mask of the channels that members hold, and a mask of the
 * channels that they have ever held. These need a separate lock, because mappings are removed under
 * the mmap lock.
 */
static DEFINE_SPINLOCK(channels_lock);
static u64 capture;
static u32 taken, used;

/* Number of files that have joined the current capture; under the system's lock. */
static u32 joined;

/* Called when a capture begins: no file has joined it. */
void sft_members_reset(void)
{
	spin_lock(&channels_lock);
	capture = sft.captures;
	taken = 0;
	used = 0;
	spin_unlock(&channels_lock);
	joined = 0;
}

/* Return whether a file has joined the current session. Called with the system locked. */
bool sft_is_member(const struct sft_file *file)
{
	return sft.owner && file->joined == sft.captures;
}

/* Called when the file's last mapping or its last reference is gone: free its channels. */
void sft_member_return(struct sft_file *file)
{
	spin_lock(&channels_lock);
	/* Channels of an earlier capture are already free. */
	if (file->channels_of == capture)
		taken &= ~file->channels;
	file->channels = 0;
	spin_unlock(&channels_lock);
}

void sft_member_free(struct sft_file *file)
{
	sft_member_return(file);
	put_pid(file->process);
	free_page((unsigned long)file->nowhere);
}

/* Return a mask of the channels to which an encoder's stimulus registers write. */
static u32 channels_of(const struct sft_encoder *e, u32 registers)
{
	return e->tested.ts_channels ? (registers | registers >> 16) & U16_MAX : registers;
}

/* Return a mask of the stimulus registers that the kernel's own records use. */
static u32 kernels(void)
{
	u32 registers = 0;

	if (sft_sampling.set.interval || sft_sampling.set.period)
		registers |= BIT(sft_sampling.set.channel);
	if (sft_switches.set.channel != SIFIVE_TRACE_SWITCHES_OFF)
		registers |= BIT(sft_switches.set.channel);
	if (sft_hw.capture.instruction.mode)
		registers |= SFT_OWNERS;
	return registers;
}

/* Return a mask of the channels that all encoders enable and the kernel does not use. */
static u32 available(void)
{
	u32 channels = ~0u;
	struct sft_encoder *e;

	for_each_encoder(e)
		if (sft_route_has(e))
			channels &= channels_of(e, sft_hw.capture.channels) &
				    ~channels_of(e, kernels());
	return channels;
}

/* Return the first channel in @mask, searching upwards from @first and wrapping around, or -1. */
static int lowest(u32 mask, u32 first)
{
	u32 above = mask & GENMASK(31, first);

	return mask ? __ffs(above ?: mask) : -1;
}

/* Refuse a stimulus register for the kernel's records if a member stores to it. */
int sft_members_check(u32 stimulus, struct sft_why *why)
{
	u32 wanted = 0, busy;
	struct sft_encoder *e;

	for_each_encoder(e)
		if (sft_route_has(e))
			wanted |= channels_of(e, BIT(stimulus));
	spin_lock(&channels_lock);
	busy = wanted & taken;
	spin_unlock(&channels_lock);
	return busy ? sft_fail(why, -EBUSY,
			       "channel %d belongs to a process that has joined: use another one",
			       lowest(busy, 0)) : 0;
}

/* Give a file an additional channel, preferably a channel that no file has had. */
static void give_channel(struct sft_file *file, struct sifive_trace_join *join)
{
	u32 mask = join->channels & available();
	int channel;

	spin_lock(&channels_lock);
	if (file->channels_of != capture)
		file->channels = 0;
	channel = lowest(mask & ~taken & ~used, join->channel);
	if (channel < 0)
		channel = lowest(mask & ~taken, join->channel);
	join->channel = channel;
	join->used = channel >= 0 && used & BIT(channel);
	if (channel >= 0) {
		taken |= BIT(channel);
		used |= BIT(channel);
		file->channels |= BIT(channel);
		file->channels_of = capture;
	}
	spin_unlock(&channels_lock);
}

/* Return whether the caller descends from the process that configured the session. */
bool sft_is_descendant(void)
{
	struct task_struct *task;
	bool found = false;

	rcu_read_lock();
	for (task = current; !found && task_pid_nr(task) > 1;
	     task = rcu_dereference(task->real_parent))
		found = task_tgid(task) == sft.holder;
	rcu_read_unlock();
	return found;
}

/* Check that descriptor @fd refers to the session's file or to a member's file. */
static int check_descriptor(int fd, struct sft_why *why)
{
	struct file *filp = fget(fd);
	int ret = 0;

	if (!filp || !sft_is_device(filp))
		ret = sft_fail(why, -EBADF, "descriptor %d does not refer to this device", fd);
	else if (filp->private_data != sft.owner && !sft_is_member(filp->private_data))
		ret = sft_fail(why, -EPERM, "descriptor %d does not belong to the session", fd);
	if (filp)
		fput(filp);
	return ret;
}

static int may_join(const struct sft_file *file, int session, struct sft_why *why)
{
	if (!sft.owner)
		return sft_fail(why, -ENXIO, "there is no session to join");
	if (sft.owner == file)
		return sft_fail(why, -EINVAL, "this file holds the session: others can join it");
	if (!perfmon_capable())
		return sft_fail(why, -EPERM, "joining needs CAP_PERFMON or CAP_SYS_ADMIN");
	if (sft_is_member(file))
		return 0;
	if (sft.owner->mapping != file->mapping)
		return sft_fail(why, -EXDEV,
				"the session's file was opened through another device node");
	if (session >= 0)
		return check_descriptor(session, why);
	return sft_is_descendant() ? 0 :
	       sft_fail(why, -EPERM,
			"not a descendant of process %d, which holds the session: pass a descriptor of the session",
			pid_vnr(sft.holder));
}

/*
 * Create the page that replaces a file's mappings when its session has ended. In this page,
 * registers read as ready, and all sinks appear to have room.
 */
static int make_nowhere(struct sft_file *file)
{
	if (!file->nowhere)
		file->nowhere = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!file->nowhere)
		return -ENOMEM;
	memset(file->nowhere, 1, PAGE_SIZE);
	memset(file->nowhere + SIFIVE_TRACE_FULL_BYTES, 0, SIFIVE_TRACE_MAX_ENCODERS);
	return 0;
}

static int become_member(struct sft_file *file)
{
	int ret = make_nowhere(file);

	if (ret)
		return ret;
	put_pid(file->process);
	file->process = get_pid(task_tgid(current));
	file->member = ++joined;
	sft_mapping_join(file);
	return 0;
}

static void describe_events(struct sifive_trace_join *join)
{
	unsigned long mask = sft_counters.mask;
	unsigned int n;

	join->count = 0;
	for_each_set_bit(n, &mask, SIFIVE_TRACE_MAX_COUNTERS)
		join->event[join->count++] = sft_counters.event[n];
}

/* Called with the system locked. */
int sft_member_join(struct sft_file *file, struct sifive_trace_join *join,
		    struct sft_why *why)
{
	int ret;

	if (join->flags)
		return sft_fail(why, -EINVAL, "unknown flags %#x", join->flags);
	if (join->channel < 0 || join->channel > 31)
		return sft_fail(why, -EINVAL, "channel is %d, not 0 to 31", join->channel);
	ret = may_join(file, join->session, why);
	if (!ret && sft_counters.turns)
		return sft_fail(why, -EBUSY,
				"the session's events take turns on the counters: count fewer events to share it");
	if (!ret && !sft_is_member(file))
		ret = become_member(file);
	if (ret)
		return ret;
	give_channel(file, join);
	join->member = file->member;
	join->process = task_tgid_nr_ns(current, ns_of_pid(sft.holder));
	join->parent = task_ppid_nr_ns(current, ns_of_pid(sft.holder));
	describe_events(join);
	return 0;
}

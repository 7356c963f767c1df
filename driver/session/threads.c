// SPDX-License-Identifier: GPL-2.0-only
/*
 * The session's threads: permission to join, and sampling. perf creates and frees events under its
 * own locks, so the driver calls perf without the system's lock.
 */

#include <linux/capability.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "session.h"

/* Check that the caller may add threads to the file's session, or remove them. */
int sft_thread_allowed(const struct sft_file *file, struct sft_why *why)
{
	const struct pid *process;

	if (sft_stale(file))
		return -ENODEV;
	if (sft.owner != file && !sft_is_member(file))
		return sft_fail(why, -ENXIO, "no session on this descriptor: call CONFIG first");
	process = sft.owner == file ? sft.holder : file->process;
	if (task_tgid(current) != process && !perfmon_capable())
		return sft_fail(why, -EPERM,
				"another process's session: joining needs CAP_PERFMON");
	return 0;
}

/* Add the calling thread to the session. */
int sft_thread_join(struct sft_file *file, u32 *slot, struct sft_why *why)
{
	struct sft_thread *fresh;
	int ret;

	sft_lock();
	ret = sft_thread_allowed(file, why) ?: sft_access_join(NULL, slot, why);
	sft_unlock();
	if (ret != -EAGAIN)
		return ret;
	fresh = sft_access_new();
	if (IS_ERR(fresh))
		return PTR_ERR(fresh);
	sft_lock();
	ret = sft_thread_allowed(file, why) ?: sft_access_join(fresh, slot, why);
	if (ret)
		sft_access_discard(fresh);
	sft_unlock();
	return ret;
}

/* End the capture, because sampling cannot begin. Called with the system locked. */
static void give_up(struct sft_file *file, const struct sft_why *why)
{
	sft_keep_message(file, why);
	sft_capture_stop(NULL);
	/* Another process may have paused the capture. */
	sft_capture_end_pause();
}

/* Create the session's sampling events, or re-create them if sampling has all @flags. */
static int follow(struct sft_file *file, u32 flags, bool on_exec, struct sft_why *why)
{
	struct sft_following to;
	bool wanted;
	int ret;

	ret = sft_sampling_prepare(&to, flags, on_exec);
	sft_lock();
	if (ret) {
		sft_fail(why, ret, "no memory for sampling");
		if (sft.owner == file)
			give_up(file, why);
		sft_unlock();
		return ret;
	}
	/* Finish even if another process has paused the capture in the meantime. */
	wanted = sft.owner == file && sft_capture_on() && sft_sampling_wanted(&to);
	sft_unlock();
	if (wanted)
		ret = sft_sampling_make(&to);
	sft_lock();
	ret = sft_sampling_adopt(&to, ret, why);
	if (ret)
		give_up(file, why);
	sft_unlock();
	sft_sampling_finish(&to);
	return ret;
}

/* Called after START: create the sampling events. */
int sft_threads_follow(struct sft_file *file, bool on_exec, struct sft_why *why)
{
	return follow(file, 0, on_exec, why);
}

/* follow() ignores a file that does not own the session. */
static void follow_all(struct work_struct *work)
{
	struct sft_why why = {};
	struct sft_file *file;

	sft_lock();
	file = sft.owner;
	sft_unlock();
	if (file && follow(file, SIFIVE_TRACE_SAMPLING_ALL, false, &why))
		pr_warn("sifive_trace: sampling does not continue after resume or hotplug\n");
}

static DECLARE_WORK(follow_work, follow_all);

/* Called after resume or hotplug, when the capture is running again: re-create events. */
void sft_threads_resume(void)
{
	if (sft_sampling.on)
		schedule_work(&follow_work);
}

void sft_threads_exit(void)
{
	cancel_work_sync(&follow_work);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: a recorded program asks the recorder for a snapshot of the running ring. All functions
 * here are called with the system locked.
 */

#include <linux/capability.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/sched.h>

#include <linux/sifive_trace_request.h>

#include "session.h"

/* The number of requests since the module was loaded, and the latest one. */
static u64 count, time;
static s32 thread;

static int may_request(const struct sft_file *file, struct sft_why *why)
{
	if (!sft.owner || !sft_capture_on())
		return sft_fail(why, -ENXIO, "no capture is running");
	if (sft.owner == file || sft_is_member(file) || sft_is_descendant() || perfmon_capable())
		return 0;
	return sft_fail(why, -EPERM,
			"another process's session: CAP_PERFMON or CAP_SYS_ADMIN is needed");
}

static int look(struct sft_file *file, struct sft_why *why)
{
	if (!sft_may_read(file))
		return sft_refuse_reader(why);
	file->requests_seen = count;
	return 0;
}

static int request_now(const struct sft_file *file, struct sft_why *why)
{
	int ret = may_request(file, why);

	if (ret)
		return ret;
	count++;
	time = ktime_get_ns();
	thread = task_pid_nr_ns(current, ns_of_pid(sft.holder));
	sft_wake_pollers();
	return 0;
}

int sft_call_request(struct sft_file *file, void *arg, struct sft_why *why)
{
	struct sifive_trace_request *request = arg;
	int ret;

	if (request->flags & ~SIFIVE_TRACE_REQUEST_LOOK || request->reserved)
		return sft_fail(why, -EINVAL,
				"unknown flags %#x, or reserved field is %#x, not 0",
				request->flags, request->reserved);
	ret = request->flags ? look(file, why) : request_now(file, why);
	if (ret)
		return ret;
	request->count = count - file->requests_before;
	request->time = time;
	request->thread = thread;
	return 0;
}

/* Called when a file is opened: earlier requests do not concern it. */
void sft_request_open(struct sft_file *file)
{
	file->requests_before = count;
	file->requests_seen = count;
}

bool sft_request_pending(const struct sft_file *file)
{
	return file->requests_seen != count;
}

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

/* The latest request's capture, time and thread, and the number of requests in that capture. */
static u64 capture, count, time;
static s32 thread;

/* Return the number of requests that the capture in memory has received. */
static u64 requests(void)
{
	return sft_hw.capture.sinks && capture == sft.captures ? count : 0;
}

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
	sft_request_open(file);
	return 0;
}

static int request_now(const struct sft_file *file, struct sft_why *why)
{
	int ret = may_request(file, why);

	if (ret)
		return ret;
	count = requests() + 1;
	capture = sft.captures;
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
	request->count = requests();
	request->time = request->count ? time : 0;
	request->thread = request->count ? thread : 0;
	return 0;
}

/* Called when a file is opened or looks for requests: only later requests are then pending. */
void sft_request_open(struct sft_file *file)
{
	file->requests_of = sft.captures;
	file->requests_seen = requests();
}

/* A file that reads a single sink cannot look for requests. */
bool sft_request_pending(const struct sft_file *file)
{
	const u64 seen = file->requests_of == sft.captures ? file->requests_seen : 0;

	return file->sink == SFT_ALL_SINKS && requests() > seen;
}

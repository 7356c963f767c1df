// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The library's own API: sifive_trace.h. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/sifive_trace_request.h>

#include "sifive_trace.h"

#include "auto.h"
#include "dump.h"
#include "error.h"
#include "event.h"
#include "hooks.h"
#include "options.h"
#include "session.h"

/* A handle owns the session that it has set up. The session has only one owner at a time. */
struct sifive_trace {
	char unused;
};

/* Minimum sizes, as in the first release, and the maximum size of the options. */
#define OPTIONS_MIN	offsetof(struct sifive_trace_options, header_interval)
#define OPTIONS_MAX	4096
#define REPORT_MIN	sizeof(struct sifive_trace_report)

PERF_LOCAL int leave_trace(const char *call, int rc)
{
	perf_session_leave();
	if (rc)
		perf_error_print(call);
	return rc;
}

/* Begin a call; fails for a handle that does not own the session. */
PERF_INLINE int enter_trace(const struct sifive_trace *trace, bool record)
{
	perf_error_clear();
	if (!trace)
		return perf_error("the handle is NULL");
	if (perf_session_enter(record, PERF_FRAME))
		return -1;
	if (perf_session.state >= PERF_SESSION_READY && perf_session.user == trace)
		return 0;
	perf_session_leave();
	return perf_error("call sifive_trace_setup() first");
}

PERF_LOCAL int entered(const char *call, int rc)
{
	if (rc)
		perf_error_print(call);
	return rc;
}

PERF_API struct sifive_trace *sifive_trace_open(void)
{
	struct sifive_trace *trace = NULL;
	struct sifive_trace_info info;
	int rc;

	perf_error_clear();
	perf_auto_yield(PERF_FRAME);
	if (entered("sifive_trace_open(): ", perf_session_enter(true, PERF_FRAME)))
		return NULL;
	/* If another owner has a session, the device exists. */
	rc = perf_session.state < PERF_SESSION_READY ?
	     perf_session_begin(&info) : 0;
	if (!rc) {
		trace = calloc(1, sizeof(*trace));
		if (!trace)
			rc = perf_error("out of memory");
	}
	leave_trace("sifive_trace_open(): ", rc);
	return trace;
}

/* Return whether options of a later release are set. Only zero options can be ignored. */
PERF_LOCAL bool has_more(const struct sifive_trace_options *options)
{
	const unsigned char *byte = (const unsigned char *)options;
	size_t i;

	for (i = sizeof(*options); i < options->size; i++)
		if (byte[i])
			return true;
	return false;
}

PERF_API int sifive_trace_setup(struct sifive_trace *trace,
				const struct sifive_trace_options *options)
{
	struct sifive_trace_options known = SIFIVE_TRACE_OPTIONS;
	static struct perf_setup setup;
	int rc;

	perf_error_clear();
	if (!trace || !options)
		return entered("sifive_trace_setup(): ",
			       perf_error("the handle or the options are NULL"));
	if (entered("sifive_trace_setup(): ", perf_session_enter(true, PERF_FRAME)))
		return -1;

	if (options->size < OPTIONS_MIN || options->size > OPTIONS_MAX)
		rc = perf_error("options.size is %zu: initialise them with SIFIVE_TRACE_OPTIONS",
				options->size);
	else if (has_more(options))
		rc = perf_error("the program uses options that this library does not support: link it with a newer one");
	else if (perf_session.state >= PERF_SESSION_READY &&
		 perf_session.user != trace)
		rc = perf_error("the program has already set up another trace: a process can have only one at a time");
	else
		rc = perf_options_parse(memcpy(&known, options,
					       options->size < sizeof(known) ?
					       options->size : sizeof(known)), &setup);
	if (!rc)
		rc = perf_session_end();
	if (!rc)
		rc = perf_session_setup(&setup, trace);
	return leave_trace("sifive_trace_setup(): ", rc);
}

PERF_API int sifive_trace_on(struct sifive_trace *trace)
{
	if (entered("sifive_trace_on(): ", enter_trace(trace, true)))
		return -1;
	return leave_trace("sifive_trace_on(): ", perf_session_on());
}

PERF_API int sifive_trace_off(struct sifive_trace *trace)
{
	if (entered("sifive_trace_off(): ", enter_trace(trace, false)))
		return -1;
	return leave_trace("sifive_trace_off(): ", perf_session_off());
}

/* Programs call this function too often to print errors. */
PERF_API int sifive_trace_write(struct sifive_trace *trace)
{
	if (PERF_UNLIKELY(!trace || perf_session.user != trace))
		return perf_error("call sifive_trace_setup() first");
	/* The session has an owner, so it is set up. */
	perf_hooks_manual((uintptr_t)__builtin_return_address(0));
	return 0;
}

PERF_LOCAL int request_snapshot(struct perf_device *device)
{
	struct sifive_trace_request request = { .size = sizeof(request) };
	int fd = perf_device_fd(device);

	if (fd >= 0 && !ioctl(fd, SIFIVE_TRACE_IOC_REQUEST, &request))
		return 0;
	return perf_device_error(device, errno, "cannot request a snapshot", NULL);
}

/* Even if this process has no session, the recorder may sample it or trace its instructions. */
PERF_LOCAL int request_anywhere(void)
{
	static struct perf_device device;
	int rc;

	if (perf_session.state >= PERF_SESSION_READY)
		return request_snapshot(&perf_session.device);
	if (perf_device_open(&device))
		return -1;
	rc = request_snapshot(&device);
	perf_device_close(&device);
	return rc;
}

/* Programs call this even if they are not recorded, so it prints no errors. */
PERF_API int sifive_trace_snapshot(void)
{
	int rc;

	perf_hooks_manual((uintptr_t)__builtin_return_address(0));
	perf_error_clear();
	if (perf_session_enter(false, PERF_FRAME))
		return -1;
	rc = request_anywhere();
	perf_session_leave();
	return rc;
}

PERF_LOCAL int fill_report(struct sifive_trace_report *report)
{
	const struct sifive_trace_losses *lost = perf_losses();
	struct sifive_trace_status capture;

	if (report->size < REPORT_MIN)
		return perf_error("report.size is %zu: set it to sizeof(struct sifive_trace_report)",
				  report->size);
	if (perf_device_capture(&perf_session.device, &capture))
		return -1;

	*report = (struct sifive_trace_report) {
		.size		= report->size,
		.sinks		= capture.sinks,
		.bytes		= capture.bytes,
		.lost_signals	= lost->signals + lost->queued,
		.lost_threads	= lost->threads + lost->refused + lost->children +
				  lost->dropped,
		.lost_abandoned	= lost->abandoned,
		.samples	= capture.samples,
		.lost_samples	= capture.samples_lost,
		.lost_counters	= capture.counters_lost,
	};
	if (perf_session.state == PERF_SESSION_ON)
		report->flags |= SIFIVE_TRACE_ON;
	if (capture.flags & SIFIVE_TRACE_STATUS_FULL)
		report->flags |= SIFIVE_TRACE_FULL;
	if (capture.flags & SIFIVE_TRACE_STATUS_WRAPPED)
		report->flags |= SIFIVE_TRACE_WRAPPED;
	if (capture.changed)
		report->flags |= SIFIVE_TRACE_CHANGED;
	return 0;
}

PERF_API int sifive_trace_status(struct sifive_trace *trace,
				 struct sifive_trace_report *report)
{
	if (entered("sifive_trace_status(): ", enter_trace(trace, false)))
		return -1;
	return leave_trace("sifive_trace_status(): ",
		      report ? fill_report(report) :
			       perf_error("the report is NULL"));
}

PERF_API int sifive_trace_dump(struct sifive_trace *trace, const char *path)
{
	if (entered("sifive_trace_dump(): ", enter_trace(trace, perf_session.state == PERF_SESSION_ON)))
		return -1;
	return leave_trace("sifive_trace_dump(): ",
		      perf_dump(path ? path : "trace.rtd"));
}

PERF_API void sifive_trace_close(struct sifive_trace *trace)
{
	int rc = 0;

	if (!trace)
		return;
	perf_error_clear();
	if (entered("sifive_trace_close(): ", perf_session_enter(true, PERF_FRAME)))
		return;
	if (perf_session.user == trace) {
		rc = perf_session_off();
		perf_session_end();
	}
	free(trace);
	leave_trace("sifive_trace_close(): ", rc);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Copies the ring of a running program that traces itself: see capture_peek() in capture.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../command.h"
#include "capture.h"
#include "losses.h"
#include "machine.h"
#include "sidecar.h"

static int peek_sink(int fd, const char *path, const char *output, uint32_t index,
		     uint32_t sinks, const struct trigger_hit *hit, uint64_t ran)
{
	char name[PATH_MAX], own[PATH_MAX], early[SIDECAR_PATH], meta[SIDECAR_PATH];
	struct sifive_trace_sink sink;
	bool finished;

	perf_device_file(name, path, index, sinks);
	perf_device_file(own, output, index, sinks);
	snprintf(meta, sizeof(meta), "%s.meta", name);
	snprintf(early, sizeof(early), "%s.meta", own);
	if (capture_sink(fd, index, &sink)) {
		report("%s: %s", machine_device(), strerror(errno));
		return -1;
	}
	if (sidecar_copy(early, meta, hit) ||
	    capture_running(fd, name, index, sinks, &sink) ||
	    sidecar_complete(fd, meta, &sink, NULL, ran, &finished))
		return -1;
	losses_sink(name, &sink, false);
	return 0;
}

void capture_name_call(const char *output, uint32_t sinks, const struct trigger_hit *hit)
{
	char name[PATH_MAX], meta[SIDECAR_PATH];
	uint32_t i;

	for (i = 0; i < sinks; i++) {
		perf_device_file(name, output, i, sinks);
		snprintf(meta, sizeof(meta), "%s.meta", name);
		if (!access(meta, F_OK))
			sidecar_copy(meta, meta, hit);
	}
}

int capture_name_part(const char *output, uint32_t sinks, const struct meta_part *part)
{
	char name[PATH_MAX], meta[SIDECAR_PATH];
	int error = 0;
	uint32_t i;

	for (i = 0; i < sinks; i++) {
		perf_device_file(name, output, i, sinks);
		snprintf(meta, sizeof(meta), "%s.meta", name);
		if (!access(meta, F_OK))
			error |= sidecar_part(meta, part);
	}
	return error;
}

static bool records(const struct sifive_trace_status *status, const struct capture_mark *mark)
{
	return status->holder == mark->pid && status->flags & SIFIVE_TRACE_STATUS_RUNNING;
}

bool capture_records(const struct capture_mark *mark)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	int fd = open(machine_device(), O_RDONLY | O_CLOEXEC);
	bool known = fd >= 0 && !ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status);

	if (fd >= 0)
		close(fd);
	return known && records(&status, mark);
}

int capture_peek(int fd, const char *path, const char *output, const struct capture_mark *mark,
		 const struct trigger_hit *hit)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	uint64_t ran = perf_device_now() - mark->began;
	uint32_t i;

	if (fd < 0 || ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status)) {
		report("%s: %s", machine_device(), strerror(errno));
		return -1;
	}
	if (!records(&status, mark)) {
		if (!hit->function)
			report("%s: no snapshot: the program is not recording", path);
		return 1;
	}
	for (i = 0; i < status.sinks; i++)
		if (peek_sink(fd, path, output, i, status.sinks, hit, ran))
			return -1;
	return 0;
}

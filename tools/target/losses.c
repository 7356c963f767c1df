// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See losses.h. */
#include <inttypes.h>
#include <sys/ioctl.h>

#include "../command.h"
#include "losses.h"
#include "machine.h"

void losses_gaps(const char *name, const struct sifive_trace_sink *sink, const char *why)
{
	bool more = sink->flags & SIFIVE_TRACE_STATUS_GAP_MORE;

	if (!sink->gaps)
		return;
	report("%s: %s%" PRIu64 " bytes are missing in %" PRIu64 " place%s: %s", name,
	       more ? "at least " : "", (uint64_t)sink->lost, (uint64_t)sink->gaps,
	       sink->gaps == 1 ? "" : "s",
	       why ? why :
	       "they were overwritten before the command read them: use a larger -b, or record less");
}

/* A wrapped ring is not a loss, because the user has requested a ring. */
void losses_sink(const char *name, const struct sifive_trace_sink *sink,
		 bool quiet)
{
	if (sink->flags & SIFIVE_TRACE_STATUS_FULL)
		report("%s: the buffer was full after %" PRIu64
		       " bytes, later records were lost: use a larger -b",
		       name, (uint64_t)sink->bytes);
	else if (!quiet && sink->flags & SIFIVE_TRACE_STATUS_WRAPPED)
		report("%s: the newest %" PRIu64
		       " bytes: the ring has overwritten older records: use a larger -b to keep more",
		       name, (uint64_t)sink->bytes);
}

void losses_times(const struct sifive_trace_status *status, const struct drain *drain, bool quiet)
{
	if (quiet)
		return;
	if (status->pauses)
		report("paused %" PRIu64 " time%s, %.3f s: nothing was recorded during that time",
		       (uint64_t)status->pauses, status->pauses == 1 ? "" : "s",
		       (double)status->paused / 1e9);
	if (status->stalls)
		report("%u encoder%s stalled %s hart, or lost messages: programs ran slower; record less",
		       status->stalls, status->stalls == 1 ? "" : "s",
		       status->stalls == 1 ? "its" : "their");
	if (drain && status->waits)
		report("the program waited for this command %" PRIu64 " times, %.3f s in total for all threads: use a larger -b, or record less",
		       (uint64_t)status->waits, (double)status->waited / 1e9);
}

void losses_report(int fd, const struct sifive_trace_status *status, bool library)
{
	struct sifive_trace_losses losses = { .size = sizeof(losses) };
	char counters[512];
	uint64_t records = 0;

	if (!ioctl(fd, SIFIVE_TRACE_IOC_LOSSES, &losses))
		records = losses.signals + losses.queued + losses.threads +
			  losses.abandoned + losses.refused + losses.children;
	if (losses.dropped)
		report("the program dropped %" PRIu64 " records while the buffer had no room, %.3f s: use a larger -b, or record less",
		       (uint64_t)losses.dropped, (double)status->full_ns / 1e9);
	if (library)
		return;
	if (records)
		report("the program could not write %" PRIu64 " records: sifive-trace report shows the causes",
		       records);
	if (status->samples_lost)
		report("%" PRIu64 " of %" PRIu64 " samples were lost",
		       (uint64_t)status->samples_lost,
		       (uint64_t)(status->samples + status->samples_lost));
	if (status->switches_lost)
		report("%" PRIu64 " of %" PRIu64 " context switches were lost: use a larger -b",
		       (uint64_t)status->switches_lost,
		       (uint64_t)(status->switches + status->switches_lost));
	if (status->switches_processes)
		report("context switches of %" PRIu64 " processes, and of their children, were not recorded: too many ran at once",
		       (uint64_t)status->switches_processes);
	if (status->switches_elsewhere)
		report("threads started running %" PRIu64 " times on CPUs that are not recorded: time off the CPU includes the time there; sifive-trace report marks it ~",
		       (uint64_t)status->switches_elsewhere);
	if (status->wakeups_elsewhere)
		report("CPUs that are not recorded woke threads %" PRIu64 " times: the time until the threads ran counts as blocked",
		       (uint64_t)status->wakeups_elsewhere);
	if (status->flags & SIFIVE_TRACE_STATUS_CHANGED)
		report("records may be missing: a program has changed registers of %u trace components while they ran: sifive-trace info names the encoders",
		       machine_changed(status));
	if (!status->counters_lost)
		return;
	machine_counters(status->counters_lost, counters, sizeof(counters));
	report("counters were stopped at times on some harts: their values cannot be trusted: %s",
	       counters);
	if (*status->message)
		report("the driver's last message: %.*s", (int)sizeof(status->message),
		       (const char *)status->message);
}

int losses_samples(const struct sifive_trace_status *status)
{
	if (status->samples)
		return 0;
	if (status->samples_lost)
		report("no samples were recorded: all %" PRIu64 " were lost: use a larger -b, or a longer -i or -c",
		       (uint64_t)status->samples_lost);
	else
		report("no samples were recorded: the program ran for less than one interval or period: choose a shorter -i or -c");
	return -1;
}

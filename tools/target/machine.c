// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "lib/environment.h"

#include "machine.h"
#include "proc.h"

/* Actions of klogctl(). */
#define KLOG_READ_ALL	3
#define KLOG_SIZE	10

/* SBI implementation ID of OpenSBI. */
#define SBI_OPENSBI	1

bool machine_cpu(char *text)
{
	static const char * const keys[] = { "mvendorid", "marchid", "mimpid" };
	unsigned long long id[3] = { 0 };
	unsigned int found = 0, i;
	char line[512], *colon;
	FILE *file;

	*text = '\0';
	file = fopen("/proc/cpuinfo", "re");
	while (file && found != 7 && fgets(line, sizeof(line), file)) {
		colon = strchr(line, ':');
		for (i = 0; colon && i < 3; i++) {
			if (strncmp(line, keys[i], strlen(keys[i])))
				continue;
			id[i] = strtoull(colon + 1, NULL, 0);
			found |= 1u << i;
		}
	}
	if (file)
		fclose(file);
	if (found != 7)
		return false;
	snprintf(text, MACHINE_CPU_SIZE, "0x%llx-0x%llx-0x%llx", id[0], id[1],
		 id[2]);
	return true;
}

/* Copy the number after @word in the kernel log to @text. */
static bool log_word(const char *log, const char *word, char *text, size_t size)
{
	const char *at = strstr(log, word);

	if (!at)
		return false;
	at += strlen(word);
	snprintf(text, size, "%.*s", (int)strcspn(at, " \n"), at);
	return true;
}

char *machine_log(void)
{
	int length = klogctl(KLOG_SIZE, NULL, 0);
	char *log = length > 0 ? malloc((size_t)length + 1) : NULL;

	if (!log)
		return NULL;
	length = klogctl(KLOG_READ_ALL, log, length);
	if (length < 0) {
		free(log);
		return NULL;
	}
	log[length] = '\0';
	return log;
}

void machine_firmware(char *text, size_t size)
{
	char implementation[32], version[32], specification[32];
	char *log = machine_log();
	unsigned long number;
	const char *line;

	*text = '\0';
	if (!log)
		return;
	/* The log has both numbers on one line. */
	line = strstr(log, "SBI implementation ID=");
	if (line &&
	    log_word(line, "ID=", implementation, sizeof(implementation)) &&
	    log_word(line, "Version=", version, sizeof(version)) &&
	    log_word(log, "SBI specification v", specification,
		     sizeof(specification))) {
		number = strtoul(version, NULL, 0);
		if (strtoul(implementation, NULL, 0) == SBI_OPENSBI)
			snprintf(text, size, "OpenSBI %lu.%lu, SBI %s",
				 number >> 16, number & 0xffff, specification);
		else
			snprintf(text, size, "implementation %s version %s, SBI %s",
				 implementation, version, specification);
	}
	free(log);
}

void machine_file(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");

	*text = '\0';
	if (!file)
		return;
	if (fgets(text, (int)size, file))
		text[strcspn(text, "\n")] = '\0';
	fclose(file);
}

void machine_process(int pid, char *text, size_t size)
{
	char path[64], name[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	machine_file(path, name, sizeof(name));
	snprintf(text, size, *name ? "%d (%s)" : "%d", pid, name);
}

bool machine_capable(int capability)
{
	char effective[32];

	return proc_status(getpid(), "CapEff", effective, sizeof(effective)) &&
	       strtoull(effective, NULL, 16) >> capability & 1;
}

void machine_pass_on(void)
{
	static const int pass[] = { MACHINE_CAP_RAWIO, MACHINE_CAP_PERFMON };
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct set[2];
	unsigned int i;

	/* Programs that root executes have all capabilities. */
	if (!geteuid() || syscall(SYS_capget, &header, set))
		return;
	for (i = 0; i < 2; i++)
		set[pass[i] / 32].inheritable |= set[pass[i] / 32].permitted &
						 1u << pass[i] % 32;
	if (syscall(SYS_capset, &header, set))
		return;
	/* If the process lacks the capability, the call fails harmlessly. */
	for (i = 0; i < 2; i++)
		prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, pass[i], 0, 0);
}

const char *machine_device(void)
{
	const char *path = perf_environment("SIFIVE_TRACE_DEVICE");

	return path ? path : "/dev/sifive-trace";
}

bool machine_side_car(void)
{
	/* Even if the command has file capabilities, this environment variable is safe to use. */
	const char *word = getenv("SIFIVE_TRACE_META");

	return !word ||
	       !PERF_ENVIRONMENT_NO_META(perf_environment_find(PERF_ENVIRONMENT_META, word));
}

bool machine_encoder(int fd, uint32_t index, struct sifive_trace_encoder *encoder)
{
	memset(encoder, 0, sizeof(*encoder));
	encoder->size = sizeof(*encoder);
	encoder->index = index;
	return !ioctl(fd, SIFIVE_TRACE_IOC_ENCODER, encoder);
}

bool machine_untimed(void)
{
	int fd = open(machine_device(), O_RDONLY | O_CLOEXEC);
	struct sifive_trace_encoder encoder;
	bool tested = false, timed = false;
	uint32_t i;

	if (fd < 0)
		return false;
	for (i = 0; machine_encoder(fd, i, &encoder); i++) {
		if (!(encoder.flags & SIFIVE_TRACE_ENCODER_SELECTED) ||
		    !(encoder.flags & SIFIVE_TRACE_ENCODER_TESTED))
			continue;
		tested = true;
		timed |= encoder.ts_registers;
	}
	close(fd);
	return tested && !timed;
}

static int query_here(int fd, const struct sifive_trace_event *event,
		      struct sifive_trace_query *sum)
{
	struct sifive_trace_query query = {
		.size = sizeof(query), .event = *event,
	};

	if (ioctl(fd, SIFIVE_TRACE_IOC_EVENT, &query))
		return errno;
	sum->counters &= query.counters;
	sum->readable &= query.readable;
	sum->known &= query.known;
	return 0;
}

int machine_query(int fd, const struct sifive_trace_event *event,
		  struct sifive_trace_query *query)
{
	struct sifive_trace_encoder encoder;
	cpu_set_t before, one;
	int error = ENODEV;
	uint32_t i;

	query->counters = ~0u;
	query->readable = ~0u;
	query->known = ~0u;
	if (sched_getaffinity(0, sizeof(before), &before))
		return errno;
	for (i = 0; machine_encoder(fd, i, &encoder); i++) {
		if (encoder.cpu < 0 || encoder.cpu >= CPU_SETSIZE)
			continue;
		CPU_ZERO(&one);
		CPU_SET(encoder.cpu, &one);
		/* Skip an offline CPU. */
		if (sched_setaffinity(0, sizeof(one), &one))
			continue;
		error = query_here(fd, event, query);
		if (error)
			break;
	}
	sched_setaffinity(0, sizeof(before), &before);
	return error;
}

/* Write the name of a counter: cycle, timestamp, instret, or hpmcounter with its number. */
static int counter_name(unsigned int number, char *text, size_t size)
{
	static const char * const fixed[] = { "cycle", "timestamp", "instret" };

	if (number < 3)
		return snprintf(text, size, "%s", fixed[number]);
	return snprintf(text, size, "hpmcounter%u", number);
}

void machine_counters(uint32_t mask, char *text, size_t size)
{
	unsigned int first, last;
	size_t used = 0;

	snprintf(text, size, "none");
	for (first = 0; first < 32; first = last + 1) {
		last = first;
		if (!(mask >> first & 1))
			continue;
		if (used)
			used += (size_t)snprintf(text + used, size - used, ", ");
		used += (size_t)counter_name(first, text + used, size - used);
		while (first > 2 && last < 31 && mask >> (last + 1) & 1)
			last++;
		if (last > first)
			used += (size_t)snprintf(text + used, size - used, "-%u",
						 last);
	}
}

void machine_counting(const struct sifive_trace_event *event, uint32_t mask, char *text,
		      size_t size)
{
	if (mask && event->type == SIFIVE_TRACE_EVENT_FIRMWARE)
		snprintf(text, size, "firmware");
	else
		machine_counters(mask, text, size);
}

unsigned int machine_changed(const struct sifive_trace_status *status)
{
	unsigned int encoders = (unsigned int)__builtin_popcountll(status->changed);

	/* The mask has bits only for encoders. If no bit is set, a funnel was changed. */
	return encoders || !(status->flags & SIFIVE_TRACE_STATUS_CHANGED) ? encoders : 1;
}

void machine_sinks(uint32_t mask, char *text, size_t size)
{
	static const char * const names[] = {
		[SIFIVE_TRACE_SINK_SRAM] = "sram", [SIFIVE_TRACE_SINK_ATB] = "atb",
		[SIFIVE_TRACE_SINK_PIB] = "pib", [SIFIVE_TRACE_SINK_SBA] = "sba",
		[SIFIVE_TRACE_SINK_FUNNEL] = "funnel",
	};
	size_t used = 0;
	unsigned int i;

	snprintf(text, size, "none");
	for (i = SIFIVE_TRACE_SINK_SRAM; i <= SIFIVE_TRACE_SINK_FUNNEL; i++)
		if (mask >> i & 1)
			used += (size_t)snprintf(text + used, size - used, "%s%s",
						 used ? " " : "", names[i]);
}

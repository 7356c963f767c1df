// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace info: shows the trace hardware, and whether tracing would work. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../command.h"
#include "bugreport.h"
#include "doctor.h"
#include "events.h"
#include "machine.h"
#include "nodes.h"

/* Print one line; an empty @key continues the previous line. */
static void line(const char *key, const char *text)
{
	printf("%-11s %s\n", key, text);
}

static void show_system(void)
{
	const struct family *family;
	char cpu[MACHINE_CPU_SIZE];
	char text[256], more[64];
	struct utsname name;

	machine_file("/proc/device-tree/model", text, sizeof(text));
	if (*text)
		line("Machine", text);
	if (machine_cpu(cpu)) {
		family = family_of(cpu);
		snprintf(text, sizeof(text), "%s%s%s", cpu,
			 family ? ": " : "", family ? family->cores : "");
		line("Processor", text);
	}
	if (!uname(&name)) {
		snprintf(text, sizeof(text), "%s %s", name.sysname, name.release);
		line("Kernel", text);
	}
	machine_firmware(text, sizeof(text));
	line("Firmware", *text ? text : "unknown: the kernel log cannot be read, or has lost its beginning");
	machine_file("/proc/sys/kernel/perf_user_access", more, sizeof(more));
	if (*more) {
		snprintf(text, sizeof(text), "kernel.perf_user_access = %s: %s",
			 more, *more == '2' ?
			 "any program may read cycle and instret" :
			 *more == '1' ? "programs may read counters that perf gives them" :
			 "programs may not read perf's counters");
		line("perf", text);
		line("", "(a session opens its counters to its own threads in any case)");
	}
}

/* Show the result of the encoder's self-test in the last session. */
static void show_messages(const struct sifive_trace_encoder *e)
{
	char text[160];

	if (e->flags & SIFIVE_TRACE_ENCODER_SILENT) {
		line("", "  none of its messages arrived when the last session tested it");
		return;
	}
	if (!(e->flags & SIFIVE_TRACE_ENCODER_TESTED)) {
		line("", "  not tested yet: a session tests its messages");
		return;
	}
	snprintf(text, sizeof(text),
		 "  registers 0x%08x produce messages, 0x%08x with timestamps%s%s%s", e->registers,
		 e->ts_registers,
		 e->flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS ? "; 16 channels" : "",
		 e->flags & SIFIVE_TRACE_ENCODER_TS_READABLE ? "; time readable" : "",
		 e->flags & SIFIVE_TRACE_ENCODER_CAN_STALL ? "; stalls" : "");
	line("", text);
	if (!e->ts_registers)
		line("", "  its messages have no timestamps: traces contain no times");
}

static void show_encoders(int fd)
{
	struct sifive_trace_encoder e;
	char sinks[64], text[256];
	uint32_t i;

	for (i = 0; machine_encoder(fd, i, &e); i++) {
		machine_sinks(e.sinks, sinks, sizeof(sinks));
		snprintf(text, sizeof(text),
			 "%-6s cpu %-3d hart %-3" PRIu64 " source %-2u sinks: %s%s",
			 e.name, e.cpu, (uint64_t)e.hart, e.src, sinks,
			 e.flags & SIFIVE_TRACE_ENCODER_RAWIO ?
			 "; needs CAP_SYS_RAWIO" : "");
		line(i ? "" : "Encoders", text);
		show_messages(&e);
	}
}

/* Show the largest buffer of each SBA sink. */
static void show_buffers(void)
{
	static struct trace_node nodes[NODES_MAX];
	unsigned int count = nodes_find(nodes), i;
	const char *key = "Buffers";
	char text[320], kind[16];
	uint64_t bytes;

	for (i = 0; i < count; i++) {
		if (nodes[i].state != NODE_BOUND ||
		    sscanf(nodes[i].memory, "%15[a-z]: %" SCNu64 " bytes", kind, &bytes) != 2)
			continue;
		if (bytes)
			snprintf(text, sizeof(text), "%s up to %" PRIu64 " bytes, %s",
				 strrchr(nodes[i].path, '/') + 1, bytes, kind);
		else
			snprintf(text, sizeof(text), "%s limited by the free memory of CMA",
				 strrchr(nodes[i].path, '/') + 1);
		line(key, text);
		key = "";
	}
}

static void show_timestamps(const struct sifive_trace_info *info)
{
	char text[160];

	if (!info->ts_width)
		snprintf(text, sizeof(text), "none");
	else if (info->ts_hz)
		snprintf(text, sizeof(text), "%u bits, %.6g MHz%s", info->ts_width,
			 (double)info->ts_hz / 1e6,
			 info->flags & SIFIVE_TRACE_INFO_TS_MEASURED ?
			 " (measured)" : "");
	else
		snprintf(text, sizeof(text),
			 "%u bits; their rate is measured when a session begins",
			 info->ts_width);
	line("Timestamps", text);
}

static void show_features(const struct sifive_trace_info *info)
{
	char text[160], sinks[64];

	snprintf(text, sizeof(text), "%u", info->funnels);
	line("Funnels", text);
	machine_sinks(info->sinks_available, sinks, sizeof(sinks));
	line("Sinks", sinks);
	show_buffers();
	show_timestamps(info);
	line("Counters", info->flags & SIFIVE_TRACE_INFO_COUNTERS ?
	     "taken alongside perf (Sscofpmf)" :
	     info->flags & SIFIVE_TRACE_INFO_COUNTERS_PERF ?
	     "cycles and instructions, as perf events (no Sscofpmf)" : "none");
	if (info->flags & SIFIVE_TRACE_INFO_FIXED_SHARED)
		line("", "(perf may take cycle and instret: its driver here is unknown)");
	line("Sampling", info->flags & SIFIVE_TRACE_INFO_OVERFLOW ?
	     "by time, and by any event with a counter" : "by time");
}

static void show_session(int fd)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	char text[200], who[64] = "";

	if (ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status))
		return;
	if (status.holder)
		machine_process(status.holder, who, sizeof(who));
	snprintf(text, sizeof(text), "%s%s%s; %" PRIu64 " bytes captured",
		 status.flags & SIFIVE_TRACE_STATUS_CONFIGURED ?
		 "of process " : "none",
		 status.flags & SIFIVE_TRACE_STATUS_CONFIGURED ? who : "",
		 status.flags & SIFIVE_TRACE_STATUS_RUNNING ? ", running" : "",
		 (uint64_t)status.bytes);
	line("Session", text);
}

static void show_device(int fd)
{
	struct sifive_trace_info info = { .size = sizeof(info) };
	char text[64];

	if (ioctl(fd, SIFIVE_TRACE_IOC_INFO, &info))
		return;
	snprintf(text, sizeof(text), "%s, interface %u", machine_device(),
		 info.abi);
	line("Device", text);
	show_encoders(fd);
	show_features(&info);
	show_session(fd);
}

static int write_report(const char *path, int fd)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "we") : stdout;

	if (file)
		bugreport(file, fd);
	if (file && !ferror(file) && !(file == stdout ? fflush(file) : fclose(file)))
		return EXIT_OK;
	report("cannot write %s: %s", path, strerror(errno));
	return EXIT_UNREADABLE;
}

static int show(int fd)
{
	show_system();
	if (fd >= 0)
		show_device(fd);
	putchar('\n');
	return doctor(stdout, "") ? EXIT_OK : EXIT_LOSSES;
}

static const struct cli_option info_options[] = {
	{ .letter = 'r', .name = "report", .value = "FILE",
	  .help = "write the data for a bug report to FILE instead, or to standard output for -",
	  .set = cli_text },
	{ .name = NULL }
};

static const struct cli_group info_groups[] = {
	{ NULL, info_options, 0 }, { .options = NULL }
};

static int command_info(int argc, char **argv)
{
	const char *path = NULL;
	int fd, rc;

	rc = cli_parse(&info_command, &path, argc, argv);
	if (!rc)
		rc = cli_arguments(&info_command, 0, argc, argv);
	if (rc)
		return rc;
	/* Users without the right to trace can open the device read-only. */
	fd = open(machine_device(), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fd = open(machine_device(), O_RDONLY | O_CLOEXEC);
	rc = path ? write_report(path, fd) : show(fd);
	if (fd >= 0)
		close(fd);
	return rc;
}

const struct cli_command info_command = {
	.name = "info",
	.run = command_info,
	.summary = "show this machine's trace hardware and what is missing",
	.help = "Show this machine's trace hardware, what is missing for tracing, and what to do about it.",
	.groups = info_groups,
	.status = "Exit status: 0 tracing would work, or the report is written; 1 tracing would not work; 2 usage error; 3 the report cannot be written.",
};

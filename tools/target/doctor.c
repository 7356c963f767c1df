// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See doctor.h. Each check says what it has found and what to do. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "doctor.h"
#include "machine.h"

/* How much of one finding fits: a list of counters and some words. */
#define FINDING_SIZE	700

#define COMMAND	"sifive-trace"

static bool works;

/* Tracing would not work. */
__attribute__((format(printf, 1, 2)))
static void wrong(const char *format, ...)
{
	char text[FINDING_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	printf("PROBLEM  %s\n", text);
	works = false;
}

/* It would, not with everything. */
__attribute__((format(printf, 1, 2)))
static void note(const char *format, ...)
{
	char text[FINDING_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	printf("note     %s\n", text);
}

static void fix(const char *text)
{
	printf("         -> %s\n", text);
}

static void no_encoder(void)
{
	wrong("the module has found no trace encoder");
	fix("the device tree needs nodes for encoders (compatible = \"sifive,trace-encoder0\"); ls /sys/bus/platform/drivers/sifive-trace-encoder shows what is bound");
}

static void no_device(int error)
{
	const char *path = machine_device();

	if (error == EACCES) {
		wrong("%s may not be opened for writing by this user", path);
		fix("run as root, or let a udev rule give your group the device");
	} else if (error != ENOENT && error != ENXIO && error != ENODEV) {
		wrong("%s: %s", path, strerror(error));
	} else if (access("/sys/module/sifive_trace", F_OK)) {
		wrong("the kernel module is not loaded");
		fix("insmod sifive_trace.ko   (modprobe sifive_trace where it is installed)");
	} else if (error != ENOENT) {
		no_encoder();
	} else {
		wrong("the kernel module is loaded, but there is no %s", path);
		fix("mount devtmpfs on /dev, or see the kernel's log: dmesg | grep -i trace");
	}
}

static void check_privilege(void)
{
	if (machine_capable(MACHINE_CAP_PERFMON) ||
	    machine_capable(MACHINE_CAP_ADMIN))
		return;
	wrong("this user has no CAP_PERFMON, which a session needs whatever kernel.perf_event_paranoid says");
	fix("run as root, or give the command the capability, and through it what it records: setcap cap_perfmon+ep " COMMAND);
}

/* What perf's settings are good for, where they are not as usual. */
static void check_settings(void)
{
	char paranoid[16], access[16];

	machine_file("/proc/sys/kernel/perf_event_paranoid", paranoid,
		     sizeof(paranoid));
	machine_file("/proc/sys/kernel/perf_user_access", access,
		     sizeof(access));
	/* A level of Debian's, for which CAP_PERFMON is not enough. */
	if (!machine_capable(MACHINE_CAP_ADMIN) && atoi(paranoid) > 2) {
		note("kernel.perf_event_paranoid = %s: perf does not tell this user what programs load: samples of static programs, and of -a, have no names",
		     paranoid);
		fix("sysctl kernel.perf_event_paranoid=2");
	}
	if (!strcmp(access, "2")) {
		note("kernel.perf_user_access = 2: every program reads cycle and instret, whoever counts");
		fix("tracing does not need it: sysctl kernel.perf_user_access=1");
	}
}

static bool check_hardware(int fd)
{
	struct sifive_trace_info info = { .size = sizeof(info) };

	if (ioctl(fd, SIFIVE_TRACE_IOC_INFO, &info)) {
		wrong("%s is no trace device: %s", machine_device(),
		      strerror(errno));
		fix("unset SIFIVE_TRACE_DEVICE, or have it name the device");
		return false;
	}
	if (info.abi != SIFIVE_TRACE_ABI) {
		wrong("the module has interface %u, this command knows %u",
		      info.abi, SIFIVE_TRACE_ABI);
		fix("use the module and the command of one version");
		return false;
	}
	if (!info.encoders) {
		no_encoder();
		return false;
	}
	if (!(info.sinks_available & (1u << SIFIVE_TRACE_SINK_SBA |
				      1u << SIFIVE_TRACE_SINK_SRAM))) {
		wrong("the encoders have no memory to write to: %s",
		      info.funnels ? "neither they nor the funnels have a sink" :
		      info.sinks_available >> SIFIVE_TRACE_SINK_FUNNEL & 1 ?
		      "they send to a funnel, and no funnel was found" :
		      "neither a sink nor a funnel was found");
		fix("the device tree needs a node for the funnel (compatible = \"sifive,trace-funnel0\") and the graph's ports between; ls /sys/bus/platform/drivers/sifive-trace-funnel shows what is bound");
		return false;
	}
	if (!(info.flags & (SIFIVE_TRACE_INFO_COUNTERS |
			    SIFIVE_TRACE_INFO_COUNTERS_PERF))) {
		note("no counters: firmware has no SBI PMU, or perf is not in this kernel");
		fix("records have timestamps alone: record -e ''");
	}
	return true;
}

static void check_session(int fd)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	char who[64];

	if (ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status) || !status.holder ||
	    !(status.flags & SIFIVE_TRACE_STATUS_CONFIGURED))
		return;
	machine_process(status.holder, who, sizeof(who));
	wrong("process %s has the trace hardware", who);
	fix("wait for its end; sifive-trace stop ends what sifive-trace start began");
}

/* CPUs on which nothing can be recorded. */
static void check_cpus(int fd)
{
	char text[256] = "", with[256] = "";
	struct sifive_trace_encoder e;
	size_t used = 0, have = 0;
	bool rawio = false;
	cpu_set_t cpus;
	uint32_t i;
	int cpu;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return;
	for (i = 0; machine_encoder(fd, i, &e); i++) {
		rawio |= e.flags & SIFIVE_TRACE_ENCODER_RAWIO;
		if (e.cpu < 0 || e.cpu >= CPU_SETSIZE || !CPU_ISSET(e.cpu, &cpus))
			continue;
		CPU_CLR(e.cpu, &cpus);
		if (have < sizeof(with) - 16)
			have += (size_t)sprintf(with + have, "%s%d",
						have ? "," : "", e.cpu);
	}
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &cpus) && used < sizeof(text) - 16)
			used += (size_t)sprintf(text + used, "%s%d",
						used ? "," : "", cpu);
	if (!have) {
		wrong("no CPU that this process may run on has an encoder");
		fix("look at the CPUs above, and at taskset");
	} else if (used) {
		note("CPU %s: no encoder, what runs there is not recorded", text);
		printf("         -> keep the program on others: taskset -c %s PROGRAM\n",
		       with);
	}
	if (rawio && !machine_capable(MACHINE_CAP_RAWIO)) {
		wrong("encoders with a sink of their own also need CAP_SYS_RAWIO");
		fix("run as root, or: setcap cap_perfmon,cap_sys_rawio+ep " COMMAND);
	}
}

/* What firmware keeps to itself. */
static void check_delegation(int fd)
{
	struct sifive_trace_event cycles = { .code = 1 };
	struct sifive_trace_query query = { 0 };
	char text[512];
	int error = machine_query(fd, &cycles, &query);

	if (error == EOPNOTSUPP || error == EPERM)
		return;
	if (error) {
		note("cannot ask for counters: %s", strerror(error));
		return;
	}
	if (query.known & ~query.readable) {
		machine_counters(query.known & ~query.readable, text,
				 sizeof(text));
		note("firmware does not let user mode read %s", text);
		fix("these cannot be recorded: it takes a firmware that sets their mcounteren bits");
	}
	if (!query.counters) {
		note("nothing is free to count cycles: perf or another program counts");
		fix("end it, or record other events: sifive-trace list");
	}
}

static void check_kernel(void)
{
#ifdef SYS_rseq
	if (syscall(SYS_rseq, NULL, 0, 0, 0) && errno == ENOSYS) {
		note("this kernel has no restartable sequences (CONFIG_RSEQ)");
		fix("a program that is recorded stays on one CPU: taskset -c 1 PROGRAM");
	}
#endif
}

bool doctor(void)
{
	int fd = open(machine_device(), O_RDWR | O_CLOEXEC);

	works = true;
	if (fd < 0) {
		no_device(errno);
	} else if (check_hardware(fd)) {
		check_privilege();
		check_settings();
		check_session(fd);
		check_cpus(fd);
		check_delegation(fd);
		check_kernel();
	}
	if (fd >= 0)
		close(fd);
	puts(works ? "Tracing works here." : "Tracing would not work here.");
	return works;
}

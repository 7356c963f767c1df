// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See doctor.h. Each check reports a finding and its remedy. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "doctor.h"
#include "machine.h"
#include "nodes.h"

/* Size of a finding's text, which may contain a list of counters. */
#define FINDING_SIZE	700

#define COMMAND	"sifive-trace"

static bool works;
static FILE *out;
static const char *begin;

/* Print a finding, which prevents tracing if @stops is set, and otherwise restricts it. */
__attribute__((format(printf, 2, 3)))
static void finding(bool stops, const char *format, ...)
{
	char text[FINDING_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(out, "%s%s %s\n", begin, stops ? "PROBLEM " : "note    ", text);
	if (stops)
		works = false;
}

#define wrong(...)	finding(true, __VA_ARGS__)
#define note(...)	finding(false, __VA_ARGS__)

__attribute__((format(printf, 1, 2)))
static void fix(const char *format, ...)
{
	va_list arguments;

	fprintf(out, "%s         -> ", begin);
	va_start(arguments, format);
	vfprintf(out, format, arguments);
	va_end(arguments);
	putc('\n', out);
}

static void explain_memory(const struct trace_node *n)
{
	if (!strncmp(n->memory, "unusable: ", strlen("unusable: "))) {
		wrong("%s has no memory for its trace: %s", n->path,
		      n->memory + strlen("unusable: "));
		fix("memory-region must refer to an enabled node of /reserved-memory, within the machine's memory, that overlaps nothing else: Documentation/devicetree/bindings/trace");
	} else if (!strncmp(n->memory, "allocated", strlen("allocated"))) {
		note("%s has no memory-region: its buffers come from the kernel's allocator",
		     n->path);
		fix("for larger buffers, reserve memory in the device tree: Documentation/devicetree/bindings/trace");
	}
}

/* Report why the module does not use a node, or why its use is restricted. */
static void explain_node(const struct trace_node *n, bool stops)
{
	const char *driver = n->funnel ? "sifive-trace-funnel" :
					 "sifive-trace-encoder";

	switch (n->state) {
	case NODE_DISABLED:
		finding(stops, "%s is disabled in the device tree", n->path);
		fix("set its status property to \"okay\", or remove the property");
		break;
	case NODE_OLDER:
		finding(stops, "%s has the older compatible \"%s\"", n->path,
			n->compatible);
		fix("add nodes with \"sifive,trace-encoder0\" and \"sifive,trace-funnel0\" to the device tree: Documentation/p550.md shows how");
		break;
	case NODE_FOREIGN:
		finding(stops, "%s is bound to the driver %s", n->path, n->detail);
		fix("unload that driver, or: echo %s >/sys/bus/platform/drivers/%s/unbind; echo %s >/sys/bus/platform/drivers/%s/bind",
		    n->device, n->detail, n->device, driver);
		break;
	case NODE_REFUSED:
		finding(stops, "the module refuses %s: %s", n->path, n->detail);
		fix("correct the node as Documentation/devicetree/bindings/trace describes; if it is already correct, report a bug with the output of sifive-trace info --report FILE");
		break;
	case NODE_WAITING:
		finding(stops, "%s waits for %s", n->path,
			*n->detail ? n->detail : "a supplier that has no device");
		if (*n->detail)
			fix("load the driver of %s, or build it into the kernel",
			    n->detail);
		else
			fix("correct the node's power-domains, clocks and resets, or enable the nodes that they name");
		break;
	case NODE_IDLE:
		if (!nodes_module())
			break;
		finding(stops, "%s is not bound", n->path);
		if (*n->device)
			fix("echo %s >/sys/bus/platform/drivers/%s/bind", n->device,
			    driver);
		else
			fix("its parent in the device tree needs compatible = \"simple-bus\"");
		break;
	case NODE_BOUND:
		explain_memory(n);
		break;
	}
}

/* The kinds of components in the device tree, and those that the module uses. */
struct kinds {
	bool has[2], uses[2];	/* [true]: funnels */
};

static struct kinds kinds_of(const struct trace_node *nodes, unsigned int count)
{
	struct kinds kinds;
	unsigned int i;

	memset(&kinds, 0, sizeof(kinds));
	for (i = 0; i < count; i++) {
		kinds.has[nodes[i].funnel] |= nodes[i].state != NODE_OLDER;
		kinds.uses[nodes[i].funnel] |= nodes[i].state == NODE_BOUND;
	}
	return kinds;
}

static struct kinds check_nodes(void)
{
	static struct trace_node nodes[NODES_MAX];
	unsigned int count = nodes_find(nodes), i;
	struct kinds kinds = kinds_of(nodes, count);

	if (!count) {
		wrong("the device tree has no node for a trace encoder");
		fix("add nodes: Documentation/p550.md has them for the HiFive Premier P550, Documentation/devicetree/bindings/trace describes them");
	}
	for (i = 0; i < count; i++)
		/* Nodes of the older binding are harmless if newer nodes exist. */
		if (nodes[i].state != NODE_OLDER || !(kinds.has[0] || kinds.has[1]))
			explain_node(&nodes[i], !kinds.uses[nodes[i].funnel]);
	return kinds;
}

static void no_device(int error)
{
	const char *path = machine_device();

	if (error == EACCES) {
		wrong("%s may not be opened for writing by this user", path);
		fix("run as root, or give your group the device with a udev rule");
	} else if (error != ENOENT && error != ENXIO && error != ENODEV) {
		wrong("%s: %s", path, strerror(error));
	} else if (!nodes_module()) {
		wrong("the kernel module is not loaded");
		fix("insmod sifive_trace.ko   (modprobe sifive_trace where it is installed)");
	} else if (error != ENOENT) {
		wrong("the kernel module is loaded, but found no trace encoder");
	} else {
		wrong("the kernel module is loaded, but there is no %s", path);
		fix("mount devtmpfs on /dev; unset SIFIVE_TRACE_DEVICE, or set it to the device");
	}
}

static void check_privilege(void)
{
	if (machine_capable(MACHINE_CAP_PERFMON) ||
	    machine_capable(MACHINE_CAP_ADMIN))
		return;
	wrong("this user has no CAP_PERFMON, which a session needs regardless of kernel.perf_event_paranoid");
	fix("run as root, or give the command the capability, which it passes to recorded programs: setcap cap_perfmon+ep " COMMAND);
}

/* Report unusual perf settings. */
static void check_settings(void)
{
	char paranoid[16], access[16];

	machine_file("/proc/sys/kernel/perf_event_paranoid", paranoid,
		     sizeof(paranoid));
	machine_file("/proc/sys/kernel/perf_user_access", access,
		     sizeof(access));
	/*
	 * At levels above 2, which Debian's kernels support, perf requires CAP_SYS_ADMIN:
	 * CAP_PERFMON is not enough.
	 */
	if (!machine_capable(MACHINE_CAP_ADMIN) && atoi(paranoid) > 2) {
		note("kernel.perf_event_paranoid = %s: perf does not report to this user which objects programs load: samples of static programs, and of -a, have no names",
		     paranoid);
		fix("sysctl kernel.perf_event_paranoid=2");
	}
	if (!strcmp(access, "2")) {
		note("kernel.perf_user_access = 2: all programs can read cycle and instret, in all sessions");
		fix("tracing does not need it: sysctl kernel.perf_user_access=1");
	}
}

static bool check_hardware(int fd, const struct kinds *kinds)
{
	struct sifive_trace_info info = { .size = sizeof(info) };

	if (ioctl(fd, SIFIVE_TRACE_IOC_INFO, &info)) {
		wrong("%s is not a trace device: %s", machine_device(),
		      strerror(errno));
		fix("unset SIFIVE_TRACE_DEVICE, or set it to the device");
		return false;
	}
	if (info.abi != SIFIVE_TRACE_ABI) {
		wrong("the module has interface version %u, this command needs %u",
		      info.abi, SIFIVE_TRACE_ABI);
		fix("use the module and the command from the same version");
		return false;
	}
	if (!(info.sinks_available & (1u << SIFIVE_TRACE_SINK_SBA |
				      1u << SIFIVE_TRACE_SINK_SRAM))) {
		wrong("the encoders have no memory for their trace: %s",
		      info.funnels ? "neither they nor the funnels have a sink" :
		      info.sinks_available >> SIFIVE_TRACE_SINK_FUNNEL & 1 ?
		      "they send to a funnel, and no funnel was found" :
		      "neither a sink nor a funnel was found");
		if (!kinds->has[true])
			fix("the device tree needs a node for the funnel (compatible = \"sifive,trace-funnel0\") and the graph's ports between");
		else if (kinds->uses[true])
			fix("correct the graph's ports between encoders and funnel in the device tree");
		return false;
	}
	if (!(info.flags & (SIFIVE_TRACE_INFO_COUNTERS |
			    SIFIVE_TRACE_INFO_COUNTERS_PERF))) {
		note("no counters: firmware has no SBI PMU; or the harts have no Sscofpmf and the kernel no RISCV_PMU_SBI");
		fix("records then contain only timestamps: record -e ''");
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
	wrong("process %s holds the trace hardware", who);
	fix("wait until it ends; if sifive-trace start began the recording, end it with sifive-trace stop");
}

/* Report CPUs on which recording is not possible. */
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
		fix("see the CPUs above, and taskset(1)");
	} else if (used) {
		note("CPU %s: no encoder: nothing is recorded there", text);
		fix("keep the program on other CPUs: taskset -c %s PROGRAM", with);
	}
	if (rawio && !machine_capable(MACHINE_CAP_RAWIO)) {
		wrong("encoders with their own sink also need CAP_SYS_RAWIO");
		fix("run as root, or: setcap cap_perfmon,cap_sys_rawio+ep " COMMAND);
	}
}

/*
 * Write the names of encoders that have @flag, and from which no timestamp arrived; return whether
 * any exist.
 */
static bool name_untimed(int fd, uint32_t flag, char *text, size_t size)
{
	struct sifive_trace_encoder e;
	size_t used = 0;
	uint32_t i;

	for (i = 0; machine_encoder(fd, i, &e); i++)
		if (e.flags & flag && !e.ts_registers && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%s",
						 used ? ", " : "", e.name);
	return used;
}

/* Report the encoders that failed the last session's self-test. */
static void check_messages(int fd)
{
	char text[FINDING_SIZE / 2];

	if (name_untimed(fd, SIFIVE_TRACE_ENCODER_SILENT, text, sizeof(text))) {
		wrong("no message of %s arrived when the last session tested it: its messages go elsewhere or are lost",
		      text);
		fix("correct the out-ports of this node, and the in-ports of the funnel, in the device tree: they must agree with the hardware's wiring");
	}
	if (name_untimed(fd, SIFIVE_TRACE_ENCODER_TESTED, text, sizeof(text))) {
		note("the messages of %s have no timestamps: traces contain no times", text);
		fix("record counts instead, such as record -e cycles");
	}
}

/* Report counters that firmware does not delegate. */
static void check_delegation(int fd)
{
	struct sifive_trace_event cycles = { .code = 1 };
	struct sifive_trace_query query = { 0 };
	char text[512];
	int error = machine_query(fd, &cycles, &query);

	if (error == EOPNOTSUPP || error == EPERM)
		return;
	if (error) {
		note("cannot query counters: %s", strerror(error));
		return;
	}
	if (query.known & ~query.readable) {
		machine_counters(query.known & ~query.readable, text,
				 sizeof(text));
		note("firmware does not let user mode read %s", text);
		fix("record other counters, or use firmware that sets their mcounteren bits");
	}
	if (!query.counters) {
		note("no counter for cycles is free: perf or another program uses them");
		fix("end that program, or record other events: sifive-trace list");
	}
}

/*
 * Check whether the command may map executable memory. If not, recorded programs use slower code.
 */
static void check_code(void)
{
	const size_t size = (size_t)getpagesize();
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (mprotect(page, size, PROT_READ | PROT_EXEC)) {
		note("no executable memory: %s; recording functions takes several times as long",
		     strerror(errno));
		fix("allow it for recorded programs: systemd MemoryDenyWriteExecute=no, SELinux execmem");
	}
	munmap(page, size);
}

static void check_kernel(void)
{
#ifdef SYS_rseq
	if (syscall(SYS_rseq, NULL, 0, 0, 0) && errno == ENOSYS) {
		note("this kernel has no restartable sequences (CONFIG_RSEQ)");
		fix("use a kernel with CONFIG_RSEQ: functions and the program's own records need it");
	}
#endif
}

bool doctor(FILE *to, const char *prefix)
{
	int fd = open(machine_device(), O_RDWR | O_CLOEXEC);
	int error = errno;
	struct kinds kinds;

	out = to;
	begin = prefix;
	works = true;
	if (fd < 0)
		no_device(error);
	kinds = check_nodes();
	if (fd >= 0 && check_hardware(fd, &kinds)) {
		check_privilege();
		check_settings();
		check_session(fd);
		check_cpus(fd);
		check_messages(fd);
		check_delegation(fd);
		check_kernel();
		check_code();
	}
	if (fd >= 0)
		close(fd);
	fprintf(out, "%s%s\n", begin,
		works ? "Tracing works here." : "Tracing would not work here.");
	return works;
}

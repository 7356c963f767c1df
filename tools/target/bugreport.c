// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * See bugreport.h. Keys never change, so that reports can be compared line by line. Only selected
 * data is reported, never a whole file with unknown contents.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bugreport.h"
#include "doctor.h"
#include "events.h"
#include "machine.h"
#include "nodes.h"

#define TREE		"/sys/firmware/devicetree/base"
#define DEVICES		"/sys/bus/platform/devices"
#define REGISTERS	"/sys/kernel/debug/sifive-trace"
#define MODULE		"/sys/module/sifive_trace"

static FILE *out;

__attribute__((format(printf, 2, 3)))
static void put(const char *key, const char *format, ...)
{
	va_list arguments;

	fprintf(out, "%s: ", key);
	va_start(arguments, format);
	vfprintf(out, format, arguments);
	va_end(arguments);
	putc('\n', out);
}

/* Write the first line of a file under the given key, or nothing if the file does not exist. */
static void put_file(const char *key, const char *path)
{
	char text[256];

	machine_file(path, text, sizeof(text));
	if (*text)
		put(key, "%s", text);
}

static void machine(void)
{
	char text[256];
	struct utsname name;

	put_file("machine.model", TREE "/model");
	if (machine_cpu(text))
		put("machine.processor", "%s", text);
	if (!uname(&name)) {
		put("kernel.release", "%s", name.release);
		put("kernel.version", "%s", name.version);
		put("kernel.machine", "%s", name.machine);
	}
	machine_firmware(text, sizeof(text));
	if (*text)
		put("firmware", "%s", text);
	put_file("perf.perf_user_access", "/proc/sys/kernel/perf_user_access");
	put_file("perf.perf_event_paranoid",
		 "/proc/sys/kernel/perf_event_paranoid");
}

static bool is_one_of(const char *name, const char * const *names)
{
	while (*names && strcmp(name, *names))
		names++;
	return *names;
}

/* For each CPU, write the fields of /proc/cpuinfo that names[] lists. */
static void processors(void)
{
	static const char * const names[] = { "hart", "isa", "mmu", "uarch", NULL };
	char line[1024], *value, *end;
	unsigned int cpu = 0;
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		value = strstr(line, ": ");
		if (!value)
			continue;
		for (end = value; end > line && strchr(" \t", end[-1]); end--)
			;
		*end = '\0';
		value += 2;
		if (!strcmp(line, "processor"))
			cpu = (unsigned int)strtoul(value, NULL, 10);
		else if (is_one_of(line, names))
			fprintf(out, "cpu.%u.%s: %s\n", cpu, line, value);
	}
	if (file)
		fclose(file);
}

/* ---- device tree ------------------------------------------------------------- */

static bool is_text(const unsigned char *bytes, size_t length)
{
	size_t i;

	if (length < 2 || bytes[length - 1] || !bytes[0])
		return false;
	for (i = 0; i < length; i++)
		if (bytes[i] && (bytes[i] < ' ' || bytes[i] > '~'))
			return false;
	return true;
}

/* Write a property as in device tree source: strings, or hexadecimal words; "yes" if empty. */
static void put_property(const char *node, const char *name)
{
	unsigned char bytes[256];
	char path[512];
	size_t length, i;
	bool text;
	FILE *file;

	snprintf(path, sizeof(path), TREE "%s/%s", node, name);
	file = fopen(path, "re");
	if (!file)
		return;
	length = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	fprintf(out, "tree.%s.%s:%s", *node ? node : "/", name, length ? "" : " yes");
	text = is_text(bytes, length);
	for (i = 0; text && i < length; i += strlen((char *)bytes + i) + 1)
		fprintf(out, " \"%s\"", (char *)bytes + i);
	for (i = 0; !text && i + 4 <= length; i += 4)
		fprintf(out, " 0x%x", (unsigned int)bytes[i] << 24 |
			bytes[i + 1] << 16 | bytes[i + 2] << 8 | bytes[i + 3]);
	putc('\n', out);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* List the entries of a directory, sorted. A directory that cannot be read counts as empty. */
static int list_dir(const char *path, struct dirent ***entries)
{
	int count = scandir(path, entries, visible, by_name);

	return count < 0 ? 0 : count;
}

static void free_list(struct dirent **entries, int count)
{
	while (count-- > 0)
		free(entries[count]);
	free(entries);
}

/* Write a node's relevant properties, none of which identifies the machine. */
static void put_properties(const char *node)
{
	static const char * const names[] = {
		"compatible", "status", "reg", "ranges", "cpus", "clocks", "resets",
		"power-domains", "memory-region", "dma-coherent", "dma-noncoherent",
		"dma-ranges", "no-map", "reusable", "size", "alignment",
		"alloc-ranges", "riscv,event-to-mhpmcounters",
		"riscv,event-to-mhpmevent", "riscv,raw-event-to-mhpmcounters",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_property(node, names[i]);
}

static void reserved_memory(void)
{
	struct dirent **entries = NULL;
	char node[300];
	int count = list_dir(TREE "/reserved-memory", &entries), i;

	for (i = 0; i < count; i++) {
		if (entries[i]->d_type != DT_DIR)
			continue;
		snprintf(node, sizeof(node), "/reserved-memory/%s",
			 entries[i]->d_name);
		put_properties(node);
	}
	free_list(entries, count);
}

static void identity(const struct trace_node *node)
{
	static const char * const names[] = {
		"version", "hart", "cpu", "source", "source_bits", "sinks",
		"memory",
	};
	char path[512], text[64];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), DEVICES "/%s/%s", node->device, names[i]);
		machine_file(path, text, sizeof(text));
		if (*text)
			fprintf(out, "component.%s.%s: %s\n", node->path, names[i],
				text);
	}
}

static void nodes(void)
{
	static const char * const states[] = {
		[NODE_BOUND] = "bound", [NODE_DISABLED] = "disabled",
		[NODE_OLDER] = "older compatible", [NODE_FOREIGN] = "other driver",
		[NODE_REFUSED] = "refused", [NODE_WAITING] = "waiting",
		[NODE_IDLE] = "not bound",
	};
	static struct trace_node found[NODES_MAX];
	unsigned int count = nodes_find(found), i;

	put_properties("");
	put_properties("/soc");
	for (i = 0; i < count; i++) {
		fprintf(out, "component.%s: %s%s%s\n", found[i].path,
			states[found[i].state], *found[i].detail ? ": " : "",
			found[i].detail);
		identity(&found[i]);
		put_properties(found[i].path);
	}
	reserved_memory();
	put_properties("/pmu");
}

/* ---- registers, device ------------------------------------------------------- */

static void registers_of(const char *name)
{
	char path[512], line[256];
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), REGISTERS "/%s", name);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		length = strcspn(line, " ");
		fprintf(out, "register.%s.%.*s: %s\n", name, (int)length, line,
			line + length + strspn(line + length, " "));
	}
	if (file)
		fclose(file);
}

static void registers(void)
{
	struct dirent **entries = NULL;
	int count = list_dir(REGISTERS, &entries), i;

	for (i = 0; i < count; i++)
		registers_of(entries[i]->d_name);
	if (!count)
		put("missing", "registers: run as root, with debugfs: mount -t debugfs none /sys/kernel/debug");
	free_list(entries, count);
}

static void put_encoder(const struct sifive_trace_encoder *e)
{
	char key[64];

	snprintf(key, sizeof(key), "encoder.%u", e->index);
	put(key, "%s cpu %d hart %" PRIu64 " source %u of %u bits, sinks 0x%x, timestamps type %u of %u bits, flags 0x%x",
	    e->name, e->cpu, (uint64_t)e->hart, e->src, e->src_bits, e->sinks,
	    e->ts_type, e->ts_width, e->flags);
}

/* Return a flag as text; flags are known only for encoders that took part in the last capture. */
static const char *in_capture(const struct sifive_trace_encoder *e, uint32_t flag)
{
	if (!(e->flags & SIFIVE_TRACE_ENCODER_SELECTED))
		return "unknown";
	return e->flags & flag ? "yes" : "no";
}

static void self_test(const struct sifive_trace_encoder *e)
{
	char key[64], channels[32 * sizeof("255,")];
	size_t used = 0;
	unsigned int i;

	snprintf(key, sizeof(key), "selftest.%u", e->index);
	if (e->flags & SIFIVE_TRACE_ENCODER_SILENT) {
		put(key, "no message arrived");
		return;
	}
	if (!(e->flags & SIFIVE_TRACE_ENCODER_TESTED)) {
		put("missing", "%s: run a self-test with: sifive-trace record -o /tmp/trace.rtd true", key);
		return;
	}
	for (i = 0; i < sizeof(e->channel); i++)
		used += (size_t)sprintf(channels + used, "%s%u", i ? "," : "", e->channel[i]);
	put(key, "stalls %s, tsLower ticks %s, registers 0x%08x, with timestamps 0x%08x, channels %s",
	    in_capture(e, SIFIVE_TRACE_ENCODER_CAN_STALL),
	    in_capture(e, SIFIVE_TRACE_ENCODER_TS_READABLE), e->registers, e->ts_registers,
	    channels);
}

static void device(int fd)
{
	struct sifive_trace_info info = { .size = sizeof(info) };
	struct sifive_trace_status status = { .size = sizeof(status) };
	struct sifive_trace_encoder e;
	uint32_t i;

	if (fd < 0 || ioctl(fd, SIFIVE_TRACE_IOC_INFO, &info)) {
		put("missing", "device: %s", strerror(errno));
		return;
	}
	put("device.abi", "%u", info.abi);
	put("device.encoders", "%u", info.encoders);
	put("device.funnels", "%u", info.funnels);
	put("device.sinks", "0x%x", info.sinks_available);
	put("device.flags", "0x%x", info.flags);
	put("device.timestamps", "%u bits, %" PRIu64 " Hz%s", info.ts_width,
	    (uint64_t)info.ts_hz, info.flags & SIFIVE_TRACE_INFO_TS_MEASURED ?
	    ", measured" : "");
	for (i = 0; machine_encoder(fd, i, &e); i++) {
		put_encoder(&e);
		self_test(&e);
	}
	if (!ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status))
		put("session", "flags 0x%x, %" PRIu64 " bytes", status.flags,
		    (uint64_t)status.bytes);
}

/* ---- counters, kernel log ---------------------------------------------------- */

static void put_event(int fd, const struct perf_event_id *id)
{
	struct sifive_trace_event event = {
		.type = id->type, .code = id->code, .data = id->data,
	};
	struct sifive_trace_query query = { 0 };
	char key[80] = "event.", text[256];

	perf_event_name(id, key + strlen(key), sizeof(key) - strlen(key));
	if (machine_query(fd, &event, &query) || !query.counters)
		return;
	machine_counting(&event, query.counters, text, sizeof(text));
	put(key, "%s", text);
}

static void counters(int fd)
{
	struct sifive_trace_event cycles = { .code = 1 };
	struct sifive_trace_query query = { 0 };
	struct perf_event_id event;
	char text[256];
	int error = fd < 0 ? ENODEV : machine_query(fd, &cycles, &query);
	size_t i;

	if (error) {
		put("missing", "counters: %s", strerror(error));
		return;
	}
	machine_counters(query.known, text, sizeof(text));
	put("counter.known", "%s", text);
	machine_counters(query.readable, text, sizeof(text));
	put("counter.readable", "%s", text);
	for (i = 0; events_usual(i, &event); i++)
		put_event(fd, &event);
}

/*
 * Include only lines from this driver and the PMU driver, because other lines may contain the
 * kernel command line.
 */
static void put_log_line(char *line)
{
	static const char * const ours[] = {
		"sifive_trace: ", "sifive-trace-encoder ", "sifive-trace-funnel ",
		"riscv-pmu-sbi: ",
	};
	char *text = strstr(line, "] ");
	size_t i;

	if (!text)
		return;
	text += 2;
	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strncmp(text, ours[i], strlen(ours[i])))
			put("log", "%s", text);
}

static void kernel_log(void)
{
	char *log = machine_log(), *line, *rest = NULL;

	if (!log) {
		put("missing", "log: run as root: %s", strerror(errno));
		return;
	}
	for (line = strtok_r(log, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		put_log_line(line);
	free(log);
}

void bugreport(FILE *to, int fd)
{
	out = to;
	put("format", "sifive-trace-report 1");
	put("command", "%s", VERSION);
	machine();
	processors();
	put("module", "%s", nodes_module() ? "loaded" : "not loaded");
	put_file("module.srcversion", MODULE "/srcversion");
	put_file("module.taint", MODULE "/taint");
	nodes();
	registers();
	device(fd);
	counters(fd);
	kernel_log();
	doctor(out, "finding: ");
}

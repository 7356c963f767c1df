// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "trace_monitor.h"

static const char ports[] = "/sys/class/virtio-ports";

static const char * const blocks[] = {
	"control", "sink", "count", "timestamp", "trigger", "itc", "stimulus",
	"sampling", "offchip", "other",
};

static int to;
static FILE *from;

/* Read the line with the reply, and skip the greeting and lines with events. */
static int answer(char *line, int size)
{
	while (fgets(line, size, from)) {
		if (strstr(line, "\"return\""))
			return 0;
		if (strstr(line, "\"error\""))
			return -1;
	}
	errx(1, "the monitor does not reply");
}

/* Return whether a virtio port has this name. */
static int is_named(const char *port, const char *wanted)
{
	char path[300], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/name", ports, port);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = 0;
	fclose(file);
	return !strcmp(name, wanted);
}

bool monitor_open(void)
{
	char path[300], line[1024];
	struct dirent *entry;
	DIR *dir = opendir(ports);

	while (dir && (entry = readdir(dir)))
		if (is_named(entry->d_name, "monitor"))
			break;
	if (dir && entry)
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
	else
		path[0] = '\0';
	if (dir)
		closedir(dir);
	if (!path[0])
		return false;

	to = open(path, O_RDWR);
	from = to < 0 ? NULL : fdopen(to, "r");
	if (!from)
		err(1, "%s", path);
	/* The reply is an error if an earlier program has negotiated capabilities. */
	dprintf(to, "{\"execute\":\"qmp_capabilities\"}\n");
	answer(line, sizeof(line));
	return true;
}

uint64_t monitor_value(const char *component, const char *property)
{
	unsigned long long value;
	char line[1024];

	dprintf(to, "{\"execute\":\"qom-get\","
		"\"arguments\":{\"path\":\"%s\",\"property\":\"%s\"}}\n",
		component, property);
	if (answer(line, sizeof(line)) ||
	    sscanf(line, "{\"return\": %llu", &value) != 1)
		errx(1, "the monitor replies: %s", line);
	return value;
}

void monitor_set(const char *component, const char *property, bool on)
{
	char line[1024];

	dprintf(to, "{\"execute\":\"qom-set\",\"arguments\":{\"path\":\"%s\","
		"\"property\":\"%s\",\"value\":%s}}\n",
		component, property, on ? "true" : "false");
	if (answer(line, sizeof(line)))
		errx(1, "the monitor replies: %s", line);
}

void monitor_read(const char *component, struct monitor_accesses *accesses)
{
	char property[64];
	unsigned int i;

	*accesses = (struct monitor_accesses) { 0 };
	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		snprintf(property, sizeof(property), "stat-loads-%s", blocks[i]);
		accesses->loads += monitor_value(component, property);
		snprintf(property, sizeof(property), "stat-stores-%s", blocks[i]);
		accesses->stores += monitor_value(component, property);
	}
}

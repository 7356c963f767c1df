// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See nodes.h. The data is in sysfs, readable by all users. */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"
#include "nodes.h"

#define TREE	"/sys/firmware/devicetree/base"
#define DEVICES	"/sys/bus/platform/devices"
#define DRIVERS	"/sys/bus/platform/drivers/"
#define OURS	"sifive-trace-"

/* Names of our drivers, indexed by trace_node.funnel. */
static const char * const drivers[] = { OURS "encoder", OURS "funnel" };
static const char * const compatibles[] = {
	"sifive,trace-encoder0", "sifive,trace-funnel0"
};

/* Globals, because nftw() passes no context. */
static struct trace_node *found;
static unsigned int count;

bool nodes_module(void)
{
	return !access(DRIVERS OURS "encoder", F_OK);
}

/* Read the NUL-terminated strings of a property, and add an empty string after them. */
static bool property(const char *node, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];
	ssize_t length;
	int fd;

	memset(text, 0, size);
	if (snprintf(path, sizeof(path), "%s/%s", node, name) >= (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, text, size - 2);
	close(fd);
	return length > 0;
}

/*
 * Return the first string in @list that our drivers support, or else the first string that begins
 * with "sifive,trace".
 */
static const char *trace_compatible(const char *list)
{
	const char *at, *first = NULL;

	for (at = list; *at; at += strlen(at) + 1) {
		if (!strcmp(at, compatibles[0]) || !strcmp(at, compatibles[1]))
			return at;
		if (!first && !strncmp(at, "sifive,trace", strlen("sifive,trace")))
			first = at;
	}
	return first;
}

static int visit(const char *path, const struct stat *status, int type,
		 struct FTW *place)
{
	char list[256], state[16];
	const char *compatible;
	struct trace_node *node;

	(void)status;
	(void)place;
	if (type != FTW_D || count == NODES_MAX ||
	    !property(path, "compatible", list, sizeof(list)))
		return 0;
	compatible = trace_compatible(list);
	if (!compatible)
		return 0;
	node = &found[count++];
	memset(node, 0, sizeof(*node));
	snprintf(node->path, sizeof(node->path), "%s", path + strlen(TREE));
	snprintf(node->compatible, sizeof(node->compatible), "%.63s", compatible);
	node->funnel = strstr(compatible, "funnel");
	node->state = strcmp(compatible, compatibles[node->funnel]) ? NODE_OLDER :
		      property(path, "status", state, sizeof(state)) &&
		      strcmp(state, "okay") && strcmp(state, "ok") ? NODE_DISABLED :
		      NODE_IDLE;
	return 0;
}

/* Resolve a link in a device's directory. */
static bool device_link(const char *device, const char *name, char *target)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), DEVICES "/%s/%s", device, name) >=
	    (int)sizeof(path))
		return false;
	return realpath(path, target);
}

/*
 * Return whether the module's list of refused devices has a line "DEVICE: REASON" for the device.
 */
static bool refused(struct trace_node *node)
{
	char line[256], path[128];
	size_t length = strlen(node->device);
	FILE *file;

	snprintf(path, sizeof(path), DRIVERS "%s/refused", drivers[node->funnel]);
	file = fopen(path, "re");
	while (file && !*node->detail && fgets(line, sizeof(line), file)) {
		if (strncmp(line, node->device, length) || line[length] != ':')
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(node->detail, sizeof(node->detail), "%s",
			 line + length + 2);
	}
	if (file)
		fclose(file);
	return *node->detail;
}

/* Return whether the first line of a file in a device's directory is @value. */
static bool holds(const char *device, const char *name, const char *value)
{
	char path[PATH_MAX], text[32];

	if (snprintf(path, sizeof(path), DEVICES "/%s/%s", device, name) >=
	    (int)sizeof(path))
		return false;
	machine_file(path, text, sizeof(text));
	return !strcmp(text, value);
}

/*
 * Return whether the node's device waits for a supplier, such as a power domain, clock or reset
 * controller: the kernel probes the device only when all its suppliers have drivers. Links to
 * suppliers are named "supplier:BUS:DEVICE".
 */
static bool waiting(struct trace_node *node)
{
	static const char prefix[] = "supplier:";
	char path[PATH_MAX], status[300];
	struct dirent *entry;
	const char *name;
	DIR *links;

	snprintf(path, sizeof(path), DEVICES "/%s", node->device);
	links = opendir(path);
	while (links && !*node->detail && (entry = readdir(links))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		snprintf(status, sizeof(status), "%s/status", entry->d_name);
		name = strchr(entry->d_name + strlen(prefix), ':');
		if (name && holds(node->device, status, "dormant"))
			snprintf(node->detail, sizeof(node->detail), "%.127s",
				 name + 1);
	}
	if (links)
		closedir(links);
	return *node->detail || holds(node->device, "waiting_for_supplier", "1");
}

static void look_at_driver(struct trace_node *node)
{
	char target[PATH_MAX], path[PATH_MAX];
	const char *driver;

	if (!device_link(node->device, "driver", target)) {
		if (node->state == NODE_IDLE && refused(node))
			node->state = NODE_REFUSED;
		else if (node->state == NODE_IDLE && waiting(node))
			node->state = NODE_WAITING;
		return;
	}
	driver = strrchr(target, '/') + 1;
	if (!strcmp(driver, drivers[node->funnel])) {
		node->state = NODE_BOUND;
		snprintf(path, sizeof(path), DEVICES "/%s/memory", node->device);
		machine_file(path, node->memory, sizeof(node->memory));
	} else if (node->state == NODE_IDLE) {
		node->state = NODE_FOREIGN;
		snprintf(node->detail, sizeof(node->detail), "%s", driver);
	}
}

static void look_at_device(const char *device)
{
	char target[PATH_MAX];
	unsigned int i;

	if (!device_link(device, "of_node", target) ||
	    strncmp(target, TREE, strlen(TREE)))
		return;
	for (i = 0; i < count; i++) {
		if (strcmp(target + strlen(TREE), found[i].path))
			continue;
		snprintf(found[i].device, sizeof(found[i].device), "%s", device);
		look_at_driver(&found[i]);
	}
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct trace_node *)a)->path,
		      ((const struct trace_node *)b)->path);
}

unsigned int nodes_find(struct trace_node *nodes)
{
	DIR *devices = opendir(DEVICES);
	struct dirent *entry;

	found = nodes;
	count = 0;
	nftw(TREE, visit, 16, FTW_PHYS);
	qsort(nodes, count, sizeof(*nodes), by_path);
	while (devices && (entry = readdir(devices)))
		look_at_device(entry->d_name);
	if (devices)
		closedir(devices);
	return count;
}

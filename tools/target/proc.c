// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See proc.h. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"
#include "proc.h"

/* Return whether /proc shows a PID namespace other than this process's. */
static bool is_foreign(void)
{
	char self[16];
	const ssize_t length = readlink("/proc/self", self, sizeof(self) - 1);

	if (length < 0)
		return false;
	self[length] = '\0';
	return atoi(self) != getpid();
}

const char *proc_dir(void)
{
	static const char *dir;

	if (dir)
		return dir;
	dir = "/proc";
	if (is_foreign()) {
		dir = "/proc/0";
		report("/proc shows the processes of another PID namespace, so some names and objects of processes cannot be read: mount -t proc proc /proc");
	}
	return dir;
}

int proc_each(const char *path, int (*use)(void *argument, pid_t id), void *argument)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int result = 0;
	pid_t id;

	if (!dir)
		return -1;
	while (!result && (entry = readdir(dir))) {
		id = atoi(entry->d_name);
		if (id > 0)
			result = use(argument, id);
	}
	closedir(dir);
	return result;
}

bool proc_stat(pid_t pid, pid_t *parent, uint64_t *began)
{
	char path[64], text[1024] = "", *end;
	uint64_t ticks;
	int id, fields = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "%s/%d/stat", proc_dir(), (int)pid);
	stat = fopen(path, "re");
	if (!stat)
		return false;
	if (fread(text, 1, sizeof(text) - 1, stat) && (end = strrchr(text, ')')))
		/* The name in parentheses can contain any characters. Fields 4 and 22 follow. */
		fields = sscanf(end, ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d "
				"%*d %*d %*d %*d %*d %" SCNu64, &id, &ticks);
	fclose(stat);
	if (fields != 2)
		return false;
	*parent = id;
	*began = ticks;
	return true;
}

bool proc_status(pid_t id, const char *name, char *text, size_t size)
{
	const size_t length = strlen(name);
	char path[64], line[256];
	bool found = false;
	FILE *status;

	snprintf(path, sizeof(path), "%s/%d/status", proc_dir(), (int)id);
	status = fopen(path, "re");
	while (status && !found && fgets(line, sizeof(line), status))
		found = !strncmp(line, name, length) && line[length] == ':';
	if (status)
		fclose(status);
	if (found)
		snprintf(text, size, "%s", line + length + 1);
	return found;
}

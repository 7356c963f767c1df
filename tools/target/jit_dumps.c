// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See jit_dumps.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../text.h"
#include "../trace/meta.h"
#include "jit_dumps.h"
#include "proc.h"

#define BEGIN	"jit-"
#define END	".dump"

bool jit_dumps_is(const char *path)
{
	const char *name = text_base(path);
	size_t digits;

	if (*path != '/' || strncmp(name, BEGIN, strlen(BEGIN)))
		return false;
	digits = strspn(name + strlen(BEGIN), "0123456789");
	return digits && !strcmp(name + strlen(BEGIN) + digits, END);
}

void jit_dumps_map(struct jit_dumps *dumps, pid_t pid, const char *path)
{
	struct jit_dump *more;
	size_t each = 0, i;
	char name[32];

	snprintf(name, sizeof(name), BEGIN "%d" END, (int)pid);
	if (*path != '/' || strcmp(text_base(path), name))
		return;
	for (i = 0; i < dumps->count; i++) {
		if (!strcmp(dumps->dump[i].path, path))
			return;
		each += dumps->dump[i].pid == pid;
	}
	if (each == JIT_DUMPS_EACH || dumps->count == META_PROCESSES_MAX) {
		if (!dumps->full)
			report("%s: not copied: a process can have %d dumps, and a recording %d: some generated functions may be shown as addresses",
			       path, JIT_DUMPS_EACH, META_PROCESSES_MAX);
		dumps->full = true;
		return;
	}
	more = realloc(dumps->dump, (dumps->count + 1) * sizeof(*more));
	if (!more)
		return;
	dumps->dump = more;
	more[dumps->count] = (struct jit_dump){ .pid = pid, .path = strdup(path) };
	dumps->count += more[dumps->count].path != NULL;
}

void jit_dumps_scan(struct jit_dumps *dumps, pid_t pid)
{
	char line[PATH_MAX + 128], path[PATH_MAX];
	FILE *maps;

	snprintf(path, sizeof(path), "%s/%d/maps", proc_dir(), (int)pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%*s %*2c%*1[x]%*c %*s %*s %*s %4095[^\n]", path) == 1)
			jit_dumps_map(dumps, pid, path);
	if (maps)
		fclose(maps);
}

void jit_dumps_close(struct jit_dumps *dumps)
{
	while (dumps->count)
		free(dumps->dump[--dumps->count].path);
	free(dumps->dump);
	*dumps = (struct jit_dumps){ .count = 0 };
}

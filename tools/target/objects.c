// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See objects.h. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "objects.h"

/* What the file says. False: it is no program; one that cannot be read may be. */
static bool look_at_file(struct object *object, uint64_t offset)
{
	struct elf elf;
	int error = elf_open(object->path, ELF_BEGINNING, &elf);

	if (!error) {
		elf_build_id(&elf, object->build_id);
		object->bias = elf_bias(&elf, object->start, offset);
	}
	elf_close(&elf);
	return error != ENOEXEC;
}

/* What begins with the file's byte @offset. */
static void add(struct objects *objects, const char *path, uint64_t start,
		uint64_t end, uint64_t offset)
{
	struct object found = {
		.start = start, .end = end, .bias = start - offset,
	};
	struct object *more;
	size_t i;

	for (i = 0; i < objects->count; i++)
		if (objects->object[i].start <= start &&
		    objects->object[i].end >= end &&
		    !strcmp(objects->object[i].path, path))
			return;
	found.path = strdup(path);
	if (found.path && look_at_file(&found, offset)) {
		more = realloc(objects->object,
			       (objects->count + 1) * sizeof(*more));
		if (more) {
			objects->object = more;
			more[objects->count++] = found;
			return;
		}
	}
	free(found.path);
}

void objects_add_code(struct objects *objects, const char *path,
		      uint64_t address, uint64_t length, uint64_t offset)
{
	if (*path == '/' && strncmp(path, "/dev/", 5))
		add(objects, path, address, address + length, offset);
}

/* Code alone: functions are in nothing else. */
void objects_add(struct objects *objects, pid_t pid)
{
	char line[PATH_MAX + 128], path[PATH_MAX];
	uint64_t start, end, offset;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*2c%*1[x]%*c %" SCNx64
			   " %*s %*s %4095[^\n]", &start, &end, &offset,
			   path) == 4)
			objects_add_code(objects, path, start, end - start,
					 offset);
	if (maps)
		fclose(maps);
}

void objects_add_all(struct objects *objects)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	int pid;

	while (folder && (entry = readdir(folder))) {
		pid = atoi(entry->d_name);
		if (pid > 0 && pid != getpid())
			objects_add(objects, pid);
	}
	if (folder)
		closedir(folder);
}

/* Whether an address in it can also be another object's. */
static bool is_ambiguous(const struct objects *objects, size_t index)
{
	const struct object *one = &objects->object[index];
	size_t i;

	for (i = 0; i < objects->count; i++)
		if (i != index && objects->object[i].start < one->end &&
		    one->start < objects->object[i].end)
			return true;
	return false;
}

void objects_write(const struct objects *objects, struct output *output)
{
	const char *between = "";
	size_t i;

	put_string(output, "\"objects\":[");
	for (i = 0; i < objects->count; i++) {
		const struct object *object = &objects->object[i];

		if (is_ambiguous(objects, i))
			continue;
		put_format(output, "%s\n{\"path\":", between);
		put_json(output, object->path);
		if (*object->build_id) {
			put_string(output, ",\"build_id\":");
			put_json(output, object->build_id);
		}
		put_format(output, ",\"start\":%" PRIu64 ",\"end\":%" PRIu64
			   ",\"bias\":%" PRIu64 "}", object->start, object->end,
			   object->bias);
		between = ",";
	}
	put_string(output, "],\n");
}

void objects_free(struct objects *objects)
{
	size_t i;

	for (i = 0; i < objects->count; i++)
		free(objects->object[i].path);
	free(objects->object);
	memset(objects, 0, sizeof(*objects));
}

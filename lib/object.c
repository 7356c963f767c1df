// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object.h"

PERF_LOCAL void find_build_id(struct perf_object *object, const char *note, size_t size)
{
	const size_t header = sizeof(ElfW(Nhdr));

	while (size >= header) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)(const void *)note;
		size_t name = (n->n_namesz + 3) & ~(size_t)3;
		size_t data = (n->n_descsz + 3) & ~(size_t)3;

		if (name > size - header || data > size - header - name)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
		    !memcmp(note + header, "GNU", 4) &&
		    n->n_descsz <= PERF_BUILD_ID) {
			object->id_length = n->n_descsz;
			memcpy(object->id, note + header + name, n->n_descsz);
			return;
		}
		note += header + name + data;
		size -= header + name + data;
	}
}

PERF_INTERNAL bool perf_object_read(const struct dl_phdr_info *info,
				    struct perf_object *found)
{
	uintptr_t vdso = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
	int i;

	*found = (struct perf_object){
		.start = UINTPTR_MAX, .bias = info->dlpi_addr,
	};
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + phdr->p_vaddr;

		if (phdr->p_type == PT_NOTE)
			find_build_id(found, (const char *)from, phdr->p_memsz);
		if (phdr->p_type != PT_LOAD)
			continue;
		if (from < found->start)
			found->start = from;
		if (from + phdr->p_memsz > found->end)
			found->end = from + phdr->p_memsz;
	}
	return found->start < found->end &&
	       !(vdso && vdso - found->start < found->end - found->start);
}

/* Query the kernel, because realpath() would add 2 KB of the C library. */
PERF_LOCAL bool find_path(const char *name, char *path)
{
	int fd = open(name, O_PATH | O_CLOEXEC);
	struct stat status;
	ssize_t length;
	char link[32];

	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, PATH_MAX - 1);
	close(fd);
	path[length < 0 ? 0 : length] = '\0';
	return !stat(path, &status);
}

PERF_INTERNAL bool perf_object_path(const char *name, char path[PATH_MAX])
{
	if (find_path(*name ? name : "/proc/self/exe", path))
		return true;
	/* If the file has been deleted, the object keeps its name. */
	if (*name != '/' || strlen(name) >= PATH_MAX)
		return false;
	strcpy(path, name);
	return true;
}

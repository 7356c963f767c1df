// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See kcore.h. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../command.h"
#include "elf.h"
#include "kallsyms.h"
#include "kcore.h"

#define PAGE		4096ull
#define CHUNK		65536

/* Size of the largest module whose code is copied. */
#define MODULE_MAX	(16ull << 20)

/* Unchanged code between two changes is also removed if it is shorter than this many bytes. */
#define SEGMENT_MIN	32

/* The headers are at the beginning of the copy, followed by the parts. */
#define HEADERS		((sizeof(Elf64_Ehdr) + KCORE_SEGMENTS_MAX * sizeof(Elf64_Phdr) + \
			  PAGE - 1) / PAGE * PAGE)

#define LOST		"the kernel's code is not copied: its instructions will be missing"

/* The headers of the copy. */
struct headers {
	Elf64_Ehdr	elf;
	Elf64_Phdr	segment[KCORE_SEGMENTS_MAX];
};

static bool read_all(int fd, void *to, size_t bytes, uint64_t offset)
{
	size_t done = 0;
	ssize_t got;

	while (done < bytes) {
		got = pread(fd, (char *)to + done, bytes - done, (off_t)(offset + done));
		if (!got)
			errno = EIO;
		if (!got || (got < 0 && errno != EINTR))
			return false;
		done += got > 0 ? (size_t)got : 0;
	}
	return true;
}

static bool write_all(int fd, const void *from, size_t bytes, uint64_t offset)
{
	size_t done = 0;
	ssize_t put;

	while (done < bytes) {
		put = pwrite(fd, (const char *)from + done, bytes - done,
			     (off_t)(offset + done));
		if (put < 0 && errno != EINTR)
			return false;
		done += put > 0 ? (size_t)put : 0;
	}
	return true;
}

/* ---- the addresses ------------------------------------------------------------- */

/* Return whether a name in brackets is a module, not code that the kernel generates at run time. */
static bool is_module(const char *name)
{
	return strcmp(name, "bpf") && strncmp(name, "__builtin__", 11);
}

/*
 * Find the addresses of the code. A module's functions are listed together, but not in order of
 * address. No page contains code from two modules.
 */
static bool find_parts(struct kcore *kcore, FILE *names)
{
	struct kcore_part *kernel = &kcore->part[0], *part = NULL;
	char line[1024], name[512], module[64], last[64] = "", type;
	uint64_t address;
	int fields;

	*kernel = (struct kcore_part){ 0 };
	kcore->parts = 1;
	while (fgets(line, sizeof(line), names)) {
		/* Skip lines that are not needed, because sscanf() is slow. */
		if (!strchr(line, '[') && !strstr(line, "_stext") && !strstr(line, "_etext"))
			continue;
		fields = sscanf(line, "%" SCNx64 " %c %511s [%63[^]]", &address, &type, name,
				module);
		if (fields == 3 && !strcmp(name, "_stext"))
			kernel->start = address;
		if (fields == 3 && !strcmp(name, "_etext"))
			kernel->end = address;
		if (fields != 4 || !kallsyms_is_function(type) || !is_module(module))
			continue;
		if (strcmp(module, last)) {
			if (kcore->parts == KCORE_PARTS_MAX)
				break;
			strcpy(last, module);
			part = &kcore->part[kcore->parts++];
			part->start = address & ~(PAGE - 1);
			part->end = part->start;
		}
		if (part->start > address)
			part->start = address & ~(PAGE - 1);
		if (part->end <= address)
			part->end = (address | (PAGE - 1)) + 1;
	}
	return kernel->start && kernel->start < kernel->end;
}

/* ---- the kernel's memory ------------------------------------------------------- */

/* Open the kernel's memory, and read its headers. Return the descriptor, or -1. */
static int open_memory(const struct kcore *kcore, struct elf *elf)
{
	int error = elf_open(kcore->memory, ELF_BEGINNING, elf);

	if (!error)
		return open(kcore->memory, O_RDONLY | O_CLOEXEC);
	errno = error;
	return -1;
}

/* ---- the copy ------------------------------------------------------------------ */

static struct headers *new_headers(void)
{
	struct headers *headers = calloc(1, sizeof(*headers));

	if (!headers)
		return NULL;
	memcpy(headers->elf.e_ident, ELFMAG, SELFMAG);
	headers->elf.e_ident[EI_CLASS] = ELFCLASS64;
	headers->elf.e_ident[EI_DATA] = ELFDATA2LSB;
	headers->elf.e_ident[EI_VERSION] = EV_CURRENT;
	headers->elf.e_type = ET_EXEC;
	headers->elf.e_machine = EM_RISCV;
	headers->elf.e_version = EV_CURRENT;
	headers->elf.e_phoff = sizeof(headers->elf);
	headers->elf.e_ehsize = sizeof(headers->elf);
	headers->elf.e_phentsize = sizeof(headers->segment[0]);
	return headers;
}

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + PAGE - 1) & ~(PAGE - 1);
}

/* Add a segment, unless it is too short or there are too many. Return its size, or 0. */
static uint64_t add_segment(struct headers *headers, uint64_t start, uint64_t end, uint64_t offset)
{
	if (end - start < SEGMENT_MIN || headers->elf.e_phnum == KCORE_SEGMENTS_MAX)
		return 0;
	headers->segment[headers->elf.e_phnum++] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = offset,
		.p_vaddr = start, .p_paddr = start, .p_filesz = end - start,
		.p_memsz = end - start, .p_align = 2,
	};
	return end - start;
}

static bool write_headers(int fd, const struct headers *headers)
{
	return write_all(fd, headers, sizeof(*headers), 0);
}

static bool copy_part(int from, uint64_t offset, int to, uint64_t at, uint64_t bytes)
{
	static char chunk[CHUNK];
	size_t size;

	for (; bytes; bytes -= size, offset += size, at += size) {
		size = bytes < sizeof(chunk) ? (size_t)bytes : sizeof(chunk);
		if (!read_all(from, chunk, size, offset) || !write_all(to, chunk, size, at))
			return false;
	}
	return true;
}

/* Copy the parts that the kernel's memory contains, and drop the parts that it lacks. */
static bool copy_parts(struct kcore *kcore, int memory, const struct elf *elf, int fd)
{
	struct headers *headers = new_headers();
	uint64_t at = HEADERS, from;
	size_t count = 0, i;
	bool fine = headers;

	for (i = 0; fine && i < kcore->parts; i++) {
		const struct kcore_part part = kcore->part[i];
		const uint64_t bytes = part.end - part.start;

		if ((i && bytes > MODULE_MAX) || !elf_range(elf, part.start, part.end, &from) ||
		    !add_segment(headers, part.start, part.end, at))
			continue;
		fine = copy_part(memory, from, fd, at, bytes);
		at += round_up(bytes);
		kcore->part[count++] = part;
	}
	fine = fine && write_headers(fd, headers);
	kcore->parts = count;
	free(headers);
	return fine;
}

void kcore_copy(struct kcore *kcore)
{
	FILE *names = fopen(kcore->names, "re");
	struct elf elf = { 0 };
	int memory = -1, fd = -1;
	bool fine = false;

	unlink(kcore->copy);
	if (!names || !find_parts(kcore, names)) {
		report("%s: %s: " LOST, kcore->names, names ?
		       KALLSYMS_HIDDEN : strerror(errno));
		goto out;
	}
	memory = open_memory(kcore, &elf);
	if (memory < 0) {
		report("%s: %s: " LOST " (needs CAP_SYS_RAWIO and a kernel with CONFIG_PROC_KCORE that is not locked down)",
		       kcore->memory, strerror(errno));
		goto out;
	}
	fd = open(kcore->copy, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	fine = fd >= 0 && copy_parts(kcore, memory, &elf, fd);
	if (!fine)
		report("%s: %s: " LOST, kcore->copy, strerror(errno));
out:
	if (!fine) {
		kcore->parts = 0;
		if (fd >= 0)
			unlink(kcore->copy);
	}
	if (fd >= 0)
		close(fd);
	if (memory >= 0)
		close(memory);
	if (names)
		fclose(names);
	elf_close(&elf);
}

/* ---- changes ------------------------------------------------------------------- */

int kcore_hold(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		report("perf_event_open: %s: the kernel may change its code: instructions would be missing",
		       strerror(errno));
	return fd;
}

/*
 * Create segments for the unchanged code of a part. A segment excludes an instruction that would be
 * only partly in the segment. Return the number of bytes that have changed or could not be
 * compared.
 */
static uint64_t compare_part(const struct kcore_part *part, struct headers *headers, int memory,
			     uint64_t from, int fd, uint64_t at)
{
	static uint16_t now[CHUNK / 2], then[CHUNK / 2];
	uint64_t start = part->start, address = start, kept = 0;
	size_t size, i;

	for (; address < part->end; address += size) {
		size = part->end - address < CHUNK ? (size_t)(part->end - address) : CHUNK;
		if (!read_all(memory, now, size, from + address - part->start) ||
		    !read_all(fd, then, size, at + address - part->start))
			break;
		for (i = 0; i < size / 2; i++) {
			const uint64_t changed = address + 2 * i;

			if (now[i] == then[i])
				continue;
			kept += add_segment(headers, start, changed, at + start - part->start);
			start = changed + 2;
		}
	}
	kept += add_segment(headers, start, address, at + start - part->start);
	return part->end - part->start - kept;
}

void kcore_check(struct kcore *kcore)
{
	struct headers *headers = new_headers();
	uint64_t changed = 0, at = HEADERS, from;
	struct elf elf = { 0 };
	size_t i;
	int memory = -1, fd = -1;
	bool fine = false;

	if (kcore->parts && headers) {
		memory = open_memory(kcore, &elf);
		fd = open(kcore->copy, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	}
	for (i = 0; memory >= 0 && fd >= 0 && i < kcore->parts; i++) {
		const struct kcore_part *part = &kcore->part[i];

		if (elf_range(&elf, part->start, part->end, &from))
			changed += compare_part(part, headers, memory, from, fd, at);
		else
			changed += part->end - part->start;
		at += round_up(part->end - part->start);
	}
	if (memory >= 0 && fd >= 0)
		fine = !changed || write_headers(fd, headers);
	if (kcore->parts && !fine) {
		report("%s: cannot determine whether the kernel's code has changed: %s: removed: its instructions will be missing",
		       kcore->copy, strerror(errno));
		unlink(kcore->copy);
	} else if (changed) {
		report("the kernel changed its code while it was traced: %" PRIu64 " bytes of it, and the instructions there, will be missing",
		       changed);
	}
	if (fd >= 0)
		close(fd);
	if (memory >= 0)
		close(memory);
	elf_close(&elf);
	free(headers);
}

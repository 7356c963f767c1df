/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Builds jitdump files, valid and damaged, in memory. */
#ifndef JIT_FILE_H
#define JIT_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file under construction; @last is where its latest record begins. */
struct jit_file {
	char	*bytes;
	size_t	length;
	size_t	room;
	size_t	last;
	int	pid;
};

static inline void jit_bytes(struct jit_file *file, const void *bytes, size_t length)
{
	if (!file->bytes || file->length + length > file->room) {
		file->room = 2 * (file->length + length);
		file->bytes = realloc(file->bytes, file->room);
		if (!file->bytes)
			abort();
	}
	memcpy(file->bytes + file->length, bytes, length);
	file->length += length;
}

static inline void jit_number(struct jit_file *file, uint64_t number, unsigned int bytes)
{
	char byte;

	while (bytes--) {
		byte = (char)number;
		jit_bytes(file, &byte, 1);
		number >>= 8;
	}
}

/* Overwrite a number at an offset from the latest record. */
static inline void jit_change(struct jit_file *file, size_t at, uint64_t number, unsigned int bytes)
{
	unsigned int i;

	for (i = 0; i < bytes; i++)
		file->bytes[file->last + at + i] = (char)(number >> 8 * i);
}

static inline void jit_begin(struct jit_file *file, int pid)
{
	*file = (struct jit_file){ .pid = pid };
	jit_number(file, 0x4a695444, 4);
	jit_number(file, 1, 4);
	jit_number(file, 40, 4);
	jit_number(file, 243, 4);
	jit_number(file, 0, 4);
	jit_number(file, (uint64_t)pid, 4);
	jit_number(file, 0, 8);
	jit_number(file, 0, 8);
}

static inline void jit_record(struct jit_file *file, uint32_t id, uint64_t time, size_t payload)
{
	file->last = file->length;
	jit_number(file, id, 4);
	jit_number(file, 16 + payload, 4);
	jit_number(file, time, 8);
}

static inline void jit_load(struct jit_file *file, uint64_t time, uint64_t address,
			    const void *code, size_t size, const char *name, uint64_t index)
{
	jit_record(file, 0, time, 40 + strlen(name) + 1 + size);
	jit_number(file, (uint64_t)file->pid, 4);
	jit_number(file, 1, 4);
	jit_number(file, address, 8);
	jit_number(file, address, 8);
	jit_number(file, size, 8);
	jit_number(file, index, 8);
	jit_bytes(file, name, strlen(name) + 1);
	jit_bytes(file, code, size);
}

static inline void jit_move(struct jit_file *file, uint64_t time, uint64_t from, uint64_t to,
			    size_t size, uint64_t index)
{
	jit_record(file, 1, time, 48);
	jit_number(file, (uint64_t)file->pid, 4);
	jit_number(file, 1, 4);
	jit_number(file, to, 8);
	jit_number(file, from, 8);
	jit_number(file, to, 8);
	jit_number(file, size, 8);
	jit_number(file, index, 8);
}

/* Write the first @length bytes to a file. */
static inline void jit_write(const struct jit_file *file, const char *path, size_t length)
{
	FILE *to = fopen(path, "w");

	if (!to || fwrite(file->bytes, 1, length, to) != length || fclose(to))
		abort();
}

static inline void jit_end(struct jit_file *file, const char *path)
{
	jit_write(file, path, file->length);
	free(file->bytes);
	file->bytes = NULL;
}

#endif /* JIT_FILE_H */

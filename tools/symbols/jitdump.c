// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See jitdump.h. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "command.h"
#include "hash.h"
#include "jitdump.h"
#include "list_file.h"
#include "meta.h"

#define BEGIN		"/jit-"
#define END		".dump"

/* Maximum number of pieces of code. */
#define CODES_MAX	(1u << 20)
#define NAME_MAX_BYTES	1024

#define MAGIC		0x4a695444u
#define SWAPPED		0x4454694au
#define FORMAT		1u

/* Offsets in the file's header, whose size is at least HEADER. */
#define HEADER_VERSION	4
#define HEADER_SIZE	8
#define HEADER_MACHINE	12
#define HEADER_FLAGS	32
#define HEADER		40

#define FLAG_ARCH_TIME	1u

/* Offsets in a record, which begins with PREFIX bytes. */
#define RECORD_SIZE	4
#define RECORD_TIME	8
#define PREFIX		16

#define LOAD_PID	16
#define LOAD_ADDRESS	32
#define LOAD_SIZE	40
#define LOAD_INDEX	48
#define LOAD_NAME	56

#define MOVE_PID	16
#define MOVE_ADDRESS	40
#define MOVE_SIZE	48
#define MOVE_INDEX	56
#define MOVE		64

enum record_id {
	CODE_LOAD,
	CODE_MOVE,
	CODE_DEBUG_INFO,
	CODE_CLOSE,
};

/**
 * struct reading - state while a file is read
 * @index:	the number that the file gives to each piece of code, which moves refer to, mixed
 * @hash:	the latest piece with each number
 * @seed:	see mixed()
 * @room:	number of pieces for which there is memory
 * @wrong:	number of records that are not valid
 * @full:	there were too many pieces
 */
struct reading {
	struct jitdump	*dump;
	int64_t		pid;
	uint64_t	*index;
	struct hash	hash;
	uint64_t	seed;
	uint32_t	room;
	uint32_t	wrong;
	bool		full;
};

int64_t jitdump_pid(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	if (!name || strncmp(name, BEGIN, strlen(BEGIN)))
		return -1;
	name += strlen(BEGIN);
	digits = strspn(name, "0123456789");
	if (!digits || digits > 10 || strcmp(name + digits, END))
		return -1;
	return strtoll(name, NULL, 10);
}

static uint32_t get32(const char *bytes)
{
	const uint8_t *b = (const uint8_t *)bytes;

	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static uint64_t get64(const char *bytes)
{
	return get32(bytes) | (uint64_t)get32(bytes + 4) << 32;
}

/*
 * Mix an index, which identifies a piece of code. Without knowing @seed, the writer of a file cannot
 * choose indexes that all have the same place in the hash table.
 */
static uint64_t mixed(const struct reading *reading, uint64_t index)
{
	index = (index ^ reading->seed) * 0x9e3779b97f4a7c15ull;
	index = (index ^ index >> 32) * 0xd6e8feb86659fd93ull;
	return index ^ index >> 32;
}

static uint64_t index_of(const void *index, uint32_t number)
{
	return ((const uint64_t *)index)[number - 1];
}

/* Make room for one more piece of code. Return false if out of memory. */
static bool make_room(struct reading *reading)
{
	struct jitdump *dump = reading->dump;
	const uint32_t room = reading->room ? 2 * reading->room : 1024;
	struct jitdump_code *code;
	uint32_t *slot;
	uint64_t *index;

	if (dump->codes < reading->room)
		return true;
	code = realloc(dump->code, room * sizeof(*code));
	if (!code)
		return false;
	dump->code = code;
	index = realloc(reading->index, room * sizeof(*index));
	if (!index)
		return false;
	reading->index = index;
	slot = realloc(reading->hash.slot, sizeof(*slot) << hash_bits(room));
	if (!slot)
		return false;
	reading->hash = (struct hash){ .slot = slot, .bits = hash_bits(room) };
	hash_fill(&reading->hash, 1, dump->codes + 1, index_of, index);
	reading->room = room;
	return true;
}

/* Return false if out of memory. */
static bool add(struct reading *reading, const struct jitdump_code *code, uint64_t index)
{
	struct jitdump *dump = reading->dump;

	if (code->start & 1 || code->start >= JITDUMP_END ||
	    code->size > JITDUMP_END - code->start) {
		reading->wrong++;
		return true;
	}
	if (dump->codes == CODES_MAX) {
		reading->full = true;
		return true;
	}
	if (!make_room(reading))
		return false;
	dump->code[dump->codes] = *code;
	reading->index[dump->codes++] = index;
	*hash_find(&reading->hash, index, index_of, reading->index) = dump->codes;
	return true;
}

static uint64_t hash_of(const struct jitdump_code *code)
{
	const uint64_t hash = hash_bytes(HASH_START, code->bytes, code->size);

	return code->name ? hash_bytes(hash, code->name, strlen(code->name)) : hash;
}

/* Read a record of @size bytes. Return false if out of memory. */
static bool read_load(struct reading *reading, char *record, uint32_t size)
{
	struct jitdump_code code;
	uint64_t most, length;

	if (size <= LOAD_NAME || get64(record + LOAD_SIZE) >= size - LOAD_NAME) {
		reading->wrong++;
		return true;
	}
	code.time = get64(record + RECORD_TIME);
	code.start = get64(record + LOAD_ADDRESS);
	code.size = get64(record + LOAD_SIZE);
	/* The code is at the end of the record; perf also reads it there. */
	code.bytes = (const uint8_t *)record + size - code.size;
	most = size - LOAD_NAME - code.size;
	length = strnlen(record + LOAD_NAME, most);
	if (length == most) {
		reading->wrong++;
		return true;
	}
	if (length > NAME_MAX_BYTES)
		record[LOAD_NAME + NAME_MAX_BYTES] = '\0';
	code.name = length ? record + LOAD_NAME : NULL;
	if (!code.size || get32(record + LOAD_PID) != reading->pid)
		return true;
	code.hash = hash_of(&code);
	return add(reading, &code, mixed(reading, get64(record + LOAD_INDEX)));
}

/* Read a record of @size bytes. Return false if out of memory. */
static bool read_move(struct reading *reading, const char *record, uint32_t size)
{
	struct jitdump_code code;
	uint32_t number = 0;

	if (size >= MOVE && get32(record + MOVE_PID) != reading->pid)
		return true;
	if (size >= MOVE && reading->room)
		number = *hash_find(&reading->hash, mixed(reading, get64(record + MOVE_INDEX)),
				    index_of, reading->index);
	if (!number || reading->dump->code[number - 1].size != get64(record + MOVE_SIZE)) {
		reading->wrong++;
		return true;
	}
	code = reading->dump->code[number - 1];
	code.time = get64(record + RECORD_TIME);
	code.start = get64(record + MOVE_ADDRESS);
	return add(reading, &code, mixed(reading, get64(record + MOVE_INDEX)));
}

/* Return false if out of memory. */
static bool read_records(struct reading *reading, size_t at, size_t length)
{
	uint32_t size;
	bool fine = true;

	for (; fine && length - at >= PREFIX; at += size) {
		char *record = reading->dump->bytes + at;

		size = get32(record + RECORD_SIZE);
		if (size < PREFIX) {
			/* The start of the next record is unknown. */
			reading->wrong++;
			break;
		}
		if (size > length - at)
			break;
		switch (get32(record)) {
		case CODE_LOAD:
			fine = read_load(reading, record, size);
			break;
		case CODE_MOVE:
			fine = read_move(reading, record, size);
			break;
		case CODE_CLOSE:
			return true;
		}
	}
	return fine;
}

/* Return why the file is not used, or NULL. */
static const char *objection(const char *bytes, size_t length)
{
	if (length < 4 || (get32(bytes) != MAGIC && get32(bytes) != SWAPPED))
		return "not a jitdump file";
	if (get32(bytes) == SWAPPED)
		return "written in the other byte order";
	if (length < HEADER || get32(bytes + HEADER_SIZE) < HEADER ||
	    get32(bytes + HEADER_SIZE) > length)
		return "its header is incomplete";
	if (get32(bytes + HEADER_VERSION) != FORMAT)
		return "an unknown version of the format";
	if (get32(bytes + HEADER_MACHINE) != EM_RISCV)
		return "not code for RISC-V";
	if (get64(bytes + HEADER_FLAGS) & ~(uint64_t)FLAG_ARCH_TIME)
		return "unknown flags";
	return NULL;
}

/* Return why the file is not used, or NULL. */
static const char *read_dump(struct jitdump *dump, const char *path, int64_t pid)
{
	struct reading reading = { .dump = dump, .pid = pid };
	size_t length;
	const char *why;
	bool fine;

	dump->bytes = list_file_read(path, META_LISTS_BYTES_MAX, &length);
	if (!dump->bytes)
		return strerror(errno);
	why = objection(dump->bytes, length);
	if (why)
		return why;
	/* Without a seed, only files that are made for that purpose take longer to read. */
	if (getrandom(&reading.seed, sizeof(reading.seed), GRND_NONBLOCK) < 0)
		reading.seed = 0;
	dump->arch_time = get64(dump->bytes + HEADER_FLAGS) & FLAG_ARCH_TIME;
	fine = read_records(&reading, get32(dump->bytes + HEADER_SIZE), length);
	free(reading.index);
	free(reading.hash.slot);
	if (!fine)
		return strerror(ENOMEM);
	/* Functions after the limit may have replaced others. */
	if (reading.full)
		return "over 1048576 functions";
	if (reading.wrong)
		report("%s: %u records are not valid, and are not used", path, reading.wrong);
	return NULL;
}

struct jitdump *jitdump_open(const char *path, int64_t pid)
{
	struct jitdump *dump = calloc(1, sizeof(*dump));
	const char *why = dump ? read_dump(dump, path, pid) : strerror(ENOMEM);

	if (!why)
		return dump;
	report(META_LIST_UNUSED, path, why);
	jitdump_close(dump);
	return NULL;
}

bool jitdump_same(const struct jitdump_code *a, const struct jitdump_code *b)
{
	return a->start == b->start && a->size == b->size && a->hash == b->hash &&
	       !a->name == !b->name && (!a->name || !strcmp(a->name, b->name)) &&
	       (a->bytes == b->bytes || !memcmp(a->bytes, b->bytes, a->size));
}

void jitdump_close(struct jitdump *dump)
{
	if (!dump)
		return;
	free(dump->code);
	free(dump->bytes);
	free(dump);
}

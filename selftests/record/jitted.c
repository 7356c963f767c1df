// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Generates functions in memory, as a just-in-time compiler does, writes them to a dump for perf,
 * and calls them:
 *
 *	jitted [WAIT [ROUNDS]]
 *
 * The function "second" replaces "first", and later moves. "outer" calls whichever is there. WAIT:
 * milliseconds to wait before and after code is replaced. ROUNDS: number of rounds of the loop in
 * "first". A list for perf has another name for all these functions.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BYTES	0x1000
#define OUTER	0x100
#define MOVED	0x200

#define CALLS	5

struct header {
	uint32_t	magic, version, size, machine, pad, pid;
	uint64_t	time, flags;
};

struct record {
	uint32_t	id, size;
	uint64_t	time;
	uint32_t	pid, tid;
	uint64_t	address;
};

struct load {
	struct record	record;
	uint64_t	start, size, index;
};

struct move {
	struct record	record;
	uint64_t	from, to, size, index;
};

/* loop: addi a0, a0, -1; bnez a0, loop; ret */
static const uint32_t first[] = { 0xfff50513, 0xfe051ee3, 0x00008067 };

/* addi a0, a0, 1; nop; nop; ret */
static const uint32_t second[] = { 0x00150513, 0x00000013, 0x00000013, 0x00008067 };

/* addi sp, sp, -16; sd ra, 8(sp); jal ra, -(OUTER + 8); ld ra, 8(sp); addi sp, sp, 16; ret */
static const uint32_t outer[] = {
	0xff010113, 0x00113423, 0xef9ff0ef, 0x00813083, 0x01010113, 0x00008067,
};

static FILE *dump;
static long wait_ms;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void wait(void)
{
	const struct timespec time = { .tv_nsec = wait_ms * 1000000 };

	if (wait_ms)
		nanosleep(&time, NULL);
}

static void begin_dump(void)
{
	const struct header header = {
		.magic = 0x4a695444, .version = 1, .size = sizeof(header), .machine = EM_RISCV,
		.pid = (uint32_t)getpid(), .time = now(),
	};
	char path[64];

	mkdir("/tmp/jit", 0777);
	snprintf(path, sizeof(path), "/tmp/jit/jit-%d.dump", (int)getpid());
	dump = fopen(path, "w+");
	if (!dump || fwrite(&header, sizeof(header), 1, dump) != 1 || fflush(dump) ||
	    mmap(NULL, BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		exit(2);
}

static struct record begin(uint32_t id, size_t size, const char *address)
{
	return (struct record){
		.id = id, .size = (uint32_t)size, .time = now(), .pid = (uint32_t)getpid(),
		.tid = (uint32_t)syscall(SYS_gettid), .address = (uintptr_t)address,
	};
}

static void load(char *to, const uint32_t *code, size_t size, const char *name, uint64_t index)
{
	struct load load = { .start = (uintptr_t)to, .size = size, .index = index };

	wait();
	memcpy(to, code, size);
	__builtin___clear_cache(to, to + size);
	load.record = begin(0, sizeof(load) + strlen(name) + 1 + size, to);
	fwrite(&load, sizeof(load), 1, dump);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(code, size, 1, dump);
	fflush(dump);
	wait();
}

static void move(const char *from, char *to, size_t size, uint64_t index)
{
	struct move move = {
		.from = (uintptr_t)from, .to = (uintptr_t)to, .size = size, .index = index,
	};

	wait();
	memcpy(to, from, size);
	__builtin___clear_cache(to, to + size);
	move.record = begin(1, sizeof(move), to);
	fwrite(&move, sizeof(move), 1, dump);
	fflush(dump);
	wait();
}

static void list(const char *code)
{
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map || fprintf(map, "%lx %x listed\n", (long)code, BYTES) < 0 || fclose(map))
		exit(2);
}

static void call(const char *code, long n)
{
	int i;

	for (i = 0; i < CALLS; i++)
		((void (*)(long n))code)(n);
}

int main(int argc, char **argv)
{
	char *code = mmap(NULL, BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const long rounds = argc > 2 ? atol(argv[2]) : 3;

	wait_ms = argc > 1 ? atol(argv[1]) : 0;
	if (code == MAP_FAILED)
		return 2;
	list(code);
	begin_dump();
	load(code, first, sizeof(first), "first", 1);
	load(code + OUTER, outer, sizeof(outer), "outer", 2);
	call(code, rounds);
	call(code + OUTER, rounds);
	load(code, second, sizeof(second), "second", 3);
	call(code, rounds);
	call(code + OUTER, rounds);
	move(code, code + MOVED, sizeof(second), 3);
	call(code + MOVED, rounds);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Generates functions in memory, as a just-in-time compiler does, calls them, and lists them in the
 * map file for perf. A child process generates functions with other names at the same addresses.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES	0x1000
#define SECOND	0x800

/* loop: addi a0, a0, -1; bnez a0, loop; ret */
static const uint32_t loop[] = { 0xfff50513, 0xfe051ee3, 0x00008067 };

static void generate(char *code, const char *one, const char *two)
{
	char path[64];
	FILE *map;

	memcpy(code, loop, sizeof(loop));
	memcpy(code + SECOND, loop, sizeof(loop));
	__builtin___clear_cache(code, code + BYTES);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		exit(2);
	fprintf(map, "%lx %zx %s\n%lx %zx %s\n", (long)code, sizeof(loop), one,
		(long)code + SECOND, sizeof(loop), two);
	fclose(map);
}

static void call(char *code, long milliseconds)
{
	void (*one)(long n) = (void (*)(long n))code;
	void (*two)(long n) = (void (*)(long n))(code + SECOND);
	struct timespec begin, now;
	long rounds = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		one(200000);
		two(200000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (++rounds < 100 || (now.tv_sec - begin.tv_sec) * 1000 +
		 (now.tv_nsec - begin.tv_nsec) / 1000000 < milliseconds);
}

int main(int argc, char **argv)
{
	char *code = mmap(NULL, BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long milliseconds = argc > 1 ? atol(argv[1]) : 300;
	pid_t child;

	if (code == MAP_FAILED)
		return 2;
	child = fork();
	if (!child) {
		generate(code, "child_one", "child two");
		call(code, milliseconds);
		_exit(0);
	}
	generate(code, "parent_one", "parent two");
	call(code, milliseconds);
	return waitpid(child, NULL, 0) != child;
}

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads the code that a just-in-time compiler has written for perf: jit-PID.dump. The format is
 * described in the kernel's tools/perf/Documentation/jitdump-specification.txt.
 */
#ifndef SIFIVE_TRACE_JITDUMP_H
#define SIFIVE_TRACE_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses at and above this limit belong to no program. */
#define JITDUMP_END	(1ull << 48)

/**
 * struct jitdump_code - code that was at an address from a time on
 * @time:	time of the record, in nanoseconds of CLOCK_MONOTONIC unless @arch_time is set
 * @start:	address of the code in memory, which is even
 * @size:	number of bytes, not 0; the code ends below JITDUMP_END
 * @bytes:	the code
 * @name:	name of the function, or NULL if it has none
 * @hash:	of @bytes and @name
 */
struct jitdump_code {
	uint64_t	time;
	uint64_t	start;
	uint64_t	size;
	const uint8_t	*bytes;
	const char	*name;
	uint64_t	hash;
};

/**
 * struct jitdump - the @codes pieces of code in a file, in its order
 * @arch_time:	their times are those of another clock
 */
struct jitdump {
	struct jitdump_code	*code;
	uint32_t		codes;
	bool			arch_time;
	char			*bytes;
};

/** jitdump_pid() - return the process id in a path that ends with /jit-PID.dump, or -1 */
int64_t jitdump_pid(const char *path);

/**
 * jitdump_open() - read a file
 * @path:	the file
 * @pid:	the process; code that the file contains for other processes is not used
 *
 * An incomplete last record is ignored, and so is everything after the record that closes the file.
 * Names are truncated to 1024 bytes.
 *
 * Return: the code, or NULL after printing an error if the file is not a dump of RISC-V code.
 */
struct jitdump *jitdump_open(const char *path, int64_t pid);

/** jitdump_same() - return whether two pieces of code are the same, at the same address */
bool jitdump_same(const struct jitdump_code *a, const struct jitdump_code *b);

/** jitdump_close() - free; NULL is allowed */
void jitdump_close(struct jitdump *dump);

#endif /* SIFIVE_TRACE_JITDUMP_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the files to which just-in-time compilers write the code that they generate. A process maps
 * its file, jit-PID.dump in any directory, as code, so that perf and this recorder find it.
 */
#ifndef SIFIVE_TRACE_JIT_DUMPS_H
#define SIFIVE_TRACE_JIT_DUMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Maximum number of files of a process: it may contain several compilers. */
#define JIT_DUMPS_EACH	4

/**
 * struct jit_dump - a file
 * @pid:	the process that has mapped it
 * @path:	path of the file
 * @copied:	set by perf_maps.h once the file is copied
 */
struct jit_dump {
	pid_t	pid;
	char	*path;
	bool	copied;
};

/* struct jit_dumps - the @count files that have been found; none if zeroed */
struct jit_dumps {
	struct jit_dump	*dump;
	size_t		count;
	bool		full;
};

/** jit_dumps_is() - return whether a path has the name of such a file */
bool jit_dumps_is(const char *path);

/** jit_dumps_map() - add a file that a process has mapped as code, if it is that process's dump */
void jit_dumps_map(struct jit_dumps *dumps, pid_t pid, const char *path);

/** jit_dumps_scan() - add the files that a running process has mapped */
void jit_dumps_scan(struct jit_dumps *dumps, pid_t pid);

/** jit_dumps_close() - free */
void jit_dumps_close(struct jit_dumps *dumps);

#endif /* SIFIVE_TRACE_JIT_DUMPS_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the kernel's functions in a copy of /proc/kallsyms beside the trace. */
#ifndef SIFIVE_TRACE_KERNEL_H
#define SIFIVE_TRACE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

struct kernel;

/**
 * struct kernel_function - a function of the kernel, or of a module
 * @start:	address of the function
 * @name, @module: valid until kernel_close(); @module is "[kernel]" for the kernel itself
 */
struct kernel_function {
	uint64_t	start;
	const char	*name;
	const char	*module;
};

/**
 * kernel_open_names() - open TRACE.kallsyms
 * @trace:	path of the trace. For a piece, or for one of several sinks, the file name may also
 *		be based on the path without numbers: trace.rtd for trace.rtd.3, trace.0.rtd or
 *		trace.0.rtd.3
 * @path:	buffer of @size bytes, set to the file's name
 *
 * Return: its descriptor, or -1 with errno.
 */
int kernel_open_names(const char *trace, char *path, size_t size);

/**
 * kernel_open() - read the kernel's functions from the file that kernel_open_names() opens
 *
 * Return: the kernel; NULL if the file does not exist; or NULL after printing an error if the file
 * is unusable.
 */
struct kernel *kernel_open(const char *trace);

/** kernel_find() - return the function that contains an address, or NULL */
const struct kernel_function *kernel_find(const struct kernel *kernel, uint64_t address);

/** kernel_close() - free; NULL is allowed */
void kernel_close(struct kernel *kernel);

#endif /* SIFIVE_TRACE_KERNEL_H */

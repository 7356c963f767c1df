/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* record --calls: records instruction trace instead of loading a library into the program. */
#ifndef SIFIVE_TRACE_CALLS_H
#define SIFIVE_TRACE_CALLS_H

#include "../output.h"
#include "lib/session.h"
#include "objects.h"

/* Which calls to show: values of --calls, in the order in which the option lists its keywords. */
enum calls_of {
	CALLS_NONE = -1,
	CALLS_USER,
	CALLS_KERNEL,
	CALLS_ALL,
};

/* Values of --instruction-mode, in the order in which the option lists its keywords. */
enum calls_mode {
	CALLS_MODE_USUAL = -1,
	CALLS_BTM,
	CALLS_HTM,
	CALLS_OPTIMISED,
};

/**
 * calls_choose() - set up instruction trace
 * @take:	request to the driver, of which only the member @instruction is set
 * @mode:	enum calls_mode; CALLS_MODE_USUAL selects the most preferred mode that all encoders
 *		support
 * @all:	set to trace everything that runs
 * @children:	set to also trace processes that traced processes create; ignored if @all is set
 *
 * Return: 0, or -1 with sifive_trace_error().
 */
int calls_choose(struct sifive_trace_config *take, int mode, bool all, bool children);

/** calls_describe() - write "instruction":{...} of a side-car file; @of is an enum calls_of */
void calls_describe(struct output *out, const struct sifive_trace_config *take, int of);

/** calls_vdso() - copy the vdso into a directory; a failure is reported */
void calls_vdso(const char *dir);

/**
 * calls_archive() - copy the files of objects into a directory
 *
 * Return: 0, or -1 after printing an error if a file could not be copied.
 */
int calls_archive(const char *dir, const struct objects *objects);

#endif /* SIFIVE_TRACE_CALLS_H */

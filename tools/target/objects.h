/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Collects programs and shared objects, and their addresses in processes. */
#ifndef SIFIVE_TRACE_OBJECTS_H
#define SIFIVE_TRACE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../output.h"
#include "elf.h"
#include "ticks.h"

/**
 * struct object - a file and its addresses
 * @path:	path of the file
 * @build_id:	build-id in hexadecimal, empty if there is none
 * @start, @end: addresses of the object in memory
 * @bias:	load bias: address in memory minus address in the file
 * @seen:	sequence number of the last time the object was found
 * @pid:	process that has mapped the object, or 0 if unknown or if there are several
 * @time:	time when the object was mapped, in nanoseconds of CLOCK_MONOTONIC, or 0 if unknown
 * @unknown:	no file contains the code: the process generated it, or changed the file's code in
 *		memory. Such an object only limits the times and addresses of others
 * @from, @to:	times between which the addresses belong to this object, if the process has mapped
 *		another file there before or after; otherwise 0 and UINT64_MAX
 * @from_error, @to_error: -1 or 1 if unknown code precedes or follows: the direction in which the
 *		error of the clocks is added to the time; otherwise 0
 */
struct object {
	char		*path;
	char		build_id[ELF_BUILD_ID_SIZE];
	uint64_t	start;
	uint64_t	end;
	uint64_t	bias;
	uint64_t	seen;
	pid_t		pid;
	bool		unknown;
	uint64_t	time;
	uint64_t	from;
	uint64_t	to;
	int8_t		from_error;
	int8_t		to_error;
};

/**
 * struct objects - a set of objects; empty if zeroed
 * @object:	the @count objects, in the order in which they were found
 * @found:	number of times that an object was found
 * @files:	directory with copies of files and the vdso, or NULL for no directory, in which case
 *		the vdso is ignored
 * @missed:	number of objects whose loading was missed
 * @late:	number of CPUs that came online during the recording: loads on them were missed
 * @left_out:	number of objects that did not fit into the file
 * @ambiguous:	number of objects that share addresses with other objects
 *
 * @clock:	converts times to the trace's clock
 *
 * All processes are treated as one address space: objects_write() omits objects that overlap other
 * objects. If a process unmaps one object before it maps another at the same addresses, for example
 * with dlclose() and dlopen(), both objects are written, with their times. The same applies to
 * pages that a process replaces with generated code, or whose code it changes. The change is not
 * detected if the pages are not writable and executable at the same time, and perf reports all of
 * the object again afterwards: this could also be the object's next load.
 */
struct objects {
	struct object	*object;
	size_t		count;
	uint64_t	found;
	const char	*files;
	uint64_t	missed;
	uint64_t	late;
	uint64_t	left_out;
	uint64_t	ambiguous;
	struct trigger_clock clock;
};

/**
 * objects_add_code() - add an executable mapping of a file
 * @path:	the file; special mappings are ignored
 * @address, @length: addresses of the mapping, which starts at @offset in the file
 */
void objects_add_code(struct objects *objects, const char *path,
		      uint64_t address, uint64_t length, uint64_t offset);

/**
 * objects_map() - like objects_add_code(), but for a mapping that a process has just created
 * @pid:	the process
 * @time:	time of the mapping, in nanoseconds of CLOCK_MONOTONIC
 */
void objects_map(struct objects *objects, pid_t pid, uint64_t time, const char *path,
		 uint64_t address, uint64_t length, uint64_t offset);

/**
 * objects_map_writable() - like objects_map(), for a mapping that is also writable: its code may
 * differ from the file's
 */
void objects_map_writable(struct objects *objects, pid_t pid, uint64_t time, const char *path,
			  uint64_t address, uint64_t length);

/**
 * objects_add_kernel() - add code of the kernel itself, which all processes share
 * @start, @end: its addresses, in memory and in the copy of the kernel's code
 */
void objects_add_kernel(struct objects *objects, uint64_t start, uint64_t end);

/** objects_fork() - record that a process has created a child, which has the same mappings */
void objects_fork(struct objects *objects, pid_t pid);

/** objects_add() - add a process's objects, unless the process has ended */
void objects_add(struct objects *objects, pid_t pid);

/** objects_add_all() - add the objects of all processes that the caller may inspect */
void objects_add_all(struct objects *objects);

/**
 * objects_write() - write "objects":[...] of a side-car file
 * @objects:	the set; its @left_out and @ambiguous are set
 * @output:	the file
 * @newest:	if there are more objects than a reader accepts: set to keep the objects found last,
 *		because a ring keeps the newest samples; clear to keep the objects found first
 */
void objects_write(struct objects *objects, struct output *output, bool newest);

/**
 * objects_write_shared() - write all objects of a set, which do not overlap, as elements of "objects"
 *
 * Return: their number.
 */
size_t objects_write_shared(const struct objects *shared, struct output *output);

/** objects_report() - report objects that are not in the file */
void objects_report(const struct objects *objects);

void objects_free(struct objects *objects);

#endif /* SIFIVE_TRACE_OBJECTS_H */

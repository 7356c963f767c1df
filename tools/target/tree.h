/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Describes the processes of a recording: the program and its descendants. Each process writes its
 * data to a separate file; this code combines the files.
 */
#ifndef SIFIVE_TRACE_TREE_H
#define SIFIVE_TRACE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../output.h"
#include "names.h"
#include "objects.h"

/* Size of a temporary directory's name. */
#define TREE_DIR	32

/**
 * struct tree - the processes of a recording
 * @dir:	the directory to which the processes write, or "" for none
 * @left_out, @threads_left_out, @objects_left_out: numbers of processes, and of the remaining
 *		processes' threads and objects, that do not fit into the side-car file
 * @programs_left_out: number of the remaining processes whose program path does not fit
 */
struct tree {
	char	dir[TREE_DIR];
	size_t	left_out;
	size_t	programs_left_out;
	size_t	threads_left_out;
	size_t	objects_left_out;
};

/** tree_open() - create the directory; return 0, or -1 after printing an error */
int tree_open(struct tree *tree);

/**
 * struct tree_process - a process that does not use the library
 * @pid, @parent: process ids
 * @exe:	path of the process's program, or NULL if unknown
 * @argv:	command line of the process, or NULL if unknown
 * @from, @to:	times between which the process ran, in ticks, or 0 if unknown
 * @outside:	set if the program cannot load the library; the process may then have a description
 *		for each program that it executed
 */
struct tree_process {
	pid_t	pid;
	pid_t	parent;
	char	*exe;
	char	**argv;
	uint64_t	from;
	uint64_t	to;
	bool	outside;
};

/**
 * tree_add() - add a process that does not use the library, or replace its earlier description
 * @objects:	objects that have been mapped in the process
 * @newest:	see objects_write()
 */
void tree_add(struct tree *tree, const struct tree_process *process, struct objects *objects,
	      bool newest);

/**
 * tree_write() - write "processes", "threads" and "objects" of a side-car file
 * @names:	threads to write in addition to the threads in the files, or NULL
 * @kernel:	the kernel's objects, which all processes share, or NULL
 *
 * Return: 0, or -1 after printing an error if out of memory.
 */
int tree_write(struct tree *tree, struct names *names, const struct objects *kernel,
	       struct output *out);

/**
 * tree_forget() - remove the descriptions of processes whose programs cannot load the library,
 * because they are about to be described again
 */
void tree_forget(const struct tree *tree);

/** tree_count() - return the number of programs that have been described */
size_t tree_count(const struct tree *tree);

/** tree_joined() - like tree_count(), but only of programs with the library */
size_t tree_joined(const struct tree *tree);

/** tree_clear() - remove all processes */
void tree_clear(const struct tree *tree);

/** tree_report() - report data that did not fit into the file */
void tree_report(const struct tree *tree);

/** tree_close() - remove the directory */
void tree_close(struct tree *tree);

#endif /* SIFIVE_TRACE_TREE_H */

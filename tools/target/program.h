/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A program that is to be recorded, as its files tell without running it. */
#ifndef SIFIVE_TRACE_PROGRAM_H
#define SIFIVE_TRACE_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit codes of a command that runs programs, as shells have them. */
#define EXIT_RECORD	125
#define EXIT_CANNOT_RUN	126
#define EXIT_NOT_FOUND	127
#define EXIT_SIGNAL	128

/* Objects that are looked at. */
#define PROGRAM_OBJECTS	64

/**
 * struct program - what a program is
 * @path:	its file
 * @dynamic:	it is loaded by an interpreter, which takes LD_PRELOAD
 * @hooks:	it, or a shared object of it, was compiled with
 *		-finstrument-functions
 * @library:	libsifive-perf is linked into its file
 * @loads:	the shared library that it loads by itself, "" none
 * @privilege:	what of the file has the kernel change user, group or capabilities
 *		when this process runs it, NULL for nothing
 * @object:	the file, and its shared objects that were compiled so, @objects of
 *		them
 */
struct program {
	char	path[PATH_MAX];
	bool	dynamic;
	bool	hooks;
	bool	library;
	char	loads[PATH_MAX];
	const char *privilege;
	char	*object[PROGRAM_OBJECTS];
	size_t	objects;
};

/**
 * program_find() - find a program as execvp() does, and look at it
 *
 * Return: 0; 126 or 127 as shells have it: it cannot be run, or there is none.
 * The reason has been printed.
 */
int program_find(struct program *program, const char *name);

/**
 * program_library() - find the shared library to be loaded before the program
 * @program:	the program; what it loads by itself is taken
 * @named:	by the user, or NULL
 * @path:	filled, PATH_MAX bytes
 *
 * Return: 0, or -1: the reason has been printed.
 */
int program_library(const struct program *program, const char *named,
		    char *path);

/* Bytes of a temporary folder's name. */
#define PROGRAM_FOLDER	32

/**
 * program_link() - give the library a name that LD_PRELOAD can hold
 * @library:	its name, replaced by a link's where that is needed
 * @folder:	of PROGRAM_FOLDER bytes, filled: for program_unlink()
 *
 * Return: 0, or -1: the reason has been printed.
 */
int program_link(char *library, char *folder);

/** program_unlink() - remove the link, if there is one */
void program_unlink(const char *folder);

#endif /* SIFIVE_TRACE_PROGRAM_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Properties of the program to record, read from its files without running it. */
#ifndef SIFIVE_TRACE_PROGRAM_H
#define SIFIVE_TRACE_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit codes of a command that runs programs, the same as a shell's. */
#define EXIT_RECORD	125
#define EXIT_CANNOT_RUN	126
#define EXIT_NOT_FOUND	127
#define EXIT_SIGNAL	128

/* Limit of the objects that are read. */
#define PROGRAM_OBJECTS	64

/**
 * struct program - the properties of a program
 * @path:	its file
 * @dynamic:	it is loaded by an interpreter, which takes LD_PRELOAD
 * @hooks:	it or one of its shared objects was compiled with -finstrument-functions
 * @library:	libsifive-perf is linked into its file
 * @traces:	it may control tracing itself, by a function of the library
 * @loads:	the library's shared object that it loads by itself, "" for none
 * @privilege:	attribute of the file that makes the kernel change user, group or capabilities at
 *		exec; NULL for none
 * @object:	the file and its instrumented shared objects, @objects of them
 * @shared:	all shared objects that it loads when it starts, @shared_objects of them
 */
struct program {
	char	path[PATH_MAX];
	bool	dynamic;
	bool	hooks;
	bool	library;
	bool	traces;
	char	loads[PATH_MAX];
	const char *privilege;
	char	*object[PROGRAM_OBJECTS];
	size_t	objects;
	char	*shared[PROGRAM_OBJECTS];
	size_t	shared_objects;
};

/**
 * program_find() - find a program as execvp() does, and read its properties
 *
 * Return: 0; 126 if it cannot be run, 127 if there is none, as in a shell: the error
 * has been printed.
 */
int program_find(struct program *program, const char *name);

/**
 * program_library() - find the shared library to preload
 * @program:	the program; a library that it loads itself is preferred
 * @named:	the user's choice, or NULL
 * @path:	filled, PATH_MAX bytes
 *
 * Return: 0, or -1: the error has been printed.
 */
int program_library(const struct program *program, const char *named,
		    char *path);

/* Size of a temporary folder's name. */
#define PROGRAM_FOLDER	32

/**
 * program_link() - give the library a name that is valid in LD_PRELOAD
 * @library:	its path, replaced by a link's path if needed
 * @folder:	of PROGRAM_FOLDER bytes, filled: for program_unlink()
 *
 * Return: 0, or -1: the error has been printed.
 */
int program_link(char *library, char *folder);

/** program_unlink() - remove the link, if any */
void program_unlink(const char *folder);

#endif /* SIFIVE_TRACE_PROGRAM_H */

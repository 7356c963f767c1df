/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Determines a program's properties from its files, without running the program. */
#ifndef SIFIVE_TRACE_PROGRAM_H
#define SIFIVE_TRACE_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit codes of a command that runs programs, as in a shell. */
#define EXIT_RECORD	125
#define EXIT_CANNOT_RUN	126
#define EXIT_NOT_FOUND	127
#define EXIT_SIGNAL	128

/* Maximum number of objects that are read. */
#define PROGRAM_OBJECTS	64

/**
 * struct program - the properties of a program
 * @path:	path of the program
 * @dynamic:	set if an interpreter, which supports LD_PRELOAD, loads the program
 * @hooks:	set if the program or a shared object was compiled with -finstrument-functions
 * @library:	set if libsifive-perf is statically linked into the program's file
 * @traces:	set if the program may control tracing itself with a function of the library
 * @loads:	the library's shared object if the program itself loads it, otherwise ""
 * @sanitized:	set if the program or one of its shared objects loads the address sanitizer
 * @opens:	set if the program or one of its shared objects may load more objects with dlopen()
 * @privilege:	attribute of the file that makes the kernel change user, group or capabilities
 *		at exec, or NULL if none
 * @object:	the @objects files to trace: the program and its instrumented shared objects
 * @shared:	the @shared_objects shared objects that the program loads when it starts
 */
struct program {
	char	path[PATH_MAX];
	bool	dynamic;
	bool	hooks;
	bool	library;
	bool	traces;
	char	loads[PATH_MAX];
	bool	sanitized;
	bool	opens;
	const char *privilege;
	char	*object[PROGRAM_OBJECTS];
	size_t	objects;
	char	*shared[PROGRAM_OBJECTS];
	size_t	shared_objects;
};

/**
 * program_find() - find a program as execvp() does, and read its properties
 *
 * Return: 0, or, after printing an error, 126 if the program cannot be run, or 127 if it does not
 * exist, as in a shell.
 */
int program_find(struct program *program, const char *name);

/**
 * program_library() - find the shared library to preload
 * @program:	the program; if the program itself loads the library, the same file is preferred
 * @named:	the user's choice, or NULL
 * @path:	set to the path; PATH_MAX bytes
 *
 * Return: 0, or -1 after printing an error, for example because LD_PRELOAD cannot contain the
 * library's name.
 */
int program_library(const struct program *program, const char *named,
		    char *path);

#endif /* SIFIVE_TRACE_PROGRAM_H */

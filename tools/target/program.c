// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * See program.h. Strings in a program's files show its properties, because
 * stripped programs have no symbol table.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../command.h"
#include "../text.h"
#include "elf.h"
#include "program.h"

#ifndef LIBDIR
#define LIBDIR	"/usr/local/lib"
#endif

#define LIBRARY	"libsifive-perf.so"

/* Characters that end a name in LD_PRELOAD, or that the loader expands. */
#define NOT_IN_PRELOAD	" :$"

/* Symbol in every file that calls the hooks, and in libc, which defines empty hooks. */
static const char hook[] = "__cyg_profile_func_enter";
/* Symbol in every file that loads objects at run time. */
static const char opener[] = "dlopen";
/* Message in every file that contains the library. */
static const char message[] = "SIFIVE_TRACE_RECORD: nothing is recorded: ";

static void look_at_object(struct program *program, const char *path)
{
	const char *name = text_base(path);
	struct elf elf;

	if (program->shared_objects < PROGRAM_OBJECTS)
		program->shared[program->shared_objects++] = strdup(path);
	if (!strncmp(name, "libc.", 5) || !strncmp(name, "ld-", 3) ||
	    elf_open(path, ELF_ALL, &elf))
		return;
	program->opens |= elf_has(&elf, opener);
	program->sanitized |= !strncmp(name, "libasan.", 8) ||
			      !strncmp(name, "libclang_rt.asan", 16);
	if (!strncmp(name, LIBRARY, strlen(LIBRARY))) {
		snprintf(program->loads, sizeof(program->loads), "%s", path);
	} else if (elf_has(&elf, hook)) {
		program->hooks = true;
		if (program->objects < PROGRAM_OBJECTS)
			program->object[program->objects++] = strdup(path);
	}
	elf_close(&elf);
}

/*
 * Return the path in a line of the loader's list: "NAME => PATH (0xADDRESS)" or "PATH (0xADDRESS)",
 * where paths can contain spaces. Return NULL if there is none.
 */
static const char *listed_path(char *line)
{
	char *arrow = strstr(line, " => "), *end = strrchr(line, '(');

	if (!end || end == line || strncmp(--end, " (0x", 4))
		return NULL;
	*end = '\0';
	return arrow ? arrow + strlen(" => ") : line + strspn(line, "\t");
}

/* The loader lists a program's objects without running it. */
static void look_at_objects(struct program *program, const char *loader)
{
	char line[2 * PATH_MAX + 256];
	const char *path;
	int ends[2], status;
	FILE *list;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		execl(loader, loader, "--list", program->path, (char *)NULL);
		_exit(EXIT_CANNOT_RUN);
	}
	close(ends[1]);
	list = fdopen(ends[0], "r");
	while (list && fgets(line, sizeof(line), list)) {
		path = listed_path(line);
		if (path)
			look_at_object(program, path);
	}
	if (list)
		fclose(list);
	if (pid > 0)
		waitpid(pid, &status, 0);
}

/*
 * Return the attribute of a file that, by the kernel's rules, makes the loader ignore LD_PRELOAD,
 * or NULL if there is none. File capabilities do not matter for root, who has all capabilities.
 */
static const char *privilege_of(const char *path)
{
	struct statvfs system;
	struct stat status;

	if (stat(path, &status) || statvfs(path, &system) ||
	    system.f_flag & ST_NOSUID)
		return NULL;
	if (status.st_mode & S_ISUID && status.st_uid != getuid())
		return "set-user-ID";
	if (status.st_mode & S_ISGID && status.st_mode & S_IXGRP &&
	    status.st_gid != getgid())
		return "set-group-ID";
	if (getuid() && getxattr(path, "security.capability", NULL, 0) > 0)
		return "file capabilities";
	return NULL;
}

static int look_at(struct program *program)
{
	const char *loader;
	struct elf elf;
	int error = elf_open(program->path, ELF_ALL, &elf);

	if (error) {
		if (error != ENOEXEC && error != EINVAL)
			report("%s: cannot be read: %s", program->path,
			       strerror(error));
		else if (elf.size && elf.bytes[0] == '#')
			report("%s: a script: make it start its program with sifive-trace record",
			       program->path);
		else
			report("%s: not a 64-bit RISC-V program", program->path);
		elf_close(&elf);
		return EXIT_CANNOT_RUN;
	}
	program->hooks = elf_has(&elf, hook);
	program->library = elf_has(&elf, message);
	program->traces = elf_has(&elf, "perfInit") || elf_has(&elf, "sifive_trace_open");
	program->privilege = privilege_of(program->path);
	program->object[program->objects++] = strdup(program->path);
	loader = elf_interpreter(&elf);
	program->dynamic = loader;
	program->opens = loader && elf_has(&elf, opener);
	if (loader)
		look_at_objects(program, loader);
	else if (program->library)
		/* Stripping removes the hooks' names, but not the library's message. */
		program->hooks = true;
	elf_close(&elf);
	return 0;
}

static bool is_program(const char *path)
{
	struct stat status;

	return !access(path, X_OK) && !stat(path, &status) &&
	       S_ISREG(status.st_mode);
}

int program_find(struct program *program, const char *name)
{
	const char *dirs = getenv("PATH"), *end;

	memset(program, 0, sizeof(*program));
	if (strchr(name, '/')) {
		snprintf(program->path, sizeof(program->path), "%s", name);
		errno = 0;
		if (is_program(program->path))
			return look_at(program);
		report("%s: %s", name, errno ? strerror(errno) : "not a program");
		return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
	}
	for (; dirs; dirs = *end ? end + 1 : NULL) {
		end = strchrnul(dirs, ':');
		snprintf(program->path, sizeof(program->path), "%.*s%s%s",
			 (int)(end - dirs), dirs, end > dirs ? "/" : "",
			 name);
		if (is_program(program->path))
			return look_at(program);
	}
	report("%s: not found in PATH", name);
	return EXIT_NOT_FOUND;
}

/*
 * Look for the library under the name that programs use, then under the linker's name, which
 * packages may omit.
 */
static bool library_in(const char *dir, char *path)
{
	snprintf(path, PATH_MAX, "%s/" LIBRARY ".0", dir);
	if (!access(path, R_OK))
		return true;
	snprintf(path, PATH_MAX, "%s/" LIBRARY, dir);
	return !access(path, R_OK);
}

static int find_library(const struct program *program, const char *named, char *path)
{
	char self[PATH_MAX - 64], up[PATH_MAX - 32], *slash;
	ssize_t length;

	if (named) {
		if (realpath(named, path))
			return 0;
		report("--library %s: %s", named, strerror(errno));
		return -1;
	}
	/*
	 * If the program itself loads the library, preload the same file, because a different file
	 * would replace that library.
	 */
	if (*program->loads) {
		strcpy(path, program->loads);
		return 0;
	}
	length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[length < 0 ? 0 : length] = '\0';
	slash = strrchr(self, '/');
	if (slash) {
		*slash = '\0';
		snprintf(up, sizeof(up), "%s/../lib", self);
		if (library_in(self, path) || library_in(up, path))
			return 0;
	}
	if (library_in(LIBDIR, path))
		return 0;
	report("no " LIBRARY " beside %s, in ../lib or in " LIBDIR ": install it, or name it with --library FILE",
	       slash ? self : "the command");
	return -1;
}

int program_library(const struct program *program, const char *named, char *path)
{
	if (find_library(program, named, path))
		return -1;
	if (!strpbrk(path, NOT_IN_PRELOAD))
		return 0;
	report("%s: LD_PRELOAD cannot contain this name, because of a space, a colon or a $: copy the library to a directory without these, and name the copy with --library FILE",
	       path);
	return -1;
}

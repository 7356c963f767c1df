// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See select.h. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"
#include "../filter_file.h"
#include "../text.h"
#include "demangle.h"
#include "elf.h"
#include "select.h"

/**
 * struct selection - state while a filter file is being written
 * @kind:	keyword at the beginning of each line
 * @option:	option that selects the functions, for error messages, or NULL if the option has
 *		several patterns
 * @object:	name of the current object, in quotes if needed
 * @functions:	number of functions that matched
 */
struct selection {
	const char * const	*pattern;
	size_t			patterns;
	const char		*kind;
	const char		*option;
	char			object[PATH_MAX + 2];
	FILE			*out;
	size_t			functions;
};

static bool fits(const struct selection *s, const char *name)
{
	return filter_fits(s->pattern, s->patterns, name);
}

static void consider(void *argument, const char *name, uint64_t start,
		     uint64_t size)
{
	struct selection *s = argument;
	char *full = demangle(name);

	if (fits(s, name) ||
	    (full && (fits(s, full) || fits(s, demangle_cut(full))))) {
		s->functions++;
		fprintf(s->out, "# %s\n%s%s %" PRIx64 " %" PRIx64 "\n", name, s->kind,
			s->object, start, start + size);
	}
	free(full);
}

static void select_in(struct selection *s, const char *path)
{
	const char *name = text_base(path);
	const char *quote = filter_quote(name);
	struct elf elf;

	snprintf(s->object, sizeof(s->object), "%s%s%s", quote, name, quote);
	if (!elf_open(path, ELF_ALL, &elf) && !elf_functions(&elf, consider, s))
		report("%s has no symbol table: none of its functions is recorded (make a filter of an unstripped copy with sifive-trace filter)",
		       path);
	elf_close(&elf);
}

static FILE *make_file(char *path)
{
	int fd = mkstemp(path);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (!file)
		report("%s: %s", path, strerror(errno));
	return file;
}

/*
 * Close the file. Remove the file if writing fails, or if @error shows that an error has already
 * occurred.
 */
static int close_file(FILE *file, const char *path, int error)
{
	int failed = ferror(file);

	if (fclose(file) || failed) {
		report("%s: cannot be written", path);
		error = -1;
	}
	if (error)
		unlink(path);
	return error;
}

#define NO_FUNCTION	"no function matches: nm -C %s shows names%s"

/* Write the program's functions that match; return 0, or -1 if none does. */
static int select_all(struct selection *s, const struct program *program)
{
	const char *without = demangle_possible() ? "" :
		"; this machine has no libstdc++.so.6, so use C++ names as shown by nm without -C";
	size_t i;

	for (i = 0; i < program->objects; i++)
		select_in(s, program->object[i]);
	if (s->functions)
		return 0;
	if (s->option)
		report("%s %s: " NO_FUNCTION, s->option, *s->pattern, program->path, without);
	else
		report(NO_FUNCTION, program->path, without);
	return -1;
}

int select_functions(const struct program *program, const char * const *pattern,
		     size_t patterns, char *path)
{
	struct selection s = { .pattern = pattern, .patterns = patterns, .kind = "" };

	s.out = make_file(path);
	return s.out ? close_file(s.out, path, select_all(&s, program)) : -1;
}

int select_copy(const char *from, char *path)
{
	bool comment = false, empty = true;
	FILE *in = NULL, *out;
	int c, error = 0;

	if (from) {
		in = fopen(from, "re");
		if (!in) {
			report("%s: %s", from, strerror(errno));
			return -1;
		}
	}
	out = make_file(path);
	while (in && out && (c = getc(in)) != EOF) {
		putc(c, out);
		comment = c != '\n' && (comment || c == '#');
		empty &= comment || isspace(c);
	}
	if (in && ferror(in)) {
		report("%s: cannot be read", from);
		error = -1;
	}
	/*
	 * If the filter is empty, add a line that matches no object: a filter without functions
	 * would select all functions.
	 */
	if (in && out)
		fputs(empty ? "\n- 0 1\n" : "\n", out);
	if (in)
		fclose(in);
	return out ? close_file(out, path, error) : -1;
}

int select_part(const struct program *program, const struct meta_part *part,
		const char *path)
{
	FILE *out = fopen(path, "ae");
	struct selection begin = {
		.pattern = &part->from, .patterns = 1, .kind = "> ", .option = "--from", .out = out,
	};
	struct selection end = {
		.pattern = &part->to, .patterns = 1, .kind = "< ", .option = "--to", .out = out,
	};
	int error = 0;

	if (!out) {
		report("%s: %s", path, strerror(errno));
		unlink(path);
		return -1;
	}
	if (part->depth)
		fprintf(out, "^ %" PRIu64 "\n", part->depth);
	if (part->from)
		error = select_all(&begin, program);
	if (!error && part->to)
		error = select_all(&end, program);
	return close_file(out, path, error);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See select.h. */
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
 * struct selection - writing a filter file
 * @object:	the name of the current object, in quotes if needed
 * @functions:	number of functions that matched
 */
struct selection {
	const char * const	*pattern;
	size_t			patterns;
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
		fprintf(s->out, "# %s\n%s %" PRIx64 " %" PRIx64 "\n", name,
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

int select_functions(const struct program *program, const char * const *pattern,
		     size_t patterns, char *path)
{
	struct selection s = { .pattern = pattern, .patterns = patterns };
	int fd = mkstemp(path), failed;
	size_t i;

	s.out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!s.out) {
		report("%s: %s", path, strerror(errno));
		return -1;
	}
	for (i = 0; i < program->objects; i++)
		select_in(&s, program->object[i]);
	failed = ferror(s.out);
	if (fclose(s.out) || failed)
		report("%s: cannot be written", path);
	else if (!s.functions)
		report("no function matches: nm -C %s shows names%s",
		       program->path, demangle_possible() ? "" :
		       "; this machine has no libstdc++.so.6, so use C++ names as shown by nm without -C");
	else
		return 0;
	unlink(path);
	return -1;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See demangle.h. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "demangle.h"

typedef char *(*demangle_function)(const char *symbol, char *buffer,
				   size_t *size, int *status);

/*
 * Do not load the library from the program's directories, because the command may have privileges
 * that the program's owner lacks.
 */
static demangle_function find(void)
{
	static const char * const libraries[] = {
		"libstdc++.so.6", "libc++abi.so.1",
	};
	static void *function;
	static bool looked;
	void *library;
	size_t i;

	for (i = 0; i < 2 && !function && !looked; i++) {
		library = dlopen(libraries[i], RTLD_LAZY);
		if (library)
			function = dlsym(library, "__cxa_demangle");
	}
	looked = true;
	return (demangle_function)function;
}

bool demangle_possible(void)
{
	return find();
}

char *demangle(const char *symbol)
{
	demangle_function function;
	int status;

	if (strncmp(symbol, "_Z", 2))
		return NULL;
	function = find();
	return function ? function(symbol, NULL, NULL, &status) : NULL;
}

/*
 * Return the opening bracket that matches the closing bracket at @at, or NULL if no bracket
 * matches, as is possible in an operator's name.
 */
static char *partner(char *name, char *at)
{
	const char *kinds = *at == ')' ? "()" : "<>";
	size_t depth = 0;

	for (;; at--) {
		if (*at == kinds[1])
			depth++;
		else if (*at == kinds[0] && !--depth)
			return at;
		if (at == name)
			return NULL;
	}
}

/* Return the part of @name after the return type, which can contain template arguments. */
static char *behind_type(char *name, char *end)
{
	char *at = end, *word = strstr(name, "operator");

	/* Spaces and brackets after "operator" are part of the name. */
	if (word)
		at = word;
	while (at > name && at[-1] != ' ') {
		at--;
		if (*at == ')' || *at == '>')
			at = partner(name, at);
		if (!at)
			return name;
	}
	return at;
}

char *demangle_cut(char *name)
{
	char *end = name + strlen(name), *open = NULL;
	char *close = strrchr(name, ')');

	if (close)
		open = partner(name, close);
	/* Brackets of a lambda are part of its name, not parameters. */
	if (open && open > name && !strchr(close, ':')) {
		*open = '\0';
		end = open;
	}
	return end > name && end[-1] == '>' ? behind_type(name, end) : name;
}

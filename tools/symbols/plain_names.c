// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See plain_names.h. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "hash.h"
#include "plain_names.h"

/* Mangled names longer than this are not demangled. */
#define MANGLED_MAX	8192

/* A displayed name, shared by all addresses of its function. */
struct plain_name {
	struct plain_name	*next;
	const char		*mangled;
	bool			stub;
	char			*plain;
};

void plain_names_free(struct plain_names *names)
{
	struct plain_name *name, *next;
	size_t i;

	for (i = 0; i < 1 << PLAIN_NAMES_BITS; i++) {
		for (name = names->name[i]; name; name = next) {
			next = name->next;
			free(name->plain);
			free(name);
		}
	}
}

/* Return NULL if the name is unchanged. */
static char *make_name(const struct plain_names *names, const char *mangled, bool stub)
{
	int flags = DMGL_ANSI;
	char *plain = NULL, *name;

	if (names->demangle == DEMANGLE_FULL)
		flags |= DMGL_PARAMS;
	if (names->demangle != DEMANGLE_NO && !strncmp(mangled, "_Z", 2))
		plain = cplus_demangle_v3(mangled, flags);
	if (!stub)
		return plain;
	if (asprintf(&name, "%s@plt", plain ? plain : mangled) < 0)
		name = NULL;
	free(plain);
	return name;
}

const char *plain_names_find(struct plain_names *names, const char *mangled, bool stub)
{
	struct plain_name **slot, *name;

	if ((strncmp(mangled, "_Z", 2) && !stub) || strlen(mangled) > MANGLED_MAX)
		return mangled;
	slot = &names->name[hash_place((uintptr_t)mangled, PLAIN_NAMES_BITS)];
	for (name = *slot; name; name = name->next)
		if (name->mangled == mangled && name->stub == stub)
			return name->plain ? name->plain : mangled;
	name = calloc(1, sizeof(*name));
	if (!name)
		return mangled;
	name->mangled = mangled;
	name->stub = stub;
	name->plain = make_name(names, mangled, stub);
	name->next = *slot;
	*slot = name;
	return name->plain ? name->plain : mangled;
}

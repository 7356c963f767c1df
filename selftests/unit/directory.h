/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Helpers for a temporary directory in which a test works, and for small files. */
#ifndef DIRECTORY_H
#define DIRECTORY_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Create a directory from a template for mkdtemp(), and enter it. Return 0 or -1. */
static inline int dir_enter(char *template)
{
	return mkdtemp(template) ? chdir(template) : -1;
}

/* Leave a directory, and remove it with its contents. Return 0 or -1. */
static inline int dir_remove(const char *dir)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") || system(command) ? -1 : 0;
}

/* Return the beginning of a file, or "" if it cannot be read; valid until the next call. */
static inline const char *text_of(const char *path)
{
	static char text[256];
	FILE *file = fopen(path, "r");

	text[0] = '\0';
	if (file) {
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
		fclose(file);
	}
	return text;
}

#endif /* DIRECTORY_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies files. */
#ifndef SIFIVE_TRACE_COPY_H
#define SIFIVE_TRACE_COPY_H

/**
 * copy_dir() - create a directory for copies of files
 *
 * Return: 0, or -1 after reporting that the directory cannot be created or belongs to another user.
 */
int copy_dir(const char *dir);

/** copy_parents() - create the parent directories of the file @path */
void copy_parents(char *path);

/**
 * copy_file() - copy a file, atomically replacing any existing file
 * @from:	path of the file
 * @to:		path of the copy, which appears once the copy is complete
 *
 * Return: 0, or -1 after printing an error; @to is then unchanged.
 */
int copy_file(const char *from, const char *to);

#endif /* SIFIVE_TRACE_COPY_H */

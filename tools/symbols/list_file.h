/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads the whole of a file that a just-in-time compiler has written. */
#ifndef SIFIVE_TRACE_LIST_FILE_H
#define SIFIVE_TRACE_LIST_FILE_H

#include <stddef.h>

/**
 * list_file_read() - read a regular file
 * @most:	maximum size of the file
 * @length:	set to the number of bytes
 *
 * Return: the bytes, followed by a NUL, which the caller frees; or NULL with errno set.
 */
char *list_file_read(const char *path, size_t most, size_t *length);

#endif /* SIFIVE_TRACE_LIST_FILE_H */

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See list_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "list_file.h"

static char *read_bytes(int fd, size_t most, size_t *length)
{
	struct stat status;
	ssize_t got = 1;
	char *bytes;

	if (fstat(fd, &status))
		return NULL;
	errno = S_ISREG(status.st_mode) ? EFBIG : EINVAL;
	if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > most)
		return NULL;
	bytes = malloc((size_t)status.st_size + 1);
	*length = 0;
	while (bytes && *length < (size_t)status.st_size && got > 0) {
		got = read(fd, bytes + *length, (size_t)status.st_size - *length);
		*length += got > 0 ? (size_t)got : 0;
	}
	if (got < 0) {
		free(bytes);
		return NULL;
	}
	if (bytes)
		bytes[*length] = '\0';
	return bytes;
}

char *list_file_read(const char *path, size_t most, size_t *length)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *bytes = fd >= 0 ? read_bytes(fd, most, length) : NULL;
	const int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return bytes;
}

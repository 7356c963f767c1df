// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See lock.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/session.h"

#include "../command.h"
#include "files.h"
#include "lock.h"
#include "machine.h"

/* Interval in ms at which the files are touched. */
#define BEAT	1000

static void lock_name(char name[PATH_MAX + 16], const struct locks *locks, uint32_t i)
{
	perf_device_file(name, locks->path, i, locks->sinks);
	strcat(name, ".recording");
}

/*
 * A lock of the process, not of the open file: while processes are recorded that already ran, the
 * command has a child that would keep the latter.
 */
static bool take(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return !fcntl(fd, F_SETLK, &lock);
}

/* Without the lock, readers on this machine must not rely on it. */
static int create(const char *name, const char *boot)
{
	int fd = files_create(name);

	if (fd < 0)
		report("%s: not created: %s: top and decode -f cannot follow this recording", name,
		       strerror(errno));
	else
		dprintf(fd, "boot %s\nbeat %d\n", take(fd) && *boot ? boot : "-", BEAT);
	return fd;
}

void locks_create(struct locks *locks, const char *path, uint32_t sinks)
{
	char name[PATH_MAX + 16], boot[64];
	uint32_t i;

	locks_remove(locks);
	if (!machine_side_car())
		return;
	machine_file("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	locks->path = path;
	locks->sinks = sinks;
	locks->beat = perf_device_now();
	for (i = 0; i < sinks; i++) {
		lock_name(name, locks, i);
		locks->fd[i] = create(name, boot);
	}
}

void locks_beat(struct locks *locks)
{
	const uint64_t now = perf_device_now();
	uint32_t i;

	if (now - locks->beat < BEAT * UINT64_C(1000000))
		return;
	locks->beat = now;
	for (i = 0; i < locks->sinks; i++)
		if (locks->fd[i] >= 0)
			futimens(locks->fd[i], NULL);
}

void locks_remove(struct locks *locks)
{
	char name[PATH_MAX + 16];
	uint32_t i;

	for (i = 0; i < locks->sinks; i++) {
		if (locks->fd[i] < 0)
			continue;
		lock_name(name, locks, i);
		/* Readers must not find the file without its lock. */
		unlink(name);
		close(locks->fd[i]);
	}
	locks->sinks = 0;
}

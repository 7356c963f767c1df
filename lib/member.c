// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "member.h"

#ifdef PERF_SHARED

#include "bind.h"
#include "error.h"
#include "hooks.h"
#include "join.h"
#include "meta.h"

/* Maximum number of programs that one process can execute, one after another. */
#define IMAGES		100000

/*
 * Numbers of the files of programs that a process has executed are odd; those of copies that fork()
 * made are even. The recorder thus notices which of a process's programs have not joined.
 */
static unsigned int first = 1;

/*
 * Status of the recorder's directory when the program joined, and name of the program's file in it.
 */
static struct stat joined;
static char part[32];

PERF_INTERNAL int perf_member_take(struct perf_device *device, struct perf_setup *setup,
				   uint32_t *channels)
{
	struct sifive_trace_join join = { .channel = (int32_t)setup->channel };
	uint32_t i;

	/* A program without hooks needs no channel until it loads an instrumented object. */
	if ((!setup->inherits && perf_bind(setup->hooks)) || perf_join(device, &join, perf_bind_used()))
		return -1;
	*channels = join.channel < 0 ? 0 : 1u << join.channel;
	setup->shared = join.used ? *channels : 0;
	setup->count = join.count;
	for (i = 0; i < join.count; i++)
		setup->counter[i] = (struct perf_counter) {
			.type = join.event[i].type, .code = join.event[i].code,
			.flags = join.event[i].flags, .data = join.event[i].data,
			.number = join.event[i].counter, .info = join.event[i].info,
		};
	return 0;
}

PERF_INTERNAL void perf_member_on(void)
{
	perf_session.started = true;
	perf_session.state = PERF_SESSION_ON;
	perf_hooks_open(PERF_OPEN_MANUAL |
			(perf_session.setup.hooks ? PERF_OPEN_HOOKS : 0));
}

PERF_INTERNAL void perf_member_off(void)
{
	if (perf_session.state != PERF_SESSION_ON)
		return;
	perf_hooks_close(false);
	perf_session.state = PERF_SESSION_READY;
}

/*
 * Open the recorder's directory. Once the recorder has removed that directory, any user can create
 * one with the same name.
 */
PERF_LOCAL int open_dir(const char *dir)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat now;

	if (fd < 0 || fstat(fd, &now))
		return fd;
	if (!joined.st_ino)
		joined = now;
	if (now.st_dev == joined.st_dev && now.st_ino == joined.st_ino &&
	    now.st_uid == joined.st_uid)
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

/* Create a file that no other program uses. */
PERF_LOCAL int make_part(int dir)
{
	unsigned int i;
	int fd = -1;

	for (i = first; fd < 0 && i < 2 * IMAGES; i += 2) {
		snprintf(part, sizeof(part), "%d.%u", (int)perf_pool->process, i);
		fd = openat(dir, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd < 0)
		*part = '\0';
	return fd;
}

/* Write the program's file, but keep an earlier one unless the new one is complete. */
PERF_LOCAL int write_part(int dir, const char *name, bool ends)
{
	char draft[sizeof(part) + 1];
	bool again = *part;
	int fd, failed = 0;

	snprintf(draft, sizeof(draft), ".%s", part);
	fd = again ? openat(dir, draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			    0600) : make_part(dir);
	if (fd >= 0)
		failed = perf_meta_part(fd, name, ends);
	if (fd >= 0 && again && failed)
		unlinkat(dir, draft, 0);
	if (fd < 0 || (again && !failed && renameat(dir, draft, dir, part)))
		failed = perf_error("cannot write to %s: %s", name, strerror(errno));
	return failed;
}

PERF_INTERNAL int perf_member_write(const char *name, bool ends)
{
	int dir = open_dir(name), failed, error;

	if (dir < 0)
		return perf_error("cannot write to %s: %s", name, strerror(errno));
	failed = write_part(dir, name, ends);
	error = errno;
	close(dir);
	errno = error;
	return failed;
}

PERF_INTERNAL void perf_member_forget(void)
{
	*part = '\0';
	first = 0;
}

#endif

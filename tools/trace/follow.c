// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See follow.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "follow.h"
#include "hash.h"
#include "progress.h"

/* Interval in ms at which a file is checked for growth. */
#define LOOK		100

/* The recorder of another machine is taken for dead if it has not touched its file this often. */
#define BEATS		60

/* After this many looks, report that the command is waiting. */
#define PATIENCE	20

/* Maximum number of messages that are remembered. */
#define MESSAGES	1024

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* A second SIGINT ends the command. */
static void catch_interrupt(void)
{
	const struct sigaction action = {
		.sa_handler = on_interrupt, .sa_flags = (int)(SA_RESETHAND | SA_RESTART),
	};
	struct sigaction before;

	if (!sigaction(SIGINT, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
}

static void release_interrupt(void)
{
	struct sigaction before;

	if (!sigaction(SIGINT, NULL, &before) && before.sa_handler == on_interrupt)
		signal(SIGINT, SIG_DFL);
}

/* Print a message unless the same text has been printed. */
static void print_once(void *unused, const char *text)
{
	static uint64_t printed[MESSAGES];
	static size_t count;
	const uint64_t hash = hash_text(text);
	size_t i;

	(void)unused;
	for (i = 0; i < count; i++)
		if (printed[i] == hash)
			return;
	if (count < MESSAGES)
		printed[count++] = hash;
	fprintf(stderr, "sifive-trace: %s\n", text);
}

static bool same_file(const struct stat *one, const struct stat *two)
{
	return one->st_dev == two->st_dev && one->st_ino == two->st_ino;
}

static bool same_time(const struct timespec *one, const struct timespec *two)
{
	return one->tv_sec == two->tv_sec && one->tv_nsec == two->tv_nsec;
}

/* Open the file, because a network file system asks its server only then. */
static bool get_status(const char *path, struct stat *status)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool known = fd >= 0 && !fstat(fd, status);

	if (fd >= 0)
		close(fd);
	return known;
}

/* Return whether a process has locked the file. */
static bool is_locked(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return !fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/**
 * struct marks - the contents of a lock file
 * @boot:	boot_id of the recorder's kernel, or "-" if readers must not expect a lock
 * @beat:	interval in ms at which the recorder touches the file
 */
struct marks {
	char	boot[64];
	int	beat;
};

static void read_marks(int fd, struct marks *marks)
{
	ssize_t length;
	char text[256];

	/* The recorder has yet to write to an empty file. */
	*marks = (struct marks){ .boot = "-", .beat = 1000 };
	length = pread(fd, text, sizeof(text) - 1, 0);
	text[length < 0 ? 0 : length] = '\0';
	sscanf(text, "boot %63s beat %d", marks->boot, &marks->beat);
}

/* Return whether a recorder that cannot be asked has touched its file not long ago. */
static bool beats(struct follow *follow, const struct stat *lock, int beat)
{
	const int64_t now = progress_clock();

	if (!same_time(&lock->st_mtim, &follow->touched)) {
		follow->touched = lock->st_mtim;
		follow->since = now;
	}
	return now - follow->since <= (int64_t)BEATS * beat;
}

/* Return whether the recorder of an open lock file is running, as far as that can be seen. */
static bool runs(struct follow *follow, int fd)
{
	struct marks marks;
	struct stat status;

	/* The recorder writes to the file after it has locked it. */
	read_marks(fd, &marks);
	if (is_locked(fd))
		return true;
	return strcmp(marks.boot, follow->boot) && !fstat(fd, &status) &&
	       beats(follow, &status, marks.beat);
}

/*
 * Open the lock file. In a directory that others can write, its name may belong to a device, which
 * must not be opened, or a link. Return -1 if there is no lock file.
 */
static int open_lock(const struct follow *follow, struct stat *status)
{
	int fd;

	if (!lstat(follow->lock, status) && !S_ISREG(status->st_mode))
		return -1;
	fd = open(follow->lock, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	if (fd < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			report("%s: %s: a recording that is running appears to have ended",
			       follow->lock, strerror(errno));
		return -1;
	}
	if (!fstat(fd, status) && S_ISREG(status->st_mode))
		return fd;
	close(fd);
	return -1;
}

/* Return the state that the lock file shows. */
static enum follow_state look(struct follow *follow)
{
	struct stat opened, named;
	bool running;
	int fd;

	for (;;) {
		fd = open_lock(follow, &opened);
		if (fd < 0)
			return FOLLOW_ENDED;
		running = runs(follow, fd);
		close(fd);
		if (running)
			return FOLLOW_RUNS;
		/* Look again if the recorder has removed the file, or another one created it. */
		if (get_status(follow->lock, &named) && same_file(&opened, &named))
			return FOLLOW_KILLED;
	}
}

static void read_boot(struct follow *follow)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || fscanf(file, "%63s", follow->boot) != 1)
		*follow->boot = '\0';
	if (file)
		fclose(file);
}

/* Wait while the recorder is running and has not created a file. */
static void wait_for(struct follow *follow, const char *file)
{
	unsigned int looks = 0;
	struct stat status;

	while (follow->state == FOLLOW_RUNS && !get_status(file, &status)) {
		if (++looks == PATIENCE)
			report("%s: waiting for %s, which the recorder has not written yet",
			       follow->path, file);
		poll(NULL, 0, LOOK);
		follow->state = look(follow);
	}
}

int follow_begin(struct follow *follow, const char *path, const char *meta)
{
	*follow = (struct follow){ .path = path, .state = FOLLOW_ENDED, .since = progress_clock() };
	report_to(print_once, NULL);
	if (!strcmp(path, "-") || strlen(path) + 16 > sizeof(follow->lock) ||
	    (!stat(path, &follow->trace) && !S_ISREG(follow->trace.st_mode)))
		return EXIT_OK;
	snprintf(follow->lock, sizeof(follow->lock), "%s.recording", path);
	snprintf(follow->beside, sizeof(follow->beside), "%s.meta", path);
	follow->meta = !meta ? follow->beside : strcmp(meta, "none") ? meta : NULL;
	read_boot(follow);
	follow->state = look(follow);
	wait_for(follow, path);
	if (!meta)
		wait_for(follow, follow->beside);
	if (!get_status(path, &follow->trace) && errno == ENOENT) {
		report("%s: no such file: nothing is being recorded to it, or the recording is in pieces (--rotate), which cannot be followed: name a piece, for example %s.1",
		       path, path);
		return EXIT_UNREADABLE;
	}
	if (follow->state == FOLLOW_RUNS)
		catch_interrupt();
	return EXIT_OK;
}

void follow_open(struct follow *follow)
{
	struct stat status;

	if (!*follow->lock)
		return;
	if (!follow->meta || !get_status(follow->meta, &follow->read))
		follow->read = (struct stat){ 0 };
	if (get_status(follow->path, &status) && !same_file(&status, &follow->trace))
		follow->state = FOLLOW_REPLACED;
	/* A complete trace is read like any other. */
	if (follow->state == FOLLOW_ENDED)
		release_interrupt();
}

/* Compare the open trace with the file of its name. */
static enum follow_state look_at_trace(const struct follow *follow, int fd)
{
	struct stat opened, named;
	const off_t offset = lseek(fd, 0, SEEK_CUR);

	if (fstat(fd, &opened))
		return FOLLOW_RUNS;
	if (opened.st_size < offset)
		return FOLLOW_TRUNCATED;
	return get_status(follow->path, &named) && same_file(&opened, &named) ? FOLLOW_RUNS :
										FOLLOW_REPLACED;
}

bool follow_stops(struct follow *follow)
{
	if (interrupted && follow->state == FOLLOW_RUNS)
		follow->state = FOLLOW_INTERRUPTED;
	return follow->state == FOLLOW_INTERRUPTED;
}

void follow_wait(struct follow *follow, int fd)
{
	poll(NULL, 0, LOOK);
	if (follow_stops(follow))
		return;
	follow->state = look_at_trace(follow, fd);
	if (follow->state == FOLLOW_RUNS)
		follow->state = look(follow);
	if (follow->state != FOLLOW_RUNS)
		release_interrupt();
}

bool follow_outdated(const struct follow *follow)
{
	struct stat now;

	if (!follow->meta || !get_status(follow->meta, &now))
		return false;
	return !same_file(&now, &follow->read) || now.st_size != follow->read.st_size ||
	       !same_time(&now.st_mtim, &follow->read.st_mtim);
}

int follow_end(const struct follow *follow, const struct meta_coverage *coverage)
{
	static const char * const text[] = {
		[FOLLOW_KILLED] = "the recorder no longer runs, or this is a copy of its files: the end of the recording is missing",
		[FOLLOW_REPLACED] = "replaced or removed by another command: only what was read before is shown",
		[FOLLOW_TRUNCATED] = "truncated by another command: only what was read before is shown",
		[FOLLOW_INTERRUPTED] = "interrupted: the recording continues",
	};

	/* A lock file that an earlier recorder left is not the complete trace's. */
	if (follow->state == FOLLOW_KILLED && coverage->known && !coverage->running)
		return EXIT_OK;
	if (text[follow->state])
		report("%s: %s", follow->path, text[follow->state]);
	return follow->state == FOLLOW_REPLACED || follow->state == FOLLOW_TRUNCATED ?
	       EXIT_UNREADABLE : EXIT_OK;
}

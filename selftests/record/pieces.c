// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A program whose trace is longer than its buffer: pieces N [how] makes N pieces of
 * 1024 records. After each piece, the program waits until the amount of unread data is
 * below the watermark at which the recorder is woken, so that a slow recorder loses nothing.
 *
 *	waits	does nothing else
 *	races	does not wait
 *	stops	after half of the pieces, stops the recorder, which is its parent; makes the
 *		other pieces without waiting, but resumes the recorder before the last piece
 *	slows	like stops, but a child resumes the recorder when stores wait for it
 *	kills	kills the recorder after half of the pieces
 *	killed	kills itself at the end
 *	shares	like killed, but does not wait, and first runs more threads than there
 *		are channels
 *	pauses	does not wait; after half of the pieces, pauses the recording, makes N
 *		pieces, and resumes the recording after a second
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/sifive_trace.h>

#define HIDDEN	__attribute__((no_instrument_function))

#define CALLS	512

/* More threads than channels. */
#define THREADS	40

/* The recorder is woken when 1 / PART of a buffer is unread. */
#define PART	16

__attribute__((noinline)) static void work(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) static void piece(void)
{
	int i;

	for (i = 1; i < CALLS; i++)
		work();
}

HIDDEN static struct sifive_trace_status state(void)
{
	static int fd = -1;
	struct sifive_trace_status status = { .size = sizeof(status) };

	if (fd < 0)
		fd = open("/dev/sifive-trace", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status)) {
		perror("/dev/sifive-trace");
		exit(1);
	}
	return status;
}

HIDDEN static void wait_until_read(void)
{
	struct sifive_trace_status now = state();

	for (; now.bytes > now.buffer / PART; now = state())
		usleep(1000);
}

/* Wait until a process is in the state that ps(1) shows as this letter. */
HIDDEN static void wait_for_state(pid_t process, char state)
{
	char path[32], text[256], *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", process);
	do {
		usleep(1000);
		file = fopen(path, "re");
		end = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
		if (file)
			fclose(file);
	} while (end && end[2] != state);
}

/*
 * Stop the recorder while it waits. When it is resumed, it therefore checks the buffer before it
 * reads.
 */
HIDDEN static void stop(pid_t parent)
{
	wait_for_state(parent, 'S');
	kill(parent, SIGSTOP);
	wait_for_state(parent, 'T');
}

/* Stop the recorder until a store of the program waits for it. */
HIDDEN static void slow(pid_t parent)
{
	pid_t child;

	stop(parent);
	child = fork();
	if (child)
		return;
	while (!(state().flags & SIFIVE_TRACE_STATUS_WAITING))
		usleep(1000);
	usleep(100000);
	kill(parent, SIGCONT);
	_exit(0);
}

HIDDEN static void steer(const char *command)
{
	if (system(command))
		exit(1);
}

HIDDEN static void pause_pieces(int pieces)
{
	char *path = strdup(getenv("PATH"));

	/* Do not record the commands that this program executes. */
	clearenv();
	setenv("PATH", path, 1);
	free(path);
	steer("sifive-trace pause");
	for (; pieces; pieces--)
		piece();
	sleep(1);
	steer("sifive-trace status >&2");
	steer("sifive-trace resume");
}

static void *share(void *barrier)
{
	piece();
	pthread_barrier_wait(barrier);
	piece();
	return NULL;
}

HIDDEN static void share_channels(void)
{
	pthread_t thread[THREADS];
	pthread_barrier_t all;
	int i;

	pthread_barrier_init(&all, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, share, &all))
			exit(1);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "waits";
	int i, pieces = argc > 1 ? atoi(argv[1]) : 1;
	bool wait = strcmp(how, "races") && strcmp(how, "pauses") && strcmp(how, "shares");
	pid_t parent = getppid();

	for (i = 0; i < pieces; i++) {
		/* The records of the last piece show where the recording continues. */
		if (!strcmp(how, "stops") && i > pieces / 2 && i == pieces - 1) {
			kill(parent, SIGCONT);
			wait_until_read();
		}
		piece();
		if (wait)
			wait_until_read();
		if (i != pieces / 2)
			continue;
		if (!strcmp(how, "pauses")) {
			pause_pieces(pieces);
		} else if (!strcmp(how, "stops")) {
			stop(parent);
			wait = false;
		} else if (!strcmp(how, "slows")) {
			slow(parent);
			wait = false;
		} else if (!strcmp(how, "kills")) {
			kill(parent, SIGKILL);
			wait = false;
		}
	}
	printf("%d work\n", pieces * (CALLS - 1));
	fflush(stdout);
	if (!strcmp(how, "shares"))
		share_channels();
	if (!strcmp(how, "killed") || !strcmp(how, "shares"))
		raise(SIGKILL);
	return 3;
}

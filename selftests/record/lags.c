// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Repeatedly delays a recorder, until the program that it records has ended:
 *
 *	lags RECORDER
 *
 * stops the recorder, resumes it some time after the buffer has become full, and waits until the
 * recorder has read most of the buffer. Prints how often the buffer was full.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/sifive_trace.h>

static struct sifive_trace_status state(void)
{
	static int fd = -1;
	struct sifive_trace_status status = { .size = sizeof(status) };

	if (fd < 0)
		fd = open("/dev/sifive-trace", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status))
		err(1, "/dev/sifive-trace");
	return status;
}

/* Return the process's state as ps(1) shows it, or 0 if the process does not exist. */
static char letter(int process)
{
	char path[40], text[256], *name = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", process);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fgets(text, sizeof(text), file))
		name = strrchr(text, ')');
	fclose(file);
	return name ? name[2] : 0;
}

/* Return whether the recorder exists and has a child that has not ended. */
static bool records(int recorder)
{
	char path[60], now;
	bool found = false;
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", recorder, recorder);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fscanf(file, "%d", &child) == 1) {
		now = letter(child);
		found = now && now != 'Z' && now != 'X';
	}
	fclose(file);
	return found;
}

int main(int argc, char **argv)
{
	int recorder = argc > 1 ? atoi(argv[1]) : 0;
	struct sifive_trace_status now = state();
	unsigned long long fulls;

	while (letter(recorder) && letter(recorder) != 'Z' &&
	       !(now.flags & SIFIVE_TRACE_STATUS_RUNNING && records(recorder))) {
		usleep(1000);
		now = state();
	}
	while (records(recorder)) {
		fulls = state().fulls;
		kill(recorder, SIGSTOP);
		while (state().fulls == fulls && records(recorder))
			usleep(1000);
		usleep(50000);
		kill(recorder, SIGCONT);
		for (now = state(); now.bytes > now.buffer / 16 && records(recorder); now = state())
			usleep(1000);
	}
	printf("%llu\n", (unsigned long long)state().fulls);
	return 0;
}

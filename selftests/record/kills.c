// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Kills recordings at random times: the recorder, the program, a child process of the program, or
 * another reader. The recorder may be stopped while a program is killed, so that unread records
 * remain and stores wait. Afterwards, every process must end, and no process may hold the device.
 *
 *	kills NUMBER SEED DIRECTORY
 *
 * Leaves DIRECTORY/N.rtd, prints which process was killed and when, and fails at the first
 * recording that leaves a process behind. The same seed results in the same choices, but the state
 * of the processes may differ when one is killed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/sifive_trace.h>

#define DEVICE		"/dev/sifive-trace"
#define RECORD		"/target/record/"

/* Latest time of a kill, in microseconds; no recording ends before this time. */
#define LATEST_US	700000
/* Time limit that only a hung process exceeds, even on a slow host. */
#define PATIENCE_S	600

enum victim { RECORDER, PROGRAM, DESCENDANT, READER, VICTIMS };

static const char *const victims[] = { "recorder", "program", "descendant", "reader" };
static const char *const full[] = { "wait", "drop", "drain" };

static uint64_t state;

static unsigned int below(unsigned int limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)((state >> 33) % limit);
}

static void fail(const char *what)
{
	printf("failed: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Return the state of a process, or '\0' if there is no such process; set @parent to its parent. */
static char look(pid_t pid, pid_t *parent)
{
	char path[32], text[512], *end, found = '\0';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	end = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	if (end)
		sscanf(end, ") %c %d", &found, parent);
	if (file)
		fclose(file);
	return found;
}

/* Return a child of @parent, or 0 if there is none. */
static pid_t child_of(pid_t parent)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t child = 0, other = 0;

	while (dir && !child && (entry = readdir(dir))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0 && look(pid, &other) && other == parent)
			child = pid;
	}
	if (dir)
		closedir(dir);
	return child;
}

static void pause_us(unsigned int us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&time, NULL);
}

/* A killed process ends without delay, even if it was waiting or its parent is stopped. */
static void await_death(pid_t pid)
{
	pid_t parent;
	int i;

	for (i = 0; i < PATIENCE_S * 1000; i++) {
		const char now = look(pid, &parent);

		if (!now || now == 'Z')
			return;
		pause_us(1000);
	}
	printf("failed: process %d is in state %c\n", (int)pid, look(pid, &parent));
	exit(1);
}

static void stuck(int number)
{
	static const char text[] = "failed: a process did not end\n";

	(void)number;
	(void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
	_exit(1);
}

/* Wait for all processes of the recording, including orphans. */
static void await_all(void)
{
	alarm(PATIENCE_S);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	alarm(0);
}

static struct sifive_trace_status device_status(void)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status))
		fail(DEVICE);
	close(fd);
	return status;
}

static void check_free(void)
{
	const struct sifive_trace_status status = device_status();

	if (status.flags & (SIFIVE_TRACE_STATUS_CONFIGURED | SIFIVE_TRACE_STATUS_RUNNING)) {
		printf("failed: process %d still holds the device\n", (int)status.holder);
		exit(1);
	}
}

static pid_t run(char *const *argv, const char *output)
{
	const pid_t pid = fork();
	int fd;

	if (pid < 0)
		fail("fork");
	if (pid)
		return pid;
	fd = open(output ? output : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0666);
	dup2(fd, STDOUT_FILENO);
	if (!output)
		dup2(fd, STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

static pid_t record(const char *trace, const char *how, bool tree)
{
	char **argv = (char *[]){
		"sifive-trace", "record", "-q", "-b", strcmp(how, "drop") ? "64k" : "1M",
		"--on-full", (char *)how, "-o", (char *)trace,
		tree ? "--children" : "--no-children", tree ? RECORD "tree" : RECORD "soak",
		tree ? "fork" : "1", tree ? "20" : NULL, NULL,
	};

	return run(argv, NULL);
}

/* Start a program that records itself, so that another process can read the capture. */
static pid_t record_itself(const char *trace)
{
	char **argv = (char *[]){ RECORD "soak", "1", NULL };
	pid_t pid;

	setenv("SIFIVE_TRACE_RECORD", "1", 1);
	setenv("SIFIVE_TRACE_DRAIN", "wait", 1);
	setenv("SIFIVE_TRACE_BUFFER", "64k", 1);
	setenv("SIFIVE_TRACE_OUTPUT", trace, 1);
	setenv("LD_PRELOAD", "libsifive-perf.so.0", 1);
	pid = run(argv, NULL);
	unsetenv("LD_PRELOAD");
	unsetenv("SIFIVE_TRACE_RECORD");
	unsetenv("SIFIVE_TRACE_DRAIN");
	unsetenv("SIFIVE_TRACE_BUFFER");
	unsetenv("SIFIVE_TRACE_OUTPUT");
	return pid;
}

/* A reader that opens the device before START would read the previous capture. */
static void await_capture(pid_t program)
{
	pid_t parent;
	char now;

	do {
		pause_us(1000);
		now = look(program, &parent);
	} while (now && now != 'Z' && !(device_status().flags & SIFIVE_TRACE_STATUS_RUNNING));
}

/* Kill the program or one of its children, perhaps while the recorder is stopped. */
static void kill_below(pid_t recorder, bool deep)
{
	const bool stop = below(2);
	pid_t victim, deeper;

	if (stop) {
		kill(recorder, SIGSTOP);
		pause_us(below(200000));
	}
	victim = child_of(recorder);
	deeper = victim && deep ? child_of(victim) : 0;
	victim = deeper ? deeper : victim;
	if (victim) {
		kill(victim, SIGKILL);
		await_death(victim);
	}
	if (stop)
		kill(recorder, SIGCONT);
}

static void one(unsigned int i, const char *dir)
{
	const enum victim victim = below(VICTIMS);
	const char *how = victim == READER ? "wait" : full[below(3)];
	const unsigned int us = below(LATEST_US);
	char trace[256];
	pid_t pid, reader;

	snprintf(trace, sizeof(trace), "%s/%u.rtd", dir, i);
	printf("%u: %s, --on-full %s, after %u us\n", i, victims[victim], how, us);
	fflush(stdout);
	if (victim == READER) {
		char **argv = (char *[]){ "cat", DEVICE, NULL };

		pid = record_itself(trace);
		await_capture(pid);
		reader = run(argv, trace);
		pause_us(us);
		kill(below(2) ? reader : pid, SIGKILL);
	} else {
		pid = record(trace, how, victim == DESCENDANT || below(2));
		pause_us(us);
		if (victim == RECORDER)
			kill(pid, SIGKILL);
		else
			kill_below(pid, victim == DESCENDANT);
	}
	await_all();
	check_free();
}

int main(int argc, char **argv)
{
	unsigned int i, number = argc > 1 ? (unsigned int)atoi(argv[1]) : 0;

	if (argc != 4)
		return 1;
	state = strtoull(argv[2], NULL, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGALRM, stuck);
	for (i = 0; i < number; i++)
		one(i, argv[3]);
	printf("all %u\n", number);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps its own file as code many times, and then executes another program:
 *
 *	maps slowly|apart|stopped NUMBER PROGRAM...
 *
 * slowly: waits often enough that the recorder can read the event for each mapping. apart: does the
 * same, but each mapping has a different address. stopped: stops the recorder while mapping.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Number of mappings whose events fit into the kernel's buffer. */
#define FEW	500

/* Wait until the parent process is idle. */
static void wait_for_parent(void)
{
	char path[64], state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)getppid());
	do {
		usleep(1000);
		file = fopen(path, "re");
		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			err(1, "%s", path);
		fclose(file);
	} while (state != 'S');
}

int main(int argc, char **argv)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), i;
	bool stopped = argc > 1 && !strcmp(argv[1], "stopped");
	bool apart = argc > 1 && !strcmp(argv[1], "apart");
	void *code;

	if (argc < 4)
		errx(2, "maps slowly|apart|stopped NUMBER PROGRAM...");
	if (stopped)
		kill(getppid(), SIGSTOP);
	for (i = 0; i < atoi(argv[2]); i++) {
		code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (code == MAP_FAILED)
			err(1, "mmap");
		if (!apart)
			munmap(code, 4096);
		if (!stopped && i % FEW == FEW - 1)
			wait_for_parent();
	}
	if (stopped) {
		kill(getppid(), SIGCONT);
		wait_for_parent();
	}
	execv(argv[3], argv + 3);
	err(1, "%s", argv[3]);
}

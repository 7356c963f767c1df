// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board.h"

#define MAX_ARGS	64
#define QMP_FD		9

static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
	fflush(stdout);
	abort();
}

static const char *qemu(void)
{
	const char *path = getenv("QEMU");

	if (!path)
		die("set QEMU to the qemu-system-riscv64 to test");
	return path;
}

/*
 * Replace this process with QEMU. QEMU's arguments are those that all tests need, followed by
 * @args, split at spaces.
 */
static void run_qemu(const char *args)
{
	const char *argv[MAX_ARGS] = {
		qemu(), "-machine", "virt", "-display", "none", "-bios",
		"none", "-qtest", "stdio", "-qtest-log", "/dev/null",
		"-nodefaults",
	};
	char *copy = strdup(args), *word, *save;
	int n = 0;

	while (argv[n])
		n++;
	if (!strstr(args, "-accel")) {
		argv[n++] = "-accel";
		argv[n++] = "qtest";
	}
	for (word = strtok_r(copy, " ", &save); word && n < MAX_ARGS - 1;
	     word = strtok_r(NULL, " ", &save))
		argv[n++] = word;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv(argv[0], (char **)argv);
	die("%s: %s", argv[0], strerror(errno));
}

static void qmp_command(struct board *b, char *answer, size_t size,
			const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(b->qmp, fmt, ap);
	va_end(ap);
	fprintf(b->qmp, "\n");
	fflush(b->qmp);
	do {
		if (!fgets(answer, size, b->qmp))
			die("QEMU closed QMP");
	} while (strstr(answer, "\"event\"") || strstr(answer, "\"QMP\""));
	if (!strstr(answer, "\"return\""))
		die("QMP: %s", answer);
}

void board_start(struct board *b, const char *args)
{
	int to[2], from[2], qmp[2];
	char all[2048], answer[1024];

	snprintf(all, sizeof(all),
		 "-chardev socket,id=qmp,fd=%d -mon chardev=qmp,mode=control %s",
		 QMP_FD, args);
	if (pipe(to) || pipe(from) || socketpair(AF_UNIX, SOCK_STREAM, 0, qmp))
		die("pipe: %s", strerror(errno));
	fflush(stdout);
	b->pid = fork();
	if (b->pid < 0)
		die("fork: %s", strerror(errno));
	if (!b->pid) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		dup2(qmp[1], QMP_FD);
		close(to[1]);
		close(from[0]);
		close(qmp[0]);
		run_qemu(all);
	}
	close(to[0]);
	close(from[1]);
	close(qmp[1]);
	b->to = fdopen(to[1], "w");
	b->from = fdopen(from[0], "r");
	b->qmp = fdopen(qmp[0], "r+");
	qmp_command(b, answer, sizeof(answer),
		    "{\"execute\":\"qmp_capabilities\"}");
}

void board_stop(struct board *b)
{
	char answer[1024];

	qmp_command(b, answer, sizeof(answer), "{\"execute\":\"quit\"}");
	waitpid(b->pid, NULL, 0);
	fclose(b->to);
	fclose(b->from);
	fclose(b->qmp);
}

const char *board_refuses(const char *args)
{
	static char text[4096];
	size_t n = 0;
	ssize_t got;
	int err[2];
	int status;
	pid_t pid;

	if (pipe(err))
		die("pipe: %s", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		char all[2048];

		snprintf(all, sizeof(all), "%s -S", args);
		alarm(600);
		dup2(err[1], 2);
		close(err[0]);
		run_qemu(all);
	}
	close(err[1]);
	while ((got = read(err[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += got;
	text[n] = 0;
	close(err[0]);
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
		die("QEMU accepted: %s", args);
	return text;
}

static uint64_t command(struct board *b, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vfprintf(b->to, fmt, ap);
	va_end(ap);
	fflush(b->to);
	if (!fgets(line, sizeof(line), b->from))
		die("QEMU exited after: %s", fmt);
	if (strncmp(line, "OK", 2))
		die("qtest: %s", line);
	return strtoull(line + 2, NULL, 0);
}

uint32_t rd(struct board *b, uint64_t addr)
{
	return command(b, "readl 0x%" PRIx64 "\n", addr);
}

uint32_t rd16(struct board *b, uint64_t addr)
{
	return command(b, "readw 0x%" PRIx64 "\n", addr);
}

uint32_t rd8(struct board *b, uint64_t addr)
{
	return command(b, "readb 0x%" PRIx64 "\n", addr);
}

void wr(struct board *b, uint64_t addr, uint32_t value)
{
	command(b, "writel 0x%" PRIx64 " 0x%x\n", addr, value);
}

void wr16(struct board *b, uint64_t addr, uint16_t value)
{
	command(b, "writew 0x%" PRIx64 " 0x%x\n", addr, value);
}

void wr8(struct board *b, uint64_t addr, uint8_t value)
{
	command(b, "writeb 0x%" PRIx64 " 0x%x\n", addr, value);
}

void wr64(struct board *b, uint64_t addr, uint64_t value)
{
	command(b, "writeq 0x%" PRIx64 " 0x%" PRIx64 "\n", addr, value);
}

uint64_t rd64(struct board *b, uint64_t addr)
{
	return command(b, "readq 0x%" PRIx64 "\n", addr);
}

void step(struct board *b, uint64_t ns)
{
	command(b, "clock_step %" PRIu64 "\n", ns);
}

const char *memory(struct board *b, uint64_t addr, unsigned int len)
{
	static char text[3 * 256 + 1];
	unsigned int i;

	text[0] = 0;
	for (i = 0; i < len && i < 256; i++)
		sprintf(text + 3 * i, "%02x ", rd8(b, addr + i));
	if (len)
		text[3 * i - 1] = 0;
	return text;
}

void memory_fill(struct board *b, uint64_t addr, unsigned int len, uint8_t byte)
{
	command(b, "memset 0x%" PRIx64 " %u 0x%x\n", addr, len, byte);
}

uint64_t property(struct board *b, const char *path, const char *name)
{
	char answer[1024];

	qmp_command(b, answer, sizeof(answer),
		    "{\"execute\":\"qom-get\",\"arguments\":{"
		    "\"path\":\"%s\",\"property\":\"%s\"}}", path, name);
	return strtoull(strchr(answer, ':') + 1, NULL, 0);
}

uint64_t stat(struct board *b, const char *id, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/machine/peripheral/%s", id);
	return property(b, path, name);
}

void set(struct board *b, const char *id, const char *name, const char *json)
{
	char answer[1024];

	qmp_command(b, answer, sizeof(answer),
		    "{\"execute\":\"qom-set\",\"arguments\":{"
		    "\"path\":\"/machine/peripheral/%s\","
		    "\"property\":\"%s\",\"value\":%s}}", id, name, json);
}

/* The reset happens after the command has returned, so wait for the RESET event. */
void system_reset(struct board *b)
{
	bool answered = false, happened = false;
	char line[1024];

	fprintf(b->qmp, "{\"execute\":\"system_reset\"}\n");
	fflush(b->qmp);
	while (!answered || !happened) {
		if (!fgets(line, sizeof(line), b->qmp))
			die("QEMU closed QMP");
		answered |= !!strstr(line, "\"return\"");
		happened |= !!strstr(line, "\"RESET\"");
	}
}

void sink_window(struct board *b, uint64_t block, uint64_t base, uint32_t size,
		 uint32_t word)
{
	wr(b, block + SINK_BASE, base);
	wr(b, block + SINK_BASE_HIGH, base >> 32);
	wr(b, block + SINK_LIMIT, base + size - word);
	wr(b, block + SINK_WP, base);
}

void setup_encoder(struct board *b, uint64_t block, uint32_t ts)
{
	wr(b, block + CONTROL, 0);
	wr(b, block + CONTROL, ACTIVE);
	if (ts) {
		wr(b, block + TS_CONTROL, TS_ACTIVE);
		wr(b, block + TS_CONTROL, ts | TS_ACTIVE);
	}
	wr(b, block + ITC_TRACE, 0xffffffff);
}

void setup_funnel(struct board *b, uint64_t block)
{
	wr(b, block + CONTROL, 0);
	wr(b, block + CONTROL, ACTIVE);
	wr(b, block + TS_CONTROL, TS_ACTIVE);
	wr(b, block + TS_CONTROL, TS_ACTIVE | TS_COUNT | TS_RESET);
}

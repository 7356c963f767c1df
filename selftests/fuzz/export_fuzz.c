// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Exports a whole trace in one of the formats. The first byte selects the format, whether a
 * side-car file exists, whether that file announces instruction trace, and whether the timestamp
 * rate is known.
 */
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char flow[] = "\"instruction\":{\"calls\":\"all\"},";
static const char meta[] =
	"\"exe\":\"/bin/x\",\"threads\":["
	"{\"channel\":6,\"pid\":1,\"tid\":1,\"name\":\"one\",\"to\":2000},"
	"{\"channel\":6,\"pid\":1,\"tid\":2,\"name\":\"\\u001b\xff\",\"from\":2001,\"to\":9000},"
	"{\"channel\":7,\"pid\":2,\"tid\":3}],"
	"\"objects\":[{\"path\":\"/none/x\",\"build_id\":\"ab\",\"start\":65536,\"end\":65800,"
	"\"bias\":0},{\"path\":\"/none/y\",\"start\":65536,\"end\":65800,\"bias\":4096,"
	"\"from\":5000}],\"coverage\":{\"full\":true,\"bytes\":500,\"run_ns\":1000}}";

static const struct {
	const struct cli_command *command;
	const char	*option, *value;
	bool		dir;
} writers[] = {
	{ &export_command, "--format", "chrome" },
	{ &export_command, "--format", "perfetto" },
	{ &export_command, "--format", "pprof" },
	{ &export_command, "--format", "firefox" },
	{ &export_command, "--format", "speedscope" },
	{ &export_command, "--format", "html" },
	{ &export_command, "--format", "svg" },
	{ &export_command, "--format", "folded" },
	{ &report_command, "--format", "json" },
	{ &report_command, "--by", "thread" },
	{ &graph_command, "--by", "thread" },
	{ &replay_command, "--depth", "100" },
	{ &decode_command, "--format", "json" },
	{ &decode_command, "--format", "csv" },
	{ &decode_command, "--format", "perf", true },
	{ &export_command, "--format", "ctf", true },
	{ &export_command, "--format", "dqr", true },
	{ &export_command, "--format", "bolt" },
	{ &coverage_command, "--by", "line" },
	{ &export_command, "--format", "csv" },
};

#define WRITERS	(sizeof(writers) / sizeof(writers[0]))

/* Create file @path with these bytes. */
static int make_file(const void *bytes, size_t length, char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
	(void)stat;
	(void)type;
	(void)ftw;
	return remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int writer = size ? data[0] / 4 % WRITERS : 0;
	char path[64], meta_path[64], dir[64], text[sizeof(flow) + sizeof(meta)];
	const char *argv[16] = {
		writers[writer].command->name, "-q", "-c", "all", "-o", "/dev/null",
		writers[writer].option, writers[writer].value, "--meta", "none",
		"--srcbits", "2", path,
	};
	int argc = 13, fd, meta_fd = -1;

	if (size < 2)
		return 0;
	snprintf(dir, sizeof(dir), "/dev/shm/export_fuzz.%d", getpid());
	if (writers[writer].dir)
		argv[5] = dir;
	fd = make_file(data + 1, size - 1, path);
	if (data[0] & 1) {
		snprintf(text, sizeof(text), "{%s%s", data[0] / 4 / WRITERS % 2 ? flow : "", meta);
		meta_fd = make_file(text, strlen(text), meta_path);
		argv[9] = meta_path;
	}
	if (data[0] & 2) {
		argv[argc++] = "--ts-hz";
		argv[argc++] = "3000000";
	}
	optind = 0;
	writers[writer].command->run(argc, (char **)argv);
	if (writers[writer].dir)
		nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	close(fd);
	if (meta_fd >= 0)
		close(meta_fd);
	return 0;
}

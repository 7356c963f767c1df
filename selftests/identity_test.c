// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that sysfs and debugfs agree with the ioctl interface and with the state of
 * the hardware.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace_device.h"

#define DEBUGFS "/sys/kernel/debug/sifive-trace"

FIXTURE(identity)
{
	int fd;
	struct sifive_trace_info info;
};

FIXTURE_SETUP(identity)
{
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
}

FIXTURE_TEARDOWN(identity)
{
	close(self->fd);
}

/* Read a file's text without its final newline; @text is empty if the file cannot be read. */
static void read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t got = file ? fread(text, 1, size - 1, file) : 0;

	if (file)
		fclose(file);
	if (got && text[got - 1] == '\n')
		got--;
	text[got] = '\0';
}

/*
 * Read an attribute of the component that the interface calls NAME@ADDRESS; the component's device
 * is ADDRESS.NAME.
 */
static void attribute(const char *name, const char *what, char *text, size_t size)
{
	const char *at = strchr(name, '@');
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/platform/devices/%s.%.*s/%s",
		 at ? at + 1 : "", at ? (int)(at - name) : 0, name, what);
	read_text(path, text, size);
}

/* Read the line that begins with @word in a component's register dump; return whether it exists. */
static bool dump_line(const char *name, const char *word, char *line, size_t size)
{
	char path[256], start[32];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), DEBUGFS "/%s", name);
	snprintf(start, sizeof(start), "%s ", word);
	file = fopen(path, "r");
	while (file && !found && fgets(line, (int)size, file))
		found = !strncmp(line, start, strlen(start));
	if (file)
		fclose(file);
	return found;
}

TEST_F(identity, sysfs_matches_ioctls)
{
	static const struct {
		uint32_t kind;
		const char *name;
	} sinks[] = {
		{ SIFIVE_TRACE_SINK_SRAM, "sram" }, { SIFIVE_TRACE_SINK_SBA, "sba" },
		{ SIFIVE_TRACE_SINK_FUNNEL, "funnel" },
	};
	struct sifive_trace_encoder e;
	char text[64], wanted[64];
	uint32_t i;
	size_t k;

	for (i = 0; i < self->info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->fd, i, &e));
		attribute(e.name, "hart", text, sizeof(text));
		snprintf(wanted, sizeof(wanted), "%llu", (unsigned long long)e.hart);
		EXPECT_STREQ(wanted, text);
		attribute(e.name, "cpu", text, sizeof(text));
		snprintf(wanted, sizeof(wanted), "%d", e.cpu);
		EXPECT_STREQ(wanted, text);
		attribute(e.name, "source", text, sizeof(text));
		snprintf(wanted, sizeof(wanted), "%u", e.src);
		EXPECT_STREQ(wanted, text);
		attribute(e.name, "source_bits", text, sizeof(text));
		snprintf(wanted, sizeof(wanted), "%u", e.src_bits);
		EXPECT_STREQ(wanted, text);
		attribute(e.name, "version", text, sizeof(text));
		EXPECT_STREQ("0", text);
		attribute(e.name, "sinks", text, sizeof(text));
		for (k = 0; k < 3; k++)
			EXPECT_EQ(!!(e.sinks & BIT64(sinks[k].kind)),
				  !!strstr(text, sinks[k].name));
	}
}

/* A dump shows the current state of the hardware: configured, running and stopped. */
TEST_F(identity, debugfs_decodes_registers)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	struct sifive_trace_encoder e;
	char line[256];

	if (access(DEBUGFS, F_OK))
		SKIP(return, "no debugfs");
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &e));
	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_TRUE(dump_line(e.name, "control", line, sizeof(line)));
	EXPECT_NE(NULL, strstr(line, " active "));
	EXPECT_EQ(NULL, strstr(line, " tracing "));
	EXPECT_NE(NULL, strstr(line, " instrumentation=1"));

	ASSERT_EQ(0, trace_start(self->fd, 0));
	ASSERT_TRUE(dump_line(e.name, "control", line, sizeof(line)));
	EXPECT_NE(NULL, strstr(line, " enable tracing "));
	ASSERT_TRUE(dump_line(e.name, "itc-enable", line, sizeof(line)));
	EXPECT_NE(NULL, strstr(line, "0xffffffff"));
	ASSERT_TRUE(dump_line(e.name, "ts-control", line, sizeof(line)));
	EXPECT_NE(NULL, strstr(line, " active "));
	EXPECT_NE(NULL, strstr(line, " enable "));
	ASSERT_TRUE(dump_line(e.name, "impl", line, sizeof(line)));
	EXPECT_NE(NULL, strstr(line, " version=0 "));

	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_TRUE(dump_line(e.name, "control", line, sizeof(line)));
	EXPECT_EQ(NULL, strstr(line, " tracing "));
}

/* Every component can be dumped, and a dump does not change the hardware. */
TEST_F(identity, every_component_can_be_dumped)
{
	char line[256];
	glob_t files;
	size_t i;

	if (access(DEBUGFS, F_OK))
		SKIP(return, "no debugfs");
	ASSERT_EQ(0, glob(DEBUGFS "/*", 0, NULL, &files));
	EXPECT_EQ(self->info.encoders + self->info.funnels, files.gl_pathc);
	for (i = 0; i < files.gl_pathc; i++)
		EXPECT_TRUE(dump_line(files.gl_pathv[i] + sizeof(DEBUGFS), "sink-wp",
				      line, sizeof(line)));
	globfree(&files);
}

TRACE_HARNESS_MAIN

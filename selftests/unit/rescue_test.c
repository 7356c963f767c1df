// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests the end of a drained recording whose capture cannot be read, because the driver was unbound
 * or another session has begun. The other session's numbers must not be reported.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "directory.h"
#include "kept_report.h"
#include "target/capture.h"
#include "target/files.h"
#include "target/losses.h"
#include "target/machine.h"
#include "target/sidecar.h"

#define EARLIER		7
#define INCOMPLETE	"trace: its side-car file trace.meta is incomplete and does not list losses"

static struct sifive_trace_status status;
static const char *device;
static unsigned int completed, losses;

/* The driver's calls; sources that use it are compiled with -Dioctl=mock_ioctl. */
int mock_ioctl(int fd, unsigned long request, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (request == SIFIVE_TRACE_IOC_STATUS)
		memcpy(argument, &status, sizeof(status));
	return 0;
}

const char *machine_device(void)
{
	return device;
}

bool machine_side_car(void)
{
	return true;
}

uint64_t perf_device_now(void)
{
	return 1;
}

void perf_device_file(char *name, const char *path, uint32_t index, uint32_t sinks)
{
	snprintf(name, PATH_MAX, "%s", path);
}

int capture_sink(int fd, uint32_t index, struct sifive_trace_sink *sink)
{
	memset(sink, 0, sizeof(*sink));
	return 0;
}

int capture_copy(int fd, const char *path, uint64_t offset, __u64 *bytes, bool end)
{
	return -1;
}

bool capture_short(const char *name, uint64_t bytes)
{
	return false;
}

bool capture_locked(int fd)
{
	return false;
}

void files_remove(const char *path)
{
}

int sidecar_complete(int fd, const char *meta, const struct sifive_trace_sink *sink,
		     const struct drain *drain, uint64_t ran, bool *finished)
{
	completed++;
	*finished = true;
	return 0;
}

void drain_rest(struct drain *drain)
{
}

const char *drain_account(const struct drain *drain, uint32_t index,
			  struct sifive_trace_sink *sink)
{
	return NULL;
}

void losses_gaps(const char *name, const struct sifive_trace_sink *sink, const char *why)
{
}

void losses_sink(const char *name, const struct sifive_trace_sink *sink, bool quiet)
{
}

void losses_times(const struct sifive_trace_status *state, const struct drain *drain, bool quiet)
{
	losses += !quiet;
}

void losses_report(int fd, const struct sifive_trace_status *state, bool library)
{
	losses++;
}

int losses_samples(const struct sifive_trace_status *state)
{
	losses++;
	return 0;
}

FIXTURE(rescue)
{
	char dir[64];
	struct drain drain;
	struct capture_mark mark;
	bool finished;
};

FIXTURE_SETUP(rescue)
{
	FILE *file;

	strcpy(self->dir, "/tmp/rescue_test.XXXXXX");
	ASSERT_EQ(0, dir_enter(self->dir));
	file = fopen("trace.meta", "w");
	ASSERT_NE(NULL, file);
	ASSERT_EQ(0, fclose(file));
	memset(&self->drain, 0, sizeof(self->drain));
	memset(&status, 0, sizeof(status));
	reported[0] = '\0';
	completed = 0;
	losses = 0;
	device = "/dev/null";
	status.capture = EARLIER + 1;
	self->mark = (struct capture_mark){ .capture = EARLIER, .sampled = true };
	self->drain.path = "trace";
	self->drain.sinks = 1;
	self->drain.capture = EARLIER + 1;
	self->drain.sink[0].bytes = 100;
}

FIXTURE_TEARDOWN(rescue)
{
	ASSERT_EQ(0, dir_remove(self->dir));
}

TEST_F(rescue, capture_of_the_program_is_completed)
{
	EXPECT_EQ(0, capture_drained(&self->drain, &self->mark, &self->finished));
	EXPECT_STREQ("", reported);
	EXPECT_EQ(1, completed);
	EXPECT_EQ(3, losses);
}

TEST_F(rescue, numbers_of_another_session_are_not_reported)
{
	status.capture++;
	EXPECT_EQ(1, capture_drained(&self->drain, &self->mark, &self->finished));
	EXPECT_NE(NULL, strstr(reported, "another session has configured the trace hardware"));
	EXPECT_NE(NULL, strstr(reported, INCOMPLETE));
	EXPECT_EQ(0, completed);
	EXPECT_EQ(0, losses);
}

TEST_F(rescue, unbound_component_is_not_another_session)
{
	self->mark.buffer = 1;
	EXPECT_EQ(1, capture_drained(&self->drain, &self->mark, &self->finished));
	EXPECT_NE(NULL, strstr(reported, "a trace component was bound or unbound"));
	EXPECT_EQ(NULL, strstr(reported, "another session"));
	EXPECT_NE(NULL, strstr(reported, INCOMPLETE));
	EXPECT_EQ(0, losses);
}

TEST_F(rescue, bytes_are_kept_if_the_device_is_gone)
{
	device = "gone";
	EXPECT_EQ(1, capture_drained(&self->drain, &self->mark, &self->finished));
	EXPECT_EQ(&reported[0], strstr(reported, "gone: No such file or directory"));
	EXPECT_EQ(NULL, strstr(reported, "another session"));
	EXPECT_NE(NULL, strstr(reported, INCOMPLETE));
	EXPECT_EQ(0, losses);
}

TEST_F(rescue, program_without_bytes_has_recorded_nothing)
{
	device = "gone";
	self->drain.sink[0].bytes = 0;
	EXPECT_EQ(-1, capture_drained(&self->drain, &self->mark, &self->finished));
	EXPECT_EQ(NULL, strstr(reported, INCOMPLETE));
}

TEST_HARNESS_MAIN

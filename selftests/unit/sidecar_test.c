// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests changes to a side-car file, and that the file is unchanged if it cannot be rewritten, for
 * example on a full disk.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "directory.h"
#include "target/files.h"
#include "target/machine.h"
#include "target/sidecar.h"

#define FINISHED	"{\"version\":1,\n\"coverage\":{},\n\"lost\":{}}\n"

/* Stubs for data that the command reads from the machine, and for parts of the file. */
bool machine_side_car(void)
{
	return true;
}

const char *machine_device(void)
{
	return "/dev/null";
}

bool machine_encoder(int fd, uint32_t index, struct sifive_trace_encoder *encoder)
{
	return false;
}

void machine_file(const char *path, char *line, size_t size)
{
	*line = '\0';
}

unsigned int machine_changed(const struct sifive_trace_status *status)
{
	return 0;
}

void objects_write(struct objects *objects, struct output *out, bool newest)
{
}

void cut_write(const struct cut *cut, struct output *out)
{
}

void cut_rest(const struct cut *cut, struct output *out)
{
}

void trigger_describe(struct output *out, const struct trigger_hit *hit,
		      const struct trigger_clock *clock)
{
	put_format(out, "\"trigger\":\"%s\",\n", hit->function);
}

void perf_device_file(char *name, const char *path, uint32_t index, uint32_t sinks)
{
	snprintf(name, PATH_MAX, "%s", path);
}

static const struct trigger_hit hit = { .function = "f" };

FIXTURE(sidecar)
{
	char dir[64];
};

FIXTURE_SETUP(sidecar)
{
	FILE *file;

	strcpy(self->dir, "/tmp/sidecar_test.XXXXXX");
	ASSERT_EQ(0, dir_enter(self->dir));
	file = fopen("trace.meta", "w");
	ASSERT_NE(NULL, file);
	ASSERT_LE(0, fputs(FINISHED, file));
	ASSERT_EQ(0, fclose(file));
}

FIXTURE_TEARDOWN(sidecar)
{
	ASSERT_EQ(0, dir_remove(self->dir));
}

/* Limit the size of files to this many bytes, to simulate a full disk. */
static void limit(rlim_t bytes)
{
	const struct rlimit most = { .rlim_cur = bytes, .rlim_max = RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &most))
		abort();
}

TEST_F(sidecar, copy_adds_the_trigger)
{
	EXPECT_EQ(0, sidecar_copy("trace.meta", "trace.meta", &hit));
	EXPECT_STREQ("{\"trigger\":\"f\",\n" "\"version\":1,\n\"coverage\":{},\n\"lost\":{}}\n",
		     text_of("trace.meta"));
	EXPECT_NE(0, access("trace.meta.new", F_OK));
}

#define FUNCTIONS	"{\"part\":{\"functions\":[\"f\\u000ag\",\"re*\"]},\n\"version\":1"

TEST_F(sidecar, every_selection_of_calls_is_added)
{
	const char *pattern[] = { "f\ng", "re*" };
	const struct meta_part part = {
		.from = "f", .to = "g", .depth = 3, .function = pattern, .functions = 2,
		.filter = "/a \"b\".filter", .left_out = 7,
	};
	const struct meta_part less = { .left_out = 7 };

	EXPECT_EQ(0, sidecar_part("trace.meta", &part));
	EXPECT_STREQ("{\"part\":{\"from\":\"f\",\"to\":\"g\",\"depth\":3,\"functions\":[\"f\\u000ag\",\"re*\"],"
		     "\"filter\":\"/a \\\"b\\\".filter\",\"left_out\":7},\n\"version\":1,\n"
		     "\"coverage\":{},\n\"lost\":{}}\n", text_of("trace.meta"));
	EXPECT_EQ(0, sidecar_copy("trace.meta", "snapshot.meta", &hit));
	EXPECT_EQ(text_of("snapshot.meta"),
		  strstr(text_of("snapshot.meta"), "{\"trigger\":\"f\",\n\"part\":{\"from\""));
	ASSERT_EQ(0, rename("snapshot.meta", "trace.meta"));
	EXPECT_EQ(0, sidecar_part("trace.meta", &less));
	EXPECT_NE(NULL, strstr(text_of("trace.meta"), "{\"part\":{\"left_out\":7},\n"));
}

/* A piece can be read while the recording continues, and even if its side-car file is incomplete. */
TEST_F(sidecar, new_piece_lists_the_recorded_functions)
{
	const char *pattern[] = { "f\ng", "re*" };
	const struct meta_part part = { .function = pattern, .functions = 2 };
	const struct meta_part all = { .from = NULL };

	EXPECT_EQ(0, sidecar_begin("trace.meta", "piece.meta", &part, 4, NULL));
	EXPECT_STREQ(FUNCTIONS ",\n\"piece\":4}\n", text_of("piece.meta"));
	EXPECT_EQ(0, sidecar_join("trace.meta", "piece.meta", &part));
	EXPECT_STREQ(FUNCTIONS ",\n\"piece\":4}\n", text_of("piece.meta"));
	EXPECT_EQ(0, sidecar_begin("none.meta", "piece.meta", &part, 0, NULL));
	EXPECT_STREQ(FUNCTIONS ",\n\"piece\":0}\n", text_of("piece.meta"));
	EXPECT_EQ(0, sidecar_begin("trace.meta", "piece.meta", &all, 4, NULL));
	EXPECT_STREQ("{\"version\":1,\n\"piece\":4}\n", text_of("piece.meta"));
}

/* Each number in a piece's "lost" counts from the end of the previous piece. */
TEST_F(sidecar, piece_lists_only_its_losses)
{
	const struct sidecar_state from = {
		.status = { .samples_lost = 1, .switches_lost = 2, .switches_processes = 3,
			    .switches_elsewhere = 4, .wakeups_elsewhere = 5 },
		.losses = { .signals = 6, .threads = 7, .abandoned = 8, .refused = 9,
			    .children = 10, .dropped = 11 },
	};

	EXPECT_EQ(0, sidecar_end("trace.meta", &from, &from, NULL, NULL));
	EXPECT_EQ(0, system("tail -n 1 trace.meta >lost"));
	EXPECT_STREQ("\"lost\":{\"signals\":0,\"threads\":0,\"abandoned\":0,\"refused\":0,"
		     "\"children\":0,\"samples\":0,\"dropped\":0,\"switches\":0,\"processes\":0,"
		     "\"elsewhere\":0,\"wakeups\":0,\"encoders\":0}}\n", text_of("lost"));
}

TEST_F(sidecar, full_disk_leaves_the_file_unchanged)
{
	const struct meta_part part = { .from = "f" };
	int copy, add;

	limit(8);
	copy = sidecar_copy("trace.meta", "trace.meta", &hit);
	add = sidecar_part("trace.meta", &part);
	limit(RLIM_INFINITY);
	EXPECT_EQ(-1, copy);
	EXPECT_EQ(-1, add);
	EXPECT_STREQ(FINISHED, text_of("trace.meta"));
	EXPECT_NE(0, access("trace.meta.new", F_OK));
}

TEST_F(sidecar, symbolic_links_are_not_followed)
{
	const struct meta_part part = { .from = NULL };

	ASSERT_EQ(0, symlink("victim", "trace.meta.new"));
	EXPECT_EQ(0, sidecar_copy("trace.meta", "trace.meta", &hit));
	EXPECT_EQ(0, sidecar_copy("trace.meta", "other.meta", &hit));
	ASSERT_EQ(0, symlink("victim", "piece.meta"));
	EXPECT_EQ(0, sidecar_begin("trace.meta", "piece.meta", &part, 0, NULL));
	EXPECT_NE(0, access("victim", F_OK));
}

/*
 * A user who can write to the directory must not gain access to files that are private to others.
 */
TEST_F(sidecar, links_are_not_read)
{
	const struct meta_part part = { .from = "f" };

	ASSERT_EQ(0, rename("trace.meta", "secret"));
	ASSERT_EQ(0, symlink("secret", "trace.meta"));
	EXPECT_EQ(-1, sidecar_part("trace.meta", &part));
	EXPECT_EQ(-1, sidecar_copy("trace.meta", "other.meta", &hit));
	EXPECT_EQ(0, sidecar_begin("trace.meta", "piece.meta", &part, 4, NULL));
	EXPECT_STREQ("{\"part\":{\"from\":\"f\"},\n\"version\":1,\n\"piece\":4}\n",
		     text_of("piece.meta"));
	ASSERT_EQ(0, unlink("trace.meta"));
	ASSERT_EQ(0, link("secret", "trace.meta"));
	EXPECT_EQ(-1, sidecar_part("trace.meta", &part));
	ASSERT_EQ(0, unlink("trace.meta"));
	ASSERT_EQ(0, mkfifo("trace.meta", 0600));
	EXPECT_EQ(-1, sidecar_part("trace.meta", &part));
	EXPECT_NE(0, access("other.meta", F_OK));
	EXPECT_STREQ(FINISHED, text_of("secret"));
}

TEST_HARNESS_MAIN

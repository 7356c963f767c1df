// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests a recording's files in a directory in which another user can create links: a link is
 * followed only if the user named it.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "directory.h"
#include "target/files.h"
#include "target/machine.h"

bool machine_side_car(void)
{
	return true;
}

void perf_device_file(char *name, const char *path, uint32_t index, uint32_t sinks)
{
	snprintf(name, PATH_MAX, sinks < 2 ? "%s" : "%s.%u", path, index);
}

FIXTURE(files)
{
	char dir[64];
	char path[PATH_MAX];
};

FIXTURE_SETUP(files)
{
	strcpy(self->dir, "/tmp/files_test.XXXXXX");
	ASSERT_EQ(0, dir_enter(self->dir));
	umask(022);
	ASSERT_EQ(0, files_path("trace", self->path, sizeof(self->path)));
}

FIXTURE_TEARDOWN(files)
{
	ASSERT_EQ(0, dir_remove(self->dir));
}

static void write_text(int fd, const char *text)
{
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd))
		abort();
}

static void make(const char *path, const char *text)
{
	write_text(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666), text);
}

static unsigned int mode_of(const char *path)
{
	struct stat status;

	return lstat(path, &status) ? 0 : status.st_mode;
}

/* Return the name that commands derive from self->path by appending @suffix. */
static const char *beside(FIXTURE_DATA(files) *self, const char *suffix)
{
	static char name[PATH_MAX + 32];

	snprintf(name, sizeof(name), "%s%s", self->path, suffix);
	return name;
}

TEST_F(files, file_named_by_user_is_written_through_a_link)
{
	make("target", "earlier and longer");
	ASSERT_EQ(0, symlink("target", "trace"));
	write_text(files_create(self->path), "later");
	EXPECT_STREQ("later", text_of("target"));
	EXPECT_TRUE(S_ISLNK(mode_of("trace")));
}

/* If -o is missing or names a directory, the command chooses the file's name. */
TEST_F(files, default_file_replaces_a_link)
{
	char path[PATH_MAX];

	make("target", "earlier");
	ASSERT_EQ(0, symlink("target", "trace.rtd"));
	ASSERT_EQ(0, files_path(NULL, path, sizeof(path)));
	write_text(files_create(path), "later");
	EXPECT_STREQ("later", text_of("trace.rtd"));

	ASSERT_EQ(0, mkdir("directory", 0777));
	ASSERT_EQ(0, symlink("../target", "directory/trace.rtd"));
	ASSERT_EQ(0, files_path("directory", path, sizeof(path)));
	files_remove(path);
	EXPECT_EQ(0, mode_of("directory/trace.rtd"));
	EXPECT_STREQ("earlier", text_of("target"));
}

TEST_F(files, generated_files_replace_links)
{
	static const char * const suffix[] = { ".meta", ".meta.new", ".1", ".0" };
	unsigned int i;

	make("victim", "victim");
	for (i = 0; i < sizeof(suffix) / sizeof(suffix[0]); i++) {
		ASSERT_EQ(0, symlink(i % 2 ? "missing" : "victim", beside(self, suffix[i])));
		write_text(files_create(beside(self, suffix[i])), "own");
		EXPECT_TRUE(S_ISREG(mode_of(beside(self, suffix[i]))));
		EXPECT_STREQ("own", text_of(beside(self, suffix[i])));
	}
	EXPECT_STREQ("victim", text_of("victim"));
	EXPECT_EQ(0, mode_of("missing"));
}

TEST_F(files, generated_files_replace_hard_links)
{
	make("victim", "victim");
	ASSERT_EQ(0, link("victim", beside(self, ".1")));
	write_text(files_create(beside(self, ".1")), "own");
	EXPECT_STREQ("victim", text_of("victim"));
}

TEST_F(files, directory_instead_of_a_file_is_an_error)
{
	ASSERT_EQ(0, mkdir("trace.1", 0777));
	EXPECT_EQ(-1, files_create(beside(self, ".1")));
	EXPECT_EQ(NULL, files_open(beside(self, ".1")));
}

TEST_F(files, absolute_path_needs_no_current_directory)
{
	char path[PATH_MAX];

	ASSERT_EQ(0, mkdir("removed", 0777));
	ASSERT_EQ(0, chdir("removed"));
	ASSERT_EQ(0, rmdir("../removed"));
	EXPECT_EQ(-1, files_path("trace", path, sizeof(path)));
	EXPECT_EQ(0, files_path("/tmp/trace.rtd", path, sizeof(path)));
	EXPECT_STREQ("/tmp/trace.rtd", path);
}

TEST_F(files, restricted_files_do_not_inherit_permissions)
{
	make("target", "earlier");
	ASSERT_EQ(0, symlink("target", "trace"));
	make("trace.1", "earlier");
	EXPECT_EQ(022, files_restrict());
	write_text(files_create(self->path), "later");
	write_text(files_create(beside(self, ".1")), "later");
	write_text(files_create(beside(self, ".2")), "later");
	EXPECT_EQ(S_IFREG | 0600, mode_of("target"));
	EXPECT_EQ(S_IFREG | 0600, mode_of("trace.1"));
	EXPECT_EQ(S_IFREG | 0600, mode_of("trace.2"));
}

TEST_F(files, check_creates_no_file_and_accepts_replaceable_links)
{
	ASSERT_EQ(0, symlink("missing", "trace.meta"));
	EXPECT_EQ(0, files_check(self->path));
	EXPECT_EQ(0, mode_of("missing"));
	EXPECT_EQ(0, mode_of("trace"));
	ASSERT_EQ(0, unlink("trace.meta"));
	ASSERT_EQ(0, mkdir("trace.meta", 0777));
	EXPECT_EQ(-1, files_check(self->path));
}

TEST_F(files, removal_truncates_the_target_of_the_users_link)
{
	make("target", "earlier");
	ASSERT_EQ(0, symlink("target", "trace"));
	files_remove(self->path);
	EXPECT_EQ(S_IFREG | 0644, mode_of("target"));
	EXPECT_STREQ("", text_of("target"));
}

TEST_F(files, removal_deletes_all_other_links)
{
	make("victim", "victim");
	ASSERT_EQ(0, symlink("missing", "trace.0"));
	ASSERT_EQ(0, symlink("victim", "trace.1"));
	ASSERT_EQ(0, symlink("victim", "trace.1.meta"));
	files_remove(self->path);
	EXPECT_EQ(0, mode_of("trace.0"));
	EXPECT_EQ(0, mode_of("trace.1"));
	EXPECT_EQ(0, mode_of("trace.1.meta"));

	/* The command also chooses the name of a snapshot. */
	ASSERT_EQ(0, symlink("victim", "trace.1"));
	files_remove(beside(self, ".1"));
	EXPECT_EQ(0, mode_of("trace.1"));
	EXPECT_STREQ("victim", text_of("victim"));
}

TEST_HARNESS_MAIN

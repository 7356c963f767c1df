// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the files of just-in-time compilers are copied only if they are regular files of the
 * user, and that functions are found in them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "folder.h"
#include "kept_report.h"
#include "perf_map.h"
#include "target/perf_maps.h"

static const char text[] =
	"3f00001000 40 first\n"
	"3f00001040 20 int main(char **)\n"
	"not a function\n"
	"3f00001040 30 later main\n"
	"3f00009000 10 away\n"
	"3f0000a000 0 empty\n";

FIXTURE(maps)
{
	char folder[64];
	char path[64];
	char copy[128];
	struct objects objects;
	struct perf_maps maps;
};

static void put(const char *path, const char *content)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(content, file) < 0 || fclose(file))
		abort();
}

FIXTURE_SETUP(maps)
{
	strcpy(self->folder, "/tmp/perf_maps_test.XXXXXX");
	ASSERT_EQ(0, folder_enter(self->folder));
	snprintf(self->path, sizeof(self->path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(self->copy, sizeof(self->copy), "copies%s", self->path);
	self->maps = (struct perf_maps){ .folder = "copies", .objects = &self->objects };
}

FIXTURE_TEARDOWN(maps)
{
	unlink(self->path);
	objects_free(&self->objects);
	ASSERT_EQ(0, folder_remove(self->folder));
}

TEST_F(maps, are_copied_and_listed)
{
	struct stat status;

	put(self->path, text);
	perf_maps_copy(&self->maps, getpid());
	EXPECT_STREQ("", reported);
	EXPECT_TRUE(self->maps.made);
	EXPECT_STREQ(text, text_of(self->copy));
	ASSERT_EQ(0, stat(self->copy, &status));
	EXPECT_EQ(0100600, status.st_mode);
	ASSERT_EQ(2, self->objects.count);
	EXPECT_STREQ(self->path, self->objects.object[0].path);
	EXPECT_EQ(getpid(), self->objects.object[0].pid);
	EXPECT_EQ(0x3f00001000, self->objects.object[0].start);
	EXPECT_EQ(0x3f00001070, self->objects.object[0].end);
	EXPECT_EQ(0x3f00009000, self->objects.object[1].start);
	EXPECT_EQ(0x3f00009010, self->objects.object[1].end);
}

TEST_F(maps, are_replaced_by_later_ones)
{
	put(self->path, text);
	perf_maps_copy(&self->maps, getpid());
	put(self->path, "3f00001000 40 first\n");
	perf_maps_copy(&self->maps, getpid());
	EXPECT_STREQ("3f00001000 40 first\n", text_of(self->copy));
	ASSERT_EQ(1, self->objects.count);
	EXPECT_EQ(0x3f00001040, self->objects.object[0].end);
}

TEST_F(maps, do_not_hide_other_objects)
{
	objects_add_code(&self->objects, "/lib/a", 0x3f00001000, 0x1000, 0);
	put(self->path, text);
	perf_maps_copy(&self->maps, getpid());
	ASSERT_EQ(2, self->objects.count);
	EXPECT_EQ(0x3f00009000, self->objects.object[1].start);
}

TEST_F(maps, replace_memory_without_a_file)
{
	objects_add_code(&self->objects, "//anon", 0x3f00001000, 0x1000, 0);
	EXPECT_EQ(0, self->objects.count);
	objects_add_code(&self->objects, "/lib/a", 0x3f00004000, 0x1000, 0);
	objects_add_code(&self->objects, "/memfd:jit (deleted)", 0x3f00000000, 0x2000, 0);
	put(self->path, text);
	perf_maps_copy(&self->maps, getpid());
	ASSERT_EQ(3, self->objects.count);
	EXPECT_STREQ("/lib/a", self->objects.object[0].path);
	EXPECT_STREQ(self->path, self->objects.object[1].path);
	EXPECT_EQ(0x3f00001000, self->objects.object[1].start);
}

TEST_F(maps, that_are_links_are_not_used)
{
	put("victim", text);
	ASSERT_EQ(0, symlink("victim", self->path));
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "not used: a link"));
	EXPECT_FALSE(self->maps.made);
	EXPECT_EQ(0, self->objects.count);
}

TEST_F(maps, that_are_not_files_are_not_used)
{
	ASSERT_EQ(0, mkfifo(self->path, 0600));
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "not a regular file"));
	EXPECT_EQ(0, self->objects.count);
}

TEST_F(maps, of_another_user_are_not_used)
{
	put(self->path, text);
	if (geteuid() || chown(self->path, 1234, 1234))
		SKIP(return, "only root can give a file away");
	perf_maps_copy(&self->maps, getpid());
	EXPECT_NE(NULL, strstr(reported, "belongs to another user"));
	EXPECT_EQ(0, self->objects.count);
}

TEST_F(maps, need_not_exist)
{
	perf_maps_copy(&self->maps, getpid());
	EXPECT_STREQ("", reported);
	EXPECT_NE(0, access("copies", F_OK));
}

/* Write a copy into the folder, not where a link leads. */
TEST_F(maps, replace_a_link)
{
	put(self->path, text);
	put("victim", "kept");
	ASSERT_EQ(0, system("mkdir -p copies/tmp"));
	ASSERT_EQ(0, symlink("../../victim", self->copy));
	perf_maps_copy(&self->maps, getpid());
	EXPECT_STREQ("kept", text_of("victim"));
	EXPECT_STREQ(text, text_of(self->copy));
}

TEST_F(maps, have_functions)
{
	const struct perf_map_function *found;
	struct perf_map *map;

	put("map", text);
	map = perf_map_open("map");
	ASSERT_NE(NULL, map);
	EXPECT_EQ(NULL, perf_map_find(map, 0x3f00000fff));
	found = perf_map_find(map, 0x3f0000103f);
	ASSERT_NE(NULL, found);
	EXPECT_STREQ("first", found->name);
	EXPECT_EQ(0x3f00001000, found->start);
	found = perf_map_find(map, 0x3f0000106f);
	ASSERT_NE(NULL, found);
	EXPECT_STREQ("later main", found->name);
	EXPECT_EQ(NULL, perf_map_find(map, 0x3f00001070));
	EXPECT_EQ(NULL, perf_map_find(map, 0x3f0000a000));
	perf_map_close(map);
	EXPECT_EQ(NULL, perf_map_open("missing"));
	EXPECT_NE(NULL, strstr(reported, "missing: not used"));
}

TEST_F(maps, have_names_of_perf)
{
	EXPECT_TRUE(perf_map_is("/tmp/perf-12.map"));
	EXPECT_FALSE(perf_map_is("/tmp/perf-.map"));
	EXPECT_FALSE(perf_map_is("/tmp/perf-12.map/x"));
	EXPECT_FALSE(perf_map_is("/tmp/perf-1x.map"));
	EXPECT_FALSE(perf_map_is("/home/perf-1.map"));
}

TEST_HARNESS_MAIN

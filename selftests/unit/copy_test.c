// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that a copy in an archive is either complete or absent, and replaces an existing copy of
 * another file.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "directory.h"
#include "target/copy.h"

FIXTURE(copy)
{
	char dir[64];
};

FIXTURE_SETUP(copy)
{
	strcpy(self->dir, "/tmp/copy_test.XXXXXX");
	ASSERT_EQ(0, dir_enter(self->dir));
}

FIXTURE_TEARDOWN(copy)
{
	ASSERT_EQ(0, dir_remove(self->dir));
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

TEST_F(copy, replaces_an_existing_file)
{
	write_text("to", "earlier and longer");
	write_text("from", "later");
	ASSERT_EQ(0, copy_file("from", "to"));
	EXPECT_STREQ("later", text_of("to"));
}

/* A directory can be opened, but not read. */
TEST_F(copy, of_unreadable_file_fails_and_creates_no_file)
{
	write_text("to", "earlier");
	EXPECT_EQ(-1, copy_file("/", "to"));
	EXPECT_STREQ("earlier", text_of("to"));
	EXPECT_EQ(-1, copy_file("/", "other"));
	EXPECT_EQ(-1, copy_file("missing", "other"));
	EXPECT_EQ(0, system("test \"$(ls)\" = to"));
}

TEST_HARNESS_MAIN

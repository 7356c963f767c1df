// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests which descendants of the command count as not recorded, and that the side-car file
 * describes the program, objects and times of processes without the library.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "target/descendants.h"
#include "trace/meta.h"

#include "kept_report.h"

/* Ids that no process on this machine has. */
#define PROGRAM	2000000000
#define CHILD	2000000001
#define OTHER	2000000002

FIXTURE(descendants)
{
	struct descendants descendants;
	struct tree tree;
	struct descendants_rest found;
};

FIXTURE_SETUP(descendants)
{
	self->descendants = (struct descendants){ .programs = true };
	ASSERT_EQ(0, descendants_open(&self->descendants));
	ASSERT_EQ(0, tree_open(&self->tree));
}

FIXTURE_TEARDOWN(descendants)
{
	descendants_close(&self->descendants);
	tree_close(&self->tree);
}

/* Events in the format of perf's ring. */
struct comm_record {
	struct perf_event_header	header;
	uint32_t			pid, tid;
	char				name[16];
	uint64_t			time;
};

struct task_record {
	struct perf_event_header	header;
	uint32_t			pid, parent, tid, parent_tid;
	uint64_t			time, stamp;
};

struct mapping_record {
	struct perf_event_header	header;
	uint32_t			pid, tid;
	uint64_t			address, length, offset;
	uint32_t			major, minor;
	uint64_t			inode, generation;
	uint32_t			protection, flags;
	char				path[64];
	uint64_t			time;
};

static void task(FIXTURE_DATA(descendants) *self, uint32_t type, uint64_t time, int pid, int parent)
{
	struct task_record record = {
		.header = { .type = type, .size = sizeof(record) },
		.pid = (uint32_t)pid, .tid = (uint32_t)pid, .parent = (uint32_t)parent,
		.parent_tid = (uint32_t)parent, .time = time, .stamp = time,
	};

	descendants_event(&self->descendants, &record.header);
}

static void forks(FIXTURE_DATA(descendants) *self, uint64_t time, int parent, int pid)
{
	task(self, PERF_RECORD_FORK, time, pid, parent);
}

static void maps(FIXTURE_DATA(descendants) *self, uint64_t time, int pid, const char *path)
{
	struct mapping_record record = {
		.header = { .type = PERF_RECORD_MMAP2, .size = sizeof(record) },
		.pid = (uint32_t)pid, .tid = (uint32_t)pid, .address = 0x10000, .length = 4096,
		.time = time,
	};

	strncpy(record.path, path, sizeof(record.path) - 1);
	descendants_event(&self->descendants, &record.header);
}

/*
 * Add the events of a process that executes a program, into which the loader loads the library if
 * @library is set.
 */
static void executes(FIXTURE_DATA(descendants) *self, uint64_t time, int pid, const char *path,
		     bool library)
{
	const char *name = strrchr(path, '/') + 1;
	struct comm_record record = {
		.header = {
			.type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_COMM_EXEC,
			.size = sizeof(record),
		},
		.pid = (uint32_t)pid, .tid = (uint32_t)pid, .time = time,
	};

	strncpy(record.name, name, sizeof(record.name) - 1);
	descendants_event(&self->descendants, &record.header);
	maps(self, time + 1, pid, path);
	if (library)
		maps(self, time + 2, pid, "/lib/libsifive-perf.so.0");
}

/* Numbers of the files of a copy that fork() made, and of the first program that is executed. */
#define COPY		0
#define EXECUTED	1

/* Create the file that the library in the process writes. */
static void joins(FIXTURE_DATA(descendants) *self, int pid, int number)
{
	char path[TREE_DIR + 32];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%d.%d", self->tree.dir, pid, number);
	file = fopen(path, "w");
	fclose(file);
}

static void finish(FIXTURE_DATA(descendants) *self)
{
	static const struct trigger_clock clock = { .ns = 1000, .ticks = 1000, .hz = 1000000000 };
	char *argv[] = { "program", NULL };

	descendants_rest(&self->descendants, PROGRAM, argv, &self->tree, &clock, &self->found);
}

/*
 * Return the content of the file that describes a process without the library, or "" if there is
 * none.
 */
static const char *file_of(FIXTURE_DATA(descendants) *self, int pid, int image)
{
	static char text[4096];
	char path[TREE_DIR + 32];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%d.%d.outside", self->tree.dir, pid, image);
	file = fopen(path, "r");
	text[file ? fread(text, 1, sizeof(text) - 1, file) : 0] = '\0';
	if (file)
		fclose(file);
	return text;
}

TEST_F(descendants, joined_processes_are_recorded)
{
	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/program", true);
	joins(self, PROGRAM, EXECUTED);
	forks(self, 30, PROGRAM, CHILD);
	joins(self, CHILD, COPY);
	forks(self, 40, PROGRAM, OTHER);
	executes(self, 50, OTHER, "/bin/other", true);
	joins(self, OTHER, EXECUTED);
	executes(self, 60, OTHER, "/bin/program", true);
	joins(self, OTHER, EXECUTED + 2);
	finish(self);
	EXPECT_EQ(0, self->found.lost);
	EXPECT_EQ(0, self->found.others);
	EXPECT_EQ(2, descendants_children(&self->descendants, PROGRAM));
}

TEST_F(descendants, child_without_fork_handlers_is_lost)
{
	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/program", true);
	joins(self, PROGRAM, EXECUTED);
	forks(self, 30, PROGRAM, CHILD);
	task(self, PERF_RECORD_EXIT, 40, CHILD, PROGRAM);
	finish(self);
	EXPECT_EQ(1, self->found.lost);
	EXPECT_EQ(0, self->found.others);
}

/* The library is in memory, but a changed environment or a missing permission prevents recording. */
TEST_F(descendants, executed_program_that_does_not_join_is_lost)
{
	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/program", true);
	joins(self, PROGRAM, EXECUTED);
	executes(self, 30, PROGRAM, "/bin/other", true);
	forks(self, 40, PROGRAM, CHILD);
	joins(self, CHILD, COPY);
	executes(self, 50, CHILD, "/bin/program", true);
	finish(self);
	EXPECT_EQ(2, self->found.lost);
	EXPECT_EQ(0, self->found.others);
}

/* A copy of a program without the library loads an object that needs the library. */
TEST_F(descendants, copy_that_loads_the_library_joins)
{
	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/program", false);
	forks(self, 30, PROGRAM, CHILD);
	maps(self, 40, CHILD, "/lib/libsifive-perf.so.0");
	joins(self, CHILD, EXECUTED);
	finish(self);
	EXPECT_EQ(0, self->found.lost);
}

TEST_F(descendants, static_child_is_described)
{
	const char *text;

	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/sh", false);
	forks(self, 30, PROGRAM, CHILD);
	executes(self, 40, CHILD, "/bin/static", false);
	task(self, PERF_RECORD_EXIT, 50, CHILD, PROGRAM);
	finish(self);
	EXPECT_EQ(0, self->found.lost);
	EXPECT_EQ(1, self->found.others);
	EXPECT_STREQ("static", self->found.names);
	/* The program is described, but the copy of the shell that executed it is not. */
	EXPECT_STREQ("", file_of(self, CHILD, 1));
	text = file_of(self, CHILD, 0);
	EXPECT_NE(NULL, strstr(text, "\"outside\":true,\n\"from\":40,\n\"to\":50,\n\"exe\":\"/bin/static\""));
	EXPECT_NE(NULL, strstr(text, "\"path\":\"/bin/static\""));
	text = file_of(self, PROGRAM, 0);
	EXPECT_NE(NULL, strstr(text, "\"args\":[\"program\"]"));
}

/* Simulate a shell that executes a program with an empty environment. */
TEST_F(descendants, static_program_that_the_program_executes_is_described)
{
	const char *text;

	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/sh", true);
	joins(self, PROGRAM, EXECUTED);
	executes(self, 30, PROGRAM, "/bin/static", false);
	finish(self);
	EXPECT_EQ(0, self->found.lost);
	EXPECT_EQ(1, self->found.others);
	EXPECT_STREQ("static", self->found.names);
	/* The command line that the program sets for itself is not in the events. */
	text = file_of(self, PROGRAM, 0);
	EXPECT_NE(NULL, strstr(text, "\"exe\":\"/bin/static\""));
	EXPECT_EQ(NULL, strstr(text, "\"args\""));
}

/* While the recording runs, the processes are described several times. */
TEST_F(descendants, description_is_replaced)
{
	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/sh", true);
	joins(self, PROGRAM, EXECUTED);
	executes(self, 30, PROGRAM, "/bin/static", false);
	EXPECT_EQ(1, tree_joined(&self->tree));
	finish(self);
	tree_forget(&self->tree);
	EXPECT_EQ(1, tree_count(&self->tree));
	finish(self);
	EXPECT_EQ(2, tree_count(&self->tree));
	EXPECT_EQ(1, tree_joined(&self->tree));
	EXPECT_STREQ("", file_of(self, PROGRAM, 1));
}

TEST_F(descendants, child_of_a_static_program_that_loads_the_library_later_is_described)
{
	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/sh", false);
	forks(self, 30, PROGRAM, CHILD);
	maps(self, 40, PROGRAM, "/lib/libsifive-perf.so.0");
	joins(self, PROGRAM, EXECUTED);
	finish(self);
	EXPECT_EQ(0, self->found.lost);
	EXPECT_EQ(1, self->found.others);
	EXPECT_NE(NULL, strstr(file_of(self, CHILD, 0), "\"from\":30,"));
}

/* The event for the library's mapping was lost. */
TEST_F(descendants, joined_child_is_not_described)
{
	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/program", false);
	forks(self, 30, PROGRAM, CHILD);
	joins(self, CHILD, COPY);
	finish(self);
	EXPECT_EQ(0, self->found.others);
	EXPECT_STREQ("", file_of(self, CHILD, 0));
}

TEST_F(descendants, joined_processes_take_precedence)
{
	int i;

	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/sh", false);
	for (i = 0; i < META_PROCESSES_MAX; i++)
		joins(self, OTHER + i, EXECUTED);
	finish(self);
	EXPECT_EQ(1, self->found.left_out);
	finish(self);
	EXPECT_EQ(1, self->found.left_out);
	EXPECT_STREQ("", file_of(self, PROGRAM, 0));
}

TEST_F(descendants, program_names_are_compared_as_whole_words)
{
	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/program", true);
	joins(self, PROGRAM, EXECUTED);
	forks(self, 30, PROGRAM, CHILD);
	executes(self, 40, CHILD, "/bin/bash", false);
	executes(self, 50, CHILD, "/bin/bash", false);
	forks(self, 60, PROGRAM, OTHER);
	executes(self, 70, OTHER, "/bin/sh", false);
	forks(self, 80, OTHER, OTHER + 1);
	finish(self);
	EXPECT_EQ(3, self->found.others);
	EXPECT_STREQ("bash, sh", self->found.names);
}

TEST_F(descendants, unrelated_process_with_a_reused_id_is_ignored)
{
	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/program", true);
	joins(self, PROGRAM, EXECUTED);
	forks(self, 30, PROGRAM, CHILD);
	joins(self, CHILD, COPY);
	task(self, PERF_RECORD_EXIT, 40, CHILD, PROGRAM);
	forks(self, 50, OTHER, CHILD);
	executes(self, 60, CHILD, "/bin/static", false);
	forks(self, 70, CHILD, OTHER + 1);
	finish(self);
	EXPECT_EQ(0, self->found.lost);
	EXPECT_EQ(0, self->found.others);
	EXPECT_EQ(1, descendants_children(&self->descendants, PROGRAM));
}

TEST_F(descendants, unrelated_processes_are_ignored)
{
	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/program", true);
	joins(self, PROGRAM, EXECUTED);
	forks(self, 30, OTHER, CHILD);
	executes(self, 40, CHILD, "/bin/static", false);
	finish(self);
	EXPECT_EQ(0, self->found.lost);
	EXPECT_EQ(0, self->found.others);
	EXPECT_EQ(0, descendants_children(&self->descendants, PROGRAM));
}

/* Keep only what is needed to count processes. */
TEST_F(descendants, programs_are_kept_only_if_needed)
{
	self->descendants.programs = false;
	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/program", true);
	forks(self, 30, PROGRAM, CHILD);
	executes(self, 40, CHILD, "/bin/static", false);
	task(self, PERF_RECORD_EXIT, 50, CHILD, PROGRAM);
	/* The command, and one copy of it for each fork(). */
	EXPECT_EQ(3, self->descendants.count);
	EXPECT_EQ(1, descendants_children(&self->descendants, PROGRAM));
	EXPECT_FALSE(descendants_replaced(&self->descendants, PROGRAM));
	executes(self, 60, PROGRAM, "/bin/other", true);
	EXPECT_TRUE(descendants_replaced(&self->descendants, PROGRAM));
	EXPECT_EQ(1, descendants_children(&self->descendants, PROGRAM));
}

TEST_F(descendants, running_processes_are_counted)
{
	forks(self, 10, getpid(), PROGRAM);
	executes(self, 20, PROGRAM, "/bin/program", true);
	forks(self, 30, PROGRAM, CHILD);
	executes(self, 40, CHILD, "/bin/first", true);
	executes(self, 50, CHILD, "/bin/second", false);
	forks(self, 60, CHILD, OTHER);
	EXPECT_EQ(2, descendants_running(&self->descendants, PROGRAM));
	task(self, PERF_RECORD_EXIT, 110, PROGRAM, getpid());
	task(self, PERF_RECORD_EXIT, 120, CHILD, PROGRAM);
	EXPECT_EQ(1, descendants_running(&self->descendants, PROGRAM));
	task(self, PERF_RECORD_EXIT, 210, OTHER, getpid());
	EXPECT_EQ(0, descendants_running(&self->descendants, PROGRAM));
}

TEST_HARNESS_MAIN

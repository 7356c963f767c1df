// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the files written by a recording's processes are joined into one side-car file. Equal
 * objects become one object that several processes share, a process ends when it executes another
 * file, and the result is within the reader's limits.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "target/tree.h"
#include "trace/meta.h"

FIXTURE(processes)
{
	struct tree tree;
	struct objects kernel;
	struct meta meta;
	char path[64];
};

FIXTURE_SETUP(processes)
{
	meta_init(&self->meta);
	strcpy(self->path, "/tmp/processes_test.XXXXXX");
	close(mkstemp(self->path));
	ASSERT_EQ(0, tree_open(&self->tree));
}

FIXTURE_TEARDOWN(processes)
{
	tree_close(&self->tree);
	EXPECT_EQ(-1, access(self->tree.dir, F_OK));
	meta_free(&self->meta);
	unlink(self->path);
}

static FILE *begin(FIXTURE_DATA(processes) *self, int pid, int image)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/%d.%d", self->tree.dir, pid, image);
	return fopen(name, "w");
}

/* Write a process's file as the library does: an object at @start, and the code of the writers. */
static void put(FIXTURE_DATA(processes) *self, int pid, int image, int from, int to,
		const char *args, int start)
{
	FILE *file = begin(self, pid, image);

	fprintf(file, "{\"pid\":%d,\"ppid\":1,\n", pid);
	if (from)
		fprintf(file, "\"from\":%d,\n", from);
	if (to)
		fprintf(file, "\"to\":%d,\n", to);
	fprintf(file, "\"exe\":\"/bin/a,]}\",\n\"args\":[%s],\n\"threads\":[\n",
		args);
	fprintf(file, "{\"channel\":3,\"pid\":%d,\"tid\":%d,\"name\":\"a}]\",\"from\":7},\n", pid, pid);
	fprintf(file, "{\"channel\":4,\"pid\":%d,\"tid\":%d,\"name\":\"b\"}],\n\"objects\":[\n", pid, pid);
	fprintf(file, "{\"path\":\"/bin/a]}\",\"start\":%d,\"end\":%d,\"bias\":0},\n", start,
		start + 16);
	fputs("{\"path\":\"writers\",\"start\":1000000,\"end\":1000016,\"bias\":0}]}\n", file);
	fclose(file);
}

static void join(struct __test_metadata *_metadata, FIXTURE_DATA(processes) *self)
{
	static char text[META_BYTES_MAX + 1];
	struct output *out = output_open(self->path);
	size_t length;
	FILE *file;

	put_string(out, "{");
	ASSERT_EQ(0, tree_write(&self->tree, NULL, &self->kernel, out));
	put_string(out, "\"version\":1}");
	ASSERT_EQ(0, output_close(out));
	file = fopen(self->path, "r");
	length = fread(text, 1, sizeof(text), file);
	fclose(file);
	ASSERT_EQ(0, meta_parse("side-car", text, length, &self->meta)) {
		TH_LOG("%s", text);
	}
}

TEST_F(processes, have_separate_objects)
{
	const struct meta *m = &self->meta;

	put(self, 11, 0, 10, 20, "\"a\"", 100);
	put(self, 12, 0, 12, 0, "\"a\"", 100);
	put(self, 13, 0, 15, 0, "\"a\",\"b\"", 200);
	join(_metadata, self);
	ASSERT_EQ(3, m->processes);
	EXPECT_EQ(11, m->process[0].pid);
	EXPECT_EQ(1, m->process[0].parent);
	EXPECT_EQ(10, m->process[0].from);
	EXPECT_EQ(20, m->process[0].to);
	EXPECT_STREQ("/bin/a,]}", m->process[0].exe);
	EXPECT_EQ(UINT64_MAX, m->process[2].to);
	ASSERT_EQ(6, m->threads);
	EXPECT_STREQ("a}]", m->thread[0].name);
	EXPECT_EQ(13, m->thread[5].pid);
	ASSERT_EQ(3, m->objects);
	/*
	 * The file's three objects are from the first two processes, from all, and from the last.
	 */
	EXPECT_STREQ("/bin/a]}", m->object[0].path);
	ASSERT_EQ(2, m->object[0].ins);
	EXPECT_EQ(0, m->in[m->object[0].in]);
	EXPECT_EQ(1, m->in[m->object[0].in + 1]);
	EXPECT_EQ(0, m->object[1].ins);
	ASSERT_EQ(1, m->object[2].ins);
	EXPECT_EQ(2, m->in[m->object[2].in]);
	EXPECT_EQ(0, self->tree.left_out);
}

TEST_F(processes, end_when_they_execute_another_file)
{
	put(self, 11, 1, 30, 0, "\"b\"", 200);
	put(self, 11, 0, 10, 0, "\"a\"", 100);
	put(self, 12, 0, 40, 0, "\"a\"", 100);
	join(_metadata, self);
	ASSERT_EQ(3, self->meta.processes);
	EXPECT_EQ(10, self->meta.process[0].from);
	EXPECT_EQ(30, self->meta.process[0].to);
	EXPECT_EQ(30, self->meta.process[1].from);
	EXPECT_EQ(UINT64_MAX, self->meta.process[1].to);
}

TEST_F(processes, of_unfinished_files_are_read_as_far_as_possible)
{
	FILE *file = begin(self, 11, 0);

	fputs("{\"pid\":11,\"ppid\":1,\n\"exe\":\"/bin/a\",\n\"threads\":[\n{\"channel\":3", file);
	fclose(file);
	fclose(begin(self, 12, 0));
	put(self, 13, 0, 10, 0, "\"a\"", 100);
	join(_metadata, self);
	ASSERT_EQ(3, self->meta.processes);
	EXPECT_EQ(11, self->meta.process[0].pid);
	EXPECT_EQ(12, self->meta.process[1].pid);
	EXPECT_EQ(2, self->meta.objects);
}

TEST_F(processes, beyond_the_limit_are_counted)
{
	static char args[1024];
	int i;

	memset(args, '1', sizeof(args) - 1);
	for (i = 1; i < 1000; i += 2)
		args[i] = ',';
	args[1000] = '\0';
	for (i = 0; i < 3000; i++)
		put(self, 100 + i, 0, 10, 0, args, 2000000 + 32 * i);
	join(_metadata, self);
	EXPECT_EQ(META_PROCESSES_MAX, self->meta.processes);
	EXPECT_EQ(3000 - META_PROCESSES_MAX, self->tree.left_out);
	EXPECT_LT(2000, self->meta.threads);
	EXPECT_LT(1000, self->meta.objects);
	EXPECT_EQ(2 * 3000, self->meta.threads + self->tree.threads_left_out);
	/* The object of each process, and the code of all writers. */
	EXPECT_EQ(META_PROCESSES_MAX + 1, self->meta.objects + self->tree.objects_left_out);
}

/* A path has up to 4095 bytes, each of which can take six bytes in JSON. */
TEST_F(processes, with_paths_that_do_not_fit_are_counted)
{
	static char path[PATH_MAX];
	char *argv[] = { "a", NULL };
	struct tree_process process = { .parent = 1, .exe = path, .argv = argv };
	struct objects objects = { .count = 0 };
	size_t i, have = 0;

	memset(path, '\1', sizeof(path) - 1);
	for (i = 0; i < META_PROCESSES_MAX; i++) {
		process.pid = (pid_t)(100 + i);
		tree_add(&self->tree, &process, &objects, false);
	}
	objects_free(&objects);
	join(_metadata, self);
	ASSERT_EQ(META_PROCESSES_MAX, self->meta.processes);
	EXPECT_EQ(0, self->tree.left_out);
	for (i = 0; i < META_PROCESSES_MAX; i++) {
		have += !!self->meta.process[i].exe;
		EXPECT_EQ(100 + i, self->meta.process[i].pid);
	}
	EXPECT_STREQ(path, self->meta.process[0].exe);
	EXPECT_EQ(META_PROCESSES_MAX, have + self->tree.programs_left_out);
}

/* Comparing each line with all others would take minutes. */
TEST_F(processes, with_many_objects_are_joined_quickly)
{
	int i, j;

	for (i = 0; i < 1000; i++) {
		FILE *file = begin(self, 100 + i, 0);

		fprintf(file, "{\"pid\":%d,\"ppid\":1,\n\"objects\":[\n", 100 + i);
		for (j = 0; j < 100; j++)
			fprintf(file, "{\"path\":\"/lib/x\",\"start\":%d,\"end\":%d,\"bias\":0},\n",
				1000 * i + 10 * j, 1000 * i + 10 * j + 9);
		fputs("{\"path\":\"/lib/y\",\"start\":2000000,\"end\":2000016,\"bias\":0}]}\n", file);
		fclose(file);
	}
	join(_metadata, self);
	EXPECT_LT(1000, self->meta.objects);
	EXPECT_EQ(1000 * 100 + 1, self->meta.objects + self->tree.objects_left_out);
}

TEST_F(processes, share_the_kernel)
{
	const struct meta *m = &self->meta;

	objects_add_kernel(&self->kernel, 0xffffffff80000000, 0xffffffff80001000);
	objects_add_kernel(&self->kernel, 0xffffffff01000000, 0xffffffff01001000);
	put(self, 11, 0, 10, 20, "\"a\"", 100);
	join(_metadata, self);
	ASSERT_EQ(4, m->objects);
	EXPECT_STREQ(META_KERNEL, m->object[0].path);
	EXPECT_EQ(0xffffffff80000000, m->object[0].start);
	EXPECT_EQ(0xffffffff80001000, m->object[0].end);
	EXPECT_EQ(0, m->object[0].bias);
	EXPECT_EQ(0, m->object[0].ins);
	EXPECT_EQ(0xffffffff01000000, m->object[1].start);
	EXPECT_STREQ("/bin/a]}", m->object[2].path);
	objects_free(&self->kernel);
}

TEST_F(processes, can_be_absent)
{
	join(_metadata, self);
	EXPECT_EQ(0, self->meta.processes);
}

TEST_F(processes, without_the_library_are_described_as_observed)
{
	char *argv[] = { "sh", "-c", "a \"b\"", NULL };
	struct tree_process process = { .pid = 55, .parent = 54, .exe = "/no/sh", .argv = argv };
	struct objects objects = { .count = 0 };

	objects_add_code(&objects, "/no/sh", 4096, 4096, 0);
	tree_add(&self->tree, &process, &objects, false);
	objects_free(&objects);
	join(_metadata, self);
	EXPECT_EQ(1, self->meta.processes);
	EXPECT_FALSE(self->meta.early);
	meta_free(&self->meta);
	meta_init(&self->meta);
	put(self, 56, 0, 10, 0, "\"a\"", 100);
	join(_metadata, self);
	EXPECT_TRUE(self->meta.early);
	ASSERT_EQ(2, self->meta.processes);
	EXPECT_EQ(55, self->meta.process[0].pid);
	EXPECT_EQ(54, self->meta.process[0].parent);
	EXPECT_STREQ("/no/sh", self->meta.process[0].exe);
	ASSERT_EQ(3, self->meta.objects);
	EXPECT_STREQ("/no/sh", self->meta.object[0].path);
	EXPECT_EQ(1, self->meta.object[0].ins);
}

TEST_HARNESS_MAIN

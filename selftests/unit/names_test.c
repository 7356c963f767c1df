// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that, for threads without the library, the side-car file contains each thread's latest
 * name, and no name if two threads had the same id.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "target/names.h"
#include "trace/meta.h"

#include "kept_report.h"

/* Ids that no thread on this machine has. */
#define FIRST	2000000000

FIXTURE(names)
{
	struct names names;
	struct meta meta;
	char text[1 << 20];
};

FIXTURE_SETUP(names)
{
	*reported = '\0';
	self->names = (struct names){ .all = true };
	ASSERT_EQ(0, names_open(&self->names));
	meta_init(&self->meta);
}

FIXTURE_TEARDOWN(names)
{
	meta_free(&self->meta);
	names_close(&self->names);
}

/* An event in the format of perf's ring. */
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

static void comm(struct names *names, uint64_t time, int pid, int tid, const char *name)
{
	struct comm_record record = {
		.header = { .type = PERF_RECORD_COMM, .size = sizeof(record) },
		.pid = (uint32_t)pid, .tid = (uint32_t)tid, .time = time,
	};

	strncpy(record.name, name, sizeof(record.name) - 1);
	names_event(names, &record.header);
}

static void task(struct names *names, uint32_t type, uint64_t time, int pid, int tid, int parent)
{
	struct task_record record = {
		.header = { .type = type, .size = sizeof(record) },
		.pid = (uint32_t)pid, .tid = (uint32_t)tid, .parent = (uint32_t)parent,
		.parent_tid = (uint32_t)parent, .time = time, .stamp = time,
	};

	names_event(names, &record.header);
}

static void begins(struct names *names, uint64_t time, int pid, int tid, int parent)
{
	task(names, PERF_RECORD_FORK, time, pid, tid, parent);
}

static void ends(struct names *names, uint64_t time, int pid, int tid)
{
	task(names, PERF_RECORD_EXIT, time, pid, tid, pid);
}

/* Write the side-car file, and read it as the command does. */
static void reread(struct __test_metadata *_metadata, FIXTURE_DATA(names) *self)
{
	char path[] = "/tmp/names_test.XXXXXX";
	struct output *out;
	size_t length;
	FILE *file;

	close(mkstemp(path));
	out = output_open(path);
	put_string(out, "{");
	names_write(&self->names, out);
	put_string(out, "\"version\":1}");
	ASSERT_EQ(0, output_close(out));
	file = fopen(path, "r");
	length = fread(self->text, 1, sizeof(self->text), file);
	fclose(file);
	unlink(path);
	meta_free(&self->meta);
	meta_init(&self->meta);
	ASSERT_EQ(0, meta_parse("side-car", self->text, length, &self->meta)) {
		TH_LOG("%s%.1000s", reported, self->text);
	}
}

/* Return the name in the side-car file, or "" if there is none. */
static const char *name_of(const FIXTURE_DATA(names) *self, int tid)
{
	size_t i;

	for (i = 0; i < self->meta.threads; i++)
		if (self->meta.thread[i].tid == tid)
			return self->meta.thread[i].name;
	return "";
}

TEST_F(names, are_the_latest_ones_and_inherited)
{
	struct names *n = &self->names;

	comm(n, 5, FIRST, FIRST, "parent");
	begins(n, 10, FIRST + 1, FIRST + 1, FIRST);
	comm(n, 20, FIRST + 1, FIRST + 1, "second");
	comm(n, 30, FIRST + 1, FIRST + 1, "third");
	begins(n, 40, FIRST, FIRST + 2, FIRST);
	reread(_metadata, self);
	EXPECT_EQ(3, self->meta.threads);
	EXPECT_STREQ("parent", name_of(self, FIRST));
	EXPECT_STREQ("third", name_of(self, FIRST + 1));
	EXPECT_STREQ("parent", name_of(self, FIRST + 2));
	EXPECT_TRUE(self->meta.thread[0].named);
	EXPECT_EQ(-1, self->meta.thread[0].channel);
}

TEST_F(names, of_a_reused_thread_id_are_omitted)
{
	struct names *n = &self->names;

	begins(n, 1, FIRST + 1, FIRST + 1, FIRST);
	comm(n, 2, FIRST + 1, FIRST + 1, "one");
	ends(n, 3, FIRST + 1, FIRST + 1);
	begins(n, 4, FIRST + 1, FIRST + 1, FIRST);
	comm(n, 5, FIRST + 1, FIRST + 1, "two");
	reread(_metadata, self);
	EXPECT_EQ(0, self->meta.threads);
}

TEST_F(names, are_limited_to_threads_of_the_recorded_processes)
{
	struct names *n = &self->names;

	n->all = false;
	names_add(n, getpid());
	begins(n, 1, getpid(), FIRST, getpid());
	begins(n, 2, FIRST + 1, FIRST + 1, getpid());
	begins(n, 3, FIRST + 2, FIRST + 2, FIRST + 3);
	comm(n, 4, FIRST + 4, FIRST + 4, "other");
	reread(_metadata, self);
	EXPECT_EQ(2, self->meta.threads);
	EXPECT_STREQ("names_test", name_of(self, getpid()));
	EXPECT_STREQ("names_test", name_of(self, FIRST));
	n->children = true;
	begins(n, 101, FIRST + 1, FIRST + 1, getpid());
	comm(n, 102, FIRST + 1, FIRST + 1, "child");
	begins(n, 103, FIRST + 2, FIRST + 2, FIRST + 1);
	reread(_metadata, self);
	EXPECT_EQ(4, self->meta.threads);
	EXPECT_STREQ("child", name_of(self, FIRST + 2));
}

static void *wait_for(void *mutex)
{
	prctl(PR_SET_NAME, "odd \"\\\x01 \xff");
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	return NULL;
}

/* A name can contain any bytes. */
TEST_F(names, include_running_threads)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	const char *name = "";
	pthread_t thread;
	size_t i;

	pthread_mutex_lock(&mutex);
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for, &mutex));
	while (!strstr(name, "odd")) {
		names_add_all(&self->names);
		reread(_metadata, self);
		for (i = 0; i < self->meta.threads; i++)
			if (self->meta.thread[i].pid == getpid() &&
			    self->meta.thread[i].tid != getpid())
				name = self->meta.thread[i].name;
	}
	EXPECT_EQ(0, strncmp(name, "odd \"\\", 6));
	EXPECT_STREQ("names_test", name_of(self, getpid()));
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
}

TEST_F(names, beyond_the_limit_are_reported)
{
	int i;

	for (i = 0; i < META_THREADS_MAX + 3; i++)
		comm(&self->names, 1, FIRST + i, FIRST + i, "many");
	/*
	 * Omitted threads are not stored, so each event of an omitted thread counts that thread
	 * again.
	 */
	comm(&self->names, 1, FIRST + META_THREADS_MAX, FIRST + META_THREADS_MAX, "again");
	self->names.missed = 7;
	reread(_metadata, self);
	EXPECT_EQ(META_THREADS_MAX, self->meta.threads);
	names_report(&self->names);
	EXPECT_NE(NULL, strstr(reported, "up to 4 threads do not fit into the side-car file"));
	EXPECT_NE(NULL, strstr(reported, "up to 7 thread events were lost"));
}

/* Records that are too short to contain their fields; no kernel writes such records. */
TEST_F(names, ignore_records_that_are_too_short)
{
	struct task_record record = { .header = { .size = sizeof(record.header) } };
	uint32_t type;

	for (type = 0; type < 30; type++) {
		record.header.type = type;
		names_event(&self->names, &record.header);
	}
	EXPECT_EQ(0, self->names.count);
}

TEST_HARNESS_MAIN

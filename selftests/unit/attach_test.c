// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that a recording includes exactly the running processes that its options select, describes
 * each process, and omits processes that end before START.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "target/attach.h"
#include "target/running.h"
#include "trace/meta.h"

#include "kept_report.h"

#define CHILDREN	3

FIXTURE(attach)
{
	pid_t child[CHILDREN];
	struct attach attach;
	char list[64];
};

FIXTURE_SETUP(attach)
{
	unsigned int i;

	*reported = '\0';
	for (i = 0; i < CHILDREN; i++) {
		self->child[i] = fork();
		if (!self->child[i])
			for (;;)
				pause();
		ASSERT_LT(0, self->child[i]);
	}
	snprintf(self->list, sizeof(self->list), "%d,%d", self->child[1], self->child[0]);
	self->attach = (struct attach){ .pids = self->list };
}

static void end(pid_t *child)
{
	if (*child <= 0)
		return;
	kill(*child, SIGKILL);
	waitpid(*child, NULL, 0);
	*child = 0;
}

FIXTURE_TEARDOWN(attach)
{
	unsigned int i;

	for (i = 0; i < CHILDREN; i++)
		end(&self->child[i]);
	attach_free(&self->attach);
}

TEST_F(attach, listed_processes_are_found_once)
{
	struct running running;
	char list[64];

	ASSERT_EQ(0, running_named(&running, "7,5,7,6"));
	ASSERT_EQ(3, running.count);
	EXPECT_EQ(5, running.pid[0]);
	EXPECT_EQ(6, running.pid[1]);
	EXPECT_EQ(7, running.pid[2]);
	free(running.pid);
	ASSERT_EQ(0, attach_find(&self->attach));
	ASSERT_EQ(2, self->attach.count);
	EXPECT_EQ(self->attach.id[0], self->attach.process[0].is.pid);
	EXPECT_LT(self->attach.id[0], self->attach.id[1]);
	EXPECT_EQ(getpid(), self->attach.process[0].is.parent);
	EXPECT_NE(NULL, strstr(self->attach.process[0].is.exe, "attach_test"));
	EXPECT_NE(NULL, strstr(self->attach.process[1].is.argv[0], "attach_test"));
	attach_free(&self->attach);

	/* A process selected by its id must exist and must not be the recorder. */
	end(&self->child[0]);
	EXPECT_EQ(-1, attach_find(&self->attach));
	attach_free(&self->attach);
	snprintf(list, sizeof(list), "%d,%d", self->child[1], getpid());
	self->attach.pids = list;
	EXPECT_EQ(-1, attach_find(&self->attach));
}

/* Report this thread's id, then wait for the end of the test. */
static void *be_thread(void *argument)
{
	pid_t id = gettid();

	if (write(*(int *)argument, &id, sizeof(id)) != sizeof(id))
		abort();
	for (;;)
		pause();
}

static pid_t start_with_thread(pid_t *thread)
{
	pthread_t id;
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		pthread_create(&id, NULL, be_thread, &ends[1]);
		for (;;)
			pause();
	}
	close(ends[1]);
	if (read(ends[0], thread, sizeof(*thread)) != sizeof(*thread))
		*thread = -1;
	close(ends[0]);
	return pid;
}

TEST_F(attach, thread_id_is_refused)
{
	char text[128];
	pid_t thread;

	end(&self->child[2]);
	self->child[2] = start_with_thread(&thread);
	ASSERT_LT(0, self->child[2]);
	ASSERT_NE(self->child[2], thread);
	snprintf(self->list, sizeof(self->list), "%d,%d", thread, self->child[0]);
	EXPECT_EQ(-1, attach_find(&self->attach));
	snprintf(text, sizeof(text), "-p %d: it is a thread of process %d: use -p %d", thread,
		 self->child[2], self->child[2]);
	EXPECT_STREQ(text, reported);
}

TEST_F(attach, malformed_lists_are_refused)
{
	static const char * const wrong[] = {
		"", ",", "1,", ",1", "1,,2", "0", "-1", "1 2", "1x", "x", "2147483648",
		"99999999999999999999",
	};
	struct running running;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		EXPECT_EQ(-1, running_named(&running, wrong[i])) {
			TH_LOG("\"%s\"", wrong[i]);
		}
		free(running.pid);
	}
}

/* Simulate a control group that contains these processes. */
static void make_group(const char *path, const char *processes)
{
	char list[128];
	FILE *file;

	snprintf(list, sizeof(list), "%s/cgroup.procs", path);
	if (mkdir(path, 0700))
		abort();
	file = fopen(list, "w");
	if (!file || fputs(processes, file) < 0 || fclose(file))
		abort();
}

static int find_in_child(const char *group, rlim_t files)
{
	const struct rlimit limit = { .rlim_cur = files, .rlim_max = files };
	struct running running;
	pid_t pid = fork();
	int status;

	if (!pid) {
		setrlimit(RLIMIT_NOFILE, &limit);
		*reported = '\0';
		if (!running_in_cgroup(&running, group))
			_exit(0);
		_exit(strstr(reported, strerror(EMFILE)) ? 2 : 1);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(attach, cgroup_includes_processes_of_child_groups)
{
	char top[] = "/tmp/attach_test.XXXXXX", group[64], below[64], command[64];
	struct running running;
	rlim_t next;

	ASSERT_NE(NULL, mkdtemp(top));
	snprintf(group, sizeof(group), "%s/a", top);
	snprintf(below, sizeof(below), "%s/a/b", top);
	make_group(group, "7\n0\n5\n");
	make_group(below, "6\n7\n");
	ASSERT_EQ(0, running_in_cgroup(&running, group));
	ASSERT_EQ(3, running.count);
	EXPECT_EQ(5, running.pid[0]);
	EXPECT_EQ(6, running.pid[1]);
	EXPECT_EQ(7, running.pid[2]);
	free(running.pid);

	/* The search fails if there are too few descriptors to find all processes. */
	next = (rlim_t)dup(0);
	close((int)next);
	EXPECT_EQ(2, find_in_child(group, next + 2));
	EXPECT_EQ(0, find_in_child(group, next + 8));

	snprintf(command, sizeof(command), "rm -rf %s", top);
	ASSERT_EQ(0, system(command));
	EXPECT_EQ(-1, running_in_cgroup(&running, group));
}

static bool has(const struct attach *attach, pid_t pid)
{
	size_t i;

	for (i = 0; i < attach->count; i++)
		if (attach->process[i].is.pid == pid)
			return true;
	return false;
}

TEST_F(attach, user_selects_all_processes_except_the_recorder)
{
	char user[32];
	unsigned int i;

	snprintf(user, sizeof(user), "%u", geteuid());
	self->attach = (struct attach){ .user = user };
	ASSERT_EQ(0, attach_find(&self->attach));
	for (i = 0; i < CHILDREN; i++)
		EXPECT_TRUE(has(&self->attach, self->child[i]));
	EXPECT_FALSE(has(&self->attach, getpid()));
	attach_free(&self->attach);
	self->attach.user = "4123456";
	EXPECT_EQ(-1, attach_find(&self->attach));
	attach_free(&self->attach);
	self->attach.user = "12x";
	EXPECT_EQ(-1, attach_find(&self->attach));
}

TEST_F(attach, processes_ended_before_start_are_omitted)
{
	struct tree tree = { .left_out = 0 };
	char path[] = "/tmp/attach_test.XXXXXX";
	static char text[1 << 20];
	struct output *out;
	cpu_set_t cpus;
	struct meta meta;
	size_t length;
	pid_t left;
	FILE *file;

	close(mkstemp(path));
	ASSERT_EQ(0, attach_find(&self->attach));
	ASSERT_EQ(0, tree_open(&tree));
	/* Write the descriptions of the processes, as for the recording's first piece. */
	attach_describe(&self->attach, &tree, false);
	left = self->attach.id[1];
	/* Clear the id of a process that has ended, as START does. */
	self->attach.id[0] = 0;
	CPU_ZERO(&cpus);
	attach_started(&self->attach, &cpus);
	ASSERT_EQ(1, self->attach.count);
	EXPECT_EQ(left, self->attach.process[0].is.pid);
	EXPECT_NE(NULL, attach_objects_of(&self->attach, left));
	EXPECT_EQ(NULL, attach_objects_of(&self->attach, self->child[2]));
	objects_add_code(attach_objects_of(&self->attach, left), "/no/code", 4096, 4096, 0);

	attach_describe(&self->attach, &tree, false);
	out = output_open(path);
	put_string(out, "{");
	ASSERT_EQ(0, tree_write(&tree, NULL, NULL, out));
	put_string(out, "\"version\":1}");
	ASSERT_EQ(0, output_close(out));
	file = fopen(path, "r");
	length = fread(text, 1, sizeof(text), file);
	fclose(file);
	unlink(path);
	tree_close(&tree);
	meta_init(&meta);
	ASSERT_EQ(0, meta_parse("side-car", text, length, &meta));
	ASSERT_EQ(1, meta.processes);
	EXPECT_EQ(left, meta.process[0].pid);
	EXPECT_NE(NULL, strstr(meta.process[0].exe, "attach_test"));
	EXPECT_FALSE(meta.early);
	ASSERT_EQ(1, meta.objects);
	EXPECT_STREQ("/no/code", meta.object[0].path);
	meta_free(&meta);
}

/*
 * Start a process whose name imitates the end of the name in /proc/PID/stat and the fields after
 * it.
 */
static pid_t start_program(const char *mark, int *go, int *done)
{
	int from[2], to[2];
	pid_t pid;
	char byte;

	if (pipe2(from, O_CLOEXEC) || pipe2(to, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		close(from[1]);
		prctl(PR_SET_NAME, ") S 1 2 3");
		if (write(to[1], "", 1) == 1 && read(from[0], &byte, 1) == 1)
			execlp("sleep", "sleep", mark, NULL);
		_exit(1);
	}
	close(from[0]);
	close(to[1]);
	*go = from[1];
	*done = to[0];
	/* Wait for the byte that the child writes after setting its name. */
	return read(to[0], &byte, 1) == 1 ? pid : -1;
}

TEST_F(attach, program_executed_before_start_is_described)
{
	struct attached *process;
	int go, done;
	cpu_set_t cpus;
	char byte;

	CPU_ZERO(&cpus);
	end(&self->child[2]);
	self->child[2] = start_program("12345", &go, &done);
	ASSERT_LT(0, self->child[2]);
	snprintf(self->list, sizeof(self->list), "%d", self->child[2]);
	ASSERT_EQ(0, attach_find(&self->attach));
	process = self->attach.process;
	EXPECT_EQ(getpid(), process->is.parent);
	EXPECT_LT(0, process->began);
	EXPECT_NE(NULL, strstr(process->is.exe, "attach_test"));
	ASSERT_EQ(1, write(go, "", 1));
	/* Wait until execve() closes the pipe. */
	ASSERT_EQ(0, read(done, &byte, 1));
	attach_started(&self->attach, &cpus);
	ASSERT_EQ(1, self->attach.count);
	EXPECT_EQ(NULL, strstr(process->is.exe, "attach_test"));
	EXPECT_STREQ("12345", process->is.argv[1]);
	EXPECT_EQ(NULL, strstr(reported, "has its id"));
	close(go);
	close(done);
}

TEST_F(attach, reused_process_id_is_reported)
{
	char text[64];
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	ASSERT_EQ(0, attach_find(&self->attach));
	self->attach.process[1].began--;
	attach_started(&self->attach, &cpus);
	ASSERT_EQ(2, self->attach.count);
	snprintf(text, sizeof(text), "process %d has ended, and another process has its id",
		 self->attach.id[1]);
	EXPECT_NE(NULL, strstr(reported, text));
	snprintf(text, sizeof(text), "process %d has ended", self->attach.id[0]);
	EXPECT_EQ(NULL, strstr(reported, text));
}

TEST_F(attach, process_ended_after_start_keeps_its_description)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	ASSERT_EQ(0, attach_find(&self->attach));
	end(&self->child[0]);
	attach_started(&self->attach, &cpus);
	ASSERT_EQ(2, self->attach.count);
	EXPECT_NE(NULL, strstr(self->attach.process[0].is.exe, "attach_test"));
	EXPECT_NE(NULL, strstr(self->attach.process[1].is.exe, "attach_test"));
}

#define NOT_WAITED	77

/* Call attach_wait() in a child with a limit of @files files; @text receives its message. */
static int wait_in_child(const struct attach *attach, rlim_t files, char *text, size_t room)
{
	const struct rlimit limit = { .rlim_cur = files, .rlim_max = files };
	char *none[] = { NULL };
	int ends[2], status;
	ssize_t length;
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		*reported = '\0';
		setrlimit(RLIMIT_NOFILE, &limit);
		attach_wait(attach, none);
		_exit(write(ends[1], reported, strlen(reported)) < 0 ? 1 : NOT_WAITED);
	}
	close(ends[1]);
	length = read(ends[0], text, room - 1);
	text[length < 0 ? 0 : length] = '\0';
	close(ends[0]);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

TEST_F(attach, wait_without_descriptors_is_reported)
{
	char text[256];
	int next;

	ASSERT_EQ(0, attach_find(&self->attach));
	next = dup(0);
	close(next);
	/* Set a limit that leaves descriptors for the pipe and for one of the two processes. */
	EXPECT_EQ(NOT_WAITED, wait_in_child(&self->attach, (rlim_t)next + 3, text, sizeof(text)));
	EXPECT_NE(NULL, strstr(text, "cannot wait for 2 processes: too many open files: raise"));
	end(&self->child[0]);
	end(&self->child[1]);
	EXPECT_EQ(0, wait_in_child(&self->attach, (rlim_t)next + 3, text, sizeof(text)));
	EXPECT_STREQ("", text);
}

TEST_HARNESS_MAIN

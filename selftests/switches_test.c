// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that, after SWITCHES, a capture records when and why each thread of a process starts and
 * stops running on a hart, and records nothing about other processes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

#define CHANNEL		7
#define BUFFER		1048576

/* Number of times that a thread voluntarily gives up the CPU. */
#define TURNS		50

/* Maximum number of attempts to capture the record that a test needs. */
#define TRIES		100

/* The numbers that represent record kinds are below this limit. */
#define KINDS		0x20

/**
 * struct found - the records in a capture
 * @total:	number of records with a thread
 * @begins:	number of BEGIN records
 * @kind:	number of records of each kind
 * @bad:	number of records that contradict the previous record
 * @overlaps:	number of times that a thread started to run while another was running on the hart
 * @unwoken:	number of times that a sleeping thread ran without having been woken
 * @foreign:	number of records for threads that are not in @threads
 * @idle:	number of times that the recording ended while no thread was running
 * @marked, @ended: times of the last BEGIN record and of the last end that @idle counts
 * @threads:	ids of the test's threads
 * @count:	number of @threads
 * @ran:	running time of each thread, in ticks
 * @first, @last: times of each thread's first and last record
 * @off:	time that each thread spent off the CPU between these times, in ticks
 * @latest:	kind of the thread's last record, except wake-ups
 * @woken:	the thread has been woken since that record
 */
struct found {
	unsigned int total, begins, kind[KINDS], bad, overlaps, unwoken, foreign, idle;
	pid_t threads[4];
	unsigned int count;
	uint64_t marked, ended;
	uint64_t ran[4], off[4], first[4], last[4];
	uint8_t latest[4];
	bool woken[4];
};

FIXTURE(switches) {
	struct trace_session s;
	struct sifive_trace_switches switches;
	struct sifive_trace_status status;
	uint64_t earlier;	/* number of records from earlier captures */
	struct found found;
};

FIXTURE_SETUP(switches)
{
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	self->switches = TRACE_ARG(sifive_trace_switches);
	self->switches.channel = trace_register(&self->s.encoder, CHANNEL);
	self->found.threads[0] = gettid();
	self->found.count = 1;
}

FIXTURE_TEARDOWN(switches)
{
	trace_session_close(&self->s);
}

static int set(struct _test_data_switches *self)
{
	return trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SWITCHES, &self->switches);
}

static int start(struct _test_data_switches *self)
{
	return set(self) ?: trace_start(self->s.fd, 0);
}

static int number_of(const struct found *found, pid_t thread)
{
	unsigned int i;

	for (i = 0; i < found->count; i++)
		if (found->threads[i] == thread)
			return i;
	return -1;
}

static void account(struct found *found, int i, uint8_t kind, uint64_t time)
{
	if (i < 0) {
		found->foreign++;
		return;
	}
	if (!found->first[i])
		found->first[i] = time;
	else if (kind == SIFIVE_TRACE_SWITCH_IN)
		found->off[i] += time - found->last[i];
	else
		found->ran[i] += time - found->last[i];
	found->unwoken += kind == SIFIVE_TRACE_SWITCH_IN && !found->woken[i] &&
			  found->latest[i] == SIFIVE_TRACE_SWITCH_SLEEPS;
	found->last[i] = time;
	found->latest[i] = kind;
	found->woken[i] = false;
}

static void wake(struct found *found, int i)
{
	if (i < 0)
		found->foreign++;
	else
		found->woken[i] = true;
}

/* Count a record; @running is the thread that ran before the record, or 0 if none ran. */
static void look(struct found *found, uint8_t kind, pid_t thread, uint64_t time, pid_t *running)
{
	found->total++;
	found->kind[kind]++;
	if (kind == SIFIVE_TRACE_SWITCH_WOKEN) {
		wake(found, number_of(found, thread));
		return;
	}
	if (kind == SIFIVE_TRACE_SWITCH_IN) {
		found->overlaps += *running != 0;
		*running = thread;
	} else {
		found->bad += *running != thread;
		*running = 0;
	}
	if (kind != SIFIVE_TRACE_SWITCH_END || thread) {
		account(found, number_of(found, thread), kind, time);
		return;
	}
	found->idle++;
	found->ended = time;
}

/* Stop, and read the records; count the channel's messages that are not records in @bad. */
static int collect(struct _test_data_switches *self)
{
	struct trace_stream stream = {};
	struct found *found = &self->found;
	pid_t running = 0;
	int kind = -1;
	size_t i;

	if (trace_stop(self->s.fd) || trace_status(self->s.fd, &self->status) ||
	    trace_collect(self->s.fd, self->s.encoder.src_bits, &stream))
		return -1;
	for (i = 0; i < stream.count; i++) {
		const struct trace_message *m = &stream.message[i];

		if (m->tcode != TRACE_TCODE_DATA)
			continue;
		if (kind < 0 && m->tag == trace_tag(CHANNEL, 1) &&
		    m->value == SIFIVE_TRACE_SWITCH_BEGIN) {
			found->begins++;
			found->marked = m->time;
			running = 0;
		} else if (kind < 0 && m->tag == trace_tag(CHANNEL, 1) && m->value < KINDS) {
			kind = m->value;
		} else if (kind >= 0 && m->tag == trace_tag(CHANNEL, 4)) {
			look(found, kind, m->value, m->time, &running);
			kind = -1;
		} else if (m->tag / 4 == CHANNEL) {
			found->bad++;
		}
	}
	free(stream.message);
	return kind < 0 ? 0 : -1;
}

static void check(struct __test_metadata *_metadata, struct _test_data_switches *self)
{
	const struct found *found = &self->found;
	unsigned int i;

	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(0, found->bad);
	EXPECT_EQ(0, found->overlaps);
	EXPECT_EQ(found->total, self->status.switches - self->earlier);
	EXPECT_EQ(0, self->status.switches_lost);
	EXPECT_EQ(0, self->status.switches_elsewhere);
	EXPECT_EQ(0, self->status.switches_processes);
	for (i = 0; i < found->count; i++)
		EXPECT_EQ(found->last[i] - found->first[i], found->ran[i] + found->off[i]);
}

/* Thread function: answer each byte. */
struct answer {
	pthread_t thread;
	int to[2], from[2];
	pid_t id;
};

static void *answer_all(void *arg)
{
	struct answer *a = arg;
	char c;

	a->id = gettid();
	while (read(a->to[0], &c, 1) == 1 && write(a->from[1], &c, 1) == 1)
		;
	return NULL;
}

static int begin_answers(struct answer *a)
{
	return pipe(a->to) || pipe(a->from) ||
	       pthread_create(&a->thread, NULL, answer_all, a) ? -1 : 0;
}

static int take_answers(struct answer *a)
{
	unsigned int i;
	char c = 0;

	for (i = 0; i < TURNS; i++)
		if (write(a->to[1], &c, 1) != 1 || read(a->from[0], &c, 1) != 1)
			return -1;
	close(a->to[1]);
	pthread_join(a->thread, NULL);
	close(a->to[0]);
	close(a->from[0]);
	close(a->from[1]);
	return 0;
}

/* Exchange bytes with another thread repeatedly: each thread sleeps until it has an answer. */
static int take_turns(pid_t *other)
{
	struct answer a;

	if (begin_answers(&a) || take_answers(&a))
		return -1;
	*other = a.id;
	return 0;
}

TEST_F(switches, each_wait_is_recorded)
{
	const unsigned int *kind = self->found.kind;
	struct rusage before, after;

	ASSERT_EQ(0, start(self));
	getrusage(RUSAGE_THREAD, &before);
	ASSERT_EQ(0, take_turns(&self->found.threads[1]));
	getrusage(RUSAGE_THREAD, &after);
	self->found.count = 2;
	check(_metadata, self);
	/* A thread can be preempted just before it sleeps. */
	EXPECT_LE(TURNS, kind[SIFIVE_TRACE_SWITCH_SLEEPS] +
			 kind[SIFIVE_TRACE_SWITCH_PREEMPTED]);
	EXPECT_LT(0, kind[SIFIVE_TRACE_SWITCH_SLEEPS]);
	EXPECT_LE(after.ru_nvcsw - before.ru_nvcsw, kind[SIFIVE_TRACE_SWITCH_SLEEPS] +
						    kind[SIFIVE_TRACE_SWITCH_UNINTERRUPTIBLE]);
	EXPECT_LE(after.ru_nivcsw - before.ru_nivcsw, kind[SIFIVE_TRACE_SWITCH_PREEMPTED]);
	EXPECT_LT(TURNS, kind[SIFIVE_TRACE_SWITCH_IN]);
	EXPECT_EQ(0, kind[SIFIVE_TRACE_SWITCH_WOKEN]);
	/* The recording ends once, while the thread that called STOP is running. */
	EXPECT_EQ(1, self->found.kind[SIFIVE_TRACE_SWITCH_END]);
	EXPECT_EQ(1, self->found.begins);
	EXPECT_EQ(0, self->found.foreign);
	EXPECT_LT(0, self->found.off[0]);
	EXPECT_LT(0, self->found.ran[0]);
}

/* Each thread is woken by the other thread, on the same CPU. */
TEST_F(switches, wakeups_are_recorded_on_request)
{
	const unsigned int *kind = self->found.kind;

	self->switches.flags = SIFIVE_TRACE_SWITCHES_WAKEUPS;
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, take_turns(&self->found.threads[1]));
	self->found.count = 2;
	check(_metadata, self);
	EXPECT_LE(kind[SIFIVE_TRACE_SWITCH_SLEEPS], kind[SIFIVE_TRACE_SWITCH_WOKEN] + 1);
	EXPECT_LT(0, kind[SIFIVE_TRACE_SWITCH_SLEEPS]);
	EXPECT_EQ(0, self->found.unwoken);
	EXPECT_EQ(0, self->found.foreign);
	EXPECT_EQ(0, self->status.wakeups_elsewhere);
}

/* The thread is woken by a thread whose CPU has no stream. */
TEST_F(switches, wakeups_on_unrecorded_cpus_are_counted)
{
	struct answer a;

	if (trace_pin(!self->s.encoder.cpu))
		SKIP(return, "this board has one CPU");
	ASSERT_EQ(0, begin_answers(&a));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	self->switches.flags = SIFIVE_TRACE_SWITCHES_WAKEUPS;
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, take_answers(&a));
	self->found.threads[1] = a.id;
	self->found.count = 2;
	ASSERT_EQ(0, collect(self));
	EXPECT_LT(0, self->status.wakeups_elsewhere);
	EXPECT_EQ(0, self->found.bad);
	EXPECT_EQ(0, self->found.foreign);
	EXPECT_EQ(self->found.total, self->status.switches);
}

struct yielding {
	pthread_barrier_t *together;
	pid_t id;
	long preempted;
};

static void *yield(void *arg)
{
	struct yielding *y = arg;
	struct rusage usage;
	unsigned int i;

	y->id = gettid();
	pthread_barrier_wait(y->together);
	for (i = 0; i < TURNS; i++)
		sched_yield();
	getrusage(RUSAGE_THREAD, &usage);
	y->preempted = usage.ru_nivcsw;
	return NULL;
}

/* Begin a capture, with the caller as the only known thread. */
static int restart(struct _test_data_switches *self)
{
	self->found = (struct found) { .threads[0] = gettid(), .count = 1 };
	self->earlier = self->status.switches;
	return set(self) ?: trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND);
}

TEST_F(switches, switches_between_threads_on_one_cpu_are_recorded)
{
	const unsigned int *kind = self->found.kind;
	pthread_barrier_t together;
	struct yielding y[2];
	pthread_t thread[2];
	unsigned int i, tries;

	ASSERT_EQ(0, pthread_barrier_init(&together, NULL, 2));
	/* Joined threads may not have been switched out yet. */
	for (tries = 0; tries < TRIES && !kind[SIFIVE_TRACE_SWITCH_EXITED]; tries++) {
		ASSERT_EQ(0, restart(self));
		for (i = 0; i < 2; i++) {
			y[i].together = &together;
			ASSERT_EQ(0, pthread_create(&thread[i], NULL, yield, &y[i]));
		}
		for (i = 0; i < 2; i++) {
			ASSERT_EQ(0, pthread_join(thread[i], NULL));
			self->found.threads[i + 1] = y[i].id;
		}
		self->found.count = 3;
		check(_metadata, self);
		EXPECT_LT(0, y[0].preempted + y[1].preempted);
		EXPECT_LE(y[0].preempted + y[1].preempted, kind[SIFIVE_TRACE_SWITCH_PREEMPTED]);
		EXPECT_GE(6 * tries, self->found.foreign);
	}
	EXPECT_LE(1, kind[SIFIVE_TRACE_SWITCH_EXITED]);
}

static void spawn(void)
{
	pid_t child = vfork();

	if (!child) {
		usleep(1000);
		_exit(0);
	}
	trace_wait(child);
}

TEST_F(switches, vfork_parent_is_uninterruptible)
{
	unsigned int i;

	ASSERT_EQ(0, start(self));
	/* Create children repeatedly, because a child can end before its parent waits for it. */
	for (i = 0; i < TURNS; i++)
		spawn();
	check(_metadata, self);
	EXPECT_LE(1, self->found.kind[SIFIVE_TRACE_SWITCH_UNINTERRUPTIBLE]);
}

/*
 * Raise SIGSTOP until a capture contains the stop; exit with 0, or with a number that identifies
 * the error.
 */
static void stop_itself(struct _test_data_switches *self)
{
	unsigned int tries;

	for (tries = 0; tries < TRIES; tries++) {
		if (restart(self))
			_exit(1);
		raise(SIGSTOP);
		if (collect(self))
			_exit(2);
		if (self->found.foreign)
			_exit(3);
		if (self->found.kind[SIFIVE_TRACE_SWITCH_STOPPED])
			_exit(self->found.kind[SIFIVE_TRACE_SWITCH_STOPPED] != 1 ? 4 : 0);
	}
	_exit(5);
}

TEST_F(switches, stopped_process_is_recorded_as_stopped)
{
	int status;
	pid_t child;

	child = fork();
	if (!child)
		stop_itself(self);
	/* The child stops repeatedly: if it is continued too early, it is not switched out. */
	do {
		ASSERT_EQ(child, waitpid(child, &status, WUNTRACED));
		if (WIFSTOPPED(status))
			ASSERT_EQ(0, kill(child, SIGCONT));
	} while (WIFSTOPPED(status));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

#define CGROUPS	"/tmp/switches_test.cgroup"
#define FREEZER	CGROUPS "/frozen/"

static int freeze(pid_t pid)
{
	char id[16], state[16];

	snprintf(id, sizeof(id), "%d", pid);
	if (trace_file_write(FREEZER "cgroup.procs", id) < 0 ||
	    trace_file_write(FREEZER "freezer.state", "FROZEN") < 0)
		return -1;
	do {
		if (trace_file_read(FREEZER "freezer.state", state, sizeof(state)) < 0)
			return -1;
	} while (strncmp(state, "FROZEN", 6));
	/* Give the kernel time to write the record. */
	usleep(1000);
	return 0;
}

/* Freeze a busy process, and return the kind of its last record; return -1 on failure. */
static int last_before_freeze(struct _test_data_switches *self)
{
	int frozen;
	pid_t child;

	self->switches.flags = SIFIVE_TRACE_SWITCHES_CHILDREN;
	if (start(self))
		return -1;
	child = fork();
	while (!child)
		;
	self->found.threads[1] = child;
	self->found.count = 2;
	frozen = freeze(child) ?: collect(self);
	trace_file_write(FREEZER "freezer.state", "THAWED");
	kill(child, SIGKILL);
	trace_wait(child);
	return frozen ?: self->found.latest[1];
}

TEST_F(switches, frozen_thread_is_uninterruptible)
{
	int kind;

	mkdir(CGROUPS, 0700);
	if (mount("none", CGROUPS, "cgroup", 0, "freezer")) {
		rmdir(CGROUPS);
		SKIP(return, "no freezer: %s", strerror(errno));
	}
	mkdir(FREEZER, 0700);
	kind = last_before_freeze(self);
	rmdir(FREEZER);
	umount(CGROUPS);
	rmdir(CGROUPS);
	EXPECT_EQ(SIFIVE_TRACE_SWITCH_UNINTERRUPTIBLE, kind);
}

TEST_F(switches, other_processes_are_recorded_only_on_request)
{
	unsigned int all, tries;
	pid_t child;

	for (all = 0; all < 2; all++) {
		self->switches.flags = all ? SIFIVE_TRACE_SWITCHES_ALL : 0;
		/* A child that has been waited for may not have been switched out yet. */
		for (tries = 0; tries < TRIES; tries++) {
			ASSERT_EQ(0, restart(self));
			child = fork();
			if (!child) {
				usleep(1000);
				_exit(0);
			}
			ASSERT_EQ(0, trace_wait(child));
			ASSERT_EQ(0, collect(self));
			if (!all || self->found.kind[SIFIVE_TRACE_SWITCH_EXITED])
				break;
		}
		EXPECT_EQ(0, self->found.bad);
		EXPECT_EQ(0, self->found.overlaps);
		EXPECT_EQ(all, self->found.foreign != 0);
		EXPECT_EQ(all, self->found.kind[SIFIVE_TRACE_SWITCH_EXITED] != 0);
	}
}

/*
 * Create a process that sleeps until @pipe has no writer or, if @child is set, waits for a
 * child that sleeps until then; return the process's id.
 */
static pid_t make_sleeper(const int *pipe, bool child)
{
	pid_t pid = fork();
	char c;

	if (pid)
		return pid;
	close(pipe[1]);
	if (child)
		_exit(trace_wait(make_sleeper(pipe, false)));
	_exit(read(pipe[0], &c, 1) != 0);
}

TEST_F(switches, later_children_are_recorded_on_request)
{
	pid_t older;
	int to[2];
	char c = 0;

	ASSERT_EQ(0, pipe(to));
	older = fork();
	if (!older) {
		/* The switches of a child created before START must not be recorded. */
		_exit(read(to[0], &c, 1) != 1);
	}
	self->switches.flags = SIFIVE_TRACE_SWITCHES_CHILDREN;
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(1, write(to[1], &c, 1));
	ASSERT_EQ(0, trace_wait(older));
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(0, self->found.foreign);
	EXPECT_EQ(0, self->found.kind[SIFIVE_TRACE_SWITCH_EXITED]);

	memset(&self->found, 0, sizeof(self->found));
	ASSERT_EQ(0, pipe(to));
	ASSERT_EQ(0, trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND));
	/* A pause does not change which processes are recorded. */
	ASSERT_EQ(0, trace_pause(self->s.fd));
	self->found.threads[0] = gettid();
	self->found.threads[1] = make_sleeper(to, true);
	self->found.count = 2;
	ASSERT_EQ(0, trace_unpause(self->s.fd));
	close(to[1]);
	ASSERT_EQ(0, trace_wait(self->found.threads[1]));
	ASSERT_EQ(0, trace_wait(make_sleeper(to, false)));
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(0, self->found.bad);
	EXPECT_EQ(0, self->found.overlaps);
	EXPECT_NE(0, self->found.first[1]);
	/* The foreign records are from the grandchild and from the second child. */
	EXPECT_LT(0, self->found.foreign);
}

TEST_F(switches, pause_ends_with_mark)
{
	ASSERT_EQ(0, start(self));
	usleep(1000);
	ASSERT_EQ(0, trace_pause(self->s.fd));
	usleep(1000);
	ASSERT_EQ(0, trace_unpause(self->s.fd));
	usleep(1000);
	check(_metadata, self);
	EXPECT_EQ(2, self->found.begins);
	EXPECT_EQ(2, self->found.kind[SIFIVE_TRACE_SWITCH_END]);
}

TEST_F(switches, hart_without_recorded_thread_ends_as_idle)
{
	unsigned int i;

	ASSERT_EQ(0, start(self));
	usleep(1000);
	if (trace_pin(!self->s.encoder.cpu))
		SKIP(return, "this board has one CPU");
	ASSERT_EQ(0, trace_pause(self->s.fd));
	ASSERT_EQ(0, trace_unpause(self->s.fd));
	usleep(10000);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(0, self->found.bad);
	EXPECT_EQ(0, self->found.foreign);
	EXPECT_EQ(2, self->found.begins);
	/* The running thread is recorded when the pause ends, not at the hart's next switch. */
	EXPECT_LT(self->s.info.ts_hz / 200, self->found.ended - self->found.marked);
	EXPECT_EQ(2, self->found.idle);
	EXPECT_EQ(2, self->found.kind[SIFIVE_TRACE_SWITCH_END]);
	EXPECT_EQ(self->found.total, self->status.switches);
	for (i = 0; i < self->found.count; i++)
		EXPECT_LT(0, self->found.ran[i]);
}

TEST_F(switches, switches_on_unrecorded_cpus_are_counted)
{
	unsigned int i;

	if (trace_pin(!self->s.encoder.cpu))
		SKIP(return, "this board has one CPU");
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	ASSERT_EQ(0, start(self));
	usleep(1000);
	ASSERT_EQ(0, trace_status(self->s.fd, &self->status));
	EXPECT_EQ(0, self->status.switches_elsewhere);
	ASSERT_EQ(0, trace_pin(!self->s.encoder.cpu));
	for (i = 0; i < TURNS; i++)
		usleep(100);
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	ASSERT_EQ(0, collect(self));
	EXPECT_LE(TURNS / 2, self->status.switches_elsewhere);
	EXPECT_EQ(0, self->found.bad);
	EXPECT_EQ(0, self->status.switches_lost);
	EXPECT_EQ(self->found.total, self->status.switches);
	/* Switches are not counted while the capture is stopped. */
	i = self->status.switches_elsewhere;
	ASSERT_EQ(0, trace_pin(!self->s.encoder.cpu));
	usleep(1000);
	ASSERT_EQ(0, trace_status(self->s.fd, &self->status));
	EXPECT_EQ(i, self->status.switches_elsewhere);
}

/*
 * Function of a thread other than the first: report this thread's id, and execute a program that
 * does nothing.
 */
static void *execute(void *to)
{
	const pid_t id = gettid();

	if (write(*(int *)to, &id, sizeof(id)) != sizeof(id))
		_exit(1);
	execl("/bin/true", "true", NULL);
	_exit(2);
}

TEST_F(switches, thread_that_calls_execve_gets_process_id)
{
	pthread_t thread;
	pid_t child, id;
	int to[2];

	ASSERT_EQ(0, pipe(to));
	self->switches.flags = SIFIVE_TRACE_SWITCHES_CHILDREN;
	ASSERT_EQ(0, start(self));
	child = fork();
	if (!child) {
		if (!pthread_create(&thread, NULL, execute, &to[1]))
			pthread_join(thread, NULL);
		_exit(3);
	}
	ASSERT_EQ(sizeof(id), read(to[0], &id, sizeof(id)));
	ASSERT_EQ(0, trace_wait(child));
	self->found.threads[1] = child;
	self->found.threads[2] = id;
	self->found.count = 3;
	/* A child that has been waited for may not have been switched out yet. */
	usleep(1000);
	check(_metadata, self);
	EXPECT_EQ(0, self->found.foreign);
	EXPECT_NE(child, id);
	/*
	 * Two threads exit: the process's first thread, which execve() ends, and the thread that
	 * takes over its id.
	 */
	EXPECT_LE(3, self->found.kind[SIFIVE_TRACE_SWITCH_EXITED]);
	EXPECT_EQ(SIFIVE_TRACE_SWITCH_EXITED, self->found.latest[1]);
	EXPECT_EQ(SIFIVE_TRACE_SWITCH_EXITED, self->found.latest[2]);
	EXPECT_LT(self->found.last[2], self->found.last[1]);
}

TEST_F(switches, records_without_room_are_counted)
{
	struct sifive_trace_status full;
	pid_t other;
	unsigned int i;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, 4096, 0));
	ASSERT_EQ(0, start(self));
	for (i = 0; !(trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_FULL); i++)
		trace_store(self->s.page, self->s.reg, i, 4);
	ASSERT_EQ(0, trace_status(self->s.fd, &full));
	ASSERT_EQ(0, take_turns(&other));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_status(self->s.fd, &self->status));
	EXPECT_LE(2 * TURNS, self->status.switches_lost);
	EXPECT_EQ(full.switches, self->status.switches);
}

TEST_F(switches, onlined_cpu_begins_with_current_thread)
{
	const char *path = trace_session_leaver(&self->s);

	ASSERT_LE(0, self->s.fd);
	if (!path)
		SKIP(return, "needs a second CPU with an encoder that can go offline");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	self->switches.channel = trace_register(&self->s.encoder, CHANNEL);
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	ASSERT_EQ(0, start(self));
	usleep(1000);
	/* The thread moves to another CPU. */
	ASSERT_LE(0, trace_file_write(path, "0"));
	ASSERT_LE(0, trace_file_write(path, "1"));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	usleep(1000);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(0, self->found.bad);
	EXPECT_EQ(0, self->found.overlaps);
	EXPECT_EQ(2, self->found.begins);
	EXPECT_EQ(0, self->status.switches_lost);
}

TEST_F(switches, config_clears_setting)
{
	ASSERT_EQ(0, set(self));
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	usleep(1000);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(0, self->found.total);
	EXPECT_EQ(0, self->found.begins);
}

TEST_F(switches, off_channel_disables_recording)
{
	ASSERT_EQ(0, set(self));
	self->switches.channel = SIFIVE_TRACE_SWITCHES_OFF;
	ASSERT_EQ(0, start(self));
	usleep(1000);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(0, self->found.total);
}

TEST_F(switches, invalid_requests_are_refused)
{
	const struct sifive_trace_switches good = self->switches;
	pid_t child;

	self->switches.channel = 32;
	EXPECT_EQ(-EINVAL, set(self));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "channel 32"));
	self->switches = good;
	self->switches.flags = 32;
	EXPECT_EQ(-EINVAL, set(self));
	self->switches = good;
	self->switches.reserved = 1;
	EXPECT_EQ(-EINVAL, set(self));
	self->switches = good;
	child = fork();
	if (!child)
		_exit(trace_keep_caps(0) ? 99 : -set(self));
	EXPECT_EQ(EPERM, trace_wait(child));
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-EBUSY, set(self));
	/* Recording all threads of the machine needs a capability. */
	ASSERT_EQ(0, trace_stop(self->s.fd));
	self->switches.flags = SIFIVE_TRACE_SWITCHES_ALL;
	ASSERT_EQ(0, set(self));
	ASSERT_EQ(0, trace_keep_caps(0));
	EXPECT_EQ(-EPERM, trace_start(self->s.fd, 0));
}

TRACE_HARNESS_MAIN

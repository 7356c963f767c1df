// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves a property of all programs: the number of records in the trace plus the losses that the
 * library reports equals the program's own count of its records. Each program is random. Its
 * threads, which can outnumber the channels, make calls, throw exceptions, jump, migrate, signal
 * each other, close descriptors and fork, even in signal handlers. They can end while tracing is
 * off, and run destructors that make calls. They execute programs, are cancelled, are created by
 * signal handlers, have timers, and turn tracing off and on while other threads make calls.
 *
 * TRACE_SEED: seed of the first program, printed so that a run can be repeated.
 *
 * TRACE_PROGRAMS: the number of programs (default 50).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sifive_trace.h>

#include "kselftest_harness.h"
#include "instrumented.h"
#include "trace_more.h"
#include "trace_records.h"

#define THREADS		40
/* Maximum number of threads, including threads started by other threads. */
#define ACTORS		(2 * THREADS)
#define PHASES		3
#define STEPS		12
#define BUFFER		(8u << 20)

/* Defined here, because the kernel's signal.h conflicts with the C library's. */
#ifndef SS_AUTODISARM
#define SS_AUTODISARM	0x80000000u
#endif

/* A program's actions other than calls. Some actions exclude each other. */
enum {
	CLOSES		= 1 << 0,
	DUMPS		= 1 << 1,
	CHILDREN	= 1 << 2,
	SIGNALS		= 1 << 3,
	ALTERNATE_STACK	= 1 << 4,
	ENDS_OFF	= 1 << 5,	/* threads end while tracing is off */
	NESTED		= 1 << 6,
	CROWDED		= 1 << 7,	/* more threads than channels */
	DESTRUCTORS	= 1 << 8,	/* threads end with destructors that make calls */
	FORKING_HANDLERS = 1 << 9,
	TIMERS		= 1 << 10,
	CANCELS		= 1 << 11,
	STARTING_HANDLERS = 1 << 12,
	SWITCHES_OFF	= 1 << 13,	/* turns tracing off and on during other threads' calls */
	DISARMS		= 1 << 14,	/* disarms the alternate stack while a handler runs */
	ABILITIES	= 1 << 15,
};

/**
 * struct outcome - result of a program, in memory shared with the test
 * @made:	number of records, including records from handlers and vfork() children
 * @maybe:	number of records that may not have been written, because tracing was turned off or
 *		on during the call that writes them
 * @found:	number of records in the trace
 * @lost:	number of lost records that the library reports
 * @totals:	totals of the trace
 * @regular:	set if counters never decrease
 * @failed:	the step that failed, or ""
 */
struct outcome {
	uint64_t made, maybe, found;
	struct sifive_trace_report report;
	struct trace_totals totals;
	bool regular;
	char failed[256];
};

/* A thread of the program. */
struct actor {
	pthread_t thread;
	uint64_t random;
	bool nested;
	bool started;
	bool timed;
	timer_t timer;
};

static struct outcome *outcome;
static struct sifive_trace *trace;
static unsigned int abilities, cpus;
static struct actor actors[ACTORS];
static unsigned int nested_made;
static pthread_barrier_t last_call;
static pthread_key_t key;
static volatile unsigned int handled;

/*
 * Number of times that tracing was turned off or on: odd during a change, and a multiple of 4 while
 * it is on.
 */
static unsigned int switched;
static pthread_mutex_t switching = PTHREAD_MUTEX_INITIALIZER;

static void fail(const char *what)
{
	snprintf(outcome->failed, sizeof(outcome->failed), "%s: %s", what, sifive_trace_error());
	_exit(0);
}

static unsigned int before_calls(void)
{
	return __atomic_load_n(&switched, __ATOMIC_SEQ_CST);
}

/* Count the records written since before_calls() returned @before. */
static void made(unsigned int before, unsigned int calls, unsigned int exits)
{
	const bool throughout = before == before_calls();

	if (!throughout || before % 2)
		__atomic_fetch_add(&outcome->maybe, calls + exits, __ATOMIC_RELAXED);
	else if (!(before % 4))
		__atomic_fetch_add(&outcome->made, calls + exits, __ATOMIC_RELAXED);
}

/* After fork(): in the child, make calls, which are not recorded or counted; the parent waits. */
static void have_child(pid_t child)
{
	if (!child) {
		calls_loop(2);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* A destructor, which runs when a thread ends. */
static void destroy(void *unused)
{
	const unsigned int before = before_calls();

	calls_loop(0);
	made(before, 1, 1);
}

static void on_signal(int number)
{
	const unsigned int before = before_calls();
	const int error = errno;

	calls_handler(number);
	sifive_trace_write(trace);
	made(before, 3, 2);
	/*
	 * Do not fork for each signal, because that is slow. Use _Fork(), because fork() can wait
	 * for the interrupted code.
	 */
	if (abilities & FORKING_HANDLERS && ++handled % 4 == 0)
		have_child(_Fork());
	errno = error;
}

static unsigned int below(struct actor *self, unsigned int limit)
{
	return (unsigned int)(trace_random(&self->random) >> 11) % limit;
}

static void step_fib(struct actor *self)
{
	const unsigned int n = below(self, 7), calls = calls_of_fib(n), before = before_calls();

	calls_fib(n);
	made(before, calls, calls);
}

static void step_loop(struct actor *self)
{
	const unsigned int turns = below(self, 20), before = before_calls();

	calls_loop(turns);
	made(before, turns + 1, turns + 1);
}

static void step_write(struct actor *self)
{
	const unsigned int before = before_calls();

	sifive_trace_write(trace);
	made(before, 1, 0);
}

static void step_throw(struct actor *self)
{
	const unsigned int depth = 1 + below(self, 5), before = before_calls();

	calls_throw(depth);
	made(before, depth + 2, depth + 2);
}

static void step_jump(struct actor *self)
{
	const unsigned int depth = below(self, 5), before = before_calls();
	jmp_buf to;

	if (!setjmp(to))
		calls_jump(to, depth);
	made(before, 2 * depth + 1, 0);
}

static void step_move(struct actor *self)
{
	trace_pin((int)below(self, cpus));
}

static void step_raise(struct actor *self)
{
	const unsigned int before = before_calls();

	calls_raise(abilities & STARTING_HANDLERS && below(self, 2) ? SIGUSR2 : SIGUSR1);
	made(before, 1, 1);
}

static void step_signal(struct actor *self)
{
	const struct actor *other = &actors[below(self, THREADS)];

	/* Do not signal a nested thread: another thread may be waiting for its end. */
	if (abilities & SIGNALS && __atomic_load_n(&other->started, __ATOMIC_ACQUIRE) &&
	    !other->nested)
		pthread_kill(other->thread, SIGUSR1);
}

static void step_close(struct actor *self)
{
	const unsigned int how = below(self, 4);
	int file, number;

	if (!(abilities & CLOSES))
		return;
	file = how < 3 ? open("/dev/null", O_RDWR) : -1;
	if (how < 2)
		close_range(3, ~0u, 0);
	for (number = 3; how == 2 && number < 1024; number++)
		if (number != file && fcntl(number, F_GETFD) >= 0)
			dup2(file, number);
	if (how == 3)
		close(3 + (int)below(self, 1024));
}

static void step_dump(struct actor *self)
{
	if (abilities & DUMPS)
		sifive_trace_dump(trace, "/dev/null");
}

static char *const command[] = { "true", NULL };

static void spawn_child(void)
{
	pid_t child;

	if (!posix_spawn(&child, "/bin/true", NULL, NULL, command, NULL))
		have_child(child);
}

/* Run a child that makes calls in its parent's memory, then executes a program. */
static void execute_child(unsigned int before)
{
	pid_t child = vfork();

	if (!child) {
		calls_loop(1);
		execv("/bin/true", command);
		_exit(1);
	}
	have_child(child);
	made(before, 2, 2);
}

static void step_child(struct actor *self)
{
	const unsigned int how = below(self, 5), before = before_calls();

	if (!(abilities & CHILDREN))
		return;
	switch (how) {
	case 0:
		have_child(fork());
		break;
	case 1:
		have_child(_Fork());
		break;
	case 2:
		/* The child shares this process's memory, so its calls are counted here. */
		have_child(vfork());
		made(before, 3, 3);
		break;
	case 3:
		spawn_child();
		break;
	default:
		execute_child(before);
	}
}

/* Turn tracing off and on while other threads make calls. */
static void step_switch(struct actor *self)
{
	const unsigned int pause = below(self, 1000);

	if (!(abilities & SWITCHES_OFF))
		return;
	pthread_mutex_lock(&switching);
	__atomic_fetch_add(&switched, 1, __ATOMIC_SEQ_CST);
	if (sifive_trace_off(trace))
		fail("sifive_trace_off() while others call");
	__atomic_fetch_add(&switched, 1, __ATOMIC_SEQ_CST);
	usleep(pause);
	__atomic_fetch_add(&switched, 1, __ATOMIC_SEQ_CST);
	if (sifive_trace_on(trace))
		fail("sifive_trace_on() while others call");
	__atomic_fetch_add(&switched, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&switching);
}

static void step_sleep(struct actor *self)
{
	usleep(below(self, 3000));
}

/*
 * Set the timer for one signal at a time, because slow handlers would otherwise use all of the CPU
 * time.
 */
static void step_timer(struct actor *self)
{
	const struct itimerspec once = { .it_value.tv_nsec = 1 + 1000 * below(self, 2000) };

	if (self->timed)
		timer_settime(self->timer, 0, &once, NULL);
}

static void *act(void *actor);

/*
 * Start a thread with a small stack (see make_threads_cheap() in threads_test.c). Return NULL if
 * all actors are in use.
 */
static struct actor *start(struct actor *parent, unsigned int number, bool nested)
{
	struct actor *actor = &actors[number];
	pthread_attr_t attr;

	if (number >= ACTORS)
		return NULL;
	actor->random = trace_random(&parent->random) | 1;
	actor->nested = nested;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	pthread_attr_setguardsize(&attr, 0);
	if (pthread_create(&actor->thread, &attr, act, actor))
		return NULL;
	__atomic_store_n(&actor->started, true, __ATOMIC_RELEASE);
	return actor;
}

/* Called after the program has started its own threads. */
static struct actor *start_nested(struct actor *self)
{
	return start(self, THREADS + __atomic_fetch_add(&nested_made, 1, __ATOMIC_RELAXED), true);
}

static void step_thread(struct actor *self)
{
	struct actor *other = abilities & NESTED && !self->nested ? start_nested(self) : NULL;

	if (other)
		pthread_join(other->thread, NULL);
}

/* Library calls are not cancellation points, so each of them returns. */
static void *call_until_cancelled(void *unused)
{
	if (abilities & DESTRUCTORS)
		pthread_setspecific(key, &key);
	for (;; usleep(100)) {
		const unsigned int before = before_calls();

		calls_loop(2);
		made(before, 3, 3);
	}
	return NULL;
}

static void step_cancel(struct actor *self)
{
	const unsigned int pause = below(self, 2000);
	pthread_attr_t attr;
	pthread_t other;

	if (!(abilities & CANCELS))
		return;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	if (pthread_create(&other, &attr, call_until_cancelled, NULL))
		return;
	usleep(pause);
	pthread_cancel(other);
	pthread_join(other, NULL);
}

/* Handler of the signal that is raised only while the thread holds no lock. */
static void on_raise(int number)
{
	struct actor self = { .random = (uintptr_t)&self | 1, .nested = true };
	const unsigned int before = before_calls();
	struct actor *other;

	calls_handler(number);
	other = start_nested(&self);
	if (other)
		pthread_join(other->thread, NULL);
	made(before, 2, 2);
}

static void (*const step[])(struct actor *self) = {
	step_fib, step_loop, step_write, step_throw, step_jump, step_move, step_raise,
	step_signal, step_signal, step_close, step_dump, step_child, step_sleep,
	step_thread, step_cancel, step_switch, step_timer, step_timer,
};

static void take_steps(struct actor *self)
{
	unsigned int steps = below(self, STEPS);

	while (steps--)
		step[below(self, ARRAY_SIZE(step))](self);
}

/* Create a timer that signals the calling thread. */
static void make_timer(struct actor *self)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1,
		._sigev_un._tid = gettid(),
	};

	self->timed = abilities & TIMERS && !timer_create(CLOCK_MONOTONIC, &event, &self->timer);
}

static void *act(void *actor)
{
	struct actor *self = actor;
	stack_t stack = { .ss_size = 32 * 1024 };

	if (abilities & ALTERNATE_STACK) {
		stack.ss_sp = malloc(stack.ss_size);
		stack.ss_flags = abilities & DISARMS ? (int)SS_AUTODISARM : 0;
		sigaltstack(&stack, NULL);
	}
	if (abilities & DESTRUCTORS)
		pthread_setspecific(key, self);
	make_timer(self);
	take_steps(self);
	if (self->timed)
		timer_delete(self->timer);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
	if (!self->nested)
		pthread_barrier_wait(&last_call);
	if (below(self, 2))
		pthread_exit(NULL);
	return NULL;
}

/* Return NULL, or the name of the call that failed. */
static const char *set_up(struct actor *self)
{
	static const char *const events[] = {
		NULL, "cycles", "cycles,instructions", "instructions,dTLB-load-misses",
		"cycles,instructions,dTLB-load-misses",
	};
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	static const unsigned int flags[] = {
		SIFIVE_TRACE_PER_CPU, SIFIVE_TRACE_POLL, SIFIVE_TRACE_HEADER_ONCE,
	};
	unsigned int i;

	options.events = events[below(self, ARRAY_SIZE(events))];
	options.count_type = below(self, 3);
	options.channel = below(self, 16);
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		options.flags |= below(self, 4) ? 0 : flags[i];
	/* With per-thread counts, several threads can share a header. */
	outcome->regular = !options.events || options.flags & SIFIVE_TRACE_PER_CPU ||
			   !(options.flags & SIFIVE_TRACE_HEADER_ONCE);
	trace = sifive_trace_open();
	if (!trace)
		return "sifive_trace_open()";
	/*
	 * Use a smaller buffer if necessary, because several sinks may have to share the available
	 * memory.
	 */
	for (options.buffer = BUFFER; sifive_trace_setup(trace, &options);
	     options.buffer /= 2)
		if (options.buffer < 1 << 20)
			return "sifive_trace_setup()";
	return NULL;
}

/* Run threads concurrently; tracing can be off when they end. */
static const char *run_phase(struct actor *self, bool pause)
{
	unsigned int i, threads = below(self, abilities & CROWDED ? THREADS : THREADS / PHASES);
	const char *failed = NULL;

	pthread_barrier_init(&last_call, NULL, threads + 1);
	memset(actors, 0, sizeof(actors));
	nested_made = 0;
	for (i = 0; i < threads; i++)
		if (!start(self, i, false))
			return "pthread_create()";
	take_steps(self);
	pthread_barrier_wait(&last_call);
	if (pause && sifive_trace_off(trace))
		failed = "sifive_trace_off()";
	for (i = 0; i < ACTORS; i++)
		if (actors[i].started && !actors[i].nested)
			pthread_join(actors[i].thread, NULL);
	if (!failed && pause) {
		calls_loop(3);
		if (sifive_trace_on(trace))
			failed = "sifive_trace_on()";
	}
	return failed;
}

static void take(const struct trace_record *record, void *unused)
{
	outcome->found++;
}

static const char *look(void)
{
	int fd;

	outcome->report.size = sizeof(outcome->report);
	if (sifive_trace_off(trace))
		return "sifive_trace_off()";
	if (sifive_trace_status(trace, &outcome->report))
		return "sifive_trace_status()";
	fd = trace_open(O_RDWR);
	if (fd < 0 || trace_records(fd, &outcome->totals, take, NULL))
		return "reading the trace";
	return NULL;
}

static const char *run_program(uint64_t seed)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sigaction raised = { .sa_handler = on_raise };
	struct actor self = { .random = seed * 0x9e3779b97f4a7c15ull | 1 };
	const char *failed;
	unsigned int i;

	abilities = below(&self, ABILITIES);
	/* Closing all descriptors would close a dump's output file, or the device in use. */
	if (abilities & CLOSES)
		abilities &= ~(unsigned int)(DUMPS | SWITCHES_OFF);
	if (abilities & ALTERNATE_STACK)
		action.sa_flags = SA_ONSTACK;
	/* A late signal's handler, or a destructor, would make calls while tracing is off. */
	if (abilities & ENDS_OFF)
		abilities &= ~(unsigned int)(SIGNALS | DESTRUCTORS | SWITCHES_OFF);
	if (pthread_key_create(&key, destroy))
		return "pthread_key_create()";
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &raised, NULL);
	failed = set_up(&self);
	if (!failed && sifive_trace_on(trace))
		failed = "sifive_trace_on()";
	for (i = 0; !failed && i < PHASES; i++)
		failed = run_phase(&self, abilities & ENDS_OFF);
	return failed ? failed : look();
}

/* Run one program from start to end. */
static void run_to_end(uint64_t seed)
{
	const char *failed;

	alarm(600);
	failed = run_program(seed);
	if (failed)
		fail(failed);
	_exit(0);
}

static void check(struct __test_metadata *_metadata, uint64_t seed, int status)
{
	const struct sifive_trace_report *r = &outcome->report;
	const uint64_t all = outcome->found + r->lost_signals + r->lost_threads +
			     r->lost_abandoned;
	/*
	 * An abandoned record may have been completed after all. It then counts both as recorded
	 * and as lost.
	 */
	const bool fine = !status && !*outcome->failed && !outcome->totals.bad &&
		outcome->totals.breaks + outcome->totals.unfinished <= r->lost_abandoned &&
		(!outcome->totals.backwards || !outcome->regular) &&
		!(r->flags & SIFIVE_TRACE_FULL) && all >= outcome->made &&
		all <= outcome->made + outcome->maybe + r->lost_abandoned;

	EXPECT_TRUE(fine) {
		TH_LOG("TRACE_SEED=%llu: status %x, flags %x %s", (unsigned long long)seed,
		       status, r->flags, outcome->failed);
		TH_LOG("made %llu (+%llu), found %llu; signals %llu, threads %llu, abandoned %llu",
		       (unsigned long long)outcome->made,
		       (unsigned long long)outcome->maybe,
		       (unsigned long long)outcome->found,
		       (unsigned long long)r->lost_signals,
		       (unsigned long long)r->lost_threads,
		       (unsigned long long)r->lost_abandoned);
		TH_LOG("%llu bad messages, %llu unfinished records, %llu marks, %llu lower counts",
		       (unsigned long long)outcome->totals.bad,
		       (unsigned long long)outcome->totals.unfinished,
		       (unsigned long long)outcome->totals.breaks,
		       (unsigned long long)outcome->totals.backwards);
	}
}

FIXTURE(programs) {
	int fd;
};

FIXTURE_SETUP(programs)
{
	struct sifive_trace_info info;

	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, outcome);
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &info));
	if (!(info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SBA)))
		SKIP(return, "this board has no SBA sink");
}

FIXTURE_TEARDOWN(programs)
{
	close(self->fd);
	munmap(outcome, sizeof(*outcome));
}

TEST_F_TIMEOUT(programs, each_record_is_traced_or_reported_lost, 36000)
{
	const uint64_t first = trace_setting("TRACE_SEED", (uint64_t)getpid() << 32 | 1);
	const uint64_t count = trace_setting("TRACE_PROGRAMS", 50);
	uint64_t all = 0, lost = 0, seed;
	pid_t child;
	int status;

	TH_LOG("TRACE_SEED=%llu", (unsigned long long)first);
	for (seed = first; seed - first < count; seed++) {
		memset(outcome, 0, sizeof(*outcome));
		child = fork();
		ASSERT_LE(0, child);
		if (!child)
			run_to_end(seed);
		ASSERT_EQ(child, waitpid(child, &status, 0));
		check(_metadata, seed, status);
		all += outcome->made;
		lost += outcome->made - outcome->found;
		if ((seed - first) % 100 == 99)
			TH_LOG("%llu programs", (unsigned long long)(seed - first + 1));
	}
	TH_LOG("%llu programs, %llu records, %llu of them lost",
	       (unsigned long long)count, (unsigned long long)all,
	       (unsigned long long)lost);
	EXPECT_LT(0, all);
}

TEST_HARNESS_MAIN

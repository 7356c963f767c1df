// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that with SIFIVE_TRACE_START_ON_EXEC, the process that calls START is not recorded before
 * its execve(), and that the executed program is recorded. Samples taken during execve() must not
 * contain addresses of the program that called execve().
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_records.h"

#define BUFFER	4194304

/* Number of times that the process sleeps; after each sleep, its thread is switched in. */
#define SLEEPS	20

/* Argument that makes the executed program only work and sleep. */
#define WORK_ALONE	"work-alone"

/* Argument that makes the executed program write its mappings to standard output. */
#define SHOW_MAPS	"show-maps"

/* Address of the code that calls execve() for SHOW_MAPS; not mapped in the executed program. */
#define ELSEWHERE	0x30000000

/* Maximum number of attempts to sample the kernel during execve(). */
#define CAPTURES	50

/* Maximum number of mappings of a program that does nothing. */
#define MAPPINGS	64

static void sleep_often(void)
{
	unsigned int i;

	for (i = 0; i < SLEEPS; i++)
		usleep(1000);
}

__attribute__((constructor)) static void work_alone(int argc, char **argv)
{
	if (argc != 2 || strcmp(argv[1], WORK_ALONE))
		return;
	trace_work(trace_spin, 500);
	sleep_often();
	_exit(0);
}

__attribute__((constructor)) static void show_maps(int argc, char **argv)
{
	char text[4096];
	ssize_t bytes;
	int maps;

	if (argc != 2 || strcmp(argv[1], SHOW_MAPS))
		return;
	maps = open("/proc/self/maps", O_RDONLY);
	do {
		bytes = read(maps, text, sizeof(text));
	} while (bytes > 0 && write(STDOUT_FILENO, text, bytes) == bytes);
	_exit(bytes ? 1 : 0);
}

static void execute(void)
{
	execl("/proc/self/exe", "exec_test", WORK_ALONE, (char *)NULL);
	_exit(1);
}

/**
 * struct seen - numbers of records in the capture
 * @samples:	number of samples
 * @parts:	number of times that the driver has begun to trace a thread's instructions
 */
struct seen {
	uint64_t samples;
	uint64_t parts;
};

FIXTURE(exec) {
	struct trace_session s;
	int seen[2];
	struct seen before, after;
};

FIXTURE_SETUP(exec)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);

	trace_sample_freely();
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_NE(0, self->s.info.instruction_modes);
	self->s.instruction.mode = __builtin_ctz(self->s.info.instruction_modes);
	self->s.instruction.sync_branches = 5;
	self->s.instruction.sync_bytes = SIFIVE_TRACE_INSTRUCTION_NO_SYNC;
	self->s.instruction.timestamps = 3;
	self->s.instruction.flags = SIFIVE_TRACE_INSTRUCTION_CHILDREN;
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER,
					  SIFIVE_TRACE_CONFIG_RING));
	counters.count = 1;
	counters.event[0].code = 1;
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	sampling.channel = trace_register(&self->s.encoder, TRACE_CHANNEL);
	sampling.interval = 1000000;
	sampling.flags = SIFIVE_TRACE_SAMPLING_EXEC;
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
	ASSERT_EQ(0, pipe2(self->seen, O_CLOEXEC));
}

FIXTURE_TEARDOWN(exec)
{
	close(self->seen[0]);
	close(self->seen[1]);
	trace_session_close(&self->s);
}

static int look(struct _test_data_exec *self, struct seen *seen)
{
	struct sifive_trace_status status;
	int ret = trace_status(self->s.fd, &status);

	*seen = (struct seen){ status.samples, status.instruction.parts };
	return ret;
}

/* Run in a child: call START, sleep and work, and report the number of records up to that point. */
static void begin(struct _test_data_exec *self, uint32_t flags)
{
	struct seen seen;

	if (trace_start(self->s.fd, flags))
		_exit(2);
	sleep_often();
	trace_work_sampled(self->s.fd, trace_spin, 100,
			   flags & SIFIVE_TRACE_START_ON_EXEC ? 0 : 1);
	if (look(self, &seen) || write(self->seen[1], &seen, sizeof(seen)) != sizeof(seen))
		_exit(3);
}

/* Wait for the child, then set @before to the child's report, and @after to the total. */
#define COLLECT(child) collect(_metadata, self, child)
static void collect(struct __test_metadata *_metadata, struct _test_data_exec *self,
		    pid_t child)
{
	ASSERT_LT(0, child);
	ASSERT_EQ(0, trace_wait(child));
	ASSERT_EQ(sizeof(self->before),
		  read(self->seen[0], &self->before, sizeof(self->before)));
	ASSERT_EQ(0, look(self, &self->after));
	ASSERT_EQ(0, trace_stop(self->s.fd));
}

TEST_F(exec, recording_begins_at_start_without_flag)
{
	pid_t child = fork();

	if (!child) {
		begin(self, 0);
		execute();
	}
	COLLECT(child);
	EXPECT_LT(0, self->before.samples);
	EXPECT_LE(SLEEPS / 2, self->before.parts);
	EXPECT_LT(self->before.samples, self->after.samples);
	EXPECT_LE(self->before.parts + SLEEPS / 2, self->after.parts);
}

TEST_F(exec, recording_begins_at_execve_with_flag)
{
	pid_t child = fork();

	if (!child) {
		begin(self, SIFIVE_TRACE_START_ON_EXEC);
		execute();
	}
	COLLECT(child);
	EXPECT_EQ(0, self->before.samples);
	EXPECT_EQ(0, self->before.parts);
	EXPECT_LT(0, self->after.samples);
	EXPECT_LE(SLEEPS / 2, self->after.parts);
}

static void *execute_here(void *unused)
{
	execute();
	return NULL;
}

/* The thread that calls execve() is not the thread that called START. */
TEST_F(exec, any_thread_can_call_execve)
{
	pid_t child = fork();
	pthread_t other;

	if (!child) {
		begin(self, SIFIVE_TRACE_START_ON_EXEC);
		if (!pthread_create(&other, NULL, execute_here, NULL))
			pthread_join(other, NULL);
		_exit(4);
	}
	COLLECT(child);
	EXPECT_EQ(0, self->before.samples);
	EXPECT_EQ(0, self->before.parts);
	EXPECT_LT(0, self->after.samples);
	EXPECT_LE(SLEEPS / 2, self->after.parts);
}

TEST_F(exec, execve_of_child_does_not_begin_recording)
{
	pid_t child = fork(), grandchild;

	if (!child) {
		begin(self, SIFIVE_TRACE_START_ON_EXEC);
		grandchild = fork();
		if (!grandchild)
			execute();
		sleep_often();
		_exit(trace_wait(grandchild));
	}
	COLLECT(child);
	EXPECT_EQ(0, self->after.samples);
	EXPECT_EQ(0, self->after.parts);
}

/* The capture is paused and resumed before the program runs. */
TEST_F(exec, pause_does_not_begin_recording)
{
	pid_t child = fork();

	if (!child) {
		if (trace_start(self->s.fd, SIFIVE_TRACE_START_ON_EXEC) ||
		    trace_pause(self->s.fd) || trace_unpause(self->s.fd))
			_exit(5);
		begin(self, SIFIVE_TRACE_START_ON_EXEC);
		execute();
	}
	COLLECT(child);
	EXPECT_EQ(0, self->before.samples);
	EXPECT_EQ(0, self->before.parts);
	EXPECT_LT(0, self->after.samples);
	EXPECT_LE(SLEEPS / 2, self->after.parts);
}

/* The next START does not wait for an execve(). */
TEST_F(exec, flag_applies_to_one_start)
{
	pid_t child = fork();

	if (!child) {
		if (trace_start(self->s.fd, SIFIVE_TRACE_START_ON_EXEC) ||
		    trace_stop(self->s.fd))
			_exit(5);
		begin(self, 0);
		_exit(0);
	}
	COLLECT(child);
	EXPECT_LT(0, self->before.samples);
	EXPECT_LE(SLEEPS / 2, self->before.parts);
}

/**
 * struct program - samples of an executed program
 * @mapping:	address ranges mapped when the program ends, from [0] to [1]
 * @mappings:	number of mappings
 * @samples:	number of samples in user mode
 * @kernel:	number of samples in the kernel
 * @during:	number of samples in the kernel without a user-mode address
 * @outside:	number of samples whose address in user mode is not in a mapping
 */
struct program {
	unsigned long mapping[MAPPINGS][2];
	unsigned int mappings, samples, kernel, during, outside;
};

static bool is_kernel(uint64_t address)
{
	return address >> 63;
}

static bool is_outside(const struct program *program, uint64_t address)
{
	unsigned int i;

	for (i = 0; i < program->mappings; i++)
		if (program->mapping[i][0] <= address && address < program->mapping[i][1])
			return false;
	return true;
}

/* A sample's kernel addresses precede the address at which the thread left user mode. */
static void see(const struct trace_record *record, void *arg)
{
	struct program *program = arg;
	unsigned int i = 0;

	if (record->kind != TRACE_ISR)
		return;
	if (!is_kernel(record->address[0])) {
		program->samples++;
		program->outside += is_outside(program, record->address[0]);
		return;
	}
	program->kernel++;
	while (i < record->callers && (i < 1 || is_kernel(record->caller[i])))
		i++;
	if (i == record->callers)
		program->during++;
	else
		program->outside += is_outside(program, record->caller[i]);
}

/* Instructions of execve(): li a7, 221; ecall */
static const uint32_t copied_execve[] = { 0x0dd00893, 0x00000073 };

static void execute_elsewhere(void)
{
	const char *const argv[] = { "exec_test", SHOW_MAPS, NULL };
	char *code = mmap((void *)ELSEWHERE, sysconf(_SC_PAGESIZE),
			  PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (code == MAP_FAILED)
		_exit(3);
	memcpy(code, copied_execve, sizeof(copied_execve));
	__builtin___clear_cache(code, code + sizeof(copied_execve));
	((void (*)(const char *, const char *const *, char **))code)("/proc/self/exe", argv, NULL);
	_exit(1);
}

/* Capture a program, starting at its execve(). */
static int capture_program(struct _test_data_exec *self, struct program *program)
{
	struct trace_totals totals;
	int maps[2], ret;
	FILE *file;
	pid_t child;

	*program = (struct program){};
	if (pipe2(maps, O_CLOEXEC))
		return -errno;
	child = fork();
	if (!child) {
		if (dup2(maps[1], STDOUT_FILENO) < 0 ||
		    trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND | SIFIVE_TRACE_START_ON_EXEC))
			_exit(2);
		execute_elsewhere();
	}
	close(maps[1]);
	file = fdopen(maps[0], "r");
	while (program->mappings < MAPPINGS &&
	       fscanf(file, "%lx-%lx%*[^\n]", &program->mapping[program->mappings][0],
		      &program->mapping[program->mappings][1]) == 2)
		program->mappings++;
	fclose(file);
	ret = trace_wait(child);
	if (!ret)
		ret = trace_stop(self->s.fd);
	if (!ret)
		ret = trace_records(self->s.fd, &totals, see, program);
	return ret ?: trace_is_whole(&totals) ? 0 : -EBADMSG;
}

/* Until execve() ends, the saved registers are the calling program's. */
static void sample_program(struct __test_metadata *_metadata, struct _test_data_exec *self,
			   uint32_t flags)
{
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	const bool kernel = flags & SIFIVE_TRACE_SAMPLING_KERNEL;
	const unsigned int least = (unsigned int)trace_repeat(CAPTURES / 10);
	unsigned int i, samples = 0, in_kernel = 0, during = 0;
	struct program program;

	memset(&self->s.instruction, 0, sizeof(self->s.instruction));
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	counters.count = 1;
	counters.event[0].code = 1;
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	sampling.channel = trace_register(&self->s.encoder, TRACE_CHANNEL);
	sampling.interval = 100000;
	sampling.flags = flags | SIFIVE_TRACE_SAMPLING_EXEC;
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
	/* On a busy machine, a capture can end before the program is sampled. */
	for (i = 0; i < CAPTURES && !(samples && (kernel ? during : i >= least)); i++) {
		ASSERT_EQ(0, capture_program(self, &program));
		EXPECT_LT(1, program.mappings);
		EXPECT_EQ(0, program.outside);
		samples += program.samples;
		in_kernel += program.kernel;
		during += program.during;
	}
	printf("# %u captures: %u samples in user mode, %u in the kernel, %u in execve()\n",
	       i, samples, in_kernel, during);
	EXPECT_LT(0, samples);
	EXPECT_EQ(kernel, !!in_kernel);
	EXPECT_EQ(kernel, !!during);
}

TEST_F(exec, samples_during_execve_are_omitted)
{
	sample_program(_metadata, self, 0);
}

TEST_F(exec, kernel_samples_during_execve_have_no_user_part)
{
	sample_program(_metadata, self,
		       SIFIVE_TRACE_SAMPLING_KERNEL | SIFIVE_TRACE_SAMPLING_CALLERS);
}

TEST_F(exec, unknown_flags_are_refused)
{
	EXPECT_EQ(-EINVAL, trace_start(self->s.fd, SIFIVE_TRACE_START_ON_EXEC << 1));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "unknown flags 0x4"));
}

TRACE_HARNESS_MAIN

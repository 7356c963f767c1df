// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that samples include the registers of the sampled code, and as much of its stack as was
 * requested and can be read. A sample with a bad stack pointer must lack only its stack. Samples in
 * the kernel must begin with kernel addresses if these were requested.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_records.h"

#define CHANNEL		5
#define BUFFER		1048576

/* Maximum number of attempts to capture samples: on a loaded host, a capture has few or none. */
#define CAPTURES	50
#define TURNS		3000000
#define CALLS		3000

/* Indices in a sample's stack. */
#define PC		0
#define SP		2
#define T0		3
#define S2		6
#define S11		15
#define WORDS		SIFIVE_TRACE_STACK_REGISTERS

#define T0_VALUE	0x123
#define S2_VALUE	-2l
#define S11_VALUE	0x7ff

/* Spin with @sp as the stack pointer. */
static __attribute__((noinline, noclone, aligned(256))) void spin(unsigned long sp)
{
	unsigned long turns = TURNS;

	asm volatile("mv	t1, sp\n"
		     "mv	sp, %1\n"
		     "li	t0, %2\n"
		     "li	s2, %3\n"
		     "li	s11, %4\n"
		     "1: addi	%0, %0, -1\n"
		     "bnez	%0, 1b\n"
		     "mv	sp, t1\n"
		     : "+r" (turns)
		     : "r" (sp), "i" (T0_VALUE), "i" (S2_VALUE), "i" (S11_VALUE)
		     : "t0", "t1", "s2", "s11", "memory");
}

FIXTURE(stacks) {
	struct trace_session s;
	struct sifive_trace_sampling sampling;
	/* Two pages, the second of which cannot be read. */
	uint64_t *page;
	size_t size;
	/* Number of samples in spin(), number of wrong samples, and the latest sample. */
	unsigned int samples, wrong;
	unsigned long sp;
	struct trace_record latest;
};

FIXTURE_SETUP(stacks)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	size_t i;

	trace_sample_freely();
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	self->sampling = TRACE_ARG(sifive_trace_sampling);
	self->sampling.channel = trace_register(&self->s.encoder, CHANNEL);
	self->sampling.interval = 1000000;
	self->size = (size_t)sysconf(_SC_PAGESIZE);
	self->page = mmap(NULL, 2 * self->size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->page);
	ASSERT_EQ(0, mprotect((char *)self->page + self->size, self->size, PROT_NONE));
	/* Fill the page with values that are 0, 16, 32, 48 and 64 bits wide. */
	for (i = 0; i < self->size / 8; i++)
		self->page[i] = i % 5 ? (0xfedcba9876543210ull + i) >> (64 - 16 * (i % 5)) : 0;
}

FIXTURE_TEARDOWN(stacks)
{
	munmap(self->page, 2 * self->size);
	trace_session_close(&self->s);
}

static bool in_spin(uint64_t address)
{
	return address - (uintptr_t)spin < 256;
}

static void keep(const struct trace_record *record, void *arg)
{
	struct _test_data_stacks *self = arg;
	const uint64_t *stack = record->stack;
	unsigned int i;

	/* Ignore samples before and after the loop. */
	if (record->kind != TRACE_ISR || !in_spin(record->address[0]) ||
	    record->values < WORDS || stack[SP] != self->sp || stack[S11] != S11_VALUE)
		return;
	self->samples++;
	self->latest = *record;
	self->wrong += record->callers || stack[PC] != record->address[0] ||
		       stack[T0] != T0_VALUE || stack[S2] != (unsigned long)S2_VALUE;
	for (i = WORDS; i < record->values && i < TRACE_STACK_VALUES; i++)
		self->wrong += stack[i] != ((uint64_t *)(self->sp & ~7ul))[i - WORDS];
}

/* Repeat captures until there are samples with this stack pointer. */
static int capture(struct _test_data_stacks *self, const void *sp, unsigned int bytes)
{
	struct trace_totals totals;
	unsigned int i;
	int ret;

	self->sp = (unsigned long)sp;
	self->samples = 0;
	self->wrong = 0;
	self->sampling.flags &= SIFIVE_TRACE_SAMPLING_HEADERS;
	self->sampling.flags |= SIFIVE_TRACE_SAMPLING_STACK(bytes);
	ret = trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &self->sampling);
	for (i = 0; !ret && i < CAPTURES && !self->samples; i++) {
		ret = trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND);
		if (ret)
			break;
		spin(self->sp);
		ret = trace_stop(self->s.fd) ?:
		      trace_records(self->s.fd, &totals, keep, self);
		if (!ret && !trace_is_whole(&totals))
			ret = -EBADMSG;
	}
	printf("# %u captures; samples: %u, %u wrong, the latest has %u values\n", i, self->samples,
	       self->wrong, self->latest.values);
	return ret;
}

TEST_F(stacks, samples_have_registers_and_stack)
{
	ASSERT_EQ(0, capture(self, self->page, 256));
	ASSERT_LT(0, self->samples);
	EXPECT_EQ(0, self->wrong);
	EXPECT_EQ(WORDS + 256 / 8, self->latest.values);
}

TEST_F(stacks, smallest_stack_is_eight_bytes)
{
	ASSERT_EQ(0, capture(self, self->page, 8));
	ASSERT_LT(0, self->samples);
	EXPECT_EQ(0, self->wrong);
	EXPECT_EQ(WORDS + 1, self->latest.values);
}

TEST_F(stacks, unaligned_stack_pointer_is_rounded_down)
{
	ASSERT_EQ(0, capture(self, (char *)self->page + 13, 64));
	ASSERT_LT(0, self->samples);
	EXPECT_EQ(0, self->wrong);
	EXPECT_EQ(WORDS + 64 / 8, self->latest.values);
}

TEST_F(stacks, copy_ends_at_unreadable_memory)
{
	unsigned int left;

	for (left = 0; left <= 136; left += 8) {
		ASSERT_EQ(0, capture(self, (char *)self->page + self->size - left, 1024));
		ASSERT_LT(0, self->samples);
		EXPECT_EQ(0, self->wrong);
		EXPECT_EQ(WORDS + left / 8, self->latest.values);
	}
}

TEST_F(stacks, invalid_stack_pointer_copies_nothing)
{
	const void *pointers[] = { NULL, (void *)8, (void *)-8, (void *)(1ul << 63) };
	unsigned int i;

	for (i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
		ASSERT_EQ(0, capture(self, pointers[i], SIFIVE_TRACE_STACK_MAX));
		ASSERT_LT(0, self->samples);
		EXPECT_EQ(0, self->wrong);
		EXPECT_EQ(WORDS, self->latest.values);
	}
}

TEST_F(stacks, recorded_with_all_count_types)
{
	for (self->sampling.count_type = SIFIVE_TRACE_SAMPLING_RAW;
	     self->sampling.count_type <= SIFIVE_TRACE_SAMPLING_XOR; self->sampling.count_type++) {
		ASSERT_EQ(0, capture(self, self->page, 256));
		ASSERT_LT(0, self->samples);
		EXPECT_EQ(0, self->wrong);
	}
}

TEST_F(stacks, periodic_headers_precede_stacks)
{
	unsigned int i;

	self->sampling.count_type = SIFIVE_TRACE_SAMPLING_XOR;
	self->sampling.flags = SIFIVE_TRACE_SAMPLING_HEADERS;
	self->sampling.interval = 100000;
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, capture(self, self->page, 64));
		EXPECT_EQ(0, self->wrong);
	}
}

/* Spend most of the time in a system call. */
static __attribute__((noinline, noclone, aligned(256))) void enter(unsigned long page)
{
	register long a0 asm("a0") = open("/dev/zero", O_RDONLY | O_CLOEXEC), fd = a0;
	register unsigned long a1 asm("a1") = page, a2 asm("a2") = 4096;
	register long a7 asm("a7") = SYS_read;
	unsigned int i;

	for (i = 0; i < CALLS; i++) {
		a0 = fd;
		asm volatile("ecall" : "+r" (a0) : "r" (a1), "r" (a2), "r" (a7) : "memory");
	}
	close((int)fd);
}

static bool in_kernel(uint64_t address)
{
	return address >> 63;
}

/* Samples in the kernel must have kernel addresses, followed by a user-mode address. */
struct kernel {
	unsigned int samples, others, wrong, most;
	bool stack;
};

static void keep_kernel(const struct trace_record *record, void *arg)
{
	struct kernel *kernel = arg;
	unsigned int i = 0;
	uint64_t from;

	if (record->kind != TRACE_ISR)
		return;
	if (!in_kernel(record->address[0])) {
		kernel->others++;
		kernel->wrong += record->callers && in_kernel(record->caller[0]);
		return;
	}
	while (i < record->callers && (i < 1 || in_kernel(record->caller[i])))
		i++;
	if (kernel->most < i)
		kernel->most = i;
	if (kernel->stack)
		from = record->values ? record->stack[PC] : 0;
	else
		from = i < record->callers ? record->caller[i] : 0;
	kernel->samples += from - (uintptr_t)enter < 256;
	kernel->wrong += !from || in_kernel(from) || (kernel->stack && i < record->callers);
}

static int capture_kernel(struct _test_data_stacks *self, uint32_t flags, struct kernel *kernel)
{
	struct trace_totals totals;
	unsigned int i;
	int ret;

	*kernel = (struct kernel){ .stack = !(flags & SIFIVE_TRACE_SAMPLING_CALLERS) };
	self->sampling.flags = flags;
	ret = trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &self->sampling);
	for (i = 0; !ret && i < CAPTURES && !kernel->samples &&
	     (flags & SIFIVE_TRACE_SAMPLING_KERNEL || !kernel->others); i++) {
		ret = trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND);
		if (ret)
			break;
		enter((unsigned long)self->page);
		ret = trace_stop(self->s.fd) ?:
		      trace_records(self->s.fd, &totals, keep_kernel, kernel);
		if (!ret && !trace_is_whole(&totals))
			ret = -EBADMSG;
	}
	printf("# %u captures; samples: %u kernel, %u elsewhere, %u wrong; up to %u callers\n",
	       i, kernel->samples, kernel->others, kernel->wrong, kernel->most);
	return ret;
}

TEST_F(stacks, kernel_samples_begin_in_kernel)
{
	struct kernel kernel;

	ASSERT_EQ(0, capture_kernel(self, SIFIVE_TRACE_SAMPLING_KERNEL |
				    SIFIVE_TRACE_SAMPLING_STACK(64), &kernel));
	if (!(self->sampling.flags & SIFIVE_TRACE_SAMPLING_KERNEL))
		SKIP(return, "the kernel is locked down");
	EXPECT_LT(0, kernel.samples);
	EXPECT_EQ(0, kernel.wrong);
	EXPECT_LT(0, kernel.most);
	ASSERT_EQ(0, capture_kernel(self, SIFIVE_TRACE_SAMPLING_KERNEL |
				    SIFIVE_TRACE_SAMPLING_CALLERS, &kernel));
	EXPECT_LT(0, kernel.samples);
	EXPECT_EQ(0, kernel.wrong);
}

TEST_F(stacks, kernel_addresses_are_recorded_only_on_request)
{
	struct kernel kernel;

	ASSERT_EQ(0, capture_kernel(self, SIFIVE_TRACE_SAMPLING_STACK(64), &kernel));
	EXPECT_EQ(0, kernel.samples);
	EXPECT_LT(0, kernel.others);
	EXPECT_EQ(0, kernel.most);
	self->sampling.flags = SIFIVE_TRACE_SAMPLING_KERNEL;
	EXPECT_EQ(-EINVAL, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &self->sampling));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "kernel callers are recorded only"));
}

TEST_F(stacks, reading_kernel_addresses_needs_permission)
{
	struct kernel kernel;

	ASSERT_EQ(0, capture_kernel(self, SIFIVE_TRACE_SAMPLING_STACK(64), &kernel));
	EXPECT_EQ(0, trace_read_unprivileged());
	ASSERT_EQ(0, capture_kernel(self, SIFIVE_TRACE_SAMPLING_KERNEL |
				    SIFIVE_TRACE_SAMPLING_STACK(64), &kernel));
	EXPECT_EQ(EPERM, trace_read_unprivileged());
}

TEST_F(stacks, reading_stacks_of_all_processes_needs_permission)
{
	struct kernel kernel;

	ASSERT_EQ(0, capture_kernel(self, SIFIVE_TRACE_SAMPLING_ALL |
				    SIFIVE_TRACE_SAMPLING_STACK(64), &kernel));
	EXPECT_EQ(EPERM, trace_read_unprivileged());
}

TEST_F(stacks, reading_stacks_of_named_processes_needs_permission)
{
	struct sifive_trace_start start = TRACE_ARG(sifive_trace_start);
	int32_t process = getpid();

	/*
	 * Any word of a stack can look like the address of a caller, so reading stacks needs the
	 * same permission as reading addresses.
	 */
	const struct {
		uint32_t flags;
		int error;
	} tries[] = {
		{ 0, 0 },
		{ SIFIVE_TRACE_SAMPLING_CALLERS, EPERM },
		{ SIFIVE_TRACE_SAMPLING_STACK(64), EPERM },
	};
	unsigned int i;

	start.flags = SIFIVE_TRACE_START_REWIND;
	start.processes = (uintptr_t)&process;
	start.count = 1;
	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		self->sampling.flags = tries[i].flags;
		ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &self->sampling));
		ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_START, &start));
		ASSERT_EQ(0, trace_stop(self->s.fd));
		EXPECT_EQ(tries[i].error, trace_read_unprivileged());
	}
}

TEST_F(stacks, invalid_sizes_are_refused)
{
	const unsigned int sizes[] = { 1, 4, 12, SIFIVE_TRACE_STACK_MAX + 8, 0xffff };
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		self->sampling.flags = SIFIVE_TRACE_SAMPLING_STACK(sizes[i]);
		EXPECT_EQ(-EINVAL, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING,
					       &self->sampling));
		EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "bytes of stack"));
	}
	self->sampling.flags = SIFIVE_TRACE_SAMPLING_STACK(64) | SIFIVE_TRACE_SAMPLING_CALLERS;
	EXPECT_EQ(-EINVAL, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &self->sampling));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "callers or a stack, not both"));
}

TRACE_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that no sequence of calls, with any arguments in any memory, returns an
 * unexpected errno, writes outside its argument, rejects good memory, or leaves
 * the device unusable.
 *
 * TRACE_SEED: seed for the random number generator, printed so that a run can be repeated.
 *
 * TRACE_SECONDS: duration (default 5).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

#define CALLS		8
#define FDS		3
#define GUARD		0xa5
#define PAGE		4096

/* Kinds of memory for an argument. From ARG_READONLY on, the memory is bad. */
enum where {
	ARG_PLAIN,
	ARG_PAGE_END,	/* one more byte would fault */
	ARG_MISALIGNED,
	ARG_READONLY,
	ARG_HALF,	/* the page ends inside the argument */
	ARG_UNMAPPED,
	ARG_WHERES,
};

FIXTURE(fuzz) {
	uint64_t seed;
	struct sifive_trace_info info;
	int fd[FDS];
	void *page[FDS];
	uint8_t *good;		/* two pages, followed by unmapped memory */
	uint8_t *readonly;
	unsigned long calls;
	unsigned long successes;
};

static uint8_t *two_pages(int last)
{
	uint8_t *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p != MAP_FAILED)
		mprotect(p + 2 * PAGE, PAGE, last);
	return p;
}

FIXTURE_SETUP(fuzz)
{
	int i;

	self->seed = trace_setting("TRACE_SEED", (uint64_t)getpid() << 32 | 1);
	TH_LOG("TRACE_SEED=%llu", (unsigned long long)self->seed);
	for (i = 0; i < FDS; i++) {
		self->fd[i] = trace_open(i == FDS - 1 ? O_RDONLY : O_RDWR);
		ASSERT_LE(0, self->fd[i]);
	}
	ASSERT_EQ(0, trace_info(self->fd[0], &self->info));
	self->good = two_pages(PROT_NONE);
	self->readonly = two_pages(PROT_NONE);
	ASSERT_NE(MAP_FAILED, self->good);
	ASSERT_NE(MAP_FAILED, self->readonly);
}

FIXTURE_TEARDOWN(fuzz)
{
	int i;

	for (i = 0; i < FDS; i++) {
		if (self->page[i])
			munmap(self->page[i], PAGE);
		close(self->fd[i]);
	}
}

/* Return a random number like those that buggy programs pass: small, large, or near a limit. */
static uint64_t odd_number(uint64_t *seed)
{
	uint64_t r = trace_random(seed);

	switch (r % 8) {
	case 0: case 1:
		return r >> 8 & 7;
	case 2:
		return BIT64(r >> 8 & 63);
	case 3:
		return BIT64(r >> 8 & 63) - 1;
	case 4:
		return -(r >> 8 & 7);
	case 5:
		return r >> 8 & 0xffff;
	default:
		return trace_random(seed);
	}
}

/* Fill in values that pass the first checks, so that later checks are reached, too. */
static void sensible(struct _test_data_fuzz *self, unsigned int call, void *arg)
{
	struct sifive_trace_config *config = arg;
	struct sifive_trace_counters *counters = arg;
	struct sifive_trace_start *start = arg;
	uint64_t r = trace_random(&self->seed);
	static int32_t process[3];
	uint32_t i;

	switch (call) {
	case _IOC_NR(SIFIVE_TRACE_IOC_ENCODER):
	case _IOC_NR(SIFIVE_TRACE_IOC_SINK):
		((struct sifive_trace_sink *)arg)->index = r % 6;
		break;
	case _IOC_NR(SIFIVE_TRACE_IOC_CONFIG):
		config->sink = r & 1 ? SIFIVE_TRACE_SINK_SBA : SIFIVE_TRACE_SINK_SRAM;
		config->buffer = r & 1 ? 1 + (r >> 8) % 20000 : 0;
		config->flags = r >> 4 & 7;
		config->channels = (uint32_t)(r >> 32) | 1;
		config->encoders = r >> 16 & (BIT64(self->info.encoders) - 1);
		config->prescale = r >> 24 & 3;
		break;
	case _IOC_NR(SIFIVE_TRACE_IOC_COUNTERS):
		counters->count = r % 5;
		for (i = 0; i < counters->count; i++) {
			counters->event[i].type = r >> (8 + 4 * i) & 3;
			counters->event[i].code = r >> (20 + 4 * i) & 0x87;
		}
		break;
	case _IOC_NR(SIFIVE_TRACE_IOC_START):
		start->flags = r & 1;
		start->count = r >> 8 & 3;
		start->processes = start->count ? (uintptr_t)process : 0;
		process[0] = getpid();
		process[1] = r >> 16 & 0xff;
		process[2] = (int32_t)(r >> 32);
		break;
	}
}

/* Size of each call's argument, and the call's errors that are not common to all calls. */
static const struct {
	size_t size;
	int errors[8];
} calls[CALLS] = {
	{ sizeof(struct sifive_trace_info), { 0 } },
	{ sizeof(struct sifive_trace_encoder), { 0 } },
	{ sizeof(struct sifive_trace_config),
	  { EACCES, EBUSY, EOPNOTSUPP, ENOMEM } },
	{ sizeof(struct sifive_trace_counters),
	  { EACCES, EBUSY, EOPNOTSUPP, ENXIO } },
	{ sizeof(struct sifive_trace_start), { EACCES, ENXIO, ENOSPC, ESRCH } },
	{ sizeof(struct sifive_trace_run), { EACCES, ENXIO } },
	{ sizeof(struct sifive_trace_status), { 0 } },
	{ sizeof(struct sifive_trace_sink), { 0 } },
};

static bool is_known(unsigned int call, int error)
{
	size_t i;

	if (error == EFAULT || error == EINVAL || error == E2BIG)
		return true;
	for (i = 0; i < ARRAY_SIZE(calls[call].errors); i++)
		if (calls[call].errors[i] == error)
			return true;
	return false;
}

static void fill(struct _test_data_fuzz *self, unsigned int call, uint8_t *arg,
		 size_t room, size_t *size)
{
	uint64_t r = trace_random(&self->seed);
	uint32_t word;
	size_t i;

	memset(arg, 0, room);
	*size = calls[call].size;
	if (r & 1) {
		sensible(self, call, arg);
	} else {
		for (i = 0; i + 8 <= room; i += 8) {
			uint64_t v = odd_number(&self->seed);

			memcpy(arg + i, &v, 8);
		}
	}
	if (!(r & 0xe))
		arg[(r >> 8) % room] = (uint8_t)(r >> 32);
	if (!(r & 0x70))
		*size = (r >> 8) % (room + 64);
	word = (uint32_t)*size;
	if (!(r & 0x780))
		word = (uint32_t)odd_number(&self->seed);
	memcpy(arg, &word, 4);
	*size = word;
}

static void random_ioctl(struct __test_metadata *_metadata,
			 struct _test_data_fuzz *self)
{
	static uint8_t before[2 * PAGE];
	uint64_t r = trace_random(&self->seed);
	unsigned int call = r % CALLS;
	enum where where = (r >> 8) % ARG_WHERES;
	size_t room = calls[call].size + (r >> 16) % 32 * 4, size, at;
	int fd = self->fd[(r >> 32) % FDS], ret;
	uint8_t *arg = self->good;

	memset(self->good, GUARD, 2 * PAGE);
	if (where == ARG_PAGE_END)
		arg += 2 * PAGE - room;
	if (where == ARG_MISALIGNED)
		arg += 1 + (r >> 24) % 7;
	if (where == ARG_READONLY)
		mprotect(self->readonly, PAGE, PROT_READ | PROT_WRITE);
	if (where == ARG_READONLY)
		arg = self->readonly;
	if (where == ARG_HALF)
		arg += 2 * PAGE - (r >> 24) % room;
	if (where == ARG_UNMAPPED)
		arg = (uint8_t *)(uintptr_t)(odd_number(&self->seed) & ~0xfull);

	/* If the memory is split, fill the mapped part with random bytes. */
	size = 0;
	if (where <= ARG_READONLY)
		fill(self, call, arg, room, &size);
	if (where == ARG_READONLY)
		mprotect(self->readonly, PAGE, PROT_READ);
	/* Do not pass an address that may be mapped: use the unmapped memory after @good. */
	if (where == ARG_UNMAPPED && (uintptr_t)arg > PAGE)
		arg = self->good + 2 * PAGE + (uintptr_t)arg % PAGE;
	memcpy(before, self->good, 2 * PAGE);

	/* The size in the call's number is ignored. */
	ret = trace_ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, SIFIVE_TRACE_IOC_TYPE, call,
				   (r >> 40) & _IOC_SIZEMASK), arg);
	self->calls++;
	self->successes += !ret;

	ASSERT_TRUE(!ret || is_known(call, -ret)) {
		TH_LOG("call %u: errno %d, %s", call, -ret, strerror(-ret));
	}
	/*
	 * The call must accept good memory that is large enough for the argument. START is exempt,
	 * because its argument contains another pointer.
	 */
	if (where < ARG_READONLY && (size <= room || size > PAGE) &&
	    call != _IOC_NR(SIFIVE_TRACE_IOC_START))
		ASSERT_NE(-EFAULT, ret) {
			TH_LOG("call %u: EFAULT for %zu bytes", call, size);
		}
	if (where == ARG_READONLY || where == ARG_UNMAPPED)
		ASSERT_NE(0, ret);
	/* The call may write only to its argument. */
	if (where >= ARG_READONLY)
		return;
	if (size > calls[call].size)
		size = calls[call].size;
	at = (size_t)(arg - self->good);
	ASSERT_EQ(0, memcmp(before, self->good, at));
	ASSERT_EQ(0, memcmp(before + at + size, arg + size, 2 * PAGE - at - size)) {
		TH_LOG("call %u: the kernel wrote beyond its %zu bytes", call, size);
	}
}

/* Expect an unknown command to fail: its type, number, direction or size is random. */
static void random_command(struct __test_metadata *_metadata,
			   struct _test_data_fuzz *self)
{
	uint32_t cmd = (uint32_t)odd_number(&self->seed);
	uint64_t r = trace_random(&self->seed);

	if (r & 1)
		cmd = SIFIVE_TRACE_IOC_TYPE << 8 | (cmd & 0xffff00ff);
	/*
	 * Skip types 'T', 'f' and 0, because the kernel itself handles FIONREAD and similar
	 * commands.
	 */
	if (_IOC_TYPE(cmd) != SIFIVE_TRACE_IOC_TYPE ||
	    _IOC_DIR(cmd) == (_IOC_READ | _IOC_WRITE) ||
	    cmd == _IO(SIFIVE_TRACE_IOC_TYPE, _IOC_NR(SIFIVE_TRACE_IOC_INFO)))
		cmd |= SIFIVE_TRACE_IOC_TYPE << 8 | 0xd0;
	if (_IOC_TYPE(cmd) != SIFIVE_TRACE_IOC_TYPE)
		return;
	ASSERT_EQ(-ENOTTY, trace_ioctl(self->fd[(r >> 32) % FDS], cmd, self->good));
}

/* Perform a random operation on a descriptor: a call other than ioctl(). */
static void random_file_call(struct __test_metadata *_metadata,
			     struct _test_data_fuzz *self)
{
	static uint8_t bytes[3 * PAGE];
	uint64_t r = trace_random(&self->seed);
	unsigned int i = (r >> 32) % FDS;
	struct pollfd p = { .fd = self->fd[i], .events = (short)(r >> 16) };
	int prot = (r >> 40) & 7, type = r & 0x100000 ? MAP_SHARED : MAP_PRIVATE;
	ssize_t got;
	void *page;

	switch (r % 6) {
	case 0:
		got = pread(p.fd, bytes, (r >> 8) % sizeof(bytes),
			    (off_t)odd_number(&self->seed));
		ASSERT_TRUE(got >= 0 || errno == EBUSY || errno == EINVAL ||
			    errno == EOVERFLOW || errno == ESTALE);
		break;
	case 1:
		/* Read into unmapped memory. */
		got = pread(p.fd, self->good + 2 * PAGE - 8, 64, 0);
		ASSERT_TRUE(got >= 0 || errno == EFAULT || errno == EBUSY);
		break;
	case 2:
		lseek(p.fd, (off_t)odd_number(&self->seed), (r >> 8) % 6);
		break;
	case 3:
		ASSERT_LE(0, poll(&p, 1, 0));
		break;
	case 4:
		page = mmap(NULL, (r >> 24) & 1 ? PAGE : (r >> 8) % (4 * PAGE), prot,
			    type, p.fd, (off_t)(odd_number(&self->seed) & ~0xfffull));
		if (page == MAP_FAILED)
			break;
		/* A mapping that succeeds must be one that the interface allows. */
		ASSERT_EQ(MAP_SHARED, type);
		ASSERT_EQ(0, prot & PROT_EXEC);
		if (self->page[i])
			munmap(self->page[i], PAGE);
		self->page[i] = page;
		if ((prot & 3) == 3)
			trace_signal_of_load((char *)page + 0x80);
		break;
	case 5:
		if ((r >> 8) & 3)
			break;
		close(p.fd);
		self->fd[i] = trace_open(i == FDS - 1 ? O_RDONLY : O_RDWR);
		ASSERT_LE(0, self->fd[i]);
		break;
	}
}

TEST_F_TIMEOUT(fuzz, driver_survives_random_calls, 3600)
{
	double end = trace_clock() + (double)trace_setting("TRACE_SECONDS", 5);
	struct sifive_trace_config config;
	struct trace_stream stream;
	struct trace_session s;
	int i;

	while (trace_clock() < end || self->calls <= 100 || self->successes <= 10) {
		random_ioctl(_metadata, self);
		if (!(trace_random(&self->seed) & 3))
			random_file_call(_metadata, self);
		if (!(trace_random(&self->seed) & 15))
			random_command(_metadata, self);
	}
	TH_LOG("%lu calls, %lu succeeded", self->calls, self->successes);

	/* After all random calls, a new session works. */
	for (i = 0; i < FDS; i++) {
		if (self->page[i])
			munmap(self->page[i], PAGE);
		self->page[i] = NULL;
		close(self->fd[i]);
		self->fd[i] = -1;
	}
	ASSERT_EQ(0, trace_session_open(&s, 0));
	config = trace_simple_config(s.fd, s.encoder.index);
	ASSERT_EQ(0, trace_session_config(&s, config.sink, config.buffer, 0));
	ASSERT_EQ(0, trace_start(s.fd, 0));
	trace_store(s.page, s.reg, 0x5afe, 4);
	ASSERT_EQ(0, trace_stop(s.fd));
	ASSERT_EQ(0, trace_collect(s.fd, s.encoder.src_bits, &stream));
	ASSERT_EQ(3, stream.count);
	EXPECT_EQ(0x5afe, stream.message[1].value);
	trace_session_close(&s);
}

TRACE_HARNESS_MAIN

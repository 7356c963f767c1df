// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that every ioctl checks its argument as specified at the beginning of the uapi header:
 * memory, size, unknown tail, reserved fields, flags, and the call's number.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_device.h"
#include "trace_more.h"

FIXTURE(argument) {
	int fd;
	size_t page;
	char *memory;	/* two pages, the second inaccessible */
	struct sifive_trace_config config;
};

FIXTURE_VARIANT(argument) {
	unsigned long call;
	size_t size;
	bool writes;	/* needs a descriptor open for writing */
	bool session;	/* needs a configured session */
};

FIXTURE_VARIANT_ADD(argument, info) {
	SIFIVE_TRACE_IOC_INFO, sizeof(struct sifive_trace_info), false, false,
};

FIXTURE_VARIANT_ADD(argument, encoder) {
	SIFIVE_TRACE_IOC_ENCODER, sizeof(struct sifive_trace_encoder), false, false,
};

FIXTURE_VARIANT_ADD(argument, config) {
	SIFIVE_TRACE_IOC_CONFIG, sizeof(struct sifive_trace_config), true, false,
};

FIXTURE_VARIANT_ADD(argument, counters) {
	SIFIVE_TRACE_IOC_COUNTERS, sizeof(struct sifive_trace_counters), true, true,
};

FIXTURE_VARIANT_ADD(argument, start) {
	SIFIVE_TRACE_IOC_START, sizeof(struct sifive_trace_start), true, true,
};

FIXTURE_VARIANT_ADD(argument, stop) {
	SIFIVE_TRACE_IOC_STOP, sizeof(struct sifive_trace_run), true, true,
};

FIXTURE_VARIANT_ADD(argument, status) {
	SIFIVE_TRACE_IOC_STATUS, sizeof(struct sifive_trace_status), false, false,
};

FIXTURE_VARIANT_ADD(argument, sink) {
	SIFIVE_TRACE_IOC_SINK, sizeof(struct sifive_trace_sink), false, true,
};

FIXTURE_VARIANT_ADD(argument, thread) {
	SIFIVE_TRACE_IOC_THREAD, sizeof(struct sifive_trace_thread), true, true,
};

FIXTURE_VARIANT_ADD(argument, sampling) {
	SIFIVE_TRACE_IOC_SAMPLING, sizeof(struct sifive_trace_sampling), true, true,
};

FIXTURE_VARIANT_ADD(argument, event) {
	SIFIVE_TRACE_IOC_EVENT, sizeof(struct sifive_trace_query), true, false,
};

FIXTURE_SETUP(argument)
{
	struct sifive_trace_config config;

	self->page = (size_t)getpagesize();
	self->memory = mmap(NULL, 3 * self->page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->memory);
	ASSERT_EQ(0, mprotect(self->memory + 2 * self->page, self->page, PROT_NONE));
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	self->config = trace_simple_config(self->fd, 0);
	if (variant->session) {
		config = self->config;
		ASSERT_EQ(0, trace_config(self->fd, &config));
	}
}

FIXTURE_TEARDOWN(argument)
{
	close(self->fd);
	munmap(self->memory, 3 * self->page);
}

/* Write an argument that the call accepts, followed by @tail zero bytes, to @to. */
static void valid(void *to, unsigned long call, size_t size, size_t tail,
		  const struct sifive_trace_config *config)
{
	uint32_t stated = (uint32_t)(size + tail);

	memset(to, 0, size + tail);
	if (call == SIFIVE_TRACE_IOC_CONFIG)
		memcpy(to, config, sizeof(*config));
	if (call == SIFIVE_TRACE_IOC_EVENT)
		((struct sifive_trace_query *)to)->event.code = 1;
	memcpy(to, &stated, sizeof(stated));
}

#define VALID(to, tail) \
	valid(to, variant->call, variant->size, tail, &self->config)

TEST_F(argument, valid_structure_is_accepted)
{
	VALID(self->memory, 0);
	EXPECT_EQ(0, trace_ioctl(self->fd, variant->call, self->memory));
	EXPECT_EQ(variant->size, *(uint32_t *)self->memory);
}

TEST_F(argument, null_returns_efault)
{
	EXPECT_EQ(-EFAULT, trace_ioctl(self->fd, variant->call, NULL));
}

TEST_F(argument, unmapped_memory_returns_efault)
{
	char *hole = self->memory + 2 * self->page;

	EXPECT_EQ(-EFAULT, trace_ioctl(self->fd, variant->call, hole));
	ASSERT_EQ(0, munmap(hole, self->page));
	EXPECT_EQ(-EFAULT, trace_ioctl(self->fd, variant->call, hole));
	EXPECT_EQ(-EFAULT, trace_ioctl(self->fd, variant->call, (void *)-4096l));
}

TEST_F(argument, partly_unmapped_structure_returns_efault)
{
	char *end = self->memory + 2 * self->page;
	uint32_t size = (uint32_t)variant->size;

	/* Place the structure so that the mapped memory ends before its last word. */
	memcpy(end - size + 4, &size, sizeof(size));
	EXPECT_EQ(-EFAULT, trace_ioctl(self->fd, variant->call, end - size + 4));
}

TEST_F(argument, read_only_memory_returns_efault)
{
	VALID(self->memory, 0);
	ASSERT_EQ(0, mprotect(self->memory, self->page, PROT_READ));
	EXPECT_EQ(-EFAULT, trace_ioctl(self->fd, variant->call, self->memory));
	/*
	 * The driver may have allocated resources before it failed to write its result: release
	 * them.
	 */
	EXPECT_EQ(0, close(self->fd));
	self->fd = trace_open(O_RDWR);
	EXPECT_EQ(0, trace_flags(self->fd));
}

TEST_F(argument, size_below_8_returns_einval)
{
	uint32_t size;

	for (size = 0; size < 8; size++) {
		VALID(self->memory, 0);
		memcpy(self->memory, &size, sizeof(size));
		EXPECT_EQ(-EINVAL, trace_ioctl(self->fd, variant->call, self->memory)) {
			TH_LOG("size %u", size);
		}
	}
}

TEST_F(argument, short_structure_is_zero_extended_and_not_overrun)
{
	size_t i, size = 8;
	int ret;

	memset(self->memory, 0xa5, self->page);
	VALID(self->memory, 0);
	memset(self->memory + size, 0xa5, variant->size);
	*(uint32_t *)self->memory = (uint32_t)size;
	ret = trace_ioctl(self->fd, variant->call, self->memory);
	/* The missing fields count as 0: CONFIG selects no sink, and EVENT no event. */
	EXPECT_EQ(variant->call == SIFIVE_TRACE_IOC_CONFIG ||
		  variant->call == SIFIVE_TRACE_IOC_EVENT ? -EINVAL : 0, ret);
	for (i = size; i < self->page; i++)
		ASSERT_EQ(0xa5, (uint8_t)self->memory[i]) {
			TH_LOG("byte %zu was written", i);
		}
}

TEST_F(argument, long_structure_with_zero_tail_is_accepted)
{
	VALID(self->memory, 8);
	EXPECT_EQ(0, trace_ioctl(self->fd, variant->call, self->memory));
	EXPECT_EQ(variant->size + 8, *(uint32_t *)self->memory);

	VALID(self->memory, self->page - variant->size);
	EXPECT_EQ(0, trace_ioctl(self->fd, variant->call, self->memory));
}

TEST_F(argument, nonzero_tail_returns_e2big)
{
	VALID(self->memory, 8);
	self->memory[variant->size] = 1;
	EXPECT_EQ(-E2BIG, trace_ioctl(self->fd, variant->call, self->memory));

	VALID(self->memory, 8);
	self->memory[variant->size + 7] = 1;
	EXPECT_EQ(-E2BIG, trace_ioctl(self->fd, variant->call, self->memory));
}

TEST_F(argument, size_above_page_returns_e2big)
{
	uint32_t sizes[] = { (uint32_t)self->page + 1, 0x7fffffff, ~0u };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		VALID(self->memory, 0);
		memcpy(self->memory, &sizes[i], sizeof(sizes[i]));
		EXPECT_EQ(-E2BIG, trace_ioctl(self->fd, variant->call, self->memory));
	}
}

TEST_F(argument, changes_need_writable_descriptor)
{
	int reader = trace_open(O_RDONLY);

	ASSERT_LE(0, reader);
	VALID(self->memory, 0);
	EXPECT_EQ(variant->writes ? -EACCES : 0,
		  trace_ioctl(reader, variant->call, self->memory));
	close(reader);
}

TEST_F(argument, ioctl_number_has_fixed_direction_and_any_size)
{
	unsigned int nr = _IOC_NR(variant->call), type = SIFIVE_TRACE_IOC_TYPE;
	unsigned int both = _IOC_READ | _IOC_WRITE;

	EXPECT_EQ(both, _IOC_DIR(variant->call));
	EXPECT_EQ(variant->size, _IOC_SIZE(variant->call));
	/*
	 * Programs built with a longer or shorter structure pass a different size in the call's
	 * number.
	 */
	VALID(self->memory, 0);
	EXPECT_EQ(0, trace_ioctl(self->fd, _IOC(both, type, nr, 8), self->memory));
	VALID(self->memory, 0);
	EXPECT_EQ(0, trace_ioctl(self->fd, _IOC(both, type, nr, 2000), self->memory));
	VALID(self->memory, 0);
	EXPECT_EQ(-ENOTTY, trace_ioctl(self->fd, _IOW(type, nr, uint64_t),
				       self->memory));
	EXPECT_EQ(-ENOTTY, trace_ioctl(self->fd, _IOR(type, nr, uint64_t),
				       self->memory));
	EXPECT_EQ(-ENOTTY, trace_ioctl(self->fd, _IOC(_IOC_NONE, type, nr, 8),
				       self->memory));
	EXPECT_EQ(-ENOTTY, trace_ioctl(self->fd, variant->call ^ 1 << _IOC_TYPESHIFT,
				       self->memory));
}

/* INFO reports the driver's ABI; all other calls of ABI 2 fail. */
TEST_F(argument, only_info_is_accepted_from_abi_2)
{
	unsigned long old = _IO(SIFIVE_TRACE_IOC_TYPE, _IOC_NR(variant->call));
	bool info = variant->call == SIFIVE_TRACE_IOC_INFO;

	VALID(self->memory, 0);
	EXPECT_EQ(info ? 0 : -ENOTTY, trace_ioctl(self->fd, old, self->memory));
	if (info)
		EXPECT_EQ(SIFIVE_TRACE_ABI,
			  ((struct sifive_trace_info *)self->memory)->abi);
}

/* Offset of each reserved field and each flags field of the arguments. */
static const struct {
	unsigned long call;
	const char *name;
	size_t at;
	uint32_t known;
} zeros[] = {
#define FIELD(call, type, field, known) \
	{ SIFIVE_TRACE_IOC_##call, #call " " #field, \
	  offsetof(struct sifive_trace_##type, field), known }
	FIELD(INFO, info, reserved, 0),
	FIELD(ENCODER, encoder, reserved, 0),
	FIELD(CONFIG, config, flags, SIFIVE_TRACE_CONFIG_RING |
	      SIFIVE_TRACE_CONFIG_OVERFLOW | SIFIVE_TRACE_CONFIG_NO_TIMESTAMP |
	      SIFIVE_TRACE_CONFIG_DRAIN),
	FIELD(COUNTERS, counters, flags, SIFIVE_TRACE_COUNTERS_PER_THREAD |
	      SIFIVE_TRACE_COUNTERS_TURNS),
	FIELD(COUNTERS, counters, turn_us, 0),
	/* Only events 0 and 1 are within @count; the others must be 0. */
	FIELD(COUNTERS, counters, event[0].flags, 7),
	FIELD(COUNTERS, counters, event[0].turn, 0),
	FIELD(COUNTERS, counters, event[1].flags, 7),
	FIELD(COUNTERS, counters, event[1].turn, 0),
	FIELD(COUNTERS, counters, event[2].flags, 3),
	FIELD(COUNTERS, counters, event[2].turn, 0),
	FIELD(COUNTERS, counters, event[31].flags, 3),
	FIELD(COUNTERS, counters, event[31].turn, 0),
	FIELD(START, start, flags, SIFIVE_TRACE_START_REWIND | SIFIVE_TRACE_START_ON_EXEC),
	FIELD(START, start, reserved, 0),
	FIELD(STOP, run, flags, 0),
	FIELD(THREAD, thread, flags, SIFIVE_TRACE_THREAD_LEAVE),
	FIELD(THREAD, thread, reserved, 0),
	/* SIFIVE_TRACE_SAMPLING_HEADERS is not valid with the Raw counts of this test. */
	FIELD(SAMPLING, sampling, flags, SIFIVE_TRACE_SAMPLING_ALL |
	      SIFIVE_TRACE_SAMPLING_ONE_HEADER | SIFIVE_TRACE_SAMPLING_EXEC |
	      SIFIVE_TRACE_SAMPLING_CALLERS | SIFIVE_TRACE_SAMPLING_THREADS |
	      SIFIVE_TRACE_SAMPLING_CHILDREN |
	      SIFIVE_TRACE_SAMPLING_STACK(2 * SIFIVE_TRACE_STACK_MAX - 8)),
	FIELD(SAMPLING, sampling, event.flags, 3),
	FIELD(SAMPLING, sampling, event.turn, 0),
	FIELD(EVENT, query, flags, 0),
	FIELD(EVENT, query, event.flags, 3),
	FIELD(EVENT, query, event.turn, 0),
	FIELD(EVENT, query, reserved, 0),
	FIELD(ATTACH, attach, flags, SIFIVE_TRACE_ATTACH_COMPARE),
	FIELD(ATTACH, attach, reserved, 0),
	FIELD(SWITCHES, switches, flags, SIFIVE_TRACE_SWITCHES_ALL |
	      SIFIVE_TRACE_SWITCHES_CHILDREN | SIFIVE_TRACE_SWITCHES_WAKEUPS |
	      SIFIVE_TRACE_SWITCHES_SYSCALLS | SIFIVE_TRACE_SWITCHES_FAULTS),
	FIELD(SWITCHES, switches, reserved, 0),
	FIELD(PAUSE, run, flags, SIFIVE_TRACE_PAUSE_END),
#undef FIELD
};

/* Fill in an argument that becomes invalid only through the field that the test sets. */
static void sensible(void *to, unsigned long call, bool by_event)
{
	struct sifive_trace_sampling *sampling = to;
	struct sifive_trace_counters *counters = to;

	if (call == SIFIVE_TRACE_IOC_COUNTERS) {
		counters->count = 2;
		counters->event[0].code = 1;
		counters->event[1].code = 2;
	} else if (call == SIFIVE_TRACE_IOC_SAMPLING) {
		sampling->interval = by_event ? 0 : 1000000;
		sampling->period = by_event ? 100000 : 0;
		sampling->event.code = by_event ? 1 : 0;
	}
}

/* Set each bit that must be 0 in a valid argument, one at a time, and expect EINVAL. */
static void zeros_give_einval(struct __test_metadata *_metadata, int fd, unsigned long call,
			      const void *valid, size_t size)
{
	uint64_t argument[512];
	unsigned int bit;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(zeros); i++) {
		if (zeros[i].call != call)
			continue;
		for (bit = 0; bit < 32; bit++) {
			if (zeros[i].known & 1u << bit)
				continue;
			memcpy(argument, valid, size);
			*(uint32_t *)((char *)argument + zeros[i].at) = 1u << bit;
			EXPECT_EQ(-EINVAL, trace_ioctl(fd, call, argument)) {
				TH_LOG("%s, bit %u", zeros[i].name, bit);
			}
		}
	}
}

static void reserved_gives_einval(struct __test_metadata *_metadata,
				  struct _test_data_argument *self,
				  const struct _fixture_variant_argument *variant,
				  bool by_event)
{
	VALID(self->memory, 0);
	sensible(self->memory, variant->call, by_event);
	zeros_give_einval(_metadata, self->fd, variant->call, self->memory, variant->size);
}

TEST_F(argument, reserved_fields_and_unknown_flags_return_einval)
{
	struct sifive_trace_info info;

	reserved_gives_einval(_metadata, self, variant, false);
	ASSERT_EQ(0, trace_info(self->fd, &info));
	if (info.flags & SIFIVE_TRACE_INFO_OVERFLOW)
		reserved_gives_einval(_metadata, self, variant, true);
}

/*
 * These calls need a mapping, a channel or a running capture, so the variants above cannot test
 * them.
 */
TEST(reserved_fields_of_other_calls_return_einval)
{
	struct sifive_trace_switches switches = TRACE_ARG(sifive_trace_switches);
	struct sifive_trace_attach attach = TRACE_ARG(sifive_trace_attach);
	struct sifive_trace_run run = TRACE_ARG(sifive_trace_run);
	struct trace_session s;

	ASSERT_EQ(0, trace_session_open(&s, 0));
	s.config = trace_simple_config(s.fd, s.encoder.index);
	ASSERT_EQ(0, trace_session_config(&s, s.config.sink, s.config.buffer, 0));
	attach.address = (uintptr_t)s.page;
	zeros_give_einval(_metadata, s.fd, SIFIVE_TRACE_IOC_ATTACH, &attach, sizeof(attach));
	EXPECT_EQ(0, trace_ioctl(s.fd, SIFIVE_TRACE_IOC_ATTACH, &attach));
	EXPECT_EQ(0, close(attach.fd));
	switches.channel = s.reg;
	zeros_give_einval(_metadata, s.fd, SIFIVE_TRACE_IOC_SWITCHES, &switches,
			  sizeof(switches));
	EXPECT_EQ(0, trace_ioctl(s.fd, SIFIVE_TRACE_IOC_SWITCHES, &switches));
	ASSERT_EQ(0, trace_start(s.fd, 0));
	zeros_give_einval(_metadata, s.fd, SIFIVE_TRACE_IOC_PAUSE, &run, sizeof(run));
	EXPECT_EQ(0, trace_flags(s.fd) & SIFIVE_TRACE_STATUS_PAUSED);
	trace_session_close(&s);
}

FIXTURE(sampling_request) {
	int fd;
	struct sifive_trace_sampling sampling;
};

FIXTURE_SETUP(sampling_request)
{
	struct sifive_trace_config config;
	struct sifive_trace_encoder encoder;

	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	config = trace_simple_config(self->fd, 0);
	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &encoder));
	self->sampling = TRACE_ARG(sifive_trace_sampling);
	self->sampling.channel = trace_register(&encoder, 5);
	self->sampling.interval = 1000000;
}

FIXTURE_TEARDOWN(sampling_request)
{
	close(self->fd);
}

static int sample(struct _test_data_sampling_request *self)
{
	return trace_ioctl(self->fd, SIFIVE_TRACE_IOC_SAMPLING, &self->sampling);
}

TEST_F(sampling_request, failure_reports_reason)
{
	struct sifive_trace_sampling good = self->sampling;
	int other = trace_open(O_RDWR);

	EXPECT_EQ(-ENXIO, trace_ioctl(other, SIFIVE_TRACE_IOC_SAMPLING, &good));
	close(other);
	self->sampling.channel = 32;
	EXPECT_EQ(-EINVAL, sample(self));
	EXPECT_NE(NULL, strstr(trace_message(self->fd), "channel 32"));
	self->sampling = good;
	self->sampling.count_type = 3;
	EXPECT_EQ(-EINVAL, sample(self));
	self->sampling = good;
	self->sampling.period = 1;
	EXPECT_EQ(-EINVAL, sample(self));
	self->sampling = good;
	self->sampling.interval = 0;
	self->sampling.period = 1000;
	self->sampling.event.code = SIFIVE_TRACE_EVENT_TIMESTAMP;
	EXPECT_EQ(-EOPNOTSUPP, sample(self));
	/* In perf's encoding, these would be cache and firmware events. */
	self->sampling.event.type = SIFIVE_TRACE_EVENT_CACHE;
	self->sampling.event.code = 0x100 << 3 | DTLB_READ_MISS;
	EXPECT_EQ(-EOPNOTSUPP, sample(self));
	self->sampling.event.code = DTLB_READ_MISS | 3 << 1;
	EXPECT_EQ(-EOPNOTSUPP, sample(self));
	self->sampling.event.type = SIFIVE_TRACE_EVENT_RAW;
	self->sampling.event.code = 0;
	self->sampling.event.data = BIT64(63) | 5;
	EXPECT_EQ(-EOPNOTSUPP, sample(self));
	self->sampling.event.data = BIT64(48);
	EXPECT_EQ(-EOPNOTSUPP, sample(self));
	self->sampling = good;
	ASSERT_EQ(0, sample(self));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	EXPECT_EQ(-EBUSY, sample(self));
	ASSERT_EQ(0, trace_stop(self->fd));
}

TRACE_HARNESS_MAIN

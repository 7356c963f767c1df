// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that every ioctl checks its argument as the head of the uapi header
 * says: memory, size, unknown tail, flags; who may call what; which values of
 * CONFIG and COUNTERS are refused, with which error, and that nothing is left
 * behind by a refusal.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_device.h"
#include "trace_more.h"

/* ---- what holds for every call's argument ---------------------------------- */

FIXTURE(argument) {
	int fd;
	size_t page;
	char *memory;	/* two pages, the second without access */
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
	SIFIVE_TRACE_IOC_START, sizeof(struct sifive_trace_run), true, true,
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

/* An argument that the call accepts, followed by @tail bytes of zero, at @to. */
static void valid(void *to, unsigned long call, size_t size, size_t tail,
		  const struct sifive_trace_config *config)
{
	uint32_t told = (uint32_t)(size + tail);

	memset(to, 0, size + tail);
	if (call == SIFIVE_TRACE_IOC_CONFIG)
		memcpy(to, config, sizeof(*config));
	if (call == SIFIVE_TRACE_IOC_EVENT)
		((struct sifive_trace_query *)to)->event.code = 1;
	memcpy(to, &told, sizeof(told));
}

#define VALID(to, tail) \
	valid(to, variant->call, variant->size, tail, &self->config)

TEST_F(argument, a_valid_one_is_accepted)
{
	VALID(self->memory, 0);
	EXPECT_EQ(0, trace_ioctl(self->fd, variant->call, self->memory));
	EXPECT_EQ(variant->size, *(uint32_t *)self->memory);
}

TEST_F(argument, null_gives_efault)
{
	EXPECT_EQ(-EFAULT, trace_ioctl(self->fd, variant->call, NULL));
}

TEST_F(argument, memory_that_is_not_mapped_gives_efault)
{
	char *hole = self->memory + 2 * self->page;

	EXPECT_EQ(-EFAULT, trace_ioctl(self->fd, variant->call, hole));
	ASSERT_EQ(0, munmap(hole, self->page));
	EXPECT_EQ(-EFAULT, trace_ioctl(self->fd, variant->call, hole));
	EXPECT_EQ(-EFAULT, trace_ioctl(self->fd, variant->call, (void *)-4096l));
}

TEST_F(argument, one_that_runs_into_a_hole_gives_efault)
{
	char *end = self->memory + 2 * self->page;
	uint32_t size = (uint32_t)variant->size;

	/* All of it but its last word is there. */
	memcpy(end - size + 4, &size, sizeof(size));
	EXPECT_EQ(-EFAULT, trace_ioctl(self->fd, variant->call, end - size + 4));
}

TEST_F(argument, read_only_memory_gives_efault)
{
	VALID(self->memory, 0);
	ASSERT_EQ(0, mprotect(self->memory, self->page, PROT_READ));
	EXPECT_EQ(-EFAULT, trace_ioctl(self->fd, variant->call, self->memory));
	/* The call may have been carried out: give back what it took. */
	EXPECT_EQ(0, close(self->fd));
	self->fd = trace_open(O_RDWR);
	EXPECT_EQ(0, trace_flags(self->fd));
}

TEST_F(argument, a_size_below_8_gives_einval)
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

TEST_F(argument, a_shorter_one_is_filled_up_and_nothing_is_written_behind_it)
{
	size_t i, size = 8;
	int ret;

	memset(self->memory, 0xa5, self->page);
	VALID(self->memory, 0);
	memset(self->memory + size, 0xa5, variant->size);
	*(uint32_t *)self->memory = (uint32_t)size;
	ret = trace_ioctl(self->fd, variant->call, self->memory);
	/* CONFIG then selects no sink, EVENT no event. */
	EXPECT_EQ(variant->call == SIFIVE_TRACE_IOC_CONFIG ||
		  variant->call == SIFIVE_TRACE_IOC_EVENT ? -EINVAL : 0, ret);
	for (i = size; i < self->page; i++)
		ASSERT_EQ(0xa5, (uint8_t)self->memory[i]) {
			TH_LOG("byte %zu was written", i);
		}
}

TEST_F(argument, a_longer_one_with_a_zero_tail_is_accepted)
{
	VALID(self->memory, 8);
	EXPECT_EQ(0, trace_ioctl(self->fd, variant->call, self->memory));
	EXPECT_EQ(variant->size + 8, *(uint32_t *)self->memory);

	VALID(self->memory, self->page - variant->size);
	EXPECT_EQ(0, trace_ioctl(self->fd, variant->call, self->memory));
}

TEST_F(argument, a_tail_that_is_not_zero_gives_e2big)
{
	VALID(self->memory, 8);
	self->memory[variant->size] = 1;
	EXPECT_EQ(-E2BIG, trace_ioctl(self->fd, variant->call, self->memory));

	VALID(self->memory, 8);
	self->memory[variant->size + 7] = 1;
	EXPECT_EQ(-E2BIG, trace_ioctl(self->fd, variant->call, self->memory));
}

TEST_F(argument, a_size_over_a_page_gives_e2big)
{
	uint32_t sizes[] = { (uint32_t)self->page + 1, 0x7fffffff, ~0u };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		VALID(self->memory, 0);
		memcpy(self->memory, &sizes[i], sizeof(sizes[i]));
		EXPECT_EQ(-E2BIG, trace_ioctl(self->fd, variant->call, self->memory));
	}
}

TEST_F(argument, only_a_descriptor_open_for_writing_may_change_things)
{
	int reader = trace_open(O_RDONLY);

	ASSERT_LE(0, reader);
	VALID(self->memory, 0);
	EXPECT_EQ(variant->writes ? -EACCES : 0,
		  trace_ioctl(reader, variant->call, self->memory));
	close(reader);
}

TEST_F(argument, a_calls_number_has_its_direction_and_any_size)
{
	unsigned int nr = _IOC_NR(variant->call), type = SIFIVE_TRACE_IOC_TYPE;
	unsigned int both = _IOC_READ | _IOC_WRITE;

	EXPECT_EQ(both, _IOC_DIR(variant->call));
	EXPECT_EQ(variant->size, _IOC_SIZE(variant->call));
	/* A program that was built for a longer or a shorter structure. */
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

/* It learns that the kernel has another ABI, and gets no further. */
TEST_F(argument, of_the_calls_of_abi_2_info_alone_is_answered)
{
	unsigned long old = _IO(SIFIVE_TRACE_IOC_TYPE, _IOC_NR(variant->call));
	bool info = variant->call == SIFIVE_TRACE_IOC_INFO;

	VALID(self->memory, 0);
	EXPECT_EQ(info ? 0 : -ENOTTY, trace_ioctl(self->fd, old, self->memory));
	if (info)
		EXPECT_EQ(SIFIVE_TRACE_ABI,
			  ((struct sifive_trace_info *)self->memory)->abi);
}

/* Each reserved field of an argument, and each field of flags, where it lies. */
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
	FIELD(CONFIG, config, flags, SIFIVE_TRACE_CONFIG_RING |
	      SIFIVE_TRACE_CONFIG_OVERFLOW | SIFIVE_TRACE_CONFIG_NO_TIMESTAMP),
	FIELD(COUNTERS, counters, flags, SIFIVE_TRACE_COUNTERS_PER_THREAD),
	FIELD(COUNTERS, counters, reserved, 0),
	/* The first two events are used. */
	FIELD(COUNTERS, counters, event[0].flags, 3),
	FIELD(COUNTERS, counters, event[0].reserved, 0),
	FIELD(COUNTERS, counters, event[1].flags, 3),
	FIELD(COUNTERS, counters, event[1].reserved, 0),
	FIELD(COUNTERS, counters, event[2].flags, 3),
	FIELD(COUNTERS, counters, event[2].reserved, 0),
	FIELD(COUNTERS, counters, event[31].flags, 3),
	FIELD(COUNTERS, counters, event[31].reserved, 0),
	FIELD(START, run, flags, SIFIVE_TRACE_START_REWIND),
	FIELD(STOP, run, flags, 0),
	FIELD(THREAD, thread, flags, SIFIVE_TRACE_THREAD_LEAVE),
	FIELD(THREAD, thread, reserved, 0),
	FIELD(SAMPLING, sampling, flags, SIFIVE_TRACE_SAMPLING_ALL |
	      SIFIVE_TRACE_SAMPLING_ONE_HEADER | SIFIVE_TRACE_SAMPLING_EXEC),
	FIELD(SAMPLING, sampling, event.flags, 3),
	FIELD(SAMPLING, sampling, event.reserved, 0),
	FIELD(EVENT, query, flags, 0),
	FIELD(EVENT, query, event.flags, 3),
	FIELD(EVENT, query, event.reserved, 0),
	FIELD(EVENT, query, reserved, 0),
#undef FIELD
};

/* One that fails for no other reason than the field that the test sets. */
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

static void reserved_gives_einval(struct __test_metadata *_metadata,
				  struct _test_data_argument *self,
				  const struct _fixture_variant_argument *variant,
				  bool by_event)
{
	unsigned int bit;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(zeros); i++) {
		if (zeros[i].call != variant->call)
			continue;
		for (bit = 0; bit < 32; bit++) {
			if (zeros[i].known & 1u << bit)
				continue;
			VALID(self->memory, 0);
			sensible(self->memory, variant->call, by_event);
			*(uint32_t *)(self->memory + zeros[i].at) = 1u << bit;
			EXPECT_EQ(-EINVAL, trace_ioctl(self->fd, variant->call,
						       self->memory)) {
				TH_LOG("%s, bit %u", zeros[i].name, bit);
			}
		}
	}
}

TEST_F(argument, each_reserved_field_and_unknown_flag_gives_einval)
{
	struct sifive_trace_info info;

	reserved_gives_einval(_metadata, self, variant, false);
	ASSERT_EQ(0, trace_info(self->fd, &info));
	if (info.flags & SIFIVE_TRACE_INFO_OVERFLOW)
		reserved_gives_einval(_metadata, self, variant, true);
}

/* ---- calls that do not exist, and those that come too early ------------------ */

FIXTURE(device) {
	int fd;
	struct sifive_trace_info info;
};

FIXTURE_SETUP(device)
{
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
}

FIXTURE_TEARDOWN(device)
{
	close(self->fd);
}

TEST_F(device, unknown_calls_give_enotty)
{
	char argument[4096] = { 0 };
	unsigned int nr;

	*(uint32_t *)argument = 64;
	for (nr = _IOC_NR(SIFIVE_TRACE_IOC_LOSSES) + 1; nr < 256; nr++)
		ASSERT_EQ(-ENOTTY, trace_ioctl(self->fd,
					       _IOWR(SIFIVE_TRACE_IOC_TYPE, nr,
						     struct sifive_trace_info),
					       argument)) {
			TH_LOG("call %u", nr);
		}
}

/* Each flag of a call that it does not know is refused; @flags is in @argument. */
static void unknown_flags(struct __test_metadata *_metadata, int fd,
			  unsigned long call, void *argument, uint32_t *flags,
			  uint32_t known)
{
	unsigned int bit;

	for (bit = 0; bit < 32; bit++) {
		if (known & 1u << bit)
			continue;
		*flags = 1u << bit;
		EXPECT_EQ(-EINVAL, trace_ioctl(fd, call, argument)) {
			TH_LOG("call %u, bit %u", (unsigned int)_IOC_NR(call), bit);
		}
	}
}

TEST_F(device, unknown_flags_give_einval)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	struct sifive_trace_thread thread = TRACE_ARG(sifive_trace_thread);
	struct sifive_trace_run start = TRACE_ARG(sifive_trace_run);
	struct sifive_trace_run stop = TRACE_ARG(sifive_trace_run);

	unknown_flags(_metadata, self->fd, SIFIVE_TRACE_IOC_CONFIG, &config,
		      &config.flags, SIFIVE_TRACE_CONFIG_RING |
		      SIFIVE_TRACE_CONFIG_OVERFLOW |
		      SIFIVE_TRACE_CONFIG_NO_TIMESTAMP);
	EXPECT_EQ(0, trace_flags(self->fd));
	config = trace_simple_config(self->fd, 0);
	ASSERT_EQ(0, trace_config(self->fd, &config));
	unknown_flags(_metadata, self->fd, SIFIVE_TRACE_IOC_COUNTERS, &counters,
		      &counters.flags, SIFIVE_TRACE_COUNTERS_PER_THREAD);
	unknown_flags(_metadata, self->fd, SIFIVE_TRACE_IOC_THREAD, &thread,
		      &thread.flags, SIFIVE_TRACE_THREAD_LEAVE);
	unknown_flags(_metadata, self->fd, SIFIVE_TRACE_IOC_START, &start,
		      &start.flags, SIFIVE_TRACE_START_REWIND);
	EXPECT_EQ(0, trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	unknown_flags(_metadata, self->fd, SIFIVE_TRACE_IOC_STOP, &stop,
		      &stop.flags, 0);
	EXPECT_TRUE(trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING);
}

TEST_F(device, info_describes_this_machine)
{
	EXPECT_EQ(SIFIVE_TRACE_ABI, self->info.abi);
	EXPECT_LT(0, self->info.encoders);
	EXPECT_GE(SIFIVE_TRACE_MAX_ENCODERS, self->info.encoders);
	EXPECT_EQ(getpagesize(), self->info.page_size);
	EXPECT_GE(64, self->info.ts_width);
	EXPECT_EQ(0, self->info.reserved);
	EXPECT_EQ(0, self->info.sinks_available &
		     ~(0x1fu << SIFIVE_TRACE_SINK_SRAM));
}

/* The hart that the kernel names for a CPU, -1 when it has none. */
static long hart_of_cpu(int wanted)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	long value, hart = -1;
	char line[1024];
	int cpu = -1;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "processor : %ld", &value) == 1)
			cpu = (int)value;
		if (sscanf(line, "hart : %ld", &value) == 1 && cpu == wanted)
			hart = value;
	}
	if (f)
		fclose(f);
	return hart;
}

TEST_F(device, encoders_name_the_hart_of_their_cpu)
{
	struct sifive_trace_encoder e, other;
	uint32_t i, j;

	for (i = 0; i < self->info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->fd, i, &e));
		EXPECT_EQ(i, e.index);
		EXPECT_NE('\0', e.name[0]);
		EXPECT_NE(NULL, memchr(e.name, '\0', sizeof(e.name)));
		EXPECT_EQ(0, e.mmap_offset % self->info.page_size);
		EXPECT_TRUE(e.cpu < 0 || e.hart == (uint64_t)hart_of_cpu(e.cpu));
		for (j = 0; j < i; j++) {
			ASSERT_EQ(0, trace_encoder(self->fd, j, &other));
			EXPECT_NE(e.mmap_offset, other.mmap_offset);
			EXPECT_NE(e.hart, other.hart);
			EXPECT_STRNE(e.name, other.name);
		}
	}
}

TEST_F(device, there_is_no_encoder_beyond_the_last)
{
	struct sifive_trace_encoder e;

	EXPECT_EQ(-EINVAL, trace_encoder(self->fd, self->info.encoders, &e));
	EXPECT_EQ(-EINVAL, trace_encoder(self->fd, ~0u, &e));
}

TEST_F(device, there_is_no_sink_beyond_the_last)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	struct sifive_trace_sink sink;

	ASSERT_EQ(0, trace_config(self->fd, &config));
	EXPECT_EQ(1, config.sinks);
	EXPECT_EQ(0, trace_sink(self->fd, 0, &sink));
	EXPECT_EQ(-EINVAL, trace_sink(self->fd, 1, &sink));
	EXPECT_EQ(-EINVAL, trace_sink(self->fd, ~0u, &sink));
}

TEST_F(device, without_a_session_there_is_nothing_to_start)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_status status;

	EXPECT_EQ(-ENXIO, trace_start(self->fd, 0));
	EXPECT_EQ(-ENXIO, trace_stop(self->fd));
	EXPECT_EQ(-ENXIO, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(0, status.flags);
	EXPECT_EQ(0, status.holder);
	EXPECT_NE('\0', status.message[0]);
}

/* ---- who may ------------------------------------------------------------------ */

TEST_F(device, a_second_session_is_refused_and_told_who_has_the_first)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	struct sifive_trace_status status;
	int second = trace_open(O_RDWR);
	char pid[16];

	ASSERT_LE(0, second);
	ASSERT_EQ(0, trace_config(self->fd, &config));

	config = trace_simple_config(second, 0);
	EXPECT_EQ(-EBUSY, trace_config(second, &config));
	ASSERT_EQ(0, trace_status(second, &status));
	snprintf(pid, sizeof(pid), " %d ", getpid());
	EXPECT_NE(NULL, strstr(status.message, pid)) {
		TH_LOG("message: %s", status.message);
	}
	EXPECT_EQ(getpid(), status.holder);
	EXPECT_EQ(SIFIVE_TRACE_STATUS_CONFIGURED, status.flags);
	EXPECT_EQ(-ENXIO, trace_start(second, 0));
	EXPECT_EQ(-ENXIO, trace_stop(second));

	/* A message is for the descriptor whose call failed. */
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_STREQ("", status.message);
	EXPECT_EQ(SIFIVE_TRACE_STATUS_CONFIGURED | SIFIVE_TRACE_STATUS_OWNER,
		  status.flags);

	close(self->fd);
	self->fd = second;
	config = trace_simple_config(second, 0);
	EXPECT_EQ(0, trace_config(second, &config));
}

TEST_F(device, a_running_capture_is_not_configured_again)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);

	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	config = trace_simple_config(self->fd, 0);
	EXPECT_EQ(-EBUSY, trace_config(self->fd, &config));
	EXPECT_EQ(-EBUSY, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	EXPECT_TRUE(trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING);
	ASSERT_EQ(0, trace_stop(self->fd));
	config = trace_simple_config(self->fd, 0);
	EXPECT_EQ(0, trace_config(self->fd, &config));
}

/* Configure as a child with these capabilities alone; its errno. */
static int config_with_caps(int fd, uint64_t caps, bool other_user)
{
	struct sifive_trace_config config = trace_simple_config(fd, 0);
	struct sifive_trace_status status;
	struct sifive_trace_info info;
	pid_t child = fork();
	int ret;

	if (child)
		return -trace_wait(child);
	if (other_user ? setresuid(65534, 65534, 65534) : trace_keep_caps(caps))
		_exit(99);
	ret = trace_config(fd, &config);
	/* Asking what there is needs no capability. */
	if (trace_info(fd, &info) || trace_status(fd, &status))
		_exit(98);
	if (ret && !status.message[0])
		_exit(97);
	_exit(-ret);
}

TEST_F(device, configuring_needs_a_capability)
{
	EXPECT_EQ(-EPERM, config_with_caps(self->fd, 0, true));
	EXPECT_EQ(-EPERM, config_with_caps(self->fd, 0, false));
	EXPECT_EQ(-EPERM, config_with_caps(self->fd, ~(BIT64(CAP_PERFMON) |
						       BIT64(CAP_SYS_ADMIN)) &
					   (BIT64(CAP_LAST_CAP + 1) - 1), false));
	EXPECT_EQ(0, trace_flags(self->fd));
	EXPECT_EQ(0, config_with_caps(self->fd, BIT64(CAP_PERFMON), false));
	EXPECT_EQ(0, config_with_caps(self->fd, BIT64(CAP_SYS_ADMIN), false));
}

/* ---- values of CONFIG ----------------------------------------------------------- */

/* Expect @config to be refused with @error and to leave nothing. */
static void refused(struct __test_metadata *_metadata, int fd,
		    const struct sifive_trace_config *config, int error,
		    const char *what)
{
	struct sifive_trace_config copy = *config;
	struct sifive_trace_status status;

	EXPECT_EQ(-error, trace_config(fd, &copy)) {
		TH_LOG("%s", what);
	}
	ASSERT_EQ(0, trace_status(fd, &status));
	EXPECT_EQ(0, status.flags) {
		TH_LOG("%s: flags %#x", what, status.flags);
	}
	EXPECT_EQ(0, status.holder);
	EXPECT_EQ(0, status.bytes);
	EXPECT_NE('\0', status.message[0]) {
		TH_LOG("%s: no message", what);
	}
}

#define REFUSED(config, error, what) \
	refused(_metadata, self->fd, config, error, what)

TEST_F(device, config_refuses_sinks_that_are_none)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	uint32_t sinks[] = {
		SIFIVE_TRACE_SINK_DEFAULT, 1, 2, 3, SIFIVE_TRACE_SINK_ATB,
		SIFIVE_TRACE_SINK_PIB, SIFIVE_TRACE_SINK_FUNNEL, 9, 31, 32, ~0u,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sinks); i++) {
		config.sink = sinks[i];
		REFUSED(&config, EINVAL, "sink");
	}
}

TEST_F(device, config_refuses_a_sink_that_the_board_has_not)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	uint32_t missing;

	for (missing = SIFIVE_TRACE_SINK_SRAM; missing <= SIFIVE_TRACE_SINK_SBA;
	     missing += SIFIVE_TRACE_SINK_SBA - SIFIVE_TRACE_SINK_SRAM) {
		if (self->info.sinks_available & 1u << missing)
			continue;
		config.sink = missing;
		config.buffer = missing == SIFIVE_TRACE_SINK_SBA ? 4096 : 0;
		REFUSED(&config, EOPNOTSUPP, "sink that is not there");
		return;
	}
	SKIP(return, "this board has both SBA and SRAM");
}

TEST_F(device, config_refuses_prescale_and_channels_out_of_range)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);

	config.prescale = 4;
	REFUSED(&config, EINVAL, "prescale 4");
	config.prescale = ~0u;
	REFUSED(&config, EINVAL, "prescale ~0");
	config.prescale = 0;
	config.channels = 0;
	REFUSED(&config, EINVAL, "no channel");
}

TEST_F(device, config_refuses_buffers_that_do_not_fit_the_sink)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);

	config.sink = SIFIVE_TRACE_SINK_SBA;
	config.buffer = 0;
	REFUSED(&config, EINVAL, "SBA without buffer");
	config.sink = SIFIVE_TRACE_SINK_SRAM;
	config.buffer = 4096;
	REFUSED(&config, EINVAL, "SRAM with buffer");
}

TEST_F(device, config_refuses_absurd_buffers)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	unsigned int bits;

	if (config.sink != SIFIVE_TRACE_SINK_SBA)
		SKIP(return, "this board has no SBA sink");
	for (bits = 32; bits < 64; bits++) {
		config.buffer = BIT64(bits);
		REFUSED(&config, ENOMEM, "a power of two");
		config.buffer = BIT64(bits) + 1;
		REFUSED(&config, ENOMEM, "a power of two and 1");
		config.buffer = BIT64(bits) - 1;
		REFUSED(&config, ENOMEM, "a power of two less 1");
	}
	/* Cannot even be rounded up to the sink's word. */
	config.buffer = ~0ull;
	REFUSED(&config, EINVAL, "~0");
}

TEST_F(device, config_refuses_encoders_that_do_not_exist)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);

	if (self->info.encoders == 64)
		SKIP(return, "every bit stands for an encoder");
	config.encoders = BIT64(self->info.encoders);
	REFUSED(&config, EINVAL, "the first that is not there");
	config.encoders = ~0ull;
	REFUSED(&config, EINVAL, "all bits");
	config.encoders = BIT64(63) | 1;
	REFUSED(&config, EINVAL, "the last bit and the first");
}

TEST_F(device, config_says_what_it_took)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	struct sifive_trace_status status;
	struct sifive_trace_encoder e;
	struct sifive_trace_sink sink;
	uint64_t covered = 0;
	uint32_t i;

	config.encoders = 0;
	if (config.sink == SIFIVE_TRACE_SINK_SBA)
		config.buffer = 4097;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	EXPECT_NE(0, config.encoders);
	EXPECT_LT(0, config.sinks);
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(config.sinks, status.sinks);
	EXPECT_EQ(0, status.bytes);
	for (i = 0; i < config.sinks; i++) {
		ASSERT_EQ(0, trace_sink(self->fd, i, &sink));
		EXPECT_EQ(config.sink, sink.kind);
		EXPECT_EQ(0, sink.bytes);
		EXPECT_LE(config.buffer, sink.buffer);
		EXPECT_EQ(0, sink.buffer % sink.word);
		if (config.sink == SIFIVE_TRACE_SINK_SBA) {
			EXPECT_LE(4097, sink.buffer);
			EXPECT_GT(4097 + sink.word, sink.buffer);
		}
		EXPECT_EQ(0, covered & sink.encoders);
		covered |= sink.encoders;
	}
	EXPECT_EQ(config.encoders, covered);
	for (i = 0; i < self->info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->fd, i, &e));
		EXPECT_EQ(!!(config.encoders & BIT64(i)),
			  !!(e.flags & SIFIVE_TRACE_ENCODER_SELECTED));
		if (config.encoders & BIT64(i)) {
			ASSERT_EQ(0, trace_sink(self->fd, e.sink, &sink));
			EXPECT_TRUE(sink.encoders & BIT64(i));
			EXPECT_EQ(e.src_bits, sink.src_bits);
		}
	}
}

/* ---- values of COUNTERS ------------------------------------------------------------ */

#define CYCLES	{ .type = 0, .code = 1 }

/* Ask for these events; expect EINVAL, for event @failed. */
static void events_refused(struct __test_metadata *_metadata, int fd,
			   const struct sifive_trace_event *event,
			   uint32_t count, uint32_t failed)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config = trace_simple_config(fd, 0);
	struct sifive_trace_status status;

	ASSERT_EQ(0, trace_config(fd, &config));
	memcpy(counters.event, event, count * sizeof(*event));
	counters.count = count;
	/* A value that no refusal gives. */
	counters.failed = 1000;
	EXPECT_EQ(-EINVAL, trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	EXPECT_EQ(failed, counters.failed);
	EXPECT_EQ(0, counters.mask);
	ASSERT_EQ(0, trace_status(fd, &status));
	EXPECT_NE('\0', status.message[0]);
}

TEST_F(device, counters_refuses_an_event_twice)
{
	struct sifive_trace_event general[] = { CYCLES, { .code = 2 }, CYCLES };
	struct sifive_trace_event raw[] = {
		{ .type = 2, .data = 0x100 }, { .type = 2, .data = 0x101 },
		{ .type = 2, .data = 0x100 }, { .type = 2, .data = 0x101 },
	};

	events_refused(_metadata, self->fd, general, 3, 2);
	events_refused(_metadata, self->fd, raw, 4, 2);
}

TEST_F(device, counters_refuses_events_that_cannot_be)
{
	struct sifive_trace_event bad[] = {
		{ .type = 3, .code = 1 }, { .type = 14, .code = 1 },
		{ .type = ~0u, .code = 1 }, { .type = 0, .code = 0 },
		{ .type = 0, .code = 0x10000 }, { .type = 0, .code = ~0u },
		{ .type = 1, .code = 0x10001 }, { .type = 0, .code = 1, .data = 1 },
		{ .type = 1, .code = 0x19, .data = 1 },
		{ .type = 2, .code = 1, .data = 0x100 },
		{ .code = 1, .flags = 3 }, { .code = 1, .flags = 4 },
		{ .code = 1, .flags = ~0u }, { .code = 1, .reserved = 1 },
		{ .code = SIFIVE_TRACE_EVENT_TIMESTAMP, .flags = 1 },
	};
	struct sifive_trace_event second[2] = { CYCLES };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		events_refused(_metadata, self->fd, &bad[i], 1, 0);
		second[1] = bad[i];
		events_refused(_metadata, self->fd, second, 2, 1);
	}
}

TEST_F(device, counters_refuses_more_events_than_there_is_room_for)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	const struct {
		uint32_t count;
		const char *words;
	} more[] = {
		{ 33, "33 events are 1 too many: there are 32 counters" },
		{ 0x80000000, "2147483648 events are 2147483616 too many: there are 32 counters" },
		{ ~0u, "4294967295 events are 4294967263 too many: there are 32 counters" },
	};
	size_t i;

	ASSERT_EQ(0, trace_config(self->fd, &config));
	for (i = 0; i < ARRAY_SIZE(more); i++) {
		counters.count = more[i].count;
		counters.failed = 0;
		EXPECT_EQ(-EINVAL, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS,
					       &counters));
		/* It is no event that was refused. */
		EXPECT_EQ(~0u, counters.failed);
		EXPECT_STREQ(more[i].words, trace_message(self->fd));
	}
}

TEST_F(device, counters_refuses_a_reserved_field_that_is_not_zero)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);

	ASSERT_EQ(0, trace_config(self->fd, &config));
	counters.reserved = 1;
	EXPECT_EQ(-EINVAL, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS,
				       &counters));
}

TRACE_HARNESS_MAIN

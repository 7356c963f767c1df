// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that mmap() maps only the stimulus pages of the session's encoders, only for the session's
 * owner, and only during the session. It must be impossible to grow, execute or inherit the
 * mappings.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_device.h"

FIXTURE(mapping) {
	int fd;
	size_t page;
	struct sifive_trace_info info;
	struct sifive_trace_encoder encoder;
	struct sifive_trace_config config;
};

FIXTURE_SETUP(mapping)
{
	self->page = (size_t)getpagesize();
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	self->config = trace_simple_config(self->fd, 0);
	ASSERT_EQ(0, trace_config(self->fd, &self->config));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &self->encoder));
}

FIXTURE_TEARDOWN(mapping)
{
	close(self->fd);
}

/* Call mmap() and munmap(); return 0 or a negative errno. */
static int try_map(int fd, size_t length, int prot, int flags, uint64_t offset)
{
	void *at = mmap(NULL, length, prot, flags, fd, (off_t)offset);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, length);
	return 0;
}

#define RW	(PROT_READ | PROT_WRITE)
#define TRY(length, prot, flags, offset) \
	try_map(self->fd, length, prot, flags, offset)

TEST_F(mapping, page_of_selected_encoder_can_be_mapped)
{
	uint64_t offset = self->encoder.mmap_offset;

	EXPECT_EQ(0, TRY(self->page, RW, MAP_SHARED, offset));
	EXPECT_EQ(0, TRY(self->page, PROT_READ, MAP_SHARED, offset));
	EXPECT_EQ(0, TRY(self->page, PROT_WRITE, MAP_SHARED, offset));
	EXPECT_EQ(0, TRY(1, RW, MAP_SHARED, offset));
}

TEST_F(mapping, more_than_one_page_is_refused)
{
	uint64_t offset = self->encoder.mmap_offset;

	EXPECT_EQ(-EINVAL, TRY(2 * self->page, RW, MAP_SHARED, offset));
	EXPECT_EQ(-EINVAL, TRY(self->page + 1, RW, MAP_SHARED, offset));
	EXPECT_EQ(-EINVAL, TRY(1 << 20, RW, MAP_SHARED, offset));
}

TEST_F(mapping, other_offsets_are_refused)
{
	uint64_t page = self->page;
	uint64_t offsets[] = {
		self->info.encoders * page, SIFIVE_TRACE_MAX_ENCODERS * page,
		(SIFIVE_TRACE_MAX_ENCODERS + 1) * page, 0x11000000, 0x80000000,
		/* These offsets would select encoder 0 if the upper half were truncated. */
		page << 32, page << 31, (uint64_t)INT64_MAX + 1 - page,
	};
	size_t i;

	if (self->info.encoders == SIFIVE_TRACE_MAX_ENCODERS)
		offsets[0] = offsets[1];
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		uint64_t offset = offsets[i];

		EXPECT_NE(0, TRY(self->page, RW, MAP_SHARED, offset)) {
			TH_LOG("offset %#llx", (unsigned long long)offset);
		}
	}
	EXPECT_EQ(-EINVAL, TRY(self->page, RW, MAP_SHARED, offsets[0]));
	EXPECT_EQ(-EINVAL, TRY(self->page, RW, MAP_SHARED, page << 32));
}

TEST_F(mapping, must_be_shared_and_not_executable)
{
	uint64_t offset = self->encoder.mmap_offset;
	void *at;

	EXPECT_EQ(-EINVAL, TRY(self->page, RW, MAP_PRIVATE, offset));
	EXPECT_EQ(-EINVAL, TRY(self->page, PROT_READ, MAP_PRIVATE, offset));
	EXPECT_EQ(-EINVAL, TRY(self->page, RW | PROT_EXEC, MAP_SHARED, offset));
	EXPECT_EQ(-EINVAL, TRY(self->page, PROT_EXEC, MAP_SHARED, offset));

	at = trace_map(self->fd, &self->encoder);
	ASSERT_NE(NULL, at);
	EXPECT_EQ(-1, mprotect(at, self->page, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(at, self->page, PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(0, mprotect(at, self->page, PROT_READ));
	EXPECT_EQ(0, mprotect(at, self->page, RW));
}

TEST_F(mapping, cannot_grow)
{
	void *at = trace_map(self->fd, &self->encoder), *moved;

	ASSERT_NE(NULL, at);
	EXPECT_EQ(MAP_FAILED, mremap(at, self->page, 2 * self->page,
				     MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(MAP_FAILED, mremap(at, self->page, 2 * self->page, 0));
	/* With an old length of 0, mremap() would create a second mapping of the page. */
	EXPECT_EQ(MAP_FAILED, mremap(at, 0, self->page, MREMAP_MAYMOVE));
	EXPECT_EQ(0, trace_signal_of_load(at));

	moved = mmap(NULL, self->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, moved);
	ASSERT_EQ(moved, mremap(at, self->page, self->page,
				MREMAP_MAYMOVE | MREMAP_FIXED, moved));
	EXPECT_EQ(0, trace_signal_of_load(moved));
	EXPECT_EQ(SIGSEGV, trace_signal_of_load(at));
}

TEST_F(mapping, moved_mapping_still_generates_messages)
{
	void *at = trace_map(self->fd, &self->encoder), *moved;
	struct trace_stream stream;
	uint8_t *bytes;
	ssize_t size;

	ASSERT_NE(NULL, at);
	moved = mmap(NULL, self->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_EQ(moved, mremap(at, self->page, self->page,
				MREMAP_MAYMOVE | MREMAP_FIXED, moved));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	trace_store(moved, trace_register(&self->encoder, 6), 42, 4);
	ASSERT_EQ(0, trace_stop(self->fd));
	size = trace_read_all(self->fd, &bytes);
	ASSERT_LT(0, size);
	ASSERT_EQ(0, trace_decode(bytes, (size_t)size, self->encoder.src_bits,
				  &stream));
	ASSERT_EQ(3, stream.count);
	EXPECT_EQ(42, stream.message[1].value);
}

TEST_F(mapping, undelivered_descriptor_is_closed)
{
	void *at = trace_map(self->fd, &self->encoder);
	struct sifive_trace_attach *attach;
	int number;

	ASSERT_NE(NULL, at);
	attach = mmap(NULL, self->page, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, attach);
	*attach = TRACE_ARG(sifive_trace_attach);
	attach->address = (uintptr_t)at;
	ASSERT_EQ(0, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_ATTACH, attach));
	number = attach->fd;
	EXPECT_EQ(0, trace_flags(number) ^ trace_flags(self->fd));
	ASSERT_EQ(0, close(number));
	ASSERT_EQ(0, mprotect(attach, self->page, PROT_READ));
	EXPECT_EQ(-EFAULT, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_ATTACH, attach));
	/* dup() returns the lowest free number, so the failed call has closed its descriptor. */
	EXPECT_EQ(number, dup(self->fd));
	close(number);
}

TEST_F(mapping, needs_session_of_same_descriptor)
{
	uint64_t offset = self->encoder.mmap_offset;
	int other = trace_open(O_RDWR), reader = trace_open(O_RDONLY);

	ASSERT_LE(0, other);
	ASSERT_LE(0, reader);
	EXPECT_EQ(-ENXIO, try_map(other, self->page, RW, MAP_SHARED, offset));
	/*
	 * If a file was opened read-only, the kernel turns a shared mapping of it into a private
	 * mapping, which is invalid.
	 */
	EXPECT_EQ(-EINVAL, try_map(reader, self->page, PROT_READ, MAP_SHARED, offset));
	EXPECT_EQ(-EACCES, try_map(reader, self->page, RW, MAP_SHARED, offset));
	close(self->fd);
	EXPECT_EQ(-ENXIO, try_map(other, self->page, RW, MAP_SHARED, offset));
	self->fd = other;
}

TEST_F(mapping, unselected_encoder_is_refused)
{
	struct sifive_trace_encoder other;

	if (self->info.encoders < 2)
		SKIP(return, "this board has one encoder");
	ASSERT_EQ(0, trace_encoder(self->fd, 1, &other));
	EXPECT_EQ(-ENXIO, TRY(self->page, RW, MAP_SHARED, other.mmap_offset));
}

TEST_F(mapping, child_does_not_inherit_mapping)
{
	void *at = trace_map(self->fd, &self->encoder);
	pid_t child;

	ASSERT_NE(NULL, at);
	ASSERT_EQ(0, trace_signal_of_load(at));
	child = fork();
	if (!child)
		_exit(trace_signal_of_load(at));
	EXPECT_EQ(SIGSEGV, trace_wait(child));
	EXPECT_EQ(0, trace_signal_of_load(at));
}

TEST_F(mapping, holds_session_after_descriptor_is_closed)
{
	struct sifive_trace_config config = self->config;
	void *at = trace_map(self->fd, &self->encoder);
	struct sifive_trace_status status;
	int other;

	ASSERT_NE(NULL, at);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	close(self->fd);
	other = trace_open(O_RDWR);
	self->fd = other;
	ASSERT_LE(0, other);
	EXPECT_EQ(0, trace_signal_of_load(at));
	EXPECT_EQ(-EBUSY, trace_config(other, &config));
	ASSERT_EQ(0, trace_status(other, &status));
	EXPECT_EQ(SIFIVE_TRACE_STATUS_CONFIGURED | SIFIVE_TRACE_STATUS_RUNNING,
		  status.flags);
	EXPECT_EQ(getpid(), status.holder);

	trace_unmap(at);
	EXPECT_EQ(0, trace_flags(other));
	config = trace_same_config(&self->config);
	EXPECT_EQ(0, trace_config(other, &config));
}

TEST_F(mapping, removed_when_encoder_is_deselected)
{
	struct sifive_trace_config config;
	void *at = trace_map(self->fd, &self->encoder);

	if (self->info.encoders < 2)
		SKIP(return, "this board has one encoder");
	ASSERT_NE(NULL, at);
	ASSERT_EQ(0, trace_signal_of_load(at));
	config = trace_simple_config(self->fd, 1);
	ASSERT_EQ(0, trace_config(self->fd, &config));
	EXPECT_EQ(SIGBUS, trace_signal_of_load(at));

	/* CONFIG ends the previous session even if it fails with ENOMEM. */
	config = trace_simple_config(self->fd, 0);
	ASSERT_EQ(0, trace_config(self->fd, &config));
	at = trace_map(self->fd, &self->encoder);
	ASSERT_EQ(0, trace_signal_of_load(at));
	config = trace_simple_config(self->fd, 0);
	if (config.sink != SIFIVE_TRACE_SINK_SBA)
		return;
	config.buffer = BIT64(40);
	ASSERT_EQ(-ENOMEM, trace_config(self->fd, &config));
	EXPECT_EQ(0, trace_flags(self->fd));
	EXPECT_EQ(SIGBUS, trace_signal_of_load(at));
}

/*
 * Call CONFIG and mmap() in a child with only these capabilities; return mmap()'s errno.
 */
static int map_with_caps(int fd, const struct sifive_trace_encoder *encoder,
			 uint64_t caps)
{
	struct sifive_trace_config config = trace_simple_config(fd, encoder->index);
	pid_t child = fork();

	if (child)
		return -trace_wait(child);
	if (trace_keep_caps(caps) || trace_config(fd, &config))
		_exit(99);
	_exit(-try_map(fd, (size_t)getpagesize(), RW, MAP_SHARED,
		       encoder->mmap_offset));
}

TEST_F(mapping, encoder_with_dma_sink_needs_rawio)
{
	uint64_t perfmon = BIT64(CAP_PERFMON);
	struct sifive_trace_encoder e;
	bool rawio;
	uint32_t i;

	for (i = 0; i < self->info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->fd, i, &e));
		rawio = e.sinks & BIT64(SIFIVE_TRACE_SINK_SBA);
		EXPECT_EQ(rawio, !!(e.flags & SIFIVE_TRACE_ENCODER_RAWIO));
		if (e.cpu < 0)
			continue;
		EXPECT_EQ(rawio ? -EPERM : 0,
			  map_with_caps(self->fd, &e, perfmon));
		EXPECT_EQ(0, map_with_caps(self->fd, &e, perfmon |
					   BIT64(CAP_SYS_RAWIO)));
	}
}

TEST_F(mapping, madvise_cannot_make_mapping_inherited_or_dumped)
{
	void *at = trace_map(self->fd, &self->encoder);

	ASSERT_NE(NULL, at);
	EXPECT_EQ(-1, madvise(at, self->page, MADV_DOFORK));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, madvise(at, self->page, MADV_DODUMP));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(mapping, proc_mem_cannot_access_mapping)
{
	void *at = trace_map(self->fd, &self->encoder);
	int memory = open("/proc/self/mem", O_RDWR);
	uint32_t word = 0;

	ASSERT_NE(NULL, at);
	ASSERT_LE(0, memory);
	EXPECT_EQ(0, trace_signal_of_load(at));
	EXPECT_EQ(-1, pread(memory, &word, sizeof(word), (off_t)(uintptr_t)at));
	EXPECT_EQ(-1, pwrite(memory, &word, sizeof(word), (off_t)(uintptr_t)at));
	close(memory);
}

TRACE_HARNESS_MAIN

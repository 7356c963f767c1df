// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that, on request, SWITCHES records each user-mode page fault of a process's threads, with
 * the page accessed, but no page faults of other processes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

#define CHANNEL		7
#define BUFFER		1048576

/* Number of pages to touch. */
#define PAGES		100
#define PAGE		4096

FIXTURE(faults) {
	struct trace_session s;
	struct sifive_trace_switches switches;
	char *fresh;
	/* Number of faults in each page of @fresh, and in all other pages. */
	unsigned int page[PAGES], others;
	/* Number of major faults, and number of faults in touch(). */
	unsigned int major, touched;
};

/* Pages that the process has not touched; the first access to each causes a fault. */
static char *make_pages(void)
{
	char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	return pages;
}

FIXTURE_SETUP(faults)
{
	if (sysconf(_SC_PAGESIZE) != PAGE)
		SKIP(return, "this kernel's page size is not 4 KiB");
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	self->switches = TRACE_ARG(sifive_trace_switches);
	self->switches.channel = trace_register(&self->s.encoder, CHANNEL);
	self->switches.flags = SIFIVE_TRACE_SWITCHES_FAULTS;
	self->fresh = make_pages();
	ASSERT_NE(NULL, self->fresh);
}

FIXTURE_TEARDOWN(faults)
{
	munmap(self->fresh, PAGES * PAGE);
	trace_session_close(&self->s);
}

static int start(struct _test_data_faults *self)
{
	return trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SWITCHES, &self->switches) ?:
	       trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND);
}

static __attribute__((noipa)) void *touch(void *pages);

/*
 * Count a fault. The record's words are the lower bits of the pc, the lower bits of the page
 * number, and the upper bits of both.
 */
static void look(struct _test_data_faults *self, const uint32_t *word)
{
	uint64_t page = (uint64_t)(word[2] & SIFIVE_TRACE_FAULT_PAGE) << 32 | word[1];
	uint64_t pc = (uint64_t)(word[2] & SIFIVE_TRACE_FAULT_PC) <<
		      (32 - SIFIVE_TRACE_FAULT_PC_SHIFT) | word[0];
	uint64_t index = page - (uintptr_t)self->fresh / PAGE;

	self->major += !!(word[2] & SIFIVE_TRACE_FAULT_MAJOR);
	if (index >= PAGES) {
		self->others++;
		return;
	}
	self->page[index]++;
	self->touched += pc - (uintptr_t)touch < 256;
}

/* Stop the recording, and count its faults. */
static int collect(struct _test_data_faults *self)
{
	struct trace_stream stream = {};
	unsigned int words = 0;
	uint32_t word[3] = {};
	int kind = 0;
	size_t i;

	self->others = 0;
	self->major = 0;
	self->touched = 0;
	memset(self->page, 0, sizeof(self->page));
	if (trace_stop(self->s.fd) ||
	    trace_collect(self->s.fd, self->s.encoder.src_bits, &stream))
		return -1;
	for (i = 0; i < stream.count; i++) {
		const struct trace_message *m = &stream.message[i];

		if (m->tcode != TRACE_TCODE_DATA || m->tag / 4 != CHANNEL)
			continue;
		if (m->tag == trace_tag(CHANNEL, 1)) {
			kind = m->value;
			words = 0;
			continue;
		}
		if (words >= 3)
			break;
		word[words++] = m->value;
		if (kind == SIFIVE_TRACE_SWITCH_FAULT && words == 3)
			look(self, word);
	}
	free(stream.message);
	return i == stream.count ? 0 : -1;
}

/* Return the number of fresh pages with @count faults. */
static unsigned int faulted(const struct _test_data_faults *self, unsigned int count)
{
	unsigned int i, pages = 0;

	for (i = 0; i < PAGES; i++)
		pages += self->page[i] == count;
	return pages;
}

static void *touch(void *pages)
{
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		((volatile char *)pages)[i * PAGE] = 1;
	return NULL;
}

TEST_F(faults, each_new_page_causes_one)
{
	ASSERT_EQ(0, start(self));
	touch(self->fresh);
	touch(self->fresh);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(PAGES, faulted(self, 1));
	EXPECT_EQ(0, self->major);
	EXPECT_EQ(PAGES, self->touched);
}

/*
 * The first read maps the shared zero page. The first write replaces that page, and so causes a
 * second fault.
 */
TEST_F(faults, page_written_after_read_causes_two)
{
	unsigned int i;

	ASSERT_EQ(0, start(self));
	for (i = 0; i < PAGES / 2; i++)
		(void)((volatile char *)self->fresh)[i * PAGE];
	touch(self->fresh);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(PAGES / 2, faulted(self, 2));
	EXPECT_EQ(PAGES / 2, faulted(self, 1));
}

TEST_F(faults, other_threads_are_recorded)
{
	pthread_t thread;

	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, pthread_create(&thread, NULL, touch, self->fresh));
	pthread_join(thread, NULL);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(PAGES, faulted(self, 1));
}

TEST_F(faults, other_processes_are_not_recorded)
{
	pid_t child;

	ASSERT_EQ(0, start(self));
	child = fork();
	if (!child) {
		touch(self->fresh);
		_exit(0);
	}
	ASSERT_EQ(0, trace_wait(child));
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(PAGES, faulted(self, 0));
}

/* The kernel's accesses to user memory during a system call are not recorded as page faults. */
TEST_F(faults, kernel_accesses_are_not_recorded)
{
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(1, write(ends[1], "", 1));
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(1, read(ends[0], self->fresh, 1));
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(PAGES, faulted(self, 0));
	close(ends[0]);
	close(ends[1]);
}

TEST_F(faults, not_recorded_without_flag)
{
	self->switches.flags = SIFIVE_TRACE_SWITCHES_SYSCALLS;
	ASSERT_EQ(0, start(self));
	touch(self->fresh);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(PAGES, faulted(self, 0));
	EXPECT_EQ(0, self->others);
}

/*
 * Wait until the CPU records again, after its online callbacks. Return 0, or -1 if it does not
 * record.
 */
static int wait_for_records(struct _test_data_faults *self)
{
	struct sifive_trace_status before, status;
	unsigned int i;

	if (trace_status(self->s.fd, &before))
		return -1;
	for (i = 0; i < 10000; i++) {
		usleep(1000);
		if (trace_status(self->s.fd, &status))
			return -1;
		if (status.switches != before.switches)
			return 0;
	}
	return -1;
}

TEST_F(faults, recorded_after_cpu_was_offline)
{
	const char *path = trace_session_leaver(&self->s);

	ASSERT_LE(0, self->s.fd);
	if (!path)
		SKIP(return, "needs a second CPU with an encoder that can go offline");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	self->switches.channel = trace_register(&self->s.encoder, CHANNEL);
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	ASSERT_EQ(0, start(self));
	/* The thread moves to another CPU. */
	ASSERT_LE(0, trace_file_write(path, "0"));
	ASSERT_LE(0, trace_file_write(path, "1"));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	ASSERT_EQ(0, wait_for_records(self));
	touch(self->fresh);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(PAGES, faulted(self, 1));
}

TEST_F(faults, not_recorded_during_pause)
{
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, trace_pause(self->s.fd));
	touch(self->fresh);
	ASSERT_EQ(0, trace_unpause(self->s.fd));
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(PAGES, faulted(self, 0));
}

TRACE_HARNESS_MAIN

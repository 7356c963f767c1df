/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The whole library for tests on the host, with a simulated trace device. The library's system
 * calls are replaced and counted, and can be made to fail.
 *
 * Include this after all system headers and kselftest_harness.h, once per program: it
 * contains the library.
 */
#ifndef LIB_MOCK_H
#define LIB_MOCK_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define MOCK_DEVICE
#include "record_mock.h"
#include "../../lib/rseq.h"

#include <linux/sifive_trace.h>
#include <linux/sifive_trace_regs.h>
#include <linux/sifive_trace_request.h>

#include "sifive_linux_perf.h"
#include "sifive_linux_trace.h"

#define MOCK_PAGE_SIZE	4096
#define MOCK_FD		1000

/* The device: its properties, the calls it received, and the failures it simulates. */
static struct {
	/* Properties. */
	int open_errno;
	bool module;				/* the module is loaded */
	struct sifive_trace_info info;
	struct sifive_trace_encoder encoder[4];
	struct sifive_trace_status status;
	struct sifive_trace_sink sink[2];
	unsigned char capture[70000];
	unsigned int cpus;			/* mask of sched_getaffinity() */

	/* Calls. */
	const char *path;
	struct sifive_trace_config config;
	struct sifive_trace_counters counters;
	struct sifive_trace_sampling sampling;
	struct sifive_trace_switches switches;
	unsigned int starts, stops, joins, reads, requests;
	off_t mmap_offset;

	/* State. */
	int fds, maps;
	bool configured, running;
	unsigned int lost_stores;		/* stores while the device was not running */
	long last_channel, last_page;

	/*
	 * Failures to simulate: @fail_request selects an ioctl(), which fails with @fail_errno; the
	 * other errors are named after the calls that fail.
	 */
	unsigned long fail_request;
	int fail_errno;
	int mmap_errno, pages_errno, madvise_errno, affinity_errno, pread_errno;
	uint32_t fail_event;
	uint32_t free_counters, readable;
	struct sifive_trace_event event[32];	/* counters to return, for each bit of @event_set */
	uint32_t event_set;

	/*
	 * Maximum numbers of bytes that one read of the device returns, that one write() accepts,
	 * and that fit on the disk.
	 */
	size_t read_max, write_max, write_space;
} dev;

/* The calling thread's rseq data, which the kernel provides unless mock_no_rseq is set. */
static __thread struct perf_rseq mock_rseq;
static bool mock_no_rseq;

/* Number of reads of stimulus registers. */
static unsigned int mock_polls;

/* Set if stimulus registers read as 0, like memory. */
static bool mock_is_memory;

static inline void mock_device_reset(void)
{
	unsigned int i;

	mock_reset();
	memset(&dev, 0, sizeof(dev));
	dev.info = (struct sifive_trace_info) {
		.abi = SIFIVE_TRACE_ABI, .encoders = 2, .funnels = 1,
		.page_size = MOCK_PAGE_SIZE, .ts_width = 40,
		.flags = SIFIVE_TRACE_INFO_COUNTERS,
	};
	for (i = 0; i < 4; i++)
		dev.encoder[i] = (struct sifive_trace_encoder) {
			.index = i, .cpu = i ? 0 : 1, .src = i, .src_bits = 2,
			.flags = SIFIVE_TRACE_ENCODER_TS_READABLE |
				 SIFIVE_TRACE_ENCODER_CAN_STALL,
			.mmap_offset = 0x10000 * (i + 1), .ts_width = 40,
		};
	dev.cpus = 1 << 1;
	mock_no_rseq = false;
	mock_polls = 0;
	mock_rseq.cpu_id = 1;
	dev.fail_event = ~0u;
	/* Return few bytes per read, as a device may. */
	dev.read_max = 1000;
	dev.write_max = ~(size_t)0;
	dev.write_space = ~(size_t)0;
	for (i = 0; i < sizeof(dev.capture); i++)
		dev.capture[i] = (unsigned char)(i * 7);
}

static int mock_open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
		return open(path, flags, mode);
	}
	/*
	 * The device is the only file that the library opens for both reading and writing.
	 */
	if ((flags & O_ACCMODE) == O_RDONLY)
		return open(path, flags);

	dev.path = path;
	if (flags != (O_RDWR | O_CLOEXEC))
		abort();
	if (dev.open_errno) {
		errno = dev.open_errno;
		return -1;
	}
	dev.fds++;
	return MOCK_FD;
}

static int mock_stat(const char *path, struct stat *about)
{
	/* The library checks for this file to find out whether the module is loaded. */
	if (!strcmp(path, "/sys/bus/platform/drivers/sifive-trace-encoder"))
		return dev.module ? 0 : -1;
	return stat(path, about);
}

static int mock_fstat(int fd, struct stat *about)
{
	if (fd != MOCK_FD)
		return fstat(fd, about);
	memset(about, 0, sizeof(*about));
	about->st_mode = S_IFCHR;
	about->st_rdev = 0x1234;
	return 0;
}

static int mock_close(int fd)
{
	if (fd != MOCK_FD)
		return close(fd);
	if (!--dev.fds)
		dev.configured = false;
	return 0;
}

static int mock_counters(struct sifive_trace_counters *counters)
{
	unsigned int i, hpm = 3;

	if (dev.fail_event < counters->count) {
		counters->failed = dev.fail_event;
		errno = dev.fail_errno;
		return -1;
	}

	for (i = 0; i < counters->count; i++) {
		struct sifive_trace_event *event = &counters->event[i];

		if (dev.event_set & 1u << i) {
			event->counter = dev.event[i].counter;
			event->info = dev.event[i].info;
			continue;
		}
		if (event->type == 0 && event->code == HW_CPU_CYCLES)
			event->counter = 0;
		else if (event->type == 0 && event->code == HW_TIMESTAMP)
			event->counter = 1;
		else if (event->type == 0 && event->code == HW_INSTRUCTIONS)
			event->counter = 2;
		else
			event->counter = hpm++;
		event->info = mock_info(event->counter, event->counter == 1 ? 40 : 64);
		if (event->type == SIFIVE_TRACE_EVENT_FIRMWARE)
			event->info &= ~SIFIVE_TRACE_COUNTER_CSR;
	}
	dev.counters = *counters;
	return 0;
}

static int mock_ioctl(int fd, unsigned long request, void *arg)
{
	struct sifive_trace_encoder *encoder = arg;
	uint32_t index;

	if (fd != MOCK_FD)
		abort();
	if (request == dev.fail_request) {
		errno = dev.fail_errno;
		return -1;
	}

	switch (request) {
	case SIFIVE_TRACE_IOC_ATTACH:
		if (((struct sifive_trace_attach *)arg)->flags !=
		    SIFIVE_TRACE_ATTACH_COMPARE)
			abort();
		return 0;
	case SIFIVE_TRACE_IOC_INFO:
		if (((struct sifive_trace_info *)arg)->size != sizeof(dev.info))
			abort();
		memcpy(arg, &dev.info, sizeof(dev.info));
		return 0;
	case SIFIVE_TRACE_IOC_ENCODER:
		index = encoder->index;
		if (encoder->size != sizeof(*encoder) || index >= dev.info.encoders)
			abort();
		*encoder = dev.encoder[index];
		/* These flags are known only once the encoder is set up. */
		if (!dev.configured)
			encoder->flags &= ~(SIFIVE_TRACE_ENCODER_TS_CHANNELS |
					    SIFIVE_TRACE_ENCODER_TS_READABLE |
					    SIFIVE_TRACE_ENCODER_CAN_STALL);
		return 0;
	case SIFIVE_TRACE_IOC_CONFIG:
		memcpy(&dev.config, arg, sizeof(dev.config));
		dev.configured = true;
		if (!dev.status.sinks)
			dev.status.sinks = 1;
		return 0;
	case SIFIVE_TRACE_IOC_COUNTERS:
		return mock_counters(arg);
	case SIFIVE_TRACE_IOC_EVENT:
		if (((struct sifive_trace_query *)arg)->size !=
		    sizeof(struct sifive_trace_query))
			abort();
		((struct sifive_trace_query *)arg)->counters = dev.free_counters;
		((struct sifive_trace_query *)arg)->readable = dev.readable;
		return 0;
	case SIFIVE_TRACE_IOC_THREAD:
		__atomic_fetch_add(&dev.joins, 1, __ATOMIC_RELAXED);
		((struct sifive_trace_thread *)arg)->slot = 3;
		return 0;
	case SIFIVE_TRACE_IOC_REQUEST:
		if (((struct sifive_trace_request *)arg)->size !=
		    sizeof(struct sifive_trace_request) ||
		    ((struct sifive_trace_request *)arg)->flags)
			abort();
		dev.requests++;
		return 0;
	case SIFIVE_TRACE_IOC_SAMPLING:
		memcpy(&dev.sampling, arg, sizeof(dev.sampling));
		return 0;
	case SIFIVE_TRACE_IOC_SWITCHES:
		memcpy(&dev.switches, arg, sizeof(dev.switches));
		return 0;
	case SIFIVE_TRACE_IOC_STATUS:
		memcpy(arg, &dev.status, sizeof(dev.status));
		return 0;
	case SIFIVE_TRACE_IOC_SINK:
		index = ((struct sifive_trace_sink *)arg)->index;
		if (index >= dev.status.sinks)
			abort();
		*(struct sifive_trace_sink *)arg = dev.sink[index];
		/* If there is only one sink, it receives all bytes. */
		if (dev.status.sinks == 1)
			((struct sifive_trace_sink *)arg)->bytes = dev.status.bytes;
		return 0;
	case SIFIVE_TRACE_IOC_START:
		dev.starts++;
		if (dev.status.flags & SIFIVE_TRACE_STATUS_FULL) {
			errno = ENOSPC;
			return -1;
		}
		dev.running = true;
		return 0;
	case SIFIVE_TRACE_IOC_STOP:
		dev.stops++;
		dev.running = false;
		return 0;
	default:
		abort();
	}
}

/* The address at which the library maps the device's pages. */
static char *mock_pages;

/* The library maps pages of the device, or the memory after them, at fixed addresses. */
static void *mock_mmap(void *addr, size_t length, int prot, int flags, int fd,
		       off_t offset)
{
	void *memory;

	if (fd == MOCK_FD) {
		if (flags == MAP_SHARED) {
			struct sifive_trace_slot *slots;

			if (prot != PROT_READ)
				abort();
			slots = calloc(1, length);
			slots[3].offset[1] = 1;	/* written once */
			return slots;
		}
		if (prot != (PROT_READ | PROT_WRITE) ||
		    flags != (MAP_SHARED | MAP_FIXED) || length != MOCK_PAGE_SIZE)
			abort();
		if (dev.mmap_errno) {
			errno = dev.mmap_errno;
			return MAP_FAILED;
		}
		dev.maps++;
		if (offset == SIFIVE_TRACE_MMAP_LOSSES)
			memset(addr, 0, length);
		else
			dev.mmap_offset = offset;
		return addr;
	}
	if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
		if (!mock_pages ||
		    (size_t)((char *)addr - mock_pages) > 64 * MOCK_PAGE_SIZE)
			abort();
		if (dev.maps)
			dev.maps--;
		return addr;
	}

	if (dev.pages_errno) {
		errno = dev.pages_errno;
		return MAP_FAILED;
	}
	memory = mmap(addr, length, prot, flags, fd, offset);
	if (length == 65 * MOCK_PAGE_SIZE)
		mock_pages = memory;
	return memory;
}

/* Free the thread slots, which are heap memory; unmap any other mapping, such as a pool. */
static int mock_munmap(void *addr, size_t length)
{
	if (length == SIFIVE_TRACE_THREADS * sizeof(struct sifive_trace_slot)) {
		free(addr);
		return 0;
	}
	return munmap(addr, length);
}

static int mock_madvise(void *addr, size_t length, int advice)
{
	if (dev.madvise_errno) {
		errno = dev.madvise_errno;
		return -1;
	}
	return madvise(addr, length, advice);
}

static ssize_t mock_pread(int fd, void *to, size_t size, off_t offset)
{
	uint64_t left = dev.status.bytes - (uint64_t)offset;

	if (fd != MOCK_FD)
		abort();
	if (dev.pread_errno) {
		errno = dev.pread_errno;
		/* The call is interrupted once, then works as usual. */
		if (errno == EINTR)
			dev.pread_errno = 0;
		return -1;
	}
	if (size > left)
		size = left;
	dev.reads++;
	if (size > dev.read_max)
		size = dev.read_max;
	memcpy(to, dev.capture + offset, size);
	return (ssize_t)size;
}

static ssize_t mock_write(int fd, const void *from, size_t size)
{
	if (!dev.write_space) {
		errno = ENOSPC;
		return -1;
	}
	if (size > dev.write_max)
		size = dev.write_max;
	if (size > dev.write_space)
		size = dev.write_space;
	dev.write_space -= size;
	return write(fd, from, size);
}

static int mock_getaffinity(pid_t pid, size_t size, cpu_set_t *cpus)
{
	unsigned int i;

	if (pid || size != sizeof(*cpus))
		abort();
	if (dev.affinity_errno) {
		errno = dev.affinity_errno;
		return -1;
	}
	for (i = 0; i < 32; i++)
		if (dev.cpus & 1u << i)
			CPU_SET(i, cpus);
	return 0;
}

/* Number of calls that are not safe in a signal handler. */
static unsigned int mock_unsafe;

/* Number of sleeps, which measures the library's waits regardless of the host's load. */
static unsigned int mock_naps;

/* Called once, just before the library blocks signals. */
static void (*mock_before_blocking)(void);

static inline void mock_syscall(long number, ...)
{
	void (*before)(void) = mock_before_blocking;

	mock_naps += number == SYS_clock_nanosleep;
	if (number != SYS_rt_sigprocmask || !before)
		return;
	mock_before_blocking = NULL;
	before();
}

#define MOCK_UNSAFE(call, ...)	(mock_unsafe++, call(__VA_ARGS__))

#define malloc(...)		MOCK_UNSAFE(malloc, __VA_ARGS__)
#define calloc(...)		MOCK_UNSAFE(calloc, __VA_ARGS__)
#define realloc(...)		MOCK_UNSAFE(realloc, __VA_ARGS__)
#define strdup(...)		MOCK_UNSAFE(strdup, __VA_ARGS__)
#define fopen(...)		MOCK_UNSAFE(fopen, __VA_ARGS__)
#define dl_iterate_phdr(...)	MOCK_UNSAFE(dl_iterate_phdr, __VA_ARGS__)
#define pthread_atfork(...)	MOCK_UNSAFE(pthread_atfork, __VA_ARGS__)
/* On the target, code has even addresses, and bit 0 of an address in a record has a meaning. */
#define __builtin_return_address(level) \
	((void *)((uintptr_t)__builtin_return_address(level) & ~(uintptr_t)1))

#define syscall(...)		(mock_syscall(__VA_ARGS__, 0), syscall(__VA_ARGS__))
#define open(...)		mock_open(__VA_ARGS__)
#define stat(...)		mock_stat(__VA_ARGS__)
#define close(...)		mock_close(__VA_ARGS__)
#define fstat(...)		mock_fstat(__VA_ARGS__)
#define ioctl(...)		mock_ioctl(__VA_ARGS__)
#define mmap(...)		mock_mmap(__VA_ARGS__)
#define munmap(...)		mock_munmap(__VA_ARGS__)
#define madvise(...)		mock_madvise(__VA_ARGS__)
#define pread(...)		mock_pread(__VA_ARGS__)
#define write(...)		mock_write(__VA_ARGS__)
#define sched_getaffinity(...)	mock_getaffinity(__VA_ARGS__)

PERF_INTERNAL struct perf_rseq *perf_rseq_find(void)
{
	return mock_no_rseq ? NULL : &mock_rseq;
}

PERF_INTERNAL void perf_rseq_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* The library checks whether weak functions are present; in a single file, they always are. */
#pragma GCC diagnostic ignored "-Waddress"

#define PERF_AMALGAMATION
#undef PERF_INTERNAL_DATA
#define PERF_INTERNAL_DATA	static

#include "../../lib/counter.c"
#include "../../lib/record.c"
#include "../../lib/section.c"
#include "../../lib/quiet.c"
#include "../../lib/error.c"
#include "../../lib/environment.c"
#include "../../lib/event.c"
#include "../../lib/descriptor.c"
#include "../../lib/device.c"
#include "../../lib/switches.c"
#include "../../lib/thread.c"
#include "../../lib/channel.c"
#include "../../lib/joined.c"
#include "../../lib/room.c"
#include "../../lib/writer.c"
#include "../../lib/fault.c"
#include "../../lib/filter.c"
#include "../../lib/depth.c"
#include "../../lib/part.c"

/* Called once before a restartable sequence, after the library has read the CPU's number. */
static void (*mock_before_reading)(void);

static bool mock_section_any(struct perf_rseq *rseq, const volatile int32_t *mine,
			     const volatile uint32_t *page, uint64_t *now,
			     const uint8_t *number, uint32_t count,
			     const volatile uint64_t *offset)
{
	void (*before)(void) = mock_before_reading;

	mock_before_reading = NULL;
	if (before)
		before();
	return perf_section_any(rseq, mine, page, now, number, count, offset);
}

#define perf_section_any	mock_section_any
#include "../../lib/hooks.c"
#undef perf_section_any
#include "../../lib/namespace.c"
#include "../../lib/bind.c"
#include "../../lib/session.c"
#include "../../lib/object.c"
#include "../../lib/objects.c"
#include "../../lib/meta.c"
#include "../../lib/dump.c"
#include "../../lib/options.c"
#include "../../lib/auto.c"
#include "../../lib/trace.c"
#include "../../lib/perf.c"

#undef malloc
#undef calloc
#undef realloc
#undef strdup
#undef fopen
#undef dl_iterate_phdr
#undef pthread_atfork
#undef __builtin_return_address
#undef syscall
#undef open
#undef stat
#undef close
#undef fstat
#undef ioctl
#undef mmap
#undef munmap
#undef madvise
#undef pread
#undef write
#undef sched_getaffinity

static void mock_stimulus_store(volatile uint32_t *stimulus, unsigned int bits,
				uint32_t value)
{
	long offset = ((volatile char *)stimulus - pages) % MOCK_PAGE_SIZE;

	if (offset < TR_ITC_STIMULUS || offset >= 0x100 || offset % 4)
		abort();
	dev.last_channel = (offset - TR_ITC_STIMULUS) / 4;
	dev.last_page = ((volatile char *)stimulus - pages) / MOCK_PAGE_SIZE;
	if (!dev.running)
		dev.lost_stores++;
	mock_store(bits, value);
}

PERF_INTERNAL void perf_stimulus32(volatile uint32_t *stimulus, uint32_t value)
{
	mock_stimulus_store(stimulus, 32, value);
}

PERF_INTERNAL void perf_stimulus16(volatile uint32_t *stimulus, uint16_t value)
{
	mock_stimulus_store(stimulus, 16, value);
}

PERF_INTERNAL void perf_stimulus8(volatile uint32_t *stimulus, uint8_t value)
{
	mock_stimulus_store(stimulus, 8, value);
}

PERF_INTERNAL uint32_t perf_mmio_read32(const volatile uint32_t *reg)
{
	long offset = ((const volatile char *)reg - pages) % MOCK_PAGE_SIZE;
	uint64_t now = mock_counter[1];

	/* A stimulus register reads 1 if it is ready to receive a store. */
	if (offset >= TR_ITC_STIMULUS) {
		mock_polls++;
		return !mock_is_memory;
	}
	if (offset != TR_TS_LOWER &&
	    offset != TR_TS_UPPER)
		abort();
	mock_last_read = mock_stores;
	return (uint32_t)(offset == TR_TS_LOWER ? now : now >> 32);
}

static bool mock_is_device(uint64_t address)
{
	return pages && address - (uintptr_t)pages < 64 * MOCK_PAGE_SIZE;
}

#include "machine.h"

/* EXPECT that a call failed with @part in the error message. */
#define EXPECT_ERROR(call, part)					\
do {									\
	EXPECT_EQ(-1, (call));						\
	EXPECT_NE(NULL, strstr(perfErrorString(), (part))) {		\
		TH_LOG("error string: \"%s\"", perfErrorString());	\
	}								\
} while (0)

/* EXPECT that nothing is open, mapped or allocated. */
#define EXPECT_NOTHING_HELD()						\
do {									\
	EXPECT_EQ(0, dev.fds);						\
	EXPECT_EQ(0, dev.maps);						\
} while (0)

#endif /* LIB_MOCK_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Opens and configures the kernel's trace device, and runs captures.
 *
 * Functions that fail return -1 and set the text of perfErrorString().
 */
#ifndef PERF_DEVICE_H
#define PERF_DEVICE_H

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/sifive_trace.h>

#include "compiler.h"
#include "record.h"
#include "thread.h"

/* Size of an event's name, with its NUL. */
#define PERF_EVENT_NAME	64

/**
 * struct perf_device - an open trace device
 * @fd:		descriptor, or -1 if closed; the program may have closed it and reused
 *		the number: perf_device_fd() checks that
 * @path:	path of the device
 * @node:	device number of @path
 * @capture:	the number of the session's capture, or 0 if none
 * @info:	the machine's trace hardware
 * @count:	number of chosen encoders
 * @mapped:	number of the encoders' pages that were mapped or could not be mapped
 * @encoder:	the chosen encoders
 * @slots:	the thread slots, or NULL if not mapped
 * @began:	CLOCK_MONOTONIC in nanoseconds when the capture was first started, or 0
 * @ran:	nanoseconds from @began until the capture was last stopped
 * @joined:	whether another process holds the session
 * @process, @parent: if @joined is set: ids of the process that joined and of its parent, in the
 *		pid namespace of the process that holds the session
 * @processes:	ids of the @process_count processes to record, 0 after their end; NULL: the caller
 */
struct perf_device {
	volatile int fd;
	char path[PATH_MAX];
	dev_t node;
	uint32_t capture;
	struct sifive_trace_info info;
	uint32_t count;
	uint32_t mapped;
	struct sifive_trace_encoder encoder[PERF_CPUS];
	uint64_t began;
	uint64_t ran;
#ifndef PERF_DROPIN
	void *slots;
	bool joined;
	int32_t process, parent;
	int32_t *processes;
	uint32_t process_count;
#endif /* PERF_DROPIN */
};

/* Stimulus registers not used by instruction trace, which uses 15 and 31 to identify threads. */
#define PERF_STIMULUS_FREE	0x7fff7fffu

/* The driver's limit: one sink for each encoder. */
#define PERF_MAX_SINKS	64

/**
 * perf_device_open - open the device and query the hardware
 * @device:	device to fill in
 *
 * Opens /dev/sifive-trace, or the device in SIFIVE_TRACE_DEVICE.
 */
PERF_INTERNAL int perf_device_open(struct perf_device *device);

/**
 * perf_device_error - set the error text for a failed call
 * @error:	errno of the failed call
 * @what:	text that describes what failed
 * @reason:	text that replaces the text for @error, or NULL
 *
 * Adds the kernel's message. Returns -1.
 */
PERF_INTERNAL int perf_device_error(struct perf_device *device, int error,
				    const char *what, const char *reason);

/**
 * perf_device_fd - get a descriptor of the session's open file
 *
 * Returns @fd, or, if the program has closed @fd, a new descriptor from the driver, which
 * identifies the session by the mapped pages. Returns -1 with errno on failure. Async-signal-safe
 * and thread-safe.
 */
PERF_INTERNAL int perf_device_fd(struct perf_device *device);

/* Release all resources of @device, which may already be closed. */
PERF_INTERNAL void perf_device_close(struct perf_device *device);

/**
 * perf_device_forget - in a child: close the device, which the parent continues to use
 * @fork:	whether fork() is creating the child now; if not, the child may have mapped memory
 *
 * A child does not inherit the stimulus pages. A new child maps anonymous memory over their address
 * range, so that nothing else can be mapped there.
 */
PERF_INTERNAL void perf_device_forget(struct perf_device *device, bool fork);

/**
 * perf_device_choose - choose the encoders of some CPUs
 * @cpus:	Linux CPU numbers; CPUs without an encoder are ignored
 *
 * Fails if none of the CPUs has an encoder.
 */
PERF_INTERNAL int perf_device_choose(struct perf_device *device,
				     const cpu_set_t *cpus);

/**
 * perf_device_channels - find the available channels
 *
 * Returns a mask: bit n is set if all chosen encoders have channel n with timestamps.
 * Call perf_device_take() first.
 */
PERF_INTERNAL uint32_t perf_device_channels(const struct perf_device *device);

/* Check that ITC channel @channel, 0 to 31, is available. */
PERF_INTERNAL int perf_device_check_channel(const struct perf_device *device,
					    unsigned int channel);

/**
 * perf_device_take - take the chosen encoders and a buffer
 * @wanted:	request: @buffer (0 for the trace hardware's SRAM), @flags and @instruction; its
 *		other members are ignored
 */
PERF_INTERNAL int perf_device_take(struct perf_device *device,
				   const struct sifive_trace_config *wanted);

/* Return whether all chosen encoders can stall their harts. Call perf_device_take() first. */
PERF_INTERNAL bool perf_device_stalls(const struct perf_device *device);

/*
 * To keep static programs small, events take turns only in the shared library, which the
 * recorder preloads, and in the recorder itself.
 */
#if defined(PERF_SHARED) || defined(PERF_COMMAND)
#define PERF_TURNS	1
#else
#define PERF_TURNS	0
#endif

/**
 * perf_device_counters - start counters and give the calling thread access to them
 * @counter:	counters with their events; number, info and turn are filled in
 * @name:	user's names for the events, for error messages, or "" if none
 * @count:	number of events, 0 to 32
 * @per_thread:	whether each thread has its own counts
 * @turn_us:	length of a turn in microseconds, or 0 if having too few counters is an error
 */
PERF_INTERNAL int perf_device_counters(struct perf_device *device,
				       struct perf_counter *counter,
				       char (*name)[PERF_EVENT_NAME],
				       uint32_t count, bool per_thread, uint32_t turn_us);

/**
 * perf_device_sample - set up the kernel's sampling
 * @sampling:	the setting; its @channel is an ITC channel; @interval and @period are set to
 *		the values in use
 * @type:	SIFIVE_TRACE_RECORD_RAW, _DELTA or _XOR
 * @once:	whether to write only one header for the whole capture
 */
PERF_INTERNAL int perf_device_sample(struct perf_device *device,
				     struct sifive_trace_sampling *sampling,
				     uint32_t type, bool once);

/* Return an event in the driver's format. */
PERF_INTERNAL struct sifive_trace_event perf_device_event(const struct perf_counter *counter);

/* Return private memory that is allocated on first use, or NULL if there is no address range. */
PERF_INTERNAL void *perf_memory(size_t size);

/* Map the chosen encoders' stimulus pages. */
PERF_INTERNAL int perf_device_map(struct perf_device *device);

#ifndef PERF_DROPIN
/* Map the thread slots, which per-thread counts need. */
PERF_INTERNAL int perf_device_map_slots(struct perf_device *device);
#endif /* PERF_DROPIN */

/* Return the mapped stimulus page of chosen encoder @index, or the losses page. */
#define PERF_LOSSES_PAGE	PERF_CPUS
PERF_INTERNAL void *perf_device_page(const struct perf_device *device,
				     uint32_t index);

/* Fill in the registers of @channel of chosen encoder @index. */
PERF_INTERNAL void perf_device_stream(const struct perf_device *device, uint32_t index,
				      unsigned int channel, struct perf_stream *stream);

/*
 * Start turning stores into messages. @flags: SIFIVE_TRACE_START_*. Returns 1 if the
 * buffer is full.
 */
PERF_INTERNAL int perf_device_start(struct perf_device *device, uint32_t flags);

/* Stop turning stores into messages. On return, all earlier messages are in the buffer. */
PERF_INTERNAL int perf_device_stop(struct perf_device *device);

/**
 * perf_device_capture - query the state of the capture
 *
 * On success, @capture->sinks is at most PERF_MAX_SINKS, and @capture->message is NUL-terminated.
 * If any component's registers were changed during the capture, @capture->changed is not 0.
 */
PERF_INTERNAL int perf_device_capture(struct perf_device *device,
				      struct sifive_trace_status *capture);

/* Return CLOCK_MONOTONIC in nanoseconds. */
PERF_INTERNAL uint64_t perf_device_now(void);

/* Query sink @index, which must be less than the capture's number of sinks. */
PERF_INTERNAL int perf_device_sink(struct perf_device *device, uint32_t index,
				   struct sifive_trace_sink *sink);

/**
 * perf_device_file - construct the name of the file for the data of sink @index
 * @name:	result: the name, truncated to PATH_MAX bytes including the NUL
 *
 * With a single sink, the file is @path. With several sinks, the index precedes the last extension:
 * trace.0.rtd, trace.1.rtd ...
 */
PERF_INTERNAL void perf_device_file(char *name, const char *path, uint32_t index, uint32_t sinks);

/**
 * perf_device_read - read captured bytes
 * @offset:	offset from the oldest byte
 *
 * Returns the number of bytes, or 0 at the end.
 */
PERF_INTERNAL ssize_t perf_device_read(struct perf_device *device, void *to,
				       size_t size, uint64_t offset);

#endif /* PERF_DEVICE_H */

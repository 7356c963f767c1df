/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The trace device of the kernel: the one place that knows its ioctls.
 *
 * All functions that can fail return -1 and leave text for perfErrorString().
 */
#ifndef PERF_DEVICE_H
#define PERF_DEVICE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/sifive_trace.h>

#include "compiler.h"
#include "record.h"
#include "thread.h"

/**
 * struct perf_device - an open trace device
 * @fd:		its descriptor, -1 when closed; the program may have closed it, and
 *		the number be another file's: perf_device_fd() finds out
 * @path:	what was opened
 * @node:	device number of that
 * @capture:	which capture is the session's, 0 = none
 * @info:	the machine's trace hardware
 * @count:	number of encoders that were chosen
 * @mapped:	of how many of them pages are mapped, or were tried to
 * @encoder:	these
 * @slots:	the thread slots, NULL when not mapped
 * @began:	when the capture was first started, in nanoseconds of the monotonic
 *		clock; 0 = not yet
 * @ran:	nanoseconds from there to when it was last stopped
 */
struct perf_device {
	volatile int fd;
	const char *path;
	dev_t node;
	uint32_t capture;
	struct sifive_trace_info info;
	uint32_t count;
	uint32_t mapped;
	struct sifive_trace_encoder encoder[PERF_CPUS];
	void *slots;
	uint64_t began;
	uint64_t ran;
};

/**
 * struct perf_take - what is wanted of the hardware
 * @buffer:	bytes of system memory for each sink, 0 for the trace hardware's SRAM
 * @ring:	keep the newest bytes; otherwise stop when the buffer is full
 */
struct perf_take {
	uint64_t buffer;
	bool ring;
};

/* The driver's limit: one for each encoder. */
#define PERF_MAX_SINKS	64

/**
 * struct perf_capture - how far a capture has come
 * @bytes:	bytes that can be read
 * @sinks:	number of sinks that hold them, one after the other
 * @full:	a buffer is full, the capture has stopped
 * @wrapped:	a ring has overwritten its oldest bytes
 * @samples:	records that the kernel has written
 * @samples_lost: records that it could not write
 * @counters_lost: bit n set: counter n is not to be trusted
 * @changed:	components whose registers were changed while they ran
 * @message:	what the driver has said last of what went wrong
 */
struct perf_capture {
	uint64_t bytes;
	uint32_t sinks;
	bool full;
	bool wrapped;
	uint64_t samples;
	uint64_t samples_lost;
	uint32_t counters_lost;
	unsigned int changed;
	char message[SIFIVE_TRACE_MESSAGE_LEN];
};

/**
 * perf_device_open - open the device and see what there is
 * @device:	to be filled in
 *
 * Opens /dev/sifive-trace, or what SIFIVE_TRACE_DEVICE names.
 */
PERF_INTERNAL int perf_device_open(struct perf_device *device);

/**
 * perf_device_fd - a descriptor of the session's open file
 *
 * That is @fd, unless the program has closed it: then the mapped pages show whose
 * session it is, and the driver gives a new one. May be called anywhere, also in signal
 * handlers and by several threads at a time. Returns -1 with errno.
 */
PERF_INTERNAL int perf_device_fd(struct perf_device *device);

/* Give back everything. @device may be closed already. */
PERF_INTERNAL void perf_device_close(struct perf_device *device);

/**
 * perf_device_forget - in a child: leave the device to the parent
 * @fork:	the child begins now; false: it may have mapped something since
 *
 * Stimulus pages are not inherited, which leaves holes: those of a child that begins
 * are filled, so that nothing else of it comes to be there.
 */
PERF_INTERNAL void perf_device_forget(struct perf_device *device, bool fork);

/**
 * perf_device_choose - choose the encoders of CPUs
 * @cpus:	Linux's numbers; those without encoder are left out
 *
 * Fails when none of them has one.
 */
PERF_INTERNAL int perf_device_choose(struct perf_device *device,
				     const cpu_set_t *cpus);

/**
 * perf_device_channels - the channels that there are
 *
 * Returns bit n set: channel n exists on all chosen encoders, which were taken
 * before, and its messages have timestamps.
 */
PERF_INTERNAL uint32_t perf_device_channels(const struct perf_device *device);

/* Fails when ITC channel @channel, 0 to 31, is not one of these. */
PERF_INTERNAL int perf_device_check_channel(const struct perf_device *device,
					    unsigned int channel);

/* Take the chosen encoders and a buffer. */
PERF_INTERNAL int perf_device_take(struct perf_device *device,
				   const struct perf_take *take);

/**
 * perf_counter_name - what to call a counter's event
 * @given:	the name that it was asked for by, empty: its usual one
 * @usual:	place for that, of @size bytes, PERF_EVENT_NAME are enough
 */
PERF_INTERNAL const char *perf_counter_name(const struct perf_counter *counter,
					    const char *given, char *usual,
					    size_t size);

/* Whether all chosen encoders, taken before, can stall their harts. */
PERF_INTERNAL bool perf_device_stalls(const struct perf_device *device);

/**
 * perf_device_counters - start counters and let the calling thread read them
 * @counter:	their events; number and info are filled in
 * @count:	how many, 0 to 32
 * @per_thread:	each thread has counts of its own
 */
PERF_INTERNAL int perf_device_counters(struct perf_device *device,
				       struct perf_counter *counter,
				       uint32_t count, bool per_thread);

/**
 * struct perf_sampling - records that the kernel writes
 * @interval:	ns between two; as used, when the call has succeeded
 * @period:	events of @event between two, 0 for @interval; as used, as @interval
 * @all:	of everything that runs on these CPUs, not this process alone
 * @exec:	also of what this process turns into by execve()
 */
struct perf_sampling {
	unsigned int channel;
	uint64_t interval;
	uint64_t period;
	struct perf_counter event;
	bool all;
	bool exec;
};

/**
 * perf_device_sample - have the kernel write records
 * @type:	enum perf_count_type
 * @once:	one header for the whole capture
 */
PERF_INTERNAL int perf_device_sample(struct perf_device *device,
				     struct perf_sampling *sampling,
				     uint32_t type, bool once);

/**
 * perf_device_map - map the chosen encoders' stimulus pages
 * @slots:	map the thread slots, too
 */
PERF_INTERNAL int perf_device_map(struct perf_device *device, bool slots);

/* The mapped page of losses. */
PERF_INTERNAL struct sifive_trace_losses *perf_device_losses(const struct perf_device *device);

/* The mapped stimulus page of chosen encoder @index. */
PERF_INTERNAL void *perf_device_page(const struct perf_device *device,
				     uint32_t index);

/* The stimulus register of @channel there. */
PERF_INTERNAL volatile uint32_t *perf_device_stimulus(const struct perf_device *device,
						      uint32_t index,
						      unsigned int channel);

/* Register tsLower there; tsUpper follows it. */
PERF_INTERNAL const volatile uint32_t *perf_device_timestamp(const struct perf_device *device,
							      uint32_t index);

/* Let stores make messages. Returns 1 when the buffer is full. */
PERF_INTERNAL int perf_device_start(struct perf_device *device);

/* Let stores make no more messages; all made so far are in the buffer. */
PERF_INTERNAL int perf_device_stop(struct perf_device *device);

PERF_INTERNAL int perf_device_capture(struct perf_device *device,
				      struct perf_capture *capture);

/* Nanoseconds of the monotonic clock. */
PERF_INTERNAL uint64_t perf_device_now(void);

/* What sink @index, below perf_capture.sinks, holds. */
PERF_INTERNAL int perf_device_sink(struct perf_device *device, uint32_t index,
				   struct sifive_trace_sink *sink);

/**
 * perf_device_file - the name of the file for what sink @index has captured
 *
 * Of one sink that is @path itself, of several it has the number before its last
 * extension: trace.0.rtd, trace.1.rtd …
 */
PERF_INTERNAL void perf_device_file(char *name, size_t size, const char *path,
				    uint32_t index, uint32_t sinks);

/**
 * perf_device_read - read captured bytes
 * @offset:	from the oldest one
 *
 * Returns the number of bytes, 0 at the end.
 */
PERF_INTERNAL ssize_t perf_device_read(struct perf_device *device, void *to,
				       size_t size, uint64_t offset);

#endif /* PERF_DEVICE_H */

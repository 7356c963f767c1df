/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The trace device of the kernel: the one place that knows its ioctls.
 *
 * All functions that can fail return -1 and leave text for perfErrorString().
 */
#ifndef PERF_DEVICE_H
#define PERF_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/sifive_trace.h>

#include "compiler.h"
#include "record.h"

/**
 * struct perf_device - an open trace device
 * @fd:		its descriptor, -1 when closed
 * @path:	what was opened
 * @info:	the machine's trace hardware
 * @encoder:	the encoder that was chosen
 * @page:	its stimulus page, NULL when not mapped
 */
struct perf_device {
	int fd;
	const char *path;
	struct sifive_trace_info info;
	struct sifive_trace_encoder encoder;
	void *page;
};

/* The driver's limit: one for each encoder. */
#define PERF_MAX_SINKS	64

/**
 * struct perf_capture - how far a capture has come
 * @bytes:	bytes that can be read
 * @sinks:	number of sinks that hold them, one after the other
 * @full:	a buffer is full, the capture has stopped
 */
struct perf_capture {
	uint64_t bytes;
	uint32_t sinks;
	bool full;
};

/**
 * perf_device_open - open the device and see what there is
 * @device:	to be filled in
 *
 * Opens /dev/sifive-trace, or what SIFIVE_TRACE_DEVICE names.
 */
PERF_INTERNAL int perf_device_open(struct perf_device *device);

/* Give back everything. @device may be closed already. */
PERF_INTERNAL void perf_device_close(struct perf_device *device);

/**
 * perf_device_abandon - give back a descriptor inherited by fork()
 *
 * The stimulus page is not inherited; what the parent set up stays.
 */
PERF_INTERNAL void perf_device_abandon(struct perf_device *device);

/* Choose the encoder of Linux's CPU @cpu. */
PERF_INTERNAL int perf_device_choose(struct perf_device *device, int cpu);

/**
 * perf_device_channel - the stimulus register for an ITC channel
 * @channel:	0 to 31
 *
 * Returns the register's number on the chosen encoder, with which messages have
 * timestamps and decode as @channel.
 */
PERF_INTERNAL int perf_device_channel(const struct perf_device *device,
				      unsigned int channel);

/**
 * perf_device_take - take the chosen encoder and a buffer
 * @stimulus:	number of the one stimulus register that makes messages
 * @buffer:	bytes of system memory, 0 for the SRAM of the trace hardware
 *
 * The buffer stops the capture when it is full.
 */
PERF_INTERNAL int perf_device_take(struct perf_device *device,
				   unsigned int stimulus, uint32_t buffer);

/**
 * perf_device_counters - start counters and let user mode read them
 * @counter:	their events; number and info are filled in
 * @count:	how many, 0 to 32
 */
PERF_INTERNAL int perf_device_counters(struct perf_device *device,
				       struct perf_counter *counter,
				       uint32_t count);

/* Map the chosen encoder's stimulus page. */
PERF_INTERNAL int perf_device_map(struct perf_device *device);

/* Stimulus register @number of the mapped page. */
PERF_INTERNAL volatile uint32_t *perf_device_stimulus(const struct perf_device *device,
						      unsigned int number);

/* Register tsLower of the mapped page; tsUpper follows it. */
PERF_INTERNAL const volatile uint32_t *perf_device_timestamp(const struct perf_device *device);

/* Let stores make messages. Returns 1 when the buffer is full. */
PERF_INTERNAL int perf_device_start(struct perf_device *device);

/* Let stores make no more messages; all made so far are in the buffer. */
PERF_INTERNAL int perf_device_stop(struct perf_device *device);

PERF_INTERNAL int perf_device_capture(struct perf_device *device,
				      struct perf_capture *capture);

/**
 * perf_device_sink - where the bytes of one sink are in the capture
 * @index:	below perf_capture.sinks
 * @offset:	to be filled in: of its oldest byte
 * @bytes:	to be filled in
 */
PERF_INTERNAL int perf_device_sink(struct perf_device *device, uint32_t index,
				   uint64_t *offset, uint64_t *bytes);

/**
 * perf_device_read - read captured bytes
 * @offset:	from the oldest one
 *
 * Returns the number of bytes, 0 at the end.
 */
PERF_INTERNAL ssize_t perf_device_read(struct perf_device *device, void *to,
				       size_t size, uint64_t offset);

#endif /* PERF_DEVICE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * More helpers for the session tests, beyond trace_device.h: sessions that are set up in one call,
 * threads that store, reproducible random numbers, and access to procfs and sysfs files.
 */
#ifndef TRACE_MORE_H
#define TRACE_MORE_H

#include <pthread.h>

#include "trace_device.h"

/* Channel used for stores. */
#define TRACE_CHANNEL	6

/* Stimulus registers that instruction trace uses for Ownership messages. */
#define TRACE_OWNERS	0x80008000u

/**
 * struct trace_session - a configured session, with the page of one encoder
 * @fd:		descriptor of the session
 * @info:	trace hardware of the machine
 * @encoder:	encoder whose page is mapped
 * @also:	encoders that CONFIG selects in addition, one bit each
 * @instruction: instruction trace that CONFIG requests
 * @config:	configuration as returned by CONFIG
 * @reg:	register of TRACE_CHANNEL whose messages have timestamps
 * @page:	stimulus page of @encoder
 */
struct trace_session {
	int fd;
	struct sifive_trace_info info;
	struct sifive_trace_encoder encoder;
	uint64_t also;
	struct sifive_trace_instruction instruction;
	struct sifive_trace_config config;
	unsigned int reg;
	void *page;
};

/*
 * Open the node and find encoder number @index among the encoders with an online CPU. Return 0 or a
 * negative errno: -ENOENT if there are fewer encoders.
 */
int trace_session_open(struct trace_session *s, unsigned int index);

/*
 * Configure @encoder and the encoders in @also, with sinks of kind @sink, and map the page of
 * @encoder. @buffer is 0 for SRAM. This function can be called repeatedly.
 */
int trace_session_config(struct trace_session *s, uint32_t sink, uint64_t buffer,
			 uint32_t flags);

/* Unmap the page and close the descriptor, if they are mapped and open. */
void trace_session_close(struct trace_session *s);

/* Return whether any component of the machine has a sink of kind @sink. */
bool trace_has_sink(const struct trace_session *s, uint32_t sink);

/* Return the message for the last error, valid until the next call. */
const char *trace_message(int fd);

/* Read the whole capture and decode it from the first byte; return 0 or an error number. */
int trace_collect(int fd, unsigned int src_bits, struct trace_stream *stream);

/*
 * Check that the values of the data messages are consecutive. Return the number of values, or -1 if
 * there is a gap. @first and @last may be NULL.
 */
long trace_consecutive(const struct trace_stream *stream, uint32_t *first,
		       uint32_t *last);

/* Return the number of messages whose full address is at least @start and less than @stop. */
unsigned int trace_between(const struct trace_stream *stream, const char *start, const char *stop);

/**
 * struct trace_writer - a thread that stores 0, 1, 2 … to one register
 * @thread:	the thread
 * @session:	session whose page it stores to, from the encoder's CPU
 * @next:	next value to store; read by other threads
 * @limit:	value at which to wait, or 0 for no limit; set by other threads
 * @quit:	request to end
 */
struct trace_writer {
	pthread_t thread;
	const struct trace_session *session;
	uint32_t next;
	uint32_t limit;
	bool quit;
};

int trace_writer_start(struct trace_writer *w, const struct trace_session *s,
		       uint32_t limit);
uint32_t trace_writer_stop(struct trace_writer *w);

/* Return the next number of a pseudo-random series; the state must not be 0. */
uint64_t trace_random(uint64_t *state);

/*
 * Replace the session with a session on the second encoder, or on the first if there is only one
 * encoder. Return the sysfs file that takes the second encoder's CPU offline, or NULL if there is
 * no second encoder or its CPU cannot go offline.
 */
const char *trace_session_leaver(struct trace_session *s);

/* Return the value of an environment variable, or @otherwise if it is not set. */
uint64_t trace_setting(const char *name, uint64_t otherwise);

/*
 * Return whether to run tests that need all of their repetitions: the value of TRACE_LEAKS or, if
 * it is not set, whether TRACE_PART leaves the number of repetitions unchanged.
 */
bool trace_finds_leaks(void);

/* Return @count, the number of repetitions of a full run, divided by TRACE_PART and rounded up. */
int trace_repeat(int count);

/* Read the capture in a child of the same user, without capabilities; return the error, or 0. */
int trace_read_unprivileged(void);

/* Return the time of a monotonic clock, in seconds. */
double trace_clock(void);

/* Prevent perf from lowering its sampling rate, as it does on a slow host. */
void trace_sample_freely(void);

/* Write to or read from a procfs or sysfs file; return 0 or more, or a negative errno. */
int trace_file_write(const char *path, const char *text);
int trace_file_read(const char *path, char *text, size_t size);

#endif /* TRACE_MORE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests that load, attack and break the driver share, over
 * trace_device.h: a session in one call, threads that store, random numbers that
 * can be had again, and files of the kernel.
 */
#ifndef TRACE_MORE_H
#define TRACE_MORE_H

#include <pthread.h>

#include "trace_device.h"

/* The channel that is stored to. */
#define TRACE_CHANNEL	6

/**
 * struct trace_session - a configured session, with the page of one encoder
 * @fd:		its descriptor
 * @info:	of the machine
 * @encoder:	the encoder whose page is mapped
 * @config:	as CONFIG has given it back
 * @reg:	register of TRACE_CHANNEL that makes messages with timestamps
 * @page:	its stimulus page
 */
struct trace_session {
	int fd;
	struct sifive_trace_info info;
	struct sifive_trace_encoder encoder;
	struct sifive_trace_config config;
	unsigned int reg;
	void *page;
};

/*
 * Open the node and find encoder number @index among those whose CPU is there.
 * Returns 0 or a negative errno: -ENOENT when there are not as many.
 */
int trace_session_open(struct trace_session *s, unsigned int index);

/*
 * Configure that encoder alone into a sink kind and map its page; again, if it
 * has been done before. @buffer is 0 for SRAM.
 */
int trace_session_config(struct trace_session *s, uint32_t sink, uint64_t buffer,
			 uint32_t flags);

/* Unmap and close what there is. */
void trace_session_close(struct trace_session *s);

/* Whether some component of the machine has a sink of that kind. */
bool trace_has_sink(const struct trace_session *s, uint32_t sink);

/* The message of the last error, for a while. */
const char *trace_message(int fd);

/* Read everything and decode it from its first byte on; 0, or what went wrong. */
int trace_collect(int fd, unsigned int src_bits, struct trace_stream *stream);

/*
 * Whether the values of the data messages follow each other without a gap.
 * Returns how many there are, -1 with a gap. @first and @last may be NULL.
 */
long trace_consecutive(const struct trace_stream *stream, uint32_t *first,
		       uint32_t *last);

/**
 * struct trace_writer - a thread that stores 0, 1, 2 … to one register
 * @thread:	the thread
 * @session:	whose page it stores to, from the encoder's CPU
 * @next:	what it will store next; read by others
 * @limit:	where it waits, until there is another or none (0), set by others
 * @quit:	it shall end
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

/* The next of a series of random numbers; the state must not be 0. */
uint64_t trace_random(uint64_t *state);

/* A number from the environment, or what it is without that. */
uint64_t trace_setting(const char *name, uint64_t otherwise);

/* Seconds of a clock that only goes forwards. */
double trace_clock(void);

/* A small file of the kernel's: 0 or more, or a negative errno. */
int trace_file_write(const char *path, const char *text);
int trace_file_read(const char *path, char *text, size_t size);

#endif /* TRACE_MORE_H */

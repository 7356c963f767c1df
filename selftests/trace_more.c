// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace_more.h"

int trace_session_open(struct trace_session *s, unsigned int index)
{
	uint32_t i;
	int ret;

	memset(s, 0, sizeof(*s));
	s->fd = trace_open(O_RDWR);
	if (s->fd < 0)
		return s->fd;
	ret = trace_info(s->fd, &s->info);
	for (i = 0; !ret && i < s->info.encoders; i++) {
		ret = trace_encoder(s->fd, i, &s->encoder);
		if (!ret && s->encoder.cpu >= 0 && !index--)
			return 0;
	}
	close(s->fd);
	s->fd = -1;
	return ret ? ret : -ENOENT;
}

int trace_session_config(struct trace_session *s, uint32_t sink, uint64_t buffer,
			 uint32_t flags)
{
	int ret;

	if (s->page)
		trace_unmap(s->page);
	s->page = NULL;
	s->config = TRACE_ARG(sifive_trace_config);
	s->config.sink = sink;
	s->config.buffer = buffer;
	s->config.flags = flags;
	s->config.channels = s->instruction.mode ? ~TRACE_OWNERS : ~0u;
	s->config.instruction = s->instruction;
	s->config.encoders = BIT64(s->encoder.index) | s->also;
	ret = trace_config(s->fd, &s->config);
	if (!ret)
		ret = trace_encoder(s->fd, s->encoder.index, &s->encoder);
	if (ret)
		return ret;
	s->reg = trace_register(&s->encoder, TRACE_CHANNEL);
	s->page = trace_map(s->fd, &s->encoder);
	return s->page ? 0 : -errno;
}

void trace_session_close(struct trace_session *s)
{
	if (s->page)
		trace_unmap(s->page);
	if (s->fd >= 0)
		close(s->fd);
	s->page = NULL;
	s->fd = -1;
}

bool trace_has_sink(const struct trace_session *s, uint32_t sink)
{
	return s->info.sinks_available & BIT64(sink);
}

const char *trace_message(int fd)
{
	static struct sifive_trace_status status;
	int ret = trace_status(fd, &status);

	return ret ? strerror(-ret) : status.message;
}

int trace_collect(int fd, unsigned int src_bits, struct trace_stream *stream)
{
	uint8_t *bytes;
	ssize_t size = trace_read_all(fd, &bytes);
	int ret;

	*stream = (struct trace_stream){ 0 };
	if (size < 0)
		return (int)size;
	ret = trace_decode(bytes, (size_t)size, src_bits, stream);
	free(bytes);
	return ret ? -EBADMSG : 0;
}

long trace_consecutive(const struct trace_stream *stream, uint32_t *first,
		       uint32_t *last)
{
	uint32_t next = 0;
	long count = 0;
	size_t i;

	for (i = 0; i < stream->count; i++) {
		if (stream->message[i].tcode != TRACE_TCODE_DATA)
			continue;
		if (count && stream->message[i].value != next)
			return -1;
		if (!count && first)
			*first = stream->message[i].value;
		next = stream->message[i].value + 1;
		count++;
	}
	if (last)
		*last = next - 1;
	return count;
}

unsigned int trace_between(const struct trace_stream *stream, const char *start, const char *stop)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < stream->count; i++)
		count += stream->message[i].full &&
			 stream->message[i].address >= (uintptr_t)start &&
			 stream->message[i].address < (uintptr_t)stop;
	return count;
}

static void *write_values(void *arg)
{
	struct trace_writer *w = arg;
	const struct trace_session *s = w->session;

	trace_pin(s->encoder.cpu);
	while (!__atomic_load_n(&w->quit, __ATOMIC_RELAXED)) {
		const uint32_t limit = __atomic_load_n(&w->limit, __ATOMIC_RELAXED);

		if (limit && w->next >= limit) {
			usleep(1000);
			continue;
		}
		trace_store(s->page, s->reg, w->next, 4);
		__atomic_store_n(&w->next, w->next + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

int trace_writer_start(struct trace_writer *w, const struct trace_session *s,
		       uint32_t limit)
{
	*w = (struct trace_writer){ .session = s, .limit = limit };
	return -pthread_create(&w->thread, NULL, write_values, w);
}

uint32_t trace_writer_stop(struct trace_writer *w)
{
	__atomic_store_n(&w->quit, true, __ATOMIC_RELAXED);
	pthread_join(w->thread, NULL);
	return w->next;
}

/* Marsaglia's xorshift64. */
uint64_t trace_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

const char *trace_session_leaver(struct trace_session *s)
{
	static char path[64];

	trace_session_close(s);
	if (trace_session_open(s, 1)) {
		trace_session_open(s, 0);
		return NULL;
	}
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", s->encoder.cpu);
	return access(path, W_OK) ? NULL : path;
}

uint64_t trace_setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

int trace_repeat(int count)
{
	int part = (int)trace_setting("TRACE_PART", 1);

	return (count + part - 1) / part;
}

int trace_read_unprivileged(void)
{
	pid_t child = fork();
	char bytes[64];
	int fd;

	if (child)
		return trace_wait(child);
	if (trace_keep_caps(0))
		_exit(99);
	fd = trace_open(O_RDONLY);
	if (fd < 0)
		_exit(-fd);
	_exit(read(fd, bytes, sizeof(bytes)) < 0 ? errno : 0);
}

bool trace_finds_leaks(void)
{
	return trace_setting("TRACE_LEAKS", trace_repeat(2) == 2);
}

double trace_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void trace_sample_freely(void)
{
	static const char limit[] = "/proc/sys/kernel/perf_cpu_time_max_percent";

	/* The kernel accepts a new rate only while perf's CPU time limit is on. */
	trace_file_write(limit, "25");
	trace_file_write("/proc/sys/kernel/perf_event_max_sample_rate", "100000");
	trace_file_write(limit, "0");
}

int trace_file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t done;
	int error;

	if (fd < 0)
		return -errno;
	done = write(fd, text, strlen(text));
	error = errno;
	close(fd);
	return done < 0 ? -error : 0;
}

int trace_file_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;
	int error;

	if (fd < 0)
		return -errno;
	got = read(fd, text, size - 1);
	error = errno;
	close(fd);
	if (got < 0)
		return -error;
	text[got] = '\0';
	return (int)got;
}

// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest.h"
#include "trace_device.h"

#define SMALL_BUFFER	4096

void trace_require_device(void)
{
	int fd = open(TRACE_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return;
	}
	if (errno == EACCES || errno == EPERM)
		ksft_exit_skip("no permission to open %s: run as root\n",
			       TRACE_DEVICE);
	if (errno == ENOENT)
		ksft_exit_skip("no %s: the module is not loaded\n", TRACE_DEVICE);
	if (errno == ENODEV)
		ksft_exit_skip("%s: this machine has no trace encoder\n",
			       TRACE_DEVICE);
	ksft_exit_fail_msg("%s: %s\n", TRACE_DEVICE, strerror(errno));
}

int trace_open(int flags)
{
	int fd = open(TRACE_DEVICE, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int trace_info(int fd, struct sifive_trace_info *info)
{
	*info = TRACE_ARG(sifive_trace_info);
	return trace_ioctl(fd, SIFIVE_TRACE_IOC_INFO, info);
}

int trace_encoder(int fd, uint32_t index, struct sifive_trace_encoder *encoder)
{
	*encoder = TRACE_ARG(sifive_trace_encoder);
	encoder->index = index;
	return trace_ioctl(fd, SIFIVE_TRACE_IOC_ENCODER, encoder);
}

int trace_config(int fd, struct sifive_trace_config *config)
{
	return trace_ioctl(fd, SIFIVE_TRACE_IOC_CONFIG, config);
}

int trace_start(int fd, uint32_t flags)
{
	struct sifive_trace_run run = TRACE_ARG(sifive_trace_run);

	run.flags = flags;
	return trace_ioctl(fd, SIFIVE_TRACE_IOC_START, &run);
}

int trace_stop(int fd)
{
	struct sifive_trace_run run = TRACE_ARG(sifive_trace_run);

	return trace_ioctl(fd, SIFIVE_TRACE_IOC_STOP, &run);
}

static int pause_call(int fd, uint32_t flags)
{
	struct sifive_trace_run run = TRACE_ARG(sifive_trace_run);

	run.flags = flags;
	return trace_ioctl(fd, SIFIVE_TRACE_IOC_PAUSE, &run);
}

int trace_pause(int fd)
{
	return pause_call(fd, 0);
}

int trace_unpause(int fd)
{
	return pause_call(fd, SIFIVE_TRACE_PAUSE_END);
}

int trace_status(int fd, struct sifive_trace_status *status)
{
	*status = TRACE_ARG(sifive_trace_status);
	return trace_ioctl(fd, SIFIVE_TRACE_IOC_STATUS, status);
}

int trace_sink(int fd, uint32_t index, struct sifive_trace_sink *sink)
{
	*sink = TRACE_ARG(sifive_trace_sink);
	sink->index = index;
	return trace_ioctl(fd, SIFIVE_TRACE_IOC_SINK, sink);
}

uint32_t trace_flags(int fd)
{
	struct sifive_trace_status status;

	return trace_status(fd, &status) ? ~0u : status.flags;
}

struct sifive_trace_config trace_simple_config(int fd, uint32_t index)
{
	struct sifive_trace_config config = TRACE_ARG(sifive_trace_config);
	struct sifive_trace_info info;

	config.sink = SIFIVE_TRACE_SINK_SRAM;
	config.channels = ~0u;
	config.encoders = BIT64(index);
	if (!trace_info(fd, &info) &&
	    info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SBA)) {
		config.sink = SIFIVE_TRACE_SINK_SBA;
		config.buffer = SMALL_BUFFER;
	}
	return config;
}

struct sifive_trace_config trace_same_config(const struct sifive_trace_config *earlier)
{
	struct sifive_trace_config config = *earlier;

	if (config.sink == SIFIVE_TRACE_SINK_SRAM)
		config.buffer = 0;
	return config;
}

struct sifive_trace_config trace_whole_config(int fd)
{
	struct sifive_trace_config config = trace_simple_config(fd, 0);

	config.encoders = 0;
	if (config.buffer)
		config.buffer = 1 << 20;
	return config;
}

ssize_t trace_read_all(int fd, uint8_t **bytes)
{
	size_t room = 0, size = 0;
	ssize_t got;

	*bytes = NULL;
	do {
		if (room - size < SMALL_BUFFER) {
			room += 16 * SMALL_BUFFER;
			*bytes = realloc(*bytes, room);
			if (!*bytes)
				return -ENOMEM;
		}
		got = pread(fd, *bytes + size, room - size, (off_t)size);
		if (got < 0)
			return -errno;
		size += (size_t)got;
	} while (got);
	return (ssize_t)size;
}

void *trace_map(int fd, const struct sifive_trace_encoder *encoder)
{
	void *page = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, (off_t)encoder->mmap_offset);

	return page == MAP_FAILED ? NULL : page;
}

void trace_unmap(void *page)
{
	munmap(page, (size_t)getpagesize());
}

unsigned int trace_register(const struct sifive_trace_encoder *encoder,
			    unsigned int channel)
{
	return encoder->flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS ?
	       channel + 16 : channel;
}

void trace_store(void *page, unsigned int reg, uint32_t value,
		 unsigned int bytes)
{
	char *at = (char *)page + TR_ITC_STIMULUS + 4 * reg + 4 - bytes;

	switch (bytes) {
	case 4:
		*(volatile uint32_t *)at = value;
		break;
	case 2:
		*(volatile uint16_t *)at = (uint16_t)value;
		break;
	case 1:
		*(volatile uint8_t *)at = (uint8_t)value;
		break;
	default:
		abort();
	}
}

int trace_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

int trace_keep_caps(uint64_t mask)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)mask, .permitted = (uint32_t)mask },
		{ .effective = (uint32_t)(mask >> 32),
		  .permitted = (uint32_t)(mask >> 32) },
	};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

static sigjmp_buf trap;

static void trapped(int sig)
{
	siglongjmp(trap, sig);
}

int trace_signal_of(void (*fn)(void *arg), void *arg)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL };
	struct sigaction action = { .sa_handler = trapped }, old[3];
	int i, sig;

	for (i = 0; i < 3; i++)
		sigaction(signals[i], &action, &old[i]);
	sig = sigsetjmp(trap, 1);
	if (!sig)
		fn(arg);
	for (i = 0; i < 3; i++)
		sigaction(signals[i], &old[i], NULL);
	return sig;
}

static void load(void *address)
{
	*(volatile uint32_t *)address;
}

int trace_signal_of_load(void *address)
{
	return trace_signal_of(load, address);
}

int trace_wait(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* ---- messages: a slice is a byte, MSEO in bits 1:0, MDO in bits 7:2 -------- */

#define MESSAGE_MAX	38
#define MDO_BITS	6
#define IDLE		0xff

enum mseo {
	MSEO_MIDDLE	= 0,
	MSEO_FIELD_END	= 1,
	MSEO_RESERVED	= 2,
	MSEO_END	= 3,
};

/**
 * struct slices - the message being decoded
 * @bytes:	slices of the message
 * @count:	number of slices
 * @bit:	index of the next bit, counting only MDO bits
 * @bad:	set if a field extends beyond the end, or does not fit into 64 bits
 */
struct slices {
	const uint8_t *bytes;
	size_t count;
	size_t bit;
	bool bad;
};

static uint64_t take_fixed(struct slices *s, unsigned int bits)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < bits; i++, s->bit++) {
		if (s->bit / MDO_BITS >= s->count) {
			s->bad = true;
			return 0;
		}
		value |= (uint64_t)(s->bytes[s->bit / MDO_BITS] >>
				    (2 + s->bit % MDO_BITS) & 1) << i;
	}
	return value;
}

/*
 * Read a variable-width field, which extends from the current bit to the end of the slice that ends
 * the field.
 */
static uint64_t take_variable(struct slices *s)
{
	size_t end = s->bit / MDO_BITS;
	size_t bits;

	while (end < s->count && (s->bytes[end] & 3) == MSEO_MIDDLE)
		end++;
	bits = (end + 1) * MDO_BITS - s->bit;
	if (end == s->count || bits > 64 + MDO_BITS) {
		s->bad = true;
		return 0;
	}
	if (bits <= 64)
		return take_fixed(s, (unsigned int)bits);

	uint64_t value = take_fixed(s, 64);

	s->bad |= take_fixed(s, (unsigned int)bits - 64) != 0;
	return value;
}

static bool at_end(const struct slices *s)
{
	return s->bit >= s->count * MDO_BITS;
}

/* Return the number of slices from here to the message's end, or 0 if the message has no end. */
static size_t message_length(const uint8_t *bytes, size_t size)
{
	size_t i;

	for (i = 0; i < size && i < MESSAGE_MAX; i++)
		if ((bytes[i] & 3) == MSEO_END)
			return i + 1;
	return 0;
}

/* Return an upper bound on the number of messages. */
static size_t message_ends(const uint8_t *bytes, size_t size)
{
	size_t i, count = 0;

	for (i = 0; i < size; i++)
		count += (bytes[i] & 3) == MSEO_END;
	return count;
}

/**
 * struct layout - the fields of one kind of instruction trace message
 * @tcode:	code of the message
 * @fixed:	total width of the leading fixed-width fields, in bits
 * @fields:	number of variable-width fields, not counting the time
 * @full:	the second field is a full address, and the time is absolute
 */
struct layout {
	unsigned int tcode;
	unsigned int fixed;
	unsigned int fields;
	bool full;
};

/* A correlation message has a history if the upper bits of the message's fixed fields are 1. */
static const struct layout layouts[] = {
	{ 3, 0, 1 },			/* direct branch */
	{ 4, 2, 2 },			/* indirect branch */
	{ 9, 4, 2, true },		/* program trace sync */
	{ 11, 4, 2, true },		/* direct branch with sync */
	{ 12, 4 + 2, 2, true },		/* indirect branch with sync */
	{ 27, 4, 1 },			/* resource full */
	{ 28, 2, 3 },			/* indirect branch with history */
	{ 29, 4 + 2, 3, true },		/* indirect branch with history and sync */
	{ 30, 0, 1 },			/* repeat branch */
	{ TRACE_TCODE_CORRELATION, 4 + 2, 1 },
};

static const struct layout *layout_of(unsigned int tcode)
{
	size_t i;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].tcode == tcode)
			return &layouts[i];
	return NULL;
}

static void take_time(struct slices *s, bool absolute, uint64_t *time,
		      struct trace_message *m)
{
	uint64_t t;

	m->timed = !at_end(s);
	if (!m->timed)
		return;
	t = take_variable(s);
	time[m->src] = absolute ? t : time[m->src] ^ t;
	m->time = time[m->src];
}

static bool decode_instruction(const struct layout *layout, struct slices *s,
			       uint64_t *time, struct trace_message *m)
{
	unsigned int i, fields = layout->fields;
	uint64_t fixed = take_fixed(s, layout->fixed), value;

	if (layout->tcode == TRACE_TCODE_CORRELATION)
		fields += fixed >> 4 == 1;
	m->full = layout->full;
	for (i = 0; i < fields; i++) {
		value = take_variable(s);
		if (m->full && i == 1)
			m->address = value << 1;
	}
	take_time(s, m->full, time, m);
	return !s->bad && at_end(s);
}

static bool decode_message(const uint8_t *bytes, size_t length,
			   unsigned int src_bits, uint64_t *time,
			   struct trace_message *m)
{
	struct slices s = { .bytes = bytes, .count = length };
	const struct layout *layout;
	uint64_t value;
	size_t i;

	for (i = 0; i < length; i++)
		if ((bytes[i] & 3) == MSEO_RESERVED)
			return false;

	*m = (struct trace_message){ 0 };
	m->tcode = (unsigned int)take_fixed(&s, 6);
	m->src = (unsigned int)take_fixed(&s, src_bits);
	layout = layout_of(m->tcode);
	if (layout)
		return decode_instruction(layout, &s, time, m);
	switch (m->tcode) {
	case TRACE_TCODE_OWNERSHIP:
		break;
	case TRACE_TCODE_DATA:
		m->tag = (uint32_t)take_variable(&s);
		break;
	case TRACE_TCODE_ERROR:
		take_fixed(&s, 4);
		break;
	case TRACE_TCODE_SYNC:
		/* CKSRC and CKDF: only "control 0,0" exists here. */
		if (take_fixed(&s, 4) || take_fixed(&s, 2))
			return false;
		break;
	default:
		return false;
	}

	value = take_variable(&s);
	m->value = (uint32_t)value;
	if (value > UINT32_MAX)
		return false;
	take_time(&s, m->tcode == TRACE_TCODE_SYNC, time, m);
	return !s.bad && at_end(&s);
}

int trace_decode(const uint8_t *bytes, size_t size, unsigned int src_bits,
		 struct trace_stream *stream)
{
	uint64_t time[16] = { 0 };
	size_t at = 0, length;

	*stream = (struct trace_stream){ 0 };
	if (src_bits > 4)
		return -1;
	stream->message = calloc(message_ends(bytes, size) + 1,
				 sizeof(*stream->message));
	if (!stream->message)
		return -1;
	while (at < size) {
		if (bytes[at] == IDLE) {
			at++;
			continue;
		}
		length = message_length(bytes + at, size - at);
		if (!length && size - at >= MESSAGE_MAX)
			goto invalid;
		if (!length) {
			stream->cut = size - at;
			break;
		}
		if (!decode_message(bytes + at, length, src_bits, time,
				    &stream->message[stream->count]))
			goto invalid;
		stream->count++;
		at += length;
	}
	return 0;

invalid:
	free(stream->message);
	return -1;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for the tests of /dev/sifive-trace: calls that return errors as negative numbers, the
 * stimulus page, and a decoder for captured bytes. The decoder shares no code with the tools.
 */
#ifndef TRACE_DEVICE_H
#define TRACE_DEVICE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include <linux/capability.h>
#include <linux/sifive_trace.h>
#include <linux/sifive_trace_regs.h>

#define TRACE_DEVICE	"/dev/sifive-trace"

/* Initial value of one of the interface's structures: zero except for its size. */
#define TRACE_ARG(type)	((struct type){ .size = sizeof(struct type) })

#define BIT64(n)	(1ull << (n))

/*
 * A test that takes longer has hung. The limit does not test speed: on a loaded host, tests on an
 * emulator take ten times their usual time.
 */
#ifdef TEST_TIMEOUT_DEFAULT
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	600
#endif

/* Skip the whole program, and print the reason, if it cannot run any test. */
void trace_require_device(void);

/* The program's main(); use after kselftest_harness.h. */
#define TRACE_HARNESS_MAIN			\
	int main(int argc, char **argv)		\
	{					\
		trace_require_device();		\
		return test_harness_run(argc, argv); \
	}

/* ---- calls: 0 or more for success, a negative errno otherwise ------------ */

static inline int trace_ioctl(int fd, unsigned long call, void *arg)
{
	return ioctl(fd, call, arg) ? -errno : 0;
}

int trace_open(int flags);
int trace_info(int fd, struct sifive_trace_info *info);
int trace_encoder(int fd, uint32_t index, struct sifive_trace_encoder *encoder);
int trace_config(int fd, struct sifive_trace_config *config);
int trace_start(int fd, uint32_t flags);
int trace_stop(int fd);
int trace_pause(int fd);
int trace_unpause(int fd);
int trace_status(int fd, struct sifive_trace_status *status);
int trace_sink(int fd, uint32_t index, struct sifive_trace_sink *sink);

/* Return the SIFIVE_TRACE_STATUS_* flags that STATUS reports, or ~0 if the call fails. */
uint32_t trace_flags(int fd);

/*
 * Return a configuration for encoder @index with all stimulus registers, and with a sink that this
 * machine supports: a small SBA buffer if possible, otherwise SRAM.
 */
struct sifive_trace_config trace_simple_config(int fd, uint32_t index);

/*
 * Return an earlier CONFIG's request, to repeat it: CONFIG returns the size of SRAM in @buffer, but
 * accepts only 0 in that field.
 */
struct sifive_trace_config trace_same_config(const struct sifive_trace_config *earlier);

/* Like trace_simple_config(), but for all encoders, with a buffer of 1 MiB. */
struct sifive_trace_config trace_whole_config(int fd);

/*
 * Read the whole capture into @bytes, which the caller frees. Return the number of bytes, or a
 * negative errno.
 */
ssize_t trace_read_all(int fd, uint8_t **bytes);

/* ---- the stimulus page ---------------------------------------------------- */

/* Map an encoder's page; return NULL with errno set on failure. */
void *trace_map(int fd, const struct sifive_trace_encoder *encoder);
void trace_unmap(void *page);

/* Return the register whose messages contain this channel number and a timestamp. */
unsigned int trace_register(const struct sifive_trace_encoder *encoder,
			    unsigned int channel);

/* Store 4, 2 or 1 bytes to a stimulus register. */
void trace_store(void *page, unsigned int reg, uint32_t value,
		 unsigned int bytes);

/* Return the tag of the message that a store of this size produces. */
static inline uint32_t trace_tag(unsigned int channel, unsigned int bytes)
{
	return channel * 4 + 4 - bytes;
}

/* ---- the process ----------------------------------------------------------- */

/* Pin the calling thread to this CPU. */
int trace_pin(int cpu);

/* Drop all capabilities except those in the mask, even as root. */
int trace_keep_caps(uint64_t mask);

/* Run a function; return the SIGSEGV, SIGBUS or SIGILL that it raised, or 0. */
int trace_signal_of(void (*fn)(void *arg), void *arg);

/* Return the signal raised by a load from an address, or 0. */
int trace_signal_of_load(void *address);

/* Wait for a child; return its exit status, or -1 if a signal ended it. */
int trace_wait(pid_t child);

/* ---- captured bytes ---------------------------------------------------------- */

#define TRACE_TCODE_OWNERSHIP	2
#define TRACE_TCODE_DATA	7
#define TRACE_TCODE_ERROR	8
#define TRACE_TCODE_CORRELATION	33
#define TRACE_TCODE_SYNC	35

/* Values of a synchronisation message. */
#define TRACE_VALUE_ON		2
#define TRACE_VALUE_OFF		3

/**
 * struct trace_message - one decoded message
 * @tcode:	TRACE_TCODE_*, or the code of another instruction trace message
 * @src:	source, or 0 in a stream without sources
 * @tag:	channel * 4 + offset of the store, for data messages
 * @value:	stored value; for a synchronisation, TRACE_VALUE_*; for Ownership, the process field
 * @full:	the message has a full address, as instruction trace Sync messages do
 * @address:	full address
 * @timed:	the message has a timestamp
 * @time:	full time, rebuilt from the previous messages
 */
struct trace_message {
	unsigned int tcode;
	unsigned int src;
	uint32_t tag;
	uint32_t value;
	bool full;
	uint64_t address;
	bool timed;
	uint64_t time;
};

/**
 * struct trace_stream - decoded bytes of one sink
 * @message:	the messages, in allocated memory
 * @count:	number of messages
 * @cut:	number of bytes of an incomplete message at the end
 */
struct trace_stream {
	struct trace_message *message;
	size_t count;
	size_t cut;
};

/*
 * Decode from the beginning of a message. @src_bits is the width of the SRC field.
 * Return 0, or -1 if anything violates the wire format.
 */
int trace_decode(const uint8_t *bytes, size_t size, unsigned int src_bits,
		 struct trace_stream *stream);

#endif /* TRACE_DEVICE_H */

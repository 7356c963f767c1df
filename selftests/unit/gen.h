/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Generates traces with known content for tests: what an encoder and a record writer send according
 * to the specifications of the formats. No code is shared with the decoders. If memory runs out,
 * the program ends.
 */
#ifndef SELFTESTS_UNIT_GEN_H
#define SELFTESTS_UNIT_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/sifive_trace_format.h>

#define GEN_COUNTERS	32
#define GEN_SOURCES	128

/**
 * struct gen_truth - content of a record, for each count type
 * @sent:	counts as transmitted
 * @value:	values of the counters; for Delta, their increments since the header
 * @delta:	increments of the counters since the previous record
 * @first:	the record is the first record after its header
 * @owner:	thread id in that header, or 0 if none
 */
struct gen_truth {
	uint8_t		src;
	uint8_t		channel;
	uint8_t		type;
	bool		first;
	uint32_t	owner;
	unsigned int	addresses;
	unsigned int	counters;
	uint64_t	address[2];
	uint64_t	sent[GEN_COUNTERS];
	uint64_t	value[GEN_COUNTERS];
	uint64_t	delta[GEN_COUNTERS];
	uint64_t	offset;		/* offset of the record's first message */
	uint64_t	begin_time;
	uint64_t	address_time;
};

/**
 * struct gen - a trace under construction
 * @src_bits:	width of the SRC field
 * @ts_width:	bits of a timestamp, or 0 if messages have none
 * @ts_delta:	ordinary messages carry the ticks since the previous message (default: the XOR of
 *		the two messages' times)
 * @now:	time of the next message
 * @step:	ticks from one message to the next
 * @time:	time of each message
 */
struct gen {
	uint8_t		*data;
	size_t		length;
	size_t		room;
	unsigned int	src_bits;
	unsigned int	ts_width;
	bool		ts_delta;
	uint64_t	now;
	uint64_t	step;
	uint64_t	last[GEN_SOURCES];	/* time of each source's latest message */
	uint64_t	*time;
	size_t		times;
	size_t		time_room;
	struct gen_truth *truth;
	size_t		truths;
	size_t		truth_room;
};

/* A stream's counter, and its value at the previous record. */
struct gen_counter {
	uint32_t	number;
	uint32_t	type;
	uint32_t	code;
	uint64_t	event_data;
	uint32_t	csr;
	unsigned int	width;
	uint64_t	previous;
	uint64_t	sum;
};

/* Writes the records for one channel of one source. */
struct gen_stream {
	struct gen	*gen;
	uint8_t		src;
	uint8_t		channel;
	uint8_t		count_type;
	unsigned int	counters;
	struct gen_counter counter[GEN_COUNTERS];
	uint64_t	previous_address;
	bool		fresh;		/* no record since the header */
	uint32_t	owner;		/* thread id in headers, or 0 if none */
	bool		goes_on;	/* headers indicate that the thread continues */
};

void gen_init(struct gen *gen, unsigned int src_bits, unsigned int ts_width);
void gen_free(struct gen *gen);

/* Add bytes unchanged. */
void gen_bytes(struct gen *gen, const void *bytes, size_t length);
void gen_idle(struct gen *gen, size_t length);

/** gen_start() - add the Sync message that begins instruction trace at @address */
void gen_start(struct gen *gen, uint64_t address);

/**
 * gen_message() - add a message of any kind
 * @tcode:	6 bits
 * @src:	source number, of src_bits bits
 * @fixed:	values of the fixed fields
 * @bits:	widths of the fixed fields, ended by 0
 * @field:	variable fields
 * @fields:	number of variable fields
 *
 * Adds a timestamp if ts_width is not 0, and advances the time.
 */
void gen_message(struct gen *gen, unsigned int tcode, unsigned int src,
		 const uint8_t *fixed, const uint8_t *bits,
		 const uint64_t *field, unsigned int fields);

/* Add a Data Acquisition message: a store of 1, 2 or 4 bytes to a channel. */
void gen_store(struct gen *gen, unsigned int src, unsigned int channel,
	       unsigned int bytes, uint32_t value);

/* Add an ICT with sync, control 0,0: an absolute timestamp. */
void gen_sync(struct gen *gen, unsigned int src);

/* Add an Error message: a queue overrun that lost data acquisition messages. */
void gen_error(struct gen *gen, unsigned int src);

/* Write a stream's header; counters start from counter[].previous. */
void gen_header(struct gen_stream *stream);

/* Write the next sample's thread, before its callers or stack. */
void gen_thread(struct gen_stream *stream, uint32_t id);

/* Write the next sample's callers, which must be even addresses. */
void gen_callers(struct gen_stream *stream, const uint64_t *address, unsigned int count);

/* Write the next sample's registers and stack. */
void gen_stack(struct gen_stream *stream, const uint64_t reg[SIFIVE_TRACE_STACK_REGISTERS],
	       const uint64_t *word, unsigned int words);

/**
 * gen_record() - append a record to the trace, and its true content to gen->truth
 * @type:	kind of record, 0 to 3
 * @address:	one or two even addresses
 * @value:	current value of each counter
 */
void gen_record(struct gen_stream *stream, unsigned int type,
		const uint64_t *address, const uint64_t *value);

/* Initialise a stream with @counters general counters of @width bits, numbered from 0. */
void gen_stream_init(struct gen_stream *stream, struct gen *gen, uint8_t src,
		     uint8_t channel, uint8_t count_type,
		     unsigned int counters, unsigned int width);

/*
 * Append the messages in @a and @b to @to in order of their times, which have the same origin.
 * Without timestamps, the order is random. With timestamps, @a and @b must have different sources.
 */
void gen_merge(struct gen *to, const struct gen *a, const struct gen *b,
	       uint64_t *seed);

/* Return the next pseudo-random number (splitmix64), and update the seed. */
uint64_t gen_random(uint64_t *seed);

#endif /* SELFTESTS_UNIT_GEN_H */

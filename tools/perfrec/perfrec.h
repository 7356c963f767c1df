/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Decodes the stores to an instrumentation channel into performance records.
 *
 * Documentation/trace-format.rst describes headers and records. The caller passes words to the
 * decoder, each with its source (encoder), channel, size and time.
 *
 * Each (source, channel) is a separate stream. The input is not trusted: words that fit neither a
 * header nor a record are reported to ops->lost, and decoding of the stream resumes at the next
 * word that can begin a header or a record. Records before the first header (at the beginning of a
 * ring buffer, or after a loss) have the header of perfrec_assume(). Without an assumed header,
 * they have the header of another stream if its count type is DeltaXOR, otherwise no header (NULL).
 */
#ifndef SIFIVE_TRACE_PERFREC_H
#define SIFIVE_TRACE_PERFREC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/sifive_trace_format.h>

#include "../store.h"

#define PERFREC_COUNTERS	32
#define PERFREC_SOURCES		STORE_SOURCES
#define PERFREC_CHANNELS	STORE_CHANNELS
#define PERFREC_CHANNEL_DEFAULT	6
/* Number of headers kept for each stream, including the latest. */
#define PERFREC_HEADERS_KEPT	3
/* Maximum number of bits of a counter in a record. */
#define PERFREC_VALUE_BITS	SIFIVE_TRACE_RECORD_COUNT_BITS
/* Fields of a counter's info word: the number of the counter's CSR, and its width. */
#define PERFREC_INFO_CSR(info)	((info) & SIFIVE_TRACE_COUNTER_CSR)
#define PERFREC_INFO_WIDTH(info) \
	((((info) & SIFIVE_TRACE_COUNTER_WIDTH) >> SIFIVE_TRACE_COUNTER_WIDTH_SHIFT) + 1)

enum perfrec_count_type {
	PERFREC_RAW		= SIFIVE_TRACE_RECORD_RAW,
	PERFREC_DELTA		= SIFIVE_TRACE_RECORD_DELTA,
	PERFREC_DELTA_XOR	= SIFIVE_TRACE_RECORD_XOR,
};

enum perfrec_type {
	PERFREC_ENTER		= SIFIVE_TRACE_RECORD_ENTER,
	PERFREC_EXIT		= SIFIVE_TRACE_RECORD_EXIT,
	PERFREC_MANUAL		= SIFIVE_TRACE_RECORD_MANUAL,
	PERFREC_ISR		= SIFIVE_TRACE_RECORD_ISR,
	PERFREC_TYPES
};

enum perfrec_event_type {
	PERFREC_EVENT_GENERAL	= SIFIVE_TRACE_EVENT_GENERAL,
	PERFREC_EVENT_CACHE	= SIFIVE_TRACE_EVENT_CACHE,
	PERFREC_EVENT_RAW	= SIFIVE_TRACE_EVENT_RAW,
	PERFREC_EVENT_TURNS	= SIFIVE_TRACE_EVENT_TURNS,
	PERFREC_EVENT_FIRMWARE	= SIFIVE_TRACE_EVENT_FIRMWARE,
};

/* Return whether a value is in enum perfrec_event_type. */
static inline bool perfrec_is_event_type(uint64_t type)
{
	return type <= PERFREC_EVENT_RAW || type == PERFREC_EVENT_TURNS ||
	       type == PERFREC_EVENT_FIRMWARE;
}

/**
 * struct perfrec_stamp - a position in the trace
 * @offset:	offset in the file, in bytes
 * @time:	time in ticks; valid unless @time_known is TIME_UNKNOWN
 * @time_known:	enum store_time
 */
struct perfrec_stamp {
	uint64_t	offset;
	uint64_t	time;
	uint8_t		time_known;
};

/**
 * struct perfrec_counter - definition of one counter
 * @number:	number of its bit in the mask: 0 cycle, 1 timestamp, 2 instret, n hpmcounter n
 * @type:	enum perfrec_event_type; PERFREC_EVENT_TURNS if the counter counts several events in
 *		turn; the side-car file lists them
 * @code:	code of a general, cache or firmware event, otherwise 0
 * @event_data:	value of the event selector for a raw event, otherwise 0
 * @csr:	number of the CSR from which the counter is read, or 0 for the trace timestamp
 * @width:	width of the counter in bits, 1 to 64
 * @end:	place of the definition's last word
 */
struct perfrec_counter {
	uint8_t			number;
	uint8_t			width;
	uint16_t		csr;
	uint32_t		type;
	uint32_t		code;
	uint64_t		event_data;
	struct perfrec_stamp	end;
};

/**
 * struct perfrec_header - describes the records that follow it
 * @src:	source
 * @channel:	channel
 * @repeated:	set if the header repeats the previous header: see perfrec_repeat()
 * @owned:	set if the thread @owner writes its records
 * @goes_on:	set if the thread continues in this stream after recording in another stream
 * @serial:	number of this header in its stream, starting at 1; 0 for the header of
 *		perfrec_assume(), or of another stream
 * @count_type:	enum perfrec_count_type
 * @owner:	thread id, valid if @owned is set
 * @mask:	recorded counters: bit n is set for counter n
 * @counters:	number of bits set in @mask
 * @begin:	place of the magic word
 * @mask_word:	place of the mask's word
 * @counter:	definitions of the counters, lowest number first
 */
struct perfrec_header {
	uint8_t			src;
	uint8_t			channel;
	bool			repeated;
	bool			owned;
	bool			goes_on;
	uint32_t		serial;
	uint32_t		count_type;
	uint32_t		owner;
	uint32_t		mask;
	unsigned int		counters;
	struct perfrec_stamp	begin;
	struct perfrec_stamp	mask_word;
	struct perfrec_counter	counter[PERFREC_COUNTERS];
};

/**
 * struct perfrec_callers - the callers of a sample's code
 * @key:	hash key, private to callers.c
 * @count:	number of addresses, at least 1
 * @address:	the return-address register (0 if the callers are from a stack), then return
 *		addresses, innermost first. The list ends with the last frame pointer, or with
 *		PERFREC_CUT or PERFREC_UNKNOWN. If the callers are from a stack, the return address
 *		of a signal handler is followed by 1 + the address of the interrupted code. For a
 *		sample in the kernel, the callers in the kernel are followed by the pc at which the
 *		program entered the kernel, and by the callers of that code in the same form
 *
 * The return-address register contains the innermost return address if the sampled function has not
 * called another function yet, and otherwise an address in the sampled function. In the first case,
 * the innermost frame may be the function's own, with the same return address, or its caller's.
 */
struct perfrec_callers {
	uint64_t	key;
	uint32_t	count;
	uint64_t	address[];
};

/*
 * Marks that replace the last caller if it is outside the copied stack, or if the unwind tables do
 * not describe it.
 */
#define PERFREC_CUT		0xfffffffffffffff2ull
#define PERFREC_UNKNOWN		0xfffffffffffffff6ull

/**
 * struct perfrec_stack - the registers and the stack of a sample's thread
 * @src, @channel: stream of the sample
 * @begin:	place of the stack's first word
 * @caller:	array of @callers callers in the kernel, for a sample in the kernel
 * @reg:	values of pc, ra, sp, t0, s0 to s11
 * @words:	number of elements of @word
 * @word:	the stack in units of 8 bytes, starting at sp rounded down to a multiple of 8
 */
struct perfrec_stack {
	uint8_t			src;
	uint8_t			channel;
	struct perfrec_stamp	begin;
	uint32_t		callers;
	uint64_t		caller[SIFIVE_TRACE_CALLERS_MAX];
	uint32_t		words;
	uint64_t		reg[SIFIVE_TRACE_STACK_REGISTERS];
	uint64_t		word[SIFIVE_TRACE_STACK_MAX / 8];
};

/**
 * perfrec_stack_bytes() - return the size of a struct perfrec_stack without its unused elements of
 * @word
 */
static inline size_t perfrec_stack_bytes(const struct perfrec_stack *stack)
{
	return offsetof(struct perfrec_stack, word) + stack->words * sizeof(stack->word[0]);
}

/* @address is valid. Not set after a loss with DeltaXOR, or without a header. */
#define PERFREC_ADDRESS_KNOWN	(1u << 0)
/* @value is valid. Not set after a loss with Delta or DeltaXOR, or without a header. */
#define PERFREC_VALUE_KNOWN	(1u << 1)
/* @delta is valid, because the stream's previous record is known, or the count type is Delta. */
#define PERFREC_DELTA_KNOWN	(1u << 2)
/* Records may be missing before this record; @delta may include their counts. */
#define PERFREC_AFTER_LOSS	(1u << 3)
/* The stream has no header, or later stores were lost, perhaps including a newer header. */
#define PERFREC_STALE		(1u << 4)
/* @dropped and @waited are valid, because marks precede the record. */
#define PERFREC_MARKED		(1u << 5)
/* The record has callers: perfrec_callers(). */
#define PERFREC_CALLERS		(1u << 6)
/* For a call from instruction trace: a tail call, which replaced another function's call. */
#define PERFREC_JUMPED		(1u << 7)
/* The sample names its thread: @thread. */
#define PERFREC_NAMED		(1u << 8)
/* For a call from instruction trace: the kernel is switching from this thread to another thread. */
#define PERFREC_LEAVING		(1u << 9)

/**
 * struct perfrec_record - one record
 * @src:	source
 * @channel:	channel
 * @type:	enum perfrec_type
 * @flags:	PERFREC_*_KNOWN, PERFREC_AFTER_LOSS, PERFREC_STALE, PERFREC_MARKED,
 *		PERFREC_CALLERS, PERFREC_JUMPED, PERFREC_NAMED, PERFREC_LEAVING
 * @thread:	id of a sample's thread, if PERFREC_NAMED is set; 0 if the thread has no id
 * @addresses:	2 for enter and exit, otherwise 1
 * @counters:	number of counters; header->counters if there is a header
 * @words:	number of the record's stores, including those of a sample's thread and callers
 * @header:	header of the stream, or an assumed one, with serial number 0; NULL if there is
 *		neither. Also NULL after words of a header were lost, unless the previous header's
 *		count type is DeltaXOR. Without a header, each word is treated as a counter, and
 *		count type and widths are unknown
 * @begin:	place of the record's first word
 * @address_end: place of the record's last address word
 * @sent_address: addresses as transmitted (XORed for DeltaXOR), with bit 0 clear
 * @address:	addresses, as decoded
 * @dropped:	number of records that the thread dropped before this record
 * @waited:	nanoseconds that the thread waited for room before this record
 * @sent_pc:	@sent_address of a sample, which has one address
 * @callers:	callers, if PERFREC_CALLERS is set; valid until perfrec_free(), or NULL if the trace
 *		has too many different lists
 * @sent:	counters as transmitted, up to PERFREC_VALUE_BITS wide
 * @value:	with Raw and DeltaXOR, values of the counters; with Delta, counts since the header;
 *		in each case modulo 2 to the power of the counter's width
 * @delta:	counts since the stream's previous record, or since the header for the first record
 *		after a Delta header
 */
struct perfrec_record {
	uint8_t			src;
	uint8_t			channel;
	uint8_t			type;
	uint16_t		flags;
	uint32_t		thread;
	unsigned int		addresses;
	unsigned int		counters;
	unsigned int		words;
	const struct perfrec_header *header;
	struct perfrec_stamp	begin;
	struct perfrec_stamp	address_end;
	union {
		uint64_t	sent_address[2];
		struct {
			uint64_t	sent_pc;
			const struct perfrec_callers *callers;
		};
	};
	uint64_t		address[2];
	uint64_t		dropped;
	uint64_t		waited;
	uint64_t		sent[PERFREC_COUNTERS];
	uint64_t		value[PERFREC_COUNTERS];
	uint64_t		delta[PERFREC_COUNTERS];
};

/** perfrec_callers() - return the callers of a record, or NULL */
static inline const struct perfrec_callers *perfrec_callers(const struct perfrec_record *record)
{
	return record->flags & PERFREC_CALLERS ? record->callers : NULL;
}

/** perfrec_is_mark() - return whether a store that does not begin a record begins a mark */
static inline bool perfrec_is_mark(const struct store *word)
{
	return word->bytes == 1 && word->value >= SIFIVE_TRACE_RECORD_WAITED_LONG &&
	       word->value <= SIFIVE_TRACE_RECORD_DROPPED;
}

/**
 * perfrec_is_callers() - return whether a store that does not begin a record begins a sample's
 * thread, callers or stack
 */
static inline bool perfrec_is_callers(const struct store *word)
{
	return word->bytes == 1 && word->value >= SIFIVE_TRACE_RECORD_THREAD &&
	       word->value <= SIFIVE_TRACE_RECORD_CALLERS;
}

/** perfrec_thread() - return the thread id in a sample or its header, or 0 if neither has an id */
static inline uint32_t perfrec_thread(const struct perfrec_record *record)
{
	if (record->flags & PERFREC_NAMED)
		return record->thread;
	return record->header && record->header->owned ? record->header->owner : 0;
}

/* Reasons for dropping words. */
enum perfrec_reason {
	PERFREC_NO_START,	/* no record or header begins with the word */
	PERFREC_CUT_RECORD,	/* a record ended too early */
	PERFREC_CUT_HEADER,	/* a header ended too early, or is not a header */
	PERFREC_INTERRUPTED,	/* perfrec_lost() was called within a record or header */
	PERFREC_TRUNCATED,	/* the trace ended within a record or header */
};

/**
 * struct perfrec_loss - words that are not part of a header or record
 * @src:	source
 * @channel:	channel
 * @reason:	enum perfrec_reason
 * @offset:	offset of the first word in the file
 * @words:	number of words
 */
struct perfrec_loss {
	uint8_t		src;
	uint8_t		channel;
	uint8_t		reason;
	uint64_t	offset;
	uint64_t	words;
};

/* Parts of a header for perfrec_ops.part; a counter's part is its index. */
#define PERFREC_PART_COUNT_TYPE	(-2)
#define PERFREC_PART_MASK	(-1)

/**
 * struct perfrec_ops - the consumer's callbacks; each may be NULL
 * @stream:	called at the first word of a stream
 * @header:	a complete header. The header remains valid and unchanged until its stream has
 *		had PERFREC_HEADERS_KEPT more headers, or until perfrec_free().
 * @record:	a complete record, valid during the call. A record is passed on when it is
 *		known to be complete: at the next word of its stream, or at perfrec_flush().
 * @lost:	words were dropped; @loss is valid during the call
 * @damaged:	a store at @offset does not fit its stream: bytes were damaged or lost. Other
 *		streams, whose stores may also be missing, have been treated as in perfrec_lost()
 * @marks:	the trace has ended, and marks follow the stream's last record; only @src, @channel,
 *		@dropped and @waited of @record are valid
 * @stack:	the stack of the sample that follows, valid during the call. The callback returns
 *		the callers found in the stack, or NULL. Without this callback, samples with a stack
 *		have no callers.
 * @part:	the count type, the mask or a counter of a header is complete. @header is not called
 *		if the header remains incomplete
 * @address:	the addresses of a record are complete, but no counter is valid yet. @record is not
 *		called if the record remains incomplete
 * @counter:	counter @i of a record is complete, so its @sent and @value are valid. @end is the
 *		word that shows this: the counter's upper part, the next word of the stream, or, if
 *		no other word can follow, the counter's own word
 */
struct perfrec_ops {
	void (*stream)(void *context, unsigned int src, unsigned int channel);
	void (*header)(void *context, const struct perfrec_header *header);
	void (*record)(void *context, const struct perfrec_record *record);
	void (*lost)(void *context, const struct perfrec_loss *loss);
	void (*damaged)(void *context, uint64_t offset);
	void (*marks)(void *context, const struct perfrec_record *record);
	const struct perfrec_callers *(*stack)(void *context, const struct perfrec_stack *stack);
	void (*part)(void *context, const struct perfrec_header *header, int part);
	void (*address)(void *context, const struct perfrec_record *record);
	void (*counter)(void *context, const struct perfrec_record *record,
			unsigned int i, const struct perfrec_stamp *end);
};

struct perfrec;

/**
 * perfrec_new() - create a decoder, without streams
 * @ops:	the consumer's callbacks, which must outlive the decoder
 * @context:	passed to each callback
 *
 * Return: the decoder, to be freed with perfrec_free(), or NULL if out of memory.
 */
struct perfrec *perfrec_new(const struct perfrec_ops *ops, void *context);

/**
 * perfrec_assume() - set the header for records that precede a stream's first header
 * @perfrec:	decoder, before the first word
 * @header:	the header without source, channel and places; it is copied
 * @ring:	set if the trace is a wrapped ring, which may begin within a header. In that case, a
 *		stream's first word is not treated as part of a record if it may belong to a header
 *
 * Values that depend on earlier records are unknown until the stream's next header.
 *
 * Return: 0, or -ENOMEM.
 */
int perfrec_assume(struct perfrec *perfrec, const struct perfrec_header *header, bool ring);

/**
 * perfrec_repeat() - declare that headers are repeated at intervals
 * @perfrec:	decoder, before the first word
 * @channels:	bit n is set if the streams of channel n repeat headers
 * @records:	number of records from one header to the next, or 0 if headers are not repeated
 *
 * Writers repeat headers because a ring overwrites the oldest ones. The first @delta after a
 * repeated header is relative to the record before that header.
 */
void perfrec_repeat(struct perfrec *perfrec, uint32_t channels, uint64_t records);

/** perfrec_free() - free a decoder, without calling its ops; NULL is allowed */
void perfrec_free(struct perfrec *perfrec);

/**
 * perfrec_push() - decode one word
 * @perfrec:	decoder
 * @word:	the word; words are pushed in the order of the trace
 *
 * Return: 0; -EINVAL if src or channel is out of range, in which case the word is ignored; -ENOMEM
 * if no memory is available for a new stream, which requires about 10 KiB.
 */
int perfrec_push(struct perfrec *perfrec, const struct store *word);

/**
 * perfrec_lost() - report to the decoder that words may be missing here
 * @perfrec:	decoder
 * @src:	the source that lost them, or -1 for all
 *
 * Unfinished records and headers are dropped. Until the stream's next header, values that depend on
 * earlier records are unknown.
 */
void perfrec_lost(struct perfrec *perfrec, int src);

/**
 * perfrec_doubt() - report to the decoder that records of source @src may be missing here, although
 * all words are consistent
 *
 * Only sets PERFREC_AFTER_LOSS in the streams' unfinished or next records.
 */
void perfrec_doubt(struct perfrec *perfrec, unsigned int src);

/**
 * perfrec_settle() - pass on a stream's record without waiting for more words
 * @perfrec:	decoder
 * @src, @channel: the stream
 * @offset:	offset in the file, in bytes
 *
 * The stream's current record is passed on if all its counters precede @offset, unless the last
 * counter has decreased and therefore lacks its upper part. Call this function if the record must
 * be complete because its writer has begun a record in another stream.
 */
void perfrec_settle(struct perfrec *perfrec, unsigned int src,
		    unsigned int channel, uint64_t offset);

/** perfrec_unfinished() - return whether a stream's record is waiting for more words */
bool perfrec_unfinished(const struct perfrec *perfrec, unsigned int src, unsigned int channel);

/**
 * perfrec_settle_thread() - like perfrec_settle(), but for a thread that continues in another
 * stream
 * @perfrec:	decoder
 * @owner:	thread id
 * @channel:	streams of this channel that do not name a thread are treated as the thread's
 * @before:	offset in the file, in bytes; only records before it are passed on
 */
void perfrec_settle_thread(struct perfrec *perfrec, uint32_t owner,
			   unsigned int channel, const struct perfrec_stamp *before);

/**
 * perfrec_flush() - end the trace
 * @perfrec:	decoder
 *
 * The last record of each stream is passed on if the low word of each of its counters has arrived.
 * Without a header, it must have as many counters as the previous record.
 */
void perfrec_flush(struct perfrec *perfrec);

/**
 * perfrec_counter_name() - get the name of a counter's event
 * @counter:	definition of the counter
 * @name:	set to perf's name ("cycles", "L1-dcache-load-misses", "r20000" for a raw event),
 *		NUL-terminated; "general-0x…" or "cache-0x…" for an event without a name
 * @size:	bytes at @name; PERFREC_NAME_SIZE is enough for all names
 */
void perfrec_counter_name(const struct perfrec_counter *counter, char *name,
			  size_t size);
#define PERFREC_NAME_SIZE	32

/** perfrec_time_name() - return the name of an enum store_time value */
const char *perfrec_time_name(unsigned int time);

/** perfrec_type_name() - return "enter", "exit", "manual" or "sample" */
const char *perfrec_type_name(unsigned int type);

/** perfrec_count_type_name() - return "Raw", "Delta" or "DeltaXOR" */
const char *perfrec_count_type_name(unsigned int count_type);

/** perfrec_reason_name() - return the name of an enum perfrec_reason value */
const char *perfrec_reason_name(unsigned int reason);

/**
 * perfrec_is_kernel() - return whether an address is in the upper half of the address space, which
 * is the kernel's
 */
static inline bool perfrec_is_kernel(uint64_t address)
{
	return address >> 63;
}

#endif /* SIFIVE_TRACE_PERFREC_H */

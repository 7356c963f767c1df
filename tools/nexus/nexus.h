/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Decodes the bytes from a SiFive trace encoder into Nexus messages.
 *
 * Specification: IEEE-ISTO 5001 as used by SiFive's version 0 encoders and by
 * RISC-V N-Trace 1.0. One slice is one byte: MSEO in bits 1:0 (00 more of the
 * field, 01 last of a variable field, 11 last of the message, 10 reserved), MDO
 * in bits 7:2, least significant bits first. 0xff between messages is idle.
 *
 * The decoder needs no memory beyond struct nexus, does not trust its input, and makes progress on
 * any input. Bytes outside messages are returned as a gap, with their offset.
 *
 *	nexus_init(&nexus, &options);
 *	while ((len = read(fd, buf, sizeof(buf))) > 0) {
 *		nexus_feed(&nexus, buf, len);
 *		while ((item = nexus_next(&nexus, &message)) != NEXUS_MORE)
 *			...
 *	}
 *	nexus_end(&nexus);
 *	while ((item = nexus_next(&nexus, &message)) != NEXUS_MORE)
 *		...
 */
#ifndef SIFIVE_TRACE_NEXUS_H
#define SIFIVE_TRACE_NEXUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../store.h"

/* Length of the longest message that an encoder sends, in bytes. */
#define NEXUS_MESSAGE_MAX	38
/* teImpl.nSrcBits has three bits. */
#define NEXUS_SRC_BITS_MAX	7
#define NEXUS_SOURCES		(1u << NEXUS_SRC_BITS_MAX)
#define NEXUS_TS_WIDTH_DEFAULT	40

enum nexus_tcode {
	NEXUS_OWNERSHIP			= 2,
	NEXUS_DIRECT_BRANCH		= 3,
	NEXUS_INDIRECT_BRANCH		= 4,
	NEXUS_DATA_ACQUISITION		= 7,
	NEXUS_ERROR			= 8,
	NEXUS_PROG_TRACE_SYNC		= 9,
	NEXUS_DIRECT_BRANCH_SYNC	= 11,
	NEXUS_INDIRECT_BRANCH_SYNC	= 12,
	NEXUS_RESOURCE_FULL		= 27,
	NEXUS_INDIRECT_HISTORY		= 28,
	NEXUS_INDIRECT_HISTORY_SYNC	= 29,
	NEXUS_REPEAT_BRANCH		= 30,
	NEXUS_CORRELATION		= 33,
	NEXUS_ICT			= 34,
	NEXUS_ICT_SYNC			= 35,
};

/* How messages without sync encode the time. */
enum nexus_ts_scheme {
	NEXUS_TS_XOR,		/* version 0: XOR with the source's previous time */
	NEXUS_TS_DELTA,		/* N-Trace 1.0: ticks since the source's previous time */
};

/**
 * struct nexus_options - properties of the trace that cannot be found in its bytes
 * @src_bits:	width of the SRC field, 0 (no field) to NEXUS_SRC_BITS_MAX
 * @ts_width:	width of a timestamp in bits, 1 to 64; 0 means NEXUS_TS_WIDTH_DEFAULT
 * @ts_scheme:	encoding of the time in messages without sync
 * @ring:	the bytes may begin inside a message, because a ring has wrapped; start after the
 *		first byte with MSEO 11
 * @offset:	number of bytes that precede the first chunk
 */
struct nexus_options {
	unsigned int		src_bits;
	unsigned int		ts_width;
	enum nexus_ts_scheme	ts_scheme;
	bool			ring;
	uint64_t		offset;
};

/* Result of nexus_next(). */
enum nexus_item {
	NEXUS_MORE,		/* more input is needed, or the end was reached */
	NEXUS_MESSAGE,
	NEXUS_GAP,		/* bytes that are not a message */
};

/* Why bytes were skipped. */
enum nexus_gap {
	NEXUS_GAP_ALIGN,	/* rest of a message at the beginning of a ring */
	NEXUS_GAP_RESERVED,	/* MSEO 10 */
	NEXUS_GAP_TOO_LONG,	/* no end within NEXUS_MESSAGE_MAX bytes */
	NEXUS_GAP_MALFORMED,	/* fields do not match the TCODE */
	NEXUS_GAP_TRUNCATED,	/* the input ended inside a message */
	/*
	 * Set in tools/trace, for a gap of 0 bytes: a store contradicts its record, so messages
	 * from any source may be missing.
	 */
	NEXUS_GAP_CONTRADICTED,
	/*
	 * Set in tools/trace, for a gap of 0 bytes: a timestamp contradicts an earlier timestamp,
	 * so messages from its source may be missing.
	 */
	NEXUS_GAP_TIMES,
};

/* The message has its own timestamp. */
#define NEXUS_TIMESTAMP		(1u << 0)
/* @time is valid: the source has sent an absolute timestamp. */
#define NEXUS_TIME_KNOWN	(1u << 1)
/* A sync message: its timestamp is absolute. */
#define NEXUS_SYNC		(1u << 2)
/* The TCODE's layout is unknown, so the fields are not valid. */
#define NEXUS_UNKNOWN_TCODE	(1u << 3)
/* @time is inferred: the source may have lost a message. */
#define NEXUS_TIME_INFERRED	(1u << 4)
/* The timestamp contradicts the source's clock: see @contrary. */
#define NEXUS_CONTRARY		(1u << 5)
/* A store without a timestamp, although earlier stores have timestamps. */
#define NEXUS_STAMP_MISSING	(1u << 6)
/*
 * Set in tools/trace: instruction trace stops within a record, or before a possible upper part of
 * its last counter.
 */
#define NEXUS_UNFINISHED	(1u << 7)

/**
 * struct nexus_message - a message or a gap
 * @offset:	offset of the first byte in the input
 * @length:	length of the message in bytes
 * @time:	time of its source in ticks, extended to 64 bits; valid if
 *		NEXUS_TIME_KNOWN is set. A message without a timestamp has its source's
 *		latest time.
 * @field:	variable fields except the timestamp, see below
 * @contrary:	valid if NEXUS_CONTRARY is set: a bit that was 1 in the source's previous
 *		time, but should have been 0
 * @before:	for an absolute timestamp: the source's previous time, valid if @before_known is set
 * @fields:	number of entries in @field
 * @fixed:	fixed fields after SRC, see below
 * @tcode:	enum nexus_tcode, or another value if NEXUS_UNKNOWN_TCODE is set
 * @src:	the encoder's source number, or 0 if messages have no SRC
 * @flags:	NEXUS_*
 * @gap:	for NEXUS_GAP, which otherwise sets only @offset and @length: enum nexus_gap
 *
 *	TCODE		fixed		field
 *	2  ownership	-		PROCESS
 *	3		-		ICNT
 *	4		BTYPE		ICNT, UADDR
 *	7  data acq.	-		IDTAG, DQDATA
 *	8  error	ETYPE		ECODE
 *	9  sync		SYNC		ICNT, FADDR (address >> 1)
 *	11		SYNC		ICNT, FADDR
 *	12		SYNC, BTYPE	ICNT, FADDR
 *	27		RCODE		RDATA [, HREPEAT when RCODE is 2]
 *	28		BTYPE		ICNT, UADDR, HIST
 *	29		SYNC, BTYPE	ICNT, FADDR, HIST
 *	30		-		BCNT
 *	33 correlation	EVCODE, CDF	ICNT [, HIST when CDF is 1]
 *	34, 35 ICT	CKSRC, CKDF	CKDATA0 [, CKDATA1 when CKDF is 1]
 */
struct nexus_message {
	uint64_t	offset;
	uint64_t	length;
	uint64_t	time;
	uint64_t	field[3];
	uint64_t	contrary;
	uint64_t	before;
	bool		before_known;
	uint8_t		fields;
	uint8_t		fixed[2];
	uint8_t		tcode;
	uint8_t		src;
	uint8_t		flags;
	uint8_t		gap;
};

/* Layout of the messages with a given TCODE, for the decoder's src_bits. */
struct nexus_layout {
	uint8_t		known;
	uint8_t		sync;
	uint8_t		fixed_bits;	/* number of bits of TCODE, SRC and fixed fields */
	uint8_t		first_slice;	/* slice in which the first variable field begins */
	uint8_t		shift[2];	/* bit positions of the fixed fields */
	uint8_t		mask[2];
	uint8_t		fields;		/* minimum number of variable fields */
	uint8_t		option;		/* fixed field that announces one more variable field */
	uint8_t		option_value;	/* value with which it does so; 0xff if none */
	uint8_t		option_max;	/* maximum defined value of that field */
};

/* Which stores have a timestamp. */
enum nexus_stamps {
	NEXUS_STAMPS_NONE,
	NEXUS_STAMPS_ALL,
	NEXUS_STAMPS_MIXED,
};

/* Decoder state, private to tools/nexus and tools/trace. It can be copied. */
struct nexus {
	const uint8_t		*in;
	const uint8_t		*in_end;
	uint64_t		offset;		/* offset of @in in the input */
	uint64_t		ts_mask;
	uint64_t		gap_length;
	struct nexus_layout	layout[64];
	uint64_t		now[NEXUS_SOURCES];
	uint8_t			quality[NEXUS_SOURCES];	/* enum store_time */
	uint32_t		src_mask;
	enum nexus_ts_scheme	ts_scheme;
	enum nexus_stamps	stamps;
	enum nexus_gap		gap;
	bool			in_gap;
	bool			end;
	uint8_t			carried;	/* bytes of a split message in @carry */
	uint8_t			carry[NEXUS_MESSAGE_MAX];
};

/**
 * nexus_init() - start decoding
 * @nexus:	state to initialise; it need not be freed
 * @options:	see struct nexus_options
 *
 * Return: 0, or -EINVAL if src_bits, ts_width or ts_scheme is out of range.
 */
int nexus_init(struct nexus *nexus, const struct nexus_options *options);

/**
 * nexus_set_time() - set the current time of a source
 * @nexus:	decoder
 * @src:	source
 * @time:	time of the previous message
 * @quality:	certainty of the times that follow: enum store_time. Unknown times are not checked
 *		for contradictions.
 *
 * Called for a wrapped ring (after NEXUS_GAP_ALIGN if options.ring is set), and after damage.
 */
void nexus_set_time(struct nexus *nexus, unsigned int src, uint64_t time,
		    enum store_time quality);

/**
 * nexus_mix_stamps() - expect stores with and without a timestamp
 *
 * NEXUS_STAMP_MISSING is not set for later messages.
 */
void nexus_mix_stamps(struct nexus *nexus);

/**
 * nexus_skip() - skip bytes
 * @nexus:	decoder
 * @bytes:	number of bytes to skip: the rest of a damaged message
 */
void nexus_skip(struct nexus *nexus, size_t bytes);

/**
 * nexus_feed() - supply the next chunk of the input
 * @nexus:	a new decoder, or one for which nexus_next() has returned NEXUS_MORE
 * @data:	the chunk, which must remain valid until nexus_next() returns NEXUS_MORE
 * @length:	number of bytes; messages may be split between chunks
 */
void nexus_feed(struct nexus *nexus, const void *data, size_t length);

/**
 * nexus_end() - mark the end of the input
 * @nexus:	decoder for which nexus_next() has returned NEXUS_MORE
 *
 * Afterwards, nexus_next() returns an incomplete last message as a gap.
 */
void nexus_end(struct nexus *nexus);

/**
 * nexus_next() - decode the next message
 * @nexus:	decoder
 * @message:	set for NEXUS_MESSAGE and NEXUS_GAP
 *
 * Times are per source, and unknown before the source's first absolute timestamp. After an Error
 * message (8) or a message of unknown layout, a source's clock continues, but a timestamp may have
 * been lost, so its times are inferred until the next absolute timestamp. After a gap, this applies
 * to all sources.
 *
 * In the XOR scheme, time never goes back, so the highest bit that a timestamp changes must have
 * been 0 in the previous time. If it was 1, that bit is corrected in the source's clock, and the
 * source's later times are inferred. Only the top bit can change to 0, when the time wraps.
 *
 * Return: NEXUS_MESSAGE, NEXUS_GAP, or NEXUS_MORE once the chunk is used up.
 */
enum nexus_item nexus_next(struct nexus *nexus, struct nexus_message *message);

/**
 * nexus_gap_name() - return a gap's reason as text
 * @gap:	enum nexus_gap
 */
const char *nexus_gap_name(enum nexus_gap gap);

/** nexus_highest_bit() - return the highest bit that is set, or 0 if there is none */
static inline uint64_t nexus_highest_bit(uint64_t bits)
{
	return bits ? 1ull << (63 - __builtin_clzll(bits)) : 0;
}

/** nexus_is_absolute() - return whether a message has an absolute timestamp */
static inline bool nexus_is_absolute(const struct nexus_message *message)
{
	return message->flags & NEXUS_SYNC && message->flags & NEXUS_TIMESTAMP;
}

/** nexus_is_branch() - return whether a message is part of instruction trace */
static inline bool nexus_is_branch(const struct nexus_message *message)
{
	const uint64_t branches =
		1ull << NEXUS_DIRECT_BRANCH | 1ull << NEXUS_INDIRECT_BRANCH |
		1ull << NEXUS_PROG_TRACE_SYNC | 1ull << NEXUS_DIRECT_BRANCH_SYNC |
		1ull << NEXUS_INDIRECT_BRANCH_SYNC | 1ull << NEXUS_RESOURCE_FULL |
		1ull << NEXUS_INDIRECT_HISTORY | 1ull << NEXUS_INDIRECT_HISTORY_SYNC |
		1ull << NEXUS_REPEAT_BRANCH | 1ull << NEXUS_CORRELATION;

	return branches >> message->tcode & 1;
}

/* Buffer size for nexus_encode(): all fields at full width. */
#define NEXUS_ENCODED_MAX	64

/**
 * nexus_encode() - write a message
 * @nexus:	initialised with the options of the output
 * @message:	a message with a known layout; only its TCODE, source, fields and flags are used
 * @timestamp:	value of the timestamp field, if NEXUS_TIMESTAMP is set
 * @to:		buffer of NEXUS_ENCODED_MAX bytes
 *
 * Return: the number of bytes, or 0 if the source does not fit in SRC, or the layout is unknown.
 */
size_t nexus_encode(const struct nexus *nexus, const struct nexus_message *message,
		    uint64_t timestamp, uint8_t *to);

/* The parts of an Ownership message's PROCESS field. */
#define NEXUS_PROCESS_FORMAT(process)	((unsigned int)(process) & 3)
#define NEXUS_PROCESS_PRV(process)	((unsigned int)(process) >> 2 & 3)
#define NEXUS_PROCESS_V(process)	((unsigned int)(process) >> 4 & 1)
#define NEXUS_PROCESS_CONTEXT(process)	((process) >> 5)

/**
 * nexus_store() - get a message's store
 * @message:	message
 * @store:	the result
 *
 * A store to channel n has IDTAG n * 4 + byte offset in the register; the offset is 0,
 * 2 or 3 for a store of 4, 2 or 1 bytes. A store with an invalid offset is returned with a size
 * of 0 bytes.
 *
 * Return: false unless the message is a Data Acquisition message on a valid channel.
 */
bool nexus_store(const struct nexus_message *message, struct store *store);

/**
 * nexus_stores() - decode the next stores
 * @nexus:	decoder
 * @store:	the result
 * @count:	number of elements of @store
 *
 * Equivalent to nexus_next() and nexus_store(), but several times as fast. Unusual messages, and
 * the end of the chunk, are left to nexus_next().
 *
 * Return: the number of stores; if fewer than @count, call nexus_next().
 */
size_t nexus_stores(struct nexus *nexus, struct store *store,
		    size_t count);

#endif /* SIFIVE_TRACE_NEXUS_H */

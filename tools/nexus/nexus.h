/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Nexus messages out of the bytes of a SiFive trace encoder.
 *
 * Specification: IEEE-ISTO 5001 as SiFive's version 0 encoders speak it and
 * RISC-V N-Trace 1.0. One slice is one byte: MSEO in bits 1:0 (00 more of the
 * field, 01 last of a variable field, 11 last of the message, 10 reserved),
 * MDO in bits 7:2, least significant bits first. 0xff between messages is idle.
 *
 * The decoder needs no memory beyond struct nexus, never trusts its input and
 * makes progress on any bytes: what is not a message comes out as a gap, with
 * its place in the file.
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

/* Bytes of the longest message an encoder makes. */
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

/* How a message that is not a sync message tells the time. */
enum nexus_ts_scheme {
	NEXUS_TS_XOR,		/* version 0: XOR with the source's previous */
	NEXUS_TS_DELTA,		/* N-Trace 1.0: ticks since the previous */
};

/**
 * struct nexus_options - what the bytes do not say about themselves
 * @src_bits:	width of the SRC field, 0 (no field) to NEXUS_SRC_BITS_MAX
 * @ts_width:	bits of a timestamp, 1 to 64; 0 means NEXUS_TS_WIDTH_DEFAULT
 * @ts_scheme:	how ordinary messages carry the time
 * @ring:	the bytes begin somewhere in a message (a buffer that wrapped):
 *		start behind the first byte whose MSEO is 11
 * @offset:	bytes of the input that were left out before what is fed
 */
struct nexus_options {
	unsigned int		src_bits;
	unsigned int		ts_width;
	enum nexus_ts_scheme	ts_scheme;
	bool			ring;
	uint64_t		offset;
};

/* What nexus_next() found. */
enum nexus_item {
	NEXUS_MORE,		/* nothing: feed more, or this was the end */
	NEXUS_MESSAGE,
	NEXUS_GAP,		/* bytes that are no message */
};

/* Why bytes were skipped. */
enum nexus_gap {
	NEXUS_GAP_ALIGN,	/* ring: the rest of the message it began in */
	NEXUS_GAP_RESERVED,	/* MSEO 10 */
	NEXUS_GAP_TOO_LONG,	/* over NEXUS_MESSAGE_MAX bytes */
	NEXUS_GAP_MALFORMED,	/* fields do not fit the TCODE */
	NEXUS_GAP_TRUNCATED,	/* the input ended within a message */
};

/* The message has a timestamp of its own. */
#define NEXUS_TIMESTAMP		(1u << 0)
/* @time is valid: an absolute timestamp was seen. */
#define NEXUS_TIME_KNOWN	(1u << 1)
/* A sync message: its timestamp is absolute. */
#define NEXUS_SYNC		(1u << 2)
/* A TCODE this decoder has no layout for: no fields, only its place. */
#define NEXUS_UNKNOWN_TCODE	(1u << 3)
/* @time is likely, not certain: the source may have lost a message since. */
#define NEXUS_TIME_INFERRED	(1u << 4)
/* Its timestamp contradicts the source's clock: see @contrary. */
#define NEXUS_CONTRARY		(1u << 5)
/* A store without a timestamp, while those before it have one. */
#define NEXUS_STAMP_MISSING	(1u << 6)

/**
 * struct nexus_message - one message, or one gap
 * @offset:	bytes from the beginning of the input to its first byte
 * @length:	bytes it has there
 * @time:	time of its source in ticks, extended to 64 bits over wraps of
 *		the timestamp; valid with NEXUS_TIME_KNOWN. A message without a
 *		timestamp has its source's latest.
 * @field:	variable fields without the timestamp, see below
 * @contrary:	valid with NEXUS_CONTRARY: the bit of the source's time before this
 *		message that was 1 and must have been 0
 * @fields:	number of them
 * @fixed:	fixed fields after SRC, see below
 * @tcode:	enum nexus_tcode, or another value with NEXUS_UNKNOWN_TCODE
 * @src:	which encoder, 0 when messages have no SRC
 * @flags:	NEXUS_*
 * @gap:	for NEXUS_GAP, which has only @offset and @length besides
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
	uint8_t		fields;
	uint8_t		fixed[2];
	uint8_t		tcode;
	uint8_t		src;
	uint8_t		flags;
	uint8_t		gap;
};

/* Layout of one TCODE's messages for the decoder's src_bits. */
struct nexus_layout {
	uint8_t		known;
	uint8_t		sync;
	uint8_t		fixed_bits;	/* TCODE, SRC and fixed fields */
	uint8_t		first_slice;	/* where the first variable field is */
	uint8_t		shift[2];	/* of the fixed fields */
	uint8_t		mask[2];
	uint8_t		fields;		/* without optional field, timestamp */
	uint8_t		option;		/* fixed field that adds one field */
	uint8_t		option_value;	/* when it is this; else 0xff */
	uint8_t		option_max;	/* greatest value that is defined */
};

/* Which messages with a store have a timestamp. */
enum nexus_stamps {
	NEXUS_STAMPS_NONE,
	NEXUS_STAMPS_ALL,
	NEXUS_STAMPS_MIXED,
};

/* Decoder state: for nexus.c and the recovery of clocks. It may be copied freely. */
struct nexus {
	const uint8_t		*in;
	const uint8_t		*in_end;
	uint64_t		offset;		/* of @in in the whole input */
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
	uint8_t			carried;	/* bytes of a message cut in two */
	uint8_t			carry[NEXUS_MESSAGE_MAX];
};

/**
 * nexus_init() - start decoding
 * @nexus:	state to set up; has nothing to be freed
 * @options:	see struct nexus_options
 *
 * Return: 0, or -EINVAL for a src_bits, ts_width or ts_scheme out of range.
 */
int nexus_init(struct nexus *nexus, const struct nexus_options *options);

/**
 * nexus_set_time() - set the time of a source before what comes next
 * @nexus:	decoder
 * @src:	source
 * @time:	of the message before
 * @quality:	of the times that follow. A clock of unknown time is not checked.
 *
 * For a buffer that wrapped, behind NEXUS_GAP_ALIGN if options say that it begins
 * within a message; and behind damage.
 */
void nexus_set_time(struct nexus *nexus, unsigned int src, uint64_t time,
		    enum store_time quality);

/**
 * nexus_mix_stamps() - some stores have a timestamp, and others none
 *
 * None is NEXUS_STAMP_MISSING from here on.
 */
void nexus_mix_stamps(struct nexus *nexus);

/**
 * nexus_skip() - leave out bytes
 * @nexus:	decoder
 * @bytes:	as many of what was fed; the rest of a message that was damaged
 */
void nexus_skip(struct nexus *nexus, size_t bytes);

/**
 * nexus_feed() - give the next bytes of the input
 * @nexus:	decoder that has returned NEXUS_MORE, or is new
 * @data:	bytes; must stay until nexus_next() returns NEXUS_MORE
 * @length:	number of bytes; any cut is fine, also within a message
 */
void nexus_feed(struct nexus *nexus, const void *data, size_t length);

/**
 * nexus_end() - say that no more bytes will come
 * @nexus:	decoder that has returned NEXUS_MORE
 *
 * What a cut-off last message left is then given as a gap by nexus_next().
 */
void nexus_end(struct nexus *nexus);

/**
 * nexus_next() - decode the next message
 * @nexus:	decoder
 * @message:	filled for NEXUS_MESSAGE and NEXUS_GAP
 *
 * Times are per source, and unknown until an absolute timestamp. After an Error
 * message of the source (8), after a message of unknown layout of the source, and,
 * for all sources, after a gap, a clock runs on, but a timestamp that was lost is
 * missing in it: times are inferred until the next absolute timestamp.
 *
 * In the XOR scheme time never goes back, so that the highest bit that a timestamp
 * changes is 0 before. A clock in which it is 1 is wrong there: it is corrected, and
 * its times are inferred from then on. The top bit may fall back: the time wraps.
 *
 * Return: NEXUS_MESSAGE, NEXUS_GAP, or NEXUS_MORE when all that was fed has
 * been used.
 */
enum nexus_item nexus_next(struct nexus *nexus, struct nexus_message *message);

/**
 * nexus_gap_name() - a gap's reason as text
 * @gap:	enum nexus_gap
 */
const char *nexus_gap_name(enum nexus_gap gap);

/* What the PROCESS field of an Ownership message is made of. */
#define NEXUS_PROCESS_FORMAT(process)	((unsigned int)(process) & 3)
#define NEXUS_PROCESS_PRV(process)	((unsigned int)(process) >> 2 & 3)
#define NEXUS_PROCESS_V(process)	((unsigned int)(process) >> 4 & 1)
#define NEXUS_PROCESS_CONTEXT(process)	((process) >> 5)

/**
 * nexus_store() - the store that a message came from
 * @message:	message
 * @store:	filled
 *
 * A store to channel n has IDTAG n * 4 + byte offset in the register; the offset
 * is 0, 2 or 3 for a store of 4, 2 or 1 bytes. One that does not fit has 0 bytes.
 *
 * Return: false for messages that are no Data Acquisition, or of no channel.
 */
bool nexus_store(const struct nexus_message *message, struct store *store);

/**
 * nexus_stores() - decode the stores that come next
 * @nexus:	decoder
 * @store:	filled
 * @count:	of how many there is room for
 *
 * As nexus_next() and nexus_store() would, but several times as fast. What it
 * cannot decode, and the end of what was fed, it leaves to nexus_next().
 *
 * Return: how many; fewer than @count: call nexus_next().
 */
size_t nexus_stores(struct nexus *nexus, struct store *store,
		    size_t count);

#endif /* SIFIVE_TRACE_NEXUS_H */

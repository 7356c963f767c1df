/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Defines a stream of records and its header. Private to tools/perfrec. */
#ifndef SIFIVE_TRACE_STREAM_H
#define SIFIVE_TRACE_STREAM_H

#include "callers.h"
#include "perfrec.h"

#define STREAMS		(PERFREC_SOURCES * PERFREC_CHANNELS)

/* The word that a stream expects next. */
enum state {
	BOUNDARY,	/* a record's type or a header's magic */
	LOST,		/* like BOUNDARY, but after a loss: other words are skipped */
	MARK,		/* the value of a mark */
	THREAD,		/* the id of a sample's thread */
	NAMED,		/* the callers, the stack, or the sample after that id */
	CALLERS,	/* a caller's address, or the sample after the callers */
	CALLERS_HIGH,	/* the upper part of an address */
	STACK,		/* a register, 8 bytes of the stack, or the sample after the stack */
	HEADER_COUNT_TYPE,
	HEADER_OWNER,
	HEADER_MASK,
	HEADER_TYPE,
	HEADER_CODE,
	HEADER_DATA_LOW,
	HEADER_DATA_HIGH,
	HEADER_INFO,
	RECORD_ADDRESS,
	RECORD_ADDRESS_HIGH,
	RECORD_COUNTER,	/* a counter, or the upper part of the previous counter */
	RECORD_LAST,	/* all counters are present; the last counter's upper part may follow */
};

/*
 * Set in a record's flags until the record is passed on: the next store does not fit, which means
 * that the upper part of the record's last counter may have been lost.
 */
#define UNSURE		(1u << 15)
/* Likewise: records may be missing after the record. */
#define DOUBTED		(1u << 14)

struct stream {
	enum state		state;
	struct stream		*next;
	/* Entries of @headers: the current header (or NULL) and the header that is being read. */
	const struct perfrec_header *header;
	struct perfrec_header	*reading;
	uint64_t		header_words;
	/* The words that are read as a header may be counters instead. */
	bool			tentative;
	struct perfrec_record	record;
	/* The record began after a loss, so its words may be the rest of a header. */
	bool			doubtful;
	/* The lower words of the addresses, as transmitted. */
	uint32_t		low[2];
	bool			upper_seen;
	/*
	 * For ops->counter: number of counters passed on, and the last word of the latest counter.
	 */
	unsigned int		given;
	struct perfrec_stamp	latest;
	/* The latest word was a 32-bit magic, whose stamp is @magic_stamp. */
	bool			magic;
	struct perfrec_stamp	magic_stamp;
	/* Words have been lost since the header. */
	bool			broken;
	/*
	 * PERFREC_AFTER_LOSS, PERFREC_MARKED, PERFREC_CALLERS, PERFREC_NAMED, UNSURE: set since the
	 * latest record.
	 */
	uint16_t		lost;
	/* A mark's kind, the state before the mark, and the mark's file offset. */
	uint8_t			mark;
	enum state		around;
	uint64_t		mark_offset;
	/* File offset of the word that moved the stream to RECORD_LAST. */
	uint64_t		last;
	/*
	 * For a sample's thread and callers: the number of words, which is kept until the record
	 * ends; the number of addresses; the lower part of the latest address; and the addresses.
	 */
	unsigned int		caller_words;
	unsigned int		callers;
	uint32_t		caller_low;
	uint64_t		*caller;	/* room for the maximum; may be NULL */
	/*
	 * For a stack: the number of values, the number of stores of the latest value, and the
	 * stack, or NULL if it is not kept.
	 */
	unsigned int		values;
	unsigned int		parts;
	struct perfrec_stack	*stack;
	/* @value and @address are those of the stream's previous record. */
	bool			previous;
	uint64_t		value[PERFREC_COUNTERS];
	/* Number of records since the header. */
	uint64_t		records;
	uint64_t		address;
	/* Number of counters of the last record without a header, or -1 if there is none yet. */
	int			guessed;
	uint32_t		serial;
	struct perfrec_loss	loss;
	/* Not initialised; an entry is cleared when its header begins. */
	struct perfrec_header	headers[PERFREC_HEADERS_KEPT + 1];
};

struct perfrec {
	const struct perfrec_ops *ops;
	void			*context;
	/* Header for streams without one, or NULL to guess it; and whether the trace is a ring. */
	struct perfrec_header	*assumed;
	bool			ring;
	uint64_t		interval[PERFREC_CHANNELS];
	struct callers		callers;
	unsigned int		stacks;		/* allocated */
	struct stream		*first;
	struct stream		*stream[STREAMS];
};

static inline struct perfrec_stamp stamp(const struct store *word)
{
	return (struct perfrec_stamp){
		.offset = word->offset,
		.time = word->time,
		.time_known = word->time_known,
	};
}

/* Count lost words, and drop all state that depends on earlier words. */
static inline void lose(struct stream *stream, enum perfrec_reason reason,
			uint64_t offset, uint64_t words)
{
	if (!stream->loss.words) {
		stream->loss.reason = reason;
		stream->loss.offset = offset;
	}
	stream->loss.words += words;
	stream->given = PERFREC_COUNTERS;
	stream->broken = true;
	stream->lost = (stream->lost & ~(PERFREC_CALLERS | PERFREC_NAMED)) | PERFREC_AFTER_LOSS;
	stream->previous = false;
	stream->state = LOST;
}

static inline void report_loss(struct perfrec *perfrec, struct stream *stream)
{
	if (stream->loss.words && perfrec->ops->lost)
		perfrec->ops->lost(perfrec->context, &stream->loss);
	stream->loss.words = 0;
}

/**
 * header_begin() - begin a header whose magic is at @begin; if @tentative is set, the words
 * may be counters instead
 */
void header_begin(struct perfrec *perfrec, struct stream *stream,
		  struct perfrec_stamp begin, bool tentative);

/** header_word() - decode one more word; return false if it does not fit */
bool header_word(struct perfrec *perfrec, struct stream *stream, const struct store *word);

/** header_lose() - drop the unfinished header */
void header_lose(struct stream *stream, enum perfrec_reason reason);

/** header_is_count_type() - return whether @value can be a header's count type, with its flags */
bool header_is_count_type(uint32_t value);

/** sample_begun() - return whether the stream is within the items that precede a sample */
static inline bool sample_begun(const struct stream *stream)
{
	return stream->state >= THREAD && stream->state <= STACK;
}

/**
 * sample_begin() - begin the items that precede a sample; perfrec_is_callers() is true for @word
 */
void sample_begin(struct perfrec *perfrec, struct stream *stream, const struct store *word);

/** sample_word() - decode one more word; return false if it does not fit, or begins the sample */
bool sample_word(struct perfrec *perfrec, struct stream *stream, const struct store *word);

/** sample_lose() - drop the items that precede a sample */
void sample_lose(struct stream *stream, enum perfrec_reason reason);

#endif /* SIFIVE_TRACE_STREAM_H */

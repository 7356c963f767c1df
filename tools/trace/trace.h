/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Decodes a trace file into records: combines the message decoder and the record decoder, infers
 * missing data, and keeps statistics.
 */
#ifndef SIFIVE_TRACE_TRACE_H
#define SIFIVE_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nexus/nexus.h"
#include "perfrec/perfrec.h"

#include "meta.h"
#include "range.h"
#include "switches.h"

/*
 * The upper part of a record's last counter may never arrive. If only this part is missing, the
 * record is considered complete once its source has sent further instruction trace messages: at
 * least this many, and at most twice as many. It is also considered complete when its thread's
 * instruction trace stops, if a message has shown executed code since the record's last word.
 */
#define TRACE_SETTLE_BRANCHES	64

struct follow;

#define TRACE_ALL_CHANNELS	(-1)
#define TRACE_USUAL_CHANNELS	(-2)

/**
 * struct trace_options - the user's settings
 * @channel:	channel of the records, or TRACE_ALL_CHANNELS, or TRACE_USUAL_CHANNELS for
 *		those in the side-car file, or else PERFREC_CHANNEL_DEFAULT
 * @src_bits:	width of the SRC field, -1 to use the side-car file or infer it
 * @ts_width:	width of a timestamp in bits, -1 to use the side-car file or the default
 * @ts_scheme:	enum nexus_ts_scheme, -1 to use the side-car file or infer it
 * @ring:	set if the trace is a ring buffer that begins within a message
 * @quiet:	set to print no summary, and no progress on the terminal
 * @watched:	set to show no progress, because the command prints to the terminal while it reads
 * @jobs:	number of threads that read; callbacks are never concurrent
 * @follow:	how to wait for a file that is still being written, or NULL
 */
struct trace_options {
	int	channel;
	int	src_bits;
	int	ts_width;
	int	ts_scheme;
	bool	ring;
	bool	quiet;
	bool	watched;
	int	jobs;
	struct follow	*follow;
};

/**
 * struct trace_stats - statistics of a trace's content
 * @bytes:	size of the trace in bytes
 * @messages:	number of Nexus messages
 * @unknown:	number of messages with an unknown TCODE
 * @errors:	number of Error messages, which indicate that the encoder lost messages
 * @ownership:	number of Ownership messages, which indicate that another context runs
 * @branches:	number of instruction trace messages
 * @gaps:	number of ranges of bytes that are not a message
 * @gap_bytes:	number of bytes in gaps
 * @align_bytes: number of bytes before the first message of a ring buffer
 * @cut_bytes:	size of the last message in bytes, if it is cut off
 * @words:	number of stores per channel
 * @headers:	number of headers
 * @counted:	set if headers define counters other than the timestamp
 * @records:	number of records of each enum perfrec_type
 * @no_header:	number of records whose header is unknown
 * @unaddressed: number of records with unknown addresses
 * @callers:	number of samples with callers
 * @no_callers:	number of samples whose callers are omitted, because there are too many lists of
 *		callers
 * @losses:	number of times that words were dropped
 * @lost_words:	number of dropped words
 * @dropped:	number of records that threads dropped, according to marks
 * @truncated:	number of losses at the end of the trace
 * @assumed:	number of records before their stream's first header in a ring, decoded as the
 *		side-car file describes
 * @rootless:	number of records before such a header that are omitted, because they depend on
 *		overwritten records
 * @ring_words:	number of words of records that the beginning of a ring cuts off
 * @worked_out:	number of sources whose times before their first absolute time in a ring were
 *		inferred
 * @contrary:	number of sources whose inferred times contradict each other
 * @corrected:	number of times that a timestamp contradicted its source's clock
 * @disorders:	number of times that a source's times contradicted the order of the messages
 * @inferred:	number of records with an inferred time
 * @backwards:	number of counts that went backwards, or that would make sums exceed their limit, found
 *		by an analysis or by decode
 * @left_out:	number of calls, parts of the instruction trace, and threads that an analysis left out
 * @flow_losses: number of gaps in the instruction flow because of contradictions or damage
 * @stamped:	set if store messages have timestamps
 * @absolute:	set if at least one message has an absolute timestamp
 * @first, @last: earliest known time of a record's first word, and latest known time of a record's
 *		last address, in ticks; no call is longer than the time between them
 * @timed:	number of records with a known time
 * @src_bits:	width of the SRC field that was used
 * @src_from:	origin of that width, as text
 * @switches:	number of context-switch records
 * @scheme_inferred: set if the timestamps were inferred to be differences
 */
struct trace_stats {
	uint64_t	bytes;
	uint64_t	messages;
	uint64_t	unknown;
	uint64_t	errors;
	uint64_t	ownership;
	uint64_t	branches;
	uint64_t	gaps;
	uint64_t	gap_bytes;
	uint64_t	align_bytes;
	uint64_t	cut_bytes;
	uint64_t	words[PERFREC_CHANNELS];
	uint64_t	headers;
	bool		counted;
	uint64_t	records[PERFREC_TYPES];
	uint64_t	no_header;
	uint64_t	unaddressed;
	uint64_t	callers;
	uint64_t	no_callers;
	uint64_t	losses;
	uint64_t	lost_words;
	uint64_t	dropped;
	uint64_t	truncated;
	uint64_t	assumed;
	uint64_t	rootless;
	uint64_t	ring_words;
	unsigned int	worked_out;
	unsigned int	contrary;
	uint64_t	corrected;
	uint64_t	disorders;
	uint64_t	inferred;
	uint64_t	backwards;
	uint64_t	left_out;
	uint64_t	flow_losses;
	bool		stamped;
	bool		absolute;
	uint64_t	first;
	uint64_t	last;
	uint64_t	timed;
	unsigned int	src_bits;
	const char	*src_from;
	struct switches	switches;
	bool		scheme_inferred;
};

/** trace_records() - return the total number of records */
static inline uint64_t trace_records(const struct trace_stats *stats)
{
	uint64_t records = 0;
	unsigned int i;

	for (i = 0; i < PERFREC_TYPES; i++)
		records += stats->records[i];
	return records;
}

/** trace_count_time() - add a record's time to the statistics */
static inline void trace_count_time(struct trace_stats *stats, const struct perfrec_stamp *stamp)
{
	if (stamp->time_known == TIME_UNKNOWN)
		return;
	if (!stats->timed++) {
		stats->first = stamp->time;
		stats->last = stamp->time;
	}
	if (stamp->time > stats->last)
		stats->last = stamp->time;
	else if (stamp->time < stats->first)
		stats->first = stamp->time;
	if (stamp->time_known == TIME_INFERRED)
		stats->inferred++;
}

/**
 * struct trace_ops - a consumer's callbacks; each may be NULL
 * @header, @record, @lost, @marks, @part, @address, @counter: see struct perfrec_ops; if @counter
 *		is set, records are passed on once a later word shows that they are complete
 * @gap:	a range of bytes that are not a message
 * @error:	an Error message
 * @ownership:	an Ownership message
 * @message:	each message other than a store, in order
 * @switched:	a context-switch record
 * @pause:	no more data has arrived in a pipe: flush outputs
 * @stop:	polled; reading stops once it returns true
 */
struct trace_ops {
	void (*header)(void *context, const struct perfrec_header *header);
	void (*record)(void *context, const struct perfrec_record *record);
	void (*lost)(void *context, const struct perfrec_loss *loss);
	void (*marks)(void *context, const struct perfrec_record *record);
	void (*part)(void *context, const struct perfrec_header *header, int part);
	void (*address)(void *context, const struct perfrec_record *record);
	void (*counter)(void *context, const struct perfrec_record *record,
			unsigned int i, const struct perfrec_stamp *end);
	void (*gap)(void *context, const struct nexus_message *gap);
	void (*error)(void *context, const struct nexus_message *error);
	void (*ownership)(void *context, const struct nexus_message *ownership);
	void (*message)(void *context, const struct nexus_message *message);
	void (*switched)(void *context, const struct trace_switch *record);
	void (*pause)(void *context);
	bool (*stop)(void *context);
};

struct trace;

/**
 * trace_open() - open a trace and infer how to decode it
 * @path:	file, "-" for standard input
 * @options:	the user's settings
 * @meta:	side-car file of the trace
 *
 * Return: the trace, or NULL after printing an error if it cannot be read or has no messages.
 */
struct trace *trace_open(const char *path, const struct trace_options *options,
			 const struct meta *meta);

/**
 * trace_take() - like trace_open(), but for an open file
 * @fd:		the file, positioned at its beginning; closed with the trace, even after an
 *		error
 * @path:	name of the file in messages
 */
struct trace *trace_take(int fd, const char *path, const struct trace_options *options,
			 const struct meta *meta);

/**
 * trace_unwind() - set the function that finds callers in the stacks of samples
 * @unwind:	writes the callers found in a stack to @address, as in struct perfrec_callers, and
 *		returns their number. Called by trace_run(), between other callbacks
 * @context:	passed to @unwind
 */
void trace_unwind(struct trace *trace,
		  unsigned int (*unwind)(void *context, const struct perfrec_stack *stack,
					 uint64_t address[SIFIVE_TRACE_CALLERS_MAX]),
		  void *context);

/**
 * trace_run() - decode the whole trace
 * @trace:	the trace from trace_open(); call this once per trace
 * @ops:	the consumer's callbacks
 * @context:	passed to each callback
 *
 * Return: 0, or -1 after printing an error if reading failed or memory ran out.
 */
int trace_run(struct trace *trace, const struct trace_ops *ops, void *context);

/**
 * trace_span() - find the times of all messages, without decoding records
 * @trace:	the trace from trace_open(), which can then only be closed
 * @span:	the result
 *
 * Return: like trace_run().
 */
int trace_span(struct trace *trace, struct range_span *span);

/**
 * trace_settle() - complete a thread's records in its previous streams, because the thread
 * continues in a new stream
 * @owner:	id of the thread
 * @channel:	streams of this channel without a named thread also belong to the thread
 * @before:	offset in the file; only records before it are completed
 */
void trace_settle(const struct trace *trace, uint32_t owner, unsigned int channel,
		  const struct perfrec_stamp *before);

/**
 * trace_add() - add results of an analysis, or of decode, to the statistics
 * @stats:	number and times of the generated records, and the losses
 */
void trace_add(struct trace *trace, const struct trace_stats *stats);

/** trace_sources() - return the number of sources that have sent words of a channel */
unsigned int trace_sources(const struct trace *trace, unsigned int channel);

/** trace_wrapped() - return whether the trace is a ring that has overwritten its oldest bytes */
bool trace_wrapped(const struct trace *trace);

/** trace_channels() - return the mask of the channels whose records are decoded */
uint32_t trace_channels(const struct trace *trace);

/** trace_time_mask() - return the maximum timestamp of a message */
uint64_t trace_time_mask(const struct trace *trace);

/** trace_stats() - return the current statistics of trace_open() and trace_run() */
const struct trace_stats *trace_stats(const struct trace *trace);

/**
 * trace_release() - free data that only trace_run() needed, such as headers
 *
 * Statistics and settings remain valid.
 */
void trace_release(struct trace *trace);

/** trace_close() - close and free a trace; NULL is allowed */
void trace_close(struct trace *trace);

/**
 * infer_src_bits() - find the width of the SRC field
 * @data:	beginning of a trace
 * @length:	number of bytes at @data; a few records are enough
 * @options:	everything but src_bits
 * @records:	set if records, and not only messages, are valid
 *
 * Tries all widths, and selects the width that makes the most records valid or, if there are no
 * records, the most messages.
 *
 * Return: the width, or -1 if no width makes the bytes valid.
 */
int infer_src_bits(const void *data, size_t length,
		   const struct nexus_options *options, bool *records);

/**
 * infer_ts_scheme() - infer how timestamps that are not absolute are encoded
 * @data:	beginning of a trace
 * @length:	number of bytes at @data
 * @options:	everything but ts_scheme
 *
 * Time never goes back, but differences decoded as XOR appear to go back at every other message.
 */
enum nexus_ts_scheme infer_ts_scheme(const void *data, size_t length,
				     const struct nexus_options *options);

/**
 * infer_is_clear() - return whether a few bytes suffice to infer how to decode the rest
 * @data:	beginning of a trace
 * @length:	number of bytes at @data
 * @options:	known options
 * @src_known:	src_bits is known
 * @scheme_known: ts_scheme is known
 */
bool infer_is_clear(const void *data, size_t length,
		    const struct nexus_options *options, bool src_known,
		    bool scheme_known);

#endif /* SIFIVE_TRACE_TRACE_H */

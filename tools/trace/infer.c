// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Infers the width of the SRC field and the timestamp scheme from the bytes alone. If the width is
 * wrong, bits of the field become part of the store's tag, or vice versa. A record's stores then
 * have different channels, or values that exceed their sizes, so they form neither headers nor
 * records.
 */
#include "trace.h"

/*
 * ENOUGH bytes suffice if they contain records with a known header; FIRST bytes suffice if only one
 * width yields such records.
 */
#define ENOUGH		(32u << 10)
#define FIRST		(2u << 10)

/**
 * struct sense - plausibility of a decoding; the first member that differs is decisive
 * @words:	number of words in headers, and in records whose header is known
 * @bare_words:	number of words in other records, minus dropped words
 * @messages:	number of plausible messages, minus implausible messages and gaps
 */
struct sense {
	uint64_t	words;
	int64_t		bare_words;
	int64_t		messages;
};

static void count_header(void *context, const struct perfrec_header *header)
{
	struct sense *sense = context;

	sense->words += 3 + 3 * header->counters;
}

static void count_record(void *context, const struct perfrec_record *record)
{
	struct sense *sense = context;

	if (record->header && record->header->serial)
		sense->words += record->words;
	else
		sense->bare_words += record->words;
}

static void count_lost(void *context, const struct perfrec_loss *loss)
{
	struct sense *sense = context;

	sense->bare_words -= (int64_t)loss->words;
}

static const struct perfrec_ops count_ops = {
	.header = count_header,
	.record = count_record,
	.lost = count_lost,
};

static void count_messages(struct nexus *nexus, struct perfrec *perfrec,
			   struct sense *sense)
{
	struct nexus_message message;
	struct store store;
	enum nexus_item item;

	while ((item = nexus_next(nexus, &message)) != NEXUS_MORE) {
		if (item == NEXUS_GAP || message.flags & NEXUS_UNKNOWN_TCODE) {
			sense->messages--;
		} else if (message.tcode != NEXUS_DATA_ACQUISITION) {
			sense->messages++;
		} else if (!nexus_store(&message, &store) || !store.bytes) {
			sense->messages--;
		} else {
			sense->messages++;
			perfrec_push(perfrec, &store);
		}
	}
}

static bool better(const struct sense *a, const struct sense *b)
{
	if (a->words != b->words)
		return a->words > b->words;
	if (a->bare_words != b->bare_words)
		return a->bare_words > b->bare_words;
	return a->messages > b->messages;
}

/*
 * Return the most plausible width, or -1 if none is plausible. Set @best to its plausibility, and
 * @fitting to the number of widths that yield records with a known header.
 */
static int try_widths(const void *data, size_t length,
		      const struct nexus_options *options, struct sense *best,
		      unsigned int *fitting)
{
	struct nexus_options tried = *options;
	int found = -1;

	*best = (struct sense){ 0, 0, 0 };
	*fitting = 0;
	for (tried.src_bits = 0; tried.src_bits <= NEXUS_SRC_BITS_MAX;
	     tried.src_bits++) {
		struct sense sense = { 0, 0, 0 };
		struct perfrec *perfrec = perfrec_new(&count_ops, &sense);
		struct nexus nexus;

		if (!perfrec || nexus_init(&nexus, &tried)) {
			perfrec_free(perfrec);
			break;
		}
		nexus_feed(&nexus, data, length);
		count_messages(&nexus, perfrec, &sense);
		perfrec_flush(perfrec);
		perfrec_free(perfrec);
		*fitting += sense.words > 0;
		if (!sense.words && sense.messages <= 0)
			continue;
		if (found < 0 || better(&sense, best)) {
			*best = sense;
			found = (int)tried.src_bits;
		}
	}
	return found;
}

int infer_src_bits(const void *data, size_t length,
		   const struct nexus_options *options, bool *records)
{
	unsigned int fitting;
	struct sense best;
	int found;

	*records = true;
	if (length > FIRST) {
		found = try_widths(data, FIRST, options, &best, &fitting);
		if (fitting == 1)
			return found;
	}
	if (length > ENOUGH) {
		found = try_widths(data, ENOUGH, options, &best, &fitting);
		if (fitting)
			return found;
	}
	found = try_widths(data, length, options, &best, &fitting);
	*records = best.words || best.bare_words > 0;
	return found;
}

/*
 * Timestamps are differences if decoding them as XOR makes time go back in at least BACK_LEAST
 * steps, and in at least one of every BACK_SHARE steps. STAMPS bytes suffice if they contain
 * STEPS_LEAST steps.
 */
#define BACK_LEAST	4
#define BACK_SHARE	8
#define STEPS_LEAST	64
#define STAMPS		(4u << 10)

/* Minimum number of messages from which the scheme can be inferred. */
#define UNCLEAR		16

struct steps {
	uint64_t	messages;
	uint64_t	all;
	uint64_t	back;
};

static void count_steps(const void *data, size_t length,
			const struct nexus_options *options, struct steps *steps)
{
	struct nexus_options tried = *options;
	uint64_t last[NEXUS_SOURCES] = { 0 };
	struct nexus_message message;
	struct nexus nexus;
	enum nexus_item item;
	unsigned int src;

	*steps = (struct steps){ 0 };
	tried.ts_scheme = NEXUS_TS_XOR;
	if (nexus_init(&nexus, &tried))
		return;
	for (src = 0; src < NEXUS_SOURCES; src++)
		nexus_set_time(&nexus, src, 0, TIME_INFERRED);
	nexus_feed(&nexus, data, length);
	while ((item = nexus_next(&nexus, &message)) != NEXUS_MORE) {
		steps->messages += item != NEXUS_GAP;
		if (item == NEXUS_GAP || !(message.flags & NEXUS_TIMESTAMP) ||
		    message.flags & NEXUS_SYNC)
			continue;
		steps->all += message.time != last[message.src];
		last[message.src] = message.time;
		steps->back += !!(message.flags & NEXUS_CONTRARY);
	}
}

enum nexus_ts_scheme infer_ts_scheme(const void *data, size_t length,
				     const struct nexus_options *options)
{
	struct steps steps;

	count_steps(data, length < STAMPS ? length : STAMPS, options, &steps);
	if (steps.all < STEPS_LEAST && length > STAMPS)
		count_steps(data, length, options, &steps);
	return steps.back >= BACK_LEAST && steps.back * BACK_SHARE >= steps.all ?
	       NEXUS_TS_DELTA : NEXUS_TS_XOR;
}

bool infer_is_clear(const void *data, size_t length,
		    const struct nexus_options *options, bool src_known,
		    bool scheme_known)
{
	struct nexus_options tried = *options;
	unsigned int fitting;
	struct steps steps;
	struct sense sense;

	if (!src_known) {
		tried.src_bits = (unsigned int)try_widths(data, length, options,
							  &sense, &fitting);
		if (fitting != 1)
			return false;
	}
	if (scheme_known)
		return true;
	count_steps(data, length, &tried, &steps);
	return steps.messages >= UNCLEAR;
}

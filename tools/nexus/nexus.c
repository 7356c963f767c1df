// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Decodes the bytes from a SiFive trace encoder into Nexus messages: see nexus.h. */
#include <endian.h>
#include <errno.h>
#include <string.h>

/* The tests define NEXUS_PORTABLE in order to test the portable code on processors with SSE2. */
#if defined(__SSE2__) && !defined(NEXUS_PORTABLE)
#define NEXUS_SSE2
#include <emmintrin.h>
#endif

#include "nexus.h"

#define SLICE_BITS	6
#define TCODE_BITS	6
/* One bit per byte of a 64-bit word: the low bit of MSEO. */
#define MSEO_LOW	0x0101010101010101ull
#define IDLE		0xff
/* Number of bytes that the parser may load, regardless of where the message ends. */
#define WINDOW		(NEXUS_MESSAGE_MAX + sizeof(uint64_t))
#define NO_OPTION	0xff
/* Number of variable fields in the longest layout, including the timestamp. */
#define VALUES_MAX	4

/* Values that parse() returns instead of the length of a message. */
#define PARSE_MORE	0
#define PARSE_GAP(gap)	(-1 - (int)(gap))

struct layout_source {
	uint8_t	tcode;
	uint8_t	bits[2];
	uint8_t	fields;
	uint8_t	sync;
	uint8_t	option;
	uint8_t	option_value;
	uint8_t	option_max;
};

#define PLAIN		0, NO_OPTION, 0xff
#define ONE_MORE_IF(fixed, value, max) fixed, value, max

static const struct layout_source layouts[] = {
	{ NEXUS_OWNERSHIP,		{ 0, 0 }, 1, 0, PLAIN },
	{ NEXUS_DIRECT_BRANCH,		{ 0, 0 }, 1, 0, PLAIN },
	{ NEXUS_INDIRECT_BRANCH,	{ 2, 0 }, 2, 0, PLAIN },
	{ NEXUS_DATA_ACQUISITION,	{ 0, 0 }, 2, 0, PLAIN },
	{ NEXUS_ERROR,			{ 4, 0 }, 1, 0, PLAIN },
	{ NEXUS_PROG_TRACE_SYNC,	{ 4, 0 }, 2, 1, PLAIN },
	{ NEXUS_DIRECT_BRANCH_SYNC,	{ 4, 0 }, 2, 1, PLAIN },
	{ NEXUS_INDIRECT_BRANCH_SYNC,	{ 4, 2 }, 2, 1, PLAIN },
	{ NEXUS_RESOURCE_FULL,		{ 4, 0 }, 1, 0, ONE_MORE_IF(0, 2, 15) },
	{ NEXUS_INDIRECT_HISTORY,	{ 2, 0 }, 3, 0, PLAIN },
	{ NEXUS_INDIRECT_HISTORY_SYNC,	{ 4, 2 }, 3, 1, PLAIN },
	{ NEXUS_REPEAT_BRANCH,		{ 0, 0 }, 1, 0, PLAIN },
	{ NEXUS_CORRELATION,		{ 4, 2 }, 1, 0, ONE_MORE_IF(1, 1, 1) },
	{ NEXUS_ICT,			{ 4, 2 }, 1, 0, ONE_MORE_IF(1, 1, 1) },
	{ NEXUS_ICT_SYNC,		{ 4, 2 }, 1, 1, ONE_MORE_IF(1, 1, 1) },
};

int nexus_init(struct nexus *nexus, const struct nexus_options *options)
{
	unsigned int width = options->ts_width;
	size_t i;

	if (!width)
		width = NEXUS_TS_WIDTH_DEFAULT;
	if (options->src_bits > NEXUS_SRC_BITS_MAX || width > 64)
		return -EINVAL;
	if (options->ts_scheme != NEXUS_TS_XOR &&
	    options->ts_scheme != NEXUS_TS_DELTA)
		return -EINVAL;

	memset(nexus, 0, sizeof(*nexus));
	nexus->ts_mask = ~0ull >> (64 - width);
	nexus->ts_scheme = options->ts_scheme;
	nexus->src_mask = (1u << options->src_bits) - 1;
	nexus->offset = options->offset;
	nexus->in_gap = options->ring;
	nexus->gap = NEXUS_GAP_ALIGN;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct layout_source *from = &layouts[i];
		struct nexus_layout *to = &nexus->layout[from->tcode];
		unsigned int bit = TCODE_BITS + options->src_bits;

		to->known = 1;
		to->sync = from->sync;
		to->fields = from->fields;
		to->option = from->option;
		to->option_value = from->option_value;
		to->option_max = from->option_max;
		to->shift[0] = bit;
		to->mask[0] = (1u << from->bits[0]) - 1;
		bit += from->bits[0];
		to->shift[1] = bit;
		to->mask[1] = (1u << from->bits[1]) - 1;
		bit += from->bits[1];
		to->fixed_bits = bit;
		to->first_slice = bit / SLICE_BITS;
	}
	return 0;
}

void nexus_set_time(struct nexus *nexus, unsigned int src, uint64_t time,
		    enum store_time quality)
{
	nexus->now[src] = time;
	nexus->quality[src] = quality;
}

void nexus_mix_stamps(struct nexus *nexus)
{
	nexus->stamps = NEXUS_STAMPS_MIXED;
}

void nexus_skip(struct nexus *nexus, size_t bytes)
{
	nexus->in += bytes;
	nexus->offset += bytes;
}

void nexus_feed(struct nexus *nexus, const void *data, size_t length)
{
	nexus->in = data;
	nexus->in_end = nexus->in + length;
}

void nexus_end(struct nexus *nexus)
{
	nexus->in = NULL;
	nexus->in_end = NULL;
	nexus->end = true;
}

const char *nexus_gap_name(enum nexus_gap gap)
{
	static const char * const names[] = {
		[NEXUS_GAP_ALIGN] = "rest of a message that the buffer overwrote",
		[NEXUS_GAP_RESERVED] = "reserved MSEO",
		[NEXUS_GAP_TOO_LONG] = "no end of message",
		[NEXUS_GAP_MALFORMED] = "fields do not match the message",
		[NEXUS_GAP_TRUNCATED] = "the trace ends within a message",
		[NEXUS_GAP_CONTRADICTED] =
			"a store contradicts its record, so messages may be missing",
		[NEXUS_GAP_TIMES] = "timestamps contradict each other, so messages may be missing",
	};

	return names[gap];
}

static inline uint64_t load(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

/* Return the MDO bits of eight slices, packed into 48 bits. */
static inline uint64_t pack(uint64_t word)
{
	word = (word >> 2) & 0x3f3f3f3f3f3f3f3full;
	word = (word & 0x003f003f003f003full) |
	       (word & 0x3f003f003f003f00ull) >> 2;
	word = (word & 0x00000fff00000fffull) |
	       (word & 0x0fff00000fff0000ull) >> 4;
	return (word & 0x0000000000ffffffull) |
	       (word & 0x00ffffff00000000ull) >> 8;
}

static inline unsigned int first_byte(uint64_t flags)
{
	return (unsigned int)__builtin_ctzll(flags) / 8;
}

/*
 * Read a variable field longer than one 64-bit load, without the lowest @skip bits of its first
 * slice. Return its number of slices, or 0 if its value has more than 64 bits.
 */
static unsigned int long_field(const uint8_t *p, unsigned int skip,
			       uint64_t *value)
{
	unsigned int bit = 0, slices = 0;

	*value = 0;
	for (;;) {
		uint64_t part = *p >> 2;
		unsigned int bits = SLICE_BITS;

		if (!slices) {
			part >>= skip;
			bits -= skip;
		}
		if (part && (bit >= 64 || part << bit >> bit != part))
			return 0;
		if (part)
			*value |= part << bit;
		bit += bits;
		slices++;
		if (*p++ & 1)
			return slices;
	}
}

/*
 * In the XOR scheme, a change of the top bit, @half, from 1 to 0 is a wraparound. Counting
 * wraparounds extends times to 64 bits.
 */
static inline uint64_t wrap(uint64_t now, uint64_t next, uint64_t changed,
			    uint64_t half)
{
	return (-(uint64_t)(next < now) & changed & half) << 1;
}

static void infer(struct nexus *nexus, unsigned int src)
{
	if (nexus->quality[src] == TIME_EXACT)
		nexus->quality[src] = TIME_INFERRED;
}

static void contradict(struct nexus *nexus, struct nexus_message *message,
		       uint64_t changed)
{
	message->flags |= NEXUS_CONTRARY;
	message->contrary = nexus_highest_bit(changed);
	nexus->quality[message->src] = TIME_INFERRED;
}

static void set_absolute(struct nexus *nexus, struct nexus_message *message,
			 uint64_t timestamp)
{
	uint64_t mask = nexus->ts_mask, *now = &nexus->now[message->src];
	uint64_t old = *now & mask, changed = old ^ timestamp;
	uint8_t *quality = &nexus->quality[message->src];

	message->before = *now;
	message->before_known = *quality;
	if (!*quality) {
		*now = timestamp;
		*quality = TIME_EXACT;
		return;
	}
	*quality = TIME_EXACT;
	*now = (*now & ~mask) | timestamp;
	if (timestamp >= old)
		return;
	/*
	 * If the top bit has changed, the timestamp has wrapped. A 64-bit timestamp does not wrap.
	 */
	if (changed & (mask ^ mask >> 1))
		*now += mask + 1;
	else
		contradict(nexus, message, changed);
}

/* Advance the time of the message's source. */
static inline void tick(struct nexus *nexus, struct nexus_message *message,
			uint64_t timestamp)
{
	uint64_t mask = nexus->ts_mask, half = mask ^ mask >> 1, next;
	uint64_t *now = &nexus->now[message->src];

	timestamp &= mask;
	if (message->flags & NEXUS_SYNC) {
		set_absolute(nexus, message, timestamp);
	} else if (nexus->ts_scheme == NEXUS_TS_DELTA) {
		*now += timestamp;
	} else {
		next = *now ^ timestamp;
		if (next < *now && !(timestamp & half) &&
		    nexus->quality[message->src]) {
			contradict(nexus, message, timestamp);
			next ^= message->contrary;
		} else {
			next += wrap(*now, next, timestamp, half);
		}
		*now = next;
	}
}

/* Record whether stores have timestamps. */
static void note_stamp(struct nexus *nexus, struct nexus_message *message)
{
	bool stamp = message->flags & NEXUS_TIMESTAMP;

	if (stamp && nexus->stamps == NEXUS_STAMPS_NONE)
		nexus->stamps = NEXUS_STAMPS_ALL;
	if (!stamp && nexus->stamps == NEXUS_STAMPS_ALL)
		message->flags |= NEXUS_STAMP_MISSING;
}

static const uint8_t time_flags[] = {
	[TIME_UNKNOWN] = 0,
	[TIME_INFERRED] = NEXUS_TIME_KNOWN | NEXUS_TIME_INFERRED,
	[TIME_EXACT] = NEXUS_TIME_KNOWN,
};

/*
 * Decode the message at @p. WINDOW bytes are readable, the first @available of which are valid.
 * Return its length, PARSE_MORE or PARSE_GAP().
 */
static inline int parse(struct nexus *nexus, const uint8_t *p,
			size_t available, struct nexus_message *message)
{
	const struct nexus_layout *layout;
	uint64_t value[VALUES_MAX];
	unsigned int length, at, skip, count, fields, i;
	uint64_t word, packed, stop, second;

	/*
	 * Find MSEO 11 or 10. Message lengths are unpredictable, so check the first two words
	 * without a branch: they suffice for most messages.
	 */
	stop = load(p) >> 1 & MSEO_LOW;
	second = load(p + 8) >> 1 & MSEO_LOW;
	length = stop ? 0 : 8;
	stop = stop ? stop : second;
	while (!stop && length < NEXUS_MESSAGE_MAX - 8) {
		length += 8;
		stop = load(p + length) >> 1 & MSEO_LOW;
	}
	length += stop ? first_byte(stop) : 8;
	if (length >= NEXUS_MESSAGE_MAX || length >= available)
		return available >= NEXUS_MESSAGE_MAX ?
		       PARSE_GAP(NEXUS_GAP_TOO_LONG) : PARSE_MORE;
	if (!(p[length] & 1))
		return PARSE_GAP(NEXUS_GAP_RESERVED);
	length++;

	word = load(p);
	packed = pack(word);
	message->length = length;
	message->tcode = packed & 0x3f;
	message->src = packed >> TCODE_BITS & nexus->src_mask;
	layout = &nexus->layout[message->tcode];
	if (!layout->known) {
		/* SRC must be complete, in slices that do not end a field. */
		i = (TCODE_BITS + (unsigned int)__builtin_popcount(nexus->src_mask)) /
		    SLICE_BITS;
		if (word & MSEO_LOW & ((1ull << (8 * i)) - 1))
			return PARSE_GAP(NEXUS_GAP_MALFORMED);
		message->time = 0;
		message->fields = 0;
		message->fixed[0] = 0;
		message->fixed[1] = 0;
		message->flags = NEXUS_UNKNOWN_TCODE;
		infer(nexus, message->src);
		return (int)length;
	}
	at = layout->first_slice;
	stop = word & MSEO_LOW;
	if (stop & ((1ull << (8 * at)) - 1))
		return PARSE_GAP(NEXUS_GAP_MALFORMED);
	message->fixed[0] = packed >> layout->shift[0] & layout->mask[0];
	message->fixed[1] = packed >> layout->shift[1] & layout->mask[1];

	/* The first field usually ends in the word that is already packed. */
	count = 0;
	skip = layout->fixed_bits - SLICE_BITS * at;
	if (stop) {
		at = first_byte(stop) + 1;
		value[count++] = (packed & ((1ull << (SLICE_BITS * at)) - 1)) >>
				 layout->fixed_bits;
		skip = 0;
	}
	for (; at < length; count++) {
		if (count == VALUES_MAX)
			return PARSE_GAP(NEXUS_GAP_MALFORMED);
		word = load(p + at);
		stop = word & MSEO_LOW;
		if (stop) {
			i = first_byte(stop) + 1;
			packed = pack(word) & ((1ull << (SLICE_BITS * i)) - 1);
			value[count] = packed >> skip;
		} else {
			i = long_field(p + at, skip, &value[count]);
			if (!i)
				return PARSE_GAP(NEXUS_GAP_MALFORMED);
		}
		at += i;
		skip = 0;
	}

	i = message->fixed[layout->option];
	if (i > layout->option_max)
		return PARSE_GAP(NEXUS_GAP_MALFORMED);
	fields = layout->fields + (i == layout->option_value);
	if (count != fields && count != fields + 1)
		return PARSE_GAP(NEXUS_GAP_MALFORMED);

	message->field[0] = value[0];
	if (fields > 1)
		message->field[1] = value[1];
	if (fields > 2)
		message->field[2] = value[2];
	message->fields = fields;
	message->flags = layout->sync ? NEXUS_SYNC : 0;
	if (message->tcode == NEXUS_ERROR)
		infer(nexus, message->src);
	if (count > fields) {
		message->flags |= NEXUS_TIMESTAMP;
		tick(nexus, message, value[fields]);
	}
	if (message->tcode == NEXUS_DATA_ACQUISITION)
		note_stamp(nexus, message);
	message->time = nexus->now[message->src];
	/* If stores have no timestamps, their times are unknown. */
	if (message->tcode != NEXUS_DATA_ACQUISITION ||
	    nexus->stamps != NEXUS_STAMPS_NONE)
		message->flags |= time_flags[nexus->quality[message->src]];
	return (int)length;
}

/* Skip to the byte after the next end of a message; return whether an end was found. */
static bool skip_to_end(struct nexus *nexus)
{
	const uint8_t *p = nexus->in;
	bool found = false;

	while (nexus->in_end - p >= 8) {
		uint64_t word = load(p);
		uint64_t stop = word >> 1 & word & MSEO_LOW;

		if (stop) {
			p += first_byte(stop) + 1;
			found = true;
			break;
		}
		p += 8;
	}
	while (!found && p < nexus->in_end)
		found = (*p++ & 3) == 3;

	nexus->gap_length += (uint64_t)(p - nexus->in);
	nexus->offset += (uint64_t)(p - nexus->in);
	nexus->in = p;
	return found;
}

static enum nexus_item give_gap(struct nexus *nexus,
				struct nexus_message *message)
{
	unsigned int src;

	memset(message, 0, sizeof(*message));
	message->offset = nexus->offset - nexus->gap_length;
	message->length = nexus->gap_length;
	message->gap = nexus->gap;
	nexus->in_gap = false;
	/* The lost bytes may be messages from any source. */
	for (src = 0; src <= nexus->src_mask; src++)
		infer(nexus, src);
	return NEXUS_GAP;
}

static void skip_idle(struct nexus *nexus)
{
	const uint8_t *p = nexus->in;

	while (nexus->in_end - p >= 8 && load(p) == ~0ull)
		p += 8;
	while (p < nexus->in_end && *p == IDLE)
		p++;
	nexus->offset += (uint64_t)(p - nexus->in);
	nexus->in = p;
}

/*
 * Parse a message that begins with carried bytes, or that is near the end of the input, in a
 * separate window.
 */
static int parse_windowed(struct nexus *nexus, struct nexus_message *message)
{
	uint8_t window[WINDOW] = { 0 };
	size_t room = NEXUS_MESSAGE_MAX - nexus->carried;
	size_t fresh = (size_t)(nexus->in_end - nexus->in);
	int length;

	if (fresh > room)
		fresh = room;
	memcpy(window, nexus->carry, nexus->carried);
	memcpy(window + nexus->carried, nexus->in, fresh);
	length = parse(nexus, window, nexus->carried + fresh, message);
	if (length == PARSE_MORE) {
		memcpy(nexus->carry, window, nexus->carried + fresh);
		nexus->carried += fresh;
		nexus->in += fresh;
		nexus->offset += fresh;
	}
	return length;
}

enum nexus_item nexus_next(struct nexus *nexus, struct nexus_message *message)
{
	int length;

	for (;;) {
		if (nexus->in_gap) {
			if (nexus->in < nexus->in_end && skip_to_end(nexus))
				return give_gap(nexus, message);
			if (nexus->end && nexus->gap_length)
				return give_gap(nexus, message);
			return NEXUS_MORE;
		}
		if (!nexus->carried) {
			if (nexus->in < nexus->in_end && *nexus->in == IDLE)
				skip_idle(nexus);
		} else if (nexus->end) {
			nexus->gap = NEXUS_GAP_TRUNCATED;
			nexus->gap_length = nexus->carried;
			nexus->carried = 0;
			return give_gap(nexus, message);
		}
		if (nexus->in == nexus->in_end)
			return NEXUS_MORE;

		if (!nexus->carried &&
		    (size_t)(nexus->in_end - nexus->in) >= WINDOW)
			length = parse(nexus, nexus->in, NEXUS_MESSAGE_MAX,
				       message);
		else
			length = parse_windowed(nexus, message);

		if (length > 0) {
			message->offset = nexus->offset - nexus->carried;
			length -= nexus->carried;
			nexus->carried = 0;
			nexus->in += length;
			nexus->offset += (uint64_t)length;
			return NEXUS_MESSAGE;
		}
		if (length == PARSE_MORE)
			return NEXUS_MORE;

		/* No message ends in the carried bytes: such a message would have been parsed. */
		nexus->gap = (enum nexus_gap)(-1 - length);
		nexus->gap_length = nexus->carried;
		nexus->carried = 0;
		nexus->in_gap = true;
	}
}

/* ---- stores ------------------------------------------------------------ */

/* Size of a store in bytes, by its offset in the register. */
static const uint8_t store_bytes[4] = { 4, 0, 2, 1 };
static const uint32_t store_max[4] = { 0xffffffff, 0, 0xffff, 0xff };

bool nexus_store(const struct nexus_message *message, struct store *store)
{
	unsigned int offset = message->field[0] & 3;

	if (message->tcode != NEXUS_DATA_ACQUISITION ||
	    message->field[0] >= 4 * STORE_CHANNELS)
		return false;
	store->offset = message->offset;
	store->time = message->time;
	store->value = (uint32_t)message->field[1];
	store->src = message->src;
	store->channel = (uint8_t)(message->field[0] >> 2);
	store->bytes = message->field[1] > store_max[offset] ? 0 :
							 store_bytes[offset];
	store->time_known = message->flags & NEXUS_TIME_INFERRED ? TIME_INFERRED :
			    message->flags & NEXUS_TIME_KNOWN ? TIME_EXACT :
								TIME_UNKNOWN;
	return true;
}

/*
 * Sixteen slices. Bit n of @ends is the low bit of slice n's MSEO; bit n of @stops is the high bit.
 * @low and @high are the packed MDO bits of eight slices each.
 */
struct slices {
	unsigned int	ends;
	unsigned int	stops;
	uint64_t	low;
	uint64_t	high;
};

#ifdef NEXUS_SSE2
/* Like pack(), but for two words: combine slices into pairs, then into groups of four and eight. */
static inline __m128i pack_both(__m128i words)
{
	const __m128i four = _mm_set1_epi64x(0xffffff);
	__m128i even = _mm_and_si128(_mm_srli_epi16(words, 2),
				     _mm_set1_epi16(0x003f));
	__m128i odd = _mm_and_si128(_mm_srli_epi16(words, 4),
				    _mm_set1_epi16(0x0fc0));

	words = _mm_madd_epi16(_mm_or_si128(even, odd),
			       _mm_set1_epi32(0x10000000 | 1));
	return _mm_or_si128(_mm_and_si128(words, four),
			    _mm_andnot_si128(four, _mm_srli_epi64(words, 8)));
}

static inline struct slices read_slices(const uint8_t *p)
{
	__m128i words = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i packed = pack_both(words);
	__m128i high = _mm_unpackhi_epi64(packed, packed);

	return (struct slices){
		.ends = (unsigned int)_mm_movemask_epi8(_mm_slli_epi16(words, 7)),
		.stops = (unsigned int)_mm_movemask_epi8(_mm_slli_epi16(words, 6)),
		.low = (uint64_t)_mm_cvtsi128_si64(packed),
		.high = (uint64_t)_mm_cvtsi128_si64(high),
	};
}
#else
/* Gather the low bit of byte n into bit n. No other bits of @flags are set. */
static inline unsigned int byte_mask(uint64_t flags)
{
	return (unsigned int)(flags * 0x0102040810204080ull >> 56);
}

static inline struct slices read_slices(const uint8_t *p)
{
	uint64_t first = load(p), second = load(p + 8);

	return (struct slices){
		.ends = byte_mask(first & MSEO_LOW) |
			byte_mask(second & MSEO_LOW) << 8,
		.stops = byte_mask(first >> 1 & MSEO_LOW) |
			 byte_mask(second >> 1 & MSEO_LOW) << 8,
		.low = pack(first),
		.high = pack(second),
	};
}
#endif

/* Mask of the MDO bits of n slices, by n. */
static const uint64_t slice_mask[] = {
	0, 0x3f, 0xfff, 0x3ffff, 0xffffff, 0x3fffffff, 0xfffffffff,
	0x3ffffffffff, 0xffffffffffff, 0x3fffffffffffff, 0xfffffffffffffff,
};

/*
 * Nearly all messages of a trace are short stores of unpredictable length, so this function finds
 * all fields without data-dependent branches. parse() handles all other messages.
 */
static inline __attribute__((always_inline)) size_t
decode_stores(struct nexus *nexus, struct store *store, size_t count, bool delta)
{
	const struct nexus_layout *layout =
		&nexus->layout[NEXUS_DATA_ACQUISITION];
	const unsigned int first_slice = layout->first_slice;
	const unsigned int fixed_bits = layout->fixed_bits;
	const uint64_t ts_mask = nexus->ts_mask, half = ts_mask ^ ts_mask >> 1;
	const bool strict = nexus->stamps != NEXUS_STAMPS_MIXED;
	const bool none = nexus->stamps == NEXUS_STAMPS_NONE;
	const uint32_t src_mask = nexus->src_mask;
	const uint8_t *p = nexus->in, *last_window;
	/* The input offset of a byte in the chunk, minus the byte's address. */
	const uint64_t offset = nexus->offset - (uintptr_t)p;
	size_t n;

	if (nexus->carried || nexus->in_gap ||
	    (size_t)(nexus->in_end - p) < WINDOW)
		return 0;
	last_window = nexus->in_end - WINDOW;
	for (n = 0; n < count && p <= last_window; n++) {
		struct slices slices = read_slices(p);
		/* Slices 0 to 9, and 6 to 15. */
		uint64_t begin = slices.low | slices.high << 48;
		uint64_t rest = slices.low >> 36 | slices.high << 12;
		unsigned int last, tag, value, second, third, ends;
		uint64_t stored, timestamp, later, id, now, next;
		unsigned int src;

		if ((begin & 0x3f) != NEXUS_DATA_ACQUISITION || !slices.stops)
			break;
		last = (unsigned int)__builtin_ctz(slices.stops);
		ends = slices.ends & ((2u << last) - 1);
		/* Last slices of tag, value and timestamp, if any. */
		second = ends & (ends - 1);
		third = second & (second - 1);
		if (!(ends >> last) || !second || third & (third - 1))
			break;
		/*
		 * A store with a timestamp may be damaged if other stores have no timestamp, and
		 * vice versa.
		 */
		if ((!third != none) & strict)
			break;
		tag = (unsigned int)__builtin_ctz(ends);
		value = (unsigned int)__builtin_ctz(second);
		/*
		 * Use a single branch: most messages pass all of these conditions, but
		 * some comparisons alone are unpredictable.
		 */
		if ((tag < first_slice) | (value > 9) | ((value < 5) & (last > 9)))
			break;
		id = (begin & slice_mask[tag + 1]) >> fixed_bits;
		if (id >= 4 * STORE_CHANNELS)
			break;
		stored = begin >> (SLICE_BITS * (tag + 1)) &
			 slice_mask[value - tag];
		/* Without a branch, take the timestamp from the word that contains all of it. */
		later = -(uint64_t)(value > 4);
		timestamp = (begin ^ ((begin ^ rest) & later)) >>
			    (SLICE_BITS * (value + 1) - (36 & later));
		/* A missing timestamp leaves the time unchanged, like a timestamp of 0. */
		timestamp &= slice_mask[last - value] & ts_mask;

		src = begin >> TCODE_BITS & src_mask;
		now = nexus->now[src];
		if (delta) {
			next = now + timestamp;
		} else {
			next = now ^ timestamp;
			if (__builtin_expect((next < now) & !(timestamp & half) &
					     (nexus->quality[src] > 0), 0))
				break;
			next += wrap(now, next, timestamp, half);
		}
		nexus->now[src] = next;
		store[n].src = (uint8_t)src;
		store[n].time_known = none ? TIME_UNKNOWN : nexus->quality[src];
		store[n].offset = offset + (uintptr_t)p;
		store[n].time = next;
		store[n].value = (uint32_t)stored;
		store[n].bytes = stored > store_max[id & 3] ? 0 :
							 store_bytes[id & 3];
		store[n].channel = (uint8_t)(id >> 2);
		p += last + 1;
	}
	nexus->offset += (uint64_t)(p - nexus->in);
	nexus->in = p;
	return n;
}

size_t nexus_stores(struct nexus *nexus, struct store *store, size_t count)
{
	if (nexus->ts_scheme == NEXUS_TS_DELTA)
		return decode_stores(nexus, store, count, true);
	return decode_stores(nexus, store, count, false);
}

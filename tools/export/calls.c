// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Packs the calls for a page: see calls.h. calls.js unpacks them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "../command.h"
#include "calls.h"
#include "counters.h"

/*
 * The maximum length of the calls in a class is about four times that of the previous class. The
 * last class contains points.
 */
#define CLASSES		34
#define POINTS		(CLASSES - 1)
#define CHUNK_CALLS	2048
/* If a view has at most this many chunks of a class, calls.js draws their calls individually. */
#define FEW		4
#define COUNTERS	(COUNTERS_MAX / 2)
/* Maximum number of threads that a chunk's index entry lists. */
#define LANES		8
/*
 * Maximum bytes of an encoded call: three 64-bit numbers, four 32-bit numbers and one 8-bit number.
 */
#define CALL_BYTES	(3 * 10 + 4 * 5 + 2)
/* A chunk has sums if it contains at least this many calls per sum. */
#define CALLS_PER_SUM	4
#define SUMS_MAX	(CHUNK_CALLS / CALLS_PER_SUM)
/* Number of entries in the hash table of sums, a power of two. */
#define SUM_SLOTS	(4 * SUMS_MAX)
/*
 * Maximum bytes of an encoded sum: three 64-bit numbers, three 32-bit numbers and one 8-bit number.
 */
#define SUM_BYTES	(3 * 10 + 3 * 5 + 1)
/* The sums of several chunks are compressed together, as a block. */
#define BLOCK_BYTES	(64u << 10)

/* The calls of a class that are not in a chunk yet, and their counts. */
struct pending {
	struct call	*call;
	uint64_t	*count;
	uint16_t	*order;
	unsigned int	calls;
	unsigned int	counters;	/* number of counters of @count */
	uint64_t	chunks;		/* number of chunks so far */
};

/* One thread's part of a chunk. The page draws it as an area if the calls are too short to draw. */
struct lane {
	uint32_t	thread;
	uint32_t	least;
	uint32_t	deepest;
	uint32_t	calls;
};

/* Bits of struct sum's @marks: which of its sums are inferred. */
#define MARK_TOTAL	1
#define MARK_SELF	2

/* Sums over a function's calls in a chunk, so that the page need not read the calls. */
struct sum {
	uint32_t	function;
	uint32_t	calls;
	uint32_t	points;
	uint8_t		marks;
	uint64_t	time;		/* ticks in the function's calls */
	uint64_t	outermost;	/* ticks in its calls, excluding nested calls to it */
	uint64_t	callees;	/* ticks in calls that the function made */
};

/* A chunk's entry in the index. */
struct chunk {
	uint64_t	first;
	uint64_t	last;
	uint64_t	at;		/* position in the temporary file */
	uint32_t	class;
	uint32_t	calls;
	uint32_t	bytes;		/* size of the calls in bytes */
	uint32_t	count_bytes;	/* size of the counts, which follow */
	uint32_t	counters;
	uint32_t	sums;		/* number of sums, at @sums_at in block number @block */
	uint32_t	block;
	uint32_t	sums_at;
	uint32_t	lanes;
	struct lane	lane[LANES];
};

struct calls {
	struct pending	pending[CLASSES];
	FILE		*chunks;
	FILE		*index;
	FILE		*blocks;	/* blocks of sums, each preceded by its size */
	uint64_t	bytes;
	uint64_t	entries;
	uint64_t	left_out;
	/* The columns of one chunk, uncompressed and compressed. */
	unsigned char	*column;
	unsigned char	*packed;
	size_t		room;		/* bytes at @packed */
	z_stream	stream;
	/* The sums of the current chunk, their hash table @slot, and the uncompressed block. */
	struct sum	sum[SUMS_MAX];
	uint16_t	slot[SUM_SLOTS];
	unsigned int	sums;
	unsigned char	block[BLOCK_BYTES];
	size_t		block_used;
	uint32_t	full_blocks;
	int		error;
};

/* With many counters, limit a chunk to fewer calls, because their counts need more memory. */
static unsigned int chunk_calls(unsigned int counters)
{
	return counters > COUNTERS ? CHUNK_CALLS / 2 : CHUNK_CALLS;
}

/* Maximum size of a chunk's uncompressed columns. */
static size_t column_bytes(void)
{
	return (size_t)CHUNK_CALLS * (COUNTERS * 10 > CALL_BYTES ? COUNTERS * 10 : CALL_BYTES);
}

struct calls *calls_new(void)
{
	struct calls *calls = calloc(1, sizeof(*calls));

	if (!calls || deflateInit(&calls->stream, Z_BEST_SPEED) != Z_OK) {
		report("out of memory");
		free(calls);
		return NULL;
	}
	calls->room = deflateBound(&calls->stream, column_bytes());
	calls->column = malloc(column_bytes());
	calls->packed = malloc(calls->room);
	if (!calls->column || !calls->packed) {
		report("out of memory");
		calls_free(calls);
		return NULL;
	}
	calls->chunks = tmpfile();
	calls->index = tmpfile();
	calls->blocks = tmpfile();
	if (!calls->chunks || !calls->index || !calls->blocks) {
		report("cannot create a temporary file: %s", strerror(errno));
		calls_free(calls);
		return NULL;
	}
	return calls;
}

void calls_free(struct calls *calls)
{
	unsigned int c;

	if (!calls)
		return;
	for (c = 0; c < CLASSES; c++) {
		free(calls->pending[c].call);
		free(calls->pending[c].count);
		free(calls->pending[c].order);
	}
	if (calls->chunks)
		fclose(calls->chunks);
	if (calls->index)
		fclose(calls->index);
	if (calls->blocks)
		fclose(calls->blocks);
	deflateEnd(&calls->stream);
	free(calls->column);
	free(calls->packed);
	free(calls);
}

static unsigned int class_of(const struct call *call)
{
	unsigned int bits;

	if (call->point)
		return POINTS;
	bits = call->length ? 64 - (unsigned int)__builtin_clzll(call->length) : 0;
	return (bits + 1) / 2;
}

/* Write a number in LEB128. */
static unsigned char *put_varint(unsigned char *to, uint64_t number)
{
	while (number >= 0x80) {
		*to++ = (unsigned char)(number | 0x80);
		number >>= 7;
	}
	*to++ = (unsigned char)number;
	return to;
}

static int compare(const void *a, const void *b, void *context)
{
	const struct call *call = context;
	uint16_t first = *(const uint16_t *)a, second = *(const uint16_t *)b;

	if (call[first].begin != call[second].begin)
		return call[first].begin < call[second].begin ? -1 : 1;
	return first < second ? -1 : 1;
}

/* Sort calls by their start. Most calls that are not nested are already in this order. */
static void sort(struct pending *pending)
{
	bool sorted = true;
	unsigned int i;

	for (i = 0; i < pending->calls; i++) {
		pending->order[i] = (uint16_t)i;
		sorted &= !i || pending->call[i - 1].begin <= pending->call[i].begin;
	}
	if (!sorted)
		qsort_r(pending->order, pending->calls, sizeof(*pending->order), compare,
			pending->call);
}

/* Write one column for all calls, in the order of the calls. */
#define PUT_COLUMN(to, pending, i, call, value)					\
	do {									\
		for ((i) = 0; (i) < (pending)->calls; (i)++) {			\
			(call) = &(pending)->call[(pending)->order[i]];		\
			(to) = put_varint(to, value);				\
		}								\
	} while (0)

static size_t put_calls(struct calls *calls, const struct pending *pending)
{
	unsigned char *to = calls->column;
	const struct call *call;
	uint64_t before = pending->call[pending->order[0]].begin;
	unsigned int i;

	for (i = 0; i < pending->calls; i++) {
		call = &pending->call[pending->order[i]];
		to = put_varint(to, call->begin - before);
		before = call->begin;
	}
	PUT_COLUMN(to, pending, i, call, call->length);
	PUT_COLUMN(to, pending, i, call, call->function);
	PUT_COLUMN(to, pending, i, call, call->caller == CALLS_NO_CALLER ? 0 :
		   (uint64_t)call->caller + 1);
	PUT_COLUMN(to, pending, i, call, call->thread);
	PUT_COLUMN(to, pending, i, call, call->depth);
	PUT_COLUMN(to, pending, i, call, (call->inferred ? 1 : 0) |
		   (call->point ? 2 : 0) | (call->outermost ? 4 : 0) |
		   (call->self_inferred ? 8 : 0) | call->record << 4 |
		   (call->partial ? 128 : 0));
	PUT_COLUMN(to, pending, i, call, call->waited);
	return (size_t)(to - calls->column);
}

static size_t put_counts(struct calls *calls, const struct pending *pending)
{
	unsigned char *to = calls->column;
	unsigned int c, i;

	for (c = 0; c < pending->counters; c++)
		for (i = 0; i < pending->calls; i++)
			to = put_varint(to, pending->count[(size_t)pending->order[i] *
							   pending->counters + c]);
	return (size_t)(to - calls->column);
}

static void write_to(struct calls *calls, FILE *file, const void *from, size_t length)
{
	if (!calls->error && fwrite(from, 1, length, file) != length)
		calls->error = errno ? errno : EIO;
}

/* Compress bytes to @calls->packed. Return their compressed size, or 0 after an error. */
static uint32_t pack(struct calls *calls, unsigned char *from, size_t length)
{
	if (!length || calls->error)
		return 0;
	deflateReset(&calls->stream);
	calls->stream.next_in = from;
	calls->stream.avail_in = (uInt)length;
	calls->stream.next_out = calls->packed;
	calls->stream.avail_out = (uInt)calls->room;
	if (deflate(&calls->stream, Z_FINISH) != Z_STREAM_END) {
		calls->error = EIO;
		return 0;
	}
	return (uint32_t)(calls->room - calls->stream.avail_out);
}

/* Write the compressed columns to the temporary file. Return their size. */
static uint32_t store(struct calls *calls, size_t length)
{
	const uint32_t packed = pack(calls, calls->column, length);

	write_to(calls, calls->chunks, calls->packed, packed);
	calls->bytes += packed;
	return packed;
}

static void end_block(struct calls *calls)
{
	const uint32_t packed = pack(calls, calls->block, calls->block_used);

	calls->block_used = 0;
	/* Empty the block even after an error, so that later sums fit. */
	if (!packed)
		return;
	write_to(calls, calls->blocks, &packed, sizeof(packed));
	write_to(calls, calls->blocks, calls->packed, packed);
	calls->bytes += packed;
	calls->full_blocks++;
}

/* Return the sum of a function, or NULL if the chunk has too many sums. */
static struct sum *sum_of(struct calls *calls, uint32_t function)
{
	uint32_t at = function * 2654435769u % SUM_SLOTS;

	for (; calls->slot[at]; at = (at + 1) % SUM_SLOTS)
		if (calls->sum[calls->slot[at] - 1].function == function)
			return &calls->sum[calls->slot[at] - 1];
	if (calls->sums == SUMS_MAX)
		return NULL;
	calls->sum[calls->sums] = (struct sum){ .function = function };
	calls->slot[at] = (uint16_t)++calls->sums;
	return &calls->sum[calls->sums - 1];
}

static bool add_sums(struct calls *calls, const struct call *call)
{
	const uint64_t time = call->length - call->waited;
	struct sum *sum = sum_of(calls, call->function);

	if (!sum)
		return false;
	if (call->point) {
		sum->points++;
		return true;
	}
	sum->calls++;
	sum->time += time;
	sum->outermost += call->outermost ? time : 0;
	sum->marks |= (call->inferred ? MARK_TOTAL | MARK_SELF : 0) |
		      (call->self_inferred ? MARK_SELF : 0);
	if (call->caller == CALLS_NO_CALLER)
		return true;
	sum = sum_of(calls, call->caller);
	if (!sum)
		return false;
	sum->callees += time;
	sum->marks |= call->inferred ? MARK_SELF : 0;
	return true;
}

/*
 * Add the chunk's sums to the block, unless reading the calls costs less than reading so many sums.
 */
static void put_sums(struct calls *calls, const struct pending *pending, struct chunk *chunk)
{
	unsigned char *to;
	unsigned int i;

	memset(calls->slot, 0, sizeof(calls->slot));
	calls->sums = 0;
	for (i = 0; i < pending->calls; i++)
		if (!add_sums(calls, &pending->call[i]))
			return;
	if (calls->sums * CALLS_PER_SUM > pending->calls)
		return;
	if (calls->block_used + (size_t)calls->sums * SUM_BYTES > BLOCK_BYTES)
		end_block(calls);
	chunk->sums = calls->sums;
	chunk->block = calls->full_blocks;
	chunk->sums_at = (uint32_t)calls->block_used;
	to = calls->block + calls->block_used;
	for (i = 0; i < calls->sums; i++) {
		const struct sum *sum = &calls->sum[i];

		to = put_varint(to, sum->function);
		to = put_varint(to, sum->calls);
		to = put_varint(to, sum->points);
		to = put_varint(to, sum->time);
		to = put_varint(to, sum->outermost);
		to = put_varint(to, sum->callees);
		to = put_varint(to, sum->marks);
	}
	calls->block_used = (size_t)(to - calls->block);
}

static void add_lane(struct chunk *chunk, const struct call *call)
{
	struct lane *lane = chunk->lane;
	uint32_t i;

	for (i = 0; i < chunk->lanes && lane[i].thread != call->thread; i++)
		;
	if (i == LANES)
		return;
	if (i == chunk->lanes) {
		chunk->lanes++;
		lane[i] = (struct lane){ .thread = call->thread, .least = call->depth };
	}
	if (call->depth < lane[i].least)
		lane[i].least = call->depth;
	if (call->depth > lane[i].deepest)
		lane[i].deepest = call->depth;
	lane[i].calls++;
}

/* End a class's chunk. */
static void flush(struct calls *calls, unsigned int class)
{
	struct pending *pending = &calls->pending[class];
	struct chunk chunk = { .class = class, .calls = pending->calls,
			       .counters = pending->counters };
	unsigned int i;

	if (!pending->calls)
		return;
	sort(pending);
	chunk.first = pending->call[pending->order[0]].begin;
	for (i = 0; i < pending->calls; i++) {
		const struct call *call = &pending->call[i];

		if (call->begin + call->length > chunk.last)
			chunk.last = call->begin + call->length;
		add_lane(&chunk, call);
	}
	chunk.at = (uint64_t)ftello(calls->chunks);
	chunk.bytes = store(calls, put_calls(calls, pending));
	chunk.count_bytes = store(calls, put_counts(calls, pending));
	put_sums(calls, pending, &chunk);
	write_to(calls, calls->index, &chunk, sizeof(chunk));
	calls->entries++;
	pending->chunks++;
	pending->calls = 0;
	pending->counters = 0;
}

/* Allocate room for a class's calls and their counts. */
static bool room(struct pending *pending, unsigned int counters)
{
	if (!pending->call) {
		pending->call = malloc(CHUNK_CALLS * sizeof(*pending->call));
		pending->order = malloc(CHUNK_CALLS * sizeof(*pending->order));
	}
	if (pending->call && pending->order && counters > pending->counters) {
		uint64_t *count = realloc(pending->count,
					  (size_t)chunk_calls(counters) * counters *
					  sizeof(*count));

		if (!count)
			return false;
		pending->count = count;
	}
	return pending->call && pending->order;
}

void calls_add(struct calls *calls, const struct call *call, const uint64_t *count,
	       unsigned int counters)
{
	unsigned int class = class_of(call);
	struct pending *pending = &calls->pending[class];

	if (!count)
		counters = 0;
	if (calls->bytes >= CALLS_BYTES_MAX) {
		calls->left_out++;
		return;
	}
	/* All calls in a chunk have the same counters, so end the chunk if the counters differ. */
	if (pending->calls == chunk_calls(pending->counters) ||
	    (pending->calls && counters > pending->counters))
		flush(calls, class);
	if (!room(pending, counters)) {
		calls->error = ENOMEM;
		return;
	}
	if (!pending->calls)
		pending->counters = counters;
	if (pending->counters) {
		uint64_t *to = pending->count + (size_t)pending->calls * pending->counters;

		memset(to, 0, pending->counters * sizeof(*to));
		if (counters)
			memcpy(to, count, counters * sizeof(*to));
	}
	pending->call[pending->calls++] = *call;
}

static void put_base64(struct output *out, const unsigned char *from, size_t length)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char to[4 << 10];
	size_t i, used = 0;

	for (i = 0; i < length; i += 3) {
		uint32_t bits = (uint32_t)from[i] << 16;

		if (i + 1 < length)
			bits |= (uint32_t)from[i + 1] << 8;
		if (i + 2 < length)
			bits |= from[i + 2];
		to[used++] = digit[bits >> 18];
		to[used++] = digit[bits >> 12 & 63];
		to[used++] = i + 1 < length ? digit[bits >> 6 & 63] : '=';
		to[used++] = i + 2 < length ? digit[bits & 63] : '=';
		if (used == sizeof(to)) {
			put_bytes(out, to, used);
			used = 0;
		}
	}
	put_bytes(out, to, used);
}

static int put_packed(struct calls *calls, FILE *from, uint32_t bytes, struct output *out)
{
	if (fread(calls->packed, 1, bytes, from) != bytes)
		return -1;
	put_base64(out, calls->packed, bytes);
	return 0;
}

static int put_blocks(struct calls *calls, struct output *out)
{
	uint32_t i, bytes;

	rewind(calls->blocks);
	for (i = 0; i < calls->full_blocks; i++) {
		put_string(out, "<script type=\"text/plain\" class=\"sums\">");
		if (fread(&bytes, sizeof(bytes), 1, calls->blocks) != 1 ||
		    put_packed(calls, calls->blocks, bytes, out))
			return -1;
		put_string(out, "</script>\n");
	}
	return 0;
}

static int each_chunk_of(struct calls *calls, uint32_t class, struct output *out, void *context,
			 int (*put)(struct calls *calls, const struct chunk *chunk, void *context,
				    struct output *out))
{
	struct chunk chunk;
	uint64_t entry;

	rewind(calls->index);
	for (entry = 0; entry < calls->entries; entry++) {
		if (fread(&chunk, sizeof(chunk), 1, calls->index) != 1 ||
		    (chunk.class == class && put(calls, &chunk, context, out)))
			return -1;
	}
	return 0;
}

/*
 * Call @put for each chunk in the page's order. Chunks that a view of the whole trace reads come
 * first: those of classes with few chunks, then those of the longest calls. Points come last.
 */
static int each_chunk(struct calls *calls, struct output *out, void *context,
		      int (*put)(struct calls *calls, const struct chunk *chunk, void *context,
				 struct output *out))
{
	unsigned int i, class;
	int few;

	for (few = 1; few >= 0; few--)
		for (i = 0; i < CLASSES; i++) {
			class = i == CLASSES - 1 ? POINTS : POINTS - 1 - i;
			if ((calls->pending[class].chunks <= FEW) == few &&
			    each_chunk_of(calls, class, out, context, put))
				return -1;
		}
	return 0;
}

/*
 * Write each chunk as a separate element, because browsers need quadratic time to read a long
 * string. An element contains the calls and then their counts, each in base64.
 */
static int put_chunk(struct calls *calls, const struct chunk *chunk,
		     void *context __attribute__((unused)), struct output *out)
{
	put_string(out, "<script type=\"text/plain\" class=\"calls\">");
	if (fseeko(calls->chunks, (off_t)chunk->at, SEEK_SET) ||
	    put_packed(calls, calls->chunks, chunk->bytes, out) ||
	    put_packed(calls, calls->chunks, chunk->count_bytes, out))
		return -1;
	put_string(out, "</script>\n");
	return 0;
}

/* State while the index is being written. */
struct index_state {
	uint64_t	first;
	bool		any;
};

/*
 * [class, first, last, calls, bytes, bytes of counts, counters, [thread, lowest depth, highest
 * depth, calls, ...]], and if there are sums: number of sums, block, position in it
 */
static int put_entry(struct calls *calls __attribute__((unused)), const struct chunk *chunk,
		     void *context, struct output *out)
{
	struct index_state *state = context;
	uint32_t i;

	put_format(out, "%s[%u,%" PRIu64 ",%" PRIu64 ",%u,%u,%u,%u,[", state->any ? ",\n" : "",
		   chunk->class, chunk->first - state->first, chunk->last - state->first,
		   chunk->calls, chunk->bytes, chunk->count_bytes, chunk->counters);
	for (i = 0; i < chunk->lanes; i++)
		put_format(out, "%s%u,%u,%u,%u", i ? "," : "", chunk->lane[i].thread,
			   chunk->lane[i].least, chunk->lane[i].deepest, chunk->lane[i].calls);
	put_char(out, ']');
	if (chunk->sums)
		put_format(out, ",%u,%u,%u", chunk->sums, chunk->block, chunk->sums_at);
	put_char(out, ']');
	state->any = true;
	return 0;
}

static int fail(const struct calls *calls)
{
	report("cannot keep the calls in a temporary file: %s",
	       strerror(calls->error ? calls->error : errno ? errno : EIO));
	return -1;
}

int64_t calls_put_index(struct calls *calls, uint64_t first, struct output *out)
{
	struct index_state state = { .first = first };
	unsigned int c;

	for (c = 0; c < CLASSES; c++)
		flush(calls, c);
	end_block(calls);
	errno = 0;
	put_string(out, "<script type=\"application/json\" id=\"chunks\">[");
	if (calls->error || each_chunk(calls, out, &state, put_entry))
		return fail(calls);
	put_string(out, "]</script>\n");
	return (int64_t)calls->left_out;
}

int calls_put(struct calls *calls, struct output *out)
{
	errno = 0;
	if (each_chunk(calls, out, NULL, put_chunk) || put_blocks(calls, out))
		return fail(calls);
	return 0;
}

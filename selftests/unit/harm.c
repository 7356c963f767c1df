// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See harm.h. */
#include <stdlib.h>
#include <string.h>

#include "harm.h"

/* Maximum length of damaged bytes, and of a block that is repeated or missing. */
#define RUN	60
#define BLOCK	1000

static uint64_t below(uint64_t *seed, uint64_t limit)
{
	return gen_random(seed) % limit;
}

/* Return the last byte of field @number of a message: 0 is the type, source and tag. */
static size_t field_end(const struct mixed *mixed, const struct mixed_message *message,
			unsigned int number)
{
	size_t at = message->at;

	while (at < message->at + message->length - 1 &&
	       (!(mixed->gen.data[at] & 1) || number--))
		at++;
	return at;
}

/* Flip a bit of one of a store's fields. */
static void flip_field(struct harm *harm, const struct mixed *mixed, unsigned int number,
		       uint64_t *seed)
{
	const struct mixed_message *message;
	size_t first, last;

	message = &mixed->message[below(seed, mixed->messages)];
	first = number ? field_end(mixed, message, number - 1) + 1 : message->at;
	last = field_end(mixed, message, number);
	if (first > last)
		first = last;
	harm->at = first + below(seed, last - first + 1);
	harm->data[harm->at] ^= 4u << below(seed, 6);
}

/* Replace @removed bytes at @at with @put bytes from @bytes. */
static void replace(struct harm *harm, size_t at, size_t removed, const void *bytes, size_t put)
{
	memmove(harm->data + at + put, harm->data + at + removed, harm->length - at - removed);
	if (put)
		memcpy(harm->data + at, bytes, put);
	harm->length += put - removed;
	harm->at = at;
	harm->removed = removed;
	harm->put = put;
}

static void put_bogus(struct harm *harm, const struct mixed *mixed, uint64_t *seed)
{
	const struct mixed_message *before = &mixed->message[below(seed, mixed->messages)];
	struct gen gen;
	unsigned int i;

	gen_init(&gen, 2, below(seed, 8) ? 40 : 0);
	gen.ts_delta = mixed->gen.ts_delta;
	for (i = 0; i < 2; i++) {
		const unsigned int bytes = 1u << below(seed, 3);

		gen.now = below(seed, 4096);
		gen.last[0] = gen.last[1] = gen.last[2] = gen.last[3] = 0;
		gen_store(&gen, (unsigned int)below(seed, mixed->sources),
			  6 + (unsigned int)below(seed, 3), bytes,
			  (uint32_t)(below(seed, 2) ? below(seed, 5) : gen_random(seed)) &
			  (uint32_t)((1ull << 8 * bytes) - 1));
	}
	replace(harm, before->at, 0, gen.data, gen.length);
	gen_free(&gen);
}

void harm_describe(struct mixed *mixed, const struct gen *gen, unsigned int sources)
{
	size_t at, end;

	*mixed = (struct mixed){ .gen = *gen, .sources = sources };
	mixed->message = calloc(gen->length, sizeof(*mixed->message));
	if (!mixed->message)
		exit(1);
	for (at = 0; at < gen->length; at = end) {
		for (end = at + 1; (gen->data[end - 1] & 3) != 3; end++)
			;
		mixed->message[mixed->messages++] = (struct mixed_message){
			.at = at, .length = end - at,
		};
	}
}

void harm_make(struct harm *harm, const struct mixed *mixed, enum harm_kind kind, uint64_t *seed)
{
	const size_t length = mixed->gen.length, at = below(seed, length - BLOCK);
	uint8_t *bytes = malloc(BLOCK);
	size_t run = 2 + below(seed, RUN), i;

	harm->data = malloc(length + BLOCK);
	if (!bytes || !harm->data)
		exit(1);
	memcpy(harm->data, mixed->gen.data, length);
	harm->kind = kind;
	harm->length = length;
	harm->at = at;
	harm->removed = 1;
	harm->put = 1;
	switch (kind) {
	case HARM_NONE:
		break;
	case HARM_FLIP:
		harm->data[at] ^= 1u << below(seed, 8);
		break;
	case HARM_VALUE:
		flip_field(harm, mixed, 1, seed);
		break;
	case HARM_TIME:
		flip_field(harm, mixed, 2, seed);
		break;
	case HARM_TAG:
		flip_field(harm, mixed, 0, seed);
		break;
	case HARM_ENDS:
		harm->data[at] ^= 1u << below(seed, 2);
		break;
	case HARM_DROP:
		replace(harm, at, 1, NULL, 0);
		break;
	case HARM_TWICE:
		bytes[0] = bytes[1] = harm->data[at];
		replace(harm, at, 1, bytes, 2);
		break;
	case HARM_SWAP:
		bytes[0] = harm->data[at + 1];
		bytes[1] = harm->data[at];
		replace(harm, at, 2, bytes, 2);
		break;
	case HARM_ZEROS:
	case HARM_ONES:
	case HARM_RANDOM:
		for (i = 0; i < run; i++)
			bytes[i] = (uint8_t)(kind == HARM_ZEROS ? 0 : kind == HARM_ONES ? 0xff :
					     gen_random(seed));
		replace(harm, at, run, bytes, run);
		break;
	case HARM_REPEAT:
		run = 1 + below(seed, below(seed, 2) ? BLOCK : RUN);
		memcpy(bytes, harm->data + at, run);
		replace(harm, at + run < length ? at + run : length, 0, bytes, run);
		break;
	case HARM_CUT:
		run = 1 + below(seed, below(seed, 2) ? BLOCK : RUN);
		replace(harm, at, run, NULL, 0);
		break;
	case HARM_BOGUS:
		put_bogus(harm, mixed, seed);
		break;
	}
	free(bytes);
}

/* A message's end (0 if it has none), the end of its first field, and its number of fields. */
struct shape {
	size_t		end;
	size_t		first;
	unsigned int	fields;
};

static struct shape shape_of(const uint8_t *data, size_t length, size_t at)
{
	struct shape shape = { 0 };

	for (; at < length && (data[at] & 3) != 2 && !shape.end; at++) {
		if (data[at] & 1 && !shape.fields++)
			shape.first = at + 1;
		if ((data[at] & 3) == 3)
			shape.end = at + 1;
	}
	return shape;
}

bool harm_is_plain(const struct harm *harm, const struct mixed *mixed)
{
	const uint8_t *good = mixed->gen.data, *bad = harm->data;
	struct shape one, other;
	size_t i = 0, k = 0;

	for (; i < mixed->gen.length && k < harm->length; i = one.end, k = other.end) {
		one = shape_of(good, mixed->gen.length, i);
		other = shape_of(bad, harm->length, k);
		if (!other.end || one.fields != other.fields || one.first - i != other.first - k ||
		    memcmp(good + i, bad + k, one.first - i))
			return false;
	}
	return i == mixed->gen.length && k == harm->length;
}

const char *harm_name(enum harm_kind kind)
{
	static const char * const names[] = {
		[HARM_NONE] = "none", [HARM_FLIP] = "bit", [HARM_VALUE] = "value", [HARM_TIME] = "time",
		[HARM_TAG] = "tag", [HARM_ENDS] = "end", [HARM_DROP] = "lost byte",
		[HARM_TWICE] = "doubled byte", [HARM_SWAP] = "exchanged bytes", [HARM_ZEROS] = "zeros",
		[HARM_ONES] = "ones", [HARM_RANDOM] = "random bytes", [HARM_REPEAT] = "repeated block",
		[HARM_CUT] = "lost block", [HARM_BOGUS] = "foreign messages",
	};

	return names[kind];
}

uint64_t harm_original(const struct harm *harm, uint64_t offset)
{
	if (offset < harm->at)
		return offset;
	if (offset >= harm->at + harm->put)
		return offset - harm->put + harm->removed;
	return harm->put == harm->removed ? offset : HARM_NOWHERE;
}

void harm_free(struct harm *harm)
{
	free(harm->data);
	harm->data = NULL;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Decodes arbitrary bytes as messages; the first byte selects the options. The result must not
 * depend on where the input is cut, each byte must be part of at most one item, and decoding
 * stores in bulk must give the same result as decoding them one by one.
 */
#include <stdlib.h>
#include <string.h>

#include "nexus/nexus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t mix(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * 0x9e3779b97f4a7c15ull + (sum >> 29);
}

static uint64_t drain(struct nexus *nexus, uint64_t *end, uint64_t sum)
{
	struct nexus_message message;
	enum nexus_item item;
	unsigned int i;

	while ((item = nexus_next(nexus, &message)) != NEXUS_MORE) {
		if (message.offset < *end || !message.length)
			abort();
		*end = message.offset + message.length;
		sum = mix(mix(sum, message.offset), message.length);
		if (item == NEXUS_GAP) {
			sum = mix(sum, message.gap);
			continue;
		}
		if (message.fields > 3 || message.length > NEXUS_MESSAGE_MAX)
			abort();
		sum = mix(mix(sum, message.tcode), message.flags);
		if (message.flags & NEXUS_TIME_KNOWN)
			sum = mix(sum, message.time);
		for (i = 0; i < message.fields; i++)
			sum = mix(sum, message.field[i]);
	}
	return sum;
}

static uint64_t mix_store(uint64_t sum, const struct store *store)
{
	if (store->channel >= STORE_CHANNELS)
		abort();
	sum = mix(mix(sum, store->offset), store->value);
	sum = mix(mix(sum, store->src), store->channel << 8 | store->bytes);
	return store->time_known ? mix(sum, store->time) : sum;
}

/* Decode all stores: up to @at_once per call or, if that is 0, message by message. */
static uint64_t stores(const struct nexus_options *options, const uint8_t *data,
		       size_t size, size_t at_once)
{
	struct nexus_message message;
	struct store store[16];
	enum nexus_item item;
	struct nexus nexus;
	uint64_t sum = 0;
	size_t count, i;

	nexus_init(&nexus, options);
	nexus_feed(&nexus, data, size);
	do {
		do {
			count = nexus_stores(&nexus, store, at_once);
			for (i = 0; i < count; i++)
				sum = mix_store(sum, &store[i]);
		} while (count && count == at_once);
		item = nexus_next(&nexus, &message);
		if (item == NEXUS_MESSAGE && nexus_store(&message, store))
			sum = mix_store(sum, store);
	} while (item != NEXUS_MORE);
	return sum;
}

static uint64_t decode(const struct nexus_options *options, const uint8_t *data,
		       size_t size, size_t part)
{
	uint64_t sum = 0, end = 0;
	struct nexus nexus;
	size_t at, length;

	if (nexus_init(&nexus, options))
		abort();
	for (at = 0; at < size; at += length) {
		uint8_t *copy;

		length = size - at < part ? size - at : part;
		/* Allocated with the exact size, so that an access beyond the end is detected. */
		copy = malloc(length);
		memcpy(copy, data + at, length);
		nexus_feed(&nexus, copy, length);
		sum = drain(&nexus, &end, sum);
		free(copy);
	}
	nexus_end(&nexus);
	sum = drain(&nexus, &end, sum);
	if (end > size)
		abort();
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nexus_options options = { 0 };

	if (size < 2)
		return 0;
	options.src_bits = data[0] & 7;
	options.ts_scheme = data[0] & 8 ? NEXUS_TS_DELTA : NEXUS_TS_XOR;
	options.ring = data[0] & 16;
	options.ts_width = data[1] % 65;
	data += 2;
	size -= 2;
	if (decode(&options, data, size, size + 1) !=
	    decode(&options, data, size, 1 + size % 61))
		abort();
	if (stores(&options, data, size, 0) !=
	    stores(&options, data, size, 1 + size % 16))
		abort();
	return 0;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Decodes arbitrary words as records; six bytes of input define a word. Each word must become part
 * of one header or record, or must be reported as lost. The callbacks for single words must agree
 * with those for whole headers and records.
 */
#include <stdlib.h>
#include <string.h>

#include "perfrec/perfrec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Counters received for each stream's header or record. */
static int counters[PERFREC_SOURCES][PERFREC_CHANNELS];

static void on_part(void *context, const struct perfrec_header *header, int part)
{
	int *came = &counters[header->src][header->channel];

	if (part == PERFREC_PART_COUNT_TYPE)
		*came = PERFREC_PART_COUNT_TYPE;
	if (part != (*came)++ || part >= PERFREC_COUNTERS)
		abort();
}

static void on_address(void *context, const struct perfrec_record *record)
{
	counters[record->src][record->channel] = 0;
}

static void on_counter(void *context, const struct perfrec_record *record,
		       unsigned int i, const struct perfrec_stamp *end)
{
	if ((int)i != counters[record->src][record->channel]++ ||
	    end->offset < record->address_end.offset)
		abort();
}

static void on_header(void *context, const struct perfrec_header *header)
{
	uint64_t *words = context;
	char name[PERFREC_NAME_SIZE];
	unsigned int i;

	if (counters[header->src][header->channel] != (int)header->counters)
		abort();
	*words += 3 + header->owned;
	for (i = 0; i < header->counters; i++) {
		*words += header->counter[i].type == PERFREC_EVENT_RAW ? 4 : 3;
		perfrec_counter_name(&header->counter[i], name, sizeof(name));
		if (!header->counter[i].width || header->counter[i].width > 64)
			abort();
	}
}

static void on_record(void *context, const struct perfrec_record *record)
{
	uint64_t *words = context;

	*words += record->words;
	if (record->counters > PERFREC_COUNTERS || record->type >= PERFREC_TYPES ||
	    (record->header && record->header->counters != record->counters) ||
	    counters[record->src][record->channel] != (int)record->counters)
		abort();
}

static void on_lost(void *context, const struct perfrec_loss *loss)
{
	uint64_t *words = context;

	*words += loss->words;
	if (!loss->words)
		abort();
}

static const struct perfrec_ops ops = {
	.header = on_header, .record = on_record, .lost = on_lost,
	.part = on_part, .address = on_address, .counter = on_counter,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t bytes[] = { 4, 2, 1, 4, 1, 4, 0, 4 };
	uint64_t words = 0, pushed = 0, marks = 0;
	struct perfrec *perfrec = perfrec_new(&ops, &words);

	if (!perfrec)
		return 0;
	for (; size >= 6; data += 6, size -= 6) {
		struct store word = {
			.offset = 4 * pushed,
			.time = 10 * pushed,
			.bytes = bytes[data[0] & 7],
			.time_known = data[0] & 8,
			.src = data[1] & 3,
			.channel = data[1] >> 2 & 3,
		};

		if (data[1] & 0x80) {
			perfrec_lost(perfrec, data[1] & 0x40 ? -1 : word.src);
			continue;
		}
		if (data[1] & 0x20)
			perfrec_settle(perfrec, word.src, word.channel,
				       word.offset);
		if (data[1] & 0x10) {
			const struct perfrec_stamp before = {
				.offset = word.offset, .time = word.time,
				.time_known = word.time_known,
			};

			perfrec_settle_thread(perfrec, data[2], word.channel, &before);
		}
		memcpy(&word.value, data + 2, 4);
		if (word.bytes < 4)
			word.value &= (1u << 8 * word.bytes) - 1;
		if (!perfrec_push(perfrec, &word)) {
			pushed++;
			marks += perfrec_is_mark(&word);
		}
	}
	perfrec_flush(perfrec);
	perfrec_free(perfrec);
	/* A complete mark has two words, which are not passed to any callback. */
	if (words > pushed || pushed - words > 2 * marks || (pushed - words) % 2)
		abort();
	return 0;
}

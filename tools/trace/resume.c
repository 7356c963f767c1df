// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See resume.h. */
#include <errno.h>
#include <stdlib.h>

#include "resume.h"

bool resume_clocks(struct nexus *nexus, const struct meta *meta)
{
	size_t i;

	for (i = 0; i < meta->clocks; i++)
		nexus_set_time(nexus, (unsigned int)meta->clock[i].src, meta->clock[i].time,
			       meta->clock[i].inferred ? TIME_INFERRED : TIME_EXACT);
	return meta->clocks;
}

/*
 * Read a store: "SIZE:VALUE", "SIZE:VALUE@TIME" or "SIZE:VALUE~TIME". Return the rest of the text,
 * or NULL at its end.
 */
static const char *read_store(const char *text, struct store *store)
{
	char *end;

	while (*text == ' ')
		text++;
	if (*text < '0' || *text > '4')
		return NULL;
	store->bytes = (uint8_t)(*text++ - '0');
	if (*text != ':')
		return NULL;
	store->value = (uint32_t)strtoul(text + 1, &end, 16);
	store->time = 0;
	store->time_known = TIME_UNKNOWN;
	if (*end == '@' || *end == '~') {
		store->time_known = *end == '@' ? TIME_EXACT : TIME_INFERRED;
		store->time = strtoull(end + 1, &end, 16);
	}
	return end;
}

static int push_all(struct perfrec *perfrec, const char *text, struct store *store,
		    uint64_t offset)
{
	int error = 0;

	store->offset = offset;
	while (text && !error) {
		text = read_store(text, store);
		if (text)
			error = perfrec_push(perfrec, store);
	}
	return error;
}

static int resume_stream(struct perfrec *perfrec, const struct meta_stream *stream)
{
	struct store store = {
		.src = (uint8_t)stream->src, .channel = (uint8_t)stream->channel,
	};
	int error = push_all(perfrec, stream->header, &store, 0);

	/* Signal the loss with the mark of an abandoned record. */
	if (!error && stream->lost)
		error = perfrec_push(perfrec, &(struct store){
			.src = store.src, .channel = store.channel, .offset = RESUME_BEFORE,
			.bytes = 1, .value = SIFIVE_TRACE_RECORD_BREAK,
		});
	if (!error)
		error = push_all(perfrec, stream->record, &store, RESUME_BEFORE);
	return error ? error : push_all(perfrec, stream->begun, &store, 0);
}

int resume_streams(struct perfrec *perfrec, const struct meta *meta, uint32_t channels)
{
	int error = 0;
	size_t i;

	for (i = 0; i < meta->streams && !error; i++)
		if (channels >> meta->stream[i].channel & 1)
			error = resume_stream(perfrec, &meta->stream[i]);
	return error;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads arbitrary text as a side-car file, and looks up its counters, threads and objects. */
#include <stdlib.h>

#include "counters.h"
#include "meta.h"
#include "places.h"
#include "threads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find_threads(const struct meta *meta)
{
	struct threads *threads = threads_new(meta);
	struct perfrec_record record = { 0 };
	unsigned int i;

	if (threads)
		threads_wrap(threads, 0xffffffffff);
	for (i = 0; threads && i < 64; i++) {
		struct thread *thread;

		record.channel = i & 31;
		record.src = (uint8_t)(i >> 3);
		record.begin.time = i << (i & 31);
		record.begin.time_known = i & 1;
		thread = threads_find(threads, &record);
		if (thread && thread->id >= threads_count(threads))
			abort();
	}
	threads_free(threads);
}

/*
 * Check that an address that places_find() has assigned to an object does not change when it is
 * looked up again.
 */
static void find_places(const struct meta *meta)
{
	struct places *places;
	size_t i;

	if (places_new(meta, &places))
		return;
	places_wrap(places, 0xffffffffff);
	for (i = 0; i < meta->objects; i++) {
		const struct meta_object *object = &meta->object[i];
		const uint64_t own = places_find(places, object->start, &object->from, NULL);

		if (own != object->start && places_find(places, own, &object->from, NULL) != own)
			abort();
	}
	places_free(places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct meta meta;
	size_t i;

	if (!meta_parse("fuzz.meta", (const char *)data, size, &meta)) {
		for (i = 0; i < meta.objects; i++)
			if (!meta.object[i].path ||
			    meta.object[i].start >= meta.object[i].end)
				abort();
		for (i = 0; i < meta.threads; i++)
			if (meta.thread[i].channel < 0 ||
			    meta.thread[i].channel >= PERFREC_CHANNELS)
				abort();
		find_threads(&meta);
		find_places(&meta);
	}
	meta_free(&meta);
	return 0;
}

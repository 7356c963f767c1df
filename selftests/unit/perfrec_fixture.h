/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Feeds words to the record decoder, and collects the results in @all. */
#ifndef SELFTESTS_UNIT_PERFREC_FIXTURE_H
#define SELFTESTS_UNIT_PERFREC_FIXTURE_H

#include <kselftest_harness.h>

#include "perfrec_collect.h"

#define MAGIC		SIFIVE_TRACE_RECORD_MAGIC
#define INFO(csr, width) ((csr) | ((width) - 1) << 12)

static struct collected_records all;

FIXTURE(perfrec) {
	struct perfrec *perfrec;
	uint64_t offset;
	uint64_t time;
	unsigned int src;
	unsigned int channel;
};

FIXTURE_SETUP(perfrec)
{
	memset(&all, 0, sizeof(all));
	self->perfrec = perfrec_new(&collect_ops, &all);
	ASSERT_NE(NULL, self->perfrec);
	self->time = 100;
	self->channel = 6;
}

FIXTURE_TEARDOWN(perfrec)
{
	perfrec_free(self->perfrec);
}

static inline void push(FIXTURE_DATA(perfrec) *self, unsigned int bytes, uint32_t value)
{
	struct store word = {
		.offset = self->offset,
		.time = self->time,
		.value = value,
		.src = (uint8_t)self->src,
		.channel = (uint8_t)self->channel,
		.bytes = (uint8_t)bytes,
		.time_known = true,
	};

	perfrec_push(self->perfrec, &word);
	self->offset += 10;
	self->time += 1;
}

static inline void word32(FIXTURE_DATA(perfrec) *self, uint32_t value)
{
	push(self, 4, value);
}

static inline void word16(FIXTURE_DATA(perfrec) *self, uint32_t value)
{
	push(self, 2, value);
}

static inline void word8(FIXTURE_DATA(perfrec) *self, uint32_t value)
{
	push(self, 1, value);
}

/* Write a header with general events in counters 0, 2, 3 ... of @width bits. */
static inline void header(FIXTURE_DATA(perfrec) *self, uint32_t count_type,
		   unsigned int counters, unsigned int width)
{
	uint32_t mask = 0;
	unsigned int i;

	for (i = 0; i < counters; i++)
		mask |= 1u << (i ? i + 1 : 0);
	word32(self, MAGIC);
	word8(self, count_type);
	word32(self, mask);
	for (i = 0; i < counters; i++) {
		word32(self, PERFREC_EVENT_GENERAL);
		word32(self, i + 1);
		word32(self, INFO(0xc00u + i, width));
	}
}

static inline void flush(FIXTURE_DATA(perfrec) *self)
{
	perfrec_flush(self->perfrec);
}

#endif /* SELFTESTS_UNIT_PERFREC_FIXTURE_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Generates traces with context switches, for tests of the commands' output. */
#ifndef SELFTESTS_UNIT_SWITCHES_FIXTURE_H
#define SELFTESTS_UNIT_SWITCHES_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_fixture.h"

#include <linux/sifive_trace.h>

#define CHANNEL	30
#define TID	100
/* Option that sets the length of a tick to a microsecond. */
#define HZ	"--ts-hz 1000000 "

static inline void begin(FIXTURE_DATA(command) *self, unsigned int src_bits)
{
	gen_free(&self->gen);
	gen_init(&self->gen, src_bits, 40);
	self->gen.step = 0;
}

static inline void put_switch_of(FIXTURE_DATA(command) *self, unsigned int src, uint64_t now,
				 uint8_t kind, uint32_t thread)
{
	self->gen.now = now;
	gen_store(&self->gen, src, CHANNEL, 1, kind);
	if (kind)
		gen_store(&self->gen, src, CHANNEL, 4, thread);
}

static inline void put_switch(FIXTURE_DATA(command) *self, unsigned int src, uint64_t now,
			      uint8_t kind)
{
	put_switch_of(self, src, now, kind, TID);
}

#define IN(src, now)		put_switch(self, src, now, SIFIVE_TRACE_SWITCH_IN)
#define SLEEPS(src, now)	put_switch(self, src, now, SIFIVE_TRACE_SWITCH_SLEEPS)
#define WOKEN(src, now)		put_switch(self, src, now, SIFIVE_TRACE_SWITCH_WOKEN)
#define EXITED(src, now)	put_switch(self, src, now, SIFIVE_TRACE_SWITCH_EXITED)

static inline void sync_at(FIXTURE_DATA(command) *self, unsigned int src, uint64_t now)
{
	self->gen.now = now;
	gen_sync(&self->gen, src);
}

static inline void put_begin(FIXTURE_DATA(command) *self, struct gen_stream *stream,
			     unsigned int src)
{
	put_switch(self, src, self->gen.now, SIFIVE_TRACE_SWITCH_BEGIN);
	gen_stream_init(stream, &self->gen, (uint8_t)src, 6, 1, 1, 64);
	gen_header(stream);
}

static inline void put_record(FIXTURE_DATA(command) *self, struct gen_stream *stream, uint64_t now,
			      unsigned int type, uint64_t function)
{
	const uint64_t address[] = { function, 0x100 }, value = 0;

	self->gen.now = now;
	gen_record(stream, type, address, &value);
}

static inline void save_with(FIXTURE_DATA(command) *self, unsigned int src_bits, const char *more)
{
	char meta[512];

	snprintf(meta, sizeof(meta), "{\"srcbits\":%u,\"ts_width\":40,\"switches\":{\"channel\":%d},"
		 "\"threads\":[{\"channel\":6,\"pid\":%d,\"tid\":%d}]%s}", src_bits, CHANNEL, TID, TID,
		 more);
	write_file("trace.rtd.meta", meta, strlen(meta));
	save(self, "trace.rtd");
}

#define EXPECT_HAS(text, word) \
	EXPECT_NE(NULL, strstr(text, word)) { TH_LOG("%s: %s", word, text); }
#define EXPECT_LACKS(text, word) \
	EXPECT_EQ(NULL, strstr(text, word)) { TH_LOG("%s: %s", word, text); }

#endif /* SELFTESTS_UNIT_SWITCHES_FIXTURE_H */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * CONFIG's test of an encoder: store to each stimulus register and examine the
 * messages. The test never fails: an encoder without any messages is marked as silent.
 */

#include <linux/bitfield.h>

#include <linux/sifive_trace_regs.h>

#include "hardware.h"

#define REGISTERS	32
#define VALUE		0x5f1f7e00u

#define TCODE		GENMASK(5, 0)
#define TCODE_BITS	6
#define TCODE_DATA	7
#define IDLE		0xff

/* The fields of a data message: the tag, preceded by code and source; the value; and the time. */
#define FIELDS		3

/* Alternate between registers 0-15 and 16-31, so that a small sink has messages from both. */
void sft_selftest_store(struct sft_encoder *e)
{
	unsigned int i, n;

	for (i = 0; i < REGISTERS; i++) {
		n = i / 2 + i % 2 * (REGISTERS / 2);
		if (!sft_encoder_store(e, n, VALUE | n))
			return;
	}
}

static void see_message(struct sft_encoder *e, const u64 *field, unsigned int fields)
{
	struct sft_tested *t = &e->tested;
	unsigned int n = field[1] % REGISTERS;

	if (FIELD_GET(TCODE, field[0]) != TCODE_DATA || (field[1] ^ n) != VALUE ||
	    fields < 2 || fields > FIELDS)
		return;
	t->registers |= BIT(n);
	if (fields == FIELDS)
		t->ts_registers |= BIT(n);
	t->channel[n] = (u8)(field[0] >> (TCODE_BITS + sft_encoder_src_bits(e))) / 4;
}

/* Return whether registers 16-31 repeat 0-15, judging by the observed messages. */
static bool has_halves(const struct sft_tested *t)
{
	unsigned int n;
	bool seen = false;

	for (n = REGISTERS / 2; n < REGISTERS; n++) {
		if (!(t->registers & BIT(n)))
			continue;
		if (t->channel[n] != n - REGISTERS / 2)
			return false;
		seen = true;
	}
	return seen;
}

/*
 * Examine messages. The lowest two bits of a byte mark the end of a field or message; the other
 * bits are data. Returns whether there was a message of any kind: an encoder also sends its
 * absolute time, for example.
 */
static bool read_messages(struct sft_encoder *e, const u8 *data, size_t size)
{
	u64 field[FIELDS + 1] = { 0 };
	unsigned int fields = 0, bits = 0;
	bool any = false;
	size_t i;

	for (i = 0; i < size; i++) {
		if (data[i] == IDLE && !fields && !bits)
			continue;
		if (fields <= FIELDS && bits < 64)
			field[fields] |= (u64)(data[i] >> 2) << bits;
		bits += 6;
		if (!(data[i] & SFT_MESSAGE_END))
			continue;
		bits = 0;
		fields++;
		if ((data[i] & SFT_MESSAGE_END) != SFT_MESSAGE_END)
			continue;
		see_message(e, field, fields);
		memset(field, 0, sizeof(field));
		fields = 0;
		any = true;
	}
	return any;
}

/* Examine all messages that the encoder has sent to the sink. */
void sft_selftest_read(struct sft_encoder *e, const struct sft_sink *s)
{
	struct sft_tested *t = &e->tested;

	/* A full sink may have had no room for a message. */
	t->silent = !read_messages(e, s->data, sft_sink_bytes(s)) && !sft_sink_full(s);
	t->ts_channels = has_halves(t);
}

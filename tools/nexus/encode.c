// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes a Nexus message as an encoder does: see nexus.h. */
#include "nexus.h"

#define SLICE_BITS	6
#define SLICE_MASK	((1u << SLICE_BITS) - 1)

/* MSEO of a field's last slice, and of a message's last slice. */
#define END_OF_FIELD	1u
#define END_OF_MESSAGE	3u

/* Space for the fixed fields and the first variable field, which share slices. */
typedef unsigned __int128 bits_t;

/* Write at least @least bits of @bits as slices, lowest bits first. Return the number of slices. */
static size_t put_slices(uint8_t *to, bits_t bits, unsigned int least)
{
	size_t length = 0;
	unsigned int done = 0;

	do {
		to[length++] = (uint8_t)(bits & SLICE_MASK) << 2;
		bits >>= SLICE_BITS;
		done += SLICE_BITS;
	} while (bits || done < least);
	to[length - 1] |= END_OF_FIELD;
	return length;
}

size_t nexus_encode(const struct nexus *nexus, const struct nexus_message *message,
		    uint64_t timestamp, uint8_t *to)
{
	const struct nexus_layout *layout = &nexus->layout[message->tcode];
	unsigned int i, fixed = layout->fixed_bits;
	size_t length;
	bits_t bits;

	if (!layout->known || message->src > nexus->src_mask)
		return 0;
	bits = message->tcode | (bits_t)message->src << SLICE_BITS |
	       (bits_t)message->fixed[0] << layout->shift[0] |
	       (bits_t)message->fixed[1] << layout->shift[1] |
	       (bits_t)message->field[0] << fixed;
	/* A field has at least one bit. */
	length = put_slices(to, bits, fixed + 1);
	for (i = 1; i < message->fields; i++)
		length += put_slices(to + length, message->field[i], 1);
	if (message->flags & NEXUS_TIMESTAMP)
		length += put_slices(to + length, timestamp & nexus->ts_mask, 1);
	to[length - 1] |= END_OF_MESSAGE;
	return length;
}

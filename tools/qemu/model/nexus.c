/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nexus messages of version 0 encoders: a slice is a byte, with MSEO in bits 1:0 and six
 * message bits (MDO) above, lowest first.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "nexus.h"

#define MDO_BITS                6
#define MDO_SHIFT               2
#define MSEO_END_OF_FIELD       0x1
#define MSEO_END_OF_MESSAGE     0x3

/* Moves as many low bits of *value as fit into the slice; returns their number. */
static unsigned put_bits(NexusMessage *m, uint64_t *value, unsigned bits)
{
    unsigned n;

    if (m->used == MDO_BITS) {
        g_assert(m->len < NEXUS_MESSAGE_MAX);
        m->bytes[m->len++] = 0;
        m->used = 0;
    }
    n = MIN(bits, MDO_BITS - m->used);
    m->bytes[m->len - 1] |= extract64(*value, 0, n) << (MDO_SHIFT + m->used);
    m->used += n;
    *value >>= n;
    return n;
}

void nexus_begin(NexusMessage *m, unsigned tcode, unsigned src,
                 unsigned src_bits)
{
    m->len = 0;
    m->used = MDO_BITS;
    nexus_fixed(m, tcode, MDO_BITS);
    nexus_fixed(m, src, src_bits);
}

void nexus_fixed(NexusMessage *m, uint32_t value, unsigned bits)
{
    uint64_t rest = value;

    while (bits) {
        bits -= put_bits(m, &rest, bits);
    }
}

/* Leading zeros are omitted, but there is always one slice, padded with zeros. */
void nexus_variable(NexusMessage *m, uint64_t value)
{
    do {
        put_bits(m, &value, MDO_BITS);
    } while (value);
    m->bytes[m->len - 1] |= MSEO_END_OF_FIELD;
}

/* A fixed field cannot be the last one, because its end would not be marked. */
void nexus_end(NexusMessage *m)
{
    g_assert(m->bytes[m->len - 1] & MSEO_END_OF_FIELD);
    m->bytes[m->len - 1] |= MSEO_END_OF_MESSAGE;
}

unsigned nexus_tcode(const NexusMessage *m)
{
    return m->bytes[0] >> MDO_SHIFT;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIFIVE_TRACE_NEXUS_H
#define SIFIVE_TRACE_NEXUS_H

/* Bytes of the longest message that the format allows. */
#define NEXUS_MESSAGE_MAX       38

enum {
    NEXUS_OWNERSHIP = 2,
    NEXUS_DATA_ACQUISITION = 7,
    NEXUS_ERROR = 8,
    NEXUS_ICT_WITH_SYNC = 35,
};

#define NEXUS_ETYPE_OVERRUN             0
#define NEXUS_ECODE_DATA_ACQUISITION    0x20
#define NEXUS_CKDATA_TRACE_ON           2
#define NEXUS_CKDATA_TRACE_OFF          3

/* Bytes between messages, and the padding of a sink word. */
#define NEXUS_IDLE                      0xff

typedef struct NexusMessage {
    uint8_t bytes[NEXUS_MESSAGE_MAX];
    unsigned len;
    unsigned used;      /* MDO bits used in the last slice */
} NexusMessage;

/*
 * Build a message in this order: begin, fixed fields, one or more variable fields, end.
 * src_bits = 0 omits the SRC field.
 */
void nexus_begin(NexusMessage *m, unsigned tcode, unsigned src,
                 unsigned src_bits);
void nexus_fixed(NexusMessage *m, uint32_t value, unsigned bits);
void nexus_variable(NexusMessage *m, uint64_t value);
void nexus_end(NexusMessage *m);
unsigned nexus_tcode(const NexusMessage *m);

#endif

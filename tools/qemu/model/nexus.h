/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIFIVE_TRACE_NEXUS_H
#define SIFIVE_TRACE_NEXUS_H

/* Length of the longest message that the format allows, in bytes. */
#define NEXUS_MESSAGE_MAX       38

enum {
    NEXUS_OWNERSHIP = 2,
    NEXUS_DIRECT_BRANCH = 3,
    NEXUS_INDIRECT_BRANCH = 4,
    NEXUS_DATA_ACQUISITION = 7,
    NEXUS_ERROR = 8,
    NEXUS_PROGRAM_SYNC = 9,
    NEXUS_DIRECT_BRANCH_SYNC = 11,
    NEXUS_INDIRECT_BRANCH_SYNC = 12,
    NEXUS_RESOURCE_FULL = 27,
    NEXUS_INDIRECT_BRANCH_HISTORY = 28,
    NEXUS_INDIRECT_BRANCH_HISTORY_SYNC = 29,
    NEXUS_CORRELATION = 33,
    NEXUS_ICT_WITH_SYNC = 35,
};

#define NEXUS_ETYPE_OVERRUN             0
#define NEXUS_ECODE_PROGRAM             0x04
#define NEXUS_ECODE_OWNERSHIP           0x08
#define NEXUS_ECODE_DATA_ACQUISITION    0x20
#define NEXUS_CKDATA_TRACE_ON           2
#define NEXUS_CKDATA_TRACE_OFF          3

/* Why a program trace message has a full address: SYNC. */
enum {
    NEXUS_SYNC_EXTERNAL_TRIGGER = 0,
    NEXUS_SYNC_PERIODIC = 2,
    NEXUS_SYNC_INSTRUCTION_COUNT = 4,
    NEXUS_SYNC_TRACE_ON = 5,
    NEXUS_SYNC_OVERRUN = 7,
};

/* Why the program's flow changed: BTYPE. */
enum {
    NEXUS_BTYPE_INDIRECT = 0,
    NEXUS_BTYPE_EXCEPTION = 1,
    NEXUS_BTYPE_INTERRUPT = 2,
};

/* What is full: RCODE. The last two are counts of branches with the same outcome. */
enum {
    NEXUS_RCODE_INSTRUCTION_COUNT = 0,
    NEXUS_RCODE_HISTORY = 1,
    NEXUS_RCODE_NOT_TAKEN = 8,
    NEXUS_RCODE_TAKEN = 9,
};

#define NEXUS_EVCODE_TRACE_OFF          4

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

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes the packets of Perfetto's trace format, compressed in groups. */
#ifndef SIFIVE_TRACE_PACKETS_H
#define SIFIVE_TRACE_PACKETS_H

#include <stddef.h>
#include <stdint.h>

#include "export/perfetto.pb-c.h"
#include "meta.h"
#include "../output.h"

/* Size of the packets that are compressed together, in bytes. */
#define PACKETS_BYTES	(256u << 10)
/* Upper limits: growth of incompressible data in zlib, and size of the framing. */
#define PACKETS_SPARE	(4u << 10)

/* Flags of a packet's sequence. */
#define PACKETS_CLEARED	1
#define PACKETS_NEEDED	2

/**
 * struct packets - packets to compress
 * @machine:	number that identifies the recording in viewers, or 0 if there is only one recording
 * @tracks:	added to the uuid of each track
 * @sequences:	added to the number of each sequence
 * @used:	number of bytes in @packet
 * @zipped:	the compressed packets; @whole: these with their framing
 */
struct packets {
	uint32_t	machine;
	uint64_t	tracks;
	uint32_t	sequences;
	size_t		used;
	uint8_t		packet[PACKETS_BYTES];
	uint8_t		zipped[PACKETS_BYTES + PACKETS_SPARE];
	uint8_t		whole[PACKETS_BYTES + 2 * PACKETS_SPARE];
};

/**
 * packets_separate() - make later packets distinct from those of other recordings
 *
 * Files of several recordings can then be concatenated. Viewers find threads by their ids on a
 * machine. Threads of different recordings may have the same ids, so each recording is a machine.
 */
void packets_separate(struct packets *packets, const struct meta *meta);

/** packets_new() - return a packet of a sequence, to be filled and added */
Perfetto__TracePacket packets_new(uint32_t sequence);

/** packets_add() - write a packet, whose uuids and sequence are numbered within this trace alone */
void packets_add(struct packets *packets, struct output *out, Perfetto__TracePacket *packet);

/** packets_flush() - write the remaining packets */
void packets_flush(struct packets *packets, struct output *out);

#endif /* SIFIVE_TRACE_PACKETS_H */

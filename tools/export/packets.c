// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See packets.h. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "hash.h"
#include "packets.h"

/*
 * The exporter's uuids are below 1 << UUID_BITS. Without their two highest bits, its sequences are
 * below 1 << SEQUENCE_BITS, unless a trace has very many threads.
 */
#define UUID_BITS	36
#define SEQUENCE_BITS	16
#define SEQUENCE_MASK	0x1fffu

static uint64_t hash_optional(uint64_t hash, const char *text)
{
	return text ? hash_bytes(hash, text, strlen(text) + 1) : hash_bytes(hash, "", 1);
}

void packets_separate(struct packets *packets, const struct meta *meta)
{
	uint64_t hash = 0xcbf29ce484222325u;

	hash = hash_optional(hash, meta->host);
	hash = hash_optional(hash, meta->board);
	hash = hash_optional(hash, meta->exe);
	if (meta->threads)
		hash = hash_bytes(hash, &meta->thread->pid, sizeof(meta->thread->pid));
	hash = hash_bytes(hash, &meta->utc.time, sizeof(meta->utc.time));
	hash = hash_bytes(hash, &meta->utc.ns, sizeof(meta->utc.ns));
	/* Every bit of the result depends on all bytes. */
	hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
	hash ^= hash >> 32;
	packets->machine = (uint32_t)hash | 1;
	packets->tracks = hash << UUID_BITS;
	packets->sequences = ((uint32_t)hash & SEQUENCE_MASK) << SEQUENCE_BITS;
}

static void init_trace(Perfetto__Trace *trace, Perfetto__TracePacket **packet)
{
	perfetto__trace__init(trace);
	trace->packet = packet;
	trace->n_packet = 1;
}

/* The result fits, because incompressible data grows by less than PACKETS_SPARE. */
void packets_flush(struct packets *packets, struct output *out)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT, *only = &packet;
	uLongf length = sizeof(packets->zipped);
	Perfetto__Trace trace;

	if (!packets->used)
		return;
	if (compress2(packets->zipped, &length, packets->packet, packets->used,
		      Z_BEST_SPEED) != Z_OK)
		abort();
	packet.has_compressed_packets = true;
	packet.compressed_packets.data = packets->zipped;
	packet.compressed_packets.len = length;
	init_trace(&trace, &only);
	put_bytes(out, packets->whole, perfetto__trace__pack(&trace, packets->whole));
	packets->used = 0;
}

Perfetto__TracePacket packets_new(uint32_t sequence)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.has_sequence = true;
	packet.sequence = sequence;
	packet.has_sequence_flags = true;
	packet.sequence_flags = PACKETS_NEEDED;
	return packet;
}

/* Move the ids in a packet to the range of this trace. */
static void move_ids(const struct packets *packets, Perfetto__TracePacket *packet)
{
	packet->has_machine_id = true;
	packet->machine_id = packets->machine;
	packet->sequence += packets->sequences;
	if (packet->track_event)
		packet->track_event->track_uuid += packets->tracks;
	if (packet->defaults)
		packet->defaults->event_defaults->track_uuid += packets->tracks;
	if (packet->track_descriptor) {
		packet->track_descriptor->uuid += packets->tracks;
		packet->track_descriptor->parent_uuid += packets->tracks;
	}
}

void packets_add(struct packets *packets, struct output *out, Perfetto__TracePacket *packet)
{
	Perfetto__Trace trace;

	if (packets->machine)
		move_ids(packets, packet);
	init_trace(&trace, &packet);
	if (packets->used + perfetto__trace__get_packed_size(&trace) > PACKETS_BYTES)
		packets_flush(packets, out);
	packets->used += perfetto__trace__pack(&trace, packets->packet + packets->used);
}

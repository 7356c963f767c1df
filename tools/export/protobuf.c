// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Compresses messages: see protobuf.h. */
#include <stdlib.h>
#include <zlib.h>

#include "../command.h"
#include "protobuf.h"

#define ROOM		(64u << 10)
/* Parameter of deflateInit2(): the largest window, and the gzip format. */
#define GZIP_WINDOW	(15 + 16)

/* @buffer comes first, because protobuf-c passes it to append(). */
struct protobuf {
	ProtobufCBuffer	buffer;
	z_stream	zip;
	struct output	*out;
	uint8_t		room[ROOM];
};

/* The output buffer always has room, so deflate() cannot fail. */
static void compress_part(struct protobuf *protobuf, int flush)
{
	do {
		protobuf->zip.next_out = protobuf->room;
		protobuf->zip.avail_out = ROOM;
		deflate(&protobuf->zip, flush);
		put_bytes(protobuf->out, protobuf->room,
			  ROOM - protobuf->zip.avail_out);
	} while (!protobuf->zip.avail_out);
}

static void append(ProtobufCBuffer *buffer, size_t length, const uint8_t *bytes)
{
	struct protobuf *protobuf = (struct protobuf *)buffer;

	protobuf->zip.next_in = (uint8_t *)bytes;
	protobuf->zip.avail_in = (unsigned int)length;
	compress_part(protobuf, Z_NO_FLUSH);
}

struct protobuf *protobuf_gzip(struct output *out)
{
	struct protobuf *protobuf = calloc(1, sizeof(*protobuf));

	if (!protobuf ||
	    deflateInit2(&protobuf->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
			 MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		report("out of memory");
		free(protobuf);
		return NULL;
	}
	protobuf->buffer.append = append;
	protobuf->out = out;
	return protobuf;
}

void protobuf_put(struct protobuf *protobuf, const ProtobufCMessage *message)
{
	protobuf_c_message_pack_to_buffer(message, &protobuf->buffer);
}

void protobuf_end(struct protobuf *protobuf)
{
	if (!protobuf)
		return;
	protobuf->zip.avail_in = 0;
	compress_part(protobuf, Z_FINISH);
	deflateEnd(&protobuf->zip);
	free(protobuf);
}

int64_t protobuf_number(uint64_t count)
{
	return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Serialises protocol buffer messages one after another, and compresses them. A message can be
 * written in parts: several messages, each with some of the fields, are equivalent to one message
 * with all fields.
 */
#ifndef SIFIVE_TRACE_PROTOBUF_H
#define SIFIVE_TRACE_PROTOBUF_H

#include <protobuf-c/protobuf-c.h>

#include "../output.h"

struct protobuf;

/**
 * protobuf_gzip() - write messages as a gzip file
 * @out:	the output
 *
 * Return: the writer, or NULL after printing an error if out of memory.
 */
struct protobuf *protobuf_gzip(struct output *out);

/** protobuf_put() - write a message */
void protobuf_put(struct protobuf *protobuf, const ProtobufCMessage *message);

/** protobuf_end() - write the remaining data and free the writer; NULL is allowed */
void protobuf_end(struct protobuf *protobuf);

/** protobuf_number() - return a count, limited to the range of a signed field */
int64_t protobuf_number(uint64_t count);

#endif /* SIFIVE_TRACE_PROTOBUF_H */

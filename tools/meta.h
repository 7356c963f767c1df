/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The side-car file of a trace, TRACE.meta: what its bytes do not say.
 * A JSON object; all keys are optional, unknown ones are ignored.
 *
 *	srcbits		number: width of the SRC field
 *	ts_width	number: bits of a timestamp
 *	ts_scheme	"xor" or "delta"
 *	wrapped		boolean: a ring buffer, begins within a message
 */
#ifndef SIFIVE_TRACE_META_H
#define SIFIVE_TRACE_META_H

/**
 * struct meta - what the side-car file says; -1 where it does not
 * @src_bits:	width of the SRC field
 * @ts_width:	bits of a timestamp
 * @ts_scheme:	enum nexus_ts_scheme
 * @wrapped:	the trace begins within a message: 0 or 1
 */
struct meta {
	int	src_bits;
	int	ts_width;
	int	ts_scheme;
	int	wrapped;
};

/**
 * meta_read() - read the side-car file of a trace
 * @trace:	path of the trace; "-" has none
 * @meta:	filled, also when there is no file
 *
 * A file that cannot be read or is not JSON is reported and taken for none.
 */
void meta_read(const char *trace, struct meta *meta);

#endif /* SIFIVE_TRACE_META_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Selects the records of decode --time. */
#ifndef SIFIVE_TRACE_PART_H
#define SIFIVE_TRACE_PART_H

#include "format.h"
#include "range.h"

/**
 * struct part - passes the items in a time range to a format
 * @ops:	the callbacks for trace_run()
 * @format:	the format
 * @context:	the format's context
 * @scope:	the range
 * @paused:	called with @pausing when the trace pauses, before the format's callback; may be
 *		set after part_begin()
 */
struct part {
	struct trace_ops	ops;
	const struct format	*format;
	void			*context;
	struct range_scope	scope;
	void			(*paused)(void *pausing);
	void			*pausing;
};

/**
 * part_begin() - start the selection
 * @part:	the result
 * @format:	the format: @ops receive the items in the range, and @outside all other items
 * @context:	the format's context
 * @scope:	the range
 */
void part_begin(struct part *part, const struct format *format, void *context,
		struct range_scope scope);

#endif /* SIFIVE_TRACE_PART_H */

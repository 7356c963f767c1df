/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Decodes context-switch records, which Documentation/trace-format.rst describes. */
#ifndef SIFIVE_TRACE_SWITCHES_H
#define SIFIVE_TRACE_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/sifive_trace_format.h>

#include "meta.h"
#include "perfrec/perfrec.h"

/**
 * struct trace_switch - the code that a hart runs from this point on
 * @src:	source of the record
 * @kind:	SIFIVE_TRACE_SWITCH_*. SIFIVE_TRACE_SWITCH_BEGIN shows that records may be missing
 *		since the source's previous message. At SIFIVE_TRACE_SWITCH_WOKEN, the hart's
 *		current thread wakes @thread and continues
 * @thread:	number of the system call for SIFIVE_TRACE_SWITCH_CALL, or its result for
 *		SIFIVE_TRACE_SWITCH_RETURN; otherwise the thread's id, or 0 for
 *		SIFIVE_TRACE_SWITCH_BEGIN, and for SIFIVE_TRACE_SWITCH_END if no recorded thread is
 *		running
 * @pc, @page:	the addresses of a SIFIVE_TRACE_SWITCH_FAULT
 * @major:	set if @kind is SIFIVE_TRACE_SWITCH_FAULT and the fault is major
 * @stamp:	the record's last store, or the item that shows the loss
 */
struct trace_switch {
	uint8_t			src;
	uint8_t			kind;
	bool			major;
	uint32_t		thread;
	uint64_t		pc;
	uint64_t		page;
	struct perfrec_stamp	stamp;
};

/* Number of words of a SIFIVE_TRACE_SWITCH_FAULT before its last word. */
#define SWITCHES_WORDS	2

/**
 * struct switches_begun - a source's unfinished record
 * @kind:	kind of the record, or 0 if there is none
 * @words:	number of elements of @word
 */
struct switches_begun {
	uint8_t		kind;
	uint8_t		words;
	uint32_t	word[SWITCHES_WORDS];
};

/**
 * struct switches - decoder for context-switch records
 * @channel:	channel of the records, or -1 if there are none
 * @records:	number of complete records, without marks
 * @losses:	number of times that stores were not part of a record
 * @give:	called for each record, with @context; if NULL, records are only counted
 */
struct switches {
	int		channel;
	uint64_t	records;
	uint64_t	losses;
	void		(*give)(void *context, const struct trace_switch *record);
	void		*context;
	/* Private. */
	struct switches_begun begun[PERFREC_SOURCES];
};

/** switches_init() - start decoding a trace, which may be a piece of a recording */
void switches_init(struct switches *switches, const struct meta *meta);

/** switches_push() - decode a store, if it is on the channel; returns 0 */
int switches_push(struct switches *switches, const struct store *store);

/**
 * switches_lost() - record that stores from @src, or from all sources if @src is -1, are missing
 */
void switches_lost(struct switches *switches, int src);

/** switches_is_call() - return whether a kind is a system call or its return */
static inline bool switches_is_call(unsigned int kind)
{
	return kind == SIFIVE_TRACE_SWITCH_CALL || kind == SIFIVE_TRACE_SWITCH_RETURN;
}

/** switches_name() - return a kind as text */
const char *switches_name(unsigned int kind);

#endif /* SIFIVE_TRACE_SWITCHES_H */

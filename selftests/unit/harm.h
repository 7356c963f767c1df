/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Damages a trace in a random place. */
#ifndef SELFTESTS_UNIT_HARM_H
#define SELFTESTS_UNIT_HARM_H

#include "gen_mixed.h"

enum harm_kind {
	HARM_NONE,	/* undamaged */
	HARM_FLIP,	/* one bit of any byte */
	HARM_VALUE,	/* one bit of a store's value */
	HARM_TIME,	/* one bit of a timestamp */
	HARM_TAG,	/* one bit of the type, source or tag */
	HARM_ENDS,	/* one of the two bits that show where fields and messages end */
	HARM_DROP,	/* a byte is missing */
	HARM_TWICE,	/* a byte is repeated */
	HARM_SWAP,	/* two bytes are swapped */
	HARM_ZEROS,	/* some bytes are 0 */
	HARM_ONES,	/* some bytes are 0xff */
	HARM_RANDOM,	/* some bytes are random */
	HARM_REPEAT,	/* a block is repeated */
	HARM_CUT,	/* a block is missing */
	HARM_BOGUS,	/* two well-formed messages that no encoder sent */
};

/**
 * struct harm - damage: @put bytes replaced @removed bytes at @at
 * @kind:	kind of damage
 * @data, @length: the damaged trace
 */
struct harm {
	enum harm_kind	kind;
	uint8_t		*data;
	size_t		length;
	size_t		at;
	size_t		removed;
	size_t		put;
};

/**
 * harm_describe() - describe any trace in the form that harm_make() expects
 * @mixed:	set to a trace without records that uses the bytes of @gen. The caller frees only
 *		@mixed->message
 */
void harm_describe(struct mixed *mixed, const struct gen *gen, unsigned int sources);

/** harm_name() - return the name of a kind of damage */
const char *harm_name(enum harm_kind kind);

/** harm_make() - make a damaged copy of a trace */
void harm_make(struct harm *harm, const struct mixed *mixed, enum harm_kind kind, uint64_t *seed);

/** harm_is_plain() - return whether only values and timestamps of messages are damaged */
bool harm_is_plain(const struct harm *harm, const struct mixed *mixed);

/* Not an offset in the undamaged trace. Its highest bit is free for callers to use. */
#define HARM_NOWHERE	(UINT64_MAX / 4)

/** harm_original() - return the offset in the undamaged trace, or HARM_NOWHERE */
uint64_t harm_original(const struct harm *harm, uint64_t offset);

void harm_free(struct harm *harm);

#endif /* SELFTESTS_UNIT_HARM_H */

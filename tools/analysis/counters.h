/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The counters of a whole trace. Streams may record different ones: a counter
 * is known by its name, and has a column of its own.
 */
#ifndef SIFIVE_TRACE_COUNTERS_H
#define SIFIVE_TRACE_COUNTERS_H

#include <stdbool.h>

#include "meta.h"
#include "perfrec/perfrec.h"

/* At least as many as one record has. */
#define COUNTERS_MAX	64
#define COUNTERS_NONE	0xff

struct counters {
	const struct meta	*meta;
	unsigned int		count;
	char			name[COUNTERS_MAX][PERFREC_NAME_SIZE];
};

/**
 * counters_name() - name of a record's counter
 * @counters:	set of counters; its side-car file may have the user's word
 * @header:	the record's header, NULL for none
 * @i:		index in the record
 * @name:	filled with PERFREC_NAME_SIZE bytes
 */
void counters_name(const struct counters *counters,
		   const struct perfrec_header *header, unsigned int i,
		   char *name);

/**
 * counters_assign() - find or make a column for each counter of a record
 * @header:	the record's header, NULL for none
 * @count:	counters it has
 * @column:	filled with @count columns; COUNTERS_NONE for each beyond the
 *		last that can be had
 */
void counters_assign(struct counters *counters,
		     const struct perfrec_header *header, unsigned int count,
		     uint8_t *column);

#endif /* SIFIVE_TRACE_COUNTERS_H */

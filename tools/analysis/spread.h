/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Computes the minimum, maximum, mean and quantiles of each function's call times. */
#ifndef SIFIVE_TRACE_SPREAD_H
#define SIFIVE_TRACE_SPREAD_H

#include <stddef.h>
#include <stdint.h>

/* The relative error of a quantile is at most 1 / SPREAD_PART. */
#define SPREAD_PART	512

struct spread;

/**
 * struct spreads - the distributions of a profile's rows
 * @of:		distributions by row, or NULL if no call has a time
 * @rows:	length of @of
 * @bytes:	memory used by the distributions, at most SPREAD_BYTES
 * @full:	some calls are missing for lack of memory
 */
struct spreads {
	struct spread	**of;
	size_t		rows;
	size_t		bytes;
	int		full;
};

#define SPREAD_BYTES	(64u << 20)

/** spread_add() - add a call that took @ticks to a row */
void spread_add(struct spreads *spreads, size_t row, uint64_t ticks);

/** spread_known() - return whether a row has a call with a time */
int spread_known(const struct spreads *spreads, size_t row);

/** spread_least() - return the time of a row's shortest call, or 0 if no call has a time */
uint64_t spread_least(const struct spreads *spreads, size_t row);

/** spread_most() - return the time of a row's longest call */
uint64_t spread_most(const struct spreads *spreads, size_t row);

/** spread_mean() - return the mean time in units of 1/@parts tick, rounded */
uint64_t spread_mean(const struct spreads *spreads, size_t row, unsigned int parts);

/** spread_quantile() - return the time that @percent percent of the calls do not exceed */
uint64_t spread_quantile(const struct spreads *spreads, size_t row, unsigned int percent);

/** spreads_free() - free all distributions */
void spreads_free(struct spreads *spreads);

#endif /* SIFIVE_TRACE_SPREAD_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tests whether chance explains the difference between the runs of two programs: the Mann-Whitney
 * test.
 */
#ifndef SIFIVE_TRACE_RANKS_H
#define SIFIVE_TRACE_RANKS_H

#include <stddef.h>

/* The test is exact with at most RANKS_EXACT values in all, or RANKS_FEW on the smaller side. */
#define RANKS_EXACT	40
#define RANKS_FEW	8
/*
 * Minimum confidence with which a function is reported as changed, and minimum probability that no
 * unchanged function is reported.
 */
#define RANKS_CONFIDENCE	0.99
#define RANKS_SAME	2

/**
 * ranks_p() - return the probability that chance alone causes a difference at least as large as
 * that between two sides
 * @a:		the @as values of one side, at least one
 * @b:		the @bs values of the other side, at least one
 *
 * The test is two-sided and independent of the distribution of the values. Return RANKS_SAME if all
 * values are equal, or -1 if out of memory.
 */
double ranks_p(const double *a, unsigned int as, const double *b, unsigned int bs);

/**
 * ranks_holm() - correct probabilities for the number of tests, with Holm's method
 * @p:		pointers to the @count probabilities, which are sorted and changed
 *
 * If no two sides really differ, the probability that any corrected value is below X is at most X.
 */
void ranks_holm(double **p, size_t count);

/** ranks_median() - return the median of @count values, which are sorted; @count is not 0 */
double ranks_median(double *value, unsigned int count);

#endif /* SIFIVE_TRACE_RANKS_H */

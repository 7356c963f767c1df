// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests whether chance explains the difference between the runs of two programs: see ranks.h. */
#include <math.h>
#include <stdlib.h>

#include "ranks.h"

/* All ranks are doubled, because equal values share the mean of their ranks. */
struct ranked {
	double		value;
	unsigned int	rank;
	int		first;		/* belongs to the first side */
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *one = a, *two = b;

	return (one->value > two->value) - (one->value < two->value);
}

/* Set the ranks of sorted values. Return the sum of t^3 - t over all runs of t equal values. */
static double set_ranks(struct ranked *ranked, unsigned int count)
{
	unsigned int first, end, i;
	double ties = 0;

	for (first = 0; first < count; first = end) {
		end = first + 1;
		while (end < count && ranked[end].value == ranked[first].value)
			end++;
		for (i = first; i < end; i++)
			ranked[i].rank = first + end + 1;
		ties += pow(end - first, 3) - (end - first);
	}
	return ties;
}

/*
 * Of all choices of @as values, return the share whose rank sum differs from the mean rank sum by
 * at least @distance, or -1 if out of memory.
 */
static double exact(const struct ranked *ranked, unsigned int count, unsigned int as, long distance)
{
	const long mean = (long)as * (count + 1), most = 2 * (long)as * count;
	double *ways = calloc((size_t)(as + 1) * (size_t)(most + 1), sizeof(*ways));
	double all = 0, far = 0;
	unsigned int i, k;
	long sum;

	if (!ways)
		return -1;
	*ways = 1;
	for (i = 0; i < count; i++)
		/* At most i + 1 of the first i + 1 values can be chosen, so later rows are 0. */
		for (k = as < i + 1 ? as : i + 1; k; k--)
			for (sum = most; sum >= (long)ranked[i].rank; sum--)
				ways[k * (most + 1) + sum] +=
					ways[(k - 1) * (most + 1) + sum - ranked[i].rank];
	for (sum = 0; sum <= most; sum++) {
		all += ways[as * (most + 1) + sum];
		if (labs(sum - mean) >= distance)
			far += ways[as * (most + 1) + sum];
	}
	free(ways);
	return far / all;
}

/*
 * Return the normal approximation, with corrections for ties and for continuity. The result is at
 * least the probability of one particular choice of @as values.
 */
static double approximate(unsigned int count, unsigned int as, double ties, long distance)
{
	const double n = count, bs = count - as;
	double variance = as * bs / 12 * (n + 1 - ties / (n * (n - 1)));
	double away = (double)distance / 2 - 0.5;
	double one = exp(lgamma(as + 1) + lgamma(bs + 1) - lgamma(n + 1));

	return away <= 0 || variance <= 0 ? 1 : fmax(one, erfc(away / sqrt(2 * variance)));
}

double ranks_p(const double *a, unsigned int as, const double *b, unsigned int bs)
{
	const unsigned int count = as + bs, fewer = as < bs ? as : bs;
	struct ranked *ranked = calloc(count, sizeof(*ranked));
	double ties, p = 1;
	unsigned int i;
	long sum = 0;

	if (!ranked)
		return -1;
	for (i = 0; i < count; i++)
		ranked[i] = (struct ranked){ .value = i < as ? a[i] : b[i - as], .first = i < as };
	qsort(ranked, count, sizeof(*ranked), by_value);
	ties = set_ranks(ranked, count);
	for (i = 0; i < count; i++)
		sum += ranked[i].first ? ranked[i].rank : 0;
	/* Testing one side is sufficient: both rank sums differ equally from their means. */
	sum = labs(sum - (long)as * (count + 1));
	if (ranked[0].value == ranked[count - 1].value)
		p = RANKS_SAME;
	else if (count <= RANKS_EXACT || fewer <= RANKS_FEW)
		p = exact(ranked, count, fewer, sum);
	else
		p = approximate(count, fewer, ties, sum);
	free(ranked);
	return p;
}

static int by_probability(const void *a, const void *b)
{
	const double *one = *(double *const *)a, *two = *(double *const *)b;

	return (*one > *two) - (*one < *two);
}

void ranks_holm(double **p, size_t count)
{
	double least = 0;
	size_t i;

	qsort(p, count, sizeof(*p), by_probability);
	for (i = 0; i < count; i++) {
		*p[i] = fmin(1, fmax(least, *p[i] * (double)(count - i)));
		least = *p[i];
	}
}

static int by_number(const void *a, const void *b)
{
	const double *one = a, *two = b;

	return (*one > *two) - (*one < *two);
}

double ranks_median(double *value, unsigned int count)
{
	qsort(value, count, sizeof(*value), by_number);
	return (value[(count - 1) / 2] + value[count / 2]) / 2;
}

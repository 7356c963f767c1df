/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Compares numbers, for qsort() and bsearch(). */
#ifndef SIFIVE_TRACE_COMPARE_H
#define SIFIVE_TRACE_COMPARE_H

#include <stdint.h>

/**
 * compare_numbers() - return a number less than, equal to or greater than 0 if @one is less than,
 * equal to or greater than @two
 */
static inline int compare_numbers(uint64_t one, uint64_t two)
{
	return (one > two) - (one < two);
}

#endif /* SIFIVE_TRACE_COMPARE_H */

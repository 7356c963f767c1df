/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Counts the page faults in each function. */
#ifndef SIFIVE_TRACE_FAULTS_H
#define SIFIVE_TRACE_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct fault_counts - the faults of one function
 * @faults:	number of faults
 * @major:	number of major faults among them
 */
struct fault_counts {
	uint64_t	faults;
	uint64_t	major;
};

/**
 * struct faults - the faults of all functions; empty if zeroed
 * @of:		@count entries, indexed by function number, or NULL if there was no fault
 */
struct faults {
	struct fault_counts	*of;
	uint32_t		count;
};

/**
 * faults_add() - count a fault of a function
 * @function:	number of the function, less than FUNCTIONS_MAX
 *
 * Return: false if out of memory.
 */
bool faults_add(struct faults *faults, uint32_t function, bool major);

void faults_free(struct faults *faults);

#endif /* SIFIVE_TRACE_FAULTS_H */

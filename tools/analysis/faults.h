/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How many page faults each function had. */
#ifndef SIFIVE_TRACE_FAULTS_H
#define SIFIVE_TRACE_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct fault_counts - the faults of one function
 * @faults:	how many
 * @major:	major ones among them
 */
struct fault_counts {
	uint64_t	faults;
	uint64_t	major;
};

/**
 * struct faults - those of all functions; zeroed: none
 * @of:		by number of the function, @count of them; NULL: there was none
 */
struct faults {
	struct fault_counts	*of;
	uint32_t		count;
};

/** faults_add() - a function, which is less than FUNCTIONS_MAX, had a fault; false: no memory */
bool faults_add(struct faults *faults, uint32_t function, bool major);

void faults_free(struct faults *faults);

#endif /* SIFIVE_TRACE_FAULTS_H */

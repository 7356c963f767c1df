/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds instructions that the kernel or firmware executes for a program: probed instructions,
 * misaligned accesses, and reads of inaccessible counters. No message reports such an instruction:
 * the flow stops before it and continues after it.
 */
#ifndef SIFIVE_TRACE_STEPS_H
#define SIFIVE_TRACE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "flow.h"

struct steps;

/** steps_new() - create a state, which @code must outlive; return NULL if out of memory */
struct steps *steps_new(struct code *code);

/** steps_free() - free the state; NULL is allowed */
void steps_free(struct steps *steps);

/** steps_owner() - record that @thread (0 if unnamed) runs on a source from here on */
void steps_owner(struct steps *steps, unsigned int src, uint32_t thread);

/**
 * steps_stop() - record that the flow stops before an instruction
 * @trap:	the reason is an exception or an interrupt
 * @to:		set to the address at which the thread continued, if it continued on a source that
 *		was processed earlier
 *
 * Return: like steps_resume().
 */
const struct block *steps_stop(struct steps *steps, const struct flow_place *place,
			       uint64_t address, bool trap, uint64_t *to);

/**
 * steps_resume() - record that the flow continues
 *
 * Return: the block that begins with the instruction that was executed in between, or NULL.
 */
const struct block *steps_resume(struct steps *steps, const struct flow_place *place,
				 uint64_t address);

/**
 * steps_unknown() - return the number of indirect jumps that the kernel or firmware may have
 * executed
 */
uint64_t steps_unknown(const struct steps *steps);

#endif /* SIFIVE_TRACE_STEPS_H */

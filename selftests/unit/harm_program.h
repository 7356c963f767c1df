/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Generates random programs whose traces are then damaged. */
#ifndef SELFTESTS_UNIT_HARM_PROGRAM_H
#define SELFTESTS_UNIT_HARM_PROGRAM_H

#include "gen_program.h"

/**
 * harm_program_make() - run a random program, and write trace.rtd.meta
 * @program:	set to the program, which has ended; its records are kept in @program->gen
 * @ended:	called with @context when a call ends, or NULL
 */
void harm_program_make(struct program *program, uint64_t *seed,
		       void (*ended)(void *context, const struct program_thread *thread,
				     const struct program_frame *frame), void *context);

#endif /* SELFTESTS_UNIT_HARM_PROGRAM_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Generates random RISC-V programs, random runs of them, and the messages of an encoder that traces
 * the runs. The generator knows the instructions that it generates, and shares no code with the
 * reader.
 */
#ifndef SELFTESTS_UNIT_FLOW_PROGRAM_H
#define SELFTESTS_UNIT_FLOW_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "gen.h"

#define PROGRAM_BASE		0x10000
#define PROGRAM_HALFWORDS	8192
#define PROGRAM_SYNCS		4096
/* Marks missing instructions in the run's list of addresses. */
#define PROGRAM_GAP		1

enum act {
	ACT_NONE,	/* no instruction begins here */
	ACT_PLAIN,
	ACT_BRANCH,
	ACT_JUMP,
	ACT_CALL,
	ACT_JUMP_TO,	/* indirect */
	ACT_CALL_TO,
	ACT_RETURN,
	ACT_SWAP,
	ACT_ECALL,
	ACT_MRET,
};

/**
 * struct program - a program, and a run of it
 * @code:	halfwords of the program, starting at PROGRAM_BASE
 * @halfwords:	number of halfwords
 * @act, @size, @target: action, size and target of the instruction that begins at each halfword
 * @function:	index of each function's first halfword; the last function handles traps
 * @pc:		addresses of the instructions that the run executed
 * @sync, @synced: offset of each Sync message of the run, and the number of addresses before it
 */
struct program {
	uint16_t	code[PROGRAM_HALFWORDS];
	unsigned int	halfwords;
	uint8_t		act[PROGRAM_HALFWORDS];
	uint8_t		size[PROGRAM_HALFWORDS];
	uint32_t	target[PROGRAM_HALFWORDS];
	unsigned int	function[32];
	unsigned int	functions;
	uint64_t	*pc;
	size_t		pcs;
	size_t		room;
	size_t		sync[PROGRAM_SYNCS];
	size_t		synced[PROGRAM_SYNCS];
	unsigned int	syncs;
};

/**
 * struct tracer - options for tracing a run
 * @btm:	branches are sent as messages, not as histories
 * @implicit:	maximum depth of calls whose returns need no message, or 0 if all returns need one
 * @version0:	repeated histories are reported as counts of branches, not with RCODE 2
 * @repeats:	repeated branches and histories are counted
 * @hist_bits:	number of outcomes in a history
 * @icnt_max:	maximum number of halfwords that the counter holds
 * @sync:	number of messages from one Sync message to the next, or 0 if none
 * @traps:	exceptions and interrupts occur
 * @stops:	tracing is sometimes off
 * @overflows:	messages are sometimes lost
 * @strange:	functions sometimes do not return to the instruction after their call
 * @src:	source
 * @between:	called with @context before each instruction, to add other messages; may be NULL.
 *		@described: number of executed instructions that the messages describe
 */
struct tracer {
	bool		btm;
	unsigned int	implicit;
	bool		version0;
	bool		repeats;
	unsigned int	hist_bits;
	unsigned int	icnt_max;
	unsigned int	sync;
	bool		traps;
	bool		stops;
	bool		overflows;
	bool		strange;
	unsigned int	src;
	void		(*between)(void *context, size_t described);
	void		*context;
};

/** program_make() - generate a random program */
void program_make(struct program *program, uint64_t *seed);

/** program_write() - write the program as an ELF file; ends the test's process on failure */
void program_write(const struct program *program, const char *path);

/** program_run() - run the program for @steps instructions, and append the messages to @gen */
void program_run(struct program *program, const struct tracer *tracer, struct gen *gen,
		 size_t steps, uint64_t *seed);

/** program_free() - free and empty the list of addresses */
void program_free(struct program *program);

#endif /* SELFTESTS_UNIT_FLOW_PROGRAM_H */

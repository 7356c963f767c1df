// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Random programs and the encoder that traces them: see flow_program.h. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow_program.h"

static unsigned int below(uint64_t *seed, unsigned int limit)
{
	return (unsigned int)(gen_random(seed) % limit);
}

/* ---- the program ------------------------------------------------------- */

static void put(struct program *program, unsigned int at, uint64_t word)
{
	unsigned int i;

	for (i = 0; i < program->size[at]; i++)
		program->code[at + i] = (uint16_t)(word >> 16 * i);
}

/* Return bit @from of @value, moved to bit @to. */
static uint32_t bit(uint32_t value, unsigned int from, unsigned int to)
{
	return (value >> from & 1) << to;
}

static uint32_t scatter(uint32_t value, const uint8_t (*places)[2], unsigned int count)
{
	uint32_t word = 0;

	while (count--)
		word |= bit(value, places[count][0], places[count][1]);
	return word;
}

#define SCATTER(value, places) scatter(value, places, sizeof(places) / sizeof((places)[0]))

/*
 * How instructions encode offsets: a bit of the offset, and the instruction bit that contains its
 * value.
 */
static const uint8_t b_places[][2] = {
	{ 12, 31 }, { 10, 30 }, { 9, 29 }, { 8, 28 }, { 7, 27 }, { 6, 26 }, { 5, 25 },
	{ 4, 11 }, { 3, 10 }, { 2, 9 }, { 1, 8 }, { 11, 7 },
};

static const uint8_t j_places[][2] = {
	{ 20, 31 }, { 10, 30 }, { 9, 29 }, { 8, 28 }, { 7, 27 }, { 6, 26 }, { 5, 25 },
	{ 4, 24 }, { 3, 23 }, { 2, 22 }, { 1, 21 }, { 11, 20 }, { 19, 19 }, { 18, 18 },
	{ 17, 17 }, { 16, 16 }, { 15, 15 }, { 14, 14 }, { 13, 13 }, { 12, 12 },
};

static const uint8_t cb_places[][2] = {
	{ 8, 12 }, { 4, 11 }, { 3, 10 }, { 7, 6 }, { 6, 5 }, { 2, 4 }, { 1, 3 }, { 5, 2 },
};

static const uint8_t cj_places[][2] = {
	{ 11, 12 }, { 4, 11 }, { 9, 10 }, { 8, 9 }, { 10, 8 }, { 6, 7 }, { 7, 6 }, { 3, 5 },
	{ 2, 4 }, { 1, 3 }, { 5, 2 },
};

#define PICK(seed, words) ((words)[below(seed, sizeof(words) / sizeof((words)[0]))])

/* c.nop, c.addi, c.mv, c.add, c.lui, c.addi16sp, c.sdsp, and codes that resemble c.beqz ... */
static const uint16_t plain_16[] = {
	0x0001, 0x0505, 0x852e, 0x952e, 0x6509, 0x6145, 0xe82a, 0x4108, 0x8d0d, 0x47a5,
};

/*
 * addi, lui, auipc, ld, sd, fence, csrr, amoadd, fadd, and codes that resemble jalr and branches
 * ...
 */
static const uint32_t plain_32[] = {
	0x00150513, 0x000127b7, 0x00000797, 0x0007b503, 0x00a7b023, 0x0ff0000f, 0xc0002573,
	0x00b6352f, 0x02b57553, 0x00052063, 0x00151067, 0x10500073, 0x12000073,
};

static const uint32_t jumps_to[] = { 0x8502, 0x00450067, 0x00050367, 0x000f8067 };
static const uint32_t calls_to[] = { 0x9502, 0x000500e7, 0x000502e7, 0x000080e7 };
static const uint32_t returns[] = { 0x8082, 0x00008067, 0x8282, 0x00028567 };
static const uint32_t swaps[] = { 0x9282, 0x000280e7, 0x000082e7 };

static void put_either(struct program *program, unsigned int at, uint32_t word)
{
	program->size[at] = (word & 3) == 3 ? 2 : 1;
	put(program, at, word);
}

/* Choose the action and length of the instruction at @at; the target is set later. */
static void choose(struct program *program, unsigned int at, uint64_t *seed)
{
	unsigned int dice = below(seed, 100);

	program->act[at] = ACT_PLAIN;
	if (dice < 30) {
		put_either(program, at, PICK(seed, plain_16));
	} else if (dice < 52) {
		put_either(program, at, PICK(seed, plain_32));
	} else if (dice < 54) {
		program->size[at] = 3;
		put(program, at, 0x123456780000ull | 0x1f);
	} else if (dice < 76) {
		program->act[at] = ACT_BRANCH;
		program->size[at] = 1 + below(seed, 2);
	} else if (dice < 81) {
		program->act[at] = ACT_JUMP;
		program->size[at] = 1 + below(seed, 2);
	} else if (dice < 86) {
		program->act[at] = ACT_CALL;
		program->size[at] = 2;
	} else if (dice < 89) {
		program->act[at] = ACT_CALL_TO;
		put_either(program, at, PICK(seed, calls_to));
	} else if (dice < 92) {
		program->act[at] = ACT_JUMP_TO;
		put_either(program, at, PICK(seed, jumps_to));
	} else if (dice < 97) {
		program->act[at] = ACT_RETURN;
		put_either(program, at, PICK(seed, returns));
	} else if (dice < 98) {
		program->act[at] = ACT_SWAP;
		put_either(program, at, PICK(seed, swaps));
	} else {
		program->act[at] = ACT_ECALL;
		put_either(program, at, below(seed, 2) ? 0x00000073 : 0x9002);
	}
}

/* Return a random halfword that is between two others and begins an instruction. */
static unsigned int pick_start(const struct program *program, unsigned int from,
			       unsigned int to, uint64_t *seed)
{
	unsigned int at = from + below(seed, to - from);

	while (program->act[at] == ACT_NONE)
		at--;
	return at;
}

static void aim(struct program *program, unsigned int at, unsigned int from, unsigned int to,
		uint64_t *seed)
{
	unsigned int reach = program->size[at] == 2 ? 1000 : 120;
	uint32_t target, offset;

	if (program->act[at] == ACT_CALL) {
		target = program->function[below(seed, program->functions - 1)];
	} else {
		from = at > from + reach ? at - reach : from;
		to = to > at + reach ? at + reach : to;
		target = pick_start(program, from, to, seed);
	}
	program->target[at] = target;
	offset = 2 * target - 2 * at;
	if (program->act[at] == ACT_BRANCH && program->size[at] == 2)
		put(program, at, 0x00051063 | SCATTER(offset, b_places) |
				 (uint32_t)(below(seed, 2) ? 0x5000 : 0));
	else if (program->act[at] == ACT_BRANCH)
		put(program, at, (below(seed, 2) ? 0xc101 : 0xe101) |
				 SCATTER(offset, cb_places));
	else if (program->act[at] == ACT_JUMP && program->size[at] == 1)
		put(program, at, 0xa001 | SCATTER(offset, cj_places));
	else if (program->act[at] == ACT_JUMP)
		put(program, at, (below(seed, 2) ? 0x06f : 0x36f) |
				 SCATTER(offset, j_places));
	else
		put(program, at, (below(seed, 2) ? 0x0ef : 0x2ef) |
				 SCATTER(offset, j_places));
}

static void make_function(struct program *program, bool handler, uint64_t *seed)
{
	unsigned int count = 8 + below(seed, 50), at = program->halfwords;

	program->function[program->functions++] = at;
	while (count--) {
		choose(program, at, seed);
		/* Exceptions within the handler would nest endlessly. */
		if (handler && program->act[at] == ACT_ECALL) {
			program->act[at] = ACT_PLAIN;
			put_either(program, at, 0x0001);
		}
		at += program->size[at];
	}
	program->act[at] = handler ? ACT_MRET : ACT_RETURN;
	put_either(program, at, handler ? 0x30200073 : 0x8082);
	program->halfwords = at + program->size[at];
}

void program_make(struct program *program, uint64_t *seed)
{
	unsigned int functions = 4 + below(seed, 12), i, at, end;

	memset(program, 0, sizeof(*program));
	for (i = 0; i < functions; i++)
		make_function(program, i == functions - 1, seed);
	for (i = 0; i < functions; i++) {
		end = i + 1 < functions ? program->function[i + 1] : program->halfwords;
		for (at = program->function[i]; at < end; at++)
			if (program->act[at] == ACT_BRANCH || program->act[at] == ACT_JUMP ||
			    program->act[at] == ACT_CALL)
				aim(program, at, program->function[i], end, seed);
	}
}

void program_write(const struct program *program, const char *path)
{
	const size_t bytes = 2 * program->halfwords;
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_RISCV, .e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr), .e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
	};
	Elf64_Phdr segment = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = 0x1000,
		.p_vaddr = PROGRAM_BASE, .p_filesz = bytes, .p_memsz = bytes,
		.p_align = 0x1000,
	};
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(&header, sizeof(header), 1, file) != 1 ||
	    fwrite(&segment, sizeof(segment), 1, file) != 1 ||
	    fseek(file, 0x1000, SEEK_SET) ||
	    fwrite(program->code, bytes, 1, file) != 1 || fclose(file))
		abort();
}

void program_free(struct program *program)
{
	free(program->pc);
	program->pc = NULL;
	program->pcs = 0;
	program->room = 0;
}

/* ---- the encoder ------------------------------------------------------- */

#define ENCODER_CALLS	1023

/**
 * struct encoder - an encoder's state
 * @icnt, @hist: fields I-CNT and HIST of the specification; @hist includes the stop bit
 * @reference:	latest address in a message
 * @called, @calls: stack of return addresses
 * @pattern, @patterns: a full history that can repeat, and its number of repetitions
 * @repeated:	number of the run's addresses that @patterns and @branches describe
 * @branch, @branches: fields of the latest branch message, and number of its pending repeats
 * @until_sync:	number of messages before the next Sync message
 * @described:	number of the run's addresses that messages describe
 */
struct encoder {
	const struct tracer	*tracer;
	struct gen		*gen;
	struct program		*program;
	uint64_t		*seed;
	uint64_t		icnt;
	uint64_t		hist;
	uint64_t		reference;
	uint64_t		called[ENCODER_CALLS];
	unsigned int		calls;
	uint64_t		pattern;
	uint64_t		patterns;
	size_t			repeated;
	uint64_t		branch[4];
	uint64_t		branches;
	unsigned int		until_sync;
	size_t			described;
};

static void send(struct encoder *encoder, unsigned int tcode, const uint8_t *fixed,
		 const uint8_t *bits, const uint64_t *field, unsigned int fields)
{
	gen_message(encoder->gen, tcode, encoder->tracer->src, fixed, bits, field, fields);
	/*
	 * A message that contains only a number of halfwords does not describe which instructions
	 * were executed.
	 */
	if (tcode != 27 || fixed[0])
		encoder->described = tcode == 27 || tcode == 30 ? encoder->repeated :
								  encoder->program->pcs;
}

static void send_resource(struct encoder *encoder, uint8_t rcode, uint64_t data,
			  uint64_t repeat)
{
	const uint64_t field[] = { data, repeat };

	send(encoder, 27, &rcode, (const uint8_t[]){ 4, 0 }, field, rcode == 2 ? 2 : 1);
}

static unsigned int outcomes(uint64_t hist)
{
	return 63 - (unsigned int)__builtin_clzll(hist);
}

/* Send pending repeats. */
static void flush_repeats(struct encoder *encoder)
{
	uint64_t pattern = encoder->pattern, all = (2ull << outcomes(pattern | 1)) - 1;

	if (encoder->branches)
		send(encoder, 30, NULL, NULL, &encoder->branches, 1);
	encoder->branches = 0;
	if (!encoder->patterns)
		return;
	if (encoder->tracer->version0 && (pattern == all || pattern == (all + 1) / 2))
		send_resource(encoder, pattern == all ? 9 : 8,
			      encoder->patterns * outcomes(pattern), 0);
	else if (encoder->patterns > 1 && !encoder->tracer->version0)
		send_resource(encoder, 2, pattern, encoder->patterns);
	else
		while (encoder->patterns--)
			send_resource(encoder, 1, pattern, 0);
	encoder->patterns = 0;
}

static void full_history(struct encoder *encoder)
{
	if (encoder->patterns && encoder->pattern != encoder->hist)
		flush_repeats(encoder);
	encoder->pattern = encoder->hist;
	encoder->patterns++;
	encoder->repeated = encoder->program->pcs;
	encoder->hist = 1;
	if (!encoder->tracer->repeats || encoder->patterns == 1000)
		flush_repeats(encoder);
}

static void forget_branch(struct encoder *encoder)
{
	encoder->branch[0] = 0;
}

/* @tcode: 9, 11, 12 or 29; only 29 has a history. */
static void send_sync(struct encoder *encoder, unsigned int tcode, unsigned int reason,
		      unsigned int btype, uint64_t to)
{
	const uint8_t fixed[] = { (uint8_t)reason, (uint8_t)btype };
	const uint64_t field[] = { encoder->icnt, to >> 1, encoder->hist };
	const uint8_t one[] = { 4, 0 }, two[] = { 4, 2, 0 };

	flush_repeats(encoder);
	if (encoder->program->syncs < PROGRAM_SYNCS) {
		encoder->program->sync[encoder->program->syncs] = encoder->gen->length;
		encoder->program->synced[encoder->program->syncs++] = encoder->program->pcs;
	}
	send(encoder, tcode, fixed, tcode == 9 || tcode == 11 ? one : two, field,
	     tcode == 29 ? 3 : 2);
	encoder->icnt = 0;
	encoder->hist = 1;
	encoder->calls = 0;
	encoder->reference = to;
	encoder->until_sync = encoder->tracer->sync;
	forget_branch(encoder);
}

/* Return whether the next message must include Sync. */
static bool sync_is_due(struct encoder *encoder)
{
	if (!encoder->tracer->sync)
		return false;
	return !encoder->until_sync || !--encoder->until_sync;
}

static void send_direct(struct encoder *encoder, uint64_t to)
{
	const uint64_t branch[] = { 3, encoder->icnt, to, 0 };

	if (sync_is_due(encoder)) {
		send_sync(encoder, 11, 2, 0, to);
		return;
	}
	if (encoder->tracer->repeats && !memcmp(branch, encoder->branch, sizeof(branch))) {
		encoder->branches++;
		encoder->repeated = encoder->program->pcs;
	} else {
		flush_repeats(encoder);
		send(encoder, 3, NULL, NULL, &encoder->icnt, 1);
		memcpy(encoder->branch, branch, sizeof(branch));
	}
	encoder->icnt = 0;
}

static void send_indirect(struct encoder *encoder, unsigned int btype, uint64_t to)
{
	const bool history = !encoder->tracer->btm &&
			     (encoder->hist > 1 || below(encoder->seed, 2));
	const uint64_t branch[] = { history ? 28 : 4, encoder->icnt, to, encoder->hist };
	const uint64_t field[] = { encoder->icnt, (to ^ encoder->reference) >> 1,
				   encoder->hist };
	const uint8_t fixed[] = { (uint8_t)btype };

	if (sync_is_due(encoder)) {
		send_sync(encoder, history ? 29 : 12, 2, btype, to);
		return;
	}
	if (encoder->tracer->repeats && !btype && !encoder->patterns &&
	    !memcmp(branch, encoder->branch, sizeof(branch))) {
		encoder->branches++;
		encoder->repeated = encoder->program->pcs;
	} else {
		flush_repeats(encoder);
		send(encoder, history ? 28 : 4, fixed, (const uint8_t[]){ 2, 0 }, field,
		     history ? 3 : 2);
		memcpy(encoder->branch, branch, sizeof(branch));
		if (btype)
			forget_branch(encoder);
	}
	encoder->reference = to;
	encoder->icnt = 0;
	encoder->hist = 1;
}

static void send_stop(struct encoder *encoder)
{
	const uint8_t fixed[] = { 4, !encoder->tracer->btm };
	const uint64_t field[] = { encoder->icnt, encoder->hist };

	flush_repeats(encoder);
	send(encoder, 33, fixed, (const uint8_t[]){ 4, 2, 0 }, field, 1 + fixed[1]);
	encoder->icnt = 0;
	encoder->hist = 1;
	forget_branch(encoder);
}

/* Send a separate Sync message, between two instructions. */
static void send_between(struct encoder *encoder, unsigned int reason, uint64_t to)
{
	if (encoder->hist > 1)
		send_sync(encoder, 29, reason, 0, to);
	else
		send_sync(encoder, below(encoder->seed, 2) ? 9 : 12, reason, 0, to);
}

/* Return whether a return to @to needs no message. */
static bool count_calls(struct encoder *encoder, unsigned int act, uint64_t next, uint64_t to)
{
	const unsigned int depth = encoder->tracer->implicit;
	bool implicit = false;

	if ((act == ACT_RETURN || act == ACT_SWAP) && encoder->calls)
		implicit = encoder->called[--encoder->calls] == to;
	if (!depth || (act != ACT_CALL && act != ACT_CALL_TO && act != ACT_SWAP))
		return implicit;
	if (encoder->calls == depth) {
		memmove(encoder->called, encoder->called + 1,
			(depth - 1) * sizeof(encoder->called[0]));
		encoder->calls--;
	}
	encoder->called[encoder->calls++] = next;
	return implicit;
}

/*
 * Called when an instruction that ends at @next has retired; the next instruction to run is at @to.
 */
static void retire(struct encoder *encoder, unsigned int act, unsigned int size, bool taken,
		   uint64_t next, uint64_t to)
{
	const bool implicit = count_calls(encoder, act, next, to);

	if (encoder->icnt + size > encoder->tracer->icnt_max) {
		flush_repeats(encoder);
		send_resource(encoder, 0, encoder->icnt, 0);
		encoder->icnt = 0;
		forget_branch(encoder);
	}
	encoder->icnt += size;
	switch (act) {
	case ACT_BRANCH:
		if (encoder->tracer->btm && taken)
			send_direct(encoder, to);
		if (encoder->tracer->btm)
			break;
		encoder->hist = encoder->hist << 1 | taken;
		if (outcomes(encoder->hist) == encoder->tracer->hist_bits)
			full_history(encoder);
		break;
	case ACT_RETURN:
	case ACT_SWAP:
		if (!implicit)
			send_indirect(encoder, 0, to);
		break;
	case ACT_CALL_TO:
	case ACT_JUMP_TO:
	case ACT_MRET:
		send_indirect(encoder, 0, to);
		break;
	}
}

/* ---- the run ----------------------------------------------------------- */

#define STACK	4096
#define TRAPS	64

/* The simulated hart: return addresses of its open calls and of its traps. */
struct processor {
	unsigned int	stack[STACK];
	unsigned int	depth;
	unsigned int	trap[TRAPS];
	unsigned int	traps;
};

static uint64_t address_of(unsigned int halfword)
{
	return PROGRAM_BASE + 2ull * halfword;
}

static void note(struct program *program, uint64_t pc)
{
	if (program->pcs == program->room) {
		program->room = 2 * program->room + 1024;
		program->pc = realloc(program->pc, program->room * sizeof(*program->pc));
		if (!program->pc)
			abort();
	}
	program->pc[program->pcs++] = pc;
}

static void push(struct processor *processor, unsigned int back)
{
	if (processor->depth == STACK) {
		memmove(processor->stack, processor->stack + 1,
			(STACK - 1) * sizeof(processor->stack[0]));
		processor->depth--;
	}
	processor->stack[processor->depth++] = back;
}

/* Execute the instruction at @at; return the index of the next instruction. */
static unsigned int execute(const struct program *program, struct processor *processor,
			    const struct tracer *tracer, unsigned int at, bool taken,
			    uint64_t *seed)
{
	unsigned int next = at + program->size[at], to;
	unsigned int function = program->function[below(seed, program->functions - 1)];

	switch (program->act[at]) {
	case ACT_BRANCH:
		return taken ? program->target[at] : next;
	case ACT_CALL:
		push(processor, next);
		return program->target[at];
	case ACT_JUMP:
		return program->target[at];
	case ACT_CALL_TO:
		push(processor, next);
		return function;
	case ACT_JUMP_TO:
		return pick_start(program, 0, program->function[program->functions - 1],
				  seed);
	case ACT_RETURN:
	case ACT_SWAP:
		to = processor->depth ? processor->stack[--processor->depth] : function;
		if (program->act[at] == ACT_SWAP)
			push(processor, next);
		return tracer->strange && !below(seed, 16) ? function : to;
	case ACT_MRET:
		return processor->traps ? processor->trap[--processor->traps] : function;
	default:
		return next;
	}
}

/* Take a trap before the instruction at @at, or after an ecall. */
static unsigned int trap(struct encoder *encoder, struct processor *processor,
			 unsigned int btype, unsigned int at)
{
	const struct program *program = encoder->program;
	unsigned int handler = program->function[program->functions - 1];

	if (processor->traps == TRAPS) {
		memmove(processor->trap, processor->trap + 1,
			(TRAPS - 1) * sizeof(processor->trap[0]));
		processor->traps--;
	}
	processor->trap[processor->traps++] = at;
	send_indirect(encoder, btype, address_of(handler));
	return handler;
}

/* Lose messages, and with them the instructions that they would have described. */
static void overflow(struct encoder *encoder)
{
	const uint8_t etype = 0, bits[] = { 4, 0 };
	const uint64_t ecode = 4;

	encoder->program->pcs = encoder->described;
	note(encoder->program, PROGRAM_GAP);
	gen_message(encoder->gen, 8, encoder->tracer->src, &etype, bits, &ecode, 1);
	encoder->icnt = 0;
	encoder->hist = 1;
	encoder->patterns = 0;
	encoder->branches = 0;
}

void program_run(struct program *program, const struct tracer *tracer, struct gen *gen,
		 size_t steps, uint64_t *seed)
{
	struct encoder encoder = {
		.tracer = tracer, .gen = gen, .program = program, .seed = seed, .hist = 1,
	};
	struct processor processor = { .depth = 0 };
	unsigned int at = 0, next;
	bool taken, eager = false;

	send_sync(&encoder, 9, 5, 0, address_of(at));
	while (steps--) {
		if (tracer->between)
			tracer->between(tracer->context, encoder.described);
		note(program, address_of(at));
		/* Repeat the same outcome of a branch several times, as loops do. */
		if (!below(seed, 6))
			eager = below(seed, 2);
		taken = below(seed, 8) ? eager : below(seed, 2);
		next = execute(program, &processor, tracer, at, taken, seed);
		retire(&encoder, program->act[at], program->size[at], taken,
		       address_of(at + program->size[at]), address_of(next));
		if (program->act[at] == ACT_ECALL)
			next = trap(&encoder, &processor, 1 + below(seed, 2), next);
		else if (tracer->traps && !below(seed, 100))
			next = trap(&encoder, &processor, 3, next);
		if (tracer->sync && !below(seed, 300))
			send_between(&encoder, 6, address_of(next));
		if (tracer->stops && !below(seed, 500)) {
			send_stop(&encoder);
			send_sync(&encoder, 9, 5, 0, address_of(next));
		}
		if (tracer->overflows && !below(seed, 500)) {
			overflow(&encoder);
			send_sync(&encoder, below(seed, 2) ? 9 : 12, 7, 0, address_of(next));
		}
		at = next;
	}
	send_stop(&encoder);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An assembler, and the writers that it generates. A writer closes the gate, reads the
 * counters in one restartable sequence, writes kind, addresses and counts, and opens
 * the gate. A writer uses only caller-saved registers and no stack.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rseq.h"
#include "section.h"
#include "writer.h"

#ifdef PERF_WRITERS

/* ---- instructions ---------------------------------------------------------- */

/* 32-bit encodings of RV64I and Zicsr instructions, with registers and immediate 0. */
enum {
	LW = 0x2003, LD = 0x3003, LBU = 0x4003, LHU = 0x5003, LWU = 0x6003,
	SB = 0x23, SH = 0x1023, SW = 0x2023, SD = 0x3023,
	ADDI = 0x13, SLLI = 0x1013, XORI = 0x4013, SRLI = 0x5013, ORI = 0x6013,
	ADD = 0x33, SUB = 0x40000033, XOR = 0x4033,
	BEQ = 0x63, BNE = 0x1063, BLT = 0x4063, BLTU = 0x6063,
	LUI = 0x37, AUIPC = 0x17, JAL = 0x6f, JALR = 0x67, CSRRS = 0x2073,
};

enum {
	ZERO, SP = 2, TP = 4, T0, T1, T2, A0 = 10, A1, A2, A3, A4, A5, A6, A7,
	T3 = 28, T4, T5, T6,
};

#define THREAD		T3
#define LANE		A5
#define SCRATCH		A4
#define STIMULUS	A3
#define OFFSETS		A3	/* while counters are read */
#define UPPER		A2	/* an address, after the kind was written */
#define LIMIT		A2	/* after the addresses: larger counts may be wide */
#define VALUE		A1	/* after the addresses: a count from memory */
#define BEFORE		A0	/* after the addresses: pointer to the last counts */
#define NOW		A7	/* pointer to the new counts, if there are many */

static const uint8_t counts[] = { T0, T1, T2, T4, T5, T6, A6, A7 };

#define KEPT	((unsigned int)sizeof(counts))

/* The address bit in which the two arrays of counts differ. */
#define FLIP	((int)sizeof(((struct perf_lane *)0)->count[0]))

_Static_assert(offsetof(struct perf_lane, count) == 0 &&
	       _Alignof(struct perf_lane) == 2 * FLIP, "the two arrays of counts differ in one address bit");

/* Out-of-line code after a writer's end, and the branch to it. */
enum late { TO_CLOSED, TO_ELSEWHERE, TO_GIVEN_UP, TO_SETTLE, WIDE, LONG, SHORT };

struct late_code {
	enum late what;
	uint32_t *from, *back;
	unsigned int value, width;
};

/**
 * struct perf_recipe - parameters that determine a writer's code
 * @self:	offset of perf_self from the thread pointer
 * @area:	offset of the rseq area from the thread pointer, or 0 if it is in the thread's
 *		slot
 * @own:	whether counts are the thread's own
 * @adds:	whether offsets are added: if @own is set, except in Delta, because until the thread
 *		is switched out, differences between CSR values equal those between its own counts
 */
struct perf_recipe {
	struct perf_exits exits;
	long self, area;
	uint32_t mask, type, count;
	bool own, adds, poll, spaced, room;
	uint8_t number[PERF_COUNTER_MAX];
	uint8_t width[PERF_COUNTER_MAX];
};

struct perf_code {
	struct perf_section section[2];
	struct perf_code *next;
	struct perf_recipe recipe;
	struct perf_writers writers;
	uint32_t text[];
};

#define CODE_SIZE	8192u

/* Never freed, because a thread may be running this code. */
static struct perf_code *codes;

struct assembler {
	const struct perf_recipe *recipe;
	struct perf_code *code;
	uint32_t *at;
	struct late_code late[PERF_COUNTER_MAX + 9];
	unsigned int lates;
};

PERF_LOCAL uint32_t *put(struct assembler *a, uint32_t instruction)
{
	*a->at = instruction;
	return a->at++;
}

/* Also encodes loads. */
PERF_LOCAL void put_i(struct assembler *a, uint32_t op, unsigned int to, unsigned int from,
		      long value)
{
	put(a, op | to << 7 | from << 15 | (uint32_t)value << 20);
}

PERF_LOCAL void put_r(struct assembler *a, uint32_t op, unsigned int to, unsigned int left,
		      unsigned int right)
{
	put(a, op | to << 7 | left << 15 | right << 20);
}

PERF_LOCAL void put_store(struct assembler *a, uint32_t op, unsigned int value,
			  unsigned int base, long offset)
{
	const uint32_t bits = (uint32_t)offset;

	put(a, op | (bits & 0x1f) << 7 | base << 15 | value << 20 |
	       (bits >> 5 & 0x7f) << 25);
}

PERF_LOCAL void put_u(struct assembler *a, uint32_t op, unsigned int to, long value)
{
	put(a, op | to << 7 | ((uint32_t)value & 0xfffff000));
}

PERF_LOCAL void aim(uint32_t *branch, const uint32_t *to)
{
	const uint32_t bits = (uint32_t)((const char *)to - (const char *)branch);

	*branch |= (bits >> 11 & 1) << 7 | (bits >> 1 & 0xf) << 8 |
		   (bits >> 5 & 0x3f) << 25 | (bits >> 12 & 1) << 31;
}

PERF_LOCAL uint32_t *put_branch(struct assembler *a, uint32_t op, unsigned int left,
				unsigned int right)
{
	return put(a, op | left << 15 | right << 20);
}

PERF_LOCAL void put_jump(struct assembler *a, const uint32_t *to)
{
	const uint32_t bits = (uint32_t)((const char *)to - (const char *)a->at);

	put(a, JAL | (bits & 0xff000) | (bits >> 11 & 1) << 20 |
	       (bits >> 1 & 0x3ff) << 21 | (bits >> 20 & 1) << 31);
}

/* Return the part of @offset that does not fit in a 12-bit immediate. */
PERF_LOCAL long upper_part(long offset)
{
	return (offset + 0x800) & ~0xfffl;
}

PERF_LOCAL bool fits(long offset)
{
	return !upper_part(offset);
}

/* Load from an address in this page, or compute the address (ADDI). */
PERF_LOCAL void put_place(struct assembler *a, uint32_t op, unsigned int to,
			  const void *place)
{
	const long offset = (const char *)place - (const char *)a->at;

	put_u(a, AUIPC, to, upper_part(offset));
	put_i(a, op, to, to, offset - upper_part(offset));
}

PERF_LOCAL struct late_code *put_late(struct assembler *a, enum late what,
				      uint32_t *from)
{
	struct late_code *late = &a->late[a->lates++];

	*late = (struct late_code) { .what = what, .from = from };
	return late;
}

/* ---- a writer ---------------------------------------------------------------- */

#define THREAD_FIELD(field)	((long)offsetof(struct perf_thread, field))
#define LANE_FIELD(field)	((long)offsetof(struct perf_lane, field))
#define RSEQ_FIELD(field)	((long)offsetof(struct perf_rseq, field))
#define PLACE(index)		(8 * (long)(index))

/* Find the thread, close its gate, and find its lane. */
PERF_LOCAL void put_begin(struct assembler *a)
{
	const long self = a->recipe->self;

	if (fits(self)) {
		put_i(a, LD, THREAD, TP, self);
	} else {
		put_u(a, LUI, THREAD, upper_part(self));
		put_r(a, ADD, THREAD, THREAD, TP);
		put_i(a, LD, THREAD, THREAD, self - upper_part(self));
	}
	put_i(a, LD, SCRATCH, THREAD, THREAD_FIELD(gate));
	put_late(a, TO_CLOSED, put_branch(a, BNE, SCRATCH, THREAD));
	put_store(a, SD, SP, THREAD, THREAD_FIELD(gate));
	put_i(a, LD, LANE, THREAD, THREAD_FIELD(lane));
}

/* Number of counts kept in registers; counts in memory need up to two of these registers. */
PERF_LOCAL unsigned int in_registers_of(const struct perf_recipe *recipe)
{
	if (recipe->count <= KEPT)
		return recipe->count;
	return KEPT - (recipe->type != SIFIVE_TRACE_RECORD_RAW) - recipe->adds;
}

/* Return whether a writer alternates between two arrays. Raw counts need no second array. */
PERF_LOCAL bool flips(const struct perf_recipe *recipe)
{
	return recipe->count > KEPT && recipe->type != SIFIVE_TRACE_RECORD_RAW;
}

/* Read the timestamp. The registers for later counters are free to hold its two halves. */
PERF_LOCAL void put_timestamp(struct assembler *a, unsigned int value)
{
	uint32_t *again;

	put_i(a, LD, SCRATCH, LANE, LANE_FIELD(stream.ts));
	again = a->at;
	put_i(a, LW, value, SCRATCH, 4);
	put_i(a, LWU, counts[2], SCRATCH, 0);
	put_i(a, LW, counts[3], SCRATCH, 4);
	aim(put_branch(a, BNE, value, counts[3]), again);
	put_i(a, SLLI, value, value, 32);
	put_r(a, ADD, value, value, counts[2]);
}

PERF_LOCAL void put_counter(struct assembler *a, unsigned int i)
{
	const struct perf_recipe *recipe = a->recipe;
	const unsigned int in_registers = in_registers_of(recipe);
	const unsigned int value = i < in_registers ? counts[i] : SCRATCH;
	const unsigned int number = recipe->number[i];

	if (number == PERF_COUNTER_TIMESTAMP) {
		put_timestamp(a, value);
		return;
	}
	put_i(a, CSRRS, value, ZERO, (long)(PERF_CSR_CYCLE + number));
#ifndef PERF_DROPIN
	if (recipe->adds) {
		unsigned int offset = i < in_registers ? SCRATCH : counts[in_registers];

		put_i(a, LD, offset, OFFSETS, PLACE(number));
		put_r(a, ADD, value, value, offset);
	}
#endif /* PERF_DROPIN */
	if (i >= in_registers)
		put_store(a, SD, value, flips(recipe) ? NOW : LANE, PLACE(i));
}

/* Emit the restartable sequence. Returns the address at which it restarts. */
PERF_LOCAL uint32_t *put_sequence(struct assembler *a, struct perf_section *section)
{
	const struct perf_recipe *recipe = a->recipe;
	unsigned int area = recipe->area ? TP : STIMULUS, i;
	uint32_t *again;

	if (flips(recipe)) {
		put_i(a, LD, NOW, LANE, LANE_FIELD(stream.last));
		put_i(a, XORI, NOW, NOW, FLIP);
	}
	again = a->at;
	if (!recipe->area)
		put_i(a, LD, area, THREAD, THREAD_FIELD(rseq));
	if (recipe->count) {
		put_place(a, ADDI, SCRATCH, section);
		put_store(a, SD, SCRATCH, area, recipe->area + RSEQ_FIELD(section));
	}
	section->start = (uintptr_t)a->at;
	put_i(a, LW, SCRATCH, area, recipe->area + RSEQ_FIELD(cpu_id));
	put_i(a, LW, counts[0], THREAD, THREAD_FIELD(cpu));
	put_late(a, TO_ELSEWHERE, put_branch(a, BNE, SCRATCH, counts[0]));
#ifndef PERF_DROPIN
	if (recipe->own)
		put_i(a, LD, OFFSETS, THREAD, THREAD_FIELD(offset));
	if (recipe->own && !recipe->adds) {
		put_i(a, LD, SCRATCH, OFFSETS, PLACE(PERF_OFFSETS_WRITTEN));
		put_i(a, LD, counts[0], LANE, LANE_FIELD(written));
		put_late(a, TO_ELSEWHERE, put_branch(a, BNE, SCRATCH, counts[0]));
	}
#endif /* PERF_DROPIN */
	for (i = 0; i < recipe->count; i++)
		put_counter(a, i);
	section->length = (uintptr_t)a->at - section->start;
	return again;
}

/*
 * Write the address in @value, and clobber @value. @high: branch for
 * addresses below 4 GiB, which are rare on RISC-V Linux.
 */
PERF_LOCAL void put_address(struct assembler *a, unsigned int value, bool high)
{
	struct late_code *late;

	put_i(a, SRLI, UPPER, value, 32);
	late = put_late(a, high ? SHORT : LONG,
			put_branch(a, high ? BEQ : BNE, UPPER, ZERO));
	late->value = value;
	if (high)
		put_i(a, ORI, value, value, 1);
	put_store(a, SW, value, STIMULUS, 0);
	if (high)
		put_store(a, SW, UPPER, STIMULUS, 0);
	late->back = a->at;
}

PERF_LOCAL void put_addresses(struct assembler *a, bool pair)
{
	if (a->recipe->type != SIFIVE_TRACE_RECORD_XOR) {
		put_address(a, A0, true);
		if (pair)
			put_address(a, A1, true);
		return;
	}
	put_i(a, LD, SCRATCH, LANE, LANE_FIELD(stream.address));
	put_r(a, XOR, SCRATCH, SCRATCH, A0);
	put_address(a, SCRATCH, false);
	if (pair) {
		put_r(a, XOR, SCRATCH, A0, A1);
		put_address(a, SCRATCH, false);
	}
	put_store(a, SD, pair ? A1 : A0, LANE, LANE_FIELD(stream.address));
}

PERF_LOCAL void put_half(struct assembler *a, unsigned int value)
{
	uint32_t *branch = put_branch(a, BEQ, value, ZERO);

	put_store(a, SH, value, STIMULUS, 2);
	aim(branch, a->at);
}

/* Write bits 32 and up of a count, unless they are 0. */
PERF_LOCAL void put_upper(struct assembler *a, unsigned int value, unsigned int width)
{
	if (width <= 32)
		return;
	put_i(a, SLLI, value, value, 64 - (long)width);
	put_i(a, SRLI, value, value, 96 - (long)width);
	put_half(a, value);
}

PERF_LOCAL void put_raw(struct assembler *a, unsigned int i)
{
	const struct perf_recipe *recipe = a->recipe;

	if (i < in_registers_of(recipe)) {
		put_store(a, SW, counts[i], STIMULUS, 0);
		put_upper(a, counts[i], recipe->width[i]);
		return;
	}
	put_i(a, LD, VALUE, LANE, PLACE(i));
	put_store(a, SW, VALUE, STIMULUS, 0);
#ifndef PERF_DROPIN
	/* A thread's own counts are sums, with bits above the counter's width. */
	if (recipe->own && recipe->width[i] < SIFIVE_TRACE_RECORD_COUNT_BITS) {
		put_upper(a, VALUE, recipe->width[i]);
		return;
	}
#endif /* PERF_DROPIN */
	put_i(a, LHU, VALUE, LANE, PLACE(i) + 4);
	put_half(a, VALUE);
}

PERF_LOCAL void put_difference(struct assembler *a, unsigned int i)
{
	const struct perf_recipe *recipe = a->recipe;
	const bool in_register = i < in_registers_of(recipe), flip = flips(recipe);
	const unsigned int value = in_register ? counts[i] : VALUE;
	struct late_code *late;

	if (!in_register)
		put_i(a, LD, value, NOW, PLACE(i));
	put_i(a, LD, SCRATCH, flip ? BEFORE : LANE, PLACE(i));
	if (in_register)
		put_store(a, SD, value, flip ? NOW : LANE, PLACE(i));
	put_r(a, recipe->type == SIFIVE_TRACE_RECORD_XOR ? XOR : SUB, value, value, SCRATCH);
	late = put_late(a, WIDE, put_branch(a, BLTU, LIMIT, value));
	late->value = value;
	late->width = recipe->width[i];
	put_store(a, SW, value, STIMULUS, 0);
	late->back = a->at;
}

PERF_LOCAL void put_counts(struct assembler *a)
{
	const struct perf_recipe *recipe = a->recipe;
	unsigned int i;

	if (recipe->type == SIFIVE_TRACE_RECORD_RAW) {
		for (i = 0; i < recipe->count; i++)
			put_raw(a, i);
		return;
	}
	/* One instruction can load this limit. Larger differences branch to WIDE. */
	if (recipe->count)
		put_u(a, LUI, LIMIT, 0x7ffff000);
	if (flips(recipe))
		put_i(a, XORI, BEFORE, NOW, FLIP);
	for (i = 0; i < recipe->count; i++)
		put_difference(a, i);
	if (flips(recipe))
		put_store(a, SD, NOW, LANE, LANE_FIELD(stream.last));
}

/* Open the gate, unless another context has done so or closed it for its own record. */
PERF_LOCAL void put_finish(struct assembler *a)
{
	put_i(a, LD, SCRATCH, THREAD, THREAD_FIELD(gate));
	put_late(a, TO_GIVEN_UP, put_branch(a, BNE, SCRATCH, SP));
	put_store(a, SD, THREAD, THREAD, THREAD_FIELD(gate));
	put_i(a, LW, SCRATCH, THREAD, THREAD_FIELD(cpu));
	put_late(a, TO_SETTLE, put_branch(a, BLT, SCRATCH, ZERO));
	put_i(a, JALR, ZERO, 1, 0);
}

#ifndef PERF_DROPIN
/*
 * Emit the checks that only some sessions need before a record. The slow path waits for room and
 * writes headers.
 */
PERF_LOCAL void put_conditions(struct assembler *a)
{
	const struct perf_recipe *recipe = a->recipe;
	uint32_t *ready;

	if (recipe->room) {
		put_i(a, LD, SCRATCH, LANE, LANE_FIELD(full));
		put_i(a, LBU, SCRATCH, SCRATCH, 0);
		put_late(a, TO_ELSEWHERE, put_branch(a, BNE, SCRATCH, ZERO));
	}
	/* Count records down to the next header. */
	if (recipe->spaced) {
		put_i(a, LW, SCRATCH, LANE, LANE_FIELD(left));
		put_late(a, TO_ELSEWHERE, put_branch(a, BEQ, SCRATCH, ZERO));
		put_i(a, ADDI, SCRATCH, SCRATCH, -1);
		put_store(a, SW, SCRATCH, LANE, LANE_FIELD(left));
	}
	if (recipe->poll) {
		ready = a->at;
		put_i(a, LW, SCRATCH, STIMULUS, 0);
		aim(put_branch(a, BEQ, SCRATCH, ZERO), ready);
	}
}
#endif /* PERF_DROPIN */

PERF_LOCAL void put_exit(struct assembler *a, enum late what)
{
	const struct perf_exits *exits = &a->code->recipe.exits;
	const void *const to[] = {
		&exits->closed, &exits->elsewhere, &exits->given_up, &exits->settle,
	};

	if (what == TO_GIVEN_UP || what == TO_SETTLE) {
		put_i(a, ADDI, A0, THREAD, 0);
		put_i(a, ADDI, A1, LANE, 0);
	}
	put_place(a, LD, T0, to[what]);
	put_i(a, JALR, ZERO, T0, 0);
}

PERF_LOCAL void put_late_code(struct assembler *a, const struct late_code *late)
{
	aim(late->from, a->at);
	switch (late->what) {
	case WIDE:
		put_store(a, SW, late->value, STIMULUS, 0);
		put_upper(a, late->value, late->width);
		break;
	case LONG:
		put_i(a, ORI, late->value, late->value, 1);
		put_store(a, SW, late->value, STIMULUS, 0);
		put_store(a, SW, UPPER, STIMULUS, 0);
		break;
	case SHORT:
		put_store(a, SW, late->value, STIMULUS, 0);
		break;
	default:
		put_exit(a, late->what);
		return;
	}
	put_jump(a, late->back);
}

PERF_LOCAL perf_writer *assemble(struct assembler *a, bool pair)
{
	struct perf_section *section = &a->code->section[pair];
	uint32_t *const entry = a->at;
	uint32_t *again;
	unsigned int i;

	a->lates = 0;
	put_begin(a);
	again = put_sequence(a, section);
	put_i(a, LD, STIMULUS, LANE, LANE_FIELD(stream.stimulus));
#ifndef PERF_DROPIN
	put_conditions(a);
#endif /* PERF_DROPIN */
	put_store(a, SB, A2, STIMULUS, 3);
	put_addresses(a, pair);
	put_counts(a);
	put_finish(a);
	for (i = 0; i < a->lates; i++)
		put_late_code(a, &a->late[i]);
	put(a, PERF_SECTION_SIGNATURE);
	section->restart = (uintptr_t)a->at;
	put_jump(a, again);
	return (perf_writer *)(uintptr_t)entry;
}

/* ---- pages of writers ------------------------------------------------------------- */

#ifdef PERF_COUNTER_MOCK
#define thread_pointer()	perf_thread_pointer_mock()
PERF_INTERNAL const char *perf_thread_pointer_mock(void);
#define callable(code)		perf_writers_mock(code)
PERF_INTERNAL struct perf_writers perf_writers_mock(const struct perf_code *code);
#else
#define thread_pointer()	((const char *)__builtin_thread_pointer())
#define callable(code)		((code)->writers)
#endif

PERF_LOCAL void fill_recipe(struct perf_recipe *recipe, const struct perf_pool *pool,
			    const struct perf_exits *exits)
{
	const struct perf_layout *layout = &pool->layout;
	unsigned int i;

	/* Also clear padding, because recipes are compared as bytes. */
	memset(recipe, 0, sizeof(*recipe));
	recipe->exits = *exits;
	recipe->self = (const char *)&perf_self - thread_pointer();
	recipe->area = (const char *)perf_rseq_find() - thread_pointer();
	if (!fits(recipe->area) || !fits(recipe->area + RSEQ_FIELD(section)))
		recipe->area = 0;
	recipe->mask = layout->mask;
	recipe->type = layout->type;
	recipe->count = layout->count;
#ifndef PERF_DROPIN
	recipe->own = pool->slots;
	recipe->adds = pool->slots && layout->type != SIFIVE_TRACE_RECORD_DELTA;
	recipe->poll = layout->poll == PERF_POLL_RECORD;
	recipe->spaced = pool->interval;
	recipe->room = pool->room;
#endif /* PERF_DROPIN */
	for (i = 0; i < layout->count; i++) {
		unsigned int width = PERF_COUNTER_WIDTH(layout->counter[i].info);

		recipe->number[i] = layout->number[i];
		recipe->width[i] = width < SIFIVE_TRACE_RECORD_COUNT_BITS ? (uint8_t)width :
							     SIFIVE_TRACE_RECORD_COUNT_BITS;
	}
}

/*
 * Make the new instructions visible to all threads, because instruction fetches are not
 * ordered with stores.
 */
PERF_LOCAL bool make_executable(struct perf_code *code)
{
	if (mprotect(code, CODE_SIZE, PROT_READ | PROT_EXEC))
		return false;
#ifdef PERF_COUNTER_MOCK
	return true;
#else
	return !syscall(__NR_riscv_flush_icache, code, (char *)code + CODE_SIZE, 0);
#endif
}

PERF_LOCAL struct perf_code *make_code(const struct perf_recipe *recipe)
{
	struct perf_code *code = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct assembler a = { .recipe = recipe, .code = code };
	int error;

	if (code == MAP_FAILED)
		return NULL;
	a.at = code->text;
	code->recipe = *recipe;
	code->writers.pair = assemble(&a, true);
	code->writers.single = assemble(&a, false);
	code->next = codes;
	if (make_executable(code)) {
		__atomic_store_n(&codes, code, __ATOMIC_RELEASE);
		return code;
	}
	error = errno;
	munmap(code, CODE_SIZE);
	errno = error;
	return NULL;
}

PERF_INTERNAL bool perf_writers_make(const struct perf_pool *pool,
				     const struct perf_exits *exits,
				     struct perf_writers *writers)
{
	struct perf_recipe recipe;
	struct perf_code *code;

	fill_recipe(&recipe, pool, exits);
	for (code = codes; code; code = code->next)
		if (!memcmp(&code->recipe, &recipe, sizeof(recipe)))
			break;
	if (!code)
		code = make_code(&recipe);
	if (!code)
		return false;
	*writers = callable(code);
	return true;
}

PERF_INTERNAL PERF_OPTIONAL
bool perf_writers_place(unsigned int index, uintptr_t *start, uintptr_t *end)
{
	const struct perf_code *code = codes;

	while (code && index--)
		code = code->next;
	*start = (uintptr_t)code;
	*end = *start + CODE_SIZE;
	return code;
}

PERF_INTERNAL uintptr_t perf_writers_restart(uintptr_t pc)
{
	const struct perf_code *code;
	unsigned int i;

	for (code = __atomic_load_n(&codes, __ATOMIC_ACQUIRE); code; code = code->next)
		for (i = 0; i < 2; i++)
			if (pc - code->section[i].start < code->section[i].length ||
			    pc == code->section[i].restart)
				return code->section[i].restart;
	return perf_section_restart(pc);
}

#else

PERF_INTERNAL bool perf_writers_make(const struct perf_pool *pool,
				     const struct perf_exits *exits,
				     struct perf_writers *writers)
{
	(void)pool;
	(void)exits;
	(void)writers;
	return false;
}

PERF_INTERNAL PERF_OPTIONAL
bool perf_writers_place(unsigned int index, uintptr_t *start, uintptr_t *end)
{
	(void)index;
	(void)start;
	(void)end;
	return false;
}

PERF_INTERNAL uintptr_t perf_writers_restart(uintptr_t pc)
{
	return perf_section_restart(pc);
}

#endif

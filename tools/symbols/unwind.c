// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Finds a sample's callers from its registers and its copy of the stack. libdw reads the unwind
 * tables. libdwfl's unwinder is not used, because it supports neither objects that shared
 * addresses nor stubs, which have no unwind tables.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdwfl.h>

#include "image.h"
#include "perfrec/perfrec.h"
#include "symbols.h"

/* DWARF register numbers. */
#define RA		1
#define SP		2
#define REGISTERS	32
/* Maximum number of values on the stack of an expression. */
#define DEPTH_MAX	16

/* DWARF numbers of the registers that follow the pc in struct perfrec_stack, in order. */
static const uint8_t saved[] = { RA, SP, 5, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27 };

_Static_assert(sizeof(saved) == SIFIVE_TRACE_STACK_REGISTERS - 1,
	       "saved[] has one entry for each register after the pc");

/* Highest signal number. */
#define SIGNAL_MAX	64
/*
 * Maximum size of extensions after struct rt_sigframe, such as 32 vector registers of up to 8 KB
 * each.
 */
#define EXTENSIONS_MAX	(512u << 10)

/**
 * struct layout - layout of struct rt_sigframe, which the kernel writes for a signal handler
 * @mask:	maximum address
 * @link, @start, @size: offsets of uc_link, and of uc_stack's ss_sp and ss_size
 * @registers:	offset of the interrupted code's pc, which x1 to x31 follow
 * @bytes:	size of the struct in bytes
 *
 * The signal number is at offset 0, and uc_flags is at UC_FLAGS.
 */
struct layout {
	uint64_t	mask;
	unsigned int	link, start, size;
	unsigned int	registers;
	unsigned int	bytes;
};

#define UC_FLAGS	128

/* Layouts for 64-bit programs, for 32-bit programs, and for 32-bit programs on a 64-bit kernel. */
static const struct layout layouts[] = {
	{ UINT64_MAX, .link = 136, .start = 144, .size = 160, .registers = 304, .bytes = 1088 },
	{ UINT32_MAX, .link = 132, .start = 136, .size = 144, .registers = 288, .bytes = 944 },
	{ UINT32_MAX, .link = 136, .start = 144, .size = 152, .registers = 288, .bytes = 944 },
};

/**
 * struct unwind - a frame
 * @stack:	the sample
 * @mask:	maximum address, or 0 if unknown
 * @low:	lowest address of the stack that contains the frames
 * @pc:		address of the frame's code; for a caller, the return address
 * @reg:	register values in the frame
 * @known:	bit n: register n is known
 * @cfa:	stack pointer of the frame's caller
 * @caller:	set if the frame's function called the previous frame's; clear for the innermost
 *		frame and for interrupted code
 * @cut:	a value was beyond the copy of the stack
 */
struct unwind {
	const struct perfrec_stack *stack;
	uint64_t		mask;
	uint64_t		low;
	uint64_t		pc;
	uint64_t		reg[REGISTERS];
	uint32_t		known;
	uint64_t		cfa;
	bool			caller;
	bool			cut;
};

/* The stack of a DWARF expression. */
struct values {
	uint64_t	at[DEPTH_MAX];
	unsigned int	count;
};

/* Where a rule of the unwind table finds a register. */
enum place {
	PLACE_UNKNOWN,
	PLACE_MEMORY,
	PLACE_VALUE,
};

static bool read_memory(struct unwind *unwind, uint64_t address, uint64_t *value)
{
	const struct perfrec_stack *stack = unwind->stack;
	const uint64_t sp = stack->reg[2] & unwind->mask, bytes = stack->words * sizeof(uint64_t);
	const uint64_t at = address - (sp & ~7ull), size = unwind->mask == UINT32_MAX ? 4 : 8;

	*value = 0;
	if (at < bytes && size <= bytes - at) {
		memcpy(value, (const uint8_t *)stack->word + at, size);
		return true;
	}
	unwind->cut |= address >= unwind->low;
	return false;
}

static bool read_register(const struct unwind *unwind, uint64_t number, uint64_t *value)
{
	if (number >= REGISTERS || !(unwind->known >> number & 1))
		return false;
	*value = unwind->reg[number];
	return true;
}

static bool push(struct values *values, uint64_t value)
{
	if (values->count == DEPTH_MAX)
		return false;
	values->at[values->count++] = value;
	return true;
}

/* Perform an operation on the two top values on the stack. */
static bool combine(struct values *values, unsigned int atom)
{
	uint64_t *one, two;

	if (values->count < 2)
		return false;
	two = values->at[--values->count];
	one = &values->at[values->count - 1];
	switch (atom) {
	case DW_OP_plus:
		*one += two;
		return true;
	case DW_OP_minus:
		*one -= two;
		return true;
	case DW_OP_mul:
		*one *= two;
		return true;
	case DW_OP_and:
		*one &= two;
		return true;
	case DW_OP_shl:
		*one = two < 64 ? *one << two : 0;
		return true;
	default:
		return false;
	}
}

/* Perform an operation on the top value on the stack, or on the two top values. */
static bool change(struct unwind *unwind, struct values *values, const Dwarf_Op *op)
{
	uint64_t *latest;

	if (!values->count)
		return false;
	latest = &values->at[values->count - 1];
	switch (op->atom) {
	case DW_OP_plus_uconst:
		*latest += op->number;
		return true;
	case DW_OP_deref:
		return read_memory(unwind, *latest, latest);
	case DW_OP_dup:
		return push(values, *latest);
	default:
		return combine(values, op->atom);
	}
}

/* Perform an operation other than those that evaluate() handles by range. */
static bool operate(struct unwind *unwind, struct values *values, const Dwarf_Op *op)
{
	uint64_t value;

	switch (op->atom) {
	case DW_OP_call_frame_cfa:
		return push(values, unwind->cfa);
	case DW_OP_bregx:
		return read_register(unwind, op->number, &value) &&
		       push(values, value + op->number2);
	case DW_OP_const1u ... DW_OP_consts:
		return push(values, op->number);
	default:
		return change(unwind, values, op);
	}
}

/* Evaluate an expression with at least one operation. The result is a value or a memory address. */
static enum place evaluate(struct unwind *unwind, const Dwarf_Op *ops, size_t count,
			   uint64_t *result)
{
	enum place place = PLACE_MEMORY;
	struct values values = { 0 };
	const Dwarf_Op *op;
	uint64_t value;
	bool fine = true;

	for (op = ops; op < ops + count && fine; op++) {
		/* An operation after the result would describe a part of the register. */
		if (place == PLACE_VALUE)
			return PLACE_UNKNOWN;
		if (op->atom == DW_OP_stack_value) {
			place = PLACE_VALUE;
		} else if (op->atom == DW_OP_regx ||
			   (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)) {
			place = PLACE_VALUE;
			value = op->atom - DW_OP_reg0;
			fine = read_register(unwind, op->atom == DW_OP_regx ? op->number : value,
					     &value) &&
			       push(&values, value);
		} else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
			fine = read_register(unwind, op->atom - DW_OP_breg0, &value) &&
			       push(&values, value + op->number);
		} else if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
			fine = push(&values, op->atom - DW_OP_lit0);
		} else {
			fine = operate(unwind, &values, op);
		}
	}
	if (!fine || !values.count)
		return PLACE_UNKNOWN;
	*result = values.at[values.count - 1] & unwind->mask;
	return place;
}

static bool find_cfa(struct unwind *unwind, Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t count;

	unwind->cfa = 0;
	if (dwarf_frame_cfa(frame, &ops, &count) || !count)
		return false;
	/* libdw describes the CFA as the memory location at the address CFA. */
	return evaluate(unwind, ops, count, &unwind->cfa) == PLACE_MEMORY;
}

/* Find a register's value in the caller; return false if unknown. Set @none if it has no value. */
static bool find_register(struct unwind *unwind, Dwarf_Frame *frame, unsigned int number,
			  uint64_t *value, bool *none)
{
	Dwarf_Op memory[3], *ops;
	uint64_t place;
	size_t count;

	*none = false;
	if (dwarf_frame_register(frame, (int)number, memory, &ops, &count))
		return false;
	if (!count) {
		*none = ops;
		return !ops && read_register(unwind, number, value);
	}
	switch (evaluate(unwind, ops, count, &place)) {
	case PLACE_VALUE:
		*value = place;
		return true;
	case PLACE_MEMORY:
		return read_memory(unwind, place, value);
	default:
		return false;
	}
}

/* Return the unwind table entry for an address, to be freed with free(), or NULL. */
static Dwarf_Frame *find_frame(struct image *image, uint64_t address)
{
	Dwfl_Module *lines = image_lines_module(image);
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(image_module(image), &bias);

	if (cfi && !dwarf_cfi_addrframe(cfi, address - bias, &frame))
		return frame;
	cfi = lines ? dwfl_module_dwarf_cfi(lines, &bias) : NULL;
	if (cfi && !dwarf_cfi_addrframe(cfi, address - bias, &frame))
		return frame;
	return NULL;
}

/*
 * Continue with the caller. Without a caller, return false and set @end to the mark that ends the
 * list (PERFREC_CUT or PERFREC_UNKNOWN), or to 0 if the stack is complete.
 */
static bool unwind_frame(struct unwind *unwind, Dwarf_Frame *frame, uint64_t *end)
{
	uint64_t reg[REGISTERS] = { 0 }, pc = 0;
	const int link = dwarf_frame_info(frame, NULL, NULL, NULL);
	uint32_t known = 1u << SP;
	bool none, returns;
	unsigned int i;

	*end = PERFREC_UNKNOWN;
	if (link < 0 || !find_cfa(unwind, frame)) {
		*end = unwind->cut ? PERFREC_CUT : PERFREC_UNKNOWN;
		return false;
	}
	unwind->cut = false;
	returns = find_register(unwind, frame, (unsigned int)link, &pc, &none);
	*end = none ? 0 : unwind->cut ? PERFREC_CUT : PERFREC_UNKNOWN;
	/*
	 * Only a function without a frame, or one that has not created its frame yet, has the same
	 * stack pointer as its caller.
	 */
	if (!returns || unwind->cfa < unwind->reg[SP] ||
	    (unwind->caller && unwind->cfa == unwind->reg[SP]))
		return false;
	for (i = 0; i < sizeof(saved); i++)
		if (saved[i] != SP && saved[i] != RA &&
		    find_register(unwind, frame, saved[i], &reg[saved[i]], &none))
			known |= 1u << saved[i];
	reg[SP] = unwind->cfa;
	memcpy(unwind->reg, reg, sizeof(reg));
	unwind->known = known;
	/* Clear bit 0, as a return does. */
	unwind->pc = pc & ~1ull;
	*end = 0;
	return unwind->pc;
}

/* Continue with the caller of a stub, which changes neither the stack nor the return address. */
static bool leave_stub(struct unwind *unwind, struct image *image, uint64_t address)
{
	const struct image_function *function = image_function(image, address);

	if (unwind->caller || !function || function->rank != IMAGE_STUB)
		return false;
	unwind->pc = unwind->reg[RA] & ~1ull;
	unwind->known &= ~(1u << RA);
	return unwind->pc;
}

/* Begin with the innermost frame. @mask is the maximum address. */
static void begin(struct unwind *unwind, uint64_t mask)
{
	unsigned int i;

	unwind->mask = mask;
	for (i = 0; i < sizeof(saved); i++) {
		unwind->reg[saved[i]] = unwind->stack->reg[i + 1] & mask;
		unwind->known |= 1u << saved[i];
	}
	unwind->low = unwind->reg[SP];
}

/*
 * Return whether the kernel can have written a signal frame at @frame when it interrupted code with
 * the stack pointer @sp. A signal frame is below @sp or, if @sp is not on the alternate stack (the
 * @size bytes at @start), on that stack. The stack pointer of the interrupted code cannot be among
 * the frames of the handler and its callees.
 */
static bool is_plausible(const struct unwind *unwind, const struct layout *layout, uint64_t frame,
			 uint64_t sp, uint64_t start, uint64_t size)
{
	if (sp >= unwind->low && sp < frame)
		return false;
	if (sp - frame >= layout->bytes && sp - frame - layout->bytes <= EXTENSIONS_MAX)
		return true;
	return frame - start < size && sp - start >= size;
}

/*
 * Continue from a signal frame to the interrupted code. Return false, and change only @cut, if
 * there is no signal frame at the stack pointer, or if the copy of the stack lacks a part of the
 * signal frame.
 */
static bool leave_signal(struct unwind *unwind, const struct layout *layout)
{
	const uint64_t frame = unwind->reg[SP], size = layout->mask == UINT32_MAX ? 4 : 8;
	uint64_t number, flags, link, start, bytes, reg[REGISTERS];
	unsigned int i;

	if (frame % 16 || !read_memory(unwind, frame, &number) ||
	    (uint32_t)number - 1 >= SIGNAL_MAX ||
	    !read_memory(unwind, frame + UC_FLAGS, &flags) || flags ||
	    !read_memory(unwind, frame + layout->link, &link) || link ||
	    !read_memory(unwind, frame + layout->start, &start) ||
	    !read_memory(unwind, frame + layout->size, &bytes))
		return false;
	for (i = 0; i < REGISTERS; i++)
		if (!read_memory(unwind, frame + layout->registers + i * size, &reg[i]))
			return false;
	if (reg[0] & 1 || perfrec_is_kernel(reg[0]) ||
	    !is_plausible(unwind, layout, frame, reg[SP], start, bytes))
		return false;
	unwind->pc = reg[0];
	memcpy(unwind->reg, reg, sizeof(reg));
	unwind->known = ~1u;
	unwind->low = reg[SP];
	unwind->caller = false;
	return true;
}

/*
 * Continue from a signal handler's return address, which is in the vdso, to the interrupted code.
 * Code outside all objects can also be in the vdso, because the trace may not list the vdso. Return
 * false if there was no handler; @end is then PERFREC_CUT or PERFREC_UNKNOWN.
 */
static bool leave_handler(struct unwind *unwind, struct symbols *symbols, uint64_t *end)
{
	const uint64_t mask = unwind->mask;
	const bool cut = unwind->cut;
	const char *path = symbols_path(symbols, symbols_place(symbols, unwind->pc));
	unsigned int i;

	*end = PERFREC_UNKNOWN;
	if (perfrec_is_kernel(unwind->pc) || (path && strcmp(path, META_VDSO)))
		return false;
	unwind->cut = false;
	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (mask && layouts[i].mask != mask)
			continue;
		if (!mask)
			begin(unwind, layouts[i].mask);
		if (leave_signal(unwind, &layouts[i]))
			return true;
	}
	if (unwind->cut)
		*end = PERFREC_CUT;
	unwind->mask = mask;
	unwind->cut = cut;
	return false;
}

/* Find the frame's file and unwind table entry, then continue as unwind_frame() does. */
static bool step(struct unwind *unwind, struct symbols *symbols, uint64_t *end)
{
	uint64_t place, bias, address;
	Dwarf_Frame *frame;
	struct image *image;
	bool moved;

	if (leave_handler(unwind, symbols, end))
		return true;
	if (*end == PERFREC_CUT)
		return false;
	place = symbols_place(symbols, unwind->pc - unwind->caller);
	image = symbols_image(symbols, place, &bias);
	if (!image)
		return false;
	address = symbols_same(symbols, place) - bias;
	if (!unwind->mask)
		begin(unwind, image_is_wide(image) ? UINT64_MAX : UINT32_MAX);
	frame = find_frame(image, address);
	moved = frame ? unwind_frame(unwind, frame, end) : leave_stub(unwind, image, address);
	free(frame);
	unwind->caller = true;
	return moved;
}

unsigned int symbols_unwind(void *context, const struct perfrec_stack *stack,
			    uint64_t address[SIFIVE_TRACE_CALLERS_MAX])
{
	struct unwind unwind = { .stack = stack, .pc = stack->reg[0] };
	struct symbols *symbols = context;
	unsigned int count = 0;
	uint64_t end;

	symbols_when(symbols, &stack->begin);
	address[count++] = 0;
	while (step(&unwind, symbols, &end)) {
		/*
		 * Bit 0 marks interrupted code, so symbols_find_return() looks up the instruction
		 * itself, not the preceding instruction.
		 */
		address[count++] = unwind.pc | !unwind.caller;
		if (count == SIFIVE_TRACE_CALLERS_MAX - 1) {
			end = PERFREC_CUT;
			break;
		}
	}
	if (end)
		address[count++] = end;
	return count;
}

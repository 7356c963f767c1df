// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Lines and branches of a function: see covered.h. As gcov does, a line counts as often as
 * one of its basic blocks is entered from a block without the line, or by a jump back.
 * After a call the flow continues as if there was none.
 */
#include <stdlib.h>
#include <string.h>

#include "covered_maker.h"

/* Makes room for the instructions at hand. */
static bool make_room(struct maker *maker)
{
	if (maker->at_room < maker->halfwords) {
		free(maker->at);
		free(maker->times);
		maker->at = malloc(maker->halfwords * sizeof(*maker->at));
		maker->times = malloc(maker->halfwords * sizeof(*maker->times));
		maker->at_room = maker->at && maker->times ? maker->halfwords : 0;
	}
	if (maker->at_room < maker->halfwords) {
		maker->no_memory = true;
		return false;
	}
	memset(maker->at, 0, maker->halfwords * sizeof(*maker->at));
	memset(maker->times, 0, maker->halfwords * sizeof(*maker->times));
	return true;
}

static bool is_nop(const uint8_t *bytes, unsigned int halfwords)
{
	static const uint8_t nop[] = { 0x13, 0, 0, 0 }, short_nop[] = { 0x01, 0 };

	return halfwords == 1 ? !memcmp(bytes, short_nop, sizeof(short_nop)) :
	       halfwords == 2 && !memcmp(bytes, nop, sizeof(nop));
}

/* Whether the instruction after one of this kind is reached without a jump. */
static bool continues(unsigned int kind)
{
	return kind == FLOW_NEXT || kind == FLOW_BRANCH || kind == FLOW_CALL ||
	       kind == FLOW_INDIRECT_CALL || kind == FLOW_TRAP;
}

/* Basic blocks begin at targets, and behind branches; a call ends none. */
static void mark_leaders(struct maker *maker, size_t at, const struct instruction *instruction)
{
	const size_t next = at + instruction->halfwords;
	const uint64_t target = (instruction->target - maker->start) / 2;

	if (next < maker->halfwords && (instruction->kind == FLOW_BRANCH ||
					!continues(instruction->kind)))
		maker->at[next].leads = true;
	if ((instruction->kind == FLOW_BRANCH || instruction->kind == FLOW_JUMP) &&
	    instruction->target >= maker->start && target < maker->halfwords)
		maker->at[target].leads = true;
}

/* Targets of indirect jumps. */
static void mark_links(struct maker *maker)
{
	const struct executed *executed = &maker->executed;
	size_t i = executed_to(executed, maker->start);

	for (; i < executed->links; i++) {
		const uint64_t at = (executed->to[i].to - maker->start) / 2;

		if (at >= maker->halfwords)
			break;
		if (executed->to[i].kind == FLOW_INDIRECT_JUMP)
			maker->at[at].leads = true;
	}
}

/* False if no file has its instructions. */
static bool read_code(struct maker *maker)
{
	struct instruction instruction;
	const uint8_t *bytes;
	uint64_t size;
	size_t at;
	bool rv32;

	bytes = code_bytes(maker->code, maker->start, &size, &rv32);
	if (!bytes)
		return false;
	if (size / 2 < maker->halfwords)
		maker->halfwords = (size_t)size / 2;
	if (!maker->halfwords || !make_room(maker))
		return false;
	for (at = 0; at < maker->halfwords; at += instruction.halfwords) {
		if (!instruction_read(bytes + 2 * at, 2 * (maker->halfwords - at),
				      maker->start + 2 * at, rv32, &instruction))
			break;
		maker->at[at].begins = true;
		maker->at[at].kind = instruction.kind;
		maker->at[at].nop = is_nop(bytes + 2 * at, instruction.halfwords);
		mark_leaders(maker, at, &instruction);
	}
	maker->at[0].leads = true;
	mark_links(maker);
	executed_times(&maker->executed, maker->start, maker->halfwords, maker->times);
	return true;
}

/* ---- lines ------------------------------------------------------------- */

/* The first row that ends after an address. */
static size_t first_row(const struct lines_unit *unit, uint64_t address)
{
	size_t low = 0, high = unit->rows, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (unit->row[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Its first row is that of the function's name. */
static void find_lines(struct maker *maker, const struct lines_function *function)
{
	const struct lines_unit *unit = maker->unit;
	size_t i = first_row(unit, function->start), at;
	const struct lines_row *row;
	uint32_t line;

	for (; i < unit->rows && unit->row[i].start < function->end; i++) {
		row = &unit->row[i];
		at = row->start > function->start ? (size_t)(row->start - function->start) / 2 : 0;
		if (!at && !function->part && function->line)
			line = covered_find_line(maker, function->file, function->line);
		else
			line = covered_find_line(maker, row->file, row->line);
		for (; at < maker->halfwords && function->start + 2 * at < row->end; at++) {
			maker->at[at].line = line;
			maker->at[at].column = row->column;
		}
	}
}

/*
 * GCC attributes the end of a function to its closing brace. gcov counts that only if it is a
 * statement, for which there is a nop: where a function without a value has no return.
 */
static void leave_out_brace(struct maker *maker, const struct lines_function *function)
{
	struct instruction_at *brace = NULL, *at = maker->at, *end = at + maker->halfwords;
	uint32_t line;

	for (; at < end && !brace; at++)
		if (at->begins && at->kind == FLOW_RETURN && at->line)
			brace = at;
	if (!brace || maker->covered->line[brace->line - 1].line == function->line)
		return;
	/* Behind a statement: there are two columns. */
	for (at = maker->at; at < end; at++)
		if (at->line == brace->line && (at->column != brace->column || at->nop))
			return;
	line = brace->line;
	for (at = maker->at; at < end; at++)
		if (at->line == line)
			at->line = 0;
}

static bool is_jump(const struct executed_link *link)
{
	return !link->next && (link->kind == FLOW_BRANCH || link->kind == FLOW_JUMP ||
			       link->kind == FLOW_INDIRECT_JUMP);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;

	return (one > two) - (one < two);
}

/* Whether a basic block has a line: @block is the index of its first halfword. */
static bool has_line(const struct maker *maker, size_t block, uint32_t line)
{
	const uint64_t key = (uint64_t)block << 32 | line;

	return bsearch(&key, maker->pair, maker->pairs, sizeof(key), by_number);
}

/* Pairs of basic blocks and lines, sorted, each once. */
static void find_pairs(struct maker *maker)
{
	size_t i, kept = 0, block = 0;
	uint64_t key;

	maker->pairs = 0;
	for (i = 0; i < maker->halfwords; i++) {
		if (maker->at[i].leads)
			block = i;
		maker->at[i].block = (uint32_t)block;
		key = (uint64_t)block << 32 | maker->at[i].line;
		if (!maker->at[i].begins || !maker->at[i].line ||
		    (maker->pairs && maker->pair[maker->pairs - 1] == key))
			continue;
		if (!covered_reserve(maker, &maker->pair, maker->pairs, &maker->pair_room,
				     sizeof(*maker->pair)))
			return;
		maker->pair[maker->pairs++] = key;
	}
	if (maker->pairs)
		qsort(maker->pair, maker->pairs, sizeof(*maker->pair), by_number);
	for (i = 0; i < maker->pairs; i++)
		if (!i || maker->pair[i] != maker->pair[i - 1])
			maker->pair[kept++] = maker->pair[i];
	maker->pairs = kept;
}

/*
 * Jumps to a basic block from within its function; *@begin are those among them with which a
 * line of it begins.
 */
static uint64_t count_jumps(struct maker *maker, size_t block, uint32_t line, uint64_t *begin)
{
	const struct executed *executed = &maker->executed;
	const uint64_t address = maker->start + 2 * block;
	const struct executed_link *link;
	size_t i = executed_to(executed, address), from;
	uint64_t jumps = 0;

	*begin = 0;
	for (; i < executed->links && executed->to[i].to == address; i++) {
		link = &executed->to[i];
		from = (size_t)(link->from - maker->start) / 2;
		if (!is_jump(link) || link->from < maker->start || from >= maker->halfwords)
			continue;
		jumps += link->times;
		from = maker->at[from].block;
		if (from >= block || !has_line(maker, from, line))
			*begin += link->times;
	}
	return jumps;
}

/* Whether the basic block before has the line, and continues with this one. */
static bool goes_on(const struct maker *maker, size_t block, uint32_t line)
{
	size_t before = block;

	while (before && !maker->at[--before].begins)
		;
	return block && continues(maker->at[before].kind) &&
	       has_line(maker, maker->at[before].block, line);
}

static void count_line(struct maker *maker, size_t block, uint32_t line)
{
	uint64_t times, jumps, begin;
	size_t at = block;

	while (maker->at[at].line != line || !maker->at[at].begins)
		at++;
	times = maker->times[at];
	maker->covered->line[line - 1].seen = (uint32_t)maker->starts;
	if (!times)
		return;
	jumps = count_jumps(maker, block, line, &begin);
	if (!goes_on(maker, block, line) && times > jumps)
		begin += times - jumps;
	maker->covered->line[line - 1].times += begin < times ? begin : times;
}

static void count_lines(struct maker *maker)
{
	struct covered_line *line = maker->covered->line;
	size_t i;

	find_pairs(maker);
	for (i = 0; i < maker->pairs && !maker->no_memory; i++)
		count_line(maker, (size_t)(maker->pair[i] >> 32), (uint32_t)maker->pair[i]);
	/* Behind a gap, a line may be executed that has not begun. */
	for (i = 0; i < maker->halfwords; i++)
		if (maker->at[i].begins && maker->at[i].line && maker->times[i] &&
		    !line[maker->at[i].line - 1].times)
			line[maker->at[i].line - 1].times = 1;
}

/* The line of a label without code counts as often as the instruction behind it. */
static void count_labels(struct maker *maker, const struct lines_function *function)
{
	const struct lines_label *label = maker->unit->label + function->label;
	uint32_t i, line;

	for (i = 0; i < function->labels; i++, label++) {
		if (label->address < function->start ||
		    (label->address - function->start) / 2 >= maker->halfwords)
			continue;
		line = covered_find_line(maker, label->file, label->line);
		if (!line || maker->covered->line[line - 1].seen == maker->starts)
			continue;
		maker->covered->line[line - 1].seen = (uint32_t)maker->starts;
		maker->covered->line[line - 1].times +=
			maker->times[(label->address - function->start) / 2];
	}
}

/* ---- branches, and the sum --------------------------------------------- */

static void count_branches(struct maker *maker)
{
	const struct executed *executed = &maker->executed;
	struct covered *covered = maker->covered;
	struct covered_branch *branch;
	size_t at, i;

	for (at = 0; at < maker->halfwords; at++) {
		if (!maker->at[at].begins || maker->at[at].kind != FLOW_BRANCH ||
		    !maker->at[at].line)
			continue;
		if (!covered_reserve(maker, &covered->branch, covered->branches,
				     &maker->branch_room, sizeof(*covered->branch)))
			return;
		branch = &covered->branch[covered->branches++];
		*branch = (struct covered_branch){
			.file = covered->line[maker->at[at].line - 1].file,
			.line = covered->line[maker->at[at].line - 1].line,
			.order = maker->start + 2 * at, .reached = maker->times[at],
		};
		i = executed_from(executed, branch->order);
		for (; i < executed->links && executed->from[i].from == branch->order; i++)
			*(executed->from[i].next ? &branch->next : &branch->taken) +=
				executed->from[i].times;
	}
}

/* Of the function at hand, whose branches begin with @branch. */
static void sum_up(struct maker *maker, struct covered_sum *sum, size_t branch)
{
	const struct covered *covered = maker->covered;
	/* Lines, each with whether it was not executed in its lowest bit. */
	uint64_t *line = malloc((maker->halfwords + 1) * sizeof(*line));
	size_t lines = 0, at;

	if (!line) {
		maker->no_memory = true;
		return;
	}
	for (at = 0; at < maker->halfwords; at++)
		if (maker->at[at].begins && maker->at[at].line)
			line[lines++] = (uint64_t)maker->at[at].line << 1 | !maker->times[at];
	qsort(line, lines, sizeof(*line), by_number);
	for (at = 0; at < lines; at++) {
		if (at && line[at] >> 1 == line[at - 1] >> 1)
			continue;
		sum->lines++;
		sum->lines_hit += !(line[at] & 1);
	}
	free(line);
	for (; branch < covered->branches; branch++) {
		sum->branches += 2;
		sum->branches_hit += (covered->branch[branch].taken > 0) +
				     (covered->branch[branch].next > 0);
	}
}

static void add_function(struct maker *maker, const struct lines_function *of,
			 const char *name, size_t branch)
{
	struct covered *covered = maker->covered;
	struct covered_function *function;
	uint64_t jumps, begin;

	if (!covered_reserve(maker, &covered->function, covered->functions,
			     &maker->function_room, sizeof(*covered->function)))
		return;
	function = &covered->function[covered->functions];
	jumps = count_jumps(maker, 0, 0, &begin);
	*function = (struct covered_function){
		.name = strdup(name), .file = covered_find_file(maker, of->file),
		.line = of->line,
		.calls = maker->times[0] > jumps ? maker->times[0] - jumps : 0,
	};
	if (!function->name) {
		maker->no_memory = true;
		return;
	}
	covered->functions++;
	sum_up(maker, &function->sum, branch);
}

void covered_function(struct maker *maker, const struct lines_function *function)
{
	const uint64_t bytes = function->end - function->start;
	const size_t branch = maker->covered->branches;
	struct symbol symbol;

	maker->start = function->start + maker->bias;
	/* What the linker has discarded begins nowhere. */
	if (!symbols_find(maker->symbols, maker->start, &symbol) || !symbol.function ||
	    (!function->part && symbol.start != maker->start) ||
	    !covered_is_new(maker, maker->start))
		return;
	if (bytes > COVERED_FUNCTION_MAX || maker->bytes > COVERED_BYTES_MAX) {
		maker->covered->full = true;
		return;
	}
	maker->bytes += bytes;
	maker->halfwords = (size_t)bytes / 2;
	if (!read_code(maker))
		return;
	find_lines(maker, function);
	if (maker->unit->gcc && !maker->no_memory)
		leave_out_brace(maker, function);
	if (maker->no_memory)
		return;
	count_lines(maker);
	count_branches(maker);
	if (maker->unit->gcc)
		count_labels(maker, function);
	if (!function->part && function->line)
		add_function(maker, function, symbol.function, branch);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Counts a function's lines and branches: see covered.h. A line's count is the same as in gcov: the
 * number of times that one of its basic blocks was entered from a block that does not contain the
 * line, or by a backward jump. Calls do not interrupt the flow.
 */
#include <stdlib.h>
#include <string.h>

#include "covered_maker.h"

/*
 * Find the index of an instruction in the current function; return false if the instruction is in
 * another function.
 */
static bool index_of(const struct maker *maker, uint64_t address, size_t *at)
{
	const struct covered_part *part = maker->part, *end = part + maker->parts;

	for (; part < end; part++) {
		*at = (size_t)(address - part->start) / 2;
		if (address >= part->start && (address - part->start) / 2 < part->halfwords) {
			*at += part->at;
			return true;
		}
	}
	return false;
}

static uint64_t address_of(const struct maker *maker, size_t at)
{
	const struct covered_part *part = maker->part;

	while (at - part->at >= part->halfwords)
		part++;
	return part->start + 2 * (at - part->at);
}

/* Make room for the current function's instructions. */
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

/*
 * Return whether execution can continue with the next instruction after an instruction of this
 * kind.
 */
static bool continues(unsigned int kind)
{
	return kind == FLOW_NEXT || kind == FLOW_BRANCH || kind == FLOW_CALL ||
	       kind == FLOW_INDIRECT_CALL || kind == FLOW_TRAP;
}

/* Basic blocks begin at targets of jumps and after jumps; a call does not end a block. */
static void mark_leaders(struct maker *maker, size_t at, const struct instruction *instruction)
{
	const size_t next = at + instruction->halfwords;
	size_t target;

	if (next < maker->halfwords && (instruction->kind == FLOW_BRANCH ||
					!continues(instruction->kind)))
		maker->at[next].leads = true;
	if ((instruction->kind == FLOW_BRANCH || instruction->kind == FLOW_JUMP) &&
	    index_of(maker, instruction->target, &target))
		maker->at[target].leads = true;
}

/* Basic blocks also begin at targets of indirect jumps. */
static void mark_links(struct maker *maker, const struct covered_part *part)
{
	const struct executed *executed = &maker->executed;
	size_t i = executed_to(executed, part->start);

	for (; i < executed->links; i++) {
		const uint64_t at = (executed->to[i].to - part->start) / 2;

		if (at >= part->halfwords)
			break;
		if (executed->to[i].kind == FLOW_INDIRECT_JUMP)
			maker->at[part->at + at].leads = true;
	}
}

static void read_part(struct maker *maker, const struct covered_part *part)
{
	struct instruction instruction;
	struct instruction_at *to;
	size_t at;

	for (at = 0; at < part->halfwords; at += instruction.halfwords) {
		if (!instruction_read(part->code + 2 * at, 2 * (part->halfwords - at),
				      part->start + 2 * at, part->rv32, &instruction))
			break;
		to = &maker->at[part->at + at];
		to->begins = true;
		to->kind = instruction.kind;
		to->nop = is_nop(part->code + 2 * at, instruction.halfwords);
		mark_leaders(maker, part->at + at, &instruction);
	}
	maker->at[part->at].leads = true;
	maker->at[part->at].first = true;
	mark_links(maker, part);
	executed_times(&maker->executed, part->start, part->halfwords, maker->times + part->at);
}

/* Return false if the range is empty or no file contains its instructions. */
static bool add_part(struct maker *maker, const struct lines_function *function)
{
	const uint64_t bytes = function->end - function->start;
	struct covered_part *part = &maker->part[maker->parts];
	const uint64_t start = function->start + maker->bias;
	struct symbol symbol;
	uint64_t size;

	/* Functions that the linker has discarded have no start address. */
	if (!symbols_find(maker->symbols, start, &symbol) || !symbol.function ||
	    (!function->part && symbol.start != start) || !covered_is_new(maker, start))
		return false;
	if (maker->parts == COVERED_PARTS_MAX || maker->bytes > COVERED_BYTES_MAX ||
	    bytes > COVERED_FUNCTION_MAX - 2 * maker->halfwords) {
		maker->covered->full = true;
		return false;
	}
	maker->bytes += bytes;
	*part = (struct covered_part){ .of = function, .start = start, .at = maker->halfwords };
	part->code = code_bytes(maker->code, start, &size, &part->rv32);
	if (!part->code)
		return false;
	part->halfwords = (size_t)(bytes < size ? bytes : size) / 2;
	maker->halfwords += part->halfwords;
	maker->parts += part->halfwords > 0;
	return part->halfwords;
}

/* ---- lines ------------------------------------------------------------- */

/* Return the first row that ends after an address. */
static size_t first_row(const struct lines_row *row, size_t rows, uint64_t address)
{
	size_t low = 0, high = rows, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (row[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Find additional lines to which the first instruction belongs. */
static void find_first_lines(struct maker *maker, const struct lines_function *function)
{
	const struct lines_unit *unit = maker->unit;
	const struct lines_row *mark;
	size_t i;

	maker->first_line[maker->first_lines++] = maker->name;
	i = function->start ? first_row(unit->mark, unit->marks, function->start - 1) : 0;
	for (; i < unit->marks && unit->mark[i].start == function->start; i++) {
		mark = &unit->mark[i];
		if (maker->first_lines < COVERED_FIRST_MAX)
			maker->first_line[maker->first_lines++] =
				covered_find_line(maker, mark->file, mark->line);
	}
}

/*
 * A function's first rows belong to its opening brace, and are attributed to the line with its
 * name. If the first row has no code, the first instruction belongs to a statement.
 */
static void find_lines(struct maker *maker, const struct covered_part *part)
{
	const struct lines_function *function = part->of;
	const struct lines_unit *unit = maker->unit;
	size_t i = first_row(unit->row, unit->rows, function->start), at;
	const struct lines_row *row;
	uint32_t line;

	for (; i < unit->rows && unit->row[i].start < function->end; i++) {
		row = &unit->row[i];
		at = row->start > function->start ? (size_t)(row->start - function->start) / 2 : 0;
		if (!at && !function->part && function->line) {
			maker->name = covered_find_line(maker, function->file, function->line);
			maker->brace = row;
			find_first_lines(maker, function);
		}
		if (maker->name && row->file == maker->brace->file &&
		    row->line == maker->brace->first_line &&
		    row->column == maker->brace->first_column)
			line = maker->name;
		else
			line = covered_find_line(maker, row->file, row->line);
		for (; at < part->halfwords && function->start + 2 * at < row->end; at++) {
			maker->at[part->at + at].line = line;
			maker->at[part->at + at].column = row->column;
		}
	}
}

/*
 * Return whether the function has no code at @next, in which case a call that ends at @next cannot
 * return.
 */
static bool is_end(const struct maker *maker, size_t next)
{
	return next == maker->halfwords || maker->at[next].first;
}

/* Return 1 + the index of the function's last line in its file, or 0 if there is none. */
static uint32_t greatest_line(struct maker *maker, const struct lines_function *function)
{
	const uint32_t file = covered_find_file(maker, function->file);
	const struct covered_line *line = maker->covered->line;
	uint32_t greatest = 0, of;
	size_t at;

	for (at = 0; at < maker->halfwords; at++) {
		of = maker->at[at].begins ? maker->at[at].line : 0;
		if (of && line[of - 1].file == file &&
		    (!greatest || line[of - 1].line > line[greatest - 1].line))
			greatest = of;
	}
	return greatest;
}

/*
 * GCC attributes the end of a function to its last line, the closing brace, so all code on that
 * line leads to a return. gcov counts the line only if it is a statement. In a void function
 * without a return statement, a nop marks the line as a statement.
 */
static void leave_out_brace(struct maker *maker, const struct lines_function *function)
{
	const uint32_t brace = function->line ? greatest_line(maker, function) : 0;
	size_t at, next = maker->halfwords;
	bool leads = false, returns = false;
	uint32_t column = 0;

	if (!brace || maker->covered->line[brace - 1].line == function->line)
		return;
	for (at = maker->halfwords; at--; ) {
		const struct instruction_at *one = &maker->at[at];

		if (!one->begins)
			continue;
		if (is_end(maker, next))
			leads = one->kind == FLOW_CALL || one->kind == FLOW_INDIRECT_CALL;
		leads |= one->kind == FLOW_RETURN;
		next = at;
		if (one->line != brace) {
			leads = false;
			continue;
		}
		returns |= one->kind == FLOW_RETURN;
		column = column ? column : one->column;
		/*
		 * Keep the line if it has a statement. A nop, a second column, or code that does
		 * not lead to a return indicates a statement.
		 */
		if (!leads || one->nop || one->column != column)
			return;
	}
	for (at = 0; returns && at < maker->halfwords; at++)
		if (maker->at[at].line == brace)
			maker->at[at].line = 0;
	for (at = 0; returns && at < maker->first_lines; at++)
		if (maker->first_line[at] == brace)
			maker->first_line[at] = 0;
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

static int by_key(const void *a, const void *b)
{
	const struct covered_pair *one = a, *two = b;

	if (one->key != two->key)
		return one->key > two->key ? 1 : -1;
	return (one->at > two->at) - (one->at < two->at);
}

static int compare_key(const void *key, const void *pair)
{
	return by_number(key, &((const struct covered_pair *)pair)->key);
}

/*
 * Return whether a basic block contains a line's code; @block is the index of its first halfword.
 */
static bool has_line(const struct maker *maker, size_t block, uint32_t line)
{
	const uint64_t key = (uint64_t)block << 32 | line;

	return bsearch(&key, maker->pair, maker->pairs, sizeof(*maker->pair), compare_key);
}

/* Find all distinct pairs of a basic block and one of its lines, and sort the pairs. */
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
		    (maker->pairs && maker->pair[maker->pairs - 1].key == key))
			continue;
		if (!covered_reserve(maker, &maker->pair, maker->pairs, &maker->pair_room,
				     sizeof(*maker->pair)))
			return;
		maker->pair[maker->pairs++] = (struct covered_pair){ key, (uint32_t)i };
	}
	if (maker->pairs)
		qsort(maker->pair, maker->pairs, sizeof(*maker->pair), by_key);
	for (i = 0; i < maker->pairs; i++)
		if (!i || maker->pair[i].key != maker->pair[i - 1].key)
			maker->pair[kept++] = maker->pair[i];
	maker->pairs = kept;
}

/*
 * Count jumps to a basic block from within its function. Set *@begin to the number of these jumps
 * that start an execution of @line.
 */
static uint64_t count_jumps(struct maker *maker, size_t block, uint32_t line, uint64_t *begin)
{
	const struct executed *executed = &maker->executed;
	const uint64_t address = address_of(maker, block);
	const struct executed_link *link;
	size_t i = executed_to(executed, address), from;
	uint64_t jumps = 0;

	*begin = 0;
	for (; i < executed->links && executed->to[i].to == address; i++) {
		link = &executed->to[i];
		if (!is_jump(link) || !index_of(maker, link->from, &from))
			continue;
		jumps += link->times;
		from = maker->at[from].block;
		if (from >= block || !has_line(maker, from, line))
			*begin += link->times;
	}
	return jumps;
}

/*
 * Return whether the preceding basic block also contains the line and can continue with this block.
 */
static bool goes_on(const struct maker *maker, size_t block, uint32_t line)
{
	size_t before = block;

	while (before && !maker->at[--before].begins)
		;
	return !maker->at[block].first && continues(maker->at[before].kind) &&
	       has_line(maker, maker->at[before].block, line);
}

static void count_line(struct maker *maker, const struct covered_pair *pair)
{
	const size_t block = (size_t)(pair->key >> 32);
	const uint32_t line = (uint32_t)pair->key;
	const uint64_t times = maker->times[pair->at];
	uint64_t jumps, begin;

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
		count_line(maker, &maker->pair[i]);
	/*
	 * After a gap, the flow may continue in the middle of a line, which has then been executed
	 * at least once.
	 */
	for (i = 0; i < maker->halfwords; i++)
		if (maker->at[i].begins && maker->at[i].line && maker->times[i] &&
		    !line[maker->at[i].line - 1].times)
			line[maker->at[i].line - 1].times = 1;
}

static uint64_t count_calls(struct maker *maker)
{
	uint64_t begin, jumps = count_jumps(maker, 0, 0, &begin);

	return maker->times[0] > jumps ? maker->times[0] - jumps : 0;
}

/* Count the line with the function's name, and first lines of statements, if they have no code. */
static void count_first_lines(struct maker *maker)
{
	struct covered_line *line;
	unsigned int i;

	for (i = 0; i < maker->first_lines; i++) {
		if (!maker->first_line[i])
			continue;
		line = &maker->covered->line[maker->first_line[i] - 1];
		if (line->seen == maker->starts)
			continue;
		line->seen = (uint32_t)maker->starts;
		line->times += count_calls(maker);
	}
}

/* For a line with a label but no code, use the count of the next instruction. */
static void count_labels(struct maker *maker, const struct lines_function *function)
{
	const struct lines_label *label = maker->unit->label + function->label;
	uint32_t i, line;
	size_t at;

	for (i = 0; i < function->labels; i++, label++) {
		if (!index_of(maker, label->address + maker->bias, &at))
			continue;
		line = covered_find_line(maker, label->file, label->line);
		if (!line || maker->covered->line[line - 1].seen == maker->starts)
			continue;
		maker->covered->line[line - 1].seen = (uint32_t)maker->starts;
		maker->covered->line[line - 1].times += maker->times[at];
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
			.order = address_of(maker, at), .reached = maker->times[at],
		};
		i = executed_from(executed, branch->order);
		for (; i < executed->links && executed->from[i].from == branch->order; i++)
			*(executed->from[i].next ? &branch->next : &branch->taken) +=
				executed->from[i].times;
	}
}

/* Add up the lines and branches of the current function, whose branches begin at index @branch. */
static void sum_up(struct maker *maker, struct covered_sum *sum, size_t branch)
{
	const struct covered *covered = maker->covered;
	/* Line numbers, shifted left by one; the lowest bit is set if the line was not executed. */
	uint64_t *line = malloc((maker->halfwords + COVERED_FIRST_MAX) * sizeof(*line));
	size_t lines = 0, at;

	if (!line) {
		maker->no_memory = true;
		return;
	}
	for (at = 0; at < maker->halfwords; at++)
		if (maker->at[at].begins && maker->at[at].line)
			line[lines++] = (uint64_t)maker->at[at].line << 1 | !maker->times[at];
	for (at = 0; at < maker->first_lines; at++)
		if (maker->first_line[at])
			line[lines++] = (uint64_t)maker->first_line[at] << 1 | !maker->times[0];
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

	if (!covered_reserve(maker, &covered->function, covered->functions,
			     &maker->function_room, sizeof(*covered->function)))
		return;
	function = &covered->function[covered->functions];
	*function = (struct covered_function){
		.name = strdup(name), .file = covered_find_file(maker, of->file),
		.line = of->line, .calls = count_calls(maker),
	};
	if (!function->name) {
		maker->no_memory = true;
		return;
	}
	covered->functions++;
	sum_up(maker, &function->sum, branch);
}

void covered_function(struct maker *maker, const struct lines_function *function, size_t parts)
{
	const size_t branch = maker->covered->branches;
	struct symbol symbol;
	size_t i;

	maker->parts = 0;
	maker->halfwords = 0;
	maker->name = 0;
	maker->first_lines = 0;
	if (!add_part(maker, function))
		return;
	for (i = 1; i < parts; i++)
		add_part(maker, function + i);
	if (!make_room(maker))
		return;
	for (i = 0; i < maker->parts; i++)
		read_part(maker, &maker->part[i]);
	for (i = 0; i < maker->parts && !maker->no_memory; i++)
		find_lines(maker, &maker->part[i]);
	if (maker->unit->gcc && !maker->no_memory)
		leave_out_brace(maker, function);
	if (maker->no_memory)
		return;
	count_lines(maker);
	count_first_lines(maker);
	count_branches(maker);
	if (maker->unit->gcc)
		count_labels(maker, function);
	if (!function->part && function->line &&
	    symbols_find(maker->symbols, maker->part[0].start, &symbol) && symbol.function)
		add_function(maker, function, symbol.function, branch);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes branch profiles of one object for BOLT and llvm-profgen, from instruction trace. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>

#include "../command.h"
#include "executed.h"
#include "export.h"
#include "image.h"
#include "text.h"

/* For llvm-profgen, subtract the page address of the first segment from all addresses. */
#define PAGE	4096

/**
 * struct branches - state of an export
 * @image, @bias: file of the object, and difference between addresses in memory and in the file
 * @base:	address in the file, subtracted from all addresses
 * @call:	calls, sorted by their return address
 */
struct branches {
	struct output		*out;
	struct symbols		*symbols;
	struct executed		executed;
	struct image		*image;
	uint64_t		bias;
	uint64_t		base;
	struct call		*call;
	size_t			calls;
};

struct call {
	uint64_t	end;
	uint64_t	at;
};

/* ---- addresses --------------------------------------------------------- */

static bool is_inside(const struct branches *branches, uint64_t address)
{
	uint64_t bias;
	struct image *image = symbols_image(branches->symbols, address, &bias);

	return image && (image == branches->image ||
			 !strcmp(image_path(image), image_path(branches->image)));
}

static uint64_t in_file(const struct branches *branches, uint64_t address)
{
	return address - branches->bias - branches->base;
}

/* Return the last instruction of a run. */
static uint64_t last_of(const struct executed_run *run)
{
	const struct block *block = run->of.block;
	uint32_t at = run->of.from, next;

	if (run->of.to == block->halfwords)
		return run->start + 2 * (uint64_t)(block->halfwords - block->last);
	for (; (next = at + block_length(block, at)) < run->of.to; at = next)
		;
	return run->start + 2 * (uint64_t)at;
}

/* ---- BOLT -------------------------------------------------------------- */

static int by_end(const void *a, const void *b)
{
	const struct call *one = a, *two = b;

	return (one->end > two->end) - (one->end < two->end);
}

static int find_calls(struct branches *branches)
{
	const struct executed *executed = &branches->executed;
	const struct block *block;
	size_t i;

	branches->call = malloc((executed->runs + 1) * sizeof(*branches->call));
	if (!branches->call)
		return -1;
	for (i = 0; i < executed->runs; i++) {
		block = executed->run[i].of.block;
		if (block->kind != FLOW_CALL && block->kind != FLOW_INDIRECT_CALL)
			continue;
		branches->call[branches->calls++] = (struct call){
			.end = executed->run[i].start + 2 * (uint64_t)block->halfwords,
			.at = executed->run[i].start +
			      2 * (uint64_t)(block->halfwords - block->last) };
	}
	qsort(branches->call, branches->calls, sizeof(*branches->call), by_end);
	return 0;
}

static void put_fallthrough(struct branches *branches, uint64_t from, uint64_t to,
			    uint64_t times)
{
	put_format(branches->out, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
		   in_file(branches, from), in_file(branches, to), times);
}

/* Write how often the flow returned to the instruction after each call. */
static void put_returns(struct branches *branches)
{
	const struct executed *executed = &branches->executed;
	const struct call *call;
	uint64_t times = 0;
	size_t i;

	for (i = 0; i < executed->links; i++) {
		if (executed->to[i].kind == FLOW_RETURN)
			times += executed->to[i].times;
		if (i + 1 < executed->links && executed->to[i + 1].to == executed->to[i].to)
			continue;
		call = bsearch(&(struct call){ .end = executed->to[i].to }, branches->call,
			       branches->calls, sizeof(*call), by_end);
		if (times && call && is_inside(branches, call->at))
			put_fallthrough(branches, call->at, call->end, times);
		times = 0;
	}
}

static void put_place(struct branches *branches, uint64_t address, bool inside)
{
	if (inside)
		put_format(branches->out, " %" PRIx64, in_file(branches, address));
	else
		put_string(branches->out, " X:0");
}

/* Write branches, and sequences of instructions executed without a branch. */
static int put_bolt(struct branches *branches)
{
	const struct executed *executed = &branches->executed;
	const struct executed_link *link;
	bool from, to;
	size_t i;

	if (find_calls(branches))
		return -1;
	for (i = 0; i < executed->links; i++) {
		link = &executed->from[i];
		from = is_inside(branches, link->from);
		to = is_inside(branches, link->to);
		if (link->next && from && to)
			put_fallthrough(branches, link->from, link->to, link->times);
		if (link->next || (!from && !to))
			continue;
		put_char(branches->out, 'B');
		put_place(branches, link->from, from);
		put_place(branches, link->to, to);
		put_format(branches->out, " %" PRIu64 " 0\n", link->times);
	}
	for (i = 0; i < executed->runs; i++)
		if (is_inside(branches, executed->run[i].start))
			put_fallthrough(branches,
					executed->run[i].start + 2 * executed->run[i].of.from,
					last_of(&executed->run[i]), executed->run[i].of.times);
	put_returns(branches);
	return 0;
}

/* ---- llvm-profgen ------------------------------------------------------ */

static void put_ranges(struct branches *branches)
{
	const struct executed *executed = &branches->executed;
	const struct executed_run *run;
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < executed->runs; i++)
		count += is_inside(branches, executed->run[i].start);
	put_format(branches->out, "%" PRIu64 "\n", count);
	for (i = 0; i < executed->runs; i++) {
		run = &executed->run[i];
		if (is_inside(branches, run->start))
			put_format(branches->out, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n",
				   in_file(branches, run->start + 2 * run->of.from),
				   in_file(branches, last_of(run)), run->of.times);
	}
}

static bool is_own_branch(const struct branches *branches, const struct executed_link *link)
{
	return !link->next && is_inside(branches, link->from) &&
	       is_inside(branches, link->to);
}

static void put_jumps(struct branches *branches)
{
	const struct executed *executed = &branches->executed;
	const struct executed_link *link;
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < executed->links; i++)
		count += is_own_branch(branches, &executed->from[i]);
	put_format(branches->out, "%" PRIu64 "\n", count);
	for (i = 0; i < executed->links; i++) {
		link = &executed->from[i];
		if (is_own_branch(branches, link))
			put_format(branches->out, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n",
				   in_file(branches, link->from), in_file(branches, link->to),
				   link->times);
	}
}

/* Find the page of the file's first segment. */
static int find_base(struct branches *branches)
{
	const char *path = image_path(branches->image);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	GElf_Phdr header;
	size_t count = 0, i;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_getphdrnum(elf, &count))
		count = 0;
	for (i = 0; i < count && gelf_getphdr(elf, (int)i, &header); i++)
		if (header.p_type == PT_LOAD)
			break;
	if (i < count)
		branches->base = header.p_vaddr & -(uint64_t)PAGE;
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	if (i < count)
		return 0;
	report("%s: cannot read its segments: is it an ELF program?", path);
	return -1;
}

static int put_profgen(struct branches *branches)
{
	if (find_base(branches))
		return -1;
	put_ranges(branches);
	put_jumps(branches);
	return 0;
}

/* ---- the object -------------------------------------------------------- */

/* Return the object's name or, if no object was given, the program's name. */
static const char *wanted(const struct export *export, char program[PATH_MAX])
{
	if (export->object)
		return export->object;
	if (export->input.meta.exe)
		return text_base(export->input.meta.exe);
	if (!export->common.symbols.files)
		return NULL;
	snprintf(program, PATH_MAX, "%s", export->common.symbols.file[0]);
	symbols_split(program, &(uint64_t){ 0 });
	return text_base(program);
}

static int find_object(struct branches *branches, const struct export *export)
{
	const struct executed *executed = &branches->executed;
	char program[PATH_MAX];
	const char *name = wanted(export, program), *path;
	size_t i;

	for (i = 0; name && i < executed->objects; i++) {
		path = image_path(executed->object[i].image);
		if (strcmp(text_base(path), name) && strcmp(path, name))
			continue;
		branches->image = executed->object[i].image;
		branches->bias = executed->object[i].bias;
		return 0;
	}
	report("no code of %s was executed, or its file is missing: name a different object with --object",
	       name ? name : "a known program");
	for (i = 0; i < executed->objects; i++)
		report("  %s was executed", image_path(executed->object[i].image));
	return -1;
}

static int run(struct export *export, int (*put)(struct branches *branches))
{
	struct branches branches = { .out = export->out, .symbols = export->input.symbols };
	struct counts *counts = counts_read(&export->input);
	char why[COUNTS_WHY_SIZE];
	int error = 0;

	if (!counts)
		return -1;
	if (executed_make(&branches.executed, counts, branches.symbols)) {
		report("out of memory");
		error = -1;
	}
	if (!error && trace_stats(export->input.trace)->branches)
		error = find_object(&branches, export);
	if (!error && branches.image)
		error = put(&branches);
	if (!error && !counts_exact(counts, why))
		report("%s: counts may be too low: %s", export->common.path, why);
	free(branches.call);
	executed_free(&branches.executed);
	counts_free(counts);
	return error;
}

static int run_bolt(struct export *export)
{
	return run(export, put_bolt);
}

static int run_profgen(struct export *export)
{
	return run(export, put_profgen);
}

const struct exporter export_bolt = {
	.name = "bolt",
	.help = "instruction trace: a pre-aggregated profile of branches for llvm-bolt -aggregate-only -pa",
	.run = run_bolt,
	.flow = true,
	.all_calls = true,
};

const struct exporter export_profgen = {
	.name = "profgen",
	.help = "instruction trace: a profile of branches for llvm-profgen --unsymbolized-profile",
	.run = run_profgen,
	.flow = true,
	.all_calls = true,
};

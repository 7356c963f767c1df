// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See find.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../nearest.h"
#include "demangle.h"
#include "elf.h"
#include "find.h"

/* Branches, jumps and returns: their bits and values. */
#define C_BRANCH(half)	(((half) & 0xc003) == 0xc001)
#define C_J(half)	(((half) & 0xe003) == 0xa001)
#define C_JR(half)	(((half) & 0xf07f) == 0x8002 && (half) & 0xf80)
#define J(word)		(((word) & 0xfff) == 0x06f)
#define BRANCH(word)	(((word) & 0x7f) == 0x063)
#define JR(word)	(((word) & 0x7fff) == 0x067)

/* What gcc has moved out of a function. */
#define COLD		".cold"

/* Addresses of a part of a function; none: @size is 0. */
struct part {
	uint64_t	start;
	uint64_t	size;
};

/**
 * struct search - a search for a name
 * @exits:	also for where the function ends
 * @loops:	a jump in the function leads to its start
 * @count:	how many functions in the file have the name
 * @whole:	the latest, and what has been moved out of it
 * @clone:	the first of copies that gcc has made, which are not probed; @clones of them
 * @nearest:	the nearest of other names, in @word
 */
struct search {
	const char	*name;
	bool		exits;
	bool		loops;
	unsigned int	count;
	struct part	whole[2];
	char		*clone;
	unsigned int	clones;
	struct nearest	nearest;
	char		*word;
};

/* Looks at a name that must not outlive the call. */
static void try_nearest(struct search *s, const char *name)
{
	struct nearest nearest = s->nearest;

	nearest_try(&nearest, name);
	if (nearest.found == s->nearest.found && nearest.distance == s->nearest.distance)
		return;
	free(s->word);
	s->word = strdup(name);
	s->nearest = nearest;
	s->nearest.found = s->word;
}

static void consider(void *argument, const char *name, uint64_t start, uint64_t size)
{
	char *full = demangle(name);
	struct search *s = argument;
	bool fits = !strcmp(name, s->name) || (full && !strcmp(full, s->name));
	const char *cut = full ? demangle_cut(full) : name;

	fits |= !strcmp(cut, s->name);
	if (!fits)
		try_nearest(s, cut);
	/* Several names of one function are no question. */
	if (fits && !(s->count && s->whole[0].start == start)) {
		s->count++;
		s->whole[0] = (struct part){ start, size };
	}
	free(full);
}

/* Whether the first @length bytes of a symbol's name are the function's. */
static bool names_function(const struct search *s, const char *name, size_t length)
{
	struct search one = { .name = s->name, .nearest = { .wanted = "" } };
	char *function = strndup(name, length);

	if (function)
		consider(&one, function, 0, 1);
	free(function);
	free(one.word);
	return one.count;
}

static bool ends_cold(const char *name)
{
	const size_t length = strlen(name), end = strlen(COLD);

	return length > end && !strcmp(name + length - end, COLD);
}

/* What gcc has made of a function, besides the function itself. */
static void consider_parts(void *argument, const char *name, uint64_t start, uint64_t size)
{
	static const char * const clones[] = { ".constprop.", ".part.", ".isra." };
	struct search *s = argument;
	const char *end = NULL, *at;
	size_t i;

	if (ends_cold(name)) {
		if (names_function(s, name, strlen(name) - strlen(COLD)))
			s->whole[1] = (struct part){ start, size };
		return;
	}
	for (i = 0; i < sizeof(clones) / sizeof(clones[0]); i++) {
		at = strstr(name, clones[i]);
		if (at && (!end || at < end))
			end = at;
	}
	if (!end || !names_function(s, name, (size_t)(end - name)))
		return;
	s->clones++;
	if (!s->clone)
		s->clone = strdup(name);
}

/* ---- where a function ends ------------------------------------------------- */

static bool is_within(const struct search *s, uint64_t address)
{
	return address - s->whole[0].start < s->whole[0].size ||
	       address - s->whole[1].start < s->whole[1].size;
}

/* The immediates of jumps, whose bits are in no order. */
static int64_t offset_of_c_j(uint32_t half)
{
	const uint32_t bits = (half >> 3 & 7) << 1 | (half >> 11 & 1) << 4 |
			      (half >> 2 & 1) << 5 | (half >> 7 & 1) << 6 |
			      (half >> 6 & 1) << 7 | (half >> 9 & 3) << 8 |
			      (half >> 8 & 1) << 10 | (half >> 12 & 1) << 11;

	return (int64_t)bits - (bits >> 11 ? 1 << 12 : 0);
}

static int64_t offset_of_c_branch(uint32_t half)
{
	const uint32_t bits = (half >> 3 & 3) << 1 | (half >> 10 & 3) << 3 |
			      (half >> 2 & 1) << 5 | (half >> 5 & 3) << 6 | (half >> 12 & 1) << 8;

	return (int64_t)bits - (bits >> 8 ? 1 << 9 : 0);
}

static int64_t offset_of_branch(uint32_t word)
{
	const uint32_t bits = (word >> 8 & 0xf) << 1 | (word >> 25 & 0x3f) << 5 |
			      (word >> 7 & 1) << 11 | (word >> 31) << 12;

	return (int64_t)bits - (bits >> 12 ? 1 << 13 : 0);
}

static int64_t offset_of_j(uint32_t word)
{
	const uint32_t bits = (word >> 21 & 0x3ff) << 1 | (word >> 20 & 1) << 11 |
			      (word >> 12 & 0xff) << 12 | (word >> 31) << 20;

	return (int64_t)bits - (bits >> 20 ? 1 << 21 : 0);
}

/* How far an instruction jumps, 0: it does not, or to an unknown address. */
static int64_t offset_of(uint32_t word, bool compressed)
{
	if (compressed)
		return C_J(word) ? offset_of_c_j(word) :
		       C_BRANCH(word) ? offset_of_c_branch(word) : 0;
	return J(word) ? offset_of_j(word) : BRANCH(word) ? offset_of_branch(word) : 0;
}

/* Whether an instruction can leave the function; gcc's branches do not. */
static bool is_exit(const struct search *s, uint64_t at, uint32_t word, bool compressed)
{
	const bool jump = compressed ? C_J(word) : J(word);

	return (compressed ? C_JR(word) : JR(word)) ||
	       (jump && !is_within(s, at + (uint64_t)offset_of(word, compressed)));
}

/* Also finds out whether the function @loops. Returns -1 if there are too many. */
static int find_exits(struct search *s, const struct part *part, const struct elf *elf,
		      struct found *found)
{
	const unsigned char *bytes;
	uint64_t offset, at, length, to;
	uint32_t word;

	if (!part->size || !elf_offset(elf, part->start, &offset))
		return 0;
	bytes = (const unsigned char *)elf->bytes + offset;
	for (at = 0; at + 2 <= part->size && at + 2 <= elf->size - offset; at += length) {
		word = (uint32_t)bytes[at] | (uint32_t)bytes[at + 1] << 8;
		length = (word & 3) != 3 ? 2 : (word & 0x1f) != 0x1f ? 4 : 6;
		if (length > elf->size - offset - at)
			break;
		if (length == 4)
			word |= (uint32_t)bytes[at + 2] << 16 | (uint32_t)bytes[at + 3] << 24;
		if (length > 4)
			continue;
		to = part->start + at + (uint64_t)offset_of(word, length == 2);
		s->loops |= to == s->whole[0].start && to != part->start + at;
		if (!s->exits || !is_exit(s, part->start + at, word, length == 2))
			continue;
		if (found->offsets == sizeof(found->offset) / sizeof(found->offset[0]))
			return -1;
		found->offset[found->offsets++] = offset + at;
	}
	return 0;
}

/* ---- files ----------------------------------------------------------------- */

/* What prevents that the function is probed, NULL: nothing. */
static const char *set_offsets(struct search *s, const struct elf *elf, struct found *found)
{
	if (!elf_offset(elf, s->whole[0].start, &found->offset[0]))
		return "its code is not in the file";
	found->offsets = 1;
	elf_functions(elf, consider_parts, s);
	if (find_exits(s, &s->whole[0], elf, found) || find_exits(s, &s->whole[1], elf, found))
		return "it has too many returns";
	if (s->loops)
		return "a jump in it leads to its first instruction, so rounds of a loop would count as calls";
	if (!s->exits)
		return NULL;
	if (found->offsets > 1 && found->offset[1] == found->offset[0])
		return "its first instruction leaves it, so its calls take no time";
	return found->offsets == 1 ? "it has no return" : NULL;
}

/* Returns 1 if the file has no such function. */
static int look_at(struct search *s, const char *path, const char *option, struct found *found)
{
	const char *why = NULL;
	struct elf elf;

	s->count = 0;
	s->loops = false;
	*found = (struct found){ .path = path };
	if (!elf_open(path, ELF_ALL, &elf)) {
		if (!elf_functions(&elf, consider, s) || !s->count)
			elf_exported(&elf, consider, s);
		if (s->count == 1)
			why = set_offsets(s, &elf, found);
	}
	elf_close(&elf);
	if (s->count > 1)
		report("--%s %s: %s has %u functions of this name: give one whose name is its own; a C++ function with its parameters",
		       option, s->name, path, s->count);
	else if (why)
		report("--%s %s: %s: %s: give a function that calls it, or that it calls",
		       option, s->name, path, why);
	else if (s->clones)
		report("--%s %s: %s also has %s%s, which gcc has made of it: calls of %s do not count",
		       option, s->name, path, s->clone ? s->clone : "a copy",
		       s->clones > 1 ? " and others" : "", s->clones > 1 ? "these" : "this one");
	if (!s->count)
		return 1;
	return s->count > 1 || why ? -1 : 0;
}

int find_function(const struct program *program, const char *name, bool exits,
		  const char *option, struct found *found)
{
	struct search s = { .name = name, .exits = exits, .nearest = { .wanted = name } };
	int error = look_at(&s, program->path, option, found);
	char near[256];
	size_t i;

	for (i = 0; i < program->shared_objects && error > 0; i++)
		error = look_at(&s, program->shared[i], option, found);
	if (error > 0)
		report("--%s %s: no function of this name in %s%s: %snm -C %s shows names%s",
		       option, name, program->path,
		       program->shared_objects ? " or its shared objects" : "",
		       nearest_text(&s.nearest, "", near, sizeof(near)), program->path,
		       demangle_possible() ? "" :
		       "; without libstdc++.so.6 on this machine, C++ names are those of nm without -C");
	free(s.word);
	free(s.clone);
	return error ? -1 : 0;
}

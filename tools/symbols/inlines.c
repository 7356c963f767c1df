// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds inlined functions with elfutils: see inlines.h. */
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <elfutils/libdwfl.h>

#include "image.h"
#include "inlines.h"

static Dwarf_Word number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) ? 0 : value;
}

static void set_frame(struct inlines_frame *frame, Dwarf_Die *unit, Dwarf_Die *die)
{
	const Dwarf_Word file = number_of(die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	frame->function = dwarf_diename(die);
	frame->line = (int)number_of(die, DW_AT_call_line);
	frame->file = dwarf_getsrcfiles(unit, &files, &count) || file >= count ? NULL :
		      dwarf_filesrc(files, file, NULL, NULL);
}

/* Find the non-inlined function that contains an address. */
static bool find_around(struct inlines *inlines, Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Die *inner, *scopes;
	int count = dwarf_getscopes(unit, address, &inner), i;

	inlines->found = false;
	if (count <= 0)
		return false;
	/*
	 * dwarf_getscopes() returns the scopes around an inlined function's source, not around its
	 * code.
	 */
	count = dwarf_getscopes_die(&inner[0], &scopes);
	free(inner);
	if (count <= 0)
		return false;
	for (i = 0; i < count && !inlines->found; i++) {
		inlines->found = dwarf_tag(&scopes[i]) == DW_TAG_subprogram;
		inlines->around = scopes[i];
	}
	free(scopes);
	return inlines->found;
}

static bool is_scope(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_inlined_subroutine ||
	       dwarf_tag(die) == DW_TAG_lexical_block;
}

/* Set @die to the scope within @die that contains an address; return false if none does. */
static bool find_inner(Dwarf_Die *die, Dwarf_Addr address)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return false;
	do {
		if (is_scope(&child) && dwarf_haspc(&child, address) > 0) {
			*die = child;
			return true;
		}
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static void find_frames(struct inlines *inlines, Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Die die = inlines->around, frame[INLINES_MAX];
	unsigned int depth = 0, i;

	while (depth < INLINES_MAX && find_inner(&die, address))
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			frame[depth++] = die;
	for (i = 0; i < depth; i++)
		set_frame(&inlines->frame[i], unit, &frame[depth - 1 - i]);
	inlines->frames = depth;
}

void image_inlines(struct image *image, uint64_t address, struct inlines *inlines)
{
	struct Dwfl_Module *module = image_lines_module(image);
	Dwarf_Addr bias = 0;
	Dwfl_Line *line;
	Dwarf_Die *unit;

	inlines->file = NULL;
	inlines->dir = NULL;
	inlines->line = 0;
	inlines->frames = 0;
	line = module ? dwfl_module_getsrc(module, address) : NULL;
	if (!line)
		return;
	inlines->file = dwfl_lineinfo(line, NULL, &inlines->line, NULL, NULL, NULL);
	inlines->dir = dwfl_line_comp_dir(line);
	unit = dwfl_module_addrdie(module, address, &bias);
	if (!unit)
		return;
	address -= bias;
	if ((inlines->found && dwarf_haspc(&inlines->around, address) > 0) ||
	    find_around(inlines, unit, address))
		find_frames(inlines, unit, address);
}

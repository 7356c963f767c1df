/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds an instruction's source: the line, and the functions inlined at the instruction. */
#ifndef SIFIVE_TRACE_INLINES_H
#define SIFIVE_TRACE_INLINES_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

struct image;

/* Maximum number of frames per instruction; only damaged debug information exceeds this number. */
#define INLINES_MAX	32

/**
 * struct inlines_frame - an inlined function
 * @function:	name of the function, or NULL if unknown
 * @file, @line: place of the call; NULL and 0 if unknown
 */
struct inlines_frame {
	const char	*function;
	const char	*file;
	int		line;
};

/**
 * struct inlines - the source of an instruction
 * @file:	path of the source file as given to the compiler, or NULL if unknown
 * @dir:	directory in which @file was compiled, or NULL if unknown
 * @line:	line number in @file, or 0 if unknown
 * @frames:	inlined functions, the innermost first
 * @around, @found: private: cache of the enclosing function, which often also contains the address
 *		that is looked up next
 *
 * Strings are valid until image_close().
 */
struct inlines {
	const char		*file;
	const char		*dir;
	int			line;
	unsigned int		frames;
	struct inlines_frame	frame[INLINES_MAX];
	Dwarf_Die		around;
	bool			found;
};

/**
 * image_inlines() - find the source of an instruction
 * @address:	address in the file
 * @inlines:	set even if nothing is known; the caller must zero it before the first call
 */
void image_inlines(struct image *image, uint64_t address, struct inlines *inlines);

#endif /* SIFIVE_TRACE_INLINES_H */

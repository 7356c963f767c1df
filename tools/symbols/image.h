/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One ELF file: its functions and source lines, at the file's own addresses. */
#ifndef SIFIVE_TRACE_IMAGE_H
#define SIFIVE_TRACE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hexadecimal digits of a build-id that are compared, with the final 0. */
#define IMAGE_BUILD_ID_SIZE	129

struct image;

/* What a function's name is worth; a symbol's is worth more than these. */
#define IMAGE_FRAME	0	/* none: an unwind table has its addresses */
#define IMAGE_STUB	1	/* a stub's in the procedure linkage table */

/**
 * struct image_function - a function of an image
 * @start, @end:	its addresses, @end is behind it
 * @name:		as in the symbol table; lasts as long as the image; of a stub
 *			the function that it jumps to; NULL for IMAGE_FRAME
 * @rank:		of names of one address the best
 * @sized:		@end is known, not only where the section ends
 */
struct image_function {
	uint64_t	start;
	uint64_t	end;
	const char	*name;
	unsigned int	rank;
	bool		sized;
};

/**
 * image_open() - read an ELF file
 * @path:	file of any machine, with symbols or not
 * @debug:	more folders with separate debug information, as libdwfl takes
 *		them, or NULL; must last as long as the image
 * @error:	set to the reason when there is no image
 *
 * Return: the image, or NULL.
 */
struct image *image_open(const char *path, const char *debug,
			 const char **error);

/** image_is_foreign() - whether an ELF file is for other processors than RISC-V */
bool image_is_foreign(const char *path);

/** image_has_tracer() - whether the tracing library is linked with the program */
bool image_has_tracer(const struct image *image);

/** image_close() - free an image; NULL is fine */
void image_close(struct image *image);

/** image_path() - the file that it was read from; lasts as long as the image */
const char *image_path(const struct image *image);

/**
 * image_range() - the addresses that its functions are at
 * @first, @last: set to the first and the last, when there are functions
 *
 * Return: whether it has functions.
 */
bool image_range(const struct image *image, uint64_t *first, uint64_t *last);

/**
 * image_each() - one function with a symbol after the other, by address
 * @index:	0 at first
 *
 * Return: the function, NULL behind the last.
 */
const struct image_function *image_each(const struct image *image, size_t *index);

/** image_function() - the function that an address is in, or NULL */
const struct image_function *image_function(const struct image *image,
					    uint64_t address);

/**
 * image_line() - the source line that an address is on
 * @line:	set to its number
 *
 * Return: the file as the compiler was given it, NULL when unknown.
 */
const char *image_line(struct image *image, uint64_t address, int *line);

/**
 * image_build_id() - read a file's build-id
 * @path:	file
 * @text:	filled with IMAGE_BUILD_ID_SIZE bytes at most: lower case
 *		hexadecimal, empty when it has none
 *
 * Return: false when it is no readable ELF file.
 */
bool image_build_id(const char *path, char *text);

#endif /* SIFIVE_TRACE_IMAGE_H */

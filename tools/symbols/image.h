/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the functions and source lines of one ELF file, by addresses in the file. */
#ifndef SIFIVE_TRACE_IMAGE_H
#define SIFIVE_TRACE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of hexadecimal digits of a build-id to compare, plus the terminating NUL. */
#define IMAGE_BUILD_ID_SIZE	129

struct image;

/* Ranks of names that are not symbols; symbols have higher ranks. */
#define IMAGE_FRAME 0 /* no name, because the addresses come from an unwind table */
#define IMAGE_STUB	1	/* the name of a stub in the procedure linkage table */

/**
 * struct image_function - a function of an image
 * @start, @end:	addresses of the function, @end exclusive
 * @name:		name from the symbol table; for a stub, the name of the function that the
 *		stub jumps to; or NULL for IMAGE_FRAME; valid until image_close()
 * @rank:		priority of the name: of several names at an address, the name with the
 *		highest rank is used
 * @sized:		@end is the end of the function, not just the end of its section
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
 * @path:	an ELF file for any machine, with or without symbols
 * @debug:	search path for separate debug information, in libdwfl's format, or NULL for
 *		libdwfl's default; must remain valid until image_close()
 * @error:	set to the reason if NULL is returned
 *
 * Return: the image, or NULL.
 */
struct image *image_open(const char *path, const char *debug,
			 const char **error);

/**
 * image_is_program() - return whether a path names an ELF file; only regular files are opened,
 * because any other file could block
 */
bool image_is_program(const char *path);

/** image_is_foreign() - return whether an ELF file is for a processor other than RISC-V */
bool image_is_foreign(const char *path);

/** image_has_tracer() - return whether the program is linked with the tracing library */
bool image_has_tracer(const struct image *image);

/** image_close() - free an image; NULL is allowed */
void image_close(struct image *image);

/**
 * image_path() - return the path of the file from which the image was read; valid until
 * image_close()
 */
const char *image_path(const struct image *image);

/**
 * image_range() - get the address range of a file's functions
 * @first, @last: set to the first and the last address, if there are functions
 *
 * Return: whether the file has functions.
 */
bool image_range(const struct image *image, uint64_t *first, uint64_t *last);

/**
 * image_code() - get the address range of a file's code
 * @first, @last: set to the first and the last address, if there is code
 *
 * Return: whether the file has code.
 */
bool image_code(const struct image *image, uint64_t *first, uint64_t *last);

/**
 * image_each() - iterate over the functions with symbols, by address
 * @index:	position of the iteration; must be 0 before the first call
 *
 * Return: the function, or NULL after the last.
 */
const struct image_function *image_each(const struct image *image, size_t *index);

/** image_function() - return the function that contains an address, or NULL */
const struct image_function *image_function(const struct image *image,
					    uint64_t address);

/**
 * image_line() - find the source line of an address
 * @line:	set to the line number
 *
 * Return: the source file as given to the compiler, or NULL if unknown.
 */
const char *image_line(struct image *image, uint64_t address, int *line);

struct Dwfl_Module;

/** image_module() - return the file as a libdwfl module */
struct Dwfl_Module *image_module(const struct image *image);

/** image_is_wide() - return whether a file's addresses are 64 bits wide */
bool image_is_wide(const struct image *image);

/**
 * image_lines_module() - return the module for the file's debug information, or NULL if no debug
 * information is used
 */
struct Dwfl_Module *image_lines_module(struct image *image);

/**
 * image_build_id() - read a file's build-id
 * @path:	file
 * @text:	set to at most IMAGE_BUILD_ID_SIZE bytes of lower-case hexadecimal; empty if
 *		the file has none
 *
 * Return: false if it is not a readable ELF file.
 */
bool image_build_id(const char *path, char *text);

#endif /* SIFIVE_TRACE_IMAGE_H */

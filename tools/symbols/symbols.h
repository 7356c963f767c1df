/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * From an address in the traced program to the function, file and line it
 * belongs to: which file was where in memory, and the names in each.
 */
#ifndef SIFIVE_TRACE_SYMBOLS_H
#define SIFIVE_TRACE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "meta.h"

#define SYMBOLS_FILES_MAX	64

struct symbols;

/* How C++ names are shown. */
enum demangle {
	DEMANGLE_SIMPLE,	/* without the parameters' types */
	DEMANGLE_FULL,
	DEMANGLE_NO,
};

/**
 * struct symbols_options - what the user said
 * @file:	files named with -e, PATH or PATH@BIAS
 * @files:	number of them
 * @symfs:	folder under which to look for the files, NULL for none
 * @demangle:	enum demangle
 */
struct symbols_options {
	const char	*file[SYMBOLS_FILES_MAX];
	unsigned int	files;
	const char	*symfs;
	enum demangle	demangle;
};

/**
 * struct symbol - what an address belongs to
 * @known:	it belongs to a function, whose @start is known
 * @function:	the function's name, NULL when it has none: the file is stripped
 * @start:	address of the function's first instruction
 * @file:	source file as the compiler was given it, NULL when unknown
 * @line:	line in it, 0 when unknown
 * @object:	name of the program or shared object, NULL when unknown
 * @offset:	the address in that file
 * @tracer:	the function is the tracer's own, not the program's
 *
 * The strings last until symbols_close().
 */
struct symbol {
	bool		known;
	const char	*function;
	uint64_t	start;
	const char	*file;
	int		line;
	const char	*object;
	uint64_t	offset;
	bool		tracer;
};

/**
 * symbols_open() - find the files that addresses are in
 * @options:	what the user said
 * @meta:	the side-car file, must outlive the symbols
 *
 * With objects in the side-car file, each is the file of the user's that has
 * its build-id or name, or the file of its path, also under @symfs and among
 * the build-ids of a debug folder; a file with another build-id is refused.
 * Otherwise the user's files are taken to be at their own addresses.
 *
 * Return: the symbols; NULL when a file of the user's cannot be read: the
 * reason has been printed.
 */
struct symbols *symbols_open(const struct symbols_options *options,
			     const struct meta *meta);

/**
 * symbols_split() - take what -e was given apart
 * @text:	PATH or PATH@BIAS; becomes PATH
 * @bias:	set, to 0 where there is none
 *
 * Return: whether there was a bias.
 */
bool symbols_split(char *text, uint64_t *bias);

/**
 * symbols_wrap() - how the trace's timestamps wrap, before anything is looked up
 * @ts_mask:	the greatest one
 */
void symbols_wrap(struct symbols *symbols, uint64_t ts_mask);

/**
 * symbols_when() - the time of the addresses that are looked up from now on
 * @symbols:	may be NULL
 * @known:	false: what had an address of another's is not found
 * @time:	in ticks
 */
void symbols_when(struct symbols *symbols, bool known, uint64_t time);

/**
 * symbols_place() - an address that means the same at any time
 * @symbols:	may be NULL
 *
 * It differs from @address only if several objects had that one after the other.
 */
uint64_t symbols_place(const struct symbols *symbols, uint64_t address);

/** symbols_close() - free symbols; NULL is fine */
void symbols_close(struct symbols *symbols);

/**
 * symbols_find() - look an address up
 * @symbols:	from symbols_open(), or NULL: nothing is found
 * @address:	any value
 * @symbol:	filled, also when nothing is found
 *
 * Recent answers are kept: looking the same addresses up again is cheap.
 *
 * Return: whether the address lies in a function, with a name or not.
 */
bool symbols_find(struct symbols *symbols, uint64_t address,
		  struct symbol *symbol);

/**
 * symbols_find_caller() - look up where a call came from
 * @address:	the address that it returns to
 *
 * The call itself, and maybe its function's end, is before that. A function's
 * first address is taken as it is: some writers give only that.
 */
bool symbols_find_caller(struct symbols *symbols, uint64_t address,
			 struct symbol *symbol);

/**
 * symbols_same() - the one address that stands for all those of a function
 * @symbols:	may be NULL
 * @address:	where one process has it
 *
 * Return: where that part of the same file (its build-id, or else its path) is in
 * the process that comes first; the address itself where no file is known.
 */
uint64_t symbols_same(struct symbols *symbols, uint64_t address);

/**
 * struct symbols_object - a program or shared object in memory
 * @name:	its name
 * @path:	the file that was found for it
 * @bias:	an address in the file plus this is the one in memory
 */
struct symbols_object {
	const char	*name;
	const char	*path;
	uint64_t	bias;
};

/**
 * symbols_object() - the object that an address is in
 * @symbols:	may be NULL: none is found
 * @object:	filled; the strings last until symbols_close()
 *
 * Return: whether there is one, and a file for it.
 */
bool symbols_object(struct symbols *symbols, uint64_t address,
		    struct symbols_object *object);

/**
 * symbols_expect() - the trace has a function at an address
 * @symbols:	may be NULL
 */
void symbols_expect(struct symbols *symbols, uint64_t address);

/**
 * symbols_caller() - the function that a call came from
 * @symbols:	may be NULL: none is found
 * @call_site:	the address that the call returns to
 *
 * Only in files of which functions are expected: others are not worth a word when
 * they are not there.
 *
 * Return: the function's first address as of symbols_place(), 0 when it is not known.
 */
uint64_t symbols_caller(struct symbols *symbols, uint64_t call_site);

/**
 * symbol_name() - "main+0x12", "libfoo.so+0x123", or the bare address
 * @text:	filled, terminated
 * @size:	bytes at @text
 */
void symbol_name(const struct symbol *symbol, uint64_t address, char *text,
		 unsigned int size);

#endif /* SIFIVE_TRACE_SYMBOLS_H */

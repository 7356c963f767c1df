/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Translates an address in the traced program to a function, file and line, using the mapped files
 * and their symbols.
 */
#ifndef SIFIVE_TRACE_SYMBOLS_H
#define SIFIVE_TRACE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/sifive_trace_format.h>

#include "meta.h"

#define SYMBOLS_FILES_MAX	64

struct symbols;

/* Values of --demangle: how to show C++ names. */
enum demangle {
	DEMANGLE_SIMPLE,	/* without the types of parameters */
	DEMANGLE_FULL,
	DEMANGLE_NO,
};

/**
 * struct symbols_options - the user's settings
 * @file:	files named with -e, PATH or PATH@BIAS
 * @files:	number of these files
 * @symfs:	root directory below which files are looked up, too, or NULL
 * @demangle:	enum demangle
 */
struct symbols_options {
	const char	*file[SYMBOLS_FILES_MAX];
	unsigned int	files;
	const char	*symfs;
	enum demangle	demangle;
};

/**
 * struct symbol - the symbol of an address
 * @known:	the address is in a function, whose @start is known
 * @function:	name of the function, or NULL if the function has none, as in a stripped file
 * @start:	address of the function's first instruction
 * @file:	source file as given to the compiler, or NULL if unknown
 * @line:	line in @file, or 0 if unknown
 * @object:	name of the program or shared object, or NULL if unknown
 * @offset:	the address in the file of @object
 * @tracer:	the function belongs to the tracer, not the program
 * @generated:	set for generated code that writes records and is not in any file
 *
 * The strings are valid until symbols_close().
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
	bool		generated;
};

/**
 * symbols_open() - find the files that contain the code of addresses
 * @options:	the user's settings
 * @meta:	the side-car file, which must outlive the symbols
 *
 * The file used for an object is the user's file with the object's build-id or name. Without such a
 * file, it is the file at the object's path (as given, below --symfs, or among the copies in the
 * trace's directory), or the file with the object's build-id in a debug directory. A file with a
 * different build-id is rejected. If the side-car file lists no objects, each of the user's files
 * is assumed to be loaded at the addresses that the file specifies.
 *
 * Return: the symbols, or NULL after printing an error if a file named by the user cannot be read.
 */
struct symbols *symbols_open(const struct symbols_options *options,
			     const struct meta *meta);

/**
 * symbols_kernel() - find the kernel's functions in the file beside a trace: see kernel_open()
 * @trace:	path of the trace, which must outlive the symbols
 */
void symbols_kernel(struct symbols *symbols, const char *trace);

/**
 * symbols_split() - split the argument of -e
 * @text:	PATH or PATH@BIAS; becomes PATH
 * @bias:	set to the bias, or 0 if there is none
 *
 * Return: whether there was a bias.
 */
bool symbols_split(char *text, uint64_t *bias);

/**
 * symbols_renew() - use a newer side-car file
 * @meta:	the file, which must outlive the symbols; the old one is no longer used
 *
 * Strings and images found so far are no longer valid. If memory runs out, the symbols remain
 * unchanged, which the return value false shows.
 */
bool symbols_renew(struct symbols *symbols, const struct meta *meta);

/**
 * symbols_clock() - set the trace's clock, before any lookup
 * @hz:		ticks per second, or 0 if unknown
 * @ts_mask:	maximum timestamp
 */
void symbols_clock(struct symbols *symbols, uint64_t hz, uint64_t ts_mask);

struct perfrec_record;
struct perfrec_stamp;

/**
 * symbols_where() - set the time and the process for the lookups that follow
 * @symbols:	may be NULL
 * @record:	the record whose addresses are looked up; without a time, objects that shared
 *		addresses are not found
 */
void symbols_where(struct symbols *symbols, const struct perfrec_record *record);

/** symbols_when() - set the time for the lookups that follow, without a process */
void symbols_when(struct symbols *symbols, const struct perfrec_stamp *stamp);

/**
 * symbols_place() - convert an address to one that identifies its object at any time
 * @symbols:	may be NULL
 *
 * The result differs from @address only if several objects had that address.
 */
uint64_t symbols_place(const struct symbols *symbols, uint64_t address);

/**
 * symbols_place_at() - like symbols_place(), but for code of an unknown process
 * @time:	time in ticks, or NULL if unknown
 */
uint64_t symbols_place_at(const struct symbols *symbols, uint64_t address,
			  const uint64_t *time);

/** symbols_close() - free @symbols; NULL is allowed */
void symbols_close(struct symbols *symbols);

/**
 * symbols_find() - look up an address
 * @symbols:	result of symbols_open(), or NULL to find nothing
 * @address:	the address, which may have any value
 * @symbol:	the result; set even if nothing is found
 *
 * Recent results are cached, so looking up the same addresses again is cheap.
 *
 * Return: whether the address is in a function, with a name or not.
 */
bool symbols_find(struct symbols *symbols, uint64_t address,
		  struct symbol *symbol);

/**
 * symbols_find_caller() - look up a call site
 * @address:	the return address
 *
 * The call precedes the return address, which may be in the next function. The first address of a
 * function is looked up unchanged, because some writers record that address instead of a call site.
 */
bool symbols_find_caller(struct symbols *symbols, uint64_t address,
			 struct symbol *symbol);

/**
 * symbols_find_return() - look up the call that precedes return address @address; if @address is
 * odd, look up the instruction at @address - 1 instead
 *
 * For a return address, symbol->offset is the offset of the return address, not of the call.
 */
bool symbols_find_return(struct symbols *symbols, uint64_t address, struct symbol *symbol);

/**
 * symbols_callers() - get the return addresses in a sample's callers
 * @address:	set to the return addresses, innermost first
 *
 * For a sample in the kernel, the callers in the kernel come first, then those in the program. For
 * code that entered the kernel, or that a signal interrupted, the list contains the address of the
 * code plus 1 instead of a return address.
 *
 * The return-address register counts as a caller unless it contains an address in the
 * sampled function, which means that the function has called another one. Without symbols, it
 * always counts as a caller.
 *
 * Return: the number of callers, or 0 if the record has none.
 */
unsigned int symbols_callers(struct symbols *symbols, const struct perfrec_record *record,
			     uint64_t address[SIFIVE_TRACE_CALLERS_MAX]);

struct perfrec_stack;

/**
 * symbols_unwind() - find the callers on a stack, using the unwind tables in the files
 * @symbols:	struct symbols, whose subsequent lookups use the stack's time
 * @address:	set as in struct perfrec_callers: the list ends where the stack ends, or with the
 *		mark PERFREC_CUT or PERFREC_UNKNOWN, which symbols_find() shows as the functions
 *		"[cut]" and "[unknown]"
 *
 * Return: the number of addresses.
 */
unsigned int symbols_unwind(void *symbols, const struct perfrec_stack *stack,
			    uint64_t address[SIFIVE_TRACE_CALLERS_MAX]);

/**
 * symbols_same() - return the address that represents the same function in all processes
 * @symbols:	may be NULL
 * @address:	the function's address in one process
 *
 * Return: the address of the same part of the same file (by build-id, or else path) in the first
 * process that mapped it, or @address if the file is unknown.
 */
uint64_t symbols_same(struct symbols *symbols, uint64_t address);

/**
 * struct symbols_object - a program or shared object in memory
 * @name:	name of the object
 * @path:	the file that was found for the object
 * @bias:	address in memory minus address in the file
 */
struct symbols_object {
	const char	*name;
	const char	*path;
	uint64_t	bias;
};

/**
 * symbols_object() - find the object that contains an address
 * @symbols:	NULL to find nothing
 * @object:	set to the object, whose strings are valid until symbols_close()
 *
 * Return: whether there is an object with a file.
 */
bool symbols_object(struct symbols *symbols, uint64_t address,
		    struct symbols_object *object);

struct image;

/**
 * symbols_image() - find the file that contains an address
 * @symbols:	NULL to find nothing
 * @bias:	set to the address, as from symbols_same(), minus the address in the file
 *
 * Return: the file, valid until symbols_close(), or NULL.
 */
struct image *symbols_image(struct symbols *symbols, uint64_t address, uint64_t *bias);

/**
 * symbols_named() - find the object with a name
 * @symbols:	NULL to find nothing
 * @start:	first address of the object
 * @object:	see symbols_object()
 *
 * Return: whether exactly one object has the name, and its file was found.
 */
bool symbols_named(struct symbols *symbols, const char *name, uint64_t *start,
		   struct symbols_object *object);

/**
 * symbols_path() - return the path of the object that contains an address, or NULL, without opening
 * a file
 */
const char *symbols_path(struct symbols *symbols, uint64_t address);

/**
 * symbols_code() - return the code at an address if a process has generated it
 * @symbols:	NULL to find nothing
 * @place:	the address, as from symbols_place()
 * @size:	set to the number of bytes that can be executed one after another: if functions have
 *		replaced parts of each other, other bytes may follow
 *
 * Return: the bytes, valid until symbols_close(), or NULL.
 */
const uint8_t *symbols_code(struct symbols *symbols, uint64_t place, uint64_t *size);

/** symbols_generated() - return whether a process has generated the function at an address */
bool symbols_generated(const struct symbols *symbols, uint64_t place);

/** symbols_probed() - return whether an address is where the kernel executes probed instructions */
bool symbols_probed(struct symbols *symbols, uint64_t address);

/**
 * symbols_expect() - record that the trace contains the address of a function; see symbols_caller()
 * @symbols:	may be NULL
 */
void symbols_expect(struct symbols *symbols, uint64_t address);

/**
 * symbols_caller() - return the start of the function that contains a call site
 * @symbols:	NULL to find nothing
 * @call_site:	the return address of the call
 *
 * Only files with expected functions are searched, to avoid errors about missing files that are not
 * needed.
 *
 * Return: the function's first address as from symbols_place(), or 0 if unknown.
 */
uint64_t symbols_caller(struct symbols *symbols, uint64_t call_site);

/**
 * symbol_name() - write "main+0x12", "libfoo.so+0x123", or the address alone
 * @text:	the result, NUL-terminated
 * @size:	bytes at @text
 */
void symbol_name(const struct symbol *symbol, uint64_t address, char *text,
		 unsigned int size);

#endif /* SIFIVE_TRACE_SYMBOLS_H */
